/* Shards of sketches: equilibria under some of the selected loads. They are thinned out together. */
#include "tools/merge/shard.h"
#include "tools/sketch/sketch.h"

#include <math.h>
#include <string.h>

static void read(sp_context *context, sp_file *file, merge_shard *shard)
{
    sp_columns *columns = shard->data = tool_allocate(&shard->pool, 1, sizeof *columns);
    tool_check(sp_columns_read(context, file, -1, columns), shard->path);
    if (!columns->total)
        tool_fail(SP_INPUT, shard->path, "it is no shard: its snapshots are thinned out already");
    if (!columns->time)
        tool_fail(SP_INPUT, shard->path, "member time is missing, which shards have");
    memcpy(shard->mesh, columns->mesh, sizeof shard->mesh);
    shard->first = columns->first;
    shard->end = columns->end;
    shard->total = columns->total;
}

static void compare(const merge_shard *a, const merge_shard *b)
{
    if (!json_equal(json_object_get(a->result, "recorded"), json_object_get(b->result, "recorded")))
        tool_fail(SP_INPUT, b->path, "it is of another recording than %s", a->path);
}

/* What --snapshot-separation and --snapshot-count were. */
static sketch_thinning thinning_of(const merge_shard *shard)
{
    const json_t *parameters = json_object_get(shard->meta, "parameters"),
                 *separation = json_object_get(parameters, "snapshot-separation");
    const sketch_thinning thinning = {json_number_value(separation),
                                      json_integer_value(json_object_get(parameters, "snapshot-count"))};
    if (!json_is_number(separation) || !(thinning.separation >= 0 && thinning.separation <= 1) || thinning.most < 0)
        tool_fail(SP_INPUT, shard->path, "meta: the parameter snapshot-separation or snapshot-count is out of range");
    return thinning;
}

/* The equilibria of all shards over the free degrees of freedom. */
static void gather(sketch *s, int64_t count, const merge_shard *shards, sketch_solution *solution)
{
    for (int64_t i = 0; i < count; i++)
        solution->count += ((const sp_columns *)shards[i].data)->count;
    solution->q = tool_allocate_raw(&s->pool, solution->count, (size_t)s->n * sizeof *solution->q);
    solution->sample = tool_allocate_raw(&s->pool, solution->count, sizeof *solution->sample);
    s->time = tool_allocate(&s->pool, s->count, sizeof *s->time);
    for (int64_t i = 0, at = 0; i < count; i++) {
        const sp_columns *part = shards[i].data;
        if (part->rows != 3 * s->mesh.mesh.vertex_count)
            tool_fail(SP_INPUT, shards[i].path, "its columns have %lld rows, the mesh %lld vertices",
                      (long long)part->rows, (long long)s->mesh.mesh.vertex_count);
        for (int64_t c = 0; c < part->count; c++, at++) {
            sp_fe_space_gather(&s->body, part->U + c * part->rows, solution->q + at * s->n);
            solution->sample[at] = part->sample[c];
            s->time[part->sample[c]] = part->time[c];
        }
    }
}

static json_t *join(sp_context *context, int64_t count, const merge_shard *shards, const char *mesh, json_t *meta,
                    tool_output *output)
{
    const sketch_thinning thinning = thinning_of(&shards[0]);
    sketch s;
    sketch_solution solution = {0};
    sketch_open(context, mesh, &s);
    tool_check_hash(shards[0].path, "mesh", shards[0].mesh, s.mesh.hash);
    s.count = shards[0].total;
    s.recorded = merge_integer(&shards[0], "recorded");
    s.largest = json_number_value(json_object_get(shards[0].result, "largest_linear_response"));
    gather(&s, count, shards, &solution);
    solution.failed = s.count - solution.count;
    solution.total = (sp_equilibrium_report){.load_steps = merge_sum(count, shards, "load_steps"),
                                             .iterations = merge_sum(count, shards, "newton_iterations"),
                                             .factorizations = merge_sum(count, shards, "factorizations"),
                                             .halvings = merge_sum(count, shards, "line_search_halvings"),
                                             .indefinite = merge_sum(count, shards, "indefinite_matrices"),
                                             .residual = merge_largest(count, shards, "largest_residual")};
    solution.most_iterations = (int64_t)merge_largest(count, shards, "most_iterations_for_a_load");
    json_t *result = sketch_write(&s, &solution, &thinning, meta, output);
    sketch_close(&s);
    return result;
}

static void release(merge_shard *shard)
{
    sp_columns_free(shard->data);
}

const merge_kind merge_snapshots = {.kind = "snapshots",
                                    .whole = "snapshots",
                                    .items = "loads",
                                    .read = read,
                                    .compare = compare,
                                    .join = join,
                                    .release = release,
                                    .needs_mesh = true};
