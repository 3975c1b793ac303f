#include "contact/clutch.h"

#include "model/prescribed.h"

#include <float.h>
#include <string.h>

sp_clutch sp_clutch_start(void)
{
    return (sp_clutch){.kept = sp_pose_identity(), .turn = {1}};
}

sp_pose sp_clutch_pose(const sp_clutch *clutch, const sp_pose *device, double velocity[6])
{
    sp_pose pose = clutch->kept;
    if (clutch->held) {
        if (velocity)
            memset(velocity, 0, 6 * sizeof *velocity);
        return pose;
    }

    /* As long as there is no offset the pose is that of the device to the last bit, which normalizing would change. */
    const double *b = clutch->turn, *a = clutch->shift;
    if (a[0] == 0 && a[1] == 0 && a[2] == 0 && b[1] == 0 && b[2] == 0 && b[3] == 0)
        return *device;

    for (int k = 0; k < 3; k++)
        pose.x[k] = device->x[k] + clutch->shift[k];
    sp_quaternion_multiply(device->q, clutch->turn, pose.q);
    sp_quaternion_normalize(pose.q);
    return pose;
}

void sp_clutch_set(sp_clutch *clutch, bool held, const sp_pose *device)
{
    if (held == clutch->held)
        return;

    if (held)
        clutch->kept = sp_clutch_pose(clutch, device, NULL);
    else {
        const double inverse[4] = {device->q[0], -device->q[1], -device->q[2], -device->q[3]};
        for (int k = 0; k < 3; k++)
            clutch->shift[k] = clutch->kept.x[k] - device->x[k];
        sp_quaternion_multiply(inverse, clutch->kept.q, clutch->turn);
        sp_quaternion_normalize(clutch->turn);
    }
    clutch->held = held;
}

void sp_clutch_times_begin(sp_clutch_times *times, sp_pose_path *path, const void *data)
{
    sp_clutch clutch = sp_clutch_start();
    for (int64_t i = 0; i < times->count; i++) {
        const sp_pose device = path(data, times->time[i], NULL);
        sp_clutch_set(&clutch, i % 2 == 0, &device);
        times->since[i] = clutch;
    }
}

sp_clutch sp_clutch_at(const sp_clutch_times *times, double time)
{
    const double before = time - 4 * DBL_EPSILON * fabs(time);
    int64_t last = sp_time_piece(times->count, times->time, before);
    if (last >= 0 && times->time[last] == time)
        last--;
    return last < 0 ? sp_clutch_start() : times->since[last];
}
