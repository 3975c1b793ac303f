#include "tools/simulate/simulation.h"

void simulation_refuse_idle(const simulate_choice *c)
{
    const bool newmark = c->integrator == SP_NEWMARK, linear = c->integrator == SP_LINEAR_EULER,
               newton = c->integrator != SP_CENTRAL && c->integrator != SP_EXACT && !linear;
    const struct {
        bool idle;
        const char *text;
    } rules[] = {
        {!newmark && (c->gamma_given || c->semi_implicit),
         "--gamma and --semi-implicit belong to --integrator newmark"},
        {!newmark && !linear && c->beta_given, "--beta belongs to --integrator newmark and linear-euler"},
        {c->halvings_given && (c->integrator == SP_CENTRAL || c->integrator == SP_EXACT || c->integrator == SP_STATIC),
         "--halvings belongs to implicit integrators"},
        {c->integrator == SP_EXACT && c->model != MODEL_MODAL, "--integrator exact belongs to --model modal"},
        {(!newton || c->semi_implicit) && (c->tolerance_given || c->iterations_given),
         "--tolerance and --iterations belong to integrators that iterate"},
        {c->integrator == SP_STATIC && (c->damping_mass_given || c->damping_stiffness_given),
         "--damping-mass and --damping-stiffness do nothing in statics"},
        {c->integrator == SP_STATIC && c->viscosity.count, "--viscosity does nothing in statics"},
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].idle)
            tool_fail(SP_USAGE, NULL, "%s", rules[i].text);
    if (c->beta_given && !(c->beta > 0 && (linear || c->beta <= 1)))
        tool_fail(SP_USAGE, NULL, "--beta: %g is out of range, of %s", c->beta,
                  linear ? "linear-euler above 0" : "newmark above 0 and up to 1");
}
