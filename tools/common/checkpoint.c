#include "tools/common/checkpoint.h"

#include "tools/common/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char magic[] = "Supple checkpoint 1\n";
enum { MAGIC = sizeof magic - 1, HEADER = MAGIC + SHA256_DIGEST_SIZE };
static const double SYNC_SECONDS = 2;

struct tool_checkpoint {
    const char *path;
    char *target;  /* behind symbolic links, which stay */
    int descriptor;
    bool reading;
    int64_t end;   /* bytes that are known to be whole */
    struct sha256_ctx hash; /* of these */
    double synced; /* s, when they were last known to be on disk */
};

static noreturn void system_failure(const tool_checkpoint *checkpoint, const char *what)
{
    tool_fail(SP_SYSTEM, checkpoint->path, "cannot %s: %s", what, strerror(errno));
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* As many bytes as there are, up to count. */
static int64_t read_bytes(const tool_checkpoint *checkpoint, void *to, int64_t count)
{
    int64_t done = 0;
    while (done < count) {
        ssize_t got = read(checkpoint->descriptor, (char *)to + done, (size_t)(count - done));
        if (got < 0 && errno != EINTR)
            system_failure(checkpoint, "read");
        if (got == 0)
            break;
        done += got > 0 ? got : 0;
    }
    return done;
}

static void write_bytes(const tool_checkpoint *checkpoint, const void *from, int64_t count)
{
    for (int64_t done = 0; done < count;) {
        ssize_t put = write(checkpoint->descriptor, (const char *)from + done, (size_t)(count - done));
        if (put < 0 && errno != EINTR)
            system_failure(checkpoint, "write");
        done += put > 0 ? put : 0;
    }
}

/* The hash of what stands before, without ending it. */
static void digest(const tool_checkpoint *checkpoint, uint8_t value[SHA256_DIGEST_SIZE])
{
    struct sha256_ctx copy = checkpoint->hash;
    sha256_digest(&copy, SHA256_DIGEST_SIZE, value);
}

static void find_key(uint8_t key[SHA256_DIGEST_SIZE])
{
    json_t *all = json_pack("{s:s, s:s, s:O, s:I, s:O}", "tool", tool.spec->name, "version", SUPPLE_VERSION, "parameters", tool.parameters,
                            "seed", (json_int_t)tool.seed, "inputs", tool.inputs);
    char *text = json_dumps(all, JSON_SORT_KEYS | JSON_COMPACT);
    if (!text)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    struct sha256_ctx hash;
    sha256_init(&hash);
    sha256_update(&hash, strlen(text), (const uint8_t *)text);
    sha256_digest(&hash, SHA256_DIGEST_SIZE, key);
    free(text);
    json_decref(all);
}

/* Refuses what is no file of its own. */
static void check_file(const tool_checkpoint *checkpoint)
{
    struct stat about, output;
    if (fstat(checkpoint->descriptor, &about))
        system_failure(checkpoint, "open");
    if (!S_ISREG(about.st_mode))
        tool_fail(SP_USAGE, checkpoint->path, "a checkpoint has to be a regular file");
    if (tool.output && strcmp(tool.output, "-") && stat(tool.output, &output) == 0 && output.st_dev == about.st_dev &&
        output.st_ino == about.st_ino) {
        if (about.st_size == 0)
            unlink(checkpoint->path);
        tool_fail(SP_USAGE, checkpoint->path, "the checkpoint and the output are one file");
    }
    if (flock(checkpoint->descriptor, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        tool_fail(SP_SYSTEM, checkpoint->path, "another process is writing this checkpoint");
}

tool_checkpoint *tool_checkpoint_open(const char *path)
{
    if (!path)
        return NULL;
    tool_checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    if (!checkpoint)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    *checkpoint = (tool_checkpoint){.path = path, .reading = true, .synced = now()};
    if (!strcmp(path, "-"))
        tool_fail(SP_USAGE, NULL, "--checkpoint: \"-\" is not a file that can be read again");
    checkpoint->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (checkpoint->descriptor < 0)
        system_failure(checkpoint, "open");
    checkpoint->target = realpath(path, NULL);
    if (!checkpoint->target)
        system_failure(checkpoint, "open");
    check_file(checkpoint);
    uint8_t expected[HEADER], header[HEADER];
    memcpy(expected, magic, MAGIC);
    find_key(expected + MAGIC);
    int64_t got = read_bytes(checkpoint, header, HEADER);
    if (memcmp(header, magic, (size_t)(got < MAGIC ? got : MAGIC)))
        tool_fail(SP_INPUT, path, "it is not a checkpoint");
    if (got == HEADER && memcmp(header, expected, HEADER)) {
        tool_hint("remove it, or name another file, to start anew");
        tool_fail(SP_INPUT, path, "it is the checkpoint of another run: of other inputs, options or another version");
    }
    if (got < HEADER) { /* new, or killed while it was being made */
        if (lseek(checkpoint->descriptor, 0, SEEK_SET) < 0)
            system_failure(checkpoint, "write");
        write_bytes(checkpoint, expected, HEADER);
    }
    sha256_init(&checkpoint->hash);
    sha256_update(&checkpoint->hash, HEADER, expected);
    checkpoint->end = HEADER;
    return checkpoint;
}

noreturn void tool_checkpoint_damaged(const tool_checkpoint *checkpoint)
{
    tool_hint("remove it to start anew");
    tool_fail(SP_INPUT, checkpoint->path, "the checkpoint is damaged behind byte %lld", (long long)checkpoint->end);
}

int64_t tool_checkpoint_next(tool_checkpoint *checkpoint, void *to, int64_t most)
{
    int64_t count = 0;
    uint8_t expected[SHA256_DIGEST_SIZE], found[SHA256_DIGEST_SIZE];
    if (!checkpoint || !checkpoint->reading)
        return -1;
    bool whole = read_bytes(checkpoint, &count, sizeof count) == sizeof count;
    if (whole && (count < 0 || count > most))
        tool_checkpoint_damaged(checkpoint);
    whole = whole && read_bytes(checkpoint, to, count) == count && read_bytes(checkpoint, found, sizeof found) == sizeof found;
    if (!whole) { /* the end, or a record that a kill cut short */
        checkpoint->reading = false;
        if (ftruncate(checkpoint->descriptor, checkpoint->end) || lseek(checkpoint->descriptor, checkpoint->end, SEEK_SET) < 0)
            system_failure(checkpoint, "write");
        return -1;
    }
    sha256_update(&checkpoint->hash, sizeof count, (const uint8_t *)&count);
    sha256_update(&checkpoint->hash, (size_t)count, to);
    digest(checkpoint, expected);
    if (memcmp(expected, found, sizeof found))
        tool_checkpoint_damaged(checkpoint);
    sha256_update(&checkpoint->hash, sizeof found, found);
    checkpoint->end += (int64_t)sizeof count + count + (int64_t)sizeof found;
    return count;
}

void tool_checkpoint_add(tool_checkpoint *checkpoint, const void *head, int64_t head_count, const void *body, int64_t body_count)
{
    int64_t count = head_count + body_count;
    uint8_t value[SHA256_DIGEST_SIZE];
    if (!checkpoint)
        return;
    const void *part[] = {&count, head, body};
    const int64_t size[] = {sizeof count, head_count, body_count};
    for (int i = 0; i < 3; i++) {
        sha256_update(&checkpoint->hash, (size_t)size[i], part[i]);
        write_bytes(checkpoint, part[i], size[i]);
    }
    digest(checkpoint, value);
    sha256_update(&checkpoint->hash, sizeof value, value);
    write_bytes(checkpoint, value, sizeof value);
    checkpoint->end += (int64_t)sizeof count + count + (int64_t)sizeof value;
    if (now() - checkpoint->synced < SYNC_SECONDS)
        return;
    if (fdatasync(checkpoint->descriptor))
        system_failure(checkpoint, "write");
    checkpoint->synced = now();
}

void tool_checkpoint_finish(tool_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    if (unlink(checkpoint->target))
        system_failure(checkpoint, "remove");
    free(checkpoint->target);
    close(checkpoint->descriptor);
    free(checkpoint);
}
