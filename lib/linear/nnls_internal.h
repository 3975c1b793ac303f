/* What nnls.c, nnls_set.c and nnls_small.c share; nothing here is for callers outside of them. */
#ifndef SP_LINEAR_NNLS_INTERNAL_H
#define SP_LINEAR_NNLS_INTERNAL_H

#include "base/lanes.h"
#include "base/memory.h"
#include "linear/dense.h"
#include "linear/nnls.h"

#include <cblas.h>

enum {
    SP_NNLS_FEW = 16,        /* active columns up to which a call for their factor costs more than the work */
    SP_NNLS_SHORT = 128,     /* numbers of a vector up to which that holds for sums over it */
    SP_NNLS_LOCAL = 1 << 14, /* bytes on the stack for small problems, which allocating would cost more than solving */
};

enum { SP_NNLS_OUTSIDE, SP_NNLS_ACTIVE, SP_NNLS_ASIDE }; /* of a column */

typedef struct sp_nnls_core {
    sp_context *context;
    sp_pool pool;
    char *
        local; /* memory that is not the pool's, aligned, of which local_left bytes are free at its start; NULL: none */
    int64_t local_left;
    int64_t m, n, stride;
    const double *A; /* [m, n] as given */
    const double *b; /* [m] */
    double b_norm;
    int64_t capacity; /* of all arrays [n] */
    double *norm;     /* [n] ‖a_j‖ */
    double *c;        /* [n] Aᵀb */
    double *x, *w;    /* [n] weights for columns of length 1, and as given */
    double *h;        /* [n] the gradient, downhill */
    double *bytes;    /* the two that follow: at most 8 bytes a column */
    uint8_t *state;   /* [n] SP_NNLS_OUTSIDE, ACTIVE, or ASIDE until the active set changes (nnls.c) */
    uint8_t *been;    /* [n] entered in this solve */
    double *H;        /* [n, n] both triangles, or NULL: gradients come from A */
    int64_t H_room;
    int64_t k, k_room, aside;
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
        cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, (int)s->k, R, (int)s->k_room, v, 1);
        return;
    }
    for (int64_t j = 0; j < s->k; j++, R += s->k_room) {
        double sum = v[j];
        for (int64_t i = 0; i < j; i++)
            sum -= R[i] * v[i];
        v[j] = sum * s->inverse[j];
    }
}

static inline void sp_nnls_solve_upper(const sp_nnls_core *s, double *v)
{
    if (s->k > SP_NNLS_FEW) {
        cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, (int)s->k, s->R, (int)s->k_room, v, 1);
        return;
    }
    for (int64_t j = s->k - 1; j >= 0; j--) {
        const double *R = s->R + j * s->k_room;
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

/* ---- a problem, built up and solved ---- */

/* SP_INPUT for parameters that are none. */
int sp_nnls_check(sp_context *context, const sp_nnls_parameters *parameters) SP_MUST_USE;

/* A problem without columns: b [m] must outlast it. local: SP_NNLS_LOCAL bytes that last as long as s, or NULL. */
int sp_nnls_start(sp_nnls_core *s, sp_context *context, int64_t m, const double *b, char *local) SP_MUST_USE;

/* Room for so many columns in all arrays [n] but H. */
int sp_nnls_make_space(sp_nnls_core *s, int64_t capacity) SP_MUST_USE;

/* Takes note of columns s->n … n − 1 of s->A; where one is not good, of none. */
int sp_nnls_take(sp_nnls_core *s, int64_t n) SP_MUST_USE;

/* Columns from `first` on of H, and their mirror: tiles of columns, each one product over all rows, so that there is
 * nothing to sum between threads. */
void sp_nnls_gram_columns(sp_nnls_core *s, int64_t first);

/* The algorithm, from the present x (nnls.c). */
int sp_nnls_descend(sp_nnls_core *s, const sp_nnls_parameters *parameters, sp_nnls_report *report) SP_MUST_USE;

/* ---- memory: of the stack while that lasts, then of the pool ---- */

/* count × 8 bytes, not set; NULL, and pool.failed set, where count is negative or memory is out. */
void *sp_nnls_memory(sp_nnls_core *s, int64_t count);
void sp_nnls_memory_drop(sp_nnls_core *s, void *block);

/* `count` arrays [room] of doubles in one block, with what was in the old ones; each[0] is the block. */
void sp_nnls_enlarge(sp_nnls_core *s, int count, double **each[], int64_t used, int64_t capacity);

/* A larger square matrix: the columns move apart. The old one stays where memory is out. */
void sp_nnls_enlarge_square(sp_nnls_core *s, double **matrix, int64_t used, int64_t *capacity, int64_t more);

#endif
