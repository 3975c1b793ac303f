#include "tools/export/gram.h"

#include "formats/export/csv_write.h"
#include "linear/dense.h"
#include "tools/common/trajectory.h"

/* G = UᵀMU with the consistent mass. */
static void full_gram(sp_context *context, const char *mesh_path, sp_fe_space *body, int64_t count, const double *U,
                      double *G)
{
    sp_sparse mass;
    sp_pool pool = {0};
    int64_t order = body->dof_count;
    tool_check(sp_fe_space_mass_compressed(context, body, false, &mass), mesh_path);
    double *MU = tool_allocate_raw(&pool, order * count, sizeof *MU),
           *work = tool_allocate_raw(&pool, 2 * order * count, sizeof *work),
           *inner = tool_allocate_raw(&pool, sp_dense_inner_work(count, count), sizeof *inner);
    sp_metric metric = {.rows = order, .matrix = &mass};
    sp_metric_times(context, &metric, count, U, MU, work);
    sp_dense_inner(context, order, count, U, count, MU, G, inner);
    sp_pool_free(&pool);
    sp_sparse_free(&mass);
}

static void write_table(sp_context *context, const char *target, int64_t count, const int64_t *number, const double *G)
{
    char name[32];
    sp_stream stream;
    tool_output *output = tool_output_open(target);
    sp_stream_begin(&stream, tool_output_descriptor(output));

    for (int64_t c = 0; c < count; c++) {
        snprintf(name, sizeof name, "u%lld", (long long)number[c] + 1);
        sp_csv_name(&stream, c == 0, name);
    }
    sp_csv_end(&stream);

    for (int64_t c = 0; c < count; c++) { /* symmetric: a column is a row */
        sp_csv_numbers(&stream, true, count, G + c * count);
        sp_csv_end(&stream);
    }

    tool_check(sp_stream_end(context, &stream), target);
    tool_output_finish(output, NULL);
}

void tool_export_gram(sp_context *context, int count, const char *const *paths, const char *target, const char *chosen,
                      int64_t samples)
{
    tool_trajectory motion;
    sp_fe_space body;
    sp_list list = {0};
    sp_pool pool = {0};

    tool_trajectory_open(context, count, paths, 0, &motion);
    if (!motion.mesh.path || !motion.columns.path || motion.path)
        tool_fail(SP_USAGE, NULL, "inner products need the mesh and one file of columns");
    tool_inputs_are("columns");

    const sp_columns *columns = &motion.columns.columns;
    tool_parse_list("columns", chosen, 1, columns->count, &list);
    const int64_t *number = list.data;

    tool_check(sp_fe_space_new(context, &motion.mesh.mesh, &body), motion.mesh.path);
    int64_t order = body.dof_count;
    tool_check(sp_dense_fits(context, order, list.count), motion.columns.path);

    double *U = tool_allocate_raw(&pool, order * list.count, sizeof *U),
           *G = tool_allocate_raw(&pool, list.count * list.count, sizeof *G);
    for (int64_t c = 0; c < list.count; c++)
        for (int64_t i = 0; i < order; i++)
            U[c * order + i] = columns->U[number[c] * columns->rows + body.free[i]];

    if (samples)
        tool_sparse_gram(context, motion.mesh.path, &body, samples, list.count, U, G);
    else
        full_gram(context, motion.mesh.path, &body, list.count, U, G);
    write_table(context, target, list.count, number, G);

    sp_fe_space_free(&body);
    sp_list_free(&list);
    sp_pool_free(&pool);
    tool_trajectory_close(&motion);
}
