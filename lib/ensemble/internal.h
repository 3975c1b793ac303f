/* Shared by the files of lib/ensemble only: the records of a block, and motions by themselves. */
#ifndef SP_ENSEMBLE_INTERNAL_H
#define SP_ENSEMBLE_INTERNAL_H

#include "ensemble/ensemble.h"
#include "ensemble/lanes.h"

/* What is kept of a block (sp_ensemble_block). */
typedef struct sp_ensemble_record {
    const sp_ensemble *ensemble;
    int64_t r, frames;
    double *q, *v, *signals, *statistics;
    double *now;   /* [signals rounded up to 8][SP_MOTIONS] the signals of a step */
    double *tiles; /* P in tiles of 8 rows */
    int status[SP_MOTIONS];
    char reason[SP_MOTIONS][512];
    bool alone[SP_MOTIONS];
    int64_t iterations[SP_MOTIONS];
} sp_ensemble_record;

/* Allocates from the pool, whose failure mark the caller checks. */
void sp_ensemble_record_new(sp_pool *pool, const sp_ensemble *ensemble, sp_ensemble_record *record);

/* Clears the lanes, or one of them (lane ≥ 0), for the beginning of motions. */
void sp_ensemble_record_clear(sp_ensemble_record *record, int lane);

/* After step `number` (0: the start) with q and v [r][SP_MOTIONS] of all lanes. */
void sp_ensemble_record_step(sp_ensemble_record *record, int64_t number, const double *q, const double *v);

/* The same of one lane, with q and v [r]. */
void sp_ensemble_record_lane(sp_ensemble_record *record, int lane, int64_t number, const double *q, const double *v);

/* Sums become means. */
void sp_ensemble_record_finish(sp_ensemble_record *record);

/* What a thread needs to integrate motions one by one: a mesh whose materials are its own. */
typedef struct sp_ensemble_alone {
    sp_context context;
    const sp_ensemble *ensemble;
    sp_mesh mesh;
    sp_fe_space space;
    sp_polynomials polynomials; /* with the materials of a motion, as the next */
    sp_cubature cubature;
    sp_pool pool;
    bool made;
} sp_ensemble_alone;

/* Integrates one motion into a lane of the record. The status is that of the motion; SP_SYSTEM ends the ensemble. */
int sp_ensemble_alone_run(sp_ensemble_alone *alone, const sp_ensemble_motion *motion, sp_ensemble_record *record,
                          int lane);
void sp_ensemble_alone_free(sp_ensemble_alone *alone);

/* Polynomials with materials `to` in place of `from`, with masses of their own from `pool`. */
int sp_ensemble_edit(sp_context *context, const sp_polynomials *original, int64_t count, const sp_material *from,
                     const sp_material *to, sp_pool *pool, sp_polynomials *edited) SP_MUST_USE;

#endif
