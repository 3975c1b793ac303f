/* What simulate works on: a model of a mesh, its loads, and what is recorded of its motion. Everything ends the process
 * where it fails. */
#ifndef TOOLS_SIMULATE_SIMULATION_H
#define TOOLS_SIMULATE_SIMULATION_H

#include "assembly/viscous.h"
#include "base/state.h"
#include "cubature/cubature.h"
#include "formats/trajectory.h"
#include "integrate/integrate.h"
#include "model/loads.h"
#include "model/models.h"
#include "tools/common/inputs.h"
#include "tools/common/materials.h"
#include "tools/simulate/vertices.h"

enum simulate_model {
    MODEL_REDUCED,
    MODEL_CUBATURE,
    MODEL_GALERKIN,
    MODEL_MODAL,
    MODEL_FULL,
    MODEL_LINEAR,
    MODEL_WARP,
    MODEL_CONJAC
};
enum simulate_record { RECORD_AUTO, RECORD_COORDINATES, RECORD_ALL, RECORD_PROBES };

/* The options. */
typedef struct simulate_choice {
    tool_material_edits edits;
    tool_texts viscosity;
    int model, integrator, record, lumped, jacobian;
    const char *basis, *polynomials, *cubature, *loads, *probes, *checkpoint;
    int64_t r, steps, every, iterations, halvings;
    double step, beta, gamma, damping_mass, damping_stiffness, tolerance, gravity[3];
    bool partial; /* only what the checkpoint has */
    bool semi_implicit, damping_mass_given, damping_stiffness_given, beta_given, gamma_given, tolerance_given,
        iterations_given, halvings_given, lumping_given, jacobian_given;
} simulate_choice;

/* The entries of the options' table that are the same for every tool that runs models: time, then forces and how steps
 * are solved. A tool that asks whether the steps were given records them as null where they were not. Integrators are
 * named in the order of enum sp_integrator_kind; the last ones may be left out. */
#define SIMULATE_TIME_OPTIONS(chosen, integrators, integrators_help, steps_given)                                        \
    {"integrator",                                                                                                       \
     0,                                                                                                                  \
     TOOL_CHOICE,                                                                                                        \
     &(chosen).integrator,                                                                                               \
     NULL,                                                                                                               \
     "newmark",                                                                                                          \
     integrators,                                                                                                        \
     .help = "newmark, euler, bdf2: implicit; energy: implicit, conserves energy exactly; central: explicit; static: "   \
             "equilibrium under the loads of each step" integrators_help},                                               \
        {"dt", 0, TOOL_REAL, &(chosen).step, "S", "0.01", .low = 1e-300, .high = 1e300, .help = "time step in seconds"}, \
    {                                                                                                                    \
        "steps", 0, TOOL_INTEGER, &(chosen).steps, "N", "100", .low = 1, .high = 1e12, .help = "number of steps",        \
                                                               .given = steps_given                                      \
    }
#define SIMULATE_FORCE_OPTIONS(chosen)                                                                                 \
    {"loads", 0, TOOL_INPUT, &(chosen).loads, "CSV", .help = "loads: t0,t1,kind,id,fx,fy,fz"},                         \
        {"gravity", 0,       TOOL_VECTOR, (chosen).gravity,                                                            \
         "X,Y,Z",   "0,0,0", .count = 3,  .help = "acceleration of gravity, m/s2"},                                    \
        {"damping-mass",                                                                                               \
         0,                                                                                                            \
         TOOL_REAL,                                                                                                    \
         &(chosen).damping_mass,                                                                                       \
         "A",                                                                                                          \
         NULL,                                                                                                         \
         .low = 0,                                                                                                     \
         .high = 1e300,                                                                                                \
         .help = "alpha of Rayleigh damping alpha M + beta K(q), 1/s (default: the mesh's)",                           \
         .given = &(chosen).damping_mass_given},                                                                       \
        {"damping-stiffness",                                                                                          \
         0,                                                                                                            \
         TOOL_REAL,                                                                                                    \
         &(chosen).damping_stiffness,                                                                                  \
         "B",                                                                                                          \
         NULL,                                                                                                         \
         .low = 0,                                                                                                     \
         .high = 1e300,                                                                                                \
         .help = "beta, s (default: the mesh's)",                                                                      \
         .given = &(chosen).damping_stiffness_given},                                                                  \
        {"viscosity",                                                                                                  \
         0,                                                                                                            \
         TOOL_TEXTS,                                                                                                   \
         &(chosen).viscosity,                                                                                          \
         "[REGION=]PHI,PSI",                                                                                           \
         .help = "damping by strain rate, the stress PHI tr(E') I + 2 PSI E', Pa s, of one region or all; reduced: "   \
                 "polycoef --by-constant"},                                                                            \
        {"semi-implicit", 0, TOOL_FLAG, &(chosen).semi_implicit,                                                       \
         .help = "one Newton iteration per Newmark step, as in the papers"},                                           \
        {"beta",                                                                                                       \
         0,                                                                                                            \
         TOOL_REAL,                                                                                                    \
         &(chosen).beta,                                                                                               \
         "X",                                                                                                          \
         NULL,                                                                                                         \
         .low = 0,                                                                                                     \
         .high = 1e6,                                                                                                  \
         .help = "Newmark's beta (default 0.25)",                                                                      \
         .given = &(chosen).beta_given},                                                                               \
        {"gamma", 0,        TOOL_REAL, &(chosen).gamma,           "X",                                                 \
         "0.5",   .low = 0, .high = 1, .help = "Newmark's gamma", .given = &(chosen).gamma_given},                     \
        {"tolerance",                                                                                                  \
         0,                                                                                                            \
         TOOL_REAL,                                                                                                    \
         &(chosen).tolerance,                                                                                          \
         "X",                                                                                                          \
         NULL,                                                                                                         \
         .low = 1e-15,                                                                                                 \
         .high = 1,                                                                                                    \
         .help = "Newton: residual by the largest force term (default 1e-10, energy 1e-12)",                           \
         .given = &(chosen).tolerance_given},                                                                          \
        {"iterations",                                                                                                 \
         0,                                                                                                            \
         TOOL_INTEGER,                                                                                                 \
         &(chosen).iterations,                                                                                         \
         "N",                                                                                                          \
         "50",                                                                                                         \
         .low = 1,                                                                                                     \
         .high = 10000,                                                                                                \
         .help = "Newton iterations per step at most",                                                                 \
         .given = &(chosen).iterations_given},                                                                         \
        {"halvings",                                                                                                   \
         0,                                                                                                            \
         TOOL_INTEGER,                                                                                                 \
         &(chosen).halvings,                                                                                           \
         "N",                                                                                                          \
         "6",                                                                                                          \
         .low = 0,                                                                                                     \
         .high = 20,                                                                                                   \
         .help = "a step that does not converge is halved, at most so many times",                                     \
         .given = &(chosen).halvings_given},                                                                           \
    {                                                                                                                  \
        "lumping", 0, TOOL_CHOICE, &(chosen).lumped, NULL, "consistent", "consistent|lumped",                          \
            .help = "mass matrix of a model of every vertex", .given = &(chosen).lumping_given                         \
    }

/* Usage errors for options of these tables that the integrator has no use for. */
void simulation_refuse_idle(const simulate_choice *choice);

typedef struct simulation {
    const simulate_choice *choice;
    const struct simulation
        *shared; /* whose mesh, body, materials, loads, basis and polynomials it uses; must outlive it. NULL: its own */
    sp_context *context;
    tool_mesh mesh;
    tool_columns basis;
    sp_polynomials polynomials;
    sp_cubature cubature;
    sp_fe_space own_body, *body;
    sp_viscosity *viscosity; /* [regions]; NULL: none */
    sp_viscous viscous;      /* of the body, where its model is not polynomials */
    sp_system system;
    int64_t load_count;
    sp_load *loads;
    sp_load_set loading;
    double damping_mass, damping_stiffness; /* 1/s and s */
    sp_pool pool;
    sp_trajectory_layout shape;
    int64_t r;
    const struct simulation *before; /* of simulations that follow each other as a mesh is cut: the one before, whose
                                        files it has too; NULL: the first */
    const int64_t *origin;           /* [vertices] the vertex of the mesh before that each one is, or is a copy of */
    const struct simulation *last;   /* the one whose vertices are recorded; NULL: itself */
    const int64_t *vertex_of;        /* [its vertices] which of this mesh each one is; NULL: the same */
    double *u, *udot;                /* recorded points; all vertices of a full model */
    double *work;                    /* [3·vertices] */
    double *kept_q;                  /* [2 r] of a frame that is recorded again; NULL: none was */
    simulate_vertices vertices;      /* its choice: NULL where a tool has no such options */
    double growth;                   /* 1/s, of small motions about rest where the force has no energy */
    double estimate[SP_NORMS];       /* the largest since the last recorded frame */
} simulation;

/* Whether the coordinates are those of a basis. */
static inline bool simulation_in_basis(const simulate_choice *choice)
{
    return choice->model <= MODEL_MODAL;
}

/* Reads what the model is made of, the body included, and checks that it belongs together; then makes the system and
 * its loads. A simulation that others share may be read with a basis and polynomials for them, whatever its own model
 * is. */
void simulation_read(simulation *s);

/* Refuses polynomials or a cubature (of `path`) with the consistent mass for a basis that is orthonormal in the lumped
 * one. */
void simulation_check_lumping(const char *path, bool lumped, bool basis_lumped, const char *basis);
void simulation_make(simulation *s);
sp_integrator_parameters simulation_parameters(const simulation *s);

/* Ends the program where a step failed: statics of a body or piece that nothing holds says so, other solvers name the
 * worst element. */
void simulation_check_step(const simulation *s, int status);

/* Gives back what steps need; the mesh and what was read of files stay until simulation_free. */
void simulation_end(simulation *s);
void simulation_free(simulation *s);

/* Call after every step: keeps the estimates of the force's error, where the model has one. */
void simulation_estimate(simulation *s, const sp_integrator *integrator);

/* Finds out what is recorded, and records the integrator's state with its energies; what is recorded is saved in `kept`
 * (NULL: it is not). */
void simulation_choose_record(simulation *s);
void simulation_record(simulation *s, sp_integrator *integrator, sp_trajectory_writer *trajectory,
                       double energy[SP_WORK_COUNT], sp_state *kept);

/* Records a frame that was saved. */
void simulation_record_again(simulation *s, sp_trajectory_writer *trajectory, sp_state *kept, double *time);

#endif
