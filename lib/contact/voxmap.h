/* The voxmap of the Voxmap PointShell method (thesis §3.1, after McNeely et al. 1999), a baseline for distance fields.
 *
 * Each voxel has two bits: free, interior, surface or proximity. They are stored in an octree whose uniform subtrees
 * are single leaves. The voxmap is made from a signed distance field, whose cells are the voxels. A cell is `surface`
 * if its corners do not all have one sign (0 counts as inside), `interior` if all are inside, and `proximity` if it is
 * not interior and one of its 26 neighbours is surface. */
#ifndef SP_CONTACT_VOXMAP_H
#define SP_CONTACT_VOXMAP_H

#include "contact/distance.h"

enum sp_voxel { SP_VOXEL_FREE, SP_VOXEL_INTERIOR, SP_VOXEL_SURFACE, SP_VOXEL_PROXIMITY };

/* The root cube has a power of two voxels along each side; everything outside the grid is free. The field need not
 * outlive the voxmap. */
int sp_voxmap_new(sp_context *context, const sp_field *field, sp_voxmap **voxmap) SP_MUST_USE;
void sp_voxmap_free(sp_voxmap *voxmap); /* NULL is allowed */

/* The voxel that contains x, and its centre (NULL: not wanted); free if x is not finite. This function and those below
 * are thread safe. */
enum sp_voxel sp_voxmap_at(const sp_voxmap *voxmap, const double x[3], double centre[3]);

/* The box of the grid. */
void sp_voxmap_box(const sp_voxmap *voxmap, sp_box *box);

double sp_voxmap_spacing(const sp_voxmap *voxmap); /* m, the side of a voxel */

/* The depth of a point with inward unit normal N in the voxmap's frame, by the tangent plane of McNeely et al. In a
 * surface voxel it is the distance, at least 0, by which the point lies below the plane through the voxel's centre with
 * normal N (against N, the direction of the contact force); elsewhere, also in the interior, it is 0. Negative for a
 * penetrating point, as distances are. */
double sp_voxmap_depth(const sp_voxmap *voxmap, const double x[3], const double N[3]);

/* The braking pulse of proximity voxels (§3.1): the change of velocity along N [m/s] that stops a point whose speed
 * along −N exceeds `speed` [m/s]; 0 otherwise. velocity is that of the point relative to the voxmap. */
double sp_voxmap_pulse(const sp_voxmap *voxmap, const double x[3], const double N[3], const double velocity[3],
                       double speed);

/* The numbers of voxels of each type [4] in the grid and of inner nodes of the octree (leaves are two bits in their
 * parent node), the size of the octree, and that of the values of the distance field, in bytes. */
void sp_voxmap_size(const sp_voxmap *voxmap, int64_t voxels[4], int64_t *nodes, int64_t *bytes, int64_t *grid_bytes);

#endif
