#include "tools/stat/source.h"

#include "formats/ensemble.h"
#include "formats/import/text.h"
#include "formats/trajectory.h"
#include "tools/common/inputs.h"
#include "tools/common/trajectory.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

struct stat_source {
    sp_context *context;
    const char *path;
    sp_pool pool;
    enum { OF_ENSEMBLE, OF_TRAJECTORY, OF_TABLE } kind;

    /* the signals */
    int64_t count;
    int64_t *column; /* [count] of a frame */
    char (*name)[SP_NAME_LENGTH];
    int64_t all;                   /* columns of a frame */
    char (*names)[SP_NAME_LENGTH]; /* [all] */
    double rate;
    int64_t first, frames; /* the frames of a motion that count: [first, first + frames) */
    double *samples;       /* [count, frames] */

    /* an ensemble is read block by block */
    int descriptor;
    off_t start;
    sp_ensemble_stream stream;
    bool streaming;
    int64_t motion; /* of the block, the next */

    /* others are in memory, one motion */
    const double *data; /* [frames of the file, all] */
    bool done;
};

/* ---- names and times ---- */

static void name_components(stat_source *s, int64_t points, const int64_t *vertex)
{
    s->all = 3 * points;
    s->names = tool_allocate(&s->pool, s->all, sizeof *s->names);
    for (int64_t i = 0; i < s->all; i++)
        snprintf(s->names[i], sizeof *s->names, "v%lld_%c", (long long)(vertex ? vertex[i / 3] : i / 3), "xyz"[i % 3]);
}

static void name_coordinates(stat_source *s, int64_t r)
{
    s->all = r;
    s->names = tool_allocate(&s->pool, s->all, sizeof *s->names);
    for (int64_t i = 0; i < r; i++)
        snprintf(s->names[i], sizeof *s->names, "q%lld", (long long)i);
}

/* Frames are equally spaced; the last step may be recorded out of turn, and is then left out. */
static void check_times(stat_source *s, int64_t count, const double *time, double settle)
{
    int64_t last = count;
    if (count < 3)
        tool_fail(SP_INPUT, s->path, "%lld frames are too few for statistics", (long long)count);

    const double step = time[1] - time[0];
    for (int64_t k = 1; k < count; k++)
        if (fabs(time[k] - time[k - 1] - step) > 1e-6 * step) {
            if (k + 1 < count)
                tool_fail(SP_INPUT, s->path, "its times are not equally spaced: %g s after frame %lld, %g s before",
                          time[k] - time[k - 1], (long long)k - 1, step);
            last = k;
        }

    s->rate = 1 / step;
    while (s->first < last && time[s->first] < settle - 1e-9 * step)
        s->first++;
    s->frames = last - s->first;
    if (s->frames < 3)
        tool_fail(SP_USAGE, NULL, "--settle: %lld frames are left from %g s on", (long long)s->frames, settle);
}

static void choose(stat_source *s, const tool_texts *signals)
{
    s->count = signals->count ? signals->count : s->all;
    s->column = tool_allocate(&s->pool, s->count, sizeof *s->column);
    s->name = tool_allocate(&s->pool, s->count, sizeof *s->name);
    for (int64_t i = 0; i < s->count; i++) {
        int64_t k = signals->count ? 0 : i;
        while (signals->count && k < s->all && strcmp(s->names[k], signals->value[i]))
            k++;
        if (k == s->all)
            tool_fail(SP_USAGE, s->path, "--signal: it has no \"%s\"; its signals are %s to %s", signals->value[i],
                      s->names[0], s->names[s->all - 1]);
        s->column[i] = k;
        memcpy(s->name[i], s->names[k], sizeof *s->name);
    }
    s->samples = tool_allocate_raw(&s->pool, s->count * s->frames, sizeof *s->samples);
}

/* The chosen columns of a motion, signal by signal. */
static void take(stat_source *s, const double *frames)
{
    for (int64_t i = 0; i < s->count; i++)
        for (int64_t k = 0; k < s->frames; k++)
            s->samples[i * s->frames + k] = frames[(s->first + k) * s->all + s->column[i]];
}

/* ---- an ensemble ---- */

static void begin_stream(stat_source *s)
{
    if (lseek(s->descriptor, s->start, SEEK_SET) < 0)
        tool_fail(SP_INPUT, s->path, "it is a pipe, which cannot be read twice");
    tool_check(sp_ensemble_open(s->context, s->descriptor, false, &s->stream), s->path);
    tool_check(sp_ensemble_next(&s->stream), s->path);
    s->streaming = true;
    s->motion = 0;
}

static const double *frames_of(const sp_ensemble_file *f)
{
    return f->u ? f->u : f->q;
}

static void open_ensemble(stat_source *s, double settle)
{
    const sp_ensemble_file *f = &s->stream.block;
    s->kind = OF_ENSEMBLE;
    s->descriptor = tool_open_input(s->path);
    s->start = lseek(s->descriptor, 0, SEEK_CUR);
    begin_stream(s);
    if (!frames_of(f))
        tool_fail(SP_INPUT, s->path, "it has statistics alone, and no frames");
    if (f->u)
        name_components(s, f->point_count, f->vertex);
    else
        name_coordinates(s, f->r);
    check_times(s, f->frame_count, f->time, settle);
}

static int64_t next_of_ensemble(stat_source *s)
{
    const sp_ensemble_file *f = &s->stream.block;
    for (;;) {
        while (s->motion < f->motion_count && f->status[s->motion])
            s->motion++;
        if (s->motion < f->motion_count)
            break;
        if (f->motion_count == 0)
            return 0;
        tool_check(sp_ensemble_next(&s->stream), s->path);
        s->motion = 0;
    }
    take(s, frames_of(f) + s->motion++ * f->frame_count * s->all);
    return s->frames;
}

/* ---- a trajectory, a table ---- */

static void open_trajectory(stat_source *s, double settle)
{
    sp_trajectory t;
    const int descriptor = tool_open_input(s->path);
    s->kind = OF_TRAJECTORY;
    tool_check(sp_trajectory_read(s->context, descriptor, false, &t), s->path);
    tool_close_input(descriptor);
    tool_record_archive(s->path, NULL, t.hash, t.meta);

    if (t.u)
        name_components(s, t.point_count, t.vertex);
    else
        name_coordinates(s, t.r);
    s->data = tool_allocate_copy(&s->pool, t.u ? t.u : t.q, t.frame_count * s->all, sizeof *s->data);
    check_times(s, t.frame_count, t.time, settle);
    sp_trajectory_free(&t);
}

/* The first line names the columns, of which the first has the times. */
static void open_table(stat_source *s, double settle)
{
    int64_t bytes, fields = 0;
    const char *text = tool_read_bytes(s->path, NULL, &s->pool, &bytes);
    sp_list times = {0}, values = {0};
    sp_text lines;
    bool more = true;

    s->kind = OF_TABLE;
    sp_text_open(&lines, text, bytes, "#", "", false);
    if (!sp_text_line(&lines))
        tool_fail(SP_INPUT, s->path, "it is empty: its first line names the columns");
    s->names = tool_allocate(&s->pool, bytes + 1, sizeof *s->names);
    for (; more; fields++) {
        sp_word field;
        more = sp_text_field(&lines, ',', &field);
        if (fields > 0)
            snprintf(s->names[fields - 1], sizeof *s->names, "%.*s",
                     (int)(field.length < SP_NAME_LENGTH ? field.length : SP_NAME_LENGTH - 1), field.at);
    }
    s->all = fields - 1;
    if (s->all < 1)
        tool_fail(SP_INPUT, s->path, "it has no column behind the times");

    while (sp_text_line(&lines)) {
        int64_t count = 0;
        for (more = true; more; count++) {
            sp_word field;
            double number;
            more = sp_text_field(&lines, ',', &field);
            tool_check(sp_text_field_number(s->context, &lines, count ? "value" : "time", field, &number), s->path);
            if (count < fields)
                *(double *)tool_list_add(count ? &values : &times, 1, sizeof number) = number;
        }
        if (count != fields)
            tool_check(
                sp_text_fail(s->context, &lines, "%lld fields, but %lld columns", (long long)count, (long long)fields),
                s->path);
    }

    s->data = tool_allocate_copy(&s->pool, values.data, values.count, sizeof *s->data);
    check_times(s, times.count, times.data, settle);
    sp_list_free(&times);
    sp_list_free(&values);
}

/* ---- all of them ---- */

stat_source *source_open(sp_context *context, const char *path, const tool_texts *signals, double settle)
{
    sp_pool pool = {0};
    stat_source *s = tool_allocate(&pool, 1, sizeof *s);
    char kind[SP_KIND_LENGTH] = "";
    const char *dot = strrchr(path, '.');

    *s = (stat_source){.context = context, .path = path, .pool = pool};
    if (dot && (!strcmp(dot, ".csv") || !strcmp(dot, ".CSV")))
        open_table(s, settle);
    else {
        tool_peek_kind(context, path, kind);
        if (!strcmp(kind, "ensemble"))
            open_ensemble(s, settle);
        else if (!strcmp(kind, "trajectory"))
            open_trajectory(s, settle);
        else
            tool_fail(SP_INPUT, path, "it is a file of kind %s, neither an ensemble nor a trajectory nor a .csv file",
                      kind);
    }
    choose(s, signals);
    return s;
}

void source_close(stat_source *s)
{
    if (s->kind == OF_ENSEMBLE) {
        if (s->streaming)
            sp_ensemble_close(&s->stream);
        tool_close_input(s->descriptor);
    }
    sp_pool pool = s->pool; /* which the source itself is from */
    sp_pool_free(&pool);
}

int64_t source_signals(const stat_source *s)
{
    return s->count;
}

const char *source_name(const stat_source *s, int64_t signal)
{
    return s->name[signal];
}

double source_rate(const stat_source *s)
{
    return s->rate;
}

int64_t source_next(stat_source *s)
{
    if (s->kind == OF_ENSEMBLE)
        return next_of_ensemble(s);
    if (s->done)
        return 0;
    take(s, s->data);
    s->done = true;
    return s->frames;
}

const double *source_samples(const stat_source *s, int64_t signal)
{
    return s->samples + signal * s->frames;
}

void source_rewind(stat_source *s)
{
    s->done = false;
    if (s->kind != OF_ENSEMBLE)
        return;
    sp_ensemble_close(&s->stream);
    begin_stream(s);
}
