#include "cubature/cubature.h"

#include <math.h>

void sp_cubature_free(sp_cubature *cubature)
{
    sp_pool_free(&cubature->pool);
    *cubature = (sp_cubature){0};
}

static int check_weights(sp_context *context, const sp_cubature *cubature, const char *name, const double *weight)
{
    int64_t columns = cubature->modal ? cubature->r : 1;
    if (!weight)
        return SP_OK;

    for (int64_t k = 0; k < cubature->count * columns; k++)
        if (!(weight[k] >= 0 && isfinite(weight[k])))
            return sp_fail(context, SP_INPUT, "%s: entry %lld is %g: weights are finite and not negative", name,
                           (long long)k, weight[k]);
    return SP_OK;
}

int sp_cubature_check(sp_context *context, const sp_cubature *cubature, int64_t elements)
{
    if (cubature->r < 1 || cubature->count < 1)
        return sp_fail(context, SP_INPUT, "cubature of %lld elements in %lld coordinates", (long long)cubature->count,
                       (long long)cubature->r);

    for (int64_t k = 0; k < cubature->count; k++) {
        if (cubature->element[k] < 0 || cubature->element[k] >= elements)
            return sp_fail(context, SP_INPUT, "element: entry %lld names element %lld of %lld", (long long)k,
                           (long long)cubature->element[k], (long long)elements);
        if (k > 0 && cubature->element[k] <= cubature->element[k - 1])
            return sp_fail(context, SP_INPUT, "element: entry %lld does not increase", (long long)k);
    }

    int status = check_weights(context, cubature, "weight", cubature->weight);
    return status == SP_OK ? check_weights(context, cubature, "nested", cubature->nested) : status;
}
