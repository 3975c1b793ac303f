#include "tools/common/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The temporary file lies beside its target, so that the rename is atomic; it is listed here for the signal handler. */
struct tool_output {
    char *path;      /* as the user named it */
    char *target;    /* what is renamed to: behind symbolic links */
    char *folder;    /* of the target */
    char *temporary; /* NULL: written directly (stdout, devices, pipes) */
    char *backup;    /* second name of the old target while the outputs are renamed */
    int descriptor;
    bool closed; /* complete, waits for the other open outputs */
    bool index;  /* lists the other outputs */
    bool shown;  /* the target is the new file, or was taken away */
    enum { OLD_NONE, OLD_SAVED, OLD_LOST } old;
    sp_writer *writer;
    const sp_context *context; /* of the writer's failures */
    struct tool_output *next;
};

static struct tool_output *open_outputs;
static bool held; /* closed outputs wait for tool_outputs_hold(false) */
static volatile sig_atomic_t renaming, appeared, deferred_signal;

static void (*also_remove)(void);

void tool_also_remove(void (*remove)(void))
{
    also_remove = remove;
}

void tool_outputs_remove(void)
{
    if (also_remove)
        also_remove();
    for (struct tool_output *output = open_outputs; output; output = output->next)
        if (output->temporary)
            unlink(output->temporary);
}

bool tool_outputs_defer(int number)
{
    /* Of the signals after the outputs have appeared the second one ends the program. */
    const bool defer = renaming || (appeared && !deferred_signal);
    if (defer)
        deferred_signal = number;
    return defer;
}

/* Another output follows: the run is not at its end, and a signal that came meanwhile ends it now. */
static void more_follows(void)
{
    appeared = 0;
    if (deferred_signal)
        raise(deferred_signal);
}

static const char *shown_name(const char *path)
{
    return strcmp(path, "-") ? path : "standard output";
}

static noreturn void system_failure(const char *path)
{
    tool_fail(SP_SYSTEM, shown_name(path), "cannot write: %s", strerror(errno));
}

static char *concatenate(const char *a, size_t a_length, const char *b)
{
    char *text = malloc(a_length + strlen(b) + 1);
    if (!text)
        tool_out_of_memory();
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

/* In a folder such as /tmp anyone can leave a link to a file of ours. Linux refuses to follow a link there that belongs
 * neither to the user nor to the owner of the folder (fs.protected_symlinks), but resolving it by readlink does not ask
 * Linux. */
static void refuse_planted_link(const tool_output *output, const char *folder, const struct stat *link)
{
    const int shown = (int)strlen(folder) - 2; /* it ends with "/.", or is "." */
    struct stat about;
    if (stat(folder, &about) == 0 && (about.st_mode & S_ISVTX) && (about.st_mode & S_IWOTH) &&
        link->st_uid != geteuid() && link->st_uid != about.st_uid)
        tool_fail(SP_SYSTEM, output->path,
                  "cannot write through the symbolic link of another user in %.*s, a folder that everyone can write to",
                  shown > 1 ? shown : 1, folder);
}

/* The file behind symbolic links, also where the last one leads to a file that does not exist yet. */
static char *follow_links(const tool_output *output)
{
    char *at = concatenate(output->path, strlen(output->path), ""), link[4096];
    struct stat about;
    for (int hops = 0; hops < 40 && lstat(at, &about) == 0 && S_ISLNK(about.st_mode); hops++) {
        char *folder = concatenate(at, folder_length(at), ".");
        refuse_planted_link(output, folder, &about);
        free(folder);

        ssize_t length = readlink(at, link, sizeof link - 1);
        if (length < 0)
            break;
        link[length] = 0;

        char *next = concatenate(at, *link == '/' ? 0 : folder_length(at), link);
        free(at);
        at = next;
    }

    return at;
}

/* The same with its folder in full, so that two names of one file are seen to be one. */
static char *resolve(const tool_output *output)
{
    char *at = follow_links(output), *folder = concatenate(at, folder_length(at), "."),
         *real_folder = realpath(folder, NULL);

    free(folder);
    if (!real_folder) /* the failure to open the file says what is wrong */
        return at;

    char *slashed = concatenate(real_folder, strlen(real_folder), "/");
    char *real = concatenate(slashed, strlen(slashed), at + folder_length(at));

    free(real_folder);
    free(slashed);
    free(at);
    return real;
}

/* A new file has the rights that the umask leaves; one that replaces another keeps the rights of that one, and its
 * owner and group where the system allows it: a group that cannot be kept must not get what was granted to it. */
static void set_rights(const tool_output *output)
{
    struct stat old, made;
    mode_t mask = umask(0), mode = 0666 & ~mask;
    umask(mask);

    if (stat(output->target, &old) == 0 && S_ISREG(old.st_mode)) {
        if (fstat(output->descriptor, &made))
            system_failure(output->path);
        mode = old.st_mode & 0777;

        bool same = made.st_gid == old.st_gid && made.st_uid == old.st_uid;
        if (!same && fchown(output->descriptor, old.st_uid, old.st_gid) && made.st_gid != old.st_gid &&
            fchown(output->descriptor, (uid_t)-1, old.st_gid))
            mode &= 0707 | (mode & 07) << 3;
    }

    if (fchmod(output->descriptor, mode))
        system_failure(output->path);
}

/* No signal comes between the making of the file and its entry in the list by which the signal handler removes it. */
static void make_temporary(tool_output *output, char *name)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    output->descriptor = mkostemp(name, O_CLOEXEC);
    int error = errno;
    if (output->descriptor >= 0)
        output->temporary = name;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
}

static void open_temporary(tool_output *output)
{
    for (const struct tool_output *other = output->next; other; other = other->next)
        if (other->temporary && !strcmp(other->target, output->target))
            tool_fail(SP_USAGE, output->path, "two outputs have this name");

    size_t folder = folder_length(output->target);
    output->folder = concatenate(output->target, folder, ".");
    output->backup = concatenate(output->target, folder, ".supple-XXXXXX~");
    char *name = concatenate(output->target, folder, ".supple-XXXXXX");

    make_temporary(output, name);
    if (output->descriptor < 0)
        system_failure(output->path);

    memcpy(output->backup, name, strlen(name));
    set_rights(output);
}

tool_output *tool_output_open(const char *path)
{
    more_follows();
    tool_output *output = calloc(1, sizeof *output);
    if (!output)
        tool_out_of_memory();

    output->path = concatenate(path, strlen(path), "");
    output->next = open_outputs;
    open_outputs = output;
    tool_claim_written(path);

    struct stat about;
    if (!strcmp(path, "-")) {
        for (const struct tool_output *other = output->next; other; other = other->next)
            if (!strcmp(other->path, "-"))
                tool_fail(SP_USAGE, NULL, "only one output can go to standard output (-)");
        if (isatty(tool.data_descriptor))
            tool_fail(SP_USAGE, NULL, "standard output is a terminal; name a file with -o or use a pipe");
        output->descriptor = dup(tool.data_descriptor);
    } else {
        output->target = resolve(output);
        if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
            /* a device or a named pipe: nothing to rename; folders fail here */
            output->descriptor = open(path, O_WRONLY | O_CLOEXEC);
        else
            open_temporary(output);
    }

    if (output->descriptor < 0)
        system_failure(path);
    return output;
}

int tool_output_descriptor(tool_output *output)
{
    return output->descriptor;
}

sp_writer *tool_output_writer_of(sp_context *context, tool_output *output)
{
    const int status = sp_writer_open(context, output->descriptor, &output->writer);
    if (status != SP_OK)
        tool_fail(status, shown_name(output->path), "%s", context->message);
    output->context = context;
    return output->writer;
}

sp_writer *tool_output_writer(tool_output *output)
{
    return output->writer ? output->writer : tool_output_writer_of(&tool.context, output);
}

void tool_output_is_index(tool_output *output)
{
    output->index = true;
}

/* Of a file or a folder; some file systems cannot. */
static int synchronize(int descriptor)
{
    return fsync(descriptor) && errno != EINVAL && errno != ENOTSUP && errno != EROFS ? -1 : 0;
}

/* The new name is on disk once the folder is. A folder that may be written but not read cannot be opened for that. */
static int synchronize_folder(const tool_output *output)
{
    int descriptor = open(output->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (descriptor < 0)
        return errno == EACCES ? 0 : -1;
    int status = synchronize(descriptor), error = errno;
    close(descriptor);
    errno = error;
    return status;
}

static int synchronize_folders(void)
{
    const char *last = "";
    for (const struct tool_output *output = open_outputs; output; output = output->next) {
        if (!output->temporary || !strcmp(output->folder, last))
            continue;
        if (synchronize_folder(output))
            return -1;
        last = output->folder;
    }
    return 0;
}

/* The old file keeps a second name until all outputs have theirs. An old index is taken away first: whenever the
 * process or the machine stops, no index lists a mixture of old and new files. */
static int save_old(void)
{
    for (struct tool_output *output = open_outputs; output; output = output->next) {
        if (!output->temporary)
            continue;
        output->old = link(output->target, output->backup) == 0 ? OLD_SAVED : errno == ENOENT ? OLD_NONE : OLD_LOST;

        if (output->index && output->old == OLD_SAVED) {
            if (unlink(output->target))
                return -1;
            output->shown = true;
        }
    }
    return 0;
}

/* The one that was opened first, an index, is renamed last. Returns the output whose name could not be given. */
static const tool_output *rename_all(void)
{
    for (struct tool_output *output = open_outputs; output; output = output->next) {
        if (!output->temporary)
            continue;
        if (rename(output->temporary, output->target))
            return output;
        output->shown = true;
    }
    return NULL;
}

/* Puts the old files back. Returns how many outputs stay new because that is impossible. */
static int64_t put_back(void)
{
    int64_t lost = 0;
    for (struct tool_output *output = open_outputs; output; output = output->next) {
        bool back = !output->shown || (output->old == OLD_SAVED && rename(output->backup, output->target) == 0) ||
                    (output->old == OLD_NONE && unlink(output->target) == 0);
        if (output->old == OLD_SAVED)
            unlink(output->backup);
        lost += !back;
    }
    return lost;
}

static noreturn void rename_failure(const tool_output *output)
{
    int error = errno;
    int64_t lost = put_back();
    if (lost)
        tool_fail(SP_SYSTEM, output->path, "cannot write: %s; %lld of the outputs are new files all the same",
                  strerror(error), (long long)lost);
    errno = error;
    system_failure(output->path);
}

static void free_output(tool_output *output)
{
    free(output->path);
    free(output->target);
    free(output->folder);
    free(output->temporary);
    free(output->backup);
    free(output);
}

/* Several outputs appear together, when the last one is complete: a failure before that, or in between, changes none of
 * them. A signal that comes while they appear or later, when nothing is left to do but to end, ends nothing: an exit
 * code of a signal would say that the old files are there. */
static void rename_outputs(void)
{
    for (struct tool_output *output = open_outputs; output; output = output->next)
        if (!output->closed)
            return;
    if (held)
        return;

    renaming = 1;
    const tool_output *failed = save_old() ? open_outputs : rename_all();
    if (!failed && synchronize_folders())
        failed = open_outputs;
    if (failed)
        rename_failure(failed);

    while (open_outputs) {
        struct tool_output *output = open_outputs;
        if (output->temporary && output->old == OLD_SAVED)
            unlink(output->backup);
        open_outputs = output->next;
        free_output(output);
    }

    appeared = 1;
    renaming = 0;
}

void tool_outputs_hold(bool hold)
{
    held = hold;
    rename_outputs();
}

void tool_output_finish(tool_output *output, json_t *result)
{
    if (output->writer) {
        int status = result ? sp_file_write_result(output->writer, result) : SP_OK;
        if (status != SP_OK)
            sp_writer_abandon(output->writer);
        else
            status = sp_writer_close(output->writer);
        if (status != SP_OK)
            tool_fail(status, shown_name(output->path), "%s", output->context->message);
    }

    json_decref(result);

    if (output->temporary && synchronize(output->descriptor))
        system_failure(output->path);
    if (close(output->descriptor))
        system_failure(output->path);

    output->closed = true;
    rename_outputs();
}

void tool_output_append(tool_output *output, const void *bytes, int64_t count)
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
}

void tool_output_bytes(tool_output *output, const void *bytes, int64_t count)
{
    tool_output_append(output, bytes, count);
    tool_output_finish(output, NULL);
}

void tool_write_bytes(const char *path, const void *bytes, int64_t count)
{
    tool_output_bytes(tool_output_open(path), bytes, count);
}
