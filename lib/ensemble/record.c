/* What is kept of the motions of a block, and their statistics. */
#include "ensemble/internal.h"

#include <math.h>
#include <string.h>

int64_t sp_ensemble_frames(int64_t steps, int64_t every)
{
    return 1 + steps / every + (steps % every != 0);
}

static int64_t rounded(int64_t signals)
{
    return (signals + SP_LANES - 1) / SP_LANES * SP_LANES;
}

double sp_ensemble_block_bytes(const sp_ensemble *e)
{
    const double frames = (double)sp_ensemble_frames(e->steps, e->every), r = (double)e->description->r,
                 signals = (double)e->signal_count;
    return SP_MOTIONS * sizeof(double) *
           (frames * (r * (e->keep_q + e->keep_v) + signals * e->keep_signals) +
            SP_ENSEMBLE_STATISTICS * signals * e->keep_statistics);
}

void sp_ensemble_record_new(sp_pool *pool, const sp_ensemble *e, sp_ensemble_record *record)
{
    const int64_t r = e->description->r, signals = e->signal_count;
    *record = (sp_ensemble_record){.ensemble = e, .r = r, .frames = sp_ensemble_frames(e->steps, e->every)};

    if (e->keep_q)
        record->q = sp_pool_raw(pool, record->frames * r * SP_MOTIONS, sizeof(double));
    if (e->keep_v)
        record->v = sp_pool_raw(pool, record->frames * r * SP_MOTIONS, sizeof(double));
    if (e->keep_signals)
        record->signals = sp_pool_raw(pool, record->frames * signals * SP_MOTIONS, sizeof(double));
    if (e->keep_statistics)
        record->statistics = sp_pool_raw(pool, SP_ENSEMBLE_STATISTICS * signals * SP_MOTIONS, sizeof(double));

    record->now = sp_pool_new(pool, rounded(signals) * SP_MOTIONS, sizeof(double));
    record->tiles = sp_pool_new(pool, rounded(signals) * r, sizeof(double));
    if (pool->failed)
        return;
    for (int64_t i = 0; i < signals; i++)
        for (int64_t j = 0; j < r; j++)
            *sp_lane_tile(record->tiles, r, i, j) = e->P[i * r + j];
}

/* The root mean square is a sum of squares until the record is finished, and the mean a sum. */
static double *statistic(const sp_ensemble_record *record, int which)
{
    return record->statistics + which * record->ensemble->signal_count * SP_MOTIONS;
}

void sp_ensemble_record_clear(sp_ensemble_record *record, int lane)
{
    const int first = lane < 0 ? 0 : lane, end = lane < 0 ? SP_MOTIONS : lane + 1;
    const int64_t signals = record->ensemble->signal_count;

    for (int m = first; m < end; m++) {
        record->status[m] = SP_OK;
        record->reason[m][0] = 0;
        record->iterations[m] = 0;
        record->alone[m] = lane >= 0;
        for (int64_t i = m; record->statistics && i < signals * SP_MOTIONS; i += SP_MOTIONS) {
            statistic(record, SP_ENSEMBLE_MEAN)[i] = statistic(record, SP_ENSEMBLE_RMS)[i] = 0;
            statistic(record, SP_ENSEMBLE_LEAST)[i] = INFINITY;
            statistic(record, SP_ENSEMBLE_LARGEST)[i] = -INFINITY;
        }
    }
}

/* The frame of a step, −1: it has none. */
static int64_t frame_of(const sp_ensemble *e, int64_t number)
{
    return number % e->every == 0 ? number / e->every : number == e->steps ? number / e->every + 1 : -1;
}

SP_CLONES static void add_all(int64_t n, const double *restrict s, double *restrict mean, double *restrict square,
                              double *restrict least, double *restrict largest)
{
    for (int64_t i = 0; i < n; i++) {
        mean[i] += s[i];
        square[i] += s[i] * s[i];
        least[i] = s[i] < least[i] ? s[i] : least[i];
        largest[i] = s[i] > largest[i] ? s[i] : largest[i];
    }
}

static bool wants_statistics(const sp_ensemble_record *record, int64_t number)
{
    return record->statistics && number > record->ensemble->settle;
}

void sp_ensemble_record_step(sp_ensemble_record *record, int64_t number, const double *q, const double *v)
{
    const sp_ensemble *e = record->ensemble;
    const int64_t frame = frame_of(e, number), r = record->r, signals = e->signal_count;
    const size_t bytes = (size_t)(r * SP_MOTIONS) * sizeof *q;

    if (record->q && frame >= 0)
        memcpy(record->q + frame * r * SP_MOTIONS, q, bytes);
    if (record->v && frame >= 0)
        memcpy(record->v + frame * r * SP_MOTIONS, v, bytes);
    if (!(record->signals && frame >= 0) && !wants_statistics(record, number))
        return;

    sp_lanes_contract(rounded(signals), r, record->tiles, q, record->now);
    if (record->signals && frame >= 0)
        memcpy(record->signals + frame * signals * SP_MOTIONS, record->now,
               (size_t)(signals * SP_MOTIONS) * sizeof *record->now);
    if (wants_statistics(record, number))
        add_all(signals * SP_MOTIONS, record->now, statistic(record, SP_ENSEMBLE_MEAN),
                statistic(record, SP_ENSEMBLE_RMS), statistic(record, SP_ENSEMBLE_LEAST),
                statistic(record, SP_ENSEMBLE_LARGEST));
}

void sp_ensemble_record_lane(sp_ensemble_record *record, int lane, int64_t number, const double *q, const double *v)
{
    const sp_ensemble *e = record->ensemble;
    const int64_t frame = frame_of(e, number), r = record->r, signals = e->signal_count;

    for (int64_t j = 0; j < r && frame >= 0; j++) {
        const int64_t at = (frame * r + j) * SP_MOTIONS + lane;
        if (record->q)
            record->q[at] = q[j];
        if (record->v)
            record->v[at] = v[j];
    }

    for (int64_t i = 0; i < signals; i++) {
        const int64_t at = i * SP_MOTIONS + lane;
        double s = 0;
        for (int64_t j = 0; j < r; j++)
            s += e->P[i * r + j] * q[j];

        if (record->signals && frame >= 0)
            record->signals[frame * signals * SP_MOTIONS + at] = s;
        if (wants_statistics(record, number))
            add_all(1, &s, statistic(record, SP_ENSEMBLE_MEAN) + at, statistic(record, SP_ENSEMBLE_RMS) + at,
                    statistic(record, SP_ENSEMBLE_LEAST) + at, statistic(record, SP_ENSEMBLE_LARGEST) + at);
    }
}

/* A motion that failed has zeros, which its status tells from numbers. */
static void zero_lane(const sp_ensemble_record *record, int lane)
{
    const int64_t signals = record->ensemble->signal_count;
    double *const values[] = {record->q, record->v, record->signals, record->statistics};
    const int64_t counts[] = {record->frames * record->r, record->frames * record->r, record->frames * signals,
                              SP_ENSEMBLE_STATISTICS * signals};
    for (int k = 0; k < 4; k++)
        for (int64_t i = 0; values[k] && i < counts[k]; i++)
            values[k][i * SP_MOTIONS + lane] = 0;
}

void sp_ensemble_record_finish(sp_ensemble_record *record)
{
    const sp_ensemble *e = record->ensemble;
    const double steps = (double)(e->steps - e->settle);
    for (int64_t i = 0; record->statistics && i < e->signal_count * SP_MOTIONS; i++) {
        statistic(record, SP_ENSEMBLE_MEAN)[i] /= steps;
        statistic(record, SP_ENSEMBLE_RMS)[i] = sqrt(statistic(record, SP_ENSEMBLE_RMS)[i] / steps);
    }
    for (int m = 0; m < SP_MOTIONS; m++)
        if (record->status[m] != SP_OK)
            zero_lane(record, m);
}
