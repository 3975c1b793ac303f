/* Shared by the sources of law.h. */
#ifndef SP_MATERIAL_LAW_INTERNAL_H
#define SP_MATERIAL_LAW_INTERNAL_H

#include "material/law.h"

/* Position of A_pq, p ≤ q, in the packed upper triangle of a 9 × 9 matrix. */
SP_INLINE int sp_tangent_entry(int p, int q)
{
    return p * 9 - p * (p - 1) / 2 + q - p;
}

/* The laws STVK and LINEAR without fibres: add to W, P and A of sp_law_evaluate; P and A may be NULL. */
void sp_law_stvk(const sp_law_lanes *law, const sp_lanes *H, sp_lanes *W, sp_lanes *P, sp_lanes *A);
void sp_law_linear(const sp_law_lanes *law, const sp_lanes *H, sp_lanes *W, sp_lanes *P, sp_lanes *A);

#endif
