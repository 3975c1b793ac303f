/* Damping by time constants: free vibration of a linear mode of the frequency f decays as exp(−t/τ(f)), so that its
 * equation is q̈ + (2/τ) q̇ + ω² q = 0. */
#ifndef SP_MODEL_DAMPING_H
#define SP_MODEL_DAMPING_H

#include "model/system.h"

/* τ over f: linear in their logarithms between the lines of the table, constant before and after them. */
typedef struct sp_decay_times {
    int64_t count;           /* ≥ 1 */
    const double *frequency; /* [count] Hz, > 0, increasing */
    const double *time;      /* [count] s, > 0 */
} sp_decay_times;

/* 2/τ at a frequency in Hz ≥ 0, 1/s. */
double sp_decay_rate(const sp_decay_times *times, double frequency);

/* Adds this damping to a reduced-order system without damping by strain rate: D = Σ_i 2/τ_i (Mφ_i)(Mφ_i)ᵀ with the
 * mass-normalized modes φ_i of the system at rest. D is constant, also during large motion. Oscillators get 2/τ_i
 * each. SP_NUMERICAL if the modes are not found. */
int sp_system_decay(sp_context *context, sp_system *system, const sp_decay_times *times) SP_MUST_USE;

#endif
