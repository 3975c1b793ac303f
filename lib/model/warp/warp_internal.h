/* Shared by the sources of stiffness warping only (model/warp/warp.h). */
#ifndef SP_MODEL_WARP_WARP_INTERNAL_H
#define SP_MODEL_WARP_WARP_INTERNAL_H

#include "assembly/batch.h"
#include "base/vec3.h"
#include "linear/cholesky.h"
#include "linear/iterate.h"
#include "model/warp/warp.h"

/* Four edges by their ends (vertices of the mesh, or corners of an element): e₁ is the direction of the mean of the
 * first three, e₂ that of e₁ × the fourth, e₃ = e₁ × e₂. */
typedef struct sp_warp_frame {
    int32_t from[4], to[4]; /* from[0] = −1: there is no such frame */
    double rest[9];         /* B at rest, e₁, e₂, e₃ in its columns, row major */
} sp_warp_frame;

/* The rigid part of a field: the centre of mass, the mass, and the inverse of the inertia about it (0 where that is
 * singular). */
typedef struct sp_warp_rigid {
    double centre[3], mass, inverse[9];
} sp_warp_rigid;

typedef struct sp_warp_system {
    sp_pool pool;
    sp_context *context;
    sp_fe_space *body;
    sp_warp p;
    bool whole;             /* no vertex is fixed: q is the displacement of all vertices */
    bool supports_separate; /* mass, springs and floor planes are not in the blocks of S, which are applied between
                   projections: PAIR and corrected */
    bool unsymmetric;       /* S is not symmetric */
    bool allow_unsymmetric; /* the added terms require a solver that allows an unsymmetric matrix */
    bool many_rows, many_elements; /* rows and elements are numerous enough for threads */
    double tolerance;

    /* Matrices of 3 × 3 blocks over all vertices, fixed ones included. */
    sp_mesh mesh;    /* the body's mesh without fixed vertices, a shallow copy … */
    sp_fe_space all; /* … and its space: element matrices, colors and their places in the rows */
    int64_t vertices;
    const double *X;     /* [3·vertices] m */
    int64_t *start;      /* [vertices + 1] rows of blocks; empty where no element uses the vertex */
    int32_t *column;     /* [blocks] vertices that share an element, increasing */
    int64_t *diagonal;   /* [vertices] −1 where the row is empty */
    double *K;           /* [blocks, 9 row major] at rest, N/m */
    double *S;           /* [blocks, 9] */
    double *mass;        /* [blocks] kg, consistent or lumped */
    double *vertex_mass; /* [vertices] kg, lumped */
    double *spring; /* [blocks] N/m, of the edge between two vertices; NULL if neither network nor strain limiting needs
                       it */

    /* ELEMENT: sp_warp_entries numbers for each class of elements, one class after the other: K_ab at rest of its
     * corners a < b [pairs, 9 row major], and the gradients at the centre of all corners but the first [corners − 1, 3]
     * 1/m. */
    double *matrix;
    int64_t *matrix_start; /* [classes] */

    /* FRAME */
    sp_warp_frame *vertex_frame;  /* [vertices] VERTEX, PAIR */
    sp_warp_frame *element_frame; /* [classes] ELEMENT */

    double *u, *v; /* [3·vertices]; fixed components have their prescribed displacement and velocity */
    double *x;     /* X + u */
    double *f, *auxiliary, *direction; /* [3·vertices] scratch; fixed components of `direction` stay 0 */
    double *rotation;                  /* [vertices, 9] at x */
    double *row_energy;                /* [vertices] */

    double *preconditioner_rotation; /* [vertices, 9] rotations of the preconditioner, at the first addition to S */
    sp_warp_rigid rigid;             /* corrected and PAIR: of the same state … */
    double *place;                   /* … and [3·vertices] positions of the vertices in it */
    bool added;
    double *support; /* [vertices, 9] stiffness of springs and floor planes in S, if `supports_separate` */
    int64_t *own;    /* [dof_count] entry of the vertex's first free component in each row of the pattern */
    bool supported;  /* some of `support` is not 0 */

    sp_supports supports;
    sp_sparse M_short, near;           /* over free degrees of freedom; near: scratch over the body's pattern */
    double *free_mass;                 /* [dof_count] lumped */
    sp_cholesky *factor, *mass_factor; /* factor: NULL for JACOBI, which has … */
    double *inverse; /* … [vertices, 9] inverses of the diagonal blocks, 0 in rows and columns that are fixed; NULL for
                        FACTOR */
    double mass_scale, stiffness_scale, factored_mass, factored_stiffness;
    double shift; /* mass term that makes the factored matrix definite if neither mass nor fixed vertices do, 1/s² per
                     unit of stiffness */
    bool factored;
    double *rotated; /* [dof_count] */
    sp_iteration iteration;
    int64_t solves, products;
} sp_warp_system;

enum { SP_WARP_ENTRIES = 280 };

/* Rounded up to whole vectors: 64 and 280. */
SP_INLINE int sp_warp_entries(int corners)
{
    return (9 * sp_pair_count(corners) + 3 * (corners - 1) + SP_LANES - 1) / SP_LANES * SP_LANES;
}

/* ---- construction (warp_make.c), in this order ---- */

int sp_warp_make_vectors(sp_warp_system *w) SP_MUST_USE;
int sp_warp_make_rows(sp_warp_system *w) SP_MUST_USE;
int sp_warp_make_blocks(sp_warp_system *w) SP_MUST_USE;
int sp_warp_make_elements(sp_warp_system *w) SP_MUST_USE; /* ELEMENT */
int sp_warp_make_factors(sp_warp_system *w) SP_MUST_USE;

/* ---- frames of edges (warp_frames.c) ---- */

/* Chooses the frames. */
void sp_warp_frames(sp_warp_system *w);

/* R = B' Bᵀ (eq. 16); false if the frame has no direction at x. */
bool sp_warp_frame_rotation(const sp_warp_frame *frame, const double *x, double R[9]);

/* ---- rotations (warp_rotations.c) ---- */

/* R of every vertex at x [3·vertices] into rotation [vertices, 9]. If a frame has no direction at x (edges of zero
 * length, or parallel), the polar decomposition is used, which is always defined (material/law.h); nothing is
 * remembered from earlier steps. */
void sp_warp_vertex_rotations(const sp_warp_system *w, enum sp_warp_rotation kind, const double *x, double *rotation);

/* The rotations of the elements of a batch, from the gradients of their corners and the positions x of these relative
 * to the first corner. */
void sp_warp_element_rotations(const sp_warp_system *w, const sp_batch *batch, sp_lanes gradient[][3], sp_lanes x[8][3],
                               sp_lanes rotation[9]);

/* ---- forces and matrices (warp_forces.c); f, y [3·vertices] over all vertices ---- */

/* A row of blocks B times x [3·vertices]. */
void sp_warp_times(const sp_warp_system *w, const double *B, const double *x, double *y);

/* f (overwritten; NULL: not wanted) of the kind at x with the rotations in w->rotation (VERTEX, PAIR) or those that
 * follow from x (ELEMENT). Returns the energy of ELEMENT, else 0. S += scale · W(x). */
double sp_warp_force(sp_warp_system *w, const double *x, double scale, double *f);

/* y (overwritten) = W(x) v, with the same rotations taken as constant. */
void sp_warp_tangent_times(sp_warp_system *w, const double *x, const double *v, double *y);

/* The centre of mass of a field x [3·vertices]. */
void sp_warp_mean(const sp_warp_system *w, const double *x, double centre[3]);

void sp_warp_rigid_at(const sp_warp_system *w, const double *x, sp_warp_rigid *rigid);

/* f ← f − M (a + α × (x − c)), so that Σ f = 0 and Σ (x − c) × f = 0. */
void sp_warp_rigid_remove(const sp_warp_system *w, const sp_warp_rigid *rigid, const double *x, double *f);

/* Σ f and Σ (x − c) × f. */
void sp_warp_rigid_sums(const sp_warp_system *w, const sp_warp_rigid *rigid, const double *x, const double *f,
                        double force[3], double torque[3]);

/* ---- edges (warp_edges.c) ---- */

/* Sets w->spring, and in a network w->K from it. */
void sp_warp_edges(sp_warp_system *w);

/* Strain limiting: returns the energy at x and adds its force to f (NULL: energy only); y += T(x) v; S += scale · T(x).
 * T is the exact derivative, positive semidefinite because only edges in tension count. */
double sp_warp_stretch_force(sp_warp_system *w, const double *x, double *f);
void sp_warp_stretch_times(const sp_warp_system *w, const double *x, const double *v, double *y);
void sp_warp_stretch_add(sp_warp_system *w, const double *x, double scale);

#endif
