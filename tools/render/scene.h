/* Pictures of the bodies of a scene. */
#ifndef TOOLS_RENDER_SCENE_H
#define TOOLS_RENDER_SCENE_H

#include "tools/common/scene_trajectory.h"

#define RENDER_CONTACTS "points|forces|none"
enum render_contacts { RENDER_POINTS, RENDER_FORCES, RENDER_NO_CONTACTS };

typedef struct render_scene_choice {
    const char *target, *frames, *size;
    int64_t every;
    int samples;
    double view[3], up[3], angle;
    const double *box; /* [6] m; NULL: all that is drawn */
    enum render_contacts contacts;
    bool partial;
} render_scene_choice;

/* Renders a scene at its start, or in the frames of its trajectory: a colour for each model, recorded contacts as small
 * red marks, or as spikes along the force on the first body, with lengths proportional to the forces, the longest of
 * all pictures SPIKE diagonals of the box. */
void tool_render_scene(sp_context *context, int64_t count, const char *const *paths, const render_scene_choice *choice);

#endif
