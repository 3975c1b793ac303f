/* Shared by the files of lib/integrate only: the integrator, its schemes, and the terms of the equation of motion
 *
 *     M a + C v + D(q) v + f(q) = external force,   C = αM + βK(q)
 *
 * of a system (model/system.h) that has n coordinates q, velocities v and accelerations a. */
#ifndef SP_INTEGRATE_INTERNAL_H
#define SP_INTEGRATE_INTERNAL_H

#include "integrate/integrate.h"
#include "nonlinear/newton.h"
#include "rigid/skeleton.h"

/* ---- schemes ---- */

/* Traits of a system, of its loads and of the parameters. Each scheme needs some of them and refuses others
 * (schemes.c). */
enum sp_trait {
    SP_HAS_VERTICES = 1 << 0,      /* q are degrees of freedom of a mesh */
    SP_HAS_OSCILLATORS = 1 << 1,   /* M = I and K is a constant diagonal matrix */
    SP_IS_CUBIC = 1 << 2,          /* f is a polynomial in q of degree 3 or less */
    SP_IS_CONSERVATIVE = 1 << 3,   /* f is the gradient of an energy */
    SP_HAS_VISCOSITY = 1 << 4,     /* damping by strain rate, D(q) v */
    SP_HAS_FRICTION = 1 << 5,      /* velocities change after a step */
    SP_MOVES_VERTICES = 1 << 6,    /* time-dependent Dirichlet conditions */
    SP_HAS_GROUNDS = 1 << 7,       /* supports that are anchored anew in each step */
    SP_SOLVES_VELOCITIES = 1 << 8, /* the system has its own velocity_step */
    SP_HAS_SKELETON = 1 << 9,      /* joint coordinates in addition to q */
    SP_IS_SEMI_IMPLICIT = 1 << 10, /* one Newton iteration per step is requested */
    SP_HAS_SPRINGS = 1 << 11,      /* tested when springs begin to act */
    SP_FOLLOWS = 1 << 12,          /* external forces that depend on the motion */
};

/* How the loads of a step are computed from those over time, so that impulses are exact (impulse.c). */
enum sp_load_rule {
    SP_LOADS_MEAN,     /* the mean over the step */
    SP_LOADS_NODAL,    /* forces at the ends of steps: Newmark's rule with γ */
    SP_LOADS_BACKWARD, /* BDF2 */
};

/* The data of the state that the next steps depend on. */
typedef struct sp_memory {
    struct {
        void *data;
        int64_t bytes;
    } part[16];
    int count;
} sp_memory;

/* integrate.c */
void sp_memory_add(sp_memory *memory, void *data, int64_t bytes);
void sp_memory_add_vector(sp_memory *memory, double *x, int64_t n);
#define SP_MEMORY_ADD_VALUE(memory, value) sp_memory_add(memory, &(value), (int64_t)sizeof(value))

typedef struct sp_scheme {
    const char *name;        /* as used in messages */
    unsigned needs, refuses; /* of enum sp_trait */
    double tolerance;        /* of Newton's method by default */
    bool subdivides;         /* a step that fails may be divided into sub-steps */
    bool has_acceleration;   /* a is part of the state and changes discontinuously with the forces */
    bool applies_friction;   /* within its step, else after it */
    enum sp_load_rule loads;
    /* Allocates it->workspace. NULL: the scheme has none. */
    void (*allocate)(sp_integrator *it);
    /* Initializes a motion in balance with it->load.force. NULL: nothing to do. */
    int (*start)(sp_integrator *it) SP_MUST_USE;
    /* Steps from it->now at t0 to t1 = t0 + h and adds to the ledger. After a failure it->now is unchanged. */
    int (*step)(sp_integrator *it) SP_MUST_USE;
    /* Springs, or other parts of the internal force, have changed at it->now. NULL: nothing. */
    int (*force_changed)(sp_integrator *it) SP_MUST_USE;
    /* Lists the data in the workspace that are kept from step to step. NULL: none. */
    void (*remember)(sp_integrator *it, sp_memory *memory);
} sp_scheme;

extern const sp_scheme sp_scheme_newmark, sp_scheme_euler, sp_scheme_bdf2; /* implicit.c */
extern const sp_scheme sp_scheme_energy, sp_scheme_central, sp_scheme_static, sp_scheme_linear_euler, sp_scheme_exact;

const sp_scheme *sp_scheme_of(enum sp_integrator_kind kind);

/* SP_USAGE for parameters out of range and for a scheme that the system, its loads or the parameters do not allow. */
int sp_scheme_check(sp_context *context, const sp_system *system, const sp_external_loads *loads,
                    const sp_integrator_parameters *p) SP_MUST_USE;

/* SP_USAGE if the scheme refuses springs. */
int sp_scheme_allows_springs(const sp_integrator *it) SP_MUST_USE;

/* ---- the integrator ---- */

/* Coordinates, velocities and accelerations at one time, each [n]. */
typedef struct motion_state {
    double *q, *v, *a;
} motion_state;

/* Vertices with time-dependent Dirichlet conditions, from the loads or from a skeleton that they are attached to. All
 * vectors are [rows = 3·vertices], 0 at free components. */
typedef struct prescribed_vertices {
    int64_t rows;                  /* 0 where no vertex moves */
    double *u[2], *v[2];           /* displacement and velocity at the start [0] and at the end [1] of the step */
    double *u_between, *v_between; /* set by the last call of sp_prescribe; otherwise scratch */
    double *du;                    /* scratch, usually displacements over the step */
} prescribed_vertices;

/* External forces of a step, and the data on them that the next steps need (impulse.c). */
typedef struct load_memory {
    double *force, *next_force;   /* [n] at the start and at the end of the step, or the mean over it in `force`, N */
    double *follow, *next_follow; /* [n] the part that depends on the motion, at the start and at the end, N; not in
                                     the two above */
    double interval;              /* the length of the step that `force` was made for, s */
    double covered;               /* BDF2: the time up to which loads are counted, s */
    double *late; /* [n] BDF2: the impulse of changes of loads between the present time and `covered`, N s */
    double *momentum, *next_momentum; /* [n] BDF2: the change of momentum by loads, in the last step and in this, N s */
    double interval_before; /* Newmark: > 0: interval, force and acceleration have been adapted to the length of this
                               step; these are the previous ones */
    double *force_before, *a_before; /* [n] */
    /* Central differences: the loads' count of stiffening changes for which stability was checked last. */
    int64_t stiffened;
} load_memory;

/* Energies since the start, J, and the work against an internal force that has no energy: its path integral. */
typedef struct ledger {
    double work; /* of external forces */
    double dissipated;
    double *integral_q, *integral_force; /* [n] the end of the path so far and the internal force there */
    double integral_energy;              /* of the springs there, the part of the force that has an energy */
    double work_integral;                /* against the other internal forces */
} ledger;

struct sp_integrator {
    sp_pool pool;
    sp_context *context;
    const sp_system *system;
    const sp_external_loads *loads;
    sp_integrator_parameters p;
    const sp_scheme *scheme;
    int64_t n;
    int64_t steps;          /* time = steps · p.step: no drift of summation */
    double t0, t1, h;       /* of the current step or sub-step, s */
    double last_h;          /* of the previous step; 0: there was none */
    bool in_parts;          /* the step is divided into sub-steps */
    double limit_scale;     /* Newmark: scale of all forces except inertia by the acceleration limit; 1: none */
    double *start_q;        /* [n] q at t0 */
    motion_state now, next; /* at t0 and, during a step, at t1 */
    prescribed_vertices prescribed;
    load_memory load;
    ledger ledger;
    void *workspace; /* of the scheme, declared in its file */
    /* [n] scratch of any step; the first three are those of Newton's method */
    double *residual, *correction, *trial, *product, *scratch;
    sp_integrator_report report;
};

/* ---- the equation of motion (forces.c) ---- */

double sp_norm(int64_t n, const double *x);
double sp_dot(int64_t n, const double *x, const double *y);

/* y = αM v + βK(q) v + D(q) v. Returns false, with y unchanged, if there is no damping. Overwrites it->scratch. */
bool sp_damping_force(sp_integrator *it, const double *q, const double *v, double *y);

/* it->now.a = M⁻¹ (external + follow − f(q) − C v − D v) at it->now with it->load.follow; it->residual holds M a. */
int sp_balance_acceleration(sp_integrator *it, const double *external) SP_MUST_USE;

/* S += scale · (H(q):v), the derivative of K(q) along v and along the velocities of prescribed vertices at the end of
 * the step. On return prescribed vertices are at the end of the step. Exact if K is quadratic in q, else a difference
 * quotient over a small part of the step. */
void sp_add_tangent_derivative(sp_integrator *it, const double *q, const double *v, double scale);

/* SP_NUMERICAL if a step would end with an inverted element whose law is undefined there. */
int sp_refuse_inverted(sp_integrator *it, const double *q) SP_MUST_USE;

/* ---- the nonlinear equations of a step (newton.c) ---- */

typedef struct step_equations {
    /* r [n] at q; sets size->scale and, if there is one, size->potential. */
    void (*residual)(sp_integrator *it, const double *q, double *r, sp_newton_residual *size);
    /* Builds the system's matrix S = ∂r/∂q at q, or its positive definite approximation. */
    void (*matrix)(sp_integrator *it, const double *q, bool definite);
    enum sp_newton_merit merit;
    int whole_steps; /* as in sp_newton_problem */
    double reuse;
    const char *name; /* of the method, for messages */
} step_equations;

/* Solves from it->next.q on, which holds the solution after SP_OK; restart [n] as in sp_newton_solve. */
int sp_step_solve(sp_integrator *it, const step_equations *equations, const double *restart) SP_MUST_USE;

/* ---- loads (impulse.c) ---- */

/* The mean external force over [t0, t1], −M_fh (a + αv) of prescribed vertices included. */
void sp_mean_force(sp_integrator *it, double t0, double t1, double *f);

/* The external force that depends on the motion, at q with the rates v (NULL: 0), in the interval of this step for
 * which its loads count; 0 if there is none. */
void sp_follow(sp_integrator *it, const double *q, const double *v, double *f);

/* Sets it->load.force at the start of a motion, or if a motion is continued in another system after a step of length
 * `behind` (0: it is not). */
void sp_force_start(sp_integrator *it, double t, double behind);

/* Adapts it->load.force and the acceleration to the length of the step that begins, if they were computed for another
 * length; and undoes this after the step has failed. */
int sp_force_retime(sp_integrator *it) SP_MUST_USE;
void sp_force_restore(sp_integrator *it);

/* Computes the force of an implicit step in it->load.next_force; and advances the loads to the next step. */
void sp_force_of_step(sp_integrator *it);
void sp_force_advance(sp_integrator *it);

/* ---- prescribed vertices (prescribed.c) ---- */

void sp_prescribed_allocate(sp_integrator *it);

/* Evaluates the motion of the loads and the skeleton at time t, the start (0) or the end (1) of the step. */
void sp_prescribed_place(sp_integrator *it, double t, int end);

/* Sets the system's prescribed vertices to those of the start (0) or end (1) of the step. */
void sp_prescribe_end(sp_integrator *it, int end);

/* Sets them to the fraction s of the step, 0 to 1, linearly between its ends. */
void sp_prescribe(sp_integrator *it, double s);

/* Resets them to the start of the step after it has failed. */
void sp_prescribed_restore(sp_integrator *it);

/* Half of the work of their motion over the step against the internal force at q, J. */
double sp_prescribed_half_work(sp_integrator *it, const double *q);

/* ---- energies (ledger.c) ---- */

/* Start a new section of the path integral at it->now, and add the step to it->now. */
void sp_ledger_mark(sp_integrator *it);
void sp_ledger_add_step(sp_integrator *it);

/* ---- parts of schemes that others use ---- */

/* static.c: finds the equilibrium under load [n] from it->now.q, the one under from_load [n]. The result is in
 * it->next.q. */
int sp_static_find(sp_integrator *it, const double *from_load, const double *load) SP_MUST_USE;

/* Resets the force to which residuals are relative if there are no loads. */
void sp_static_reset(sp_integrator *it);

/* stability.c: writes the largest stable step of central differences to the report; SP_USAGE if p.step is above it. */
int sp_check_stability(sp_integrator *it) SP_MUST_USE;

/* joints.c: workspace of a linearly implicit step with a skeleton, and that step with the system's matrix factored:
 * step->velocity and the joints' rates, for the right-hand side `right` [n] of the free degrees of freedom. */
typedef struct joint_workspace joint_workspace;
joint_workspace *sp_joints_new(sp_integrator *it);
int sp_joints_solve(sp_integrator *it, joint_workspace *w, const sp_velocity_step *step,
                    const double *right) SP_MUST_USE;
/* Moves the bones to the end of the step, and counts the work of the inertia that attached vertices share with free
 * ones. */
void sp_joints_move(sp_integrator *it, joint_workspace *w, const double *rate);

#endif
