/* simscene: motion of a scene of bodies in contact. */
#include "tools/scene/scene.h"

static simulate_choice chosen;
static simulate_scene_choice scene;

static const tool_option integration_options[] = {
    {"integrator", 0, TOOL_CHOICE, &chosen.integrator, .standard = "newmark", .choices = "newmark|energy",
     .help = "of the deformation of bodies that are not free. newmark: implicit; energy: implicit, conserves energy "
             "exactly"},
};

static const tool_option output_options[] = {
    {"contacts", 0, TOOL_FLAG, &scene.contacts, .help = "record every penetrating point with its force"},
    {"timings", 0, TOOL_TEXT, &scene.timings, .argument = "CSV", .silent = true,
     .help = "write how long each step took"},
};

static const tool_table tables[] = {
    {.title = "Time integration", .options = integration_options, .count = TOOL_COUNT(integration_options)},
    {.title = "Time integration", .options = simulate_time_options, .count = SIMULATE_TIME_COUNT, .base = &chosen},
    {.title = "Output", .options = output_options, .count = TOOL_COUNT(output_options)},
    {.title = "Output", .options = simulate_keep_options, .count = SIMULATE_KEEP_COUNT, .base = &chosen},
    {0},
};

static const tool_spec spec = {
    .name = "simscene",
    .arguments = "SCENE",
    .least = 1,
    .most = 1,
    .summary = "Motion of a scene: rigid and reduced bodies in contact, moved by paths or a virtual coupling.",
    .tables = tables,
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  simscene scene.json --dt 0.001 --steps 5000 --contacts -o motion.npz\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    simulate_check_options(&chosen);
    simulate_scene(context, tool_argument(0), &chosen, &scene);
    return tool_end();
}
