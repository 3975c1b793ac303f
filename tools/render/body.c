#include "tools/render/body.h"

#include "formats/export/png.h"
#include "tools/render/series.h"
#include "tools/render/sheet.h"

#include <math.h>
#include <string.h>

/* Sheets have `cells` cells: the first columns, or frames from the first to the last at equal distances. */
static void thin_out(const tool_trajectory *motion, int64_t cells, sp_list *list)
{
    if (motion->path)
        list->count = tool_sheet_spread(cells, list->count, list->data);
    else if (list->count > cells) {
        tool_say("the first %lld of %lld columns", (long long)cells, (long long)list->count);
        list->count = cells;
    }
}

/* Modes in the first row of the sheet, and below it their derivatives as the upper triangle of a matrix: the cell of
 * each frame of the list. */
static const int64_t *lay_out(const tool_trajectory *motion, const sp_list *list, int64_t modes, sp_pool *pool)
{
    const int64_t *frame = list->data, all = motion->columns.columns.count;
    int64_t *cell = tool_allocate_raw(pool, list->count, sizeof *cell),
            *place = tool_allocate(pool, all, sizeof *place);

    for (int64_t i = 0; i < modes; i++)
        cell[i] = place[frame[i]] = i;

    for (int64_t i = modes; i < list->count; i++) {
        const int64_t *pair = motion->derivatives.columns.pair + 2 * (frame[i] - all), a = place[pair[0]],
                      b = place[pair[1]];
        cell[i] = (1 + (a < b ? a : b)) * modes + (a < b ? b : a);
    }

    return cell;
}

/* How many of the frames are modes, beside which there are derivatives; 0: there are none. */
static int64_t modes_beside(const render_options *chosen, const tool_trajectory *motion, const sp_list *list)
{
    enum { MOST = 20 };
    int64_t modes = 0;

    if (!motion->derivatives.path)
        return 0;
    if (!chosen->sheet || strcmp(chosen->sheet, "auto") != 0)
        tool_fail(SP_USAGE, NULL, "modes and derivatives make one sheet: --sheet auto");

    while (modes < list->count && ((const int64_t *)list->data)[modes] < motion->columns.columns.count)
        modes++;

    if (modes > MOST)
        tool_fail(SP_USAGE, NULL, "a sheet with derivatives is of at most %d modes, not of %lld: choose with --columns",
                  MOST, (long long)modes);
    return modes;
}

static void write_picture(sp_context *context, const tool_sheet *sheet, int64_t number)
{
    sp_pool pool = {0};
    uint8_t *bytes;
    int64_t count;
    char *path;
    tool_pattern_path(tool_output_path(), number, &pool, &path);
    tool_check(sp_png_encode(context, &sheet->picture, &pool, &bytes, &count), path);
    tool_write_bytes(path, bytes, count);
    sp_pool_free(&pool);
}

/* Opens the sheet for pictures of these frames (of a trajectory NULL too), and frames --box where it is given. modes >
 * 0: these, and derivatives. */
static void open_sheet(const render_options *chosen, tool_figure *figure, int64_t count, const int64_t *frame,
                       int64_t modes, tool_sheet *sheet)
{
    char cells[32];
    snprintf(cells, sizeof cells, "%lldx%lld", (long long)modes, (long long)modes + 1);
    sheet->longest = tool_figure_longest_caption(figure, count, frame);
    tool_sheet_open(figure->context, figure->color != TOOL_COLOR_NONE && !chosen->no_bar, chosen->size,
                    modes ? cells : chosen->sheet, count, sheet);
    figure->extent = tool_sheet_extent(sheet);
    if (chosen->box_given)
        sp_extent_add_box(&figure->extent, chosen->box, chosen->box + 3);
}

/* Each frame as it comes; range and camera are known. */
static int64_t draw_stream(const render_options *chosen, tool_figure *figure, tool_sheet *sheet)
{
    tool_frames frames = tool_frames_parse(chosen->frames, chosen->every);
    int64_t written = 0;

    open_sheet(chosen, figure, 1, NULL, 0, sheet);
    for (int64_t f = 0; f <= frames.last && tool_trajectory_have(figure->motion, f); f++) {
        if (f == 0)
            tool_trajectory_need_all(figure->motion);
        if (!tool_frames_have(&frames, f))
            continue;

        tool_check(tool_figure_load(figure, f), figure->motion->mesh.path);
        tool_check(tool_sheet_draw(figure, sheet, 0, f), tool_figure_file(figure));
        write_picture(figure->context, sheet, written++);
    }

    if (written == 0)
        tool_fail(SP_USAGE, NULL, "--frames: there are %lld frames", (long long)figure->motion->frame_count);
    return written;
}

/* How many pictures of a film show each frame of the list. */
static const int64_t *schedule(const render_options *chosen, const tool_trajectory *motion, sp_list *list,
                               sp_pool *pool)
{
    double *time = tool_allocate_raw(pool, list->count, sizeof *time);
    if (!motion->path)
        tool_fail(SP_USAGE, NULL, "a film needs a motion: name a trajectory, or draw pictures with -o NAME.png");
    for (int64_t i = 0; i < list->count; i++)
        time[i] = tool_trajectory_time(motion, ((const int64_t *)list->data)[i]);
    return tool_film_schedule(chosen->fps, chosen->speed, &list->count, list->data, time, pool);
}

/* Frames that are drawn. */
typedef struct frames {
    int64_t count;
    const int64_t *frame; /* [count] */
    const int64_t *cell;  /* [count] of the sheet; NULL: in order */
    const int64_t *shown; /* [count] how many pictures of the film show each frame; NULL: no film */
} frames;

/* The frames as chosen, of which a sheet takes as many as it has cells, and opens the sheet. The list is filled. */
static frames choose_frames(const render_options *chosen, tool_figure *figure, tool_sheet *sheet, bool pattern,
                            sp_list *list, sp_pool *pool)
{
    tool_trajectory *motion = figure->motion;
    const bool film = tool_film_named(tool_output_path());

    tool_trajectory_choose(motion, chosen->frames, chosen->every, chosen->columns, list);
    const int64_t modes = modes_beside(chosen, motion, list);
    const int64_t *cell = modes ? lay_out(motion, list, modes, pool) : NULL;
    open_sheet(chosen, figure, list->count, list->data, modes, sheet);
    const int64_t *shown = film ? schedule(chosen, motion, list, pool) : NULL;

    if (chosen->sheet && !modes)
        thin_out(motion, sheet->columns * sheet->rows, list);
    else if (!chosen->sheet && list->count > 1 && !pattern && !film) {
        tool_hint("or a film: -o motion.mp4");
        tool_fail(SP_USAGE, NULL, "%lld pictures need a pattern such as -o frame_%%04d.png, or a --sheet",
                  (long long)list->count);
    }
    return (frames){list->count, list->data, cell, shown};
}

/* One frame after the other, each by all threads: in the cells of a sheet, or as pictures of their own or of a film. */
static void draw_in_turn(const render_options *chosen, tool_figure *figure, tool_sheet *sheet, const frames *f,
                         tool_film *film)
{
    sp_context *context = figure->context;
    for (int64_t i = 0; i < f->count; i++) {
        tool_check(tool_figure_load(figure, f->frame[i]), figure->motion->mesh.path);
        const int64_t next = chosen->sheet ? i : 0;
        tool_check(tool_sheet_draw(figure, sheet, f->cell ? f->cell[i] : next, f->frame[i]), tool_figure_file(figure));

        if (film)
            tool_film_add(film, &sheet->picture, f->shown[i]);
        else if (!chosen->sheet)
            write_picture(context, sheet, i);
        tool_check(sp_progress(context, (double)(i + 1) / (double)f->count), NULL);
    }
    if (chosen->sheet)
        write_picture(context, sheet, 0);
}

/* All frames that are chosen; returns the number of pictures. */
static int64_t draw_frames(const render_options *chosen, tool_figure *figure, tool_sheet *sheet, bool pattern)
{
    sp_list list = {0};
    sp_pool pool = {0};
    const frames f = choose_frames(chosen, figure, sheet, pattern, &list, &pool);
    tool_trajectory_need_all(figure->motion);
    tool_figure_prepare(figure, f.count, f.frame);

    /* Without a given box or range all frames are loaded once for these, and again to be drawn. */
    const bool find_range = figure->color != TOOL_COLOR_NONE && !chosen->range_given;
    const int threads = (int)(f.count < figure->context->threads ? f.count : figure->context->threads);
    tool_render_worker *workers = tool_render_workers_new(figure, sheet, chosen->size, !chosen->sheet, threads, &pool);
    if (!chosen->box_given || find_range)
        tool_render_widen(figure, workers, threads, !chosen->range_given, !chosen->box_given, f.count, f.frame);
    if (find_range)
        tool_say("range of the colours: %.9g to %.9g", figure->range[0], figure->range[1]);

    tool_outputs_hold(true);
    tool_film *film = f.shown ? tool_film_open(tool_output_path(), sheet->width, sheet->height, chosen->fps) : NULL;
    const bool in_turn = chosen->sheet || threads == 1;
    if (!in_turn)
        tool_render_series(figure, workers, threads, f.count, f.frame, film, f.shown);
    tool_render_workers_close(workers, threads);
    if (in_turn)
        draw_in_turn(chosen, figure, sheet, &f, film);
    if (film)
        tool_film_close(film);
    tool_outputs_hold(false);

    sp_list_free(&list);
    sp_pool_free(&pool);
    return chosen->sheet ? 1 : f.count;
}

void tool_render_body(sp_context *context, int count, const char *const *paths, const render_options *chosen)
{
    bool pattern = tool_pattern(tool_output_path()), from_pipe = false;

    for (int i = 0; i < count; i++)
        from_pipe |= !strcmp(paths[i], "-");

    if (chosen->range_given && !(chosen->range[1] > chosen->range[0]))
        tool_fail(SP_USAGE, NULL, "--range: %g is not below %g", chosen->range[0], chosen->range[1]);

    bool stream =
        from_pipe && pattern && chosen->box_given && (chosen->color == TOOL_COLOR_NONE || chosen->range_given);

    tool_trajectory motion;
    tool_trajectory_open(context, count, paths,
                         TOOL_MOTION_DERIVATIVES | (chosen->partial ? TOOL_MOTION_PARTIAL : 0) |
                             (stream ? TOOL_MOTION_STREAM : 0),
                         &motion);

    if (!motion.mesh.path)
        tool_fail(SP_USAGE, NULL, "a picture needs the mesh: name its file too");
    tool_inputs_are(tool_trajectory_inputs(&motion));
    tool_trajectory_ride(&motion, &chosen->ride);

    tool_figure figure = {.context = context,
                          .motion = &motion,
                          .color = (enum tool_color)chosen->color,
                          .normalize = (enum tool_normalize)chosen->normalize,
                          .scale = chosen->scale,
                          .elements = chosen->elements,
                          .lines = chosen->lines,
                          .ghost = chosen->rest,
                          .transparency = (float)(1 - render_opacity(chosen)),
                          .additions = {.fixed = chosen->fixed,
                                        .dynamic = chosen->dynamic,
                                        .fibres = chosen->fibres,
                                        .loads_path = chosen->loads,
                                        .loads_at = chosen->loads_at},
                          .look = render_look(chosen, tool_film_named(tool_output_path())),
                          .range = {INFINITY, -INFINITY}};
    tool_sheet sheet = {.angle = chosen->angle, .look = figure.look, .captions = motion.path || motion.columns.path};

    tool_figure_open(&figure);
    if (chosen->range_given)
        memcpy(figure.range, chosen->range, sizeof figure.range);
    render_aim(chosen, motion.mesh.mesh.up, sheet.view, sheet.up);

    const int64_t written =
        motion.stream ? draw_stream(chosen, &figure, &sheet) : draw_frames(chosen, &figure, &sheet, pattern);

    if (chosen->range_given && (figure.seen[0] < figure.range[0] || figure.seen[1] > figure.range[1]))
        tool_say("--range cuts colours off: the values drawn are %.9g to %.9g", figure.seen[0], figure.seen[1]);
    if (!tool_film_named(tool_output_path()))
        tool_say("%lld picture%s of %lldx%lld", (long long)written, written == 1 ? "" : "s", (long long)sheet.width,
                 (long long)sheet.height);

    tool_sheet_close(&sheet);
    tool_figure_close(&figure);
    tool_trajectory_close(&motion);
}
