/* The files of a model, each read, checked, and compared with the files that it was made from. A failure leaves its
 * message in the context of the source and the path in source->failed. `key` is as in sp_source.file. Paths are
 * borrowed. */
#ifndef SP_API_INPUTS_H
#define SP_API_INPUTS_H

#include "api/source.h"
#include "assembly/fe_space.h"
#include "cubature/cubature.h"
#include "formats/columns.h"
#include "mesh/mesh.h"
#include "model/model.h"
#include "reduced/certificate.h"
#include "reduced/polynomial.h"

typedef struct sp_mesh_input {
    sp_mesh mesh;
    const char *path;
    char hash[SP_HASH_LENGTH];
} sp_mesh_input;

typedef struct sp_columns_input {
    sp_columns columns;
    const char *path;
    char kind[SP_KIND_LENGTH]; /* "modes", "derivatives", "snapshots", "basis" */
    char hash[SP_HASH_LENGTH];
    bool other_mass; /* modes of a mass matrix that was read from a file (modes --mass) */
    bool held;       /* sp_input_fix_rows has changed them */
} sp_columns_input;

int sp_input_mesh(sp_source *source, const char *path, const char *key, sp_mesh_input *mesh) SP_MUST_USE;

/* A file with a matrix U of one of the types (NULL: any). The number of rows and the recorded mesh hash must be those
 * of the mesh; a file that records no mesh is accepted with a warning. mesh NULL: any. */
int sp_input_columns(sp_source *source, const char *path, const char *key, const char *const *kinds,
                     const sp_mesh_input *mesh, sp_columns_input *columns) SP_MUST_USE;

/* Sets the rows of fixed degrees of freedom to 0, with a warning if they were not: a basis must not move fixed
 * vertices. */
void sp_input_fix_rows(sp_source *source, const sp_mesh *mesh, sp_columns_input *columns);

/* SP_INPUT for modes that are not orthonormal in the mass of the mesh: those of another mesh, whatever hashes the files
 * state, since a reader takes the stated hash of a file for that of its content (formats/container.md). |UᵀMU − I| may
 * be 2e-5: simimport takes columns that are printed with few digits up to 1e-5. Not checked: columns of other types,
 * modes in a mass of their own, Ritz vectors, and modes whose rows were set to 0, with the warning of
 * sp_input_fix_rows. Fixed vertices that a mesh lacks leave UᵀMU as it is, and are not seen. */
int sp_input_check_modes(sp_source *source, const sp_mesh_input *mesh, const sp_fe_space *space,
                         const sp_columns_input *columns) SP_MUST_USE;

/* Polynomials, certificates and cubatures of this mesh and basis, with the mass of the basis. */
int sp_input_polynomials(sp_source *source, const char *path, const char *key, const sp_mesh_input *mesh,
                         const sp_columns_input *basis, sp_polynomials *polynomials) SP_MUST_USE;
int sp_input_certificate(sp_source *source, const char *path, const char *key, const sp_mesh_input *mesh,
                         const sp_columns_input *basis, sp_certificate *certificate) SP_MUST_USE;
int sp_input_cubature(sp_source *source, const char *path, const char *key, const sp_mesh_input *mesh,
                      const sp_columns_input *basis, sp_cubature *cubature) SP_MUST_USE;

/* Reads the basis of a reduced-order model and sets its rows of fixed degrees of freedom to 0 (sp_input_fix_rows). The
 * file has the type modes for mode superposition, else modes, basis or snapshots. */
int sp_input_basis(sp_source *source, enum sp_model_kind kind, const char *path, const char *key,
                   const sp_mesh_input *mesh, sp_columns_input *basis) SP_MUST_USE;

/* Sets *r to the number of coordinates of a model: `wanted`, or for 0 the number `available` in the file. SP_USAGE if
 * the file has fewer; SP_INPUT if the basis has fewer columns. */
int sp_input_rank(sp_source *source, const char *path, int64_t available, int64_t wanted, const sp_columns_input *basis,
                  int64_t *r) SP_MUST_USE;

/* Reads the polynomials or the cubature of a model of this kind, and sets *r as sp_input_rank does. Other kinds have no
 * such file, and `available` is then the number of columns of the basis. */
int sp_input_force(sp_source *source, enum sp_model_kind kind, const char *path, const char *key, int64_t wanted,
                   const sp_mesh_input *mesh, const sp_columns_input *basis, sp_polynomials *polynomials,
                   sp_cubature *cubature, int64_t *r) SP_MUST_USE;

/* Fails if two hashes that should name the same file differ; "" is unknown and accepted. `what` is "mesh" or
 * "basis". */
int sp_input_made_from(sp_source *source, const char *path, const char *what, const char *recorded,
                       const char *expected) SP_MUST_USE;

/* Rejects polynomials or a cubature (of `path`) with the consistent mass for a basis that is orthonormal in the lumped
 * one. */
int sp_input_same_mass(sp_source *source, const char *path, bool lumped, bool basis_lumped,
                       const char *basis) SP_MUST_USE;

/* The Rayleigh damping α [1/s], β [s] of the regions; false if they differ. */
bool sp_input_damping(const sp_mesh *mesh, double damping[2]);

#endif
