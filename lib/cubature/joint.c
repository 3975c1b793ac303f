#include "cubature/joint_internal.h"

#include "base/random.h"
#include "cubature/exchange.h"
#include "linear/dense.h"
#include "linear/nnls.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MINIMUM = 1e-10; /* KKT residual at which the minimum is reached */

int sp_joint_compare_scored(const void *a, const void *b)
{
    const sp_joint_scored *x = a, *y = b;
    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return (x->element > y->element) - (x->element < y->element);
}

int64_t sp_joint_known_round(sp_joint_trainer *t)
{
    const sp_cubature_log *log = t->parameters->log;

    if (!log || !t->replaying)
        return -1;

    /* The elements of the round, followed by the number of passes. */
    int64_t count = log->next(log->data, t->list, t->elements + 1) - 1;
    t->replaying = count >= 0;
    if (t->replaying)
        t->report->passes = t->list[count];
    return t->replaying ? count : -1;
}

void sp_joint_log_round(sp_joint_trainer *t, int64_t count)
{
    const sp_cubature_log *log = t->parameters->log;
    if (!log)
        return;
    t->list[count] = t->report->passes;
    log->add(log->data, count + 1, t->list);
}

int sp_joint_price_all(sp_joint_trainer *t, const double *rho)
{
    int status = sp_training_products(t->training, rho, t->elements, NULL, t->product, t->norms_known ? NULL : t->norm);
    t->norms_known |= status == SP_OK;
    t->report->passes++;
    return status;
}

/* Computes scores a_e·ρ / (‖a_e‖ ‖b‖) of the `count` elements in t->list and writes the positive ones of elements
 * outside the working set to t->best, best first. Returns their number, or −1 with *status. */
static int64_t score(sp_joint_trainer *t, const double *rho, int64_t count, int *status)
{
    bool all = count == t->elements;
    *status = all ? sp_joint_price_all(t, rho)
                  : sp_training_products(t->training, rho, count, t->list, t->product, t->some_norms);
    if (*status != SP_OK)
        return -1;

    int64_t found = 0;
    for (int64_t k = 0; k < count; k++) {
        int64_t e = t->list[k];
        double size = (all ? t->norm[e] : t->some_norms[k]) * t->size;
        if (!t->inside[e] && size > 0 && t->product[k] > 0)
            t->best[found++] = (sp_joint_scored){.score = t->product[k] / size, .element = e};
    }

    qsort(t->best, (size_t)found, sizeof *t->best, sp_joint_compare_scored);
    return found;
}

static void list_all(sp_joint_trainer *t)
{
    for (int64_t e = 0; e < t->elements; e++)
        t->list[e] = e;
}

/* Lists `count` different elements outside the working set, by a shuffle of which only the beginning is carried out. */
static int64_t list_random(sp_joint_trainer *t, int64_t count, int64_t round)
{
    int64_t outside = 0;
    for (int64_t e = 0; e < t->elements; e++)
        if (!t->inside[e])
            t->list[outside++] = e;

    if (count >= outside)
        return outside;

    for (int64_t k = 0; k < count; k++) {
        int64_t other = k + (int64_t)(sp_random_uniform(t->context->seed, (uint64_t)(1000000 + round), (uint64_t)k) *
                                      (double)(outside - k));
        int64_t element = t->list[other];
        t->list[other] = t->list[k];
        t->list[k] = element;
    }
    return count;
}

static int offer(sp_joint_trainer *t, sp_nnls_set *set, int64_t count)
{
    sp_pool scratch = {0};
    double *columns = sp_pool_raw(&scratch, t->rows * count, sizeof *columns);
    int status = columns ? sp_training_columns(t->training, count, t->list, columns) : sp_fail_memory(t->context);
    if (status == SP_OK)
        status = sp_nnls_set_add(set, count, columns, t->list);

    sp_pool_free(&scratch);
    if (status != SP_OK)
        return status;

    for (int64_t k = 0; k < count; k++)
        t->inside[t->list[k]] = 1;
    return SP_OK;
}

/* Removes elements without weight from the working set. */
static void drop_unused(sp_joint_trainer *t, sp_nnls_set *set)
{
    for (int64_t k = 0; k < sp_nnls_set_count(set); k++)
        t->inside[sp_nnls_set_ids(set)[k]] = sp_nnls_set_weights(set)[k] > 0;
    sp_nnls_set_drop(set);
}

int sp_joint_show_progress(sp_joint_trainer *t, double error, int64_t count)
{
    const sp_cubature_parameters *p = t->parameters;

    double by_error = p->tolerance > 0 && error > 0 ? log(error) / log(fmin(p->tolerance, 0.999)) : 0,
           by_count = p->most > 0 ? (double)count / (double)p->most : 0;
    return sp_progress(t->context, fmin(1, fmax(0, fmax(by_error, by_count))));
}

/* Returns true if the tolerance is met or the largest number of elements is reached. */
static bool is_enough(sp_joint_trainer *t, const sp_nnls_report *fit)
{
    const sp_cubature_parameters *p = t->parameters;
    const bool met = p->tolerance > 0 && fit->positive > 0 && t->part * fit->residual <= p->tolerance,
               full = p->most > 0 && fit->positive >= p->most;

    if (met || full)
        t->report->reached = met || p->tolerance == 0;
    return met || full;
}

/* Returns true if no element lowers the error any more: the best score is at the minimum. */
static bool is_minimum(sp_joint_trainer *t, int64_t found)
{
    if (found > 0 && !(t->best[0].score <= MINIMUM))
        return false;
    t->report->reached = t->parameters->tolerance == 0;
    return true;
}

/* Adds one element at a time. */
static int train_greedy(sp_joint_trainer *t, sp_nnls_set *set)
{
    const sp_cubature_parameters *p = t->parameters;
    sp_nnls_parameters minimum = {0};
    sp_nnls_report fit = {.residual = 1};
    int status = SP_OK;

    for (int64_t round = 0;; round++) {
        if (is_enough(t, &fit))
            break;

        if (sp_joint_known_round(t) < 0) {
            int64_t asked = p->candidates > 0 ? list_random(t, p->candidates, round) : t->elements;
            bool all = p->candidates == 0;

            if (all)
                list_all(t);

            int64_t found = score(t, sp_nnls_set_residual(set), asked, &status);
            /* If no element of the subset helps, all elements are scored before giving up. */
            if (found == 0 && !all && asked > 0) {
                list_all(t);
                found = score(t, sp_nnls_set_residual(set), t->elements, &status);
            }

            if (status != SP_OK)
                return status;

            if (is_minimum(t, found))
                break;

            t->list[0] = t->best[0].element;
            sp_joint_log_round(t, 1);
        }

        /* All weights are fitted anew, and elements that have lost theirs leave. */
        SP_TRY(offer(t, set, 1));
        SP_TRY(sp_nnls_set_solve(set, &minimum, &fit));
        drop_unused(t, set);

        t->report->rounds++;
        SP_TRY(sp_joint_show_progress(t, t->part * fit.residual, fit.positive));
    }
done:
    return status;
}

/* Scores all elements together. */
static int train_nnls(sp_joint_trainer *t, sp_nnls_set *set)
{
    enum { MOST_OFFERED = 256 };
    /* Elements with at least the first fraction of the best score enter the working set, which is solved until its best
     * score falls below the second. */
    const double entering_fraction = 0.3, leaving_fraction = 0.5;
    const sp_cubature_parameters *p = t->parameters;
    sp_nnls_report fit = {.residual = 1};
    int status = SP_OK;
    for (;;) {
        if (is_enough(t, &fit))
            break;

        int64_t count = sp_joint_known_round(t);
        if (count < 0) {
            list_all(t);
            int64_t found = score(t, sp_nnls_set_residual(set), t->elements, &status);
            if (status != SP_OK)
                return status;

            if (is_minimum(t, found))
                break;

            for (count = 0;
                 count < found && count < MOST_OFFERED && t->best[count].score >= entering_fraction * t->best[0].score;
                 count++)
                t->list[count] = t->best[count].element;

            sp_joint_log_round(t, count);
        }

        SP_TRY(offer(t, set, count));

        /* The best score of the set is computed from the set itself, so that it is the same in a replayed round. */
        double best = 0;
        const double *added = sp_nnls_set_columns(set) + (sp_nnls_set_count(set) - count) * t->rows;
        for (int64_t k = 0; k < count; k++) {
            double size = cblas_dnrm2((int)t->rows, added + k * t->rows, 1) * t->size;
            best = fmax(best, cblas_ddot((int)t->rows, added + k * t->rows, 1, sp_nnls_set_residual(set), 1) / size);
        }

        /* If the tolerance is met without any element, one is enough. */
        bool needless = p->tolerance >= t->part;
        /* The set is solved until an element outside might be better than its best candidate. */
        sp_nnls_parameters bounds = {.tolerance = needless ? 0 : p->tolerance / t->part,
                                     .most = needless ? 1 : p->most,
                                     .least = leaving_fraction * best};

        SP_TRY(sp_nnls_set_solve(set, &bounds, &fit));
        drop_unused(t, set);

        t->report->rounds++;
        SP_TRY(sp_joint_show_progress(t, t->part * fit.residual, fit.positive));
    }
done:
    return status;
}

/* ---- exchanges ---- */

/* Returns how many elements of t->list, which is increasing and as long as the support, are not in the support. */
static int64_t count_new(const sp_joint_trainer *t, const sp_joint_pursuit *p)
{
    int64_t count = 0;
    for (int64_t k = 0, i = 0; k < p->count; k++) {
        while (i < p->count && p->element[i] < t->list[k])
            i++;
        count += i == p->count || p->element[i] != t->list[k];
    }
    return count;
}

/* Sweeps over the support until a sweep gains little. A sweep is one round of the log, since it depends on the support
 * alone. */
static int exchange(sp_joint_trainer *t, sp_pool *pool, sp_joint_pursuit *p)
{
    const double little = 0.01; /* relative decrease of the error */
    sp_exchange *work = NULL;
    int status = SP_OK;
    for (int64_t sweep = 0; sweep < t->parameters->exchanges; sweep++) {
        const double before = p->error;

        if (sp_joint_known_round(t) < 0) {
            if (!work)
                SP_TRY(sp_exchange_new(t->context, t->training, t->elements, t->parameters->memory, &work));

            const int64_t passes = sp_exchange_passes(work);
            memcpy(t->list, p->element, (size_t)p->count * sizeof *t->list);
            SP_TRY(sp_exchange_sweep(work, p->count, t->list));
            t->report->passes += sp_exchange_passes(work) - passes;
            sp_joint_log_round(t, p->count);
        }

        /* A sweep that changes nothing, or gains little, is the last one. */
        const int64_t exchanged = count_new(t, p);
        SP_TRY(sp_joint_fit_support(t, pool, p->count, p));
        t->report->exchanged += exchanged;

        if (exchanged == 0 || p->error > (1 - little) * before)
            break;
    }

    const double tolerance = t->parameters->tolerance;
    t->report->reached = t->report->reached || (tolerance > 0 && p->error <= tolerance);
done:
    sp_exchange_free(work);
    return status;
}

/* Sets the support to the elements with weight in a working set. */
static int set_support(sp_joint_trainer *t, sp_pool *pool, const sp_nnls_set *set, sp_joint_pursuit *p)
{
    int64_t count = 0;
    for (int64_t k = 0; k < sp_nnls_set_count(set); k++)
        if (sp_nnls_set_weights(set)[k] > 0)
            t->list[count++] = sp_nnls_set_ids(set)[k];

    p->residual = sp_pool_raw(pool, t->rows, sizeof *p->residual);
    SP_PASS(sp_allocated(t->context, !pool->failed));
    return sp_joint_fit_support(t, pool, count, p);
}

/* ---- result ---- */

typedef struct chosen {
    int64_t element;
    double weight;
} chosen;

static int compare_chosen(const void *a, const void *b)
{
    return sp_compare_integers(a, b); /* the element is the first member */
}

static int keep_weights(sp_joint_trainer *t, int64_t count, const int64_t *element, const double *weight,
                        sp_cubature *cubature)
{
    sp_pool scratch = {0};
    chosen *list = sp_pool_raw(&scratch, count, sizeof *list);
    int64_t kept = 0;
    SP_PASS(sp_allocated(t->context, list));

    for (int64_t k = 0; k < count; k++)
        if (weight[k] > 0)
            list[kept++] = (chosen){.element = element[k], .weight = weight[k]};

    cubature->count = kept;
    cubature->element = sp_pool_raw(&cubature->pool, kept, sizeof *cubature->element);
    cubature->weight = sp_pool_raw(&cubature->pool, kept, sizeof *cubature->weight);

    if (cubature->pool.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(t->context);
    }
    qsort(list, (size_t)kept, sizeof *list, compare_chosen);
    for (int64_t k = 0; k < kept; k++) {
        cubature->element[k] = list[k].element;
        cubature->weight[k] = list[k].weight;
    }

    sp_pool_free(&scratch);
    if (kept == 0)
        return sp_fail(t->context, SP_NUMERICAL, "no element helps to fit the forces");
    return SP_OK;
}

/* Computes the embedded weights, and the errors of both sets of weights without any scaling of the fit. */
static int judge(sp_joint_trainer *t, sp_cubature *cubature)
{
    sp_pool scratch = {0};
    int64_t n = cubature->count, half = n > 1 ? (n + 1) / 2 : 1;
    double *columns = sp_pool_raw(&scratch, t->rows * n, sizeof *columns),
           *residual = sp_pool_copy(&scratch, sp_training_target(t->training), t->rows, sizeof *residual);
    int status = sp_allocated(t->context, !scratch.failed);

    if (status != SP_OK)
        goto done;

    SP_TRY(sp_training_columns(t->training, n, cubature->element, columns));
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)t->rows, (int)n, -1, columns, (int)t->rows, cubature->weight, 1, 1,
                residual, 1);

    t->report->error = t->part * cblas_dnrm2((int)t->rows, residual, 1) / t->size;

    /* KKT: |a_e·ρ| for elements of the support, and the positive part of a_e·ρ for all others */
    SP_TRY(sp_joint_price_all(t, residual));
    for (int64_t e = 0, k = 0; e < t->elements; e++) {
        bool inside = k < n && cubature->element[k] == e;
        double miss = inside ? fabs(t->product[e]) : fmax(0, t->product[e]);
        k += inside;
        if (t->norm[e] > 0)
            t->report->kkt = fmax(t->report->kkt, miss / (t->norm[e] * t->size));
    }

    /* The best half of the elements, chosen by the same fit. */
    if (t->parameters->nested) {
        sp_nnls_report fit;
        cubature->nested = sp_pool_new(&cubature->pool, n, sizeof *cubature->nested);
        SP_TRY(sp_allocated(t->context, cubature->nested));

        SP_TRY(sp_nnls(t->context, t->rows, n, columns, t->rows, sp_training_target(t->training),
                       &(sp_nnls_parameters){.most = half}, cubature->nested, &fit));
        t->report->nested_error = t->part * fit.residual;
        t->report->nested_count = fit.positive;
    }
done:
    sp_pool_free(&scratch);
    return status;
}

static int check_parameters(sp_context *context, const sp_cubature_parameters *parameters)
{
    if (parameters->tolerance >= 0 && parameters->tolerance < 1 && parameters->most >= 0 &&
        parameters->candidates >= 0 && parameters->exchanges >= 0)
        return SP_OK;
    return sp_fail(context, SP_USAGE, "cubature: tolerance %g, at most %lld elements, %lld candidates",
                   parameters->tolerance, (long long)parameters->most, (long long)parameters->candidates);
}

int sp_cubature_train(sp_context *context, const sp_fe_space *body, sp_training *training,
                      const sp_cubature_parameters *parameters, sp_cubature *cubature, sp_cubature_report *report)
{
    int64_t elements = sp_mesh_element_count(body->mesh);
    sp_pool scratch = {0};
    sp_joint_trainer t = {.context = context,
                          .training = training,
                          .parameters = parameters,
                          .report = report,
                          .elements = elements,
                          .replaying = true};
    sp_nnls_set *set = NULL;
    int status = check_parameters(context, parameters);

    *report = (sp_cubature_report){0};
    *cubature = (sp_cubature){.r = sp_training_coordinates(training)};
    if (status != SP_OK)
        return status;

    /* Errors are relative to the whole force, of which b may be the nonlinear part. */
    t.rows = sp_training_rows(training);
    t.size = cblas_dnrm2((int)t.rows, sp_training_target(training), 1);
    t.part = t.size / sp_training_whole(training);

    if (t.part < 1e-12)
        return sp_fail(context, SP_INPUT,
                       "the poses are so small that their forces are linear to rounding: there is nothing to fit");

    t.norm = sp_pool_raw(&scratch, elements, sizeof *t.norm);
    t.product = sp_pool_raw(&scratch, elements, sizeof *t.product);
    t.some_norms = sp_pool_raw(&scratch, elements, sizeof *t.some_norms);
    t.list = sp_pool_raw(&scratch, elements + 1, sizeof *t.list);
    t.best = sp_pool_raw(&scratch, elements, sizeof *t.best);
    t.inside = sp_pool_new(&scratch, elements, 1);

    SP_TRY(sp_allocated(context, !scratch.failed));

    sp_joint_pursuit p = {0};
    if (parameters->method == SP_CUBATURE_HTP) {
        SP_TRY(sp_joint_train_htp(&t, &scratch, &p));
    } else {
        SP_TRY(sp_nnls_set_new(context, t.rows, sp_training_target(training), 64, &set));
        SP_TRY(parameters->method == SP_CUBATURE_NNLS ? train_nnls(&t, set) : train_greedy(&t, set));
        if (parameters->exchanges > 0)
            SP_TRY(set_support(&t, &scratch, set, &p));
    }

    if (parameters->exchanges > 0)
        SP_TRY(exchange(&t, &scratch, &p));

    if (parameters->method == SP_CUBATURE_HTP || parameters->exchanges > 0)
        SP_TRY(keep_weights(&t, p.count, p.element, p.weight, cubature));
    else
        SP_TRY(keep_weights(&t, sp_nnls_set_count(set), sp_nnls_set_ids(set), sp_nnls_set_weights(set), cubature));

    SP_TRY(judge(&t, cubature));
done:
    sp_nnls_set_free(set);
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_cubature_free(cubature);
    return status;
}

/* Σ ‖residual_t‖ / Σ ‖f_t‖ over the poses, whose residuals are relative to ‖f_t‖. */
static double mean_deviation(const sp_training *training, const double *residual)
{
    const int64_t r = sp_training_coordinates(training), poses = sp_training_rows(training) / r;
    double above = 0, below = 0;

    for (int64_t t = 0; t < poses; t++) {
        const double size = sp_training_size(training, t);
        above += size * cblas_dnrm2((int)r, residual + t * r, 1);
        below += size;
    }
    return above / below;
}

int sp_cubature_error(sp_context *context, sp_training *training, const sp_cubature *cubature, bool nested,
                      double *error, double *deviation)
{
    enum { WIDTH = 64 };
    int64_t rows = sp_training_rows(training), n = cubature->count, r = cubature->r;
    const double *weight = nested ? cubature->nested : cubature->weight;
    sp_pool scratch = {0};
    double *columns = sp_pool_raw(&scratch, rows * WIDTH, sizeof *columns),
           *residual = sp_pool_copy(&scratch, sp_training_target(training), rows, sizeof *residual);

    int status = sp_allocated(context, !scratch.failed);
    double size = sp_training_whole(training);
    SP_TRY(status);

    for (int64_t first = 0; first < n; first += WIDTH) {
        int64_t count = n - first < WIDTH ? n - first : WIDTH;
        SP_TRY(sp_training_columns(training, count, cubature->element + first, columns));

        /* ρ = b − A w, in modal cubature with a weight for each coordinate */
        for (int64_t k = 0; k < count; k++)
            for (int64_t i = 0; i < rows; i++)
                residual[i] -=
                    columns[k * rows + i] * (cubature->modal ? weight[i % r * n + first + k] : weight[first + k]);
    }

    *error = cblas_dnrm2((int)rows, residual, 1) / size;
    if (deviation)
        *deviation = mean_deviation(training, residual);
done:
    sp_pool_free(&scratch);
    return status;
}
