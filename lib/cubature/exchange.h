/* Exchange of the elements of a cubature: a selection made element by element is seldom the best one of its size.
 *
 * With the columns a_e of the fitting problem (cubature/training.h) and the support S, one element k of S is removed.
 * The residual of the others, T = S \ {k}, is ρ = b − A_T w_T. If no weight is at its bound, adding an element e and
 * fitting all weights anew lowers the squared error by
 *
 *     (a_e·ρ)² / ‖P a_e‖²,   a_e·ρ > 0,
 *
 * with the projector P onto the complement of the columns of T. This is the score of orthogonal least squares (Chen,
 * Billings and Luo 1989). That of a greedy choice, (a_e·ρ)² / ‖a_e‖², ignores what the other elements already
 * represent, and all columns of cubature are very similar. The best few by this score are fitted with w ≥ 0, and the
 * one with the least error replaces k if its error is less than with k. A sweep tries all k in turn (sequential
 * replacement, Miller 1984); the error can only decrease, and sweeps end when no single exchange helps.
 *
 * ‖P a_e‖² of all elements is updated: if q is the unit vector of the part of a_k that is orthogonal to T, then ‖P_T
 * a_e‖² = ‖P_S a_e‖² + (q·a_e)². An exchange therefore costs three products of all columns with a vector, whatever the
 * size of S is. */
#ifndef SP_CUBATURE_EXCHANGE_H
#define SP_CUBATURE_EXCHANGE_H

#include "cubature/training.h"

typedef struct sp_exchange sp_exchange;

/* Columns of all elements are kept in memory if they fit in `memory` bytes (0: 1 GiB), else every product is a pass
 * over the mesh (sp_training_products); the two differ by rounding. `elements` is the number of elements of the mesh.
 * The training must outlive the exchange. */
int sp_exchange_new(sp_context *context, sp_training *training, int64_t elements, int64_t memory,
                    sp_exchange **exchange) SP_MUST_USE;
void sp_exchange_free(sp_exchange *exchange); /* NULL is allowed */

/* One sweep over a support of `count` different elements, increasing before and after. The result depends only on the
 * support, not on the number of threads. A support of at least as many elements as there are equations stays as it
 * is. */
int sp_exchange_sweep(sp_exchange *exchange, int64_t count, int64_t *element) SP_MUST_USE;

int64_t sp_exchange_passes(const sp_exchange *exchange); /* number of passes over the mesh so far */

#endif
