#include "run/steps_watch.h"

void sp_steps_judge(const sp_integrator_report *report, sp_remarks *remarks)
{
    if (report->stagnated && report->worst_residual > 1e-8)
        sp_remarks_add(remarks, "%lld steps stopped at a residual up to %.1e", (long long)report->stagnated,
                       report->worst_residual);
    if (report->indefinite)
        sp_remarks_add(
            remarks,
            "%lld matrices were not positive definite (buckling or a step too large); the steps converged with a "
            "definite one",
            (long long)report->indefinite);
    if (report->parted)
        sp_remarks_add(remarks, "%lld steps did not converge at once and were taken in parts, down to 1/%.0f of a step",
                       (long long)report->parted, 1 / report->smallest_part);
}
