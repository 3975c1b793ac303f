/* The voxmap of the Voxmap PointShell method (thesis §3.1, after McNeely et al. 1999), the baseline of distance fields.
 *
 * Voxels of two bits: free, interior, surface, proximity; an octree whose uniform subtrees are one leaf. Made from a
 * signed distance field, whose cells are the voxels: a cell is surface where its corners do not all have one sign (0
 * counts as inside), interior where all are inside, proximity where a neighbour (of 26) is surface and it is not
 * interior. */
#ifndef SP_CONTACT_VOXMAP_H
#define SP_CONTACT_VOXMAP_H

#include "contact/distance.h"

enum sp_voxel { SP_VOXEL_FREE, SP_VOXEL_INTERIOR, SP_VOXEL_SURFACE, SP_VOXEL_PROXIMITY };

/* Root cube of a power of two voxels; outside the grid everything is free. The field need not outlive it. */
int sp_voxmap_new(sp_context *context, const sp_field *field, sp_voxmap **voxmap) SP_MUST_USE;
void sp_voxmap_free(sp_voxmap *voxmap); /* NULL is allowed */

/* The voxel that holds x and its centre (NULL: not wanted); free where x is not finite. Thread safe, and so is what
 * follows. */
enum sp_voxel sp_voxmap_at(const sp_voxmap *voxmap, const double x[3], double centre[3]);

/* The box of the grid. */
void sp_voxmap_box(const sp_voxmap *voxmap, sp_box *box);

double sp_voxmap_spacing(const sp_voxmap *voxmap); /* m, the side of a voxel */

/* The depth of a point with inward unit normal N in the voxmap's frame, by the tangent plane of McNeely et al.: in a
 * surface voxel the distance by which the point lies below the plane through the voxel's centre that is normal to N
 * (against N, the direction in which the force N pushes), at least 0; elsewhere 0, in the interior too. Negative where
 * in contact, as distances are. */
double sp_voxmap_depth(const sp_voxmap *voxmap, const double x[3], const double N[3]);

/* The braking pulse of proximity voxels (§3.1): the speed of the point along −N, where that exceeds `speed` [m/s],
 * which is the change of velocity along N that stops it [m/s]; 0 elsewhere. velocity: of the point by the voxmap. */
double sp_voxmap_pulse(const sp_voxmap *voxmap, const double x[3], const double N[3], const double velocity[3],
                       double speed);

/* Voxels of each kind [4] within the grid, inner nodes of the octree (leaves are two bits in the node above), its
 * bytes, and those of the distance field's values. */
void sp_voxmap_size(const sp_voxmap *voxmap, int64_t voxels[4], int64_t *nodes, int64_t *bytes, int64_t *grid_bytes);

#endif
