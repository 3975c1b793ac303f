#include "tools/export/cubature.h"

#include "formats/cubature.h"
#include "formats/export/csv_write.h"
#include "formats/export/vtu.h"
#include "tools/common/trajectory.h"

#include <string.h>

typedef struct chosen_elements {
    sp_context *context;
    const char *path;
    sp_cubature cubature;
    char mesh_hash[SP_HASH_LENGTH];
    tool_mesh mesh; /* path NULL: none */
    sp_pool pool;
} chosen_elements;

bool tool_export_has_cubature(sp_context *context, int count, const char *const *paths)
{
    char kind[SP_KIND_LENGTH];
    bool found = false;
    for (int i = 0; i < count; i++) {
        tool_peek_kind(context, paths[i], kind);
        found |= !strcmp(kind, "cubature");
    }
    return found;
}

static void read_cubature(chosen_elements *c, const char *path)
{
    char basis[SP_HASH_LENGTH];
    sp_file file;
    if (c->path)
        tool_fail(SP_USAGE, NULL, "more than one file of kind cubature");
    c->path = path;
    tool_read(path, NULL, (const char *const[]){"cubature", NULL}, false, &file);
    tool_check(sp_cubature_read(c->context, &file, -1, &c->cubature, c->mesh_hash, basis), path);
    sp_file_free(&file);
}

static void read_files(chosen_elements *c, int count, const char *const *paths)
{
    char kind[SP_KIND_LENGTH];

    for (int i = 0; i < count; i++) {
        tool_peek_kind(c->context, paths[i], kind);
        if (!strcmp(kind, "cubature"))
            read_cubature(c, paths[i]);
        else if (!strcmp(kind, "mesh") && !c->mesh.path)
            tool_read_mesh(paths[i], NULL, &c->mesh);
        else
            tool_fail(strcmp(kind, "mesh") ? SP_INPUT : SP_USAGE, paths[i],
                      "a cubature goes with its mesh, not with %s file of kind %s",
                      strcmp(kind, "mesh") ? "a" : "another", kind);
    }

    if (c->mesh.path) {
        tool_check_hash(c->path, "mesh", c->mesh_hash, c->mesh.hash);
        tool_check(sp_cubature_check(c->context, &c->cubature, sp_mesh_element_count(&c->mesh.mesh)), c->path);
    }
}

/* ---- a table ---- */

static void name_weights(sp_stream *stream, const char *word, const sp_cubature *cubature)
{
    char name[48];
    for (int64_t j = 0; j < (cubature->modal ? cubature->r : 1); j++) {
        snprintf(name, sizeof name, cubature->modal ? "%s_q%lld" : "%s", word, (long long)j);
        sp_csv_name(stream, false, name);
    }
}

static void print_weights(sp_stream *stream, const sp_cubature *cubature, const double *weight, int64_t e)
{
    for (int64_t j = 0; j < (cubature->modal ? cubature->r : 1); j++)
        sp_csv_numbers(stream, false, 1, weight + j * cubature->count + e);
}

static void write_table(const chosen_elements *c, const char *target)
{
    const sp_cubature *cubature = &c->cubature;
    sp_stream stream;
    tool_output *output = tool_output_open(target);
    sp_stream_begin(&stream, tool_output_descriptor(output));

    sp_csv_name(&stream, true, "element");
    name_weights(&stream, "weight", cubature);
    if (cubature->nested)
        name_weights(&stream, "nested", cubature);
    sp_csv_end(&stream);

    for (int64_t e = 0; e < cubature->count; e++) {
        double number = (double)cubature->element[e];
        sp_csv_numbers(&stream, true, 1, &number);
        print_weights(&stream, cubature, cubature->weight, e);
        if (cubature->nested)
            print_weights(&stream, cubature, cubature->nested, e);
        sp_csv_end(&stream);
    }

    tool_check(sp_stream_end(c->context, &stream), target);
    tool_output_finish(output, NULL);
}

/* ---- a grid ---- */

/* [elements, columns] together in memory, as VTK has them; from [elements, columns, column major]. */
static const double *together(chosen_elements *c, const double *weight)
{
    int64_t n = c->cubature.count, columns = c->cubature.modal ? c->cubature.r : 1;
    double *to = tool_allocate_raw(&c->pool, n * columns, sizeof *to);
    for (int64_t e = 0; e < n; e++)
        for (int64_t j = 0; j < columns; j++)
            to[e * columns + j] = weight[j * n + e];
    return to;
}

/* The chosen elements with the vertices that they have; elements increase, so that types follow each other as in the
 * mesh. */
static sp_vtu make_grid(chosen_elements *c)
{
    const sp_mesh *mesh = &c->mesh.mesh;

    int64_t n = c->cubature.count,
            *corners_of = tool_allocate_raw(&c->pool, sp_mesh_width(mesh) * n, sizeof *corners_of),
            *point = tool_allocate_raw(&c->pool, mesh->vertex_count, sizeof *point), used = 0;
    int64_t *at = corners_of;
    sp_vtu vtu = {0};
    double *vertices = tool_allocate_raw(&c->pool, 3 * mesh->vertex_count, sizeof *vertices);

    memset(point, 0xff, (size_t)mesh->vertex_count * sizeof *point); /* −1 */
    for (int64_t e = 0; e < n; e++) {
        int corners;
        int64_t within;
        const int64_t *corner = sp_mesh_nodes(mesh, c->cubature.element[e], &corners);
        sp_element_block *block = &vtu.block[sp_mesh_type(mesh, c->cubature.element[e], &within)];

        if (block->count++ == 0)
            block->node = at;

        /* The first element that has a vertex gives it its number. */
        for (int a = 0; a < corners; a++) {
            if (point[corner[a]] < 0) {
                memcpy(vertices + 3 * used, mesh->vertices + 3 * corner[a], 3 * sizeof *vertices);
                point[corner[a]] = used++;
            }
            *at++ = point[corner[a]];
        }
    }

    vtu.vertex_count = used;
    vtu.vertices = vertices;
    return vtu;
}

static void write_grid(chosen_elements *c, const char *target)
{
    const sp_cubature *cubature = &c->cubature;
    int64_t *region = tool_allocate_raw(&c->pool, cubature->count, sizeof *region);
    int components = cubature->modal ? (int)cubature->r : 1;

    for (int64_t e = 0; e < cubature->count; e++)
        region[e] = c->mesh.mesh.region[cubature->element[e]];
    sp_vtu_array arrays[4] = {
        {.name = "element", .cells = true, .components = 1, .whole = cubature->element},
        {.name = "region", .cells = true, .components = 1, .whole = region},
        {.name = "weight", .cells = true, .components = components, .real = together(c, cubature->weight)}};

    sp_vtu vtu = make_grid(c);
    vtu.arrays = arrays;
    vtu.array_count = 3;
    if (cubature->nested)
        arrays[vtu.array_count++] = (sp_vtu_array){
            .name = "nested", .cells = true, .components = components, .real = together(c, cubature->nested)};

    tool_output *output = tool_output_open(target);
    tool_check(sp_vtu_write(c->context, tool_output_descriptor(output), &vtu), target);
    tool_output_finish(output, NULL);
}

void tool_export_cubature(sp_context *context, bool vtu, int count, const char *const *paths, const char *target)
{
    chosen_elements c = {.context = context};
    read_files(&c, count, paths);
    if (vtu && !c.mesh.path)
        tool_fail(SP_USAGE, NULL, "VTU needs the mesh: name its file too");
    if (vtu)
        write_grid(&c, target);
    else
        write_table(&c, target);
    sp_cubature_free(&c.cubature);
    sp_mesh_free(&c.mesh.mesh);
    sp_pool_free(&c.pool);
}
