/* What an integrator needs to know of a body: coordinates q with M q̈ + (C(q) + D(q)) q̇ + f(q) = external force, C = αM
 * + βK. Reduced, full and linear models stand behind this one interface, so that every integrator is written once.
 *
 * Functions take `self` first. Vectors have n entries. A system owns one matrix S, built and factored for one solve at
 * a time: start, add…, factor, solve. Nothing is allocated in these calls. */
#ifndef SP_MODEL_SYSTEM_H
#define SP_MODEL_SYSTEM_H

#include "base/context.h"
#include "base/state.h"

/* A linear spring from a vertex to a fixed point. It belongs to the body's forces while it acts. */
typedef struct sp_spring {
    int64_t vertex;
    double anchor[3]; /* m */
    double stiffness; /* N/m, ≥ 0 */
} sp_spring;

/* Coordinates beside q that move held vertices: the joints of a skeleton (rigid/skeleton.h). Over one linearly
 * implicit step their rates are unknowns, and these held vertices move with the velocities columns · rate. */
typedef struct sp_joint_system {
    int64_t count;          /* m */
    const double *columns;  /* [3·vertices, m, column major] m/s by unit rate, zero at every other component */
    const double *arriving; /* [3·vertices] what these vertices bring into the step: their velocities, less h times the
                               accelerations that they have while no rate changes (m/s, zero elsewhere) */
    const double
        *matrix; /* [m, m] symmetric: what stands before the rates for the bones alone (inertia, springs, damping) … */
    const double *right; /* [m] … and on the right, momentum and impulse */
    /* those of the mesh are added by the step */
    double *rate; /* [m] the solution */
} sp_joint_system;

/* One linearly implicit Euler step, velocities only (Baraff and Witkin 1998; Weidner et al. 2020, eq. 10 and 11 with f
 * = −(internal force)): (M + h C + β h² K(q)) v₁ = M v₀ + h (external − f(q)), C = αM + β_R K + D, all at q; held
 * vertices as they were set with `hold`. */
typedef struct sp_velocity_step {
    const double *q, *v, *external; /* [n] */
    double step, beta;              /* s, 1 */
    double damping_mass, damping_stiffness;
    const sp_joint_system *joints;        /* NULL: none */
    double *velocity;                     /* [n] v₁ */
    double *shift;                        /* [n] what is added to q₀ + h v₁; zero on entry */
    int64_t *indefinite, *factorizations; /* counted up */
} sp_velocity_step;

/* What a system says of its solvers and of its state. Zero where it has nothing to say. */
typedef struct sp_system_report {
    bool iterative;                   /* linear systems are solved by iterations; then */
    int64_t linear_solves;            /* so many were, */
    int64_t linear_products;          /* with so many products with their matrix */
    bool counts_factorizations;       /* and where this is true, with */
    int64_t factorizations;           /* so many factorizations for preconditioners */
    bool has_ghost;                   /* stiffness warping: */
    double ghost_force, ghost_torque; /* net force [N] and torque [N m] of the internal forces (model/warp/warp.h) */
    bool has_balance;                 /* ConJac: norms [N] of what is left of external − internal forces */
    double quasistatic_residual, dynamic_residual; /* (model/conjac/conjac.h) */
} sp_system_report;

typedef struct sp_system sp_system;

struct sp_system {
    void *self;
    int64_t n;
    bool constant; /* K does not depend on q: one Newton iteration is exact */
    /* Stored energy [J], springs included; f [n] overwritten (NULL: not wanted). */
    double (*force)(void *self, const double *q, double *f);
    /* S = mass_scale · M. */
    void (*matrix_start)(void *self, double mass_scale);
    /* S += scale · K(q) + spring_scale · the springs' stiffness (apart, because springs do not damp). f [n] receives
     * the force too where not NULL; returns the stored energy. definite: leave out what can make K indefinite
     * (assembly/elastic.h); matrix_factor may then factor another matrix near by that is definite. */
    double (*matrix_add)(void *self, const double *q, double scale, double spring_scale, bool definite, double *f);
    /* SP_NUMERICAL where S is not positive definite; where it is not symmetric, singular. */
    int (*matrix_factor)(void *self) SP_MUST_USE;
    /* SP_NUMERICAL where an iterative solver finds that out only now, or does not converge. x is not b. */
    int (*matrix_solve)(void *self, const double *b, double *x) SP_MUST_USE;
    /* The next solves need no smaller residual than this part of their right side; 0: as small as the system was set
     * to, as at first. NULL: solves are exact. */
    void (*matrix_tolerance)(void *self, double tolerance);
    void (*mass_times)(void *self, const double *x, double *y);
    int (*mass_solve)(void *self, const double *b, double *x) SP_MUST_USE;
    /* y = K(q) v, springs left out (they do not damp). */
    void (*tangent_times)(void *self, const double *q, const double *v, double *y);
    /* The springs that act from now on; the array must live as long as it is set. Called too when other forces than the
     * springs' have changed: nothing that was kept of an evaluation is true any more. */
    void (*set_springs)(void *self, int64_t count, const sp_spring *springs);
    bool cubic; /* the force is a polynomial of degree 3 or less in q */
    /* The first element that is turned inside out at q under a law that has no value there, −1 where there is none;
     * NULL where that cannot be. At such q the energy is +∞ and forces are NaN: integrators never keep one. */
    int64_t (*inverted)(void *self, const double *q);
    /* Damping by strain rate, the force D(q) v with D symmetric, positive semidefinite and quadratic in q; both NULL
     * where there is none. S += scale · D(q). */
    void (*viscous_add)(void *self, const double *q, double scale);
    /* y = D(q) v. */
    void (*viscous_times)(void *self, const double *q, const double *v, double *y);
    bool active; /* f follows the tension of fibres in the materials of the body's mesh (material/material.h) from call
                    to call */
    double rounding; /* [N] where the force at rest is a difference of large terms: a residual of no larger norm is
                        nothing but their rounding. Else 0 */
    /* What the next step takes from the steps before (base/state.h): factors and evaluations that are kept, supports,
     * counts. Held vertices and springs are set before it is loaded. */
    void (*visit)(void *self, sp_state *state);
    /* Frees what `self` is; NULL where there is nothing. */
    void (*destroy)(sp_system *system);
    /* Fills a zeroed report; NULL: nothing to say. q [n], the state: may be NULL, then what depends on it is left out.
     * external [n], the external force there: may be NULL likewise. */
    int (*report)(void *self, const double *q, const double *external, sp_system_report *report) SP_MUST_USE;
    bool nonconservative; /* f is the gradient of no energy, and K not symmetric: `force` returns the energy of the
                             springs only */

    /* ---- systems of vertices (model/models.h: full, linear, warped, condensed); NULL elsewhere ---- */
    const struct sp_fe_space *body; /* q are its free degrees of freedom */
    /* Where held vertices are and how fast they move from now on, u and v [3·vertices] of which only held components
     * are read (copied). All other calls see them: f and energies the positions, tangent_times and viscous_times the
     * velocities, in addition to v. */
    void (*prescribe)(void *self, const double *u, const double *v);
    /* y = K(q) v and y = M v over all vertices, held ones included, v and y [3·vertices]; springs and grounds left out.
     */
    void (*stiffness_times)(void *self, const double *q, const double *v, double *y);
    void (*inertia_times)(void *self, const double *v, double *y);
    /* f −= M_fh a, the inertia of held vertices that accelerate with a [3·vertices]. */
    void (*prescribed_inertia)(void *self, const double *a, double *f);
    /* Work [J] of the internal force at q, that of springs and grounds included, over displacements du [3·vertices] of
     * held components. */
    double (*prescribed_work)(void *self, const double *q, const double *du);
    /* Called at the start of every step at q₀: what the supports (model/supports.h) anchor there. Returns the energy
     * that this takes out of the system [J]. NULL: nothing. */
    double (*begin)(void *self, const double *q);
    /* Changes v₁ [n] as friction does in a step of h that ended at q₁; returns the kinetic energy of the free degrees
     * of freedom that is lost [J]; with a consistent mass it may be below 0 where neighbours move against each other.
     * NULL: nothing. */
    double (*apply_friction)(void *self, const double *q0, const double *q1, double h, double *v);
    /* NULL: the general step by the matrices above. */
    int (*velocity_step)(void *self, const sp_velocity_step *step) SP_MUST_USE;

    /* ---- systems of oscillators ---- */
    const double *eigenvalue; /* [n] rad²/s²: M is the identity and K this diagonal, whatever q. NULL: they are not */
};

/* External forces in the system's coordinates. */
typedef struct sp_external_loads {
    void *self;
    /* Mean over [t0, t1] of the external force, into f [n]; t1 infinite: what acts for ever. */
    void (*mean)(void *self, double t0, double t1, double *f);
    /* Sets the system's springs, and all else that changes its internal force, to what acts in the middle of [t0, t1];
     * returns true when that changed. NULL: none. */
    bool (*springs)(void *self, double t0, double t1);
    /* Grows with every change by `springs` that may have made the system stiffer; NULL: each one may. */
    const int64_t *stiffened;
    /* Where held vertices are at t and how fast they move from then on: u, v [3·vertices], other components untouched.
     * NULL: they stay at 0. */
    void (*prescribed)(void *self, double t, double *u, double *v);
} sp_external_loads;

#endif
