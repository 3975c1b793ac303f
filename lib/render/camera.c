#include "base/vec3.h"
#include "render/internal.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
static const double NEAR_FRACTION = 1e-3; /* of the distance from eye to target */
static const double FILL = 0.94;          /* fraction of the picture that a fitted box fills */

/* Computes right and up for the unit vector forward; `wanted` is the direction of up. */
static void complete_frame(const double forward[3], const double wanted[3], double right[3], double up[3])
{
    double hint[3] = {wanted[0], wanted[1], wanted[2]};
    sp_normalize3_scaled(hint);

    sp_cross3(forward, hint, right);

    /* A view along `up`: the axis that is farthest from it serves instead. */
    if (!(sp_dot3(right, right) > 1e-12)) {
        int least = fabs(forward[1]) <= fabs(forward[2]) ? 1 : 2;
        if (fabs(forward[0]) < fabs(forward[least]))
            least = 0;
        for (int i = 0; i < 3; i++)
            hint[i] = i == least;
        sp_cross3(forward, hint, right);
    }

    sp_normalize3_scaled(right);
    sp_cross3(right, forward, up);
}

/* Sets eye and axes; returns the distance from eye to target, 0 if they coincide. */
static double view_set(const sp_camera *camera, int64_t width, int64_t height, sp_view *view)
{
    for (int i = 0; i < 3; i++) {
        view->eye[i] = camera->eye[i];
        view->forward[i] = camera->target[i] - camera->eye[i];
    }

    double distance = sp_normalize3_scaled(view->forward);
    complete_frame(view->forward, camera->up, view->right, view->up);

    view->perspective = camera->angle > 0;
    view->near = view->perspective ? NEAR_FRACTION * distance : 0;

    /* Pixels per unit of slope, or per metre in parallel view */
    view->scale =
        view->perspective ? 0.5 * (double)height / tan(camera->angle * PI / 360) : (double)height / camera->height;
    view->centre[0] = 0.5 * (double)width;
    view->centre[1] = 0.5 * (double)height;
    view->samples = 1;
    return distance;
}

int sp_view_new(sp_context *context, const sp_camera *camera, int64_t width, int64_t height, int samples, sp_view *view)
{
    const double *values[] = {camera->eye, camera->target, camera->up};

    for (int i = 0; i < 9; i++)
        if (!(fabs(values[i / 3][i % 3]) <= 1e60))
            return sp_fail(context, SP_USAGE, "the camera's eye, target or up is not finite");

    if (!(camera->angle >= 0 && camera->angle <= 170))
        return sp_fail(context, SP_USAGE, "the camera's angle of %g degrees is not in 0 ... 170", camera->angle);
    if (camera->angle == 0 && !(camera->height > 1e-60 && camera->height < 1e60))
        return sp_fail(context, SP_USAGE, "the height of %g m that a parallel camera sees is not positive",
                       camera->height);

    if (!(view_set(camera, width, height, view) > 1e-60))
        return sp_fail(context, SP_USAGE, "the camera's eye and target coincide");
    view->samples = samples;
    return SP_OK;
}

void sp_view_point(const sp_view *view, const double point[3], double out[3])
{
    const double relative[3] = {point[0] - view->eye[0], point[1] - view->eye[1], point[2] - view->eye[2]};
    out[0] = sp_dot3(view->right, relative);
    out[1] = sp_dot3(view->up, relative);
    out[2] = sp_dot3(view->forward, relative);
}

void sp_camera_project(const sp_camera *camera, int64_t width, int64_t height, const double point[3], double pixel[3])
{
    sp_view view;
    double at[3];
    view_set(camera, width, height, &view);
    sp_view_point(&view, point, at);

    double scale = view.perspective ? view.scale / at[2] : view.scale;
    pixel[0] = view.centre[0] + scale * at[0];
    pixel[1] = view.centre[1] - scale * at[1];
    pixel[2] = at[2];
}

sp_extent sp_extent_new(const double direction[3], const double up[3], double angle, int64_t width, int64_t height,
                        int64_t strip)
{
    sp_extent frame = {.angle = angle, .forward = {-direction[0], -direction[1], -direction[2]}};
    if (!(sp_normalize3_scaled(frame.forward) > 0))
        frame.forward[2] = -1;

    complete_frame(frame.forward, up, frame.right, frame.up);

    /* Slopes of the four sides, of which the upper one leaves room for the strip */
    const double slope = angle > 0 ? tan(angle * PI / 360) : 1, side = slope * (double)width / (double)height,
                 taken = 2 * (double)strip / (double)height;
    const double slopes[4] = {side, side, slope, slope * (1 - taken)};
    for (int i = 0; i < 4; i++) {
        frame.slope[i] = FILL * slopes[i];
        frame.bound[i] = -INFINITY;
    }

    for (int i = 0; i < 3; i++) {
        frame.low[i] = INFINITY;
        frame.high[i] = -INFINITY;
    }
    frame.near = INFINITY;
    frame.far = -INFINITY;
    return frame;
}

void sp_extent_add(sp_extent *frame, int64_t count, const double *points)
{
    for (int64_t v = 0; v < count; v++) {
        const double *p = points + 3 * v, x = sp_dot3(frame->right, p), y = sp_dot3(frame->up, p),
                     z = sp_dot3(frame->forward, p), depth = frame->angle > 0 ? z : 0;

        /* The largest x − slope z decides how far the eye has to be on each side. */
        frame->bound[0] = fmax(frame->bound[0], x - frame->slope[0] * depth);
        frame->bound[1] = fmax(frame->bound[1], -x - frame->slope[1] * depth);
        frame->bound[2] = fmax(frame->bound[2], y - frame->slope[2] * depth);
        frame->bound[3] = fmax(frame->bound[3], -y - frame->slope[3] * depth);

        frame->near = fmin(frame->near, z);
        frame->far = fmax(frame->far, z);
        for (int i = 0; i < 3; i++) {
            frame->low[i] = fmin(frame->low[i], p[i]);
            frame->high[i] = fmax(frame->high[i], p[i]);
        }
    }
}

void sp_extent_add_box(sp_extent *frame, const double low[3], const double high[3])
{
    for (int k = 0; k < 8; k++) {
        const double corner[3] = {k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2]};
        sp_extent_add(frame, 1, corner);
    }
}

void sp_extent_join(sp_extent *frame, const sp_extent *other)
{
    for (int i = 0; i < 4; i++)
        frame->bound[i] = fmax(frame->bound[i], other->bound[i]);
    frame->near = fmin(frame->near, other->near);
    frame->far = fmax(frame->far, other->far);
    for (int i = 0; i < 3; i++) {
        frame->low[i] = fmin(frame->low[i], other->low[i]);
        frame->high[i] = fmax(frame->high[i], other->high[i]);
    }
}

double sp_extent_diagonal(const sp_extent *frame)
{
    return sp_distance3(frame->low, frame->high);
}

sp_camera sp_extent_camera(const sp_extent *points)
{
    sp_extent frame = *points;
    sp_camera camera = {.angle = frame.angle};
    bool usable = true, single = true;

    for (int i = 0; i < 3; i++) {
        usable = usable && frame.low[i] <= frame.high[i] && fabs(frame.low[i]) < 1e60 && fabs(frame.high[i]) < 1e60;
        single = single && frame.low[i] == frame.high[i];
    }

    /* A single point, or none: a box of one metre about it */
    if (!usable || single) {
        double low[3], high[3];
        for (int i = 0; i < 3; i++) {
            low[i] = (usable ? frame.low[i] : 0) - 0.5;
            high[i] = (usable ? frame.low[i] : 0) + 0.5;
            frame.low[i] = INFINITY;
            frame.high[i] = -INFINITY;
        }
        for (int i = 0; i < 4; i++)
            frame.bound[i] = -INFINITY;
        frame.near = INFINITY;
        frame.far = -INFINITY;
        sp_extent_add_box(&frame, low, high);
    }
    /* Perspective, with the eye at depth -d and shifted sideways by s: x - s ≤ slope (z + d) for all points requires
     * s + slope d ≥ the largest x - slope z on one side, and the mirrored bound on the other. Parallel: the same with
     * z = 0, and d is half the height. */
    const double diagonal = sp_extent_diagonal(&frame), middle = 0.5 * (frame.near + frame.far);
    double distance = frame.angle > 0 ? 0.05 * diagonal - frame.near : 5e-7 * diagonal, shift[2];
    for (int axis = 0; axis < 2; axis++)
        distance = fmax(distance, (frame.bound[2 * axis] + frame.bound[2 * axis + 1]) /
                                      (frame.slope[2 * axis] + frame.slope[2 * axis + 1]));

    /* The eye moves sideways to the middle between both bounds. */
    for (int axis = 0; axis < 2; axis++)
        shift[axis] = 0.5 * (frame.bound[2 * axis] - frame.slope[2 * axis] * distance - frame.bound[2 * axis + 1] +
                             frame.slope[2 * axis + 1] * distance);
    if (frame.angle == 0)
        camera.height = 2 * distance;

    for (int i = 0; i < 3; i++) {
        camera.target[i] = shift[0] * frame.right[i] + shift[1] * frame.up[i] + middle * frame.forward[i];
        camera.eye[i] = camera.target[i] - (frame.angle > 0 ? distance + middle : diagonal) * frame.forward[i];
        camera.up[i] = frame.up[i];
    }
    return camera;
}

sp_camera sp_camera_fit(const double low[3], const double high[3], const double direction[3], const double up[3],
                        double angle, int64_t width, int64_t height)
{
    sp_extent frame = sp_extent_new(direction, up, angle, width, height, 0);
    sp_extent_add_box(&frame, low, high);
    return sp_extent_camera(&frame);
}
