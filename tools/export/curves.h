/* CSV over time: trajectories of meshes and of scenes, one or several in one table. */
#ifndef TOOLS_EXPORT_CURVES_H
#define TOOLS_EXPORT_CURVES_H

#include "tools/export/table.h"

/* The number of motions among the files: trajectories, and trajectories of scenes. */
int64_t tool_export_motions(sp_context *context, int64_t count, const char *const *paths);

/* The files for one of several motions: with it the mesh or scene that it names, and all files of columns, of which
 * tool_trajectory_open takes its basis. Marks them in used [count], stores them in files [count] and returns their
 * number. */
int64_t tool_export_files_of(sp_context *context, const char *motion, int64_t count, const char *const *paths,
                             bool *used, const char **files);

/* A line for each time at which a motion has a frame, with the columns of each motion. The other files are meshes,
 * bases and scenes, in any order: with several motions each takes its own by their hashes, and names of columns begin
 * with the name of its file. Frames at the same time, within 1e-9 relative, share a line; where a motion has no frame,
 * its cells are empty. Probes are entries of tool_place_entry for trajectories, and the same behind BODY: for scenes.
 */
void tool_export_curves(sp_context *context, int64_t count, const char *const *paths, const export_choice *choice);

#endif
