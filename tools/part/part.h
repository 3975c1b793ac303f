/* The two things that simpart does: divide a mesh into domains, and write domains as meshes. Both end the process on
 * failure. */
#ifndef TOOLS_PART_PART_H
#define TOOLS_PART_PART_H

#include "tools/common/inputs.h"
#include "tools/cut/sides.h"

typedef struct part_division {
    int64_t parts; /* > 0: automatic */
    bool regions, pieces, tree;
    const char *root;
    cut_choice cut; /* planes and sides */
} part_division;

typedef struct part_extraction {
    const char *list;
    bool fix_parent, name_parent, local;
} part_extraction;

/* Writes the domains of the mesh to -o. */
void part_divide(sp_context *context, const tool_mesh *mesh, part_division *choice);

/* Writes the listed domains of the file `parts` to -o, a pattern if there are several. */
void part_extract(sp_context *context, const tool_mesh *mesh, const char *parts, const part_extraction *choice);

#endif
