#include "tools/export/modes.h"

#include "formats/export/csv_write.h"
#include "reduced/mass.h"
#include "tools/common/inputs.h"
#include "tools/common/trajectory.h"

#include <math.h>
#include <string.h>

/* Numbers of the files of kind modes and mesh; false where there is another one, or two of a kind. */
static bool find(sp_context *context, int64_t count, const char *const *paths, int *modes, int *mesh)
{
    *modes = *mesh = -1;
    if (count > 2)
        return false;
    for (int i = 0; i < count; i++) {
        char kind[SP_KIND_LENGTH];
        tool_peek_any_kind(context, paths[i], kind);
        int *number = !strcmp(kind, "modes") ? modes : !strcmp(kind, "mesh") ? mesh : NULL;
        if (!number || *number >= 0)
            return false;
        *number = i;
    }
    return *modes >= 0;
}

bool tool_export_has_modes(sp_context *context, int64_t count, const char *const *paths)
{
    int modes, mesh;
    return find(context, count, paths, &modes, &mesh);
}

/* masses [modes, 3, row major]. */
static void effective_masses(sp_context *context, const tool_mesh *mesh, tool_columns *modes, sp_pool *pool,
                             double *masses)
{
    const int64_t r = modes->columns.count;
    double *gram = tool_allocate_raw(pool, r * r, sizeof *gram);
    sp_fe_space body;
    tool_hold_rows(&mesh->mesh, modes);
    tool_check(sp_fe_space_new_prescribed(context, &mesh->mesh, &body), mesh->path);
    tool_check(sp_reduced_mass(context, &body, modes->columns.lumped, r, modes->columns.U, gram, masses), mesh->path);
    for (int64_t i = 0; i < 3 * r; i++)
        masses[i] *= masses[i] / gram[i / 3 * (r + 1)];
    sp_fe_space_free(&body);
}

void tool_export_modes(sp_context *context, int64_t count, const char *const *paths, const char *target)
{
    static const char *const kinds[] = {"modes", NULL}, *const names[] = {"frequency_Hz",
                                                                          "angular_frequency_rad_s",
                                                                          "residual",
                                                                          "effective_mass_x_kg",
                                                                          "effective_mass_y_kg",
                                                                          "effective_mass_z_kg"};
    tool_mesh mesh = {0};
    tool_columns modes = {0};
    sp_pool pool = {0};
    sp_stream stream;
    int modes_at, mesh_at;

    find(context, count, paths, &modes_at, &mesh_at);
    const bool masses = mesh_at >= 0;
    if (masses)
        tool_read_mesh(paths[mesh_at], NULL, &mesh);
    tool_read_columns(paths[modes_at], NULL, kinds, masses ? &mesh : NULL, &modes);

    double *mass = tool_allocate_raw(&pool, modes.columns.count, 3 * sizeof *mass);
    tool_output *output = tool_output_open(target);
    if (masses)
        effective_masses(context, &mesh, &modes, &pool, mass);

    sp_stream_begin(&stream, tool_output_descriptor(output));
    sp_csv_name(&stream, true, "mode");
    for (int i = 0; i < (masses ? 6 : 3); i++)
        sp_csv_name(&stream, false, names[i]);
    sp_csv_end(&stream);

    for (int64_t i = 0; i < modes.columns.count; i++) {
        const double omega = sqrt(fmax(modes.columns.eigenvalue[i], 0)),
                     row[] = {(double)(i + 1), omega / 6.283185307179586, omega, modes.columns.residual[i]};
        sp_csv_numbers(&stream, true, TOOL_COUNT(row), row);
        if (masses)
            sp_csv_numbers(&stream, false, 3, mass + 3 * i);
        sp_csv_end(&stream);
    }

    tool_check(sp_stream_end(context, &stream), target);
    tool_output_finish(output, NULL);

    sp_columns_free(&modes.columns);
    sp_mesh_free(&mesh.mesh);
    sp_pool_free(&pool);
}
