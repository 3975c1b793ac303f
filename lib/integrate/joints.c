/* The linearly implicit step of a mesh with vertices attached to the bones of a skeleton: joint rates are unknowns in
 * addition to the velocities of free degrees of freedom. Attached vertices move with c r, the joint rates r times the
 * columns c of the joint system. With S = M + h C + β h² K over all vertices, of which S_ff is the system's factored
 * matrix, and the joints' own matrix A and right-hand side b (sp_joint_system),
 *
 *     z = S_ff⁻¹ (right-hand side),     X = S_ff⁻¹ (S c)_f,
 *     (A + cᵀ S (c − X)) r = b − cᵀ S z,     v₁ = z − X r. */
#include "integrate/internal.h"

#include "assembly/fe_space.h"

#include <assert.h>
#include <lapacke.h>
#include <string.h>

/* For m joints and rows = 3·vertices. */
struct joint_workspace {
    double *vector;     /* [rows] a velocity of all vertices */
    double *product;    /* [rows] a matrix times it */
    double *inertia;    /* [rows] M times a velocity */
    double *X;          /* [n, m, column major] */
    double *matrix;     /* [m, m] the joints' matrix, condensed */
    double *right;      /* [m] their right-hand side */
    double *mesh_right; /* [n] that of the free degrees of freedom */
    lapack_int *pivot;  /* [m] */
};

joint_workspace *sp_joints_new(sp_integrator *it)
{
    assert(it->system->vertices.velocity_step ||
           (it->system->vertices.stiffness_times && it->system->vertices.prescribed_work));
    assert(it->system->vertices.inertia_times);
    joint_workspace *w = sp_pool_new(&it->pool, 1, sizeof *w);
    const int64_t m = sp_skeleton_count(it->p.skeleton), rows = it->prescribed.rows;

    if (!w)
        return NULL;
    w->vector = sp_pool_new(&it->pool, rows, sizeof(double));
    w->product = sp_pool_new(&it->pool, rows, sizeof(double));
    w->inertia = sp_pool_new(&it->pool, rows, sizeof(double));
    w->X = sp_pool_new(&it->pool, it->n * m, sizeof(double));
    w->matrix = sp_pool_new(&it->pool, m * m, sizeof(double));
    w->right = sp_pool_new(&it->pool, m, sizeof(double));
    w->mesh_right = sp_pool_new(&it->pool, it->n, sizeof(double));
    w->pivot = sp_pool_new(&it->pool, m, sizeof *w->pivot);
    return w;
}

/* y = S v over all vertices. */
static void operate(sp_integrator *it, joint_workspace *w, const sp_velocity_step *step, const double *v, double *y)
{
    const sp_system *system = it->system;
    const double h = step->step, stiff = h * step->damping_stiffness + step->beta * h * h;

    /* S = (1 + hα) M + (hβ_R + βh²) K, here without springs and floor planes */
    system->vertices.stiffness_times(system->self, step->q, v, y);
    system->vertices.inertia_times(system->self, v, w->inertia);

    for (int64_t i = 0; i < it->prescribed.rows; i++)
        y[i] = stiff * y[i] + (1 + h * step->damping_mass) * w->inertia[i];
}

/* Computes X, one column after another. */
static int solve_columns(sp_integrator *it, joint_workspace *w, const sp_velocity_step *step)
{
    const sp_system *system = it->system;

    for (int64_t j = 0; j < step->joints->count; j++) {
        operate(it, w, step, step->joints->columns + it->prescribed.rows * j, w->product);
        for (int64_t i = 0; i < it->n; i++)
            w->mesh_right[i] = w->product[system->vertices.space->free[i]];
        SP_PASS(system->matrix_solve(system->self, w->mesh_right, w->X + it->n * j));
    }
    return SP_OK;
}

/* right = b with the momentum of the mesh and the impulse of its forces on attached vertices; mesh_right = `right` with
 * the momentum that attached vertices share with free ones. */
static void right_sides(sp_integrator *it, joint_workspace *w, const sp_velocity_step *step, const double *right)
{
    const sp_system *system = it->system;
    const sp_joint_system *joints = step->joints;
    const int64_t n = it->n, rows = it->prescribed.rows, m = joints->count;

    /* The momentum of all vertices at the start: attached ones arrive with the joints' rates. */
    memcpy(w->vector, joints->arriving, (size_t)rows * sizeof *w->vector);
    sp_fe_space_scatter(system->vertices.space, step->v, w->vector);
    system->vertices.inertia_times(system->self, w->vector, w->product);

    /* cᵀ (M v − h f) for each joint */
    for (int64_t j = 0; j < m; j++) {
        const double *c = joints->columns + rows * j;
        w->right[j] = joints->right[j] + sp_dot(rows, c, w->product) -
                      step->step * system->vertices.prescribed_work(system->self, step->q, c);
    }

    /* The momentum of the free vertices is in both. */
    for (int64_t i = 0; i < n; i++)
        w->mesh_right[i] = right[i] + w->product[system->vertices.space->free[i]];

    /* Elements between attached and prescribed vertices: S v of the latter, minus their previous momentum */
    if (it->loads->prescribed) {
        operate(it, w, step, it->prescribed.v_between, w->product);
        memset(w->vector, 0, (size_t)rows * sizeof *w->vector);
        it->loads->prescribed(it->loads->self, it->t0, it->prescribed.du, w->vector);
        system->vertices.inertia_times(system->self, w->vector, w->inertia);
        for (int64_t j = 0; j < m; j++)
            w->right[j] += sp_dot(rows, joints->columns + rows * j, w->inertia) -
                           sp_dot(rows, joints->columns + rows * j, w->product);
    }

    system->mass_times(system->self, step->v, it->product);
    for (int64_t i = 0; i < n; i++)
        w->mesh_right[i] -= it->product[i];
}

/* Condenses matrix and right-hand side of the mesh into those of the joints; z [n]. */
static void condense(sp_integrator *it, joint_workspace *w, const sp_velocity_step *step, const double *z)
{
    const sp_joint_system *joints = step->joints;
    const int64_t n = it->n, rows = it->prescribed.rows, m = joints->count, *dof = it->system->vertices.space->free;

    /* cᵀ S (c − X) becomes the matrix, and cᵀ S z leaves the right-hand side. */
    for (int64_t k = 0; k <= m; k++) {
        memset(w->vector, 0, (size_t)rows * sizeof *w->vector);
        if (k < m)
            for (int64_t i = 0; i < rows; i++)
                w->vector[i] = joints->columns[rows * k + i];
        for (int64_t i = 0; i < n; i++)
            w->vector[dof[i]] = k < m ? -w->X[n * k + i] : z[i];

        operate(it, w, step, w->vector, w->product);

        for (int64_t j = 0; j < m; j++) {
            const double part = sp_dot(rows, joints->columns + rows * j, w->product);
            if (k < m)
                w->matrix[m * k + j] = joints->matrix[m * k + j] + part;
            else
                joints->rate[j] = w->right[j] - part;
        }
    }
}

int sp_joints_solve(sp_integrator *it, joint_workspace *w, const sp_velocity_step *step, const double *right)
{
    const sp_joint_system *joints = step->joints;
    const int64_t n = it->n, m = joints->count;
    double *z = step->velocity;

    SP_PASS(solve_columns(it, w, step));
    right_sides(it, w, step, right);
    SP_PASS(it->system->matrix_solve(it->system->self, w->mesh_right, z));

    condense(it, w, step, z);

    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, (int)m, (int)m, w->matrix, (int)m, w->pivot) != 0)
        return sp_fail(it->context, SP_NUMERICAL, "a joint has no inertia");
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', (int)m, 1, w->matrix, (int)m, w->pivot, joints->rate, (int)m);

    /* v₁ = z − X r */
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i < n; i++)
            z[i] -= w->X[n * j + i] * joints->rate[j];
    return SP_OK;
}

/* This work is that of −M_fh (a + α v). The work against stiffness is counted with that of all prescribed vertices. */
void sp_joints_move(sp_integrator *it, joint_workspace *w, const double *rate)
{
    const prescribed_vertices *p = &it->prescribed;
    const double h = it->h, alpha = it->p.damping_mass;
    double *before = w->vector, *after = w->product;

    memset(before, 0, (size_t)p->rows * sizeof *before);
    memset(after, 0, (size_t)p->rows * sizeof *after);

    sp_skeleton_place(it->p.skeleton, NULL, before);
    sp_skeleton_advance(it->p.skeleton, h, rate);
    sp_skeleton_place(it->p.skeleton, NULL, after);
    sp_skeleton_place(it->p.skeleton, p->u[1], p->v[1]);

    /* a + α v of attached vertices, by the change and the mean of their velocities over the step */
    for (int64_t i = 0; i < p->rows; i++)
        after[i] = (after[i] - before[i]) / h + 0.5 * alpha * (before[i] + after[i]);

    it->system->vertices.inertia_times(it->system->self, after, w->inertia);
    for (int64_t i = 0; i < it->n; i++)
        it->ledger.work -= w->inertia[it->system->vertices.space->free[i]] * (it->next.q[i] - it->now.q[i]);
}
