/* A histogram of durations: constant memory for any number of them. Never part of an output, which is the same for
 * every run. */
#ifndef TOOLS_COMMON_DURATIONS_H
#define TOOLS_COMMON_DURATIONS_H

#include <stdint.h>

/* Counts by size, in bins of 1/64 of a power of two. */
enum { TOOL_DURATION_BINS = 64 * 64 };

typedef struct tool_durations {
    int64_t count, bin[TOOL_DURATION_BINS];
    double sum, worst; /* s */
} tool_durations;

void tool_durations_add(tool_durations *durations, double seconds);

/* The upper end of the bin in which this part of all durations is reached: at most 1.1 % too long. 0: there are none.
 */
double tool_durations_quantile(const tool_durations *durations, double part);

#endif
