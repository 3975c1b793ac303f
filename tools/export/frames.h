/* Tables and models of the frames of a motion: CSV and OBJ. */
#ifndef TOOLS_EXPORT_FRAMES_H
#define TOOLS_EXPORT_FRAMES_H

#include "assembly/fe_space.h"
#include "tools/common/trajectory.h"
#include "tools/export/table.h"

typedef struct tool_frames_choice {
    const char *target;           /* file, "-", or for OBJ a pattern */
    const char *frames, *columns; /* as tool_trajectory_choose takes them */
    int64_t every;
} tool_frames_choice;

/* A mesh that moves, for its volume in a frame. */
typedef struct tool_moving_mesh {
    sp_mesh mesh; /* the motion's, a shallow copy, with vertices of its own */
    double *vertices;
    sp_pool pool;
} tool_moving_mesh;

/* The stress at the vertices in a frame. */
typedef struct tool_nodal_stress {
    sp_fe_space body;
    double *u, *stress; /* [3·vertices], [vertices, 6] */
    sp_pool pool;
} tool_nodal_stress;

/* A trajectory as columns of a table: energies, probes, coordinates, volume. */
typedef struct tool_csv_frames {
    sp_context *context;
    const export_choice *choice;
    tool_trajectory motion;
    sp_list probes; /* tool_place, filled by the caller after opening */
    tool_moving_mesh moving;
    tool_nodal_stress nodal; /* with --stress */
} tool_csv_frames;

void tool_csv_frames_open(sp_context *context, int64_t count, const char *const *paths, const export_choice *choice,
                          tool_csv_frames *csv);
void tool_csv_frames_close(tool_csv_frames *csv);
void tool_csv_frames_head(const tool_csv_frames *csv, export_table *table);
void tool_csv_frames_row(tool_csv_frames *csv, int64_t frame, export_table *table);

/* Names of the columns of a probe, of a body unless that is "": displacement, and if wanted position. */
void tool_csv_probe_names(export_table *table, const char *body, const tool_place *place, bool positions);

/* The skin of the mesh in each frame. */
void tool_export_obj(sp_context *context, tool_trajectory *motion, const tool_frames_choice *choice);

#endif
