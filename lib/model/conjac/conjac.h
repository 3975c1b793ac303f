/* ConJac (Weidner, Kim and Sueda 2020): a full system whose motion is that of a few dynamic vertices; all others follow
 * quasistatically, at the level of velocities.
 *
 * q are all free degrees of freedom of the body, v its velocity. One step (sp_system.velocity_step, for the linearly
 * implicit integrator alone), with K = K(q₀) the derivative of the internal force, d the dynamic and s (the paper's q)
 * the other free components, h held ones: J_s = −K_ss⁻¹ K_sd,     J = (I; J_s),      w = (0; −K_ss⁻¹ K_sh v_h) (eq. 6;
 * w: held vertices that move) Jᵀ (M + h C + β h² K) J v_d = Jᵀ (M v₀ + h (external − f) − (M + h C + β h² K)(w and
 * held))     (eq. 11) v₁ = J v_d + w,       shift_s = γ K_ss⁻¹ (external − f)_s                     (eq. 12 and 13; γ b
 * h) The shift moves positions only. f and K are those of elements, springs and grounds; Rayleigh's part of C is of the
 * elements alone. One factorization a step gives J_s and K_ss⁻¹ (linear/condense.h). Where K_ss or the reduced matrix
 * is not positive definite, the whole K is replaced by that of definite elements (assembly/elastic.h), once more with
 * that. A border (joints) adds its columns as dynamic coordinates: J_s for them is −K_ss⁻¹ K_sh columns. Without any
 * dynamic vertex the step is quasistatic: v₁ = w.
 *
 * Translations are in the range of J (K has them in its kernel), so that a body that nothing holds keeps its linear
 * momentum tᵀMv in the step; the shift moves its centre of mass a little. Turning momentum is not kept: the step is
 * linear.
 *
 * Friction: the supports' filter gives the velocities v_f of all free vertices (model/supports.h), and v = J v_d* +
 * w with v_d* = argmin ‖v_f − w − J v_d‖ in the metric M + h C + β h² K, with the matrices of the step (§4, "Bunny").
 * `rub` returns ½ v₁ᵀMv₁ − ½ v ᵀMv with the mass of the full system, not what the filter alone took; a projection in
 * another metric than M may make it negative. Without dynamic vertices friction changes nothing.
 *
 * K_ss says nothing of rigid motions of pieces of elements joined by quasistatic vertices. A piece that could still
 * turn or slide with all dynamic and held components at rest, as one about its only dynamic vertex, gets further
 * dynamic vertices, at most four, which carry that motion with its inertia (model/floating.h); one that was cut off
 * without any is refused by name, SP_INPUT at the start. Springs and grounds do not count, since they come and go. (A
 * vertex of no element is held: assembly/fe_space.h.) The inertia of held vertices that speed up (prescribed_inertia,
 * asked for before the step) acts in the momentum; the balance of the quasistatic vertices is without any inertia. */
#ifndef SP_MODEL_CONJAC_CONJAC_H
#define SP_MODEL_CONJAC_CONJAC_H

#include "model/models.h"

typedef struct sp_condensation {
    int64_t count;
    const int64_t *vertex; /* [count] dynamic vertices, each with a free component, none twice */
    double gamma;          /* of the stabilization, in [0, 1]; the paper's is 1/3 */
    int64_t corrections; /* quasi-Newton: so many further shifts by γ K_ss⁻¹ (external − f(q))_s with the same factor, f
                            anew at each (§5.1); 0 */
} sp_condensation;

/* Owns `full`, a full nonlinear or linear system of sp_full_system_new on the same body, from here on (also when it
 * fails); its grounds, springs, holds and energies are that one's. Grounds and viscous damping are set before. SP_USAGE
 * for γ, corrections and vertices that make no sense. The first step with a border, or with a larger one, allocates; no
 * other does. */
int sp_conjac_system_new(sp_context *context, sp_system *full, const sp_condensation *condensation,
                         sp_system *system) SP_MUST_USE;
void sp_conjac_system_free(sp_system *system);

/* What sp_conjac_system_new refuses of a body and its dynamic vertices, without the system. */
int sp_condensation_check(sp_context *context, const sp_fe_space *body, int64_t count,
                          const int64_t *vertex) SP_MUST_USE;

/* Statics with the dynamic vertices where they are: ‖(external − f)_s‖ and ‖Jᵀ(external − f)‖ at q [N]. */
int sp_conjac_system_balance(sp_system *system, const double *q, const double *external, double *quasistatic,
                             double *dynamic) SP_MUST_USE;

/* The free components of dynamic vertices: 3·count where no component of them is held and none was added. */
int64_t sp_conjac_system_dynamic(const sp_system *system);

/* How many vertices are dynamic beside those that were asked for. */
int64_t sp_conjac_system_added(const sp_system *system);

/* The reduced inertia JᵀMJ, square and of that order, at q, by free components of dynamic vertices in the order of
 * their numbers. */
int sp_conjac_system_inertia(sp_system *system, const double *q, double *inertia) SP_MUST_USE;

/* q of the other free components so that (external − f)_s = 0 with the dynamic ones as they are (step 1 of the paper's
 * algorithm): Newton's method with a line search in the potential (nonlinear/newton.h), until ‖(external − f)_s‖ ≤
 * tolerance (0: 1e-10) times the largest force met, or rounding stops it below 1e-6 of that. SP_NUMERICAL where that is
 * not reached in so many iterations (0: 50). */
int sp_conjac_system_settle(sp_system *system, const double *external, double tolerance, int64_t iterations,
                            double *q) SP_MUST_USE;

/* ---- choices of dynamic vertices; among those that have a free component, written in increasing order. SP_USAGE for
 * more than there are ---- */

/* The vertex nearest to each point [points, 3] m at rest; one that is nearest to two points is taken once. vertex
 * [points]. */
int sp_nearest_vertices(sp_context *context, const sp_fe_space *body, int64_t points, const double *point,
                        int64_t *count, int64_t *vertex) SP_MUST_USE;

/* `count` at random with at least `distance` between any two, from the seed; SP_NUMERICAL where so many are not found.
 */
int sp_random_vertices(sp_context *context, const sp_fe_space *body, uint64_t seed, int64_t count, double distance,
                       int64_t *vertex) SP_MUST_USE;

/* `count` by farthest-point sampling: each one farthest from the held vertices (those of elements, with a held
 * component) and the ones before; where none is held, the first is farthest from the mean of all. */
int sp_farthest_vertices(sp_context *context, const sp_fe_space *body, int64_t count, int64_t *vertex) SP_MUST_USE;

#endif
