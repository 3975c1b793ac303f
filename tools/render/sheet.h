/* A picture of simrender: one or several cells with captions, and the colour bar beside them. */
#ifndef TOOLS_RENDER_SHEET_H
#define TOOLS_RENDER_SHEET_H

#include "tools/render/figure.h"
#include "tools/render/picture.h"

typedef struct tool_sheet {
    sp_pool pool;          /* of the font */
    int64_t width, height; /* of the picture */
    int64_t columns, rows, cell_width, cell_height;
    int64_t gap; /* between cells and around them, pixels */
    tool_letters letters;
    bool captions;   /* set by the caller: there are some, and the camera leaves room for them */
    int64_t longest; /* letters of the longest caption; set by the caller, 0: unknown */
    bool bar;        /* there is a bar of colours */
    sp_image picture, cell;
    sp_camera camera;
    double view[3], up[3], angle; /* of the camera, set by the caller before the first drawing */
    sp_look look;                 /* likewise; here only its background matters */
} tool_sheet;

/* Parses the value of an option such as "960x720". */
void tool_sheet_pair(const char *option, const char *text, int64_t high, int64_t pair[2]);

/* size: "960x720", NULL: that for one cell, 480x360 for each of several; cells: "4x3", "auto": about as many columns as
 * rows for `count` pictures; NULL: one. bar: with room for the bar of colours. */
void tool_sheet_open(sp_context *context, bool bar, const char *size, const char *cells, int64_t count,
                     tool_sheet *sheet);
void tool_sheet_close(tool_sheet *sheet);

/* What the camera of a cell shows, still nothing: the lower border leaves room for the caption. */
sp_extent tool_sheet_extent(const tool_sheet *sheet);

/* Draws the frame that the figure has loaded into a cell; cell 0 begins with camera, background and bar. On failure the
 * message is in the figure's context. */
int tool_sheet_draw(tool_figure *figure, tool_sheet *sheet, int64_t number, int64_t frame) SP_MUST_USE;

/* Begins a picture: draws what is behind the cells. The camera is known. */
int tool_sheet_page(sp_context *context, tool_sheet *sheet) SP_MUST_USE;

/* Puts what was drawn in `cell` into its place in the picture, with a caption, which may be empty. */
void tool_sheet_paste(tool_sheet *sheet, int64_t number, const char *caption);

/* Keeps `cells` of the frames, from the first to the last at distances as equal as whole frames permit, with a remark
 * where one is a third longer than another; returns how many there are then. */
int64_t tool_sheet_spread(int64_t cells, int64_t count, int64_t *frame);

#endif
