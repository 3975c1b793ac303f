/* Inputs that act on a scene while it runs (formats/scene_log.h): simserve receives them, and simscene takes them from
 * the log of simserve. Both apply them here, so that the motion is the same. */
#ifndef TOOLS_SCENE_INPUTS_H
#define TOOLS_SCENE_INPUTS_H

#include "api/loaded_scene.h"
#include "formats/scene_log.h"

enum { SCENE_INPUT_FORCES = 1024 };

/* The forces that act: each stays until another one is set for its body and vertex, and zero removes it. */
typedef struct scene_inputs {
    int64_t count;
    struct {
        int64_t body, vertex;
    } at[SCENE_INPUT_FORCES];
    sp_contact_scene_force force[SCENE_INPUT_FORCES];
} scene_inputs;

enum scene_refusal {
    SCENE_ACCEPTED,
    SCENE_NOT_A_VALUE, /* not finite, out of range, or a rotation of length zero */
    SCENE_NO_TARGET,   /* there is no such body or vertex */
    SCENE_NOT_DRIVEN,  /* what is named does not move by such an input */
    SCENE_TOO_MANY     /* forces at the same time */
};

/* Lets an input act from the next step on, or changes nothing. Allocates nothing. */
enum scene_refusal scene_inputs_apply(scene_inputs *inputs, sp_loaded_scene *scene, const sp_scene_log_input *input);

/* A checksum of poses, velocities, coordinates and their rates, bit by bit. q [the most coordinates of a body] is
 * scratch. */
int64_t scene_checksum(const sp_loaded_scene *scene, double *q);

/* The most coordinates of a body. */
int64_t scene_most_coordinates(const sp_loaded_scene *scene);

/* Warns of all that the watch has seen, with a line for each fault. */
void scene_warn(const sp_loaded_scene *scene, const char *path);

#endif
