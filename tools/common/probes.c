#include "tools/common/probes.h"

#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

/* One entry at *at, appended to the list; moves *at behind it and a comma that follows. */
static void parse_entry(const sp_mesh *mesh, const char *text, const char **at, sp_list *list)
{
    bool surface = !strncmp(*at, "surface:", 8);
    const char *start = surface ? *at + 8 : *at;
    char *end;
    long long number = strtoll(start, &end, 10);
    if (end == start || number < 0 || (*end && *end != ','))
        tool_fail(SP_USAGE, NULL, "--probe: \"%s\" is not a list such as 3,17,surface:120", text);
    int64_t most = surface ? mesh->surface.vertex_count : mesh->vertex_count, one = number;
    if (number >= most)
        tool_fail(SP_USAGE, NULL, "--probe: %svertex %lld of %lld", surface ? "surface " : "", number, (long long)most);
    int corners = 1;
    const int64_t *corner = surface ? sp_mesh_corners(mesh, mesh->surface.element[number], &corners) : &one;
    int64_t *to = tool_list_add(list, corners, sizeof *to);
    memcpy(to, corner, (size_t)corners * sizeof *to);
    *at = *end ? end + 1 : end;
}

int64_t tool_parse_probes(const sp_mesh *mesh, const char *text, sp_pool *pool, const int64_t **vertices)
{
    sp_list list = {0};
    for (const char *at = text; *at;)
        parse_entry(mesh, text, &at, &list);
    int64_t *vertex = list.data, kept = 0;
    qsort(vertex, (size_t)list.count, sizeof *vertex, sp_compare_integers);
    for (int64_t i = 0; i < list.count; i++)
        if (i == 0 || vertex[i] != vertex[i - 1])
            vertex[kept++] = vertex[i];
    *vertices = tool_allocate_copy(pool, vertex, kept, sizeof *vertex);
    sp_list_free(&list);
    return kept;
}
