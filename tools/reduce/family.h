/* The loads for which a model is made: those of the files, and what lies between them. A member of the family is a
 * point of the cone of the files, with an amplitude and a course of time:
 *
 *     F(t) = a Σ_k w_k s(t) F_k,   w_k ≥ 0,  Σ w_k = 1,  low ≤ a ≤ high.
 *
 * A constant load that ends within the motion may be moved, stretched, and have the course of a ramp or of half a sine;
 * other loads keep their course. Springs have their stiffness multiplied, rotations the square of their speed. */
#ifndef TOOLS_REDUCE_FAMILY_H
#define TOOLS_REDUCE_FAMILY_H

#include "formats/loads.h"
#include "tools/common/inputs.h"

typedef struct reduce_family {
    sp_pool pool;
    double low, high; /* amplitudes */
    double duration;  /* s, of the motion */
    uint64_t seed;
    int64_t count; /* of files; 0: gravity alone, which is no member's but everywhere */
    const char *const *path;
    int64_t *load_count; /* [count] */
    sp_load **loads;     /* [count] */
    uint64_t sum;        /* of the bytes of all files */
} reduce_family;

enum reduce_course { REDUCE_AS_GIVEN, REDUCE_MOVED, REDUCE_RAMP, REDUCE_HALF_SINE, REDUCE_COURSES };

typedef struct reduce_member {
    double *weight; /* [files] */
    double amplitude;
    enum reduce_course course;
    double later;  /* part of the time up to the end of the motion by which its loads begin later, below 1 */
    double longer; /* factor on the time for which they act */
} reduce_member;

void reduce_family_read(sp_context *context, const tool_mesh *mesh, const tool_texts *files, reduce_family *family);
void reduce_family_free(reduce_family *family);

/* The members by which a basis is trained, `number` from 0: each file, and each pair of files in equal parts, of the
 * largest amplitude; then random ones, others than reduce_family_draw has, until there are five. */
int64_t reduce_family_corners(const reduce_family *family); /* how many come before the random ones */
int64_t reduce_family_trained(const reduce_family *family);
reduce_member reduce_family_train(reduce_family *family, int64_t number);

/* A random member; the same for the same number and seed. */
reduce_member reduce_family_draw(reduce_family *family, int64_t number);

/* The lines of a member. */
const char *reduce_family_text(reduce_family *family, const reduce_member *member);

/* Every load of the files once, without its course, for linear responses; a spring as a force on its vertex along each
 * axis. "" where there are no files. */
const char *reduce_family_all(reduce_family *family);

/* Its loads at their full size as ramps over 1 s, for statics. */
const char *reduce_family_ramps(reduce_family *family, const reduce_member *member);

#endif
