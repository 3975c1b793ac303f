#include "reduced/viscous.h"

#include "linear/dense.h"
#include "reduced/edit.h"
#include "reduced/quadratic.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

/* ---- polynomials ---- */

typedef struct polynomial {
    sp_pool pool;
    sp_quadratic damping;
    /* [r], [r, r]: the last evaluation, kept since integrators ask for products and the matrix at one point separately
     */
    double *q, *D;
    bool known;
} polynomial;

static void evaluate(polynomial *p, const double *q)
{
    sp_quadratic *m = &p->damping;
    int64_t r = m->r;

    if (p->known && !memcmp(p->q, q, (size_t)r * sizeof *q))
        return;

    sp_quadratic_evaluate(m, q);
    for (int64_t j = 0, at = 0; j < r; j++)
        for (int64_t i = j; i < r; i++, at++)
            p->D[j * r + i] = m->constant[at] + m->first[at] + m->second[at];

    memcpy(p->q, q, (size_t)r * sizeof *q);
    p->known = true;
}

static void polynomial_matrix(void *self, const double *q, double *D)
{
    polynomial *p = self;
    evaluate(p, q);
    memcpy(D, p->D, (size_t)(p->damping.r * p->damping.r) * sizeof *D);
}

static void polynomial_times(void *self, const double *q, const double *v, double *y)
{
    polynomial *p = self;
    evaluate(p, q);
    cblas_dsymv(CblasColMajor, CblasLower, (int)p->damping.r, 1, p->D, (int)p->damping.r, v, 1, 0, y, 1);
}

static void polynomial_destroy(void *self)
{
    sp_pool_free(&((polynomial *)self)->pool);
    free(self);
}

/* A [N, N] with the viscosities instead of the parts' values; NULL, with the status set, if parts are missing. */
static double *viscous_gram(sp_context *context, const sp_polynomials *polynomials, int64_t count,
                            const sp_material *materials, const sp_viscosity *viscosity, sp_pool *pool, int *status)
{
    int64_t N = sp_polynomial_order(polynomials->r);
    double *sum = sp_pool_new(pool, N * N, sizeof *sum);

    *status = sp_allocated(context, sum);
    if (polynomials->symmetrized)
        *status = sp_fail(context, SP_INPUT, "it was made from a force, which does not tell how strain rates damp");

    for (int64_t m = 0; *status == SP_OK && m < count; m++)
        for (int c = 0; c < 2; c++) {
            double value = c ? viscosity[m].psi : viscosity[m].phi;
            int64_t part =
                sp_polynomials_part(polynomials, count, materials, m, c ? SP_CONSTANT_MU : SP_CONSTANT_LAMBDA);

            if (value == 0)
                continue;

            if (part < 0) {
                *status = sp_fail(context, SP_INPUT,
                                  "it does not keep lambda and mu of region %s apart, which is viscous: made with "
                                  "polycoef --by-constant it does",
                                  materials[m].name);
                break;
            }

            for (int64_t i = 0; i < N * N; i++)
                sum[i] += value * polynomials->parts[part].gram[i];
        }
    return *status == SP_OK ? sum : NULL;
}

int sp_polynomial_viscosity(sp_context *context, const sp_polynomials *polynomials, int64_t r, int64_t count,
                            const sp_material *materials, const sp_viscosity *viscosity, sp_reduced_viscosity *reduced)
{
    int64_t full = polynomials->r, N = sp_polynomial_order(full);
    sp_pool scratch = {0};
    int status;

    if (r < 1 || r > full)
        return sp_fail(context, SP_USAGE, "%lld coordinates of a model with %lld", (long long)r, (long long)full);

    const double *gram = viscous_gram(context, polynomials, count, materials, viscosity, &scratch, &status);
    polynomial *p = gram ? calloc(1, sizeof *p) : NULL;
    if (p) {
        sp_quadratic_new(&p->pool, r, false, &p->damping);
        p->q = sp_pool_raw(&p->pool, r, sizeof(double));
        p->D = sp_pool_new(&p->pool, r * r, sizeof(double));
    }

    if (gram && (!p || p->pool.failed)) {
        if (p)
            polynomial_destroy(p);
        status = sp_fail_memory(context);
    }

    if (status != SP_OK) {
        sp_pool_free(&scratch);
        return status;
    }
    sp_quadratic *m = &p->damping;
#define PAIR(i, j) ((i) <= (j) ? sp_polynomial_pair(full, i, j) : sp_polynomial_pair(full, j, i))
#define A(p, q) gram[(q)*N + (p)]

    /* D_ij = A_i,j + q_k (A_i,jk + A_j,ik) + q_k q_l A_ik,jl */
    for (int64_t i = 0, ij = 0; i < r; i++)
        for (int64_t j = i; j < r; j++, ij++) {
            m->constant[ij] = A(i, j);
            for (int64_t k = 0; k < r; k++)
                m->linear[k * m->stride + ij] = A(i, PAIR(j, k)) + A(j, PAIR(i, k));

            /* The mean is symmetric in k and l like their monomial, and so in the two pairs too. */
            for (int64_t k = 0, kl = 0; k < r; k++)
                for (int64_t l = k; l < r; l++, kl++)
                    if (kl <= ij)
                        sp_quadratic_set(m, ij, kl, 0.5 * (A(PAIR(i, k), PAIR(j, l)) + A(PAIR(i, l), PAIR(j, k))));
        }
#undef A
#undef PAIR

    sp_pool_free(&scratch);
    *reduced = (sp_reduced_viscosity){
        .self = p, .r = r, .matrix = polynomial_matrix, .times = polynomial_times, .destroy = polynomial_destroy};
    return SP_OK;
}

/* ---- Galerkin projection ---- */

typedef struct galerkin {
    sp_pool pool;
    sp_context *context;
    const sp_viscous *viscous;
    int64_t r, n;
    double *U, *DU;    /* [n, r] over the free degrees of freedom */
    double *u, *v, *f; /* [3·vertices] */
    double *short_one; /* [n] */
    double *product;   /* [r, r] */
    sp_sparse D;
} galerkin;

/* Full vectors of reduced ones; fixed components stay 0. */
static void expand(galerkin *d, const double *q, double *u)
{
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)d->n, (int)d->r, 1, d->U, (int)d->n, q, 1, 0, d->short_one, 1);
    sp_fe_space_scatter(d->viscous->space, d->short_one, u);
}

static void galerkin_matrix(void *self, const double *q, double *D)
{
    galerkin *d = self;
    int r = (int)d->r, n = (int)d->n;

    expand(d, q, d->u);
    memset(d->D.value, 0, (size_t)d->D.start[d->n] * sizeof(double));

    /* UᵀDU is symmetric up to rounding, which the mean with its transpose removes. */
    sp_viscous_matrix(d->context, d->viscous, d->u, 1, &d->D);
    sp_sparse_times(d->context, &d->D, r, d->U, d->DU);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, r, r, n, 1, d->U, n, d->DU, n, 0, d->product, r);

    for (int j = 0; j < r; j++)
        for (int i = j; i < r; i++)
            D[j * r + i] = 0.5 * (d->product[j * r + i] + d->product[i * r + j]);
}

static void galerkin_times(void *self, const double *q, const double *v, double *y)
{
    galerkin *d = self;

    expand(d, q, d->u);
    expand(d, v, d->v);

    sp_viscous_times(d->context, d->viscous, d->u, d->v, d->f);
    sp_fe_space_gather(d->viscous->space, d->f, d->short_one);
    cblas_dgemv(CblasColMajor, CblasTrans, (int)d->n, (int)d->r, 1, d->U, (int)d->n, d->short_one, 1, 0, y, 1);
}

static void galerkin_destroy(void *self)
{
    galerkin *d = self;
    sp_sparse_free(&d->D);
    sp_pool_free(&d->pool);
    free(d);
}

int sp_galerkin_viscosity(sp_context *context, const sp_viscous *viscous, int64_t r, const double *U,
                          sp_reduced_viscosity *reduced)
{
    const sp_fe_space *space = viscous->space;
    int64_t rows = 3 * space->mesh->vertex_count, n = space->dof_count;

    int status = sp_dense_fits(context, rows, r);
    if (status != SP_OK)
        return status;

    galerkin *d = calloc(1, sizeof *d);
    SP_PASS(sp_allocated(context, d));
    *d = (galerkin){.context = context, .viscous = viscous, .r = r, .n = n};

    SP_TRY(sp_fe_space_matrix(context, space, &d->D));

    d->U = sp_pool_raw(&d->pool, n * r, sizeof(double));
    d->DU = sp_pool_raw(&d->pool, n * r, sizeof(double));
    d->u = sp_pool_new(&d->pool, rows, sizeof(double));
    d->v = sp_pool_new(&d->pool, rows, sizeof(double));
    d->f = sp_pool_raw(&d->pool, rows, sizeof(double));
    d->short_one = sp_pool_raw(&d->pool, n, sizeof(double));
    d->product = sp_pool_raw(&d->pool, r * r, sizeof(double));

    SP_TRY(sp_allocated(context, !d->pool.failed));

    for (int64_t j = 0; j < r; j++)
        sp_fe_space_gather(space, U + j * rows, d->U + j * n);
    *reduced = (sp_reduced_viscosity){
        .self = d, .r = r, .matrix = galerkin_matrix, .times = galerkin_times, .destroy = galerkin_destroy};
done:
    if (status != SP_OK)
        galerkin_destroy(d);
    return status;
}
