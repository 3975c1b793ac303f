#include "formats/export/wav.h"
#include "tools/sound/sound.h"

#include <math.h>
#include <string.h>

/* ---- rows ---- */

/* Columns in parallel: each has values and rows of its own. */
static void fill_rows(sp_context *context, const sound_surface *surface, int64_t r, const tool_columns *columns,
                      sp_pressure *pressure)
{
    const tool_skin *skin = &surface->skin;
    sp_pool pool = {0};
    double *values = tool_allocate_raw(&pool, context->threads * 3 * skin->vertex_count, sizeof *values);
#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int part = 0; part < context->threads; part++)
        for (int64_t j = part; j < r; j += context->threads) {
            double *own = values + part * 3 * skin->vertex_count;
            tool_skin_values(skin, 3, columns->columns.U + j * columns->columns.rows, own);
            sp_pressure_column(pressure, j, own);
        }
    sp_pool_free(&pool);
}

sp_pressure *sound_pressure(sp_context *context, const sound_choice *choice, const sound_surface *surface, int listener,
                            double rate, int64_t r, const tool_columns *columns)
{
    const tool_skin *skin = &surface->skin;
    sp_pressure *pressure;
    sp_pressure_parameters p = {.radiation = {.kind = (enum sp_radiation_kind)choice->radiation,
                                              .density = choice->density,
                                              .speed = choice->speed,
                                              .rate = rate},
                                .rate = (double)choice->rate,
                                .band = {choice->band[0], choice->band[1]}};
    memcpy(p.radiation.listener, surface->listener[listener], sizeof p.radiation.listener);
    tool_check(sp_pressure_new(context, skin->vertex_count, skin->rest, skin->triangle_count, surface->triangles, r, &p,
                               &pressure),
               NULL);
    fill_rows(context, surface, r, columns, pressure);
    return pressure;
}

/* ---- the motion ---- */

typedef struct recorder {
    sp_context *context;
    const sound_choice *choice;
    const sound_surface *surface;
    tool_trajectory *motion;
    int64_t r;
    double rate, start; /* of frames, 1/s, 0 before it is known; time of the first, s */
    sp_pressure *pressure[SOUND_LISTENERS];
    double *full, *values; /* r = 0: velocities of the mesh and of the surface */
    double *held;          /* rates of the first frame, where it is a block of its own; else NULL */
    sp_pool pool;
} recorder;

static void check_times(const recorder *r, int64_t first)
{
    const sp_trajectory *block = &r->motion->trajectory;
    for (int64_t f = 0; f < block->frame_count; f++) {
        const double at = (block->time[f] - r->start) * r->rate - (double)(first + f);
        if (!(fabs(at) < 1e-3))
            tool_fail(SP_INPUT, r->motion->path,
                      "frame %lld is at %.9g s, where frames %.9g s apart have it at %.9g s: sound needs one rate",
                      (long long)(first + f), block->time[f], 1 / r->rate, r->start + (double)(first + f) / r->rate);
    }
}

static void begin(recorder *r)
{
    const tool_trajectory *m = r->motion;
    if (m->trajectory.r > 0 && !m->columns.path)
        tool_fail(SP_USAGE, m->path, "its frames are coordinates: name the basis too");
    r->r = m->warp ? 0 : m->trajectory.r; /* a warped shape is not linear in its coordinates */
    r->start = m->trajectory.time[0];
    if (r->r == 0) {
        tool_trajectory_need_all(m);
        r->full = tool_allocate(&r->pool, 3 * m->vertex_count, sizeof *r->full);
        r->values = tool_allocate(&r->pool, 3 * r->surface->skin.vertex_count, sizeof *r->values);
    }
}

/* Rates of coordinates or of the vertices of the surface, for all listeners. */
static void add_frames(recorder *r, int64_t count, const double *rates)
{
    for (int i = 0; i < r->surface->listeners; i++)
        tool_check(sp_pressure_add(r->pressure[i], count, rates), NULL);
}

/* Velocities of the vertices of the surface; valid until the next call. */
static const double *surface_velocities(recorder *r, int64_t frame)
{
    tool_trajectory_velocity(r->motion, frame, r->full);
    tool_skin_values(&r->surface->skin, 3, r->full, r->values);
    return r->values;
}

/* Keeps the first frame, alone in its block, until the next one tells the rate. */
static void hold(recorder *r)
{
    const int64_t count = r->r > 0 ? r->r : 3 * r->surface->skin.vertex_count;
    r->held = tool_allocate_copy(&r->pool, r->r > 0 ? r->motion->trajectory.qdot : surface_velocities(r, 0), count,
                                 sizeof *r->held);
}

/* Finds the rate from the times so far, and begins the sound. */
static void listen(recorder *r, int64_t first)
{
    const sp_trajectory *block = &r->motion->trajectory;
    const int64_t last = block->frame_count - 1;
    r->rate = (double)(first + last) / (block->time[last] - r->start);
    for (int i = 0; i < r->surface->listeners; i++)
        r->pressure[i] =
            sound_pressure(r->context, r->choice, r->surface, i, r->rate, r->r, r->r > 0 ? &r->motion->columns : NULL);
    if (r->held)
        add_frames(r, 1, r->held);
}

static void add_block(recorder *r, int64_t first)
{
    const sp_trajectory *block = &r->motion->trajectory;
    if (r->r > 0)
        add_frames(r, block->frame_count, block->qdot);
    for (int64_t f = 0; r->r == 0 && f < block->frame_count; f++)
        add_frames(r, 1, surface_velocities(r, first + f));
}

/* Half a period of a cosine from 1 to 0 at the end. */
static void fade_out(const recorder *r, sound_recording *recording)
{
    const double rate = (double)r->choice->rate, length = r->choice->fade * rate;
    if (length > (double)recording->count)
        tool_fail(SP_USAGE, NULL, "--fade: the recording has %.3g s, not %g", (double)recording->count / rate,
                  r->choice->fade);
    for (int i = 0; i < recording->channels; i++)
        for (int64_t n = 0; (double)n < length; n++) /* from the end */
            recording->sample[i][recording->count - 1 - n] *= 0.5 - 0.5 * cos(M_PI * (double)n / length);
}

static void finish(recorder *r, sound_recording *recording)
{
    recording->channels = r->surface->listeners;
    recording->count = INT64_MAX;
    recording->nearest = INFINITY;
    for (int i = 0; i < recording->channels; i++) {
        const sp_radiation *radiation = sp_pressure_radiation(r->pressure[i]);
        int64_t count;
        tool_check(sp_pressure_finish(r->pressure[i], &recording->pool, &count, &recording->sample[i]),
                   r->motion->path);
        recording->count = count < recording->count ? count : recording->count;
        recording->rows += radiation->count;
        recording->nearest = fmin(recording->nearest, radiation->nearest);
        recording->longest = radiation->longest;
        recording->farthest = fmax(recording->farthest, radiation->farthest);
        sp_pressure_free(r->pressure[i]);
    }
    fade_out(r, recording);
    for (int i = 0; i < recording->channels; i++)
        for (int64_t n = 0; n < recording->count; n++) {
            const double size = fabs(recording->sample[i][n]);
            recording->peak = fmax(recording->peak, isfinite(size) ? size : INFINITY);
        }
    if (!isfinite(recording->peak))
        tool_fail(SP_NUMERICAL, r->motion->path, "the pressure is not finite");
}

void sound_record(sp_context *context, const sound_choice *choice, const sound_surface *surface,
                  tool_trajectory *motion, sound_recording *recording)
{
    recorder r = {.context = context, .choice = choice, .surface = surface, .motion = motion};
    *recording = (sound_recording){0};
    for (int64_t frame = 0; tool_trajectory_have(motion, frame); frame += motion->trajectory.frame_count) {
        if (frame == 0) {
            begin(&r);
            recording->kinetic = motion->trajectory.energy[SP_ENERGY_KINETIC];
        }
        if (frame + motion->trajectory.frame_count < 2) {
            hold(&r);
            continue;
        }
        if (r.rate == 0)
            listen(&r, frame);
        check_times(&r, frame);
        add_block(&r, frame);
    }
    if (r.rate == 0)
        tool_fail(SP_INPUT, motion->path, "a motion of one frame has no sound");
    finish(&r, recording);
    sp_pool_free(&r.pool);
}

void sound_judge(const sound_choice *choice, const tool_trajectory *motion, const sound_recording *recording)
{
    const double limit = choice->speed / (2 * recording->longest);
    if (recording->kinetic > 0)
        tool_warn(motion->path, "the body moves in its first frame (%.3g J): the sound begins with a click",
                  recording->kinetic);
    if (limit < choice->band[1])
        tool_warn(motion->mesh.path,
                  "its triangles of up to %.3g m resolve sound up to %.3g Hz only: the directions of higher partials "
                  "are not accurate",
                  recording->longest, limit);
}

void sound_recording_free(sound_recording *recording)
{
    sp_pool_free(&recording->pool);
}

/* ---- the file ---- */

/* Full scale in Pa: that of the option, or 1 dB above the peak; 1 for silence. */
static double full_scale(const sound_choice *choice, const sound_recording *recording)
{
    static const double decibel = 1.1220184543019633; /* 10^(1/20) */
    const double scale = choice->full_scale_given ? choice->full_scale
                         : recording->peak > 0    ? recording->peak * decibel
                                                  : 1;
    int64_t clipped = 0;
    for (int c = 0; c < recording->channels; c++)
        for (int64_t n = 0; n < recording->count; n++)
            clipped += fabs(recording->sample[c][n]) > scale;
    if (clipped > 0 && choice->samples != SP_WAV_FLOAT) {
        tool_hint("--full-scale %.4g or --samples float has room for them", sp_round_up(recording->peak));
        tool_fail(SP_USAGE, NULL, "--full-scale: %lld of %lld samples are above %g Pa: the peak is %.4g Pa",
                  (long long)clipped, (long long)recording->count * recording->channels, scale, recording->peak);
    }
    return scale;
}

void sound_encode(sp_context *context, const sound_choice *choice, const sound_recording *recording, sp_pool *pool,
                  uint8_t **bytes, int64_t *count)
{
    const double scale = full_scale(choice, recording);
    double *value[SOUND_LISTENERS];
    char comment[80];
    for (int c = 0; c < recording->channels; c++) {
        value[c] = tool_allocate_raw(pool, recording->count, sizeof(double));
        for (int64_t n = 0; n < recording->count; n++)
            value[c][n] = recording->sample[c][n] / scale;
    }
    snprintf(comment, sizeof comment, "sound pressure; full scale is %.17g Pa", scale);
    tool_check(sp_wav_encode(context,
                             &(sp_wav){.channels = recording->channels,
                                       .rate = (int)choice->rate,
                                       .samples = (enum sp_wav_samples)choice->samples,
                                       .count = recording->count,
                                       .value = (const double *const *)value,
                                       .comment = comment},
                             pool, bytes, count),
               tool_output_path());
    tool_say("%.3f s of %lld Hz, full scale %.4g Pa, peak %.4g Pa, %lld delays over %.4g to %.4g m",
             (double)recording->count / (double)choice->rate, (long long)choice->rate, scale, recording->peak,
             (long long)recording->rows, recording->nearest, recording->farthest);
}
