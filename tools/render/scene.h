/* Pictures of the bodies of a scene. */
#ifndef TOOLS_RENDER_SCENE_H
#define TOOLS_RENDER_SCENE_H

#include "render/render.h"
#include "tools/common/scene_trajectory.h"
#include "tools/render/options.h"

typedef struct render_scene_choice {
    const char *target, *frames, *size, *sheet;
    int64_t every;
    sp_look look;
    const render_options *camera; /* --view and --up */
    double angle;
    const double *box; /* [6] m; NULL: all that is drawn */
    enum render_contacts contacts;
    double opacity; /* of the bodies */
    bool partial;
    int64_t fps; /* of a film */
    double speed;
} render_scene_choice;

/* Renders a scene at its start, or in the frames of its trajectory, as a picture for each or as one sheet: a colour for
 * each model, recorded contacts as small red marks, or as arrows along the force on the first body, with lengths
 * proportional to the forces, the longest of all pictures LONGEST diagonals of the box. */
void tool_render_scene(sp_context *context, int64_t count, const char *const *paths, const render_scene_choice *choice);

#endif
