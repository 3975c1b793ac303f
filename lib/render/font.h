/* Text in a font, for text.c: by FreeType (text_freetype.c), or absent in a build without it (text_left_out.c). */
#ifndef SP_RENDER_FONT_H
#define SP_RENDER_FONT_H

#include "render/render.h"

/* Lines are `height` pixels apart, which is the size of the font too; the base line of the first is at 7/10 of that
 * below y. */
void sp_font_draw(sp_font *font, sp_image *image, int64_t x, int64_t y, int height, const uint8_t rgb[3],
                  const char *text);

/* Pixels, of the longest line. */
int64_t sp_font_width(sp_font *font, int height, const char *text);

#endif
