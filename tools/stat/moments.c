#include "tools/stat/moments.h"

#include "statistics/rainflow.h"

#include <math.h>

static void add_motion(int64_t count, const double *x, stat_moments *m)
{
    double square = 0;
    if (m->motions == 0) {
        m->origin = x[0];
        m->least = m->largest = x[0];
    }

    for (int64_t i = 0; i < count; i++) {
        const double d = x[i] - m->origin;
        m->sum[1] += d;
        m->sum[2] += d * d;
        m->sum[3] += d * d * d;
        m->sum[4] += d * d * d * d;
        m->least = fmin(m->least, x[i]);
        m->largest = fmax(m->largest, x[i]);
        square += x[i] * x[i] / (double)count;
    }

    m->count += (double)count;
    m->motions++;
    m->squares += square;
    m->fourths += square * square;
}

static void add_damage(sp_context *context, int64_t count, const double *x, stat_line line, stat_moments *m)
{
    sp_list cycles = {0};
    tool_check(sp_rainflow(context, count, x, &cycles), NULL);
    const double damage = sp_cycles_damage(cycles.count, cycles.data, line.strength, line.slope);
    m->damage += damage;
    m->worst = fmax(m->worst, damage);
    sp_list_free(&cycles);
}

void stat_central(const stat_moments *m, double c[5])
{
    const double n = m->count, a = m->sum[1] / n, b = m->sum[2] / n, d = m->sum[3] / n, e = m->sum[4] / n;
    c[1] = m->origin + a;
    c[2] = fmax(b - a * a, 0);
    c[3] = d - 3 * a * b + 2 * a * a * a;
    c[4] = e - 4 * a * d + 6 * a * a * b - 3 * a * a * a * a;
}

stat_moments *stat_sum_up(sp_context *context, stat_source *source, stat_line line, sp_pool *pool)
{
    const int64_t signals = source_signals(source);
    stat_moments *m = tool_allocate(pool, signals, sizeof *m);
    int64_t frames;

    while ((frames = source_next(source)) > 0)
        for (int64_t i = 0; i < signals; i++) {
            add_motion(frames, source_samples(source, i), &m[i]);
            if (line.strength > 0)
                add_damage(context, frames, source_samples(source, i), line, &m[i]);
        }

    if (m[0].motions == 0)
        tool_fail(SP_INPUT, tool_argument(0), "all of its motions failed");
    source_rewind(source);
    return m;
}
