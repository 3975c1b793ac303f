/* Files with a matrix U (3·vertices, columns) of displacement fields: modes, derivatives, snapshots, basis. */
#ifndef SP_FORMATS_COLUMNS_H
#define SP_FORMATS_COLUMNS_H

#include "formats/file.h"
#include "mesh/interface.h"

typedef struct sp_columns {
    sp_pool pool;
    int64_t rows, count; /* rows = 3 · vertices */
    double *U; /* [rows, count, column major] m, or m/√(mass) if mass-normalized; NULL: read in pieces, see below */
    int (*column)(
        void *data, int64_t c,
        const double **values); /* for writing with U = NULL: returns column c [rows], valid until the next call */
    void *column_data;
    double *eigenvalue; /* modes: [count] rad²/s²; else NULL */
    double *residual;   /* modes: [count] ‖K ψ − λ M ψ‖ / ‖K ψ‖ scale, see modes.md; else NULL */
    int64_t *ordering;  /* modes: [ordering_count] vertices in the elimination order of a factorization, see modes.md;
                           not checked against a mesh; else NULL */
    int64_t ordering_count;
    int64_t *pair;          /* derivatives: [count, 2] modes from 0; else NULL */
    double *singular_value; /* basis: [count] ≥ 0; else NULL */
    const double *factor;   /* snapshots: [count] load factors of buckling shapes, > 0; else NULL */
    double *time;           /* snapshots: [count] s, time in the recording of each snapshot; else NULL */
    int order;              /* derivatives */
    int64_t source; /* derivatives: number of columns of the source file that were used; a pair names those, and from
                       this number on earlier derivatives of the same file; 0: unknown */
    bool lumped;    /* modes, basis: orthonormal in the lumped mass; false: consistent */
    int64_t rigid;  /* modes: number of leading rigid motions */
    int64_t first, end, total; /* derivatives, snapshots: a shard, of the items [first, end) of `total`: pairs or loads;
                                  total 0: the whole */
    int64_t *sample;           /* snapshots, in a shard: [count] the loads of [first, end) that have an equilibrium */
    int64_t interface_count;   /* snapshots: interfaces whose constraint modes are the first columns, or which are at
                                  rest in all columns; derivatives: the latter only */
    sp_interface *interfaces;  /* [interface_count] without their vertices */
    char mesh[SP_HASH_LENGTH]; /* hash of the mesh; empty if unknown */
    bool ritz;                 /* modes: Ritz vectors of a subspace, not eigenvectors */
    char about[SP_HASH_LENGTH]; /* modes: hash of the trajectory about whose last frame they are; empty: at rest */
} sp_columns;

/* The number of interface coordinates, whose constraint modes are the first columns. */
int64_t sp_columns_coordinates(const sp_columns *columns);

/* SP_INPUT for a shard. */
int sp_columns_whole(sp_context *context, const sp_columns *columns) SP_MUST_USE;

/* The file types "modes", "derivatives", "snapshots" and "basis". A foreign file with a member U is read as snapshots.
 * `rows` −1: any. */
int sp_columns_read(sp_context *context, sp_file *file, int64_t rows, sp_columns *columns) SP_MUST_USE;

/* Reads U in pieces, in the order of the file; set by sp_columns_divert before the first member is read. Each piece is
 * `width` complete columns from `first`, or `height` complete rows from `row` if the file has C order: values [height,
 * width, column major], finite, which may be modified. Numbers of columns and rows are those of the file. The rest of
 * the file is read by sp_columns_read, which leaves U NULL. */
typedef struct sp_columns_pieces {
    sp_context *context;
    void *data;
    int (*take)(void *data, int64_t rows, int64_t count, int64_t row, int64_t height, int64_t first, int64_t width,
                double *values);
    /* private to the module */
    sp_pool pool;
    int64_t expected_rows, have, capacity;
    double *values, *transposed;
} sp_columns_pieces;

/* rows −1: any. A piece has 1 MB, or one column or row if that is more. */
void sp_columns_divert(sp_context *context, sp_reader *reader, int64_t rows, sp_columns_pieces *pieces);
void sp_columns_pieces_free(sp_columns_pieces *pieces);

/* Adds the keys of the file type to meta ("mass", "order", "rigid", "mesh"), writes it and the members that are not
 * NULL. */
int sp_columns_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_columns *columns) SP_MUST_USE;

void sp_columns_free(sp_columns *columns);

#endif
