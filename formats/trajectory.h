/* Files of the type trajectory (trajectory.md): frames in blocks, written as they are computed and readable meanwhile.
 */
#ifndef SP_FORMATS_TRAJECTORY_H
#define SP_FORMATS_TRAJECTORY_H

#include "formats/series.h"

enum { SP_ENERGY_KINETIC, SP_ENERGY_STRAIN, SP_ENERGY_WORK, SP_ENERGY_DISSIPATED, SP_ENERGY_COUNT };

/* A vertex that is fixed in addition to those of the mesh, or a fixed vertex with prescribed motion. */
typedef struct sp_prescribed_record {
    int64_t vertex;
    uint8_t axes;   /* fixed components: bit 0 x, bit 1 y, bit 2 z */
    int64_t group;  /* vertices of a group move together as a rigid body; −1: by itself */
    int64_t frames; /* number of frames from the first on: cuts release vertices */
} sp_prescribed_record;

/* The contents of every frame. Either of r and point_count may be 0, not both. */
typedef struct sp_trajectory_layout {
    int64_t r;             /* reduced coordinates q, qdot; 0: none recorded */
    int64_t point_count;   /* mesh vertices whose displacement u and velocity udot are recorded; 0: none */
    const int64_t *vertex; /* [point_count] which; NULL: all of them in order */
    int64_t vertex_count;  /* of the mesh */
    bool estimates;        /* of the relative error of the internal force, in the force norm and in the energy norm */
    bool residuals;        /* of a certificate (certificate.md) */
    bool frame;            /* the body moves with a frame, whose pose and velocities are recorded */
    int64_t prescribed_count;
    const sp_prescribed_record *prescribed; /* [prescribed_count] in the order of vertices */
    int64_t reaction_count;                 /* groups of fixed vertices whose reaction is recorded; 0: none */
    const char *const *reaction_name;       /* [reaction_count] */
} sp_trajectory_layout;

typedef struct sp_frame {
    double time;                    /* s */
    const double *q, *qdot;         /* [r] */
    const double *u, *udot;         /* [point_count, 3] m, m/s */
    double energy[SP_ENERGY_COUNT]; /* J; work is that of the external forces since the start, dissipated by damping */
    const double *reaction;         /* [reaction_count, 6] force and moment about the origin, N and N m */
    double estimate[2];             /* in either norm the maximum over the steps since the previous frame */
    double residual[3];             /* J: of the basis, of the quadrature; energy of the motion */
    const double *pose, *twist;     /* [7], [6] of the frame that the body moves with */
} sp_frame;

/* ---- writing ---- */

typedef struct sp_trajectory_writer sp_trajectory_writer;

/* Adds the layout to `meta`, and writes it, `vertex` and the list of prescribed vertices. meta must already have "mesh"
 * (hash of the mesh) and, with r > 0, "basis" (hash of the basis). The caller keeps the sp_writer. */
int sp_trajectory_begin(sp_context *context, sp_writer *writer, json_t *meta, const sp_trajectory_layout *shape,
                        sp_trajectory_writer **trajectory) SP_MUST_USE;

/* Copies one frame; complete blocks are written to the file. No allocation. */
int sp_trajectory_append(sp_trajectory_writer *trajectory, const sp_frame *frame) SP_MUST_USE;

/* Writes the last, partial block and frees the writer, also after an error. */
int sp_trajectory_finish(sp_trajectory_writer *trajectory) SP_MUST_USE;

/* ---- reading ---- */

/* A trajectory in memory. */
typedef struct sp_trajectory {
    sp_pool pool;
    json_t *meta, *result; /* owned */
    char hash[SP_HASH_LENGTH];
    bool truncated;
    int64_t frame_count, r, point_count;
    int64_t vertex_count; /* of the mesh */
    int64_t *vertex;      /* [point_count]; NULL: all vertices */
    int64_t prescribed_count;
    sp_prescribed_record *prescribed; /* [prescribed_count] in the order of vertices, none twice */
    double *time;                     /* [frame_count] */
    double *q, *qdot;                 /* [frame_count, r]; NULL if r = 0 */
    double *u, *udot;                 /* [frame_count, point_count, 3]; NULL if point_count = 0 */
    double *energy;                   /* [frame_count, 4] */
    bool estimates, energy_estimates, residuals, frame;
    double *estimate,
        *energy_estimate;          /* [frame_count] in the force norm, in the energy norm; NULL if there are none */
    double *residual;              /* [frame_count, 3]; NULL if there are none */
    int64_t reaction_count;        /* groups of fixed vertices; their names: sp_trajectory_reaction */
    double *reaction;              /* [frame_count, reaction_count, 6] N and N m; NULL if there are none */
    double *pose, *twist;          /* [frame_count, 7] x, y, z of the origin of the frame that the body moves with in m,
                                      unit quaternion w, x, y, z; [frame_count, 6] velocity of the origin in m/s, angular
                                      velocity in rad/s, both in the world; NULL if there is no frame */
    sp_list owned[SP_SERIES_MOST]; /* memory of time … estimate */
} sp_trajectory;

/* Checks that every block has the shapes that meta gives, times increase, values are finite, and that there is a frame.
 * With `partial` a truncated or damaged file is read up to its last complete block. */
int sp_trajectory_read(sp_context *context, int descriptor, bool partial, sp_trajectory *trajectory) SP_MUST_USE;
void sp_trajectory_free(sp_trajectory *trajectory);

/* The name of a group of fixed vertices whose reaction a trajectory with this meta records. */
const char *sp_trajectory_reaction(const json_t *meta, int64_t group);

/* Reads one block at a time, for consumers that start before the file ends (pipes). `next` fills `block` with the
 * frames of the next block; frame_count = 0 at the end, and only then result, hash and truncated are known. Everything
 * in `block` belongs to the stream (no sp_trajectory_free); its arrays are valid until the following call. meta is
 * available before the first block by sp_trajectory_meta; it belongs to the stream. */
typedef struct sp_trajectory_stream sp_trajectory_stream;
int sp_trajectory_open(sp_context *context, int descriptor, bool partial, sp_trajectory_stream **stream) SP_MUST_USE;
/* Continues a reader whose first member, meta, was read already: both belong to the stream from then on, also after a
 * failure. */
int sp_trajectory_continue(sp_context *context, sp_reader *reader, json_t *meta,
                           sp_trajectory_stream **stream) SP_MUST_USE;
const json_t *sp_trajectory_meta(const sp_trajectory_stream *stream);
int sp_trajectory_next(sp_trajectory_stream *stream, sp_trajectory *block) SP_MUST_USE;
void sp_trajectory_close(sp_trajectory_stream *stream); /* NULL is allowed */

#endif
