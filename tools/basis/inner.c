#include "tools/basis/inner.h"

#include "assembly/elastic.h"

#include <math.h>

void candidates_masses(sp_context *context, const tool_mesh *mesh, sp_fe_space *body, sp_pool *pool, sp_sparse *M,
                       sp_metric *consistent, sp_metric *lumped)
{
    int64_t rows = 3 * mesh->mesh.vertex_count;
    double *diagonal = tool_allocate_raw(pool, rows, sizeof *diagonal),
           *mass = tool_allocate_raw(pool, mesh->mesh.vertex_count, sizeof *mass);
    tool_check(sp_fe_space_mass_compressed(context, body, false, M), mesh->path);
    sp_fe_space_vertex_mass(body, true, mass);
    for (int64_t i = 0; i < rows; i++)
        diagonal[i] = mass[i / 3];
    *consistent = (sp_metric){.rows = rows, .matrix = M, .dof = body->dof};
    *lumped = (sp_metric){.rows = rows, .diagonal = diagonal};
}

void candidates_energy(candidates *set, sp_fe_space *body, const sp_metric *mass, bool lumped, sp_sparse *W,
                       sp_metric *energy)
{
    sp_sparse M;
    sp_pool pool = {0};
    double *square = tool_allocate(&pool, 2 * set->store.count, sizeof *square), sum[2] = {0};

    tool_check(sp_elastic_stiffness(set->context, body, W), set->mesh->path);
    tool_check(sp_fe_space_matrix(set->context, body, &M), set->mesh->path);
    tool_check(sp_fe_space_mass(set->context, body, lumped, &M), set->mesh->path);
    *energy = (sp_metric){.rows = set->store.rows, .matrix = W, .dof = body->dof};

    const sp_metric *metrics[] = {energy, mass};
    for (int64_t i = 0; i < 2; i++) {
        double *of = square + i * set->store.count;
        tool_check(sp_store_squares(set->context, metrics[i], &set->store, of), set->mesh->path);
        for (int64_t c = 0; c < set->store.count; c++)
            sum[i] += of[c];
    }

    const double mu = sum[0] > 0 && sum[1] > 0 ? sum[0] / sum[1] : 1;
    for (int64_t i = 0; i < W->start[W->order]; i++)
        W->value[i] += mu * M.value[i];
    sp_sparse_free(&M);
    sp_pool_free(&pool);
}

void candidates_weigh_files(candidates *set, const sp_metric *metric)
{
    sp_pool pool = {0};
    int64_t column;
    double *square = tool_allocate(&pool, set->store.count, sizeof *square),
           *sum = tool_allocate(&pool, set->file_count, sizeof *sum);

    tool_check(sp_store_squares(set->context, metric, &set->store, square), set->mesh->path);
    for (int64_t c = 0; c < set->store.count; c++)
        sum[candidates_origin(set, c, &column) - set->files] += square[c];

    for (int64_t c = 0; c < set->store.count; c++) {
        const double of = sum[candidates_origin(set, c, &column) - set->files];
        square[c] = of > 0 ? 1 / sqrt(of) : 1;
    }
    tool_check(sp_store_scale(set->context, &set->store, square), set->mesh->path);
    sp_pool_free(&pool);
}
