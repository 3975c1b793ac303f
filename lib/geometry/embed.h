/* Hexahedra, regions and the embedded surface from a set of grid cells. Internal to lib/geometry. */
#ifndef SP_GEOMETRY_EMBED_H
#define SP_GEOMETRY_EMBED_H

#include "geometry/grid.h"
#include "geometry/surface.h"
#include "mesh/mesh.h"

/* Triangles sorted into slabs of `thickness` layers of cells; a triangle is listed in every slab that its box
 * intersects, in order of its index. Slabs are the unit of parallel work. */
typedef struct sp_slabs {
    int64_t count, thickness;
    int64_t *start; /* [count + 1] */
    int64_t *list;  /* [start[count]] triangles */
} sp_slabs;

/* position [vertex_count, 3]: the surface's vertices in grid units. */
int sp_slabs_sort(sp_context *context, sp_pool *pool, const sp_grid *grid, const sp_surface *surface,
                  const double *position, sp_slabs *slabs) SP_MUST_USE;

void sp_slabs_layers(const sp_slabs *slabs, const sp_grid *grid, int64_t slab, int64_t *z_begin, int64_t *z_end);

/* The three corners of a triangle in grid units. */
static inline void sp_triangle_corners(const sp_surface *surface, const double *position, int64_t triangle,
                                       double corners[9])
{
    for (int c = 0; c < 9; c++)
        corners[c] = position[3 * surface->triangles[3 * triangle + c / 3] + c % 3];
}

/* mesh->vertices and the hexahedra, allocated from the mesh's pool; rank as by sp_grid_ranks. */
int sp_embed_cells(sp_context *context, const sp_grid *grid, const uint64_t *bits, const int64_t *rank,
                   sp_mesh *mesh) SP_MUST_USE;

/* mesh->surface: the triangles whose cells are in the set. Counts the others. */
int sp_embed_surface(sp_context *context, const sp_grid *grid, const uint64_t *bits, const int64_t *rank,
                     const sp_surface *surface, const double *position, sp_mesh *mesh, int64_t *dropped) SP_MUST_USE;

/* mesh->region: the group of the nearest triangle that intersects a voxel, propagated over faces to the other
 * voxels. */
int sp_embed_regions(sp_context *context, const sp_grid *grid, const uint64_t *bits, const int64_t *rank,
                     const sp_surface *surface, const double *position, const sp_slabs *slabs,
                     sp_mesh *mesh) SP_MUST_USE;

#endif
