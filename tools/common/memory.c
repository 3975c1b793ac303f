/* Memory that is out ends a program at once, whoever asked for it. jansson, libarchive, libgomp, OpenBLAS, METIS and
 * the orderings behind it each have their own way to fail: they drop a key, print a text of their own, call exit or go
 * on with a null pointer. So the allocators of the C library are wrapped here, in the program, which stands before all
 * libraries: none of them sees an allocation that failed. lib and formats, which others may link, return SP_SYSTEM and
 * end nothing.
 *
 * Sanitizers have allocators of their own and say more about a failure than this. */
#undef _FILE_OFFSET_BITS /* which gives mmap the name mmap64: both are wrapped */
#include "tools/common/internal.h"

#include "tools/common/parallel.h"
#include "tools/process/threads.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__

typedef int thread_maker(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

/* What is wrapped: the functions of the C library, or of an allocator that stands before it (LD_PRELOAD). Found at the
 * first call, which a library makes while the program has one thread. */
static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*aligned_alloc)(size_t, size_t);
    void *(*memalign)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    thread_maker *pthread_create;
} real;

/* The stack of the main thread grows on demand, and where no address space is left a program ends by a signal. What the
 * functions of lib need is taken before anything else. */
__attribute__((constructor, noinline)) static void take_stack(void)
{
    enum { NEEDED = 512 << 10, PAGE = 4096 };
    volatile char space[NEEDED];
    for (int at = 0; at < NEEDED; at += PAGE)
        space[at] = 0;
    (void)space[0];
}

static void find(const char *name, void *to)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (!found)
        _exit(SP_SYSTEM);
    memcpy(to, &found, sizeof found);
}

/* Before glibc 2.34, dlsym allocates by calloc, and does without if it gets nothing. */
static bool finding;

static void find_all(void)
{
    finding = true;
    find("calloc", &real.calloc);
    find("realloc", &real.realloc);
    find("aligned_alloc", &real.aligned_alloc);
    find("memalign", &real.memalign);
    find("posix_memalign", &real.posix_memalign);
    find("mmap", &real.mmap);
    find("pthread_create", &real.pthread_create);
    find("malloc", &real.malloc);
    finding = false;
}

static void prepare(void)
{
    if (!real.malloc)
        find_all();
}

static void out_of_memory(void)
{
    while (process_thread_is_spare()) /* the program does without what this thread prepares */
        pause();
    if (!tool.ended) /* what libraries do afterwards harms no output */
        tool_out_of_memory();
}

static void *checked(void *memory, size_t bytes)
{
    if (!memory && bytes > 0)
        out_of_memory();
    return memory;
}

void *malloc(size_t bytes)
{
    prepare();
    return checked(real.malloc(bytes), bytes);
}

void *calloc(size_t count, size_t size)
{
    if (finding)
        return NULL;
    prepare();
    return checked(real.calloc(count, size), count > 0 ? size : 0);
}

void *realloc(void *memory, size_t bytes)
{
    prepare();
    return checked(real.realloc(memory, bytes), bytes);
}

/* EINVAL is an alignment that cannot be: the caller's affair. */
static void *checked_aligned(void *memory, size_t bytes)
{
    return memory || errno == EINVAL ? memory : checked(memory, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    prepare();
    return checked_aligned(real.aligned_alloc(alignment, bytes), bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    prepare();
    return checked_aligned(real.memalign(alignment, bytes), bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    prepare();
    const int error = real.posix_memalign(memory, alignment, bytes);
    if (error == ENOMEM)
        out_of_memory();
    return error;
}

/* OpenBLAS asks again and again for its buffers. Huge pages are a wish. */
void *mmap(void *address, size_t bytes, int protection, int flags, int descriptor, off_t offset)
{
    prepare();
    void *memory = real.mmap(address, bytes, protection, flags, descriptor, offset);
    if (memory == MAP_FAILED && errno == ENOMEM && !(flags & MAP_HUGETLB))
        out_of_memory();
    return memory;
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int descriptor, off64_t offset)
{
    return mmap(address, bytes, protection, flags, descriptor, offset);
}

/* libgomp would end the program by a text of its own. The stack of a thread is memory too. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data)
{
    prepare();
    const int error = real.pthread_create(thread, attributes, run, data);
    while (error && process_thread_is_spare())
        pause();
    if (error)
        tool_fail(SP_SYSTEM, NULL, "cannot create a thread: %s", strerror(error));
    return error;
}

#endif

/* ---- memory of the programs themselves ---- */

noreturn void tool_out_of_memory(void)
{
    if (tool_parallel())
        tool_parallel_alone(SP_SYSTEM, "out of memory");
    tool_fail(SP_SYSTEM, NULL, "out of memory");
}

static void *needed(void *memory)
{
    if (!memory)
        tool_out_of_memory();
    return memory;
}

void *tool_allocate(sp_pool *pool, int64_t count, size_t size)
{
    return needed(sp_pool_new(pool, count, size));
}

void *tool_allocate_raw(sp_pool *pool, int64_t count, size_t size)
{
    return needed(sp_pool_raw(pool, count, size));
}

void *tool_allocate_copy(sp_pool *pool, const void *source, int64_t count, size_t size)
{
    return needed(sp_pool_copy(pool, source, count, size));
}

void *tool_list_add(sp_list *list, int64_t more, size_t size)
{
    return needed(sp_list_add(list, more, size));
}
