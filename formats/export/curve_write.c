#include "formats/export/curve_write.h"

#include "formats/export/csv_write.h"

void sp_curve_write_csv(sp_stream *stream, const sp_curve_file *curve)
{
    static const char *const names[] = {"frequency_Hz", "factor", "amplitude_m", "energy_J",
                                        "stable",       "event",  "residual"};
    const int count = curve->residual ? 7 : 6;
    for (int i = 0; i < count; i++)
        sp_csv_name(stream, i == 0, names[i]);
    sp_csv_end(stream);

    for (int64_t i = 0; i < curve->n; i++) {
        const double row[] = {curve->frequency[i],
                              curve->factor[i],
                              curve->amplitude[i],
                              curve->energy[i],
                              curve->stable[i],
                              curve->event[i],
                              curve->residual ? curve->residual[i] : 0};
        sp_csv_numbers(stream, true, count, row);
        sp_csv_end(stream);
    }
}
