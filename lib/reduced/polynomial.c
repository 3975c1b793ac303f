/* The Gram matrix of a basis: rows per element, one dsyrk. */
#include "reduced/polynomial.h"

#include "reduced/mass.h"

#include "assembly/element.h"
#include "base/lanes.h"
#include "linear/dense.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <omp.h>
#include <string.h>

enum {
    VECTORS = (SP_HEX_PAIRS + SP_LANES - 1) / SP_LANES, /* of SP_LANES rows that hold the pairs of a hexahedron */
    COLUMNS = 4,       /* columns of R that share the loads of a factor */
    BLOCK_ROWS = 896, /* rows per dsyrk: enough for its full speed, and the rows stay in the second-level cache */
    STRIDE = BLOCK_ROWS + SP_LANES * VECTORS,
    MOST_SUMS = 16,
};

/* How a class of elements turns its pair rows R into rows S of the symmetric product: G = FᵀF, S = F R. */
typedef struct row_factor {
    int rank, pairs;
    int pivot[SP_HEX_PAIRS];                 /* F's column `pivot[k]` has its nonzeros in rows 0 … k */
    sp_lanes F[SP_HEX_PAIRS][VECTORS];       /* in pivot order √(J/m⁴) */
    sp_lanes edge[3][VECTORS];               /* X_ab by component, m */
} row_factor;

/* Pivoted Cholesky: a λ part has rank below the number of pairs, and the fewer rows the better. */
static int factor_gram(sp_context *context, int pairs, double *G, const double *edges, row_factor *factor)
{
    lapack_int pivot[SP_HEX_PAIRS], rank = 0;
    double scale[SP_HEX_PAIRS], largest = 0;
    memset(factor, 0, sizeof *factor);
    factor->pairs = pairs;
    for (int p = 0; p < pairs; p++) {
        largest = fmax(largest, G[p * pairs + p]);
        scale[p] = sqrt(fmax(0, G[p * pairs + p]));
        for (int i = 0; i < 3; i++)
            factor->edge[i][p / SP_LANES][p % SP_LANES] = edges[3 * p + i];
    }
    if (!(largest > 0))
        return SP_OK;
    /* a unit diagonal first: in flat elements the entries span the fourth power of the aspect */
    for (int p = 0; p < pairs; p++)
        for (int q = 0; q < pairs; q++)
            G[p * pairs + q] /= scale[p] > 0 && scale[q] > 0 ? scale[p] * scale[q] : 1;
    if (LAPACKE_dpstrf(LAPACK_COL_MAJOR, 'U', pairs, G, pairs, pivot, &rank, 1e-15 * pairs) < 0)
        return sp_fail(context, SP_NUMERICAL, "an element's energy cannot be factored");
    factor->rank = rank;
    for (int k = 0; k < pairs; k++) {
        factor->pivot[k] = pivot[k] - 1;
        for (int i = 0; i <= k && i < rank; i++)
            factor->F[k][i / SP_LANES][i % SP_LANES] = G[k * pairs + i] * scale[pivot[k] - 1];
    }
    return SP_OK;
}

/* C of one part: the material's, or that of λ = 1 or μ = 1. */
static int part_stiffness(sp_context *context, const sp_material *material, enum sp_constant constant, double C[36])
{
    if (constant == SP_CONSTANT_ALL)
        return sp_material_stiffness(context, material, C);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            C[6 * i + j] = constant == SP_CONSTANT_LAMBDA ? i < 3 && j < 3 : i != j ? 0 : i < 3 ? 2 : 1;
    return SP_OK;
}

static int factor_class(sp_context *context, const sp_body *body, int64_t number, enum sp_constant constant, row_factor *factor)
{
    const sp_element_class *class = &body->classes[number];
    double X[24], C[36], G[SP_HEX_PAIRS * SP_HEX_PAIRS];
    sp_quadrature quadrature;
    int corners;
    const int64_t *corner = sp_mesh_corners(body->mesh, class->element, &corners);
    for (int a = 0; a < corners; a++)
        memcpy(X + 3 * a, body->mesh->vertices + 3 * corner[a], 3 * sizeof *X);
    sp_element_quadrature(corners, X, body->mesh->quadrature, &quadrature);
    int status = part_stiffness(context, &body->mesh->materials[class->region], constant, C);
    if (status != SP_OK)
        return status;
    sp_element_gram(corners, &quadrature, C, G);
    return factor_gram(context, sp_pair_count(corners), G, class->edges, factor);
}

/* Adds the pivots of one group of SP_LANES, whose columns of F reach `deep` vectors down. All bounds are constants after
 * inlining, so that the sums stay in registers. */
SP_INLINE void multiply_group(int pairs, int deep, const row_factor *factor, const double *R, sp_lanes sum[COLUMNS][VECTORS])
{
    int last = deep * SP_LANES < pairs ? deep * SP_LANES : pairs;
    for (int k = (deep - 1) * SP_LANES; k < last; k++) {
        const double *r = R + factor->pivot[k];
#pragma GCC unroll 4
        for (int v = 0; v < deep; v++)
#pragma GCC unroll 4
            for (int c = 0; c < COLUMNS; c++)
                sum[c][v] += factor->F[k][v] * r[c * VECTORS * SP_LANES];
    }
}

/* COLUMNS columns of S = F R for one element. */
SP_INLINE void multiply(int pairs, const row_factor *factor, const double *R, double *S)
{
    const int vectors = (pairs + SP_LANES - 1) / SP_LANES;
    sp_lanes sum[COLUMNS][VECTORS];
#pragma GCC unroll 4
    for (int c = 0; c < COLUMNS; c++)
#pragma GCC unroll 4
        for (int v = 0; v < VECTORS; v++)
            sum[c][v] = (sp_lanes){0};
    multiply_group(pairs, 1, factor, R, sum);
    if (pairs > SP_LANES) {
        multiply_group(pairs, 2, factor, R, sum);
        multiply_group(pairs, 3, factor, R, sum);
        multiply_group(pairs, 4, factor, R, sum);
    }
#pragma GCC unroll 4
    for (int c = 0; c < COLUMNS; c++) /* up to 7 rows too many; the next element writes over them */
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++)
            memcpy(S + c * STRIDE + v * SP_LANES, &sum[c][v], sizeof(sp_lanes));
}

/* All columns of one element's rows: i ↦ X_ab·uⁱ_ab, then (i ≤ j) ↦ uⁱ_ab·uʲ_ab; difference [r][3][VECTORS]. */
SP_INLINE void element_rows(int pairs, const row_factor *factor, int64_t r, const sp_lanes *difference, double *S)
{
    const int vectors = (pairs + SP_LANES - 1) / SP_LANES;
    sp_lanes R[COLUMNS][VECTORS];
    int filled = 0;
    memset(R, 0, sizeof R);
    for (int64_t i = -1; i < r; i++) {
        const sp_lanes *u = i < 0 ? &factor->edge[0][0] : difference + i * 3 * VECTORS;
        for (int64_t j = i < 0 ? 0 : i; j < r; j++) {
            const sp_lanes *w = difference + j * 3 * VECTORS;
            for (int v = 0; v < vectors; v++)
                R[filled][v] = u[v] * w[v] + u[VECTORS + v] * w[VECTORS + v] + u[2 * VECTORS + v] * w[2 * VECTORS + v];
            if (++filled == COLUMNS) {
                multiply(pairs, factor, &R[0][0][0], S);
                S += COLUMNS * STRIDE;
                filled = 0;
            }
        }
    }
    if (filled) /* the last columns; the others of the group land in the spare columns behind N */
        multiply(pairs, factor, &R[0][0][0], S);
}

SP_CLONES static void element_rows_hex(const row_factor *factor, int64_t r, const sp_lanes *difference, double *S)
{
    element_rows(SP_HEX_PAIRS, factor, r, difference, S);
}

SP_CLONES static void element_rows_tet(const row_factor *factor, int64_t r, const sp_lanes *difference, double *S)
{
    element_rows(SP_TET_PAIRS, factor, r, difference, S);
}

/* uⁱ_a − uⁱ_b of all pairs and modes. W is U by rows: [3·vertices, r, row major]. */
static void element_differences(const sp_mesh *mesh, int64_t element, int64_t r, const double *W, sp_lanes *difference)
{
    int corners, p = 0;
    const int64_t *corner = sp_mesh_corners(mesh, element, &corners);
    double *to = (double *)difference;
    for (int a = 0; a < corners; a++)
        for (int b = a + 1; b < corners; b++, p++)
            for (int c = 0; c < 3; c++) {
                const double *u = W + (3 * corner[a] + c) * r, *v = W + (3 * corner[b] + c) * r;
                for (int64_t i = 0; i < r; i++)
                    to[(i * 3 + c) * VECTORS * SP_LANES + p] = u[i] - v[i];
            }
}

/* Working memory of one thread, and the sum that it works on. */
typedef struct sum_space {
    double *gram;         /* [N, N] upper triangle */
    double *rows;         /* [STRIDE, N + COLUMNS] */
    sp_lanes *difference; /* [r, 3, VECTORS] */
    row_factor *factor;   /* of the class at hand */
    int64_t filled, total;
} sum_space;

static void flush(sum_space *space, int64_t N)
{
    if (space->filled > 0)
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, (int)N, (int)space->filled, 1, space->rows, STRIDE, 1, space->gram, (int)N);
    space->total += space->filled;
    space->filled = 0;
}

/* Adds the elements list[first … last) to the sum. */
static int sum_elements(sp_context *context, const sp_body *body, const int64_t *list, int64_t first, int64_t last, enum sp_constant constant, int64_t r, const double *W,
                        sum_space *space)
{
    int64_t N = sp_polynomial_order(r), class = -1;
    for (int64_t at = first; at < last; at++) {
        if (body->element_class[list[at]] != class) {
            class = body->element_class[list[at]];
            sp_context own = *context; /* threads do not write into one message */
            if (factor_class(&own, body, class, constant, space->factor) != SP_OK)
                return SP_NUMERICAL;
        }
        element_differences(body->mesh, list[at], r, W, space->difference);
        (space->factor->pairs == SP_HEX_PAIRS ? element_rows_hex : element_rows_tet)(space->factor, r, space->difference, space->rows + space->filled);
        space->filled += space->factor->rank;
        if (space->filled + SP_HEX_PAIRS > BLOCK_ROWS)
            flush(space, N);
    }
    flush(space, N);
    return SP_OK;
}

/* One Gram matrix over a list of elements. */
static int sum_part(sp_context *context, const sp_body *body, int64_t count, const int64_t *list, enum sp_constant constant, int64_t r, const double *W, int64_t memory,
                    double *gram, sp_polynomial_report *report)
{
    int64_t N = sp_polynomial_order(r);
    sp_pool scratch = {0};
    int status = SP_OK;
    /* One Gram matrix per sum, rows per thread. The number of sums must not depend on the threads. */
    int64_t gram_bytes = N * N * (int64_t)sizeof(double), row_bytes = STRIDE * (N + COLUMNS) * (int64_t)sizeof(double);
    int64_t sums = (memory - row_bytes) / gram_bytes, useful = (count * 6 + BLOCK_ROWS - 1) / BLOCK_ROWS;
    if (sums < 1)
        return sp_fail(context, SP_SYSTEM, "%lld coordinates need %.1f MiB, more than the memory allowed", (long long)r, (double)(gram_bytes + row_bytes) / 1048576);
    sums = sums > MOST_SUMS ? MOST_SUMS : sums;
    sums = sums > useful ? useful : sums;
    int threads = context->threads < sums ? context->threads : (int)sums;
    while (threads > 1 && sums * gram_bytes + threads * row_bytes > memory)
        threads--;
    double *grams = sp_pool_new(&scratch, sums, (size_t)gram_bytes);
    sum_space *space = sp_pool_new(&scratch, threads, sizeof *space);
    int64_t *totals = sp_pool_new(&scratch, sums, sizeof *totals);
    for (int t = 0; space && t < threads; t++) {
        space[t].rows = sp_pool_raw(&scratch, STRIDE * (N + COLUMNS), sizeof(double));
        space[t].difference = sp_pool_new(&scratch, r * 3 * VECTORS, sizeof(sp_lanes));
        space[t].factor = sp_pool_new(&scratch, 1, sizeof(row_factor));
    }
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    int worst = SP_OK;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (int64_t s = 0; s < sums; s++) {
        sum_space *mine = &space[omp_get_thread_num()];
        mine->gram = grams + s * N * N;
        mine->total = 0;
        int own = sum_elements(context, body, list, count * s / sums, count * (s + 1) / sums, constant, r, W, mine);
        totals[s] = mine->total;
        if (own != SP_OK)
#pragma omp atomic write
            worst = own;
    }
    if (worst != SP_OK) {
        status = sp_fail(context, worst, "an element's energy cannot be factored");
        goto done;
    }
    for (int64_t s = 0; s < sums; s++) {
        const double *part = grams + s * N * N;
        for (int64_t j = 0; j < N; j++)
            for (int64_t i = 0; i <= j; i++)
                gram[j * N + i] += part[j * N + i];
        report->rows += totals[s];
        report->flops += (double)totals[s] * (double)N * (double)(N + 1);
    }
    for (int64_t j = 0; j < N; j++)
        for (int64_t i = 0; i < j; i++)
            gram[i * N + j] = gram[j * N + i];
done:
    sp_pool_free(&scratch);
    return status;
}

static void name_part(const sp_mesh *mesh, int64_t region, enum sp_constant constant, sp_polynomial_part *part)
{
    strcpy(part->group, region < 0 ? "all" : mesh->materials[region].name);
    part->constant = constant;
    part->value = 1;
    double lambda, mu;
    if (constant != SP_CONSTANT_ALL) {
        sp_lame(mesh->materials[region < 0 ? 0 : region].young, mesh->materials[region < 0 ? 0 : region].poisson, &lambda, &mu);
        part->value = constant == SP_CONSTANT_LAMBDA ? lambda : mu;
    }
}

int sp_polynomials_new(sp_context *context, const sp_body *body, int64_t r, const double *U, const sp_polynomial_parameters *parameters, sp_polynomials *polynomials,
                       sp_polynomial_report *report)
{
    const sp_mesh *mesh = body->mesh;
    int64_t elements = sp_mesh_element_count(mesh), rows = 3 * mesh->vertex_count, N = sp_polynomial_order(r);
    int64_t groups = parameters->by_group || (parameters->by_constant && mesh->material_count > 1) ? mesh->material_count : 1, constants = parameters->by_constant ? 2 : 1;
    sp_pool scratch = {0};
    int status;
    *report = (sp_polynomial_report){0};
    *polynomials = (sp_polynomials){.r = r, .part_count = groups * constants, .density = 1};
    if (r < 1 || r > 2000)
        return sp_fail(context, SP_USAGE, "%lld reduced coordinates: polynomials take 1 to 2000", (long long)r);
    SP_TRY(sp_dense_fits(context, N, rows));
    for (int64_t m = 0; parameters->by_constant && m < mesh->material_count; m++)
        if (mesh->materials[m].law != SP_LAW_STVK)
            return sp_fail(context, SP_INPUT, "region %s is not isotropic: it has no λ and μ to keep apart", mesh->materials[m].name);
    polynomials->parts = sp_pool_new(&polynomials->pool, polynomials->part_count, sizeof *polynomials->parts);
    polynomials->mass = sp_pool_new(&polynomials->pool, r * r, sizeof(double));
    polynomials->gravity = sp_pool_new(&polynomials->pool, 3 * r, sizeof(double));
    double *W = sp_pool_raw(&scratch, rows * r, sizeof *W);
    int64_t *list = sp_pool_raw(&scratch, elements, sizeof *list);
    if (polynomials->pool.failed || scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < r; j++)
            W[i * r + j] = U[j * rows + i];
    for (int64_t g = 0, at = 0; g < groups; g++) {
        int64_t region = groups > 1 ? g : mesh->material_count == 1 && parameters->by_group ? 0 : -1, count = 0;
        for (int64_t e = 0; e < elements; e++)
            if (groups == 1 || mesh->region[e] == g)
                list[count++] = e;
        for (int64_t c = 0; c < constants; c++, at++) {
            sp_polynomial_part *part = &polynomials->parts[at];
            name_part(mesh, region, constants == 1 ? SP_CONSTANT_ALL : c == 0 ? SP_CONSTANT_LAMBDA : SP_CONSTANT_MU, part);
            part->gram = sp_pool_new(&polynomials->pool, N * N, sizeof(double));
            if (!part->gram) {
                status = sp_fail_memory(context);
                goto done;
            }
            SP_TRY(sum_part(context, body, count, list, part->constant, r, W, parameters->memory > 0 ? parameters->memory : INT64_C(400) << 20, part->gram, report));
            SP_TRY(sp_progress(context, (double)(at + 1) / (double)polynomials->part_count));
        }
    }
    status = sp_reduced_mass_of_rows(context, body, r, W, polynomials->mass, polynomials->gravity);
done:
    sp_pool_free(&scratch);
    if (status != SP_OK)
        sp_polynomials_free(polynomials);
    return status;
}

void sp_polynomials_free(sp_polynomials *polynomials)
{
    sp_pool_free(&polynomials->pool);
    *polynomials = (sp_polynomials){0};
}
