/* Films: pictures that are handed to ffmpeg, a child process, through a pipe. */
#ifndef TOOLS_RENDER_FILM_H
#define TOOLS_RENDER_FILM_H

#include "render/render.h"
#include "tools/common/tool.h"

#define TOOL_FILM_OPTIONS(fps_, speed_)                                                                                \
    {"fps",    0,           TOOL_INTEGER,                                                                              \
     (fps_),   "N",         "25",                                                                                      \
     .low = 1, .high = 240, .help = "of a film (-o NAME.mp4, .webm or .gif, by ffmpeg): pictures in a second"},        \
    {                                                                                                                  \
        "speed", 0, TOOL_REAL, (speed_), "X", "1", .low = 1e-9, .high = 1e9,                                           \
                                                   .help = "of a film: 1 is real time, 0.1 is ten times slower"        \
    }

typedef struct tool_film tool_film;

/* Returns true if the name ends like that of a film. A usage error for names of other pictures and films that simrender
 * does not write. */
bool tool_film_named(const char *path);

/* Chooses the pictures of a film of frames [*count] at time [*count] s, increasing. Picture k shows the frame whose
 * time is nearest to that of the first plus k speed / fps; first and last frame are shown. Frames that no picture shows
 * are removed from `frame`; the result [*count] says how many pictures show each of the others. Ends the process with a
 * usage error for fewer than two frames, which are no motion. */
int64_t *tool_film_schedule(int64_t fps, double speed, int64_t *count, int64_t *frame, const double *time,
                            sp_pool *pool);

/* Starts ffmpeg. Ends the process where it is not installed, and for sizes that the format does not have. */
tool_film *tool_film_open(const char *path, int64_t width, int64_t height, int64_t fps);

/* The next picture, `times` times. */
void tool_film_add(tool_film *film, const sp_image *image, int64_t times);

/* Waits for ffmpeg and finishes the output; ends the process with what ffmpeg says where it failed. */
void tool_film_close(tool_film *film);

#endif
