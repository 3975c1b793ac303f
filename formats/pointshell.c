#include "formats/pointshell.h"

#include "formats/kind_tables.h"

#include <string.h>

#include "base/vec3.h"

/* Normals must have unit length within this, which the single precision of other programs satisfies. */
static const double UNIT = 1e-5;

/* With the levels of the points as stored in the file. */
typedef struct pointshell_file {
    sp_pointshell pointshell;
    int64_t *level;
} pointshell_file;

/* Checks that levels start from 1, do not decrease, and none is missing. */
static int check_levels(sp_context *context, const sp_array *level, void *object)
{
    sp_pointshell *pointshell = &((pointshell_file *)object)->pointshell;
    const int64_t *number = level->data;
    for (int64_t i = 0; i < pointshell->count; i++) {
        const int64_t before = i > 0 ? number[i - 1] : 0;
        if (number[i] < 1 || number[i] < before || number[i] > before + 1 || number[i] > SP_POINTSHELL_LEVELS_MAX)
            return sp_fail(context, SP_INPUT, "level: point %lld is of level %lld after one of level %lld",
                           (long long)i, (long long)number[i], (long long)before);
        pointshell->levels = (int)number[i];
        pointshell->cumulative[number[i] - 1] = i + 1;
    }
    return SP_OK;
}

static int64_t inner_nodes(const void *object)
{
    return sp_pointshell_inner(&((const pointshell_file *)object)->pointshell);
}

#define AT(member) .at = offsetof(pointshell_file, pointshell.member)
static const sp_member_rule rules[] = {
    {"points", "n, 3", SP_F8, AT(points), .unit = "m", .meaning = "at rest"},
    {"normals", "n, 3", SP_F8, AT(normals), .meaning = "of unit length within 1e-5, pointing inward"},
    {"area", "n", SP_F8, AT(area), FROM(0), .unit = "m²",
     .meaning = "≥ 0: of the part of the surface that is nearest to the point"},
    {"level", "n", SP_I8, .at = offsetof(pointshell_file, level), .check = check_levels,
     .meaning = "the first level that contains the point, from 1"},
    {"parent", "n", SP_I8, AT(parent), .meaning = "a point of a lower level; −1 in level 1"},
    {"radius", "m", SP_F8, AT(radius), FROM(0), .unit = "m", .meaning = "≥ 0: of the spheres at rest"},
    {"Us", "n, 3, r", SP_F8, WITH("r"), AT(U), .unit = "m",
     .meaning = "displacement of the point for a unit value of each coordinate"},
    {"dNs", "n, 3, r", SP_F8, WITH("r"), AT(dN), .meaning = "change of the normal for the same"},
    {"dTs", "n, 2, 3, r", SP_F8, OPTIONAL, WITH("r"), AT(dT), .meaning = "change of the two tangents for the same"},
    {"a", "m, r", SP_F8, WITH("r"), AT(a), FROM(0), .unit = "m", .meaning = "≥ 0: increase of the radii for the same"},
    {0}};
#undef AT

const sp_kind sp_kind_pointshell = {
    "pointshell",
    (const sp_symbol[]){{"n", .at = offsetof(pointshell_file, pointshell.count), .given = true},
                        {"r", .at = offsetof(pointshell_file, pointshell.modes), .given = true},
                        {"m", .follows = inner_nodes},
                        {0}},
    rules};

static int check_values(sp_context *context, const sp_pointshell *pointshell)
{
    for (int64_t i = 0; i < pointshell->count; i++) {
        const double *n = pointshell->normals + 3 * i;
        const double length = sp_norm3(n);
        const int k = sp_pointshell_level_of(pointshell, i);
        if (!(fabs(length - 1) <= UNIT))
            return sp_fail(context, SP_INPUT, "normals: that of point %lld has the length %g, expected 1", (long long)i,
                           length);
        if (k == 1 ? pointshell->parent[i] != -1
                   : pointshell->parent[i] < 0 || pointshell->parent[i] >= pointshell->cumulative[k - 2])
            return sp_fail(context, SP_INPUT, "parent: that of point %lld of level %d is %lld", (long long)i, k,
                           (long long)pointshell->parent[i]);
    }
    return SP_OK;
}

int sp_pointshell_read(sp_context *context, sp_file *file, sp_pointshell *pointshell)
{
    pointshell_file in = {0};
    int status;
    *pointshell = (sp_pointshell){0};
    SP_TRY(sp_json_integer(context, file->meta, "points", 1, SP_POINTSHELL_POINTS_MAX, &in.pointshell.count));
    if (json_object_get(file->meta, "r"))
        SP_TRY(sp_json_integer(context, file->meta, "r", 1, INT32_MAX, &in.pointshell.modes));
    SP_TRY(sp_kind_read(context, file, &sp_kind_pointshell, &in));
    SP_TRY(check_values(context, &in.pointshell));
    *pointshell = in.pointshell;
    pointshell->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    return status;
}

int sp_pointshell_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_pointshell *pointshell)
{
    sp_pool pool = {0};
    pointshell_file out = {*pointshell, sp_pool_raw(&pool, pointshell->count, sizeof *out.level)};
    int status;

    if (!out.level || json_object_set_new(meta, "points", json_integer(pointshell->count)) ||
        (pointshell->modes > 0 && json_object_set_new(meta, "r", json_integer(pointshell->modes)))) {
        status = sp_fail_memory(context);
        goto done;
    }

    for (int64_t i = 0; i < pointshell->count; i++)
        out.level[i] = sp_pointshell_level_of(pointshell, i);
    SP_TRY(sp_kind_write(context, writer, &sp_kind_pointshell, meta, &out));
done:
    sp_pool_free(&pool);
    return status;
}
