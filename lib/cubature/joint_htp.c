/* Hard thresholding pursuit (von Tycowicz et al. 2013), a baseline for least squares over all elements
 * (cubature/joint.h). */
#include "cubature/joint_internal.h"

#include "linear/nnls.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

int sp_joint_fit_support(sp_joint_trainer *t, sp_pool *pool, int64_t count, sp_joint_pursuit *p)
{
    sp_nnls_report fit;

    qsort(t->list, (size_t)count, sizeof *t->list, sp_compare_integers);
    sp_pool_drop(pool, p->element);
    sp_pool_drop(pool, p->weight);
    sp_pool_drop(pool, p->columns);

    p->count = count;
    p->element = sp_pool_copy(pool, t->list, count, sizeof *p->element);
    p->weight = sp_pool_new(pool, count, sizeof *p->weight);
    p->columns = sp_pool_raw(pool, t->rows * count, sizeof *p->columns);

    SP_PASS(sp_allocated(t->context, !pool->failed));

    SP_PASS(sp_training_columns(t->training, count, p->element, p->columns));
    SP_PASS(sp_nnls(t->context, t->rows, count, p->columns, t->rows, sp_training_target(t->training),
                    &(sp_nnls_parameters){0}, p->weight, &fit));

    /* ρ = b − A w */
    memcpy(p->residual, sp_training_target(t->training), (size_t)t->rows * sizeof *p->residual);
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)t->rows, (int)count, -1, p->columns, (int)t->rows, p->weight, 1, 1,
                p->residual, 1);

    p->error = t->part * fit.residual;
    t->report->rounds++;
    return SP_OK;
}

/* Writes the support after a gradient step in the weights of normalized columns to t->list; returns its size. */
static int64_t next_support(sp_joint_trainer *t, const sp_joint_pursuit *p, int64_t size, double *work, int *status)
{
    *status = sp_joint_price_all(t, p->residual);
    if (*status != SP_OK)
        return 0;

    /* The exact line search along the gradient on the support. Without a support the step is 1, since columns are
     * normalized. */
    double along = 0, step = 1;

    memset(work, 0, (size_t)t->rows * sizeof *work);
    for (int64_t k = 0; k < p->count; k++) {
        double norm = t->norm[p->element[k]], g = norm > 0 ? t->product[p->element[k]] / norm : 0;
        along += g * g;
        if (norm > 0)
            cblas_daxpy((int)t->rows, g / norm, p->columns + k * t->rows, 1, work, 1);
    }

    /* step = ‖g‖² / ‖A g‖² */
    double across = cblas_ddot((int)t->rows, work, 1, work, 1);
    if (along > 1e-20 * t->size * t->size && across > 0)
        step = along / across;

    /* The weights after the step, of which the largest positive ones are the next support. */
    int64_t found = 0, inside = 0;
    for (int64_t e = 0; e < t->elements; e++) {
        while (inside < p->count && p->element[inside] < e)
            inside++;

        double norm = t->norm[e], weight = inside < p->count && p->element[inside] == e ? p->weight[inside] * norm : 0;
        if (norm > 0 && weight + step * t->product[e] / norm > 0)
            t->best[found++] = (sp_joint_scored){.score = weight + step * t->product[e] / norm, .element = e};
    }

    qsort(t->best, (size_t)found, sizeof *t->best, sp_joint_compare_scored);
    for (int64_t k = 0; k < found && k < size; k++)
        t->list[k] = t->best[k].element;
    return found < size ? found : size;
}

int sp_joint_train_htp(sp_joint_trainer *t, sp_pool *pool, sp_joint_pursuit *p)
{
    enum { STEPS = 10 };
    const sp_cubature_parameters *parameters = t->parameters;
    int64_t most = parameters->most > 0 ? parameters->most : t->elements, size = parameters->tolerance > 0 ? 4 : most;
    double *work = sp_pool_raw(pool, t->rows, sizeof *work);
    int status = SP_OK;

    p->residual = sp_pool_copy(pool, sp_training_target(t->training), t->rows, sizeof *p->residual);
    p->error = t->part;

    SP_PASS(sp_allocated(t->context, !pool->failed));

    for (;; size += size / 4 > 1 ? size / 4 : 1) {
        /* At most STEPS steps with each number of elements, which then grows by a quarter. */
        size = size > most ? most : size;

        for (int step = 0; step < STEPS; step++) {
            double before = p->error;
            int64_t count = sp_joint_known_round(t);

            if (count < 0) {
                count = next_support(t, p, size, work, &status);
                if (status != SP_OK)
                    return status;
                sp_joint_log_round(t, count);
            }

            /* At the minimum no element helps. */
            if (count == 0)
                return SP_OK;

            SP_TRY(sp_joint_fit_support(t, pool, count, p));
            SP_TRY(sp_joint_show_progress(t, p->error, count));

            if (parameters->tolerance > 0 && p->error <= parameters->tolerance) {
                t->report->reached = true;
                return SP_OK;
            }

            /* The error does not fall further with this number of elements. */
            if (step > 0 && p->error > 0.99 * before)
                break;
        }

        if (size == most) {
            t->report->reached = parameters->tolerance == 0;
            return SP_OK;
        }
    }
done:
    return status;
}
