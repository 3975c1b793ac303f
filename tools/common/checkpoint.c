#include "tools/common/checkpoint.h"

#include "tools/common/internal.h"

#include "formats/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[] = "Supple checkpoint 1\n";
enum { MAGIC = sizeof magic - 1, HEADER = MAGIC + SHA256_DIGEST_SIZE };
static const double SYNC_SECONDS = 2;

struct tool_checkpoint {
    const char *path;
    char *target; /* behind symbolic links, which stay */
    int descriptor;
    bool reading;
    int64_t end;                  /* bytes that are known to be whole */
    struct sha256_ctx hash;       /* of these, but for states */
    double synced;                /* s, when they were last known to be on disk */
    int64_t done, all;            /* of what the line of a signal counts … */
    const char *what;             /* … NULL: nothing */
    int64_t old[2], old_count[2]; /* where the last two states' data are; count 0: nowhere */
};

/* What a signal handler says. It may come at any time: the text is changed by changing the pointer. */
static char kept_text[2][700];
static const char *volatile kept;

static noreturn void system_failure(const tool_checkpoint *checkpoint, const char *what)
{
    tool_fail(SP_SYSTEM, checkpoint->path, "cannot %s: %s", what, strerror(errno));
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

/* The hash of everything before, without ending it. */
static void digest(const tool_checkpoint *checkpoint, uint8_t value[SHA256_DIGEST_SIZE])
{
    struct sha256_ctx copy = checkpoint->hash;
    sha256_digest(&copy, SHA256_DIGEST_SIZE, value);
}

static void find_key(uint8_t key[SHA256_DIGEST_SIZE])
{
    json_t *all = json_pack("{s:s, s:s, s:O, s:I, s:O}", "tool", tool.spec->name, "version", SUPPLE_VERSION,
                            "parameters", tool.parameters, "seed", (json_int_t)tool.seed, "inputs", tool.inputs);
    char *text = json_dumps(all, JSON_SORT_KEYS | JSON_COMPACT);
    if (!text)
        tool_out_of_memory();

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
    struct stat about;
    if (fstat(checkpoint->descriptor, &about))
        system_failure(checkpoint, "open");
    if (!S_ISREG(about.st_mode))
        tool_fail(SP_USAGE, checkpoint->path, "a checkpoint has to be a regular file");
    if (flock(checkpoint->descriptor, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
        tool_fail(SP_SYSTEM, checkpoint->path, "another process is writing this checkpoint");
}

/* A new file is found after a power failure once its folder is on the disk; some file systems cannot say so. */
static void synchronize_folder(const tool_checkpoint *checkpoint)
{
    char *target = realpath(checkpoint->path, NULL);
    if (!target)
        system_failure(checkpoint, "open");
    *(strrchr(target, '/') + 1) = 0;
    const int folder = open(target, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(target);
    if (folder < 0)
        return;
    (void)fsync(folder);
    close(folder);
}

tool_checkpoint *tool_checkpoint_open(const char *path)
{
    if (!path)
        return NULL;

    tool_checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    if (!checkpoint)
        tool_out_of_memory();
    *checkpoint = (tool_checkpoint){.path = path, .reading = true, .synced = tool_seconds()};

    if (!strcmp(path, "-"))
        tool_fail(SP_USAGE, NULL, "--checkpoint: \"-\" is not a file that can be read again");

    tool_claim_written(path);
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
        synchronize_folder(checkpoint);
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
    whole = whole && read_bytes(checkpoint, to, count) == count &&
            read_bytes(checkpoint, found, sizeof found) == sizeof found;

    if (!whole) { /* the end, or a record that a kill cut short */
        checkpoint->reading = false;
        if (ftruncate(checkpoint->descriptor, checkpoint->end) ||
            lseek(checkpoint->descriptor, checkpoint->end, SEEK_SET) < 0)
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

    tool_checkpoint_keeps(checkpoint, checkpoint->done + 1);
    return count;
}

void tool_checkpoint_add(tool_checkpoint *checkpoint, const void *head, int64_t head_count, const void *body,
                         int64_t body_count)
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
    tool_checkpoint_keeps(checkpoint, checkpoint->done + 1);

    if (tool_seconds() - checkpoint->synced < SYNC_SECONDS)
        return;
    if (fdatasync(checkpoint->descriptor))
        system_failure(checkpoint, "write");
    checkpoint->synced = tool_seconds();
}

void tool_checkpoint_keeps(tool_checkpoint *checkpoint, int64_t done)
{
    if (!checkpoint || !checkpoint->what)
        return;
    checkpoint->done = done;

    /* Two texts in turn: a signal may come at any time, and prints the one that is whole. */
    char *text = kept == kept_text[0] ? kept_text[1] : kept_text[0], line[sizeof kept_text[0]], of[40] = "";
    if (checkpoint->all >= 0)
        snprintf(of, sizeof of, "of %lld ", (long long)checkpoint->all);
    snprintf(line, sizeof line, "%.500s keeps %lld %s%s, and the same command goes on from there", checkpoint->path,
             (long long)done, of, checkpoint->what);

    FILE *stream = fmemopen(text, sizeof kept_text[0], "w");
    if (!stream)
        tool_out_of_memory();
    sp_print_plain(line, stream);

    fclose(stream);
    kept = text;
}

void tool_checkpoint_counts(tool_checkpoint *checkpoint, int64_t all, const char *what)
{
    if (!checkpoint)
        return;
    checkpoint->all = all;
    checkpoint->what = what;
    tool_checkpoint_keeps(checkpoint, 0);
}

const char *tool_checkpoint_kept(void)
{
    return kept;
}

/* ---- runs with a state ---- */

static int64_t file_size(const tool_checkpoint *checkpoint)
{
    struct stat about;
    if (fstat(checkpoint->descriptor, &about))
        system_failure(checkpoint, "read");
    return about.st_size;
}

static void go_to(const tool_checkpoint *checkpoint, int64_t place)
{
    if (lseek(checkpoint->descriptor, place, SEEK_SET) < 0)
        system_failure(checkpoint, "read");
}

/* The hash of a separate record, after those in `before`. */
static void hash_alone(struct sha256_ctx before, int64_t count, const void *data, uint8_t value[SHA256_DIGEST_SIZE])
{
    sha256_update(&before, sizeof count, (const uint8_t *)&count);
    sha256_update(&before, (size_t)(count < 0 ? -count : count), data);
    sha256_digest(&before, SHA256_DIGEST_SIZE, value);
}

/* `count` bytes from here. */
static void read_list(const tool_checkpoint *checkpoint, int64_t count, sp_list *list)
{
    list->count = 0;
    void *to = tool_list_add(list, count, 1);
    if (read_bytes(checkpoint, to, count) != count)
        system_failure(checkpoint, "read");
}

/* Two records in the file, of which the second is a state. */
typedef struct pair {
    int64_t piece, piece_count, state, state_count, end; /* places of data and their lengths */
} pair;

/* What begins a record of a pair. */
typedef struct length {
    int64_t count, complement;
} length;

/* The length of the record at a place and where its data begin and its hash ends; false where the file ends before
 * that. Zeros are what a power failure leaves of what was not on the disk. */
static bool find_record(const tool_checkpoint *checkpoint, int64_t size, int64_t place, bool state, int64_t *data,
                        int64_t *count, int64_t *end)
{
    length l;

    go_to(checkpoint, place);
    if (read_bytes(checkpoint, &l, sizeof l) != sizeof l || (l.count == 0 && l.complement == 0))
        return false;

    if (l.complement != ~l.count || l.count == INT64_MIN || (l.count < 0) != state)
        tool_checkpoint_damaged(checkpoint);

    *data = place + (int64_t)sizeof l;
    *count = state ? -l.count : l.count;
    if (*count > size - *data - SHA256_DIGEST_SIZE)
        return false;

    *end = *data + *count + SHA256_DIGEST_SIZE;
    return true;
}

static bool find_pair(const tool_checkpoint *checkpoint, int64_t size, pair *p)
{
    int64_t behind;
    return find_record(checkpoint, size, checkpoint->end, false, &p->piece, &p->piece_count, &behind) &&
           find_record(checkpoint, size, behind, true, &p->state, &p->state_count, &p->end);
}

/* Whether the data and the hash at a place belong together. */
static bool read_record(const tool_checkpoint *checkpoint, struct sha256_ctx before, int64_t place, int64_t count,
                        bool state, sp_list *data, uint8_t hash[SHA256_DIGEST_SIZE])
{
    uint8_t expected[SHA256_DIGEST_SIZE];
    go_to(checkpoint, place);
    read_list(checkpoint, count, data);
    if (read_bytes(checkpoint, hash, SHA256_DIGEST_SIZE) != SHA256_DIGEST_SIZE)
        system_failure(checkpoint, "read");
    hash_alone(before, state ? -count : count, data->data, expected);
    return memcmp(expected, hash, sizeof expected) == 0;
}

static void take_in(struct sha256_ctx *hash, const sp_list *data, const uint8_t value[SHA256_DIGEST_SIZE])
{
    const int64_t count = data->count;
    sha256_update(hash, sizeof count, (const uint8_t *)&count);
    sha256_update(hash, (size_t)count, data->data);
    sha256_update(hash, SHA256_DIGEST_SIZE, value);
}

static void note_state(tool_checkpoint *checkpoint, int64_t place, int64_t count)
{
    checkpoint->old[0] = checkpoint->old[1];
    checkpoint->old_count[0] = checkpoint->old_count[1];
    checkpoint->old[1] = place;
    checkpoint->old_count[1] = count;
}

/* The state that was written last among those that are whole; the hash is that of all before it. */
static bool read_last_state(tool_checkpoint *checkpoint, bool found, sp_list *state)
{
    uint8_t value[SHA256_DIGEST_SIZE];
    if (found &&
        !read_record(checkpoint, checkpoint->hash, checkpoint->old[1], checkpoint->old_count[1], true, state, value))
        tool_checkpoint_damaged(checkpoint);
    return found;
}

bool tool_checkpoint_resume(tool_checkpoint *checkpoint, void (*piece)(void *data, const void *bytes, int64_t count),
                            void *data, sp_list *state)
{
    sp_list bytes = {0};
    uint8_t value[SHA256_DIGEST_SIZE];
    pair p;
    bool found = false;

    if (!checkpoint)
        return false;

    const int64_t size = file_size(checkpoint);
    while (find_pair(checkpoint, size, &p)) {
        /* nothing that a power failure can leave of the last pair, whose end may have come to the disk before its
         * beginning, is damage */
        const bool last = p.end == size,
                   whole = read_record(checkpoint, checkpoint->hash, p.piece, p.piece_count, false, &bytes, value);
        if (!whole && last)
            break;
        if (!whole)
            tool_checkpoint_damaged(checkpoint);

        struct sha256_ctx hash = checkpoint->hash;
        take_in(&hash, &bytes, value);
        if (last && !read_record(checkpoint, hash, p.state, p.state_count, true, state, value))
            break;

        piece(data, bytes.data, bytes.count);
        checkpoint->hash = hash;
        checkpoint->end = p.end;
        note_state(checkpoint, p.state, p.state_count);
        found = true;
    }

    found = read_last_state(checkpoint, found, state);
    sp_list_free(&bytes);

    checkpoint->reading = false;
    if (ftruncate(checkpoint->descriptor, checkpoint->end))
        system_failure(checkpoint, "write");
    go_to(checkpoint, checkpoint->end);

    return found;
}

static void write_record(tool_checkpoint *checkpoint, int64_t count, const void *data, uint8_t hash[SHA256_DIGEST_SIZE])
{
    const int64_t bytes = count < 0 ? -count : count;
    const length l = {count, ~count};
    hash_alone(checkpoint->hash, count, data, hash);
    write_bytes(checkpoint, &l, sizeof l);
    write_bytes(checkpoint, data, bytes);
    write_bytes(checkpoint, hash, SHA256_DIGEST_SIZE);
    checkpoint->end += (int64_t)sizeof l + bytes + SHA256_DIGEST_SIZE;
}

/* Some file systems cannot: then the file grows. */
static void give_back(const tool_checkpoint *checkpoint, int64_t place, int64_t count)
{
    if (count > 0)
        (void)!fallocate(checkpoint->descriptor, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, place, count);
}

void tool_checkpoint_pair(tool_checkpoint *checkpoint, const void *piece, int64_t piece_count, const void *state,
                          int64_t state_count, bool durable)
{
    uint8_t value[SHA256_DIGEST_SIZE];

    if (!checkpoint)
        return;

    write_record(checkpoint, piece_count, piece, value);
    take_in(&checkpoint->hash, &(sp_list){.data = (void *)piece, .count = piece_count}, value);

    const int64_t place = checkpoint->end + (int64_t)sizeof(length), before = checkpoint->old[0],
                  before_count = checkpoint->old_count[0];
    write_record(checkpoint, -state_count, state, value);
    note_state(checkpoint, place, state_count);

    if (!durable)
        return;
    if (fdatasync(checkpoint->descriptor))
        system_failure(checkpoint, "write");

    give_back(checkpoint, before, before_count);
}

void tool_checkpoint_leave(tool_checkpoint *checkpoint)
{
    kept = NULL; /* for the signal handler, before what it shows is gone */
    free(checkpoint->target);
    close(checkpoint->descriptor);
    free(checkpoint);
}

void tool_checkpoint_finish(tool_checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    kept = NULL;
    if (unlink(checkpoint->target))
        system_failure(checkpoint, "remove");
    tool_checkpoint_leave(checkpoint);
}
