/* Which words of a recorded history, which is foreign data, may stand in a script that remakes a file. */
#ifndef TOOLS_INFO_SCRIPT_WORDS_H
#define TOOLS_INFO_SCRIPT_WORDS_H

#include <jansson.h>
#include <stdbool.h>

/* Folders above its own at which a name may begin. */
enum { SCRIPT_UPWARDS = 20 };

bool script_is_hash(const char *text);

/* How many folders above its own a path begins. */
int script_upwards(const char *name);

/* A base name; or, with `folders`, a path below its folder or one above it. */
bool script_is_name(const char *name, bool folders);

bool script_is_option(const char *name);

/* Options with values KEY=FILE, and options that name a file to be read. */
bool script_is_keyed(const char *name);
bool script_reads(const char *name);

/* Whether programs record an option with this value among their parameters: paths are inputs, and outputs are not
 * recorded. */
bool script_may_be_recorded(const char *name, const json_t *value);

/* Options, other than -o, whose files record how they were made. */
bool script_is_output(const char *name);

#endif
