/* libFuzzer entry for sp_surface_parse: the low bits of the first byte select the ending of the file name and what
 * makes a group, the rest is the file. Stops when a parse that succeeded breaks what surface.h promises, or one that
 * failed says nothing.
 *
 *   clang -std=c11 -D_GNU_SOURCE -g -O1 -fsanitize=fuzzer,address,undefined -I. -Ilib tests/fuzz/fuzz_surface.c \
 *         formats/import/surface*.c formats/import/text.c lib/geometry/surface.c lib/base/context.c lib/base/memory.c
 * -lm */
#include "formats/import/surface.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition)
        abort();
}

static void check(const sp_surface *surface)
{
    require(surface->triangle_count > 0 && surface->vertex_count > 0 && surface->group_count > 0);
    for (int64_t i = 0; i < 3 * surface->vertex_count; i++)
        require(isfinite(surface->vertices[i]));
    for (int64_t i = 0; i < 3 * surface->triangle_count; i++)
        require(surface->triangles[i] >= 0 && surface->triangles[i] < surface->vertex_count);
    for (int64_t i = 0; i < surface->triangle_count; i++)
        require(surface->group[i] >= 0 && surface->group[i] < surface->group_count);
    for (int64_t i = 0; i < surface->group_count; i++)
        require(strlen(surface->groups[i]) > 0);
    double low[3], high[3];
    sp_surface_box(surface, low, high);
    for (int axis = 0; axis < 3; axis++)
        require(low[axis] <= high[axis]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"model.obj", "model.ply", "model.stl", "model.off", "model"};
    static const enum sp_surface_groups groups[] = {SP_GROUPS_NONE, SP_GROUPS_GROUP, SP_GROUPS_MATERIAL};
    if (size == 0)
        return 0;
    sp_context context = sp_context_default();
    sp_surface surface;
    int status =
        sp_surface_parse(&context, names[data[0] % 5], data + 1, (int64_t)size - 1, groups[data[0] / 5 % 3], &surface);
    if (status == SP_OK)
        check(&surface);
    else
        require(status == SP_INPUT && context.message[0] && !surface.vertices);
    sp_surface_free(&surface);
    return 0;
}
