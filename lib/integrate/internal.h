/* Shared by the integrators only. */
#ifndef SP_INTEGRATE_INTERNAL_H
#define SP_INTEGRATE_INTERNAL_H

#include "integrate/integrate.h"
#include "nonlinear/newton.h"
#include "rigid/skeleton.h"

#include <lapacke.h>

struct sp_integrator {
    sp_pool pool;
    sp_context *context;
    const sp_system *system;
    const sp_external_loads *loads;
    sp_integrator_parameters p;
    int64_t n;
    int64_t stiffened;       /* central: the forcing's, when stability was checked last */
    int64_t steps;           /* time = steps · p.step: no drift of summation */
    double t0, t1, h;        /* of the step that is taken, or the part of one, s */
    double last_h;           /* of the one before; 0: there was none */
    bool parting;            /* in parts */
    double *q, *v, *a;       /* the state */
    double *last_q, *last_v; /* BDF2: of the step before; LINEAR_EULER: shift, and room */
    double *vb, *ab, cv, ca; /* implicit steps: v₁ = cv (q₁ − q₀) + vb, a₁ = ca (q₁ − q₀) + ab */
    int64_t rows;            /* 3·vertices where held ones move, else 0 */
    double *prescribed_u[2], *prescribed_v[2]; /* [rows] at the start and the end of the step, free components 0 */
    double *coupling, *reach;             /* with a skeleton of m joints: [rows, m] S c, [n, m] S_ff⁻¹ (S c)_f */
    double *wide, *wider;                 /* [rows] */
    double *start_q;                      /* q before the step */
    double *small, *small_right;          /* [m, m], [m] */
    lapack_int *pivot;                    /* [m] */
    double *scrap;                        /* [rows] */
    double *prescribed, *prescribed_rate; /* [rows] in between, or differences */
    double *q1, *v1, *a1;                 /* of the step's end */
    double *external, *external1;         /* nodal or mean forces of the step */
    double ahead, covered; /* impulse.c: Newmark: the length of the step behind that `external` was made for; BDF2:
                              loads count so far, s */
    double *momentum, *momentum1; /* BDF2: what loads changed in the last step and in this one, N s */
    double retimed;               /* Newmark: > 0: `ahead` before it was made another for this step, and these: */
    double *external_before, *a_before;
    double *f0; /* energy step: f(q₀); static: loads of the last equilibrium; implicit: where a second attempt begins */
    double *r, *dq, *x, *y, *trial;
    double work, dissipated;
    double energy_scale;     /* central: work and first energy so far; far beyond it the motion has blown up */
    double force_scale;      /* static, without loads: the first internal force, since all forces vanish in the end */
    double *path_q, *path_f; /* nonconservative: the last state of which the path's work is known, and its force */
    double path_energy,
        path_work;    /* of the springs there; the work against the other internal forces since the start */
    double chop;      /* newmark: what forces are scaled by in this step, 1 without a limit of acceleration */
    double potential; /* of the last residual (newton_problem) */
    int64_t barred;   /* the element that the last step which led nowhere turned inside out; −1 */
    sp_integrator_report report;
};

/* One nonlinear system r(q₁) = 0 with its matrix. */
typedef struct newton_problem {
    /* r [n] at q; returns the size of the largest force term. */
    double (*residual)(sp_integrator *it, const double *q, double *r);
    /* Builds S = ∂r/∂q at q. */
    void (*matrix)(sp_integrator *it, const double *q, bool definite);
    enum sp_newton_merit merit; /* the potential, where there is one, is left in it->potential by residual */
    int free_steps; /* so many iterations take whole steps before line searches begin, from the start once more */
    double reuse;   /* the factor is kept while an iteration leaves at most this part of the residual; 0: a new one each
                       time */
    const char *what; /* for the message */
} newton_problem;

/* Solves from it->q1 on, which holds the solution after SP_OK; start [n]: where a second attempt begins. */
int sp_newton(sp_integrator *it, const newton_problem *problem, const double *start) SP_MUST_USE;

/* From the equilibrium it->q under the loads it->f0 to the one under it->external, which comes out in it->q1. */
int sp_static_reach(sp_integrator *it) SP_MUST_USE;

/* S += scale · (H(q):v), the derivative of K(q) along v, and along the velocities of held vertices at the end of the
 * step, where it leaves them: exact as a difference quotient where K is quadratic in q, else over a small part of the
 * step. */
void sp_add_tangent_derivative(sp_integrator *it, const double *q, const double *v, double scale);

/* impulse.c. Mean external force over [t0, t1], −M_fh (a + αv) of held vertices included. */
void sp_mean_force(sp_integrator *it, double t0, double t1, double *f);

/* The force at the start of a motion, or where it goes on in another system behind a step of the length `behind` (0: it
 * does not), into it->external. */
void sp_force_start(sp_integrator *it, double t, double behind);

/* Where the step that begins is not as long as it->external was made for, makes that and the acceleration fit; and
 * undoes that, where the step failed. */
int sp_force_retime(sp_integrator *it) SP_MUST_USE;
void sp_force_restore(sp_integrator *it);

/* The force of an implicit step into it->external1; and after that step. */
void sp_force_of_step(sp_integrator *it);
void sp_force_taken(sp_integrator *it);

/* Puts held vertices where they are at the part s of the step, 0 to 1, with their velocities then (both linear in
 * between). Nothing where none moves. */
void sp_prescribe(sp_integrator *it, double s);

double sp_norm(int64_t n, const double *x);
double sp_dot(int64_t n, const double *x, const double *y);

/* SP_NUMERICAL where a step would end with an element turned inside out whose law has no value there. */
int sp_refuse_inverted(sp_integrator *it, const double *q) SP_MUST_USE;

int sp_step_implicit(sp_integrator *it) SP_MUST_USE; /* Newmark, implicit Euler, BDF2 */
int sp_step_linear_euler(sp_integrator *it) SP_MUST_USE;
int sp_step_exact(sp_integrator *it) SP_MUST_USE;
int sp_step_energy(sp_integrator *it) SP_MUST_USE;
int sp_step_central(sp_integrator *it) SP_MUST_USE;
int sp_step_static(sp_integrator *it) SP_MUST_USE;

/* M a = external − f(q) − C v into it->a, at the current state. */
int sp_balance_acceleration(sp_integrator *it, const double *external) SP_MUST_USE;

/* y = αM v + βK(q) v + D(q) v; false and untouched where there is no damping. */
bool sp_damping_force(sp_integrator *it, const double *q, const double *v, double *y);

#endif
