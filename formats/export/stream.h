/* Buffered bytes to an open descriptor: what the writers of foreign formats (OBJ, CSV, Matrix Market, VTU) put their
 * text and numbers through. An error stays: later calls do nothing, and sp_stream_end reports it. */
#ifndef SP_FORMATS_EXPORT_STREAM_H
#define SP_FORMATS_EXPORT_STREAM_H

#include "base/context.h"

#include <stddef.h>

enum { SP_STREAM_BYTES = 1 << 16 };

typedef struct sp_stream {
    int descriptor; /* stays the caller's */
    int error;      /* errno of the first failure, 0: none */
    size_t count;   /* bytes waiting */
    char buffer[SP_STREAM_BYTES];
} sp_stream;

void sp_stream_begin(sp_stream *stream, int descriptor);

/* Formatted text, at most 1000 bytes a call (longer text is an error: names go through sp_stream_bytes). */
void sp_stream_print(sp_stream *stream, const char *format, ...) SP_PRINTF(2, 3);
void sp_stream_bytes(sp_stream *stream, const void *bytes, size_t count);

/* A text with the five characters that mean something in XML replaced. */
void sp_stream_xml(sp_stream *stream, const char *text);

/* A number with 17 significant digits: the same double when it is read back. */
void sp_stream_number(sp_stream *stream, double value);

/* Writes what is waiting. SP_SYSTEM with the reason when anything failed since the beginning. */
int sp_stream_end(sp_context *context, sp_stream *stream) SP_MUST_USE;

#endif
