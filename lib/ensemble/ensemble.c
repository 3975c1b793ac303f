#include "ensemble/ensemble.h"

#include "ensemble/internal.h"
#include "ensemble/steps.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Columns that are kept for all motions: enough for the loads of a table, and little beside the model. */
enum { MOST_COLUMNS = 1024 };

/* A projected load without its course, which motions share: a unit force along an axis; of a rotation all of it. */
typedef struct column {
    sp_load load;
    double *force; /* [r] */
} column;

/* A load of one lane. */
typedef struct lane_load {
    const sp_load *load;
    double *force; /* [r] */
} lane_load;

typedef struct whole {
    const sp_ensemble *ensemble;
    sp_context *context;
    bool in_lanes;
    sp_lane_force force;
    sp_pool pool;
    sp_list columns; /* column */
    int status;      /* of the first failure that ends the ensemble */
    char message[512];
} whole;

/* Everything of one thread. */
typedef struct worker {
    whole *all;
    sp_context context; /* with its own message */
    sp_ensemble_record record;
    sp_ensemble_alone alone;
    sp_lane_steps *steps; /* NULL: not in lanes */
    sp_pool pool;         /* of the thread */
    sp_pool block;        /* of the block: what its motions point to */
    sp_ensemble_motion motions[SP_MOTIONS];
    lane_load *loads[SP_MOTIONS];
    double *steady; /* [r][SP_MOTIONS] gravity */
    double *full;   /* [rows] */
} worker;

/* ---- loads in lanes ---- */

static bool linear_in_force(enum sp_load_kind kind)
{
    return kind != SP_LOAD_ROTATION;
}

static bool same_place(const sp_load *a, const sp_load *b)
{
    return a->kind == b->kind && a->id == b->id && a->set == b->set && !memcmp(a->point, b->point, sizeof a->point) &&
           !memcmp(a->force, b->force, sizeof a->force);
}

/* The column of a load that a motion has left for others; NULL: none has. */
static const double *find_column(whole *all, const sp_load *load)
{
    const double *force = NULL;
#pragma omp critical(sp_ensemble_columns)
    {
        const column *columns = all->columns.data;
        for (int64_t i = 0; i < all->columns.count && !force; i++)
            if (same_place(&columns[i].load, load))
                force = columns[i].force;
    }
    return force;
}

/* Leaves a column for other motions while there is room for it: memory does not grow with the number of motions. */
static void keep_column(whole *all, const sp_load *load, const double *force)
{
#pragma omp critical(sp_ensemble_columns)
    if (all->columns.count < MOST_COLUMNS) {
        double *copy = sp_pool_copy(&all->pool, force, all->ensemble->description->r, sizeof *copy);
        column *new = copy ? sp_list_add(&all->columns, 1, sizeof *new) : NULL;
        if (new)
            *new = (column){*load, copy};
    }
}

/* The projection of a load whose force is given, found or computed. NULL after a failure. */
static const double *project_column(worker *w, const sp_load *load)
{
    const sp_model_description *d = w->all->ensemble->description;
    const double *found = find_column(w->all, load);
    if (found)
        return found;

    double *force = sp_pool_new(&w->block, d->r, sizeof *force);
    if (sp_allocated(&w->context, force) != SP_OK)
        return NULL;
    memset(w->full, 0, (size_t)d->rows * sizeof *w->full);
    if (sp_load_distribute(&w->context, d->space, load, w->full) != SP_OK)
        return NULL;
    sp_load_project(d->space, d->U, d->r, w->full, force);
    keep_column(w->all, load, force);
    return force;
}

/* The generalized force of a load [r]: a sum over the axes, whose columns motions share. */
static int project_load(worker *w, const sp_load *load, double *force)
{
    const int64_t r = w->all->ensemble->description->r;
    const int axes = load->kind == SP_LOAD_PRESSURE ? 1 : 3;

    for (int c = 0; c < (linear_in_force(load->kind) ? axes : 1); c++) {
        sp_load unit = *load;
        double factor = 1;
        if (linear_in_force(load->kind)) {
            factor = load->force[c];
            memset(unit.force, 0, sizeof unit.force);
            unit.force[c] = 1;
        }
        if (factor == 0)
            continue;

        const double *axis = project_column(w, &unit);
        if (!axis)
            return SP_SYSTEM;
        for (int64_t i = 0; i < r; i++)
            force[i] += factor * axis[i];
    }
    return SP_OK;
}

/* All loads of the motion in a lane. A failure of a single load is one of the motion. */
static int project_loads(worker *w, int lane)
{
    const sp_ensemble_motion *motion = &w->motions[lane];
    const sp_model_description *d = w->all->ensemble->description;
    lane_load *loads = sp_pool_new(&w->block, motion->load_count, sizeof *loads);

    SP_PASS(sp_allocated(&w->context, loads));
    w->loads[lane] = loads;
    for (int64_t l = 0; l < motion->load_count; l++) {
        SP_PASS(sp_load_check(&w->context, d->space->mesh, l + 1, &motion->loads[l]));
        loads[l] = (lane_load){&motion->loads[l], sp_pool_new(&w->block, d->r, sizeof(double))};
        SP_PASS(sp_allocated(&w->context, loads[l].force));
        SP_PASS(project_load(w, loads[l].load, loads[l].force));
    }
    return SP_OK;
}

static void mean_loads(void *data, double t0, double t1, double *f)
{
    const worker *w = data;
    const int64_t r = w->all->ensemble->description->r;

    memcpy(f, w->steady, (size_t)(r * SP_MOTIONS) * sizeof *f);
    for (int m = 0; m < SP_MOTIONS; m++)
        for (int64_t l = 0; w->loads[m] && l < w->motions[m].load_count; l++) {
            const lane_load *load = &w->loads[m][l];
            const double share = sp_load_share(load->load, false, t0, t1);
            if (share != 0)
                for (int64_t i = 0; i < r; i++)
                    f[i * SP_MOTIONS + m] += share * load->force[i];
        }
}

/* ---- the motions of a block in lanes ---- */

/* Whether a motion goes into a lane. Springs are part of its stiffness, and what turns weighs by its density. */
static bool fits(const worker *w, const sp_ensemble_motion *motion)
{
    for (int64_t l = 0; l < motion->load_count; l++)
        if (motion->loads[l].kind == SP_LOAD_SPRING || (motion->materials && sp_load_by_mass(motion->loads[l].kind)))
            return false;
    return w->all->in_lanes && !motion->refused;
}

/* The data of the motion in a lane from its description. */
static int fill_lane(worker *w, int lane)
{
    const sp_ensemble_motion *motion = &w->motions[lane];
    const sp_model_description *d = w->all->ensemble->description;
    const sp_mesh *mesh = d->space->mesh;
    const int64_t r = d->r;
    sp_lane_motion *to = sp_lane_steps_motion(w->steps);
    sp_polynomials edited = *d->polynomials;

    if (motion->materials)
        SP_PASS(sp_ensemble_edit(&w->context, d->polynomials, mesh->material_count, mesh->materials, motion->materials,
                                 &w->block, &edited));
    SP_PASS(project_loads(w, lane));

    for (int64_t p = 0; p < w->all->force.parts; p++)
        to->scale[p * SP_MOTIONS + lane] = w->all->ensemble->materials ? edited.parts[p].value : 1;
    for (int64_t i = 0, pair = 0; i < r; i++)
        for (int64_t j = i; j < r; j++, pair++)
            to->mass[pair * SP_MOTIONS + lane] = edited.density * edited.mass[i * edited.r + j];
    to->damping[lane] = motion->damping_mass;
    to->damping[SP_MOTIONS + lane] = motion->damping_stiffness;

    for (int64_t i = 0; i < r; i++) {
        to->q[i * SP_MOTIONS + lane] = motion->q ? motion->q[i] : 0;
        to->v[i * SP_MOTIONS + lane] = motion->v ? motion->v[i] : 0;
        w->steady[i * SP_MOTIONS + lane] = 0;
        for (int c = 0; c < 3; c++)
            w->steady[i * SP_MOTIONS + lane] += edited.density * edited.gravity[3 * i + c] * motion->gravity[c];
    }
    return SP_OK;
}

/* A lane without a motion has the model of the mesh, and rests. */
static int fill_idle_lane(worker *w, int lane)
{
    w->motions[lane] = (sp_ensemble_motion){0};
    return fill_lane(w, lane);
}

static int run_lanes(worker *w, int count, bool in_lane[SP_MOTIONS])
{
    const sp_ensemble *e = w->all->ensemble;
    const sp_lane_loads loads = {w, mean_loads};
    const sp_lane_motion *motion = sp_lane_steps_motion(w->steps);
    bool any = false;

    for (int m = 0; m < SP_MOTIONS; m++) {
        w->loads[m] = NULL;
        in_lane[m] = m < count && fits(w, &w->motions[m]);
        if (in_lane[m] && fill_lane(w, m) != SP_OK)
            in_lane[m] = false; /* by itself it says why */
        any |= in_lane[m];
    }
    if (!any)
        return SP_OK;
    for (int m = 0; m < SP_MOTIONS; m++)
        if (!in_lane[m]) {
            const sp_ensemble_motion kept = w->motions[m];
            SP_PASS(fill_idle_lane(w, m));
            w->motions[m] = kept;
            w->loads[m] = NULL;
        }

    sp_ensemble_record_clear(&w->record, -1);
    sp_lane_steps_start(w->steps, &loads);
    sp_ensemble_record_step(&w->record, 0, motion->q, motion->v);
    for (int64_t number = 1; number <= e->steps; number++) {
        sp_lane_steps_step(w->steps);
        sp_ensemble_record_step(&w->record, number, motion->q, motion->v);
    }
    for (int m = 0; m < SP_MOTIONS; m++) {
        in_lane[m] &= !sp_lane_steps_given_up(w->steps, m);
        w->record.iterations[m] = sp_lane_steps_iterations(w->steps, m);
    }
    return SP_OK;
}

/* ---- blocks ---- */

static int describe(worker *w, int64_t first, int count)
{
    const sp_ensemble *e = w->all->ensemble;
    int status = SP_OK;
    sp_pool_free(&w->block);
#pragma omp critical(sp_ensemble_describe)
    for (int m = 0; m < count && status == SP_OK; m++) {
        w->motions[m] = (sp_ensemble_motion){0};
        status = e->describe(e->self, first + m, &w->block, &w->motions[m]);
        if (status != SP_OK) /* its message is in the context of the caller */
            sp_fail(&w->context, status, "%s", w->all->context->message);
    }
    return status;
}

static int run_block(worker *w, int64_t first, int count)
{
    bool in_lane[SP_MOTIONS] = {false};
    SP_PASS(describe(w, first, count));
    if (w->steps)
        SP_PASS(run_lanes(w, count, in_lane));

    for (int m = 0; m < count; m++)
        if (!in_lane[m] && sp_ensemble_alone_run(&w->alone, &w->motions[m], &w->record, m) == SP_SYSTEM)
            return sp_fail(&w->context, SP_SYSTEM, "%s", w->record.reason[m]);

    sp_ensemble_record_finish(&w->record);
    return SP_OK;
}

static int hand_over(worker *w, int64_t first, int count)
{
    const sp_ensemble *e = w->all->ensemble;
    const sp_ensemble_record *record = &w->record;
    SP_PASS(e->take(e->self, &(sp_ensemble_block){.first = first,
                                                  .count = count,
                                                  .q = record->q,
                                                  .v = record->v,
                                                  .signals = record->signals,
                                                  .statistics = record->statistics,
                                                  .status = record->status,
                                                  .reason = record->reason,
                                                  .alone = record->alone,
                                                  .iterations = record->iterations}));
    return sp_progress(w->all->context, (double)(first + count - e->first) / (double)(e->end - e->first));
}

static int open_worker(whole *all, worker *w)
{
    const sp_ensemble *e = all->ensemble;
    const sp_model_description *d = e->description;

    *w = (worker){.all = all, .context = *all->context};
    w->context.threads = 1;
    w->context.progress = NULL;
    w->alone = (sp_ensemble_alone){.context = w->context, .ensemble = e};
    sp_ensemble_record_new(&w->pool, e, &w->record);
    w->steady = sp_pool_new(&w->pool, d->r * SP_MOTIONS, sizeof *w->steady);
    w->full = sp_pool_new(&w->pool, d->rows, sizeof *w->full);
    SP_PASS(sp_allocated(&w->context, !w->pool.failed));
    return all->in_lanes ? sp_lane_steps_new(&w->context, &all->force, &e->parameters, &w->steps) : SP_OK;
}

static void close_worker(worker *w)
{
    sp_lane_steps_free(w->steps);
    sp_ensemble_alone_free(&w->alone);
    sp_pool_free(&w->block);
    sp_pool_free(&w->pool);
}

/* The first failure ends the ensemble. */
static void note(whole *all, int status, const char *message)
{
#pragma omp critical(sp_ensemble_status)
    if (all->status == SP_OK && status != SP_OK) {
        memcpy(all->message, message, sizeof all->message);
#pragma omp atomic write
        all->status = status;
    }
}

static int status_of(whole *all)
{
    int status;
#pragma omp atomic read
    status = all->status;
    return status;
}

static void run_blocks(whole *all)
{
    const sp_ensemble *e = all->ensemble;
    const int64_t blocks = (e->end - e->first + SP_MOTIONS - 1) / SP_MOTIONS;

#pragma omp parallel num_threads(all->context->threads)
    {
        worker w;
        note(all, open_worker(all, &w), w.context.message);

#pragma omp for ordered schedule(dynamic, 1)
        for (int64_t k = 0; k < blocks; k++) {
            const int64_t first = e->first + k * SP_MOTIONS, left = e->end - first;
            const int count = left < SP_MOTIONS ? (int)left : SP_MOTIONS;
            if (status_of(all) == SP_OK)
                note(all, run_block(&w, first, count), w.context.message);
#pragma omp ordered
            if (status_of(all) == SP_OK) {
                const int status = hand_over(&w, first, count);
                note(all, status, all->context->message);
            }
        }
        close_worker(&w);
    }
}

int sp_ensemble_run(sp_context *context, const sp_ensemble *e)
{
    const sp_model_description *d = e->description;
    whole all = {.ensemble = e, .context = context};
    if (e->steps < 1 || e->every < 1 || e->settle < 0 || e->settle >= e->steps)
        return sp_fail(context, SP_USAGE, "%lld steps, frames every %lld, and statistics after step %lld",
                       (long long)e->steps, (long long)e->every, (long long)e->settle);

    all.in_lanes = d->kind == SP_MODEL_POLYNOMIALS && !d->viscosity && !d->decay && sp_lane_steps_apply(&e->parameters);
    if (all.in_lanes)
        SP_PASS(sp_lane_force_new(context, d->polynomials, d->r, e->materials, &all.force));

    run_blocks(&all);
    sp_lane_force_free(&all.force);
    sp_list_free(&all.columns);
    sp_pool_free(&all.pool);
    return all.status == SP_OK ? SP_OK : sp_fail(context, all.status, "%s", all.message);
}
