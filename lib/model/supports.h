/* Forces on single vertices of a body, beside its elasticity: springs to points, and grounds that it may not sink into.
 * Every system of vertices has them (model/system.h).
 *
 * A ground is the half space n·x ≤ d. A vertex below it is pushed out with κ times its depth (κ for each vertex: a
 * vertex stands for a piece of the surface). One that is below at the start of a step is held back along the ground as
 * well, by a spring of α κ to where it was then (McAdams et al. 2011, κ((1 − α) nnᵀ + αI)(x − x_s) with x_s taken at
 * the start of the step; in Weidner et al. 2020 α = 0.1): what that spring has stored at the end of the step is lost.
 * Friction after Bridson, Fedkiw and Anderson 2002: after the step the velocity along the ground is shortened by μ
 * times what the ground's push of this step changes the velocity across it, h κ depth / m, down to zero. Positions of
 * the step stay, but those of the linearly implicit one: a body that sticks on a slope rests under that, and creeps by
 * h g sin · (its mass / that of what touches) under the others. */
#ifndef SP_MODEL_SUPPORTS_H
#define SP_MODEL_SUPPORTS_H

#include "assembly/fe_space.h"
#include "model/system.h"

typedef struct sp_ground {
    double normal[3]; /* n, of unit length */
    double offset;    /* d, m along n as it is made of unit length */
    double stiffness; /* κ, N/m, > 0 */
    double alpha;     /* α in [0, 1] */
    double friction;  /* μ, ≥ 0 */
} sp_ground;

typedef struct sp_supports {
    sp_pool pool;
    const sp_fe_space *body;
    int64_t spring_count;
    const sp_spring *springs; /* the caller's */
    int64_t ground_count;
    sp_ground *grounds;
    double *mass;   /* [vertices] lumped, kg; where there is friction */
    double *anchor; /* [3·vertices, ground_count] x at the start of the step, where there are grounds */
    bool *touching; /* [vertices, ground_count] below then */
} sp_supports;

/* Without springs and grounds. The body must outlive it. */
void sp_supports_new(const sp_fe_space *body, sp_supports *supports);
void sp_supports_free(sp_supports *supports);

/* SP_USAGE for grounds whose numbers make no sense (the normal is made of unit length). */
int sp_supports_set_grounds(sp_context *context, sp_supports *supports, int64_t count,
                            const sp_ground *grounds) SP_MUST_USE;

/* Energy at u [3·vertices]; the internal force is added to f [dof_count] (NULL: energy only). */
double sp_supports_force(const sp_supports *supports, const double *u, double *f);

/* S += scale · stiffness at u, over the body's pattern. */
void sp_supports_stiffness(const sp_supports *supports, const double *u, double scale, sp_sparse *S);

/* y += stiffness at u times v, y [dof_count], v [3·vertices]: grounds only; springs do not damp. */
void sp_supports_grounds_times(const sp_supports *supports, const double *u, double scale, const double *v, double *y);

/* Work [J] of the supports' internal force at u over displacements du [3·vertices] of held components. */
double sp_supports_prescribed_work(const sp_supports *supports, const double *u, const double *du);

/* The callbacks `begin` and `rub` of sp_system, with full displacements; v [3·vertices], of which free components
 * change. */
double sp_supports_begin(sp_supports *supports, const double *u);
void sp_supports_apply_friction(const sp_supports *supports, const double *u1, double h, double *v);

/* What is anchored (base/state.h); springs are the caller's. */
void sp_supports_visit(sp_supports *supports, sp_state *state);

/* Whether `rub` could do anything. */
bool sp_supports_rough(const sp_supports *supports);

#endif
