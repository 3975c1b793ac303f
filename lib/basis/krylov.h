/* Linear inertia modes: a Krylov subspace of K⁻¹M instead of eigenvectors (Yang, Li, Xu, Tian and Zheng 2015 §4.1, eq.
 * 2 and 3). The subject of US patent 10,474,927: compiled with the option yang2015 only. */
#ifndef SP_BASIS_KRYLOV_H
#define SP_BASIS_KRYLOV_H

#include "basis/flexibility.h"
#include "basis/reduced_mgs.h"
#include "linear/store.h"

enum sp_orthogonalization {
    SP_ORTHOGONAL_EXACT,   /* block Gram–Schmidt in the mass metric, every block projected twice */
    SP_ORTHOGONAL_REDUCED, /* the paper's reduced mass-MGS (reduced_mgs.h) */
    SP_ORTHOGONAL_NONE,    /* columns are only mass-normalized; beyond a few orders they are parallel up to rounding */
};

typedef struct sp_krylov_parameters {
    int64_t count; /* columns wanted */
    enum sp_orthogonalization orthogonalization;
    bool symmetric; /* K⁻¹M is self-adjoint in the mass metric (not with SP_COMPLEMENT_PLAIN): a new block is orthogonal
                       up to rounding to all but the last two blocks, and exact orthogonalization costs half */
    double culling;               /* reduced: α_τ ≥ 0 */
    const sp_sparse_inner *inner; /* reduced: the sample points; else NULL */
} sp_krylov_parameters;

typedef struct sp_krylov_report {
    int64_t order;                /* m: number of applications of K⁻¹M */
    int64_t dependent;            /* columns that were dropped because earlier ones span them */
    int64_t solves;               /* right-hand sides */
    int64_t subtractions, culled; /* reduced: subtractions made and left out */
    double cosine; /* largest |cosine| of a new column to an earlier one before orthogonalization (the metric of the
                      method) */
    double orthogonality; /* largest |uᵢᵀMuⱼ − δᵢⱼ| of the result, in the full mass metric */
    double solve_seconds, orthogonalization_seconds;
} sp_krylov_report;

/* U [order, count] (mass-normalized, signs fixed): the columns of U⁽¹⁾ = K⁻¹F, U⁽ᵐ⁾ = K⁻¹M U⁽ᵐ⁻¹⁾, block after block,
 * each orthogonalized against all before it. F [order, start_count] are loads: M times an acceleration field in the
 * paper. columns receives their number, which is less than `count` if the space is exhausted. SP_INPUT if F causes no
 * deformation. */
int sp_inertia_modes(sp_context *context, sp_flexibility *flexibility, const sp_sparse *M, int64_t start_count,
                     const double *F, const sp_krylov_parameters *parameters, double *U, int64_t *columns,
                     sp_krylov_report *report) SP_MUST_USE;

#endif
