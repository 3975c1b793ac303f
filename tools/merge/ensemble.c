/* Shards of ensembles: some of the motions. They are read block by block, twice: to check them, and to join them. */
#include "formats/ensemble.h"
#include "tools/merge/shard.h"

#include <string.h>

/* The numbers of motion m, of which there are `count` each; NULL if the file does not have them. */
static const double *row_of(const double *values, int64_t m, int64_t count)
{
    return values ? values + m * count : NULL;
}

/* Passes all motions of a shard to a writer; without one it only notes which there are. */
static void pass(sp_context *context, merge_shard *shard, sp_ensemble_writer *writer)
{
    const int descriptor = tool_open_input(shard->path);
    sp_ensemble_stream stream;
    const sp_ensemble_file *f = &stream.block;

    tool_check(sp_ensemble_open(context, descriptor, false, &stream), shard->path);
    shard->first = -1;
    do {
        tool_check(sp_ensemble_next(&stream), shard->path);
        for (int64_t m = 0; m < f->motion_count; m++) {
            sp_ensemble_row row = {.motion = f->motion[m],
                                   .status = f->status[m],
                                   .iterations = f->iterations[m],
                                   .parameters = row_of(f->parameters, m, f->column_count),
                                   .q = row_of(f->q, m, f->frame_count * f->r),
                                   .qdot = row_of(f->qdot, m, f->frame_count * f->r),
                                   .u = row_of(f->u, m, 3 * f->frame_count * f->point_count)};
            for (int k = 0; k < SP_ENSEMBLE_STATISTICS; k++)
                row.statistics[k] = row_of(f->statistics[k], m, f->signal_count);

            shard->first = shard->first < 0 ? row.motion : shard->first;
            shard->end = row.motion + 1;
            if (writer)
                tool_check(sp_ensemble_append(writer, &row), tool_output_path());
        }
    } while (f->motion_count > 0);

    if (!writer) {
        shard->meta = json_incref(stream.series.meta);
        shard->result = json_incref(stream.series.result);
        shard->total = json_integer_value(json_object_get(shard->meta, "motions"));
        snprintf(shard->mesh, sizeof shard->mesh, "%s", tool_text_of(shard->meta, "mesh"));
        snprintf(shard->basis, sizeof shard->basis, "%s", tool_text_of(shard->meta, "basis"));
        tool_record_archive(shard->path, NULL, stream.series.hash, shard->meta);
    }
    sp_ensemble_close(&stream);
    tool_close_input(descriptor);
}

static void open_shard(sp_context *context, merge_shard *shard)
{
    pass(context, shard, NULL);
}

/* What every row has is the same. */
static void compare(const merge_shard *a, const merge_shard *b)
{
    static const char *const same[] = {"r",       "points",  "frames", "vertices",
                                       "columns", "signals", "rates",  "statistics"};
    for (int i = 0; i < TOOL_COUNT(same); i++) {
        const json_t *one = json_object_get(a->meta, same[i]), *other = json_object_get(b->meta, same[i]);
        if (one != other && !json_equal(one, other))
            tool_fail(SP_INPUT, b->path, "its motions record other things than those of %s: %s differs", a->path,
                      same[i]);
    }
}

/* The members before the first block, from the first shard. */
static sp_ensemble_layout layout_of(sp_context *context, const merge_shard *shard, sp_pool *pool)
{
    const int descriptor = tool_open_input(shard->path);
    const json_t *columns = json_object_get(shard->meta, "columns");
    sp_ensemble_stream stream;
    sp_ensemble_layout layout;

    tool_check(sp_ensemble_open(context, descriptor, false, &stream), shard->path);
    tool_check(sp_ensemble_next(&stream), shard->path);
    layout = (sp_ensemble_layout){.file = stream.block,
                                  .motions = shard->total,
                                  .rates = stream.block.qdot != NULL,
                                  .statistics = stream.block.statistics[0] != NULL};
    layout.file.vertex = tool_allocate_copy(pool, stream.block.vertex, layout.file.point_count, sizeof(int64_t));
    layout.file.time = tool_allocate_copy(pool, stream.block.time, layout.file.frame_count, sizeof(double));

    const char **names = tool_allocate(pool, layout.file.column_count, sizeof *names);
    for (int64_t k = 0; k < layout.file.column_count; k++)
        names[k] = json_string_value(json_array_get(columns, (size_t)k));
    layout.columns = names;
    sp_ensemble_close(&stream);
    tool_close_input(descriptor);
    return layout;
}

static json_t *join(sp_context *context, int64_t count, const merge_shard *shards, const char *mesh, json_t *meta,
                    tool_output *output)
{
    json_t *result = json_object(), *failures = json_array();
    sp_pool pool = {0};
    sp_ensemble_writer *writer;
    (void)mesh;

    const sp_ensemble_layout layout = layout_of(context, &shards[0], &pool);
    tool_facts(meta, sp_kind_ensemble.meta, {"mesh", .text = shards[0].mesh}, {"basis", .text = shards[0].basis});
    tool_check(sp_ensemble_begin(context, tool_output_writer(output), meta, &layout, &writer), tool_output_path());
    for (int64_t i = 0; i < count; i++) {
        merge_shard again = shards[i];
        pass(context, &again, writer);
        const json_t *of_shard = json_object_get(shards[i].result, "failures");
        for (size_t k = 0; k < json_array_size(of_shard) && json_array_size(failures) < SP_ENSEMBLE_FAILURES; k++)
            json_array_append(failures, json_array_get(of_shard, k));
    }
    tool_check(sp_ensemble_finish(writer), tool_output_path());

    const int64_t failed = merge_sum(count, shards, "failed");
    tool_facts(result, sp_kind_ensemble.result, {"motions", .integer = merge_sum(count, shards, "motions")},
               {"failed", .integer = failed}, {"in_lanes", .integer = merge_sum(count, shards, "in_lanes")},
               {"newton_iterations", .integer = merge_sum(count, shards, "newton_iterations")},
               {"failures", .json = json_incref(failures), .leave_out = failed == 0});
    json_decref(failures);
    sp_pool_free(&pool);
    tool_say("%lld shards, %lld motions", (long long)count, (long long)shards[0].total);
    return result;
}

static void release(merge_shard *shard)
{
    (void)shard;
}

const merge_kind merge_ensemble = {.kind = "ensemble",
                                   .whole = "ensemble",
                                   .items = "motions",
                                   .open = open_shard,
                                   .compare = compare,
                                   .join = join,
                                   .release = release};
