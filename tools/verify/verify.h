/* Certifying files: each claim is computed anew by another way than that of the program which made it, where there is
 * one. Every check prints a line; checks whose other files are not there say so. */
#ifndef TOOLS_VERIFY_VERIFY_H
#define TOOLS_VERIFY_VERIFY_H

#include "assembly/fe_space.h"
#include "formats/certificate.h"
#include "formats/columns.h"
#include "formats/cubature.h"
#include "formats/curve.h"
#include "formats/domains.h"
#include "formats/field.h"
#include "formats/pointshell.h"
#include "formats/polynomials.h"
#include "formats/skin.h"
#include "formats/trajectory.h"
#include "linear/dense.h"
#include "reduced/force.h"
#include "tools/common/equilibrium.h"
#include "tools/common/tool.h"

#include <math.h>

/* One file. What belongs to its kind is read once; trajectories are read by their check. */
typedef struct artefact {
    const char *path;
    const char *option;                                         /* that named it; NULL: an argument */
    char kind[48];                                              /* "" for a file of NumPy or SciPy */
    char hash[SP_HASH_LENGTH];                                  /* computed */
    char stated[SP_HASH_LENGTH];                                /* "" where none is */
    char mesh_hash[SP_HASH_LENGTH], basis_hash[SP_HASH_LENGTH]; /* recorded; "" where unknown */
    json_t *meta, *result;
    int descriptor; /* stays open, for a trajectory or motion */
    int64_t start;  /* its position at the beginning of the file */
    sp_mesh mesh;
    char cut_from[SP_HASH_LENGTH]; /* of a cut mesh; else "" */
    int64_t origin_count, *origin; /* of a cut mesh, owned by `mesh`; else NULL */
    bool body_tried;
    int body_status; /* SP_OK: `body` with its pattern and `stiffness` are there */
    char body_message[300];
    sp_fe_space body;
    sp_sparse stiffness; /* at rest, over the free degrees of freedom */
    sp_columns columns;
    sp_polynomials polynomials;
    sp_field field;
    sp_cubature cubature;
    sp_certificate certificate;
    sp_curve_file curve;
    sp_poses poses; /* of a file of training */
    int64_t first, total;
    sp_pointshell pointshell;
    sp_domains domains;
    sp_skin_file skin;
    sp_sparse matrix;
    int64_t *dof; /* of the matrix's rows */
} artefact;

typedef struct verify {
    sp_context *context;
    FILE *stream;
    int64_t count;
    artefact *files;
    int64_t sample;          /* pairs, frames, vertices of a field: how many are looked at */
    const char *model;       /* of fields and pointshells; NULL: none was named */
    const tool_texts *loads; /* files that trajectories may have their loads from */
    double balance;          /* limit of the energy balance; < 0: the integrator's own */
    int64_t failed, passed, skipped;
} verify;

/* ---- files ---- */

/* Reads a file with its hash; ends the process where it is unusable. */
void verify_read(verify *v, const char *path, const char *option, artefact *file);
void verify_free(artefact *file);

/* The file with this hash, NULL where it is not there. */
artefact *verify_find(const verify *v, const char *hash);

/* The one of this kind among the inputs that `file` records, named by `option` where that is not NULL. */
artefact *verify_input(const verify *v, const artefact *file, const char *kind, const char *option);

/* The mesh of a file, or NULL after saying why the named checks are not made. with_body: ready for computing. */
artefact *verify_mesh(verify *v, artefact *file, const char *checks, bool with_body);

/* The surface that a field or pointshell was made of: the mesh among the files, or the model that was named. False
 * after saying what is missing for the named checks. */
bool verify_find_surface(verify *v, artefact *file, const char *checks, sp_surface *surface);

/* ---- lines ---- */

/* The larger of two measured numbers; NaN stays, which fmax would forget. */
static inline double verify_worse(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

/* Passes where measured ≤ limit (NaN does not). */
void verify_number(verify *v, const artefact *file, const char *name, double measured, double limit);
void verify_fact(verify *v, const artefact *file, const char *name, bool ok, const char *format, ...) SP_PRINTF(5, 6);
void verify_skip(verify *v, const artefact *file, const char *name, const char *format, ...) SP_PRINTF(4, 5);
/* A number without a limit. */
void verify_note(verify *v, const artefact *file, const char *name, const char *format, ...) SP_PRINTF(4, 5);

/* ---- the checks of the kinds ---- */

void verify_mesh_file(verify *v, artefact *file);
void verify_sparse(verify *v, artefact *file);
void verify_modes(verify *v, artefact *file);
void verify_derivatives(verify *v, artefact *file);
void verify_basis(verify *v, artefact *file);
void verify_snapshots(verify *v, artefact *file);
void verify_polynomials(verify *v, artefact *file);
void verify_cubature(verify *v, artefact *file);
void verify_training(verify *v, artefact *file);
void verify_trajectory(verify *v, artefact *file);

/* [vertices] the components that the mesh fixes, as bits. */
const uint8_t *verify_fixed_bits(const sp_mesh *mesh, sp_pool *pool);

/* Fixed vertices rest unless something moves them; those that move together do so as a rigid body. */
void verify_prescribed(verify *v, artefact *file, const sp_trajectory *trajectory, const sp_mesh *mesh,
                       const uint8_t *fixed, sp_pool *pool);

/* The cut meshes that the options name follow each other, and copies are together in all frames before their cut. */
void verify_cuts(verify *v, artefact *file, const sp_trajectory *trajectory);
void verify_motion(verify *v, artefact *file);
void verify_field(verify *v, artefact *file);
void verify_pointshell(verify *v, artefact *file);
void verify_domains(verify *v, artefact *file);
void verify_skin(verify *v, artefact *file);
void verify_certificate(verify *v, artefact *file);
void verify_curve(verify *v, artefact *file);
void verify_ensemble(verify *v, artefact *file);

/* A static trajectory and its model. */
typedef struct verify_statics {
    verify *v;
    artefact *file;
    const sp_trajectory *trajectory;
    const sp_fe_space *body; /* with the materials of the motion */
    const double *U;         /* NULL: full-order; else one of the next two */
    const sp_polynomials *polynomials;
    const sp_reduced_force *weighted;
    const double *gram;         /* [N, N] of the polynomials */
    bool linear;                /* full-order */
    const sp_sparse *stiffness; /* full-order, at rest, for what rounding does; NULL: unknown */
    const uint8_t *fixed;       /* full-order: [vertices] components that the mesh holds, as bits */
} verify_statics;

/* Checks that internal and external forces are in balance in its frames. */
void verify_equilibrium(const verify_statics *s);

/* The mesh in the state of the equilibrium that a file names by --about or --buckling: with the materials and the fixed
 * vertices of the equilibrium, and with --about with its tangent stiffness. Of a file that names none it is the mesh.
 */
typedef struct verify_state {
    artefact *mesh;
    artefact own;
    tool_equilibrium equilibrium;
} verify_state;

/* mesh is ready for computing. False after saying why the named checks are not made. */
bool verify_state_open(verify *v, artefact *file, artefact *mesh, const char *checks, verify_state *state);
void verify_state_close(verify_state *state);

/* Checks factors and shapes of linear buckling. */
void verify_buckling(verify *v, artefact *file, artefact *mesh);

/* ---- mathematics that several share ---- */

/* y [3·vertices] = M u with the consistent or lumped mass of all degrees of freedom, element by element. */
void verify_mass_times(const sp_fe_space *body, bool lumped, const double *u, double *y);

/* Mass matrix over the free degrees of freedom; the body's pattern. */
void verify_mass_matrix(verify *v, const artefact *mesh, bool lumped, sp_sparse *mass);

/* UᵀAU [columns, columns] of a matrix over the free degrees of freedom. */
void verify_reduced_matrix(verify *v, const sp_columns *columns, const sp_fe_space *body, const sp_sparse *matrix,
                           double *reduced);

/* UᵀMU [r, r] and UᵀM e_x, e_y, e_z [r, 3, row major] as stated, with the lumped or the consistent mass, for U
 * [3·vertices, ≥ r]. Returns the size of the terms that gravity sums up: of a free body's modes it is 0 itself. */
double verify_reduced_mass(verify *v, artefact *file, const sp_fe_space *body, bool lumped, int64_t r, const double *U,
                           const double *mass, const double *gravity);

/* The columns with the rows of held degrees of freedom set to 0, as the tools take a basis; from `pool`. */
const double *verify_fixed_columns(const sp_columns *columns, const sp_fe_space *body, sp_pool *pool);

/* Mesh (ready for computing) and basis of a file in r coordinates; false after saying why the named checks are not
 * made. */
bool verify_mesh_and_basis(verify *v, artefact *file, const char *checks, int64_t r, artefact **mesh, artefact **basis);

/* Which connected piece of the mesh each vertex belongs to, −1 for one without element; from `pool`. */
const int64_t *verify_piece_labels(verify *v, const sp_mesh *mesh, sp_pool *pool, int64_t *pieces);

/* How far the first `count` columns are from rigid motions of the pieces: the worst part that is none, relative. */
double verify_rigid_columns(verify *v, const sp_mesh *mesh, const sp_columns *columns, int64_t count);

/* Notes: rank and condition of columns that promise none; for a basis the rigid motions in its span, and the lowest and
 * highest frequency of the reduced linear system UᵀKU, UᵀMU (thesis Table 2.1). */
void verify_rank(verify *v, artefact *file, const artefact *mesh);
void verify_spectrum(verify *v, artefact *file, const artefact *mesh, const sp_sparse *mass);

/* Eigenvalues, ascending, of a symmetric matrix [n, n], which is destroyed. */
void verify_eigenvalues(verify *v, int64_t n, double *matrix, double *eigenvalue);

/* Random coordinates q [r] that displace some vertex by a tenth of the body's size along an axis, and u = U q
 * [3·vertices]. */
void verify_random_coordinates(const sp_mesh *mesh, const double *U, int64_t r, uint64_t stream, double *u, double *q);

/* z [N] of the coordinates q: ½ zᵀAz is the energy of a Gram matrix A (formats/polynomials.md), and A z gives the
 * force. */
void verify_monomials(int64_t r, const double *q, double *z);
void verify_gram_force(int64_t r, const double *q, const double *Az, double *f);

/* Sum of the parts with their values [N, N]; the file's own array where it is the only one. Memory from `pool`. */
const double *verify_gram_sum(const sp_polynomials *polynomials, sp_pool *pool);

/* Keeps the value that is largest relative to its own limit, and that limit; *worst_limit is 0 before the first. NaN is
 * kept. */
void verify_keep_worst(double value, double limit, double *worst, double *worst_limit);

#endif
