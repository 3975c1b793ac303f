/* The frames of a scene's trajectory as triangles in the world, for rendering and export. Ends the process on
 * failure. */
#ifndef TOOLS_COMMON_SCENE_TRAJECTORY_H
#define TOOLS_COMMON_SCENE_TRAJECTORY_H

#include "formats/scene_trajectory.h"
#include "tools/common/scene.h"

/* The rendered geometry of a model. */
typedef struct tool_look {
    sp_pool pool;
    int64_t vertex_count, triangle_count, r;
    double *rest;       /* [vertex_count, 3] m, model; NULL for a plane, whose square depends on the other bodies */
    int64_t *triangles; /* [triangle_count, 3] */
    double *U;          /* [3·vertex_count, r, column major] displacements of the vertices; NULL: rigid */
    int up;             /* the vertical axis that its mesh names, 'x', 'y' or 'z'; 0: none */
} tool_look;

typedef struct tool_scene_trajectory {
    sp_context *context;
    bool has_scene;
    tool_scene scene;
    const char *path; /* of the trajectory; NULL: none was given, and the only frame is the start of the scene */
    sp_scene_trajectory motion;
    int64_t frame_count, body_count;
    int64_t vertex_count, triangle_count;
    tool_look *looks;       /* [models] */
    int64_t *first_vertex;  /* [body_count + 1] */
    int64_t *triangles;     /* [triangle_count, 3] of all bodies one after the other */
    int64_t *body;          /* [triangle_count] */
    double *positions;      /* [vertex_count, 3] m, world, of the frame loaded last */
    double *velocities;     /* [vertex_count, 3] m/s */
    double low[3], high[3]; /* m: bounding box of the frames given to tool_scene_trajectory_widen, without planes; empty
                               at first */
    /* private to the module */
    sp_pool pool;
    sp_pose *start; /* [body_count] without a trajectory */
    double *zero;
} tool_scene_trajectory;

/* Returns true for a file of the type motion. */
bool tool_is_motion(sp_context *context, const char *path);

/* Opens a scene and a trajectory of it, in any order; each at most once, other files are a usage error. They must
 * belong together by hash, bodies and coordinates. `partial`: a truncated trajectory is read as far as it goes. */
void tool_scene_trajectory_open(sp_context *context, int64_t count, const char *const *paths, bool partial,
                                tool_scene_trajectory *trajectory);
void tool_scene_trajectory_close(tool_scene_trajectory *trajectory);

/* Reads the models; needs a scene. */
void tool_scene_trajectory_look(tool_scene_trajectory *trajectory);

/* What is up in the world: the axis against gravity, or without gravity that which the mesh of the first body names
 * that names one. 'x', 'y' or 'z', with a minus sign if it is the opposite direction; 0: unknown. After _look. */
int tool_scene_trajectory_up(const tool_scene_trajectory *trajectory);

/* The numbers of the frames that --frames and --every name, as int64_t. */
void tool_scene_trajectory_choose(const tool_scene_trajectory *trajectory, const char *frames, int64_t every,
                                  sp_list *list);

/* s; 0 without a trajectory. */
double tool_scene_trajectory_time(const tool_scene_trajectory *trajectory, int64_t frame);

/* Where a body is: its pose in a frame. */
sp_pose tool_scene_trajectory_pose(const tool_scene_trajectory *trajectory, int64_t body, int64_t frame);

/* Computes positions and velocities of a frame; the squares of planes are placed under the current box. */
void tool_scene_trajectory_load(tool_scene_trajectory *trajectory, int64_t frame);

/* Enlarges the box by the loaded frame, without planes. */
void tool_scene_trajectory_widen(tool_scene_trajectory *trajectory);

/* The contacts recorded in a frame: their number, and that of the first. */
int64_t tool_scene_trajectory_contacts(const tool_scene_trajectory *trajectory, int64_t frame, int64_t *first);

#endif
