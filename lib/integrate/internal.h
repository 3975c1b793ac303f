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
    SP_SOLVES_VELOCITIES = 1 << 8, /* the system has a step of its own */
    SP_HAS_SKELETON = 1 << 9,      /* joint coordinates beside q */
    SP_IS_SEMI_IMPLICIT = 1 << 10, /* one Newton iteration a step is asked for */
    SP_HAS_SPRINGS = 1 << 11,      /* looked at when springs begin to act */
};

/* How the loads of a step are taken from those over time, so that impulses are exact (impulse.c). */
enum sp_load_rule {
    SP_LOADS_MEAN,     /* the mean over the step */
    SP_LOADS_NODAL,    /* forces at the ends of steps: Newmark's rule with γ */
    SP_LOADS_BACKWARD, /* BDF2 */
};

/* The data that the next steps take from those before. */
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
    const char *name;        /* as it stands in messages */
    unsigned needs, refuses; /* of enum sp_trait */
    double tolerance;        /* of Newton's method by default */
    bool subdivides;         /* a step that fails may be taken in parts */
    bool has_acceleration;   /* a is a part of the state and jumps with the forces */
    bool applies_friction;   /* within its step, else after it */
    enum sp_load_rule loads;
    /* Allocates it->workspace. NULL: the scheme has none. */
    void (*allocate)(sp_integrator *it);
    /* At the start of a motion, in balance with it->load.force. NULL: nothing. */
    int (*start)(sp_integrator *it) SP_MUST_USE;
    /* From it->now at t0 to t1 = t0 + h; adds to the ledger. After a failure it->now is what it was. */
    int (*step)(sp_integrator *it) SP_MUST_USE;
    /* Springs, or other parts of the internal force, have changed at it->now. NULL: nothing. */
    int (*force_changed)(sp_integrator *it) SP_MUST_USE;
    /* Lists what the workspace keeps from step to step. NULL: nothing. */
    void (*remember)(sp_integrator *it, sp_memory *memory);
} sp_scheme;

extern const sp_scheme sp_scheme_newmark, sp_scheme_euler, sp_scheme_bdf2; /* implicit.c */
extern const sp_scheme sp_scheme_energy, sp_scheme_central, sp_scheme_static, sp_scheme_linear_euler, sp_scheme_exact;

const sp_scheme *sp_scheme_of(enum sp_integrator_kind kind);

/* SP_USAGE for parameters out of range and for a scheme that the system, its loads or the parameters do not allow. */
int sp_scheme_check(sp_context *context, const sp_system *system, const sp_external_loads *loads,
                    const sp_integrator_parameters *p) SP_MUST_USE;

/* SP_USAGE where the scheme refuses springs. */
int sp_scheme_allows_springs(const sp_integrator *it) SP_MUST_USE;

/* ---- the integrator ---- */

/* Coordinates, velocities and accelerations at one time, each [n]. */
typedef struct motion_state {
    double *q, *v, *a;
} motion_state;

/* Vertices with time-dependent Dirichlet conditions, by the loads or as carried by a skeleton. All vectors are
 * [rows = 3·vertices], 0 at free components. */
typedef struct prescribed_vertices {
    int64_t rows;                  /* 0 where no vertex moves */
    double *u[2], *v[2];           /* displacement and velocity at the start [0] and at the end [1] of the step */
    double *u_between, *v_between; /* set at last by sp_prescribe; scratch at other times */
    double *du;                    /* scratch, displacements over the step as a rule */
} prescribed_vertices;

/* External forces of a step and what the next ones need to know of them (impulse.c). */
typedef struct load_memory {
    double *force, *next_force; /* [n] at the start and at the end of the step, or the mean over it in `force`, N */
    double interval;            /* the length of the step that `force` was made for, s */
    double covered;             /* BDF2: the time up to which loads are counted, s */
    double *momentum, *next_momentum; /* [n] BDF2: the change of momentum by loads, in the last step and in this, N s */
    double interval_before; /* Newmark: > 0: interval, force and acceleration were adapted to this step's length, and
                               were these before */
    double *force_before, *a_before; /* [n] */
    /* Central differences: the loads' count of stiffening changes for which stability was checked last. */
    int64_t stiffened;
} load_memory;

/* Energies since the start, J, and the work against an internal force that has no energy: its path integral. */
typedef struct ledger {
    double work; /* of external forces */
    double dissipated;
    double *path_q, *path_force; /* [n] the end of the path so far and the internal force there */
    double path_energy;          /* of the springs there, the part of the force that has an energy */
    double path_work;            /* against the other internal forces */
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
    double t0, t1, h;       /* of the step that is taken, or of the part of one, s */
    double last_h;          /* of the step before; 0: there was none */
    bool in_parts;          /* the step is taken in parts */
    double limit_scale;     /* Newmark: factor on all forces but inertia by the limit of acceleration; 1: none */
    double *start_q;        /* [n] q at t0 */
    motion_state now, next; /* at t0 and, while a step is taken, at t1 */
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

/* y = αM v + βK(q) v + D(q) v; false and untouched where there is no damping. Overwrites it->scratch. */
bool sp_damping_force(sp_integrator *it, const double *q, const double *v, double *y);

/* it->now.a = M⁻¹ (external − f(q) − C v − D v) at it->now; it->residual holds M a. */
int sp_balance_acceleration(sp_integrator *it, const double *external) SP_MUST_USE;

/* S += scale · (H(q):v), the derivative of K(q) along v, and along the velocities of prescribed vertices at the end of
 * the step, where it leaves them. Exact where K is quadratic in q, else a difference quotient over a small part of the
 * step. */
void sp_add_tangent_derivative(sp_integrator *it, const double *q, const double *v, double scale);

/* SP_NUMERICAL where a step would end with an inverted element whose law has no value there. */
int sp_refuse_inverted(sp_integrator *it, const double *q) SP_MUST_USE;

/* ---- the nonlinear equations of a step (newton.c) ---- */

typedef struct step_equations {
    /* r [n] at q; fills size->scale and, where there is one, size->potential. */
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

/* it->load.force at the start of a motion, or where one goes on in another system after a step of the length `behind`
 * (0: it does not). */
void sp_force_start(sp_integrator *it, double t, double behind);

/* Adapts it->load.force, and the acceleration, to the length of the step that begins where they were made for another
 * one; and undoes that, after the step has failed. */
int sp_force_retime(sp_integrator *it) SP_MUST_USE;
void sp_force_restore(sp_integrator *it);

/* The force of an implicit step into it->load.next_force; and the change to the next step. */
void sp_force_of_step(sp_integrator *it);
void sp_force_taken(sp_integrator *it);

/* ---- prescribed vertices (prescribed.c) ---- */

void sp_prescribed_allocate(sp_integrator *it);

/* Asks the loads and the skeleton for the motion at time t, the start (0) or the end (1) of the step. */
void sp_prescribed_place(sp_integrator *it, double t, int end);

/* Sets the system's prescribed vertices to those of the start (0) or end (1) of the step. */
void sp_prescribe_end(sp_integrator *it, int end);

/* Sets them to the part s of the step, 0 to 1, linearly between its ends. */
void sp_prescribe(sp_integrator *it, double s);

/* After a failed step: where they were at its start. */
void sp_prescribed_restore(sp_integrator *it);

/* Half of the work that moves them over the step, against the internal force at q; J. */
double sp_prescribed_half_work(sp_integrator *it, const double *q);

/* ---- energies (ledger.c) ---- */

/* The path integral goes on from it->now; and takes the step to it->now. */
void sp_ledger_mark(sp_integrator *it);
void sp_ledger_follow(sp_integrator *it);

/* ---- parts of schemes that others use ---- */

/* static.c: from the equilibrium it->now.q under from_load [n] to the one under load [n], which comes out in
 * it->next.q. */
int sp_static_reach(sp_integrator *it, const double *from_load, const double *load) SP_MUST_USE;

/* Forgets the force that residuals are measured by where there are no loads. */
void sp_static_forget(sp_integrator *it);

/* stability.c: the largest stable step of central differences into the report; SP_USAGE where p.step is above it. */
int sp_check_stability(sp_integrator *it) SP_MUST_USE;

/* joints.c: workspace of a linearly implicit step with a skeleton, and that step with the system's matrix factored:
 * step->velocity and the joints' rates, for the right-hand side `right` [n] of the free degrees of freedom. */
typedef struct joint_workspace joint_workspace;
joint_workspace *sp_joints_new(sp_integrator *it);
int sp_joints_solve(sp_integrator *it, joint_workspace *w, const sp_velocity_step *step,
                    const double *right) SP_MUST_USE;
/* Moves the bones to the end of the step, and counts the work of the inertia that carried vertices share with free
 * ones. */
void sp_joints_move(sp_integrator *it, joint_workspace *w, const double *rate);

#endif
