#include "tools/render/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const uint8_t INK[3] = {40, 44, 52};

enum { LETTER_WIDTH = 6, LETTER_HEIGHT = 10, BAR_LETTERS = 16, TICKS = 5 };

int tool_picture_letters(int64_t width, int64_t height)
{
    int64_t letters = height >= 720   ? height / 360
                      : height >= 300 ? 2
                                      : 1,
            most = width / (34 * LETTER_WIDTH); /* a caption has to fit */
    return (int)(letters < most ? letters : most > 1 ? most : 1);
}

int64_t tool_picture_bar_width(int letters)
{
    return (int64_t)BAR_LETTERS * LETTER_WIDTH * letters;
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

void tool_picture_bar(sp_image *image, int letters, const double range[2], const char *title)
{
    int64_t margin = LETTER_WIDTH * letters, line = (LETTER_HEIGHT + 2) * letters;
    int64_t left = image->width - tool_picture_bar_width(letters) + margin, right = left + 3 * margin;
    int64_t top = image->height / 8 + 3 * line, bottom = image->height - image->height / 8;
    int titles = 1;
    for (const char *at = title; *at; at++)
        titles += *at == '\n';
    char text[32];
    for (const char *at = title; titles > 0; titles--) {
        size_t length = strcspn(at, "\n");
        snprintf(text, sizeof text, "%.*s", (int)length, at);
        sp_image_text(image, left, top - titles * line - line / 2, letters, INK, text);
        at += length + (at[length] != 0);
    }
    if (bottom <= top)
        return;
    rectangle(image, left - letters, top - letters, right + letters, bottom + letters, INK);
    for (int64_t y = top; y < bottom; y++) {
        float linear[3];
        sp_colormap(1 - ((double)(y - top) + 0.5) / (double)(bottom - top), linear);
        rectangle(image, left, y, right, y + 1, (uint8_t[3]){srgb(linear[0]), srgb(linear[1]), srgb(linear[2])});
    }
    for (int i = 0; i < TICKS; i++) {
        int64_t y = bottom - (bottom - top) * i / (TICKS - 1);
        double value = range[0] + (range[1] - range[0]) * i / (TICKS - 1);
        snprintf(text, sizeof text, "%.3g", value);
        rectangle(image, right, y - letters / 2, right + margin, y - letters / 2 + letters, INK);
        sp_image_text(image, right + margin + margin / 2, y - 7 * letters / 2, letters, INK, text);
    }
}

void tool_picture_caption(sp_image *image, int letters, const char *text)
{
    sp_image_text(image, 2 * LETTER_WIDTH * letters, image->height - 2 * LETTER_HEIGHT * letters, letters, INK, text);
}

void tool_picture_paste(sp_image *image, int64_t x, int64_t y, const sp_image *part)
{
    int64_t width = part->width < image->width - x ? part->width : image->width - x;
    for (int64_t row = 0; row < part->height && y + row < image->height && width > 0; row++)
        memcpy(image->rgb + 3 * ((y + row) * image->width + x), part->rgb + 3 * row * part->width, 3 * (size_t)width);
}
