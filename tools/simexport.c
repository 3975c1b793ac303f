/* simexport: trajectories, scenes, meshes, columns and matrices in the formats of other programs. */
#include "tools/common/scene_trajectory.h"
#include "tools/common/trajectory.h"
#include "tools/export/cubature.h"
#include "tools/export/field.h"
#include "tools/export/frames.h"
#include "tools/export/gram.h"
#include "tools/export/matrix.h"
#include "tools/export/normals.h"
#include "tools/export/pointshell.h"
#include "tools/export/scene.h"
#include "tools/export/volume.h"
#include "tools/export/vtu.h"

#include <string.h>

/* From MATRIX_MARKET on in the order of tool_matrix_format, from MSH on in that of tool_volume_format. */
enum format {
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
    FORMAT_INTERP
};

static struct {
    int format;
    const char *probes, *frames, *columns, *activation;
    int64_t every, samples;
    bool coordinates, volume, surface, fields, partial, level_given;
    double level;
} chosen;

static const tool_option options[] = {
    {"to", 0, TOOL_CHOICE, &chosen.format, NULL, "auto",
     "auto|csv|obj|vtu|ply|gram|matrix-market|npy|vega-matrix|vega-float|cub|msh|msh2|medit|tetgen|vtk|inp|veg|bou|"
     "interp",
     .help = "format; auto: by the ending of the output's name (.csv .obj .vtu .pvd .ply .mtx .npy .U .Ulin "
             ".modalDeriv .float .cub .msh .mesh .node .ele .vtk .inp .veg .bou .interp)"},
    {"probe", 0, TOOL_TEXT, &chosen.probes, "LIST",
     .help = "csv: displacement of these mesh vertices, counted from 0; surface:N is a vertex of the surface: "
             "12,40-43,surface:5"},
    {"coordinates", 0, TOOL_FLAG, &chosen.coordinates,
     .help = "csv: the reduced coordinates q0, q1, ... too; of a scene's motion also where the bodies are"},
    {"volume", 0, TOOL_FLAG, &chosen.volume, .help = "csv: the volume of the deformed mesh too, m3"},
    {"surface", 0, TOOL_FLAG, &chosen.surface, .help = "vtu: the embedded surface instead of the elements"},
    {"fields", 0, TOOL_FLAG, &chosen.fields, .help = "vtu: strain, stress and energy density of the elements too"},
    {"activation", 0, TOOL_TEXT, &chosen.activation, "FILE",
     .help = "vtu, with --fields: CSV of t,region,tension that the motion was made with"},
    {"columns", 0, TOOL_TEXT, &chosen.columns, "LIST",
     .help = "of a file of columns only these, counted from 1: 1-6,9"},
    {"samples", 0, TOOL_INTEGER, &chosen.samples, "N", NULL, .low = 1, .high = 1e9,
     .help = "gram: sparse inner products over N sample points at least (Yang 2015)"},
    {"level", 0, TOOL_REAL, &chosen.level, "M", NULL, .low = -1e300, .high = 1e300, .given = &chosen.level_given,
     .help = "obj: of a distance field, the triangles at this distance; 0 is the surface"},
    TOOL_FRAMES_OPTIONS(&chosen.frames, &chosen.every),
    {"partial", 0, TOOL_FLAG, &chosen.partial,
     .help = "read a trajectory or motion that was cut up to its last whole block"},
};

static enum format format_of(const char *target)
{
    static const struct {
        const char *ending;
        enum format format;
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
                 {".interp", FORMAT_INTERP}};
    const char *dot = strrchr(target, '.');
    if (chosen.format != FORMAT_AUTO)
        return (enum format)chosen.format;
    for (int i = 0; dot && i < TOOL_COUNT(known); i++)
        if (!strcmp(dot, known[i].ending))
            return known[i].format;
    tool_hint("name it with --to");
    tool_fail(SP_USAGE, target,
              "its format is not known by its ending (.csv, .obj, .vtu, .pvd, .ply, .mtx, .npy, .U, .Ulin, "
              ".modalDeriv, .float, .cub, .msh, .mesh, .node, .ele, .vtk, .inp, .veg, .bou, .interp)");
}

static bool is_matrix(enum format format)
{
    return format >= FORMAT_MATRIX_MARKET && format <= FORMAT_CUB;
}

static bool is_volume(enum format format)
{
    return format >= FORMAT_MSH;
}

/* Options that the format has no use for are mistakes. */
static void check_options(enum format format)
{
    const struct {
        const char *name;
        bool given;
        bool fits;
    } checks[] = {
        {"probe", chosen.probes != NULL, format == FORMAT_CSV},
        {"coordinates", chosen.coordinates, format == FORMAT_CSV},
        {"volume", chosen.volume, format == FORMAT_CSV},
        {"surface", chosen.surface, format == FORMAT_VTU},
        {"fields", chosen.fields, format == FORMAT_VTU},
        {"columns", chosen.columns != NULL,
         format != FORMAT_CSV && format != FORMAT_CUB && !is_volume(format) && !chosen.level_given},
        {"samples", chosen.samples != 0, format == FORMAT_GRAM},
        {"level", chosen.level_given, format == FORMAT_OBJ},
        {"frames", chosen.frames != NULL, format < FORMAT_GRAM && !chosen.level_given},
        {"every", chosen.every != 1, format < FORMAT_GRAM && !chosen.level_given},
        {"partial", chosen.partial, format < FORMAT_GRAM && !chosen.level_given},
    };
    if (chosen.activation && !chosen.fields)
        tool_fail(SP_USAGE, NULL, "--activation means nothing without --fields");
    for (int i = 0; i < TOOL_COUNT(checks); i++)
        if (checks[i].given && !checks[i].fits)
            tool_fail(SP_USAGE, NULL, "--%s means nothing %s", checks[i].name,
                      chosen.level_given && format == FORMAT_OBJ ? "with --level" : "in this format");
}

static void refuse_motion_options(void)
{
    if (chosen.probes || chosen.coordinates || chosen.volume || chosen.surface || chosen.fields || chosen.columns ||
        chosen.frames || chosen.every != 1 || chosen.partial)
        tool_fail(SP_USAGE, NULL,
                  "a cubature has elements and weights alone: leave out the options of motions and columns");
}

/* Writes a pointshell, which has none of what the options choose from; false where the files are something else. */
static bool export_pointshell(sp_context *context, enum format format)
{
    static const enum format formats[] = {FORMAT_CSV, FORMAT_OBJ, FORMAT_PLY, FORMAT_VTU,
                                          FORMAT_VTK}; /* those of tool_pointshell_format */
    char kind[SP_KIND_LENGTH] = "";
    int pointshell_format = 0;
    while (pointshell_format < TOOL_COUNT(formats) && formats[pointshell_format] != format)
        pointshell_format++;
    if (tool_argument_count() == 1 && pointshell_format < TOOL_COUNT(formats))
        tool_peek_any_kind(context, tool_argument(0), kind);
    if (strcmp(kind, "pointshell")) {
        if (format == FORMAT_PLY)
            tool_fail(*kind ? SP_INPUT : SP_USAGE, *kind ? tool_argument(0) : NULL,
                      "PLY holds a pointshell: name one file of that kind");
        return false;
    }
    if (chosen.probes || chosen.coordinates || chosen.volume || chosen.surface || chosen.fields || chosen.columns ||
        chosen.frames || chosen.every != 1 || chosen.partial || chosen.level_given)
        tool_fail(SP_USAGE, tool_argument(0),
                  "it is a pointshell: leave out the options of motions, columns and fields");
    const char *dot = strrchr(tool_output_path(), '.');
    if (dot && !strcmp(dot, ".pvd"))
        tool_fail(SP_USAGE, tool_output_path(), "a pointshell is no series: name the file .vtu");
    tool_export_pointshell(context, (enum tool_pointshell_format)pointshell_format, tool_argument(0),
                           tool_output_path());
    return true;
}

/* Writes what normals of a pointshell are off by in a trajectory; false where the two files are something else. */
static bool export_normals(sp_context *context, enum format format)
{
    int pointshell = -1;
    for (int i = 0; i < 2 && format == FORMAT_CSV && tool_argument_count() == 2; i++) {
        char kind[SP_KIND_LENGTH];
        tool_peek_any_kind(context, tool_argument(i), kind);
        if (!strcmp(kind, "pointshell"))
            pointshell = i;
    }
    if (pointshell < 0)
        return false;
    if (chosen.probes || chosen.coordinates)
        tool_fail(SP_USAGE, NULL, "--probe and --coordinates mean nothing for the normals of a pointshell");
    tool_export_normals(context, tool_argument(pointshell), tool_argument(1 - pointshell),
                        &(tool_normals_choice){tool_output_path(), chosen.frames, chosen.every, chosen.partial});
    return true;
}

/* A scene, or its motion alone. */
static bool is_scene_trajectory(sp_context *context, enum format format, int count, const char *const *paths)
{
    bool scene = false;
    for (int i = 0; i < count; i++)
        scene |= tool_is_scene(paths[i]);
    if (!scene && !(count == 1 && (format == FORMAT_CSV || format == FORMAT_VTU || format == FORMAT_OBJ) &&
                    tool_is_motion(context, paths[0])))
        return false;
    if (format != FORMAT_CSV && format != FORMAT_VTU)
        tool_fail(SP_USAGE, NULL, "a scene and its motion go to VTU or CSV");
    if (chosen.probes || chosen.columns || chosen.volume || chosen.surface || chosen.fields)
        tool_fail(SP_USAGE, NULL,
                  "--probe, --columns, --volume, --surface and --fields mean nothing for a scene and its motion");
    return true;
}

static const tool_spec spec = {
    .name = "simexport",
    .arguments = "FILE...",
    .least = 1,
    .most = 16,
    .summary =
        "Trajectories, scenes, meshes, bases, matrices, distance fields and pointshells for other programs (CSV, "
        "OBJ, PLY, VTU, Matrix Market, NumPy, Gmsh, TetGen, Medit, Abaqus, VegaFEM).",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_ANY_FORMAT,
    .examples =
        "  simexport traj.npz basis.npz --probe 12,17 -o probe.csv\n  simexport spoon.npz basis.npz traj.npz "
        "--every 4 -o spoon.pvd\n"
        "  simexport scene.json motion.npz -o motion.pvd\n  simexport motion.npz -o signals.csv\n  simexport "
        "spoon.npz modes.npz -o modes.vtu\n  simexport spoon.npz cub.npz -o elements.vtu\n  simexport field.npz "
        "--level 0 -o surface.obj\n  simexport shell.npz traj.npz -o normals.csv\n  simexport spoon.npz basis.npz "
        "--to gram -o gram.csv\n  modes spoon.npz --write-stiffness K.npz -o m.npz && simexport K.npz -o "
        "K.mtx\n  simexport spoon.npz -o spoon.inp\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    enum format format = format_of(tool_output_path());
    check_options(format);
    const char *paths[16];
    for (int i = 0; i < tool_argument_count(); i++)
        paths[i] = tool_argument(i);
    if (is_scene_trajectory(context, format, tool_argument_count(), paths)) {
        tool_export_scene(context, tool_argument_count(), paths,
                          &(tool_scene_trajectory_choice){tool_output_path(), chosen.frames, chosen.every,
                                                          format == FORMAT_CSV, chosen.coordinates, chosen.partial});
        return tool_end();
    }
    if (export_pointshell(context, format) || export_normals(context, format))
        return tool_end();
    if (chosen.level_given) {
        tool_export_level(context, tool_argument_count(), paths, tool_output_path(), chosen.level);
        return tool_end();
    }
    if (format == FORMAT_GRAM) {
        tool_export_gram(context, tool_argument_count(), paths, tool_output_path(), chosen.columns, chosen.samples);
        return tool_end();
    }
    if (is_matrix(format)) {
        tool_export_matrix(context, (enum tool_matrix_format)(format - FORMAT_MATRIX_MARKET), tool_argument_count(),
                           paths, tool_output_path(), chosen.columns);
        return tool_end();
    }
    if (is_volume(format)) {
        tool_export_volume(context, (enum tool_volume_format)(format - FORMAT_MSH), tool_argument_count(), paths,
                           tool_output_path());
        return tool_end();
    }
    if (format != FORMAT_OBJ && tool_export_has_cubature(context, tool_argument_count(), paths)) {
        refuse_motion_options();
        tool_export_cubature(context, format == FORMAT_VTU, tool_argument_count(), paths, tool_output_path());
        return tool_end();
    }
    tool_trajectory motion;
    const tool_frames_choice frames = {tool_output_path(), chosen.frames,      chosen.columns, chosen.every,
                                       chosen.probes,      chosen.coordinates, chosen.volume};
    tool_trajectory_open(context, tool_argument_count(), paths, chosen.partial ? TOOL_MOTION_PARTIAL : 0, &motion);
    if (!motion.path)
        tool_option_idle("partial", "without a trajectory");
    if (format == FORMAT_CSV)
        tool_export_csv(context, &motion, &frames);
    else if (format == FORMAT_OBJ)
        tool_export_obj(context, &motion, &frames);
    else
        tool_export_vtu(context, &motion,
                        &(tool_vtu_choice){tool_output_path(), chosen.frames, chosen.columns, chosen.every,
                                           chosen.surface, chosen.fields, chosen.activation});
    tool_trajectory_close(&motion);
    return tool_end();
}
