/* Pictures: camera and rasterization. */
#include "render_models.h"

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

/* Depth at which the ray through (px, py) of a plain perspective camera meets n·p = d. */
static double ray_plane(const sp_camera *camera, double width, double height, double px, double py, const double n[3],
                        double d)
{
    double half = tan(camera->angle / 2 * PI / 180);
    double ray[3] = {(2 * px - width) / height * half, (height - 2 * py) / height * half, -1};
    return d / (n[0] * ray[0] + n[1] * ray[1] + n[2] * ray[2]);
}

static int64_t count_drawn(const sp_image *image)
{
    int64_t count = 0;
    for (int64_t i = 0; i < image->width * image->height; i++)
        count += image->depth[i] < INFINITY;
    return count;
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
