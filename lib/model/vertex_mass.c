#include "model/vertex_mass.h"

void sp_vertex_mass_times(const sp_vertex_mass *mass, const double *x, double *y)
{
    if (mass->lumped)
        for (int64_t i = 0; i < mass->body->dof_count; i++)
            y[i] = mass->lumped[i] * x[i];
    else
        sp_sparse_times(mass->context, mass->consistent, 1, x, y);
}

static double kinetic(const sp_vertex_mass *mass, const double *v, double *f)
{
    double energy = 0;

    sp_vertex_mass_times(mass, v, f);
    for (int64_t i = 0; i < mass->body->dof_count; i++)
        energy += 0.5 * v[i] * f[i];
    return energy;
}

double sp_vertex_mass_apply_friction(const sp_vertex_mass *mass, const sp_supports *supports, const double *q1,
                                     double h, double *v, double *u, double *w, double *f)
{
    sp_fe_space_scatter(mass->body, q1, u);
    sp_fe_space_scatter(mass->body, v, w);

    /* What friction dissipates is the loss of kinetic energy, ½ vᵀ M v before and after. */
    const double before = kinetic(mass, v, f);
    sp_supports_apply_friction(supports, u, h, w);
    sp_fe_space_gather(mass->body, w, v);
    return before - kinetic(mass, v, f);
}
