/* The look of the picture: lights fixed to the camera, a soft background, gamma. All sums are of linear light. */
#include "base/vec3.h"
#include "render/internal.h"

#include <math.h>

typedef struct vec {
    float x, y, z;
} vec;

static vec add(vec a, float s, vec b)
{
    return (vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static float inner(vec a, vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vec unit(vec a)
{
    float square = inner(a, a);
    float scale = square > 0 ? 1 / sqrtf(square) : 0;
    return (vec){scale * a.x, scale * a.y, scale * a.z};
}

static vec times(vec a, vec b)
{
    return (vec){a.x * b.x, a.y * b.y, a.z * b.z};
}

/* Unit directions to the lights in camera space (z away from the eye) and their linear colours. */
static const vec KEY_DIRECTION = {-0.44f, 0.66f, -0.609f}, KEY_COLOR = {0.97f, 0.95f, 0.91f};
static const vec FILL_DIRECTION = {0.80f, 0.05f, -0.598f}, FILL_COLOR = {0.13f, 0.15f, 0.19f};
static const vec SKY_COLOR = {0.23f, 0.245f, 0.27f}, GROUND_COLOR = {0.075f, 0.07f, 0.065f};
static const float SPECULAR = 0.13f;

/* sRGB of the background's top and bottom, and the linear colour of lines with how much they cover. */
static const double TOP[3] = {0.985, 0.988, 0.993}, BOTTOM[3] = {0.80, 0.825, 0.86};
static const vec LINE_COLOR = {0.010f, 0.012f, 0.018f};
static const float LINE_COVER = 0.82f;

float sp_srgb_linear(double value)
{
    return (float)(value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4));
}

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

/* Keeps what is below the knee and bends what is above towards 1, so that highlights do not end in flat patches. */
static float shoulder(float value)
{
    const float knee = 0.78f;
    if (value <= knee)
        return value;
    float t = (value - knee) / (1 - knee);
    return knee + (1 - knee) * t / (1 + t);
}

/* n and v (towards the eye) are unit vectors with n·v ≥ 0. */
static vec light(vec n, vec v, vec albedo)
{
    /* A little light reaches round the terminator, as from a large lamp. */
    const float wrap = 0.12f;
    float key = (inner(n, KEY_DIRECTION) + wrap) / (1 + wrap);
    float fill = inner(n, FILL_DIRECTION);
    key = key > 0 ? key : 0;
    fill = fill > 0 ? fill : 0;
    float facing = inner(n, v), up = 0.5f + 0.5f * n.y;
    /* Surfaces seen at a slant are ringed by other surfaces more often: less ambient light, and form is easier to read.
     */
    float open = 0.62f + 0.38f * facing;
    vec total = {0, 0, 0};
    total = add(total, key, KEY_COLOR);
    total = add(total, fill, FILL_COLOR);
    total = add(total, open * up, SKY_COLOR);
    total = add(total, open * (1 - up), GROUND_COLOR);

    float shine = inner(n, unit(add(KEY_DIRECTION, 1, v)));
    shine = shine > 0 ? shine : 0;
    for (int i = 0; i < 5; i++)
        shine *= shine;
    float grazing = 1 - facing;
    shine *= SPECULAR * (key > 0 ? 1 : 0);
    shine += 0.05f * grazing * grazing * grazing * up;
    return add(times(albedo, total), shine, KEY_COLOR);
}

/* What the samples of one triangle share. */
typedef struct facet {
    int32_t primitive;   /* -1: none yet */
    double weight[3][3]; /* barycentric coordinates are weight · ray, up to their sum */
    vec geometric;       /* not normalized */
    vec normal[3], color[3];
} facet;

static float unit_range(float value)
{
    return value > 0 ? value < 1 ? value : 1 : 0;
}

static void face_set(const sp_scene *scene, int32_t number, facet *face)
{
    const sp_primitive *primitive = scene->primitives + number;
    const sp_drawing *drawing = scene->drawings + primitive->drawing;
    const int64_t *t = drawing->triangles + 3 * primitive->triangle;
    const float *normals = scene->normals[primitive->drawing];
    double p[3][3], u[3], w[3], n[3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            p[i][k] = scene->vertices[primitive->drawing][3 * t[i] + k];
    sp_subtract3(p[1], p[0], u);
    sp_subtract3(p[2], p[0], w);
    sp_cross3(u, w, n);
    double length = sp_norm3(n);
    double scale = length > 0 ? 1 / length : 0;
    face->geometric = (vec){(float)(n[0] * scale), (float)(n[1] * scale), (float)(n[2] * scale)};
    for (int i = 0; i < 3; i++) {
        const float *corner = normals ? normals + 3 * (3 * primitive->triangle + i) : NULL;
        face->normal[i] = corner ? (vec){corner[0], corner[1], corner[2]} : face->geometric;
        const float *rgb = drawing->color ? drawing->color + 3 * t[i] : drawing->base;
        face->color[i] = (vec){unit_range(rgb[0]), unit_range(rgb[1]), unit_range(rgb[2])};
    }
    /* A point Σ b p on the ray (x, y, 1) has b proportional to the products of the ray with the cross products of the
     * corners; in parallel view the same holds with the corners (x, y, 1). */
    if (!scene->view->perspective)
        p[0][2] = p[1][2] = p[2][2] = 1;
    for (int i = 0; i < 3; i++)
        sp_cross3(p[(i + 1) % 3], p[(i + 2) % 3], face->weight[i]);
    face->primitive = number;
}

/* The linear colour where the ray through the pixel position (x, y) meets the triangle. */
static vec shade(const sp_scene *scene, const facet *face, double x, double y)
{
    const sp_view *view = scene->view;
    const double ray[3] = {(x - view->centre[0]) / view->scale, (view->centre[1] - y) / view->scale, 1};
    double b[3], sum = 0;
    for (int i = 0; i < 3; i++)
        sum += b[i] = face->weight[i][0] * ray[0] + face->weight[i][1] * ray[1] + face->weight[i][2];
    /* Snapped corners let a sample fall a little outside of the true triangle: no extrapolation. */
    double positive = 0;
    for (int i = 0; i < 3; i++) {
        b[i] = sum < 0 ? -b[i] : b[i];
        b[i] = b[i] > 0 ? b[i] : 0;
        positive += b[i];
    }
    vec n = {0, 0, 0}, albedo = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        float weight = positive > 0 ? (float)(b[i] / positive) : 1.0f / 3;
        n = add(n, weight, face->normal[i]);
        albedo = add(albedo, weight, face->color[i]);
    }
    vec v = {0, 0, -1};
    if (view->perspective)
        v = unit((vec){(float)-ray[0], (float)-ray[1], -1});
    if (inner(face->geometric, v) < 0)
        n = (vec){-n.x, -n.y, -n.z};
    /* A smooth normal may turn away from the eye near the silhouette: bend it back to the horizon. */
    float facing = inner(n, v);
    if (facing < 0)
        n = add(n, -facing, v);
    n = unit(n);
    return light(n.x == 0 && n.y == 0 && n.z == 0 ? v : n, v, albedo);
}

static vec background(double fraction)
{
    /* An eased ramp: the horizon has no visible kink at either end. */
    double t = fraction * fraction * (3 - 2 * fraction);
    return (vec){sp_srgb_linear(TOP[0] + t * (BOTTOM[0] - TOP[0])), sp_srgb_linear(TOP[1] + t * (BOTTOM[1] - TOP[1])),
                 sp_srgb_linear(TOP[2] + t * (BOTTOM[2] - TOP[2]))};
}

static vec bend(vec color)
{
    return (vec){shoulder(color.x), shoulder(color.y), shoulder(color.z)};
}

/* The mean over the samples of one pixel whose first sample is at `at` in the band. */
static vec pixel_color(const sp_scene *scene, const sp_band *band, int64_t at, int64_t x, int64_t y, vec back,
                       facet *face)
{
    const int samples = scene->view->samples;
    int32_t first = band->visible[at];
    bool alike = true, lines = false;
    for (int j = 0; j < samples; j++)
        for (int i = 0; i < samples; i++) {
            int64_t k = at + j * band->columns + i;
            alike = alike && band->visible[k] == first;
            lines = lines || band->line[k];
        }
    if (alike && !lines && first < 0)
        return back;
    /* Within one triangle the colour is as good as linear: the centre stands for all samples. */
    vec shared = back;
    if (alike && first >= 0) {
        if (face->primitive != first)
            face_set(scene, first, face);
        shared = bend(shade(scene, face, (double)x + 0.5, (double)y + 0.5));
        if (!lines)
            return shared;
    }
    vec sum = {0, 0, 0};
    for (int j = 0; j < samples; j++)
        for (int i = 0; i < samples; i++) {
            int64_t k = at + j * band->columns + i;
            vec color = alike ? shared : back;
            if (!alike && band->visible[k] >= 0) {
                if (face->primitive != band->visible[k])
                    face_set(scene, band->visible[k], face);
                color = bend(shade(scene, face, (double)x + (i + 0.5) / samples, (double)y + (j + 0.5) / samples));
            }
            if (band->line[k]) {
                color = add((vec){0, 0, 0}, 1 - LINE_COVER, color);
                color = add(color, LINE_COVER, LINE_COLOR);
            }
            sum = add(sum, 1, color);
        }
    return add((vec){0, 0, 0}, 1.0f / (float)(samples * samples), sum);
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

void sp_band_resolve(const sp_scene *scene, const sp_band *band, sp_image *image)
{
    const int samples = scene->view->samples;
    facet face = {.primitive = -1};
    for (int64_t row = 0; row < band->rows / samples; row++) {
        int64_t y = band->first / samples + row;
        vec back = background(((double)y + 0.5) / (double)image->height);
        for (int64_t x = 0; x < image->width; x++) {
            int64_t at = row * samples * band->columns + x * samples;
            vec color = pixel_color(scene, band, at, x, y, back, &face);
            uint8_t *rgb = image->rgb + 3 * (y * image->width + x);
            rgb[0] = encode(scene->gamma, color.x);
            rgb[1] = encode(scene->gamma, color.y);
            rgb[2] = encode(scene->gamma, color.z);
            image->depth[y * image->width + x] = pixel_depth(scene, band, at);
        }
    }
}
