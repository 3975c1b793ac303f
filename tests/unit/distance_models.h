/* Distance fields for the tests of distances. */
#ifndef TESTS_UNIT_DISTANCE_MODELS_H
#define TESTS_UNIT_DISTANCE_MODELS_H

#include "bodies.h"
#include "contact/deformed.h"
#include "field_models.h"
#include "test.h"

typedef double shape(const double x[3]);

static inline sp_field field_of(shape *f, int64_t nx, int64_t ny, int64_t nz, double x, double y, double z,
                                double spacing)
{
    sp_field field = {.cells = {nx, ny, nz}, .origin = {x, y, z}, .spacing = spacing};
    field.distance = sp_pool_new(&field.pool, sp_field_vertices(&field), sizeof(float));
    for (int64_t i = 0; i < sp_field_vertices(&field); i++) {
        double at[3];
        place_of(&field, i, at);
        field.distance[i] = (float)f(at);
    }
    return field;
}

static inline double length3(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static inline double apart(const double a[3], const double b[3])
{
    return length3((double[3]){a[0] - b[0], a[1] - b[1], a[2] - b[2]});
}

static inline double ball(const double x[3])
{
    return length3(x) - 0.8;
}

static inline double ring(const double x[3])
{
    return hypot(hypot(x[0], x[1]) - 0.9, x[2]) - 0.35;
}

static inline void random_point(uint64_t stream, int64_t i, double low, double high, double x[3])
{
    for (int k = 0; k < 3; k++)
        x[k] = random_in(stream, (uint64_t)(3 * i + k), low, high);
}

static inline double noise(const double x[3])
{
    uint64_t bits[3];
    memcpy(bits, x, sizeof bits);
    return 2 * sp_random_uniform(9, 1, bits[0] ^ bits[1] * 3 ^ bits[2] * 7) - 1;
}

#endif
