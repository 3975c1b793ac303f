#include "assembly/gradients.h"

#include "assembly/batch.h"
#include "assembly/element.h"

#include <math.h>

void sp_lane_gradients_load(const sp_fe_space *space, const int64_t class[SP_LANES], sp_lane_gradients *geometry)
{
    const double *edges[SP_LANES];

    geometry->space = space;
    geometry->nodes = space->classes[class[0]].nodes;
    geometry->points = space->classes[class[0]].points;

    for (int l = 0; l < SP_LANES; l++) {
        geometry->class[l] = class[l];
        edges[l] = space->classes[class[l]].edges;
    }

    if (!space->classes[class[0]].gradient)
        sp_lanes_gather(3 * (geometry->nodes - 1), edges, geometry->edge[0]);
}

/* Those that the space keeps. */
static void kept_gradients(const sp_lane_gradients *geometry, int point, sp_lanes gradient[][3])
{
    const int nodes = geometry->nodes;
    for (int l = 0; l < SP_LANES; l++) {
        const double *from = geometry->space->classes[geometry->class[l]].gradient + 3 * nodes * point;
        for (int a = 0; a < nodes; a++)
            for (int i = 0; i < 3; i++)
                gradient[a][i][l] = from[3 * a + i];
    }
}

/* The gradients of one lane with digits that cannot be lost (assembly/element.h). */
static void gradients_of_lane(const sp_lane_gradients *geometry, int lane, const double slope[][3],
                              sp_lanes gradient[][3])
{
    double X[SP_ELEMENT_NODES][3], own[SP_ELEMENT_NODES][3];
    const int64_t element = geometry->space->classes[geometry->class[lane]].element;
    const int type = sp_mesh_element_places(geometry->space->mesh, element, X);

    sp_element_gradients(type, X[0], slope, own);
    for (int a = 0; a < geometry->nodes; a++)
        for (int i = 0; i < 3; i++)
            gradient[a][i][lane] = own[a][i];
}

/* J_ij = ∂X_i/∂ξ_j, ∇ξ_j = row j of J⁻¹, ∇N_a = Σ_j ∂N_a/∂ξ_j ∇ξ_j. quality: det J over the product of the lengths of
 * the columns of J. */
SP_CLONES static void compute_gradients(int nodes, const sp_lanes edge[][3], const double slope[][3],
                                        sp_lanes gradient[][3], sp_lanes *square_quality)
{
    sp_lanes J[3][3] = {{{0}}}, c[3][3], axis[3][3], lengths = {0};

    for (int a = 1; a < nodes; a++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                J[i][j] -= slope[a][j] * edge[a - 1][i];

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[i][j] = J[(i + 1) % 3][(j + 1) % 3] * J[(i + 2) % 3][(j + 2) % 3] -
                      J[(i + 1) % 3][(j + 2) % 3] * J[(i + 2) % 3][(j + 1) % 3];

    const sp_lanes det = J[0][0] * c[0][0] + J[0][1] * c[0][1] + J[0][2] * c[0][2];

    /* Squares avoid roots: quality² = det² / Π |column|². */
    lengths += 1;
    for (int j = 0; j < 3; j++)
        lengths *= J[0][j] * J[0][j] + J[1][j] * J[1][j] + J[2][j] * J[2][j];
    *square_quality = det * det / lengths;

    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            axis[j][i] = c[i][j] / det;

    for (int a = 0; a < nodes; a++)
        for (int i = 0; i < 3; i++)
            gradient[a][i] = slope[a][0] * axis[0][i] + slope[a][1] * axis[1][i] + slope[a][2] * axis[2][i];
}

void sp_lane_gradients_at(const sp_lane_gradients *geometry, int point, sp_lanes gradient[][3], sp_lanes *weight)
{
    const sp_fe_space *space = geometry->space;
    const sp_element_class *first = &space->classes[geometry->class[0]];

    for (int l = 0; l < SP_LANES; l++)
        (*weight)[l] = space->classes[geometry->class[l]].weight[point];
    /* The space keeps the gradients of elements of first order. */
    if (first->gradient) {
        kept_gradients(geometry, point, gradient);
        return;
    }

    const double(*slope)[3] = (const double(*)[3])space->references[2 * first->type].slope[point];
    sp_lanes square_quality;
    compute_gradients(geometry->nodes, geometry->edge, slope, gradient, &square_quality);

    /* A flat lane would lose digits in doubles. */
    for (int l = 0; l < SP_LANES; l++)
        if (!(square_quality[l] > SP_ELEMENT_FLAT * SP_ELEMENT_FLAT))
            gradients_of_lane(geometry, l, slope, gradient);
}
