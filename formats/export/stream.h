/* Buffered output to an open descriptor, for the writers of foreign formats (OBJ, CSV, Matrix Market, VTU). After an
 * error later calls do nothing, and sp_stream_end reports it. */
#ifndef SP_FORMATS_EXPORT_STREAM_H
#define SP_FORMATS_EXPORT_STREAM_H

#include "base/context.h"

#include <stddef.h>

enum { SP_STREAM_BYTES = 1 << 16 };

typedef struct sp_stream {
    int descriptor;  /* owned by the caller; -1: nothing is written, only counted */
    int error;       /* errno of the first failure, 0: none */
    bool not_finite; /* a number was not finite */
    int64_t total;   /* number of bytes so far */
    size_t count;    /* number of bytes in the buffer */
    char buffer[SP_STREAM_BYTES];
} sp_stream;

void sp_stream_begin(sp_stream *stream, int descriptor);

/* Formatted text of at most 1000 bytes per call. Longer text is an error; write names by sp_stream_bytes. */
void sp_stream_print(sp_stream *stream, const char *format, ...) SP_PRINTF(2, 3);
void sp_stream_bytes(sp_stream *stream, const void *bytes, size_t count);

/* A text with the five special characters of XML escaped, and line feeds, returns and tabs, which an attribute would
 * lose. */
void sp_stream_xml(sp_stream *stream, const char *text);

/* A text in double quotes for JSON and USD. Quotes and backslashes are escaped; what is not valid UTF-8, control
 * characters and other hidden ones (formats/plain.h) become U+FFFD. */
void sp_stream_quoted(sp_stream *stream, const char *text);

/* A number with 17 significant digits, which read back gives the same double. One that is not finite is an error. */
void sp_stream_number(sp_stream *stream, double value);

/* Returns the value, which is written in another form; one that is not finite is an error. */
double sp_stream_finite(sp_stream *stream, double value);

/* The bytes of numbers, which have to be finite. */
void sp_stream_doubles(sp_stream *stream, int64_t count, const double *values);

/* Writes the rest of the buffer. SP_SYSTEM, with the reason, if any call has failed; SP_INPUT if a number was not
 * finite. */
int sp_stream_end(sp_context *context, sp_stream *stream) SP_MUST_USE;

#endif
