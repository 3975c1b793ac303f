/* Smooth text by FreeType. A font belongs to one thread at a time. */
#include "render/font.h"

#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include <stdlib.h>

struct sp_font {
    FT_Library library;
    FT_Face face;
};

bool sp_render_has_fonts(void)
{
    return true;
}

int sp_font_new(sp_context *context, const uint8_t *bytes, int64_t count, sp_font **result)
{
    sp_font *font = *result = calloc(1, sizeof *font);
    SP_PASS(sp_allocated(context, font));

    FT_Error error = FT_Init_FreeType(&font->library);
    if (!error)
        error = FT_New_Memory_Face(font->library, bytes, (FT_Long)count, 0, &font->face);
    if (!error && !FT_IS_SCALABLE(font->face))
        error = FT_Err_Unknown_File_Format;
    if (!error)
        return SP_OK;

    sp_font_free(font);
    *result = NULL;
    return (error & 0xff) == FT_Err_Out_Of_Memory
               ? sp_fail_memory(context)
               : sp_fail(context, SP_INPUT, "it is no font of outlines (FreeType's error %d)", error);
}

void sp_font_free(sp_font *font)
{
    if (!font)
        return;
    if (font->face)
        FT_Done_Face(font->face);
    if (font->library)
        FT_Done_FreeType(font->library);
    free(font);
}

/* The next character of a text in UTF-8, U+FFFD for what is none. */
static FT_ULong next_character(const char **text)
{
    const unsigned char *at = (const unsigned char *)*text;

    /* The first byte says how many follow: 0xxxxxxx none, 110xxxxx one, 1110xxxx two, 11110xxx three. */
    int more = *at >= 0xe0 ? 2 : 1;
    if (*at < 0x80)
        more = 0;
    else if (*at >= 0xf0 && *at < 0xf8)
        more = 3;
    FT_ULong value = *at < 0x80 ? *at : *at & (0x3fu >> more);
    bool good = *at < 0x80 || (*at >= 0xc2 && *at < 0xf8);

    (*text)++;
    for (int i = 0; good && i < more; i++) {
        good = (at[i + 1] & 0xc0) == 0x80;
        if (good) {
            value = value << 6 | (at[i + 1] & 0x3fu);
            (*text)++;
        }
    }
    return good ? value : 0xfffd;
}

static void blend(sp_image *image, int64_t left, int64_t top, const FT_Bitmap *bitmap, const uint8_t rgb[3])
{
    for (int64_t row = 0; row < bitmap->rows; row++)
        for (int64_t column = 0; column < bitmap->width; column++) {
            const int64_t x = left + column, y = top + row;
            if (x < 0 || y < 0 || x >= image->width || y >= image->height)
                continue;

            const int cover = bitmap->buffer[row * bitmap->pitch + column];
            uint8_t *to = image->rgb + 3 * (y * image->width + x);
            for (int k = 0; k < 3; k++)
                to[k] = (uint8_t)((to[k] * (255 - cover) + rgb[k] * cover + 127) / 255);
        }
}

/* Draws one line if `image` is not NULL; returns its width in 1/64 pixel. `x` and `base` are where it starts. */
static int64_t line(sp_font *font, sp_image *image, int64_t x, int64_t base, const uint8_t rgb[3], const char **text)
{
    int64_t pen = 0;
    FT_UInt last = 0;
    while (**text && **text != '\n') {
        const FT_UInt glyph = FT_Get_Char_Index(font->face, next_character(text));
        FT_Vector kern;
        if (last && FT_HAS_KERNING(font->face) && !FT_Get_Kerning(font->face, last, glyph, FT_KERNING_UNFITTED, &kern))
            pen += kern.x;
        last = glyph;

        if (FT_Load_Glyph(font->face, glyph, FT_LOAD_TARGET_LIGHT | FT_LOAD_NO_BITMAP))
            continue;
        FT_GlyphSlot slot = font->face->glyph;
        const int64_t advance = (slot->linearHoriAdvance + 512) / 1024; /* from 16.16 */

        /* Within a pixel the outline is moved by 1/64ths, so that letters keep their distances. */
        if (image && slot->format == FT_GLYPH_FORMAT_OUTLINE) {
            FT_Outline_Translate(&slot->outline, pen % 64, 0);
            if (!FT_Render_Glyph(slot, FT_RENDER_MODE_NORMAL))
                blend(image, x + pen / 64 + slot->bitmap_left, base - slot->bitmap_top, &slot->bitmap, rgb);
        }

        pen += advance;
    }
    return pen;
}

void sp_font_draw(sp_font *font, sp_image *image, int64_t x, int64_t y, int height, const uint8_t rgb[3],
                  const char *text)
{
    FT_Set_Pixel_Sizes(font->face, 0, (FT_UInt)height);
    for (int64_t base = y + 7 * height / 10;; base += height) {
        line(font, image, x, base, rgb, &text);
        if (!*text++)
            return;
    }
}

int64_t sp_font_width(sp_font *font, int height, const char *text)
{
    int64_t widest = 0;
    FT_Set_Pixel_Sizes(font->face, 0, (FT_UInt)height);
    for (;;) {
        const int64_t width = (line(font, NULL, 0, 0, NULL, &text) + 63) / 64;
        widest = width > widest ? width : widest;
        if (!*text++)
            return widest;
    }
}
