#include "tools/simulate/options.h"

#include "tools/common/checkpoint.h"

#define AT(member) .at = offsetof(simulate_choice, member)
#define GIVEN(member) .given_at = offsetof(simulate_choice, member)

const tool_option simulate_model_options[SIMULATE_MODEL_COUNT] = {
    {"model", 0, TOOL_CHOICE, AT(model), .standard = "reduced", .choices = SIMULATE_REDUCED,
     .help = "reduced: the cubic polynomials of polycoef; cubature: weighted elements (hyper-reduction); galerkin: the "
             "forces of all elements, projected on the basis; modal: mode superposition"},
    {"basis", 0, TOOL_INPUT, AT(basis), .argument = "FILE", .required = true,
     .help = "the reduced basis; the modes of a modal model"},
    {"poly", 0, TOOL_INPUT, AT(polynomials), .argument = "FILE", .only = "model=reduced",
     .help = "its polynomials, which polycoef made; a reduced model needs them"},
    {"cub", 0, TOOL_INPUT, AT(cubature), .argument = "FILE", .only = "model=cubature", .chooses = "model=cubature",
     .help = "its elements and weights, which cubature made; without --model it is then cubature"},
    {"rank", 'r', TOOL_INTEGER, AT(r), .argument = "R", .low = 1, .high = 100000,
     .help = "use the first R columns of the basis (default: all)"},
};

const tool_option simulate_time_options[SIMULATE_TIME_COUNT] = {
    {"dt", 0, TOOL_REAL, AT(step), .argument = "S", .standard = "0.01", .low = 1e-300, .high = 1e300,
     .help = "time step, s"},
    {"steps", 0, TOOL_INTEGER, AT(steps), .argument = "N", .standard = "100", .low = 1, .high = 1e12,
     .help = "number of steps", GIVEN(steps_given)},
    {"every", 0, TOOL_INTEGER, AT(every), .argument = "N", .standard = "1", .low = 1, .high = 1e12,
     .help = "record the steps whose number is a multiple of N, and the last one", GIVEN(every_given)},
    {"semi-implicit", 0, TOOL_FLAG, AT(semi_implicit), .only = "integrator=newmark",
     .help = "one Newton iteration in each step, as in the papers"},
    {"beta", 0, TOOL_REAL, AT(beta), .argument = "X", .only = "integrator=newmark,linear-euler",
     .help = "Newmark's beta (default 0.25)", GIVEN(beta_given)},
    {"gamma", 0, TOOL_REAL, AT(gamma), .argument = "X", .standard = "0.5", .low = 0, .high = 1,
     .only = "integrator=newmark", .help = "Newmark's gamma"},
    {"tolerance", 0, TOOL_REAL, AT(tolerance), .argument = "X", .low = 1e-15, .high = 1,
     .only = "integrator!=central,exact,linear-euler !semi-implicit",
     .help = "Newton's method: residual relative to the largest force term (default 1e-10; energy 1e-12)",
     GIVEN(tolerance_given)},
    {"iterations", 0, TOOL_INTEGER, AT(iterations), .argument = "N", .standard = "50", .low = 1, .high = 10000,
     .only = "integrator!=central,exact,linear-euler !semi-implicit",
     .help = "Newton's method: iterations at most in a step", GIVEN(iterations_given)},
};

const tool_option simulate_substep_options[SIMULATE_SUBSTEP_COUNT] = {
    {"halvings", 0, TOOL_INTEGER, AT(halvings), .argument = "N", .standard = "6", .low = 0, .high = 20,
     .only = "integrator!=central,exact,static", .rare = true,
     .help = "sub-stepping: a step that does not converge is halved, at most so many times"},
};

const tool_option simulate_load_options[SIMULATE_LOAD_COUNT] = {
    {"loads", 0, TOOL_INPUT, AT(loads), .argument = "CSV", .help = "external loads: t0,t1,kind,id,fx,fy,fz"},
    {"gravity", 0, TOOL_VECTOR, AT(gravity), .argument = "X,Y,Z", .standard = "0,0,0", .count = 3,
     .help = "acceleration of gravity, m/s2"},
    {"damping-mass", 0, TOOL_REAL, AT(damping_mass), .argument = "A", .low = 0, .high = 1e300,
     .only = "integrator!=static",
     .help = "alpha of Rayleigh damping alpha M + beta K(q), 1/s (default: that of the mesh)",
     GIVEN(damping_mass_given)},
    {"damping-stiffness", 0, TOOL_REAL, AT(damping_stiffness), .argument = "B", .low = 0, .high = 1e300,
     .only = "integrator!=static", .help = "its beta, s (default: that of the mesh)", GIVEN(damping_stiffness_given)},
};

const tool_option simulate_keep_options[SIMULATE_KEEP_COUNT] = {
    {"checkpoint", 0, TOOL_WRITTEN, AT(checkpoint), .argument = "FILE", .silent = true,
     .help = "keep what is done in FILE and go on from there; it is removed when all is written"},
    {"partial", 0, TOOL_FLAG, AT(partial), .silent = true, .only = "checkpoint", .rare = true,
     .help = "take no step: write what the checkpoint holds, and leave the checkpoint"},
};

void simulate_check_options(const simulate_choice *c)
{
    const bool linear = c->integrator == SP_LINEAR_EULER;
    if (c->beta_given && !(c->beta > 0 && (linear || c->beta <= 1)))
        tool_fail(SP_USAGE, NULL, "--beta: %g is out of range, of %s", c->beta,
                  linear ? "linear-euler above 0" : "newmark above 0 and up to 1");
}

sp_integrator_parameters simulate_integration(const simulate_choice *c, double damping_mass, double damping_stiffness,
                                              struct sp_skeleton *skeleton)
{
    const double standard = c->integrator == SP_LINEAR_EULER ? 1 : 0.25;
    return (sp_integrator_parameters){.kind = (enum sp_integrator_kind)c->integrator,
                                      .step = c->step,
                                      .beta = c->beta_given ? c->beta : standard,
                                      .gamma = c->gamma,
                                      .damping_mass = damping_mass,
                                      .damping_stiffness = damping_stiffness,
                                      .semi_implicit = c->semi_implicit,
                                      .tolerance = c->tolerance,
                                      .iterations = c->iterations,
                                      .halvings = (int)c->halvings,
                                      .skeleton = skeleton};
}
