/* One body of a scene in the scene's trajectory: the motion of the vertices of its mesh. Ends the process on failure.
 */
#ifndef TOOLS_COMMON_SCENE_BODY_H
#define TOOLS_COMMON_SCENE_BODY_H

#include "tools/common/places.h"
#include "tools/common/scene_trajectory.h"

typedef struct tool_scene_body {
    const tool_scene_trajectory *trajectory;
    int64_t body;
    const char *name;
    tool_mesh mesh;
    tool_columns basis; /* of a deformable body; path NULL: rigid */
    int64_t r;
    sp_pose start; /* its pose in the first frame */
} tool_scene_body;

/* The body with this name [length]; −1 if there is none. */
int64_t tool_scene_body_find(const tool_scene_trajectory *trajectory, const char *name, size_t length);

/* The names of the bodies whose models have a mesh, for messages. */
const char *tool_scene_body_names(const tool_scene_trajectory *trajectory, sp_pool *pool);

/* Reads mesh and basis of a body; the scene and its trajectory must be open. A body whose model has no mesh is a usage
 * error of `option`. */
void tool_scene_body_open(tool_scene_trajectory *trajectory, const char *option, int64_t number, tool_scene_body *body);
void tool_scene_body_close(tool_scene_body *body);

/* Position and velocity of a vertex in the world, x + R(X + U q) and its rate [m, m/s]; either may be NULL. */
void tool_scene_body_place(const tool_scene_body *body, const tool_place *place, int64_t frame, double position[3],
                           double velocity[3]);

/* Where the vertex of the undeformed body is in the first frame: from here displacements in the world count. */
void tool_scene_body_start(const tool_scene_body *body, const tool_place *place, double position[3]);

/* Displacement and velocity of a vertex as seen in the frame in which the body starts, R0ᵀ(x − x0) − X: comparable
 * to a trajectory of the mesh itself. Either may be NULL. */
void tool_scene_body_local(const tool_scene_body *body, const tool_place *place, int64_t frame, double u[3],
                           double v[3]);

#endif
