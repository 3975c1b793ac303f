/* Iterative solvers for small systems whose matrix is known by its products: conjugate gradients where it is symmetric
 * and positive definite, restarted GMRES (Saad and Schultz 1986) or BiCGStab (van der Vorst 1992), which keeps few
 * vectors, where it is not. Preconditioned; everything is allocated in advance. */
#ifndef SP_LINEAR_ITERATE_H
#define SP_LINEAR_ITERATE_H

#include "base/context.h"
#include "base/memory.h"

typedef struct sp_operator {
    void *self;
    int64_t n;
    void (*times)(void *self, const double *x, double *y);        /* y = A x */
    void (*precondition)(void *self, const double *x, double *y); /* y = P⁻¹ x, P symmetric and positive definite */
} sp_operator;

typedef struct sp_iteration {
    int64_t n, restart;
    double *basis;                                           /* [n, restart + 1] */
    double *hessenberg;                                      /* [restart + 1, restart] */
    double *cosine, *sine, *right, *part;                    /* [restart + 1] */
    double *residual, *direction, *product, *preconditioned; /* [n] */
} sp_iteration;

/* Everything from the pool, for vectors of length n. Marks the pool where memory is out. */
void sp_iteration_new(sp_pool *pool, int64_t n, int64_t restart, sp_iteration *work);

/* x from 0 on, until ‖b − A x‖ ≤ tolerance · ‖b‖ or `most` products; returns how many products it took, −1 where that
 * is not reached. x may not be b. Products with a residual that is not finite end it. */
int64_t sp_gmres(const sp_operator *A, sp_iteration *work, double tolerance, int64_t most, const double *b, double *x);

/* The same in six vectors (restart ≥ 1) and two products an iteration; it starts again from where it is when it breaks
 * down, and −1 where that leads no further. */
int64_t sp_bicgstab(const sp_operator *A, sp_iteration *work, double tolerance, int64_t most, const double *b,
                    double *x);

/* The same for a symmetric positive definite A; −1 also where it shows that A is not. */
int64_t sp_conjugate_gradients(const sp_operator *A, sp_iteration *work, double tolerance, int64_t most,
                               const double *b, double *x);

#endif
