/* Floating pieces: parts of a body that can still move as rigid bodies while some of its components are constrained. */
#ifndef SP_MODEL_FLOATING_H
#define SP_MODEL_FLOATING_H

#include "model/loads.h"

/* A piece is a set of elements connected through vertices with a component that is neither fixed nor constrained. place
 * [dof_count] is below 0 for free degrees of freedom that are constrained to rest, and ≥ 0 for all others; NULL: no
 * further ones are constrained. vertex receives a vertex of the first piece with a rigid motion left, or −1 if there is
 * none; anywhere: no component of that piece is constrained. Springs and floor planes do not count as constraints. */
int sp_floating_piece(sp_context *context, const sp_fe_space *body, const int64_t *place, int64_t *vertex,
                      bool *anywhere) SP_MUST_USE;

/* SP_INPUT, with the name of a vertex, if there is such a piece: it has no unique static equilibrium, since only its
 * inertia resists. The vertices of the springs [count] count as constrained. */
int sp_floating_refuse_statics(sp_context *context, const sp_fe_space *body, int64_t count,
                               const sp_load *const *springs) SP_MUST_USE;

/* Constrains further vertices, with place −1 for their free degrees of freedom, until no piece floats: in every
 * floating piece, repeatedly, the vertex that moves farthest in the rigid motion of least resistance. A piece without
 * any constrained component is left as it is, for sp_floating_piece to find. added receives the number of vertices. */
int sp_floating_settle(sp_context *context, const sp_fe_space *body, int64_t *place, int64_t *added) SP_MUST_USE;

#endif
