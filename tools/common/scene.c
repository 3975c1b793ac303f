#include "tools/common/scene.h"

#include "tools/common/model.h"

#include <string.h>

bool tool_is_scene(const char *path)
{
    const size_t length = strlen(path);
    return length >= 5 && !strcmp(path + length - 5, ".json");
}

void tool_read_scene(sp_context *context, const char *path, tool_scene *scene)
{
    *scene = (tool_scene){.path = path, .context = context};
    const char *slash = strrchr(path, '/');
    char *folder = tool_allocate_copy(&scene->pool, path, (int64_t)strlen(path) + 1, 1);
    folder[slash == path ? 1 : slash ? slash - path : 0] = 0;
    scene->text = tool_read_json(path, "", &scene->pool, &scene->count);
    sp_hash_bytes(scene->count, scene->text, scene->hash);
    tool_record_input(path, NULL, scene->hash, NULL);
    tool_check(sp_scene_parse(context, scene->text, scene->count, folder, &scene->scene), path);
}

void tool_scene_free(tool_scene *scene)
{
    sp_scene_free(&scene->scene);
    sp_pool_free(&scene->pool);
    *scene = (tool_scene){0};
}

const char *tool_scene_via(tool_scene *scene, const char *name, const char *key)
{
    const size_t room = strlen(name) + strlen(key) + 2;
    char *via = tool_allocate_raw(&scene->pool, (int64_t)room, 1);
    snprintf(via, room, "%s.%s", name, key);
    return via;
}

bool tool_scene_mesh(tool_scene *scene, int64_t model, tool_mesh *mesh)
{
    const sp_scene_model *m = &scene->scene.models[model];
    if (m->mesh)
        tool_read_mesh(m->mesh, tool_scene_via(scene, m->name, "mesh"), mesh);
    return m->mesh != NULL;
}

bool tool_scene_basis(tool_scene *scene, int64_t model, const tool_mesh *mesh, tool_columns *basis)
{
    const sp_scene_model *m = &scene->scene.models[model];
    if (!m->basis)
        return false;
    tool_read_columns(m->basis, tool_scene_via(scene, m->name, "basis"), NULL, mesh, basis);
    if (m->r > basis->columns.count)
        tool_fail(SP_INPUT, m->basis, "it has %lld columns, model %s asks for %lld", (long long)basis->columns.count,
                  m->name, (long long)m->r);
    return true;
}

int64_t tool_scene_rank(const tool_scene *scene, int64_t model, const tool_columns *basis)
{
    const int64_t r = scene->scene.models[model].r;
    return r ? r : basis->columns.count;
}

bool tool_scene_surface(tool_scene *scene, int64_t model, sp_surface *surface)
{
    const sp_scene_model *m = &scene->scene.models[model];
    if (m->surface)
        tool_read_surface(scene->context, m->surface, tool_scene_via(scene, m->name, "surface"), surface);
    return m->surface != NULL;
}

void tool_scene_path(tool_scene *scene, const char *name, const char *path, sp_path *poses)
{
    sp_pool pool = {0};
    int64_t count;
    const char *text = tool_read_bytes(path, tool_scene_via(scene, name, "path"), &pool, &count);
    tool_check(sp_path_parse(scene->context, text, count, poses), path);
    sp_pool_free(&pool);
}
