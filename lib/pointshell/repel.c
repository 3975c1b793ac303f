#include "pointshell/repel.h"

#include <math.h>
#include <string.h>

/* A step is DESCENT · R · force plus MOMENTUM times the previous step. On a hexagonal lattice at half the radius the
 * stiffness of a point is about 7/R, and that of the shortest wave twice as large: without momentum steps below 0.14 R
 * are stable. */
static const double DESCENT = 0.09, MOMENTUM = 0.75, LONGEST = 0.2, STILL = 1e-3;

/* Of normals: cosine of 120 degrees. */
static const double OPPOSED = -0.5;

/* While points still move they are kept within this fraction of the radius from the level set. */
static const double ROUGH = 1e-3;

/* Points are sorted into buckets by the cube of side R that contains them. A bucket may have several cubes, which are
 * distinguished by their keys. */
typedef struct particle {
    uint64_t key;
    double x[3], n[3];
} particle;

typedef struct buckets {
    double low[3], side;
    int shift;        /* of the hash */
    int64_t count;    /* of buckets, a power of two */
    int32_t *start;   /* [count + 1] */
    int32_t *bucket;  /* [points] */
    particle *sorted; /* [points] by bucket, in the order of their numbers */
} buckets;

static uint64_t key_of(const int64_t cube[3])
{
    uint64_t key = 0;
    for (int k = 0; k < 3; k++)
        key = key << 21 | (uint64_t)cube[k];
    return key;
}

static void cube_of(const buckets *b, const double x[3], int64_t cube[3])
{
    for (int k = 0; k < 3; k++) {
        const double at = (x[k] - b->low[k]) / b->side;
        /* 21 bits, with one to spare at both ends */
        cube[k] = 1 + (int64_t)(at > 0 ? (at < 2097149 ? at : 2097149) : 0);
    }
}

static int64_t bucket_of(const buckets *b, uint64_t key)
{
    return (int64_t)(key * 0x9e3779b97f4a7c15u >> b->shift);
}

static void fill_buckets(const sp_context *context, buckets *b, int64_t count, const double *points,
                         const double *normals)
{
#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t i = 0; i < count; i++) {
        int64_t cube[3];
        cube_of(b, points + 3 * i, cube);
        b->bucket[i] = (int32_t)bucket_of(b, key_of(cube));
    }

    /* Counting sort by bucket */
    memset(b->start, 0, (size_t)(b->count + 1) * sizeof *b->start);
    for (int64_t i = 0; i < count; i++)
        b->start[b->bucket[i] + 1]++;
    for (int64_t i = 0; i < b->count; i++)
        b->start[i + 1] += b->start[i];
    /* The start of each bucket serves as its cursor and is moved back afterwards. */
    for (int64_t i = 0; i < count; i++) {
        particle *to = &b->sorted[b->start[b->bucket[i]]++];
        int64_t cube[3];
        cube_of(b, points + 3 * i, cube);
        to->key = key_of(cube);
        memcpy(to->x, points + 3 * i, sizeof to->x);
        memcpy(to->n, normals + 3 * i, sizeof to->n);
    }
    memmove(b->start + 1, b->start, (size_t)b->count * sizeof *b->start);
    b->start[0] = 0;
}

/* Force on a point from all others within the radius, in a fixed order. A point at the same position, such as the point
 * itself, causes none. */
static void force_on(const buckets *b, const double x[3], const double n[3], double force[3])
{
    int64_t cube[3], near[3];
    const double inverse = 1 / b->side;

    cube_of(b, x, cube);
    force[0] = force[1] = force[2] = 0;

    /* Only points within R push: they are in the cubes around that of x. */
    for (int c = 0; c < 27; c++) {
        near[0] = cube[0] + c % 3 - 1;
        near[1] = cube[1] + c / 3 % 3 - 1;
        near[2] = cube[2] + c / 9 - 1;

        const uint64_t key = key_of(near);
        const int64_t bucket = bucket_of(b, key);
        for (int32_t i = b->start[bucket]; i < b->start[bucket + 1]; i++) {
            const particle *p = &b->sorted[i];
            const double d[3] = {x[0] - p->x[0], x[1] - p->x[1], x[2] - p->x[2]};
            const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];

            if (p->key != key || square >= b->side * b->side || !(square > 0) ||
                n[0] * p->n[0] + n[1] * p->n[1] + n[2] * p->n[2] < OPPOSED)
                continue;

            /* The force 2t³ − 3t² + 1 along d/|d| falls smoothly from 1 to 0 at R. */
            const double distance = sqrt(square), t = distance * inverse, push = (t * t * (2 * t - 3) + 1) / distance;
            for (int k = 0; k < 3; k++)
                force[k] += push * d[k];
        }
    }
}

/* Moves a point. If it would land on the other side of a sheet, half the step is tried, and otherwise the point stays.
 * Returns the squared length of the move. */
static double move_point(const sp_level *level, double radius, const double force[3], double step[3], double x[3],
                         double n[3])
{
    double along = 0, square = 0, scale = 1, moved = 0;

    for (int k = 0; k < 3; k++)
        step[k] = MOMENTUM * step[k] + DESCENT * radius * force[k];

    /* Points move within the tangent plane. */
    for (int k = 0; k < 3; k++)
        along += step[k] * n[k];
    for (int k = 0; k < 3; k++) {
        step[k] -= along * n[k];
        square += step[k] * step[k];
    }

    /* No step is longer than a fifth of R, nor passes another part of the surface. */
    const double length = sqrt(square);
    if (length > LONGEST * radius)
        scale = LONGEST * radius / length;
    double whole[3] = {scale * step[0], scale * step[1], scale * step[2]};
    if (length > 0)
        scale *= sp_level_clear(level, x, whole);

    for (int try = 0; try < 3; try++, scale *= 0.5) {
        double y[3], normal[3], cosine = 0;

        for (int k = 0; k < 3; k++)
            y[k] = x[k] + scale * step[k];

        sp_level_project(level, (scale * length + ROUGH * radius) * (1 + 1e-6), ROUGH * radius, y, normal);
        for (int k = 0; k < 3; k++)
            cosine += normal[k] * n[k];
        if (!(cosine >= OPPOSED))
            continue;

        for (int k = 0; k < 3; k++) {
            moved += (y[k] - x[k]) * (y[k] - x[k]);
            step[k] *= scale;
            x[k] = y[k];
            n[k] = normal[k];
        }
        return moved;
    }
    memset(step, 0, 3 * sizeof *step);
    return 0;
}

int sp_repel(sp_context *context, const sp_level *level, int64_t first, int64_t count, double radius, int iterations,
             double *points, double *normals, sp_repel_report *report)
{
    int status = SP_OK, bits = 4;
    sp_pool pool = {0};
    buckets b = {.side = radius};
    double high[3];

    *report = (sp_repel_report){0};

    /* About one bucket for each point */
    sp_surface_box(&level->surface, b.low, high);
    while (bits < 30 && (int64_t)1 << bits < count)
        bits++;
    b.count = (int64_t)1 << bits;
    b.shift = 64 - bits;

    b.start = sp_pool_raw(&pool, b.count + 1, sizeof *b.start);
    b.bucket = sp_pool_raw(&pool, count, sizeof *b.bucket);
    b.sorted = sp_pool_raw(&pool, count, sizeof *b.sorted);
    double *step = sp_pool_new(&pool, 3 * (count - first), sizeof *step),
           *moved = sp_pool_raw(&pool, count - first, sizeof *moved);
    SP_TRY(sp_allocated(context, !pool.failed));

    for (int i = 0; i < iterations; i++) {
        fill_buckets(context, &b, count, points, normals);
#pragma omp parallel for schedule(dynamic, 256) num_threads(context->threads)
        for (int64_t p = first; p < count; p++) {
            double force[3];
            force_on(&b, points + 3 * p, normals + 3 * p, force);
            moved[p - first] =
                move_point(level, radius, force, step + 3 * (p - first), points + 3 * p, normals + 3 * p);
        }

        double sum = 0;
        for (int64_t p = 0; p < count - first; p++)
            sum += moved[p];

        report->iterations = i + 1;
        report->last_move = sqrt(sum / (double)(count - first)) / radius;
        SP_TRY(sp_progress(context, 0.1 + 0.8 * (double)count / (double)(count + 1) * (i + 1) / iterations));
        if (report->last_move < STILL)
            break;
    }
done:
    sp_pool_free(&pool);
    return status;
}
