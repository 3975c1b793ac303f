/* simrender: pictures of meshes, motions, modes, distance fields and scenes. */
#include "formats/export/png.h"
#include "tools/render/scene.h"
#include "tools/render/series.h"
#include "tools/render/sheet.h"
#include "tools/render/slice.h"

#include <math.h>
#include <string.h>

static struct {
    int color, normalize, contacts;
    const char *frames, *columns, *size, *sheet, *slice;
    int64_t every, samples;
    double view[3], up[3], angle, range[2], box[6], scale;
    bool lines, elements, rest, partial, range_given, box_given, contacts_given, scale_given;
} chosen;

static const tool_option options[] = {
    {"color", 0, TOOL_CHOICE, &chosen.color, NULL, "none", "none|displacement|energy",
     .help = "colour by length of the displacement or strain energy density"},
    {"range", 0, TOOL_VECTOR, chosen.range, "LOW,HIGH", .count = 2,
     .help = "of the colours (default: over all frames drawn)", .given = &chosen.range_given},
    TOOL_FRAMES_OPTIONS(&chosen.frames, &chosen.every),
    {"columns", 0, TOOL_TEXT, &chosen.columns, "LIST",
     .help = "of a file of modes or other columns only these, counted from 1: 1-6,9"},
    {"size", 0, TOOL_TEXT, &chosen.size, "WxH",
     .help = "of the picture in pixels (default 960x720; sheets 480x360 a cell)"},
    {"sheet", 0, TOOL_TEXT, &chosen.sheet, "CxR",
     .help = "one picture of C columns and R rows: the first modes, or frames spread evenly over time"},
    {"slice", 0, TOOL_TEXT, &chosen.slice, "AXIS=FRACTION",
     .help = "of a distance field: the plane x, y or z = this fraction of its box, 0 to 1"},
    {"view", 0, TOOL_VECTOR, chosen.view, "X,Y,Z", "1,-1.8,0.9", .count = 3,
     .help = "direction from the body to the eye"},
    {"up", 0, TOOL_VECTOR, chosen.up, "X,Y,Z", "0,0,1", .count = 3, .help = "what is up in the picture"},
    {"angle", 0, TOOL_REAL, &chosen.angle, "DEG", "25", .low = 0, .high = 150,
     .help = "opening of the camera from bottom to top; 0: parallel"},
    {"box", 0, TOOL_VECTOR, chosen.box, "X0,Y0,Z0,X1,Y1,Z1", .count = 6,
     .help = "what the camera frames, m (default: all that is drawn)", .given = &chosen.box_given},
    {"samples", 0, TOOL_INTEGER, &chosen.samples, "N", "3", .low = 1, .high = 4, .help = "per pixel and direction"},
    {"lines", 0, TOOL_FLAG, &chosen.lines, .help = "the edges of the elements on the boundary"},
    {"elements", 0, TOOL_FLAG, &chosen.elements,
     .help = "the boundary of the elements instead of the embedded surface"},
    {"rest", 0, TOOL_FLAG, &chosen.rest, .help = "the rest state as a pale ghost"},
    {"scale", 0, TOOL_REAL, &chosen.scale, "X", "1", .low = -1e9, .high = 1e9,
     .help = "factor of the displacement (modes: of 12 % of the body's diagonal)", .given = &chosen.scale_given},
    {"normalize", 0, TOOL_CHOICE, &chosen.normalize, NULL, "auto", "auto|largest|mass|none",
     .help = "size of columns: by each one's largest displacement, unit mass norm and one factor for all, as in the "
             "file; auto: none for "
             "snapshots, "
             "else largest"},
    {"contacts", 0, TOOL_CHOICE, &chosen.contacts, NULL, "points", RENDER_CONTACTS,
     .help =
         "of a scene's motion that records them: marks, spikes along the force on the body of the point, or nothing",
     .given = &chosen.contacts_given},
    {"partial", 0, TOOL_FLAG, &chosen.partial,
     .help = "read a trajectory or motion that was cut up to its last whole block"},
};

enum use { BODY = 1, SLICE = 2, SCENE = 4 };

/* Options that do not apply to the figure are usage errors. */
static void check_options(enum use use)
{
    const struct {
        const char *name;
        bool given;
        int use;
    } checks[] = {
        {"color", chosen.color != 0, BODY},
        {"range", chosen.range_given, BODY},
        {"frames", chosen.frames != NULL, BODY | SCENE},
        {"every", chosen.every != 1, BODY | SCENE},
        {"columns", chosen.columns != NULL, BODY},
        {"sheet", chosen.sheet != NULL, BODY},
        {"box", chosen.box_given, BODY | SCENE},
        {"lines", chosen.lines, BODY},
        {"elements", chosen.elements, BODY},
        {"rest", chosen.rest, BODY},
        {"normalize", chosen.normalize != 0, BODY},
        {"scale", chosen.scale_given, BODY | SLICE},
        {"contacts", chosen.contacts_given, SCENE},
        {"partial", chosen.partial, BODY | SCENE},
    };
    for (int i = 0; i < TOOL_COUNT(checks); i++)
        if (checks[i].given && !(checks[i].use & (int)use))
            tool_fail(SP_USAGE, NULL, "--%s means nothing %s", checks[i].name,
                      use == SLICE   ? "with --slice"
                      : use == SCENE ? "with a scene"
                                     : "without a scene");
    if (use == SLICE && tool_argument_count() > 1)
        tool_fail(SP_USAGE, NULL, "--slice is of one file, a distance field");
}

static void check_camera(void)
{
    for (int i = 0; chosen.box_given && i < 3; i++)
        if (!(chosen.box[i] <= chosen.box[i + 3]))
            tool_fail(SP_USAGE, NULL, "--box: %g is not below %g", chosen.box[i], chosen.box[i + 3]);
    if (chosen.view[0] == 0 && chosen.view[1] == 0 && chosen.view[2] == 0)
        tool_fail(SP_USAGE, NULL, "--view: 0,0,0 is no direction");
    if (chosen.up[0] == 0 && chosen.up[1] == 0 && chosen.up[2] == 0)
        tool_fail(SP_USAGE, NULL, "--up: 0,0,0 is no direction");
}

static render_scene_choice scene_choice(void)
{
    return (render_scene_choice){.target = tool_output_path(),
                                 .frames = chosen.frames,
                                 .size = chosen.size,
                                 .every = chosen.every,
                                 .samples = (int)chosen.samples,
                                 .view = {chosen.view[0], chosen.view[1], chosen.view[2]},
                                 .up = {chosen.up[0], chosen.up[1], chosen.up[2]},
                                 .angle = chosen.angle,
                                 .box = chosen.box_given ? chosen.box : NULL,
                                 .contacts = (enum render_contacts)chosen.contacts,
                                 .partial = chosen.partial};
}

/* Sheets have `cells` cells: the first columns, or frames from the first to the last at equal distances. */
static void thin_out(const tool_trajectory *motion, int64_t cells, sp_list *list)
{
    int64_t *frame = list->data, count = list->count;
    if (count <= cells)
        return;
    if (!motion->path)
        tool_say("the first %lld of %lld columns", (long long)cells, (long long)count);
    for (int64_t i = 0; i < cells && motion->path; i++)
        frame[i] = frame[cells > 1 ? i * (count - 1) / (cells - 1) : 0];
    list->count = cells;
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

/* Each frame as it comes; range and camera are known. */
static int64_t draw_stream(tool_figure *figure, tool_sheet *sheet)
{
    tool_frames frames = tool_frames_parse(chosen.frames, chosen.every);
    int64_t written = 0;
    for (int64_t f = 0; f <= frames.last && tool_trajectory_have(figure->motion, f); f++) {
        if (f == 0)
            tool_trajectory_need_all(figure->motion);
        if (!tool_frames_have(&frames, f))
            continue;
        tool_check(tool_figure_load(figure, f), figure->motion->mesh.path);
        tool_check(tool_sheet_draw(figure, sheet, 0, f), NULL);
        write_picture(figure->context, sheet, written++);
    }
    if (written == 0)
        tool_fail(SP_USAGE, NULL, "--frames: there are %lld frames", (long long)figure->motion->frame_count);
    return written;
}

static int64_t draw_frames(tool_figure *figure, tool_sheet *sheet, bool pattern)
{
    sp_context *context = figure->context;
    sp_list list = {0};
    tool_trajectory_choose(figure->motion, chosen.frames, chosen.every, chosen.columns, &list);
    if (chosen.sheet)
        thin_out(figure->motion, sheet->columns * sheet->rows, &list);
    else if (list.count > 1 && !pattern)
        tool_fail(SP_USAGE, NULL, "%lld pictures need a pattern such as -o frame_%%04d.png, or a --sheet",
                  (long long)list.count);
    const int64_t *frame = list.data;
    int64_t count = list.count;
    tool_trajectory_need_all(figure->motion);
    tool_figure_prepare(figure, count, frame);
    bool two_passes = !chosen.box_given || (figure->color != TOOL_COLOR_NONE && !chosen.range_given);
    const int threads = (int)(count < context->threads ? count : context->threads);
    sp_pool pool = {0};
    tool_render_worker *workers = tool_render_workers_new(figure, sheet, chosen.size, !chosen.sheet, threads, &pool);
    if (two_passes)
        tool_render_widen(figure, workers, threads, !chosen.range_given, !chosen.box_given, count, frame);
    if (figure->color != TOOL_COLOR_NONE && !chosen.range_given)
        tool_say("range of the colours: %.9g to %.9g", figure->range[0], figure->range[1]);
    tool_outputs_hold(true);
    if (!chosen.sheet && threads > 1)
        tool_render_series(figure, workers, threads, count, frame);
    tool_render_workers_close(workers, threads);
    sp_pool_free(&pool);
    for (int64_t i = 0; i < count && (chosen.sheet || threads == 1); i++) { /* one picture: all threads draw it */
        tool_check(tool_figure_load(figure, frame[i]), figure->motion->mesh.path);
        tool_check(tool_sheet_draw(figure, sheet, chosen.sheet ? i : 0, frame[i]), NULL);
        if (!chosen.sheet)
            write_picture(context, sheet, i);
        tool_check(sp_progress(context, (double)(i + 1) / (double)count), NULL);
    }
    if (chosen.sheet) {
        tool_sheet_blank(figure, sheet, count);
        write_picture(context, sheet, 0);
    }
    tool_outputs_hold(false);
    sp_list_free(&list);
    return chosen.sheet ? 1 : count;
}

/* A mesh, in the frames of a motion or displaced by columns. */
static void draw_body(sp_context *context, int count, const char *const *paths)
{
    static const char *const of_motions[] = {"color", "rest", "scale"};
    bool pattern = tool_pattern(tool_output_path()), from_pipe = false;
    for (int i = 0; i < count; i++)
        from_pipe |= !strcmp(paths[i], "-");
    if (chosen.range_given && !(chosen.range[1] > chosen.range[0]))
        tool_fail(SP_USAGE, NULL, "--range: %g is not below %g", chosen.range[0], chosen.range[1]);
    if (chosen.color == TOOL_COLOR_NONE)
        tool_option_idle("range", "without --color");
    if (chosen.sheet && pattern)
        tool_fail(SP_USAGE, NULL, "--sheet makes one picture: -o takes no pattern");
    bool stream = from_pipe && pattern && chosen.box_given && (chosen.color == TOOL_COLOR_NONE || chosen.range_given);

    tool_trajectory motion;
    tool_trajectory_open(context, count, paths,
                         (chosen.partial ? TOOL_MOTION_PARTIAL : 0) | (stream ? TOOL_MOTION_STREAM : 0), &motion);
    if (!motion.mesh.path)
        tool_fail(SP_USAGE, NULL, "a picture needs the mesh: name its file too");
    if (!motion.path)
        tool_option_idle("partial", "without a trajectory");
    for (int i = 0; !motion.path && !motion.columns.path && i < TOOL_COUNT(of_motions); i++)
        tool_option_idle(of_motions[i], "for a mesh alone, which does not move");
    tool_figure figure = {.context = context,
                          .motion = &motion,
                          .color = (enum tool_color)chosen.color,
                          .normalize = (enum tool_normalize)chosen.normalize,
                          .scale = chosen.scale,
                          .elements = chosen.elements,
                          .lines = chosen.lines,
                          .ghost = chosen.rest,
                          .samples = (int)chosen.samples,
                          .range = {INFINITY, -INFINITY}};
    tool_sheet sheet = {.angle = chosen.angle};
    tool_figure_open(&figure);
    for (int i = 0; i < 3 && chosen.box_given; i++) {
        figure.low[i] = chosen.box[i];
        figure.high[i] = chosen.box[i + 3];
    }
    if (chosen.range_given)
        memcpy(figure.range, chosen.range, sizeof figure.range);
    memcpy(sheet.view, chosen.view, sizeof sheet.view);
    memcpy(sheet.up, chosen.up, sizeof sheet.up);
    tool_sheet_open(&figure, chosen.size, chosen.sheet, &sheet);
    int64_t written = motion.stream ? draw_stream(&figure, &sheet) : draw_frames(&figure, &sheet, pattern);
    tool_say("%lld picture%s of %lldx%lld", (long long)written, written == 1 ? "" : "s", (long long)sheet.width,
             (long long)sheet.height);
    tool_sheet_close(&sheet);
    tool_figure_close(&figure);
    tool_trajectory_close(&motion);
}

static const tool_spec spec = {
    .name = "simrender",
    .arguments = "FILE...",
    .least = 1,
    .most = 16,
    .summary = "Pictures of meshes, motions, modes, distance fields and scenes as PNG.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_ANY_FORMAT | TOOL_THREADS,
    .examples = "  simrender spoon.npz -o spoon.png\n"
                "  simrender spoon.npz basis.npz traj.npz --color energy --every 4 \\\n"
                "    -o frame_%04d.png\n"
                "  simrender spoon.npz modes.npz --sheet 4x3 --color displacement -o modes.png\n"
                "  simrender spoon.npz deriv.npz --sheet 5x4 --normalize mass --rest \\\n"
                "    -o derivatives.png\n"
                "  simrender field.npz --slice z=0.5 -o slice.png\n"
                "  simrender scene.json motion.npz --every 4 --contacts forces -o frame_%04d.png\n"
                "  simulate ... -o - | simrender spoon.npz basis.npz - --box -1,-1,-1,1,1,1 \\\n"
                "    -o frame_%04d.png\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    const char *paths[16];
    bool scene = false;
    for (int i = 0; i < tool_argument_count(); i++) {
        paths[i] = tool_argument(i);
        scene |= tool_is_scene(paths[i]);
    }
    check_options(chosen.slice ? SLICE : scene ? SCENE : BODY);
    check_camera();
    if (chosen.slice)
        tool_render_slice(context, paths[0], chosen.slice, chosen.size);
    else if (scene) {
        const render_scene_choice choice = scene_choice();
        tool_render_scene(context, tool_argument_count(), paths, &choice);
    } else
        draw_body(context, tool_argument_count(), paths);
    return tool_end();
}
