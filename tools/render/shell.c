#include "tools/render/shell.h"

#include "base/vec3.h"
#include "formats/export/png.h"
#include "formats/pointshell.h"
#include "tools/common/inputs.h"
#include "tools/common/skin.h"
#include "tools/common/trajectory.h"
#include "tools/render/sheet.h"
#include "tools/render/spheres.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIDES = 6, EACH = -1 };
static const float BODY[3] = {0.55f, 0.55f, 0.55f};
static const double RADIUS = 0.36, LIFT = 0.1; /* of the distance between points */

typedef struct picture {
    sp_context *context;
    sp_file file;
    sp_pointshell shell;
    bool has_mesh;
    tool_mesh mesh;
    tool_skin skin;
    tool_sheet sheet;
    sp_pool pool;
    int spheres;        /* their level; 0: none, EACH: that of the cell */
    double area;        /* m², of all points */
    double *disk;       /* [count, SIDES, 3] m */
    float *color;       /* [count, SIDES, 3] */
    int64_t *triangles; /* [count, SIDES - 2, 3] of those that are drawn */
} picture;

static void read_files(picture *p, int count, const char *const *paths)
{
    static const char *const kinds[] = {"pointshell", NULL};
    const char *path = NULL;
    char recorded[SP_HASH_LENGTH] = "";
    for (int i = 0; i < count; i++) {
        char kind[SP_KIND_LENGTH];
        tool_peek_any_kind(p->context, paths[i], kind);

        const bool is_shell = !strcmp(kind, "pointshell");
        if (is_shell ? path != NULL : p->has_mesh)
            tool_fail(SP_USAGE, paths[i],
                      "a picture is of one point shell, and of its mesh behind it if that is named");

        if (is_shell) {
            path = paths[i];
            tool_read(paths[i], NULL, kinds, false, &p->file);
            tool_check(sp_json_hash(p->context, p->file.meta, "mesh", recorded), paths[i]);
            tool_check(sp_pointshell_read(p->context, &p->file, &p->shell), paths[i]);
        } else {
            tool_read_mesh(paths[i], NULL, &p->mesh);
            tool_skin_open(p->context, &p->mesh.mesh, false, &p->skin);
        }

        p->has_mesh |= !is_shell;
    }

    if (p->has_mesh)
        tool_check_hash(path, "mesh", recorded, p->mesh.hash);
}

/* m, the distance of points that share the area evenly. */
static double spacing(const picture *p, int level)
{
    return sqrt(p->area / (double)p->shell.cumulative[level - 1]);
}

static void level_color(const picture *p, int level, float rgb[3])
{
    sp_colormap(0.92 * (level - 1) / fmax(p->shell.levels - 1, 1), rgb);
}

/* The disks of the points of levels 1 to `level`. Without a mesh those that face away from the eye are left out: no
 * surface would hide them. Returns the number of triangles. */
static int64_t place_disks(picture *p, int level)
{
    const sp_pointshell *shell = &p->shell;
    const double fine = spacing(p, level);
    int64_t triangles = 0;

    for (int64_t i = 0; i < shell->cumulative[level - 1]; i++) {
        const double *at = shell->points + 3 * i, *normal = shell->normals + 3 * i;
        const int own = sp_pointshell_level_of(shell, i);
        const double radius = RADIUS * fmin(spacing(p, own), 2 * fine);
        double tangent[2][3], to_eye[3];

        sp_pointshell_tangents(normal, tangent);
        for (int s = 0; s < SIDES; s++) {
            const double turn = 2 * 3.14159265358979323846 * s / SIDES;
            for (int k = 0; k < 3; k++)
                p->disk[3 * (SIDES * i + s) + k] =
                    at[k] + radius * (cos(turn) * tangent[0][k] + sin(turn) * tangent[1][k]) - LIFT * fine * normal[k];
            level_color(p, own, p->color + 3 * (SIDES * i + s));
        }

        sp_subtract3(p->sheet.camera.eye, at, to_eye);
        if (!p->has_mesh && sp_dot3(normal, to_eye) > 0)
            continue;

        for (int s = 1; s + 1 < SIDES; s++, triangles++) {
            p->triangles[3 * triangles] = SIDES * i;
            p->triangles[3 * triangles + 1] = SIDES * i + s;
            p->triangles[3 * triangles + 2] = SIDES * i + s + 1;
        }
    }
    return triangles;
}

/* The level whose spheres are drawn beside the points of a level; 0: none. */
static int sphere_level(const picture *p, int level)
{
    return p->spheres != EACH ? p->spheres : level < p->shell.levels ? level : 0;
}

static void draw_level(picture *p, const sp_look *look, int64_t cell, int level)
{
    char caption[80];
    const int64_t triangles = place_disks(p, level);
    const int with = sphere_level(p, level);
    int drawings = p->has_mesh ? 2 : 1;
    sp_pool pool = {0};

    sp_drawing drawing[2 + TOOL_SPHERE_DRAWINGS] = {
        {.vertex_count = SIDES * p->shell.cumulative[level - 1],
         .triangle_count = triangles,
         .vertices = p->disk,
         .triangles = p->triangles,
         .color = p->color,
         .flat = true},
        {.vertex_count = p->skin.vertex_count,
         .triangle_count = p->skin.triangle_count,
         .vertices = p->skin.rest,
         .triangles = p->skin.triangles,
         .base = {BODY[0], BODY[1], BODY[2]}},
    };

    if (with) {
        tool_spheres spheres;
        float rgb[3];
        level_color(p, with, rgb);
        tool_spheres_new(&p->shell, with, &p->sheet.camera, &pool, &spheres);
        tool_spheres_drawings(&spheres, rgb, drawing + drawings);
        drawings += TOOL_SPHERE_DRAWINGS;
    }

    tool_check(sp_render(p->context, &p->sheet.camera, drawing, drawings, look, &p->sheet.cell), NULL);
    sp_pool_free(&pool);

    if (with)
        snprintf(caption, sizeof caption, "level %d: %lld spheres", with, (long long)p->shell.cumulative[with - 1]);
    else
        snprintf(caption, sizeof caption, "level %d: %lld points", level, (long long)p->shell.cumulative[level - 1]);

    tool_sheet_paste(&p->sheet, cell, caption);
}

static int parse_spheres(const picture *p, const char *text, bool sheet)
{
    char *end;

    if (!text)
        return 0;
    if (p->shell.levels == 1)
        tool_fail(SP_INPUT, NULL, "--spheres: the tree of the point shell has one level, and the last has no spheres");

    if (!strcmp(text, "each")) {
        if (!sheet)
            tool_fail(SP_USAGE, NULL, "--spheres each needs a --sheet; or name one level");
        return EACH;
    }

    const long level = strtol(text, &end, 10);
    if (end == text || *end || level < 1)
        tool_fail(SP_USAGE, NULL, "--spheres: \"%s\" is no level, counted from 1, and not \"each\"", text);

    if (level >= p->shell.levels)
        tool_fail(SP_USAGE, NULL, "--spheres: the tree has spheres in %d levels, and none in its last, level %d",
                  p->shell.levels - 1, p->shell.levels);
    return (int)level;
}

static void frame(picture *p, const render_options *chosen)
{
    sp_extent extent = tool_sheet_extent(&p->sheet);

    if (chosen->box_given)
        sp_extent_add_box(&extent, chosen->box, chosen->box + 3);
    else {
        sp_extent_add(&extent, p->shell.count, p->shell.points);
        if (p->has_mesh)
            sp_extent_add(&extent, p->skin.vertex_count, p->skin.rest);
        for (int level = 1; level < p->shell.levels; level++)
            if (p->spheres == level || p->spheres == EACH)
                tool_spheres_extend(&p->shell, level, &extent);
    }

    p->sheet.camera = sp_extent_camera(&extent);
}

void tool_render_shell(sp_context *context, int count, const char *const *paths, const render_options *chosen)
{
    const sp_look look = render_look(chosen, false);
    picture p = {.context = context, .sheet = {.angle = chosen->angle, .look = look, .captions = true}};
    int64_t bytes_count;
    uint8_t *bytes;

    read_files(&p, count, paths);
    const int levels = p.shell.levels;
    p.spheres = parse_spheres(&p, chosen->spheres, chosen->sheet);

    render_aim(chosen, p.has_mesh ? p.mesh.mesh.up : 0, p.sheet.view, p.sheet.up);
    tool_sheet_open(context, false, chosen->size, chosen->sheet, levels, &p.sheet);
    frame(&p, chosen);

    for (int64_t i = 0; i < p.shell.count; i++)
        p.area += p.shell.area[i];
    p.disk = tool_allocate_raw(&p.pool, p.shell.count, 3 * SIDES * sizeof *p.disk);
    p.color = tool_allocate_raw(&p.pool, p.shell.count, 3 * SIDES * sizeof *p.color);
    p.triangles = tool_allocate_raw(&p.pool, p.shell.count, 3 * (SIDES - 2) * sizeof *p.triangles);

    tool_check(tool_sheet_page(context, &p.sheet), NULL);
    const int64_t cells = chosen->sheet ? p.sheet.columns * p.sheet.rows : 1;
    const int first = chosen->sheet ? 1 : levels;
    for (int level = first; level <= levels && level - first < cells; level++)
        draw_level(&p, &look, level - first, level);

    tool_check(sp_png_encode(context, &p.sheet.picture, &p.pool, &bytes, &bytes_count), NULL);
    tool_write_bytes(tool_output_path(), bytes, bytes_count);
    tool_say("1 picture of %lldx%lld", (long long)p.sheet.width, (long long)p.sheet.height);

    tool_sheet_close(&p.sheet);
    if (p.has_mesh) {
        tool_skin_close(&p.skin);
        sp_mesh_free(&p.mesh.mesh);
    }
    sp_pointshell_free(&p.shell);
    sp_file_free(&p.file);
    sp_pool_free(&p.pool);
}
