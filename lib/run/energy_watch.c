#include "run/energy_watch.h"

#include <math.h>
#include <string.h>

/* Energy that nothing put in, by the most that was put in, from which on a run says so; and the part of the largest
 * energy that semi-implicit steps may be off. */
static const double MOST = 0.5, SEMI_IMPLICIT = 0.1;

/* The same with all energy input and dissipation, if damping forces on fixed vertices with prescribed motion do work
 * that is not counted. A damper that drags a body along dissipates about as much as it adds. */
static const double MOST_DRAGGED = 10;

double sp_energy_rounding(const sp_mesh *mesh, double seconds)
{
    double low[3], high[3], size = 0, mass = 0;
    sp_mesh_box(mesh, low, high);
    for (int c = 0; c < 3; c++)
        size = fmax(size, high[c] - low[c]);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++)
        mass += mesh->materials[mesh->region[e]].density * sp_mesh_element_volume(mesh, e);

    const double speed = 1e-6 * size / seconds;
    return 0.5 * mass * speed * speed;
}

bool sp_energy_has_tension(const sp_mesh *mesh)
{
    for (int64_t m = 0; m < mesh->material_count; m++)
        if (mesh->materials[m].fibre_tension > 0)
            return true;
    return false;
}

void sp_energy_watch_begin(sp_energy_watch *watch, const double energy[SP_WORK_COUNT])
{
    memcpy(watch->first, energy, sizeof watch->first);
    memcpy(watch->last, energy, sizeof watch->last);
}

/* Kinetic and stored energy. Strain energy below zero is impossible for an elastic body and is counted as zero. Where
 * the force has no energy, the stored one is the work against it since the start. */
static double total(const sp_energy_rules *rules, const double energy[SP_WORK_COUNT])
{
    const double stored = energy[SP_WORK_STORED];
    return energy[SP_WORK_KINETIC] + (rules->stores_less ? stored : fmax(0, stored));
}

/* T + V = T₀ + V₀ + work − dissipation */
static void add_to_balance(sp_energy_watch *watch)
{
    const double *first = watch->first, *now = watch->last;
    const double energy = now[SP_WORK_KINETIC] + now[SP_WORK_STORED],
                 expected =
                     first[SP_WORK_KINETIC] + first[SP_WORK_STORED] + now[SP_WORK_EXTERNAL] - now[SP_WORK_DISSIPATED];
    watch->largest = fmax(watch->largest, fmax(fabs(energy), fabs(now[SP_WORK_EXTERNAL])));
    watch->drift = fmax(watch->drift, fabs(energy - expected));
    watch->balance = watch->largest > 0 ? watch->drift / watch->largest : 0;
}

void sp_energy_watch_add(sp_energy_watch *watch, const sp_energy_rules *rules, const double energy[SP_WORK_COUNT],
                         double bones, double time)
{
    const double *first = watch->first, *now = watch->last;
    memcpy(watch->last, energy, sizeof watch->last);
    add_to_balance(watch);
    watch->work = fmax(watch->work, now[SP_WORK_EXTERNAL]);
    watch->bones = fmax(watch->bones, bones);
    if (rules->unknown)
        return;

    /* what fibres have given counts as put in */
    const double below = rules->stores_less ? fmax(0, -now[SP_WORK_STORED]) : 0,
                 gained = total(rules, now) - total(rules, first) - now[SP_WORK_EXTERNAL],
                 put = first[SP_WORK_KINETIC] + fabs(first[SP_WORK_STORED]) + watch->work + watch->bones + below,
                 most = rules->dragged ? MOST_DRAGGED * (put + now[SP_WORK_DISSIPATED]) : MOST * put;
    if (gained > most && gained > rules->rounding && gained > watch->gained) {
        watch->gained = gained;
        watch->put = put;
        watch->time = time;
    }
}

void sp_energy_watch_judge(const sp_energy_watch *watch, const sp_energy_rules *rules, const char *semi_implicit,
                           sp_remarks *remarks)
{
    if (watch->gained > 0)
        sp_remarks_add(
            remarks,
            "at t = %g s the energy exceeds the work that was done by %.3g J, where %.3g J were put in: do not "
            "trust this motion; take smaller steps, damping, or another model",
            watch->time, watch->gained, watch->put);
    if (rules->semi_implicit && watch->balance > SEMI_IMPLICIT)
        sp_remarks_add(remarks,
                       "semi-implicit steps are %.0f %% off the energy balance: take smaller steps, or leave out %s",
                       100 * watch->balance, semi_implicit);
}
