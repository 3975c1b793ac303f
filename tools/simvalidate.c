/* simvalidate: reduced models beside the full one, and how far they are from it. */
#include "tools/validate/validate.h"

static validate_choice chosen;

static const tool_option model_options[] = {
    {"model", 0, TOOL_TEXT, &chosen.models, "LIST",
     .help = "the models to measure, of reduced,cubature,galerkin,linear (default: those whose files are named, else "
             "galerkin)"},
    {"basis", 0, TOOL_INPUT, &chosen.motion.basis, "FILE", .required = true, .help = "the reduced basis of the models"},
    {"poly", 0, TOOL_INPUT, &chosen.motion.polynomials, "FILE", .help = "polynomials of reduced models"},
    {"cub", 0, TOOL_INPUTS, &chosen.cubatures, "FILE", .help = "elements and weights of a cubature model"},
    {"ranks", 0, TOOL_TEXT, &chosen.ranks, "LIST",
     .help = "reduced and galerkin models with the first columns of the basis, as many as each number says: 5,10,20 "
             "(default: all)"},
    {"reference", 0, TOOL_INPUT, &chosen.reference, "FILE",
     .help = "a trajectory of all vertices in place of a run of the full-order model"},
    {"reference-rank", 0, TOOL_INTEGER, &chosen.reference_rank, "N", NULL, .low = 1, .high = 100000,
     .only = "!reference",
     .help = "the model in the first N columns of the basis in place of the full-order one: an estimate of the errors "
             "without a full-order run"},
};

static const tool_option integration_options[] = {
    {"integrator", 0, TOOL_CHOICE, &chosen.motion.integrator, .standard = "newmark", .choices = SIMULATE_IMPLICIT,
     .help = SIMULATE_IMPLICIT_HELP},
};

static const tool_option force_options[] = {
    {"viscosity", 0, TOOL_TEXTS, &chosen.motion.viscosity, "[REGION=]PHI,PSI", .only = "integrator!=static",
     .help = "damping by strain rate, the stress PHI tr(E') I + 2 PSI E', Pa s, of one region or all (reduced: "
             "polynomials of polycoef --by-constant)"},
    {"frame", 0, TOOL_INPUT, &chosen.motion.frame, "CSV", .only = "!stress !certificate",
     .help = "the body moves with a frame along this path, t,x,y,z,qw,qx,qy,qz: inertial forces act on it, and gravity "
             "keeps its direction in the world"},
    {"lumping", 0, TOOL_CHOICE, &chosen.motion.lumped, .standard = "consistent", .choices = "consistent|lumped",
     .help = "mass matrix of the full-order and linear models", .given = &chosen.motion.lumping_given},
};

static const tool_option output_options[] = {
    {"probe", 0, TOOL_TEXTS, &chosen.probes, "VERTEX:AXIS",
     .help = "also amplitude and frequency of 12:y, surface:5:z or near:X,Y,Z:x"},
    {"stress", 0, TOOL_FLAG, &chosen.stress, .only = "!viscosity",
     .help = "also print the error of the von Mises stress at the vertices, without and with static correction"},
    {"certificate", 0, TOOL_INPUT, &chosen.certificate, "FILE", .only = "!viscosity !ranks",
     .help = "print the error in the energy norm too, and its estimate with this certificate of polycoef"},
    {"limit", 0, TOOL_REAL, &chosen.limit, "X", NULL, .low = 1e-300, .high = 1e300,
     .help = "exit 1 where a velocity error (in statics: position) is above X"},
    {"csv", 0, TOOL_WRITTEN, &chosen.table, "FILE", .files = "csv", .help = "also write the table as CSV",
     .silent = true},
};

static const tool_table tables[] = {
    {.title = "Models", .options = model_options, .count = TOOL_COUNT(model_options)},
    {.title = "Materials",
     .options = tool_material_edit_options,
     .count = TOOL_MATERIAL_EDIT_COUNT,
     .base = &chosen.motion.edits},
    {.title = "Time integration", .options = integration_options, .count = TOOL_COUNT(integration_options)},
    SIMULATE_MOTION_TABLES(&chosen.motion),
    {.title = "Loads and damping", .options = force_options, .count = TOOL_COUNT(force_options)},
    {.title = "Output", .options = output_options, .count = TOOL_COUNT(output_options)},
    {0},
};

static const tool_spec spec = {
    .name = "simvalidate",
    .arguments = "MESH",
    .least = 1,
    .most = 1,
    .summary = "Errors of reduced-order models against the full-order model. Exit 0: within the limit, 1: not.",
    .tables = tables,
    .common = TOOL_THREADS,
    .examples = "  simvalidate spoon.npz --basis basis.npz --poly poly.npz --ranks 5,10,20 \\\n"
                "    --loads pull.csv --dt 0.01 --steps 500\n"
                "  simvalidate dragon.npz --basis basis.npz --cub 50.npz --cub 100.npz \\\n"
                "    --model cubature,galerkin --loads pull.csv --csv table.csv\n",
};

int main(int argc, char **argv)
{
    validation v = {.choice = &chosen};
    sp_list table = {0};
    int64_t failed = 0;
    v.context = tool_begin(&spec, argc, argv);

    simulate_check_options(&chosen.motion);
    if (chosen.reference && (chosen.motion.steps_given || chosen.motion.every_given))
        tool_fail(
            SP_USAGE, NULL,
            "--steps and --every do not apply with --reference: the models run to the last frame of that file, and "
            "all its frames are compared");

    validation_open(&v);
    while (validation_bring(&v)) {
        if (v.probe_count)
            for (int64_t k = 0; k < v.frames.count; k++) {
                validation_keep(&v.time, v.frames.time[k]);
                validation_keep_probes(&v, v.frames.u + k * v.mass.order, v.value);
            }

        stress_bring(&v);
        for (int64_t i = 0; i < v.run_count; i++)
            validation_follow(&v, &v.runs[i]);
    }

    validation_warn(&v);
    bool within = validation_report(&v, tool_quiet() ? NULL : tool_stdout(), &table);
    if (chosen.table)
        tool_write_bytes(chosen.table, table.data, table.count);

    for (int64_t i = 0; i < v.run_count; i++)
        failed += v.runs[i].failed;
    if (failed)
        tool_fail(SP_NUMERICAL, NULL, "%lld of %lld models did not converge", (long long)failed,
                  (long long)v.run_count);

    sp_list_free(&table);
    validation_close(&v);
    int status = tool_end();
    return status == SP_OK && !within ? SP_NO : status;
}
