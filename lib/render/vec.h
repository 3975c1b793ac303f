/* Vectors of three floats, for colours and for directions in camera space. */
#ifndef SP_RENDER_VEC_H
#define SP_RENDER_VEC_H

#include <math.h>

typedef struct sp_vec {
    float x, y, z;
} sp_vec;

/* a + s b */
static inline sp_vec sp_vec_add(sp_vec a, float s, sp_vec b)
{
    return (sp_vec){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline float sp_vec_dot(sp_vec a, sp_vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline sp_vec sp_vec_cross(sp_vec a, sp_vec b)
{
    return (sp_vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

/* Zero for a zero vector. */
static inline sp_vec sp_vec_unit(sp_vec a)
{
    const float square = sp_vec_dot(a, a), scale = square > 0 ? 1 / sqrtf(square) : 0;
    return (sp_vec){scale * a.x, scale * a.y, scale * a.z};
}

/* By components. */
static inline sp_vec sp_vec_times(sp_vec a, sp_vec b)
{
    return (sp_vec){a.x * b.x, a.y * b.y, a.z * b.z};
}

#endif
