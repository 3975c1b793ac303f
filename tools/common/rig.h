/* A skin with the skeleton that moves it: files of the options --skin and --skeleton. Functions end the process on
 * failure. */
#ifndef TOOLS_COMMON_RIG_H
#define TOOLS_COMMON_RIG_H

#include "formats/skeleton.h"
#include "formats/skin.h"
#include "tools/common/inputs.h"

/* A skeleton for a mesh. option: the one that names it, NULL: an argument. */
void tool_read_skeleton(sp_context *context, const char *path, const char *option, const sp_mesh *mesh,
                        sp_skeleton_file *file);

typedef struct tool_bone_path {
    sp_path path;
    double end; /* s, of the motion; INFINITY: not known */
} tool_bone_path;

typedef struct tool_rig {
    sp_pool pool;
    sp_skin_file file;
    char hash[SP_HASH_LENGTH]; /* of the skin */
    sp_skeleton_file skeleton;
    tool_bone_path *paths; /* [bones] */
    sp_rig rig;
    sp_bone_motion *motion; /* [bones] of one time */
} tool_rig;

/* Warns if a motion until `end` [s] feels that the frame on this path stops at once at its last line. */
void tool_warn_of_stop(const char *file, const sp_path *path, double end);

/* skeleton NULL is a usage error. Checks that the skin is of the mesh and has the bones of the skeleton, and that all
 * of these follow paths. end: the time in s that each path must reach, unless it has one line; −INFINITY: any. */
void tool_rig_open(sp_context *context, const char *skin, const char *skeleton, const tool_mesh *mesh, double end,
                   tool_rig *rig);
void tool_rig_close(tool_rig *rig); /* a zeroed one is allowed */

#endif
