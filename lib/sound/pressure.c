#include "sound/pressure.h"

#include "sound/kernel.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

enum { PANEL = 256 }; /* frames of one product */

struct sp_pressure {
    sp_context *context;
    sp_pressure_parameters p;
    sp_radiation radiation;
    sp_kernel kernel;
    int64_t r, vertex_count, frames;
    double *row;     /* [rows, r] Pa s for unit rates */
    double *column;  /* [r, rows] the same */
    double *product; /* [PANEL, rows] */
    sp_list flux;    /* double: w, from the sample radiation.first of the motion on */
    sp_pool pool;
};

static int check(sp_context *context, const sp_pressure_parameters *p)
{
    const double most = 0.95 * fmin(p->rate, p->radiation.rate) / 2;

    if (!(p->band[0] >= 0 && p->band[0] < p->band[1]))
        return sp_fail(context, SP_USAGE, "%g to %g Hz is not a band", p->band[0], p->band[1]);
    if (!(p->band[1] <= most))
        return sp_fail(context, SP_USAGE, "a band up to %g Hz needs more samples: %g per second allow for %.5g Hz",
                       p->band[1], fmin(p->rate, p->radiation.rate), floor(most));
    return SP_OK;
}

static int allocate(sp_pressure *s)
{
    const int64_t rows = s->radiation.count;
    s->row = sp_pool_new(&s->pool, rows * s->r, sizeof *s->row);
    s->column = sp_pool_new(&s->pool, rows * s->r, sizeof *s->column);
    s->product = sp_pool_new(&s->pool, PANEL * rows, sizeof *s->product);
    return sp_allocated(s->context, !s->pool.failed);
}

int sp_pressure_new(sp_context *context, int64_t vertex_count, const double *vertices, int64_t triangle_count,
                    const int64_t *triangles, int64_t r, const sp_pressure_parameters *parameters,
                    sp_pressure **pressure)
{
    sp_pressure *s = calloc(1, sizeof *s);
    int status;
    *pressure = NULL;

    SP_PASS(sp_allocated(context, s));

    *s = (sp_pressure){.context = context, .p = *parameters, .r = r, .vertex_count = vertex_count};
    const sp_pressure_parameters *p = &s->p;
    const double rate = p->radiation.rate, stop = fmin(1.5 * p->band[1], fmin(p->rate, rate) / 2);

    s->p.radiation.top = p->band[1];
    SP_TRY(check(context, p));
    SP_TRY(sp_radiation_new(context, vertices, triangle_count, triangles, &p->radiation, &s->radiation));
    SP_TRY(sp_kernel_new(context, p->band[1] / rate, stop / rate, true, &s->kernel));
    SP_TRY(allocate(s));
    *pressure = s;
done:
    if (status != SP_OK)
        sp_pressure_free(s);
    return status;
}

void sp_pressure_free(sp_pressure *s)
{
    if (!s)
        return;
    sp_radiation_free(&s->radiation);
    sp_kernel_free(&s->kernel);
    sp_list_free(&s->flux);
    sp_pool_free(&s->pool);
    free(s);
}

const sp_radiation *sp_pressure_radiation(const sp_pressure *pressure)
{
    return &pressure->radiation;
}

void sp_pressure_column(sp_pressure *s, int64_t j, const double *displacement)
{
    const int64_t rows = s->radiation.count;
    double *flux = s->column + j * rows;
    sp_radiation_flux(&s->radiation, displacement, flux);
    for (int64_t k = 0; k < rows; k++)
        s->row[k * s->r + j] = flux[k];
}

double sp_pressure_row(const sp_pressure *s, int64_t j, int64_t k)
{
    return s->row[k * s->r + j];
}

double sp_pressure_gain(const sp_pressure *s, double frequency)
{
    const sp_pressure_parameters *p = &s->p;

    if (!(frequency > 0 && frequency < fmin(p->rate, p->radiation.rate) / 2))
        return 0;

    /* Butterworth's high-pass filter of order 4, |H|² = 1/(1 + (ω₀/ω)⁸), in the variable of the bilinear transform */
    const double ratio = tan(M_PI * p->band[0] / p->rate) / tan(M_PI * frequency / p->rate), square = ratio * ratio,
                 high = 1 / sqrt(1 + square * square * square * square);
    return high * sp_kernel_gain(&s->kernel, frequency / p->radiation.rate);
}

/* w += the rows of a few frames, the first of which is s->frames. */
static void add_panel(sp_pressure *s, int64_t count, const double *rates)
{
    const int64_t rows = s->radiation.count;
    double *w = (double *)s->flux.data + s->frames;

    /* Modal rates take one product for the whole panel. */
    if (s->r > 0)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)count, (int)rows, (int)s->r, 1, rates, (int)s->r,
                    s->row, (int)s->r, 0, s->product, (int)rows);

    for (int64_t f = 0; f < count; f++)
        if (s->r > 0)
            for (int64_t k = 0; k < rows; k++)
                w[f + k] += s->product[f * rows + k];
        else
            sp_radiation_flux(&s->radiation, rates + f * 3 * s->vertex_count, w + f);
}

int sp_pressure_add(sp_pressure *s, int64_t count, const double *rates)
{
    const int64_t width = s->r > 0 ? s->r : 3 * s->vertex_count, old = s->flux.count,
                  more = s->frames + count + s->radiation.count - old;
    double *w = sp_list_add(&s->flux, more, sizeof *w);
    SP_PASS(sp_allocated(s->context, w));

    /* The sums begin with 0; the last ones wait for frames to come. */
    for (int64_t i = 0; i < more; i++)
        w[i] = 0;

    for (int64_t done = 0; done < count; done += PANEL) {
        const int64_t some = count - done < PANEL ? count - done : PANEL;
        add_panel(s, some, rates + done * width);
        s->frames += some;
    }
    return SP_OK;
}

/* p at the position `at` of w, by the derivative of w per sample of the motion. */
static double derivative(const sp_pressure *s, double at, double *taps)
{
    const int64_t half = s->kernel.half, whole = (int64_t)floor(at), from = whole - half + 1;
    const double *w = s->flux.data;
    double sum = 0;

    sp_kernel_taps(&s->kernel, at - floor(at), taps);
    for (int64_t j = from < 0 ? -from : 0; j < 2 * half && from + j < s->flux.count; j++)
        sum += taps[j] * w[from + j];
    return sum * s->p.radiation.rate;
}

/* One second-order section of a Butterworth high-pass filter, by the bilinear transform with its corner frequency kept
 * (Oppenheim and Schafer §7.2); quality is 1/(2 cos φ) of its pair of poles. */
static void high_pass(double frequency, double rate, double quality, int64_t count, double *x)
{
    const double K = tan(M_PI * frequency / rate), scale = 1 / (1 + K / quality + K * K), a1 = 2 * (K * K - 1) * scale,
                 a2 = (1 - K / quality + K * K) * scale;

    double x1 = 0, x2 = 0, y1 = 0, y2 = 0;

    /* y = b (x − 2x₁ + x₂) − a₁ y₁ − a₂ y₂ */
    for (int64_t i = 0; i < count; i++) {
        const double y = scale * (x[i] - 2 * x1 + x2) - a1 * y1 - a2 * y2;
        x2 = x1;
        x1 = x[i];
        y2 = y1;
        y1 = fabs(y) < 1e-300 ? 0 : y; /* no denormal numbers in what decays for long */
        x[i] = y;
    }
}

int sp_pressure_finish(sp_pressure *s, sp_pool *pool, int64_t *count, double **samples)
{
    const sp_pressure_parameters *p = &s->p;
    const double step = fabs(p->radiation.rate / p->rate - 1) < 1e-9 ? 1 : p->radiation.rate / p->rate;
    /* The flux is complete up to the last frame plus the shortest delay. */
    const double last = (double)(s->frames - 1 + s->radiation.first - s->kernel.half);
    *count = (int64_t)floor(last / step) + 1;

    if (last < s->radiation.nearest / p->radiation.speed * p->radiation.rate)
        return sp_fail(
            s->context, SP_INPUT,
            "the motion of %.3g s is too short for its sound, which takes %.3g s to the listener and %.3g s in the "
            "filter of the upper band limit",
            (double)s->frames / p->radiation.rate, s->radiation.nearest / p->radiation.speed,
            (double)s->kernel.half / p->radiation.rate);

    double *x = sp_pool_raw(pool, *count, sizeof *x), *taps = sp_pool_raw(&s->pool, 2 * s->kernel.half, sizeof *taps);
    SP_PASS(sp_allocated(s->context, x && taps));

    for (int64_t n = 0; n < *count; n++)
        x[n] = derivative(s, (double)n * step - (double)s->radiation.first, taps);

    /* Four poles as two pairs, at the angles π/8 and 3π/8 */
    if (p->band[0] > 0) {
        high_pass(p->band[0], p->rate, 1 / (2 * cos(M_PI / 8)), *count, x);
        high_pass(p->band[0], p->rate, 1 / (2 * cos(3 * M_PI / 8)), *count, x);
    }

    *samples = x;
    return SP_OK;
}
