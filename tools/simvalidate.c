/* simvalidate: reduced models beside the full one, and how far they are from it. */
#include "tools/validate/validate.h"

static validate_choice chosen;

static const tool_option options[] = {
    {"model", 0, TOOL_TEXT, &chosen.models, "LIST",
     .help =
         "models that follow, of reduced,cubature,direct,linear (default: those whose files are named, else direct)"},
    {"basis", 0, TOOL_INPUT, &chosen.motion.basis, "FILE", .help = "basis of reduced, cubature and direct models"},
    {"poly", 0, TOOL_INPUT, &chosen.motion.polynomials, "FILE", .help = "polynomials of reduced models"},
    {"cub", 0, TOOL_INPUTS, &chosen.cubatures, "FILE",
     .help = "elements and weights of a cubature model; may stand several times"},
    {"ranks", 0, TOOL_TEXT, &chosen.ranks, "LIST",
     .help = "reduced and direct models with the first columns of the basis, as many as each number says: 5,10,20 "
             "(default: all)"},
    {"reference", 0, TOOL_INPUT, &chosen.reference, "FILE",
     .help = "a trajectory of all vertices in place of a run of the full model"},
    TOOL_MATERIAL_EDIT_OPTIONS(chosen.motion.edits),
    SIMULATE_TIME_OPTIONS(chosen.motion, "newmark|energy|central|static|euler|bdf2", "", &chosen.steps_given),
    {"every", 0, TOOL_INTEGER, &chosen.motion.every, "N", "1", .low = 1, .high = 1e12, .help = "measure every Nth step",
     .given = &chosen.every_given},
    SIMULATE_FORCE_OPTIONS(chosen.motion),
    {"probe", 0, TOOL_TEXTS, &chosen.probes, "VERTEX:AXIS",
     .help = "also amplitude and frequency of 12:y or surface:5:z; may stand several times"},
    {"limit", 0, TOOL_REAL, &chosen.limit, "X", NULL, .low = 1e-300, .high = 1e300,
     .help = "exit 1 where a velocity error (in statics: position) is above X"},
    {"csv", 0, TOOL_TEXT, &chosen.table, "FILE", .help = "also write the table as CSV", .silent = true},
};

int main(int argc, char **argv)
{
    validation v = {.choice = &chosen};
    sp_list table = {0};
    int64_t failed = 0;
    v.context =
        tool_begin(&(tool_spec){"simvalidate", "MESH", 1, 1,
                                "Errors of reduced models beside the full one. Exit 0: within the limit, 1: not.",
                                options, TOOL_COUNT(options), TOOL_THREADS,
                                "  simvalidate spoon.npz --basis basis.npz --poly poly.npz --ranks 5,10,20 --loads "
                                "pull.csv --dt 0.01 --steps 500\n"
                                "  simvalidate dragon.npz --basis basis.npz --cub 50.npz --cub 100.npz --model "
                                "cubature,direct --loads pull.csv --csv table.csv\n"},
                   argc, argv);
    simulation_refuse_idle(&chosen.motion);
    if (chosen.reference && (chosen.steps_given || chosen.every_given))
        tool_fail(SP_USAGE, NULL,
                  "--steps and --every: with --reference its frames say how far to go and what to measure");
    validation_open(&v);
    while (validation_bring(&v)) {
        for (int64_t k = 0; k < v.frames.count && v.probe_count; k++) {
            validation_keep(&v.time, v.frames.time[k]);
            validation_keep_probes(&v, v.frames.u + k * v.mass.order, v.value);
        }
        for (int64_t i = 0; i < v.run_count; i++)
            validation_follow(&v, &v.runs[i]);
    }
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
