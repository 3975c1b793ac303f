/* Ensembles: what is recorded of a motion agrees with itself. */
#include "formats/ensemble.h"
#include "tools/verify/verify.h"

#include <math.h>

/* What was seen of all motions. */
typedef struct seen {
    int64_t motions, failed, first, last;
    bool zeros;   /* motions that failed have no other numbers */
    double order; /* the largest violation of least ≤ mean ≤ largest, |mean| ≤ rms ≤ max |value|, relative to the
                     largest value of the signal */
    double within; /* likewise of a frame beyond the least and the largest value */
} seen;

static bool all_zero(const double *x, int64_t count)
{
    bool zero = true;
    for (int64_t i = 0; x && i < count; i++)
        zero &= x[i] == 0;
    return zero;
}

static void look_at_statistics(const sp_ensemble_file *f, int64_t m, bool all_steps, seen *s)
{
    for (int64_t i = 0; i < f->signal_count; i++) {
        const int64_t at = m * f->signal_count + i;
        const double mean = f->statistics[SP_ENSEMBLE_MEAN][at], rms = f->statistics[SP_ENSEMBLE_RMS][at],
                     least = f->statistics[SP_ENSEMBLE_LEAST][at], largest = f->statistics[SP_ENSEMBLE_LARGEST][at],
                     size = fmax(fabs(least), fabs(largest)), unit = size > 0 ? size : 1;
        s->order =
            verify_worse(fmax(fmax(least - mean, mean - largest), fmax(fabs(mean) - rms, rms - size)) / unit, s->order);

        /* Frame 0, the start, is no step. */
        const double *values = f->u ? f->u : f->q;
        for (int64_t k = 1; values && all_steps && k < f->frame_count; k++) {
            const double value = values[(m * f->frame_count + k) * f->signal_count + i];
            s->within = verify_worse(fmax(least - value, value - largest) / unit, s->within);
        }
    }
}

static void look_at(const sp_ensemble_file *f, bool all_steps, seen *s)
{
    for (int64_t m = 0; m < f->motion_count; m++) {
        s->first = s->motions == 0 ? f->motion[m] : s->first;
        s->last = f->motion[m];
        s->motions++;
        if (f->status[m]) {
            s->failed++;
            s->zeros &= all_zero(f->q ? f->q + m * f->frame_count * f->r : NULL, f->frame_count * f->r) &&
                        all_zero(f->u ? f->u + 3 * m * f->frame_count * f->point_count : NULL,
                                 3 * f->frame_count * f->point_count);
        } else if (f->statistics[0])
            look_at_statistics(f, m, all_steps, s);
    }
}

void verify_ensemble(verify *v, artefact *file)
{
    sp_ensemble_stream stream;
    seen s = {.zeros = true};
    const json_t *parameters = json_object_get(file->meta, "parameters");
    const bool all_steps = json_number_value(json_object_get(parameters, "settle")) == 0;

    tool_check(sp_ensemble_open(v->context, file->descriptor, false, &stream), file->path);
    do {
        tool_check(sp_ensemble_next(&stream), file->path);
        look_at(&stream.block, all_steps, &s);
    } while (stream.block.motion_count > 0);

    const json_t *result = file->result;
    const int64_t motions = json_integer_value(json_object_get(result, "motions")),
                  failed = json_integer_value(json_object_get(result, "failed"));
    verify_fact(v, file, "motions", s.motions == motions && s.last - s.first + 1 == s.motions,
                "%lld, numbers %lld to %lld (%lld)", (long long)s.motions, (long long)s.first, (long long)s.last,
                (long long)motions);
    verify_fact(v, file, "failed motions", s.failed == failed && s.zeros, "%lld (%lld), %s", (long long)s.failed,
                (long long)failed, s.zeros ? "without numbers" : "with numbers");
    if (stream.series.meta && json_is_true(json_object_get(file->meta, "statistics"))) {
        verify_number(v, file, "least, mean, rms and largest in order", s.order, 1e-12);
        verify_number(v, file, "frames between least and largest", s.within, 1e-12);
    }
    sp_ensemble_close(&stream);
}
