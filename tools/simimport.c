/* simimport: volumetric meshes, bases and reduced forces that other programs wrote. */
#include "tools/common/anchors.h"
#include "tools/common/inputs.h"
#include "tools/import/import.h"

#include <string.h>

static struct {
    int format;
    import_mesh_choice mesh;
    import_matrix_choice matrix;
} chosen;

static const tool_option options[] = {
    {"format", 0, TOOL_CHOICE, &chosen.format, NULL, "auto",
     "auto|veg|msh|inp|medit|tetgen|vtk|vtu|comsol|npy|matrix-market|vega-matrix|cub|superelement",
     .help = "format of the input; auto: by the ending of its name"},
};

static const tool_option mesh_options[] = {
    {"young", 0, TOOL_REAL, &chosen.mesh.young, "PA", "1e6", .low = 1e-300, .high = 1e300,
     .help = "Young's modulus, Pa; replaces the file's where given", .given = &chosen.mesh.young_given},
    {"poisson", 0, TOOL_REAL, &chosen.mesh.poisson, "NU", "0.45", .low = -0.999, .high = 0.4999999,
     .help = "Poisson's ratio; replaces the file's where given", .given = &chosen.mesh.poisson_given},
    {"law", 0, TOOL_CHOICE, &chosen.mesh.law, NULL, "stvk", TOOL_LAWS,
     .help = "material law; replaces the file's where given", .given = &chosen.mesh.law_given},
    {"density", 0, TOOL_REAL, &chosen.mesh.density, "KG/M3", "1000", .low = 1e-300, .high = 1e300,
     .help = "density, kg/m3; replaces the file's where given", .given = &chosen.mesh.density_given},
    {"quadrature", 0, TOOL_INTEGER, &chosen.mesh.quadrature, "N", "2", .low = 2, .high = 3,
     .help = "Gauss points per axis of 8-node hexahedra", .given = &chosen.mesh.quadrature_given},
    {"hexahedra", 0, TOOL_CHOICE, &chosen.mesh.hexahedra, NULL, "full", "full|averaged|incompatible",
     .help = "8-node hexahedra: full integration, averaged dilatation, or incompatible modes"},
    {"linearize", 0, TOOL_FLAG, &chosen.mesh.linearize, .help = "drop the nodes that are not corners of elements"},
    {"serendipity", 0, TOOL_FLAG, &chosen.mesh.serendipity, .only = "!linearize",
     .help = "drop the nodes in the middles of faces and volumes"},
    {"turn", 0, TOOL_FLAG, &chosen.mesh.turn, .help = "turn elements of negative volume instead of refusing them"},
    {"keep-folded", 0, TOOL_FLAG, &chosen.mesh.keep_folded,
     .help = "keep elements that are folded, but neither at the integration points of the stiffness nor so far that "
             "their mass is not positive definite"},
    {"fixed", 0, TOOL_INPUTS, &chosen.mesh.bou, "FILE", .files = "bou",
     .help = "fixed vertices as VegaFEM .bou (numbers from 1)"},
    {"surface", 0, TOOL_INPUT, &chosen.mesh.surface, "MODEL", .only = "interpolation",
     .help = "triangle model to embed: OBJ, PLY, STL, OFF"},
    {"interpolation", 0, TOOL_INPUT, &chosen.mesh.interpolation, "FILE", .files = "interp", .only = "surface",
     .help = "weights of the surface's vertices as VegaFEM .interp"},
    {"materials", 0, TOOL_INPUT, &chosen.mesh.materials, "JSON",
     .help = "other materials by region name: [{\"name\": …, \"young\": …, \"fibre\": …, …}, …]"},
    {"factor", 0, TOOL_INPUT, &chosen.mesh.factor, "FILE", .files = "npy",
     .help = ".npy of (elements) or (elements, 2) numbers on lambda and mu of each element"},
    {"fibre", 0, TOOL_INPUT, &chosen.mesh.fibre, "FILE", .files = "npy",
     .help = ".npy of (elements, 3) numbers: the direction of each element's fibres, 0 without fibres"},
};

static const tool_option matrix_options[] = {
    {"as", 0, TOOL_CHOICE, &chosen.matrix.kind, NULL, "auto", "auto|basis|modes|derivatives|snapshots", .open = true,
     .only = "@matrix",
     .help =
         "what a matrix becomes; auto: basis from .U, modes from .Ulin, derivatives from .modalDeriv, else snapshots"},
    {"mesh", 0, TOOL_INPUT, &chosen.matrix.mesh, "FILE", .help = "mesh that a matrix or polynomials belong to"},
    {"lumping", 0, TOOL_CHOICE, &chosen.matrix.lumping, NULL, "auto", "auto|consistent|lumped",
     .only = "@matrix as=basis,modes",
     .help = "mass in which a basis or modes are orthonormal; auto: as measured in the mesh"},
    {"modes", 0, TOOL_INPUT, &chosen.matrix.modes, "FILE", .only = "@matrix as=derivatives",
     .help = "modes that derivatives belong to"},
    {"basis", 0, TOOL_INPUT, &chosen.matrix.basis, "FILE", .only = "@polynomials",
     .help = "basis that polynomials belong to"},
};

static const tool_table tables[] = {
    {.title = "Meshes", .options = tool_frame_options, .count = TOOL_FRAME_COUNT, .only = "@mesh"},
    {.title = "Meshes", .options = mesh_options, .count = TOOL_COUNT(mesh_options), .only = "@mesh"},
    {.title = "Meshes", .options = tool_fix_options, .count = TOOL_FIX_COUNT, .only = "@mesh"},
    {.title = "Meshes", .options = tool_region_options, .count = TOOL_REGION_COUNT, .only = "@mesh"},
    {.title = "Meshes", .options = tool_set_options, .count = TOOL_SET_COUNT, .only = "@mesh"},
    {.title = "Matrices and polynomials",
     .options = matrix_options,
     .count = TOOL_COUNT(matrix_options),
     .only = "!@mesh"},
    {0},
};

static enum import_format format_of(const char *path)
{
    static const struct {
        const char *ending;
        enum import_format format;
    } known[] = {{".veg", IMPORT_VEG},          {".msh", IMPORT_MSH},           {".inp", IMPORT_INP},
                 {".mesh", IMPORT_MEDIT},       {".node", IMPORT_TETGEN},       {".ele", IMPORT_TETGEN},
                 {".vtk", IMPORT_VTK},          {".vtu", IMPORT_VTU},           {".mphtxt", IMPORT_COMSOL},
                 {".npy", IMPORT_NPY},          {".mtx", IMPORT_MARKET},        {".U", IMPORT_VEGA_MATRIX},
                 {".Ulin", IMPORT_VEGA_MATRIX}, {".float", IMPORT_VEGA_MATRIX}, {".modalDeriv", IMPORT_VEGA_MATRIX},
                 {".cub", IMPORT_CUB},          {".json", IMPORT_SUPERELEMENT}};
    const char *dot = strrchr(path, '.');

    if (chosen.format != IMPORT_AUTO)
        return (enum import_format)chosen.format;
    if (dot)
        for (int i = 0; i < TOOL_COUNT(known); i++)
            if (!strcmp(dot, known[i].ending))
                return known[i].format;

    if (dot && strcasestr(" .obj .ply .stl .off ", dot))
        tool_hint("voxelize makes a mesh of a triangle model");
    else
        tool_hint("name it with --format");
    tool_fail(
        SP_USAGE, path,
        "its format is not known by its ending (.veg, .msh, .inp, .mesh, .node, .ele, .vtk, .vtu, .mphtxt, .npy, .mtx, "
        ".U, .Ulin, .modalDeriv, .float, .cub, .json)");
}

/* What a matrix becomes if --as does not say it. */
static enum import_kind kind_of(const char *path)
{
    static const struct {
        const char *ending;
        enum import_kind kind;
    } known[] = {{".U", IMPORT_BASIS}, {".Ulin", IMPORT_MODES}, {".modalDeriv", IMPORT_DERIVATIVES}};
    const char *dot = strrchr(path, '.');
    if (dot)
        for (int i = 0; i < TOOL_COUNT(known); i++)
            if (!strcmp(dot, known[i].ending))
                return known[i].kind;
    return IMPORT_SNAPSHOTS;
}

static const tool_spec spec = {
    .name = "simimport",
    .arguments = "FILE",
    .files = "*",
    .least = 1,
    .most = 1,
    .summary = "Meshes, bases and reduced forces that other programs wrote.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .tables = tables,
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  simimport bridge.veg --fixed bridge.bou -o bridge.npz\n  simimport bridge.U --mesh bridge.npz "
                "-o basis.npz\n"
                "  simimport bridge.cub --mesh bridge.npz --basis basis.npz -o poly.npz\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    const char *path = tool_argument(0);
    enum import_format format = format_of(path);
    const bool is_mesh = format <= IMPORT_LAST_MESH;
    tool_inputs_are(is_mesh ? "mesh" : format >= IMPORT_CUB ? "polynomials" : "matrix");
    if (is_mesh)
        import_mesh(context, path, format, &chosen.mesh);
    else if (format == IMPORT_SUPERELEMENT)
        import_superelement(context, path, &chosen.matrix);
    else if (format == IMPORT_CUB)
        import_polynomials(context, path, &chosen.matrix);
    else {
        tool_option_choose("as", (int)kind_of(path));
        import_columns(context, path, format, &chosen.matrix);
    }
    return tool_end();
}
