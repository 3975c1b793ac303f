/* What the tests of the public library share. */
#ifndef TESTS_LIBRARY_LIBRARY_TEST_H
#define TESTS_LIBRARY_LIBRARY_TEST_H

#include "tests/unit/test.h"

#include <supple/supple.h>

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>

#define GOOD(call) CHECK((call) == SUPPLE_OK, "%s", supple_error())

/* A call that must fail with this status and a message that has these words. */
#define REFUSED(call, status, words)                                                                                   \
    do {                                                                                                               \
        const supple_status status_ = (call);                                                                          \
        CHECK(status_ == (status), "status %d: %s", (int)status_, supple_error());                                     \
        CHECK(strstr(supple_error(), words), "\"%s\" is not in \"%s\"", words, supple_error());                        \
    } while (0)

/* The allocations of this process are counted, and one of libsupple fails when it is asked to, but not under
 * sanitizers, which have an allocator of their own. */
static int allocations;
static int until_failure = -1; /* so many allocations of libsupple succeed, and the next one fails; -1: none fails */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { COUNTS_ALLOCATIONS = false };
#else
enum { COUNTS_ALLOCATIONS = true };

static bool fails(const void *caller)
{
    Dl_info from;
    if (until_failure < 0 || !dladdr(caller, &from) || !strstr(from.dli_fname, "libsupple"))
        return false;
    return until_failure-- == 0;
}

void *malloc(size_t size)
{
    static void *(*next)(size_t);
    if (!next)
        next = (void *(*)(size_t))(uintptr_t)dlsym(RTLD_NEXT, "malloc");
    allocations++;
    return fails(__builtin_return_address(0)) ? NULL : next(size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size)
{
    static int (*next)(void **, size_t, size_t);
    if (!next)
        next = (int (*)(void **, size_t, size_t))(uintptr_t)dlsym(RTLD_NEXT, "posix_memalign");
    allocations++;
    return fails(__builtin_return_address(0)) ? ENOMEM : next(pointer, alignment, size);
}
#endif

/* Bytes that are allocated now. */
static inline double bytes_in_use(void)
{
    const struct mallinfo2 now = mallinfo2();
    return (double)(now.uordblks + now.hblkhd);
}

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

#endif
