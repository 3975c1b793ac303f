#include "reduced/linear.h"

#include "assembly/elastic.h"
#include "linear/dense.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

typedef struct linear {
    int r;
    double *K, *f;
} linear;

static double evaluate(void *self, const double *q, bool definite, double *f, double *K)
{
    const linear *l = self;
    double *force = f ? f : l->f;
    (void)definite; /* K has no definite variant */

    /* f = K q, W = ½ qᵀf */
    cblas_dsymv(CblasColMajor, CblasLower, l->r, 1, l->K, l->r, q, 1, 0, force, 1);
    if (K)
        memcpy(K, l->K, (size_t)l->r * (size_t)l->r * sizeof *K);
    return 0.5 * cblas_ddot(l->r, q, 1, force, 1);
}

static void destroy(void *self)
{
    linear *l = self;
    free(l->K);
    free(l->f);
    free(l);
}

int sp_linear_force_new(sp_context *context, int64_t r, const double *K, sp_reduced_force *force)
{
    linear *l = calloc(1, sizeof *l);

    if (r < 1 || r > 10000) {
        free(l);
        return sp_fail(context, SP_USAGE, "a linear force of %lld coordinates", (long long)r);
    }

    if (l) {
        l->r = (int)r;
        l->K = malloc((size_t)(r * r) * sizeof *K);
        l->f = malloc((size_t)r * sizeof *K);
    }

    if (!l || !l->K || !l->f) {
        if (l)
            destroy(l);
        return sp_fail_memory(context);
    }

    memcpy(l->K, K, (size_t)(r * r) * sizeof *K);
    *force = (sp_reduced_force){
        .self = l, .r = r, .together = true, .cubic = true, .evaluate = evaluate, .destroy = destroy};
    return SP_OK;
}

int sp_reduced_stiffness(sp_context *context, const sp_fe_space *space, int64_t r, const double *U, double *K)
{
    int64_t rows = 3 * space->mesh->vertex_count;
    sp_pool scratch = {0};
    double *rest = sp_pool_new(&scratch, rows, sizeof *rest), *product = sp_pool_raw(&scratch, rows, sizeof *product);
    int status = sp_allocated(context, !scratch.failed);

    /* K_ij = u_i · K(0) u_j */
    for (int64_t j = 0; status == SP_OK && j < r; j++) {
        sp_elastic_tangent_times(context, space, rest, U + j * rows, product);
        for (int64_t i = 0; i <= j; i++)
            K[i * r + j] = K[j * r + i] = sp_dense_dot(rows, U + i * rows, product);
    }
    sp_pool_free(&scratch);
    return status;
}
