/* Principal angles between two bases in the mass of their mesh. */
#include "basis/angles.h"

#include "assembly/fe_space.h"
#include "tools/common/inputs.h"
#include "tools/compare/compare.h"

#include <math.h>

bool compare_angles(comparison *c)
{
    tool_mesh mesh;
    tool_columns a, b;
    sp_fe_space body;
    sp_sparse mass;
    sp_pool pool = {0};
    int64_t count;

    tool_read_mesh(c->mesh, "mesh", &mesh);
    tool_read_columns(c->a, NULL, NULL, &mesh, &a);
    tool_read_columns(c->b, NULL, NULL, &mesh, &b);
    int64_t least = a.columns.count < b.columns.count ? a.columns.count : b.columns.count;

    double *angle = tool_allocate(&pool, least, sizeof *angle);
    tool_check(sp_fe_space_new(c->context, &mesh.mesh, &body), c->mesh);
    tool_check(sp_fe_space_mass_compressed(c->context, &body, false, &mass), c->mesh);

    sp_metric metric = {.rows = a.columns.rows, .matrix = &mass, .dof = body.dof};
    tool_check(sp_principal_angles(c->context, &metric, a.columns.count, a.columns.U, b.columns.count, b.columns.U,
                                   angle, &count),
               c->a);

    compare_row(c, "angle,radian,degree");
    for (int64_t i = 0; i < count; i++) {
        compare_print(c, "principal angle %3lld: %.6e rad %12.6f degrees\n", (long long)i + 1, angle[i],
                      angle[i] * 57.29577951308232);
        compare_row(c, "%lld,%.17g,%.17g", (long long)i + 1, angle[i], angle[i] * 57.29577951308232);
    }

    double largest = angle[count - 1];
    compare_print(c, "dimensions %lld and %lld; largest angle %.6e rad\n", (long long)a.columns.count,
                  (long long)b.columns.count, largest);

    sp_pool_free(&pool);
    sp_sparse_free(&mass);
    sp_fe_space_free(&body);
    sp_columns_free(&a.columns);
    sp_columns_free(&b.columns);
    sp_mesh_free(&mesh.mesh);
    return largest <= c->absolute;
}
