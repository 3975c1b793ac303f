#include "assembly/batch_kinds.h"

#include "assembly/gradients.h"

#include <string.h>

void sp_element_lanes_start(sp_element_lanes *data)
{
    for (int l = 0; l < SP_LANES; l++)
        data->class[l] = data->region[l] = -1;
}

SP_CLONES static void load_pairs(const sp_fe_space *space, sp_element_lanes *data)
{
    const int pairs = sp_pair_count(data->nodes);
    const double *gram[SP_LANES], *edges[SP_LANES];

    for (int l = 0; l < SP_LANES; l++) {
        const sp_element_class *class = &space->classes[data->class[l]];
        gram[l] = class->gram;
        edges[l] = class->edges;
        for (int p = 0; p < pairs; p++)
            data->along[p][l] = class->along ? class->along[p] : 0;
    }

    sp_lanes_gather(pairs * (pairs + 1) / 2, gram, data->gram);
    sp_lanes_gather(3 * pairs, edges, data->edge[0]);
}

/* Loads the laws of lanes whose laws are not loaded already. */
static void load_laws(const sp_fe_space *space, sp_element_lanes *data)
{
    const sp_mesh *mesh = space->mesh;
    sp_material scaled;
    bool same = !mesh->factor && !mesh->fibre;
    for (int l = 0; l < SP_LANES; l++) {
        const int64_t region = space->classes[data->class[l]].region;
        same = same && data->region[l] == region;
        data->region[l] = region;
    }
    if (same)
        return;

    for (int l = 0; l < SP_LANES; l++)
        sp_law_set(&data->law, l, sp_mesh_material(mesh, space->classes[data->class[l]].element, &scaled));
}

void sp_element_lanes_geometry(const sp_fe_space *space, sp_element_lanes *data)
{
    sp_lane_gradients geometry;
    sp_lane_gradients_load(space, data->class, &geometry);
    data->points = geometry.points;
    for (int g = 0; g < data->points; g++)
        sp_lane_gradients_at(&geometry, g, data->gradient[g], &data->weight[g]);
}

/* C and the condensation of elements with an assumed strain. */
static void load_assumed(const sp_fe_space *space, sp_element_lanes *data)
{
    data->type = space->classes[data->class[0]].type;
    data->assumed = sp_element_assumed(data->type);

    if (!data->assumed)
        return;

    for (int l = 0; l < SP_LANES; l++) {
        const sp_element_class *class = &space->classes[data->class[l]];
        for (int k = 0; k < 36; k++)
            data->C[k][l] = class->C[k];
        if (!class->condensation)
            continue;

        for (int k = 0; k < 9; k++)
            data->axis[k / 3][k % 3][l] = class->condensation->axis[k / 3][k % 3];
        for (int k = 0; k < SP_CONDENSATION; k++)
            data->factor[k][l] = class->condensation->factor[k];
    }
}

static void load_points(const sp_fe_space *space, sp_element_lanes *data)
{
    sp_element_lanes_geometry(space, data);
    load_laws(space, data);
    load_assumed(space, data);
}

void sp_element_lanes_tension(const sp_fe_space *space, sp_element_lanes *data)
{
    sp_lanes *to = data->by_pairs ? &data->tension : &data->law.fibre_tension;
    data->active = false;
    for (int l = 0; l < SP_LANES; l++) {
        const double tension = space->mesh->materials[space->classes[data->class[l]].region].fibre_tension;
        data->active |= tension != 0;
        (*to)[l] = tension;
    }
}

void sp_element_lanes_load(const sp_fe_space *space, const sp_batch *batch, sp_element_lanes *data)
{
    bool same = true;

    for (int l = 0; l < SP_LANES; l++) {
        same = same && data->class[l] == space->element_class[batch->element[l]];
        data->class[l] = space->element_class[batch->element[l]];
    }

    if (!same) {
        data->nodes = batch->nodes;
        data->by_pairs = space->classes[data->class[0]].gram != NULL;
        (data->by_pairs ? load_pairs : load_points)(space, data);
    }

    /* The tension of fibres may have changed since. */
    if (space->fibres || !same)
        sp_element_lanes_tension(space, data);
}

/* Broadcasts each of `count` values into all lanes. */
SP_CLONES static void broadcast(int64_t count, const double *from, sp_lanes *to)
{
    for (int64_t k = 0; k < count; k++)
        to[k] = (sp_lanes){0} + from[k];
}

void sp_element_lanes_fill(const sp_fe_space *space, int64_t element, sp_element_lanes *data)
{
    int64_t number = space->element_class[element];
    /* The element's class may be in all lanes already. */
    if (data->class[0] == number && data->class[SP_LANES - 1] == number) {
        sp_element_lanes_tension(space, data);
        return;
    }

    const sp_element_class *class = &space->classes[number];
    int pairs = sp_pair_count(class->nodes);
    for (int l = 0; l < SP_LANES; l++)
        data->class[l] = number;
    data->nodes = class->nodes;
    data->by_pairs = class->gram != NULL;

    if (data->by_pairs) {
        broadcast(pairs * (pairs + 1) / 2, class->gram, data->gram);
        broadcast(3 * pairs, class->edges, data->edge[0]);
        for (int p = 0; p < pairs; p++)
            data->along[p] = (sp_lanes){0} + (class->along ? class->along[p] : 0);
        sp_element_lanes_tension(space, data);
        return;
    }
    load_points(space, data);
    sp_element_lanes_tension(space, data);
}

SP_CLONES void sp_batch_gather(const sp_fe_space *space, const sp_batch *batch, const double *u, sp_lanes to[][3])
{
    double own[SP_LANES][3 * SP_ELEMENT_NODES];
    const double *from[SP_LANES];

    /* The vectors of each element are contiguous at first, to be transposed to lanes. */
    for (int l = 0; l < SP_LANES; l++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(space->mesh, batch->element[l], &nodes);
        from[l] = own[l];
        for (int a = 0; a < nodes; a++)
            for (int i = 0; i < 3; i++)
                own[l][3 * a + i] = u[3 * node[a] + i];
    }
    sp_lanes_gather(3 * batch->nodes, from, to[0]);
}

void sp_batch_add(const sp_fe_space *space, const sp_batch *batch, sp_lanes from[][3], double *f)
{
    for (int l = 0; l < batch->count; l++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(space->mesh, batch->element[l], &nodes);
        for (int a = 0; a < nodes; a++)
            for (int i = 0; i < 3; i++)
                f[3 * node[a] + i] += from[a][i][l];
    }
}

/* Adds one lane's blocks to the rows of K. Elements without fixed components need fewer checks. */
SP_INLINE void add_whole(int nodes, const int64_t *start, const int32_t *offset, int lane, double scale,
                         sp_lanes block[][9], double *value)
{
    for (int a = 0; a < nodes; a++)
        for (int c = 0; c < nodes; c++) {
            /* Blocks with a > c are transposes of those that are stored: the strides of rows and columns change places.
             */
            const double *b = (const double *)block[sp_packed(nodes, a, c)] + lane;

            const int row = a <= c ? 3 * SP_LANES : SP_LANES, column = a <= c ? SP_LANES : 3 * SP_LANES;
            for (int i = 0; i < 3; i++) {
                double *to = value + start[3 * a + i] + offset[a * nodes + c];
                for (int j = 0; j < 3; j++)
                    to[j] += scale * b[i * row + j * column];
            }
        }
}

static void add_fixed_columns(const sp_fe_space *space, int nodes, const int64_t *node, const int32_t *offset, int lane,
                              double scale, sp_lanes block[][9], double *value)
{
    for (int a = 0; a < nodes; a++)
        for (int c = 0; c < nodes; c++) {
            const sp_lanes *b = block[sp_packed(nodes, a, c)];

            const int64_t *row = space->dof + 3 * node[a], *column = space->dof + 3 * node[c];
            for (int i = 0; i < 3; i++) {
                if (row[i] < 0)
                    continue;
                double *to = value + space->pattern.start[row[i]] + offset[a * nodes + c];
                for (int j = 0; j < 3; j++)
                    if (column[j] >= 0)
                        *to++ += scale * b[a <= c ? 3 * i + j : 3 * j + i][lane];
            }
        }
}

static void add_blocks(const sp_fe_space *space, int64_t element, int lane, double scale, sp_lanes block[][9],
                       double *value)
{
    int nodes;
    const int64_t *node = sp_mesh_nodes(space->mesh, element, &nodes);
    const int32_t *offset = space->offset + space->offset_start[element];
    int64_t start[3 * SP_ELEMENT_NODES];
    bool whole = true;

    /* An element without fixed components adds to complete blocks of rows. */
    for (int a = 0; a < nodes && whole; a++)
        for (int i = 0; i < 3 && whole; i++) {
            const int64_t row = space->dof[3 * node[a] + i];
            whole = row >= 0;
            start[3 * a + i] = whole ? space->pattern.start[row] : 0;
        }

    if (!whole)
        add_fixed_columns(space, nodes, node, offset, lane, scale, block, value);
    else if (nodes == 8)
        add_whole(8, start, offset, lane, scale, block, value);
    else if (nodes == 4)
        add_whole(4, start, offset, lane, scale, block, value);
    else
        add_whole(nodes, start, offset, lane, scale, block, value);
}

void sp_batch_add_blocks(const sp_fe_space *space, const sp_batch *batch, double scale, sp_lanes block[][9],
                         double *value)
{
    /* The upper triangle of diagonal blocks is copied, so that K is symmetric to the last bit. */
    for (int a = 0; a < batch->nodes; a++) {
        sp_lanes *diagonal = block[sp_packed(batch->nodes, a, a)];
        diagonal[3] = diagonal[1];
        diagonal[6] = diagonal[2];
        diagonal[7] = diagonal[5];
    }

    /* The positions are fetched while other lanes are added. */
    for (int l = 0; l < batch->count; l++)
        __builtin_prefetch(space->offset + space->offset_start[batch->element[l]]);

    for (int l = 0; l < batch->count; l++)
        add_blocks(space, batch->element[l], l, scale, block, value);
}

void sp_batch_force(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes f[][3], sp_lanes *energy)
{
    (data->by_pairs ? sp_pairs_force : sp_points_force)(data, u, f, energy);
}

void sp_batch_tangent(const sp_element_lanes *data, sp_lanes u[][3], bool definite, sp_lanes f[][3],
                      sp_lanes block[][9], sp_lanes *energy)
{
    (data->by_pairs ? sp_pairs_tangent : sp_points_tangent)(data, u, definite, f, block, energy);
}

void sp_batch_stress_stiffness(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes block[][9])
{
    (data->by_pairs ? sp_pairs_stress_stiffness : sp_points_stress_stiffness)(data, u, block);
}

void sp_batch_tangent_times(const sp_element_lanes *data, sp_lanes u[][3], sp_lanes v[][3], sp_lanes y[][3])
{
    (data->by_pairs ? sp_pairs_tangent_times : sp_points_tangent_times)(data, u, v, y);
}
