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

/* CSV, from a trajectory, which does not need its scene: a line for each frame with the time, energies and counts, the
 * forces of coupling and device, and the wrench of each body. VTU, from a scene and its trajectory, or from a scene
 * alone: all surfaces of a frame in one file, with the velocities of their points and the numbers of body and model of
 * the triangles; if contacts are recorded, the same number of files "contacts_…" with a vertex at each contact and its
 * force. Several frames, or a target .pvd: an index to each series. */
void tool_export_scene(sp_context *context, int64_t count, const char *const *paths,
                       const tool_scene_trajectory_choice *choice);

#endif
