#include "tools/export/dispatch.h"

#include "tools/common/scene_trajectory.h"
#include "tools/common/trajectory.h"
#include "tools/export/cubature.h"
#include "tools/export/curve.h"
#include "tools/export/curves.h"
#include "tools/export/exchange.h"
#include "tools/export/field.h"
#include "tools/export/fmu.h"
#include "tools/export/frames.h"
#include "tools/export/gram.h"
#include "tools/export/matrix.h"
#include "tools/export/modes.h"
#include "tools/export/normals.h"
#include "tools/export/page.h"
#include "tools/export/pointshell.h"
#include "tools/export/scene.h"
#include "tools/export/source.h"
#include "tools/export/superelement.h"
#include "tools/export/volume.h"
#include "tools/export/vtu.h"

#include <string.h>

/* The number of the only pointshell among `count` files, −1 if there is none. */
static int find_pointshell(const export_files *files, int count)
{
    char kind[SP_KIND_LENGTH];
    if (files->count == count)
        for (int i = 0; i < count; i++) {
            if (tool_is_scene(files->paths[i]))
                return -1;
            tool_peek_any_kind(files->context, files->paths[i], kind);
            if (!strcmp(kind, "pointshell"))
                return i;
        }
    return -1;
}

static void export_pointshell(const export_files *files)
{
    const char *dot = strrchr(tool_output_path(), '.');
    tool_inputs_are("pointshell");
    if (dot && !strcmp(dot, ".pvd"))
        tool_fail(SP_USAGE, tool_output_path(), "a pointshell is no series: name the file .vtu");
    tool_export_pointshell(files->context, (enum tool_pointshell_format)export_pointshell_format(files->format),
                           files->paths[0], tool_output_path());
}

/* What normals of a pointshell are off by in a trajectory. */
static void export_normals(const export_files *files, int pointshell)
{
    tool_inputs_are("pointshell-and-trajectory");
    tool_export_normals(files->context, files->paths[pointshell], files->paths[1 - pointshell],
                        &(tool_normals_choice){tool_output_path(), files->chosen->frames, files->chosen->every,
                                               files->chosen->partial});
}

/* A scene, or its trajectory alone. */
static bool is_scene(const export_files *files)
{
    const enum export_format format = files->format;
    bool scene = false;
    for (int i = 0; i < files->count; i++)
        scene |= tool_is_scene(files->paths[i]);
    return scene || (files->count == 1 &&
                     (format == FORMAT_VTU || format == FORMAT_OBJ || format == FORMAT_GLB || format == FORMAT_USDA) &&
                     tool_is_motion(files->context, files->paths[0]));
}

static void export_scene(const export_files *files)
{
    tool_inputs_are("scene");
    if (files->format == FORMAT_CSV)
        tool_fail(SP_USAGE, NULL, "CSV is of a motion, and none was named");
    if (files->format != FORMAT_VTU)
        tool_fail(SP_USAGE, NULL, "a scene and its motion go to VTU, CSV, glTF, USD or a web page");
    tool_export_scene(files->context, files->count, files->paths,
                      &(tool_scene_trajectory_choice){tool_output_path(), files->chosen->frames, files->chosen->every,
                                                      files->chosen->partial});
}

/* Motions of meshes and scenes as a table over time. */
static void export_curves(const export_files *files)
{
    bool scene = false;

    for (int i = 0; i < files->count; i++)
        scene |= tool_is_scene(files->paths[i]) || tool_is_motion(files->context, files->paths[i]);
    tool_inputs_are(scene ? "scene" : "trajectory");

    tool_export_curves(files->context, files->count, files->paths,
                       &(export_choice){.target = tool_output_path(),
                                        .frames = files->chosen->frames,
                                        .every = files->chosen->every,
                                        .probes = files->chosen->probes,
                                        .coordinates = files->chosen->coordinates,
                                        .positions = files->chosen->positions,
                                        .ride = files->chosen->ride,
                                        .volume = files->chosen->volume,
                                        .stress = files->chosen->stress,
                                        .partial = files->chosen->partial});
}

/* Motions of meshes and scenes, columns and meshes as animations. */
static void export_exchange(const export_files *files, bool scene)
{
    tool_export_exchange(files->context, files->count, files->paths, scene,
                         &(tool_exchange_choice){.target = tool_output_path(),
                                                 .usd = files->format == FORMAT_USDA,
                                                 .quantize = files->chosen->quantize,
                                                 .partial = files->chosen->partial,
                                                 .ride = files->chosen->ride,
                                                 .animation = {.frames = files->chosen->frames,
                                                               .columns = files->chosen->columns,
                                                               .every = files->chosen->every,
                                                               .color = (enum tool_vertex_color)files->chosen->color,
                                                               .tolerance = files->chosen->tolerance}});
}

/* With polynomials or a cubature a body that one pulls, else what moves. */
static void export_page(const export_files *files)
{
    const tool_page_choice choice = {.target = tool_output_path(),
                                     .probes = files->chosen->probes,
                                     .partial = files->chosen->partial,
                                     .animation = {.frames = files->chosen->frames,
                                                   .columns = files->chosen->columns,
                                                   .every = files->chosen->every,
                                                   .tolerance = files->chosen->tolerance}};

    char kind[SP_KIND_LENGTH];
    bool model = false;
    tool_export_need_page(choice.target);

    for (int i = 0; i < files->count; i++)
        if (!tool_is_scene(files->paths[i])) {
            tool_peek_any_kind(files->context, files->paths[i], kind);
            model |= !strcmp(kind, "polynomials") || !strcmp(kind, "cubature");
        }

    if (model)
        tool_inputs_are("reduced-order-model");
    (model ? tool_export_page_model : tool_export_page_motion)(files->context, files->count, files->paths, &choice);
}

/* A mesh, its trajectory or its columns. */
static void export_motion(const export_files *files)
{
    tool_trajectory motion;
    const tool_frames_choice frames = {.target = tool_output_path(),
                                       .frames = files->chosen->frames,
                                       .columns = files->chosen->columns,
                                       .every = files->chosen->every};
    const tool_vtu_choice vtu = {.target = tool_output_path(),
                                 .frames = files->chosen->frames,
                                 .columns = files->chosen->columns,
                                 .every = files->chosen->every,
                                 .surface = files->chosen->surface,
                                 .fields = files->chosen->fields,
                                 .activation = files->chosen->activation};

    tool_trajectory_open(files->context, files->count, files->paths, files->chosen->partial ? TOOL_MOTION_PARTIAL : 0,
                         &motion);
    tool_inputs_are(tool_trajectory_inputs(&motion));

    tool_trajectory_ride(&motion, &files->chosen->ride);
    if (files->format == FORMAT_CSV)
        tool_fail(SP_USAGE, NULL, "CSV is of a trajectory, and none was named");
    if (files->format == FORMAT_OBJ)
        tool_export_obj(files->context, &motion, &frames);
    else
        tool_export_vtu(files->context, &motion, &vtu);
    tool_trajectory_close(&motion);
}

/* What has a format of its own, and does not depend on the kind of the files. */
static void export_by_format(const export_files *files)
{
    const char *target = tool_output_path();

    if (files->format == FORMAT_C) {
        tool_inputs_are("reduced-order-model");
        tool_export_source(files->context, files->count, files->paths, target, files->chosen->probes,
                           files->chosen->single);
    } else if (files->format == FORMAT_FMU) {
        tool_inputs_are("reduced-order-model");
        tool_export_fmu(files->context, files->count, files->paths, target, files->chosen->probes,
                        files->chosen->sources_only);
    } else if (files->format == FORMAT_SUPERELEMENT || files->format == FORMAT_EXTPTFM) {
        tool_export_superelement(files->context, files->count, files->paths, target, files->format == FORMAT_EXTPTFM,
                                 files->chosen->gravity);
    } else if (files->chosen->level_given) {
        tool_inputs_are("distance-field");
        tool_export_level(files->context, files->count, files->paths, target, files->chosen->level);
    } else if (files->format == FORMAT_GRAM)
        tool_export_gram(files->context, files->count, files->paths, target, files->chosen->columns,
                         files->chosen->samples);
    else if (export_is_matrix(files->format))
        tool_export_matrix(files->context, (enum tool_matrix_format)(files->format - FORMAT_MATRIX_MARKET),
                           files->count, files->paths, target, files->chosen->columns);
    else {
        tool_inputs_are("mesh");
        tool_export_volume(files->context, (enum tool_volume_format)(files->format - FORMAT_MSH), files->count,
                           files->paths, target);
    }
}

void tool_export(const export_files *files)
{
    const bool csv = files->format == FORMAT_CSV;

    /* Formats of one kind of file come first; of the others the kinds of the files decide. */
    if (files->format == FORMAT_C || files->format == FORMAT_FMU || files->format == FORMAT_SUPERELEMENT ||
        files->format == FORMAT_EXTPTFM)
        export_by_format(files);
    else if (files->format == FORMAT_GLB || files->format == FORMAT_USDA)
        export_exchange(files, is_scene(files));
    else if (files->format == FORMAT_HTML)
        export_page(files);
    else if (csv && find_pointshell(files, 2) < 0 && tool_export_motions(files->context, files->count, files->paths))
        export_curves(files);
    else if (csv && tool_export_is_curve(files->context, files->count, files->paths)) {
        tool_inputs_are("curve");
        tool_export_curve(files->context, files->paths[0], tool_output_path());
    } else if (is_scene(files))
        export_scene(files);
    else if (export_pointshell_format(files->format) >= 0 && find_pointshell(files, 1) == 0)
        export_pointshell(files);
    else if (files->format == FORMAT_PLY)
        tool_fail(files->count == 1 ? SP_INPUT : SP_USAGE, files->count == 1 ? files->paths[0] : NULL,
                  "PLY holds a pointshell: name one file of that kind");
    else if (csv && find_pointshell(files, 2) >= 0)
        export_normals(files, find_pointshell(files, 2));
    else if (csv && tool_export_has_modes(files->context, files->count, files->paths)) {
        tool_inputs_are("modes");
        tool_export_modes(files->context, files->count, files->paths, tool_output_path());
    } else if (files->chosen->level_given || files->format == FORMAT_GRAM || export_is_matrix(files->format) ||
               export_is_volume(files->format))
        export_by_format(files);
    else if (files->format != FORMAT_OBJ && tool_export_has_cubature(files->context, files->count, files->paths)) {
        tool_inputs_are("cubature");
        tool_export_cubature(files->context, !csv, files->count, files->paths, tool_output_path());
    } else
        export_motion(files);
}
