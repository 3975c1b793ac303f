/* Symbolic analysis of a sparse Cholesky factorization P A Pᵀ = L Lᵀ: elimination tree, column counts, and supernodes,
 * which are consecutive columns of L with the same rows below them. A supernode that ends where its parent begins is
 * merged with it where that adds few zeros.
 *
 * Sources: Liu, "The role of elimination trees in sparse factorization" (1990); Gilbert, Ng and Peyton, "An efficient
 * algorithm to compute row and column counts for sparse Cholesky factorization" (1994); Ashcraft and Grimes, "The
 * influence of relaxed supernode partitions on the multifrontal method" (1989). */
#ifndef SP_LINEAR_SYMBOLIC_H
#define SP_LINEAR_SYMBOLIC_H

#include "linear/sparse.h"

/* Supernodes that are processed by one thread: a subtree with little work, or a single supernode above those. The
 * division depends on the pattern only, so that results do not depend on the number of threads. */
typedef struct sp_unit {
    int64_t first, last;    /* supernodes */
    int64_t parent;         /* unit; their number: none */
    int64_t child, sibling; /* units, ascending; −1: none */
    bool shared;            /* a supernode above the subtrees, with so much work that its front is divided into tiles */
    int64_t outside;        /* the first of the places for its rows outside, which are those below its last supernode */
    int32_t *target;        /* [rows outside] the place of each in `inside` of the parent */
} sp_unit;

typedef struct sp_symbolic {
    sp_pool pool;
    int64_t order;     /* rows, at most INT32_MAX */
    int32_t *row;      /* [order] the row of the matrix at each position: the given order, postordered */
    int32_t *position; /* [order] its inverse */
    int64_t count;     /* supernodes, children before parents, and the descendants of each directly before it */
    int64_t *first;    /* [count + 1] the first column of each */
    int32_t *parent;   /* [count], −1 for a root */
    int64_t *start;    /* [count + 1] into index */
    int32_t *index;    /* the rows of each supernode as positions, increasing; its own columns are the first of them */
    int64_t *value;    /* [count + 1] into L: supernode s is [rows, columns, column major] there, of which the lower
                        * trapezoid is used */
    int64_t unit_count;
    sp_unit *units; /* children before parents */
    /* Places of forward substitution: a row in its own unit has its position, and each row outside of a unit one of its
     * own, from `order` on, so that units do not wait for each other to add to a row. */
    int64_t places;
    int32_t *inside; /* the place of each entry of index, for the unit of its supernode */
    double nonzeros; /* of L, diagonal included, without the zeros of merged supernodes */
    double flops;    /* Σ (nonzeros of the column)² */
} sp_symbolic;

/* Analyses the pattern of the matrix, whose values are not read. permutation [order]: the row at each position. */
int sp_symbolic_new(sp_context *context, const sp_sparse *matrix, const int64_t *permutation,
                    sp_symbolic *symbolic) SP_MUST_USE;
void sp_symbolic_free(sp_symbolic *symbolic);

/* Nonzeros of L alone, from the elimination tree, in about the time of reading the matrix and without the memory of
 * the supernodes. */
int sp_symbolic_nonzeros(sp_context *context, const sp_sparse *matrix, const int64_t *permutation,
                         double *nonzeros) SP_MUST_USE;

static inline int64_t sp_symbolic_columns(const sp_symbolic *symbolic, int64_t s)
{
    return symbolic->first[s + 1] - symbolic->first[s];
}

static inline int64_t sp_symbolic_rows(const sp_symbolic *symbolic, int64_t s)
{
    return symbolic->start[s + 1] - symbolic->start[s];
}

/* How many units one task takes, from unit u on in the direction `step`, 1 or −1: one, but siblings without children
 * together where there are so many units that tasks would cost more than their work. */
int64_t sp_symbolic_batch(const sp_symbolic *symbolic, int64_t u, int step);

#endif
