#include "formats/pointshell.h"

#include <math.h>
#include <string.h>

#include "base/vec3.h"

/* Normals of unit length within this, which single precision of others passes. */
static const double UNIT = 1e-5;

/* Levels from 1, not decreasing, none left out. */
static int take_levels(sp_context *context, sp_file *file, sp_pointshell *pointshell)
{
    sp_array *level;
    int status;
    SP_TRY(sp_members_take(context, &file->members, "level", SP_I8, false, 1, &pointshell->count, &level));
    const int64_t *number = level->data;
    for (int64_t i = 0; i < pointshell->count; i++) {
        const int64_t before = i > 0 ? number[i - 1] : 0;
        if (number[i] < 1 || number[i] < before || number[i] > before + 1 || number[i] > SP_POINTSHELL_LEVELS_MAX) {
            status = sp_fail(context, SP_INPUT, "level: point %lld is of level %lld after one of level %lld",
                             (long long)i, (long long)number[i], (long long)before);
            goto done;
        }
        pointshell->levels = (int)number[i];
        pointshell->cumulative[number[i] - 1] = i + 1;
    }
done:
    return status;
}

static int check_values(sp_context *context, const sp_pointshell *pointshell)
{
    for (int64_t i = 0; i < pointshell->count; i++) {
        const double *n = pointshell->normals + 3 * i;
        const double length = sp_norm3(n);
        const int k = sp_pointshell_level_of(pointshell, i);
        if (!(fabs(length - 1) <= UNIT))
            return sp_fail(context, SP_INPUT, "normals: that of point %lld has the length %g, expected 1", (long long)i,
                           length);
        if (!(pointshell->area[i] >= 0))
            return sp_fail(context, SP_INPUT, "area: that of point %lld is %g", (long long)i, pointshell->area[i]);
        if (k == 1 ? pointshell->parent[i] != -1
                   : pointshell->parent[i] < 0 || pointshell->parent[i] >= pointshell->cumulative[k - 2])
            return sp_fail(context, SP_INPUT, "parent: that of point %lld of level %d is %lld", (long long)i, k,
                           (long long)pointshell->parent[i]);
    }
    for (int64_t i = 0; i < sp_pointshell_inner(pointshell); i++) {
        if (!(pointshell->radius[i] >= 0))
            return sp_fail(context, SP_INPUT, "radius: that of node %lld is %g", (long long)i, pointshell->radius[i]);
        for (int64_t j = 0; j < pointshell->modes; j++)
            if (!(pointshell->a[pointshell->modes * i + j] >= 0))
                return sp_fail(context, SP_INPUT, "a: that of node %lld and coordinate %lld is %g", (long long)i,
                               (long long)j, pointshell->a[pointshell->modes * i + j]);
    }
    return SP_OK;
}

static int take_numbers(sp_context *context, sp_file *file, const char *name, int rank, const int64_t *shape,
                        double **values)
{
    sp_array *array;
    int status;
    SP_TRY(sp_members_take(context, &file->members, name, SP_F8, false, rank, shape, &array));
    *values = array->data;
done:
    return status;
}

int sp_pointshell_read(sp_context *context, sp_file *file, sp_pointshell *pointshell)
{
    sp_array *parent;
    int status;
    *pointshell = (sp_pointshell){0};
    SP_TRY(sp_json_integer(context, file->meta, "points", 1, SP_POINTSHELL_POINTS_MAX, &pointshell->count));
    const int64_t n = pointshell->count, triple[2] = {n, 3};
    SP_TRY(take_numbers(context, file, "points", 2, triple, &pointshell->points));
    SP_TRY(take_numbers(context, file, "normals", 2, triple, &pointshell->normals));
    SP_TRY(take_numbers(context, file, "area", 1, &n, &pointshell->area));
    SP_TRY(take_levels(context, file, pointshell));
    SP_TRY(sp_members_take(context, &file->members, "parent", SP_I8, false, 1, &n, &parent));
    pointshell->parent = parent->data;
    const int64_t inner = sp_pointshell_inner(pointshell);
    SP_TRY(take_numbers(context, file, "radius", 1, &inner, &pointshell->radius));
    if (json_object_get(file->meta, "r")) {
        SP_TRY(sp_json_integer(context, file->meta, "r", 1, INT32_MAX, &pointshell->modes));
        const int64_t rows[3] = {n, 3, pointshell->modes}, bounds[2] = {inner, pointshell->modes};
        SP_TRY(take_numbers(context, file, "Us", 3, rows, &pointshell->U));
        SP_TRY(take_numbers(context, file, "dNs", 3, rows, &pointshell->dN));
        if (sp_members_find(&file->members, "dTs"))
            SP_TRY(take_numbers(context, file, "dTs", 4, (int64_t[]){n, 2, 3, pointshell->modes}, &pointshell->dT));
        SP_TRY(take_numbers(context, file, "a", 2, bounds, &pointshell->a));
    }
    SP_TRY(check_values(context, pointshell));
    pointshell->pool = file->members.pool;
    file->members = (sp_members){0};
done:
    if (status != SP_OK)
        *pointshell = (sp_pointshell){0};
    return status;
}

int sp_pointshell_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_pointshell *pointshell)
{
    const int64_t n = pointshell->count, inner = sp_pointshell_inner(pointshell), triple[2] = {n, 3};
    sp_pool pool = {0};
    int status;
    int64_t *level = sp_pool_raw(&pool, n, sizeof *level);
    if (!level || json_object_set_new(meta, "points", json_integer(n)) ||
        (pointshell->modes > 0 && json_object_set_new(meta, "r", json_integer(pointshell->modes)))) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t i = 0; i < n; i++)
        level[i] = sp_pointshell_level_of(pointshell, i);
    SP_TRY(sp_file_write_meta(writer, meta));
    SP_TRY(sp_writer_numbers(writer, "points", false, 2, triple, pointshell->points));
    SP_TRY(sp_writer_numbers(writer, "normals", false, 2, triple, pointshell->normals));
    SP_TRY(sp_writer_numbers(writer, "area", false, 1, &n, pointshell->area));
    SP_TRY(sp_writer_array(writer, "level", SP_I8, false, 1, &n, level));
    SP_TRY(sp_writer_array(writer, "parent", SP_I8, false, 1, &n, pointshell->parent));
    SP_TRY(sp_writer_numbers(writer, "radius", false, 1, &inner, pointshell->radius));
    if (pointshell->modes > 0) {
        const int64_t rows[3] = {n, 3, pointshell->modes}, bounds[2] = {inner, pointshell->modes};
        SP_TRY(sp_writer_numbers(writer, "Us", false, 3, rows, pointshell->U));
        SP_TRY(sp_writer_numbers(writer, "dNs", false, 3, rows, pointshell->dN));
        if (pointshell->dT)
            SP_TRY(sp_writer_numbers(writer, "dTs", false, 4, (int64_t[]){n, 2, 3, pointshell->modes}, pointshell->dT));
        SP_TRY(sp_writer_numbers(writer, "a", false, 2, bounds, pointshell->a));
    }
done:
    sp_pool_free(&pool);
    return status;
}
