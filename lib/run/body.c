#include "run/body.h"

#include "model/load_stiffness.h"
#include "model/loads.h"

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

int sp_run_body_load_forces(const sp_run_body *body, sp_pool *pool, double **forces)
{
    const int64_t rows = 3 * body->mesh->vertex_count;
    *forces = sp_pool_new(pool, rows * body->load_count, sizeof **forces);
    SP_PASS(sp_allocated(body->context, *forces));
    for (int64_t l = 0; l < body->load_count; l++)
        SP_PASS(sp_load_distribute(body->context, body->space, &body->loads[l], *forces + l * rows));
    return SP_OK;
}

int sp_run_body_vertex_masses(const sp_run_body *body, sp_pool *pool, double **masses)
{
    *masses = NULL;
    if (!body->model->system.lumped)
        return SP_OK;
    *masses = sp_pool_new(pool, body->mesh->vertex_count, sizeof **masses);
    SP_PASS(sp_allocated(body->context, *masses));
    sp_fe_space_vertex_mass(body->space, true, *masses);
    return SP_OK;
}

void sp_run_body_mass_times(const sp_run_body *body, const double *masses, const double *field, double *product)
{
    const int64_t rows = 3 * body->mesh->vertex_count;
    if (!masses) {
        memset(product, 0, (size_t)rows * sizeof *product);
        sp_fe_space_mass_times(body->context, body->space, 3, field, product);
        return;
    }
    for (int64_t i = 0; i < rows; i++)
        product[i] = masses[i / 3] * field[i];
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
