#include "tools/render/slice.h"

#include "formats/export/png.h"
#include "formats/field.h"
#include "tools/render/font.h"
#include "tools/render/picture.h"
#include "tools/render/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Linear RGB from the surface on outward, and inward. */
static const float NEAR_OUT[3] = {1, 0.86f, 0.62f}, FAR_OUT[3] = {0.55f, 0.16f, 0.02f}, NEAR_IN[3] = {0.62f, 0.86f, 1},
                   FAR_IN[3] = {0.02f, 0.1f, 0.42f};
static const float SURFACE[3] = {0.005f, 0.005f, 0.009f};
static const double DARKEST = 12;  /* contour lines from the surface, where their distance is given */
static const float LINE = 0.35f;   /* light of a contour line, of that beside it */
static const double THICKNESS = 2; /* of contour lines, in pixels of a picture of 720 x 720 */

/* What a pixel shows: the plane has `normal`, and the picture `across` to the right and `upward`. */
typedef struct plane {
    int normal, across, upward;
    double at; /* m */
} plane;

static plane parse_plane(const char *text, const sp_field *field)
{
    char *end;
    plane p = {.normal = *text ? *text - 'x' : -1};

    if (p.normal < 0 || p.normal > 2 || text[1] != '=' || !text[2])
        tool_fail(SP_USAGE, NULL, "--slice: \"%s\" is not x, y or z, = and a number from 0 to 1", text);

    const double fraction = strtod(text + 2, &end);
    if (*end || !(fraction >= 0 && fraction <= 1))
        tool_fail(SP_USAGE, NULL, "--slice: \"%s\" is not a number from 0 to 1", text + 2);

    p.across = p.normal == 0 ? 1 : 0;
    p.upward = p.normal == 2 ? 1 : 2;
    p.at = field->origin[p.normal] + fraction * field->spacing * (double)field->cells[p.normal];
    return p;
}

static uint8_t srgb(float linear)
{
    const float value = linear <= 0.0031308f ? 12.92f * linear : 1.055f * powf(linear, 1 / 2.4f) - 0.055f;
    return (uint8_t)lrintf(255 * fminf(fmaxf(value, 0), 1));
}

/* 1, 2 or 5 times a power of ten, about a twelfth of the range. */
static double line_step(double range)
{
    static const double steps[] = {1, 2, 5}, ends[] = {1.5, 3.5, 7.5}; /* the ratios below which a step is taken */
    const double power = pow(10, floor(log10(range / 12))), ratio = range / 12 / power;
    for (int i = 0; i < TOOL_COUNT(steps); i++)
        if (ratio < ends[i])
            return power * steps[i];
    return power * 10;
}

/* The part of a pixel that a line covers: its middle is `away` pixels from that of the pixel. */
static float line_cover(double away, double thickness)
{
    return (float)fmin(fmax(0.5 + 0.5 * thickness - away, 0), fmin(thickness, 1));
}

/* range: the distances inside and outside with the darkest colours. Lines get thicker with the picture, and that at the
   surface is half as thick again, so that they are seen in a picture of half the size. */
static void paint(const sp_field *field, const plane *p, const double range[2], double step, sp_image *image)
{
    const double thickness =
        fmax(THICKNESS * (double)(image->width < image->height ? image->width : image->height) / 720, 1);
    const double pixel[2] = {field->spacing * (double)field->cells[p->across] / (double)image->width,
                             field->spacing * (double)field->cells[p->upward] / (double)image->height};
    const double side = fmax(pixel[0], pixel[1]);

    for (int64_t row = 0; row < image->height; row++)
        for (int64_t column = 0; column < image->width; column++) {
            double point[3], gradient[3];

            point[p->normal] = p->at;
            point[p->across] = field->origin[p->across] + pixel[0] * ((double)column + 0.5);
            point[p->upward] = field->origin[p->upward] + pixel[1] * ((double)(image->height - 1 - row) + 0.5);

            const double d = sp_field_interpolate(field, point, gradient);
            const double slope = fmax(hypot(gradient[p->across], gradient[p->upward]), 1e-3);

            const float t = (float)fmin(fabs(d) / range[d >= 0], 1),
                        light =
                            1 - (1 - LINE) * line_cover(fabs(d - step * rint(d / step)) / (side * slope), thickness),
                        surface = line_cover(fabs(d) / (side * slope), 1.5 * thickness);

            uint8_t *to = image->rgb + 3 * (row * image->width + column);
            for (int k = 0; k < 3; k++) {
                const float beside =
                    d < 0 ? NEAR_IN[k] + t * (FAR_IN[k] - NEAR_IN[k]) : NEAR_OUT[k] + t * (FAR_OUT[k] - NEAR_OUT[k]);
                to[k] = srgb(surface * SURFACE[k] + (1 - surface) * light * beside);
            }
        }
}

/* The sizes of the picture and of its letters; returns the height of the caption, which is below the slice. */
static int64_t choose_size(const sp_field *field, const plane *p, const char *size_text, int64_t size[2],
                           tool_letters *letters)
{
    const double sides[2] = {(double)field->cells[p->across], (double)field->cells[p->upward]},
                 longer = fmax(sides[0], sides[1]);

    for (int k = 0; k < 2; k++)
        size[k] = (int64_t)fmax(rint(720 * sides[k] / longer), 16);
    if (size_text)
        tool_sheet_pair("size", size_text, 16384, size);

    letters->scale = tool_picture_scale(size[0], size[1], TOOL_PICTURE_LETTERS);
    const int64_t strip = tool_picture_caption_height(letters->scale);
    size[1] += size_text ? 0 : strip;
    if (size[1] <= strip)
        tool_fail(SP_USAGE, NULL, "--size: %lldx%lld has no room for a slice above its caption", (long long)size[0],
                  (long long)size[1]);
    return strip;
}

/* The distances inside and outside that have the darkest colours; returns the distance between contour lines. contours:
 * that of --contours; 0: by the field. */
static double choose_range(const sp_field *field, double contours, double range[2])
{
    range[0] = range[1] = 0;
    for (int64_t i = 0; i < sp_field_vertices(field); i++) {
        double *to = &range[field->distance[i] >= 0];
        *to = fmax(*to, fabs((double)field->distance[i]));
    }

    for (int k = 0; k < 2; k++)
        range[k] = contours > 0 ? DARKEST * contours : range[k] > 0 ? range[k] : field->spacing;
    return contours > 0 ? contours : line_step(fmax(range[0], range[1]));
}

void tool_render_slice(sp_context *context, const char *path, const char *slice, double contours, const char *size_text)
{
    static const char *const kinds[] = {"field", NULL};
    sp_file file;
    sp_field field;
    sp_image image, picture;
    sp_pool pool = {0};
    tool_letters letters = {0};
    int64_t size[2], count;
    uint8_t *bytes;
    double range[2];
    char caption[120];

    tool_read(path, NULL, kinds, false, &file);
    tool_check(sp_field_read(context, &file, &field), path);

    const plane p = parse_plane(slice, &field);
    const int64_t strip = choose_size(&field, &p, size_text, size, &letters);
    tool_check(sp_image_new(context, size[0], size[1] - strip, &image), NULL);
    tool_check(sp_image_new(context, size[0], size[1], &picture), NULL);
    memset(picture.rgb, 255, (size_t)(3 * size[0] * size[1]));

    const double step = choose_range(&field, contours, range);
    paint(&field, &p, range, step, &image);

    /* a plane through 0 up to rounding is called so */
    const double place = fabs(p.at) < 1e-9 * field.spacing ? 0 : p.at;
    snprintf(caption, sizeof caption, "%c = %.4g m, lines every %.4g m", 'x' + p.normal, place, step);
    letters.font = tool_font_open(context, &pool);
    tool_picture_paste(&picture, 0, 0, &image);
    tool_picture_caption(&picture, &letters, caption);
    sp_font_free(letters.font);

    tool_check(sp_png_encode(context, &picture, &pool, &bytes, &count), path);
    tool_write_bytes(tool_output_path(), bytes, count);
    tool_say("1 picture of %lldx%lld; %s", (long long)size[0], (long long)size[1], caption);

    sp_pool_free(&pool);
    sp_image_free(&image);
    sp_image_free(&picture);
    sp_field_free(&field);
    sp_file_free(&file);
}
