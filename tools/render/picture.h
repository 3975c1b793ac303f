/* The annotations of a picture: a colour bar with numbers, captions, cells of a sheet. */
#ifndef TOOLS_RENDER_PICTURE_H
#define TOOLS_RENDER_PICTURE_H

#include "render/render.h"

/* How texts are written. */
typedef struct tool_letters {
    sp_font *font; /* NULL: letters of dots */
    int scale;     /* lines are 10 of it apart, letters about 6 wide */
    bool dark;     /* the background is dark, and the text pale */
} tool_letters;

/* Letters of a caption that is longer than those without a factor of the displacement: "basis 12  singular value
 * 1.23e-05". */
#define TOOL_PICTURE_LETTERS 34

/* The scale for a picture or cell of this size, at which captions of so many letters are legible and fit. */
int tool_picture_scale(int64_t width, int64_t height, int64_t letters);

/* Width in pixels that the colour bar needs. */
int64_t tool_picture_bar_width(int scale);

/* The bar at the right edge: colours from range[0] at the bottom to range[1] on top, `title` above in lines. */
void tool_picture_bar(sp_image *image, const tool_letters *letters, const double range[2], const char *title);

/* Rows at the lower border that a caption takes. */
int64_t tool_picture_caption_height(int scale);

/* A caption in the lower left corner. */
void tool_picture_caption(sp_image *image, const tool_letters *letters, const char *text);

/* Copies the pixels of `part` with their upper left corner at (x, y); pixels outside are clipped. */
void tool_picture_paste(sp_image *image, int64_t x, int64_t y, const sp_image *part);

#endif
