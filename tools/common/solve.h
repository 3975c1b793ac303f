/* Failures of solvers that a mesh may be the cause of. */
#ifndef TOOLS_COMMON_SOLVE_H
#define TOOLS_COMMON_SOLVE_H

#include "assembly/fe_space.h"

/* A second line for a failure to come (tool_hint): the element of the worst shape and its aspect ratio; `otherwise`
 * comes before it where the shape is not bad enough to be the cause. NULL: then nothing is said of snapshots with an
 * aspect ratio below 10. */
void tool_hint_shape(const sp_fe_space *body, const char *otherwise);

/* Fails with the context's message when status is not SP_OK; where a solver has failed (SP_NUMERICAL), with
 * tool_hint_shape. */
void tool_check_solve(int status, const char *file, const sp_fe_space *body, const char *otherwise);

#endif
