/* Which files a run reads and writes: no file may be both, and none may be written twice. */
#include "tools/common/internal.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A regular file by device and inode, or a name that no file has yet, by its folder. */
typedef struct claim {
    const char *path; /* as the user named it */
    dev_t device;
    ino_t number;
    const char *name; /* in that folder; "": the file exists */
    bool written;
} claim;

static sp_list claims;
static sp_pool paths; /* copies */

static bool is_same(const claim *a, const claim *b)
{
    return a->device == b->device && a->number == b->number && !strcmp(a->name, b->name);
}

/* False for pipes, devices and folders, which nothing replaces, and for a name in a folder that is not there. */
static bool find(const char *path, claim *c)
{
    struct stat about;
    *c = (claim){.path = path, .name = ""};

    if (!strcmp(path, "-"))
        return false;

    if (stat(path, &about) == 0) {
        if (!S_ISREG(about.st_mode))
            return false;
    } else {
        /* A file that is not there is known by its folder and name. */
        const size_t length = (size_t)(tool_base_name(path) - path);
        char *folder = tool_allocate(&paths, (int64_t)length + 2, 1);
        memcpy(folder, path, length);
        strcpy(folder + length, ".");
        if (stat(folder, &about))
            return false;
        c->name = tool_base_name(path);
    }

    c->device = about.st_dev;
    c->number = about.st_ino;
    return true;
}

/* Compares with all claims before. Outputs are compared with one another on the command line only: the same option
 * opens its file later on. */
static void add(const claim *c, bool both_written)
{
    for (int64_t i = 0; i < claims.count; i++) {
        const claim *other = (const claim *)claims.data + i;

        if (!is_same(c, other))
            continue;

        if (c->written != other->written)
            tool_fail(SP_USAGE, c->written ? c->path : other->path,
                      "the run reads this file and would replace it: name another file for the output");

        if (c->written && both_written)
            tool_fail(SP_USAGE, c->path, "two outputs have this name");
        if (!both_written)
            return;
    }

    claim *to = tool_list_add(&claims, 1, sizeof *to);
    *to = *c;
    to->path = tool_allocate_copy(&paths, c->path, (int64_t)strlen(c->path) + 1, 1);
    to->name = tool_base_name(*c->name ? to->path : "");
}

void tool_claim_named(const char *path, bool written)
{
    claim c;
    if (!find(path, &c))
        return;
    c.written = written;
    add(&c, true);
}

void tool_claim_read(const char *path, int descriptor)
{
    struct stat about;
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode))
        add(&(claim){.path = path, .device = about.st_dev, .number = about.st_ino, .name = ""}, false);
}

void tool_claim_written(const char *path)
{
    claim c;
    if (!find(path, &c) || *c.name)
        return;
    c.written = true;
    add(&c, false);
}
