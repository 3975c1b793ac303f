/* The data of a simulation: a model of a mesh, its loads, and the recorded quantities. All functions end the process on
 * failure. */
#ifndef TOOLS_SIMULATE_SIMULATION_H
#define TOOLS_SIMULATE_SIMULATION_H

#include "assembly/viscous.h"
#include "base/state.h"
#include "cubature/cubature.h"
#include "formats/trajectory.h"
#include "integrate/integrate.h"
#include "model/model.h"
#include "run/body.h"
#include "run/energy_watch.h"
#include "tools/common/inputs.h"
#include "tools/simulate/options.h"
#include "tools/simulate/vertices.h"

typedef struct simulation {
    const simulate_choice *choice;
    const struct simulation *shared; /* the simulation whose mesh, body, materials, loads, basis and polynomials it
                                        uses; must outlive it. NULL: its own */
    sp_context *context;
    tool_mesh mesh;
    tool_columns basis;
    sp_polynomials polynomials;
    sp_cubature cubature;
    sp_fe_space own_body, *body;
    sp_viscosity *viscosity; /* [regions]; NULL: none */
    sp_decay_times decay;    /* count 0: none */
    int64_t load_count;
    sp_load *loads;
    sp_model model;
    double damping_mass, damping_stiffness; /* 1/s and s */
    sp_pool pool;
    sp_trajectory_layout shape;
    int64_t r;
    const struct simulation *before; /* for consecutive simulations of a mesh that is cut: the previous one, whose files
                                        it shares; NULL: the first */
    const int64_t *origin;           /* [vertices] the vertex of the previous mesh that each one is, or is a copy of */
    const struct simulation *last;   /* the simulation whose vertices are recorded; NULL: itself */
    const int64_t *vertex_of;        /* [its vertices] the vertex of this mesh that each one is; NULL: the same */
    double *u, *udot;                /* recorded points; all vertices of a full-order model */
    const int64_t *point;            /* [shape.point_count] the recorded vertices in this mesh; NULL: all in order */
    double *kept_q;                  /* [2 r + 6 reaction_count] of a frame that is recorded again; NULL: none */
    simulate_vertices vertices;      /* its choice is NULL if a tool has no such options */
    struct simulate_warp *warp;      /* NULL: no modal warping */
    struct simulate_frame *frame;    /* NULL: the body is in no moving frame */
    struct simulate_skin *skin;      /* NULL: the body is on no skeleton */
} simulation;

/* Reads the files of the model, the body included, and checks that they belong together; then creates the system and
 * its loads. A simulation that others share may be read with a basis and polynomials for them, whatever its own model
 * is. */
void simulation_read(simulation *s);

/* The reduced-order part of the description of the model that simulation_make creates. */
sp_model_description simulation_description(const simulation *s);

void simulation_make(simulation *s);
sp_integrator_parameters simulation_parameters(const simulation *s);

/* The body as observers see it; its model must have been made. integrator NULL: it does not exist yet. */
sp_run_body simulation_body(const simulation *s, sp_integrator *integrator);

/* What is known of its energy before it moves. */
sp_energy_rules simulation_energy_rules(const simulation *s);

/* Ends the program if a step failed: statics reports an under-constrained body or piece, other solvers name the worst
 * element. */
void simulation_check_step(const simulation *s, int status);

/* Frees the data of steps; the mesh and the data read from files stay until simulation_free. */
void simulation_end(simulation *s);
void simulation_free(simulation *s);

/* What observers know of the present frame. */
typedef struct simulation_seen {
    struct sp_static_correction *correction; /* NULL: none */
    const double *energy;                    /* [SP_WORK_COUNT] J */
    const double *estimate;                  /* [SP_NORMS] the largest since the last recorded frame */
    const double *residual;                  /* [SP_CERTIFIED_COUNT] J; NULL: none */
    const double *reaction;                  /* NULL: none */
} simulation_seen;

/* Determines what is recorded, and records the integrator's state; recorded frames are saved in `kept` (NULL: not
 * saved). */
void simulation_choose_record(simulation *s);
void simulation_record(simulation *s, sp_integrator *integrator, sp_trajectory_writer *trajectory,
                       const simulation_seen *seen, sp_state *kept);

/* Records a frame that was saved. */
void simulation_record_again(simulation *s, sp_trajectory_writer *trajectory, sp_state *kept, double *time);

#endif
