#include "tools/export/matrix.h"

#include "formats/export/matrix_market.h"
#include "formats/sparse.h"
#include "tools/common/motion.h"

#include <string.h>

void tool_export_matrix(sp_context *context, int count, const char *path, const char *target, const char *chosen)
{
    static const char *const sparse_kinds[] = {"sparse", NULL};
    char kind[16], which[8], comment[128];
    if (count > 1)
        tool_fail(SP_USAGE, NULL, "Matrix Market takes one file, a sparse matrix or columns");
    tool_peek_kind(context, path, kind);
    if (!strcmp(kind, "sparse")) {
        sp_file file;
        sp_sparse matrix;
        int64_t *dof;
        if (chosen)
            tool_fail(SP_USAGE, path, "--columns: it is a sparse matrix");
        tool_read(path, NULL, sparse_kinds, true, &file);
        tool_check(sp_sparse_read(context, &file, &matrix, &dof, which), path);
        sp_file_free(&file);
        snprintf(comment, sizeof comment, "%srows are %s",
                 *which == 'K'   ? "K [N/m], "
                 : *which == 'M' ? "M [kg], "
                                 : "",
                 dof ? "the degrees of freedom that are not held, in order" : "all degrees of freedom");
        tool_output *output = tool_output_open(target);
        tool_check(sp_matrix_market_write_sparse(context, tool_output_descriptor(output), comment, &matrix), target);
        tool_output_finish(output, NULL);
        sp_sparse_free(&matrix);
        return;
    }
    if (!strcmp(kind, "mesh") || !strcmp(kind, "trajectory"))
        tool_fail(SP_USAGE, path, "a file of kind %s is no matrix", kind);
    tool_columns columns;
    sp_list list = {0};
    sp_pool pool = {0};
    tool_read_columns(path, NULL, NULL, NULL, &columns);
    int64_t rows = columns.columns.rows;
    tool_parse_list("columns", chosen, 1, columns.columns.count, &list);
    double *picked = sp_pool_raw(&pool, list.count, (size_t)rows * sizeof *picked);
    if (!picked)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    for (int64_t c = 0; c < list.count; c++)
        memcpy(picked + c * rows, columns.columns.U + ((int64_t *)list.data)[c] * rows, (size_t)rows * sizeof *picked);
    snprintf(comment, sizeof comment, "%s, row 3 v + i is component i of vertex v, both from 0", columns.kind);
    tool_output *output = tool_output_open(target);
    tool_check(sp_matrix_market_write_dense(context, tool_output_descriptor(output), comment, rows, list.count, picked), target);
    tool_output_finish(output, NULL);
    sp_columns_free(&columns.columns);
    sp_list_free(&list);
    sp_pool_free(&pool);
}
