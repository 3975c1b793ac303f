/* The message of the last failure of the public library, one for each thread, and checks of arguments. */
#ifndef SP_API_ERROR_H
#define SP_API_ERROR_H

#include "api/source.h"
#include "base/context.h"
#include "base/remarks.h"

#include <supple/status.h>

/* Stores the message of supple_error and returns the status. */
supple_status sp_error(supple_status status, const char *format, ...) SP_PRINTF(2, 3);

/* The status of an internal call; a failure takes the message of the context, behind the path of a file if there is
 * one (NULL: none). */
supple_status sp_error_of(const sp_context *context, const char *path, int status);

/* Copies remarks, each with a line feed behind it, and a zero to `text` of *size bytes (NULL: not), and sets *size to
 * what is needed. SUPPLE_USAGE if that is more. */
supple_status sp_error_remarks(const char *function, const sp_remarks *remarks, char *text, size_t *size);

/* Returns SUPPLE_USAGE from the calling function if a pointer is NULL or a number is not finite. */
#define SP_REQUIRE(pointer)                                                                                            \
    do {                                                                                                               \
        if (!(pointer))                                                                                                \
            return sp_error(SUPPLE_USAGE, "%s: %s is NULL", __func__, #pointer);                                       \
    } while (0)
#define SP_REQUIRE_FINITE(count, numbers)                                                                              \
    do {                                                                                                               \
        if (!sp_all_finite(count, numbers))                                                                            \
            return sp_error(SUPPLE_USAGE, "%s: %s has a number that is not finite", __func__, #numbers);               \
    } while (0)

/* Returns SUPPLE_USAGE if there can be no array with so many elements of `size` bytes. */
#define SP_REQUIRE_COUNT(count, size)                                                                                  \
    do {                                                                                                               \
        if (!sp_count_possible(count, size))                                                                           \
            return sp_error(SUPPLE_USAGE, "%s: count is %lld", __func__, (long long)(count));                          \
    } while (0)

bool sp_count_possible(int64_t count, size_t size);
bool sp_all_finite(int64_t count, const double *numbers);

#endif
