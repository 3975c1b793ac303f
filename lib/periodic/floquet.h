/* Stability of periodic motions: the Floquet multipliers, which are the eigenvalues of the monodromy matrix Φ(T) of the
 * variational equation. With η of periodic/harmonic.h, p = ẏ + βKy and C diagonal it is
 *
 *     ẏ = p − β K(t) y,     ṗ = −K(t) y − C ẏ,
 *
 * so that no derivative of K is needed. It is integrated by the Radau IIA method of order 5 (Hairer and Wanner 1996,
 * section IV.8), one implicit system of order 3r in each step. It is L-stable: reduced-order models have modes of some
 * hundred times the frequency of the motion, which no number of steps resolves, and which a symmetric method can make
 * grow by resonance with its steps. Here they decay. The largest error of a modulus is (ωh)⁶/7200 per step for a mode
 * ω.
 *
 * Hill's method, whose matrices harmonic balance has already, was not chosen: an eigenvalue problem of order
 * 2r(2H + 1) costs more than the curve itself, and the selection of 2r of its eigenvalues by the smallest imaginary
 * part fails for modes far above HΩ, which have none in that strip. */
#ifndef SP_PERIODIC_FLOQUET_H
#define SP_PERIODIC_FLOQUET_H

#include "periodic/harmonic.h"

typedef struct sp_floquet {
    sp_pool pool;
    int r, steps;
    double *phi;                    /* [2r, 2r] */
    double *A, *B, *K, *eta, *work; /* [3r, 3r], [3r, 2r], three matrices [r, r], [r] */
    double *re, *im;                /* [2r] the multipliers, by decreasing modulus */
    int *pivot;
} sp_floquet;

/* steps: at least 8H is sensible. */
int sp_floquet_new(sp_context *context, const sp_harmonic *harmonic, int steps, sp_floquet *floquet) SP_MUST_USE;
void sp_floquet_free(sp_floquet *floquet);

/* Sets re and im at x. A free motion has two multipliers 1 whatever it is: the two that are closest to 1 are set to it.
 * SP_NUMERICAL if eigenvalues are not found. */
int sp_floquet_multipliers(sp_context *context, sp_floquet *floquet, sp_harmonic *harmonic,
                           const double *x) SP_MUST_USE;

/* The largest modulus; Π(1 + μ), which changes its sign at a period doubling; the largest modulus of complex
 * multipliers minus 1 (−1 if there are none), which is 0 at a Neimark-Sacker point. */
double sp_floquet_largest(const sp_floquet *floquet);
double sp_floquet_doubling(const sp_floquet *floquet);
double sp_floquet_torus(const sp_floquet *floquet);

#endif
