/* Memory pools: everything an object owns, or everything a function needs for a while, is allocated from one pool and
 * freed with it. A pool starts as {0}. A failed allocation marks the pool, so that a function may allocate all its
 * arrays, look at `failed` once, and return sp_fail_memory. Pools are not thread safe: allocate before parallel loops.
 */
#ifndef SP_BASE_MEMORY_H
#define SP_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sp_pool {
    struct sp_pool_block *first;
    bool failed;
} sp_pool;

/* count × size bytes, zeroed, aligned to 64 bytes (one cache line, one AVX-512 register); NULL, and failed set, when
 * count is negative, the product overflows or memory is out. A count of 0 gives a valid pointer. */
void *sp_pool_new(sp_pool *pool, int64_t count, size_t size);

/* As sp_pool_new, not zeroed, for large arrays that are written in full. */
void *sp_pool_raw(sp_pool *pool, int64_t count, size_t size);

/* A copy of count × size bytes. */
void *sp_pool_copy(sp_pool *pool, const void *source, int64_t count, size_t size);

/* Frees one block of the pool before its time (large scratch). NULL is allowed. */
void sp_pool_drop(sp_pool *pool, void *pointer);

/* Gives back all memory; the pool is empty and usable again. */
void sp_pool_free(sp_pool *pool);

/* Once, before others: free memory stays with the program, and small blocks too stand on pages of 2 MiB where the
 * system has them (a page of 4 KiB costs 2 us when it is first touched under a hypervisor, one of 2 MiB 95). */
void sp_memory_prepare(void);

/* What pools are made of, for libraries that take an allocator; free() gives it back. Aligned to 64 bytes, from 4 MiB
 * on to pages of 2 MiB, where the system has them: hundreds of page faults less for each, and fewer misses in between.
 * NULL when memory is out. */
void *sp_memory_new(size_t bytes);

/* A growing array for readers that do not know their counts in advance: doubles its capacity, keeps the contents. */
typedef struct sp_list {
    void *data;
    int64_t count;
    int64_t capacity;
} sp_list;

/* Room for `more` further elements of `size` bytes; returns a pointer to the first of them (not initialized) and adds
 * them to count; NULL when out of memory, with the list as it was. */
void *sp_list_add(sp_list *list, int64_t more, size_t size);
void sp_list_free(sp_list *list);

#endif
