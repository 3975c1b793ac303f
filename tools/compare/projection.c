/* What the leading columns of a basis miss of a motion or of other columns, in the mass of their mesh. */
#include "basis/projection.h"

#include "tools/common/trajectory.h"
#include "tools/compare/compare.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 32 }; /* fields that are projected at a time */

typedef struct projection {
    comparison *c;
    tool_trajectory motion; /* file A */
    tool_columns basis;     /* file B, orthonormal after `prepare` */
    sp_metric metric;
    int64_t count;           /* columns of the basis */
    int64_t frames, resting; /* frames seen; those without displacement */
    double *field, *missed;  /* [rows, BLOCK], [count + 1, BLOCK] */
    double *total;           /* [count + 1] root of the sum of squares over frames, of what r′ columns miss */
    double *worst;           /* [count + 1] the largest relative error of a frame */
    int64_t worst_frame;     /* with all columns; −1: none */
} projection;

/* 0 where there is nothing to miss. */
static double relative(double missed, double size)
{
    return size > 0 ? missed / size : 0;
}

static void open_motion(projection *p)
{
    const comparison *c = p->c;
    const char *paths[300] = {c->a, c->mesh};
    char kind[SP_KIND_LENGTH];
    int64_t count = 2;

    tool_peek_kind(c->context, c->a, kind);
    if (strcmp(kind, "trajectory") && c->bases->count)
        tool_fail(SP_USAGE, NULL, "--basis is that of a reduced trajectory, and %s is a file of kind %s", c->a, kind);

    for (int64_t i = 0; i < c->bases->count; i++)
        paths[count++] = c->bases->value[i];
    tool_trajectory_open(c->context, count, paths, TOOL_MOTION_STREAM, &p->motion);

    if (!p->motion.mesh.path)
        tool_fail(SP_INPUT, c->mesh, "--mesh: it is no mesh");
    tool_trajectory_have(&p->motion, 0);
    tool_trajectory_need_all(&p->motion);
}

/* One frame's line and row; its norms go into those over all frames. */
static void take(projection *p, int64_t frame, double time, const double *missed)
{
    comparison *c = p->c;

    double size = missed[0], error = relative(missed[p->count], size);
    const char *word = p->motion.path ? "frame" : "column";
    long long number = (long long)frame + !p->motion.path; /* frames count from 0, columns from 1 as everywhere */
    char when[40] = "";

    if (p->motion.path)
        snprintf(when, sizeof when, " %.9g s", time);
    if (size > 0)
        compare_print(c, "%s %lld%s: %.6e\n", word, number, when, error);
    else
        compare_print(c, "%s %lld%s: at rest\n", word, number, when);

    if (p->motion.path)
        snprintf(when, sizeof when, "%.17g", time);
    compare_row(c, "%s,%lld,%s,%.17g,%.17g,%.17g,", word, number, when, size, missed[p->count], error);

    p->resting += !(size > 0);
    for (int64_t r = 0; r <= p->count; r++) {
        p->total[r] = hypot(p->total[r], missed[r]);
        if (r == p->count && size > 0 && (p->worst_frame < 0 || error > p->worst[r]))
            p->worst_frame = frame;
        p->worst[r] = fmax(p->worst[r], relative(missed[r], size));
    }
}

static void measure(projection *p)
{
    int64_t rows = p->metric.rows;

    double time[BLOCK];

    for (bool more = true; more;) {
        int64_t fields = 0;
        while (fields < BLOCK && (more = tool_trajectory_have(&p->motion, p->frames + fields))) {
            time[fields] = tool_trajectory_time(&p->motion, p->frames + fields);
            tool_trajectory_displacement(&p->motion, p->frames + fields, p->field + fields * rows);
            fields++;
        }

        if (fields == 0)
            break;
        tool_check(
            sp_projection_measure(p->c->context, &p->metric, p->count, p->basis.columns.U, fields, p->field, p->missed),
            p->c->a);

        for (int64_t f = 0; f < fields; f++)
            take(p, p->frames + f, time[f], p->missed + f * (p->count + 1));
        p->frames += fields;
    }
}

/* 1, 2, 5, 10, 20, 50, … and the last. */
static bool is_round(int64_t r)
{
    while (r % 10 == 0)
        r /= 10;
    return r == 1 || r == 2 || r == 5;
}

static double report(projection *p, int64_t rank)
{
    comparison *c = p->c;
    double size = p->total[0], error = relative(p->total[p->count], size);

    compare_print(c, "columns     total         worst         (parts of %s that the columns of %s miss)\n", c->a, c->b);
    for (int64_t r = 1; r <= p->count; r++) {
        double part = relative(p->total[r], size);
        if (is_round(r) || r == p->count)
            compare_print(c, "%7lld  %.6e  %.6e\n", (long long)r, part, p->worst[r]);
        compare_row(c, "leading,%lld,,%.17g,%.17g,%.17g,%.17g", (long long)r, size, p->total[r], part, p->worst[r]);
    }

    if (rank < p->count)
        compare_print(c, "rank %lld of %lld columns\n", (long long)rank, (long long)p->count);

    compare_print(c, "%lld %s, %lld at rest; total error %.6e", (long long)p->frames,
                  p->motion.path ? "frames" : "columns", (long long)p->resting, error);
    if (p->resting < p->frames)
        compare_print(c, ", worst %.6e (%s %lld)", p->worst[p->count], p->motion.path ? "frame" : "column",
                      (long long)p->worst_frame + !p->motion.path);
    compare_print(c, "\n");

    return error;
}

bool compare_projection(comparison *c)
{
    projection p = {.c = c, .worst_frame = -1};
    sp_fe_space body;
    sp_sparse mass;
    sp_pool pool = {0};
    int64_t rank;

    open_motion(&p);
    tool_read_columns(c->b, NULL, NULL, &p.motion.mesh, &p.basis);
    p.count = p.basis.columns.count;

    tool_check(sp_fe_space_new(c->context, &p.motion.mesh.mesh, &body), c->mesh);
    tool_check(sp_fe_space_mass_compressed(c->context, &body, false, &mass), c->mesh);
    p.metric = (sp_metric){.rows = p.basis.columns.rows, .matrix = &mass, .dof = body.dof};

    p.field = tool_allocate_raw(&pool, p.metric.rows * BLOCK, sizeof *p.field);
    p.missed = tool_allocate_raw(&pool, (p.count + 1) * BLOCK, sizeof *p.missed);
    p.total = tool_allocate(&pool, p.count + 1, sizeof *p.total);
    p.worst = tool_allocate(&pool, p.count + 1, sizeof *p.worst);

    tool_check(sp_projection_prepare(c->context, &p.metric, p.count, p.basis.columns.U, &rank), c->b);
    if (rank == 0)
        tool_fail(SP_INPUT, c->b, "all its columns are zero on the free degrees of freedom");

    compare_row(c, "what,number,time,size,missed,relative,worst");
    measure(&p);
    if (p.frames == 0)
        tool_fail(SP_INPUT, c->a, "it has no frame");

    double error = report(&p, rank);

    sp_pool_free(&pool);
    sp_sparse_free(&mass);
    sp_fe_space_free(&body);
    sp_columns_free(&p.basis.columns);
    tool_trajectory_close(&p.motion);
    return error <= c->absolute;
}
