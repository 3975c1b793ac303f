/* The judgement of the steps that an integrator has taken. */
#ifndef SP_RUN_STEPS_WATCH_H
#define SP_RUN_STEPS_WATCH_H

#include "base/remarks.h"
#include "integrate/integrate.h"

/* Remarks on steps that stopped above the tolerance, whose matrices were not positive definite, or that were taken in
 * parts. */
void sp_steps_judge(const sp_integrator_report *report, sp_remarks *remarks);

#endif
