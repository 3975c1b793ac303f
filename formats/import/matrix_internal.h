/* Shared by the readers of binary matrices. */
#ifndef SP_FORMATS_IMPORT_MATRIX_INTERNAL_H
#define SP_FORMATS_IMPORT_MATRIX_INTERNAL_H

#include "formats/import/matrix.h"

/* Converts numbers of `size` bytes (4 or 8, IEEE 754) at `bytes` to doubles; SP_INPUT names the first one that is not
 * finite. */
int sp_matrix_numbers(sp_context *context, const char *bytes, int size, bool big_endian, int64_t count,
                      double *values) SP_MUST_USE;

#endif
