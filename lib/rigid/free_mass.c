/* The mass matrix A(q) of a free body, its slopes, and the momenta. */
#include "rigid/free_internal.h"

#include "linear/small.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

/* x = s⁻¹ y by Cholesky, for s positive definite. */
static void tensor_solve(const double s[INERTIA], const double y[3], double x[3])
{
    /* s = L Lᵀ with L = [a, ., .; b, d, .; c, e, f] */
    const double a = sqrt(s[0]), b = s[5] / a, c = s[4] / a, d = sqrt(s[1] - b * b), e = (s[3] - b * c) / d,
                 f = sqrt(s[2] - c * c - e * e);

    const double u = y[0] / a, v = (y[1] - b * u) / d, w = (y[2] - c * u - e * v) / f;
    x[2] = w / f;
    x[1] = (v - e * x[2]) / d;
    x[0] = (u - b * x[1] - c * x[2]) / a;
}

void sp_free_fill_mass(const sp_free_body *b, const double J[INERTIA], const double *G, double *A)
{
    const int n = b->n, r = b->r;

    /* The lower triangle of A = [J, G; Gᵀ, M̃] */
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
    sp_free_fill_mass(b, b->inertia->J, b->coupled ? b->inertia->slope + INERTIA * r : NULL, A);

    /* Squares of momenta times these weights are energies. */
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
    memcpy(at->J, b->inertia->J, sizeof at->J);
    if (!b->coupled)
        return;

    double linear[INERTIA], quadratic[INERTIA];

    /* ∂_iJ and G at q are linear: those at rest plus curve · q */
    for (int k = 0; k < SLOPES; k++) /* the derivatives of J are symmetric, those of G antisymmetric */
        sp_small_apply_transposed(b->r, b->r, b->inertia->curve + (int64_t)k * b->r * b->r, at->q,
                                  at->slope + k * b->r);
    for (int k = 0; k < SLOPES * b->r; k++)
        at->slope[k] = b->inertia->slope[k] + (k < INERTIA * b->r ? at->slope[k] : -at->slope[k]);

    /* J is quadratic: J(q) = J(0) + ½ (∂J(0) + ∂J(q)) q */
    sp_small_apply(INERTIA, b->r, b->inertia->slope, at->q, linear);
    sp_small_apply(INERTIA, b->r, at->slope, at->q, quadratic);
    for (int k = 0; k < INERTIA; k++)
        at->J[k] += 0.5 * (linear[k] + quadratic[k]);
}

void sp_free_set_deformation_momentum(const sp_free_body *b, instant *at, double Gqdot[3])
{
    const double *G = at->slope + INERTIA * b->r;
    Gqdot[0] = Gqdot[1] = Gqdot[2] = 0;
    if (b->r == 0)
        return;

    sp_small_apply_transposed(b->r, b->r, b->inertia->M, at->qdot, at->p);
    if (!b->coupled)
        return;

    /* Π = J Ω + G q̇, p = Gᵀ Ω + M̃ q̇ */
    sp_small_apply(3, b->r, G, at->qdot, Gqdot);
    for (int i = 0; i < b->r; i++)
        at->p[i] += at->Omega[0] * G[i] + at->Omega[1] * G[b->r + i] + at->Omega[2] * G[2 * b->r + i];

    for (int c = 0; c < 3; c++)
        sp_small_apply_transposed(b->r, b->r, b->inertia->curve + (int64_t)(INERTIA + c) * b->r * b->r, at->qdot,
                                  at->dG_qdot + c * b->r);
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
    /* G q̇ does not depend on Ω, but p does. */
    sp_free_set_deformation_momentum(b, at, Gqdot);
}
