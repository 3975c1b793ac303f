#include "assembly/elastic.h"
#include "basis/derivatives.h"
#include "basis/inertia_derivatives.h"
#include "basis/modes.h"
#include "linear/dense.h"
#include "tools/common/solve.h"
#include "tools/derivatives/methods.h"

#include <math.h>
#include <string.h>

/* λ₁/λ of the columns behind the rigid ones, by their Rayleigh quotients (eigenvalues are those of eigenvectors), with
 * the matrices of a space. */
static void weigh_by(derivatives_problem *p, const sp_fe_space *space, const sp_sparse *K, const sp_sparse *M,
                     double *weight)
{
    int64_t n = space->dof_count, count = p->k - p->rigid;
    double *u = tool_allocate_raw(&p->pool, n, sizeof *u), *product = tool_allocate_raw(&p->pool, n, sizeof *product),
           least = INFINITY, most = 0;

    for (int64_t c = 0; c < count; c++) {
        sp_fe_space_gather(space, p->modes.columns.U + (p->rigid + c) * p->modes.columns.rows, u);
        sp_sparse_times(p->context, K, 1, u, product);
        double stiffness = sp_dense_dot(n, u, product);

        sp_sparse_times(p->context, M, 1, u, product);
        weight[c] = stiffness / sp_dense_dot(n, u, product);
        most = fmax(most, weight[c]);
        least = fmin(least, weight[c]);
    }

    for (int64_t c = 0; c < count; c++) {
        if (!(weight[c] > 1e-12 * most && isfinite(weight[c]))) {
            if (p->whole.mesh)
                tool_hint("a single interface moves the domain as a whole: simpart --fix-parent fixes it, modes --rest "
                          "holds its mean");
            tool_fail(SP_INPUT, p->modes.path,
                      "column %lld has the Rayleigh quotient %g: only deformations have derivatives",
                      (long long)(p->rigid + c) + 1, weight[c]);
        }
        weight[c] = least / weight[c];
    }
}

/* Interfaces that are at rest in the derivatives move in the columns. */
static void weigh(derivatives_problem *p, const sp_sparse *K, const sp_sparse *M, double *weight)
{
    sp_sparse whole_K, whole_M;
    if (!p->whole.mesh) {
        weigh_by(p, &p->body, K, M, weight);
        return;
    }
    tool_check(sp_fe_space_mass_compressed(p->context, &p->whole, false, &whole_M), p->mesh.path);
    tool_check(sp_elastic_stiffness(p->context, &p->whole, &whole_K), p->mesh.path);
    weigh_by(p, &p->whole, &whole_K, &whole_M, weight);
    sp_sparse_free(&whole_K);
    sp_sparse_free(&whole_M);
}

void derivatives_inertia(derivatives_problem *p)
{
    int64_t n = p->body.dof_count, rows = p->modes.columns.rows, count = p->k - p->rigid, rigid_count = 0;
    sp_sparse K, M;
    sp_flexibility *own = NULL, *flexibility = p->restricted;
    sp_list orders = {0};
    sp_inertia_derivatives_report report;

    tool_check(sp_fe_space_mass_compressed(p->context, &p->body, false, &M), p->mesh.path);
    tool_check(sp_elastic_stiffness(p->context, &p->body, &K), p->mesh.path);

    double *rigid = tool_allocate_raw(&p->pool, 6 * n, sizeof *rigid),
           *weight = tool_allocate_raw(&p->pool, count, sizeof *weight);
    int64_t *node = tool_allocate_raw(&p->pool, n, sizeof *node);
    sp_fe_space_nodes(&p->body, node);

    if (!p->restricted)
        tool_check(sp_rigid_motions(p->context, &p->body, &M, rigid, &rigid_count), p->mesh.path);
    weigh(p, &K, &M, weight);

    tool_check(sp_inertia_derivatives_choose(p->context, count, weight, p->order, p->most, &p->pairs, &orders),
               p->modes.path);
    if (p->shard) { /* of order 1; those of a free body are solved together */
        derivatives_cut_shard(p, rigid_count ? SP_DERIVATIVES_WIDTH : 1);
        orders.count = p->pairs.count / 2;
    }

    p->count = orders.count;
    /* The elastic columns in front, as the library wants them: rigid ones have no part in this. */
    double *all = tool_allocate_raw(&p->pool, rows * (count + p->count), sizeof *all);
    memcpy(all, p->modes.columns.U + p->rigid * rows, (size_t)(rows * count) * sizeof *all);

    if (!flexibility) {
        tool_check_solve(sp_flexibility_new(p->context, &K, &M, node, rigid_count, rigid, SP_COMPLEMENT_MASS,
                                            derivatives_permutation(p), &own),
                         p->mesh.path, &p->body, NULL);
        flexibility = own;
    }

    tool_check_solve(
        sp_inertia_derivatives(p->context, &p->body, &K, flexibility, count, p->count, p->pairs.data, all, &report),
        p->mesh.path, &p->body, NULL);

    p->U = all + count * rows;
    p->residual = report.residual;

    int64_t *of_order = tool_allocate(&p->pool, p->order, sizeof *of_order);
    for (int64_t c = 0; c < orders.count; c++)
        of_order[((int64_t *)orders.data)[c] - 1]++;

    tool_facts(p->result, sp_kind_derivatives.result, {"of_order", .count = p->order, .integers = of_order},
               {"factor_nonzeros", .real = sp_cholesky_nonzeros(sp_flexibility_factor(flexibility))},
               {"factor_flops", .real = sp_cholesky_flops(sp_flexibility_factor(flexibility))});

    /* Numbers of the file's columns, rigid ones included. */
    for (int64_t c = 0; c < p->pairs.count; c++)
        ((int64_t *)p->pairs.data)[c] += p->rigid;

    sp_list_free(&orders);
    sp_flexibility_free(own);
    sp_sparse_free(&K);
    sp_sparse_free(&M);
}
