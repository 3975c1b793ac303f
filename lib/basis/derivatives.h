/* Modal derivatives: the change of the modes as the body deforms along them. */
#ifndef SP_BASIS_DERIVATIVES_H
#define SP_BASIS_DERIVATIVES_H

#include "assembly/fe_space.h"
#include "basis/flexibility.h"

typedef struct sp_derivatives_report {
    double residual; /* largest ‖KΦ + (H:Ψ_j)Ψ_i‖ / ‖(H:Ψ_j)Ψ_i‖ over all columns, recomputed with K */
    double factor_nonzeros, factor_flops;
    /* s of processor time of all threads: for the loads −(H:Ψ_j)Ψ_i, for K with its factor, and for Φ with its residual
     */
    double load_time, factor_time, solve_time;
} sp_derivatives_report;

/* Solves K Φ_ij = −(H:Ψ_j)Ψ_i for Φ [3·vertices, pair_count] (0 at fixed components) with i = pair[2c], j = pair[2c+1]
 * (Barbič & James 2005 eq. 15, thesis eq. 2.45), from U [3·vertices, mode_count]. K must be positive definite: the body
 * must be constrained. `memory` bounds the bytes of right-hand sides in memory (0: no bound), of which there are at
 * least eight. It takes one factorization, the exact second derivative of the force, and solves in blocks. Data that
 * are known already may be given and do not change the result: `known`, the flexibility at rest; permutation, the order
 * of its rows (sp_cholesky_new_permuted); else NULL. A restricted flexibility is that of a body with constraints. The
 * bytes of a column do not depend on the other pairs. */
int sp_modal_derivatives(sp_context *context, sp_fe_space *space, int64_t mode_count, const double *U,
                         int64_t pair_count, const int64_t *pair, int64_t memory, const int64_t *permutation,
                         sp_flexibility *known, double *derivative, sp_derivatives_report *report) SP_MUST_USE;

/* The common part of all static derivatives: columns derivative [3·vertices, count] = −K⁻¹ (H:U_j)U_i for count ≤
 * SP_DERIVATIVES_WIDTH pairs of columns of U [3·vertices, mode_count], with K at rest and its flexibility. work
 * [sp_derivatives_work(space, count)] is scratch. Of the report residual is raised to the largest ‖K Φ − f‖/‖f‖, and
 * load_time and solve_time are increased. The bytes of a column of a constrained body do not depend on the other pairs.
 * sp_derivatives_padded is the number of columns that are solved for `count` pairs. */
enum { SP_DERIVATIVES_WIDTH = 64 };
int64_t sp_derivatives_padded(int64_t count);
int64_t sp_derivatives_work(const sp_fe_space *space, int64_t count);
int sp_solve_derivatives(sp_context *context, const sp_fe_space *space, const sp_sparse *K, sp_flexibility *flexibility,
                         int64_t mode_count, const double *U, int64_t count, const int64_t *pair, double *derivative,
                         double *work, sp_derivatives_report *report) SP_MUST_USE;

/* The part of it that does not depend on where the loads come from: solution [n, count] = K⁻¹ load, with n = K->order
 * and count ≤ SP_DERIVATIVES_WIDTH. So that the bytes of a column do not depend on the others, count must be
 * sp_derivatives_padded of the number of loads, with 0 in the columns that are added. residual is raised to the largest
 * ‖K Φ − f‖/‖f‖ of the columns that are not 0. load loses what reactions balance; product [n, count] is scratch. */
int sp_derivatives_of_loads(sp_context *context, const sp_sparse *K, sp_flexibility *flexibility, int64_t count,
                            double *load, double *solution, double *product, double *residual) SP_MUST_USE;

#endif
