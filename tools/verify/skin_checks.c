/* Skins: the partition of unity, attached vertices, and the mean value property of diffusion on every element patch. */
#include "assembly/element.h"
#include "tools/verify/verify.h"

#include <string.h>

/* Weights by vertex and bone, [vertices, bones]. */
static double *spread(const sp_skin *skin, sp_pool *pool)
{
    double *weight = tool_allocate(pool, skin->vertex_count * skin->bone_count, sizeof *weight);
    for (int64_t k = 0; k < skin->vertex_count * skin->influences; k++)
        weight[k / skin->influences * skin->bone_count + skin->bone[k]] += skin->weight[k];
    return weight;
}

/* flux [vertices, bones] += ∫ ∇N_a · ∇w and size the same of absolute values, of the tetrahedra by their constant
 * gradients. False for another element type. */
static bool add_fluxes(const sp_mesh *mesh, const double *weight, int64_t bones, double *flux, double *size)
{
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        double X[SP_ELEMENT_NODES][3], gradient[SP_ELEMENT_NODES][3];
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);

        const int type = sp_mesh_element_places(mesh, e, X);
        if (type != SP_TET4)
            return false;

        const double volume = sp_element_centre_gradients(type, X[0], gradient) / 6;
        for (int a = 0; a < 4; a++)
            for (int c = 0; c < 4; c++) {
                const double entry = volume * sp_dot3(gradient[a], gradient[c]);
                for (int64_t b = 0; b < bones; b++) {
                    flux[node[a] * bones + b] += entry * weight[node[c] * bones + b];
                    size[node[a] * bones + b] += fabs(entry * weight[node[c] * bones + b]);
                }
            }
    }
    return true;
}

/* Σ_j K_ij w_jb = 0 at every vertex that is not attached, relative to its terms. It holds where no weight was dropped
 * or set to 0. */
static void check_diffusion(verify *v, artefact *file, const sp_mesh *mesh)
{
    const sp_skin *skin = &file->skin.skin;
    const int64_t bones = skin->bone_count, count = skin->vertex_count * bones;
    const double dropped = json_number_value(json_object_get(file->result, "largest_dropped")),
                 lowest = json_number_value(json_object_get(file->result, "lowest_weight"));
    sp_pool pool = {0};

    if (dropped > 1e-12 || lowest < -1e-12) {
        verify_skip(v, file, "diffusion", "weights were dropped (%.2g) or set to 0 (%.2g)", dropped, lowest);
        return;
    }

    const double *weight = spread(skin, &pool);
    double *flux = tool_allocate(&pool, count, sizeof *flux), *size = tool_allocate(&pool, count, sizeof *size),
           worst = 0;

    if (!add_fluxes(mesh, weight, bones, flux, size))
        verify_skip(v, file, "diffusion", "it is checked for 4-node tetrahedra");
    else {
        for (int64_t i = 0; i < count; i++) {
            double terms = 0; /* of all bones: a weight near 0 has the rounding of the others */
            for (int64_t b = 0; b < bones; b++)
                terms += size[i / bones * bones + b];
            if (skin->attached[i / bones] < 0 && terms > 0)
                worst = verify_worse(worst, fabs(flux[i]) / terms);
        }
        verify_number(v, file, "diffusion", worst, 1e-9);
    }

    sp_pool_free(&pool);
}

void verify_skin(verify *v, artefact *file)
{
    const sp_skin *skin = &file->skin.skin;
    double worst = 0;
    artefact *mesh = verify_mesh(v, file, "all of it", false);

    for (int64_t i = 0; i < skin->vertex_count; i++) {
        double sum = 0;
        for (int64_t k = 0; k < skin->influences; k++)
            sum += skin->weight[i * skin->influences + k];
        worst = verify_worse(worst, fabs(sum - 1));
    }

    verify_number(v, file, "partition of unity", worst, 1e-12);
    if (!mesh)
        return;

    verify_fact(v, file, "vertices", skin->vertex_count == mesh->mesh.vertex_count, "%lld (%lld)",
                (long long)skin->vertex_count, (long long)mesh->mesh.vertex_count);
    if (skin->vertex_count == mesh->mesh.vertex_count)
        check_diffusion(v, file, &mesh->mesh);
}
