/* Loads on a body that moves: forces of constant direction in the world on its material points, and springs to points
 * of the world.
 *
 * A load with the forces f_v on vertices has, for the rotation R of the body and its coordinates q, the resultant Σ
 * f_v, the moment Σ (R y_v) × f_v about the origin of the body's frame, y_v = X_v + U_v q, and the generalized forces
 * Σ U_vᵀ Rᵀ f_v. All of them follow from the constants Σ X_v f_vᵀ and Σ U_vj f_vᵀ, 9 (1 + r) for each load: no vertices
 * are visited in a step. */
#ifndef SP_RIGID_BODY_LOADS_H
#define SP_RIGID_BODY_LOADS_H

#include "geometry/pose.h"
#include "model/loads.h"

typedef struct sp_body_loads {
    sp_pool pool;
    int64_t count, r;
    const sp_load *loads; /* [count] borrowed */
    double *total;        /* [count, 3] N, without the course */
    double *moment; /* [count, 1 + r, 3, 3] Σ X fᵀ, then Σ U_j fᵀ; of a spring its point X and U_j in the first
                       column */
} sp_body_loads;

/* U [3·vertices, r, column major], NULL if r = 0; `loads` must outlive the result. SP_INPUT with the number of the load
 * from 1 for one that is not valid (model/loads.h). */
int sp_body_loads_new(sp_context *context, const sp_fe_space *body, int64_t r, const double *U, int64_t count,
                      const sp_load *loads, sp_body_loads *result) SP_MUST_USE;
void sp_body_loads_free(sp_body_loads *loads);

/* Adds the mean over the time from t0 to t1 > t0 of all loads at this pose and q [r]: force F, torque T about the point
 * `about` (world) and, unless Q is NULL, generalized forces Q [r] of the rows of U. Anchors of springs are where they
 * are in the middle. */
void sp_body_loads_add(const sp_body_loads *loads, double t0, double t1, const sp_pose *pose, const double *q,
                       const double about[3], double F[3], double T[3], double *Q);

#endif
