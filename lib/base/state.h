/* What survives of an object from one step to the next, saved and loaded by one and the same function, so that the two
 * cannot disagree:
 *
 *     void thing_visit(thing *t, sp_state *state)
 *     {
 *         SP_STATE_VALUE(state, t->steps);
 *         sp_state_reals(state, t->q, t->n);
 *     }
 *
 * Into a state that is being saved these calls copy, out of one that is being loaded they copy back. An object that is
 * loaded was made as the saved one was: what making it finds out is not part of the state, nor is what the next step
 * makes anew. Saving changes nothing. The bytes are those of the machine and of the program. */
#ifndef SP_BASE_STATE_H
#define SP_BASE_STATE_H

#include "base/memory.h"

typedef struct sp_state {
    bool loading;
    bool failed; /* saving: out of memory; loading: these are not the bytes that such an object saves. It stays set, and
                    nothing more is copied */
    sp_list data; /* bytes; of the caller */
    int64_t at;   /* loading: so many of them are read */
} sp_state;

/* `count` bytes, with their number, which has to be the same when they are loaded. */
void sp_state_bytes(sp_state *state, void *memory, int64_t count);

/* A list of any length with elements of `size` bytes. */
void sp_state_list(sp_state *state, sp_list *list, int64_t size);

#define SP_STATE_VALUE(state, value) sp_state_bytes(state, &(value), sizeof(value))

/* count numbers; NULL where count is 0. */
static inline void sp_state_reals(sp_state *state, double *x, int64_t count)
{
    sp_state_bytes(state, x, count * (int64_t)sizeof *x);
}

#endif
