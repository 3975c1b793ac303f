/* --shard I/N: part I of N of a list of work. Processes on one or several machines do the parts, and simmerge joins
 * them into the file of a run without --shard. */
#ifndef TOOLS_COMMON_SHARD_H
#define TOOLS_COMMON_SHARD_H

#include "tools/common/tool.h"

/* The row of an option table. `to`: const char *; `conditions`: NULL or as in tool_option. */
#define TOOL_SHARD_OPTION(to, conditions)                                                                              \
    {                                                                                                                  \
        "shard", 0, TOOL_TEXT, to, "I/N", .only = (conditions),                                                        \
                                          .help = "only part I of N of the work; simmerge joins the parts"             \
    }

/* The items [first, end). */
typedef struct tool_shard {
    int64_t first, end;
} tool_shard;

/* Part I of N of `total` items, in blocks of `step` that are not divided; `what` names the items in messages. text
 * NULL: all of them. A usage error where it is not I/N, or there are fewer than N blocks. */
tool_shard tool_shard_parse(const char *text, int64_t total, int64_t step, const char *what);

#endif
