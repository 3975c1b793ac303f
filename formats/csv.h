/* CSV as users write it: lines of fields with commas, `#` comments, a header line. Shared by the readers of loads,
 * paths, prescribed motion and activations. */
#ifndef SP_FORMATS_CSV_H
#define SP_FORMATS_CSV_H

#include "base/memory.h"
#include "formats/place.h"
#include "mesh/mesh.h"

enum { SP_CSV_FIELDS = 16 };

typedef struct sp_csv {
    const char *header; /* a first line whose first field begins with this is skipped */
    int place;   /* number of the field that may be a place near:X,Y,Z, whose commas do not separate fields; 0: none */
    size_t size; /* size of the item that a line is converted to */
    /* Fills `item`, which is zeroed; for index > 0, item − 1 is that of the previous line. field [SP_CSV_FIELDS]: empty
     * from `count` on, which may be larger. */
    int (*line)(void *data, sp_context *context, const sp_text *text, const sp_word *field, int count, void *item,
                int64_t index);
    void *data;
} sp_csv;

/* Adds an item to `list` (the caller frees it, also after an error) for every line. SP_INPUT as `line` says. */
int sp_csv_parse(sp_context *context, const char *bytes, int64_t count, const sp_csv *csv, sp_list *list) SP_MUST_USE;

/* Parses a whole number from 0, below `most`; `name` is the name of the field, `what` the counted thing. SP_INPUT. */
int sp_csv_index(sp_context *context, const sp_text *text, const char *name, const char *what, sp_word field,
                 int64_t most, int64_t *index) SP_MUST_USE;

/* The same for a vertex of the mesh, or if `surface` of its embedded surface, which may also be named by its place
 * (formats/place.h). SP_INPUT. */
int sp_csv_vertex(sp_context *context, const sp_text *text, const char *name, sp_word field, bool surface,
                  sp_places *places, int64_t *vertex) SP_MUST_USE;

/* Parses a region of the mesh by name or number. SP_INPUT. */
int sp_csv_region(sp_context *context, const sp_text *text, const char *name, sp_word field, const sp_mesh *mesh,
                  int64_t *region) SP_MUST_USE;

/* ---- several time series in one file: lines `t,key,values`, piecewise linear between the lines of one key ---- */

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
    bool places;                                    /* the key may be a place near:X,Y,Z */
    int64_t keys;                                   /* keys are from 0 to keys − 1 */
    /* Parses the key in a line's second field. */
    int (*key)(void *data, sp_context *context, const sp_text *text, sp_word field, int64_t *key);
    /* Checks values; NULL: all finite values are valid. */
    int (*check)(void *data, sp_context *context, const sp_text *text, int64_t key, const double *value);
    void *data;
} sp_series_kind;

/* Series in the order of their keys, from `pool`. The lines of one key must be in increasing time, and those of other
 * keys may be interleaved; rates of change must be finite. SP_INPUT with line and field. No line: no series. */
int sp_series_parse(sp_context *context, const char *bytes, int64_t count, const sp_series_kind *kind, sp_pool *pool,
                    int64_t *series_count, sp_series **series) SP_MUST_USE;

#endif
