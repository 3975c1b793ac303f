#include "basis/random_projection.h"

#include "base/random.h"

#include <math.h>

/* Random number streams, one for each column, distinct from those of other methods. */
static const uint64_t FIRST_STREAM = UINT64_C(1) << 40;

double sp_random_projection_entry(uint64_t seed, int64_t row, int64_t column)
{
    uint32_t word[4];
    sp_random_block(seed, FIRST_STREAM + (uint64_t)column, (uint64_t)row, word);

    /* 0 to 5; 2³² is not a multiple of 6, which changes probabilities by 2e-10. */
    uint64_t die = (uint64_t)word[0] * 6 >> 32;

    /* √3 times +1, −1 and 0 with the probabilities 1/6, 1/6 and 2/3 */
    return die == 0 ? sqrt(3) : die == 1 ? -sqrt(3) : 0;
}

int sp_random_projection(sp_context *context, int64_t r, sp_store *store)
{
    int64_t m = store->count;
    if (r > m)
        return sp_fail(context, SP_USAGE,
                       "%lld random combinations of %lld columns: there have to be at least as many columns",
                       (long long)r, (long long)m);

    sp_pool scratch = {0};
    double *R = sp_pool_raw(&scratch, m * r, sizeof *R);
    SP_PASS(sp_allocated(context, R));

    for (int64_t j = 0; j < r; j++)
        for (int64_t i = 0; i < m; i++)
            R[j * m + i] = sp_random_projection_entry(context->seed, i, j);
    int status = sp_store_times(context, store, r, R);
    sp_pool_free(&scratch);
    return status;
}
