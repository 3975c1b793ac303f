#include "api/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int sp_source_about(sp_source *source, const char *path, int status)
{
    if (status != SP_OK)
        source->failed = path;
    return status;
}

int sp_source_fail(sp_source *source, int status, const char *path, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(source->context->message, sizeof source->context->message, format, arguments);
    va_end(arguments);
    source->failed = path;
    return status;
}

void sp_source_warn(sp_source *source, const char *path, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (!source->warn)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    source->warn(source, path, text);
}

/* ---- plain files ---- */

static int open_plain(sp_source *source, const char *path, int *descriptor)
{
    struct stat about;
    *descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (*descriptor < 0)
        return sp_source_fail(
            source, errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO ? SP_SYSTEM : SP_INPUT, path,
            "cannot open: %s", strerror(errno));
    if (fstat(*descriptor, &about) == 0 && (S_ISREG(about.st_mode) || S_ISFIFO(about.st_mode)))
        return SP_OK;
    close(*descriptor);
    return sp_source_fail(source, SP_INPUT, path, "cannot open: it is no file and no pipe");
}

static int read_file(sp_source *source, const char *path, const char *key, const char *const *kinds, bool foreign,
                     sp_file *file)
{
    int descriptor;
    (void)key;
    int status = open_plain(source, path, &descriptor);
    if (status != SP_OK)
        return status;
    status = sp_file_read(source->context, descriptor, kinds, foreign, false, file);
    close(descriptor);
    return sp_source_about(source, path, status);
}

/* Everything that the descriptor has, into a list, up to `most` bytes. */
static int read_list(sp_source *source, const char *path, int descriptor, int64_t most, sp_list *list)
{
    enum { STEP = 1 << 16 };

    for (ssize_t got = 1; got > 0;) {
        char *to = sp_list_add(list, STEP, 1);
        if (!to)
            return sp_source_fail(source, SP_SYSTEM, path, "out of memory");

        do
            got = read(descriptor, to, STEP);
        while (got < 0 && errno == EINTR);

        if (got < 0)
            return sp_source_fail(source, SP_SYSTEM, path, "cannot read: %s", strerror(errno));

        list->count -= STEP - got;
        if (list->count > most)
            return sp_source_fail(source, SP_INPUT, path, "it has more than %lld MiB, the most that is read",
                                  (long long)(most >> 20));
    }
    return SP_OK;
}

static int read_text(sp_source *source, const char *path, const char *key, bool json, sp_pool *pool, int64_t *count,
                     char **text)
{
    enum { TEXT_MOST = 1 << 30 };
    sp_list list = {0};
    int descriptor;

    (void)key;
    int status = open_plain(source, path, &descriptor);
    if (status != SP_OK)
        return status;

    status = read_list(source, path, descriptor, json ? SP_JSON_BYTES : TEXT_MOST, &list);
    close(descriptor);

    if (status == SP_OK) {
        *text = sp_pool_raw(pool, list.count + 1, 1);
        *count = list.count;
        if (!*text)
            status = sp_source_fail(source, SP_SYSTEM, path, "out of memory");
        else {
            memcpy(*text, list.data, (size_t)list.count);
            (*text)[list.count] = 0;
        }
    }

    sp_list_free(&list);
    return status;
}

void sp_source_plain(sp_context *context, sp_source *source)
{
    *source = (sp_source){.context = context, .file = read_file, .text = read_text};
}
