/* The response to a body's own inertia: the flexibility of constrained and free bodies, inertia forces, Krylov inertia
 * modes with both orthogonalizations, inertia derivatives of any order. */
#include "basis/inertia.h"
#include "assembly/elastic.h"
#include "basis/angles.h"
#include "basis/derivatives.h"
#include "basis/flexibility.h"
#include "basis/modes.h"
#include "fixture.h"
#include "linear/dense.h"
#ifdef SUPPLE_YANG2015
#include "basis/inertia_derivatives.h"
#include "basis/krylov.h"
#endif

#include <lapacke.h>

typedef struct world {
    sp_mesh mesh;
    sp_fe_space body;
    sp_sparse K, M;
    int64_t n, rigid_count, *node;
    double *rigid;
    sp_flexibility *flexibility;
} world;

static void make_world(int nx, int ny, int nz, double distort, bool prescribed, enum sp_complement complement, world *w)
{
    *w = (world){0};
    make_box(nx, ny, nz, 0.2, distort, &w->mesh);
    if (prescribed)
        fix_end(&w->mesh, 0.03);
    CHECK_OK(sp_fe_space_new(&context, &w->mesh, &w->body));
    CHECK_OK(sp_fe_space_pattern(&context, &w->body));
    CHECK_OK(sp_fe_space_matrix(&context, &w->body, &w->K));
    CHECK_OK(sp_fe_space_mass_compressed(&context, &w->body, false, &w->M));
    w->n = w->body.dof_count;
    double *rest = test_new(3 * w->mesh.vertex_count, 8);
    sp_elastic_tangent(&context, &w->body, rest, 1, false, NULL, &w->K);
    w->rigid = test_new(6 * w->n, 8);
    w->node = test_new(w->n, 8);
    for (int64_t i = 0; i < w->n; i++)
        w->node[i] = w->body.free[i] / 3;
    CHECK_OK(sp_rigid_motions(&context, &w->body, &w->M, w->rigid, &w->rigid_count));
    CHECK(w->rigid_count == (prescribed ? 0 : 6), "%lld rigid motions", (long long)w->rigid_count);
    CHECK_OK(sp_flexibility_new(&context, &w->K, &w->M, w->node, w->rigid_count, w->rigid, complement, NULL,
                                &w->flexibility));
}

static void end_world(world *w)
{
    sp_flexibility_free(w->flexibility);
    sp_sparse_free(&w->K);
    sp_sparse_free(&w->M);
    sp_fe_space_free(&w->body);
    sp_mesh_free(&w->mesh);
}

/* The bordered system [K C; Dᵀ 0] by LAPACK, which pinning and projecting solves. */
static void solve_bordered(const world *w, const double *C, const double *D, const double *f, double *u)
{
    int64_t n = w->n, size = n + 6;
    double *A = test_new(size * size, 8), *b = test_new(size, 8);
    lapack_int *pivot = test_new(size, sizeof *pivot);
    for (int64_t row = 0; row < n; row++) {
        for (int64_t k = w->K.start[row]; k < w->K.start[row + 1]; k++)
            A[w->K.index[k] * size + row] = w->K.value[k];
        for (int c = 0; c < 6; c++) {
            A[(n + c) * size + row] = C[c * n + row];
            A[row * size + n + c] = D[c * n + row];
        }
        b[row] = f[row];
    }
    CHECK(LAPACKE_dgesv(LAPACK_COL_MAJOR, (int)size, 1, A, (int)size, pivot, b, (int)size) == 0,
          "the bordered system is singular");
    memcpy(u, b, (size_t)n * 8);
}

TEST(pinning_solves_the_bordered_system)
{
    for (int printed = 0; printed <= 1; printed++) {
        world w;
        make_world(4, 2, 2, 0.15, false, printed ? SP_COMPLEMENT_PLAIN : SP_COMPLEMENT_MASS, &w);
        double *f = test_new(w.n, 8), *u = test_new(w.n, 8), *expected = test_new(w.n, 8), *MR = test_new(6 * w.n, 8);
        random_field(w.n, 3, f);
        sp_sparse_times(&context, &w.M, 6, w.rigid, MR);
        const double *joints = printed ? w.rigid : MR;
        solve_bordered(&w, joints, joints, f, expected);
        CHECK_OK(sp_flexibility_solve(w.flexibility, 1, f, u));
        double worst = 0;
        for (int64_t i = 0; i < w.n; i++)
            worst = fmax(worst, fabs(u[i] - expected[i]));
        double size = sqrt(dot_product(w.n, expected, expected) / (double)w.n);
        NOTE("%s: off by %.1e", printed ? "as printed" : "inertia relief", worst / size);
        CHECK(worst < 1e-9 * size, "off by %g of %g", worst, size);
        end_world(&w);
    }
}

TEST(inertia_forces_sum_to_what_rigid_mechanics_says)
{
    world w;
    make_world(5, 3, 2, 0, false, SP_COMPLEMENT_MASS, &w);
    int field[SP_INERTIA_FIELDS];
    double *f = test_new(SP_INERTIA_FIELDS * w.n, 8), mass = 1000 * 0.2 * 0.2 * 0.2 * 30, side[3] = {1.0, 0.6, 0.4};
    for (int i = 0; i < SP_INERTIA_FIELDS; i++)
        field[i] = i;
    CHECK_OK(sp_inertia_forces(&context, &w.body, SP_INERTIA_FIELDS, field, f));
    for (int i = 0; i < SP_INERTIA_FIELDS; i++) {
        double sum[3] = {0}, torque[3] = {0}, virial[3][3] = {{0}};
        for (int64_t v = 0; v < w.mesh.vertex_count; v++) {
            double X[3], *F = f + i * w.n + 3 * v;
            for (int c = 0; c < 3; c++)
                X[c] = w.mesh.vertices[3 * v + c] - 0.5 * side[c];
            for (int c = 0; c < 3; c++) {
                sum[c] += F[c];
                torque[c] += X[(c + 1) % 3] * F[(c + 2) % 3] - X[(c + 2) % 3] * F[(c + 1) % 3];
                for (int d = 0; d < 3; d++)
                    virial[c][d] += F[c] * X[d];
            }
        }
        for (int c = 0; c < 3; c++) {
            CHECK_NEAR(sum[c], i == c ? mass : 0, 1e-10 * mass);
            double about =
                i == 3 + c ? mass / 12 * (side[(c + 1) % 3] * side[(c + 1) % 3] + side[(c + 2) % 3] * side[(c + 2) % 3])
                           : 0;
            if (i < 9) /* a rotating box with different sides has a torque about an oblique axis */
                CHECK_NEAR(torque[c], about, 1e-10 * mass);
            /* ∫ρ a_c X_d of the centrifugal fields about the axes of the box */
            if (i >= 6 && i < 9)
                CHECK_NEAR(virial[c][c], i - 6 == c ? 0 : mass / 12 * side[c] * side[c], 1e-10 * mass);
        }
    }
    /* rigid accelerations do not deform a free body */
    double *u = test_new(SP_INERTIA_FIELDS * w.n, 8);
    CHECK_OK(sp_flexibility_solve(w.flexibility, SP_INERTIA_FIELDS, f, u));
    double deformed = dot_product(w.n, u + 6 * w.n, u + 6 * w.n);
    for (int i = 0; i < 6; i++)
        CHECK(dot_product(w.n, u + i * w.n, u + i * w.n) < 1e-20 * deformed, "%s deforms", sp_inertia_names[i]);
    end_world(&w);
}

#ifdef SUPPLE_YANG2015

static double largest_angle(const world *w, int64_t a, const double *A, int64_t b, const double *B)
{
    double *one = test_new(a * w->n, 8), *two = test_new(b * w->n, 8), angle[64];
    int64_t count;
    memcpy(one, A, (size_t)(a * w->n) * 8);
    memcpy(two, B, (size_t)(b * w->n) * 8);
    CHECK_OK(sp_principal_angles(&context, &(sp_metric){.rows = w->n, .matrix = &w->M}, a, one, b, two, angle, &count));
    return angle[count - 1];
}

/* Krylov columns made naively: solve, multiply, normalize in the Euclidean norm, never orthogonalize. */
static void naive_krylov(world *w, int64_t width, const double *F, int64_t order, double *U)
{
    double *load = test_new(width * w->n, 8);
    memcpy(load, F, (size_t)(width * w->n) * 8);
    for (int64_t m = 0; m < order; m++) {
        double *block = U + m * width * w->n;
        CHECK_OK(sp_flexibility_solve(w->flexibility, width, load, block));
        for (int64_t c = 0; c < width; c++) {
            double norm = sqrt(dot_product(w->n, block + c * w->n, block + c * w->n));
            for (int64_t i = 0; i < w->n; i++)
                block[c * w->n + i] /= norm;
        }
        sp_sparse_times(&context, &w->M, width, block, load);
    }
}

TEST(inertia_modes_span_the_krylov_space)
{
    for (int prescribed = 0; prescribed <= 1; prescribed++) {
        world w;
        make_world(6, 3, 2, 0.1, prescribed, SP_COMPLEMENT_MASS, &w);
        enum { WIDTH = 6, ORDER = 3, COUNT = WIDTH * ORDER };
        int field[WIDTH];
        for (int i = 0; i < WIDTH; i++)
            field[i] = prescribed ? i : 6 + i;
        double *F = test_new(WIDTH * w.n, 8), *naive = test_new(COUNT * w.n, 8), *U = test_new(COUNT * w.n, 8);
        CHECK_OK(sp_inertia_forces(&context, &w.body, WIDTH, field, F));
        naive_krylov(&w, WIDTH, F, ORDER, naive);
        OWNED(sp_sparse_inner) inner;
        CHECK_OK(sp_sparse_inner_new(&context, &w.body, 40, &inner));
        for (int method = 0; method <= 2; method++) {
            sp_krylov_parameters parameters = {.count = COUNT,
                                               .orthogonalization = (enum sp_orthogonalization)method,
                                               .culling = 1e-3,
                                               .inner = &inner};
            sp_krylov_report report;
            int64_t columns;
            CHECK_OK(sp_inertia_modes(&context, w.flexibility, &w.M, WIDTH, F, &parameters, U, &columns, &report));
            CHECK(columns == COUNT && report.order == ORDER && report.solves == COUNT, "%lld columns, order %lld",
                  (long long)columns, (long long)report.order);
            double angle = largest_angle(&w, COUNT, U, COUNT, naive);
            NOTE("%s, method %d: angle to the naive space %.1e, orthonormal to %.1e, cosine before %.3f",
                 prescribed ? "anchored" : "free", method, angle, report.orthogonality, report.cosine);
            CHECK(angle < 1e-4, "spans differ by %g",
                  angle); /* the naive columns span the space to about the square root of rounding */
            if (method == SP_ORTHOGONAL_EXACT)
                CHECK(report.orthogonality < 1e-12, "orthonormal to %g", report.orthogonality);
            else
                CHECK(report.orthogonality > 1e-6, "an approximate method cannot be orthonormal to %g",
                      report.orthogonality);
            if (method == SP_ORTHOGONAL_REDUCED)
                CHECK(report.orthogonality < 0.7, "orthonormal to %g", report.orthogonality);
        }
        /* it contains the low eigenvectors, which it can therefore replace */
        double eigenvalue[10], residual[10], *mode = test_new(10 * w.n, 8);
        sp_modes_report report;
        CHECK_OK(sp_modes(&context, &w.K, &w.M, w.node, w.rigid_count, w.rigid,
                          &(sp_modes_parameters){.count = w.rigid_count + 2}, eigenvalue, mode, residual, &report));
        double angle = largest_angle(&w, 2, mode + w.rigid_count * w.n, COUNT, U);
        NOTE("first two eigenvectors are %.1e rad from it", angle);
        if (prescribed)
            CHECK(angle < 1e-2, "eigenvectors are %g rad from the Krylov space", angle);
        end_world(&w);
    }
}

/* A start block of one eigenvector spans an invariant space: there is no second column. */
TEST(an_exhausted_space_ends)
{
    world w;
    make_world(4, 2, 2, 0.1, true, SP_COMPLEMENT_MASS, &w);
    double eigenvalue[3], residual[3], *mode = test_new(3 * w.n, 8), *F = test_new(2 * w.n, 8),
                                       *U = test_new(8 * w.n, 8);
    sp_modes_report modes_report;
    CHECK_OK(sp_modes(&context, &w.K, &w.M, w.node, 0, w.rigid, &(sp_modes_parameters){.count = 3}, eigenvalue, mode,
                      residual, &modes_report));
    sp_sparse_times(&context, &w.M, 2, mode, F);
    sp_krylov_report report;
    int64_t columns;
    CHECK_OK(sp_inertia_modes(&context, w.flexibility, &w.M, 2, F, &(sp_krylov_parameters){.count = 8}, U, &columns,
                              &report));
    CHECK(columns == 2 && report.dependent == 2, "%lld columns, %lld dependent", (long long)columns,
          (long long)report.dependent);
    memset(F, 0, (size_t)(2 * w.n) * 8);
    CHECK(sp_inertia_modes(&context, w.flexibility, &w.M, 2, F, &(sp_krylov_parameters){.count = 8}, U, &columns,
                           &report) == SP_INPUT,
          "no load gave modes");
    end_world(&w);
}

/* With every vertex a sample the sparse inner product is the lumped mass, and without culling reduced mass-MGS is
 * Gram–Schmidt in it. */
TEST(all_samples_make_it_exact)
{
    world w;
    make_world(4, 3, 2, 0, false, SP_COMPLEMENT_MASS, &w);
    OWNED(sp_sparse_inner) inner;
    CHECK_OK(sp_sparse_inner_new(&context, &w.body, w.mesh.vertex_count, &inner));
    CHECK(inner.count == w.mesh.vertex_count, "%lld samples of %lld vertices", (long long)inner.count,
          (long long)w.mesh.vertex_count);
    double total = 0;
    for (int64_t i = 0; i < inner.count; i++)
        total += inner.root[i] * inner.root[i];
    CHECK_NEAR(total, 1000 * 0.2 * 0.2 * 0.2 * 24, 1e-9);
    enum { COUNT = 9, BEFORE = 4 };
    double *W = test_new(COUNT * w.n, 8), *Y = test_new(3 * inner.count * COUNT, 8),
           *mass = test_new(w.mesh.vertex_count, 8), cosine = 0;
    int64_t done = 0, culled = 0;
    random_field(COUNT * w.n, 5, W);
    sp_fe_space_vertex_mass(&w.body, true, mass);
    CHECK_OK(sp_reduced_mgs(&context, &inner, 0, w.n, 0, W, BEFORE, W, Y, &done, &culled, &cosine));
    CHECK_OK(sp_reduced_mgs(&context, &inner, 0, w.n, BEFORE, W, COUNT - BEFORE, W + BEFORE * w.n, Y, &done, &culled,
                            &cosine));
    CHECK(done == COUNT * (COUNT - 1) / 2 && culled == 0, "%lld subtractions, %lld culled", (long long)done,
          (long long)culled);
    double worst = 0;
    for (int a = 0; a < COUNT; a++)
        for (int b = 0; b < COUNT; b++) {
            double sum = 0;
            for (int64_t i = 0; i < w.n; i++)
                sum += mass[i / 3] * W[a * w.n + i] * W[b * w.n + i];
            worst = fmax(worst, fabs(sum - (a == b)));
        }
    CHECK(worst < 1e-12, "orthonormal in the lumped mass to %g", worst);
    /* culling everything only normalizes: directions stay */
    double before = W[7];
    done = culled = 0;
    CHECK_OK(sp_reduced_mgs(&context, &inner, 1.5, w.n, 0, W, COUNT, W, Y, &done, &culled, &cosine));
    CHECK(done == 0 && culled == COUNT * (COUNT - 1) / 2, "%lld subtractions, %lld culled", (long long)done,
          (long long)culled);
    CHECK_NEAR(W[7], before, 1e-12);
    end_world(&w);
}

/* The sum over boxes meets the mass integral as boxes shrink: a smooth product of fields, error over the number of
 * samples. */
TEST(sparse_inner_products_converge)
{
    world w;
    make_world(24, 12, 8, 0, false, SP_COMPLEMENT_MASS, &w);
    double *u = test_new(2 * w.n, 8), *Mu = test_new(w.n, 8), previous = INFINITY;
    for (int64_t v = 0; v < w.mesh.vertex_count; v++) {
        const double *X = w.mesh.vertices + 3 * v;
        u[3 * v] = X[0] * X[1];
        u[3 * v + 1] = 1 + X[2];
        u[w.n + 3 * v] = 2 - X[0];
        u[w.n + 3 * v + 1] = X[1] * X[0];
    }
    sp_sparse_times(&context, &w.M, 1, u, Mu);
    double exact = dot_product(w.n, Mu, u + w.n);
    for (int64_t samples = 20; samples <= 1300; samples *= 8) {
        OWNED(sp_sparse_inner) inner;
        CHECK_OK(sp_sparse_inner_new(&context, &w.body, samples, &inner));
        CHECK(inner.count >= samples, "%lld samples of %lld", (long long)inner.count, (long long)samples);
        double *Y = test_new(6 * inner.count, 8);
        sp_sparse_inner_gather(&inner, w.n, 2, u, Y);
        double error = fabs(dot_product(3 * inner.count, Y, Y + 3 * inner.count) / exact - 1);
        NOTE("%lld samples, boxes of %.2f m: relative error %.1e", (long long)inner.count, inner.box, error);
        CHECK(error < 0.6 * previous && error < 0.2, "error %g after %g", error, previous);
        previous = error;
    }
    end_world(&w);
}

/* ---- derivatives ---- */

TEST(choosing_takes_the_heaviest)
{
    double weight[4] = {1, 0.5, 0.3, 0.1};
    OWNED(sp_list) pair = {0}, order = {0};
    /* order 1: 1, .5, .3, .1 | .25, .15, .05 | .09, .03 | .01; order 2 of the first is 1 again */
    CHECK_OK(sp_inertia_derivatives_choose(&context, 4, weight, 1, 5, &pair, &order));
    const int64_t expected[5][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}};
    CHECK(order.count == 5 && pair.count == 10, "%lld derivatives", (long long)order.count);
    for (int64_t c = 0; c < order.count && c < 5; c++)
        CHECK(((int64_t *)pair.data)[2 * c] == expected[c][0] && ((int64_t *)pair.data)[2 * c + 1] == expected[c][1],
              "derivative %lld is (%lld, %lld)", (long long)c, (long long)((int64_t *)pair.data)[2 * c],
              (long long)((int64_t *)pair.data)[2 * c + 1]);
    for (int64_t most = 1; most <= 300; most += 13) {
        pair.count = order.count = 0;
        CHECK_OK(sp_inertia_derivatives_choose(&context, 4, weight, 3, most, &pair, &order));
        const int64_t *p = pair.data, *o = order.data;
        int64_t all = 10 + 40 + 160;
        CHECK(order.count == (most < all ? most : all), "%lld of %lld", (long long)order.count, (long long)most);
        double value[300], lightest = INFINITY;
        for (int64_t c = 0; c < order.count; c++) {
            bool first = p[2 * c + 1] < 4;
            CHECK(p[2 * c + 1] < 4 + c && o[c] == (first ? 1 : 1 + o[p[2 * c + 1] - 4]),
                  "derivative %lld is made of %lld", (long long)c, (long long)p[2 * c + 1]);
            value[c] = weight[p[2 * c]] * (first ? weight[p[2 * c + 1]] : value[p[2 * c + 1] - 4]);
            lightest = fmin(lightest, value[c]);
        }
        /* by brute force: how many weigh more than the lightest one taken */
        int64_t heavier = 0;
        for (int i = 0; i < 4; i++)
            for (int j = i; j < 4; j++) {
                heavier += weight[i] * weight[j] > lightest * (1 + 1e-12);
                for (int k = 0; k < 4; k++) {
                    heavier += weight[i] * weight[j] * weight[k] > lightest * (1 + 1e-12);
                    for (int l = 0; l < 4; l++)
                        heavier += weight[i] * weight[j] * weight[k] * weight[l] > lightest * (1 + 1e-12);
                }
            }
        CHECK(heavier <= order.count, "%lld are heavier than the lightest of %lld", (long long)heavier,
              (long long)order.count);
    }
}

TEST(derivatives_solve_their_equation)
{
    for (int prescribed = 0; prescribed <= 1; prescribed++) {
        world w;
        make_world(5, 3, 2, 0.1, prescribed, SP_COMPLEMENT_MASS, &w);
        enum { MODES = 3, MOST = 20 };
        int64_t rows = 3 * w.mesh.vertex_count, n = w.n, count = w.rigid_count + MODES;
        double eigenvalue[9], residual[9], weight[MODES], *mode = test_new(count * n, 8),
                                                          *all = test_new((MODES + MOST) * rows, 8);
        sp_modes_report modes_report;
        CHECK_OK(sp_modes(&context, &w.K, &w.M, w.node, w.rigid_count, w.rigid, &(sp_modes_parameters){.count = count},
                          eigenvalue, mode, residual, &modes_report));
        for (int i = 0; i < MODES; i++) {
            sp_fe_space_scatter(&w.body, mode + (w.rigid_count + i) * n, all + i * rows);
            weight[i] = eigenvalue[w.rigid_count] / eigenvalue[w.rigid_count + i];
        }
        OWNED(sp_list) pair = {0}, order = {0};
        CHECK_OK(sp_inertia_derivatives_choose(&context, MODES, weight, 2, MOST, &pair, &order));
        sp_inertia_derivatives_report report;
        CHECK_OK(sp_inertia_derivatives(&context, &w.body, &w.K, w.flexibility, MODES, order.count, pair.data, all,
                                        &report));
        CHECK(report.residual < 1e-10, "residual %g", report.residual);
        /* (H:u)v is the derivative of K(su)v at s = 0, and K is quadratic: the central quotient is exact */
        double *u = test_new(rows, 8), *plus = test_new(rows, 8), *minus = test_new(rows, 8), *load = test_new(n, 8),
               *V = test_new(n, 8), *KV = test_new(n, 8), *MV = test_new(n, 8), worst = 0;
        for (int64_t c = 0; c < order.count; c++) {
            const int64_t *p = (int64_t *)pair.data + 2 * c;
            for (int sign = 1; sign >= -1; sign -= 2) {
                for (int64_t i = 0; i < rows; i++)
                    u[i] = sign * 0.01 * all[p[0] * rows + i];
                sp_elastic_tangent_times(&context, &w.body, u, all + p[1] * rows, sign > 0 ? plus : minus);
            }
            for (int64_t i = 0; i < rows; i++)
                plus[i] = -(plus[i] - minus[i]) / 0.02;
            sp_fe_space_gather(&w.body, plus, load);
            sp_fe_space_gather(&w.body, all + (MODES + c) * rows, V);
            sp_sparse_times(&context, &w.K, 1, V, KV);
            sp_sparse_times(&context, &w.M, 1, V, MV);
            for (int64_t r = 0; r < w.rigid_count; r++) { /* the part that accelerates a free body */
                const double *R = w.rigid + r * n;
                double part = dot_product(n, R, load), *MR = u;
                CHECK(fabs(dot_product(n, R, MV)) < 1e-9 * sqrt(dot_product(n, V, MV)),
                      "a derivative contains a rigid motion");
                sp_sparse_times(&context, &w.M, 1, R, MR);
                for (int64_t i = 0; i < n; i++)
                    load[i] -= part * MR[i];
            }
            double error = 0;
            for (int64_t i = 0; i < n; i++)
                error += (KV[i] - load[i]) * (KV[i] - load[i]);
            worst = fmax(worst, sqrt(error / dot_product(n, load, load)));
        }
        NOTE("%s: %lld derivatives, equation off by %.1e", prescribed ? "anchored" : "free", (long long)order.count,
             worst);
        CHECK(worst < 1e-7, "off by %g", worst);
        if (prescribed) { /* order 1 is the modal derivative */
            double *phi = test_new(rows, 8);
            sp_derivatives_report modal;
            CHECK_OK(sp_modal_derivatives(&context, &w.body, MODES, all, 1, pair.data, 0, NULL, NULL, phi, &modal));
            for (int64_t i = 0; i < rows; i++)
                phi[i] -= all[MODES * rows + i];
            double difference =
                sqrt(dot_product(rows, phi, phi) / dot_product(rows, all + MODES * rows, all + MODES * rows));
            CHECK(difference < 1e-10, "modal and inertia derivative differ by %g", difference);
        }
        end_world(&w);
    }
}
#endif
