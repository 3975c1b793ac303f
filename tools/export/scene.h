/* The bodies of a scene and their motion for other programs. */
#ifndef TOOLS_EXPORT_SCENE_H
#define TOOLS_EXPORT_SCENE_H

#include "tools/common/scene_body.h"
#include "tools/export/table.h"

typedef struct tool_scene_trajectory_choice {
    const char *target, *frames;
    int64_t every;
    bool partial;
} tool_scene_trajectory_choice;

/* VTU, from a scene and its trajectory, or from a scene alone: all surfaces of a frame in one file, with the velocities
 * of their points and the numbers of body and model of the triangles; if contacts are recorded, the same number of
 * files "contacts_…" with a vertex at each contact and its force. Several frames, or a target .pvd: an index to each
 * series. */
void tool_export_scene(sp_context *context, int64_t count, const char *const *paths,
                       const tool_scene_trajectory_choice *choice);

typedef struct tool_body_probe {
    const tool_scene_body *body;
    tool_place place;
} tool_body_probe;

/* A scene's trajectory, which needs its scene for probes only, as columns of a table: energies and counts, forces of
 * coupling and device, the wrench of each body, poses and coordinates, probes. Displacements of probes are in the
 * world, from where the point of the undeformed body is in the first frame. */
typedef struct tool_csv_scene {
    const export_choice *choice;
    tool_scene_trajectory trajectory;
    int64_t body_count;
    tool_scene_body **bodies; /* [body_count] those that have probes */
    sp_list probes;           /* tool_body_probe */
    sp_pool pool;
} tool_csv_scene;

void tool_csv_scene_open(sp_context *context, int64_t count, const char *const *paths, const export_choice *choice,
                         tool_csv_scene *csv);
void tool_csv_scene_close(tool_csv_scene *csv);

/* Adds the probes of an entry BODY:PLACES, `length` that of BODY; false if there is no such body. */
bool tool_csv_scene_probe(tool_csv_scene *csv, const char *entry, size_t length);
void tool_csv_scene_head(const tool_csv_scene *csv, export_table *table);
void tool_csv_scene_row(const tool_csv_scene *csv, int64_t frame, export_table *table);

#endif
