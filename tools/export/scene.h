/* The bodies of a scene and their motion for other programs. */
#ifndef TOOLS_EXPORT_SCENE_H
#define TOOLS_EXPORT_SCENE_H

#include "base/context.h"

typedef struct tool_scene_trajectory_choice {
    const char *target, *frames;
    int64_t every;
    bool csv;         /* else VTU */
    bool coordinates; /* CSV: poses and reduced coordinates too */
    bool partial;
} tool_scene_trajectory_choice;

/* CSV, of a motion, for which its scene is not needed: a line for each frame with the time, energies and counts, the
 * forces of coupling and device, and the wrench of each body. VTU, of a scene and its motion, or of a scene alone: all
 * surfaces of a frame in one file, with the velocities of their points and the numbers of body and model of the
 * triangles; where contacts are recorded as many files "contacts_…" with a vertex at each and its force. Several
 * frames, or a target .pvd: an index to each series. */
void tool_export_scene(sp_context *context, int64_t count, const char *const *paths,
                       const tool_scene_trajectory_choice *choice);

#endif
