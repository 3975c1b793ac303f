#include "render/font.h"

bool sp_render_has_fonts(void)
{
    return false;
}

int sp_font_new(sp_context *context, const uint8_t *bytes, int64_t count, sp_font **font)
{
    (void)bytes;
    (void)count;
    *font = NULL;
    return sp_fail(context, SP_USAGE, "this build has no fonts (meson setup -Dfreetype=enabled)");
}

void sp_font_free(sp_font *font)
{
    (void)font;
}

void sp_font_draw(sp_font *font, sp_image *image, int64_t x, int64_t y, int height, const uint8_t rgb[3],
                  const char *text)
{
    (void)font;
    (void)image;
    (void)x;
    (void)y;
    (void)height;
    (void)rgb;
    (void)text;
}

int64_t sp_font_width(sp_font *font, int height, const char *text)
{
    (void)font;
    (void)height;
    (void)text;
    return 0;
}
