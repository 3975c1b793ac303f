/* What several checks compute. */
#include "base/random.h"
#include "linear/dense.h"
#include "tools/verify/verify.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

void verify_mass_times(const sp_fe_space *body, bool lumped, const double *u, double *y)
{
    const sp_mesh *mesh = body->mesh;
    memset(y, 0, (size_t)(3 * mesh->vertex_count) * sizeof *y);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        const sp_element_class *class = &body->classes[body->element_class[e]];
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            for (int b = 0; b < nodes; b++)
                for (int c = 0; c < 3; c++)
                    y[3 * node[a] + c] += class->mass[a * nodes + b] * u[3 * node[lumped ? a : b] + c];
    }
}

void verify_mass_matrix(verify *v, const artefact *mesh, bool lumped, sp_sparse *mass)
{
    tool_check(sp_fe_space_matrix(v->context, &mesh->body, mass), mesh->path);
    tool_check(sp_fe_space_mass(v->context, &mesh->body, lumped, mass), mesh->path);
}

void verify_reduced_matrix(verify *v, const sp_columns *columns, const sp_fe_space *body, const sp_sparse *matrix,
                           double *reduced)
{
    int64_t k = columns->count;
    sp_pool pool = {0};
    double *product = tool_allocate_raw(&pool, columns->rows * k, sizeof *product);
    double *inner = tool_allocate_raw(&pool, sp_dense_inner_work(k, k), sizeof *inner),
           *work = tool_allocate_raw(&pool, 2 * matrix->order * k, sizeof *work);
    tool_check(sp_dense_fits(v->context, columns->rows, k), NULL);
    sp_metric metric = {.rows = columns->rows, .matrix = matrix, .dof = body->dof};
    sp_metric_times(v->context, &metric, k, columns->U, product, work);
    sp_dense_inner(v->context, columns->rows, k, columns->U, k, product, reduced, inner);
    sp_pool_free(&pool);
}

double verify_reduced_mass(verify *v, artefact *file, const sp_fe_space *body, bool lumped, int64_t r, const double *U,
                           const double *mass, const double *gravity)
{
    double error = 0, gravity_error = 0, gravity_scale = 0, largest = 0;
    int64_t rows = 3 * body->mesh->vertex_count;
    sp_pool pool = {0};
    double *Mu = tool_allocate_raw(&pool, rows, sizeof *Mu);

    for (int64_t j = 0; j < r; j++) {
        verify_mass_times(body, lumped, U + j * rows, Mu);
        for (int64_t i = 0; i < r; i++) {
            error = verify_worse(fabs(sp_dense_dot(rows, U + i * rows, Mu) - mass[j * r + i]), error);
            largest = verify_worse(fabs(mass[j * r + i]), largest);
        }

        /* Gravity along an axis is Uᵀ M e; its terms are the entries of M u at this axis. */
        for (int axis = 0; axis < 3; axis++) {
            double sum = 0, absolute = 0;
            for (int64_t i = axis; i < rows; i += 3) {
                sum += Mu[i];
                absolute += fabs(Mu[i]);
            }
            gravity_error = verify_worse(fabs(sum - gravity[3 * j + axis]), gravity_error);
            gravity_scale = fmax(gravity_scale, absolute);
        }
    }

    verify_number(v, file, "mass", error / largest, 1e-11);
    verify_number(v, file, "gravity, of the sum of terms", gravity_error / gravity_scale, 1e-11);
    sp_pool_free(&pool);
    return gravity_scale;
}

const double *verify_fixed_columns(const sp_columns *columns, const sp_fe_space *body, sp_pool *pool)
{
    double *U = tool_allocate_copy(pool, columns->U, columns->rows * columns->count, sizeof *U);
    for (int64_t j = 0; j < columns->count; j++)
        for (int64_t i = 0; i < columns->rows; i++)
            if (body->dof[i] < 0)
                U[j * columns->rows + i] = 0;
    return U;
}

bool verify_mesh_and_basis(verify *v, artefact *file, const char *checks, int64_t r, artefact **mesh, artefact **basis)
{
    *mesh = verify_mesh(v, file, checks, true);
    *basis = verify_find(v, file->basis_hash);

    if (!*mesh)
        return false;
    if (!*basis || !(*basis)->columns.U) {
        verify_skip(v, file, checks, "its basis is not among the files (%.12s)", file->basis_hash);
        return false;
    }

    int64_t rows = 3 * (*mesh)->mesh.vertex_count;
    const sp_columns *columns = &(*basis)->columns;
    bool fits = columns->rows == rows && columns->count >= r;
    verify_fact(v, file, "size of the basis", fits, "%lld rows, %lld columns (%lld, at least %lld)",
                (long long)columns->rows, (long long)columns->count, (long long)rows, (long long)r);
    return fits;
}

const int64_t *verify_piece_labels(verify *v, const sp_mesh *mesh, sp_pool *pool, int64_t *pieces)
{
    int64_t elements = sp_mesh_element_count(mesh), *element = tool_allocate_raw(pool, elements, sizeof *element),
            *vertex = tool_allocate_raw(pool, mesh->vertex_count, sizeof *vertex);
    tool_check(sp_mesh_components(v->context, mesh, element, pieces), NULL);
    for (int64_t i = 0; i < mesh->vertex_count; i++)
        vertex[i] = -1;
    for (int64_t e = 0; e < elements; e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            vertex[node[a]] = element[e];
    }
    return vertex;
}

void verify_random_coordinates(const sp_mesh *mesh, const double *U, int64_t r, uint64_t stream, double *u, double *q)
{
    const int64_t rows = 3 * mesh->vertex_count;
    double low[3], high[3], largest = 0;

    memset(u, 0, (size_t)rows * sizeof *u);
    for (int64_t j = 0; j < r; j++) {
        q[j] = sp_random_normal(1, stream, (uint64_t)j);
        for (int64_t i = 0; i < rows; i++)
            u[i] += q[j] * U[j * rows + i];
    }

    /* The largest displacement becomes a tenth of the mesh's size. */
    for (int64_t i = 0; i < rows; i++)
        largest = fmax(largest, fabs(u[i]));
    sp_mesh_box(mesh, low, high);
    const double size = fmax(high[0] - low[0], fmax(high[1] - low[1], high[2] - low[2]));
    const double scale = largest > 0 ? 0.1 * size / largest : 0;

    for (int64_t j = 0; j < r; j++)
        q[j] *= scale;
    for (int64_t i = 0; i < rows; i++)
        u[i] *= scale;
}

void verify_eigenvalues(verify *v, int64_t n, double *matrix, double *eigenvalue)
{
    tool_check(sp_dense_fits(v->context, n, n), NULL);
    if (LAPACKE_dsyevd(LAPACK_COL_MAJOR, 'N', 'L', (lapack_int)n, matrix, (lapack_int)n, eigenvalue) != 0)
        tool_fail(SP_NUMERICAL, NULL, "the eigenvalues of a matrix of order %lld do not converge", (long long)n);
}

void verify_monomials(int64_t r, const double *q, double *z)
{
    memcpy(z, q, (size_t)r * sizeof *z);
    double *to = z + r;
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = i; j < r; j++)
            *to++ = (i == j ? 0.5 : 1) * q[i] * q[j];
}

/* f_i = Σ ∂z/∂q_i · A z: the pair (i, j) has the derivative q_j. */
void verify_gram_force(int64_t r, const double *q, const double *Az, double *f)
{
    memcpy(f, Az, (size_t)r * sizeof *f);
    const double *pair = Az + r;
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = i; j < r; j++, pair++) {
            f[i] += *pair * q[j];
            f[j] += i == j ? 0 : *pair * q[i];
        }
}

const double *verify_gram_sum(const sp_polynomials *polynomials, sp_pool *pool)
{
    const double *sum = sp_polynomials_gram(polynomials, pool);
    if (!sum)
        tool_out_of_memory();
    return sum;
}

void verify_keep_worst(double value, double limit, double *worst, double *worst_limit)
{
    if (*worst_limit == 0 || isnan(value) || value * *worst_limit > *worst * limit) {
        *worst = value;
        *worst_limit = limit;
    }
}
