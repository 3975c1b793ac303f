/* The equations of a step of a free body (rigid/free.h): residual, matrix and solve. */
#include "rigid/free_internal.h"

#include "linear/small.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

static bool has_damping(const sp_free_body *b)
{
    return b->r > 0 && (b->p.damping_mass != 0 || b->p.damping_stiffness != 0);
}

static double weighted_norm(const sp_free_body *b, int64_t from, int64_t count, const double *x)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += b->weight[from + i] * x[i] * x[i];
    return sqrt(sum);
}

void sp_free_add_stiffness_times(const sp_free_body *b, double scale, const double *K, const double *x, double *y)
{
    if (b->force.unsymmetric)
        cblas_dgemv(CblasColMajor, CblasNoTrans, b->r, b->r, scale, K, b->r, x, 1, 1, y, 1);
    else
        cblas_dsymv(CblasColMajor, CblasLower, b->r, scale, K, b->r, x, 1, 1, y, 1);
}

void sp_free_set_end(sp_free_body *b, const double *x)
{
    instant *now = &b->now, *next = &b->next;
    const double h = b->p.step;

    memcpy(next->Omega, x, sizeof next->Omega);

    /* The unknowns are Ω₁ and q̇₁: q₁ − q₀ = h (q̇₀ + q̇₁)/2. */
    for (int i = 0; i < b->r; i++) {
        next->qdot[i] = x[3 + i];
        b->change[i] = 0.5 * h * (now->qdot[i] + next->qdot[i]);
        next->q[i] = now->q[i] + b->change[i];
        b->middle[i] = now->q[i] + 0.5 * b->change[i];
    }

    sp_free_set_shape(b, next);
    sp_free_set_momenta(b, next);
    if (b->coupled)
        for (int k = 0; k < INERTIA * b->r; k++)
            b->middle_slope[k] = 0.5 * (now->slope[k] + next->slope[k]);
}

/* Computes f̄ and the damping force; also the stiffnesses, if these cost nothing more or are needed for the force. */
static void evaluate_forces(sp_free_body *b)
{
    const sp_reduced_force *force = &b->force;
    const double alpha = b->p.damping_mass, beta = b->p.damping_stiffness;

    force->evaluate(force->self, b->middle, false, b->middle_f, force->together || beta != 0 ? b->middle_K : NULL);
    memcpy(b->mean_f, b->middle_f, (size_t)b->r * sizeof *b->mean_f);

    /* Simpson's rule: exact for a cubic force along the segment */
    if (b->simpson) {
        force->evaluate(force->self, b->next.q, false, b->next.f, force->together ? b->next.K : NULL);
        for (int i = 0; i < b->r; i++)
            b->mean_f[i] = (b->now.f[i] + 4 * b->middle_f[i] + b->next.f[i]) / 6;
    }

    if (!has_damping(b))
        return;

    /* Damping over the step is C (q₁ − q₀) = (α M̃ + β K(q_mid)) (q₁ − q₀). */
    sp_small_apply_transposed(b->r, b->r, b->inertia->M, b->change, b->damping);
    for (int i = 0; i < b->r; i++)
        b->damping[i] *= alpha;
    if (beta != 0)
        sp_free_add_stiffness_times(b, beta, b->middle_K, b->change, b->damping);
}

void sp_free_balance(sp_free_body *b, double *r, sp_newton_residual *size)
{
    const instant *now = &b->now, *next = &b->next;
    const double h = b->p.step;
    double mean[3], sum[3], rotated[3];

    /* A force without value there: Newton's method has to come back. */
    int64_t element = b->force.inverted ? b->force.inverted(b->force.self, next->q) : -1;
    if (element >= 0) {
        b->inverted_element = element;
        size->norm = NAN;
        return;
    }

    for (int c = 0; c < 3; c++) {
        mean[c] = 0.5 * (now->Omega[c] + next->Omega[c]);
        sum[c] = b->P[c] + next->Pi[c];
    }

    /* Π₁ − P − ½ h (P + Π₁) × Ω̄ */
    sp_cross3(sum, mean, rotated);
    for (int c = 0; c < 3; c++)
        r[c] = next->Pi[c] - b->P[c] - 0.5 * h * rotated[c];

    /* Relative to the momenta and impulses, whatever they cancel to */
    size->scale =
        fmax(sqrt(fmax(sp_free_twice_kinetic(b, now), sp_free_twice_kinetic(b, next))), weighted_norm(b, 0, 3, b->P));

    if (b->r > 0) {
        /* p₁ − p₀ + h f̄ + C (q₁ − q₀) − h Q */
        evaluate_forces(b);
        for (int i = 0; i < b->r; i++)
            r[3 + i] = next->p[i] - now->p[i] + h * b->mean_f[i] + b->damping[i] - b->load[i];
        size->scale =
            fmax(size->scale, fmax(h * weighted_norm(b, 3, b->r, b->mean_f),
                                   fmax(weighted_norm(b, 3, b->r, b->damping), weighted_norm(b, 3, b->r, b->load))));
    }

    /* −h D: ½ ξ₀ᵀ ∂_iA ξ₁ with the blocks of A, J at the middle and G linear in q */
    if (b->coupled)
        for (int i = 0; i < b->r; i++) {
            double JOmega[3], before[3], after[3];
            sp_tensor_times(b->middle_slope + i, b->r, next->Omega, JOmega);
            column(now->dG_qdot, b->r, i, before);
            column(next->dG_qdot, b->r, i, after);
            r[3 + i] -=
                0.5 * h * (sp_dot3(now->Omega, JOmega) + sp_dot3(now->Omega, after) + sp_dot3(next->Omega, before));
        }

    size->norm = weighted_norm(b, 0, b->n, r);
}

void sp_free_residual(void *self, const double *x, double *r, sp_newton_residual *size)
{
    sp_free_set_end(self, x);
    sp_free_balance(self, r, size);
}

/* square += ∂(h f̄ + damping)/∂q̇₁ [r, r, row major]. Of a symmetric matrix, unless `both`, only the part with row ≤
 * column is added. The damping βK(q_mid)(q₁ − q₀) has the derivative βK(q_mid) + ½β(K(q₁) − K(q₀)) with respect to q₁,
 * which is exact if K is quadratic in q. */
static void add_stiffness(sp_free_body *b, bool both)
{
    const sp_reduced_force *force = &b->force;
    const double h = b->p.step, beta = b->p.damping_stiffness, slope = b->p.semi_implicit ? 0 : 0.25 * h * beta;
    const double middle = (b->simpson ? h * h / 6 : h * h / 4) + 0.5 * h * beta,
                 end = (b->simpson ? h * h / 12 : 0) + slope;
    const int64_t r = b->r;

    if (!force->together && beta == 0)
        force->evaluate(force->self, b->middle, false, NULL, b->middle_K);

    if (end != 0 && !(force->together && b->simpson))
        force->evaluate(force->self, b->next.q, false, NULL, b->next.K);

    for (int64_t j = 0; j < r; j++)
        for (int64_t i = force->unsymmetric ? 0 : j; i < r; i++) {
            double sum = middle * b->middle_K[j * r + i];
            if (end != 0)
                sum += end * b->next.K[j * r + i];
            if (slope != 0)
                sum -= slope * b->now.K[j * r + i];
            if (!force->unsymmetric)
                b->square[j * r + i] += sum;
            if (force->unsymmetric || (both && i > j))
                b->square[i * r + j] += sum;
        }
}

/* The first `columns` of the rows of Π₁, `stride` apart: ∂Π₁ − ½h ∂Π₁ × Ω̄ − ¼h (P + Π₁) × ∂Ω₁. */
static void fill_rotation_rows(const sp_free_body *b, int columns, int stride, double *rows)
{
    const instant *next = &b->next;
    const double h = b->p.step;
    double mean[3], sum[3];

    for (int c = 0; c < 3; c++) {
        mean[c] = 0.5 * (b->now.Omega[c] + next->Omega[c]);
        sum[c] = b->P[c] + next->Pi[c];
    }

    for (int k = 0; k < columns; k++) {
        double dPi[3], rotated[3], gyration[3] = {0};

        /* ∂Π₁/∂Ω₁ = J₁ */
        if (k < 3) {
            const double axis[3] = {k == 0, k == 1, k == 2};
            sp_tensor_times(next->J, 1, axis, dPi);
            sp_cross3(sum, axis, gyration);
        } else {
            /* ∂Π₁/∂q̇₁ = G + ½ h ∂(J Ω + G q̇)/∂q, since ∂q₁/∂q̇₁ = ½ h */
            double G[3], JOmega[3], dG_qdot[3];
            column(next->slope + INERTIA * b->r, b->r, k - 3, G);
            column(next->dG_qdot, b->r, k - 3, dG_qdot);
            sp_tensor_times(next->slope + k - 3, b->r, next->Omega, JOmega);
            for (int c = 0; c < 3; c++)
                dPi[c] = G[c] + 0.5 * h * (JOmega[c] + dG_qdot[c]);
        }

        sp_cross3(dPi, mean, rotated);
        for (int c = 0; c < 3; c++)
            rows[c * stride + k] = dPi[c] - 0.5 * h * rotated[c] - 0.25 * h * gyration[c];
    }
}

/* The derivative of the rows of p₁ with respect to q̇₁; `both` as above. */
static void fill_square(sp_free_body *b, bool both)
{
    const instant *now = &b->now, *next = &b->next;
    const double h = b->p.step, *u = now->Omega, *v = next->Omega, mass = 1 + 0.5 * h * b->p.damping_mass;
    const int r = b->r;

    /* Products of Ω₀ and Ω₁ with the second derivatives of J, sums with those of G */
    const double part[SLOPES] = {u[0] * v[0],
                                 u[1] * v[1],
                                 u[2] * v[2],
                                 u[1] * v[2] + u[2] * v[1],
                                 u[2] * v[0] + u[0] * v[2],
                                 u[0] * v[1] + u[1] * v[0],
                                 u[0] + v[0],
                                 u[1] + v[1],
                                 u[2] + v[2]};

    double scale[SLOPES];
    for (int k = 0; k < SLOPES; k++) /* terms of −h D and of GᵀΩ₁ */
        scale[k] = (k < INERTIA ? -h * h / 8 : 0.5 * h) * part[k];

    if (b->coupled)
        sp_small_apply_transposed(SLOPES, r * r, b->inertia->curve, scale, b->square);

    for (int i = 0; i < r * r; i++)
        b->square[i] = (b->coupled ? b->square[i] : 0) + mass * b->inertia->M[i];
    add_stiffness(b, both);
}

void sp_free_fill_matrix(sp_free_body *b)
{
    const instant *now = &b->now, *next = &b->next;
    const double h = b->p.step;
    const int r = b->r;

    fill_rotation_rows(b, b->n, b->n, b->matrix);
    if (r > 0)
        fill_square(b, true);

    for (int i = 0; i < r; i++) {
        double *row = b->matrix + (int64_t)(3 + i) * b->n, G[3], JOmega[3], dG_qdot[3];
        column(next->slope + INERTIA * r, r, i, G);
        column(now->dG_qdot, r, i, dG_qdot);
        sp_tensor_times(b->middle_slope + i, r, now->Omega, JOmega);
        for (int c = 0; c < 3; c++)
            row[c] = G[c] - 0.5 * h * (JOmega[c] + dG_qdot[c]);
        memcpy(row + 3, b->square + (int64_t)i * r, (size_t)r * sizeof *row);
    }
}

/* LAPACK sees the transpose of the row major matrix. If rotation and deformation are uncoupled, they are factored
 * separately: the second by Cholesky if it is symmetric and, as usual except for large deformations, positive definite.
 */
int sp_free_factor(void *self, const double *x, bool definite)
{
    sp_free_body *b = self;
    int bad;
    (void)x, (void)definite;

    b->definite = !b->force.unsymmetric && !b->coupled && b->r > 0;

    /* Coupled: one matrix by LU */
    if (b->coupled) {
        sp_free_fill_matrix(b);
        bad = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, b->n, b->n, b->matrix, b->n, b->pivot);
    } else {
        fill_rotation_rows(b, 3, 3, b->matrix);
        bad = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, 3, 3, b->matrix, 3, b->pivot);
    }

    if (b->definite) {
        fill_square(b, false);
        b->definite = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', b->r, b->square, b->r) == 0;
    }

    /* Where Cholesky has failed or does not apply, the whole square by LU */
    if (bad == 0 && !b->coupled && !b->definite && b->r > 0) {
        fill_square(b, true);
        bad = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, b->r, b->r, b->square, b->r, b->pivot + 3);
    }

    if (bad == 0)
        return SP_OK;
    return sp_fail(b->context, SP_NUMERICAL, "the matrix of step %lld of a free body is singular",
                   (long long)(b->report.steps + 1));
}

int sp_free_solve(void *self, const double *residual, double tolerance, double *dx)
{
    const sp_free_body *b = self;
    const int n = b->coupled ? b->n : 3, r = b->n - n;

    (void)tolerance;
    memcpy(dx, residual, (size_t)b->n * sizeof *dx);

    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', n, 1, b->matrix, n, b->pivot, dx, b->n);
    if (b->definite)
        LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'L', r, 1, b->square, r, dx + 3, r);
    else if (r > 0)
        LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'T', r, 1, b->square, r, b->pivot + 3, dx + 3, r);
    return SP_OK;
}
