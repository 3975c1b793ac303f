/* Files of the type curve (curve.md): points of a curve of periodic motions. */
#ifndef SP_FORMATS_CURVE_H
#define SP_FORMATS_CURVE_H

#include "formats/file.h"
#include "periodic/harmonic.h"

typedef struct sp_curve_file {
    enum sp_periodic_kind kind;
    int64_t n, r, columns;                            /* points; coordinates; 2H + 1 */
    double *frequency, *factor;                       /* [n] Hz; factor on the harmonic loads */
    double *amplitude, *energy;                       /* [n] m; J */
    double *coefficient;                              /* [n, columns, r] of q */
    double *multiplier;                               /* [n, 2r, 2] real and imaginary part */
    double *residual;                                 /* [n] of the full-order model; NULL: it was not computed */
    uint8_t *stable, *event;                          /* [n] 1: stable; enum sp_curve_event */
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH]; /* after reading: hashes of the files */
    sp_pool pool;                                     /* after reading */
} sp_curve_file;

/* Checks shapes and values, and that there is a point. */
int sp_curve_read(sp_context *context, sp_file *file, sp_curve_file *curve) SP_MUST_USE;
void sp_curve_file_free(sp_curve_file *curve);

/* meta must already have "mesh" and "basis". */
int sp_curve_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_curve_file *curve) SP_MUST_USE;

#endif
