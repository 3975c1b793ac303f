#include "model/course.h"

#include "model/prescribed.h"

#include <math.h>

/* The factor of a table, and its piece: that of the last time that is not after t, −1 before the first. */
static double table_at(const sp_course *course, double t)
{
    const int64_t piece = sp_time_piece(course->count, course->time, t);

    if (piece < 0 || piece == course->count - 1)
        return course->factor[piece < 0 ? 0 : piece];

    const double s = (t - course->time[piece]) / (course->time[piece + 1] - course->time[piece]);
    return (1 - s) * course->factor[piece] + s * course->factor[piece + 1];
}

/* Trapezoids between a, the times inside, and b. */
static double table_integral(const sp_course *course, double a, double b)
{
    double sum = 0, at = a, value = table_at(course, a);

    for (int64_t k = sp_time_piece(course->count, course->time, a) + 1; k < course->count && course->time[k] < b; k++) {
        sum += 0.5 * (value + course->factor[k]) * (course->time[k] - at);
        at = course->time[k];
        value = course->factor[k];
    }

    return sum + 0.5 * (value + table_at(course, b)) * (b - at);
}

double sp_course_at(const sp_course *course, double length, double t)
{
    switch (course->kind) {
    case SP_COURSE_RAMP:
        return t / length;
    case SP_COURSE_SINE:
        return sin(2 * M_PI * course->frequency * t + course->phase);
    case SP_COURSE_TABLE:
        return table_at(course, t);
    case SP_COURSE_CONSTANT:
        break;
    }
    return 1;
}

double sp_course_integral(const sp_course *course, double length, double a, double b)
{
    const double middle = 0.5 * (a + b), half = M_PI * course->frequency * (b - a);
    switch (course->kind) {
    case SP_COURSE_RAMP:
        return (b - a) * middle / length;
    case SP_COURSE_SINE: /* the mean is the value in the middle times sin(half)/half */
        return (b - a) * sin(2 * M_PI * course->frequency * middle + course->phase) * (half > 0 ? sin(half) / half : 1);
    case SP_COURSE_TABLE:
        return table_integral(course, a, b);
    case SP_COURSE_CONSTANT:
        break;
    }
    return b - a;
}
