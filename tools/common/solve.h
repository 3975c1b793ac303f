/* Failures of solvers that the mesh may cause. */
#ifndef TOOLS_COMMON_SOLVE_H
#define TOOLS_COMMON_SOLVE_H

#include "assembly/fe_space.h"

/* Prepares a second line for a failure (tool_hint): the element of the worst shape and its aspect ratio; `otherwise` is
 * added before it if the shape is not bad enough to be the cause. NULL: there is no hint for shapes with an aspect
 * ratio below 10. */
void tool_hint_shape(const sp_fe_space *body, const char *otherwise);

/* Fails with the context's message if status is not SP_OK; if a solver has failed (SP_NUMERICAL), with
 * tool_hint_shape. */
void tool_check_solve(int status, const char *file, const sp_fe_space *body, const char *otherwise);

#endif
