/* Motions as animations of targets, for glTF, USD and the page: the columns of the basis where the motion is reduced,
 * the principal directions of a motion of all vertices, the columns of a file one after another, or a scene. Ends the
 * process on failure. */
#ifndef TOOLS_EXPORT_ANIMATION_H
#define TOOLS_EXPORT_ANIMATION_H

#include "formats/export/animation.h"
#include "render/normals.h"
#include "tools/common/scene_trajectory.h"
#include "tools/common/trajectory.h"

/* The colour of a vertex: none, its largest displacement or its largest speed in the motion. */
enum tool_vertex_color { TOOL_VERTEX_PLAIN, TOOL_VERTEX_DISPLACEMENT, TOOL_VERTEX_SPEED };

typedef struct tool_animation_choice {
    const char *frames, *columns; /* as tool_trajectory_choose takes them */
    int64_t every;
    enum tool_vertex_color color;
    double tolerance; /* of a motion of all vertices: the largest error of a vertex, relative to the diagonal of the
                         box of the rest shape */
} tool_animation_choice;

typedef struct tool_animation {
    sp_animation animation;
    bool compressed;          /* the targets are principal directions of a motion of all vertices */
    double error;             /* m: largest error of a vertex that these leave */
    sp_normal_errors normals; /* of the normal targets, in up to 64 frames of each mesh; the mean is that of the mesh
                                 with the largest */
    double embedding;         /* m: how far vertices of an embedded surface are off with weights of their own */
    double color_end;         /* m or m/s: the value at the upper end of the colour map, whose lower end is 0 */
    sp_pool pool;
} tool_animation;

/* Columns without a trajectory are shown one after another. Modes, derivatives and basis vectors swing once in a second
 * each, with a largest displacement of a tenth of the diagonal; snapshots are shown as they are, one in each second. */
void tool_animation_open(sp_context *context, tool_trajectory *motion, const tool_animation_choice *choice,
                         tool_animation *out);

/* The models of the scene are its meshes. Planes are squares under the whole motion. */
void tool_animation_open_scene(sp_context *context, tool_scene_trajectory *trajectory,
                               const tool_animation_choice *choice, tool_animation *out);
void tool_animation_close(tool_animation *animation);

#endif
