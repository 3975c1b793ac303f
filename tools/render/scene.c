#include "tools/render/scene.h"

#include "formats/export/png.h"
#include "render/render.h"
#include "tools/common/series.h"
#include "tools/render/film.h"
#include "tools/render/marks.h"
#include "tools/render/picture.h"
#include "tools/render/sheet.h"

#include <math.h>
#include <string.h>

/* Linear RGB, one model after the other; planes are pale on a pale background and dark on a dark one. */
static const float PALETTE[][3] = {{0.36f, 0.46f, 0.60f}, {0.75f, 0.36f, 0.12f}, {0.22f, 0.48f, 0.22f},
                                   {0.58f, 0.44f, 0.10f}, {0.40f, 0.26f, 0.55f}, {0.10f, 0.46f, 0.46f},
                                   {0.60f, 0.26f, 0.36f}, {0.42f, 0.38f, 0.32f}};
static const float GROUND[2][3] = {{0.62f, 0.62f, 0.60f}, {0.07f, 0.072f, 0.075f}}, MARK[3] = {0.85f, 0.04f, 0.03f};

/* Of the box's diagonal: half a mark, the longest arrow, and the radius of its shaft. */
static const double HALF_MARK = 0.006, LONGEST = 0.2, SHAFT = 0.003;
/* Likewise: how far planes reach, and how far behind the middle of the picture they begin and end to fade. */
static const double REACH = 60, FADE[2] = {0.75, 5};

typedef struct picture {
    sp_context *context;
    const render_scene_choice *choice;
    tool_scene_trajectory trajectory;
    sp_pool pool;
    tool_sheet sheet;           /* of one cell, or as --sheet says */
    sp_extent extent;           /* of all pictures */
    double diagonal, strongest; /* m, N of the frames drawn */
    float *color;               /* [vertices of the scene, 3] */
    int64_t solid_count;        /* triangles of all bodies but planes */
    int64_t *solid;             /* [solid_count, 3] */
    int64_t plane_count;
    int64_t *plane;      /* [plane_count] bodies */
    double *corners;     /* [plane_count, 4, 3] m, of the frame drawn last */
    sp_drawing *drawing; /* [2 + plane_count] */
    tool_marks marks;    /* of the contacts of a frame */
} picture;

static bool is_plane(const picture *p, int64_t body)
{
    const tool_scene_trajectory *trajectory = &p->trajectory;
    return !trajectory->looks[trajectory->scene.scene.bodies[body].model].rest;
}

static void paint_models(picture *p)
{
    const tool_scene_trajectory *trajectory = &p->trajectory;
    const sp_scene *scene = &trajectory->scene.scene;
    p->color = tool_allocate_raw(&p->pool, trajectory->vertex_count, 3 * sizeof *p->color);
    for (int64_t b = 0; b < trajectory->body_count; b++) {
        const float *rgb = PALETTE[scene->bodies[b].model % TOOL_COUNT(PALETTE)];
        for (int64_t v = trajectory->first_vertex[b]; v < trajectory->first_vertex[b + 1]; v++)
            memcpy(p->color + 3 * v, rgb, 3 * sizeof *rgb);
    }
}

/* Planes are drawn as grounds, all other bodies as one drawing. */
static void part_planes(picture *p)
{
    const tool_scene_trajectory *trajectory = &p->trajectory;

    p->solid = tool_allocate_raw(&p->pool, trajectory->triangle_count, 3 * sizeof *p->solid);
    p->plane = tool_allocate_raw(&p->pool, trajectory->body_count, sizeof *p->plane);

    for (int64_t t = 0; t < trajectory->triangle_count; t++)
        if (!is_plane(p, trajectory->body[t]))
            memcpy(p->solid + 3 * p->solid_count++, trajectory->triangles + 3 * t, 3 * sizeof *p->solid);

    for (int64_t b = 0; b < trajectory->body_count; b++)
        if (is_plane(p, b) && trajectory->first_vertex[b + 1] > trajectory->first_vertex[b])
            p->plane[p->plane_count++] = b;

    p->corners = tool_allocate_raw(&p->pool, p->plane_count, 12 * sizeof *p->corners);
    p->drawing = tool_allocate(&p->pool, 2 + p->plane_count, sizeof *p->drawing);
}

/* Adds the loaded frame to what the camera shows. */
static void add_frame(picture *p)
{
    const tool_scene_trajectory *trajectory = &p->trajectory;
    for (int64_t b = 0; b < trajectory->body_count; b++)
        if (!is_plane(p, b))
            sp_extent_add(&p->extent, trajectory->first_vertex[b + 1] - trajectory->first_vertex[b],
                          trajectory->positions + 3 * trajectory->first_vertex[b]);
}

/* Shared by all pictures: the box, and memory for the contacts of any frame. */
static void look_ahead(picture *p, int64_t count, const int64_t *frame)
{
    tool_scene_trajectory *trajectory = &p->trajectory;
    int64_t most = 0;

    if (p->choice->box)
        sp_extent_add_box(&p->extent, p->choice->box, p->choice->box + 3);

    for (int64_t i = 0; i < count; i++) {
        int64_t first, contacts = tool_scene_trajectory_contacts(trajectory, frame[i], &first);
        most = contacts > most ? contacts : most;
        for (int64_t c = first; c < first + contacts; c++)
            p->strongest = fmax(p->strongest, sp_norm3(trajectory->motion.contact_force + 3 * c));

        if (p->choice->box)
            continue;
        tool_scene_trajectory_load(trajectory, frame[i]);
        add_frame(p);
    }

    p->diagonal = p->extent.low[0] <= p->extent.high[0] ? sp_extent_diagonal(&p->extent) : sqrt(3);
    memcpy(trajectory->low, p->extent.low, sizeof trajectory->low); /* planes are placed about this box */
    memcpy(trajectory->high, p->extent.high, sizeof trajectory->high);

    p->marks =
        tool_marks_new(p->choice->contacts == RENDER_FORCES ? TOOL_MARK_ARROW : TOOL_MARK_OCTAHEDRON, most, &p->pool);
}

/* A mark at a contact, or an arrow along its force that begins there. */
static void place_contact(picture *p, int64_t contact)
{
    const double *place = p->trajectory.motion.contact_place + 3 * contact,
                 *force = p->trajectory.motion.contact_force + 3 * contact;
    double end[3];

    if (p->marks.kind != TOOL_MARK_ARROW) {
        tool_marks_point(&p->marks, place, HALF_MARK * p->diagonal);
        return;
    }

    if (!(sp_norm3(force) > 0))
        return;

    for (int k = 0; k < 3; k++)
        end[k] = place[k] + LONGEST * p->diagonal / p->strongest * force[k];
    tool_marks_line(&p->marks, place, end, SHAFT * p->diagonal);
}

/* A plane that reaches to the edge of the picture. Returns false where the camera is behind it: it would hide the
 * bodies. */
static bool draw_plane(const picture *p, int64_t body, double corner[12], sp_drawing *drawing)
{
    static const int64_t square[6] = {0, 1, 2, 0, 2, 3};
    const tool_scene_trajectory *trajectory = &p->trajectory;
    const double *from = trajectory->positions + 3 * trajectory->first_vertex[body];
    const sp_camera *camera = &p->sheet.camera;
    double u[3], w[3], normal[3], to_eye[3], forward[3];

    sp_subtract3(from + 3, from, u);
    sp_subtract3(from + 6, from, w);
    sp_cross3(u, w, normal);
    sp_subtract3(camera->target, camera->eye, forward);
    sp_subtract3(camera->eye, from, to_eye);

    if (!(camera->angle > 0 ? sp_dot3(normal, to_eye) > 0 : sp_dot3(normal, forward) < 0))
        return false;

    const double wide = REACH * p->diagonal / sp_norm3(w), depth = sp_norm3(forward);
    for (int i = 0; i < 12; i++) {
        const double middle = 0.5 * (from[i % 3] + from[6 + i % 3]);
        corner[i] = middle + wide * (from[i] - middle);
    }

    const float *rgb = GROUND[p->choice->look.dark];
    *drawing = (sp_drawing){.vertex_count = 4,
                            .triangle_count = 2,
                            .vertices = corner,
                            .triangles = square,
                            .base = {rgb[0], rgb[1], rgb[2]},
                            .ground = true,
                            .fade = {depth + FADE[0] * p->diagonal, depth + FADE[1] * p->diagonal}};

    return true;
}

/* Draws a frame into a cell. */
static void draw(picture *p, int64_t number, int64_t frame)
{
    tool_sheet *sheet = &p->sheet;
    tool_scene_trajectory *trajectory = &p->trajectory;
    char caption[80];
    int64_t drawings = 0, first, contacts = tool_scene_trajectory_contacts(trajectory, frame, &first);

    if (p->choice->contacts == RENDER_NO_CONTACTS)
        contacts = 0;
    tool_scene_trajectory_load(trajectory, frame);

    p->marks.count = 0;
    for (int64_t c = 0; c < contacts; c++)
        place_contact(p, first + c);

    p->drawing[drawings++] = (sp_drawing){.vertex_count = trajectory->vertex_count,
                                          .triangle_count = p->solid_count,
                                          .vertices = trajectory->positions,
                                          .triangles = p->solid,
                                          .color = p->color,
                                          .transparency = (float)(1 - p->choice->opacity)};

    if (p->marks.count)
        p->drawing[drawings++] = tool_marks_drawing(&p->marks, MARK);
    for (int64_t i = 0; i < p->plane_count; i++)
        drawings += draw_plane(p, p->plane[i], p->corners + 12 * i, p->drawing + drawings);

    if (number == 0)
        tool_check(tool_sheet_page(p->context, sheet), NULL);

    tool_check(sp_render(p->context, &sheet->camera, p->drawing, drawings, &p->choice->look, &sheet->cell),
               trajectory->path ? trajectory->path : trajectory->scene.path);

    *caption = 0;
    if (trajectory->path)
        snprintf(caption, sizeof caption, "t = %.4g s", tool_scene_trajectory_time(trajectory, frame));

    tool_sheet_paste(sheet, number, caption);
}

static void write_picture(const picture *p, int64_t number)
{
    sp_pool pool = {0};
    uint8_t *bytes;
    int64_t count;
    char *path;
    tool_pattern_path(p->choice->target, number, &pool, &path);
    tool_check(sp_png_encode(p->context, &p->sheet.picture, &pool, &bytes, &count), path);
    tool_write_bytes(path, bytes, count);
    sp_pool_free(&pool);
}

/* How many pictures of a film show each frame of the list. */
static const int64_t *schedule(picture *p, sp_list *list)
{
    int64_t *frame = list->data;
    double *time = tool_allocate_raw(&p->pool, list->count, sizeof *time);
    if (p->trajectory.path)
        for (int64_t i = 0; i < list->count; i++)
            time[i] = tool_scene_trajectory_time(&p->trajectory, frame[i]);
    return tool_film_schedule(p->choice->fps, p->choice->speed, &list->count, frame, time, &p->pool);
}

/* shown [count]: how many pictures of `film` show each frame; film NULL: they are files of their own, or cells of a
 * sheet. */
static void draw_frames(picture *p, int64_t count, const int64_t *frame, tool_film *film, const int64_t *shown)
{
    const bool one = p->choice->sheet;

    tool_outputs_hold(true);

    for (int64_t i = 0; i < count; i++) {
        draw(p, one ? i : 0, frame[i]);
        if (film)
            tool_film_add(film, &p->sheet.picture, shown[i]);
        else if (!one)
            write_picture(p, i);

        tool_check(sp_progress(p->context, (double)(i + 1) / (double)count), NULL);
    }

    if (one)
        write_picture(p, 0);
    if (film)
        tool_film_close(film);

    tool_outputs_hold(false);
}

void tool_render_scene(sp_context *context, int64_t count, const char *const *paths, const render_scene_choice *choice)
{
    picture p = {.context = context, .choice = choice};
    tool_sheet *sheet = &p.sheet;
    sp_list list = {0};

    *sheet = (tool_sheet){.look = choice->look, .angle = choice->angle, .longest = TOOL_FIGURE_TIME_LETTERS};

    tool_scene_trajectory_open(context, count, paths, choice->partial, &p.trajectory);
    sheet->captions = p.trajectory.path;
    tool_scene_trajectory_look(&p.trajectory);
    render_aim(choice->camera, tool_scene_trajectory_up(&p.trajectory), sheet->view, sheet->up);

    tool_scene_trajectory_choose(&p.trajectory, choice->frames, choice->every, &list);
    tool_sheet_open(context, false, choice->size, choice->sheet, list.count, sheet);

    const bool film = tool_film_named(choice->target);
    const int64_t *shown = film ? schedule(&p, &list) : NULL;

    if (choice->sheet)
        list.count = tool_sheet_spread(sheet->columns * sheet->rows, list.count, list.data);
    else if (list.count > 1 && !film && !tool_pattern(choice->target)) {
        tool_hint("or a film: -o motion.mp4");
        tool_fail(SP_USAGE, NULL, "%lld pictures need a pattern such as -o frame_%%04d.png, or a --sheet",
                  (long long)list.count);
    }

    paint_models(&p);
    part_planes(&p);

    p.extent = tool_sheet_extent(sheet);
    look_ahead(&p, list.count, list.data);
    sheet->camera = sp_extent_camera(&p.extent);

    draw_frames(&p, list.count, list.data,
                film ? tool_film_open(choice->target, sheet->width, sheet->height, choice->fps) : NULL, shown);

    const int64_t pictures = choice->sheet ? 1 : list.count;
    if (!film)
        tool_say("%lld picture%s of %lldx%lld", (long long)pictures, pictures == 1 ? "" : "s", (long long)sheet->width,
                 (long long)sheet->height);

    tool_sheet_close(sheet);
    sp_list_free(&list);
    sp_pool_free(&p.pool);
    tool_scene_trajectory_close(&p.trajectory);
}
