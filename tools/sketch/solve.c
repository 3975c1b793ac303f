/* The equilibria under the selected loads. */
#include "tools/sketch/sketch.h"

#include <math.h>
#include <string.h>

/* What is kept of each in a checkpoint, before its q. */
typedef struct record {
    int64_t sample, found;
    sp_equilibrium_report report;
} record;

typedef struct chain {
    const sketch *sketch;
    sp_equilibrium *equilibrium;
    tool_checkpoint *checkpoint;
    char *stored;        /* scratch for a record of the checkpoint */
    double *q;           /* [n, count] by sample */
    double *rest;        /* [n] 0: displacement and load */
    bool *tried, *found; /* [count] */
    int64_t *from;       /* [count] the nearest sample with a known equilibrium, −1: the rest state */
    double *nearest;     /* [count] its distance */
} chain;

/* The sample of [first, end) without an equilibrium that is nearest to one with; −1: none is left. */
static int64_t next_sample(const chain *c, int64_t first, int64_t end)
{
    int64_t next = -1;
    for (int64_t i = first; i < end; i++)
        if (!c->tried[i] && (next < 0 || c->nearest[i] < c->nearest[next]))
            next = i;
    return next;
}

/* The sample's record from the checkpoint; false where that has no more. */
static bool restore(chain *c, int64_t sample, record *to)
{
    int64_t bytes = c->sketch->n * (int64_t)sizeof(double),
            count = tool_checkpoint_next(c->checkpoint, c->stored, (int64_t)sizeof *to + bytes);
    if (count < 0)
        return false;
    if (count < (int64_t)sizeof *to)
        tool_checkpoint_damaged(c->checkpoint);
    memcpy(to, c->stored, sizeof *to);
    if (to->sample != sample || count != (int64_t)sizeof *to + (to->found ? bytes : 0))
        tool_checkpoint_damaged(c->checkpoint);
    if (to->found)
        memcpy(c->q + sample * c->sketch->n, c->stored + sizeof *to, (size_t)bytes);
    return true;
}

static void solve(chain *c, int64_t sample, record *to)
{
    const sketch *s = c->sketch;
    int64_t n = s->n, from = c->from[sample];
    double *q = c->q + sample * n;
    *to = (record){.sample = sample};
    int status = sp_equilibrium_find(c->equilibrium, from < 0 ? c->rest : c->q + from * n,
                                     from < 0 ? c->rest : s->force + from * n, s->force + sample * n, q, &to->report);
    if (status != SP_OK && status != SP_NUMERICAL)
        tool_check(status, s->mesh.path);
    to->found = status == SP_OK;
    tool_checkpoint_add(c->checkpoint, to, sizeof *to, q, to->found ? n * (int64_t)sizeof *q : 0);
}

static int64_t group_end(int64_t first, int64_t end)
{
    const int64_t next = (first / SKETCH_GROUP + 1) * SKETCH_GROUP;
    return next < end ? next : end;
}

/* What was learned of a sample: its neighbours in the group may be nearer to a known equilibrium now. */
static void enter(chain *c, const record *r, sketch_solution *solution)
{
    const sketch *s = c->sketch;
    sp_equilibrium_report *total = &solution->total;

    c->tried[r->sample] = true;
    c->found[r->sample] = r->found;

    total->load_steps += r->report.load_steps;
    total->iterations += r->report.iterations;
    total->factorizations += r->report.factorizations;
    total->halvings += r->report.halvings;
    total->indefinite += r->report.indefinite;
    if (r->report.iterations > solution->most_iterations)
        solution->most_iterations = r->report.iterations;

    if (!r->found) {
        solution->failed++;
        return;
    }

    solution->count++;
    total->residual = fmax(total->residual, r->report.residual);

    for (int64_t i = r->sample / SKETCH_GROUP * SKETCH_GROUP; i < group_end(r->sample, s->count); i++) {
        double d = s->distance[r->sample * (s->count + 1) + i];
        if (d < c->nearest[i]) {
            c->nearest[i] = d;
            c->from[i] = r->sample;
        }
    }
}

static void collect(sketch *s, const chain *c, int64_t first, int64_t end, sketch_solution *solution)
{
    solution->sample = tool_allocate_raw(&s->pool, solution->count, sizeof *solution->sample);
    solution->q = c->q;
    for (int64_t i = first, to = 0; i < end; i++)
        if (c->found[i]) {
            memmove(c->q + to * s->n, c->q + i * s->n, (size_t)s->n * sizeof *c->q);
            solution->sample[to++] = i;
        } else
            tool_warn(NULL,
                      "the load at t = %g s is left out: no equilibrium was found, not even in steps of a 1024th of "
                      "the way from its neighbour",
                      s->time[i]);
}

void sketch_solve(sketch *s, int64_t first, int64_t end, double tolerance, int64_t iterations,
                  tool_checkpoint *checkpoint, sketch_solution *solution)
{
    sp_pool scratch = {0};
    int64_t m = s->count, bytes = (int64_t)sizeof(record) + s->n * (int64_t)sizeof(double), done = 0;

    chain c = {.sketch = s,
               .checkpoint = checkpoint,
               .stored = tool_allocate_raw(&scratch, bytes, 1),
               .q = tool_allocate_raw(&s->pool, s->n * m, sizeof *c.q),
               .rest = tool_allocate(&scratch, s->n, sizeof *c.rest),
               .tried = tool_allocate(&scratch, m, sizeof *c.tried),
               .found = tool_allocate(&scratch, m, sizeof *c.found),
               .from = tool_allocate_raw(&scratch, m, sizeof *c.from),
               .nearest = tool_allocate_raw(&scratch, m, sizeof *c.nearest)};

    tool_check(sp_equilibrium_new(s->context, &s->system, tolerance, iterations, &c.equilibrium), s->mesh.path);
    for (int64_t i = 0; i < m; i++) {
        c.from[i] = -1;
        c.nearest[i] = s->distance[m * (m + 1) + i];
    }

    *solution = (sketch_solution){0};
    for (int64_t begin = first, sample; begin < end; begin = group_end(begin, end))
        while ((sample = next_sample(&c, begin, group_end(begin, end))) >= 0) {
            record r;
            done++;
            if (restore(&c, sample, &r))
                solution->resumed = done;
            else {
                if (done == solution->resumed + 1 && solution->resumed)
                    tool_say("%lld of %lld loads were solved before", (long long)solution->resumed,
                             (long long)(end - first));
                solve(&c, sample, &r);
            }

            enter(&c, &r, solution);

            /* Of what was left to this call, so that the time left is right after a resumption. */
            if (done > solution->resumed)
                tool_check(sp_progress(s->context,
                                       (double)(done - solution->resumed) / (double)(end - first - solution->resumed)),
                           NULL);
        }

    collect(s, &c, first, end, solution);
    sp_equilibrium_free(c.equilibrium);
    sp_pool_free(&scratch);
}
