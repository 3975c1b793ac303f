#include "basis/sketch.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 64 }; /* number of columns multiplied by the mass at a time */

int sp_mass_distances(sp_context *context, const sp_metric *metric, int64_t count, const double *A, double *distance)
{
    int64_t rows = metric->rows, n = count + 1;
    sp_pool scratch = {0};
    double *product = sp_pool_raw(&scratch, rows * BLOCK, sizeof *product),
           *gram = sp_pool_raw(&scratch, count * BLOCK, sizeof *gram);
    double *work = sp_pool_raw(&scratch, metric->diagonal ? 1 : 2 * metric->matrix->order * BLOCK, sizeof *work);
    double *inner = sp_pool_raw(&scratch, sp_dense_inner_work(count, BLOCK), sizeof *inner),
           *square = sp_pool_new(&scratch, n, sizeof *square);
    int status = scratch.failed ? sp_fail_memory(context) : sp_dense_fits(context, rows, n);

    for (int64_t first = 0; first < count && status == SP_OK; first += BLOCK) {
        int64_t width = count - first < BLOCK ? count - first : BLOCK;
        sp_metric_times(context, metric, width, A + first * rows, product, work);
        sp_dense_inner(context, rows, count, A, width, product, gram, inner);

        for (int64_t c = 0; c < width; c++) {
            memcpy(distance + (first + c) * n, gram + c * count, (size_t)count * sizeof *gram);
            square[first + c] = gram[c * count + first + c];
            if (!(square[first + c] >= 0 && square[first + c] <= 1e300))
                status = sp_fail(context, SP_NUMERICAL, "the square of the mass norm of sample %lld is %g",
                                 (long long)(first + c), square[first + c]);
        }
    }

    /* ‖A_i − A_j‖² = G_ii + G_jj − G_ij − G_ji, where the rest state has G = 0 */
    for (int64_t i = 0; i < n && status == SP_OK; i++)
        for (int64_t j = 0; j <= i; j++) {
            double products = i < count ? distance[i * n + j] + distance[j * n + i] : 0;
            distance[i * n + j] = distance[j * n + i] = i == j ? 0 : sqrt(fmax(0, square[i] + square[j] - products));
        }

    sp_pool_free(&scratch);
    return status;
}

/* The state of the thinning; sample `count` is the rest state. */
typedef struct thinning {
    int64_t count;
    const double *distance;
    double separation;
    bool *alive;     /* [count + 1] */
    double *density; /* [count] */
    int64_t *close;  /* [count] number of remaining neighbours closer than the separation */
} thinning;

static double kernel(const thinning *t, double d)
{
    double x = 1 - d * d / (4 * t->separation * t->separation);
    return d < 2 * t->separation ? x * x : 0;
}

/* Adds the contribution of a sample to the density of all others, or subtracts it (sign −1). */
static void add_density(thinning *t, int64_t sample, int sign)
{
    const double *distance = t->distance + sample * (t->count + 1);
    for (int64_t i = 0; i < t->count; i++)
        if (i != sample) {
            t->density[i] += sign * kernel(t, distance[i]);
            t->close[i] += distance[i] < t->separation ? sign : 0;
        }
}

/* The next sample to be removed, or −1. Densities that agree to rounding count as equal; of these the last sample is
 * removed. */
static int64_t densest(const thinning *t)
{
    int64_t found = -1;
    for (int64_t i = 0; i < t->count; i++)
        if (t->alive[i] && t->close[i] > 0 &&
            (found < 0 || t->density[i] >= t->density[found] - 1e-9 * fabs(t->density[found])))
            found = i;
    return found;
}

/* Updates the distance of every sample to the nearest selected one, after `sample` has been selected. */
static void approach(const thinning *t, int64_t sample, double *nearest)
{
    for (int64_t i = 0; i < t->count; i++)
        nearest[i] = fmin(nearest[i], t->distance[sample * (t->count + 1) + i]);
}

/* The farthest candidate that is at least `least` away from all selected samples, or −1; of equal ones the first. */
static int64_t farthest(const thinning *t, const bool *candidate, const double *nearest, double least)
{
    int64_t found = -1;
    for (int64_t i = 0; i < t->count; i++)
        if (candidate[i] && nearest[i] >= least && (found < 0 || nearest[i] > nearest[found] * (1 + 1e-9)))
            found = i;
    return found;
}

static void thin_out(thinning *t, bool *candidate, double *nearest)
{
    for (int64_t i = 0; i <= t->count; i++)
        add_density(t, i, 1);

    for (int64_t i; (i = densest(t)) >= 0;) {
        t->alive[i] = false;
        add_density(t, i, -1);
    }

    /* Samples whose close neighbours were all removed may come back. */
    for (int64_t i = 0; i < t->count; i++) {
        nearest[i] = INFINITY;
        candidate[i] = !t->alive[i];
    }

    for (int64_t i = 0; i <= t->count; i++)
        if (t->alive[i])
            approach(t, i, nearest);

    for (int64_t i; (i = farthest(t, candidate, nearest, t->separation)) >= 0;) {
        t->alive[i] = true;
        candidate[i] = false;
        approach(t, i, nearest);
    }
}

/* Keeps the `most` samples that are farthest apart. */
static void select_farthest(thinning *t, int64_t most, bool *candidate, double *nearest)
{
    for (int64_t i = 0; i < t->count; i++) {
        nearest[i] = INFINITY;
        candidate[i] = t->alive[i];
        t->alive[i] = false;
    }

    /* The rest state counts as selected, so that the first sample is the farthest from rest. */
    approach(t, t->count, nearest);

    for (int64_t taken = 0, i; taken < most && (i = farthest(t, candidate, nearest, 0)) >= 0; taken++) {
        t->alive[i] = true;
        candidate[i] = false;
        approach(t, i, nearest);
    }
}

int sp_separate(sp_context *context, int64_t count, const double *distance, double separation, int64_t most,
                int64_t *kept, int64_t *kept_count)
{
    sp_pool scratch = {0};
    thinning t = {.count = count,
                  .distance = distance,
                  .separation = separation,
                  .alive = sp_pool_new(&scratch, count + 1, sizeof(bool)),
                  .density = sp_pool_new(&scratch, count, sizeof(double)),
                  .close = sp_pool_new(&scratch, count, sizeof(int64_t))};
    bool *candidate = sp_pool_new(&scratch, count, sizeof *candidate);
    double *nearest = sp_pool_new(&scratch, count, sizeof *nearest);

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    memset(t.alive, true, (size_t)count + 1);
    if (separation > 0)
        thin_out(&t, candidate, nearest);
    if (most > 0)
        select_farthest(&t, most, candidate, nearest);

    *kept_count = 0;
    for (int64_t i = 0; i < count; i++)
        if (t.alive[i])
            kept[(*kept_count)++] = i;
    sp_pool_free(&scratch);
    return SP_OK;
}
