#include "api/saved.h"
#include "api/error.h"

#include <string.h>

uint64_t sp_saved_sum(uint64_t sum, const void *bytes, int64_t count)
{
    const int64_t step = sizeof sum;
    for (int64_t i = 0; i < count; i += step) {
        uint64_t word = 0;
        memcpy(&word, (const char *)bytes + i, (size_t)(count - i < step ? count - i : step));
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15); /* an odd factor and a shift: both can be undone */
        sum ^= sum >> 32;
    }
    return sum ^ (uint64_t)count;
}

supple_status sp_saved_write(const char *function, const sp_state *state, uint64_t object, void *buffer, size_t *size)
{
    const size_t bytes = (size_t)state->data.count, wanted = bytes + sizeof object, given = *size;
    *size = wanted;
    if (state->failed)
        return sp_error(SUPPLE_SYSTEM, "%s: out of memory", function);
    if (!buffer)
        return SUPPLE_OK;
    if (given < wanted)
        return sp_error(SUPPLE_USAGE, "%s: the state has %zu bytes, and there is room for %zu", function, wanted,
                        given);
    const uint64_t sum = sp_saved_sum(object, state->data.data, state->data.count);
    memcpy(buffer, state->data.data, bytes);
    memcpy((char *)buffer + bytes, &sum, sizeof sum);
    return SUPPLE_OK;
}

bool sp_saved_read(const void *buffer, size_t size, uint64_t object, sp_state *state)
{
    uint64_t sum;
    if (size < sizeof sum || size > PTRDIFF_MAX)
        return false;
    const int64_t bytes = (int64_t)(size - sizeof sum);
    memcpy(&sum, (const char *)buffer + bytes, sizeof sum);
    *state = (sp_state){.loading = true, .data = {.data = (void *)(uintptr_t)buffer, .count = bytes}};
    return sum == sp_saved_sum(object, buffer, bytes);
}
