/* Winding numbers of triangle soups and the orientation repair before them. */
#include "geometry/winding.h"
#include "geometry/orient.h"
#include "geometry/ray.h"
#include "geometry_models.h"
#include "test.h"

OWNER(sp_closest)
OWNER(sp_winding)

TEST(winding_exact)
{
    sp_winding *w;
    sp_surface s = new_surface(8, 12);
    add_box(&s, (double[3]){-1, -1, -1}, (double[3]){1, 1, 1});
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.3, -0.2, 0.9}, 0), 1, 1e-14);
    CHECK_NEAR(sp_winding_number(w, (double[3]){1.3, -0.2, 0.9}, 0), 0, 1e-14);
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.999999999, 0.5, -0.1}, 0), 1, 1e-12);
    CHECK_NEAR(sp_winding_number(w, (double[3]){5, 6, 7}, 2), 0, 1e-2);
    sp_winding_free(w);
    /* A face seen from the cube's centre is a sixth of the sphere. */
    s.triangle_count = 10;
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0, 0, 0}, 0), 5.0 / 6, 1e-14);
    sp_winding_free(w);
    sp_surface_free(&s);
    /* Half a sphere seen from its centre, the rim being plane: one half; turned: minus one half. */
    s = sphere(16);
    cut_hole(&s, 0.3);
    CHECK(s.triangle_count == 7 * 64 + 32, "%lld", (long long)s.triangle_count);
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.1, -0.2, 0.3}, 0), 0.5, 1e-13);
    sp_winding_free(w);
    turn_all(&s, 0);
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.1, -0.2, 0.3}, 0), -0.5, 1e-13);
    sp_winding_free(w);
    sp_surface_free(&s);
    /* Three nested sheets: the sum passes 2π repeatedly. */
    s = new_surface(3000, 6000);
    for (int i = 1; i <= 3; i++)
        add_sphere(&s, 12, (double[3]){0}, i);
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.1, 0.2, 0.3}, 0), 3, 1e-12);
    CHECK_NEAR(sp_winding_number(w, (double[3]){1.1, 0.2, 0.9}, 0), 2, 1e-12);
    sp_winding_free(w);
    turn_all(&s, 0);
    CHECK_OK(sp_winding_new(&context, &s, &w));
    CHECK_NEAR(sp_winding_number(w, (double[3]){0.1, 0.2, 0.3}, 0), -3, 1e-12);
    sp_winding_free(w);
    sp_surface_free(&s);
}

/* On a sphere with a hole and on random triangles, far and near. */
TEST(winding_fast)
{
    for (int model = 0; model < 2; model++) {
        OWNED_POINTER(sp_winding) *w;
        double worst2 = 0, worst4 = 0;
        OWNED(sp_surface) s = model == 0 ? sphere(24) : new_surface(3000, 1000);
        if (model == 0)
            cut_hole(&s, 0.9);
        for (int64_t t = 0; model == 1 && t < 1000; t++) {
            for (int c = 0; c < 9; c++)
                s.vertices[9 * t + c] =
                    random_in(1, (uint64_t)(3 * t + c % 3), -1, 1) + random_in(2, (uint64_t)(9 * t + c), -0.1, 0.1);
            s.vertex_count += 3;
            add_triangle(&s, 3 * t, 3 * t + 1, 3 * t + 2);
        }
        CHECK_OK(sp_winding_new(&context, &s, &w));
        for (uint64_t i = 0; i < 500; i++) {
            double x[3] = {random_in(3, 3 * i, -2, 2), random_in(3, 3 * i + 1, -2, 2), random_in(3, 3 * i + 2, -2, 2)};
            double exact = sp_winding_number(w, x, 0);
            worst2 = fmax(worst2, fabs(sp_winding_number(w, x, 2) - exact));
            worst4 = fmax(worst4, fabs(sp_winding_number(w, x, 4) - exact));
        }
        CHECK(worst2 <= 1e-2, "error %g", worst2);
        /* Third-order remainder: twice the distance, an eighth of the error or less. */
        CHECK(worst4 <= worst2 / 6, "errors %g, then %g", worst2, worst4);
        NOTE("largest error of the fast winding number: %.2g with accuracy 2, %.2g with 4", worst2, worst4);
    }
}

TEST(orientation)
{
    sp_orient_report report;
    sp_surface s = sphere(12), out;
    const int64_t count = s.triangle_count;
    CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
    CHECK(report.turned == 0 && report.open_edges == 0 && report.patches == 1 && report.welded == 0 &&
              report.degenerate == 0,
          "turned %lld open %lld", (long long)report.turned, (long long)report.open_edges);
    CHECK(memcmp(out.triangles, s.triangles, (size_t)(3 * count) * sizeof(int64_t)) == 0, "a good model was changed");
    sp_surface_free(&out);
    int64_t turned = 0;
    for (int64_t t = 0; t < count; t++)
        if (random_in(6, (uint64_t)t, 0, 1) < 0.6) {
            turn(&s, t);
            turned++;
        }
    CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
    CHECK(report.turned == turned && report.open_edges == 0, "%lld of %lld turned", (long long)report.turned,
          (long long)turned);
    sp_surface_free(&out);
    sp_surface_free(&s);
    /* Every triangle with vertices of its own, one degenerate, one doubled. */
    s = new_surface(100, 100);
    OWNED(sp_surface) box = new_surface(8, 12);
    add_box(&box, (double[3]){0, 0, 0}, (double[3]){1, 2, 3});
    for (int64_t i = 0; i < 39; i++)
        memcpy(s.vertices + 3 * i, box.vertices + 3 * box.triangles[i < 36 ? i : i - 36], 3 * sizeof(double));
    s.vertex_count = 39;
    for (int64_t t = 0; t < 13; t++)
        add_triangle(&s, 3 * t, 3 * t + 1, 3 * t + 2);
    add_triangle(&s, 0, 1, 1);
    CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
    CHECK(report.welded == 31 && report.degenerate == 1 && report.doubled == 1 && report.open_edges == 0 &&
              out.triangle_count == 12,
          "welded %lld degenerate %lld doubled %lld open %lld", (long long)report.welded, (long long)report.degenerate,
          (long long)report.doubled, (long long)report.open_edges);
    sp_surface_free(&out);
    sp_surface_free(&s);
    /* Two boxes that share a face: four triangles at its edges, the wall doubled with opposite senses. It vanishes. */
    s = new_surface(16, 24);
    add_box(&s, (double[3]){0, 0, 0}, (double[3]){1, 1, 1});
    add_box(&s, (double[3]){1, 0, 0}, (double[3]){2, 1, 1});
    for (int64_t t = 0; t < 24; t++) { /* the same diagonal on both sides of the wall */
        const int64_t *v = s.triangles + 3 * t;
        bool wall = true;
        for (int c = 0; c < 3; c++)
            wall = wall && s.vertices[3 * v[c]] == 1;
        if (wall && t >= 12)
            for (int c = 0; c < 3; c++)
                for (int64_t u = 0; u < 8; u++) {
                    int64_t source = 10 + (t % 2), from = s.triangles[3 * source + (c == 0 ? 0 : 3 - c)];
                    if (memcmp(s.vertices + 3 * (8 + u), s.vertices + 3 * from, 3 * sizeof(double)) == 0)
                        s.triangles[3 * t + c] = 8 + u;
                }
    }
    for (int model = 0; model < 2; model++) {
        CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
        CHECK(report.doubled == 4 && report.open_edges == 0 && out.triangle_count == 20,
              "doubled %lld open %lld triangles %lld", (long long)report.doubled, (long long)report.open_edges,
              (long long)out.triangle_count);
        sp_surface_free(&out);
        for (int64_t t = 0; t < 24; t += 3) /* the same without a usable orientation */
            turn(&s, t);
    }
    sp_surface_free(&s);
    /* A Möbius strip. */
    s = new_surface(20, 20);
    for (int64_t i = 0; i < 10; i++) {
        for (int side = 0; side < 2; side++) {
            double a = 2 * PI * (double)i / 10, out_by = 1 + (side ? 0.3 : -0.3) * cos(a / 2),
                   *x = s.vertices + 3 * (2 * i + side);
            x[0] = out_by * cos(a);
            x[1] = out_by * sin(a);
            x[2] = (side ? 0.3 : -0.3) * sin(a / 2);
        }
        int64_t next0 = i < 9 ? 2 * i + 2 : 1, next1 = i < 9 ? 2 * i + 3 : 0;
        add_triangle(&s, 2 * i, next0, next1);
        add_triangle(&s, 2 * i, next1, 2 * i + 1);
    }
    s.vertex_count = 20;
    CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
    CHECK(report.one_sided == 1 && report.patches == 1, "%lld one-sided", (long long)report.one_sided);
    sp_surface_free(&out);
    sp_surface_free(&s);
}

/* n × n squares with vertices of their own: origin + i u/n + j v/n, the middle raised by `bulge` along u × v (of unit
 * length), which is the side of the triangles. */
static void add_sheet(sp_surface *s, int n, const double origin[3], const double u[3], const double v[3], double bulge)
{
    const int64_t first = s->vertex_count;
    double normal[3], length = 0;
    for (int k = 0; k < 3; k++) {
        normal[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        length += normal[k] * normal[k];
    }
    for (int j = 0; j <= n; j++)
        for (int i = 0; i <= n; i++) {
            const double a = (double)i / n, b = (double)j / n,
                         up = bulge * 16 * a * (1 - a) * b * (1 - b) / sqrt(length);
            for (int k = 0; k < 3; k++)
                s->vertices[3 * s->vertex_count + k] = origin[k] + a * u[k] + b * v[k] + up * normal[k];
            s->vertex_count++;
        }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            const int64_t a = first + j * (n + 1) + i;
            add_triangle(s, a, a + 1, a + n + 2);
            add_triangle(s, a, a + n + 2, a + n + 1);
        }
}

/* Side 0…5 (two for each axis, low first) of a box as a sheet with its triangles to the outside; `inset` is left out
 * all around. */
static void add_side(sp_surface *s, int side, const double low[3], const double high[3], double inset, double bulge)
{
    const int axis = side / 2, a = (axis + 1 + side % 2) % 3, b = 3 - axis - a; /* u × v is ±axis: outward */
    double origin[3], u[3] = {0}, v[3] = {0};
    const bool top = side % 2 == 1, even = (a + 1) % 3 == b;
    for (int k = 0; k < 3; k++)
        origin[k] = k == axis ? (top ? high[k] : low[k]) : low[k] + inset;
    u[a] = high[a] - low[a] - 2 * inset;
    v[b] = high[b] - low[b] - 2 * inset;
    add_sheet(s, 6, origin, even == top ? u : v, even == top ? v : u, bulge);
}

/* Turns each of the sheets of 72 triangles from `first` on with one chance in two. */
static void turn_some(sp_surface *s, int64_t first, uint64_t round)
{
    for (int64_t t = first; t < s->triangle_count; t++)
        if (random_in(20 + round, (uint64_t)((t - first) / 72), 0, 1) < 0.5)
            turn(s, t);
}

static void normal_of(const sp_surface *s, int64_t t, double centroid[3], double normal[3])
{
    const double *a = s->vertices + 3 * s->triangles[3 * t], *b = s->vertices + 3 * s->triangles[3 * t + 1];
    const double *c = s->vertices + 3 * s->triangles[3 * t + 2];
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        centroid[k] = (a[k] + b[k] + c[k]) / 3;
        normal[k] = (b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]);
    }
}

/* The number of triangles first … end − 1 that face away from a point after the repair. None is dropped in these
 * models. */
static int64_t outward_from(const sp_surface *s, const double point[3], int64_t first, int64_t end)
{
    OWNED(sp_surface) out;
    sp_orient_report report;
    int64_t count = 0;
    CHECK_OK(sp_surface_orient(&context, s, &out, &report));
    CHECK(out.triangle_count == s->triangle_count, "%lld triangles", (long long)out.triangle_count);
    for (int64_t t = first; t < end; t++) {
        double x[3], n[3];
        normal_of(&out, t, x, n);
        count += (x[0] - point[0]) * n[0] + (x[1] - point[1]) * n[1] + (x[2] - point[2]) * n[2] > 0;
    }
    return count;
}

/* Boxes of unconnected sheets, some of which are missing: every sheet is a patch of its own. The sheets are flat, or
 * bent to either side by a hundredth, so that the volume about their own centroid would flip half of them. */
TEST(boxes_of_sheets)
{
    static const double low[3] = {10, 20, 30}, high[3] = {11, 22, 33}, centre[3] = {10.5, 21, 31.5};
    static const int missing[] = {0, 1, 1 << 5, 1 << 4 | 1 << 5, 1 << 1 | 1 << 3, 1 << 0 | 1 << 2 | 1 << 4};
    for (uint64_t round = 0; round < 18; round++) {
        OWNED(sp_surface) s = new_surface(6 * 49, 6 * 72);
        for (int side = 0; side < 6; side++)
            if (!(missing[round % 6] >> side & 1))
                add_side(&s, side, low, high, 0.001, ((double)(round / 6) - 1) * 0.01);
        turn_some(&s, 0, round);
        const int64_t outward = outward_from(&s, centre, 0, s.triangle_count);
        CHECK(outward == s.triangle_count, "round %d: %lld of %lld outward", (int)round, (long long)outward,
              (long long)s.triangle_count);
    }
}

/* A cabin like a car's: a closed body with a door on each side that lies flat on it, or covers it at a small distance,
 * and a partition inside, which nothing turns. */
TEST(doors)
{
    static const double low[3] = {-2, -1, -1}, high[3] = {2, 1, 1}, gaps[] = {0, 1e-3, 0.05, -1e-3};
    for (uint64_t round = 0; round < 16; round++) {
        OWNED(sp_surface) s = new_surface(1000, 1500);
        double below[3], above[3];
        for (int k = 0; k < 3; k++) {
            below[k] = low[k] - gaps[round % 4];
            above[k] = high[k] + gaps[round % 4];
        }
        add_sheet(&s, 6, (double[3]){0.1, -1, -1}, (double[3]){0, 2, 0}, (double[3]){0, 0, 2}, 0.002);
        for (int side = 2; side < 6; side++)
            add_side(&s, side, below, above, 0.4, round < 8 ? -0.01 : 0.01);
        const int64_t end = s.triangle_count;
        turn_some(&s, 72, round);
        for (int side = 0; side < 6; side++)
            if (gaps[round % 4] >= 0 || side < 2)
                add_side(&s, side, low, high, 0, 0);
        if (gaps[round % 4] < 0) /* the doors close openings instead */
            for (int side = 2; side < 6; side++) {
                double strip[3] = {high[0], high[1], high[2]};
                strip[0] = low[0] + 0.4;
                add_side(&s, side, low, strip, 0, 0);
            }
        const int64_t outward = outward_from(&s, (double[3]){0}, 72, end);
        CHECK(outward == end - 72, "round %d: %lld of %lld outward", (int)round, (long long)outward,
              (long long)(end - 72));
    }
}

/* A bucket of two walls that are not connected at the rim: the inner one faces the opening. The wall is solid, the
 * bucket is empty. A ball in it is a separate body. */
TEST(nested_shells)
{
    for (uint64_t round = 0; round < 4; round++) {
        OWNED(sp_surface) s = new_surface(3000, 4000), out;
        sp_orient_report report;
        OWNED_POINTER(sp_winding) *w;
        for (int inner = 0; inner < 2; inner++) {
            const double wall = 0.15 * inner, low[3] = {wall, wall, wall}, high[3] = {2 - wall, 2 - wall, 2};
            for (int side = 0; side < 5; side++) {
                add_side(&s, side, low, high, 0, 0);
                for (int64_t t = s.triangle_count - 72; t < s.triangle_count && round >> inner & 1; t++)
                    turn(&s, t);
            }
        }
        add_sphere(&s, 8, (double[3]){1, 1, 0.8}, 0.3);
        CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
        CHECK(report.patches == 3, "%lld patches: the sides of a box are joined", (long long)report.patches);
        CHECK_OK(sp_winding_new(&context, &out, &w));
        CHECK(sp_winding_inside(w, (double[3]){0.07, 1, 0.8}), "round %d: the wall is not solid", (int)round);
        CHECK(sp_winding_inside(w, (double[3]){1, 0.8, 0.07}), "round %d: the bottom is not solid", (int)round);
        CHECK(!sp_winding_inside(w, (double[3]){1, 0.4, 0.8}), "round %d: the bucket is full", (int)round);
        CHECK(sp_winding_inside(w, (double[3]){1, 1, 0.8}), "round %d: the ball is hollow", (int)round);
    }
}

/* The orientation of a flat sheet, or of a wave with equal visibility from both sides, is undetermined and stays
 * unchanged. A dome is visible more from its convex side, however flat it is. */
TEST(single_sheets)
{
    for (int turned = 0; turned < 2; turned++)
        for (int model = 0; model < 3; model++) {
            OWNED(sp_surface) s = new_surface(900, 1700), out;
            sp_orient_report report;
            add_sheet(&s, 24, (double[3]){-1, -1, 0}, (double[3]){2, 0, 0}, (double[3]){0, 2, 0}, model == 2 ? 0.2 : 0);
            for (int64_t i = 0; i < s.vertex_count && model == 1; i++)
                s.vertices[3 * i + 2] =
                    0.1 * sin(PI * s.vertices[3 * i]) * sin(PI * s.vertices[3 * i + 1]) + 0.03 * s.vertices[3 * i];
            if (turned)
                turn_all(&s, 0);
            CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
            CHECK(report.turned == (model == 2 && turned ? s.triangle_count : 0), "sheet %d, %d: %lld turned", model,
                  turned, (long long)report.turned);
        }
}

/* A hidden sheet in a box keeps its orientation relative to the box. */
TEST(hidden_sheet)
{
    for (int turned = 0; turned < 2; turned++) {
        OWNED(sp_surface) s = new_surface(100, 100), out;
        sp_orient_report report;
        add_sheet(&s, 6, (double[3]){-0.5, -0.5, 0.1}, (double[3]){1, 0, 0}, (double[3]){0, 1, 0}, -0.002);
        add_box(&s, (double[3]){-1, -1, -1}, (double[3]){1, 1, 1});
        if (turned)
            turn_all(&s, 0);
        CHECK_OK(sp_surface_orient(&context, &s, &out, &report));
        CHECK(report.turned == (turned ? s.triangle_count : 0), "%lld turned", (long long)report.turned);
    }
}

/* Overlapping lids of a box, coincident and not, divided differently; the same result for any number of threads. */
TEST(overlapping_sheets)
{
    static const double low[3] = {0, 0, 0}, high[3] = {3, 2, 1};
    for (uint64_t round = 0; round < 8; round++) {
        sp_surface s = new_surface(800, 1000), out[2];
        sp_orient_report report;
        for (int side = 0; side < 6; side++)
            add_side(&s, side, low, high, 0, 0);
        add_side(&s, 5, low, high, 0.11, 0);
        add_side(&s, 5, low, high, 0.23, round % 2 ? -0.01 : 0.01);
        add_side(&s, 5, low, (double[3]){2, 1.5, 1}, 0, 0);
        turn_some(&s, 0, round);
        const int64_t outward = outward_from(&s, (double[3]){1.5, 1, 0.5}, 0, s.triangle_count);
        CHECK(outward == s.triangle_count, "round %d: %lld of %lld outward", (int)round, (long long)outward,
              (long long)s.triangle_count);
        for (int i = 0; i < 2; i++) {
            sp_context own = context;
            own.threads = i ? 4 : 1;
            CHECK_OK(sp_surface_orient(&own, &s, &out[i], &report));
        }
        CHECK(memcmp(out[0].triangles, out[1].triangles, (size_t)(3 * s.triangle_count) * sizeof(int64_t)) == 0,
              "threads change the result");
        sp_surface_free(&out[0]);
        sp_surface_free(&out[1]);
        sp_surface_free(&s);
    }
}

/* Whether the ray meets a triangle farther away than `beyond`, by the signs of three volumes. */
static bool meets(const sp_surface *s, int64_t t, const double origin[3], const double direction[3], double beyond)
{
    double x[3], n[3], along = 0, height = 0, side[3];
    normal_of(s, t, x, n);
    for (int k = 0; k < 3; k++) {
        along += n[k] * direction[k];
        height += n[k] * (x[k] - origin[k]);
    }
    for (int c = 0; c < 3; c++) {
        const double *a = s->vertices + 3 * s->triangles[3 * t + c],
                     *b = s->vertices + 3 * s->triangles[3 * t + (c + 1) % 3];
        side[c] = 0;
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            side[c] +=
                direction[k] * ((a[i] - origin[i]) * (b[j] - origin[j]) - (a[j] - origin[j]) * (b[i] - origin[i]));
        }
    }
    const bool through = (side[0] > 0) == (side[1] > 0) && (side[1] > 0) == (side[2] > 0);
    return through && height / along > beyond;
}

/* Rays against all triangles one by one, also along the axes, where boxes of the tree are flat. */
TEST(rays)
{
    OWNED_POINTER(sp_closest) *closest;
    int64_t leaving = 0;
    OWNED(sp_surface) s = new_surface(6000, 3000);
    for (int side = 0; side < 3; side++)
        add_side(&s, side, (double[3]){-0.8, -0.8, -0.8}, (double[3]){0.8, 0.8, 0.8}, 0.01, 0);
    for (int64_t t = 0; t < 600; t++) {
        for (int c = 0; c < 9; c++)
            s.vertices[3 * s.vertex_count + c] =
                random_in(1, (uint64_t)(3 * t + c % 3), -1, 1) + random_in(2, (uint64_t)(9 * t + c), -0.1, 0.1);
        s.vertex_count += 3;
        add_triangle(&s, s.vertex_count - 3, s.vertex_count - 2, s.vertex_count - 1);
    }
    CHECK_OK(sp_closest_new(&context, &s, &closest));
    for (uint64_t i = 0; i < 3000; i++) {
        const double x[3] = {random_in(3, 3 * i, -1, 1), random_in(3, 3 * i + 1, -1, 1),
                             random_in(3, 3 * i + 2, -1, 1)};
        const double z = random_in(4, 2 * i, -1, 1), a = random_in(4, 2 * i + 1, 0, 2 * PI), beyond = i % 3 ? 0 : 0.4;
        double d[3] = {sqrt(1 - z * z) * cos(a), sqrt(1 - z * z) * sin(a), z};
        if (i % 5 == 0)
            for (uint64_t k = 0; k < 3; k++)
                d[k] = k == i / 5 % 3 ? (i % 2 ? 1 : -1) : 0;
        bool free = true;
        for (int64_t t = 0; t < s.triangle_count && free; t++)
            free = !meets(&s, t, x, d, beyond);
        leaving += free;
        CHECK(sp_ray_leaves(closest, x, d, beyond) == free, "ray %d", (int)i);
    }
    CHECK(leaving > 300 && leaving < 2700, "%lld of 3000 rays leave", (long long)leaving);
}
