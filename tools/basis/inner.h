/* Inner products of displacements: the masses, the energy, and weights of files in one of them. */
#ifndef TOOLS_BASIS_INNER_H
#define TOOLS_BASIS_INNER_H

#include "tools/basis/candidates.h"

/* The consistent and the lumped mass of a body; what they refer to, M and memory of the pool, belongs to the caller. */
void candidates_masses(sp_context *context, const tool_mesh *mesh, sp_fe_space *body, sp_pool *pool, sp_sparse *M,
                       sp_metric *consistent, sp_metric *lumped);

/* The metric K + μM over the free degrees of freedom, with the stiffness K at rest and μ [1/s²] the mean of the
 * columns' Rayleigh quotients, weighted by uᵀMu: Σ uᵀKu = μ Σ uᵀMu. Rigid motions have mass only. mass: the metric of
 * M, which is lumped or not. W, which the metric refers to, belongs to the caller. */
void candidates_energy(candidates *set, sp_fe_space *body, const sp_metric *mass, bool lumped, sp_sparse *W,
                       sp_metric *energy);

/* Divides the columns of each file by the root of the sum of their squares. A file of zeros stays as it is. */
void candidates_weigh_files(candidates *set, const sp_metric *metric);

#endif
