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

void tool_mesh_surface(sp_context *context, const sp_mesh *mesh, bool boundary, sp_surface *surface)
{
    tool_skin skin;
    tool_skin_open(context, mesh, boundary, &skin);
    *surface = (sp_surface){.vertex_count = skin.vertex_count, .triangle_count = skin.triangle_count, .group_count = 1};
    surface->vertices = tool_allocate_copy(&surface->pool, skin.rest, 3 * skin.vertex_count, sizeof(double));
    surface->triangles = tool_allocate_copy(&surface->pool, skin.triangles, 3 * skin.triangle_count, sizeof(int64_t));
    surface->group = tool_allocate(&surface->pool, skin.triangle_count, sizeof(int64_t));
    surface->groups = tool_allocate(&surface->pool, 1, sizeof(char *));
    surface->groups[0] = tool_allocate_copy(&surface->pool, "surface", 8, 1);
    tool_skin_close(&skin);
}
