/* A body in motion, as the observers of a run see it: the model with its mesh, the loads and the damping of
 *
 *     M (q̈ + αq̇) + β K(q) q̇ + D(q) q̇ + f(q) = F(t),
 *
 * and the integrator that takes the steps. The structure borrows all that it points to, which must outlive it. */
#ifndef SP_RUN_BODY_H
#define SP_RUN_BODY_H

#include "base/memory.h"
#include "integrate/integrate.h"
#include "model/model.h"

typedef struct sp_run_body {
    sp_context *context;
    const sp_mesh *mesh;
    sp_fe_space *space;
    const sp_model *model;
    int64_t load_count;
    const sp_load *loads;                   /* [load_count] */
    double gravity[3];                      /* m/s² */
    double damping_mass, damping_stiffness; /* α in 1/s, β in s */
    const sp_viscosity *viscosity;          /* [regions]; NULL: none */
    bool statics;                           /* equilibria: no inertia and no damping */
    double step;                            /* s */
    sp_integrator *integrator;
} sp_run_body;

/* 1 if gravity acts at a time in s, else 0: there is none yet at the start of statics. */
double sp_run_body_gravity_share(const sp_run_body *body, double time);

/* The part of a load that acts at a time; in statics that of the step that ends then (sp_load_set_at_ends). */
double sp_run_body_load_share(const sp_run_body *body, const sp_load *load, double time);

/* The forces of each load at its full size on all vertices [3·vertices, loads] by columns, from the pool. Springs,
 * whose force depends on the displacement, have none. */
int sp_run_body_load_forces(const sp_run_body *body, sp_pool *pool, double **forces) SP_MUST_USE;

/* The masses of the vertices [vertices] in kg of a model with a lumped mass, from the pool; NULL for the consistent
 * mass. */
int sp_run_body_vertex_masses(const sp_run_body *body, sp_pool *pool, double **masses) SP_MUST_USE;

/* product [3·vertices] = M field, with these masses. */
void sp_run_body_mass_times(const sp_run_body *body, const double *masses, const double *field, double *product);

/* q̈ + αq̇ [r] of the equation of a reduced-order model under the loads at the integrator's time, which may have
 * accelerations for other times or none; 0 in statics. work: [2r]. SP_NUMERICAL if the mass is not positive definite.
 */
int sp_run_body_accelerate(const sp_run_body *body, double *work, double *acceleration) SP_MUST_USE;

#endif
