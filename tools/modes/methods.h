/* The methods of modes, on one problem. Each writes the output and ends the process on failure. */
#ifndef TOOLS_MODES_METHODS_H
#define TOOLS_MODES_METHODS_H

#include "basis/inertia.h"
#include "basis/modes.h"
#include "formats/columns.h"
#include "linear/sparse.h"
#include "tools/common/inputs.h"

typedef struct modes_problem {
    sp_context *context;
    tool_mesh mesh;
    sp_fe_space body;
    sp_sparse K, M;      /* over the free degrees of freedom */
    bool lumped;         /* M is diagonal */
    int64_t *node;       /* [dof_count] vertex of each */
    int64_t rigid_count; /* number of rigid motions that the fixed vertices leave free */
    double *rigid;       /* [dof_count, 6] */
    sp_pool pool;
    tool_output *output;
    tool_output *derivatives; /* NULL: not wanted */
    const char *derivatives_path;
    bool own; /* K was assembled from the mesh */
} modes_problem;

typedef struct modes_lanczos_choice {
    int64_t count;
    double tolerance;
    int arpack; /* 1: one vector at a time */
    bool certify;
} modes_lanczos_choice;

/* Eigenvectors, by Lanczos. */
void modes_lanczos(modes_problem *problem, const modes_lanczos_choice *choice);

/* The derivatives of the `count` modes that were written with this meta, whose hash is `hash`. The bytes are those of
 * modalderiv on that file. */
void modes_derivatives(modes_problem *problem, json_t *meta, const char *hash, const sp_columns *modes,
                       const double *vectors, const sp_modes_report *report);

typedef struct modes_krylov_choice {
    const char *start; /* names of inertia fields with commas; NULL, without other start loads: the six accelerations,
                          for free bodies the six centrifugal fields */
    const char *start_loads; /* CSV: one column for each force */
    const char *start_file;  /* columns of acceleration fields */
    int64_t count, order;    /* order > 0 replaces count */
    int orthogonalization;   /* enum sp_orthogonalization */
    int64_t samples;
    double culling;
    bool printed; /* eq. 3 as printed */
} modes_krylov_choice;

/* Static responses to the body's own inertia. */
void modes_inertia(modes_problem *problem, const modes_krylov_choice *choice);

/* Linear inertia modes of any order (Yang 2015); a usage error in builds without them. */
void modes_krylov(modes_problem *problem, const modes_krylov_choice *choice);

/* Shared by the three: the loads of a start block [dof_count, count] (memory from the problem's pool). */
double *modes_start_block(modes_problem *problem, const modes_krylov_choice *choice, int64_t *count);

/* `count` columns over the free degrees of freedom, scattered to all components one at a time while they are
 * written. */
typedef struct modes_spread {
    const sp_fe_space *body;
    const double *vectors; /* [dof_count, count] */
    double *full;          /* [3·vertices] one column, 0 at fixed components */
} modes_spread;

sp_columns modes_columns(modes_problem *problem, int64_t count, const double *vectors, modes_spread *spread);

/* Writes `count` columns over the free degrees of freedom as snapshots. */
void modes_write_snapshots(modes_problem *problem, int64_t count, const double *columns, json_t *result);

#endif
