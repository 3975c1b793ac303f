/* ConJac (Weidner, Kim and Sueda 2020): a full-order system whose inertia acts on a few dynamic vertices; all others
 * follow quasistatically, at the level of velocities.
 *
 * q are all free degrees of freedom of the body, v its velocity. One step (sp_vertex_system.velocity_step, for the
 * linearly implicit integrator only) is as follows, with K = K(q₀) the derivative of the internal force, d the dynamic
 * and s (the paper's q) the other free components, and h the fixed ones:
 *
 *     J_s = −K_ss⁻¹ K_sd,     J = (I; J_s),      w = (0; −K_ss⁻¹ K_sh v_h)      (eq. 6; w: prescribed velocities)
 *     Jᵀ (M + h C + β h² K) J v_d = Jᵀ (M v₀ + h (external − f) − (M + h C + β h² K)(w and fixed))      (eq. 11)
 *     v₁ = J v_d + w,       shift_s = γ K_ss⁻¹ (external − f)_s                 (eq. 12 and 13; γ b h)
 *
 * The shift moves positions only. f and K are those of elements, springs and floor planes; the Rayleigh part of C is of
 * the elements alone. One factorization per step gives J_s and K_ss⁻¹ (linear/condense.h). If K_ss or the reduced
 * matrix is not positive definite, the whole K is replaced once by its definite variant (assembly/elastic.h). A
 * bordered (joint) system adds its columns as dynamic coordinates, for which J_s is −K_ss⁻¹ K_sh columns. Without any
 * dynamic vertex the step is quasistatic: v₁ = w.
 *
 * Translations are in the range of J (they are in the kernel of K), so that an unconstrained body conserves its linear
 * momentum tᵀMv in the step; the shift moves its centre of mass slightly. Angular momentum is not conserved: the step
 * is linear.
 *
 * Friction: the friction filter of the floor planes gives the velocities v_f of all free vertices (model/supports.h),
 * and v = J v_d* + w with v_d* = argmin ‖v_f − w − J v_d‖ in the metric M + h C + β h² K, with the matrices of the step
 * (§4, "Bunny"). apply_friction returns ½ v₁ᵀMv₁ − ½ vᵀMv with the mass of the full system, not only the energy that
 * the filter dissipates; the projection in a metric other than M may make it negative. Without dynamic vertices
 * friction changes nothing.
 *
 * K_ss does not resist rigid motions of pieces of elements that are connected through quasistatic vertices only. A
 * piece that can still rotate or slide while all dynamic and fixed components are at rest, such as one about its only
 * dynamic vertex, gets at most four further dynamic vertices, which carry this motion with its inertia
 * (model/floating.h). A piece that was cut off without any dynamic or fixed component is rejected with the name of a
 * vertex, SP_INPUT at the start. Springs and floor planes do not count, since they come and go. (A vertex of no element
 * is fixed: assembly/fe_space.h.) The inertia of accelerated fixed vertices (prescribed_inertia, called before the
 * step) acts in the momentum; the equilibrium of the quasistatic vertices has no inertia. */
#ifndef SP_MODEL_CONJAC_CONJAC_H
#define SP_MODEL_CONJAC_CONJAC_H

#include "model/models.h"

typedef struct sp_condensation {
    int64_t count;
    const int64_t *vertex; /* [count] dynamic vertices, each with a free component, none twice */
    double gamma;          /* factor of the stabilization, in [0, 1]; 1/3 in the paper */
    int64_t corrections; /* quasi-Newton corrections: number of further shifts by γ K_ss⁻¹ (external − f(q))_s with the
                            same factor and f evaluated anew for each (§5.1) */
} sp_condensation;

/* Owns `full`, a nonlinear or linear system of sp_full_system_new on the same body, from here on (also on failure);
 * floor planes, springs, prescribed motion and energies are those of `full`. Floor planes and viscous damping are set
 * before. SP_USAGE for invalid γ, corrections and vertices. Only the first step with a joint system, or with a larger
 * one, allocates. */
int sp_conjac_system_new(sp_context *context, sp_system *full, const sp_condensation *condensation,
                         sp_system *system) SP_MUST_USE;
void sp_conjac_system_free(sp_system *system);

/* Makes the checks of sp_conjac_system_new on a body and its dynamic vertices, without the system. */
int sp_condensation_check(sp_context *context, const sp_fe_space *body, int64_t count,
                          const int64_t *vertex) SP_MUST_USE;

/* The static residuals ‖(external − f)_s‖ and ‖Jᵀ(external − f)‖ at q [N]. */
int sp_conjac_system_balance(sp_system *system, const double *q, const double *external, double *quasistatic,
                             double *dynamic) SP_MUST_USE;

/* The number of free components of dynamic vertices: 3·count if none of them is fixed and no vertex was added. */
int64_t sp_conjac_system_dynamic(const sp_system *system);

/* The number of dynamic vertices beyond the requested ones. */
int64_t sp_conjac_system_added(const sp_system *system);

/* Sets `dynamic` [vertices] to true for all dynamic vertices with a free component, and leaves the others as they are.
 */
void sp_conjac_system_mark(const sp_system *system, bool *dynamic);

/* The reduced inertia JᵀMJ at q, a square matrix over the free components of dynamic vertices in the order of their
 * numbers. */
int sp_conjac_system_inertia(sp_system *system, const double *q, double *inertia) SP_MUST_USE;

/* Solves (external − f)_s = 0 for the quasistatic components of q with the dynamic ones given (step 1 of the paper's
 * algorithm): Newton's method with a line search in the potential (nonlinear/newton.h), until ‖(external − f)_s‖ ≤
 * tolerance (0: 1e-10) times the largest force so far, or until rounding stops it below 1e-6 of that. SP_NUMERICAL if
 * this is not reached within `iterations` (0: 50). */
int sp_conjac_system_settle(sp_system *system, const double *external, double tolerance, int64_t iterations,
                            double *q) SP_MUST_USE;

/* ---- choices of dynamic vertices among those with a free component, written in increasing order; SP_USAGE if more are
 * wanted than there are ---- */

/* The vertex nearest to each point [points, 3] m at rest; a vertex that is nearest to two points is written once.
 * vertex [points]. */
int sp_nearest_vertices(sp_context *context, const sp_fe_space *body, int64_t points, const double *point,
                        int64_t *count, int64_t *vertex) SP_MUST_USE;

/* `count` random vertices with at least `distance` between any two, from the seed; SP_NUMERICAL if not enough are
 * found. */
int sp_random_vertices(sp_context *context, const sp_fe_space *body, uint64_t seed, int64_t count, double distance,
                       int64_t *vertex) SP_MUST_USE;

/* `count` vertices by farthest-point sampling: each one is farthest from the fixed vertices (those of elements, with a
 * fixed component) and the previous ones; without fixed vertices the first is farthest from the mean of all. */
int sp_farthest_vertices(sp_context *context, const sp_fe_space *body, int64_t count, int64_t *vertex) SP_MUST_USE;

#endif
