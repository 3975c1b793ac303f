/* Solvers with distributed memory, under mpirun or without it: the module that has them, and failures of programs that
 * run on several ranks. */
#ifndef TOOLS_COMMON_PARALLEL_H
#define TOOLS_COMMON_PARALLEL_H

#include "parallel/module.h"
#include "tools/common/inputs.h"

/* Loads the module for `--solver NAME` and starts MPI, which the end of the program ends. From here on one rank alone
 * says what is to be said: rank 0, or of ranks that fail the lowest. Fails if this build has no module. */
void tool_parallel_start(const char *solver);

/* NULL: the program runs by itself. */
const sp_parallel_module *tool_parallel(void);
int tool_parallel_rank(void); /* 0 if it runs by itself */
int tool_parallel_ranks(void);

/* Ends all ranks if one has failed: every rank calls this before they work together. With the status of a call, and the
 * file for its message. */
void tool_parallel_agree(int status, const char *file);

/* Inside of tool_fail. Returns true if this rank is the one that says its message; then all ranks end together. */
bool tool_parallel_speaks(int status);
void tool_parallel_finish(void);

/* A failure that may come inside of a call which other ranks are in, such as memory that is out. */
noreturn void tool_parallel_alone(int status, const char *message);

/* The part of a body that this rank has, and the solver on it. */
typedef struct tool_parallel_body {
    sp_partition partition;
    sp_pool pool;
    sp_mesh part;
    int64_t *origin;   /* [vertices of part] */
    sp_fe_space space; /* of the part */
    sp_parallel_solver *solver;
} tool_parallel_body;

/* Divides the vertices among the ranks. */
void tool_parallel_divide(sp_context *context, const tool_mesh *mesh, tool_parallel_body *body);

/* Then assembles the own rows and prepares the solver. The part and its space stay with `keep`. */
void tool_parallel_open(sp_context *context, const tool_mesh *mesh, bool direct, bool lumped, bool keep,
                        tool_parallel_body *body);
void tool_parallel_close(tool_parallel_body *body);

/* Collects `count` columns [3·own vertices] on rank 0 as columns of the mesh, U [3·vertices, count, column major], 0 at
 * fixed components. NULL on other ranks. From `pool`. */
double *tool_parallel_gather(sp_context *context, const tool_mesh *mesh, const tool_parallel_body *body, int64_t count,
                             const double *own, sp_pool *pool);

#endif
