/* Active tension of fibres over time, as users write it: CSV lines `t,region,tension` (activation.md). */
#ifndef SP_FORMATS_ACTIVATION_H
#define SP_FORMATS_ACTIVATION_H

#include "base/memory.h"
#include "model/loads.h"

/* Parses the text; the activations, one per region in the order of regions, are allocated from `pool`. Regions by
 * number or name; they must have fibres. SP_INPUT with line and field. */
int sp_activations_parse(sp_context *context, const char *bytes, int64_t count, const sp_mesh *mesh, sp_pool *pool,
                         int64_t *activation_count, sp_activation **activations) SP_MUST_USE;

#endif
