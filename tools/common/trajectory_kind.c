/* What kind of file an input is, and what its record says, before it is read. */
#include "tools/common/trajectory.h"

#include "tools/common/internal.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The descriptor that "-" or a name such as /dev/fd/63 (of a shell's process substitution) denotes; −1: another
 * name. */
static int named_descriptor(const char *path)
{
    static const char folder[] = "/dev/fd/";
    char *end;
    if (!strcmp(path, "-"))
        return STDIN_FILENO;
    if (strncmp(path, folder, sizeof folder - 1) || !isdigit((unsigned char)path[sizeof folder - 1]))
        return -1;
    long number = strtol(path + sizeof folder - 1, &end, 10);
    return *end || number > INT_MAX ? -1 : (int)number;
}

/* Puts a file in memory in the place of a pipe, so that it can be looked at and then read. */
static void spool(const char *path, int descriptor)
{
    static char buffer[1 << 16];
    int memory = memfd_create("standard input", MFD_CLOEXEC);

    for (;;) {
        ssize_t got = memory < 0 ? -1 : read(descriptor, buffer, sizeof buffer);
        if (got < 0 && memory >= 0 && errno == EINTR)
            continue;

        if (got == 0)
            break;

        for (ssize_t at = 0, written; at < got; at += written)
            if ((written = write(memory, buffer + at, (size_t)(got - at))) < 0) {
                got = -1;
                break;
            }

        if (got < 0)
            tool_fail(SP_SYSTEM, path, "cannot read: %s", strerror(errno));
    }

    if (lseek(memory, 0, SEEK_SET) < 0 || dup2(memory, descriptor) < 0)
        tool_fail(SP_SYSTEM, path, "cannot read: %s", strerror(errno));
    close(memory);
}

static bool wants_meta(void *data, const char *name)
{
    (void)data;
    return !strcmp(name, "meta");
}

/* The kind of a file, and its meta, which the caller owns; NULL: there is none. */
static json_t *peek(sp_context *context, const char *path, char kind[SP_KIND_LENGTH])
{
    sp_reader *reader;
    sp_array array;
    sp_pool pool = {0};
    json_t *meta = NULL;
    bool is_stdin = !strcmp(path, "-");
    int named = named_descriptor(path);

    if (named >= 0 && lseek(named, 0, SEEK_CUR) < 0 && errno == ESPIPE)
        spool(path, named);

    int descriptor = tool_open_input(path);
    off_t start = lseek(descriptor, 0, SEEK_CUR);
    if (start < 0)
        tool_fail(SP_INPUT, path, "its kind cannot be looked up: it is a pipe; give it as standard input (-)");

    tool_check(sp_reader_open(context, descriptor, false, &reader), path);
    tool_check(sp_reader_next(reader, &pool, wants_meta, NULL, &array), path);
    tool_check(sp_file_meta(context, reader, &array, NULL, &meta), path);

    *kind = 0;
    if (meta)
        snprintf(kind, SP_KIND_LENGTH, "%s", json_string_value(json_object_get(meta, "kind")));
    else /* a file of NumPy or SciPy */
        while (array.name[0] && !*kind) {
            if (!strcmp(array.name, "indptr") || !strcmp(array.name, "U"))
                strcpy(kind, *array.name == 'U' ? "snapshots" : "sparse");
            tool_check(sp_reader_next(reader, &pool, wants_meta, NULL, &array), path);
        }

    sp_reader_close(reader);
    sp_pool_free(&pool);

    if (is_stdin) {
        lseek(descriptor, start, SEEK_SET);
        tool.stdin_used = false;
    }

    tool_close_input(descriptor);
    return meta;
}

void tool_peek_any_kind(sp_context *context, const char *path, char kind[SP_KIND_LENGTH])
{
    json_decref(peek(context, path, kind));
}

void tool_peek_meta(sp_context *context, const char *path, const char *key, size_t size, char *value)
{
    char kind[SP_KIND_LENGTH];
    json_t *meta = peek(context, path, kind);
    snprintf(value, size, "%s", tool_text_of(meta, key));
    json_decref(meta);
}

void tool_peek_input(sp_context *context, const char *path, const char *kind, char hash[SP_HASH_LENGTH])
{
    char own[SP_KIND_LENGTH];
    json_t *meta = peek(context, path, own), *input;
    size_t i;

    *hash = 0;
    json_array_foreach(json_object_get(meta, "inputs"), i, input)
    {
        const char *found = tool_text_of(input, "sha256");
        if (!strcmp(tool_text_of(json_object_get(json_object_get(meta, "history"), found), "kind"), kind))
            snprintf(hash, SP_HASH_LENGTH, "%s", found);
    }

    json_decref(meta);
}

void tool_peek_kind(sp_context *context, const char *path, char kind[SP_KIND_LENGTH])
{
    tool_peek_any_kind(context, path, kind);
    if (!*kind)
        tool_fail(SP_INPUT, path, "it has no meta member: not written by Supple");
}
