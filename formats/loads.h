/* Loads as users write them: CSV lines `t0,t1,kind,id,fx,fy,fz` (loads.md). */
#ifndef SP_FORMATS_LOADS_H
#define SP_FORMATS_LOADS_H

#include "base/memory.h"
#include "model/loads.h"

#include <stdio.h>

/* Parses the text; the loads are allocated from `pool`. Region ids may be names of the mesh's regions. SP_INPUT with
 * line and field. */
int sp_loads_parse(sp_context *context, const char *bytes, int64_t count, const sp_mesh *mesh, sp_pool *pool,
                   int64_t *load_count, sp_load **loads) SP_MUST_USE;

/* Writes loads as lines that sp_loads_parse reads as the same loads, with all digits; vertices and regions by number.
 */
void sp_loads_print(int64_t count, const sp_load *loads, FILE *stream);

#endif
