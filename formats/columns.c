#include "formats/columns.h"

#include <math.h>
#include <string.h>

enum kind { MODES, DERIVATIVES, SHAPES, BASIS, KIND_COUNT };

static const char *const kind_name[KIND_COUNT] = {"modes", "derivatives", "shapes", "basis"};

/* KIND_COUNT where the name is none of these; "" (a foreign file) is shapes. */
static enum kind kind_of(const char *name)
{
    enum kind kind = MODES;
    if (!*name)
        return SHAPES;
    while (kind < KIND_COUNT && strcmp(name, kind_name[kind]))
        kind++;
    return kind;
}

/* One value per column, not negative where that is asked. */
static int take_values(sp_context *context, sp_file *file, const char *name, bool signed_values, sp_columns *columns,
                       double **values)
{
    sp_array *array;
    int status;
    SP_TRY(sp_members_take(context, &file->members, name, SP_F8, false, 1, &columns->count, &array));
    *values = array->data;
    for (int64_t i = 0; i < columns->count && !signed_values; i++)
        if ((*values)[i] < 0)
            return sp_fail(context, SP_INPUT, "%s: value %lld is %g, it may not be negative", name, (long long)i,
                           (*values)[i]);
done:
    return status;
}

static int take_pairs(sp_context *context, sp_file *file, sp_columns *columns)
{
    sp_array *array;
    int status;
    SP_TRY(sp_members_take(context, &file->members, "pair", SP_I8, false, 2, (int64_t[]){columns->count, 2}, &array));
    columns->pair = array->data;
    for (int64_t i = 0; i < 2 * columns->count; i++)
        if (columns->pair[i] < 0)
            return sp_fail(context, SP_INPUT, "pair: row %lld names mode %lld", (long long)(i / 2),
                           (long long)columns->pair[i]);
done:
    return status;
}

static int take_ordering(sp_context *context, sp_file *file, sp_columns *columns)
{
    const int64_t any = -1;
    sp_array *array;
    int status;
    SP_TRY(sp_members_take(context, &file->members, "ordering", SP_I8, false, 1, &any, &array));
    columns->ordering = array->data;
    columns->ordering_count = array->count;
    for (int64_t i = 0; i < array->count; i++)
        if (columns->ordering[i] < 0 || columns->ordering[i] >= columns->rows / 3)
            return sp_fail(context, SP_INPUT, "ordering: value %lld is vertex %lld of %lld", (long long)i,
                           (long long)columns->ordering[i], (long long)(columns->rows / 3));
done:
    return status;
}

static int check_size(sp_context *context, int64_t rows, int64_t count)
{
    if (rows < 3 || rows % 3 || count < 1)
        return sp_fail(
            context, SP_INPUT,
            "U: it has %lld rows and %lld columns, expected three rows for each vertex and at least one column",
            (long long)rows, (long long)count);
    return SP_OK;
}

/* ---- U in pieces ---- */

/* The first piece of a member: what it is, and room for whole columns or rows. */
static int begin_pieces(sp_columns_pieces *pieces, const sp_array *array)
{
    enum { PIECE = 1 << 17 }; /* values */
    int status;
    SP_TRY(sp_array_check(pieces->context, array, SP_F8, 2, (int64_t[]){pieces->expected_rows, -1}));
    SP_TRY(check_size(pieces->context, array->shape[0], array->shape[1]));
    int64_t line = array->fortran ? array->shape[0] : array->shape[1];
    pieces->have = 0;
    pieces->room = line < PIECE ? PIECE / line * line : line;
    pieces->values = sp_pool_raw(&pieces->pool, pieces->room, sizeof *pieces->values);
    pieces->turned = array->fortran ? pieces->values : sp_pool_raw(&pieces->pool, pieces->room, sizeof *pieces->turned);
    if (pieces->pool.failed)
        status = sp_fail_memory(pieces->context);
done:
    return status;
}

/* Whole columns or rows to the one who wants them; `end` is the number of the first value that is still to come. */
static int give_piece(sp_columns_pieces *pieces, const sp_array *array, int64_t end)
{
    int64_t rows = array->shape[0], columns = array->shape[1], line = array->fortran ? rows : columns,
            lines = pieces->have / line, at = end / line - lines;
    for (int64_t i = 0; i < pieces->have; i++)
        if (!isfinite(pieces->values[i]))
            return sp_fail(pieces->context, SP_INPUT, "U: value %lld is not finite",
                           (long long)(end - pieces->have + i));
    pieces->have = 0;
    if (array->fortran)
        return pieces->take(pieces->data, rows, columns, 0, rows, at, lines, pieces->values);
    for (int64_t c = 0; c < columns; c++)
        for (int64_t i = 0; i < lines; i++)
            pieces->turned[c * lines + i] = pieces->values[i * columns + c];
    return pieces->take(pieces->data, rows, columns, at, lines, 0, columns, pieces->turned);
}

static int take_piece(void *data, const sp_array *array, int64_t first, int64_t count, const void *values)
{
    sp_columns_pieces *pieces = data;
    int status = first == 0 ? begin_pieces(pieces, array) : SP_OK;
    for (int64_t i = 0, part; i < count && status == SP_OK; i += part) {
        int64_t left = pieces->room - pieces->have;
        part = count - i < left ? count - i : left;
        for (int64_t k = 0; k < part; k++)
            pieces->values[pieces->have + k] =
                array->type == SP_F4 ? (double)((const float *)values)[i + k] : ((const double *)values)[i + k];
        pieces->have += part;
        if (pieces->have == pieces->room || first + i + part == array->count)
            status = give_piece(pieces, array, first + i + part);
    }
    return status;
}

void sp_columns_divert(sp_context *context, sp_reader *reader, int64_t rows, sp_columns_pieces *pieces)
{
    pieces->context = context;
    pieces->expected_rows = rows;
    sp_reader_divert(reader, "U", take_piece, pieces);
}

void sp_columns_pieces_free(sp_columns_pieces *pieces)
{
    sp_pool_free(&pieces->pool);
}

/* ---- the rest ---- */

int sp_columns_read(sp_context *context, sp_file *file, int64_t rows, sp_columns *columns)
{
    enum kind kind = kind_of(sp_file_kind(file));
    sp_array *array;
    int64_t order = 0;
    int status;
    *columns = (sp_columns){0};
    if (kind == KIND_COUNT)
        return sp_fail(context, SP_INPUT, "it is a file of kind %.40s, expected modes, derivatives, shapes or basis",
                       sp_file_kind(file));
    array = sp_members_find(&file->members, "U");
    if (array && !array->data && array->count) /* diverted */
        SP_TRY(sp_array_check(context, array, SP_F8, 2, (int64_t[]){rows, -1}));
    else
        SP_TRY(sp_members_take(context, &file->members, "U", SP_F8, true, 2, (int64_t[]){rows, -1}, &array));
    columns->rows = array->shape[0];
    columns->count = array->shape[1];
    columns->U = array->data;
    SP_TRY(check_size(context, columns->rows, columns->count));
    SP_TRY(sp_json_hash(context, file->meta, "mesh", columns->mesh));
    if (kind == MODES || kind == BASIS)
        SP_TRY(sp_json_mass(context, file->meta, true, &columns->lumped));
    if (kind == MODES) {
        SP_TRY(take_values(context, file, "eigenvalue", true, columns, &columns->eigenvalue));
        SP_TRY(take_values(context, file, "residual", false, columns, &columns->residual));
        SP_TRY(sp_json_integer(context, file->meta, "rigid", 0, columns->count, &columns->rigid));
        if (sp_members_find(&file->members, "ordering"))
            SP_TRY(take_ordering(context, file, columns));
    } else if (kind == DERIVATIVES) {
        SP_TRY(sp_json_integer(context, file->meta, "order", 1, 1000, &order));
        columns->order = (int)order;
        if (json_object_get(file->meta, "source"))
            SP_TRY(sp_json_integer(context, file->meta, "source", 1, INT64_C(1) << 40, &columns->source));
        if (order == 1 || sp_members_find(&file->members, "pair"))
            SP_TRY(take_pairs(context, file, columns));
    } else if (kind == BASIS && sp_members_find(&file->members, "singular_value"))
        SP_TRY(take_values(context, file, "singular_value", false, columns, &columns->singular_value));
    if (kind == SHAPES && *sp_file_kind(file) && sp_members_find(&file->members, "time"))
        SP_TRY(take_values(context, file, "time", false, columns, &columns->time));
    columns->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    if (status != SP_OK)
        *columns = (sp_columns){0};
    return status;
}

int sp_columns_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_columns *columns)
{
    const char *name = json_string_value(json_object_get(meta, "kind"));
    enum kind kind = name ? kind_of(name) : SHAPES;
    bool failed = columns->mesh[0] && json_object_set_new(meta, "mesh", json_string(columns->mesh));
    if (kind == MODES || kind == BASIS)
        failed |= sp_json_set_mass(meta, columns->lumped);
    if (kind == MODES)
        failed |= json_object_set_new(meta, "rigid", json_integer(columns->rigid)) != 0;
    if (kind == DERIVATIVES)
        failed |= json_object_set_new(meta, "order", json_integer(columns->order)) != 0;
    if (kind == DERIVATIVES && columns->source)
        failed |= json_object_set_new(meta, "source", json_integer(columns->source)) != 0;
    if (failed)
        return sp_fail_memory(context);
    int status;
    SP_TRY(sp_file_write_meta(writer, meta));
    if (columns->U)
        SP_TRY(sp_writer_numbers(writer, "U", true, 2, (int64_t[]){columns->rows, columns->count}, columns->U));
    else
        SP_TRY(sp_writer_columns(writer, "U", columns->rows, columns->count, columns->column, columns->column_data));
    if (columns->eigenvalue)
        SP_TRY(sp_writer_numbers(writer, "eigenvalue", false, 1, &columns->count, columns->eigenvalue));
    if (columns->residual)
        SP_TRY(sp_writer_numbers(writer, "residual", false, 1, &columns->count, columns->residual));
    if (columns->ordering)
        SP_TRY(sp_writer_array(writer, "ordering", SP_I8, false, 1, &columns->ordering_count, columns->ordering));
    if (columns->pair)
        SP_TRY(sp_writer_array(writer, "pair", SP_I8, false, 2, (int64_t[]){columns->count, 2}, columns->pair));
    if (columns->singular_value)
        SP_TRY(sp_writer_numbers(writer, "singular_value", false, 1, &columns->count, columns->singular_value));
    if (columns->time)
        SP_TRY(sp_writer_numbers(writer, "time", false, 1, &columns->count, columns->time));
done:
    return status;
}

void sp_columns_free(sp_columns *columns)
{
    sp_pool_free(&columns->pool);
    *columns = (sp_columns){0};
}
