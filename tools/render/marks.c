#include "tools/render/marks.h"

#include "base/vec3.h"
#include "tools/common/tool.h"

#include <math.h>
#include <string.h>

enum { SIDES = 8, OCTAHEDRON_CORNERS = 6, CUBE_CORNERS = 8, BAR_CORNERS = 2 * SIDES, ARROW_CORNERS = 3 * SIDES + 1 };
static const int CORNERS[TOOL_MARK_KINDS] = {OCTAHEDRON_CORNERS, CUBE_CORNERS, BAR_CORNERS, ARROW_CORNERS};
static const int TRIANGLES[TOOL_MARK_KINDS] = {8, 12, 4 * SIDES - 4, 6 * SIDES - 2};
static const double HEAD_WIDTH = 2.6, HEAD_LENGTH = 6.5; /* radii of the shaft */

static int64_t *triangle(int64_t *to, int64_t a, int64_t b, int64_t c)
{
    to[0] = a;
    to[1] = b;
    to[2] = c;
    return to + 3;
}

/* A polygon of the corners first … first + SIDES − 1. */
static int64_t *cap(int64_t *to, int64_t first)
{
    for (int s = 1; s + 1 < SIDES; s++)
        to = triangle(to, first, first + s, first + s + 1);
    return to;
}

/* The sides between two such polygons. */
static int64_t *mantle(int64_t *to, int64_t low, int64_t high)
{
    for (int s = 0, n = 1; s < SIDES; s++, n = (s + 1) % SIDES) {
        to = triangle(to, low + s, low + n, high + n);
        to = triangle(to, low + s, high + n, high + s);
    }
    return to;
}

static void connect(enum tool_mark kind, int64_t base, int64_t *to)
{
    static const int64_t octahedron[24] = {0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5},
                         cube[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                     2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    const int64_t *own = kind == TOOL_MARK_OCTAHEDRON ? octahedron : cube;

    if (kind == TOOL_MARK_OCTAHEDRON || kind == TOOL_MARK_CUBE) {
        for (int k = 0; k < 3 * TRIANGLES[kind]; k++)
            to[k] = base + own[k];
        return;
    }

    to = mantle(cap(to, base), base, base + SIDES);
    if (kind == TOOL_MARK_BAR) {
        cap(to, base + SIDES);
        return;
    }

    to = mantle(to, base + SIDES, base + 2 * SIDES); /* the ring under the head */
    for (int s = 0; s < SIDES; s++)
        to = triangle(to, base + 2 * SIDES + s, base + 2 * SIDES + (s + 1) % SIDES, base + 3 * SIDES);
}

tool_marks tool_marks_new(enum tool_mark kind, int64_t most, sp_pool *pool)
{
    tool_marks marks = {.kind = kind};
    marks.vertices = tool_allocate_raw(pool, most, 3 * (size_t)CORNERS[kind] * sizeof *marks.vertices);
    marks.triangles = tool_allocate_raw(pool, most, 3 * (size_t)TRIANGLES[kind] * sizeof *marks.triangles);
    for (int64_t i = 0; i < most; i++)
        connect(kind, CORNERS[kind] * i, marks.triangles + 3 * TRIANGLES[kind] * i);
    return marks;
}

void tool_marks_point(tool_marks *marks, const double middle[3], double half)
{
    double *corner = marks->vertices + 3 * CORNERS[marks->kind] * marks->count++;
    if (marks->kind == TOOL_MARK_OCTAHEDRON)
        for (int i = 0; i < OCTAHEDRON_CORNERS; i++)
            for (int k = 0; k < 3; k++)
                corner[3 * i + k] = middle[k] + (k == i / 2 ? i % 2 ? -half : half : 0);
    else
        for (int i = 0; i < CUBE_CORNERS; i++)
            for (int k = 0; k < 3; k++)
                corner[3 * i + k] = middle[k] + (i >> k & 1 ? half : -half);
}

static void ring(const double middle[3], const double axis[2][3], double radius, double *corner)
{
    for (int s = 0; s < SIDES; s++) {
        const double turn = 2 * 3.14159265358979323846 * s / SIDES;
        for (int k = 0; k < 3; k++)
            corner[3 * s + k] = middle[k] + radius * (cos(turn) * axis[0][k] + sin(turn) * axis[1][k]);
    }
}

void tool_marks_line(tool_marks *marks, const double from[3], const double to[3], double radius)
{
    double *corner = marks->vertices + 3 * CORNERS[marks->kind] * marks->count++;
    double along[3], axis[2][3], neck[3], helper[3] = {0, 0, 0};

    sp_subtract3(to, from, along);
    const double length = sp_norm3(along);
    for (int k = 0; k < 3; k++)
        along[k] /= length;

    helper[fabs(along[0]) < 0.6 ? 0 : 1] = 1;
    sp_cross3(helper, along, axis[0]);
    const double side = sp_norm3(axis[0]);
    for (int k = 0; k < 3; k++)
        axis[0][k] /= side;
    sp_cross3(along, axis[0], axis[1]);

    ring(from, axis, radius, corner);
    if (marks->kind == TOOL_MARK_BAR) {
        ring(to, axis, radius, corner + 3 * SIDES);
        return;
    }

    const double head = fmin(HEAD_LENGTH * radius, 0.5 * length);
    for (int k = 0; k < 3; k++)
        neck[k] = to[k] - head * along[k];
    ring(neck, axis, radius, corner + 3 * SIDES);
    ring(neck, axis, HEAD_WIDTH * radius, corner + 6 * SIDES);
    memcpy(corner + 9 * SIDES, to, 3 * sizeof *corner);
}

sp_drawing tool_marks_drawing(const tool_marks *marks, const float rgb[3])
{
    return (sp_drawing){.vertex_count = CORNERS[marks->kind] * marks->count,
                        .triangle_count = TRIANGLES[marks->kind] * marks->count,
                        .vertices = marks->vertices,
                        .triangles = marks->triangles,
                        .base = {rgb[0], rgb[1], rgb[2]},
                        .flat = true};
}
