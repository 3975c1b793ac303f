/* The step of rigid/free.h. The unknowns are ξ₁ = (Ω₁, q̇₁), so that q₁ = q₀ + h (q̇₀ + q̇₁)/2 loses no digits to a
 * division by h; the residual is that of π₁.
 *
 * All of A(q) follows from its slopes, nine rows of r: ∂_iJ in the order xx, yy, zz, yz, zx, xy, and G. They are linear
 * in q; their derivatives are nine constant r × r matrices, symmetric for J, antisymmetric for G (∂_iG_j = −∂_jG_i). */
#include "rigid/free.h"

#include "linear/dense.h"
#include "nonlinear/newton.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { INERTIA = 6, SLOPES = 9 };

/* One end of the step. */
typedef struct instant {
    double Omega[3], Pi[3], J[INERTIA];
    double *q, *qdot, *p; /* [r] */
    double *slope;        /* [SLOPES, r] */
    double *turn;         /* [3, r] ∂_iG q̇ */
    double *f, *K; /* [r], [r, r] internal force and stiffness: f where forces are by Simpson's rule, K where something
                      needs it */
} instant;

/* What a step needs besides, of one thread. */
struct sp_free_workspace {
    double *matrix, *square, *stiffness; /* [n, n], [r, r], [r, r] */
    int *pivot;                          /* [n] */
};

struct sp_free_body {
    sp_pool pool;
    sp_context *context;
    const sp_inertia *inertia;
    sp_free_parameters p;
    sp_reduced_force force;
    int r, n;                        /* n = 3 + r */
    bool coupled, simpson, definite; /* definite: the square is factored by Cholesky */
    double J[INERTIA];               /* at q = 0 … */
    double *slope,
        *curve;     /* … with the slopes, and their derivatives [SLOPES, r, r]: row j, column i is ∂_i of slope j */
    double *weight; /* [n] 1/A_kk at rest: π is measured by Σ π_k²/A_kk, the root of an energy */
    instant now, next;
    sp_free_state state;
    double P[3], *load;                /* Π₀ + h R₀ᵀT and h Q [r] of the step */
    double *middle, *middle_slope;     /* [r], [INERTIA, r] at (q₀ + q₁)/2 */
    double *middle_f;                  /* [r] */
    double *mean_f, *damping;          /* [r] f̄ and h C (q₁ − q₀)/h */
    double *change;                    /* [r] q₁ − q₀ */
    double *x, *trial, *dx, *residual; /* [n] of Newton's method */
    double *still;                     /* [n] unknowns of a step in which q stays where it is */
    double *before;                    /* [n] the velocities of the step before */
    sp_free_workspaces own;
    const sp_free_workspaces *workspaces;
    double *matrix, *square, *middle_K; /* [n, n], [r, r], [r, r]: the room of a step */
    int *pivot;
    double work;    /* J, of a force without an energy: done against it since the body was placed */
    int64_t barred; /* the element that an iterate of this step turned inside out; −1 */
    sp_free_report report;
};

/* y = s x for a symmetric tensor whose components stand `stride` apart. */
static void tensor_times(const double *s, int64_t stride, const double x[3], double y[3])
{
    const double xx = s[0], yy = s[stride], zz = s[2 * stride], yz = s[3 * stride], zx = s[4 * stride],
                 xy = s[5 * stride];
    y[0] = xx * x[0] + xy * x[1] + zx * x[2];
    y[1] = xy * x[0] + yy * x[1] + yz * x[2];
    y[2] = zx * x[0] + yz * x[1] + zz * x[2];
}

/* x = s⁻¹ y by Cholesky, for s positive definite. */
static void tensor_solve(const double s[INERTIA], const double y[3], double x[3])
{
    const double a = sqrt(s[0]), b = s[5] / a, c = s[4] / a, d = sqrt(s[1] - b * b), e = (s[3] - b * c) / d,
                 f = sqrt(s[2] - c * c - e * e);
    const double u = y[0] / a, v = (y[1] - b * u) / d, w = (y[2] - c * u - e * v) / f;
    x[2] = w / f;
    x[1] = (v - e * x[2]) / d;
    x[0] = (u - b * x[1] - c * x[2]) / a;
}

/* Column i of three rows of r. */
static void column(const double *rows, int64_t r, int64_t i, double y[3])
{
    for (int c = 0; c < 3; c++)
        y[c] = rows[c * r + i];
}

/* ---- the polynomials of q ---- */

/* Slopes and J at at->q. */
static void set_shape(const sp_free_body *b, instant *at)
{
    memcpy(at->J, b->J, sizeof at->J);
    if (!b->coupled)
        return;
    memcpy(at->slope, b->slope, (size_t)(SLOPES * b->r) * sizeof *at->slope);
    cblas_dgemv(CblasRowMajor, CblasNoTrans, SLOPES * b->r, b->r, 1, b->curve, b->r, at->q, 1, 1, at->slope, 1);
    for (int k = 0; k < INERTIA; k++)
        at->J[k] += 0.5 * (cblas_ddot(b->r, b->slope + k * b->r, 1, at->q, 1) +
                           cblas_ddot(b->r, at->slope + k * b->r, 1, at->q, 1));
}

/* p at the velocities there; and what of Π deformation brings, G q̇. */
static void set_deformation_momentum(const sp_free_body *b, instant *at, double Gqdot[3])
{
    const double *G = at->slope + INERTIA * b->r;
    Gqdot[0] = Gqdot[1] = Gqdot[2] = 0;
    if (b->r == 0)
        return;
    cblas_dsymv(CblasRowMajor, CblasLower, b->r, 1, b->inertia->M, b->r, at->qdot, 1, 0, at->p, 1);
    if (!b->coupled)
        return;
    for (int c = 0; c < 3; c++) {
        Gqdot[c] = cblas_ddot(b->r, G + c * b->r, 1, at->qdot, 1);
        cblas_daxpy(b->r, at->Omega[c], G + c * b->r, 1, at->p, 1);
    }
    cblas_dgemv(CblasRowMajor, CblasNoTrans, 3 * b->r, b->r, -1, b->curve + INERTIA * b->r * b->r, b->r, at->qdot, 1, 0,
                at->turn, 1);
}

static void set_momenta(const sp_free_body *b, instant *at)
{
    double Gqdot[3];
    set_deformation_momentum(b, at, Gqdot);
    tensor_times(at->J, 1, at->Omega, at->Pi);
    for (int c = 0; c < 3; c++)
        at->Pi[c] += Gqdot[c];
}

/* Twice the kinetic energy about the centre of mass. */
static double twice_kinetic(const sp_free_body *b, const instant *at)
{
    return sp_dot3(at->Omega, at->Pi) + cblas_ddot(b->r, at->qdot, 1, at->p, 1);
}

/* ---- the nonlinear equations ---- */

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

/* y += scale K x. */
static void add_stiffness_times(const sp_free_body *b, double scale, const double *K, const double *x, double *y)
{
    if (b->force.unsymmetric)
        cblas_dgemv(CblasColMajor, CblasNoTrans, b->r, b->r, scale, K, b->r, x, 1, 1, y, 1);
    else
        cblas_dsymv(CblasColMajor, CblasLower, b->r, scale, K, b->r, x, 1, 1, y, 1);
}

/* The end of the step that x = (Ω₁, q̇₁) leads to. */
static void follow(sp_free_body *b, const double *x)
{
    instant *now = &b->now, *next = &b->next;
    const double h = b->p.step;
    memcpy(next->Omega, x, sizeof next->Omega);
    for (int i = 0; i < b->r; i++) {
        next->qdot[i] = x[3 + i];
        b->change[i] = 0.5 * h * (now->qdot[i] + next->qdot[i]);
        next->q[i] = now->q[i] + b->change[i];
        b->middle[i] = now->q[i] + 0.5 * b->change[i];
    }
    set_shape(b, next);
    set_momenta(b, next);
    if (b->coupled)
        for (int k = 0; k < INERTIA * b->r; k++)
            b->middle_slope[k] = 0.5 * (now->slope[k] + next->slope[k]);
}

/* f̄ and the damping force; the stiffnesses with them where they cost nothing more or are part of the force. */
static void evaluate_forces(sp_free_body *b)
{
    const sp_reduced_force *force = &b->force;
    const double alpha = b->p.damping_mass, beta = b->p.damping_stiffness;
    force->evaluate(force->self, b->middle, false, b->middle_f, force->together || beta != 0 ? b->middle_K : NULL);
    memcpy(b->mean_f, b->middle_f, (size_t)b->r * sizeof *b->mean_f);
    if (b->simpson) {
        force->evaluate(force->self, b->next.q, false, b->next.f, force->together ? b->next.K : NULL);
        for (int i = 0; i < b->r; i++)
            b->mean_f[i] = (b->now.f[i] + 4 * b->middle_f[i] + b->next.f[i]) / 6;
    }
    if (!has_damping(b))
        return;
    cblas_dsymv(CblasRowMajor, CblasLower, b->r, alpha, b->inertia->M, b->r, b->change, 1, 0, b->damping, 1);
    if (beta != 0)
        add_stiffness_times(b, beta, b->middle_K, b->change, b->damping);
}

/* The residual at x; without a value where the law of an inverted element has none. */
static void residual(void *self, const double *x, double *r, sp_newton_residual *size)
{
    sp_free_body *b = self;
    const instant *now = &b->now, *next = &b->next;
    const double h = b->p.step;
    double mean[3], sum[3], turned[3];
    follow(b, x);
    int64_t element = b->force.inverted ? b->force.inverted(b->force.self, next->q) : -1;
    if (element >= 0) {
        b->barred = element;
        size->norm = NAN;
        return;
    }
    for (int c = 0; c < 3; c++) {
        mean[c] = 0.5 * (now->Omega[c] + next->Omega[c]);
        sum[c] = b->P[c] + next->Pi[c];
    }
    sp_cross3(sum, mean, turned);
    for (int c = 0; c < 3; c++)
        r[c] = next->Pi[c] - b->P[c] - 0.5 * h * turned[c];
    size->scale = fmax(sqrt(fmax(twice_kinetic(b, now), twice_kinetic(b, next))), weighted_norm(b, 0, 3, b->P));
    if (b->r > 0) {
        evaluate_forces(b);
        for (int i = 0; i < b->r; i++)
            r[3 + i] = next->p[i] - now->p[i] + h * b->mean_f[i] + b->damping[i] - b->load[i];
        size->scale =
            fmax(size->scale, fmax(h * weighted_norm(b, 3, b->r, b->mean_f),
                                   fmax(weighted_norm(b, 3, b->r, b->damping), weighted_norm(b, 3, b->r, b->load))));
    }
    if (b->coupled)
        for (int i = 0; i < b->r; i++) {
            double JOmega[3], before[3], after[3];
            tensor_times(b->middle_slope + i, b->r, next->Omega, JOmega);
            column(now->turn, b->r, i, before);
            column(next->turn, b->r, i, after);
            r[3 + i] -=
                0.5 * h * (sp_dot3(now->Omega, JOmega) + sp_dot3(now->Omega, after) + sp_dot3(next->Omega, before));
        }
    size->norm = weighted_norm(b, 0, b->n, r);
}

/* square += ∂(h f̄ + damping)/∂q̇₁ [r, r, row major]; of a symmetric one, unless `both`, the part in which the row is no
 * more than the column. The damping βK(q_mid)(q₁ − q₀) has the derivative βK(q_mid) + ½β(K(q₁) − K(q₀)) by q₁, exact
 * where K is quadratic in q. */
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
        double dPi[3], turned[3], gyration[3] = {0};
        if (k < 3) {
            const double axis[3] = {k == 0, k == 1, k == 2};
            tensor_times(next->J, 1, axis, dPi);
            sp_cross3(sum, axis, gyration);
        } else {
            double G[3], JOmega[3], turn[3];
            column(next->slope + INERTIA * b->r, b->r, k - 3, G);
            column(next->turn, b->r, k - 3, turn);
            tensor_times(next->slope + k - 3, b->r, next->Omega, JOmega);
            for (int c = 0; c < 3; c++)
                dPi[c] = G[c] + 0.5 * h * (JOmega[c] + turn[c]);
        }
        sp_cross3(dPi, mean, turned);
        for (int c = 0; c < 3; c++)
            rows[c * stride + k] = dPi[c] - 0.5 * h * turned[c] - 0.25 * h * gyration[c];
    }
}

/* The derivative of the rows of p₁ by q̇₁; `both` as above. */
static void fill_square(sp_free_body *b, bool both)
{
    const instant *now = &b->now, *next = &b->next;
    const double h = b->p.step, *u = now->Omega, *v = next->Omega, mass = 1 + 0.5 * h * b->p.damping_mass;
    const int r = b->r;
    const double part[SLOPES] = {u[0] * v[0],
                                 u[1] * v[1],
                                 u[2] * v[2],
                                 u[1] * v[2] + u[2] * v[1],
                                 u[2] * v[0] + u[0] * v[2],
                                 u[0] * v[1] + u[1] * v[0],
                                 u[0] + v[0],
                                 u[1] + v[1],
                                 u[2] + v[2]};
    for (int i = 0; i < r * r; i++)
        b->square[i] = mass * b->inertia->M[i];
    for (int k = 0; b->coupled && k < SLOPES; k++) /* of −h D, and of GᵀΩ₁ */
        cblas_daxpy(r * r, (k < INERTIA ? -h * h / 8 : 0.5 * h) * part[k], b->curve + (int64_t)k * r * r, 1, b->square,
                    1);
    add_stiffness(b, both);
}

/* The derivative of the residual by (Ω₁, q̇₁), exact [n, n, row major]. */
static void fill_matrix(sp_free_body *b)
{
    const instant *now = &b->now, *next = &b->next;
    const double h = b->p.step;
    const int r = b->r;
    fill_rotation_rows(b, b->n, b->n, b->matrix);
    fill_square(b, true);
    for (int i = 0; i < r; i++) {
        double *row = b->matrix + (int64_t)(3 + i) * b->n, G[3], JOmega[3], turn[3];
        column(next->slope + INERTIA * r, r, i, G);
        column(now->turn, r, i, turn);
        tensor_times(b->middle_slope + i, r, now->Omega, JOmega);
        for (int c = 0; c < 3; c++)
            row[c] = G[c] - 0.5 * h * (JOmega[c] + turn[c]);
        memcpy(row + 3, b->square + (int64_t)i * r, (size_t)r * sizeof *row);
    }
}

/* Row major is the transpose for LAPACK. Rotation and deformation that do not act on one another are factored apart,
 * the second by Cholesky where it is symmetric and, as it is but for large deformations, positive definite. */
static int factor(void *self, const double *x, bool definite)
{
    sp_free_body *b = self;
    int bad;
    (void)x, (void)definite;
    b->definite = !b->force.unsymmetric && !b->coupled && b->r > 0;
    if (b->coupled) {
        fill_matrix(b);
        bad = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, b->n, b->n, b->matrix, b->n, b->pivot);
    } else {
        fill_rotation_rows(b, 3, 3, b->matrix);
        bad = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, 3, 3, b->matrix, 3, b->pivot);
    }
    if (b->definite) {
        fill_square(b, false);
        b->definite = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', b->r, b->square, b->r) == 0;
    }
    if (bad == 0 && !b->coupled && !b->definite && b->r > 0) {
        fill_square(b, true);
        bad = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, b->r, b->r, b->square, b->r, b->pivot + 3);
    }
    if (bad == 0)
        return SP_OK;
    return sp_fail(b->context, SP_NUMERICAL, "the matrix of step %lld of a free body is singular",
                   (long long)(b->report.steps + 1));
}

static int solve(void *self, const double *residual, double tolerance, double *dx)
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

/* x −= J⁻¹ r with the factor at hand. */
static int correct(sp_free_body *b)
{
    const int status = solve(b, b->residual, 0, b->dx);
    cblas_daxpy(b->n, -1, b->dx, 1, b->x, 1);
    follow(b, b->x);
    return status;
}

/* One more correction with the factor at hand brings the residual from the tolerance down to rounding: over many steps
 * energy drifts by what is left. So small, it changes f by K dq. */
static int polish(sp_free_body *b)
{
    const int status = correct(b);
    if (b->simpson)
        add_stiffness_times(b, -0.5 * b->p.step, b->next.K, b->dx + 3, b->next.f);
    return status;
}

static int refuse_inverted(const sp_free_body *b, int64_t element)
{
    return sp_fail(b->context, SP_NUMERICAL,
                   "step %lld of a free body would turn element %lld inside out; take smaller steps, or the law "
                   "stable-neo-hookean",
                   (long long)(b->report.steps + 1), (long long)element);
}

static int not_converged(void *self, double relative, int64_t iterations)
{
    const sp_free_body *b = self;
    if (b->barred >= 0)
        return refuse_inverted(b, b->barred);
    if (!isfinite(relative))
        return sp_fail(b->context, SP_NUMERICAL,
                       "forces of a free body are beyond the range of numbers in step %lld; take a smaller step",
                       (long long)(b->report.steps + 1));
    return sp_fail(b->context, SP_NUMERICAL,
                   "Newton's method did not converge in step %lld of a free body: residual %.1e after %lld "
                   "iterations; take a smaller step",
                   (long long)(b->report.steps + 1), relative, (long long)iterations);
}

/* Starts with velocities that go on changing as they did, then once more from standing still with a line search. */
static int newton(sp_free_body *b)
{
    const sp_newton_problem problem = {.self = b,
                                       .n = b->n,
                                       .residual = residual,
                                       .factor = factor,
                                       .solve = solve,
                                       .not_converged = not_converged,
                                       .merit = SP_NEWTON_RESIDUAL,
                                       .at_least_once = true,
                                       .whole_steps = 8,
                                       .tolerance = b->p.tolerance,
                                       .iterations = b->p.iterations};
    const sp_newton_vectors vectors = {.x = b->x, .r = b->residual, .dx = b->dx, .trial = b->trial};
    sp_newton_report report;
    int status;
    for (int k = 0; k < b->n; k++)
        b->x[k] = 2 * (k < 3 ? b->now.Omega[k] : b->now.qdot[k - 3]) - b->before[k];
    memcpy(b->still, b->now.Omega, sizeof b->now.Omega);
    for (int i = 0; i < b->r; i++)
        b->still[3 + i] = -b->now.qdot[i];
    SP_TRY(sp_newton_solve(&problem, b->still, &vectors, &report));
    if (report.iterations == 0)
        memcpy(b->next.K, b->now.K, (size_t)(b->r * b->r) * sizeof *b->next.K);
    else if (!report.stagnated)
        SP_TRY(polish(b));
    b->report.stagnated += report.stagnated;
    b->report.newton_iterations += report.iterations;
    if (report.iterations > b->report.worst_iterations)
        b->report.worst_iterations = report.iterations;
    b->report.worst_residual = fmax(b->report.worst_residual, report.relative);
done:
    return status;
}

static int one_iteration(sp_free_body *b)
{
    sp_newton_residual size = {0};
    int status;
    memcpy(b->x, b->now.Omega, sizeof b->now.Omega);
    for (int i = 0; i < b->r; i++)
        b->x[3 + i] = b->now.qdot[i];
    residual(b, b->x, b->residual, &size);
    if (!isfinite(size.norm) && b->barred >= 0)
        return refuse_inverted(b, b->barred);
    if (!isfinite(size.norm))
        return sp_fail(b->context, SP_NUMERICAL, "the forces in step %lld of a free body are not finite",
                       (long long)(b->report.steps + 1));
    SP_TRY(factor(b, b->x, false));
    SP_TRY(correct(b));
    b->report.newton_iterations++;
    b->report.worst_iterations = 1;
done:
    return status;
}

/* ---- the body ---- */

/* The lower triangle of A [n, n, column major] with this J and these rows of G [3, r] (NULL: 0). */
static void fill_mass(const sp_free_body *b, const double J[INERTIA], const double *G, double *A)
{
    const int n = b->n, r = b->r;
    for (int k = 0; k < 3; k++) {
        double axis[3] = {k == 0, k == 1, k == 2};
        tensor_times(J, 1, axis, A + k * n);
        for (int i = 0; i < r; i++)
            A[k * n + 3 + i] = G ? G[k * r + i] : 0;
    }
    for (int j = 0; j < r; j++)
        for (int i = j; i < r; i++)
            A[(3 + j) * n + 3 + i] = b->inertia->M[j * r + i];
}

/* A(0) must be positive definite: U may hold no rigid motion. b->matrix is scaled to a diagonal of 1. */
static int check_inertia(sp_free_body *b)
{
    const int n = b->n, r = b->r;
    double *A = b->matrix;
    fill_mass(b, b->J, b->slope + INERTIA * r, A);
    for (int k = 0; k < n; k++)
        b->weight[k] = 1 / A[k * n + k];
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            A[j * n + i] *= sqrt(b->weight[i] * b->weight[j]);
    bool definite = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A, n) == 0;
    for (int k = 0; definite && k < n; k++)
        definite = A[k * n + k] * A[k * n + k] > 1e-12 * n; /* far above rounding, NaN is not */
    if (definite)
        return SP_OK;
    return sp_fail(b->context, SP_NUMERICAL,
                   "the mass matrix of the free body is not positive definite: its %d coordinates are dependent, or "
                   "move it rigidly",
                   r);
}

/* J, slopes and their derivatives out of S, N and Q. */
static void set_polynomials(sp_free_body *b)
{
    static const int first[INERTIA] = {0, 1, 2, 1, 2, 0}, second[INERTIA] = {0, 1, 2, 2, 0, 1};
    const sp_inertia *t = b->inertia;
    const int64_t r = b->r, square = r * r;
    for (int k = 0; k < INERTIA; k++) {
        const int a = first[k], c = second[k];
        b->J[k] = (a == c ? t->S[0] + t->S[4] + t->S[8] : 0) - t->S[3 * a + c];
        if (!b->coupled)
            continue;
        for (int64_t j = 0; j < r; j++) { /* ∂_jS_ac at rest and its derivatives */
            for (int d = 0; a == c && d < 3; d++)
                b->slope[k * r + j] += 2 * t->N[4 * d * r + j];
            b->slope[k * r + j] -= t->N[(3 * a + c) * r + j] + t->N[(3 * c + a) * r + j];
            for (int64_t i = 0; i < r; i++) {
                double *to = b->curve + k * square + j * r + i;
                if (a == c)
                    *to += 2 * t->M[j * r + i];
                *to -= t->Q[(3 * a + c) * square + i * r + j] + t->Q[(3 * c + a) * square + i * r + j];
            }
        }
    }
    for (int c = 0; b->coupled && c < 3; c++) {
        const int a = (c + 1) % 3, d = (c + 2) % 3; /* ε_cad = 1 */
        for (int64_t j = 0; j < r; j++) {
            b->slope[(INERTIA + c) * r + j] = t->N[(3 * a + d) * r + j] - t->N[(3 * d + a) * r + j];
            for (int64_t i = 0; i < r; i++)
                b->curve[(INERTIA + c) * square + j * r + i] =
                    t->Q[(3 * a + d) * square + i * r + j] - t->Q[(3 * d + a) * square + i * r + j];
        }
    }
}

void sp_free_workspaces_new(sp_pool *pool, int threads, int64_t r, sp_free_workspaces *workspaces)
{
    workspaces->r = r;
    workspaces->count = threads;
    workspaces->workspace = sp_pool_new(pool, threads, sizeof *workspaces->workspace);
    for (int t = 0; workspaces->workspace && t < threads; t++) {
        sp_free_workspace *workspace = &workspaces->workspace[t];
        workspace->matrix = sp_pool_new(pool, (3 + r) * (3 + r), sizeof(double));
        workspace->square = sp_pool_new(pool, r * r, sizeof(double));
        workspace->stiffness = sp_pool_new(pool, r * r, sizeof(double));
        workspace->pivot = sp_pool_new(pool, 3 + r, sizeof(int));
    }
}

static void enter_room(sp_free_body *b)
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
    at->turn = sp_pool_new(pool, 3 * r, sizeof(double));
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
        return sp_fail(context, SP_USAGE, "a free body with %lld coordinates in room for %lld", (long long)r,
                       (long long)p->workspaces->r);
    if (!(p->tolerance >= 0 && p->iterations >= 0))
        return sp_fail(context, SP_USAGE, "the tolerance of Newton's method is %g, its iterations at most %lld",
                       p->tolerance, (long long)p->iterations);
    return sp_dense_fits(context, SLOPES * r * r, 3 + r);
}

int sp_free_body_new(sp_context *context, const sp_inertia *inertia, const sp_reduced_force *force,
                     const sp_free_parameters *parameters, sp_free_body **result)
{
    int64_t r = inertia->r, n = 3 + r;
    sp_free_body *b = calloc(1, sizeof *b);
    int status = b ? SP_OK : sp_fail_memory(context);
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
    double **vectors[] = {&b->load, &b->middle, &b->middle_f, &b->mean_f, &b->damping, &b->change};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&b->pool, r, sizeof(double));
    double **unknowns[] = {&b->weight, &b->before, &b->x, &b->trial, &b->dx, &b->residual, &b->still};
    for (size_t i = 0; i < sizeof unknowns / sizeof *unknowns; i++)
        *unknowns[i] = sp_pool_new(&b->pool, n, sizeof(double));
    b->slope = sp_pool_new(&b->pool, SLOPES * r, sizeof(double));
    b->curve = sp_pool_new(&b->pool, b->coupled ? SLOPES * r * r : 0, sizeof(double));
    b->middle_slope = sp_pool_new(&b->pool, INERTIA * r, sizeof(double));
    b->workspaces = b->p.workspaces ? b->p.workspaces : &b->own;
    if (!b->p.workspaces)
        sp_free_workspaces_new(&b->pool, 1, r, &b->own);
    new_instant(&b->pool, r, &b->now);
    new_instant(&b->pool, r, &b->next);
    if (b->pool.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    set_polynomials(b);
    enter_room(b);
    SP_TRY(check_inertia(b));
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

static void keep_velocities(sp_free_body *b)
{
    memcpy(b->before, b->now.Omega, sizeof b->now.Omega);
    memcpy(b->before + 3, b->now.qdot, (size_t)b->r * sizeof *b->before);
}

/* The centre of mass in body-frame coordinates. */
static void centre_at(const sp_free_body *b, const double *q, double centre[3])
{
    for (int a = 0; a < 3; a++)
        centre[a] = b->inertia->centre[a] + cblas_ddot(b->r, b->inertia->mean + a * b->r, 1, q, 1);
}

/* The pose that puts the centre of mass at c. */
static void pose_at(const sp_free_body *b, const double c[3], const double rotation[4], const double *q, sp_pose *pose)
{
    double R[9], centre[3], turned[3];
    memcpy(pose->q, rotation, sizeof pose->q);
    sp_quaternion_matrix(rotation, R);
    centre_at(b, q, centre);
    sp_rotate(R, centre, turned);
    for (int a = 0; a < 3; a++)
        pose->x[a] = c[a] - turned[a];
}

void sp_free_body_place(sp_free_body *b, const sp_pose *pose, const double velocity[3],
                        const double angular_velocity[3], const double *q, const double *qdot)
{
    instant *now = &b->now;
    double R[9], centre[3], turned[3];
    for (int i = 0; i < b->r; i++) {
        now->q[i] = q ? q[i] : 0;
        now->qdot[i] = qdot ? qdot[i] : 0;
    }
    b->work = 0;
    memcpy(b->state.rotation, pose->q, sizeof b->state.rotation);
    sp_quaternion_normalize(b->state.rotation);
    sp_quaternion_matrix(b->state.rotation, R);
    centre_at(b, now->q, centre);
    sp_rotate(R, centre, turned);
    for (int a = 0; a < 3; a++) {
        b->state.c[a] = pose->x[a] + turned[a];
        b->state.v[a] = velocity[a];
    }
    sp_rotate_back(R, angular_velocity, now->Omega);
    memcpy(b->state.Omega, now->Omega, sizeof now->Omega);
    keep_velocities(b);
    set_shape(b, now);
    set_momenta(b, now);
    if (b->r > 0)
        b->force.evaluate(b->force.self, now->q, false, now->f,
                          b->force.together || b->p.damping_stiffness != 0 ? now->K : NULL);
}

/* What comes out of x: the rotation is that of the step exactly, so that R Π changes by h T to rounding, whatever is
 * left of the residual; Ω₁ follows from Π₁. */
static void finish(sp_free_body *b, const double F[3], sp_free_state *state)
{
    const double h = b->p.step;
    const sp_free_state *now = &b->state;
    instant *next = &b->next;
    double turn[4] = {1, 0, 0, 0}, R[9], Gqdot[3], rest[3];
    for (int a = 0; a < 3; a++) {
        turn[a + 1] = 0.25 * h * (b->now.Omega[a] + next->Omega[a]);
        state->v[a] = now->v[a] + h * F[a] / b->inertia->mass;
        state->c[a] = now->c[a] + 0.5 * h * (now->v[a] + state->v[a]);
    }
    sp_quaternion_normalize(turn);
    sp_quaternion_multiply(now->rotation, turn, state->rotation);
    sp_quaternion_normalize(state->rotation);
    sp_quaternion_matrix(turn, R);
    sp_rotate_back(R, b->P, next->Pi);
    set_deformation_momentum(b, next, Gqdot);
    for (int a = 0; a < 3; a++)
        rest[a] = next->Pi[a] - Gqdot[a];
    tensor_solve(next->J, rest, next->Omega);
    set_deformation_momentum(b, next, Gqdot);
    memcpy(state->Omega, next->Omega, sizeof state->Omega);
}

static bool all_finite(int64_t count, const double *x)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

static int refuse_unusable(const sp_free_body *b, const sp_free_state *state)
{
    int64_t element = b->force.inverted ? b->force.inverted(b->force.self, b->next.q) : -1;
    if (element >= 0)
        return refuse_inverted(b, element);
    if (all_finite(3, state->c) && all_finite(4, state->rotation) && all_finite(3, state->v) &&
        all_finite(3, state->Omega) && all_finite(b->r, b->next.q) && all_finite(b->r, b->next.qdot))
        return SP_OK;
    return sp_fail(b->context, SP_NUMERICAL, "what comes out of step %lld of a free body is not finite",
                   (long long)(b->report.steps + 1));
}

int sp_free_body_step(sp_free_body *b, const double F[3], const double T[3], const double *Q)
{
    const double h = b->p.step;
    double R[9], torque[3];
    sp_free_state state;
    int status;
    if (!all_finite(3, F) || !all_finite(3, T) || (Q && !all_finite(b->r, Q)))
        return sp_fail(b->context, SP_NUMERICAL, "the forces on a free body in step %lld are not finite",
                       (long long)(b->report.steps + 1));
    sp_quaternion_matrix(b->state.rotation, R);
    sp_rotate_back(R, T, torque);
    for (int a = 0; a < 3; a++)
        b->P[a] = b->now.Pi[a] + h * torque[a];
    for (int i = 0; i < b->r; i++)
        b->load[i] = Q ? h * Q[i] : 0;
    b->barred = -1;
    enter_room(b);
    SP_TRY(b->p.semi_implicit ? one_iteration(b) : newton(b));
    finish(b, F, &state);
    SP_TRY(refuse_unusable(b, &state));
    keep_velocities(b);
    instant before = b->now;
    b->now = b->next;
    b->next = before;
    b->state = state;
    if (b->force.unsymmetric)
        b->work += cblas_ddot(b->r, b->mean_f, 1, b->change, 1);
    b->report.steps++;
done:
    return status;
}

int sp_free_body_respond(sp_free_body *b, const double F[3], const double T[3], const double *Q, double velocity[3],
                         double angular[3], double *qdot)
{
    double R[9];
    sp_quaternion_matrix(b->state.rotation, R);
    sp_rotate_back(R, T, b->dx);
    if (b->r)
        memcpy(b->dx + 3, Q, (size_t)b->r * sizeof *Q);
    enter_room(b);
    fill_mass(b, b->now.J, b->coupled ? b->now.slope + INERTIA * b->r : NULL, b->matrix);
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

/* ---- what others see of it ---- */

void sp_free_body_pose(const sp_free_body *b, sp_pose *pose)
{
    pose_at(b, b->state.c, b->state.rotation, b->now.q, pose);
}

void sp_free_body_predict(const sp_free_body *b, sp_pose *pose, double *q)
{
    const double half = 0.5 * b->p.step;
    double c[3], angle[3], turn[4], rotation[4];
    for (int a = 0; a < 3; a++) {
        c[a] = b->state.c[a] + half * b->state.v[a];
        angle[a] = half * b->now.Omega[a];
    }
    for (int i = 0; i < b->r;
         i++) /* in the order of `follow`, to the same bits: there the semi-implicit step asks for its force */
        q[i] = b->now.q[i] + 0.5 * (b->p.step * b->now.qdot[i]);
    sp_quaternion_from_vector(angle, turn);
    sp_quaternion_multiply(b->state.rotation, turn, rotation);
    sp_quaternion_normalize(rotation);
    pose_at(b, c, rotation, q, pose);
}

void sp_free_body_point_velocity(const sp_free_body *b, const double y[3], const double *rows, double velocity[3])
{
    double R[9], centre[3], arm[3], local[3], turned[3];
    sp_quaternion_matrix(b->state.rotation, R);
    centre_at(b, b->now.q, centre);
    for (int a = 0; a < 3; a++)
        arm[a] = y[a] - centre[a];
    sp_cross3(b->now.Omega, arm, local);
    for (int a = 0; a < 3; a++)
        for (int i = 0; i < b->r; i++)
            local[a] += ((rows ? rows[a * b->r + i] : 0) - b->inertia->mean[a * b->r + i]) * b->now.qdot[i];
    sp_rotate(R, local, turned);
    for (int a = 0; a < 3; a++)
        velocity[a] = b->state.v[a] + turned[a];
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
    *kinetic = 0.5 * (b->inertia->mass * sp_dot3(b->state.v, b->state.v) + twice_kinetic(b, &b->now));
    *strain = b->force.unsymmetric ? b->work
              : b->r > 0           ? b->force.evaluate(b->force.self, b->now.q, false, b->middle_f, NULL)
                                   : 0;
}

void sp_free_body_momenta(sp_free_body *b, double linear[3], double angular[3])
{
    double R[9], spin[3], Pi[3], Gqdot[3];
    set_deformation_momentum(b, &b->now, Gqdot);
    tensor_times(b->now.J, 1, b->now.Omega, Pi);
    for (int a = 0; a < 3; a++) {
        linear[a] = b->inertia->mass * b->state.v[a];
        Pi[a] += Gqdot[a];
    }
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
    sp_state_reals(state, at->turn, 3 * r);
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
