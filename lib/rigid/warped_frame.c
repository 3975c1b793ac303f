#include "rigid/warped_frame.h"

#include "model/outer_loads.h"

int sp_warped_frame_new(sp_context *context, const sp_fe_space *body, const sp_modal_warp *warp, const double *U,
                        bool lumped, double scale, sp_moving_frame *frame, sp_warped_frame *warped)
{
    *warped = (sp_warped_frame){.frame = frame, .inner = sp_moving_frame_loads(frame)};
    return sp_warped_sum_new(context, body, warp, U, frame->r, lumped, scale, &warped->sum);
}

void sp_warped_frame_free(sp_warped_frame *warped)
{
    sp_warped_sum_free(&warped->sum);
    *warped = (sp_warped_frame){0};
}

/* ---- the loads ---- */

/* g(x, v) of a unit mass. */
static void inertial(const void *data, int64_t vertex, const double x[3], const double v[3], double g[3])
{
    const sp_frame_motion *motion = data;
    (void)vertex;
    for (int k = 0; k < 3; k++)
        g[k] = -(motion->a[k] + sp_dot3(motion->B + 3 * k, x) + 2 * sp_dot3(motion->W + 3 * k, v));
}

static void mean(void *self, double t0, double t1, double *f)
{
    const sp_warped_frame *warped = self;
    warped->inner.mean(warped->inner.self, t0, t1, f);
}

static void follow(void *self, double t0, double t1, const double *q, const double *v, double *f)
{
    const sp_warped_frame *warped = self;
    sp_frame_motion motion;
    sp_inner_follow(&warped->inner, warped->sum.r, t0, t1, q, v, f);

    const sp_moving_frame *frame = warped->frame;
    sp_frame_motion_find(frame->path, frame->path_data, frame->gravity, t0, t1, &motion);
    sp_warped_sum_add(&warped->sum, inertial, &motion, q, v, f);
}

sp_external_loads sp_warped_frame_loads(sp_warped_frame *warped)
{
    return sp_outer_loads(warped, mean, follow);
}
