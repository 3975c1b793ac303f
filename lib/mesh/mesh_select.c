/* Choosing vertices and elements by place or by number: anchors and regions. */
#include "mesh/mesh.h"

#include <math.h>
#include <string.h>

static int check_axes(sp_context *context, int axes)
{
    if (axes < 1 || axes > 7)
        return sp_fail(context, SP_USAGE, "the axes to be held are %d, they must be 1 to 7 (1 x, 2 y, 4 z, added)", axes);
    return SP_OK;
}

/* held [vertex_count]: the bits of axes that the mesh holds now. */
static int held_now(sp_context *context, const sp_mesh *mesh, sp_pool *pool, uint8_t **held)
{
    *held = sp_pool_new(pool, mesh->vertex_count, sizeof **held);
    if (!*held)
        return sp_fail_memory(context);
    for (int64_t i = 0; i < mesh->fixed_count; i++) {
        if (mesh->fixed[i] < 0 || mesh->fixed[i] >= mesh->vertex_count)
            return sp_fail(context, SP_INPUT, "fixed: entry %lld is vertex %lld of %lld", (long long)i, (long long)mesh->fixed[i],
                           (long long)mesh->vertex_count);
        (*held)[mesh->fixed[i]] |= mesh->fixed_axes[i];
    }
    return SP_OK;
}

/* Replaces the mesh's list by all vertices with a bit in `held`, in their order. */
static int hold(sp_context *context, sp_mesh *mesh, const uint8_t *held)
{
    int64_t count = 0;
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        count += held[v] != 0;
    int64_t *fixed = sp_pool_raw(&mesh->pool, count, sizeof *fixed);
    uint8_t *axes = sp_pool_raw(&mesh->pool, count, sizeof *axes);
    if (!fixed || !axes) {
        sp_pool_drop(&mesh->pool, fixed);
        sp_pool_drop(&mesh->pool, axes);
        return sp_fail_memory(context);
    }
    for (int64_t v = 0, next = 0; v < mesh->vertex_count; v++)
        if (held[v]) {
            fixed[next] = v;
            axes[next++] = held[v];
        }
    sp_pool_drop(&mesh->pool, mesh->fixed);
    sp_pool_drop(&mesh->pool, mesh->fixed_axes);
    mesh->fixed_count = count;
    mesh->fixed = fixed;
    mesh->fixed_axes = axes;
    return SP_OK;
}

static bool in_box(const double x[3], const double low[3], const double high[3])
{
    return x[0] >= low[0] && x[0] <= high[0] && x[1] >= low[1] && x[1] <= high[1] && x[2] >= low[2] && x[2] <= high[2];
}

int sp_mesh_fix_box(sp_context *context, sp_mesh *mesh, const double low[3], const double high[3], int axes, int64_t *added)
{
    sp_pool pool = {0};
    uint8_t *held;
    int status;
    *added = 0;
    SP_TRY(check_axes(context, axes));
    for (int c = 0; c < 3; c++)
        if (isnan(low[c]) || isnan(high[c]) || low[c] > high[c])
            return sp_fail(context, SP_USAGE, "the box reaches from %g to %g m in %c", low[c], high[c], "xyz"[c]);
    SP_TRY(held_now(context, mesh, &pool, &held));
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (in_box(mesh->vertices + 3 * v, low, high)) {
            held[v] |= (uint8_t)axes;
            ++*added;
        }
    SP_TRY(hold(context, mesh, held));
done:
    sp_pool_free(&pool);
    return status;
}

int sp_mesh_fix_half_space(sp_context *context, sp_mesh *mesh, const double normal[3], double offset, int axes, int64_t *added)
{
    sp_pool pool = {0};
    uint8_t *held;
    int status;
    *added = 0;
    SP_TRY(check_axes(context, axes));
    for (int c = 0; c < 3; c++)
        if (!isfinite(normal[c]))
            return sp_fail(context, SP_USAGE, "the %c component of the normal is %g", "xyz"[c], normal[c]);
    if (normal[0] == 0 && normal[1] == 0 && normal[2] == 0)
        return sp_fail(context, SP_USAGE, "the normal of the half-space is zero");
    if (isnan(offset))
        return sp_fail(context, SP_USAGE, "the offset of the half-space is %g", offset);
    SP_TRY(held_now(context, mesh, &pool, &held));
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * v;
        if (normal[0] * x[0] + normal[1] * x[1] + normal[2] * x[2] <= offset) {
            held[v] |= (uint8_t)axes;
            ++*added;
        }
    }
    SP_TRY(hold(context, mesh, held));
done:
    sp_pool_free(&pool);
    return status;
}

int sp_mesh_fix_list(sp_context *context, sp_mesh *mesh, int64_t count, const int64_t *vertices, int axes)
{
    sp_pool pool = {0};
    uint8_t *held;
    int status;
    SP_TRY(check_axes(context, axes));
    SP_TRY(held_now(context, mesh, &pool, &held));
    for (int64_t i = 0; i < count; i++) {
        if (vertices[i] < 0 || vertices[i] >= mesh->vertex_count) {
            status = sp_fail(context, SP_INPUT, "entry %lld of the list to be fixed is vertex %lld of %lld", (long long)i,
                             (long long)vertices[i], (long long)mesh->vertex_count);
            goto done;
        }
        held[vertices[i]] |= (uint8_t)axes;
    }
    SP_TRY(hold(context, mesh, held));
done:
    sp_pool_free(&pool);
    return status;
}

int64_t sp_mesh_region_box(sp_mesh *mesh, const double low[3], const double high[3], int64_t region)
{
    int64_t met = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int count;
        const int64_t *corner = sp_mesh_corners(mesh, e, &count);
        double centre[3] = {0};
        for (int a = 0; a < count; a++)
            for (int c = 0; c < 3; c++)
                centre[c] += mesh->vertices[3 * corner[a] + c];
        for (int c = 0; c < 3; c++)
            centre[c] /= count;
        if (in_box(centre, low, high)) {
            mesh->region[e] = region;
            met++;
        }
    }
    return met;
}
