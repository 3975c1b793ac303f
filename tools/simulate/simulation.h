/* What simulate works on: a model of a mesh, its loads, and what is recorded of its motion. Everything ends the process where it fails. */
#ifndef TOOLS_SIMULATE_SIMULATION_H
#define TOOLS_SIMULATE_SIMULATION_H

#include "assembly/viscous.h"
#include "cubature/cubature.h"
#include "dynamics/integrate.h"
#include "dynamics/loads.h"
#include "formats/trajectory.h"
#include "tools/common/inputs.h"
#include "tools/common/materials.h"

enum simulate_model { MODEL_REDUCED, MODEL_CUBATURE, MODEL_DIRECT, MODEL_FULL, MODEL_LINEAR };
enum simulate_record { RECORD_AUTO, RECORD_COORDINATES, RECORD_ALL, RECORD_PROBES };

/* The options. */
typedef struct simulate_choice {
    tool_material_edits edits;
    tool_texts viscosity;
    int model, integrator, record, lumped;
    const char *basis, *polynomials, *cubature, *loads, *probes;
    int64_t r, steps, every, iterations;
    double step, beta, gamma, damping_mass, damping_stiffness, tolerance, gravity[3];
    bool semi_implicit, damping_mass_given, damping_stiffness_given, beta_given, gamma_given, tolerance_given, iterations_given, lumping_given;
} simulate_choice;

typedef struct simulation {
    const simulate_choice *choice;
    sp_context *context;
    tool_mesh mesh;
    tool_columns basis;
    sp_polynomials polynomials;
    sp_cubature cubature;
    sp_body body;
    sp_viscosity *viscosity; /* [regions]; NULL: none */
    sp_viscous viscous;      /* of the body, where its model is not polynomials */
    sp_system system;
    sp_loading loading;
    double damping_mass, damping_stiffness; /* 1/s and s */
    sp_pool pool;
    sp_trajectory_shape shape;
    int64_t r;
    double *u, *udot; /* recorded points; all vertices of a full model */
    double *work;     /* [3·vertices] */
    double estimate;  /* the largest since the last recorded frame */
} simulation;

/* Whether the coordinates are those of a basis. */
static inline bool simulation_in_basis(const simulate_choice *choice)
{
    return choice->model <= MODEL_DIRECT;
}

/* Reads what the model is made of and checks that it belongs together; then makes the system and its loads. */
void simulation_read(simulation *s);
void simulation_make(simulation *s);
void simulation_free(simulation *s);

/* Call after every step: keeps the estimate of the force's error, where the model has one. */
void simulation_estimate(simulation *s, const sp_integrator *integrator);

/* Finds out what is recorded, and records the integrator's state with its energies. */
void simulation_choose_record(simulation *s);
void simulation_record(simulation *s, sp_integrator *integrator, sp_trajectory_writer *trajectory, double energy[SP_WORK_COUNT]);

#endif
