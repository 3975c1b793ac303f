/* The formats of simexport. */
#ifndef TOOLS_EXPORT_FORMAT_H
#define TOOLS_EXPORT_FORMAT_H

#include <stdbool.h>

/* From MATRIX_MARKET on in the order of tool_matrix_format, from MSH on in that of tool_volume_format. */
enum export_format {
    FORMAT_AUTO,
    FORMAT_CSV,
    FORMAT_OBJ,
    FORMAT_VTU,
    FORMAT_PLY,
    FORMAT_GRAM,
    FORMAT_MATRIX_MARKET,
    FORMAT_NPY,
    FORMAT_VEGA_MATRIX,
    FORMAT_VEGA_FLOAT,
    FORMAT_CUB,
    FORMAT_MSH,
    FORMAT_MSH_2,
    FORMAT_MEDIT,
    FORMAT_TETGEN,
    FORMAT_VTK,
    FORMAT_INP,
    FORMAT_VEG,
    FORMAT_BOU,
    FORMAT_INTERP,
    FORMAT_C,
    FORMAT_FMU,
    FORMAT_GLB,
    FORMAT_USDA,
    FORMAT_HTML,
    FORMAT_SUPERELEMENT,
    FORMAT_EXTPTFM
};

#define EXPORT_FORMATS                                                                                                 \
    "auto|csv|obj|vtu|ply|gram|matrix-market|npy|vega-matrix|vega-float|cub|msh|msh2|medit|tetgen|vtk|inp|veg|bou|"    \
    "interp|c|fmu|glb|usda|html|superelement|extptfm"

/* The format of a name's ending. A usage error if it is not known. */
enum export_format export_format_of(const char *target);

bool export_is_matrix(enum export_format format);
bool export_is_volume(enum export_format format);

/* The format as one of enum tool_pointshell_format; −1 if no pointshell can be written in it. */
int export_pointshell_format(enum export_format format);

#endif
