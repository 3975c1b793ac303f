/* Pieces of a body that could move as rigid bodies while some of its components are at rest: nothing but their inertia
 * says where they go. */
#ifndef SP_MODEL_FLOATING_H
#define SP_MODEL_FLOATING_H

#include "model/loads.h"

/* A piece is made of elements that hang together by vertices with a component that is neither held nor at rest: place
 * [dof_count] is below 0 for free degrees of freedom at rest, which resist like held ones, and ≥ 0 for all others;
 * NULL: none is. vertex receives one of the first such piece that has a rigid motion left, −1 where none has; anywhere:
 * nothing of it is at rest. Springs and grounds do not count. */
int sp_floating_piece(sp_context *context, const sp_fe_space *body, const int64_t *place, int64_t *vertex,
                      bool *anywhere) SP_MUST_USE;

/* SP_INPUT, by name, for such a piece: statics has no one equilibrium for it, since nothing but inertia resists. The
 * vertices of springs [count] are at rest. */
int sp_floating_refuse_statics(sp_context *context, const sp_fe_space *body, int64_t count,
                               const sp_load *const *springs) SP_MUST_USE;

/* Puts further vertices to rest, place −1 for their free degrees of freedom, until no piece floats: in every floating
 * piece the vertex that goes farthest in its easiest motion, again and again. A piece of which nothing is at rest stays
 * as it is, for sp_floating_piece to find. added receives how many vertices that were. */
int sp_floating_settle(sp_context *context, const sp_fe_space *body, int64_t *place, int64_t *added) SP_MUST_USE;

#endif
