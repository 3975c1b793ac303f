/* Shared by the sources of tools/common only. */
#ifndef TOOLS_COMMON_INTERNAL_H
#define TOOLS_COMMON_INTERNAL_H

#include "tools/common/tool.h"

enum { TOOL_OPTIONS_MOST = 128 };

struct tool_state {
    const tool_spec *spec;
    sp_context context;
    int64_t threads, seed;
    bool quiet;
    const char *output;
    int argument_count;
    char **arguments;
    int data_descriptor; /* the real stdout */
    FILE *data_stream;
    json_t *parameters;
    json_t *inputs;
    json_t *history;
    json_t *warnings;
    bool parsed; /* the command line */
    bool ended;  /* all outputs are complete */
    bool stdin_used;
    const char *recorded;         /* the program that outputs name as their tool; NULL: this one */
    bool no_seed;                 /* no random choices are made */
    const char *inputs_are;       /* what the inputs are (tool_inputs_are); NULL: not known yet */
    const char *naming;           /* the file that names the inputs which are read; NULL: the first argument */
    bool seen[TOOL_OPTIONS_MOST]; /* which options were on the command line, in the order of the table */
};
extern struct tool_state tool;

/* The options of the program: its own, then the common ones that it has. Of the table of each: its heading, and its
 * `only`. */
extern struct tool_all_options {
    int count;
    tool_option option[TOOL_OPTIONS_MOST];
    const char *title[TOOL_OPTIONS_MOST], *also[TOOL_OPTIONS_MOST];
} tool_all;

/* One line, "tool: file: text". */
void tool_print(const char *file, const char *text);

/* By number, NULL at the end; by name of a given length, NULL where there is none. */
const tool_option *tool_option_at(int i);
const tool_option *tool_option_find(const char *name, size_t length);

/* Parses a value into the option's target (option_values.c). */
void tool_option_set(const tool_option *option, const char *text);

/* One condition of `only`: !NAME, NAME, NAME=a,b, NAME!=a,b, @a,b or !@a,b (option_conditions.c). */
typedef struct tool_condition {
    const tool_option *of; /* NULL: the inputs */
    bool negative;
    const char *words; /* after "=" or "@"; NULL: whether it was given */
    size_t length;
} tool_condition;

/* The condition at *at, which moves behind it; false at the end. */
bool tool_condition_next(const char **at, tool_condition *condition);

/* "--model full or linear" and the like, as a message or --help says it. */
void tool_condition_describe(const tool_condition *condition, char *text, size_t size);

/* Whether the choice of a condition offers none of its words: the condition says nothing in this program. */
bool tool_condition_is_void(const tool_condition *condition);

/* Whether a choice has this word: tables that several programs share name words that not all of them offer. */
bool tool_choice_offers(const tool_option *option, const char *word, size_t length);

/* Refuses options that were given where they do not apply, and removes the defaults of others from the record. */
void tool_options_check(void);

/* Asserts that every condition of an option on the command line was judged. */
void tool_conditions_judged(void);

/* "modes [OPTION]… MESH -o FILE" */
const char *tool_usage(void);

/* Parses argv into the targets and tool.parameters. */
void tool_options_parse(int argc, char **argv);
void tool_options_help(FILE *stream, bool all); /* all: with the rare options */

/* --completion: writes the script that completes the command line of the program in this shell, bash or zsh; for
 * "json" the tables of the options, of which man/option-page makes SYNOPSIS and OPTIONS of the manual page. */
void tool_options_completion(FILE *stream, const char *shell);

/* Writes the arguments and the options of the program as JSON. */
void tool_options_list(FILE *stream);

/* Whether the option may occur several times. */
bool tool_option_repeats(const tool_option *option);
bool tool_options_has(const char *name);

/* A regular file that the command line names, and that the run reads or writes; one that is read from here on; one
 * that is written from here on. End the program if a file is both, by name or by device and inode, or, of those that
 * the command line names, written twice. */
void tool_claim_named(const char *path, bool written);
void tool_claim_read(const char *path, int descriptor);
void tool_claim_written(const char *path);

/* Unlinks unfinished output. Async-signal-safe. */
void tool_outputs_remove(void);

/* The part about the checkpoint in the message of a process that a signal ends; NULL: none. Async-signal-safe. */
const char *tool_checkpoint_kept(void);

/* Signals are deferred while outputs are renamed, and the first one after that, too: returns true. It is raised again
 * if the program opens another output, and dropped if it ends, with the exit code of its work. Async-signal-safe. */
bool tool_outputs_defer(int number);

#endif
