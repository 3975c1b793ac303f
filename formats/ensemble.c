#include "formats/ensemble.h"

#include "formats/kind_tables.h"

#include <stdlib.h>
#include <string.h>

#define MOST 0x1p40

#define AT(member) .at = offsetof(sp_ensemble_file, member)
static const sp_symbol symbols[] = {{"r", AT(r), .given = true},
                                    {"p", AT(point_count), .given = true},
                                    {"f", AT(frame_count), .given = true},
                                    {"vertices", AT(vertex_count), .given = true},
                                    {"k", AT(column_count), .given = true},
                                    {"s", AT(signal_count), .given = true},
                                    {"n", AT(motion_count)},
                                    {0}};

static const sp_member_rule rules[] = {
    {"vertex", "p", SP_I8, WITH("points"), AT(vertex), BELOW("vertices"), .meaning = "the mesh vertex of each point"},
    {"time", "f", SP_F8, WITH("frames"), AT(time), .unit = "s", .meaning = "of the frames, which all motions share"},
    {"motion/B", "n", SP_I8, AT(motion), FROM(0), .meaning = "number of the motion, increasing over all blocks"},
    {"status/B", "n", SP_I8, AT(status), WITHIN(0, 5),
     .meaning = "0, or the exit code of a motion that failed, whose numbers are all 0"},
    {"iterations/B", "n", SP_I8, AT(iterations), FROM(0), .meaning = "Newton iterations of the motion"},
    {"parameters/B", "n, k", SP_F8, WITH("columns"), AT(parameters),
     .meaning = "numbers of the columns of the table, in which the motions differ"},
    {"q/B", "n, f, r", SP_F8, WITH("r"), AT(q), .meaning = "reduced coordinates"},
    {"qdot/B", "n, f, r", SP_F8, WITH("rates"), AT(qdot), .unit = "1/s", .meaning = "their rates"},
    {"u/B", "n, f, p, 3", SP_F8, WITH("points"), AT(u), .unit = "m", .meaning = "displacement of the points"},
    {"mean/B", "n, s", SP_F8, WITH("statistics"), AT(statistics[SP_ENSEMBLE_MEAN]),
     .meaning = "mean of each signal over all steps"},
    {"rms/B", "n, s", SP_F8, WITH("statistics"), AT(statistics[SP_ENSEMBLE_RMS]), FROM(0),
     .meaning = "its root mean square"},
    {"least/B", "n, s", SP_F8, WITH("statistics"), AT(statistics[SP_ENSEMBLE_LEAST]), .meaning = "its least value"},
    {"largest/B", "n, s", SP_F8, WITH("statistics"), AT(statistics[SP_ENSEMBLE_LARGEST]),
     .meaning = "its largest value"},
    {0}};
#undef AT

static const sp_fact ensemble_meta[] = {
    {"r", SP_INTEGER, .meaning = "number of recorded coordinates r; 0 if there are none"},
    {"points", SP_INTEGER, .meaning = "number of points p"},
    {"frames", SP_INTEGER, .meaning = "number of frames f of each motion; 0 with statistics alone"},
    {"vertices", SP_INTEGER, .meaning = "of the mesh, ≥ 1"},
    {"motions", SP_INTEGER, .meaning = "number of motions of the whole study"},
    {"columns", SP_STRINGS, .when = "optional", .meaning = "names of the columns of the table with numbers"},
    {"signals", SP_INTEGER, .when = "with `statistics`", .meaning = "number of signals s"},
    {"rates", SP_BOOLEAN, .when = "optional", .meaning = "true: the rates of the coordinates are recorded"},
    {"statistics", SP_BOOLEAN, .when = "optional", .meaning = "true: statistics of the signals are recorded"},
    {"mesh", SP_HASH, .meaning = "of the mesh"},
    {"basis", SP_HASH, .meaning = "of the basis"},
    {0}};

static const sp_fact ensemble_result[] = {
    {"motions", SP_INTEGER, .meaning = "motions in this file"},
    {"failed", SP_INTEGER, .meaning = "motions that failed"},
    {"in_lanes", SP_INTEGER, .meaning = "motions that were integrated in lanes"},
    {"newton_iterations", SP_INTEGER, .meaning = "Newton iterations of all motions"},
    {"failures", SP_OBJECTS, .when = "where motions failed",
     .meaning = "`motion` and `reason` of the first hundred motions that failed"},
    {0}};

const sp_kind sp_kind_ensemble = {"ensemble", symbols, rules, ensemble_meta, ensemble_result};

/* ---- writing ---- */

struct sp_ensemble_writer {
    sp_ensemble_file file;
    sp_series_writer *series;
};

static int fill_meta(sp_context *context, const sp_ensemble_layout *layout, json_t *meta)
{
    const sp_ensemble_file *f = &layout->file;
    json_t *columns = json_array();
    bool failed = !columns;

    for (int64_t k = 0; k < f->column_count; k++)
        failed |= json_array_append_new(columns, json_string(layout->columns[k])) != 0;
    failed |= json_object_set_new(meta, "r", json_integer(f->r)) ||
              json_object_set_new(meta, "points", json_integer(f->point_count)) ||
              json_object_set_new(meta, "frames", json_integer(f->frame_count)) ||
              json_object_set_new(meta, "vertices", json_integer(f->vertex_count)) ||
              json_object_set_new(meta, "motions", json_integer(layout->motions)) ||
              (f->column_count && json_object_set(meta, "columns", columns)) ||
              (layout->statistics && (json_object_set_new(meta, "signals", json_integer(f->signal_count)) ||
                                      json_object_set_new(meta, "statistics", json_true()))) ||
              (layout->rates && json_object_set_new(meta, "rates", json_true()));
    json_decref(columns);
    return failed ? sp_fail_memory(context) : SP_OK;
}

int sp_ensemble_begin(sp_context *context, sp_writer *writer, json_t *meta, const sp_ensemble_layout *layout,
                      sp_ensemble_writer **result)
{
    sp_ensemble_writer *ensemble = calloc(1, sizeof *ensemble);
    int status = ensemble ? fill_meta(context, layout, meta) : sp_fail_memory(context);

    if (status == SP_OK) {
        ensemble->file = layout->file;
        status = sp_series_begin(context, writer, &sp_kind_ensemble, meta, &ensemble->file, &ensemble->series);
    }
    if (status != SP_OK)
        free(ensemble);
    else
        *result = ensemble;
    return status;
}

int sp_ensemble_append(sp_ensemble_writer *ensemble, const sp_ensemble_row *row)
{
    return sp_series_append(ensemble->series,
                            (const void *[]){&row->motion, &row->status, &row->iterations, row->parameters, row->q,
                                             row->qdot, row->u, row->statistics[SP_ENSEMBLE_MEAN],
                                             row->statistics[SP_ENSEMBLE_RMS], row->statistics[SP_ENSEMBLE_LEAST],
                                             row->statistics[SP_ENSEMBLE_LARGEST]},
                            0);
}

int sp_ensemble_finish(sp_ensemble_writer *ensemble)
{
    const int status = sp_series_finish(ensemble->series);
    free(ensemble);
    return status;
}

/* ---- reading ---- */

/* A count of meta, from 0 (or 1) on. */
static int take_count(sp_context *context, const json_t *meta, const char *key, int64_t least, int64_t *count)
{
    const json_t *value = json_object_get(meta, key);
    *count = json_integer_value(value);
    if (!json_is_integer(value) || *count < least || (double)*count > MOST)
        return sp_fail(context, SP_INPUT, "meta: \"%s\" is not a whole number from %lld on", key, (long long)least);
    return SP_OK;
}

/* Times increase, and the number of a motion is below that of the study. */
static int check(sp_series_stream *stream, void *object)
{
    const sp_ensemble_file *f = object;
    const int64_t motions = json_integer_value(json_object_get(stream->meta, "motions"));
    for (int64_t i = 0; i < f->motion_count; i++)
        if (f->motion[i] >= motions)
            return sp_fail(stream->context, SP_INPUT, "motion: number %lld of %lld", (long long)f->motion[i],
                           (long long)motions);
    for (int64_t k = 1; k < f->frame_count; k++)
        if (!(f->time[k] > f->time[k - 1]))
            return sp_fail(stream->context, SP_INPUT, "time: frame %lld is at %.17g s, the one before it at %.17g s",
                           (long long)k, f->time[k], f->time[k - 1]);
    return SP_OK;
}

int sp_ensemble_open(sp_context *context, int descriptor, bool partial, sp_ensemble_stream *stream)
{
    sp_ensemble_file *f = &stream->block;
    int64_t motions;
    int status;
    *stream = (sp_ensemble_stream){0};
    SP_PASS(sp_series_open(context, descriptor, partial, &sp_kind_ensemble, &stream->series));

    const json_t *meta = stream->series.meta, *columns = json_object_get(meta, "columns");
    stream->series.check = check;
    SP_TRY(take_count(context, meta, "r", 0, &f->r));
    SP_TRY(take_count(context, meta, "points", 0, &f->point_count));
    SP_TRY(take_count(context, meta, "frames", 0, &f->frame_count));
    SP_TRY(take_count(context, meta, "vertices", 1, &f->vertex_count));
    SP_TRY(take_count(context, meta, "motions", 1, &motions));
    if (json_is_true(json_object_get(meta, "statistics")))
        SP_TRY(take_count(context, meta, "signals", 1, &f->signal_count));
    f->column_count = (int64_t)json_array_size(columns);

    if (f->frame_count * f->r == 0 && f->frame_count * f->point_count == 0 && f->signal_count == 0)
        status = sp_fail(context, SP_INPUT, "meta: neither coordinates nor points nor statistics are recorded");
done:
    if (status != SP_OK)
        sp_ensemble_close(stream);
    return status;
}

int sp_ensemble_next(sp_ensemble_stream *stream)
{
    return sp_series_next(&stream->series, &stream->block);
}

void sp_ensemble_close(sp_ensemble_stream *stream)
{
    sp_series_close(&stream->series);
}

int sp_ensemble_read(sp_context *context, int descriptor, bool partial, sp_ensemble_contents *contents)
{
    *contents = (sp_ensemble_contents){0};
    SP_PASS(sp_ensemble_open(context, descriptor, partial, &contents->stream));
    const int status = sp_series_read(&contents->stream.series, &contents->stream.block, contents->owned);
    if (status != SP_OK)
        sp_ensemble_contents_free(contents);
    return status;
}

void sp_ensemble_contents_free(sp_ensemble_contents *contents)
{
    for (int i = 0; i < SP_SERIES_MOST; i++)
        sp_list_free(&contents->owned[i]);
    sp_ensemble_close(&contents->stream);
}
