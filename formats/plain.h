/* Text from foreign names and files, made safe for a terminal. */
#ifndef SP_FORMATS_PLAIN_H
#define SP_FORMATS_PLAIN_H

#include <stdbool.h>
#include <stdio.h>

/* Returns true if the text is valid UTF-8 without control characters, line feeds, direction marks or zero-width
 * characters. */
bool sp_is_plain(const char *text);

/* Prints the text with "?" instead of each of these. */
void sp_print_plain(const char *text, FILE *stream);

#endif
