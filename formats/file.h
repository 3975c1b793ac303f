/* The common structure of Supple files: the first member `meta` (file type and provenance) and the last one `result`
 * (residuals, counts, warnings and the hash of everything before it). See container.md. */
#ifndef SP_FORMATS_FILE_H
#define SP_FORMATS_FILE_H

#include "formats/container.h"

enum { SP_KIND_LENGTH = 24 }; /* largest length of a file type's name, with its terminator */

#include <jansson.h>

#define SP_FORMAT_VERSION "1.0"

/* A completely read file. meta is NULL for a file of NumPy or SciPy, which has arrays only. */
typedef struct sp_file {
    sp_members members;
    json_t *meta;   /* owned; NULL: not one of our files */
    json_t *result; /* owned; NULL if there is none */
    char hash[SP_HASH_LENGTH];
    bool truncated; /* truncated, read with `partial` */
} sp_file;

/* Reads a file from an open descriptor. `kinds` is a NULL-terminated list of the accepted file types (NULL: any);
 * another type, or another major format version, is SP_INPUT with both named. A file without meta is accepted if
 * `foreign` is true; its arrays are then checked by their readers. Names must be unique, and nothing may follow result.
 * The hash is the one that the file states, or is computed if it states none (no "tool" in meta, or truncated). Members
 * that the page of the file type does not name (kinds.h) are checked and hashed, but have data = NULL. */
int sp_file_read(sp_context *context, int descriptor, const char *const *kinds, bool foreign, bool partial,
                 sp_file *file) SP_MUST_USE;

/* The same for a file of any type, foreign or not, with the data of every member, or of those that `wanted` selects:
 * `data` is the file, whose meta is known from its second member on. */
int sp_file_read_everything(sp_context *context, int descriptor, sp_file *file) SP_MUST_USE;
int sp_file_read_some(sp_context *context, int descriptor, bool partial, bool (*wanted)(void *data, const char *name),
                      sp_file *file) SP_MUST_USE;
void sp_file_free(sp_file *file);

/* The same in two steps, from a reader that the caller owns: the first member, which gives the file type
 * (sp_file_kind), and the rest. Both free the file on failure. */
int sp_file_begin(sp_context *context, sp_reader *reader, const char *const *kinds, sp_file *file,
                  sp_array *first) SP_MUST_USE;
int sp_file_rest(sp_context *context, sp_reader *reader, const sp_array *first, bool foreign,
                 sp_file *file) SP_MUST_USE;

/* "mesh", "modes", … or "" for a foreign file. */
const char *sp_file_kind(const sp_file *file);

/* Reads the meta member alone, checked as in sp_file_read, for readers that proceed block by block. The first array of
 * the reader must be passed; if it is not a meta member, it is not consumed and *meta stays NULL. */
int sp_file_meta(sp_context *context, sp_reader *reader, const sp_array *first, const char *const *kinds,
                 json_t **meta) SP_MUST_USE;

/* The hash of a file that was read to the end: the one that result (NULL: there is none) states in files of ours,
 * computed for others and for truncated ones. */
int sp_file_hash(sp_context *context, sp_reader *reader, const json_t *meta, const json_t *result,
                 char hash[SP_HASH_LENGTH]) SP_MUST_USE;

/* Writes meta first. The caller keeps `meta`. */
int sp_file_write_meta(sp_writer *writer, const json_t *meta) SP_MUST_USE;

/* Adds the hash to `result` under "sha256" and writes it last. */
int sp_file_write_result(sp_writer *writer, json_t *result) SP_MUST_USE;

/* Gets a string, number or array of numbers of a JSON object; SP_INPUT names the key if it is missing or of another
 * type. */
int sp_json_text(sp_context *context, const json_t *object, const char *key, const char **text) SP_MUST_USE;

/* Gets "mass" of meta, the word consistent or lumped; a missing one that is not required means consistent. And sets it
 * in meta; true: out of memory. */
int sp_json_mass(sp_context *context, const json_t *meta, bool required, bool *lumped) SP_MUST_USE;
bool sp_json_set_mass(json_t *meta, bool lumped) SP_MUST_USE;
int sp_json_number(sp_context *context, const json_t *object, const char *key, double *number) SP_MUST_USE;
int sp_json_numbers(sp_context *context, const json_t *object, const char *key, int64_t count,
                    double *numbers) SP_MUST_USE;

/* A whole number in [low, high]. */
int sp_json_integer(sp_context *context, const json_t *object, const char *key, int64_t low, int64_t high,
                    int64_t *number) SP_MUST_USE;

/* A hash (64 lower-case hexadecimal digits); "" if the key is missing or its text is empty. */
int sp_json_hash(sp_context *context, const json_t *object, const char *key, char hash[SP_HASH_LENGTH]) SP_MUST_USE;

enum { SP_JSON_BYTES = 64 << 20 };

/* Parses JSON text without duplicate keys; NULL with line and reason in `error`. Text of more than 64 MiB, 2 million
 * values or 64 levels is rejected before memory is allocated: a parsed value may need a hundred times the bytes of its
 * text. */
json_t *sp_json_load(const char *text, int64_t count, json_error_t *error);

/* Returns true if parsing failed for lack of memory: jansson then gives no reason, or reports an invalid string, which
 * no text can cause. It may silently lose part of a string of more than 15 bytes; the programs end before that
 * (tools/common/memory.c). */
bool sp_json_short(const json_error_t *error);

/* Parses the object in a text member, as sp_file_read does with meta and result. The caller owns it. */
int sp_json_from_member(sp_context *context, const sp_array *array, json_t **object) SP_MUST_USE;

/* NULL: out of memory. */
json_t *sp_json_from_numbers(int64_t count, const double *numbers);

#endif
