/* simreduce: the smallest reduced-order model that keeps an error, for a family of loads. */
#include "formats/plain.h"
#include "tools/common/shell.h"
#include "tools/reduce/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static reduce_choice chosen;
static const char *error_text, *step_text;
static double damping_mass, damping_stiffness;

static const tool_option load_options[] = {
    {"loads", 0, TOOL_INPUTS, &chosen.loads, "CSV",
     .help = "external loads, t0,t1,kind,id,fx,fy,fz; several files span a family: what lies between them"},
    {"gravity", 0, TOOL_VECTOR, chosen.gravity, "X,Y,Z", "0,0,0", .count = 3, .help = "acceleration of gravity, m/s2"},
    {"frame", 0, TOOL_INPUT, &chosen.frame, "CSV", .only = "quantity!=stress",
     .help = "the body moves with a frame along this path, t,x,y,z,qw,qx,qy,qz, as a base that shakes"},
    {"touch", 0, TOOL_TEXT, &chosen.touch, "LIST",
     .help = "contact: a random force on one of these vertices at a time, 3,17-20, near:X,Y,Z, set:NAME, surface:120"},
    {"force", 0, TOOL_REAL, &chosen.force, "NEWTON", NULL, .low = 1e-300, .high = 1e300, .only = "touch",
     .help = "its largest component, N"},
    {"least", 0, TOOL_REAL, &chosen.low, "X", "0.2", .low = 0, .high = 1e6,
     .help = "the smallest amplitude of the family, a factor on the loads"},
    {"most", 0, TOOL_REAL, &chosen.high, "X", "1.2", .low = 1e-6, .high = 1e6, .help = "the largest amplitude"},
    {"held-out", 0, TOOL_INTEGER, &chosen.held_out, "N", "8", .low = 1, .high = 1000,
     .help = "random loads of the family that judge and are not trained"},
};

static const tool_option motion_options[] = {
    {"dt", 0, TOOL_TEXT, &step_text, "STEP", "0.01",
     .help = "time step, s; auto: one whose error is at most a fifth of --error, which then includes it"},
    {"steps", 0, TOOL_INTEGER, &chosen.steps, "N", "100", .low = 1, .high = 100000000, .only = "!duration",
     .help = "number of steps"},
    {"duration", 0, TOOL_REAL, &chosen.duration, "S", NULL, .low = 1e-300, .high = 1e300,
     .help = "of the motion, s, in place of a number of steps"},
    {"integrator", 0, TOOL_CHOICE, &chosen.integrator, NULL, "newmark", REDUCE_INTEGRATORS,
     .help = "of all motions; euler damps, as in many animation systems"},
    {"damping-mass", 0, TOOL_REAL, &damping_mass, "A", NULL, .low = 0, .high = 1e300,
     .help = "alpha of Rayleigh damping alpha M + beta K(q), 1/s (default: that of the mesh)"},
    {"damping-stiffness", 0, TOOL_REAL, &damping_stiffness, "B", NULL, .low = 0, .high = 1e300,
     .help = "its beta, s (default: that of the mesh)"},
};

static const tool_option goal_options[] = {
    {"error", 0, TOOL_TEXT, &error_text, "PART", "1%", .only = "!budget", .help = "largest relative error: 1% or 0.01"},
    {"quantity", 0, TOOL_CHOICE, &chosen.quantity, NULL, "position",
     "position|velocity|largest|energy|stress|frequency",
     .help = "of what; largest: of the displacement of any vertex, relative to the largest one; stress: of von Mises, "
             "at all vertices; frequency: of --probe"},
    {"probe", 0, TOOL_TEXT, &chosen.probe, "VERTEX:AXIS", .only = "quantity=frequency",
     .help = "whose free vibration has the frequency: 12:y, surface:5:z or near:X,Y,Z:x"},
    {"budget", 0, TOOL_REAL, &chosen.budget, "US", NULL, .low = 1e-3, .high = 1e9,
     .help =
         "in place of an error the time of a step on this machine, in microseconds: the most accurate model within"},
    {"rank", 'r', TOOL_INTEGER, &chosen.rank, "R", "60", .low = 2, .high = 400, .help = "at most R coordinates"},
    {"best", 0, TOOL_FLAG, &chosen.best, .only = "!budget",
     .help = "where no model keeps the error, write the most accurate one"},
    {"time", 0, TOOL_REAL, &chosen.time, "S", NULL, .low = 0.001, .high = 1e9,
     .help = "begin no further improvement after so many seconds"},
    {"keep", 0, TOOL_FLAG, &chosen.keep, .help = "keep the folder NAME.work with all that was made on the way"},
};

static const tool_table tables[] = {
    {.title = "Loads", .options = load_options, .count = TOOL_COUNT(load_options)},
    {.title = "Motion", .options = motion_options, .count = TOOL_COUNT(motion_options)},
    {.title = "Goal", .options = goal_options, .count = TOOL_COUNT(goal_options)},
    {0},
};

static const tool_spec spec = {
    .name = "simreduce",
    .arguments = "MESH",
    .least = 1,
    .most = 1,
    .summary = "The smallest reduced-order model that keeps an error. Exit 0: found, 1: no model keeps it.",
    .tables = tables,
    .common = TOOL_OUTPUT | TOOL_ANY_FORMAT | TOOL_THREADS | TOOL_SEED,
    .examples = "  simreduce spoon.npz --loads pull.csv --dt auto --duration 0.3 --error 3% \\\n"
                "    -o spoon\n"
                "  simreduce spoon.npz --loads pull.csv --loads push.csv --dt 0.005 --steps 200 \\\n"
                "    --quantity velocity --error 5% --best -o spoon\n",
};

/* 1% or 0.01 */
static double parse_error(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end > text && !strcmp(end, "%"))
        value /= 100;
    else if (*end || end == text)
        value = NAN;
    if (!(value > 0 && value < 1))
        tool_fail(SP_USAGE, NULL, "--error: \"%s\" is not between 0 and 1, or 0%% and 100%%", text);
    return value;
}

/* The step and the number of steps of the motion; no step where the search has to find it. */
static void set_steps(void)
{
    static char number[TOOL_SHELL_REAL];
    static const double most = 1e8;
    char *end;
    const double step = strtod(step_text, &end);

    if (!strcmp(step_text, "auto")) {
        if (!(chosen.duration > 0))
            tool_fail(SP_USAGE, NULL, "--dt auto needs the --duration of the motion");
        chosen.step = NULL;
        return;
    }

    if (end == step_text || *end || !(step >= 1e-300 && step <= 1e300))
        tool_fail(SP_USAGE, NULL, "--dt: \"%s\" is neither a time step above 0 s nor auto", step_text);
    chosen.step = tool_shell_real(step, number);
    if (!(chosen.duration > 0)) {
        chosen.duration = step * (double)chosen.steps;
        return;
    }

    /* A last step that is longer by rounding alone is none. */
    const double steps = ceil(chosen.duration / step * (1 - 1e-12));
    if (!(steps <= most))
        tool_fail(SP_USAGE, NULL, "--duration %g: that are %g steps of %s s, above %g", chosen.duration, steps,
                  chosen.step, most);
    chosen.steps = (int64_t)steps;
    chosen.duration = step * steps;
}

/* Names go into a script and into other command lines. */
static void check_name(const char *name)
{
    if (*name == '-')
        tool_fail(SP_USAGE, NULL,
                  "a name that begins with - is an option to the programs that are run: write ./ before it");
    if (!sp_is_plain(name))
        tool_fail(SP_USAGE, NULL, "a name with control characters cannot be in a script");
}

static void check_options(sp_context *context)
{
    static char number[2][TOOL_SHELL_REAL];
    const double *g = chosen.gravity;
    chosen.mesh = tool_argument(0);
    chosen.name = tool_output_path();
    check_name(chosen.mesh);
    check_name(chosen.name);
    if (chosen.frame)
        check_name(chosen.frame);
    for (int64_t i = 0; i < chosen.loads.count; i++)
        check_name(chosen.loads.value[i]);

    chosen.seed = context->seed;
    chosen.error = chosen.budget > 0 ? 0.01 : parse_error(error_text);
    set_steps();
    chosen.damping_mass = tool_option_given("damping-mass") ? tool_shell_real(damping_mass, number[0]) : NULL;
    chosen.damping_stiffness =
        tool_option_given("damping-stiffness") ? tool_shell_real(damping_stiffness, number[1]) : NULL;

    if (!chosen.loads.count && !chosen.touch && !chosen.frame && g[0] == 0 && g[1] == 0 && g[2] == 0)
        tool_fail(SP_USAGE, NULL,
                  "a model is for certain loads: name some with --loads, --touch, --frame or --gravity");
    if (chosen.touch && !(chosen.force > 0))
        tool_fail(SP_USAGE, NULL, "--touch needs the largest --force");
    if (chosen.quantity == REDUCE_FREQUENCY && !chosen.probe)
        tool_fail(SP_USAGE, NULL, "--quantity frequency needs a --probe");
    if (chosen.low > chosen.high)
        tool_fail(SP_USAGE, NULL, "--least %g is above --most %g", chosen.low, chosen.high);
}

/* What a folder of work belongs to. */
static const char *describe(reduce_search *s)
{
    const reduce_choice *c = &chosen;
    return reduce_text(
        &s->commands, "mesh %s, loads %016llx, %s", s->mesh.hash, (unsigned long long)s->family.sum,
        reduce_text(&s->commands,
                    "Supple " SUPPLE_VERSION
                    " integrator %d dt %s duration %.17g gravity %.17g,%.17g,%.17g damping %s %s rank %lld "
                    "amplitudes %.17g %.17g seed %llu",
                    c->integrator,
                    c->step ? c->step : reduce_text(&s->commands, "auto %d %.17g", c->quantity, c->error), c->duration,
                    c->gravity[0], c->gravity[1], c->gravity[2], c->damping_mass ? c->damping_mass : "",
                    c->damping_stiffness ? c->damping_stiffness : "", (long long)c->rank, c->low, c->high,
                    (unsigned long long)c->seed));
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    reduce_search search = {.context = context, .choice = &chosen};
    bool found;

    check_options(context);
    reduce_open(&search);
    if (tool_option_given("threads"))
        search.commands.threads = reduce_text(&search.commands, "%d", context->threads);
    reduce_commands_open(&search.commands, reduce_text(&search.commands, "%s.work", chosen.name), describe(&search));
    reduce_make_reference(&search);
    reduce_find(&search);

    found = search.chosen > 0;
    if (!found)
        reduce_explain(&search);
    if (search.chosen > 0)
        found &= reduce_write_model(&search);
    reduce_report(&search);
    reduce_close(&search, found);

    const int status = tool_end();
    return status == SP_OK && !found ? SP_NO : status;
}
