/* Memory pools: everything that an object owns, or that a function needs temporarily, is allocated from one pool and
 * freed with it. A pool starts as {0}. A failed allocation marks the pool, so that a function may allocate all its
 * arrays, check `failed` once, and return sp_fail_memory. Pools are not thread safe: allocate before parallel loops. */
#ifndef SP_BASE_MEMORY_H
#define SP_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sp_pool {
    struct sp_pool_block *first;
    bool failed;
} sp_pool;

/* count × size bytes, zeroed, aligned to 64 bytes (one cache line, one AVX-512 register); NULL, with `failed` set, if
 * count is negative, the product overflows or memory is exhausted. A count of 0 gives a valid pointer. */
void *sp_pool_new(sp_pool *pool, int64_t count, size_t size);

/* Like sp_pool_new, but not zeroed, for large arrays that are written completely. */
void *sp_pool_raw(sp_pool *pool, int64_t count, size_t size);

/* A copy of count × size bytes. */
void *sp_pool_copy(sp_pool *pool, const void *source, int64_t count, size_t size);

/* Frees one block of the pool before its time (large scratch). NULL is allowed. */
void sp_pool_drop(sp_pool *pool, void *pointer);

/* Frees all memory; the pool is empty and usable again. */
void sp_pool_free(sp_pool *pool);

/* Call once at start-up, before anything else. Keeps freed memory in the process and requests pages of 2 MiB, where the
 * system has them, also for small blocks: under a hypervisor a first-touch fault costs about 2 µs per page of 4 KiB,
 * and 95 µs per page of 2 MiB. */
void sp_memory_prepare(void);

/* Returns freed memory to the system, between phases of which each needs nearly all memory: sp_memory_prepare keeps it,
 * in pieces that the next phase may not be able to use. */
void sp_memory_return(void);

/* The allocator of the pools, for libraries that accept one; release with free(). Aligned to 64 bytes; blocks of 4 MiB
 * or more are aligned to pages of 2 MiB, where the system has them, which saves hundreds of page faults for each, and
 * TLB misses later. NULL: out of memory. */
void *sp_memory_new(size_t bytes);

/* A growing array, for readers that do not know their counts in advance: doubles its capacity, keeps the contents. */
typedef struct sp_list {
    void *data;
    int64_t count;
    int64_t capacity;
} sp_list;

/* Adds `more` elements of `size` bytes (not initialized) to count and returns a pointer to the first of them; NULL if
 * out of memory, with the list unchanged. */
void *sp_list_add(sp_list *list, int64_t more, size_t size);

/* Enlarges the capacity to `count` elements or more; the contents and their count stay. False: out of memory, with the
 * list unchanged. */
bool sp_list_reserve(sp_list *list, int64_t count, size_t size);

void sp_list_free(sp_list *list);

#endif
