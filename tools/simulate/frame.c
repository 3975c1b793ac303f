#include "tools/simulate/frame.h"

#include "tools/common/rig.h"
#include "tools/simulate/warp.h"

#include <string.h>

void frame_read(simulation *s, double end)
{
    int64_t length;
    const char *path = s->choice->frame;
    if (!path)
        return;
    s->frame = tool_allocate(&s->pool, 1, sizeof *s->frame);
    const char *text = tool_read_bytes(path, "frame", &s->pool, &length);
    tool_check(sp_path_parse(s->context, text, length, &s->frame->path), path);
    s->frame->end = end;
    tool_warn_of_stop(path, &s->frame->path, s->frame->end * (1 - 1e-9));
}

static sp_pose along_path(const void *data, double time, double velocity[6])
{
    const simulate_frame *frame = data;
    return sp_path_until(&frame->path, frame->end, time, velocity);
}

/* Lines of one rotation have the same quaternion, since the reader normalizes it and chooses its sign. */
static bool turns(const sp_path *path)
{
    for (int64_t i = 1; i < path->count; i++)
        if (memcmp(path->pose[i].q, path->pose[0].q, sizeof path->pose[0].q))
            return true;
    return false;
}

sp_external_loads frame_loads(simulation *s)
{
    const sp_external_loads loads = warp_loads(s);
    simulate_frame *frame = s->frame;
    if (!frame)
        return loads;

    if (!simulate_in_basis(s->choice)) {
        tool_check(sp_full_frame_new(s->context, s->body, s->choice->lumped, along_path, frame, turns(&frame->path),
                                     s->choice->gravity, &loads, &frame->full),
                   s->choice->frame);
        return sp_full_frame_loads(&frame->full);
    }

    /* An edited density is a factor on the mass and the gravity of polynomials. */
    const double scale = s->choice->model == SP_MODEL_POLYNOMIALS ? s->polynomials.density : 1;
    sp_inertia inertia;
    tool_check(sp_inertia_of_body(s->context, s->body, s->basis.columns.lumped, s->r, s->basis.columns.U, &inertia),
               s->mesh.path);
    tool_check(sp_moving_frame_new(s->context, &inertia, scale, along_path, frame, turns(&frame->path),
                                   s->choice->gravity, &loads, &frame->moving),
               s->choice->frame);
    sp_inertia_free(&inertia);

    if (!s->warp)
        return sp_moving_frame_loads(&frame->moving);
    tool_check(sp_warped_frame_new(s->context, s->body, &s->warp->shape, s->basis.columns.U, s->basis.columns.lumped,
                                   scale, &frame->moving, &frame->warped),
               s->mesh.path);
    return sp_warped_frame_loads(&frame->warped);
}

void frame_pose(const simulation *s, double t, double pose[7], double twist[6])
{
    memset(pose, 0, 7 * sizeof *pose);
    memset(twist, 0, 6 * sizeof *twist);
    if (!s->frame)
        return;
    const sp_pose at = along_path(s->frame, t, twist);
    memcpy(pose, at.x, sizeof at.x);
    memcpy(pose + 3, at.q, sizeof at.q);
}

void frame_free(simulation *s)
{
    if (!s->frame)
        return;
    sp_warped_frame_free(&s->frame->warped);
    sp_moving_frame_free(&s->frame->moving);
    sp_full_frame_free(&s->frame->full);
    sp_path_free(&s->frame->path);
    s->frame = NULL;
}
