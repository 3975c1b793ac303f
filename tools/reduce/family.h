/* The loads for which a model is made: those of the files, and what lies between them. A member of the family is a
 * point of the cone of the files, with an amplitude and a course of time:
 *
 *     F(t) = a Σ_k w_k s(t) F_k,   w_k ≥ 0,  Σ w_k = 1,  low ≤ a ≤ high.
 *
 * A constant load that ends within the motion may be moved, stretched, and have the course of a ramp or of half a sine;
 * other loads keep their course. Springs have their stiffness multiplied, rotations the square of their speed.
 *
 * A touch is added to it where vertices may be touched: a force in the box [−f, f]³ on one of them, for a part of the
 * motion, constant, as a ramp or as half a sine. */
#ifndef TOOLS_REDUCE_FAMILY_H
#define TOOLS_REDUCE_FAMILY_H

#include "formats/loads.h"
#include "tools/common/inputs.h"
#include "tools/common/places.h"

typedef struct reduce_family {
    sp_pool pool;
    double low, high; /* amplitudes */
    double duration;  /* s, of the motion */
    uint64_t seed;
    int64_t count; /* of files; 0, and no vertices to be touched: gravity and the frame alone, which are no member's but
                      everywhere */
    const char *const *path;
    int64_t *load_count; /* [count] */
    sp_load **loads;     /* [count] */
    uint64_t sum;        /* of the bytes of all files, and of what may be touched */

    /* touches */
    int64_t place_count, spread_count;
    const tool_place *places; /* [place_count] that may be touched */
    int64_t *spread;          /* [spread_count] of them, far from each other, which are trained */
    double force;             /* N, the largest along each axis */
} reduce_family;

enum { REDUCE_SPREAD = 8 };

enum reduce_course { REDUCE_AS_GIVEN, REDUCE_MOVED, REDUCE_RAMP, REDUCE_HALF_SINE, REDUCE_COURSES };

typedef struct reduce_touch {
    const tool_place *place; /* NULL: none */
    double force[3];         /* N */
    double start, end;       /* s */
    enum reduce_course course;
} reduce_touch;

typedef struct reduce_member {
    double *weight; /* [files] */
    double amplitude;
    enum reduce_course course;
    double later;  /* part of the time up to the end of the motion by which its loads begin later, below 1 */
    double longer; /* factor on the time for which they act */
    reduce_touch touch;
} reduce_member;

void reduce_family_read(sp_context *context, const tool_mesh *mesh, const tool_texts *files, reduce_family *family);

/* Adds the bytes of a file to `sum`. */
void reduce_family_note(reduce_family *family, const char *path);

/* The vertices of the list `text` may be touched, with at most `force` [N] along each axis. */
void reduce_family_touch(const tool_place_names *names, const char *text, double force, reduce_family *family);
void reduce_family_free(reduce_family *family);

/* False: gravity and the frame alone. */
bool reduce_family_varies(const reduce_family *family);

/* The members by which a basis is trained, `number` from 0: each file, and each pair of files in equal parts, of the
 * largest amplitude; the largest touch along each axis at some vertices far from each other; the force at every other
 * corner of the box at some of these vertices, together with a file, since random touches hardly meet the largest
 * ones; then random ones, others than reduce_family_draw has, until there are five, or two more than these where there
 * are touches. */
int64_t reduce_family_corners(const reduce_family *family); /* how many come before the random ones */
int64_t reduce_family_trained(const reduce_family *family);
reduce_member reduce_family_train(reduce_family *family, int64_t number);

/* A random member; the same for the same number and seed. Those of the witness are others. */
reduce_member reduce_family_draw(reduce_family *family, int64_t number);
reduce_member reduce_family_witness(reduce_family *family, int64_t number);

/* Forces at the other corners of the box, as many; they judge. */
int64_t reduce_family_largest_count(const reduce_family *family);
reduce_member reduce_family_largest(reduce_family *family, int64_t number);

/* The lines of a member. */
const char *reduce_family_text(reduce_family *family, const reduce_member *member);

/* Every load of the files once, without its course, and the touches that are trained, for linear responses; a spring as
 * a force on its vertex along each axis. "" where there are none. */
const char *reduce_family_all(reduce_family *family);

/* Its loads at their full size as ramps over 1 s, for statics. */
const char *reduce_family_ramps(reduce_family *family, const reduce_member *member);

#endif
