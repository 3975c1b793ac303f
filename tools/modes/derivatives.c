/* Derivatives in the same run as the modes: with their ordering, and for a constrained body their factorization. */
#include "tools/derivatives/methods.h"
#include "tools/modes/methods.h"

#include <string.h>

/* As a file of modes is read. */
static void take_modes(modes_problem *p, const sp_columns *modes, const double *vectors, derivatives_problem *d)
{
    d->modes = (tool_columns){.columns = *modes, .path = tool_output_path(), .kind = "modes"};
    d->modes.columns.U = tool_allocate(&d->pool, modes->rows * modes->count, sizeof(double));
    for (int64_t c = 0; c < modes->count; c++)
        sp_fe_space_scatter(&p->body, vectors + c * p->body.dof_count, d->modes.columns.U + c * modes->rows);
}

void modes_derivatives(modes_problem *p, json_t *meta, const char *hash, const sp_columns *modes, const double *vectors,
                       const sp_modes_report *report)
{
    derivatives_problem d = {.context = p->context,
                             .mesh = p->mesh,
                             .body = p->body,
                             .k = modes->count,
                             .rigid = modes->rigid,
                             .order = 1,
                             .path = p->derivatives_path};

    tool_record_as("modalderiv", json_pack("{s:s, s:s}", "method", "modal", "solver", "direct"));
    tool_record_archive(tool_output_path(), NULL, hash, meta);

    take_modes(p, modes, vectors, &d);
    d.factor = modes->rigid ? NULL : report->factor; /* that of a free body has another shift */
    d.result = tool_result_new();

    derivatives_all_pairs(&d);
    derivatives_modal(&d);
    derivatives_write(&d, p->derivatives);

    sp_list_free(&d.pairs);
    sp_pool_free(&d.pool);
}
