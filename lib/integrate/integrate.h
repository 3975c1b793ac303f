/* Time integration of a system of n coordinates q (model/system.h),
 *
 *     M q̈ + (C(q) + D(q)) q̇ + f(q) = F(t),   C = αM + βK(q),   K = ∂f/∂q,
 *
 * with the mass matrix M, the internal force f, Rayleigh damping C, damping by strain rate D and the external force F.
 * An integrator holds q, q̇ and, where the scheme needs it, q̈, together with the energies, and takes steps of a constant
 * length h. Loads enter each scheme by their means over intervals, so that the impulse of any load is exact. Nothing is
 * allocated in a step. An integrator is used by one thread at a time. */
#ifndef SP_INTEGRATE_INTEGRATE_H
#define SP_INTEGRATE_INTEGRATE_H

#include "base/memory.h"
#include "model/system.h"

enum sp_integrator_kind {
    /* Implicit Newmark (thesis §2.9) with β and γ: converged Newton iterations, or one semi-implicit iteration as in
     * the papers. */
    SP_NEWMARK,
    /* Conserves energy exactly: q₁ − q₀ = h (v₀ + v₁)/2 and M (v₁ − v₀) = h (F − f̄ − damping), where f̄ is the mean of f
       along the step by Simpson's rule, exact for a force that is cubic in q. Not for other forces, prescribed vertices
       and floor planes. */
    SP_ENERGY,
    /* Central differences (leapfrog), explicit: stable for h ≤ 2/ω_max, less with damping. */
    SP_CENTRAL,
    /* Static equilibrium under the mean loads of each step, without inertia and damping. */
    SP_STATIC,
    /* Implicit Euler with converged Newton iterations: of first order, damps every motion that the step does not
       resolve. */
    SP_EULER,
    /* Backward differences of second order with converged Newton iterations; the first step is implicit Euler. Not for
       friction. */
    SP_BDF2,
    /* Linearly implicit Euler with a factor β before h²K: one linear solve per step, at q₀ (Baraff and Witkin 1998;
     * Weidner et al. 2020, eq. 10). For full-order systems only; the only scheme for skeletons and for ConJac.
     */
    SP_LINEAR_EULER,
    /* Each oscillator is integrated exactly under the mean load of the step. For systems with eigenvalues only. */
    SP_EXACT,
    SP_INTEGRATOR_COUNT,
};

typedef struct sp_integrator_parameters {
    enum sp_integrator_kind kind;
    double step;         /* h > 0, s */
    double beta, gamma;  /* Newmark: β in (0, 1], γ in [0, 1]; ¼ and ½ have no numerical damping in linear problems.
                            Linearly implicit Euler: β > 0; from ½ on every h is stable in linear problems */
    double damping_mass; /* α ≥ 0, 1/s */
    double damping_stiffness; /* β of Rayleigh damping ≥ 0, s */
    bool semi_implicit; /* Newmark: one Newton iteration from q₀ with the papers' matrix, without ∂(βK(q)v)/∂q */
    double tolerance;   /* Newton's method: residual relative to the largest force term; 0: 1e-10, energy 1e-12 */
    int64_t iterations; /* Newton's method: at most, in each step; 0: 50 */
    /* Newmark: the limit of √(q̈ᵀMq̈). If elastic, damping and external forces would exceed it, they are scaled down for
     * that step (thesis §3.10.2); 0: no limit. */
    double most_acceleration;
    /* Sub-stepping: a step that does not converge is halved repeatedly, down to the 2^halvings-th part, 0 to 40; 0:
     * never. Not applicable to static solutions, which use load increments instead, to central differences and to exact
     * steps. Newmark and BDF2 use means of loads about the ends of sub-steps, so that impulses are exact if these have
     * equal lengths. */
    int halvings;
    int64_t first_step;           /* number of the first step, ≥ 0: the motion starts at first_step · step */
    struct sp_skeleton *skeleton; /* linearly implicit Euler: bones with attached vertices, which move with the mesh
                                     (rigid/skeleton.h); must outlive the integrator. NULL: none */
} sp_integrator_parameters;

enum { SP_WORK_KINETIC, SP_WORK_STORED, SP_WORK_EXTERNAL, SP_WORK_DISSIPATED, SP_WORK_COUNT };

/* Counts since the start. */
typedef struct sp_integrator_report {
    int64_t steps;
    int64_t newton_iterations, worst_iterations; /* total, and largest number in one solve */
    int64_t factorizations;                      /* of Newton's matrix */
    int64_t load_steps;     /* static: equilibria, including those of load increments within a step */
    int64_t stagnated;      /* solves that ended above the tolerance because of rounding: with a residual below 1e-6, or
                               corrections below 1e-12 of q (nonlinear/newton.h) */
    int64_t halvings;       /* of step lengths in line searches */
    int64_t chopped;        /* steps whose forces were scaled down by the acceleration limit */
    int64_t parted;         /* steps that were divided into sub-steps */
    double smallest_part;   /* length of the smallest sub-step as a fraction of a step; 1 if there were none */
    int64_t indefinite;     /* number of factorizations that used the positive definite approximation of K */
    double worst_residual;  /* relative, over all solves */
    double stability_limit; /* central: the largest stable h at rest, s; else 0 */
} sp_integrator_report;

typedef struct sp_integrator sp_integrator;

/* Starts at time first_step · step from q and v [n] (copied; NULL: 0). The system, the loads and the skeleton must
 * outlive the integrator. SP_USAGE for parameters out of range, for a scheme that is not applicable to the system or
 * its loads, and for central differences with a step above the stability limit; SP_NUMERICAL if the initial
 * accelerations cannot be computed. */
int sp_integrator_new(sp_context *context, const sp_system *system, const sp_external_loads *loads,
                      const sp_integrator_parameters *parameters, const double *q, const double *v,
                      sp_integrator **integrator) SP_MUST_USE;
void sp_integrator_free(sp_integrator *integrator); /* NULL is allowed */

/* The checks of sp_integrator_new alone: SP_USAGE. */
int sp_integrator_check(sp_context *context, const sp_system *system, const sp_external_loads *loads,
                        const sp_integrator_parameters *parameters) SP_MUST_USE;

/* Performs one step. SP_NUMERICAL, with the time and the residual, if Newton's method does not converge, the matrix
 * cannot be factored, an element is inverted under a law that is undefined there, or the motion has become unstable.
 * The state is then that before the step or, with sub-stepping, after the last completed sub-step. */
int sp_integrator_step(sp_integrator *integrator) SP_MUST_USE;

/* From the present time on the loads have changed by `change` [n] N, and the callbacks of the loads give them with that
 * change: forces that a caller sets between two steps. Newmark and central differences begin the next step with the
 * acceleration a + M⁻¹ change, since the load jumps there; BDF2 adds the impulse that its loads lacked, which had been
 * counted half a step ahead. Without this call a change acts half a step late, an error of first order. Schemes that
 * take the mean of the loads over a step need nothing. To be called before the next step, once for each change. */
int sp_integrator_change_loads(sp_integrator *integrator, const double *change) SP_MUST_USE;

/* Continues the motion of another integrator, with its time, energies and counts, for a system that has changed since.
 * Call it before the first step of a new integrator that starts at that time (first_step), because loads are evaluated
 * there. If both have the same system (system->self) and the same q and v, the steps are identical to those that the
 * other one would have made. Otherwise accelerations are recomputed, BDF2 starts with a step of implicit Euler, and the
 * change of kinetic and stored energy, such as that of vertices that are no longer fixed, counts as work. SP_USAGE for
 * another time step. */
int sp_integrator_continue(sp_integrator *integrator, sp_integrator *before) SP_MUST_USE;

/* Saves or loads everything that the next steps depend on (base/state.h), with the state of the system and of the
 * skeleton. The caller visits the loads before. */
void sp_integrator_visit(sp_integrator *integrator, sp_state *state);

/* The time in s, and q and v [n] then: the integrator's own, which the next step changes. */
double sp_integrator_time(const sp_integrator *integrator);
const double *sp_integrator_q(const sp_integrator *integrator);
const double *sp_integrator_v(const sp_integrator *integrator);

/* The acceleration [n] then; NULL for schemes that have none (all but Newmark and central differences). */
const double *sp_integrator_acceleration(const sp_integrator *integrator);

/* Displacement [3·vertices] m and velocity [3·vertices] m/s of prescribed vertices now, 0 at free components; NULL if
 * no vertex moves. After a failed step they are those of the state. */
const double *sp_integrator_prescribed(const sp_integrator *integrator);
const double *sp_integrator_prescribed_velocity(const sp_integrator *integrator);

/* Kinetic and stored energy now (one evaluation of the force), and the work of external forces and the dissipation
 * since the start, J. With prescribed vertices the kinetic energy is that of the free degrees of freedom, and the work
 * includes that of the internal forces (not of damping forces) over the motion of prescribed vertices, and that of the
 * inertia −M_fh (a + αv) of prescribed vertices over the motion of free ones. If the internal force has no energy, the
 * stored energy is the work done against it since the start, by the trapezoidal rule over the steps. */
void sp_integrator_energies(sp_integrator *integrator, double energy[SP_WORK_COUNT]);

/* The work of external forces since the start alone, J. */
double sp_integrator_work(const sp_integrator *integrator);

/* The report; it belongs to the integrator. */
const sp_integrator_report *sp_integrator_reported(const sp_integrator *integrator);

#endif
