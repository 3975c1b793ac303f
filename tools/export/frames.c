#include "tools/export/frames.h"

#include "formats/export/csv_write.h"
#include "formats/export/obj_write.h"
#include "tools/common/skin.h"

/* A mesh that moves, for its volume in a frame. */
typedef struct moving_mesh {
    sp_mesh mesh; /* the motion's, a shallow copy, with vertices of its own */
    double *vertices;
    sp_pool pool;
} moving_mesh;

static void move_begin(const tool_trajectory *motion, moving_mesh *moving)
{
    *moving = (moving_mesh){.mesh = motion->mesh.mesh};
    if (!motion->mesh.path)
        tool_fail(SP_USAGE, NULL, "--volume needs the mesh: name its file too");
    tool_trajectory_need_all(motion);
    moving->vertices = moving->mesh.vertices =
        tool_allocate_raw(&moving->pool, 3 * moving->mesh.vertex_count, sizeof *moving->vertices);
}

/* m³; inverted elements count negative. */
static double volume_in(const tool_trajectory *motion, int64_t frame, moving_mesh *moving)
{
    double volume = 0;
    tool_trajectory_displacement(motion, frame, moving->vertices);
    for (int64_t i = 0; i < 3 * moving->mesh.vertex_count; i++)
        moving->vertices[i] += motion->mesh.mesh.vertices[i];
    for (int64_t e = 0; e < sp_mesh_element_count(&moving->mesh); e++)
        volume += sp_mesh_element_volume(&moving->mesh, e);
    return volume;
}

void tool_export_csv(sp_context *context, tool_trajectory *motion, const tool_frames_choice *choice)
{
    static const char *const energies[] = {"kinetic", "strain", "work", "dissipated"};
    sp_list probes = {0}, frames = {0};
    sp_stream stream;
    moving_mesh moving = {0};
    char name[48];
    const sp_trajectory *trajectory = &motion->trajectory;
    if (!motion->path)
        tool_fail(SP_USAGE, NULL, "CSV is of a trajectory, and none was named");
    if (choice->coordinates && trajectory->r == 0)
        tool_fail(SP_INPUT, motion->path, "--coordinates: it holds no reduced coordinates");
    if (choice->probes)
        tool_probes_parse(motion, "probe", choice->probes, &probes);
    const tool_probe *probe = probes.data;
    tool_trajectory_choose(motion, choice->frames, choice->every, NULL, &frames);
    if (choice->volume)
        move_begin(motion, &moving);
    tool_output *output = tool_output_open(choice->target);
    sp_stream_begin(&stream, tool_output_descriptor(output));
    sp_csv_name(&stream, true, "time");
    for (int i = 0; i < SP_ENERGY_COUNT; i++)
        sp_csv_name(&stream, false, energies[i]);
    for (int64_t i = 0; i < 3 * probes.count; i++) {
        snprintf(name, sizeof name, "%c%lld_%c", probe[i / 3].surface ? 's' : 'v', (long long)probe[i / 3].vertex,
                 "xyz"[i % 3]);
        sp_csv_name(&stream, false, name);
    }
    for (int64_t i = 0; choice->coordinates && i < trajectory->r; i++) {
        snprintf(name, sizeof name, "q%lld", (long long)i);
        sp_csv_name(&stream, false, name);
    }
    if (choice->volume)
        sp_csv_name(&stream, false, "volume");
    sp_csv_end(&stream);
    for (int64_t row = 0; row < frames.count; row++) {
        int64_t f = ((int64_t *)frames.data)[row];
        double u[3], time = tool_trajectory_time(motion, f);
        sp_csv_numbers(&stream, true, 1, &time);
        sp_csv_numbers(&stream, false, SP_ENERGY_COUNT, tool_trajectory_energy(motion, f));
        for (int64_t i = 0; i < probes.count; i++) {
            tool_trajectory_probe(motion, probe[i], f, u, NULL);
            sp_csv_numbers(&stream, false, 3, u);
        }
        if (choice->coordinates)
            sp_csv_numbers(&stream, false, trajectory->r, trajectory->q + f * trajectory->r);
        if (choice->volume) {
            const double volume = volume_in(motion, f, &moving);
            sp_csv_numbers(&stream, false, 1, &volume);
        }
        sp_csv_end(&stream);
    }
    tool_check(sp_stream_end(context, &stream), choice->target);
    tool_output_finish(output, NULL);
    sp_pool_free(&moving.pool);
    sp_list_free(&probes);
    sp_list_free(&frames);
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
