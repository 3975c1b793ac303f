/* sketchsolve: recorded loads to nonlinear static snapshots (thesis §2.8.2). */
#include "basis/sketch.h"
#include "tools/sketch/sketch.h"

#include <math.h>
#include <string.h>

static struct {
    const char *loads, *checkpoint;
    double step, separation, snapshot_separation, tolerance;
    int64_t count, shape_count, iterations;
} chosen;

static const tool_option options[] = {
    {"loads", 0, TOOL_INPUT, &chosen.loads, "CSV", .help = "the recording: t0,t1,kind,id,fx,fy,fz"},
    {"dt", 0, TOOL_REAL, &chosen.step, "S", NULL, .low = 1e-300, .high = 1e300,
     .help = "take the mean loads of every S seconds (default: the loads between changes)"},
    {"separation", 0, TOOL_REAL, &chosen.separation, "X", "0.02", .low = 0, .high = 1,
     .help = "loads keep this mass distance of their linear responses, by the largest response"},
    {"count", 0, TOOL_INTEGER, &chosen.count, "N", NULL, .low = 1, .high = 1e9,
     .help = "solve for at most N loads, those farthest apart"},
    {"snapshot-separation", 0, TOOL_REAL, &chosen.snapshot_separation, "X", "0.1", .low = 0, .high = 1,
     .help = "snapshots keep this mass distance, by the largest shape"},
    {"snapshot-count", 0, TOOL_INTEGER, &chosen.shape_count, "N", NULL, .low = 1, .high = 1e9,
     .help = "write at most N snapshots, those farthest apart"},
    {"tolerance", 0, TOOL_REAL, &chosen.tolerance, "X", "1e-10", .low = 1e-15, .high = 1,
     .help = "Newton: residual by the largest force term"},
    {"iterations", 0, TOOL_INTEGER, &chosen.iterations, "N", "50", .low = 1, .high = 10000,
     .help = "Newton iterations at most before a load is approached in halves"},
    {"checkpoint", 0, TOOL_TEXT, &chosen.checkpoint, "FILE", .silent = true,
     .help = "keep what is done in FILE and go on from there; it is removed when all is written"},
};

/* Which of the snapshots to write, by their mass distances. */
static int64_t thin_out(sketch *s, const sketch_solution *solution, int64_t *kept)
{
    int64_t m = solution->count, count;
    double largest = 0, *distance = tool_allocate_raw(&s->pool, (m + 1) * (m + 1), sizeof *distance);
    tool_check(sp_mass_distances(s->context, &s->metric, m, solution->q, distance), s->mesh.path);
    for (int64_t i = 0; i < m; i++)
        largest = fmax(largest, distance[m * (m + 1) + i]);
    tool_check(
        sp_separate(s->context, m, distance, chosen.snapshot_separation * largest, chosen.shape_count, kept, &count),
        s->mesh.path);
    sp_pool_drop(&s->pool, distance);
    return count;
}

static json_t *report_result(const sketch *s, const sketch_solution *solution, int64_t snapshots)
{
    const struct {
        const char *name;
        int64_t value;
    } counts[] = {{"recorded", s->recorded},
                  {"selected", s->count},
                  {"solved", solution->count},
                  {"failed", solution->failed},
                  {"snapshots", snapshots},
                  {"load_steps", solution->total.load_steps},
                  {"newton_iterations", solution->total.iterations},
                  {"most_iterations_for_a_load", solution->most_iterations},
                  {"factorizations", solution->total.factorizations},
                  {"line_search_halvings", solution->total.halvings},
                  {"indefinite_matrices", solution->total.indefinite}};
    json_t *result = tool_result_new();
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        json_object_set_new(result, counts[i].name, json_integer(counts[i].value));
    json_object_set_new(result, "largest_residual", tool_real("largest_residual", solution->total.residual));
    json_object_set_new(result, "largest_linear_response", tool_real("largest_linear_response", s->largest));
    return result;
}

static const tool_spec spec = {
    .name = "sketchsolve",
    .arguments = "MESH",
    .least = 1,
    .most = 1,
    .summary = "Recorded loads to nonlinear static snapshots.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  sketchsolve spoon.npz --loads sketch.csv -o snapshots.npz\n"
                "  sketchsolve bridge.npz --loads sketch.csv --checkpoint bridge.checkpoint \\\n"
                "    -o snapshots.npz\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    sketch s;
    sketch_solution solution;
    if (!chosen.loads)
        tool_fail(SP_USAGE, NULL, "no recording was named (--loads CSV)");
    sketch_open(context, tool_argument(0), &s);
    sketch_select(&s, chosen.loads, chosen.step, chosen.separation, chosen.count);
    if (s.count == 0)
        tool_fail(SP_USAGE, chosen.loads, "--separation %g: every load is that close to rest", chosen.separation);
    tool_output *output = tool_output_open(tool_output_path());
    tool_checkpoint *checkpoint = tool_checkpoint_open(chosen.checkpoint);
    tool_checkpoint_counts(checkpoint, s.count, "loads");
    sketch_solve(&s, chosen.tolerance, chosen.iterations, checkpoint, &solution);
    if (solution.count == 0)
        tool_fail(SP_NUMERICAL, s.mesh.path, "none of the %lld loads has an equilibrium that was found",
                  (long long)s.count);
    if (solution.total.residual > 1e-8)
        tool_warn(s.mesh.path, "the largest residual of an equilibrium is %.1e", solution.total.residual);

    int64_t rows = 3 * s.mesh.mesh.vertex_count, *kept = tool_allocate_raw(&s.pool, solution.count, sizeof *kept);
    sp_columns columns = {.rows = rows, .count = thin_out(&s, &solution, kept)};
    if (columns.count == 0)
        tool_fail(SP_USAGE, NULL, "--snapshot-separation %g: every shape is that close to rest",
                  chosen.snapshot_separation);
    columns.U = tool_allocate(&s.pool, rows * columns.count, sizeof *columns.U);
    columns.time = tool_allocate_raw(&s.pool, columns.count, sizeof *columns.time);
    for (int64_t c = 0; c < columns.count; c++) {
        sp_fe_space_scatter(&s.body, solution.q + kept[c] * s.n, columns.U + c * rows);
        columns.time[c] = s.time[solution.sample[kept[c]]];
    }
    tool_say("%lld samples, %lld loads selected, %lld solved (%lld failed), %lld snapshots; %.1f Newton iterations and "
             "%.1f factorizations a "
             "load, largest residual %.1e",
             (long long)s.recorded, (long long)s.count, (long long)solution.count, (long long)solution.failed,
             (long long)columns.count, (double)solution.total.iterations / (double)s.count,
             (double)solution.total.factorizations / (double)s.count, solution.total.residual);
    memcpy(columns.mesh, s.mesh.hash, sizeof columns.mesh);
    json_t *meta = tool_meta_new("snapshots");
    tool_check(sp_columns_write(context, tool_output_writer(output), meta, &columns), tool_output_path());
    tool_output_finish(output, report_result(&s, &solution, columns.count));
    tool_checkpoint_finish(checkpoint);
    json_decref(meta);
    sketch_close(&s);
    return tool_end();
}
