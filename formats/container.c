#include "formats/container.h"

#include "formats/npy.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <math.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 1980-01-01, the first day that a zip can say: the same bytes on every day. */
enum { FIXED_TIME = 315532800, READ_BLOCK = 1 << 20, HISTORY = 4096, PADDING = 8, UNBACKED = 64 << 20, INFLATION = 64 };

static const struct {
    const char *descriptor;
    int size;
} type_table[] = {
    [SP_F8] = {"<f8", 8}, [SP_F4] = {"<f4", 4}, [SP_I8] = {"<i8", 8}, [SP_I4] = {"<i4", 4}, [SP_U1] = {"|u1", 1}};

static void hash_text(struct sha256_ctx *state, char hash[SP_HASH_LENGTH])
{
    struct sha256_ctx copy = *state;
    unsigned char digest[SHA256_DIGEST_SIZE];
    sha256_digest(&copy, SHA256_DIGEST_SIZE, digest);
    for (int i = 0; i < SHA256_DIGEST_SIZE; i++)
        snprintf(hash + 2 * i, 3, "%02x", digest[i]);
}

void sp_hash_bytes(int64_t count, const void *bytes, char hash[SP_HASH_LENGTH])
{
    struct sha256_ctx state;
    sha256_init(&state);
    sha256_update(&state, (size_t)count, bytes);
    hash_text(&state, hash);
}

/* ---- writing ---- */

struct sp_writer {
    sp_context *context;
    int descriptor;
    bool abandoned; /* what libarchive still writes as it closes goes nowhere */
    struct archive *archive;
    struct sha256_ctx hash;
};

static int archive_failure(sp_context *context, struct archive *archive, const char *doing)
{
    int code = archive_errno(archive);
    const char *text = archive_error_string(archive);
    if (code == ENOMEM)
        return sp_fail_memory(context);
    return sp_fail(context, SP_SYSTEM, "%s: %s", doing,
                   code > 0 && code < 4096 ? strerror(code)
                   : text                  ? text
                                           : "unknown error");
}

static la_ssize_t write_block(struct archive *archive, void *data, const void *bytes, size_t count)
{
    sp_writer *writer = data;
    ssize_t written;
    if (writer->abandoned)
        return (la_ssize_t)count;
    do
        written = write(writer->descriptor, bytes, count);
    while (written < 0 && errno == EINTR);
    if (written < 0)
        archive_set_error(archive, errno, "%s", strerror(errno));
    return written;
}

int sp_writer_open(sp_context *context, int descriptor, sp_writer **result)
{
    sp_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return sp_fail_memory(context);
    writer->context = context;
    writer->descriptor = descriptor;
    sha256_init(&writer->hash);
    writer->archive = archive_write_new();
    if (!writer->archive || archive_write_set_format_zip(writer->archive) != ARCHIVE_OK ||
        archive_write_zip_set_compression_store(writer->archive) != ARCHIVE_OK ||
        archive_write_set_bytes_per_block(writer->archive, 0) != ARCHIVE_OK ||
        archive_write_set_bytes_in_last_block(writer->archive, 1) != ARCHIVE_OK ||
        archive_write_open(writer->archive, writer, NULL, write_block, NULL) != ARCHIVE_OK) {
        int status =
            writer->archive ? archive_failure(context, writer->archive, "cannot write") : sp_fail_memory(context);
        sp_writer_abandon(writer);
        return status;
    }
    *result = writer;
    return SP_OK;
}

static int write_all(sp_writer *writer, const char *bytes, int64_t count)
{
    sha256_update(&writer->hash, (size_t)count, (const uint8_t *)bytes);
    while (count > 0) {
        la_ssize_t written = archive_write_data(writer->archive, bytes, (size_t)count);
        if (written <= 0)
            return archive_failure(writer->context, writer->archive, "cannot write");
        bytes += written;
        count -= written;
    }
    return SP_OK;
}

static int begin_member(sp_writer *writer, const char *name, const char *descriptor, bool fortran, int rank,
                        const int64_t *shape, int64_t bytes)
{
    char header[SP_NPY_BUFFER], path[SP_MEMBER_NAME + 8];
    int header_length = sp_npy_print(header, descriptor, fortran, rank, shape);
    if (bytes > INT64_MAX - header_length)
        return sp_fail_memory(writer->context);
    snprintf(path, sizeof path, "%s.npy", name);
    struct archive_entry *entry = archive_entry_new();
    if (!entry)
        return sp_fail_memory(writer->context);
    archive_entry_set_pathname(entry, path);
    archive_entry_set_size(entry, header_length + bytes);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_mtime(entry, FIXED_TIME, 0);
    int status = SP_OK;
    if (archive_write_header(writer->archive, entry) != ARCHIVE_OK)
        status = archive_failure(writer->context, writer->archive, "cannot write");
    archive_entry_free(entry);
    sha256_update(&writer->hash, strlen(name) + 1, (const uint8_t *)name);
    return status == SP_OK ? write_all(writer, header, header_length) : status;
}

static int end_member(sp_writer *writer)
{
    return archive_write_finish_entry(writer->archive) == ARCHIVE_OK
               ? SP_OK
               : archive_failure(writer->context, writer->archive, "cannot write");
}

static int write_member(sp_writer *writer, const char *name, const char *descriptor, bool fortran, int rank,
                        const int64_t *shape, int64_t bytes, const void *data)
{
    int status = begin_member(writer, name, descriptor, fortran, rank, shape, bytes);
    if (status == SP_OK)
        status = write_all(writer, data, bytes);
    return status == SP_OK ? end_member(writer) : status;
}

/* Bytes of all values; false where 64 bits do not hold them. */
static bool shape_bytes(int size, int rank, const int64_t *shape, int64_t *bytes)
{
    *bytes = size;
    for (int i = 0; i < rank; i++)
        if (shape[i] < 0 || __builtin_mul_overflow(*bytes, shape[i], bytes))
            return false;
    return true;
}

int sp_writer_array(sp_writer *writer, const char *name, enum sp_type type, bool fortran, int rank,
                    const int64_t *shape, const void *data)
{
    int64_t bytes;
    if (!shape_bytes(type_table[type].size, rank, shape, &bytes))
        return sp_fail_memory(writer->context);
    return write_member(writer, name, type_table[type].descriptor, fortran, rank, shape, bytes, data);
}

static int check_finite(sp_context *context, const char *name, int64_t first, int64_t count, const double *values)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return sp_fail(context, SP_NUMERICAL, "%s: value %lld of the result is not finite", name,
                           (long long)(first + i));
    return SP_OK;
}

int sp_writer_numbers(sp_writer *writer, const char *name, bool fortran, int rank, const int64_t *shape,
                      const double *values)
{
    int64_t bytes;
    if (!shape_bytes(8, rank, shape, &bytes))
        return sp_fail_memory(writer->context);
    int status = check_finite(writer->context, name, 0, bytes / 8, values);
    return status == SP_OK ? sp_writer_array(writer, name, SP_F8, fortran, rank, shape, values) : status;
}

int sp_writer_columns(sp_writer *writer, const char *name, int64_t rows, int64_t columns,
                      int (*next)(void *data, int64_t c, const double **column), void *data)
{
    int64_t bytes;
    int status;
    if (!shape_bytes(8, 2, (int64_t[]){rows, columns}, &bytes))
        return sp_fail_memory(writer->context);
    SP_TRY(begin_member(writer, name, type_table[SP_F8].descriptor, true, 2, (int64_t[]){rows, columns}, bytes));
    for (int64_t c = 0; c < columns; c++) {
        const double *column;
        SP_TRY(next(data, c, &column));
        SP_TRY(check_finite(writer->context, name, c * rows, rows, column));
        SP_TRY(write_all(writer, (const char *)column, 8 * rows));
    }
    SP_TRY(end_member(writer));
done:
    return status;
}

int sp_writer_text(sp_writer *writer, const char *name, const char *text)
{
    if (!text) /* what a printer of JSON gives when memory is out */
        return sp_fail_memory(writer->context);
    return sp_writer_array(writer, name, SP_U1, false, 1, (int64_t[]){(int64_t)strlen(text)}, text);
}

int sp_writer_bytes(sp_writer *writer, const char *name, const char *text)
{
    char descriptor[24];
    snprintf(descriptor, sizeof descriptor, "|S%zu", strlen(text));
    return write_member(writer, name, descriptor, false, 0, NULL, (int64_t)strlen(text), text);
}

void sp_writer_hash(sp_writer *writer, char hash[SP_HASH_LENGTH])
{
    hash_text(&writer->hash, hash);
}

int sp_writer_close(sp_writer *writer)
{
    int status = SP_OK;
    if (archive_write_close(writer->archive) != ARCHIVE_OK)
        status = archive_failure(writer->context, writer->archive, "cannot write");
    archive_write_free(writer->archive);
    free(writer);
    return status;
}

void sp_writer_abandon(sp_writer *writer)
{
    if (!writer)
        return;
    writer->abandoned = true;
    if (writer->archive) { /* closed even so: archive_write_fail would leak */
        archive_write_close(writer->archive);
        archive_write_free(writer->archive);
    }
    free(writer);
}

/* ---- reading ---- */

struct sp_reader {
    sp_context *context;
    int descriptor;
    struct archive *archive;
    bool partial, truncated, ended, hashing;
    bool padded;              /* the padding was given */
    bool short_member;        /* the member ended early though the file goes on */
    int read_error;           /* errno of a read that failed */
    int64_t file_size;        /* −1: not a regular file */
    int64_t members, entries; /* passed whole; begun */
    int64_t kept;             /* bytes of members that went into pools */
    const char *diverted;     /* name of the member whose data goes to `take`; NULL: none */
    int (*take)(void *data, const sp_array *array, int64_t first, int64_t count, const void *values);
    void *take_data;
    uint64_t listing; /* of names and sizes of the members, to compare with the directory */
    struct sha256_ctx hash;
    /* The last block that came, with a little of what came before it: a forward reader stops at the directory, whose
     * first bytes are then among these. */
    int64_t before_block; /* bytes of the file that came before the block */
    int64_t block_length;
    char buffer[HISTORY + READ_BLOCK];
};

static la_ssize_t read_block(struct archive *archive, void *data, const void **block)
{
    sp_reader *reader = data;
    ssize_t count;
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
        /* libarchive wants 24 bytes before it looks at the 16 that end a member. Without padding, a trajectory whose
         * producer was killed between two blocks would lose the last of them. */
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
    if (!reader)
        return sp_fail_memory(context);
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
        else if (archive_errno(reader->archive) > 0 && archive_errno(reader->archive) < 4096 &&
                 archive_errno(reader->archive) != EILSEQ)
            status = sp_fail(context, SP_SYSTEM, "cannot read: %s", strerror(archive_errno(reader->archive)));
        else
            status = sp_fail(context, SP_INPUT, "not a Supple file (not an .npz archive)");
        sp_reader_close(reader);
        return status;
    }
    *result = reader;
    return SP_OK;
}

static uint64_t little(const char *bytes, int count)
{
    uint64_t value = 0;
    while (count-- > 0)
        value = value << 8 | (unsigned char)bytes[count];
    return value;
}

/* FNV-1a over name and size of a member. */
static void add_to_listing(uint64_t *listing, const char *name, size_t length, uint64_t size)
{
    for (size_t i = 0; i < length; i++)
        *listing = (*listing ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
    for (int i = 0; i < 9; i++, size >>= 8)
        *listing = (*listing ^ (size & 255)) * UINT64_C(0x100000001b3);
}

/* Uncompressed size of a directory entry: in 32 bits, or in the zip64 field (number 1). */
static uint64_t directory_size(const char *entry, int64_t name, int64_t extra)
{
    uint64_t size = little(entry + 24, 4);
    if (size != UINT32_MAX)
        return size;
    const char *field = entry + 46 + name, *end = field + extra;
    for (; end - field >= 4; field += 4 + little(field + 2, 2)) {
        if (little(field, 2) == 1 && end - field >= 12 && little(field + 2, 2) >= 8)
            return little(field + 4, 8);
        if ((uint64_t)(end - field) < 4 + little(field + 2, 2))
            break;
    }
    return size;
}

/* Whether the bytes that end the archive are its directory and end record, and the directory lists what was read. */
static bool directory_agrees(const sp_reader *reader, const char *bytes, int64_t count, int64_t first)
{
    enum { END = 22, LOCATOR = 20, WIDE_END = 56, ENTRY = 46 };
    const char *end = bytes + count - END;
    if (count < END || memcmp(end, "PK\5\6", 4) || little(end + 20, 2))
        return false;
    uint64_t entries = little(end + 10, 2), offset = little(end + 16, 4);
    if (count >= END + LOCATOR && !memcmp(end - LOCATOR, "PK\6\7", 4)) {
        int64_t wide = (int64_t)little(end - LOCATOR + 8, 8) - first;
        if (wide < 0 || wide > count - END - LOCATOR - WIDE_END || memcmp(bytes + wide, "PK\6\6", 4))
            return false;
        entries = little(bytes + wide + 32, 8);
        offset = little(bytes + wide + 48, 8);
        end = bytes + wide;
    }
    if (entries != (uint64_t)reader->members || offset > INT64_MAX || (int64_t)offset < first ||
        (int64_t)offset - first > end - bytes)
        return false;
    const char *at = bytes + ((int64_t)offset - first);
    uint64_t listing = 0;
    for (uint64_t i = 0; i < entries; i++) {
        if (end - at < ENTRY || memcmp(at, "PK\1\2", 4))
            return false;
        int64_t name = (int64_t)little(at + 28, 2), extra = (int64_t)little(at + 30, 2),
                comment = (int64_t)little(at + 32, 2);
        if (end - at < ENTRY + name + extra + comment)
            return false;
        add_to_listing(&listing, at + ENTRY, (size_t)name, directory_size(at, name, extra));
        at += ENTRY + name + extra + comment;
    }
    return at == end && listing == reader->listing;
}

/* libarchive says that there are no more members. Reading forward, it also passes over what it does not take for a
 * member, and never compares the directory: a flipped byte in a name or a signature would make a member vanish without
 * a word. */
static int check_end(sp_reader *reader, bool *whole)
{
    const void *block;
    sp_list list = {0};
    int64_t kept = reader->before_block < HISTORY ? reader->before_block : HISTORY, first = reader->before_block - kept;
    const char *from = reader->buffer + HISTORY - kept;
    int64_t count = kept + reader->block_length - (reader->padded ? PADDING : 0),
            most = 4 * (int64_t)READ_BLOCK + 1024 * reader->members;
    int status = SP_OK;
    if (first + count == reader->file_size) { /* all of it is here */
        *whole = directory_agrees(reader, from, count, first);
        return SP_OK;
    }
    *whole = false;
    reader->padded = true;
    for (;;) {
        char *to = sp_list_add(&list, count, 1);
        if (!to) {
            status = sp_fail_memory(reader->context);
            goto done;
        }
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
    *whole = directory_agrees(reader, list.data, list.count, first);
done:
    sp_list_free(&list);
    return status;
}

/* The file does not go on as it should. */
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
    return sp_fail(reader->context, SP_INPUT, "the file is cut short or damaged after %lld whole members",
                   (long long)reader->members);
}

/* Takes exactly `count` bytes of the member. 1: fewer were there. */
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

/* Type and shape of a member from its dictionary; SP_OTHER for a structured type, or more dimensions than any member of
 * ours has. `bytes` is what its values need (0 for SP_OTHER). Returns false where header and values together exceed 64
 * bits. */
static bool describe(const char *dictionary, int64_t header_length, sp_array *array, int64_t *bytes)
{
    sp_npy_header header;
    int64_t total;
    *array = (sp_array){.type = SP_OTHER};
    *bytes = 0;
    if (!sp_npy_parse(dictionary, &header))
        return !header.too_large;
    array->fortran = header.fortran;
    array->rank = header.rank;
    array->count = header.count;
    memcpy(array->shape, header.shape, sizeof array->shape);
    for (int type = SP_F8; type <= SP_U1; type++)
        if (!strcmp(header.descriptor, type_table[type].descriptor)) {
            array->type = (enum sp_type)type;
            array->size = type_table[type].size;
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

enum { CUT = -1 };

/* Whether the members that are kept may take `room` bytes more. Stored members take as many bytes as the file has;
 * deflated ones up to a thousand times as many, which only a file made for that purpose needs. */
static int check_inflation(const sp_reader *reader, const char *name, int64_t room)
{
    const int64_t passed = reader->before_block + reader->block_length, most = UNBACKED + INFLATION * passed;
    if (room <= most && reader->kept <= most - room)
        return SP_OK;
    return sp_fail(reader->context, SP_INPUT,
                   "member %s is deflated to less than 1/%d of its size: store it without compression", name,
                   INFLATION);
}

/* The values of a member, straight into the pool, `bytes` of them. A claim that nothing backs (a pipe, a compressed
 * member) is believed step by step. Reading to the very end makes libarchive check the CRC. */
static int read_data(sp_reader *reader, sp_pool *pool, int64_t bytes, sp_array *array)
{
    const char *name = array->name;
    int status;
    int64_t room = bytes <= reader->file_size || bytes <= UNBACKED ? bytes : UNBACKED, have = 0;
    array->data = sp_pool_raw(pool, room, 1);
    if (!array->data)
        return sp_fail_memory(reader->context);
    for (;;) {
        if (read_exactly(reader, (char *)array->data + have, room - have))
            return CUT;
        have = room;
        SP_TRY(check_inflation(reader, name, have));
        if (have == bytes)
            break;
        room = bytes / 2 > room ? 2 * room : bytes;
        void *wider = sp_pool_raw(pool, room, 1);
        if (!wider)
            return sp_fail_memory(reader->context);
        memcpy(wider, array->data, (size_t)have);
        sp_pool_drop(pool, array->data);
        array->data = wider;
    }
    char more;
    la_ssize_t rest = archive_read_data(reader->archive, &more, 1);
    reader->short_member = rest > 0; /* or too long: its bytes are not those of its shape */
    reader->kept += bytes;
    status = rest == 0 ? SP_OK : CUT;
done:
    return status;
}

/* The same where the values go on as they come. */
static int divert_data(sp_reader *reader, bool hashed, const sp_array *array)
{
    sp_pool scratch = {0};
    int64_t most = READ_BLOCK / array->size;
    char *buffer = sp_pool_raw(&scratch, most, (size_t)array->size), more;
    int status = buffer ? SP_OK : sp_fail_memory(reader->context);
    for (int64_t first = 0, count; status == SP_OK && first < array->count; first += count) {
        count = array->count - first < most ? array->count - first : most;
        if (read_exactly(reader, buffer, count * array->size))
            status = CUT;
        else {
            if (hashed)
                sha256_update(&reader->hash, (size_t)(count * array->size), (const uint8_t *)buffer);
            status = reader->take(reader->take_data, array, first, count, buffer);
        }
    }
    if (status == SP_OK) { /* reading to the very end makes libarchive check the CRC */
        la_ssize_t rest = archive_read_data(reader->archive, &more, 1);
        reader->short_member = rest > 0;
        status = rest == 0 ? SP_OK : CUT;
    }
    sp_pool_free(&scratch);
    return status;
}

/* Passes over the rest of a member, with its CRC checked. */
static int pass_over(sp_reader *reader, bool hashed, int64_t *bytes)
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

/* The name of a member without ".npy", which must be plain text. */
static int member_name(sp_context *context, const char *path, char name[SP_MEMBER_NAME])
{
    size_t length = path ? strlen(path) : 0;
    for (size_t i = 0; i < length; i++)
        if (path[i] <= ' ' || path[i] > '~')
            length = 0;
    if (length == 0)
        return sp_fail(context, SP_INPUT, "a member's name is not printable ASCII");
    if (length < 5 || strcmp(path + length - 4, ".npy") || length - 4 >= SP_MEMBER_NAME)
        return sp_fail(context, SP_INPUT, "member %.120s is not an .npy array", path);
    memset(name, 0, SP_MEMBER_NAME);
    memcpy(name, path, length - 4);
    return SP_OK;
}

static int wrong_size(sp_reader *reader, const char *name, int64_t needed, int64_t found)
{
    return sp_fail(reader->context, SP_INPUT, "member %s is damaged: its shape needs %lld bytes, but it has %lld", name,
                   (long long)needed, (long long)found);
}

/* One member behind its zip header. */
static int read_member(sp_reader *reader, struct archive_entry *entry, sp_pool *pool,
                       bool (*wanted)(void *, const char *), void *wanted_data, sp_array *array)
{
    sp_context *context = reader->context;
    char name[SP_MEMBER_NAME + 4], header[65536 + 16];
    int64_t bytes, needed;
    int status = member_name(context, archive_entry_pathname(entry), name);
    if (status != SP_OK)
        return status;
    if (read_exactly(reader, header, 10))
        return CUT;
    if (memcmp(header, "\x93NUMPY\x01", 7))
        return sp_fail(context, SP_INPUT, "member %s is not an .npy array of version 1", name);
    int header_length = 10 + (unsigned char)header[8] + 256 * (unsigned char)header[9];
    if (read_exactly(reader, header + 10, header_length - 10))
        return CUT;
    header[header_length] = 0;
    if (!describe(header + 10, header_length, array, &needed))
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
    if (array->type == SP_OTHER || (wanted && !wanted(wanted_data, name))) {
        status = pass_over(reader, hashed, &bytes);
        if (status == SP_OK && array->type != SP_OTHER && bytes != needed)
            return wrong_size(reader, name, needed, bytes);
    } else {
        bytes = needed;
        bool diverted = reader->diverted && !strcmp(reader->diverted, name);
        memcpy(array->name, name, SP_MEMBER_NAME);
        status = diverted ? divert_data(reader, hashed, array) : read_data(reader, pool, bytes, array);
        if (status == CUT && reader->short_member && !reader->partial)
            return sp_fail(context, SP_INPUT,
                           "member %s is damaged: wrong checksum, or not the %lld bytes that its shape needs", name,
                           (long long)bytes);
        if (status == SP_OK && hashed && !diverted)
            sha256_update(&reader->hash, (size_t)bytes, array->data);
    }
    if (status != SP_OK)
        return status;
    memcpy(array->name, name, SP_MEMBER_NAME);
    strcat(name, ".npy");
    add_to_listing(&reader->listing, name, strlen(name), (uint64_t)(header_length + bytes));
    return SP_OK;
}

int sp_reader_next(sp_reader *reader, sp_pool *pool, bool (*wanted)(void *, const char *), void *wanted_data,
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
    if (code != ARCHIVE_OK && code != ARCHIVE_WARN) /* a warning: the name is not of this locale */
        return cut(reader, array);
    reader->entries++;
    struct sha256_ctx before = reader->hash;
    int status = read_member(reader, entry, pool, wanted, wanted_data, array);
    if (status == SP_OK) {
        reader->members++;
        return SP_OK;
    }
    sp_pool_drop(pool, array->data);
    *array = (sp_array){0};
    reader->hash = before; /* what is not whole is no part of it */
    return status == CUT ? cut(reader, array) : status;
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
    hash_text(&reader->hash, hash);
}

void sp_reader_close(sp_reader *reader)
{
    if (!reader)
        return;
    if (reader->archive)
        archive_read_free(reader->archive);
    free(reader);
}

/* ---- all members ---- */

void sp_members_free(sp_members *members)
{
    sp_pool_free(&members->pool);
    *members = (sp_members){0};
}

sp_array *sp_members_find(const sp_members *members, const char *name)
{
    for (int64_t i = 0; i < members->count; i++)
        if (!strcmp(members->arrays[i].name, name))
            return &members->arrays[i];
    return NULL;
}

static const char *const type_words[] = {"f8", "f4", "i8", "i4", "u1", "S", "another type"};

static int widen(sp_context *context, sp_members *members, sp_array *array)
{
    int64_t *wide = sp_pool_raw(&members->pool, array->count, 8);
    if (!wide)
        return sp_fail_memory(context);
    for (int64_t i = 0; i < array->count; i++) {
        if (array->type == SP_I4)
            wide[i] = ((const int32_t *)array->data)[i];
        else
            ((double *)wide)[i] = ((const float *)array->data)[i];
    }
    sp_pool_drop(&members->pool, array->data);
    array->data = wide;
    array->type = array->type == SP_I4 ? SP_I8 : SP_F8;
    array->size = 8;
    return SP_OK;
}

/* From one storage order to the other, any rank: the first index runs against the rest (in its order), square by square
 * so that both sides stay in cache. Moving one index to the other end of the order, rank − 1 times, reverses it. */
static void turn(char *to, const char *from, int64_t rows, int64_t columns, int size)
{
    enum { SIDE = 32 };
    for (int64_t i0 = 0; i0 < rows; i0 += SIDE)
        for (int64_t j0 = 0; j0 < columns; j0 += SIDE) {
            int64_t i1 = i0 + SIDE < rows ? i0 + SIDE : rows, j1 = j0 + SIDE < columns ? j0 + SIDE : columns;
            for (int64_t i = i0; i < i1; i++)
                for (int64_t j = j0; j < j1; j++)
                    if (size == 8)
                        memcpy(to + 8 * (j * rows + i), from + 8 * (i * columns + j), 8);
                    else
                        memcpy(to + size * (j * rows + i), from + size * (i * columns + j), (size_t)size);
        }
}

static int reorder(sp_context *context, sp_members *members, sp_array *array)
{
    int64_t slab = array->count; /* values of the array that is still to be turned */
    for (int axis = 0; axis + 1 < array->rank && array->count; axis++) {
        char *turned = sp_pool_raw(&members->pool, array->count, (size_t)array->size);
        if (!turned)
            return sp_fail_memory(context);
        /* C order (a, b, c) is turned to (c, a, b), then the (a, b) behind each c; Fortran order is C order of the
         * reverse. */
        int64_t last = array->shape[array->fortran ? axis : array->rank - 1 - axis], rest = slab / last;
        for (int64_t done = 0; done < array->count; done += slab)
            turn(turned + done * array->size, (char *)array->data + done * array->size, rest, last, array->size);
        sp_pool_drop(&members->pool, array->data);
        array->data = turned;
        slab = rest;
    }
    array->fortran = !array->fortran;
    return SP_OK;
}

int sp_array_check(sp_context *context, const sp_array *array, enum sp_type type, int rank, const int64_t *shape)
{
    const char *name = array->name;
    if (array->type != type && !(type == SP_I8 && array->type == SP_I4) && !(type == SP_F8 && array->type == SP_F4))
        return sp_fail(context, SP_INPUT, "%s: its values are %s, expected %s", name, type_words[array->type],
                       type_words[type]);
    if (array->rank != rank)
        return sp_fail(context, SP_INPUT, "%s: it has %d dimensions, expected %d", name, array->rank, rank);
    for (int i = 0; i < rank; i++)
        if (shape && shape[i] >= 0 && array->shape[i] != shape[i])
            return sp_fail(context, SP_INPUT, "%s: dimension %d is %lld, expected %lld", name, i,
                           (long long)array->shape[i], (long long)shape[i]);
    return SP_OK;
}

int sp_members_take(sp_context *context, sp_members *members, const char *name, enum sp_type type, bool fortran,
                    int rank, const int64_t *shape, sp_array **result)
{
    sp_array *array = sp_members_find(members, name);
    if (!array || (array->type != SP_OTHER && !array->data)) /* passed over: not a member of this kind */
        return sp_fail(context, SP_INPUT, "member %s is missing", name);
    int status = sp_array_check(context, array, type, rank, shape);
    if (status != SP_OK)
        return status;
    if (array->type != type) {
        status = widen(context, members, array);
        if (status != SP_OK)
            return status;
    }
    if (rank >= 2 && array->fortran != fortran) {
        status = reorder(context, members, array);
        if (status != SP_OK)
            return status;
    }
    if (type == SP_F8) {
        const double *values = array->data;
        double sum = 0; /* infinite or NaN as soon as one value is: one pass that vectorizes, then the exact place */
        for (int64_t i = 0; i < array->count; i++)
            sum += values[i] - values[i];
        for (int64_t i = 0; sum != 0 && i < array->count; i++)
            if (!isfinite(values[i]))
                return sp_fail(context, SP_INPUT, "%s: value %lld is not finite", name, (long long)i);
    }
    *result = array;
    return SP_OK;
}

int sp_check_symmetric(sp_context *context, const char *what, int64_t order, const double *a)
{
    enum { SIDE = 32 };
    const double tolerance = 1e-9;
    double largest = 0;
    for (int64_t i = 0; i < order * order; i++)
        largest = fabs(a[i]) > largest ? fabs(a[i]) : largest;
    for (int64_t i0 = 0; i0 < order; i0 += SIDE) /* square by square: the matrix may be far larger than the cache */
        for (int64_t j0 = 0; j0 <= i0; j0 += SIDE)
            for (int64_t i = i0; i < i0 + SIDE && i < order; i++)
                for (int64_t j = j0; j < j0 + SIDE && j < i; j++)
                    if (!(fabs(a[i * order + j] - a[j * order + i]) <= tolerance * largest))
                        return sp_fail(context, SP_INPUT,
                                       "%s: it is not symmetric: entries (%lld, %lld) are %.17g and %.17g", what,
                                       (long long)i, (long long)j, a[j * order + i], a[i * order + j]);
    return SP_OK;
}

int sp_members_take_symmetric(sp_context *context, sp_members *members, const char *name, int64_t order,
                              double **matrix)
{
    sp_array *array = sp_members_find(members, name);
    int status;
    if (array)
        array->fortran = true; /* the same bytes in either storage order */
    SP_TRY(sp_members_take(context, members, name, SP_F8, true, 2, (int64_t[]){order, order}, &array));
    *matrix = array->data;
    status = sp_check_symmetric(context, name, order, *matrix);
done:
    return status;
}
