/* A reduced-order body on the bones of a skeleton: inertial forces.
 *
 * The positions of the vertices are x_i = A_i (X_i + U_i q) + c_i with the blended motion A_i(t), c_i(t) of skin.h, and
 * between vertices they are interpolated by the shape functions. Virtual displacements are A_i U_i δq. With the mass
 * matrix M_ij of the shape functions and gravity g, d'Alembert's principle gives the generalized force
 *
 *     −Σ_ij U_iᵀ A_iᵀ M_ij (Ä_j (X_j + U_j q) + c̈_j − g + 2 Ȧ_j U_j q̇ + A_j U_j q̈).
 *
 * Since A_i = Σ_b w_ib R_b, it is a sum over pairs of bones b, c, of which each product R_bᵀ R̈_c, R_bᵀ Ṙ_c and
 * R_bᵀ (p̈_c − g) is the same for all vertices. With the motion of bone c in its own components, R̈_c = R_c B_c, Ṙ_c =
 * R_c W_c and p̈_c − g = R_c a_c (rigid/moving_frame.h), and D = R_bᵀ R_c, coordinate k receives
 *
 *     −((D a)_a m^bc_ak + (D B)_ad P^bc_dak) − ((D B)_ad T^bc_adkl q_l + 2 (D W)_ad T^bc_adkl q̇_l)
 *     m^bc_ak = Σ_ij w_ib U_iak M_ij w_jc,   P^bc_dak = Σ_ij w_ib U_iak M_ij w_jc X_jd,
 *     T^bc_adkl = Σ_ij w_ib U_iak M_ij w_jc U_jdl
 *
 * with the sums over a, d and l. These are constant, and are 0 for bones that move no common element, so that a step
 * does not visit vertices: it costs 12 numbers and 18 r² operations for each coordinate and pair of neighbouring bones.
 *
 * The last term of the first equation is approximated by Uᵀ M U q̈, the mass matrix of the model, which it is where one
 * bone moves a vertex. Where two bones at the angle θ have equal weights, A_iᵀ A_i is cos²(θ/2) across the axis, and
 * the mass of that part of the deformation is too large by the factor 1/cos²(θ/2). Strain energy is that of U q: the
 * posed shape is free of stress. With one bone of weight 1 all is equal to a moving
 * frame.
 *
 * With modal warping the displacement of vertex i at rest is Ř(w_i) U_i q, and forces act in axes that are rotated by
 * exp([w_i]) at rest, before A_i. The sum of model/warped_sum.h has what that changes, with the force on a unit mass
 *
 *     g_i(x, v) = −A_iᵀ Σ_c w_ic R_c (a_c + B_c x + 2 W_c v)
 *
 * of the interval. A body that is warped to a rotated one under one bone has the forces that the rotated body has. */
#ifndef SP_SKIN_INERTIA_H
#define SP_SKIN_INERTIA_H

#include "assembly/fe_space.h"
#include "model/system.h"
#include "model/warped_sum.h"
#include "rigid/moving_frame.h"
#include "skin/skin.h"

/* Two bones that move a common element; the order matters. */
typedef struct sp_bone_pair {
    int64_t b, c;
    double *m; /* [3, r, row major] kg m/[q] */
    double *P; /* [3, 3, r] kg m²/[q] */
    double *T; /* [3, 3, r, r] */
} sp_bone_pair;

typedef struct sp_skin_inertia {
    sp_external_loads inner; /* first: model/outer_loads.h */
    sp_pool pool;
    int64_t r, bone_count, pair_count;
    sp_bone_pair *pairs;
    const sp_skin *skin;
    const sp_rig *rig;
    bool warps;
    sp_warped_sum warped;    /* if it warps */
    double gravity[3];       /* m/s², world */
    double from, to;         /* s, the interval of `motion` and of the two matrices; from > to: none */
    sp_frame_motion *motion; /* [bone_count] */
    double *B, *W;           /* [r, r, row major] of q and of q̇ in the second bracket */
} sp_skin_inertia;

/* For a body with the consistent or the lumped mass in the basis U [3·vertices, r, column major]. scale: factor on its
 * mass. The rig must have the bones of the skin. Both must outlive the result, as `inner` must, which are the other
 * loads, without gravity. */
int sp_skin_inertia_new(sp_context *context, const sp_fe_space *body, bool lumped, double scale, int64_t r,
                        const double *U, const sp_skin *skin, const sp_rig *rig, const double gravity[3],
                        const sp_external_loads *inner, sp_skin_inertia *inertia) SP_MUST_USE;

/* Modal warping of these forces, for the body, the mass, the scale and the basis that they were made for. The mesh must
 * outlive them. To be called once, before the loads are taken. */
int sp_skin_inertia_warp(sp_context *context, const sp_fe_space *body, const sp_modal_warp *warp, const double *U,
                         bool lumped, double scale, sp_skin_inertia *inertia) SP_MUST_USE;

void sp_skin_inertia_free(sp_skin_inertia *inertia); /* a zeroed one is allowed */

/* The inner loads and the inertial forces, for an integrator. */
sp_external_loads sp_skin_inertia_loads(sp_skin_inertia *inertia);

#endif
