/* sketchsolve: recorded loads to nonlinear static snapshots (thesis §2.8.2). */
#include "tools/common/shard.h"
#include "tools/sketch/sketch.h"

static struct {
    const char *loads, *checkpoint, *shard;
    double step, separation, tolerance;
    int64_t count, iterations;
    sketch_thinning thinning;
} chosen;

static const tool_option options[] = {
    {"loads", 0, TOOL_INPUT, &chosen.loads, "CSV", .required = true, .help = "the recording: t0,t1,kind,id,fx,fy,fz"},
    {"dt", 0, TOOL_REAL, &chosen.step, "S", NULL, .low = 1e-300, .high = 1e300,
     .help = "take the mean loads of every S seconds (default: the loads between changes)"},
    {"separation", 0, TOOL_REAL, &chosen.separation, "X", "0.02", .low = 0, .high = 1,
     .help = "smallest distance of two loads, in the mass norm of their linear responses, relative to the largest "
             "response"},
    {"count", 0, TOOL_INTEGER, &chosen.count, "N", NULL, .low = 1, .high = 1e9,
     .help = "solve for at most N loads, those farthest apart"},
    {"snapshot-separation", 0, TOOL_REAL, &chosen.thinning.separation, "X", "0.1", .low = 0, .high = 1,
     .help = "smallest distance of two snapshots in the mass norm, relative to the norm of the largest"},
    {"snapshot-count", 0, TOOL_INTEGER, &chosen.thinning.most, "N", NULL, .low = 1, .high = 1e9,
     .help = "write at most N snapshots, those farthest apart"},
    {"tolerance", 0, TOOL_REAL, &chosen.tolerance, "X", "1e-10", .low = 1e-15, .high = 1,
     .help = "Newton's method: residual relative to the largest force term"},
    {"iterations", 0, TOOL_INTEGER, &chosen.iterations, "N", "50", .low = 1, .high = 10000,
     .help = "Newton iterations at most before a load is approached in halves"},
    {"checkpoint", 0, TOOL_WRITTEN, &chosen.checkpoint, "FILE", .silent = true,
     .help = "keep what is done in FILE and go on from there; it is removed when all is written"},
    TOOL_SHARD_OPTION(&chosen.shard, NULL),
};

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
                "    -o snapshots.npz\n"
                "  sketchsolve spoon.npz --loads sketch.csv --shard 1/1 -o part1.npz\n",
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

    const tool_shard shard = tool_shard_parse(chosen.shard, s.count, SKETCH_GROUP, "loads");
    tool_output *output = tool_output_open(tool_output_path());
    tool_checkpoint *checkpoint = tool_checkpoint_open(chosen.checkpoint);
    tool_checkpoint_counts(checkpoint, shard.end - shard.first, "loads");

    sketch_solve(&s, shard.first, shard.end, chosen.tolerance, chosen.iterations, checkpoint, &solution);
    if (solution.count == 0)
        tool_fail(SP_NUMERICAL, s.mesh.path, "none of the %lld loads has an equilibrium that was found",
                  (long long)(shard.end - shard.first));

    json_t *meta = tool_meta_new("snapshots");
    json_t *result = chosen.shard ? sketch_write_shard(&s, &solution, shard.first, shard.end, meta, output)
                                  : sketch_write(&s, &solution, &chosen.thinning, meta, output);

    tool_output_finish(output, result);
    tool_checkpoint_finish(checkpoint);
    json_decref(meta);
    sketch_close(&s);
    return tool_end();
}
