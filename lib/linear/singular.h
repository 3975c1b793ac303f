/* Directions in which a symmetric positive semidefinite matrix is 0 but for rounding: mechanisms inside a body and
 * hourglass modes in its stiffness. The sign of the last pivots tells nothing: it is that of rounding. */
#ifndef SP_LINEAR_SINGULAR_H
#define SP_LINEAR_SINGULAR_H

#include "linear/cholesky.h"

/* xᵀAx, and what rounding of the entries of A may change of it: 4 ε |x|ᵀ|A||x|. Sums over a few elements and a
 * factorization have errors of this size. */
double sp_quotient(const sp_sparse *matrix, const double *x, double *rounding);

enum { SP_SINGULAR_SOLVES = 3 };

/* x [order] receives the direction of the smallest eigenvalue of A, by SP_SINGULAR_SOLVES inverse iterations from a
 * random vector (context->seed) with a factor of A; its largest entry is 1. relative: what rounding may change of xᵀAx,
 * relative to it. Solutions with this factor have errors of about this size along x; from 1 on A is singular to
 * rounding, and they are arbitrary. */
int sp_cholesky_singular(sp_context *context, sp_cholesky *factor, const sp_sparse *matrix, double *x,
                         double *relative) SP_MUST_USE;

#endif
