/* The equilibria as snapshots. */
#include "basis/sketch.h"
#include "tools/sketch/sketch.h"

#include <math.h>
#include <string.h>

json_t *sketch_report(const sketch *s, const sketch_solution *solution, int64_t snapshots)
{
    const sp_equilibrium_report *total = &solution->total;
    json_t *result = tool_result_new();
    tool_facts(result, sp_kind_snapshots.result, {"recorded", .integer = s->recorded},
               {"selected", .integer = s->count}, {"solved", .integer = solution->count},
               {"failed", .integer = solution->failed}, {"snapshots", .integer = snapshots},
               {"load_steps", .integer = total->load_steps}, {"newton_iterations", .integer = total->iterations},
               {"most_iterations_for_a_load", .integer = solution->most_iterations},
               {"factorizations", .integer = total->factorizations},
               {"line_search_halvings", .integer = total->halvings},
               {"indefinite_matrices", .integer = total->indefinite}, {"largest_residual", .real = total->residual},
               {"largest_linear_response", .real = s->largest});
    return result;
}

/* Numbers of the equilibria to write, by their mass distances. */
static int64_t thin_out(sketch *s, const sketch_solution *solution, const sketch_thinning *thinning, int64_t *kept)
{
    int64_t m = solution->count, count;
    double largest = 0, *distance = tool_allocate_raw(&s->pool, (m + 1) * (m + 1), sizeof *distance);
    tool_check(sp_mass_distances(s->context, &s->metric, m, solution->q, distance), s->mesh.path);
    for (int64_t i = 0; i < m; i++)
        largest = fmax(largest, distance[m * (m + 1) + i]);
    tool_check(sp_separate(s->context, m, distance, thinning->separation * largest, thinning->most, kept, &count),
               s->mesh.path);
    sp_pool_drop(&s->pool, distance);
    return count;
}

/* The columns of these equilibria. */
static sp_columns columns_of(sketch *s, const sketch_solution *solution, int64_t count, const int64_t *kept)
{
    const int64_t rows = 3 * s->mesh.mesh.vertex_count;
    sp_columns columns = {.rows = rows, .count = count};
    columns.U = tool_allocate(&s->pool, rows * count, sizeof *columns.U);
    columns.time = tool_allocate_raw(&s->pool, count, sizeof *columns.time);
    for (int64_t c = 0; c < count; c++) {
        sp_fe_space_scatter(&s->body, solution->q + kept[c] * s->n, columns.U + c * rows);
        columns.time[c] = s->time[solution->sample[kept[c]]];
    }
    memcpy(columns.mesh, s->mesh.hash, sizeof columns.mesh);
    return columns;
}

json_t *sketch_write(sketch *s, const sketch_solution *solution, const sketch_thinning *thinning, json_t *meta,
                     tool_output *output)
{
    int64_t *kept = tool_allocate_raw(&s->pool, solution->count, sizeof *kept);
    if (solution->total.residual > 1e-8)
        tool_warn(s->mesh.path, "the largest residual of an equilibrium is %.1e", solution->total.residual);
    const int64_t count = thin_out(s, solution, thinning, kept);
    if (count == 0)
        tool_fail(SP_USAGE, NULL, "--snapshot-separation %g: every shape is that close to rest", thinning->separation);
    const sp_columns columns = columns_of(s, solution, count, kept);
    tool_say("%lld samples, %lld loads selected, %lld solved (%lld failed), %lld snapshots; %.1f Newton iterations and "
             "%.1f factorizations a "
             "load, largest residual %.1e",
             (long long)s->recorded, (long long)s->count, (long long)solution->count, (long long)solution->failed,
             (long long)columns.count, (double)solution->total.iterations / (double)s->count,
             (double)solution->total.factorizations / (double)s->count, solution->total.residual);
    tool_check(sp_columns_write(s->context, tool_output_writer(output), meta, &columns), tool_output_path());
    return sketch_report(s, solution, columns.count);
}

json_t *sketch_write_shard(sketch *s, const sketch_solution *solution, int64_t first, int64_t end, json_t *meta,
                           tool_output *output)
{
    int64_t *all = tool_allocate_raw(&s->pool, solution->count, sizeof *all);
    for (int64_t i = 0; i < solution->count; i++)
        all[i] = i;
    sp_columns columns = columns_of(s, solution, solution->count, all);
    columns.first = first;
    columns.end = end;
    columns.total = s->count;
    columns.sample = solution->sample;
    tool_say("loads %lld to %lld of %lld: %lld solved, %lld failed, largest residual %.1e", (long long)first,
             (long long)end - 1, (long long)s->count, (long long)solution->count, (long long)solution->failed,
             solution->total.residual);
    tool_check(sp_columns_write(s->context, tool_output_writer(output), meta, &columns), tool_output_path());
    return sketch_report(s, solution, solution->count);
}
