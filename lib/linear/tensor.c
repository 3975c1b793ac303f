#include "linear/tensor.h"

#include <math.h>
#include <stdlib.h>

static const double SYMMETRY = 1e-9; /* of the largest entry */

/* An entry on its way to its place. Those with j > k are mirrored: i, k, j. */
typedef struct entry {
    int64_t i, j, k, number;
    double value;
    bool mirrored;
} entry;

/* By place, at one place those as given before the mirrored ones, then as they came. */
static int by_place(const void *left, const void *right)
{
    const entry *a = left, *b = right;
    const int64_t key[5][2] = {
        {a->i, b->i}, {a->j, b->j}, {a->k, b->k}, {a->mirrored, b->mirrored}, {a->number, b->number}};
    int c = 0;
    while (c < 4 && key[c][0] == key[c][1])
        c++;
    return (key[c][0] > key[c][1]) - (key[c][0] < key[c][1]);
}

static entry entry_at(int64_t i, int64_t j, int64_t k, int64_t number, double value)
{
    const bool mirrored = j > k;
    return (entry){i, mirrored ? k : j, mirrored ? j : k, number, value, mirrored};
}

/* The permutations of an entry's indices, without repetitions; returns their number. */
static int64_t permute(int64_t i, int64_t j, int64_t k, int64_t number, double value, entry *to)
{
    static const int order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    const int64_t index[3] = {i, j, k};
    int64_t count = 0;

    for (int p = 0; p < 6; p++) {
        const int64_t a[3] = {index[order[p][0]], index[order[p][1]], index[order[p][2]]};
        bool known = false;
        for (int q = 0; q < p; q++)
            known |= a[0] == index[order[q][0]] && a[1] == index[order[q][1]] && a[2] == index[order[q][2]];
        if (!known)
            to[count++] = entry_at(a[0], a[1], a[2], number, value);
    }
    return count;
}

static int check_entry(sp_context *context, int64_t order, int64_t e, const int64_t index[3], double value)
{
    for (int a = 0; a < 3; a++)
        if (index[a] < 0 || index[a] >= order)
            return sp_fail(context, SP_INPUT, "entry %lld has the index %lld, expected 0 to %lld", (long long)e,
                           (long long)index[a], (long long)order - 1);
    if (!isfinite(value))
        return sp_fail(context, SP_INPUT, "entry %lld is not finite", (long long)e);
    return SP_OK;
}

/* Sums of the entries at one place, sorted [count], as given and mirrored. */
static void add_up(int64_t count, const entry *at, double sum[2])
{
    sum[0] = sum[1] = 0;
    for (int64_t e = 0; e < count; e++)
        sum[at[e].mirrored] += at[e].value;
}

/* With `once` no two entries have the same indices, in whatever order. */
static int check_once(sp_context *context, int64_t count, const entry *sorted)
{
    for (int64_t e = 1; e < count; e++) {
        const entry *a = sorted + e - 1, *b = sorted + e;
        if (a->i == b->i && a->j == b->j && a->k == b->k && a->mirrored == b->mirrored)
            return sp_fail(context, SP_INPUT, "entries %lld and %lld have the same indices, expected each once",
                           (long long)a->number, (long long)b->number);
    }
    return SP_OK;
}

/* Entries at one place become one. */
static int join(sp_context *context, int64_t count, const entry *sorted, sp_tensor *tensor)
{
    double largest = 0, sum[2];
    int64_t places = 0;

    /* The first pass measures the entries, so that the second can tell differences from rounding. */
    for (int pass = 0; pass < 2; pass++) {
        places = 0;
        for (int64_t e = 0, end; e < count; e = end) {
            const entry *at = sorted + e;
            for (end = e + 1;
                 end < count && sorted[end].i == at->i && sorted[end].j == at->j && sorted[end].k == at->k;)
                end++;

            add_up(end - e, at, sum);
            if (at->j == at->k)
                sum[1] = sum[0];

            if (!isfinite(sum[0]) || !isfinite(sum[1]))
                return sp_fail(context, SP_INPUT, "the entries at %lld, %lld, %lld add up to %g", (long long)at->i,
                               (long long)at->j, (long long)at->k, isfinite(sum[0]) ? sum[1] : sum[0]);
            if (pass == 0)
                largest = fmax(largest, fmax(fabs(sum[0]), fabs(sum[1])));
            else if (fabs(sum[0] - sum[1]) > SYMMETRY * largest)
                return sp_fail(context, SP_INPUT,
                               "it is not symmetric in its last two indices: %g at %lld, %lld, %lld, but %g at %lld, "
                               "%lld, %lld",
                               sum[0], (long long)at->i, (long long)at->j, (long long)at->k, sum[1], (long long)at->i,
                               (long long)at->k, (long long)at->j);

            tensor->j[places] = at->j;
            tensor->k[places] = at->k;
            tensor->value[places] = sum[0] / 2 + sum[1] / 2;
            tensor->start[at->i + 1] = ++places;
        }
    }

    for (int64_t i = 0; i < tensor->order; i++)
        if (tensor->start[i + 1] == 0)
            tensor->start[i + 1] = tensor->start[i];
    return SP_OK;
}

int sp_tensor_new(sp_context *context, int64_t order, int64_t count, const int64_t *i, const int64_t *j,
                  const int64_t *k, const double *value, bool once, sp_tensor *tensor)
{
    sp_pool scratch = {0};
    int64_t total = 0;
    int status = SP_OK;
    *tensor = (sp_tensor){.order = order};

    entry *sorted = sp_pool_raw(&scratch, (once ? 6 : 1) * count, sizeof *sorted);
    SP_TRY(sp_allocated(context, !scratch.failed));

    for (int64_t e = 0; e < count; e++) {
        SP_TRY(check_entry(context, order, e, (int64_t[]){i[e], j[e], k[e]}, value[e]));
        if (once)
            total += permute(i[e], j[e], k[e], e, value[e], sorted + total);
        else
            sorted[total++] = entry_at(i[e], j[e], k[e], e, value[e]);
    }
    if (total > 0)
        qsort(sorted, (size_t)total, sizeof *sorted, by_place);
    if (once)
        SP_TRY(check_once(context, total, sorted));

    tensor->start = sp_pool_new(&tensor->pool, order + 1, sizeof *tensor->start);
    tensor->j = sp_pool_raw(&tensor->pool, total, sizeof *tensor->j);
    tensor->k = sp_pool_raw(&tensor->pool, total, sizeof *tensor->k);
    tensor->value = sp_pool_raw(&tensor->pool, total, sizeof *tensor->value);
    status = tensor->pool.failed ? sp_fail_memory(context) : join(context, total, sorted, tensor);
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_tensor_free(tensor);
    return status;
}

void sp_tensor_free(sp_tensor *tensor)
{
    sp_pool_free(&tensor->pool);
    *tensor = (sp_tensor){0};
}

void sp_tensor_times(const sp_tensor *tensor, const double *u, const double *v, double *y)
{
    for (int64_t i = 0; i < tensor->order; i++) {
        double sum = 0;
        for (int64_t e = tensor->start[i]; e < tensor->start[i + 1]; e++) {
            const int64_t j = tensor->j[e], k = tensor->k[e];
            const double products = j == k ? u[j] * v[j] : u[j] * v[k] + u[k] * v[j];
            sum += tensor->value[e] * products;
        }
        y[i] = sum;
    }
}

/* Entry i, j, k, 0 where there is none. */
static double value_at(const sp_tensor *tensor, int64_t i, int64_t j, int64_t k)
{
    const int64_t first = j < k ? j : k, second = j < k ? k : j;
    int64_t low = tensor->start[i], high = tensor->start[i + 1];

    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (tensor->j[middle] < first || (tensor->j[middle] == first && tensor->k[middle] < second))
            low = middle + 1;
        else
            high = middle;
    }
    return low < tensor->start[i + 1] && tensor->j[low] == first && tensor->k[low] == second ? tensor->value[low] : 0;
}

bool sp_tensor_symmetric(const sp_tensor *tensor, double tolerance)
{
    double largest = 0, difference = 0;
    for (int64_t i = 0; i < tensor->order; i++)
        for (int64_t e = tensor->start[i]; e < tensor->start[i + 1]; e++) {
            const int64_t j = tensor->j[e], k = tensor->k[e];
            largest = fmax(largest, fabs(tensor->value[e]));
            difference = fmax(difference, fabs(tensor->value[e] - value_at(tensor, j, i, k)));
            difference = fmax(difference, fabs(tensor->value[e] - value_at(tensor, k, i, j)));
        }
    return difference <= tolerance * largest;
}
