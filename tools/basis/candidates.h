/* The snapshot matrix of masspca: the columns of all files in one column matrix, and the origin of each. Ends the
 * process on failure. */
#ifndef TOOLS_BASIS_CANDIDATES_H
#define TOOLS_BASIS_CANDIDATES_H

#include "basis/mean_axes.h"
#include "tools/common/inputs.h"
#include "tools/common/scratch.h"

typedef struct candidate_file {
    const char *path;
    char kind[SP_KIND_LENGTH]; /* "modes", "derivatives", "snapshots", "basis", "trajectory" */
    sp_columns columns;        /* all but U; unused for a trajectory */
    int64_t first, count;      /* its columns are these over all files, counted from 0 */
    double fixed_motion;       /* m, largest displacement of fixed vertices */
} candidate_file;

typedef struct candidate_choice {
    const char *columns;      /* list of --columns; NULL: all */
    int64_t every;            /* step between frames of trajectories */
    int64_t memory;           /* bytes; 0: no bound */
    const sp_mean_axes *axes; /* in which the deformation in frames is taken; NULL: displacements as they are */
} candidate_choice;

typedef struct candidates {
    sp_pool pool;
    sp_context *context;
    const tool_mesh *mesh;
    const sp_fe_space *body;
    const sp_metric *metric; /* the metric with the largest workspace that the column matrix will be used with */
    candidate_choice choice;
    int64_t file_count, total; /* columns of all files */
    candidate_file *files;
    sp_list number; /* [store.count] of each column over all files, as int64_t */
    sp_store store;
    tool_scratch scratch;
    /* private to the module: the column of the matrix that each column of the files goes to; NULL: the one of its
     * number */
    int64_t *place, *next, numbers;
} candidates;

/* Reads the files, each once in one forward pass, piece by piece. */
void candidates_read(sp_context *context, const tool_mesh *mesh, const sp_fe_space *body, const sp_metric *metric,
                     const candidate_choice *choice, int64_t count, const char *const *paths, candidates *set);
void candidates_free(candidates *set);

/* Returns true if one of the files is of this type. */
bool candidates_have(const candidates *set, const char *kind);

/* The file that column c of the store came from; *column receives its number there. */
const candidate_file *candidates_origin(const candidates *set, int64_t c, int64_t *column);

/* Keeps only these columns. */
void candidates_keep(candidates *set, int64_t count, const int64_t *index);

#endif
