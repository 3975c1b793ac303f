#include "base/state.h"

#include <string.h>

static void copy(sp_state *state, void *memory, int64_t count)
{
    if (state->failed || count == 0)
        return;
    if (state->loading) {
        if (count > state->data.count - state->at) {
            state->failed = true;
            return;
        }
        memcpy(memory, (const char *)state->data.data + state->at, (size_t)count);
        state->at += count;
        return;
    }
    void *to = sp_list_add(&state->data, count, 1);
    if (to)
        memcpy(to, memory, (size_t)count);
    else
        state->failed = true;
}

void sp_state_bytes(sp_state *state, void *memory, int64_t count)
{
    int64_t length = count;
    copy(state, &length, sizeof length);
    state->failed |= length != count;
    copy(state, memory, count);
}

void sp_state_list(sp_state *state, sp_list *list, int64_t size)
{
    int64_t count = list->count;
    copy(state, &count, sizeof count);
    if (state->loading && !state->failed) {
        state->failed = count < 0 || count > (state->data.count - state->at) / size;
        list->count = 0;
        state->failed = state->failed || (count > 0 && !sp_list_add(list, count, (size_t)size));
    }
    if (!state->failed)
        copy(state, list->data, count * size);
}
