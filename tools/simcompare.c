/* simcompare: the difference of two files or trajectories. */
#include "tools/common/trajectory.h"
#include "tools/compare/compare.h"

#include <math.h>
#include <string.h>

static struct {
    double relative, absolute, after;
    bool with_meta, signs, members, angles, projection, deformation, after_given;
    const char *mesh, *table, *body;
    tool_texts bases, probes, scenes;
} chosen;

static const tool_option options[] = {
    {"rtol", 0, TOOL_REAL, &chosen.relative, "X", "0", .low = 0, .high = 1e300,
     .help = "the same where |a - b| <= atol + rtol |b|: B is the reference"},
    {"atol", 0, TOOL_REAL, &chosen.absolute, "X", "0", .low = 0, .high = 1e300,
     .help = "see --rtol; in the unit of the values"},
    {"meta", 0, TOOL_FLAG, &chosen.with_meta, .help = "compare meta and result too"},
    {"signs", 0, TOOL_FLAG, &chosen.signs, .help = "columns of U may have opposite signs"},
    {"members", 0, TOOL_FLAG, &chosen.members, .help = "compare trajectories member by member, as other files"},
    {"angles", 0, TOOL_FLAG, &chosen.angles,
     .help = "principal angles between two bases in the mass of --mesh; the same where all are <= atol radians"},
    {"projection", 0, TOOL_FLAG, &chosen.projection,
     .help = "what the basis B misses of each frame or column of A in the mass of --mesh, relative; the same where the "
             "total is <= atol"},
    {"deformation", 0, TOOL_FLAG, &chosen.deformation,
     .help =
         "compare the deformation of a free body too: its motion without the rigid motion that is nearest in the mass"},
    {"mesh", 0, TOOL_INPUT, &chosen.mesh, "FILE",
     .help = "the mesh of trajectories, for probes on its surface and --deformation, or of bases, for --angles and "
             "--projection"},
    {"basis", 0, TOOL_INPUTS, &chosen.bases, "FILE", .help = "the basis of a reduced trajectory"},
    {"scene", 0, TOOL_INPUTS, &chosen.scenes, "FILE", .files = "json",
     .help = "the scene of a scene's trajectory, one body of which is compared"},
    {"body", 0, TOOL_TEXT, &chosen.body, "NAME", .only = "scene",
     .help = "the body of the scene (default: the only one with a mesh)"},
    {"probe", 0, TOOL_TEXTS, &chosen.probes, "VERTEX:AXIS",
     .help = "amplitude and frequency of 12:y, surface:5:z or near:X,Y,Z:y are what is judged"},
    {"after", 0, TOOL_REAL, &chosen.after, "S", NULL, .low = 0, .high = 1e300, .given = &chosen.after_given,
     .help = "frequencies from this time on (default: when the loads end)"},
    {"csv", 0, TOOL_WRITTEN, &chosen.table, "FILE", .files = "csv", .help = "also write the results as a table",
     .silent = true},
};

static const tool_spec spec = {
    .name = "simcompare",
    .arguments = "A B",
    .files = "npz json",
    .least = 2,
    .most = 2,
    .summary =
        "Difference of file or trajectory A from the reference B. Exit 0: the same within the tolerances, 1: not.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_THREADS,
    .examples = "  simcompare --rtol 1e-9 --signs modes.npz modes-before.npz\n"
                "  simcompare --angles --mesh spoon.npz basis.npz other-basis.npz\n"
                "  simcompare --projection --mesh spoon.npz full.npz basis.npz --atol 0.01\n"
                "  simcompare reduced.npz full.npz --basis basis.npz --probe 120:y --rtol 0.01\n"
                "  simcompare bounce.npz full.npz --scene scene.json --probe near:0,0.7,0:z\n",
};

enum way { BY_MEMBERS, BY_MOTION, BY_ANGLES, BY_PROJECTION };

/* Both files are trajectories; `other` receives one that is none. Two of scenes without --scene or --probe are compared
 * by members. */
static bool are_motions(sp_context *context, const char **other)
{
    char kind[SP_KIND_LENGTH];
    int scenes = 0;
    *other = NULL;
    for (int i = 0; i < 2; i++) {
        tool_peek_any_kind(context, tool_argument(i), kind);
        const bool of_scene = !strcmp(kind, "scene_trajectory");
        if (!of_scene && strcmp(kind, "trajectory") != 0) {
            *other = tool_argument(i);
            return false;
        }
        scenes += of_scene;
    }
    return scenes < 2 || chosen.scenes.count || chosen.probes.count;
}

/* What the options and the kinds of the files ask for; refuses options that do not apply to it. */
static enum way choose(sp_context *context)
{
    const bool others = chosen.members || chosen.with_meta || chosen.signs || chosen.probes.count ||
                        chosen.after_given || chosen.scenes.count || chosen.deformation || chosen.relative > 0;
    if (chosen.angles && (chosen.projection || !chosen.mesh || others || chosen.bases.count))
        tool_fail(SP_USAGE, NULL, "--angles takes two bases and their --mesh, and nothing else but --atol and --csv");
    if (chosen.projection && (!chosen.mesh || others))
        tool_fail(SP_USAGE, NULL,
                  "--projection takes displacements, a basis and their --mesh, and nothing else but --basis, --atol "
                  "and --csv");
    if (chosen.angles || chosen.projection)
        return chosen.angles ? BY_ANGLES : BY_PROJECTION;

    const char *other = NULL;
    const bool motions = !chosen.members && are_motions(context, &other);
    if (!motions && (chosen.probes.count || chosen.bases.count || chosen.scenes.count || chosen.mesh ||
                     chosen.after_given || chosen.deformation))
        tool_fail(SP_USAGE, other,
                  "--mesh, --basis, --scene, --probe, --after and --deformation are for two trajectories%s",
                  other ? ", and this is none" : "");
    if (motions && (chosen.with_meta || chosen.signs))
        tool_fail(SP_USAGE, NULL, "--meta and --signs are for files that are compared member by member (--members)");
    return motions ? BY_MOTION : BY_MEMBERS;
}

int main(int argc, char **argv)
{
    static bool (*const compare[])(comparison *) = {[BY_MEMBERS] = compare_members,
                                                    [BY_MOTION] = compare_motions,
                                                    [BY_ANGLES] = compare_angles,
                                                    [BY_PROJECTION] = compare_projection};
    sp_context *context = tool_begin(&spec, argc, argv);
    comparison c = {.context = context,
                    .a = tool_argument(0),
                    .b = tool_argument(1),
                    .mesh = chosen.mesh,
                    .bases = &chosen.bases,
                    .scenes = &chosen.scenes,
                    .body = chosen.body,
                    .probes = &chosen.probes,
                    .relative = chosen.relative,
                    .absolute = chosen.absolute,
                    .with_meta = chosen.with_meta,
                    .signs = chosen.signs,
                    .deformation = chosen.deformation,
                    .after = chosen.after_given ? chosen.after : -1,
                    .stream = tool_quiet() ? NULL : tool_stdout(),
                    .table_wanted = chosen.table};

    const bool same = compare[choose(context)](&c);
    if (chosen.table)
        tool_write_bytes(chosen.table, c.table.data, c.table.count);
    sp_list_free(&c.table);
    sp_pool_free(&c.pool);

    int status = tool_end();
    return status == SP_OK && !same ? SP_NO : status;
}
