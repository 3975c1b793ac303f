/* A free body: life cycle, pose, and state for callers. */
#include "rigid/free_internal.h"

#include "linear/dense.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

void sp_free_workspaces_new(sp_pool *pool, int threads, int64_t r, sp_free_workspaces *workspaces)
{
    workspaces->r = r;
    workspaces->count = threads;
    workspaces->workspace = sp_pool_new(pool, threads, sizeof *workspaces->workspace);
    if (workspaces->workspace)
        for (int t = 0; t < threads; t++) {
            sp_free_workspace *workspace = &workspaces->workspace[t];
            workspace->matrix = sp_pool_new(pool, (3 + r) * (3 + r), sizeof(double));
            workspace->square = sp_pool_new(pool, r * r, sizeof(double));
            workspace->stiffness = sp_pool_new(pool, r * r, sizeof(double));
            workspace->pivot = sp_pool_new(pool, 3 + r, sizeof(int));
        }
}

void sp_free_use_workspace(sp_free_body *b)
{
    const sp_free_workspace *workspace = &b->workspaces->workspace[b->workspaces->count > 1 ? omp_get_thread_num() : 0];
    b->matrix = workspace->matrix;
    b->square = workspace->square;
    b->middle_K = workspace->stiffness;
    b->pivot = workspace->pivot;
}

static void new_instant(sp_pool *pool, int64_t r, instant *at)
{
    double **vectors[] = {&at->q, &at->qdot, &at->p, &at->f};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(pool, r, sizeof(double));

    at->slope = sp_pool_new(pool, SLOPES * r, sizeof(double));
    at->dG_qdot = sp_pool_new(pool, 3 * r, sizeof(double));
    at->K = sp_pool_new(pool, r * r, sizeof(double));
}

static int check_parameters(sp_context *context, const sp_inertia *inertia, const sp_reduced_force *force,
                            const sp_free_parameters *p)
{
    int64_t r = force ? force->r : 0;

    if (r != inertia->r)
        return sp_fail(context, SP_USAGE, "a free body with the inertia of %lld coordinates and the force of %lld",
                       (long long)inertia->r, (long long)r);

    if (!(p->step > 0 && isfinite(p->step)))
        return sp_fail(context, SP_USAGE, "the time step is %g s", p->step);
    if (!(p->damping_mass >= 0 && p->damping_stiffness >= 0 && isfinite(p->damping_mass) &&
          isfinite(p->damping_stiffness)))
        return sp_fail(context, SP_USAGE, "damping may not be negative");

    if (p->workspaces && p->workspaces->r < r)
        return sp_fail(context, SP_USAGE, "a free body has %lld coordinates, its workspaces have %lld", (long long)r,
                       (long long)p->workspaces->r);
    if (!(p->tolerance >= 0 && p->iterations >= 0))
        return sp_fail(context, SP_USAGE, "the tolerance of Newton's method is %g, its iterations at most %lld",
                       p->tolerance, (long long)p->iterations);

    return sp_dense_fits(context, SLOPES * r * r, 3 + r);
}

static void allocate(sp_free_body *b)
{
    const int64_t r = b->r, n = b->n;
    double **vectors[] = {&b->load, &b->middle, &b->middle_f, &b->mean_f, &b->damping, &b->change};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&b->pool, r, sizeof(double));

    double **unknowns[] = {&b->weight, &b->before, &b->x, &b->trial, &b->dx, &b->residual, &b->still};
    for (size_t i = 0; i < sizeof unknowns / sizeof *unknowns; i++)
        *unknowns[i] = sp_pool_new(&b->pool, n, sizeof(double));

    b->middle_slope = sp_pool_new(&b->pool, INERTIA * r, sizeof(double));
    b->workspaces = b->p.workspaces ? b->p.workspaces : &b->own;
    if (!b->p.workspaces)
        sp_free_workspaces_new(&b->pool, 1, r, &b->own);

    new_instant(&b->pool, r, &b->now);
    new_instant(&b->pool, r, &b->next);
}

int sp_free_body_new(sp_context *context, const sp_inertia *inertia, const sp_reduced_force *force,
                     const sp_free_parameters *parameters, sp_free_body **result)
{
    int64_t r = inertia->r, n = 3 + r;
    sp_free_body *b = calloc(1, sizeof *b);

    /* The force is owned from here on, whatever fails. */
    int status = sp_allocated(context, b);
    if (b && force)
        b->force = *force;
    else if (force && force->destroy)
        force->destroy(force->self);
    SP_TRY(status);

    SP_TRY(check_parameters(context, inertia, force, parameters));

    b->context = context;
    b->inertia = inertia;
    b->p = *parameters;
    if (b->p.tolerance == 0)
        b->p.tolerance = 1e-12;
    if (b->p.iterations == 0)
        b->p.iterations = 50;

    b->r = (int)r;
    b->n = (int)n;
    b->coupled = r > 0 && !b->p.decoupled;
    b->simpson = r > 0 && b->force.cubic && !b->p.semi_implicit;

    allocate(b);
    SP_TRY(sp_allocated(context, !b->pool.failed));

    sp_free_use_workspace(b);
    SP_TRY(sp_free_check_inertia(b));

    sp_pose identity = sp_pose_identity();
    sp_free_body_place(b, &identity, (double[3]){0}, (double[3]){0}, NULL, NULL);
    *result = b;
done:
    if (status != SP_OK)
        sp_free_body_free(b);
    return status;
}

void sp_free_body_free(sp_free_body *b)
{
    if (!b)
        return;
    if (b->force.destroy)
        b->force.destroy(b->force.self);
    sp_pool_free(&b->pool);
    free(b);
}

void sp_free_keep_velocities(sp_free_body *b)
{
    memcpy(b->before, b->now.Omega, sizeof b->now.Omega);
    memcpy(b->before + 3, b->now.qdot, (size_t)b->r * sizeof *b->before);
}

/* ---- pose ---- */

/* The centre of mass in body-frame coordinates. */
static void centre_at(const sp_free_body *b, const double *q, double centre[3])
{
    for (int a = 0; a < 3; a++)
        centre[a] = b->inertia->centre[a] + cblas_ddot(b->r, b->inertia->mean + a * b->r, 1, q, 1);
}

/* The pose with the centre of mass at c. */
static void pose_at(const sp_free_body *b, const double c[3], const double rotation[4], const double *q, sp_pose *pose)
{
    double R[9], centre[3], rotated[3];

    memcpy(pose->q, rotation, sizeof pose->q);
    sp_quaternion_matrix(rotation, R);

    /* X = c − R (centre of mass at q) */
    centre_at(b, q, centre);
    sp_rotate(R, centre, rotated);
    for (int a = 0; a < 3; a++)
        pose->x[a] = c[a] - rotated[a];
}

void sp_free_body_place(sp_free_body *b, const sp_pose *pose, const double velocity[3],
                        const double angular_velocity[3], const double *q, const double *qdot)
{
    instant *now = &b->now;
    double R[9], centre[3], rotated[3];

    for (int i = 0; i < b->r; i++) {
        now->q[i] = q ? q[i] : 0;
        now->qdot[i] = qdot ? qdot[i] : 0;
    }

    b->work = 0;
    memcpy(b->state.rotation, pose->q, sizeof b->state.rotation);
    sp_quaternion_normalize(b->state.rotation);
    sp_quaternion_matrix(b->state.rotation, R);
    centre_at(b, now->q, centre);
    sp_rotate(R, centre, rotated);

    /* The frame is placed by its origin, and the state by the centre of mass. */
    for (int a = 0; a < 3; a++) {
        b->state.c[a] = pose->x[a] + rotated[a];
        b->state.v[a] = velocity[a];
    }

    /* Ω = Rᵀ ω */
    sp_rotate_back(R, angular_velocity, now->Omega);
    memcpy(b->state.Omega, now->Omega, sizeof now->Omega);
    sp_free_keep_velocities(b);

    sp_free_set_shape(b, now);
    sp_free_set_momenta(b, now);

    if (b->r > 0)
        b->force.evaluate(b->force.self, now->q, false, now->f,
                          b->force.together || b->p.damping_stiffness != 0 ? now->K : NULL);
}

int sp_free_body_respond(sp_free_body *b, const double F[3], const double T[3], const double *Q, double velocity[3],
                         double angular[3], double *qdot)
{
    double R[9];

    sp_quaternion_matrix(b->state.rotation, R);
    sp_rotate_back(R, T, b->dx);
    if (b->r)
        memcpy(b->dx + 3, Q, (size_t)b->r * sizeof *Q);

    /* A(q) (ΔΩ, Δq̇) = (RᵀT, Q) */
    sp_free_use_workspace(b);
    sp_free_fill_mass(b, b->now.J, b->coupled ? b->now.slope + INERTIA * b->r : NULL, b->matrix);
    if (LAPACKE_dposv_work(LAPACK_COL_MAJOR, 'L', b->n, 1, b->matrix, b->n, b->dx, b->n) != 0)
        return sp_fail(b->context, SP_NUMERICAL,
                       "the mass matrix of a free body is not positive definite as it is deformed");

    sp_rotate(R, b->dx, angular);
    if (b->r)
        memcpy(qdot, b->dx + 3, (size_t)b->r * sizeof *qdot);
    for (int k = 0; k < 3; k++)
        velocity[k] = F[k] / b->inertia->mass;
    return SP_OK;
}

/* ---- state for callers ---- */

void sp_free_body_pose(const sp_free_body *b, sp_pose *pose)
{
    pose_at(b, b->state.c, b->state.rotation, b->now.q, pose);
}

void sp_free_body_predict(const sp_free_body *b, sp_pose *pose, double *q)
{
    const double half = 0.5 * b->p.step;
    double c[3], angle[3], dG_qdot[4], rotation[4];

    /* The middle of the step by the present velocities */
    for (int a = 0; a < 3; a++) {
        c[a] = b->state.c[a] + half * b->state.v[a];
        angle[a] = half * b->now.Omega[a];
    }
    /* In the order of sp_free_set_end, so that the bits are those at which the semi-implicit step evaluates its force
     */
    for (int i = 0; i < b->r; i++)
        q[i] = b->now.q[i] + 0.5 * (b->p.step * b->now.qdot[i]);

    sp_quaternion_from_vector(angle, dG_qdot);
    sp_quaternion_multiply(b->state.rotation, dG_qdot, rotation);
    sp_quaternion_normalize(rotation);
    pose_at(b, c, rotation, q, pose);
}

void sp_free_body_point_velocity(const sp_free_body *b, const double y[3], const double *rows, double velocity[3])
{
    double R[9], centre[3], arm[3], local[3], rotated[3];

    sp_quaternion_matrix(b->state.rotation, R);
    centre_at(b, b->now.q, centre);

    for (int a = 0; a < 3; a++)
        arm[a] = y[a] - centre[a];

    /* v + R (Ω × arm + (rows − mean) q̇) */
    sp_cross3(b->now.Omega, arm, local);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < b->r; i++)
            local[a] += ((rows ? rows[a * b->r + i] : 0) - b->inertia->mean[a * b->r + i]) * b->now.qdot[i];

    sp_rotate(R, local, rotated);
    for (int a = 0; a < 3; a++)
        velocity[a] = b->state.v[a] + rotated[a];
}

const sp_free_state *sp_free_body_state(const sp_free_body *b)
{
    return &b->state;
}

const double *sp_free_body_q(const sp_free_body *b)
{
    return b->now.q;
}

const double *sp_free_body_qdot(const sp_free_body *b)
{
    return b->now.qdot;
}

void sp_free_body_energies(sp_free_body *b, double *kinetic, double *strain)
{
    *kinetic = 0.5 * (b->inertia->mass * sp_dot3(b->state.v, b->state.v) + sp_free_twice_kinetic(b, &b->now));
    *strain = b->force.unsymmetric ? b->work
              : b->r > 0           ? b->force.evaluate(b->force.self, b->now.q, false, b->middle_f, NULL)
                                   : 0;
}

void sp_free_body_momenta(sp_free_body *b, double linear[3], double angular[3])
{
    double R[9], spin[3], Pi[3], Gqdot[3];

    sp_free_set_deformation_momentum(b, &b->now, Gqdot);
    sp_tensor_times(b->now.J, 1, b->now.Omega, Pi);
    for (int a = 0; a < 3; a++) {
        linear[a] = b->inertia->mass * b->state.v[a];
        Pi[a] += Gqdot[a];
    }

    /* R Π + c × m v */
    sp_quaternion_matrix(b->state.rotation, R);
    sp_rotate(R, Pi, spin);
    sp_cross3(b->state.c, linear, angular);
    for (int a = 0; a < 3; a++)
        angular[a] += spin[a];
}

const sp_free_report *sp_free_body_reported(const sp_free_body *b)
{
    return &b->report;
}

static void visit_instant(const sp_free_body *b, instant *at, sp_state *state)
{
    const int64_t r = b->r;
    double *vectors[] = {at->q, at->qdot, at->p, at->f};
    SP_STATE_VALUE(state, at->Omega);
    SP_STATE_VALUE(state, at->Pi);
    SP_STATE_VALUE(state, at->J);

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        sp_state_reals(state, vectors[i], r);
    sp_state_reals(state, at->slope, SLOPES * r);
    sp_state_reals(state, at->dG_qdot, 3 * r);
    sp_state_reals(state, at->K, r * r);
}

void sp_free_body_visit(sp_free_body *b, sp_state *state)
{
    visit_instant(b, &b->now, state);
    visit_instant(b, &b->next, state);
    SP_STATE_VALUE(state, b->state);
    SP_STATE_VALUE(state, b->work);
    SP_STATE_VALUE(state, b->report);
    sp_state_reals(state, b->before, b->n);
    if (b->force.visit)
        b->force.visit(b->force.self, state);
}
