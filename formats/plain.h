/* Text from names and files of others, for a terminal. */
#ifndef SP_FORMATS_PLAIN_H
#define SP_FORMATS_PLAIN_H

#include <stdbool.h>
#include <stdio.h>

/* Whether the text is valid UTF-8 without control characters, line feeds, marks of writing direction or characters
 * without width. */
bool sp_is_plain(const char *text);

/* Prints the text with "?" in place of each of these. */
void sp_print_plain(const char *text, FILE *stream);

#endif
