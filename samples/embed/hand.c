/* A haptic loop by libsupple: hand SCENE SCRIPT BODY. A scripted hand moves the body that is coupled. */
#include "hand.h"

#include <supple/scene.h>

#include <string.h>

/* Says what the last call said. */
static int fail(void)
{
    fprintf(stderr, "hand: %s\n", supple_error());
    return 1;
}

/* One cycle of the loop: the pose of the device goes in, the force for it comes out. */
static supple_status cycle(supple_scene *scene, const double pose[7], double force[6])
{
    supple_pose device;
    memcpy(device.position, pose, sizeof device.position);
    memcpy(device.rotation, pose + 3, sizeof device.rotation);
    supple_status status = supple_scene_move_hand(scene, &device, NULL);
    if (status == SUPPLE_OK)
        status = supple_scene_step(scene);
    return status == SUPPLE_OK ? supple_scene_hand(scene, NULL, NULL, force) : status;
}

static int play(supple_scene *scene, int64_t body, int lines)
{
    hand_header(supple_scene_body_name(scene, body), "");
    for (int step = 1; step < lines; step++) {
        supple_pose at;
        double force[6];
        if (cycle(scene, hand_script[step], force) || supple_scene_state(scene, body, &at, NULL, NULL, NULL))
            return fail();
        const double time = supple_scene_time(scene);
        hand_row(step, time, time, hand_script[step], at.position, force);
        printf("\n");
    }
    fprintf(stderr, "libsupple: the largest force is %.3f N, at %.3f s\n", hand_force, hand_time);
    return 0;
}

int main(int argc, char **argv)
{
    supple_scene_options how = supple_scene_options_default();
    supple_scene *scene = NULL;
    int64_t body;
    if (argc != 4) {
        fprintf(stderr, "usage: hand SCENE SCRIPT BODY\n");
        return 2;
    }
    const int lines = hand_read(argv[2]);
    if (lines < 2) {
        fprintf(stderr, "hand: %s: cannot be read, or has no two lines\n", argv[2]);
        return 1;
    }
    how.step = 0.001;
    int failed = supple_scene_open(argv[1], &how, &scene) || supple_scene_find(scene, argv[3], &body);
    failed = failed ? fail() : play(scene, body, lines);
    supple_scene_close(scene);
    return failed;
}
