#include "tools/common/model.h"

#include "formats/import/surface.h"
#include "tools/common/skin.h"
#include "tools/common/tool.h"

#include <string.h>

bool tool_is_archive(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && !strcmp(dot, ".npz");
}

void tool_read_surface(sp_context *context, const char *path, const char *option, sp_surface *surface)
{
    sp_pool pool = {0};
    int64_t count;
    const char *bytes = tool_read_bytes(path, option, &pool, &count);
    tool_check(sp_surface_parse(context, path, bytes, count, SP_GROUPS_NONE, surface), path);
    sp_pool_free(&pool);
}

void tool_mesh_surface(sp_context *context, const sp_mesh *mesh, sp_surface *surface)
{
    tool_skin skin;
    tool_skin_open(context, mesh, false, &skin);
    *surface = (sp_surface){.vertex_count = skin.vertex_count, .triangle_count = skin.triangle_count, .group_count = 1};
    surface->vertices = sp_pool_copy(&surface->pool, skin.rest, 3 * skin.vertex_count, sizeof(double));
    surface->triangles = sp_pool_copy(&surface->pool, skin.triangles, 3 * skin.triangle_count, sizeof(int64_t));
    surface->group = sp_pool_new(&surface->pool, skin.triangle_count, sizeof(int64_t));
    surface->groups = sp_pool_new(&surface->pool, 1, sizeof(char *));
    if (surface->groups)
        surface->groups[0] = sp_pool_copy(&surface->pool, "surface", 8, 1);
    if (surface->pool.failed)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    tool_skin_close(&skin);
}
