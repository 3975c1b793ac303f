#include "formats/skin.h"

#include "formats/kind_tables.h"

#include <string.h>

#define AT(member) .at = offsetof(sp_skin, member)
static const sp_member_rule rules[] = {
    {"bone", "nv, k", SP_I8, AT(bone), BELOW("B"), .meaning = "the bones that move each vertex, by decreasing weight"},
    {"weight", "nv, k", SP_F8, AT(weight), WITHIN(0, 1), .meaning = "their weights"},
    {"attached", "nv", SP_I8, AT(attached), FROM(-1), .meaning = "the bone that the vertex is attached to, −1: none"},
    {0}};
#undef AT

static const sp_fact skin_meta[] = {
    {"bones", SP_STRINGS, .meaning = "the names of the B bones, in the order of the skeleton"},
    {"mesh", SP_HASH, .meaning = "of the mesh"},
    {0}};

static const sp_fact skin_result[] = {
    {"bones", SP_INTEGER, .meaning = "number of bones"},
    {"computed_vertices", SP_INTEGER, .meaning = "vertices that are not attached"},
    {"lowest_weight", SP_NUMBER, .meaning = "the lowest weight that was set to 0, ≤ 0"},
    {"largest_dropped", SP_NUMBER, .meaning = "largest sum of the weights of a vertex that were not kept"},
    {0}};

const sp_kind sp_kind_skin = {"skin",
                              (const sp_symbol[]){{"B", .at = offsetof(sp_skin, bone_count), .given = true},
                                                  {"nv", .at = offsetof(sp_skin, vertex_count)},
                                                  {"k", .at = offsetof(sp_skin, influences)},
                                                  {0}},
                              rules, skin_meta, skin_result};

static int read_names(sp_context *context, const json_t *meta, sp_pool *pool, sp_skin_file *skin)
{
    const json_t *names = json_object_get(meta, "bones");
    const size_t count = json_array_size(names);
    if (count == 0)
        return sp_fail(context, SP_INPUT, "meta: \"bones\" is not an array of names");
    skin->skin.bone_count = (int64_t)count;
    skin->names = sp_pool_new(pool, (int64_t)count, sizeof *skin->names);
    SP_PASS(sp_allocated(context, skin->names));

    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (!name || !*name)
            return sp_fail(context, SP_INPUT, "meta: \"bones\" is not an array of names");
        skin->names[i] = sp_pool_copy(pool, name, (int64_t)strlen(name) + 1, 1);
    }
    return sp_allocated(context, !pool->failed);
}

/* Sums within 1e-6, since other programs may write them in single precision. */
static int check_weights(sp_context *context, const sp_skin *skin)
{
    for (int64_t v = 0; v < skin->vertex_count; v++) {
        const double *weight = skin->weight + v * skin->influences;
        const int64_t attached = skin->attached[v];
        double sum = 0;

        for (int64_t k = 0; k < skin->influences; k++) {
            sum += weight[k];
            if (k > 0 && weight[k] > weight[k - 1])
                return sp_fail(context, SP_INPUT, "weight: those of vertex %lld do not decrease", (long long)v);
        }

        if (!(sum >= 1 - 1e-6 && sum <= 1 + 1e-6))
            return sp_fail(context, SP_INPUT, "weight: those of vertex %lld sum to %.9g, expected 1", (long long)v,
                           sum);

        if (attached >= skin->bone_count)
            return sp_fail(context, SP_INPUT, "attached: vertex %lld names bone %lld of %lld", (long long)v,
                           (long long)attached, (long long)skin->bone_count);
        if (attached >= 0 && (skin->bone[v * skin->influences] != attached || weight[0] < 1 - 1e-6))
            return sp_fail(context, SP_INPUT,
                           "attached: vertex %lld is attached to bone %lld and has weight %g of %lld", (long long)v,
                           (long long)attached, weight[0], (long long)skin->bone[v * skin->influences]);
    }
    return SP_OK;
}

int sp_skin_read(sp_context *context, sp_file *file, sp_skin_file *skin)
{
    sp_skin_file in = {.skin = {.vertex_count = -1, .influences = -1}};
    *skin = (sp_skin_file){0};
    SP_PASS(sp_json_hash(context, file->meta, "mesh", in.mesh));
    SP_PASS(read_names(context, file->meta, &file->members.pool, &in));
    SP_PASS(sp_kind_read(context, file, &sp_kind_skin, &in.skin));
    SP_PASS(check_weights(context, &in.skin));
    *skin = in;
    skin->skin.pool = file->members.pool;
    file->members = (sp_members){0};
    return SP_OK;
}

int sp_skin_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_skin *skin, char *const *names)
{
    json_t *list = json_array();
    bool failed = !list;
    for (int64_t b = 0; b < skin->bone_count; b++)
        failed |= json_array_append_new(list, json_string(names[b])) != 0;
    if (json_object_set_new(meta, "bones", list) || failed)
        return sp_fail_memory(context);
    return sp_kind_write(context, writer, &sp_kind_skin, meta, skin);
}
