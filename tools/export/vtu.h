/* The VTU and PVD files of simexport. */
#ifndef TOOLS_EXPORT_VTU_H
#define TOOLS_EXPORT_VTU_H

#include "formats/export/vtu.h"
#include "tools/common/trajectory.h"

typedef struct tool_vtu_choice {
    const char *target;           /* file, pattern, .pvd or "-" */
    const char *frames, *columns; /* as tool_trajectory_choose takes them */
    int64_t every;
    bool surface;           /* the embedded surface instead of the elements */
    bool fields;            /* strain, stress and energy density of the elements */
    const char *activation; /* with fields: file of the tension of fibres over time; NULL: no tension */
} tool_vtu_choice;

/* A trajectory: one file per frame and, for several frames or a target .pvd, the index of the series. Columns: one file
 * with an array for each. A mesh alone: one file. */
void tool_export_vtu(sp_context *context, tool_trajectory *motion, const tool_vtu_choice *choice);

/* Parts for other series: whether this number of frames is a series (a usage error for standard output); the file
 * pattern and the index name from the target; a frame's path and its name relative to the index; the file of a frame;
 * the index, which is opened before the frames, so that all are renamed together, and written after them. */
bool tool_vtu_series(const char *target, int64_t frames);
void tool_vtu_names(const char *target, sp_pool *pool, char **pattern, char **index);
const char *tool_vtu_frame(const char *pattern, int64_t number, sp_pool *pool, char **path);
void tool_vtu_write(sp_context *context, const char *path, const sp_vtu *vtu);
tool_output *tool_vtu_index_open(const char *index);
void tool_vtu_index(sp_context *context, tool_output *output, const char *index, int64_t count, const double *time,
                    const char *const *names);

#endif
