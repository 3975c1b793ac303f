/* The methods of modalderiv, on one problem: each computes a set of columns and the members of its result. They end the
 * process on failure. */
#ifndef TOOLS_DERIVATIVES_METHODS_H
#define TOOLS_DERIVATIVES_METHODS_H

#include "basis/interfaces.h"
#include "tools/common/inputs.h"

typedef struct derivatives_problem {
    sp_context *context;
    tool_mesh mesh;
    sp_fe_space body;
    sp_mesh held; /* for a basis with interfaces: the mesh with the vertices of those fixed that have no average frame,
                     whose space `body` is; else {0} */
    sp_fe_space whole;                  /* likewise: of the mesh itself; else {0} */
    tool_columns modes;                 /* or snapshots, for inertia derivatives */
    int64_t k, rigid;                   /* columns used, the leading rigid ones among them */
    sp_cholesky *factor;                /* of K at rest if it is available already; NULL: none */
    int64_t average_count;              /* interfaces whose mean is at rest in derivatives */
    sp_interface *averages;             /* [average_count] */
    sp_interface_map map;               /* of these */
    sp_flexibility *inner, *restricted; /* likewise, of SᵀKS and of the body; NULL: none */
    int64_t memory;                     /* bytes for right-hand sides; 0: no bound */
    sp_list pairs;                      /* int64_t, two for each derivative */
    const char *shard;                  /* I/N of the pairs; NULL: all */
    int64_t shard_first, shard_total;   /* the pairs are those from shard_first on of shard_total; 0: all */
    int order, most;                    /* inertia derivatives */
    const char *path;                   /* of the output, for messages */
    sp_pool pool;
    /* the solution */
    int64_t count;
    double *U; /* [3·vertices, count] */
    double residual;
    double load_time, factor_time, solve_time; /* s of processor time; 0: not measured */
    json_t *result;
} derivatives_problem;

/* The elimination order of K that the file of the modes has, or NULL. Fails if it does not belong to the mesh. */
const int64_t *derivatives_permutation(derivatives_problem *problem);

/* All pairs of the modes used after the rigid ones. */
void derivatives_all_pairs(derivatives_problem *problem);

/* Makes the restricted flexibility if the problem has average interfaces. */
void derivatives_restrict(derivatives_problem *problem);
void derivatives_restrict_close(derivatives_problem *problem);

/* Keeps the pairs of the shard, if there is one, in blocks of `step` that are not divided. */
void derivatives_cut_shard(derivatives_problem *problem, int64_t step);

/* Reports, and writes the columns with the result. */
void derivatives_write(derivatives_problem *problem, tool_output *output);

/* Modal derivatives of the pairs (thesis §2.8.3; free bodies §2.8.7). */
void derivatives_modal(derivatives_problem *problem);

/* The same of a constrained body on the ranks of mpirun, by a factorization or by conjugate gradients until the
 * residual is `tolerance` of the load; rank 0 has the solution. */
void derivatives_parallel(derivatives_problem *problem, bool direct, double tolerance);

/* Inertia derivatives up to an order, by decreasing weight; sets the pairs. A usage error in builds without the methods
 * of Yang 2015. */
void derivatives_inertia(derivatives_problem *problem);

#endif
