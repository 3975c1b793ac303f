#include "pointshell/pointshell.h"

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "pointshell/boxes.h"
#include "pointshell/order.h"
#include "pointshell/sample.h"

/* Radius of repulsion divided by √(area of a point): 1.9 distances of a hexagonal lattice. */
static const double RADIUS = 2.0;

/* Relative to the size of the level set: largest distance of points from it. */
static const double TOLERANCE = 1e-12;

/* Samples of the surface per point: for the measurement of areas, and as candidates for farthest points. */
enum { AREA_SAMPLES = 32, FARTHEST_SAMPLES = 8, FIRST_LEVEL = 64, USUAL_LEVELS = 5 };

/* Random number streams; 0 … 31 belong to levels. */
enum { RANDOM_SAMPLES = 100 };

static const double OPPOSED = -0.5;

void sp_pointshell_free(sp_pointshell *pointshell)
{
    sp_pool_free(&pointshell->pool);
    *pointshell = (sp_pointshell){0};
}

int64_t sp_pointshell_inner(const sp_pointshell *pointshell)
{
    int64_t count = 0;
    for (int k = 0; k + 1 < pointshell->levels; k++)
        count += pointshell->cumulative[k];
    return count;
}

int64_t sp_pointshell_node(const sp_pointshell *pointshell, int k, int64_t p)
{
    for (int i = 0; i + 1 < k; i++)
        p += pointshell->cumulative[i];
    return p;
}

int sp_pointshell_level_of(const sp_pointshell *pointshell, int64_t p)
{
    int k = 1;
    while (p >= pointshell->cumulative[k - 1])
        k++;
    return k;
}

/* ---- levels ---- */

/* Cumulative counts 1 : 1 + b : 1 + b + b² … of the total, rounded; every level has at least one point. */
static int cut_levels(sp_context *context, const sp_pointshell_parameters *p, int64_t count, sp_pointshell *pointshell)
{
    const double b = (double)p->branching;
    int levels = p->levels;

    pointshell->count = count;

    /* As many levels as leave the first one FIRST_LEVEL points, up to the usual number */
    if (levels == 0 && p->method == SP_POINTSHELL_REPULSION) {
        double weight = 1;
        for (levels = 1; levels < USUAL_LEVELS; levels++) {
            weight = 1 + b * weight;
            if ((double)count < FIRST_LEVEL * weight)
                break;
        }
    } else if (levels == 0) { /* §3.9.1: b, b², … until all points are included */
        double last = b;
        int64_t at = 0;
        for (; levels < SP_POINTSHELL_LEVELS_MAX && at < count; last *= b) {
            at = (double)(count - at) > last ? at + (int64_t)last : count;
            pointshell->cumulative[levels++] = at;
        }
        pointshell->levels = levels;
        return SP_OK;
    }

    /* Shares of the levels: bᵏ of the sum of all */
    double total = 0, sum = 0, power = 1;
    for (int k = 0; k < levels; k++, power *= b)
        total += power;

    power = 1;
    for (int k = 0; k < levels; k++, power *= b) {
        sum += power;
        pointshell->cumulative[k] = k + 1 == levels ? count : (int64_t)((double)count * (sum / total) + 0.5);
        if (pointshell->cumulative[k] <= (k > 0 ? pointshell->cumulative[k - 1] : 0))
            return sp_fail(context, SP_USAGE, "%lld points are too few for %d levels of %lld times as many each",
                           (long long)count, levels, (long long)p->branching);
    }

    pointshell->levels = levels;
    return SP_OK;
}

static bool allocate(sp_pointshell *pointshell, int64_t count)
{
    pointshell->points = sp_pool_raw(&pointshell->pool, 3 * count, sizeof(double));
    pointshell->normals = sp_pool_raw(&pointshell->pool, 3 * count, sizeof(double));
    pointshell->area = sp_pool_new(&pointshell->pool, count, sizeof(double));
    pointshell->parent = sp_pool_raw(&pointshell->pool, count, sizeof(int64_t));
    return !pointshell->pool.failed;
}

/* ---- points by repulsion ---- */

/* One random point in each of equal parts of the surface. */
static void inject(const sp_context *context, const sp_level *level, const sp_area *area, int k, int64_t first,
                   int64_t end, sp_pointshell *pointshell)
{
#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t i = first; i < end; i++) {
        const double t = ((double)(i - first) + sp_random_uniform(context->seed, (uint64_t)k, (uint64_t)(i - first))) /
                         (double)(end - first);
        sp_area_point(area, t, pointshell->points + 3 * i);
        sp_level_project(level, INFINITY, TOLERANCE * level->size, pointshell->points + 3 * i,
                         pointshell->normals + 3 * i);
    }
}

static int repel_levels(sp_context *context, const sp_level *level, const sp_area *area,
                        const sp_pointshell_parameters *p, sp_pointshell *pointshell, sp_pointshell_report *report)
{
    SP_PASS(cut_levels(context, p, p->points, pointshell));
    SP_PASS(sp_allocated(context, allocate(pointshell, p->points)));
    /* Computed from the first level, so that shells with the same first level have the same radii. A level has b/(b −
     * 1) times as many points as it adds if many levels precede it. */
    const double b = (double)p->branching;
    double radius = RADIUS * sqrt(sp_area_total(area) /
                                  ((double)pointshell->cumulative[0] * (pointshell->levels > 1 ? b / (b - 1) : 1)));

    /* Each level has b times as many points, so that its radius is smaller by √b. */
    for (int k = 0; k < pointshell->levels; k++, radius /= sqrt(b)) {
        const int64_t first = k > 0 ? pointshell->cumulative[k - 1] : 0;
        inject(context, level, area, k, first, pointshell->cumulative[k], pointshell);
        report->level[k].radius = radius;
        SP_PASS(sp_repel(context, level, first, pointshell->cumulative[k], radius, p->iterations, pointshell->points,
                         pointshell->normals, &report->level[k].repel));
    }
    return SP_OK;
}

/* ---- points by other methods ---- */

static int candidates(sp_context *context, const sp_level *level, const sp_area *area,
                      const sp_pointshell_parameters *p, sp_list *list)
{
    if (p->method == SP_POINTSHELL_VERTICES)
        return sp_sample_vertices(context, &level->surface, list);
    if (p->method == SP_POINTSHELL_VOXELS)
        return sp_sample_voxels(context, &level->surface, p->cells, list);
    if (p->method == SP_POINTSHELL_DEPTH)
        return sp_sample_depth(context, &level->surface, p->cells, list);

    /* The farthest points are chosen among more samples than are wanted. */
    const int64_t count = p->method == SP_POINTSHELL_FARTHEST ? FARTHEST_SAMPLES * p->points : p->points;
    double *x = sp_list_add(list, count, 3 * sizeof *x);

    SP_PASS(sp_allocated(context, x));

#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t i = 0; i < count; i++)
        sp_area_point(area, sp_random_uniform(context->seed, RANDOM_SAMPLES, (uint64_t)i), x + 3 * i);
    return SP_OK;
}

/* Moves candidates to the level set; the centres of voxels are not moved. */
static int choose_points(sp_context *context, const sp_level *level, const sp_area *area,
                         const sp_pointshell_parameters *p, sp_pointshell *pointshell)
{
    int status;
    sp_pool pool = {0};
    sp_list list = {0};

    SP_TRY(candidates(context, level, area, p, &list));

    const int64_t n = list.count, most = p->points > 0 && p->points < n ? p->points : n;
    if (n < 1 || n > 8 * (int64_t)SP_POINTSHELL_POINTS_MAX) {
        status = sp_fail(context, SP_INPUT, "there are %lld points", (long long)n);
        goto done;
    }

    double *x = list.data, *normal = sp_pool_raw(&pool, 3 * n, sizeof *normal);
    int64_t *order = sp_pool_raw(&pool, most, sizeof *order);
    if (pool.failed || !allocate(pointshell, most)) {
        status = sp_fail_memory(context);
        goto done;
    }

#pragma omp parallel for schedule(dynamic, 256) num_threads(context->threads)
    for (int64_t i = 0; i < n; i++) {
        double foot[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
        sp_level_project(level, INFINITY, TOLERANCE * level->size, foot, normal + 3 * i);
        if (p->method != SP_POINTSHELL_VOXELS)
            memcpy(x + 3 * i, foot, sizeof foot);
    }

    /* In the order of farthest points every beginning of the list covers the surface evenly. */
    const int64_t seed = (int64_t)(sp_random_uniform(context->seed, RANDOM_SAMPLES + 1, 0) * (double)n);
    SP_TRY(sp_farthest_order(context, n, x, seed, most, order));
    for (int64_t i = 0; i < most; i++) {
        memcpy(pointshell->points + 3 * i, x + 3 * order[i], 3 * sizeof *x);
        memcpy(pointshell->normals + 3 * i, normal + 3 * order[i], 3 * sizeof *normal);
    }

    SP_TRY(cut_levels(context, p, most, pointshell));
done:
    sp_list_free(&list);
    sp_pool_free(&pool);
    return status;
}

/* ---- statistics ---- */

typedef struct neighbours {
    const double *points, *normals, *normal; /* `normal` is that of the query point */
    int64_t self;
} neighbours;

static double neighbour_distance(void *data, int64_t item, const double point[3])
{
    const neighbours *n = data;
    const double *x = n->points + 3 * item, *m = n->normals + 3 * item;
    if (item == n->self || n->normal[0] * m[0] + n->normal[1] * m[1] + n->normal[2] * m[2] < OPPOSED)
        return INFINITY;
    return (x[0] - point[0]) * (x[0] - point[0]) + (x[1] - point[1]) * (x[1] - point[1]) +
           (x[2] - point[2]) * (x[2] - point[2]);
}

int sp_pointshell_spacing(sp_context *context, int64_t count, const double *points, const double *normals,
                          sp_pointshell_level_report *report)
{
    int status;
    sp_pool pool = {0};
    sp_box_tree tree = {0};
    double *distance = sp_pool_raw(&pool, count, sizeof *distance), sum = 0, squares = 0;
    int64_t counted = 0;

    SP_PASS(sp_allocated(context, distance));

    SP_TRY(sp_box_tree_new(context, count, points, points, &tree));
#pragma omp parallel for schedule(dynamic, 256) num_threads(context->threads)
    for (int64_t i = 0; i < count; i++) {
        neighbours n = {.points = points, .normals = normals, .normal = normals + 3 * i, .self = i};
        double square;
        sp_box_tree_nearest(&tree, points + 3 * i, neighbour_distance, &n, &square);
        distance[i] = sqrt(square);
    }

    report->least = INFINITY;
    for (int64_t i = 0; i < count; i++)
        if (distance[i] < INFINITY) {
            sum += distance[i];
            counted++;
            report->least = fmin(report->least, distance[i]);
        }
    report->spacing = counted > 0 ? sum / (double)counted : 0;
    report->least = counted > 0 ? report->least : 0;

    /* The spread: standard deviation over mean */
    for (int64_t i = 0; i < count; i++)
        if (distance[i] < INFINITY)
            squares += (distance[i] - report->spacing) * (distance[i] - report->spacing);
    report->spread = report->spacing > 0 ? sqrt(squares / (double)counted) / report->spacing : 0;
done:
    sp_box_tree_free(&tree);
    sp_pool_free(&pool);
    return status;
}

/* Measures areas: each sample of a uniform sampling of the surface adds the same share to the nearest point. */
static int measure_areas(sp_context *context, const sp_area *area, sp_pointshell *pointshell,
                         sp_pointshell_report *report)
{
    int status;
    sp_pool pool = {0};
    sp_box_tree tree = {0};
    enum { PART = 1 << 16 };
    const int64_t samples = AREA_SAMPLES * pointshell->count;
    int64_t *nearest = sp_pool_raw(&pool, PART, sizeof *nearest),
            *share = sp_pool_new(&pool, pointshell->count, sizeof *share);
    double *square = sp_pool_raw(&pool, PART, sizeof *square), farthest = 0;

    SP_TRY(sp_allocated(context, !pool.failed));

    SP_TRY(sp_box_tree_new(context, pointshell->count, pointshell->points, pointshell->points, &tree));

    /* In parts of bounded memory. Shares are integers, so that their sum does not depend on the order. */
    for (int64_t first = 0; first < samples; first += PART) {
        const int64_t end = first + PART < samples ? first + PART : samples;
#pragma omp parallel for schedule(dynamic, 256) num_threads(context->threads)
        for (int64_t i = first; i < end; i++) {
            double x[3];
            sp_area_point(area, ((double)i + 0.5) / (double)samples, x);
            nearest[i - first] = sp_box_tree_nearest_point(&tree, pointshell->points, x, &square[i - first]);
        }

        for (int64_t i = 0; i < end - first; i++) {
            share[nearest[i]]++;
            farthest = fmax(farthest, square[i]);
        }
        SP_TRY(sp_progress(context, 0.9 + 0.1 * (double)end / (double)samples));
    }

    for (int64_t i = 0; i < pointshell->count; i++)
        pointshell->area[i] = report->area * ((double)share[i] / (double)samples);
    report->gap = sqrt(farthest);
done:
    sp_box_tree_free(&tree);
    sp_pool_free(&pool);
    return status;
}

/* Projects every point a last time, to the tolerance. */
static double settle_points(const sp_context *context, const sp_level *level, sp_pointshell *pointshell)
{
    double off = 0;
#pragma omp parallel for schedule(dynamic, 256) reduction(max : off) num_threads(context->threads)
    for (int64_t i = 0; i < pointshell->count; i++) {
        const double rest = sp_level_project(level, INFINITY, TOLERANCE * level->size, pointshell->points + 3 * i,
                                             pointshell->normals + 3 * i);
        off = rest > off ? rest : off;
    }
    return off;
}

static int check_parameters(sp_context *context, const sp_pointshell_parameters *p)
{
    const bool given = p->method == SP_POINTSHELL_REPULSION || p->method == SP_POINTSHELL_SAMPLES ||
                       p->method == SP_POINTSHELL_FARTHEST;

    if (p->points < given || p->points > SP_POINTSHELL_POINTS_MAX)
        return sp_fail(context, SP_USAGE, "%lld points are not between 1 and %d", (long long)p->points,
                       SP_POINTSHELL_POINTS_MAX);
    if (p->levels < 0 || p->levels > SP_POINTSHELL_LEVELS_MAX || p->branching < 2 || p->branching > 1000000)
        return sp_fail(context, SP_USAGE, "%d levels of %lld times as many points each", p->levels,
                       (long long)p->branching);
    if ((p->method == SP_POINTSHELL_VOXELS || p->method == SP_POINTSHELL_DEPTH) && (p->cells < 1 || p->cells > 4096))
        return sp_fail(context, SP_USAGE, "%lld cells are not between 1 and 4096", (long long)p->cells);
    return SP_OK;
}

int sp_pointshell_make(sp_context *context, const sp_level *level, const sp_pointshell_parameters *parameters,
                       sp_pointshell *pointshell, sp_pointshell_report *report)
{
    int status;
    sp_area area = {0};
    *pointshell = (sp_pointshell){0};
    *report = (sp_pointshell_report){0};

    SP_TRY(check_parameters(context, parameters));
    SP_TRY(sp_area_new(context, &level->surface, &area));
    report->area = sp_area_total(&area);

    if (parameters->method == SP_POINTSHELL_REPULSION)
        SP_TRY(repel_levels(context, level, &area, parameters, pointshell, report));
    else
        SP_TRY(choose_points(context, level, &area, parameters, pointshell));

    if (parameters->method != SP_POINTSHELL_VOXELS)
        report->off = settle_points(context, level, pointshell);

    for (int k = 0; k < pointshell->levels; k++)
        SP_TRY(sp_pointshell_spacing(context, pointshell->cumulative[k], pointshell->points, pointshell->normals,
                                     &report->level[k]));

    SP_TRY(measure_areas(context, &area, pointshell, report));
    SP_TRY(sp_pointshell_tree(context, pointshell));
done:
    sp_area_free(&area);
    if (status != SP_OK)
        sp_pointshell_free(pointshell);
    return status;
}
