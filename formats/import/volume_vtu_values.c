/* Binary values of .vtu files. Uncompressed: their length in bytes, then the values. Compressed: the number of blocks,
 * the uncompressed size of a block, that of the last one (0: the same), and the compressed size of each block, then the
 * blocks, each a zlib stream. In base64 the header is encoded separately or together with the data. */
#include "formats/import/volume_vtk_internal.h"

#include <string.h>
#include <zlib.h>

static int base64_digit(char byte)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = byte ? strchr(digits, byte) : NULL;
    return found ? (int)(found - digits) : -1;
}

/* Decodes the first `need` bytes of the data at `at`. Any group of four characters may end with padding, since the
 * header is often encoded separately. Returns false if there are fewer bytes. */
static bool decode_base64(const char *at, const char *end, int64_t need, char *out)
{
    int64_t got = 0;

    while (got < need && end - at >= 4) {
        int digit[4], bytes = 3;
        for (int i = 0; i < 4; i++)
            digit[i] = base64_digit(at[i]);

        if (at[3] == '=') {
            digit[3] = 0;
            bytes = 2;
            if (at[2] == '=') {
                digit[2] = 0;
                bytes = 1;
            }
        }

        if (digit[0] < 0 || digit[1] < 0 || digit[2] < 0 || digit[3] < 0)
            return false;

        uint32_t bits =
            (uint32_t)digit[0] << 18 | (uint32_t)digit[1] << 12 | (uint32_t)digit[2] << 6 | (uint32_t)digit[3];
        for (int i = 0; i < bytes && got < need; i++)
            out[got++] = (char)(bits >> (16 - 8 * i) & 255);
        at += 4;
    }
    return got == need;
}

/* Gets the first `need` bytes of the stream. */
static int first_bytes(struct sp_volume_reader *reader, const struct sp_volume_vtu_stream *stream, const char *name,
                       int64_t need, const char **bytes)
{
    int64_t left = stream->end - stream->at;
    if (need > left)
        return sp_volume_fail_here(reader,
                                   "the array %s has a header and values of %lld bytes, but only %lld bytes follow",
                                   name, (long long)need, (long long)left);
    *bytes = stream->at;
    if (!stream->base64)
        return SP_OK;
    char *decoded = sp_pool_raw(&reader->pool, need, 1);
    SP_PASS(sp_allocated(reader->context, decoded));
    *bytes = decoded;
    return decode_base64(stream->at, stream->end, need, decoded)
               ? SP_OK
               : sp_volume_fail_here(reader, "the base64 of the array %s is damaged or ends early", name);
}

/* Integer i of the header, −1 if it is 2⁶³ or more. */
static int64_t header_word(const struct sp_volume_vtu_stream *stream, const char *header, int64_t i)
{
    const struct sp_volume_vtk_type type = {.bytes = stream->header_bytes, .kind = 'u'};
    int64_t value;
    return sp_volume_vtk_integer(header + i * type.bytes, &type, stream->big_endian, &value) ? value : -1;
}

static int fail_length(struct sp_volume_reader *reader, const char *name, int64_t length, int64_t count, int size)
{
    return sp_volume_fail_here(reader, "the array %s has %lld bytes instead of %lld values of %d", name,
                               (long long)length, (long long)count, size);
}

static int plain_values(struct sp_volume_reader *reader, const struct sp_volume_vtu_stream *stream, const char *name,
                        int64_t count, int size, const char **values)
{
    int64_t due, length, left = stream->end - stream->at - stream->header_bytes;
    const char *bytes;
    SP_PASS(first_bytes(reader, stream, name, stream->header_bytes, &bytes));
    length = header_word(stream, bytes, 0);
    if (__builtin_mul_overflow(count, (int64_t)size, &due) || length != due)
        return fail_length(reader, name, length, count, size);
    if (length > left)
        return sp_volume_fail_here(reader, "the array %s announces %lld bytes, but only %lld follow", name,
                                   (long long)length, (long long)left);
    SP_PASS(first_bytes(reader, stream, name, stream->header_bytes + length, &bytes));
    *values = bytes + stream->header_bytes;
    return SP_OK;
}

/* The header of compressed values. */
struct blocks {
    int64_t count, size, last; /* uncompressed size of all blocks but the last one */
    int64_t header;            /* bytes */
    const char *words;
};

static int64_t inflated_size(const struct blocks *blocks, int64_t i)
{
    return i == blocks->count - 1 && blocks->last > 0 ? blocks->last : blocks->size;
}

/* Reads the integers at the start, which determine the total number of uncompressed bytes. */
static int read_blocks(struct sp_volume_reader *reader, const struct sp_volume_vtu_stream *stream, const char *name,
                       int64_t *length, struct blocks *blocks)
{
    int64_t most = (stream->end - stream->at) / stream->header_bytes;
    SP_PASS(first_bytes(reader, stream, name, 3 * stream->header_bytes, &blocks->words));
    blocks->count = header_word(stream, blocks->words, 0);
    blocks->size = header_word(stream, blocks->words, 1);
    blocks->last = header_word(stream, blocks->words, 2);
    if (blocks->count < 0 || blocks->count > most - 3 || blocks->size < 0 || blocks->last < 0 ||
        blocks->last > blocks->size || __builtin_mul_overflow(blocks->count, blocks->size, length))
        return sp_volume_fail_here(
            reader,
            "the array %s announces %lld compressed blocks of %lld bytes, which cannot be in the "
            "%lld bytes that follow",
            name, (long long)blocks->count, (long long)blocks->size, (long long)(stream->end - stream->at));
    if (blocks->count > 0)
        *length += inflated_size(blocks, blocks->count - 1) - blocks->size;
    blocks->header = (3 + blocks->count) * stream->header_bytes;
    return first_bytes(reader, stream, name, blocks->header, &blocks->words);
}

/* Checks the total compressed size of all blocks. A block is never inflated to more than 1032 times its size, so that
 * the size of the file bounds the memory that is allocated. */
static int check_blocks(struct sp_volume_reader *reader, const struct sp_volume_vtu_stream *stream, const char *name,
                        const struct blocks *blocks, int64_t *total)
{
    enum { MOST_INFLATION = 1032 };
    int64_t left = stream->end - stream->at - blocks->header;
    *total = 0;
    for (int64_t i = 0; i < blocks->count; i++) {
        int64_t size = header_word(stream, blocks->words, 3 + i);
        if (size < 0 || size > left - *total || inflated_size(blocks, i) / MOST_INFLATION > size)
            return sp_volume_fail_here(
                reader,
                "the array %s: block %lld of %lld bytes is announced with %lld compressed bytes, where %lld are left",
                name, (long long)i, (long long)inflated_size(blocks, i), (long long)size, (long long)(left - *total));
        *total += size;
    }
    return SP_OK;
}

static int inflate_blocks(struct sp_volume_reader *reader, const struct sp_volume_vtu_stream *stream, const char *name,
                          const struct blocks *blocks, const char *from, char *to)
{
    for (int64_t i = 0; i < blocks->count; i++) {
        int64_t size = header_word(stream, blocks->words, 3 + i);
        uLongf length = (uLongf)inflated_size(blocks, i);
        int result = uncompress((Bytef *)to, &length, (const Bytef *)from, (uLong)size);
        if (result == Z_MEM_ERROR)
            return sp_fail_memory(reader->context);
        if (result != Z_OK || (int64_t)length != inflated_size(blocks, i))
            return sp_volume_fail_here(reader,
                                       "the array %s: compressed block %lld is damaged or does not hold %lld bytes",
                                       name, (long long)i, (long long)inflated_size(blocks, i));
        from += size;
        to += length;
    }
    return SP_OK;
}

static int compressed_values(struct sp_volume_reader *reader, const struct sp_volume_vtu_stream *stream,
                             const char *name, int64_t count, int size, const char **values)
{
    struct blocks blocks;
    int64_t due, length = 0, total;
    const char *bytes;
    SP_PASS(read_blocks(reader, stream, name, &length, &blocks));
    if (__builtin_mul_overflow(count, (int64_t)size, &due) || length != due)
        return fail_length(reader, name, length, count, size);
    SP_PASS(check_blocks(reader, stream, name, &blocks, &total));
    SP_PASS(first_bytes(reader, stream, name, blocks.header + total, &bytes));
    char *inflated = sp_pool_raw(&reader->pool, length, 1);
    SP_PASS(sp_allocated(reader->context, inflated));
    *values = inflated;
    return inflate_blocks(reader, stream, name, &blocks, bytes + blocks.header, inflated);
}

int sp_volume_vtu_values(struct sp_volume_reader *reader, const struct sp_volume_vtu_stream *stream, const char *name,
                         int64_t count, int size, const char **values)
{
    return (stream->compressed ? compressed_values : plain_values)(reader, stream, name, count, size, values);
}
