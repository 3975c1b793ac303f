/* simstat: statistics of signals over many motions, or over a long one. */
#include "statistics/rainflow.h"
#include "statistics/welch.h"
#include "tools/common/csv.h"
#include "tools/stat/moments.h"

#include <math.h>
#include <string.h>

enum { SUMMARY, PSD, DENSITY, CROSSINGS, RAINFLOW };

static struct {
    int table;
    tool_texts signals;
    double settle;
    stat_line line;
    int64_t piece, bins;
} chosen;

static const tool_option options[] = {
    {"table", 0, TOOL_CHOICE, &chosen.table, .standard = "summary", .choices = "summary|psd|density|crossings|rainflow",
     .help = "summary: moments and extremes of each signal; psd: power spectral densities by Welch's method; density: "
             "probability densities; crossings: how often levels are crossed upwards; rainflow: cycles by their range"},
    {"signal", 0, TOOL_TEXTS, &chosen.signals, .argument = "NAME",
     .help = "this signal: v12_y, the displacement of a vertex along y; q3, a coordinate; or the name of a column "
             "(default: all)"},
    {"settle", 0, TOOL_REAL, &chosen.settle, .argument = "S", .standard = "0", .low = 0, .high = 1e300,
     .help = "leave out what is before this time, s"},
    {"piece", 0, TOOL_INTEGER, &chosen.piece, .argument = "N", .low = 8, .high = 1 << 24, .only = "table=psd",
     .help = "frames of a piece, a power of two (default: an eighth of a motion)"},
    {"bins", 0, TOOL_INTEGER, &chosen.bins, .argument = "N", .standard = "50", .low = 2, .high = 100000,
     .only = "table=density,crossings,rainflow",
     .help = "number of values or ranges between the least and the largest"},
    {"sn-strength", 0, TOOL_REAL, &chosen.line.strength, .argument = "X", .low = 1e-300, .high = 1e300,
     .only = "table=summary",
     .help =
         "also the damage by Miner's rule with the line N = (X / range)^K of an S-N diagram: X is the range that one "
         "cycle is the life of"},
    {"sn-slope", 0, TOOL_REAL, &chosen.line.slope, .argument = "K", .standard = "5", .low = 1e-3, .high = 100,
     .only = "sn-strength", .help = "the slope K of this line"},
};

static const tool_spec spec = {
    .name = "simstat",
    .arguments = "FILE",
    .files = "npz csv",
    .least = 1,
    .most = 1,
    .summary = "Statistics of an ensemble, of a trajectory or of a table over time, as CSV.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_ANY_FORMAT,
    .examples = "  simstat pulls.npz --table psd --signal v12_y --settle 0.5 -o psd.csv\n"
                "  supple-plot psd.csv --log -o psd.png\n"
                "  simstat pulls.npz --sn-strength 0.3 --sn-slope 5 -o summary.csv\n",
};

/* ---- tables ---- */

static void print(sp_list *text, const char *format, ...) SP_PRINTF(2, 3);
static void print(sp_list *text, const char *format, ...)
{
    char line[400];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    memcpy(tool_list_add(text, length, 1), line, (size_t)length);
}

/* rms ± 1.96 standard errors, from the scatter of the mean squares of motions; of a single motion there is none. */
static void write_summary(const stat_source *source, const stat_moments *all, sp_list *text)
{
    print(text, "signal,motions,mean,deviation,rms,rms_low,rms_high,skewness,kurtosis,least,largest%s\n",
          chosen.line.strength > 0 ? ",damage,largest_damage" : "");
    for (int64_t i = 0; i < source_signals(source); i++) {
        const stat_moments *m = &all[i];
        const double n = m->motions, square = m->squares / n,
                     error = n > 1 ? 1.96 * sqrt(fmax(m->fourths / n - square * square, 0) / (n - 1)) : NAN;
        double c[5];
        stat_central(m, c);

        print(text, "%s,%.0f,%.9g,%.9g,%.9g", source_name(source, i), n, c[1], sqrt(c[2]), sqrt(square));
        if (n > 1)
            print(text, ",%.9g,%.9g", sqrt(fmax(square - error, 0)), sqrt(square + error));
        else
            print(text, ",,");
        if (c[2] > 0)
            print(text, ",%.9g,%.9g", c[3] / pow(c[2], 1.5), c[4] / (c[2] * c[2]));
        else
            print(text, ",,");
        print(text, ",%.9g,%.9g", m->least, m->largest);
        if (chosen.line.strength > 0)
            print(text, ",%.9g,%.9g", m->damage / n, m->worst);
        print(text, "\n");
    }
}

static void write_psd(sp_context *context, stat_source *source, sp_pool *pool, sp_list *text)
{
    const int64_t signals = source_signals(source), frames = source_next(source);
    sp_welch *welch = tool_allocate(pool, signals, sizeof *welch);
    int64_t size = 8;

    while (!chosen.piece && 2 * size <= frames / 8)
        size *= 2;
    size = chosen.piece ? chosen.piece : size;
    if (size & (size - 1))
        tool_fail(SP_USAGE, NULL, "--piece: %lld is not a power of two", (long long)size);
    if (size > frames)
        tool_fail(SP_USAGE, NULL, "--piece: %lld frames, more than the %lld of a motion", (long long)size,
                  (long long)frames);

    for (int64_t i = 0; i < signals; i++)
        tool_check(sp_welch_new(context, size, source_rate(source), pool, &welch[i]), NULL);
    for (int64_t count = frames; count > 0; count = source_next(source))
        for (int64_t i = 0; i < signals; i++)
            sp_welch_add(&welch[i], count, source_samples(source, i));

    print(text, "frequency");
    for (int64_t i = 0; i < signals; i++)
        print(text, ",%s,%s_low,%s_high", source_name(source, i), source_name(source, i), source_name(source, i));
    print(text, "\n");
    for (int64_t k = 1; k < welch[0].bins - 1; k++) {
        print(text, "%.9g", (double)k * source_rate(source) / (double)size);
        for (int64_t i = 0; i < signals; i++) {
            double density, low, high;
            sp_welch_density(&welch[i], k, &density, &low, &high);
            print(text, ",%.9g,%.9g,%.9g", density, low, high);
        }
        print(text, "\n");
    }
    tool_say("%lld pieces of %lld frames, %.1f degrees of freedom", (long long)welch[0].pieces, (long long)size,
             welch[0].freedom);
}

/* The number of a value's interval of the range [low, high] in `bins` equal ones. */
static int64_t bin_of(double value, double low, double high)
{
    const int64_t bin = high > low ? (int64_t)((value - low) / (high - low) * (double)chosen.bins) : 0;
    return bin < 0 ? 0 : bin >= chosen.bins ? chosen.bins - 1 : bin;
}

/* How many values are in each interval, or how often its lower end is crossed upwards. */
static void count_values(const stat_source *source, int64_t frames, int64_t signal, const stat_moments *m,
                         double *count)
{
    const double *x = source_samples(source, signal);
    for (int64_t k = 0; k < frames; k++) {
        const int64_t bin = bin_of(x[k], m->least, m->largest);
        if (chosen.table == DENSITY)
            count[bin]++;
        else if (k > 0)
            for (int64_t level = bin_of(x[k - 1], m->least, m->largest) + 1; level <= bin; level++)
                count[level]++;
    }
}

static void count_cycles(sp_context *context, const stat_source *source, int64_t frames, int64_t signal,
                         const stat_moments *m, double *count)
{
    sp_list cycles = {0};
    tool_check(sp_rainflow(context, frames, source_samples(source, signal), &cycles), NULL);
    for (int64_t i = 0; i < cycles.count; i++) {
        const sp_cycle *cycle = &((const sp_cycle *)cycles.data)[i];
        count[bin_of(cycle->range, 0, m->largest - m->least)] += cycle->count;
    }
    sp_list_free(&cycles);
}

/* One line for each interval of each signal: its middle (of crossings its lower end) and what was counted: a density, a
 * rate, or cycles of a motion. */
static void write_counts(sp_context *context, stat_source *source, const stat_moments *all, sp_pool *pool,
                         sp_list *text)
{
    static const char *const heads[] = {[DENSITY] = "signal,value,density\n",
                                        [CROSSINGS] = "signal,level,rate\n",
                                        [RAINFLOW] = "signal,range,cycles\n"};
    const int64_t signals = source_signals(source);
    double *count = tool_allocate(pool, signals * chosen.bins, sizeof *count);
    int64_t frames;

    while ((frames = source_next(source)) > 0)
        for (int64_t i = 0; i < signals; i++) {
            if (chosen.table == RAINFLOW)
                count_cycles(context, source, frames, i, &all[i], count + i * chosen.bins);
            else
                count_values(source, frames, i, &all[i], count + i * chosen.bins);
        }

    print(text, "%s", heads[chosen.table]);
    for (int64_t i = 0; i < signals; i++) {
        const stat_moments *m = &all[i];
        const double low = chosen.table == RAINFLOW ? 0 : m->least,
                     width = (m->largest - m->least) / (double)chosen.bins,
                     unit = chosen.table == DENSITY     ? m->count * (width > 0 ? width : 1)
                            : chosen.table == CROSSINGS ? m->count / source_rate(source)
                                                        : m->motions;
        for (int64_t k = chosen.table == CROSSINGS; k < chosen.bins; k++)
            print(text, "%s,%.9g,%.9g\n", source_name(source, i),
                  low + ((double)k + (chosen.table == CROSSINGS ? 0 : 0.5)) * width, count[i * chosen.bins + k] / unit);
    }
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    sp_pool pool = {0};
    sp_list text = {0};
    stat_source *source = source_open(context, tool_argument(0), &chosen.signals, chosen.settle);

    tool_output *output = tool_output_open(tool_output_path());
    const stat_moments *all = stat_sum_up(context, source, chosen.line, &pool);
    if (chosen.table == SUMMARY)
        write_summary(source, all, &text);
    else if (chosen.table == PSD)
        write_psd(context, source, &pool, &text);
    else
        write_counts(context, source, all, &pool, &text);
    tool_output_bytes(output, text.data, text.count);

    sp_list_free(&text);
    sp_pool_free(&pool);
    source_close(source);
    return tool_end();
}
