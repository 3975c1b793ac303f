/* Modal cubature (weights by coordinate): training, and motion under a force with unsymmetric stiffness. */
#include "cubature/cubature.h"
#include "cubature/joint.h"
#include "fixture.h"
#include "integrate/integrate.h"
#include "linear/iterate.h"
#include "model/loads.h"
#include "model/models.h"
#include "reduced/mass.h"
#ifdef SUPPLE_YANG2015
#include "cubature/incremental.h"
#endif

#include <cblas.h>
#include <lapacke.h>

OWNER(sp_integrator)
OWNER(sp_training)
#ifdef SUPPLE_YANG2015
OWNER(sp_modal)
#endif

enum { R = 5, PULLED = 44 };

/* A bar, fixed at x = 0, of n · 2 · 2 cubes in six tetrahedra each, with smooth fields. */
static void make_block(int n, enum sp_law law, held_block *b)
{
    *b = (held_block){0};
    make_box(n, 2, 2, 0.3, 0.05, &b->mesh);
    split_mesh(&b->mesh);
    b->mesh.materials[0].law = law;
    hold_block(R, b);
}

/* All elements, weights about 1 that differ by coordinate, or that are the same for all. */
static void all_elements(const held_block *b, bool modal, bool differ, sp_cubature *cubature)
{
    int64_t n = b->elements;
    *cubature = (sp_cubature){.r = R, .count = n, .modal = modal};
    cubature->element = sp_pool_new(&cubature->pool, n, sizeof(int64_t));
    cubature->weight = sp_pool_new(&cubature->pool, n * R, sizeof(double));
    for (int64_t e = 0; e < n; e++)
        cubature->element[e] = e;
    for (int64_t k = 0; k < n * R; k++)
        cubature->weight[k] = 0.5 + sp_random_uniform(2, 2, (uint64_t)(differ ? k : k % n));
    CHECK_OK(sp_cubature_check(&context, cubature, n));
}

/* ---- solvers ---- */

typedef struct dense {
    int n;
    double *A, *scale; /* [n, n], [n] */
} dense;

static void dense_times(void *self, const double *x, double *y)
{
    const dense *d = self;
    cblas_dgemv(CblasColMajor, CblasNoTrans, d->n, d->n, 1, d->A, d->n, x, 1, 0, y, 1);
}

static void dense_precondition(void *self, const double *x, double *y)
{
    const dense *d = self;
    for (int i = 0; i < d->n; i++)
        y[i] = d->scale[i] * x[i];
}

/* Matrices close to a badly scaled diagonal: the solutions are those of LAPACK, with fewer products than unknowns, with
 * and without restarts. */
TEST(iterative_solvers)
{
    enum { N = 60 };
    double *A = test_new(N * N, 8), *factor = test_new(N * N, 8), b[N], x[N], scale[N], expected[N];
    int pivot[N];
    OWNED(sp_pool) pool = {0};
    for (int symmetric = 0; symmetric < 2; symmetric++)
        for (int restart = 5; restart <= 60; restart += 55) {
            dense d = {N, A, scale};
            sp_operator op = {&d, N, dense_times, dense_precondition};
            sp_iteration work;
            sp_iteration_new(&pool, N, restart, &work);

            for (int j = 0; j < N; j++)
                for (int i = 0; i < N; i++) {
                    int low = symmetric && i < j ? i : j, high = symmetric && i < j ? j : i;
                    double size = pow(1.3, 0.5 * (i + j));
                    A[j * N + i] =
                        size * ((i == j) + 0.04 * (2 * sp_random_uniform(3, (uint64_t)low, (uint64_t)high) - 1));
                }
            for (int i = 0; i < N; i++)
                scale[i] = 1 / A[i * N + i];

            random_field(N, 8, b);
            memcpy(factor, A, N * N * sizeof *A);
            memcpy(expected, b, sizeof b);
            CHECK(LAPACKE_dgesv(LAPACK_COL_MAJOR, N, 1, factor, N, pivot, expected, N) == 0, "dgesv");

            int64_t products = sp_gmres(&op, &work, 1e-12, 1000, b, x);
            CHECK(products > 0 && products < N, "%lld products", (long long)products);
            for (int i = 0; i < N; i++)
                CHECK_NEAR(x[i], expected[i], 1e-9 * fabs(expected[i]) + 1e-10 * scale[i]);
            CHECK(sp_gmres(&op, &work, 1e-12, 3, b, x) == -1, "three products are not enough");

            if (symmetric) {
                products = sp_conjugate_gradients(&op, &work, 1e-12, 1000, b, x);
                CHECK(products > 0 && products < N, "%lld products", (long long)products);
                for (int i = 0; i < N; i++)
                    CHECK_NEAR(x[i], expected[i], 1e-9 * fabs(expected[i]) + 1e-10 * scale[i]);
                A[N * N - 1] = -A[N * N - 1];
                CHECK(sp_conjugate_gradients(&op, &work, 1e-12, 1000, b, x) == -1, "indefinite");
                CHECK(sp_gmres(&op, &work, 1e-10, 1000, b, x) > 0, "indefinite, but not singular");
            }

            memset(b, 0, sizeof b);
            CHECK(sp_gmres(&op, &work, 1e-12, 1000, b, x) == 0 && x[0] == 0, "b = 0");
            b[3] = NAN;
            CHECK(sp_gmres(&op, &work, 1e-12, 1000, b, x) == -1 &&
                      sp_conjugate_gradients(&op, &work, 1e-12, 1000, b, x) == -1,
                  "not a number");
        }

    /* one product with the identity, and a singular matrix */
    dense d = {N, A, scale};
    sp_operator op = {&d, N, dense_times, dense_precondition};
    sp_iteration work;
    sp_iteration_new(&pool, N, 10, &work);

    memset(A, 0, N * N * sizeof *A);
    random_field(N, 9, b);
    for (int i = 0; i < N; i++)
        scale[i] = 1;
    CHECK(sp_gmres(&op, &work, 1e-12, 1000, b, x) == -1, "the zero matrix");

    for (int i = 0; i < N; i++)
        A[i * N + i] = 1;
    CHECK(sp_gmres(&op, &work, 1e-12, 1000, b, x) == 2, "one product and one to see the residual");
    CHECK_NEAR(x[N - 1], b[N - 1], 1e-15);
}

/* K(q) v without K. */
TEST(products_with_the_stiffness)
{
    for (int modal = 0; modal < 2; modal++) {
        OWNED(held_block) b;
        OWNED(sp_cubature) cubature;
        sp_reduced_force force;
        double q[R], v[R], K[R * R], y[R];
        make_block(4, SP_LAW_STABLE_NEO_HOOKEAN, &b);
        all_elements(&b, modal, true, &cubature);
        CHECK_OK(sp_cubature_force_new(&context, &b.body, &cubature, R, b.U, &force));
        random_field(R, 3, q);
        random_field(R, 4, v);
        cblas_dscal(R, 0.05, q, 1);
        force.evaluate(force.self, q, false, NULL, K);
        force.times(force.self, q, v, y);
        for (int i = 0; i < R; i++)
            CHECK_NEAR(y[i], cblas_ddot(R, K + i, R, v, 1), 1e-12 * cblas_dnrm2(R * R, K, 1));
        force.destroy(force.self);
    }
}

/* ---- motion ---- */

static void make_system(held_block *b, const sp_cubature *cubature, enum sp_jacobian jacobian, sp_system *system)
{
    double mass[R * R], gravity[3 * R];
    sp_reduced_force force;
    CHECK_OK(sp_reduced_mass(&context, &b->body, false, R, b->U, mass, gravity));
    CHECK_OK(sp_cubature_force_new(&context, &b->body, cubature, R, b->U, &force));
    CHECK_OK(sp_reduced_system_new(&context, &force, mass, b->U, b->rows, b->mesh.vertices, system));
    CHECK_OK(sp_reduced_system_jacobian(system, jacobian, 0));
}

typedef struct motion {
    double q[R], first[SP_WORK_COUNT], energy[SP_WORK_COUNT];
    sp_integrator_report report;
    int64_t solves, products;
} motion;

/* From rest, under a force, gravity and a spring that ends. */
static motion move(held_block *b, const sp_cubature *cubature, enum sp_jacobian jacobian,
                   const sp_integrator_parameters *parameters, int steps)
{
    sp_load loads[2] = {{0, 0.3, SP_LOAD_VERTEX, PULLED, {5000, 8000, 0}, .stiffness = 0},
                        {0, 0.021, SP_LOAD_SPRING, PULLED, {1, 0.2, 0.5}, .stiffness = 4000}};
    FREED_BY(sp_reduced_system_free) sp_system system;
    OWNED(sp_load_set) loading;
    OWNED_POINTER(sp_integrator) *it;
    motion m = {0};
    make_system(b, cubature, jacobian, &system);
    CHECK_OK(sp_load_set_new(&context, &b->body, b->U, R, 2, loads, (double[]){0, -9.81, 5}, &system, &loading));
    sp_external_loads forcing = sp_load_set_external(&loading);
    CHECK_OK(sp_integrator_new(&context, &system, &forcing, parameters, NULL, NULL, &it));
    sp_integrator_energies(it, m.first);
    for (int step = 0; step < steps; step++)
        CHECK_OK(sp_integrator_step(it));
    memcpy(m.q, sp_integrator_q(it), sizeof m.q);
    sp_integrator_energies(it, m.energy);
    m.report = *sp_integrator_reported(it);
    sp_reduced_system_iterations(&system, &m.solves, &m.products);
    return m;
}

static double distance(const double *a, const double *b)
{
    double square = 0;
    for (int i = 0; i < R; i++)
        square += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(square) / cblas_dnrm2(R, a, 1);
}

/* The four matrices give the same motion, and Newton's method converges fastest with the true one. Both kinds of
 * damping; equilibria too. */
TEST(four_jacobians_one_motion)
{
    static const char *const names[] = {[SP_JACOBIAN_SYMMETRIC] = "symmetric",
                                        [SP_JACOBIAN_EXACT] = "exact",
                                        [SP_JACOBIAN_KRYLOV] = "krylov",
                                        [SP_JACOBIAN_FREE] = "free"};
    const sp_integrator_parameters runs[] = {
        {.kind = SP_NEWMARK,
         .step = 2e-3,
         .beta = 0.25,
         .gamma = 0.5,
         .damping_mass = 1,
         .damping_stiffness = 2e-3,
         .tolerance = 1e-12},
        {.kind = SP_STATIC, .step = 2e-3, .tolerance = 1e-12},
    };

    for (int modal = 0; modal < 2; modal++)
        for (int kind = 0; kind < 2; kind++) {
            OWNED(held_block) b;
            OWNED(sp_cubature) cubature;
            motion m[4];
            int steps = kind ? 4 : 60;
            make_block(4, SP_LAW_STVK, &b);
            all_elements(&b, modal, true, &cubature);

            for (int j = 0; j < 4; j++) {
                m[j] = move(&b, &cubature, (enum sp_jacobian)j, &runs[kind], steps);
                CHECK(distance(m[0].q, m[j].q) < 1e-8, "%s differs by %g", names[j], distance(m[0].q, m[j].q));
                CHECK(m[j].report.worst_residual < 1e-9, "residual %g", m[j].report.worst_residual);
                CHECK((m[j].solves > 0) == (j >= SP_JACOBIAN_KRYLOV), "%lld iterative solves", (long long)m[j].solves);
                NOTE("%s, %s, %s: %.2f iterations a step, %.2f products each, |q| %.3g", kind ? "static" : "Newmark",
                     modal ? "by coordinate" : "by element", names[j], (double)m[j].report.newton_iterations / steps,
                     m[j].solves ? (double)m[j].products / (double)m[j].solves : 0, cblas_dnrm2(R, m[j].q, 1));
            }

            CHECK(distance(m[SP_JACOBIAN_SYMMETRIC].q, m[SP_JACOBIAN_EXACT].q) < 1e-8, "symmetric differs by %g",
                  distance(m[SP_JACOBIAN_SYMMETRIC].q, m[SP_JACOBIAN_EXACT].q));
            CHECK(m[SP_JACOBIAN_EXACT].report.newton_iterations <= 5 * steps + 20 * kind,
                  "the exact matrix takes %lld iterations", (long long)m[SP_JACOBIAN_EXACT].report.newton_iterations);
            CHECK(m[SP_JACOBIAN_KRYLOV].report.newton_iterations == m[SP_JACOBIAN_EXACT].report.newton_iterations,
                  "krylov is not exact: %lld, %lld", (long long)m[SP_JACOBIAN_KRYLOV].report.newton_iterations,
                  (long long)m[SP_JACOBIAN_EXACT].report.newton_iterations);
            if (modal)
                CHECK(m[SP_JACOBIAN_SYMMETRIC].report.newton_iterations > m[SP_JACOBIAN_EXACT].report.newton_iterations,
                      "the symmetrized matrix takes only %lld iterations",
                      (long long)m[SP_JACOBIAN_SYMMETRIC].report.newton_iterations);
            else
                CHECK(!memcmp(m[SP_JACOBIAN_SYMMETRIC].q, m[SP_JACOBIAN_EXACT].q, sizeof m[SP_JACOBIAN_SYMMETRIC].q),
                      "exact is symmetric there");
        }
}

/* Weights that are the same for all coordinates have an energy: the work along the path comes near it as h², springs
 * and their change included. */
TEST(work_in_place_of_energy)
{
    OWNED(held_block) b;
    OWNED(sp_cubature) joint, modal;
    double error[2];
    make_block(4, SP_LAW_STVK, &b);
    all_elements(&b, false, false, &joint);
    all_elements(&b, true, false, &modal);
    for (int s = 0; s < 2; s++) {
        sp_integrator_parameters parameters = {.kind = SP_NEWMARK,
                                               .step = s ? 5e-4 : 1e-3,
                                               .beta = 0.25,
                                               .gamma = 0.5,
                                               .damping_mass = 20,
                                               .tolerance = 1e-12};
        int steps = s ? 80 : 40; /* after the end of the spring */
        motion known = move(&b, &joint, SP_JACOBIAN_EXACT, &parameters, steps),
               found = move(&b, &modal, SP_JACOBIAN_EXACT, &parameters, steps);
        CHECK(distance(known.q, found.q) < 1e-9, "the same motion");
        error[s] = fabs(found.energy[SP_WORK_STORED] / known.energy[SP_WORK_STORED] - 1);
        CHECK_NEAR(found.energy[SP_WORK_EXTERNAL], known.energy[SP_WORK_EXTERNAL],
                   1e-8 * fabs(known.energy[SP_WORK_EXTERNAL]));
    }
    NOTE("errors of the work %.2e, %.2e", error[0], error[1]);
    CHECK(error[0] < 0.02 && fabs(log2(error[0] / error[1]) - 2) < 0.3, "errors of the work %g, %g", error[0],
          error[1]);
}

static double turning_force(void *self, const double *q, bool definite, double *f, double *K)
{
    const double *k = self; /* stiffness and coupling */
    (void)definite;
    if (f) {
        f[0] = k[0] * q[0] - k[1] * q[1];
        f[1] = k[1] * q[0] + k[0] * q[1];
    }
    if (K)
        memcpy(K, (double[]){k[0], k[1], -k[1], k[0]}, 4 * sizeof *K);
    return 0;
}

/* Two coordinates that excite each other: λ = k ± ia, so that motions grow as exp(t √((|λ| − k)/2)), also in a
 * simulation. */
TEST(growth_without_an_energy)
{
    double k[2] = {100, 12}, mass[4] = {1, 0, 0, 1}, growth, expected = sqrt((hypot(100, 12) - 100) / 2),
           start[2] = {1e-3, 0}, v[2] = {0, 0}, energy[SP_WORK_COUNT];
    sp_reduced_force force = {.self = k, .r = 2, .unsymmetric = true, .evaluate = turning_force};
    sp_system system;
    OWNED(sp_load_set) loading;
    OWNED_POINTER(sp_integrator) *it;
    OWNED(held_block) b;
    make_block(2, SP_LAW_STVK, &b);

    CHECK_OK(sp_reduced_system_new(&context, &force, mass, b.U, b.rows, b.mesh.vertices, &system));
    CHECK_OK(sp_reduced_system_growth(&system, &growth));
    CHECK_NEAR(growth, expected, 1e-12);
    CHECK_OK(sp_reduced_system_jacobian(&system, SP_JACOBIAN_EXACT, 0));
    CHECK_OK(sp_load_set_new(&context, &b.body, b.U, 2, 0, NULL, (double[]){0, 0, 0}, &system, &loading));
    sp_external_loads forcing = sp_load_set_external(&loading);
    CHECK_OK(sp_integrator_new(
        &context, &system, &forcing,
        &(sp_integrator_parameters){.kind = SP_NEWMARK, .step = 1e-3, .beta = 0.25, .gamma = 0.5}, start, v, &it));

    double size[2];
    for (int part = 0; part < 2; part++) {
        for (int step = 0; step < 6283; step++) /* ten periods of √k */
            CHECK_OK(sp_integrator_step(it));
        sp_integrator_energies(it, energy);
        const double *q = sp_integrator_q(it);
        size[part] = energy[SP_WORK_KINETIC] + 50 * (q[0] * q[0] + q[1] * q[1]);
    }

    CHECK_NEAR(0.5 * log(size[1] / size[0]) / 6.283, expected, 0.01 * expected);
    CHECK(energy[SP_WORK_STORED] < 0, "the force does work: %g", energy[SP_WORK_STORED]);
    sp_reduced_system_free(&system);

    OWNED(sp_cubature) alike;
    all_elements(&b, true, false, &alike);
    make_system(&b, &alike, SP_JACOBIAN_EXACT, &system);
    CHECK_OK(sp_reduced_system_growth(&system, &growth));
    CHECK(growth < 1e-3, "weights that are alike: %g", growth);
    sp_reduced_system_free(&system);
}

/* Each integrator with such a force: semi-implicit steps, central differences near Newmark, no energy-conserving step.
 */
TEST(other_integrators)
{
    OWNED(held_block) b;
    OWNED(sp_cubature) cubature;
    FREED_BY(sp_reduced_system_free) sp_system system;
    sp_integrator *it;
    OWNED(sp_load_set) loading;
    make_block(4, SP_LAW_STVK, &b);
    all_elements(&b, true, true, &cubature);
    sp_integrator_parameters newmark = {.kind = SP_NEWMARK,
                                        .step = 1e-4,
                                        .beta = 0.25,
                                        .gamma = 0.5,
                                        .damping_mass = 5},
                             central = newmark, semi = newmark;
    central.kind = SP_CENTRAL;
    semi.semi_implicit = true;

    motion reference = move(&b, &cubature, SP_JACOBIAN_EXACT, &newmark, 400),
           m = move(&b, &cubature, SP_JACOBIAN_SYMMETRIC, &central, 400);
    CHECK(distance(reference.q, m.q) < 1e-3, "central differences are off by %g", distance(reference.q, m.q));
    CHECK(m.report.stability_limit > 1e-4, "limit %g s", m.report.stability_limit);
    CHECK(fabs(m.energy[0] + m.energy[1] - m.first[0] - m.first[1] - m.energy[2] + m.energy[3]) <
              1e-3 * fabs(m.energy[1]),
          "balance: %g %g %g %g", m.energy[0], m.energy[1], m.energy[2], m.energy[3]);

    for (int j = 0; j < 4; j++) {
        m = move(&b, &cubature, (enum sp_jacobian)j, &semi, 400);
        CHECK(distance(reference.q, m.q) < 2e-3, "%d: one iteration is off by %g", j, distance(reference.q, m.q));
    }

    make_system(&b, &cubature, SP_JACOBIAN_EXACT, &system);
    CHECK_OK(sp_load_set_new(&context, &b.body, b.U, R, 0, NULL, (double[]){0, 0, 0}, &system, &loading));
    sp_external_loads forcing = sp_load_set_external(&loading);
    CHECK(sp_integrator_new(&context, &system, &forcing, &(sp_integrator_parameters){.kind = SP_ENERGY, .step = 1e-3},
                            NULL, NULL, &it) == SP_USAGE &&
              strstr(context.message, "has none"),
          "%s", context.message);
}

#ifdef SUPPLE_YANG2015
/* ---- training ---- */

static void make_poses(held_block *b, int64_t count, uint64_t stream, sp_poses *poses)
{
    *poses = (sp_poses){.r = R, .count = count};
    poses->q = sp_pool_new(&poses->pool, R * count, sizeof(double));
    poses->force = sp_pool_new(&poses->pool, R * count, sizeof(double));
    for (int64_t k = 0; k < R * count; k++)
        poses->q[k] = 0.05 * sp_random_normal(9, stream, (uint64_t)k);
    CHECK_OK(sp_poses_evaluate(&context, &b->body, b->U, 0, 0, count, poses, NULL));
}

static void train(held_block *b, const sp_poses *poses, const sp_modal_points *points, bool nested,
                  sp_cubature *cubature, sp_modal_report *report)
{
    OWNED_POINTER(sp_training) *training;
    OWNED_POINTER(sp_modal) *modal;
    CHECK_OK(sp_training_new(&context, &b->body, b->U, &(sp_training_measure){0}, poses, 0, &training));
    CHECK_OK(sp_modal_new(&context, points, R, &modal));
    CHECK_OK(sp_modal_add(modal, training));
    CHECK_OK(sp_modal_solve(modal, nested, cubature, report));
}

static double error_on(held_block *b, const sp_poses *poses, const sp_cubature *cubature, bool nested)
{
    double error = NAN;
    OWNED_POINTER(sp_training) *training;
    CHECK_OK(sp_training_new(&context, &b->body, b->U, &(sp_training_measure){0}, poses, 0, &training));
    CHECK_OK(sp_cubature_error(&context, training, cubature, nested, &error, NULL));
    return error;
}

/* A cube of 4 · 4 · 4 cubes has 2 · 2 · 2 boxes with eight elements each; lists are increasing and near the number
 * asked for. */
TEST(elements_are_evenly_placed)
{
    OWNED(sp_mesh) mesh;
    sp_fe_space body;
    sp_modal_points points;
    make_box(4, 4, 4, 0.5, 0, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_modal_points_new(&context, &body, 8, &points));
    CHECK(points.count == 8 && fabs(points.edge - 1) < 0.34, "%lld elements, boxes of %g", (long long)points.count,
          points.edge);

    int octants = 0, half = 0;
    for (int64_t k = 0; k < points.count; k++) {
        int64_t e = points.element[k], x = e % 4 / 2, y = e / 4 % 4 / 2, z = e / 16 / 2;
        octants |= 1 << (x + 2 * y + 4 * z);
        half += points.half[k];
        CHECK(points.half[k] == points.half[0] ? (x + y + z) % 2 == 0 : (x + y + z) % 2 == 1, "a chessboard");
    }
    CHECK(octants == 255 && half == 4, "octants %x, half %d", octants, half);
    sp_modal_points_free(&points);

    CHECK_OK(sp_modal_points_new(&context, &body, 1000, &points));
    CHECK(points.count == 64 && points.edge == 0 && points.element[63] == 63, "all");
    sp_modal_points_free(&points);
    CHECK_OK(sp_modal_points_new(&context, &body, 1, &points));
    CHECK(points.count == 1 && points.half[0], "one");
    sp_modal_points_free(&points);
    CHECK(sp_modal_points_new(&context, &body, 0, &points) == SP_USAGE, "none");
    sp_fe_space_free(&body);

    OWNED(held_block) b;
    make_block(12, SP_LAW_STVK, &b);
    for (int64_t asked = 5; asked < b.elements; asked = asked * 3 / 2) {
        CHECK_OK(sp_modal_points_new(&context, &b.body, asked, &points));
        CHECK(fabs((double)points.count / (double)asked - 1) < 0.35, "%lld of %lld asked for", (long long)points.count,
              (long long)asked);
        for (int64_t k = 1; k < points.count; k++)
            CHECK(points.element[k] > points.element[k - 1], "order");
        sp_modal_points_free(&points);
    }
}

/* Forces made with known weights of the selected elements reproduce these weights. Errors by their definitions. */
TEST(known_weights)
{
    OWNED(held_block) b;
    sp_poses poses;
    sp_training *training;
    OWNED(sp_modal_points) points;
    sp_modal_report report;
    sp_cubature cubature;
    make_block(8, SP_LAW_STVK, &b);
    make_poses(&b, 60, 3, &poses);
    CHECK_OK(sp_modal_points_new(&context, &b.body, 15, &points));

    int64_t n = points.count, m = R * poses.count;
    double *A = test_new(m * n, 8), *expected = test_new(R * n, 8), *force = test_new(m, 8);
    for (int64_t k = 0; k < R * n; k++)
        expected[k] = 5 + 20 * sp_random_uniform(4, 4, (uint64_t)k);

    CHECK_OK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &poses, 0, &training));
    CHECK_OK(sp_training_columns(training, n, points.element, A));
    for (int64_t i = 0; i < m; i++)
        for (int64_t k = 0; k < n; k++)
            force[i] += expected[i % R * n + k] * A[k * m + i] * cblas_dnrm2(R, poses.force + i / R * R, 1);
    sp_training_free(training);
    memcpy(poses.force, force, (size_t)m * 8);

    train(&b, &poses, &points, false, &cubature, &report);
    CHECK(cubature.count == n && cubature.modal, "%lld elements", (long long)cubature.count);
    CHECK(report.error < 1e-10 && report.mean_error < 1e-10 && report.kkt < 1e-10, "error %g, %g, KKT %g", report.error,
          report.mean_error, report.kkt);
    for (int64_t k = 0; k < R * n && cubature.count == n; k++)
        CHECK_NEAR(cubature.weight[k], expected[k], 1e-7 * expected[k]);
    sp_cubature_free(&cubature);

    /* and with the true forces: not exact, but minimal for every coordinate */
    sp_poses_free(&poses);
    make_poses(&b, 60, 3, &poses);
    train(&b, &poses, &points, false, &cubature, &report);
    CHECK_OK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &poses, 0, &training));
    CHECK_OK(sp_training_columns(training, n, points.element, A));

    const double *target = sp_training_target(training);
    double mean = 0, all = 0, kkt = 0;
    for (int64_t j = 0; j < R; j++) {
        double residual[60], missed = 0, size = 0;
        for (int64_t t = 0; t < 60; t++) {
            residual[t] = target[t * R + j];
            size += residual[t] * residual[t];
            for (int64_t k = 0, at = 0; k < n; k++)
                if (at < cubature.count && cubature.element[at] == points.element[k])
                    residual[t] -= A[k * m + t * R + j] * cubature.weight[j * cubature.count + at++];
            missed += residual[t] * residual[t];
        }
        for (int64_t k = 0, at = 0; k < n; k++) {
            double along = 0, square = 0;
            for (int64_t t = 0; t < 60; t++) {
                along += A[k * m + t * R + j] * residual[t];
                square += A[k * m + t * R + j] * A[k * m + t * R + j];
            }
            bool kept = at < cubature.count && cubature.element[at] == points.element[k];
            if (square > 0)
                kkt = fmax(kkt, (kept && cubature.weight[j * cubature.count + at] > 0 ? fabs(along) : fmax(0, along)) /
                                    sqrt(square * size));
            at += kept;
        }
        mean += sqrt(missed / size) / R;
        all += missed;
    }

    CHECK_NEAR(report.mean_error, mean, 1e-10);
    CHECK_NEAR(report.error, sqrt(all / 60), 1e-10); /* ‖b‖² is the number of poses */
    CHECK(kkt < 1e-10 && report.kkt < 1e-10, "KKT %g, stated %g", kkt, report.kkt);
    CHECK_NEAR(error_on(&b, &poses, &cubature, false), report.error, 1e-10);
    sp_training_free(training);
    sp_cubature_free(&cubature);
    sp_poses_free(&poses);
}

/* More elements reduce the errors of training and of validation, and all elements have none. The same bytes for any
 * number of threads; poses in two parts are the same as in one. */
TEST(error_falls)
{
    OWNED(held_block) b;
    OWNED(sp_poses) poses, others;
    double first = 0, last = 0;
    make_block(12, SP_LAW_STABLE_NEO_HOOKEAN, &b);
    make_poses(&b, 300, 3, &poses);
    make_poses(&b, 40, 4, &others);

    for (int64_t asked = 4; asked <= 64; asked *= 2) {
        OWNED(sp_modal_points) points;
        sp_cubature cubature[3];
        sp_modal_report report;
        CHECK_OK(sp_modal_points_new(&context, &b.body, asked, &points));

        for (int k = 0; k < 3; k++) {
            context.threads = 1 << k;
            train(&b, &poses, &points, true, &cubature[k], &report);
            size_t bytes = (size_t)(cubature[0].count * R) * 8;
            CHECK(cubature[k].count == cubature[0].count && !memcmp(cubature[k].weight, cubature[0].weight, bytes) &&
                      !memcmp(cubature[k].nested, cubature[0].nested, bytes),
                  "%d threads give others", 1 << k);
        }
        context.threads = 1;

        double out = error_on(&b, &others, &cubature[0], false);
        CHECK_NEAR(error_on(&b, &poses, &cubature[0], true), report.nested_error, 1e-10);
        CHECK(report.nested_error >= report.error && 2 * report.nested_count <= points.count + (points.count == 1),
              "nested: %g, %lld elements", report.nested_error, (long long)report.nested_count);
        CHECK(out < 2 * report.error + 1e-6, "held out: %g, fitted %g", out, report.error);
        NOTE("%lld elements: error %.2e, held out %.2e, nested %.2e with %lld", (long long)points.count, report.error,
             out, report.nested_error, (long long)report.nested_count);
        CHECK(first == 0 || report.error < last, "error %g after %g", report.error, last);
        first = first == 0 ? report.error : first;
        last = report.error;
        for (int k = 0; k < 3; k++)
            sp_cubature_free(&cubature[k]);
    }

    CHECK(last < 0.25 * first, "from %g to %g only", first, last);
    OWNED(sp_modal_points) points;
    OWNED_POINTER(sp_modal) *parts;
    OWNED(sp_cubature) whole, joined;
    sp_modal_report report, again;
    CHECK_OK(sp_modal_points_new(&context, &b.body, 30, &points));
    train(&b, &poses, &points, false, &whole, &report);

    CHECK_OK(sp_modal_new(&context, &points, R, &parts));
    for (int part = 0; part < 3; part++) {
        sp_poses some = {.r = R, .count = 100, .q = poses.q + 100 * R * part, .force = poses.force + 100 * R * part};
        OWNED_POINTER(sp_training) *training;
        CHECK_OK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &some, 0, &training));
        CHECK_OK(sp_modal_add(parts, training));
    }
    CHECK_OK(sp_modal_solve(parts, false, &joined, &again));
    CHECK(joined.count == whole.count, "%lld, %lld", (long long)joined.count, (long long)whole.count);
    for (int64_t k = 0; k < R * whole.count && joined.count == whole.count; k++)
        CHECK_NEAR(joined.weight[k], whole.weight[k], 1e-8 * (1 + whole.weight[k]));

    double by_pose[300];
    sp_modal_pose_errors(parts, by_pose);
    CHECK_NEAR(cblas_dnrm2(300, by_pose, 1), again.error * sqrt(300), 1e-10);
}

/* ---- Algorithm 1 ---- */

typedef struct source {
    held_block *b;
    sp_poses *poses;
    const double *quotient;
    int64_t calls, sizes[100];
    double centres,
        widest; /* the largest |centre| by the rest deviation; the largest deviation by what it should be, less 1 */
} source;

static int add_poses(void *data, int64_t count, const double *centre, const double *deviation)
{
    source *s = data;
    int64_t before = s->poses->count;
    s->sizes[s->calls++] = count;
    for (int j = 0; j < R; j++) {
        double rest = 1 / sqrt(s->quotient[j]);
        s->centres = fmax(s->centres, fabs(centre[j]) / rest);
        s->widest = fmax(s->widest, fabs(deviation[j] / (rest + fabs(centre[j])) - 1));
    }
    sp_poses_sample(&context, R, deviation, centre, before, count, s->poses->q + before * R);
    s->poses->count += count;
    return sp_poses_evaluate(&context, &s->b->body, s->b->U, 0, before, s->poses->count, s->poses, NULL);
}

/* It stops when the error changes by less than requested, and the result is nearly as good on other poses as one with
 * many more poses. */
TEST(training_that_stops_by_itself)
{
    enum { ROOM = 3000 };
    OWNED(held_block) b;
    OWNED(sp_poses) many = {.r = R, .count = ROOM}, others = {.r = R, .count = 200};
    OWNED(sp_modal_points) points;
    sp_modal_report report;
    sp_cubature cubature;
    double quotient[R], deviation[R];
    for (int j = 0; j < R; j++) {
        quotient[j] = 400 * (1 + j);
        deviation[j] = 1 / sqrt(quotient[j]);
    }
    make_block(12, SP_LAW_STVK, &b);

    sp_poses *all[] = {&many, &others};
    for (int k = 0; k < 2; k++) {
        all[k]->q = sp_pool_new(&all[k]->pool, R * all[k]->count, 8);
        all[k]->force = sp_pool_new(&all[k]->pool, R * all[k]->count, 8);
        sp_poses_sample(&context, R, deviation, NULL, 5000 + 5000 * k, all[k]->count, all[k]->q);
        CHECK_OK(sp_poses_evaluate(&context, &b.body, b.U, 0, 0, all[k]->count, all[k], NULL));
    }

    CHECK_OK(sp_modal_points_new(&context, &b.body, 30, &points));
    train(&b, &many, &points, false, &cubature, &report);
    double best = error_on(&b, &others, &cubature, false);
    sp_cubature_free(&cubature);

    for (int adjust = 0; adjust < 2; adjust++) {
        OWNED(sp_poses) poses = {.r = R};
        sp_incremental_report found;
        poses.q = sp_pool_new(&poses.pool, R * ROOM, 8);
        poses.force = sp_pool_new(&poses.pool, R * ROOM, 8);
        source s = {.b = &b, .poses = &poses, .quotient = quotient};
        OWNED_POINTER(sp_training) *judge;
        CHECK_OK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &others, 0, &judge));

        sp_incremental_parameters parameters = {.held_out = judge,
                                                .change = 0.002,
                                                .most = 90,
                                                .adjust = adjust,
                                                .nested = adjust,
                                                .deviation = deviation,
                                                .add = add_poses,
                                                .data = &s,
                                                .measure = &(sp_training_measure){0}};
        CHECK_OK(sp_incremental_train(&context, &b.body, b.U, &points, &parameters, &poses, &cubature, &found));

        const sp_incremental_round *round = found.rounds.data;
        CHECK(found.settled && found.rounds.count == s.calls && s.calls >= 2, "%lld rounds",
              (long long)found.rounds.count);
        CHECK((cubature.nested != NULL) == adjust, "nested");
        for (int64_t k = 0; k < s.calls; k++) {
            CHECK(s.sizes[k] == (k ? points.count / 3 : (3 * points.count + 1) / 2), "round %lld has %lld poses",
                  (long long)k, (long long)s.sizes[k]);
            if (k > 0)
                CHECK((fabs(round[k].mean_error - round[k - 1].mean_error) < 0.002) == (k == s.calls - 1),
                      "the change after round %lld is %g", (long long)k, round[k].mean_error - round[k - 1].mean_error);
        }

        CHECK(adjust ? s.centres > 0.01 : s.centres == 0, "centres up to %g", s.centres);
        CHECK(s.widest < 1e-12, "deviations are off by %g", s.widest);
        double error = error_on(&b, &others, &cubature, false);
        CHECK_NEAR(round[s.calls - 1].held_out_error, error, 1e-12);
        CHECK(round[0].held_out_error > error, "the first round judged: %g, the last: %g", round[0].held_out_error,
              error);
        CHECK(error < 1.35 * best, "held out: %g, of %d poses %g", error, ROOM, best);
        CHECK_NEAR(error_on(&b, &poses, &cubature, false), found.fit.error, 1e-10);

        NOTE("%s: %lld rounds, %lld poses, error %.4f, held out %.4f; %d poses: %.4f, held out %.4f",
             adjust ? "adjusted" : "not adjusted", (long long)s.calls, (long long)poses.count, found.fit.error, error,
             ROOM, report.error, best);
        sp_list_free(&found.rounds);
        sp_cubature_free(&cubature);
    }
}
#endif
