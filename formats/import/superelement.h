/* Reads linear interface models (formats/superelement.md): a JSON description and the matrices beside it. */
#ifndef SP_FORMATS_IMPORT_SUPERELEMENT_H
#define SP_FORMATS_IMPORT_SUPERELEMENT_H

#include "formats/file.h"
#include "reduced/cubic.h"

/* The names of the files of a matrix, relative to the folder of the description: at least one is not NULL, and neither
 * leads out of the folder. */
typedef struct sp_superelement_file {
    const char *npy, *matrix_market;
} sp_superelement_file;

typedef struct sp_superelement_description {
    json_t *root; /* owned; the names are its */
    int64_t r;    /* coordinates */
    sp_superelement_file mass, stiffness, gravity;
    bool has_gravity;
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH]; /* empty: unknown */
} sp_superelement_description;

/* Parses the text of a description (count bytes). SP_INPUT names the key. The caller frees the result. */
int sp_superelement_describe(sp_context *context, const char *text, int64_t count,
                             sp_superelement_description *description) SP_MUST_USE;
void sp_superelement_description_free(sp_superelement_description *description);

/* A matrix [rows, columns, column major] from the bytes of a file: .npy if `npy`, else Matrix Market. Its memory is
 * that of the pool. SP_INPUT if it has another size. */
int sp_superelement_matrix(sp_context *context, const char *bytes, int64_t count, bool npy, int64_t rows,
                           int64_t columns, sp_pool *pool, double **matrix) SP_MUST_USE;

/* The polynomials of the force K q with mass and stiffness [r, r], which are made exactly symmetric, and gravity [r, 3,
 * column major] (NULL: 0). SP_INPUT if a matrix is not symmetric within 1e-9 of its largest entry. Memory is about 2 r⁴
 * bytes. The caller frees the result. */
int sp_superelement_polynomials(sp_context *context, int64_t r, double *mass, double *stiffness, const double *gravity,
                                sp_polynomials *polynomials) SP_MUST_USE;

#endif
