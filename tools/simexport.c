/* simexport: trajectories, scenes, meshes, columns and matrices in the formats of other programs. */
#include "tools/common/series.h"
#include "tools/export/dispatch.h"

static export_options chosen;

#define SERIES "@trajectory,scene,pointshell-and-trajectory"

static const tool_option options[] = {
    {"to", 0, TOOL_CHOICE, &chosen.format, NULL, "auto", EXPORT_FORMATS, .open = true,
     .help =
         "format; auto: by the ending of the output's name (.csv .obj .vtu .pvd .ply .mtx .npy .U .Ulin "
         ".modalDeriv .float .cub .msh .mesh .node .ele .vtk .inp .veg .bou .interp .c .fmu .glb .usda .html .json)"},
    {"positions", 0, TOOL_FLAG, &chosen.positions, .only = "to=csv probe",
     .help = "where the probes (--probe) are, after their displacements; in a scene in the world"},
    {"probe", 0, TOOL_TEXT, &chosen.probes, "LIST", .only = "to=csv,c,fmu,html @trajectory,scene,reduced-order-model",
     .help = "displacement of these mesh vertices, counted from 0; surface:N is a vertex of the surface, "
             "near:X,Y,Z the nearest to a place: 12,40-43,surface:5; BODY:12 of a body of a scene; points of a model "
             "may have names: tip=surface:5"},
    {"coordinates", 0, TOOL_FLAG, &chosen.coordinates, .only = "to=csv @trajectory,scene",
     .help = "the reduced coordinates q0, q1, ... too; of a scene's motion also where the bodies are"},
    {"stress", 0, TOOL_FLAG, &chosen.stress, .only = "to=csv @trajectory",
     .help = "Cauchy stress at the probes too, averaged over the elements there, with its von Mises and largest "
             "principal values, Pa"},
    {"volume", 0, TOOL_FLAG, &chosen.volume, .only = "to=csv @trajectory",
     .help = "the volume of the deformed mesh too, m3"},
    {"frame", 0, TOOL_INPUT, &chosen.ride.frame, "CSV", .only = "to=csv,obj,vtu !stress !fields !skin @trajectory",
     .help = "the motion in world coordinates, of a body that moved with a frame along this path (simulate --frame)"},
    {"world", 0, TOOL_FLAG, &chosen.ride.world, .only = "to=csv,obj,vtu !frame !skin !stress !fields @trajectory",
     .help = "the same along the frame that the trajectory records"},
    {"skin", 0, TOOL_INPUT, &chosen.ride.skin, "FILE",
     .only = "to=csv,obj,vtu,glb !quantize !color !stress !fields @trajectory",
     .help = "the motion in world coordinates, of a body that followed bones with these weights (simulate --skin); "
             "glTF: as a skin with morph targets"},
    {"skeleton", 0, TOOL_INPUT, &chosen.ride.skeleton, "JSON", .files = "json", .only = "skin",
     .help = "the skeleton with these bones"},
    {"surface", 0, TOOL_FLAG, &chosen.surface, .only = "to=vtu @trajectory,columns,mesh",
     .help = "the embedded surface instead of the elements"},
    {"fields", 0, TOOL_FLAG, &chosen.fields, .only = "to=vtu !surface @trajectory",
     .help = "strain, stress and energy density of the elements too, and the stress at the vertices"},
    {"activation", 0, TOOL_INPUT, &chosen.activation, "FILE", .files = "csv", .only = "fields",
     .help = "CSV of t,region,tension that the motion was made with"},
    {"columns", 0, TOOL_TEXT, &chosen.columns, "LIST", .only = "@columns", .help = "only these, counted from 1: 1-6,9"},
    {"samples", 0, TOOL_INTEGER, &chosen.samples, "N", NULL, .low = 1, .high = 1e9, .only = "to=gram",
     .help = "sparse inner products over N sample points at least (Yang 2015)"},
    {"single", 0, TOOL_FLAG, &chosen.single, .only = "to=c", .help = "numbers of the type float, not double"},
    {"sources-only", 0, TOOL_FLAG, &chosen.sources_only, .only = "to=fmu",
     .help = "an FMU with sources and without a library, for which no compiler is needed"},
    {"level", 0, TOOL_REAL, &chosen.level, "M", NULL, .low = -1e300, .high = 1e300, .given = &chosen.level_given,
     .only = "to=obj @distance-field", .help = "of a distance field, the triangles at this distance; 0 is the surface"},
    {"color", 0, TOOL_CHOICE, &chosen.color, NULL, "none", "none|displacement|speed",
     .only = "to=glb,usda @trajectory,scene",
     .help = "colours of the vertices: by their largest displacement or speed in the motion"},
    {"tolerance", 0, TOOL_REAL, &chosen.tolerance, "X", "1e-4", .low = 0, .high = 1,
     .only = "to=glb,usda,html @trajectory",
     .help =
         "a motion of all vertices becomes as many principal directions as keep the error of every vertex below this "
         "part of the diagonal"},
    {"gravity", 0, TOOL_VECTOR, chosen.gravity, "X,Y,Z", "0,0,0", .count = 3, .only = "to=extptfm",
     .help = "acceleration, m/s2, whose constant force the loading of the superelement has"},
    {"quantize", 0, TOOL_FLAG, &chosen.quantize, .only = "to=glb @trajectory,columns,mesh,scene",
     .help = "integers of 16 bits for positions, in a file of half the size"},
    TOOL_FRAMES_OPTIONS(&chosen.frames, &chosen.every, SERIES),
    {"partial", 0, TOOL_FLAG, &chosen.partial, .only = SERIES,
     .help = "read a trajectory or motion that was cut up to its last whole block"},
};

static const tool_spec spec = {
    .name = "simexport",
    .arguments = "FILE...",
    .files = "npz json",
    .least = 1,
    .most = EXPORT_FILES_MOST,
    .summary =
        "Trajectories, scenes, meshes, bases, matrices, reduced-order models, distance fields and pointshells for "
        "other programs (CSV, OBJ, PLY, VTU, Matrix Market, NumPy, Gmsh, TetGen, Medit, Abaqus, VegaFEM, C, FMI, "
        "glTF, USD, web pages).",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_ANY_FORMAT,
    .examples = "  simexport traj.npz basis.npz --probe 12,17 -o probe.csv\n"
                "  simexport spoon.npz basis.npz traj.npz --every 4 -o spoon.pvd\n"
                "  simexport scene.json motion.npz -o motion.pvd\n"
                "  simexport spoon.npz basis.npz full.npz reduced.npz \\\n"
                "    --probe near:0,0.7,0 -o tips.csv\n"
                "  simexport scene.json motion.npz --probe ball:12 -o ball.csv\n"
                "  simexport motion.npz -o signals.csv\n"
                "  simexport spoon.npz modes.npz -o modes.vtu\n"
                "  simexport spoon.npz modes.npz -o modes.csv\n"
                "  simexport spoon.npz cub.npz -o elements.vtu\n"
                "  simexport field.npz --level 0 -o surface.obj\n"
                "  simexport shell.npz traj.npz -o normals.csv\n"
                "  simexport curve.npz -o points.csv\n"
                "  simexport spoon.npz basis.npz --to gram -o gram.csv\n"
                "  modes spoon.npz --write-stiffness K.npz -o m.npz && simexport K.npz -o K.mtx\n"
                "  simexport spoon.npz -o spoon.inp\n"
                "  simexport spoon.npz basis.npz poly.npz --probe tip=surface:5 -o spoon.c\n"
                "  simexport spoon.npz basis.npz poly.npz --probe tip=surface:5 -o spoon.fmu\n"
                "  simexport spoon.npz basis.npz cub.npz -o rubber.c\n"
                "  simexport spoon.npz basis.npz traj.npz --color displacement -o motion.glb\n"
                "  simexport scene.json motion.npz -o motion.usda\n"
                "  simexport spoon.npz basis.npz poly.npz -o spoon.html\n"
                "  simexport spoon.npz basis.npz a.npz b.npz --probe surface:5 -o ab.html\n"
                "  simexport domain.npz craig-bampton.npz -o domain.json\n",
};

int main(int argc, char **argv)
{
    export_files files = {.context = tool_begin(&spec, argc, argv), .chosen = &chosen, .count = tool_argument_count()};
    for (int i = 0; i < files.count; i++)
        files.paths[i] = tool_argument(i);
    if (chosen.format == FORMAT_AUTO)
        tool_option_choose("to", (int)export_format_of(tool_output_path()));
    files.format = (enum export_format)chosen.format;
    tool_export(&files);
    return tool_end();
}
