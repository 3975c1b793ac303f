/* Skeletons: JSON text that describes the bones of a mesh (skeleton.md, skeleton.schema.json). */
#ifndef SP_FORMATS_SKELETON_H
#define SP_FORMATS_SKELETON_H

#include "formats/scene.h"
#include "mesh/mesh.h"
#include "rigid/skeleton.h"

/* The arguments of sp_skeleton_new, owned by `pool`. */
typedef struct sp_skeleton_file {
    sp_pool pool;
    int64_t bone_count; /* ≥ 1 */
    sp_bone *bones;     /* axes of unit length; vertices increasing, no vertex twice */
    char **names;       /* [bone_count] */
    char **bone_paths;  /* [bone_count] of SP_JOINT_PATH, CSV as below; NULL: another joint */
    int64_t spring_count;
    sp_bone_spring *springs; /* those on a path have count 0 until sp_skeleton_file_set_path */
    char **paths;            /* [spring_count] CSV (paths.md), joined with the folder; NULL: the anchor does not move */
} sp_skeleton_file;

/* The vertices of a bone are those that its keys name, and those within the radius of its segment that no bone names
 * and that are nearer to it than to other segments.
 *
 * Parses the text of a skeleton (count bytes) for a mesh. folder: of the text, for relative paths; "" or ".": as they
 * are. All conditions of skeleton.md are checked: unknown keys, repeated keys and values out of range are errors that
 * name the key by its JSON path, `bones[3].axis`, and syntax errors the line. */
int sp_skeleton_file_parse(sp_context *context, const char *text, int64_t count, const char *folder,
                           const sp_mesh *mesh, sp_skeleton_file *file) SP_MUST_USE;

/* Copies times and positions of the path that spring `spring` names. */
int sp_skeleton_file_set_path(sp_context *context, sp_skeleton_file *file, int64_t spring,
                              const sp_path *path) SP_MUST_USE;
void sp_skeleton_file_free(sp_skeleton_file *file);

#endif
