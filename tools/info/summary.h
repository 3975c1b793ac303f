/* What siminfo prints of a file. */
#ifndef TOOLS_INFO_SUMMARY_H
#define TOOLS_INFO_SUMMARY_H

#include "formats/file.h"

#include <stdio.h>

typedef struct info_file {
    sp_file file; /* with the data of the members that a summary needs */
    int64_t member_count;
    sp_array *members; /* [member_count] as they stand in the file, without data, in `pool` */
    sp_pool pool;
} info_file;

/* Whether the summary of a file of this kind uses the data of a member. */
bool summary_wants(const char *kind, const char *name);

/* Everything. A mesh leaves the file's members empty. SP_INPUT where a member is not as its kind says. */
int summary_print(sp_context *context, info_file *info, const char *path, FILE *stream) SP_MUST_USE;

/* The table of members; `joined`: the blocks of a series in one line. */
void summary_members(const info_file *info, bool joined, FILE *stream);

json_t *summary_json(const info_file *info);

#endif
