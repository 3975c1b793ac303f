/* Sparse inner products, a baseline that those in the mass matrix are compared with (basis/reduced_mgs.h): the subject
 * of US patent 10,474,927, compiled with the option yang2015 only. */
#include "basis/reduced_mgs.h"
#include "linear/dense.h"
#include "tools/export/gram.h"

void tool_sparse_gram(sp_context *context, const char *mesh_path, const sp_fe_space *body, int64_t samples,
                      int64_t count, const double *U, double *G)
{
    sp_sparse_inner inner;
    sp_pool pool = {0};
    tool_check(sp_sparse_inner_new(context, body, samples, &inner), mesh_path);
    int64_t rows = 3 * inner.count;
    double *Y = tool_allocate_raw(&pool, rows * count, sizeof *Y),
           *work = tool_allocate_raw(&pool, sp_dense_inner_work(count, count), sizeof *work);
    sp_sparse_inner_gather(&inner, body->dof_count, count, U, Y);
    sp_dense_inner(context, rows, count, Y, count, Y, G, work);
    tool_say("%lld sample points in boxes of %.3g m", (long long)inner.count, inner.box);
    sp_sparse_inner_free(&inner);
    sp_pool_free(&pool);
}
