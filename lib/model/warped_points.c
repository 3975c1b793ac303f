#include "model/warped_points.h"

#include "base/lanes.h"

#include <math.h>
#include <string.h>

enum { BLOCK = SP_WARPED_BLOCK, VALUES = 6 };
typedef float lanes __attribute__((vector_size(4 * SP_WARPED_BLOCK)));

/* ---- making ---- */

/* Copies a field [3·vertices] to the values offset to offset + 2 of coordinate j. */
static void set_rows(sp_warped_points *points, const int64_t *vertex, const double *field, int offset, int64_t j)
{
    for (int64_t p = 0; p < points->count; p++)
        for (int k = 0; k < 3; k++) {
            const int64_t row = (p / BLOCK * points->r + j) * VALUES + offset + k;
            points->rows[row * BLOCK + p % BLOCK] = (float)field[3 * vertex[p] + k];
        }
}

int sp_warped_points_new(sp_context *context, const sp_modal_warp *warp, const double *U, int64_t r, int64_t count,
                         const int64_t *vertex, sp_warped_points *points)
{
    const int64_t vertices = warp->mesh->vertex_count, blocks = (count + BLOCK - 1) / BLOCK;
    sp_pool scratch = {0};
    double *w = sp_pool_raw(&scratch, 3 * vertices, sizeof *w);
    int status = SP_OK;

    *points = (sp_warped_points){.r = r, .count = count, .blocks = blocks};
    points->X = sp_pool_new(&points->pool, 3 * BLOCK * blocks, sizeof *points->X);
    points->rows = sp_pool_new(&points->pool, VALUES * BLOCK * blocks * r, sizeof *points->rows);
    SP_TRY(sp_allocated(context, !scratch.failed && !points->pool.failed));

    /* Block by block, one lane for each point, so that positions of a block are computed together */
    for (int64_t p = 0; p < count; p++) {
        if (vertex[p] < 0 || vertex[p] >= vertices) {
            status = sp_fail(context, SP_USAGE, "vertex %lld of %lld", (long long)vertex[p], (long long)vertices);
            goto done;
        }
        for (int k = 0; k < 3; k++)
            points->X[(3 * (p / BLOCK) + k) * BLOCK + p % BLOCK] = (float)warp->mesh->vertices[3 * vertex[p] + k];
    }

    /* Rotations are linear in u, so that those of each column suffice: w = W q. */
    for (int64_t j = 0; j < r; j++) {
        set_rows(points, vertex, U + 3 * vertices * j, 0, j);
        sp_modal_warp_rotations(warp, U + 3 * vertices * j, w);
        set_rows(points, vertex, w, 3, j);
    }
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_warped_points_free(points);
    return status;
}

void sp_warped_points_free(sp_warped_points *points)
{
    sp_pool_free(&points->pool);
    *points = (sp_warped_points){0};
}

/* ---- positions ---- */

SP_INLINE void load(lanes *value, const float *from)
{
    memcpy(value, from, sizeof *value);
}

/* Rows of U and W of a block times q. */
SP_INLINE void multiply(const sp_warped_points *points, int64_t block, const double *q, lanes value[VALUES])
{
    const float *row = points->rows + block * points->r * VALUES * BLOCK;

    for (int k = 0; k < VALUES; k++)
        value[k] = (lanes){0};

    for (int64_t j = 0; j < points->r; j++) {
        const float factor = (float)q[j];
        for (int k = 0; k < VALUES; k++, row += BLOCK) {
            lanes entry;
            load(&entry, row);
            value[k] += entry * factor;
        }
    }
}

/* (1 − cos θ)/θ² and (θ − sin θ)/θ³ of s = θ²: their power series, below 1e-9 in error up to θ = π, and beyond it in
 * closed form. */
SP_INLINE void set_coefficients(lanes s, lanes *first, lanes *second)
{
    enum { TERMS = 9 };
    lanes c = {0}, d = {0};
    for (int k = TERMS; k >= 0; k--) { /* (−s)^k / (2k + 2)! and (−s)^k / (2k + 3)! by Horner's rule */
        const float a = (float)(2 * k + 3) * (float)(2 * k + 4), b = (float)(2 * k + 4) * (float)(2 * k + 5);
        c = 1 - s * c * (1 / a);
        d = 1 - s * d * (1 / b);
    }

    c *= 0.5f;
    d *= 1.0f / 6;

    for (int i = 0; i < BLOCK; i++)
        if (s[i] > 9.8f) {
            const double theta = sqrt((double)s[i]);
            c[i] = (float)((1 - cos(theta)) / (double)s[i]);
            d[i] = (float)((theta - sin(theta)) / (theta * (double)s[i]));
        }
    *first = c;
    *second = d;
}

SP_INLINE void cross(const lanes a[3], const lanes b[3], lanes c[3])
{
    for (int k = 0; k < 3; k++)
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

SP_CLONES void sp_warped_points_place(const sp_warped_points *points, const double *q, const sp_pose *pose, float *x)
{
    double R[9];
    float turn[9], move[3];

    /* The world position is p + R x, in single precision like the rest. */
    sp_quaternion_matrix(pose->q, R);
    for (int k = 0; k < 9; k++)
        turn[k] = (float)R[k];
    for (int k = 0; k < 3; k++)
        move[k] = (float)pose->x[k];

    for (int64_t block = 0; block < points->blocks; block++) {
        const int64_t left = points->count - block * BLOCK;
        lanes value[VALUES], c, d, once[3], twice[3], at[3];
        const lanes *u = value, *w = value + 3;

        /* x = X + u + c w × u + d w × (w × u), the mean of the rotations exp(s [w]) over s from 0 to 1 times u */
        multiply(points, block, q, value);
        set_coefficients(w[0] * w[0] + w[1] * w[1] + w[2] * w[2], &c, &d);
        cross(w, u, once);
        cross(w, once, twice);
        for (int k = 0; k < 3; k++) {
            load(&at[k], points->X + (3 * block + k) * BLOCK);
            at[k] += u[k] + c * once[k] + d * twice[k];
        }

        float *to = x + 3 * block * BLOCK;
        for (int k = 0; k < 3; k++) {
            const lanes world = turn[3 * k] * at[0] + turn[3 * k + 1] * at[1] + turn[3 * k + 2] * at[2] + move[k];
            for (int64_t i = 0; i < BLOCK && i < left; i++)
                to[3 * i + k] = world[i];
        }
    }
}
