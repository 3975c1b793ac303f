#include "tools/export/compile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_BUFFER = 4096, LONGEST = 600 /* s */, LOOK = 20 /* ms */ };

/* How the supervisor ends */
enum outcome { MADE, FAILED, TOO_LONG, NO_FOLDER, ABANDONED };

int tool_memory_open(const char *path)
{
    const int descriptor = memfd_create("supple", MFD_CLOEXEC);
    if (descriptor < 0)
        tool_fail(SP_SYSTEM, path, "cannot make a file in memory: %s", strerror(errno));
    return descriptor;
}

void tool_memory_read(int descriptor, const char *path, sp_pool *pool, tool_bytes *to)
{
    struct stat about;
    if (fstat(descriptor, &about))
        tool_fail(SP_SYSTEM, path, "cannot read a file in memory: %s", strerror(errno));
    to->count = about.st_size;
    to->bytes = tool_allocate(pool, to->count + 1, 1);
    for (int64_t at = 0; at < to->count;) {
        const ssize_t part = pread(descriptor, to->bytes + at, (size_t)(to->count - at), at);
        if (part <= 0 && errno != EINTR)
            tool_fail(SP_SYSTEM, path, "cannot read a file in memory: %s", strerror(errno));
        at += part > 0 ? part : 0;
    }
}

char *tool_find_program(const char *name, sp_pool *pool)
{
    const char *paths = getenv("PATH");
    char path[PATH_BUFFER];
    struct stat about;
    for (const char *at = paths; at && *at;) {
        const size_t length = strcspn(at, ":");
        const int written = snprintf(path, sizeof path, "%.*s/%s", (int)length, at, name);
        if (length > 0 && written < PATH_BUFFER && stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
            access(path, X_OK) == 0)
            return tool_allocate_copy(pool, path, (int64_t)strlen(path) + 1, 1);
        at += length + (at[length] == ':');
    }
    return NULL;
}

/* ---- the supervisor, a process of its own that outlives this one where it is killed ---- */

static bool write_file(const char *name, const char *bytes, int64_t count)
{
    const int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = descriptor >= 0;
    while (good && count > 0) {
        const ssize_t part = write(descriptor, bytes, (size_t)count);
        good = part > 0 || (part < 0 && errno == EINTR);
        bytes += part > 0 ? part : 0;
        count -= part > 0 ? part : 0;
    }
    return descriptor >= 0 && close(descriptor) == 0 && good;
}

static bool copy_file(const char *name, int to)
{
    char buffer[1 << 16];
    ssize_t part = 0;
    const int from = open(name, O_RDONLY | O_CLOEXEC);
    while (from >= 0 && (part = read(from, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, (size_t)part) != part) /* memory: whole or not */
            part = -1;
    if (from >= 0)
        close(from);
    return from >= 0 && part == 0;
}

static void remove_folder(const char *folder)
{
    DIR *list = opendir(folder);
    const struct dirent *entry;
    while (list && (entry = readdir(list)))
        unlinkat(dirfd(list), entry->d_name, 0);
    if (list)
        closedir(list);
    rmdir(folder);
}

static noreturn void run_command(const char *folder, const char *const *command)
{
    const int messages = open("messages", O_WRONLY | O_CREAT | O_CLOEXEC, 0600), nothing = open("/dev/null", O_RDWR);
    setpgid(0, 0);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    setenv("TMPDIR", folder, 1); /* its temporary files go with the folder */
    setenv("LC_ALL", "C", 1);
    dup2(nothing, 0);
    dup2(messages, 1);
    dup2(messages, 2);
    execv(command[0], (char *const *)command);
    dprintf(2, "%s: %s\n", command[0], strerror(errno));
    _exit(127);
}

/* `life` is readable when the program has ended. */
static enum outcome watch(pid_t child, int life)
{
    const double start = tool_seconds();
    int status = 0;
    enum outcome outcome = MADE;

    while (waitpid(child, &status, WNOHANG) == 0) {
        struct pollfd ended = {.fd = life, .events = POLLIN};
        const bool alone = poll(&ended, 1, LOOK) > 0;
        if (alone || tool_seconds() - start > LONGEST) {
            outcome = alone ? ABANDONED : TOO_LONG;
            kill(-child, SIGKILL);
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
            break;
        }
    }

    /* The group may still have processes that the compiler has left. */
    kill(-child, SIGKILL);
    if (outcome == MADE && !(WIFEXITED(status) && WEXITSTATUS(status) == 0))
        outcome = FAILED;
    return outcome;
}

static enum outcome compile_in(const char *folder, const char *const *command, int count, const tool_bytes *files,
                               const char *result, int life, int made, int messages)
{
    for (int i = 0; i < count; i++)
        if (!write_file(files[i].name, files[i].bytes, files[i].count))
            return NO_FOLDER;

    const pid_t child = fork();
    if (child < 0)
        return NO_FOLDER;
    if (child == 0)
        run_command(folder, command);

    setpgid(child, child);
    enum outcome outcome = watch(child, life);
    copy_file("messages", messages);

    if (outcome == MADE && !copy_file(result, made))
        outcome = FAILED;
    return outcome;
}

static noreturn void supervise(const char *const *command, int count, const tool_bytes *files, const char *result,
                               int life, int made, int messages)
{
    char folder[PATH_BUFFER];
    const char *wanted = getenv("TMPDIR");
    enum outcome outcome = NO_FOLDER;

    snprintf(folder, sizeof folder - 16, "%s", wanted && *wanted ? wanted : "/tmp");
    strcat(folder, "/supple-XXXXXX");

    if (mkdtemp(folder)) {
        char *full = realpath(folder, NULL);
        if (full && chdir(full) == 0)
            outcome = compile_in(full, command, count, files, result, life, made, messages);
        if (outcome == NO_FOLDER)
            dprintf(messages, "%s: %s\n", folder, strerror(errno));
        remove_folder(full ? full : folder);
    } else
        dprintf(messages, "%s: %s\n", folder, strerror(errno));

    _exit((int)outcome);
}

/* Starts the supervisor. The signals that end this program do not end that one: it sees by the pipe `life` when this
 * program is gone. */
static pid_t start(const char *path, const char *const *command, int count, const tool_bytes *files, const char *result,
                   int life[2], int made, int messages)
{
    sigset_t all, before;

    sigfillset(&all);

    if (pipe2(life, O_CLOEXEC))
        tool_fail(SP_SYSTEM, path, "cannot start the compiler: %s", strerror(errno));
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t supervisor = fork();

    if (supervisor == 0) {
        static const int ending[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE, SIGXCPU, SIGALRM};
        for (int i = 0; i < TOOL_COUNT(ending); i++)
            signal(ending[i], SIG_IGN);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        close(life[1]);
        supervise(command, count, files, result, life[0], made, messages);
    }

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (supervisor < 0)
        tool_fail(SP_SYSTEM, path, "cannot start the compiler: %s", strerror(errno));
    return supervisor;
}

void tool_compile(const char *path, const char *const *command, int count, const tool_bytes *files, sp_pool *pool,
                  tool_bytes *result)
{
    const int made = tool_memory_open(path), messages = tool_memory_open(path);
    int life[2], status = 0;
    tool_bytes text;

    const pid_t supervisor = start(path, command, count, files, result->name, life, made, messages);
    while (waitpid(supervisor, &status, 0) < 0 && errno == EINTR)
        ;
    close(life[0]);
    close(life[1]);

    tool_memory_read(messages, path, pool, &text);
    text.bytes[strcspn(text.bytes, "\n")] = 0;
    const int outcome = WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;

    if (outcome != MADE)
        tool_hint("--sources-only leaves the library out");
    if (outcome == TOO_LONG)
        tool_fail(SP_SYSTEM, path, "%s has not ended after %d s", command[0], LONGEST);
    if (outcome == NO_FOLDER)
        tool_fail(SP_SYSTEM, path, "no folder to compile in: %.300s", text.bytes);
    if (outcome != MADE)
        tool_fail(SP_SYSTEM, path, "%s cannot compile the model: %.300s", command[0],
                  *text.bytes ? text.bytes : "it says nothing");

    tool_memory_read(made, path, pool, result);
    close(made);
    close(messages);
}
