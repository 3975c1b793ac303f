/* A polygon soup as read from a model file, split into triangles. Nothing is guaranteed: it may be open, unoriented,
 * duplicated, self-intersecting, with degenerate triangles and unused vertices. */
#ifndef SP_GEOMETRY_SURFACE_H
#define SP_GEOMETRY_SURFACE_H

#include "base/context.h"
#include "base/memory.h"

typedef struct sp_surface {
    sp_pool pool;
    int64_t vertex_count;
    double *vertices; /* [vertex_count, 3] m, finite */
    int64_t triangle_count;
    int64_t *triangles; /* [triangle_count, 3] indices below vertex_count */
    int64_t group_count;
    char **groups;  /* [group_count] names, unique; OBJ groups or materials, PLY/STL/OFF: one, "default" */
    int64_t *group; /* [triangle_count] index into groups */
} sp_surface;

void sp_surface_free(sp_surface *surface);

/* Bounding box of the vertices that triangles use [m]; without triangles low is +∞ and high −∞. */
void sp_surface_box(const sp_surface *surface, double low[3], double high[3]);

#endif
