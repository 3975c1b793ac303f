/* The command-line options of the programs that run models (simulate, simfull, simscene, simvalidate), and the tables
 * of options that several of them have. The tables have a base: a simulate_choice. */
#ifndef TOOLS_SIMULATE_OPTIONS_H
#define TOOLS_SIMULATE_OPTIONS_H

#include "integrate/integrate.h"
#include "model/model.h"
#include "tools/common/materials.h"

#include <assert.h>

#define SIMULATE_RECORDS "coordinates|all|probes"
enum simulate_record { RECORD_COORDINATES, RECORD_ALL, RECORD_PROBES };

typedef struct simulate_choice {
    tool_material_edits edits;
    tool_texts viscosity;
    int model; /* enum sp_model_kind */
    int integrator, record, lumped, jacobian;
    const char *basis, *polynomials, *cubature, *loads, *probes, *checkpoint, *activation, *reactions, *certificate,
        *damping_times, *frame, *skin, *skeleton;
    int64_t r, steps, every, iterations, halvings;
    double limit; /* of the estimate of the certificate; 0: none */
    double step, beta, gamma, damping_mass, damping_stiffness, tolerance, gravity[3];
    bool correct; /* displacements by mode acceleration */
    bool record_reactions;
    bool partial; /* only the part in the checkpoint */
    bool warp;    /* modal warping */
    bool semi_implicit, steps_given, every_given, damping_mass_given, damping_stiffness_given, beta_given,
        tolerance_given, iterations_given, lumping_given;
} simulate_choice;

/* Returns true if the coordinates are those of a basis. */
static inline bool simulate_in_basis(const simulate_choice *choice)
{
    return sp_model_kind_reduced((enum sp_model_kind)choice->model);
}

/* The words of --model for reduced-order models; simcurve has the first three. */
#define SIMULATE_REDUCED "reduced|cubature|galerkin|modal"
static_assert(SP_MODEL_POLYNOMIALS == 0 && SP_MODEL_CUBATURE == 1 && SP_MODEL_GALERKIN == 2 && SP_MODEL_MODAL == 3,
              "the words of --model are in the order of enum sp_model_kind");

/* The words of --integrator, which is in a table of each program with the methods for its models; scenes have the first
 * two. A word that a program has behind them has the number SIMULATE_OWN_INTEGRATOR. */
#define SIMULATE_IMPLICIT "newmark|energy|central|static|euler|bdf2"
#define SIMULATE_IN_SCENES "newmark|energy"
enum { SIMULATE_OWN_INTEGRATOR = SP_BDF2 + 1 };
static_assert(SP_NEWMARK == 0 && SP_ENERGY == 1 && SP_CENTRAL == 2 && SP_STATIC == 3 && SP_EULER == 4 && SP_BDF2 == 5,
              "the words of --integrator are in the order of enum sp_integrator_kind");
#define SIMULATE_IMPLICIT_HELP                                                                                         \
    "newmark, euler, bdf2: implicit; energy: implicit, conserves energy exactly; central: explicit central "           \
    "differences; static: equilibrium under the loads of each step"

/* What --help adds to "static" where --steps is then 1 by default. */
#define SIMULATE_ONE_STEP_HELP ", a single one if they are constant"

/* --dt, --steps, --every; from SIMULATE_STEP_FIRST on those of Newmark's method, and --tolerance and --iterations of
 * Newton's method; --halvings. All refer to --integrator. */
enum {
    SIMULATE_MODEL_COUNT = 5,
    SIMULATE_STEP_FIRST = 3,
    SIMULATE_TIME_COUNT = 8,
    SIMULATE_SUBSTEP_COUNT = 1,
    SIMULATE_LOAD_COUNT = 4,
    SIMULATE_KEEP_COUNT = 2
};
extern const tool_option simulate_time_options[SIMULATE_TIME_COUNT];
extern const tool_option simulate_substep_options[SIMULATE_SUBSTEP_COUNT];

/* --loads, --gravity and Rayleigh damping. */
extern const tool_option simulate_load_options[SIMULATE_LOAD_COUNT];

/* The tables of these options for one motion, by the address of its simulate_choice. */
#define SIMULATE_MOTION_TABLES(choice)                                                                                 \
    {.title = "Time integration", .options = simulate_time_options, .count = SIMULATE_TIME_COUNT, .base = (choice)},   \
        {.title = "Time integration",                                                                                  \
         .options = simulate_substep_options,                                                                          \
         .count = SIMULATE_SUBSTEP_COUNT,                                                                              \
         .base = (choice)},                                                                                            \
    {                                                                                                                  \
        .title = "Loads and damping", .options = simulate_load_options, .count = SIMULATE_LOAD_COUNT, .base = (choice) \
    }

/* --model of a reduced-order model, its files, and --rank. */
extern const tool_option simulate_model_options[SIMULATE_MODEL_COUNT];

/* --checkpoint, --partial. */
extern const tool_option simulate_keep_options[SIMULATE_KEEP_COUNT];

/* Rejects values of --beta that the integrator cannot use, and --partial without --checkpoint. */
void simulate_check_options(const simulate_choice *choice);

/* The integrator that the options describe. skeleton: NULL for none. */
sp_integrator_parameters simulate_integration(const simulate_choice *choice, double damping_mass,
                                              double damping_stiffness, struct sp_skeleton *skeleton);

#endif
