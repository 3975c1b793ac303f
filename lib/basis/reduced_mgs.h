/* Reduced mass-MGS (Yang 2015 §4.2, algorithm 2, corrected): Gram–Schmidt with inner products over few sample points, a
 * baseline for exact block Gram–Schmidt (linear/store.h). The subject of US patent 10,474,927: compiled with the option
 * yang2015 only. */
#ifndef SP_BASIS_REDUCED_MGS_H
#define SP_BASIS_REDUCED_MGS_H

#include "assembly/fe_space.h"

/* ⟨u, v⟩_S = Σ_p w_p u_p·v_p (eq. 6): the mass of each cubic box that intersects the body is lumped at the vertex
 * nearest to its centre. */
typedef struct sp_sparse_inner {
    sp_pool pool;
    int64_t count;
    int64_t *row; /* [3·count] number among the free degrees of freedom, −1 if fixed */
    double *root; /* [count] √w_p, √kg */
    double box;   /* m, edge of the boxes */
} sp_sparse_inner;

/* About `samples` points: the smallest number of boxes along the longest side that gives at least that many. 0:
 * 128·log₂ of the number of vertices (the paper: proportional to log n). */
int sp_sparse_inner_new(sp_context *context, const sp_fe_space *space, int64_t samples,
                        sp_sparse_inner *inner) SP_MUST_USE;
void sp_sparse_inner_free(sp_sparse_inner *inner);

/* y [3·count, columns] = √w u at the samples, so that ⟨u, v⟩_S is the ordinary inner product. */
void sp_sparse_inner_gather(const sp_sparse_inner *inner, int64_t order, int64_t columns, const double *u, double *y);

/* Orthogonalizes W [order, width] against V [order, before] and within itself, with V orthonormal in ⟨,⟩_S. The
 * coefficients come from the samples Y = [gathered V | space for W] [3·count, before + width] alone; the full vectors
 * are then combined once, by BLAS-3: W ← (W − V C) T⁻¹. A subtraction whose sparse cosine is below `culling` is left
 * out. Columns that lose all but 1e-7 of their length become zero. done and culled count the subtractions; cosine is
 * raised to the largest sparse cosine of a column before its orthogonalization. */
int sp_reduced_mgs(sp_context *context, const sp_sparse_inner *inner, double culling, int64_t order, int64_t before,
                   const double *V, int64_t width, double *W, double *Y, int64_t *done, int64_t *culled,
                   double *cosine) SP_MUST_USE;

#endif
