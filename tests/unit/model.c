/* A model (model/model.h): agreement between the kinds, loads and prescribed motion, reports and error messages. */
#include "model/model.h"
#include "assembly/elastic.h"
#include "fixture.h"

#include <lapacke.h>

/* A small distorted block that is fixed at x = 0, with all its modes: as a basis they span every displacement. */
typedef struct block {
    sp_mesh mesh;
    sp_fe_space space;
    int64_t n, rows;
    double *U, *eigenvalue; /* [rows, n], [n] */
    sp_polynomials polynomials;
} block;

static double *dense_matrix(const block *b, const sp_sparse *sparse)
{
    double *full = calloc((size_t)(b->n * b->n), sizeof *full), *x = test_new(b->n, sizeof *x);
    for (int64_t j = 0; j < b->n; j++) {
        x[j] = 1;
        sp_sparse_times(&context, sparse, 1, x, full + j * b->n);
        x[j] = 0;
    }
    return full;
}

static void make_block(block *b)
{
    OWNED(sp_sparse) K = {0}, M = {0};
    *b = (block){0};
    make_box(2, 1, 1, 0.2, 0.1, &b->mesh);
    fix_end(&b->mesh, 0.05);
    CHECK_OK(sp_fe_space_new(&context, &b->mesh, &b->space));
    b->n = b->space.dof_count;
    b->rows = 3 * b->mesh.vertex_count;
    CHECK_OK(sp_elastic_stiffness(&context, &b->space, &K));
    CHECK_OK(sp_fe_space_matrix(&context, &b->space, &M));
    CHECK_OK(sp_fe_space_mass(&context, &b->space, false, &M));
    double *k = dense_matrix(b, &K), *m = dense_matrix(b, &M);
    b->eigenvalue = calloc((size_t)b->n, sizeof(double));
    b->U = calloc((size_t)(b->rows * b->n), sizeof(double));
    CHECK(LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'L', (int)b->n, k, (int)b->n, m, (int)b->n, b->eigenvalue) == 0,
          "modes");
    for (int64_t j = 0; j < b->n; j++)
        sp_fe_space_scatter(&b->space, k + j * b->n, b->U + j * b->rows);
    sp_polynomial_report report;
    CHECK_OK(
        sp_polynomials_new(&context, &b->space, b->n, b->U, &(sp_polynomial_parameters){0}, &b->polynomials, &report));
    free(k);
    free(m);
}

static void block_free(block *b)
{
    sp_polynomials_free(&b->polynomials);
    sp_fe_space_free(&b->space);
    sp_mesh_free(&b->mesh);
    free(b->U);
    free(b->eigenvalue);
}

static const int64_t dynamic_vertex = 2;

static sp_model_description describe(block *b, enum sp_model_kind kind)
{
    return (sp_model_description){.kind = kind,
                                  .space = &b->space,
                                  .r = b->n,
                                  .rows = b->rows,
                                  .U = b->U,
                                  .eigenvalue = b->eigenvalue,
                                  .polynomials = &b->polynomials,
                                  .warp = {.kind = SP_WARP_VERTEX, .rotation = SP_ROTATION_POLAR},
                                  .condensation = {.count = 1, .vertex = &dynamic_vertex},
                                  .gravity = {1, 2, -9.81}};
}

/* The internal force of a model at its coordinates q [n]. */
static double *force_at(block *b, sp_model *model, const double *q)
{
    double *f = calloc((size_t)b->n, sizeof *f);
    model->system.force(model->system.self, q, f);
    return f;
}

/* Reduced models with all modes: their force is Uᵀf of the full-order one, exactly for the nonlinear kinds. */
TEST(reduced_kinds)
{
    OWNED(block) b;
    make_block(&b);
    OWNED(sp_model) full, linear;
    sp_model_description d = describe(&b, SP_MODEL_NONLINEAR), l = describe(&b, SP_MODEL_LINEAR);
    CHECK_OK(sp_model_new(&context, &d, &full));
    CHECK_OK(sp_model_new(&context, &l, &linear));
    double *q = test_new(b.n, sizeof *q), *u = test_new(b.rows, sizeof *u), *gathered = test_new(b.n, sizeof *gathered),
           *expected = test_new(b.n, sizeof *expected);
    for (int64_t i = 0; i < b.n; i++)
        q[i] = 0.3 * (2 * sp_random_uniform(5, 0, (uint64_t)i) - 1) / (1 + (double)i);
    const enum sp_model_kind kinds[] = {SP_MODEL_POLYNOMIALS, SP_MODEL_GALERKIN, SP_MODEL_MODAL};
    for (int k = 0; k < 3; k++) {
        OWNED(sp_model) model;
        sp_model_description description = describe(&b, kinds[k]);
        CHECK_OK(sp_model_new(&context, &description, &model));
        sp_model_at_vertices(&model, q, NULL, b.mesh.vertex_count, NULL, u);
        sp_fe_space_gather(&b.space, u, gathered);
        double *f = force_at(&b, kinds[k] == SP_MODEL_MODAL ? &linear : &full, gathered), *g = force_at(&b, &model, q);
        memset(u, 0, (size_t)b.rows * sizeof *u);
        sp_fe_space_scatter(&b.space, f, u);
        for (int64_t j = 0; j < b.n; j++) {
            expected[j] = 0;
            for (int64_t i = 0; i < b.rows; i++)
                expected[j] += b.U[j * b.rows + i] * u[i];
        }
        const double error = relative_difference(b.n, g, expected);
        CHECK(error < 1e-10, "kind %d: %.1e", (int)kinds[k], error);
        /* gravity too */
        for (int64_t j = 0; j < b.n; j++) {
            expected[j] = 0;
            for (int64_t i = 0; i < b.n; i++)
                gathered[i] = full.loads.gravity[i];
            memset(u, 0, (size_t)b.rows * sizeof *u);
            sp_fe_space_scatter(&b.space, gathered, u);
            for (int64_t i = 0; i < b.rows; i++)
                expected[j] += b.U[j * b.rows + i] * u[i];
        }
        CHECK(relative_difference(b.n, model.loads.gravity, expected) < 1e-10, "gravity of kind %d", (int)kinds[k]);
        free(f);
        free(g);
    }
}

/* All full-order kinds are linear elasticity for small displacements: the difference is of second order. */
TEST(full_order_kinds)
{
    OWNED(block) b;
    make_block(&b);
    const enum sp_model_kind kinds[] = {SP_MODEL_NONLINEAR, SP_MODEL_WARP, SP_MODEL_CONJAC};
    OWNED(sp_model) linear;
    sp_model_description l = describe(&b, SP_MODEL_LINEAR);
    CHECK_OK(sp_model_new(&context, &l, &linear));
    double *u = test_new(b.n, sizeof *u);
    for (int k = 0; k < 3; k++) {
        OWNED(sp_model) model;
        sp_model_description d = describe(&b, kinds[k]);
        double error[2];
        CHECK_OK(sp_model_new(&context, &d, &model));
        for (int half = 0; half < 2; half++) {
            for (int64_t i = 0; i < b.n; i++)
                u[i] = (half ? 1e-5 : 2e-5) * (2 * sp_random_uniform(5, 1, (uint64_t)i) - 1);
            double *f = force_at(&b, &model, u), *g = force_at(&b, &linear, u);
            error[half] = relative_difference(b.n, f, g);
            free(f);
            free(g);
        }
        CHECK(error[0] < 1e-2 && fabs(error[0] / error[1] - 2) < 0.1, "kind %d: %.2e, %.2e: not of second order",
              (int)kinds[k], error[0], error[1]);
    }
}

/* Prescribed components have their values, and displacements of selected vertices are those of all. */
TEST(at_vertices)
{
    OWNED(block) b;
    make_block(&b);
    OWNED(sp_model) model;
    sp_model_description d = describe(&b, SP_MODEL_NONLINEAR);
    CHECK_OK(sp_model_new(&context, &d, &model));
    double *q = test_new(b.n, sizeof *q), *prescribed = test_new(b.rows, sizeof *prescribed),
           *all = test_new(b.rows, sizeof *all), some[6];
    for (int64_t i = 0; i < b.n; i++)
        q[i] = 1 + (double)i;
    for (int64_t i = 0; i < b.rows; i++)
        prescribed[i] = b.space.dof[i] < 0 ? -1 - (double)i : 0;
    sp_model_at_vertices(&model, q, prescribed, b.mesh.vertex_count, NULL, all);
    for (int64_t i = 0; i < b.rows; i++)
        CHECK(all[i] == (b.space.dof[i] < 0 ? prescribed[i] : q[b.space.dof[i]]), "component %lld", (long long)i);
    const int64_t chosen[2] = {5, 0};
    sp_model_at_vertices(&model, q, prescribed, 2, chosen, some);
    CHECK(!memcmp(some, all + 15, sizeof(double[3])) && !memcmp(some + 3, all, sizeof(double[3])), "chosen vertices");
}

/* The subject of a failure, after which nothing of the model remains, and the reports of systems. */
TEST(parts_and_reports)
{
    OWNED(block) b;
    make_block(&b);
    sp_model model;
    sp_model_description d = describe(&b, SP_MODEL_CONJAC);
    d.condensation.vertex = (const int64_t[]){-1};
    CHECK(sp_model_new(&context, &d, &model) != SP_OK && model.part == SP_PART_DYNAMIC && !model.system.self,
          "dynamic");
    d = describe(&b, SP_MODEL_NONLINEAR);
    d.load_count = 1;
    d.loads = &(sp_load){.start = 0, .end = 1, .kind = SP_LOAD_VERTEX, .id = 1000};
    CHECK(sp_model_new(&context, &d, &model) == SP_INPUT && model.part == SP_PART_LOADS && !model.system.self, "loads");
    d = describe(&b, SP_MODEL_LINEAR);
    d.ground_count = 1;
    d.grounds = &(sp_ground){0};
    CHECK(sp_model_new(&context, &d, &model) != SP_OK && model.part == SP_PART_GROUNDS, "grounds");
    sp_model_free(&model);

    sp_system_report report;
    double *q = test_new(b.n, sizeof *q);
    d = describe(&b, SP_MODEL_WARP);
    CHECK_OK(sp_model_new(&context, &d, &model));
    CHECK_OK(sp_model_report(&model, NULL, NULL, &report));
    CHECK(report.iterative && !report.has_ghost && !report.has_balance, "without a state");
    CHECK_OK(sp_model_report(&model, q, NULL, &report));
    CHECK(report.has_ghost && report.ghost_force < 1e-9, "at rest: %g N", report.ghost_force);
    sp_model_free(&model);
    d = describe(&b, SP_MODEL_CONJAC);
    CHECK_OK(sp_model_new(&context, &d, &model));
    CHECK_OK(sp_model_report(&model, q, model.loads.gravity, &report));
    CHECK(report.has_balance && report.quasistatic_residual > 0, "gravity is not balanced at rest");
    sp_model_free(&model);
}

/* A free body whose basis contains no translation. */
TEST(gravity_refused)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) space;
    OWNED(sp_model) model;
    make_box(1, 1, 1, 0.2, 0, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &space));
    double U[24] = {0};
    for (int v = 0; v < 8; v++)
        U[3 * v] = v % 2 ? 1 : -1; /* it stretches */
    sp_model_description d = {
        .kind = SP_MODEL_GALERKIN, .space = &space, .r = 1, .rows = 24, .U = U, .gravity = {0, 0, -9.81}};
    CHECK(sp_model_new(&context, &d, &model) == SP_USAGE && model.part == SP_PART_GRAVITY, "it was made");
    for (int v = 0; v < 8; v++) {
        U[3 * v] = 0;
        U[3 * v + 2] = 1; /* it falls */
    }
    CHECK_OK(sp_model_new(&context, &d, &model));
}
