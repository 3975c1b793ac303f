/* Forces on single vertices of a body besides its elasticity: springs to points, and floor planes with penalty contact.
 * Every full-order system has them (model/system.h).
 *
 * A floor plane is the boundary of the half space n·x ≤ d. A vertex below it is pushed out with κ times its depth (κ is
 * per vertex, which represents a piece of the surface). A vertex that is below at the start of a step is also
 * constrained tangentially, by a spring of stiffness α κ to its position at that time (McAdams et al. 2011, κ((1 − α)
 * nnᵀ + αI)(x − x_s) with x_s taken at the start of the step; in Weidner et al. 2020 α = 0.1). The energy that this
 * spring has stored at the end of the step is dissipated.
 *
 * Friction follows Bridson, Fedkiw and Anderson 2002: after the step the tangential velocity is reduced by μ times the
 * change of the normal velocity by the plane's force in this step, h κ depth / m, down to zero. The positions of the
 * step are not changed, except in the linearly implicit method: with that, a body that sticks on a slope stays at rest;
 * with the other methods it creeps by h g sin · (its mass / the mass of the vertices in contact). */
#ifndef SP_MODEL_SUPPORTS_H
#define SP_MODEL_SUPPORTS_H

#include "assembly/fe_space.h"
#include "model/system.h"

typedef struct sp_ground {
    double normal[3]; /* n, of unit length */
    double offset;    /* d, m along the normalized n */
    double stiffness; /* κ, N/m, > 0 */
    double alpha;     /* α in [0, 1] */
    double friction;  /* μ, ≥ 0 */
} sp_ground;

typedef struct sp_supports {
    sp_pool pool;
    const sp_fe_space *body;
    int64_t spring_count;
    const sp_spring *springs; /* owned by the caller */
    int64_t ground_count;
    sp_ground *grounds;
    double *mass;      /* [vertices] lumped, kg; if there is friction */
    double *anchor;    /* [3·vertices, ground_count] x at the start of the step, if there are floor planes */
    bool *penetrating; /* [vertices, ground_count] the vertex was below the plane at the start of the step */
} sp_supports;

/* Starts without springs and floor planes. The body must outlive it. */
void sp_supports_new(const sp_fe_space *body, sp_supports *supports);
void sp_supports_free(sp_supports *supports);

/* SP_USAGE for invalid parameters of a floor plane (the normal is normalized here). */
int sp_supports_set_grounds(sp_context *context, sp_supports *supports, int64_t count,
                            const sp_ground *grounds) SP_MUST_USE;

/* Energy at u [3·vertices]; the internal force is added to f [dof_count] (NULL: energy only). */
double sp_supports_force(const sp_supports *supports, const double *u, double *f);

/* S += scale · stiffness at u, over the body's pattern. */
void sp_supports_stiffness(const sp_supports *supports, const double *u, double scale, sp_sparse *S);

/* y += stiffness at u times v, y [dof_count], v [3·vertices]: floor planes only, since springs do not damp. */
void sp_supports_grounds_times(const sp_supports *supports, const double *u, double scale, const double *v, double *y);

/* Work [J] of the internal force of springs and floor planes at u over displacements du [3·vertices] of fixed
 * components. */
double sp_supports_prescribed_work(const sp_supports *supports, const double *u, const double *du);

/* The callbacks `begin` and `apply_friction` of sp_vertex_system, with full displacements; v [3·vertices], of which
 * free components change. */
double sp_supports_begin(sp_supports *supports, const double *u);
void sp_supports_apply_friction(const sp_supports *supports, const double *u1, double h, double *v);

/* Saves or loads the anchors (base/state.h); springs are the caller's. */
void sp_supports_visit(sp_supports *supports, sp_state *state);

/* Returns true if a floor plane has friction. */
bool sp_supports_rough(const sp_supports *supports);

#endif
