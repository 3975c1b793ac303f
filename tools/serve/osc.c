#include "tools/serve/osc.h"

#include <string.h>

/* ---- reading ---- */

static uint64_t get(const char *bytes, int size)
{
    uint64_t value = 0;
    for (int i = 0; i < size; i++)
        value = value << 8 | (unsigned char)bytes[i];
    return value;
}

/* Takes a text, which zeros fill up to a multiple of four bytes; NULL: it does not end. */
static const char *get_text(const char **at, const char *end)
{
    const char *text = *at, *zero = memchr(text, 0, (size_t)(end - text));
    const int64_t length = zero ? (zero - text) / 4 * 4 + 4 : 0;
    if (!zero || length > end - text)
        return NULL;
    *at += length;
    return text;
}

static double real_of(uint64_t bits, int size)
{
    if (size == 8) {
        double value;
        memcpy(&value, &bits, sizeof value);
        return value;
    }
    const uint32_t word = (uint32_t)bits;
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static bool get_argument(char type, const char **at, const char *end, osc_argument *argument)
{
    const int size = strchr("ifcrm", type) ? 4 : strchr("hdt", type) ? 8 : 0;
    *argument = (osc_argument){.type = type};

    if (strchr("TFNI", type))
        return true;
    if (type == 's' || type == 'S')
        return (argument->text = get_text(at, end)) != NULL;

    /* A blob: its length, then its bytes, filled up to a multiple of four */
    if (type == 'b') {
        const int64_t left = end - *at, length = left >= 4 ? (int64_t)get(*at, 4) : INT64_MAX / 2;
        if (length > left - 4 || (length + 3) / 4 * 4 > left - 4)
            return false;
        *at += 4 + (length + 3) / 4 * 4;
        return true;
    }

    if (size == 0 || end - *at < size)
        return false;

    const uint64_t bits = get(*at, size);
    if (type == 'i')
        argument->number = (double)(int32_t)(uint32_t)bits;
    else if (type == 'h')
        argument->number = (double)(int64_t)bits;
    else if (type == 'f' || type == 'd')
        argument->number = real_of(bits, size);

    *at += size;
    return true;
}

static bool read_message(const char *at, const char *end, void (*take)(void *, const osc_message *), void *data)
{
    osc_message message = {.address = get_text(&at, end)};
    const char *types = message.address && at < end ? get_text(&at, end) : NULL;

    if (!message.address || !types || *message.address != '/' || *types != ',')
        return false;

    for (types++; *types; types++, message.count++) {
        osc_argument unused;
        const bool kept = message.count < OSC_ARGUMENTS;
        if (!get_argument(*types, &at, end, kept ? &message.argument[message.count] : &unused))
            return false;
    }

    if (at != end)
        return false;

    if (take)
        take(data, &message);
    return true;
}

static bool read_packet(const char *at, const char *end, int depth, void (*take)(void *, const osc_message *),
                        void *data)
{
    if (end - at < 16 || memcmp(at, "#bundle", 8))
        return end > at && read_message(at, end, take, data);

    if (depth == 0)
        return false;

    /* Behind "#bundle" and its time tag come elements, each with its size before it. */
    for (at += 16; at < end;) {
        const int64_t left = end - at, size = left >= 4 ? (int64_t)get(at, 4) : 0;
        if (size < 4 || size % 4 || size > left - 4 || !read_packet(at + 4, at + 4 + size, depth - 1, take, data))
            return false;
        at += 4 + size;
    }

    return true;
}

bool osc_read(const char *bytes, int64_t count, void (*take)(void *data, const osc_message *message), void *data)
{
    if (count % 4 || !read_packet(bytes, bytes + count, OSC_DEPTH, NULL, NULL))
        return false;
    return read_packet(bytes, bytes + count, OSC_DEPTH, take, data);
}

/* ---- writing ---- */

static void put(osc_writer *writer, uint64_t value, int size)
{
    writer->full |= writer->room - writer->count < size;
    if (writer->full)
        return;
    for (int i = size - 1; i >= 0; i--)
        writer->bytes[writer->count++] = (char)(value >> 8 * i);
}

void osc_put_text(osc_writer *writer, const char *text)
{
    const int64_t length = (int64_t)strlen(text), padded = length / 4 * 4 + 4;
    writer->full |= writer->room - writer->count < padded;
    if (writer->full)
        return;
    memset(writer->bytes + writer->count, 0, (size_t)padded);
    memcpy(writer->bytes + writer->count, text, (size_t)length);
    writer->count += padded;
}

void osc_begin_bundle(osc_writer *writer, char *bytes, int64_t room)
{
    *writer = (osc_writer){.bytes = bytes, .room = room};
    osc_put_text(writer, "#bundle");
    put(writer, 1, 8); /* at once */
}

void osc_begin_message(osc_writer *writer, const char *address, const char *first, char type, int count)
{
    const int64_t named = (int64_t)strlen(first), tags = 1 + named + count, padded = tags / 4 * 4 + 4;
    writer->full = false;
    writer->message = writer->count;
    put(writer, 0, 4); /* its size, which osc_end_message knows */
    osc_put_text(writer, address);
    writer->full |= writer->room - writer->count < padded;
    if (writer->full)
        return;

    /* A comma, the tags, and zeros up to a multiple of four */
    char *to = writer->bytes + writer->count;
    memset(to, 0, (size_t)padded);
    to[0] = ',';
    memcpy(to + 1, first, (size_t)named);
    memset(to + 1 + named, type, (size_t)count);
    writer->count += padded;
}

void osc_put_integer(osc_writer *writer, int32_t value)
{
    put(writer, (uint32_t)value, 4);
}

void osc_put_reals(osc_writer *writer, char type, int count, const double *value)
{
    for (int i = 0; i < count; i++)
        if (type == 'f') {
            const float single = (float)value[i];
            uint32_t bits;
            memcpy(&bits, &single, sizeof bits);
            put(writer, bits, 4);
        } else {
            uint64_t bits;
            memcpy(&bits, &value[i], sizeof bits);
            put(writer, bits, 8);
        }
}

bool osc_end_message(osc_writer *writer)
{
    const int64_t end = writer->count;
    if (writer->full) {
        writer->count = writer->message;
        return false;
    }
    writer->count = writer->message;
    put(writer, (uint64_t)(end - writer->message - 4), 4);
    writer->count = end;
    return true;
}
