/* Finds the points of a point shell that are inside a body, by breadth-first traversal of the nested point tree (thesis
 * §3.10). */
#ifndef SP_CONTACT_TRAVERSE_H
#define SP_CONTACT_TRAVERSE_H

#include "base/state.h"
#include "contact/distance.h"
#include "geometry/pose.h"
#include "pointshell/pointshell.h"

/* A point shell laid out for traversal: points are renumbered so that the children of a node are contiguous, in the
 * order of their parents. */
typedef struct sp_contact_pointshell {
    sp_pool pool;
    int64_t count, modes;
    int levels;
    int64_t cumulative[SP_POINTSHELL_LEVELS_MAX]; /* [levels], as in pointshell/pointshell.h */
    int64_t first_node[SP_POINTSHELL_LEVELS_MAX]; /* [levels] number of the node of point 0 in each level, leaves
                                                     included */
    int32_t *original;                            /* [count] number in the file */
    int32_t *child;  /* [nodes of inner levels + levels − 1]: the points that are new in level k + 1 below point p of
                        level k are child[i] … child[i + 1] − 1, i = first_node[k − 1] + (k − 1) + p */
    int32_t *parent; /* [count] parent of the first node of each point; points of the first level have none */
    double *points;  /* [count, 3] m */
    double *normals; /* [count, 3] inward */
    double *weight;  /* [count] area divided by the mean area */
    double *radius;  /* [inner nodes] m */
    double *U, *dN;  /* [count, 3, modes]; NULL: the shell is rigid */
    double *dT;      /* [count, 2, 3, modes] of tangents; NULL where there are none */
    double *a;       /* [inner nodes, modes] m */
    double *reach;   /* [modes] m: the largest length of U_p,j over all points */
    double centre[3], extent; /* m: bounding sphere of all points at rest … */
    double half[3];           /* … and half sides of a bounding box with the same centre */
} sp_contact_pointshell;

/* Copies what it needs. SP_INPUT for more than 2³¹ points. */
int sp_contact_pointshell_new(sp_context *context, const sp_pointshell *pointshell,
                              sp_contact_pointshell *out) SP_MUST_USE;
void sp_contact_pointshell_free(sp_contact_pointshell *pointshell);

/* The position of a point at q [modes] (NULL: at rest), in the shell's frame. */
void sp_contact_pointshell_point(const sp_contact_pointshell *pointshell, int64_t point, const double *q, double x[3]);

/* The deformed inward unit normal of a point: N + dN q (eq. 3.8), or from tangents if the shell has them and `tangents`
 * is set. If it vanishes, the normal at rest. */
void sp_contact_pointshell_normal(const sp_contact_pointshell *pointshell, int64_t point, const double *q,
                                  bool tangents, double normal[3]);

/* Σ_j reach_j |q_j|, a bound on the displacement of all points. 0 if q is NULL. */
double sp_contact_pointshell_reach(const sp_contact_pointshell *pointshell, const double *q);

typedef struct sp_traversal_limits {
    int64_t warm, cold; /* node budgets: a level is begun only while the cost so far is below the budget; `warm` applies
                           to levels down to the deepest one of the previous cycle, `cold` to deeper ones (§3.10.3); the
                           first level is always visited */
    bool cost; /* the cost is the prediction of eq. 3.13 for the end of the level, V + V_queued + (β/α)(C/V)(V +
                  V_queued), with C penetrating points among the V visited nodes; else V */
    double contact_cost; /* β/α */
    bool coherence;      /* temporal coherence: cull nodes that cannot have come near since they were last visited */
    bool tree;           /* false: visit all nodes of all levels, without culling */
    int levels;          /* largest number of levels; 0: all */
    bool proximity;      /* also report points in proximity voxels of a voxmap, for braking pulses */
} sp_traversal_limits;

/* The result of one traversal. Contacts are in the order of the shell's points. */
typedef struct sp_traversal_result {
    int64_t visited; /* nodes whose distance was evaluated */
    int64_t passed;  /* nodes culled by coherence */
    int deepest;     /* the last level that was begun */
    bool complete;   /* no level was left out because of the limits */
    double lowest;  /* m, the least of all evaluated distances, INFINITY if there are none; positive values may be lower
                       bounds */
    int64_t count;  /* points with a negative distance (voxmaps: see sp_traversal_run) */
    int32_t *point; /* [count] */
    double *distance; /* [count] m */
    double *place;    /* [count, 3] m, in the frame of the distances */
} sp_traversal_result;

typedef struct sp_traversal sp_traversal;

/* The state of one point shell against one body, kept from cycle to cycle, with its own workspace. Shell and body must
 * outlive it. */
int sp_traversal_new(sp_context *context, const sp_contact_pointshell *pointshell,
                     sp_traversal **traversal) SP_MUST_USE;
void sp_traversal_free(sp_traversal *traversal); /* NULL is allowed */

/* Tests the points of the shell at `pose` with coordinates q [modes] (NULL: at rest) against the distance field whose
 * frame is at `field`. moved [m] is a bound on the motion of any point of the other body in its own frame since the
 * previous run (a deformed field), for coherence.
 *
 * A subtree is culled if d(c) > R + slack, since no point below it can then have a negative distance (distance.h);
 * without limits, the contacts are those of an exhaustive test, bit for bit. Coherence: the motions since a node was
 * visited add up to |Δx| + ρ|Δω| + Σ_j reach_j |Δq_j| (Δx of the sphere's centre, ρ its radius plus Σ_j reach_j |q_j|),
 * and only once this sum reaches d(c) − R − slack can a point below be in contact. For deformed fields, whose distances
 * are estimates, both tests are as good as the estimate. Against a voxmap all points are tested, as that method does;
 * contacts have the depth of contact/voxmap.h, and points in proximity voxels, where wanted, are included with distance
 * 0. Allocates nothing; the result is valid until the next run. */
const sp_traversal_result *sp_traversal_run(sp_traversal *traversal, const sp_pose *pose, const double *q,
                                            const sp_pose *field, const sp_distance *distance, double moved,
                                            const sp_traversal_limits *limits);

/* ---- many traversals: 8 bytes for each node of the levels reached ---- */

/* The workspace of a run for shells of up to `points` points, one for each thread. It holds the result until its next
 * run. */
typedef struct sp_traversal_workspace sp_traversal_workspace;
int sp_traversal_workspace_new(sp_context *context, int64_t points, sp_traversal_workspace **workspace) SP_MUST_USE;
void sp_traversal_workspace_free(sp_traversal_workspace *workspace); /* NULL is allowed */

/* Like sp_traversal_new, without a workspace. `whole`: memory for all levels is allocated at once; otherwise a run
 * allocates a level when it reaches it for the first time. */
int sp_traversal_state_new(sp_context *context, const sp_contact_pointshell *pointshell, bool whole,
                           sp_traversal **traversal) SP_MUST_USE;
/* Like sp_traversal_run; NULL: out of memory. */
const sp_traversal_result *sp_traversal_run_in(sp_traversal *traversal, sp_traversal_workspace *workspace,
                                               const sp_pose *pose, const double *q, const sp_pose *field,
                                               const sp_distance *distance, double moved,
                                               const sp_traversal_limits *limits);

/* Resets to the initial state, for the same shell. */
void sp_traversal_restart(sp_traversal *traversal);

/* Current size of the state in bytes, and its size once all levels have been reached. */
int64_t sp_traversal_bytes(const sp_traversal *traversal);
int64_t sp_traversal_bytes_at_most(const sp_contact_pointshell *pointshell);
/* Saves or loads what the next run takes from earlier ones (base/state.h). */
void sp_traversal_visit(sp_traversal *traversal, sp_state *state);

#endif
