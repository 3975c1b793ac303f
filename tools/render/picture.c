#include "tools/render/picture.h"

#include "tools/common/tool.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint8_t INKS[2][3] = {{40, 44, 52}, {225, 228, 233}}; /* on a pale and on a dark background */

enum { LETTER_WIDTH = 6, LETTER_HEIGHT = 10, BAR_LETTERS = 16 };

int tool_picture_scale(int64_t width, int64_t height, int64_t letters)
{
    const int64_t legible = height >= 720   ? height / 360
                            : height >= 300 ? 2
                                            : 1,
                  most = width / (letters * LETTER_WIDTH);
    return (int)(legible < most ? legible : most > 1 ? most : 1);
}

int64_t tool_picture_bar_width(int scale)
{
    return (int64_t)BAR_LETTERS * LETTER_WIDTH * scale;
}

static void rectangle(sp_image *image, int64_t left, int64_t top, int64_t right, int64_t bottom, const uint8_t rgb[3])
{
    for (int64_t y = top < 0 ? 0 : top; y < bottom && y < image->height; y++)
        for (int64_t x = left < 0 ? 0 : left; x < right && x < image->width; x++)
            memcpy(image->rgb + 3 * (y * image->width + x), rgb, 3);
}

static uint8_t srgb(float linear)
{
    float value = linear <= 0.0031308f ? 12.92f * linear : 1.055f * powf(linear, 1 / 2.4f) - 0.055f;
    return (uint8_t)lrintf(255 * fminf(fmaxf(value, 0), 1));
}

/* 1, 2 or 5 times a power of ten, such that at most `parts` + 1 of its multiples lie in the range. */
static double tick_step(double span, double parts)
{
    static const double steps[] = {1, 2, 5};
    const double power = span > 0 ? pow(10, floor(log10(span / parts))) : 1, ratio = span / parts / power;
    for (int i = 0; i < TOOL_COUNT(steps); i++)
        if (ratio <= steps[i])
            return power * steps[i];
    return power * 10;
}

typedef struct bar_place {
    sp_image *image;
    const tool_letters *letters;
    int64_t right, top, bottom; /* pixels */
    double range[2];
} bar_place;

static void tick(const bar_place *bar, double value, int digits)
{
    const int scale = bar->letters->scale;
    const int64_t margin = LETTER_WIDTH * scale;
    const double span = bar->range[1] - bar->range[0], part = span > 0 ? (value - bar->range[0]) / span : 0;
    const int64_t y = bar->bottom - (int64_t)rint((double)(bar->bottom - bar->top) * part);
    char text[32];
    /* a multiple of the step may be 1e-17 instead of 0 */
    snprintf(text, sizeof text, "%.*g", digits, fabs(value) < 1e-9 * span ? 0 : value);

    rectangle(bar->image, bar->right, y - scale / 2, bar->right + margin, y - scale / 2 + scale,
              INKS[bar->letters->dark]);
    sp_image_text(bar->image, bar->letters->font, bar->right + margin + margin / 2, y - 7 * scale / 2, scale,
                  INKS[bar->letters->dark], text);
}

void tool_picture_bar(sp_image *image, const tool_letters *letters, const double range[2], const char *title)
{
    const uint8_t *const ink = INKS[letters->dark];
    const int scale = letters->scale;
    int64_t margin = LETTER_WIDTH * scale, line = (LETTER_HEIGHT + 2) * scale;
    int64_t left = image->width - tool_picture_bar_width(scale) + margin, right = left + 3 * margin;
    int64_t top = image->height / 8 + 3 * line, bottom = image->height - image->height / 8;

    int titles = 1;
    for (const char *at = title; *at; at++)
        titles += *at == '\n';

    char text[32];
    for (const char *at = title; titles > 0; titles--) {
        size_t length = strcspn(at, "\n");
        snprintf(text, sizeof text, "%.*s", (int)length, at);
        sp_image_text(image, letters->font, left, top - titles * line - line / 2, scale, ink, text);
        at += length + (at[length] != 0);
    }

    if (bottom <= top)
        return;

    rectangle(image, left - scale, top - scale, right + scale, bottom + scale, ink);
    for (int64_t y = top; y < bottom; y++) {
        float linear[3];
        sp_colormap(1 - ((double)(y - top) + 0.5) / (double)(bottom - top), linear);
        rectangle(image, left, y, right, y + 1, (uint8_t[3]){srgb(linear[0]), srgb(linear[1]), srgb(linear[2])});
    }
    /* Round numbers, and the ends of the range where no such number is near. */
    const double span = range[1] - range[0], room = (double)(bottom - top) / (16 * scale),
                 step = tick_step(span, fmax(1, fmin(6, floor(room))));
    const bar_place place = {image, letters, right, top, bottom, {range[0], range[1]}};

    if (!(span > 0)) {
        tick(&place, range[0], 3);
        return;
    }

    for (int i = 0; i < 8; i++) {
        const double value = (ceil(range[0] / step) + i) * step;
        if (value <= range[1])
            tick(&place, value, 6);
    }

    for (int i = 0; i < 2; i++)
        if (fabs(range[i] - step * rint(range[i] / step)) * (double)(bottom - top) > 11 * scale * span)
            tick(&place, range[i], 3);
}

int64_t tool_picture_caption_height(int scale)
{
    return (int64_t)2 * LETTER_HEIGHT * scale;
}

void tool_picture_caption(sp_image *image, const tool_letters *letters, const char *text)
{
    const int scale = letters->scale;
    sp_image_text(image, letters->font, 2 * LETTER_WIDTH * scale, image->height - 3 * LETTER_HEIGHT * scale / 2, scale,
                  INKS[letters->dark], text);
}

void tool_picture_paste(sp_image *image, int64_t x, int64_t y, const sp_image *part)
{
    int64_t width = part->width < image->width - x ? part->width : image->width - x;
    if (width <= 0)
        return;
    for (int64_t row = 0; row < part->height && y + row < image->height; row++)
        memcpy(image->rgb + 3 * ((y + row) * image->width + x), part->rgb + 3 * row * part->width, 3 * (size_t)width);
}
