/* The VTU and PVD files of simexport. */
#ifndef TOOLS_EXPORT_VTU_H
#define TOOLS_EXPORT_VTU_H

#include "tools/common/motion.h"

typedef struct tool_vtu_choice {
    const char *target;           /* file, pattern, .pvd or "-" */
    const char *frames, *columns; /* as tool_motion_choose takes them */
    int64_t every;
    bool surface; /* the embedded surface instead of the elements */
    bool fields;  /* strain, stress and energy density of the elements */
} tool_vtu_choice;

/* A trajectory: one file per frame and, where there are several or the target is a .pvd, the index of the series, written last. Columns:
 * one file with an array for each. A mesh alone: one file. */
void tool_export_vtu(sp_context *context, tool_motion *motion, const tool_vtu_choice *choice);

#endif
