/* cubature: trains reduced cubature (hyper-reduction) for any material. */
#include "tools/common/shard.h"
#include "tools/cubature/problem.h"

#include "reduced/mass.h"

static cubature_choice chosen;

static const tool_option options[] = {
    {"method", 0, TOOL_CHOICE, &chosen.method, NULL, "nnls", "greedy|nnls|htp|modal", .only = "!training-only",
     .help = "nnls: least squares over all elements; greedy: one element after another; htp: hard thresholding "
             "pursuit; modal: weights by coordinate"},
    {"tolerance", 0, TOOL_REAL, &chosen.tolerance, "X", "0.01", .low = 0, .high = 0.999,
     .only = "!incremental !training-only", .help = "stop at this relative error of the forces; 0: go to the minimum",
     .given = &chosen.tolerance_given},
    {"metric", 0, TOOL_CHOICE, &chosen.metric, NULL, "energy", "energy|force", .only = "!training-only",
     .help = "energy: coordinates of the force by the root of their stiffness, so that soft ones count; force: the "
             "plain norm, as in the papers"},
    {"linear", 0, TOOL_CHOICE, &chosen.linear, NULL, "auto", "auto|sampled|exact", .only = "!training-only",
     .help = "exact: the linear part of the force is kept as a matrix, elements stand for the rest; sampled: elements "
             "stand for all; auto: exact with modal"},
    {"elements", 'n', TOOL_INTEGER, &chosen.elements, "N", NULL, .low = 1, .high = 1e9, .only = "!training-only",
     .help = "at most N elements; modal without --tolerance: about N, 100 where N is not named"},
    {"candidates", 0, TOOL_INTEGER, &chosen.candidates, "N", "1000", .low = 0, .high = 1e9, .only = "method=greedy",
     .help = "random subset to choose from in each round; 0: all elements"},
    {"exchanges", 0, TOOL_INTEGER, &chosen.exchanges, "N", "0", .low = 0, .high = 1e6,
     .only = "method!=modal !training-only",
     .help = "then exchange chosen elements, one at a time, for those that lower the error most, in at most N sweeps"},
    {"rank", 'r', TOOL_INTEGER, &chosen.r, "R", NULL, .low = 1, .high = 10000,
     .help = "use the first R columns of the basis (default: all)"},
    {"poses", 0, TOOL_INTEGER, &chosen.samples, "T", NULL, .low = 0, .high = 1e8,
     .help = "random poses (default: 200 where no file of poses is named)", .given = &chosen.samples_given},
    {"spectrum", 0, TOOL_CHOICE, &chosen.spectrum, NULL, "both", "both|energy|force", .only = "!incremental",
     .help = "of random poses: the same mean energy in all coordinates, as in the papers; the same mean force, so that "
             "soft ones move most; both in turns",
     .given = &chosen.spectrum_given},
    {"amplitude", 0, TOOL_REAL, &chosen.amplitude, "A", NULL, .low = 1e-300, .high = 1e300,
     .help = "standard deviation of their coordinates times the root of their stiffness, sqrt(J)",
     .given = &chosen.amplitude_given},
    {"deflection", 0, TOOL_REAL, &chosen.deflection, "X", "0.1", .low = 1e-9, .high = 100, .only = "!amplitude",
     .help = "in place of --amplitude: the largest displacement by one deviation of the softest coordinate, relative "
             "to the body's diagonal",
     .given = &chosen.deflection_given},
    {"every", 0, TOOL_INTEGER, &chosen.every, "N", "1", .low = 1, .high = 1e12,
     .help = "take the first pose of each file, and every Nth after it"},
    {"held-out", 0, TOOL_INTEGER, &chosen.held_out, "T", "50", .low = 0, .high = 1e8, .only = "!training-only",
     .help = "poses that judge and are not fitted: random ones, or some of the files' where none is random"},
    {"held-out-seed", 0, TOOL_INTEGER, &chosen.held_out_seed, "N", "1000003", .low = 0, .high = 1e15,
     .only = "!training-only", .help = "seed of the random ones among them", .given = &chosen.held_out_seed_given},
    {"held-out-file", 0, TOOL_INPUTS, &chosen.held_out_files, "FILE", .only = "!training-only",
     .help = "poses to judge by, from a file"},
    {"nested", 0, TOOL_FLAG, &chosen.nested, .only = "!training-only",
     .help = "second weights on half of the elements, for an estimate of the error at run time"},
    {"incremental", 0, TOOL_FLAG, &chosen.incremental, .only = "method=modal !poses !@files-of-poses",
     .help = "random poses, more of them where the fit is worst, until its error settles"},
    {"change", 0, TOOL_REAL, &chosen.change, "X", "0.005", .low = 1e-12, .high = 1, .only = "incremental",
     .help = "stop when the error changes by less"},
    {"rounds", 0, TOOL_INTEGER, &chosen.rounds, "N", "1000", .low = 1, .high = 1e6, .only = "incremental",
     .help = "stop after N rounds at the latest"},
    {"worst", 0, TOOL_CHOICE, &chosen.worst, NULL, "relative", "relative|absolute",
     .only = "incremental !no-adjustment",
     .help = "the fit of a pose is worst by its error over its own force, or by the error itself"},
    {"no-adjustment", 0, TOOL_FLAG, &chosen.no_adjustment, .only = "incremental",
     .help = "add poses about rest, not where the fit is worst"},
    {"training-only", 0, TOOL_FLAG, &chosen.training_only, .help = "write the poses and their forces, and stop"},
    TOOL_SHARD_OPTION(&chosen.shard, "training-only"),
    {"memory", 0, TOOL_SIZE, &chosen.memory, "SIZE", "1G", .help = "bound on the working memory of poses"},
    {"checkpoint", 0, TOOL_WRITTEN, &chosen.checkpoint, "FILE", .silent = true, .only = "method!=modal !training-only",
     .help = "keep what is done in FILE and go on from there; it is removed when all is written"},
};

/* Rules about values and numbers of files, which the conditions of options cannot express. */
static void check_poses(void)
{
    const bool files = tool_argument_count() > 2;
    const bool random = chosen.incremental || (chosen.samples_given ? chosen.samples > 0 : !files);

    const struct {
        bool idle;
        const char *text;
    } rules[] = {
        {(chosen.amplitude_given || chosen.deflection_given || chosen.spectrum_given) && !random,
         "--amplitude, --deflection and --spectrum are for random poses (--poses)"},
        {chosen.held_out_seed_given && (!random || chosen.held_out == 0),
         "--held-out-seed is for random poses, some of them held out"},
        {chosen.every != 1 && !files && !chosen.held_out_files.count, "--every is for files of poses"},
        {chosen.tolerance_given && chosen.tolerance == 0 && chosen.method != METHOD_NNLS && !chosen.elements,
         "--tolerance 0 needs --elements with this method"},
    };

    tool_inputs_are(files ? "files-of-poses" : "mesh-and-basis");
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].idle)
            tool_fail(SP_USAGE, NULL, "%s", rules[i].text);
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
    p->own_stiffness = tool_allocate(&p->pool, p->r, sizeof(double));
    p->gravity = tool_allocate(&p->pool, 3 * p->r, sizeof(double));
    p->quotient = tool_allocate(&p->pool, p->r, sizeof(double));
    p->deviation = tool_allocate(&p->pool, p->r, sizeof(double));
    p->softer = tool_allocate(&p->pool, p->r, sizeof(double));

    tool_check(
        sp_reduced_mass(p->context, &p->body, p->basis.columns.lumped, p->r, p->basis.columns.U, p->mass, p->gravity),
        p->basis.path);
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

static json_t *make_meta(const cubature_problem *p, const sp_kind *kind)
{
    json_t *meta = tool_meta_new(kind->name);
    tool_facts(meta, kind->meta, {"mesh", .text = p->mesh.hash}, {"basis", .text = p->basis.hash});
    return meta;
}

static void write_training(cubature_problem *p, tool_output *output)
{
    json_t *meta = make_meta(p, &sp_kind_training), *result = tool_result_new();
    tool_check(sp_training_write(p->context, tool_output_writer(output), meta, &p->poses, p->first, p->total),
               tool_output_path());
    tool_facts(result, sp_kind_training.result, {"amplitude", .real = p->amplitude, .none = !(p->amplitude > 0)},
               {"shrunk_poses", .integer = p->shrunk});
    tool_output_finish(output, result);
    json_decref(meta);
}

static void write_cubature(cubature_problem *p, tool_output *output)
{
    json_t *meta = make_meta(p, &sp_kind_cubature), *result = tool_result_new();
    sp_cubature cubature;
    (chosen.method == METHOD_MODAL ? cubature_modal : cubature_joint)(p, &cubature, result);
    cubature.stiffness = cubature_keeps_linear(p) ? p->stiffness : NULL;
    cubature.mass = p->mass;
    cubature.lumped = p->basis.columns.lumped;
    cubature.gravity = p->gravity;
    cubature_judge(p, &cubature, result);
    tool_check(sp_cubature_write(p->context, tool_output_writer(output), meta, &cubature), tool_output_path());
    tool_output_finish(output, result);
    tool_checkpoint_finish(p->checkpoint);
    sp_cubature_free(&cubature);
    json_decref(meta);
}

int main(int argc, char **argv)
{
    cubature_problem p = {.choice = &chosen};
    p.context = tool_begin(&spec, argc, argv);
    check_poses();
    read_problem(&p);
    cubature_collect_poses(&p);
    tool_output *output = tool_output_open(tool_output_path());
    (chosen.training_only ? write_training : write_cubature)(&p, output);
    sp_poses_free(&p.poses);
    sp_poses_free(&p.held_out);
    sp_fe_space_free(&p.body);
    sp_columns_free(&p.basis.columns);
    sp_mesh_free(&p.mesh.mesh);
    sp_pool_free(&p.pool);
    return tool_end();
}
