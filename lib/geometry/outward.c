/* The last part of the orientation repair: complete patches, each of which is consistent, are oriented outward. */
#include "geometry/orient_internal.h"

#include <math.h>
#include <string.h>

#include "geometry/visibility.h"
#include "geometry/winding.h"

/* A unit is reversed as a whole: a patch, or all open patches of a balanced component together. */
typedef struct unit {
    bool closed, consistent;
    double area, centre[3], volume; /* the volume about the centroid */
    double low[3], high[3];
    int factor;         /* ±1 for all its triangles; 0 while it is undetermined */
    int64_t root;       /* root of its nest; the unit itself if it is inside no other */
    sp_surface surface; /* its triangles, with the current signs; borrowed */
} unit;

typedef struct units {
    sp_pool pool;
    int64_t count;
    unit *unit;
    int64_t *of; /* [patches] */
} units;

/* The volume of an open unit determines its orientation from this multiple of area^1.5 on. A spherical cap that bends
 * by 12° from rim to rim has this value, and a sphere has 0.094. The volume of a closed unit must only exceed rounding.
 */
static const double OPEN_VOLUME = 0.01, CLOSED_VOLUME = 1e-10;

/* Number of lines for the visibility of open units: half of them are distributed by area, half evenly, within limits
 * for each unit. Ten lines that agree suffice. */
static const double LINES = 1 << 18, LINES_LEAST = 10, LINES_MOST = 1024;

/* Surfaces within this fraction of the model's diagonal of a sheet do not hide it, so that coincident sheets do not
 * hide each other. */
static const double COINCIDENT = 1e-9;

/* open [patch] receives 1 if the patch alone has an edge with more uses in one direction than in the other. */
static void find_open(const sp_repair *r, uint8_t *open, int64_t *sum)
{
    for (int64_t i = 0, end; i < r->use_count; i = end) {
        end = sp_edge_end(r->uses, r->use_count, i);
        for (int64_t j = i; j < end; j++) {
            int64_t t = r->uses[j].corner / 3;
            sum[r->patch[t]] += r->sign[t] * sp_edge_direction(&r->uses[j], r->triangles);
        }

        /* The sums are set back one by one, since an edge has few patches and the model may have many. */
        for (int64_t j = i; j < end; j++) {
            int64_t p = r->patch[r->uses[j].corner / 3];
            open[p] |= sum[p] != 0;
            sum[p] = 0;
        }
    }
}

static bool find_units(sp_repair *r, units *all)
{
    uint8_t *open = sp_pool_new(&all->pool, r->patch_count, 1);
    int64_t *sum = sp_pool_new(&all->pool, r->patch_count, sizeof *sum);
    int64_t *shared = sp_pool_raw(&all->pool, r->count, sizeof *shared); /* per component: unit of its open patches */
    all->of = sp_pool_raw(&all->pool, r->patch_count, sizeof *all->of);
    all->unit = sp_pool_new(&all->pool, r->patch_count, sizeof *all->unit);
    if (all->pool.failed)
        return false;

    find_open(r, open, sum);
    memset(shared, 0xff, (size_t)r->count * sizeof *shared);
    memset(all->of, 0xff, (size_t)r->patch_count * sizeof *all->of);

    for (int64_t t = 0; t < r->count; t++) {
        if (!r->live[t] || all->of[r->patch[t]] >= 0)
            continue;
        const int64_t p = r->patch[t], c = r->component[t];
        const bool together = open[p] && r->balanced[c];

        if (together && shared[c] >= 0) {
            all->of[p] = shared[c];
            continue;
        }

        all->unit[all->count] =
            (unit){.closed = !open[p] || together, .consistent = !r->inconsistent[p], .root = all->count};
        if (together)
            shared[c] = all->count;
        all->of[p] = all->count++;
    }
    return true;
}

/* Computes area, box and signed volume about the centroid. */
static void measure(const sp_repair *r, const units *all)
{
    for (int64_t i = 0; i < all->count; i++)
        for (int k = 0; k < 3; k++) {
            all->unit[i].low[k] = INFINITY;
            all->unit[i].high[k] = -INFINITY;
        }

    /* Area, box and centroid */
    for (int64_t t = 0; t < r->count; t++) {
        if (!r->live[t])
            continue;
        unit *u = &all->unit[all->of[r->patch[t]]];
        u->area += r->area[t];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) {
                double x = r->points[3 * r->triangles[3 * t + c] + k];
                u->centre[k] += r->area[t] * x / 3;
                u->low[k] = x < u->low[k] ? x : u->low[k];
                u->high[k] = x > u->high[k] ? x : u->high[k];
            }
    }

    for (int64_t i = 0; i < all->count; i++)
        for (int k = 0; k < 3; k++)
            all->unit[i].centre[k] =
                all->unit[i].area > 0 ? all->unit[i].centre[k] / all->unit[i].area : all->unit[i].low[k];

    /* Tetrahedra from the centroid: the sum is the volume of a closed unit, wherever the centroid is. */
    for (int64_t t = 0; t < r->count; t++) {
        if (!r->live[t])
            continue;

        unit *u = &all->unit[all->of[r->patch[t]]];
        double n[3];
        sp_repair_normal(r, t, n);
        for (int k = 0; k < 3; k++)
            u->volume += r->sign[t] * n[k] * (r->points[3 * r->triangles[3 * t] + k] - u->centre[k]) / 6;
    }
}

/* Makes the surface of each unit, with the current signs. *whole is the surface of all units, one after another. */
static bool make_surfaces(const sp_repair *r, units *all, sp_surface *whole)
{
    int64_t *at = sp_pool_new(&all->pool, all->count + 1, sizeof *at), total = 0;
    if (!at)
        return false;

    for (int64_t t = 0; t < r->count; t++)
        if (r->live[t]) {
            at[all->of[r->patch[t]] + 1]++;
            total++;
        }

    *whole = (sp_surface){.vertex_count = r->point_count, .vertices = r->points, .triangle_count = total};
    whole->triangles = sp_pool_raw(&all->pool, 3 * total, sizeof *whole->triangles);
    if (!whole->triangles)
        return false;

    /* Unit i begins at at[i], the sum of the counts before it. */
    for (int64_t i = 0; i < all->count; i++) {
        sp_surface *part = &all->unit[i].surface;
        *part = *whole;
        part->triangle_count = at[i + 1];
        at[i + 1] += at[i];
        part->triangles += 3 * at[i];
    }

    for (int64_t t = 0; t < r->count; t++) {
        if (!r->live[t])
            continue;
        const int64_t *v = r->triangles + 3 * t;
        int64_t *to = whole->triangles + 3 * at[all->of[r->patch[t]]]++;
        to[0] = v[0];
        to[1] = v[r->sign[t] > 0 ? 1 : 2];
        to[2] = v[r->sign[t] > 0 ? 2 : 1];
    }
    return true;
}

/* Returns true if three of four among up to 16 vertices, spread over the list, lie inside. */
static bool lies_inside(const sp_winding *outer, const sp_surface *inner)
{
    const int64_t count = 3 * inner->triangle_count, samples = count < 16 ? count : 16;
    int64_t inside = 0;
    for (int64_t i = 0; i < samples; i++) {
        const double *x = inner->vertices + 3 * inner->triangles[i * count / samples];
        inside += fabs(sp_winding_number(outer, x, 2)) >= 0.5;
    }

    return 4 * inside >= 3 * samples;
}

static bool box_inside(const unit *inner, const unit *outer)
{
    for (int k = 0; k < 3; k++)
        if (inner->low[k] < outer->low[k] || inner->high[k] > outer->high[k])
            return false;
    return true;
}

/* Sorts the closed consistent units by decreasing volume, equal ones by index (shell sort). */
static int64_t sort_closed(const units *all, int64_t *order)
{
    int64_t count = 0;
    for (int64_t u = 0; u < all->count; u++)
        if (all->unit[u].closed && all->unit[u].consistent)
            order[count++] = u;

    /* Shell sort */
    for (int64_t step = count / 2; step > 0; step /= 2)
        for (int64_t i = step; i < count; i++) {
            int64_t u = order[i], j = i;
            double size = fabs(all->unit[u].volume);
            for (; j >= step; j -= step) {
                double other = fabs(all->unit[order[j - step]].volume);
                if (other > size || (other == size && order[j - step] < u))
                    break;
                order[j] = order[j - step];
            }
            order[j] = u;
        }
    return count;
}

/* Gives the units among `inner` that lie inside a unit its factor. */
static int place_inside(sp_context *context, units *all, int64_t outer, const int64_t *inner, int64_t count)
{
    int status = SP_OK;
    sp_winding *winding = NULL;

    for (int64_t i = 0; i < count; i++) {
        unit *u = &all->unit[inner[i]];
        if (u->root != inner[i] || !box_inside(u, &all->unit[outer]))
            continue;

        /* Most units contain none, so that the winding number of one is prepared only for the first that may lie in
         * it. */
        if (!winding)
            SP_TRY(sp_winding_new(context, &all->unit[outer].surface, &winding));
        if (lies_inside(winding, &u->surface)) {
            u->root = outer;
            u->factor = all->unit[outer].factor;
        }
    }
done:
    sp_winding_free(winding);
    return status;
}

/* Nested closed consistent units keep their orientations relative to each other. */
static int orient_nested(sp_context *context, units *all)
{
    int64_t *order = sp_pool_raw(&all->pool, all->count, sizeof *order);

    SP_PASS(sp_allocated(context, order));

    /* Largest first, so that every unit that contains another one is placed before it. */
    const int64_t count = sort_closed(all, order);
    for (int64_t i = 0; i < count; i++)
        if (all->unit[order[i]].root == order[i])
            SP_PASS(place_inside(context, all, order[i], order + i + 1, count - i - 1));
    return SP_OK;
}

/* The largest number of lines for the visibility of a unit. */
static int64_t lines_for(const unit *u, double area, int64_t open)
{
    const double lines = 0.5 * LINES * ((u->area > 0 ? u->area / area : 0) + 1 / (double)open);
    return (int64_t)fmin(fmax(lines, LINES_LEAST), LINES_MOST);
}

/* A few lines decide for most units; more are cast only if they do not. */
static int side_of(const sp_closest *model, const unit *u, double beyond, int64_t most, uint64_t stream)
{
    int side = 0;
    for (int64_t lines = (int64_t)LINES_LEAST; side == 0 && lines < 4 * most; lines *= 4) {
        const sp_visibility seen = sp_visibility_of(model, &u->surface, beyond, lines < most ? lines : most, stream);
        side = sp_visibility_side(&seen);
    }
    return side;
}

/* Orients each open unit so that the more visible side is the outer one. A unit whose sides are equally visible, or not
 * at all, keeps its factor. */
static int orient_visible(sp_context *context, units *all, const sp_surface *whole)
{
    int status;
    sp_closest *closest = NULL;
    int64_t *list = sp_pool_raw(&all->pool, all->count, sizeof *list), open = 0;
    double low[3], high[3], area = 0;

    SP_PASS(sp_allocated(context, list));

    for (int64_t u = 0; u < all->count; u++)
        if (!all->unit[u].closed) {
            list[open++] = u;
            area += all->unit[u].area;
        }

    sp_surface_box(whole, low, high);
    const double beyond = COINCIDENT * hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    SP_TRY(sp_closest_new(context, whole, &closest));
#pragma omp parallel for schedule(dynamic, 16) num_threads(context->threads)
    for (int64_t i = 0; i < open; i++) {
        if (context->cancel && *context->cancel)
            continue;
        unit *u = &all->unit[list[i]];
        const int side = side_of(closest, u, beyond, lines_for(u, area, open), (uint64_t)i);
        u->factor = side != 0 ? side : u->factor;
    }

    if (context->cancel && *context->cancel)
        status = sp_fail(context, SP_SYSTEM, "cancelled");
done:
    sp_closest_free(closest);
    return status;
}

/* Orients a unit by its volume about the centroid; a closed unit without volume keeps its orientation. */
static void orient_by_volume(unit *u)
{
    const double least = (u->closed ? CLOSED_VOLUME : OPEN_VOLUME) * u->area * sqrt(u->area);
    u->factor = u->volume < -least ? -1 : u->volume > least || u->closed ? 1 : 0;
}

/* Undetermined units keep their orientation relative to the others: they are reversed if most of the other area was. */
static void orient_rest(const units *all)
{
    double kept = 0;
    for (int64_t i = 0; i < all->count; i++)
        kept += all->unit[i].factor * all->unit[i].area;
    for (int64_t i = 0; i < all->count; i++)
        if (all->unit[i].factor == 0)
            all->unit[i].factor = kept < 0 ? -1 : 1;
}

static int orient_units(sp_context *context, const sp_repair *r, units *all)
{
    bool positive = false, negative = false, open = false;
    sp_surface whole;

    for (int64_t i = 0; i < all->count; i++) {
        unit *u = &all->unit[i];
        orient_by_volume(u);
        positive |= u->closed && u->consistent && u->factor > 0;
        negative |= u->closed && u->consistent && u->factor < 0;
        open |= !u->closed;
    }

    /* Only units of opposite sign can be a body with a cavity. Otherwise volumes have already decided. */
    const bool nests = positive && negative;
    if (!nests && !open)
        return SP_OK;
    SP_PASS(sp_allocated(context, make_surfaces(r, all, &whole)));

    if (nests)
        SP_PASS(orient_nested(context, all));
    if (open)
        SP_PASS(orient_visible(context, all, &whole));
    orient_rest(all);
    return SP_OK;
}

int sp_repair_orient_outward(sp_context *context, sp_repair *r)
{
    int status;
    units all = {0};
    SP_TRY(sp_allocated(context, find_units(r, &all)));

    measure(r, &all);
    SP_TRY(orient_units(context, r, &all));

    for (int64_t t = 0; t < r->count; t++)
        if (r->live[t])
            r->sign[t] = (signed char)(r->sign[t] * all.unit[all.of[r->patch[t]]].factor);
done:
    sp_pool_free(&all.pool);
    return status;
}
