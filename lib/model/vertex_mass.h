/* The mass matrix of a body's free degrees of freedom, for full-order systems. Internal to lib/model. */
#ifndef SP_MODEL_VERTEX_MASS_H
#define SP_MODEL_VERTEX_MASS_H

#include "assembly/fe_space.h"
#include "model/supports.h"

/* All members are borrowed. */
typedef struct sp_vertex_mass {
    const sp_context *context;
    const sp_fe_space *body;
    const double *lumped;        /* [dof_count] kg; NULL: */
    const sp_sparse *consistent; /* kg */
} sp_vertex_mass;

/* y = M x [dof_count]. */
void sp_vertex_mass_times(const sp_vertex_mass *mass, const double *x, double *y);

/* The callback `apply_friction` of sp_vertex_system for velocities v [dof_count] at q1: returns the kinetic energy [J]
 * that friction dissipates. u and w [3·vertices] and f [dof_count] are scratch. */
double sp_vertex_mass_apply_friction(const sp_vertex_mass *mass, const sp_supports *supports, const double *q1,
                                     double h, double *v, double *u, double *w, double *f);

#endif
