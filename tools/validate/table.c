#include "tools/common/csv.h"
#include "tools/validate/validate.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

/* ---- text ---- */

static SP_PRINTF(2, 3) void add_text(sp_list *table, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *to = length >= (int)sizeof text ? NULL : sp_list_add(table, length, 1);
    if (!to)
        tool_out_of_memory();
    memcpy(to, text, (size_t)length);
}

/* A number, or nothing where there is none (NaN). */
static void add_number(sp_list *table, double value)
{
    if (isnan(value))
        add_text(table, ",");
    else
        add_text(table, ",%.10g", value);
}

/* A number, as the format has it; "-" where it is not one. */
SP_PRINTF(3, 4)
static void print_number(FILE *stream, int width, const char *format, ...)
{
    char text[40];
    va_list value;
    va_start(value, format);
    vsnprintf(text, sizeof text, format, value);
    va_end(value);
    if (stream)
        fprintf(stream, " %*s", width, strstr(text, "nan") ? "-" : text);
}

/* ---- rows ---- */

typedef struct table_row {
    double r, elements;
    sp_trajectory_errors errors;
    double iterations, estimate, microseconds, factor;
} table_row;

static double step_time(const validate_run *run)
{
    int64_t steps = sp_integrator_reported(run->integrator)->steps;
    return steps > 0 ? 1e6 * run->seconds / (double)steps : NAN;
}

static table_row row_of(const validation *v, const validate_run *run)
{
    const sp_integrator_report *report = sp_integrator_reported(run->integrator);
    table_row row = {.r = (double)run->s.model.system.n,
                     .elements = run->elements >= 0 ? (double)run->elements : NAN,
                     .errors = {NAN, NAN, NAN, NAN}};

    if (run != v->lead && !run->failed)
        sp_trajectory_error_sums_errors(&run->sums, &row.errors);
    if (run->s.cubature.modal) /* not conservative */
        row.errors.energy = NAN;
    if (run->choice.integrator == SP_STATIC)
        row.errors.velocity = NAN;

    row.iterations = report->steps && run->choice.integrator != SP_CENTRAL
                         ? (double)report->newton_iterations / (double)report->steps
                         : NAN;

    row.estimate = run->s.cubature.nested ? run->estimate.largest[SP_NORM_ENERGY] : NAN;
    row.microseconds = step_time(run);
    row.factor = v->lead ? step_time(v->lead) / row.microseconds : NAN;
    return row;
}

static void print_row(FILE *stream, const char *name, const table_row *row)
{
    if (!stream)
        return;
    fprintf(stream, "%-9s", name);
    print_number(stream, 7, "%.0f", row->r);
    print_number(stream, 8, "%.0f", row->elements);
    print_number(stream, 9, "%.2e", row->errors.position);
    print_number(stream, 9, "%.2e", row->errors.velocity);
    print_number(stream, 9, "%.2e", row->errors.largest);
    print_number(stream, 9, "%.2e", row->errors.energy);
    print_number(stream, 10, "%.2f", row->iterations);
    print_number(stream, 9, "%.1e", row->estimate);
    print_number(stream, 10, "%.1f", row->microseconds);
    print_number(stream, 7, "%.3g", row->factor);
    fputc('\n', stream);
}

static void add_row(sp_list *table, const char *name, const table_row *row)
{
    const double values[] = {row->r,
                             row->elements,
                             row->errors.position,
                             row->errors.velocity,
                             row->errors.largest,
                             row->errors.energy,
                             row->iterations,
                             row->estimate,
                             row->microseconds,
                             row->factor};
    add_text(table, "%s", name);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        add_number(table, values[i]);
}

/* ---- probes ---- */

static double load_end(const validation *v)
{
    return v->run_count ? v->runs[0].s.model.loads.end : 0;
}

static void measure(const validation *v, const sp_list *value, probe_measure *measured)
{
    probe_measure_series(v->time.count, v->time.data, value->data, load_end(v), measured);
}

/* Amplitude and frequency of each probe; `value` of a run that failed is NULL. */
static void add_probes(const validation *v, sp_list *table, const sp_list *value)
{
    for (int64_t i = 0; i < v->probe_count; i++) {
        probe_measure measured = {.amplitude = NAN, .frequency = NAN};
        if (value)
            measure(v, &value[i], &measured);
        add_number(table, measured.amplitude);
        add_number(table, measured.frequency);
    }
}

/* With --stress and --certificate, the errors of stress, and that in the energy norm and its estimates; NULL: of the
 * reference. */
static void end_row(const validation *v, sp_list *table, const validate_run *run)
{
    const bool certified = run && run->certificate && !run->failed;

    if (v->choice->stress) {
        const bool stressed = run && !run->failed, corrected = stressed && run->correction;
        add_number(table, stressed ? stress_error(run, &run->stress) : NAN);
        add_number(table, corrected ? stress_error(run, &run->corrected) : NAN);
        add_number(table, stressed ? run->stress.largest : v->run_count ? v->runs[0].stress_largest : NAN);
        add_number(table, corrected ? run->corrected.largest : NAN);
    }

    if (v->choice->certificate) {
        add_number(table, certified ? run->energy_error : NAN);
        add_number(table, certified ? run->certificate->watch.estimates.basis : NAN);
        add_number(table, certified && run->choice.model == SP_MODEL_CUBATURE
                              ? run->certificate->watch.estimates.quadrature
                              : NAN);
    }
    add_text(table, "\n");
}

static void print_probe(const validation *v, FILE *stream, const validate_run *run, int64_t i)
{
    probe_measure a, b;
    measure(v, &v->value[i], &b);
    if (!run->failed) {
        measure(v, &run->value[i], &a);
        fprintf(stream, "%-9s", run->name);
        print_number(stream, 7, "%.0f", (double)run->s.model.system.n);
        print_number(stream, 8, "%.0f", run->elements >= 0 ? (double)run->elements : NAN);
        print_number(stream, 12, "%.6g", a.amplitude);
        print_number(stream, 8, "%+.2f%%", b.amplitude > 0 ? 100 * (a.amplitude / b.amplitude - 1) : NAN);
        print_number(stream, 12, "%.6g", a.frequency);
        print_number(stream, 8, "%+.2f%%", 100 * (a.frequency / b.frequency - 1));
        fputc('\n', stream);
    }
}

static void print_probes(const validation *v, FILE *stream)
{
    for (int64_t i = 0; i < v->probe_count; i++) {
        probe_measure b;
        measure(v, &v->value[i], &b);
        fprintf(stream, "\nprobe %s: amplitude [m] and frequency [Hz] after %.9g s\n%-25s ", v->probes[i].text,
                load_end(v), validation_reference(v));
        print_number(stream, 11, "%.6g", b.amplitude);
        print_number(stream, 21, "%.6g", b.frequency);
        fputc('\n', stream);
        for (int64_t k = 0; k < v->run_count; k++)
            print_probe(v, stream, &v->runs[k], i);
    }
}

/* ---- all of it ---- */

const char *validation_reference(const validation *v)
{
    return v->lead == &v->full ? v->full.name : "reference";
}

bool validation_report(const validation *v, FILE *stream, sp_list *table)
{
    bool within = true, statics = v->choice->motion.integrator == SP_STATIC;
    table_row row = {NAN, NAN, {NAN, NAN, NAN, NAN}, NAN, NAN, NAN, NAN};
    const char *name = validation_reference(v);

    if (v->lead)
        row = row_of(v, v->lead);

    if (stream)
        fprintf(stream, "%-9s %7s %8s %9s %9s %9s %9s %10s %9s %10s %7s\n", "model", "r", "elements", "position",
                "velocity", "largest", "energy", "iterations", "estimate", "us/step", "factor");
    print_row(stream, name, &row);

    add_text(table, "model,r,elements,position,velocity,largest,energy,iterations,estimate,us_per_step,factor");
    sp_pool names = {0};
    for (int64_t i = 0; i < v->probe_count; i++) {
        add_text(table, ",%s", tool_csv_field(&names, "amplitude %.100s", v->probes[i].text));
        add_text(table, ",%s", tool_csv_field(&names, "frequency %.100s", v->probes[i].text));
    }
    sp_pool_free(&names);
    if (v->choice->stress)
        add_text(table, ",stress_error,corrected_stress_error,largest_stress,corrected_largest_stress");
    if (v->choice->certificate)
        add_text(table, ",energy_error,basis_estimate,quadrature_estimate");
    add_text(table, "\n");

    add_row(table, name, &row);
    add_probes(v, table, v->value);
    end_row(v, table, NULL);

    for (int64_t i = 0; i < v->run_count; i++) {
        const validate_run *run = &v->runs[i];
        row = row_of(v, run);
        print_row(stream, run->name, &row);
        add_row(table, run->name, &row);
        add_probes(v, table, run->failed ? NULL : run->value);
        end_row(v, table, run);
        within &= !(v->choice->limit > 0) || (statics ? row.errors.position : row.errors.velocity) <= v->choice->limit;
    }

    if (stream)
        print_probes(v, stream);
    if (stream && v->choice->stress)
        stress_print(v, stream);
    if (stream && v->choice->certificate)
        certified_print(v, stream);
    return within;
}
