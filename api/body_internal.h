/* What a body of the public library consists of. */
#ifndef SP_API_BODY_INTERNAL_H
#define SP_API_BODY_INTERNAL_H

#include "api/error.h"
#include "api/inputs.h"
#include "integrate/integrate.h"
#include "model/model.h"
#include "run/energy_watch.h"
#include "run/run.h"

#include <supple/body.h>

/* The model with what it is made of, for one set of materials, loads and gravity. It stays where it is, since its parts
 * point to each other. */
typedef struct body_model {
    sp_fe_space space;
    bool has_space;
    sp_model model;
    sp_external_loads loads; /* those of the model: gravity and the file of loads */
} body_model;

struct supple_body {
    sp_context context;
    sp_source source;
    sp_pool pool;
    char *paths[4]; /* of supple_body_files */
    enum sp_model_kind kind;
    sp_mesh_input mesh;
    sp_columns_input basis;
    sp_polynomials polynomials;
    sp_cubature cubature;
    int64_t r;
    double gravity[3];
    sp_pool load_pool; /* of the file of loads */
    int64_t load_count;
    sp_load *loads;
    uint64_t loads_sum; /* of the text of that file; 0 without one */
    body_model *now;
    body_model *unloaded; /* for supple_body_evaluate: another evaluation at other coordinates would change the last
                             bits of the next step; NULL until it is needed */
    /* loads that were set */
    double *vertex_force, *generalized_force; /* [r] */
    double *acting_force;                     /* [r] their sum that the integrator knows of */
    sp_list springs;                          /* of sp_spring, that were set */
    sp_list acting;                           /* of sp_spring, borrowed by the system: those and the ones of the file
                                                 that act now; its capacity is enough for all */
    bool springs_changed;                     /* since the last step */
    int64_t stiffened;
    sp_external_loads external; /* of the integrator */
    double damping[2];          /* of the motion */
    sp_integrator_parameters parameters;
    sp_integrator *integrator; /* NULL: not started */
    sp_run run;                /* its steps */
    sp_energy_watch energy;    /* looked at in every 16th step */
    double slow_energy;        /* J s²: sp_energy_rounding in one second, which the mesh decides; in t seconds it is
                                  divided by t² */
    double *q, *qdot;          /* [r] of the integrator, at addresses that stay the same */
    double *unit, *product;    /* [r] scratch */
};

/* A model of the present materials. loads: with gravity and the file of loads. */
int sp_body_make_model(supple_body *body, bool loads, body_model **model) SP_MUST_USE;
void sp_body_model_free(body_model *model); /* NULL is allowed */

/* Whether `count` vertices are those of the body's mesh; and f [r] = Uᵀ F of forces [count, 3] on them. */
supple_status sp_body_check_vertices(const char *function, const supple_body *body, int64_t count,
                                     const int64_t *vertex) SUPPLE_MUST_USE;
void sp_body_project(const supple_body *body, int64_t count, const int64_t *vertex, const double *force, double *f);

/* The parameters of an integrator that the caller of a function describes, with the damping of the mesh where it asks
 * for that. */
supple_status sp_body_integration(const char *function, const supple_body *body, const supple_integration *how,
                                  sp_integrator_parameters *parameters) SUPPLE_MUST_USE;

/* Makes a model of the present materials, loads and gravity in place of `now`; a motion goes on. After a failure
 * everything is as it was. */
int sp_body_remake(supple_body *body) SP_MUST_USE;

/* Copies the coordinates and rates of the integrator, if there is one, to body->q and body->qdot. To be called after
 * every change of the integrator. */
void sp_body_show(supple_body *body);

/* Saves or loads what the next steps depend on (base/state.h), of a body that has a motion. */
void sp_body_visit(supple_body *body, sp_state *state);

/* Before a call that may fail half-way: keeps the state of the motion, if there is one; false: out of memory. Returns
 * to it if the call has failed, and frees what was kept. */
bool sp_body_keep(supple_body *body, sp_state *kept) SP_MUST_USE;
void sp_body_settle(supple_body *body, bool failed, sp_state *kept);

/* The integrator, which has just evaluated the loads, knows of the forces that are set now. */
void sp_body_forces_act(supple_body *body);

/* Sets body->external: the loads of the model with those that were set. */
void sp_body_connect(supple_body *body);

/* Makes room for so many acting springs; those that act stay. */
int sp_body_reserve_springs(supple_body *body, int64_t count) SP_MUST_USE;

/* Saves or loads the springs (base/state.h). To be called after the load set is visited and before the integrator
 * is. */
void sp_body_visit_springs(supple_body *body, sp_state *state);

#endif
