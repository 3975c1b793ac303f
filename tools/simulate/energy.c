#include "tools/simulate/energy.h"

#include <math.h>
#include <string.h>

/* Energy that nothing put in, by the most that was put in, from which on a run says so; and the part of the largest
 * energy that semi-implicit steps may be off. */
static const double MOST = 0.5, SEMI_IMPLICIT = 0.1;

/* The same with all energy input and dissipation, if damping forces on fixed vertices with prescribed motion do work
 * that is not counted. A damper that drags a body along dissipates about as much as it adds. */
static const double MOST_DRAGGED = 10;

/* What motion of a millionth of the body's size in the whole run would have: less is rounding. */
static double rounding(const simulation *s)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    double low[3], high[3], size = 0, mass = 0;
    sp_mesh_box(mesh, low, high);
    for (int c = 0; c < 3; c++)
        size = fmax(size, high[c] - low[c]);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++)
        mass += mesh->materials[mesh->region[e]].density * sp_mesh_element_volume(mesh, e);
    const double speed = 1e-6 * size / (s->choice->step * (double)s->choice->steps);
    return 0.5 * mass * speed * speed;
}

/* Where the balance says nothing of the steps: statics has none, nor have forces without an energy of fibres with a
 * tension from outside. */
static bool unknown(const simulation *s)
{
    return s->choice->integrator == SP_STATIC || (s->model.system.nonconservative && s->choice->activation);
}

/* Returns true if damping forces act on fixed vertices with prescribed motion. */
static bool dragged(const simulation *s)
{
    const simulate_vertices_choice *c = s->vertices.choice;
    return (s->damping_stiffness > 0 || s->viscosity) && c &&
           (c->prescribe.count || c->prescribe_vertices || c->skeleton);
}

/* Returns true if the model can store less than nothing: fibres with a tension give energy when they shorten. */
static bool stores_less(const simulation *s)
{
    const sp_mesh *mesh = &s->mesh.mesh;
    bool tension = s->choice->activation != NULL;
    for (int64_t m = 0; m < mesh->material_count; m++)
        tension |= mesh->materials[m].fibre_tension > 0;
    return tension && !s->model.system.nonconservative;
}

/* Kinetic and stored energy. All other models store nothing at rest and more than that elsewhere: less than 0 is made
 * of nothing, and none of it is stored. Where the force has no energy, this is the work against it since the start. */
static double prescribed_energy(const simulation *s, const double energy[SP_WORK_COUNT])
{
    return energy[SP_WORK_KINETIC] + (stores_less(s) ? energy[SP_WORK_STORED] : fmax(0, energy[SP_WORK_STORED]));
}

void energy_begin(simulate_energy *energy)
{
    memcpy(energy->last, energy->first, sizeof energy->last);
}

void energy_watch(const simulation *s, simulate_energy *energy, double time)
{
    const double *first = energy->first, *now = energy->last;
    const double total = now[SP_WORK_KINETIC] + now[SP_WORK_STORED],
                 expected =
                     first[SP_WORK_KINETIC] + first[SP_WORK_STORED] + now[SP_WORK_EXTERNAL] - now[SP_WORK_DISSIPATED];
    energy->largest = fmax(energy->largest, fmax(fabs(total), fabs(now[SP_WORK_EXTERNAL])));
    energy->drift = fmax(energy->drift, fabs(total - expected));
    energy->balance = energy->largest > 0 ? energy->drift / energy->largest : 0;
    energy->work = fmax(energy->work, now[SP_WORK_EXTERNAL]);
    if (s->vertices.skeleton) {
        double kinetic;
        sp_skeleton_energies(s->vertices.skeleton, time, &kinetic, NULL);
        energy->bones = fmax(energy->bones, kinetic);
    }
    if (unknown(s))
        return;
    const double prescribed = prescribed_energy(s, now),
                 gained = prescribed - prescribed_energy(s, first) - now[SP_WORK_EXTERNAL],
                 below = stores_less(s) ? fmax(0, -now[SP_WORK_STORED]) : 0; /* given by fibres */
    const double put = first[SP_WORK_KINETIC] + fabs(first[SP_WORK_STORED]) + energy->work + energy->bones + below,
                 most = dragged(s) ? MOST_DRAGGED * (put + now[SP_WORK_DISSIPATED]) : MOST * put;
    if (gained > most && gained > rounding(s) && gained > energy->gained) {
        energy->gained = gained;
        energy->put = put;
        energy->time = time;
    }
}

void energy_judge(const simulation *s, simulate_energy *energy)
{
    if (energy->gained > 0)
        tool_warn(s->mesh.path,
                  "at t = %g s the motion has %.3g J that nothing put in, beside %.3g J that were: it is not to be "
                  "trusted; take smaller steps, damping, or another model",
                  energy->time, energy->gained, energy->put);
    if (s->choice->semi_implicit && energy->balance > SEMI_IMPLICIT)
        tool_warn(
            s->mesh.path,
            "semi-implicit steps are %.0f %% off the energy balance: take smaller steps, or leave out --semi-implicit",
            100 * energy->balance);
}
