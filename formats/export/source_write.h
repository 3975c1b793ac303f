/* A reduced-order model as C source: NAME.c and NAME.h. The texts are those of formats/export/source, with the numbers
 * of the model in the place of the mark "tables", and NAME in the place of "model" in all names. */
#ifndef SP_FORMATS_EXPORT_SOURCE_WRITE_H
#define SP_FORMATS_EXPORT_SOURCE_WRITE_H

#include "formats/export/source_tables.h"

/* At r coordinates polynomials have about r⁴/24 numbers: 64 make a file of 19 MB. */
enum { SP_C_SOURCE_MOST = 64, SP_C_SOURCE_NAME = 64 };

/* A point of the body. */
typedef struct sp_c_source_probe {
    char name[SP_C_SOURCE_NAME]; /* an identifier; its capitals name the constant */
    double place[3];             /* m, in the undeformed body */
    double *rows;                /* [3, r, row major] of U */
} sp_c_source_probe;

typedef struct sp_c_source {
    const char *name;   /* NAME */
    const char *origin; /* how the model was made, in lines, for a comment */
    bool single;        /* float, not double */
    double damping[2];  /* default α [1/s] and β [s] of Rayleigh damping */
    const sp_c_source_tables *tables;
    int64_t probe_count;
    const sp_c_source_probe *probes;
} sp_c_source;

/* Returns NULL if NAME can be a name in C and C++, else what is wrong with it. */
const char *sp_c_source_name_fault(const char *name);

/* Writes NAME.h and NAME.c. SP_INPUT where there are more than SP_C_SOURCE_MOST coordinates or a coefficient does not
 * fit the type. Every number reads back exactly. */
int sp_c_source_write_header(sp_context *context, int descriptor, const sp_c_source *source) SP_MUST_USE;
int sp_c_source_write_code(sp_context *context, int descriptor, const sp_c_source *source) SP_MUST_USE;

/* Writes another text with the same names: "model" becomes NAME at the beginning of names, and the mark "variables"
 * becomes the text `variables`. */
int sp_c_source_write_text(sp_context *context, int descriptor, const sp_c_source *source, const char *text,
                           const char *variables) SP_MUST_USE;

#endif
