#include "linear/bisect.h"

#include "linear/internal.h"

int sp_graph_bisect(sp_context *context, int64_t count, int64_t *start, int64_t *index, int64_t *weight, int64_t *side)
{
    cholmod_common common;
    int status = SP_OK;

    sp_cholmod_start(&common);
    const sp_sparse graph = {.order = count, .start = start, .index = index};
    cholmod_sparse pattern = sp_cholmod_view(&graph);
    pattern.stype = 0; /* both triangles */

    if (cholmod_l_metis_bisector(&pattern, weight, NULL, side, &common) < 0)
        status = sp_cholmod_failure(context, &common, "bisection");
    cholmod_l_finish(&common);
    return status;
}
