/* Tables of numbers as CSV: a line of names, then rows of numbers with 17 significant digits, separated by commas. */
#ifndef SP_FORMATS_EXPORT_CSV_WRITE_H
#define SP_FORMATS_EXPORT_CSV_WRITE_H

#include "formats/export/stream.h"

/* One name of the first line; names have no comma, quote or line end. */
void sp_csv_name(sp_stream *stream, bool first, const char *name);

/* Numbers of a row: those after the first follow a comma. */
void sp_csv_numbers(sp_stream *stream, bool first, int64_t count, const double *numbers);

/* Ends the line of names or a row. */
void sp_csv_end(sp_stream *stream);

#endif
