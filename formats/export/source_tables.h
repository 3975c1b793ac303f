/* The coefficients of a reduced-order model in the order in which model.c (formats/export/source) reads them. The file
 * that simexport writes has them as text, and the web page as bytes for the kernel (formats/export/page/kernel.js).
 *
 * With r coordinates there are p = r (r + 1) / 2 pairs k ≤ l, l fastest; the pair (k, k) has the number
 * d(k) = k r - k (k - 1) / 2. up(x) and down(x) are x rounded to a multiple of 4.
 *
 *     s = up(p)                 the stride of a row of pairs: s - p zeros, then the p pairs
 *     f(k) = down(s - p + d(k)) where the part of a row begins whose pairs have k ≤ both members; before its first pair
 *                               stand zeros
 *     n(k) = s - f(k)           the length of that part
 *
 * | table     | length           | values                                                                            |
 * |-----------|------------------|-----------------------------------------------------------------------------------|
 * | quadratic | s + 4            | one row: K0_kl, and 4 zeros at its end                                            |
 * | cubic     | Σ_i n(i)         | for each i the part with b_ikl, i ≤ k ≤ l                                         |
 * | quartic   | Σ_j (j + 1) n(j) | for each j, and for each i ≤ j, i fastest, the part with c_ijkl, j ≤ k ≤ l        |
 * | mass      | r up(r)          | the mass matrix, row by row, each with zeros at its end                           |
 * | gravity   | 3 r              | for each coordinate its forces under accelerations of 1 m/s² along x, y and z     |
 *
 * b and c are the coefficients of the energy, each monomial once. */
#ifndef SP_FORMATS_EXPORT_SOURCE_TABLES_H
#define SP_FORMATS_EXPORT_SOURCE_TABLES_H

#include "reduced/cubic.h"

typedef struct sp_c_source_table {
    int64_t count;
    double *values;
} sp_c_source_table;

typedef struct sp_c_source_tables {
    sp_pool pool;
    int64_t r;
    sp_c_source_table quadratic, cubic, quartic, mass, gravity;
} sp_c_source_tables;

/* Allocates and computes the tables. The values of mass and gravity contain the density. */
int sp_c_source_tables_new(sp_context *context, const sp_polynomials *polynomials,
                           sp_c_source_tables *tables) SP_MUST_USE;
void sp_c_source_tables_free(sp_c_source_tables *tables);

#endif
