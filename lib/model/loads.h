/* External loads: piecewise constant forces on vertices, surface points, regions or everything, gravity, springs. */
#ifndef SP_MODEL_LOADS_H
#define SP_MODEL_LOADS_H

#include "assembly/fe_space.h"
#include "model/intervals.h"
#include "model/prescribed.h"
#include "model/system.h"

enum sp_load_kind {
    SP_LOAD_VERTEX,   /* a mesh vertex */
    SP_LOAD_SURFACE,  /* an embedded surface vertex: spread over its element's corners by its weights */
    SP_LOAD_REGION,   /* the elements of a region, by volume */
    SP_LOAD_ALL,      /* all elements, by volume */
    SP_LOAD_PRESSURE, /* against the outside: −p n A of every triangle of the embedded surface as it is oriented, or of
                         the boundary of the elements where there is none; at rest, so that force and direction stay */
    SP_LOAD_SPRING,   /* a spring from a mesh vertex to the point `force` (then in metres), which may move */
};

typedef struct sp_load {
    double start, end; /* s; it acts in [start, end) */
    enum sp_load_kind kind;
    int64_t id;       /* vertex, surface vertex or region; −1 for SP_LOAD_ALL and for PRESSURE everywhere */
    double force[3];  /* N in total; PRESSURE: Pa, first one only; SPRING: the anchor [m] */
    double stiffness; /* N/m, SPRING only */
    bool moving; /* SPRING only: the anchor goes from `force` at `start` to anchor_end at `end`, which is finite then */
    double anchor_end[3]; /* m */
} sp_load;

/* The active tension of a region's fibres (material/material.h), linear between times, constant before the first and
 * after the last. The caller owns what it points to. */
typedef struct sp_activation {
    int64_t region, count; /* count ≥ 1 */
    const double *time;    /* [count] s, increasing */
    const double *tension; /* [count] Pa, ≥ 0 */
} sp_activation;

/* The tension at a time [Pa]. */
double sp_activation_tension(const sp_activation *activation, double t);

/* Loads in the coordinates of a system, ready for its integrator. */
typedef struct sp_load_set {
    sp_pool pool;
    int64_t n, force_count, spring_count, acting_count;
    const sp_load **loads;    /* [force_count] those that are forces */
    double *columns;          /* [n, force_count] generalized force of each at full strength */
    double *gravity;          /* [n] constant */
    sp_intervals force_times; /* when each of them acts */
    const sp_load **spring_loads;
    sp_intervals spring_times;
    sp_spring *acting; /* [spring_count] room for those that act */
    const sp_fe_space *body;
    const sp_system *system;
    const sp_prescribed_motion *moves; /* NULL: none */
    int64_t activation_count;
    const sp_activation *activations;
    double *counted;   /* [activation_count] Pa: tensions at which `stiffened` was counted last */
    int64_t stiffened; /* how often springs changed but for their anchors, or a tension rose by more than a tenth */
    double end;        /* s, when the last load ends; 0 without loads */
    int64_t idle, first_idle; /* loads that act on nothing that moves, and the number of the first from 1 */
} sp_load_set;

/* U [3·vertices, r] projects for a reduced system (n = r); NULL: the full system of `body` (n = dof_count).
 * acceleration [3] m/s² is gravity: the generalized force Uᵀ M g with the consistent mass. Loads are checked (ids in
 * range, times, finite): SP_INPUT with the number of the load from 1. `loads` and `body` must outlive it, and it the
 * system's last step; springs that the system had are taken off. SP_USAGE for springs on oscillators
 * (model/system.h), which they would couple. */
int sp_load_set_new(sp_context *context, const sp_fe_space *body, const double *U, int64_t r, int64_t load_count,
                    const sp_load *loads, const double acceleration[3], const sp_system *system,
                    sp_load_set *set) SP_MUST_USE;
void sp_load_set_free(sp_load_set *set);

/* Moves held vertices of a system of vertices from now on, before its integrator is made; `moves` must outlive the
 * system's last step. */
void sp_load_set_move(sp_load_set *set, const sp_prescribed_motion *moves);

/* Gives the fibres of regions tension over time, before the integrator is made: that of the middle of each step goes
 * into the materials of the body's mesh, for whoever evaluates them. One such loading of a mesh at a time; it takes the
 * tension away when it is freed, and `activations` must outlive it. SP_INPUT with the number of the activation from 1
 * for regions out of range, twice or without fibres, times that do not increase, tensions that are negative or not
 * finite; SP_USAGE for systems that do not follow (model/system.h). */
int sp_load_set_activate(sp_context *context, sp_load_set *set, int64_t count,
                         const sp_activation *activations) SP_MUST_USE;

/* A force at full strength on the free degrees of freedom, force [dof_count] (overwritten); number, from 1, is for
 * messages. Not for springs. */
int sp_load_force(sp_context *context, const sp_fe_space *body, int64_t number, const sp_load *load,
                  double *force) SP_MUST_USE;

/* The pieces of time in which nothing changes: between the times at which a load begins or ends, count pairs time
 * [2·count] (start, end; the end of the last one is infinite where a load has none). Pieces shorter than 1e-9 of the
 * last such time are rounding and left out, and so are those in which no force acts. step > 0: pieces of this length
 * instead, from 0 to the last time at which a load changes. `time` is allocated from `pool`. SP_USAGE for more than a
 * billion of them. */
int sp_load_set_pieces(sp_context *context, const sp_load_set *set, double step, sp_pool *pool, int64_t *count,
                       double **time) SP_MUST_USE;

/* Which springs act and how tense fibres are now (base/state.h): before the system's own state. */
void sp_load_set_visit(sp_load_set *set, sp_state *state);

/* The callbacks for an integrator. */
sp_external_loads sp_load_set_external(sp_load_set *set);

#endif
