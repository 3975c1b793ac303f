/* Random projection: few random combinations of many displacement fields, a fast substitute for mass-weighted POD.
 * Yang, Li, Xu, Tian, Zheng, Expediting Precomputation for Reduced Deformable Simulation, 2015, section 4.3.2. */
#ifndef SP_BASIS_RANDOM_PROJECTION_H
#define SP_BASIS_RANDOM_PROJECTION_H

#include "linear/store.h"

/* Entry (row, column) of R, eq. 10 (Achlioptas 2001): √3 times +1, 0, −1 with the probabilities 1/6, 4/6, 1/6. It
 * depends only on the seed and the two numbers. */
double sp_random_projection_entry(uint64_t seed, int64_t row, int64_t column);

/* Replaces the columns A of the store by the r ≤ count columns A R (with context->seed), not orthonormalized. */
int sp_random_projection(sp_context *context, int64_t r, sp_store *store) SP_MUST_USE;

#endif
