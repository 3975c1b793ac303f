/* CSV as people write it: lines of fields with commas, `#` comments, a header line. What the readers of loads, paths,
 * moves and activations share. */
#ifndef SP_FORMATS_CSV_H
#define SP_FORMATS_CSV_H

#include "base/memory.h"
#include "formats/import/text.h"
#include "mesh/mesh.h"

enum { SP_CSV_FIELDS = 16 };

typedef struct sp_csv {
    const char *header; /* a first line whose first field begins with it is passed over */
    size_t size;        /* of what is made of a line */
    /* Fills `item`, zeroed; item − 1 is that of the line before where index > 0. field [SP_CSV_FIELDS]: empty from
     * `count` on, which may be larger. */
    int (*line)(void *data, sp_context *context, const sp_text *text, const sp_word *field, int count, void *item,
                int64_t index);
    void *data;
} sp_csv;

/* Adds an item to `list` (the caller frees it, also after an error) for every line. SP_INPUT as `line` says. */
int sp_csv_parse(sp_context *context, const char *bytes, int64_t count, const sp_csv *csv, sp_list *list) SP_MUST_USE;

/* A field that is a whole number from 0, below `most`; `name` of the field, `what` it counts. SP_INPUT. */
int sp_csv_index(sp_context *context, const sp_text *text, const char *name, const char *what, sp_word field,
                 int64_t most, int64_t *index) SP_MUST_USE;

/* A field that is a region of the mesh by name or number. SP_INPUT. */
int sp_csv_region(sp_context *context, const sp_text *text, const char *name, sp_word field, const sp_mesh *mesh,
                  int64_t *region) SP_MUST_USE;

/* ---- values over time, of several things in one file: lines `t,thing,values`, piecewise linear between the lines of
 * one thing ---- */

enum { SP_SERIES_VALUES = 3 };

typedef struct sp_series {
    int64_t key, count; /* count ≥ 1 */
    double *time;       /* [count] s, increasing */
    double *value;      /* [count, width] */
} sp_series;

typedef struct sp_series_kind {
    int width;                                      /* 1 … SP_SERIES_VALUES */
    const char *fields;                             /* "t,vertex,ux,uy,uz" */
    const char *names[2 + SP_SERIES_VALUES], *unit; /* of the fields, and of the values */
    int64_t keys;                                   /* they are from 0 to keys − 1 */
    /* The key in a line's second field. */
    int (*key)(void *data, sp_context *context, const sp_text *text, sp_word field, int64_t *key);
    /* Whether values may be so; NULL: all that are finite. */
    int (*check)(void *data, sp_context *context, const sp_text *text, int64_t key, const double *value);
    void *data;
} sp_series_kind;

/* Series in the order of their keys, from `pool`. The lines of one key are in increasing time, those of others may
 * stand between them; rates of change are finite. SP_INPUT with line and field. No line: no series. */
int sp_series_parse(sp_context *context, const char *bytes, int64_t count, const sp_series_kind *kind, sp_pool *pool,
                    int64_t *series_count, sp_series **series) SP_MUST_USE;

#endif
