/* Elements and weights of a cubature for other programs. */
#ifndef TOOLS_EXPORT_CUBATURE_H
#define TOOLS_EXPORT_CUBATURE_H

#include "tools/common/tool.h"

/* Returns true if one of the files is of type cubature. */
bool tool_export_has_cubature(sp_context *context, int count, const char *const *paths);

/* As a table, or (vtu) as an unstructured grid of the selected elements with their numbers, regions and weights. paths
 * [count]: the cubature and its mesh, which a table does not need, in any order. */
void tool_export_cubature(sp_context *context, bool vtu, int count, const char *const *paths, const char *target);

#endif
