#include "formats/export/stream.h"

#include "formats/plain.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void sp_stream_begin(sp_stream *stream, int descriptor)
{
    stream->descriptor = descriptor;
    stream->error = 0;
    stream->not_finite = false;
    stream->total = 0;
    stream->count = 0;
}

static void write_all(sp_stream *stream, const char *bytes, size_t count)
{
    while (count > 0 && !stream->error && stream->descriptor >= 0) {
        ssize_t written = write(stream->descriptor, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0) {
            stream->error = errno;
            return;
        }
        bytes += written;
        count -= (size_t)written;
    }
}

void sp_stream_bytes(sp_stream *stream, const void *bytes, size_t count)
{
    stream->total += (int64_t)count;
    if (count > sizeof stream->buffer - stream->count) {
        write_all(stream, stream->buffer, stream->count);
        stream->count = 0;
    }
    if (count > sizeof stream->buffer)
        write_all(stream, bytes, count);
    else if (count > 0) {
        memcpy(stream->buffer + stream->count, bytes, count);
        stream->count += count;
    }
}

void sp_stream_print(sp_stream *stream, const char *format, ...)
{
    char text[1001];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= (int)sizeof text)
        stream->error = stream->error ? stream->error : EMSGSIZE;
    else
        sp_stream_bytes(stream, text, (size_t)length);
}

void sp_stream_xml(sp_stream *stream, const char *text)
{
    for (; *text; text++) {
        static const char special[] = "&<>\"'\n\r\t";
        static const char *const entity[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#10;", "&#13;", "&#9;"};
        const char *found = strchr(special, *text);
        if (found)
            sp_stream_bytes(stream, entity[found - special], strlen(entity[found - special]));
        else
            sp_stream_bytes(stream, text, 1);
    }
}

void sp_stream_quoted(sp_stream *stream, const char *text)
{
    bool plain;
    sp_stream_bytes(stream, "\"", 1);
    for (int length; *text; text += length) {
        length = sp_plain_next(text, &plain);
        if (*text == '"' || *text == '\\')
            sp_stream_bytes(stream, "\\", 1);
        if (plain)
            sp_stream_bytes(stream, text, (size_t)length);
        else
            sp_stream_bytes(stream, "\xef\xbf\xbd", 3);
    }
    sp_stream_bytes(stream, "\"", 1);
}

double sp_stream_finite(sp_stream *stream, double value)
{
    stream->not_finite |= !isfinite(value);
    return value;
}

void sp_stream_number(sp_stream *stream, double value)
{
    sp_stream_print(stream, "%.17g", sp_stream_finite(stream, value));
}

void sp_stream_doubles(sp_stream *stream, int64_t count, const double *values)
{
    for (int64_t i = 0; i < count; i++)
        sp_stream_finite(stream, values[i]);
    sp_stream_bytes(stream, values, (size_t)count * sizeof *values);
}

int sp_stream_end(sp_context *context, sp_stream *stream)
{
    write_all(stream, stream->buffer, stream->count);
    stream->count = 0;
    if (stream->not_finite && !stream->error)
        return sp_fail(context, SP_INPUT, "a value is not finite, or too large for this format: it is not written");
    return stream->error ? sp_fail(context, SP_SYSTEM, "cannot write: %s", strerror(stream->error)) : SP_OK;
}
