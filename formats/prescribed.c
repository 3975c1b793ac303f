#include "formats/prescribed.h"

#include "formats/csv.h"

#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Bits of the axes along which a vertex is fixed: those of the mesh, or all if the mesh does not fix it. */
static int prescribed_axes(const sp_mesh *mesh, int64_t vertex)
{
    const int64_t *found =
        mesh->fixed_count > 0 ? bsearch(&vertex, mesh->fixed, (size_t)mesh->fixed_count, sizeof vertex, compare) : NULL;
    return found ? mesh->fixed_axes[found - mesh->fixed] : 7;
}

static int find_vertex(void *data, sp_context *context, const sp_text *text, sp_word field, int64_t *vertex)
{
    return sp_csv_vertex(context, text, "vertex", field, false, data, vertex);
}

static int check_axes(void *data, sp_context *context, const sp_text *text, int64_t vertex, const double *u)
{
    const int axes = prescribed_axes(((const sp_places *)data)->mesh, vertex);
    for (int c = 0; c < 3; c++)
        if (!(axes >> c & 1) && u[c] != 0)
            return sp_text_fail(context, text, "u%c: %g m, but vertex %lld is free along %c in the mesh", 'x' + c, u[c],
                                (long long)vertex, 'x' + c);
    return SP_OK;
}

int sp_prescribed_motion_parse(sp_context *context, const char *bytes, int64_t count, const sp_mesh *mesh,
                               sp_pool *pool, int64_t *move_count, sp_prescribed_vertex **moves)
{
    sp_places places = {.mesh = mesh, .text = "prescribed vertices"};
    const sp_series_kind kind = {.width = 3,
                                 .fields = "t,vertex,ux,uy,uz",
                                 .names = {"t", "vertex", "ux", "uy", "uz"},
                                 .unit = "m",
                                 .places = true,
                                 .keys = mesh->vertex_count,
                                 .key = find_vertex,
                                 .check = check_axes,
                                 .data = &places};

    sp_series *series;
    const int status = sp_series_parse(context, bytes, count, &kind, pool, move_count, &series);
    sp_places_free(&places);
    if (status != SP_OK)
        return status;

    *moves = sp_pool_raw(pool, *move_count, sizeof **moves);
    SP_PASS(sp_allocated(context, *moves));
    for (int64_t i = 0; i < *move_count; i++)
        (*moves)[i] = (sp_prescribed_vertex){series[i].key, series[i].count, series[i].time, series[i].value};
    return SP_OK;
}
