/* The tables of keys by which scenes are read. scene.md and scene.schema.json agree with them: tests/unit/scene.c
 * compares. */
#ifndef SP_FORMATS_SCENE_INTERNAL_H
#define SP_FORMATS_SCENE_INTERNAL_H

#include "formats/keys.h"
#include "formats/scene.h"

_Static_assert((int)SP_SCENE_NAME == (int)SP_KEY_NAME_SIZE, "names of scenes are names of keys.h");

extern const sp_key_table sp_scene_keys; /* of the scene itself; the others are reached from it */
extern const sp_key_table sp_scene_model_keys, sp_scene_domain_keys, sp_scene_body_keys, sp_scene_joint_keys;

/* Filled by the tables of domains, of bodies and of joints. */
typedef struct sp_scene_domain_read {
    char *field, *proxies;
} sp_scene_domain_read;
typedef struct sp_scene_body_read {
    sp_scene_body body;
    int64_t copies[3]; /* 0: none */
    double spacing[3];
} sp_scene_body_read;
typedef struct sp_scene_joint_read {
    sp_scene_joint joint;
    char child[SP_SCENE_NAME], parent[SP_SCENE_NAME];
} sp_scene_joint_read;

#endif
