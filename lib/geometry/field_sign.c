#include "geometry/field_sign.h"

#include <math.h>

#include "geometry/fill.h"
#include "geometry/pseudonormal.h"
#include "geometry/winding.h"

/* A vertex is near if a triangle may intersect the cube of its grid cell (sp_field_grid), that is, within half its
 * diagonal. */
static const double NEAR = 0.86603;

/* No triangle passes between neighbours whose distances sum to this many edges: 1, plus rounding to single precision.
 */
static const double CLEAR = 1 + 1e-5;

typedef struct signer {
    const sp_field *field;
    sp_grid grid;
    const sp_closest *closest;       /* of the member `surface`; with pseudonormals */
    const sp_pseudonormals *normals; /* NULL: winding numbers only */
    const sp_winding *winding;
    bool by_winding; /* winding numbers decide, else pseudonormals */
} signer;

typedef struct tally {
    int64_t tests, disagreements;
} tally;

static uint64_t *near_bits(const sp_context *context, sp_pool *pool, const sp_field *field, const sp_grid *grid)
{
    uint64_t *bits = sp_grid_bits(pool, grid);
    const float reach = (float)(NEAR * field->spacing);

    if (!bits)
        return NULL;

#pragma omp parallel for schedule(static) num_threads(context->threads)
    for (int64_t row = 0; row < sp_grid_rows(grid); row++)
        for (int64_t x = 0; x < grid->cells[0]; x++)
            bits[row * grid->words + (x >> 6)] |= (uint64_t)(field->distance[row * grid->cells[0] + x] <= reach)
                                                  << (x & 63);
    return bits;
}

static bool test_vertex(const signer *s, int64_t x, int64_t row, tally *count)
{
    double point[3];
    sp_nearest nearest;

    sp_field_position(s->field, x, row % s->grid.cells[1], row / s->grid.cells[1], point);
    if (!s->normals)
        return sp_winding_inside(s->winding, point);

    sp_closest_find(s->closest, point, &nearest);
    const bool inside = sp_pseudonormals_inside(s->normals, &nearest);
    /* A point on the surface is on neither side. */
    const bool winds = nearest.distance > 0 ? sp_winding_inside(s->winding, point) : inside;

    count->tests++;
    count->disagreements += inside != winds;
    return s->by_winding ? winds : inside;
}

/* The sign of a near vertex from a neighbour that is not near and that no triangle separates from it: 1 inside, 0
 * outside, −1 if there is no such neighbour. */
static int sign_of_neighbour(const signer *s, const uint64_t *near, const uint64_t *inside, int64_t x, int64_t row)
{
    const int64_t y = row % s->grid.cells[1], z = row / s->grid.cells[1];
    const double own = (double)s->field->distance[row * s->grid.cells[0] + x], needed = CLEAR * s->field->spacing;

    for (int n = 0; n < 6; n++) {
        const int64_t step = n & 1 ? 1 : -1, nx = x + (n < 2 ? step : 0), ny = y + (n >> 1 == 1 ? step : 0),
                      nz = z + (n >> 1 == 2 ? step : 0);
        const int64_t other = nz * s->grid.cells[1] + ny;
        if (nx < 0 || nx >= s->grid.cells[0] || ny < 0 || ny >= s->grid.cells[1] || nz < 0 || nz >= s->grid.cells[2])
            continue;

        /* If a triangle passes between the two, then own + other ≤ h. */
        if (!sp_grid_test(&s->grid, near, nx, other) &&
            own + (double)s->field->distance[other * s->grid.cells[0] + nx] > needed)
            return sp_grid_test(&s->grid, inside, nx, other);
    }
    return -1;
}

/* One test for each component of vertices that are not near. Vertices are connected if their cells share a face. */
static int decide_components(sp_context *context, const signer *s, const uint64_t *near, uint64_t *inside, tally *count)
{
    const int64_t rows = sp_grid_rows(&s->grid);
    int64_t tests = 0, disagreements = 0, tested_count = 0;
    int status;
    sp_pool pool = {0};
    sp_runs runs;

    /* Runs of vertices that are not near, joined to components over faces */
    SP_TRY(sp_runs_find(context, &pool, &s->grid, near, false, &runs));
    sp_runs_join(&s->grid, &runs, false);

    const int64_t total = runs.start[rows];
    uint8_t *sign = sp_pool_new(&pool, total, 1); /* stored at roots */
    int64_t *tested = sp_pool_raw(&pool, total, sizeof *tested), *row_of = sp_pool_raw(&pool, total, sizeof *row_of);
    SP_TRY(sp_allocated(context, !pool.failed));

    for (int64_t row = 0; row < rows; row++)
        for (int64_t r = runs.start[row]; r < runs.start[row + 1]; r++) {
            row_of[r] = row;
            if (runs.root[r] == r)
                tested[tested_count++] = r;
        }

#pragma omp parallel for schedule(dynamic, 16) num_threads(context->threads) reduction(+ : tests, disagreements)
    for (int64_t i = 0; i < tested_count; i++) {
        tally here = {0};
        const int64_t r = tested[i];
        sign[r] = test_vertex(s, (runs.first[r] + runs.last[r]) / 2, row_of[r], &here);
        tests += here.tests;
        disagreements += here.disagreements;
    }
    count->tests += tests;
    count->disagreements += disagreements;

    for (int64_t r = 0; r < total; r++)
        if (sign[runs.root[r]])
            sp_grid_span_set(&s->grid, inside, row_of[r], runs.first[r], runs.last[r], true);
done:
    sp_pool_free(&pool);
    return status;
}

/* Decides near vertices; `inside` already has the others. closed: a neighbour may decide. */
static int decide_near(sp_context *context, const signer *s, bool closed, const uint64_t *near, uint64_t *inside,
                       tally *count)
{
    const int64_t rows = sp_grid_rows(&s->grid);
    int64_t tests = 0, disagreements = 0;
    /* Results are written to separate words, so that the bits that neighbours read do not change. */
    sp_pool pool = {0};
    uint64_t *more = sp_grid_bits(&pool, &s->grid);
    if (!more) {
        sp_pool_free(&pool);
        return sp_fail_memory(context);
    }

#pragma omp parallel for schedule(dynamic, 16) num_threads(context->threads) reduction(+ : tests, disagreements)
    for (int64_t row = 0; row < rows; row++) {
        tally here = {0};
        if (context->cancel && *context->cancel)
            continue;

        for (int64_t x = 0; x < s->grid.cells[0]; x++) {
            if (!sp_grid_test(&s->grid, near, x, row))
                continue;

            const int known = closed ? sign_of_neighbour(s, near, inside, x, row) : -1;
            const bool is_inside = known >= 0 ? known : test_vertex(s, x, row, &here);
            more[row * s->grid.words + (x >> 6)] |= (uint64_t)is_inside << (x & 63);
        }
        tests += here.tests;
        disagreements += here.disagreements;
    }

    count->tests += tests;
    count->disagreements += disagreements;

    for (int64_t w = 0; w < rows * s->grid.words; w++)
        inside[w] |= more[w];
    sp_pool_free(&pool);
    return sp_progress(context, 0.95);
}

static void apply_signs(const sp_context *context, const sp_grid *grid, const uint64_t *inside, sp_field *field,
                        sp_distance_report *report)
{
    int64_t count = 0;
#pragma omp parallel for schedule(static) num_threads(context->threads) reduction(+ : count)
    for (int64_t row = 0; row < sp_grid_rows(grid); row++)
        for (int64_t x = 0; x < grid->cells[0]; x++)
            if (sp_grid_test(grid, inside, x, row)) {
                float *distance = &field->distance[row * grid->cells[0] + x];
                *distance = -*distance;
                count++;
            }
    report->inside = count;
}

/* If the surface has no open edge, the winding number is an integer that changes at triangles only. */
static int decide_closed(sp_context *context, const signer *s, const uint64_t *near, uint64_t *inside, tally *count)
{
    *count = (tally){0};
    SP_PASS(decide_components(context, s, near, inside, count));
    return decide_near(context, s, true, near, inside, count);
}

/* Otherwise it can cross ½ anywhere. */
static int decide_open(sp_context *context, const signer *s, const sp_surface *oriented, const uint64_t *near,
                       uint64_t *inside)
{
    int64_t filled;
    tally none = {0};

    /* sp_fill expects that the cells which triangles may intersect are set. These are the near ones. */
    for (int64_t w = 0; w < sp_grid_rows(&s->grid) * s->grid.words; w++)
        inside[w] = near[w];
    SP_PASS(sp_fill(context, &s->grid, oriented, false, inside, &filled));

    /* Near vertices are decided one by one. */
    for (int64_t w = 0; w < sp_grid_rows(&s->grid) * s->grid.words; w++)
        inside[w] &= ~near[w];

    return decide_near(context, s, false, near, inside, &none);
}

int sp_field_set_signs(sp_context *context, const sp_surface *surface, enum sp_field_sign sign, sp_field *field,
                       sp_distance_report *report)
{
    int status;
    sp_pool pool = {0};
    sp_surface oriented = {0};
    sp_closest *closest = NULL;
    sp_winding *winding = NULL;
    sp_pseudonormals normals = {0};
    signer s = {.field = field, .grid = sp_field_grid(field)};
    tally count = {0};

    /* The repaired surface decides which methods are possible. */
    SP_TRY(sp_surface_orient(context, surface, &oriented, &report->orient));
    report->closed = report->orient.open_edges == 0 && oriented.triangle_count > 0;
    SP_TRY(sp_pseudonormals_new(context, &oriented, &report->manifold, &normals));

    if (sign == SP_FIELD_PSEUDONORMAL && !report->manifold) {
        status =
            sp_fail(context, SP_INPUT, "pseudonormals need a closed manifold: %s (%lld open edges after the repair)",
                    report->closed ? "more than two triangles meet in an edge, or more than one fan in a vertex"
                                   : "the model is open",
                    (long long)report->orient.open_edges);
        goto done;
    }

    uint64_t *near = near_bits(context, &pool, field, &s.grid), *inside = sp_grid_bits(&pool, &s.grid);
    SP_TRY(sp_allocated(context, !pool.failed));

    SP_TRY(sp_winding_new(context, &oriented, &winding));
    s.winding = winding;
    s.by_winding = sign == SP_FIELD_WINDING || !report->manifold;
    if (report->manifold) {
        SP_TRY(sp_closest_new(context, &oriented, &closest));
        s.closest = closest;
        s.normals = &normals;
    }

    SP_TRY(sp_progress(context, 0.85));
    if (report->closed)
        SP_TRY(decide_closed(context, &s, near, inside, &count));
    else if (oriented.triangle_count > 0)
        SP_TRY(decide_open(context, &s, &oriented, near, inside));

    /* Where a closed manifold meets itself pseudonormals disagree with winding numbers. Then these decide everything
     * anew. */
    if (sign == SP_FIELD_AUTO && count.disagreements > 0) {
        report->meets_itself = s.by_winding = true;
        for (int64_t w = 0; w < sp_grid_rows(&s.grid) * s.grid.words; w++)
            inside[w] = 0;
        SP_TRY(decide_closed(context, &s, near, inside, &count));
    }

    report->sign = s.by_winding ? SP_FIELD_WINDING : SP_FIELD_PSEUDONORMAL;
    report->sign_tests = count.tests;
    report->sign_disagreements = count.disagreements;
    apply_signs(context, &s.grid, inside, field, report);
done:
    sp_pool_free(&normals.pool);
    sp_winding_free(winding);
    sp_closest_free(closest);
    sp_surface_free(&oriented);
    sp_pool_free(&pool);
    return status;
}

int sp_field_set_known(sp_context *context, const sp_surface *surface, const sp_closest *closest,
                       const uint64_t *outside, sp_field *field, sp_distance_report *report)
{
    int status;
    sp_pool pool = {0};
    sp_pseudonormals normals;
    const sp_grid grid = sp_field_grid(field);
    int64_t tests = 0, disagreements = 0;

    SP_TRY(sp_pseudonormals_new(context, surface, &report->manifold, &normals));
    report->closed = report->manifold;
    uint64_t *near = near_bits(context, &pool, field, &grid), *inside = sp_grid_bits(&pool, &grid);
    SP_TRY(sp_allocated(context, !pool.failed));

    for (int64_t row = 0; row < sp_grid_rows(&grid); row++)
        for (int64_t x = 0; x < grid.cells[0]; x++)
            inside[row * grid.words + (x >> 6)] |= (uint64_t)!sp_grid_test(&grid, outside, x, row) << (x & 63);

#pragma omp parallel for schedule(dynamic, 16) num_threads(context->threads) reduction(+ : tests, disagreements)
    for (int64_t row = 0; row < sp_grid_rows(&grid); row++)
        if (report->manifold)
            for (int64_t x = 0; x < grid.cells[0]; x++) {
                double point[3];
                sp_nearest nearest;
                if (!sp_grid_test(&grid, near, x, row))
                    continue;
                sp_field_position(field, x, row % grid.cells[1], row / grid.cells[1], point);
                sp_closest_find(closest, point, &nearest);
                tests++;
                disagreements += sp_pseudonormals_inside(&normals, &nearest) != sp_grid_test(&grid, inside, x, row);
            }

    report->sign_tests = tests;
    report->sign_disagreements = disagreements;
    apply_signs(context, &grid, inside, field, report);
done:
    sp_pool_free(&normals.pool);
    sp_pool_free(&pool);
    return status;
}
