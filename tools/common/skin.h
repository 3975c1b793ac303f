/* The triangles of a mesh for rendering and export: its embedded surface, or the boundary of its elements. */
#ifndef TOOLS_COMMON_SKIN_H
#define TOOLS_COMMON_SKIN_H

#include "mesh/mesh.h"

typedef struct tool_skin {
    sp_pool pool;
    const sp_mesh *mesh; /* must outlive the skin */
    bool embedded;
    int64_t vertex_count, triangle_count;
    const double *rest;       /* [vertex_count, 3] m */
    const int64_t *triangles; /* [triangle_count, 3] */
    const int64_t *vertex;    /* [vertex_count] of the mesh, increasing; NULL: embedded */
    int64_t edge_count;       /* boundary: edges of elements on it, without the diagonals of quadrilaterals */
    const int64_t *edges;     /* [edge_count, 2] vertices of the skin */
} tool_skin;

/* The embedded surface if there is one and `boundary` is false, else the boundary. Ends the process if out of
 * memory. */
void tool_skin_open(sp_context *context, const sp_mesh *mesh, bool boundary, tool_skin *skin);
void tool_skin_close(tool_skin *skin);

/* Values at the mesh's vertices [vertices, width] interpolated to the skin's [vertex_count, width]. */
void tool_skin_values(const tool_skin *skin, int width, const double *values, double *out);

/* Rest positions moved by scale × the displacement u [3·vertices]. */
void tool_skin_positions(const tool_skin *skin, double scale, const double *u, double *positions);

#endif
