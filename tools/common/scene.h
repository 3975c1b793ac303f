/* Scenes (formats/scene.h) and the files that they name. Ends the process on failure. */
#ifndef TOOLS_COMMON_SCENE_H
#define TOOLS_COMMON_SCENE_H

#include "api/scene_input.h"
#include "geometry/surface.h"
#include "tools/common/inputs.h"

typedef sp_scene_input tool_scene;

/* Returns true if the name is that of a scene: it ends in .json. */
bool tool_is_scene(const char *path);

/* Parses the file and records it as an input. */
void tool_read_scene(sp_context *context, const char *path, tool_scene *scene);
void tool_scene_free(tool_scene *scene);

/* The provenance record of a file that the scene names: "NAME.key" with the name of a model or body, for tool_read and
 * tool_read_bytes; it lives as long as the scene. */
const char *tool_scene_via(tool_scene *scene, const char *name, const char *key);

/* Files of a model, false if it names none. The basis must belong to the mesh by size and hash and have the r columns
 * of the model. */
bool tool_scene_mesh(tool_scene *scene, int64_t model, tool_mesh *mesh);
bool tool_scene_basis(tool_scene *scene, int64_t model, const tool_mesh *mesh, tool_columns *basis);
bool tool_scene_surface(sp_context *context, tool_scene *scene, int64_t model, sp_surface *surface);

/* Reduced coordinates of the model whose basis was read: its r, or all columns. */
int64_t tool_scene_rank(const tool_scene *scene, int64_t model, const tool_columns *basis);

/* A path of poses in CSV: that of a body, or of the manipulandum (name "coupling"). */
void tool_scene_path(tool_scene *scene, const char *name, const char *path, sp_path *poses);

#endif
