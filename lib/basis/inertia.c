#include "basis/inertia.h"

const char *const sp_inertia_names[SP_INERTIA_FIELDS] = {"x",  "y",  "z",  "rx", "ry", "rz",
                                                         "xx", "yy", "zz", "yz", "zx", "xy"};

static void field_at(int field, const double X[3], double a[3])
{
    a[0] = a[1] = a[2] = 0;
    if (field < 3)
        a[field] = 1;
    else if (field < 6) { /* e_c × X */
        int c = field - 3;
        a[(c + 1) % 3] = -X[(c + 2) % 3];
        a[(c + 2) % 3] = X[(c + 1) % 3];
    } else if (field < 9) {
        a[(field + 1) % 3] = X[(field + 1) % 3];
        a[(field + 2) % 3] = X[(field + 2) % 3];
    } else { /* yz, zx, xy: the pair of axes other than c */
        int c = field - 9, i = (c + 1) % 3, j = (c + 2) % 3;
        a[i] = -X[j];
        a[j] = -X[i];
    }
}

int sp_inertia_forces(sp_context *context, const sp_fe_space *space, int64_t count, const int *field, double *force)
{
    const sp_mesh *mesh = space->mesh;
    sp_pool scratch = {0};
    const int64_t width = 3 * count;
    double *a = sp_pool_raw(&scratch, width * mesh->vertex_count, sizeof *a),
           *f = sp_pool_new(&scratch, width * mesh->vertex_count, sizeof *f);
    double *mass = sp_pool_raw(&scratch, mesh->vertex_count, sizeof *mass), centre[3] = {0}, total = 0;

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(context);
    }

    /* Positions are measured from the centre of mass, about which a free body turns. */
    sp_fe_space_vertex_mass(space, false, mass);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        total += mass[v];
        for (int c = 0; c < 3; c++)
            centre[c] += mass[v] * mesh->vertices[3 * v + c];
    }

    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double X[3];
        for (int c = 0; c < 3; c++)
            X[c] = mesh->vertices[3 * v + c] - centre[c] / total;
        for (int64_t k = 0; k < count; k++)
            field_at(field[k], X, a + width * v + 3 * k);
    }
    sp_fe_space_mass_times(context, space, width, a, f); /* all fields at once */

    for (int64_t k = 0; k < count; k++)
        for (int64_t i = 0; i < space->dof_count; i++)
            force[k * space->dof_count + i] = f[width * (space->free[i] / 3) + 3 * k + space->free[i] % 3];
    sp_pool_free(&scratch);
    return SP_OK;
}
