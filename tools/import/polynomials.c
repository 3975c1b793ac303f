/* Reduced forces that VegaFEM wrote. */
#include "formats/import/matrix.h"
#include "reduced/mass.h"
#include "tools/common/inputs.h"
#include "tools/import/import.h"

#include <string.h>

/* What a .cub does not hold: UᵀMU and UᵀM e of the basis that it belongs to. */
static void add_mass(sp_context *context, const tool_mesh *mesh, tool_columns *basis, sp_polynomials *polynomials)
{
    sp_fe_space body;
    tool_check(sp_fe_space_new(context, &mesh->mesh, &body), mesh->path);
    tool_hold_rows(&mesh->mesh, basis);
    tool_check(sp_reduced_mass(context, &body, basis->columns.lumped, polynomials->r, basis->columns.U,
                               polynomials->mass, polynomials->gravity),
               mesh->path);
    polynomials->lumped = basis->columns.lumped;
    sp_fe_space_free(&body);
}

void import_polynomials(sp_context *context, const char *path, const import_matrix_choice *choice)
{
    static const char *const kinds[] = {"basis", "modes", "snapshots", NULL};
    tool_mesh mesh = {0};
    tool_columns basis = {0};
    sp_pool pool = {0};
    sp_cubic_force force;
    sp_polynomials polynomials;
    double asymmetry[3];
    json_t *result = tool_result_new();
    int64_t count;
    const char *bytes = tool_read_bytes(path, NULL, &pool, &count);
    tool_check(sp_cubic_parse(context, bytes, count, &force), path);
    tool_check(sp_polynomials_from_cubic(context, &force, &polynomials, asymmetry), path);
    sp_pool_free(&pool);
    if (choice->mesh)
        tool_read_mesh(choice->mesh, "mesh", &mesh);
    if (choice->basis)
        tool_read_columns(choice->basis, "basis", kinds, choice->mesh ? &mesh : NULL, &basis);
    if (choice->basis && basis.columns.count < force.r)
        tool_fail(SP_INPUT, path, "it has %lld coordinates, the basis %lld columns", (long long)force.r,
                  (long long)basis.columns.count);
    if (choice->mesh && choice->basis) {
        import_compare(context, path, &mesh, &basis, force.r, force.linear, NULL, result);
        add_mass(context, &mesh, &basis, &polynomials);
    } else
        tool_warn(
            path,
            "it holds no mass: without --mesh and --basis the reduced mass is taken as 1, and gravity does nothing");
    import_check_definite(context, path, force.r, force.linear, polynomials.mass);

    tool_output *output = tool_output_open(tool_output_path());
    json_t *meta = tool_meta_new("polynomials");
    tool_facts(meta, sp_kind_polynomials.meta, {"mesh", .text = choice->mesh ? mesh.hash : basis.columns.mesh},
               {"basis", .text = basis.hash});
    tool_check(sp_polynomials_write(context, tool_output_writer(output), meta, &polynomials), tool_output_path());
    tool_facts(result, sp_kind_polynomials.result, {"asymmetry", .count = 3, .reals = asymmetry});
    tool_output_finish(output, result);
    json_decref(meta);
    sp_polynomials_free(&polynomials);
    sp_cubic_free(&force);
    sp_columns_free(&basis.columns);
    sp_mesh_free(&mesh.mesh);
}
