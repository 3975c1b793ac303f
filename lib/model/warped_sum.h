/* Modal warping of forces that act on every vertex and depend on its place and velocity.
 *
 * A model has the forces g(X + u, U q̇) of the linear displacements u = U q. With modal warping (model/modal_warp.h) a
 * vertex of mass m is at x = X + Ř(w) u with the velocity v = ẋ, and forces act in axes that are rotated by exp([w]),
 * so that they are Uᵀ exp(−[w]) g(x, v). This is what is missing:
 *
 *     Σ m Uᵀ (exp(−[w]) g(X + Ř(w) u, v) − g(X + u, U q̇))
 *
 * over all vertices, each with its mass (assembly/fe_space.h) and g of a unit mass. It vanishes with w.
 *
 * The sum visits every vertex in every evaluation: 15 products of rows with vectors of r. */
#ifndef SP_MODEL_WARPED_SUM_H
#define SP_MODEL_WARPED_SUM_H

#include "model/modal_warp.h"

typedef struct sp_warped_sum {
    sp_pool pool;
    int64_t r, count; /* coordinates, vertices */
    const double *X;  /* [count, 3] m */
    double *mass;     /* [count] kg, times the scale */
    double *rows;     /* [count, 6, r] those of U, and of the rotations ½ curl U */
} sp_warped_sum;

/* g(x, v) of a unit mass at a vertex, in the axes of the mesh [m/s²]. */
typedef void sp_warped_force(const void *data, int64_t vertex, const double x[3], const double v[3], double g[3]);

/* For a body with the consistent or the lumped mass in the basis U [3·vertices, r, column major]. scale: factor on the
 * mass. The mesh must outlive the result. */
int sp_warped_sum_new(sp_context *context, const sp_fe_space *body, const sp_modal_warp *warp, const double *U,
                      int64_t r, bool lumped, double scale, sp_warped_sum *sum) SP_MUST_USE;
void sp_warped_sum_free(sp_warped_sum *sum); /* a zeroed one is allowed */

/* f [r] += the sum, for q and its rate [r] (NULL: 0). */
void sp_warped_sum_add(const sp_warped_sum *sum, sp_warped_force *force, const void *data, const double *q,
                       const double *qdot, double *f);

#endif
