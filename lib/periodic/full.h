/* Periodic motions of a reduced-order model, u = U q, in the equation of motion of the full-order model,
 *
 *     M ü + (αM + βK(u)) u̇ + D u̇ + f(u) = f₀ + p f₁ cos Ωt.
 *
 * Harmonic balance makes the projection UᵀR of the residual R vanish. R consists of the forces that the basis cannot
 * represent. Modal damping is that of the reduced-order model: the force D u̇ is M U S q̇ of the motion. */
#ifndef SP_PERIODIC_FULL_H
#define SP_PERIODIC_FULL_H

#include "model/system.h"
#include "periodic/motion.h"

typedef struct sp_full_periodic_model {
    const sp_system *system;                /* of a full-order model, without springs; n degrees of freedom */
    int64_t r;                              /* coordinates */
    const double *U;                        /* [n, r, column major] */
    const double *constant, *amplitude;     /* f₀ and f₁ [n], N */
    double damping_mass, damping_stiffness; /* α [1/s], β [s] */
    const double *modal;                    /* S [r, r, column major] 1/s; NULL: no modal damping */
} sp_full_periodic_model;

/* ---- the residual ---- */

typedef struct sp_full_residual sp_full_residual;

/* The norm of a force is the energy norm of the displacement that it causes, ‖R‖² = Rᵀ A⁻¹ R with A = K(0) + ω²M, which
 * does not depend on the size of elements. `omega` [rad/s] is a frequency of the model; it makes A definite also for a
 * body that is not fixed. A is factored once. The model must outlive the residual. SP_NUMERICAL if A is not positive
 * definite; *residual is NULL after a failure. */
int sp_full_residual_new(sp_context *context, const sp_full_periodic_model *model, int64_t harmonics, double omega,
                         sp_full_residual **residual) SP_MUST_USE;
void sp_full_residual_free(sp_full_residual *residual); /* NULL is allowed */

/* The root mean square over a period of the harmonics 0 … H of R, relative to the same of the internal force f(u), in
 * this norm. Forces are evaluated at as many phases as in periodic/harmonic.h. SP_NUMERICAL if a force is not
 * finite. */
int sp_full_residual_at(sp_full_residual *residual, const sp_periodic_motion *motion, double *relative) SP_MUST_USE;

/* ---- one period ---- */

/* The change of the state of the full-order model over a period that begins with a motion at the phase 0. */
typedef struct sp_full_closing {
    double position; /* ‖u(T) − u(0)‖ relative to the largest ‖u(t) − U a₀‖, in the norm of the mass */
    double velocity; /* ‖u̇(T) − u̇(0)‖ relative to the largest ‖u̇(t)‖ */
} sp_full_closing;

/* Integrates one period in `steps` steps of Newmark's method (β = ¼, γ = ½; integrate/integrate.h), whose phase lags by
 * 2π (2π/steps)²/12 in a period. SP_NUMERICAL if a step does not converge. */
int sp_full_periodic_close(sp_context *context, const sp_full_periodic_model *model, const sp_periodic_motion *motion,
                           int64_t steps, sp_full_closing *closing) SP_MUST_USE;

#endif
