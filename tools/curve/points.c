#include "tools/curve/curve.h"

#include "formats/export/curve_write.h"

#include <math.h>
#include <string.h>

/* The probe's displacement at a phase. */
static double displacement(const curve_points *p, const double *coefficients, double theta)
{
    const simulation *s = &p->model->s;
    const int64_t columns = 2 * p->choice->harmonics + 1;
    double u = 0;
    for (int64_t k = 0; k < columns; k++) {
        const double angle = (double)((k + 1) / 2) * theta;
        double c = 0;
        for (int64_t i = 0; i < s->r; i++)
            c += p->model->row[i] * coefficients[k * s->r + i];
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

/* The parts of a point that have a number of bytes of their own: its lists with this number. */
typedef struct part {
    sp_list *list;
    int64_t count;
    size_t size;
} part;

enum { PARTS = 9 };

static void list_parts(curve_points *p, part parts[PARTS])
{
    const int64_t r = p->model->s.r, columns = 2 * p->choice->harmonics + 1, one = 1;
    const size_t real = sizeof(double);
    const part all[PARTS] = {{&p->frequency, one, real},
                             {&p->factor, one, real},
                             {&p->amplitude, one, real},
                             {&p->energy, one, real},
                             {&p->coefficient, columns * r, real},
                             {&p->multiplier, 4 * r, real},
                             {&p->residual, p->full ? 1 : 0, real},
                             {&p->stable, one, 1},
                             {&p->event, one, 1}};
    memcpy(parts, all, sizeof all);
}

/* Saves the last point. */
static void save_last(curve_points *p)
{
    part parts[PARTS];
    list_parts(p, parts);
    for (int i = 0; i < PARTS && p->recorded; i++) {
        const sp_list *list = parts[i].list;
        const int64_t bytes = parts[i].count * (int64_t)parts[i].size;
        if (bytes > 0)
            sp_state_bytes(p->recorded, (char *)list->data + list->count * (int64_t)parts[i].size - bytes, bytes);
    }
}

void curve_points_load(curve_points *p, sp_state *recorded)
{
    part parts[PARTS];
    list_parts(p, parts);
    for (int i = 0; i < PARTS; i++)
        if (parts[i].count > 0)
            sp_state_bytes(recorded, tool_list_add(parts[i].list, parts[i].count, parts[i].size),
                           parts[i].count * (int64_t)parts[i].size);
    if (p->full && !recorded->failed)
        p->worst_full = fmax(p->worst_full, ((double *)p->residual.data)[p->residual.count - 1]);
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
    if (p->full) {
        const sp_periodic_motion motion = {
            p->kind, r, p->choice->harmonics, point->frequency, point->factor, point->coefficients};
        add_number(&p->residual, curve_full_residual(p->model, p->full, &motion));
        p->worst_full = fmax(p->worst_full, ((double *)p->residual.data)[p->residual.count - 1]);
    }
    *(uint8_t *)tool_list_add(&p->stable, 1, 1) = point->stable;
    *(uint8_t *)tool_list_add(&p->event, 1, 1) = (uint8_t)point->event;
    save_last(p);
    return p->choice->amplitude_given && amplitude >= p->choice->amplitude;
}

static json_t *result_of(const curve_points *p, const sp_curve_report *report, bool complete)
{
    json_t *result = tool_result_new();
    tool_facts(result, sp_kind_curve.result, {"points", .integer = report->points},
               {"folds", .integer = report->events[SP_CURVE_FOLD]},
               {"branch_points", .integer = report->events[SP_CURVE_BRANCH]},
               {"period_doublings", .integer = report->events[SP_CURVE_DOUBLING]},
               {"neimark_sacker", .integer = report->events[SP_CURVE_TORUS]}, {"complete", .boolean = complete},
               {"worst_residual", .real = report->worst_residual},
               {"worst_full_residual", .real = p->worst_full, .leave_out = !p->full},
               {"worst_balance", .real = report->worst_balance}, {"worst_event", .real = report->worst_event},
               {"newton_iterations", .integer = report->continuation.iterations},
               {"factorizations", .integer = report->continuation.factorizations},
               {"rejected_steps", .integer = report->continuation.rejected});
    return result;
}

static sp_curve_file file_of(const curve_points *p)
{
    return (sp_curve_file){.kind = p->kind,
                           .n = p->frequency.count,
                           .r = p->model->s.r,
                           .columns = 2 * p->choice->harmonics + 1,
                           .frequency = p->frequency.data,
                           .factor = p->factor.data,
                           .amplitude = p->amplitude.data,
                           .energy = p->energy.data,
                           .coefficient = p->coefficient.data,
                           .multiplier = p->multiplier.data,
                           .residual = p->residual.data,
                           .stable = p->stable.data,
                           .event = p->event.data};
}

void curve_points_write(curve_points *p, const sp_curve_report *report, bool complete, tool_output *output)
{
    const simulation *s = &p->model->s;
    json_t *meta = tool_meta_new("curve");
    const sp_curve_file file = file_of(p);
    const int64_t probe[2] = {p->model->probe.vertex, p->model->axis};
    tool_facts(meta, sp_kind_curve.meta, {"mesh", .text = s->mesh.hash}, {"basis", .text = s->basis.hash},
               {"probe", .count = 2, .integers = probe},
               {"probe_surface", .boolean = true, .leave_out = !p->model->probe.surface});
    tool_check(sp_curve_write(s->context, tool_output_writer(output), meta, &file), tool_output_path());
    tool_output_finish(output, result_of(p, report, complete));
    json_decref(meta);
}

void curve_points_table(const curve_points *p, tool_output *output)
{
    const sp_curve_file file = file_of(p);
    sp_stream stream;
    sp_stream_begin(&stream, tool_output_descriptor(output));
    sp_curve_write_csv(&stream, &file);
    tool_check(sp_stream_end(p->model->s.context, &stream), p->choice->table);
    tool_output_finish(output, NULL);
}

void curve_points_free(curve_points *p)
{
    part parts[PARTS];
    list_parts(p, parts);
    for (int i = 0; i < PARTS; i++)
        sp_list_free(parts[i].list);
}
