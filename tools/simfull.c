/* simfull: motion or equilibrium of a full-order model, all degrees of freedom of a mesh, under loads. */
#include "tools/simulate/reactions.h"
#include "tools/simulate/run.h"

/* The words of --integrator are text, in which a compiler does not miss one. */
static_assert(SP_INTEGRATOR_COUNT == 8, "an integrator lacks its word here, in tools/simulate.c or in "
                                        "tools/simulate/options.h, and its name in tools/simulate/run.c");

static simulate_choice chosen;
static simulate_vertices_choice vertices;
static int model, record; /* words of --model and --record */
static const enum sp_model_kind models[] = {SP_MODEL_NONLINEAR, SP_MODEL_LINEAR, SP_MODEL_WARP, SP_MODEL_CONJAC};
static const enum simulate_record records[] = {RECORD_ALL, RECORD_PROBES};

#define AT(member) .target = &chosen.member
#define FULL(member) .target = &vertices.member
static const tool_option model_options[] = {
    {"model", 0, TOOL_CHOICE, .target = &model, .standard = "nonlinear", .choices = "nonlinear|linear|warp|conjac",
     .help = "nonlinear: the materials' laws at finite strain; linear: f = K u; warp: corotated linear elasticity "
             "(stiffness warping, Mueller et al. 2002); conjac: a few dynamic vertices, the others quasi-static "
             "(Weidner et al. 2020)"},
    {"lumping", 0, TOOL_CHOICE, AT(lumped), .standard = "consistent", .choices = "consistent|lumped",
     .only = "integrator!=static", .help = "mass matrix: full, or row sums on the diagonal",
     .given = &chosen.lumping_given},
};

static const tool_option integration_options[] = {
    {"integrator", 0, TOOL_CHOICE, AT(integrator), .standard = "newmark", .choices = SIMULATE_IMPLICIT "|linear-euler",
     .help = SIMULATE_IMPLICIT_HELP SIMULATE_ONE_STEP_HELP
     "; linear-euler: one linear solve in a step, --beta is the factor on h^2 K (default 1), stable from 0.5 on"},
};

static const tool_option solver_options[] = {
    {"solver", 0, TOOL_CHOICE, FULL(solver), .standard = "direct", .choices = VERTICES_SOLVERS,
     .only = "model!=conjac integrator!=central",
     .help = "direct: a Cholesky factorization of every matrix; jacobi: conjugate gradients, preconditioned by the 3 x "
             "3 blocks of the diagonal; reused: by an earlier factor (warp: that at rest, rotated; its default); "
             "gradients: plain conjugate gradients (warp only, as in its paper)",
     .given = &vertices.solver_given},
    {"solver-tolerance", 0, TOOL_REAL, FULL(solver_tolerance), .argument = "X", .low = 1e-15, .high = 0.1, .rare = true,
     .help = "residual of iterative solvers, relative to the right side (default 1e-8; warp 1e-10)"},
};

static const tool_option force_options[] = {
    {"viscosity", 0, TOOL_TEXTS, AT(viscosity), .argument = "[REGION=]PHI,PSI",
     .only = "model=nonlinear,linear integrator!=static",
     .help = "damping by strain rate, the stress PHI tr(E') I + 2 PSI E', Pa s, of one region or all"},
    {"frame", 0, TOOL_INPUT, AT(frame), .argument = "CSV",
     .only = "model=nonlinear,linear integrator!=linear-euler !prescribe !prescribe-vertices !ground !cut "
             "!reactions !record-reactions",
     .help = "the body moves with a frame along this path, t,x,y,z,qw,qx,qy,qz: inertial forces act on it, and gravity "
             "keeps its direction in the world"},
    {"activation", 0, TOOL_INPUT, AT(activation), .argument = "CSV", .only = "model=nonlinear,conjac",
     .help = "tension in the fibres of regions over time: t,region,tension"},
};

static const tool_option prescribed_options[] = {
    {"prescribe", 0, TOOL_KEYED, FULL(prescribe), .argument = "REGION=CSV",
     .help = "rigid motion of the vertices of a region, or of all fixed vertices (\"fixed\"): "
             "t,x,y,z,qw,qx,qy,qz"},
    {"prescribe-vertices", 0, TOOL_INPUT, FULL(prescribe_vertices), .argument = "CSV",
     .help = "displacements of single vertices: t,vertex,ux,uy,uz"},
    {"skeleton", 0, TOOL_INPUT, FULL(skeleton), .argument = "JSON", .only = "integrator=linear-euler !cut",
     .help = "bones on joints that carry vertices"},
    {"joints", 0, TOOL_WRITTEN, FULL(joints), .argument = "CSV", .only = "skeleton", .silent = true,
     .help = "write coordinate and rate of the joints in each recorded frame"},
};

static const tool_option ground_options[] = {
    {"ground", 0, TOOL_TEXTS, FULL(grounds), .argument = "NX,NY,NZ,D",
     .help = "a floor plane: vertices with n.x < D are pushed out"},
    {"ground-stiffness", 0, TOOL_REAL, FULL(ground_stiffness), .argument = "N/M", .standard = "1000", .low = 1e-300,
     .high = 1e300, .only = "ground", .help = "penalty stiffness of each vertex, normal to the plane"},
    {"ground-alpha", 0, TOOL_REAL, FULL(ground_alpha), .argument = "A", .low = 0, .high = 1, .only = "ground",
     .given = &vertices.ground_alpha_given, .rare = true,
     .help =
         "tangential stiffness, as a fraction of --ground-stiffness (default: 0.1 with --friction or static, else 0)"},
    {"friction", 0, TOOL_REAL, FULL(friction), .argument = "MU", .standard = "0", .low = 0, .high = 1e300,
     .only = "ground integrator!=static", .help = "coefficient of Coulomb friction on the plane"},
};

static const tool_option warp_options[] = {
    {"warp", 0, TOOL_CHOICE, FULL(warp), .standard = "vertex", .choices = VERTICES_WARPS,
     .help = "a rotation for every vertex, for every pair of vertices (unstable), or for every element"},
    {"rotation", 0, TOOL_CHOICE, FULL(rotation), .standard = "polar", .choices = VERTICES_ROTATIONS, .rare = true,
     .help = "rotations by polar decomposition, or from frames of edges"},
    {"network", 0, TOOL_FLAG, FULL(network), .rare = true,
     .help = "springs along the edges instead of the elements' stiffness"},
    {"correct-ghost", 0, TOOL_FLAG, FULL(corrected), .rare = true,
     .help = "remove the net force and torque of the internal forces (ghost force; free bodies)"},
    {"stretch-limit", 0, TOOL_VECTOR, FULL(stretch), .argument = "E,F", .standard = "0,0", .count = 2, .low = 0,
     .high = 1e300, .rare = true, .help = "strain limiting: edges stretched by more than E are stiffer by F times"},
};

static const tool_option conjac_options[] = {
    {"dynamic", 0, TOOL_TEXT, FULL(dynamic), .argument = "WHICH",
     .help = "the dynamic vertices: a list 3,17, none, near:X,Y,Z[;X,Y,Z], farthest:N, or random:N,DISTANCE"},
    {"stabilization", 0, TOOL_REAL, FULL(gamma), .argument = "G", .standard = "0.3333333333333333", .low = 0, .high = 1,
     .rare = true, .help = "part of the Newton correction of the quasi-static vertices that each step takes"},
    {"corrections", 0, TOOL_INTEGER, FULL(corrections), .argument = "N", .standard = "0", .low = 0, .high = 1000,
     .rare = true, .help = "further corrections with the same factor"},
    {"settle", 0, TOOL_FLAG, FULL(settle), .rare = true,
     .help = "start from the equilibrium of the quasi-static vertices"},
};

static const tool_option output_options[] = {
    {"cut", 0, TOOL_KEYED, FULL(cuts), .argument = "TIME=MESH",
     .help = "go on from this time (s) with this mesh, which simcut made of the one before"},
    {"record", 0, TOOL_CHOICE, .target = &record, .standard = "all", .choices = "all|probes",
     .help = "all: displacements and velocities of all vertices; probes: those of the --probe vertices only"},
    {"probe", 0, TOOL_TEXT, AT(probes), .argument = "LIST", .only = "record=probes",
     .help = "the probes: vertices 3,17-20 from 0, near:X,Y,Z, set:NAME, surface:120 (the corners that carry a surface "
             "vertex)"},
};

static const tool_table tables[] = {
    {.title = "Model", .options = model_options, .count = TOOL_COUNT(model_options)},
    {.title = "Materials",
     .options = tool_material_edit_options,
     .count = TOOL_MATERIAL_EDIT_COUNT,
     .base = &chosen.edits},
    {.title = "Time integration", .options = integration_options, .count = TOOL_COUNT(integration_options)},
    {.title = "Time integration", .options = simulate_time_options, .count = SIMULATE_TIME_COUNT, .base = &chosen},
    {.title = "Time integration",
     .options = simulate_substep_options,
     .count = SIMULATE_SUBSTEP_COUNT,
     .base = &chosen},
    {.title = "Time integration", .options = solver_options, .count = TOOL_COUNT(solver_options)},
    {.title = "Loads and damping", .options = simulate_load_options, .count = SIMULATE_LOAD_COUNT, .base = &chosen},
    {.title = "Loads and damping", .options = force_options, .count = TOOL_COUNT(force_options)},
    {.title = "Prescribed motion", .options = prescribed_options, .count = TOOL_COUNT(prescribed_options)},
    {.title = "Floor planes", .options = ground_options, .count = TOOL_COUNT(ground_options)},
    {.title = "Stiffness warping", .options = warp_options, .count = TOOL_COUNT(warp_options), .only = "model=warp"},
    {.title = "ConJac", .options = conjac_options, .count = TOOL_COUNT(conjac_options), .only = "model=conjac"},
    {.title = "Cuts and output", .options = output_options, .count = TOOL_COUNT(output_options)},
    {.title = "Cuts and output",
     .options = simulate_reaction_options,
     .count = SIMULATE_REACTION_COUNT,
     .base = &chosen,
     .only = "model=nonlinear,linear !prescribe !prescribe-vertices !ground !cut"},
    {.title = "Cuts and output", .options = simulate_keep_options, .count = SIMULATE_KEEP_COUNT, .base = &chosen},
    {0},
};

static const tool_spec spec = {
    .name = "simfull",
    .arguments = "MESH",
    .least = 1,
    .most = 1,
    .summary = "Motion or equilibrium of a full-order model, all degrees of freedom of a mesh, under loads.",
    .tables = tables,
    .common = TOOL_OUTPUT | TOOL_THREADS | TOOL_SEED,
    .examples = "  simfull spoon.npz --integrator static --gravity 0,0,-9.81 --steps 1 -o sag.npz\n"
                "  simfull dragon.npz --model conjac --dynamic farthest:8 \\\n"
                "    --integrator linear-euler --beta 0.5 --loads pull.csv \\\n"
                "    --dt 0.005 --steps 200 -o motion.npz\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    chosen.model = (int)models[model];
    chosen.record = (int)records[record];
    if (chosen.integrator == SIMULATE_OWN_INTEGRATOR)
        chosen.integrator = SP_LINEAR_EULER;

    simulate_check_options(&chosen);
    vertices_check_options(&chosen, &vertices);

    (void)simulate_mesh(context, &chosen, &vertices); /* without a certificate */
    return tool_end();
}
