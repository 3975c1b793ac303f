/* Linear interface models: a JSON description with reduced matrices beside it, as simexport and other programs write
 * it. */
#include "formats/import/superelement.h"
#include "tools/common/inputs.h"
#include "tools/import/import.h"

#include <string.h>

/* A matrix [rows, columns] of a file beside the description, as .npy or, without that, Matrix Market. */
static double *read_named(sp_context *context, const char *path, const sp_superelement_file *file, int64_t rows,
                          int64_t columns, sp_pool *pool)
{
    const char *slash = strrchr(path, '/'), *name = file->npy ? file->npy : file->matrix_market;
    const int folder = slash ? (int)(slash - path) + 1 : 0;
    char full[8192];
    int64_t count;
    double *matrix;
    if (snprintf(full, sizeof full, "%.*s%s", folder, path, name) >= (int)sizeof full)
        tool_fail(SP_INPUT, path, "the path of the file that it names is too long");
    const char *bytes = tool_read_bytes(full, "matrix", pool, &count);
    tool_check(sp_superelement_matrix(context, bytes, count, file->npy, rows, columns, pool, &matrix), full);
    return matrix;
}

/* The linear force K q as polynomials, with mass and gravity. K is in the pool. */
static void make_polynomials(sp_context *context, const char *path, const sp_superelement_description *model,
                             double **K, sp_pool *pool, sp_polynomials *polynomials)
{
    const int64_t r = model->r;
    double *mass = read_named(context, path, &model->mass, r, r, pool),
           *stiffness = read_named(context, path, &model->stiffness, r, r, pool),
           *gravity = model->has_gravity ? read_named(context, path, &model->gravity, r, 3, pool) : NULL;
    tool_check(sp_superelement_polynomials(context, r, mass, stiffness, gravity, polynomials), path);
    import_check_definite(context, path, r, stiffness, mass);
    *K = stiffness;
}

void import_superelement(sp_context *context, const char *path, const import_matrix_choice *choice)
{
    tool_mesh mesh = {0};
    tool_columns basis = {0};
    sp_pool pool = {0};
    sp_polynomials polynomials;
    sp_superelement_description model;
    json_t *result = tool_result_new();
    double *stiffness;
    int64_t length;

    const char *text = tool_read_json(path, NULL, &pool, &length);
    tool_check(sp_superelement_describe(context, text, length, &model), path);
    const int64_t r = model.r;
    make_polynomials(context, path, &model, &stiffness, &pool, &polynomials);

    if (choice->mesh)
        tool_read_mesh(choice->mesh, "mesh", &mesh);
    if (choice->basis)
        tool_read_columns(choice->basis, "basis", NULL, choice->mesh ? &mesh : NULL, &basis);
    if (choice->basis && basis.columns.count != r)
        tool_fail(SP_INPUT, path, "it has %lld coordinates, the basis %lld columns", (long long)r,
                  (long long)basis.columns.count);

    tool_check_hash(path, "mesh", model.mesh, mesh.hash);
    tool_check_hash(path, "basis", model.basis, basis.hash);
    polynomials.lumped = basis.columns.lumped;

    if (choice->mesh && choice->basis)
        import_compare(context, path, &mesh, &basis, r, stiffness, polynomials.mass, result);
    tool_say("polynomials: %lld coordinates, linear", (long long)r);

    tool_output *output = tool_output_open(tool_output_path());
    json_t *meta = tool_meta_new("polynomials");
    tool_facts(meta, sp_kind_polynomials.meta, {"mesh", .text = model.mesh}, {"basis", .text = model.basis});
    tool_check(sp_polynomials_write(context, tool_output_writer(output), meta, &polynomials), tool_output_path());
    tool_output_finish(output, result);
    json_decref(meta);

    sp_superelement_description_free(&model);
    sp_polynomials_free(&polynomials);
    sp_columns_free(&basis.columns);
    sp_mesh_free(&mesh.mesh);
    sp_pool_free(&pool);
}
