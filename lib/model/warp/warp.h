/* Stiffness warping (Müller, Dorsey, McMillan, Jagnow and Cutler 2002), corotated linear elasticity: the stiffness at
 * rest, computed once, acts in a rotated frame of every vertex or element. It has the same interface as the linear and
 * the nonlinear models (model/models.h).
 *
 *     VERTEX   f_i = R_i Σ_j K_ij (R_iᵀ x_j − X_j)                      (eq. 12)
 *     PAIR     f_i = Σ_j R_j K_ij (R_jᵀ (x_j − c) − (X_j − C))          (eq. 13, which the paper found unstable)
 *     ELEMENT  f_e = R_e K_e (R_eᵀ x_e − X_e)
 *
 * ELEMENT conserves linear momentum, and angular momentum on tetrahedra of isotropic materials with polar R. PAIR
 * conserves linear momentum, VERTEX neither. PAIR, rotations by frames of edges (warp_frames.c), networks and the
 * solver GRADIENTS are baselines that reproduce the paper.
 *
 * Eq. 13 as printed (c = C = 0) depends on the origin: Σ_j R_j K_ij R_jᵀ t is not zero if rotations differ. Here c and
 * C are the current centre of mass and that at rest, so that translations cause no force. Another defect remains: with
 * R_j ≈ I + [ω_j] the force of small motions is K_ij (u_j − ω_j × (X_j − C)) instead of K u, so that PAIR is not linear
 * elasticity near rest, and the error grows with the size of the body. VERTEX and ELEMENT are linear elasticity to
 * first order in the strain.
 *
 * Edges are the pairs of corners of elements, 28 in a hexahedron. Rotations of vertices come from current and rest
 * frames of edges (§3.1, eq. 16; of the eight shortest edges the four with the best conditioned frame at rest), or from
 * the polar decomposition (eq. 14 and 15; the rotation nearest to Σ_j x_ij X_ijᵀ / |X_ij|²). Those of an element come
 * from the polar decomposition of F at its centre, or from the frame of its edges, for a hexahedron of its diagonals.
 * If a frame has no direction (edges of zero length, or parallel), the polar decomposition is used, which is always a
 * rotation, also for inverted elements, and the identity if all points coincide.
 *
 * The matrix neglects the derivatives of R: R_i K_ij R_iᵀ is not symmetric and is solved by BiCGStab, that of ELEMENT
 * (without `corrected`) by conjugate gradients. FACTOR preconditions both with R (M c + K s) Rᵀ: the constant matrix,
 * factored once for each pair of scales c, s, and polar rotations of vertices, without springs and floor planes. JACOBI
 * uses the inverses of the 3 × 3 diagonal blocks, with everything included; it needs no factor and is faster if a step
 * is shorter than the time in which a wave crosses an element. Measured (bench, "warp") on bars of 960 and 104,000
 * tetrahedra at 1 MPa: at 0.1 ms steps 1.3 to 1.9 times as fast as FACTOR, at 10 ms three to eight times slower.
 *
 * Fixed vertices enter Σ_j with their prescribed positions. Floor planes, like springs, do not damp. The force has no
 * energy (sp_system.nonconservative) except for ELEMENT, whose energy ½ u_eᵀ K_e u_e with u_e = R_eᵀ x_e − X_e is
 * returned; its forces are the gradient only in the cases named above without `corrected`, and the system is
 * nonconservative otherwise. The paper used conjugate gradients, which require a symmetric matrix: GRADIENTS does that,
 * and fails (SP_NUMERICAL) if the rotations of neighbours differ too much; a matrix that is added as `definite` is
 * solved by BiCGStab. With it, the largest stable step of a falling tube decreases as its modulus grows, as in the
 * paper's table (§4.2; samples, "bars").
 *
 * Network: a mass–spring model with one spring along every edge, whose stiffness at rest k/L² X_ij X_ijᵀ replaces K.
 * Strain limiting (§2.2, Figure 2): beyond the stretch `limit` an edge is stiffer, by `extra` times the stiffness that
 * a spring in its place would have. The force is extra·k (ℓ − (1 + limit) L) along the edge, with an energy of its own
 * and its exact derivative in the matrix, for any of the three kinds.
 *
 * Ghost force: with VERTEX and PAIR the internal forces have a nonzero resultant force and torque. `corrected` removes
 * their rigid part by lumped mass: f ← f − M (a + α × (x − c)) with Σ f = 0 and Σ x × f = 0 afterwards (after Desbrun,
 * Schröder and Barr 1999), also in products and in the matrix (there with x at the first place that is added). Only for
 * bodies without fixed vertices. */
#ifndef SP_MODEL_WARP_WARP_H
#define SP_MODEL_WARP_WARP_H

#include "model/models.h"

enum sp_warp_kind { SP_WARP_VERTEX, SP_WARP_PAIR, SP_WARP_ELEMENT };
enum sp_warp_rotation { SP_ROTATION_FRAME, SP_ROTATION_POLAR };
enum sp_warp_solver { SP_WARP_FACTOR, SP_WARP_JACOBI, SP_WARP_GRADIENTS };

typedef struct sp_warp {
    enum sp_warp_kind kind;
    enum sp_warp_rotation rotation;
    bool network;        /* springs on the edges replace the elements' stiffness; not with ELEMENT */
    bool corrected;      /* remove the ghost force */
    double limit, extra; /* strain limit beyond rest (0.1: 10 %), ≥ 0, and stiffness factor ≥ 0; extra 0: none */
    bool lumped;         /* diagonal mass */
    enum sp_warp_solver
        solver; /* the preconditioner; GRADIENTS: as JACOBI, but with conjugate gradients even if S is not symmetric */
} sp_warp;

/* SP_USAGE for combinations that the comment above excludes. In a network the spring constant of every edge is that of
 * a bar, k = E A / L: the volume of every element is distributed among its edges, A = V / L, and E is that of its
 * region with the element's factors; laws without E use 2μ(1 + ν) with ν = ¼ (μ of LINEAR is Voigt's mean over all
 * directions). tolerance is that of the iterative solver, relative to the right-hand side; 0: 1e-10. The body must
 * outlive the system; its pattern is built. Memory: two blocks of 3 × 3 for every pair of vertices, and for ELEMENT 64
 * or 280 numbers for every class of elements (assembly/fe_space.h). */
int sp_warp_system_new(sp_context *context, sp_fe_space *body, const sp_warp *warp, double tolerance,
                       sp_system *system) SP_MUST_USE;
void sp_warp_system_free(sp_system *system);

/* Sets floor planes, as for a full-order system. */
int sp_warp_system_grounds(sp_system *system, int64_t count, const sp_ground *grounds) SP_MUST_USE;

/* The ghost force at q: |Σ f_i| [N] and |Σ x_i × f_i| [N m] (about the centre of mass) of the internal forces before
 * any correction, over all vertices, without springs and floor planes. */
void sp_warp_system_ghost(sp_system *system, const double *q, double *force, double *torque);

/* Counts of iterative solves so far and of the products with the matrix that they took (BiCGStab: two per
 * iteration). */
void sp_warp_system_solves(const sp_system *system, int64_t *solves, int64_t *products);

#endif
