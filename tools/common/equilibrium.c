#include "tools/common/equilibrium.h"

#include "assembly/elastic.h"
#include "formats/loads.h"
#include "model/load_stiffness.h"
#include "tools/common/inputs.h"
#include "tools/common/materials.h"

#include <string.h>

/* The options of the program that computed the trajectory. */
static void check_origin(const tool_equilibrium *e, const char *model)
{
    static const char *const inputs[] = {"activation", "cut", "skeleton"};

    const json_t *parameters = json_object_get(e->meta, "parameters");
    if (strcmp(tool_text_of(e->meta, "tool"), "simfull") || strcmp(tool_text_of(parameters, "integrator"), "static"))
        tool_fail(SP_INPUT, e->path,
                  "it is not a static equilibrium of a full-order model (simfull --integrator static)");

    if (strcmp(tool_text_of(parameters, "model"), model))
        tool_fail(SP_INPUT, e->path, "it was computed by simfull --model %.40s, expected --model %s",
                  tool_text_of(parameters, "model"), model);

    for (int i = 0; i < TOOL_COUNT(inputs); i++)
        if (tool_meta_has_input(e->meta, inputs[i]))
            tool_fail(SP_INPUT, e->path, "it was computed with --%s, whose stiffness is not known here", inputs[i]);

    if (json_array_size(json_object_get(parameters, "ground")))
        tool_fail(SP_INPUT, e->path, "it was computed with --ground, whose stiffness is not known here");
    if (!(json_number_value(json_object_get(parameters, "dt")) > 0))
        tool_fail(SP_INPUT, e->path, "meta: parameters: \"dt\" is not a positive number");
}

/* Keeps the last frame of a block. */
static void keep_frame(tool_equilibrium *e, const sp_trajectory *block, int64_t frames)
{
    const int64_t last = block->frame_count - 1;

    if (block->point_count != block->vertex_count || block->vertex)
        tool_fail(SP_INPUT, e->path, "it records %lld of %lld vertices: leave out --record probes",
                  (long long)block->point_count, (long long)block->vertex_count);

    e->rows = 3 * block->vertex_count;
    if (!e->u)
        e->u = tool_allocate_raw(&e->pool, e->rows, sizeof *e->u);
    memcpy(e->u, block->u + last * e->rows, (size_t)e->rows * sizeof *e->u);
    e->time = block->time[last];

    /* Vertices that are still prescribed at this frame */
    sp_pool_drop(&e->pool, e->prescribed_record);
    e->prescribed_record = tool_allocate(&e->pool, block->prescribed_count, sizeof *e->prescribed_record);
    e->prescribed = 0;
    for (int64_t k = 0; k < block->prescribed_count; k++)
        if (block->prescribed[k].frames >= frames)
            e->prescribed_record[e->prescribed++] = block->prescribed[k];
}

void tool_equilibrium_read(sp_context *context, int descriptor, const char *path, const char *model,
                           tool_equilibrium *e)
{
    sp_trajectory_stream *stream;
    sp_trajectory block;
    *e = (tool_equilibrium){.context = context, .path = path};

    tool_check(sp_trajectory_open(context, descriptor, false, &stream), path);
    e->meta = json_deep_copy(sp_trajectory_meta(stream));
    if (!e->meta)
        tool_out_of_memory();

    check_origin(e, model);
    e->step = json_number_value(json_object_get(json_object_get(e->meta, "parameters"), "dt"));

    for (int64_t frames = 0;;) {
        tool_check(sp_trajectory_next(stream, &block), path);
        if (block.frame_count == 0)
            break;
        frames += block.frame_count;
        keep_frame(e, &block, frames);
    }

    memcpy(e->hash, block.hash, sizeof e->hash);
    sp_trajectory_close(stream);
}

void tool_equilibrium_free(tool_equilibrium *e)
{
    json_decref(e->meta);
    sp_pool_free(&e->pool);
    *e = (tool_equilibrium){0};
}

void tool_equilibrium_apply(const tool_equilibrium *e, const char *mesh_hash, sp_mesh *mesh)
{
    tool_material_edits edits;

    tool_check_hash(e->path, "mesh", tool_text_of(e->meta, "mesh"), mesh_hash);
    if (e->rows != 3 * mesh->vertex_count)
        tool_fail(SP_INPUT, e->path, "it is of %lld vertices, the mesh has %lld", (long long)(e->rows / 3),
                  (long long)mesh->vertex_count);

    tool_check(tool_material_edits_recorded(e->context, e->meta, &edits), e->path);
    if (tool_material_edits_given(&edits) && tool_edit_materials(e->context, &edits, mesh) != SP_OK)
        tool_fail(SP_INPUT, e->path, "%s", e->context->message);

    for (int64_t k = 0; k < e->prescribed; k++)
        if (e->prescribed_record[k].vertex >= mesh->vertex_count)
            tool_fail(SP_INPUT, e->path, "it prescribes vertex %lld of %lld", (long long)e->prescribed_record[k].vertex,
                      (long long)mesh->vertex_count);

    /* One call for each combination of axes, a mask of three bits */
    for (int axes = 1; axes < 8; axes++) {
        sp_pool pool = {0};
        int64_t count = 0, *vertex = tool_allocate(&pool, e->prescribed, sizeof *vertex);
        for (int64_t k = 0; k < e->prescribed; k++)
            if (e->prescribed_record[k].axes == axes)
                vertex[count++] = e->prescribed_record[k].vertex;
        if (count > 0)
            tool_check(sp_mesh_fix_list(e->context, mesh, count, vertex, axes), e->path);
        sp_pool_free(&pool);
    }
}

const char *tool_equilibrium_loads_hash(const tool_equilibrium *e)
{
    size_t i;
    const json_t *input;
    json_array_foreach(json_object_get(e->meta, "inputs"), i,
                       input) if (!strcmp(tool_text_of(input, "option"), "loads")) return tool_text_of(input, "sha256");
    return "";
}

void tool_equilibrium_take_loads(tool_equilibrium *e, const char *path, const char *bytes, int64_t count,
                                 const sp_mesh *mesh)
{
    char hash[SP_HASH_LENGTH];
    sp_hash_bytes(count, bytes, hash);
    if (strcmp(hash, tool_equilibrium_loads_hash(e)))
        tool_fail(SP_INPUT, path, "these are not the loads of %s", tool_base_name(e->path));
    tool_check(sp_loads_parse(e->context, bytes, count, mesh, &e->pool, &e->load_count, &e->loads), path);
    for (int64_t k = 0; k < e->load_count; k++)
        tool_check(sp_load_check(e->context, mesh, k + 1, &e->loads[k]), path);
}

void tool_equilibrium_stiffness(const tool_equilibrium *e, const sp_fe_space *body, sp_sparse *K)
{
    sp_elastic_tangent(e->context, body, e->u, 1, false, NULL, K);
    for (int64_t k = 0; k < e->load_count; k++)
        sp_load_add_stiffness(e->context, body, &e->loads[k], sp_load_static_share(&e->loads[k], e->time, e->step), K);
}

bool tool_equilibrium_has(const tool_equilibrium *e, enum sp_load_kind kind)
{
    for (int64_t k = 0; k < e->load_count; k++)
        if (e->loads[k].kind == kind && sp_load_static_share(&e->loads[k], e->time, e->step) != 0)
            return true;
    return false;
}
