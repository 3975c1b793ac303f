/* The forces and moments that hold the fixed vertices of a running body, for all of them and for the fixed ones of each
 * named set:
 *
 *     R = M a + (α M + β K) v + f(u) − F  at the fixed components,
 *
 * with the forces f of all elements of the mesh. For a model in a basis, u = U q, the linear static reactions to the
 * forces that the basis leaves out of balance are added (the mode acceleration method). */
#ifndef SP_RUN_REACTIONS_H
#define SP_RUN_REACTIONS_H

#include "run/body.h"
#include "run/run.h"

typedef struct sp_reactions sp_reactions;

/* The mesh must have fixed vertices. SP_INPUT if the fixed vertices of a reduced-order body leave a rigid motion free.
 * The body needs its integrator only from the first frame on; it must have accelerations or be static. */
int sp_reactions_new(const sp_run_body *body, sp_reactions **reactions) SP_MUST_USE;

/* The groups: "fixed", all fixed vertices, and every set of vertices or faces that has fixed vertices. */
int64_t sp_reactions_count(const sp_reactions *reactions);
const char *const *sp_reactions_names(const sp_reactions *reactions); /* [groups] */

/* Force [N] and moment about the origin [N m] of each group in the last frame [groups, 6]. */
const double *sp_reactions_sums(const sp_reactions *reactions);

/* The largest sum so far of the forces that a basis leaves out of balance, relative to the largest reaction of all
 * fixed vertices; −1 for a model with all degrees of freedom, and if all reactions were 0. */
double sp_reactions_unbalanced(const sp_reactions *reactions);

/* Measures every frame, and saves what sp_reactions_unbalanced states. */
sp_observer sp_reactions_observer(sp_reactions *reactions);

void sp_reactions_free(sp_reactions *reactions); /* NULL is allowed */

#endif
