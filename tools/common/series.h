/* Selection of frames and columns, and names of numbered files: shared by the tools that write pictures and exports. */
#ifndef TOOLS_COMMON_SERIES_H
#define TOOLS_COMMON_SERIES_H

#include "tools/common/tool.h"

typedef struct tool_frames {
    int64_t first, last, every; /* frames first, first + every, … up to last, counted from 0 */
} tool_frames;

/* Options of the frames of series; `where`: the conditions under which they apply. */
#define TOOL_FRAMES_OPTIONS(text, step, where)                                                                         \
    {"frames", 0, TOOL_TEXT, text, "A-B", .only = where, .help = "only frames A to B, counted from 0; A- to the end"}, \
    {                                                                                                                  \
        "every", 0, TOOL_INTEGER, step, "N", "1", .low = 1, .high = 1e15, .only = where,                               \
                                                  .help = "every Nth frame, from the first"                            \
    }

/* "A-B", "A-", "A" or NULL (all). Usage error for anything else. */
tool_frames tool_frames_parse(const char *text, int64_t every);
bool tool_frames_have(const tool_frames *frames, int64_t frame);

/* Parses a whole number ≥ 0 without sign or blank at *at and moves *at behind it; false if there is none. */
bool tool_parse_whole(const char **at, int64_t *number);

/* "1-6,9": whole numbers that count from `base`, the greatest base + count − 1; the list receives int64_t from 0 in the
 * order given. NULL: all. `option` is named in the usage error. */
void tool_parse_list(const char *option, const char *text, int64_t base, int64_t count, sp_list *list);

/* Returns true if a path is a pattern: it contains one %d or %0Nd (N up to 18) and no other %. False for a path without
 * %; anything else is a usage error. */
bool tool_pattern(const char *path);

/* The path with the number instead of its conversion; number −1: the conversion is removed. */
void tool_pattern_path(const char *pattern, int64_t number, sp_pool *pool, char **path);

#endif
