/* Modal warping in a moving frame: inertial forces that turn with the vertices.
 *
 * The forces of rigid/moving_frame.h act on the linear displacements u = U q in the axes at rest. What modal warping
 * (model/modal_warp.h) changes is the sum of model/warped_sum.h with the force on a unit mass
 *
 *     g(x, v) = −(a + B x + 2 [ω] v),
 *
 * with a, B and [ω] of the interval (rigid/moving_frame.h). The constant coefficients of the frame are those of g(X +
 * u, U q̇). Alone they have an error of |w| relative to g. A term of first order in w with constant coefficients would
 * leave |w|²/2, which is not small at the rotations of one rad that warping is for. A bar of 8 m whose base swings by
 * 0.5 rad has its tip up to 3.5 m out of line. Relative to the full-order model the tip is off by 1.07 m at most with
 * linear modes, by 0.79 m with a warped shape and the constant coefficients alone, and by 0.32 m with this sum
 * (tests/cli/frames.bats). Tips out of line by up to 1.9 m are off by 0.13 m with and without it.
 *
 * Gravity without a frame costs less than half of the sum (sp_warped_loads). */
#ifndef SP_RIGID_WARPED_FRAME_H
#define SP_RIGID_WARPED_FRAME_H

#include "model/warped_sum.h"
#include "rigid/moving_frame.h"

typedef struct sp_warped_frame {
    sp_external_loads inner; /* first: model/outer_loads.h */
    sp_moving_frame *frame;
    sp_warped_sum sum; /* with the scale of the inertia */
} sp_warped_frame;

/* U [3·vertices, r, column major], and `scale` and the mass as for `frame`. The frame, the warp and its mesh must
 * outlive the result. */
int sp_warped_frame_new(sp_context *context, const sp_fe_space *body, const sp_modal_warp *warp, const double *U,
                        bool lumped, double scale, sp_moving_frame *frame, sp_warped_frame *warped) SP_MUST_USE;
void sp_warped_frame_free(sp_warped_frame *warped); /* a zeroed one is allowed */

/* The loads of the frame and this sum, for an integrator. */
sp_external_loads sp_warped_frame_loads(sp_warped_frame *warped);

#endif
