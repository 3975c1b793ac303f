/* simskin: weights by which the bones of a skeleton move the vertices of a mesh. */
#include "skin/weights.h"
#include "tools/common/rig.h"

static struct {
    int64_t influences;
    const char *fixed;
} chosen;

static const tool_option options[] = {
    {"influences", 0, TOOL_INTEGER, &chosen.influences, "N", "4", .low = 1, .high = 8,
     .help = "the largest number of bones that move a vertex"},
    {"write-fixed", 0, TOOL_WRITTEN, &chosen.fixed, "FILE", .files = "npz", .silent = true,
     .help =
         "also write the mesh with the vertices that are attached to bones fixed, for a basis that does not move them"},
};

static const tool_spec spec = {
    .name = "simskin",
    .arguments = "MESH SKELETON",
    .files = "npz json",
    .least = 2,
    .most = 2,
    .summary = "Weights by which the bones of a skeleton move the vertices of a mesh.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  simskin walker.npz walk.json -o skin.npz\n"
                "  simulate walker.npz --model modal --basis modes.npz --warp --skin skin.npz \\\n"
                "    --skeleton walk.json --gravity 0,0,-9.81 -o motion.npz\n",
};

/* [vertices] the bone of each, −1: none. */
static int64_t *list_attached(const tool_mesh *mesh, const sp_skeleton_file *skeleton, const char *path, sp_pool *pool)
{
    int64_t *attached = tool_allocate(pool, mesh->mesh.vertex_count, sizeof *attached);
    for (int64_t v = 0; v < mesh->mesh.vertex_count; v++)
        attached[v] = -1;
    for (int64_t b = 0; b < skeleton->bone_count; b++) {
        const sp_bone *bone = &skeleton->bones[b];
        if (bone->vertex_count == 0) {
            tool_hint("a segment with a radius, regions, vertices or a box attach some");
            tool_fail(SP_INPUT, path, "bones[%lld]: bone %s has no vertices", (long long)b, skeleton->names[b]);
        }
        for (int64_t i = 0; i < bone->vertex_count; i++)
            attached[bone->vertex[i]] = b;
    }
    return attached;
}

static json_t *report(const sp_skin *skin, const sp_skin_report *weights)
{
    json_t *result = tool_result_new();
    tool_say("%lld bones, %lld attached vertices, %lld computed; lowest weight before clamping %.2g, largest part that "
             "was not kept %.2g",
             (long long)skin->bone_count, (long long)(skin->vertex_count - weights->solved), (long long)weights->solved,
             weights->lowest, weights->dropped);
    tool_facts(result, sp_kind_skin.result, {"bones", .integer = skin->bone_count},
               {"computed_vertices", .integer = weights->solved}, {"lowest_weight", .real = weights->lowest},
               {"largest_dropped", .real = weights->dropped});
    return result;
}

static void write_fixed(sp_context *context, tool_mesh *mesh, const sp_skeleton_file *skeleton, tool_output *output)
{
    json_t *meta = tool_meta_new("mesh");
    for (int64_t b = 0; b < skeleton->bone_count; b++)
        tool_check(
            sp_mesh_fix_list(context, &mesh->mesh, skeleton->bones[b].vertex_count, skeleton->bones[b].vertex, 7),
            mesh->path);
    tool_meta_output(meta, "write-fixed");
    tool_check(sp_mesh_write(context, tool_output_writer(output), meta, &mesh->mesh), chosen.fixed);
    tool_output_finish(output, tool_result_new());
    json_decref(meta);
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    tool_mesh mesh;
    sp_skeleton_file skeleton;
    sp_skin skin;
    sp_skin_report weights;
    sp_pool pool = {0};
    const char *path = tool_argument(1);

    tool_read_mesh(tool_argument(0), NULL, &mesh);
    tool_read_skeleton(context, path, NULL, &mesh.mesh, &skeleton);

    tool_output *output = tool_output_open(tool_output_path()),
                *fixed = chosen.fixed ? tool_output_open(chosen.fixed) : NULL;
    const int64_t *attached = list_attached(&mesh, &skeleton, path, &pool);

    tool_check(sp_skin_weights(context, &mesh.mesh, skeleton.bone_count, attached, chosen.influences, &skin, &weights),
               mesh.path);

    json_t *meta = tool_meta_new("skin"), *result = report(&skin, &weights);
    tool_facts(meta, sp_kind_skin.meta, {"mesh", .text = mesh.hash});
    tool_check(sp_skin_write(context, tool_output_writer(output), meta, &skin, skeleton.names), tool_output_path());
    tool_output_finish(output, result);

    if (fixed)
        write_fixed(context, &mesh, &skeleton, fixed);

    json_decref(meta);
    sp_skin_free(&skin);
    sp_skeleton_file_free(&skeleton);
    sp_mesh_free(&mesh.mesh);
    sp_pool_free(&pool);
    return tool_end();
}
