#include "tools/derivatives/methods.h"

#include "tools/common/shard.h"

#include <string.h>

const int64_t *derivatives_permutation(derivatives_problem *p)
{
    const sp_columns *modes = &p->modes.columns;
    if (!modes->ordering)
        return NULL;
    int64_t *permutation = tool_allocate_raw(&p->pool, p->body.dof_count, sizeof *permutation);

    /* Fixed vertices are no part of UᵀMU, by which modes of another mesh are found. */
    const int status =
        sp_fe_space_permutation(p->context, &p->body, modes->ordering_count, modes->ordering, permutation);
    if (status == SP_INPUT)
        tool_hint("%s has other fixed vertices than the mesh of the modes, or one of the files was changed",
                  p->mesh.path);
    tool_check(status, p->modes.path);
    return permutation;
}

void derivatives_all_pairs(derivatives_problem *p)
{
    for (int64_t i = p->rigid; i < p->k; i++) /* of a free body both orders of a pair, since they differ */
        for (int64_t j = p->rigid ? p->rigid : i; j < p->k; j++) {
            int64_t *pair = tool_list_add(&p->pairs, 2, sizeof *pair);
            pair[0] = i;
            pair[1] = j;
        }
}

void derivatives_cut_shard(derivatives_problem *p, int64_t step)
{
    const int64_t total = p->pairs.count / 2;
    if (!p->shard)
        return;
    const tool_shard shard = tool_shard_parse(p->shard, total, step, "pairs");
    p->shard_first = shard.first;
    p->shard_total = total;
    p->pairs.count = 2 * (shard.end - shard.first);
    memmove(p->pairs.data, (int64_t *)p->pairs.data + 2 * shard.first, (size_t)p->pairs.count * sizeof(int64_t));
}

/* The interfaces that are at rest in all columns of the basis, and so in its derivatives. */
static void add_rest(derivatives_problem *p, sp_columns *columns)
{
    const sp_columns *from = &p->modes.columns;
    columns->interfaces = tool_allocate(&p->pool, from->interface_count, sizeof *from->interfaces);
    for (int64_t i = 0; i < from->interface_count; i++)
        if (from->interfaces[i].at_rest)
            columns->interfaces[columns->interface_count++] = from->interfaces[i];
}

void derivatives_write(derivatives_problem *p, tool_output *output)
{
    if (p->residual > 1e-8)
        tool_warn(p->mesh.path, "the residual of a derivative is %.1e", p->residual);
    tool_say("%lld derivatives of %lld modes, largest residual %.1e", (long long)p->count, (long long)p->k,
             p->residual);
    if (p->solve_time > 0)
        tool_say("processor time: right-hand sides %.2f s, stiffness and factorization %.2f s, solutions %.2f s",
                 p->load_time, p->factor_time, p->solve_time);

    sp_columns columns = {.rows = p->modes.columns.rows,
                          .count = p->count,
                          .U = p->U,
                          .pair = p->pairs.data,
                          .order = p->order,
                          .source = p->k,
                          .first = p->shard_first,
                          .end = p->shard_total ? p->shard_first + p->count : 0,
                          .total = p->shard_total};
    memcpy(columns.mesh, p->mesh.hash, sizeof columns.mesh);
    add_rest(p, &columns);
    json_t *meta = tool_meta_new("derivatives");
    tool_check(sp_columns_write(p->context, tool_output_writer(output), meta, &columns), p->path);
    tool_facts(p->result, sp_kind_derivatives.result, {"largest_residual", .real = p->residual});
    tool_output_finish(output, p->result);
    json_decref(meta);
}
