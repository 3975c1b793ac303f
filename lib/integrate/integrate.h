/* Time integration of an sp_system. Every integrator keeps a state (q, v, a) and the energies, and takes one step at a
 * time. */
#ifndef SP_INTEGRATE_INTEGRATE_H
#define SP_INTEGRATE_INTEGRATE_H

#include "base/memory.h"
#include "model/system.h"

enum sp_integrator_kind {
    SP_NEWMARK, /* implicit Newmark (thesis §2.9); converged Newton, or one semi-implicit iteration as in the papers */
    SP_ENERGY, /* conserves energy exactly: q₁ − q₀ = h(v₀+v₁)/2, M(v₁−v₀) = −h f̄, f̄ by Simpson's rule along the step,
                  exact for cubic f */
    SP_CENTRAL, /* central differences (leapfrog), stable for h ≤ 2/ω_max */
    SP_STATIC,  /* static equilibrium under the mean loads of each step; no inertia, no damping */
    SP_EULER,   /* implicit Euler, converged Newton: first order, damps every motion that the step does not resolve */
    SP_BDF2,    /* backward differences of second order, converged Newton; the first step is implicit Euler */
    SP_LINEAR_EULER, /* linearly implicit Euler: one solve a step at q₀, with the factor β before h²K (Weidner et al.
                        2020, eq. 10); systems of vertices only (model/system.h) */
    SP_EXACT, /* oscillators, each integrated exactly under the mean load of the step; systems with eigenvalues only */
};

typedef struct sp_integrator_parameters {
    enum sp_integrator_kind kind;
    double step;        /* s, > 0 */
    double beta, gamma; /* Newmark; β > 0. ¼ and ½: no numerical damping in linear problems. LINEAR_EULER: β > 0, stable
                           in linear problems for every step from ½ on */
    double damping_mass;      /* 1/s, α of C = αM + βK(q) */
    double damping_stiffness; /* s */
    bool semi_implicit; /* Newmark: exactly one Newton iteration from q₀ with the papers' matrix (no H:v term) */
    double tolerance;   /* Newton: residual relative to the largest force term; 0: 1e-10, energy 1e-12 */
    int64_t iterations; /* at most, per step; 0: 50 */
    double most_acceleration; /* Newmark: of √(q̈ᵀMq̈), by forces that are scaled down for a step where they would bring
                                 more (thesis §3.10.2); 0: no limit */
    int halvings; /* 0 to 40: a step that does not converge is taken in parts, down to its 2^halvings-th; 0: never. Not
                   * STATIC, which goes through the loads so by itself, nor CENTRAL and EXACT. Newmark and BDF2 take
                   * means of loads about the ends of parts: exact impulses only where parts are alike */
    int64_t first_step;           /* it starts at this many steps, not at time 0 */
    struct sp_skeleton *skeleton; /* LINEAR_EULER: bones that carry held vertices, moved along (rigid/skeleton.h);
                                     must outlive the integrator. NULL: none */
} sp_integrator_parameters;

enum { SP_WORK_KINETIC, SP_WORK_STORED, SP_WORK_EXTERNAL, SP_WORK_DISSIPATED, SP_WORK_COUNT };

typedef struct sp_integrator_report {
    int64_t steps, newton_iterations, worst_iterations;
    int64_t factorizations; /* of Newton's matrix */
    int64_t load_steps;     /* static: equilibria on the way, the last of each step included */
    int64_t stagnated; /* steps whose residual stopped falling above the tolerance, but below 1e-6, or with corrections
                          below 1e-12 of q, which then stand for it: rounding */
    int64_t halvings;  /* of line searches */
    int64_t chopped;   /* steps whose forces were scaled down to the limit of acceleration */
    int64_t parted;    /* steps that were taken in parts … */
    double smallest_part;   /* … and the smallest of these, of a step; 1 where there were none */
    int64_t indefinite;     /* factorizations that needed the definite variant of K */
    double worst_residual;  /* relative, over all steps */
    double stability_limit; /* central: 2/ω_max at rest [s]; else 0 */
} sp_integrator_report;

typedef struct sp_integrator sp_integrator;

/* Starts at time first_step · step from q, v [n] (copied; NULL: 0). SP_USAGE for parameters that make no sense, for
 * central differences with a step above the stability limit, for the energy step of a system that has no energy. The
 * system and the forcing must outlive the integrator. */
int sp_integrator_new(sp_context *context, const sp_system *system, const sp_external_loads *loads,
                      const sp_integrator_parameters *parameters, const double *q, const double *v,
                      sp_integrator **integrator) SP_MUST_USE;
void sp_integrator_free(sp_integrator *integrator); /* NULL is allowed */

/* One step. SP_NUMERICAL when Newton does not converge, with the time and the residual; the state stays that of the
 * step before, or of the last part of the step that was done. */
int sp_integrator_step(sp_integrator *integrator) SP_MUST_USE;

/* Goes on from where another one was: its time, energies and counts, for a system that has changed since. Before the
 * first step of a new one, which starts at that time (first_step), since forces are looked at there. Where that has the
 * same system (system->self) and the same q and v, its steps are those that the other one would have taken, to the last
 * bit; else accelerations are found anew, BDF2 starts with a step of Euler, and what the change brings of kinetic and
 * stored energy, as that of vertices which were held and are let go, is work. SP_USAGE for another time step. */
int sp_integrator_continue(sp_integrator *integrator, sp_integrator *before) SP_MUST_USE;

/* All that the next steps take from those before (base/state.h), the system's own state included, after that of the
 * forcing. */
void sp_integrator_visit(sp_integrator *integrator, sp_state *state);

double sp_integrator_time(const sp_integrator *integrator);
const double *sp_integrator_q(const sp_integrator *integrator); /* [n] */
const double *sp_integrator_v(const sp_integrator *integrator);

/* Where held vertices are now and how fast they move, u and v [3·vertices], zero at free components; NULL where none
 * moves. After a failed step as the state. */
const double *sp_integrator_prescribed(const sp_integrator *integrator);
const double *sp_integrator_prescribed_velocity(const sp_integrator *integrator);

/* Kinetic and stored energy now (one force evaluation), work of external forces and dissipation since the start [J].
 * Where held vertices move, kinetic energy is that of the free degrees of freedom, the work that of the internal forces
 * over the motion of the held ones (not of damping forces) and of M_fh (a + αv) of the held ones over that of the free
 * ones as well. Of a system without an energy what counts as stored is the work done against the internal force since
 * the start, by the trapezoidal rule over the steps. */
void sp_integrator_energies(sp_integrator *integrator, double energy[SP_WORK_COUNT]);

const sp_integrator_report *sp_integrator_reported(const sp_integrator *integrator);

#endif
