#include "statistics/rainflow.h"

#include <math.h>

static int add_cycle(sp_context *context, sp_list *cycles, double a, double b, double count)
{
    sp_cycle *cycle = sp_list_add(cycles, 1, sizeof *cycle);
    SP_PASS(sp_allocated(context, cycle));
    *cycle = (sp_cycle){fabs(a - b), 0.5 * (a + b), count};
    return SP_OK;
}

/* The three points rule: while the last range is not less than the one before it, that one closes: as half a cycle if
 * it begins at the first reversal, which is then dropped, else as a cycle, whose two points are dropped. */
static int close_cycles(sp_context *context, double *point, int64_t *count, sp_list *cycles)
{
    while (*count >= 3) {
        const double *last = point + *count - 1, X = fabs(last[0] - last[-1]), Y = fabs(last[-1] - last[-2]);
        if (X < Y)
            return SP_OK;
        if (*count == 3) {
            SP_PASS(add_cycle(context, cycles, last[-2], last[-1], 0.5));
            point[0] = point[1];
            point[1] = point[2];
            *count = 2;
        } else {
            SP_PASS(add_cycle(context, cycles, last[-2], last[-1], 1));
            point[*count - 3] = last[0];
            *count -= 2;
        }
    }
    return SP_OK;
}

int sp_rainflow(sp_context *context, int64_t count, const double *samples, sp_list *cycles)
{
    sp_pool scratch = {0};
    double *point = sp_pool_raw(&scratch, count, sizeof *point); /* reversals that are not counted yet */
    int64_t points = 0;
    int status = sp_allocated(context, point);
    SP_TRY(status);

    for (int64_t i = 0; i < count; i++) {
        const bool first = i == 0, end = i + 1 == count;
        int64_t next = i + 1;
        while (next < count && samples[next] == samples[i])
            next++;
        /* The first and the last value are reversals, and those at which the sign of the slope changes. */
        if (!first && !end && next < count && (samples[i] - point[points - 1]) * (samples[next] - samples[i]) > 0)
            continue;
        if (!first && samples[i] == point[points - 1])
            continue;
        point[points++] = samples[i];
        SP_TRY(close_cycles(context, point, &points, cycles));
    }
    for (int64_t k = 1; k < points; k++)
        SP_TRY(add_cycle(context, cycles, point[k - 1], point[k], 0.5));
done:
    sp_pool_free(&scratch);
    return status;
}

double sp_cycles_damage(int64_t count, const sp_cycle *cycles, double strength, double slope)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += cycles[i].count * pow(cycles[i].range / strength, slope);
    return sum;
}
