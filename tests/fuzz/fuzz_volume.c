/* The readers of volumetric meshes. The first byte selects the format: 0 .veg, 1 .msh, 2 .inp, 3 .bou, 4 .interp
 * (against a small mesh), 5 .mesh, 6 .ele, 7 .vtk, 8 .vtu, 9 .mphtxt; included files are the bytes after the first zero
 * byte. Meshes that come out are walked in full, and those that pass sp_mesh_check go through every writer. */
#include "formats/export/volume_write.h"
#include "formats/import/volume.h"

#include <fcntl.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct included {
    const char *bytes;
    int64_t count;
};

static int open_included(void *data, sp_context *context, const char *name, const char **bytes, int64_t *count)
{
    struct included *included = data;
    if (strlen(name) > 200)
        return sp_fail(context, SP_INPUT, "no such file");
    *bytes = included->bytes;
    *count = included->count;
    return SP_OK;
}

/* Reads everything, so that the sanitizers see wrong sizes; aborts on indices that the readers promise to be in range.
 */
static void walk(const sp_mesh *mesh)
{
    double sum = 0;
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
        sum += mesh->vertices[i];
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            if (node[a] < 0 || node[a] >= mesh->vertex_count)
                __builtin_trap();
        if (mesh->region[e] < 0 || mesh->region[e] >= mesh->material_count)
            __builtin_trap();
    }
    for (int64_t i = 0; i < mesh->fixed_count; i++)
        if (mesh->fixed[i] < 0 || mesh->fixed[i] >= mesh->vertex_count || (i && mesh->fixed[i] <= mesh->fixed[i - 1]) ||
            !mesh->fixed_axes[i] || mesh->fixed_axes[i] > 7)
            __builtin_trap();
    for (int64_t i = 0; i < mesh->material_count; i++)
        if (!mesh->materials[i].name[0] || strnlen(mesh->materials[i].name, SP_NAME_LENGTH) == SP_NAME_LENGTH)
            __builtin_trap();
    for (int64_t v = 0; v < mesh->surface.vertex_count; v++)
        if (mesh->surface.element[v] < 0 || mesh->surface.element[v] >= sp_mesh_element_count(mesh))
            __builtin_trap();
    if (sum != sum)
        __builtin_trap();
}

/* Writes to nowhere: the writers may refuse a mesh with a message. */
static void write_all(const sp_mesh *mesh)
{
    static int (*const writers[])(sp_context *, int, const sp_mesh *) = {
        sp_medit_write, sp_vtk_write, sp_tetgen_write_nodes, sp_tetgen_write_elements,
        sp_inp_write,   sp_veg_write, sp_bou_write,          sp_interp_write};
    static int nowhere = -1;
    sp_context context = sp_context_default();
    if (nowhere < 0)
        nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (sp_mesh_check(&context, mesh, 1) != SP_OK)
        return;
    for (int i = -2; i < (int)(sizeof writers / sizeof writers[0]); i++) {
        context = sp_context_default();
        int status =
            i < 0 ? sp_msh_write(&context, nowhere, i == -2 ? 2 : 4, mesh) : writers[i](&context, nowhere, mesh);
        if (status != SP_OK && (status != SP_INPUT || !context.message[0]))
            __builtin_trap();
    }
    (void)sp_veg_cubes(mesh);
}

/* A hexahedron, and a tetrahedron on one of its edges. */
static int small_mesh(sp_context *context, sp_mesh *mesh)
{
    static const double vertices[30] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1,
                                        1, 0, 1, 1, 1, 1, 0, 1, 1, 2, 0, 0, 2, 1, 0};
    static const int64_t hex[8] = {0, 1, 2, 3, 4, 5, 6, 7}, tet[4] = {1, 2, 8, 9};
    *mesh = (sp_mesh){.vertex_count = 10, .block[SP_HEX8].count = 1, .block[SP_TET4].count = 1, .material_count = 1};
    mesh->vertices = sp_pool_copy(&mesh->pool, vertices, 30, sizeof *vertices);
    mesh->block[SP_HEX8].node = sp_pool_copy(&mesh->pool, hex, 8, sizeof *hex);
    mesh->block[SP_TET4].node = sp_pool_copy(&mesh->pool, tet, 4, sizeof *tet);
    mesh->region = sp_pool_new(&mesh->pool, 2, sizeof *mesh->region);
    mesh->materials = sp_pool_new(&mesh->pool, 1, sizeof *mesh->materials);
    if (mesh->pool.failed)
        return sp_fail_memory(context);
    mesh->materials[0].name[0] = 'a';
    return SP_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const sp_material material = {
        .name = "default", .law = SP_LAW_STVK, .density = 1000, .young = 1e6, .poisson = 0.3};
    static const double surface[6] = {0.5, 0.5, 0.5, 1.5, 0.5, 0};
    static const int64_t triangle[3] = {0, 1, 1};
    if (size < 1)
        return 0;
    sp_context context = sp_context_default();
    sp_mesh mesh = {0};
    sp_notes notes;
    sp_nodal_loads loads;
    int64_t count = (int64_t)size - 1, fixed_count, *fixed, *id;
    const char *text = (const char *)data + 1, *zero = memchr(text, 0, (size_t)count);
    struct included included = {zero ? zero + 1 : text, zero ? text + count - zero - 1 : 0};
    sp_includes includes = {open_included, &included};
    int status;
    switch (data[0] % 10) {
    case 0:
        status = sp_volume_parse_veg(&context, text, zero ? zero - text : count, &includes, &mesh, &notes);
        break;
    case 1:
        status = sp_volume_parse_msh(&context, text, count, &material, &mesh, &notes);
        break;
    case 2:
        status = sp_volume_parse_inp(&context, text, zero ? zero - text : count, &includes, &material, &mesh, &id,
                                     &loads, &notes);
        for (int64_t i = 0; status == SP_OK && i < loads.count; i++)
            if (loads.vertex[i] < 0 || loads.vertex[i] >= mesh.vertex_count || loads.component[i] < 0 ||
                loads.component[i] > 2)
                __builtin_trap();
        break;
    case 3:
        status = sp_volume_parse_bou(&context, text, count, &mesh.pool, &fixed_count, &fixed);
        for (int64_t i = 0; status == SP_OK && i < fixed_count; i++)
            if (fixed[i] < 0 || (i && fixed[i] <= fixed[i - 1]))
                __builtin_trap();
        break;
    case 5:
        status = sp_volume_parse_medit(&context, text, count, &material, &mesh, &notes);
        break;
    case 6:
        status = sp_volume_parse_tetgen(&context, "a.ele", text, zero ? zero - text : count, &includes, &material,
                                        &mesh, &notes);
        break;
    case 7:
        status = sp_volume_parse_vtk(&context, text, count, &material, &mesh, &notes);
        break;
    case 8:
        status = sp_volume_parse_vtu(&context, text, count, &material, &mesh, &notes);
        break;
    case 9:
        status = sp_volume_parse_comsol(&context, text, count, &material, &mesh, &notes);
        break;
    default:
        status = small_mesh(&context, &mesh);
        if (status == SP_OK)
            status = sp_volume_parse_interp(&context, text, count, 2, surface, 1, triangle, &mesh);
    }
    if (status != SP_OK && (status != SP_INPUT || !context.message[0]))
        __builtin_trap();
    walk(&mesh);
    if (status == SP_OK)
        write_all(&mesh);
    sp_mesh_free(&mesh);
    return 0;
}
