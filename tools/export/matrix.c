#include "tools/export/matrix.h"

#include "formats/export/matrix_market.h"
#include "formats/export/matrix_write.h"
#include "formats/sparse.h"
#include "tools/common/skin.h"
#include "tools/common/trajectory.h"

#include <string.h>

static void export_sparse(sp_context *context, const char *path, const char *target)
{
    static const char *const kinds[] = {"sparse", NULL};
    sp_file file;
    sp_sparse matrix;
    int64_t *dof;
    char which[8], comment[128];

    tool_read(path, NULL, kinds, true, &file);
    tool_check(sp_sparse_read(context, &file, &matrix, &dof, which), path);
    sp_file_free(&file);

    snprintf(comment, sizeof comment, "%srows are %s",
             *which == 'K'   ? "K [N/m], "
             : *which == 'M' ? "M [kg], "
                             : "",
             dof ? "the free degrees of freedom, in order" : "all degrees of freedom");

    tool_output *output = tool_output_open(target);
    tool_check(sp_matrix_market_write_sparse(context, tool_output_descriptor(output), comment, &matrix), target);
    tool_output_finish(output, NULL);

    sp_sparse_free(&matrix);
}

static void export_polynomials(sp_context *context, const char *path, const char *target)
{
    static const char *const kinds[] = {"polynomials", NULL};
    sp_file file;
    sp_polynomials polynomials;
    sp_cubic_force force;
    char mesh[SP_HASH_LENGTH], basis[SP_HASH_LENGTH];

    tool_read(path, NULL, kinds, false, &file);
    tool_check(sp_polynomials_read(context, &file, &polynomials, mesh, basis), path);
    sp_file_free(&file);

    tool_check(sp_cubic_from_polynomials(context, &polynomials, &force), path);
    sp_polynomials_free(&polynomials);

    tool_output *output = tool_output_open(target);
    tool_check(sp_cubic_write(context, tool_output_descriptor(output), &force), target);
    tool_output_finish(output, NULL);
    sp_cubic_free(&force);
}

/* VegaFEM knows derivatives by their place only: all pairs i ≤ j of some modes in a row, j fastest. */
static void check_pairs(const char *path, const sp_columns *columns, int64_t count, const int64_t *chosen)
{
    int64_t k = 0, at = 0, first = columns->pair ? columns->pair[2 * chosen[0]] : 0;
    while (k * (k + 1) / 2 < count)
        k++;
    bool fits = columns->pair && k * (k + 1) / 2 == count;
    for (int64_t i = first; fits && i < first + k; i++)
        for (int64_t j = i; j < first + k; j++, at++)
            fits &= columns->pair[2 * chosen[at]] == i && columns->pair[2 * chosen[at] + 1] == j;
    if (!fits)
        tool_fail(SP_INPUT, path,
                  "its columns are not the derivatives of all pairs i <= j of modes in order, as .modalDeriv has them");
}

static void write_dense(sp_context *context, enum tool_matrix_format format, const char *target, const char *kind,
                        int64_t rows, int64_t count, const double *values)
{
    char comment[128];
    tool_output *output = tool_output_open(target);
    int descriptor = tool_output_descriptor(output);
    snprintf(comment, sizeof comment, "%s, row 3 v + i is component i of vertex v, both from 0", kind);
    if (format == TOOL_MATRIX_MARKET)
        tool_check(sp_matrix_market_write_dense(context, descriptor, comment, rows, count, values), target);
    else if (format == TOOL_MATRIX_NPY)
        tool_check(sp_npy_write(context, descriptor, rows, count, values), target);
    else
        tool_check(sp_vega_matrix_write(context, descriptor, format == TOOL_MATRIX_VEGA_FLOAT, rows, count, values),
                   target);
    tool_output_finish(output, NULL);
}

static void export_columns(sp_context *context, enum tool_matrix_format format, const char *path, const char *target,
                           const char *chosen)
{
    tool_columns columns;
    sp_list list = {0};
    sp_pool pool = {0};
    const char *dot = strrchr(target, '.');

    tool_read_columns(path, NULL, NULL, NULL, &columns);
    int64_t rows = columns.columns.rows;
    tool_parse_list("columns", chosen, 1, columns.columns.count, &list);
    if (dot && !strcmp(dot, ".modalDeriv"))
        check_pairs(path, &columns.columns, list.count, list.data);

    double *picked = tool_allocate_raw(&pool, list.count, (size_t)rows * sizeof *picked);
    for (int64_t c = 0; c < list.count; c++)
        memcpy(picked + c * rows, columns.columns.U + ((int64_t *)list.data)[c] * rows, (size_t)rows * sizeof *picked);
    write_dense(context, format, target, columns.kind, rows, list.count, picked);

    sp_columns_free(&columns.columns);
    sp_list_free(&list);
    sp_pool_free(&pool);
}

/* The columns at the vertices of the embedded surface: what VegaFEM's run-time draws with. */
static void export_surface(sp_context *context, int count, const char *const *paths, const char *target,
                           const char *chosen)
{
    tool_trajectory motion;
    tool_skin skin;
    sp_list list = {0};
    sp_pool pool = {0};

    tool_trajectory_open(context, count, paths, 0, &motion);
    if (!motion.mesh.path || !motion.columns.path || motion.path)
        tool_fail(SP_USAGE, NULL, "a basis on the rendered surface needs the mesh and one file of columns");
    tool_inputs_are("columns");
    if (motion.mesh.mesh.surface.vertex_count == 0)
        tool_fail(SP_INPUT, motion.mesh.path, "it has no embedded surface");

    const sp_columns *columns = &motion.columns.columns;
    tool_parse_list("columns", chosen, 1, columns->count, &list);
    tool_skin_open(context, &motion.mesh.mesh, false, &skin);
    int64_t rows = 3 * skin.vertex_count;

    double *values = tool_allocate_raw(&pool, list.count, (size_t)rows * sizeof *values);
    for (int64_t c = 0; c < list.count; c++)
        tool_skin_values(&skin, 3, columns->U + ((int64_t *)list.data)[c] * columns->rows, values + c * rows);
    write_dense(context, TOOL_MATRIX_VEGA_FLOAT, target, motion.columns.kind, rows, list.count, values);

    tool_skin_close(&skin);
    sp_list_free(&list);
    sp_pool_free(&pool);
    tool_trajectory_close(&motion);
}

void tool_export_matrix(sp_context *context, enum tool_matrix_format format, int count, const char *const *paths,
                        const char *target, const char *chosen)
{
    char kind[SP_KIND_LENGTH];

    if (format == TOOL_MATRIX_VEGA_FLOAT) {
        export_surface(context, count, paths, target, chosen);
        return;
    }

    if (count > 1)
        tool_fail(SP_USAGE, NULL, "a matrix is made of one file, %d were named", count);
    tool_peek_kind(context, paths[0], kind);

    bool sparse = !strcmp(kind, "sparse"), polynomials = !strcmp(kind, "polynomials");
    if (!strcmp(kind, "mesh") || !strcmp(kind, "trajectory") || polynomials != (format == TOOL_MATRIX_CUB) ||
        (sparse && format != TOOL_MATRIX_MARKET))
        tool_fail(SP_INPUT, paths[0], "a file of kind %s does not fit this format", kind);
    tool_inputs_are(sparse ? "sparse-matrix" : polynomials ? "polynomials" : "columns");

    if (sparse)
        export_sparse(context, paths[0], target);
    else if (polynomials)
        export_polynomials(context, paths[0], target);
    else
        export_columns(context, format, paths[0], target, chosen);
}
