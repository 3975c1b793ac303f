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
    bool ended; /* all outputs are complete */
    bool stdin_used;
    const char *recorded;         /* the program that outputs name as their tool; NULL: this one */
    bool no_seed;                 /* no random choices are made */
    const char *naming;           /* the file that names the inputs which are read; NULL: the first argument */
    bool seen[TOOL_OPTIONS_MOST]; /* which options were on the command line, in the order of the table */
};
extern struct tool_state tool;

/* Parses argv into the targets and tool.parameters. */
void tool_options_parse(int argc, char **argv);
void tool_options_help(FILE *stream);
bool tool_options_has(const char *name);

/* Unlinks unfinished output. Async-signal-safe. */
void tool_outputs_remove(void);

/* The part about the checkpoint in the message of a process that a signal ends; NULL: none. Async-signal-safe. */
const char *tool_checkpoint_kept(void);

/* Signals are deferred while outputs are renamed: returns true, and the signal is raised again at the end.
 * Async-signal-safe. */
bool tool_outputs_defer(int number);

#endif
