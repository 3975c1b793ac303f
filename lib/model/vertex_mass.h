/* The mass of a body's free degrees of freedom, for systems of all vertices. Internal to lib/model. */
#ifndef SP_MODEL_VERTEX_MASS_H
#define SP_MODEL_VERTEX_MASS_H

#include "assembly/fe_space.h"
#include "model/supports.h"

/* Borrows all. */
typedef struct sp_vertex_mass {
    const sp_context *context;
    const sp_fe_space *body;
    const double *lumped;        /* [dof_count] kg; NULL: */
    const sp_sparse *consistent; /* kg */
} sp_vertex_mass;

/* y = M x [dof_count]. */
void sp_vertex_mass_times(const sp_vertex_mass *mass, const double *x, double *y);

/* The callback `rub` of sp_system for velocities v [dof_count] at q1: the kinetic energy [J] that friction takes. u and
 * w [3·vertices] and f [dof_count] are room. */
double sp_vertex_mass_apply_friction(const sp_vertex_mass *mass, const sp_supports *supports, const double *q1,
                                     double h, double *v, double *u, double *w, double *f);

#endif
