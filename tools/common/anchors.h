/* Options that fix vertices, shared by the tools that make meshes. */
#ifndef TOOLS_COMMON_ANCHORS_H
#define TOOLS_COMMON_ANCHORS_H

#include "mesh/mesh.h"
#include "tools/common/tool.h"

extern struct tool_fixed_vertices {
    tool_texts boxes, half_spaces, lists;
} tool_fixed_vertices;

#define TOOL_FIX_OPTIONS                                                                                               \
    {"fix-box",                                                                                                        \
     0,                                                                                                                \
     TOOL_TEXTS,                                                                                                       \
     &tool_fixed_vertices.boxes,                                                                                       \
     "X0,Y0,Z0,X1,Y1,Z1[,AXES]",                                                                                       \
     .help = "hold the vertices in this box; inf for open sides; AXES such as xz holds only these components"},        \
        {"fix-half-space",    0,                                                                                       \
         TOOL_TEXTS,          &tool_fixed_vertices.half_spaces,                                                        \
         "NX,NY,NZ,D[,AXES]", .help = "hold the vertices with n.x <= d"},                                              \
    {                                                                                                                  \
        "fix-vertices", 0, TOOL_TEXTS, &tool_fixed_vertices.lists, "LIST[:AXES]",                                      \
            .help = "hold these vertices, counted from 0: 0-3,17"                                                      \
    }

/* Applies them; a box or half-space without a vertex is a usage error. */
void tool_apply_fixed_vertices(sp_context *context, sp_mesh *mesh);

/* Parses `count` numbers with commas at *at, "inf" allowed; advances *at past them and a comma that follows. False if
 * there are fewer. */
bool tool_parse_numbers(const char **at, int count, double *numbers);

#endif
