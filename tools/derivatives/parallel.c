#include "tools/common/parallel.h"

#include "assembly/elastic.h"
#include "tools/derivatives/methods.h"

#include <math.h>
#include <string.h>

enum { GROUP = 8 };

/* The work of a group of pairs on this rank. */
typedef struct group_work {
    tool_parallel_body body;
    double *U;        /* [3·vertices of the part, k] the modes */
    double *force;    /* [3·vertices of the part, GROUP] */
    double *load, *u; /* [3·own vertices, GROUP] */
    double *own;      /* [3·own vertices, k] the modes of a free body */
    double tolerance;
    int64_t iterations;
} group_work;

/* What cannot be divided among ranks. */
static void refuse(const derivatives_problem *p, const char *solver)
{
    if (p->modes.columns.interface_count > 0)
        tool_fail(SP_USAGE, p->modes.path, "--solver %s: a basis with interfaces needs --solver direct", solver);
}

static void take_modes(derivatives_problem *p, group_work *w)
{
    const int64_t vertices = w->body.part.vertex_count, own = 3 * w->body.partition.count;
    w->U = tool_allocate_raw(&p->pool, 3 * vertices * p->k, sizeof *w->U);
    for (int64_t c = 0; c < p->k; c++)
        for (int64_t v = 0; v < vertices; v++)
            memcpy(w->U + 3 * (c * vertices + v),
                   p->modes.columns.U + c * p->modes.columns.rows + 3 * w->body.origin[v], 3 * sizeof *w->U);
    w->force = tool_allocate_raw(&p->pool, 3 * vertices * GROUP, sizeof *w->force);
    w->load = tool_allocate_raw(&p->pool, own * GROUP, sizeof *w->load);
    w->u = tool_allocate_raw(&p->pool, own * GROUP, sizeof *w->u);
    w->own = p->rigid ? tool_allocate_raw(&p->pool, own * p->k, sizeof *w->own) : NULL;
    if (w->own)
        for (int64_t c = 0; c < p->k; c++)
            sp_partition_own(&w->body.partition, &w->body.part, w->body.origin, w->U + 3 * c * vertices,
                             w->own + c * own);
}

/* K Φ = −(H:Ψ_j)Ψ_i for `count` pairs, or (K − λ_i M) Φ in the complement of the modes of a free body; the forces at
 * own vertices are complete, since the part has all their elements. */
static int solve_group(derivatives_problem *p, group_work *w, const int64_t *pair, int64_t count)
{
    const int64_t vertices = w->body.part.vertex_count, own = 3 * w->body.partition.count;
    sp_parallel_solution solution;
    double value[GROUP];
    const sp_parallel_complement complement = {.modes = p->k, .mode = w->own, .value = value};

    int status = sp_elastic_second(p->context, &w->body.space, p->k, w->U, count, pair, w->force);
    if (status != SP_OK)
        return status;

    for (int64_t c = 0; c < count; c++)
        sp_partition_own(&w->body.partition, &w->body.part, w->body.origin, w->force + 3 * c * vertices,
                         w->load + c * own);
    for (int64_t i = 0; i < count * own; i++)
        w->load[i] = -w->load[i];

    if (p->rigid)
        for (int64_t c = 0; c < count; c++)
            value[c] = p->modes.columns.eigenvalue[pair[2 * c]];

    status = tool_parallel()->solve(p->context, w->body.solver, p->rigid ? &complement : NULL, count, w->load,
                                    w->tolerance, w->u, &solution);

    p->residual = fmax(p->residual, solution.residual);
    w->iterations = solution.iterations > w->iterations ? solution.iterations : w->iterations;
    return status;
}

void derivatives_parallel(derivatives_problem *p, bool direct, double tolerance)
{
    group_work w = {.tolerance = tolerance};
    const int64_t *pair = p->pairs.data, rows = p->modes.columns.rows;

    refuse(p, direct ? "slepc" : "amg");
    tool_parallel_divide(p->context, &p->mesh, &w.body);
    tool_parallel_open(p->context, &p->mesh, direct, false, true, &w.body);

    take_modes(p, &w);
    p->count = p->pairs.count / 2;
    if (tool_parallel_rank() == 0)
        p->U = tool_allocate_raw(&p->pool, rows * p->count, sizeof *p->U);

    for (int64_t first = 0; first < p->count; first += GROUP) {
        const int64_t count = p->count - first < GROUP ? p->count - first : GROUP;
        sp_pool columns = {0};
        tool_parallel_agree(solve_group(p, &w, pair + 2 * first, count), p->mesh.path);

        const double *U = tool_parallel_gather(p->context, &p->mesh, &w.body, count, w.u, &columns);
        if (U)
            memcpy(p->U + first * rows, U, (size_t)(count * rows) * sizeof *U);
        sp_pool_free(&columns);
    }

    tool_facts(p->result, sp_kind_derivatives.result, {"ranks", .integer = tool_parallel_ranks()});
    if (!direct || p->rigid)
        tool_facts(p->result, sp_kind_derivatives.result, {"iterations", .integer = w.iterations});
    tool_parallel_close(&w.body);
}
