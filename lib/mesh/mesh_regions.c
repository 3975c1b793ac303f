/* Regions of a mesh: their names, their elements and the directions of their fibres. */
#include "base/vec3.h"
#include "mesh/mesh.h"

#include "mesh/element_geometry.h"

#include <math.h>
#include <string.h>

int64_t sp_mesh_region_find(const sp_mesh *mesh, const char *name)
{
    return sp_material_find(mesh->material_count, mesh->materials, name, strlen(name));
}

int sp_mesh_region_add(sp_context *context, sp_mesh *mesh, const sp_material *material)
{
    const int64_t count = mesh->material_count;

    sp_material *materials = sp_pool_raw(&mesh->pool, count + 1, sizeof *materials);
    SP_PASS(sp_allocated(context, materials));

    if (count > 0)
        memcpy(materials, mesh->materials, (size_t)count * sizeof *materials);
    materials[count] = *material;

    sp_pool_drop(&mesh->pool, mesh->materials);
    mesh->materials = materials;
    mesh->material_count = count + 1;
    return SP_OK;
}

int sp_mesh_region_drop_empty(sp_context *context, sp_mesh *mesh)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    sp_pool pool = {0};
    int64_t kept = 0, *number = sp_pool_new(&pool, mesh->material_count, sizeof *number);
    SP_PASS(sp_allocated(context, number));

    for (int64_t e = 0; e < elements; e++)
        number[mesh->region[e]] = 1;

    /* The regions that are used move to the front, in their order. */
    for (int64_t r = 0; r < mesh->material_count; r++)
        if (number[r]) {
            mesh->materials[kept] = mesh->materials[r];
            number[r] = kept++;
        }

    mesh->material_count = kept;
    for (int64_t e = 0; e < elements; e++)
        mesh->region[e] = number[mesh->region[e]];
    sp_pool_free(&pool);
    return SP_OK;
}

int64_t sp_mesh_region_box(sp_mesh *mesh, const double low[3], const double high[3], int64_t region)
{
    int64_t met = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        double centre[3];
        sp_element_centre(mesh, e, centre);
        if (sp_in_box(centre, low, high)) {
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
    SP_PASS(sp_allocated(context, mesh->fibre));

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

    SP_PASS(spread_fibres(context, mesh));

    sp_mesh_box(mesh, low, high);
    for (int c = 0; c < 3; c++) {
        size[c] = high[c] - low[c];
        axis[c] = helix->axis[c] / length;
    }

    /* Fibres wind around the axis under the angle; on the axis itself they follow it. */
    double around = cos(helix->angle * PI / 180), along = sin(helix->angle * PI / 180), on_axis = 1e-9 * sp_norm3(size);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        double x[3], ring[3], *fibre = mesh->fibre + 3 * e;

        if (mesh->region[e] != region)
            continue;

        sp_element_centre(mesh, e, x);
        for (int c = 0; c < 3; c++)
            x[c] -= helix->centre[c];

        /* axis × (x − centre) is as long as x is from the axis. */
        for (int c = 0; c < 3; c++)
            ring[c] = axis[(c + 1) % 3] * x[(c + 2) % 3] - axis[(c + 2) % 3] * x[(c + 1) % 3];

        double distance = sp_norm3(ring);
        for (int c = 0; c < 3; c++)
            fibre[c] = distance > on_axis ? around * ring[c] / distance + along * axis[c] : axis[c];
    }
    return SP_OK;
}
