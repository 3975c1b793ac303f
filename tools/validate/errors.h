/* Errors of a motion relative to a reference, frame by frame: the validation of a reduced-order model against the
 * full-order one. */
#ifndef TOOLS_VALIDATE_ERRORS_H
#define TOOLS_VALIDATE_ERRORS_H

#include "base/memory.h"
#include "linear/sparse.h"

/* One frame over the free degrees of freedom of a body. */
typedef struct sp_scene_trajectory_frame {
    double time;         /* s */
    const double *u, *v; /* [n] m, m/s */
    double energy;       /* kinetic + stored, J */
} sp_scene_trajectory_frame;

/* All are relative; 0 without any difference, infinite if the reference is zero and the motion is not. */
typedef struct sp_trajectory_errors {
    double position; /* √(∫‖Δu‖²_M dt / ∫‖u‖²_M dt) with ‖u‖²_M = uᵀMu, the reference's u in the denominator … */
    double velocity; /* … and the same of velocities */
    double largest;  /* max ‖Δu_a‖ / max ‖u_a‖ over all vertices a and frames */
    double energy;   /* max |ΔE| / max |E| over all frames */
} sp_trajectory_errors;

/* Integrals over time so far, by the trapezoidal rule between frames. */
typedef struct sp_trajectory_error_sums {
    sp_pool pool;
    sp_context *context;
    const sp_sparse *mass;
    const int64_t *vertex;
    double *work; /* [n, 8] */
    int64_t frames;
    double time, density[4]; /* of the last frame: ‖Δu‖², ‖Δv‖², ‖u‖², ‖v‖² */
    double integral[4];
    double largest[2], energy[2]; /* difference, reference */
} sp_trajectory_error_sums;

/* mass [n, n] and the vertex of every degree of freedom, vertex [n]; the degrees of freedom of a vertex are consecutive
 * (sp_fe_space_nodes); both must outlive the sums. */
int sp_trajectory_error_sums_new(sp_context *context, const sp_sparse *mass, const int64_t *vertex,
                                 sp_trajectory_error_sums *sums) SP_MUST_USE;
void sp_trajectory_error_sums_free(sp_trajectory_error_sums *sums);

/* The next frame of both; frames come in the order of time. Allocates nothing. */
void sp_trajectory_error_sums_add(sp_trajectory_error_sums *sums, const sp_scene_trajectory_frame *reference,
                                  const sp_scene_trajectory_frame *frame);

void sp_trajectory_error_sums_errors(const sp_trajectory_error_sums *sums, sp_trajectory_errors *errors);

#endif
