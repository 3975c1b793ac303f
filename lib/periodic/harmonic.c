#include "periodic/harmonic.h"

#include "periodic/fourier.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* ---- construction ---- */

/* V and its eigenvalues from M and the symmetric part of K(0). */
static int find_modes(sp_context *context, sp_harmonic *h)
{
    const int r = h->r;
    double *K = h->V, *M = h->work;

    /* K(0) V = M V Λ, with the symmetric part of K(0) */
    memset(h->q, 0, (size_t)r * sizeof *h->q);
    h->force.evaluate(h->force.self, h->q, false, NULL, K);

    if (h->force.unsymmetric)
        for (int j = 0; j < r; j++)
            for (int i = j; i < r; i++)
                K[j * r + i] = 0.5 * (K[j * r + i] + K[i * r + j]);

    memcpy(M, h->mass, (size_t)r * (size_t)r * sizeof *M);
    if (LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'L', r, K, r, M, r, h->eigenvalue) != 0)
        return sp_fail(context, SP_NUMERICAL, "the reduced mass matrix is not positive definite");
    return SP_OK;
}

static void project(const sp_harmonic *h, const double *f, double *to)
{
    cblas_dgemv(CblasColMajor, CblasTrans, h->r, h->r, 1, h->V, h->r, f, 1, 0, to, 1);
}

static void fill_tables(sp_harmonic *h)
{
    const int n = h->samples, waves = 4 * h->harmonics + 1;

    for (int j = 0; j < n; j++)
        for (int k = 0; k < waves; k++) {
            const int m = (k + 1) / 2;
            const double angle = 2 * M_PI * (double)((int64_t)m * j % n) / n, value = k % 2 ? cos(angle)
                                                                                      : k   ? sin(angle)
                                                                                            : 1;
            h->wave[(int64_t)k * n + j] = value / n;

            /* The stiffness has twice as many harmonics as the force. */
            if (k >= h->columns)
                continue;
            h->basis[(int64_t)j * h->columns + k] = value;
            h->transform[(int64_t)k * n + j] = (k ? 2 : 1) * value / n;
        }
}

static void allocate(sp_harmonic *h)
{
    const int64_t r = h->r, n = h->samples, waves = 4 * (int64_t)h->harmonics + 1, c = h->columns;
    const struct {
        double **to;
        int64_t count;
    } all[] = {{&h->V, r * r},
               {&h->eigenvalue, r},
               {&h->mass, r * r},
               {&h->constant, r},
               {&h->amplitude, r},
               {&h->damping, r},
               {&h->basis, c * n},
               {&h->transform, n * c},
               {&h->wave, n * waves},
               {&h->reference, r * c},
               {&h->eta, r * n},
               {&h->q, r * n},
               {&h->f, r * n},
               {&h->F, r * c},
               {&h->K, r * r * n},
               {&h->Kt, r * r},
               {&h->Kf, r * r * waves},
               {&h->G, 2 * r * r},
               {&h->work, 3 * r * r + 4 * r}};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i].to = sp_pool_new(&h->pool, all[i].count, sizeof(double));
}

int sp_harmonic_new(sp_context *context, const sp_periodic_model *model, sp_harmonic *h)
{
    const int H = (int)model->harmonics, r = (int)model->force->r;
    *h = (sp_harmonic){.force = *model->force,
                       .r = r,
                       .harmonics = H,
                       .columns = 2 * H + 1,
                       .samples = model->force->cubic ? 4 * H + 1 : 8 * H + 8,
                       .beta = model->damping_stiffness,
                       .factor = 1,
                       .range = 1,
                       .scale = 1,
                       .floor = 1e-300};

    allocate(h);
    if (h->pool.failed) {
        sp_harmonic_free(h);
        return sp_fail_memory(context);
    }

    memcpy(h->mass, model->mass, (size_t)r * (size_t)r * sizeof *h->mass);
    fill_tables(h);

    const int status = find_modes(context, h);
    if (status != SP_OK) {
        sp_harmonic_free(h);
        return status;
    }

    /* In the coordinates η of the modes M is 1: f₀ and f₁ are projected, damping is diagonal. */
    project(h, model->constant, h->constant);
    project(h, model->amplitude, h->amplitude);
    for (int i = 0; i < r; i++)
        h->damping[i] = model->damping_mass + 2 * model->damping_ratio * sqrt(fmax(0, h->eigenvalue[i]));
    return SP_OK;
}

void sp_harmonic_free(sp_harmonic *h)
{
    sp_pool_free(&h->pool);
}

int64_t sp_harmonic_equations(const sp_harmonic *h)
{
    return (int64_t)h->r * h->columns + (h->kind == SP_PERIODIC_BACKBONE);
}

double sp_harmonic_frequency(const sp_harmonic *h, const double *x)
{
    return h->kind == SP_PERIODIC_FORCE ? h->frequency : h->scale * x[sp_harmonic_equations(h)];
}

double sp_harmonic_factor(const sp_harmonic *h, const double *x)
{
    return h->kind == SP_PERIODIC_FORCE ? x[sp_harmonic_equations(h)] : h->kind == SP_PERIODIC_RESPONSE ? h->factor : 0;
}

/* ---- in time ---- */

double sp_harmonic_tangent(sp_harmonic *h, const double *eta, double *f, double *K)
{
    const int r = h->r;
    double *q = h->work, *g = q + r, *full = g + r, *half = full + (int64_t)r * r;

    cblas_dgemv(CblasColMajor, CblasNoTrans, r, r, 1, h->V, r, eta, 1, 0, q, 1);
    const double energy = h->force.evaluate(h->force.self, q, false, f ? g : NULL, K ? full : NULL);
    if (f)
        project(h, g, f);

    if (!K)
        return energy;

    /* The force gives the lower triangle of a symmetric K. */
    if (!h->force.unsymmetric)
        for (int j = 0; j < r; j++)
            for (int i = j + 1; i < r; i++)
                full[i * r + j] = full[j * r + i];

    /* VᵀK V */
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r, r, r, 1, full, r, h->V, r, 0, half, r);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, r, r, r, 1, h->V, r, half, r, 0, K, r);
    return energy;
}

void sp_harmonic_at(const sp_harmonic *h, const double *x, double theta, double *eta, double *rate)
{
    sp_fourier_at(h->r, h->harmonics, x, theta, eta, rate, NULL);
}

/* The coefficients F of the force and, with `tangent`, those of K. */
static void transform_force(sp_harmonic *h, const double *x, bool tangent)
{
    const int r = h->r, n = h->samples, waves = 4 * h->harmonics + 1;

    /* η at all samples, the forces there, and the coefficients of these */
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r, n, h->columns, 1, x, r, h->basis, h->columns, 0, h->eta,
                r);
    for (int j = 0; j < n; j++)
        sp_harmonic_tangent(h, h->eta + (int64_t)j * r, h->f + (int64_t)j * r,
                            tangent ? h->K + (int64_t)j * r * r : NULL);

    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r, h->columns, n, 1, h->f, r, h->transform, n, 0, h->F, r);

    if (tangent)
        cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, r * r, waves, n, 1, h->K, r * r, h->wave, n, 0, h->Kf,
                    r * r);
}

/* ---- residual ---- */

/* The inertial and damping terms of all harmonics, and their derivatives by Ω (column `slope`, NULL: not wanted). */
static void add_harmonics(const sp_harmonic *h, const double *x, double omega, double d, double *res, double *slope)
{
    const int r = h->r;
    const double beta = h->kind == SP_PERIODIC_BACKBONE ? 0 : h->beta;
    for (int k = 1; k <= h->harmonics; k++) {
        const int64_t at = (int64_t)(2 * k - 1) * r;
        const double w = k * omega, *a = x + at, *b = a + r, *Fa = h->F + at, *Fb = Fa + r;

        /* M = 1, and q̇ has the coefficients w (b, −a). β K q̇ is β times the rate of f, hence F_b and −F_a. */
        for (int i = 0; i < r; i++) {
            const double c = h->kind == SP_PERIODIC_BACKBONE ? d : h->damping[i];
            res[at + i] += -w * w * a[i] + w * (c * b[i] + beta * Fb[i]);
            res[at + r + i] += -w * w * b[i] - w * (c * a[i] + beta * Fa[i]);
            if (!slope)
                continue;
            slope[at + i] = h->scale * k * (-2 * w * a[i] + c * b[i] + beta * Fb[i]);
            slope[at + r + i] = h->scale * k * (-2 * w * b[i] - c * a[i] - beta * Fa[i]);
        }
    }
}

/* ---- Jacobian ---- */

/* Kf of cos m or sin m; *sign is that of a negative m. */
static const double *wave_of(const sp_harmonic *h, int m, bool sine, double *sign)
{
    *sign = sine && m < 0 ? -1 : 1;
    m = m < 0 ? -m : m;

    if (sine && m == 0) {
        *sign = 0;
        return h->Kf;
    }
    return h->Kf + (int64_t)(m ? 2 * m - 1 + sine : 0) * h->r * h->r;
}

/* The block ∂F_row/∂x_column [r, r]: the mean of K times both harmonics (twice it, but for row 0). */
static void force_block(const sp_harmonic *h, int row, int column, double *to)
{
    const int k = (row + 1) / 2, l = (column + 1) / 2;
    const bool sk = row > 0 && row % 2 == 0, sl = column > 0 && column % 2 == 0, sine = sk != sl;
    double s1, s2;
    /* cos k cos l = ½[cos(k−l) + cos(k+l)], sin sin = ½[cos(k−l) − cos(k+l)], sin k cos l = ½[sin(k+l) + sin(k−l)] */
    const double *one = wave_of(h, sk || !sine ? k - l : l - k, sine, &s1), *two = wave_of(h, k + l, sine, &s2);
    const double factor = row ? 1 : 0.5;

    s1 *= factor;
    s2 *= factor * (sk && sl ? -1 : 1);
    for (int i = 0; i < h->r * h->r; i++)
        to[i] = s1 * one[i] + s2 * two[i];
}

/* J += scale · block at the rows and columns of two harmonics. */
static void add_block(const sp_harmonic *h, const double *block, double scale, int row, int column, double *J,
                      int64_t stride)
{
    for (int j = 0; j < h->r; j++)
        cblas_daxpy(h->r, scale, block + (int64_t)j * h->r, 1,
                    J + ((int64_t)column * h->r + j) * stride + (int64_t)row * h->r, 1);
}

static void fill_force(sp_harmonic *h, double omega, double *J, int64_t stride)
{
    const double beta = h->kind == SP_PERIODIC_BACKBONE ? 0 : h->beta;

    for (int column = 0; column < h->columns; column++)
        for (int row = 0; row < h->columns; row++) {
            const int k = (row + 1) / 2, other = row % 2 ? row + 1 : row - 1;
            force_block(h, row, column, h->G);
            add_block(h, h->G, 1, row, column, J, stride);
            if (row > 0 && beta > 0) /* the rows of the cosine gain kΩβ F_b, those of the sine lose kΩβ F_a */
                add_block(h, h->G, (row % 2 ? -1 : 1) * k * omega * beta, other, column, J, stride);
        }
}

static void fill_harmonics(const sp_harmonic *h, double omega, double d, double *J, int64_t stride)
{
    const int r = h->r;

    for (int k = 1; k <= h->harmonics; k++) {
        const int64_t a = (int64_t)(2 * k - 1) * r, b = a + r;
        const double w = k * omega;

        for (int i = 0; i < r; i++) {
            const double c = h->kind == SP_PERIODIC_BACKBONE ? d : h->damping[i];
            J[(a + i) * stride + a + i] -= w * w;
            J[(b + i) * stride + b + i] -= w * w;
            J[(b + i) * stride + a + i] += w * c;
            J[(a + i) * stride + b + i] -= w * c;
        }
    }
}

/* The phase condition, divided by the norm of its gradient, and the column of the unknown d. */
static void add_phase(const sp_harmonic *h, const double *x, double omega, double *res, double *J, int64_t stride)
{
    const int r = h->r;
    const int64_t n = (int64_t)r * h->columns;
    double sum = 0, norm = 0;

    /* Σ k (â·b − b̂·a) = 0: the motion is orthogonal to the shift in phase of the reference. */
    for (int k = 1; k <= h->harmonics; k++) {
        const int64_t a = (int64_t)(2 * k - 1) * r, b = a + r;
        norm += k * k * cblas_ddot(2 * r, h->reference + a, 1, h->reference + a, 1);
        sum += k * (cblas_ddot(r, h->reference + a, 1, x + b, 1) - cblas_ddot(r, h->reference + b, 1, x + a, 1));
    }

    norm = 1 / sqrt(norm);
    res[n] = sum * norm;

    if (J)
        for (int k = 1; k <= h->harmonics; k++)
            for (int i = 0; i < r; i++) {
                const int64_t a = (int64_t)(2 * k - 1) * r + i, b = a + r;
                J[b * stride + n] = k * norm * h->reference[a];
                J[a * stride + n] = -k * norm * h->reference[b];
                J[n * stride + a] = k * omega * h->scale * x[b];
                J[n * stride + b] = -k * omega * h->scale * x[a];
            }
}

void sp_harmonic_evaluate(void *data, const double *x, double *res, double *J, int64_t stride)
{
    sp_harmonic *h = data;
    const int r = h->r;
    const int64_t n = (int64_t)r * h->columns, equations = sp_harmonic_equations(h);
    const double omega = sp_harmonic_frequency(h, x), factor = sp_harmonic_factor(h, x),
                 d = h->kind == SP_PERIODIC_BACKBONE ? h->scale * x[n] : 0;

    transform_force(h, x, J != NULL);
    memcpy(res, h->F, (size_t)n * sizeof *res);

    /* f − f₀ − p f₁ cos θ */
    for (int i = 0; i < r; i++) {
        res[i] -= h->constant[i];
        res[r + i] -= factor * h->amplitude[i];
    }

    if (J)
        for (int64_t j = 0; j <= equations; j++)
            memset(J + j * stride, 0, (size_t)equations * sizeof *J);
    double *last = J ? J + equations * stride : NULL;

    add_harmonics(h, x, omega, d, res, h->kind == SP_PERIODIC_FORCE ? NULL : last);
    if (J) {
        fill_force(h, omega, J, stride);
        fill_harmonics(h, omega, d, J, stride);
    }

    if (h->kind == SP_PERIODIC_BACKBONE)
        add_phase(h, x, omega, res, J, stride);

    if (J && h->kind == SP_PERIODIC_FORCE)
        for (int i = 0; i < r; i++)
            last[r + i] = -h->amplitude[i];
}

void sp_harmonic_metric(void *data, const double *x, double *weight)
{
    const sp_harmonic *h = data;
    const int64_t n = (int64_t)h->r * h->columns, equations = sp_harmonic_equations(h);
    const double norm = fmax(cblas_dnrm2((int)n, x, 1), h->floor);

    /* Coefficients are measured by the size of the motion, and the parameter by its range. */
    for (int64_t i = 0; i < n; i++)
        weight[i] = 1 / (norm * norm);
    for (int64_t i = n; i < equations; i++)
        weight[i] = 1;

    weight[equations] = 1 / (h->range * h->range);
}

/* ---- energies ---- */

sp_harmonic_energy sp_harmonic_energies(sp_harmonic *h, const double *x)
{
    const int r = h->r, n = 2 * h->samples;
    const double omega = sp_harmonic_frequency(h, x), factor = sp_harmonic_factor(h, x);
    double *eta = h->eta, *rate = h->q, *K = h->Kt, *y = h->f;
    sp_harmonic_energy e = {0};

    for (int j = 0; j < n; j++) {
        const double theta = 2 * M_PI * j / n;
        sp_harmonic_at(h, x, theta, eta, rate);
        cblas_dscal(r, omega, rate, 1);
        const double total = sp_harmonic_tangent(h, eta, NULL, K) + 0.5 * cblas_ddot(r, rate, 1, rate, 1);

        e.start = j ? e.start : total;
        e.mean += total / n;

        if (h->kind == SP_PERIODIC_BACKBONE)
            continue;

        /* Work per time of damping and of the loads: means over the period of q̇ᵀ C q̇ and q̇·f₁ p cos θ */
        cblas_dgemv(CblasColMajor, CblasNoTrans, r, r, h->beta / n, K, r, rate, 1, 0, y, 1);
        e.dissipated += cblas_ddot(r, rate, 1, y, 1);
        for (int i = 0; i < r; i++)
            e.dissipated += h->damping[i] * rate[i] * rate[i] / n;

        e.input += factor * cos(theta) * cblas_ddot(r, h->amplitude, 1, rate, 1) / n;
    }
    return e;
}

/* ---- where curves start ---- */

/* One load step of the equilibrium; false if Newton's method does not converge. */
static bool balance(sp_harmonic *h, double part, int *pivot, double *eta)
{
    const int r = h->r;
    double largest = 0, before = INFINITY;

    for (int iteration = 0; iteration < 50; iteration++) {
        sp_harmonic_tangent(h, eta, h->f, h->Kt);

        /* K Δη = part f₀ − f(η) */
        for (int i = 0; i < r; i++)
            h->f[i] = part * h->constant[i] - h->f[i];
        if (LAPACKE_dgesv(LAPACK_COL_MAJOR, r, 1, h->Kt, r, pivot, h->f, r) != 0)
            return false;

        cblas_daxpy(r, 1, h->f, 1, eta, 1);

        const double size = cblas_dnrm2(r, h->f, 1);
        largest = fmax(largest, cblas_dnrm2(r, eta, 1));
        if (!isfinite(size))
            return false;
        /* corrections that no longer fall are rounding errors */
        if (size <= 1e-13 * largest || (size <= 1e-9 * largest && size > 0.1 * before))
            return true;
        before = size;
    }
    return false;
}

int sp_harmonic_equilibrium(sp_context *context, sp_harmonic *h, int steps, double *eta)
{
    int *pivot = sp_pool_new(&h->pool, h->r, sizeof *pivot);
    SP_PASS(sp_allocated(context, pivot));

    memset(eta, 0, (size_t)h->r * sizeof *eta);

    /* The loads grow step by step. */
    if (cblas_dnrm2(h->r, h->constant, 1) > 0)
        for (int i = 1; i <= steps; i++)
            if (!balance(h, (double)i / steps, pivot, eta))
                return sp_fail(context, SP_NUMERICAL, "the equilibrium under the static loads is not found");
    return SP_OK;
}

int sp_harmonic_modes(sp_context *context, sp_harmonic *h, const double *eta, double *eigenvalue, double *vector)
{
    const int r = h->r;

    sp_harmonic_tangent(h, eta, NULL, h->Kt);
    for (int j = 0; j < r; j++)
        for (int i = 0; i < r; i++)
            vector[j * r + i] = 0.5 * (h->Kt[j * r + i] + h->Kt[i * r + j]);

    if (!isfinite(cblas_dnrm2(r * r, vector, 1)) ||
        LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'L', r, vector, r, eigenvalue) != 0)
        return sp_fail(context, SP_NUMERICAL, "the modes of the equilibrium under the static loads are not found");
    return SP_OK;
}

int sp_harmonic_linear(sp_context *context, sp_harmonic *h, double frequency, double factor, double *x)
{
    const int r = h->r, n = 2 * r;
    sp_pool pool = {0};
    double *A = sp_pool_new(&pool, (int64_t)n * n, sizeof *A), *b = sp_pool_new(&pool, n, sizeof *b);
    int *pivot = sp_pool_new(&pool, n, sizeof *pivot), status = sp_allocated(context, !pool.failed);

    SP_TRY(status);

    /* (K − Ω² + iΩC) z = p f₁ for the cosine and the sine part: a real system of twice the size */
    sp_harmonic_tangent(h, x, NULL, h->Kt);
    for (int j = 0; j < r; j++) {
        for (int i = 0; i < r; i++) {
            const double k = h->Kt[j * r + i], c = frequency * (h->beta * k + (i == j ? h->damping[i] : 0));
            A[j * n + i] = A[(r + j) * n + r + i] = k - (i == j ? frequency * frequency : 0);
            A[(r + j) * n + i] = c;
            A[j * n + r + i] = -c;
        }

        b[j] = factor * h->amplitude[j];
    }

    if (LAPACKE_dgesv(LAPACK_COL_MAJOR, n, 1, A, n, pivot, b, n) != 0 || !isfinite(cblas_dnrm2(n, b, 1)))
        status = sp_fail(context, SP_NUMERICAL, "the linear response at %.6g Hz is not finite", frequency / (2 * M_PI));
    else
        memcpy(x + r, b, (size_t)n * sizeof *x);
done:
    sp_pool_free(&pool);
    return status;
}
