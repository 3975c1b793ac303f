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
     "auto|veg|msh|inp|medit|tetgen|vtk|vtu|npy|matrix-market|vega-matrix|cub",
     .help = "of the input; auto: by the ending of its name"},
    {"young", 0, TOOL_REAL, &chosen.mesh.young, "PA", "1e6", .low = 1e-300, .high = 1e300,
     .help = "Young's modulus; replaces the file's where given", .given = &chosen.mesh.young_given},
    {"poisson", 0, TOOL_REAL, &chosen.mesh.poisson, "NU", "0.45", .low = -0.999, .high = 0.4999999,
     .help = "Poisson's ratio; replaces the file's where given", .given = &chosen.mesh.poisson_given},
    {"law", 0, TOOL_CHOICE, &chosen.mesh.law, NULL, "stvk", TOOL_LAWS,
     .help = "material law; replaces the file's where given", .given = &chosen.mesh.law_given},
    {"density", 0, TOOL_REAL, &chosen.mesh.density, "KG/M3", "1000", .low = 1e-300, .high = 1e300,
     .help = "density; replaces the file's where given", .given = &chosen.mesh.density_given},
    {"quadrature", 0, TOOL_INTEGER, &chosen.mesh.quadrature, "N", "2", .low = 2, .high = 3,
     .help = "Gauss points per axis of hexahedra", .given = &chosen.mesh.quadrature_given},
    {"turn", 0, TOOL_FLAG, &chosen.mesh.turn, .help = "turn elements of negative volume instead of refusing them"},
    {"fixed", 0, TOOL_INPUTS, &chosen.mesh.bou, "FILE",
     .help = "anchored vertices as VegaFEM .bou (numbers from 1); may stand several times"},
    {"surface", 0, TOOL_INPUT, &chosen.mesh.surface, "MODEL", .help = "triangle model to embed: OBJ, PLY, STL, OFF"},
    {"interpolation", 0, TOOL_INPUT, &chosen.mesh.interpolation, "FILE",
     .help = "weights of the surface's vertices as VegaFEM .interp"},
    {"materials", 0, TOOL_INPUT, &chosen.mesh.materials, "JSON",
     .help = "other materials by region name: [{\"name\": …, \"young\": …, \"fibre\": …, …}, …]"},
    {"factor", 0, TOOL_INPUT, &chosen.mesh.factor, "FILE",
     .help = ".npy of (elements) or (elements, 2) numbers on lambda and mu of each element"},
    {"fibre", 0, TOOL_INPUT, &chosen.mesh.fibre, "FILE",
     .help = ".npy of (elements, 3) numbers: the direction of each element's fibres, 0 without fibres"},
    TOOL_FIX_OPTIONS,
    {"as", 0, TOOL_CHOICE, &chosen.matrix.kind, NULL, "auto", "auto|basis|modes|derivatives|snapshots",
     .help =
         "what a matrix becomes; auto: basis from .U, modes from .Ulin, derivatives from .modalDeriv, else snapshots"},
    {"mesh", 0, TOOL_INPUT, &chosen.matrix.mesh, "FILE", .help = "mesh that a matrix or polynomials belong to"},
    {"lumping", 0, TOOL_CHOICE, &chosen.matrix.lumping, NULL, "auto", "auto|consistent|lumped",
     .help = "mass in which a basis or modes are orthonormal; auto: as measured in the mesh"},
    {"modes", 0, TOOL_INPUT, &chosen.matrix.modes, "FILE", .help = "modes that derivatives belong to"},
    {"basis", 0, TOOL_INPUT, &chosen.matrix.basis, "FILE", .help = "basis that polynomials belong to"},
};

static enum import_format format_of(const char *path)
{
    static const struct {
        const char *ending;
        enum import_format format;
    } known[] = {{".veg", IMPORT_VEG},
                 {".msh", IMPORT_MSH},
                 {".inp", IMPORT_INP},
                 {".mesh", IMPORT_MEDIT},
                 {".node", IMPORT_TETGEN},
                 {".ele", IMPORT_TETGEN},
                 {".vtk", IMPORT_VTK},
                 {".vtu", IMPORT_VTU},
                 {".npy", IMPORT_NPY},
                 {".mtx", IMPORT_MARKET},
                 {".U", IMPORT_VEGA_MATRIX},
                 {".Ulin", IMPORT_VEGA_MATRIX},
                 {".float", IMPORT_VEGA_MATRIX},
                 {".modalDeriv", IMPORT_VEGA_MATRIX},
                 {".cub", IMPORT_CUB}};
    const char *dot = strrchr(path, '.');
    if (chosen.format != IMPORT_AUTO)
        return (enum import_format)chosen.format;
    for (int i = 0; dot && i < TOOL_COUNT(known); i++)
        if (!strcmp(dot, known[i].ending))
            return known[i].format;
    tool_hint("name it with --format");
    tool_fail(SP_USAGE, path,
              "its format is not known by its ending (.veg, .msh, .inp, .mesh, .node, .ele, .vtk, .vtu, .npy, .mtx, "
              ".U, .Ulin, .modalDeriv, .float, .cub)");
}

/* Options that the format has no use for are mistakes. */
static void check_options(bool is_mesh)
{
    const struct {
        const char *name;
        bool given, of_mesh;
    } checks[] = {
        {"young", chosen.mesh.young_given, true},
        {"poisson", chosen.mesh.poisson_given, true},
        {"law", chosen.mesh.law_given, true},
        {"density", chosen.mesh.density_given, true},
        {"quadrature", chosen.mesh.quadrature_given, true},
        {"materials", chosen.mesh.materials != NULL, true},
        {"factor", chosen.mesh.factor != NULL, true},
        {"fibre", chosen.mesh.fibre != NULL, true},
        {"turn", chosen.mesh.turn, true},
        {"fixed", chosen.mesh.bou.count > 0, true},
        {"surface", chosen.mesh.surface != NULL, true},
        {"interpolation", chosen.mesh.interpolation != NULL, true},
        {"fix-box", tool_fixed_vertices.boxes.count > 0, true},
        {"fix-half-space", tool_fixed_vertices.half_spaces.count > 0, true},
        {"fix-vertices", tool_fixed_vertices.lists.count > 0, true},
        {"as", chosen.matrix.kind != IMPORT_KIND_AUTO, false},
        {"mesh", chosen.matrix.mesh != NULL, false},
        {"lumping", chosen.matrix.lumping != IMPORT_LUMPING_AUTO, false},
        {"modes", chosen.matrix.modes != NULL, false},
        {"basis", chosen.matrix.basis != NULL, false},
    };
    for (int i = 0; i < TOOL_COUNT(checks); i++)
        if (checks[i].given && checks[i].of_mesh != is_mesh)
            tool_fail(SP_USAGE, NULL, "--%s means nothing for %s", checks[i].name,
                      is_mesh ? "a mesh" : "a matrix or polynomials");
}

static const tool_spec spec = {
    .name = "simimport",
    .arguments = "FILE",
    .least = 1,
    .most = 1,
    .summary = "Meshes, bases and reduced forces that other programs wrote.",
    .options = options,
    .option_count = TOOL_COUNT(options),
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
    bool is_mesh = format >= IMPORT_VEG && format <= IMPORT_LAST_MESH;
    check_options(is_mesh);
    if (is_mesh)
        import_mesh(context, path, format, &chosen.mesh);
    else if (format == IMPORT_CUB)
        import_polynomials(context, path, &chosen.matrix);
    else
        import_columns(context, path, format, &chosen.matrix);
    return tool_end();
}
