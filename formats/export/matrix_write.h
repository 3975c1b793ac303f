/* Dense matrices and reduced forces for NumPy and VegaFEM; formats/import/matrix.h has the readers. */
#ifndef SP_FORMATS_EXPORT_MATRIX_WRITE_H
#define SP_FORMATS_EXPORT_MATRIX_WRITE_H

#include "base/context.h"
#include "reduced/cubic.h"

/* [rows, columns, column major] as .npy: f8, Fortran order. */
int sp_npy_write(sp_context *context, int descriptor, int64_t rows, int64_t columns, const double *matrix) SP_MUST_USE;

/* VegaFEM's .U, .Ulin, .modalDeriv (f8), or with `narrow` its .URendering.float (f4, to nearest): sizes as 32-bit
 * integers, then the columns. SP_INPUT if a size or a value does not fit. */
int sp_vega_matrix_write(sp_context *context, int descriptor, bool narrow, int64_t rows, int64_t columns,
                         const double *matrix) SP_MUST_USE;

/* VegaFEM's .cub. */
int sp_cubic_write(sp_context *context, int descriptor, const sp_cubic_force *force) SP_MUST_USE;

#endif
