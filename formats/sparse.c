#include "formats/sparse.h"

#include <string.h>

static const double SYMMETRY = 1e-9;

/* csr or csc: which of the two does not matter to a symmetric matrix. */
static int check_format(sp_context *context, sp_file *file)
{
    sp_array *array;
    int status;
    SP_TRY(sp_members_take(context, &file->members, "format", SP_BYTES, false, 0, NULL, &array));
    if (array->size != 3 || (memcmp(array->data, "csr", 3) && memcmp(array->data, "csc", 3)))
        return sp_fail(context, SP_INPUT, "format: it is %.*s, expected csr or csc", array->size < 8 ? array->size : 8,
                       (const char *)array->data);
done:
    return status;
}

/* Counts that agree, so that nobody who follows `start` can leave the arrays. */
static int take_rows(sp_context *context, sp_file *file, sp_sparse *matrix)
{
    sp_array *shape, *start, *index, *value;
    int status;
    SP_TRY(sp_members_take(context, &file->members, "shape", SP_I8, false, 1, (int64_t[]){2}, &shape));
    const int64_t *extent = shape->data;
    if (extent[0] != extent[1] || extent[0] < 1)
        return sp_fail(context, SP_INPUT, "shape: the matrix is %lld by %lld, expected a square one",
                       (long long)extent[0], (long long)extent[1]);
    SP_TRY(sp_members_take(context, &file->members, "indptr", SP_I8, false, 1, NULL, &start));
    SP_TRY(sp_members_take(context, &file->members, "indices", SP_I8, false, 1, NULL, &index));
    SP_TRY(sp_members_take(context, &file->members, "data", SP_F8, false, 1, &index->count, &value));
    if (start->count - 1 != extent[0])
        return sp_fail(context, SP_INPUT, "indptr: it has %lld values, expected one more than the %lld rows",
                       (long long)start->count, (long long)extent[0]);
    matrix->order = extent[0];
    matrix->start = start->data;
    matrix->index = index->data;
    matrix->value = value->data;
    for (int64_t i = 0; i < matrix->order; i++)
        if (matrix->start[i + 1] < matrix->start[i])
            return sp_fail(context, SP_INPUT, "indptr: it falls from %lld to %lld in row %lld",
                           (long long)matrix->start[i], (long long)matrix->start[i + 1], (long long)i);
    if (matrix->start[0] != 0 || matrix->start[matrix->order] != index->count)
        return sp_fail(context, SP_INPUT, "indptr: it goes from %lld to %lld, expected 0 to %lld",
                       (long long)matrix->start[0], (long long)matrix->start[matrix->order], (long long)index->count);
done:
    return status;
}

static int take_dof(sp_context *context, sp_file *file, int64_t order, int64_t **dof)
{
    sp_array *array;
    int status;
    SP_TRY(sp_members_take(context, &file->members, "dof", SP_I8, false, 1, &order, &array));
    int64_t *list = array->data;
    for (int64_t i = 0; i < order; i++)
        if (list[i] < (i ? list[i - 1] + 1 : 0) || list[i] == INT64_MAX)
            return sp_fail(context, SP_INPUT, "dof: value %lld is %lld, expected increasing numbers from 0",
                           (long long)i, (long long)list[i]);
    *dof = list;
done:
    return status;
}

int sp_sparse_read(sp_context *context, sp_file *file, sp_sparse *matrix, int64_t **dof, char which[8])
{
    const char *kind = sp_file_kind(file), *name = "";
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
    SP_TRY(check_format(context, file));
    SP_TRY(take_rows(context, file, matrix));
    if (sp_members_find(&file->members, "dof"))
        SP_TRY(take_dof(context, file, matrix->order, dof));
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
    int64_t entries = matrix->start[matrix->order], starts = matrix->order + 1;
    if (json_object_set_new(meta, "matrix", json_string(which)))
        return sp_fail_memory(context);
    int status;
    SP_TRY(sp_file_write_meta(writer, meta));
    SP_TRY(sp_writer_array(writer, "indices", SP_I8, false, 1, &entries, matrix->index));
    SP_TRY(sp_writer_array(writer, "indptr", SP_I8, false, 1, &starts, matrix->start));
    SP_TRY(sp_writer_bytes(writer, "format", "csr"));
    SP_TRY(
        sp_writer_array(writer, "shape", SP_I8, false, 1, (int64_t[]){2}, (int64_t[]){matrix->order, matrix->order}));
    SP_TRY(sp_writer_numbers(writer, "data", false, 1, &entries, matrix->value));
    if (dof)
        SP_TRY(sp_writer_array(writer, "dof", SP_I8, false, 1, &matrix->order, dof));
done:
    return status;
}
