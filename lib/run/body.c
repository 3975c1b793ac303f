#include "run/body.h"

#include "model/load_stiffness.h"

#include <string.h>

double sp_run_body_gravity_share(const sp_run_body *body, double time)
{
    return body->statics && time == 0 ? 0 : 1;
}

double sp_run_body_load_share(const sp_run_body *body, const sp_load *load, double time)
{
    const double late = 1e-9 * body->step; /* rounding of k h */
    if (body->statics)
        return sp_load_static_share(load, time, body->step);
    return load->start < time + late && time < load->end - late
               ? sp_course_at(&load->course, load->end - load->start, time - load->start)
               : 0;
}

int sp_run_body_accelerate(const sp_run_body *body, double *work, double *acceleration)
{
    const sp_load_set *set = &body->model->loads;
    const sp_system *system = &body->model->system;
    const int64_t r = body->model->r;
    const double time = sp_integrator_time(body->integrator), *q = sp_integrator_q(body->integrator);
    double *force = work, *part = work + r;

    memset(acceleration, 0, (size_t)r * sizeof *acceleration);
    if (body->statics)
        return SP_OK;

    /* M (q̈ + αq̇) = F − f(q) − β K(q) q̇ */
    system->force(system->self, q, part);
    for (int64_t i = 0; i < r; i++)
        force[i] = sp_run_body_gravity_share(body, time) * set->gravity[i] - part[i];
    for (int64_t l = 0; l < set->force_count; l++)
        for (int64_t i = 0; i < r; i++)
            force[i] += sp_run_body_load_share(body, set->loads[l], time) * set->columns[l * r + i];

    if (body->damping_stiffness > 0) {
        system->tangent_times(system->self, q, sp_integrator_v(body->integrator), part);
        for (int64_t i = 0; i < r; i++)
            force[i] -= body->damping_stiffness * part[i];
    }

    return system->mass_solve(system->self, force, acceleration);
}
