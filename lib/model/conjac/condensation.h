/* The linear algebra of ConJac (model/conjac/conjac.h): the free components of a body in two kinds, dynamic (d) and
 * quasistatic (s), K with the factor of K_ss, and products with the rows of d. Everything but the factor depends on the
 * body and the choice alone and is made once. */
#ifndef SP_MODEL_CONJAC_CONDENSATION_H
#define SP_MODEL_CONJAC_CONDENSATION_H

#include "assembly/fe_space.h"
#include "linear/condense.h"

typedef struct sp_conjac_condensation {
    sp_pool pool;
    sp_context *context;
    const sp_fe_space *body;
    int64_t added;        /* vertices that are dynamic beside those that were asked for */
    int64_t d, s;         /* components of each kind, d + s = dof_count */
    int64_t *dynamic;     /* [d] their free degrees of freedom, increasing */
    int64_t *quasistatic; /* [s] */
    int64_t *place;       /* [dof_count] among the quasistatic ones; −1 − the place among the dynamic ones */
    int64_t *own; /* [dof_count] first entry of the body's pattern in this row that belongs to the row's vertex … */
    int *width;   /* [dof_count] … and how many do: the vertex's free components */
    sp_sparse K;  /* over the body's pattern, supports included */
    sp_condense *factor; /* NULL where s = 0 */
    bool factored;       /* the factor is that of K as it is */
} sp_conjac_condensation;

/* The body must have its pattern and outlive the map. SP_USAGE for vertices out of range, held in all components or
 * named twice; SP_INPUT, by name, for a piece of the body without a dynamic or held component. A piece that could still
 * turn or slide about these gets further dynamic vertices (model/floating.h). */
int sp_conjac_condensation_new(sp_context *context, const sp_fe_space *body, int64_t count, const int64_t *vertex,
                               sp_conjac_condensation *map) SP_MUST_USE;
void sp_conjac_condensation_free(sp_conjac_condensation *map);

/* Copies K, over the body's pattern; `more` over the same pattern, nonzero only within vertices, is added (NULL:
 * nothing). */
void sp_conjac_condensation_fill(sp_conjac_condensation *map, const sp_sparse *K, const sp_sparse *more);

/* Factors K_ss unless K is that of the last factor. SP_NUMERICAL where it is not positive definite. True in `anew`
 * where it had to. */
int sp_conjac_condensation_factor(sp_conjac_condensation *map, bool *anew) SP_MUST_USE;

/* mapping: J_s = −K_ss⁻¹ K_sd into the first d columns of Z [s, d + count]; K_ss⁻¹ times themselves into the others,
 * which are all `count` columns without. */
int sp_conjac_condensation_solve(sp_conjac_condensation *map, bool mapping, int64_t count, double *Z) SP_MUST_USE;

/* A_ss of a matrix over the body's pattern, without its zeros; the caller frees it. */
int sp_conjac_condensation_part(const sp_conjac_condensation *map, const sp_sparse *A, sp_sparse *part) SP_MUST_USE;

/* B [s, d] += A_sd of a symmetric A over the body's pattern. */
void sp_conjac_condensation_columns(const sp_conjac_condensation *map, const sp_sparse *A, double *B);

/* Y [d, count] = A_ds Z for Z [s, count], A over the body's pattern, with A_dd added to its first d columns, which
 * belong to the dynamic components as those of J do. */
void sp_conjac_condensation_rows(const sp_conjac_condensation *map, const sp_sparse *A, int64_t count, const double *Z,
                                 double *Y);

/* x [dof_count] into its two kinds (NULL: not wanted), and back. */
void sp_conjac_condensation_split(const sp_conjac_condensation *map, const double *x, double *x_d, double *x_s);
void sp_conjac_condensation_join(const sp_conjac_condensation *map, const double *x_d, const double *x_s, double *x);

#endif
