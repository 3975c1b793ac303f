/* Matrices that simexport writes: Matrix Market, NumPy, VegaFEM. */
#ifndef TOOLS_EXPORT_MATRIX_H
#define TOOLS_EXPORT_MATRIX_H

#include "tools/common/tool.h"

enum tool_matrix_format {
    TOOL_MATRIX_MARKET,
    TOOL_MATRIX_NPY,
    TOOL_MATRIX_VEGA,
    TOOL_MATRIX_VEGA_FLOAT,
    TOOL_MATRIX_CUB
};

/* A sparse matrix as lower triangle (Matrix Market), polynomials (.cub), or the columns (`chosen`: a list from 1; NULL:
 * all) of modes, derivatives, snapshots or a basis as dense array; for VEGA_FLOAT at the vertices of the mesh's
 * embedded surface. paths [count]: one file, with VEGA_FLOAT the mesh too, in any order. */
void tool_export_matrix(sp_context *context, enum tool_matrix_format format, int count, const char *const *paths,
                        const char *target, const char *chosen);

#endif
