/* simulate: motion or equilibrium of a reduced-order model under loads. */
#include "model/models.h"
#include "tools/simulate/reactions.h"
#include "tools/simulate/run.h"

static simulate_choice chosen;

#define AT(member) .target = &chosen.member
static const tool_option warp_options[] = {
    {"warp", 0, TOOL_FLAG, AT(warp),
     .only = "model=modal integrator=newmark,energy,static,euler,bdf2 !semi-implicit !static-correction !reactions "
             "!record-reactions",
     .help = "modal warping: displacements and loads are rotated by the local rotations of the body"},
};

static const tool_option integration_options[] = {
    {"integrator", 0, TOOL_CHOICE, AT(integrator), .standard = "newmark", .choices = SIMULATE_IMPLICIT "|exact",
     .help = SIMULATE_IMPLICIT_HELP SIMULATE_ONE_STEP_HELP "; exact: each mode of a modal model, exactly"},
    {"jacobian", 0, TOOL_CHOICE, AT(jacobian), .standard = "exact", .choices = "exact|symmetric|krylov|free",
     .only = "model=cubature integrator!=central", .rare = true,
     .help = "the matrix of Newton's method. exact: LU factorization; symmetric: its symmetric part, Cholesky; "
             "krylov: GMRES; free: GMRES, with differences of the force (matrix-free)"},
};
static_assert(SP_JACOBIAN_EXACT == 0 && SP_JACOBIAN_SYMMETRIC == 1 && SP_JACOBIAN_KRYLOV == 2 && SP_JACOBIAN_FREE == 3,
              "the words of --jacobian are in the order of enum sp_jacobian");

static const tool_option force_options[] = {
    {"viscosity", 0, TOOL_TEXTS, AT(viscosity), .argument = "[REGION=]PHI,PSI",
     .only = "model=reduced,cubature,galerkin integrator!=static",
     .help = "damping by strain rate, the stress PHI tr(E') I + 2 PSI E', Pa s, of one region or all (reduced: "
             "polynomials of polycoef --by-constant)"},
    {"frame", 0, TOOL_INPUT, AT(frame), .argument = "CSV",
     .only = "!skin !static-correction !certificate !reactions !record-reactions",
     .help = "the body moves with a frame along this path, t,x,y,z,qw,qx,qy,qz: inertial forces act on it, and gravity "
             "keeps its direction in the world"},
    {"skin", 0, TOOL_INPUT, AT(skin), .argument = "FILE",
     .only = "!static-correction !certificate !reactions !record-reactions",
     .help = "the body follows the bones of a skeleton, with these weights of simskin: inertial forces act on it, and "
             "gravity keeps its direction in the world"},
    {"skeleton", 0, TOOL_INPUT, AT(skeleton), .argument = "JSON", .only = "skin", .files = "json",
     .help = "the skeleton, whose bones follow paths"},
    {"damping-times", 0, TOOL_INPUT, AT(damping_times), .argument = "CSV",
     .only = "!viscosity integrator!=static !reactions !record-reactions", .rare = true,
     .help = "time constants of the decay of linear modes over their frequency: frequency,time"},
    {"activation", 0, TOOL_INPUT, AT(activation), .argument = "CSV", .only = "model=cubature,galerkin",
     .help = "tension in the fibres of regions over time: t,region,tension"},
};

static const tool_option output_options[] = {
    {"record", 0, TOOL_CHOICE, AT(record), .standard = "coordinates", .choices = SIMULATE_RECORDS,
     .help = "coordinates: reduced coordinates and their rates; all: displacements and velocities of all vertices too; "
             "probes: those of the --probe vertices only"},
    {"static-correction", 0, TOOL_FLAG, AT(correct),
     .only = "record!=coordinates !viscosity !activation !damping-times",
     .help = "add the quasi-static response to the residual of the full-order equation to recorded displacements (mode "
             "acceleration), for stresses"},
    {"probe", 0, TOOL_TEXT, AT(probes), .argument = "LIST", .only = "record!=all",
     .help = "also record these vertices: 3,17-20 from 0, near:X,Y,Z, surface:120 (the corners that carry a surface "
             "vertex)"},
};

static const tool_option certificate_options[] = {
    {"certificate", 0, TOOL_INPUT, AT(certificate), .argument = "FILE",
     .only = "model=reduced,cubature,galerkin !viscosity !activation !damping-times",
     .help = "estimate the error of the basis from the residual, with this certificate of polycoef"},
    {"limit", 0, TOOL_REAL, AT(limit), .argument = "X", .low = 1e-300, .high = 1, .only = "certificate", .silent = true,
     .help = "exit 1 if the estimate is above X"},
};

static const tool_table tables[] = {
    {.title = "Model", .options = simulate_model_options, .count = SIMULATE_MODEL_COUNT, .base = &chosen},
    {.title = "Model", .options = warp_options, .count = TOOL_COUNT(warp_options)},
    {.title = "Materials",
     .options = tool_material_edit_options,
     .count = TOOL_MATERIAL_EDIT_COUNT,
     .base = &chosen.edits,
     .only = "model!=modal"},
    {.title = "Time integration", .options = integration_options, .count = TOOL_COUNT(integration_options)},
    SIMULATE_MOTION_TABLES(&chosen),
    {.title = "Loads and damping", .options = force_options, .count = TOOL_COUNT(force_options)},
    {.title = "Output", .options = output_options, .count = TOOL_COUNT(output_options)},
    {.title = "Output", .options = certificate_options, .count = TOOL_COUNT(certificate_options)},
    {.title = "Output", .options = simulate_reaction_options, .count = SIMULATE_REACTION_COUNT, .base = &chosen},
    {.title = "Output", .options = simulate_keep_options, .count = SIMULATE_KEEP_COUNT, .base = &chosen},
    {0},
};

/* All options of simfull that simulate lacks: tests/cli/every_tool.bats compares. */
static const tool_sibling siblings[] = {
    {"simfull", "ground ground-stiffness ground-alpha friction",
     "a reduced body falls onto a plane in a scene, with a point shell and \"motion\": \"free\" (simscene)"},
    {"simfull", "prescribe prescribe-vertices joints",
     "a reduced-order body moves along a path with --frame, on the bones of a skeleton with --skin, and in a scene "
     "with \"motion\": \"path\" (simscene)"},
    {"simfull",
     "correct-ghost corrections cut dynamic lumping network rotation seed settle solver solver-tolerance stabilization "
     "stretch-limit",
     "it applies to full-order models only"},
    {0},
};

static const tool_spec spec = {
    .name = "simulate",
    .arguments = "MESH",
    .least = 1,
    .most = 1,
    .summary = "Motion or equilibrium of a reduced-order model under loads.",
    .tables = tables,
    .siblings = siblings,
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  simulate spoon.npz --basis basis.npz --poly poly.npz --loads pull.csv \\\n"
                "    --dt 0.01 --steps 500 -o motion.npz\n"
                "  simulate spoon.npz --model modal --basis modes.npz --integrator exact \\\n"
                "    --loads pull.csv -o linear.npz\n"
                "  simulate spoon.npz --basis basis.npz --poly poly.npz --loads pull.csv \\\n"
                "    --certificate certificate.npz --limit 0.1 -o motion.npz\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    if (chosen.integrator == SIMULATE_OWN_INTEGRATOR)
        chosen.integrator = SP_EXACT;
    if (chosen.integrator == SP_EXACT && chosen.model != SP_MODEL_MODAL)
        tool_fail(SP_USAGE, NULL, "--integrator exact applies to --model modal");
    simulate_check_options(&chosen);
    const bool within = simulate_mesh(context, &chosen, NULL);
    const int status = tool_end();
    return status == SP_OK && !within ? SP_NO : status;
}
