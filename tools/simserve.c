/* simserve: a scene in real time, moved through shared memory and UDP. */
#include "tools/common/tool.h"
#include "tools/serve/serve.h"

static simulate_choice integration;
static serve_choice chosen;
static server running;

static const tool_option time_options[] = {
    {"rate", 0, TOOL_REAL, &chosen.rate, .argument = "HZ", .standard = "1000", .low = 0.01, .high = 1e5,
     .help = "cycles in a second, each with one step of the scene"},
    {"dt", 0, TOOL_REAL, &chosen.step, .argument = "S", .low = 1e-300, .high = 1e300,
     .help = "time step in seconds (default: the time between two cycles)", .given = &chosen.step_given},
    {"steps", 0, TOOL_INTEGER, &chosen.steps, .argument = "N", .low = 1, .high = 1e12, .silent = true,
     .help = "end after so many cycles (default: when it is stopped)"},
    {"integrator", 0, TOOL_CHOICE, &integration.integrator, .standard = "newmark", .choices = SIMULATE_IN_SCENES,
     .help = "of the deformation of bodies that are not free. newmark: implicit; energy: implicit, conserves energy "
             "exactly"},
};

static const tool_option door_options[] = {
    {"udp", 0, TOOL_INTEGER, &chosen.port, .argument = "N", .low = 0, .high = 65535, .silent = true,
     .help = "listen for OSC messages on this UDP port; 0: on a free one, which is printed",
     .given = &chosen.port_given},
    {"address", 0, TOOL_TEXT, &chosen.address, .argument = "IP", .standard = "127.0.0.1", .silent = true, .only = "udp",
     .help = "the IPv4 address of this machine on which --udp listens, without authentication"},
    {"shared", 0, TOOL_TEXT, &chosen.shared, .argument = "/NAME", .silent = true,
     .help = "make shared memory of this name"},
    {"record", 0, TOOL_WRITTEN, &chosen.record, .argument = "LOG", .silent = true,
     .help = "write what acted in each step, for simscene --replay"},
    {"priority", 0, TOOL_INTEGER, &chosen.priority, .argument = "N", .standard = "50", .low = 0, .high = 99,
     .silent = true, .help = "real-time priority (SCHED_FIFO) where that is permitted; 0: none"},
};

static const tool_table tables[] = {
    {.title = "Time", .options = time_options, .count = TOOL_COUNT(time_options)},
    {.title = "Time",
     .options = simulate_time_options + SIMULATE_STEP_FIRST,
     .count = SIMULATE_TIME_COUNT - SIMULATE_STEP_FIRST,
     .base = &integration},
    {.title = "Server", .options = door_options, .count = TOOL_COUNT(door_options)},
    {0},
};

static const tool_spec spec = {
    .name = "simserve",
    .arguments = "SCENE",
    .least = 1,
    .most = 1,
    .summary =
        "A scene in real time: poses and forces in, poses, forces and coordinates out, by shared memory and UDP.",
    .tables = tables,
    .common = TOOL_THREADS,
    .examples = "  simserve scene.json --rate 1000 --udp 9000 --shared /scene --record log.npz\n"
                "  simscene scene.json --replay log.npz -o motion.npz\n",
};

int main(int argc, char **argv)
{
    running.context = tool_begin(&spec, argc, argv);
    simulate_check_options(&integration);
    if (!chosen.port_given && !chosen.shared)
        tool_fail(SP_USAGE, NULL, "nobody could reach it: give --udp PORT or --shared /NAME");
    server_load(&running, tool_argument(0), &integration, &chosen);
    server_run(&running, &chosen);
    server_report(&running);
    server_close(&running);
    return tool_end();
}
