/* Ambient occlusion and soft shadows. The pixels of a tile of 4 × 4 share one set of directions, of which each pixel
 * traces a sixteenth. A pixel then takes the mean over the 4 × 4 pixels around it that show the same surface, so that
 * every direction counts once. The directions are consecutive points of Sobol's sequence in two dimensions: the points
 * of one pixel are evenly spread, and so are those of the tile. */
#include "render/internal.h"
#include "render/shadow.h"

#include <math.h>

enum { TILE = SP_TILE };

static const float LAMP = 0.11f; /* radius of the key light at distance 1 */
/* Distance of the start of a ray from its surface, relative to the distance from the eye: several hundred times the
 * rounding error of a coordinate. */
static const float LIFT = 3e-5f;

/* Point `number` of Sobol's sequence, in [0,1)²: van der Corput's sequence, and the one of the polynomial x + 1. */
static void sobol(uint32_t number, float point[2])
{
    uint32_t first = 0, second = 0, column = UINT32_C(1) << 31;
    for (uint32_t bit = UINT32_C(1) << 31; number; number >>= 1, bit >>= 1, column ^= column >> 1)
        if (number & 1) {
            first ^= bit;
            second ^= column;
        }

    /* 24 bits fit a float exactly. */
    point[0] = (float)(first >> 8) / 16777216.0f;
    point[1] = (float)(second >> 8) / 16777216.0f;
}

/* Two unit vectors perpendicular to the unit vector n and to each other. */
static void tangents(sp_vec n, sp_vec *a, sp_vec *b)
{
    const float x = fabsf(n.x), y = fabsf(n.y), z = fabsf(n.z);
    const sp_vec axis = {x <= y && x <= z, y < x && y <= z, z < x && z < y};
    *a = sp_vec_unit(sp_vec_cross(axis, n));
    *b = sp_vec_cross(n, *a);
}

static sp_vec combine(sp_vec a, float x, sp_vec b, float y, sp_vec n, float z)
{
    return (sp_vec){a.x * x + b.x * y + n.x * z, a.y * x + b.y * y + n.y * z, a.z * x + b.z * y + n.z * z};
}

static bool blocked(const sp_shadow *shadow, sp_vec origin, sp_vec direction)
{
    const float from[3] = {origin.x, origin.y, origin.z}, to[3] = {direction.x, direction.y, direction.z};
    return sp_shadow_blocked(shadow, from, to);
}

/* An infinite ground blocks what starts above it and goes down. */
static bool grounded(const sp_scene *scene, sp_vec origin, sp_vec direction)
{
    for (int64_t g = 0; g < scene->ground_count; g++)
        if (sp_vec_dot(scene->grounds[g].normal, direction) < 0 &&
            sp_vec_dot(scene->grounds[g].normal, origin) > scene->grounds[g].offset)
            return true;
    return false;
}

void sp_occlusion_sky(int count, sp_vec *directions)
{
    for (int i = 0; i < count; i++) {
        /* The density of directions is that of the cosine to the normal, if their feet fill the unit disk evenly. */
        float point[2];
        sobol((uint32_t)i, point);
        const float turn = 6.2831853f * point[0], radius = sqrtf(point[1]);
        directions[i] = (sp_vec){radius * cosf(turn), radius * sinf(turn), sqrtf(fmaxf(0, 1 - point[1]))};
    }
}

void sp_occlusion_lamp(int count, sp_vec *directions)
{
    sp_vec a, b;
    tangents(sp_key_direction, &a, &b);
    for (int i = 0; i < count; i++) {
        float point[2];
        sobol((uint32_t)i, point);
        const float turn = 6.2831853f * point[0], radius = LAMP * sqrtf(point[1]);
        directions[i] = sp_vec_unit(combine(a, radius * cosf(turn), b, radius * sinf(turn), sp_key_direction, 1));
    }
}

float sp_occlusion_open(const sp_scene *scene, sp_vec origin, sp_vec normal, const sp_vec *sky, int rays)
{
    sp_vec a, b;
    int open = 0;

    tangents(normal, &a, &b);
    for (int i = 0; i < rays; i++) {
        const sp_vec direction = combine(a, sky[i].x, b, sky[i].y, normal, sky[i].z);
        open += !grounded(scene, origin, direction) && !blocked(scene->shadow, origin, direction);
    }
    return (float)open / (float)rays;
}

float sp_occlusion_lit(const sp_scene *scene, sp_vec origin, const sp_vec *lamp, int rays)
{
    int lit = 0;
    for (int i = 0; i < rays; i++)
        lit += !blocked(scene->shadow, origin, lamp[i]);
    return (float)lit / (float)rays;
}

/* The rank of the pixel in its tile: neighbours are far from each other in the sequence. */
static int rank(int64_t x, int64_t y)
{
    static const uint8_t order[TILE * TILE] = {0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5};
    return order[y % TILE * TILE + x % TILE];
}

static sp_light trace(const sp_scene *scene, const sp_hit *hit, int64_t x, int64_t y)
{
    const int shadow = scene->look->shadow_rays, occlusion = scene->look->occlusion_rays;
    const float lift = LIFT * sqrtf(sp_vec_dot(hit->place, hit->place));

    /* The start is lifted off the surface, relative to the distance at which rounding grows. */
    const sp_vec origin = sp_vec_add(hit->start, lift, hit->facing);
    sp_light light = {1, 1};

    /* A surface that faces away from the lamp is dark without a ray. */
    if (shadow > 0)
        light.lit = sp_vec_dot(hit->normal, sp_key_direction) > -SP_WRAP
                        ? sp_occlusion_lit(scene, origin, scene->lamp + rank(x, y) * shadow, shadow)
                        : 0;

    if (occlusion > 0)
        light.open = sp_occlusion_open(scene, origin, hit->normal, scene->sky + rank(x, y) * occlusion, occlusion);
    return light;
}

sp_light sp_occlusion_trace(const sp_scene *scene, const sp_hit *hit, int64_t x, int64_t y)
{
    sp_light light = trace(scene, hit, x, y);
    if (!hit->ground || !scene->veil)
        return light;

    /* On a ground, what opaque surfaces leave is dimmed by the transparent ones in the way. */
    sp_scene only = *scene;
    only.shadow = scene->veil;
    const sp_light veiled = trace(&only, hit, x, y);
    const float t = scene->veil_transparency;

    light.open *= t + (1 - t) * veiled.open;
    light.lit *= t + (1 - t) * veiled.lit;
    return light;
}

void sp_occlusion_store(const sp_scene *scene, const sp_hit *hit, int64_t x, int64_t y)
{
    const sp_vec n = hit->normal;
    scene->traced[y * scene->width + x] =
        (sp_traced){.depth = hit->place.z,
                    .light = sp_occlusion_trace(scene, hit, x, y),
                    .normal = {(int8_t)lrintf(127 * n.x), (int8_t)lrintf(127 * n.y), (int8_t)lrintf(127 * n.z)}};
}

/* Whether a pixel shows the surface of the hit: a similar normal, and a place near the tangential plane. */
static bool alike(const sp_scene *scene, const sp_hit *hit, const sp_traced *traced, int64_t x, int64_t y)
{
    const sp_view *view = scene->view;
    if (!(traced->depth < INFINITY))
        return false;

    const float cosine =
        (hit->normal.x * traced->normal[0] + hit->normal.y * traced->normal[1] + hit->normal.z * traced->normal[2]) /
        127;

    /* The place of the other pixel by its depth, and how far it is from the tangential plane in pixels */
    const float pixel = (float)((view->perspective ? hit->place.z : 1) / view->scale),
                reach = view->perspective ? traced->depth : 1;
    const sp_vec to = {(float)(((double)x + 0.5 - view->centre[0]) / view->scale) * reach - hit->place.x,
                       (float)((view->centre[1] - (double)y - 0.5) / view->scale) * reach - hit->place.y,
                       traced->depth - hit->place.z};
    return cosine > 0.8f && fabsf(sp_vec_dot(hit->facing, to)) < 2 * pixel;
}

sp_light sp_occlusion_gather(const sp_scene *scene, const sp_hit *hit, int64_t x, int64_t y)
{
    sp_light sum = {0, 0};
    int count = 0;
    for (int64_t row = y - TILE / 2; row < y + TILE / 2; row++)
        for (int64_t column = x - TILE / 2; column < x + TILE / 2; column++) {
            if (row < 0 || column < 0 || row >= scene->height || column >= scene->width)
                continue;
            const sp_traced *traced = scene->traced + row * scene->width + column;
            if (!alike(scene, hit, traced, column, row))
                continue;
            sum.open += traced->light.open;
            sum.lit += traced->light.lit;
            count++;
        }

    /* A surface of which no pixel was traced is traced here. */
    if (count == 0)
        return sp_occlusion_trace(scene, hit, x, y);
    return (sp_light){sum.open / (float)count, sum.lit / (float)count};
}
