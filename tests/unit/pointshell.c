/* Pointshells: uniformity, levels, surfaces, the tree, motion. */
#include "pointshell/pointshell.h"
#include "field_models.h"
#include "pointshell/boxes.h"
#include "pointshell/order.h"
#include "pointshell/sample.h"
#include "test.h"

static const double CENTRE[3] = {0.1, -0.2, 0.3}; /* of sphere() */

static sp_pointshell_parameters repulsion(int64_t points, int levels)
{
    return (sp_pointshell_parameters){.method = SP_POINTSHELL_REPULSION,
                                      .points = points,
                                      .levels = levels,
                                      .branching = 4,
                                      .cells = 16,
                                      .iterations = 40};
}

static sp_pointshell make(const sp_level *level, const sp_pointshell_parameters *p, sp_pointshell_report *report)
{
    sp_pointshell pointshell;
    CHECK_OK(sp_pointshell_make(&context, level, p, &pointshell, report));
    return pointshell;
}

static double length3(const double *v)
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double apart(const double *a, const double *b)
{
    return length3((double[3]){a[0] - b[0], a[1] - b[1], a[2] - b[2]});
}

/* Random points of a plane have nearest neighbours at distances of a Rayleigh law, whose spread is √(4/π − 1). */
TEST(more_uniform_than_random)
{
    OWNED(sp_surface) s = sphere(24);
    OWNED(sp_level) level;
    sp_pointshell_report report;
    CHECK_OK(sp_level_model(&context, &s, -1, 0, &level));
    CHECK(level.kind == SP_LEVEL_SURFACE && !level.meets_itself, "kind %d", level.kind);
    sp_pointshell_parameters p = repulsion(2125, 4);
    sp_pointshell pointshell = make(&level, &p, &report);
    double total = 0, worst = 0;
    for (int k = 0; k < 4; k++) {
        worst = fmax(worst, report.level[k].spread);
        CHECK(report.level[k].least > 0.5 * report.level[k].spacing, "level %d: %g of %g", k, report.level[k].least,
              report.level[k].spacing);
        /* no lattice of these points is wider than a hexagonal one */
        const double hexagonal = sqrt(2 / sqrt(3) * report.area / (double)pointshell.cumulative[k]);
        CHECK(report.level[k].spacing > 0.8 * hexagonal && report.level[k].spacing < 1.03 * hexagonal, "%g, %g",
              report.level[k].spacing, hexagonal);
    }
    CHECK(worst < 0.1, "spread %g", worst);
    for (int64_t i = 0; i < pointshell.count; i++)
        total += pointshell.area[i];
    CHECK_NEAR(total, report.area, 1e-12 * report.area);
    CHECK_NEAR(report.area, 4 * PI, 0.02 * 4 * PI);
    CHECK(report.gap < report.level[3].spacing, "gap %g", report.gap);
    sp_pointshell_free(&pointshell);
    p.method = SP_POINTSHELL_SAMPLES;
    pointshell = make(&level, &p, &report);
    const double of_random = report.level[pointshell.levels - 1].spread;
    CHECK_NEAR(of_random, sqrt(4 / PI - 1), 0.03); /* 2125 of them: its own deviation is about 0.01 */
    NOTE("spread %.3f, of random points %.3f", worst, of_random);
    sp_pointshell_free(&pointshell);
}

TEST(levels_times_four_and_frozen)
{
    OWNED(sp_surface) s = torus(24, 12, 1, 0.4);
    OWNED(sp_level) level;
    sp_pointshell_report report;
    CHECK_OK(sp_level_model(&context, &s, -1, 0, &level));
    const sp_pointshell_parameters deep = repulsion(60 * 21, 3), shallow = repulsion(60 * 5, 2),
                                   odd = repulsion(1000, 3);
    sp_pointshell a = make(&level, &deep, &report);
    const double radii[3] = {report.level[0].radius, report.level[1].radius, report.level[2].radius};
    OWNED(sp_pointshell) b = make(&level, &shallow, &report);
    CHECK(a.cumulative[0] == 60 && a.cumulative[1] == 300 && a.cumulative[2] == 1260, "%lld %lld",
          (long long)a.cumulative[0], (long long)a.cumulative[1]);
    CHECK_NEAR(radii[0] / radii[1], 2, 1e-12);
    CHECK_NEAR(radii[1] / radii[2], 2, 1e-12);
    CHECK(!memcmp(a.points, b.points, 900 * sizeof(double)) && !memcmp(a.normals, b.normals, 900 * sizeof(double)),
          "coarse levels moved");
    sp_pointshell_free(&a);
    a = make(&level, &odd, &report);
    for (int k = 1; k < 3; k++) {
        const double before = (double)(a.cumulative[k - 1] - (k > 1 ? a.cumulative[k - 2] : 0)),
                     now = (double)(a.cumulative[k] - a.cumulative[k - 1]);
        CHECK(fabs(now - 4 * before) <= 5, "%g new points after %g", now, before);
    }
    sp_pointshell_free(&a);
}

/* On the model, at an offset, and in fields with distances by formulas. */
TEST(on_the_surface_with_its_normals)
{
    const int rings = 24;
    OWNED(sp_surface) s = sphere(rings);
    sp_pointshell_report report;
    const sp_pointshell_parameters p = repulsion(600, 2);
    for (int offset = 0; offset < 2; offset++) {
        OWNED(sp_level) level;
        CHECK_OK(sp_level_model(&context, &s, offset ? 0.3 : 0, 0, &level));
        OWNED(sp_pointshell) pointshell = make(&level, &p, &report);
        double worst = 0, angle = 1;
        for (int64_t i = 0; i < pointshell.count; i++) {
            const double *x = pointshell.points + 3 * i, *n = pointshell.normals + 3 * i, radius = apart(x, CENTRE);
            double cosine = 0;
            for (int k = 0; k < 3; k++)
                cosine -= n[k] * (x[k] - CENTRE[k]) / radius;
            worst = fmax(worst, fabs(brute_distance(&s, x) - 0.3 * offset));
            angle = fmin(angle, cosine);
            CHECK_NEAR(length3(n), 1, 1e-14);
        }
        /* a facet's corners are within the angle π/rings of its middle */
        CHECK(worst < 1e-10, "offset %d: %g off", offset, worst);
        CHECK(angle > cos(PI / rings), "offset %d: cosine %g", offset, angle);
    }
    for (int is_torus = 0; is_torus < 2; is_torus++) {
        enum { CELLS = 48 };
        OWNED(sp_field) field = {.cells = {CELLS, CELLS, CELLS}, .origin = {-1.6, -1.6, -1.6}, .spacing = 3.2 / CELLS};
        field.distance = sp_pool_new(&field.pool, sp_field_vertices(&field), sizeof(float));
        for (int64_t i = 0; i < sp_field_vertices(&field); i++) {
            double x[3];
            place_of(&field, i, x);
            field.distance[i] = (float)(is_torus ? hypot(hypot(x[0], x[1]) - 1, x[2]) - 0.4 : length3(x) - 1);
        }
        OWNED(sp_level) level;
        CHECK_OK(sp_level_field(&context, &field, 0.05, false, &level));
        OWNED(sp_pointshell) pointshell = make(&level, &p, &report);
        double worst = 0, angle = 1;
        for (int64_t i = 0; i < pointshell.count; i++) {
            const double *x = pointshell.points + 3 * i, *n = pointshell.normals + 3 * i, around = hypot(x[0], x[1]);
            const double out[3] = {is_torus ? x[0] * (1 - 1 / around) : x[0], is_torus ? x[1] * (1 - 1 / around) : x[1],
                                   x[2]};
            worst = fmax(worst, fabs(length3(out) - (is_torus ? 0.45 : 1.05)));
            angle = fmin(angle, -(n[0] * out[0] + n[1] * out[1] + n[2] * out[2]) / length3(out));
        }
        /* linear interpolation of a function with two curvatures 1/ρ: h²/8 (1/ρ + 1/ρ') and then some for the third
         * axis */
        const double h = field.spacing, curvature = is_torus ? 1 / 0.4 + 1 / 0.6 : 2;
        CHECK(worst < h * h / 8 * curvature * 1.5, "field %d: %g off", is_torus, worst);
        CHECK(angle > cos(h * curvature), "field %d: cosine %g", is_torus, angle);
        CHECK(report.off < 1e-9, "%g", report.off);
    }
}

/* A point exactly on an edge or corner has the normal of both sides, however it was found. */
TEST(normals_of_corners)
{
    OWNED(sp_surface) s = new_surface(8, 12);
    add_box(&s, (double[3]){0, 0, 0}, (double[3]){1, 1, 1});
    OWNED(sp_level) level;
    CHECK_OK(sp_level_model(&context, &s, 0, 0, &level));
    double corner[3] = {1, 1, 1}, edge[3] = {1.2, 0.3, 1.2}, normal[3];
    sp_level_project(&level, INFINITY, 0, corner, normal);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(normal[k], -1 / sqrt(3), 1e-12);
    sp_level_project(&level, 0, 0, edge, normal);
    CHECK_NEAR(edge[0], 1, 1e-15);
    CHECK_NEAR(normal[0], -1 / sqrt(2), 1e-12);
    CHECK_NEAR(normal[2], -1 / sqrt(2), 1e-12);
    /* vertices of a cube; lines through the middles of n × n squares meet it twice, along three axes; a layer of voxels
     * on each face */
    OWNED(sp_list) points = {0};
    CHECK_OK(sp_sample_vertices(&context, &s, &points));
    CHECK(points.count == 8, "%lld vertices", (long long)points.count);
    points.count = 0;
    CHECK_OK(sp_sample_depth(&context, &s, 10, &points));
    CHECK(points.count == 6 * 100, "%lld hits", (long long)points.count);
    double worst = 0;
    for (int64_t i = 0; i < points.count; i++)
        worst = fmax(worst, brute_distance(&s, (double *)points.data + 3 * i));
    CHECK(worst < 1e-14, "%g", worst);
    points.count = 0;
    CHECK_OK(sp_sample_voxels(&context, &s, 10, &points));
    CHECK(points.count == 11 * 11 * 11 - 9 * 9 * 9, "%lld voxels", (long long)points.count);
}

/* Equal intervals are equal areas: a square of two triangles beside a long sliver. */
TEST(areas_are_intervals)
{
    OWNED(sp_surface) s = new_surface(7, 3);
    const double x[21] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 5, 0, 0, 25, 0, 0, 5, 0.1, 0};
    memcpy(s.vertices, x, sizeof x);
    s.vertex_count = 7;
    add_triangle(&s, 0, 1, 2);
    add_triangle(&s, 0, 2, 3);
    add_triangle(&s, 4, 5, 6);
    OWNED(sp_area) area;
    CHECK_OK(sp_area_new(&context, &s, &area));
    CHECK_NEAR(sp_area_total(&area), 2, 1e-14);
    enum { COUNT = 4096 };
    int64_t square[16] = {0}, sliver = 0;
    double mean = 0;
    for (int i = 0; i < COUNT; i++) {
        double point[3];
        sp_area_point(&area, (i + 0.5) / COUNT, point);
        if (point[0] < 2)
            square[4 * (int)(4 * point[1]) + (int)(4 * point[0])]++;
        else {
            sliver++;
            mean += point[0] / (COUNT / 2);
        }
    }
    CHECK(sliver == COUNT / 2, "%lld", (long long)sliver);
    CHECK_NEAR(mean, (5 + 25 + 5) / 3.0, 0.05);
    for (int i = 0; i < 16; i++) /* random ones would be 128 ± 11 */
        CHECK(square[i] >= 122 && square[i] <= 134, "%lld in cell %d", (long long)square[i], i);
}

TEST(farthest_order_is_that_of_all_pairs)
{
    enum { COUNT = 500 };
    double points[3 * COUNT], square[COUNT];
    int64_t order[COUNT], wrong = 0;
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 3; k++) /* many equal distances, and some points twice */
            points[3 * i + k] = floor(7 * sp_random_uniform(3, 1, (uint64_t)(3 * i + k)));
    CHECK_OK(sp_farthest_order(&context, COUNT, points, 17, COUNT, order));
    for (int i = 0; i < COUNT; i++)
        square[i] = INFINITY;
    for (int i = 0; i < COUNT; i++) {
        int next = 0;
        for (int j = 1; j < COUNT; j++)
            next = square[j] > square[next] ? j : next;
        next = i == 0 ? 17 : next;
        wrong += order[i] != next;
        square[next] = -1;
        for (int j = 0; j < COUNT; j++) {
            const double d = apart(points + 3 * j, points + 3 * next);
            square[j] = fmin(square[j], d * d);
        }
    }
    CHECK(wrong == 0, "%lld of %d differ", (long long)wrong, COUNT);
}

/* The spheres of a tree, recomputed from the children. */
static void collect(const sp_pointshell *s, int k, int64_t node, int64_t top, double *farthest, double *spread,
                    int64_t *met)
{
    if (k == s->levels) {
        ++*met;
        *farthest = fmax(*farthest, apart(s->points + 3 * node, s->points + 3 * top));
        for (int64_t j = 0; j < s->modes; j++) {
            double square = 0;
            for (int c = 0; c < 3; c++) {
                const double d = s->U[(3 * node + c) * s->modes + j] - s->U[(3 * top + c) * s->modes + j];
                square += d * d;
            }
            spread[j] = fmax(spread[j], sqrt(square));
        }
        return;
    }
    collect(s, k + 1, node, top, farthest, spread, met);
    for (int64_t p = s->cumulative[k - 1]; p < s->cumulative[k]; p++)
        if (s->parent[p] == node)
            collect(s, k + 1, p, top, farthest, spread, met);
}

TEST(trees_by_brute_force)
{
    enum { MODES = 3 };
    OWNED(sp_surface) s = torus(16, 10, 1, 0.4);
    OWNED(sp_level) level;
    sp_pointshell_report report;
    CHECK_OK(sp_level_model(&context, &s, -1, 0, &level));
    for (int method = 0; method < 2; method++) {
        sp_pointshell_parameters p = repulsion(420, method ? 0 : 3);
        p.method = method ? SP_POINTSHELL_FARTHEST : SP_POINTSHELL_REPULSION;
        p.branching = method ? 8 : 4;
        OWNED(sp_pointshell) pointshell = make(&level, &p, &report);
        CHECK(pointshell.levels == 3, "%d levels", pointshell.levels);
        CHECK(!method || (pointshell.cumulative[0] == 8 && pointshell.cumulative[1] == 72), "%lld %lld",
              (long long)pointshell.cumulative[0], (long long)pointshell.cumulative[1]);
        pointshell.modes = MODES;
        pointshell.U = sp_pool_new(&pointshell.pool, 3 * MODES * pointshell.count, sizeof(double));
        for (int64_t i = 0; i < 3 * MODES * pointshell.count; i++)
            pointshell.U[i] = sp_random_normal(5, 2, (uint64_t)i);
        CHECK_OK(sp_pointshell_bounds(&context, &pointshell));
        for (int64_t i = pointshell.cumulative[0]; i < pointshell.count; i++) {
            double best = INFINITY;
            for (int64_t c = 0; c < pointshell.cumulative[sp_pointshell_level_of(&pointshell, i) - 2]; c++)
                best = fmin(best, apart(pointshell.points + 3 * i, pointshell.points + 3 * c));
            CHECK(apart(pointshell.points + 3 * i, pointshell.points + 3 * pointshell.parent[i]) <= best,
                  "parent of %lld", (long long)i);
        }
        for (int k = 1; k < pointshell.levels; k++) {
            int64_t total = 0;
            for (int64_t i = 0; i < pointshell.cumulative[k - 1]; i++) {
                double farthest = 0, spread[MODES] = {0};
                const int64_t node = sp_pointshell_node(&pointshell, k, i);
                collect(&pointshell, k, i, i, &farthest, spread, &total);
                CHECK(pointshell.radius[node] >= farthest && pointshell.radius[node] <= farthest * (1 + 1e-14),
                      "radius %g, %g", pointshell.radius[node], farthest);
                for (int j = 0; j < MODES; j++)
                    CHECK(pointshell.a[MODES * node + j] >= spread[j] &&
                              pointshell.a[MODES * node + j] <= spread[j] * (1 + 1e-14),
                          "a %g, %g", pointshell.a[MODES * node + j], spread[j]);
            }
            CHECK(total == pointshell.count, "level %d holds %lld points", k, (long long)total);
        }
    }
}

/* A hexahedron with skew faces beside a tetrahedron that stands apart. */
static sp_mesh skew_mesh(void)
{
    static const double x[36] = {0,   0,   0, 1, 0.1, 0,   1.2, 1, 0.1, 0, 1, 0, 0.1, 0, 1, 1, 0, 1.2,
                                 0.9, 1.1, 1, 0, 1,   0.9, 3,   0, 0,   4, 0, 0, 3,   1, 0, 3, 0, 1};
    sp_mesh mesh = {.vertex_count = 12, .block[SP_HEX8].count = 1, .block[SP_TET4].count = 1, .quadrature = 2};
    mesh.vertices = sp_pool_copy(&mesh.pool, x, 36, sizeof(double));
    mesh.block[SP_HEX8].node = sp_pool_copy(&mesh.pool, (int64_t[8]){0, 1, 2, 3, 4, 5, 6, 7}, 8, sizeof(int64_t));
    mesh.block[SP_TET4].node = sp_pool_copy(&mesh.pool, (int64_t[4]){8, 9, 10, 11}, 4, sizeof(int64_t));
    return mesh;
}

static sp_pointshell points_of(int64_t count, const double *points, const double *normals)
{
    sp_pointshell pointshell = {.count = count, .levels = 1, .cumulative = {count}};
    pointshell.points = sp_pool_copy(&pointshell.pool, points, 3 * count, sizeof(double));
    pointshell.normals = sp_pool_copy(&pointshell.pool, normals, 3 * count, sizeof(double));
    return pointshell;
}

TEST(motion_by_shape_functions)
{
    enum { MODES = 4, COUNT = 60 };
    OWNED(sp_mesh) mesh = skew_mesh();
    double U[36 * MODES], points[3 * COUNT], normals[3 * COUNT];
    sp_pointshell_motion_report report;
    for (int i = 0; i < COUNT; i++) {
        double n[3];
        for (int k = 0; k < 3; k++) {
            points[3 * i + k] = random_in(11, (uint64_t)(3 * i + k), i < 20 ? 0.15 : -0.5,
                                          i < 20 ? 0.85
                                          : k    ? 1.5
                                                 : 4.5);
            n[k] = sp_random_normal(11, 4, (uint64_t)(3 * i + k));
        }
        for (int k = 0; k < 3; k++)
            normals[3 * i + k] = n[k] / length3(n);
    }
    /* displacements linear in the position are exact, inside and outside */
    double A[MODES][3][4];
    for (int j = 0; j < MODES; j++)
        for (int c = 0; c < 12; c++)
            A[j][c / 4][c % 4] = sp_random_normal(11, 5, (uint64_t)(12 * j + c));
    for (int j = 0; j < MODES; j++)
        for (int i = 0; i < 36; i++) {
            const double *x = mesh.vertices + i / 3 * 3, *row = A[j][i % 3];
            U[36 * j + i] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3];
        }
    OWNED(sp_pointshell) pointshell = points_of(COUNT, points, normals);
    CHECK_OK(sp_pointshell_transfer(&context, &mesh, MODES, U, false, &pointshell, &report));
    double worst = 0, turned = 0;
    for (int i = 0; i < COUNT; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < MODES; j++) {
                const double *row = A[j][k], *x = points + 3 * i, *n = normals + 3 * i;
                worst = fmax(worst, fabs(pointshell.U[(3 * i + k) * MODES + j] -
                                         (row[0] * x[0] + row[1] * x[1] + row[2] * x[2] + row[3])));
                turned = fmax(turned, fabs(pointshell.dN[(3 * i + k) * MODES + j] -
                                           (row[0] * n[0] + row[1] * n[1] + row[2] * n[2])));
            }
    CHECK(worst < 1e-12 && turned < 1e-12, "%g, %g", worst, turned);
    CHECK(report.outside > 10 && report.outside <= 40 && report.gap > 0.1, "%lld outside", (long long)report.outside);
    /* any motion: the change of normals is the derivative of the motion along them. The slope of the error is that of
     * central differences */
    for (int i = 0; i < 36 * MODES; i++)
        U[i] = sp_random_normal(11, 6, (uint64_t)i);
    double error[2] = {0};
    for (int step = 0; step < 2; step++) {
        const double size = step ? 0.005 : 0.01;
        double moved[6 * 20], same[6 * 20];
        for (int i = 0; i < 20; i++)
            for (int k = 0; k < 3; k++) {
                moved[6 * i + k] = points[3 * i + k] + size * normals[3 * i + k];
                moved[6 * i + 3 + k] = points[3 * i + k] - size * normals[3 * i + k];
                same[6 * i + k] = same[6 * i + 3 + k] = normals[3 * i + k];
            }
        OWNED(sp_pointshell) about = points_of(40, moved, same), here = points_of(20, points, normals);
        CHECK_OK(sp_pointshell_transfer(&context, &mesh, MODES, U, false, &about, &report));
        CHECK(report.outside == 0, "%lld outside", (long long)report.outside);
        CHECK_OK(sp_pointshell_transfer(&context, &mesh, MODES, U, false, &here, &report));
        for (int i = 0; i < 20; i++)
            for (int c = 0; c < 3 * MODES; c++) {
                const double slope = (about.U[6 * MODES * i + c] - about.U[6 * MODES * i + 3 * MODES + c]) / (2 * size);
                error[step] = fmax(error[step], fabs(slope - here.dN[3 * MODES * i + c]));
            }
    }
    CHECK(error[0] < 0.05 && error[1] < error[0] / 3, "%g, then %g", error[0], error[1]);
}

/* A turn by 70 degrees: N + dN q is the turned normal (eq. 3.8 is right for rotations of any size). */
TEST(normals_under_rotation)
{
    OWNED(sp_mesh) mesh = skew_mesh();
    const double angle = 70 * PI / 180,
                 turn[3][3] = {{cos(angle), -sin(angle), 0}, {sin(angle), cos(angle), 0}, {0, 0, 1}};
    double U[36];
    for (int i = 0; i < 36; i++) {
        const double *x = mesh.vertices + i / 3 * 3, *row = turn[i % 3];
        U[i] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] - x[i % 3];
    }
    const double point[3] = {0.5, 0.5, 0.5}, normal[3] = {0.6, 0, 0.8};
    OWNED(sp_pointshell) pointshell = points_of(1, point, normal);
    sp_pointshell_motion_report report;
    CHECK_OK(sp_pointshell_transfer(&context, &mesh, 1, U, false, &pointshell, &report));
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(normal[k] + pointshell.dN[k],
                   turn[k][0] * normal[0] + turn[k][1] * normal[1] + turn[k][2] * normal[2], 1e-13);
}

TEST(same_bytes_for_any_threads)
{
    SKIP_UNDER_SANITIZERS("bytes are no matter of sanitizers");
    OWNED(sp_surface) s = torus(20, 10, 1, 0.3);
    sp_pointshell_report report;
    for (int offset = 0; offset < 2; offset++) {
        OWNED(sp_level) level = {0};
        OWNED(sp_pointshell) first = {0};
        CHECK_OK(sp_level_model(&context, &s, offset ? 0.05 : 0, 0, &level));
        const sp_pointshell_parameters p = repulsion(400, 2);
        for (int run = 0; run < 4; run++) {
            context.threads = run == 3 ? 1 : 1 << run;
            context.seed = run == 3 ? 2 : 1;
            sp_pointshell pointshell = make(&level, &p, &report);
            if (run == 0) {
                first = pointshell;
                continue;
            }
            const bool same = !memcmp(first.points, pointshell.points, 1200 * sizeof(double)) &&
                              !memcmp(first.normals, pointshell.normals, 1200 * sizeof(double)) &&
                              !memcmp(first.area, pointshell.area, 400 * sizeof(double)) &&
                              !memcmp(first.parent, pointshell.parent, 400 * sizeof(int64_t));
            CHECK(same == (run < 3), "run %d", run);
            sp_pointshell_free(&pointshell);
        }
        context = sp_context_default();
    }
}

/* Sheets, wires, very many points, and refusals. */
TEST(poor_models)
{
    sp_surface s = new_surface(6, 4);
    const double x[18] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 0, 0.5, 0.5, 0, 0, 0, 0};
    sp_level level;
    sp_pointshell pointshell;
    sp_pointshell_report report;
    memcpy(s.vertices, x, sizeof x);
    s.vertex_count = 6;
    CHECK(sp_level_model(&context, &s, -1, 0, &level) == SP_INPUT && strstr(context.message, "no triangles"), "%s",
          context.message);
    add_triangle(&s, 0, 0, 5);
    CHECK(sp_level_model(&context, &s, -1, 0, &level) == SP_INPUT && strstr(context.message, "extent"), "%s",
          context.message);
    for (int kind = 0; kind < 2; kind++) {
        s.triangle_count = 0;
        if (kind == 0)
            add_triangle(&s, 0, 1, 2); /* a sheet */
        else
            add_triangle(&s, 0, 1, 3); /* no area: a wire */
        CHECK(sp_level_model(&context, &s, 0, 0, &level) == SP_INPUT &&
                  strstr(context.message, kind ? "no area" : "open"),
              "%s", context.message);
        CHECK(sp_level_model(&context, &s, 1e-5, 0, &level) == SP_INPUT && strstr(context.message, "cells"), "%s",
              context.message);
        CHECK_OK(sp_level_model(&context, &s, 0.05, 0, &level));
        CHECK(level.kind == SP_LEVEL_OFFSET, "kind %d", level.kind);
        const sp_pointshell_parameters p = repulsion(3000, 3), few = repulsion(5, 5);
        pointshell = make(&level, &p, &report);
        double worst = 0;
        int64_t up = 0, down = 0;
        for (int64_t i = 0; i < pointshell.count; i++) {
            worst = fmax(worst, fabs(brute_distance(&s, pointshell.points + 3 * i) - 0.05));
            up += pointshell.normals[3 * i + 2] > 0.99;
            down += pointshell.normals[3 * i + 2] < -0.99;
        }
        CHECK(worst < 1e-10, "%g off", worst);
        CHECK(report.level[2].spread < 0.25, "spread %g", report.level[2].spread);
        /* both sides of the sheet, evenly; the area is twice that of the triangle, of half a tube around it, and of a
         * ball: 0.25 + … */
        CHECK(kind || (up > 700 && abs((int)(up - down)) < 0.1 * (double)up), "%lld up, %lld down", (long long)up,
              (long long)down);
        const double area =
            kind ? 2 * PI * 0.05 * 2 + 4 * PI * 0.0025 : 1 + PI * 0.05 * (2 + sqrt(2)) + 4 * PI * 0.0025;
        CHECK_NEAR(report.area, area, 0.02 * area);
        sp_pointshell_free(&pointshell);
        CHECK(sp_pointshell_make(&context, &level, &few, &pointshell, &report) == SP_USAGE &&
                  strstr(context.message, "too few"),
              "%s", context.message);
        sp_level_free(&level);
    }
    sp_surface_free(&s);
    /* parts that overlap: the points inside would be wrong */
    s = new_surface(16, 24);
    add_box(&s, (double[3]){0, 0, 0}, (double[3]){1, 1, 1});
    add_box(&s, (double[3]){0.5, 0.3, 0.2}, (double[3]){1.7, 0.8, 0.9});
    CHECK_OK(sp_level_model(&context, &s, -1, 0, &level));
    CHECK(level.kind == SP_LEVEL_OFFSET && level.meets_itself, "kind %d", level.kind);
    const sp_pointshell_parameters one = repulsion(1, 0), many = repulsion(800, 2);
    pointshell = make(&level, &many, &report);
    int64_t buried = 0;
    for (int64_t i = 0; i < pointshell.count; i++) {
        const double *y = pointshell.points + 3 * i;
        buried += y[0] > 0 && y[0] < 1 && y[1] > 0 && y[1] < 1 && y[2] > 0 && y[2] < 1;
    }
    CHECK(buried == 0, "%lld points inside", (long long)buried);
    sp_pointshell_free(&pointshell);
    pointshell = make(&level, &one, &report);
    CHECK(pointshell.count == 1 && pointshell.levels == 1 && report.level[0].spread == 0, "%lld",
          (long long)pointshell.count);
    sp_pointshell_free(&pointshell);
    sp_level_free(&level);
    sp_surface_free(&s);
}
