#include "tools/reduce/commands.h"

#include "tools/common/csv.h"
#include "tools/common/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BUFFER = 4096, MOST_WORDS = 1200, SAID = 600 };

/* ---- texts ---- */

static FILE *open_text(char **text, size_t *length)
{
    FILE *stream = open_memstream(text, length);
    if (!stream)
        tool_out_of_memory();
    return stream;
}

/* The text that was printed, from the pool. */
static const char *close_text(reduce_commands *commands, FILE *stream, char **text, const size_t *length)
{
    if (fclose(stream))
        tool_out_of_memory();
    const char *copy = tool_allocate_copy(&commands->pool, *text, (int64_t)*length + 1, 1);
    free(*text);
    return copy;
}

const char *reduce_text(reduce_commands *commands, const char *format, ...)
{
    char *text;
    size_t length;
    va_list arguments;
    FILE *stream = open_text(&text, &length);

    va_start(arguments, format);
    vfprintf(stream, format, arguments);
    va_end(arguments);
    return close_text(commands, stream, &text, &length);
}

const char *reduce_path(reduce_commands *commands, const char *name)
{
    return reduce_text(commands, "%s/%s", commands->folder, name);
}

/* ---- lists of texts and steps ---- */

static void append(sp_list *list, const char *text)
{
    *(const char **)tool_list_add(list, 1, sizeof text) = text;
}

static void add_step(reduce_commands *commands, const char *output, const char *text, const char *const *words)
{
    int count = 0;
    while (words && words[count])
        count++;
    *(reduce_step *)tool_list_add(&commands->steps, 1, sizeof(reduce_step)) = (reduce_step){
        output, text, words ? tool_allocate_copy(&commands->pool, words, count + 1, sizeof *words) : NULL};
}

/* Words up to NULL as a line for a shell. */
static const char *line_of(reduce_commands *commands, const char *const *words)
{
    char *text;
    size_t length;
    FILE *stream = open_text(&text, &length);
    for (int i = 0; words[i]; i++) {
        if (i > 0)
            putc(' ', stream);
        tool_shell_word(words[i], stream);
    }
    return close_text(commands, stream, &text, &length);
}

/* ---- the folder ---- */

/* Writes a small file of the folder. An interruption may leave a part of it: the next run writes these files anew, and
 * takes a line of `commands` only where it is whole. */
static void write_text(const char *path, const char *text, bool at_end)
{
    FILE *stream = fopen(path, at_end ? "ae" : "we");
    if (!stream || fputs(text, stream) < 0 || fflush(stream) || fclose(stream))
        tool_fail(SP_SYSTEM, path, "cannot write: %s", strerror(errno));
}

static bool exists(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0;
}

/* The lines of the file `commands`, if it is there. */
static void read_done(reduce_commands *commands, const char *path)
{
    int64_t count;
    if (!exists(path))
        return;
    char *text = tool_read_bytes(path, "", &commands->pool, &count);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        append(&commands->done, line);
}

void reduce_commands_open(reduce_commands *commands, const char *folder, const char *search)
{
    commands->folder = folder;
    const char *path = reduce_path(commands, "commands");
    append(&commands->made, path);

    if (mkdir(folder, 0777) && errno != EEXIST)
        tool_fail(SP_SYSTEM, folder, "cannot make this folder: %s", strerror(errno));

    read_done(commands, path);
    if (!commands->done.count)
        write_text(path, reduce_text(commands, "%s\n", search), false);
    else if (strcmp(*(char **)commands->done.data, search) != 0) {
        tool_hint("remove the folder, or name another output");
        tool_fail(SP_INPUT, folder, "it belongs to a search with another mesh, other loads or other options");
    }
}

static bool in_folder(const reduce_commands *commands, const char *path)
{
    const size_t length = strlen(commands->folder);
    return !strncmp(path, commands->folder, length) && path[length] == '/';
}

void reduce_commands_note(reduce_commands *commands, const char *path)
{
    if (path && in_folder(commands, path))
        append(&commands->made, path);
}

const char *reduce_write(reduce_commands *commands, const char *name, const char *text)
{
    return reduce_write_at(commands, reduce_path(commands, name), text);
}

const char *reduce_write_at(reduce_commands *commands, const char *path, const char *text)
{
    if (in_folder(commands, path))
        write_text(path, text, false);
    else
        tool_write_bytes(path, text, (int64_t)strlen(text));
    reduce_commands_note(commands, path);
    const char *to = line_of(commands, (const char *const[]){path, NULL});
    add_step(commands, path, reduce_text(commands, "cat > %s <<'END'\n%sEND", to, text), NULL);
    return path;
}

/* Marks the steps that make a file and what it is made of. */
static void mark(const reduce_commands *commands, const char *file, bool *needed)
{
    const reduce_step *steps = commands->steps.data;
    for (int64_t i = 0; i < commands->steps.count; i++) {
        if (needed[i] || !steps[i].output || strcmp(steps[i].output, file) != 0)
            continue;
        needed[i] = true;
        for (int w = 0; steps[i].words && steps[i].words[w]; w++)
            mark(commands, steps[i].words[w], needed);
    }
}

void reduce_script(reduce_commands *commands, int count, const char *const *files, FILE *stream)
{
    const reduce_step *steps = commands->steps.data;
    sp_pool pool = {0};
    bool *needed = tool_allocate(&pool, commands->steps.count, sizeof *needed);

    for (int i = 0; i < count; i++)
        mark(commands, files[i], needed);
    fprintf(stream, "%s\n", line_of(commands, (const char *const[]){"mkdir", "-p", commands->folder, NULL}));
    for (int64_t i = 0; i < commands->steps.count; i++)
        if (needed[i])
            fprintf(stream, "%s\n", steps[i].text);
    sp_pool_free(&pool);
}

void reduce_commands_remove(reduce_commands *commands)
{
    const char *const *paths = commands->made.data;
    for (int64_t i = 0; i < commands->made.count; i++)
        unlink(paths[i]);
    rmdir(commands->folder); /* which may have files of others */
}

void reduce_commands_free(reduce_commands *commands)
{
    sp_list_free(&commands->done);
    sp_list_free(&commands->made);
    sp_list_free(&commands->steps);
    sp_pool_free(&commands->pool);
}

/* ---- processes ---- */

/* The program beside this one, or the one of the search path. */
static const char *find_program(reduce_commands *commands, const char *name)
{
    char path[PATH_BUFFER];
    const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return name;
    path[length] = 0;
    *strrchr(path, '/') = 0;
    const char *beside = reduce_text(commands, "%s/%s", path, name);
    return exists(beside) ? beside : name;
}

static noreturn void become(const char *program, const char *const *words, int messages, pid_t parent)
{
    const int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

    /* The child ends when this program does, however that ends. */
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(127);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);

    dup2(nothing, 0);
    dup2(nothing, 1);
    dup2(messages, 2);
    execvp(program, (char *const *)words);
    dprintf(2, "%s: %s\n", words[0], strerror(errno));
    _exit(127);
}

/* Runs the command; said [SAID] receives the first line that it printed on stderr. */
static int run(reduce_commands *commands, const char *const *words, char *said)
{
    const char *program = find_program(commands, words[0]);
    const int messages = memfd_create("supple", MFD_CLOEXEC);
    const pid_t parent = getpid(), child = messages < 0 ? -1 : fork();
    int status;

    if (child < 0)
        tool_fail(SP_SYSTEM, words[0], "cannot start it: %s", strerror(errno));
    if (child == 0)
        become(program, words, messages, parent);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;

    const ssize_t length = pread(messages, said, SAID - 1, 0);
    said[length > 0 ? length : 0] = 0;
    said[strcspn(said, "\n")] = 0;
    close(messages);

    if (WIFSIGNALED(status)) {
        snprintf(said, SAID, "%s: ended by signal %d", words[0], WTERMSIG(status));
        return SP_SYSTEM;
    }
    return WEXITSTATUS(status) == 127 ? SP_SYSTEM : WEXITSTATUS(status);
}

/* The output of a command is the word behind -o or --csv. */
static const char *output_of(const char *const *words)
{
    const char *output = NULL;
    for (int i = 0; words[i]; i++)
        if (words[i + 1] && (!strcmp(words[i], "-o") || !strcmp(words[i], "--csv")))
            output = words[i + 1];
    return output;
}

/* Runs the command with the options that cannot change its bytes and are not in the script. */
static int run_quietly(reduce_commands *commands, const char *const *words, char *said)
{
    const char *quiet[MOST_WORDS + 4];
    int count = 0;

    for (; words[count]; count++) {
        if (count == MOST_WORDS)
            tool_fail(SP_USAGE, NULL, "too many files for one command");
        quiet[count] = words[count];
    }
    quiet[count++] = "-q";
    if (commands->threads) {
        quiet[count++] = "-t";
        quiet[count++] = commands->threads;
    }
    quiet[count] = NULL;
    return run(commands, quiet, said);
}

/* Where the last command that made a file is in the list `done`; -1: none did. */
static int64_t maker_of(reduce_commands *commands, const char *path)
{
    const char *const *lines = commands->done.data, *end = line_of(commands, (const char *const[]){"-o", path, NULL});
    int64_t at = commands->done.count - 1;

    for (; at >= 0; at--) {
        const size_t all = strlen(lines[at]), part = strlen(end);
        if (all > part && lines[at][all - part - 1] == ' ' && !strcmp(lines[at] + all - part, end))
            break;
    }
    return at;
}

/* Returns true if the output of a command is there, and neither it nor an input has been made in another way since. */
static bool is_done(reduce_commands *commands, const char *const *words, const char *line, const char *output)
{
    const int64_t at = output ? maker_of(commands, output) : -1;
    if (at < 0 || strcmp(((const char *const *)commands->done.data)[at], line) != 0 || !exists(output))
        return false;

    for (int i = 0; words[i]; i++)
        if (maker_of(commands, words[i]) > at)
            return false;
    return true;
}

static void note_done(reduce_commands *commands, const char *line)
{
    write_text(reduce_path(commands, "commands"), reduce_text(commands, "%s\n", line), true);
    append(&commands->done, line);
}

static int run_once(reduce_commands *commands, const char *const *words, char *said)
{
    const char *output = output_of(words), *line = line_of(commands, words);
    *said = 0;

    reduce_commands_note(commands, output);
    if (!is_done(commands, words, line, output)) {
        /* An interruption may leave the new file, and must not leave the old line as the one that made it. */
        if (output && maker_of(commands, output) >= 0)
            note_done(commands, line_of(commands, (const char *const[]){"again", "-o", output, NULL}));
        const int status = run_quietly(commands, words, said);
        if (status != SP_OK)
            return status;
        note_done(commands, line);
    }

    add_step(commands, output, line, words);
    return SP_OK;
}

void reduce_measure_words(reduce_commands *commands, const char *const *words)
{
    const char *output = output_of(words);
    char said[SAID];

    unlink(output);
    reduce_commands_note(commands, output);
    const int status = run_quietly(commands, words, said);
    if (status != SP_OK && !((status == SP_NUMERICAL || status == SP_NO) && exists(output)))
        tool_fail(status == SP_NO ? SP_NUMERICAL : status, NULL, "%s", *said ? said : words[0]);
}

int reduce_try_words(reduce_commands *commands, const char *const *words)
{
    char said[SAID];
    return run_once(commands, words, said);
}

void reduce_run_words(reduce_commands *commands, const char *const *words)
{
    char said[SAID];
    const int status = run_once(commands, words, said);
    if (status != SP_OK)
        tool_fail(status == SP_NO ? SP_NUMERICAL : status, NULL, "%s", *said ? said : words[0]);
}

const char *reduce_draw_words(reduce_commands *commands, const char *const *words)
{
    char said[SAID];
    return run(commands, words, said) == SP_OK ? NULL : reduce_text(commands, "%s", *said ? said : words[0]);
}

/* ---- tables ---- */

void reduce_table_read(reduce_commands *commands, const char *path, reduce_table *table)
{
    int64_t count;
    char *text = tool_read_bytes(path, "", &commands->pool, &count), *rest, *line = strtok_r(text, "\n", &rest);
    sp_list values = {0}, first = {0};

    *table = (reduce_table){0};
    if (!line)
        tool_fail(SP_INPUT, path, "it is empty");
    table->columns = 1;
    for (const char *at = line; *at; at++)
        table->columns += *at == ','; /* or fewer, where names have commas */
    table->name = tool_allocate(&commands->pool, table->columns, sizeof *table->name);
    table->columns = 0;
    for (const char *name; (name = tool_csv_next(&line));)
        table->name[table->columns++] = name;

    while ((line = strtok_r(NULL, "\n", &rest))) {
        double *row = tool_list_add(&values, table->columns, sizeof *row);
        for (int64_t c = 0; c < table->columns; c++) {
            const char *field = tool_csv_next(&line);
            char *end;
            row[c] = field ? strtod(field, &end) : NAN;
            row[c] = field && *field && !*end ? row[c] : NAN;
            if (c == 0)
                append(&first, field ? field : "");
        }
        table->rows++;
    }

    table->value = tool_allocate_copy(&commands->pool, values.data, values.count, sizeof *table->value);
    table->row = tool_allocate_copy(&commands->pool, first.data, first.count, sizeof *table->row);
    sp_list_free(&values);
    sp_list_free(&first);
}

double reduce_table_value(const reduce_table *table, int64_t row, const char *name)
{
    for (int64_t c = 0; c < table->columns && row < table->rows; c++)
        if (!strcmp(table->name[c], name))
            return table->value[row * table->columns + c];
    tool_fail(SP_SYSTEM, NULL, "the table of errors has no %s in row %lld", name, (long long)row);
}
