/* What is drawn in addition to the surface of a body: marks at vertices, fibre directions, loads. */
#ifndef TOOLS_RENDER_ADDITIONS_H
#define TOOLS_RENDER_ADDITIONS_H

#include "tools/common/skin.h"
#include "tools/common/trajectory.h"
#include "tools/render/loads.h"

enum tool_addition { TOOL_FIXED_MARKS, TOOL_DYNAMIC_MARKS, TOOL_FIBRES, TOOL_FORCES, TOOL_SPRINGS, TOOL_ADDITIONS };

/* A segment along the fibres at the centre of an element. */
typedef struct tool_fibre {
    int64_t element;
    double direction[3], slope[SP_ELEMENT_NODES]; /* unit vector a; a·∇N of each node, 1/m */
} tool_fibre;

typedef struct tool_additions {
    /* set by the caller */
    bool fixed, dynamic;
    int64_t fibres;         /* the largest number of segments; 0: none */
    const char *loads_path; /* NULL: no loads */
    double loads_at;        /* s, the time of the loads where there is no trajectory */
    /* private to the module; shared by twins */
    const tool_trajectory *motion;
    double diagonal; /* m, of the body */
    int64_t fibre_count, dynamic_count;
    const int64_t *dynamic_vertex; /* [dynamic_count] */
    const tool_fibre *fibre;
    double half; /* m, half the length of a segment */
    tool_loads loads;
    /* of each twin */
    tool_marks marks[TOOL_ADDITIONS];
} tool_additions;

/* Reads the loads and chooses what is drawn. Ends the process on failure. embedded: the embedded surface is drawn. */
void tool_additions_open(sp_context *context, const tool_trajectory *motion, double diagonal, bool embedded,
                         sp_pool *pool, tool_additions *additions);

/* Allocates the solids of a frame. */
void tool_additions_new_frame(tool_additions *additions, sp_pool *pool);

/* Places the solids for displacements `u` [3·vertices] times `scale`. */
void tool_additions_place(tool_additions *additions, int64_t frame, double scale, const double *u);

/* Adds all but the fixed vertices to what the camera shows. */
void tool_additions_extend(const tool_additions *additions, sp_extent *extent);

/* Writes up to TOOL_ADDITIONS drawings; returns their number. */
int tool_additions_drawings(const tool_additions *additions, sp_drawing *drawing);

#endif
