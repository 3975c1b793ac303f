/* simexport: trajectories, meshes, columns and matrices in the formats of other programs. */
#include "formats/export/csv_write.h"
#include "formats/export/obj_write.h"
#include "tools/export/gram.h"
#include "tools/export/matrix.h"
#include "tools/export/vtu.h"
#include "tools/common/skin.h"

#include <string.h>

/* From MATRIX_MARKET on in the order of tool_matrix_format. */
enum format {
    FORMAT_AUTO,
    FORMAT_CSV,
    FORMAT_OBJ,
    FORMAT_VTU,
    FORMAT_GRAM,
    FORMAT_MATRIX_MARKET,
    FORMAT_NPY,
    FORMAT_VEGA_MATRIX,
    FORMAT_VEGA_FLOAT,
    FORMAT_CUB
};

static struct {
    int format;
    const char *probes, *frames, *columns;
    int64_t every, samples;
    bool coordinates, surface, fields, partial;
} chosen;

static const tool_option options[] = {
    {"to", 0, TOOL_CHOICE, &chosen.format, NULL, "auto", "auto|csv|obj|vtu|gram|matrix-market|npy|vega-matrix|vega-float|cub",
     .help = "format; auto: by the ending of the output's name (.csv .obj .vtu .pvd .mtx .npy .U .Ulin .modalDeriv .float .cub)"},
    {"probe", 0, TOOL_TEXT, &chosen.probes, "LIST",
     .help = "csv: displacement of these mesh vertices, counted from 0; surface:N is a vertex of the surface: 12,40-43,surface:5"},
    {"coordinates", 0, TOOL_FLAG, &chosen.coordinates, .help = "csv: the reduced coordinates q0, q1, ... too"},
    {"surface", 0, TOOL_FLAG, &chosen.surface, .help = "vtu: the embedded surface instead of the elements"},
    {"fields", 0, TOOL_FLAG, &chosen.fields, .help = "vtu: strain, stress and energy density of the elements too"},
    {"columns", 0, TOOL_TEXT, &chosen.columns, "LIST", .help = "of a file of columns only these, counted from 1: 1-6,9"},
    {"samples", 0, TOOL_INTEGER, &chosen.samples, "N", NULL, .low = 1, .high = 1e9, .help = "gram: sparse inner products over N sample points at least (Yang 2015)"},
    TOOL_FRAMES_OPTIONS(&chosen.frames, &chosen.every),
    {"partial", 0, TOOL_FLAG, &chosen.partial, .help = "read a trajectory that was cut up to its last whole block"},
};

static enum format format_of(const char *target)
{
    static const struct {
        const char *ending;
        enum format format;
    } known[] = {{".csv", FORMAT_CSV}, {".obj", FORMAT_OBJ}, {".vtu", FORMAT_VTU}, {".pvd", FORMAT_VTU}, {".mtx", FORMAT_MATRIX_MARKET},
                 {".npy", FORMAT_NPY}, {".U", FORMAT_VEGA_MATRIX}, {".Ulin", FORMAT_VEGA_MATRIX}, {".modalDeriv", FORMAT_VEGA_MATRIX},
                 {".float", FORMAT_VEGA_FLOAT}, {".cub", FORMAT_CUB}};
    const char *dot = strrchr(target, '.');
    if (chosen.format != FORMAT_AUTO)
        return (enum format)chosen.format;
    for (int i = 0; dot && i < TOOL_COUNT(known); i++)
        if (!strcmp(dot, known[i].ending))
            return known[i].format;
    tool_hint("name it with --to");
    tool_fail(SP_USAGE, target, "its format is not known by its ending (.csv, .obj, .vtu, .pvd, .mtx, .npy, .U, .Ulin, .modalDeriv, .float, .cub)");
}

static bool is_matrix(enum format format)
{
    return format >= FORMAT_MATRIX_MARKET;
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
        {"surface", chosen.surface, format == FORMAT_VTU},
        {"fields", chosen.fields, format == FORMAT_VTU},
        {"columns", chosen.columns != NULL, format != FORMAT_CSV && format != FORMAT_CUB},
        {"samples", chosen.samples != 0, format == FORMAT_GRAM},
        {"frames", chosen.frames != NULL, format < FORMAT_GRAM},
        {"every", chosen.every != 1, format < FORMAT_GRAM},
        {"partial", chosen.partial, format < FORMAT_GRAM},
    };
    for (int i = 0; i < TOOL_COUNT(checks); i++)
        if (checks[i].given && !checks[i].fits)
            tool_fail(SP_USAGE, NULL, "--%s means nothing in this format", checks[i].name);
}

static void export_csv(sp_context *context, tool_motion *motion)
{
    static const char *const energies[] = {"kinetic", "strain", "work", "dissipated"};
    sp_list probes = {0}, frames = {0};
    sp_stream stream;
    char name[48];
    const sp_trajectory *trajectory = &motion->trajectory;
    if (!motion->path)
        tool_fail(SP_USAGE, NULL, "CSV is of a trajectory, and none was named");
    if (chosen.coordinates && trajectory->r == 0)
        tool_fail(SP_INPUT, motion->path, "--coordinates: it holds no reduced coordinates");
    if (chosen.probes)
        tool_probes_parse(motion, "probe", chosen.probes, &probes);
    const tool_probe *probe = probes.data;
    tool_motion_choose(motion, chosen.frames, chosen.every, NULL, &frames);
    tool_output *output = tool_output_open(tool_output_path());
    sp_stream_begin(&stream, tool_output_descriptor(output));
    sp_csv_name(&stream, true, "time");
    for (int i = 0; i < SP_ENERGY_COUNT; i++)
        sp_csv_name(&stream, false, energies[i]);
    for (int64_t i = 0; i < 3 * probes.count; i++) {
        snprintf(name, sizeof name, "%c%lld_%c", probe[i / 3].surface ? 's' : 'v', (long long)probe[i / 3].vertex, "xyz"[i % 3]);
        sp_csv_name(&stream, false, name);
    }
    for (int64_t i = 0; chosen.coordinates && i < trajectory->r; i++) {
        snprintf(name, sizeof name, "q%lld", (long long)i);
        sp_csv_name(&stream, false, name);
    }
    sp_csv_end(&stream);
    for (int64_t row = 0; row < frames.count; row++) {
        int64_t f = ((int64_t *)frames.data)[row];
        double u[3], time = tool_motion_time(motion, f);
        sp_csv_numbers(&stream, true, 1, &time);
        sp_csv_numbers(&stream, false, SP_ENERGY_COUNT, tool_motion_energy(motion, f));
        for (int64_t i = 0; i < probes.count; i++) {
            tool_motion_probe(motion, probe[i], f, u, NULL);
            sp_csv_numbers(&stream, false, 3, u);
        }
        if (chosen.coordinates)
            sp_csv_numbers(&stream, false, trajectory->r, trajectory->q + f * trajectory->r);
        sp_csv_end(&stream);
    }
    tool_check(sp_stream_end(context, &stream), tool_output_path());
    tool_output_finish(output, NULL);
    sp_list_free(&probes);
    sp_list_free(&frames);
}

static void export_obj(sp_context *context, tool_motion *motion)
{
    tool_skin skin;
    sp_list list = {0};
    sp_pool pool = {0};
    bool pattern = tool_pattern(tool_output_path());
    if (!motion->mesh.path)
        tool_fail(SP_USAGE, NULL, "OBJ needs the mesh: name its file too");
    tool_motion_choose(motion, chosen.frames, chosen.every, chosen.columns, &list);
    if (list.count > 1 && !pattern)
        tool_fail(SP_USAGE, NULL, "%lld OBJ files need a pattern such as -o frame_%%04d.obj", (long long)list.count);
    tool_motion_need_all(motion);
    tool_skin_open(context, &motion->mesh.mesh, false, &skin);
    double *u = sp_pool_raw(&pool, 3 * motion->vertex_count, sizeof *u),
           *positions = sp_pool_raw(&pool, 3 * skin.vertex_count, sizeof *positions);
    if (pool.failed)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    for (int64_t i = 0; i < list.count; i++) {
        char *path;
        tool_pattern_path(tool_output_path(), i, &pool, &path);
        tool_motion_displacement(motion, ((int64_t *)list.data)[i], u);
        tool_skin_positions(&skin, 1, u, positions);
        tool_output *output = tool_output_open(path);
        tool_check(
            sp_obj_write(context, tool_output_descriptor(output), NULL, skin.vertex_count, positions, skin.triangle_count, skin.triangles),
            path);
        tool_output_finish(output, NULL);
        tool_check(sp_progress(context, (double)(i + 1) / (double)list.count), NULL);
    }
    tool_skin_close(&skin);
    sp_list_free(&list);
    sp_pool_free(&pool);
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(
        &(tool_spec){
            "simexport", "FILE...", 1, 16, "Trajectories, meshes, bases and matrices for other programs (CSV, OBJ, VTU, Matrix Market, NumPy, VegaFEM).", options,
            TOOL_COUNT(options), TOOL_OUTPUT,
            "  simexport traj.npz basis.npz --probe 12,17 -o probe.csv\n  simexport spoon.npz basis.npz traj.npz --every 4 -o spoon.pvd\n"
            "  simexport spoon.npz modes.npz -o modes.vtu\n  simexport spoon.npz basis.npz --to gram -o gram.csv\n  modes spoon.npz --write-stiffness K.npz -o m.npz && simexport K.npz -o "
            "K.mtx\n"},
        argc, argv);
    enum format format = format_of(tool_output_path());
    check_options(format);
    const char *paths[16];
    for (int i = 0; i < tool_argument_count(); i++)
        paths[i] = tool_argument(i);
    if (format == FORMAT_GRAM) {
        tool_export_gram(context, tool_argument_count(), paths, tool_output_path(), chosen.columns, chosen.samples);
        return tool_end();
    }
    if (is_matrix(format)) {
        tool_export_matrix(context, (enum tool_matrix_format)(format - FORMAT_MATRIX_MARKET), tool_argument_count(), paths, tool_output_path(), chosen.columns);
        return tool_end();
    }
    tool_motion motion;
    tool_motion_open(context, tool_argument_count(), paths, chosen.partial ? TOOL_MOTION_PARTIAL : 0, &motion);
    if (format == FORMAT_CSV)
        export_csv(context, &motion);
    else if (format == FORMAT_OBJ)
        export_obj(context, &motion);
    else
        tool_export_vtu(context, &motion,
                        &(tool_vtu_choice){tool_output_path(), chosen.frames, chosen.columns, chosen.every, chosen.surface, chosen.fields});
    tool_motion_close(&motion);
    return tool_end();
}
