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
    (void)context;
    tool_check_source(sp_scene_input_read(tool_source(), path, scene));
}

void tool_scene_free(tool_scene *scene)
{
    sp_scene_input_free(scene);
}

const char *tool_scene_via(tool_scene *scene, const char *name, const char *key)
{
    const char *via = sp_scene_input_key(scene, name, key);
    if (!via)
        tool_out_of_memory();
    return via;
}

bool tool_scene_mesh(tool_scene *scene, int64_t model, tool_mesh *mesh)
{
    const bool given = scene->scene.models[model].mesh;
    if (given)
        tool_check_source(sp_scene_input_mesh(tool_source(), scene, model, mesh));
    return given;
}

bool tool_scene_basis(tool_scene *scene, int64_t model, const tool_mesh *mesh, tool_columns *basis)
{
    const bool given = scene->scene.models[model].basis;
    if (given)
        tool_check_source(sp_scene_input_basis(tool_source(), scene, model, mesh, basis));
    return given;
}

int64_t tool_scene_rank(const tool_scene *scene, int64_t model, const tool_columns *basis)
{
    const int64_t r = scene->scene.models[model].r;
    return r ? r : basis->columns.count;
}

bool tool_scene_surface(sp_context *context, tool_scene *scene, int64_t model, sp_surface *surface)
{
    const sp_scene_model *m = &scene->scene.models[model];
    if (m->surface)
        tool_read_surface(context, m->surface, tool_scene_via(scene, m->name, "surface"), surface);
    return m->surface != NULL;
}

void tool_scene_path(tool_scene *scene, const char *name, const char *path, sp_path *poses)
{
    tool_check_source(sp_scene_input_path(tool_source(), scene, name, path, poses));
}
