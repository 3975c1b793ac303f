#include "geometry/orient_internal.h"

#include <math.h>
#include <string.h>

#include "base/forest.h"
#include "base/vec3.h"

/* The duplicate triangles that are kept are chosen for each component that is connected over edges with any number of
 * triangles, by the first of these rules that leaves a triangle:
 *
 * balanced: duplicates are replaced by the sum of their orientations, and those with the sum zero (inner walls between
 * two cells, two-sided fins) are removed. If every edge then has as many uses in one direction as in the other, the
 * component was consistent in the input and keeps its orientations. This preserves closed models with edges of four and
 * more triangles, where neighbours determine nothing.
 *
 * even: triangles that are given an even number of times are removed. The rule applies if every edge then has an even
 * number of triangles. It serves models whose orientations are arbitrary.
 *
 * else: every distinct triangle is kept once.
 *
 * Triangles of zero area with three distinct vertices are left out of the result but connect their neighbours here. */

static uint64_t hash3(const uint64_t key[3])
{
    uint64_t h = 0x9e3779b97f4a7c15u;
    for (int k = 0; k < 3; k++) {
        h = (h ^ key[k]) * 0xff51afd7ed558ccdu;
        h ^= h >> 32;
    }
    return h ^ h >> 29;
}

/* For each of `count` keys the index of its first occurrence. key [count, 3]. */
static int64_t *first_of_equal(sp_pool *pool, int64_t count, const uint64_t *key)
{
    /* Open addressing in a table that is at most half full. The first of equal keys enters it, so that it is found
     * by the later ones. */
    int64_t size = 16;
    while (size < 2 * count)
        size *= 2;

    int64_t *first = sp_pool_raw(pool, count, sizeof *first);
    int64_t *table = sp_pool_raw(pool, size, sizeof *table);
    if (pool->failed)
        return NULL;
    memset(table, 0xff, (size_t)size * sizeof *table);

    for (int64_t i = 0; i < count; i++) {
        uint64_t slot = hash3(key + 3 * i) & (uint64_t)(size - 1);
        while (table[slot] >= 0 && memcmp(key + 3 * table[slot], key + 3 * i, 3 * sizeof *key) != 0)
            slot = (slot + 1) & (uint64_t)(size - 1);
        if (table[slot] < 0)
            table[slot] = i;
        first[i] = table[slot];
    }

    sp_pool_drop(pool, table);
    return first;
}

static bool weld(sp_repair *r, const sp_surface *surface, sp_orient_report *report)
{
    const int64_t n = surface->vertex_count;
    uint64_t *key = sp_pool_raw(&r->pool, 3 * n, sizeof *key);
    if (!key)
        return false;

    /* Equal positions have equal bits once −0 is replaced. */
    for (int64_t i = 0; i < 3 * n; i++) {
        double x = surface->vertices[i] + 0.0; /* replaces −0 by 0 */
        memcpy(&key[i], &x, sizeof x);
    }

    int64_t *first = first_of_equal(&r->pool, n, key);
    r->points = sp_pool_raw(&r->pool, 3 * n, sizeof *r->points);
    r->triangles = sp_pool_raw(&r->pool, 3 * r->count, sizeof *r->triangles);
    if (r->pool.failed)
        return false;

    /* A vertex that is not the first one at its position takes the number of that, which is known since it came
     * before. */
    for (int64_t i = 0; i < n; i++) {
        if (first[i] != i) {
            first[i] = first[first[i]];
            report->welded++;
            continue;
        }
        memcpy(r->points + 3 * r->point_count, surface->vertices + 3 * i, 3 * sizeof(double));
        first[i] = r->point_count++;
    }

    for (int64_t i = 0; i < 3 * r->count; i++)
        r->triangles[i] = first[surface->triangles[i]];

    sp_pool_drop(&r->pool, key);
    sp_pool_drop(&r->pool, first);
    return true;
}

void sp_repair_normal(const sp_repair *r, int64_t t, double normal[3])
{
    const int64_t *v = r->triangles + 3 * t;
    double e[3], f[3];
    sp_subtract3(r->points + 3 * v[1], r->points + 3 * v[0], e);
    sp_subtract3(r->points + 3 * v[2], r->points + 3 * v[0], f);
    sp_cross3(e, f, normal);
}

static void find_degenerate(sp_repair *r, sp_orient_report *report)
{
    for (int64_t t = 0; t < r->count; t++) {
        const int64_t *v = r->triangles + 3 * t;
        double n[3], e[3], f[3];
        sp_repair_normal(r, t, n);
        sp_subtract3(r->points + 3 * v[1], r->points + 3 * v[0], e);
        sp_subtract3(r->points + 3 * v[2], r->points + 3 * v[0], f);

        /* Zero within the rounding of the products, with or without fused multiplication. */
        const double twice = sp_norm3(n);

        r->flat[t] = twice <= 4e-16 * sqrt(sp_dot3(e, e) * sp_dot3(f, f));
        r->area[t] = r->flat[t] ? 0 : 0.5 * twice;
        r->live[t] = v[0] != v[1] && v[1] != v[2] && v[2] != v[0];
        report->degenerate += r->flat[t];
    }
}

/* Keeps the first of the triangles with the same vertices. Its sign becomes the sum of all orientations relative to it,
 * which may be 0. */
static bool join_doubled(sp_repair *r, sp_orient_report *report)
{
    uint64_t *key = sp_pool_raw(&r->pool, 3 * r->count, sizeof *key);
    int64_t *sum = sp_pool_new(&r->pool, r->count, sizeof *sum);
    if (r->pool.failed)
        return false;

    /* The key is the vertices from the lowest one on, in ascending order. The orientation is the sign of the
     * permutation. */
    for (int64_t t = 0; t < r->count; t++) {
        const int64_t *v = r->triangles + 3 * t;
        int k; /* lowest corner */
        if (v[0] < v[1])
            k = v[0] < v[2] ? 0 : 2;
        else
            k = v[1] < v[2] ? 1 : 2;
        uint64_t b = (uint64_t)v[(k + 1) % 3], c = (uint64_t)v[(k + 2) % 3];
        key[3 * t] = (uint64_t)v[k];
        key[3 * t + 1] = b < c ? b : c;
        key[3 * t + 2] = b < c ? c : b;
        r->sign[t] = b < c ? 1 : -1;
    }

    int64_t *first = first_of_equal(&r->pool, r->count, key);
    if (!first)
        return false;

    for (int64_t t = 0; t < r->count; t++) {
        if (!r->live[t])
            continue;
        sum[first[t]] += r->sign[t] * r->sign[first[t]];
        r->odd[first[t]] ^= 1;
        if (first[t] != t) {
            r->live[t] = 0;
            report->doubled += !r->flat[t];
        }
    }

    for (int64_t t = 0; t < r->count; t++)
        r->sign[t] = (signed char)((sum[t] > 0) - (sum[t] < 0));

    sp_pool_drop(&r->pool, key);
    sp_pool_drop(&r->pool, sum);
    sp_pool_drop(&r->pool, first);
    return true;
}

/* Finds components over all edges and whether they are balanced or even, and removes the dropped triangles from the
 * list of uses. All signs become +1 if the component is not balanced. */
static void choose_doubled(sp_repair *r, sp_orient_report *report)
{
    /* Components over all edges. The lower root wins, so that a root is the lowest triangle of its component. */
    for (int64_t t = 0; t < r->count; t++)
        r->component[t] = t;
    for (int64_t i = 0, end; i < r->use_count; i = end) {
        end = sp_edge_end(r->uses, r->use_count, i);
        for (int64_t j = i + 1; j < end; j++)
            sp_forest_join(r->component, r->uses[j - 1].corner / 3, r->uses[j].corner / 3);
    }

    /* A component of which no triangle is left is a surface given from both sides. */
    for (int64_t t = 0; t < r->count; t++) {
        r->component[t] = sp_forest_root(r->component, t);
        if (r->live[t]) {
            r->balanced[r->component[t]] |= r->sign[t] != 0;
            r->even[r->component[t]] |= r->odd[t];
        }
    }

    /* One edge with a surplus in one direction, or with an odd number of triangles, spoils the property. */
    for (int64_t i = 0, end; i < r->use_count; i = end) {
        int64_t sum = 0, odd = 0, component = r->component[r->uses[i].corner / 3];
        end = sp_edge_end(r->uses, r->use_count, i);
        for (int64_t j = i; j < end; j++) {
            sum += sp_edge_direction(&r->uses[j], r->triangles) * r->sign[r->uses[j].corner / 3];
            odd ^= r->odd[r->uses[j].corner / 3];
        }
        if (sum != 0)
            r->balanced[component] = 0;
        if (odd != 0)
            r->even[component] = 0;
    }

    for (int64_t t = 0; t < r->count; t++) {
        const int64_t c = r->component[t];
        if (!r->live[t])
            continue;
        if (r->balanced[c] ? r->sign[t] == 0 : r->even[c] && !r->odd[t]) {
            r->live[t] = 0;
            report->doubled += !r->flat[t];
        } else if (!r->balanced[c]) {
            r->sign[t] = 1;
        }
    }

    int64_t kept = 0;
    for (int64_t i = 0; i < r->use_count; i++)
        if (r->live[r->uses[i].corner / 3])
            r->uses[kept++] = r->uses[i];
    r->use_count = kept;
}

/* Patches over edges with two triangles: orients each breadth first, so that most of its area keeps its orientation.
 * Marks those in which triangles had to be reversed relative to each other as inconsistent. */
static bool orient_patches(sp_repair *r, sp_orient_report *report)
{
    int64_t *mate = sp_pool_raw(&r->pool, 3 * r->count, sizeof *mate);
    int64_t *queue = sp_pool_raw(&r->pool, r->count, sizeof *queue);
    signed char *turn = sp_pool_new(&r->pool, r->count, 1);
    if (r->pool.failed)
        return false;

    memset(mate, 0xff, (size_t)(3 * r->count) * sizeof *mate);

    /* Triangles are neighbours over edges of exactly two. */
    for (int64_t i = 0, end; i < r->use_count; i = end) {
        end = sp_edge_end(r->uses, r->use_count, i);
        if (end - i == 2) {
            mate[r->uses[i].corner] = r->uses[i + 1].corner;
            mate[r->uses[i + 1].corner] = r->uses[i].corner;
        }
    }

    /* Breadth first from the lowest triangle that has no patch yet */
    for (int64_t t = 0; t < r->count; t++) {
        if (!r->live[t] || turn[t])
            continue;
        int64_t head = 0, tail = 0;
        double kept = 0, turned = 0;
        bool conflict = false, mixed = false;

        queue[tail++] = t;
        turn[t] = 1;

        while (head < tail) {
            int64_t a = queue[head++];
            r->patch[a] = r->patch_count;
            kept += turn[a] > 0 ? r->area[a] : 0;
            turned += turn[a] < 0 ? r->area[a] : 0;
            mixed |= turn[a] < 0;
            for (int k = 0; k < 3; k++) {
                int64_t other = mate[3 * a + k];
                if (other < 0)
                    continue;
                int64_t b = other / 3;
                /* Both sides start at the same vertex: they have the same direction, so that one of the two triangles
                 * is reversed. */
                bool same = r->triangles[3 * a + k] == r->triangles[other];
                int needed = (same ? -1 : 1) * turn[a] * r->sign[a] * r->sign[b];
                if (!turn[b]) {
                    turn[b] = (signed char)needed;
                    queue[tail++] = b;
                } else if (turn[b] != needed) {
                    conflict = true;
                }
            }
        }

        /* The majority by area keeps its given orientation. */
        int majority = turned > kept ? -1 : 1;
        for (int64_t i = 0; i < tail; i++)
            r->sign[queue[i]] = (signed char)(r->sign[queue[i]] * turn[queue[i]] * majority);
        r->inconsistent[r->patch_count++] = mixed;
        report->one_sided += conflict;
    }

    report->patches = r->patch_count;
    sp_pool_drop(&r->pool, mate);
    sp_pool_drop(&r->pool, queue);
    sp_pool_drop(&r->pool, turn);
    return true;
}

static int write_repaired(sp_context *context, const sp_repair *r, const sp_surface *surface, sp_surface *repaired,
                          sp_orient_report *report)
{
    int64_t n = 0;
    for (int64_t t = 0; t < r->count; t++)
        n += r->live[t] && !r->flat[t];

    sp_surface out = {.vertex_count = r->point_count, .group_count = surface->group_count};
    out.vertices = sp_pool_copy(&out.pool, r->points, 3 * r->point_count, sizeof(double));
    out.triangles = sp_pool_raw(&out.pool, 3 * n, sizeof(int64_t));
    out.group = sp_pool_raw(&out.pool, n, sizeof(int64_t));
    out.groups = sp_pool_new(&out.pool, surface->group_count, sizeof(char *));
    if (out.groups)
        for (int64_t g = 0; g < surface->group_count; g++)
            out.groups[g] = sp_pool_copy(&out.pool, surface->groups[g], (int64_t)strlen(surface->groups[g]) + 1, 1);

    if (out.pool.failed) {
        sp_pool_free(&out.pool);
        return sp_fail_memory(context);
    }

    for (int64_t t = 0; t < r->count; t++) {
        if (!r->live[t] || r->flat[t])
            continue;
        const int64_t *v = r->triangles + 3 * t;
        int64_t *to = out.triangles + 3 * out.triangle_count;
        to[0] = v[0];
        to[1] = v[r->sign[t] > 0 ? 1 : 2];
        to[2] = v[r->sign[t] > 0 ? 2 : 1];
        out.group[out.triangle_count++] = surface->group[t];
        report->turned += r->sign[t] < 0;
    }
    *repaired = out;
    return SP_OK;
}

int sp_surface_orient(sp_context *context, const sp_surface *surface, sp_surface *repaired, sp_orient_report *report)
{
    sp_repair r = {.count = surface->triangle_count};
    int status = SP_OK;

    *report = (sp_orient_report){0};

    r.live = sp_pool_raw(&r.pool, r.count, 1);
    r.flat = sp_pool_raw(&r.pool, r.count, 1);
    r.area = sp_pool_raw(&r.pool, r.count, sizeof *r.area);
    r.sign = sp_pool_raw(&r.pool, r.count, 1);
    r.component = sp_pool_raw(&r.pool, r.count, sizeof *r.component);
    r.balanced = sp_pool_new(&r.pool, r.count, 1);
    r.even = sp_pool_new(&r.pool, r.count, 1);
    r.odd = sp_pool_new(&r.pool, r.count, 1);
    r.patch = sp_pool_raw(&r.pool, r.count, sizeof *r.patch);
    r.inconsistent = sp_pool_new(&r.pool, r.count, 1);

    if (r.pool.failed || !weld(&r, surface, report)) {
        status = sp_fail_memory(context);
        goto done;
    }

    find_degenerate(&r, report);
    SP_TRY(sp_allocated(context, join_doubled(&r, report)));

    r.uses = sp_edge_uses(&r.pool, r.point_count, r.count, r.triangles, r.live, &r.use_count);
    SP_TRY(sp_allocated(context, r.uses));

    choose_doubled(&r, report);
    SP_TRY(sp_allocated(context, orient_patches(&r, report)));

    SP_TRY(sp_repair_orient_outward(context, &r));

    /* Σ over the edges of the uses that have no opposite */
    for (int64_t i = 0, end; i < r.use_count; i = end) {
        int64_t sum = 0;
        end = sp_edge_end(r.uses, r.use_count, i);
        for (int64_t j = i; j < end; j++)
            sum += r.sign[r.uses[j].corner / 3] * sp_edge_direction(&r.uses[j], r.triangles);
        report->open_edges += sum < 0 ? -sum : sum;
    }

    SP_TRY(write_repaired(context, &r, surface, repaired, report));
done:
    sp_pool_free(&r.pool);
    return status;
}
