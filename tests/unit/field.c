/* Distance fields: exact distances, signs, interpolation between vertices and bounds outside the box, level sets. */
#include "field_models.h"
#include "geometry/isosurface.h"
#include "geometry/pseudonormal.h"
#include "geometry/winding.h"
#include "test.h"

OWNER(sp_closest)
OWNER(sp_winding)

typedef struct made {
    int status;
    sp_field field;
    sp_distance_report report;
} made;

static made make(const sp_surface *s, int64_t cells, enum sp_field_sign sign)
{
    made m;
    const sp_distance_parameters p = {.cells = cells, .scale = 1.5, .cube = true, .sign = sign};
    m.status = sp_distance_field(&context, s, &p, &m.field, &m.report);
    CHECK(m.status == SP_OK, "%s", context.message);
    return m;
}

/* The largest difference to brute force at every `step`-th vertex, relative to the diagonal. */
static double worst_distance(const sp_surface *s, const sp_field *field, int64_t step)
{
    double worst = 0;
    for (int64_t i = 0; i < sp_field_vertices(field); i += step) {
        double x[3];
        place_of(field, i, x);
        const double error = fabs(fabs((double)field->distance[i]) - brute_distance(s, x));
        worst = error <= worst ? worst : error; /* propagates a NaN */
    }
    return worst / diagonal_of(s);
}

/* The number of vertices whose sign differs from that of the exact winding number of the repaired surface, without
 * vertices on the surface. */
static int64_t wrong_signs(const sp_surface *s, const sp_field *field, int64_t step)
{
    int64_t wrong = 0;
    OWNED(sp_surface) oriented;
    sp_orient_report report;
    OWNED_POINTER(sp_winding) *winding;
    CHECK_OK(sp_surface_orient(&context, s, &oriented, &report));
    CHECK_OK(sp_winding_new(&context, &oriented, &winding));
    for (int64_t i = 0; i < sp_field_vertices(field); i += step) {
        double x[3];
        place_of(field, i, x);
        wrong += field->distance[i] != 0 && (field->distance[i] < 0) != (sp_winding_number(winding, x, 0) >= 0.5);
    }
    return wrong;
}

/* Triangles of all sizes, slivers, segments, points, some given twice. */
static sp_surface ugly_soup(void)
{
    sp_surface s = new_surface(3 * 220, 220);
    for (int64_t t = 0; t < 200; t++) {
        const double size = t % 3 == 0 ? 1 : t % 3 == 1 ? 0.1 : 1e-4;
        for (int c = 0; c < 9; c++)
            s.vertices[9 * t + c] =
                random_in(1, (uint64_t)(3 * t + c % 3), -1, 1) + random_in(2, (uint64_t)(9 * t + c), -size, size);
        double *x = s.vertices + 9 * t;
        if (t % 10 == 3)
            for (int k = 0; k < 3; k++) /* a segment, or almost one */
                x[6 + k] =
                    0.3 * x[k] + 0.7 * x[3 + k] + (t % 20 == 3 ? 0 : 1e-9 * random_in(3, (uint64_t)(3 * t + k), -1, 1));
        for (int k = 0; k < 3 && t % 10 == 7; k++) { /* a segment, or a point */
            x[3 + k] = x[k];
            x[6 + k] = t % 20 == 7 ? x[k] : x[6 + k];
        }
        s.vertex_count += 3;
        add_triangle(&s, 3 * t, 3 * t + 1, 3 * t + 2);
    }
    for (int64_t t = 0; t < 20; t++)
        add_triangle(&s, 3 * t + 1, 3 * t + 2, 3 * t);
    return s;
}

TEST(distances_are_exact)
{
    OWNED(sp_surface) s = ugly_soup();
    for (int64_t cells = 1; cells <= 33; cells += 8) {
        made m = make(&s, cells, SP_FIELD_UNSIGNED);
        const double worst = worst_distance(&s, &m.field, 1 + cells / 4);
        /* Single precision rounds by 6e-8 of a distance, which is below the diagonal. */
        CHECK(worst <= 7e-8, "n = %lld: %g of the diagonal", (long long)cells, worst);
        sp_field_free(&m.field);
    }
    /* first bricks of full size, some of them truncated */
    made large = make(&s, 150, SP_FIELD_UNSIGNED);
    CHECK(worst_distance(&s, &large.field, 4999) <= 7e-8, "n = 150: %g", worst_distance(&s, &large.field, 4999));
    sp_field_free(&large.field);
    OWNED_POINTER(sp_closest) *closest;
    CHECK_OK(sp_closest_new(&context, &s, &closest));
    double worst = 0, gap = 0;
    for (uint64_t i = 0; i < 2000; i++) {
        double x[3] = {random_in(4, 3 * i, -3, 3), random_in(4, 3 * i + 1, -3, 3), random_in(4, 3 * i + 2, -3, 3)},
               q[3];
        sp_nearest nearest;
        sp_closest_find(closest, x, &nearest);
        worst = fmax(worst, fabs(nearest.distance - brute_distance(&s, x)));
        /* the closest point lies on its triangle */
        const int64_t *v = s.triangles + 3 * nearest.triangle;
        for (int k = 0; k < 3; k++)
            q[k] = x[k] - nearest.offset[k];
        gap = fmax(gap, sqrt(brute_triangle(s.vertices + 3 * v[0], s.vertices + 3 * v[1], s.vertices + 3 * v[2], q)));
    }
    CHECK(worst <= 2e-8 && gap <= 2e-8, "queries: %g, %g", worst, gap);
    NOTE("queries against brute force: %.2g m", worst);
}

/* At the centre of a sphere all distances are equal: no triangle can be culled. */
TEST(spheres_by_formula)
{
    const int rings = 40;
    const double centre[3] = {0.1, -0.2, 0.3}, sagitta = 1 - cos(PI / rings / sqrt(2));
    OWNED(sp_surface) s = sphere(rings);
    made m = make(&s, 40, SP_FIELD_AUTO);
    CHECK(m.report.sign == SP_FIELD_PSEUDONORMAL && m.report.sign_disagreements == 0, "sign %d", m.report.sign);
    CHECK(m.report.sign_tests > 0, "no tests");
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < sp_field_vertices(&m.field); i++) {
        double x[3];
        place_of(&m.field, i, x);
        const double formula = hypot(hypot(x[0] - centre[0], x[1] - centre[1]), x[2] - centre[2]) - 1;
        low = fmin(low, (double)m.field.distance[i] - formula);
        high = fmax(high, (double)m.field.distance[i] - formula);
    }
    CHECK(low >= -2e-7 && high <= sagitta + 2e-7, "%g to %g, the facets are up to %g below the sphere", low, high,
          sagitta);
    CHECK(high >= 0.5 * sagitta, "%g: the test says nothing", high);
    sp_field_free(&m.field);
}

TEST(tori_by_formula)
{
    const int n = 96, k = 48;
    OWNED(sp_surface) s = torus(n, k, 1, 0.3);
    made m = make(&s, 48, SP_FIELD_AUTO);
    /* sagittas of the two circles, of the larger one at its outermost */
    const double sagitta = 1.3 * (1 - cos(PI / n)) + 0.3 * (1 - cos(PI / k));
    CHECK(m.report.sign == SP_FIELD_PSEUDONORMAL && m.report.sign_disagreements == 0, "sign %d", m.report.sign);
    double worst = 0;
    for (int64_t i = 0; i < sp_field_vertices(&m.field); i++) {
        double x[3];
        place_of(&m.field, i, x);
        worst = fmax(worst, fabs((double)m.field.distance[i] - (hypot(hypot(x[0], x[1]) - 1, x[2]) - 0.3)));
    }
    CHECK(worst <= sagitta, "%g, sagitta %g", worst, sagitta);
    sp_field_free(&m.field);
}

/* Sharp corners, where face normals alone are wrong, and thin walls. */
TEST(signs_of_closed_models)
{
    for (int model = 0; model < 6; model++) {
        OWNED(sp_surface) s = new_surface(3000, 6000);
        enum sp_field_sign expected = SP_FIELD_PSEUDONORMAL;
        bool meets = false;
        if (model == 0) { /* a spike */
            const double x[12] = {0, 0, 0, 0.1, 0, 0, 0, 0.1, 0, 3, 2, 1};
            memcpy(s.vertices, x, sizeof x);
            s.vertex_count = 4;
            add_triangle(&s, 0, 2, 1);
            add_triangle(&s, 0, 1, 3);
            add_triangle(&s, 1, 2, 3);
            add_triangle(&s, 2, 0, 3);
        } else if (model == 1) { /* thinner than the cells */
            add_box(&s, (double[3]){0, 0, 0}, (double[3]){3, 0.011, 2});
        } else if (model == 2) { /* a cavity */
            add_sphere(&s, 12, (double[3]){0}, 1);
            const int64_t first = s.triangle_count;
            add_sphere(&s, 12, (double[3]){0.1, 0, 0}, 0.6);
            turn_all(&s, first);
        } else if (model == 3) { /* two that overlap */
            add_sphere(&s, 12, (double[3]){0}, 1);
            add_sphere(&s, 12, (double[3]){0.7, 0.1, 0}, 1);
            expected = SP_FIELD_WINDING;
            meets = true;
        } else if (model == 4) { /* two boxes with an edge in common */
            add_box(&s, (double[3]){0, 0, 0}, (double[3]){1, 1, 1});
            add_box(&s, (double[3]){1, 1, 0}, (double[3]){2, 2, 1});
            expected = SP_FIELD_WINDING;
        } else { /* inside out, vertices not shared, a degenerate triangle and a doubled one */
            OWNED(sp_surface) box = new_surface(8, 12);
            add_box(&box, (double[3]){-1, -1, -1}, (double[3]){1, 2, 1});
            for (int64_t c = 0; c < 36; c++)
                memcpy(s.vertices + 3 * s.vertex_count++, box.vertices + 3 * box.triangles[c], 3 * sizeof(double));
            for (int64_t t = 0; t < 12; t++)
                add_triangle(&s, 3 * t, 3 * t + 2, 3 * t + 1);
            add_triangle(&s, 0, 0, 1);
        }
        made m = make(&s, 28, SP_FIELD_AUTO);
        CHECK(m.report.sign == expected && m.report.meets_itself == meets, "model %d: sign %d, meets itself %d", model,
              m.report.sign, m.report.meets_itself);
        CHECK((m.report.sign_disagreements > 0) == meets, "model %d: %lld disagreements", model,
              (long long)m.report.sign_disagreements);
        CHECK(m.report.closed && (m.report.inside > 0 || model == 0), "model %d: inside %lld", model,
              (long long)m.report.inside);
        const int64_t wrong = wrong_signs(&s, &m.field, 2);
        CHECK(wrong == 0, "model %d: %lld wrong signs", model, (long long)wrong);
        sp_field_free(&m.field);
    }
}

TEST(signs_of_open_models)
{
    for (int model = 0; model < 3; model++) {
        OWNED(sp_surface) s = model == 0 ? sphere(12) : model == 1 ? ugly_soup() : new_surface(3, 1);
        if (model == 0)
            cut_hole(&s, 0.8);
        if (model == 2) { /* one triangle */
            const double x[9] = {0, 0, 0, 1, 0, 0.5, 0, 1, 0.2};
            memcpy(s.vertices, x, sizeof x);
            s.vertex_count = 3;
            add_triangle(&s, 0, 1, 2);
        }
        made m = make(&s, 21, SP_FIELD_AUTO);
        CHECK(m.report.sign == SP_FIELD_WINDING && !m.report.closed, "model %d: sign %d", model, m.report.sign);
        const int64_t wrong = wrong_signs(&s, &m.field, 1);
        CHECK(wrong == 0, "model %d: %lld wrong signs", model, (long long)wrong);
        CHECK(model == 2 || m.report.inside > 0, "model %d: nothing inside", model);
        sp_field_free(&m.field);
        const sp_distance_parameters p = {.cells = 8, .scale = 1.5, .sign = SP_FIELD_PSEUDONORMAL};
        CHECK(sp_distance_field(&context, &s, &p, &m.field, &m.report) == SP_INPUT &&
                  strstr(context.message, "closed manifold"),
              "%s", context.message);
    }
}

/* Thesis §3.11: a sphere with a small hole becomes solid, with a large hole a hollow surface. */
TEST(soups_by_offset)
{
    const double centre[3] = {0.1, -0.2, 0.3};
    for (int model = 0; model < 2; model++) {
        OWNED(sp_surface) s = sphere(32);
        cut_hole(&s, model == 0 ? 1.295 : 0.8); /* the top is at 1.3 */
        made m = make(&s, 32, SP_FIELD_OFFSET);
        const double h = m.field.spacing, offset = 1.4 * h;
        CHECK_NEAR(m.report.offset, offset, 1e-12);
        CHECK(m.report.manifold && m.report.sign_tests > 1000 && m.report.sign_disagreements == 0,
              "%lld of %lld signs disagree", (long long)m.report.sign_disagreements, (long long)m.report.sign_tests);
        CHECK((m.report.dropped_vertices > 0) == (model == 0), "%lld vertices dropped",
              (long long)m.report.dropped_vertices);
        const double middle = sp_field_interpolate(&m.field, centre, NULL);
        CHECK(model == 0 ? middle < -0.99 : middle > 0.8, "middle: %g", middle);
        double worst = 0;
        for (int64_t i = 0; i < sp_field_vertices(&m.field) && model == 0; i++) {
            double x[3];
            place_of(&m.field, i, x);
            if (x[2] > centre[2] - 0.05)
                continue; /* the dent of the hole */
            const double formula = hypot(hypot(x[0] - centre[0], x[1] - centre[1]), x[2] - centre[2]) - 1 - offset;
            worst = fmax(worst, fabs((double)m.field.distance[i] - formula));
        }
        /* Linear interpolation along edges of up to √3 h of a distance with curvature 1/r: h²·3/(8 r), and the facets'
         * sagitta. */
        CHECK(worst <= 3 * h * h / 8 + 0.01, "%g, h = %g", worst, h);
        sp_field_free(&m.field);
    }
    OWNED(sp_surface) s = sphere(8);
    made m;
    sp_distance_parameters p = {.cells = 16, .scale = 1.5, .cube = true, .sign = SP_FIELD_OFFSET, .offset = 0.1};
    CHECK(sp_distance_field(&context, &s, &p, &m.field, &m.report) == SP_INPUT && strstr(context.message, "of a cell"),
          "%s", context.message);
    p.offset = 0.6;
    CHECK(sp_distance_field(&context, &s, &p, &m.field, &m.report) == SP_INPUT &&
              strstr(context.message, "meets the box"),
          "%s", context.message);
}

/* A trilinear function is its own interpolant; its gradient too. */
TEST(interpolation)
{
    OWNED(sp_field) f = {.cells = {3, 4, 2}, .origin = {1, -2, 0.5}, .spacing = 0.25};
    f.distance = sp_pool_raw(&f.pool, sp_field_vertices(&f), sizeof *f.distance);
    for (int64_t i = 0; i < sp_field_vertices(&f); i++) {
        double x[3];
        place_of(&f, i, x);
        f.distance[i] = (float)(1 + 2 * x[0] - x[1] + 0.5 * x[2]);
    }
    for (uint64_t i = 0; i < 200; i++) {
        double gradient[3];
        const double x[3] = {random_in(5, 3 * i, 1, 1.75), random_in(5, 3 * i + 1, -2, -1),
                             random_in(5, 3 * i + 2, 0.5, 1)};
        CHECK_NEAR(sp_field_interpolate(&f, x, gradient), 1 + 2 * x[0] - x[1] + 0.5 * x[2], 1e-6);
        CHECK_NEAR(gradient[0], 2, 1e-5);
        CHECK_NEAR(gradient[1], -1, 1e-5);
        CHECK_NEAR(gradient[2], 0.5, 1e-5);
    }
    /* xyz in one cell of its own, derivative by differences */
    for (int c = 0; c < 8; c++)
        f.distance[sp_field_index(&f, c & 1, c >> 1 & 1, c >> 2)] = c == 7;
    for (uint64_t i = 0; i < 50; i++) {
        double t[3], x[3], gradient[3];
        for (uint64_t k = 0; k < 3; k++) {
            t[k] = random_in(6, 3 * i + k, 0.01, 0.99);
            x[k] = f.origin[k] + f.spacing * t[k];
        }
        CHECK_NEAR(sp_field_interpolate(&f, x, gradient), t[0] * t[1] * t[2], 1e-14);
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(gradient[k], t[(k + 1) % 3] * t[(k + 2) % 3] / f.spacing, 1e-12);
    }
    /* outside the value is that of the nearest point of the box; the far corner belongs to the last cell */
    CHECK_NEAR(sp_field_interpolate(&f, (double[3]){9, 9, 9}, NULL), (double)f.distance[sp_field_vertices(&f) - 1], 0);
    CHECK_NEAR(sp_field_interpolate(&f, (double[3]){-9, -9, -9}, NULL), (double)f.distance[0], 0);
}

/* Thesis eq. 3.14, with the least distance between the vertices of the box's surface, too. */
TEST(estimate_outside)
{
    OWNED(sp_surface) s = ugly_soup();
    for (int64_t cells = 1; cells < 20; cells += 6) {
        made m = make(&s, cells, SP_FIELD_UNSIGNED);
        const double side = m.field.spacing * (double)cells, *o = m.field.origin;
        double least = INFINITY, ratio = 0;
        for (uint64_t i = 0; i < 3000; i++) { /* on the box's surface */
            double x[3];
            for (uint64_t k = 0; k < 3; k++)
                x[k] = o[k] + side * sp_random_uniform(1, 8 + k, i);
            x[i % 3] = o[i % 3] + (i % 2 ? side : 0);
            least = fmin(least, brute_distance(&s, x));
        }
        CHECK(m.report.boundary <= least, "n = %lld: boundary %g, found %g", (long long)cells, m.report.boundary,
              least);
        CHECK(cells < 10 || m.report.boundary >= 0.8 * least, "n = %lld: boundary %g of %g says little",
              (long long)cells, m.report.boundary, least);
        for (uint64_t i = 0; i < 2000; i++) {
            double x[3], box = 0;
            for (uint64_t k = 0; k < 3; k++) {
                x[k] = o[k] + side * random_in(12 + k, i, -1.5, 2.5);
                const double gap = fmax(fmax(o[k] - x[k], x[k] - o[k] - side), 0);
                box += gap * gap;
            }
            if (box == 0)
                continue;
            const double estimate = sqrt(box) + m.report.boundary, truth = brute_distance(&s, x);
            CHECK(estimate <= truth * (1 + 1e-12), "estimate %g, distance %g", estimate, truth);
            ratio = fmax(ratio, estimate / truth);
        }
        CHECK(cells < 10 || ratio > 0.9, "the estimate is at best %g of the distance", ratio);
        sp_field_free(&m.field);
    }
}

/* Vertices minus edges plus triangles, of vertices that are used. */
static int64_t euler(const sp_surface *s)
{
    return s->vertex_count - 3 * s->triangle_count / 2 + s->triangle_count;
}

static double volume_of(const sp_surface *s)
{
    double sum = 0;
    for (int64_t t = 0; t < s->triangle_count; t++) {
        const double *a = s->vertices + 3 * s->triangles[3 * t], *b = s->vertices + 3 * s->triangles[3 * t + 1],
                     *c = s->vertices + 3 * s->triangles[3 * t + 2];
        sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) +
               a[2] * (b[0] * c[1] - b[1] * c[0]);
    }
    return sum / 6;
}

static bool is_manifold(const sp_surface *s)
{
    bool manifold;
    sp_pseudonormals normals;
    CHECK_OK(sp_pseudonormals_new(&context, s, &manifold, &normals));
    sp_pool_free(&normals.pool);
    return manifold;
}

TEST(level_sets)
{
    sp_surface models[2] = {sphere(40), torus(96, 48, 1, 0.3)}, level;
    const double volume[2][2] = {{4 * PI / 3, 4 * PI / 3 * 1.331}, {2 * PI * PI * 0.09, 2 * PI * PI * 0.16}};
    for (int i = 0; i < 2; i++) {
        made m = make(&models[i], 60, SP_FIELD_AUTO);
        for (int j = 0; j < 2; j++) {
            CHECK_OK(sp_isosurface(&context, &m.field, 0.1 * j, NULL, &level));
            CHECK(is_manifold(&level), "model %d, level %d: no manifold", i, j);
            CHECK(euler(&level) == (i == 0 ? 2 : 0), "model %d: %lld", i, (long long)euler(&level));
            CHECK_NEAR(volume_of(&level), volume[i][j], 0.02 * volume[i][j]);
            double worst = 0;
            for (int64_t v = 0; v < level.vertex_count; v++)
                worst = fmax(worst, fabs(sp_field_interpolate(&m.field, level.vertices + 3 * v, NULL) - 0.1 * j));
            CHECK(worst <= 0.5 * m.field.spacing, "a vertex is %g from its level", worst);
            sp_surface_free(&level);
        }
        CHECK_OK(sp_isosurface(&context, &m.field, 1e9, NULL, &level));
        CHECK(level.triangle_count == 0, "%lld triangles at an empty level", (long long)level.triangle_count);
        sp_surface_free(&level);
        sp_field_free(&m.field);
        sp_surface_free(&models[i]);
    }
    /* Random values, some of them exactly the level; the region above the level reaches the box everywhere. */
    for (int rough = 0; rough < 2; rough++) {
        OWNED(sp_field) f = {.cells = {70, 9, 12}, .spacing = 1};
        f.distance = sp_pool_raw(&f.pool, sp_field_vertices(&f), sizeof *f.distance);
        for (int64_t z = 0, i = 0; z <= 12; z++)
            for (int64_t y = 0; y <= 9; y++)
                for (int64_t x = 0; x <= 70; x++, i++) {
                    const bool edge = x == 0 || x == 70 || y == 0 || y == 9 || z == 0 || z == 12;
                    f.distance[i] = edge ? 3 : (float)floor(random_in(20, (uint64_t)i, rough ? -2 : -4, 3));
                }
        CHECK_OK(sp_isosurface(&context, &f, 0, NULL, &level));
        CHECK(level.triangle_count > 1000 && is_manifold(&level), "noise: %lld triangles",
              (long long)level.triangle_count);
        double least = INFINITY;
        for (int64_t t = 0; t < level.triangle_count; t++) {
            const double *a = level.vertices + 3 * level.triangles[3 * t],
                         *b = level.vertices + 3 * level.triangles[3 * t + 1],
                         *c = level.vertices + 3 * level.triangles[3 * t + 2];
            double n[3], square = 0;
            for (int k = 0; k < 3; k++) {
                const int p = (k + 1) % 3, q = (k + 2) % 3;
                n[k] = (b[p] - a[p]) * (c[q] - a[q]) - (b[q] - a[q]) * (c[p] - a[p]);
                square += n[k] * n[k];
            }
            least = fmin(least, sqrt(square));
        }
        CHECK(least > 1e-9, "a triangle of area %g", least);
        /* the vertices not above the level are those with positive winding number */
        OWNED_POINTER(sp_winding) *winding;
        int64_t wrong = 0;
        CHECK_OK(sp_winding_new(&context, &level, &winding));
        for (int64_t i = 0; i < sp_field_vertices(&f); i += 61) {
            double x[3];
            place_of(&f, i, x);
            wrong += (f.distance[i] <= 0) != (sp_winding_number(winding, x, 0) >= 0.5);
        }
        CHECK(wrong == 0, "%lld vertices on the wrong side", (long long)wrong);
        sp_surface_free(&level);
    }
}

/* Powers of two scale every number exactly; a distant origin changes only rounding. */
TEST(scales)
{
    OWNED(sp_surface) s = ugly_soup();
    made one = make(&s, 17, SP_FIELD_AUTO);
    for (int e = -60; e <= 60; e += 40) {
        OWNED(sp_surface) scaled = ugly_soup();
        for (int64_t i = 0; i < 3 * scaled.vertex_count; i++)
            scaled.vertices[i] = ldexp(scaled.vertices[i], e);
        made m = make(&scaled, 17, SP_FIELD_AUTO);
        int64_t wrong = 0;
        for (int64_t i = 0; i < sp_field_vertices(&m.field); i++)
            wrong += m.field.distance[i] != ldexpf(one.field.distance[i], e);
        CHECK(wrong == 0, "2^%d: %lld distances are not scaled", e, (long long)wrong);
        sp_field_free(&m.field);
    }
    sp_field_free(&one.field);
    for (int64_t i = 0; i < 3 * s.vertex_count; i++)
        s.vertices[i] += 1e6;
    made far = make(&s, 9, SP_FIELD_UNSIGNED);
    CHECK(worst_distance(&s, &far.field, 1) <= 1e-7, "far from the origin: %g", worst_distance(&s, &far.field, 1));
    sp_field_free(&far.field);
}

TEST(refusals)
{
    OWNED(sp_surface) s = new_surface(3, 2);
    made m;
    sp_distance_parameters p = {.cells = 4, .scale = 1.5};
    s.vertex_count = 3;
    CHECK(sp_distance_field(&context, &s, &p, &m.field, &m.report) == SP_INPUT &&
              strstr(context.message, "no triangles"),
          "%s", context.message);
    add_triangle(&s, 0, 1, 2);
    CHECK(sp_distance_field(&context, &s, &p, &m.field, &m.report) == SP_INPUT && strstr(context.message, "no extent"),
          "%s", context.message);
    s.vertices[3] = 1e35;
    CHECK(sp_distance_field(&context, &s, &p, &m.field, &m.report) == SP_INPUT &&
              strstr(context.message, "single precision"),
          "%s", context.message);
    s.vertices[3] = 1;
    s.vertices[0] = 1 + 1e-14;
    s.vertices[6] = 1;
    CHECK(sp_distance_field(&context, &s, &p, &m.field, &m.report) == SP_INPUT && strstr(context.message, "too small"),
          "%s", context.message);
    s.vertices[0] = 0;
    p.cells = 4096;
    p.cube = true;
    CHECK(sp_distance_field(&context, &s, &p, &m.field, &m.report) == SP_INPUT && strstr(context.message, "2^31"), "%s",
          context.message);
    p.cells = 0;
    CHECK(sp_distance_field(&context, &s, &p, &m.field, &m.report) == SP_USAGE, "%s", context.message);
    p.cells = 2;
    p.scale = 0.5;
    CHECK(sp_distance_field(&context, &s, &p, &m.field, &m.report) == SP_USAGE, "%s", context.message);
    /* a degenerate triangle alone: a segment has distances, but no inside; a box of one cell across */
    p.scale = 1.5;
    p.cube = false;
    CHECK_OK(sp_distance_field(&context, &s, &p, &m.field, &m.report));
    CHECK(m.report.inside == 0 && m.field.cells[0] == 2 && m.field.cells[1] == 1 && m.field.cells[2] == 1,
          "%lld inside", (long long)m.report.inside);
    CHECK(worst_distance(&s, &m.field, 1) <= 1e-7, "%g", worst_distance(&s, &m.field, 1));
    sp_field_free(&m.field);
}

TEST(threads)
{
    sp_surface models[2] = {sphere(24), ugly_soup()};
    for (int i = 0; i < 2; i++)
        for (int sign = SP_FIELD_AUTO; sign <= SP_FIELD_OFFSET; sign += SP_FIELD_OFFSET) {
            made m[3];
            for (int t = 0; t < 3; t++) {
                context.threads = t == 2 ? 5 : t + 1;
                m[t] = make(&models[i], 27, (enum sp_field_sign)sign);
            }
            context.threads = 2;
            for (int t = 1; t < 3; t++)
                CHECK(memcmp(m[0].field.distance, m[t].field.distance,
                             (size_t)sp_field_vertices(&m[0].field) * sizeof(float)) == 0 &&
                          m[0].report.sign_tests == m[t].report.sign_tests,
                      "other bytes with other threads");
            for (int t = 0; t < 3; t++)
                sp_field_free(&m[t].field);
        }
    sp_surface_free(&models[0]);
    sp_surface_free(&models[1]);
}

BEFORE_TESTS()
{
    context.threads = 2;
}
