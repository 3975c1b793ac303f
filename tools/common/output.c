#include "tools/common/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The temporary file stands beside its target, so that the rename is atomic; it is known here for the signal handler. */
struct tool_output {
    char *path;      /* as the user named it */
    char *target;    /* what is renamed to: behind symbolic links */
    char *temporary; /* NULL: written directly (stdout, devices, pipes) */
    int descriptor;
    bool closed;     /* complete, waits for the others that are open */
    sp_writer *writer;
    struct tool_output *next;
};

static struct tool_output *open_outputs;

void tool_outputs_remove(void)
{
    for (struct tool_output *output = open_outputs; output; output = output->next)
        if (output->temporary)
            unlink(output->temporary);
}

static noreturn void system_failure(const char *path)
{
    tool_fail(SP_SYSTEM, strcmp(path, "-") ? path : "standard output", "cannot write: %s", strerror(errno));
}

static char *concatenate(const char *a, size_t a_length, const char *b)
{
    char *text = malloc(a_length + strlen(b) + 1);
    if (!text)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    memcpy(text, a, a_length);
    strcpy(text + a_length, b);
    return text;
}

/* Length of the folder of a path with its slash; 0 where it names none. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

/* The file behind symbolic links, also where the last one leads to a file that is not there yet. */
static char *resolve(const char *path)
{
    char *at = concatenate(path, strlen(path), ""), *real, link[4096];
    for (int hops = 0; hops < 40; hops++) {
        real = realpath(at, NULL);
        ssize_t length = real ? -1 : readlink(at, link, sizeof link - 1);
        if (real || length < 0)
            break;
        link[length] = 0;
        char *next = concatenate(at, *link == '/' ? 0 : folder_length(at), link);
        free(at);
        at = next;
    }
    if (!real) { /* a new file: its folder is there, or the failure to open it says so */
        char *folder = concatenate(at, folder_length(at), "."), *real_folder = realpath(folder, NULL);
        if (real_folder) {
            char *slashed = concatenate(real_folder, strlen(real_folder), "/");
            real = concatenate(slashed, strlen(slashed), at + folder_length(at));
            free(slashed);
        }
        free(folder);
        free(real_folder);
    }
    if (!real)
        return at;
    free(at);
    return real;
}

static void open_temporary(tool_output *output)
{
    output->target = resolve(output->path);
    for (const struct tool_output *other = output->next; other; other = other->next)
        if (other->target && !strcmp(other->target, output->target))
            tool_fail(SP_USAGE, output->path, "two outputs have this name");
    size_t folder = folder_length(output->target);
    output->temporary = concatenate(output->target, folder, ".supple-XXXXXX");
    output->descriptor = mkostemp(output->temporary, O_CLOEXEC);
    if (output->descriptor < 0) {
        free(output->temporary);
        output->temporary = NULL;
        system_failure(output->path);
    }
    mode_t mask = umask(0);
    umask(mask);
    if (fchmod(output->descriptor, 0666 & ~mask))
        system_failure(output->path);
}

tool_output *tool_output_open(const char *path)
{
    tool_output *output = calloc(1, sizeof *output);
    if (!output)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    output->path = concatenate(path, strlen(path), "");
    output->next = open_outputs;
    open_outputs = output;
    struct stat about;
    if (!strcmp(path, "-")) {
        for (const struct tool_output *other = output->next; other; other = other->next)
            if (!strcmp(other->path, "-"))
                tool_fail(SP_USAGE, NULL, "only one output can go to standard output (-)");
        if (isatty(tool.data_descriptor))
            tool_fail(SP_USAGE, NULL, "standard output is a terminal; name a file with -o or use a pipe");
        output->descriptor = dup(tool.data_descriptor);
    } else if (stat(path, &about) == 0 && !S_ISREG(about.st_mode)) {
        output->descriptor = open(path, O_WRONLY | O_CLOEXEC); /* a device or a named pipe: nothing to rename; folders fail here */
    } else
        open_temporary(output);
    if (output->descriptor < 0)
        system_failure(path);
    return output;
}

int tool_output_descriptor(tool_output *output)
{
    return output->descriptor;
}

sp_writer *tool_output_writer(tool_output *output)
{
    if (!output->writer)
        tool_check(sp_writer_open(&tool.context, output->descriptor, &output->writer), output->path);
    return output->writer;
}

/* Several outputs appear together, when the last one is complete: a failure before that changes none of them. */
static void rename_outputs(void)
{
    for (struct tool_output *output = open_outputs; output; output = output->next)
        if (!output->closed)
            return;
    while (open_outputs) {
        struct tool_output *output = open_outputs;
        if (output->temporary && rename(output->temporary, output->target))
            system_failure(output->path);
        open_outputs = output->next;
        free(output->path);
        free(output->target);
        free(output->temporary);
        free(output);
    }
}

void tool_output_finish(tool_output *output, json_t *result)
{
    if (output->writer) {
        int status = result ? sp_file_write_result(output->writer, result) : SP_OK;
        if (status != SP_OK) {
            sp_writer_abandon(output->writer);
            tool_check(status, output->path);
        }
        tool_check(sp_writer_close(output->writer), output->path);
    }
    json_decref(result);
    if (close(output->descriptor))
        system_failure(output->path);
    output->closed = true;
    rename_outputs();
}

void tool_output_bytes(tool_output *output, const void *bytes, int64_t count)
{
    for (const char *at = bytes; count > 0;) {
        ssize_t written = write(output->descriptor, at, (size_t)count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            system_failure(output->path);
        at += written;
        count -= written;
    }
    tool_output_finish(output, NULL);
}

void tool_write_bytes(const char *path, const void *bytes, int64_t count)
{
    tool_output_bytes(tool_output_open(path), bytes, count);
}
