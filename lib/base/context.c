#include "base/context.h"

#include <math.h>
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

int sp_allocated(sp_context *context, bool there)
{
    return there ? SP_OK : sp_fail_memory(context);
}

void sp_remark(sp_context *context, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (!context->remark)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    context->remark(context->remark_data, text);
}

int sp_progress(sp_context *context, double fraction)
{
    if (context->progress)
        context->progress(context->progress_data, fraction);
    if (context->cancel && *context->cancel)
        return sp_fail(context, SP_SYSTEM, "cancelled");
    return SP_OK;
}

double sp_round_up(double x)
{
    const double unit = pow(10, floor(log10(x)) - 3);
    return ceil(x * (1 + 1e-12) / unit) * unit;
}
