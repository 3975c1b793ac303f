/* The certificate of a reduced model: its norm of the residual, against the residual that the assembled body has. */
#include "reduced/certificate.h"
#include "assembly/elastic.h"
#include "fixture.h"
#include "linear/cholesky.h"
#include "model/load_fields.h"

OWNER(sp_cholesky)

enum { R = 4, LOADS = 5 };

typedef struct sample {
    held_block block;
    int64_t rows, n;
    const double *U;
    sp_pool pool;
    sp_force_fields fields;
    sp_certificate certificate;
    sp_certificate_report report;
} sample;

/* A box that is fixed at one end: voxels, distorted hexahedra and tetrahedra (test_variant), or hexahedra of a linear
 * law with fibres, which are evaluated at quadrature points. */
enum { WITH_FIBRES = TEST_VARIANTS, VARIANTS };

static void make_sample(int variant, sample *s)
{
    memset(s, 0, sizeof *s);
    make_variant(variant == WITH_FIBRES ? 1 : variant, &s->block.mesh);
    if (variant == WITH_FIBRES)
        s->block.mesh.materials[0] = test_law(SP_LAW_LINEAR + SP_LAW_COUNT * SP_FIBRE_STVK);
    hold_block(R, &s->block);
    s->rows = s->block.rows;
    s->n = s->block.body.dof_count;
    s->U = s->block.U;
}

static void sample_free(sample *s)
{
    sp_certificate_free(&s->certificate);
    held_block_free(&s->block);
    sp_pool_free(&s->pool);
}

/* Forces on three vertices, one of them fixed, one named twice, and on the whole body. */
static const sp_load loads[LOADS] = {
    {.kind = SP_LOAD_VERTEX, .id = 6, .end = INFINITY, .force = {0, 0, 2}},
    {.kind = SP_LOAD_VERTEX, .id = 10, .end = INFINITY, .force = {1, 0, 0}},
    {.kind = SP_LOAD_VERTEX, .id = 9, .end = INFINITY, .force = {1, 2, 3}},
    {.kind = SP_LOAD_ALL, .id = -1, .end = INFINITY, .force = {0, 1, 0}},
    {.kind = SP_LOAD_VERTEX, .id = 6, .end = INFINITY, .force = {5, 0, 2}},
};

static void make_certificate(sample *s, const sp_certificate_parameters *parameters)
{
    CHECK_OK(sp_load_fields_new(&context, &s->block.body, LOADS, loads, &s->pool, &s->fields));
    CHECK(s->fields.count == 9, "%lld fields", (long long)s->fields.count);
    CHECK_OK(
        sp_certificate_new(&context, &s->block.body, R, s->U, &s->fields, parameters, &s->certificate, &s->report));
}

/* to += factor U x. */
static void add_basis(const sample *s, double factor, const double *x, double *to)
{
    for (int j = 0; j < R; j++)
        for (int64_t i = 0; i < s->rows; i++)
            to[i] += factor * x[j] * s->U[j * s->rows + i];
}

static void mass_times(const sample *s, bool lumped, const double *x, double *y)
{
    double *vertex = test_new(s->block.mesh.vertex_count, sizeof *vertex);
    memset(y, 0, (size_t)s->rows * sizeof *y);
    sp_fe_space_vertex_mass(&s->block.body, true, vertex);
    if (!lumped)
        sp_fe_space_mass_times(&context, &s->block.body, 3, x, y);
    for (int64_t i = 0; lumped && i < s->rows; i++)
        y[i] = vertex[i / 3] * x[i];
}

/* R of the assembled body, [rows]. */
static void assembled(sample *s, const sp_certificate_state *state, bool lumped, double *R_full)
{
    double *u = sp_pool_new(&s->pool, s->rows, 8), *v = sp_pool_new(&s->pool, s->rows, 8),
           *a = sp_pool_new(&s->pool, s->rows, 8), *part = sp_pool_new(&s->pool, s->rows, 8);
    add_basis(s, 1, state->q, u);
    add_basis(s, 1, state->rate, v);
    add_basis(s, -1, state->acceleration, a);
    for (int64_t i = 0; i < s->rows; i++)
        a[i] += state->load[i % 3];
    mass_times(s, lumped, a, R_full);
    sp_elastic_force(&context, &s->block.body, u, part);
    for (int64_t i = 0; i < s->rows; i++)
        R_full[i] -= part[i];
    sp_elastic_tangent_times(&context, &s->block.body, u, v, part);
    for (int64_t i = 0; i < s->rows; i++)
        R_full[i] -= state->damping_stiffness * part[i];
    for (int64_t f = 0; f < s->fields.count; f++)
        for (int64_t k = s->fields.start[f]; k < s->fields.start[f + 1]; k++)
            R_full[s->fields.index[k]] += state->load[3 + f] * s->fields.value[k];
}

/* The norms of R by a solution with K: of UᵀR in the dual norm of UᵀKU, and of the rest. */
static void expect_norms(sample *s, const double *R_full, const double *q, sp_certificate_norms *norms)
{
    OWNED(sp_sparse) K = {0};
    OWNED_POINTER(sp_cholesky) *factor;
    int64_t *node = sp_pool_new(&s->pool, s->n, sizeof *node);
    double *force = sp_pool_new(&s->pool, (R + 1) * s->n, 8), *z = sp_pool_new(&s->pool, (R + 1) * s->n, 8), whole = 0,
           reduced[R * R] = {0}, right[R] = {0}, quadrature = 0, strain = 0;
    CHECK_OK(sp_elastic_stiffness(&context, &s->block.body, &K));
    sp_fe_space_nodes(&s->block.body, node);
    CHECK_OK(sp_cholesky_new(&context, &K, node, &factor));
    CHECK_OK(sp_cholesky_factor(factor, &K));
    for (int j = 0; j < R; j++)
        sp_fe_space_gather(&s->block.body, s->U + j * s->rows, force + j * s->n);
    sp_fe_space_gather(&s->block.body, R_full, force + R * s->n);
    sp_sparse_times(&context, &K, R, force, z);
    CHECK_OK(sp_cholesky_solve(factor, 1, force + R * s->n, z + R * s->n));
    for (int64_t i = 0; i < s->n; i++) {
        whole += force[R * s->n + i] * z[R * s->n + i];
        for (int j = 0; j < R; j++) {
            right[j] += force[R * s->n + i] * force[j * s->n + i];
            for (int k = 0; k < R; k++)
                reduced[R * j + k] += force[j * s->n + i] * z[k * s->n + i];
        }
    }
    for (int j = 0; j < R; j++)
        for (int k = 0; k < R; k++)
            strain += q[j] * reduced[R * j + k] * q[k];
    for (int j = 0; j < R; j++) { /* Gauss */
        for (int i = j + 1; i < R; i++) {
            const double f = reduced[R * i + j] / reduced[R * j + j];
            for (int k = j; k < R; k++)
                reduced[R * i + k] -= f * reduced[R * j + k];
            right[i] -= f * right[j];
        }
        quadrature += right[j] * right[j] / reduced[R * j + j];
    }
    *norms = (sp_certificate_norms){sqrt(whole - quadrature), sqrt(quadrature), sqrt(strain)};
}

static void check_residual(int variant, bool lumped)
{
    OWNED(sample) s;
    make_sample(variant, &s);
    make_certificate(&s, &(sp_certificate_parameters){.lumped = lumped});
    double load[3 + 9], q[R], v[R], a[R], *work = sp_pool_new(&s.pool, sp_certificate_columns(R, 9), 8),
                                          *full = sp_pool_new(&s.pool, s.rows, 8);
    for (int i = 0; i < 3 + 9; i++)
        load[i] = sp_random_uniform(5, 0, (uint64_t)i) - 0.5;
    for (int i = 0; i < R; i++) {
        q[i] = 0.1 * (sp_random_uniform(6, 0, (uint64_t)i) - 0.5);
        v[i] = 3 * (sp_random_uniform(6, 1, (uint64_t)i) - 0.5);
        a[i] = 0.2 * (sp_random_uniform(6, 2, (uint64_t)i) - 0.5);
    }
    const sp_certificate_state state = {q, v, a, load, 0.02};
    sp_certificate_norms norms, expected;
    sp_certificate_evaluate(&s.certificate, &state, work, &norms);
    assembled(&s, &state, lumped, full);
    expect_norms(&s, full, q, &expected);
    NOTE("basis %.6g, quadrature %.6g, strain %.6g; solves %.1e, orthogonality %.1e", norms.basis, norms.quadrature,
         norms.strain, s.report.residual, s.report.orthogonality);
    CHECK_NEAR(norms.basis, expected.basis, 1e-10 * expected.basis);
    CHECK_NEAR(norms.quadrature, expected.quadrature, 1e-10 * expected.quadrature);
    CHECK_NEAR(norms.strain, expected.strain, 1e-10 * expected.strain);
}

TEST(as_assembled)
{
    for (int variant = 0; variant < VARIANTS; variant++)
        check_residual(variant, false);
    check_residual(1, true);
}

TEST(loads_are_found)
{
    OWNED(sample) s;
    double x[9];
    bool known;
    make_sample(1, &s);
    make_certificate(&s, &(sp_certificate_parameters){0});
    const sp_load turned = {.kind = SP_LOAD_VERTEX, .id = 9, .end = 1, .force = {-4, 5, 6}},
                  elsewhere = {.kind = SP_LOAD_VERTEX, .id = 11, .end = 1, .force = {0, 0, 1}},
                  huge = {.kind = SP_LOAD_VERTEX, .id = 11, .end = 1, .force = {0, 0, 1e200}};
    CHECK_OK(sp_load_fields_factors(&context, &s.block.body, &s.fields, 1, &turned, x, &known));
    CHECK(known, "a load at a place of the certificate");
    double sum = 0;
    for (int f = 0; f < 9; f++)
        for (int64_t k = s.fields.start[f]; k < s.fields.start[f + 1]; k++)
            if (s.fields.index[k] / 3 == 9)
                sum += x[f] * s.fields.value[k];
    CHECK_NEAR(sum, -4 + 5 + 6, 1e-12);
    CHECK_OK(sp_load_fields_factors(&context, &s.block.body, &s.fields, 1, &elsewhere, x, &known));
    CHECK(!known, "a load at another place");
    CHECK_OK(sp_load_fields_factors(&context, &s.block.body, &s.fields, 1, &huge, x, &known));
    CHECK(!known, "a load at another place whose square is infinite");
}

TEST(same_bytes_with_threads)
{
    OWNED(sample) one, two;
    make_sample(1, &one);
    make_certificate(&one, &(sp_certificate_parameters){0});
    context.threads = 3;
    make_sample(1, &two);
    make_certificate(&two, &(sp_certificate_parameters){0});
    context.threads = 1;
    const int64_t m = sp_certificate_columns(R, 9);
    CHECK(!memcmp(one.certificate.factor, two.certificate.factor, (size_t)(m * m) * 8), "factors");
}

TEST(free_bodies_are_refused)
{
    OWNED(sample) s;
    make_sample(1, &s);
    sp_fe_space_free(&s.block.body);
    s.block.mesh.fixed_count = 0;
    CHECK_OK(sp_fe_space_new(&context, &s.block.mesh, &s.block.body));
    const int status = sp_certificate_new(&context, &s.block.body, R, s.U, &(sp_force_fields){.start = (int64_t[]){0}},
                                          &(sp_certificate_parameters){0}, &s.certificate, &s.report);
    CHECK(status == SP_NUMERICAL && strstr(context.message, "constrained"), "%d: %s", status, context.message);
}
