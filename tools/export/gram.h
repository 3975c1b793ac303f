/* The inner products of columns in the mass of their mesh, as a table. */
#ifndef TOOLS_EXPORT_GRAM_H
#define TOOLS_EXPORT_GRAM_H

#include "assembly/fe_space.h"
#include "tools/common/tool.h"

/* paths [count]: the mesh and one file of columns, of which `chosen` (a list from 1; NULL: all). samples > 0: sparse
 * inner products over at least that many sample points (Yang 2015, eq. 6) instead of those in the consistent mass. */
void tool_export_gram(sp_context *context, int count, const char *const *paths, const char *target, const char *chosen,
                      int64_t samples);

/* G [count, count] of U [order, count] over the free degrees of freedom; an error in builds without Yang 2015. */
void tool_sparse_gram(sp_context *context, const char *mesh_path, const sp_fe_space *body, int64_t samples,
                      int64_t count, const double *U, double *G);

#endif
