#include "contact/friction.h"

#include <math.h>
#include <string.h>

#include "contact/deformed.h"

void sp_friction_free(sp_friction *friction)
{
    sp_list_free(&friction->anchors);
    sp_list_free(&friction->after);
}

/* The displacement of a proxy of a deformed field, in the field's frame; 0 for other distances. */
static void proxy_way(const sp_distance *distance, const double *q, int64_t proxy, double way[3])
{
    memset(way, 0, 3 * sizeof *way);
    if (distance->kind != SP_DISTANCE_DEFORMED || !q)
        return;
    const int64_t r = sp_deformed_field_r(distance->deformed);
    const double *rows = sp_deformed_field_rows(distance->deformed, proxy);
    for (int k = 0; k < 3; k++)
        for (int64_t j = 0; j < r; j++)
            way[k] += rows[k * r + j] * q[j];
}

static double without(const double n[3], double v[3])
{
    const double along = sp_dot3(n, v);
    for (int k = 0; k < 3; k++)
        v[k] -= along * n[k];
    return sp_norm3(v);
}

/* The largest λ in [0, 1] with |f − λ d| ≤ most, given |f| ≤ most. */
static double share_of(const double f[3], const double d[3], double most)
{
    const double a = sp_dot3(d, d), b = sp_dot3(f, d), left = fmax(0, most * most - sp_dot3(f, f));
    return a > 0 ? fmin(1, fmax(0, (b + sqrt(b * b + a * left)) / a)) : 0;
}

/* The spring of one point [world]. On entry `s` is that of the current point and anchor, on return that after slipping.
 * `f` receives its force including that of the damper, for the velocity `v`. n is a unit vector; most is μ N. */
static void spring(double stiffness, double damping, double most, const double n[3], double s[3], double v[3],
                   double f[3])
{
    const double length = without(n, s), longest = most / stiffness;
    double d[3];
    without(n, v);
    for (int k = 0; k < 3; k++) {
        s[k] *= length > longest ? longest / length : 1;
        f[k] = -stiffness * s[k];
        d[k] = damping * v[k];
    }

    /* The damper has what the spring leaves of the Coulomb force. */
    const double share = share_of(f, d, most);
    for (int k = 0; k < 3; k++)
        f[k] -= share * d[k];
}

bool sp_friction_forces(sp_friction *friction, const sp_penalty *penalty, const sp_contact_pointshell *pointshell,
                        const sp_contact_state *pointshell_state, const sp_distance *distance,
                        const sp_contact_state *field_state, const sp_traversal_result *found,
                        sp_contact_forces *forces)
{
    /* Where the scale makes the springs stiffer, their stretch shrinks so that their energy does not grow. */
    const double shrink = fmin(1, sqrt(friction->scale / forces->scale));
    const sp_friction_anchor *old = friction->anchors.data, *end = old ? old + friction->anchors.count : NULL;
    double B[9];

    friction->after.count = 0;
    sp_friction_anchor *next = forces->count ? sp_list_add(&friction->after, forces->count, sizeof *next) : NULL;
    if (forces->count && !next)
        return false;

    sp_quaternion_matrix(field_state->pose.q, B);
    for (int64_t i = 0; i < forces->count; i++) {
        const int32_t p = forces->point[i];
        const double *place = found->place + 3 * i,
                     part = (penalty->by_area ? pointshell->weight[p] : 1) * forces->scale;
        double *force = forces->force + 3 * i, n[3], way[3], local[3] = {0}, s[3], v[3], f[3];

        /* Both lists ascend by points, so that the old anchor is found by going on. */
        while (old < end && old->point < p)
            old++;
        const bool lasts = old < end && old->point == p;

        /* The stretch of the spring in the frame of the field, since the anchor moves with the proxy */
        if (lasts)
            proxy_way(distance, field_state->q, old->proxy, way);
        for (int k = 0; k < 3 && lasts; k++)
            local[k] = shrink * (place[k] - old->at[k] - way[k]);
        sp_rotate(B, local, s);

        memcpy(n, forces->normal + 3 * i, sizeof n);
        if (!sp_unit_vector(3, n)) /* the gradient of the interpolant vanishes */
            memset(s, 0, sizeof s);

        sp_contact_relative_velocity(pointshell, pointshell_state, distance, field_state, p, forces->at + 3 * i, place,
                                     v);
        spring(penalty->stiffness * part, penalty->damping * part, friction->coefficient * sp_norm3(force), n, s, v, f);
        sp_rotate_back(B, s, local);

        /* The new anchor leaves the stretch that slipping permits. */
        sp_friction_anchor *anchor = next++;
        *anchor = (sp_friction_anchor){.point = p};
        if (distance->kind == SP_DISTANCE_DEFORMED)
            sp_deformed_field_at(distance->deformed, place, NULL, &anchor->proxy);
        proxy_way(distance, field_state->q, anchor->proxy, way);
        for (int k = 0; k < 3; k++) {
            anchor->at[k] = place[k] - local[k] - way[k];
            force[k] += f[k];
        }
    }

    const sp_list before = friction->anchors;
    friction->anchors = friction->after;
    friction->after = before;
    friction->scale = forces->scale;
    return true;
}
