/* The fill of a matrix's Cholesky factor over orderings, as siminfo --fill prints it. */
#ifndef TOOLS_INFO_FILL_H
#define TOOLS_INFO_FILL_H

#include "formats/file.h"

#include <stdio.h>

/* `file` of type sparse, or SciPy's; its members are consumed. SP_INPUT for other files. */
int fill_print(sp_context *context, sp_file *file, FILE *stream) SP_MUST_USE;

#endif
