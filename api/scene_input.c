#include "api/scene_input.h"

#include <stdio.h>
#include <string.h>

/* Surfaces and models without a body are named, although not every run reads them. */
static void tell_named(sp_source *source, const sp_scene *scene)
{
    for (int64_t i = 0; source->named && i < scene->model_count; i++) {
        const sp_scene_model *m = &scene->models[i];
        const char *const paths[] = {m->mesh,  m->basis,  m->polynomials, m->cubature, m->pointshell,
                                     m->field, m->voxmap, m->surface,     m->proxies};
        for (size_t k = 0; k < sizeof paths / sizeof *paths; k++)
            if (paths[k])
                source->named(source, paths[k]);
    }
}

int sp_scene_input_read(sp_source *source, const char *path, sp_scene_input *scene)
{
    *scene = (sp_scene_input){.path = path};
    const char *slash = strrchr(path, '/');
    char *folder = sp_pool_copy(&scene->pool, path, (int64_t)strlen(path) + 1, 1);
    int status;
    if (!folder)
        return sp_source_fail(source, SP_SYSTEM, path, "out of memory");

    folder[slash == path ? 1 : slash ? slash - path : 0] = 0;
    SP_TRY(source->text(source, path, "", true, &scene->pool, &scene->count, &scene->text));
    sp_hash_bytes(scene->count, scene->text, scene->hash);

    SP_TRY(sp_source_about(source, path,
                           sp_scene_parse(source->context, scene->text, scene->count, folder, &scene->scene)));
    tell_named(source, &scene->scene);
    return SP_OK;
done:
    sp_pool_free(&scene->pool);
    *scene = (sp_scene_input){0};
    return status;
}

void sp_scene_input_free(sp_scene_input *scene)
{
    sp_scene_free(&scene->scene);
    sp_pool_free(&scene->pool);
    *scene = (sp_scene_input){0};
}

const char *sp_scene_input_key(sp_scene_input *scene, const char *name, const char *key)
{
    const size_t length = strlen(name) + strlen(key) + 2;
    char *text = sp_pool_raw(&scene->pool, (int64_t)length, 1);
    if (text)
        snprintf(text, length, "%s.%s", name, key);
    return text;
}

int sp_scene_input_mesh(sp_source *source, sp_scene_input *scene, int64_t model, sp_mesh_input *mesh)
{
    const sp_scene_model *m = &scene->scene.models[model];
    return sp_input_mesh(source, m->mesh, sp_scene_input_key(scene, m->name, "mesh"), mesh);
}

int sp_scene_input_basis(sp_source *source, sp_scene_input *scene, int64_t model, const sp_mesh_input *mesh,
                         sp_columns_input *basis)
{
    const sp_scene_model *m = &scene->scene.models[model];
    const char *key = sp_scene_input_key(scene, m->name, "basis");
    int status = sp_input_basis(source, SP_MODEL_POLYNOMIALS, m->basis, key, mesh, basis);
    if (status == SP_OK && m->r > basis->columns.count)
        status = sp_source_fail(source, SP_INPUT, m->basis, "it has %lld columns, model %s asks for %lld",
                                (long long)basis->columns.count, m->name, (long long)m->r);
    return status;
}

static int read_path(sp_source *source, sp_scene_input *scene, const char *name, const char *path, bool device,
                     sp_path *poses)
{
    sp_pool pool = {0};
    int64_t count;
    char *text;
    int status;
    SP_TRY(source->text(source, path, sp_scene_input_key(scene, name, "path"), false, &pool, &count, &text));
    SP_TRY(sp_source_about(source, path,
                           (device ? sp_path_parse_device : sp_path_parse)(source->context, text, count, poses)));
done:
    sp_pool_free(&pool);
    return status;
}

int sp_scene_input_path(sp_source *source, sp_scene_input *scene, const char *name, const char *path, sp_path *poses)
{
    return read_path(source, scene, name, path, false, poses);
}

int sp_scene_input_device(sp_source *source, sp_scene_input *scene, sp_path *poses)
{
    return read_path(source, scene, "coupling", scene->scene.coupling.path, true, poses);
}
