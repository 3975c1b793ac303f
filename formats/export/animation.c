#include "formats/export/animation.h"

#include "geometry/pose.h"

#include <string.h>

void sp_animated_positions(const sp_animated_mesh *mesh, const double *weights, double *positions)
{
    const int64_t rows = 3 * mesh->vertex_count;
    memcpy(positions, mesh->rest, (size_t)rows * sizeof *positions);
    if (weights)
        for (int64_t i = 0; i < mesh->target_count; i++)
            for (int64_t k = 0; k < rows; k++)
                positions[k] += weights[i] * mesh->targets[i * rows + k];
}

void sp_animation_positions(const sp_animation *animation, int64_t number, int64_t frame, double *positions)
{
    const sp_animated_body *body = &animation->bodies[number];
    const sp_animated_mesh *mesh = &animation->meshes[body->mesh];
    sp_animated_positions(mesh, body->weights ? body->weights + frame * mesh->target_count : NULL, positions);

    if (!body->poses)
        return;

    const double *pose = body->poses + 7 * frame;
    double R[9];
    sp_quaternion_matrix(pose + 3, R);

    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double turned[3];
        sp_rotate(R, positions + 3 * v, turned);
        for (int k = 0; k < 3; k++)
            positions[3 * v + k] = pose[k] + turned[k];
    }
}
