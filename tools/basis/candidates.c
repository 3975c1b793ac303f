#include "tools/basis/candidates.h"

#include "basis/pca.h"
#include "formats/trajectory.h"
#include "tools/common/series.h"

#include <math.h>
#include <string.h>

enum { MOST_COLUMNS = 1000000 };

/* Squares of entries up to this, times masses and summed, do not overflow. */
static const double LARGEST = 1e130;

/* ---- memory ---- */

/* Bytes that `count` columns need when none of them is in memory. */
static int64_t least(const candidates *set, int64_t count)
{
    return sp_store_workspace(set->metric, set->store.rows, count) + sp_mass_pca_matrices(count);
}

/* How many blocks may be in memory when there are `count` columns. */
static int64_t resident(const candidates *set, int64_t count)
{
    int64_t left = set->choice.memory - least(set, count),
            block = SP_STORE_WIDTH * set->store.rows * (int64_t)sizeof(double);
    return !set->choice.memory ? INT64_MAX : left > 0 ? left / block : 0;
}

/* Only when all columns are there is the least known. */
static void check_memory(const candidates *set)
{
    int64_t needed = least(set, set->store.count);
    if (set->choice.memory && set->choice.memory < needed)
        tool_fail(SP_SYSTEM, NULL,
                  "--memory: %lld columns of %lld rows take at least %lldM beside the mesh and its matrices",
                  (long long)set->store.count, (long long)set->store.rows, (long long)((needed - 1) >> 20) + 1);
}

/* ---- which columns ---- */

static void choose(candidates *set)
{
    sp_list list = {0};
    if (!set->choice.columns)
        return;

    tool_parse_list("columns", set->choice.columns, 1, MOST_COLUMNS, &list);
    const int64_t *number = list.data;
    for (int64_t i = 0; i < list.count; i++)
        set->numbers = number[i] >= set->numbers ? number[i] + 1 : set->numbers;

    set->place = tool_allocate_raw(&set->pool, set->numbers, sizeof *set->place);
    set->next = tool_allocate_raw(&set->pool, list.count, sizeof *set->next);
    for (int64_t i = 0; i < set->numbers; i++)
        set->place[i] = -1;

    /* A column may be named several times: `next` chains its places. */
    for (int64_t i = 0; i < list.count; i++) {
        set->next[i] = set->place[number[i]];
        set->place[number[i]] = i;
    }
    set->number = list;
}

/* A rectangle of one column of the store, which grows to it. */
static int put_at(candidates *set, int64_t place, int64_t row, int64_t height, const double *values)
{
    int status = SP_OK;
    if (place >= set->store.count)
        status = sp_store_grow(set->context, &set->store, place + 1, resident(set, place + 1));
    return status == SP_OK ? sp_store_write(set->context, &set->store, row, height, place, 1, values) : status;
}

/* Copies rows [row, row + height) of a column of the files to their place; those of fixed degrees of freedom become
 * 0. */
static int put(candidates *set, candidate_file *file, int64_t column, int64_t row, int64_t height, double *values)
{
    int64_t number = file->first + column;
    int status = SP_OK;

    for (int64_t i = 0; i < height; i++) {
        if (set->body->dof[row + i] < 0) {
            file->fixed_motion = fmax(file->fixed_motion, fabs(values[i]));
            values[i] = 0;
        }
        if (fabs(values[i]) > LARGEST)
            return sp_fail(set->context, SP_INPUT, "column %lld has the entry %g, whose square overflows: scale it",
                           (long long)column, values[i]);
    }

    if (!set->place)
        return put_at(set, number, row, height, values);
    for (int64_t place = number < set->numbers ? set->place[number] : -1; place >= 0 && status == SP_OK;
         place = set->next[place])
        status = put_at(set, place, row, height, values);
    return status;
}

/* ---- files ---- */

typedef struct destination {
    candidates *set;
    candidate_file *file;
} destination;

static int take(void *data, int64_t rows, int64_t count, int64_t row, int64_t height, int64_t first, int64_t width,
                double *values)
{
    destination *to = data;
    int status = SP_OK;
    (void)rows, (void)count;
    for (int64_t c = 0; c < width && status == SP_OK; c++)
        status = put(to->set, to->file, first + c, row, height, values + c * height);
    return status;
}

static double largest(int64_t count, const double *values)
{
    double most = 0;
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs(values[i]));
    return most;
}

/* The deformation of a frame; 0 where it is that of Newton's tolerance in a motion as a whole, such as a free fall. */
static void deform(const sp_mean_axes *axes, int64_t rows, double *u)
{
    static const double least = 1e-9;
    const double moved = largest(rows, u);
    if (moved > 0)
        sp_mean_axes_deformation(axes, u);
    if (largest(rows, u) <= least * moved)
        memset(u, 0, (size_t)rows * sizeof *u);
}

static void read_trajectory(candidates *set, candidate_file *file, sp_reader *reader, json_t *meta)
{
    sp_trajectory_stream *stream;
    sp_trajectory block;

    tool_check(sp_trajectory_continue(set->context, reader, meta, &stream), file->path);
    for (int64_t frames = 0;; frames += block.frame_count) {
        tool_check(sp_trajectory_next(stream, &block), file->path);
        if (block.frame_count == 0)
            break;

        if (!block.u || block.vertex || block.point_count != set->mesh->mesh.vertex_count)
            tool_fail(SP_INPUT, file->path,
                      "it does not have the displacements of all vertices (simulate --record all)");

        for (int64_t f = 0; f < block.frame_count; f++) {
            double *u = block.u + f * set->store.rows;
            if ((frames + f) % set->choice.every)
                continue;
            if (set->choice.axes)
                deform(set->choice.axes, set->store.rows, u);
            tool_check(put(set, file, file->count++, 0, set->store.rows, u), NULL);
        }
    }

    tool_record_input(file->path, NULL, block.hash, block.meta);
    sp_trajectory_close(stream);
}

static void read_columns(candidates *set, candidate_file *file, sp_reader *reader, const sp_array *first, sp_file *open)
{
    tool_check(sp_file_rest(set->context, reader, first, true, open), file->path);
    tool_record_archive(file->path, NULL, open->hash, open->meta);
    tool_check(sp_columns_read(set->context, open, set->store.rows, &file->columns), file->path);
    tool_check(sp_columns_whole(set->context, &file->columns), file->path);
    sp_file_free(open);
    sp_reader_close(reader);
    file->count = file->columns.count;
    if (!*file->columns.mesh)
        tool_warn(file->path, "it does not say which mesh it belongs to");
}

static void read_file(candidates *set, candidate_file *file)
{
    static const char *const kinds[] = {"modes", "derivatives", "snapshots", "basis", "trajectory", NULL};
    sp_columns_pieces pieces = {.data = &(destination){set, file}, .take = take};
    sp_reader *reader;
    sp_array first;
    sp_file open;
    int descriptor = tool_open_input(file->path);

    tool_check(sp_reader_open(set->context, descriptor, false, &reader), file->path);
    sp_columns_divert(set->context, reader, set->store.rows, &pieces);
    tool_check(sp_file_begin(set->context, reader, kinds, &open, &first), file->path);

    snprintf(file->kind, sizeof file->kind, "%s", *sp_file_kind(&open) ? sp_file_kind(&open) : "snapshots");
    const char *made_for = json_string_value(json_object_get(open.meta, "mesh"));
    tool_check_hash(file->path, "mesh", made_for ? made_for : "", set->mesh->hash);

    if (!strcmp(file->kind, "trajectory")) {
        json_t *meta = json_incref(open.meta);
        sp_file_free(&open);
        read_trajectory(set, file, reader, meta);
    } else
        read_columns(set, file, reader, &first, &open);

    sp_columns_pieces_free(&pieces);
    tool_close_input(descriptor);

    if (file->fixed_motion > 0)
        tool_warn(file->path, "it moves fixed vertices (by up to %.3g): those rows are taken as 0", file->fixed_motion);
}

void candidates_read(sp_context *context, const tool_mesh *mesh, const sp_fe_space *body, const sp_metric *metric,
                     const candidate_choice *choice, int64_t count, const char *const *paths, candidates *set)
{
    *set = (candidates){
        .context = context, .mesh = mesh, .body = body, .metric = metric, .choice = *choice, .file_count = count};

    sp_store_outside outside = tool_scratch_new(tool_output_path(), metric->rows, &set->scratch);
    sp_store_new(metric->rows, &outside, &set->store);
    set->files = tool_allocate(&set->pool, count, sizeof *set->files);
    choose(set);

    for (int64_t f = 0; f < count; f++) {
        set->files[f].path = paths[f];
        set->files[f].first = set->total;
        read_file(set, &set->files[f]);
        set->total += set->files[f].count;
    }

    if (set->numbers > set->total)
        tool_fail(SP_USAGE, NULL, "--columns: %lld is out of range (1 to %lld)", (long long)set->numbers,
                  (long long)set->total);

    if (!set->place)
        for (int64_t c = 0; c < set->total; c++) {
            int64_t *to = tool_list_add(&set->number, 1, sizeof *to);
            *to = c;
        }

    check_memory(set);
    tool_check(sp_store_evict(context, &set->store, resident(set, set->store.count)), NULL);
}

void candidates_free(candidates *set)
{
    for (int64_t f = 0; f < set->file_count; f++)
        sp_columns_free(&set->files[f].columns);
    sp_list_free(&set->number);
    sp_store_free(&set->store);
    tool_scratch_close(&set->scratch);
    sp_pool_free(&set->pool);
}

bool candidates_have(const candidates *set, const char *kind)
{
    bool have = false;
    for (int64_t i = 0; i < set->file_count; i++)
        have |= !strcmp(set->files[i].kind, kind);
    return have;
}

const candidate_file *candidates_origin(const candidates *set, int64_t c, int64_t *column)
{
    int64_t number = ((const int64_t *)set->number.data)[c], f = set->file_count - 1;
    while (set->files[f].first > number)
        f--;
    *column = number - set->files[f].first;
    return &set->files[f];
}

void candidates_keep(candidates *set, int64_t count, const int64_t *index)
{
    int64_t *number = set->number.data;
    tool_check(sp_store_keep(set->context, &set->store, count, index), NULL);
    for (int64_t c = 0; c < count; c++)
        number[c] = number[index[c]];
    set->number.count = count;
}
