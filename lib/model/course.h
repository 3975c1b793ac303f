/* The course of a load over time: a factor on its force while it acts. */
#ifndef SP_MODEL_COURSE_H
#define SP_MODEL_COURSE_H

#include <stdint.h>

typedef enum sp_course_kind {
    SP_COURSE_CONSTANT, /* 1 */
    SP_COURSE_RAMP,     /* from 0 at its start to 1 at its end, which must be finite */
    SP_COURSE_SINE,     /* sin(2π frequency t + phase) */
    SP_COURSE_TABLE,    /* linear between times, constant before the first and after the last */
} sp_course_kind;

/* Times t are counted from the start of the load. */
typedef struct sp_course {
    sp_course_kind kind;
    double frequency;     /* SINE: Hz, > 0 */
    double phase;         /* SINE: rad */
    int64_t count;        /* TABLE: ≥ 1 */
    const double *time;   /* [count] s, increasing */
    const double *factor; /* [count] */
} sp_course;

/* The factor at t [s] of a load that acts for `length` seconds (RAMP only). */
double sp_course_at(const sp_course *course, double length, double t);

/* The integral of the factor from a to b, a ≤ b, both finite [s]: exact up to rounding. */
double sp_course_integral(const sp_course *course, double length, double a, double b);

#endif
