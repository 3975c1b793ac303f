#include "tools/common/csv.h"

#include "tools/common/tool.h"

#include <stdarg.h>
#include <string.h>

const char *tool_csv_field(sp_pool *pool, const char *format, ...)
{
    char text[5000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    const bool quoted = strpbrk(text, ",\"\r\n");
    char *field = tool_allocate(pool, 2 * (int64_t)strlen(text) + 3, 1), *to = field;
    if (quoted)
        *to++ = '"';

    for (const char *at = text; *at; at++) {
        if (*at == '"')
            *to++ = '"';
        *to++ = *at;
    }
    if (quoted)
        *to++ = '"';
    return field;
}

char *tool_csv_next(char **line)
{
    char *field = *line, *from = field, *to = field;
    bool inside = false;

    if (!field)
        return NULL;
    for (; *from && (inside || *from != ','); from++)
        if (*from != '"')
            *to++ = *from;
        else if (inside && from[1] == '"')
            *to++ = *++from;
        else
            inside = !inside;

    *line = *from ? from + 1 : NULL;
    *to = 0;
    return field;
}
