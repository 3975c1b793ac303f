/* The renderer against formulas of projection, planes and spheres written out here, and PNG against libpng's reader. */
#include "render/render.h"
#include "formats/export/png.h"
#include "render/internal.h"
#include "render/shadow.h"
#include "test.h"

#include <png.h>

OWNER(sp_font)
OWNER(sp_shadow)

#define PLAIN(n) (&(sp_look){.samples = (n)})

static const double PI = 3.14159265358979323846;

/* A repeatable number in [0,1). */
static double pseudo(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

/* ---- geometry for the tests ---- */

/* Projection by the usual look-at and frustum matrices and a viewport; depth along the view axis. */
static void project_by_matrices(const sp_camera *camera, double width, double height, const double point[3],
                                double pixel[3])
{
    double z[3], x[3], y[3], length = 0, at[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        z[i] = camera->eye[i] - camera->target[i];
        length += z[i] * z[i];
    }
    for (int i = 0; i < 3; i++)
        z[i] /= sqrt(length);
    for (int i = 0; i < 3; i++)
        x[i] = camera->up[(i + 1) % 3] * z[(i + 2) % 3] - camera->up[(i + 2) % 3] * z[(i + 1) % 3];
    length = sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
    for (int i = 0; i < 3; i++)
        x[i] /= length;
    for (int i = 0; i < 3; i++)
        y[i] = z[(i + 1) % 3] * x[(i + 2) % 3] - z[(i + 2) % 3] * x[(i + 1) % 3];
    for (int i = 0; i < 3; i++) {
        at[0] += x[i] * (point[i] - camera->eye[i]);
        at[1] += y[i] * (point[i] - camera->eye[i]);
        at[2] += z[i] * (point[i] - camera->eye[i]);
    }
    double w = camera->angle > 0 ? -at[2] : 1;
    double half = camera->angle > 0 ? tan(camera->angle / 2 * PI / 180) : camera->height / 2;
    pixel[0] = width * (0.5 + 0.5 * at[0] / (w * half * width / height));
    pixel[1] = height * (0.5 - 0.5 * at[1] / (w * half));
    pixel[2] = -at[2];
}

/* Cameras at the origin that look along -z, x right and y up. */
static sp_camera plain_camera(double angle, double distance)
{
    return (sp_camera){.eye = {0, 0, 0}, .target = {0, 0, -distance}, .up = {0, 1, 0}, .angle = angle, .height = 2};
}

/* Depth at which the ray through (px, py) of a plain perspective camera meets n·p = d. */
static double ray_plane(const sp_camera *camera, double width, double height, double px, double py, const double n[3],
                        double d)
{
    double half = tan(camera->angle / 2 * PI / 180);
    double ray[3] = {(2 * px - width) / height * half, (height - 2 * py) / height * half, -1};
    return d / (n[0] * ray[0] + n[1] * ray[1] + n[2] * ray[2]);
}

static sp_image new_image(int64_t width, int64_t height)
{
    sp_image image;
    CHECK_OK(sp_image_new(&context, width, height, &image));
    return image;
}

static int64_t count_drawn(const sp_image *image)
{
    int64_t count = 0;
    for (int64_t i = 0; i < image->width * image->height; i++)
        count += image->depth[i] < INFINITY;
    return count;
}

static bool same_image(const sp_image *a, const sp_image *b)
{
    size_t count = (size_t)(a->width * a->height);
    return !memcmp(a->rgb, b->rgb, 3 * count) && !memcmp(a->depth, b->depth, count * sizeof *a->depth);
}

static int largest_difference(const sp_image *a, const sp_image *b)
{
    int largest = 0;
    for (int64_t i = 0; i < 3 * a->width * a->height; i++)
        largest = abs(a->rgb[i] - b->rgb[i]) > largest ? abs(a->rgb[i] - b->rgb[i]) : largest;
    return largest;
}

/* Sphere of radius 1 at (0, 0, -distance): rings × 2 rings quadrilaterals of two triangles each. */
typedef struct sphere {
    double *vertices;
    int64_t *triangles;
    int64_t vertex_count, triangle_count;
} sphere;

static sphere make_sphere(int64_t rings, double distance)
{
    int64_t sectors = 2 * rings;
    sphere s = {.vertex_count = (rings + 1) * sectors, .triangle_count = 2 * rings * sectors};
    s.vertices = malloc((size_t)s.vertex_count * 3 * sizeof(double));
    s.triangles = malloc((size_t)s.triangle_count * 3 * sizeof(int64_t));
    int64_t t = 0;
    for (int64_t i = 0; i <= rings; i++)
        for (int64_t j = 0; j < sectors; j++) {
            double polar = PI * (double)i / (double)rings, turn = PI * (double)j / (double)rings;
            double *v = s.vertices + 3 * (i * sectors + j);
            v[0] = sin(polar) * cos(turn);
            v[1] = cos(polar);
            v[2] = sin(polar) * sin(turn) - distance;
            if (i == rings)
                continue;
            int64_t a = i * sectors + j, b = i * sectors + (j + 1) % sectors, c = a + sectors, d = b + sectors;
            const int64_t two[6] = {a, b, c, b, d, c};
            memcpy(s.triangles + t, two, sizeof two);
            t += 6;
        }
    return s;
}

static sp_drawing draw_sphere(const sphere *s)
{
    return (sp_drawing){.vertex_count = s->vertex_count,
                        .triangle_count = s->triangle_count,
                        .vertices = s->vertices,
                        .triangles = s->triangles,
                        .base = {0.5f, 0.5f, 0.5f}};
}

static void sphere_free(sphere *s)
{
    free(s->vertices);
    free(s->triangles);
}

static const int64_t QUAD[6] = {0, 1, 2, 0, 2, 3};

static sp_drawing draw_quad(const double vertices[12], float red, float green, float blue)
{
    return (sp_drawing){
        .vertex_count = 4, .triangle_count = 2, .vertices = vertices, .triangles = QUAD, .base = {red, green, blue}};
}

/* ---- camera ---- */

TEST(projection_agrees_with_matrices)
{
    sp_camera simple = {.eye = {0, 0, 5}, .target = {0, 0, 0}, .up = {0, 1, 0}, .angle = 90};
    double pixel[3], expected[3];
    /* 90 degrees: half the 100 rows, 50 pixels, stand for the depth: 10 pixels a metre at 5 m. */
    sp_camera_project(&simple, 200, 100, (double[3]){1, 2, 0}, pixel);
    CHECK_NEAR(pixel[0], 110, 1e-12);
    CHECK_NEAR(pixel[1], 30, 1e-12);
    CHECK_NEAR(pixel[2], 5, 1e-12);
    simple.angle = 0;
    simple.height = 4;
    sp_camera_project(&simple, 200, 100, (double[3]){1, 1, 3}, pixel);
    CHECK_NEAR(pixel[0], 125, 1e-12);
    CHECK_NEAR(pixel[1], 25, 1e-12);
    CHECK_NEAR(pixel[2], 2, 1e-12);
    uint32_t state = 7;
    for (int trial = 0; trial < 200; trial++) {
        sp_camera camera = {.angle = trial % 4 ? 10 + 100 * pseudo(&state) : 0, .height = 3};
        double point[3];
        for (int i = 0; i < 3; i++) {
            camera.eye[i] = 10 + 5 * pseudo(&state);
            camera.target[i] = pseudo(&state);
            camera.up[i] = pseudo(&state) - 0.5;
            point[i] = 2 * pseudo(&state);
        }
        camera.up[1] -= 1;
        sp_camera_project(&camera, 640, 480, point, pixel);
        project_by_matrices(&camera, 640, 480, point, expected);
        for (int i = 0; i < 3; i++)
            CHECK_NEAR(pixel[i], expected[i], 1e-9);
    }
}

TEST(fitted_camera_shows_the_box)
{
    uint32_t state = 3;
    for (int trial = 0; trial < 200; trial++) {
        double low[3], high[3], direction[3], up[3] = {0, 0, 1};
        for (int i = 0; i < 3; i++) {
            low[i] = 10 * pseudo(&state) - 5;
            high[i] = low[i] + (trial % 7 == i ? 0 : 3 * pseudo(&state));
            direction[i] = pseudo(&state) - 0.5;
        }
        if (trial % 10 == 0)
            direction[0] = direction[1] = 0; /* along up */
        double width = trial % 2 ? 800 : 300, height = 400;
        sp_camera camera =
            sp_camera_fit(low, high, direction, up, trial % 3 ? 15 + trial % 60 : 0, (int64_t)width, (int64_t)height);
        double reach = 0, nearest = INFINITY, diagonal = 0;
        for (int k = 0; k < 8; k++) {
            const double corner[3] = {k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2]};
            double pixel[3];
            sp_camera_project(&camera, (int64_t)width, (int64_t)height, corner, pixel);
            nearest = fmin(nearest, pixel[2]);
            reach = fmax(reach, fmax(fabs(2 * pixel[0] / width - 1), fabs(2 * pixel[1] / height - 1)));
        }
        for (int i = 0; i < 3; i++)
            diagonal += (high[i] - low[i]) * (high[i] - low[i]);
        /* A needle seen from its end is kept at a distance instead. */
        bool close = nearest < 0.0501 * sqrt(diagonal);
        CHECK(nearest > 0.0499 * sqrt(diagonal), "trial %d: a corner at depth %g", trial, nearest);
        CHECK(reach < 0.97 && (reach > 0.9 || close), "trial %d: the box takes %g of the picture", trial, reach);
        double along = 0;
        for (int i = 0; i < 3; i++)
            along += (camera.eye[i] - camera.target[i]) * direction[i];
        CHECK(along > 0, "the eye is on the wrong side");
    }
    const double nothing[2][3] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
    sp_camera camera = sp_camera_fit(nothing[0], nothing[1], (double[3]){0, 0, 1}, (double[3]){0, 1, 0}, 30, 100, 100);
    CHECK(isfinite(camera.eye[0] + camera.eye[1] + camera.eye[2]), "eye of an empty box");
}

/* All points are in the picture above the strip, and both sides of one direction touch the margin: no camera that is
 * nearer shows them all. Points added in two parts give the same camera. */
TEST(extents_are_tight)
{
    enum { COUNT = 50, WIDTH = 400, HEIGHT = 300 };
    uint32_t state = 9;
    for (int trial = 0; trial < 100; trial++) {
        const int64_t strip = trial % 2 ? 40 : 0;
        const double angle = trial % 3 ? 10 + trial % 50 : 0,
                     direction[3] = {pseudo(&state) - 0.5, pseudo(&state), 0.3}, up[3] = {0, 0, 1};
        sp_extent whole = sp_extent_new(direction, up, angle, WIDTH, HEIGHT, strip), part = whole, other = whole;
        double points[3 * COUNT], low[2] = {1, 1}, high[2] = {-1, -1};
        for (int i = 0; i < 3 * COUNT; i++)
            points[i] = 100 + pseudo(&state) * (1 + i % 3);
        sp_extent_add(&whole, COUNT, points);
        sp_extent_add(&part, 20, points);
        sp_extent_add(&other, COUNT - 20, points + 60);
        sp_extent_join(&part, &other);
        const sp_camera camera = sp_extent_camera(&whole), joined = sp_extent_camera(&part);
        CHECK(!memcmp(&camera, &joined, sizeof camera), "trial %d: another camera of the parts", trial);
        for (int i = 0; i < COUNT; i++) {
            double pixel[3];
            sp_camera_project(&camera, WIDTH, HEIGHT, points + 3 * i, pixel);
            const double at[2] = {2 * pixel[0] / WIDTH - 1, 2 * pixel[1] / (HEIGHT - (double)strip) - 1};
            for (int k = 0; k < 2; k++) {
                low[k] = fmin(low[k], at[k]);
                high[k] = fmax(high[k], at[k]);
            }
        }
        /* 0.94 of the picture; with a strip the margins above and below are 3 % of the picture's height and of less. */
        const bool wide = low[0] < -0.93 && high[0] > 0.93, tall = low[1] < -0.90 && high[1] > 0.90;
        CHECK(low[0] > -0.95 && high[0] < 0.95 && low[1] > -0.95 && high[1] < 0.98, "trial %d: %g to %g, %g to %g",
              trial, low[0], high[0], low[1], high[1]);
        CHECK(wide || tall, "trial %d: loose: %g to %g, %g to %g", trial, low[0], high[0], low[1], high[1]);
    }
}

TEST(senseless_requests_are_refused)
{
    OWNED(sp_image) image;
    CHECK(sp_image_new(&context, 0, 10, &image) == SP_USAGE, "width 0");
    CHECK(sp_image_new(&context, INT64_MAX, INT64_MAX, &image) == SP_USAGE, "too wide");
    image = new_image(20, 20);
    sp_camera camera = plain_camera(60, 1), bad = camera;
    bad.angle = 180;
    CHECK(sp_render(&context, &bad, NULL, 0, PLAIN(1), &image) == SP_USAGE, "angle");
    bad.angle = NAN;
    CHECK(sp_render(&context, &bad, NULL, 0, PLAIN(1), &image) == SP_USAGE, "angle NaN");
    bad = camera;
    bad.target[2] = 0;
    CHECK(sp_render(&context, &bad, NULL, 0, PLAIN(1), &image) == SP_USAGE, "no direction");
    CHECK(sp_render(&context, &camera, NULL, 0, PLAIN(0), &image) == SP_USAGE, "no samples");
    CHECK(sp_render(&context, &camera, NULL, 0, PLAIN(5), &image) == SP_USAGE, "5 samples");
    double vertices[12] = {-1, -1, -3, 1, -1, -3, 1, 1, -3, -1, 1, -3};
    sp_drawing drawing = draw_quad(vertices, 1, 1, 1);
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image));
    vertices[4] = NAN;
    CHECK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image) == SP_INPUT, "NaN");
    CHECK(strstr(context.message, "vertex 1") != NULL, "%s", context.message);
    vertices[4] = 1;
    const int64_t beyond[3] = {0, 1, 4}, negative[3] = {0, -1, 2};
    drawing.triangle_count = 1;
    drawing.triangles = beyond;
    CHECK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image) == SP_INPUT, "index 4 of 4");
    drawing.triangles = negative;
    CHECK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image) == SP_INPUT, "index -1");
}

/* ---- rasterization ---- */

/* Small markers: the centroid of the pixels that differ from the background is the projected centroid. */
TEST(markers_land_on_their_projections)
{
    const int64_t width = 160, height = 120;
    OWNED(sp_image) image = new_image(width, height), empty = new_image(width, height);
    sp_camera camera = {.eye = {3, 2, 6}, .target = {0.2, 0.1, 0}, .up = {0.1, 1, 0}, .angle = 35};
    CHECK_OK(sp_render(&context, &camera, NULL, 0, PLAIN(4), &empty));
    uint32_t state = 11;
    const int64_t triangle[3] = {0, 1, 2};
    double worst = 0;
    for (int trial = 0; trial < 60; trial++) {
        double vertices[9], middle[2] = {0, 0}, pixel[3], sum = 0, found[2] = {0, 0};
        double place[3] = {2 * pseudo(&state) - 1, 2 * pseudo(&state) - 1, 2 * pseudo(&state) - 1};
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 3; i++)
                vertices[3 * k + i] = place[i] + 0.09 * ((i == k) - 1.0 / 3);
            sp_camera_project(&camera, width, height, vertices + 3 * k, pixel);
            middle[0] += pixel[0] / 3;
            middle[1] += pixel[1] / 3;
        }
        sp_drawing drawing = {
            .vertex_count = 3, .triangle_count = 1, .vertices = vertices, .triangles = triangle, .base = {0, 0, 0}};
        CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(4), &image));
        for (int64_t i = 0; i < width * height; i++) {
            double difference = abs(image.rgb[3 * i] - empty.rgb[3 * i]);
            sum += difference;
            found[0] += difference * ((double)(i % width) + 0.5);
            found[1] += difference * ((double)(i / width) + 0.5);
        }
        CHECK(sum > 0, "marker %d is not in the picture", trial);
        worst = fmax(worst, hypot(found[0] / sum - middle[0], found[1] / sum - middle[1]));
    }
    NOTE("markers are at most %.3f pixels from their projections", worst);
    CHECK(worst < 0.5, "a marker is %g pixels off", worst);
}

/* A large triangle: exactly those pixels are drawn whose centres are inside by the edge test in doubles. */
TEST(triangle_covers_its_pixels)
{
    const int64_t side = 100;
    OWNED(sp_image) image = new_image(side, side);
    sp_camera camera = plain_camera(50, 3);
    const double vertices[9] = {-1.1, -0.7, -2.7, 0.9, -1.0, -3.4, 0.2, 1.3, -4.1};
    const int64_t triangle[3] = {0, 1, 2};
    sp_drawing drawing = {.vertex_count = 3, .triangle_count = 1, .vertices = vertices, .triangles = triangle};
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image));
    double corner[3][3];
    for (int k = 0; k < 3; k++)
        project_by_matrices(&camera, (double)side, (double)side, vertices + 3 * k, corner[k]);
    int64_t inside = 0, wrong = 0;
    for (int64_t i = 0; i < side * side; i++) {
        double x = (double)(i % side) + 0.5, y = (double)(i / side) + 0.5, least = INFINITY;
        for (int k = 0; k < 3; k++) {
            const double *a = corner[k], *b = corner[(k + 1) % 3];
            least = fmin(least,
                         ((a[0] - b[0]) * (y - a[1]) - (a[1] - b[1]) * (x - a[0])) / hypot(a[0] - b[0], a[1] - b[1]));
        }
        inside += least > 0;
        wrong += fabs(least) > 1e-3 && (least > 0) != (image.depth[i] < INFINITY);
    }
    CHECK(inside > 500 && wrong == 0, "%lld inside, %lld wrong", (long long)inside, (long long)wrong);
}

/* The nearer of two triangles is in front in any order, and of two at the same place the first. */
TEST(nearer_is_in_front)
{
    OWNED(sp_image) image = new_image(40, 40);
    sp_camera camera = plain_camera(60, 3);
    const double near[12] = {-1, -1, -3, 1, -1, -3, 1, 1, -3, -1, 1, -3},
                 far[12] = {-2, -2, -4, 2, -2, -4, 2, 2, -4, -2, 2, -4};
    const uint8_t *middle = image.rgb + 3 * (20 * 40 + 20), *side = image.rgb + 3 * (20 * 40 + 7);
    for (int order = 0; order < 2; order++) {
        sp_drawing drawings[2];
        drawings[order] = draw_quad(near, 1, 0, 0);
        drawings[1 - order] = draw_quad(far, 0, 0, 1);
        CHECK_OK(sp_render(&context, &camera, drawings, 2, PLAIN(2), &image));
        CHECK(middle[0] > 2 * middle[2], "red %d, blue %d in front", middle[0], middle[2]);
        CHECK(side[2] > 2 * side[0], "red %d, blue %d beside", side[0], side[2]);
        CHECK_NEAR(image.depth[20 * 40 + 20], 3, 1e-6);
        CHECK_NEAR(image.depth[20 * 40 + 7], 4, 1e-6);
        drawings[order] = draw_quad(near, 1, 0, 0);
        drawings[1 - order] = draw_quad(near, 0, 0, 1);
        CHECK_OK(sp_render(&context, &camera, drawings, 2, PLAIN(2), &image));
        CHECK(order == 0 ? middle[0] > 2 * middle[2] : middle[2] > 2 * middle[0],
              "of two at one place: red %d, blue %d", middle[0], middle[2]);
    }
    /* Within one drawing the lower index. */
    double twice[24];
    float color[24];
    const int64_t triangles[12] = {4, 5, 6, 4, 6, 7, 0, 1, 2, 0, 2, 3};
    for (int i = 0; i < 24; i++) {
        twice[i] = near[i % 12];
        color[i] = i % 3 == (i < 12 ? 0 : 2);
    }
    sp_drawing drawing = {
        .vertex_count = 8, .triangle_count = 4, .vertices = twice, .triangles = triangles, .color = color};
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(2), &image));
    CHECK(middle[2] > 2 * middle[0], "first listed is blue: red %d, blue %d", middle[0], middle[2]);
}

/* Two tilted quadrilaterals that cut through each other: at each pixel the nearer plane gives depth and colour. */
TEST(planes_meet_along_their_line)
{
    const int64_t width = 320, height = 240;
    OWNED(sp_image) image = new_image(width, height);
    sp_camera camera = plain_camera(40, 5);
    /* z = -5 + a x + b y; the quadrilaterals reach beyond the picture. */
    const double slope[2][2] = {{0.7, 0.2}, {-0.5, 0.4}};
    double vertices[2][12];
    sp_drawing drawings[2];
    for (int q = 0; q < 2; q++) {
        for (int k = 0; k < 4; k++) {
            double x = k == 1 || k == 2 ? 3.5 : -3.5, y = k >= 2 ? 3 : -3;
            const double v[3] = {x, y, -5 + slope[q][0] * x + slope[q][1] * y};
            memcpy(vertices[q] + 3 * k, v, sizeof v);
        }
        drawings[q] = draw_quad(vertices[q], q == 0, 0, q == 1);
    }
    CHECK_OK(sp_render(&context, &camera, drawings, 2, PLAIN(1), &image));
    int64_t wrong = 0, seen[2] = {0, 0};
    double worst = 0;
    for (int64_t i = 0; i < width * height; i++) {
        double depth[2];
        for (int q = 0; q < 2; q++) {
            const double n[3] = {-slope[q][0], -slope[q][1], 1};
            depth[q] = ray_plane(&camera, (double)width, (double)height, (double)(i % width) + 0.5,
                                 (double)(i / width) + 0.5, n, -5);
        }
        worst = fmax(worst, fabs(image.depth[i] - fmin(depth[0], depth[1])));
        int nearer = depth[0] < depth[1] ? 0 : 1;
        seen[nearer]++;
        /* A hundredth of a pixel from the line the depths differ by some 2e-4 m. */
        bool red = image.rgb[3 * i] > image.rgb[3 * i + 2];
        wrong += fabs(depth[0] - depth[1]) > 2e-4 && red != (nearer == 0);
    }
    NOTE("depth is at most %.2g m from the planes", worst);
    /* Corners move by at most 2^-13 pixel, 1.5e-6 m at 5 m, times the slope; and float has 2.4e-7 m there. */
    CHECK(worst < 5e-6, "depth is %g off", worst);
    CHECK(wrong == 0 && seen[0] > 1000 && seen[1] > 1000, "%lld pixels show the farther plane", (long long)wrong);
}

/* Squared distance from the origin's ray through a pixel to the centre (0, 0, -distance), and the depth of the first
 * hit. */
static double ray_sphere(const sp_camera *camera, double width, double height, double px, double py, double distance,
                         double radius, double *depth)
{
    double half = tan(camera->angle / 2 * PI / 180);
    double x = (2 * px - width) / height * half, y = (height - 2 * py) / height * half, a = x * x + y * y + 1;
    double discriminant = distance * distance - a * (distance * distance - radius * radius);
    *depth = discriminant > 0 ? (distance - sqrt(discriminant)) / a : INFINITY;
    return distance * distance * (1 - 1 / a);
}

/* A gap would show the far side or the background: the depth must be that of the near side everywhere. */
TEST(fine_sphere_has_no_cracks)
{
    const int64_t width = 320, height = 240;
    OWNED(sphere) s = make_sphere(150, 4);
    OWNED(sp_image) image = new_image(width, height);
    sp_camera camera = plain_camera(32, 4);
    sp_drawing drawing = draw_sphere(&s);
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image));
    /* Facets lie between radius cos²(π/300) and 1: flat over π/150 both ways. */
    double inner = cos(PI / 300) * cos(PI / 300), worst = 0;
    int64_t holes = 0, outside = 0, inside = 0;
    for (int64_t i = 0; i < width * height; i++) {
        double front, behind, px = (double)(i % width) + 0.5, py = (double)(i / width) + 0.5;
        double off = ray_sphere(&camera, (double)width, (double)height, px, py, 4, 1, &front);
        ray_sphere(&camera, (double)width, (double)height, px, py, 4, inner, &behind);
        if (off > 1.0001)
            outside += image.depth[i] < INFINITY;
        if (behind < INFINITY) {
            inside++;
            holes += !(image.depth[i] >= front - 1e-5 && image.depth[i] <= behind + 1e-5);
            worst = fmax(worst, fabs(image.depth[i] - 0.5 * (front + behind)));
        }
    }
    CHECK(inside > 10000 && holes == 0, "%lld of %lld pixels are not on the near side, worst %g m", (long long)holes,
          (long long)inside, worst);
    CHECK(outside == 0, "%lld pixels outside of the sphere", (long long)outside);
}

/* A square cut into triangles with corners on and off pixel centres; 1 m is 1 pixel. Each triangle alone, summed. */
TEST(shared_edges_cover_each_sample_once)
{
    enum { CELLS = 9, SIDE = 64 };
    OWNED(sp_image) image = new_image(SIDE, SIDE);
    sp_camera camera = {.eye = {32, -32, 10}, .target = {32, -32, 0}, .up = {0, 1, 0}, .height = SIDE};
    uint32_t state = 5;
    for (int variant = 0; variant < 3; variant++) {
        double vertices[(CELLS + 1) * (CELLS + 1) * 3];
        int64_t triangles[CELLS * CELLS * 6];
        for (int i = 0; i <= CELLS; i++)
            for (int j = 0; j <= CELLS; j++) {
                double *v = vertices + 3 * (i * (CELLS + 1) + j);
                bool inner = i > 0 && i < CELLS && j > 0 && j < CELLS;
                /* At most 1.2 √2: two corners moved towards each other still do not turn a triangle of height 5 / √2
                 * over. */
                double shift = inner ? 2.4 * pseudo(&state) - 1.2 : 0;
                v[0] = 8.5 + 5 * j + (variant == 1 ? shift : variant == 2 ? round(shift) : 0);
                v[1] = -8.5 - 5 * i - (variant == 1 ? shift : variant == 2 ? round(shift) : 0);
                v[2] = inner ? pseudo(&state) : 0;
                if (i == CELLS || j == CELLS)
                    continue;
                int64_t a = i * (CELLS + 1) + j, b = a + 1, c = a + CELLS + 1, d = c + 1;
                const int64_t cut[2][6] = {{a, b, c, b, d, c}, {a, b, d, d, c, a}};
                memcpy(triangles + 6 * (i * CELLS + j), cut[pseudo(&state) < 0.5], sizeof cut[0]);
            }
        int covered[SIDE * SIDE] = {0};
        sp_drawing drawing = {.vertex_count = (CELLS + 1) * (CELLS + 1), .triangle_count = 1, .vertices = vertices};
        for (int t = 0; t < 2 * CELLS * CELLS; t++) {
            drawing.triangles = triangles + 3 * t;
            CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image));
            for (int i = 0; i < SIDE * SIDE; i++)
                covered[i] += image.depth[i] < INFINITY;
        }
        /* The square reaches from 8.5 to 53.5: the pixels 8 to 52 by the top-left rule, 53 being the next one's. */
        int wrong = 0;
        for (int i = 0; i < SIDE * SIDE; i++)
            wrong += covered[i] != (i % SIDE >= 8 && i % SIDE < 53 && i / SIDE >= 8 && i / SIDE < 53);
        CHECK(wrong == 0, "variant %d: %d pixels are not covered exactly once", variant, wrong);
        drawing.triangles = triangles;
        drawing.triangle_count = 2 * CELLS * CELLS;
        CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image));
        CHECK(count_drawn(&image) == 45 * 45, "%lld pixels", (long long)count_drawn(&image));
    }
}

/* A wall beside the eye that begins behind it: drawn from the near plane, 1/1000 of the target's distance, on. */
TEST(near_plane_cuts)
{
    const int64_t width = 200, height = 100;
    OWNED(sp_image) image = new_image(width, height);
    sp_camera camera = plain_camera(60, 1000);
    const double wall[12] = {0.3, -1e4, 50, 0.3, -1e4, -1e5, 0.3, 1e4, -1e5, 0.3, 1e4, 50};
    sp_drawing drawing = draw_quad(wall, 1, 1, 1);
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image));
    int64_t cut = 0, drawn = 0, wrong = 0;
    double worst = 0;
    for (int64_t i = 0; i < width * height; i++) {
        double px = (double)(i % width) + 0.5, py = (double)(i / width) + 0.5;
        double depth = ray_plane(&camera, (double)width, (double)height, px, py, (double[3]){1, 0, 0}, 0.3);
        bool seen = image.depth[i] < INFINITY;
        if (depth < 0 || depth < 0.999) {
            cut += depth > 0;
            wrong += seen;
        } else if (depth > 1.001) {
            drawn++;
            wrong += !seen;
            worst = fmax(worst, fabs(image.depth[i] / depth - 1));
        }
    }
    CHECK(cut > 1000 && drawn > 1000 && wrong == 0, "%lld cut, %lld drawn, %lld wrong", (long long)cut,
          (long long)drawn, (long long)wrong);
    /* One pixel from the axis depth is 0.3 / 0.0115: 2^-13 pixel there is 2.4e-4 of it. */
    CHECK(worst < 5e-4, "depth of the wall is %g off", worst);
    /* Wholly behind the eye: nothing. */
    const double behind[12] = {-1, -1, 3, 1, -1, 3, 1, 1, 3, -1, 1, 3};
    drawing = draw_quad(behind, 1, 1, 1);
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image));
    CHECK(count_drawn(&image) == 0, "%lld pixels from behind", (long long)count_drawn(&image));
}

/* Far larger than the picture on all sides: clipped at the guard band, still one plane. */
TEST(huge_triangles_keep_their_depth)
{
    const int64_t side = 90;
    OWNED(sp_image) image = new_image(side, side);
    sp_camera camera = plain_camera(60, 2);
    const double floor_[9] = {-1e7, -1, 1e7, 1e7, -1, 1e7, 0, -1, -1e9};
    const int64_t triangle[3] = {0, 1, 2};
    sp_drawing drawing = {.vertex_count = 3, .triangle_count = 1, .vertices = floor_, .triangles = triangle};
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image));
    double worst = 0;
    for (int64_t i = side / 2 * side; i < side * side; i++) {
        double py = (double)(i / side) + 0.5;
        double depth = ray_plane(&camera, (double)side, (double)side, 0, py, (double[3]){0, 1, 0}, -1);
        worst = fmax(worst, fabs(image.depth[i] / depth - 1));
    }
    CHECK(worst < 5e-4, "depth of the floor is %g off", worst);
    int64_t above = 0;
    for (int64_t i = 0; i < side / 2 * side; i++)
        above += image.depth[i] < INFINITY;
    CHECK(above == 0, "%lld pixels above the horizon", (long long)above);
}

TEST(triangles_without_area_draw_nothing)
{
    OWNED(sp_image) image = new_image(50, 50), empty = new_image(50, 50);
    sp_camera camera = plain_camera(60, 2);
    const double vertices[] = {0,      0, -2, 1, 1,      -2, -1, -1, -2, 0, 0, -2,
                               1e-300, 0, -2, 0, 1e-300, -2, 0,  0,  -5, 0, 0, 0};
    const int64_t triangles[] = {0, 1, 2, 0, 0, 1, 1, 1, 1, 0, 3, 1, 0, 4, 5, 0, 6, 7, 0, 6, 1, 7, 7, 7};
    sp_drawing drawing = {.vertex_count = 8, .triangle_count = 6, .vertices = vertices, .triangles = triangles};
    CHECK_OK(sp_render(&context, &camera, NULL, 0, PLAIN(2), &empty));
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(2), &image));
    CHECK(same_image(&image, &empty), "%lld pixels drawn", (long long)count_drawn(&image));
    drawing.triangle_count = 8; /* one seen edge-on joins, and one in the eye */
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(2), &image));
    for (int64_t i = 0; i < 2500; i++)
        CHECK(!isnan(image.depth[i]), "NaN at pixel %lld", (long long)i);
}

/* ---- look ---- */

static double to_linear(uint8_t value)
{
    double s = value / 255.0;
    return s <= 0.04045 ? s / 12.92 : pow((s + 0.055) / 1.055, 2.4);
}

/* The mean linear light of 2 × 2 pixels in the middle of the picture. */
static double middle_light(const sp_image *image, int component)
{
    double sum = 0;
    for (int64_t y = image->height / 2; y < image->height / 2 + 2; y++)
        for (int64_t x = image->width / 2; x < image->width / 2 + 2; x++)
            sum += to_linear(image->rgb[3 * (y * image->width + x) + component]) / 4;
    return sum;
}

/* A sheet before a wall shows (1 - t) of itself and t of the wall, to half a sample and the rounding of bytes; of two
 * such sheets only the nearer one is seen, and depths are those of the nearest sheet. */
TEST(transparent_surfaces_mix_with_what_is_behind)
{
    const double sheet[12] = {-1, -1, -2, 1, -1, -2, 1, 1, -2, -1, 1, -2},
                 second[12] = {-1, -1, -3, 1, -1, -3, 1, 1, -3, -1, 1, -3},
                 wall[12] = {-4, -4, -4, 4, -4, -4, 4, 4, -4, -4, 4, -4};
    sp_camera camera = plain_camera(40, 2);
    OWNED(sp_image) image = new_image(40, 40), other = new_image(40, 40);
    for (int samples = 1; samples <= 4; samples++)
        for (int step = 1; step < 8; step++) {
            const float t = (float)step / 8;
            sp_drawing drawing[3] = {draw_quad(sheet, 0.7f, 0.1f, 0.05f), draw_quad(wall, 0.1f, 0.2f, 0.6f),
                                     draw_quad(second, 0.2f, 0.9f, 0.2f)};
            double own[3], behind[3];
            const double rank = samples == 1 ? 4 : samples * samples;
            CHECK_OK(sp_render(&context, &camera, drawing, 1, PLAIN(samples), &image));
            CHECK_OK(sp_render(&context, &camera, drawing + 1, 1, PLAIN(samples), &other));
            for (int k = 0; k < 3; k++) {
                own[k] = middle_light(&image, k);
                behind[k] = middle_light(&other, k);
            }
            drawing[0].transparency = t;
            CHECK_OK(sp_render(&context, &camera, drawing, 2, PLAIN(samples), &image));
            for (int k = 0; k < 3; k++) {
                const double expected = (1 - t) * own[k] + t * behind[k],
                             tolerance = 0.5 / rank * fabs(own[k] - behind[k]) + 0.01;
                CHECK(fabs(middle_light(&image, k) - expected) <= tolerance, "%d samples, %g: %g is not %g", samples,
                      (double)t, middle_light(&image, k), expected);
            }
            CHECK(fabsf(image.depth[20 * 40 + 20] - 2) < 1e-4f || samples == 1, "depth %g",
                  (double)image.depth[20 * 40 + 20]);
            drawing[2].transparency = t;
            CHECK_OK(sp_render(&context, &camera, drawing, 3, PLAIN(samples), &other));
            CHECK(same_image(&image, &other), "the second sheet is seen through the first");
        }
    sp_drawing bad = draw_quad(sheet, 1, 1, 1);
    bad.transparency = 1.5f;
    CHECK(sp_render(&context, &camera, &bad, 1, PLAIN(1), &image) == SP_INPUT, "a transparency of 1.5 is taken");
}

/* A sphere with a transparency t leaves a floor beside it as it is. On a ground it casts a shadow that is (1 - t) as
 * deep as that of an opaque one. */
TEST(transparent_surfaces_cast_part_of_a_shadow)
{
    sp_camera camera = {.eye = {0, 4, 2}, .target = {0, -1, -4}, .up = {0, 1, 0}, .angle = 40};
    const double floor_[12] = {-9, -1, 9, 9, -1, 9, 9, -1, -19, -9, -1, -19};
    const sp_look rays = {.samples = 1, .shadow_rays = 4};
    const double t = 0.25;
    OWNED(sphere) s = make_sphere(16, 4);
    sp_image image[3] = {new_image(60, 60), new_image(60, 60), new_image(60, 60)}; /* empty, opaque, transparent */
    sp_drawing drawing[2] = {draw_quad(floor_, 0.2f, 0.2f, 0.2f), draw_sphere(&s)};
    if (!sp_render_has_shadows())
        return;
    for (int ground = 0; ground < 2; ground++) {
        drawing[0].ground = ground;
        drawing[0].fade[0] = 1e6;
        drawing[0].fade[1] = 2e6;
        for (int k = 0; k < 3; k++) {
            drawing[1].transparency = k == 2 ? (float)t : 0;
            CHECK_OK(sp_render(&context, &camera, drawing, k > 0 ? 2 : 1, &rays, &image[k]));
        }
        int64_t dark = 0;
        double worst = 0;
        for (int64_t i = 0; i < 3600; i++) {
            const double light[3] = {to_linear(image[0].rgb[3 * i]), to_linear(image[1].rgb[3 * i]),
                                     to_linear(image[2].rgb[3 * i])};
            if (image[1].depth[i] != image[0].depth[i])
                continue;
            dark += light[1] < 0.9 * light[0];
            worst = fmax(worst, fabs(light[0] - light[2] - ground * (1 - t) * (light[0] - light[1])));
        }
        CHECK(dark > 50, "%lld pixels in the shadow of an opaque sphere", (long long)dark);
        CHECK(worst < 0.01, "the light of the floor is %g off", worst); /* a byte is up to 0.008 */
    }
    for (int k = 0; k < 3; k++)
        sp_image_free(&image[k]);
}

/* An edge at a quarter of a pixel: 4 × 4 samples mix linear light one to three. */
TEST(edges_are_mixed_in_linear_light)
{
    OWNED(sp_image) image = new_image(40, 40);
    sp_camera camera = {.eye = {0, 0, 5}, .target = {0, 0, 0}, .up = {0, 1, 0}, .height = 40};
    const double vertices[12] = {-10, -15, 0, 5.25, -15, 0, 5.25, 15, 0, -10, 15, 0};
    sp_drawing drawing = draw_quad(vertices, 0.05f, 0.05f, 0.05f);
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(4), &image));
    const uint8_t *row = image.rgb + 3 * 20 * 40;
    double expected = 0.25 * to_linear(row[3 * 24]) + 0.75 * to_linear(row[3 * 26]);
    CHECK(row[3 * 24] < 100 && row[3 * 26] > 200, "inside %d, outside %d", row[3 * 24], row[3 * 26]);
    CHECK_NEAR(to_linear(row[3 * 25]), expected, 0.01);
    CHECK(image.depth[20 * 40 + 25] == 5 && image.depth[20 * 40 + 26] == INFINITY, "depth beside the edge");
}

/* The edges of 90 degrees of a cube are creases. A fine sphere has none, and its picture does not depend on the
 * orientation of its triangles. */
TEST(creases_stay_and_curves_are_smooth)
{
    OWNED(sp_image) smooth = new_image(120, 120), flat = new_image(120, 120);
    const double high[3] = {1, 1, 1}, low[3] = {-1, -1, -1};
    sp_camera camera = sp_camera_fit(low, high, (double[3]){1, 0.7, 1.3}, (double[3]){0, 1, 0}, 30, 120, 120);
    double cube[24];
    for (int i = 0; i < 24; i++)
        cube[i] = i / 3 >> i % 3 & 1 ? 1 : -1;
    const int64_t faces[36] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                               2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
    sp_drawing drawing = {
        .vertex_count = 8, .triangle_count = 12, .vertices = cube, .triangles = faces, .base = {0.5f, 0.5f, 0.5f}};
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(2), &smooth));
    drawing.flat = true;
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(2), &flat));
    CHECK(largest_difference(&smooth, &flat) <= 1, "the cube's faces differ by %d levels",
          largest_difference(&smooth, &flat));

    OWNED(sphere) s = make_sphere(16, 4);
    drawing = draw_sphere(&s);
    camera = plain_camera(40, 4);
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(2), &smooth));
    drawing.flat = true;
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(2), &flat));
    CHECK(largest_difference(&smooth, &flat) > 8, "smooth and flat spheres differ by only %d levels",
          largest_difference(&smooth, &flat));
    for (int64_t t = 0; t < s.triangle_count; t += 3) {
        int64_t *turned = s.triangles + 3 * t, first = turned[0];
        turned[0] = turned[1];
        turned[1] = first;
    }
    drawing.flat = false;
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(2), &flat));
    CHECK(largest_difference(&smooth, &flat) <= 1, "turned triangles change the sphere by %d levels",
          largest_difference(&smooth, &flat));
}

/* Lines on a surface and beside it are visible, lines behind it are not, and they do not change the depth. */
TEST(lines_are_hidden_by_surfaces)
{
    OWNED(sp_image) image = new_image(100, 100), without = new_image(100, 100);
    sp_camera camera = plain_camera(60, 3);
    const double vertices[] = {-1,   -1,  -3, 1,   -1,  -3, 1,  1, -3, -1, 1, -3,
                               -1.2, 0.5, -4, 1.2, 0.5, -4, -4, 0, -4, 4,  0, -4};
    const int64_t edges[] = {0, 2, 4, 5, 6, 7};
    sp_drawing drawing = {
        .vertex_count = 8, .triangle_count = 2, .vertices = vertices, .triangles = QUAD, .base = {0.8f, 0.8f, 0.8f}};
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(3), &without));
    drawing.lines = true;
    drawing.edges = edges;
    drawing.edge_count = 3;
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(3), &image));
    CHECK(!memcmp(image.depth, without.depth, 100 * 100 * sizeof *image.depth), "lines changed the depth");
    int64_t diagonal = 0, elsewhere = 0, beside = 0;
    for (int64_t i = 0; i < 100 * 100; i++) {
        int64_t x = i % 100, y = i / 100;
        bool darker = image.rgb[3 * i] + 40 < without.rgb[3 * i];
        bool on_quad = without.depth[i] < INFINITY;
        if (!darker)
            continue;
        if (llabs(x + y - 99) <= 2)
            diagonal++;
        else if (!on_quad && llabs(2 * y - 99) <= 3)
            beside++;
        else
            elsewhere++;
    }
    /* The diagonal of 2 m at 3 m is 2 / (2 · 3 tan 30°) · 100 = 58 pixels wide, the free ends 21 each. */
    CHECK(diagonal >= 56, "%lld dark pixels on the diagonal", (long long)diagonal);
    CHECK(beside >= 40, "%lld dark pixels beside the square", (long long)beside);
    CHECK(elsewhere == 0, "%lld dark pixels where no line is seen", (long long)elsewhere);
}

/* The part of the light of the middle row that a vertical line covers, on a square rotated about that line. */
static double line_cover(double turn)
{
    OWNED(sp_image) image = new_image(101, 101), without = new_image(101, 101);
    sp_camera camera = plain_camera(60, 3);
    double x = cos(turn * PI / 180), z = sin(turn * PI / 180), cover = 0;
    const double vertices[] = {-x, -1, -3 - z, x, -1, -3 + z, x, 1, -3 + z, -x, 1, -3 - z, 0, -0.9, -3, 0, 0.9, -3};
    const int64_t edge[2] = {4, 5};
    sp_drawing drawing = draw_quad(vertices, 0.5f, 0.5f, 0.5f);
    drawing.vertex_count = 6;
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(4), &without));
    drawing.lines = true;
    drawing.edges = edge;
    drawing.edge_count = 1;
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(4), &image));
    for (int i = 50 * 101; i < 51 * 101; i++)
        cover += 1 - to_linear(image.rgb[3 * i]) / to_linear(without.rgb[3 * i]);
    return cover;
}

/* An inclined surface does not hide one side of the lines on it. */
TEST(lines_keep_their_width_on_slopes)
{
    double facing = line_cover(0);
    CHECK(facing > 0.5 && facing < 1.1, "a line of one pixel takes %g pixels of light", facing);
    CHECK_NEAR(line_cover(70), facing, 0.1);
    CHECK_NEAR(line_cover(-60), facing, 0.1);
}

/* ---- shadows and ambient occlusion ---- */

#define NEEDS_RAYS                                                                                                     \
    if (!sp_render_has_shadows())                                                                                      \
        SKIP("this build has no Embree");

static sp_vec sky[1024], lamp[1024];

/* What sp_occlusion_open and sp_occlusion_lit read of a scene. */
static sp_scene scene_of(const sp_drawing *drawing, const double *vertices, sp_shadow **shadow)
{
    sp_occlusion_sky(1024, sky);
    sp_occlusion_lamp(1024, lamp);
    CHECK_OK(sp_shadow_new(&context, drawing, &vertices, 1, false, shadow));
    return (sp_scene){.shadow = *shadow};
}

/* A sphere of radius 1 that lies on a floor. From a floor point at a distance a of the point of contact it is wholly
 * above the horizon, with the centre at D = √(1 + a²) and the cosine 1/D to the normal. Its form factor is cos/D² =
 * 1/D³. Of 1024 directions, one in each of 32 × 32 cells, about √(4 · 32) of those on the outline can be wrong: 0.011.
 * The polyhedron in the sphere covers 0.1 % less. */
TEST(occlusion_of_a_sphere_on_a_floor)
{
    NEEDS_RAYS
    OWNED(sphere) s = make_sphere(64, 0);
    sp_drawing drawing = draw_sphere(&s);
    OWNED_POINTER(sp_shadow) *shadow;
    sp_scene scene = scene_of(&drawing, s.vertices, &shadow);
    double worst = 0;
    for (int i = 0; i < 10; i++) {
        const double a = 0.15 + 0.3 * i, turn = 0.7 * i;
        const sp_vec at = {(float)(a * cos(turn)), -1, (float)(a * sin(turn))};
        const double open = (double)sp_occlusion_open(&scene, at, (sp_vec){0, 1, 0}, sky, 1024);
        worst = fmax(worst, fabs(open - (1 - pow(1 + a * a, -1.5))));
    }
    NOTE("ambient occlusion under a sphere is at most %.2g off", worst);
    CHECK(worst < 0.012, "ambient occlusion under a sphere is %g off", worst);
}

/* A floor before a long wall of height h at a distance a: the form factor is (1 − a / √(a² + h²)) / 2, and one half at
 * the corner, by symmetry. An infinite ground blocks one half at any distance. */
TEST(occlusion_before_a_wall)
{
    NEEDS_RAYS
    const double wall[12] = {0, 0, -1e3, 0, 0, 1e3, 0, 1, 1e3, 0, 1, -1e3};
    sp_drawing drawing = draw_quad(wall, 1, 1, 1);
    sp_shadow *shadow;
    sp_scene scene = scene_of(&drawing, wall, &shadow);
    const double distance[4] = {1e-4, 0.5, 1, 3};
    for (int i = 0; i < 4; i++) {
        const double a = distance[i];
        const double open = (double)sp_occlusion_open(&scene, (sp_vec){(float)a, 0, 0}, (sp_vec){0, 1, 0}, sky, 1024);
        CHECK_NEAR(open, 1 - 0.5 * (1 - a / sqrt(a * a + 1)), 0.012);
    }
    sp_shadow_free(shadow);
    const sp_ground ground = {.normal = {1, 0, 0}, .offset = 0};
    drawing.triangle_count = 0;
    scene = scene_of(&drawing, wall, &shadow);
    scene.grounds = &ground;
    scene.ground_count = 1;
    CHECK_NEAR((double)sp_occlusion_open(&scene, (sp_vec){5, 0, 0}, (sp_vec){0, 1, 0}, sky, 1024), 0.5, 0.012);
    CHECK_NEAR((double)sp_occlusion_open(&scene, (sp_vec){5, 0, 0}, (sp_vec){1, 0, 0}, sky, 1024), 1, 0);
    CHECK_NEAR((double)sp_occlusion_open(&scene, (sp_vec){5, 0, 0}, (sp_vec){-1, 0, 0}, sky, 1024), 0, 0);
    CHECK_NEAR((double)sp_occlusion_lit(&scene, (sp_vec){5, 0, 0}, lamp, 1024), 1, 0); /* a ground casts no shadow */
    sp_shadow_free(shadow);
}

/* The shadow of a sphere on a ground, seen from above. The key light is a disk of radius 0.11 at distance 1 in a
 * direction that is fixed to the camera. A point is in the dark if the cone of the light lies within that of the
 * sphere, and lit if they do not meet. Pixels take a mean over the 4 pixels around them: points up to 3 pixels from
 * the outlines are left out. */
TEST(shadow_of_a_sphere_on_a_ground)
{
    NEEDS_RAYS
    enum { WIDTH = 200, HEIGHT = 150 };
    const double floor_[12] = {-50, 0, 50, 50, 0, 50, 50, 0, -50, -50, 0, -50}, centre[3] = {-1, 1.5, 0.5};
    OWNED(sphere) s = make_sphere(64, 0);
    for (int64_t i = 0; i < 3 * s.vertex_count; i++)
        s.vertices[i] += centre[i % 3];
    sp_drawing drawings[2] = {draw_sphere(&s), draw_quad(floor_, 0.5f, 0.5f, 0.5f)};
    drawings[1].ground = true;
    drawings[1].fade[0] = 1e6;
    drawings[1].fade[1] = 2e6;
    const sp_camera camera = {.eye = {0, 9, 6}, .target = {0, 0, 0}, .up = {0, 1, 0}, .angle = 40};
    const sp_look look = {.samples = 2, .shadow_rays = 16};
    OWNED(sp_image) image = new_image(WIDTH, HEIGHT), plain = new_image(WIDTH, HEIGHT);
    CHECK_OK(sp_render(&context, &camera, drawings, 2, &look, &image));
    CHECK_OK(sp_render(&context, &camera, drawings, 2, PLAIN(2), &plain));
    const double root = sqrt(117.0), forward[3] = {0, -9 / root, -6 / root}, up[3] = {0, 6 / root, -9 / root};
    double to_lamp[3], half = tan(20 * PI / 180), size = 0;
    for (int k = 0; k < 3; k++) {
        to_lamp[k] = -0.44 * (k == 0) + 0.66 * up[k] - 0.609 * forward[k];
        size += to_lamp[k] * to_lamp[k];
    }
    int64_t dark = 0, lit = 0, wrong = 0;
    for (int64_t i = 0; i < WIDTH * HEIGHT; i++) {
        const double x = (2 * ((double)(i % WIDTH) + 0.5) - WIDTH) / HEIGHT * half,
                     y = (HEIGHT - 2 * ((double)(i / WIDTH) + 0.5)) / HEIGHT * half,
                     ray[3] = {x, y * up[1] + forward[1], y * up[2] + forward[2]}, depth = 9 / -ray[1];
        double along = 0, square = 0;
        if (fabs(plain.depth[i] - depth) > 1e-3 * depth)
            continue; /* the sphere */
        for (int k = 0; k < 3; k++) {
            const double to = centre[k] - camera.eye[k] - depth * ray[k];
            along += to * to_lamp[k] / sqrt(size);
            square += to * to;
        }
        const double between = acos(along / sqrt(square)), ball = asin(1 / sqrt(square)),
                     disk = atan(0.11 / sqrt(size)),
                     margin = 0.01 + 3 * (2 * half * depth / HEIGHT) / sqrt(square) * 1.3;
        const uint8_t *with = image.rgb + 3 * i, *without = plain.rgb + 3 * i;
        if (between + disk + margin < ball) {
            dark++;
            wrong += !(to_linear(with[1]) < 0.4 * to_linear(without[1]));
        } else if (between > ball + disk + margin) {
            lit++;
            wrong += memcmp(with, without, 3) != 0;
        }
    }
    CHECK(dark > 300 && lit > 10000 && wrong == 0, "%lld dark, %lld lit, %lld wrong", (long long)dark, (long long)lit,
          (long long)wrong);
}

/* No ray of a convex body meets it, however coarse its triangles: what faces the light is as bright as without rays. */
TEST(convex_bodies_do_not_shade_themselves)
{
    NEEDS_RAYS
    OWNED(sp_image) image = new_image(120, 120), plain = new_image(120, 120);
    OWNED(sphere) s = make_sphere(10, 4);
    sp_drawing drawing = draw_sphere(&s);
    const sp_camera camera = plain_camera(40, 4);
    const sp_look look = {.samples = 2, .shadow_rays = 16, .occlusion_rays = 16};
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, &look, &image));
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(2), &plain));
    int64_t facing = 0, darker = 0;
    for (int64_t i = 0; i < 120 * 120; i++) {
        const double half = tan(20 * PI / 180), x = (2 * ((double)(i % 120) + 0.5) - 120) / 120 * half,
                     y = (120 - 2 * ((double)(i / 120) + 0.5)) / 120 * half;
        const double n[3] = {x * plain.depth[i], y * plain.depth[i], 4 - plain.depth[i]};
        if (!(plain.depth[i] < INFINITY) || -0.44 * n[0] + 0.66 * n[1] + 0.609 * n[2] < 0.25)
            continue;
        facing++;
        darker += image.rgb[3 * i] + 1 < plain.rgb[3 * i];
    }
    CHECK(facing > 2000 && darker == 0, "%lld of %lld pixels are darker", (long long)darker, (long long)facing);
}

/* Beyond the depths where it fades a ground has the colour of the background. */
TEST(grounds_fade)
{
    const double floor_[12] = {-50, -1, 0, 50, -1, 0, 50, -1, -90, -50, -1, -90};
    sp_drawing drawing = draw_quad(floor_, 0.1f, 0.1f, 0.1f);
    const sp_camera camera = plain_camera(60, 3);
    OWNED(sp_image) image = new_image(40, 200);
    drawing.ground = true;
    CHECK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image) == SP_INPUT, "no depths");
    drawing.fade[0] = 3;
    drawing.fade[1] = 9;
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(1), &image));
    double last = -1;
    for (int64_t y = 199; y > 100; y--) { /* from the eye to the horizon, ever closer to the background */
        const double depth = image.depth[y * 40 + 20], green = to_linear(image.rgb[3 * (y * 40 + 20) + 1]);
        if (depth > 9.01)
            CHECK(green > to_linear(200), "at %g m: %g", depth, green);
        else if (depth > 3.01)
            CHECK(green >= last, "at %g m: %g after %g", depth, green, last);
        last = green;
    }
}

TEST(rays_are_refused)
{
    OWNED(sp_image) image = new_image(20, 20);
    const sp_camera camera = plain_camera(60, 1);
    CHECK(sp_render(&context, &camera, NULL, 0, &(sp_look){.samples = 1, .shadow_rays = -1}, &image) == SP_USAGE, "-1");
    CHECK(sp_render(&context, &camera, NULL, 0, &(sp_look){.samples = 1, .occlusion_rays = 1025}, &image) == SP_USAGE,
          "1025");
    const int expected = sp_render_has_shadows() ? SP_OK : SP_USAGE;
    CHECK(sp_render(&context, &camera, NULL, 0, &(sp_look){.samples = 1, .shadow_rays = 1}, &image) == expected, "%s",
          context.message);
}

TEST(same_bytes_for_any_threads)
{
    SKIP_UNDER_SANITIZERS("bytes are no matter of sanitizers");
    const int64_t width = 200, height = 150;
    OWNED(sphere) s = make_sphere(24, 4);
    float *color = malloc((size_t)s.vertex_count * 3 * sizeof *color);
    for (int64_t v = 0; v < s.vertex_count; v++)
        sp_colormap(0.5 + 0.5 * s.vertices[3 * v], color + 3 * v);
    sp_drawing drawings[2] = {draw_sphere(&s), draw_sphere(&s)};
    const double wall[12] = {-9, -9, -4.2, 9, -9, -3.9, 9, 9, -4, -9, 9, 20};
    drawings[0].color = color;
    drawings[0].lines = true;
    drawings[0].edges = s.triangles; /* any pairs of vertices */
    drawings[0].edge_count = s.triangle_count;
    drawings[1] = draw_quad(wall, 0.2f, 0.3f, 0.4f);
    sp_camera camera = plain_camera(40, 4);
    OWNED(sp_image) one = new_image(width, height), other = new_image(width, height);
    const int rays = sp_render_has_shadows() ? 4 : 0;
    for (int samples = 1; samples <= 3; samples++) {
        const sp_look look = {.samples = samples, .shadow_rays = rays, .occlusion_rays = samples * rays};
        CHECK_OK(sp_render(&context, &camera, drawings, 2, &look, &one));
        for (int threads = 1; threads <= 4; threads *= 2) {
            sp_context parallel = context;
            parallel.threads = threads;
            memset(other.rgb, 0, (size_t)(3 * width * height));
            CHECK(sp_render(&parallel, &camera, drawings, 2, &look, &other) == SP_OK, "%s", parallel.message);
            CHECK(same_image(&one, &other), "%d threads, %d samples", threads, samples);
        }
    }
    free(color);
}

/* ---- colours, text, PNG ---- */

TEST(colormap_rises_in_lightness)
{
    double last = -1;
    for (int i = 0; i <= 500; i++) {
        float rgb[3];
        sp_colormap(i / 500.0, rgb);
        double light = 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
        for (int k = 0; k < 3; k++)
            CHECK(rgb[k] >= 0 && rgb[k] <= 1, "%g at %d", rgb[k], i);
        CHECK(light > last, "luminance falls at %d of 500", i);
        last = light;
    }
    float below[3], low[3], nan_[3];
    sp_colormap(-3, below);
    sp_colormap(0, low);
    sp_colormap(NAN, nan_);
    CHECK(!memcmp(below, low, sizeof low) && !memcmp(nan_, low, sizeof low), "values outside are not clamped");
    /* Dark violet and bright yellow at the ends. */
    CHECK(low[2] > 2 * low[1] && low[2] < 0.2, "%g %g %g at 0", low[0], low[1], low[2]);
    sp_colormap(1, low);
    CHECK(low[0] > 0.7 && low[1] > 0.6 && low[2] < 0.1, "%g %g %g at 1", low[0], low[1], low[2]);
}

TEST(text_is_drawn_and_clipped)
{
    const uint8_t white[3] = {255, 255, 255};
    uint8_t glyphs[95][180];
    OWNED(sp_image) small = new_image(6, 10), large = new_image(24, 30);
    for (int c = 0; c < 95; c++) {
        memset(small.rgb, 0, 180);
        sp_image_text(&small, NULL, 0, 0, 1, white, (char[2]){(char)(32 + c), 0});
        memcpy(glyphs[c], small.rgb, 180);
        bool empty = true;
        for (int i = 0; i < 180; i++)
            empty = empty && !glyphs[c][i];
        CHECK(empty == (c == 0), "glyph %c", 32 + c);
        for (int b = 0; b < c; b++)
            CHECK(memcmp(glyphs[b], glyphs[c], 180) != 0, "%c and %c look the same", 32 + b, 32 + c);
    }
    /* Scaled by 3, at (5, 2): each dot a block. */
    sp_image_text(&large, NULL, 5, 2, 3, white, "R");
    int wrong = 0;
    for (int i = 0; i < 24 * 30; i++) {
        int x = i % 24 - 5, y = i / 24 - 2;
        bool dot = x >= 0 && x < 18 && y >= 0 && glyphs['R' - 32][3 * (y / 3 * 6 + x / 3)];
        wrong += dot != (large.rgb[3 * i] == 255);
    }
    CHECK(wrong == 0, "%d pixels of the scaled letter", wrong);
    /* Across every border; sanitizers find writes outside. */
    for (int64_t x = -30; x <= 30; x += 5)
        for (int64_t y = -30; y <= 40; y += 5)
            sp_image_text(&large, NULL, x, y, 2, white, "Wg\n\x01\xff");
    sp_image_text(&large, NULL, INT64_MIN, INT64_MAX, 1, white, "far");
}

static uint8_t *read_file(const char *path, int64_t *count)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    *count = 0;
    if (!file)
        return NULL;
    if (!fseek(file, 0, SEEK_END) && (*count = ftell(file)) > 0 && !fseek(file, 0, SEEK_SET)) {
        bytes = malloc((size_t)*count);
        *count = (int64_t)fread(bytes, 1, (size_t)*count, file);
    }
    fclose(file);
    return bytes;
}

/* Rows and columns of an image that are not black: left, right, top, bottom. */
static void ink_box(const sp_image *image, int64_t box[4])
{
    box[0] = image->width;
    box[2] = image->height;
    box[1] = box[3] = -1;
    for (int64_t i = 0; i < image->width * image->height; i++)
        if (image->rgb[3 * i]) {
            const int64_t x = i % image->width, y = i / image->width;
            box[0] = x < box[0] ? x : box[0];
            box[1] = x > box[1] ? x : box[1];
            box[2] = y < box[2] ? y : box[2];
            box[3] = y > box[3] ? y : box[3];
        }
}

/* DejaVu Sans: digits are 1303 of 2048 units wide, and capitals stand 1493 units high on the base line, 0.7 of the
 * height of a line. */
TEST(fonts_have_their_measures)
{
    const uint8_t white[3] = {255, 255, 255};
    OWNED_POINTER(sp_font) *font = NULL;
    int64_t count, box[4];
    CHECK(sp_text_width(NULL, 3, "four\nfives") == 5 * 18, "width in dots: %lld",
          (long long)sp_text_width(NULL, 3, "four\nfives"));
    CHECK(sp_font_new(&context, white, 3, &font) == (sp_render_has_fonts() ? SP_INPUT : SP_USAGE) && !font, "%s",
          context.message);
    uint8_t *bytes = read_file("/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf", &count);
    if (!bytes || !sp_render_has_fonts()) {
        free(bytes);
        SKIP("no FreeType or no DejaVu Sans");
    }
    CHECK_OK(sp_font_new(&context, bytes, count, &font));
    CHECK_NEAR((double)sp_text_width(font, 10, "0123456789"), 1000 * 1303 / 2048.0, 1);
    CHECK(sp_text_width(font, 10, "11\n1234\n7") == sp_text_width(font, 10, "8888"), "digits of different width");
    CHECK(sp_text_width(font, 10, "\xc2\xb3") < sp_text_width(font, 10, "33"), "a superscript is not one letter");
    sp_image image = new_image(300, 200);
    memset(image.rgb, 0, 3 * 300 * 200);
    sp_image_text(&image, font, 20, 30, 10, white, "HH");
    ink_box(&image, box);
    /* A pixel for hinting and for the rounding of each edge. */
    CHECK(llabs(box[3] - 99) <= 1 && llabs(box[2] - (100 - 73)) <= 2, "rows %lld to %lld", (long long)box[2],
          (long long)box[3]);
    CHECK(box[0] >= 20 && box[1] < 20 + sp_text_width(font, 10, "HH"), "columns %lld to %lld", (long long)box[0],
          (long long)box[1]);
    sp_image_free(&image);
    /* Across every border; the sanitizer looks for writes outside. */
    image = new_image(24, 30);
    for (int64_t x = -60; x <= 30; x += 5)
        for (int64_t y = -60; y <= 40; y += 5)
            sp_image_text(&image, font, x, y, 2, white, "Wg\n\x01\xff\xe2\x82");
    sp_image_text(&image, font, INT64_MIN, INT64_MAX, 1, white, "far");
    sp_image_free(&image);
    free(bytes);
}

TEST(png_decodes_to_the_same_pixels)
{
    OWNED(sp_image) image = new_image(123, 77);
    OWNED(sphere) s = make_sphere(20, 4);
    sp_drawing drawing = draw_sphere(&s);
    sp_camera camera = plain_camera(40, 4);
    CHECK_OK(sp_render(&context, &camera, &drawing, 1, PLAIN(2), &image));
    OWNED(sp_pool) pool = {0};
    uint8_t *bytes, *again;
    int64_t count, again_count;
    CHECK_OK(sp_png_encode(&context, &image, &pool, &bytes, &count));
    CHECK_OK(sp_png_encode(&context, &image, &pool, &again, &again_count));
    CHECK(count == again_count && !memcmp(bytes, again, (size_t)count), "the second file differs");
    for (int64_t i = 0; i + 4 <= count; i++)
        CHECK(memcmp(bytes + i, "tIME", 4) != 0, "a time is in the file");
    png_image reader = {.version = PNG_IMAGE_VERSION};
    uint8_t *pixels = malloc(3 * 123 * 77);
    CHECK(png_image_begin_read_from_memory(&reader, bytes, (size_t)count), "%s", reader.message);
    CHECK(reader.width == 123 && reader.height == 77 && reader.format == PNG_FORMAT_RGB, "%u x %u, format %u",
          reader.width, reader.height, reader.format);
    CHECK(png_image_finish_read(&reader, NULL, pixels, 0, NULL), "%s", reader.message);
    CHECK(!memcmp(pixels, image.rgb, 3 * 123 * 77), "pixels differ");
    free(pixels);
}
