/* Displacements of a mesh over frames, from files named in any order: a mesh, a trajectory, the basis that a reduced
 * trajectory refers to. Files of columns without a trajectory count as frames too (one per column), and so does a mesh
 * alone (one frame at rest). Ends the process on failure. */
#ifndef TOOLS_COMMON_TRAJECTORY_H
#define TOOLS_COMMON_TRAJECTORY_H

#include "formats/scene.h"
#include "formats/trajectory.h"
#include "model/modal_warp.h"
#include "tools/common/inputs.h"
#include "tools/common/places.h"
#include "tools/common/series.h"

enum {
    TOOL_MOTION_PARTIAL = 1, /* a truncated trajectory is read up to its last complete block */
    TOOL_MOTION_STREAM =
        2, /* the trajectory is read block by block; "-" must then be the trajectory when it is a pipe */
    TOOL_MOTION_DERIVATIVES = 4, /* modes and their derivatives are taken together, without a trajectory */
};

typedef struct tool_trajectory {
    tool_mesh mesh;       /* mesh.path NULL: none was given */
    sp_mesh simulated;    /* the same with the materials of the simulation, from which stress and energy are computed */
    tool_columns columns; /* the trajectory's basis, or without a trajectory the frames; columns.path NULL: none */
    tool_columns derivatives; /* whose columns follow those of `columns`, the modes, as frames; path NULL: none */
    const char *path;         /* of the trajectory; NULL: none */
    sp_trajectory trajectory; /* the complete trajectory, or the block with the last requested frame */
    int64_t vertex_count;
    int64_t frame_count; /* −1 for a stream that has not ended */
    /* private to the module */
    sp_context *context;
    sp_trajectory_stream *stream;
    int descriptor;
    int64_t first; /* number of the first frame in `trajectory` */
    int64_t
        *point; /* [vertex_count] index of a vertex among the recorded points, or −1; NULL: all or none are recorded */
    sp_modal_warp *warp; /* of a trajectory whose coordinates are of linear displacements (modal warping); NULL: none */
    struct sp_path *frame; /* the frame that the body moves with (tool_trajectory_ride); NULL: none */
    bool world;            /* it is the recorded one */
    struct tool_rig *rig;  /* the bones that it follows; NULL: none */
    double *warped;        /* [2, 3·vertex_count] displacement and velocity for it */
    sp_pool pool;
} tool_trajectory;

/* The kind of a file ("mesh", "trajectory", …; for foreign files "sparse" or "snapshots" by their members). "-" stays
 * readable: a pipe is copied to memory first. */
void tool_peek_kind(sp_context *context, const char *path, char kind[SP_KIND_LENGTH]);

/* The same, but "" for other foreign files, which tool_peek_kind rejects. */
void tool_peek_any_kind(sp_context *context, const char *path, char kind[SP_KIND_LENGTH]);

/* A text in the meta of a Supple file, such as the hash "mesh" of a trajectory; "" if it is not there. */
void tool_peek_meta(sp_context *context, const char *path, const char *key, size_t size, char *value);

/* The hash of an input of this kind that the meta of a Supple file names; "" if there is none. */
void tool_peek_input(sp_context *context, const char *path, const char *kind, char hash[SP_HASH_LENGTH]);

/* Opens the files and checks that they belong together (sizes, hashes). At most one mesh and one trajectory; among
 * several files of columns the one whose hash the trajectory names is used. Other file types are a usage error. */
void tool_trajectory_open(sp_context *context, int64_t count, const char *const *paths, int flags,
                          tool_trajectory *motion);
void tool_trajectory_close(tool_trajectory *motion);

/* What a body moves with, as files of options. */
typedef struct tool_ride {
    const char *frame;           /* the path of its frame (simulate --frame); NULL: none */
    bool world;                  /* the frame that the trajectory records (simulate --frame) */
    const char *skin, *skeleton; /* its bones (simulate --skin); NULL: none */
} tool_ride;

/* Makes displacements and velocities of a trajectory those in the world, for a body that moves with a frame, where a
 * vertex X of the mesh is at p + R (X + u), or follows bones (skin/skin.h). Needs the mesh. */
void tool_trajectory_ride(tool_trajectory *motion, const tool_ride *ride);

/* Returns true if there is a frame of this number; loads its block if the trajectory is a stream (numbers must then not
 * decrease). */
bool tool_trajectory_have(tool_trajectory *motion, int64_t frame);

/* What they are, for tool_inputs_are: "trajectory", "columns" or "mesh". */
const char *tool_trajectory_inputs(const tool_trajectory *motion);

/* The numbers of the frames that --frames and --every name, or of the columns that --columns (counted from 1) names, as
 * int64_t; NULL: all. Where there are modes and derivatives, --columns names modes, and the derivatives of any two of
 * these follow; NULL: the modes that have derivatives. A usage error for none. Conditions see to it that the options
 * fit the files. */
void tool_trajectory_choose(tool_trajectory *motion, const char *frames, int64_t every, const char *columns,
                            sp_list *list);

/* Of the trajectory; NULL: there is none. */
const json_t *tool_trajectory_meta(const tool_trajectory *motion);

/* s; of columns and a mesh alone 0. */
double tool_trajectory_time(const tool_trajectory *motion, int64_t frame);

/* Kinetic, strain, work, dissipated [J]; NULL where there is no trajectory. */
const double *tool_trajectory_energy(const tool_trajectory *motion, int64_t frame);

/* Fails with a description of what is missing if the displacement of all vertices is not available. Call after the
 * first tool_trajectory_have. */
void tool_trajectory_need_all(const tool_trajectory *motion);

/* Displacement [3·vertices] m (columns: as they are) and velocity [3·vertices] m/s; needs a trajectory for the latter.
 */
void tool_trajectory_displacement(const tool_trajectory *motion, int64_t frame, double *u);

/* The displacement relative to the frame or the bones that the body moves with. */
void tool_trajectory_own_displacement(const tool_trajectory *motion, int64_t frame, double *u);
void tool_trajectory_velocity(const tool_trajectory *motion, int64_t frame, double *v);

/* A list of probes (tool_places_parse); the motion of each must be recorded. */
void tool_trajectory_probes(const tool_trajectory *motion, const char *option, const char *text, sp_list *list);

/* Ends the process if the motion of the probe is not recorded. */
void tool_trajectory_check_probe(const tool_trajectory *motion, const char *option, tool_place probe);

/* Its displacement and velocity (either may be NULL) in a frame of a trajectory. */
void tool_trajectory_probe(const tool_trajectory *motion, tool_place probe, int64_t frame, double u[3], double v[3]);

#endif
