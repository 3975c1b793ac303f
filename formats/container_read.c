/* The reader of the container. It reads strictly forward, so that pipes work. */
#include "formats/container_internal.h"
#include "formats/npy.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_BLOCK = 1 << 20, HISTORY = 4096, PADDING = 8, UNBACKED = 64 << 20, INFLATION = 64 };

struct sp_reader {
    sp_context *context;
    int descriptor;
    struct archive *archive;
    bool partial, truncated, ended, hashing;
    bool padded;              /* the padding has been returned */
    bool short_member;        /* the member ended early although the file continues */
    int read_error;           /* errno of a failed read */
    int64_t file_size;        /* −1: not a regular file */
    int64_t members, entries; /* numbers of members that were read completely and of those that were begun */
    int64_t kept;             /* bytes of members that were stored in pools */
    const char *diverted;     /* name of the member whose data is passed to `take`; NULL: none */
    int (*take)(void *data, const sp_array *array, int64_t first, int64_t count, const void *values);
    void *take_data;
    uint64_t listing; /* hash of names and sizes of the members, for comparison with the directory */
    struct sha256_ctx hash;
    /* The last block that was read, preceded by the end of the previous one: a forward reader stops at the directory,
     * whose first bytes are then in this block. */
    int64_t before_block; /* number of bytes of the file before the block */
    int64_t block_length;
    char buffer[HISTORY + READ_BLOCK];
};

static la_ssize_t read_block(struct archive *archive, void *data, const void **block)
{
    sp_reader *reader = data;
    ssize_t count;

    /* The end of the previous block is kept before the new one: the directory may lie in both. */
    if (reader->block_length) {
        memmove(reader->buffer, reader->buffer + reader->block_length, HISTORY);
        reader->before_block += reader->block_length;
        reader->block_length = 0;
    }

    do
        count = read(reader->descriptor, reader->buffer + HISTORY, READ_BLOCK);
    while (count < 0 && errno == EINTR);

    if (count < 0) {
        reader->read_error = errno;
        archive_set_error(archive, errno, "%s", strerror(errno));
        return -1;
    }

    if (count == 0 && !reader->padded) {
        /* libarchive requires 24 bytes before it reads the 16 bytes that end a member. Without padding, the last block
         * of a trajectory would be lost if its writer was killed between two blocks. */
        reader->padded = true;
        memset(reader->buffer + HISTORY, 255, PADDING);
        count = PADDING;
    }

    reader->block_length = count;
    *block = reader->buffer + HISTORY;
    return count;
}

int sp_reader_open(sp_context *context, int descriptor, bool partial, sp_reader **result)
{
    sp_reader *reader = malloc(sizeof *reader);
    SP_PASS(sp_allocated(context, reader));

    memset(reader, 0, offsetof(sp_reader, buffer));
    reader->context = context;
    reader->descriptor = descriptor;
    reader->partial = partial;
    reader->hashing = true;

    struct stat about;
    reader->file_size = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) ? about.st_size : -1;
    sha256_init(&reader->hash);

    reader->archive = archive_read_new();
    if (!reader->archive || archive_read_support_format_zip_streamable(reader->archive) != ARCHIVE_OK ||
        archive_read_open(reader->archive, reader, NULL, read_block, NULL) != ARCHIVE_OK) {
        int status = SP_SYSTEM;
        if (!reader->archive || archive_errno(reader->archive) == ENOMEM)
            sp_fail_memory(context);
        else if (reader->read_error)
            status = sp_fail(context, SP_SYSTEM, "cannot read: %s", strerror(reader->read_error));
        else
            status = sp_fail(context, SP_INPUT, "not a Supple file (not an .npz archive)");
        sp_reader_close(reader);
        return status;
    }
    *result = reader;
    return SP_OK;
}

/* Called when libarchive reports no more members. Reading forward, libarchive also skips anything that it does not
 * recognize as a member, and never compares the directory: a flipped byte in a name or a signature would make a member
 * vanish silently. */
static int check_end(sp_reader *reader, bool *whole)
{
    const void *block;
    sp_list list = {0};
    int64_t kept = reader->before_block < HISTORY ? reader->before_block : HISTORY, first = reader->before_block - kept;
    const char *from = reader->buffer + HISTORY - kept;
    int64_t count = kept + reader->block_length - (reader->padded ? PADDING : 0),
            most = 4 * (int64_t)READ_BLOCK + 1024 * reader->members;
    int status = SP_OK;

    /* The directory is completely in the block. */
    if (first + count == reader->file_size) {
        *whole = sp_zip_directory_agrees(from, count, first, reader->members, reader->listing);
        return SP_OK;
    }

    /* Otherwise the rest of the file is read, unless it is longer than a directory of these members can be. */
    *whole = false;
    reader->padded = true;
    for (;;) {
        char *to = sp_list_add(&list, count, 1);
        SP_TRY(sp_allocated(reader->context, to));
        memcpy(to, from, (size_t)count);
        la_ssize_t more = read_block(reader->archive, reader, &block);
        if (more < 0)
            status = sp_fail(reader->context, SP_SYSTEM, "cannot read: %s", strerror(reader->read_error));
        if (more < 0 || list.count > most)
            goto done;
        if (more == 0)
            break;
        from = block;
        count = more;
    }

    *whole = sp_zip_directory_agrees(list.data, list.count, first, reader->members, reader->listing);
done:
    sp_list_free(&list);
    return status;
}

/* Handles a file that does not continue as it should. */
static int cut(sp_reader *reader, sp_array *array)
{
    array->name[0] = 0;

    if (reader->read_error)
        return sp_fail(reader->context, SP_SYSTEM, "cannot read: %s", strerror(reader->read_error));
    if (archive_errno(reader->archive) == ENOMEM)
        return sp_fail_memory(reader->context);

    reader->ended = true;
    if (reader->partial && reader->members > 0) {
        reader->truncated = true;
        return SP_OK;
    }

    if (reader->entries == 0)
        return sp_fail(reader->context, SP_INPUT, "not a Supple file (not an .npz archive)");
    return sp_fail(reader->context, SP_INPUT, "the file is cut short or damaged after %lld complete members",
                   (long long)reader->members);
}

/* Reads exactly `count` bytes of the member. Returns 1 if there are fewer. */
static int read_exactly(sp_reader *reader, char *to, int64_t count)
{
    while (count > 0) {
        la_ssize_t got = archive_read_data(reader->archive, to, (size_t)count);
        reader->short_member = got == 0;
        if (got <= 0)
            return 1;
        to += got;
        count -= got;
    }
    return 0;
}

_Static_assert((int)SP_RANK_MAX == (int)SP_NPY_RANK, "every array whose preamble can be parsed can be described");

/* Gets the type and shape of a member from its dictionary: SP_OTHER for a structured type, or for more dimensions than
 * any of our members has. `bytes` receives the size of its values (0 for SP_OTHER). Returns false if header and values
 * together exceed 64 bits. */
static bool describe(const char *dictionary, int64_t header_length, sp_array *array, bool *swapped, int64_t *bytes)
{
    sp_npy_header header;
    int64_t total;
    *array = (sp_array){.type = SP_OTHER};
    *swapped = false;
    *bytes = 0;
    if (!sp_npy_parse(dictionary, &header))
        return !header.too_large;

    array->fortran = header.fortran;
    array->rank = header.rank;
    array->count = header.count;
    memcpy(array->shape, header.shape, sizeof array->shape);

    /* the descriptor of the same type in our byte order */
    *swapped = *header.descriptor == '>';
    if (*swapped)
        *header.descriptor = '<';
    for (int type = SP_F8; type <= SP_U1; type++)
        if (!strcmp(header.descriptor, sp_types_of_npy[type].descriptor)) {
            array->type = (enum sp_type)type;
            array->size = sp_types_of_npy[type].size;
        }
    if (!strncmp(header.descriptor, "|S", 2) && header.descriptor[2] >= '1' && header.descriptor[2] <= '9') {
        char *stop;
        long size = strtol(header.descriptor + 2, &stop, 10);
        if (!*stop && size < 4096) {
            array->type = SP_BYTES;
            array->size = (int)size;
        }
    }
    return !__builtin_mul_overflow(array->count, (int64_t)array->size, bytes) &&
           !__builtin_add_overflow(*bytes, header_length, &total);
}

/* Besides the statuses: the file ends early; a member that is none of ours. */
enum { CUT = -1, PASSED = -2 };
enum { SP_PREAMBLE = 65536 + 16 };

/* Checks whether the members in memory may use `capacity` bytes. Stored members have as many bytes as the file.
 * Deflated ones may have up to a thousand times as many, which occurs only in files made for this purpose. */
static int check_inflation(const sp_reader *reader, const char *name, int64_t capacity)
{
    const int64_t passed = reader->before_block + reader->block_length, most = UNBACKED + INFLATION * passed;
    if (capacity <= most && reader->kept <= most - capacity)
        return SP_OK;
    return sp_fail(reader->context, SP_INPUT,
                   "member %s is deflated to less than 1/%d of its size: store it without compression", name,
                   INFLATION);
}

/* Reads the values of a member, `bytes` of them, directly into the pool. If the size cannot be verified (a pipe, a
 * compressed member), memory grows step by step. Reading to the very end makes libarchive check the CRC. */
static int read_data(sp_reader *reader, sp_pool *pool, int64_t bytes, sp_array *array)
{
    const char *name = array->name;

    int64_t capacity = bytes <= reader->file_size || bytes <= UNBACKED ? bytes : UNBACKED, have = 0;
    array->data = sp_pool_raw(pool, capacity, 1);
    SP_PASS(sp_allocated(reader->context, array->data));

    for (;;) {
        if (read_exactly(reader, (char *)array->data + have, capacity - have))
            return CUT;
        have = capacity;
        SP_PASS(check_inflation(reader, name, have));
        if (have == bytes)
            break;

        /* Memory at most doubles beyond what was read, so that a false size in a header costs no more than the file. */
        capacity = bytes / 2 > capacity ? 2 * capacity : bytes;
        void *larger = sp_pool_raw(pool, capacity, 1);
        SP_PASS(sp_allocated(reader->context, larger));
        memcpy(larger, array->data, (size_t)have);
        sp_pool_drop(pool, array->data);
        array->data = larger;
    }

    /* Reading to the very end makes libarchive check the CRC. A byte that is left does not fit the shape. */
    char more;
    la_ssize_t rest = archive_read_data(reader->archive, &more, 1);
    reader->short_member = rest > 0;
    reader->kept += bytes;
    return rest == 0 ? SP_OK : CUT;
}

/* Numbers of the other byte order. */
static void swap_bytes(int64_t count, int size, char *at)
{
    for (int64_t i = 0; i < count; i++, at += size)
        for (int k = 0; k < size / 2; k++) {
            const char byte = at[k];
            at[k] = at[size - 1 - k];
            at[size - 1 - k] = byte;
        }
}

/* read_data, with the values passed on as they are read. */
static int divert_data(sp_reader *reader, bool hashed, bool swapped, const sp_array *array)
{
    sp_pool scratch = {0};
    int64_t most = READ_BLOCK / array->size;
    char *buffer = sp_pool_raw(&scratch, most, (size_t)array->size), more;
    int status = sp_allocated(reader->context, buffer);

    for (int64_t first = 0, count; status == SP_OK && first < array->count; first += count) {
        count = array->count - first < most ? array->count - first : most;
        if (read_exactly(reader, buffer, count * array->size))
            status = CUT;
        else {
            if (hashed)
                sha256_update(&reader->hash, (size_t)(count * array->size), (const uint8_t *)buffer);
            if (swapped)
                swap_bytes(count, array->size, buffer);
            status = reader->take(reader->take_data, array, first, count, buffer);
        }
    }

    /* Reading to the very end makes libarchive check the CRC. */
    if (status == SP_OK) {
        la_ssize_t rest = archive_read_data(reader->archive, &more, 1);
        reader->short_member = rest > 0;
        status = rest == 0 ? SP_OK : CUT;
    }

    sp_pool_free(&scratch);
    return status;
}

/* Skips the rest of a member; its CRC is checked. */
static int skip_member(sp_reader *reader, bool hashed, int64_t *bytes)
{
    char buffer[16384];
    la_ssize_t count;
    *bytes = 0;
    while ((count = archive_read_data(reader->archive, buffer, sizeof buffer)) > 0) {
        if (hashed)
            sha256_update(&reader->hash, (size_t)count, (const uint8_t *)buffer);
        *bytes += count;
    }
    return count == 0 ? SP_OK : CUT;
}

/* Gets the name of a member without ".npy"; false if it cannot be that of an array that is needed. */
static bool member_name(const char *path, char name[SP_MEMBER_NAME])
{
    const size_t length = path ? strlen(path) : 0;
    if (!sp_zip_plain(path, length) || length < 5 || strcmp(path + length - 4, ".npy") || length - 4 >= SP_MEMBER_NAME)
        return false;
    memset(name, 0, SP_MEMBER_NAME);
    memcpy(name, path, length - 4);
    return true;
}

static int wrong_size(sp_reader *reader, const char *name, int64_t needed, int64_t found)
{
    return sp_fail(reader->context, SP_INPUT, "member %s is damaged: its shape needs %lld bytes, but it has %lld", name,
                   (long long)needed, (long long)found);
}

/* Passes over a member of which `count` bytes have been read already. */
static int pass_member(sp_reader *reader, const char *path, int64_t count, const char *read)
{
    const size_t length = path && sp_zip_plain(path, strlen(path)) ? strlen(path) : 0;
    int64_t bytes;
    if (reader->hashing) {
        sha256_update(&reader->hash, length, (const uint8_t *)path);
        sha256_update(&reader->hash, (size_t)count, (const uint8_t *)read);
    }
    const int status = skip_member(reader, reader->hashing, &bytes);
    sp_zip_list(&reader->listing, length ? path : "", length, (uint64_t)(count + bytes));
    return status == SP_OK ? PASSED : status;
}

/* Reads the preamble of an array: magic, version 1.x or 2.x, length and dictionary, which is NUL-terminated. Its length
 * is that of what was read; *known: it is such a preamble, and of no more than SP_PREAMBLE bytes. */
static int read_preamble(sp_reader *reader, char preamble[SP_PREAMBLE + 1], int *begin, int *length, bool *known)
{
    *length = 10;
    *known = false;
    if (read_exactly(reader, preamble, 10))
        return CUT;
    const int version = memcmp(preamble, "\x93NUMPY", 6) ? 0 : preamble[6];
    int64_t more = (unsigned char)preamble[8] + 256 * (int64_t)(unsigned char)preamble[9];
    if (version != 1 && version != 2)
        return SP_OK;

    /* version 2 has two more bytes of the length */
    if (version == 2) {
        if (read_exactly(reader, preamble + 10, 2))
            return CUT;
        *length = 12;
        more += 65536 * ((unsigned char)preamble[10] + 256 * (int64_t)(unsigned char)preamble[11]);
    }
    *begin = *length;

    if (*length + more > SP_PREAMBLE)
        return SP_OK;
    if (read_exactly(reader, preamble + *length, more))
        return CUT;
    *length += (int)more;
    preamble[*length] = 0;
    *known = true;
    return SP_OK;
}

/* Reads one member after its zip header. PASSED: it was none that can be needed. */
static int read_member(sp_reader *reader, struct archive_entry *entry, sp_pool *pool,
                       bool (*wanted)(void *, const char *), void *wanted_data, sp_array *array)
{
    sp_context *context = reader->context;
    const char *path = archive_entry_pathname(entry);
    char name[SP_MEMBER_NAME + 4], header[SP_PREAMBLE + 1];
    int64_t bytes, needed;
    int header_length, begin;
    bool known, swapped;

    if (!member_name(path, name))
        return pass_member(reader, path, 0, "");
    const bool needless = wanted && !wanted(wanted_data, name);
    int status = read_preamble(reader, header, &begin, &header_length, &known);
    if (status != SP_OK)
        return status;
    if (!known && needless)
        return pass_member(reader, path, header_length, header);
    if (!known)
        return sp_fail(context, SP_INPUT, "member %s is not an .npy array of version 1 or 2", name);
    if (!describe(header + begin, header_length, array, &swapped, &needed))
        return sp_fail(context, SP_INPUT, "member %s is damaged: its shape needs more bytes than any file can have",
                       name);

    bool hashed = reader->hashing && strcmp(name, "result");
    if (hashed) {
        sha256_update(&reader->hash, strlen(name) + 1, (const uint8_t *)name);
        sha256_update(&reader->hash, (size_t)header_length, (const uint8_t *)header);
    }
    bool sized = archive_entry_size_is_set(entry) && archive_entry_size(entry) > 0;
    if (array->type != SP_OTHER && sized && archive_entry_size(entry) != header_length + needed)
        return wrong_size(reader, name, needed, archive_entry_size(entry) - header_length);

    const bool diverted = reader->diverted && !strcmp(reader->diverted, name);
    if (array->type == SP_OTHER || needless) {
        status = skip_member(reader, hashed, &bytes);
        if (status == SP_OK && array->type != SP_OTHER && bytes != needed)
            return wrong_size(reader, name, needed, bytes);
    } else {
        bytes = needed;
        memcpy(array->name, name, SP_MEMBER_NAME);
        status = diverted ? divert_data(reader, hashed, swapped, array) : read_data(reader, pool, bytes, array);
        if (status == CUT && reader->short_member && !reader->partial)
            return sp_fail(context, SP_INPUT,
                           "member %s is damaged: wrong checksum, or not the %lld bytes that its shape needs", name,
                           (long long)bytes);
        if (status == SP_OK && hashed && !diverted)
            sha256_update(&reader->hash, (size_t)bytes, array->data);
        if (status == SP_OK && swapped && !diverted)
            swap_bytes(array->count, array->size, array->data);
    }
    if (status != SP_OK)
        return status;
    memcpy(array->name, name, SP_MEMBER_NAME);
    strcat(name, ".npy");
    sp_zip_list(&reader->listing, name, strlen(name), (uint64_t)(header_length + bytes));
    return SP_OK;
}

/* sp_reader_next for one member, which may be PASSED. */
static int next_member(sp_reader *reader, sp_pool *pool, bool (*wanted)(void *, const char *), void *wanted_data,
                       sp_array *array)
{
    *array = (sp_array){0};
    if (reader->ended)
        return SP_OK;

    struct archive_entry *entry;
    int code = archive_read_next_header(reader->archive, &entry);

    if (code == ARCHIVE_EOF) {
        bool whole;
        int status = check_end(reader, &whole);
        if (status != SP_OK)
            return status;
        reader->ended = true;
        return whole ? SP_OK : cut(reader, array);
    }

    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) /* a warning: the name is not valid in this locale */
        return cut(reader, array);

    reader->entries++;
    struct sha256_ctx before = reader->hash;
    int status = read_member(reader, entry, pool, wanted, wanted_data, array);
    if (status == SP_OK || status == PASSED) {
        reader->members++;
        return status;
    }

    /* An incomplete member is not part of the hash. */
    sp_pool_drop(pool, array->data);
    *array = (sp_array){0};
    reader->hash = before;
    return status == CUT ? cut(reader, array) : status;
}

int sp_reader_next(sp_reader *reader, sp_pool *pool, bool (*wanted)(void *, const char *), void *wanted_data,
                   sp_array *array)
{
    int status;
    do
        status = next_member(reader, pool, wanted, wanted_data, array);
    while (status == PASSED);
    return status;
}

void sp_reader_divert(sp_reader *reader, const char *name,
                      int (*take)(void *data, const sp_array *array, int64_t first, int64_t count, const void *values),
                      void *data)
{
    reader->diverted = name;
    reader->take = take;
    reader->take_data = data;
}

bool sp_reader_truncated(const sp_reader *reader)
{
    return reader->truncated;
}

void sp_reader_stop_hashing(sp_reader *reader)
{
    reader->hashing = reader->partial; /* a file without its end cannot state its hash */
}

void sp_reader_hash(sp_reader *reader, char hash[SP_HASH_LENGTH])
{
    sp_hash_text(&reader->hash, hash);
}

void sp_reader_close(sp_reader *reader)
{
    if (!reader)
        return;
    if (reader->archive)
        archive_read_free(reader->archive);
    free(reader);
}
