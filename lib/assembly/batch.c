#include "assembly/batch_kinds.h"

#include <string.h>

void sp_element_lanes_start(sp_element_lanes *data)
{
    for (int l = 0; l < SP_LANES; l++)
        data->class[l] = -1;
}

static void load_pairs(const sp_body *body, sp_element_lanes *data)
{
    int pairs = sp_pair_count(data->corners), packed = pairs * (pairs + 1) / 2;
    for (int l = 0; l < SP_LANES; l++) {
        const sp_element_class *class = &body->classes[data->class[l]];
        for (int k = 0; k < packed; k++)
            data->gram[k][l] = class->gram[k];
        for (int p = 0; p < pairs; p++)
            for (int i = 0; i < 3; i++)
                data->edge[p][i][l] = class->edges[3 * p + i];
    }
}

static void load_points(const sp_body *body, sp_element_lanes *data)
{
    data->points = body->classes[data->class[0]].points;
    for (int l = 0; l < SP_LANES; l++) {
        const sp_element_class *class = &body->classes[data->class[l]];
        const double *gradient = class->gradient;
        for (int g = 0; g < data->points; g++) {
            data->weight[g][l] = class->weight[g];
            for (int a = 0; a < data->corners; a++, gradient += 3)
                for (int i = 0; i < 3; i++)
                    data->gradient[g][a][i][l] = gradient[i];
        }
        sp_law_set(&data->law, l, &body->mesh->materials[class->region]);
    }
}

void sp_element_lanes_load(const sp_body *body, const sp_batch *batch, sp_element_lanes *data)
{
    bool same = true;
    for (int l = 0; l < SP_LANES; l++) {
        same = same && data->class[l] == body->element_class[batch->element[l]];
        data->class[l] = body->element_class[batch->element[l]];
    }
    if (same)
        return;
    data->corners = batch->corners;
    data->quadratic = body->classes[data->class[0]].gram != NULL;
    (data->quadratic ? load_pairs : load_points)(body, data);
}

void sp_batch_gather(const sp_body *body, const sp_batch *batch, const double *u, sp_lanes to[8][3])
{
    for (int l = 0; l < SP_LANES; l++) {
        int corners;
        const int64_t *corner = sp_mesh_corners(body->mesh, batch->element[l], &corners);
        for (int a = 0; a < corners; a++)
            for (int i = 0; i < 3; i++)
                to[a][i][l] = u[3 * corner[a] + i];
    }
}

void sp_batch_add(const sp_body *body, const sp_batch *batch, sp_lanes from[8][3], double *f)
{
    for (int l = 0; l < batch->count; l++) {
        int corners;
        const int64_t *corner = sp_mesh_corners(body->mesh, batch->element[l], &corners);
        for (int a = 0; a < corners; a++)
            for (int i = 0; i < 3; i++)
                f[3 * corner[a] + i] += from[a][i][l];
    }
}

void sp_batch_force(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes f[8][3], sp_lanes *energy)
{
    (data->quadratic ? sp_pairs_force : sp_points_force)(data, u, f, energy);
}

void sp_batch_tangent(const sp_element_lanes *data, sp_lanes u[8][3], bool definite, sp_lanes f[8][3], sp_lanes block[SP_ELEMENT_BLOCKS][9], sp_lanes *energy)
{
    (data->quadratic ? sp_pairs_tangent : sp_points_tangent)(data, u, definite, f, block, energy);
}

void sp_batch_tangent_times(const sp_element_lanes *data, sp_lanes u[8][3], sp_lanes v[8][3], sp_lanes y[8][3])
{
    (data->quadratic ? sp_pairs_tangent_times : sp_points_tangent_times)(data, u, v, y);
}
