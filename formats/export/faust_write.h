/* Linear modal sound as a program in Faust (https://faust.grame.fr), which its compiler turns into code for many
 * instruments and hosts: a strike excites a resonator of second order for each partial,
 *
 *     p(t) = Σ a_i exp(−t/τ_i) cos(2π f_i t + φ_i),   t ≥ 0 */
#ifndef SP_FORMATS_EXPORT_FAUST_WRITE_H
#define SP_FORMATS_EXPORT_FAUST_WRITE_H

#include "base/context.h"

typedef struct sp_partial {
    double frequency; /* Hz */
    double time;      /* τ, s; infinite: undamped */
    double amplitude; /* Pa */
    double phase;     /* rad */
} sp_partial;

typedef struct sp_faust {
    const char *name;
    int64_t count;
    const sp_partial *partials; /* [count] count ≥ 1 */
    double delay;               /* s, from the strike to t = 0 */
    double full_scale;          /* Pa */
} sp_faust;

/* Writes the program. It uses no library of Faust. */
int sp_faust_write(sp_context *context, int descriptor, const sp_faust *faust) SP_MUST_USE;

#endif
