#include "reduced/rows.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* û_s with three axes first, whose X̂_s alone are not 0 in a box. */
static const int axes_first[8] = {0, 1, 2, 4, 3, 5, 6, 7};

/* The product number p stands for û_s·ŵ_t + û_t·ŵ_s (s < t) or û_s·ŵ_s. Hexahedra: by s xor t, those with an axis first. */
static void product_modes(int corners, int products[SP_HEX_PAIRS][2])
{
    int p = 0;
    for (int g = 0; g < corners; g++)
        for (int k = 1; k < corners; k++) {
            int s = corners == 8 && g == 0 ? axes_first[k] : k, t = corners == 8 ? s ^ g : s + g; /* tetrahedra: any order */
            if (t < corners && t != 0 && s <= t) {
                products[p][0] = s;
                products[p++][1] = t;
            }
        }
}

/* How many products of one s xor t have an axis among s and t. */
static const int with_axis[8] = {3, 2, 2, 2, 2, 2, 2, 3};

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

/* TᵀGT for order n, a constant where this is used. */
SP_INLINE void times_both_sides(int n, const double *T, const double *G, double *result)
{
    double GT[SP_HEX_PAIRS * SP_HEX_PAIRS] = {0};
    for (int p = 0; p < n; p++)
        for (int k = 0; k < n; k++)
            for (int q = 0; q < n; q++)
                GT[p * n + q] += G[p * n + k] * T[k * n + q];
    memset(result, 0, (size_t)(n * n) * sizeof *result);
    for (int k = 0; k < n; k++)
        for (int p = 0; p < n; p++)
            for (int q = 0; q < n; q++)
                result[p * n + q] += T[k * n + p] * GT[k * n + q];
}

SP_CLONES static void times_both(int n, const double *T, const double *G, double *result)
{
    if (n == SP_HEX_PAIRS)
        times_both_sides(SP_HEX_PAIRS, T, G, result);
    else
        times_both_sides(6, T, G, result);
}

/* Ĝ = TᵀGT over the products; T_pq = c_s c_t. noise [products]: what rounding has put into the diagonal of Ĝ at most, and the root of two of them into what stands
 * between: the sums are of terms of the size of Σ_k |T_kp| √G_kk. */
static void transform_gram(int corners, const double *G, double *transformed, double *noise)
{
    int pairs = sp_pair_count(corners), modes[SP_HEX_PAIRS][2];
    double c[SP_HEX_PAIRS][8], T[SP_HEX_PAIRS * SP_HEX_PAIRS];
    product_modes(corners, modes);
    pair_coefficients(corners, c);
    for (int p = 0; p < pairs; p++)
        for (int q = 0; q < pairs; q++)
            T[p * pairs + q] = c[p][modes[q][0]] * c[p][modes[q][1]];
    times_both(pairs, T, G, transformed);
    for (int p = 0; p < pairs; p++) {
        double sum = 0;
        for (int k = 0; k < pairs; k++)
            sum += fabs(T[k * pairs + p]) * sqrt(fmax(0, G[k * pairs + k]));
        noise[p] = 32 * DBL_EPSILON * sum * sum;
    }
}

/* Whether products of different blocks do not meet, to rounding; what is left of that rounding is cleared. noise: of the diagonal, as a part of it. */
static bool separate(int products, const int modes[SP_HEX_PAIRS][2], const double *noise, double *G)
{
    for (int pass = 0; pass < 2; pass++)
        for (int p = 0; p < products; p++)
            for (int q = 0; q < products; q++) {
                if ((modes[p][0] ^ modes[p][1]) == (modes[q][0] ^ modes[q][1]))
                    continue;
                if (pass == 0 && fabs(G[p * products + q]) > sqrt(noise[p] * noise[q]))
                    return false;
                G[p * products + q] = pass ? 0 : G[p * products + q];
            }
    return true;
}

/* How far a pivot must stand above its noise. */
enum { ABOVE_NOISE = 8 };

/* Cholesky of a definite matrix in place; false, and the matrix spoiled, where a pivot is too small beside the unit diagonal to say so. */
static bool factor_definite(int products, const double *noise, double *G)
{
    for (int k = 0; k < products; k++) {
        double *row = G + k * products, pivot = row[k];
        if (!(pivot > fmax(1e-10, ABOVE_NOISE * noise[k])))
            return false;
        for (int c = 0; c < products; c++)
            row[c] = c < k ? 0 : row[c] / sqrt(pivot);
        for (int i = k + 1; i < products; i++)
            for (int c = i; c < products; c++)
                G[i * products + c] -= row[i] * row[c];
    }
    return true;
}

/* Pivoted Cholesky of one block: as many rows as its rank. A λ part has a rank below the number of products, and the fewer rows the better. The next pivot is that which stands
 * furthest above its noise: then what is left of the others has no more noise than they had. */
static int factor_block(sp_context *context, int products, int base, int size, const double *noise, const double *G, sp_row_factor *factor)
{
    double rest[SP_HEX_PAIRS * SP_HEX_PAIRS];
    bool taken[SP_HEX_PAIRS] = {false};
    for (int i = 0; i < size; i++)
        memcpy(rest + i * size, G + (base + i) * products + base, (size_t)size * sizeof *rest);
    for (int k = 0; k < size; k++) {
        double *row = factor->F + (base + k) * products + base, above = ABOVE_NOISE;
        int pivot = -1;
        for (int i = 0; i < size; i++) {
            if (!isfinite(rest[i * size + i]))
                return sp_fail(context, SP_NUMERICAL, "an element's energy cannot be factored");
            if (!taken[i] && rest[i * size + i] > above * noise[base + i]) {
                pivot = i;
                above = rest[i * size + i] / noise[base + i];
            }
        }
        if (pivot < 0)
            break;
        taken[pivot] = true;
        factor->rows |= 1u << (base + k);
        row[pivot] = sqrt(rest[pivot * size + pivot]);
        for (int c = 0; c < size; c++)
            if (!taken[c])
                row[c] = rest[pivot * size + c] / row[pivot];
        for (int i = 0; i < size; i++)
            for (int c = 0; c < size && !taken[i]; c++)
                rest[i * size + c] -= row[i] * row[c];
    }
    return SP_OK;
}

static int factor_gram(sp_context *context, int corners, double *noise, double *G, sp_row_factor *factor)
{
    int products = sp_pair_count(corners), modes[SP_HEX_PAIRS][2], status = SP_OK;
    double scale[SP_HEX_PAIRS];
    product_modes(corners, modes);
    for (int p = 0; p < products; p++) {
        scale[p] = sqrt(fmax(noise[p], G[p * products + p]));
        noise[p] = scale[p] > 0 ? noise[p] / (scale[p] * scale[p]) : 1;
    }
    /* a unit diagonal first: in flat elements the entries span the fourth power of the aspect */
    for (int p = 0; p < products; p++)
        for (int q = 0; q < products; q++)
            G[p * products + q] = scale[p] > 0 && scale[q] > 0 ? G[p * products + q] / (scale[p] * scale[q]) : 0;
    factor->separable = corners == 8 && separate(products, modes, noise, G);
    memcpy(factor->F, G, (size_t)(products * products) * sizeof *G);
    factor->triangular = factor_definite(products, noise, factor->F);
    factor->rows = factor->triangular ? (1u << products) - 1 : 0;
    if (!factor->triangular) {
        memset(factor->F, 0, sizeof factor->F);
        for (int base = 0, size; base < products && status == SP_OK; base += size) {
            size = !factor->separable ? products : base == 0 ? 7 : 3;
            status = factor_block(context, products, base, size, noise, G, factor);
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
    double X[24], C[36], G[SP_HEX_PAIRS * SP_HEX_PAIRS], transformed[SP_HEX_PAIRS * SP_HEX_PAIRS], noise[SP_HEX_PAIRS];
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
    transform_gram(corners, G, transformed, noise);
    status = factor_gram(context, corners, noise, transformed, factor);
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
    double largest = 0;
    for (int s = 1; s < corners; s++)
        for (int i = 0; i < 3; i++)
            largest = fmax(largest, fabs(factor->edges[s - 1][i]));
    factor->box = factor->separable && factor->triangular;
    for (int k = 4; k < 8 && factor->box; k++)
        for (int i = 0; i < 3; i++)
            factor->box &= fabs(factor->edges[axes_first[k] - 1][i]) <= 1e-14 * largest; /* rounding */
    return SP_OK;
}

/* ---- SP_LANES elements at a time ---- */


SP_INLINE sp_lanes dot(const sp_lanes *u, const sp_lanes *w)
{
    return u[0] * w[0] + u[1] * w[1] + u[2] * w[2];
}

/* The rows first … last of one block of F, products base … base + size. */
SP_INLINE double *block_rows(int products, int base, int size, int first, int last, bool triangular, uint32_t rows, const sp_lanes *F, const sp_lanes *P, double *S)
{
#pragma GCC unroll 28
    for (int k = first; k < last; k++) {
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

/* All columns of a group's rows. hat [1 + r, corners, 3], X first. */
SP_INLINE void group_rows(int corners, bool separable, bool triangular, bool box, uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, const sp_row_block *block)
{
    const int products = corners * (corners - 1) / 2, width = 3 * corners;
    double *S = block->rows, *paired = block->paired;
    for (int64_t i = 0; i <= r; i++) {
        sp_lanes u[24], P[SP_HEX_PAIRS];
        for (int k = 0; k < width; k++)
            u[k] = hat[i * width + k];
        for (int64_t j = i == 0 ? 1 : i; j <= r; j++, S += block->stride) {
            const sp_lanes *w = hat + j * width;
            int p = 0;
#pragma GCC unroll 8
            for (int g = 0; g < corners; g++)
#pragma GCC unroll 8
                for (int k = 1; k < corners; k++) {
                    const int s = corners == 8 && g == 0 ? axes_first[k] : k, t = corners == 8 ? s ^ g : s + g;
                    if (t >= corners || t == 0 || s > t)
                        continue;
                    P[p++] = s == t ? dot(u + 3 * s, w + 3 * s) : dot(u + 3 * s, w + 3 * t) + dot(u + 3 * t, w + 3 * s);
                }
            double *to = S;
            if (!separable) {
                block_rows(products, 0, products, 0, products, triangular, rows, F, P, to);
                continue;
            }
#pragma GCC unroll 8
            for (int g = 0, base = 0; g < 8; base += g == 0 ? 7 : 3, g++)
                to = block_rows(products, base, g == 0 ? 7 : 3, 0, box ? with_axis[g] : g == 0 ? 7 : 3, triangular, rows, F, P, to);
            if (!box || i == 0)
                continue;
            to = paired;
#pragma GCC unroll 8
            for (int g = 0, base = 0; g < 8; base += g == 0 ? 7 : 3, g++)
                to = block_rows(products, base, g == 0 ? 7 : 3, with_axis[g], g == 0 ? 7 : 3, triangular, rows, F, P, to);
            paired += block->stride;
        }
    }
}

SP_CLONES static void box_rows(const sp_lanes *F, int64_t r, const sp_lanes *hat, const sp_row_block *block)
{
    group_rows(8, true, true, true, ~0u, F, r, hat, block);
}

SP_CLONES static void voxel_rows(const sp_lanes *F, int64_t r, const sp_lanes *hat, const sp_row_block *block)
{
    group_rows(8, true, true, false, ~0u, F, r, hat, block);
}

SP_CLONES static void voxel_rows_of_rank(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, const sp_row_block *block)
{
    group_rows(8, true, false, false, rows, F, r, hat, block);
}

SP_CLONES static void hex_rows(const sp_lanes *F, int64_t r, const sp_lanes *hat, const sp_row_block *block)
{
    group_rows(8, false, true, false, ~0u, F, r, hat, block);
}

SP_CLONES static void hex_rows_of_rank(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, const sp_row_block *block)
{
    group_rows(8, false, false, false, rows, F, r, hat, block);
}

SP_CLONES static void tet_rows(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat, const sp_row_block *block)
{
    group_rows(4, false, false, false, rows, F, r, hat, block);
}

void sp_row_group_rows(const sp_row_group *g, int64_t r, const sp_lanes *hat, const sp_row_block *block)
{
    if (g->corners == 4)
        tet_rows(g->rows, g->F, r, hat, block);
    else if (g->triangular)
        (g->box ? box_rows : g->separable ? voxel_rows : hex_rows)(g->F, r, hat, block);
    else
        (g->separable ? voxel_rows_of_rank : hex_rows_of_rank)(g->rows, g->F, r, hat, block);
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

/* hat behind X: uⁱ at the corners, by eight modes of eight elements at a time. Lanes from `count` on are 0. */
SP_CLONES static void load_modes(int corners, int count, const int64_t *const corner[SP_LANES], int64_t r, const double *W, sp_lanes *hat)
{
    for (int k = 0; k < corners; k++)
        for (int c = 0; c < 3; c++)
            for (int64_t i = 0; i < r; i += SP_LANES) {
                sp_lanes part[SP_LANES];
                for (int l = 0; l < SP_LANES; l++) {
                    part[l] = (sp_lanes){0};
                    if (l < count) /* past the end of a row stands the next one, or padding */
                        memcpy(&part[l], W + (3 * corner[l][corners == 8 ? corner_by_signs[k] : k] + c) * r + i, sizeof part[l]);
                }
                sp_lanes_transpose(part);
                for (int64_t n = 0; n < SP_LANES && i + n < r; n++)
                    hat[((1 + i + n) * corners + k) * 3 + c] = part[n];
            }
}

void sp_row_group_load(const sp_mesh *mesh, const sp_row_group *g, const sp_row_factor *const factors[SP_LANES], int64_t r, const double *W, sp_lanes *hat)
{
    const int64_t *corner[SP_LANES];
    int unused;
    memset(hat, 0, (size_t)(3 * g->corners) * sizeof *hat);
    for (int l = 0; l < g->count; l++) {
        corner[l] = sp_mesh_corners(mesh, g->element[l], &unused);
        for (int k = 1; k < g->corners; k++)
            for (int c = 0; c < 3; c++)
                hat[3 * k + c][l] = factors[l]->edges[k - 1][c];
    }
    load_modes(g->corners, g->count, corner, r, W, hat);
    transform_hats(g->corners, r, hat);
}
