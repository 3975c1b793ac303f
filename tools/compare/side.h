/* One of the two motions that are compared: a trajectory of a mesh, or a body of a scene in the scene's trajectory. */
#ifndef TOOLS_COMPARE_SIDE_H
#define TOOLS_COMPARE_SIDE_H

#include "tools/common/scene_body.h"
#include "tools/common/trajectory.h"
#include "tools/compare/compare.h"

typedef struct compare_side {
    const char *path;
    bool scene;
    tool_trajectory motion;           /* of a mesh */
    tool_scene_trajectory trajectory; /* of a scene, and */
    tool_scene_body body;
    int64_t vertex_count;
    bool whole; /* the displacement of every vertex is known */
} compare_side;

/* Opens a file of the kind trajectory or scene_trajectory, the latter with those of --scene that it belongs to. For a
 * trajectory, c->mesh is the mesh of its probes. */
void compare_side_open(const comparison *c, const char *path, compare_side *side);
void compare_side_close(compare_side *side);

/* The hash of the mesh; "" if the file does not say. */
const char *compare_side_mesh(const compare_side *side);
bool compare_side_knows(const compare_side *side, int64_t vertex);
bool compare_side_have(compare_side *side, int64_t frame);
double compare_side_time(const compare_side *side, int64_t frame);

/* Displacement and velocity of a place; either may be NULL. */
void compare_side_place(const compare_side *side, tool_place place, int64_t frame, double u[3], double v[3]);

/* The same of all vertices [3·vertex_count]. */
void compare_side_all(const compare_side *side, int64_t frame, double *u, double *v);

/* Kinetic plus strain energy, J; NaN in a scene with several bodies that are driven by forces, which has only their
 * sum. */
double compare_side_energy(const compare_side *side, int64_t frame);

/* s, when its loads end; 0 if there are none. */
double compare_side_load_end(const compare_side *side);

/* Returns true if the motion was computed in a basis. */
bool compare_side_reduced(const compare_side *side);

#endif
