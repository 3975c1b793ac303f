#include "tools/common/parallel.h"

#include <string.h>

static int assemble(sp_context *context, const tool_mesh *mesh, bool lumped, tool_parallel_body *body,
                    sp_block_rows *rows)
{
    SP_PASS(sp_partition_part(context, &mesh->mesh, &body->partition, &body->pool, &body->part, &body->origin));
    SP_PASS(sp_fe_space_new_prescribed(context, &body->part, &body->space));
    return sp_block_rows_new(context, &mesh->mesh, &body->partition, &body->space, body->origin, lumped, rows);
}

void tool_parallel_divide(sp_context *context, const tool_mesh *mesh, tool_parallel_body *body)
{
    *body = (tool_parallel_body){0};
    tool_check(sp_partition_new(context, &mesh->mesh, tool_parallel_rank(), tool_parallel_ranks(), &body->partition),
               mesh->path);
}

void tool_parallel_open(sp_context *context, const tool_mesh *mesh, bool direct, bool lumped, bool keep,
                        tool_parallel_body *body)
{
    const sp_parallel_module *module = tool_parallel();
    sp_block_rows rows = {0};

    tool_parallel_agree(assemble(context, mesh, lumped, body, &rows), mesh->path);

    sp_fe_space_free(&body->space); /* its pattern is the largest part of the memory */
    if (!keep)
        sp_mesh_free(&body->part);
    sp_memory_return();

    tool_parallel_agree(module->open(context, &rows, direct, &body->solver), mesh->path);
    sp_block_rows_free(&rows);

    if (keep)
        tool_parallel_agree(sp_fe_space_new_prescribed(context, &body->part, &body->space), mesh->path);
}

void tool_parallel_close(tool_parallel_body *body)
{
    tool_parallel()->close(body->solver);
    sp_fe_space_free(&body->space);
    sp_mesh_free(&body->part);
    sp_pool_free(&body->pool);
    sp_partition_free(&body->partition);
}

double *tool_parallel_gather(sp_context *context, const tool_mesh *mesh, const tool_parallel_body *body, int64_t count,
                             const double *own, sp_pool *pool)
{
    const sp_partition *p = &body->partition;
    const int64_t rows = 3 * mesh->mesh.vertex_count;
    double *U = NULL, *all = NULL;

    if (p->rank == 0) {
        U = tool_allocate(pool, rows * count, sizeof *U);
        all = tool_allocate_raw(pool, 3 * p->total, sizeof *all);
    }

    for (int64_t c = 0; c < count; c++) {
        tool_check(tool_parallel()->gather(context, body->solver, own + c * 3 * p->count, all), NULL);
        if (!U)
            continue;
        for (int64_t i = 0; i < 3 * p->total; i++) {
            const int64_t v = p->vertex[i / 3];
            if (!(p->axes[v] >> i % 3 & 1))
                U[c * rows + 3 * v + i % 3] = all[i];
        }
    }

    sp_pool_drop(pool, all);
    return U;
}
