/* Linear interface models: reduced mass and stiffness with interface coordinates, for other programs. */
#ifndef TOOLS_EXPORT_SUPERELEMENT_H
#define TOOLS_EXPORT_SUPERELEMENT_H

#include "base/context.h"

#include <stdbool.h>

/* paths [count]: a mesh and a file of columns with interfaces (modes --interface). Writes `target` in OpenFAST's
 * format, or as a JSON description with matrices in files beside it. acceleration [3]: of gravity, for OpenFAST only.
 */
void tool_export_superelement(sp_context *context, int count, const char *const *paths, const char *target,
                              bool openfast, const double acceleration[3]);

#endif
