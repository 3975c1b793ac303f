/* A scratch file for columns that do not fit in memory. It has no name, so that nothing is left behind whatever
 * happens. */
#ifndef TOOLS_COMMON_SCRATCH_H
#define TOOLS_COMMON_SCRATCH_H

#include "linear/store.h"

typedef struct tool_scratch {
    const char *beside; /* the output's path */
    int64_t rows;
    int descriptor; /* −1 until something is saved */
} tool_scratch;

/* A backing store for columns: in $TMPDIR if that is set, else beside the output, else (standard output, a device) in
 * /var/tmp. *scratch must not move. A full disk is SP_SYSTEM. */
sp_store_outside tool_scratch_new(const char *beside, int64_t rows, tool_scratch *scratch);
void tool_scratch_close(tool_scratch *scratch);

#endif
