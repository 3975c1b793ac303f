/* Lists of vertices to record, for the option --probe of simulate. */
#ifndef TOOLS_COMMON_PROBES_H
#define TOOLS_COMMON_PROBES_H

#include "mesh/mesh.h"
#include "tools/common/tool.h"

/* Converts "3,17,surface:120" to mesh vertices, increasing, each once: a surface vertex is replaced by the corners of
 * its element. The list is allocated from `pool`; returns its length. A usage error ends the process. */
int64_t tool_parse_probes(const sp_mesh *mesh, const char *text, sp_pool *pool, const int64_t **vertices);

#endif
