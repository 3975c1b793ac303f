/* Linear interface models: a JSON description with reduced matrices beside it, as simexport and other programs write
 * it. */
#include "formats/import/matrix.h"
#include "tools/common/inputs.h"
#include "tools/import/import.h"

#include <math.h>
#include <string.h>

/* Symmetric within this part of the largest entry, as readers of polynomials require. */
static const double SYMMETRY = 1e-9;

/* A file that the description names is in its folder. */
static const char *read_beside(const char *path, const char *name, sp_pool *pool, int64_t *count, char full[4096])
{
    const char *slash = strrchr(path, '/');
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    if (*name == '/' || strstr(name, "..") || snprintf(full, 4096, "%.*s%s", folder, path, name) >= 4096)
        tool_fail(SP_INPUT, path, "the file \"%.200s\" that it names is not beside it", name);
    return tool_read_bytes(full, "matrix", pool, count);
}

/* A matrix [rows, columns] that the description names, as .npy or, without that, Matrix Market. */
static double *read_named(sp_context *context, const char *path, const json_t *matrices, const char *key, int64_t rows,
                          int64_t columns, sp_pool *pool)
{
    const json_t *files = json_object_get(matrices, key), *npy = json_object_get(files, "npy"),
                 *market = json_object_get(files, "matrix_market");
    char full[4096];
    int64_t count;
    sp_matrix matrix;
    if (!json_is_string(npy) && !json_is_string(market))
        tool_fail(SP_INPUT, path, "matrices: \"%s\" names no file under \"npy\" or \"matrix_market\"", key);
    const char *bytes = read_beside(path, json_string_value(npy ? npy : market), pool, &count, full);
    tool_check((npy ? sp_matrix_parse_npy : sp_matrix_parse_market)(context, bytes, count, pool, &matrix), full);
    if (matrix.rows != rows || matrix.columns != columns)
        tool_fail(SP_INPUT, full, "it is %lld by %lld, expected %lld by %lld", (long long)matrix.rows,
                  (long long)matrix.columns, (long long)rows, (long long)columns);
    return matrix.value;
}

static void check_symmetric(const char *path, const char *key, int64_t r, double *A)
{
    double largest = 0, off = 0;
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j <= i; j++) {
            largest = fmax(largest, fabs(A[j * r + i]));
            off = fmax(off, fabs(A[j * r + i] - A[i * r + j]));
        }
    if (!(off <= SYMMETRY * largest))
        tool_fail(SP_INPUT, path, "the %s matrix is symmetric within %.1e of its largest entry only", key,
                  largest > 0 ? off / largest : 0);
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < i; j++)
            A[j * r + i] = A[i * r + j] = 0.5 * (A[j * r + i] + A[i * r + j]);
}

static json_t *read_description(sp_context *context, const char *path, sp_pool *pool, int64_t *r)
{
    int64_t length;
    json_error_t error;
    const char *format, *version;
    char *text = tool_read_json(path, NULL, pool, &length);
    json_t *model = sp_json_load(text, length, &error);
    if (!json_is_object(model))
        tool_fail(SP_INPUT, path, "line %d: %s", model ? 1 : error.line, model ? "it is no JSON object" : error.text);
    tool_check(sp_json_text(context, model, "format", &format), path);
    tool_check(sp_json_text(context, model, "format_version", &version), path);
    if (strcmp(format, "supple superelement") || strncmp(version, "1.", 2))
        tool_fail(SP_INPUT, path, "its format is \"%.40s\" of version %.10s, expected \"supple superelement\" of 1.x",
                  format, version);
    tool_check(sp_json_integer(context, model, "coordinates", 1, 2000, r), path);
    return model;
}

/* The linear force K q as polynomials, with mass and gravity. */
static void make_polynomials(sp_context *context, const char *path, const json_t *model, int64_t r,
                             sp_polynomials *polynomials)
{
    sp_pool pool = {0};
    sp_cubic_force force;
    double asymmetry[3];
    const json_t *matrices = json_object_get(model, "matrices");
    double *mass = read_named(context, path, matrices, "mass", r, r, &pool),
           *stiffness = read_named(context, path, matrices, "stiffness", r, r, &pool),
           *gravity = json_object_get(matrices, "gravity") ? read_named(context, path, matrices, "gravity", r, 3, &pool)
                                                           : tool_allocate(&pool, 3 * r, sizeof *gravity);
    check_symmetric(path, "mass", r, mass);
    check_symmetric(path, "stiffness", r, stiffness);
    tool_check(sp_cubic_new(context, r, &force), path);
    memcpy(force.linear, stiffness, (size_t)(r * r) * sizeof *stiffness);
    tool_check(sp_polynomials_from_cubic(context, &force, polynomials, asymmetry), path);
    memcpy(polynomials->mass, mass, (size_t)(r * r) * sizeof *mass);
    for (int64_t i = 0; i < 3 * r; i++)
        polynomials->gravity[i] = gravity[i % 3 * r + i / 3];
    sp_cubic_free(&force);
    sp_pool_free(&pool);
}

void import_superelement(sp_context *context, const char *path, const import_matrix_choice *choice)
{
    tool_mesh mesh = {0};
    tool_columns basis = {0};
    sp_pool pool = {0};
    sp_polynomials polynomials;
    char of_mesh[SP_HASH_LENGTH], of_basis[SP_HASH_LENGTH];
    int64_t r;
    json_t *model = read_description(context, path, &pool, &r);
    tool_check(sp_json_hash(context, model, "mesh", of_mesh), path);
    tool_check(sp_json_hash(context, model, "basis", of_basis), path);
    make_polynomials(context, path, model, r, &polynomials);
    if (choice->mesh)
        tool_read_mesh(choice->mesh, "mesh", &mesh);
    if (choice->basis)
        tool_read_columns(choice->basis, "basis", NULL, choice->mesh ? &mesh : NULL, &basis);
    if (choice->basis && basis.columns.count != r)
        tool_fail(SP_INPUT, path, "it has %lld coordinates, the basis %lld columns", (long long)r,
                  (long long)basis.columns.count);
    tool_check_hash(path, "mesh", of_mesh, mesh.hash);
    tool_check_hash(path, "basis", of_basis, basis.hash);
    polynomials.lumped = basis.columns.lumped;
    tool_say("polynomials: %lld coordinates, linear", (long long)r);
    tool_output *output = tool_output_open(tool_output_path());
    json_t *meta = tool_meta_new("polynomials");
    json_object_set_new(meta, "mesh", json_string(of_mesh));
    json_object_set_new(meta, "basis", json_string(of_basis));
    tool_check(sp_polynomials_write(context, tool_output_writer(output), meta, &polynomials), tool_output_path());
    tool_output_finish(output, tool_result_new());
    json_decref(meta);
    json_decref(model);
    sp_polynomials_free(&polynomials);
    sp_columns_free(&basis.columns);
    sp_mesh_free(&mesh.mesh);
    sp_pool_free(&pool);
}
