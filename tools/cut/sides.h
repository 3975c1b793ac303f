/* The sides into which simcut separates elements, from planes, lists and files. */
#ifndef TOOLS_CUT_SIDES_H
#define TOOLS_CUT_SIDES_H

#include "mesh/mesh.h"
#include "tools/common/tool.h"

typedef struct cut_choice {
    tool_texts planes, lists;
    const char *region, *sides, *keep;
} cut_choice;

/* Sides in use are 0 … count − 1, in the order of their first elements. */
typedef struct cut_sides {
    const sp_mesh *mesh;
    sp_pool pool;
    int64_t elements, count, *side; /* [elements] */
} cut_sides;

/* Assigns the elements to sides by all options; if only --keep was given, all are on one side. An invalid plane, list
 * or region, and an option that separates nothing, is a usage error. */
void cut_divide(sp_context *context, const cut_choice *choice, const sp_mesh *mesh, cut_sides *sides);

/* --keep: marks the elements of a mesh that belong to the listed pieces, counted from 1 by size. It is a usage error if
 * the list names a piece that does not exist, or all of them. */
bool *cut_keep(sp_context *context, const cut_choice *choice, const sp_mesh *mesh, sp_pool *pool);

#endif
