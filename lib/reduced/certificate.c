/* Evaluation; construction is apart, because it needs factorizations and readers of files do not. */
#include "reduced/certificate.h"

#include "reduced/cubic.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

int64_t sp_certificate_columns(int64_t r, int64_t loads)
{
    return 2 * r + 3 + loads + r * (r + 1) / 2 + sp_cubic_triples(r);
}

void sp_certificate_free(sp_certificate *certificate)
{
    sp_pool_free(&certificate->pool);
    *certificate = (sp_certificate){0};
}

/* −(monomial + β rate of it) of each pair and triple. */
static void monomials(const sp_certificate_state *s, int64_t r, double *to)
{
    const double *q = s->q, *v = s->rate;
    const double beta = v ? s->damping_stiffness : 0;

    for (int64_t i = 0; i < r; i++)
        for (int64_t j = i; j < r; j++)
            *to++ = -(q[i] * q[j] + (v ? beta * (v[i] * q[j] + q[i] * v[j]) : 0));

    for (int64_t i = 0; i < r; i++)
        for (int64_t j = i; j < r; j++) {
            const double p = q[i] * q[j], rate = v ? beta * (v[i] * q[j] + q[i] * v[j]) : 0;
            for (int64_t k = j; k < r; k++)
                *to++ = -(p * q[k] + (v ? rate * q[k] + beta * p * v[k] : 0));
        }
}

static double norm(int64_t count, const double *x)
{
    return sqrt(cblas_ddot((int)count, x, 1, x, 1));
}

void sp_certificate_evaluate(const sp_certificate *c, const sp_certificate_state *s, double *work,
                             sp_certificate_norms *norms)
{
    const int64_t r = c->r, columns = sp_certificate_columns(r, c->loads.count);

    /* ‖Uq‖_K is the norm of the first r columns of S times q, which are those of U. */
    memcpy(work, s->q, (size_t)r * sizeof *work);
    cblas_dtrmv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)r, c->factor, (int)columns, work, 1);
    norms->strain = norm(r, work);

    /* R = Σ c_k G_k has the coefficients −(q + βq̇) of K U, −(q̈ + αq̇) of M U, the loads and the monomials, in the
     * order of the columns. */
    for (int64_t i = 0; i < r; i++) {
        work[i] = -s->q[i] - (s->rate ? s->damping_stiffness * s->rate[i] : 0);
        work[r + i] = s->acceleration ? -s->acceleration[i] : 0;
    }
    memcpy(work + 2 * r, s->load, (size_t)(3 + c->loads.count) * sizeof *work);
    monomials(s, r, work + 2 * r + 3 + c->loads.count);

    /* ‖R‖_K⁻¹ = ‖S c‖, where the first r entries are the part of R in the reduced equation. */
    cblas_dtrmv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)columns, c->factor, (int)columns, work, 1);
    norms->quadrature = norm(r, work);
    norms->basis = norm(columns - r, work + r);
}
