#include "tools/common/inputs.h"

#include "formats/import/matrix.h"
#include "mesh/cut.h"

#include "tools/common/internal.h"

#include <math.h>
#include <string.h>

/* ---- the readers of the library ---- */

static int read_file(sp_source *source, const char *path, const char *key, const char *const *kinds, bool foreign,
                     sp_file *file)
{
    (void)source;
    tool_read(path, key, kinds, foreign, file);
    return SP_OK;
}

static int read_text(sp_source *source, const char *path, const char *key, bool json, sp_pool *pool, int64_t *count,
                     char **text)
{
    (void)source;
    *text = (json ? tool_read_json : tool_read_bytes)(path, key, pool, count);
    if (key && !*key) { /* an argument that is text: its reader records it before the files that it names */
        char hash[SP_HASH_LENGTH];
        sp_hash_bytes(*count, *text, hash);
        tool_record_input(path, NULL, hash, NULL);
    }
    return SP_OK;
}

static void warn(sp_source *source, const char *path, const char *text)
{
    (void)source;
    tool_warn(path, "%s", text);
}

static void named(sp_source *source, const char *path)
{
    (void)source;
    tool_claim_named(path, false);
}

static sp_source files; /* of the readers */

sp_source *tool_source(void)
{
    files = (sp_source){.context = &tool.context, .file = read_file, .text = read_text, .warn = warn, .named = named};
    return &files;
}

void tool_check_source(int status)
{
    tool_check(status, files.failed);
}

void tool_read_mesh(const char *path, const char *option, tool_mesh *mesh)
{
    tool_check_source(sp_input_mesh(tool_source(), path, option, mesh));
}

void tool_read_cut(const char *path, const char *option, const tool_mesh *parent, tool_mesh *cut, int64_t **origin)
{
    static const char *const kinds[] = {"mesh", NULL};
    sp_file file;
    char cut_from[SP_HASH_LENGTH];
    int64_t count;

    tool_read(path, option, kinds, false, &file);
    cut->path = path;
    memcpy(cut->hash, file.hash, sizeof cut->hash);

    tool_check(sp_mesh_read_origin(&tool.context, &file, &file.members.pool, cut_from, &count, origin), path);
    if (!*origin)
        tool_fail(SP_INPUT, path, "it does not say which mesh it was cut from");
    tool_check_hash(path, "mesh", cut_from, parent->hash);

    tool_check(sp_mesh_read(&tool.context, &file, &cut->mesh), path); /* takes the pool, and origin with it */
    sp_file_free(&file);

    if (count != cut->mesh.vertex_count)
        tool_fail(SP_INPUT, path, "origin: it has %lld entries, the mesh %lld vertices", (long long)count,
                  (long long)cut->mesh.vertex_count);
    tool_check(sp_mesh_check_cut(&tool.context, &parent->mesh, &cut->mesh, *origin), path);
}

void tool_check_hash(const char *path, const char *what, const char *recorded, const char *expected)
{
    tool_check_source(sp_input_made_from(tool_source(), path, what, recorded, expected));
}

void tool_read_columns(const char *path, const char *option, const char *const *kinds, const tool_mesh *mesh,
                       tool_columns *columns)
{
    tool_check_source(sp_input_columns(tool_source(), path, option, kinds, mesh, columns));
}

double tool_fixed_rows(const sp_mesh *mesh, const sp_columns *columns)
{
    double largest = 0;
    for (int64_t c = 0; c < columns->count; c++)
        for (int64_t i = 0; i < mesh->fixed_count; i++)
            for (int axis = 0; axis < 3; axis++)
                if ((mesh->fixed_axes ? mesh->fixed_axes[i] : 7) >> axis & 1)
                    largest = fmax(largest, fabs(columns->U[c * columns->rows + 3 * mesh->fixed[i] + axis]));
    return largest;
}

void tool_check_modes(const tool_mesh *mesh, const sp_fe_space *space, const tool_columns *columns)
{
    tool_check_source(sp_input_check_modes(tool_source(), mesh, space, columns));
}

void tool_hold_rows(const sp_mesh *mesh, tool_columns *file)
{
    sp_input_fix_rows(tool_source(), mesh, file);
}

void tool_read_factor(sp_context *context, const char *path, sp_mesh *mesh)
{
    sp_pool pool = {0};
    sp_matrix matrix;
    int64_t count, elements = sp_mesh_element_count(mesh);
    if (!path)
        return;

    char *bytes = tool_read_bytes(path, "factor", &pool, &count);
    tool_check(sp_matrix_parse_npy_column(context, bytes, count, &pool, &matrix), path);

    if (matrix.rows != elements || matrix.columns > 2)
        tool_fail(SP_INPUT, path,
                  "its shape is (%lld, %lld), the mesh has %lld elements: (%lld) or (%lld, 2) is expected",
                  (long long)matrix.rows, (long long)matrix.columns, (long long)elements, (long long)elements,
                  (long long)elements);

    /* A single column is the factor of both. */
    mesh->factor = tool_allocate_raw(&mesh->pool, 2 * elements, sizeof *mesh->factor);
    for (int64_t e = 0; e < elements; e++)
        for (int i = 0; i < 2; i++)
            mesh->factor[2 * e + i] = matrix.value[matrix.columns == 2 ? i * elements + e : e];

    sp_pool_free(&pool);
}

sp_helix *tool_read_materials(sp_context *context, const char *path, sp_pool *pool, sp_mesh *mesh)
{
    sp_pool scratch = {0};
    int64_t length;
    json_error_t error;
    if (!path)
        return NULL;

    char *text = tool_read_json(path, "materials", &scratch, &length);
    json_t *json = sp_json_load(text, length, &error);
    if (!json)
        tool_fail(SP_INPUT, path, "line %d: %s", error.line, error.text);

    sp_helix *helices = tool_allocate(pool, mesh->material_count, sizeof *helices);
    tool_check(sp_materials_edit(context, json, mesh->material_count, mesh->materials, helices), path);

    json_decref(json);
    sp_pool_free(&scratch);
    return helices;
}

/* Fibres along the helices of regions. path: the file of --fibre, which cannot give other directions too. */
static void wind_fibres(sp_context *context, const char *path, const sp_helix *helices, sp_mesh *mesh)
{
    for (int64_t m = 0; m < mesh->material_count; m++) {
        const double *axis = helices[m].axis;
        if (axis[0] == 0 && axis[1] == 0 && axis[2] == 0)
            continue;
        if (path)
            tool_fail(SP_USAGE, NULL, "--fibre: region %s has a helix already", mesh->materials[m].name);
        tool_check(sp_mesh_wind(context, mesh, m, &helices[m]), NULL);
    }
}

void tool_read_fibre(sp_context *context, const char *path, const sp_helix *helices, sp_mesh *mesh)
{
    sp_pool pool = {0};
    sp_matrix matrix;
    int64_t count, elements = sp_mesh_element_count(mesh);

    if (helices)
        wind_fibres(context, path, helices, mesh);

    if (!path)
        return;

    char *bytes = tool_read_bytes(path, "fibre", &pool, &count);
    tool_check(sp_matrix_parse_npy(context, bytes, count, &pool, &matrix), path);
    if (matrix.rows != elements || matrix.columns != 3)
        tool_fail(SP_INPUT, path, "its shape is (%lld, %lld), the mesh has %lld elements: (%lld, 3) is expected",
                  (long long)matrix.rows, (long long)matrix.columns, (long long)elements, (long long)elements);

    /* sp_matrix is column major. */
    mesh->fibre = tool_allocate_raw(&mesh->pool, elements, 3 * sizeof *mesh->fibre);
    for (int64_t e = 0; e < elements; e++)
        for (int i = 0; i < 3; i++)
            mesh->fibre[3 * e + i] = matrix.value[i * elements + e];

    sp_pool_free(&pool);
}

void tool_check_lumping(const char *path, bool lumped, bool basis_lumped, const char *basis)
{
    tool_check_source(sp_input_same_mass(tool_source(), path, lumped, basis_lumped, basis));
}

bool tool_columns_sized(const tool_columns *columns)
{
    return !strcmp(columns->kind, "snapshots") && !columns->columns.factor;
}
