/* The methods of modes, on one problem. Each writes the output and ends the process on failure. */
#ifndef TOOLS_MODES_METHODS_H
#define TOOLS_MODES_METHODS_H

#include "basis/inertia.h"
#include "basis/interfaces.h"
#include "basis/modes.h"
#include "formats/columns.h"
#include "linear/sparse.h"
#include "tools/common/equilibrium.h"
#include "tools/common/inputs.h"

typedef struct modes_problem {
    sp_context *context;
    tool_mesh mesh;
    sp_fe_space body;
    int64_t order;       /* number of unknowns: the free degrees of freedom, with interfaces the interior coordinates */
    sp_sparse K, M;      /* [order] */
    bool lumped;         /* M is diagonal */
    int64_t *node;       /* [order] vertex of each */
    int64_t rigid_count; /* number of rigid motions that the fixed vertices leave free */
    double *rigid;       /* [order, 6] */
    int64_t interface_count;
    sp_interface *interfaces;   /* [interface_count] */
    sp_interface_map *map;      /* NULL without interfaces */
    sp_sparse whole_K, whole_M; /* with interfaces: over the free degrees of freedom */
    double constraint_residual;
    double *constraint; /* with interfaces: constraint modes [dof_count, coordinates] */
    bool ritz;          /* with interfaces: the output consists of the Ritz vectors of the space of all columns */
    sp_pool pool;
    tool_output *output;
    tool_output *derivatives; /* NULL: not wanted */
    const char *derivatives_path;
    const char *matrix_path;       /* names of the files that K and M are from, for failures that may be due to any */
    bool own;                      /* K was assembled from the mesh, at rest */
    tool_equilibrium *equilibrium; /* about which K is the tangent stiffness, or whose load buckles; NULL: none */
    const double *factor;          /* load factors of the columns that are written; NULL: none */
} modes_problem;

enum modes_solver { SOLVER_BLOCKS, SOLVER_ARPACK, SOLVER_SLEPC, SOLVER_AMG };

typedef struct modes_lanczos_choice {
    int64_t count;
    double tolerance;
    int solver; /* enum modes_solver */
    bool certify;
} modes_lanczos_choice;

typedef struct modes_interface_choice {
    tool_texts names; /* of sets, with * for any characters */
    tool_texts rest;  /* of those interfaces that are at rest, likewise */
    int frame;        /* enum sp_interface_frame */
    bool ritz;
} modes_interface_choice;

/* Replaces the matrices of the problem by those of the interior coordinates. */
void modes_interfaces(modes_problem *problem, const modes_interface_choice *choice);

/* Computes the constraint modes, if there are interfaces, with the flexibility of K if it is known (else NULL). */
void modes_constraint(modes_problem *problem, sp_flexibility *known);
void modes_interfaces_close(modes_problem *problem); /* nothing without interfaces */

/* Eigenvectors, by Lanczos. */
void modes_lanczos(modes_problem *problem, const modes_lanczos_choice *choice);

/* The same on the ranks of mpirun; returns the exit code. Of the problem only the mesh is needed. */
int modes_parallel(modes_problem *problem, const modes_lanczos_choice *choice, bool lumped);

/* Refuses modes that are none or not all, and prints the frequencies; returns the result of the file. */
json_t *modes_report(const modes_problem *problem, const modes_lanczos_choice *choice, const sp_modes_report *report,
                     const double *eigenvalue, const double *residual);

/* Linear buckling under the load of the equilibrium, which is of a linear model; K is that at rest. */
void modes_buckling(modes_problem *problem, const modes_lanczos_choice *choice);

/* The equilibrium that `option` names, with its loads (NULL: none were named); it changes materials and fixed vertices
 * of the mesh. */
void modes_read_equilibrium(modes_problem *problem, const char *option, const char *path, const char *model,
                            const char *loads);

/* The tangent stiffness at the equilibrium, over the body. */
void modes_tangent(modes_problem *problem, sp_sparse *K);

/* Fails if the body has free rigid motions. */
void modes_refuse_free(const modes_problem *problem, const char *option);

/* Fails if K, about an equilibrium, has negative eigenvalues. */
void modes_check_stable(const modes_problem *problem);

/* The derivatives of the `count` modes that were written with this meta, whose hash is `hash`. The bytes are those of
 * modalderiv on that file. */
void modes_derivatives(modes_problem *problem, json_t *meta, const char *hash, const sp_columns *modes,
                       const double *vectors, const sp_modes_report *report);

typedef struct modes_krylov_choice {
    const char *start; /* names of inertia fields with commas; NULL, without other start loads: the six accelerations,
                          for free bodies the six centrifugal fields and, for Krylov spaces, random ones */
    const char *start_loads; /* CSV: one column for each force */
    const char *start_file;  /* columns of acceleration fields */
    int64_t count, order;    /* order > 0 replaces count */
    int orthogonalization;   /* enum sp_orthogonalization */
    int64_t samples;
    double culling;
    bool printed;  /* eq. 3 as printed */
    bool as_modes; /* the output consists of the Ritz vectors, as a file of modes */
} modes_krylov_choice;

/* Static responses to the body's own inertia. */
void modes_inertia(modes_problem *problem, const modes_krylov_choice *choice);

/* Linear inertia modes of any order (Yang 2015); a usage error in builds without them. */
void modes_krylov(modes_problem *problem, const modes_krylov_choice *choice);

/* Shared by the three: the loads of a start block [order, count] (memory from the problem's pool). krylov: the default
 * of a free body has random accelerations too, so that its Krylov space has modes of every symmetry. */
double *modes_start_block(modes_problem *problem, const modes_krylov_choice *choice, bool krylov, int64_t *count);

/* The constraint modes, if there are interfaces, and `count` columns over the unknowns, scattered to all components one
 * at a time while they are written. */
typedef struct modes_spread {
    const modes_problem *problem;
    const double *vectors; /* [order, count] */
    double *full;          /* [3·vertices] one column, 0 at fixed components */
    double *free;          /* [dof_count] with interfaces: the column over the free degrees of freedom */
} modes_spread;

sp_columns modes_columns(modes_problem *problem, int64_t count, const double *vectors, modes_spread *spread);

/* Writes `count` columns over the unknowns as snapshots, behind the constraint modes if there are interfaces. */
void modes_write_snapshots(modes_problem *problem, int64_t count, const double *columns, json_t *result);

/* Writes the Ritz vectors of `count` columns over the unknowns, without interfaces, as modes; replaces the columns. */
void modes_write_ritz(modes_problem *problem, int64_t count, double *columns, json_t *result);

/* A matrix from a file, which must be of the same mesh, over the same degrees of freedom. option: "stiffness" or
 * "mass".
 */
void modes_read_matrix(const modes_problem *problem, const char *path, const char *option, sp_sparse *matrix);

/* True if only entries of the diagonal are not 0. */
bool modes_diagonal(const sp_sparse *matrix);

/* The file of --write-stiffness or --write-mass; which: "K" or "M". */
void modes_write_matrix(const modes_problem *problem, const char *path, const char *option, const char *which,
                        const sp_sparse *matrix);

#endif
