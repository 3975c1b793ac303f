/* simulate: motion or equilibrium of a reduced or full model under loads, or of a scene whose bodies touch. */
#include "tools/common/checkpoint.h"
#include "tools/simulate/run.h"
#include "tools/simulate/scene.h"

static simulate_choice chosen;
static simulate_vertices_choice vertices;
static simulate_scene_choice scene;

static const tool_option options[] = {
    {"model", 0, TOOL_CHOICE, &chosen.model, NULL, "reduced", "reduced|cubature|direct|modal|full|linear|warp|conjac",
     .help = "reduced: polynomials in a basis; cubature: weighted elements; direct: full forces projected on it; "
             "modal: linear modes; full: every vertex; linear: every vertex, f = K u; "
             "warp: every vertex, K turned along; conjac: few dynamic vertices, which all others follow"},
    {"basis", 0, TOOL_INPUT, &chosen.basis, "FILE",
     .help = "basis of a reduced, cubature or direct model; modes of a modal one"},
    {"poly", 0, TOOL_INPUT, &chosen.polynomials, "FILE", .help = "polynomials of a reduced model"},
    {"cub", 0, TOOL_INPUT, &chosen.cubature, "FILE", .help = "elements and weights of a cubature model"},
    {"rank", 'r', TOOL_INTEGER, &chosen.r, "R", NULL, .low = 1, .high = 100000,
     .help = "use the first R columns of the basis (default: all)"},
    TOOL_MATERIAL_EDIT_OPTIONS(chosen.edits),
    SIMULATE_TIME_OPTIONS(chosen, "newmark|energy|central|static|euler|bdf2|linear-euler|exact",
                          "; linear-euler: one linear solve a step, with --beta (default 1) times h2 K, stable from "
                          "0.5 on; exact: oscillators of a modal model",
                          NULL),
    {"every", 0, TOOL_INTEGER, &chosen.every, "N", "1", .low = 1, .high = 1e12, .help = "record every Nth step"},
    SIMULATE_FORCE_OPTIONS(chosen),
    SIMULATE_VERTICES_OPTIONS(vertices),
    {"jacobian", 0, TOOL_CHOICE, &chosen.jacobian, NULL, "exact", "exact|symmetric|krylov|free",
     .help = "Newton's matrix of a cubature model: whole, by elimination; symmetrized; whole, by GMRES; from "
             "differences of the force",
     .given = &chosen.jacobian_given},
    {"record", 0, TOOL_CHOICE, &chosen.record, NULL, "auto", "auto|coordinates|all|probes",
     .help = "reduced coordinates, displacements of all vertices, or of the probes only; auto: coordinates (reduced) "
             "or all"},
    {"contacts", 0, TOOL_FLAG, &scene.contacts, .help = "of a scene: record every contact point with its force"},
    {"timings", 0, TOOL_TEXT, &scene.timings, "CSV", .help = "of a scene: write how long each step took",
     .silent = true},
    TOOL_CHECKPOINT_OPTION(&chosen.checkpoint),
    {"partial", 0, TOOL_FLAG, &chosen.partial, .help = "take no step: write what the checkpoint keeps, which stays",
     .silent = true},
    {"probe", 0, TOOL_TEXT, &chosen.probes, "LIST",
     .help = "also record these vertices, from 0: 3,17,surface:120 (the corners that carry a surface vertex)"},
};

/* An option that the model or the integrator has no use for is a mistake, not something to pass over. */
static void refuse_idle_options(void)
{
    const struct {
        bool idle;
        const char *text;
    } rules[] = {
        {!simulation_in_basis(&chosen) && (chosen.basis || chosen.r),
         "--basis and --rank belong to --model reduced, cubature, direct and modal"},
        {chosen.model != MODEL_CUBATURE && chosen.cubature, "--cub belongs to --model cubature"},
        {chosen.model != MODEL_CUBATURE && chosen.jacobian_given, "--jacobian belongs to --model cubature"},
        {chosen.integrator == SP_CENTRAL && chosen.jacobian_given, "--jacobian belongs to integrators that iterate"},
        {chosen.model != MODEL_REDUCED && chosen.polynomials, "--poly belongs to --model reduced"},
        {chosen.model == MODEL_MODAL && tool_material_edits_given(&chosen.edits),
         "--young, --poisson and --density belong to models that compute with the materials; modes have theirs"},
        {chosen.integrator == SP_LINEAR_EULER && simulation_in_basis(&chosen),
         "--integrator linear-euler belongs to models of every vertex"},
        {simulation_in_basis(&chosen) && chosen.lumping_given,
         "--lumping belongs to models of every vertex; in a basis the mass is the one that the basis is orthonormal in "
         "(masspca --lumping)"},
        {chosen.integrator == SP_STATIC && chosen.lumping_given,
         "--lumping belongs to motions: gravity is the same with both masses"},
        {(chosen.model == MODEL_WARP || chosen.model == MODEL_CONJAC || chosen.model == MODEL_MODAL) &&
             chosen.viscosity.count,
         "--viscosity belongs to --model reduced, cubature, direct, full and linear: warp and conjac have damping by "
         "--damping-mass and --damping-stiffness alone, modes by eigenvalue"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].idle)
            tool_fail(SP_USAGE, NULL, "%s", rules[i].text);
    simulation_refuse_idle(&chosen);
    vertices_refuse_idle(&chosen, &vertices);
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(
        &(tool_spec){
            "simulate", "MESH|SCENE", 1, 1,
            "Motion or equilibrium of a reduced or full model under loads, or motion of a scene of bodies that touch.",
            options, TOOL_COUNT(options), TOOL_OUTPUT | TOOL_THREADS | TOOL_SEED,
            "  simulate spoon.npz --basis basis.npz --poly poly.npz --loads pull.csv --dt 0.01 --steps 500 -o "
            "motion.npz\n"
            "  simulate spoon.npz --model full --integrator static --gravity 0,0,-9.81 --steps 1 -o sag.npz\n"
            "  simulate dragon.npz --model conjac --dynamic farthest:8 --integrator linear-euler --beta 0.5 --loads "
            "pull.csv --dt 0.005 --steps 200 -o motion.npz\n"
            "  simulate scene.json --dt 0.001 --steps 5000 --contacts -o motion.npz\n"},
        argc, argv);
    if (chosen.partial && !chosen.checkpoint)
        tool_fail(SP_USAGE, NULL, "--partial writes what a checkpoint keeps: name it with --checkpoint");
    if (tool_is_scene(tool_argument(0))) {
        simulate_scene(context, tool_argument(0), &chosen, &scene);
        return tool_end();
    }
    tool_option_idle("contacts", "for a mesh");
    tool_option_idle("timings", "for a mesh");
    refuse_idle_options();
    simulate_mesh(context, &chosen, &vertices);
    return tool_end();
}
