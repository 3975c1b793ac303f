/* The mass matrix A(q) of a free body, its slopes, and the momenta. */
#include "rigid/free_internal.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

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

void sp_free_set_polynomials(sp_free_body *b)
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

void sp_free_fill_mass(const sp_free_body *b, const double J[INERTIA], const double *G, double *A)
{
    const int n = b->n, r = b->r;
    for (int k = 0; k < 3; k++) {
        double axis[3] = {k == 0, k == 1, k == 2};
        sp_tensor_times(J, 1, axis, A + k * n);
        for (int i = 0; i < r; i++)
            A[k * n + 3 + i] = G ? G[k * r + i] : 0;
    }
    for (int j = 0; j < r; j++)
        for (int i = j; i < r; i++)
            A[(3 + j) * n + 3 + i] = b->inertia->M[j * r + i];
}

/* A(0) must be positive definite: U must not contain a rigid motion. b->matrix is scaled to a unit diagonal. */
int sp_free_check_inertia(sp_free_body *b)
{
    const int n = b->n, r = b->r;
    double *A = b->matrix;
    sp_free_fill_mass(b, b->J, b->slope + INERTIA * r, A);
    for (int k = 0; k < n; k++)
        b->weight[k] = 1 / A[k * n + k];
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++)
            A[j * n + i] *= sqrt(b->weight[i] * b->weight[j]);
    bool definite = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', n, A, n) == 0;
    for (int k = 0; definite && k < n; k++)
        definite = A[k * n + k] * A[k * n + k] > 1e-12 * n; /* far above rounding; false for a NaN */
    if (definite)
        return SP_OK;
    return sp_fail(b->context, SP_NUMERICAL,
                   "the mass matrix of the free body is not positive definite: its %d coordinates are dependent, or "
                   "move it rigidly",
                   r);
}

void sp_free_set_shape(const sp_free_body *b, instant *at)
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

void sp_free_set_deformation_momentum(const sp_free_body *b, instant *at, double Gqdot[3])
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
                at->dG_qdot, 1);
}

void sp_free_set_momenta(const sp_free_body *b, instant *at)
{
    double Gqdot[3];
    sp_free_set_deformation_momentum(b, at, Gqdot);
    sp_tensor_times(at->J, 1, at->Omega, at->Pi);
    for (int c = 0; c < 3; c++)
        at->Pi[c] += Gqdot[c];
}

double sp_free_twice_kinetic(const sp_free_body *b, const instant *at)
{
    return sp_dot3(at->Omega, at->Pi) + cblas_ddot(b->r, at->qdot, 1, at->p, 1);
}

void sp_free_set_angular_velocity(const sp_free_body *b, instant *at)
{
    double Gqdot[3], rest[3];
    sp_free_set_deformation_momentum(b, at, Gqdot);
    for (int a = 0; a < 3; a++)
        rest[a] = at->Pi[a] - Gqdot[a];
    tensor_solve(at->J, rest, at->Omega);
    sp_free_set_deformation_momentum(b, at, Gqdot);
}
