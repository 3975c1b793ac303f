/* simulate: motion or equilibrium of a reduced, full or linear model under loads, or of a scene whose bodies touch. */
#include "tools/simulate/scene.h"

#include <math.h>
#include <string.h>

static simulate_choice chosen;
static simulate_scene_choice scene;

static const tool_option options[] = {
    {"model", 0, TOOL_CHOICE, &chosen.model, NULL, "reduced", "reduced|cubature|direct|full|linear",
     .help = "reduced: polynomials in a basis; cubature: weighted elements; direct: full forces projected on it; full: every vertex; linear: every vertex, f = K u"},
    {"basis", 0, TOOL_INPUT, &chosen.basis, "FILE", .help = "basis of a reduced, cubature or direct model"},
    {"poly", 0, TOOL_INPUT, &chosen.polynomials, "FILE", .help = "polynomials of a reduced model"},
    {"cub", 0, TOOL_INPUT, &chosen.cubature, "FILE", .help = "elements and weights of a cubature model"},
    {"rank", 'r', TOOL_INTEGER, &chosen.r, "R", NULL, .low = 1, .high = 100000, .help = "use the first R columns of the basis (default: all)"},
    TOOL_MATERIAL_EDIT_OPTIONS(chosen.edits),
    SIMULATE_TIME_OPTIONS(chosen, NULL),
    {"every", 0, TOOL_INTEGER, &chosen.every, "N", "1", .low = 1, .high = 1e12, .help = "record every Nth step"},
    SIMULATE_FORCE_OPTIONS(chosen),
    {"jacobian", 0, TOOL_CHOICE, &chosen.jacobian, NULL, "exact", "exact|symmetric|krylov|free",
     .help = "Newton's matrix of a cubature model: whole, by elimination; symmetrized; whole, by GMRES; from differences of the force", .given = &chosen.jacobian_given},
    {"record", 0, TOOL_CHOICE, &chosen.record, NULL, "auto", "auto|coordinates|all|probes", .help = "reduced coordinates, displacements of all vertices, or of the probes only; auto: coordinates (reduced) or all"},
    {"contacts", 0, TOOL_FLAG, &scene.contacts, .help = "of a scene: record every contact point with its force"},
    {"timings", 0, TOOL_TEXT, &scene.timings, "CSV", .help = "of a scene: write how long each step took", .silent = true},
    {"probe", 0, TOOL_TEXT, &chosen.probes, "LIST", .help = "also record these vertices, from 0: 3,17,surface:120 (the corners that carry a surface vertex)"},
};

/* An option that the model or the integrator has no use for is a mistake, not something to pass over. */
static void refuse_idle_options(void)
{
    const struct {
        bool idle;
        const char *text;
    } rules[] = {
        {!simulation_in_basis(&chosen) && (chosen.basis || chosen.r), "--basis and --rank belong to --model reduced, cubature and direct"},
        {chosen.model != MODEL_CUBATURE && chosen.cubature, "--cub belongs to --model cubature"},
        {chosen.model != MODEL_CUBATURE && chosen.jacobian_given, "--jacobian belongs to --model cubature"},
        {chosen.integrator == SP_CENTRAL && chosen.jacobian_given, "--jacobian belongs to integrators that iterate"},
        {chosen.model != MODEL_REDUCED && chosen.polynomials, "--poly belongs to --model reduced"},
        {simulation_in_basis(&chosen) && chosen.lumping_given, "--lumping belongs to the full and linear models; in a basis the mass is the consistent one, reduced"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].idle)
            tool_fail(SP_USAGE, NULL, "%s", rules[i].text);
    simulation_refuse_idle(&chosen);
}

static json_t *report_result(const simulation *s, const sp_integrator_report *report, const double *first, const double *last, double drift, double estimate)
{
    json_t *result = tool_result_new();
    json_object_set_new(result, "coordinates", json_integer(s->system.n));
    json_object_set_new(result, "steps", json_integer(report->steps));
    json_object_set_new(result, "newton_iterations", json_integer(report->newton_iterations));
    json_object_set_new(result, "most_iterations_in_a_step", json_integer(report->worst_iterations));
    json_object_set_new(result, "worst_residual", json_real(report->worst_residual));
    json_object_set_new(result, "stagnated_steps", json_integer(report->stagnated));
    json_object_set_new(result, "line_search_halvings", json_integer(report->halvings));
    json_object_set_new(result, "indefinite_matrices", json_integer(report->indefinite));
    json_object_set_new(result, "stability_limit", report->stability_limit > 0 ? json_real(report->stability_limit) : json_null());
    json_object_set_new(result, "energy_first", sp_json_from_numbers(SP_WORK_COUNT, first));
    json_object_set_new(result, "energy_last", sp_json_from_numbers(SP_WORK_COUNT, last));
    json_object_set_new(result, "energy_balance", chosen.integrator == SP_STATIC ? json_null() : json_real(drift));
    if (chosen.jacobian >= SP_JACOBIAN_KRYLOV) {
        int64_t solves, products;
        sp_reduced_system_iterations(&s->system, &solves, &products);
        json_object_set_new(result, "linear_solves", json_integer(solves));
        json_object_set_new(result, "linear_products", json_integer(products));
    }
    if (s->system.nonconservative)
        json_object_set_new(result, "growth_at_rest", json_real(s->growth));
    if (s->shape.estimates)
        json_object_set_new(result, "largest_force_estimate", json_real(estimate));
    return result;
}

int main(int argc, char **argv)
{
    static const char *const integrators[] = {"Newmark", "energy-conserving", "central differences", "static"};
    simulation s = {.choice = &chosen};
    s.context = tool_begin(&(tool_spec){"simulate", "MESH|SCENE", 1, 1, "Motion or equilibrium of a reduced, full or linear model under loads, or motion of a scene of bodies that touch.", options, TOOL_COUNT(options),
                                        TOOL_OUTPUT | TOOL_THREADS,
                                        "  simulate spoon.npz --basis basis.npz --poly poly.npz --loads pull.csv --dt 0.01 --steps 500 -o motion.npz\n"
                                        "  simulate spoon.npz --model full --integrator static --gravity 0,0,-9.81 --steps 1 -o sag.npz\n"
                                        "  simulate scene.json --dt 0.001 --steps 5000 --contacts -o motion.npz\n"},
                           argc, argv);
    if (tool_is_scene(tool_argument(0))) {
        simulate_scene(s.context, tool_argument(0), &chosen, &scene);
        return tool_end();
    }
    tool_option_idle("contacts", "for a mesh");
    tool_option_idle("timings", "for a mesh");
    refuse_idle_options();
    simulation_read(&s);
    simulation_make(&s);
    simulation_choose_record(&s);
    if (s.growth * chosen.step * (double)chosen.steps > 1 && chosen.integrator != SP_STATIC)
        tool_warn(chosen.cubature, "without damping small motions grow by the factor e in %.3g s: weights by coordinate are the gradient of no energy", 1 / s.growth);

    sp_integrator_parameters parameters = simulation_parameters(&s);
    sp_forcing forcing = sp_loading_forcing(&s.loading);
    sp_integrator *integrator;
    sp_trajectory_writer *trajectory;
    tool_output *output = tool_output_open(tool_output_path());
    tool_check(sp_integrator_new(s.context, &s.system, &forcing, &parameters, NULL, NULL, &integrator), s.mesh.path);
    json_t *meta = tool_meta_new("trajectory");
    json_object_set_new(meta, "mesh", json_string(s.mesh.hash));
    if (s.shape.r)
        json_object_set_new(meta, "basis", json_string(s.basis.hash));
    json_object_set_new(meta, "load_end", json_real(s.loading.end));
    json_object_set_new(meta, "damping", json_pack("[f, f]", s.damping_mass, s.damping_stiffness));
    if (s.system.nonconservative)
        json_object_set_new(meta, "stored", json_string("work"));
    tool_check(sp_trajectory_begin(s.context, tool_output_writer(output), meta, &s.shape, &trajectory), tool_output_path());

    double first[SP_WORK_COUNT], energy[SP_WORK_COUNT], largest = 0, drift = 0, estimate = 0;
    simulation_record(&s, integrator, trajectory, first);
    memcpy(energy, first, sizeof energy);
    for (int64_t step = 1; step <= chosen.steps; step++) {
        tool_check(sp_integrator_step(integrator), s.mesh.path);
        simulation_estimate(&s, integrator);
        estimate = fmax(estimate, s.estimate);
        if (step % chosen.every == 0 || step == chosen.steps) {
            simulation_record(&s, integrator, trajectory, energy);
            double total = energy[0] + energy[1], expected = first[0] + first[1] + energy[2] - energy[3];
            largest = fmax(largest, fmax(fabs(total), fabs(energy[2])));
            drift = fmax(drift, fabs(total - expected));
        }
        tool_check(sp_progress(s.context, (double)step / (double)chosen.steps), s.mesh.path);
    }
    drift = largest > 0 ? drift / largest : 0;
    const sp_integrator_report *report = sp_integrator_reported(integrator);
    if (report->stagnated && report->worst_residual > 1e-8)
        tool_warn(s.mesh.path, "%lld steps stopped at a residual up to %.1e", (long long)report->stagnated, report->worst_residual);
    if (report->indefinite)
        tool_warn(s.mesh.path, "%lld matrices were not positive definite (buckling or a step too large); the steps converged with a definite one", (long long)report->indefinite);
    if (chosen.integrator == SP_STATIC) /* work along a path of equilibria: no balance to keep */
        tool_say("static, %lld coordinates, %lld steps, %.2f Newton iterations a step", (long long)s.system.n, (long long)report->steps, (double)report->newton_iterations / (double)report->steps);
    else
        tool_say("%s, %lld coordinates, %lld steps, %.2f Newton iterations a step, energy balance within %.1e", integrators[chosen.integrator], (long long)s.system.n,
             (long long)report->steps, (double)report->newton_iterations / (double)report->steps, drift);
    tool_check(sp_trajectory_finish(trajectory), tool_output_path());
    tool_output_finish(output, report_result(&s, report, first, energy, drift, estimate));
    json_decref(meta);
    sp_integrator_free(integrator);
    simulation_free(&s);
    return tool_end();
}
