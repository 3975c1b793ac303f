/* Frequencies of modes as a table. */
#ifndef TOOLS_EXPORT_MODES_H
#define TOOLS_EXPORT_MODES_H

#include "base/context.h"

/* Returns true if the files are one of kind modes, and possibly the mesh. */
bool tool_export_has_modes(sp_context *context, int64_t count, const char *const *paths);

/* Writes a line for each mode: its number from 1, frequency in Hz and rad/s, residual, and with the mesh the effective
 * masses (ψᵀMe)² / ψᵀMψ along x, y and z, kg. Ends the process on failure. */
void tool_export_modes(sp_context *context, int64_t count, const char *const *paths, const char *target);

#endif
