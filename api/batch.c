/* Batches of the public library: blocks of motions in lanes, and motions that have left them. */
#include "api/body_internal.h"
#include "ensemble/lanes.h"
#include "ensemble/steps.h"
#include "linear/blas.h"

#include <supple/batch.h>

#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* A motion that is continued by itself. */
typedef struct single {
    sp_context context;
    body_model *model;
    sp_integrator *integrator;
    sp_external_loads loads;
    double *change; /* [r] scratch */
    const supple_batch *batch;
    int64_t motion;
} single;

struct supple_batch {
    supple_body *body;
    sp_context context;
    sp_pool pool;
    int threads;
    int64_t count, r, blocks, steps;
    sp_lane_force force;
    sp_lane_steps **lanes; /* [blocks]; NULL before the start */
    double *gravity;       /* [r] */
    double *forces;        /* [count, r] that the caller wrote */
    double *acting;        /* [count, r] of which the integrators know */
    double *q, *qdot;      /* [count, r] */
    double *change;        /* [blocks, r, SP_MOTIONS] scratch */
    int32_t *failures;     /* [count] */
    single **alone;        /* [count]; NULL: in a lane */
    sp_integrator_parameters parameters;
    omp_lock_t making; /* models are made of the body by one thread at a time */
};

/* ---- opening ---- */

static void free_single(single *s)
{
    if (!s)
        return;
    sp_integrator_free(s->integrator);
    sp_body_model_free(s->model);
    free(s->change);
    free(s);
}

/* Frees what a start has made. */
static void stop(supple_batch *b)
{
    for (int64_t k = 0; b->lanes && k < b->blocks; k++) {
        sp_lane_steps_free(b->lanes[k]);
        b->lanes[k] = NULL;
    }
    for (int64_t m = 0; b->alone && m < b->count; m++) {
        free_single(b->alone[m]);
        b->alone[m] = NULL;
    }
    b->steps = -1;
}

supple_status supple_batch_open(supple_body *body, int64_t count, int threads, supple_batch **batch)
{
    enum { MOST_THREADS = 1024 };
    SP_REQUIRE(batch);
    *batch = NULL;
    SP_REQUIRE(body);
    if (count < 1)
        return sp_error(SUPPLE_USAGE, "%s: count is %lld", __func__, (long long)count);
    SP_REQUIRE_COUNT(count, (size_t)(body->r + SP_MOTIONS) * sizeof(double));
    if (threads < 1 || threads > MOST_THREADS)
        return sp_error(SUPPLE_USAGE, "%s: threads is %d, it must be from 1 to %d", __func__, threads, MOST_THREADS);
    if (body->kind != SP_MODEL_POLYNOMIALS)
        return sp_error(SUPPLE_USAGE, "%s: batches are of bodies with polynomials", __func__);
    if (body->load_count > 0 || body->springs.count > 0)
        return sp_error(SUPPLE_USAGE, "%s: the body has %s", __func__,
                        body->load_count > 0 ? "a file of loads" : "springs");

    supple_batch *b = calloc(1, sizeof *b);
    if (!b)
        return sp_error(SUPPLE_SYSTEM, "%s: out of memory", __func__);
    const int64_t r = body->r;
    *b = (supple_batch){.body = body,
                        .context = sp_context_default(),
                        .threads = threads,
                        .count = count,
                        .r = r,
                        .steps = -1,
                        .blocks = (count + SP_MOTIONS - 1) / SP_MOTIONS};

    omp_init_lock(&b->making);
    b->lanes = sp_pool_new(&b->pool, b->blocks, sizeof(sp_lane_steps *));
    b->gravity = sp_pool_new(&b->pool, r, sizeof(double));
    double **vectors[] = {&b->forces, &b->acting, &b->q, &b->qdot};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        *vectors[i] = sp_pool_new(&b->pool, count * r, sizeof(double));
    b->change = sp_pool_new(&b->pool, b->blocks * r * SP_MOTIONS, sizeof(double));
    b->failures = sp_pool_new(&b->pool, count, sizeof *b->failures);
    b->alone = sp_pool_new(&b->pool, count, sizeof(single *));

    int status = sp_allocated(&b->context, !b->pool.failed);
    if (status == SP_OK)
        status = sp_lane_force_new(&b->context, &body->polynomials, r, false, &b->force);
    if (status != SP_OK) {
        const supple_status said = sp_error_of(&b->context, NULL, status);
        supple_batch_close(b);
        return said;
    }

    for (int64_t i = 0; i < r; i++)
        for (int c = 0; c < 3; c++)
            b->gravity[i] += body->polynomials.density * body->polynomials.gravity[3 * i + c] * body->gravity[c];
    *batch = b;
    return SUPPLE_OK;
}

void supple_batch_close(supple_batch *b)
{
    if (!b)
        return;
    stop(b);
    omp_destroy_lock(&b->making);
    sp_lane_force_free(&b->force);
    sp_pool_free(&b->pool);
    free(b);
}

/* ---- sizes and arrays ---- */

int64_t supple_batch_motions(const supple_batch *b)
{
    return b ? b->count : 0;
}

double *supple_batch_forces(supple_batch *b)
{
    return b ? b->forces : NULL;
}

double supple_batch_time(const supple_batch *b)
{
    return b && b->steps > 0 ? (double)b->steps * b->parameters.step : 0;
}

const double *supple_batch_q(const supple_batch *b)
{
    return b ? b->q : NULL;
}

const double *supple_batch_qdot(const supple_batch *b)
{
    return b ? b->qdot : NULL;
}

const int32_t *supple_batch_failures(const supple_batch *b)
{
    return b ? b->failures : NULL;
}

supple_status supple_batch_push(supple_batch *b, int64_t vertices, const int64_t *vertex, const double *force)
{
    SP_REQUIRE(b);
    SP_REQUIRE_COUNT(vertices, 3 * sizeof *force);
    if (vertices > 0) {
        SP_REQUIRE(vertex);
        SP_REQUIRE(force);
        SP_REQUIRE_FINITE(3 * vertices * b->count, force);
    }
    const supple_status said = sp_body_check_vertices(__func__, b->body, vertices, vertex);
    for (int64_t m = 0; m < b->count && said == SUPPLE_OK; m++)
        sp_body_project(b->body, vertices, vertex, force + 3 * m * vertices, b->forces + m * b->r);
    return said;
}

/* ---- the start ---- */

static int in_block(const supple_batch *b, int64_t block)
{
    const int64_t left = b->count - block * SP_MOTIONS;
    return left < SP_MOTIONS ? (int)left : SP_MOTIONS;
}

/* The forces that act, of all lanes: constant over any interval. */
typedef struct block_loads {
    const supple_batch *batch;
    int64_t block;
} block_loads;

static void mean_of_lanes(void *data, double t0, double t1, double *f)
{
    const block_loads *loads = data;
    const supple_batch *b = loads->batch;
    (void)t0, (void)t1;
    for (int m = 0; m < SP_MOTIONS; m++) {
        const int64_t motion = loads->block * SP_MOTIONS + m;
        for (int64_t i = 0; i < b->r; i++)
            f[i * SP_MOTIONS + m] = b->gravity[i] + (motion < b->count ? b->acting[motion * b->r + i] : 0);
    }
}

/* A lane without a motion is one more of the first. */
static void fill_lanes(supple_batch *b, int64_t block, const double *q, const double *v)
{
    const sp_polynomials *p = &b->body->polynomials;
    sp_lane_motion *to = sp_lane_steps_motion(b->lanes[block]);
    const int64_t r = b->r;

    for (int m = 0; m < SP_MOTIONS; m++) {
        const int64_t motion = block * SP_MOTIONS + (m < in_block(b, block) ? m : 0);
        to->scale[m] = 1;
        to->damping[m] = b->parameters.damping_mass;
        to->damping[SP_MOTIONS + m] = b->parameters.damping_stiffness;
        for (int64_t i = 0, pair = 0; i < r; i++) {
            to->q[i * SP_MOTIONS + m] = q ? q[motion * r + i] : 0;
            to->v[i * SP_MOTIONS + m] = v ? v[motion * r + i] : 0;
            for (int64_t j = i; j < r; j++, pair++)
                to->mass[pair * SP_MOTIONS + m] = p->density * p->mass[i * p->r + j];
        }
    }
}

static void show_lanes(supple_batch *b, int64_t block)
{
    const sp_lane_motion *from = sp_lane_steps_motion(b->lanes[block]);
    for (int m = 0; m < in_block(b, block); m++) {
        const int64_t motion = block * SP_MOTIONS + m;
        if (b->alone[motion] || b->failures[motion])
            continue;
        for (int64_t i = 0; i < b->r; i++) {
            b->q[motion * b->r + i] = from->q[i * SP_MOTIONS + m];
            b->qdot[motion * b->r + i] = from->v[i * SP_MOTIONS + m];
        }
    }
}

supple_status supple_batch_start(supple_batch *b, const supple_integration *how, const double *q, const double *qdot)
{
    sp_integrator_parameters parameters;
    SP_REQUIRE(b);
    SP_REQUIRE(how);
    if (q)
        SP_REQUIRE_FINITE(b->count * b->r, q);
    if (qdot)
        SP_REQUIRE_FINITE(b->count * b->r, qdot);
    SP_REQUIRE_FINITE(b->count * b->r, b->forces);

    const supple_status said = sp_body_integration(__func__, b->body, how, &parameters);
    if (said != SUPPLE_OK)
        return said;
    if (!sp_lane_steps_apply(&parameters))
        return sp_error(SUPPLE_USAGE, "%s: a batch moves by SUPPLE_NEWMARK, SUPPLE_EULER or SUPPLE_BDF2", __func__);

    /* A body by itself tells of parameters out of range. */
    const sp_external_loads none = {.mean = NULL};
    int status = sp_integrator_check(&b->context, &b->body->now->model.system, &none, &parameters);
    stop(b);
    b->parameters = parameters;
    for (int64_t k = 0; k < b->blocks && status == SP_OK; k++)
        status = sp_lane_steps_new(&b->context, &b->force, &parameters, &b->lanes[k]);
    if (status != SP_OK) {
        stop(b);
        return sp_error_of(&b->context, NULL, status);
    }

    memcpy(b->acting, b->forces, (size_t)(b->count * b->r) * sizeof *b->acting);
    memset(b->failures, 0, (size_t)b->count * sizeof *b->failures);
#pragma omp parallel for schedule(static) num_threads(b->threads)
    for (int64_t k = 0; k < b->blocks; k++) {
        block_loads loads = {b, k};
        fill_lanes(b, k, q, qdot);
        sp_lane_steps_start(b->lanes[k], &(sp_lane_loads){&loads, mean_of_lanes});
        show_lanes(b, k);
    }
    b->steps = 0;
    return SUPPLE_OK;
}

/* ---- motions by themselves ---- */

static void mean_of_single(void *data, double t0, double t1, double *f)
{
    const single *s = data;
    const supple_batch *b = s->batch;
    (void)t0, (void)t1;
    for (int64_t i = 0; i < b->r; i++)
        f[i] = b->gravity[i] + b->acting[s->motion * b->r + i];
}

/* A motion leaves its lane in the state [r] after `steps` steps. NULL: out of memory, or its accelerations have no
 * value, which is a failure of the motion. */
static single *leave(supple_batch *b, int64_t motion, int64_t steps, const double *q, const double *v, int *status)
{
    single *s = calloc(1, sizeof *s);
    *status = s ? SP_OK : SP_SYSTEM;
    if (!s)
        return NULL;
    *s = (single){.context = sp_context_default(),
                  .change = calloc((size_t)b->r, sizeof *s->change),
                  .batch = b,
                  .motion = motion};

    omp_set_lock(&b->making);
    *status = s->change ? sp_body_make_model(b->body, false, &s->model) : SP_SYSTEM;
    omp_unset_lock(&b->making);
    if (*status == SP_OK) {
        sp_integrator_parameters parameters = b->parameters;
        parameters.first_step = steps;
        s->loads = (sp_external_loads){.self = s, .mean = mean_of_single};
        *status = sp_integrator_new(&s->context, &s->model->model.system, &s->loads, &parameters, q, v, &s->integrator);
    }
    if (*status == SP_OK)
        return s;
    free_single(s);
    return NULL;
}

static void step_alone(supple_batch *b, single *s)
{
    const int64_t m = s->motion;
    if (b->failures[m])
        return;
    const int status = sp_integrator_step(s->integrator);
    memcpy(b->q + m * b->r, sp_integrator_q(s->integrator), (size_t)b->r * sizeof *b->q);
    memcpy(b->qdot + m * b->r, sp_integrator_v(s->integrator), (size_t)b->r * sizeof *b->qdot);
    b->failures[m] = status;
}

/* ---- steps ---- */

/* Forces that the caller has changed act from now on. A motion by itself that cannot take them has failed. */
static void change_forces(supple_batch *b, int64_t block)
{
    double *lanes = b->change + block * b->r * SP_MOTIONS;
    bool any = false;

    memset(lanes, 0, (size_t)(b->r * SP_MOTIONS) * sizeof *lanes);
    for (int m = 0; m < in_block(b, block); m++) {
        const int64_t motion = block * SP_MOTIONS + m;
        double *acting = b->acting + motion * b->r;
        const double *force = b->forces + motion * b->r;
        single *s = b->alone[motion];
        if (!memcmp(acting, force, (size_t)b->r * sizeof *acting))
            continue;

        for (int64_t i = 0; i < b->r; i++) {
            const double change = force[i] - acting[i];
            lanes[i * SP_MOTIONS + m] = change;
            acting[i] = force[i];
        }
        any = true;
        if (s && !b->failures[motion]) {
            for (int64_t i = 0; i < b->r; i++)
                s->change[i] = lanes[i * SP_MOTIONS + m];
            b->failures[motion] = sp_integrator_change_loads(s->integrator, s->change);
        }
    }
    if (any)
        sp_lane_steps_change_loads(b->lanes[block], lanes);
}

/* What was given up in the last step takes that step by itself. */
static int take_over(supple_batch *b, int64_t block, int64_t done)
{
    for (int m = 0; m < in_block(b, block); m++) {
        const int64_t motion = block * SP_MOTIONS + m;
        int status;
        if (!sp_lane_steps_given_up(b->lanes[block], m) || b->alone[motion] || b->failures[motion])
            continue;
        sp_lane_steps_before(b->lanes[block], m, b->q + motion * b->r, b->qdot + motion * b->r);
        b->alone[motion] = leave(b, motion, done, b->q + motion * b->r, b->qdot + motion * b->r, &status);
        if (status == SP_SYSTEM)
            return status;
        b->failures[motion] = status;
        if (b->alone[motion])
            step_alone(b, b->alone[motion]);
    }
    return SP_OK;
}

static int run_block(supple_batch *b, int64_t block, int64_t steps)
{
    block_loads loads = {b, block};
    sp_lane_steps_reload(b->lanes[block], &(sp_lane_loads){&loads, mean_of_lanes});
    change_forces(b, block);
    for (int64_t k = 0; k < steps; k++) {
        for (int m = 0; m < in_block(b, block); m++)
            if (b->alone[block * SP_MOTIONS + m])
                step_alone(b, b->alone[block * SP_MOTIONS + m]);
        sp_lane_steps_step(b->lanes[block]);
        SP_PASS(take_over(b, block, b->steps + k));
    }
    show_lanes(b, block);
    return SP_OK;
}

supple_status supple_batch_step(supple_batch *b, int64_t steps)
{
    int worst = SP_OK;
    SP_REQUIRE(b);
    if (b->steps < 0)
        return sp_error(SUPPLE_USAGE, "%s: the batch has no motion: call supple_batch_start first", __func__);
    if (steps < 0)
        return sp_error(SUPPLE_USAGE, "%s: steps is %lld", __func__, (long long)steps);
    SP_REQUIRE_FINITE(b->count * b->r, b->forces);

    const int threads = sp_blas_alone_begin();
#pragma omp parallel for schedule(dynamic, 1) num_threads(b->threads) reduction(max : worst)
    for (int64_t k = 0; k < b->blocks; k++) {
        const int status = run_block(b, k, steps);
        worst = status > worst ? status : worst;
    }
    sp_blas_alone_end(threads);
    b->steps += steps;
    if (worst == SP_OK)
        return SUPPLE_OK;

    stop(b); /* its blocks are at different times now */
    return sp_error(SUPPLE_SYSTEM, "%s: out of memory", __func__);
}
