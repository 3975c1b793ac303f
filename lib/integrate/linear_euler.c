/* Linearly implicit Euler (Baraff and Witkin 1998; Weidner et al. 2020, eq. 10): one linear solve per step, for
 * velocities; positions follow from these. The terms that the matrix leaves out (β < 1) or adds are numerical damping.
 * They are not counted as dissipation; the energy balance shows them. */
#include "integrate/internal.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct linear_euler_workspace {
    double *shift;            /* [n] shift of positions by the system's own step (sp_velocity_step) */
    double *right;            /* [n] right-hand side of the free degrees of freedom, N s */
    double *prescribed_force; /* [n] contribution of moving prescribed vertices to the left-hand side */
    joint_workspace *joints;  /* NULL: there is no skeleton */
} linear_euler_workspace;

static void allocate(sp_integrator *it)
{
    const sp_system *system = it->system;
    assert(system->vertices.velocity_step || (system->matrix_start && system->matrix_add && system->matrix_factor &&
                                              system->matrix_solve && system->mass_times && system->tangent_times));
    linear_euler_workspace *w = it->workspace = sp_pool_new(&it->pool, 1, sizeof *w);
    if (!w)
        return;
    double **vectors[] = {&w->shift, &w->right, &w->prescribed_force};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&it->pool, it->n, sizeof(double));
    if (it->p.skeleton)
        w->joints = sp_joints_new(it);
}

/* ---- velocities ---- */

/* Factors M + h C + β h² K, or its definite approximation, and writes the internal force to it->residual. */
static int factor(sp_integrator *it, const sp_velocity_step *step, bool definite)
{
    const sp_system *system = it->system;
    const double h = step->step, stiff = h * step->damping_stiffness + step->beta * h * h;

    (*step->factorizations)++;
    system->matrix_start(system->self, 1 + h * step->damping_mass);
    system->matrix_add(system->self, step->q, stiff, step->beta * h * h, definite, it->residual);
    if (system->viscous_add)
        system->viscous_add(system->self, step->q, h);
    return system->matrix_factor(system->self);
}

/* y = the contribution of moving prescribed vertices to the left-hand side of the free ones, by h C and β h² K; their
 * inertia is part of the external forces. */
static void prescribed_part(sp_integrator *it, const sp_velocity_step *step, double *y)
{
    const sp_system *system = it->system;
    const double h = step->step, stiff = h * step->damping_stiffness + step->beta * h * h;

    if (!it->prescribed.rows) {
        memset(y, 0, (size_t)it->n * sizeof *y);
        return;
    }

    /* The prescribed part alone: free components rest. */
    double *zero = it->correction;
    memset(zero, 0, (size_t)it->n * sizeof *zero);
    system->tangent_times(system->self, step->q, zero, y);
    for (int64_t i = 0; i < it->n; i++)
        y[i] *= stiff;

    if (!system->viscous_times)
        return;
    system->viscous_times(system->self, step->q, zero, it->scratch);
    for (int64_t i = 0; i < it->n; i++)
        y[i] += h * it->scratch[i];
}

/* The general step with the system's matrices, or with their definite approximation. */
static int solve(sp_integrator *it, const sp_velocity_step *step, bool definite)
{
    const linear_euler_workspace *w = it->workspace;
    const sp_system *system = it->system;
    const double h = step->step;
    SP_PASS(factor(it, step, definite));

    prescribed_part(it, step, w->prescribed_force);
    /* M v₀ + h (external − f), less the part of prescribed vertices */
    system->mass_times(system->self, step->v, w->right);
    for (int64_t i = 0; i < it->n; i++)
        w->right[i] += h * (step->external[i] - it->residual[i]) - w->prescribed_force[i];

    if (step->joints)
        return sp_joints_solve(it, w->joints, step, w->right);
    return system->matrix_solve(system->self, w->right, step->velocity);
}

static int solve_velocities(sp_integrator *it, const sp_velocity_step *step)
{
    if (it->system->vertices.velocity_step)
        return it->system->vertices.velocity_step(it->system->self, step);
    const int status = solve(it, step, false); /* only an iterative solver finds here that a matrix is indefinite */
    if (status != SP_NUMERICAL)
        return status;
    (*step->indefinite)++;
    return solve(it, step, true);
}

/* Explains the failure: to a user whose motion becomes unstable, a message about an indefinite matrix alone says
 * little. */
static int explain(sp_integrator *it, int status)
{
    char cause[256];
    if (status != SP_NUMERICAL)
        return status;

    snprintf(cause, sizeof cause, "%.255s", it->context->message);
    return sp_fail(it->context, SP_NUMERICAL,
                   "linearly implicit Euler took no step at t = %g s: %s; take a smaller step or a larger beta", it->t0,
                   cause);
}

/* ---- positions ---- */

/* Computes q₁ from the velocities v₁, which friction changes; returns the energy that friction dissipates, J. */
static double move(sp_integrator *it)
{
    const linear_euler_workspace *w = it->workspace;
    const sp_system *system = it->system;
    double friction_loss = 0;

    /* Friction needs the depth at the end of the step, and positions follow the velocities that it changes. */
    for (int pass = 0; pass < (system->vertices.apply_friction ? 2 : 1); pass++) {
        if (pass == 1)
            friction_loss = system->vertices.apply_friction(system->self, it->now.q, it->next.q, it->h, it->next.v);
        for (int64_t i = 0; i < it->n; i++)
            it->next.q[i] = it->now.q[i] + it->h * it->next.v[i] + w->shift[i];
    }
    return friction_loss;
}

/* Rejects coordinates and speeds beyond 1e30, which are unstable: soon nothing could be computed from them, and the
 * message would name an arbitrary failure. */
static int refuse_runaway(const sp_integrator *it)
{
    if (sp_norm(it->n, it->next.q) + sp_norm(it->n, it->next.v) < 1e30)
        return SP_OK;
    return sp_fail(it->context, SP_NUMERICAL,
                   "the step of linearly implicit Euler at t = %g s has run away; take a smaller step or a larger beta",
                   it->t0);
}

/* Sets prescribed vertices to the start of the step, with the constant velocities that move them to its end. */
static void prescribe_start(sp_integrator *it)
{
    const prescribed_vertices *p = &it->prescribed;
    if (!p->rows)
        return;

    for (int64_t i = 0; i < p->rows; i++)
        p->v_between[i] = (p->u[1][i] - p->u[0][i]) / it->h;
    assert(it->system->vertices.prescribe);
    it->system->vertices.prescribe(it->system->self, p->u[0], p->v_between);
}

/* Sets prescribed vertices to the end of the step; those attached to bones to the end of their tangents. */
static void prescribe_arrival(sp_integrator *it, const sp_joint_system *joints)
{
    const prescribed_vertices *p = &it->prescribed;
    if (!p->rows)
        return;

    memcpy(p->du, p->u[1], (size_t)p->rows * sizeof *p->du);
    for (int64_t j = 0; joints && j < joints->count; j++)
        for (int64_t i = 0; i < p->rows; i++)
            p->du[i] += it->h * joints->columns[p->rows * j + i] * joints->rate[j];
    assert(it->system->vertices.prescribe);
    it->system->vertices.prescribe(it->system->self, p->du, p->v[1]);
}

static int solve_step(sp_integrator *it)
{
    const linear_euler_workspace *w = it->workspace;
    const double h = it->h;
    const size_t bytes = (size_t)it->n * sizeof(double);
    sp_joint_system joints;

    sp_mean_force(it, it->t0, it->t1, it->load.force);
    prescribe_start(it);
    if (it->p.skeleton)
        sp_skeleton_joint_system(it->p.skeleton, it->t0, h, it->p.beta, &joints);

    memset(w->shift, 0, bytes);
    const sp_velocity_step step = {.q = it->now.q,
                                   .v = it->now.v,
                                   .external = it->load.force,
                                   .step = h,
                                   .beta = it->p.beta,
                                   .damping_mass = it->p.damping_mass,
                                   .damping_stiffness = it->p.damping_stiffness,
                                   .joints = it->p.skeleton ? &joints : NULL,
                                   .velocity = it->next.v,
                                   .shift = w->shift,
                                   .indefinite = &it->report.indefinite,
                                   .factorizations = &it->report.factorizations};

    SP_PASS(explain(it, solve_velocities(it, &step)));
    const double rubbed = move(it);
    SP_PASS(refuse_runaway(it));
    const double damped =
        sp_damping_force(it, it->now.q, it->next.v, it->product) ? h * sp_dot(it->n, it->next.v, it->product) : 0;

    prescribe_arrival(it, step.joints);
    SP_PASS(sp_refuse_inverted(it, it->next.q));

    /* Friction, damping and the work of the loads over the displacement of the step */
    it->ledger.dissipated += damped + rubbed;
    for (int64_t i = 0; i < it->n; i++)
        it->ledger.work += it->load.force[i] * (it->next.q[i] - it->now.q[i]);
    if (it->p.skeleton)
        sp_joints_move(it, w->joints, joints.rate);

    it->report.newton_iterations++;
    it->report.worst_iterations = 1;

    memcpy(it->now.q, it->next.q, bytes);
    memcpy(it->now.v, it->next.v, bytes);
    return SP_OK;
}

const sp_scheme sp_scheme_linear_euler = {.name = "linearly implicit Euler",
                                          .needs = SP_HAS_VERTICES,
                                          .refuses = SP_IS_SEMI_IMPLICIT | SP_FOLLOWS,
                                          .tolerance = 1e-10,
                                          .subdivides = true,
                                          .applies_friction = true,
                                          .loads = SP_LOADS_MEAN,
                                          .allocate = allocate,
                                          .step = solve_step};
