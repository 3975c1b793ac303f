#include "geometry/surface.h"

#include <math.h>

void sp_surface_free(sp_surface *surface)
{
    sp_pool_free(&surface->pool);
    *surface = (sp_surface){0};
}

void sp_surface_box(const sp_surface *surface, double low[3], double high[3])
{
    for (int axis = 0; axis < 3; axis++) {
        low[axis] = INFINITY;
        high[axis] = -INFINITY;
    }

    for (int64_t i = 0; i < 3 * surface->triangle_count; i++) {
        const double *vertex = surface->vertices + 3 * surface->triangles[i];
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = vertex[axis] < low[axis] ? vertex[axis] : low[axis];
            high[axis] = vertex[axis] > high[axis] ? vertex[axis] : high[axis];
        }
    }
}
