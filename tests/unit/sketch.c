/* Bases from recorded loads: selection of samples by their distance, equilibria under many loads, the intervals of a
 * recording. */
#include "basis/sketch.h"
#include "assembly/elastic.h"
#include "fixture.h"
#include "integrate/equilibrium.h"
#include "integrate/integrate.h"
#include "model/loads.h"
#include "model/models.h"

OWNER(sp_equilibrium)
OWNER(sp_integrator)

/* ---- selection ---- */

enum { MOST = 300 };

/* Distances of points in the plane, and from the origin, by their definition. */
static void plane_distances(int64_t count, const double *point, double *distance)
{
    for (int64_t i = 0; i <= count; i++)
        for (int64_t j = 0; j <= count; j++) {
            double x = (i < count ? point[2 * i] : 0) - (j < count ? point[2 * j] : 0),
                   y = (i < count ? point[2 * i + 1] : 0) - (j < count ? point[2 * j + 1] : 0);
            distance[i * (count + 1) + j] = hypot(x, y);
        }
}

static int64_t separate(int64_t count, const double *point, double separation, int64_t most, int64_t *kept)
{
    double *distance = test_new((count + 1) * (count + 1), 8);
    int64_t kept_count = -1;
    plane_distances(count, point, distance);
    CHECK_OK(sp_separate(&context, count, distance, separation, most, kept, &kept_count));
    return kept_count;
}

static void check_kept(const char *what, int64_t count, const int64_t *kept, int64_t expected_count,
                       const int64_t *expected)
{
    CHECK(count == expected_count, "%s: %lld kept", what, (long long)count);
    for (int64_t i = 0; i < count && i < expected_count; i++)
        CHECK(kept[i] == expected[i], "%s: number %lld is %lld, not %lld", what, (long long)i, (long long)kept[i],
              (long long)expected[i]);
}

TEST(the_densest_goes_first)
{
    int64_t kept[MOST], count;
    /* three in a row, 0.8 apart: the middle one has two close neighbours */
    count = separate(3, (double[]){5, 0, 5.8, 0, 6.6, 0}, 1, 0, kept);
    check_kept("a row", count, kept, 2, (int64_t[]){0, 2});
    /* A cluster of four around (5, 0) and a point 0.9 from the rightmost one: samples of the cluster are removed, not
     * the isolated one. The centre is removed first, then the others of the cluster except one. */
    count = separate(6, (double[]){5, 0, 5.1, 0, 4.9, 0, 5, 0.1, 5, -0.1, 6, 0}, 1, 0, kept);
    CHECK(count == 2 && kept[1] == 5, "%lld kept, the last %lld", (long long)count, (long long)kept[count - 1]);
    CHECK(kept[0] != 0, "the densest one stayed");
    /* near the rest state, which is kept */
    count = separate(3, (double[]){0.5, 0, 3, 0, 0, 0}, 1, 0, kept);
    check_kept("near rest", count, kept, 1, (int64_t[]){1});
    /* equal samples: the earliest is kept */
    count = separate(4, (double[]){7, 1, 3, 4, 7, 1, 3, 4}, 1, 0, kept);
    check_kept("equal ones", count, kept, 2, (int64_t[]){0, 1});
    /* exactly the separation apart is far enough */
    count = separate(4, (double[]){4, 0, 5, 0, 6, 0, 7, 0}, 1, 0, kept);
    check_kept("just far enough", count, kept, 4, (int64_t[]){0, 1, 2, 3});
    count = separate(4, (double[]){4, 0, 4, 0, 0, 0, 7, 0}, 0, 0, kept);
    check_kept("no separation", count, kept, 4, (int64_t[]){0, 1, 2, 3});
    count = separate(0, NULL, 1, 5, kept);
    CHECK(count == 0, "%lld kept of none", (long long)count);
}

/* In a row of samples 0.6 apart, all neighbours of a sample may be removed before it: every sample must have a kept one
 * near it. */
TEST(what_lost_its_neighbours_comes_back)
{
    int64_t kept[MOST];
    for (int n = 2; n <= 40; n++) {
        double point[80];
        for (int i = 0; i < n; i++) {
            point[2 * i] = 3 + 0.6 * i;
            point[2 * i + 1] = 0;
        }
        int64_t count = separate(n, point, 1, 0, kept);
        for (int64_t k = 0; k + 1 < count;
             k++) /* kept neighbours are 2 or 3 places apart, 1.2 or 1.8; 4 places would leave room for one between */
            CHECK(kept[k + 1] - kept[k] == 2 || kept[k + 1] - kept[k] == 3, "%d in a row: %lld and %lld are neighbours",
                  n, (long long)kept[k], (long long)kept[k + 1]);
        CHECK(count > 0 && kept[0] <= 1 && kept[count - 1] >= n - 2, "%d in a row: an end is empty", n);
    }
}

TEST(separation_of_random_points)
{
    double point[2 * MOST];
    int64_t kept[MOST], again[MOST];
    random_field(2 * MOST, 3, point);
    for (int i = 0; i < 2 * MOST; i++) /* more closely spaced towards the origin */
        point[i] *= 4 * fabs(point[i]);
    for (double separation = 0.05; separation < 4; separation *= 2) {
        int64_t count = separate(MOST, point, separation, 0, kept), k = 0;
        for (int64_t i = 0; i < MOST; i++) {
            bool is_kept = k < count && kept[k] == i;
            double nearest = hypot(point[2 * i], point[2 * i + 1]);
            for (int64_t j = 0; j < count; j++)
                if (kept[j] != i)
                    nearest = fmin(nearest,
                                   hypot(point[2 * i] - point[2 * kept[j]], point[2 * i + 1] - point[2 * kept[j] + 1]));
            CHECK(is_kept ? nearest >= separation : nearest < separation,
                  "separation %g: sample %lld, %s, is %g from the nearest kept one", separation, (long long)i,
                  is_kept ? "kept" : "left out", nearest);
            k += is_kept;
        }
        int64_t second = separate(MOST, point, separation, 0, again);
        CHECK(second == count && !memcmp(kept, again, (size_t)count * 8), "separation %g: a second run chose others",
              separation);
        NOTE("separation %g keeps %lld of %d", separation, (long long)count, MOST);
    }
}

TEST(the_farthest_ones)
{
    int64_t kept[MOST];
    /* on a line from rest: 10 is the farthest, then 5 (5 from both), then 2.4 (2.4 from rest), then 7.5 comes
     * before 2.4: 2.5 */
    const double point[] = {10, 0, 2.4, 0, 5, 0, 7.5, 0, 9.9, 0};
    check_kept("one", separate(5, point, 0, 1, kept), kept, 1, (int64_t[]){0});
    check_kept("two", separate(5, point, 0, 2, kept), kept, 2, (int64_t[]){0, 2});
    check_kept("three", separate(5, point, 0, 3, kept), kept, 3, (int64_t[]){0, 2, 3});
    check_kept("four", separate(5, point, 0, 4, kept), kept, 4, (int64_t[]){0, 1, 2, 3});
    check_kept("all", separate(5, point, 0, 9, kept), kept, 5, (int64_t[]){0, 1, 2, 3, 4});
    check_kept("apart, then two", separate(5, point, 1, 2, kept), kept, 2,
               (int64_t[]){0, 2}); /* of 10 and 9.9 the earlier one is kept */
}

TEST(distances_in_the_mass)
{
    enum { ROWS = 150, COUNT = 130 };
    double *A = malloc(sizeof(double) * ROWS * COUNT), *distance = malloc(sizeof(double) * (COUNT + 1) * (COUNT + 1)),
           diagonal[ROWS], *first = NULL;
    random_field(ROWS * COUNT, 5, A);
    for (int i = 0; i < ROWS; i++)
        diagonal[i] = 1 + i % 7;
    memcpy(A + 3 * ROWS, A + 9 * ROWS, ROWS * sizeof *A); /* two equal columns */
    sp_metric metric = {.rows = ROWS, .diagonal = diagonal};
    for (context.threads = 1; context.threads <= 4; context.threads *= 2) {
        CHECK_OK(sp_mass_distances(&context, &metric, COUNT, A, distance));
        double worst = 0;
        for (int i = 0; i <= COUNT; i++)
            for (int j = 0; j <= COUNT; j++) {
                double square = 0;
                for (int r = 0; r < ROWS; r++) {
                    double d = (i < COUNT ? A[i * ROWS + r] : 0) - (j < COUNT ? A[j * ROWS + r] : 0);
                    square += diagonal[r] * d * d;
                }
                worst = fmax(worst, fabs(distance[i * (COUNT + 1) + j] - sqrt(square)));
            }
        CHECK(worst < 1e-6, "off by %.1e of some 15", worst); /* √(rounding of squares of 200) for the equal ones */
        CHECK(distance[3 * (COUNT + 1) + 3] == 0 && distance[3 * (COUNT + 1) + 9] == distance[9 * (COUNT + 1) + 3],
              "diagonal or symmetry");
        if (!first) {
            first = malloc(sizeof(double) * (COUNT + 1) * (COUNT + 1));
            memcpy(first, distance, sizeof(double) * (COUNT + 1) * (COUNT + 1));
        }
        CHECK(!memcmp(first, distance, sizeof(double) * (COUNT + 1) * (COUNT + 1)), "%d threads: other bytes",
              context.threads);
    }
    context.threads = 1;
    A[7] = NAN;
    CHECK(sp_mass_distances(&context, &metric, COUNT, A, distance) == SP_NUMERICAL,
          "a column that is not a number passed");
    free(first);
    free(distance);
    free(A);
}

/* ---- equilibria ---- */

typedef struct cantilever {
    sp_mesh mesh;
    sp_fe_space body;
    sp_system system;
    int64_t n;
} cantilever;

static void make_cantilever(cantilever *c)
{
    make_box(8, 2, 2, 0.1, 0, &c->mesh);
    fix_end(&c->mesh, 0.01);
    CHECK_OK(sp_fe_space_new(&context, &c->mesh, &c->body));
    CHECK_OK(sp_full_system_new(&context, &c->body, false, true, NULL, &c->system));
    c->n = c->body.dof_count;
}

static void cantilever_free(cantilever *c)
{
    sp_full_system_free(&c->system);
    sp_fe_space_free(&c->body);
    sp_mesh_free(&c->mesh);
}

/* A force on the last vertex, the corner of the free end. */
static void tip_load(const cantilever *c, double x, double y, double z, double *load)
{
    double *full = test_new(3 * c->mesh.vertex_count, 8);
    memcpy(full + 3 * c->mesh.vertex_count - 3, (double[]){x, y, z}, 24);
    sp_fe_space_gather(&c->body, full, load);
}

/* ‖f(q) − F‖ / ‖F‖ by the assembly alone. */
static double imbalance(const cantilever *c, const double *q, const double *load)
{
    int64_t rows = 3 * c->mesh.vertex_count;
    double *u = test_new(rows, 8), *f = test_new(rows, 8), *r = test_new(c->n, 8), off = 0, size = 0;
    sp_fe_space_scatter(&c->body, q, u);
    sp_elastic_force(&context, &c->body, u, f);
    sp_fe_space_gather(&c->body, f, r);
    for (int64_t i = 0; i < c->n; i++) {
        off += (r[i] - load[i]) * (r[i] - load[i]);
        size += load[i] * load[i];
    }
    return sqrt(off / size);
}

TEST(small_loads_respond_linearly)
{
    OWNED(cantilever) c;
    make_cantilever(&c);
    OWNED_POINTER(sp_equilibrium) *equilibrium;
    CHECK_OK(sp_equilibrium_new(&context, &c.system, 1e-13, 0, &equilibrium));
    double *zero = test_new(c.n, 8), *load = test_new(c.n, 8), *u = test_new(c.n, 8), *q = test_new(c.n, 8), error[3];
    for (int s = 0; s < 3; s++) {
        sp_equilibrium_report report;
        double scale = 40 * pow(0.5, s), largest = 0;
        tip_load(&c, 0, 0.5 * scale, scale, load);
        CHECK_OK(sp_full_system_respond(&c.system, 1, load, u));
        CHECK_OK(sp_equilibrium_find(equilibrium, zero, zero, load, q, &report));
        error[s] = 0;
        for (int64_t i = 0; i < c.n; i++) {
            error[s] = fmax(error[s], fabs(q[i] - u[i]));
            largest = fmax(largest, fabs(u[i]));
        }
        error[s] /= largest;
    }
    /* u + O(u²): the relative error halves with the load */
    CHECK_ORDERS(error, 1, 0.1, 0.1, "relative difference");
}

typedef struct ramp {
    const double *load;
    int64_t n;
} ramp;

static void half_then_all(void *self, double t0, double t1, double *f)
{
    const ramp *r = self;
    for (int64_t i = 0; i < r->n; i++)
        f[i] = (t0 + t1 < 2 ? 0.5 : 1) * r->load[i];
}

TEST(large_loads_are_balanced_from_anywhere)
{
    enum { LOADS = 4 };
    /* N at a corner of a beam of 0.8 m with 3EI/L³ = 781 N/m: the tip moves by up to half the length */
    static const double force[LOADS][3] = {{0, 0, 300}, {0, 0, -300}, {-200, 200, 100}, {0, 0, 0}};
    OWNED(cantilever) c;
    make_cantilever(&c);
    OWNED_POINTER(sp_equilibrium) *equilibrium;
    sp_equilibrium_report report;
    size_t bytes = (size_t)c.n * 8;
    CHECK_OK(sp_equilibrium_new(&context, &c.system, 0, 0, &equilibrium));
    double *zero = test_new(1, bytes), *load = malloc(LOADS * bytes), *q = malloc(LOADS * bytes),
           *other = malloc(bytes);
    for (int l = 0; l < LOADS; l++) {
        const double *from = l ? q + (l - 1) * c.n : zero, *from_load = l ? load + (l - 1) * c.n : zero;
        tip_load(&c, force[l][0], force[l][1], force[l][2], load + l * c.n);
        CHECK_OK(sp_equilibrium_find(equilibrium, from, from_load, load + l * c.n, q + l * c.n, &report));
        NOTE("load %d: %lld steps, %lld iterations, %lld factorizations", l, (long long)report.load_steps,
             (long long)report.iterations, (long long)report.factorizations);
        if (l < 3) {
            double off = imbalance(&c, q + l * c.n, load + l * c.n);
            CHECK(off <= 1e-9 && fabs(off - report.residual) <= 1e-12, "residual %.1e, reported %.1e", off,
                  report.residual);
            CHECK(report.factorizations <= report.iterations && report.load_steps >= 1, "counts");
        }
    }
    double largest = 0, difference = 0, back = 0;
    for (int64_t i = 0; i < c.n; i++) {
        largest = fmax(largest, fabs(q[i]));
        back = fmax(back, fabs(q[3 * c.n + i]));
    }
    CHECK(largest > 0.2, "the tip moves by %g m only", largest);
    CHECK(back < 1e-9, "back at rest it is off by %g m", back);
    /* the same load again, after others: the same bytes */
    CHECK_OK(sp_equilibrium_find(equilibrium, q, load, load + c.n, other, &report));
    CHECK(!memcmp(other, q + c.n, bytes), "a solve depends on what was solved before it");
    /* the static integrator, which takes another path: 1e-10 of the forces is about 1e-9 of the displacements */
    ramp r = {load + 2 * c.n, c.n};
    sp_external_loads forcing = {.self = &r, .mean = half_then_all};
    sp_integrator_parameters p = {.kind = SP_STATIC, .step = 1};
    OWNED_POINTER(sp_integrator) *it;
    CHECK_OK(sp_integrator_new(&context, &c.system, &forcing, &p, NULL, NULL, &it));
    for (int step = 0; step < 2; step++)
        CHECK_OK(sp_integrator_step(it));
    for (int64_t i = 0; i < c.n; i++)
        difference = fmax(difference, fabs(q[2 * c.n + i] - sp_integrator_q(it)[i]));
    NOTE("tip %.3f m, against the integrator %.1e m", largest, difference);
    CHECK(difference <= 1e-9 * largest, "against the static integrator: %.1e", difference);
    /* far beyond the strength of the model */
    tip_load(&c, -1e9, 1e3, 2e9, load);
    int status = sp_equilibrium_find(equilibrium, zero, zero, load, other, &report);
    CHECK(status == SP_NUMERICAL || (status == SP_OK && imbalance(&c, other, load) < 1e-9), "status %d", status);
    NOTE("2 GN: status %d", status);
    free(load);
    free(q);
    free(other);
}

TEST(responses_of_many_columns)
{
    enum { COLUMNS = 37 };
    OWNED(cantilever) c;
    make_cantilever(&c);
    int64_t rows = 3 * c.mesh.vertex_count;
    double *F = test_new(c.n * COLUMNS, 8), *X = test_new(c.n * COLUMNS, 8), *u = test_new(rows, 8),
           *f = test_new(rows, 8), *v = test_new(rows, 8);
    random_field(c.n * COLUMNS, 21, F);
    CHECK_OK(sp_full_system_respond(&c.system, COLUMNS, F, X));
    double off = 0;
    for (int k = 0; k < COLUMNS; k++) {
        sp_fe_space_scatter(&c.body, X + k * c.n, v);
        sp_elastic_tangent_times(&context, &c.body, u, v, f);
        for (int64_t i = 0; i < c.n; i++)
            off = fmax(off, fabs(f[c.body.free[i]] - F[k * c.n + i]));
    }
    CHECK(off < 1e-9, "K x − f is %.1e of 1", off);
}

/* ---- intervals of a recording ---- */

TEST(pieces)
{
    OWNED(cantilever) c;
    make_cantilever(&c);
    sp_load loads[] = {
        {.start = 0.2, .end = 0.5, .kind = SP_LOAD_VERTEX, .id = 26, .force = {1, 0, 0}},
        {.start = 0.4, .end = 0.7, .kind = SP_LOAD_VERTEX, .id = 26, .force = {0, 2, 0}},
        {.start = 0.1 + 0.2 + 0.4,
         .end = 0.9,
         .kind = SP_LOAD_VERTEX,
         .id = 26,
         .force = {0, 0, 4}}, /* 0.7 and a rounding error */
        {.start = 1.5, .end = INFINITY, .kind = SP_LOAD_VERTEX, .id = 26, .force = {8, 0, 0}},
    };
    static const double expected[][5] = {
        {0.2, 0.4, 1, 0, 0}, {0.4, 0.5, 1, 2, 0}, {0.5, 0.7, 0, 2, 0}, {0.7, 0.9, 0, 0, 4}, {1.5, INFINITY, 8, 0, 0}};
    /* means over a second: 0.3 N, 0.6 N, 0.8 N in the first; half of 8 N in the second; the last load continues */
    static const double by_second[][5] = {{0, 1, 0.3, 0.6, 0.8}, {1, 2, 4, 0, 0}};
    OWNED(sp_load_set) loading;
    OWNED(sp_pool) pool = {0};
    double *time, *f = test_new(c.n, 8);
    int64_t count, x = c.body.dof[3 * 26];
    CHECK_OK(sp_load_set_new(&context, &c.body, NULL, 0, 4, loads, (double[3]){0}, &c.system, &loading));
    sp_external_loads forcing = sp_load_set_external(&loading);
    for (int kind = 0; kind < 2; kind++) {
        const double(*want)[5] = kind ? by_second : expected;
        int64_t want_count = kind ? 2 : 5;
        CHECK_OK(sp_load_set_pieces(&context, &loading, kind, &pool, &count, &time));
        /* with intervals of a second one more, after 1.5 s */
        CHECK(count == want_count + kind, "%lld pieces", (long long)count);
        for (int64_t k = 0; k < want_count && k < count; k++) {
            CHECK(fabs(time[2 * k] - want[k][0]) < 1e-12 &&
                      (time[2 * k + 1] == want[k][1] || fabs(time[2 * k + 1] - want[k][1]) < 1e-12),
                  "piece %lld: %g to %g", (long long)k, time[2 * k], time[2 * k + 1]);
            forcing.mean(forcing.self, time[2 * k], time[2 * k + 1], f);
            for (int i = 0; i < 3; i++)
                CHECK_NEAR(f[x + i], want[k][2 + i], 1e-12);
        }
    }
    CHECK(sp_load_set_pieces(&context, &loading, 1e-300, &pool, &count, &time) == SP_USAGE, "1e300 pieces passed");
}
