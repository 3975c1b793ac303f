/* Tables and models of the frames of a motion: CSV and OBJ. */
#ifndef TOOLS_EXPORT_FRAMES_H
#define TOOLS_EXPORT_FRAMES_H

#include "tools/common/trajectory.h"

typedef struct tool_frames_choice {
    const char *target;           /* file, "-", or for OBJ a pattern */
    const char *frames, *columns; /* as tool_trajectory_choose takes them */
    int64_t every;
    const char *probes; /* CSV: as tool_probes_parse takes them; NULL: none */
    bool coordinates;   /* CSV: the reduced coordinates too */
    bool volume;        /* CSV: the volume of the deformed mesh too */
} tool_frames_choice;

/* A line for each frame of a trajectory. */
void tool_export_csv(sp_context *context, tool_trajectory *motion, const tool_frames_choice *choice);

/* The skin of the mesh in each frame. */
void tool_export_obj(sp_context *context, tool_trajectory *motion, const tool_frames_choice *choice);

#endif
