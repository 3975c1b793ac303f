/* Rainflow counts of a signal (ASTM E1049-85, section 5.4.4), and the damage of its cycles by Miner's rule. */
#ifndef SP_STATISTICS_RAINFLOW_H
#define SP_STATISTICS_RAINFLOW_H

#include "base/context.h"
#include "base/memory.h"

/* A cycle, or half of one, between two values. */
typedef struct sp_cycle {
    double range, mean;
    double count; /* 1 or ½ */
} sp_cycle;

/* Adds the cycles of the signal to `cycles` (sp_cycle), in the order in which they close; half cycles of what is left
 * come last. Values between reversals do not count. */
int sp_rainflow(sp_context *context, int64_t count, const double *samples, sp_list *cycles) SP_MUST_USE;

/* Miner's sum of the cycles by the line N = (strength / range)^slope, where N cycles of this range are the life. */
double sp_cycles_damage(int64_t count, const sp_cycle *cycles, double strength, double slope);

#endif
