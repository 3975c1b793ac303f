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

/* The pairs of vertices that the energy is made of may be replaced by any other basis of the translation-free products. With the alternating sums
 * û_s = Σ_a σ_s(a) u_a over the corners of a hexahedron (σ_s the 8 products of the signs of its three axes, σ_0 = 1 left out), the
 * products are û_s·ŵ_t + û_t·ŵ_s: as many as pairs, 28. A reflection of the element turns the sign of those whose s xor t
 * contains its axis. So where the energy does not change under reflections, as in a voxel of an isotropic material, products
 * of different s xor t do not meet: G falls into one block of 7 and seven of 3, and multiplying by its factor costs 70
 * in place of 406. Tetrahedra: û_s = u_s − u_0 for s = 1, 2, 3, six products. */
enum {
    BLOCK_ROWS = 896, /* rows per dsyrk: enough for its full speed, and the rows stay in the second-level cache */
    STRIDE = BLOCK_ROWS + 32,
    MOST_SUMS = 8,
    MOST_CACHED = 512, /* classes whose factors are made once */
};

/* How a class of elements turns its products P into rows S of the symmetric product: G = FᵀF, S = F P. */
typedef struct row_factor {
    bool separable;                         /* hexahedra: the blocks do not meet */
    bool triangular;                        /* upper; else (rank below the number of products) rows of a pivoted factor */
    uint32_t rows;                          /* bit k: row k of F is not zero */
    double F[SP_HEX_PAIRS * SP_HEX_PAIRS];  /* [products, products, row major] √(J/m⁴) */
    double edges[7][3];                     /* X̂_s, m */
} row_factor;

/* The product number p stands for û_s·ŵ_t + û_t·ŵ_s (s < t) or û_s·ŵ_s. Hexahedra: by s xor t. */
static void product_modes(int corners, int products[SP_HEX_PAIRS][2])
{
    int p = 0;
    for (int g = 0; g < corners; g++)
        for (int s = 1; s < corners; s++) {
            int t = corners == 8 ? s ^ g : s + g; /* tetrahedra: any order */
            if (t < corners && t != 0 && s <= t) {
                products[p][0] = s;
                products[p++][1] = t;
            }
        }
}

/* Corner of a hexahedron (VTK order) by the signs of its axes, x in bit 0. */
static const int corner_by_signs[8] = {0, 1, 3, 2, 4, 5, 7, 6};

/* u_a − u_b = Σ_s c_s û_s for every pair. */
static void pair_coefficients(int corners, double c[SP_HEX_PAIRS][8])
{
    int signs[8], p = 0;
    for (int k = 0; k < 8; k++)
        signs[corner_by_signs[k]] = k;
    for (int a = 0; a < corners; a++)
        for (int b = a + 1; b < corners; b++, p++)
            for (int s = 1; s < corners; s++)
                if (corners == 8) /* σ_s(a) is +1 where the signs that s looks at are positive an even number of times off */
                    c[p][s] = ((__builtin_parity(s & ~signs[a]) ? -1 : 1) - (__builtin_parity(s & ~signs[b]) ? -1 : 1)) / 8.0;
                else
                    c[p][s] = (a == s) - (b == s);
}

/* Ĝ = TᵀGT over the products; T_pq = c_s c_t. */
static void transform_gram(int corners, const double *G, double *transformed)
{
    int pairs = sp_pair_count(corners), modes[SP_HEX_PAIRS][2];
    double c[SP_HEX_PAIRS][8], T[SP_HEX_PAIRS * SP_HEX_PAIRS], GT[SP_HEX_PAIRS * SP_HEX_PAIRS];
    product_modes(corners, modes);
    pair_coefficients(corners, c);
    for (int p = 0; p < pairs; p++)
        for (int q = 0; q < pairs; q++)
            T[p * pairs + q] = c[p][modes[q][0]] * c[p][modes[q][1]];
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, pairs, pairs, pairs, 1, G, pairs, T, pairs, 0, GT, pairs);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, pairs, pairs, pairs, 1, T, pairs, GT, pairs, 0, transformed, pairs);
}

/* Whether products of different blocks do not meet, to rounding; what is left of that rounding is cleared. */
static bool separate(int products, const int modes[SP_HEX_PAIRS][2], double *G)
{
    for (int pass = 0; pass < 2; pass++)
        for (int p = 0; p < products; p++)
            for (int q = 0; q < products; q++) {
                if ((modes[p][0] ^ modes[p][1]) == (modes[q][0] ^ modes[q][1]))
                    continue;
                if (pass == 0 && fabs(G[p * products + q]) > 1e-14) /* of a unit diagonal */
                    return false;
                G[p * products + q] = pass ? 0 : G[p * products + q];
            }
    return true;
}

/* Cholesky of a definite matrix in place; false, and the matrix spoiled, where a pivot is too small beside the unit diagonal to say so. */
static bool factor_definite(int products, double *G)
{
    for (int k = 0; k < products; k++) {
        double *row = G + k * products, pivot = row[k];
        if (!(pivot > 1e-10))
            return false;
        for (int c = 0; c < products; c++)
            row[c] = c < k ? 0 : row[c] / sqrt(pivot);
        for (int i = k + 1; i < products; i++)
            for (int c = i; c < products; c++)
                G[i * products + c] -= row[i] * row[c];
    }
    return true;
}

/* Pivoted Cholesky of one block: as many rows as its rank. A λ part has a rank below the number of products, and the fewer rows the better. */
static int factor_block(sp_context *context, int products, int base, int size, const double *G, row_factor *factor)
{
    double block[SP_HEX_PAIRS * SP_HEX_PAIRS];
    lapack_int pivot[SP_HEX_PAIRS], rank = 0;
    for (int i = 0; i < size; i++)
        for (int j = 0; j < size; j++)
            block[i * size + j] = G[(base + i) * products + base + j];
    if (LAPACKE_dpstrf(LAPACK_COL_MAJOR, 'U', size, block, size, pivot, &rank, 1e-15 * size) < 0)
        return sp_fail(context, SP_NUMERICAL, "an element's energy cannot be factored");
    for (int k = 0; k < size; k++)
        for (int i = 0; i <= k && i < rank; i++) {
            factor->F[(base + i) * products + base + pivot[k] - 1] = block[k * size + i];
            factor->rows |= 1u << (base + i);
        }
    return SP_OK;
}

static int factor_gram(sp_context *context, int corners, double *G, row_factor *factor)
{
    int products = sp_pair_count(corners), modes[SP_HEX_PAIRS][2], status = SP_OK;
    double scale[SP_HEX_PAIRS];
    product_modes(corners, modes);
    for (int p = 0; p < products; p++)
        scale[p] = sqrt(fmax(0, G[p * products + p]));
    /* a unit diagonal first: in flat elements the entries span the fourth power of the aspect */
    for (int p = 0; p < products; p++)
        for (int q = 0; q < products; q++)
            G[p * products + q] = scale[p] > 0 && scale[q] > 0 ? G[p * products + q] / (scale[p] * scale[q]) : 0;
    factor->separable = corners == 8 && separate(products, modes, G);
    memcpy(factor->F, G, (size_t)(products * products) * sizeof *G);
    factor->triangular = factor_definite(products, factor->F);
    factor->rows = factor->triangular ? (1u << products) - 1 : 0;
    if (!factor->triangular) {
        memset(factor->F, 0, sizeof factor->F);
        for (int base = 0, size; base < products && status == SP_OK; base += size) {
            size = !factor->separable ? products : base == 0 ? 7 : 3;
            status = factor_block(context, products, base, size, G, factor);
        }
    }
    for (int k = 0; k < products; k++)
        for (int c = 0; c < products; c++)
            factor->F[k * products + c] *= scale[c];
    return status;
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
    double X[24], C[36], G[SP_HEX_PAIRS * SP_HEX_PAIRS], transformed[SP_HEX_PAIRS * SP_HEX_PAIRS];
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
    transform_gram(corners, G, transformed);
    status = factor_gram(context, corners, transformed, factor);
    if (status != SP_OK)
        return status;
    /* X̂_s from the edges of the class: the same for all its elements, and nothing cancels far from the origin */
    for (int s = 1; s < corners; s++)
        for (int i = 0; i < 3; i++) {
            double sum = 0;
            for (int k = 1; k < corners; k++) {
                int a = corners == 8 ? corner_by_signs[k] : k;
                double edge = -class->edges[3 * sp_pair_index(corners, 0, a) + i]; /* X_a − X_0 */
                sum += corners == 4 ? (k == s) * edge : __builtin_parity(s & ~k) ? -edge : edge;
            }
            factor->edges[s - 1][i] = sum;
        }
    return SP_OK;
}

/* ---- SP_LANES elements at a time ---- */

/* Elements of one number of corners, each in a lane; lanes without one have no displacements, so their rows are zero. */
typedef struct group {
    int corners, count;
    bool separable, triangular;      /* in all lanes */
    uint32_t rows;                   /* bit k: row k is not zero in some lane */
    int64_t element[SP_LANES], class[SP_LANES];
    sp_lanes F[SP_HEX_PAIRS * SP_HEX_PAIRS];
} group;

SP_INLINE sp_lanes dot(const sp_lanes *u, const sp_lanes *w)
{
    return u[0] * w[0] + u[1] * w[1] + u[2] * w[2];
}

/* The rows of one block of F, products base … base + size. */
SP_INLINE double *block_rows(int products, int base, int size, bool triangular, uint32_t rows, const sp_lanes *F, const sp_lanes *P, double *S)
{
#pragma GCC unroll 28
    for (int k = 0; k < size; k++) {
        if (!triangular && !(rows >> (base + k) & 1))
            continue;
        const sp_lanes *row = F + (base + k) * products + base;
        sp_lanes sum = {0};
#pragma GCC unroll 28
        for (int c = triangular ? k : 0; c < size; c++)
            sum += row[c] * P[base + c];
        *(sp_lanes *)S = sum;
        S += SP_LANES;
    }
    return S;
}

/* All columns of a group's rows: i ↦ products of X and uⁱ, then (i ≤ j) ↦ of uⁱ and uʲ. hat [1 + r, corners, 3], X first. */
SP_INLINE void group_rows(int corners, bool separable, bool triangular, uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, double *S)
{
    const int products = corners * (corners - 1) / 2, width = 3 * corners;
    for (int64_t i = 0; i <= r; i++) {
        sp_lanes u[24], P[SP_HEX_PAIRS];
        for (int k = 0; k < width; k++)
            u[k] = hat[i * width + k];
        for (int64_t j = i == 0 ? 1 : i; j <= r; j++, S += STRIDE) {
            const sp_lanes *w = hat + j * width;
            int p = 0;
#pragma GCC unroll 8
            for (int g = 0; g < corners; g++)
#pragma GCC unroll 8
                for (int s = 1; s < corners; s++) {
                    const int t = corners == 8 ? s ^ g : s + g;
                    if (t >= corners || t == 0 || s > t)
                        continue;
                    P[p++] = s == t ? dot(u + 3 * s, w + 3 * s) : dot(u + 3 * s, w + 3 * t) + dot(u + 3 * t, w + 3 * s);
                }
            double *to = S;
            if (separable) {
                to = block_rows(products, 0, 7, triangular, rows, F, P, to);
#pragma GCC unroll 7
                for (int g = 0; g < 7; g++)
                    to = block_rows(products, 7 + 3 * g, 3, triangular, rows, F, P, to);
            } else
                block_rows(products, 0, products, triangular, rows, F, P, to);
        }
    }
}

SP_CLONES static void voxel_rows(const sp_lanes *F, int64_t r, const sp_lanes *hat, double *S)
{
    group_rows(8, true, true, ~0u, F, r, hat, S);
}

SP_CLONES static void voxel_rows_of_rank(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, double *S)
{
    group_rows(8, true, false, rows, F, r, hat, S);
}

SP_CLONES static void hex_rows(const sp_lanes *F, int64_t r, const sp_lanes *hat, double *S)
{
    group_rows(8, false, true, ~0u, F, r, hat, S);
}

SP_CLONES static void hex_rows_of_rank(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, double *S)
{
    group_rows(8, false, false, rows, F, r, hat, S);
}

SP_CLONES static void tet_rows(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, double *S)
{
    group_rows(4, false, false, rows, F, r, hat, S);
}

static void rows_of_group(const group *g, int64_t r, const sp_lanes *hat, double *S)
{
    if (g->corners == 4)
        tet_rows(g->rows, g->F, r, hat, S);
    else if (g->triangular)
        (g->separable ? voxel_rows : hex_rows)(g->F, r, hat, S);
    else
        (g->separable ? voxel_rows_of_rank : hex_rows_of_rank)(g->rows, g->F, r, hat, S);
}

/* uⁱ at the corners to û_s, for all modes behind X: a Walsh–Hadamard transform, or differences to the first corner. */
SP_CLONES static void transform_hats(int corners, int64_t r, sp_lanes *hat)
{
    for (int64_t i = 1; i <= r; i++) {
        sp_lanes *x = hat + i * 3 * corners;
        if (corners == 4) {
            for (int k = 3; k < 12; k++)
                x[k] -= x[k % 3];
            continue;
        }
        for (int bit = 1; bit < 8; bit <<= 1)
            for (int b = 0; b < 8; b++)
                for (int c = 0; c < 3 && !(b & bit); c++) {
                    sp_lanes low = x[3 * b + c], high = x[3 * (b | bit) + c];
                    x[3 * b + c] = high + low;
                    x[3 * (b | bit) + c] = high - low;
                }
    }
}

/* W is U by rows: [3·vertices, r, row major]. */
static void load_hats(const sp_mesh *mesh, const group *g, const row_factor *const factors[SP_LANES], int64_t r, const double *W, sp_lanes *hat)
{
    int corners = g->corners, unused;
    double *to = (double *)hat;
    if (g->count < SP_LANES)
        memset(hat, 0, (size_t)((1 + r) * 3 * corners) * sizeof *hat);
    for (int l = 0; l < g->count; l++) {
        const int64_t *corner = sp_mesh_corners(mesh, g->element[l], &unused);
        for (int k = 0; k < corners; k++) {
            const double *from = W + 3 * corner[corners == 8 ? corner_by_signs[k] : k] * r;
            for (int c = 0; c < 3; c++, from += r) {
                to[(3 * k + c) * SP_LANES + l] = k ? factors[l]->edges[k - 1][c] : 0;
                for (int64_t i = 0; i < r; i++)
                    to[((1 + i) * 3 * corners + 3 * k + c) * SP_LANES + l] = from[i];
            }
        }
    }
    transform_hats(corners, r, hat);
}

/* Working memory of one thread, and the sum that it works on. */
typedef struct sum_space {
    double *gram;        /* [N, N] upper triangle */
    double *rows;        /* [STRIDE, N] */
    sp_lanes *hat;       /* [1 + r, 8, 3] */
    group group;
    row_factor *own;     /* [SP_LANES] where the classes are too many to be kept */
    int64_t filled, total;
} sum_space;

static void flush(sum_space *space, int64_t N)
{
    if (space->filled > 0)
        cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, (int)N, (int)space->filled, 1, space->rows, STRIDE, 1, space->gram, (int)N);
    space->filled = 0;
}

/* What a part is made of. */
typedef struct part_plan {
    const sp_body *body;
    int64_t count;
    const int64_t *list;        /* [count] elements */
    enum sp_constant constant;
    int64_t r;
    const double *W;
    const row_factor *factors;  /* [classes]; NULL: too many */
} part_plan;

/* The factors of a group's classes into its lanes, where they are not there already. */
static int load_factors(sp_context *context, const part_plan *plan, sum_space *space, const row_factor *factors[SP_LANES])
{
    group *g = &space->group;
    g->separable = g->triangular = true;
    g->rows = 0;
    for (int l = 0; l < g->count; l++) {
        int64_t class = plan->body->element_class[g->element[l]];
        factors[l] = plan->factors ? &plan->factors[class] : &space->own[l];
        if (class != g->class[l]) {
            if (!plan->factors) {
                int status = factor_class(context, plan->body, class, plan->constant, &space->own[l]);
                if (status != SP_OK)
                    return status;
            }
            g->class[l] = class;
            for (int k = 0; k < sp_pair_count(g->corners) * sp_pair_count(g->corners); k++)
                g->F[k][l] = factors[l]->F[k];
        }
        g->separable &= factors[l]->separable;
        g->triangular &= factors[l]->triangular;
        g->rows |= factors[l]->rows;
    }
    return SP_OK;
}

/* Adds the elements list[first … last) to the sum. */
static int sum_elements(sp_context *context, const part_plan *plan, int64_t first, int64_t last, sum_space *space)
{
    const sp_mesh *mesh = plan->body->mesh;
    int64_t N = sp_polynomial_order(plan->r);
    group *g = &space->group;
    for (int64_t at = first; at < last; at += g->count) {
        const row_factor *factors[SP_LANES];
        int corners;
        sp_mesh_corners(mesh, plan->list[at], &corners);
        if (corners != g->corners) /* factors in the lanes are of the other shape */
            memset(g->class, -1, sizeof g->class);
        g->corners = corners;
        for (g->count = 0; g->count < SP_LANES && at + g->count < last; g->count++) {
            g->element[g->count] = plan->list[at + g->count];
            sp_mesh_corners(mesh, g->element[g->count], &corners);
            if (corners != g->corners)
                break;
        }
        int status = load_factors(context, plan, space, factors);
        if (status != SP_OK)
            return status;
        load_hats(mesh, g, factors, plan->r, plan->W, space->hat);
        rows_of_group(g, plan->r, space->hat, space->rows + space->filled);
        space->filled += __builtin_popcount(g->rows) * SP_LANES;
        for (int l = 0; l < g->count; l++)
            space->total += __builtin_popcount(factors[l]->rows);
        if (space->filled + SP_HEX_PAIRS * SP_LANES > BLOCK_ROWS)
            flush(space, N);
    }
    flush(space, N);
    return SP_OK;
}

/* The factors of all classes, where they are few. */
static int make_factors(sp_context *context, part_plan *plan, sp_pool *pool)
{
    int64_t classes = plan->body->class_count;
    if (classes > MOST_CACHED)
        return SP_OK;
    row_factor *factors = sp_pool_new(pool, classes, sizeof *factors);
    if (!factors)
        return sp_fail_memory(context);
    for (int64_t k = 0, class = -1; k < plan->count; k++) {
        if (plan->body->element_class[plan->list[k]] == class)
            continue;
        class = plan->body->element_class[plan->list[k]];
        if (factors[class].rows)
            continue;
        int status = factor_class(context, plan->body, class, plan->constant, &factors[class]);
        if (status != SP_OK)
            return status;
    }
    plan->factors = factors;
    return SP_OK;
}

/* One Gram matrix over a list of elements. */
static int sum_part(sp_context *context, part_plan *plan, int64_t memory, double *gram, sp_polynomial_report *report)
{
    int64_t r = plan->r, N = sp_polynomial_order(r), count = plan->count;
    sp_pool scratch = {0};
    int status = SP_OK;
    /* One Gram matrix per sum, rows per thread. The number of sums must not depend on the threads. */
    int64_t gram_bytes = N * N * (int64_t)sizeof(double), row_bytes = STRIDE * N * (int64_t)sizeof(double);
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
    SP_TRY(make_factors(context, plan, &scratch));
    for (int t = 0; space && t < threads; t++) {
        space[t].rows = sp_pool_raw(&scratch, STRIDE * N, sizeof(double));
        space[t].hat = sp_pool_raw(&scratch, (1 + r) * 24, sizeof(sp_lanes));
        space[t].own = sp_pool_raw(&scratch, SP_LANES, sizeof(row_factor));
        memset(space[t].group.class, -1, sizeof space[t].group.class);
    }
    if (scratch.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    int worst = SP_OK;
    int64_t totals = 0;
#pragma omp parallel for schedule(dynamic) num_threads(threads) reduction(+ : totals)
    for (int64_t s = 0; s < sums; s++) {
        sum_space *mine = &space[omp_get_thread_num()];
        sp_context own = *context; /* threads do not write into one message */
        mine->gram = grams + s * N * N;
        mine->total = 0;
        int status_here = sum_elements(&own, plan, count * s / sums, count * (s + 1) / sums, mine);
        totals += mine->total;
        if (status_here != SP_OK)
#pragma omp atomic write
            worst = status_here;
    }
    if (worst != SP_OK) {
        status = sp_fail(context, worst, "an element's energy cannot be factored");
        goto done;
    }
    report->rows += totals;
    report->flops += (double)totals * (double)N * (double)(N + 1);
    for (int64_t s = 0; s < sums; s++) {
        const double *part = grams + s * N * N;
        for (int64_t j = 0; j < N; j++)
            for (int64_t i = 0; i <= j; i++)
                gram[j * N + i] += part[j * N + i];
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
            part_plan plan = {.body = body, .count = count, .list = list, .constant = part->constant, .r = r, .W = W};
            SP_TRY(sum_part(context, &plan, parameters->memory > 0 ? parameters->memory : INT64_C(400) << 20, part->gram, report));
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
