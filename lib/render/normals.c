/* Normals at the corners of triangles. The faces around a vertex form groups that are connected over smooth edges. Each
 * group has one normal, the sum of its faces' normals weighted by their angles at the vertex. */
#include "base/vec3.h"
#include "render/internal.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

static const double CREASE_COSINE = 0.6427876096865393; /* 50 degrees */

typedef struct spoke {
    int64_t other; /* the far vertex of an edge at this vertex */
    int32_t face;  /* number of the face among those around the vertex */
    bool outgoing; /* the face runs from this vertex to the other */
} spoke;

/* Faces around one vertex: a union–find set whose members know their parent and whether they are reversed relative to
 * it. */
typedef struct vertex_fan {
    spoke *spokes;
    int32_t *parent, *size;
    bool *reversed;
    double (*sum)[3];
} vertex_fan;

static int compare_spokes(const void *left, const void *right)
{
    const spoke *a = left, *b = right;
    if (a->other != b->other)
        return a->other < b->other ? -1 : 1;
    if (a->face != b->face)
        return a->face < b->face ? -1 : 1;
    return (int)a->outgoing - (int)b->outgoing;
}

static void sort_spokes(spoke *spokes, int32_t count)
{
    if (count > 48) {
        qsort(spokes, (size_t)count, sizeof *spokes, compare_spokes);
        return;
    }

    /* Insertion: most vertices have few triangles. */
    for (int32_t i = 1; i < count; i++) {
        spoke moved = spokes[i];
        int32_t k = i;
        for (; k > 0 && compare_spokes(spokes + k - 1, &moved) > 0; k--)
            spokes[k] = spokes[k - 1];
        spokes[k] = moved;
    }
}

static int32_t find_root(const vertex_fan *fan, int32_t face, bool *reversed)
{
    *reversed = false;
    for (; fan->parent[face] != face; face = fan->parent[face])
        *reversed ^= fan->reversed[face];
    return face;
}

static void join(vertex_fan *fan, int32_t a, int32_t b, bool reversed)
{
    bool reversed_a, reversed_b;
    int32_t root_a = find_root(fan, a, &reversed_a), root_b = find_root(fan, b, &reversed_b);

    if (root_a == root_b)
        return;

    /* The larger set keeps its root, so that ways to the root stay short. */
    if (fan->size[root_a] < fan->size[root_b]) {
        int32_t swap = root_a;
        root_a = root_b;
        root_b = swap;
    }
    fan->parent[root_b] = root_a;
    fan->size[root_a] += fan->size[root_b];
    fan->reversed[root_b] = reversed ^ reversed_a ^ reversed_b;
}

/* Zero for a triangle without area. */
static void face_normal(const double *vertices, const int64_t t[3], double normal[3])
{
    double a[3], b[3];
    sp_subtract3(vertices + 3 * t[1], vertices + 3 * t[0], a);
    sp_subtract3(vertices + 3 * t[2], vertices + 3 * t[0], b);
    sp_cross3(a, b, normal);
    double length = sp_norm3(normal);
    for (int i = 0; i < 3; i++)
        normal[i] = length > 0 ? normal[i] / length : 0;
}

static double corner_angle(const double *vertices, const int64_t t[3], int corner)
{
    double a[3], b[3];
    sp_subtract3(vertices + 3 * t[(corner + 1) % 3], vertices + 3 * t[corner], a);
    sp_subtract3(vertices + 3 * t[(corner + 2) % 3], vertices + 3 * t[corner], b);
    double lengths = sqrt(sp_dot3(a, a) * sp_dot3(b, b));
    return lengths > 0 ? acos(fmax(-1, fmin(1, sp_dot3(a, b) / lengths))) : 0;
}

/* `corners` lists the corners (3 triangle + place) that meet at one vertex. */
static void vertex_normals(vertex_fan *fan, const double *vertices, const int64_t *triangles, const double (*face)[3],
                           const int64_t *corners, int32_t count, float *normals)
{
    for (int32_t i = 0; i < count; i++) {
        const int64_t *t = triangles + corners[i] / 3 * 3;
        int place = (int)(corners[i] % 3);
        fan->spokes[2 * i] = (spoke){t[(place + 1) % 3], i, true};
        fan->spokes[2 * i + 1] = (spoke){t[(place + 2) % 3], i, false};
        fan->parent[i] = i;
        fan->size[i] = 1;
        fan->reversed[i] = false;
        fan->sum[i][0] = fan->sum[i][1] = fan->sum[i][2] = 0;
    }

    /* The two spokes of an edge follow each other once they are sorted by the far vertex. */
    sort_spokes(fan->spokes, 2 * count);
    for (int32_t i = 0; i + 1 < 2 * count; i++) {
        const spoke *a = fan->spokes + i, *b = a + 1;
        if (a->other != b->other || a->face == b->face)
            continue;

        /* Faces of the same direction along an edge are reversed relative to each other. */
        bool reversed = a->outgoing == b->outgoing;
        double cosine = sp_dot3(face[corners[a->face] / 3], face[corners[b->face] / 3]);
        if ((reversed ? -cosine : cosine) > CREASE_COSINE)
            join(fan, a->face, b->face, reversed);
    }

    for (int32_t i = 0; i < count; i++) {
        bool reversed;
        double *sum = fan->sum[find_root(fan, i, &reversed)];
        double weight = corner_angle(vertices, triangles + corners[i] / 3 * 3, (int)(corners[i] % 3));
        for (int k = 0; k < 3; k++)
            sum[k] += (reversed ? -weight : weight) * face[corners[i] / 3][k];
    }

    /* A group whose normals cancel gives each face its own. */
    for (int32_t i = 0; i < count; i++) {
        bool reversed;
        const double *sum = fan->sum[find_root(fan, i, &reversed)];
        double length = sp_norm3(sum);
        for (int k = 0; k < 3; k++)
            normals[3 * corners[i] + k] =
                (float)(length > 1e-12 ? (reversed ? -sum[k] : sum[k]) / length : face[corners[i] / 3][k]);
    }
}

/* corners[start[v]] … corners[start[v + 1] - 1] meet at vertex v; returns the largest number at one vertex. */
static int64_t gather_corners(const int64_t *triangles, int64_t corner_count, int64_t vertex_count, int64_t *start,
                              int64_t *corners)
{
    int64_t largest = 0;

    /* Counting sort by vertex: start[v] moves to the end of v and is moved back. */
    for (int64_t c = 0; c < corner_count; c++)
        start[triangles[c] + 1]++;
    for (int64_t v = 0; v < vertex_count; v++) {
        largest = start[v + 1] > largest ? start[v + 1] : largest;
        start[v + 1] += start[v];
    }

    for (int64_t c = 0; c < corner_count; c++)
        corners[start[triangles[c]]++] = c;

    for (int64_t v = vertex_count; v > 0; v--)
        start[v] = start[v - 1];
    start[0] = 0;
    return largest;
}

int sp_corner_normals(sp_context *context, const double *vertices, int64_t vertex_count, const int64_t *triangles,
                      int64_t triangle_count, float *normals)
{
    int status = SP_OK;
    sp_pool pool = {0};
    int64_t *start = sp_pool_new(&pool, vertex_count + 1, sizeof *start);
    int64_t *corners = sp_pool_raw(&pool, 3 * triangle_count, sizeof *corners);
    double(*face)[3] = sp_pool_raw(&pool, triangle_count, sizeof *face);
    vertex_fan *fans = sp_pool_new(&pool, context->threads, sizeof *fans);

    SP_TRY(sp_allocated(context, !pool.failed));

    int64_t largest = gather_corners(triangles, 3 * triangle_count, vertex_count, start, corners);
    if (largest > INT32_MAX / 2) {
        status = sp_fail(context, SP_INPUT, "%lld triangles meet at one vertex", (long long)largest);
        goto done;
    }

    for (int i = 0; i < context->threads; i++) {
        fans[i].spokes = sp_pool_raw(&pool, 2 * largest, sizeof *fans[i].spokes);
        fans[i].parent = sp_pool_raw(&pool, largest, sizeof *fans[i].parent);
        fans[i].size = sp_pool_raw(&pool, largest, sizeof *fans[i].size);
        fans[i].reversed = sp_pool_raw(&pool, largest, sizeof *fans[i].reversed);
        fans[i].sum = sp_pool_raw(&pool, largest, sizeof *fans[i].sum);
    }
    SP_TRY(sp_allocated(context, !pool.failed));

#pragma omp parallel num_threads(context->threads)
    {
#pragma omp for schedule(static)
        for (int64_t t = 0; t < triangle_count; t++)
            face_normal(vertices, triangles + 3 * t, face[t]);
#pragma omp for schedule(dynamic, 1024)
        for (int64_t v = 0; v < vertex_count; v++)
            vertex_normals(fans + omp_get_thread_num(), vertices, triangles, (const double(*)[3])face,
                           corners + start[v], (int32_t)(start[v + 1] - start[v]), normals);
    }
done:
    sp_pool_free(&pool);
    return status;
}
