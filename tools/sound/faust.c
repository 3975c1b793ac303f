#include "formats/damping.h"
#include "formats/export/faust_write.h"
#include "tools/common/anchors.h"
#include "tools/common/places.h"
#include "tools/sound/sound.h"

#include <complex.h>
#include <math.h>
#include <string.h>

/* --strike VERTEX:JX,JY,JZ: an impulse at a vertex. */
typedef struct strike {
    tool_place place;
    double impulse[3]; /* N s */
} strike;

static strike parse_strike(sp_context *context, const sound_choice *choice, const tool_trajectory *motion,
                           sp_pool *pool)
{
    const char *text = choice->strike, *colon = text ? strrchr(text, ':') : NULL, *at = colon ? colon + 1 : NULL;
    strike s;
    sp_list list = {0};
    if (!text)
        tool_fail(SP_USAGE, NULL, "a program in Faust needs --strike VERTEX:JX,JY,JZ");
    if (!colon || !tool_parse_numbers(&at, 3, s.impulse) || *at || at[-1] == ',' ||
        !isfinite(s.impulse[0] + s.impulse[1] + s.impulse[2]))
        tool_fail(SP_USAGE, NULL, "--strike: \"%s\" is not VERTEX:JX,JY,JZ", text);
    char *name = tool_allocate_copy(pool, text, colon - text + 1, 1);
    name[colon - text] = 0;
    tool_places_parse(&(tool_place_names){.context = context,
                                          .option = "strike",
                                          .vertex_count = motion->mesh.mesh.vertex_count,
                                          .mesh = &motion->mesh.mesh,
                                          .mesh_path = motion->mesh.path},
                      name, &list);
    if (list.count != 1)
        tool_fail(SP_USAGE, NULL, "--strike: \"%s\" names %lld vertices", name, (long long)list.count);
    s.place = *(const tool_place *)list.data;
    sp_list_free(&list);
    return s;
}

/* The component of the impulse in a mode, which is the rate of its amplitude after the strike. */
static double rate_after(const strike *s, const tool_trajectory *motion, int64_t mode)
{
    const sp_columns *modes = &motion->columns.columns;
    const int64_t *corner;
    const double *weight;
    double rate = 0;
    const int count = tool_place_corners(&motion->mesh.mesh, &s->place, &corner, &weight);
    for (int c = 0; c < count; c++)
        for (int k = 0; k < 3; k++)
            rate += weight[c] * modes->U[mode * modes->rows + 3 * corner[c] + k] * s->impulse[k];
    return rate;
}

/* Σ_k b_k exp(−s k/rate): what arrives of a rate exp(s t), `delay` samples earlier. */
static double complex transfer(const sp_pressure *pressure, int64_t mode, double rate, double complex s, int64_t delay)
{
    const sp_radiation *radiation = sp_pressure_radiation(pressure);
    double complex sum = 0;
    for (int64_t k = 0; k < radiation->count; k++)
        sum += sp_pressure_row(pressure, mode, k) * cexp(-s * (double)(radiation->first + k - delay) / rate);
    return sum;
}

/* Partials below the stop band of the band limits, 80 dB, are left out. */
static const double LEAST_GAIN = 1e-4;

/* p = Re(z exp(s t)), with the gain of the band limits, from q̇ = v exp(−σt) (cos ωt − σ/ω sin ωt) = Re(v (1 + iσ/ω)
 * exp(s t)) with s = −σ + iω. */
static bool make_partial(const sp_pressure *pressure, const sound_choice *choice, int64_t mode, double lambda, double c,
                         double velocity, int64_t delay, sp_partial *partial)
{
    const double sigma = 0.5 * c, square = lambda - sigma * sigma, omega = sqrt(fmax(square, 0));
    if (!(omega > 0))
        return false;
    const double complex s = -sigma + omega * I, z = velocity * (1 + sigma / omega * I) * s *
                                                     transfer(pressure, mode, (double)choice->rate, s, delay);
    const double gain = sp_pressure_gain(pressure, omega / (2 * M_PI));
    *partial = (sp_partial){omega / (2 * M_PI), 1 / sigma, gain * cabs(z), carg(z)};
    return gain > LEAST_GAIN && partial->amplitude != 0; /* or NaN */
}

/* Full scale in Pa: that of the option, or 1 dB above the sum of all amplitudes, which no strike of strength 1 exceeds.
 */
static double full_scale(const sound_choice *choice, const char *path, int64_t count, const sp_partial *partials)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += partials[i].amplitude;
    if (!isfinite(sum))
        tool_fail(SP_NUMERICAL, path, "the pressure after the strike is not finite");
    return choice->full_scale_given ? choice->full_scale : 1.1220184543019633 * sum;
}

void sound_write_faust(sp_context *context, const sound_choice *choice, const sound_surface *surface,
                       const tool_trajectory *motion, tool_output *output)
{
    const sp_columns *modes = &motion->columns.columns;
    const double rate = (double)choice->rate;
    sp_pool pool = {0};
    const strike hit = parse_strike(context, choice, motion, &pool);
    double *damping = sound_damping(context, choice, motion, &pool);
    sp_pressure *pressure = sound_pressure(context, choice, surface, 0, rate, modes->count, &motion->columns);
    const int64_t delay = (int64_t)floor(sp_pressure_radiation(pressure)->nearest / choice->speed * rate);
    sp_partial *partials = tool_allocate(&pool, modes->count, sizeof *partials);
    sp_faust faust = {.name = tool_base_name(motion->mesh.path), .partials = partials, .delay = (double)delay / rate};
    for (int64_t i = 0; i < modes->count; i++)
        faust.count += make_partial(pressure, choice, i, modes->eigenvalue[i], damping[i], rate_after(&hit, motion, i),
                                    delay, &partials[faust.count]);
    if (faust.count == 0)
        tool_fail(SP_USAGE, motion->columns.path, "the strike excites no mode between %g and %g Hz", choice->band[0],
                  choice->band[1]);
    faust.full_scale = full_scale(choice, motion->columns.path, faust.count, partials);
    tool_check(sp_faust_write(context, tool_output_descriptor(output), &faust), tool_output_path());
    tool_say("%lld of %lld modes, full scale %.4g Pa", (long long)faust.count, (long long)modes->count,
             faust.full_scale);
    sp_pressure_free(pressure);
    sp_pool_free(&pool);
}
