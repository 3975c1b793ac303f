/* Selection of dynamic vertices (model/conjac/conjac.h). */
#include "base/random.h"
#include "base/vec3.h"
#include "model/conjac/conjac.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool has_free(const sp_fe_space *body, int64_t vertex)
{
    return body->dof[3 * vertex] >= 0 || body->dof[3 * vertex + 1] >= 0 || body->dof[3 * vertex + 2] >= 0;
}

static int compare(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int check_count(sp_context *context, const sp_fe_space *body, int64_t count)
{
    int64_t candidates = 0;
    for (int64_t v = 0; v < body->mesh->vertex_count; v++)
        candidates += has_free(body, v);
    if (count < 0 || count > candidates)
        return sp_fail(context, SP_USAGE, "%lld dynamic vertices asked for: the body has %lld that are not fixed",
                       (long long)count, (long long)candidates);
    return SP_OK;
}

int sp_nearest_vertices(sp_context *context, const sp_fe_space *body, int64_t points, const double *point,
                        int64_t *count, int64_t *vertex)
{
    const sp_mesh *mesh = body->mesh;

    for (int64_t i = 0; i < 3 * points; i++)
        if (!isfinite(point[i]))
            return sp_fail(context, SP_USAGE, "point %lld for a dynamic vertex is not finite", (long long)(i / 3 + 1));

    for (int64_t p = 0; p < points; p++) {
        double best = INFINITY;
        vertex[p] = -1; /* a vertex that is nearest to several points is kept once */
        for (int64_t v = 0; v < mesh->vertex_count; v++) {
            const double distance = sp_distance_squared3(mesh->vertices + 3 * v, point + 3 * p);
            if (has_free(body, v) && (vertex[p] < 0 || distance < best)) {
                best = distance;
                vertex[p] = v;
            }
        }
    }

    qsort(vertex, (size_t)points, sizeof *vertex, compare);
    *count = 0;
    for (int64_t p = 0; p < points; p++)
        if (p == 0 || vertex[p] != vertex[p - 1])
            vertex[(*count)++] = vertex[p];
    return SP_OK;
}

/* Visits the candidates in a random order and selects each one that is far enough from those before. */
static int64_t scatter(const sp_mesh *mesh, uint64_t seed, uint64_t stream, int64_t candidates, int64_t *order,
                       double distance, int64_t count, int64_t *vertex)
{
    int64_t found = 0;

    /* The first `count` entries of a random permutation, made one by one */
    for (int64_t i = 0; i < candidates && found < count; i++) {
        const int64_t j = i + (int64_t)(sp_random_uniform(seed, stream, (uint64_t)i) * (double)(candidates - i)),
                      pick = order[j];
        order[j] = order[i];
        order[i] = pick;

        int64_t k = 0;
        while (k < found &&
               sp_distance_squared3(mesh->vertices + 3 * pick, mesh->vertices + 3 * vertex[k]) >= distance * distance)
            k++;

        if (k == found)
            vertex[found++] = pick;
    }
    return found;
}

int sp_random_vertices(sp_context *context, const sp_fe_space *body, uint64_t seed, int64_t count, double distance,
                       int64_t *vertex)
{
    enum { ATTEMPTS = 100, STREAM = 4100 };
    const sp_mesh *mesh = body->mesh;
    sp_pool pool = {0};
    int64_t candidates = 0, most = 0, *order = sp_pool_raw(&pool, mesh->vertex_count, sizeof *order);
    int status;

    if (!(distance >= 0 && isfinite(distance))) {
        status = sp_fail(context, SP_USAGE, "the distance between dynamic vertices is %g m", distance);
        goto done;
    }

    SP_TRY(check_count(context, body, count));
    SP_TRY(sp_allocated(context, !pool.failed));

    /* A later attempt has another stream of random numbers. */
    for (int64_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        candidates = 0;
        for (int64_t v = 0; v < mesh->vertex_count; v++)
            if (has_free(body, v))
                order[candidates++] = v;

        const int64_t found =
            scatter(mesh, seed, STREAM + (uint64_t)attempt, candidates, order, distance, count, vertex);
        most = found > most ? found : most;
        if (found == count) {
            qsort(vertex, (size_t)count, sizeof *vertex, compare);
            goto done;
        }
    }

    status =
        sp_fail(context, SP_NUMERICAL, "%lld dynamic vertices %g m apart were not found in %d attempts, at most %lld",
                (long long)count, distance, ATTEMPTS, (long long)most);
done:
    sp_pool_free(&pool);
    return status;
}

int sp_farthest_vertices(sp_context *context, const sp_fe_space *body, int64_t count, int64_t *vertex)
{
    const sp_mesh *mesh = body->mesh;
    const int64_t vertices = mesh->vertex_count;
    sp_pool pool = {0};
    /* squared; −1: selected already, or not allowed */
    double *distance = sp_pool_raw(&pool, vertices, sizeof *distance), centre[3] = {0};
    int64_t *prescribed = sp_pool_raw(&pool, vertices, sizeof *prescribed), prescribed_count = 0;
    int status;
    SP_TRY(check_count(context, body, count));
    SP_TRY(sp_allocated(context, !pool.failed));

    /* Fixed vertices; a vertex of no element counts as none, although its components are fixed too. */
    for (int64_t v = 0; v < vertices; v++)
        prescribed[v] = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int a = 0; a < nodes; a++)
            for (int c = 0; c < 3; c++)
                prescribed[node[a]] |= body->dof[3 * node[a] + c] < 0;
    }

    for (int64_t v = 0; v < vertices; v++) {
        if (prescribed[v])
            prescribed[prescribed_count++] = v;
        for (int c = 0; c < 3; c++)
            centre[c] += mesh->vertices[3 * v + c] / (double)vertices;
    }

    /* Squared distances from the nearest fixed vertex; from the centre if nothing is fixed */
#pragma omp parallel for schedule(static) num_threads(context->threads) if (vertices * prescribed_count > 1 << 20)
    for (int64_t v = 0; v < vertices; v++) {
        distance[v] = !has_free(body, v) ? -1
                      : prescribed_count ? INFINITY
                                         : sp_distance_squared3(mesh->vertices + 3 * v, centre);
        for (int64_t i = 0; i < prescribed_count && distance[v] >= 0; i++)
            distance[v] =
                fmin(distance[v], sp_distance_squared3(mesh->vertices + 3 * v, mesh->vertices + 3 * prescribed[i]));
    }

    for (int64_t k = 0; k < count; k++) {
        int64_t best = -1; /* of several at the same distance the lowest is selected */

        for (int64_t v = 0; v < vertices; v++)
            if (distance[v] >= 0 && (best < 0 || distance[v] > distance[best]))
                best = v;

        vertex[k] = best;

        /* Distances from the selected vertices too. The centre serves for the first vertex only. */
        for (int64_t v = 0; v < vertices; v++)
            if (distance[v] >= 0) {
                const double from = sp_distance_squared3(mesh->vertices + 3 * v, mesh->vertices + 3 * best);
                distance[v] = k == 0 && prescribed_count == 0 ? from : fmin(distance[v], from);
            }

        distance[best] = -1;
    }
    qsort(vertex, (size_t)count, sizeof *vertex, compare);
done:
    sp_pool_free(&pool);
    return status;
}
