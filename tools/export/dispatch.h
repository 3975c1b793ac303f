/* Which exporter writes what was named on the command line of simexport. */
#ifndef TOOLS_EXPORT_DISPATCH_H
#define TOOLS_EXPORT_DISPATCH_H

#include "base/context.h"
#include "tools/common/trajectory.h"
#include "tools/export/format.h"

enum { EXPORT_FILES_MOST = 64 };

/* What the options say. The table of options has their meaning. */
typedef struct export_options {
    int format, color; /* enum export_format; enum tool_vertex_color */
    const char *probes, *frames, *columns, *activation;
    tool_ride ride;
    int64_t every, samples;
    bool coordinates, positions, volume, stress, surface, fields, partial, level_given, single, sources_only, quantize;
    double level, tolerance, gravity[3];
} export_options;

/* What is named on the command line. */
typedef struct export_files {
    sp_context *context;
    const export_options *chosen;
    enum export_format format; /* not FORMAT_AUTO */
    int count;
    const char *paths[EXPORT_FILES_MOST];
} export_files;

/* Writes the output. Ends the process on failure, and where the files or options do not fit the format. */
void tool_export(const export_files *files);

#endif
