#include "scene/stiffness.h"

#include <math.h>

#include "contact/bound.h"

/* ---- sizes ---- */

static double shortest_side(const sp_bound *bound)
{
    double longest = 0, shortest = INFINITY;
    for (int k = 0; k < 3; k++)
        longest = fmax(longest, bound->half[k]);

    /* A flat body has sides of zero, which are no size. */
    for (int k = 0; k < 3; k++)
        if (bound->half[k] > 1e-9 * longest)
            shortest = fmin(shortest, bound->half[k]);

    return 2 * shortest;
}

double sp_contact_body_size(const sp_contact_scene_body *body)
{
    sp_bound bound;
    double size = INFINITY;

    if (body->pointshell) {
        sp_bound_of_pointshell(body->pointshell, NULL, &bound);
        for (int k = 0; k < 3; k++)
            bound.half[k] += body->thickness;
        size = shortest_side(&bound);
    }
    if (body->distance) {
        sp_bound_of_distance(body->distance, &bound);
        size = fmin(size, shortest_side(&bound));
    }

    return size;
}

/* ---- the step ---- */

/* The weights of the points within `depth` of the side of the box that has the most of them. */
static double points_on_a_side(const sp_penalty *penalty, const sp_contact_pointshell *pointshell, double depth)
{
    double sum[6] = {0}, most = 0;

    for (int64_t p = 0; p < pointshell->count; p++)
        for (int k = 0; k < 3; k++) {
            const double x = pointshell->points[3 * p + k] - pointshell->centre[k];
            for (int side = 0; side < 2; side++)
                if ((side ? x : -x) > pointshell->half[k] - depth)
                    sum[2 * k + side] += sp_penalty_weight(penalty, pointshell, p);
        }
    for (int i = 0; i < 6; i++)
        most = fmax(most, sum[i]);

    return fmin(most, penalty->limit);
}

/* The h with h² A + 2 h B = 4, for A = l k/m and B = l c/m; in a form without cancellation. */
static double longest_step(double A, double B)
{
    return 4 / (B + sqrt(B * B + 4 * A));
}

/* The two lightest free bodies, so that each has a lightest other one. */
typedef struct lightest {
    int64_t body;
    double mass, other; /* INFINITY: none */
} lightest;

static lightest find_lightest(int64_t count, const sp_contact_scene_body *bodies)
{
    lightest found = {-1, INFINITY, INFINITY};
    for (int64_t i = 0; i < count; i++) {
        const double mass = bodies[i].motion == SP_CONTACT_SCENE_FREE ? bodies[i].inertia->mass : INFINITY;
        if (mass < found.mass)
            found = (lightest){i, mass, found.mass};
        else
            found.other = fmin(found.other, mass);
    }
    return found;
}

/* The most points that penetrate, of the shell of each body; those of copies, which follow each other, are counted
 * once. Returns the largest. */
static double next_points(const sp_penalty *penalty, const sp_contact_scene_body *bodies, int64_t i, double before)
{
    const sp_contact_pointshell *pointshell = bodies[i].pointshell;
    if (!pointshell)
        return 0;
    if (i > 0 && bodies[i - 1].pointshell == pointshell)
        return before;
    return points_on_a_side(penalty, pointshell, SP_CONTACT_SINKS * sp_contact_body_size(&bodies[i]));
}

static void estimate_step(const sp_penalty *penalty, int64_t count, const sp_contact_scene_body *bodies,
                          sp_contact_choice *choice)
{
    const lightest light = find_lightest(count, bodies);
    double points = 0, most = 0;

    for (int64_t i = 0; i < count; i++)
        most = fmax(most, points = next_points(penalty, bodies, i, points));

    choice->step = INFINITY;
    choice->stiffest = -1;
    for (int64_t i = 0; i < count; i++) {
        points = next_points(penalty, bodies, i, points);
        if (bodies[i].motion != SP_CONTACT_SCENE_FREE || most == 0)
            continue;

        /* Two bodies on one spring: k (1/m + 1/m_other), where the lightest other one gives the shortest step. */
        const double other = i == light.body ? light.other : light.mass,
                     by_mass = (points > 0 ? points : most) * (1 / bodies[i].inertia->mass + 1 / other),
                     step = longest_step(by_mass * choice->stiffness, by_mass * penalty->damping);

        if (step < choice->step) {
            choice->step = step;
            choice->stiffest = i;
        }
    }
}

/* ---- the choice ---- */

int sp_contact_choose(sp_context *context, const sp_contact_scene_parameters *parameters, int64_t body_count,
                      const sp_contact_scene_body *bodies, sp_contact_choice *choice)
{
    const double g = sp_norm3(parameters->gravity);
    double mass = 0;
    *choice = (sp_contact_choice){.size = INFINITY, .heaviest = -1, .smallest = -1};

    for (int64_t i = 0; i < body_count; i++) {
        const sp_contact_scene_body *body = &bodies[i];
        const bool driven = body->motion == SP_CONTACT_SCENE_FREE ||
                            (body->motion == SP_CONTACT_SCENE_COUPLED && parameters->coupling.dynamic);
        const double size = sp_contact_body_size(body);
        if (driven && body->inertia->mass > mass) {
            mass = body->inertia->mass;
            choice->heaviest = i;
        }

        if (size < choice->size) {
            choice->size = size;
            choice->smallest = i;
        }
    }

    if (choice->heaviest < 0)
        return sp_fail(context, SP_INPUT, "no body is free, so that no weight rests on contact");
    if (choice->smallest < 0)
        return sp_fail(context, SP_INPUT, "no body has points or a distance field of a finite size");
    if (!(g > 0))
        return sp_fail(context, SP_INPUT, "gravity is 0, so that no weight rests on contact");

    /* The heaviest body rests on three points at DEPTH, a hundredth, of the smallest size: κ = m g / (3 d). */
    choice->points = fmin(3, parameters->penalty.limit);
    choice->depth = SP_CONTACT_DEPTH * choice->size;
    choice->stiffness = mass * g / (choice->points * choice->depth);

    if (!(choice->stiffness > 0 && isfinite(choice->stiffness)))
        return sp_fail(context, SP_INPUT, "%g kg under %g m/s² on a depth of %g m give the stiffness %g N/m", mass, g,
                       choice->depth, choice->stiffness);

    estimate_step(&parameters->penalty, body_count, bodies, choice);
    return SP_OK;
}
