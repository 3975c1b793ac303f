/* The step of ConJac and its friction (model/conjac/conjac.h). A column over all components is z = (identity or 0; Z).
 * Since K_ss Z + K_s· = 0, K z has nonzero rows only in d (and in fixed vertices), so that zᵀ K z costs nothing beyond
 * Z. */
#include "linear/dense.h"
#include "model/conjac/conjac_internal.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

int sp_conjac_assemble(sp_conjac *self, const double *q, bool definite, int64_t *factorizations)
{
    const sp_supports *supports = sp_full_system_supports(&self->full);
    const sp_sparse *K;
    bool anew;

    sp_full_system_stiffness(&self->full, q, definite, self->f, &K);

    /* The stiffness of springs and floor planes is kept apart: Rayleigh damping is without it. */
    self->supported_now = supports->spring_count > 0 || supports->ground_count > 0;
    if (self->supported_now) {
        for (int64_t i = 0; i < self->full.n; i++)
            memset(self->supported.value + self->map.own[i], 0, (size_t)self->map.width[i] * sizeof(double));
        sp_supports_stiffness(supports, sp_full_system_displacement(&self->full, q), 1, &self->supported);
    }

    sp_conjac_condensation_fill(&self->map, K, self->supported_now ? &self->supported : NULL);
    const int status = sp_conjac_condensation_factor(&self->map, &anew);
    *factorizations += anew;
    return status;
}

/* ---- columns ---- */

/* Adds a column of both systems, `full` [3·vertices], to the dynamic components x_d and to the quasistatic ones x_s;
 * NULL: not to these. */
static void add_column(const sp_conjac *self, const double *full, double scale, double *x_d, double *x_s)
{
    if (x_d)
        for (int64_t i = 0; i < self->map.d; i++)
            x_d[i] += scale * full[self->body->free[self->map.dynamic[i]]];
    if (x_s)
        for (int64_t i = 0; i < self->map.s; i++)
            x_s[i] += scale * full[self->body->free[self->map.quasistatic[i]]];
}

static int solve_columns(sp_conjac *self, const double *residual)
{
    const int64_t d = self->map.d, s = self->map.s, m = self->m, rows = 3 * self->body->mesh->vertex_count;
    double *Z = self->Z;

    /* K_ss Z = −(K_sd, K_sh columns, K_sh v_h); the columns of J_s are filled in by the solver (mapping). */
    memset(Z + s * d, 0, (size_t)(s * (self->c - d)) * sizeof *Z);
    for (int64_t j = 0; j < m; j++)
        add_column(self, self->stiffness_columns + rows * j, -1, NULL, Z + s * (d + j));
    if (self->moving)
        for (int64_t i = 0; i < s; i++)
            Z[s * (d + m) + i] =
                -self->elastic_rate[self->map.quasistatic[i]] - self->support_rate[self->map.quasistatic[i]];

    if (residual)
        memcpy(Z + s * self->c, residual, (size_t)s * sizeof *Z);
    return sp_conjac_condensation_solve(&self->map, true, self->c - d + (residual != NULL), Z);
}

static void multiply_columns(sp_conjac *self)
{
    const int64_t d = self->map.d, s = self->map.s, m = self->m, rows = 3 * self->body->mesh->vertex_count;
    const sp_sparse *M = sp_full_system_mass(&self->full);

    /* N = M_ss Z + M_sd, N_d = M_dd + M_ds Z, A_d = K_dd + K_ds Z */
    sp_sparse_times(self->context, &self->M_ss, self->c, self->Z, self->N);
    sp_conjac_condensation_columns(&self->map, M, self->N);
    sp_conjac_condensation_rows(&self->map, M, self->c, self->Z, self->N_d);
    sp_conjac_condensation_rows(&self->map, &self->map.K, self->c, self->Z, self->A_d);

    /* The joint columns c have parts at fixed vertices: their M c and K c are added in the rows of free components. */
    for (int64_t j = 0; j < m; j++) {
        add_column(self, self->weight + rows * j, 1, self->N_d + d * (d + j), self->N + s * (d + j));
        add_column(self, self->stiffness_columns + rows * j, 1, self->A_d + d * (d + j), NULL);
    }

    if (self->moving)
        for (int64_t i = 0; i < d; i++)
            self->A_d[d * (d + m) + i] +=
                self->elastic_rate[self->map.dynamic[i]] + self->support_rate[self->map.dynamic[i]];
}

int sp_conjac_columns(sp_conjac *self)
{
    self->m = 0;
    self->moving = false;

    self->c = self->map.d;

    const int status = solve_columns(self, NULL);
    if (status == SP_OK)
        multiply_columns(self);
    return status;
}

/* ---- the reduced matrix ---- */

void sp_conjac_inertia(sp_conjac *self)
{
    const int64_t d = self->map.d, z = d + self->m;

    /* JᵀMJ = J_sᵀ (M J)_s + (M J)_d */
    sp_dense_inner(self->context, self->map.s, z, self->Z, self->c, self->N, self->G, self->work);
    for (int64_t l = 0; l < self->c; l++)
        for (int64_t k = 0; k < d; k++)
            self->G[z * l + k] += self->N_d[d * l + k];
}

/* The part of y = S x over the free components that is due neither to M nor to K: h D, and springs and floor planes,
 * which are part of K but not of Rayleigh damping. prescribed: the contribution of fixed vertices with prescribed
 * velocities instead. Returns false if there is none. */
static bool other_times(sp_conjac *self, const double *x, bool prescribed, double *y)
{
    const bool supports = self->supported_now && self->spring != self->stiff;
    const int64_t n = self->full.n;
    if (!supports && !self->full.viscous_times)
        return false;

    memset(y, 0, (size_t)n * sizeof *y);

    /* h D x. viscous_times includes D_fh v_h, which belongs to w only. */
    if (self->full.viscous_times) {
        self->full.viscous_times(self->full.self, self->q, x, y);
        for (int64_t i = 0; i < n; i++)
            y[i] = self->step * (y[i] - (prescribed || !self->moving ? 0 : self->viscous_rate[i]));
    }

    /* K with the factor `stiff` includes springs and floor planes: Rayleigh damping is taken off them. */
    if (supports)
        for (int64_t i = 0; i < n; i++) {
            double sum = prescribed ? self->support_rate[i] : 0;
            for (int64_t k = self->map.own[i]; k < self->map.own[i] + self->map.width[i]; k++)
                sum += self->supported.value[k] * x[self->supported.index[k]];
            y[i] += (self->spring - self->stiff) * sum;
        }
    return true;
}

/* Adds Jᵀ y (and Xᵀ y) of y [n] to b [d + m]. */
static void add_projected(sp_conjac *self, const double *y, double *b)
{
    const int64_t d = self->map.d, s = self->map.s, z = d + self->m;
    if (z == 0)
        return;

    sp_conjac_condensation_split(&self->map, y, self->xd, self->xs);
    sp_dense_inner(self->context, s, z, self->Z, 1, self->xs, self->y, self->work);
    for (int64_t k = 0; k < z; k++)
        b[k] += self->y[k] + (k < d ? self->xd[k] : 0);
}

/* Computes zᵀ S z for S = (1 + h α) M + h (β_R K + D) + β h² K, and its products with w, in G. */
static void reduce(sp_conjac *self, const sp_joint_system *joints)
{
    const int64_t d = self->map.d, s = self->map.s, m = self->m, z = d + m, rows = 3 * self->body->mesh->vertex_count;
    double *G = self->G;
    sp_conjac_inertia(self);
    for (int64_t j = 0; j < m; j++) { /* rows of the joint system; its columns in the rows of d are their transpose */
        for (int kind = 0; kind < 2; kind++) {
            const double *full = (kind ? self->stiffness_columns : self->weight) + rows * j;
            memset(self->xs, 0, (size_t)s * sizeof *self->xs);
            add_column(self, full, 1, NULL, self->xs);
            for (int64_t l = d; l < self->c; l++) {
                const double part = sp_dense_dot(s, self->xs, self->Z + s * l) +
                                    (l < z ? sp_dense_dot(rows, full, joints->columns + rows * (l - d)) : 0);
                if (kind == 0)
                    G[z * l + d + j] = self->mass_scale * (G[z * l + d + j] + part);
                else
                    G[z * l + d + j] += self->stiff * part;
            }
        }
    }

    /* S = mass_scale M + stiff K; rows s of K z are zero. */
    for (int64_t l = 0; l < self->c; l++)
        for (int64_t k = 0; k < d; k++)
            G[z * l + k] = self->mass_scale * G[z * l + k] + self->stiff * self->A_d[d * l + k];

    /* D_fh v_h: the force of the prescribed velocities while the free ones are 0 */
    if (self->full.viscous_times && self->moving) {
        memset(self->x, 0, (size_t)self->full.n * sizeof *self->x);
        self->full.viscous_times(self->full.self, self->q, self->x, self->viscous_rate);
    }

    /* The rest of S for each column (identity or 0, Z) */
    for (int64_t l = 0; l < self->c; l++) {
        memset(self->xd, 0, (size_t)d * sizeof *self->xd);
        if (l < d)
            self->xd[l] = 1;

        sp_conjac_condensation_join(&self->map, self->xd, self->Z + s * l, self->x);
        if (!other_times(self, self->x, l == z, self->xx))
            break;
        add_projected(self, self->xx, G + z * l);
    }
}

/* ---- the step ---- */

static void read_prescribed(sp_conjac *self, const sp_velocity_step *step)
{
    const double *u = sp_full_system_displacement(&self->full, step->q),
                 *v = sp_full_system_prescribed_velocity(&self->full);
    const int64_t rows = 3 * self->body->mesh->vertex_count, n = self->full.n;
    self->moving = false;

    for (int64_t i = 0; i < rows; i++) {
        const bool prescribed = self->body->dof[i] < 0;
        self->prescribed_u[i] = prescribed ? u[i] : 0;
        self->prescribed_v[i] = prescribed ? v[i] : 0;
        self->moving |= self->prescribed_v[i] != 0;
    }
    if (!self->moving)
        return;

    /* With zero free velocities tangent_times is K_fh v_h. */
    memset(self->x, 0, (size_t)n * sizeof *self->x);
    memset(self->support_rate, 0, (size_t)n * sizeof *self->support_rate);
    sp_supports_grounds_times(sp_full_system_supports(&self->full), u, 1, self->prescribed_v, self->support_rate);
    self->full.tangent_times(self->full.self, step->q, self->x, self->elastic_rate);
}

static void read_joints(sp_conjac *self, const sp_velocity_step *step)
{
    const int64_t rows = 3 * self->body->mesh->vertex_count;

    for (int64_t j = 0; j < self->m; j++) {
        const double *c = step->joints->columns + rows * j;
        self->full.vertices.stiffness_times(self->full.self, step->q, c, self->stiffness_columns + rows * j);
        self->full.vertices.inertia_times(self->full.self, c, self->weight + rows * j);
    }
}

/* (external − f)_s without the inertia of fixed vertices, which is included in the external forces: quasistatic
 * components have no inertia to balance it. */
static void quasistatic_residual(sp_conjac *self, const sp_velocity_step *step, const double *f)
{
    for (int64_t i = 0; i < self->map.s; i++) {
        const int64_t row = self->map.quasistatic[i];
        self->residual[i] = step->external[row] - f[row] - (self->accelerating ? self->inertia[row] : 0);
    }
}

/* Performs all computations up to the factor R. SP_NUMERICAL if K_ss or the reduced matrix is not positive definite. */
static int prepare(sp_conjac *self, const sp_velocity_step *step, bool definite)
{
    const int64_t d = self->map.d, z = d + self->m;

    SP_PASS(sp_conjac_assemble(self, step->q, definite, step->factorizations));
    quasistatic_residual(self, step, self->f);

    SP_PASS(solve_columns(self, self->residual));
    multiply_columns(self);
    reduce(self, step->joints);

    /* R Rᵀ is the part of G of the dynamic vertices. */
    for (int64_t l = 0; l < d; l++)
        memcpy(self->R + d * l, self->G + z * l, (size_t)d * sizeof *self->R);
    if (d > 0 && LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', (int)d, self->R, (int)d) != 0)
        return sp_fail(self->context, SP_NUMERICAL, "the matrix of the dynamic vertices is not positive definite");
    return SP_OK;
}

/* Computes the right-hand side, with the contribution of w subtracted. */
static void momentum(sp_conjac *self, const sp_velocity_step *step)
{
    const int64_t d = self->map.d, m = self->m, z = d + m, n = self->full.n, rows = 3 * self->body->mesh->vertex_count;
    const sp_joint_system *joints = step->joints;

    /* M v₀ + h (external − f), and for joints the momentum with which the attached vertices arrive */
    memset(self->right, 0, (size_t)z * sizeof *self->right);
    self->full.mass_times(self->full.self, step->v, self->x);
    if (m > 0)
        self->full.vertices.inertia_times(self->full.self, joints->arriving, self->full_vector);

    for (int64_t i = 0; i < n; i++)
        self->x[i] +=
            step->step * (step->external[i] - self->f[i]) + (m > 0 ? self->full_vector[self->body->free[i]] : 0);
    add_projected(self, self->x, self->right);

    /* The rows of joints: their own momentum, less the work of the internal force, and the inertia of the mesh with
     * it */
    for (int64_t j = 0; j < m; j++) {
        const double *c = joints->columns + rows * j, *weight = self->weight + rows * j;
        double sum = joints->right[j] - step->step * self->full.vertices.prescribed_work(self->full.self, step->q, c) +
                     sp_dense_dot(rows, c, self->full_vector);
        for (int64_t i = 0; i < n; i++)
            sum += weight[self->body->free[i]] * step->v[i];
        self->right[d + j] += sum;
    }

    /* w is known: its products go to the right-hand side. */
    if (self->moving)
        for (int64_t k = 0; k < z; k++)
            self->right[k] -= self->G[z * z + k];
}

/* Solves R y_d + G_dr r = right_d, G_rd y_d + (A + G_rr) r = right_r; y = (y_d; r) replaces the right-hand side. */
static int solve_reduced(sp_conjac *self, const sp_joint_system *joints)
{
    const int64_t d = self->map.d, m = self->m, z = d + m;
    double *y = self->right, *T = self->schur, *C = self->coupling;

    if (d > 0)
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (int)d, 1, self->R, (int)d, y, (int)d);
    if (m == 0)
        return SP_OK;

    /* The Schur complement of the dynamic components: T = A + G_rr − G_rd R⁻¹ G_dr */
    for (int64_t j = 0; j < m; j++) {
        memcpy(C + d * j, self->G + z * (d + j), (size_t)d * sizeof *C);
        for (int64_t i = 0; i < m; i++)
            T[m * j + i] = joints->matrix[m * j + i] + self->G[z * (d + j) + d + i];
    }

    if (d > 0) {
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (int)d, (int)m, self->R, (int)d, C, (int)d);
        for (int64_t j = 0; j < m; j++)
            for (int64_t i = 0; i < m; i++)
                T[m * j + i] -= sp_dense_dot(d, self->G + z * (d + i), C + d * j);
        for (int64_t i = 0; i < m; i++)
            y[d + i] -= sp_dense_dot(d, self->G + z * (d + i), y);
    }

    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, (int)m, (int)m, T, (int)m, self->pivot) != 0)
        return sp_fail(self->context, SP_NUMERICAL, "a joint has no inertia");
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', (int)m, 1, T, (int)m, self->pivot, y + d, (int)m);

    /* y_d −= R⁻¹ G_dr r */
    for (int64_t j = 0; j < m; j++)
        for (int64_t i = 0; i < d; i++)
            y[i] -= C[d * j + i] * y[d + j];

    memcpy(joints->rate, y + d, (size_t)m * sizeof *y);
    return SP_OK;
}

/* x [n] = J y_d + … for `count` columns. */
static void expand(sp_conjac *self, int64_t count, const double *y, double *x)
{
    memset(self->xs, 0, (size_t)self->map.s * sizeof *self->xs);
    sp_dense_add(self->context, self->map.s, count, self->Z, 1, y, 1, self->xs);
    sp_conjac_condensation_join(&self->map, y, self->xs, x);
}

/* Makes further shifts with the forces at the end of the step, with fixed vertices at their positions there. */
static int correct(sp_conjac *self, const sp_velocity_step *step)
{
    const int64_t n = self->full.n, m = self->m, rows = 3 * self->body->mesh->vertex_count;
    int status = SP_OK;

    /* Fixed vertices at the end of the step: u_h + h (v_h + columns · rate) */
    if (self->moving || m > 0) {
        for (int64_t i = 0; i < rows; i++) {
            double v = self->prescribed_v[i];
            for (int64_t j = 0; j < m; j++)
                v += step->joints->columns[rows * j + i] * step->joints->rate[j];
            self->full_vector[i] = self->prescribed_u[i] + step->step * v;
        }
        self->full.vertices.prescribe(self->full.self, self->full_vector, self->prescribed_v);
    }

    for (int64_t k = 0; k < self->corrections; k++) {
        for (int64_t i = 0; i < n; i++)
            self->x[i] = step->q[i] + step->step * step->velocity[i] + step->shift[i];
        if (!isfinite(self->full.force(self->full.self, self->x, self->xx)))
            break; /* an element is inverted; the integrator reports it */

        /* shift_s += γ K_ss⁻¹ (external − f)_s */
        quasistatic_residual(self, step, self->xx);
        SP_TRY(sp_conjac_condensation_solve(&self->map, false, 1, self->residual));
        for (int64_t i = 0; i < self->map.s; i++)
            step->shift[self->map.quasistatic[i]] += self->gamma * self->residual[i];
    }
done:
    if (self->moving || m > 0)
        self->full.vertices.prescribe(self->full.self, self->prescribed_u, self->prescribed_v);
    return status;
}

int sp_conjac_velocity_step(void *data, const sp_velocity_step *step)
{
    sp_conjac *self = data;
    const double h = step->step;
    int status;

    SP_TRY(sp_conjac_make_workspace(self, step->joints ? step->joints->count : 0));
    memcpy(self->q, step->q, (size_t)self->full.n * sizeof *self->q);
    self->m = step->joints ? step->joints->count : 0;

    /* S = (1 + hα) M + (hβ_R + βh²) K */
    self->step = h;
    self->mass_scale = 1 + h * step->damping_mass;
    self->spring = step->beta * h * h;
    self->stiff = h * step->damping_stiffness + self->spring;

    read_prescribed(self, step);
    read_joints(self, step);
    self->c = self->map.d + self->m + self->moving;

    status = prepare(self, step, false);
    if (status == SP_NUMERICAL) {
        (*step->indefinite)++;
        status = prepare(self, step, true);
        if (status == SP_NUMERICAL)
            status = sp_fail(self->context, SP_NUMERICAL,
                             "the stiffness of the quasistatic vertices is not positive definite, not even that of "
                             "definite elements: take a smaller step, or more dynamic vertices");
    }

    if (status != SP_OK)
        goto done;

    /* The reduced equations give dynamic vertices and joints, from which the others follow. */
    momentum(self, step);
    SP_TRY(solve_reduced(self, step->joints));

    self->right[self->map.d + self->m] = 1; /* the coefficient of w */
    expand(self, self->c, self->right, step->velocity);

    /* shift_s = γ K_ss⁻¹ (external − f)_s, the last of the columns that were solved for */
    for (int64_t i = 0; i < self->map.s; i++)
        step->shift[self->map.quasistatic[i]] = self->gamma * self->Z[self->map.s * self->c + i];
    if (self->corrections > 0)
        SP_TRY(correct(self, step));
done:
    self->accelerating = false;
    return status;
}

/* ---- friction ---- */

/* The change δ = v − v₁ by the friction filter changes the dynamic velocities by argmin ‖δ − J dv‖ in the metric S: R
 * dv = Jᵀ S δ, where K J has nonzero rows in d only. */
double sp_conjac_apply_friction(void *data, const double *q0, const double *q1, double h, double *v)
{
    sp_conjac *self = data;
    const int64_t d = self->map.d, s = self->map.s, n = self->full.n;
    double dissipated = 0, *before = self->x, *delta = self->xx;
    bool any = false;

    memcpy(before, v, (size_t)n * sizeof *v);
    self->full.vertices.apply_friction(self->full.self, q0, q1, h, v);

    for (int64_t i = 0; i < n; i++) {
        delta[i] = v[i] - before[i];
        any |= delta[i] != 0;
    }

    memcpy(v, before, (size_t)n * sizeof *v);
    if (!any || d == 0)
        return 0;

    /* Jᵀ S δ = (M J)ᵀ δ scaled, and of K only (K J)_dᵀ δ_d */
    sp_conjac_condensation_split(&self->map, delta, self->xd, self->xs);
    sp_dense_inner(self->context, s, d, self->N, 1, self->xs, self->right, self->work);
    for (int64_t k = 0; k < d; k++)
        self->right[k] = self->mass_scale * (self->right[k] + sp_dense_dot(d, self->N_d + d * k, self->xd)) +
                         self->stiff * sp_dense_dot(d, self->A_d + d * k, self->xd);

    if (other_times(self, delta, false, self->drift)) {
        const int64_t m = self->m;
        self->m = 0; /* joints keep their rates */
        add_projected(self, self->drift, self->right);
        self->m = m;
    }

    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', (int)d, 1, self->R, (int)d, self->right, (int)d);
    expand(self, d, self->right, delta);

    /* ½ vᵀ M v before and after */
    self->full.mass_times(self->full.self, before, self->drift);
    for (int64_t i = 0; i < n; i++) {
        v[i] = before[i] + delta[i];
        dissipated += 0.5 * before[i] * self->drift[i];
    }
    self->full.mass_times(self->full.self, v, self->drift);
    for (int64_t i = 0; i < n; i++)
        dissipated -= 0.5 * v[i] * self->drift[i];
    return dissipated;
}
