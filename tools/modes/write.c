#include "tools/modes/methods.h"

#include <string.h>

static int next_column(void *data, int64_t c, const double **column)
{
    const modes_spread *spread = data;
    sp_fe_space_scatter(spread->body, spread->vectors + c * spread->body->dof_count, spread->full);
    *column = spread->full;
    return SP_OK;
}

sp_columns modes_columns(modes_problem *p, int64_t count, const double *vectors, modes_spread *spread)
{
    const int64_t rows = 3 * p->mesh.mesh.vertex_count;
    *spread = (modes_spread){
        .body = &p->body, .vectors = vectors, .full = tool_allocate(&p->pool, rows, sizeof *spread->full)};
    sp_columns columns = {.rows = rows, .count = count, .column = next_column, .column_data = spread};
    memcpy(columns.mesh, p->mesh.hash, sizeof columns.mesh);
    return columns;
}

void modes_write_snapshots(modes_problem *p, int64_t count, const double *vectors, json_t *result)
{
    modes_spread spread;
    sp_columns columns = modes_columns(p, count, vectors, &spread);
    json_t *meta = tool_meta_new("snapshots");
    tool_check(sp_columns_write(p->context, tool_output_writer(p->output), meta, &columns), tool_output_path());
    tool_output_finish(p->output, result);
    json_decref(meta);
}
