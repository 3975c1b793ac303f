/* What the columns of a file span: rank and condition, rigid motions, frequencies of the reduced system. */
#include "basis/angles.h"
#include "basis/modes.h"
#include "basis/pca.h"
#include "tools/verify/verify.h"

#include <lapacke.h>
#include <math.h>
#include <string.h>

static const double TWO_PI = 6.283185307179586;

void verify_rank(verify *v, artefact *file, const artefact *mesh)
{
    const sp_columns *columns = &file->columns;
    int64_t k = columns->count, rank = 0, unused;
    sp_pool pool = {0};
    sp_sparse mass;

    double *U = tool_allocate_copy(&pool, columns->U, columns->rows * k, sizeof *U),
           *singular = tool_allocate_raw(&pool, k, sizeof *singular);
    verify_mass_matrix(v, mesh, false, &mass);

    sp_metric metric = {.rows = columns->rows, .matrix = &mass, .dof = mesh->body.dof};
    sp_store store;
    int status = sp_store_over(v->context, columns->rows, k, U, &store);
    if (status == SP_OK)
        status = sp_mass_pca(v->context, &metric, 0, &store, singular, &unused);
    if (status == SP_OK && !isfinite(singular[0]))
        status = sp_fail(v->context, SP_NUMERICAL, "its norms are beyond what doubles hold");

    while (status == SP_OK && rank < k && singular[rank] > 1e-12 * singular[0])
        rank++;

    if (status == SP_NUMERICAL)
        verify_note(v, file, "rank", "not to be told: %s", v->context->message);
    else if (status != SP_OK)
        tool_fail(status, file->path, "%s", v->context->message);
    else if (rank > 0)
        verify_note(v, file, "rank", "%lld of %lld columns, condition %.1e in the consistent mass", (long long)rank,
                    (long long)k, singular[0] / singular[rank - 1]);
    else
        verify_note(v, file, "rank", "0 of %lld columns: all are at rest", (long long)k);

    sp_store_free(&store);
    sp_sparse_free(&mass);
    sp_pool_free(&pool);
}

/* ---- rigid motions ---- */

/* The six rigid motions of the vertices of a piece, by rows: a vertex has three. Scaled so that all are of one size. */
static void rigid_fields(const sp_mesh *mesh, int64_t count, const int64_t *vertex, double *field)
{
    double centre[3] = {0}, size = 0;

    for (int64_t i = 0; i < 3 * count; i++)
        centre[i % 3] += mesh->vertices[3 * vertex[i / 3] + i % 3] / (double)count;
    for (int64_t i = 0; i < 3 * count; i++)
        size = fmax(size, fabs(mesh->vertices[3 * vertex[i / 3] + i % 3] - centre[i % 3]));

    for (int64_t i = 0; i < count; i++) {
        double x[3];
        for (int c = 0; c < 3; c++)
            x[c] = (mesh->vertices[3 * vertex[i] + c] - centre[c]) / size;
        const double motion[6][3] = {{1, 0, 0},        {0, 1, 0},        {0, 0, 1},
                                     {0, -x[2], x[1]}, {x[2], 0, -x[0]}, {-x[1], x[0], 0}};

        for (int m = 0; m < 6; m++)
            memcpy(field + 3 * (m * count + i), motion[m], sizeof motion[m]);
    }
}

double verify_rigid_columns(verify *v, const sp_mesh *mesh, const sp_columns *columns, int64_t count)
{
    sp_pool pool = {0};

    int64_t pieces, rows = columns->rows, *vertex = tool_allocate_raw(&pool, mesh->vertex_count, sizeof *vertex);
    double *left = tool_allocate(&pool, 2 * count, sizeof *left), *size = left + count, worst = 0; /* sums of squares */
    double *field = tool_allocate_raw(&pool, 6 * rows, sizeof *field),
           *part = tool_allocate_raw(&pool, rows * count, sizeof *part);
    const int64_t *label = verify_piece_labels(v, mesh, &pool, &pieces);
    tool_check(sp_dense_fits(v->context, rows, count), NULL);

    const int64_t measured = count > 0 ? pieces : 0;
    for (int64_t piece = 0; piece < measured; piece++) {
        int64_t n = 0;
        for (int64_t i = 0; i < mesh->vertex_count; i++)
            if (label[i] == piece)
                vertex[n++] = i;

        rigid_fields(mesh, n, vertex, field);

        for (int64_t c = 0; c < count; c++)
            for (int64_t i = 0; i < 3 * n; i++) {
                double u = columns->U[c * rows + 3 * vertex[i / 3] + i % 3];
                part[3 * n * c + i] = u;
                size[c] += u * u;
            }

        /* Afterwards the rows below the sixth hold what no rigid motion explains. */
        if (LAPACKE_dgels(LAPACK_COL_MAJOR, 'N', (lapack_int)(3 * n), 6, (lapack_int)count, field, (lapack_int)(3 * n),
                          part, (lapack_int)(3 * n)) != 0)
            tool_fail(SP_NUMERICAL, NULL, "the rigid motions of a piece are not independent");
        for (int64_t c = 0; c < count; c++)
            for (int64_t i = 6; i < 3 * n; i++)
                left[c] += part[3 * n * c + i] * part[3 * n * c + i];
    }

    for (int64_t c = 0; c < count; c++) {
        double error = sqrt(left[c] / size[c]);
        worst = isnan(error) || error > worst ? error : worst;
    }

    sp_pool_free(&pool);
    return worst;
}

/* How many rigid motions that the fixed vertices leave lie in the span, which a line says. */
static int64_t count_in_span(verify *v, artefact *file, const artefact *mesh, const sp_sparse *mass)
{
    const sp_columns *columns = &file->columns;
    int64_t n = mesh->body.dof_count, r = columns->count, left = 0, angles = 0, found = 0;
    sp_pool pool = {0};
    double *R = tool_allocate_raw(&pool, 6 * n, sizeof *R), *U = tool_allocate_raw(&pool, n * r, sizeof *U), angle[6];

    for (int64_t c = 0; c < r; c++)
        sp_fe_space_gather(&mesh->body, columns->U + c * columns->rows, U + c * n);

    sp_metric metric = {.rows = n, .matrix = mass};
    if (sp_rigid_motions(v->context, &mesh->body, mass, R, &left) != SP_OK)
        verify_note(v, file, "rigid motions", "%s", v->context->message);
    else if (left > 0 && sp_principal_angles(v->context, &metric, left, R, r, U, angle, &angles) == SP_OK) {
        while (found < angles && angle[found] < 1e-6)
            found++;
        verify_note(v, file, "rigid motions", "%lld of the %lld that the fixed vertices leave are in its span",
                    (long long)found, (long long)left);
    }

    sp_pool_free(&pool);
    return found;
}

void verify_spectrum(verify *v, artefact *file, const artefact *mesh, const sp_sparse *mass)
{
    const sp_columns *columns = &file->columns;
    int64_t r = columns->count, rigid = count_in_span(v, file, mesh, mass);
    sp_pool pool = {0};

    double *K = tool_allocate_raw(&pool, r * r, sizeof *K), *M = tool_allocate_raw(&pool, r * r, sizeof *M),
           *eigenvalue = tool_allocate_raw(&pool, r, sizeof *eigenvalue);

    verify_reduced_matrix(v, columns, &mesh->body, &mesh->stiffness, K);
    verify_reduced_matrix(v, columns, &mesh->body, mass, M);

    if (LAPACKE_dsygvd(LAPACK_COL_MAJOR, 1, 'N', 'L', (lapack_int)r, K, (lapack_int)r, M, (lapack_int)r, eigenvalue) !=
        0)
        verify_note(v, file, "reduced spectrum", "none: the columns are not independent");
    else if (rigid == r)
        verify_note(v, file, "reduced spectrum", "0 Hz: it holds rigid motions only");
    else
        verify_note(v, file, "reduced spectrum", "%.6g to %.6g Hz%s", sqrt(fmax(0, eigenvalue[rigid])) / TWO_PI,
                    sqrt(fmax(0, eigenvalue[r - 1])) / TWO_PI, rigid ? " beside the rigid motions" : "");

    sp_pool_free(&pool);
}
