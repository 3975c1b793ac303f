/* Harmonic balance of a reduced-order model (Krack and Gross 2019, chapter 2), by any reduced force (reduced/force.h):
 *
 *     M q̈ + C q̇ + d/dt(β f(q)) + f(q) = f₀ + p f₁ cos Ωt,     C = αM + D.
 *
 * d/dt(β f(q)) = β K(q) q̇ is the stiffness part of Rayleigh damping, as in time integration (model/system.h). With
 * q(t) = a₀ + Σ_k a_k cos kΩt + b_k sin kΩt, k = 1 … H, and the coefficients F of f(q(t)), the equations of the
 * harmonic k are
 *
 *     −k²Ω² M a_k + kΩ C b_k + F_a,k + βkΩ F_b,k = p f₁ (k = 1),
 *     −k²Ω² M b_k − kΩ C a_k + F_b,k − βkΩ F_a,k = 0,     and F_a,0 = f₀.
 *
 * F is computed by the alternating frequency-time method (Cameron and Griffin 1989): f at N equidistant phases. For a
 * cubic force N = 4H + 1 is exact: the harmonics of f up to 3H, and those of K(q) δq, do not alias into those up to H.
 * For other forces N = 8H + 8. The Jacobian is analytic: its blocks are sums of two Fourier coefficients of K(q(t)),
 * since products of two harmonics are sums of two harmonics.
 *
 * Inside, coordinates are the amplitudes η of the linear modes of M and K(0): q = V η, VᵀMV = I. The unknowns are
 * [a₀, a₁, b₁, …, a_H, b_H] [r (2H + 1)], and the last one is the parameter of the curve:
 *
 * SP_PERIODIC_RESPONSE  Ω; p is constant
 * SP_PERIODIC_FORCE     p; Ω is constant
 * SP_PERIODIC_BACKBONE  Ω, of free motion: p = 0 and no damping. Any phase solves these equations, and one of them
 *                       follows from the others, since energy is conserved. The unknown d, before the last one, of a
 *                       damping force dΩ q′ is therefore added, which is 0 at solutions, and the phase condition
 *                       Σ k (a*_k·b_k − b*_k·a_k) = 0 with the coefficients * of the last point (Muñoz-Almaraz et al.
 *                       2003; Doedel 1981).
 *
 * Ω and d are in the unit of the frequency scale ω (the member `scale`), so that all unknowns of the last kind are of
 * order 1. */
#ifndef SP_PERIODIC_HARMONIC_H
#define SP_PERIODIC_HARMONIC_H

#include "base/memory.h"
#include "periodic/continuation.h"
#include "reduced/force.h"

enum sp_periodic_kind { SP_PERIODIC_RESPONSE, SP_PERIODIC_BACKBONE, SP_PERIODIC_FORCE };

typedef struct sp_periodic_model {
    const sp_reduced_force *force;          /* outlives what is made of it */
    const double *mass;                     /* [r, r] */
    const double *constant;                 /* f₀ [r] */
    const double *amplitude;                /* f₁ [r] */
    double damping_mass, damping_stiffness; /* α [1/s], β [s] */
    double damping_ratio;                   /* ζ of all linear modes: D = Σ 2ζω (Mφ)(Mφ)ᵀ; 0: none */
    int64_t harmonics;                      /* H ≥ 1 */
} sp_periodic_model;

/* The caller may set kind, frequency, factor, floor and range; the other members are read only. */
typedef struct sp_harmonic {
    sp_pool pool;
    enum sp_periodic_kind kind;
    double frequency; /* Ω, rad/s, of SP_PERIODIC_FORCE */
    double factor;    /* p of SP_PERIODIC_RESPONSE */
    double floor;     /* of the norm of the coefficients in the metric: smaller motions are not resolved relatively */
    double range;     /* of the parameter, in its unit, for the metric */
    double scale;     /* ω, rad/s */
    sp_reduced_force force;
    int r, harmonics, samples, columns; /* columns = 2H + 1 */
    double *V;                          /* [r, r] linear modes */
    double *eigenvalue;                 /* [r] ω² of these; negative if rest is unstable */
    double *mass;                       /* [r, r] */
    double *constant, *amplitude;       /* Vᵀf₀, Vᵀf₁ [r] */
    double beta;
    double *damping;   /* [r] diagonal of Vᵀ(αM + D)V */
    double *basis;     /* [columns, samples] harmonics at the phases */
    double *transform; /* [samples, columns] Fourier coefficients of samples */
    double *wave;      /* [samples, 4H + 1] cos, sin of harmonics up to 2H over N: for K */
    double *reference; /* [r · columns] * of the phase condition */
    double *eta, *q, *f, *F, *K, *Kt, *Kf, *G, *work;
} sp_harmonic;

/* SP_NUMERICAL if M is not positive definite. */
int sp_harmonic_new(sp_context *context, const sp_periodic_model *model, sp_harmonic *harmonic) SP_MUST_USE;
void sp_harmonic_free(sp_harmonic *harmonic);

/* The number of equations; there is one more unknown. */
int64_t sp_harmonic_equations(const sp_harmonic *harmonic);

/* Residual and Jacobian (periodic/continuation.h). */
void sp_harmonic_evaluate(void *harmonic, const double *x, double *r, double *J, int64_t stride);

/* The metric: relative changes of the coefficients, and of the parameter with respect to `range`. */
void sp_harmonic_metric(void *harmonic, const double *x, double *weight);

/* Ω [rad/s] and p at x. */
double sp_harmonic_frequency(const sp_harmonic *harmonic, const double *x);
double sp_harmonic_factor(const sp_harmonic *harmonic, const double *x);

/* η and dη/dθ at the phase θ = Ωt [r]; rate NULL: not wanted. */
void sp_harmonic_at(const sp_harmonic *harmonic, const double *x, double theta, double *eta, double *rate);

/* The matrix Vᵀ K(Vη) V [r, r], complete, and the force Vᵀf [r] at η; returns the strain energy. */
double sp_harmonic_tangent(sp_harmonic *harmonic, const double *eta, double *f, double *K);

/* Energies [J] and powers [W]: kinetic + strain energy at the phase 0 and its mean, the mean power of the harmonic load
 * and the mean dissipation of damping, which are equal at a solution. */
typedef struct sp_harmonic_energy {
    double start, mean, input, dissipated;
} sp_harmonic_energy;
sp_harmonic_energy sp_harmonic_energies(sp_harmonic *harmonic, const double *x);

/* Static equilibrium η [r] under f₀, by Newton's method from rest in `steps` load steps. SP_NUMERICAL if that does not
 * converge. */
int sp_harmonic_equilibrium(sp_context *context, sp_harmonic *harmonic, int steps, double *eta) SP_MUST_USE;

/* Modes of small vibrations about the equilibrium η, of M and the symmetric part of K: eigenvalues ω² [r] ascending,
 * vectors [r, r] in η, of length 1. */
int sp_harmonic_modes(sp_context *context, sp_harmonic *harmonic, const double *eta, double *eigenvalue,
                      double *vector) SP_MUST_USE;

/* The linear response about the equilibrium (x [unknowns]; its constant part is kept): coefficients of the harmonic 1
 * at Ω and p. SP_NUMERICAL if it is not finite (resonance without damping). */
int sp_harmonic_linear(sp_context *context, sp_harmonic *harmonic, double frequency, double factor,
                       double *x) SP_MUST_USE;

#endif
