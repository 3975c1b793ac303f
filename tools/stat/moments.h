/* Sums over all motions of a signal, and the damage of its cycles. */
#ifndef TOOLS_STAT_MOMENTS_H
#define TOOLS_STAT_MOMENTS_H

#include "tools/stat/source.h"

/* The line N = (strength / range)^slope of an S-N diagram: so many cycles of a range are the life. strength 0: none. */
typedef struct stat_line {
    double strength, slope;
} stat_line;

/* Mean squares of motions are summed, too, for the confidence of their mean: motions are independent, frames are not.
 */
typedef struct stat_moments {
    double count, sum[5]; /* of frames; of the powers 1 to 4 of the value less `origin` */
    double origin, least, largest;
    double motions, squares, fourths; /* of the mean squares of motions, and of their squares */
    double damage, worst;             /* the sum over motions, and that of one motion */
} stat_moments;

/* Reads all motions once: [signals], from the pool. Ends the process on failure, or where all motions have failed. */
stat_moments *stat_sum_up(sp_context *context, stat_source *source, stat_line line, sp_pool *pool);

/* Central moments 1 to 4, the first about 0. */
void stat_central(const stat_moments *moments, double central[5]);

#endif
