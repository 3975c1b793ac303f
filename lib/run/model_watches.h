/* Observers of quantities that a model reports about itself. Each stores plain numbers, which a checkpoint saves, and a
 * pointer to the body. The caller may change the body between steps, as for a mesh that is cut. */
#ifndef SP_RUN_MODEL_WATCHES_H
#define SP_RUN_MODEL_WATCHES_H

#include "rigid/skeleton.h"
#include "run/body.h"
#include "run/run.h"

/* Estimates of the error of the force of a cubature with a nested one (sp_reduced_system_estimate). */
typedef struct sp_estimate_watch {
    const sp_run_body *body;
    double recent[SP_NORMS];  /* the largest since the caller set it to 0: at a recorded frame */
    double largest[SP_NORMS]; /* of all steps */
} sp_estimate_watch;

sp_observer sp_estimate_watch_observer(sp_estimate_watch *watch);

/* The largest rotation of a bone in one step. The single linear solve of a step loses light flesh on bones that turn
 * too far; a remark says so. */
typedef struct sp_turn_watch {
    const sp_run_body *body;
    const sp_skeleton *skeleton;
    double turn; /* rad: the largest */
} sp_turn_watch;

sp_observer sp_turn_watch_observer(sp_turn_watch *watch);

/* The largest ghost force and torque of stiffness warping (the net internal force and torque) in recorded frames after
 * the start. */
typedef struct sp_ghost_watch {
    const sp_run_body *body;
    double force, torque; /* the largest, N and N m */
} sp_ghost_watch;

sp_observer sp_ghost_watch_observer(sp_ghost_watch *watch);

/* Adds a remark if elements of a full-order body are so compressed at the end that their law, which is quadratic in the
 * strain, softens. */
sp_observer sp_softening_observer(sp_run_body *body);

#endif
