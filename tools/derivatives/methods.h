/* The methods of modalderiv, on one problem: each fills a set of columns and what its result says. They end the process where they fail. */
#ifndef TOOLS_DERIVATIVES_METHODS_H
#define TOOLS_DERIVATIVES_METHODS_H

#include "tools/common/inputs.h"

typedef struct derivatives_problem {
    sp_context *context;
    tool_mesh mesh;
    sp_body body;
    tool_columns modes; /* or shapes, for inertia derivatives */
    int64_t k, rigid;   /* columns used, the leading rigid ones among them */
    int64_t memory;     /* bytes for right-hand sides; 0: no bound */
    sp_list pairs;      /* int64_t, two for each derivative */
    int order, most;    /* inertia derivatives */
    sp_pool pool;
    /* the answer */
    int64_t count;
    double *U;          /* [3·vertices, count] */
    double residual;
    json_t *result;
} derivatives_problem;

/* Modal derivatives of the pairs (thesis §2.8.3; free bodies §2.8.7). */
void derivatives_modal(derivatives_problem *problem);

/* Inertia derivatives up to an order, the heaviest first; sets the pairs. A usage error in builds without the methods of Yang 2015. */
void derivatives_inertia(derivatives_problem *problem);

#endif
