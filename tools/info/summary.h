/* The output of siminfo for a file. */
#ifndef TOOLS_INFO_SUMMARY_H
#define TOOLS_INFO_SUMMARY_H

#include "formats/file.h"

#include <stdio.h>

typedef struct info_file {
    sp_file file; /* with the data of the members that a summary needs */
    int64_t member_count;
    sp_array *members; /* [member_count] in the order of the file, without data, in `pool` */
    sp_pool pool;
} info_file;

/* Returns true if the summary of a file of this type uses the data of a member. */
bool summary_wants(const char *kind, const char *name);

/* The text of a key; "" where there is none. */
const char *summary_text_of(const json_t *object, const char *key);

/* Prints the first `most` bytes, 47 at most, of a text from a file, without control characters. */
void summary_print_start(const char *text, int most, FILE *stream);

/* The lines of the summary that only files of this type have (kinds.c); none for other files. A mesh leaves the file's
 * members empty. SP_INPUT if a member does not conform to the file type. */
int summary_of_kind(sp_context *context, info_file *info, FILE *stream) SP_MUST_USE;

/* Prints everything. A mesh leaves the file's members empty. SP_INPUT if a member does not conform to the file type. */
int summary_print(sp_context *context, info_file *info, const char *path, FILE *stream) SP_MUST_USE;

/* The table of members; `joined`: the blocks of a series in one line. */
void summary_members(const info_file *info, bool joined, FILE *stream);

json_t *summary_json(const info_file *info);

#endif
