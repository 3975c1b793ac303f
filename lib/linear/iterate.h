/* Preconditioned iterative solvers for matrices that are given by their products: conjugate gradients for symmetric
 * positive definite matrices, restarted GMRES (Saad and Schultz 1986) or BiCGStab (van der Vorst 1992), which stores
 * few vectors, for others. All memory is allocated in advance. */
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

/* Allocates everything from the pool, for vectors of length n. Marks the pool if out of memory. */
void sp_iteration_new(sp_pool *pool, int64_t n, int64_t restart, sp_iteration *work);

/* Solves A x = b from x = 0 until ‖b − A x‖ ≤ tolerance · ‖b‖ or `most` products; returns the number of products, −1 if
 * the tolerance is not reached. x may not be b. It ends if a residual is not finite. */
int64_t sp_gmres(const sp_operator *A, sp_iteration *work, double tolerance, int64_t most, const double *b, double *x);

/* BiCGStab, with six vectors (restart ≥ 1) and two products per iteration; it restarts from the current x after a
 * breakdown, and returns −1 if that makes no progress. */
int64_t sp_bicgstab(const sp_operator *A, sp_iteration *work, double tolerance, int64_t most, const double *b,
                    double *x);

/* Conjugate gradients, for a symmetric positive definite A; −1 also if A turns out not to be. */
int64_t sp_conjugate_gradients(const sp_operator *A, sp_iteration *work, double tolerance, int64_t most,
                               const double *b, double *x);

#endif
