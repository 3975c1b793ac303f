#include "reduced/rows.h"

#include "base/twofold.h"
#include "base/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* û_s with the three axes first. In a box only these have a nonzero X̂_s. */
static const int axes_first[8] = {0, 1, 2, 4, 3, 5, 6, 7};

/* The vectors of each product: number p is û_s·ŵ_t + û_t·ŵ_s (s < t) or û_s·ŵ_s. For the 7 alternating sums they are
 * sorted by s xor t, with products that have an axis first. For the 3 columns of a displacement gradient the order is
 * arbitrary. */
static void product_vectors(int vectors, int products[SP_HEX_PAIRS][2])
{
    int p = 0;
    for (int g = 0; g <= vectors; g++)
        for (int k = 1; k <= vectors; k++) {
            int s = vectors == 7 && g == 0 ? axes_first[k] : k, t = vectors == 7 ? s ^ g : s + g;
            if (t <= vectors && t != 0 && s <= t) {
                products[p][0] = s;
                products[p++][1] = t;
            }
        }
}

/* Number of products with this s xor t in which s or t is an axis. */
static const int with_axis[8] = {3, 2, 2, 2, 2, 2, 2, 3};

/* Corner of a hexahedron (VTK order) by the signs of its axes, x in bit 0. */
static const int corner_by_signs[8] = {0, 1, 3, 2, 4, 5, 7, 6};

/* σ_s(a): +1 if an even number of the signs in s are negative. */
static int alternating_sign(int s, int signs)
{
    return __builtin_parity((unsigned)(s & ~signs)) ? -1 : 1;
}

/* g_s = ∇h_s / 8 at one point, with h_s the product of the reference coordinates in s; size [8] receives the sum of the
 * magnitudes of its terms. */
static void sum_gradients(const double axis[3][3], const double place[3], double g[8][3], double *size)
{
    memset(g, 0, 24 * sizeof(double));
    for (int s = 1; s < 8; s++) {
        size[s] = 0;
        for (int j = 0; j < 3; j++) {
            double factor = 1.0 / 8;
            for (int k = 0; k < 3; k++)
                factor *= k != j && s >> k & 1 ? place[k] : 1;

            if (!(s >> j & 1))
                continue;

            for (int i = 0; i < 3; i++)
                g[s][i] += factor * axis[j][i];
            size[s] += fabs(factor) * sp_norm3(axis[j]);
        }
    }
}

/* X̂_s of an element: exact sums, rounded once, so that nothing cancels in flat elements or far from the origin. */
static void reference_sums(const sp_mesh *mesh, int64_t element, double X[7][3])
{
    int nodes;
    const int64_t *corner = sp_mesh_nodes(mesh, element, &nodes);

    for (int s = 1; s < 8; s++)
        for (int i = 0; i < 3; i++) {
            sp_twofold sum = {0, 0};
            for (int k = 0; k < 8; k++)
                sum = sp_twofold_add(
                    sum, (sp_twofold){alternating_sign(s, k) * mesh->vertices[3 * corner[corner_by_signs[k]] + i], 0});
            X[s - 1][i] = sum.high;
        }
}

/* The quadrature of an 8-node hexahedron, its corners and its X̂_s. */
static void hexahedron(const sp_fe_space *space, int64_t element, sp_quadrature *quadrature,
                       double corner[SP_ELEMENT_NODES][3], double sums[7][3])
{
    const int type = sp_mesh_element_places(space->mesh, element, corner);

    sp_element_quadrature(&space->references[2 * type], corner[0], quadrature);
    reference_sums(space->mesh, element, sums);
}

/* The linear strain at a point is Σ sym(g_s g_tᵀ) X̂_s·û_t instead of Σ sym(g_t û_tᵀ). This multiplies rounding errors
 * by Σ_s |g_s||X̂_s|, which is 3 in a box of any proportions and large if a flat element is oblique to its own axes. */
bool sp_row_by_points(const sp_fe_space *space, int64_t number)
{
    const double most = 8;
    const sp_element_class *class = &space->classes[number];
    sp_quadrature quadrature;
    double corner[SP_ELEMENT_NODES][3], X[7][3], g[8][3], size[8];

    /* An assumed strain is not that of a point alone. */
    if (class->gram || class->type != SP_HEX8)
        return !class->gram && !sp_element_assumed(class->type);

    hexahedron(space, class->element, &quadrature, corner, X);

    for (int point = 0; point < quadrature.count; point++) {
        double sum = 0;

        sum_gradients(quadrature.axis[point], quadrature.place[point], g, size);
        for (int s = 1; s < 8; s++)
            sum += size[s] * sp_norm3(X[s - 1]);

        if (sum > most)
            return true;
    }
    return false;
}

/* G over the products of alternating sums. noise [products] receives a bound on the rounding error of each diagonal
 * entry of G; that of an off-diagonal entry is at most the geometric mean of the two. */
static int gram_of_sums(sp_context *context, int type, const double *X, const sp_quadrature *quadrature,
                        const double C[36], double *G, double *noise)
{
    double g[SP_QUADRATURE_MAX][8][3], size[8], largest = 0;
    int products[SP_HEX_PAIRS][2];

    product_vectors(7, products);
    for (int i = 0; i < 36; i++)
        largest = fmax(largest, fabs(C[i]));
    memset(noise, 0, SP_HEX_PAIRS * sizeof *noise);

    /* noise of G_pp = w (g_s ⊗ g_t):C:(g_s ⊗ g_t): some ε of the magnitudes of its terms */
    for (int point = 0; point < quadrature->count; point++) {
        sum_gradients(quadrature->axis[point], quadrature->place[point], g[point], size);
        for (int p = 0; p < SP_HEX_PAIRS; p++)
            noise[p] += 32 * DBL_EPSILON * quadrature->weight[point] * largest *
                        pow(size[products[p][0]] * size[products[p][1]], 2);
    }

    if (sp_element_assumed(type)) {
        const int status =
            sp_element_assumed_gram(context, type, X, quadrature, (const int(*)[2])products, 8, g[0][0], C, G);
        /* the error of Σ w Ē:C:Ē is that of Ē, whose terms have the size of E, times Ē */
        for (int p = 0; p < SP_HEX_PAIRS; p++)
            noise[p] = sqrt(32 * DBL_EPSILON * noise[p] * fmax(0, G[p * (SP_HEX_PAIRS + 1)]));
        return status;
    }

    sp_element_product_gram(SP_HEX_PAIRS, products, quadrature->count, quadrature->weight, 8, g[0][0], C, G);
    return SP_OK;
}

/* The same for the strain at a point with unit weight; the sums of sp_material_stiffness have few terms. */
static void gram_of_strain(const double C[36], double *G, double *noise)
{
    static const int voigt[6] = {0, 1, 2, 5, 3, 4}; /* xx, yy, zz, xy, yz, zx, in the order of product_vectors */
    for (int p = 0; p < 6; p++) {
        for (int q = 0; q < 6; q++)
            G[6 * p + q] = C[6 * voigt[p] + voigt[q]];
        noise[p] = 32 * DBL_EPSILON * fabs(G[7 * p]);
    }
}

/* Returns true if products of different blocks are uncoupled up to rounding, and sets the remaining couplings to 0.
 * noise: of the diagonal, relative to it. */
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

/* The least ratio of a pivot to its noise. */
enum { ABOVE_NOISE = 8 };

/* Cholesky factorization of a definite matrix in place. Returns false, with G overwritten, if a pivot is too small
 * compared to the unit diagonal. */
static bool factor_definite(int products, const double *noise, double *G)
{
    for (int k = 0; k < products; k++) {
        double *row = G + k * products, pivot = row[k];

        if (!(pivot > fmax(1e-10, ABOVE_NOISE * noise[k])))
            return false;

        for (int c = 0; c < products; c++)
            row[c] = c < k ? 0 : row[c] / sqrt(pivot);

        /* The Schur complement G_ic − F_ki F_kc */
        for (int i = k + 1; i < products; i++)
            for (int c = i; c < products; c++)
                G[i * products + c] -= row[i] * row[c];
    }
    return true;
}

/* Pivoted Cholesky factorization of one block, with as many rows as its rank. A λ part has a rank below the number of
 * products, and fewer rows cost less. The next pivot is the one with the largest ratio to its noise, so that the
 * remainder of the other rows has no more noise than they had. */
static int factor_block(sp_context *context, int products, int base, int size, const double *noise, const double *G,
                        sp_row_factor *factor)
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

        /* The Schur complement of the rows that are left */
        for (int i = 0; i < size; i++) {
            if (taken[i])
                continue;
            for (int c = 0; c < size; c++)
                rest[i * size + c] -= row[i] * row[c];
        }
    }
    return SP_OK;
}

static int factor_gram(sp_context *context, int vectors, double *noise, double *G, sp_row_factor *factor)
{
    int products = vectors * (vectors + 1) / 2, modes[SP_HEX_PAIRS][2], status = SP_OK;
    double scale[SP_HEX_PAIRS];

    product_vectors(vectors, modes);
    for (int p = 0; p < products; p++) {
        scale[p] = sqrt(fmax(noise[p], G[p * products + p]));
        noise[p] = scale[p] > 0 ? noise[p] / (scale[p] * scale[p]) : 1;
    }

    /* Scale to a unit diagonal first: in flat elements the entries range over the fourth power of the aspect ratio. */
    for (int p = 0; p < products; p++)
        for (int q = 0; q < products; q++)
            G[p * products + q] = scale[p] > 0 && scale[q] > 0 ? G[p * products + q] / (scale[p] * scale[q]) : 0;

    factor->separable = vectors == 7 && separate(products, modes, noise, G);

    /* A definite matrix needs no pivots, and its kernels neither look for zero rows nor multiply zeros below the
     * diagonal. */
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

    /* F D for G = D (FᵀF) D */
    for (int k = 0; k < products; k++)
        for (int c = 0; c < products; c++)
            factor->F[k * products + c] *= scale[c];
    return status;
}

/* C of one part in an element: the material's, or that for λ = 1 or μ = 1 times the element's factor, so that an edited
 * constant keeps its spatial distribution. */
static int part_stiffness(sp_context *context, const sp_mesh *mesh, int64_t element, enum sp_constant constant,
                          double C[36])
{
    sp_material scaled;

    if (constant == SP_CONSTANT_ALL)
        return sp_material_stiffness(context, sp_mesh_material(mesh, element, &scaled), C);

    /* λ tr(E) I + 2μ E in Voigt notation, with engineering shear strains */
    double factor = mesh->factor ? mesh->factor[2 * element + (constant == SP_CONSTANT_MU)] : 1;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            const double lambda = i < 3 && j < 3, mu = i != j ? 0 : i < 3 ? 2 : 1;
            C[6 * i + j] = factor * (constant == SP_CONSTANT_LAMBDA ? lambda : mu);
        }
    return SP_OK;
}

int sp_row_factor_new(sp_context *context, const sp_fe_space *space, int64_t number, enum sp_constant constant,
                      sp_row_factor *factor)
{
    const sp_element_class *class = &space->classes[number];
    double C[36], G[SP_HEX_PAIRS * SP_HEX_PAIRS], noise[SP_HEX_PAIRS], corner[SP_ELEMENT_NODES][3], largest = 0;

    if (class->type == SP_HEX8I && constant != SP_CONSTANT_ALL)
        return sp_fail(context, SP_INPUT,
                       "elements of type %s (%s) have an energy that is not linear in the Lamé constants",
                       sp_element_types[SP_HEX8I].name, sp_element_types[SP_HEX8I].title);

    int status = part_stiffness(context, space->mesh, class->element, constant, C);
    if (status != SP_OK)
        return status;

    factor->box = false;
    if (sp_row_by_points(space, number)) {
        gram_of_strain(C, G, noise);
        return factor_gram(context, 3, noise, G, factor);
    }

    sp_quadrature quadrature;
    hexahedron(space, class->element, &quadrature, corner, factor->X);
    status = gram_of_sums(context, class->type, corner[0], &quadrature, C, G, noise);
    if (status == SP_OK)
        status = factor_gram(context, 7, noise, G, factor);

    if (status != SP_OK)
        return status;

    for (int s = 0; s < 7; s++)
        for (int i = 0; i < 3; i++)
            largest = fmax(largest, fabs(factor->X[s][i]));

    factor->box = factor->separable && factor->triangular;
    for (int k = 4; k < 8 && factor->box; k++)
        for (int i = 0; i < 3; i++)
            factor->box &= fabs(factor->X[axes_first[k] - 1][i]) <= 1e-14 * largest; /* up to rounding */
    return SP_OK;
}

/* ---- SP_LANES elements at a time ---- */

SP_INLINE sp_lanes dot(const sp_lanes *u, const sp_lanes *w)
{
    return u[0] * w[0] + u[1] * w[1] + u[2] * w[2];
}

/* The rows first … last of one block of F, for the products base … base + size. */
SP_INLINE double *block_rows(int products, int base, int size, int first, int last, bool triangular, uint32_t rows,
                             const sp_lanes *F, const sp_lanes *P, double *S)
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

/* Computes all columns of a group's rows. hat [1 + r, corners, 3], X first. */
SP_INLINE void group_rows(int corners, bool separable, bool triangular, bool box, uint32_t rows, const sp_lanes *F,
                          int64_t r, const sp_lanes *hat, const sp_row_block *block)
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

            /* The rows of F come block by block, and each is a product with its block of P only. */
            double *to = S;
            if (!separable) {
                block_rows(products, 0, products, 0, products, triangular, rows, F, P, to);
                continue;
            }
#pragma GCC unroll 8
            for (int g = 0, base = 0; g < 8; base += g == 0 ? 7 : 3, g++)
                to = block_rows(products, base, g == 0 ? 7 : 3, 0,
                                box      ? with_axis[g]
                                : g == 0 ? 7
                                         : 3,
                                triangular, rows, F, P, to);

            /* The other rows of a box have no axis in their products and are 0 in products with X. */
            if (!box || i == 0)
                continue;
            to = paired;
#pragma GCC unroll 8
            for (int g = 0, base = 0; g < 8; base += g == 0 ? 7 : 3, g++)
                to = block_rows(products, base, g == 0 ? 7 : 3, with_axis[g], g == 0 ? 7 : 3, triangular, rows, F, P,
                                to);

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

SP_CLONES static void voxel_rows_of_rank(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat,
                                         const sp_row_block *block)
{
    group_rows(8, true, false, false, rows, F, r, hat, block);
}

SP_CLONES static void hex_rows(const sp_lanes *F, int64_t r, const sp_lanes *hat, const sp_row_block *block)
{
    group_rows(8, false, true, false, ~0u, F, r, hat, block);
}

SP_CLONES static void hex_rows_of_rank(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat,
                                       const sp_row_block *block)
{
    group_rows(8, false, false, false, rows, F, r, hat, block);
}

SP_CLONES static void strain_rows(uint32_t rows, const sp_lanes *F, int64_t r, const sp_lanes *hat,
                                  const sp_row_block *block)
{
    group_rows(4, false, false, false, rows, F, r, hat, block);
}

void sp_row_group_rows(const sp_row_group *g, int64_t r, const sp_lanes *hat, const sp_row_block *block)
{
    if (g->points > 0)
        strain_rows(g->rows, g->F, r, hat, block);
    else if (g->triangular)
        (g->box ? box_rows : g->separable ? voxel_rows : hex_rows)(g->factor, r, hat, block);
    else
        (g->separable ? voxel_rows_of_rank : hex_rows_of_rank)(g->rows, g->factor, r, hat, block);
}

/* Transforms uⁱ at the corners [1 + r, 8, 3] to û_s, for all modes behind X, by a Walsh–Hadamard transform. */
SP_CLONES static void transform_sums(int64_t r, sp_lanes *hat)
{
    for (int64_t i = 1; i <= r; i++) {
        sp_lanes *x = hat + i * 24;
        for (int bit = 1; bit < 8; bit <<= 1)
            for (int b = 0; b < 8; b++) {
                if (b & bit)
                    continue;
                for (int c = 0; c < 3; c++) {
                    sp_lanes low = x[3 * b + c], high = x[3 * (b | bit) + c];
                    x[3 * b + c] = high + low;
                    x[3 * (b | bit) + c] = high - low;
                }
            }
    }
}

/* ∂uⁱ/∂X_s [1 + r, 4, 3] of uⁱ at the nodes [1 + r, nodes, 3], for all modes behind X. */
SP_INLINE void gradients(int nodes, int64_t r, sp_lanes gradient[][3], const sp_lanes *hat, sp_lanes *to)
{
    for (int64_t i = 1; i <= r; i++) {
        const sp_lanes *u = hat + i * 3 * nodes;
        sp_lanes H[9];

        /* Since Σ_a ∇N_a = 0, differences to the first node give the same gradient, and exactly 0 for a translation. */
        for (int s = 0; s < 3; s++)
            for (int c = 0; c < 3; c++)
                H[3 * s + c] = gradient[1][s] * (u[3 + c] - u[c]);

        for (int a = 2; a < nodes; a++)
            for (int c = 0; c < 3; c++) {
                const sp_lanes difference = u[3 * a + c] - u[c];
                for (int s = 0; s < 3; s++)
                    H[3 * s + c] += gradient[a][s] * difference;
            }

        for (int k = 0; k < 9; k++)
            to[i * 12 + 3 + k] = H[k];
    }
}

SP_CLONES static void transform_gradients(int nodes, int64_t r, sp_lanes gradient[][3], const sp_lanes *hat,
                                          sp_lanes *to)
{
    if (nodes == 8)
        gradients(8, r, gradient, hat, to);
    else if (nodes == 4)
        gradients(4, r, gradient, hat, to);
    else if (nodes == 10)
        gradients(10, r, gradient, hat, to);
    else
        gradients(nodes, r, gradient, hat, to);
}

/* Loads uⁱ at the nodes behind X in hat, eight modes of eight elements at a time. Lanes from `count` on are set to 0.
 * by_signs: the corners of hexahedra in the order of their signs. */
SP_CLONES static void load_modes(int corners, bool by_signs, int count, const int64_t *const corner[SP_LANES],
                                 int64_t r, const double *W, sp_lanes *hat)
{
    for (int k = 0; k < corners; k++)
        for (int c = 0; c < 3; c++)
            for (int64_t i = 0; i < r; i += SP_LANES) {
                sp_lanes part[SP_LANES];

                /* The end of a row is followed by the next row, or by padding: a vector is always there to read. */
                for (int l = 0; l < SP_LANES; l++) {
                    part[l] = (sp_lanes){0};
                    if (l < count)
                        memcpy(&part[l], W + (3 * corner[l][by_signs ? corner_by_signs[k] : k] + c) * r + i,
                               sizeof part[l]);
                }

                /* From eight modes of one element in a vector to one mode of eight elements. */
                sp_lanes_transpose(part);
                for (int64_t n = 0; n < SP_LANES && i + n < r; n++)
                    hat[((1 + i + n) * corners + k) * 3 + c] = part[n];
            }
}

void sp_row_group_factor(sp_row_group *g, const sp_row_factor *factor, int lane)
{
    const int products = g->points > 0 ? 6 : SP_HEX_PAIRS;
    for (int k = 0; k < products * products; k++)
        g->factor[k][lane] = factor->F[k];
}

void sp_row_group_load(const sp_fe_space *space, sp_row_group *g, const sp_row_factor *const factors[SP_LANES],
                       int64_t r, const double *W, sp_lanes *hat)
{
    const int nodes = sp_element_types[g->type].nodes;
    const int64_t *node[SP_LANES];
    int unused;

    for (int l = 0; l < g->count; l++)
        node[l] = sp_mesh_nodes(space->mesh, g->element[l], &unused);
    load_modes(nodes, g->points == 0, g->count, node, r, W, hat);

    memset(hat, 0, (size_t)(3 * nodes) * sizeof *hat);

    if (g->points > 0) {
        int64_t class[SP_LANES]; /* unused lanes repeat the first element */
        for (int l = 0; l < SP_LANES; l++)
            class[l] = g->class[l < g->count ? l : 0];
        sp_lane_gradients_load(space, class, &g->geometry);
        return;
    }

    transform_sums(r, hat);

    for (int l = 0; l < g->count; l++)
        for (int s = 0; s < 7; s++)
            for (int c = 0; c < 3; c++)
                hat[3 * (1 + s) + c][l] = factors[l]->X[s][c];
}

/* F = √weight factor. */
SP_CLONES static void scale_factor(const sp_lanes *factor, const sp_lanes *root, sp_lanes *F)
{
    for (int k = 0; k < 36; k++)
        F[k] = *root * factor[k];
}

void sp_row_group_point(sp_row_group *g, int point, int64_t r, const sp_lanes *hat, sp_lanes *to)
{
    sp_lanes gradient[SP_ELEMENT_NODES][3], root;
    sp_lane_gradients_at(&g->geometry, point, gradient, &root);

    /* Energies are multiplied by the weight, and so their factor by its root. */
    for (int l = 0; l < SP_LANES; l++)
        root[l] = sqrt(root[l]);
    scale_factor(g->factor, &root, g->F);

    transform_gradients(sp_element_types[g->type].nodes, r, gradient, hat, to);

    /* û_s of X itself is the unit vector s. */
    memset(to, 0, 12 * sizeof *to);
    for (int s = 0; s < 3; s++)
        to[3 + 4 * s] = (sp_lanes){0} + 1;
}
