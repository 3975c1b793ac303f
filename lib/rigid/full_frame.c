#include "rigid/full_frame.h"

#include "base/mat3.h"
#include "base/vec3.h"
#include "model/outer_loads.h"

#include <string.h>

int sp_full_frame_new(sp_context *context, const sp_fe_space *space, bool lumped, sp_pose_path *path,
                      const void *path_data, bool turns, const double gravity[3], const sp_external_loads *inner,
                      sp_full_frame *frame)
{
    const int64_t vertices = space->mesh->vertex_count;
    *frame = (sp_full_frame){
        .context = context, .space = space, .turns = turns, .path = path, .path_data = path_data, .inner = *inner};

    memcpy(frame->gravity, gravity, sizeof frame->gravity);
    frame->u = sp_pool_new(&frame->pool, 3 * vertices, sizeof *frame->u);
    frame->v = sp_pool_new(&frame->pool, 3 * vertices, sizeof *frame->v);
    frame->field = sp_pool_new(&frame->pool, 3 * vertices, sizeof *frame->field);
    frame->product = sp_pool_new(&frame->pool, 3 * vertices, sizeof *frame->product);
    frame->own = sp_pool_new(&frame->pool, space->dof_count, sizeof *frame->own);
    if (lumped)
        frame->lumped = sp_pool_new(&frame->pool, vertices, sizeof *frame->lumped);

    if (frame->pool.failed) {
        sp_full_frame_free(frame);
        return sp_fail_memory(context);
    }
    if (lumped)
        sp_fe_space_vertex_mass(space, true, frame->lumped);
    return SP_OK;
}

void sp_full_frame_free(sp_full_frame *frame)
{
    sp_pool_free(&frame->pool);
    *frame = (sp_full_frame){0};
}

/* f −= M field, over the free degrees of freedom. */
static void subtract_inertia(sp_full_frame *frame, double *f)
{
    const int64_t vertices = frame->space->mesh->vertex_count;

    if (frame->lumped)
        for (int64_t i = 0; i < 3 * vertices; i++)
            frame->product[i] = frame->lumped[i / 3] * frame->field[i];
    else {
        memset(frame->product, 0, (size_t)(3 * vertices) * sizeof *frame->product);
        sp_fe_space_mass_times(frame->context, frame->space, 3, frame->field, frame->product);
    }

    sp_fe_space_gather(frame->space, frame->product, frame->own);
    for (int64_t i = 0; i < frame->space->dof_count; i++)
        f[i] -= frame->own[i];
}

/* −M (a + B X) */
static void mean(void *self, double t0, double t1, double *f)
{
    sp_full_frame *frame = self;
    const sp_mesh *mesh = frame->space->mesh;
    sp_frame_motion motion;

    frame->inner.mean(frame->inner.self, t0, t1, f);
    sp_frame_motion_find(frame->path, frame->path_data, frame->gravity, t0, t1, &motion);

    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++) {
        const double *X = mesh->vertices + i - i % 3;
        frame->field[i] = motion.a[i % 3] + (frame->turns ? sp_dot3(motion.B + 3 * (i % 3), X) : 0);
    }
    subtract_inertia(frame, f);
}

/* −M (B u + 2 W v) */
static void follow(void *self, double t0, double t1, const double *q, const double *v, double *f)
{
    sp_full_frame *frame = self;
    const int64_t values = 3 * frame->space->mesh->vertex_count;
    sp_frame_motion motion;

    sp_inner_follow(&frame->inner, frame->space->dof_count, t0, t1, q, v, f);
    if (!frame->turns)
        return;

    /* Fixed components rest in the frame. */
    memset(frame->u, 0, (size_t)values * sizeof *frame->u);
    memset(frame->v, 0, (size_t)values * sizeof *frame->v);
    sp_fe_space_scatter(frame->space, q, frame->u);
    if (v)
        sp_fe_space_scatter(frame->space, v, frame->v);

    sp_frame_motion_find(frame->path, frame->path_data, frame->gravity, t0, t1, &motion);
    for (int64_t i = 0; i < values; i++) {
        const int64_t at = i - i % 3, row = 3 * (i % 3);
        frame->field[i] = sp_dot3(motion.B + row, frame->u + at) + 2 * sp_dot3(motion.W + row, frame->v + at);
    }
    subtract_inertia(frame, f);
}

sp_external_loads sp_full_frame_loads(sp_full_frame *frame)
{
    return sp_outer_loads(frame, mean, frame->turns || frame->inner.follow ? follow : NULL);
}
