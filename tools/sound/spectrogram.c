#include "sound/spectrogram.h"

#include "formats/export/png.h"
#include "tools/render/font.h"
#include "tools/sound/sound.h"

#include <math.h>
#include <string.h>

/* The picture in pixels: the field of spectra, axes to its left and below, the scale of levels to its right. */
enum { LEFT = 62, TOP = 14, WIDTH = 640, HEIGHT = 360, RIGHT = 84, BELOW = 40, BAR = 14, LEVEL_STEP = 3 };

static const uint8_t INK[3] = {30, 30, 30};

/* dB above 20 µPa of a sine with this amplitude in Pa. */
static double level_of(double amplitude)
{
    return amplitude > 0 ? 20 * log10(amplitude / M_SQRT2 / 20e-6) : -INFINITY;
}

typedef struct picture {
    const sound_choice *choice;
    sp_spectrogram spectra;
    sp_image image;
    sp_font *font;
    double low, high; /* Hz, of the axis */
    double top;       /* dB, the highest level */
    double duration;  /* s */
} picture;

static void set_pixel(picture *p, int64_t x, int64_t y, const uint8_t rgb[3])
{
    memcpy(p->image.rgb + 3 * (y * p->image.width + x), rgb, 3);
}

/* In steps of a few decibels, in which pictures are small. */
static void set_level(picture *p, int64_t x, int64_t y, double level)
{
    const double range = p->choice->range, below = ceil((p->top - level) / LEVEL_STEP) * LEVEL_STEP;
    float linear[3];
    uint8_t rgb[3];
    sp_colormap(isfinite(level) ? 1 - below / range : 0, linear);
    for (int k = 0; k < 3; k++) {
        const double v = linear[k] <= 0.0031308f ? 12.92 * linear[k] : 1.055 * pow(linear[k], 1 / 2.4) - 0.055;
        rgb[k] = (uint8_t)lrint(255 * fmin(1, fmax(0, v)));
    }
    set_pixel(p, x, y, rgb);
}

static double frequency_at(const picture *p, double row)
{
    return p->high * pow(p->low / p->high, row / HEIGHT);
}

/* A pixel of several bins has the largest of them. */
static double pixel_level(const picture *p, int64_t frame, int64_t row)
{
    const double bin = (double)p->spectra.size / (double)p->choice->rate, high = frequency_at(p, (double)row) * bin,
                 low = frequency_at(p, (double)row + 1) * bin;
    double most = sp_spectrogram_at(&p->spectra, frame, 0.5 * (low + high));
    for (double k = ceil(low); k < high; k++)
        most = fmax(most, sp_spectrogram_at(&p->spectra, frame, k));
    return level_of(most);
}

static void draw_field(picture *p)
{
    for (int64_t x = 0; x < WIDTH; x++)
        for (int64_t y = 0; y < HEIGHT; y++)
            set_level(p, LEFT + x, TOP + y, pixel_level(p, x, y));
    for (int64_t y = 0; y < HEIGHT; y++)
        for (int64_t x = 0; x < BAR; x++)
            set_level(p, LEFT + WIDTH + 16 + x, TOP + y, p->top - p->choice->range * (double)y / HEIGHT);
}

static void write_text(picture *p, int64_t x, int64_t y, const char *text)
{
    sp_image_text(&p->image, p->font, x, y, 1, INK, text);
}

static void draw_frequencies(picture *p)
{
    static const double marks[] = {1, 2, 5};
    char text[16];
    for (double decade = 1; decade <= 1e5; decade *= 10)
        for (int k = 0; k < 3; k++) {
            const double f = marks[k] * decade, row = HEIGHT * log(p->high / f) / log(p->high / p->low);
            if (!(row >= 0 && row <= HEIGHT - 1))
                continue;
            for (int64_t x = LEFT - 5; x < LEFT; x++)
                set_pixel(p, x, TOP + (int64_t)row, INK);
            snprintf(text, sizeof text, f < 1000 ? "%g" : "%gk", f < 1000 ? f : f / 1000);
            write_text(p, LEFT - 9 - sp_text_width(p->font, 1, text), TOP + (int64_t)row - 5, text);
        }
    write_text(p, 6, TOP + HEIGHT / 2 - 5, "Hz");
}

/* A step of 1, 2 or 5 times a power of ten with at most `most` of them in the range. */
static double round_step(double range, int most)
{
    const double least = range / most, decade = pow(10, floor(log10(least)));
    return least <= decade ? decade : least <= 2 * decade ? 2 * decade : least <= 5 * decade ? 5 * decade : 10 * decade;
}

static void draw_times(picture *p)
{
    const double step = round_step(p->duration, 8);
    char text[24];
    for (int i = 0; i * step <= p->duration; i++) {
        const int64_t x = LEFT + (int64_t)((WIDTH - 1) * i * step / p->duration);
        for (int64_t y = TOP + HEIGHT; y < TOP + HEIGHT + 5; y++)
            set_pixel(p, x, y, INK);
        snprintf(text, sizeof text, "%.6g", i * step);
        write_text(p, x - sp_text_width(p->font, 1, text) / 2, TOP + HEIGHT + 8, text);
    }
    write_text(p, LEFT + WIDTH / 2, TOP + HEIGHT + 24, "s");
}

static void draw_levels(picture *p)
{
    char text[24];
    for (double level = 10 * floor(p->top / 10); level >= p->top - p->choice->range; level -= 10) {
        const double row = HEIGHT * (p->top - level) / p->choice->range;
        snprintf(text, sizeof text, "%g dB", level);
        if (row < HEIGHT - 1)
            write_text(p, LEFT + WIDTH + 16 + BAR + 6, TOP + (int64_t)row - 5, text);
    }
}

/* Some 90 ms, in which partials 25 Hz apart are separate. */
static int64_t piece_size(int64_t rate)
{
    int64_t size = 256;
    while ((double)size < 0.09 * (double)rate)
        size *= 2;
    return size;
}

static void find_top(picture *p)
{
    double most = 0;
    for (int64_t i = 0; i < p->spectra.frames * p->spectra.bins; i++)
        most = fmax(most, p->spectra.amplitude[i]);
    p->top = most > 0 ? ceil(level_of(most) / LEVEL_STEP) * LEVEL_STEP + 0.0 : 0; /* no −0 */
}

void sound_draw(sp_context *context, const sound_choice *choice, const sound_recording *recording, tool_output *output)
{
    sp_pool pool = {0};
    picture p = {.choice = choice,
                 .low = fmax(choice->band[0], 20),
                 .high = choice->band[1],
                 .duration = (double)recording->count / (double)choice->rate};
    const char *path = choice->spectrogram;
    uint8_t *bytes;
    int64_t count;
    if (p.low >= p.high)
        p.low = 0.1 * p.high;
    p.font = tool_font_open(context, &pool);
    tool_check(sp_spectrogram_new(context, recording->count, recording->sample[0], piece_size(choice->rate), WIDTH,
                                  &pool, &p.spectra),
               path);
    tool_check(sp_image_new(context, LEFT + WIDTH + RIGHT, TOP + HEIGHT + BELOW, &p.image), path);
    memset(p.image.rgb, 255, (size_t)(3 * p.image.width * p.image.height));
    find_top(&p);
    draw_field(&p);
    draw_frequencies(&p);
    draw_times(&p);
    draw_levels(&p);
    tool_check(sp_png_encode(context, &p.image, &pool, &bytes, &count), path);
    tool_output_bytes(output, bytes, count);
    sp_font_free(p.font);
    sp_image_free(&p.image);
    sp_pool_free(&pool);
}
