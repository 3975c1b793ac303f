#include "formats/sparse.h"

#include "formats/kind_tables.h"

#include <string.h>

static const double SYMMETRY = 1e-9;

/* The members in the order of the file. */
typedef struct sparse_file {
    int64_t entries, starts;
    int64_t *index, *start, *shape, *dof;
    const char *format;
    double *value;
} sparse_file;

static int64_t row_count(const void *object)
{
    const int64_t starts = ((const sparse_file *)object)->starts;
    return starts < 0 ? -1 : starts - 1;
}

/* csr or csc, which are the same for a symmetric matrix. */
static int check_format(sp_context *context, const sp_array *array, void *object)
{
    (void)object;
    if (array->size != 3 || (memcmp(array->data, "csr", 3) && memcmp(array->data, "csc", 3)))
        return sp_fail(context, SP_INPUT, "format: it is %.*s, expected csr or csc", array->size < 8 ? array->size : 8,
                       (const char *)array->data);
    return SP_OK;
}

/* Checks that extents agree, and that indptr increases from 0 to the number of entries, so that no index derived from
 * it is out of range. */
static int check_rows(sp_context *context, const sp_array *array, void *object)
{
    const sparse_file *in = object;
    const int64_t *extent = array->data, *start = in->start, rows = row_count(object);

    if (extent[0] != extent[1] || extent[0] < 1)
        return sp_fail(context, SP_INPUT, "shape: the matrix is %lld by %lld, expected a square one",
                       (long long)extent[0], (long long)extent[1]);
    if (extent[0] != rows)
        return sp_fail(context, SP_INPUT, "indptr: it has %lld values, expected one more than the %lld rows",
                       (long long)in->starts, (long long)extent[0]);

    for (int64_t i = 0; i < rows; i++)
        if (start[i + 1] < start[i])
            return sp_fail(context, SP_INPUT, "indptr: it falls from %lld to %lld in row %lld", (long long)start[i],
                           (long long)start[i + 1], (long long)i);

    if (start[0] != 0 || start[rows] != in->entries)
        return sp_fail(context, SP_INPUT, "indptr: it goes from %lld to %lld, expected 0 to %lld", (long long)start[0],
                       (long long)start[rows], (long long)in->entries);
    return SP_OK;
}

#define AT(member) .at = offsetof(sparse_file, member)
static const sp_member_rule rules[] = {
    {"indices", "nnz", SP_I8, AT(index), .meaning = "column of each entry, strictly increasing in a row"},
    {"indptr", "n + 1", SP_I8, AT(start), .meaning = "begin of each row"},
    {"format", "", SP_BYTES, AT(format), .check = check_format, .meaning = "`csr`"},
    {"shape", "2", SP_I8, AT(shape), .check = check_rows, .meaning = "n, n; n ≥ 1"},
    {"data", "nnz", SP_F8, AT(value), .unit = "N/m, kg", .meaning = "the entries of K, of M"},
    {"dof", "n", SP_I8, OPTIONAL, AT(dof), WITHIN(0, 0x1p50), .increasing = true,
     .meaning = "the degree of freedom of each row"},
    {0}};
#undef AT

static const sp_fact sparse_meta[] = {{"matrix", SP_STRING, .meaning = "`K` or `M`: stiffness or mass"},
                                      {"mesh", SP_HASH, .meaning = "of the mesh"},
                                      {0}};

const sp_kind sp_kind_sparse = {"sparse",
                                (const sp_symbol[]){{"nnz", .at = offsetof(sparse_file, entries)},
                                                    {"n + 1", .at = offsetof(sparse_file, starts)},
                                                    {"n", .follows = row_count},
                                                    {0}},
                                rules, sparse_meta, NULL};

int sp_sparse_read(sp_context *context, sp_file *file, sp_sparse *matrix, int64_t **dof, char which[8])
{
    const char *kind = sp_file_kind(file), *name = "";
    sparse_file in = {0};
    int status;
    *matrix = (sp_sparse){0};
    *dof = NULL;

    if (*kind && strcmp(kind, "sparse"))
        return sp_fail(context, SP_INPUT, "it is a file of kind %.40s, expected sparse", kind);
    if (file->meta) {
        SP_TRY(sp_json_text(context, file->meta, "matrix", &name));
        if (strcmp(name, "K") && strcmp(name, "M")) {
            status = sp_fail(context, SP_INPUT, "meta: \"matrix\" is \"%.40s\", expected K or M", name);
            goto done;
        }
    }
    strcpy(which, name);

    SP_TRY(sp_kind_read(context, file, &sp_kind_sparse, &in));
    matrix->order = row_count(&in);
    matrix->start = in.start;
    matrix->index = in.index;
    matrix->value = in.value;
    *dof = in.dof;

    SP_TRY(sp_sparse_check(context, matrix, SYMMETRY));

    matrix->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    if (status != SP_OK) {
        *matrix = (sp_sparse){0};
        *dof = NULL;
    }
    return status;
}

int sp_sparse_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_sparse *matrix, const int64_t *dof,
                    const char *which)
{
    const sparse_file out = {.entries = matrix->start[matrix->order],
                             .starts = matrix->order + 1,
                             .index = matrix->index,
                             .start = matrix->start,
                             .shape = (int64_t[]){matrix->order, matrix->order},
                             .dof = (int64_t *)dof,
                             .format = "csr",
                             .value = matrix->value};
    if (json_object_set_new(meta, "matrix", json_string(which)))
        return sp_fail_memory(context);
    return sp_kind_write(context, writer, &sp_kind_sparse, meta, &out);
}
