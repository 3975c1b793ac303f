/* Matrices as Matrix Market text (https://math.nist.gov/MatrixMarket/formats.html), numbers with 17 significant digits.
 */
#ifndef SP_FORMATS_EXPORT_MATRIX_MARKET_H
#define SP_FORMATS_EXPORT_MATRIX_MARKET_H

#include "base/context.h"
#include "linear/sparse.h"

/* A symmetric matrix: "coordinate real symmetric" with the entries of the lower triangle row by row, numbered from 1.
 * `comment` (one line, NULL: none) follows the header. */
int sp_matrix_market_write_sparse(sp_context *context, int descriptor, const char *comment,
                                  const sp_sparse *matrix) SP_MUST_USE;

/* A dense matrix [rows, columns, column major]: "array real general". */
int sp_matrix_market_write_dense(sp_context *context, int descriptor, const char *comment, int64_t rows,
                                 int64_t columns, const double *matrix) SP_MUST_USE;

#endif
