/* Motions: times and orientations, energies, and the forces of recorded contacts against the wrenches of the bodies. */
#include "base/vec3.h"
#include "formats/scene_trajectory.h"
#include "tools/verify/verify.h"

#include <math.h>
#include <string.h>

static void check_orientations(verify *v, artefact *file, const sp_scene_trajectory *motion)
{
    double worst = 0;
    for (int64_t i = 0; i < motion->frame_count * motion->body_count; i++) {
        const double *q = motion->pose + 7 * i + 3;
        worst = fmax(worst, fabs(sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]) - 1));
    }
    verify_number(v, file, "lengths of quaternions from 1", worst, 1e-6);
}

/* No mass is negative, so that kinetic energy is not; others may be, from where they are counted. */
static void check_energies(verify *v, artefact *file, const sp_scene_trajectory *motion)
{
    double least = 0, largest = 0;
    for (int64_t f = 0; f < motion->frame_count; f++) {
        const double *e = motion->energy + SP_SCENE_TRAJECTORY_ENERGIES * f;
        least = fmin(least, e[SP_SCENE_TRAJECTORY_KINETIC]);
        for (int i = 0; i < SP_SCENE_TRAJECTORY_ENERGIES; i++)
            largest = fmax(largest, fabs(e[i]));
    }
    verify_fact(v, file, "kinetic energy not negative", least >= 0, "%.2e J, energies up to %.3g J", least, largest);
}

/* The force of a wrench is the sum of those of the body's contacts: on it where it has the point, against it where it
 * is the other. */
static void check_contacts(verify *v, artefact *file, const sp_scene_trajectory *motion)
{
    const int64_t b = motion->body_count;
    sp_pool pool = {0};
    double worst = 0;
    double *sum = tool_allocate(&pool, 4 * b, sizeof *sum); /* force, and lengths */

    for (int64_t f = 0; f < motion->frame_count; f++) {
        memset(sum, 0, (size_t)(4 * b) * sizeof *sum);
        for (int64_t c = motion->contact_begin[f]; c < motion->contact_begin[f + 1]; c++) {
            const double *force = motion->contact_force + 3 * c;
            for (int side = 0; side < 2; side++) {
                double *to = sum + 4 * motion->contact_body[2 * c + side];
                for (int k = 0; k < 3; k++)
                    to[k] += side ? -force[k] : force[k];
                to[3] += sp_norm3(force);
            }
        }

        for (int64_t i = 0; i < b; i++) {
            const double *stated = motion->wrench + 6 * (f * b + i), *found = sum + 4 * i;
            const double scale = fmax(found[3], sp_norm3(stated));
            if (scale > 0)
                for (int k = 0; k < 3; k++)
                    worst = fmax(worst, fabs(stated[k] - found[k]) / scale);
        }
    }

    verify_number(v, file, "forces of contacts are those of wrenches", worst, 1e-9);
    sp_pool_free(&pool);
}

static void check_scene(verify *v, artefact *file, const sp_scene_trajectory *motion)
{
    const char *scene = json_string_value(json_object_get(motion->meta, "scene"));
    bool found = false;
    size_t i;
    json_t *input;
    if (!json_object_get(motion->meta, "tool"))
        return;
    json_array_foreach(json_object_get(motion->meta, "inputs"), i, input)
    {
        const char *hash = json_string_value(json_object_get(input, "sha256"));
        found |= scene && hash && !strcmp(hash, scene);
    }
    verify_fact(v, file, "scene among the inputs", found, "%.12s", scene ? scene : "none");
}

void verify_motion(verify *v, artefact *file)
{
    sp_scene_trajectory motion;
    tool_check(sp_scene_trajectory_read(v->context, file->descriptor, false, &motion), file->path);
    verify_fact(v, file, "frames", true,
                "%lld with increasing times from %g s to %g s, all values finite, no count negative",
                (long long)motion.frame_count, motion.time[0], motion.time[motion.frame_count - 1]);
    check_scene(v, file, &motion);
    check_orientations(v, file, &motion);
    check_energies(v, file, &motion);
    if (motion.with_contacts)
        check_contacts(v, file, &motion);
    sp_scene_trajectory_free(&motion);
}
