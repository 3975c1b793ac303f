#include "model/conjac/condensation.h"
#include "model/conjac/conjac.h"
#include "model/floating.h"

#include <string.h>

/* Sets place to −1 for dynamic components and to 0 for all others. */
static int mark(sp_context *context, const sp_fe_space *body, int64_t count, const int64_t *vertex, int64_t *place)
{
    for (int64_t k = 0; k < count; k++) {
        const int64_t v = vertex[k];
        if (v < 0 || v >= body->mesh->vertex_count)
            return sp_fail(context, SP_USAGE, "dynamic vertex %lld is out of range: there are %lld vertices",
                           (long long)v, (long long)body->mesh->vertex_count);

        bool any = false;
        for (int c = 0; c < 3; c++) {
            const int64_t dof = body->dof[3 * v + c];
            if (dof < 0)
                continue;
            if (place[dof] < 0)
                return sp_fail(context, SP_USAGE, "dynamic vertex %lld is named twice", (long long)v);
            any = true;
        }
        if (!any)
            return sp_fail(context, SP_USAGE, "dynamic vertex %lld is fixed", (long long)v);

        for (int c = 0; c < 3; c++)
            if (body->dof[3 * v + c] >= 0)
                place[body->dof[3 * v + c]] = -1;
    }
    return SP_OK;
}

/* Makes further vertices dynamic in pieces that could still rotate or slide about the given ones, and rejects pieces
 * without any dynamic or fixed component. */
static int refuse_floating(sp_context *context, const sp_fe_space *body, int64_t *place, int64_t *added)
{
    int64_t vertex;
    bool anywhere;
    int status;
    SP_TRY(sp_floating_settle(context, body, place, added));
    SP_TRY(sp_floating_piece(context, body, place, &vertex, &anywhere));
    if (vertex >= 0)
        status =
            sp_fail(context, SP_INPUT, "the piece containing vertex %lld is under-constrained: add dynamic vertices",
                    (long long)vertex);
done:
    return status;
}

static void number(sp_conjac_condensation *map)
{
    const int64_t n = map->body->dof_count;
    int64_t d = 0, s = 0;

    /* place: −1 − d for the d-th dynamic component, s for the s-th quasistatic one */
    for (int64_t i = 0; i < n; i++)
        if (map->place[i] < 0) {
            map->dynamic[d] = i;
            map->place[i] = -1 - d++;
        } else {
            map->quasistatic[s] = i;
            map->place[i] = s++;
        }
}

/* Finds where the entries of every row's own vertex begin: its free components are contiguous in the pattern. */
static void find_own(sp_conjac_condensation *map)
{
    const sp_sparse *pattern = &map->body->pattern;

    for (int64_t i = 0; i < map->body->dof_count; i++) {
        const int64_t vertex = map->body->free[i] / 3;
        int64_t k = pattern->start[i];
        while (map->body->free[pattern->index[k]] / 3 != vertex)
            k++;

        map->own[i] = k;
        map->width[i] = 0;
        for (; k < pattern->start[i + 1] && map->body->free[pattern->index[k]] / 3 == vertex; k++)
            map->width[i]++;
    }
}

int sp_condensation_check(sp_context *context, const sp_fe_space *body, int64_t count, const int64_t *vertex)
{
    sp_pool scratch = {0};
    int64_t *place = sp_pool_new(&scratch, body->dof_count, sizeof *place);
    int status = place ? mark(context, body, count, vertex, place) : sp_fail_memory(context);

    if (status == SP_OK)
        status = refuse_floating(context, body, place, &(int64_t){0});
    sp_pool_free(&scratch);
    return status;
}

int sp_conjac_condensation_new(sp_context *context, const sp_fe_space *body, int64_t count, const int64_t *vertex,
                               sp_conjac_condensation *map)
{
    const int64_t n = body->dof_count;
    int64_t *node = NULL;
    int status;

    *map = (sp_conjac_condensation){.context = context, .body = body};
    map->place = sp_pool_new(&map->pool, n, sizeof *map->place);
    map->own = sp_pool_raw(&map->pool, n, sizeof *map->own);
    map->width = sp_pool_raw(&map->pool, n, sizeof *map->width);
    SP_TRY(sp_allocated(context, !map->pool.failed));

    SP_TRY(mark(context, body, count, vertex, map->place));
    SP_TRY(refuse_floating(context, body, map->place, &map->added));

    for (int64_t i = 0; i < n; i++)
        map->d += map->place[i] < 0;
    map->s = n - map->d;

    map->dynamic = sp_pool_raw(&map->pool, map->d, sizeof *map->dynamic);
    map->quasistatic = sp_pool_raw(&map->pool, map->s, sizeof *map->quasistatic);
    node = sp_pool_raw(&map->pool, n, sizeof *node);
    SP_TRY(sp_allocated(context, !map->pool.failed));

    number(map);
    find_own(map);

    SP_TRY(sp_fe_space_matrix(context, body, &map->K));
    sp_fe_space_nodes(body, node);
    if (map->s > 0)
        SP_TRY(sp_condense_new(context, &map->K, node, map->d, map->dynamic, 2, &map->factor));
done:
    if (status != SP_OK)
        sp_conjac_condensation_free(map);
    return status;
}

void sp_conjac_condensation_free(sp_conjac_condensation *map)
{
    sp_condense_free(map->factor);
    sp_sparse_free(&map->K);
    sp_pool_free(&map->pool);
    *map = (sp_conjac_condensation){0};
}

void sp_conjac_condensation_fill(sp_conjac_condensation *map, const sp_sparse *K, const sp_sparse *more)
{
    const int64_t entries = K->start[K->order];
    const size_t bytes = (size_t)entries * sizeof(double);

    /* Without additions the values are compared as a whole: an equal matrix keeps its factor. */
    if (!more) {
        if (map->factored && memcmp(map->K.value, K->value, bytes) == 0)
            return;
        map->factored = false;
        memcpy(map->K.value, K->value, bytes);
        return;
    }

    /* Entries before k are finished. Those of a row's vertex are contiguous, and those in between are unchanged. */
    bool same = map->factored;
    int64_t k = 0;
    for (int64_t i = 0; i <= K->order; i++) {
        const int64_t own = i < K->order ? map->own[i] : entries, width = i < K->order ? map->width[i] : 0;
        const size_t part = (size_t)(own - k) * sizeof(double);

        same = same && memcmp(map->K.value + k, K->value + k, part) == 0;
        memcpy(map->K.value + k, K->value + k, part);

        for (k = own; k < own + width; k++) {
            const double value = K->value[k] + more->value[k];
            same = same && map->K.value[k] == value;
            map->K.value[k] = value;
        }
    }
    map->factored = same;
}

int sp_conjac_condensation_factor(sp_conjac_condensation *map, bool *anew)
{
    *anew = !map->factored && map->s > 0;

    if (!*anew)
        return SP_OK;
    const int status = sp_condense_factor(map->factor, &map->K);
    map->factored = status == SP_OK;
    return status;
}

int sp_conjac_condensation_solve(sp_conjac_condensation *map, bool mapping, int64_t count, double *Z)
{
    return map->s == 0 || (count == 0 && !mapping) ? SP_OK : sp_condense_solve(map->factor, mapping, count, Z);
}

int sp_conjac_condensation_part(const sp_conjac_condensation *map, const sp_sparse *A, sp_sparse *part)
{
    sp_sparse whole = {.order = map->s};
    int64_t at = 0;
    int status;

    whole.start = sp_pool_new(&whole.pool, map->s + 1, sizeof *whole.start);
    whole.index = sp_pool_raw(&whole.pool, A->start[A->order], sizeof *whole.index);
    whole.value = sp_pool_raw(&whole.pool, A->start[A->order], sizeof *whole.value);
    SP_TRY(sp_allocated(map->context, !whole.pool.failed));

    /* Rows and columns of the quasistatic components, in their order */
    for (int64_t s = 0; s < map->s; s++) {
        for (int64_t k = A->start[map->quasistatic[s]]; k < A->start[map->quasistatic[s] + 1]; k++)
            if (map->place[A->index[k]] >= 0) {
                whole.index[at] = map->place[A->index[k]];
                whole.value[at++] = A->value[k];
            }
        whole.start[s + 1] = at;
    }

    status = sp_sparse_compress(map->context, &whole, part);
done:
    sp_sparse_free(&whole);
    return status;
}

void sp_conjac_condensation_columns(const sp_conjac_condensation *map, const sp_sparse *A, double *B)
{
    for (int64_t d = 0; d < map->d; d++)
        for (int64_t k = A->start[map->dynamic[d]]; k < A->start[map->dynamic[d] + 1]; k++)
            if (map->place[A->index[k]] >= 0)
                B[map->s * d + map->place[A->index[k]]] += A->value[k];
}

void sp_conjac_condensation_rows(const sp_conjac_condensation *map, const sp_sparse *A, int64_t count, const double *Z,
                                 double *Y)
{
    memset(Y, 0, (size_t)(map->d * count) * sizeof *Y);
    for (int64_t d = 0; d < map->d; d++)
        for (int64_t k = A->start[map->dynamic[d]]; k < A->start[map->dynamic[d] + 1]; k++) {
            const int64_t at = map->place[A->index[k]];
            const double a = A->value[k];

            /* The identity of the dynamic columns, then Z */
            if (at < 0)
                Y[map->d * (-1 - at) + d] += a;
            if (at >= 0 && a != 0)
                for (int64_t l = 0; l < count; l++)
                    Y[map->d * l + d] += a * Z[map->s * l + at];
        }
}

void sp_conjac_condensation_split(const sp_conjac_condensation *map, const double *x, double *x_d, double *x_s)
{
    if (x_d)
        for (int64_t d = 0; d < map->d; d++)
            x_d[d] = x[map->dynamic[d]];
    if (x_s)
        for (int64_t s = 0; s < map->s; s++)
            x_s[s] = x[map->quasistatic[s]];
}

void sp_conjac_condensation_join(const sp_conjac_condensation *map, const double *x_d, const double *x_s, double *x)
{
    for (int64_t d = 0; d < map->d; d++)
        x[map->dynamic[d]] = x_d ? x_d[d] : 0;
    for (int64_t s = 0; s < map->s; s++)
        x[map->quasistatic[s]] = x_s ? x_s[s] : 0;
}
