/* External loads of a file as arrows and bars. */
#ifndef TOOLS_RENDER_LOADS_H
#define TOOLS_RENDER_LOADS_H

#include "model/loads.h"
#include "tools/common/trajectory.h"
#include "tools/render/marks.h"

/* An arrow at a point that moves with the body. */
typedef struct tool_force {
    const sp_load *load;
    double place[3];                 /* m, at rest; of a load on elements: not set */
    int count;                       /* of the vertices that carry the point; 0: the centroid of the load's elements */
    const int64_t *corner;           /* [count] vertices of the mesh */
    double weight[SP_ELEMENT_NODES]; /* of each vertex */
    double arrow[3];                 /* m, along the force; its length is proportional to it */
    bool pulls;                      /* the arrow begins at the point, else it ends there */
} tool_force;

/* Forces are green arrows. An arrow ends at its point if the force pushes there, and begins there if it pulls, so that
 * it is outside of the body. Its length is proportional to the force, and the longest arrow of the file is as long as a
 * fifth of the body's diagonal. A load on elements is one arrow that begins at their centroid. A pressure is at most 60
 * shorter arrows with a scale of their own. Springs are bars to their anchors. */
typedef struct tool_loads {
    /* private to the module */
    const tool_trajectory *motion;
    double diagonal; /* m, of the body */
    double at;       /* s, the time of the loads where there is no trajectory */
    int64_t count, force_count, spring_count;
    sp_load *load;
    const tool_force *force;
    const sp_load **spring;
} tool_loads;

/* Reads a file; path NULL: there are no loads. at: time of the loads where there is no trajectory, s. It is a usage
 * error if no load acts at that time. Arrays are from `pool`. Ends the process on failure. */
void tool_loads_open(sp_context *context, const char *path, double at, const tool_trajectory *motion, double diagonal,
                     sp_pool *pool, tool_loads *loads);

/* Places the loads that act at the time of a frame, for displacements `u` [3·vertices] times `scale`. forces: arrows,
 * with room for force_count; springs: bars, with room for spring_count. */
void tool_loads_place(const tool_loads *loads, int64_t frame, double scale, const double *u, tool_marks *forces,
                      tool_marks *springs);

extern const float tool_force_color[3], tool_spring_color[3]; /* linear RGB */

#endif
