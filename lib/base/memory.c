#include "base/memory.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, HUGE = 2 << 20, LARGE = 4 << 20, HEAP = 64 << 20 };

/* Padded to one alignment unit, so that the bytes behind it are aligned. */
struct sp_pool_block {
    struct sp_pool_block *next, *previous;
    char padding[ALIGNMENT - 2 * sizeof(void *)];
};

void sp_memory_prepare(void)
{
    mallopt(M_MMAP_THRESHOLD, 1 << 30); /* workspace that is allocated in every step stays mapped: page faults would
                                           cost more than the work */
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
#ifndef __SANITIZE_ADDRESS__            /* under AddressSanitizer, blocks do not come from the heap */
    void *volatile heap = malloc(HEAP); /* the heap grows, and does not shrink when the block is freed */
    if (!heap)
        return;
    const uintptr_t start = (uintptr_t)heap, first = (start + HUGE - 1) / HUGE * HUGE,
                    last = (start + HEAP) / HUGE * HUGE;
    madvise((void *)first, last - first, MADV_HUGEPAGE);
    free(heap);
    static void *volatile never_used; /* fills the heap up to the first huge page; volatile, since the compiler would
                                         remove the block */
    never_used = malloc(first - start);
    (void)never_used;
#endif
}

void sp_memory_return(void)
{
    malloc_trim(0);
}

void *sp_memory_new(size_t bytes)
{
    const size_t alignment = bytes < LARGE ? ALIGNMENT : HUGE;
    void *memory;
    if (posix_memalign(&memory, alignment, bytes) != 0)
        return NULL;
    if (alignment == HUGE)
        madvise(memory, bytes / HUGE * HUGE, MADV_HUGEPAGE);
    return memory;
}

void *sp_pool_raw(sp_pool *pool, int64_t count, size_t size)
{
    size_t bytes = 0;
    struct sp_pool_block *block = NULL;
    if (count >= 0 && !__builtin_mul_overflow((size_t)count, size, &bytes) && bytes < SIZE_MAX / 2)
        block = sp_memory_new((bytes + sizeof *block + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    if (!block) {
        pool->failed = true;
        return NULL;
    }
    block->previous = NULL;
    block->next = pool->first;
    if (pool->first)
        pool->first->previous = block;
    pool->first = block;
    return block + 1;
}

void *sp_pool_new(sp_pool *pool, int64_t count, size_t size)
{
    void *memory = sp_pool_raw(pool, count, size);
    if (memory)
        memset(memory, 0, (size_t)count * size);
    return memory;
}

void *sp_pool_copy(sp_pool *pool, const void *source, int64_t count, size_t size)
{
    void *memory = sp_pool_raw(pool, count, size);
    if (memory && count > 0)
        memcpy(memory, source, (size_t)count * size);
    return memory;
}

void sp_pool_drop(sp_pool *pool, void *pointer)
{
    if (!pointer)
        return;
    struct sp_pool_block *block = (struct sp_pool_block *)pointer - 1;
    if (block->previous)
        block->previous->next = block->next;
    else
        pool->first = block->next;
    if (block->next)
        block->next->previous = block->previous;
    free(block);
}

void sp_pool_free(sp_pool *pool)
{
    for (struct sp_pool_block *block = pool->first, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *pool = (sp_pool){0};
}

void *sp_list_add(sp_list *list, int64_t more, size_t size)
{
    int64_t needed;
    if (more < 0 || __builtin_add_overflow(list->count, more, &needed))
        return NULL;
    if (needed > list->capacity || !list->data) {
        int64_t capacity = list->capacity < INT64_MAX / 2 && 2 * list->capacity > needed ? 2 * list->capacity : needed;
        if (capacity < 16)
            capacity = 16;
        size_t bytes;
        if (__builtin_mul_overflow((size_t)capacity, size, &bytes))
            return NULL;
        void *data = realloc(list->data, bytes);
        if (!data)
            return NULL;
        list->data = data;
        list->capacity = capacity;
    }
    void *added = (char *)list->data + (size_t)list->count * size;
    list->count = needed;
    return added;
}

bool sp_list_reserve(sp_list *list, int64_t count, size_t size)
{
    const int64_t before = list->count;
    const bool enough = count <= list->capacity || sp_list_add(list, count - before, size);
    list->count = before;
    return enough;
}

void sp_list_free(sp_list *list)
{
    free(list->data);
    *list = (sp_list){0};
}
