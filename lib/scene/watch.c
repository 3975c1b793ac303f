#include "scene/watch.h"

#include "scene/internal.h"
#include "scene/stiffness.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Energy that nothing put in, by the largest energy of motion, from which on it is a fault; energy, J, far below the
 * thermal energy of one molecule, which bodies at rest have by rounding. */
static const double MOST_MADE = 0.1, ROUNDING = 1e-24;

/* A lean of forces along normals, and an imbalance of static coupling, that are faults. */
static const double MOST_LEAN = 0.1, MOST_IMBALANCE = 0.01;

/* Cycles, by the share of each displacement that static damping leaves, after which a coupling has come to rest. */
static const double CYCLES_TO_REST = 200;

void sp_contact_watch_begin(sp_contact_watch *watch, sp_contact_scene *scene)
{
    *watch = (sp_contact_watch){.lowest = INFINITY};
    memcpy(watch->gravity, scene->p.gravity, sizeof watch->gravity);
    for (int64_t i = 0; i < scene->body_count; i++)
        watch->driven |= scene->contact_bodies[i].body->loads != NULL;
    sp_contact_scene_energies(scene, watch->first);
}

static void watch_coupling(sp_contact_watch *watch, const sp_contact_scene *scene)
{
    const sp_contact_scene_report *report = &scene->report;
    watch->resting = report->resting ? watch->resting + 1 : 0;
    if ((double)watch->resting * (1 - scene->p.coupling.parameters.static_damping) < CYCLES_TO_REST ||
        report->imbalance < MOST_IMBALANCE)
        return;
    watch->restless++;
    watch->imbalance = report->imbalance;
}

static void watch_penetration(sp_contact_watch *watch, const sp_contact_scene_report *report, double time)
{
    if (report->inside[0] >= 0 && watch->steps_inside++ == 0) {
        memcpy(watch->inside, report->inside, sizeof watch->inside);
        watch->inside_since = time;
    }

    if (report->sunk > watch->sunk) {
        watch->sunk = report->sunk;
        watch->sunk_depth = report->sunk_depth;
        watch->sunk_at = time;
        memcpy(watch->sunk_bodies, report->sunk_bodies, sizeof watch->sunk_bodies);
    }

    if (report->crossed[0] < 0)
        return;

    watch->crossed_by = fmax(watch->crossed_by, report->crossing / report->crossed_thickness);
    if (watch->steps_crossed++ == 0) {
        memcpy(watch->crossed, report->crossed, sizeof watch->crossed);
        watch->crossed_since = time;
        watch->crossed_way = report->crossing;
        watch->crossed_thickness = report->crossed_thickness;
    }
}

void sp_contact_watch_step(sp_contact_watch *watch, const sp_contact_scene *scene)
{
    const sp_contact_scene_report *report = &scene->report;
    watch_penetration(watch, report, sp_contact_scene_time(scene));
    if (scene->p.coupling.body >= 0 && !scene->p.coupling.dynamic)
        watch_coupling(watch, scene);

    watch->driven |= scene->force_count > 0 || memcmp(watch->gravity, scene->p.gravity, sizeof watch->gravity) != 0;
    watch->cut_in_contact += report->touching > 0 && !report->complete;
    watch->touching = report->touching > watch->touching ? report->touching : watch->touching;
    watch->visited = report->visited > watch->visited ? report->visited : watch->visited;
    watch->deepest = report->deepest > watch->deepest ? report->deepest : watch->deepest;
    watch->steps_in_contact += report->touching > 0;
    watch->incomplete += !report->complete;
    watch->limited += report->limited;
    watch->degenerate += report->degenerate > 0;

    watch->path_work += report->path_work;
    watch->pushed += report->pushed;
    watch->leant += report->leant;
    watch->lowest = fmin(watch->lowest, report->lowest);
    watch->stiffest = fmax(watch->stiffest, report->stiffest);
}

/* Only a device and prescribed paths supply energy. If the energy rises without them, the steps or forces without an
 * energy are in error. Strain energy below zero is impossible for an elastic body and counts as zero. */
void sp_contact_watch_energies(sp_contact_watch *watch, const double energy[3])
{
    double rise = 0;

    for (int i = 0; i < 3; i++)
        rise += (i == 1 ? fmax(energy[i], 0) : energy[i]) - watch->first[i];
    watch->rise = fmax(watch->rise, rise);

    if (watch->driven)
        return;
    watch->made = fmax(watch->made, rise - watch->path_work);
    watch->motion = fmax(watch->motion, energy[0] + energy[1]);
}

double sp_contact_watch_lean(const sp_contact_watch *watch)
{
    return watch->pushed > 0 ? watch->leant / watch->pushed : 0;
}

/* ---- sentences ---- */

typedef struct judging {
    const sp_contact_watch *w;
    const sp_contact_scene *scene;
    const sp_contact_advice *advice;
    sp_remarks *remarks;
} judging;

static const char *name(const judging *j, int64_t body)
{
    const char *name = j->scene->contact_bodies[body].body->name;
    return name ? name : "a body";
}

static void judge_energy(judging *j)
{
    const sp_contact_watch *w = j->w;
    const char *step = j->advice->step;
    char advice[300];
    bool paths = false;

    for (int64_t i = 0; i < j->scene->body_count; i++) {
        const sp_contact_scene_body *body = j->scene->contact_bodies[i].body;
        if (body->motion == SP_CONTACT_SCENE_COUPLED) /* the work of the hand is not known */
            return;
        paths |= body->motion == SP_CONTACT_SCENE_PATH;
    }

    if (w->made <= MOST_MADE * w->motion || w->made < ROUNDING)
        return;

    if (j->advice->by_coordinate)
        snprintf(advice, sizeof advice,
                 "train weights by coordinate on poses as far as this motion goes, or take weights by element");
    else if (j->advice->semi_implicit)
        snprintf(advice, sizeof advice,
                 "shorten %s, or leave out %s, or, where that does not help, give contact.damping", step,
                 j->advice->semi_implicit);
    else
        snprintf(advice, sizeof advice, "shorten %s, or, where that does not help, give contact.damping", step);
    sp_remarks_add(j->remarks,
                   "the energy of all bodies rose %.3g J above its start%s, with %.3g J kinetic and strain at most: %s",
                   w->made, paths ? " and the work of paths" : "", w->motion, advice);
}

static void judge_sinking(judging *j)
{
    const sp_contact_watch *w = j->w;
    const bool limit = j->scene->p.penalty.limit < INFINITY;
    char advice[100];

    if (j->advice->stiffness_stated)
        snprintf(advice, sizeof advice, "raise contact.stiffness%s, or leave it out", limit ? " or contact.limit" : "");
    else
        snprintf(advice, sizeof advice, "%sstate a contact.stiffness above %.3g N/m",
                 limit ? "leave out contact.limit, or " : "", j->scene->p.penalty.stiffness);
    sp_remarks_add(j->remarks, "%s sinks %.3g m deep into %s at %g s, %.0f %% of the size of the smaller one: %s",
                   name(j, w->sunk_bodies[0]), w->sunk_depth, name(j, w->sunk_bodies[1]), w->sunk_at, 100 * w->sunk,
                   advice);
}

static void judge_penetration(judging *j)
{
    const sp_contact_watch *w = j->w;
    if (w->cut_in_contact > 0 && !(j->scene->p.penalty.limit < INFINITY))
        sp_remarks_add(
            j->remarks,
            "in %lld of %lld steps in contact traversal.warm left levels out, and without contact.limit the force "
            "changes with the number of points: give contact.limit",
            (long long)w->cut_in_contact, (long long)w->steps_in_contact);
    if (w->steps_crossed > 0)
        sp_remarks_add(
            j->remarks,
            "%s passed through %s without contact in %lld steps, first at %.6g s: points moved by %.3g m in a step "
            "through a body that is %.3g m thick: shorten %s to %.2g",
            name(j, w->crossed[0]), name(j, w->crossed[1]), (long long)w->steps_crossed, w->crossed_since,
            w->crossed_way, w->crossed_thickness, j->advice->step, 0.5 * j->scene->p.step / w->crossed_by);
    if (w->steps_inside > 0)
        sp_remarks_add(
            j->remarks,
            "%s is wholly inside of %s in %lld steps, first at %g s, where contact may push it out on the wrong side "
            "or not at all: raise contact.stiffness or shorten %s",
            name(j, w->inside[0]), name(j, w->inside[1]), (long long)w->steps_inside, w->inside_since, j->advice->step);
    else if (w->sunk > SP_CONTACT_SINKS)
        judge_sinking(j);
}

/* The step that would have been stable for the same contacts: their eigenvalue is h² λ + 2 h μ with the springs' λ and
 * the dampers' μ, whose parts are not known. */
static double stable_step(const sp_contact_scene *scene, double stiffest)
{
    return scene->p.step * (scene->p.penalty.damping > 0 ? 4 / stiffest : sqrt(4 / stiffest));
}

void sp_contact_watch_judge(const sp_contact_watch *watch, const sp_contact_scene *scene,
                            const sp_contact_advice *advice, sp_remarks *remarks)
{
    judging j = {watch, scene, advice, remarks};
    const double lean = sp_contact_watch_lean(watch);
    judge_energy(&j);
    judge_penetration(&j);

    if (lean > MOST_LEAN && !advice->direction_stated)
        sp_remarks_add(
            remarks,
            "contact along the points' normals leans away from the other body's surface by %.0f %% of its force, as if "
            "that were rough: state contact.direction, gradient for a smooth surface, or normal",
            100 * lean);

    if (watch->stiffest >= 4)
        sp_remarks_add(
            remarks,
            "contact was too stiff for the step (%.3g of at most 4): shorten %s to %.2g or lower contact.stiffness",
            watch->stiffest, advice->step, stable_step(scene, watch->stiffest));

    if (watch->restless > 0)
        sp_remarks_add(
            remarks,
            "%s did not come to rest in %lld cycles in which the device had long rested: %.2g of the forces are not "
            "balanced: state contact.direction gradient, or lower coupling.speed",
            name(&j, scene->p.coupling.body), (long long)watch->restless, watch->imbalance);
}
