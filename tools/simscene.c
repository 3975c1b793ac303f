/* simscene: motion of a scene of bodies in contact. */
#include "tools/scene/run.h"

static simulate_choice chosen;
static simulate_scene_choice scene;

static const tool_option integration_options[] = {
    {"integrator", 0, TOOL_CHOICE, &chosen.integrator, .standard = "newmark", .choices = SIMULATE_IN_SCENES,
     .help = "of the deformation of bodies that are not free. newmark: implicit; energy: implicit, conserves energy "
             "exactly"},
};

static const tool_option output_options[] = {
    {"contacts", 0, TOOL_FLAG, &scene.contacts, .help = "record every penetrating point with its force"},
    {"timings", 0, TOOL_WRITTEN, &scene.timings, .argument = "CSV", .silent = true,
     .help = "write how long each step took"},
    {"replay", 0, TOOL_INPUT, &scene.replay, .argument = "LOG",
     .help = "take the steps of a log of simserve again, which gives their number, their length and the integrator"},
};

static const tool_table tables[] = {
    {.title = "Time integration", .options = integration_options, .count = TOOL_COUNT(integration_options)},
    {.title = "Time integration", .options = simulate_time_options, .count = SIMULATE_TIME_COUNT, .base = &chosen},
    {.title = "Output", .options = output_options, .count = TOOL_COUNT(output_options)},
    {.title = "Output", .options = simulate_keep_options, .count = SIMULATE_KEEP_COUNT, .base = &chosen},
    {0},
};

static const tool_sibling siblings[] = {
    {"simulate", "gravity basis poly cub rank damping-mass damping-stiffness",
     "a scene says it by a key of its own (formats/scene.md)"},
    {"simfull", "ground ground-stiffness ground-alpha friction",
     "a scene has planes as models, and the keys of \"contact\" (formats/scene.md)"},
    {0},
};

static const tool_spec spec = {
    .name = "simscene",
    .arguments = "SCENE",
    .least = 1,
    .most = 1,
    .summary = "Motion of a scene: rigid and reduced bodies in contact, moved by paths or a virtual coupling.",
    .tables = tables,
    .siblings = siblings,
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  simscene scene.json --dt 0.001 --steps 5000 --contacts -o motion.npz\n",
};

static void leave_to_the_log(void)
{
    static const char *const names[] = {"integrator", "dt",        "steps",      "semi-implicit", "beta",
                                        "gamma",      "tolerance", "iterations", "checkpoint",    "partial"};
    for (int i = 0; i < TOOL_COUNT(names); i++)
        tool_option_idle(names[i], "with --replay");
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    simulate_check_options(&chosen);
    if (scene.replay)
        leave_to_the_log();
    simulate_scene(context, tool_argument(0), &chosen, &scene);
    return tool_end();
}
