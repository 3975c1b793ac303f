/* simulate: motion or equilibrium of a reduced, full or linear model under loads. */
#include "tools/simulate/simulation.h"

#include <math.h>
#include <string.h>

static simulate_choice chosen;

static const tool_option options[] = {
    {"model", 0, TOOL_CHOICE, &chosen.model, NULL, "reduced", "reduced|cubature|direct|full|linear",
     .help = "reduced: polynomials in a basis; cubature: weighted elements; direct: full forces projected on it; full: every vertex; linear: every vertex, f = K u"},
    {"basis", 0, TOOL_INPUT, &chosen.basis, "FILE", .help = "basis of a reduced, cubature or direct model"},
    {"poly", 0, TOOL_INPUT, &chosen.polynomials, "FILE", .help = "polynomials of a reduced model"},
    {"cub", 0, TOOL_INPUT, &chosen.cubature, "FILE", .help = "elements and weights of a cubature model"},
    {"rank", 'r', TOOL_INTEGER, &chosen.r, "R", NULL, .low = 1, .high = 100000, .help = "use the first R columns of the basis (default: all)"},
    TOOL_MATERIAL_EDIT_OPTIONS(chosen.edits),
    {"integrator", 0, TOOL_CHOICE, &chosen.integrator, NULL, "newmark", "newmark|energy|central|static",
     .help = "newmark: implicit; energy: implicit, conserves energy exactly; central: explicit; static: equilibrium under the loads of each step"},
    {"dt", 0, TOOL_REAL, &chosen.step, "S", "0.01", .low = 1e-300, .high = 1e300, .help = "time step in seconds"},
    {"steps", 0, TOOL_INTEGER, &chosen.steps, "N", "100", .low = 1, .high = 1e12, .help = "number of steps"},
    {"every", 0, TOOL_INTEGER, &chosen.every, "N", "1", .low = 1, .high = 1e12, .help = "record every Nth step"},
    {"loads", 0, TOOL_INPUT, &chosen.loads, "CSV", .help = "loads: t0,t1,kind,id,fx,fy,fz"},
    {"gravity", 0, TOOL_VECTOR, chosen.gravity, "X,Y,Z", "0,0,0", .count = 3, .help = "acceleration of gravity, m/s2"},
    {"damping-mass", 0, TOOL_REAL, &chosen.damping_mass, "A", NULL, .low = 0, .high = 1e300, .help = "alpha of Rayleigh damping alpha M + beta K(q), 1/s (default: the mesh's)", .given = &chosen.damping_mass_given},
    {"damping-stiffness", 0, TOOL_REAL, &chosen.damping_stiffness, "B", NULL, .low = 0, .high = 1e300, .help = "beta, s (default: the mesh's)", .given = &chosen.damping_stiffness_given},
    {"viscosity", 0, TOOL_TEXTS, &chosen.viscosity, "[REGION=]PHI,PSI", .help = "damping by strain rate, the stress PHI tr(E') I + 2 PSI E', Pa s, of one region or all; reduced: polycoef --by-constant"},
    {"semi-implicit", 0, TOOL_FLAG, &chosen.semi_implicit, .help = "one Newton iteration per Newmark step, as in the papers"},
    {"beta", 0, TOOL_REAL, &chosen.beta, "X", "0.25", .low = 0, .high = 1, .help = "Newmark's beta", .given = &chosen.beta_given},
    {"gamma", 0, TOOL_REAL, &chosen.gamma, "X", "0.5", .low = 0, .high = 1, .help = "Newmark's gamma", .given = &chosen.gamma_given},
    {"tolerance", 0, TOOL_REAL, &chosen.tolerance, "X", NULL, .low = 1e-15, .high = 1, .help = "Newton: residual by the largest force term (default 1e-10, energy 1e-12)", .given = &chosen.tolerance_given},
    {"iterations", 0, TOOL_INTEGER, &chosen.iterations, "N", "50", .low = 1, .high = 10000, .help = "Newton iterations per step at most", .given = &chosen.iterations_given},
    {"lumping", 0, TOOL_CHOICE, &chosen.lumped, NULL, "consistent", "consistent|lumped", .help = "mass matrix of the full and linear models", .given = &chosen.lumping_given},
    {"record", 0, TOOL_CHOICE, &chosen.record, NULL, "auto", "auto|coordinates|all|probes", .help = "reduced coordinates, displacements of all vertices, or of the probes only; auto: coordinates (reduced) or all"},
    {"probe", 0, TOOL_TEXT, &chosen.probes, "LIST", .help = "also record these vertices, from 0: 3,17,surface:120 (the corners that carry a surface vertex)"},
};

/* An option that the model or the integrator has no use for is a mistake, not something to pass over. */
static void refuse_idle_options(void)
{
    bool newmark = chosen.integrator == SP_NEWMARK, newton = chosen.integrator != SP_CENTRAL;
    const struct {
        bool idle;
        const char *text;
    } rules[] = {
        {!simulation_in_basis(&chosen) && (chosen.basis || chosen.r), "--basis and --rank belong to --model reduced, cubature and direct"},
        {chosen.model != MODEL_CUBATURE && chosen.cubature, "--cub belongs to --model cubature"},
        {chosen.model != MODEL_REDUCED && chosen.polynomials, "--poly belongs to --model reduced"},
        {simulation_in_basis(&chosen) && chosen.lumping_given, "--lumping belongs to the full and linear models; in a basis the mass is the consistent one, reduced"},
        {!newmark && (chosen.beta_given || chosen.gamma_given || chosen.semi_implicit), "--beta, --gamma and --semi-implicit belong to --integrator newmark"},
        {(!newton || chosen.semi_implicit) && (chosen.tolerance_given || chosen.iterations_given), "--tolerance and --iterations belong to integrators that iterate"},
        {chosen.integrator == SP_STATIC && (chosen.damping_mass_given || chosen.damping_stiffness_given), "--damping-mass and --damping-stiffness do nothing in statics"},
        {chosen.integrator == SP_STATIC && chosen.viscosity.count, "--viscosity does nothing in statics"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].idle)
            tool_fail(SP_USAGE, NULL, "%s", rules[i].text);
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
    if (s->shape.estimates)
        json_object_set_new(result, "largest_force_estimate", json_real(estimate));
    return result;
}

int main(int argc, char **argv)
{
    static const char *const integrators[] = {"Newmark", "energy-conserving", "central differences", "static"};
    simulation s = {.choice = &chosen};
    s.context = tool_begin(&(tool_spec){"simulate", "MESH", 1, 1, "Motion or equilibrium of a reduced, full or linear model under loads.", options, TOOL_COUNT(options),
                                        TOOL_OUTPUT | TOOL_THREADS,
                                        "  simulate spoon.npz --basis basis.npz --poly poly.npz --loads pull.csv --dt 0.01 --steps 500 -o motion.npz\n"
                                        "  simulate spoon.npz --model full --integrator static --gravity 0,0,-9.81 --steps 1 -o sag.npz\n"},
                           argc, argv);
    refuse_idle_options();
    simulation_read(&s);
    simulation_make(&s);
    simulation_choose_record(&s);

    sp_integrator_parameters parameters = {.kind = (enum sp_integrator_kind)chosen.integrator, .step = chosen.step, .beta = chosen.beta, .gamma = chosen.gamma,
                                           .damping_mass = s.damping_mass, .damping_stiffness = s.damping_stiffness, .semi_implicit = chosen.semi_implicit,
                                           .tolerance = chosen.tolerance, .iterations = chosen.iterations};
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
