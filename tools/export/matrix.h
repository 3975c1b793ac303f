/* The Matrix Market files of simexport. */
#ifndef TOOLS_EXPORT_MATRIX_H
#define TOOLS_EXPORT_MATRIX_H

#include "tools/common/tool.h"

/* A sparse matrix as lower triangle, or the columns (`chosen`: a list from 1; NULL: all) of modes, derivatives, shapes or a
 * basis as dense array. count: how many files were named; there must be one. */
void tool_export_matrix(sp_context *context, int count, const char *path, const char *target, const char *chosen);

#endif
