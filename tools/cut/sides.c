#include "tools/cut/sides.h"

#include "formats/import/matrix.h"
#include "mesh/cut.h"
#include "tools/common/anchors.h"
#include "tools/common/series.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* After an option that gave sides below `most`: they are numbered in the order of their first elements. It has to have
 * divided something. */
static void number_sides(cut_sides *p, int64_t most, const char *option, const char *text)
{
    int64_t *number = tool_allocate(&p->pool, most, sizeof *number), count = 0;
    for (int64_t e = 0; e < p->elements; e++) {
        int64_t *of = &number[p->side[e]];
        if (!*of)
            *of = ++count;
        p->side[e] = *of - 1;
    }
    sp_pool_drop(&p->pool, number);
    if (count == p->count)
        tool_fail(SP_USAGE, NULL, "--%s: %s divides no elements from others", option, text);
    p->count = count;
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* --sides, the first of all. */
static void divide_by_file(sp_context *context, const char *path, cut_sides *p)
{
    sp_matrix matrix;
    int64_t length, count = 0;
    char *bytes = tool_read_bytes(path, "sides", &p->pool, &length);
    tool_check(sp_matrix_parse_npy_column(context, bytes, length, &p->pool, &matrix), path);
    if (matrix.rows != p->elements || matrix.columns != 1)
        tool_fail(SP_INPUT, path, "its shape is (%lld, %lld), the mesh has %lld elements: (%lld) is expected",
                  (long long)matrix.rows, (long long)matrix.columns, (long long)p->elements, (long long)p->elements);
    double *sorted = tool_allocate(&p->pool, p->elements, sizeof *sorted);
    memcpy(sorted, matrix.value, (size_t)p->elements * sizeof *sorted);
    qsort(sorted, (size_t)p->elements, sizeof *sorted, compare_numbers);
    for (int64_t i = 0; i < p->elements; i++)
        if (count == 0 || sorted[i] != sorted[count - 1])
            sorted[count++] = sorted[i];
    for (int64_t e = 0; e < p->elements; e++)
        p->side[e] =
            (const double *)bsearch(&matrix.value[e], sorted, (size_t)count, sizeof *sorted, compare_numbers) - sorted;
    number_sides(p, count, "sides", path);
}

static void divide_by_plane(cut_sides *p, const char *text, int64_t region)
{
    const char *at = text;
    double plane[4];
    bool good = !isspace((unsigned char)*at) && tool_parse_numbers(&at, 4, plane) && !*at && at[-1] != ',';
    for (int i = 0; i < 4 && good; i++)
        good = fabs(plane[i]) <= 1e100;
    if (!good || (plane[0] == 0 && plane[1] == 0 && plane[2] == 0))
        tool_fail(SP_USAGE, NULL, "--plane: \"%s\" is not NX,NY,NZ,D with a normal other than 0", text);
    sp_mesh_sides_of_plane(p->mesh, plane, plane[3], region, p->count, p->side);
    number_sides(p, 2 * p->count, "plane", text);
}

static void divide_by_list(cut_sides *p, const char *text)
{
    sp_list list = {0};
    uint8_t *listed = tool_allocate(&p->pool, p->elements, 1);
    tool_parse_list("elements", text, 0, p->elements, &list);
    for (int64_t i = 0; i < list.count; i++)
        listed[((const int64_t *)list.data)[i]] = 1;
    for (int64_t e = 0; e < p->elements; e++)
        p->side[e] += listed[e] * p->count;
    sp_list_free(&list);
    sp_pool_drop(&p->pool, listed);
    number_sides(p, 2 * p->count, "elements", text);
}

void cut_divide(sp_context *context, const cut_choice *choice, const sp_mesh *mesh, cut_sides *p)
{
    char known[SP_MATERIAL_LIST];
    int64_t region = -1;

    if (!choice->planes.count && !choice->lists.count && !choice->sides && !choice->keep)
        tool_fail(SP_USAGE, NULL,
                  "nothing says where to cut: --plane, --elements or --sides; or which pieces to keep: --keep");

    if (choice->region)
        region = sp_mesh_region_find(mesh, choice->region);
    if (choice->region && region < 0)
        tool_fail(SP_USAGE, NULL, "--region: the mesh has no region \"%s\", only %s", choice->region,
                  sp_material_list(mesh->material_count, mesh->materials, known));

    *p = (cut_sides){.mesh = mesh, .elements = sp_mesh_element_count(mesh), .count = 1};
    p->side = tool_allocate(&p->pool, p->elements, sizeof *p->side);
    if (choice->sides)
        divide_by_file(context, choice->sides, p);

    for (int64_t i = 0; i < choice->planes.count; i++)
        divide_by_plane(p, choice->planes.value[i], region);
    for (int64_t i = 0; i < choice->lists.count; i++)
        divide_by_list(p, choice->lists.value[i]);
}

bool *cut_keep(sp_context *context, const cut_choice *choice, const sp_mesh *mesh, sp_pool *pool)
{
    const int64_t elements = sp_mesh_element_count(mesh);
    int64_t pieces, kept = 0, *label = tool_allocate(pool, elements, sizeof *label);
    bool *keep = tool_allocate(pool, elements, sizeof *keep);
    sp_list list = {0};

    tool_check(sp_mesh_pieces_by_size(context, mesh, label, &pieces), NULL);
    bool *listed = tool_allocate(pool, pieces, sizeof *listed);
    tool_parse_list("keep", choice->keep, 1, pieces, &list);

    for (int64_t i = 0; i < list.count; i++) {
        const int64_t piece = ((const int64_t *)list.data)[i];
        if (listed[piece])
            tool_fail(SP_USAGE, NULL, "--keep: piece %lld occurs twice", (long long)piece + 1);
        listed[piece] = true;
    }
    sp_list_free(&list);

    for (int64_t e = 0; e < elements; e++) {
        keep[e] = listed[label[e]];
        kept += keep[e];
    }

    if (kept == elements)
        tool_fail(SP_USAGE, NULL, "--keep: %s names every piece, of %lld", choice->keep, (long long)pieces);
    return keep;
}
