/* Static condensation for ConJac (model/conjac/conjac.h): the free components of a body are split into dynamic (d) and
 * quasistatic (s) ones. The structure has K with the factor of K_ss, and products with the rows of d. All but K and the
 * factor depend only on the body and the choice of dynamic vertices, and is computed once. */
#ifndef SP_MODEL_CONJAC_CONDENSATION_H
#define SP_MODEL_CONJAC_CONDENSATION_H

#include "assembly/fe_space.h"
#include "linear/condense.h"

typedef struct sp_conjac_condensation {
    sp_pool pool;
    sp_context *context;
    const sp_fe_space *body;
    int64_t added;        /* number of dynamic vertices beyond the requested ones */
    int64_t d, s;         /* components of each kind, d + s = dof_count */
    int64_t *dynamic;     /* [d] their free degrees of freedom, increasing */
    int64_t *quasistatic; /* [s] likewise */
    int64_t *place; /* [dof_count] index among the quasistatic components; −1 − index among the dynamic ones */
    int64_t *own; /* [dof_count] first entry in this row of the body's pattern that belongs to the row's own vertex … */
    int *width;   /* … and the number of these: the vertex's free components */
    sp_sparse K;         /* over the body's pattern, springs and floor planes included */
    sp_condense *factor; /* NULL if s = 0 */
    bool factored;       /* the factor is that of the current K */
} sp_conjac_condensation;

/* The body must have its pattern and outlive the result. SP_USAGE for vertices that are out of range, fixed in all
 * components or named twice; SP_INPUT, with the name of a vertex, for a piece of the body without a dynamic or fixed
 * component. A piece that can still rotate or slide about these gets further dynamic vertices (model/floating.h). */
int sp_conjac_condensation_new(sp_context *context, const sp_fe_space *body, int64_t count, const int64_t *vertex,
                               sp_conjac_condensation *map) SP_MUST_USE;
void sp_conjac_condensation_free(sp_conjac_condensation *map);

/* Copies K, over the body's pattern, and adds `more` over the same pattern, which is nonzero only within vertices
 * (NULL: nothing). */
void sp_conjac_condensation_fill(sp_conjac_condensation *map, const sp_sparse *K, const sp_sparse *more);

/* Factors K_ss, unless K has not changed since the last factor. SP_NUMERICAL if it is not positive definite. `anew`
 * receives true if it was factored. */
int sp_conjac_condensation_factor(sp_conjac_condensation *map, bool *anew) SP_MUST_USE;

/* mapping: writes J_s = −K_ss⁻¹ K_sd into the first d columns of Z [s, d + count] and replaces the other columns by
 * K_ss⁻¹ times them. Without `mapping` Z has these `count` columns only. */
int sp_conjac_condensation_solve(sp_conjac_condensation *map, bool mapping, int64_t count, double *Z) SP_MUST_USE;

/* Copies A_ss of a matrix over the body's pattern, without its zeros; the caller frees it. */
int sp_conjac_condensation_part(const sp_conjac_condensation *map, const sp_sparse *A, sp_sparse *part) SP_MUST_USE;

/* B [s, d] += A_sd of a symmetric A over the body's pattern. */
void sp_conjac_condensation_columns(const sp_conjac_condensation *map, const sp_sparse *A, double *B);

/* Y [d, count] = A_ds Z for Z [s, count], with A over the body's pattern. A_dd is added to the first d columns, which
 * belong to the dynamic components like those of J. */
void sp_conjac_condensation_rows(const sp_conjac_condensation *map, const sp_sparse *A, int64_t count, const double *Z,
                                 double *Y);

/* Splits x [dof_count] into dynamic and quasistatic components (NULL: not wanted), and joins them. */
void sp_conjac_condensation_split(const sp_conjac_condensation *map, const double *x, double *x_d, double *x_s);
void sp_conjac_condensation_join(const sp_conjac_condensation *map, const double *x_d, const double *x_s, double *x);

#endif
