/* The annotations of a picture: a colour bar with numbers, captions, cells of a sheet. */
#ifndef TOOLS_RENDER_PICTURE_H
#define TOOLS_RENDER_PICTURE_H

#include "render/render.h"

/* Font size for a picture or cell of this size, at which captions are legible and fit: a factor of the 6×10 font. */
int tool_picture_letters(int64_t width, int64_t height);

/* Width in pixels that the colour bar needs. */
int64_t tool_picture_bar_width(int letters);

/* The bar at the right edge: colours from range[0] at the bottom to range[1] on top, `title` above in lines. */
void tool_picture_bar(sp_image *image, int letters, const double range[2], const char *title);

/* A caption in the lower left corner. */
void tool_picture_caption(sp_image *image, int letters, const char *text);

/* Copies the pixels of `part` with their upper left corner at (x, y); pixels outside are clipped. */
void tool_picture_paste(sp_image *image, int64_t x, int64_t y, const sp_image *part);

#endif
