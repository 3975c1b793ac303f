#include "base/context.h"

#include <stdarg.h>
#include <stdio.h>

sp_context sp_context_default(void)
{
    return (sp_context){.threads = 1, .seed = 1};
}

int sp_fail(sp_context *context, int status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context->message, sizeof context->message, format, arguments);
    va_end(arguments);
    return status;
}

int sp_fail_memory(sp_context *context)
{
    return sp_fail(context, SP_SYSTEM, "out of memory");
}

int sp_progress(sp_context *context, double fraction)
{
    if (context->progress)
        context->progress(context->progress_data, fraction);
    if (context->cancel && *context->cancel)
        return sp_fail(context, SP_SYSTEM, "cancelled");
    return SP_OK;
}
