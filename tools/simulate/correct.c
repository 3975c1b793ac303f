#include "tools/simulate/correct.h"

#include "tools/common/solve.h"

sp_static_correction *correct_begin(simulation *s, const sp_run_body *body)
{
    sp_static_correction *correction = NULL;
    if (!s->choice->correct)
        return NULL;
    const int status = sp_static_correction_new(body, &correction);
    tool_check(status, status == SP_USAGE ? s->choice->loads : s->mesh.path);
    return correction;
}

void correct_displacements(const simulation *s, sp_static_correction *correction, double *u)
{
    const int status = sp_static_correction_add(correction, u);
    if (status == SP_NUMERICAL)
        tool_hint("--static-correction needs a constrained body");
    tool_check_solve(status, s->mesh.path, s->body, NULL);
}

void correct_report(const sp_static_correction *correction, double motion, json_t *result)
{
    if (!correction)
        return;
    const double energy = sp_static_correction_energy(correction), part = motion > 0 ? energy / motion : 0;
    tool_facts(result, sp_kind_trajectory.result, {"correction_energy", .real = energy});
    tool_say("static correction: at most %.3g J, %.2g of the largest energy of the motion", energy, part);
}
