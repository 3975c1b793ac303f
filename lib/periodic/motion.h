/* A periodic motion of a reduced-order model, such as a point of a curve (periodic/curve.h): how well it satisfies the
 * equation of motion, and its frames over time with their energies. */
#ifndef SP_PERIODIC_MOTION_H
#define SP_PERIODIC_MOTION_H

#include "periodic/harmonic.h"

typedef struct sp_periodic_motion {
    enum sp_periodic_kind kind; /* SP_PERIODIC_BACKBONE: free motion, to which no damping applies */
    int64_t r, harmonics;
    double frequency, factor;   /* Ω [rad/s] > 0; p, 0 of a free motion */
    const double *coefficients; /* of q [2H + 1, r] */
} sp_periodic_motion;

/* The norm of the residual of harmonic balance in the model (periodic/harmonic.h), relative to that of the internal
 * force. The harmonics of the model are those of the motion. */
int sp_periodic_motion_residual(sp_context *context, const sp_periodic_model *model, const sp_periodic_motion *motion,
                                double *residual) SP_MUST_USE;

/* Stored is the strain energy; of a force without energy (reduced/force.h) the work done against it since the start.
 * Work is that of the external forces, dissipated that of damping, both since the start. All in J. */
typedef struct sp_periodic_frame {
    double time;            /* s */
    const double *q, *qdot; /* [r], valid until the visitor returns */
    double kinetic, stored, work, dissipated;
} sp_periodic_frame;

/* Passes frames · periods + 1 frames to the visitor, the first at the phase 0, `frames` of them in each period. Work
 * and dissipation are integrals by Gauss's rule of five points over parts of a period, of which there are at least
 * 4(H + 1). */
int sp_periodic_motion_frames(sp_context *context, const sp_periodic_model *model, const sp_periodic_motion *motion,
                              int64_t frames, int64_t periods, void (*visit)(void *data, const sp_periodic_frame *),
                              void *data) SP_MUST_USE;

#endif
