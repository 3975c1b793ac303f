/* What siminfo prints of a file. */
#ifndef TOOLS_INFO_SUMMARY_H
#define TOOLS_INFO_SUMMARY_H

#include "formats/file.h"

#include <stdio.h>

/* A member as the table shows it; data is not kept. */
typedef struct info_member {
    char name[SP_MEMBER_NAME];
    enum sp_type type;
    bool fortran;
    int rank, size;
    int64_t shape[SP_RANK_MAX], count;
} info_member;

typedef struct info_file {
    sp_file file;         /* of the members, those that a summary needs */
    int64_t member_count; /* all */
    info_member *members; /* [member_count], in the file's pool or `pool` */
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
