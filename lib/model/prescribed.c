#include "model/prescribed.h"

#include <float.h>
#include <math.h>

int64_t sp_time_piece(int64_t count, const double *time, double t)
{
    int64_t low = -1, high = count; /* time[low] ≤ t < time[high] */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (time[middle] <= t)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* A point x = p + R X of the frame moves with p' + ω × R X. */
static void move_rigid(const sp_prescribed_rigid *move, const double *vertices, double t, double *u, double *v)
{
    double velocity[6], R[9];
    const sp_pose pose = move->path(move->path_data, t, velocity);

    sp_quaternion_matrix(pose.q, R);
    for (int64_t i = 0; i < move->count; i++) {
        const double *X = vertices + 3 * move->vertex[i];
        double arm[3], turn[3];
        sp_rotate(R, X, arm);
        sp_cross3(velocity + 3, arm, turn);

        for (int c = 0; c < 3; c++) {
            u[3 * move->vertex[i] + c] = pose.x[c] + arm[c] - X[c];
            v[3 * move->vertex[i] + c] = velocity[c] + turn[c];
        }
    }
}

static void move_single(const sp_prescribed_vertex *move, double t, double *u, double *v)
{
    const int64_t piece = sp_time_piece(move->count, move->time, t), from = piece < 0 ? 0 : piece;
    const bool moves = piece >= 0 && piece < move->count - 1;
    const double *a = move->u + 3 * from, step = moves ? move->time[from + 1] - move->time[from] : 1;

    for (int c = 0; c < 3; c++) {
        const double way = moves ? a[3 + c] - a[c] : 0;
        u[3 * move->vertex + c] = a[c] + (moves ? (t - move->time[from]) / step * way : 0);
        v[3 * move->vertex + c] = way / step;
    }
}

void sp_prescribed_motion_at(const sp_prescribed_motion *moves, double t, double *u, double *v)
{
    /* A time k h that rounding has left before a time at which velocities jump counts as that time. */
    const double reached = t + 4 * DBL_EPSILON * fabs(t);

    for (int64_t i = 0; i < moves->rigid_count; i++)
        move_rigid(&moves->rigid[i], moves->vertices, reached, u, v);
    for (int64_t i = 0; i < moves->vertex_count; i++)
        move_single(&moves->single[i], reached, u, v);
}
