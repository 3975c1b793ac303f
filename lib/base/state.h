/* The state that an object carries from one step to the next, saved and loaded by one and the same function, so that
 * the two cannot disagree:
 *
 *     void thing_visit(thing *t, sp_state *state)
 *     {
 *         SP_STATE_VALUE(state, t->steps);
 *         sp_state_reals(state, t->q, t->n);
 *     }
 *
 * When saving, these calls copy into the state; when loading, they copy back. An object to be loaded must have been
 * created like the saved one: data that creation computes are not part of the state, nor are data that the next step
 * recomputes. Saving changes nothing. The bytes depend on the machine and the program. */
#ifndef SP_BASE_STATE_H
#define SP_BASE_STATE_H

#include "base/memory.h"

typedef struct sp_state {
    bool loading;
    bool failed; /* saving: out of memory; loading: the bytes are not those of such an object. It stays set, and nothing
                    more is copied */
    sp_list data; /* bytes; owned by the caller */
    int64_t at;   /* loading: number of bytes read */
} sp_state;

/* `count` bytes, with their number, which must be the same when they are loaded. */
void sp_state_bytes(sp_state *state, void *memory, int64_t count);

/* A list of any length with elements of `size` bytes. */
void sp_state_list(sp_state *state, sp_list *list, int64_t size);

#define SP_STATE_VALUE(state, value) sp_state_bytes(state, &(value), sizeof(value))

/* `count` numbers; x may be NULL if count is 0. */
static inline void sp_state_reals(sp_state *state, double *x, int64_t count)
{
    sp_state_bytes(state, x, count * (int64_t)sizeof *x);
}

#endif
