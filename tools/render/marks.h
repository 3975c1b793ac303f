/* Small solids that mark places, directions and forces: octahedra, cubes, bars and arrows. */
#ifndef TOOLS_RENDER_MARKS_H
#define TOOLS_RENDER_MARKS_H

#include "base/memory.h"
#include "render/render.h"

enum tool_mark { TOOL_MARK_OCTAHEDRON, TOOL_MARK_CUBE, TOOL_MARK_BAR, TOOL_MARK_ARROW, TOOL_MARK_KINDS };

/* Solids of one kind and colour. The arrays belong to the pool. */
typedef struct tool_marks {
    enum tool_mark kind;
    int64_t count;      /* of the solids placed; the arrays have room for `most` */
    double *vertices;   /* [most, corners of the kind, 3] m */
    int64_t *triangles; /* [most, triangles of the kind, 3] */
} tool_marks;

/* Marks with room for `most` solids, none of them placed yet. */
tool_marks tool_marks_new(enum tool_mark kind, int64_t most, sp_pool *pool);

/* Adds an octahedron or a cube with axes along x, y and z. half: from its middle to a corner of the octahedron or a
 * face of the cube, m. */
void tool_marks_point(tool_marks *marks, const double middle[3], double half);

/* Adds a bar or an arrow between two different places. radius: of the bar or the shaft, m. The head is at `to`, has 2.6
 * times that radius and takes at most half of the length. */
void tool_marks_line(tool_marks *marks, const double from[3], const double to[3], double radius);

/* A drawing of the solids placed, with flat faces. */
sp_drawing tool_marks_drawing(const tool_marks *marks, const float rgb[3]);

#endif
