#include "geometry/closest_internal.h"
#include "geometry/field.h"

#include <math.h>
#include <omp.h>
#include <string.h>

/* Distances at all vertices of a grid at once. A brick of vertices has a list of the triangles that can be closest to
 * any point of it. It is split into eight parts, and each part keeps the triangles of the list that it needs, down to
 * bricks of 2 × 2 × 2 vertices, for which the few remaining triangles are all tested. Eight points are processed in
 * SIMD lanes throughout: the centres of the parts, and finally the vertices.
 *
 * The test for a part is the following. Let q be the point of the surface closest to the centre m of the part, t the
 * point of another triangle T closest to m, and w = m − t. T is convex and therefore behind the plane through t normal
 * to w, so that for every p dist(p, T) ≥ w·(p − t)/|w| = (|w|² + w·(p − m)) / |w|, which is linear in p, while dist(p,
 * surface) ≤ |p − q| is convex. So T can be left out of the part if its bound is above |p − q| at the part's eight
 * corners. For a part of radius R this leaves triangles within about 2R of q sideways, however far away they are. */

/* Bricks of up to SIDE vertices along an axis are split until no side is above 2; LEVELS of them have lists. */
enum { SIDE = 32, LEVELS = 6, KEPT = 2048 };

typedef int64_t lane_mask __attribute__((vector_size(64)));
typedef int8_t lane_bytes __attribute__((vector_size(8)));

/* The nearest triangle's own bound can equal its distance, and rounding must not exclude it. */
static const double SLACK = 1 + 1e-9;

typedef struct evaluation {
    sp_lanes square, w[3];
} evaluation;

typedef struct workspace {
    int32_t *list[LEVELS];
    uint8_t *keep; /* LEVELS arrays, one after another */
    evaluation *kept;
} workspace;

typedef struct bricks {
    const sp_closest *closest;
    sp_field *field;
    int64_t side; /* side of the first bricks, in vertices */
    int64_t count[3];
} bricks;

typedef struct brick {
    int64_t low[3], size[3]; /* vertices */
} brick;

SP_INLINE sp_lanes all(double x)
{
    return (sp_lanes){x, x, x, x, x, x, x, x};
}

SP_INLINE sp_lanes choose(lane_mask mask, sp_lanes yes, sp_lanes no)
{
    return (sp_lanes)((mask & (lane_mask)yes) | (~mask & (lane_mask)no));
}

SP_INLINE sp_lanes smaller(sp_lanes a, sp_lanes b)
{
    return choose(a < b, a, b);
}

SP_INLINE sp_lanes larger(sp_lanes a, sp_lanes b)
{
    return choose(a > b, a, b);
}

/* A bit for each lane that is true. */
SP_INLINE uint8_t lane_bits(lane_mask mask)
{
    const lane_bytes bytes = __builtin_convertvector(mask, lane_bytes);
    uint64_t word;
    /* true is −1 in every byte: the mask leaves bit i in byte i, and the product gathers them in the highest byte. */
    memcpy(&word, &bytes, sizeof word);
    return (uint8_t)((word & 0x8040201008040201u) * 0x0101010101010101u >> 56);
}

SP_INLINE sp_lanes dot(const sp_lanes a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The vector to x from its nearest point on a side that begins at the origin of x, clamped to the side's ends. */
SP_INLINE sp_lanes side_offset(const sp_facet *facet, int side, const sp_lanes x[3], sp_lanes w[3])
{
    const sp_lanes along = smaller(larger(dot(x, facet->e[side]) * facet->inverse[side], all(0)), all(1));
    for (int k = 0; k < 3; k++)
        w[k] = x[k] - along * facet->e[side][k];
    return w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
}

/* Squared distances of eight points from a facet; w, if wanted: the vectors from its closest points to them. */
SP_INLINE sp_lanes facet_distance(const sp_facet *facet, const sp_lanes point[3], bool wanted, sp_lanes w[3])
{
    sp_lanes v[3], u[3], other[3];
    for (int k = 0; k < 3; k++) {
        v[k] = point[k] - facet->a[k];
        u[k] = v[k] - facet->e[0][k];
    }

    /* The three sides, which are also all that a degenerate triangle has */
    sp_lanes best = side_offset(facet, 0, v, w);
    for (int i = 1; i < 3; i++) {
        const sp_lanes square = side_offset(facet, i, i == 1 ? v : u, other);
        if (wanted) {
            const lane_mask less = square < best;
            for (int k = 0; k < 3; k++)
                w[k] = choose(less, other[k], w[k]);
        }
        best = smaller(square, best);
    }

    /* The face, where the foot of the perpendicular lies in it */
    const sp_lanes s = dot(v, facet->dual[0]), t = dot(v, facet->dual[1]), height = dot(v, facet->normal);
    /* one comparison, since GCC 12 splits a conjunction of masks into single lanes */
    const lane_mask face = smaller(smaller(s, t), 1 - (s + t)) >= facet->least;
    if (wanted)
        for (int k = 0; k < 3; k++)
            w[k] = choose(face, height * facet->normal[k], w[k]);
    return choose(face, height * height, best);
}

/* Tests the eight vertices of a brick that is at most 2 wide with every triangle of the list. */
SP_CLONES static void finish(const bricks *all_bricks, const brick *b, const int32_t *list, int64_t count)
{
    const sp_closest *closest = all_bricks->closest;
    sp_field *field = all_bricks->field;
    sp_lanes point[3], none[3], best = all(INFINITY);

    for (int i = 0; i < SP_LANES; i++)
        for (int k = 0; k < 3; k++) {
            const int64_t at = b->low[k] + (b->size[k] > 1 ? i >> k & 1 : 0);
            point[k][i] = field->origin[k] + field->spacing * (double)at - closest->centre[k];
        }

    for (int64_t i = 0; i < count; i++)
        best = smaller(facet_distance(&closest->facets[list[i]], point, false, none), best);

    for (int i = 0; i < SP_LANES; i++) {
        const int64_t x = i & 1, y = i >> 1 & 1, z = i >> 2;
        if (x < b->size[0] && y < b->size[1] && z < b->size[2])
            field->distance[sp_field_index(field, b->low[0] + x, b->low[1] + y, b->low[2] + z)] = (float)sqrt(best[i]);
    }
}

/* The part of a brick with this number. A side of at most 2 is not split. The size is 0 if there is no such part. */
static brick part_of(const brick *b, int number)
{
    brick part;
    for (int k = 0; k < 3; k++) {
        const int64_t first = b->size[k] > 2 ? (b->size[k] + 1) / 2 : b->size[k];
        const bool second = number >> k & 1;
        part.low[k] = b->low[k] + (second ? first : 0);
        part.size[k] = second ? b->size[k] - first : first;
    }
    return part;
}

/* Returns the lanes whose convex sets are needed in boxes of half sides `half` about points whose offsets from the sets
 * are w: those whose bound is below |p − q| at a corner. reach has the squares of |p − q| at the eight corners. */
SP_INLINE lane_mask needs(sp_lanes square, const sp_lanes w[3], const sp_lanes half[3], const sp_lanes reach[8])
{
    /* w·(p − m) = ±x ± y ± z at the corners of the box */
    const sp_lanes x = w[0] * half[0], y = w[1] * half[1], z = w[2] * half[2];
    sp_lanes least = all(INFINITY);
    for (int c = 0; c < 8; c++) {
        /* The bound times |w| is compared with |p − q| times |w|, both squared with their sign. */
        const sp_lanes bound = square + (c & 1 ? x : -x) + (c & 2 ? y : -y) + (c & 4 ? z : -z);
        const sp_lanes size = (sp_lanes)((lane_mask)bound & INT64_MAX);
        least = smaller(bound * size - reach[c] * square, least);
    }

    return least <= all(0);
}

/* Determines which triangles of the list each of the eight parts needs: keep[i] has a bit for each part. */
SP_CLONES static void sift(const bricks *all_bricks, const brick parts[8], const int32_t *list, int64_t count,
                           evaluation *kept, uint8_t *keep)
{
    const sp_closest *closest = all_bricks->closest;
    const sp_field *field = all_bricks->field;
    sp_lanes middle[3], half[3], best = all(INFINITY), nearest[3] = {best, best, best}, reach[8];

    for (int i = 0; i < SP_LANES; i++)
        for (int k = 0; k < 3; k++) {
            middle[k][i] = field->origin[k] +
                           field->spacing * ((double)parts[i].low[k] + 0.5 * (double)(parts[i].size[k] - 1)) -
                           closest->centre[k];
            half[k][i] = parts[i].size[k] > 1 ? 0.5 * field->spacing * (double)(parts[i].size[k] - 1) : 0;
        }

    /* q is the nearest of the triangles' closest points. Evaluations of the first triangles are stored for the test
     * below. */
    for (int64_t i = 0; i < count; i++) {
        evaluation one;
        one.square = facet_distance(&closest->facets[list[i]], middle, true, one.w);
        const lane_mask less = one.square < best;
        best = smaller(one.square, best);
        for (int k = 0; k < 3; k++)
            nearest[k] = choose(less, one.w[k], nearest[k]);
        if (i < KEPT)
            kept[i] = one;
    }

    for (int c = 0; c < 8; c++) { /* |p − q|² at the corners */
        reach[c] = all(0);
        for (int k = 0; k < 3; k++) {
            const sp_lanes d = c >> k & 1 ? nearest[k] + half[k] : nearest[k] - half[k];
            reach[c] += d * d;
        }
        reach[c] *= SLACK;
    }

    /* Which parts need the triangle */
    for (int64_t i = 0; i < count; i++) {
        evaluation one;
        if (i < KEPT)
            one = kept[i];
        else
            one.square = facet_distance(&closest->facets[list[i]], middle, true, one.w);
        keep[i] = lane_bits(needs(one.square, one.w, half, reach));
    }
}

static void fill_brick(const bricks *all_bricks, const workspace *work, int level, const brick *b, int64_t count)
{
    const int32_t *list = work->list[level];
    if (b->size[0] <= 2 && b->size[1] <= 2 && b->size[2] <= 2) {
        finish(all_bricks, b, list, count);
        return;
    }

    brick parts[8];
    uint8_t *keep = work->keep + level * all_bricks->closest->count;
    for (int c = 0; c < 8; c++)
        parts[c] = part_of(b, c);
    sift(all_bricks, parts, list, count, work->kept, keep);

    for (int c = 0; c < 8; c++) {
        int32_t *to = work->list[level + 1];
        int64_t needed = 0;
        if (parts[c].size[0] < 1 || parts[c].size[1] < 1 || parts[c].size[2] < 1)
            continue;

        /* Every triangle is written, and the place moves on only behind those that the part needs. */
        for (int64_t i = 0; i < count; i++) {
            to[needed] = list[i];
            needed += keep[i] >> c & 1;
        }
        fill_brick(all_bricks, work, level + 1, &parts[c], needed);
    }
}

/* Collects the facets that a brick can need in `list`: the same test as in sift, with boxes instead of triangles.
 * offset: from the closest point to the centre of the brick. */
SP_CLONES static int64_t gather(const sp_closest *closest, const double middle[3], const double half[3],
                                const double offset[3], int32_t *list)
{
    struct {
        int64_t node;
        int level;
    } stack[SP_CLOSEST_STACK + SP_LANES];
    double reach[8];
    int64_t count = 0;
    int depth = 0;

    /* |p − q|² at the corners of the brick */
    for (int c = 0; c < 8; c++) {
        reach[c] = 0;
        for (int k = 0; k < 3; k++) {
            const double d = offset[k] + (c >> k & 1 ? half[k] : -half[k]);
            reach[c] += d * d;
        }
        reach[c] *= SLACK;
    }

    stack[depth].node = 0;
    stack[depth++].level = closest->levels - 1;
    while (depth > 0) {
        const int64_t node = stack[--depth].node;
        const int level = stack[depth].level;
        const sp_boxes *boxes = &closest->boxes[level][node];

        /* The offset of the centre from the closest point of each box */
        sp_lanes w[3], square = all(0);
        for (int k = 0; k < 3; k++) {
            const sp_lanes low = *(const sp_lanes *)boxes->low[k], high = *(const sp_lanes *)boxes->high[k];
            w[k] = smaller(middle[k] - low, all(0)) + larger(middle[k] - high, all(0));
            square += w[k] * w[k];
        }

        uint8_t needed = lane_bits(needs(square, w, (sp_lanes[3]){all(half[0]), all(half[1]), all(half[2])},
                                         (sp_lanes[8]){all(reach[0]), all(reach[1]), all(reach[2]), all(reach[3]),
                                                       all(reach[4]), all(reach[5]), all(reach[6]), all(reach[7])}));

        const int64_t below = level > 0 ? closest->nodes[level - 1] : closest->count;
        for (; needed; needed &= (uint8_t)(needed - 1)) {
            const int64_t child = node * SP_LANES + __builtin_ctz(needed);
            if (child >= below) /* beyond the last box */
                break;
            if (level == 0) {
                list[count++] = (int32_t)child;
            } else {
                stack[depth].node = child;
                stack[depth++].level = level - 1;
            }
        }
    }
    return count;
}

static void first_brick(const bricks *all_bricks, const workspace *work, int64_t number)
{
    const sp_field *field = all_bricks->field;
    const sp_closest *closest = all_bricks->closest;
    brick b;
    double point[3], middle[3], half[3];
    sp_nearest nearest;

    for (int k = 0; k < 3; k++) {
        const int64_t vertices = field->cells[k] + 1, n = all_bricks->count[k], i = number % n;
        number /= n;
        b.low[k] = i * vertices / n;
        b.size[k] = (i + 1) * vertices / n - b.low[k];
        half[k] = 0.5 * field->spacing * (double)(b.size[k] - 1);
        point[k] = field->origin[k] + field->spacing * ((double)b.low[k] + 0.5 * (double)(b.size[k] - 1));
        middle[k] = point[k] - closest->centre[k];
    }

    sp_closest_find(closest, point, &nearest);
    fill_brick(all_bricks, work, 0, &b, gather(closest, middle, half, nearest.offset, work->list[0]));
}

int sp_field_distances(sp_context *context, const sp_closest *closest, const double span[2], sp_field *field)
{
    bricks b = {.closest = closest, .field = field};
    int64_t longest = 0;
    int status = SP_OK;
    sp_pool pool = {0};

    /* Small grids have small bricks, so that there are enough for all threads. */
    for (int k = 0; k < 3; k++)
        longest = field->cells[k] + 1 > longest ? field->cells[k] + 1 : longest;
    b.side = (longest + 7) / 8 < 4 ? 4 : (longest + 7) / 8 > SIDE ? SIDE : (longest + 7) / 8;
    for (int k = 0; k < 3; k++)
        b.count[k] = (field->cells[k] + b.side) / b.side;

    workspace *work = sp_pool_new(&pool, context->threads, sizeof *work);
    if (work)
        for (int t = 0; t < context->threads; t++) {
            for (int level = 0; level < LEVELS; level++)
                work[t].list[level] = sp_pool_raw(&pool, closest->count + 1, sizeof **work[t].list);
            work[t].keep = sp_pool_raw(&pool, LEVELS * closest->count, 1);
            work[t].kept = sp_pool_raw(&pool, KEPT, sizeof *work[t].kept);
        }

    SP_TRY(sp_allocated(context, !pool.failed));

    const int64_t layer = b.count[0] * b.count[1];
    for (int64_t z = 0; z < b.count[2]; z++) {
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
        for (int64_t i = 0; i < layer; i++)
            if (!context->cancel || !*context->cancel)
                first_brick(&b, &work[omp_get_thread_num()], z * layer + i);
        SP_TRY(sp_progress(context, span[0] + (span[1] - span[0]) * (double)(z + 1) / (double)b.count[2]));
    }
done:
    sp_pool_free(&pool);
    return status;
}
