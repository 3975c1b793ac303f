#include "tools/simulate/simulation.h"

void simulation_refuse_idle(const simulate_choice *c)
{
    bool newmark = c->integrator == SP_NEWMARK, newton = c->integrator != SP_CENTRAL;
    const struct {
        bool idle;
        const char *text;
    } rules[] = {
        {!newmark && (c->beta_given || c->gamma_given || c->semi_implicit), "--beta, --gamma and --semi-implicit belong to --integrator newmark"},
        {(!newton || c->semi_implicit) && (c->tolerance_given || c->iterations_given), "--tolerance and --iterations belong to integrators that iterate"},
        {c->integrator == SP_STATIC && (c->damping_mass_given || c->damping_stiffness_given), "--damping-mass and --damping-stiffness do nothing in statics"},
        {c->integrator == SP_STATIC && c->viscosity.count, "--viscosity does nothing in statics"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].idle)
            tool_fail(SP_USAGE, NULL, "%s", rules[i].text);
}
