/* Stability of periodic motions: the Floquet multipliers, which are the eigenvalues of the monodromy matrix Φ(T) of the
 * variational equation. With η of periodic/harmonic.h, p = ẏ + βKy and C diagonal it is
 *
 *     ẏ = p − β K(t) y,     ṗ = −K(t) y − C ẏ,
 *
 * so that no derivative of K is needed. It is integrated by Gauss's method of three stages and order 6 (Hairer, Lubich
 * and Wanner 2006, section II.1.3), one implicit system of order 3r in each step. It is symplectic, so that
 * conservative motions have multipliers in pairs μ, 1/μ and stable ones on the unit circle, and A-stable with any
 * damping. It damps nothing, and modes can resonate with its steps; the number of steps therefore follows the highest
 * frequency ω along the orbit: ωh ≤ 1, or 1/2 where 1024 steps are enough for that. The relative error of a frequency
 * is (ωh)⁶/100800. K(t) is interpolated from samples at 4H + 1 phases, which is exact for cubic forces, or 8H + 9.
 *
 * Where this takes more than 4096 steps in a period, the highest modes, of more than 650 times the frequency of the
 * motion, are eliminated by static condensation, K_dd − K_ds K_ss⁻¹ K_sd, from the last one on: their inertia changes
 * the others by a relative (Ω/ω)² or 2e-6, and their own multipliers are not computed.
 *
 * Hill's method, whose matrices harmonic balance has already, was not chosen: an eigenvalue problem of order
 * 2r(2H + 1) costs more than the curve itself, and the selection of 2r of its eigenvalues by the smallest imaginary
 * part fails for modes far above HΩ, which have none in that strip. Nor was Radau's method, whose L-stability damps
 * what its steps do not resolve, and with it the growth of modes far above the motion. */
#ifndef SP_PERIODIC_FLOQUET_H
#define SP_PERIODIC_FLOQUET_H

#include "periodic/harmonic.h"

typedef struct sp_floquet {
    sp_pool pool;
    int r, n, samples;              /* n ≤ r coordinates are integrated; phases of K */
    double *phi;                    /* [2n, 2n] */
    double *A, *B, *K, *eta, *work; /* [3n, 3n], [3n, 2n], three matrices [n, n], [r] */
    double *sample, *weight, *turn; /* K at the phases [r, r, samples]; [samples, 3]; cosines and sines [2, samples] */
    double *re, *im;                /* [2r] the multipliers, by decreasing modulus; 0 from 2n on: not computed */
    int *pivot;
} sp_floquet;

int sp_floquet_new(sp_context *context, const sp_harmonic *harmonic, sp_floquet *floquet) SP_MUST_USE;
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
