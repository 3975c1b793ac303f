/* Counts calls of malloc, calloc and realloc in `allocations` (but not under sanitizers, which replace malloc).
 * Included by exactly one file of a test program. */
#ifndef TESTS_UNIT_ALLOCATIONS_H
#define TESTS_UNIT_ALLOCATIONS_H

#include <malloc.h>
#include <stddef.h>

static long allocations;
#if !defined(__SANITIZE_ADDRESS__)
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size)
{
    allocations++;
    return __libc_calloc(count, size);
}
void *realloc(void *pointer, size_t size)
{
    allocations++;
    return __libc_realloc(pointer, size);
}
#endif

#endif
