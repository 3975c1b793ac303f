#include "tools/common/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BUFFER = 4096 };

static void choose_folder(const char *beside, char folder[PATH_BUFFER])
{
    struct stat about;
    const char *wanted = getenv("TMPDIR"), *slash = strrchr(beside, '/');
    if (wanted && *wanted)
        snprintf(folder, PATH_BUFFER, "%s", wanted);
    else if (!strcmp(beside, "-") || (stat(beside, &about) == 0 && !S_ISREG(about.st_mode)))
        strcpy(folder, "/var/tmp");
    else
        snprintf(folder, PATH_BUFFER, "%.*s", slash ? (int)(slash - beside) + 1 : 1, slash ? beside : ".");
}

static int open_scratch(sp_context *context, tool_scratch *scratch)
{
    char folder[PATH_BUFFER], name[PATH_BUFFER + 32];

    choose_folder(scratch->beside, folder);
    scratch->descriptor = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (scratch->descriptor < 0) { /* a file system that has no nameless files */
        snprintf(name, sizeof name, "%s/.supple-XXXXXX", folder);
        scratch->descriptor = mkostemp(name, O_CLOEXEC);
        if (scratch->descriptor >= 0)
            unlink(name);
    }

    if (scratch->descriptor < 0)
        return sp_fail(context, SP_SYSTEM, "scratch file in %.200s: %s", folder, strerror(errno));
    return SP_OK;
}

static int save_bytes(sp_context *context, int descriptor, const char *from, int64_t count, int64_t at)
{
    while (count > 0) {
        ssize_t done = pwrite(descriptor, from, (size_t)count, at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return sp_fail(context, SP_SYSTEM, "scratch file: cannot write: %s", strerror(errno));

        from += done;
        at += done;
        count -= done;
    }
    return SP_OK;
}

static int load_bytes(sp_context *context, int descriptor, char *to, int64_t count, int64_t at)
{
    while (count > 0) {
        ssize_t done = pread(descriptor, to, (size_t)count, at);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return sp_fail(context, SP_SYSTEM, "scratch file: cannot read: %s",
                           done ? strerror(errno) : "it is shorter than it was");

        to += done;
        at += done;
        count -= done;
    }
    return SP_OK;
}

static int save(sp_context *context, void *data, int64_t row, int64_t height, int64_t first, int64_t width,
                const double *from)
{
    tool_scratch *scratch = data;
    int64_t size = sizeof(double), step = height == scratch->rows ? width : 1; /* whole columns, one after the other */
    int status = scratch->descriptor < 0 ? open_scratch(context, scratch) : SP_OK;
    for (int64_t c = 0; c < width && status == SP_OK; c += step)
        status = save_bytes(context, scratch->descriptor, (const char *)(from + c * height), step * height * size,
                            ((first + c) * scratch->rows + row) * size);
    return status;
}

static int load(sp_context *context, void *data, int64_t row, int64_t height, int64_t first, int64_t width, double *to)
{
    tool_scratch *scratch = data;
    int64_t size = sizeof(double), step = height == scratch->rows ? width : 1;
    int status = SP_OK;
    for (int64_t c = 0; c < width && status == SP_OK; c += step)
        status = load_bytes(context, scratch->descriptor, (char *)(to + c * height), step * height * size,
                            ((first + c) * scratch->rows + row) * size);
    return status;
}

sp_store_outside tool_scratch_new(const char *beside, int64_t rows, tool_scratch *scratch)
{
    *scratch = (tool_scratch){.beside = beside, .rows = rows, .descriptor = -1};
    return (sp_store_outside){.data = scratch, .load = load, .save = save};
}

void tool_scratch_close(tool_scratch *scratch)
{
    if (scratch->descriptor >= 0)
        close(scratch->descriptor);
    scratch->descriptor = -1;
}
