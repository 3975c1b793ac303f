/* Stiffness warping (Müller, Dorsey, McMillan, Jagnow and Cutler 2002): the stiffness at rest, computed once, acts in a
 * frame that turns with every vertex or element. One interface with the linear and the nonlinear models
 * (model/models.h).
 *
 *     VERTEX   f_i = R_i Σ_j K_ij (R_iᵀ x_j − X_j)                      (eq. 12)
 *     PAIR     f_i = Σ_j R_j K_ij (R_jᵀ (x_j − c) − (X_j − C))          (eq. 13, which the paper found unstable)
 *     ELEMENT  f_e = R_e K_e (R_eᵀ x_e − X_e)               conserves linear momentum; angular momentum on tetrahedra
 * of isotropic materials with polar R
 *
 * PAIR, rotations by frames of edges (warp_frames.c), networks and the solver GRADIENTS are baselines: as the paper has
 * them, to be compared with.
 *
 * PAIR conserves linear momentum, VERTEX neither. Eq. 13 as printed (c = C = 0) depends on where the origin is: Σ_j R_j
 * K_ij R_jᵀ t is not zero where rotations differ. Here c and C are the centres of mass now and at rest, so that
 * translations cost nothing. What cannot be mended: with R_j ≈ I + [ω_j] small motions feel K_ij (u_j − ω_j × (X_j −
 * C)) instead of K u, so it is not linear elasticity near rest, and the worse the larger the body is. VERTEX and
 * ELEMENT are, to first order in the strain.
 *
 * Edges: the pairs of corners of elements, 28 in a hexahedron. Rotations of vertices come from frames of edges at rest
 * and now (§3.1, eq. 16; of the eight shortest edges the four with the best conditioned frame at rest), or from the
 * polar decomposition (eq. 14 and 15; the rotation nearest to Σ_j x_ij X_ijᵀ / |X_ij|²); those of an element from the
 * polar decomposition of F at its centre, or the frame of its edges, of a hexahedron its diagonals. A frame that has no
 * direction (edges of no length, or parallel) gives way to the polar decomposition, which always is a rotation, also of
 * inverted elements, and the identity where everything is in one point.
 *
 * The matrix holds R fixed: R_i K_ij R_iᵀ is not symmetric, and is solved with by BiCGStab, that of ELEMENT (without
 * `corrected`) by conjugate gradients. Both are preconditioned by R (M c + K s) Rᵀ with the constant matrix, factored
 * once for each pair of scales c, s, and polar rotations of vertices; springs and grounds are not in it; or (JACOBI) by
 * the inverses of the 3 × 3 blocks on the diagonal, everything included, which need no factor and pay where a step is
 * shorter than the time of a wave through an element. Measured (bench, "warp"): at 0.1 ms 1.3 to 1.9 times as fast as
 * the factor, at 10 ms three to eight times slower, bars of 960 and 104,000 tetrahedra at 1 MPa. Held vertices take
 * part in Σ_j with the places they have. Grounds, as springs, do not damp. The force has no energy
 * (sp_system.nonconservative) but for ELEMENT, whose ½ u_eᵀ K_e u_e with u_e = R_eᵀ x_e − X_e is returned; there forces
 * are its gradient only in the cases named above without `corrected`, and the system is nonconservative otherwise. The
 * paper itself took conjugate gradients, for which the matrix must be symmetric: GRADIENTS does that, and fails
 * (SP_NUMERICAL) where turned neighbours differ too much; a matrix that is added as `definite` is solved with by
 * BiCGStab. With it the largest stable steps of a falling tube shrink with its modulus, as in the paper's table (§4.2;
 * samples, "bars").
 *
 * Network: that of mass–spring models, one spring along every edge, whose stiffness at rest k/L² X_ij X_ijᵀ takes the
 * place of K. Over-stretching (§2.2, Figure 2): beyond the stretch `limit` an edge is stiffer, by `extra` times the
 * stiffness that a spring in its place would have: the force extra·k (ℓ − (1 + limit) L) along the edge, with an energy
 * of its own and its exact derivative in the matrix, for any of the three.
 *
 * Ghost force: with VERTEX and PAIR the internal forces do not add up to zero, or turn the body. `corrected` takes the
 * rigid part by lumped mass out of them: f ← f − M (a + α × (x − c)) with Σ f = 0 and Σ x × f = 0 afterwards (after
 * Desbrun, Schröder and Barr 1999), in products and in the matrix too (there with x at the first place that is added).
 * Only for bodies with nothing held. */
#ifndef SP_MODEL_WARP_WARP_H
#define SP_MODEL_WARP_WARP_H

#include "model/models.h"

enum sp_warp_kind { SP_WARP_VERTEX, SP_WARP_PAIR, SP_WARP_ELEMENT };
enum sp_warp_rotation { SP_ROTATION_FRAME, SP_ROTATION_POLAR };
enum sp_warp_solver { SP_WARP_FACTOR, SP_WARP_JACOBI, SP_WARP_GRADIENTS };

typedef struct sp_warp {
    enum sp_warp_kind kind;
    enum sp_warp_rotation rotation;
    bool network;        /* springs on the edges in the place of the elements' stiffness; not with ELEMENT */
    bool corrected;      /* the ghost force taken out */
    double limit, extra; /* stretch beyond rest (0.1: 10 %) ≥ 0 and factor ≥ 0; extra 0: none */
    bool lumped;         /* diagonal mass */
    enum sp_warp_solver
        solver; /* what preconditions; GRADIENTS: as JACOBI, but by conjugate gradients also where S is not symmetric */
} sp_warp;

/* SP_USAGE for combinations that the comment above excludes. In a network every edge's spring constant is that of a
 * bar: k = E A / L, where the volume of every element is shared out among its edges, A = V / L; E of its region with
 * the element's factors, for laws that have none 2μ(1 + ν) with ν = ¼ (μ of LINEAR is Voigt's mean over all
 * directions). tolerance: of the iterative solver, relative to the right side; 0: 1e-10. The body must outlive it; its
 * pattern is built. Memory: two blocks of 3 × 3 for every pair of vertices, and for ELEMENT 64 or 280 numbers for every
 * class of elements (assembly/fe_space.h). */
int sp_warp_system_new(sp_context *context, sp_fe_space *body, const sp_warp *warp, double tolerance,
                       sp_system *system) SP_MUST_USE;
void sp_warp_system_free(sp_system *system);

/* Grounds, as of a full system. */
int sp_warp_system_grounds(sp_system *system, int64_t count, const sp_ground *grounds) SP_MUST_USE;

/* |Σ f_i| and |Σ x_i × f_i| (about the centre of mass) of the internal forces at q before any correction, over all
 * vertices, springs and grounds left out [N, N m]: the ghost force. */
void sp_warp_system_ghost(sp_system *system, const double *q, double *force, double *torque);

/* Iterative solves so far and the products with the matrix that they took (BiCGStab: two an iteration). */
void sp_warp_system_solves(const sp_system *system, int64_t *solves, int64_t *products);

#endif
