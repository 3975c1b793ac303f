/* The points of a curve as CSV. */
#ifndef SP_FORMATS_EXPORT_CURVE_WRITE_H
#define SP_FORMATS_EXPORT_CURVE_WRITE_H

#include "formats/curve.h"
#include "formats/export/stream.h"

/* A line of names, then a row for each point in order: frequency_Hz, factor, amplitude_m, energy_J, stable, event, and
 * residual if the curve has it. */
void sp_curve_write_csv(sp_stream *stream, const sp_curve_file *curve);

#endif
