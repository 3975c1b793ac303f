#include "tools/compare/probe.h"

#include <math.h>

/* Where the sign changes between samples `from` and `to`; those between them are zero. */
static double crossing(const double *time, const double *value, int64_t from, int64_t to)
{
    if (to > from + 1)
        return (time[from + 1] + time[to - 1]) / 2;
    return time[from] + (time[to] - time[from]) * value[from] / (value[from] - value[to]);
}

void probe_measure_series(int64_t count, const double *time, const double *value, double after, probe_measure *measure)
{
    int64_t last = -1, crossings = 0; /* the last sample that is not zero */
    double first_time = 0, last_time = 0;
    *measure = (probe_measure){.frequency = NAN};

    for (int64_t i = 0; i < count; i++) {
        measure->amplitude = fmax(measure->amplitude, fabs(value[i]));
        if (time[i] < after || value[i] == 0)
            continue;

        /* A change of sign is half a period after the one before. */
        if (last >= 0 && (value[i] > 0) != (value[last] > 0)) {
            last_time = crossing(time, value, last, i);
            first_time = crossings++ ? first_time : last_time;
        }
        last = i;
    }

    measure->half_periods = crossings > 0 ? crossings - 1 : 0;
    if (crossings > 1)
        measure->frequency = (double)measure->half_periods / (2 * (last_time - first_time));
}
