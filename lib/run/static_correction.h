/* The displacements of a reduced-order body with the quasi-static response to the residual of the full-order equation
 * (mode acceleration):
 *
 *     K(Uq) e = R,   R = F − M U (q̈ + αq̇) − f(Uq) − β K(Uq) U q̇.
 *
 * This is one step of Newton's method for the full-order equation with the inertia and damping of the reduced motion;
 * it uses the part of K that is positive definite element by element where K is not. For mode superposition, f = K u
 * with K at rest, it is the mode acceleration method: u = K⁻¹(F − M U (q̈ + αq̇) − β K U q̇) (Craig and Kurdila,
 * Fundamentals of Structural Dynamics, §11.4). ½ eᵀR is the energy by which the strain energy of the model is too
 * large. */
#ifndef SP_RUN_STATIC_CORRECTION_H
#define SP_RUN_STATIC_CORRECTION_H

#include "run/body.h"
#include "run/run.h"

typedef struct sp_static_correction sp_static_correction;

/* The body must be constrained. SP_USAGE for a spring among its loads. It needs its integrator only later. */
int sp_static_correction_new(const sp_run_body *body, sp_static_correction **correction) SP_MUST_USE;

/* Adds e [3·vertices] to u [3·vertices], the displacements Uq of the present state. SP_NUMERICAL if K cannot be
 * factored. */
int sp_static_correction_add(sp_static_correction *correction, double *u) SP_MUST_USE;

/* J: the largest ½ eᵀR so far. */
double sp_static_correction_energy(const sp_static_correction *correction);

/* Saves this energy. */
sp_observer sp_static_correction_observer(sp_static_correction *correction);

void sp_static_correction_free(sp_static_correction *correction); /* NULL is allowed */

#endif
