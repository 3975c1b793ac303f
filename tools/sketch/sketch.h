/* The parts of sketchsolve: the samples of a recording, and the equilibria under the selected ones. They end the
 * process on failure. */
#ifndef TOOLS_SKETCH_SKETCH_H
#define TOOLS_SKETCH_SKETCH_H

#include "integrate/equilibrium.h"
#include "linear/dense.h"
#include "model/loads.h"
#include "tools/common/checkpoint.h"
#include "tools/common/inputs.h"

typedef struct sketch {
    sp_context *context;
    tool_mesh mesh;
    sp_fe_space body;
    sp_system system; /* full-order, StVK or another linear material */
    sp_sparse M;      /* consistent mass over the free degrees of freedom */
    sp_metric metric; /* of M, over free vectors [n] */
    sp_pool pool;
    int64_t n;        /* free degrees of freedom */
    int64_t recorded; /* samples */
    double largest;   /* mass norm of the largest linear response, m √kg */
    int64_t count;    /* number of selected samples, which the arrays below are for */
    double *time;     /* [count] s, when it begins to act */
    double *force;    /* [n, count] N */
    double *distance; /* [count + 1, count + 1] mass distances of the linear responses, the rest state last, m √kg */
} sketch;

/* Opens the mesh and creates its system. Rejects an unconstrained body. */
void sketch_open(sp_context *context, const char *mesh, sketch *sketch);

/* Samples the recording where its loads change, or every `step` seconds if that is not 0, and selects samples whose
 * linear responses are `separation` × the largest apart, at most `most` of them (0: any number). */
void sketch_select(sketch *sketch, const char *loads, double step, double separation, int64_t most);

typedef struct sketch_solution {
    int64_t count;   /* equilibria found */
    int64_t *sample; /* [count] of the selected ones, increasing */
    double *q;       /* [n, count] m */
    int64_t failed, resumed;
    sp_equilibrium_report total; /* sums; the residual is the largest */
    int64_t most_iterations;
} sketch_solution;

/* Solves one equilibrium after the other, each from the nearest known one, starting from the rest state. It warns of a
 * load without an equilibrium. */
void sketch_solve(sketch *sketch, double tolerance, int64_t iterations, tool_checkpoint *checkpoint,
                  sketch_solution *solution);

void sketch_close(sketch *sketch);

#endif
