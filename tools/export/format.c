#include "tools/export/format.h"

#include "tools/common/tool.h"

#include <string.h>

enum export_format export_format_of(const char *target)
{
    static const struct {
        const char *ending;
        enum export_format format;
    } known[] = {{".csv", FORMAT_CSV},          {".obj", FORMAT_OBJ},
                 {".vtu", FORMAT_VTU},          {".pvd", FORMAT_VTU},
                 {".ply", FORMAT_PLY},          {".mtx", FORMAT_MATRIX_MARKET},
                 {".npy", FORMAT_NPY},          {".U", FORMAT_VEGA_MATRIX},
                 {".Ulin", FORMAT_VEGA_MATRIX}, {".modalDeriv", FORMAT_VEGA_MATRIX},
                 {".float", FORMAT_VEGA_FLOAT}, {".cub", FORMAT_CUB},
                 {".msh", FORMAT_MSH},          {".mesh", FORMAT_MEDIT},
                 {".node", FORMAT_TETGEN},      {".ele", FORMAT_TETGEN},
                 {".vtk", FORMAT_VTK},          {".inp", FORMAT_INP},
                 {".veg", FORMAT_VEG},          {".bou", FORMAT_BOU},
                 {".interp", FORMAT_INTERP},    {".c", FORMAT_C},
                 {".fmu", FORMAT_FMU},          {".glb", FORMAT_GLB},
                 {".usda", FORMAT_USDA},        {".html", FORMAT_HTML},
                 {".json", FORMAT_SUPERELEMENT}};

    const char *dot = strrchr(target, '.');
    if (dot)
        for (int i = 0; i < TOOL_COUNT(known); i++)
            if (!strcmp(dot, known[i].ending))
                return known[i].format;

    tool_hint("name it with --to");
    tool_fail(SP_USAGE, target,
              "its format is not known by its ending (.csv, .obj, .vtu, .pvd, .ply, .mtx, .npy, .U, .Ulin, "
              ".modalDeriv, .float, .cub, .msh, .mesh, .node, .ele, .vtk, .inp, .veg, .bou, .interp, .c, .fmu, .glb, "
              ".usda, .html, .json)");
}

bool export_is_matrix(enum export_format format)
{
    return format >= FORMAT_MATRIX_MARKET && format <= FORMAT_CUB;
}

bool export_is_volume(enum export_format format)
{
    return format >= FORMAT_MSH && format <= FORMAT_INTERP;
}

int export_pointshell_format(enum export_format format)
{
    static const enum export_format formats[] = {FORMAT_CSV, FORMAT_OBJ, FORMAT_PLY, FORMAT_VTU, FORMAT_VTK};
    for (int i = 0; i < TOOL_COUNT(formats); i++)
        if (formats[i] == format)
            return i;
    return -1;
}
