/* Distances for contact: shapes, grids, deformed grids, voxmaps. */
#include <float.h>

#include "bodies.h"
#include "contact/deformed.h"
#include "contact/voxmap.h"
#include "field_models.h"
#include "test.h"

OWNER(sp_deformed_field)
OWNER(sp_voxmap)

typedef double shape(const double x[3]);

static sp_field field_of(shape *f, int64_t nx, int64_t ny, int64_t nz, double x, double y, double z, double spacing)
{
    sp_field field = {.cells = {nx, ny, nz}, .origin = {x, y, z}, .spacing = spacing};
    field.distance = sp_pool_new(&field.pool, sp_field_vertices(&field), sizeof(float));
    for (int64_t i = 0; i < sp_field_vertices(&field); i++) {
        double at[3];
        place_of(&field, i, at);
        field.distance[i] = (float)f(at);
    }
    return field;
}

static double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double apart(const double a[3], const double b[3])
{
    return length3((double[3]){a[0] - b[0], a[1] - b[1], a[2] - b[2]});
}

static double ball(const double x[3])
{
    return length3(x) - 0.8;
}

static double ring(const double x[3])
{
    return hypot(hypot(x[0], x[1]) - 0.9, x[2]) - 0.35;
}

/* The distance of a solid box, exact outside, on the surface and inside. */
static double block(const double x[3], const double low[3], const double high[3])
{
    double gap[3], deepest = -INFINITY;
    for (int k = 0; k < 3; k++) {
        const double d = fmax(low[k] - x[k], x[k] - high[k]);
        gap[k] = fmax(d, 0);
        deepest = fmax(deepest, d);
    }
    return deepest > 0 ? length3(gap) : deepest;
}

static void random_point(uint64_t stream, int64_t i, double low, double high, double x[3])
{
    for (int k = 0; k < 3; k++)
        x[k] = random_in(stream, (uint64_t)(3 * i + k), low, high);
}

/* ---- shapes ---- */

static const sp_distance PLANE = {.kind = SP_DISTANCE_PLANE, .normal = {2.0 / 7, -3.0 / 7, 6.0 / 7}, .offset = 0.3};
static const sp_distance SPHERE = {.kind = SP_DISTANCE_SPHERE, .centre = {0.1, -0.2, 0.3}, .radius = 0.7};
static const sp_distance BOX = {.kind = SP_DISTANCE_BOX, .centre = {0.1, -0.2, 0.3}, .half = {0.5, 0.9, 0.3}};

/* The plane: by the projection of the point. The sphere: by its radius. The box: by the nearest of twelve triangles. */
static double measured(const sp_distance *d, const sp_surface *twelve, const double x[3])
{
    if (d->kind == SP_DISTANCE_SPHERE)
        return sqrt(pow(x[0] - 0.1, 2) + pow(x[1] + 0.2, 2) + pow(x[2] - 0.3, 2)) - 0.7;
    if (d->kind == SP_DISTANCE_BOX) {
        const bool inside = fabs(x[0] - 0.1) <= 0.5 && fabs(x[1] + 0.2) <= 0.9 && fabs(x[2] - 0.3) <= 0.3;
        return inside ? -brute_distance(twelve, x) : brute_distance(twelve, x);
    }
    /* 2x − 3y + 6z = 2.1, from (0, 0, 0.35) */
    return (2 * x[0] - 3 * x[1] + 6 * (x[2] - 0.35)) / 7;
}

TEST(shapes_by_other_formulas)
{
    enum { COUNT = 3000 };
    const sp_distance *all[3] = {&PLANE, &SPHERE, &BOX};
    OWNED(sp_surface) twelve = new_surface(8, 12);
    add_box(&twelve, (double[3]){-0.4, -1.1, 0}, (double[3]){0.6, 0.7, 0.6});
    for (int s = 0; s < 3; s++) {
        double worst = 0, unit = 0, steepest = 0, error[2] = {0};
        for (int i = 0; i < COUNT; i++) {
            double x[3], y[3], gradient[3];
            bool smooth = true;
            random_point(20, i, -2, 2, x);
            random_point(21, i, -2, 2, y);
            const double value = sp_distance_at(all[s], x, gradient);
            CHECK(value == sp_distance_at(all[s], x, NULL), "%g", value);
            worst = fmax(worst, fabs(value - measured(all[s], &twelve, x)));
            unit = fmax(unit, fabs(length3(gradient) - 1));
            steepest = fmax(steepest, fabs(value - sp_distance_at(all[s], y, NULL)) / apart(x, y));
            /* away from the centre of the sphere, from the faces of the box (where second derivatives jump) and from
             * its medial planes */
            double depth[3];
            for (int k = 0; k < 3; k++) {
                depth[k] = BOX.half[k] - fabs(x[k] - BOX.centre[k]);
                smooth &= s == 1 ? apart(x, SPHERE.centre) > 0.1
                                 : s == 0 || (fabs(depth[k]) > 0.05 && fabs(depth[k] - BOX.half[k]) > 0.05);
            }
            for (int k = 0; k < 3; k++)
                smooth &= s != 2 || fabs(depth[k] - depth[(k + 1) % 3]) > 0.05;
            for (int step = 0; step < 2 && smooth; step++)
                for (int k = 0; k < 3; k++) {
                    const double h = step ? 0.005 : 0.01;
                    double up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
                    up[k] += h;
                    down[k] -= h;
                    const double slope =
                        (sp_distance_at(all[s], up, NULL) - sp_distance_at(all[s], down, NULL)) / (2 * h);
                    error[step] = fmax(error[step], fabs(slope - gradient[k]));
                }
        }
        CHECK(worst < 4e-15, "shape %d: %g", s, worst);
        CHECK(unit < 1e-15, "shape %d: %g", s, unit);
        CHECK(steepest < 1 + 1e-12, "shape %d: %g", s, steepest);
        /* h²/6 of third derivatives below 3/d², d > 0.1 or √2·0.05 */
        const bool small = s == 0 ? error[0] < 1e-13 : error[0] < 1e-4 / 6 * 3 / 0.005 && error[1] < error[0] / 3.8;
        CHECK(small, "shape %d: %g, %g", s, error[0], error[1]);
        NOTE("shape %d: differences %.1e, %.1e", s, error[0], error[1]);
    }
    /* where several gradients are possible, the result is one of them */
    double gradient[3];
    CHECK(sp_distance_at(&SPHERE, SPHERE.centre, gradient) == -0.7, "sphere");
    CHECK_NEAR(length3(gradient), 1, 1e-15);
    CHECK_NEAR(sp_distance_at(&BOX, BOX.centre, gradient), -0.3, 1e-16);
    CHECK(fabs(gradient[2]) == 1 && gradient[0] == 0 && gradient[1] == 0, "%g %g %g", gradient[0], gradient[1],
          gradient[2]);
}

TEST(any_numbers)
{
    static const double extreme[12] = {0,     -0.0,   1,     -1,     1e-320,  -4e-200,
                                       1e155, -1e160, 1e300, -1e300, DBL_MAX, -DBL_MAX};
    OWNED(sp_field) field = field_of(ball, 8, 8, 8, -1, -1, -1, 0.25);
    sp_distance grid;
    sp_distance_of_field(&field, &grid);
    OWNED_POINTER(sp_voxmap) *voxmap = NULL;
    CHECK_OK(sp_voxmap_new(&context, &field, &voxmap));
    const sp_distance voxels = {.kind = SP_DISTANCE_VOXMAP, .voxmap = voxmap};
    sp_distance origin = SPHERE; /* its centre is 0, so that tiny numbers matter */
    memset(origin.centre, 0, sizeof origin.centre);
    const sp_distance *all[6] = {&PLANE, &SPHERE, &BOX, &grid, &voxels, &origin};
    for (int s = 0; s < 6; s++) {
        double gradient[3];
        int64_t wrong = 0;
        double worst = 0;
        for (int i = 0; i < 12 * 12 * 12; i++) {
            const double x[3] = {extreme[i % 12], extreme[i / 12 % 12], extreme[i / 144]};
            const double value = sp_distance_at(all[s], x, gradient);
            const bool unit = fabs(length3(gradient) - 1) < 1e-15, zero = length3(gradient) == 0;
            wrong += !isfinite(value) || (s < 3 || s == 5 ? !unit : s == 4 ? !zero : !(length3(gradient) < 1.8));
            if (s != 1 && s != 5)
                continue;
            /* in numbers of a wider range */
            const long double *nothing = (long double[3]){0, 0, 0},
                              *middle = s == 1 ? (long double[3]){0.1L, -0.2L, 0.3L} : nothing;
            long double square = 0;
            for (int k = 0; k < 3; k++)
                square += ((long double)x[k] - middle[k]) * ((long double)x[k] - middle[k]);
            const long double expected = fminl(sqrtl(square), (long double)DBL_MAX) - 0.7L;
            worst = fmax(worst, (double)(fabsl((long double)value - expected) / (fabsl(expected) + 0.7L)));
        }
        CHECK(wrong == 0, "kind %d: %lld", s, (long long)wrong);
        CHECK(worst < 1e-15, "kind %d: %g", s, worst);
        for (int i = 0; i < 9; i++) {
            double x[3] = {0.1, 0.2, 0.3};
            x[i % 3] = i < 3 ? NAN : i < 6 ? INFINITY : -INFINITY;
            const double value = sp_distance_at(all[s], x, gradient);
            CHECK(value == INFINITY, "kind %d: %g", s, value);
            CHECK(length3(gradient) == 0, "kind %d: %g", s, length3(gradient));
            x[(i + 1) % 3] = 1e300;
            CHECK(sp_distance_at(all[s], x, NULL) > 0, "kind %d", s);
        }
    }
}

/* ---- grids ---- */

/* Bounds of a signed distance: inside the box of the field the interpolant; outside a lower bound, thesis eq. 3.14, the
 * distance to the box and the least distance on its surface. */
static double field_estimate(const sp_field *field, double boundary, const double point[3])
{
    double square = 0;
    for (int k = 0; k < 3; k++) {
        const double below = field->origin[k] - point[k], above = -below - field->spacing * (double)field->cells[k];
        const double gap = fmax(0, fmax(below, above));
        square += gap * gap;
    }
    return square > 0 ? sqrt(square) + boundary : sp_field_interpolate(field, point, NULL);
}

static double noise(const double x[3])
{
    uint64_t bits[3];
    memcpy(bits, x, sizeof bits);
    return 2 * sp_random_uniform(9, 1, bits[0] ^ bits[1] * 3 ^ bits[2] * 7) - 1;
}

TEST(lookups_are_interpolants)
{
    enum { COUNT = 20000 };
    OWNED(sp_field) field = field_of(noise, 7, 5, 9, -0.3, 0.2, 1.1, 0.1);
    sp_distance d;
    sp_distance_of_field(&field, &d);
    CHECK(d.boundary == sp_field_boundary(&field) && d.kind == SP_DISTANCE_GRID && d.field == &field, "boundary %g",
          d.boundary);
    CHECK(d.slack > sqrt(3) * 0.1 && d.slack < 1.00001 * sqrt(3) * 0.1, "slack %g", d.slack);
    double worst = 0, sloped = 0, differed = 0, beyond = 0;
    int64_t inside = 0, outside = 0;
    for (int i = 0; i < COUNT; i++) {
        double x[3], gradient[3], expected[3], up[3], down[3];
        bool within = true, clear = true;
        for (int k = 0; k < 3; k++) {
            const double n = (double)field.cells[k];
            double t = random_in(22, (uint64_t)(3 * i + k), i % 2 ? 0 : -1, i % 2 ? n : n + 1);
            t = i % 5 == 1 ? floor(t + 0.5) : t; /* vertices, edges, the far corner */
            t = i % 5 == 2 && k == i % 3 ? n : t;
            x[k] = field.origin[k] + field.spacing * t;
            within &= x[k] >= field.origin[k] && x[k] <= field.origin[k] + field.spacing * n;
            clear &= fabs(t - floor(t) - 0.5) < 0.4;
        }
        const double value = sp_distance_at(&d, x, gradient);
        CHECK(value == sp_distance_lookup(&d, x) && value == sp_distance_at(&d, x, NULL), "%g", value);
        if (!within || (value != 0 && length3(gradient) == 0)) {
            /* rounding decides whether faces of the box are inside or outside */
            const double estimate = field_estimate(&field, d.boundary, x);
            outside++;
            beyond = fmax(beyond, fmin(fabs(value - estimate), fabs(value - sp_field_interpolate(&field, x, NULL))));
            continue;
        }
        inside++;
        worst = fmax(worst, fabs(value - sp_field_interpolate(&field, x, expected)));
        if (!clear)
            continue;
        for (int k = 0; k < 3; k++) {
            sloped = fmax(sloped, fabs(gradient[k] - expected[k]));
            memcpy(up, x, sizeof up);
            memcpy(down, x, sizeof down);
            up[k] += 0.005;
            down[k] -= 0.005;
            differed = fmax(differed,
                            fabs(gradient[k] - (sp_distance_at(&d, up, NULL) - sp_distance_at(&d, down, NULL)) / 0.01));
        }
    }
    /* t is rounded by a few 1e-16 of 20 cells (the origin is 11 cells away), values differ by up to 2 from vertex to
     * vertex */
    const double rounding = 3 * 2 * 20 * 4 * DBL_EPSILON;
    CHECK(worst < rounding, "%g", worst);
    CHECK(sloped < 4 * rounding / field.spacing, "%g", sloped);
    CHECK(differed < rounding / 0.005, "%g", differed); /* linear along each axis */
    CHECK(beyond < rounding, "%g", beyond);
    CHECK(inside > COUNT / 2 && outside > COUNT / 10, "%lld inside, %lld outside", (long long)inside,
          (long long)outside);
}

/* A sphere whose vertices are moved inwards and outwards. */
static sp_surface star(void)
{
    sp_surface s = sphere(10);
    for (int64_t v = 0; v < s.vertex_count; v++) {
        const double factor = random_in(23, (uint64_t)v, 0.3, 1.3);
        for (int k = 0; k < 3; k++)
            s.vertices[3 * v + k] *= factor;
    }
    return s;
}

/* Particles smaller than a cell, at distances of a few cells. */
static double sand(const double x[3])
{
    double least = INFINITY;
    for (int i = 0; i < 150; i++) {
        double c[3];
        random_point(26, i, -0.9, 0.9, c);
        least = fmin(least, apart(x, c) - 0.04);
    }
    return least;
}

TEST(slack_is_enough)
{
    enum { COUNT = 300000 };
    for (int kind = 0; kind < 3; kind++) {
        OWNED(sp_surface) s = star();
        sp_field field =
            field_of(kind ? sand : ball, 22, 22, 22, -1.1, -1.1, -1.1, 0.1); /* the ball's centre on a vertex */
        if (kind == 2) {
            const sp_distance_parameters p = {.cells = 24, .scale = 1.2, .cube = true, .sign = SP_FIELD_PSEUDONORMAL};
            sp_distance_report report;
            sp_field_free(&field);
            CHECK_OK(sp_distance_field(&context, &s, &p, &field, &report));
        }
        sp_distance d;
        sp_distance_of_field(&field, &d);
        const double side = field.spacing * (double)field.cells[0];
        double most = -INFINITY, steepest = 0;
        int64_t short_of = 0, across = 0;
        for (int i = 0; i < COUNT; i++) {
            double x[3], y[3], gradient[3];
            for (int k = 0; k < 3; k++)
                y[k] = field.origin[k] + side * sp_random_uniform(24, 1, (uint64_t)(3 * i + k));
            const double low = sp_distance_at(&d, y, gradient), slope = length3(gradient);
            for (int k = 0; k < 3; k++) /* anywhere, near the surface, or where the distance is steepest */
                x[k] = y[k] + (i % 3 == 2
                                   ? 3 * field.spacing * sp_random_uniform(24, 2, (uint64_t)i) * gradient[k] / slope
                                   : random_in(25, (uint64_t)(3 * i + k), -1, 1) * (i % 3 ? 2 * field.spacing : side));
            const double gain = sp_distance_at(&d, x, NULL) - apart(x, y) - low;
            across += x[0] < field.origin[0] || x[1] < field.origin[1] || x[2] < field.origin[2];
            short_of += gain > d.slack;
            most = fmax(most, gain);
            steepest = fmax(steepest, slope);
        }
        CHECK(short_of == 0, "%lld pairs", (long long)short_of);
        CHECK(across > COUNT / 20, "%lld pairs across the box", (long long)across);
        if (kind == 0) { /* from its centre to the middle of a cell: values h, √2 h and √3 h grow by more than ½√3 h */
            const double x[3] = {0.05, 0.05, 0.05}, y[3] = {0, 0, 0};
            const double gain = sp_distance_at(&d, x, NULL) - sp_distance_at(&d, y, NULL) - apart(x, y);
            CHECK_NEAR(gain, 0.1 * (0.375 + 0.375 * sqrt(2) + 0.125 * sqrt(3) - 0.5 * sqrt(3)),
                       1e-7); /* single precision */
            most = fmax(most, gain);
        }
        CHECK(most > 0.02 * d.slack && steepest > 1.2, "%g of %g, slope %g", most, d.slack,
              steepest); /* otherwise slack is not tested */
        NOTE("field %d: %.3f of the slack used, slopes up to %.3f", kind, most / d.slack, steepest);
        sp_field_free(&field);
    }
}

/* ---- deformed grids ---- */

enum { AFFINE = 12 };

/* Nine linear fields and three translations on a mesh. */
static void affine_basis(const sp_mesh *mesh, double *U)
{
    for (int j = 0; j < AFFINE; j++)
        for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
            U[3 * mesh->vertex_count * j + i] = i % 3 != j / 4 ? 0 : j % 4 < 3 ? mesh->vertices[i / 3 * 3 + j % 4] : 1;
}

static void affine_place(const double *q, const double X[3], double x[3])
{
    for (int i = 0; i < 3; i++)
        x[i] = X[i] + q[4 * i] * X[0] + q[4 * i + 1] * X[1] + q[4 * i + 2] * X[2] + q[4 * i + 3];
}

/* x ↦ R(x − c) + c about (0.3, 0.1, −0.4). */
static void rotation(double angle, double R[3][3], double *q)
{
    const double axis[3] = {2.0 / 7, 3.0 / 7, -6.0 / 7}, c[3] = {0.3, 0.1, -0.4};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int other = 3 - i - k;
            const double cross = i == k ? 0 : (k == (i + 1) % 3 ? -1 : 1) * axis[other];
            R[i][k] = (i == k) * cos(angle) + (1 - cos(angle)) * axis[i] * axis[k] + sin(angle) * cross;
        }
    for (int i = 0; i < 3; i++) {
        q[4 * i + 3] = c[i];
        for (int k = 0; k < 3; k++) {
            q[4 * i + k] = R[i][k] - (i == k);
            q[4 * i + 3] -= R[i][k] * c[k];
        }
    }
}

/* Six elements a side over [−1.5, 1.5]³, or skew ones. */
static sp_mesh cube_mesh(double distort)
{
    sp_mesh mesh;
    make_box(6, 6, 6, 0.5, distort, &mesh);
    for (int64_t i = 0; i < 3 * mesh.vertex_count; i++)
        mesh.vertices[i] -= 1.5;
    return mesh;
}

static sp_deformed_field *deformed_of(const sp_mesh *mesh, int64_t r, const double *U, const sp_field *field,
                                      int64_t count, const double *points, int nearest)
{
    sp_deformed_field *d = NULL;
    const sp_deformed_domain domain = {field, count, points};
    CHECK_OK(sp_deformed_field_new(&context, mesh, r, U, 1, &domain, nearest, &d));
    return d;
}

/* At q = 0 and for every affine motion all proxies map a point back to the same place. */
TEST(affine_motions_are_exact)
{
    enum { PROXIES = 40, COUNT = 2000 };
    OWNED(sp_mesh) mesh = cube_mesh(0.2);
    OWNED(sp_field) field = field_of(ring, 30, 28, 26, -1.5, -1.4, -1.3, 0.1);
    sp_distance rest;
    sp_distance_of_field(&field, &rest);
    double *U = test_new(3 * mesh.vertex_count * AFFINE, sizeof *U), points[3 * PROXIES], q[AFFINE];
    affine_basis(&mesh, U);
    for (int i = 0; i < PROXIES; i++)
        random_point(30, i, i % 4 ? -1.4 : -2.2, i % 4 ? 1.4 : 2.2, points + 3 * i); /* some points are in no element */
    static const int nearest[4] = {1, 2, 5, SP_DEFORMED_NEAREST};
    for (int n = 0; n < 4; n++) {
        OWNED_POINTER(sp_deformed_field) *d = deformed_of(&mesh, AFFINE, U, &field, PROXIES, points, nearest[n]);
        for (int motion = 0; motion < 7; motion++) {
            double R[3][3], worst = 0, turned = 0;
            for (int j = 0; j < AFFINE; j++)
                q[j] = motion ? random_in(31, (uint64_t)(AFFINE * motion + j), -0.4, 0.4) : 0;
            if (motion > 3)
                rotation(0.9 * motion, R, q);
            if (motion > 0) /* otherwise as it was made */
                sp_deformed_field_update(d, q);
            for (int i = 0; i < COUNT; i++) {
                double X[3], x[3], gradient[3], slope[3];
                random_point(32, i, -2, 2, X);
                affine_place(q, X, x);
                const double value = sp_deformed_field_at(d, x, gradient, NULL);
                worst = fmax(worst, fabs(value - sp_distance_at(&rest, X, slope)));
                for (int k = 0; k < 3 && motion > 3; k++)
                    turned =
                        fmax(turned, fabs(gradient[k] - R[k][0] * slope[0] - R[k][1] * slope[1] - R[k][2] * slope[2]));
            }
            /* 1e-15 of positions, times |F⁻¹| and |∇d|, both below 10 */
            CHECK(worst < 1e-12, "k = %d, motion %d: %g", nearest[n], motion, worst);
            CHECK(turned < 1e-10, "k = %d, motion %d: %g", nearest[n], motion, turned);
        }
    }
    /* of a rotated ball about c, the true distance */
    OWNED(sp_field) round = field_of(ball, 30, 30, 30, -1.5, -1.5, -1.5, 0.1);
    OWNED_POINTER(sp_deformed_field) *d = deformed_of(&mesh, AFFINE, U, &round, PROXIES, points, 5);
    double R[3][3], centre[3], worst = 0;
    rotation(2, R, q);
    sp_deformed_field_update(d, q);
    affine_place(q, (double[3]){0, 0, 0}, centre);
    for (int i = 0; i < COUNT; i++) {
        double X[3], x[3];
        random_point(33, i, -1.4, 1.4, X);
        affine_place(q, X, x);
        worst = fmax(worst, fabs(sp_deformed_field_at(d, x, NULL, NULL) - (apart(x, centre) - 0.8)));
    }
    CHECK(worst < 0.5 * sqrt(3) * 0.1 + 1e-6, "%g", worst);
    CHECK(apart(centre, (double[3]){0, 0, 0}) > 0.3, "%g", centre[0]);
}

/* Displacement and its gradient at a point of cube_mesh(0) for coordinates q, by weights (1 − s)(1 − t)(1 − u), …: [4,
 * 3]. */
static void cube_motion(const sp_mesh *mesh, int64_t r, const double *U, const double *q, const double X[3],
                        double u[12])
{
    int64_t cell[3];
    double t[3];
    memset(u, 0, 12 * sizeof *u);
    for (int k = 0; k < 3; k++) {
        cell[k] = (int64_t)floor((X[k] + 1.5) / 0.5);
        t[k] = (X[k] + 1.5) / 0.5 - (double)cell[k];
    }
    for (int c = 0; c < 8; c++) {
        const int64_t v = ((cell[2] + (c >> 2)) * 7 + cell[1] + (c >> 1 & 1)) * 7 + cell[0] + (c & 1);
        double factor[3], weight[4];
        for (int k = 0; k < 3; k++)
            factor[k] = c >> k & 1 ? t[k] : 1 - t[k];
        weight[0] = factor[0] * factor[1] * factor[2];
        for (int k = 0; k < 3; k++)
            weight[k + 1] = (c >> k & 1 ? 2 : -2) * factor[(k + 1) % 3] * factor[(k + 2) % 3];
        for (int64_t j = 0; j < r; j++)
            for (int w = 0; w < 4; w++)
                for (int i = 0; i < 3; i++)
                    u[3 * w + i] += weight[w] * U[3 * mesh->vertex_count * j + 3 * v + i] * q[j];
    }
}

/* Eq. 3.17: the distance of x by one proxy, and the distance of that proxy. */
static double one_says(const sp_mesh *mesh, int64_t r, const double *U, const double *q, const sp_field *field,
                       const double P[3], const double x[3], double *far)
{
    double u[12], F[9], offset[3], X[3];
    cube_motion(mesh, r, U, q, P, u);
    for (int a = 0; a < 3; a++) {
        offset[a] = x[a] - P[a] - u[a];
        for (int b = 0; b < 3; b++)
            F[3 * a + b] = (a == b) + u[3 * (b + 1) + a];
    }
    /* Cramer's rule */
    const double det =
        F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) + F[2] * (F[3] * F[7] - F[4] * F[6]);
    for (int a = 0; a < 3; a++) {
        double G[9];
        memcpy(G, F, sizeof G);
        for (int b = 0; b < 3; b++)
            G[3 * b + a] = offset[b];
        X[a] = P[a] + (G[0] * (G[4] * G[8] - G[5] * G[7]) - G[1] * (G[3] * G[8] - G[5] * G[6]) +
                       G[2] * (G[3] * G[7] - G[4] * G[6])) /
                          det;
    }
    *far = length3(offset);
    return sp_field_interpolate(field, X, NULL);
}

typedef struct literal {
    double value;
    int64_t nearest, set; /* set: a number for the k nearest */
} literal;

/* Eq. 3.16 as printed. */
static literal by_hand(const sp_mesh *mesh, int64_t r, const double *U, const double *q, const sp_field *field,
                       int count, const double *points, int k, const double x[3])
{
    double distance[64], d[64], total = 0;
    int order[64];
    literal found = {0};
    for (int i = 0; i < count; i++) {
        d[i] = one_says(mesh, r, U, q, field, points + 3 * i, x, &distance[i]);
        int to = i;
        for (; to > 0 && distance[order[to - 1]] > distance[i]; to--)
            order[to] = order[to - 1];
        order[to] = i;
    }
    const double most = 1 / distance[order[k - 1]];
    for (int i = 0; i < k; i++) {
        const double w = (1 / distance[order[i]] - most) / (1 / distance[order[0]] - most);
        found.value += w * d[order[i]];
        total += w;
        found.set |= (int64_t)1 << order[i];
    }
    found.value /= total;
    found.nearest = order[0];
    return found;
}

typedef struct bent {
    sp_mesh mesh;
    sp_field field;
    double *U, q[6], points[3 * 40];
} bent;

/* A randomly bent body with 40 proxies, in a box that is large enough for all positions. */
static bent bent_body(void)
{
    bent b = {.mesh = cube_mesh(0), .field = field_of(ring, 60, 60, 60, -6, -6, -6, 0.2)};
    b.U = test_new(3 * b.mesh.vertex_count * 6, sizeof *b.U);
    /* smooth: quadratic in the position */
    for (int64_t i = 0; i < 3 * b.mesh.vertex_count; i++)
        for (int j = 0; j < 6; j++) {
            const double *X = b.mesh.vertices + i / 3 * 3,
                         *c = (double[3]){random_in(40, (uint64_t)(9 * j + i % 3), -1, 1),
                                          random_in(41, (uint64_t)(9 * j + i % 3), -1, 1),
                                          random_in(42, (uint64_t)(9 * j + i % 3), -1, 1)};
            b.U[3 * b.mesh.vertex_count * j + i] = c[0] * X[j % 3] * X[(j + 1) % 3] + c[1] * X[j % 3] + c[2];
        }
    for (int j = 0; j < 6; j++)
        b.q[j] = random_in(43, (uint64_t)j, -0.25, 0.25);
    for (int i = 0; i < 40; i++) {
        const double u = random_in(44, (uint64_t)(2 * i), 0, 2 * PI),
                     v = random_in(44, (uint64_t)(2 * i + 1), 0, 2 * PI);
        b.points[3 * i] = (0.9 + 0.35 * cos(v)) * cos(u);
        b.points[3 * i + 1] = (0.9 + 0.35 * cos(v)) * sin(u);
        b.points[3 * i + 2] = 0.35 * sin(v);
    }
    return b;
}

static void bent_free(bent *b)
{
    sp_mesh_free(&b->mesh);
    sp_field_free(&b->field);
}

TEST(weights_and_places_by_hand)
{
    OWNED(bent) b = bent_body();
    static const int nearest[5] = {1, 2, 3, 5, 16};
    for (int n = 0; n < 5; n++) {
        OWNED_POINTER(sp_deformed_field) *d = deformed_of(&b.mesh, 6, b.U, &b.field, 40, b.points, nearest[n]);
        sp_deformed_field_update(d, b.q);
        double worst = 0;
        int64_t wrong = 0, proxy;
        for (int i = 0; i < 500; i++) {
            double x[3];
            random_point(45, i, -1.5, 1.5, x);
            /* k = 1 has no weights as printed: 0 / 0 */
            const literal two =
                by_hand(&b.mesh, 6, b.U, b.q, &b.field, 40, b.points, nearest[n] > 1 ? nearest[n] : 2, x);
            worst = fmax(worst, fabs(sp_deformed_field_at(d, x, NULL, &proxy) -
                                     two.value)); /* of two all weight is on the nearer one */
            wrong += proxy != two.nearest;
        }
        CHECK(worst < 1e-12, "k = %d: %g", nearest[n], worst);
        CHECK(wrong == 0, "k = %d: %lld nearest", nearest[n], (long long)wrong);
    }
    /* two domains: the smaller distance and its domain; rows and displacement bound of each proxy */
    const sp_deformed_domain domains[2] = {{&b.field, 25, b.points}, {&b.field, 15, b.points + 75}};
    OWNED_POINTER(sp_deformed_field) *d;
    CHECK_OK(sp_deformed_field_new(&context, &b.mesh, 6, b.U, 2, domains, 5, &d));
    sp_deformed_field_update(d, b.q);
    int64_t counted[2] = {0};
    for (int i = 0; i < 500; i++) {
        double x[3];
        int64_t proxy;
        random_point(45, i, -1.5, 1.5, x);
        const literal one = by_hand(&b.mesh, 6, b.U, b.q, &b.field, 25, b.points, 5, x);
        const literal two = by_hand(&b.mesh, 6, b.U, b.q, &b.field, 15, b.points + 75, 5, x);
        CHECK_NEAR(sp_deformed_field_at(d, x, NULL, &proxy), fmin(one.value, two.value), 1e-12);
        CHECK(proxy == (one.value < two.value ? one.nearest : 25 + two.nearest), "%lld", (long long)proxy);
        counted[one.value < two.value]++;
    }
    CHECK(counted[0] > 50 && counted[1] > 50, "%lld %lld", (long long)counted[0], (long long)counted[1]);
    CHECK(sp_deformed_field_r(d) == 6, "%lld", (long long)sp_deformed_field_r(d));
    for (int j = 0; j < 6; j++) {
        double most = 0, one[6] = {0}, off = 0;
        one[j] = 1;
        for (int i = 0; i < 40; i++) {
            double u[12];
            cube_motion(&b.mesh, 6, b.U, one, b.points + 3 * i, u);
            most = fmax(most, length3(u));
            for (int k = 0; k < 3; k++)
                off = fmax(off, fabs(sp_deformed_field_rows(d, i)[6 * k + j] - u[k]));
        }
        CHECK(off < 1e-13, "mode %d: %g", j, off);
        CHECK_NEAR(sp_deformed_field_reach(d)[j], most, 1e-13);
    }
}

/* The largest change from step to step along six lines in x or q, and how often the k nearest change there. */
static double largest_change(const bent *b, sp_deformed_field *d, int k, bool in_q, int steps, int64_t *changes)
{
    double most = 0;
    for (int line = 0; line < 6; line++) {
        double from[3], to[3], start[6], end[6], before = 0;
        int64_t set = 0;
        random_point(46, 2 * line, -1.2, 1.2, from);
        random_point(46, 2 * line + 1, -1.2, 1.2, to);
        for (int j = 0; j < 6; j++) {
            start[j] = random_in(47, (uint64_t)(6 * line + j), -0.25, 0.25);
            end[j] = random_in(48, (uint64_t)(6 * line + j), -0.25, 0.25);
        }
        for (int i = 0; i <= steps; i++) {
            const double s = (double)i / steps;
            double x[3], q[6];
            for (int c = 0; c < 3; c++)
                x[c] = from[c] + (in_q ? 0.3 : s) * (to[c] - from[c]);
            for (int j = 0; j < 6; j++)
                q[j] = start[j] + (in_q ? s : 0) * (end[j] - start[j]);
            sp_deformed_field_update(d, q);
            const double value = sp_deformed_field_at(d, x, NULL, NULL);
            most = i > 0 ? fmax(most, fabs(value - before)) : most;
            before = value;
            if (!changes)
                continue;
            const literal l = by_hand(&b->mesh, 6, b->U, q, &b->field, 40, b->points, k, x);
            *changes += i > 0 && l.set != set;
            set = l.set;
        }
    }
    return most;
}

/* With a 16th of the step the changes are a 16th; the jumps of k = 1 remain. */
TEST(continuous_in_place_and_deformation)
{
    OWNED(bent) b = bent_body();
    static const int nearest[3] = {1, 5, 8};
    for (int n = 0; n < 3; n++) {
        const int k = nearest[n];
        OWNED_POINTER(sp_deformed_field) *d = deformed_of(&b.mesh, 6, b.U, &b.field, 40, b.points, k);
        for (int in_q = 0; in_q < 2; in_q++) {
            int64_t changes = 0;
            const double coarse = largest_change(&b, d, k, in_q, 1000, &changes),
                         fine = largest_change(&b, d, k, in_q, 16000, NULL);
            CHECK(changes >= (in_q ? 3 : 15), "k = %d: %lld changes", k, (long long)changes);
            CHECK(k == 1 ? fine > coarse / 2 : fine < coarse / 12, "k = %d: %g, then %g", k, coarse, fine);
            NOTE("k = %d along %s: %lld changes of the nearest, by %.1e, then %.1e", k, in_q ? "q" : "x",
                 (long long)changes, coarse, fine);
        }
    }
}

TEST(borders_of_the_weights)
{
    OWNED(bent) b = bent_body();
    sp_distance rest;
    sp_distance_of_field(&b.field, &rest);
    /* at a proxy only that proxy counts, and nearby nearly so */
    sp_deformed_field *d = deformed_of(&b.mesh, 6, b.U, &b.field, 40, b.points, 5);
    sp_deformed_field_update(d, b.q);
    for (int i = 0; i < 40; i++) {
        double p[3], u[12];
        int64_t proxy;
        cube_motion(&b.mesh, 6, b.U, b.q, b.points + 3 * i, u);
        for (int k = 0; k < 3; k++)
            p[k] = b.points[3 * i + k] + u[k];
        const double here = sp_deformed_field_at(d, p, NULL, &proxy);
        CHECK_NEAR(here, sp_distance_at(&rest, b.points + 3 * i, NULL), 1e-12);
        CHECK(proxy == i, "%lld", (long long)proxy);
        for (double size = 1e-3; size > 1e-15; size *= 1e-3) {
            const double x[3] = {p[0] + size, p[1] - size, p[2]};
            CHECK_NEAR(sp_deformed_field_at(d, x, NULL, NULL), here, 50 * size + 1e-12);
        }
    }
    sp_deformed_field_free(d);
    /* exactly at the proxy, at rest */
    double eight[24];
    for (int i = 0; i < 24; i++)
        eight[i] = i / 3 >> i % 3 & 1 ? 0.5 : -0.5;
    d = deformed_of(&b.mesh, 6, b.U, &b.field, 8, eight, 8);
    CHECK_NEAR(sp_deformed_field_at(d, eight + 9, NULL, NULL), sp_distance_at(&rest, eight + 9, NULL), 1e-15);
    sp_deformed_field_free(d);
    /* equally near proxies have equal weights: u = (x|x|, 0, 0) keeps the mirror images of the eight */
    double *U = test_new(3 * b.mesh.vertex_count, sizeof *U), mean = 0, far;
    const double one = 1, centre[3] = {0, 0, 0};
    for (int64_t v = 0; v < b.mesh.vertex_count; v++)
        U[3 * v] = b.mesh.vertices[3 * v] * fabs(b.mesh.vertices[3 * v]);
    d = deformed_of(&b.mesh, 1, U, &b.field, 8, eight, 8);
    sp_deformed_field_update(d, &one);
    for (int i = 0; i < 8; i++)
        mean += one_says(&b.mesh, 1, U, &one, &b.field, eight + 3 * i, centre, &far) / 8;
    CHECK_NEAR(sp_deformed_field_at(d, centre, NULL, NULL), mean, 1e-12);
    sp_deformed_field_free(d);
    /* fewer than k: the others are infinitely far, 1/d_max = 0; without jumps */
    for (int count = 1; count <= 3; count++) {
        double before = 0, coarse = 0, fine = 0, worst = 0;
        d = deformed_of(&b.mesh, 6, b.U, &b.field, count, b.points, 5);
        sp_deformed_field_update(d, b.q);
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0, steps = pass ? 32000 : 2000; i <= steps; i++) {
                const double s = (double)i / steps, x[3] = {-1.3 + 2.5 * s, -0.7 + 1.6 * s, 0.4 - 0.9 * s};
                const double value = sp_deformed_field_at(d, x, NULL, NULL);
                double sum = 0, total = 0;
                for (int p = 0; p < count && !pass; p++) {
                    const double says = one_says(&b.mesh, 6, b.U, b.q, &b.field, b.points + 3 * p, x, &far);
                    sum += says / far;
                    total += 1 / far;
                }
                worst = pass ? worst : fmax(worst, fabs(value - sum / total));
                double *most = pass ? &fine : &coarse;
                *most = i > 0 ? fmax(*most, fabs(value - before)) : *most;
                before = value;
            }
        CHECK(worst < 1e-12, "%d proxies: %g", count, worst);
        CHECK(fine < coarse / 12, "%d proxies: %g, then %g", count, coarse, fine);
        sp_deformed_field_free(d);
    }
}

/* A single proxy, in one cell of a field of random values: central differences with their slope. */
TEST(gradient_of_one_proxy)
{
    OWNED(bent) b = bent_body();
    OWNED(sp_field) field = field_of(noise, 60, 60, 60, -6, -6, -6, 0.2);
    double F[3][3], u[12], error[2] = {0};
    const double *P = b.points;
    OWNED_POINTER(sp_deformed_field) *d = deformed_of(&b.mesh, 6, b.U, &field, 1, P, 5);
    sp_deformed_field_update(d, b.q);
    cube_motion(&b.mesh, 6, b.U, b.q, P, u);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            F[i][k] = (i == k) + u[3 * (k + 1) + i];
    for (int i = 0; i < 500; i++) {
        double X[3], x[3], gradient[3];
        for (int k = 0; k < 3; k++) /* near the middle of a cell */
            X[k] = -6 + 0.2 * (floor(random_in(50, (uint64_t)(3 * i + k), 20, 40)) +
                               random_in(51, (uint64_t)(3 * i + k), 0.4, 0.6));
        for (int k = 0; k < 3; k++)
            x[k] = P[k] + u[k] + F[k][0] * (X[0] - P[0]) + F[k][1] * (X[1] - P[1]) + F[k][2] * (X[2] - P[2]);
        sp_deformed_field_at(d, x, gradient, NULL);
        for (int step = 0; step < 2; step++)
            for (int k = 0; k < 3; k++) {
                const double h = step ? 0.01 : 0.02;
                double up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
                up[k] += h;
                down[k] -= h;
                const double slope =
                    (sp_deformed_field_at(d, up, NULL, NULL) - sp_deformed_field_at(d, down, NULL, NULL)) / (2 * h);
                error[step] = fmax(error[step], fabs(slope - gradient[k]));
            }
    }
    CHECK(error[1] > 1e-6 && fabs(error[0] / error[1] - 4) < 1e-3, "%g, then %g", error[0],
          error[1]); /* a cubic: exactly h² */
}

TEST(proxies_of_no_use)
{
    OWNED(bent) b = bent_body();
    /* inverted for x > ½: u = −3 (x − ½) there, with a kink at vertices */
    double *U = test_new(3 * b.mesh.vertex_count, sizeof *U), kept[3 * 40], x[3], gradient[3];
    int count = 0;
    int64_t proxy;
    for (int64_t v = 0; v < b.mesh.vertex_count; v++)
        U[3 * v] = -fmax(0, b.mesh.vertices[3 * v] - 0.5);
    for (int i = 0; i < 40; i++)
        if (b.points[3 * i] < 0.5)
            memcpy(kept + 3 * count++, b.points + 3 * i, sizeof x);
    CHECK(count > 10 && count < 36, "%d", count);
    sp_deformed_field *all = deformed_of(&b.mesh, 1, U, &b.field, 40, b.points, 5);
    OWNED_POINTER(sp_deformed_field) *few = deformed_of(&b.mesh, 1, U, &b.field, count, kept, 5);
    for (int i = 0; i < 3; i++) { /* det F = −2, 0, 5e-7; afterwards all proxies are valid again */
        const double q[3] = {3, 1, 1 - 5e-7}, none = 0;
        sp_deformed_field_update(all, &q[i]);
        sp_deformed_field_update(few, &q[i]);
        random_point(52, i, -1, 1, x);
        CHECK(sp_deformed_field_at(all, x, NULL, NULL) == sp_deformed_field_at(few, x, NULL, NULL), "%d", i);
        sp_deformed_field_update(all, &none);
        sp_distance rest;
        sp_distance_of_field(&b.field, &rest);
        CHECK_NEAR(sp_deformed_field_at(all, b.points, NULL, NULL), sp_distance_at(&rest, b.points, NULL), 1e-14);
    }
    static const double poor[4] = {NAN, INFINITY, 1e200, -1e200};
    for (int i = 0; i < 4; i++) {
        OWNED_POINTER(sp_deformed_field) *broken = deformed_of(&b.mesh, 6, b.U, &b.field, 40, b.points, 5);
        const double q[6] = {poor[i], 0, 0, 0, 0, poor[i]};
        sp_deformed_field_update(broken, q);
        const double value = sp_deformed_field_at(broken, x, gradient, &proxy);
        CHECK(value == INFINITY && length3(gradient) == 0 && proxy == 0, "%g", value);
    }
    /* anywhere in the range of numbers, for a strongly bent body */
    for (int i = 0; i < 5; i++) {
        static const double extreme[5] = {1e300, -1e300, DBL_MAX, 1e160, 1e-320};
        const sp_distance d = {.kind = SP_DISTANCE_DEFORMED, .deformed = all};
        const double q = 0.999, at[3] = {extreme[i], -0.5 * extreme[i], 0.3};
        sp_deformed_field_update(all, &q);
        CHECK(isfinite(sp_distance_at(&d, at, gradient)) && isfinite(length3(gradient)), "%g", extreme[i]);
        CHECK(sp_distance_at(&d, (double[3]){NAN, 0, 0}, NULL) == INFINITY, "a place that is none");
        CHECK(isfinite(sp_deformed_field_at(all, (double[3]){NAN, 0, -INFINITY}, NULL, &proxy)), "no number");
        CHECK(proxy >= 0 && proxy < 40, "%lld", (long long)proxy);
    }
    sp_deformed_field_free(all);
    sp_deformed_field_free(NULL);
    /* refusals */
    sp_deformed_domain domains[2] = {{&b.field, 40, b.points}, {&b.field, 0, b.points}};
    CHECK(sp_deformed_field_new(&context, &b.mesh, 1, U, 1, domains, 0, &all) == SP_USAGE, "%s", context.message);
    CHECK(strstr(context.message, " 0 nearest"), "%s", context.message);
    CHECK(sp_deformed_field_new(&context, &b.mesh, 1, U, 1, domains, 17, &all) == SP_USAGE && !all, "%s",
          context.message);
    CHECK(sp_deformed_field_new(&context, &b.mesh, 1, U, 0, domains, 5, &all) == SP_USAGE, "%s", context.message);
    CHECK(sp_deformed_field_new(&context, &b.mesh, 1, U, 2, domains, 5, &all) == SP_USAGE, "%s", context.message);
    CHECK(strstr(context.message, "domain 1"), "%s", context.message);
    b.points[7] = NAN;
    CHECK(sp_deformed_field_new(&context, &b.mesh, 1, U, 1, domains, 5, &all) == SP_INPUT, "%s", context.message);
    CHECK(strstr(context.message, "proxy 2"), "%s", context.message);
}

static double left_half(const double x[3])
{
    return fmin(block(x, (double[3]){0, 0, 0}, (double[3]){1, 4, 1}),
                block(x, (double[3]){0, 0, 0}, (double[3]){1.5, 1, 1}));
}

static double right_half(const double x[3])
{
    return left_half((double[3]){3 - x[0], x[1], x[2]});
}

static double both_halves(const double x[3])
{
    return fmin(left_half(x), right_half(x));
}

/* §3.12.1: the legs of a U move apart. Between them the proxies of one leg still see the other leg at its old place. */
TEST(mirror_images_and_domains)
{
    OWNED(sp_mesh) mesh;
    make_box(3, 4, 1, 1, 0, &mesh);
    int64_t kept = 0;
    for (int64_t e = 0; e < mesh.block[SP_HEX8].count; e++)
        if (e % 3 != 1 || e / 3 == 0)
            memmove(mesh.block[SP_HEX8].node + 8 * kept++, mesh.block[SP_HEX8].node + 8 * e, 8 * sizeof(int64_t));
    mesh.block[SP_HEX8].count = kept;
    double *U = test_new(3 * mesh.vertex_count, sizeof *U), points[3 * 40];
    for (int64_t v = 0; v < mesh.vertex_count; v++) /* the legs are translated, the base is stretched */
        U[3 * v] = mesh.vertices[3 * v] < 1.5 ? -1 : 1;
    for (int i = 0; i < 40; i++) /* five heights, four corners of each leg */
        for (int k = 0; k < 3; k++)
            points[3 * i + k] = k == 1 ? 0.3 + 0.85 * (i % 20 / 4) : (k ? i / 2 % 2 : (i < 20 ? 0 : 2) + i % 2);
    OWNED(sp_field) whole = field_of(both_halves, 56, 72, 40, -2, -2, -2, 0.125),
                    left = field_of(left_half, 56, 72, 40, -2, -2, -2, 0.125),
                    right = field_of(right_half, 56, 72, 40, -2, -2, -2, 0.125);
    OWNED_POINTER(sp_deformed_field) *one = deformed_of(&mesh, 1, U, &whole, 40, points, 5), *two;
    const sp_deformed_domain domains[2] = {{&left, 20, points}, {&right, 20, points + 60}};
    CHECK_OK(sp_deformed_field_new(&context, &mesh, 1, U, 2, domains, 5, &two));
    const double q = 0.9; /* legs at x in [−0.9, 0.1] and [2.9, 3.9] */
    sp_deformed_field_update(one, &q);
    sp_deformed_field_update(two, &q);
    double worst = 0, spurious = 0, at_rest = 0;
    int64_t mirrored = 0;
    for (int i = 0; i <= 400; i++) {
        const double x[3] = {-0.4 + 3.8 * i / 400, 3, 0.5};
        const double from_left = block(x, (double[3]){-0.9, 0, 0}, (double[3]){0.1, 4, 1});
        const double expected = fmin(from_left, block(x, (double[3]){2.9, 0, 0}, (double[3]){3.9, 4, 1}));
        const double value = sp_deformed_field_at(one, x, NULL, NULL);
        worst = fmax(worst, fabs(sp_deformed_field_at(two, x, NULL, NULL) - expected));
        mirrored += expected > 0.1 && value < 0;
        spurious = fmin(spurious, expected > 0.1 ? value : 0);
    }
    CHECK(worst < 0.5 * sqrt(3) * 0.125, "%g", worst);
    CHECK(mirrored > 20, "%lld", (long long)mirrored);
    /* a leg that is no longer there, up to half of its width deep */
    CHECK(spurious < -0.1 && spurious > -0.51, "%g", spurious);
    NOTE("one domain: %lld of 401 places within a mirror image, down to %.2f m; two: off by %.1e m",
         (long long)mirrored, spurious, worst);
    sp_deformed_field_update(one, NULL);
    sp_deformed_field_update(two, NULL);
    for (int i = 0; i <= 400; i++) {
        const double x[3] = {-1 + 5.0 * i / 400, 3, 0.5};
        at_rest =
            fmax(at_rest, fabs(sp_deformed_field_at(two, x, NULL, NULL) - sp_deformed_field_at(one, x, NULL, NULL)));
    }
    CHECK(at_rest < 1e-6, "%g", at_rest);
}

/* ---- voxmaps ---- */

/* From the corners of a cell; FREE outside the grid. */
static enum sp_voxel by_corners(const sp_field *f, int64_t x, int64_t y, int64_t z)
{
    int inside = 0;
    if (x < 0 || y < 0 || z < 0 || x >= f->cells[0] || y >= f->cells[1] || z >= f->cells[2])
        return SP_VOXEL_FREE;
    for (int c = 0; c < 8; c++)
        inside += !(f->distance[sp_field_index(f, x + (c & 1), y + (c >> 1 & 1), z + (c >> 2))] > 0);
    return inside == 8 ? SP_VOXEL_INTERIOR : inside > 0 ? SP_VOXEL_SURFACE : SP_VOXEL_FREE;
}

static enum sp_voxel by_neighbours(const sp_field *f, int64_t x, int64_t y, int64_t z)
{
    const enum sp_voxel own = by_corners(f, x, y, z);
    if (x < 0 || y < 0 || z < 0 || x >= f->cells[0] || y >= f->cells[1] || z >= f->cells[2])
        return SP_VOXEL_FREE;
    for (int c = 0; c < 27 && own == SP_VOXEL_FREE; c++)
        if (by_corners(f, x + c % 3 - 1, y + c / 3 % 3 - 1, z + c / 9 - 1) == SP_VOXEL_SURFACE)
            return SP_VOXEL_PROXIMITY;
    return own;
}

/* Cubes from `side` voxels down that are not uniform. */
static int64_t mixed_cubes(const sp_field *f, int64_t side, int64_t x, int64_t y, int64_t z)
{
    bool uniform = true;
    const enum sp_voxel first = by_neighbours(f, x, y, z);
    for (int64_t i = 0; i < side * side * side && uniform; i++)
        uniform = by_neighbours(f, x + i % side, y + i / side % side, z + i / side / side) == first;
    int64_t count = !uniform;
    for (int h = 0; h < 8 && !uniform && side > 2; h++)
        count += mixed_cubes(f, side / 2, x + side / 2 * (h & 1), y + side / 2 * (h >> 1 & 1), z + side / 2 * (h >> 2));
    return count;
}

static double everywhere_inside(const double x[3])
{
    return x[0] < 1e9 ? -1 : 1;
}

static double everywhere_outside(const double x[3])
{
    return -everywhere_inside(x);
}

TEST(voxels_are_those_of_the_grid)
{
    const struct {
        shape *f;
        int64_t n[3];
    } grids[10] = {
        {ball, {20, 24, 17}},
        {ring, {33, 31, 20}},
        {ring, {16, 16, 16}},
        {ball, {1, 1, 1}},
        {ball, {2, 2, 2}},
        {noise, {3, 2, 1}},
        {noise, {40, 2, 1}},
        {everywhere_inside, {8, 8, 8}},
        {everywhere_inside, {5, 5, 5}},
        {everywhere_outside, {7, 7, 7}},
    };
    for (int g = 0; g < 10; g++) {
        const int64_t *n = grids[g].n;
        OWNED(sp_field) f = field_of(grids[g].f, n[0], n[1], n[2], -1.5, -1.4, -1.2, 0.125);
        OWNED_POINTER(sp_voxmap) *voxmap;
        CHECK_OK(sp_voxmap_new(&context, &f, &voxmap));
        int64_t wrong = 0, counted[4] = {0}, voxels[4], nodes, bytes, grid_bytes, side = 2;
        for (int64_t z = -2; z < n[2] + 3; z++)
            for (int64_t y = -2; y < n[1] + 3; y++)
                for (int64_t x = -2; x < n[0] + 3; x++) {
                    const enum sp_voxel expected = by_neighbours(&f, x, y, z);
                    double low[3], at[3], centre[3], off = 0;
                    sp_field_position(&f, x, y, z, low);
                    for (int k = 0; k < 3; k++)
                        at[k] =
                            low[k] + 0.125 * random_in(60, (uint64_t)(3 * (x + 100 * y + 10000 * z) + k), 0.001, 0.999);
                    wrong += sp_voxmap_at(voxmap, at, centre) != expected || sp_voxmap_at(voxmap, at, NULL) != expected;
                    for (int k = 0; k < 3; k++)
                        off = fmax(off, fabs(centre[k] - low[k] - 0.0625));
                    wrong += off > 1e-14;
                    counted[expected] += x >= 0 && y >= 0 && z >= 0 && x < n[0] && y < n[1] && z < n[2];
                }
        CHECK(wrong == 0, "grid %d: %lld voxels", g, (long long)wrong);
        sp_voxmap_size(voxmap, voxels, &nodes, &bytes, &grid_bytes);
        for (int k = 0; k < 4; k++)
            CHECK(voxels[k] == counted[k], "grid %d, kind %d: %lld, %lld", g, k, (long long)voxels[k],
                  (long long)counted[k]);
        CHECK(g > 2 || (voxels[0] > 0 && voxels[1] > 0 && voxels[2] > 0 && voxels[3] > 0), "grid %d", g);
        CHECK(voxels[0] + voxels[1] + voxels[2] + voxels[3] == n[0] * n[1] * n[2], "grid %d", g);
        while (side < n[0] || side < n[1] || side < n[2])
            side *= 2;
        const int64_t mixed = mixed_cubes(&f, side, 0, 0, 0);
        CHECK(nodes == (mixed > 0 ? mixed : 1), "grid %d: %lld, %lld", g, (long long)nodes, (long long)mixed);
        CHECK(bytes >= 2 * nodes && bytes <= 8 * nodes, "grid %d: %lld bytes", g, (long long)bytes);
        CHECK(grid_bytes == 4 * (n[0] + 1) * (n[1] + 1) * (n[2] + 1), "grid %d: %lld", g, (long long)grid_bytes);
        CHECK(sp_voxmap_spacing(voxmap) == 0.125, "%g", sp_voxmap_spacing(voxmap));
    }
    sp_voxmap_free(NULL);
}

static double floor_at(const double x[3])
{
    return x[2] - 0.5625;
}

/* Voxels of 1/8: the surface in z from 0.5 to 0.625, proximity above up to 0.75. */
TEST(depths_and_pulses_by_hand)
{
    OWNED(sp_field) f = field_of(floor_at, 8, 8, 8, 0, 0, 0, 0.125);
    OWNED_POINTER(sp_voxmap) *v;
    CHECK_OK(sp_voxmap_new(&context, &f, &v));
    const double up[3] = {0, 0, 1}, oblique[3] = {0.6, 0, 0.8}, c = 0.3125; /* the middle of a voxel in x and y */
#define AT(x, z) ((double[3]){c + (x), c, z})
    CHECK_NEAR(sp_voxmap_depth(v, AT(0, 0.5425), up), -0.02, 1e-15);
    CHECK_NEAR(sp_voxmap_depth(v, AT(0.03, 0.5425), up), -0.02, 1e-15);
    CHECK_NEAR(sp_voxmap_depth(v, AT(0.02, 0.5425), oblique), 0.6 * 0.02 - 0.8 * 0.02, 1e-15);
    CHECK_NEAR(sp_voxmap_depth(v, AT(-0.02, 0.5725), oblique), -0.6 * 0.02 + 0.8 * 0.01, 1e-15);
    /* a point whose normal points down */
    CHECK_NEAR(sp_voxmap_depth(v, AT(0, 0.5725), (double[3]){0, 0, -1}), -0.01, 1e-15);
    CHECK(sp_voxmap_depth(v, AT(0, 0.5725), up) == 0, "above the plane");
    /* just below the layer of surface voxels, deep inside, beside it and outside the grid: no contact */
    CHECK_NEAR(sp_voxmap_depth(v, AT(0, 0.5001), up), -0.0624, 1e-15);
    static const double without[5] = {0.4999, 0.1, 0.6251, 0.9, 1.5};
    for (int i = 0; i < 5; i++)
        CHECK(sp_voxmap_depth(v, AT(0, without[i]), up) == 0, "at %g", without[i]);
    CHECK(sp_voxmap_at(v, AT(0, 0.1), NULL) == SP_VOXEL_INTERIOR &&
              sp_voxmap_at(v, AT(0, 0.65), NULL) == SP_VOXEL_PROXIMITY,
          "kinds");
    /* the speed against N, in proximity voxels only, beyond the limit */
    CHECK_NEAR(sp_voxmap_pulse(v, AT(0, 0.65), up, (double[3]){5, 0, -2}, 1), 2, 1e-15);
    CHECK_NEAR(sp_voxmap_pulse(v, AT(0, 0.74), oblique, (double[3]){-1, 3, -2}, 2), 0.6 + 1.6, 1e-15);
    CHECK(sp_voxmap_pulse(v, AT(0, 0.65), up, (double[3]){5, 0, -2}, 2) == 0, "slow");
    CHECK(sp_voxmap_pulse(v, AT(0, 0.65), up, (double[3]){0, 0, 2}, 1) == 0, "leaves");
    static const double elsewhere[4] = {0.76, 0.55, 0.2, -1};
    for (int i = 0; i < 4; i++)
        CHECK(sp_voxmap_pulse(v, AT(0, elsewhere[i]), up, (double[3]){0, 0, -2}, 1) == 0, "at %g", elsewhere[i]);
#undef AT
    /* without a normal */
    const sp_distance d = {.kind = SP_DISTANCE_VOXMAP, .voxmap = v};
    double gradient[3];
    for (int i = 0; i < 400; i++) {
        double x[3];
        random_point(61, i, -0.5, 1.5, x);
        const double value = sp_distance_at(&d, x, gradient);
        CHECK(value == (sp_voxmap_at(v, x, NULL) == SP_VOXEL_FREE ? 0.125 : 0) && length3(gradient) == 0, "%g", value);
    }
}

/* The workspace is freed on failure. */
TEST(cancelled)
{
    const volatile int stop = 1;
    sp_context c = sp_context_default();
    c.cancel = &stop;
    OWNED(sp_field) f = field_of(ball, 8, 8, 8, -1, -1, -1, 0.25);
    sp_voxmap *v;
    CHECK(sp_voxmap_new(&c, &f, &v) == SP_SYSTEM && !v && strstr(c.message, "cancel"), "%s", c.message);
}

/* H by central differences of the gradient, inside and outside, apart from edges of cells and of a box's regions. */
TEST(curvatures_are_derivatives)
{
    OWNED(sp_field) f = field_of(ring, 7, 6, 5, -1.4, -1.2, -0.7, 0.4);
    sp_distance kinds[4] = {{.kind = SP_DISTANCE_PLANE, .normal = {0.6, 0, 0.8}, .offset = 0.1},
                            {.kind = SP_DISTANCE_SPHERE, .centre = {0.2, 0.1, -0.3}, .radius = 0.8},
                            {.kind = SP_DISTANCE_BOX, .centre = {0.1, 0.2, 0}, .half = {0.5, 0.4, 0.3}}};
    sp_distance_of_field(&f, &kinds[3]);
    for (int kind = 0; kind < 4; kind++) {
        const sp_distance *d = &kinds[kind];
        double error[2] = {0}, curved = 0;
        int64_t compared = 0;
        for (int64_t i = 0; i < 400; i++) {
            double x[3], H[9], off[2] = {0};
            random_point(60, i, -1, 1, x);
            sp_distance_curvature(d, x, H);
            for (int step = 0; step < 2; step++)
                for (int k = 0; k < 3; k++) {
                    const double h = step ? 5e-4 : 1e-3, keep = x[k];
                    double up[3], down[3];
                    x[k] = keep + h;
                    sp_distance_at(d, x, up);
                    x[k] = keep - h;
                    sp_distance_at(d, x, down);
                    x[k] = keep;
                    for (int r = 0; r < 3; r++) {
                        off[step] = fmax(off[step], fabs((up[r] - down[r]) / (2 * h) - H[3 * r + k]));
                        CHECK(H[3 * r + k] == H[3 * k + r], "symmetric");
                    }
                }
            if (off[0] > 1e-2) /* the gradient jumps between the points */
                continue;
            compared++;
            curved += length3(H) > 0.1;
            for (int step = 0; step < 2; step++)
                error[step] = fmax(error[step], off[step]);
        }
        CHECK(compared > 300 && (kind == 0 || curved > 50), "kind %d: %lld compared, %g curved", kind,
              (long long)compared, curved);
        CHECK(error[1] < 1e-11 || log2(error[0] / error[1]) > 1.8, "kind %d: off by %g, %g", kind, error[0], error[1]);
    }
    double H[9] = {1};
    sp_distance_curvature(&kinds[1], kinds[1].centre, H);
    CHECK(H[0] == 0 && H[4] == 0, "at the centre");
    sp_distance_curvature(&kinds[1], (double[3]){INFINITY, 0, NAN}, H);
    CHECK(H[0] == 0 && H[4] == 0, "nowhere");
    sp_distance_curvature(&kinds[3], (double[3]){9, 9, 9}, H);
    CHECK(H[1] == 0 && H[4] == 0, "outside of the grid");
}
