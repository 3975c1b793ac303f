/* Choosing vertices and elements by place or by number: anchors, regions, directions of fibres. */
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

/* held [vertex_count]: bits of the axes that the mesh currently fixes. */
static int constrained_now(sp_context *context, const sp_mesh *mesh, sp_pool *pool, uint8_t **constrained)
{
    *constrained = sp_pool_new(pool, mesh->vertex_count, sizeof **constrained);
    if (!*constrained)
        return sp_fail_memory(context);
    for (int64_t i = 0; i < mesh->fixed_count; i++) {
        if (mesh->fixed[i] < 0 || mesh->fixed[i] >= mesh->vertex_count)
            return sp_fail(context, SP_INPUT, "fixed: entry %lld is vertex %lld of %lld", (long long)i,
                           (long long)mesh->fixed[i], (long long)mesh->vertex_count);
        (*constrained)[mesh->fixed[i]] |= mesh->fixed_axes[i];
    }
    return SP_OK;
}

/* Replaces the mesh's list by all vertices with a bit in `held`, in their order. */
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
        if (in_box(mesh->vertices + 3 * v, low, high)) {
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

int64_t sp_mesh_region_box(sp_mesh *mesh, const double low[3], const double high[3], int64_t region)
{
    int64_t met = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        double centre[3];
        sp_element_centre(mesh, e, centre);
        if (in_box(centre, low, high)) {
            mesh->region[e] = region;
            met++;
        }
    }
    return met;
}

static const double PI = 3.14159265358979323846;

/* The regions' directions, where the mesh has none by element. */
static int spread_fibres(sp_context *context, sp_mesh *mesh)
{
    int64_t elements = sp_mesh_element_count(mesh);
    if (mesh->fibre)
        return SP_OK;
    mesh->fibre = sp_pool_new(&mesh->pool, elements, 3 * sizeof *mesh->fibre);
    if (!mesh->fibre)
        return sp_fail_memory(context);
    for (int64_t e = 0; e < elements; e++) {
        const sp_material *material = &mesh->materials[mesh->region[e]];
        if (material->fibre != SP_FIBRE_NONE)
            memcpy(mesh->fibre + 3 * e, material->fibre_direction, 3 * sizeof *mesh->fibre);
    }
    return SP_OK;
}

int sp_mesh_wind(sp_context *context, sp_mesh *mesh, int64_t region, const sp_helix *helix)
{
    double low[3], high[3], size[3], axis[3], length = sp_norm3(helix->axis);
    for (int c = 0; c < 3; c++)
        if (!isfinite(helix->axis[c]) || !isfinite(helix->centre[c]))
            return sp_fail(context, SP_INPUT, "helix: the %c component of the axis is %g, of the centre %g", "xyz"[c],
                           helix -> axis[c], helix -> centre[c]);
    if (!(length > 0 && isfinite(length)))
        return sp_fail(context, SP_INPUT, "helix: the axis has the length %g", length);
    if (!isfinite(helix->angle))
        return sp_fail(context, SP_INPUT, "helix: the angle is %g", helix->angle);
    int status = spread_fibres(context, mesh);
    if (status != SP_OK)
        return status;
    sp_mesh_box(mesh, low, high);
    for (int c = 0; c < 3; c++) {
        size[c] = high[c] - low[c];
        axis[c] = helix->axis[c] / length;
    }
    double around = cos(helix->angle * PI / 180), along = sin(helix->angle * PI / 180), on_axis = 1e-9 * sp_norm3(size);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        double x[3], ring[3], *fibre = mesh->fibre + 3 * e;
        if (mesh->region[e] != region)
            continue;
        sp_element_centre(mesh, e, x);
        for (int c = 0; c < 3; c++)
            x[c] -= helix->centre[c];
        for (int c = 0; c < 3; c++) /* axis × (x − centre), as long as x is from the axis */
            ring[c] = axis[(c + 1) % 3] * x[(c + 2) % 3] - axis[(c + 2) % 3] * x[(c + 1) % 3];
        double distance = sp_norm3(ring);
        for (int c = 0; c < 3; c++)
            fibre[c] = distance > on_axis ? around * ring[c] / distance + along * axis[c] : axis[c];
    }
    return SP_OK;
}
