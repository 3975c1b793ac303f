/* The bounding spheres of a level of a point shell's tree. */
#ifndef TOOLS_RENDER_SPHERES_H
#define TOOLS_RENDER_SPHERES_H

#include "base/memory.h"
#include "pointshell/pointshell.h"
#include "render/render.h"

/* Translucent spheres with their outlines, as triangles and as edges. */
typedef struct tool_spheres {
    int64_t count;
    double *vertices;   /* [count, corners, 3] m */
    int64_t *triangles; /* [count, triangles, 3] */
    double *circle;     /* [count, SIDES, 3] m, the outline as the eye sees it */
    int64_t *edges;     /* [count, SIDES, 2] */
    int corners, triangle_count;
} tool_spheres;

/* The spheres of a level, 1 … levels − 1, at rest. Arrays are from `pool`. */
void tool_spheres_new(const sp_pointshell *shell, int level, const sp_camera *camera, sp_pool *pool,
                      tool_spheres *spheres);

/* Adds the spheres of a level to what the camera shows. */
void tool_spheres_extend(const sp_pointshell *shell, int level, sp_extent *extent);

enum { TOOL_SPHERE_DRAWINGS = 2 };
void tool_spheres_drawings(const tool_spheres *spheres, const float rgb[3], sp_drawing drawing[TOOL_SPHERE_DRAWINGS]);

#endif
