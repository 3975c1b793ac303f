#include "tools/basis/scaling.h"

#include "assembly/elastic.h"
#include "basis/modes.h"
#include "basis/weights.h"

#include <math.h>
#include <string.h>

/* One per column of the store. */
typedef struct weights {
    sp_pool pool;
    const candidate_file *modes; /* NULL: none is needed */
    double *mode, *square, *stiffness, *factor;
    bool *by_quotient; /* weighed by its Rayleigh quotient */
    bool *rigid;       /* has no scale */
} weights;

/* Eigenvalue where the files are one of modes and its derivatives, else as they are. */
static enum scaling automatic(const candidates *set)
{
    int64_t modes = 0, derivatives = 0;
    for (int64_t f = 0; f < set->file_count; f++) {
        modes += !strcmp(set->files[f].kind, "modes");
        derivatives += !strcmp(set->files[f].kind, "derivatives");
    }
    return modes == 1 && modes + derivatives == set->file_count ? SCALING_EIGENVALUE : SCALING_NONE;
}

static const candidate_file *find_modes(const candidates *set)
{
    const candidate_file *modes = NULL;
    for (int64_t f = 0; f < set->file_count; f++)
        if (!strcmp(set->files[f].kind, "modes")) {
            if (modes)
                tool_fail(SP_INPUT, set->files[f].path, "a second file of modes: eigenvalue scaling takes one");
            modes = &set->files[f];
        }
    if (!modes)
        tool_fail(SP_INPUT, set->files[0].path, "eigenvalue scaling needs the file of the modes");
    return modes;
}

/* ---- Rayleigh quotients ---- */

/* Returns true if a column has an interface at rest, so that it has no rigid motion. */
static bool is_held(const candidates *set, int64_t c)
{
    int64_t column;
    const candidate_file *file = candidates_origin(set, c, &column);
    bool held = false;
    for (int64_t i = 0; i < file->columns.interface_count; i++)
        held |= file->columns.interfaces[i].at_rest;
    return held;
}

/* Columns that are weighed by their quotient lose what they have of the rigid motions that the fixed vertices leave:
 * that part has mass and no stiffness, so that a field with a little of it would weigh far too much, and a basis holds
 * none of it. */
static void project_off_rigid(candidates *set, const weights *w, const sp_fe_space *body, const sp_metric *metric,
                              const sp_sparse *M)
{
    int64_t rows = set->store.rows, n = body->dof_count, count;
    sp_pool pool = {0};
    double *motion = tool_allocate_raw(&pool, 6 * n, sizeof *motion), *full = tool_allocate(&pool, rows, sizeof *full),
           *product = tool_allocate(&pool, 6 * rows, sizeof *product);
    double *column = tool_allocate_raw(&pool, rows, sizeof *column),
           *work = tool_allocate_raw(&pool, metric->matrix ? 2 * n : 1, sizeof *work);

    tool_check(sp_rigid_motions(set->context, body, M, motion, &count), set->mesh->path);

    for (int64_t k = 0; k < count; k++) {
        sp_fe_space_scatter(body, motion + k * n, full);
        sp_metric_times(set->context, metric, 1, full, product + k * rows, work);
    }

    const int64_t changed = count > 0 ? set->store.count : 0;
    for (int64_t c = 0; c < changed; c++) {
        if (!w->by_quotient[c] || is_held(set, c))
            continue;

        tool_check(sp_store_read(set->context, &set->store, 0, rows, c, 1, column), NULL);

        /* Gram-Schmidt in the mass, twice against rounding. */
        for (int pass = 0; pass < 2; pass++)
            for (int64_t k = 0; k < count; k++) {
                double part = sp_dense_dot(rows, product + k * rows, column);
                for (int64_t i = 0; i < n; i++)
                    column[body->free[i]] -= part * motion[k * n + i];
            }

        tool_check(sp_store_write(set->context, &set->store, 0, rows, c, 1, column), NULL);
    }

    sp_pool_free(&pool);
}

/* uᵀKu at rest and uᵀMu without rigid motions, which are marked: what is left of them is rounding, or resists with less
 * than rounding of the stiffest motions. */
static void measure_quotients(candidates *set, weights *w, sp_fe_space *body, const sp_metric *metric, bool lumped)
{
    sp_sparse K, M;
    sp_pool pool = {0};
    double *before = tool_allocate_copy(&pool, w->square, set->store.count, sizeof *before);

    tool_check(sp_fe_space_mass_compressed(set->context, body, lumped, &M), set->mesh->path);
    project_off_rigid(set, w, body, metric, &M);
    tool_check(sp_store_squares(set->context, metric, &set->store, w->square), NULL);

    tool_check(sp_elastic_stiffness(set->context, body, &K), set->mesh->path);
    tool_check(sp_store_squares(set->context, &(sp_metric){.rows = set->store.rows, .matrix = &K, .dof = body->dof},
                                &set->store, w->stiffness),
               NULL);

    double stiffest = sp_sparse_trace(&K) / sp_sparse_trace(&M);
    for (int64_t c = 0; c < set->store.count; c++)
        w->rigid[c] = w->by_quotient[c] && before[c] > 0 &&
                      (w->square[c] <= 1e-16 * before[c] || w->stiffness[c] <= 1e-13 * stiffest * w->square[c]);
    sp_sparse_free(&K);
    sp_sparse_free(&M);
    sp_pool_free(&pool);
}

/* ---- factors ---- */

static void factors_by_eigenvalue(candidates *set, weights *w)
{
    const sp_columns *modes = &w->modes->columns;
    for (int64_t c = 0; c < set->store.count; c++) {
        int64_t column;
        const candidate_file *file = candidates_origin(set, c, &column);

        if (file == w->modes)
            w->factor[c] = w->mode[column];
        else if (!w->by_quotient[c])
            tool_check(sp_derivative_weight(set->context, modes->count, modes->rigid, modes->eigenvalue,
                                            file->columns.pair + 2 * column, w->square[c], &w->factor[c]),
                       file->path);
        else
            w->factor[c] =
                w->rigid[c] ? 0 : sp_rayleigh_weight(modes->eigenvalue[modes->rigid], w->square[c], w->stiffness[c]);

        w->rigid[c] |= file == w->modes && column < modes->rigid;
    }
}

static void factors_by_quotient(const candidates *set, weights *w)
{
    double lowest = INFINITY;
    for (int64_t c = 0; c < set->store.count; c++)
        if (!w->rigid[c] && w->square[c] > 0)
            lowest = fmin(lowest, w->stiffness[c] / w->square[c]);
    for (int64_t c = 0; c < set->store.count; c++)
        w->factor[c] = w->rigid[c] ? 0 : sp_rayleigh_weight(lowest, w->square[c], w->stiffness[c]);
}

/* Columns by their Rayleigh quotients, derivatives by the product of what they are made of: the source's columns and
 * earlier derivatives. */
static void factors_by_product(const candidates *set, weights *w)
{
    const candidate_file *source = w->modes, *file;
    int64_t columns = source->columns.count, column;
    double lowest = INFINITY, *base = tool_allocate_raw(&w->pool, columns, sizeof *base),
           *made = tool_allocate_raw(&w->pool, set->total, sizeof *made);

    for (int64_t i = 0; i < columns; i++)
        base[i] = NAN; /* not among the candidates */

    /* λ₁ / λ: the lowest quotient of all columns is 1. */
    for (int64_t c = 0; c < set->store.count; c++)
        if (candidates_origin(set, c, &column) == source && !w->rigid[c] && w->square[c] > 0)
            lowest = fmin(lowest, base[column] = w->stiffness[c] / w->square[c]);

    for (int64_t f = 0; f < set->file_count; f++) {
        const sp_columns *derivatives = &set->files[f].columns;
        if (strcmp(set->files[f].kind, "derivatives") != 0)
            continue;
        for (int64_t k = 0; k < derivatives->count; k++) {
            const int64_t *pair = derivatives->pair + 2 * k, used = derivatives->source ? derivatives->source : columns;

            if (pair[0] >= columns || used > columns || pair[1] >= used + k)
                tool_fail(SP_INPUT, set->files[f].path,
                          "derivative %lld is made of columns %lld and %lld: it does not belong to %s, which has %lld",
                          (long long)k + 1, (long long)pair[0] + 1, (long long)pair[1] + 1, source->path,
                          (long long)columns);

            made[set->files[f].first + k] =
                lowest / base[pair[0]] *
                (pair[1] < used ? lowest / base[pair[1]] : made[set->files[f].first + pair[1] - used]);
        }
    }

    for (int64_t c = 0; c < set->store.count; c++) {
        file = candidates_origin(set, c, &column);
        if (w->by_quotient[c])
            w->factor[c] = w->rigid[c] ? 0 : sp_rayleigh_weight(lowest, w->square[c], w->stiffness[c]);
        else
            w->factor[c] = w->square[c] > 0 ? made[file->first + column] / sqrt(w->square[c]) : 0;
        if (!isfinite(w->factor[c]))
            tool_fail(SP_USAGE, file->path,
                      "derivative %lld is made of a column of %s that is not among the candidates",
                      (long long)column + 1, source->path);
    }
}

/* The one file that derivatives are made of. */
static const candidate_file *find_source(const candidates *set)
{
    const candidate_file *source = NULL;

    for (int64_t f = 0; f < set->file_count; f++) {
        const candidate_file *file = &set->files[f];
        if (!strcmp(file->kind, "modes") || !strcmp(file->kind, "snapshots")) {
            if (source)
                tool_fail(SP_INPUT, file->path,
                          "product scaling takes one file of modes or snapshots, which the derivatives are made of");
            source = file;
        } else if (!strcmp(file->kind, "derivatives") && !file->columns.pair)
            tool_fail(SP_INPUT, file->path, "it does not say what its derivatives are made of");
    }

    if (!source)
        tool_fail(SP_INPUT, set->files[0].path,
                  "product scaling needs the file of modes or snapshots that the derivatives are made of");
    return source;
}

static void leave_out_rigid(candidates *set, weights *w)
{
    int64_t count = 0, *kept = tool_allocate_raw(&w->pool, set->store.count, sizeof *kept);
    for (int64_t f = 0; f < set->file_count; f++) {
        int64_t rigid = 0, column;
        for (int64_t c = 0; c < set->store.count; c++)
            rigid += w->rigid[c] && candidates_origin(set, c, &column) == &set->files[f];
        if (rigid)
            tool_say("%s: %lld rigid motions are left out of the basis", set->files[f].path, (long long)rigid);
    }

    for (int64_t c = 0; c < set->store.count; c++)
        if (!w->rigid[c]) {
            w->factor[count] = w->factor[c];
            kept[count++] = c;
        }

    if (count < set->store.count)
        candidates_keep(set, count, kept);
}

void candidates_scale(candidates *set, enum scaling scaling, sp_fe_space *body, const sp_metric *metric,
                      const sp_metric *consistent, const sp_metric *lumped)
{
    int64_t count = set->store.count;
    weights w = {0};

    if (scaling == SCALING_AUTO)
        scaling = automatic(set);
    if (scaling == SCALING_NONE)
        return;

    w.square = tool_allocate_raw(&w.pool, count, sizeof *w.square);
    w.stiffness = tool_allocate_raw(&w.pool, count, sizeof *w.stiffness);
    w.factor = tool_allocate_raw(&w.pool, count, sizeof *w.factor);
    w.by_quotient = tool_allocate(&w.pool, count, sizeof *w.by_quotient);
    w.rigid = tool_allocate(&w.pool, count, sizeof *w.rigid);

    if (scaling == SCALING_EIGENVALUE) {
        w.modes = find_modes(set);
        const sp_columns *modes = &w.modes->columns;
        w.mode = tool_allocate_raw(&w.pool, modes->count, sizeof *w.mode);
        tool_check(sp_mode_weights(set->context, modes->count, modes->rigid, modes->eigenvalue, w.mode), w.modes->path);

        /* In the mass that normalized the modes they are unit vectors. */
        metric = modes->lumped ? lumped : consistent;
    }

    if (scaling == SCALING_PRODUCT)
        w.modes = find_source(set);

    bool any = false;
    for (int64_t c = 0; c < count; c++) {
        int64_t column;
        const candidate_file *file = candidates_origin(set, c, &column);
        w.by_quotient[c] =
            scaling == SCALING_RAYLEIGH || (scaling == SCALING_PRODUCT && strcmp(file->kind, "derivatives")) ||
            (scaling == SCALING_EIGENVALUE && file != w.modes && (!file->columns.pair || file->columns.order > 1));
        any |= w.by_quotient[c];
    }

    tool_check(sp_store_squares(set->context, metric, &set->store, w.square), NULL);
    if (any)
        measure_quotients(set, &w, body, metric, metric == lumped);

    if (scaling == SCALING_EIGENVALUE)
        factors_by_eigenvalue(set, &w);
    else if (scaling == SCALING_PRODUCT)
        factors_by_product(set, &w);
    else if (scaling == SCALING_RAYLEIGH)
        factors_by_quotient(set, &w);
    else
        for (int64_t c = 0; c < count; c++)
            w.factor[c] = w.square[c] > 0 ? 1 / sqrt(w.square[c]) : 0;

    leave_out_rigid(set, &w);
    tool_check(sp_store_scale(set->context, &set->store, w.factor), NULL);
    sp_pool_free(&w.pool);
}
