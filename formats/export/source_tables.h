/* The numbers of a reduced-order model in the order in which the C source (formats/export/source) reads them. The file
 * that simexport writes has them as text, and the web page as bytes for the kernel (formats/export/page/kernel.js).
 *
 * Of every model:
 *
 * | table       | length           | values                                                                           |
 * |-------------|------------------|----------------------------------------------------------------------------------|
 * | mass_matrix | r up(r)          | the mass matrix, row by row, each with zeros at its end                          |
 * | gravity     | 3 r              | for each coordinate its forces under accelerations of 1 m/s² along x, y and z    |
 *
 * Of polynomials: with r coordinates there are p = r (r + 1) / 2 pairs k ≤ l, l fastest; the pair (k, k) has the number
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
 *
 * b and c are the coefficients of the energy, each monomial once.
 *
 * Of a cubature the tables kinds, constants, shapes, geometry, elements, weights, rows and correction, which
 * formats/export/source/model_laws.c describes. Elements of equal shape and material share one shape, which is all
 * voxels of a region. */
#ifndef SP_FORMATS_EXPORT_SOURCE_TABLES_H
#define SP_FORMATS_EXPORT_SOURCE_TABLES_H

#include "cubature/cubature.h"
#include "reduced/cubic.h"

enum { SP_C_SOURCE_TABLES = 10 };

typedef struct sp_c_source_table {
    const char *name; /* without "model_" */
    int64_t count;
    double *values;
    int32_t *numbers; /* integers instead of values */
} sp_c_source_table;

typedef struct sp_c_source_tables {
    sp_pool pool;
    int64_t r;
    bool cubic;            /* the force is a cubic polynomial of q */
    int64_t element_count; /* of a cubature; 0: polynomials */
    int64_t element_rows;  /* largest number of displacements of an element, with the zeros of model_laws.c */
    int parts;             /* MODEL_PARTS of model_laws.c */
    int count;
    sp_c_source_table table[SP_C_SOURCE_TABLES];
} sp_c_source_tables;

/* Allocates and computes the tables of polynomials. The values of mass and gravity contain the density. */
int sp_c_source_tables_new(sp_context *context, const sp_polynomials *polynomials,
                           sp_c_source_tables *tables) SP_MUST_USE;

/* The same of a cubature, for U [3·vertices, ≥ r, column major]. SP_INPUT for weights by coordinate: their stiffness is
 * not symmetric, and the source solves symmetric equations. */
int sp_c_source_tables_cubature(sp_context *context, const sp_fe_space *body, const sp_cubature *cubature,
                                const double *U, sp_c_source_tables *tables) SP_MUST_USE;
void sp_c_source_tables_free(sp_c_source_tables *tables);

#endif
