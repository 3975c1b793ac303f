/* Shared by the files nnls*.c only. */
#ifndef SP_LINEAR_NNLS_INTERNAL_H
#define SP_LINEAR_NNLS_INTERNAL_H

#include "base/lanes.h"
#include "base/memory.h"
#include "linear/dense.h"
#include "linear/nnls.h"

#include <cblas.h>

enum {
    SP_NNLS_FEW = 16, /* number of active columns up to which calling BLAS for their factor costs more than the work */
    SP_NNLS_SHORT = 128, /* vector length up to which that holds for sums */
    SP_NNLS_LOCAL =
        1 << 14, /* bytes on the stack for small problems, for which allocation would cost more than the solution */
};

enum { SP_NNLS_INACTIVE, SP_NNLS_ACTIVE, SP_NNLS_ASIDE }; /* state of a column */

typedef struct sp_nnls_core {
    sp_context *context;
    sp_pool pool;
    char *local; /* aligned memory that is not from the pool, of which local_left bytes are free at its start; NULL:
                    none */
    int64_t local_left;
    int64_t m, n, stride;
    const double *A; /* [m, n] as given */
    const double *b; /* [m] */
    double b_norm;
    int64_t capacity; /* capacity of all arrays [n] */
    double *norm;     /* [n] ‖a_j‖ */
    double *c;        /* [n] Aᵀb */
    double *x, *w;    /* [n] weights for normalized columns, and for the given ones */
    double *h;        /* [n] the negative gradient */
    double *bytes;    /* the block of the two that follow: at most 8 bytes per column */
    uint8_t *state;   /* [n] SP_NNLS_INACTIVE, ACTIVE, or ASIDE until the active set changes (nnls.c) */
    uint8_t *been;    /* [n] entered in this solve */
    double *H;        /* [n, n] both triangles, or NULL: gradients come from A */
    int64_t H_capacity;
    int64_t k, k_capacity, aside;
    int64_t *S;              /* [k] active columns in the order of R */
    double *R;               /* [k, k] upper */
    double *g, *p, *rho, *y; /* [k] */
    double *inverse;         /* [k] 1/R_ii */
    double *r, *e;           /* [m] the residual as given; work */
    double residual;         /* ‖r‖/‖b‖ */
    double raised;           /* see sp_nnls_descend */
    double least;            /* smallest pivot that may enter */
} sp_nnls_core;

/* ---- vectors and the factor: inline, since in small problems a call costs as much as the work ---- */

static inline double sp_nnls_dot(int64_t count, const double *x, const double *y)
{
    double sum = 0;
    if (count > SP_NNLS_SHORT)
        return cblas_ddot((int)count, x, 1, y, 1);
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; i++)
        sum += x[i] * y[i];
    return sum;
}

/* y += alpha x */
static inline void sp_nnls_add(int64_t count, double alpha, const double *x, double *restrict y)
{
    if (count > SP_NNLS_SHORT)
        cblas_daxpy((int)count, alpha, x, 1, y, 1);
    else
        for (int64_t i = 0; i < count; i++)
            y[i] += alpha * x[i];
}

/* v ← R⁻ᵀ v and v ← R⁻¹ v. */
static inline void sp_nnls_solve_transposed(const sp_nnls_core *s, double *v)
{
    const double *R = s->R;
    if (s->k > SP_NNLS_FEW) {
        cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, (int)s->k, R, (int)s->k_capacity, v, 1);
        return;
    }
    for (int64_t j = 0; j < s->k; j++, R += s->k_capacity) {
        double sum = v[j];
        for (int64_t i = 0; i < j; i++)
            sum -= R[i] * v[i];
        v[j] = sum * s->inverse[j];
    }
}

static inline void sp_nnls_solve_upper(const sp_nnls_core *s, double *v)
{
    if (s->k > SP_NNLS_FEW) {
        cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)s->k, s->R, (int)s->k_capacity, v, 1);
        return;
    }
    for (int64_t j = s->k - 1; j >= 0; j--) {
        const double *R = s->R + j * s->k_capacity;
        v[j] *= s->inverse[j];
        for (int64_t i = 0; i < j; i++)
            v[i] -= R[i] * v[j];
    }
}

/* ---- the Gram matrix ---- */

/* h −= Σ x_q column_q over four columns */
void sp_nnls_subtract_four(int64_t count, const double *const column[4], const double x[4], double *restrict h);

/* The upper triangle of columns from `first` on of H, for few columns of a short length. */
void sp_nnls_gram_small(sp_nnls_core *s, int64_t first);

/* ---- products with the columns (nnls_products.c) ---- */

/* v −= Σ coefficient_i a_i over the active columns as given, v [m]. */
void sp_nnls_subtract(const sp_nnls_core *s, const double *coefficient, double *v);

/* product_i = a_i·v/‖a_i‖ over the active columns. */
void sp_nnls_project(const sp_nnls_core *s, const double *v, double *product);

/* r = b − A w with the weights as they come out, and then h = Aᵀr/(‖a‖‖b‖). */
void sp_nnls_residual(sp_nnls_core *s);
void sp_nnls_gradient(sp_nnls_core *s);

/* h = c − H x, and the norm of the residual from it. */
void sp_nnls_gradient_gram(sp_nnls_core *s);

/* ---- the triangular factor R of the active columns (nnls_factor.c) ---- */

/* Space for one more active column. */
int sp_nnls_make_space_active(sp_nnls_core *s) SP_MUST_USE;

/* Appends column j to R; false if its pivot is too small to enter. */
bool sp_nnls_append(sp_nnls_core *s, int64_t j);

/* Removes active column `at` from R. */
void sp_nnls_leave(sp_nnls_core *s, int64_t at);

/* ---- building and solving a problem ---- */

/* SP_INPUT for invalid parameters. */
int sp_nnls_check(sp_context *context, const sp_nnls_parameters *parameters) SP_MUST_USE;

/* A problem without columns; b [m] must outlive it. local: SP_NNLS_LOCAL bytes that live as long as s, or NULL. */
int sp_nnls_start(sp_nnls_core *s, sp_context *context, int64_t m, const double *b, char *local) SP_MUST_USE;

/* Enlarges all arrays [n] except H to `capacity` columns. */
int sp_nnls_make_space(sp_nnls_core *s, int64_t capacity) SP_MUST_USE;

/* Adds columns s->n … n − 1 of s->A; if one is invalid, none. */
int sp_nnls_extend(sp_nnls_core *s, int64_t n) SP_MUST_USE;

/* Columns from `first` on of H, and their mirror image: tiles of columns, each one product over all rows, so that no
 * sums between threads are needed. */
void sp_nnls_gram_columns(sp_nnls_core *s, int64_t first);

/* The active-set algorithm, from the current x (nnls.c). */
int sp_nnls_descend(sp_nnls_core *s, const sp_nnls_parameters *parameters, sp_nnls_report *report) SP_MUST_USE;

/* ---- memory: from the stack while that suffices, then from the pool ---- */

/* count × 8 bytes, not initialized; NULL, with pool.failed set, if count is negative or out of memory. */
void *sp_nnls_memory(sp_nnls_core *s, int64_t count);
void sp_nnls_memory_drop(sp_nnls_core *s, void *block);

/* Enlarges `count` arrays of doubles in one block to [capacity], keeping their contents; each[0] is the block. */
void sp_nnls_enlarge(sp_nnls_core *s, int count, double **each[], int64_t used, int64_t capacity);

/* Enlarges a square matrix, whose columns move apart. The old one is kept if out of memory. */
void sp_nnls_enlarge_square(sp_nnls_core *s, double **matrix, int64_t used, int64_t *capacity, int64_t more);

#endif
