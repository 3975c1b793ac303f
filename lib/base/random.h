/* Counter-based random numbers: Philox 4×32 with 10 rounds (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as
 * easy as 1, 2, 3", SC 2011). A value depends only on (seed, stream, index), so that any thread can compute any of
 * them. */
#ifndef SP_BASE_RANDOM_H
#define SP_BASE_RANDOM_H

#include <stdint.h>

/* Four 32-bit words of block `index` of `stream`. */
void sp_random_block(uint64_t seed, uint64_t stream, uint64_t index, uint32_t word[4]);

/* Uniform in (0,1), 53 bits; never 0 or 1. */
double sp_random_uniform(uint64_t seed, uint64_t stream, uint64_t index);

/* Standard normal (Box–Muller). */
double sp_random_normal(uint64_t seed, uint64_t stream, uint64_t index);

#endif
