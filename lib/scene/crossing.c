/* Points that pass through a body between two steps without contact in either.
 *
 * Contact is evaluated at one instant in each step. A point that is on one side of a body at one instant and on the
 * other side at the next has passed through it unnoticed. The places of points between the two instants are found by
 * moving the pose of its shell, relative to the other body, evenly from the one to the other: a point has crossed the
 * body if the distance is negative somewhere between and at neither end. Only pairs are looked at whose points move
 * farther in a step than the body is thick, which is twice its deepest interior point. */
#include "scene/internal.h"

#include <math.h>

enum { MOST_SAMPLES = 4000, MOST_POINTS = 500 };

/* m; INFINITY: unbounded, without an interior, or a voxmap or deformed field, which are not looked at. */
static double thickness(const sp_distance *distance)
{
    double deepest = 0;
    switch (distance->kind) {
    case SP_DISTANCE_SPHERE:
        return 2 * distance->radius;
    case SP_DISTANCE_BOX:
        return 2 * fmin(distance->half[0], fmin(distance->half[1], distance->half[2]));
    case SP_DISTANCE_GRID:
        for (int64_t i = 0; i < sp_field_vertices(distance->field); i++)
            deepest = fmax(deepest, -(double)distance->field->distance[i]);
        return deepest > 0 ? 2 * deepest : INFINITY;
    default:
        return INFINITY;
    }
}

void sp_contact_scene_crossing_begin(sp_contact_scene *scene)
{
    scene->thinnest = INFINITY;
    for (int64_t i = 0; i < scene->body_count; i++) {
        contact_body *a = &scene->contact_bodies[i];
        const sp_distance *distance = a->body->distance;
        a->thickness = INFINITY;
        if (!distance || !sp_contact_scene_pairs_tests(scene, -1, i))
            continue;

        for (int64_t k = 0; k < i && !isfinite(a->thickness); k++) /* bodies of one model share their field */
            if (scene->contact_bodies[k].body->distance == distance)
                a->thickness = scene->contact_bodies[k].thickness;

        if (!isfinite(a->thickness))
            a->thickness = thickness(distance);
        scene->thinnest = fmin(scene->thinnest, a->thickness);
    }
}

/* The pose of `inner` in the frame of `outer`. */
static sp_pose relative(const sp_pose *outer, const sp_pose *inner)
{
    const double *q = outer->q, back[4] = {q[0], -q[1], -q[2], -q[3]};
    double R[9], apart[3];
    sp_pose pose;

    sp_quaternion_matrix(q, R);

    for (int k = 0; k < 3; k++)
        apart[k] = inner->x[k] - outer->x[k];
    sp_rotate_back(R, apart, pose.x);

    sp_quaternion_multiply(back, inner->q, pose.q);
    return pose;
}

/* The angle between two rotations. */
static double angle(const double a[4], const double b[4])
{
    return 2 * acos(fmin(1, fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3])));
}

/* The longest way of a point of the body between the last step and this one, m. */
static double way(const sp_pose *from, const sp_pose *to, const sp_contact_pointshell *pointshell)
{
    double moved[3];
    for (int k = 0; k < 3; k++)
        moved[k] = to->x[k] - from->x[k];
    return sp_norm3(moved) +
           (pointshell ? angle(from->q, to->q) * (sp_norm3(pointshell->centre) + pointshell->extent) : 0);
}

/* Between two poses, at t in [0, 1]. */
static sp_pose between(const sp_pose *from, const sp_pose *to, double t)
{
    /* −q is the same rotation: the shorter way is taken. */
    const double sign = from->q[0] * to->q[0] + from->q[1] * to->q[1] + from->q[2] * to->q[2] + from->q[3] * to->q[3];
    sp_pose pose;

    for (int k = 0; k < 3; k++)
        pose.x[k] = (1 - t) * from->x[k] + t * to->x[k];
    for (int k = 0; k < 4; k++)
        pose.q[k] = (1 - t) * from->q[k] + (sign < 0 ? -t : t) * to->q[k];

    sp_quaternion_normalize(pose.q);
    return pose;
}

static double distance_of(const sp_distance *distance, const sp_pose *pose, const double x[3])
{
    double R[9], at[3];
    sp_quaternion_matrix(pose->q, R);
    sp_rotate(R, x, at);
    for (int k = 0; k < 3; k++)
        at[k] += pose->x[k];
    return sp_distance_at(distance, at, NULL);
}

/* Whether a point of body a has crossed body b. */
static bool crossed(const contact_body *a, const contact_body *b, const sp_pose *from, const sp_pose *to, double moved)
{
    const sp_contact_pointshell *pointshell = a->body->pointshell;
    const sp_distance *distance = b->body->distance;

    /* Four samples on the way through the thickness */
    const double wanted = ceil(4 * moved / b->thickness);
    const int samples = wanted < MOST_SAMPLES ? (int)wanted : MOST_SAMPLES;
    const int64_t count = pointshell->count < MOST_POINTS ? pointshell->count : MOST_POINTS; /* coarse levels first */
    for (int64_t i = 0; i < count; i++) {
        double x[3];
        sp_contact_pointshell_point(pointshell, i, a->at.q, x);

        const double begin = distance_of(distance, from, x), end = distance_of(distance, to, x);
        if (begin < 0 || end < 0 || fmin(begin, end) > moved)
            continue;

        for (int s = 1; s < samples; s++) {
            const sp_pose pose = between(from, to, (double)s / samples);
            if (distance_of(distance, &pose, x) < 0)
                return true;
        }
    }
    return false;
}

static void look(sp_contact_scene *scene, int64_t i, int64_t j)
{
    const contact_body *a = &scene->contact_bodies[i], *b = &scene->contact_bodies[j];
    if (i == j || !(b->thickness < INFINITY) || !sp_contact_scene_pairs_tests(scene, i, j))
        return;

    const sp_pose from = relative(&b->was, &a->was), to = relative(&b->at.pose, &a->at.pose);
    const double moved = way(&from, &to, a->body->pointshell);

    if (!(moved > b->thickness) || !crossed(a, b, &from, &to, moved))
        return;

    scene->report.crossed[0] = i;
    scene->report.crossed[1] = j;
    scene->report.crossing = moved;
    scene->report.crossed_thickness = b->thickness;
}

void sp_contact_scene_cross(sp_contact_scene *scene)
{
    const int64_t n = scene->body_count;
    double farthest = 0;

    if (scene->thinnest < INFINITY && scene->steps > 0) {
        for (int64_t i = 0; i < n; i++) {
            contact_body *a = &scene->contact_bodies[i];
            a->way = way(&a->was, &a->at.pose, a->body->pointshell);
            farthest = fmax(farthest, a->way);
        }

        /* Bodies can pass through each other only if both ways together exceed the thickness of one. */
        for (int64_t i = 0; i < n && 2 * farthest > scene->thinnest; i++)
            for (int64_t j = 0; j < n && scene->contact_bodies[i].way + farthest > scene->thinnest; j++)
                if (scene->report.crossed[0] < 0 && scene->contact_bodies[i].body->pointshell)
                    look(scene, i, j);
    }

    for (int64_t i = 0; i < n; i++)
        scene->contact_bodies[i].was = scene->contact_bodies[i].at.pose;
}
