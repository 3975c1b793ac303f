/* Shading: lights fixed to the camera, a soft background, gamma. All sums are of linear light. */
#include "base/vec3.h"
#include "render/internal.h"

#include <math.h>

/* Unit directions to the lights in camera space (z away from the eye) and their linear colours. */
const sp_vec sp_key_direction = {-0.44f, 0.66f, -0.609f};
static const sp_vec KEY_COLOR = {0.97f, 0.95f, 0.91f};
static const sp_vec FILL_DIRECTION = {0.80f, 0.05f, -0.598f}, FILL_COLOR = {0.13f, 0.15f, 0.19f};
static const sp_vec SKY_COLOR = {0.23f, 0.245f, 0.27f}, GROUND_COLOR = {0.075f, 0.07f, 0.065f};
static const float SPECULAR = 0.13f;

/* sRGB of the top and bottom of the background, pale and dark, and the linear colour of lines with their opacity. */
static const double TOP[2][3] = {{0.985, 0.988, 0.993}, {0.13, 0.14, 0.16}},
                    BOTTOM[2][3] = {{0.80, 0.825, 0.86}, {0.25, 0.265, 0.29}};
static const sp_vec LINE_COLOR = {0.010f, 0.012f, 0.018f};
static const float LINE_COVER = 0.82f;

void sp_gamma_table(uint8_t gamma[SP_GAMMA + 1])
{
    for (int i = 0; i <= SP_GAMMA; i++) {
        double linear = (double)i / SP_GAMMA;
        double encoded = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
        gamma[i] = (uint8_t)(255 * encoded + 0.5);
    }
}

static uint8_t encode(const uint8_t *gamma, float linear)
{
    float index = linear * SP_GAMMA + 0.5f;
    return gamma[index >= SP_GAMMA ? SP_GAMMA : index > 0 ? (int)index : 0];
}

/* Keeps values below the knee and compresses higher ones towards 1, so that highlights do not become flat patches. */
static float shoulder(float value)
{
    const float knee = 0.78f;
    if (value <= knee)
        return value;

    /* t / (1 + t) rises from 0 with the slope 1, so that the curve has no kink at the knee. */
    float t = (value - knee) / (1 - knee);
    return knee + (1 - knee) * t / (1 + t);
}

/* Of the ambient light that a part of the hemisphere lets in; the other part is taken to be surface of the same albedo
 * and in the same light, which reflects: open + albedo (1 - open) open + … */
static float reflected(float open, float albedo)
{
    return open / (1 - albedo * (1 - open));
}

/* The linear colour of a hit, whose normal is not turned away from the eye. */
static sp_vec colored(const sp_hit *hit, sp_light light)
{
    /* Light wraps a little around the terminator, as from a large lamp. */
    const sp_vec n = hit->normal;
    float key = (sp_vec_dot(n, sp_key_direction) + SP_WRAP) / (1 + SP_WRAP);
    float fill = sp_vec_dot(n, FILL_DIRECTION);

    key = key > 0 ? light.lit * key : 0;
    fill = fill > 0 ? light.open * fill : 0;

    float facing = sp_vec_dot(n, hit->eye), up = 0.5f + 0.5f * n.y;
    /* Surfaces seen at a slant are occluded by others more often: less ambient light, and shape is easier to read. */
    float slant = hit->ground ? 1 : 0.62f + 0.38f * facing;

    sp_vec ambient = {slant * reflected(light.open, hit->albedo.x), slant * reflected(light.open, hit->albedo.y),
                      slant * reflected(light.open, hit->albedo.z)};

    sp_vec total = {0, 0, 0};
    total = sp_vec_add(total, key, KEY_COLOR);
    total = sp_vec_add(total, fill, FILL_COLOR);
    total = sp_vec_add(total, up, sp_vec_times(ambient, SKY_COLOR));
    total = sp_vec_add(total, 1 - up, sp_vec_times(ambient, GROUND_COLOR));
    if (hit->ground)
        return sp_vec_times(hit->albedo, total);

    /* Blinn's highlight with the exponent 32, and a rim of light at grazing angles */
    float shine = sp_vec_dot(n, sp_vec_unit(sp_vec_add(sp_key_direction, 1, hit->eye)));
    shine = shine > 0 ? shine : 0;
    for (int i = 0; i < 5; i++)
        shine *= shine;

    float grazing = 1 - facing;
    shine *= key > 0 ? SPECULAR * light.lit : 0;
    shine += 0.05f * grazing * grazing * grazing * up * light.open;
    return sp_vec_add(sp_vec_times(hit->albedo, total), shine, KEY_COLOR);
}

/* Data shared by the samples of one triangle. */
typedef struct facet {
    int32_t primitive;   /* -1: none yet */
    double weight[3][3]; /* barycentric coordinates are weight · ray, up to their sum */
    double corner[3][3];
    sp_vec geometric; /* not oriented */
    sp_vec normal[3], color[3];
    const sp_drawing *drawing;
} facet;

static float unit_range(float value)
{
    return value > 0 ? value < 1 ? value : 1 : 0;
}

static void face_set(const sp_scene *scene, int32_t number, facet *face)
{
    const sp_primitive *primitive = scene->primitives + number;
    const sp_drawing *drawing = face->drawing = scene->drawings + primitive->drawing;
    const int64_t *t = drawing->triangles + 3 * primitive->triangle;
    const float *normals = scene->normals[primitive->drawing];
    double p[3][3], u[3], w[3], n[3];

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            face->corner[i][k] = p[i][k] = scene->vertices[primitive->drawing][3 * t[i] + k];
    sp_subtract3(p[1], p[0], u);
    sp_subtract3(p[2], p[0], w);
    sp_cross3(u, w, n);

    double length = sp_norm3(n);
    double scale = length > 0 ? 1 / length : 0;
    face->geometric = (sp_vec){(float)(n[0] * scale), (float)(n[1] * scale), (float)(n[2] * scale)};

    for (int i = 0; i < 3; i++) {
        const float *corner = normals ? normals + 3 * (3 * primitive->triangle + i) : NULL;
        face->normal[i] = corner ? (sp_vec){corner[0], corner[1], corner[2]} : face->geometric;
        const float *rgb = drawing->color ? drawing->color + 3 * t[i] : drawing->base;
        face->color[i] = (sp_vec){unit_range(rgb[0]), unit_range(rgb[1]), unit_range(rgb[2])};
    }
    /* A point Σ b p on the ray (x, y, 1) has b proportional to the products of the ray with the cross products of the
     * corners; in parallel view the same holds with the corners (x, y, 1). */
    if (!scene->view->perspective)
        p[0][2] = p[1][2] = p[2][2] = 1;
    for (int i = 0; i < 3; i++)
        sp_cross3(p[(i + 1) % 3], p[(i + 2) % 3], face->weight[i]);
    face->primitive = number;
}

/* Of the ray through the pixel position (x, y) and the triangle; they sum to 1. Because corners are snapped, a sample
 * may be slightly outside the exact triangle: clamp instead of extrapolating. */
static void barycentric(const facet *face, const double ray[3], double b[3])
{
    double sum = 0, positive = 0;
    for (int i = 0; i < 3; i++)
        sum += b[i] = face->weight[i][0] * ray[0] + face->weight[i][1] * ray[1] + face->weight[i][2];

    for (int i = 0; i < 3; i++) {
        b[i] = sum < 0 ? -b[i] : b[i];
        b[i] = b[i] > 0 ? b[i] : 0;
        positive += b[i];
    }

    for (int i = 0; i < 3; i++)
        b[i] = positive > 0 ? b[i] / positive : 1.0 / 3;
}

/* Rays that start on a flat triangle meet its neighbours where the smooth normals say that they should not. So the
 * point is moved out to the planes that its corners and their normals describe (Hanika, Hacking the shadow terminator,
 * 2021). */
static sp_vec smooth_start(const facet *face, const double b[3], const double place[3], float side)
{
    double start[3] = {place[0], place[1], place[2]};
    for (int i = 0; i < 3; i++) {
        const double n[3] = {side * face->normal[i].x, side * face->normal[i].y, side * face->normal[i].z};
        double to[3];

        sp_subtract3(place, face->corner[i], to);

        /* Only points below the plane of a corner are moved out to it. */
        const double below = fmin(0, sp_dot3(to, n));
        for (int k = 0; k < 3; k++)
            start[k] -= b[i] * below * n[k];
    }
    return (sp_vec){(float)start[0], (float)start[1], (float)start[2]};
}

/* The part of a ground that does not fade into the background. */
static float fade(const sp_drawing *drawing, double depth)
{
    const double t = fmin(1, fmax(0, (depth - drawing->fade[0]) / (drawing->fade[1] - drawing->fade[0])));
    return (float)(1 - t * t * (3 - 2 * t));
}

/* Where the ray through the pixel position (x, y) meets the triangle. */
static void hit_set(const sp_scene *scene, const facet *face, double x, double y, sp_hit *hit)
{
    const sp_view *view = scene->view;
    const double ray[3] = {(x - view->centre[0]) / view->scale, (view->centre[1] - y) / view->scale, 1};
    double b[3], place[3] = {0, 0, 0};

    barycentric(face, ray, b);

    sp_vec n = {0, 0, 0};
    hit->albedo = n;
    for (int i = 0; i < 3; i++) {
        n = sp_vec_add(n, (float)b[i], face->normal[i]);
        hit->albedo = sp_vec_add(hit->albedo, (float)b[i], face->color[i]);
        for (int k = 0; k < 3; k++)
            place[k] += b[i] * face->corner[i][k];
    }

    hit->place = (sp_vec){(float)place[0], (float)place[1], (float)place[2]};
    hit->eye = (sp_vec){0, 0, -1};
    if (view->perspective)
        hit->eye = sp_vec_unit((sp_vec){(float)-ray[0], (float)-ray[1], -1});

    /* Both sides of a triangle are shaded: normals are turned to the eye. */
    const float side = sp_vec_dot(face->geometric, hit->eye) < 0 ? -1 : 1;
    const sp_vec none = {0, 0, 0};
    n = sp_vec_add(none, side, n);
    hit->facing = sp_vec_add(none, side, face->geometric);
    /* A smooth normal may point away from the eye near the silhouette: rotate it back to the horizon. */
    const float facing = sp_vec_dot(n, hit->eye);
    if (facing < 0)
        n = sp_vec_add(n, -facing, hit->eye);
    n = sp_vec_unit(n);
    hit->normal = n.x == 0 && n.y == 0 && n.z == 0 ? hit->eye : n;

    hit->start = scene->shadow ? smooth_start(face, b, place, side) : hit->place;
    hit->ground = face->drawing->ground;
    hit->clear = hit->ground ? fade(face->drawing, place[2]) : 1;
}

static sp_vec background(bool dark, double fraction)
{
    /* A smooth ramp: the gradient has no visible kink at either end. */
    const double t = fraction * fraction * (3 - 2 * fraction), *top = TOP[dark], *bottom = BOTTOM[dark];
    return (sp_vec){sp_srgb_linear(top[0] + t * (bottom[0] - top[0])),
                    sp_srgb_linear(top[1] + t * (bottom[1] - top[1])),
                    sp_srgb_linear(top[2] + t * (bottom[2] - top[2]))};
}

static sp_vec bend(sp_vec color)
{
    return (sp_vec){shoulder(color.x), shoulder(color.y), shoulder(color.z)};
}

/* What is shared by the samples of a pixel. */
typedef struct pixel {
    const sp_scene *scene;
    int64_t x, y;
    sp_vec back;
    facet *face;
    bool lit; /* `light` is that of a hit with `normal` in the drawing of `drawing` */
    sp_light light;
    sp_vec normal;
    const sp_drawing *drawing;
} pixel;

/* Samples of one surface share the light of the pixel. */
static sp_light pixel_light(pixel *at, const sp_hit *hit)
{
    if (!at->scene->shadow || at->face->drawing->transparency > 0)
        return (sp_light){1, 1};

    if (!at->lit || at->drawing != at->face->drawing || sp_vec_dot(at->normal, hit->normal) < 0.97f) {
        at->light = sp_occlusion_gather(at->scene, hit, at->x, at->y);
        at->normal = hit->normal;
        at->drawing = at->face->drawing;
        at->lit = true;
    }
    return at->light;
}

/* The linear colour of a primitive at a position of the pixel. */
static sp_vec sample_color(pixel *at, int32_t primitive, double x, double y)
{
    sp_hit hit;

    if (at->face->primitive != primitive)
        face_set(at->scene, primitive, at->face);
    hit_set(at->scene, at->face, x, y, &hit);
    if (hit.clear == 0)
        return at->back;

    sp_vec color = bend(colored(&hit, pixel_light(at, &hit)));
    if (hit.clear == 1)
        return color;
    return sp_vec_add(at->back, hit.clear, sp_vec_add(color, -1, at->back));
}

/* The mean over the samples of one pixel whose first sample is at `first` in the band. */
static sp_vec pixel_color(pixel *at, const sp_band *band, int64_t first)
{
    const int samples = at->scene->view->samples;
    const int32_t one = band->visible[first];
    bool alike = true, lines = false;

    for (int j = 0; j < samples; j++)
        for (int i = 0; i < samples; i++) {
            int64_t k = first + j * band->columns + i;
            alike = alike && band->visible[k] == one;
            lines = lines || band->line[k];
        }

    if (alike && !lines && one < 0)
        return at->back;

    /* Within one triangle the colour is nearly linear: the centre represents all samples. */
    sp_vec shared = at->back;
    if (alike && one >= 0) {
        shared = sample_color(at, one, (double)at->x + 0.5, (double)at->y + 0.5);
        if (!lines)
            return shared;
    }

    sp_vec sum = {0, 0, 0};
    for (int j = 0; j < samples; j++)
        for (int i = 0; i < samples; i++) {
            int64_t k = first + j * band->columns + i;
            sp_vec color = alike ? shared : at->back;

            if (!alike && band->visible[k] >= 0)
                color = sample_color(at, band->visible[k], (double)at->x + (i + 0.5) / samples,
                                     (double)at->y + (j + 0.5) / samples);

            if (band->line[k]) {
                color = sp_vec_add((sp_vec){0, 0, 0}, 1 - LINE_COVER, color);
                color = sp_vec_add(color, LINE_COVER, LINE_COLOR);
            }
            sum = sp_vec_add(sum, 1, color);
        }
    return sp_vec_add((sp_vec){0, 0, 0}, 1.0f / (float)(samples * samples), sum);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static float pixel_depth(const sp_scene *scene, const sp_band *band, int64_t at)
{
    double nearest = -INFINITY;
    for (int j = 0; j < scene->view->samples; j++)
        for (int i = 0; i < scene->view->samples; i++)
            nearest = larger(nearest, band->key[at + j * band->columns + i]);

    if (nearest == -INFINITY)
        return INFINITY;
    return (float)(scene->view->perspective ? 1 / nearest : -nearest);
}

void sp_band_trace(const sp_scene *scene, const sp_band *band)
{
    const int samples = scene->view->samples;
    facet face = {.primitive = -1};
    for (int64_t row = 0; row < band->rows / samples; row++)
        for (int64_t x = 0; x < scene->width; x++) {
            const int64_t y = band->first / samples + row;
            const int32_t primitive =
                band->visible[(row * samples + samples / 2) * band->columns + x * samples + samples / 2];
            sp_hit hit;

            scene->traced[y * scene->width + x].depth = INFINITY;
            if (primitive < 0)
                continue;

            if (face.primitive != primitive)
                face_set(scene, primitive, &face);
            hit_set(scene, &face, (double)x + 0.5, (double)y + 0.5, &hit);
            if (hit.clear > 0 && face.drawing->transparency == 0)
                sp_occlusion_store(scene, &hit, x, y);
        }
}

void sp_band_resolve(const sp_scene *scene, const sp_band *band, sp_image *image)
{
    const int samples = scene->view->samples;
    facet face = {.primitive = -1};

    for (int64_t row = 0; row < band->rows / samples; row++) {
        int64_t y = band->first / samples + row;
        sp_vec back = background(scene->look->dark, ((double)y + 0.5) / (double)image->height);

        for (int64_t x = 0; x < image->width; x++) {
            int64_t at = row * samples * band->columns + x * samples;
            pixel here = {.scene = scene, .x = x, .y = y, .back = back, .face = &face};
            sp_vec color = pixel_color(&here, band, at);
            uint8_t *rgb = image->rgb + 3 * (y * image->width + x);

            rgb[0] = encode(scene->gamma, color.x);
            rgb[1] = encode(scene->gamma, color.y);
            rgb[2] = encode(scene->gamma, color.z);
            image->depth[y * image->width + x] = pixel_depth(scene, band, at);
        }
    }
}
