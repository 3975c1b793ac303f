#include "base/vec3.h"
#include "render/internal.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
static const double NEAR_FRACTION = 1e-3; /* of the distance from eye to target */
static const double FILL = 0.94;          /* of the picture taken by a fitted box */

/* right and up beside the unit vector forward; `wanted` gives the direction of up. */
static void complete_frame(const double forward[3], const double wanted[3], double right[3], double up[3])
{
    double hint[3] = {wanted[0], wanted[1], wanted[2]};
    sp_normalize3_scaled(hint);
    sp_cross3(forward, hint, right);
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

/* The distance from eye to target, 0 where they coincide. */
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

/* The corners relative to the centre, along right, up and forward; returns the length of the diagonal. */
static double box_corners(const double low[3], const double high[3], const sp_view *view, double centre[3],
                          double corners[8][3])
{
    double half[3];
    bool usable = true;
    for (int i = 0; i < 3; i++)
        usable = usable && low[i] <= high[i] && fabs(low[i]) < 1e60 && fabs(high[i]) < 1e60;
    for (int i = 0; i < 3; i++) {
        centre[i] = usable ? 0.5 * (low[i] + high[i]) : 0;
        half[i] = usable ? 0.5 * (high[i] - low[i]) : 0.5;
    }
    if (half[0] == 0 && half[1] == 0 && half[2] == 0)
        half[0] = half[1] = half[2] = 0.5;
    for (int k = 0; k < 8; k++) {
        const double corner[3] = {k & 1 ? half[0] : -half[0], k & 2 ? half[1] : -half[1], k & 4 ? half[2] : -half[2]};
        corners[k][0] = sp_dot3(corner, view->right);
        corners[k][1] = sp_dot3(corner, view->up);
        corners[k][2] = sp_dot3(corner, view->forward);
    }
    return 2 * sp_norm3(half);
}

sp_camera sp_camera_fit(const double low[3], const double high[3], const double direction[3], const double up[3],
                        double angle, int64_t width, int64_t height)
{
    sp_camera camera = {.angle = angle};
    sp_view view = {.forward = {-direction[0], -direction[1], -direction[2]}};
    if (!(sp_normalize3_scaled(view.forward) > 0))
        view.forward[2] = -1;
    complete_frame(view.forward, up, view.right, view.up);
    double centre[3], corners[8][3];
    double diagonal = box_corners(low, high, &view, centre, corners);
    double slope[2];
    slope[1] = FILL * (angle > 0 ? tan(angle * PI / 360) : 1);
    slope[0] = slope[1] * (double)width / (double)height;

    /* Perspective: |x - s| ≤ slope (z + d) for all corners wants d and the sideways shift s with s + slope d ≥ the
     * largest x - slope z on one side, and the mirrored bound on the other. Parallel: the same with z = 0 and d half
     * the height. */
    double distance = 0, shift[2];
    for (int axis = 0; axis < 2; axis++) {
        double upper = -INFINITY, lower = -INFINITY;
        for (int k = 0; k < 8; k++) {
            double depth = angle > 0 ? corners[k][2] : 0;
            upper = fmax(upper, corners[k][axis] - slope[axis] * depth);
            lower = fmax(lower, -corners[k][axis] - slope[axis] * depth);
        }
        shift[axis] = 0.5 * (upper - lower);
        distance = fmax(distance, 0.5 * (upper + lower) / slope[axis]);
    }
    if (angle > 0) {
        for (int k = 0; k < 8; k++)
            distance = fmax(distance, 0.05 * diagonal - corners[k][2]);
    } else {
        camera.height = fmax(2 * distance, 1e-6 * diagonal);
        distance = diagonal;
    }
    for (int i = 0; i < 3; i++) {
        camera.target[i] = centre[i] + shift[0] * view.right[i] + shift[1] * view.up[i];
        camera.eye[i] = camera.target[i] - distance * view.forward[i];
        camera.up[i] = view.up[i];
    }
    return camera;
}
