/* Distances to shapes, grids and voxel maps. */
#include "contact/voxmap.h"
#include "distance_models.h"

#include <float.h>

OWNER(sp_voxmap)

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
