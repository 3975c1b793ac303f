/* A CSV table over time to which several motions add columns of their own. */
#ifndef TOOLS_EXPORT_TABLE_H
#define TOOLS_EXPORT_TABLE_H

#include "formats/export/csv_write.h"
#include "tools/common/trajectory.h"

/* What the columns of CSV files of motions are chosen by. */
typedef struct export_choice {
    const char *target, *frames; /* as tool_frames_parse takes them */
    int64_t every;
    const char *probes; /* a list with bodies (tools/export/curves.h); NULL: none */
    tool_ride ride;     /* what the body moves with, in the world */
    bool coordinates;   /* reduced coordinates too; of scenes also poses */
    bool positions;     /* of probes, after their displacements */
    bool stress;        /* at probes; not of scenes */
    bool volume;        /* of the deformed mesh too; not of scenes */
    bool partial;
} export_choice;

typedef struct export_table {
    sp_stream stream;
    const char *owner; /* put in front of names with a point; NULL: nothing */
    int64_t columns;   /* names since the owner was set */
} export_table;

/* A name behind those before, "owner.name"; characters that CSV or the plot program cannot take become "_". */
void export_table_name(export_table *table, const char *format, ...) SP_PRINTF(2, 3);

/* Numbers behind those before; in the place of a row that a motion does not have, empty cells. */
void export_table_numbers(export_table *table, int64_t count, const double *numbers);
void export_table_empty(export_table *table, int64_t count);

#endif
