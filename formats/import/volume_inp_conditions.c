#include "formats/import/volume_inp_internal.h"

#include <string.h>

/* The components that a named condition in the second field of *BOUNDARY fixes (rotations are ignored); −1 if the name
 * is unknown. */
static int named_condition(sp_word field)
{
    static const struct {
        const char *name;
        int components;
    } known[] = {{"ENCASTRE", 7}, {"PINNED", 7}, {"XSYMM", 1},  {"YSYMM", 2},
                 {"ZSYMM", 4},    {"XASYMM", 6}, {"YASYMM", 5}, {"ZASYMM", 3}};
    char name[INP_KEY];
    sp_inp_pack(field, name, sizeof name);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0)
            return known[i].components;
    return -1;
}

static int parse_boundary(struct inp *inp, struct inp_condition *condition)
{
    sp_word field;
    char shown[SP_TEXT_QUOTE];
    int64_t first, last;
    sp_text_field(&inp->in.text, ',', &condition->target);
    condition->target = sp_inp_unquote(condition->target);

    sp_text_field(&inp->in.text, ',', &field);
    int named = named_condition(field);
    if (named >= 0) {
        condition->components = named;
        return SP_OK;
    }

    if (!sp_word_integer(field, &first) || first < 1)
        return sp_volume_fail_here(&inp->in, "'%s' is no degree of freedom", sp_word_show(field, shown));
    last = first;
    sp_text_field(&inp->in.text, ',', &field);
    if (field.length && (!sp_word_integer(field, &last) || last < first))
        return sp_volume_fail_here(&inp->in, "'%s' is no last degree of freedom from %lld", sp_word_show(field, shown),
                                   (long long)first);

    /* Further degrees of freedom are rotations and the like, which solids do not have. */
    for (int64_t d = first; d <= last && d <= 3; d++)
        condition->components |= 1 << (d - 1);

    sp_text_field(&inp->in.text, ',', &field);
    if (field.length && !sp_word_number(field, &condition->value))
        return sp_volume_fail_here(&inp->in, "'%s' is no finite number", sp_word_show(field, shown));
    return SP_OK;
}

static int parse_load(struct inp *inp, struct inp_condition *condition)
{
    sp_word field;
    char shown[SP_TEXT_QUOTE];
    int64_t component;

    sp_text_field(&inp->in.text, ',', &condition->target);
    condition->target = sp_inp_unquote(condition->target);

    sp_text_field(&inp->in.text, ',', &field);
    if (!sp_word_integer(field, &component) || component < 1)
        return sp_volume_fail_here(&inp->in, "'%s' is no degree of freedom", sp_word_show(field, shown));

    sp_text_field(&inp->in.text, ',', &field);
    if (!sp_word_number(field, &condition->value))
        return sp_volume_fail_here(&inp->in, "'%s' is no finite force", sp_word_show(field, shown));

    /* Further components are moments. */
    if (component <= 3)
        condition->components = 1 << (component - 1);
    return SP_OK;
}

int sp_inp_parse_conditions(struct inp *inp, const struct inp_card *card, bool load)
{
    bool found;
    const sp_word *op = sp_inp_parameter(card, "OP");
    char packed[INP_KEY] = "";
    if (op)
        sp_inp_pack(*op, packed, sizeof packed);
    /* Only the first *BOUNDARY of a step may replace earlier ones. */
    if (!load && inp->step == 1) {
        if (strcmp(packed, "NEW") == 0 && !inp->boundary_in_step)
            inp->boundaries.count = 0;
        inp->boundary_in_step = true;
    }

    if (load && sp_inp_parameter(card, "AMPLITUDE") && !inp->amplitude) {
        inp->amplitude = true;
        sp_volume_note(&inp->in, "the amplitude of *CLOAD is passed over");
    }

    for (;;) {
        struct inp_condition condition = {0};
        SP_PASS(sp_inp_data_line(inp, &found));
        if (!found)
            return SP_OK;
        condition.where = sp_volume_here(&inp->in);
        SP_PASS(load ? parse_load(inp, &condition) : parse_boundary(inp, &condition));
        SP_PASS(sp_volume_push(&inp->in, load ? &inp->loads : &inp->boundaries, &condition, sizeof condition));
    }
    return SP_OK;
}

/* Finds the indices of the nodes that a condition names. */
static int find_target(struct inp *inp, const struct inp_condition *condition, sp_list *indices)
{
    char shown[SP_TEXT_QUOTE];
    int64_t id;

    indices->count = 0;
    if (!sp_inp_number(inp, &inp->nsets, INP_MODEL, condition->target, &id)) {
        const struct sp_volume_set *set = sp_inp_find_set(inp, &inp->nsets, INP_MODEL, condition->target);
        if (!set)
            return sp_volume_fail(&inp->in, condition->where, "the set of nodes %s is not defined",
                                  sp_word_show(condition->target, shown));
        return sp_volume_sets_resolve(&inp->in, &inp->nsets, set, indices);
    }

    int64_t index = sp_volume_ids_find(&inp->in.node_ids, id);
    if (index < 0)
        return sp_volume_fail(&inp->in, condition->where, "node %lld is not defined", (long long)(id % INP_OUTSIDE));

    inp->nsets.visit++;
    return sp_volume_sets_add_index(&inp->in, &inp->nsets, index, indices);
}

int sp_inp_fix_vertices(struct inp *inp, sp_mesh *mesh)
{
    const struct inp_condition *condition = inp->boundaries.data;
    sp_list indices = {0};
    int64_t moved = 0, missing = 0;
    int status = SP_OK;

    uint8_t *axes = sp_pool_new(&inp->in.pool, mesh->vertex_count, sizeof *axes);
    SP_PASS(sp_allocated(inp->in.context, axes));

    for (int64_t i = 0; i < inp->boundaries.count; i++) {
        SP_TRY(find_target(inp, &condition[i], &indices));
        for (int64_t j = 0; j < indices.count; j++) {
            int64_t vertex = inp->in.vertex[((int64_t *)indices.data)[j]];
            if (vertex >= 0)
                axes[vertex] |= (uint8_t)condition[i].components;
            missing += vertex < 0 && condition[i].components;
        }
        moved += condition[i].components && condition[i].value != 0;
    }

    if (moved)
        sp_volume_note(
            &inp->in,
            "%lld lines of *BOUNDARY prescribe displacements: the components are fixed, their values are left out",
            (long long)moved);
    if (missing)
        sp_volume_note(&inp->in, "%lld conditions of *BOUNDARY are on nodes without solid elements and are passed over",
                       (long long)missing);

    for (int64_t v = 0; v < mesh->vertex_count; v++)
        mesh->fixed_count += axes[v] != 0;
    mesh->fixed = sp_pool_raw(&mesh->pool, mesh->fixed_count, sizeof *mesh->fixed);
    mesh->fixed_axes = sp_pool_raw(&mesh->pool, mesh->fixed_count, sizeof *mesh->fixed_axes);
    SP_TRY(sp_allocated(inp->in.context, !mesh->pool.failed));

    for (int64_t v = 0, n = 0; v < mesh->vertex_count; v++)
        if (axes[v]) {
            mesh->fixed[n] = v;
            mesh->fixed_axes[n++] = axes[v];
        }
done:
    sp_list_free(&indices);
    return status;
}

int sp_inp_collect_loads(struct inp *inp, sp_mesh *mesh, sp_nodal_loads *loads)
{
    struct entry {
        int64_t vertex;
        int component;
        double value;
    };
    const struct inp_condition *condition = inp->loads.data;
    sp_list indices = {0}, entries = {0};
    int64_t missing = 0;
    int status = SP_OK;

    for (int64_t i = 0; i < inp->loads.count; i++) {
        SP_TRY(find_target(inp, &condition[i], &indices));
        for (int64_t j = 0; j < indices.count; j++) {
            int64_t vertex = inp->in.vertex[((int64_t *)indices.data)[j]];
            if (vertex < 0 || condition[i].components == 0) {
                missing++;
                continue;
            }
            struct entry entry = {vertex, condition[i].components / 2, condition[i].value};
            SP_TRY(sp_volume_push(&inp->in, &entries, &entry, sizeof entry));
        }
    }

    if (missing)
        sp_volume_note(&inp->in,
                       "%lld nodal loads are moments or act on nodes without solid elements and are passed over",
                       (long long)missing);

    loads->count = entries.count;
    loads->vertex = sp_pool_raw(&mesh->pool, loads->count, sizeof *loads->vertex);
    loads->component = sp_pool_raw(&mesh->pool, loads->count, sizeof *loads->component);
    loads->value = sp_pool_raw(&mesh->pool, loads->count, sizeof *loads->value);
    SP_TRY(sp_allocated(inp->in.context, !mesh->pool.failed));

    for (int64_t i = 0; i < loads->count; i++) {
        const struct entry *entry = (struct entry *)entries.data + i;
        loads->vertex[i] = entry->vertex;
        loads->component[i] = entry->component;
        loads->value[i] = entry->value;
    }
done:
    sp_list_free(&indices);
    sp_list_free(&entries);
    return status;
}
