/* masspca's weights of the snapshot columns. Ends the process on failure. */
#ifndef TOOLS_BASIS_SCALING_H
#define TOOLS_BASIS_SCALING_H

#include "tools/basis/candidates.h"

enum scaling { SCALING_AUTO, SCALING_EIGENVALUE, SCALING_RAYLEIGH, SCALING_PRODUCT, SCALING_UNIT, SCALING_NONE };

/* Scales the columns of the set and removes those that have no scale: rigid motions, with eigenvalue, rayleigh and
 * product. The column norms can refer to several masses: `metric` is that of the basis, the other two are for modes,
 * whose file tells which one applies. */
void candidates_scale(candidates *set, enum scaling scaling, sp_fe_space *body, const sp_metric *metric,
                      const sp_metric *consistent, const sp_metric *lumped);

#endif
