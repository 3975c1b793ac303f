#include "formats/field.h"

#include <math.h>
#include <string.h>

/* meta repeats the extents, so that a member that lost a layer does not pass. */
static int check_cells(sp_context *context, const json_t *meta, const sp_field *field)
{
    double cells[3];
    int status = sp_json_numbers(context, meta, "cells", 3, cells);
    for (int k = 0; k < 3 && status == SP_OK; k++)
        if (cells[k] != (double)field->cells[k])
            status = sp_fail(context, SP_INPUT, "distance: dimension %d is %lld, expected %g for the \"cells\" of meta",
                             2 - k, (long long)field->cells[k] + 1, cells[k] + 1);
    return status;
}

int sp_field_read(sp_context *context, sp_file *file, sp_field *field)
{
    sp_array *distance, *origin, *spacing;
    int status;
    *field = (sp_field){0};
    SP_TRY(sp_members_take(context, &file->members, "origin", SP_F8, false, 1, (int64_t[]){3}, &origin));
    SP_TRY(sp_members_take(context, &file->members, "spacing", SP_F8, false, 0, NULL, &spacing));
    SP_TRY(sp_members_take(context, &file->members, "distance", SP_F4, false, 3, NULL, &distance));
    memcpy(field->origin, origin->data, sizeof field->origin);
    memcpy(&field->spacing, spacing->data, sizeof field->spacing);
    if (!(field->spacing > 0)) {
        status = sp_fail(context, SP_INPUT, "spacing: it is %g, expected more than 0", field->spacing);
        goto done;
    }
    for (int k = 0; k < 3; k++) {
        const int64_t extent = distance->shape[2 - k];
        field->cells[k] = extent - 1;
        if (extent < 2 || extent > SP_FIELD_CELLS_MAX + 1) {
            status = sp_fail(context, SP_INPUT, "distance: dimension %d is %lld, expected 2 to %d", 2 - k,
                             (long long)extent, SP_FIELD_CELLS_MAX + 1);
            goto done;
        }
        if (!isfinite(field->origin[k] + field->spacing * (double)field->cells[k])) {
            status = sp_fail(context, SP_INPUT, "the box goes from %g in %lld steps of %g", field->origin[k],
                             (long long)field->cells[k], field->spacing);
            goto done;
        }
    }
    SP_TRY(check_cells(context, file->meta, field));
    field->distance = distance->data;
    for (int64_t i = 0; i < distance->count; i++)
        if (!isfinite(field->distance[i])) {
            status = sp_fail(context, SP_INPUT, "distance: value %lld is not finite", (long long)i);
            goto done;
        }
    field->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    if (status != SP_OK)
        *field = (sp_field){0};
    return status;
}

int sp_field_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_field *field)
{
    const int64_t shape[3] = {field->cells[2] + 1, field->cells[1] + 1, field->cells[0] + 1}, three = 3;
    int status;
    json_t *cells =
        json_pack("[I, I, I]", (json_int_t)field->cells[0], (json_int_t)field->cells[1], (json_int_t)field->cells[2]);
    if (json_object_set_new(meta, "cells", cells))
        return sp_fail_memory(context);
    for (int64_t i = 0; i < sp_field_vertices(field); i++)
        if (!isfinite(field->distance[i]))
            return sp_fail(context, SP_NUMERICAL, "distance %lld is not finite", (long long)i);
    SP_TRY(sp_file_write_meta(writer, meta));
    SP_TRY(sp_writer_numbers(writer, "origin", false, 1, &three, field->origin));
    SP_TRY(sp_writer_numbers(writer, "spacing", false, 0, NULL, &field->spacing));
    SP_TRY(sp_writer_array(writer, "distance", SP_F4, false, 3, shape, field->distance));
done:
    return status;
}
