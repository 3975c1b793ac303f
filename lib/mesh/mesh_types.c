/* Changes of the types of elements. */
#include "mesh/mesh_sets.h"

#include <stdio.h>
#include <string.h>

int sp_element_linear_type(int type)
{
    static const int of_shape[3] = {[SP_HEXAHEDRON] = SP_HEX8, [SP_TETRAHEDRON] = SP_TET4, [SP_WEDGE] = SP_WEDGE6};
    return sp_element_types[type].nodes == sp_element_types[type].corners ? type
                                                                          : of_shape[sp_element_types[type].shape];
}

/* Copies the elements block after block; those that become one type follow each other in their old order. moved
 * [elements] receives their new numbers. */
static void copy_elements(const sp_mesh *mesh, const int to[SP_ELEMENT_TYPES], int64_t *moved, sp_mesh *made)
{
    int64_t filled[SP_ELEMENT_TYPES] = {0}, element = 0;
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        for (int64_t k = 0; k < mesh->block[t].count; k++, element++) {
            const int type = to[t], nodes = sp_element_types[type].nodes;
            const int64_t at = moved[element] = sp_mesh_first(made, type) + filled[type];
            /* The corners come first in every type, so that a linear type takes the first nodes. */
            memcpy(made->block[type].node + filled[type]++ * nodes, mesh->block[t].node + k * sp_element_types[t].nodes,
                   (size_t)nodes * sizeof(int64_t));

            made->region[at] = mesh->region[element];
            if (mesh->factor)
                memcpy(made->factor + 2 * at, mesh->factor + 2 * element, 2 * sizeof *mesh->factor);
            if (mesh->fibre)
                memcpy(made->fibre + 3 * at, mesh->fibre + 3 * element, 3 * sizeof *mesh->fibre);
        }
}

/* Drops the vertices that no element uses any more, but keeps those that none used before. */
static void drop_vertices(const sp_mesh *mesh, sp_mesh *made, int64_t *number)
{
    int nodes;

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            number[node[a]] = -1;
    }

    for (int64_t e = 0; e < sp_mesh_element_count(made); e++) {
        const int64_t *node = sp_mesh_nodes(made, e, &nodes);
        for (int a = 0; a < nodes; a++)
            number[node[a]] = 0;
    }

    /* What has −1 here was used before and is not any more. */
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (number[v] == 0) {
            number[v] = made->vertex_count++;
            memcpy(made->vertices + 3 * number[v], mesh->vertices + 3 * v, 3 * sizeof *mesh->vertices);
        }

    /* Elements and fixed vertices get the new numbers. */
    for (int64_t e = 0; e < sp_mesh_element_count(made); e++) {
        int64_t *node = (int64_t *)sp_mesh_nodes(made, e, &nodes);
        for (int a = 0; a < nodes; a++)
            node[a] = number[node[a]];
    }

    for (int64_t i = 0; i < mesh->fixed_count; i++)
        if (number[mesh->fixed[i]] >= 0) {
            made->fixed[made->fixed_count] = number[mesh->fixed[i]];
            made->fixed_axes[made->fixed_count++] = mesh->fixed_axes[i];
        }
}

int sp_mesh_retype(sp_context *context, const sp_mesh *mesh, const int to[SP_ELEMENT_TYPES], sp_mesh *made)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    sp_pool scratch = {0}, *pool = &made->pool;
    int64_t *number = sp_pool_new(&scratch, mesh->vertex_count, sizeof *number),
            *moved = sp_pool_raw(&scratch, elements, sizeof *moved);
    *made = (sp_mesh){
        .quadrature = mesh->quadrature, .folded = mesh->folded, .up = mesh->up, .material_count = mesh->material_count};
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        made->block[to[t]].count += mesh->block[t].count;

    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        made->block[t].node =
            sp_pool_raw(pool, made->block[t].count, (size_t)sp_element_types[t].nodes * sizeof(int64_t));

    made->vertices = sp_pool_raw(pool, mesh->vertex_count, 3 * sizeof *made->vertices);
    made->region = sp_pool_raw(pool, elements, sizeof *made->region);
    made->factor = mesh->factor ? sp_pool_raw(pool, elements, 2 * sizeof *made->factor) : NULL;
    made->fibre = mesh->fibre ? sp_pool_raw(pool, elements, 3 * sizeof *made->fibre) : NULL;
    made->fixed = sp_pool_raw(pool, mesh->fixed_count, sizeof *made->fixed);
    made->fixed_axes = sp_pool_raw(pool, mesh->fixed_count, sizeof *made->fixed_axes);
    made->materials = sp_pool_copy(pool, mesh->materials, mesh->material_count, sizeof *mesh->materials);

    int status = sp_allocated(context, !pool->failed && !scratch.failed);
    if (status == SP_OK) {
        copy_elements(mesh, to, moved, made);
        drop_vertices(mesh, made, number);
        made->surface.width = sp_mesh_width(made);
        status = sp_mesh_keep_sets(context, mesh, number, moved, made);
    }

    if (status != SP_OK)
        sp_mesh_free(made);
    sp_pool_free(&scratch);
    return status;
}

void sp_mesh_list_elements(const sp_mesh *mesh, char *text, size_t size)
{
    size_t used = 0;
    *text = 0;
    for (int t = 0; t < SP_ELEMENT_TYPES && used < size; t++)
        if (mesh->block[t].count > 0 || (sp_element_types[t].linear && sp_mesh_linear(mesh)))
            used += (size_t)snprintf(text + used, size - used, "%s%lld %s", used ? ", " : "",
                                     (long long)mesh->block[t].count,
                                     t == SP_HEX8   ? "hexahedra"
                                     : t == SP_TET4 ? "tetrahedra"
                                                    : sp_element_types[t].name);
}
