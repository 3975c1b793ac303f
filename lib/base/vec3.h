/* Vectors of three numbers, and 3 × 3 matrices (row major). Vectors are plain arrays without a type of their own, so
 * that `vertices + 3 * i` can be passed like any array. An output may be an input only where this is stated. */
#ifndef SP_BASE_VEC3_H
#define SP_BASE_VEC3_H

#include <math.h>
#include <stdbool.h>

/* a · b */
static inline double sp_dot3(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* c = a × b; c may not be a or b. */
static inline void sp_cross3(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* c = a − b; c may be a or b. */
static inline void sp_subtract3(const double a[3], const double b[3], double c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = a[k] - b[k];
}

/* |a|; its square must be in the range of doubles (components from 1e-154 to 1e154, or 0). */
static inline double sp_norm3(const double a[3])
{
    return sqrt(sp_dot3(a, a));
}

/* |a − b|² */
static inline double sp_distance_squared3(const double a[3], const double b[3])
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sp_dot3(d, d);
}

/* |a − b| */
static inline double sp_distance3(const double a[3], const double b[3])
{
    return sqrt(sp_distance_squared3(a, b));
}

/* Normalizes v. False if sp_norm3 is 0 or not finite: v is not changed. */
static inline bool sp_normalize3(double v[3])
{
    const double length = sp_norm3(v);
    if (!(length > 0 && length < INFINITY))
        return false;
    for (int k = 0; k < 3; k++)
        v[k] /= length;
    return true;
}

/* The same for a vector whose square may exceed the range of doubles; returns its length, 0 if it is 0 or not
 * finite. */
static inline double sp_normalize3_scaled(double v[3])
{
    const double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (!(largest > 0) || !isfinite(largest))
        return 0;
    const double scaled[3] = {v[0] / largest, v[1] / largest, v[2] / largest}, length = sp_norm3(scaled);
    for (int k = 0; k < 3; k++)
        v[k] = scaled[k] / length;
    return largest * length;
}

/* a · (b × c), the determinant of the matrix with these rows or columns. */
static inline double sp_determinant(const double a[3], const double b[3], const double c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

/* y = R x and y = Rᵀ x; y may not be x. */
static inline void sp_rotate(const double R[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = R[3 * i] * x[0] + R[3 * i + 1] * x[1] + R[3 * i + 2] * x[2];
}

static inline void sp_rotate_back(const double R[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = R[i] * x[0] + R[3 + i] * x[1] + R[6 + i] * x[2];
}

#endif
