#include "formats/field.h"

#include "formats/kind_tables.h"

#include <string.h>

/* meta repeats the extents, so that a member without its last layer is rejected. */
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

/* The members in the order of the file. */
typedef struct field_file {
    double *origin, *spacing;
    float *distance;
    int64_t extent[3]; /* of `distance` */
} field_file;

static int check_extents(sp_context *context, const sp_array *array, void *object)
{
    (void)object;
    for (int k = 0; k < 3; k++)
        if (array->shape[2 - k] < 2 || array->shape[2 - k] > SP_FIELD_CELLS_MAX + 1)
            return sp_fail(context, SP_INPUT, "distance: dimension %d is %lld, expected 2 to %d", 2 - k,
                           (long long)array->shape[2 - k], SP_FIELD_CELLS_MAX + 1);
    return SP_OK;
}

#define AT(member) .at = offsetof(field_file, member)
static const sp_fact field_meta[] = {
    {"cells", SP_INTEGERS, .meaning = "numbers *nx*, *ny*, *nz*, which agree with the extents of `distance`"},
    {"sign", SP_STRING, .meaning = "how the inside was determined, and what the surface is, see below"},
    {"offset", SP_NUMBER, .unit = "m", .when = "`sign` is `offset`",
     .meaning = "the distance of the surface from the model"},
    {"mesh", SP_HASH, .when = "the surface of a mesh", .meaning = "of the mesh"},
    {0}};

static const sp_fact field_result[] = {
    {"sign", SP_STRING, .meaning = "the method that was used, as in meta"},
    {"inside", SP_INTEGER, .meaning = "vertices of the grid inside"},
    {"boundary", SP_NUMBER, .unit = "m", .when = "`sign` is not `deformed`",
     .meaning = "the lower bound *d* of the distance on the surface of the box, see below"},
    {"sign_tests", SP_INTEGER, .when = "`sign` is neither `none` nor `deformed`",
     .meaning = "vertices that were tested by two methods"},
    {"sign_disagreements", SP_INTEGER, .when = "`sign` is neither `none` nor `deformed`",
     .meaning = "tests that disagreed"},
    {"offset_triangles", SP_INTEGER, .when = "`sign` is `offset`", .meaning = "triangles of the level set"},
    {"enclosed_vertices", SP_INTEGER, .when = "`sign` is `offset`",
     .meaning = "vertices outside the offset that are not connected with the exterior"},
    {"closed", SP_BOOLEAN, .when = "`pseudonormal`, `winding`",
     .meaning = "whether the model is closed after the repair"},
    {"manifold", SP_BOOLEAN, .when = "`pseudonormal`, `winding`",
     .meaning = "whether it is a manifold after the repair"},
    {"open_edges", SP_INTEGER, .when = "`pseudonormal`, `winding`",
     .meaning = "edges of the model without a second triangle, after the repair"},
    {"turned_triangles", SP_INTEGER, .when = "`pseudonormal`, `winding`",
     .meaning = "triangles of the model whose orientation the repair reversed"},
    {"doubled_triangles", SP_INTEGER, .when = "`pseudonormal`, `winding`",
     .meaning = "triangles that the repair left out because another one has the same vertices"},
    {"degenerate_triangles", SP_INTEGER, .when = "`pseudonormal`, `winding`",
     .meaning = "triangles without an area, which the repair left out"},
    {"one_sided_patches", SP_INTEGER, .when = "`pseudonormal`, `winding`",
     .meaning = "connected parts of the model that cannot be oriented"},
    {0}};

const sp_kind sp_kind_field = {
    "field",
    (const sp_symbol[]){{"nx + 1", .at = offsetof(field_file, extent[0])},
                        {"ny + 1", .at = offsetof(field_file, extent[1])},
                        {"nz + 1", .at = offsetof(field_file, extent[2])},
                        {0}},
    (const sp_member_rule[]){
        {"origin", "3", SP_F8, AT(origin), .unit = "m", .meaning = "the vertex of the grid with the least coordinates"},
        {"spacing", "", SP_F8, AT(spacing), ABOVE(0), .unit = "m", .meaning = "the side of a cell"},
        {"distance", "nz + 1, ny + 1, nx + 1", SP_F4, AT(distance), .check = check_extents, .unit = "m",
         .meaning = "from the surface, negative inside"},
        {0}},
    field_meta, field_result};
#undef AT

int sp_field_read(sp_context *context, sp_file *file, sp_field *field)
{
    field_file in = {0};
    int status;
    *field = (sp_field){0};

    SP_TRY(sp_kind_read(context, file, &sp_kind_field, &in));
    memcpy(field->origin, in.origin, sizeof field->origin);
    field->spacing = *in.spacing;
    field->distance = in.distance;

    /* The box has one grid point more than cells along each axis. */
    for (int k = 0; k < 3; k++) {
        field->cells[k] = in.extent[k] - 1;
        if (!isfinite(field->origin[k] + field->spacing * (double)field->cells[k])) {
            status = sp_fail(context, SP_INPUT, "the box goes from %g in %lld steps of %g", field->origin[k],
                             (long long)field->cells[k], field->spacing);
            goto done;
        }
    }
    SP_TRY(check_cells(context, file->meta, field));

    field->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    if (status != SP_OK)
        *field = (sp_field){0};
    return status;
}

int sp_field_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_field *field)
{
    field_file out = {.origin = (double *)field->origin,
                      .spacing = (double *)&field->spacing,
                      .distance = field->distance,
                      .extent = {field->cells[0] + 1, field->cells[1] + 1, field->cells[2] + 1}};
    json_t *cells =
        json_pack("[I, I, I]", (json_int_t)field->cells[0], (json_int_t)field->cells[1], (json_int_t)field->cells[2]);
    if (json_object_set_new(meta, "cells", cells))
        return sp_fail_memory(context);
    return sp_kind_write(context, writer, &sp_kind_field, meta, &out);
}
