/* Oscillators q̈ + c q̇ + λ q = external with c = α + βλ + their damping rate, each integrated exactly under the mean of
 * its force over the step. This is exact for forces that change only at the ends of steps. */
#include "integrate/internal.h"

#include <assert.h>
#include <math.h>

/* The response of an oscillator over h: displacement G to a unit force; displacement S and velocity V to a unit
 * velocity. G' = S, S' = V = 1 − c S − λ G. */
typedef struct response {
    double G, S, V;
} response;

/* For weak springs and damping over the step, ch ≤ 1 and λh² ≤ 1, the closed forms cancel. Then the Taylor series of
 * G'' = 1 − c G' − λ G is used, with z_k = G⁽ᵏ⁾(0) hᵏ/k!. */
static response short_step(double lambda, double c, double h)
{
    enum { TERMS = 24 }; /* |z_k| ≤ 2ᵏ/k!, so that the remainder is below 1e-16 of the first term */
    double before = 0, z = 0.5, G = 0.5, S = 1;

    for (int k = 1; k < TERMS; k++) { /* z is z_(k+1) */
        const double next = -(c * h * (k + 1) * z + lambda * h * h * before) / ((double)(k + 1) * (k + 2));
        before = z;
        z = next;
        G += z;
        S += (k + 2) * z;
    }
    return (response){G * h * h, S * h, 1 - c * S * h - lambda * G * h * h};
}

static response respond(double lambda, double c, double h)
{
    const double half = 0.5 * c, square = lambda - half * half;

    if (c * h <= 1 && lambda * h * h <= 1)
        return short_step(lambda, c, h);

    double cosine = exp(-half * h),
           sine = cosine * h; /* of ωh, with the decay; the second divided by ω; cosh and sinh if overdamped */

    if (square > 0) {
        const double omega = sqrt(square), decay = cosine;
        cosine = decay * cos(omega * h);
        sine = decay * sin(omega * h) / omega;
    } else if (square < 0) { /* the decay rates are half ± ω; their product is λ */
        const double omega = sqrt(-square), fast = half + omega, slow = lambda / fast, left = exp(-slow * h);
        sine = -0.5 * left * expm1(-2 * omega * h) / omega;
        cosine = left - omega * sine;
        if (slow < 0.1 * fast) { /* so slow that 1 − left would cancel */
            const double by_slow = slow > 0 ? -expm1(-slow * h) / slow : h;
            return (response){0.5 * (by_slow + expm1(-fast * h) / fast) / omega, sine, cosine - half * sine};
        }
    }

    /* G from λ G = 1 − c S − V */
    return (response){(1 - cosine - half * sine) / lambda, sine, cosine - half * sine};
}

static int step(sp_integrator *it)
{
    const double *eigenvalue = it->system->eigenvalue, *rate = it->system->damping_rate;
    assert(eigenvalue);

    sp_mean_force(it, it->t0, it->t1, it->load.force);
    for (int64_t i = 0; i < it->n; i++) {
        /* λ ≤ 0, a rigid mode up to rounding, counts as 0. */
        const double lambda = fmax(eigenvalue[i], 0),
                     c = it->p.damping_mass + it->p.damping_stiffness * lambda + (rate ? rate[i] : 0),
                     f = it->load.force[i];

        const double q = it->now.q[i], v = it->now.v[i], pull = f - lambda * q;
        const response to = respond(lambda, c, it->h);
        const double q1 = q + to.G * pull + to.S * v, v1 = to.S * pull + to.V * v, work = f * (q1 - q);

        /* What the energy ½ v² + ½ λ q² has lost beyond the work of the force */
        it->ledger.work += work;
        it->ledger.dissipated += c > 0 ? 0.5 * (v * v + lambda * q * q - v1 * v1 - lambda * q1 * q1) + work : 0;

        it->now.q[i] = q1;
        it->now.v[i] = v1;
    }
    return SP_OK;
}

const sp_scheme sp_scheme_exact = {.name = "the exact step",
                                   .needs = SP_HAS_OSCILLATORS,
                                   .refuses = SP_SOLVES_VELOCITIES | SP_HAS_SKELETON | SP_IS_SEMI_IMPLICIT |
                                              SP_HAS_VISCOSITY | SP_HAS_SPRINGS | SP_FOLLOWS,
                                   .tolerance = 1e-10,
                                   .loads = SP_LOADS_MEAN,
                                   .step = step};
