/* Words of a command line, for scripts. */
#ifndef TOOLS_COMMON_SHELL_H
#define TOOLS_COMMON_SHELL_H

#include <stdio.h>

/* Prints a word for a shell, in single quotes where it needs them. */
void tool_shell_word(const char *word, FILE *stream);

enum { TOOL_SHELL_REAL = 40 };

/* The number with the fewest digits from 15 on that are read as the same number. Returns `text`. */
const char *tool_shell_real(double value, char text[TOOL_SHELL_REAL]);

#endif
