/* Gradients of shape functions at integration points, of eight elements in SIMD lanes.
 *
 * Spaces keep the gradients of elements with corners only. Those of a 20-node hexahedron are 13 KB, and reading them
 * takes longer than computing them from the 60 coordinates of the element, which is done here. */
#ifndef SP_ASSEMBLY_GRADIENTS_H
#define SP_ASSEMBLY_GRADIENTS_H

#include "assembly/fe_space.h"

typedef struct sp_lane_gradients {
    const sp_fe_space *space;
    int64_t class[SP_LANES]; /* of one type */
    int nodes, points;
    sp_lanes edge[SP_ELEMENT_NODES - 1][3]; /* X_0 − X_a, m; unused if the gradients are kept */
} sp_lane_gradients;

/* Loads the geometry of classes of elements that are evaluated at points. */
void sp_lane_gradients_load(const sp_fe_space *space, const int64_t class[SP_LANES], sp_lane_gradients *geometry);

/* ∇N_a [nodes, 3] 1/m at a point, and its weight [m³]. */
void sp_lane_gradients_at(const sp_lane_gradients *geometry, int point, sp_lanes gradient[][3], sp_lanes *weight);

#endif
