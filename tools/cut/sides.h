/* Which elements simcut separates from which: planes, lists and files to sides. */
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

/* Divides the elements by all options; where only --keep was given, all are on one side. What is no plane, list or
 * region, and an option that divides nothing, is a usage error. */
void cut_divide(sp_context *context, const cut_choice *choice, const sp_mesh *mesh, cut_sides *sides);

/* --keep: which elements of a mesh belong to the listed pieces, counted from 1 by size. The list is a usage error where
 * it names a piece that is not there, or all of them. */
bool *cut_keep(sp_context *context, const cut_choice *choice, const sp_mesh *mesh, sp_pool *pool);

#endif
