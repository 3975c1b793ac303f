#include "tools/common/rig.h"

#include <string.h>

void tool_read_skeleton(sp_context *context, const char *path, const char *option, const sp_mesh *mesh,
                        sp_skeleton_file *file)
{
    const char *slash = strrchr(path, '/');
    int64_t length;
    sp_pool pool = {0};
    char *text = tool_read_json(path, option, &pool, &length),
         *folder = tool_allocate(&pool, (int64_t)strlen(path) + 1, 1);
    memcpy(folder, path, slash == path ? 1 : slash ? (size_t)(slash - path) : 0);
    tool_check(sp_skeleton_file_parse(context, text, length, folder, mesh, file), path);
    sp_pool_free(&pool);
}

void tool_warn_of_stop(const char *file, const sp_path *path, double end)
{
    sp_remarks remarks = {0};
    sp_path_judge(path, "the path", end, &remarks);
    tool_warn_remarks(file, &remarks);
}

static void read_skin(sp_context *context, const char *path, const tool_mesh *mesh, tool_rig *rig)
{
    sp_skin_file *skin = &rig->file;
    static const char *const kinds[] = {"skin", NULL};
    sp_file file;

    tool_read(path, "skin", kinds, false, &file);
    tool_check(sp_skin_read(context, &file, skin), path);
    memcpy(rig->hash, file.hash, sizeof rig->hash);
    sp_file_free(&file);

    tool_check_hash(path, "mesh", skin->mesh, mesh->hash);
    if (skin->skin.vertex_count != mesh->mesh.vertex_count)
        tool_fail(SP_INPUT, path, "it is of %lld vertices, the mesh has %lld", (long long)skin->skin.vertex_count,
                  (long long)mesh->mesh.vertex_count);
}

static void check_names(const tool_rig *rig, const char *skin, const char *skeleton)
{
    const int64_t count = rig->file.skin.bone_count;
    if (count != rig->skeleton.bone_count)
        tool_fail(SP_INPUT, skin, "it has %lld bones, %s has %lld", (long long)count, skeleton,
                  (long long)rig->skeleton.bone_count);
    for (int64_t b = 0; b < count; b++)
        if (strcmp(rig->file.names[b], rig->skeleton.names[b]))
            tool_fail(SP_INPUT, skin, "its bone %lld is %s, that of %s is %s", (long long)b, rig->file.names[b],
                      skeleton, rig->skeleton.names[b]);
}

static sp_pose along_path(const void *data, double time, double velocity[6])
{
    const tool_bone_path *bone = data;
    return sp_path_until(&bone->path, bone->end, time, velocity);
}

static void read_paths(sp_context *context, const char *skeleton, double end, tool_rig *rig)
{
    const sp_skeleton_file *file = &rig->skeleton;
    sp_rig_bone *bones = tool_allocate(&rig->pool, file->bone_count, sizeof *bones);
    rig->paths = tool_allocate(&rig->pool, file->bone_count, sizeof *rig->paths);
    rig->motion = tool_allocate(&rig->pool, file->bone_count, sizeof *rig->motion);

    tool_named_in(skeleton);

    for (int64_t b = 0; b < file->bone_count; b++) {
        sp_path *path = &rig->paths[b].path;
        int64_t length;
        if (!file->bone_paths[b])
            tool_fail(SP_INPUT, skeleton, "bones[%lld].joint: a skin needs bones that follow paths, and %s does not",
                      (long long)b, file->names[b]);

        const char *text = tool_read_bytes(file->bone_paths[b], "path", &rig->pool, &length);
        tool_check(sp_path_parse(context, text, length, path), file->bone_paths[b]);

        if (path->count > 1 && path->time[path->count - 1] < end * (1 - 1e-9))
            tool_fail(SP_INPUT, file->bone_paths[b], "the path of bone %s ends at %g s, before the motion at %g s",
                      file->names[b], path->time[path->count - 1], end);

        rig->paths[b].end = end > 0 ? end : INFINITY;
        bones[b] = (sp_rig_bone){.parent = file->bones[b].parent, .path = along_path, .path_data = &rig->paths[b]};
        memcpy(bones[b].at, file->bones[b].at, sizeof bones[b].at);
    }

    tool_named_in(NULL);
    rig->rig = (sp_rig){file->bone_count, bones};
}

void tool_rig_open(sp_context *context, const char *skin, const char *skeleton, const tool_mesh *mesh, double end,
                   tool_rig *rig)
{
    *rig = (tool_rig){0};
    if (!skeleton)
        tool_fail(SP_USAGE, NULL, "--skin needs --skeleton, with the paths of its bones");
    read_skin(context, skin, mesh, rig);
    tool_read_skeleton(context, skeleton, "skeleton", &mesh->mesh, &rig->skeleton);
    check_names(rig, skin, skeleton);
    read_paths(context, skeleton, end, rig);
}

void tool_rig_close(tool_rig *rig)
{
    for (int64_t b = 0; b < rig->rig.bone_count; b++)
        sp_path_free(&rig->paths[b].path);
    sp_skin_free(&rig->file.skin);
    sp_skeleton_file_free(&rig->skeleton);
    sp_pool_free(&rig->pool);
    *rig = (tool_rig){0};
}
