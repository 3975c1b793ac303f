/* Writers of the formats that are lists of numbers (Medit, legacy VTK, TetGen), and functions that all writers of
 * meshes share. */
#include "formats/export/volume_internal.h"
#include "mesh/mesh_sets.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

void sp_volume_write_point(sp_stream *stream, const double x[3], const char *between)
{
    sp_stream_print(stream, "%.17g%s%.17g%s%.17g", x[0], between, x[1], between, x[2]);
}

void sp_volume_write_corners(sp_stream *stream, const sp_mesh *mesh, int64_t element, int64_t base, const char *between)
{
    int count;
    const int64_t *node = sp_mesh_nodes(mesh, element, &count);
    for (int a = 0; a < count; a++)
        sp_stream_print(stream, "%s%lld", a ? between : "", (long long)(node[a] + base));
}

int64_t sp_volume_run_end(const sp_mesh *mesh, int64_t element)
{
    int64_t within, end = element + 1;
    const int type = sp_mesh_type(mesh, element, &within);
    const int64_t last = element - within + mesh->block[type].count;
    while (end < last && mesh->region[end] == mesh->region[element])
        end++;
    return end;
}

int sp_volume_used_regions(sp_context *context, const sp_mesh *mesh, sp_pool *pool, bool **used)
{
    *used = sp_pool_new(pool, mesh->material_count, sizeof **used);
    SP_PASS(sp_allocated(context, *used));
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++)
        (*used)[mesh->region[e]] = true;
    return SP_OK;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_taken(char (*names)[SP_NAME_LENGTH], int64_t count, const char *name)
{
    for (int64_t i = 0; i < count; i++)
        if (strcasecmp(names[i], name) == 0)
            return true;
    return false;
}

/* list[at] becomes a plain name made of `name`, different from those before it. */
static void make_plain(char (*list)[SP_NAME_LENGTH], int64_t at, const char *name)
{
    char plain[SP_NAME_LENGTH + 1];
    snprintf(plain, sizeof plain, "%s%s", is_letter(*name) ? "" : "R", name);
    plain[SP_NAME_LENGTH - 1] = 0;
    for (char *c = plain; *c; c++)
        if (!is_letter(*c) && !(*c >= '0' && *c <= '9') && *c != '-')
            *c = '_';
    memcpy(list[at], plain, SP_NAME_LENGTH);
    for (int64_t i = 2; is_taken(list, at, list[at]); i++) {
        char ending[24];
        int length = snprintf(ending, sizeof ending, "-%lld", (long long)i);
        snprintf(list[at], SP_NAME_LENGTH, "%.*s%s", SP_NAME_LENGTH - 1 - length, plain, ending);
    }
}

int sp_plain_names(sp_context *context, const sp_mesh *mesh, sp_pool *pool, char (**names)[SP_NAME_LENGTH])
{
    char(*list)[SP_NAME_LENGTH] = sp_pool_new(pool, mesh->material_count, sizeof *list);
    SP_PASS(sp_allocated(context, list));
    for (int64_t m = 0; m < mesh->material_count; m++)
        make_plain(list, m, mesh->materials[m].name);
    *names = list;
    return SP_OK;
}

bool sp_volume_is_region(const sp_mesh *mesh, const sp_mesh_set *set)
{
    const int64_t region = sp_mesh_region_find(mesh, set->name);
    int64_t size = 0;
    bool same = region >= 0;
    for (int64_t i = 0; i < set->count && same; i++)
        same = mesh->region[set->index[i]] == region;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh) && same; e++)
        size += mesh->region[e] == region;
    return same && size == set->count;
}

int sp_plain_set_names(sp_context *context, const sp_mesh *mesh, char (*regions)[SP_NAME_LENGTH], sp_pool *pool,
                       char (**names)[SP_NAME_LENGTH])
{
    const int64_t most = mesh->material_count + mesh->set_count;
    char(*list)[SP_NAME_LENGTH] = sp_pool_new(pool, most, sizeof *list);
    *names = sp_pool_new(pool, mesh->set_count, sizeof **names);
    SP_PASS(sp_allocated(context, !pool->failed));

    for (int kind = 0; kind < SP_SET_KINDS; kind++) {
        int64_t taken = kind == SP_SET_ELEMENTS ? mesh->material_count : 0;
        memcpy(list, regions, (size_t)taken * sizeof *list);
        for (int64_t i = 0; i < mesh->set_count; i++)
            if ((int)mesh->sets[i].kind == kind &&
                !(kind == SP_SET_ELEMENTS && sp_volume_is_region(mesh, &mesh->sets[i]))) {
                make_plain(list, taken, mesh->sets[i].name);
                memcpy((*names)[i], list[taken++], sizeof *list);
            }
    }
    return SP_OK;
}

/* ---- Medit ---- */

static void medit_elements(sp_stream *stream, const sp_mesh *mesh, int type)
{
    const int64_t first = sp_mesh_first(mesh, type), end = first + mesh->block[type].count;
    if (end == first)
        return;
    sp_stream_print(stream, "%s\n%lld\n", sp_element_types[type].medit, (long long)(end - first));
    for (int64_t e = first; e < end; e++) {
        sp_volume_write_corners(stream, mesh, e, 1, " ");
        sp_stream_print(stream, " %lld\n", (long long)mesh->region[e] + 1);
    }
}

int64_t sp_medit_reference(const sp_mesh *mesh, int64_t set)
{
    int64_t reference = 0;
    for (int64_t i = 0; i <= set; i++)
        reference += mesh->sets[i].kind == SP_SET_FACES;
    return mesh->sets[set].kind == SP_SET_FACES ? reference : 0;
}

/* The faces of sets with `nodes` nodes; one that is in several sets is written for each. */
static void medit_faces(sp_stream *stream, const sp_mesh *mesh, const char *section, int nodes)
{
    int64_t node[SP_ELEMENT_NODES], count = 0;
    for (int writing = 0; writing < 2; writing++) {
        if (writing && count > 0)
            sp_stream_print(stream, "%s\n%lld\n", section, (long long)count);

        for (int64_t s = 0; s < mesh->set_count; s++)
            if (mesh->sets[s].kind == SP_SET_FACES)
                for (int64_t i = 0; i < mesh->sets[s].count; i++) {
                    if (sp_mesh_set_nodes(mesh, &mesh->sets[s], i, node) != nodes)
                        continue;
                    count++;
                    if (!writing)
                        continue;
                    for (int a = 0; a < nodes; a++)
                        sp_stream_print(stream, "%lld ", (long long)node[a] + 1);
                    sp_stream_print(stream, "%lld\n", (long long)sp_medit_reference(mesh, s));
                }
    }
}

int sp_medit_write(sp_context *context, int descriptor, const sp_mesh *mesh)
{
    sp_stream stream;

    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (mesh->block[t].count > 0 && !sp_element_types[t].medit)
            return sp_fail(context, SP_INPUT, "the mesh has %lld elements of type %s, for which Medit has no section",
                           (long long)mesh->block[t].count, sp_element_types[t].name);

    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream, "MeshVersionFormatted 2\nDimension 3\nVertices\n%lld\n", (long long)mesh->vertex_count);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        sp_volume_write_point(&stream, mesh->vertices + 3 * v, " ");
        sp_stream_print(&stream, " 0\n");
    }

    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (sp_element_types[t].medit)
            medit_elements(&stream, mesh, t);
    medit_faces(&stream, mesh, "Triangles", 3);
    medit_faces(&stream, mesh, "Quadrilaterals", 4);
    medit_faces(&stream, mesh, "TrianglesP2", 6);

    sp_stream_print(&stream, "End\n");
    return sp_stream_end(context, &stream);
}

/* ---- legacy VTK ---- */

/* Named sets as data of 0 and 1: those of elements at the cells, or the others at the points, of faces at their
 * vertices. within [cells or vertices] is scratch. */
static void vtk_sets(sp_stream *stream, const sp_mesh *mesh, char (*names)[SP_NAME_LENGTH], bool cells, bool *within)
{
    const int64_t count = cells ? sp_mesh_element_count(mesh) : mesh->vertex_count;
    bool first = !cells;

    for (int64_t i = 0; i < mesh->set_count; i++) {
        const sp_mesh_set *set = &mesh->sets[i];
        if (!*names[i] || cells != (set->kind == SP_SET_ELEMENTS))
            continue;

        memset(within, 0, (size_t)count * sizeof *within);
        for (int64_t k = 0; k < set->count; k++) {
            int64_t node[SP_ELEMENT_NODES];
            const int nodes = cells ? 0 : sp_mesh_set_nodes(mesh, set, k, node);
            for (int a = 0; a < nodes; a++)
                within[node[a]] = true;
            if (cells)
                within[set->index[k]] = true;
        }

        if (first)
            sp_stream_print(stream, "POINT_DATA %lld\n", (long long)count);
        first = false;
        sp_stream_print(stream, "SCALARS set_%s int 1\nLOOKUP_TABLE default\n", names[i]);

        for (int64_t k = 0; k < count; k++)
            sp_stream_print(stream, "%d\n", within[k]);
    }
}

int sp_vtk_write(sp_context *context, int descriptor, const sp_mesh *mesh)
{
    sp_stream stream;
    sp_pool pool = {0};
    char(*regions)[SP_NAME_LENGTH], (*names)[SP_NAME_LENGTH];
    int64_t cells = sp_mesh_element_count(mesh), within;
    int status;

    bool *of_set = sp_pool_new(&pool, cells > mesh->vertex_count ? cells : mesh->vertex_count, sizeof *of_set);
    SP_TRY(sp_allocated(context, of_set));
    SP_TRY(sp_plain_names(context, mesh, &pool, &regions));
    SP_TRY(sp_plain_set_names(context, mesh, regions, &pool, &names));

    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream,
                    "# vtk DataFile Version 3.0\nSupple\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %lld double\n",
                    (long long)mesh->vertex_count);

    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        sp_volume_write_point(&stream, mesh->vertices + 3 * v, " ");
        sp_stream_print(&stream, "\n");
    }

    sp_stream_print(&stream, "CELLS %lld %lld\n", (long long)cells, (long long)(cells + sp_mesh_node_count(mesh)));
    for (int64_t e = 0; e < cells; e++) {
        int nodes;
        sp_mesh_nodes(mesh, e, &nodes);
        sp_stream_print(&stream, "%d ", nodes);
        sp_volume_write_corners(&stream, mesh, e, 0, " ");
        sp_stream_print(&stream, "\n");
    }

    sp_stream_print(&stream, "CELL_TYPES %lld\n", (long long)cells);
    for (int64_t e = 0; e < cells; e++)
        sp_stream_print(&stream, "%d\n", sp_element_types[sp_mesh_type(mesh, e, &within)].vtk);

    sp_stream_print(&stream, "CELL_DATA %lld\nSCALARS region int 1\nLOOKUP_TABLE default\n", (long long)cells);
    for (int64_t e = 0; e < cells; e++)
        sp_stream_print(&stream, "%lld\n", (long long)mesh->region[e]);

    vtk_sets(&stream, mesh, names, true, of_set);
    vtk_sets(&stream, mesh, names, false, of_set);

    status = sp_stream_end(context, &stream);
done:
    sp_pool_free(&pool);
    return status;
}

/* ---- TetGen ---- */

static int need_tetrahedra(sp_context *context, const sp_mesh *mesh)
{
    for (int t = 0; t < SP_ELEMENT_TYPES; t++)
        if (t != SP_TET4 && mesh->block[t].count > 0)
            return sp_fail(context, SP_INPUT,
                           "the mesh has %lld elements of type %s, and TetGen's files hold "
                           "4-node tetrahedra only",
                           (long long)mesh->block[t].count, sp_element_types[t].name);
    return SP_OK;
}

int sp_tetgen_write_nodes(sp_context *context, int descriptor, const sp_mesh *mesh)
{
    sp_stream stream;
    SP_PASS(need_tetrahedra(context, mesh));
    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream, "%lld 3 0 0\n", (long long)mesh->vertex_count);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        sp_stream_print(&stream, "%lld ", (long long)v + 1);
        sp_volume_write_point(&stream, mesh->vertices + 3 * v, " ");
        sp_stream_print(&stream, "\n");
    }
    return sp_stream_end(context, &stream);
}

int sp_tetgen_write_elements(sp_context *context, int descriptor, const sp_mesh *mesh)
{
    sp_stream stream;
    SP_PASS(need_tetrahedra(context, mesh));
    sp_stream_begin(&stream, descriptor);
    sp_stream_print(&stream, "%lld 4 1\n", (long long)mesh->block[SP_TET4].count);
    for (int64_t e = 0; e < mesh->block[SP_TET4].count; e++) {
        sp_stream_print(&stream, "%lld ", (long long)e + 1);
        sp_volume_write_corners(&stream, mesh, e, 1, " ");
        sp_stream_print(&stream, " %lld\n", (long long)mesh->region[e] + 1);
    }
    return sp_stream_end(context, &stream);
}
