#include "formats/export/animation.h"

#include <string.h>

void sp_animated_positions(const sp_animated_mesh *mesh, const double *weights, double *positions)
{
    const int64_t rows = 3 * mesh->vertex_count;
    memcpy(positions, mesh->rest, (size_t)rows * sizeof *positions);
    if (weights)
        for (int64_t i = 0; i < mesh->target_count; i++)
            for (int64_t k = 0; k < rows; k++)
                positions[k] += weights[i] * mesh->targets[i * rows + k];
}
