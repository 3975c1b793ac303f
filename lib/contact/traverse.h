/* Which points of a shell are inside a body: breadth-first traversal of the nested point tree (thesis §3.10). */
#ifndef SP_CONTACT_TRAVERSE_H
#define SP_CONTACT_TRAVERSE_H

#include "base/state.h"
#include "contact/distance.h"
#include "geometry/pose.h"
#include "pointshell/pointshell.h"

/* A shell as traversal wants it: points renumbered so that the children of a node follow each other, in the order of
 * their parents. */
typedef struct sp_contact_pointshell {
    sp_pool pool;
    int64_t count, modes;
    int levels;
    int64_t cumulative[SP_POINTSHELL_LEVELS_MAX]; /* [levels], as in pointshell/pointshell.h */
    int64_t first_node[SP_POINTSHELL_LEVELS_MAX]; /* [levels] number of the node of point 0 in each level, leaves
                                                     included */
    int32_t *original;                            /* [count] number in the file */
    int32_t *child; /* [nodes of inner levels + levels − 1]: the points that come first in level k + 1 below point p of
                       level k are child[i] … child[i + 1] − 1, i = first_node[k − 1] + (k − 1) + p */
    int32_t *parent;          /* [count] of the first node of each point; those of the first level have none */
    double *points;           /* [count, 3] m */
    double *normals;          /* [count, 3] inward */
    double *weight;           /* [count] area by its mean */
    double *radius;           /* [inner nodes] m */
    double *U, *dN;           /* [count, 3, modes]; NULL where it does not move */
    double *dT;               /* [count, 2, 3, modes] of tangents; NULL where there are none */
    double *a;                /* [inner nodes, modes] m */
    double *reach;            /* [modes] m: the longest of U_p,j over all points */
    double centre[3], extent; /* m: a ball about all points at rest … */
    double half[3];           /* … and a box about its centre */
} sp_contact_pointshell;

/* Copies what it needs. SP_INPUT for more than 2³¹ points. */
int sp_contact_pointshell_new(sp_context *context, const sp_pointshell *pointshell,
                              sp_contact_pointshell *out) SP_MUST_USE;
void sp_contact_pointshell_free(sp_contact_pointshell *pointshell);

/* A point moved by q [modes] (NULL: at rest), in the shell's frame. */
void sp_contact_pointshell_point(const sp_contact_pointshell *pointshell, int64_t point, const double *q, double x[3]);

/* Its deformed inward unit normal there: N + dN q (eq. 3.8), or by tangents where they are there and wanted. Where it
 * vanishes: the one at rest. */
void sp_contact_pointshell_normal(const sp_contact_pointshell *pointshell, int64_t point, const double *q,
                                  bool tangents, double normal[3]);

/* Σ_j reach_j |q_j|: no point is farther from its place at rest. 0 for q NULL. */
double sp_contact_pointshell_reach(const sp_contact_pointshell *pointshell, const double *q);

typedef struct sp_traversal_limits {
    int64_t warm, cold; /* a level begins only while less has been spent than this: warm for levels down to the deepest
                           one of the cycle before, cold for deeper ones (§3.10.3); the first always does */
    bool cost; /* spent is the prediction of eq. 3.13 for the end of the level, V + V_queued + (β/α)(C/V)(V + V_queued)
                  with C points in contact among the V nodes visited; else V */
    double contact_cost; /* β/α */
    bool coherence;      /* nodes that cannot have come near since they were looked at are passed over */
    bool tree;           /* false: all nodes of all levels, nothing is culled or passed over */
    int levels;          /* at most; 0: all */
    bool proximity;      /* points in proximity voxels of a voxmap are wanted too, for braking pulses */
} sp_traversal_limits;

/* What one traversal found. Contacts are in the order of the shell's points. */
typedef struct sp_traversal_result {
    int64_t visited;  /* nodes whose distance was looked at */
    int64_t passed;   /* nodes passed over by coherence */
    int deepest;      /* the last level that was begun */
    bool complete;    /* the limits held nothing back */
    double lowest;    /* m, of all distances seen; INFINITY without any. Positive ones may be bounds */
    int64_t count;    /* points with a negative distance (voxmaps: see sp_traversal_run) */
    int32_t *point;   /* [count] */
    double *distance; /* [count] m */
    double *place;    /* [count, 3] m, in the frame of the distances */
} sp_traversal_result;

typedef struct sp_traversal sp_traversal;

/* The state of one shell against one body from cycle to cycle, with a room of its own. Both must outlive it. */
int sp_traversal_new(sp_context *context, const sp_contact_pointshell *pointshell,
                     sp_traversal **traversal) SP_MUST_USE;
void sp_traversal_free(sp_traversal *traversal); /* NULL is allowed */

/* Visits the shell at `pose` with coordinates q [modes] (NULL: at rest) against distances at `field`. moved [m]: how
 * far any point of the other body may have moved in its own frame since the run before (a deformed field), for
 * coherence.
 *
 * A subtree is culled where d(c) > R + slack, so that no point below it has a negative distance (distance.h); without
 * limits the contacts are those of all points, bit for bit. Coherence: motions since a node was looked at add up to
 * |Δx| + ρ|Δω| + Σ_j reach_j |Δq_j| (Δx of the ball's centre, ρ its radius with Σ_j reach_j |q_j|), and only where that
 * comes up to d(c) − R − slack can a point below be in contact. For deformed fields, whose distances are estimates,
 * both are as good as the estimate. Against a voxmap all points are looked at, as that method does; contacts have their
 * depth (contact/voxmap.h), and points in proximity voxels, where wanted, are among them with distance 0. Allocates
 * nothing; the result stays until the next run. */
const sp_traversal_result *sp_traversal_run(sp_traversal *traversal, const sp_pose *pose, const double *q,
                                            const sp_pose *field, const sp_distance *distance, double moved,
                                            const sp_traversal_limits *limits);

/* ---- many of them: 8 bytes for each node of the levels reached ---- */

/* What a run needs beside the state, for shells of up to `points` points: one for each thread. It holds the result
 * until its next run. */
typedef struct sp_traversal_workspace sp_traversal_workspace;
int sp_traversal_workspace_new(sp_context *context, int64_t points, sp_traversal_workspace **workspace) SP_MUST_USE;
void sp_traversal_workspace_free(sp_traversal_workspace *workspace); /* NULL is allowed */

/* As sp_traversal_new without a room; `whole`: with memory for all levels at once, else a run allocates that of a level
 * that it reaches for the first time. */
int sp_traversal_state_new(sp_context *context, const sp_contact_pointshell *pointshell, bool whole,
                           sp_traversal **traversal) SP_MUST_USE;
/* As sp_traversal_run; NULL where memory is out. */
const sp_traversal_result *sp_traversal_run_in(sp_traversal *traversal, sp_traversal_workspace *workspace,
                                               const sp_pose *pose, const double *q, const sp_pose *field,
                                               const sp_distance *distance, double moved,
                                               const sp_traversal_limits *limits);

/* As new, for the same shell. */
void sp_traversal_restart(sp_traversal *traversal);

/* Bytes of the state now, and of one that has reached all levels. */
int64_t sp_traversal_bytes(const sp_traversal *traversal);
int64_t sp_traversal_bytes_at_most(const sp_contact_pointshell *pointshell);
/* What the next run takes from those before (base/state.h). */
void sp_traversal_visit(sp_traversal *traversal, sp_state *state);

#endif
