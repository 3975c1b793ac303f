#include "tools/render/figure.h"

#include "base/vec3.h"
#include "linear/dense.h"
#include "material/stress.h"

#include <math.h>
#include <string.h>

static const float PLAIN[3] = {0.36f, 0.46f, 0.60f}; /* linear RGB */
static const float GHOST[3] = {0.75f, 0.75f, 0.75f};

/* Allocates the data of a loaded frame. */
static void make_frame(tool_figure *figure)
{
    const sp_mesh *mesh = &figure->motion->mesh.mesh;
    sp_pool *pool = &figure->pool;
    figure->u = tool_allocate(pool, 3 * mesh->vertex_count, sizeof(double));
    figure->nodal = tool_allocate(pool, 2 * mesh->vertex_count, sizeof(double));
    figure->positions = tool_allocate_raw(pool, 3 * figure->skin.vertex_count, sizeof(double));
    figure->value = tool_allocate_raw(pool, figure->skin.vertex_count, sizeof(double));
    figure->rgb = tool_allocate_raw(pool, 3 * figure->skin.vertex_count, sizeof(float));
    tool_additions_new_frame(&figure->additions, pool);
    if (figure->has_cage)
        figure->cage_positions = tool_allocate_raw(pool, 3 * figure->cage.vertex_count, sizeof(double));
}

static bool of_elements(const tool_figure *figure)
{
    return figure->color > TOOL_COLOR_DISPLACEMENT;
}

/* As the option and messages have it. */
static const char *color_name(const tool_figure *figure)
{
    static const char *const names[] = {"none", "displacement", "energy", "mises", "stress", "strain"};
    return names[figure->color];
}

/* Allocates values of the elements for a loaded frame. */
static void make_elements(tool_figure *figure)
{
    const int64_t elements = sp_mesh_element_count(&figure->motion->mesh.mesh);
    figure->element = tool_allocate_raw(&figure->pool, elements, sizeof(double));
    if (figure->color == TOOL_COLOR_ENERGY)
        return;
    figure->strain = tool_allocate_raw(&figure->pool, elements, 6 * sizeof(double));
    figure->stress = tool_allocate_raw(&figure->pool, elements, 6 * sizeof(double));
}

void tool_figure_twin(const tool_figure *figure, sp_context *context, tool_figure *twin)
{
    *twin = *figure;
    twin->context = context;
    twin->pool = (sp_pool){0};
    twin->rest = (sp_image){0};
    make_frame(twin);
    if (figure->element)
        make_elements(twin);
}

void tool_figure_twin_close(tool_figure *twin)
{
    sp_image_free(&twin->rest);
    sp_pool_free(&twin->pool);
}

void tool_figure_open(tool_figure *figure)
{
    const tool_trajectory *motion = figure->motion;
    const sp_mesh *mesh = &motion->mesh.mesh;
    int64_t elements = sp_mesh_element_count(mesh);
    sp_pool *pool = &figure->pool;
    double low[3], high[3];
    bool of_columns = !motion->path && motion->columns.path,
         snapshots = of_columns && tool_columns_sized(&motion->columns);

    if (figure->normalize == TOOL_NORMALIZE_AUTO)
        figure->normalize = of_columns && !snapshots ? TOOL_NORMALIZE_LARGEST : TOOL_NORMALIZE_NONE;
    figure->relative = figure->normalize != TOOL_NORMALIZE_NONE;
    figure->unitless = of_columns && !snapshots;

    if (figure->unitless && of_elements(figure))
        tool_fail(SP_USAGE, NULL, "--color %s: %s have no size of their own, so no %s", color_name(figure),
                  motion->columns.kind, color_name(figure));
    if (figure->relative && of_elements(figure))
        tool_fail(SP_USAGE, NULL, "--color %s: --normalize gives the snapshots another size, so no %s",
                  color_name(figure), color_name(figure));

    tool_skin_open(figure->context, mesh, figure->elements, &figure->skin);
    figure->has_cage = figure->lines && figure->skin.embedded;
    if (figure->has_cage) {
        tool_skin_open(figure->context, mesh, true, &figure->cage);
    }

    sp_mesh_box(mesh, low, high);
    figure->diagonal = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    tool_additions_open(figure->context, motion, figure->diagonal, figure->skin.embedded, pool, &figure->additions);

    make_frame(figure);
    figure->seen[0] = INFINITY;
    figure->seen[1] = -INFINITY;

    if (figure->relative) {
        figure->range[0] = 0;
        figure->range[1] = 1;
    }

    if (!of_elements(figure))
        return;

    tool_check(sp_fe_space_new_prescribed(figure->context, &motion->simulated, &figure->body), motion->mesh.path);
    figure->has_body = true;
    make_elements(figure);

    figure->volume = tool_allocate_raw(pool, elements, sizeof(double));
    for (int64_t e = 0; e < elements; e++)
        figure->volume[e] = sp_mesh_element_volume(mesh, e);
}

void tool_figure_close(tool_figure *figure)
{
    tool_skin_close(&figure->skin);
    if (figure->has_cage)
        tool_skin_close(&figure->cage);
    if (figure->has_body)
        sp_fe_space_free(&figure->body);
    sp_image_free(&figure->rest);
    sp_pool_free(&figure->pool);
}

/* A derivative beside modes, which has another unit. */
static bool beside(const tool_trajectory *motion, int64_t frame)
{
    return motion->derivatives.path && frame >= motion->columns.columns.count;
}

const char *tool_figure_file(const tool_figure *figure)
{
    const tool_trajectory *motion = figure->motion;
    return motion->path ? motion->path : motion->columns.path ? motion->columns.path : motion->mesh.path;
}

void tool_figure_prepare(tool_figure *figure, int64_t count, const int64_t *frame)
{
    const tool_trajectory *motion = figure->motion;
    const char *path = motion->mesh.path;
    sp_fe_space body;
    sp_sparse mass;
    sp_pool pool = {0};
    int64_t rows = 3 * motion->vertex_count;
    if (figure->normalize != TOOL_NORMALIZE_MASS)
        return;

    tool_check(sp_fe_space_new(figure->context, &motion->mesh.mesh, &body), path);
    tool_check(sp_fe_space_mass_compressed(figure->context, &body, false, &mass), path);
    sp_metric metric = {.rows = rows, .matrix = &mass, .dof = body.dof};

    double *product = tool_allocate_raw(&pool, rows, sizeof *product),
           *work = tool_allocate_raw(&pool, 2 * mass.order, sizeof *work);
    figure->weight = tool_allocate(&figure->pool, motion->frame_count, sizeof *figure->weight);

    for (int64_t i = 0; i < count; i++) {
        double most = 0;
        tool_trajectory_displacement(motion, frame[i], figure->u);
        sp_metric_times(figure->context, &metric, 1, figure->u, product, work);
        double norm = sqrt(sp_dense_dot(rows, figure->u, product));

        for (int64_t v = 0; v < motion->vertex_count; v++)
            most = fmax(most, hypot(hypot(figure->u[3 * v], figure->u[3 * v + 1]), figure->u[3 * v + 2]));

        figure->weight[frame[i]] = norm > 0 ? 1 / norm : 0;
        double *largest = &figure->largest[beside(motion, frame[i])];
        *largest = fmax(*largest, norm > 0 ? most / norm : 0);
    }

    sp_sparse_free(&mass);
    sp_fe_space_free(&body);
    sp_pool_free(&pool);
}

static double element_value(const tool_figure *figure, int64_t e)
{
    const double *strain = figure->strain + 6 * e, *stress = figure->stress + 6 * e;
    return figure->color == TOOL_COLOR_MISES    ? sp_stress_mises(strain, stress)
           : figure->color == TOOL_COLOR_STRESS ? sp_stress_largest(strain, stress)
                                                : sp_tensor_largest(strain);
}

/* The elements' values, averaged at the vertices with the volumes as weights. */
static int nodal_average(tool_figure *figure)
{
    const sp_mesh *mesh = &figure->motion->mesh.mesh;
    const bool energy = figure->color == TOOL_COLOR_ENERGY;
    double *weight = figure->nodal + mesh->vertex_count;
    SP_PASS(sp_elastic_fields(figure->context, &figure->body, figure->u, figure->strain, figure->stress,
                              energy ? figure->element : NULL));

    if (!energy)
        for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++)
            figure->element[e] = element_value(figure, e);

    memset(figure->nodal, 0, 2 * (size_t)mesh->vertex_count * sizeof *figure->nodal);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int c = 0; c < nodes; c++) {
            figure->nodal[node[c]] += figure->volume[e] * figure->element[e];
            weight[node[c]] += figure->volume[e];
        }
    }

    for (int64_t v = 0; v < mesh->vertex_count; v++)
        figure->nodal[v] /= weight[v] > 0 ? weight[v] : 1;
    return SP_OK;
}

int tool_figure_load(tool_figure *figure, int64_t frame)
{
    int64_t vertices = figure->motion->vertex_count;
    double most = 0, scale = figure->scale;

    tool_trajectory_displacement(figure->motion, frame, figure->u);
    SP_PASS(of_elements(figure) ? nodal_average(figure) : SP_OK);

    if (!of_elements(figure))
        for (int64_t v = 0; v < vertices; v++) {
            const double *u = figure->u + 3 * v;
            figure->nodal[v] = sp_norm3(u);
            most = fmax(most, figure->nodal[v]);
        }

    if (figure->relative && most > 0) {
        double factor = figure->weight ? figure->weight[frame] / figure->largest[beside(figure->motion, frame)]
                                       : 1 / most; /* the largest becomes 1 */
        scale *= TOOL_FIGURE_AMPLITUDE * figure->diagonal * factor;
        for (int64_t v = 0; v < vertices; v++)
            figure->nodal[v] *= factor;
    }

    tool_skin_positions(&figure->skin, scale, figure->u, figure->positions);
    tool_skin_values(&figure->skin, 1, figure->nodal, figure->value);
    tool_additions_place(&figure->additions, frame, scale, figure->u);

    if (figure->has_cage)
        tool_skin_positions(&figure->cage, scale, figure->u, figure->cage_positions);
    return SP_OK;
}

void tool_figure_widen(tool_figure *figure, bool range, bool view)
{
    if (range)
        for (int64_t v = 0; v < figure->skin.vertex_count; v++) {
            figure->range[0] = fmin(figure->range[0], figure->value[v]);
            figure->range[1] = fmax(figure->range[1], figure->value[v]);
        }

    if (view) {
        sp_extent_add(&figure->extent, figure->skin.vertex_count, figure->positions);
        if (figure->has_cage)
            sp_extent_add(&figure->extent, figure->cage.vertex_count, figure->cage_positions);
        tool_additions_extend(&figure->additions, &figure->extent);
        if (figure->ghost)
            sp_extent_add(&figure->extent, figure->skin.vertex_count, figure->skin.rest);
    }
}

static int draw_rest(tool_figure *figure, const sp_camera *camera, const sp_image *like)
{
    if (figure->rest.width == like->width && figure->rest.height == like->height)
        return SP_OK;

    sp_drawing drawing = {.vertex_count = figure->skin.vertex_count,
                          .triangle_count = figure->skin.triangle_count,
                          .vertices = figure->skin.rest,
                          .triangles = figure->skin.triangles,
                          .base = {GHOST[0], GHOST[1], GHOST[2]}};
    const sp_look plain = {.samples = figure->look.samples, .dark = figure->look.dark}; /* a ghost has no shadows */

    sp_image_free(&figure->rest);
    const int status = sp_image_new(figure->context, like->width, like->height, &figure->rest);
    return status == SP_OK ? sp_render(figure->context, camera, &drawing, 1, &plain, &figure->rest) : status;
}

/* The rest state is behind, so that the colours in front agree with the colour bar. */
static void blend_rest(const tool_figure *figure, sp_image *image)
{
    enum { COVER = 110 }; /* of 256 */
    for (int64_t i = 0; i < image->width * image->height; i++)
        if (image->depth[i] == INFINITY)
            for (int k = 0; k < 3; k++)
                image->rgb[3 * i + k] =
                    (uint8_t)((image->rgb[3 * i + k] * (256 - COVER) + figure->rest.rgb[3 * i + k] * COVER) / 256);
}

/* The colours of the vertices by their values in the range, and the values that were seen. */
static void color_vertices(tool_figure *figure)
{
    const double span = figure->range[1] - figure->range[0];
    for (int64_t v = 0; v < figure->skin.vertex_count; v++) {
        figure->seen[0] = fmin(figure->seen[0], figure->value[v]);
        figure->seen[1] = fmax(figure->seen[1], figure->value[v]);
        sp_colormap(span > 0 ? fmin(fmax((figure->value[v] - figure->range[0]) / span, 0), 1) : 0, figure->rgb + 3 * v);
    }
}

int tool_figure_draw(tool_figure *figure, const sp_camera *camera, sp_image *image)
{
    const tool_skin *skin = &figure->skin;
    bool colored = figure->color != TOOL_COLOR_NONE;

    if (colored)
        color_vertices(figure);

    int drawings = figure->has_cage ? 2 : 1;
    sp_drawing drawing[2 + TOOL_ADDITIONS] = {
        {.vertex_count = skin->vertex_count,
         .triangle_count = skin->triangle_count,
         .vertices = figure->positions,
         .triangles = skin->triangles,
         .color = colored ? figure->rgb : NULL,
         .base = {PLAIN[0], PLAIN[1], PLAIN[2]},
         .transparency = figure->transparency,
         .lines = figure->lines && !skin->embedded,
         .edges = skin->edges,
         .edge_count = skin->edge_count},
        {.vertex_count = figure->cage.vertex_count,
         .vertices = figure->cage_positions,
         .lines = true,
         .edges = figure->cage.edges,
         .edge_count = figure->cage.edge_count},
    };

    drawings += tool_additions_drawings(&figure->additions, drawing + drawings);

    int status = sp_render(figure->context, camera, drawing, drawings, &figure->look, image);
    if (status == SP_OK && figure->ghost)
        status = draw_rest(figure, camera, image);
    if (status == SP_OK && figure->ghost)
        blend_rest(figure, image);

    return status;
}

/* The time of a frame. Of an equilibrium it is the number of its load step, or nothing where there is one step: the
 * time of statics only orders the loads. */
static void time_caption(const tool_trajectory *motion, int64_t frame, char *text, int64_t size)
{
    const json_t *parameters = json_object_get(motion->trajectory.meta, "parameters");
    const char *integrator = json_string_value(json_object_get(parameters, "integrator"));
    const double dt = json_number_value(json_object_get(parameters, "dt")), time = tool_trajectory_time(motion, frame);
    if (!integrator || strcmp(integrator, "static") != 0)
        snprintf(text, (size_t)size, "t = %.4g s", time);
    else if (dt > 0 && json_integer_value(json_object_get(parameters, "steps")) > 1)
        snprintf(text, (size_t)size, "load step %.0f", time / dt);
}

/* Adds the factor of displacements that are larger or smaller than they are. Columns without a size have none. */
static void add_scale(const tool_figure *figure, bool font, char *text, int64_t size)
{
    const size_t length = strlen(text);
    if (figure->scale != 1 && !figure->relative && !figure->unitless)
        snprintf(text + length, (size_t)size - length, "%sdisplacement %s %.4g", length ? "  " : "", font ? "×" : "x",
                 figure->scale);
}

void tool_figure_caption(const tool_figure *figure, bool font, int64_t frame, char *text, int64_t size)
{
    const tool_trajectory *motion = figure->motion;
    const sp_columns *columns = beside(motion, frame) ? &motion->derivatives.columns : &motion->columns.columns;

    *text = 0;
    if (beside(motion, frame))
        frame -= motion->columns.columns.count;

    if (motion->path)
        time_caption(motion, frame, text, size);
    else if (columns->eigenvalue)
        snprintf(text, (size_t)size, "mode %lld  %.4g Hz%s", (long long)frame + 1,
                 sqrt(fmax(columns->eigenvalue[frame], 0)) / 6.283185307179586,
                 frame < columns->rigid ? " (rigid)" : "");
    else if (columns->pair)
        snprintf(text, (size_t)size, "derivative %lld,%lld", (long long)columns->pair[2 * frame] + 1,
                 (long long)columns->pair[2 * frame + 1] + 1);
    else if (columns->singular_value)
        snprintf(text, (size_t)size, "basis %lld  singular value %.3g", (long long)frame + 1,
                 columns->singular_value[frame]);
    else if (columns->factor)
        snprintf(text, (size_t)size, "shape %lld  load factor %.4g", (long long)frame + 1, columns->factor[frame]);
    else if (motion->columns.path)
        snprintf(text, (size_t)size, "%s %lld",
                 !strcmp(motion->columns.kind, "snapshots") ? "shape"
                 : !strcmp(motion->columns.kind, "basis")   ? "basis"
                                                            : "derivative",
                 (long long)frame + 1);

    add_scale(figure, font, text, size);
}

int64_t tool_figure_longest_caption(const tool_figure *figure, int64_t count, const int64_t *frame)
{
    size_t longest = 0;
    char text[80] = "";

    if (figure->motion->path) { /* whatever the times are, so that all pictures of a motion look alike */
        add_scale(figure, false, text, sizeof text);
        return TOOL_FIGURE_TIME_LETTERS + (*text ? 2 : 0) + (int64_t)strlen(text);
    }

    for (int64_t i = 0; i < count; i++) {
        tool_figure_caption(figure, false, frame[i], text, sizeof text);
        longest = strlen(text) > longest ? strlen(text) : longest;
    }

    return (int64_t)longest;
}

const char *tool_figure_quantity(const tool_figure *figure, bool font)
{
    static const char *const of_element[] = {[TOOL_COLOR_ENERGY] = "energy density\n[J/m^3]",
                                             [TOOL_COLOR_MISES] = "von Mises\nstress [Pa]",
                                             [TOOL_COLOR_STRESS] = "largest\nprincipal\nstress [Pa]",
                                             [TOOL_COLOR_STRAIN] = "largest\nprincipal\nstrain"};

    if (figure->color == TOOL_COLOR_ENERGY && font)
        return "energy density\n[J/m³]";

    if (of_elements(figure))
        return of_element[figure->color];

    return figure->relative   ? "displacement\n/ largest"
           : figure->unitless ? "displacement\nas in file"
                              : "displacement\n[m]";
}
