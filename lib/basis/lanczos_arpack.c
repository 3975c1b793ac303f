#include "basis/lanczos.h"

#include "base/random.h"

#include <arpack/arpack.h>
#include <limits.h>
#include <math.h>
#include <string.h>

enum { RANDOM_START = 1 };

int sp_lanczos_arpack(sp_inverted *p, int64_t wanted, double tolerance, double *eigenvalue)
{
    sp_context *context = p->context;
    sp_pool scratch = {0};
    int status = SP_OK;
    int64_t n = p->n, space_left = n - p->known;
    int64_t ncv = 2 * wanted + 10 < space_left ? 2 * wanted + 10 : space_left;

    if (wanted >= space_left || n > INT_MAX || ncv > 20000)
        return sp_fail(context, SP_USAGE, "%lld modes of a body with %lld free directions are too many",
                       (long long)(wanted + p->known), (long long)n);

    double *resid = sp_pool_raw(&scratch, n, sizeof *resid), *v = sp_pool_raw(&scratch, n * ncv, sizeof *v),
           *workd = sp_pool_new(&scratch, 3 * n, sizeof *workd);
    double *workl = sp_pool_new(&scratch, ncv * (ncv + 8), sizeof *workl),
           *d = sp_pool_new(&scratch, wanted, sizeof *d), *z = sp_pool_raw(&scratch, n, sizeof *z);
    a_int *select = sp_pool_new(&scratch, ncv, sizeof *select);

    SP_TRY(sp_allocated(context, !scratch.failed));

    /* Mode 3 requires a start vector in the range of the operator. */
    for (int64_t i = 0; i < n; i++)
        z[i] = sp_random_normal(context->seed, RANDOM_START, (uint64_t)(p->known * n + i));
    sp_sparse_times(context, p->M, 1, z, workd);
    SP_TRY(sp_inverted_apply(p, 1, z, workd, resid));

    a_int ido = 0, info = 1, iparam[11] = {1, 0, 3000, 1, 0, 0, 3}, ipntr[11] = {0};

    /* ARPACK asks for y = (K − σM)⁻¹M x (−1, or 1 if it has M x) or y = M x (2). */
    for (;;) {
        dsaupd_c(&ido, "G", (a_int)n, "LM", (a_int)wanted, tolerance, resid, (a_int)ncv, v, (a_int)n, iparam, ipntr,
                 workd, workl, (a_int)(ncv * (ncv + 8)), &info);

        double *x = workd + ipntr[0] - 1, *y = workd + ipntr[1] - 1;
        if (ido == -1) {
            sp_sparse_times(context, p->M, 1, x, z);
            SP_TRY(sp_inverted_apply(p, 1, x, z, y));
        } else if (ido == 1)
            SP_TRY(sp_inverted_apply(p, 1, x, workd + ipntr[2] - 1, y));
        else if (ido == 2)
            sp_sparse_times(context, p->M, 1, x, y);
        else
            break;

        SP_TRY(sp_progress(context, 0));
    }

    if (info != 0 || iparam[4] < wanted) {
        status = sp_fail(context, SP_NUMERICAL, "Lanczos found %d of %lld modes (ARPACK code %d)", (int)iparam[4],
                         (long long)wanted, (int)info);
        goto done;
    }

    dseupd_c(1, "A", select, d, v, (a_int)n, p->shift, "G", (a_int)n, "LM", (a_int)wanted, tolerance, resid, (a_int)ncv,
             v, (a_int)n, iparam, ipntr, workd, workl, (a_int)(ncv * (ncv + 8)), &info);
    if (info != 0) {
        status = sp_fail(context, SP_NUMERICAL, "Lanczos vectors cannot be extracted (ARPACK code %d)", (int)info);
        goto done;
    }

    memcpy(eigenvalue, d, (size_t)wanted * sizeof *d);
    p->next = INFINITY;
    p->near = -INFINITY;

    memcpy(p->vectors + p->known * n, v, (size_t)(wanted * n) * sizeof *v);
    sp_inverted_add_known(p, wanted);
done:
    sp_pool_free(&scratch);
    return status;
}
