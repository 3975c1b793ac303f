/* Text from foreign names and files, made safe for a terminal and for text formats. */
#ifndef SP_FORMATS_PLAIN_H
#define SP_FORMATS_PLAIN_H

#include <stdbool.h>
#include <stdio.h>

/* Returns true if the text is valid UTF-8 without control characters, line feeds, direction marks or zero-width
 * characters. */
bool sp_is_plain(const char *text);

/* Number of bytes of the character at `at`, 1 where it is not valid UTF-8. *plain: it is none of these. */
int sp_plain_next(const char *at, bool *plain);

/* Prints the text with "?" instead of each of these. */
void sp_print_plain(const char *text, FILE *stream);

#endif
