/* Pictures: transparency, edges, shadows, ambient occlusion, colours, text, PNG. */
#include "formats/export/png.h"
#include "render/shadow.h"
#include "render_models.h"

#include <png.h>

OWNER(sp_font)
OWNER(sp_shadow)

/* ---- geometry for the tests ---- */

static int largest_difference(const sp_image *a, const sp_image *b)
{
    int largest = 0;
    for (int64_t i = 0; i < 3 * a->width * a->height; i++)
        largest = abs(a->rgb[i] - b->rgb[i]) > largest ? abs(a->rgb[i] - b->rgb[i]) : largest;
    return largest;
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
