#include "api/error.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message[1024];

const char *supple_version(void)
{
    return SUPPLE_VERSION;
}

const char *supple_error(void)
{
    return message;
}

supple_status sp_error(supple_status status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    return status;
}

supple_status sp_error_of(const sp_context *context, const char *path, int status)
{
    if (status == SP_OK)
        return SUPPLE_OK;
    return sp_error((supple_status)status, "%.400s%s%s", path ? path : "", path ? ": " : "", context->message);
}

bool sp_count_possible(int64_t count, size_t size)
{
    return count >= 0 && (uint64_t)count <= PTRDIFF_MAX / size;
}

bool sp_all_finite(int64_t count, const double *numbers)
{
    bool finite = true;
    for (int64_t i = 0; i < count; i++)
        finite &= isfinite(numbers[i]) != 0;
    return finite;
}

supple_status sp_error_remarks(const char *function, const sp_remarks *remarks, char *text, size_t *size)
{
    const size_t given = *size;
    size_t at = 0;
    *size = 1;
    for (int i = 0; i < remarks->count; i++)
        *size += strlen(remarks->text[i]) + 1;
    if (!text)
        return SUPPLE_OK;
    if (given < *size)
        return sp_error(SUPPLE_USAGE, "%s: the text needs %zu bytes, and there are %zu", function, *size, given);

    *text = 0;
    for (int i = 0; i < remarks->count; i++)
        at += (size_t)snprintf(text + at, *size - at, "%s\n", remarks->text[i]);
    return SUPPLE_OK;
}
