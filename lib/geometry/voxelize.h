/* From triangles to a mesh of equal cubes with the triangles embedded (Barbič & James 2005, §3.1; thesis §2.5.2). */
#ifndef SP_GEOMETRY_VOXELIZE_H
#define SP_GEOMETRY_VOXELIZE_H

#include "geometry/orient.h"
#include "mesh/mesh.h"

typedef struct sp_voxelize_parameters {
    int64_t resolution; /* voxels along the longest side of the enlarged box, 1 … 4096 */
    double enlarge;     /* the box of the triangles is enlarged about its centre by this factor, ≥ 1 (default 1.2) */
    bool cube;    /* the grid covers the enlarged cube about the model (all sides equal, as in the papers); this changes
                     the position of the grid, not only its extent. false: the enlarged box, rounded up to whole voxels
                     about its centre */
    bool fill;    /* also voxels whose centre has winding number ≥ ½ */
    int64_t keep; /* keep only the largest `keep` components of voxels (sharing a vertex), by voxel count then
                     first voxel; 0 = all */
} sp_voxelize_parameters;

typedef struct sp_voxelize_report {
    sp_orient_report orient;   /* zeros without fill: the repair is not needed then */
    double origin[3], spacing; /* m */
    int64_t cells[3];
    int64_t surface_voxels, filled_voxels; /* both before components are dropped; filled: without the surface voxels */
    int64_t enclosed_voxels; /* without fill: empty cells that the kept voxels separate from the border of the grid */
    int64_t component_count; /* before dropping */
    int64_t component_size[16]; /* voxels of the largest ones, descending */
    int64_t dropped_voxels, dropped_triangles;
} sp_voxelize_report;

/* Voxels are the cells that intersect a triangle (exact separating-axis test of triangle and closed cube, enlarged by
 * 1e-9 of a voxel so that rounding cannot miss a contact), so that every surface vertex is in a voxel; with `fill` also
 * the interior. Order: by z, then y, then x index; vertices likewise, each grid vertex once. The embedded surface is
 * the model as given (vertices that no kept triangle uses are left out, triangles keep order and given orientation),
 * each vertex in the voxel that contains it (on shared faces: a voxel of the mesh, the lowest index), with trilinear
 * weights.
 *
 * mesh->region is the group index of the triangle nearest to the voxel's centre among those that intersect it (ties:
 * lowest index); inner voxels take that of the nearest surface voxel (breadth first over faces). mesh->materials has
 * one per group with the group's name and otherwise as `material`. Quadrature is 3; no vertex is fixed.
 *
 * Memory is bounded by the grid's bits and the voxels kept: n = 512 hollow fits easily. Filling uses winding numbers
 * after sp_surface_orient: if the repaired surface has no open edge, one exact winding number per connected component
 * of empty cells; else a fast winding number per cell. Same result for any number of threads. SP_INPUT: no triangles,
 * zero extent, more than 2^31 voxels, voxels below 1e-12 of the coordinates. SP_USAGE: parameters. */
int sp_voxelize(sp_context *context, const sp_surface *surface, const sp_voxelize_parameters *parameters,
                const sp_material *material, sp_mesh *mesh, sp_voxelize_report *report) SP_MUST_USE;

#endif
