#include "base/vec3.h"
#include "render/internal.h"
#include "render/shadow.h"

#include <math.h>
#include <omp.h>

enum {
    LARGEST_SIDE = 16384, /* pixels; the fixed-point coordinates of raster.c rely on it */
    BAND_PIXELS = 8,      /* rows of pixels that one thread draws at a time */
    MOST_RAYS = 1024,     /* the numbers of the directions of a tile fit 24 bits */
};

static int check_size(sp_context *context, int64_t width, int64_t height)
{
    if (width < 1 || height < 1 || width > LARGEST_SIDE || height > LARGEST_SIDE)
        return sp_fail(context, SP_USAGE, "a picture of %lld x %lld pixels is not within 1 ... %d", (long long)width,
                       (long long)height, LARGEST_SIDE);
    return SP_OK;
}

int sp_image_new(sp_context *context, int64_t width, int64_t height, sp_image *image)
{
    *image = (sp_image){0};

    SP_PASS(check_size(context, width, height));

    image->width = width;
    image->height = height;
    image->rgb = sp_pool_new(&image->pool, 3 * width * height, 1);
    image->depth = sp_pool_raw(&image->pool, width * height, sizeof *image->depth);
    if (image->pool.failed) {
        sp_image_free(image);
        return sp_fail_memory(context);
    }

    for (int64_t i = 0; i < width * height; i++)
        image->depth[i] = INFINITY;
    return SP_OK;
}

void sp_image_free(sp_image *image)
{
    sp_pool_free(&image->pool);
    *image = (sp_image){0};
}

/* The position of the first index outside [0, limit), or -1. */
static int64_t first_outside(const int64_t *index, int64_t count, int64_t limit)
{
    for (int64_t i = 0; i < count; i++)
        if (index[i] < 0 || index[i] >= limit)
            return i;
    return -1;
}

static int check_drawing(sp_context *context, const sp_drawing *drawing, int64_t number)
{
    int64_t vertices = drawing->vertex_count, edges = drawing->lines ? drawing->edge_count : 0, at;

    if (vertices < 0 || drawing->triangle_count < 0 || edges < 0)
        return sp_fail(context, SP_INPUT, "drawing %lld has a negative number of vertices, triangles or edges",
                       (long long)number);
    if (vertices > INT64_MAX / 64 || drawing->triangle_count > INT32_MAX || edges > INT32_MAX)
        return sp_fail(context, SP_INPUT, "drawing %lld is too large: %lld triangles, %lld edges", (long long)number,
                       (long long)drawing->triangle_count, (long long)edges);

    for (int64_t i = 0; i < 3 * vertices; i++)
        if (!(fabs(drawing->vertices[i]) <= 1e60))
            return sp_fail(context, SP_INPUT, "drawing %lld: vertex %lld is not finite", (long long)number,
                           (long long)(i / 3));

    if (drawing->color)
        for (int64_t i = 0; i < 3 * vertices; i++)
            if (!isfinite(drawing->color[i]))
                return sp_fail(context, SP_INPUT, "drawing %lld: the colour of vertex %lld is not finite",
                               (long long)number, (long long)(i / 3));
    if (!drawing->color)
        for (int i = 0; i < 3; i++)
            if (!isfinite(drawing->base[i]))
                return sp_fail(context, SP_INPUT, "drawing %lld: the base colour is not finite", (long long)number);

    if (drawing->ground && !(drawing->triangle_count > 0 && drawing->fade[0] < drawing->fade[1]))
        return sp_fail(context, SP_INPUT, "drawing %lld: a ground needs a triangle, and depths where it fades",
                       (long long)number);

    if (!(drawing->transparency >= 0 && drawing->transparency <= 1))
        return sp_fail(context, SP_INPUT, "drawing %lld: a transparency of %g is not within 0 ... 1", (long long)number,
                       (double)drawing->transparency);

    if ((at = first_outside(drawing->triangles, 3 * drawing->triangle_count, vertices)) >= 0)
        return sp_fail(context, SP_INPUT, "drawing %lld: triangle %lld names vertex %lld of %lld", (long long)number,
                       (long long)(at / 3), (long long)drawing->triangles[at], (long long)vertices);
    if ((at = first_outside(drawing->edges, 2 * edges, vertices)) >= 0)
        return sp_fail(context, SP_INPUT, "drawing %lld: edge %lld names vertex %lld of %lld", (long long)number,
                       (long long)(at / 2), (long long)drawing->edges[at], (long long)vertices);
    return SP_OK;
}

/* The arrays of one picture. Sources are the triangles of all drawings, followed by the edges of all drawings. */
typedef struct workspace {
    sp_pool pool;
    sp_view view;
    sp_scene scene;
    const sp_drawing *drawings;
    int64_t drawing_count;
    int64_t width, height;
    int64_t *start; /* [sources + 1] first primitive of each source */
    /* [2 drawing_count + 1] first source of each drawing's triangles, then of each drawing's edges */
    int64_t *first_source;
    sp_primitive *primitives;
    int64_t band_count;
    int64_t *band_start; /* [band_count + 1] into band_list */
    int32_t *band_list;
    sp_band *bands; /* one for each thread */
} workspace;

static int to_camera_space(sp_context *context, workspace *work)
{
    const double **vertices = sp_pool_new(&work->pool, work->drawing_count, sizeof *vertices);
    const float **normals = sp_pool_new(&work->pool, work->drawing_count, sizeof *normals);

    SP_PASS(sp_allocated(context, !work->pool.failed));

    for (int64_t d = 0; d < work->drawing_count; d++) {
        const sp_drawing *drawing = work->drawings + d;
        double *moved = sp_pool_raw(&work->pool, 3 * drawing->vertex_count, sizeof *moved);
        float *corner = drawing->flat ? NULL : sp_pool_raw(&work->pool, 9 * drawing->triangle_count, sizeof *corner);
        SP_PASS(sp_allocated(context, !work->pool.failed));

#pragma omp parallel for schedule(static) num_threads(context->threads)
        for (int64_t v = 0; v < drawing->vertex_count; v++)
            sp_view_point(&work->view, drawing->vertices + 3 * v, moved + 3 * v);
        vertices[d] = moved;
        normals[d] = corner;

        if (corner) {
            SP_PASS(sp_corner_normals(context, moved, drawing->vertex_count, drawing->triangles,
                                      drawing->triangle_count, corner));
        }
    }

    work->scene.vertices = vertices;
    work->scene.normals = normals;
    return SP_OK;
}

/* The primitives of source `index` of group `group` (drawing, or drawing_count + drawing for edges). */
static int make_primitives(const workspace *work, int64_t group, int64_t index,
                           sp_primitive out[SP_TRIANGLE_PRIMITIVES])
{
    bool edges = group >= work->drawing_count;
    int64_t d = edges ? group - work->drawing_count : group;
    const sp_drawing *drawing = work->drawings + d;
    const double *vertices = work->scene.vertices[d];
    int count;

    if (edges) {
        const int64_t *e = drawing->edges + 2 * index;
        count =
            sp_primitive_line(&work->view, work->width, work->height, vertices + 3 * e[0], vertices + 3 * e[1], out);
    } else {
        const int64_t *t = drawing->triangles + 3 * index;
        const double *const corner[3] = {vertices + 3 * t[0], vertices + 3 * t[1], vertices + 3 * t[2]};
        count = sp_primitive_triangle(&work->view, work->width, work->height, corner, out);
    }

    for (int i = 0; i < count; i++) {
        out[i].drawing = (int32_t)d;
        out[i].triangle = edges ? -1 : index;
        out[i].cover = edges ? 0 : sp_sample_cover(work->view.samples, drawing->transparency);
    }
    return count;
}

/* Counts, places and writes the primitives in the order of their sources. */
static int collect_primitives(sp_context *context, workspace *work)
{
    int64_t groups = 2 * work->drawing_count;

    work->first_source = sp_pool_new(&work->pool, groups + 1, sizeof *work->first_source);
    SP_PASS(sp_allocated(context, !work->pool.failed));

    for (int64_t g = 0; g < groups; g++) {
        const sp_drawing *drawing = work->drawings + g % work->drawing_count;
        int64_t count = g < work->drawing_count ? drawing->triangle_count : drawing->lines ? drawing->edge_count : 0;
        work->first_source[g + 1] = work->first_source[g] + count;
    }

    int64_t sources = work->first_source[groups];
    int64_t *start = work->start = sp_pool_new(&work->pool, sources + 1, sizeof *start);
    SP_PASS(sp_allocated(context, !work->pool.failed));

    /* Counted and written by threads: the order is that of the sources, whatever thread makes them. */
    for (int64_t g = 0; g < groups; g++) {
        int64_t first = work->first_source[g], count = work->first_source[g + 1] - first;
#pragma omp parallel for schedule(static) num_threads(context->threads)
        for (int64_t i = 0; i < count; i++) {
            sp_primitive scratch[SP_TRIANGLE_PRIMITIVES];
            start[first + i + 1] = make_primitives(work, g, i, scratch);
        }
    }

    for (int64_t i = 0; i < sources; i++)
        start[i + 1] += start[i];
    if (start[sources] > INT32_MAX)
        return sp_fail(context, SP_INPUT, "%lld visible triangles and lines are too many", (long long)start[sources]);

    sp_primitive *primitives = work->primitives = sp_pool_raw(&work->pool, start[sources], sizeof *primitives);
    SP_PASS(sp_allocated(context, !work->pool.failed));

    for (int64_t g = 0; g < groups; g++) {
        int64_t first = work->first_source[g], count = work->first_source[g + 1] - first;
#pragma omp parallel for schedule(static) num_threads(context->threads)
        for (int64_t i = 0; i < count; i++) {
            sp_primitive scratch[SP_TRIANGLE_PRIMITIVES];
            int made = start[first + i + 1] > start[first + i] ? make_primitives(work, g, i, scratch) : 0;
            for (int k = 0; k < made; k++)
                primitives[start[first + i] + k] = scratch[k];
        }
    }

    work->scene.primitives = primitives;
    return SP_OK;
}

/* Lists the primitives of each band in ascending order. */
static int sort_into_bands(sp_context *context, workspace *work)
{
    int64_t band_rows = BAND_PIXELS * work->view.samples, rows = work->height * work->view.samples;
    int64_t count = work->start[work->first_source[2 * work->drawing_count]];

    work->band_count = (work->height + BAND_PIXELS - 1) / BAND_PIXELS;
    int64_t *start = work->band_start = sp_pool_new(&work->pool, work->band_count + 1, sizeof *start);
    int64_t *fill = sp_pool_raw(&work->pool, work->band_count, sizeof *fill);
    SP_PASS(sp_allocated(context, !work->pool.failed));

    for (int64_t i = 0; i < count; i++) {
        int64_t first, last;
        sp_primitive_rows(work->primitives + i, rows, &first, &last);
        for (int64_t band = first / band_rows; band <= last / band_rows; band++)
            start[band + 1]++;
    }

    /* Where the list of each band begins */
    for (int64_t band = 0; band < work->band_count; band++) {
        start[band + 1] += start[band];
        fill[band] = start[band];
    }

    work->band_list = sp_pool_raw(&work->pool, start[work->band_count], sizeof *work->band_list);
    SP_PASS(sp_allocated(context, !work->pool.failed));

    for (int64_t i = 0; i < count; i++) {
        int64_t first, last;
        sp_primitive_rows(work->primitives + i, rows, &first, &last);
        for (int64_t band = first / band_rows; band <= last / band_rows; band++)
            work->band_list[fill[band]++] = (int32_t)i;
    }
    return SP_OK;
}

/* The planes of the grounds, with the normals to the side from which they are seen. */
static int find_grounds(sp_context *context, workspace *work)
{
    int64_t count = 0;
    sp_ground *grounds = sp_pool_raw(&work->pool, work->drawing_count, sizeof *grounds);
    SP_PASS(sp_allocated(context, !work->pool.failed));

    for (int64_t d = 0; d < work->drawing_count; d++) {
        const sp_drawing *drawing = work->drawings + d;
        double u[3], w[3], n[3];
        if (!drawing->ground)
            continue;

        const int64_t *t = drawing->triangles;
        const double *vertices = work->scene.vertices[d];
        sp_subtract3(vertices + 3 * t[1], vertices + 3 * t[0], u);
        sp_subtract3(vertices + 3 * t[2], vertices + 3 * t[0], w);
        sp_cross3(u, w, n);

        if (sp_normalize3_scaled(n) > 0)
            grounds[count++] = (sp_ground){.normal = {(float)n[0], (float)n[1], (float)n[2]},
                                           .offset = (float)sp_dot3(n, vertices + 3 * t[0])};
    }

    work->scene.grounds = grounds;
    work->scene.ground_count = count;
    return SP_OK;
}

/* The transparent surfaces, where there are grounds that can take their shadow. */
static int prepare_veil(sp_context *context, workspace *work, sp_shadow **veil)
{
    float least = 1;
    bool any = false, ground = false;

    for (int64_t d = 0; d < work->drawing_count; d++) {
        const sp_drawing *drawing = work->drawings + d;
        ground |= drawing->ground;
        if (drawing->transparency > 0) {
            any = true;
            least = fminf(least, drawing->transparency);
        }
    }

    if (!any || !ground)
        return SP_OK;

    /* All veils count as transparent as the least of them: one ray meets them as one surface. */
    work->scene.veil_transparency = least;
    const int status = sp_shadow_new(context, work->drawings, work->scene.vertices, work->drawing_count, true, veil);
    work->scene.veil = *veil;
    return status;
}

/* What the rays of the look need. The caller frees both shadows. */
static int prepare_rays(sp_context *context, workspace *work, sp_shadow **shadow, sp_shadow **veil)
{
    const sp_look *look = work->scene.look;

    if (look->shadow_rays == 0 && look->occlusion_rays == 0)
        return SP_OK;

    int status = sp_shadow_new(context, work->drawings, work->scene.vertices, work->drawing_count, false, shadow);
    if (status == SP_OK)
        status = prepare_veil(context, work, veil);
    if (status != SP_OK)
        return status;

    /* Directions for all pixels of a tile: each of the sixteen has its own. */
    const int sky_count = SP_TILE * SP_TILE * look->occlusion_rays, lamp_count = SP_TILE * SP_TILE * look->shadow_rays;
    sp_vec *sky = sp_pool_raw(&work->pool, sky_count, sizeof *sky),
           *lamp = sp_pool_raw(&work->pool, lamp_count, sizeof *lamp);
    work->scene.traced = sp_pool_raw(&work->pool, work->width * work->height, sizeof *work->scene.traced);
    SP_PASS(sp_allocated(context, !work->pool.failed));

    sp_occlusion_sky(sky_count, sky);
    sp_occlusion_lamp(lamp_count, lamp);

    work->scene.sky = sky;
    work->scene.lamp = lamp;
    work->scene.shadow = *shadow;
    return find_grounds(context, work);
}

static int make_bands(sp_context *context, workspace *work)
{
    const int samples = work->view.samples;
    int64_t columns = work->width * samples, size = BAND_PIXELS * samples * columns;
    uint8_t *gamma = sp_pool_raw(&work->pool, SP_GAMMA + 1, 1);
    sp_band *bands = work->bands = sp_pool_new(&work->pool, context->threads, sizeof *bands);

    SP_PASS(sp_allocated(context, !work->pool.failed));

    for (int i = 0; i < context->threads; i++) {
        bands[i].columns = columns;
        bands[i].samples = samples;
        bands[i].key = sp_pool_raw(&work->pool, size, sizeof *bands[i].key);
        bands[i].visible = sp_pool_raw(&work->pool, size, sizeof *bands[i].visible);
        bands[i].line = sp_pool_raw(&work->pool, size, sizeof *bands[i].line);
    }
    SP_PASS(sp_allocated(context, !work->pool.failed));

    sp_gamma_table(gamma);
    work->scene.gamma = gamma;
    return SP_OK;
}

/* Draws every band and hands it on: image NULL: to the rays; else to the shading. */
static void draw_bands(const sp_context *context, const workspace *work, sp_image *image)
{
    const int samples = work->view.samples;
#pragma omp parallel for schedule(dynamic, 1) num_threads(context->threads)
    for (int64_t b = 0; b < work->band_count; b++) {
        sp_band *band = work->bands + omp_get_thread_num();
        int64_t first = b * BAND_PIXELS, end = first + BAND_PIXELS < work->height ? first + BAND_PIXELS : work->height;

        band->first = first * samples;
        band->rows = (end - first) * samples;
        sp_band_clear(band);

        for (int64_t i = work->band_start[b]; i < work->band_start[b + 1]; i++)
            sp_band_draw(band, work->primitives + work->band_list[i], work->band_list[i]);

        if (image)
            sp_band_resolve(&work->scene, band, image);
        else
            sp_band_trace(&work->scene, band);
    }
}

static int check_look(sp_context *context, const sp_look *look)
{
    if (look->samples < 1 || look->samples > 4)
        return sp_fail(context, SP_USAGE, "%d samples per pixel and direction are not within 1 ... 4", look->samples);

    const int rays[2] = {look->shadow_rays, look->occlusion_rays};
    for (int i = 0; i < 2; i++)
        if (rays[i] < 0 || rays[i] > MOST_RAYS)
            return sp_fail(context, SP_USAGE, "%d rays of a pixel are not within 0 ... %d", rays[i], MOST_RAYS);
    return SP_OK;
}

int sp_render(sp_context *context, const sp_camera *camera, const sp_drawing *drawings, int64_t drawing_count,
              const sp_look *look, sp_image *image)
{
    int status = SP_OK;
    sp_shadow *shadow = NULL, *veil = NULL;
    workspace work = {
        .drawings = drawings, .drawing_count = drawing_count, .width = image->width, .height = image->height};

    SP_TRY(check_look(context, look));
    if (drawing_count < 0 || drawing_count > INT32_MAX)
        return sp_fail(context, SP_USAGE, "%lld drawings are not within 0 ... %d", (long long)drawing_count, INT32_MAX);
    SP_TRY(check_size(context, image->width, image->height));
    SP_TRY(sp_view_new(context, camera, image->width, image->height, look->samples, &work.view));
    for (int64_t d = 0; d < drawing_count; d++)
        SP_TRY(check_drawing(context, drawings + d, d));

    work.scene = (sp_scene){
        .view = &work.view, .look = look, .drawings = drawings, .width = image->width, .height = image->height};

    SP_TRY(sp_progress(context, 0));
    SP_TRY(to_camera_space(context, &work));
    SP_TRY(collect_primitives(context, &work));
    SP_TRY(sort_into_bands(context, &work));
    SP_TRY(prepare_rays(context, &work, &shadow, &veil));
    SP_TRY(make_bands(context, &work));

    SP_TRY(sp_progress(context, 0.1));

    /* Rays are traced at every pixel before any is shaded, since shading gathers those of its neighbours. */
    if (shadow)
        draw_bands(context, &work, NULL);
    SP_TRY(sp_progress(context, shadow ? 0.8 : 0.3));
    draw_bands(context, &work, image);
    SP_TRY(sp_progress(context, 1));
done:
    sp_shadow_free(shadow);
    sp_shadow_free(veil);
    sp_pool_free(&work.pool);
    return status;
}
