#include "cubature/modal.h"

#include "linear/nnls.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- evenly placed elements ---- */

typedef struct slot {
    int64_t at[3], element; /* element −1: the slot is free */
    double distance;
} slot;

typedef struct placing {
    const sp_fe_space *body;
    double low[3], high[3];
    int64_t used;
    int64_t *element; /* [used] elements with a force */
    double *centroid; /* [used, 3] */
    slot *table;      /* [size] open addressing, size a power of two above 2 · used */
    int64_t size;
} placing;

static bool has_force(const sp_fe_space *body, int64_t element)
{
    int nodes;
    const int64_t *node = sp_mesh_nodes(body->mesh, element, &nodes);
    for (int k = 0; k < 3 * nodes; k++)
        if (body->dof[3 * node[k / 3] + k % 3] >= 0)
            return true;
    return false;
}

/* Collects the elements with a force, their centroids, and the box of their nodes. */
static void gather(placing *p)
{
    const sp_mesh *mesh = p->body->mesh;

    for (int i = 0; i < 3; i++) {
        p->low[i] = INFINITY;
        p->high[i] = -INFINITY;
    }

    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);

        if (!has_force(p->body, e))
            continue;

        double *centroid = p->centroid + 3 * p->used;
        for (int k = 0; k < 3 * nodes; k++) {
            double x = mesh->vertices[3 * node[k / 3] + k % 3];
            centroid[k % 3] += x / nodes;
            p->low[k % 3] = fmin(p->low[k % 3], x);
            p->high[k % 3] = fmax(p->high[k % 3], x);
        }

        p->element[p->used++] = e;
    }
}

static slot *find_slot(const placing *p, const int64_t at[3])
{
    uint64_t hash = (uint64_t)at[0] * UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)at[1] * UINT64_C(0xC2B2AE3D27D4EB4F) ^
                    (uint64_t)at[2] * UINT64_C(0x165667B19E3779F9);
    int64_t k = (int64_t)((hash ^ hash >> 29) & (uint64_t)(p->size - 1));

    while (p->table[k].element >= 0 && memcmp(p->table[k].at, at, sizeof p->table[k].at) != 0)
        k = (k + 1) & (p->size - 1);
    return &p->table[k];
}

/* Fills the table with the nearest element of every box of this edge; returns the number of boxes that have one. */
static int64_t occupy(placing *p, double edge)
{
    double low[3];
    int64_t count = 0, side[3];

    /* The boxes fill a grid that is centred on the body. */
    for (int i = 0; i < 3; i++) {
        side[i] = (int64_t)fmax(1, ceil((p->high[i] - p->low[i]) / edge * (1 - 1e-12)));
        low[i] = 0.5 * (p->low[i] + p->high[i] - (double)side[i] * edge); /* centred if the boxes do not fit exactly */
    }

    for (int64_t k = 0; k < p->size; k++)
        p->table[k].element = -1;

    for (int64_t k = 0; k < p->used; k++) {
        const double *x = p->centroid + 3 * k;
        int64_t at[3];
        double square = 0;

        for (int i = 0; i < 3; i++) {
            at[i] = (int64_t)floor((x[i] - low[i]) / edge);
            at[i] = at[i] < 0 ? 0 : at[i] >= side[i] ? side[i] - 1 : at[i];
            double d = x[i] - low[i] - ((double)at[i] + 0.5) * edge;
            square += d * d;
        }

        /* Of elements that are equally near, as in regular meshes, the first one is selected, whatever the rounding. */
        slot *s = find_slot(p, at);
        if (s->element < 0) {
            memcpy(s->at, at, sizeof at);
            s->element = p->element[k];
            s->distance = square;
            count++;
        } else if (square < s->distance * (1 - 1e-9)) {
            s->element = p->element[k];
            s->distance = square;
        }
    }
    return count;
}

/* The edge whose number of occupied boxes is nearest to `wanted_count`. The number decreases with the edge, but not
 * strictly, so that every edge that is tried is considered. */
static double find_edge(placing *p, int64_t wanted_count)
{
    enum { HALVINGS = 40, BISECTIONS = 30 };
    double long_side = 0, best_edge;

    for (int i = 0; i < 3; i++)
        long_side = fmax(long_side, p->high[i] - p->low[i]);

    /* Halving until there are enough boxes brackets the edge between `below` and `above`. */
    double above = long_side, below = long_side; /* too large and too small */
    int64_t count = occupy(p, above), best = llabs(count - wanted_count);
    best_edge = above;

    for (int k = 0; k < HALVINGS && count < wanted_count; k++) {
        above = below;
        below *= 0.5;
        count = occupy(p, below);
        if (llabs(count - wanted_count) < best) {
            best = llabs(count - wanted_count);
            best_edge = below;
        }
    }

    /* Every edge that is tried may be the best one, as the number of boxes is not monotonic. */
    for (int k = 0; k < BISECTIONS && best > 0; k++) {
        double middle = 0.5 * (above + below);
        count = occupy(p, middle);
        if (llabs(count - wanted_count) < best) {
            best = llabs(count - wanted_count);
            best_edge = middle;
        }

        if (count < wanted_count)
            above = middle;
        else
            below = middle;
    }
    return best_edge;
}

static int compare_slots(const void *a, const void *b)
{
    int64_t x = ((const slot *)a)->element, y = ((const slot *)b)->element;
    return (x > y) - (x < y);
}

/* Marks the black or the white fields, whichever are fewer, but at least one. */
static void mark_half(int64_t count, const slot *list, bool *half)
{
    int64_t black = 0;
    for (int64_t k = 0; k < count; k++)
        black += (list[k].at[0] + list[k].at[1] + list[k].at[2]) % 2 == 0;

    /* The fewer, but if there is one color only, that one. */
    bool black_selected = black > 0 && (2 * black <= count || black == count);

    for (int64_t k = 0; k < count; k++)
        half[k] = ((list[k].at[0] + list[k].at[1] + list[k].at[2]) % 2 == 0) == black_selected;
}

int sp_modal_points_new(sp_context *context, const sp_fe_space *body, int64_t wanted_count, sp_modal_points *points)
{
    int64_t elements = sp_mesh_element_count(body->mesh), kept = 0;
    placing p = {.body = body, .size = 4};
    sp_pool scratch = {0};
    int status = SP_OK;
    *points = (sp_modal_points){0};

    if (wanted_count < 1)
        return sp_fail(context, SP_USAGE, "modal cubature of %lld elements", (long long)wanted_count);

    /* At most half of the table is used, so that searches are short. */
    while (p.size < 2 * elements)
        p.size *= 2;

    p.element = sp_pool_raw(&scratch, elements, sizeof *p.element);
    p.centroid = sp_pool_new(&scratch, 3 * elements, sizeof *p.centroid);
    p.table = sp_pool_raw(&scratch, p.size, sizeof *p.table);

    SP_TRY(sp_allocated(context, !scratch.failed));

    gather(&p);
    if (p.used == 0) {
        status = sp_fail(context, SP_INPUT, "every corner of every element is fixed: there is no force");
        goto done;
    }

    bool all = wanted_count >= p.used;
    if (!all) {
        /* The occupied slots are gathered at the beginning of the table, and sorted by element. */
        points->edge = find_edge(&p, wanted_count);
        points->count = occupy(&p, points->edge);
        for (int64_t k = 0; k < p.size; k++)
            if (p.table[k].element >= 0)
                p.table[kept++] = p.table[k];
        qsort(p.table, (size_t)kept, sizeof *p.table, compare_slots);
    } else
        points->count = p.used;

    points->element = sp_pool_raw(&points->pool, points->count, sizeof *points->element);
    points->half = sp_pool_raw(&points->pool, points->count, sizeof *points->half);

    SP_TRY(sp_allocated(context, !points->pool.failed));

    if (!all)
        mark_half(points->count, p.table, points->half);

    for (int64_t k = 0; k < points->count; k++) {
        points->element[k] = all ? p.element[k] : p.table[k].element;
        if (all)
            points->half[k] = k % 2 == 0;
    }
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_modal_points_free(points);
    return status;
}

void sp_modal_points_free(sp_modal_points *points)
{
    sp_pool_free(&points->pool);
    *points = (sp_modal_points){0};
}

/* ---- the problems ---- */

struct sp_modal {
    sp_context *context;
    sp_pool pool;
    const sp_modal_points *points;
    int64_t r, rows, capacity; /* number of poses, and its capacity */
    double *A;                 /* [r] matrices [capacity, count, column major] */
    double *b;                 /* [r, capacity] */
    double *w;                 /* [r, count] of the last solve */
};

int sp_modal_new(sp_context *context, const sp_modal_points *points, int64_t r, sp_modal **result)
{
    sp_modal *m = calloc(1, sizeof *m);

    SP_PASS(sp_allocated(context, m));

    m->context = context;
    m->points = points;
    m->r = r;
    m->w = sp_pool_new(&m->pool, r * points->count, sizeof *m->w);

    if (m->pool.failed) {
        sp_modal_free(m);
        return sp_fail_memory(context);
    }
    *result = m;
    return SP_OK;
}

void sp_modal_free(sp_modal *m)
{
    if (!m)
        return;
    sp_pool_free(&m->pool);
    free(m);
}

/* Enlarges the capacity: exactly at first, by doubling later. */
static int reserve(sp_modal *m, int64_t more)
{
    int64_t n = m->points->count, columns, values, wanted;

    if (m->rows + more <= m->capacity)
        return SP_OK;

    wanted = m->rows + more > 2 * m->capacity ? m->rows + more : 2 * m->capacity;
    /* r matrices with n columns, and r right-hand sides. */
    if (__builtin_mul_overflow(n + 1, m->r, &columns) || __builtin_mul_overflow(columns, wanted, &values))
        return sp_fail_memory(m->context);

    double *A = sp_pool_raw(&m->pool, values - m->r * wanted, sizeof *A),
           *b = sp_pool_raw(&m->pool, m->r * wanted, sizeof *b);
    SP_PASS(sp_allocated(m->context, A && b));

    if (m->rows > 0) {
        for (int64_t c = 0; c < m->r * n; c++)
            memcpy(A + c * wanted, m->A + c * m->capacity, (size_t)m->rows * sizeof *A);
        for (int64_t j = 0; j < m->r; j++)
            memcpy(b + j * wanted, m->b + j * m->capacity, (size_t)m->rows * sizeof *b);
    }

    sp_pool_drop(&m->pool, m->A);
    sp_pool_drop(&m->pool, m->b);
    m->A = A;
    m->b = b;
    m->capacity = wanted;
    return SP_OK;
}

int sp_modal_add(sp_modal *m, sp_training *training)
{
    enum { WIDTH = 64 }; /* columns at a time, with the coordinate fastest, before they are separated by coordinate */
    int64_t n = m->points->count, r = m->r, rows = sp_training_rows(training), poses = rows / r;
    const double *target = sp_training_target(training);
    sp_pool scratch = {0};
    int status;

    if (sp_training_coordinates(training) != r)
        return sp_fail(m->context, SP_USAGE, "poses of %lld coordinates, not %lld",
                       (long long)sp_training_coordinates(training), (long long)r);

    double *columns = sp_pool_raw(&scratch, rows * (n < WIDTH ? n : WIDTH), sizeof *columns);
    SP_PASS(sp_allocated(m->context, columns));
    SP_TRY(reserve(m, poses));

    for (int64_t j = 0; j < r; j++)
        for (int64_t t = 0; t < poses; t++)
            m->b[j * m->capacity + m->rows + t] = target[t * r + j];

    /* A column has the rows of all coordinates, which belong to r different problems. */
    for (int64_t first = 0; first < n; first += WIDTH) {
        int64_t count = n - first < WIDTH ? n - first : WIDTH;
        SP_TRY(sp_training_columns(training, count, m->points->element + first, columns));
#pragma omp parallel for schedule(static) num_threads(m->context->threads)
        for (int64_t j = 0; j < r; j++)
            for (int64_t k = 0; k < count; k++)
                for (int64_t t = 0; t < poses; t++)
                    m->A[(j * n + first + k) * m->capacity + m->rows + t] = columns[k * rows + t * r + j];
    }
    m->rows += poses;
done:
    sp_pool_free(&scratch);
    return status;
}

/* Solves one problem, over all elements or over `chosen` [count] of them. */
static int solve_one(const sp_modal *m, sp_context *context, int64_t j, int64_t count, const int64_t *chosen, double *w,
                     sp_nnls_report *report)
{
    int64_t n = m->points->count;
    const double *A = m->A + j * n * m->capacity, *b = m->b + j * m->capacity;
    sp_nnls_parameters minimum = {0};
    sp_pool scratch = {0};

    if (!chosen)
        return sp_nnls(context, m->rows, n, A, m->capacity, b, &minimum, w, report);

    /* The chosen columns side by side, with the weights of the others 0. */
    double *part = sp_pool_raw(&scratch, m->rows * count, sizeof *part), *x = sp_pool_new(&scratch, count, sizeof *x);
    int status = sp_allocated(context, !scratch.failed);
    if (status == SP_OK) {
        for (int64_t k = 0; k < count; k++)
            memcpy(part + k * m->rows, A + chosen[k] * m->capacity, (size_t)m->rows * sizeof *part);
        status = sp_nnls(context, m->rows, count, part, m->rows, b, &minimum, x, report);
        for (int64_t k = 0; k < count; k++)
            w[chosen[k]] = x[k];
    }
    sp_pool_free(&scratch);
    return status;
}

/* Solves all r problems, each on one thread; w [r, n]. */
static int solve_all(const sp_modal *m, int64_t count, const int64_t *chosen, double *w, sp_nnls_report *reports)
{
    sp_pool scratch = {0};
    int *status = sp_pool_new(&scratch, m->r, sizeof *status), result = SP_OK;
    sp_context *own = sp_pool_new(&scratch, m->r, sizeof *own);

    if (scratch.failed) {
        sp_pool_free(&scratch);
        return sp_fail_memory(m->context);
    }

    /* A context for each problem, since threads must not write to a common message. */
    for (int64_t j = 0; j < m->r; j++)
        own[j] = (sp_context){.threads = 1, .seed = m->context->seed, .cancel = m->context->cancel};
#pragma omp parallel for schedule(dynamic, 1) num_threads(m->context->threads)
    for (int64_t j = 0; j < m->r; j++)
        status[j] = solve_one(m, &own[j], j, count, chosen, w + j * m->points->count, &reports[j]);

    for (int64_t j = 0; j < m->r && result == SP_OK; j++)
        if (status[j] != SP_OK)
            result = sp_fail(m->context, status[j], "coordinate %lld: %.400s", (long long)j, own[j].message);
    sp_pool_free(&scratch);
    return result;
}

/* √(Σ ‖A_j w_j − b_j‖² / poses): relative to the complete forces, each of which is normalized (sp_training_whole). */
static double joint_error(const sp_modal *m, const sp_nnls_report *reports)
{
    double missed = 0;
    for (int64_t j = 0; j < m->r; j++)
        missed += reports[j].residual * reports[j].residual *
                  cblas_ddot((int)m->rows, m->b + j * m->capacity, 1, m->b + j * m->capacity, 1);
    return sqrt(missed / (double)m->rows);
}

/* Copies the elements that have any weight to the cubature. */
static int keep(const sp_modal *m, const double *w, const double *nested, sp_cubature *cubature)
{
    int64_t n = m->points->count, r = m->r, kept = 0;
    sp_pool scratch = {0};
    int64_t *place = sp_pool_raw(&scratch, n, sizeof *place);

    SP_PASS(sp_allocated(m->context, place));

    for (int64_t k = 0; k < n; k++) {
        bool any = false;
        for (int64_t j = 0; j < r; j++)
            any |= w[j * n + k] > 0 || (nested && nested[j * n + k] > 0);
        if (any)
            place[kept++] = k;
    }

    cubature->r = r;
    cubature->modal = true;
    cubature->count = kept;
    cubature->element = sp_pool_raw(&cubature->pool, kept, sizeof *cubature->element);
    cubature->weight = sp_pool_raw(&cubature->pool, kept * r, sizeof *cubature->weight);
    cubature->nested = nested ? sp_pool_raw(&cubature->pool, kept * r, sizeof *cubature->nested) : NULL;

    int status = cubature->pool.failed ? sp_fail_memory(m->context)
                 : kept == 0           ? sp_fail(m->context, SP_NUMERICAL, "no element helps to fit the forces")
                                       : SP_OK;

    for (int64_t k = 0; status == SP_OK && k < kept; k++) {
        cubature->element[k] = m->points->element[place[k]];
        for (int64_t j = 0; j < r; j++) {
            cubature->weight[j * kept + k] = w[j * n + place[k]];
            if (nested)
                cubature->nested[j * kept + k] = nested[j * n + place[k]];
        }
    }
    sp_pool_free(&scratch);
    return status;
}

int sp_modal_solve(sp_modal *m, bool nested, sp_cubature *cubature, sp_modal_report *report)
{
    int64_t n = m->points->count;
    sp_pool scratch = {0};
    int status;

    *cubature = (sp_cubature){0};
    *report = (sp_modal_report){0};

    if (m->rows == 0)
        return sp_fail(m->context, SP_USAGE, "modal cubature without poses");

    sp_nnls_report *reports = sp_pool_new(&scratch, m->r, sizeof *reports);
    double *second = nested ? sp_pool_new(&scratch, m->r * n, sizeof *second) : NULL;
    int64_t *chosen = sp_pool_raw(&scratch, n, sizeof *chosen);

    SP_TRY(sp_allocated(m->context, !scratch.failed));

    SP_TRY(solve_all(m, n, NULL, m->w, reports));

    report->error = joint_error(m, reports);
    /* Means and sums over the problems of all coordinates. */
    for (int64_t j = 0; j < m->r; j++) {
        report->mean_error += reports[j].residual / (double)m->r;
        report->kkt = fmax(report->kkt, reports[j].kkt);
        report->iterations += reports[j].iterations;
    }

    /* The embedded weights are a fit over half of the elements. */
    if (nested) {
        for (int64_t k = 0; k < n; k++)
            if (m->points->half[k])
                chosen[report->nested_count++] = k;
        SP_TRY(solve_all(m, report->nested_count, chosen, second, reports));
        report->nested_error = joint_error(m, reports);
    }

    SP_TRY(keep(m, m->w, second, cubature));
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_cubature_free(cubature);
    return status;
}

void sp_modal_pose_errors(const sp_modal *m, double *error)
{
    int64_t n = m->points->count;
    for (int64_t t = 0; t < m->rows; t++) {
        double square = 0;

        for (int64_t j = 0; j < m->r; j++) {
            double miss = cblas_ddot((int)n, m->A + j * n * m->capacity + t, (int)m->capacity, m->w + j * n, 1) -
                          m->b[j * m->capacity + t];
            square += miss * miss;
        }
        error[t] = sqrt(square);
    }
}
