/* Triangles from model files and from meshes. Ends the process on failure. */
#ifndef TOOLS_COMMON_MODEL_H
#define TOOLS_COMMON_MODEL_H

#include "geometry/surface.h"
#include "mesh/mesh.h"

/* Returns true if the name is that of a Supple file: it ends in .npz. */
bool tool_is_archive(const char *path);

/* A triangle model from another program (OBJ, PLY, STL, OFF); `option` as in tool_read_bytes. */
void tool_read_surface(sp_context *context, const char *path, const char *option, sp_surface *surface);

/* A copy of the mesh's embedded surface, or of the boundary of its elements if it has none or `boundary` is set. */
void tool_mesh_surface(sp_context *context, const sp_mesh *mesh, bool boundary, sp_surface *surface);

#endif
