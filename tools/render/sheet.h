/* A picture of simrender: one or several cells with captions, and the colour bar beside them. */
#ifndef TOOLS_RENDER_SHEET_H
#define TOOLS_RENDER_SHEET_H

#include "tools/render/figure.h"

typedef struct tool_sheet {
    int64_t width, height; /* of the picture */
    int64_t columns, rows, cell_width, cell_height;
    int letters; /* size of the text */
    sp_image picture, cell;
    sp_camera camera;
    double view[3], up[3], angle; /* of the camera, set by the caller before the first drawing */
} tool_sheet;

/* Parses the value of an option such as "960x720". */
void tool_sheet_pair(const char *option, const char *text, int64_t high, int64_t pair[2]);

/* size: "960x720", NULL: that for one cell, 480x360 for each of several; cells: "4x3", NULL: one. */
void tool_sheet_open(tool_figure *figure, const char *size, const char *cells, tool_sheet *sheet);
void tool_sheet_close(tool_sheet *sheet);

/* Draws the frame that the figure has loaded into a cell; cell 0 begins with camera, background and bar. On failure the
 * message is in the figure's context. */
int tool_sheet_draw(tool_figure *figure, tool_sheet *sheet, int64_t number, int64_t frame) SP_MUST_USE;

/* Fills unused cells, from `number` on, with the background. */
void tool_sheet_blank(tool_figure *figure, tool_sheet *sheet, int64_t number);

#endif
