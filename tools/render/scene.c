#include "tools/render/scene.h"

#include "linear/dense.h"

#include <math.h>
#include <string.h>

static const float PLAIN[3] = {0.36f, 0.46f, 0.60f}; /* linear RGB */
static const float GHOST[3] = {0.75f, 0.75f, 0.75f};

static void *need(void *memory)
{
    if (!memory)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    return memory;
}

void tool_scene_open(tool_scene *scene)
{
    const tool_motion *motion = scene->motion;
    const sp_mesh *mesh = &motion->mesh.mesh;
    int64_t elements = sp_mesh_element_count(mesh);
    sp_pool *pool = &scene->pool;
    double low[3], high[3];
    bool of_columns = !motion->path && motion->columns.path, shapes = of_columns && !strcmp(motion->columns.kind, "shapes");
    if (scene->normalize != TOOL_NORMALIZE_AUTO && !of_columns)
        tool_fail(SP_USAGE, NULL, "--normalize is of a file of modes, derivatives, shapes or basis");
    if (scene->normalize == TOOL_NORMALIZE_AUTO)
        scene->normalize = of_columns && !shapes ? TOOL_NORMALIZE_LARGEST : TOOL_NORMALIZE_NONE;
    scene->relative = scene->normalize != TOOL_NORMALIZE_NONE;
    scene->unitless = of_columns && !shapes;
    if (scene->unitless && scene->color == TOOL_COLOR_ENERGY)
        tool_fail(SP_USAGE, NULL, "--color energy: %s have no size of their own, so no energy", motion->columns.kind);
    if (scene->relative && scene->color == TOOL_COLOR_ENERGY)
        tool_fail(SP_USAGE, NULL, "--color energy: --normalize gives the shapes another size, so no energy");
    tool_skin_open(scene->context, mesh, scene->elements, &scene->skin);
    scene->has_cage = scene->lines && scene->skin.embedded;
    if (scene->has_cage) {
        tool_skin_open(scene->context, mesh, true, &scene->cage);
        scene->cage_positions = need(sp_pool_raw(pool, 3 * scene->cage.vertex_count, sizeof(double)));
    }
    sp_mesh_box(mesh, low, high);
    scene->diagonal = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    scene->u = need(sp_pool_new(pool, 3 * mesh->vertex_count, sizeof(double)));
    scene->nodal = need(sp_pool_new(pool, 2 * mesh->vertex_count, sizeof(double)));
    scene->positions = need(sp_pool_raw(pool, 3 * scene->skin.vertex_count, sizeof(double)));
    scene->value = need(sp_pool_raw(pool, scene->skin.vertex_count, sizeof(double)));
    scene->rgb = need(sp_pool_raw(pool, 3 * scene->skin.vertex_count, sizeof(float)));
    for (int i = 0; i < 3; i++) {
        scene->low[i] = INFINITY;
        scene->high[i] = -INFINITY;
    }
    if (scene->relative) {
        scene->range[0] = 0;
        scene->range[1] = 1;
    }
    if (scene->color != TOOL_COLOR_ENERGY)
        return;
    tool_check(sp_body_new(scene->context, &motion->simulated, &scene->body), motion->mesh.path);
    scene->has_body = true;
    scene->density = need(sp_pool_raw(pool, elements, sizeof(double)));
    scene->volume = need(sp_pool_raw(pool, elements, sizeof(double)));
    for (int64_t e = 0; e < elements; e++)
        scene->volume[e] = sp_mesh_element_volume(mesh, e);
}

void tool_scene_close(tool_scene *scene)
{
    tool_skin_close(&scene->skin);
    if (scene->has_cage)
        tool_skin_close(&scene->cage);
    if (scene->has_body)
        sp_body_free(&scene->body);
    sp_image_free(&scene->rest);
    sp_pool_free(&scene->pool);
}

void tool_scene_prepare(tool_scene *scene, int64_t count, const int64_t *frame)
{
    const tool_motion *motion = scene->motion;
    const char *path = motion->mesh.path;
    sp_body body;
    sp_sparse mass;
    sp_pool pool = {0};
    int64_t rows = 3 * motion->vertex_count;
    if (scene->normalize != TOOL_NORMALIZE_MASS)
        return;
    tool_check(sp_body_new(scene->context, &motion->mesh.mesh, &body), path);
    tool_check(sp_body_mass_compressed(scene->context, &body, false, &mass), path);
    sp_metric metric = {.rows = rows, .matrix = &mass, .dof = body.dof};
    double *product = need(sp_pool_raw(&pool, rows, sizeof *product)), *work = need(sp_pool_raw(&pool, 2 * mass.order, sizeof *work));
    scene->weight = need(sp_pool_new(&scene->pool, motion->frame_count, sizeof *scene->weight));
    for (int64_t i = 0; i < count; i++) {
        double most = 0;
        tool_motion_displacement(motion, frame[i], scene->u);
        sp_metric_times(scene->context, &metric, 1, scene->u, product, work);
        double norm = sqrt(sp_dense_dot(rows, scene->u, product));
        for (int64_t v = 0; v < motion->vertex_count; v++)
            most = fmax(most, hypot(hypot(scene->u[3 * v], scene->u[3 * v + 1]), scene->u[3 * v + 2]));
        scene->weight[frame[i]] = norm > 0 ? 1 / norm : 0;
        scene->largest = fmax(scene->largest, norm > 0 ? most / norm : 0);
    }
    sp_sparse_free(&mass);
    sp_body_free(&body);
    sp_pool_free(&pool);
}

/* The elements' energy densities, averaged at the vertices with the volumes as weights. */
static void nodal_energy(tool_scene *scene)
{
    const sp_mesh *mesh = &scene->motion->mesh.mesh;
    double *weight = scene->nodal + mesh->vertex_count;
    tool_check(sp_elastic_fields(scene->context, &scene->body, scene->u, NULL, NULL, scene->density), scene->motion->mesh.path);
    memset(scene->nodal, 0, 2 * (size_t)mesh->vertex_count * sizeof *scene->nodal);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int corners;
        const int64_t *corner = sp_mesh_corners(mesh, e, &corners);
        for (int c = 0; c < corners; c++) {
            scene->nodal[corner[c]] += scene->volume[e] * scene->density[e];
            weight[corner[c]] += scene->volume[e];
        }
    }
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        scene->nodal[v] /= weight[v] > 0 ? weight[v] : 1;
}

void tool_scene_load(tool_scene *scene, int64_t frame)
{
    int64_t vertices = scene->motion->vertex_count;
    double most = 0, scale = scene->scale;
    tool_motion_displacement(scene->motion, frame, scene->u);
    if (scene->color == TOOL_COLOR_ENERGY)
        nodal_energy(scene);
    else
        for (int64_t v = 0; v < vertices; v++) {
            const double *u = scene->u + 3 * v;
            scene->nodal[v] = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
            most = fmax(most, scene->nodal[v]);
        }
    if (scene->relative && most > 0) {
        double factor = scene->weight ? scene->weight[frame] / scene->largest : 1 / most; /* the largest becomes 1 */
        scale *= TOOL_SCENE_AMPLITUDE * scene->diagonal * factor;
        for (int64_t v = 0; v < vertices; v++)
            scene->nodal[v] *= factor;
    }
    tool_skin_positions(&scene->skin, scale, scene->u, scene->positions);
    tool_skin_values(&scene->skin, 1, scene->nodal, scene->value);
    if (scene->has_cage)
        tool_skin_positions(&scene->cage, scale, scene->u, scene->cage_positions);
}

static void widen_box(tool_scene *scene, int64_t count, const double *positions)
{
    for (int64_t i = 0; i < 3 * count; i++) {
        scene->low[i % 3] = fmin(scene->low[i % 3], positions[i]);
        scene->high[i % 3] = fmax(scene->high[i % 3], positions[i]);
    }
}

void tool_scene_widen(tool_scene *scene, bool range, bool box)
{
    for (int64_t v = 0; range && v < scene->skin.vertex_count; v++) {
        scene->range[0] = fmin(scene->range[0], scene->value[v]);
        scene->range[1] = fmax(scene->range[1], scene->value[v]);
    }
    if (box) {
        widen_box(scene, scene->skin.vertex_count, scene->positions);
        if (scene->has_cage)
            widen_box(scene, scene->cage.vertex_count, scene->cage_positions);
        if (scene->ghost)
            widen_box(scene, scene->skin.vertex_count, scene->skin.rest);
    }
}

static void draw_rest(tool_scene *scene, const sp_camera *camera, const sp_image *like)
{
    if (scene->rest.width == like->width && scene->rest.height == like->height)
        return;
    sp_drawing drawing = {.vertex_count = scene->skin.vertex_count,
                          .triangle_count = scene->skin.triangle_count,
                          .vertices = scene->skin.rest,
                          .triangles = scene->skin.triangles,
                          .base = {GHOST[0], GHOST[1], GHOST[2]}};
    sp_image_free(&scene->rest);
    tool_check(sp_image_new(scene->context, like->width, like->height, &scene->rest), NULL);
    tool_check(sp_render(scene->context, camera, &drawing, 1, scene->samples, &scene->rest), NULL);
}

/* The rest state stands behind, so that the colours in front mean what the bar says. */
static void blend_rest(const tool_scene *scene, sp_image *image)
{
    enum { COVER = 110 }; /* of 256 */
    for (int64_t i = 0; i < image->width * image->height; i++)
        for (int k = 0; k < 3 && image->depth[i] == INFINITY; k++)
            image->rgb[3 * i + k] = (uint8_t)((image->rgb[3 * i + k] * (256 - COVER) + scene->rest.rgb[3 * i + k] * COVER) / 256);
}

void tool_scene_draw(tool_scene *scene, const sp_camera *camera, sp_image *image)
{
    const tool_skin *skin = &scene->skin;
    bool colored = scene->color != TOOL_COLOR_NONE;
    double span = scene->range[1] - scene->range[0];
    for (int64_t v = 0; colored && v < skin->vertex_count; v++)
        sp_colormap(span > 0 ? fmin(fmax((scene->value[v] - scene->range[0]) / span, 0), 1) : 0, scene->rgb + 3 * v);
    sp_drawing drawing[2] = {
        {.vertex_count = skin->vertex_count,
         .triangle_count = skin->triangle_count,
         .vertices = scene->positions,
         .triangles = skin->triangles,
         .color = colored ? scene->rgb : NULL,
         .base = {PLAIN[0], PLAIN[1], PLAIN[2]},
         .lines = scene->lines && !skin->embedded,
         .edges = skin->edges,
         .edge_count = skin->edge_count},
        {.vertex_count = scene->cage.vertex_count,
         .vertices = scene->cage_positions,
         .lines = true,
         .edges = scene->cage.edges,
         .edge_count = scene->cage.edge_count},
    };
    tool_check(sp_render(scene->context, camera, drawing, scene->has_cage ? 2 : 1, scene->samples, image), NULL);
    if (scene->ghost) {
        draw_rest(scene, camera, image);
        blend_rest(scene, image);
    }
}

void tool_scene_caption(const tool_scene *scene, int64_t frame, char *text, int64_t size)
{
    const tool_motion *motion = scene->motion;
    const sp_columns *columns = &motion->columns.columns;
    *text = 0;
    if (motion->path)
        snprintf(text, (size_t)size, "t = %.4g s", tool_motion_time(motion, frame));
    else if (columns->eigenvalue)
        snprintf(text, (size_t)size, "mode %lld  %.4g Hz%s", (long long)frame + 1,
                 sqrt(fmax(columns->eigenvalue[frame], 0)) / 6.283185307179586, frame < columns->rigid ? " (rigid)" : "");
    else if (columns->pair)
        snprintf(text, (size_t)size, "derivative %lld,%lld", (long long)columns->pair[2 * frame] + 1,
                 (long long)columns->pair[2 * frame + 1] + 1);
    else if (columns->singular_value)
        snprintf(text, (size_t)size, "basis %lld  singular value %.3g", (long long)frame + 1, columns->singular_value[frame]);
    else if (motion->columns.path)
        snprintf(text, (size_t)size, "%s %lld",
                 !strcmp(motion->columns.kind, "shapes")  ? "shape"
                 : !strcmp(motion->columns.kind, "basis") ? "basis"
                                                          : "derivative",
                 (long long)frame + 1);
}

const char *tool_scene_quantity(const tool_scene *scene)
{
    if (scene->color == TOOL_COLOR_ENERGY)
        return "energy density\n[J/m^3]";
    return scene->relative ? "displacement\n/ largest" : scene->unitless ? "displacement\nas in file" : "displacement\n[m]";
}
