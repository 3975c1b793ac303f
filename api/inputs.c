#include "api/inputs.h"

#include "formats/certificate.h"
#include "formats/cubature.h"
#include "formats/mesh.h"
#include "formats/polynomials.h"
#include "reduced/mass.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double NOT_ORTHONORMAL = 2e-5;

int sp_input_mesh(sp_source *source, const char *path, const char *key, sp_mesh_input *mesh)
{
    static const char *const kinds[] = {"mesh", NULL};
    sp_file file;
    int status;
    SP_TRY(source->file(source, path, key, kinds, false, &file));
    mesh->path = path;
    memcpy(mesh->hash, file.hash, sizeof mesh->hash);
    status = sp_mesh_read(source->context, &file, &mesh->mesh);
    sp_file_free(&file);
    return sp_source_about(source, path, status);
done:
    return status;
}

int sp_input_made_from(sp_source *source, const char *path, const char *what, const char *recorded,
                       const char *expected)
{
    if (!*recorded || !*expected || !strcmp(recorded, expected))
        return SP_OK;
    return sp_source_fail(source, SP_INPUT, path, "it was made from another %s (%.12s…, this one is %.12s…)", what,
                          recorded, expected);
}

int sp_input_same_mass(sp_source *source, const char *path, bool lumped, bool basis_lumped, const char *basis)
{
    if (!basis_lumped || lumped)
        return SP_OK;
    return sp_source_fail(source, SP_INPUT, path,
                          "it has the consistent mass, the basis %s goes by the lumped one: make it anew", basis);
}

static bool has_input(const json_t *meta, const char *option)
{
    size_t i;
    const json_t *input;
    json_array_foreach(json_object_get(meta, "inputs"), i, input)
    {
        const char *by = json_string_value(json_object_get(input, "option"));
        if (by && !strcmp(by, option))
            return true;
    }
    return false;
}

int sp_input_columns(sp_source *source, const char *path, const char *key, const char *const *kinds,
                     const sp_mesh_input *mesh, sp_columns_input *columns)
{
    static const char *const all[] = {"modes", "derivatives", "snapshots", "basis", NULL};
    sp_file file;
    int status;

    SP_TRY(source->file(source, path, key, kinds ? kinds : all, true, &file));
    columns->path = path;
    snprintf(columns->kind, sizeof columns->kind, "%s", *sp_file_kind(&file) ? sp_file_kind(&file) : "snapshots");
    memcpy(columns->hash, file.hash, sizeof columns->hash);

    /* The origin is compared before the sizes, since it is the reason where they differ. */
    columns->held = false;
    columns->other_mass = has_input(file.meta, "mass");
    const char *made_from = mesh ? json_string_value(json_object_get(file.meta, "mesh")) : NULL;
    if (made_from)
        status = sp_input_made_from(source, path, "mesh", made_from, mesh->hash);
    if (status == SP_OK) {
        status = sp_columns_read(source->context, &file, mesh ? 3 * mesh->mesh.vertex_count : -1, &columns->columns);
        if (status == SP_OK)
            status = sp_columns_whole(source->context, &columns->columns);
        status = sp_source_about(source, path, status);
    }

    sp_file_free(&file);
    if (status == SP_OK && mesh && !*columns->columns.mesh)
        sp_source_warn(source, path, "it does not say which mesh it belongs to");
done:
    return status;
}

void sp_input_fix_rows(sp_source *source, const sp_mesh *mesh, sp_columns_input *columns)
{
    const double largest = sp_mesh_fix(mesh, columns->columns.count, columns->columns.U);
    columns->held |= largest > 0;
    if (largest > 0)
        sp_source_warn(source, columns->path, "it moves fixed vertices (by up to %.3g): those rows are taken as 0",
                       largest);
}

int sp_input_check_modes(sp_source *source, const sp_mesh_input *mesh, const sp_fe_space *space,
                         const sp_columns_input *file)
{
    const sp_columns *columns = &file->columns;
    const int64_t k = columns->count;
    sp_pool pool = {0};
    double error = 0;
    int status = SP_OK;
    if (strcmp(file->kind, "modes") || file->other_mass || file->held || columns->ritz)
        return SP_OK;

    double *gram = sp_pool_raw(&pool, k * k, sizeof *gram);
    if (!gram)
        status = sp_source_fail(source, SP_SYSTEM, file->path, "out of memory");
    SP_TRY(status);
    SP_TRY(sp_source_about(source, mesh->path,
                           sp_reduced_mass(source->context, space, columns->lumped, k, columns->U, gram, NULL)));

    for (int64_t i = 0; i < k * k; i++)
        error = fmax(error, fabs(gram[i] - (i % (k + 1) == 0)));
    if (!(error <= NOT_ORTHONORMAL))
        status = sp_source_fail(source, SP_INPUT, file->path,
                                "its modes are not orthonormal in the %s mass of %s: U'MU is off the identity by %.2g; "
                                "they are of another mesh, or one of the files was changed",
                                columns->lumped ? "lumped" : "consistent", mesh->path, error);
done:
    sp_pool_free(&pool);
    return status;
}

/* What polynomials and cubatures record of their origin. */
static int check_origin(sp_source *source, const char *path, const sp_mesh_input *mesh, const sp_columns_input *basis,
                        const char *of_mesh, const char *of_basis, bool lumped)
{
    SP_PASS(sp_input_made_from(source, path, "mesh", of_mesh, mesh->hash));
    SP_PASS(sp_input_made_from(source, path, "basis", of_basis, basis->hash));
    return sp_input_same_mass(source, path, lumped, basis->columns.lumped, basis->path);
}

int sp_input_polynomials(sp_source *source, const char *path, const char *key, const sp_mesh_input *mesh,
                         const sp_columns_input *basis, sp_polynomials *polynomials)
{
    static const char *const kinds[] = {"polynomials", NULL};
    char of_mesh[SP_HASH_LENGTH], of_basis[SP_HASH_LENGTH];
    sp_file file;
    int status;
    SP_TRY(source->file(source, path, key, kinds, false, &file));
    status = sp_polynomials_read(source->context, &file, polynomials, of_mesh, of_basis);
    sp_file_free(&file);
    SP_TRY(sp_source_about(source, path, status));
    status = check_origin(source, path, mesh, basis, of_mesh, of_basis, polynomials->lumped);
    if (status != SP_OK)
        sp_polynomials_free(polynomials);
done:
    return status;
}

int sp_input_certificate(sp_source *source, const char *path, const char *key, const sp_mesh_input *mesh,
                         const sp_columns_input *basis, sp_certificate *certificate)
{
    static const char *const kinds[] = {"certificate", NULL};
    char of_mesh[SP_HASH_LENGTH], of_basis[SP_HASH_LENGTH];
    sp_file file;
    int status;
    SP_TRY(source->file(source, path, key, kinds, false, &file));
    status = sp_certificate_read(source->context, &file, mesh->mesh.vertex_count, certificate, of_mesh, of_basis);
    sp_file_free(&file);
    SP_TRY(sp_source_about(source, path, status));
    status = check_origin(source, path, mesh, basis, of_mesh, of_basis, certificate->lumped);
    if (status != SP_OK)
        sp_certificate_free(certificate);
done:
    return status;
}

int sp_input_cubature(sp_source *source, const char *path, const char *key, const sp_mesh_input *mesh,
                      const sp_columns_input *basis, sp_cubature *cubature)
{
    static const char *const kinds[] = {"cubature", NULL};
    char of_mesh[SP_HASH_LENGTH], of_basis[SP_HASH_LENGTH];
    sp_file file;
    int status;
    SP_TRY(source->file(source, path, key, kinds, false, &file));
    status = sp_cubature_read(source->context, &file, sp_mesh_element_count(&mesh->mesh), cubature, of_mesh, of_basis);
    sp_file_free(&file);
    SP_TRY(sp_source_about(source, path, status));
    status = check_origin(source, path, mesh, basis, of_mesh, of_basis, cubature->lumped);
    if (status != SP_OK)
        sp_cubature_free(cubature);
done:
    return status;
}

int sp_input_basis(sp_source *source, enum sp_model_kind kind, const char *path, const char *key,
                   const sp_mesh_input *mesh, sp_columns_input *basis)
{
    static const char *const modes[] = {"modes", NULL}, *const any[] = {"basis", "modes", "snapshots", NULL};
    const int status = sp_input_columns(source, path, key, kind == SP_MODEL_MODAL ? modes : any, mesh, basis);
    if (status != SP_OK)
        return status;
    if (kind == SP_MODEL_MODAL && !basis->columns.eigenvalue)
        return sp_source_fail(source, SP_INPUT, path,
                              "it is not a file of modes: mode superposition needs their eigenvalues");
    sp_input_fix_rows(source, &mesh->mesh, basis);
    return SP_OK;
}

int sp_input_rank(sp_source *source, const char *path, int64_t available, int64_t wanted, const sp_columns_input *basis,
                  int64_t *r)
{
    *r = wanted ? wanted : available;
    if (*r > available)
        return sp_source_fail(source, SP_USAGE, path, "%lld coordinates are wanted, it has %lld", (long long)*r,
                              (long long)available);
    if (*r > basis->columns.count)
        return sp_source_fail(source, SP_INPUT, basis->path, "it has %lld columns, the model %lld coordinates",
                              (long long)basis->columns.count, (long long)*r);
    return SP_OK;
}

int sp_input_force(sp_source *source, enum sp_model_kind kind, const char *path, const char *key, int64_t wanted,
                   const sp_mesh_input *mesh, const sp_columns_input *basis, sp_polynomials *polynomials,
                   sp_cubature *cubature, int64_t *r)
{
    int status = SP_OK;
    int64_t available = basis->columns.count;

    if (kind == SP_MODEL_POLYNOMIALS) {
        SP_TRY(sp_input_polynomials(source, path, key, mesh, basis, polynomials));
        available = polynomials->r;
    } else if (kind == SP_MODEL_CUBATURE) {
        SP_TRY(sp_input_cubature(source, path, key, mesh, basis, cubature));
        available = cubature->r;
    } else
        path = basis->path;
    status = sp_input_rank(source, path, available, wanted, basis, r);
done:
    return status;
}

bool sp_input_damping(const sp_mesh *mesh, double damping[2])
{
    const sp_material *m = mesh->materials;
    damping[0] = m[0].damping_mass;
    damping[1] = m[0].damping_stiffness;
    for (int64_t i = 1; i < mesh->material_count; i++)
        if (m[i].damping_mass != damping[0] || m[i].damping_stiffness != damping[1])
            return false;
    return true;
}
