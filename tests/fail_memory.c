/* Preloaded (LD_PRELOAD) into a program: a C library whose memory runs out.
 *
 * FAIL_AT=n      allocation n fails, counted from 1 over all threads from the start of the process: malloc, calloc,
 * realloc, aligned_alloc, memalign, posix_memalign, anonymous mmap, and pthread_create, which allocates a stack. What
 * asks for nothing is not counted. FAIL_FROM=n the same, and all later ones FAIL_COUNT=f   at exit, the number of
 * allocations is written to file f */
#undef _FILE_OFFSET_BITS /* which gives mmap the name mmap64 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The names under which the C library has its own, which need no search for them (dlsym may allocate). */
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static atomic_long calls;

static long number_in(const char *name)
{
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : 0;
}

/* Whether this allocation fails. The C library has read the environment before the first one. */
static bool fails(void)
{
    static long at = -1, from;
    const long call = atomic_fetch_add(&calls, 1) + 1;
    if (at < 0) {
        from = number_in("FAIL_FROM");
        at = number_in("FAIL_AT");
    }
    if (call != at && !(from > 0 && call >= from))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t bytes)
{
    return bytes > 0 && fails() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t size)
{
    return count > 0 && size > 0 && fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t bytes)
{
    return bytes > 0 && fails() ? NULL : __libc_realloc(memory, bytes);
}

void *memalign(size_t alignment, size_t bytes)
{
    return bytes > 0 && fails() ? NULL : __libc_memalign(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    const int error = errno;
    void *block = memalign(alignment, bytes);
    errno = error;
    if (!block && bytes > 0)
        return ENOMEM;
    *memory = block;
    return 0;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int descriptor, off_t offset)
{
    if ((flags & MAP_ANONYMOUS) && fails())
        return MAP_FAILED;
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, descriptor, offset);
}

void *mmap64(void *address, size_t bytes, int protection, int flags, int descriptor, off64_t offset)
{
    return mmap(address, bytes, protection, flags, descriptor, offset);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data)
{
    static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (fails())
        return EAGAIN;
    if (!next) {
        void *found = dlsym(RTLD_NEXT, "pthread_create");
        memcpy(&next, &found, sizeof next);
    }
    return next(thread, attributes, run, data);
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("FAIL_COUNT");
    const int descriptor = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666) : -1;
    if (descriptor < 0)
        return;
    char text[32]; /* dprintf allocates */
    const int length = snprintf(text, sizeof text, "%ld\n", atomic_load(&calls));
    if (write(descriptor, text, (size_t)length) != length)
        abort();
    close(descriptor);
}
