#include "tools/render/scene.h"

#include "formats/export/png.h"
#include "render/render.h"
#include "tools/common/series.h"
#include "tools/render/picture.h"
#include "tools/render/sheet.h"

#include <math.h>
#include <string.h>

/* Linear RGB, one model after the other; planes are pale. */
static const float PALETTE[][3] = {{0.36f, 0.46f, 0.60f}, {0.75f, 0.36f, 0.12f}, {0.22f, 0.48f, 0.22f},
                                   {0.58f, 0.44f, 0.10f}, {0.40f, 0.26f, 0.55f}, {0.10f, 0.46f, 0.46f},
                                   {0.60f, 0.26f, 0.36f}, {0.42f, 0.38f, 0.32f}};
static const float GROUND[3] = {0.62f, 0.62f, 0.60f}, MARK[3] = {0.85f, 0.04f, 0.03f};

/* Of the box's diagonal: half a mark, the longest spike, and half its foot. */
static const double HALF_MARK = 0.006, SPIKE = 0.2, HALF_FOOT = 0.004;

typedef struct picture {
    sp_context *context;
    const render_scene_choice *choice;
    tool_scene_trajectory trajectory;
    sp_pool pool;
    sp_camera camera;
    sp_image image;
    int letters;
    double diagonal, strongest; /* m, N of the frames drawn */
    float *color;               /* [vertices of the scene, 3] */
    double *mark;               /* [6, 3] of each contact of a frame: the most that any drawn has */
    int64_t *mark_triangles;    /* [8, 3] of each */
} picture;

static void paint_models(picture *p)
{
    const tool_scene_trajectory *trajectory = &p->trajectory;
    const sp_scene *scene = &trajectory->scene.scene;
    p->color = tool_allocate_raw(&p->pool, trajectory->vertex_count, 3 * sizeof *p->color);
    for (int64_t b = 0; b < trajectory->body_count; b++) {
        const int64_t model = scene->bodies[b].model;
        const float *rgb = trajectory->looks[model].rest ? PALETTE[model % TOOL_COUNT(PALETTE)] : GROUND;
        for (int64_t v = trajectory->first_vertex[b]; v < trajectory->first_vertex[b + 1]; v++)
            memcpy(p->color + 3 * v, rgb, 3 * sizeof *rgb);
    }
}

/* Shared by all pictures: the box, and memory for the contacts of any frame. */
static void look_ahead(picture *p, int64_t count, const int64_t *frame)
{
    tool_scene_trajectory *trajectory = &p->trajectory;
    int64_t most = 0;
    for (int i = 0; i < 3 && p->choice->box; i++) {
        trajectory->low[i] = p->choice->box[i];
        trajectory->high[i] = p->choice->box[i + 3];
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t first, contacts = tool_scene_trajectory_contacts(trajectory, frame[i], &first);
        most = contacts > most ? contacts : most;
        for (int64_t c = first; c < first + contacts; c++)
            p->strongest = fmax(p->strongest, sp_norm3(trajectory->motion.contact_force + 3 * c));
        if (p->choice->box)
            continue;
        tool_scene_trajectory_load(trajectory, frame[i]);
        tool_scene_trajectory_widen(trajectory);
    }
    for (int k = 0; k < 3; k++)
        p->diagonal = hypot(p->diagonal,
                            trajectory->low[k] <= trajectory->high[k] ? trajectory->high[k] - trajectory->low[k] : 1);
    p->mark = tool_allocate_raw(&p->pool, most, 18 * sizeof *p->mark);
    p->mark_triangles = tool_allocate_raw(&p->pool, most, 24 * sizeof *p->mark_triangles);
    for (int64_t i = 0; i < most; i++) {
        static const int64_t octahedron[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5};
        for (int k = 0; k < 24; k++)
            p->mark_triangles[24 * i + k] = 6 * i + octahedron[k];
    }
}

/* An octahedron about a contact; as a spike its upper corner is moved along the force. */
static void place_mark(const picture *p, int64_t contact, double corner[18])
{
    const double *place = p->trajectory.motion.contact_place + 3 * contact,
                 *force = p->trajectory.motion.contact_force + 3 * contact;
    const double length = sp_norm3(force);
    double axis[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, reach[3] = {HALF_MARK, HALF_MARK, HALF_MARK};
    if (p->choice->contacts == RENDER_FORCES && length > 0) {
        double helper[3] = {0, 0, 0};
        for (int k = 0; k < 3; k++)
            axis[2][k] = force[k] / length;
        helper[fabs(axis[2][0]) < 0.6 ? 0 : 1] = 1;
        sp_cross3(helper, axis[2], axis[0]);
        const double side = sp_norm3(axis[0]);
        for (int k = 0; k < 3; k++)
            axis[0][k] /= side;
        sp_cross3(axis[2], axis[0], axis[1]);
        reach[0] = reach[1] = HALF_FOOT;
        reach[2] = fmax(SPIKE * length / p->strongest, HALF_FOOT);
    }
    for (int i = 0; i < 6; i++) {
        const double along = (i % 2 ? -1 : 1) * p->diagonal * (i == 5 ? fmin(reach[2], HALF_MARK) : reach[i / 2]);
        for (int k = 0; k < 3; k++)
            corner[3 * i + k] = place[k] + along * axis[i / 2][k];
    }
}

static void draw(picture *p, int64_t frame)
{
    tool_scene_trajectory *trajectory = &p->trajectory;
    char caption[80];
    int64_t first, contacts = tool_scene_trajectory_contacts(trajectory, frame, &first);
    if (p->choice->contacts == RENDER_NO_CONTACTS)
        contacts = 0;
    tool_scene_trajectory_load(trajectory, frame);
    for (int64_t c = 0; c < contacts; c++)
        place_mark(p, first + c, p->mark + 18 * c);
    const sp_drawing drawing[2] = {
        {.vertex_count = trajectory->vertex_count,
         .triangle_count = trajectory->triangle_count,
         .vertices = trajectory->positions,
         .triangles = trajectory->triangles,
         .color = p->color},
        {.vertex_count = 6 * contacts,
         .triangle_count = 8 * contacts,
         .vertices = p->mark,
         .triangles = p->mark_triangles,
         .base = {MARK[0], MARK[1], MARK[2]},
         .flat = true},
    };
    tool_check(sp_render(p->context, &p->camera, drawing, contacts ? 2 : 1, p->choice->samples, &p->image), NULL);
    if (!trajectory->path)
        return;
    snprintf(caption, sizeof caption, "t = %.4g s", tool_scene_trajectory_time(trajectory, frame));
    tool_picture_caption(&p->image, p->letters, caption);
}

static void write_picture(const picture *p, int64_t number)
{
    sp_pool pool = {0};
    uint8_t *bytes;
    int64_t count;
    char *path;
    tool_pattern_path(p->choice->target, number, &pool, &path);
    tool_check(sp_png_encode(p->context, &p->image, &pool, &bytes, &count), path);
    tool_write_bytes(path, bytes, count);
    sp_pool_free(&pool);
}

void tool_render_scene(sp_context *context, int64_t count, const char *const *paths, const render_scene_choice *choice)
{
    picture p = {.context = context, .choice = choice};
    int64_t size[2] = {960, 720};
    sp_list list = {0};
    if (choice->size)
        tool_sheet_pair("size", choice->size, 16384, size);
    tool_scene_trajectory_open(context, count, paths, choice->partial, &p.trajectory);
    tool_scene_trajectory_look(&p.trajectory);
    tool_scene_trajectory_choose(&p.trajectory, choice->frames, choice->every, &list);
    if (list.count > 1 && !tool_pattern(choice->target))
        tool_fail(SP_USAGE, NULL, "%lld pictures need a pattern such as -o frame_%%04d.png", (long long)list.count);
    paint_models(&p);
    look_ahead(&p, list.count, list.data);
    p.letters = tool_picture_letters(size[0], size[1]);
    p.camera =
        sp_camera_fit(p.trajectory.low, p.trajectory.high, choice->view, choice->up, choice->angle, size[0], size[1]);
    tool_check(sp_image_new(context, size[0], size[1], &p.image), NULL);
    tool_outputs_hold(true);
    for (int64_t i = 0; i < list.count; i++) {
        draw(&p, ((const int64_t *)list.data)[i]);
        write_picture(&p, i);
        tool_check(sp_progress(context, (double)(i + 1) / (double)list.count), NULL);
    }
    tool_outputs_hold(false);
    tool_say("%lld picture%s of %lldx%lld", (long long)list.count, list.count == 1 ? "" : "s", (long long)size[0],
             (long long)size[1]);
    sp_image_free(&p.image);
    sp_list_free(&list);
    sp_pool_free(&p.pool);
    tool_scene_trajectory_close(&p.trajectory);
}
