/* The course of a load over time: a factor on its force while it acts. */
#ifndef SP_MODEL_COURSE_H
#define SP_MODEL_COURSE_H

#include "base/context.h"
#include "base/memory.h"

typedef enum sp_course_kind {
    SP_COURSE_CONSTANT, /* 1 */
    SP_COURSE_RAMP,     /* from 0 at its start to 1 at its end, which must be finite */
    SP_COURSE_SINE,     /* sin(2π frequency t + phase) */
    SP_COURSE_TABLE,    /* linear between times, constant before the first and after the last */
} sp_course_kind;

/* A random course: a stationary Gaussian process with a one-sided power spectral density, sampled at a rate, and linear
 * between the samples. The density is 0 below the first and above the last frequency; between frequencies its logarithm
 * is linear in that of the frequency. The samples have it divided by sinc⁴(f / rate), so that the course that is linear
 * between them has the density itself (up to its images above half of the rate). */
typedef struct sp_course_spectrum {
    double rate;             /* Hz */
    uint64_t seed;           /* of the realization */
    int64_t count;           /* ≥ 2 */
    const double *frequency; /* [count] Hz, > 0, increasing, at most half of the rate */
    const double *density;   /* [count] 1/Hz, > 0 */
} sp_course_spectrum;

/* Times t are counted from the start of the load. */
typedef struct sp_course {
    sp_course_kind kind;
    double frequency;                   /* SINE: Hz, > 0 */
    double phase;                       /* SINE: rad */
    int64_t count;                      /* TABLE: ≥ 1 */
    const double *time;                 /* [count] s, increasing */
    const double *factor;               /* [count] */
    const sp_course_spectrum *spectrum; /* TABLE: what it realizes (sp_course_realize); NULL: it was given */
} sp_course;

/* The factor at t [s] of a load that acts for `length` seconds (RAMP only). */
double sp_course_at(const sp_course *course, double length, double t);

/* Makes `course` the realization of a spectrum, which must outlive it, for a load that acts for `length` seconds: a
 * table from `pool`. Sums over all frequencies of a period that is more than twice as long, with normally distributed
 * amplitudes, by one Fourier transform. SP_INPUT for more than 2²⁴ samples. */
int sp_course_realize(sp_context *context, const sp_course_spectrum *spectrum, double length, sp_pool *pool,
                      sp_course *course) SP_MUST_USE;

/* The density of a spectrum at a frequency [1/Hz]. */
double sp_course_density(const sp_course_spectrum *spectrum, double frequency);

/* The integral of the factor from a to b, a ≤ b, both finite [s]: exact up to rounding. */
double sp_course_integral(const sp_course *course, double length, double a, double b);

#endif
