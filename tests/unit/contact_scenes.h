/* A point shell against a distance field, for the tests of contact. */
#ifndef TESTS_UNIT_CONTACT_SCENES_H
#define TESTS_UNIT_CONTACT_SCENES_H

#include "contact/penalty.h"
#include "contact_models.h"

OWNER(sp_traversal)

enum { SHELLS = 4, FIELDS = 6, GRIDS = 3 };

/* Sphere, torus and box; one of farthest points with deep levels. Each once rigid and once with modes. */
static sp_contact_pointshell shells[2][SHELLS];
static sp_distance fields[FIELDS];
static sp_field grids[GRIDS]; /* torus, box, and the torus so coarsely that its interpolant is far from a distance */

static const sp_traversal_limits EVERYTHING = {.warm = INT64_MAX, .cold = INT64_MAX, .tree = false};
static const sp_traversal_limits TREE = {.warm = INT64_MAX, .cold = INT64_MAX, .tree = true};
static const sp_traversal_limits COHERENT = {.warm = INT64_MAX, .cold = INT64_MAX, .tree = true, .coherence = true};

static inline sp_surface box_surface(void)
{
    sp_surface s = new_surface(8, 12);
    add_box(&s, (double[3]){-0.5, -0.75, -0.25}, (double[3]){0.5, 0.75, 0.25});
    return s;
}

static inline void make_models(void)
{
    sp_surface models[3] = {sphere(24), torus(24, 12, 1, 0.4), box_surface()};
    for (int s = 0; s < SHELLS; s++)
        for (int deformable = 0; deformable < 2; deformable++) {
            sp_pointshell pointshell = s < 3 ? shell_of(&models[s], SP_POINTSHELL_REPULSION, 12 * 85, 4)
                                             : shell_of(&models[1], SP_POINTSHELL_FARTHEST, 1500, 6);
            if (deformable)
                add_modes(&pointshell, MODES);
            shells[deformable][s] = contact_shell(&pointshell);
        }
    grids[0] = field_of(&models[1], 32);
    grids[1] = field_of(&models[2], 20);
    grids[2] = field_of(&models[1], 6);
    fields[0] = (sp_distance){.kind = SP_DISTANCE_PLANE, .normal = {0.6, 0, 0.8}, .offset = 0.1};
    fields[1] = (sp_distance){.kind = SP_DISTANCE_SPHERE, .centre = {0.2, 0.1, -0.3}, .radius = 1.1};
    fields[2] = (sp_distance){.kind = SP_DISTANCE_BOX, .centre = {0.1, 0.2, 0}, .half = {1, 0.7, 0.3}};
    for (int g = 0; g < GRIDS; g++)
        sp_distance_of_field(&grids[g], &fields[3 + g]);
    for (int s = 0; s < 3; s++)
        sp_surface_free(&models[s]);
}

static inline void free_models(void)
{
    for (int s = 0; s < 2 * SHELLS; s++)
        sp_contact_pointshell_free(&shells[s / SHELLS][s % SHELLS]);
    for (int g = 0; g < GRIDS; g++)
        sp_field_free(&grids[g]);
}

static inline sp_pose random_pose(uint64_t stream, uint64_t index, double reach)
{
    sp_pose pose;
    random_rotation(stream, index, pose.q);
    for (int k = 0; k < 3; k++)
        pose.x[k] = reach * random_in(stream + 100, 3 * index + (uint64_t)k, -1, 1);
    return pose;
}

static inline void random_q(uint64_t stream, uint64_t index, double size, double q[MODES])
{
    for (int j = 0; j < MODES; j++)
        q[j] = random_in(stream, MODES * index + (uint64_t)j, -size, size);
}

/* Contacts of points below `end` are the same, bit for bit. */
static inline bool same_contacts(const sp_traversal_result *a, const sp_traversal_result *all, int64_t end)
{
    int64_t count = 0;
    while (count < all->count && all->point[count] < end)
        count++;
    return a->count == count &&
           (count == 0 || (!memcmp(a->point, all->point, (size_t)count * sizeof *a->point) &&
                           !memcmp(a->distance, all->distance, (size_t)count * sizeof *a->distance) &&
                           !memcmp(a->place, all->place, 3 * (size_t)count * sizeof *a->place)));
}

enum path { SLOW, FAST, JUMPING, SPINNING, SWINGING, STILL, PATHS };

BEFORE_TESTS()
{
    make_models();
}

AFTER_TESTS()
{
    free_models();
}

#endif
