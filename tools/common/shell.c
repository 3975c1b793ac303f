#include "tools/common/shell.h"

#include <stdlib.h>
#include <string.h>

void tool_shell_word(const char *word, FILE *stream)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%-";
    if (*word && strspn(word, safe) == strlen(word)) {
        fputs(word, stream);
        return;
    }

    putc('\'', stream);
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", stream);
        else
            putc(*word, stream);
    putc('\'', stream);
}

const char *tool_shell_real(double value, char text[TOOL_SHELL_REAL])
{
    int digits = 15;
    do
        snprintf(text, TOOL_SHELL_REAL, "%.*g", digits, value);
    while (strtod(text, NULL) != value && ++digits <= 17);
    return text;
}
