/* Linearly implicit Euler (Baraff and Witkin 1998; Weidner et al. 2020, eq. 10): one linear solve a step, for
 * velocities; positions follow. What the matrix leaves out (β < 1) or adds is numerical damping: it is not counted as
 * dissipated, and the energy balance shows it. */
#include "integrate/internal.h"

#include "assembly/fe_space.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int factor(sp_integrator *it, const sp_velocity_step *step, bool definite)
{
    const sp_system *system = it->system;
    const double h = step->step, stiff = h * step->damping_stiffness + step->beta * h * h;
    (*step->factorizations)++;
    system->matrix_start(system->self, 1 + h * step->damping_mass);
    system->matrix_add(system->self, step->q, stiff, step->beta * h * h, definite, it->r);
    if (system->viscous_add)
        system->viscous_add(system->self, step->q, h);
    return system->matrix_factor(system->self);
}

/* What held vertices that move bring to the left side of the free ones, h C and β h² K; their inertia is among the
 * external forces. */
static void held_part(sp_integrator *it, const sp_velocity_step *step, double *y)
{
    const sp_system *system = it->system;
    const double h = step->step, stiff = h * step->damping_stiffness + step->beta * h * h;
    if (!it->rows) { /* nothing that is held moves */
        memset(y, 0, (size_t)it->n * sizeof *y);
        return;
    }
    double *still = it->dq;
    memset(still, 0, (size_t)it->n * sizeof *still);
    system->tangent_times(system->self, step->q, still, y);
    for (int64_t i = 0; i < it->n; i++)
        y[i] *= stiff;
    if (!system->viscous_times)
        return;
    system->viscous_times(system->self, step->q, still, it->trial);
    for (int64_t i = 0; i < it->n; i++)
        y[i] += h * it->trial[i];
}

/* y = (M + h C + β h² K) v over all vertices. */
static void operate(sp_integrator *it, const sp_velocity_step *step, const double *v, double *y)
{
    const sp_system *system = it->system;
    const double h = step->step, stiff = h * step->damping_stiffness + step->beta * h * h;
    system->vertices.stiffness_times(system->self, step->q, v, y);
    system->vertices.inertia_times(system->self, v, it->wider);
    for (int64_t i = 0; i < it->rows; i++)
        y[i] = stiff * y[i] + (1 + h * step->damping_mass) * it->wider[i];
}

/* The step with joints, whose attached vertices move with c r: with S over all vertices, z = S_ff⁻¹ (right side) and X
 * = S_ff⁻¹ (S c)_f, (A + cᵀ S (c − X)) r = b − cᵀ S z,     v₁ = z − X r. */
static int with_joints(sp_integrator *it, const sp_velocity_step *step)
{
    const sp_system *system = it->system;
    const sp_joint_system *joints = step->joints;
    const int64_t n = it->n, rows = it->rows, m = joints->count;
    const double h = step->step;
    double *z = step->velocity;
    int status = SP_OK;
    for (int64_t j = 0; j < m; j++) {
        operate(it, step, joints->columns + rows * j, it->wide);
        for (int64_t i = 0; i < n; i++)
            it->dq[i] = it->wide[system->vertices.space->free[i]];
        SP_TRY(system->matrix_solve(system->self, it->dq, it->reach + n * j));
    }
    /* momentum that attached vertices bring, with which the free ones share mass */
    memcpy(it->coupling, joints->arriving, (size_t)rows * sizeof *it->coupling);
    sp_fe_space_scatter(system->vertices.space, step->v, it->coupling);
    system->vertices.inertia_times(system->self, it->coupling, it->wide);
    for (int64_t j = 0; j < m; j++) {
        const double *c = joints->columns + rows * j;
        it->small_right[j] =
            joints->right[j] + sp_dot(rows, c, it->wide) - h * system->vertices.prescribed_work(system->self, step->q, c);
    }
    for (int64_t i = 0; i < n; i++) /* of which `solve` has the free part's own share */
        it->dq[i] = it->y[i] + it->wide[system->vertices.space->free[i]];
    if (it->loads->prescribed) { /* elements between attached vertices and such as move by themselves: S v there, less
                                the momentum they had */
        operate(it, step, it->prescribed_rate, it->wide);
        memset(it->coupling, 0, (size_t)rows * sizeof *it->coupling);
        it->loads->prescribed(it->loads->self, it->t0, it->scrap, it->coupling);
        system->vertices.inertia_times(system->self, it->coupling, it->wider);
        for (int64_t j = 0; j < m; j++)
            it->small_right[j] += sp_dot(rows, joints->columns + rows * j, it->wider) -
                                  sp_dot(rows, joints->columns + rows * j, it->wide);
    }
    system->mass_times(system->self, step->v, it->y);
    for (int64_t i = 0; i < n; i++)
        it->dq[i] -= it->y[i];
    SP_TRY(system->matrix_solve(system->self, it->dq, z));
    for (int64_t k = 0; k <= m; k++) { /* cᵀ S of c − X and of z */
        memset(it->coupling, 0, (size_t)rows * sizeof *it->coupling);
        if (k < m)
            for (int64_t i = 0; i < rows; i++)
                it->coupling[i] = joints->columns[rows * k + i];
        for (int64_t i = 0; i < n; i++)
            it->coupling[system->vertices.space->free[i]] = k < m ? -it->reach[n * k + i] : z[i];
        operate(it, step, it->coupling, it->wide);
        for (int64_t j = 0; j < m; j++) {
            const double part = sp_dot(rows, joints->columns + rows * j, it->wide);
            if (k < m)
                it->small[m * k + j] = joints->matrix[m * k + j] + part;
            else
                joints->rate[j] = it->small_right[j] - part;
        }
    }
    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, (int)m, (int)m, it->small, (int)m, it->pivot) != 0) {
        status = sp_fail(it->context, SP_NUMERICAL, "a joint has no inertia");
        goto done;
    }
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', (int)m, 1, it->small, (int)m, it->pivot, joints->rate, (int)m);
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i < n; i++)
            z[i] -= it->reach[n * j + i] * joints->rate[j];
done:
    return status;
}

/* The general step by the system's matrices, or those of them that are definite. */
static int solve(sp_integrator *it, const sp_velocity_step *step, bool definite)
{
    const sp_system *system = it->system;
    const double h = step->step;
    const int status = factor(it, step, definite);
    if (status != SP_OK)
        return status;
    held_part(it, step, it->x);
    system->mass_times(system->self, step->v, it->y);
    for (int64_t i = 0; i < it->n; i++)
        it->y[i] += h * (step->external[i] - it->r[i]) - it->x[i];
    if (step->joints)
        return with_joints(it, step);
    return system->matrix_solve(system->self, it->y, step->velocity);
}

static int velocities(sp_integrator *it, const sp_velocity_step *step)
{
    const int status = solve(it, step, false); /* an iterative solver tells only there that a matrix is indefinite */
    if (status != SP_NUMERICAL)
        return status;
    (*step->indefinite)++;
    return solve(it, step, true);
}

/* Held vertices at the end of the step; those that are attached to bones at the end of their tangents. */
static void hold_end(sp_integrator *it, const sp_joint_system *joints, double h)
{
    if (!it->rows)
        return;
    memcpy(it->scrap, it->prescribed_u[1], (size_t)it->rows * sizeof *it->scrap);
    for (int64_t j = 0; joints && j < joints->count; j++)
        for (int64_t i = 0; i < it->rows; i++)
            it->scrap[i] += h * joints->columns[it->rows * j + i] * joints->rate[j];
    it->system->vertices.prescribe(it->system->self, it->scrap, it->prescribed_v[1]);
}

/* Takes bones to the end of the step. The work of the inertia that attached vertices have in common with the free ones
 * is that of −M_fh (a + α v); that against stiffness is counted with that of all held vertices. */
static void move_bones(sp_integrator *it, const double *rate)
{
    const double h = it->h, alpha = it->p.damping_mass;
    double *before = it->coupling, *after = it->wide;
    memset(before, 0, (size_t)it->rows * sizeof *before);
    memset(after, 0, (size_t)it->rows * sizeof *after);
    sp_skeleton_place(it->p.skeleton, NULL, before);
    sp_skeleton_advance(it->p.skeleton, h, rate);
    sp_skeleton_place(it->p.skeleton, NULL, after);
    sp_skeleton_place(it->p.skeleton, it->prescribed_u[1], it->prescribed_v[1]);
    for (int64_t i = 0; i < it->rows; i++)
        after[i] = (after[i] - before[i]) / h + 0.5 * alpha * (before[i] + after[i]);
    it->system->vertices.inertia_times(it->system->self, after, it->wider);
    for (int64_t i = 0; i < it->n; i++)
        it->work -= it->wider[it->system->vertices.space->free[i]] * (it->q1[i] - it->q[i]);
}

/* Coordinates and speeds beyond this have run away: soon nothing of them can be computed, and then messages would name
 * what fails first. */
static const double FARTHEST = 1e30;

/* A matrix that is not definite says little to somebody whose motion is about to run away. */
static int say_why(sp_integrator *it, int status)
{
    char cause[256];
    if (status != SP_NUMERICAL)
        return status;
    snprintf(cause, sizeof cause, "%.255s", it->context->message);
    return sp_fail(it->context, SP_NUMERICAL,
                   "linearly implicit Euler took no step at t = %g s: %s; take a smaller step or a larger beta", it->t0,
                   cause);
}

int sp_step_linear_euler(sp_integrator *it)
{
    const sp_system *system = it->system;
    const double h = it->h;
    const size_t bytes = (size_t)it->n * sizeof(double);
    int status;
    sp_mean_force(it, it->t0, it->t1, it->external);
    sp_joint_system joints;
    if (it->rows) {
        for (int64_t i = 0; i < it->rows; i++) /* so that they arrive where they should */
            it->prescribed_rate[i] = (it->prescribed_u[1][i] - it->prescribed_u[0][i]) / h;
        system->vertices.prescribe(system->self, it->prescribed_u[0], it->prescribed_rate);
    }
    if (it->p.skeleton)
        sp_skeleton_joint_system(it->p.skeleton, it->t0, h, it->p.beta, &joints);
    memset(it->last_q, 0, bytes);
    const sp_velocity_step step = {.q = it->q,
                                   .v = it->v,
                                   .external = it->external,
                                   .step = h,
                                   .beta = it->p.beta,
                                   .damping_mass = it->p.damping_mass,
                                   .damping_stiffness = it->p.damping_stiffness,
                                   .joints = it->p.skeleton ? &joints : NULL,
                                   .velocity = it->v1,
                                   .shift = it->last_q,
                                   .indefinite = &it->report.indefinite,
                                   .factorizations = &it->report.factorizations};
    status = system->vertices.velocity_step ? system->vertices.velocity_step(system->self, &step) : velocities(it, &step);
    if (status != SP_OK) {
        status = say_why(it, status);
        goto done;
    }
    for (int64_t i = 0; i < it->n; i++)
        it->q1[i] = it->q[i] + h * it->v1[i] + it->last_q[i];
    const double rubbed = system->vertices.apply_friction ? system->vertices.apply_friction(system->self, it->q, it->q1, h, it->v1) : 0;
    for (int64_t i = 0; i < it->n && system->vertices.apply_friction; i++)
        it->q1[i] = it->q[i] + h * it->v1[i] + it->last_q[i];
    if (!(sp_norm(it->n, it->q1) + sp_norm(it->n, it->v1) < FARTHEST)) {
        status = sp_fail(
            it->context, SP_NUMERICAL,
            "the step of linearly implicit Euler at t = %g s has run away; take a smaller step or a larger beta",
            it->t0);
        goto done;
    }
    const double damped = sp_damping_force(it, it->q, it->v1, it->y) ? h * sp_dot(it->n, it->v1, it->y) : 0;
    hold_end(it, step.joints, h);
    SP_TRY(sp_refuse_inverted(it, it->q1));
    it->dissipated += damped + rubbed;
    for (int64_t i = 0; i < it->n; i++)
        it->work += it->external[i] * (it->q1[i] - it->q[i]);
    if (it->p.skeleton)
        move_bones(it, joints.rate);
    it->report.newton_iterations++;
    it->report.worst_iterations = 1;
    memcpy(it->q, it->q1, bytes);
    memcpy(it->v, it->v1, bytes);
done:
    return status;
}
