/* The inertial forces of rigid/moving_frame.h on a full-order model. The mass matrix M of all vertices, fixed ones
 * included, is applied to the apparent acceleration of each vertex: with its place x = X + u and its velocity v in the
 * frame, the free degrees of freedom receive
 *
 *     −M (a + B x + 2 W v),    B = [α] + [ω]²,  W = [ω].
 *
 * That is exact, since the field is linear in x and v, whose shape functions are those of M. */
#ifndef SP_RIGID_FULL_FRAME_H
#define SP_RIGID_FULL_FRAME_H

#include "assembly/fe_space.h"
#include "rigid/moving_frame.h"

typedef struct sp_full_frame {
    sp_external_loads inner; /* first: model/outer_loads.h */
    sp_pool pool;
    const sp_context *context;
    const sp_fe_space *space;
    bool turns;
    sp_pose_path *path;
    const void *path_data;
    double gravity[3];               /* m/s², world */
    double *lumped;                  /* [vertices] kg; NULL: the consistent mass */
    double *u, *v, *field, *product; /* [3·vertices] scratch */
    double *own;                     /* [dof_count] scratch */
} sp_full_frame;

/* Of a body whose mass is that of its mesh, consistent or lumped. path, turns, gravity and inner as in
 * sp_moving_frame_new; the space must outlive the frame. */
int sp_full_frame_new(sp_context *context, const sp_fe_space *space, bool lumped, sp_pose_path *path,
                      const void *path_data, bool turns, const double gravity[3], const sp_external_loads *inner,
                      sp_full_frame *frame) SP_MUST_USE;
void sp_full_frame_free(sp_full_frame *frame); /* a zeroed one is allowed */

/* The inner loads and the inertial forces, for an integrator. The frame must outlive it. */
sp_external_loads sp_full_frame_loads(sp_full_frame *frame);

#endif
