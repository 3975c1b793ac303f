#include "base/remarks.h"

#include <stdarg.h>
#include <stdio.h>

void sp_remarks_add(sp_remarks *remarks, const char *format, ...)
{
    if (remarks->count == SP_REMARKS)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(remarks->text[remarks->count++], SP_REMARK_SIZE, format, arguments);
    va_end(arguments);
}
