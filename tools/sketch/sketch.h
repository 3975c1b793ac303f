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

/* Shards begin at multiples of this number of selected loads. Each group of so many is solved by itself. */
enum { SKETCH_GROUP = 16 };

/* Solves one equilibrium after the other of the selected loads [first, end), each from the nearest known one of its
 * group, or from the rest state where that is nearer. It warns of a load without an equilibrium. The result for a load
 * does not depend on other groups. */
void sketch_solve(sketch *sketch, int64_t first, int64_t end, double tolerance, int64_t iterations,
                  tool_checkpoint *checkpoint, sketch_solution *solution);

/* Which of the equilibria are written: those with mass distances of at least `separation` times the largest, at most
 * `most` of them (0: any number). */
typedef struct sketch_thinning {
    double separation;
    int64_t most;
} sketch_thinning;

/* The result of a solution, of which `snapshots` are written. */
json_t *sketch_report(const sketch *sketch, const sketch_solution *solution, int64_t snapshots);

/* Thins out the equilibria of all selected loads and writes the snapshots, with a line for the user. Returns the
 * result. */
json_t *sketch_write(sketch *sketch, const sketch_solution *solution, const sketch_thinning *thinning, json_t *meta,
                     tool_output *output);

/* Writes all equilibria of a shard of the loads [first, end). */
json_t *sketch_write_shard(sketch *sketch, const sketch_solution *solution, int64_t first, int64_t end, json_t *meta,
                           tool_output *output);

void sketch_close(sketch *sketch);

#endif
