/* What every main is made of: options, messages, files in, one file out, and the record of how it was made.
 *
 *     static struct { int64_t count; const char *output; … } chosen;
 *     static const tool_option options[] = { {"count", 'k', TOOL_INTEGER, &chosen.count, .standard = "20", …}, … };
 *
 *     int main(int argc, char **argv) {
 *         sp_context *context = tool_begin(&(tool_spec){…}, argc, argv);
 *         … load, check, compute once, judge, write …
 *         return tool_end();
 *     }
 *
 * Everything here ends the process on failure, with one line on stderr, the exit code of supple(7), the unfinished
 * output removed and the old one untouched. So does an allocation that fails, in the program or in a library
 * (common/memory.c): no caller of malloc, and of what allocates, sees one. */
#ifndef TOOLS_COMMON_TOOL_H
#define TOOLS_COMMON_TOOL_H

#include "base/context.h"
#include "base/memory.h"
#include "base/remarks.h"
#include "formats/kinds.h"

#include <stdio.h>
#include <stdnoreturn.h>

/* ---- options ---- */

enum tool_type {
    TOOL_FLAG,    /* bool: --name */
    TOOL_INTEGER, /* int64_t in [low, high] */
    TOOL_REAL,    /* double in [low, high]; "inf" where high allows it */
    TOOL_VECTOR,  /* double[count]: numbers with commas */
    TOOL_TEXT,    /* const char * */
    TOOL_CHOICE,  /* int: index into `choices`, words with | */
    TOOL_SIZE,    /* int64_t bytes: 500M, 2G */
    TOOL_TEXTS,   /* tool_texts: may be given several times */
    TOOL_INPUT,   /* const char *: a file that is read; "-" is stdin */
    TOOL_INPUTS,  /* tool_texts: files that are read */
    TOOL_WRITTEN, /* const char *: a file that is written */
    TOOL_KEYED,   /* tool_keyed: KEY=FILE, files that are read, each with a word; may be given several times */
};

typedef struct tool_texts {
    int64_t count;
    const char *value[256];
} tool_texts;

/* KEY=FILE, split at the last "=". The keys are recorded as parameters, the files as inputs of the same option. */
typedef struct tool_keyed {
    int64_t count;
    const char *key[256], *file[256];
} tool_keyed;

typedef struct tool_option {
    const char *name;
    char letter; /* 0: none */
    enum tool_type type;
    void *target;
    const char *argument; /* in --help: N, METRES, FILE */
    const char *standard; /* default, parsed like a value; NULL: the target is not changed (zero) */
    const char *choices;
    int count;        /* TOOL_VECTOR */
    double low, high; /* TOOL_INTEGER, TOOL_REAL, TOOL_VECTOR; both 0: any finite number */
    const char *help; /* a sentence or more for --help and the manual page, without a capital and a full stop */
    /* For completion: the endings of the files that the value names, with blanks between them, "*" for any. NULL: by
     * `argument`, for which common/completion.c has a table. */
    const char *files;
    bool silent;   /* cannot change the result: not recorded in parameters */
    bool rare;     /* few users need it: --help-all prints it, --help does not */
    bool required; /* the usage line has it; the program says what is missing without it */
    bool *given;   /* set when the option was on the command line; may be NULL */
    /* Conditions under which the option applies, separated by blanks, all of which must hold. "model=full,linear": the
     * choice --model is one of these; "model!=full": none of these; "ground": --ground was given; "!reference":
     * --reference was not; "@trajectory,scene": the inputs are one of these, "!@mesh": they are not (tool_inputs_are;
     * a hyphen is written for a blank). An option that does not apply is a usage error on the command line, and its
     * default is not recorded. --help prints the conditions. NULL: it always applies. */
    const char *only;
    /* TOOL_CHOICE: the first word means that the program chooses. Conditions on this option are judged when it has
     * chosen (tool_option_choose). */
    bool open;
    /* "model=cubature": where the choice --model was not given, this option makes it cubature. NULL: none. */
    const char *chooses;
    /* In a table with a base: offsets from it to the target, and to the bool of `given` (0: none). */
    size_t at, given_at;
} tool_option;

/* Options under one heading of --help. A table with a base can serve several programs: target and given are then
 * computed from `at` and `given_at`. */
typedef struct tool_table {
    const char *title;
    const tool_option *options;
    int count;
    void *base;
    const char *only; /* conditions for all its options, in addition to their own; NULL: none */
} tool_table;

enum {
    TOOL_OUTPUT = 1,
    TOOL_THREADS = 2,
    TOOL_SEED = 4,
    TOOL_ANY_FORMAT = 8
}; /* the common options that the tool has: -o, --threads, --seed; and that the output is not always an .npz */

/* Options of another program that a user may look for here. */
typedef struct tool_sibling {
    const char *tool;    /* NULL after the last entry */
    const char *options; /* names with spaces between them, without the dashes */
    const char *way;     /* how this program's models get what the options do */
} tool_sibling;

typedef struct tool_spec {
    const char *name;
    const char *arguments;      /* "MESH BASIS" in the usage line */
    int least, most;            /* number of arguments; most −1: any */
    const bool *alone;          /* an option with which a command line may have fewer than `least`; NULL: none */
    const char *summary;        /* one line, as in the man page's NAME */
    const tool_option *options; /* under the heading "Options"; or NULL, and */
    int option_count;
    int common;                   /* TOOL_OUTPUT | … */
    const char *examples;         /* lines for the end of --help; may be NULL */
    const tool_table *tables;     /* options under headings, up to a table without options; NULL: none */
    const char *seed_only;        /* conditions of --seed; NULL: it always applies */
    const tool_sibling *siblings; /* for the hint below an unknown option; NULL: none */
    const char *files;            /* for completion, endings of the files that are arguments, as in tool_option */
} tool_spec;

#define TOOL_COUNT(table) ((int)(sizeof(table) / sizeof *(table)))

/* Parses the command line, answers --help and --version, reserves stdout for data, prepares the context. */
sp_context *tool_begin(const tool_spec *spec, int argc, char **argv);
int tool_end(void);

/* Returns true if the option was on the command line. */
bool tool_option_given(const char *name);

/* Says what the inputs are, once the program knows: a word of conditions with "@". Options to which these inputs do not
 * apply are then refused, or their defaults are not recorded. */
void tool_inputs_are(const char *word);

/* Says which choice the program made for an option that is open; a choice that was named is kept. */
void tool_option_choose(const char *name, int choice);

/* Declares that the option is not applicable to the given arguments: it is a usage error if it was on the command line
 * ("--NAME means nothing WHERE"), and its default is not recorded. For "seed" the seed is not recorded either. */
void tool_option_idle(const char *name, const char *where);

int tool_argument_count(void);
const char *tool_argument(int i);
const char *tool_output_path(void);
bool tool_quiet(void);

/* ---- messages ---- */

/* "tool: file: text"; file may be NULL. Exits with `status` (enum sp_status). Any thread may call it; the first call
 * wins. */
noreturn void tool_fail(int status, const char *file, const char *format, ...) SP_PRINTF(3, 4);

/* What is behind the last slash of a path. */
const char *tool_base_name(const char *path);

/* A hint on a second line, printed after the failure's line: call before tool_fail. */
void tool_hint(const char *format, ...) SP_PRINTF(1, 2);

/* "a.npz, b.npz": for a failure that may be due to any of several files. From `pool`. */
const char *tool_names(sp_pool *pool, int64_t count, const char *const *paths);

/* Fails with the context's message if status is not SP_OK. */
void tool_check(int status, const char *file);

/* One line on stderr unless --quiet; also recorded in the result (tool_result_new puts warnings under "warnings"). */
void tool_warn(const char *file, const char *format, ...) SP_PRINTF(2, 3);
void tool_warn_remarks(const char *file, const sp_remarks *remarks); /* a line for each */

/* Warns if the first `cut` of `count` things end between two of one value [count] (sorted), to 1e-4, as pairs of nearly
 * symmetric bodies have: these have no order, and the mesh or rounding chooses which are kept. Names the numbers that
 * keep all of them, as far as they are known, and none. option: as "-r"; thing and what: as "column", "singular value".
 */
void tool_warn_of_cut(const char *option, const char *thing, const char *what, int64_t cut, int64_t count,
                      const double *value);

/* One line on stderr unless --quiet: results and counts. */
void tool_say(const char *format, ...) SP_PRINTF(1, 2);

/* s, from a monotonic clock: for differences. */
double tool_seconds(void);

/* The real stdout, for tools whose product is text. Checked and flushed by tool_end. */
FILE *tool_stdout(void);

/* Called, with the unfinished outputs, when the program fails or is stopped by a signal: only what signal handlers may
 * call. NULL: nothing. */
void tool_also_remove(void (*remove)(void));

/* ---- memory ---- */

/* sp_pool_new, sp_pool_raw, sp_pool_copy and sp_list_add (base/memory.h), which end the program where those return
 * NULL, that is for counts that are negative or too large for any memory. */
void *tool_allocate(sp_pool *pool, int64_t count, size_t size);
void *tool_allocate_raw(sp_pool *pool, int64_t count, size_t size);
void *tool_allocate_copy(sp_pool *pool, const void *source, int64_t count, size_t size);
void *tool_list_add(sp_list *list, int64_t more, size_t size);

/* For failed allocations of other libraries. */
noreturn void tool_out_of_memory(void);

/* ---- files in ---- */

/* Reads one of our files and records it as an input. `option`: the option that named it, NULL for an argument. */
void tool_read(const char *path, const char *option, const char *const *kinds, bool foreign, sp_file *file);

/* Opens a path or stdin ("-") for a reader of its own; close with tool_close_input. */
int tool_open_input(const char *path);
void tool_close_input(int descriptor);

/* Records an input explicitly (streamed trajectories), with its hash and meta. meta may be NULL. */
void tool_record_input(const char *path, const char *option, const char *hash, const json_t *meta);

/* The same for a Supple archive, or a foreign one (meta NULL), that was not read by tool_read. */
void tool_record_archive(const char *path, const char *option, const char *hash, const json_t *meta);

/* Reads a whole text or model file, NUL-terminated; recorded unless option is "". If `option` is not an option name
 * (such as "include"), another input referred to this file: provenance then records it as "via" that word, with its
 * path relative to the folder of the most recent input that no other input named. Files of more than 64 GiB, of more
 * than 1 GiB from a pipe, and sparse files that consist of holes are rejected. */
char *tool_read_bytes(const char *path, const char *option, sp_pool *pool, int64_t *count);

/* The same for JSON; it reads no more than sp_json_load accepts. */
char *tool_read_json(const char *path, const char *option, sp_pool *pool, int64_t *count);

/* Sets the input that names the files which are read from here on; NULL: the first argument, the initial setting. */
void tool_named_in(const char *path);

/* Returns true if the provenance in a file's meta (NULL: there is none) has an input of that option. */
bool tool_meta_has_input(const json_t *meta, const char *option);

/* ---- the file out ---- */

/* The initial members of meta: kind, versions, parameters, seed, inputs, history. */
json_t *tool_meta_new(const char *kind);

/* Outputs that are opened after this carry the provenance that another program would have written, with the inputs so
 * far and those recorded after it: its name and parameters (owned from here on), no seed, warnings from here on. For a
 * step of the pipeline that this program performs too, with the same bytes. */
void tool_record_as(const char *program, json_t *parameters);

/* Records in meta that the file is the output of --option, not of -o. */
void tool_meta_output(json_t *meta, const char *option);

/* result with "warnings"; owned by the caller until tool_output_finish. */
json_t *tool_result_new(void);

/* A value of a key of meta or result, in the field of the type that the table of keys states (formats/facts.h). */
typedef struct tool_fact {
    const char *name;
    bool leave_out; /* the file does not have the key */
    bool none;      /* null, of an array each value; the table must allow it */
    int64_t integer;
    double real;
    bool boolean;
    const char *text; /* a string or hash */
    int64_t count;    /* of an array */
    const int64_t *integers;
    const double *reals;
    json_t *json; /* any type; owned from here on */
} tool_fact;

/* Adds values to meta or result in this order:
 *
 *     tool_facts(result, sp_kind_skin.result, {"bones", .integer = count}, {"lowest_weight", .real = lowest});
 *
 * The table must have the key. Ends the program if a number is not finite, which JSON cannot represent. */
#define tool_facts(object, facts, ...) tool_facts_set(object, facts, (const tool_fact[]){__VA_ARGS__, {0}})
void tool_facts_set(json_t *object, const sp_fact *facts, const tool_fact *values);

/* A text of a JSON object; "" if it is not there. */
const char *tool_text_of(const json_t *object, const char *key);

/* Opens the output (-o, "-" is stdout, never a terminal) and starts the archive. Several outputs may be open: they are
 * synchronized and renamed together when the last one is finished, or the old files are kept. An output that replaces a
 * file keeps its permissions. An output that is also read, or another output of the command line, is a usage error. */
typedef struct tool_output tool_output;
tool_output *tool_output_open(const char *path);
int tool_output_descriptor(tool_output *output);
sp_writer *tool_output_writer(tool_output *output);
sp_writer *tool_output_writer_of(sp_context *context, tool_output *output); /* for a thread with a context of its own */

/* This output lists the others and must be opened before them: its old file is removed before theirs are replaced. */
void tool_output_is_index(tool_output *output);

/* hold true: outputs that are finished from here on wait; false: they are renamed together. For series whose files are
 * not open at the same time. */
void tool_outputs_hold(bool hold);

/* Writes result as the last member (may be NULL for files that are not Supple archives), closes with every check and
 * renames into place. */
void tool_output_finish(tool_output *output, json_t *result);

/* Writes a text or picture file of another format at once, with the same care, and finishes the output; the second also
 * opens it. An output whose contents are known only at the end is nevertheless opened at the start, so that an
 * unwritable path is reported before the work, not after it. */
void tool_output_append(tool_output *output, const void *bytes,
                        int64_t count); /* may be called many times before tool_output_finish */
void tool_output_bytes(tool_output *output, const void *bytes, int64_t count);
void tool_write_bytes(const char *path, const void *bytes, int64_t count);

#endif
