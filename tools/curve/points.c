#include "tools/curve/curve.h"

#include "formats/export/csv_write.h"

#include <math.h>
#include <string.h>

/* The probe's displacement at a phase. */
static double displacement(const curve_points *p, const double *coefficients, double theta)
{
    const simulation *s = &p->model->s;
    const int64_t rows = s->basis.columns.rows, columns = 2 * p->choice->harmonics + 1;
    const double *row = s->basis.columns.U + 3 * p->model->vertex + p->model->axis;
    double u = 0;
    for (int64_t k = 0; k < columns; k++) {
        const double angle = (double)((k + 1) / 2) * theta;
        double c = 0;
        for (int64_t i = 0; i < s->r; i++)
            c += row[i * rows] * coefficients[k * s->r + i];
        u += c * (k == 0 ? 1 : k % 2 ? cos(angle) : sin(angle));
    }
    return u;
}

/* The largest value of sign · displacement: that of samples, refined by a parabola through it and both neighbours. */
static double largest(const curve_points *p, const double *coefficients, double sign)
{
    const int64_t samples = 16 * (2 * p->choice->harmonics + 1);
    const double step = 2 * M_PI / (double)samples;
    double best = -INFINITY;
    int64_t at = 0;
    for (int64_t j = 0; j < samples; j++) {
        const double u = sign * displacement(p, coefficients, (double)j * step);
        at = u > best ? j : at;
        best = fmax(best, u);
    }
    const double before = sign * displacement(p, coefficients, (double)(at - 1) * step),
                 after = sign * displacement(p, coefficients, (double)(at + 1) * step),
                 bend = 2 * best - before - after;
    return bend > 0 ? best + (after - before) * (after - before) / (8 * bend) : best;
}

/* Half of the range of the probe's displacement. */
static double amplitude_of(const curve_points *p, const double *coefficients)
{
    return 0.5 * (largest(p, coefficients, 1) + largest(p, coefficients, -1));
}

static void add_number(sp_list *list, double value)
{
    *(double *)tool_list_add(list, 1, sizeof value) = value;
}

bool curve_points_add(void *data, const sp_curve_point *point)
{
    curve_points *p = data;
    const int64_t r = p->model->s.r, columns = 2 * p->choice->harmonics + 1;
    const double amplitude = amplitude_of(p, point->coefficients);
    add_number(&p->frequency, point->frequency / (2 * M_PI));
    add_number(&p->factor, point->factor);
    add_number(&p->amplitude, amplitude);
    add_number(&p->energy, point->energy.mean);
    memcpy(tool_list_add(&p->coefficient, columns * r, sizeof(double)), point->coefficients,
           (size_t)(columns * r) * sizeof(double));
    for (int64_t i = 0; i < 2 * r; i++) {
        add_number(&p->multiplier, point->multiplier_re[i]);
        add_number(&p->multiplier, point->multiplier_im[i]);
    }
    *(uint8_t *)tool_list_add(&p->stable, 1, 1) = point->stable;
    *(uint8_t *)tool_list_add(&p->event, 1, 1) = (uint8_t)point->event;
    return p->choice->amplitude_given && amplitude >= p->choice->amplitude;
}

static json_t *result_of(const sp_curve_report *report, bool complete)
{
    json_t *result = tool_result_new();
    static const char *const names[SP_CURVE_EVENTS] = {NULL, "folds", "branch_points", "period_doublings",
                                                       "neimark_sacker"};
    json_object_set_new(result, "points", json_integer(report->points));
    for (int i = 1; i < SP_CURVE_EVENTS; i++)
        json_object_set_new(result, names[i], json_integer(report->events[i]));
    json_object_set_new(result, "complete", json_boolean(complete));
    json_object_set_new(result, "worst_residual", tool_real("worst_residual", report->worst_residual));
    json_object_set_new(result, "worst_balance", tool_real("worst_balance", report->worst_balance));
    json_object_set_new(result, "newton_iterations", json_integer(report->continuation.iterations));
    json_object_set_new(result, "factorizations", json_integer(report->continuation.factorizations));
    json_object_set_new(result, "rejected_steps", json_integer(report->continuation.rejected));
    return result;
}

void curve_points_write(curve_points *p, const sp_curve_report *report, bool complete, tool_output *output)
{
    const simulation *s = &p->model->s;
    json_t *meta = tool_meta_new("curve");
    const sp_curve_file file = {.n = p->frequency.count,
                                .r = s->r,
                                .columns = 2 * p->choice->harmonics + 1,
                                .frequency = p->frequency.data,
                                .factor = p->factor.data,
                                .amplitude = p->amplitude.data,
                                .energy = p->energy.data,
                                .coefficient = p->coefficient.data,
                                .multiplier = p->multiplier.data,
                                .stable = p->stable.data,
                                .event = p->event.data};
    json_object_set_new(meta, "mesh", json_string(s->mesh.hash));
    json_object_set_new(meta, "basis", json_string(s->basis.hash));
    json_object_set_new(meta, "probe", json_pack("[I,i]", (json_int_t)p->model->vertex, p->model->axis));
    tool_check(sp_curve_write(s->context, tool_output_writer(output), meta, &file), tool_output_path());
    tool_output_finish(output, result_of(report, complete));
    json_decref(meta);
}

/* --csv: a row for each point. */
void curve_points_table(const curve_points *p)
{
    static const char head[] = "frequency_Hz,factor,amplitude_m,energy_J,stable,event\n";
    sp_list text = {0};
    memcpy(tool_list_add(&text, sizeof head - 1, 1), head, sizeof head - 1);
    for (int64_t i = 0; i < p->frequency.count; i++) {
        char line[200];
        const int length =
            snprintf(line, sizeof line, "%.17g,%.17g,%.17g,%.17g,%d,%d\n", ((double *)p->frequency.data)[i],
                     ((double *)p->factor.data)[i], ((double *)p->amplitude.data)[i], ((double *)p->energy.data)[i],
                     ((uint8_t *)p->stable.data)[i], ((uint8_t *)p->event.data)[i]);
        memcpy(tool_list_add(&text, length, 1), line, (size_t)length);
    }
    tool_write_bytes(p->choice->table, text.data, text.count);
    sp_list_free(&text);
}

void curve_points_free(curve_points *p)
{
    sp_list *const lists[] = {&p->frequency,   &p->factor,     &p->amplitude, &p->energy,
                              &p->coefficient, &p->multiplier, &p->stable,    &p->event};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        sp_list_free(lists[i]);
}
