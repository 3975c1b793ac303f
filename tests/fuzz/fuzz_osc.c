/* The decoder of packets that simserve receives: every value of every message is read, and a packet is accepted as a
 * whole or not at all. */
#include "tools/serve/osc.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(void *data, const osc_message *message)
{
    volatile double *sum = data;
    if (message->address[0] != '/' || message->count < 0)
        abort();
    *sum += (double)strlen(message->address);
    for (int i = 0; i < message->count && i < OSC_ARGUMENTS; i++)
        *sum += message->argument[i].text ? (double)strlen(message->argument[i].text) : message->argument[i].number;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    volatile double sum = 0;
    char *packet = malloc(size ? size : 1); /* a separate block, so that an access beyond it is found */
    memcpy(packet, data, size);
    if (!osc_read(packet, (int64_t)size, read_all, (void *)(uintptr_t)&sum) && sum != 0)
        abort();
    free(packet);
    return 0;
}
