/* Reads the input files that most tools start from, and checks that they belong together. Ends the process on
 * failure. */
#ifndef TOOLS_COMMON_INPUTS_H
#define TOOLS_COMMON_INPUTS_H

#include "api/inputs.h"
#include "formats/columns.h"
#include "formats/mesh.h"
#include "formats/polynomials.h"
#include "tools/common/tool.h"

#include <assert.h>

/* The laws whose constants are Young's modulus and Poisson's ratio, as choices of an option and by their number there.
 */
#define TOOL_LAWS "stvk|neo-hookean|corotational|isochoric-neo-hookean|stable-neo-hookean"
static inline enum sp_law tool_law(int choice)
{
    static const enum sp_law laws[] = {SP_LAW_STVK, SP_LAW_NEO_HOOKEAN, SP_LAW_COROTATIONAL,
                                       SP_LAW_ISOCHORIC_NEO_HOOKEAN, SP_LAW_STABLE_NEO_HOOKEAN};
    enum { OTHER_CONSTANTS = 2 };
    static_assert(sizeof laws / sizeof *laws + OTHER_CONSTANTS == SP_LAW_COUNT, "a law lacks its word in TOOL_LAWS");
    return laws[choice];
}

typedef sp_mesh_input tool_mesh;
typedef sp_columns_input tool_columns;

/* Files read as tool_read reads them, with their provenance, for the readers of api/inputs.h. Failures end the
 * process. */
sp_source *tool_source(void);

/* Ends the process if the status of a reader is not SP_OK. */
void tool_check_source(int status);

/* A mesh file. */
void tool_read_mesh(const char *path, const char *option, tool_mesh *mesh);

/* A mesh that was cut from `parent` (simcut): checked by the hash that it states and by its contents
 * (sp_mesh_check_cut). origin [cut vertices], the vertex of `parent` that each one is or is a copy of, belongs to
 * cut->mesh. */
void tool_read_cut(const char *path, const char *option, const tool_mesh *parent, tool_mesh *cut, int64_t **origin);

/* --factor: the mesh's factors from an .npy file of (elements) or (elements, 2) numbers; path NULL: none. The mesh is
 * checked afterwards. */
void tool_read_factor(sp_context *context, const char *path, sp_mesh *mesh);

/* --materials: gives the regions that a JSON file names other materials (sp_materials_edit). Returns [regions] the
 * helices among them, from `pool`; NULL for the path NULL. */
sp_helix *tool_read_materials(sp_context *context, const char *path, sp_pool *pool, sp_mesh *mesh);

/* Directions of fibres by element: of --fibre, an .npy file of (elements, 3) numbers, or of `helices` [regions];
 * neither: none. The mesh is checked afterwards. */
void tool_read_fibre(sp_context *context, const char *path, const sp_helix *helices, sp_mesh *mesh);

/* A file with a matrix U of one of the types (NULL: any), for the mesh: the number of rows and the recorded mesh hash
 * must agree; a file that records no mesh is accepted with a warning. mesh NULL: any. */
void tool_read_columns(const char *path, const char *option, const char *const *kinds, const tool_mesh *mesh,
                       tool_columns *columns);

/* Largest magnitude in the rows of fixed degrees of freedom. */
double tool_fixed_rows(const sp_mesh *mesh, const sp_columns *columns);

/* Modes that are not orthonormal in the mass of the mesh are refused (sp_input_check_modes). */
void tool_check_modes(const tool_mesh *mesh, const sp_fe_space *space, const tool_columns *columns);

/* Sets the rows of fixed degrees of freedom to 0, with a warning if they were not: a basis must not move fixed
 * vertices. */
void tool_hold_rows(const sp_mesh *mesh, tool_columns *columns);

/* Fails if two hashes that should name the same file differ; "" is unknown and accepted. `what` is "mesh" or
 * "basis". */
void tool_check_hash(const char *path, const char *what, const char *recorded, const char *expected);

/* Returns true if the columns are displacements with a size of their own: snapshots, but not shapes of buckling, whose
 * amplitude is arbitrary as that of modes is. */
bool tool_columns_sized(const tool_columns *columns);

/* Rejects polynomials or a cubature (of `path`) with the consistent mass for a basis that is orthonormal in the lumped
 * one. */
void tool_check_lumping(const char *path, bool lumped, bool basis_lumped, const char *basis);

#endif
