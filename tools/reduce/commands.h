/* The other programs, run one after the other as a user would run them, and the script that says so. */
#ifndef TOOLS_REDUCE_COMMANDS_H
#define TOOLS_REDUCE_COMMANDS_H

#include "tools/common/tool.h"

/* What makes a file. */
typedef struct reduce_step {
    const char *output;
    const char *text;   /* for a shell */
    const char **words; /* of the command, up to NULL; NULL: the text writes the file itself */
} reduce_step;

/* A folder with what a search has made so far. Each command that has ended is a line of its file `commands`: one that
 * is there already is not run again, unless another one has made its output or an input since. */
typedef struct reduce_commands {
    sp_pool pool;
    const char *folder;
    const char *threads; /* for --threads; NULL: their default */
    sp_list done;  /* of char *: the lines of the file `commands`, the first of which says what the search is of */
    sp_list made;  /* of char *: names of the files in the folder, to be removed */
    sp_list steps; /* of reduce_step: what makes files, in order */
} reduce_commands;

/* A text from the pool. */
const char *reduce_text(reduce_commands *commands, const char *format, ...) SP_PRINTF(2, 3);

/* Makes the folder, or goes on in it. `search` says what the search is of; ends the program where the folder has been
 * made by another search. */
void reduce_commands_open(reduce_commands *commands, const char *folder, const char *search);

/* A file of the folder with this text; in the script it is a here-document. Returns its path. */
const char *reduce_write(reduce_commands *commands, const char *name, const char *text);

/* The same for a file anywhere. Returns `path`. */
const char *reduce_write_at(reduce_commands *commands, const char *path, const char *text);

/* The path of a file in the folder that a command will make. */
const char *reduce_path(reduce_commands *commands, const char *name);

/* Marks a file in the folder, beside the output of a command, to be removed with it. */
void reduce_commands_note(reduce_commands *commands, const char *path);

/* Runs PROGRAM WORD… unless it has been run before; the words end with NULL. Quiet, with this program's threads. Ends
 * this program, with what the other one said, where it failed. reduce_try returns its status instead. */
#define reduce_run(commands, ...) reduce_run_words(commands, (const char *const[]){__VA_ARGS__, NULL})
#define reduce_try(commands, ...) reduce_try_words(commands, (const char *const[]){__VA_ARGS__, NULL})
void reduce_run_words(reduce_commands *commands, const char *const *words);
int reduce_try_words(reduce_commands *commands, const char *const *words);

/* Runs a command that makes no part of the model: not in the script, and run every time. Its output is removed before;
 * a program that writes it and then fails, or says no, has measured that. */
void reduce_measure_words(reduce_commands *commands, const char *const *words);

/* Runs a program that draws a picture, which is no part of the model. Returns NULL, or what it said where it failed. */
const char *reduce_draw_words(reduce_commands *commands, const char *const *words);

/* Prints what makes these files [count] and all that they are made of, for a shell. */
void reduce_script(reduce_commands *commands, int count, const char *const *files, FILE *stream);

/* Removes what was made in the folder, and the folder where nothing else is in it. */
void reduce_commands_remove(reduce_commands *commands);
void reduce_commands_free(reduce_commands *commands);

/* A table of numbers with a line of names, as simvalidate --csv writes it; NaN where a field is no number. */
typedef struct reduce_table {
    int64_t rows, columns;
    const char **name; /* [columns] */
    const char **row;  /* [rows] the text of the first field; NULL: none is kept */
    double *value;     /* [rows, columns] */
} reduce_table;

void reduce_table_read(reduce_commands *commands, const char *path, reduce_table *table);

/* The value of a column, which the table must have. */
double reduce_table_value(const reduce_table *table, int64_t row, const char *name);

#endif
