/* Comparing two files, member by member or, for trajectories, as motions. */
#ifndef TOOLS_COMPARE_COMPARE_H
#define TOOLS_COMPARE_COMPARE_H

#include "base/memory.h"
#include "tools/common/tool.h"

typedef struct comparison {
    sp_context *context;
    const char *a, *b; /* paths; b is the reference */
    const char *mesh;  /* of --mesh; may be NULL */
    const tool_texts *bases;
    const tool_texts *scenes;
    const char *body; /* of a scene; NULL: its only one with a mesh */
    const tool_texts *probes;
    double relative, absolute; /* |a − b| ≤ absolute + relative |b| */
    bool with_meta, signs, deformation;
    double after;  /* s; < 0: when the loads end */
    FILE *stream;  /* NULL: nothing is printed */
    sp_list table; /* text of the CSV table; empty where none is wanted */
    bool table_wanted;
    sp_pool pool;
} comparison;

/* True if the files are the same within the tolerances. */
bool compare_members(comparison *c);
bool compare_motions(comparison *c);

/* Principal angles between the spans of two matrices U in the mass of c->mesh; true if the largest is within `absolute`
 * (radians). */
bool compare_angles(comparison *c);

/* The projection error of the displacements in A on the columns of B, in the mass of c->mesh, per frame and per number
 * of leading columns; true if the total is within `absolute`. */
bool compare_projection(comparison *c);

/* printf to the stream, unless quiet. */
void compare_print(const comparison *c, const char *format, ...) SP_PRINTF(2, 3);

/* The path of the reference as a field. */
const char *compare_reference(comparison *c);

/* A line of the table: words and numbers with commas. */
void compare_row(comparison *c, const char *format, ...) SP_PRINTF(2, 3);

#endif
