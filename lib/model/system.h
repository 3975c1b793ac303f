/* The interface between models and time integration, the equation of motion of a deformable body:
 *
 *     M q̈ + (C(q) + D(q)) q̇ + f(q) = external force,     C = αM + βK(q),     K = ∂f/∂q
 *
 * M is the mass matrix, f the internal force, C Rayleigh damping and D damping by strain rate. Reduced-order,
 * full-order and linear models offer this one interface, so that every integrator is written once
 * (integrate/integrate.h).
 *
 * Functions take `self` first. Vectors have n entries. A system owns one matrix S. It is built, factored and used for
 * solves in this order: matrix_start, matrix_add or viscous_add any number of times, matrix_factor, matrix_solve.
 * Nothing is allocated in these calls. */
#ifndef SP_MODEL_SYSTEM_H
#define SP_MODEL_SYSTEM_H

#include "base/context.h"
#include "base/state.h"

/* A linear spring from a vertex to a fixed point. While it acts, its force is a part of the internal force. */
typedef struct sp_spring {
    int64_t vertex;
    double anchor[3]; /* m */
    double stiffness; /* N/m, ≥ 0 */
} sp_spring;

/* ---- full-order models ---- */

/* Joint coordinates of a skeleton in addition to q (rigid/skeleton.h). Over one linearly implicit step their rates are
 * unknowns, and the fixed vertices that are attached to bones move with the velocities columns · rate. The step adds
 * the contributions of the mesh to `matrix` and `right`. */
typedef struct sp_joint_system {
    int64_t count;          /* m */
    const double *columns;  /* [3·vertices, m, column major] m/s for each unit of rate; zero at components that are
                               attached to no bone */
    const double *arriving; /* [3·vertices] m/s: the velocities of attached vertices at the start of the step, minus h
                               times their accelerations at constant rates; zero elsewhere */
    const double *matrix;   /* [m, m] symmetric: inertia, springs and damping of the bones alone */
    const double *right;    /* [m] their momentum and impulse */
    double *rate;           /* [m] the solution */
} sp_joint_system;

/* One step of the linearly implicit Euler method, for velocities only (Baraff and Witkin 1998; Weidner et al. 2020,
 * eq. 10 and 11, with f = −(their internal force)):
 *
 *     (M + h C + β h² K(q)) v₁ = M v₀ + h (external − f(q)),     C = αM + β_R K + D,     all at q.
 *
 * Fixed vertices have the displacements and velocities that `prescribe` has set. */
typedef struct sp_velocity_step {
    const double *q, *v, *external;         /* [n] at the start; the mean external force, N */
    double step, beta;                      /* h [s]; the factor β on h² K */
    double damping_mass, damping_stiffness; /* α [1/s], β_R [s] */
    const sp_joint_system *joints;          /* NULL: none */
    double *velocity;                       /* [n] receives v₁ */
    double *shift; /* [n] zero on entry; receives the shift that is added to q₀ + h v₁ (the stabilization of ConJac) */
    int64_t *indefinite;     /* incremented if a definite variant of K was needed */
    int64_t *factorizations; /* incremented by every factorization */
} sp_velocity_step;

/* The interface of a full-order model in addition to the equation of motion: q are the free degrees of freedom of a
 * mesh, and the motion of its fixed components may be prescribed. Vectors [3·vertices] run over all components. */
typedef struct sp_vertex_system {
    const struct sp_fe_space *space; /* NULL: the coordinates are not those of a mesh, and all other members are NULL */
    /* Sets displacement u and velocity v [3·vertices] of fixed components from now on (copied; free components are not
     * read). Forces and energies follow the displacements; tangent_times and viscous_times add the velocities to v. */
    void (*prescribe)(void *self, const double *u, const double *v);
    /* y = K(q) v and y = M v over all components, fixed ones included, v and y [3·vertices], without springs and floor
     * planes. */
    void (*stiffness_times)(void *self, const double *q, const double *v, double *y);
    void (*inertia_times)(void *self, const double *v, double *y);
    /* f −= M_fh a: the inertia of fixed components with the acceleration a [3·vertices]. */
    void (*prescribed_inertia)(void *self, const double *a, double *f);
    /* Work [J] of the internal force at q, springs and floor planes included, over displacements du [3·vertices] of
     * fixed components. */
    double (*prescribed_work)(void *self, const double *q, const double *du);
    /* Called at the start of every step at q₀, where friction on floor planes is anchored (model/supports.h). Returns
     * the energy that is removed from the system by this [J]. NULL: there are no floor planes. */
    double (*begin)(void *self, const double *q);
    /* Applies the friction of a step of length h that ended at q₁ to v₁ [n]. Returns the loss of kinetic energy of the
     * free degrees of freedom [J]; with a consistent mass it can be negative if neighbours slide against each other.
     * NULL: there is no friction. */
    double (*apply_friction)(void *self, const double *q0, const double *q1, double h, double *v);
    /* The step of a model that has its own method. NULL: the general step by the matrices of the system. */
    int (*velocity_step)(void *self, const sp_velocity_step *step) SP_MUST_USE;
} sp_vertex_system;

/* ---- the system ---- */

/* Why the tangent at an equilibrium may be singular: no reason, Newton's method took many iterations to get there, or
 * failed from there on. */
enum sp_suspicion { SP_SUSPICION_NONE, SP_SUSPICION_SLOW, SP_SUSPICION_FAILED };

/* Report on the linear solvers and the state of a system. Members that do not apply are zero. */
typedef struct sp_system_report {
    bool iterative;             /* linear systems are solved by iterations, which the next two members count */
    int64_t linear_solves;      /* solves */
    int64_t linear_products;    /* and products with the matrix that they took */
    bool counts_factorizations; /* the next member is set */
    int64_t factorizations;     /* factorizations for preconditioners */
    bool has_ghost;             /* stiffness warping: the next two are the net force [N] and torque [N m] of the */
    double ghost_force, ghost_torque; /* internal forces (model/warp/warp.h) */
    bool has_balance;                 /* ConJac: the next two are norms [N] of external − internal forces */
    double quasistatic_residual, dynamic_residual; /* (model/conjac/conjac.h) */
} sp_system_report;

typedef struct sp_system sp_system;

struct sp_system {
    void *self;
    int64_t n;
    /* traits */
    bool constant;        /* K does not depend on q: one Newton iteration is exact */
    bool cubic;           /* the force is a polynomial of degree 3 or less in q */
    bool active;          /* f depends on the current tension of fibres in the materials of the mesh */
    bool nonconservative; /* f is not conservative and K is not symmetric; `force` returns the energy of the
                             springs only */
    bool lumped;          /* the mass is lumped; gravity uses the same mass, so that free fall is exact */
    double rounding;      /* [N] if the force at rest is a difference of large terms: a residual of at most this norm is
                             their rounding error. Else 0 */
    /* The stored energy [J], springs included. f [n] is overwritten; NULL: not wanted. */
    double (*force)(void *self, const double *q, double *f);
    /* S = mass_scale · M. */
    void (*matrix_start)(void *self, double mass_scale);
    /* S += scale · K(q) + spring_scale · (stiffness of the springs). There are two scales because springs do not damp.
     * f [n] receives the force as well; NULL: not wanted. Returns the stored energy. definite: leaves out the terms
     * that can make K indefinite (assembly/elastic.h); matrix_factor may then factor a positive definite matrix near S
     * instead. */
    double (*matrix_add)(void *self, const double *q, double scale, double spring_scale, bool definite, double *f);
    /* SP_NUMERICAL if S is not positive definite, or if an unsymmetric S is singular. */
    int (*matrix_factor)(void *self) SP_MUST_USE;
    /* x = S⁻¹ b; x is not b. SP_NUMERICAL if an iterative solver does not converge or finds that S is indefinite. */
    int (*matrix_solve)(void *self, const double *b, double *x) SP_MUST_USE;
    /* Sets the relative tolerance of the next iterative solves; 0: that which the system was configured with. NULL:
     * solves are direct. */
    void (*matrix_tolerance)(void *self, double tolerance);
    /* SP_NUMERICAL, naming vertices, if the tangent at an equilibrium q is singular to rounding (linear/singular.h), so
     * that the equilibrium is arbitrary. It is factored anew only if the last factor is nearly singular, or if there is
     * a reason to suspect it. S is undefined afterwards. NULL: not known. */
    int (*matrix_regular)(void *self, const double *q, enum sp_suspicion suspicion) SP_MUST_USE;
    void (*mass_times)(void *self, const double *x, double *y);
    int (*mass_solve)(void *self, const double *b, double *x) SP_MUST_USE;
    /* y = K(q) v, without springs, which do not damp. */
    void (*tangent_times)(void *self, const double *q, const double *v, double *y);
    /* Sets the active springs (the array is borrowed until the next call). It is also called when any other force has
     * changed: all cached evaluations are invalid then. */
    void (*set_springs)(void *self, int64_t count, const sp_spring *springs);
    /* The first element that is inverted at q under a law that is undefined there; −1: none. At such q the energy is +∞
     * and forces are NaN, and integrators never accept it. NULL: this cannot happen. */
    int64_t (*inverted)(void *self, const double *q);
    /* The first element that is compressed so far at q that its law softens (sp_elastic_softened); −1: none. For
     * messages. NULL: not known. */
    int64_t (*softened)(void *self, const double *q);
    /* Damping by strain rate: the force D(q) v with D symmetric, positive semidefinite and quadratic in q. S += scale ·
     * D(q), and y = D(q) v. Both NULL: there is none. */
    void (*viscous_add)(void *self, const double *q, double scale);
    void (*viscous_times)(void *self, const double *q, const double *v, double *y);
    /* Saves or loads the state that the next step depends on (base/state.h): factors, cached evaluations, friction
     * anchors, counts. Prescribed motion and springs must be set before loading. */
    void (*visit)(void *self, sp_state *state);
    /* Frees `self`. */
    void (*destroy)(sp_system *system);
    /* Fills a zeroed report. q [n] is the state and external [n] the external force; either may be NULL, and members
     * that depend on it are then left out. NULL: the system has no report. */
    int (*report)(void *self, const double *q, const double *external, sp_system_report *report) SP_MUST_USE;
    sp_vertex_system vertices; /* full-order models; zeroed in others */
    /* Oscillators: [n] rad²/s²; M is the identity and K the diagonal matrix of these, for every q. NULL: the system
     * does not consist of uncoupled oscillators. */
    const double *eigenvalue;
    /* Oscillators: [n] 1/s, the constant diagonal matrix D(q) of viscous_times; NULL: there is none. */
    const double *damping_rate;
};

/* External forces in the coordinates of a system, and other changes over time. */
typedef struct sp_external_loads {
    void *self;
    /* f [n] receives the mean external force over [t0, t1]. t1 infinite: that of the loads that never end. */
    void (*mean)(void *self, double t0, double t1, double *f);
    /* f [n] receives the part of the external force that depends on the motion, at q with the rates v (NULL: 0) [n], in
     * addition to `mean`, with its coefficients averaged over [t0, t1] (rigid/moving_frame.h). Implicit schemes solve
     * for it together with the internal force, but Newton's matrix neglects it: with a rate ω of the frame and steps h
     * an iteration reduces the error by the factor ωh. NULL: no force does. */
    void (*follow)(void *self, double t0, double t1, const double *q, const double *v, double *f);
    /* Sets the springs of the system, and other changes of its internal force, to those in the middle of [t0, t1].
     * Returns true if something has changed. NULL: nothing changes. */
    bool (*springs)(void *self, double t0, double t1);
    /* Incremented by every change that may have made the system stiffer. NULL: every change may have. */
    const int64_t *stiffened;
    /* Displacement u and velocity v [3·vertices] of the components with prescribed motion at t, and from then on; other
     * components are left as they are. NULL: fixed components rest at 0. */
    void (*prescribed)(void *self, double t, double *u, double *v);
} sp_external_loads;

#endif
