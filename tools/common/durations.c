#include "tools/common/durations.h"

#include <math.h>

enum { FIRST_POWER = -40 };

void tool_durations_add(tool_durations *d, double seconds)
{
    const double place = 64 * (log2(fmax(seconds, 1e-12)) - FIRST_POWER);
    d->bin[place > 0 ? place < TOOL_DURATION_BINS ? (int)place : TOOL_DURATION_BINS - 1 : 0]++;
    d->count++;
    d->sum += seconds;
    d->worst = fmax(d->worst, seconds);
}

double tool_durations_quantile(const tool_durations *d, double part)
{
    int64_t passed = 0, wanted = (int64_t)ceil(part * (double)d->count);
    int bin = 0;
    while (bin < TOOL_DURATION_BINS - 1 && (passed += d->bin[bin]) < wanted)
        bin++;
    return fmin(exp2((bin + 1) / 64.0 + FIRST_POWER), d->worst);
}
