/* Time constants of the decay of vibration over frequency, as users write them: CSV lines `frequency,time`
 * (damping.md). */
#ifndef SP_FORMATS_DAMPING_H
#define SP_FORMATS_DAMPING_H

#include "base/memory.h"
#include "model/damping.h"

/* Parses the text; the arrays are allocated from `pool`. SP_INPUT with line and field. */
int sp_damping_parse(sp_context *context, const char *bytes, int64_t count, sp_pool *pool,
                     sp_decay_times *times) SP_MUST_USE;

#endif
