#include "linear/iterate.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

void sp_iteration_new(sp_pool *pool, int64_t n, int64_t restart, sp_iteration *work)
{
    double **vectors[] = {&work->residual, &work->direction, &work->product, &work->preconditioned},
           **small[] = {&work->cosine, &work->sine, &work->right, &work->part};

    work->n = n;
    work->restart = restart;

    work->basis = sp_pool_new(pool, n * (restart + 1), sizeof(double));
    work->hessenberg = sp_pool_new(pool, (restart + 1) * restart, sizeof(double));

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(pool, n, sizeof(double));
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        *small[i] = sp_pool_new(pool, restart + 1, sizeof(double));
}

/* residual = b − A x; returns its length. */
static double find_residual(const sp_operator *A, sp_iteration *w, const double *b, const double *x)
{
    A->times(A->self, x, w->residual);
    for (int64_t i = 0; i < w->n; i++)
        w->residual[i] = b[i] - w->residual[i];
    return cblas_dnrm2((int)w->n, w->residual, 1);
}

/* Computes column k of A P⁻¹ in the basis: one step of Arnoldi's method, orthogonalized twice. */
static void arnoldi(const sp_operator *A, sp_iteration *w, int64_t k)
{
    int n = (int)w->n, known = (int)k + 1;
    double *next = w->basis + (k + 1) * w->n, *h = w->hessenberg + k * (w->restart + 1);

    /* A P⁻¹ v_k, minus its parts along the basis */
    A->precondition(A->self, w->basis + k * w->n, w->preconditioned);
    A->times(A->self, w->preconditioned, next);
    memset(h, 0, (size_t)(w->restart + 1) * sizeof *h);
    for (int pass = 0; pass < 2; pass++) {
        cblas_dgemv(CblasColMajor, CblasTrans, n, known, 1, w->basis, n, next, 1, 0, w->part, 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, known, -1, w->basis, n, w->part, 1, 1, next, 1);
        cblas_daxpy(known, 1, w->part, 1, h, 1);
    }

    h[k + 1] = cblas_dnrm2(n, next, 1);
    if (h[k + 1] > 0)
        cblas_dscal(n, 1 / h[k + 1], next, 1);
}

/* Makes the Hessenberg matrix triangular by Givens rotations, one column after another; returns the norm of the
 * residual. */
static double rotate(sp_iteration *w, int64_t k)
{
    double *h = w->hessenberg + k * (w->restart + 1);

    /* The rotations so far, then a new one that makes h[k + 1] zero. */
    for (int64_t i = 0; i < k; i++) {
        double upper = w->cosine[i] * h[i] + w->sine[i] * h[i + 1];
        h[i + 1] = w->cosine[i] * h[i + 1] - w->sine[i] * h[i];
        h[i] = upper;
    }

    double length = hypot(h[k], h[k + 1]);
    w->cosine[k] = length > 0 ? h[k] / length : 1;
    w->sine[k] = length > 0 ? h[k + 1] / length : 0;
    h[k] = length;

    w->right[k + 1] = -w->sine[k] * w->right[k];
    w->right[k] *= w->cosine[k];
    return fabs(w->right[k + 1]);
}

/* x += P⁻¹ V y with R y = right; returns false if R is singular. */
static bool update_solution(const sp_operator *A, sp_iteration *w, int64_t count, double *x)
{
    int64_t stride = w->restart + 1;

    for (int64_t k = 0; k < count; k++)
        if (!(fabs(w->hessenberg[k * stride + k]) > 0))
            return false;

    /* R y = right, x += P⁻¹ V y */
    cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)count, w->hessenberg, (int)stride, w->right,
                1);
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)w->n, (int)count, 1, w->basis, (int)w->n, w->right, 1, 0,
                w->direction, 1);

    A->precondition(A->self, w->direction, w->preconditioned);
    cblas_daxpy((int)w->n, 1, w->preconditioned, 1, x, 1);
    return true;
}

/* Runs a method from the residual in w->residual, with this norm, until its recurrence is at most `enough` or no more
 * products are allowed. Adds to x and to the number of products, and writes the norm from the recurrence to *length.
 * Returns false if it broke down before the first step. */
typedef bool method(const sp_operator *A, sp_iteration *w, double enough, int64_t most, int64_t *products,
                    double *length, double *x);

/* Restarts the method from the true residual, since the recurrence holds for exact products only. */
static int64_t restarted(method *run, const sp_operator *A, sp_iteration *w, double tolerance, int64_t most,
                         const double *b, double *x)
{
    double size = cblas_dnrm2((int)w->n, b, 1), length = size;
    int64_t products = 0;

    memset(x, 0, (size_t)w->n * sizeof *x);
    memcpy(w->residual, b, (size_t)w->n * sizeof *b);

    if (!isfinite(size))
        return -1;

    while (length > tolerance * size) {
        double before = length;
        if (products >= most || !run(A, w, tolerance * size, most, &products, &length, x))
            return -1;

        bool recurred = length <= tolerance * size;
        length = find_residual(A, w, b, x);
        products++;

        if (recurred && length <= 2 * tolerance * size)
            break;

        /* The iteration has stagnated, or the residual is not a number. */
        if (!(length < 0.999 * before))
            return -1;
    }
    return products;
}

static bool minimized(const sp_operator *A, sp_iteration *w, double enough, int64_t most, int64_t *products,
                      double *length, double *x)
{
    int64_t k = 0;

    /* v₀ = r/‖r‖, and the right-hand side of the small problem is ‖r‖ e₀ */
    for (int64_t i = 0; i < w->n; i++)
        w->basis[i] = w->residual[i] / *length;
    w->right[0] = *length;

    while (k < w->restart && *products < most && enough < *length) {
        arnoldi(A, w, k);
        *length = rotate(w, k++);
        ++*products;
        if (!isfinite(*length))
            return false;
    }

    return update_solution(A, w, k, x);
}

int64_t sp_gmres(const sp_operator *A, sp_iteration *w, double tolerance, int64_t most, const double *b, double *x)
{
    return restarted(minimized, A, w, tolerance, most, b, x);
}

/* BiCGStab with the initial residual as shadow residual: half-steps r − αv and s − ωt, until one is small enough, no
 * more products are allowed (then products is `most`), or a scalar product in a denominator is only rounding: |⟨a, b⟩|
 * ≤ 1e-15 |a| |b|. */
static bool stabilized(const sp_operator *A, sp_iteration *w, double enough, int64_t most, int64_t *products,
                       double *reached, double *x)
{
    const double rounding = 1e-15;
    int n = (int)w->n;
    double *shadow = w->basis, *second = w->basis + w->n, length = cblas_dnrm2(n, w->residual, 1), size = length,
           along = length * length;

    memcpy(shadow, w->residual, (size_t)n * sizeof *shadow);
    memcpy(w->direction, w->residual, (size_t)n * sizeof *shadow);
    while (*products < most) {
        /* v = A P⁻¹ p, α = ⟨r̂, r⟩ / ⟨r̂, v⟩ */
        A->precondition(A->self, w->direction, w->preconditioned);
        A->times(A->self, w->preconditioned, w->product);
        ++*products;

        double across = cblas_ddot(n, shadow, 1, w->product, 1);
        if (!(fabs(across) > rounding * size * cblas_dnrm2(n, w->product, 1)))
            break;

        double alpha = along / across;
        /* x ← x + α P⁻¹ p, s = r − α v */
        cblas_daxpy(n, alpha, w->preconditioned, 1, x, 1);
        cblas_daxpy(n, -alpha, w->product, 1, w->residual, 1);

        length = cblas_dnrm2(n, w->residual, 1);
        if (!(length > enough) || *products >= most)
            break;

        /* t = A P⁻¹ s, ω = ⟨t, s⟩ / ⟨t, t⟩ */
        A->precondition(A->self, w->residual, w->preconditioned);
        A->times(A->self, w->preconditioned, second);
        ++*products;

        double turned = cblas_ddot(n, second, 1, w->residual, 1), square = cblas_ddot(n, second, 1, second, 1);
        if (!(fabs(turned) > rounding * length * sqrt(square)))
            break;

        double omega = turned / square;
        /* x ← x + ω P⁻¹ s, r = s − ω t */
        cblas_daxpy(n, omega, w->preconditioned, 1, x, 1);
        cblas_daxpy(n, -omega, second, 1, w->residual, 1);

        length = cblas_dnrm2(n, w->residual, 1);

        /* β = (ρ′/ρ) (α/ω), p ← r + β (p − ω v) */
        double next = cblas_ddot(n, shadow, 1, w->residual, 1);
        if (!(length > enough) || !(fabs(next) > rounding * size * length))
            break;

        double beta = next / along * (alpha / omega);
        along = next;
        for (int i = 0; i < n; i++)
            w->direction[i] = w->residual[i] + beta * (w->direction[i] - omega * w->product[i]);
    }
    *reached = length;
    return true;
}

int64_t sp_bicgstab(const sp_operator *A, sp_iteration *w, double tolerance, int64_t most, const double *b, double *x)
{
    return restarted(stabilized, A, w, tolerance, most, b, x);
}

int64_t sp_conjugate_gradients(const sp_operator *A, sp_iteration *w, double tolerance, int64_t most, const double *b,
                               double *x)
{
    int n = (int)w->n;
    double size = cblas_dnrm2(n, b, 1), along = 0;
    int64_t products = 0;

    memset(x, 0, (size_t)n * sizeof *x);
    memcpy(w->residual, b, (size_t)n * sizeof *b);

    if (!isfinite(size))
        return -1;
    while (cblas_dnrm2(n, w->residual, 1) > tolerance * size) {
        if (products++ >= most)
            return -1;

        /* z = P⁻¹ r, p ← z + β p */
        A->precondition(A->self, w->residual, w->preconditioned);
        double product = cblas_ddot(n, w->residual, 1, w->preconditioned, 1);
        for (int i = 0; i < n; i++)
            w->direction[i] = w->preconditioned[i] + (products > 1 ? product / along * w->direction[i] : 0);
        along = product;

        /* α = ⟨r, z⟩ / ⟨p, A p⟩ */
        A->times(A->self, w->direction, w->product);
        double curvature = cblas_ddot(n, w->direction, 1, w->product, 1);
        if (!(curvature > 0 && isfinite(curvature)))
            return -1;

        cblas_daxpy(n, along / curvature, w->direction, 1, x, 1);
        cblas_daxpy(n, -along / curvature, w->product, 1, w->residual, 1);
    }
    return products;
}
