#include "formats/damping.h"
#include "tools/sound/sound.h"

#include <math.h>

/* The damping of the mesh, where the options do not replace it. */
static void rayleigh(const sound_choice *choice, const tool_trajectory *motion, double damping[2])
{
    const bool same = sp_input_damping(&motion->mesh.mesh, damping);
    if (!same && !(choice->damping_mass_given && choice->damping_stiffness_given))
        tool_fail(SP_USAGE, motion->mesh.path,
                  "its regions have different damping: name one with --damping-mass and --damping-stiffness");
    if (choice->damping_mass_given)
        damping[0] = choice->damping_mass;
    if (choice->damping_stiffness_given)
        damping[1] = choice->damping_stiffness;
}

double *sound_damping(sp_context *context, const sound_choice *choice, const tool_trajectory *motion, sp_pool *pool)
{
    const sp_columns *modes = &motion->columns.columns;
    double *rate = tool_allocate(pool, modes->count, sizeof *rate), damping[2];
    sp_decay_times times = {0};
    rayleigh(choice, motion, damping);
    if (choice->damping_times) {
        int64_t count;
        const char *text = tool_read_bytes(choice->damping_times, "damping-times", pool, &count);
        tool_check(sp_damping_parse(context, text, count, pool, &times), choice->damping_times);
    }
    for (int64_t i = 0; i < modes->count; i++) {
        const double lambda = fmax(modes->eigenvalue[i], 0);
        rate[i] = damping[0] + damping[1] * lambda;
        if (times.count > 0)
            rate[i] += sp_decay_rate(&times, sqrt(lambda) / (2 * M_PI));
    }
    return rate;
}
