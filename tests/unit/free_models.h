/* The deformable body of the tests of free bodies. */
#ifndef TESTS_UNIT_FREE_MODELS_H
#define TESTS_UNIT_FREE_MODELS_H

#include "bodies.h"
#include "reduced/polynomial.h"
#include "rigid/free.h"
#include "test.h"

static const double none[3] = {0, 0, 0};

enum { R = 10 };

typedef struct model {
    sp_mesh mesh;
    sp_fe_space body;
    int64_t rows;
    double *U;
    sp_inertia inertia;
    sp_polynomials polynomials;
    sp_reduced_force watch; /* the same force once more, for the checks of the test */
} model;

static inline void make_model(model *m)
{
    *m = (model){0};
    make_box(8, 4, 2, 0.1, 0.2, &m->mesh);
    CHECK_OK(sp_fe_space_new(&context, &m->mesh, &m->body));
    m->rows = 3 * m->mesh.vertex_count;
    m->U = test_new(m->rows * R, 8);
    for (int64_t v = 0; v < m->mesh.vertex_count; v++) {
        const double *X = m->mesh.vertices + 3 * v, x = X[0] - 0.35, y = X[1] - 0.2, z = X[2] - 0.12;
        const double field[R][3] = {{x, 0, 0},
                                    {0, y, 0},
                                    {0, 0, z},
                                    {y, x, 0},
                                    {z, 0, x},
                                    {-2 * x * z, 0, x * x},
                                    {-2 * x * y, x * x, 0},
                                    {0, -x * z, x * y},
                                    {0, z, y},
                                    {x * x, 0, 0}};
        for (int j = 0; j < R; j++)
            for (int c = 0; c < 3; c++)
                m->U[j * m->rows + 3 * v + c] = field[j][c];
    }
    sp_polynomial_parameters parameters = {0};
    sp_polynomial_report report;
    CHECK_OK(sp_polynomials_new(&context, &m->body, R, m->U, &parameters, &m->polynomials, &report));
    CHECK_OK(sp_polynomial_reduced_force(&context, &m->polynomials, R, &m->watch));
    CHECK_OK(sp_inertia_of_body(&context, &m->body, false, R, m->U, &m->inertia));
}

static inline void model_free(model *m)
{
    m->watch.destroy(m->watch.self);
    sp_inertia_free(&m->inertia);
    sp_polynomials_free(&m->polynomials);
    sp_fe_space_free(&m->body);
    sp_mesh_free(&m->mesh);
}

static inline sp_free_body *new_body(const model *m, const sp_free_parameters *parameters)
{
    sp_reduced_force force;
    sp_free_body *body;
    CHECK_OK(sp_polynomial_reduced_force(&context, &m->polynomials, R, &force));
    CHECK_OK(sp_free_body_new(&context, &m->inertia, &force, parameters, &body));
    return body;
}

/* Rows of U of a vertex [3, R, row major]. */
static inline void vertex_rows(const model *m, int64_t vertex, double *rows)
{
    for (int c = 0; c < 3; c++)
        for (int j = 0; j < R; j++)
            rows[c * R + j] = m->U[j * m->rows + 3 * vertex + c];
}

/* The place of a material point in the body frame: X + U q. */
static inline void deformed(const model *m, int64_t vertex, const double *rows, const double *q, double y[3])
{
    for (int c = 0; c < 3; c++) {
        y[c] = m->mesh.vertices[3 * vertex + c];
        for (int j = 0; j < R; j++)
            y[c] += rows[c * R + j] * q[j];
    }
}

static inline sp_free_body *new_rigid(sp_inertia *inertia, const double J[6], double step)
{
    sp_free_body *body;
    CHECK_OK(sp_inertia_of_numbers(&context, 2, (double[]){0.1, 0.2, -0.3}, J, inertia));
    CHECK_OK(sp_free_body_new(&context, inertia, NULL, &(sp_free_parameters){.step = step}, &body));
    return body;
}

BEFORE_TESTS()
{
    context.threads = 2;
}

#endif
