#include "formats/export/csv_write.h"

#include <string.h>

void sp_csv_name(sp_stream *stream, bool first, const char *name)
{
    if (!first)
        sp_stream_bytes(stream, ",", 1);
    sp_stream_bytes(stream, name, strlen(name));
}

void sp_csv_numbers(sp_stream *stream, bool first, int64_t count, const double *numbers)
{
    for (int64_t i = 0; i < count; i++) {
        if (!first || i > 0)
            sp_stream_bytes(stream, ",", 1);
        sp_stream_number(stream, numbers[i]);
    }
}

void sp_csv_end(sp_stream *stream)
{
    sp_stream_bytes(stream, "\n", 1);
}
