/* Level sets of distance fields. */
#ifndef TOOLS_EXPORT_FIELD_H
#define TOOLS_EXPORT_FIELD_H

#include "base/context.h"

/* Writes the level set of the only file, of type field, as OBJ. Ends the process on failure; warns if the level set is
 * empty, or if it intersects the box and is open there. */
void tool_export_level(sp_context *context, int count, const char *const *paths, const char *target, double level);

#endif
