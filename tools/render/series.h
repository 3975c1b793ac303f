/* The frames of a series, each drawn by one thread; they are measured and written in their order. */
#ifndef TOOLS_RENDER_SERIES_H
#define TOOLS_RENDER_SERIES_H

#include "tools/render/film.h"
#include "tools/render/sheet.h"

/* What a thread draws a frame with: a context, a figure and a picture of its own. */
typedef struct tool_render_worker tool_render_worker;

/* `count` workers from `pool`, which share what `figure` has read. pictures: each has a picture of this size
 * (tool_sheet_open) with the camera of `sheet`; else they only measure. */
tool_render_worker *tool_render_workers_new(const tool_figure *figure, const tool_sheet *sheet, const char *size,
                                            bool pictures, int count, sp_pool *pool);
void tool_render_workers_close(tool_render_worker *workers, int count);

/* Widens the figure's range of colours and what its camera shows, where these are wanted, to those of all frames; the
 * workers get the same. The first failure in the order of the frames ends the program. */
void tool_render_widen(tool_figure *figure, tool_render_worker *workers, int threads, bool range, bool view,
                       int64_t count, const int64_t *frame);

/* Draws all frames and writes one picture for each, numbered from 0 in the pattern of the output's name; or hands each
 * shown [count] times to `film`, if that is not NULL. */
void tool_render_series(tool_figure *figure, tool_render_worker *workers, int threads, int64_t count,
                        const int64_t *frame, tool_film *film, const int64_t *shown);

#endif
