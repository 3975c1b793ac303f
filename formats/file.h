/* What every Supple file has in common: the first member `meta` (what it is and how it was made) and the last one
 * `result` (what judges it, and the hash of everything before it). See container.md. */
#ifndef SP_FORMATS_FILE_H
#define SP_FORMATS_FILE_H

#include "formats/container.h"

enum { SP_KIND_LENGTH = 24 }; /* bytes that the name of any kind of file takes, its end included */

#include <jansson.h>

#define SP_FORMAT_VERSION "1.0"

/* A file that was read whole. meta is NULL for a file of NumPy or SciPy, which carries arrays only. */
typedef struct sp_file {
    sp_members members;
    json_t *meta;   /* owned; NULL: not one of our files */
    json_t *result; /* owned; NULL where there is none */
    char hash[SP_HASH_LENGTH];
    bool truncated; /* cut short, read with `partial` */
} sp_file;

/* Reads a file from an open descriptor. `kinds` is a NULL-ended list of the kinds that will do (NULL: any); a file of
 * another kind, or of another major format version, is SP_INPUT with both named. A file without meta passes when
 * `foreign` is true; its arrays are then judged by whoever takes them. No name may stand twice, nothing may follow
 * result. The hash is the one that the file states, or is computed where it states none (no "tool" in meta, or
 * truncated). Members that the page of the kind does not name (kinds.h) are checked and hashed, but have data = NULL.
 */
int sp_file_read(sp_context *context, int descriptor, const char *const *kinds, bool foreign, bool partial,
                 sp_file *file) SP_MUST_USE;

/* The same of a file of any kind, foreign or not, with the data of every member, or of those that `wanted` says: `data`
 * is the file, whose meta is known from its second member on. */
int sp_file_read_everything(sp_context *context, int descriptor, sp_file *file) SP_MUST_USE;
int sp_file_read_some(sp_context *context, int descriptor, bool partial, bool (*wanted)(void *data, const char *name),
                      sp_file *file) SP_MUST_USE;
void sp_file_free(sp_file *file);

/* The same in two steps, from a reader that stays the caller's: the first member, which says the kind (sp_file_kind),
 * and the rest. Both free the file when they fail. */
int sp_file_begin(sp_context *context, sp_reader *reader, const char *const *kinds, sp_file *file,
                  sp_array *first) SP_MUST_USE;
int sp_file_rest(sp_context *context, sp_reader *reader, const sp_array *first, bool foreign,
                 sp_file *file) SP_MUST_USE;

/* "mesh", "modes", … or "" for a foreign file. */
const char *sp_file_kind(const sp_file *file);

/* The meta member alone, checked as in sp_file_read: for readers that go block by block. The first array of the reader
 * must be passed in; it is not consumed when it is not a meta member and *meta stays NULL. */
int sp_file_meta(sp_context *context, sp_reader *reader, const sp_array *first, const char *const *kinds,
                 json_t **meta) SP_MUST_USE;

/* The hash of a file whose reader has said end: what result (NULL: there is none) states in files made by us, computed
 * for others and for one that was cut. */
int sp_file_hash(sp_context *context, sp_reader *reader, const json_t *meta, const json_t *result,
                 char hash[SP_HASH_LENGTH]) SP_MUST_USE;

/* Writes meta first. `meta` stays the caller's. */
int sp_file_write_meta(sp_writer *writer, const json_t *meta) SP_MUST_USE;

/* Adds the hash to `result` under "sha256" and writes it last. */
int sp_file_write_result(sp_writer *writer, json_t *result) SP_MUST_USE;

/* A string, number or array of numbers of a JSON object; SP_INPUT names the key when it is missing or of another type.
 */
int sp_json_text(sp_context *context, const json_t *object, const char *key, const char **text) SP_MUST_USE;

/* "mass" of meta, the word consistent or lumped; where it is not required and missing, it is the consistent one. And to
 * meta; true: there was no memory. */
int sp_json_mass(sp_context *context, const json_t *meta, bool required, bool *lumped) SP_MUST_USE;
bool sp_json_set_mass(json_t *meta, bool lumped) SP_MUST_USE;
int sp_json_number(sp_context *context, const json_t *object, const char *key, double *number) SP_MUST_USE;
int sp_json_numbers(sp_context *context, const json_t *object, const char *key, int64_t count,
                    double *numbers) SP_MUST_USE;

/* A whole number in [low, high]. */
int sp_json_integer(sp_context *context, const json_t *object, const char *key, int64_t low, int64_t high,
                    int64_t *number) SP_MUST_USE;

/* A hash (64 lower-case hexadecimal digits); "" where the key is missing or its text is empty. */
int sp_json_hash(sp_context *context, const json_t *object, const char *key, char hash[SP_HASH_LENGTH]) SP_MUST_USE;

enum { SP_JSON_BYTES = 64 << 20 };

/* JSON text without duplicate keys; NULL with line and reason in `error`. Text of more than 64 MiB, 2 million values or
 * 64 levels is refused before memory is taken: a parsed value may need a hundred times the bytes of its text. */
json_t *sp_json_load(const char *text, int64_t count, json_error_t *error);

/* Whether that failed for want of memory: jansson then gives no reason, or says of a string that it is none, which no
 * text makes it do. Of a string of more than 15 bytes it may lose some and say nothing; the programs end before that
 * (tools/common/memory.c). */
bool sp_json_short(const json_error_t *error);

/* The object in a text member: what sp_file_read does with meta and result. The caller owns it. */
int sp_json_from_member(sp_context *context, const sp_array *array, json_t **object) SP_MUST_USE;

/* NULL: out of memory. */
json_t *sp_json_from_numbers(int64_t count, const double *numbers);

#endif
