/* A scene's text and the files that it names (formats/scene.h). Failures are reported as in api/inputs.h. */
#ifndef SP_API_SCENE_INPUT_H
#define SP_API_SCENE_INPUT_H

#include "api/inputs.h"
#include "formats/scene.h"

typedef struct sp_scene_input {
    sp_scene scene;
    const char *path;
    char *text; /* [count] as in the file, followed by a 0 */
    int64_t count;
    char hash[SP_HASH_LENGTH]; /* SHA-256 of the text */
    sp_pool pool;
} sp_scene_input;

/* Reads and parses the file; relative paths in it are from its folder, those of "-" from the current one. */
int sp_scene_input_read(sp_source *source, const char *path, sp_scene_input *scene) SP_MUST_USE;
void sp_scene_input_free(sp_scene_input *scene);

/* The key of a file that the scene names, for sp_source.file: "NAME.key" with the name of a model or body; it lives as
 * long as the scene. NULL: out of memory. */
const char *sp_scene_input_key(sp_scene_input *scene, const char *name, const char *key);

/* The mesh of a model that names one, and its basis as sp_input_basis reads it, which must have the r columns of the
 * model. */
int sp_scene_input_mesh(sp_source *source, sp_scene_input *scene, int64_t model, sp_mesh_input *mesh) SP_MUST_USE;
int sp_scene_input_basis(sp_source *source, sp_scene_input *scene, int64_t model, const sp_mesh_input *mesh,
                         sp_columns_input *basis) SP_MUST_USE;

/* A path of poses in CSV: that of a body, or that of the device (name "coupling"), which may have a clutch. */
int sp_scene_input_path(sp_source *source, sp_scene_input *scene, const char *name, const char *path,
                        sp_path *poses) SP_MUST_USE;
int sp_scene_input_device(sp_source *source, sp_scene_input *scene, sp_path *poses) SP_MUST_USE;

#endif
