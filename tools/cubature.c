/* cubature: trains reduced cubature (hyper-reduction) for any material. */
#include "tools/cubature/problem.h"

#include "reduced/mass.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static cubature_choice chosen;

static const tool_option options[] = {
    {"method", 0, TOOL_CHOICE, &chosen.method, NULL, "nnls", "greedy|nnls|htp|modal",
     .help = "nnls: least squares over all elements; greedy: one element after another; htp: hard thresholding "
             "pursuit; modal: weights by coordinate"},
    {"tolerance", 0, TOOL_REAL, &chosen.tolerance, "X", "0.01", .low = 0, .high = 0.999,
     .help = "stop at this relative error of the forces; 0: go to the minimum", .given = &chosen.tolerance_given},
    {"metric", 0, TOOL_CHOICE, &chosen.metric, NULL, "energy", "energy|force",
     .help = "energy: coordinates of the force by the root of their stiffness, so that soft ones count; force: the "
             "plain norm, as in the papers"},
    {"linear", 0, TOOL_CHOICE, &chosen.linear, NULL, "auto", "auto|sampled|exact",
     .help = "exact: the linear part of the force is kept as a matrix, elements stand for the rest; sampled: elements "
             "stand for all; auto: exact with modal"},
    {"elements", 'n', TOOL_INTEGER, &chosen.elements, "N", NULL, .low = 1, .high = 1e9,
     .help = "at most N elements; modal without --tolerance: about N, 100 where N is not named"},
    {"candidates", 0, TOOL_INTEGER, &chosen.candidates, "N", "1000", .low = 0, .high = 1e9,
     .help = "greedy: random subset to choose from in each round; 0: all elements", .given = &chosen.candidates_given},
    {"exchanges", 0, TOOL_INTEGER, &chosen.exchanges, "N", "0", .low = 0, .high = 1e6,
     .help = "then exchange chosen elements, one at a time, for those that lower the error most, in at most N sweeps"},
    {"rank", 'r', TOOL_INTEGER, &chosen.r, "R", NULL, .low = 1, .high = 10000,
     .help = "use the first R columns of the basis (default: all)"},
    {"poses", 0, TOOL_INTEGER, &chosen.samples, "T", NULL, .low = 0, .high = 1e8,
     .help = "random poses (default: 200 where no file of poses is named)", .given = &chosen.samples_given},
    {"spectrum", 0, TOOL_CHOICE, &chosen.spectrum, NULL, "both", "both|energy|force",
     .help = "of random poses: the same mean energy in all coordinates, as in the papers; the same mean force, so that "
             "soft ones move most; both in turns",
     .given = &chosen.spectrum_given},
    {"amplitude", 0, TOOL_REAL, &chosen.amplitude, "A", NULL, .low = 1e-300, .high = 1e300,
     .help = "standard deviation of their coordinates times the root of their stiffness, sqrt(J)",
     .given = &chosen.amplitude_given},
    {"deflection", 0, TOOL_REAL, &chosen.deflection, "X", "0.1", .low = 1e-9, .high = 100,
     .help = "in place of --amplitude: the largest displacement by one deviation of the softest coordinate, by the "
             "body's diagonal",
     .given = &chosen.deflection_given},
    {"every", 0, TOOL_INTEGER, &chosen.every, "N", "1", .low = 1, .high = 1e12,
     .help = "of files take the first and every Nth pose"},
    {"held-out", 0, TOOL_INTEGER, &chosen.held_out, "T", "50", .low = 0, .high = 1e8,
     .help = "poses that judge and are not fitted: random ones, or some of the files' where none is random",
     .given = &chosen.held_out_given},
    {"held-out-seed", 0, TOOL_INTEGER, &chosen.held_out_seed, "N", "1000003", .low = 0, .high = 1e15,
     .help = "seed of the random ones among them", .given = &chosen.held_out_seed_given},
    {"held-out-file", 0, TOOL_INPUTS, &chosen.held_out_files, "FILE",
     .help = "poses to judge by, from a file; may stand several times"},
    {"nested", 0, TOOL_FLAG, &chosen.nested,
     .help = "second weights on half of the elements, for an estimate of the error at run time"},
    {"incremental", 0, TOOL_FLAG, &chosen.incremental,
     .help = "modal: random poses, more of them where the fit is worst, until its error settles"},
    {"change", 0, TOOL_REAL, &chosen.change, "X", "0.005", .low = 1e-12, .high = 1,
     .help = "incremental: stop when the error changes by less", .given = &chosen.change_given},
    {"rounds", 0, TOOL_INTEGER, &chosen.rounds, "N", "1000", .low = 1, .high = 1e6,
     .help = "incremental: stop after N rounds at the latest", .given = &chosen.rounds_given},
    {"worst", 0, TOOL_CHOICE, &chosen.worst, NULL, "relative", "relative|absolute",
     .help = "incremental: the fit of a pose is worst by its error over its own force, or by the error itself",
     .given = &chosen.worst_given},
    {"no-adjustment", 0, TOOL_FLAG, &chosen.no_adjustment,
     .help = "incremental: add poses about rest, not where the fit is worst"},
    {"training-only", 0, TOOL_FLAG, &chosen.training_only, .help = "write the poses and their forces, and stop"},
    {"shard", 0, TOOL_TEXT, &chosen.shard, "I/N",
     .help = "with --training-only: only the Ith of N parts; simmerge joins them"},
    {"memory", 0, TOOL_SIZE, &chosen.memory, "SIZE", "1G", .help = "bound on the working memory of poses"},
    {"checkpoint", 0, TOOL_TEXT, &chosen.checkpoint, "FILE", .silent = true,
     .help = "keep what is done in FILE and go on from there; it is removed when all is written"},
};

/* An option that the method has no use for is a mistake, not something to pass over. */
static void refuse_idle_options(void)
{
    bool modal = chosen.method == METHOD_MODAL, files = tool_argument_count() > 2;
    bool random = chosen.incremental || (chosen.samples_given ? chosen.samples > 0 : !files); /* some poses are */
    const struct {
        bool idle;
        const char *text;
    } rules[] = {
        {chosen.candidates_given && chosen.method != METHOD_GREEDY, "--candidates belongs to --method greedy"},
        {chosen.incremental && chosen.tolerance_given, "--tolerance: --incremental takes --elements"},
        {modal && chosen.exchanges, "--exchanges: the modal method places its elements evenly"},
        {modal && chosen.checkpoint, "--checkpoint: the modal method does not need it"},
        {!modal && chosen.incremental, "--incremental belongs to --method modal"},
        {!chosen.incremental && (chosen.change_given || chosen.no_adjustment),
         "--change and --no-adjustment belong to --incremental"},
        {chosen.worst_given && !chosen.incremental, "--worst belongs to --incremental"},
        {chosen.worst_given && chosen.no_adjustment,
         "--worst chooses poses for the adjustment, which --no-adjustment leaves out"},
        {!chosen.incremental && chosen.rounds_given, "--rounds belongs to --incremental"},
        {chosen.incremental && (chosen.samples_given || files), "--incremental makes its own poses"},
        {chosen.incremental && chosen.training_only, "--incremental chooses poses while it fits"},
        {chosen.amplitude_given && chosen.deflection_given, "name --amplitude or --deflection, not both"},
        {(chosen.amplitude_given || chosen.deflection_given || chosen.spectrum_given) && !random,
         "--amplitude, --deflection and --spectrum are for random poses (--poses)"},
        {chosen.spectrum_given && chosen.incremental, "--spectrum: --incremental chooses its deviations itself"},
        {chosen.held_out_seed_given && (!random || chosen.held_out == 0),
         "--held-out-seed is for random poses, some of them held out"},
        {chosen.every != 1 && !files && !chosen.held_out_files.count, "--every is for files of poses"},
        {chosen.shard && !chosen.training_only, "--shard belongs to --training-only"},
        {chosen.training_only &&
             (chosen.tolerance_given || chosen.elements || chosen.exchanges || chosen.nested || chosen.held_out_given ||
              chosen.held_out_seed_given || chosen.held_out_files.count || chosen.checkpoint),
         "--training-only fits nothing: leave out the options of fitting and judging"},
        {chosen.tolerance_given && chosen.tolerance == 0 && chosen.method != METHOD_NNLS && !chosen.elements,
         "--tolerance 0 needs --elements with this method"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].idle)
            tool_fail(SP_USAGE, NULL, "%s", rules[i].text);
    static const char *const of_fits[] = {"method", "metric", "linear"};
    for (size_t i = 0; i < sizeof of_fits / sizeof *of_fits && chosen.training_only; i++)
        tool_option_idle(of_fits[i], "with --training-only, which fits nothing");
}

static void read_problem(cubature_problem *p)
{
    static const char *const kinds[] = {"basis", "modes", "snapshots", NULL};
    tool_read_mesh(tool_argument(0), NULL, &p->mesh);
    tool_read_columns(tool_argument(1), NULL, kinds, &p->mesh, &p->basis);
    p->r = chosen.r ? chosen.r : p->basis.columns.count;
    if (p->r > p->basis.columns.count)
        tool_fail(SP_USAGE, p->basis.path, "--rank %lld: the file has %lld columns", (long long)p->r,
                  (long long)p->basis.columns.count);
    tool_check(sp_fe_space_new(p->context, &p->mesh.mesh, &p->body), p->mesh.path);
    tool_hold_rows(&p->mesh.mesh, &p->basis);
    p->mass = tool_allocate(&p->pool, p->r * p->r, sizeof(double));
    p->stiffness = tool_allocate(&p->pool, p->r * p->r, sizeof(double));
    p->gravity = tool_allocate(&p->pool, 3 * p->r, sizeof(double));
    p->quotient = tool_allocate(&p->pool, p->r, sizeof(double));
    p->deviation = tool_allocate(&p->pool, p->r, sizeof(double));
    p->softer = tool_allocate(&p->pool, p->r, sizeof(double));
    tool_check(
        sp_reduced_mass(p->context, &p->body, p->basis.columns.lumped, p->r, p->basis.columns.U, p->mass, p->gravity),
        p->basis.path);
}

/* Error and mean deviation of either weights on some poses, in one norm; NaN without poses, and in the energy norm
 * where it has no meaning. */
static double error_on(cubature_problem *p, const sp_poses *poses, const sp_cubature *cubature, bool nested,
                       enum sp_norm norm, double *deviation)
{
    sp_training_measure measure = {norm == SP_NORM_ENERGY ? p->energy_scale : NULL, cubature->stiffness};
    sp_training *training;
    double error;
    *deviation = NAN;
    if (poses->count == 0 || (norm == SP_NORM_ENERGY && !p->energy_scale))
        return NAN;
    tool_check(sp_training_new(p->context, &p->body, p->basis.columns.U, &measure, poses, chosen.memory, &training),
               NULL);
    tool_check(sp_cubature_error(p->context, training, cubature, nested, &error, deviation), NULL);
    sp_training_free(training);
    if (!isfinite(error) || !isfinite(*deviation))
        tool_fail(SP_NUMERICAL, NULL, "the error of the forces is not finite: a pose is too large");
    return error;
}

static void set_error(json_t *result, const char *name, const char *suffix, double error)
{
    char key[64];
    snprintf(key, sizeof key, "%s%s", name, suffix);
    json_object_set_new(result, key, isnan(error) ? json_null() : tool_real(key, error));
}

/* The errors in both norms, and, without a suffix, in that of the fit: on the poses that were fitted, of second weights
 * there, and on poses that took no part. */
static void judge(cubature_problem *p, const sp_cubature *cubature, json_t *result)
{
    static const char *const names[] = {"training_error", "held_out_error", "nested_error"},
                             *const norms[] = {"_force", "_energy"}, *const metrics[] = {"energy", "force"};
    const int own = chosen.metric == METRIC_ENERGY ? SP_NORM_ENERGY : SP_NORM_FORCE;
    double held_out[SP_NORMS];
    json_object_set_new(result, "elements", json_integer(cubature->count));
    json_object_set_new(result, "metric", json_string(metrics[chosen.metric]));
    json_object_set_new(result, "training_poses", json_integer(p->poses.count));
    json_object_set_new(result, "held_out_poses", json_integer(p->held_out.count));
    for (int k = 0; k < (cubature->nested ? 3 : 2); k++)
        for (int norm = 0; norm < SP_NORMS; norm++) {
            double deviation;
            const double error =
                error_on(p, k == 1 ? &p->held_out : &p->poses, cubature, k == 2, (enum sp_norm)norm, &deviation);
            set_error(result, names[k], norms[norm], error);
            if (norm == own && k < 2) /* the fit has said that of second weights */
                set_error(result, names[k], "", k == 0 && p->poses.count == 0 ? 0 : error);
            if (norm == own && k < 2)
                set_error(result, k ? "held_out_deviation" : "training_deviation", "", deviation);
            if (k == 1)
                held_out[norm] = error;
        }
    if (p->held_out.count && p->energy_scale)
        tool_say("error on %lld poses held out: %.3g in the energy norm, %.3g in the force norm",
                 (long long)p->held_out.count, held_out[SP_NORM_ENERGY], held_out[SP_NORM_FORCE]);
    else if (p->held_out.count)
        tool_say("error on %lld poses held out: %.3g in the force norm", (long long)p->held_out.count,
                 held_out[SP_NORM_FORCE]);
    json_object_set_new(result, "amplitude", p->amplitude > 0 ? tool_real("amplitude", p->amplitude) : json_null());
    json_object_set_new(result, "resting_poses", json_integer(p->resting));
    json_object_set_new(result, "shrunk_poses", json_integer(p->shrunk));
}

static const tool_spec spec = {
    .name = "cubature",
    .arguments = "MESH BASIS [FILE...]",
    .least = 2,
    .most = -1,
    .summary = "Trains a reduced cubature (hyper-reduction): few weighted elements, for any material.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_THREADS | TOOL_SEED,
    .examples = "  cubature dragon.npz basis.npz --poses 500 --tolerance 0.01 -o cub.npz\n"
                "  cubature dragon.npz basis.npz motion.npz --nested -o cub.npz\n",
};

int main(int argc, char **argv)
{
    cubature_problem p = {.choice = &chosen};
    p.context = tool_begin(&spec, argc, argv);
    refuse_idle_options();
    read_problem(&p);
    cubature_collect_poses(&p);
    tool_output *output = tool_output_open(tool_output_path());
    json_t *meta = tool_meta_new(chosen.training_only ? "training" : "cubature"), *result = tool_result_new();
    json_object_set_new(meta, "mesh", json_string(p.mesh.hash));
    json_object_set_new(meta, "basis", json_string(p.basis.hash));
    if (chosen.training_only) {
        tool_check(sp_training_write(p.context, tool_output_writer(output), meta, &p.poses, p.first, p.total),
                   tool_output_path());
        json_object_set_new(result, "amplitude", p.amplitude > 0 ? tool_real("amplitude", p.amplitude) : json_null());
        json_object_set_new(result, "shrunk_poses", json_integer(p.shrunk));
        tool_output_finish(output, result);
    } else {
        sp_cubature cubature;
        (chosen.method == METHOD_MODAL ? cubature_modal : cubature_joint)(&p, &cubature, result);
        cubature.stiffness = cubature_keeps_linear(&p) ? p.stiffness : NULL;
        cubature.mass = p.mass;
        cubature.lumped = p.basis.columns.lumped;
        cubature.gravity = p.gravity;
        judge(&p, &cubature, result);
        tool_check(sp_cubature_write(p.context, tool_output_writer(output), meta, &cubature), tool_output_path());
        tool_output_finish(output, result);
        tool_checkpoint_finish(p.checkpoint);
        sp_cubature_free(&cubature);
    }
    json_decref(meta);
    sp_poses_free(&p.poses);
    sp_poses_free(&p.held_out);
    sp_fe_space_free(&p.body);
    sp_columns_free(&p.basis.columns);
    sp_mesh_free(&p.mesh.mesh);
    sp_pool_free(&p.pool);
    return tool_end();
}
