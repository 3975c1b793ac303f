/* The writer of the container: an .npz in one forward pass. */
#include "formats/container_internal.h"
#include "formats/npy.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIXED_TIME = 315532800
}; /* 1980-01-01, the earliest date of a zip, so that the bytes do not depend on the date */

struct sp_writer {
    sp_context *context;
    int descriptor;
    bool abandoned; /* output that libarchive still writes when it closes is discarded */
    struct archive *archive;
    struct sha256_ctx hash;
    uint32_t size; /* of the member whose local header comes next, of less than 4 GiB; 0: none */
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

/* libarchive 3.8 leaves the sizes out of a local header, since the checksum stands behind the data, and earlier ones do
 * not. Those who read from a pipe need them: stored data have no end of their own. */
enum { LOCAL_HEADER = 30, SIZES = 18 };
static bool lacks_sizes(const sp_writer *writer, const unsigned char *bytes, size_t count)
{
    static const unsigned char none[8] = {0};
    return writer->size > 0 && count == LOCAL_HEADER && !memcmp(bytes, "PK\3\4", 4) &&
           !memcmp(bytes + SIZES, none, sizeof none);
}

static void put_sizes(uint32_t size, unsigned char *header)
{
    for (int i = 0; i < 4; i++)
        header[SIZES + i] = header[SIZES + 4 + i] = (unsigned char)(size >> 8 * i);
}

static la_ssize_t write_block(struct archive *archive, void *data, const void *bytes, size_t count)
{
    sp_writer *writer = data;
    unsigned char header[LOCAL_HEADER];
    if (writer->abandoned)
        return (la_ssize_t)count;

    if (lacks_sizes(writer, bytes, count)) {
        memcpy(header, bytes, LOCAL_HEADER);
        put_sizes(writer->size, header);
        bytes = header;
    }
    writer->size = 0;

    for (size_t done = 0; done < count;) {
        const ssize_t written = write(writer->descriptor, (const char *)bytes + done, count - done);
        if (written < 0 && errno != EINTR) {
            archive_set_error(archive, errno, "%s", strerror(errno));
            return -1;
        }
        done += written > 0 ? (size_t)written : 0;
    }
    return (la_ssize_t)count;
}

int sp_writer_open(sp_context *context, int descriptor, sp_writer **result)
{
    sp_writer *writer = calloc(1, sizeof *writer);
    SP_PASS(sp_allocated(context, writer));

    writer->context = context;
    writer->descriptor = descriptor;
    sha256_init(&writer->hash);

    /* Stored without compression and without padding at the end. */
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

static int begin_file(sp_writer *writer, const char *path, int64_t bytes)
{
    struct archive_entry *entry = archive_entry_new();
    SP_PASS(sp_allocated(writer->context, entry));
    archive_entry_set_pathname(entry, path);
    archive_entry_set_size(entry, bytes);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_mtime(entry, FIXED_TIME, 0);
    int status = SP_OK;
    writer->size = bytes < UINT32_MAX ? (uint32_t)bytes : 0;
    if (archive_write_header(writer->archive, entry) != ARCHIVE_OK)
        status = archive_failure(writer->context, writer->archive, "cannot write");
    archive_entry_free(entry);
    return status;
}

static int begin_member(sp_writer *writer, const char *name, const char *descriptor, bool fortran, int rank,
                        const int64_t *shape, int64_t bytes)
{
    char header[SP_NPY_BUFFER], path[SP_MEMBER_NAME + 8];
    int header_length = sp_npy_print(header, descriptor, fortran, rank, shape);
    if (bytes > INT64_MAX - header_length)
        return sp_fail_memory(writer->context);
    snprintf(path, sizeof path, "%s.npy", name);
    int status = begin_file(writer, path, header_length + bytes);
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

/* Computes the number of bytes of all values; returns false if it exceeds 64 bits. */
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
    SP_PASS(sp_allocated(writer->context, shape_bytes(sp_types_of_npy[type].size, rank, shape, &bytes)));
    return write_member(writer, name, sp_types_of_npy[type].descriptor, fortran, rank, shape, bytes, data);
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
    SP_PASS(sp_allocated(writer->context, shape_bytes(8, rank, shape, &bytes)));
    int status = check_finite(writer->context, name, 0, bytes / 8, values);
    return status == SP_OK ? sp_writer_array(writer, name, SP_F8, fortran, rank, shape, values) : status;
}

int sp_writer_columns(sp_writer *writer, const char *name, int64_t rows, int64_t columns,
                      int (*next)(void *data, int64_t c, const double **column), void *data)
{
    int64_t bytes;

    if (!shape_bytes(8, 2, (int64_t[]){rows, columns}, &bytes))
        return sp_fail_memory(writer->context);
    SP_PASS(begin_member(writer, name, sp_types_of_npy[SP_F8].descriptor, true, 2, (int64_t[]){rows, columns}, bytes));

    for (int64_t c = 0; c < columns; c++) {
        const double *column;
        SP_PASS(next(data, c, &column));
        SP_PASS(check_finite(writer->context, name, c * rows, rows, column));
        SP_PASS(write_all(writer, (const char *)column, 8 * rows));
    }

    return end_member(writer);
}

int sp_writer_text(sp_writer *writer, const char *name, const char *text)
{
    if (!text) /* the result of a JSON printer that was out of memory */
        return sp_fail_memory(writer->context);
    return sp_writer_array(writer, name, SP_U1, false, 1, (int64_t[]){(int64_t)strlen(text)}, text);
}

int sp_writer_bytes(sp_writer *writer, const char *name, const char *text)
{
    char descriptor[24];
    snprintf(descriptor, sizeof descriptor, "|S%zu", strlen(text));
    return write_member(writer, name, descriptor, false, 0, NULL, (int64_t)strlen(text), text);
}

int sp_writer_file(sp_writer *writer, const char *path, int64_t bytes, const void *data)
{
    int status = begin_file(writer, path, bytes);
    if (status == SP_OK)
        status = write_all(writer, data, bytes);
    return status == SP_OK ? end_member(writer) : status;
}

void sp_writer_hash(sp_writer *writer, char hash[SP_HASH_LENGTH])
{
    sp_hash_text(&writer->hash, hash);
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
    if (writer->archive) { /* closed also after a failure: archive_write_fail would leak */
        archive_write_close(writer->archive);
        archive_write_free(writer->archive);
    }
    free(writer);
}
