/* Selection of fixed and nearest vertices by position or by number. */
#include "base/vec3.h"
#include "mesh/mesh.h"

#include "mesh/element_geometry.h"

#include <math.h>
#include <string.h>

static int check_axes(sp_context *context, int axes)
{
    if (axes < 1 || axes > 7)
        return sp_fail(context, SP_USAGE, "the axes to be fixed are %d, they must be 1 to 7 (1 x, 2 y, 4 z, added)",
                       axes);
    return SP_OK;
}

/* constrained [vertex_count]: bits of the axes that the mesh currently fixes. */
static int constrained_now(sp_context *context, const sp_mesh *mesh, sp_pool *pool, uint8_t **constrained)
{
    *constrained = sp_pool_new(pool, mesh->vertex_count, sizeof **constrained);
    SP_PASS(sp_allocated(context, *constrained));

    for (int64_t i = 0; i < mesh->fixed_count; i++) {
        if (mesh->fixed[i] < 0 || mesh->fixed[i] >= mesh->vertex_count)
            return sp_fail(context, SP_INPUT, "fixed: entry %lld is vertex %lld of %lld", (long long)i,
                           (long long)mesh->fixed[i], (long long)mesh->vertex_count);
        (*constrained)[mesh->fixed[i]] |= mesh->fixed_axes[i];
    }
    return SP_OK;
}

/* Replaces the mesh's list of fixed vertices by all vertices with a bit in `constrained`, in ascending order. */
static int set_fixed(sp_context *context, sp_mesh *mesh, const uint8_t *constrained)
{
    int64_t count = 0;

    for (int64_t v = 0; v < mesh->vertex_count; v++)
        count += constrained[v] != 0;

    int64_t *fixed = sp_pool_raw(&mesh->pool, count, sizeof *fixed);
    uint8_t *axes = sp_pool_raw(&mesh->pool, count, sizeof *axes);
    if (!fixed || !axes) {
        sp_pool_drop(&mesh->pool, fixed);
        sp_pool_drop(&mesh->pool, axes);
        return sp_fail_memory(context);
    }

    for (int64_t v = 0, next = 0; v < mesh->vertex_count; v++)
        if (constrained[v]) {
            fixed[next] = v;
            axes[next++] = constrained[v];
        }

    /* The old list stays as it is until the new one is complete. */
    sp_pool_drop(&mesh->pool, mesh->fixed);
    sp_pool_drop(&mesh->pool, mesh->fixed_axes);
    mesh->fixed_count = count;
    mesh->fixed = fixed;
    mesh->fixed_axes = axes;
    return SP_OK;
}

int sp_mesh_fix_box(sp_context *context, sp_mesh *mesh, const double low[3], const double high[3], int axes,
                    int64_t *added)
{
    sp_pool pool = {0};
    uint8_t *constrained;
    int status;

    *added = 0;
    SP_TRY(check_axes(context, axes));

    for (int c = 0; c < 3; c++)
        if (isnan(low[c]) || isnan(high[c]) || low[c] > high[c])
            return sp_fail(context, SP_USAGE, "the box reaches from %g to %g m in %c", low[c], high[c], "xyz"[c]);

    SP_TRY(constrained_now(context, mesh, &pool, &constrained));
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (sp_in_box(mesh->vertices + 3 * v, low, high)) {
            constrained[v] |= (uint8_t)axes;
            ++*added;
        }

    SP_TRY(set_fixed(context, mesh, constrained));
done:
    sp_pool_free(&pool);
    return status;
}

int sp_mesh_fix_half_space(sp_context *context, sp_mesh *mesh, const double normal[3], double offset, int axes,
                           int64_t *added)
{
    sp_pool pool = {0};
    uint8_t *constrained;
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

    SP_TRY(constrained_now(context, mesh, &pool, &constrained));
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        const double *x = mesh->vertices + 3 * v;
        if (sp_dot3(normal, x) <= offset) {
            constrained[v] |= (uint8_t)axes;
            ++*added;
        }
    }

    SP_TRY(set_fixed(context, mesh, constrained));
done:
    sp_pool_free(&pool);
    return status;
}

int sp_mesh_fix_list(sp_context *context, sp_mesh *mesh, int64_t count, const int64_t *vertices, int axes)
{
    sp_pool pool = {0};
    uint8_t *constrained;
    int status;

    SP_TRY(check_axes(context, axes));
    SP_TRY(constrained_now(context, mesh, &pool, &constrained));

    for (int64_t i = 0; i < count; i++) {
        if (vertices[i] < 0 || vertices[i] >= mesh->vertex_count) {
            status = sp_fail(context, SP_INPUT, "entry %lld of the list to be fixed is vertex %lld of %lld",
                             (long long)i, (long long)vertices[i], (long long)mesh->vertex_count);
            goto done;
        }
        constrained[vertices[i]] |= (uint8_t)axes;
    }

    SP_TRY(set_fixed(context, mesh, constrained));
done:
    sp_pool_free(&pool);
    return status;
}

double sp_mesh_fix(const sp_mesh *mesh, int64_t count, double *U)
{
    double largest = 0;
    for (int64_t j = 0; j < count; j++)
        for (int64_t i = 0; i < mesh->fixed_count; i++)
            for (int axis = 0; axis < 3; axis++)
                if (mesh->fixed_axes[i] >> axis & 1) {
                    double *u = U + 3 * (j * mesh->vertex_count + mesh->fixed[i]) + axis;
                    largest = fmax(largest, fabs(*u));
                    *u = 0;
                }
    return largest;
}

int sp_mesh_nearest(sp_context *context, const sp_mesh *mesh, bool surface, const double point[3], int64_t *vertex,
                    double *distance)
{
    const int64_t count = surface ? mesh->surface.vertex_count : mesh->vertex_count;
    const double *place = surface ? mesh->surface.vertices : mesh->vertices;
    double best = INFINITY;
    sp_pool pool = {0};
    bool *used = surface ? NULL : sp_pool_new(&pool, count, sizeof *used);

    SP_PASS(sp_allocated(context, !pool.failed));

    /* Vertices of the mesh that no element uses do not count. */
    if (used)
        for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
            int nodes;
            const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
            for (int a = 0; a < nodes; a++)
                used[node[a]] = true;
        }

    *vertex = -1;
    /* The first of the nearest ones. */
    for (int64_t v = 0; v < count; v++) {
        const double squared = sp_distance_squared3(place + 3 * v, point);
        if ((!used || used[v]) && (*vertex < 0 || squared < best)) {
            best = squared;
            *vertex = v;
        }
    }

    *distance = sqrt(best);
    sp_pool_free(&pool);
    return *vertex < 0 ? sp_fail(context, SP_INPUT, "the mesh has no vertex to be nearest to a place") : SP_OK;
}
