/* Shared by the files that write glTF: what is stored, and where. */
#ifndef SP_FORMATS_EXPORT_GLTF_INTERNAL_H
#define SP_FORMATS_EXPORT_GLTF_INTERNAL_H

#include "base/memory.h"
#include "formats/export/gltf_write.h"
#include "formats/export/stream.h"

/* Types of numbers, with the codes of glTF */
enum type { BYTE = 5120, SHORT = 5122, UNSIGNED_SHORT = 5123, UNSIGNED_INT = 5125, FLOAT = 5126 };

enum use { VERTICES, INDICES, SAMPLES };

/* Numbers that become an accessor with a buffer view of its own: tuples of `stride` numbers, of which `from` are
 * stored as (value - offset) / scale. */
typedef struct array {
    const double *real; /* or */
    const float *single;
    const int64_t *whole;
    int64_t count, stride;
    int from[4], components;
    enum type type; /* signed ones, and unsigned ones of `single`, are fractions of their largest value */
    enum use use;
    double scale, offset[4];
    bool bounded;  /* glTF demands the least and the largest number */
    bool matrices; /* each 16 numbers are a matrix */
    /* found by `survey` */
    int64_t begin;              /* in the buffer */
    double low[4], high[4];     /* as stored */
    double error, length, most; /* largest norms of what rounding adds to a tuple, and of a tuple; largest component */
} array;

/* The numbers of the arrays of a mesh follow each other: positions, normals, triangles, colours where there are any,
 * and for each target positions and normals. */
typedef struct mesh_plan {
    int64_t first;
    bool placed;             /* stored numbers differ from m by this: */
    double scale, offset[3]; /* x = offset + scale * stored */
    double *gain;            /* [target_count] */
} mesh_plan;

typedef struct body_plan {
    bool moves, deforms;           /* in the course of time */
    int64_t translation, rotation; /* numbers of arrays where it moves */
    int64_t node;                  /* that carries the mesh */
    double *weights;               /* [frame_count, target_count] with the gains */
    int64_t joint;                 /* of a skin: the node of its first joint, */
    int64_t first;                 /* and the numbers of arrays: joints and weights by fours, then the matrices, */
    int64_t *moving;               /* and the translation of each joint that moves, followed by its rotation; −1 */
    double *inverse;               /* [16 joint_count] inverse bind matrices, column major */
} body_plan;

typedef struct document {
    sp_context *context;
    const sp_animation *animation;
    bool quantize, animated;
    array *arrays;
    int64_t array_count, time, bytes;
    mesh_plan *meshes;
    body_plan *bodies;
    sp_pool pool;
} document;

/* The integer by which the number 1 is stored; 0: numbers are stored as they are. */
int sp_gltf_unit(const array *a);

/* Bytes from one tuple to the next; tuples of vertices begin at multiples of four. */
int64_t sp_gltf_tuple(const array *a);

/* Prints the JSON chunk, padded with blanks to a multiple of four bytes. */
void sp_gltf_print_json(sp_stream *stream, const document *d);

#endif
