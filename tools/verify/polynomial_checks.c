/* Polynomials: the Gram matrix against the unreduced body, term by term where the reduced code would sum differently.
 */
#include "assembly/elastic.h"
#include "linear/dense.h"
#include "tools/verify/verify.h"

#include <math.h>
#include <string.h>

enum { TRIALS = 3 };

typedef struct model {
    verify *v;
    artefact *file, *mesh;
    const sp_columns *basis;
    int64_t r, rows, N;
    const double *gram;                 /* [N, N] */
    double *z, *Az, *absolute;          /* [N] */
    double *u, *f;                      /* [rows] */
    double *q, *reduced, *other, *line; /* [r] */
} model;

/* f(q) by the Gram matrix; terms [r] receives the sums of absolute terms where not NULL. */
static void gram_force(model *m, const double *q, double *f, double *terms)
{
    verify_monomials(m->r, q, m->z);
    for (int64_t i = 0; i < m->N; i++) {
        const double *row = m->gram + i * m->N; /* symmetric */
        m->Az[i] = sp_dense_dot(m->N, row, m->z);
        double sum = 0;
        if (terms)
            for (int64_t j = 0; j < m->N; j++)
                sum += fabs(row[j] * m->z[j]);
        m->absolute[i] = sum;
    }

    verify_gram_force(m->r, q, m->Az, f);
    if (!terms)
        return;

    for (int64_t i = 0; i < m->r; i++)
        terms[i] = m->absolute[i];

    const double *pair = m->absolute + m->r;
    for (int64_t i = 0; i < m->r; i++)
        for (int64_t j = i; j < m->r; j++, pair++) {
            terms[i] += *pair * fabs(q[j]);
            terms[j] += i == j ? 0 : *pair * fabs(q[i]);
        }
}

/* u = U q. */
static void expand(const model *m, const double *q, double *u)
{
    memset(u, 0, (size_t)m->rows * sizeof *u);
    for (int64_t c = 0; c < m->r; c++)
        for (int64_t i = 0; i < m->rows; i++)
            u[i] += q[c] * m->basis->U[c * m->rows + i];
}

static double largest_of(int64_t count, const double *values)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = verify_worse(fabs(values[i]), largest);
    return largest;
}

static double distance(int64_t count, const double *a, const double *b)
{
    double largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = verify_worse(fabs(a[i] - b[i]), largest);
    return largest;
}

/* y = K x from the lower triangle. */
static void symmetric_times(int64_t r, const double *K, const double *x, double *y)
{
    memset(y, 0, (size_t)r * sizeof *y);
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = j; i < r; i++) {
            y[i] += K[j * r + i] * x[j];
            y[j] += i == j ? 0 : K[j * r + i] * x[i];
        }
}

/* The file's force against Uᵀ f(U q), and the run-time's force and tangent against differences of the file's. */
static void check_forces(model *m)
{
    verify *v = m->v;
    sp_polynomial_force *force;
    double projected = 0, run_time = 0, tangent = 0, *K, *plus, *minus, *terms, *sum;
    sp_pool pool = {0};

    K = tool_allocate_raw(&pool, m->r * m->r, sizeof *K);
    plus = tool_allocate_raw(&pool, m->r, sizeof *plus);
    minus = tool_allocate_raw(&pool, m->r, sizeof *minus);
    terms = tool_allocate_raw(&pool, m->r, sizeof *terms);
    sum = tool_allocate_raw(&pool, m->r, sizeof *sum);

    tool_check(sp_polynomial_force_new(v->context, &m->file->polynomials, m->r, &force), m->file->path);
    for (int trial = 0; trial < TRIALS; trial++) {
        verify_random_coordinates(&m->mesh->mesh, m->basis->U, m->r, 2 * (uint64_t)trial, m->u, m->q);
        verify_random_coordinates(&m->mesh->mesh, m->basis->U, m->r, 2 * (uint64_t)trial + 1, m->u, m->line);

        gram_force(m, m->q, m->reduced, terms);
        double scale = largest_of(m->r, terms);

        expand(m, m->q, m->u);
        sp_elastic_force(v->context, &m->mesh->body, m->u, m->f);
        for (int64_t i = 0; i < m->r; i++)
            m->other[i] = sp_dense_dot(m->rows, m->basis->U + i * m->rows, m->f);
        projected = verify_worse(distance(m->r, m->reduced, m->other) / scale, projected);

        sp_polynomial_force_evaluate(force, m->q, m->other, K);
        run_time = verify_worse(distance(m->r, m->reduced, m->other) / scale, run_time);

        /* Of a cubic, central differences of two widths give the exact derivative: (4 D(½) − D(1)) / 3. */
        memset(sum, 0, (size_t)m->r * sizeof *sum);

        for (int half = 0; half < 2; half++) {
            double h = half ? 0.5 : 1, weight = half ? 4.0 / 3 : -1.0 / 3;
            for (int64_t i = 0; i < m->r; i++)
                m->other[i] = m->q[i] + h * m->line[i];
            gram_force(m, m->other, plus, NULL);
            for (int64_t i = 0; i < m->r; i++)
                m->other[i] = m->q[i] - h * m->line[i];
            gram_force(m, m->other, minus, NULL);
            for (int64_t i = 0; i < m->r; i++)
                sum[i] += weight * (plus[i] - minus[i]) / (2 * h);
        }

        symmetric_times(m->r, K, m->line, m->other);
        tangent = verify_worse(distance(m->r, sum, m->other) / scale, tangent);
    }

    verify_number(v, m->file, "force is the projected one, of the sum of terms", projected, 1e-11);
    verify_number(v, m->file, "force at run time, of the sum of terms", run_time, 1e-11);
    verify_number(v, m->file, "tangent by central differences, of the sum of terms", tangent, 1e-10);

    sp_polynomial_force_free(force);
    sp_pool_free(&pool);
}

/* The masses of the regions add up to the whole. */
static void check_groups(verify *v, artefact *file)
{
    const sp_polynomials *p = &file->polynomials;
    double error = 0;
    if (p->group_count == 0)
        return;
    for (int64_t i = 0; i < p->r * p->r; i++) {
        double sum = 0;
        for (int64_t g = 0; g < p->group_count; g++)
            sum += p->groups[g].mass[i];
        error = verify_worse(fabs(sum - p->mass[i]), error);
    }
    verify_number(v, file, "masses of the regions add up to the mass", error / largest_of(p->r * p->r, p->mass), 1e-12);
}

static void check_group_gravities(verify *v, artefact *file, double terms)
{
    const sp_polynomials *p = &file->polynomials;
    double error = 0;
    if (p->group_count == 0)
        return;
    for (int64_t i = 0; i < 3 * p->r; i++) {
        double sum = 0;
        for (int64_t g = 0; g < p->group_count; g++)
            sum += p->groups[g].gravity[i];
        error = verify_worse(fabs(sum - p->gravity[i]), error);
    }
    verify_number(v, file, "gravities of the regions add up to the gravity", error / terms, 1e-11);
}

static void check_gram(verify *v, artefact *file, const double *gram, int64_t N)
{
    int64_t r = file->polynomials.r;
    double asymmetry = 0;

    for (int64_t i = 0; i < N; i++)
        for (int64_t j = 0; j < i; j++)
            asymmetry = verify_worse(fabs(gram[i * N + j] - gram[j * N + i]), asymmetry);
    verify_number(v, file, "symmetric", asymmetry / largest_of(N * N, gram), 1e-12);

    sp_pool pool = {0};
    double *linear = tool_allocate_raw(&pool, r * r, sizeof *linear),
           *eigenvalue = tool_allocate_raw(&pool, r, sizeof *eigenvalue);
    for (int64_t i = 0; i < r; i++)
        memcpy(linear + i * r, gram + i * N, (size_t)r * sizeof *linear);

    verify_eigenvalues(v, r, linear, eigenvalue);
    verify_fact(v, file, "linear part positive semidefinite", eigenvalue[0] >= -1e-12 * fabs(eigenvalue[r - 1]),
                "least eigenvalue %.2e of the largest (-1.0e-12)", eigenvalue[0] / fabs(eigenvalue[r - 1]));
    sp_pool_free(&pool);
}

void verify_polynomials(verify *v, artefact *file)
{
    sp_pool pool = {0};
    int64_t r = file->polynomials.r, N = sp_polynomial_order(r);

    const double *gram = verify_gram_sum(&file->polynomials, &pool);
    check_gram(v, file, gram, N);
    check_groups(v, file);
    artefact *mesh, *basis;

    if (verify_mesh_and_basis(v, file, "mass and forces", r, &mesh, &basis)) {
        int64_t rows = basis->columns.rows;
        model m = {
            .v = v, .file = file, .mesh = mesh, .basis = &basis->columns, .r = r, .rows = rows, .N = N, .gram = gram};

        double **of_N[] = {&m.z, &m.Az, &m.absolute}, **of_rows[] = {&m.u, &m.f},
               **of_r[] = {&m.q, &m.reduced, &m.other, &m.line};
        for (int i = 0; i < 3; i++)
            *of_N[i] = tool_allocate_raw(&pool, N, sizeof(double));
        for (int i = 0; i < 2; i++)
            *of_rows[i] = tool_allocate_raw(&pool, rows, sizeof(double));
        for (int i = 0; i < 4; i++)
            *of_r[i] = tool_allocate_raw(&pool, r, sizeof(double));

        double terms = verify_reduced_mass(v, file, &mesh->body, file->polynomials.lumped, r, basis->columns.U,
                                           file->polynomials.mass, file->polynomials.gravity);
        check_group_gravities(v, file, terms);
        check_forces(&m);
    }

    sp_pool_free(&pool);
}
