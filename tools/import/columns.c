/* Matrices whose columns are displacement fields: bases, modes, derivatives, snapshots. The numbers stay as they are;
 * what their kind promises is measured in the mesh. */
#include "assembly/elastic.h"
#include "basis/modes.h"
#include "formats/import/matrix.h"
#include "linear/store.h"
#include "tools/common/inputs.h"
#include "tools/import/import.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const char *const kind_name[] = {"", "basis", "modes", "derivatives", "snapshots"};

/* How far UᵀMU may be from the identity, room for files of f4; and the residual of a mode that is none (as modes judges
 * its own). */
static const double ORTHONORMAL = 1e-5, ROUNDING = 1e-12, NO_MODE = 1e-3, POOR_MODE = 1e-6, EQUAL = 1e-11;

/* The columns are not what their kind promises. */
static noreturn void SP_PRINTF(3, 4) refuse_kind(int status, const char *path, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tool_hint("--as snapshots takes the columns as they are");
    tool_fail(status, path, "%s", text);
}

static void check_needs(const char *path, enum import_kind kind, const import_matrix_choice *choice)
{
    if (kind == IMPORT_MODES && !choice->mesh)
        refuse_kind(SP_USAGE, path, "modes need --mesh: their eigenvalues are not in the file");
    if (kind == IMPORT_BASIS && !choice->mesh && choice->lumping == IMPORT_LUMPING_AUTO)
        refuse_kind(SP_USAGE, path, "a basis needs --mesh or --lumping: it has to say in which mass it is orthonormal");
}

static void read_matrix(sp_context *context, const char *path, enum import_format format, sp_pool *pool,
                        sp_columns *columns)
{
    sp_matrix matrix = {0};
    sp_pool scratch = {0};
    int64_t count;
    const char *bytes = tool_read_bytes(path, NULL, &scratch, &count);
    tool_check((format == IMPORT_NPY      ? sp_matrix_parse_npy
                : format == IMPORT_MARKET ? sp_matrix_parse_market
                                          : sp_matrix_parse_vega)(context, bytes, count, pool, &matrix),
               path);
    sp_pool_free(&scratch);
    *columns = (sp_columns){.rows = matrix.rows, .count = matrix.columns, .U = matrix.value};
    if (matrix.rows % 3)
        tool_fail(SP_INPUT, path, "it has %lld rows and %lld columns, expected three rows for each vertex",
                  (long long)matrix.rows, (long long)matrix.columns);
}

/* Checks against the mesh: rows; rows of fixed components of everything but snapshots, which may move fixed
 * vertices. */
static void check_mesh(const char *path, enum import_kind kind, const tool_mesh *mesh, const sp_columns *columns)
{
    int64_t vertices = mesh->mesh.vertex_count;
    if (columns->rows != 3 * vertices) {
        const char *remark = columns->count == 3 * vertices ? ": it seems to be transposed"
                             : columns->rows == 3 * mesh->mesh.surface.vertex_count
                                 ? ": it is of the vertices of the embedded surface"
                                 : "";
        tool_fail(SP_INPUT, path, "it has %lld rows and %lld columns, the mesh needs %lld rows%s",
                  (long long)columns->rows, (long long)columns->count, 3 * (long long)vertices, remark);
    }
    double prescribed = tool_fixed_rows(&mesh->mesh, columns);
    if (prescribed > 0 && kind != IMPORT_SNAPSHOTS)
        refuse_kind(SP_INPUT, path, "it moves vertices that the mesh holds, by up to %.3g", prescribed);
}

/* Largest |UᵀMU − I|; the matrix goes to the caller. */
static double orthogonality(sp_context *context, const char *path, sp_fe_space *body, bool lumped,
                            const sp_columns *columns, sp_sparse *M)
{
    double error;
    tool_check(sp_fe_space_mass_compressed(context, body, lumped, M), path);
    sp_metric metric = {.rows = columns->rows, .matrix = M, .dof = body->dof};
    tool_check(sp_metric_orthogonality(context, &metric, columns->count, columns->U, &error), path);
    return error;
}

/* Finds in which mass the columns are orthonormal, by the option or by measuring, and assembles that mass M. Returns
 * the deviation from orthonormality in it. */
static double check_orthonormal(sp_context *context, const char *path, int lumping, sp_fe_space *body,
                                sp_columns *columns, sp_sparse *M)
{
    for (int64_t c = 0; c < columns->count; c++) {
        double largest = 0;
        for (int64_t i = 0; i < columns->rows; i++)
            largest = fmax(largest, fabs(columns->U[c * columns->rows + i]));
        if (!(largest > 0))
            refuse_kind(SP_INPUT, path, "column %lld is zero", (long long)c + 1);
    }

    columns->lumped = lumping == IMPORT_LUMPED;
    double error = orthogonality(context, path, body, columns->lumped, columns, M);

    if (lumping == IMPORT_LUMPING_AUTO) {
        sp_sparse other;
        double lumped = orthogonality(context, path, body, true, columns, &other);
        columns->lumped = lumped < error;
        sp_sparse_free(columns->lumped ? M : &other);
        *M = columns->lumped ? other : *M;
        error = fmin(error, lumped);
    }

    if (!(error <= ORTHONORMAL))
        refuse_kind(SP_INPUT, path,
                    "its columns are not orthonormal in the %s mass of the mesh: U'MU is off the identity by %.1e",
                    columns->lumped ? "lumped" : "consistent", error);
    if (error > ROUNDING)
        tool_warn(path, "its columns are orthonormal in the %s mass within %.1e only",
                  columns->lumped ? "lumped" : "consistent", error);

    return error;
}

/* Leading columns that are rigid motions: all their mass lies in the span of R [order, rigid_count]. */
static int64_t count_rigid(sp_context *context, const sp_sparse *M, const sp_fe_space *body, int64_t rigid_count,
                           const double *R, const sp_columns *columns, double *work)
{
    int64_t n = body->dof_count, count = 0;
    double *psi = work, *product = work + n;
    for (; count < columns->count && count < rigid_count; count++) {
        double inside = 0;

        sp_fe_space_gather(body, columns->U + count * columns->rows, psi);
        sp_sparse_times(context, M, 1, psi, product);
        for (int64_t i = 0; i < rigid_count; i++) {
            double part = sp_dense_dot(n, R + i * n, product);
            inside += part * part;
        }

        if (fabs(inside - 1) > ORTHONORMAL)
            break;
    }
    return count;
}

/* Eigenvalues by Rayleigh's quotient and residuals as modes.md has them. */
static void measure_modes(sp_context *context, const char *path, const tool_mesh *mesh, sp_fe_space *body,
                          const sp_sparse *M, sp_pool *pool, sp_columns *columns, json_t *result)
{
    int64_t n = body->dof_count, rigid_count;
    sp_sparse K;
    sp_pool scratch = {0};

    double *R = tool_allocate_raw(&scratch, 6 * n, sizeof *R), *work = tool_allocate_raw(&scratch, 3 * n, sizeof *work);
    double *psi = work, *k = work + n, *m = work + 2 * n, worst = 0;
    columns->eigenvalue = tool_allocate_raw(pool, columns->count, sizeof(double));
    columns->residual = tool_allocate_raw(pool, columns->count, sizeof(double));

    tool_check(sp_elastic_stiffness(context, body, &K), mesh->path);
    tool_check(sp_rigid_motions(context, body, M, R, &rigid_count), mesh->path);
    columns->rigid = count_rigid(context, M, body, rigid_count, R, columns, work);

    /* The scale of the residuals until the lowest elastic mode is known: a small part of the mean eigenvalue tr K /
     * tr M. */
    double lambda1 = 1e-6 * sp_sparse_trace(&K) / sp_sparse_trace(M);

    for (int64_t i = 0; i < columns->count; i++) {
        sp_fe_space_gather(body, columns->U + i * columns->rows, psi);
        sp_sparse_times(context, &K, 1, psi, k);
        sp_sparse_times(context, M, 1, psi, m);

        double lambda = i < columns->rigid ? 0 : sp_dense_dot(n, psi, k) / sp_dense_dot(n, psi, m);
        if (i > 0 && lambda < columns->eigenvalue[i - 1] && columns->eigenvalue[i - 1] - lambda <= EQUAL * lambda)
            lambda = columns->eigenvalue[i - 1]; /* a double eigenvalue, whose quotients round either way */
        columns->eigenvalue[i] = lambda;
        lambda1 = i == columns->rigid ? lambda : lambda1;

        for (int64_t j = 0; j < n; j++)
            k[j] -= lambda * m[j];
        columns->residual[i] = sqrt(sp_dense_dot(n, k, k) / sp_dense_dot(n, m, m));
    }

    if (columns->rigid < rigid_count && columns->rigid < columns->count)
        refuse_kind(SP_INPUT, path,
                    "the mesh has %lld rigid motions, of the first columns %lld are: the lowest modes are missing",
                    (long long)rigid_count, (long long)columns->rigid);

    /* Residuals relative to (λ + λ₁) ‖Mψ‖, with λ₁ of the first elastic mode. */
    for (int64_t i = 0; i < columns->count; i++) {
        columns->residual[i] /= columns->eigenvalue[i] + lambda1;
        worst = fmax(worst, columns->residual[i]);
        if (!(columns->residual[i] <= NO_MODE))
            refuse_kind(SP_INPUT, path, "column %lld is no mode of the mesh: its residual is %.1e", (long long)i + 1,
                        columns->residual[i]);
        if (i > 0 && columns->eigenvalue[i] < columns->eigenvalue[i - 1])
            refuse_kind(SP_INPUT, path, "columns %lld and %lld are not in the order of their frequencies", (long long)i,
                        (long long)i + 1);
    }

    if (worst > POOR_MODE)
        tool_warn(path, "the residual of a mode is %.1e", worst);
    tool_facts(result, sp_kind_modes.result, {"largest_residual", .real = worst}, {"rigid", .integer = columns->rigid});

    sp_sparse_free(&K);
    sp_pool_free(&scratch);
}

/* Orthonormality, and for modes eigenvalues and residuals. */
static void measure(sp_context *context, const char *path, enum import_kind kind, int lumping, const tool_mesh *mesh,
                    sp_pool *pool, sp_columns *columns, json_t *result)
{
    sp_fe_space body;
    sp_sparse M;
    tool_check(sp_fe_space_new(context, &mesh->mesh, &body), mesh->path);
    const double error = check_orthonormal(context, path, lumping, &body, columns, &M);
    tool_facts(result, sp_kind_find(kind_name[kind])->result, {"orthogonality", .real = error});
    if (kind == IMPORT_MODES)
        measure_modes(context, path, mesh, &body, &M, pool, columns, result);
    sp_sparse_free(&M);
    sp_fe_space_free(&body);
}

/* Pairs i ≤ j with j fastest, as VegaFEM has them, of elastic modes: --modes says how many rigid ones stand before
 * them. */
static void number_pairs(const char *path, const import_matrix_choice *choice, const tool_mesh *mesh, sp_pool *pool,
                         sp_columns *columns)
{
    static const char *const kinds[] = {"modes", NULL};
    int64_t k = 1, first = 0, m = columns->count, *pair = tool_allocate_raw(pool, 2 * m, sizeof *pair);

    while (k * (k + 1) / 2 < m)
        k++;
    if (k * (k + 1) / 2 != m)
        refuse_kind(SP_INPUT, path, "it has %lld columns: derivatives of k modes are k(k+1)/2, here %lld or %lld",
                    (long long)m, (long long)(k * (k - 1) / 2), (long long)(k * (k + 1) / 2));

    if (choice->modes) {
        tool_columns modes;
        tool_read_columns(choice->modes, "modes", kinds, mesh, &modes);
        first = modes.columns.rigid;
        if (modes.columns.rows != columns->rows)
            tool_fail(SP_INPUT, path, "it has %lld rows, the modes %lld", (long long)columns->rows,
                      (long long)modes.columns.rows);
        if (k > modes.columns.count - first)
            tool_fail(SP_INPUT, path, "its %lld columns belong to %lld modes, %s has %lld elastic ones", (long long)m,
                      (long long)k, choice->modes, (long long)(modes.columns.count - first));
        if (!mesh)
            memcpy(columns->mesh, modes.columns.mesh, sizeof columns->mesh);
        sp_columns_free(&modes.columns);
    }

    columns->pair = pair;
    columns->order = 1;
    for (int64_t i = 0; i < k; i++)
        for (int64_t j = i; j < k; j++) {
            *pair++ = first + i;
            *pair++ = first + j;
        }
}

void import_columns(sp_context *context, const char *path, enum import_format format,
                    const import_matrix_choice *choice)
{
    enum import_kind kind = (enum import_kind)choice->kind;
    tool_mesh mesh = {0};
    sp_pool pool = {0};
    sp_columns columns;
    json_t *result = tool_result_new();
    check_needs(path, kind, choice);
    read_matrix(context, path, format, &pool, &columns);
    if (choice->mesh) {
        tool_read_mesh(choice->mesh, "mesh", &mesh);
        memcpy(columns.mesh, mesh.hash, sizeof columns.mesh);
        check_mesh(path, kind, &mesh, &columns);
    }
    columns.lumped = choice->lumping == IMPORT_LUMPED;
    if (kind == IMPORT_DERIVATIVES)
        number_pairs(path, choice, choice->mesh ? &mesh : NULL, &pool, &columns);
    if (choice->mesh && (kind == IMPORT_BASIS || kind == IMPORT_MODES))
        measure(context, path, kind, choice->lumping, &mesh, &pool, &columns, result);
    tool_say("%s: %lld columns of %lld vertices", kind_name[kind], (long long)columns.count,
             (long long)(columns.rows / 3));

    tool_output *output = tool_output_open(tool_output_path());
    json_t *meta = tool_meta_new(kind_name[kind]);
    tool_check(sp_columns_write(context, tool_output_writer(output), meta, &columns), tool_output_path());
    tool_output_finish(output, result);
    json_decref(meta);
    sp_mesh_free(&mesh.mesh);
    sp_pool_free(&pool);
}
