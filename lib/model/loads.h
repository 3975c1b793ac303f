/* External loads: forces on vertices, surface points, sets, regions or the whole body, constant or over time, gravity,
 * and springs. */
#ifndef SP_MODEL_LOADS_H
#define SP_MODEL_LOADS_H

#include "assembly/fe_space.h"
#include "mesh/mesh_sets.h"
#include "model/course.h"
#include "model/intervals.h"
#include "model/prescribed.h"
#include "model/system.h"

enum sp_load_kind {
    SP_LOAD_VERTEX,   /* a mesh vertex */
    SP_LOAD_SURFACE,  /* an embedded surface vertex: distributed to the corners of its element by its weights */
    SP_LOAD_REGION,   /* the elements of a region, by volume */
    SP_LOAD_ALL,      /* all elements, by volume */
    SP_LOAD_PRESSURE, /* the force −p n A on every triangle of the embedded surface in its given orientation; if there
                         is no surface, or the load names faces, the consistent forces −p ∫ N_a n dA of the boundary
                         of the elements or of these faces; evaluated at rest, so that magnitude and direction are
                         constant */
    SP_LOAD_SET,      /* the total force on a set: of vertices in equal parts, of faces by area (consistent forces), of
                         elements by volume */
    SP_LOAD_TRACTION, /* N/m² on the faces of a set, with consistent forces */
    SP_LOAD_ROTATION, /* centrifugal force −ρ ω × (ω × (X − point)) of a rotation about an axis, on a region or on the
                         whole body, with the consistent mass, evaluated at rest */
    SP_LOAD_ACCELERATION, /* ρ a on a region or on the whole body, with the consistent mass: gravity over time, or a
                             base that accelerates by −a */
    SP_LOAD_SPRING,       /* a spring from a mesh vertex to the point `force` (then in metres), which may move */
};

typedef struct sp_load {
    double start, end; /* s; the load acts in [start, end) */
    enum sp_load_kind kind;
    int64_t id; /* vertex, surface vertex or region; −1: SP_LOAD_ALL, loads on sets, PRESSURE, ROTATION and ACCELERATION
                   everywhere */
    double force[3];  /* total force, N; TRACTION: N/m²; PRESSURE: Pa in the first entry; ROTATION: ω, rad/s;
                         ACCELERATION: m/s²; SPRING: anchor, m */
    double stiffness; /* N/m, SPRING only */
    /* SPRING only: the anchor moves from `force` at `start` to anchor_end at `end`, which must be finite */
    bool moving;
    double anchor_end[3];   /* m */
    const sp_mesh_set *set; /* SET, TRACTION, and PRESSURE on a set of faces; else NULL */
    double point[3];        /* ROTATION: m, a point of the axis */
    sp_course course;       /* factor on the force; springs are constant */
} sp_load;

/* Whether the force of a load is proportional to the density. */
static inline bool sp_load_by_mass(enum sp_load_kind kind)
{
    return kind == SP_LOAD_ROTATION || kind == SP_LOAD_ACCELERATION;
}

/* The active tension of a region's fibres (material/material.h): linear between times, constant before the first and
 * after the last one. The caller owns the arrays. */
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
    const sp_load **loads;    /* [force_count] the loads that are forces */
    double *columns;          /* [n, force_count] generalized force of each load while it acts */
    double *gravity;          /* [n] constant */
    sp_intervals force_times; /* when each of the forces acts */
    const sp_load **spring_loads;
    sp_intervals spring_times;
    sp_spring *acting; /* [spring_count] the springs that act now */
    const sp_fe_space *body;
    const sp_system *system;
    const sp_prescribed_motion *moves; /* NULL: no prescribed motion */
    int64_t activation_count;
    const sp_activation *activations;
    double *counted;   /* [activation_count] Pa: tensions at the last increment of `stiffened` */
    int64_t stiffened; /* incremented when springs change other than by their anchors, or when a tension rises by more
                          than a tenth */
    bool at_ends;      /* sp_load_set_at_ends */
    double end;        /* s, the time at which the last load ends; 0 without loads */
    int64_t idle, first_idle; /* number of loads that act on fixed components only, and the number of the first of
                                 these, from 1 */
    double *net;              /* [3·force_count] N, the sum of the forces of each load, without its course */
} sp_load_set;

/* U [3·vertices, r] projects for a reduced-order system (n = r); NULL: the full-order system of `body` (n = dof_count).
 * acceleration [3] m/s² is gravity: its generalized force is Uᵀ M g with the mass of the system. Loads are checked (ids
 * in range, times, finite numbers): SP_INPUT with the number of the load from 1. `loads` and `body` must outlive the
 * load set, which must outlive the system's last step. Springs that the system had are removed. SP_USAGE for springs on
 * uncoupled oscillators (model/system.h), which springs would couple. */
int sp_load_set_new(sp_context *context, const sp_fe_space *body, const double *U, int64_t r, int64_t load_count,
                    const sp_load *loads, const double acceleration[3], const sp_system *system,
                    sp_load_set *set) SP_MUST_USE;
void sp_load_set_free(sp_load_set *set);

/* Uᵀ M a for the acceleration a of the whole body, generalized as above: f [r or dof_count]. mass [vertices] and full
 * [3·vertices] are scratch. */
void sp_load_uniform(const sp_fe_space *body, bool lumped, const double *U, int64_t r, const double acceleration[3],
                     double *mass, double *full, double *f);

/* Part of sp_load_set_new: checks a load, whose number from 1 is for messages. SP_INPUT. */
int sp_load_check(sp_context *context, const sp_mesh *mesh, int64_t number, const sp_load *load) SP_MUST_USE;

/* Adds the forces of one load, without its course, on all vertices, full [3·vertices] N. Not for springs. */
int sp_load_distribute(sp_context *context, const sp_fe_space *body, const sp_load *load, double *full) SP_MUST_USE;

/* Prescribes the motion of fixed vertices of a full-order system. Call it before the integrator is created; `moves`
 * must outlive the system's last step. */
void sp_load_set_move(sp_load_set *set, const sp_prescribed_motion *moves);

/* Prescribes the tension of the fibres of regions over time. Call it before the integrator is created. The tension in
 * the middle of each step is written into the materials of the body's mesh, from which all forces are evaluated. There
 * may be only one such load set per mesh at a time; it resets the tension to 0 when it is freed. `activations` must
 * outlive it. SP_INPUT with the number of the activation from 1 for regions that are out of range, named twice or
 * without fibres, times that do not increase, and tensions that are negative or not finite; SP_USAGE for systems that
 * do not follow the tension (model/system.h). */
int sp_load_set_activate(sp_context *context, sp_load_set *set, int64_t count,
                         const sp_activation *activations) SP_MUST_USE;

/* True: a load with a course has in each step its value at the step's end, as the static integrator wants it. False,
 * the default: its mean over the step. */
void sp_load_set_at_ends(sp_load_set *set, bool at_ends);

/* The factor on the force of a load in its mean over [t0, t1]: the part of the interval in which it acts, and its
 * course; at_ends: sp_load_set_at_ends. t1 infinite: that of a load that never ends. Not for springs. */
double sp_load_share(const sp_load *load, bool at_ends, double t0, double t1);

/* The same of each load of a set, share [force_count]. */
void sp_load_set_shares(sp_load_set *set, double t0, double t1, double *share);

/* Uᵀ full [r] for forces on all vertices, full [3·vertices]; U NULL: those on the free degrees of freedom. */
void sp_load_project(const sp_fe_space *body, const double *U, int64_t r, const double *full, double *to);

/* The force of one load, without its course, on the free degrees of freedom, force [dof_count] (overwritten). number,
 * from 1, is for messages. Not for springs. */
int sp_load_force(sp_context *context, const sp_fe_space *body, int64_t number, const sp_load *load,
                  double *force) SP_MUST_USE;

/* The time intervals in which all loads are constant, between the times at which a load begins or ends: time [2·count]
 * pairs (start, end; the end of the last one is infinite if a load has no end). Intervals shorter than 1e-9 of the last
 * such time are due to rounding and are left out, and so are those in which no force acts. step > 0: intervals of this
 * length instead, from 0 to the last time at which a load changes. `time` is allocated from `pool`. SP_USAGE for more
 * than a billion intervals. */
int sp_load_set_pieces(sp_context *context, const sp_load_set *set, double step, sp_pool *pool, int64_t *count,
                       double **time) SP_MUST_USE;

/* Saves or loads which springs act and the current tensions of fibres (base/state.h). Call it before the system's own
 * `visit`. */
void sp_load_set_visit(sp_load_set *set, sp_state *state);

/* The callbacks for an integrator. */
sp_external_loads sp_load_set_external(sp_load_set *set);

#endif
