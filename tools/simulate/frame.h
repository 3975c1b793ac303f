/* The frame that a body moves with (--frame). All functions end the process on failure. */
#ifndef TOOLS_SIMULATE_FRAME_H
#define TOOLS_SIMULATE_FRAME_H

#include "formats/scene.h"
#include "rigid/full_frame.h"
#include "rigid/warped_frame.h"
#include "tools/simulate/simulation.h"

typedef struct simulate_frame {
    sp_path path;
    double end;             /* s, of the motion */
    sp_moving_frame moving; /* of a reduced-order model */
    sp_full_frame full;     /* of a full-order model */
    sp_warped_frame warped; /* with --warp */
} simulate_frame;

/* Reads the path of --frame into s->frame, for a motion until `end` [s]; does nothing without the option. */
void frame_read(simulation *s, double end);

/* The loads of the model, which has been made, with the inertial forces of its frame if it has one. */
sp_external_loads frame_loads(simulation *s);

/* Its pose at t, position m and quaternion w, x, y, z, and its velocity and angular velocity; zeros without a frame. */
void frame_pose(const simulation *s, double t, double pose[7], double twist[6]);

void frame_free(simulation *s);

#endif
