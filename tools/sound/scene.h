/* The vibration of a body of a scene that is struck by contacts with other bodies. */
#ifndef TOOLS_SOUND_SCENE_H
#define TOOLS_SOUND_SCENE_H

#include "geometry/pose.h"
#include "tools/common/trajectory.h"

/* Whether a file is the motion of a scene. */
bool sound_is_scene(sp_context *context, const char *path);

/* Makes the rates of a body the frames of `motion`, which was opened with the mesh and the basis of this body alone.
 * Returns its pose, which must be constant. Ends the process on failure. */
sp_pose sound_read_scene(sp_context *context, const char *path, const char *name, tool_trajectory *motion);

#endif
