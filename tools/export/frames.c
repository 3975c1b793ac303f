#include "tools/export/frames.h"

#include "assembly/nodal_stress.h"
#include "formats/export/obj_write.h"
#include "material/stress.h"
#include "tools/common/skin.h"

static void move_begin(const tool_trajectory *motion, tool_moving_mesh *moving)
{
    *moving = (tool_moving_mesh){.mesh = motion->mesh.mesh};
    if (!motion->mesh.path)
        tool_fail(SP_USAGE, NULL, "--volume needs the mesh: name its file too");
    tool_trajectory_need_all(motion);
    moving->vertices = moving->mesh.vertices =
        tool_allocate_raw(&moving->pool, 3 * moving->mesh.vertex_count, sizeof *moving->vertices);
}

/* m³; inverted elements count negative. */
static double volume_in(const tool_trajectory *motion, int64_t frame, tool_moving_mesh *moving)
{
    tool_trajectory_displacement(motion, frame, moving->vertices);
    for (int64_t i = 0; i < 3 * moving->mesh.vertex_count; i++)
        moving->vertices[i] += motion->mesh.mesh.vertices[i];
    return sp_mesh_volume(&moving->mesh);
}

/* ---- stress ---- */

static void stress_begin(tool_csv_frames *csv)
{
    const tool_trajectory *motion = &csv->motion;
    tool_nodal_stress *nodal = &csv->nodal;
    const int64_t vertices = motion->vertex_count;
    if (csv->choice->probes == NULL)
        tool_fail(SP_USAGE, NULL, "--stress is at the probes: name them by --probe");
    if (!motion->mesh.path)
        tool_fail(SP_USAGE, NULL, "--stress needs the mesh: name its file too");
    if (tool_meta_has_input(motion->trajectory.meta, "activation"))
        tool_fail(SP_USAGE, motion->path, "--stress: its fibres had a tension over time, which CSV files are without");
    tool_trajectory_need_all(motion);
    tool_check(sp_fe_space_new_prescribed(csv->context, &motion->simulated, &nodal->body), motion->mesh.path);
    nodal->u = tool_allocate_raw(&nodal->pool, 3 * vertices, sizeof *nodal->u);
    nodal->stress = tool_allocate_raw(&nodal->pool, 6 * vertices, sizeof *nodal->stress);
}

static void stress_in(sp_context *context, const tool_trajectory *motion, int64_t frame, tool_nodal_stress *nodal)
{
    tool_trajectory_displacement(motion, frame, nodal->u);
    tool_check(sp_elastic_nodal_stress(context, &nodal->body, nodal->u, nodal->stress), motion->mesh.path);
}

static void stress_names(export_table *table, const tool_place *place)
{
    static const char *const names[] = {"sxx", "syy", "szz", "syz", "szx", "sxy", "mises", "principal"};
    for (int i = 0; i < 8; i++)
        export_table_name(table, "%c%lld_%s", place->surface ? 's' : 'v', (long long)place->vertex, names[i]);
}

/* Of a vertex of the surface the value that its element's nodes give there. */
static void stress_row(const tool_csv_frames *csv, const tool_place *place, export_table *table)
{
    const int64_t *node;
    const double *weight;
    double value[8] = {0};
    const int nodes = tool_place_corners(&csv->motion.mesh.mesh, place, &node, &weight);
    for (int a = 0; a < nodes; a++)
        for (int k = 0; k < 6; k++)
            value[k] += weight[a] * csv->nodal.stress[6 * node[a] + k];
    value[6] = sp_cauchy_mises(value);
    value[7] = sp_tensor_largest(value);
    export_table_numbers(table, 8, value);
}

/* ---- the table ---- */

void tool_csv_frames_open(sp_context *context, int64_t count, const char *const *paths, const export_choice *choice,
                          tool_csv_frames *csv)
{
    tool_trajectory *motion = &csv->motion;
    csv->choice = choice;
    tool_trajectory_open(context, count, paths, choice->partial ? TOOL_MOTION_PARTIAL : 0, motion);
    tool_trajectory_ride(motion, &choice->ride);
    if (choice->coordinates && motion->trajectory.r == 0)
        tool_fail(SP_INPUT, motion->path, "--coordinates: it holds no reduced coordinates");
    if (choice->positions && !motion->mesh.path)
        tool_fail(SP_USAGE, NULL, "--positions needs the mesh of %s: name its file too", motion->path);
    csv->context = context;
    if (choice->volume)
        move_begin(motion, &csv->moving);
    if (choice->stress)
        stress_begin(csv);
}

void tool_csv_frames_close(tool_csv_frames *csv)
{
    sp_list_free(&csv->probes);
    sp_pool_free(&csv->moving.pool);
    if (csv->choice->stress)
        sp_fe_space_free(&csv->nodal.body);
    sp_pool_free(&csv->nodal.pool);
    tool_trajectory_close(&csv->motion);
}

void tool_csv_frames_head(const tool_csv_frames *csv, export_table *table)
{
    static const char *const energies[] = {"kinetic", "strain", "work", "dissipated"}, *const reactions[] = {
                                                                                           "fx", "fy", "fz",
                                                                                           "mx", "my", "mz"};
    const tool_place *probe = csv->probes.data;

    for (int i = 0; i < SP_ENERGY_COUNT; i++)
        export_table_name(table, "%s", energies[i]);

    for (int64_t i = 0; i < csv->probes.count; i++)
        tool_csv_probe_names(table, "", &probe[i], csv->choice->positions);
    if (csv->choice->stress)
        for (int64_t i = 0; i < csv->probes.count; i++)
            stress_names(table, &probe[i]);

    if (csv->choice->coordinates)
        for (int64_t i = 0; i < csv->motion.trajectory.r; i++)
            export_table_name(table, "q%lld", (long long)i);

    if (csv->choice->volume)
        export_table_name(table, "volume");

    for (int64_t i = 0; i < 6 * csv->motion.trajectory.reaction_count; i++)
        export_table_name(table, "%s/%s", sp_trajectory_reaction(tool_trajectory_meta(&csv->motion), i / 6),
                          reactions[i % 6]);
}

void tool_csv_probe_names(export_table *table, const char *body, const tool_place *place, bool positions)
{
    static const char *const kinds[] = {"", "p"};
    for (int i = 0; i < (positions ? 6 : 3); i++)
        export_table_name(table, "%s%s%c%lld_%s%c", body, *body ? "." : "", place->surface ? 's' : 'v',
                          (long long)place->vertex, kinds[i / 3], "xyz"[i % 3]);
}

void tool_csv_frames_row(tool_csv_frames *csv, int64_t frame, export_table *table)
{
    const tool_trajectory *motion = &csv->motion;
    const sp_mesh *mesh = &motion->mesh.mesh;
    const sp_trajectory *trajectory = &motion->trajectory;

    export_table_numbers(table, SP_ENERGY_COUNT, tool_trajectory_energy(motion, frame));

    for (int64_t i = 0; i < csv->probes.count; i++) {
        const tool_place *probe = (const tool_place *)csv->probes.data + i;
        double u[3];
        tool_trajectory_probe(motion, *probe, frame, u, NULL);
        export_table_numbers(table, 3, u);

        if (!csv->choice->positions)
            continue;
        const double *rest = (probe->surface ? mesh->surface.vertices : mesh->vertices) + 3 * probe->vertex;
        export_table_numbers(table, 3, (double[]){rest[0] + u[0], rest[1] + u[1], rest[2] + u[2]});
    }

    if (csv->choice->stress) {
        stress_in(csv->context, motion, frame, &csv->nodal);
        for (int64_t i = 0; i < csv->probes.count; i++)
            stress_row(csv, (const tool_place *)csv->probes.data + i, table);
    }

    if (csv->choice->coordinates)
        export_table_numbers(table, trajectory->r, trajectory->q + frame * trajectory->r);
    if (csv->choice->volume) {
        const double volume = volume_in(motion, frame, &csv->moving);
        export_table_numbers(table, 1, &volume);
    }

    if (trajectory->reaction)
        export_table_numbers(table, 6 * trajectory->reaction_count,
                             trajectory->reaction + 6 * frame * trajectory->reaction_count);
}

void tool_export_obj(sp_context *context, tool_trajectory *motion, const tool_frames_choice *choice)
{
    tool_skin skin;
    sp_list list = {0};
    sp_pool pool = {0};
    bool pattern = tool_pattern(choice->target);

    if (!motion->mesh.path)
        tool_fail(SP_USAGE, NULL, "OBJ needs the mesh: name its file too");
    tool_trajectory_choose(motion, choice->frames, choice->every, choice->columns, &list);
    if (list.count > 1 && !pattern)
        tool_fail(SP_USAGE, NULL, "%lld OBJ files need a pattern such as -o frame_%%04d.obj", (long long)list.count);

    tool_trajectory_need_all(motion);
    tool_skin_open(context, &motion->mesh.mesh, false, &skin);
    double *u = tool_allocate_raw(&pool, 3 * motion->vertex_count, sizeof *u),
           *positions = tool_allocate_raw(&pool, 3 * skin.vertex_count, sizeof *positions);

    tool_outputs_hold(true);
    for (int64_t i = 0; i < list.count; i++) {
        char *path;
        tool_pattern_path(choice->target, i, &pool, &path);
        tool_trajectory_displacement(motion, ((int64_t *)list.data)[i], u);
        tool_skin_positions(&skin, 1, u, positions);

        tool_output *output = tool_output_open(path);
        tool_check(sp_obj_write(context, tool_output_descriptor(output), NULL, skin.vertex_count, positions,
                                skin.triangle_count, skin.triangles),
                   path);
        tool_output_finish(output, NULL);
        tool_check(sp_progress(context, (double)(i + 1) / (double)list.count), NULL);
    }

    tool_outputs_hold(false);
    tool_skin_close(&skin);
    sp_list_free(&list);
    sp_pool_free(&pool);
}
