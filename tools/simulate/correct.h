/* --static-correction: adds to the displacements of a reduced-order model the quasi-static response to the residual of
 * the full-order equation (mode acceleration). */
#ifndef TOOLS_SIMULATE_CORRECT_H
#define TOOLS_SIMULATE_CORRECT_H

#include "integrate/integrate.h"

#include <jansson.h>

struct simulation;

/* Prepares the option; without it nothing happens. The model must have been made. */
void correct_begin(struct simulation *s);

/* Adds e [3·vertices] to u [3·vertices], the displacements Uq of the integrator's state:
 *
 *     K(Uq) e = R,   R = F − M U (q̈ + αq̇) − f(Uq) − β K(Uq) U q̇.
 *
 * This is one step of Newton's method for the full-order equation with the inertia and damping of the reduced motion;
 * it uses the part of K that is positive definite element by element where K is not. For mode superposition, f = K u
 * with K at rest, it is the mode acceleration method: u = K⁻¹(F − M U (q̈ + αq̇) − β K U q̇) (Craig and Kurdila,
 * Fundamentals of Structural Dynamics, §11.4). ½ eᵀR is the energy by which the strain energy of the
 * model is too large. Does nothing without the option. */
void correct_displacements(struct simulation *s, const sp_integrator *integrator, double *u);

/* Adds the largest energy of the corrections to the result, and prints it, also relative to `motion`, the largest
 * energy or work of the motion [J]. */
void correct_report(const struct simulation *s, double motion, json_t *result);

void correct_free(struct simulation *s);

#endif
