/* Certificates: the norm of the residual against one that is assembled on the mesh and solved with its stiffness. */
#include "assembly/elastic.h"
#include "base/random.h"
#include "linear/cholesky.h"
#include "tools/verify/verify.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

enum { TRIALS = 3 };

typedef struct model {
    verify *v;
    artefact *file, *mesh;
    const sp_certificate *certificate;
    int64_t r, rows, order;
    const double *U; /* [rows, r] */
    sp_cholesky *factor;
    double *KU;                             /* [r, r] factor of UᵀKU, lower triangle */
    double *u, *force, *other;              /* [rows] */
    double *b, *x;                          /* [order] over the free degrees of freedom */
    double *q, *acceleration, *load, *part; /* [r], [r], [3 + loads], [r] */
    double *work;                           /* [columns] */
} model;

static double random_load(int trial, int64_t i)
{
    return sp_random_normal(3, (uint64_t)trial, (uint64_t)i);
}

/* A state whose forces of inertia, gravity and loads are about as large as the internal ones at a tenth of the size. */
static void random_state(model *m, int trial)
{
    const int64_t loads = 3 + m->certificate->loads.count;
    double strain, kinetic;
    verify_random_coordinates(&m->mesh->mesh, m->U, m->r, 2 * (uint64_t)trial, m->u, m->q);
    verify_random_coordinates(&m->mesh->mesh, m->U, m->r, 2 * (uint64_t)trial + 1, m->u, m->acceleration);
    sp_elastic_force(m->v->context, &m->mesh->body, m->u, m->force);
    verify_mass_times(&m->mesh->body, m->certificate->lumped, m->u, m->other);
    strain = fabs(sp_dense_dot(m->rows, m->u, m->force));
    kinetic = sp_dense_dot(m->rows, m->u, m->other);
    for (int64_t i = 0; i < m->r; i++)
        m->acceleration[i] *= kinetic > 0 ? strain / kinetic : 0;
    for (int64_t i = 0; i < loads; i++)
        m->load[i] = random_load(trial, i);
}

static void expand(const model *m, const double *q, double *u)
{
    memset(u, 0, (size_t)m->rows * sizeof *u);
    for (int64_t j = 0; j < m->r; j++)
        for (int64_t i = 0; i < m->rows; i++)
            u[i] += q[j] * m->U[j * m->rows + i];
}

/* R = gravity and loads − M U q̈ − f(U q) on all degrees of freedom, into m->force. */
static void assemble_residual(model *m)
{
    const sp_force_fields *loads = &m->certificate->loads;
    expand(m, m->q, m->u);
    sp_elastic_force(m->v->context, &m->mesh->body, m->u, m->force);
    expand(m, m->acceleration, m->u);
    for (int64_t i = 0; i < m->rows; i++)
        m->u[i] = m->load[i % 3] - m->u[i];
    verify_mass_times(&m->mesh->body, m->certificate->lumped, m->u, m->other);
    for (int64_t i = 0; i < m->rows; i++)
        m->force[i] = m->other[i] - m->force[i];
    for (int64_t l = 0; l < loads->count; l++)
        for (int64_t k = loads->start[l]; k < loads->start[l + 1]; k++)
            m->force[loads->index[k]] += m->load[3 + l] * loads->value[k];
}

/* √(RᵀK⁻¹R), and the part of the residual in the reduced equation, √(RᵀU (UᵀKU)⁻¹ UᵀR). */
static void direct_norms(model *m, double *whole, double *reduced)
{
    const int64_t *dof = m->mesh->body.dof;
    for (int64_t i = 0; i < m->rows; i++)
        if (dof[i] >= 0)
            m->b[dof[i]] = m->force[i];
        else
            m->force[i] = 0;
    tool_check(sp_cholesky_solve(m->factor, 1, m->b, m->x), m->file->path);
    *whole = sqrt(sp_dense_dot(m->order, m->b, m->x));
    for (int64_t j = 0; j < m->r; j++)
        m->part[j] = sp_dense_dot(m->rows, m->U + j * m->rows, m->force);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)m->r, m->KU, (int)m->r, m->part, 1);
    *reduced = cblas_dnrm2((int)m->r, m->part, 1);
}

static void check_norms(model *m)
{
    double whole_error = 0, reduced_error = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        sp_certificate_norms norms;
        double whole, reduced;

        random_state(m, trial);
        assemble_residual(m);
        direct_norms(m, &whole, &reduced);

        const sp_certificate_state state = {.q = m->q, .acceleration = m->acceleration, .load = m->load};
        sp_certificate_evaluate(m->certificate, &state, m->work, &norms);

        whole_error = verify_worse(fabs(hypot(norms.basis, norms.quadrature) - whole) / whole, whole_error);
        reduced_error = verify_worse(fabs(norms.quadrature - reduced) / whole, reduced_error);
    }
    verify_number(m->v, m->file, "norm of the residual of the mesh", whole_error, 1e-8);
    verify_number(m->v, m->file, "part in the reduced equation", reduced_error, 1e-8);
}

static bool factor_stiffness(model *m)
{
    const sp_sparse *K = &m->mesh->stiffness;
    const sp_columns columns = {.rows = m->rows, .count = m->r, .U = (double *)m->U};
    tool_check(sp_cholesky_new(m->v->context, K, NULL, &m->factor), m->file->path);
    const int status = sp_cholesky_factor(m->factor, K);
    if (status != SP_OK && status != SP_NUMERICAL)
        tool_check(status, m->file->path);
    verify_reduced_matrix(m->v, &columns, &m->mesh->body, K, m->KU);
    const bool definite = status == SP_OK && LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', (int)m->r, m->KU, (int)m->r) == 0;
    if (!definite)
        verify_fact(m->v, m->file, "stiffness at rest", false, "it is not positive definite");
    return definite;
}

/* The loads act on vertices of the mesh. */
static bool loads_fit(verify *v, const artefact *file, int64_t rows)
{
    const sp_force_fields *loads = &file->certificate.loads;
    bool ok = true;
    for (int64_t k = 0; k < loads->entries; k++)
        ok &= loads->index[k] < rows;
    verify_fact(v, file, "loads on vertices of the mesh", ok, "%lld entries", (long long)loads->entries);
    return ok;
}

void verify_certificate(verify *v, artefact *file)
{
    const sp_certificate *certificate = &file->certificate;
    artefact *mesh, *basis;
    if (!verify_mesh_and_basis(v, file, "norms", certificate->r, &mesh, &basis))
        return;

    const int64_t rows = basis->columns.rows, r = certificate->r, loads = certificate->loads.count;
    if (!loads_fit(v, file, rows))
        return;

    sp_pool pool = {0};
    model m = {.v = v, .file = file, .mesh = mesh, .certificate = certificate, .r = r, .rows = rows};
    m.order = mesh->stiffness.order;
    m.U = verify_fixed_columns(&basis->columns, &mesh->body, &pool);
    struct {
        double **to;
        int64_t count;
    } arrays[] = {{&m.KU, r * r},
                  {&m.u, rows},
                  {&m.force, rows},
                  {&m.other, rows},
                  {&m.b, m.order},
                  {&m.x, m.order},
                  {&m.q, r},
                  {&m.acceleration, r},
                  {&m.load, 3 + loads},
                  {&m.part, r},
                  {&m.work, sp_certificate_columns(r, loads)}};

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i].to = tool_allocate_raw(&pool, arrays[i].count, sizeof(double));

    if (factor_stiffness(&m))
        check_norms(&m);

    sp_cholesky_free(m.factor);
    sp_pool_free(&pool);
}
