/* Amplitude and frequency of one recorded motion. */
#ifndef TOOLS_COMPARE_PROBE_H
#define TOOLS_COMPARE_PROBE_H

#include <stdint.h>

typedef struct probe_measure {
    double amplitude; /* largest |value| over all samples */
    double frequency; /* Hz, from half periods between zero crossings; NaN if there are fewer than two */
    int64_t half_periods;
} probe_measure;

/* time [count] s increasing, value [count]. Crossings of zero are taken by linear interpolation among the samples at
 * `after` or later (a stretch of exact zeros between two signs counts once, at its middle); the frequency is 1/(2·mean
 * half period). */
void probe_measure_series(int64_t count, const double *time, const double *value, double after, probe_measure *measure);

#endif
