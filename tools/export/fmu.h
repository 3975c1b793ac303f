/* Reduced-order models as Functional Mock-up Units (simexport --to fmu). */
#ifndef TOOLS_EXPORT_FMU_H
#define TOOLS_EXPORT_FMU_H

#include "base/context.h"

#include <stdbool.h>

/* Writes `target` from a mesh, its basis, and its polynomials or its cubature, in any order. probes: the text of
 * --probe; NULL: none. sources_only: without a library. */
void tool_export_fmu(sp_context *context, int count, const char *const *paths, const char *target, const char *probes,
                     bool sources_only);

#endif
