/* Modal warping (Choi and Ko, Modal warping: real-time simulation of large rotational deformation and manipulation,
 * IEEE TVCG 2005): the shape of a linear model with large local rotations, and the loads on it.
 *
 * Where parts of a body rotate, linear displacements u follow the tangents of the circular motion. The rotation field
 * of u is w = ½ curl u, a rotation vector for each vertex. If the vertex and its surroundings rotate at the constant
 * rate w while they move by u in the rotating axes, the vertex arrives at
 *
 *     x = X + Ř(w) u,   Ř(w) = ∫₀¹ exp(s [w]) ds = I + (1 − cos θ)/θ² [w] + (θ − sin θ)/θ³ [w]²,   θ = |w|.
 *
 * Rigid rotations about a point of the axis are exact. The motion of q remains linear: bending keeps lengths to first
 * order in the curvature, and does not stiffen or buckle. Forces F on the vertices act in the rotated axes, Uᵀ
 * exp(−[w]) F in place of Uᵀ F.
 *
 * w is the mean over the elements at a vertex of that of their centres, by volume. At the boundary it lags by half an
 * element. */
#ifndef SP_MODEL_MODAL_WARP_H
#define SP_MODEL_MODAL_WARP_H

#include "model/loads.h"

typedef struct sp_modal_warp {
    sp_pool pool;
    const sp_mesh *mesh;
    double *gradient; /* [Σ nodes of elements, 3] 1/m, times the volume of the element [m³] */
    double *volume;   /* [vertices] of the elements at each, m³ */
} sp_modal_warp;

/* SP_INPUT for an element that is inverted or flat. The mesh must outlive the warp. */
int sp_modal_warp_new(sp_context *context, const sp_mesh *mesh, sp_modal_warp *warp) SP_MUST_USE;
void sp_modal_warp_free(sp_modal_warp *warp); /* a zeroed one is allowed */

/* w [3·vertices] = ½ curl u; linear in u. Vertices without elements get 0. */
void sp_modal_warp_rotations(const sp_modal_warp *warp, const double *u, double *w);

/* Ř(w) u, in place, of linear displacements u [3·vertices] m; and of velocities v [3·vertices] its rate (NULL: not
 * wanted). work [6·vertices]; threads may share a warp. */
void sp_modal_warp_apply(const sp_modal_warp *warp, double *u, double *v, double *work);

/* The same of one vertex with the rotation vector w: u ← Ř(w) u, and v ← Ř(w) v + Ř'(w) u with the rate of w; v NULL:
 * not wanted, and wdot is then not read. */
void sp_modal_warp_vertex(const double w[3], const double wdot[3], double u[3], double *v);

/* Loads that are rotated with the vertices of a model in the basis U. */
typedef struct sp_warped_loads {
    sp_external_loads inner; /* first: model/outer_loads.h */
    sp_pool pool;
    int64_t r, count;       /* coordinates, vertices with loads */
    int64_t force_count;    /* of the load set */
    const double *constant; /* [3 count] N: gravity */
    const double *force;    /* [force_count, 3 count] N: each load while it acts */
    const double *U, *W;    /* [3 count, r, row major] rows of these vertices, and of their rotations */
    double *share, *now;    /* [force_count], [3 count] N at present */
    sp_load_set *set;
} sp_warped_loads;

/* For the load set of `load_count` loads and gravity (m/s²) on a body in the basis U [3·vertices, r, column major], all
 * as in sp_load_set_new. The load set must outlive the result. Springs are not rotated. */
int sp_warped_loads_new(sp_context *context, const sp_fe_space *body, const sp_modal_warp *warp, const double *U,
                        int64_t r, int64_t load_count, const sp_load *loads, const double gravity[3], bool lumped,
                        sp_load_set *set, sp_warped_loads *warped) SP_MUST_USE;
void sp_warped_loads_free(sp_warped_loads *warped); /* a zeroed one is allowed */

/* For an integrator: the change of the loads by the rotation is a force that follows the motion (model/system.h). */
sp_external_loads sp_warped_loads_external(sp_warped_loads *warped);

#endif
