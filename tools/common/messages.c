#include "tools/common/internal.h"

#include "formats/plain.h"
#include "tools/common/memory_left.h"
#include "tools/common/parallel.h"
#include "tools/process/blas.h"
#include "tools/process/cores.h"
#include "tools/process/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct tool_state tool;
static char hint[400];
static double started;
static pthread_t main_thread;
static volatile sig_atomic_t progress_shown;
static bool on_terminal; /* standard error */

double tool_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void end_progress_line(void)
{
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

static void say_remark(void *data, const char *text)
{
    (void)data;
    tool_say("%s", text);
}

/* "43 %, about 95 s left" for a fraction that was done in `spent` seconds; hours of work are told in minutes. */
static void describe_progress(double fraction, double spent, char *text, size_t size)
{
    const double left = spent * (1 - fraction) / fraction;
    const bool minutes = left >= 600;
    snprintf(text, size, "%.0f %%, about %.0f %s left", 100 * fraction, minutes ? left / 60 : left,
             minutes ? "min" : "s");
}

/* On a terminal a line that is overwritten, after one second and at most four times a second. Elsewhere, as in the log
 * of a cluster, a line each minute. */
static void show_progress(void *data, double fraction)
{
    (void)data;
    static double last;
    const double time = tool_seconds(), spent = time - started;
    char text[100];

    if (spent < (on_terminal ? 1 : 60) || time - last < (on_terminal ? 0.25 : 60) || !(fraction > 0))
        return;

    last = time;
    describe_progress(fraction, spent, text, sizeof text);

    if (!on_terminal) {
        tool_say("%s", text);
        return;
    }

    fprintf(stderr, "\r\033[K%s: %s", tool.spec->name, text);
    progress_shown = true;
}

static void put(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

/* Nothing but write is safe here. */
static void say_stopped(int number)
{
    static const struct {
        int number;
        const char *name;
    } names[] = {
        {SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}, {SIGQUIT, "SIGQUIT"}, {SIGXCPU, "SIGXCPU"}};
    const char *kept = tool_checkpoint_kept();

    if (progress_shown)
        put("\r\033[K");
    if (!kept || tool.quiet)
        return;

    put(tool.spec->name);
    put(": stopped by ");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].number == number)
            put(names[i].name);
    put("; ");
    put(kept);
    put("\n");
}

/* The system hands a signal for the process to any thread that does not block it, among them those of OpenMP and
 * OpenBLAS. Only the main thread acts on it: it blocks signals while the list of temporary files is changed. */
static void on_signal(int number)
{
    if (!pthread_equal(pthread_self(), main_thread)) {
        pthread_kill(main_thread, number);
        return;
    }
    if (tool_outputs_defer(number))
        return;
    say_stopped(number);
    tool_outputs_remove();
    signal(number, SIG_DFL);
    raise(number);
}

/* Libraries print to stdout (METIS and OpenBLAS do): only data may go there, so the descriptor is set aside. */
static void reserve_stdout(void)
{
    for (int i = 0; i < 3;
         i++) /* closed ones would be handed out as files; opened the wrong way, so that using them fails */
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", i == 1 ? O_RDONLY : O_WRONLY) < 0)
            _exit(SP_SYSTEM);
    tool.data_descriptor = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    if (tool.data_descriptor < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        _exit(SP_SYSTEM);
}

__attribute__((no_sanitize("address", "undefined"))) static bool begins(const char *text, const char *start)
{
    while (*start && *text == *start)
        text++, start++;
    return !*start;
}

/* Variables of OpenMP and OpenBLAS could change results: OMP_NUM_THREADS=2,2 gives OpenBLAS two threads inside a loop
 * of ours, whatever it was told. Both read them before main, so this runs before both (in a program it is called with
 * argc, argv and the environment, which is changed in place). What stays says how threads wait and where they run, or
 * which processor's kernels OpenBLAS takes. The sanitizers are not ready here. */
__attribute__((no_sanitize("address", "undefined"))) static void drop_variables(int argc, char **argv,
                                                                                char **environment)
{
    (void)argc, (void)argv;
    static const char *const dropped[] = {"OMP_", "GOMP_", "OPENBLAS_", "GOTO_"};
    static const char *const kept[] = {
        "OMP_WAIT_POLICY=", "GOMP_SPINCOUNT=", "OMP_PROC_BIND=",   "OMP_PLACES=",        "GOMP_CPU_AFFINITY=",
        "OMP_STACKSIZE=",   "GOMP_STACKSIZE=", "OMP_DISPLAY_ENV=", "OPENBLAS_CORETYPE=", "OPENBLAS_VERBOSE="};
    char **next = environment;

    for (char **entry = environment; *entry; entry++) {
        bool drop = false, keep = false;
        for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
            drop |= begins(*entry, dropped[i]);
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
            keep |= begins(*entry, kept[i]);

        if (!drop || keep)
            *next++ = *entry;
    }

    *next = NULL;
}

__attribute__((section(".preinit_array"), used)) static void (*const first_of_all)(int, char **,
                                                                                   char **) = drop_variables;

sp_context *tool_begin(const tool_spec *spec, int argc, char **argv)
{
    started = tool_seconds();
    sp_memory_prepare();
    tool.spec = spec;
    tool.context = sp_context_default();
    main_thread = pthread_self();

    reserve_stdout();
    setenv("TZ", "UTC", 1); /* libarchive writes local time into the zip */
    tzset();

    for (int i = 0, signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGXCPU}; i < 5; i++)
        if (signal(signals[i], on_signal) == SIG_IGN)
            signal(signals[i], SIG_IGN);

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* ulimit -f: the write fails instead */

    process_blas_prepare(!getenv("OPENBLAS_CORETYPE"));

    tool.parameters = json_object();
    tool.inputs = json_array();
    tool.history = json_object();
    tool.warnings = json_array();
    tool_options_parse(argc, argv);

    const char *core, *missing = process_blas_missing(&core);
    if (missing)
        tool_fail(SP_SYSTEM, NULL, "the processor has no %s, which OpenBLAS needs with its kernels for %s", missing,
                  core);

    if (process_blas_without_locks()) {
        tool_hint(
            "take its build with OpenMP (Debian: update-alternatives --config libopenblas.so.0-x86_64-linux-gnu)");
        tool_fail(SP_SYSTEM, NULL,
                  "OpenBLAS is its serial build without locks, which computes wrongly when several threads call it");
    }

    tool.context.memory_left = tool_memory_left;
    tool.context.threads = tool.threads > 0 ? (int)tool.threads : process_cores("", getenv("MAKEFLAGS"));
    if (tool.context.threads > 1 && !getenv("OMP_WAIT_POLICY") && !getenv("GOMP_SPINCOUNT"))
        process_threads_prepare();
    tool.context.seed = (uint64_t)tool.seed;

    if (!tool.quiet) {
        on_terminal = isatty(STDERR_FILENO);
        tool.context.progress = show_progress;
    }

    tool.context.remark = say_remark;
    return &tool.context;
}

int tool_end(void)
{
    end_progress_line();
    if (tool.parsed)
        tool_conditions_judged();

    if (tool.data_stream && (ferror(tool.data_stream) || fclose(tool.data_stream)))
        tool_fail(SP_SYSTEM, NULL, "cannot write to standard output: %s", strerror(errno));
    tool.data_stream = NULL;

    tool.ended = true;
    tool_parallel_finish();
    json_decref(tool.parameters);
    json_decref(tool.inputs);
    json_decref(tool.history);
    json_decref(tool.warnings);
    free(tool.arguments);
    return SP_OK;
}

int tool_argument_count(void)
{
    return tool.argument_count;
}

const char *tool_argument(int i)
{
    return tool.arguments[i];
}

const char *tool_output_path(void)
{
    return tool.output;
}

bool tool_quiet(void)
{
    return tool.quiet;
}

void tool_hint(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(hint, sizeof hint, format, arguments);
    va_end(arguments);
}

static void print_plain_line(const char *line)
{
    sp_print_plain(line, stderr);
    putc('\n', stderr);
}

/* Prints one line, whatever names and files it quotes. */
void tool_print(const char *file, const char *text)
{
    char line[6000];
    end_progress_line();
    snprintf(line, sizeof line, "%s: %s%s%s", tool.spec ? tool.spec->name : program_invocation_short_name,
             file ? file : "", file ? ": " : "", text);
    print_plain_line(line);
}

/* "-" is what is written where it is the output's, and read elsewhere. */
static const char *name_of(const char *file)
{
    return !file || strcmp(file, "-") ? file : file == tool_output_path() ? "standard output" : "standard input";
}

/* Threads may fail together, and one that fails may fail again: one message, one exit. */
static void fail_once(int status)
{
    static atomic_flag failing = ATOMIC_FLAG_INIT;
    static _Thread_local bool here;
    if (here)
        _exit(status);
    here = true;
    while (atomic_flag_test_and_set(&failing))
        pause();
}

noreturn void tool_fail(int status, const char *file, const char *format, ...)
{
    char text[700];
    fail_once(status);

    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);

    if (tool_parallel_speaks(status)) {
        tool_print(name_of(file), text);
        if (*hint)
            print_plain_line(hint);
    }

    tool_outputs_remove();
    tool_parallel_finish();
    _exit(status);
}

/* Which program makes one of our files from a file of another format, by the ending of its name. */
static void hint_importer(const char *file)
{
    static const struct {
        const char *endings, *hint;
    } importers[] = {
        {" .obj .ply .stl .off ", "it is a triangle model: voxelize makes a mesh of it"},
        {" .veg .msh .inp .mesh .node .ele .vtk .vtu .bou ", "simimport makes a mesh of files of other programs"},
        {" .mtx .npy .U .Ulin .cub ", "simimport reads matrices of other programs"},
        {" .json ", "scenes are for simscene"},
    };
    const char *dot = strrchr(file, '.');
    char word[16];

    if (!dot || snprintf(word, sizeof word, " %s ", dot) >= (int)sizeof word)
        return;

    for (int i = 0; i < TOOL_COUNT(importers); i++)
        if (strcasestr(importers[i].endings, word))
            tool_hint("%s", importers[i].hint);
}

void tool_check(int status, const char *file)
{
    if (status == SP_INPUT && file && strstr(tool.context.message, "not a Supple file"))
        hint_importer(file);
    if (status != SP_OK)
        tool_fail(status, file, "%s", tool.context.message);
}

void tool_warn(const char *file, const char *format, ...)
{
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_array_append_new(tool.warnings, json_string(text));
    if (!tool.quiet)
        tool_print(file, text);
}

void tool_warn_remarks(const char *file, const sp_remarks *remarks)
{
    for (int i = 0; i < remarks->count; i++)
        tool_warn(file, "%s", remarks->text[i]);
}

static bool of_one_value(const double *value)
{
    return fabs(value[0] - value[1]) <= 1e-4 * fabs(value[0]);
}

void tool_warn_of_cut(const char *option, const char *thing, const char *what, int64_t cut, int64_t count,
                      const double *value)
{
    int64_t first = cut - 1, end = cut;

    if (cut < 1 || cut >= count || !of_one_value(value + cut - 1))
        return;

    /* All columns of this value: from first + 1 to end + 1, counted from 1 */
    while (first > 0 && of_one_value(value + first - 1))
        first--;
    while (end + 1 < count && of_one_value(value + end))
        end++;

    char other[60] = "";
    if (first > 0)
        snprintf(other, sizeof other, ", %s %lld none of them", option, (long long)first);

    tool_warn(NULL,
              "%s %lld: %s %lld has the %s of %s %lld, which is left out, and rounding or the mesh chooses between "
              "them: %s %lld keeps all of them%s",
              option, (long long)cut, thing, (long long)cut, what, thing, (long long)cut + 1, option,
              (long long)end + 1, other);
}

void tool_say(const char *format, ...)
{
    if (tool.quiet)
        return;
    char text[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    tool_print(NULL, text);
}

FILE *tool_stdout(void)
{
    if (!tool.data_stream)
        tool.data_stream = fdopen(dup(tool.data_descriptor), "w");
    if (!tool.data_stream)
        tool_fail(SP_SYSTEM, NULL, "cannot write to standard output: %s", strerror(errno));
    return tool.data_stream;
}

const char *tool_names(sp_pool *pool, int64_t count, const char *const *paths)
{
    size_t length = 1;
    for (int64_t i = 0; i < count; i++)
        length += strlen(paths[i]) + 2;
    char *text = tool_allocate(pool, (int64_t)length, 1);
    for (int64_t i = 0; i < count; i++) {
        strcat(text, i ? ", " : "");
        strcat(text, paths[i]);
    }
    return text;
}
