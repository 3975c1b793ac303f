/* The conversions of simimport: to a mesh, columns, polynomials. Each reads, checks, writes -o, and ends the process on
 * failure. */
#ifndef TOOLS_IMPORT_IMPORT_H
#define TOOLS_IMPORT_IMPORT_H

#include "tools/common/inputs.h"

enum import_format {
    IMPORT_AUTO,
    IMPORT_VEG,
    IMPORT_MSH,
    IMPORT_INP,
    IMPORT_MEDIT,
    IMPORT_TETGEN,
    IMPORT_VTK,
    IMPORT_VTU,
    IMPORT_COMSOL,
    IMPORT_LAST_MESH = IMPORT_COMSOL,
    IMPORT_NPY,
    IMPORT_MARKET,
    IMPORT_VEGA_MATRIX,
    IMPORT_CUB,
    IMPORT_SUPERELEMENT,
};

enum import_kind { IMPORT_KIND_AUTO, IMPORT_BASIS, IMPORT_MODES, IMPORT_DERIVATIVES, IMPORT_SNAPSHOTS };
enum import_lumping { IMPORT_LUMPING_AUTO, IMPORT_CONSISTENT, IMPORT_LUMPED };

/* Options of volumetric meshes. */
typedef struct import_mesh_choice {
    int64_t quadrature;
    double young, poisson, density;
    int law; /* index into TOOL_LAWS */
    bool law_given, young_given, poisson_given, density_given, quadrature_given, turn, keep_folded, linearize,
        serendipity;
    int hexahedra; /* index into full, averaged, incompatible */
    const char *surface, *interpolation, *materials, *factor, *fibre;
    tool_texts bou;
} import_mesh_choice;

void import_mesh(sp_context *context, const char *path, enum import_format format, const import_mesh_choice *choice);

/* Options of matrices and polynomials: the files that they belong to (NULL: not given). */
typedef struct import_matrix_choice {
    int kind, lumping; /* enum import_kind, not AUTO for columns; enum import_lumping */
    const char *mesh, *modes, *basis;
} import_matrix_choice;

/* Refuses a mass [r, r] that is not positive definite, and warns of a stiffness [r, r] that is not semidefinite. */
void import_check_definite(sp_context *context, const char *path, int64_t r, const double *stiffness,
                           const double *mass);

/* Compares the stiffness at rest [r, r] with UᵀKU and, unless it is NULL, the mass with UᵀMU, of the first r columns of
 * the basis, whose fixed rows are set to 0. Refuses matrices of another mesh or basis. The deviations are added to
 * result. */
void import_compare(sp_context *context, const char *path, const tool_mesh *mesh, tool_columns *basis, int64_t r,
                    const double *stiffness, const double *mass, json_t *result);

void import_columns(sp_context *context, const char *path, enum import_format format,
                    const import_matrix_choice *choice);
void import_polynomials(sp_context *context, const char *path, const import_matrix_choice *choice);

/* A description as JSON (superelement.md) and the matrices that it names. */
void import_superelement(sp_context *context, const char *path, const import_matrix_choice *choice);

#endif
