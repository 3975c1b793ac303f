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

static const sp_fact pointshell_meta[] = {
    {"points", SP_INTEGER, .meaning = "number *n* of points"},
    {"r", SP_INTEGER, .when = "optional", .meaning = "number of coordinates"},
    {"mesh", SP_HASH, .when = "if known", .meaning = "of the mesh that the shell was made from"},
    {"basis", SP_HASH, .when = "`--basis`", .meaning = "of the basis"},
    {"surface", SP_STRING, .meaning = "`model`, `offset` or `field`: what the points are on"},
    {"offset", SP_NUMBER, .unit = "m", .when = "`surface` is not `model`", .meaning = "see `surface`"},
    {0}};

static const sp_fact pointshell_result[] = {
    {"level_points", SP_INTEGERS, .meaning = "of each level: points up to this level"},
    {"spacing", SP_NUMBERS, .unit = "m",
     .meaning = "of each level: mean distance from the nearest neighbour whose normal differs by at most 120 degrees"},
    {"spread", SP_NUMBERS, .meaning = "of each level: the standard deviation of these distances divided by their mean"},
    {"least", SP_NUMBERS, .unit = "m", .meaning = "of each level: the smallest of these distances"},
    {"repulsion_radius", SP_NUMBERS, .unit = "m", .when = "`--method repulsion`",
     .meaning = "of each level: the radius of repulsion"},
    {"last_move", SP_NUMBERS, .when = "`--method repulsion`",
     .meaning = "of each level: root mean square displacement of the last iteration, in radii"},
    {"iterations", SP_INTEGERS, .when = "`--method repulsion`", .meaning = "of each level: iterations"},
    {"area", SP_NUMBER, .unit = "m²", .meaning = "of the surface"},
    {"gap", SP_NUMBER, .unit = "m", .meaning = "largest distance of the surface from its nearest point"},
    {"off_surface", SP_NUMBER, .unit = "m", .meaning = "largest distance of a point from the surface"},
    {"cell", SP_NUMBER, .unit = "m", .when = "`surface` is not `model`",
     .meaning = "edge of the cells on which the surface was found"},
    {"meets_itself", SP_BOOLEAN, .when = "`surface` is not `field`", .meaning = "whether the model intersects itself"},
    {"open_edges", SP_INTEGER, .when = "`surface` is not `field`",
     .meaning = "edges of the model without a second triangle, after the repair"},
    {"turned_triangles", SP_INTEGER, .when = "`surface` is not `field`",
     .meaning = "triangles of the model whose orientation the repair reversed"},
    {"outside", SP_INTEGER, .when = "`--basis`", .meaning = "points outside of all elements"},
    {"outside_by", SP_NUMBER, .unit = "m", .when = "`--basis`", .meaning = "their largest distance from the elements"},
    {0}};

const sp_kind sp_kind_pointshell = {
    "pointshell",
    (const sp_symbol[]){{"n", .at = offsetof(pointshell_file, pointshell.count), .given = true},
                        {"r", .at = offsetof(pointshell_file, pointshell.modes), .given = true},
                        {"m", .follows = inner_nodes},
                        {0}},
    rules, pointshell_meta, pointshell_result};

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
    *pointshell = (sp_pointshell){0};
    SP_PASS(sp_json_integer(context, file->meta, "points", 1, SP_POINTSHELL_POINTS_MAX, &in.pointshell.count));
    if (json_object_get(file->meta, "r"))
        SP_PASS(sp_json_integer(context, file->meta, "r", 1, INT32_MAX, &in.pointshell.modes));
    SP_PASS(sp_kind_read(context, file, &sp_kind_pointshell, &in));
    SP_PASS(check_values(context, &in.pointshell));
    *pointshell = in.pointshell;
    pointshell->pool = file->members.pool;
    file->members = (sp_members){0};
    return SP_OK;
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
