/* Readers for dense matrices and reduced forces of other programs. Sizes must match the number of bytes exactly, and
 * values must be finite; anything else is SP_INPUT, with the numbers. */
#ifndef SP_FORMATS_IMPORT_MATRIX_H
#define SP_FORMATS_IMPORT_MATRIX_H

#include "base/context.h"
#include "base/memory.h"
#include "reduced/cubic.h"

typedef struct sp_matrix {
    int64_t rows, columns; /* both ≥ 1 */
    double *value;         /* [rows, columns, column major], in the caller's pool */
} sp_matrix;

/* NumPy .npy of version 1 or 2: two dimensions, f8 or f4 in either byte order, C or Fortran order. */
int sp_matrix_parse_npy(sp_context *context, const char *bytes, int64_t count, sp_pool *pool,
                        sp_matrix *matrix) SP_MUST_USE;

/* The same; an array of one dimension is one column. */
int sp_matrix_parse_npy_column(sp_context *context, const char *bytes, int64_t count, sp_pool *pool,
                               sp_matrix *matrix) SP_MUST_USE;

/* Matrix Market text (https://math.nist.gov/MatrixMarket/formats.html): array or coordinate, real or integer, general.
 * Entries that a coordinate file leaves out are 0; a file that would fill more than 64 MiB and more than a thousand
 * times its own length is rejected. */
int sp_matrix_parse_market(sp_context *context, const char *bytes, int64_t count, sp_pool *pool,
                           sp_matrix *matrix) SP_MUST_USE;

/* VegaFEM .U, .Ulin, .modalDeriv, .URendering.float: rows and columns as little-endian 32-bit integers, then the
 * columns as f8 or f4, which is determined by the length. */
int sp_matrix_parse_vega(sp_context *context, const char *bytes, int64_t count, sp_pool *pool,
                         sp_matrix *matrix) SP_MUST_USE;

/* VegaFEM .cub: four little-endian 32-bit integers r, r, r(r+1)/2, r(r+1)(r+2)/6, then linear, quadratic and cubic
 * coefficients as f8, each block by rows, one row for each component of the force. The caller frees the result. */
int sp_cubic_parse(sp_context *context, const char *bytes, int64_t count, sp_cubic_force *force) SP_MUST_USE;

#endif
