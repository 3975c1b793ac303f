#include "linear/singular.h"
#include "tools/modes/methods.h"

#include <math.h>
#include <string.h>

static int next_column(void *data, int64_t c, const double **column)
{
    const modes_spread *spread = data;
    const modes_problem *p = spread->problem;
    const int64_t first = p->map ? p->map->coordinates : 0;
    const double *values = c < first ? p->constraint + c * p->body.dof_count : spread->vectors + (c - first) * p->order;
    if (p->map && c >= first) {
        sp_interface_map_spread(p->map, values, spread->free);
        values = spread->free;
    }
    sp_fe_space_scatter(&p->body, values, spread->full);
    *column = spread->full;
    return SP_OK;
}

sp_columns modes_columns(modes_problem *p, int64_t count, const double *vectors, modes_spread *spread)
{
    const int64_t rows = 3 * p->mesh.mesh.vertex_count;
    *spread = (modes_spread){.problem = p,
                             .vectors = vectors,
                             .full = tool_allocate(&p->pool, rows, sizeof *spread->full),
                             .free = tool_allocate(&p->pool, p->body.dof_count, sizeof *spread->free)};
    sp_columns columns = {.rows = rows,
                          .count = count + (p->map ? p->map->coordinates : 0),
                          .interface_count = p->interface_count,
                          .interfaces = p->interfaces,
                          .column = next_column,
                          .column_data = spread};
    memcpy(columns.mesh, p->mesh.hash, sizeof columns.mesh);
    return columns;
}

static int next_ritz_vector(void *data, int64_t c, const double **column)
{
    const modes_spread *spread = data;
    sp_fe_space_scatter(&spread->problem->body, spread->vectors + c * spread->problem->body.dof_count, spread->full);
    *column = spread->full;
    return SP_OK;
}

/* The Ritz vectors of all columns, which are no coordinates of interfaces any more. Interfaces at rest stay so. */
static void combine(modes_problem *p, sp_columns *columns, modes_spread *spread, json_t *result)
{
    const int64_t n = p->body.dof_count, count = columns->count;
    double *all = tool_allocate_raw(&p->pool, n * count, sizeof *all),
           *eigenvalue = tool_allocate(&p->pool, count, sizeof *eigenvalue);
    const double *column;

    for (int64_t c = 0; c < count; c++) {
        tool_check(next_column(spread, c, &column), p->mesh.path);
        for (int64_t i = 0; i < n; i++)
            all[c * n + i] = column[p->body.free[i]];
    }

    tool_check(sp_ritz_vectors(p->context, &p->whole_K, &p->whole_M, count, all, eigenvalue), p->mesh.path);
    for (int64_t c = 0; c < count; c++)
        eigenvalue[c] = sqrt(fmax(eigenvalue[c], 0)) / (2 * M_PI);
    tool_facts(result, sp_kind_snapshots.result, {"ritz_frequencies", .count = count, .reals = eigenvalue});

    spread->vectors = all;
    columns->column = next_ritz_vector;
    columns->interface_count = 0;
    columns->interfaces = tool_allocate(&p->pool, p->interface_count, sizeof *p->interfaces);

    for (int64_t i = 0; i < p->interface_count; i++) {
        sp_interface *to = &columns->interfaces[columns->interface_count];
        *to = p->interfaces[i];
        to->first = 0;
        columns->interface_count += to->at_rest;
    }
}

void modes_write_snapshots(modes_problem *p, int64_t count, const double *vectors, json_t *result)
{
    modes_spread spread;
    sp_columns columns = modes_columns(p, count, vectors, &spread);
    columns.factor = p->factor;

    if (p->ritz)
        combine(p, &columns, &spread, result);

    json_t *meta = tool_meta_new("snapshots");
    if (p->map) {
        tool_facts(result, sp_kind_snapshots.result, {"interfaces", .integer = p->interface_count},
                   {"constraint_modes", .integer = p->map->coordinates},
                   {"constraint_residual", .real = p->constraint_residual});
    }

    tool_check(sp_columns_write(p->context, tool_output_writer(p->output), meta, &columns), tool_output_path());
    tool_output_finish(p->output, result);
    json_decref(meta);
}

/* ‖Kψ − λMψ‖₂ / ((λ + λ₁)‖Mψ‖₂) with λ₁ the lowest eigenvalue of the space that is not 0. */
static void measure_residuals(modes_problem *p, int64_t count, const double *vectors, double *eigenvalue,
                              double *residual)
{
    const int64_t n = p->order;
    double *k = tool_allocate_raw(&p->pool, n, sizeof *k), *m = tool_allocate_raw(&p->pool, n, sizeof *m), first = 0,
           rounding;

    for (int64_t c = 0; c < count; c++)
        if (sp_quotient(&p->K, vectors + c * n, &rounding) <= rounding)
            eigenvalue[c] = 0;

    for (int64_t c = 0; c < count && first == 0; c++)
        first = eigenvalue[c];
    if (first == 0)
        first = 1e-6 * sp_sparse_trace(&p->K) / sp_sparse_trace(&p->M);

    for (int64_t c = 0; c < count; c++) {
        double sum = 0, scale = 0;
        sp_sparse_times(p->context, &p->K, 1, vectors + c * n, k);
        sp_sparse_times(p->context, &p->M, 1, vectors + c * n, m);
        for (int64_t i = 0; i < n; i++) {
            sum += (k[i] - eigenvalue[c] * m[i]) * (k[i] - eigenvalue[c] * m[i]);
            scale += m[i] * m[i];
        }
        residual[c] = sqrt(sum / scale) / (eigenvalue[c] + first);
    }
}

void modes_write_ritz(modes_problem *p, int64_t count, double *vectors, json_t *result)
{
    modes_spread spread;
    double *eigenvalue = tool_allocate(&p->pool, count, sizeof *eigenvalue),
           *residual = tool_allocate(&p->pool, count, sizeof *residual);

    tool_check(sp_ritz_vectors(p->context, &p->K, &p->M, count, vectors, eigenvalue), p->mesh.path);
    measure_residuals(p, count, vectors, eigenvalue, residual);

    sp_columns columns = modes_columns(p, count, vectors, &spread);
    columns.eigenvalue = eigenvalue;
    columns.residual = residual;
    columns.lumped = p->lumped;
    columns.ritz = true;
    /* of the columns, which are orthogonal to rigid motions */
    tool_facts(result, sp_kind_modes.result, {"rigid", .integer = 0});

    json_t *meta = tool_meta_new("modes");
    tool_check(sp_columns_write(p->context, tool_output_writer(p->output), meta, &columns), tool_output_path());
    tool_output_finish(p->output, result);
    json_decref(meta);
}
