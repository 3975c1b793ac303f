#include "reduced/rows.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

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
static int factor_block(sp_context *context, int products, int base, int size, const double *G, sp_row_factor *factor)
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

static int factor_gram(sp_context *context, int corners, double *G, sp_row_factor *factor)
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

/* C of one part in an element: the material's, or that of λ = 1 or μ = 1 times the element's factor, so that a constant that is edited keeps the shape of its field. */
static int part_stiffness(sp_context *context, const sp_mesh *mesh, int64_t element, enum sp_constant constant, double C[36])
{
    sp_material scaled;
    if (constant == SP_CONSTANT_ALL)
        return sp_material_stiffness(context, sp_mesh_material(mesh, element, &scaled), C);
    double factor = mesh->factor ? mesh->factor[2 * element + (constant == SP_CONSTANT_MU)] : 1;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            C[6 * i + j] = factor * (constant == SP_CONSTANT_LAMBDA ? i < 3 && j < 3 : i != j ? 0 : i < 3 ? 2 : 1);
    return SP_OK;
}

int sp_row_factor_new(sp_context *context, const sp_body *body, int64_t number, enum sp_constant constant, sp_row_factor *factor)
{
    const sp_element_class *class = &body->classes[number];
    double X[24], C[36], G[SP_HEX_PAIRS * SP_HEX_PAIRS], transformed[SP_HEX_PAIRS * SP_HEX_PAIRS];
    sp_quadrature quadrature;
    int corners;
    const int64_t *corner = sp_mesh_corners(body->mesh, class->element, &corners);
    for (int a = 0; a < corners; a++)
        memcpy(X + 3 * a, body->mesh->vertices + 3 * corner[a], 3 * sizeof *X);
    sp_element_quadrature(corners, X, body->mesh->quadrature, &quadrature);
    int status = part_stiffness(context, body->mesh, class->element, constant, C);
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
SP_INLINE void group_rows(int corners, bool separable, bool triangular, uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, int64_t stride, double *S)
{
    const int products = corners * (corners - 1) / 2, width = 3 * corners;
    for (int64_t i = 0; i <= r; i++) {
        sp_lanes u[24], P[SP_HEX_PAIRS];
        for (int k = 0; k < width; k++)
            u[k] = hat[i * width + k];
        for (int64_t j = i == 0 ? 1 : i; j <= r; j++, S += stride) {
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

SP_CLONES static void voxel_rows(const sp_lanes *F, int64_t r, const sp_lanes *hat, int64_t stride, double *S)
{
    group_rows(8, true, true, ~0u, F, r, hat, stride, S);
}

SP_CLONES static void voxel_rows_of_rank(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, int64_t stride, double *S)
{
    group_rows(8, true, false, rows, F, r, hat, stride, S);
}

SP_CLONES static void hex_rows(const sp_lanes *F, int64_t r, const sp_lanes *hat, int64_t stride, double *S)
{
    group_rows(8, false, true, ~0u, F, r, hat, stride, S);
}

SP_CLONES static void hex_rows_of_rank(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, int64_t stride, double *S)
{
    group_rows(8, false, false, rows, F, r, hat, stride, S);
}

SP_CLONES static void tet_rows(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, int64_t stride, double *S)
{
    group_rows(4, false, false, rows, F, r, hat, stride, S);
}

void sp_row_group_rows(const sp_row_group *g, int64_t r, const sp_lanes *hat, int64_t stride, double *S)
{
    if (g->corners == 4)
        tet_rows(g->rows, g->F, r, hat, stride, S);
    else if (g->triangular)
        (g->separable ? voxel_rows : hex_rows)(g->F, r, hat, stride, S);
    else
        (g->separable ? voxel_rows_of_rank : hex_rows_of_rank)(g->rows, g->F, r, hat, stride, S);
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
void sp_row_group_load(const sp_mesh *mesh, const sp_row_group *g, const sp_row_factor *const factors[SP_LANES], int64_t r, const double *W, sp_lanes *hat)
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
