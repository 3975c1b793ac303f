/* The signals whose statistics are wanted, motion by motion: of an ensemble, of a trajectory, or the columns of a CSV
 * file behind its times. Everything here ends the process on failure. */
#ifndef TOOLS_STAT_SOURCE_H
#define TOOLS_STAT_SOURCE_H

#include "tools/common/tool.h"

typedef struct stat_source stat_source;

/* signals: names as in `name` below, to choose some; count 0: all. settle: s, frames before it are left out. */
stat_source *source_open(sp_context *context, const char *path, const tool_texts *signals, double settle);
void source_close(stat_source *source);

int64_t source_signals(const stat_source *source);
const char *source_name(const stat_source *source, int64_t signal); /* as simexport: "v12_y", "q3"; or of a column */
double source_rate(const stat_source *source);                      /* Hz, of the frames */

/* The next motion that did not fail. Returns its number of frames, 0 after the last; `samples` of a signal are then
 * valid until the next call. */
int64_t source_next(stat_source *source);
const double *source_samples(const stat_source *source, int64_t signal);

/* Begins again with the first motion. */
void source_rewind(stat_source *source);

#endif
