/* Another material for polynomials that are there (Barbič 2007 thesis §2.11): λ, μ and the density stand as factors
 * before the parts, so that the exact polynomials of the edited body are a sum over the parts, with nothing computed
 * anew. */
#ifndef SP_REDUCED_EDIT_H
#define SP_REDUCED_EDIT_H

#include "reduced/polynomial.h"

/* The part of a region and a constant, −1 where the polynomials have none. Parts are by region where every region has
 * one of its own; those of "all" are the region's where it is the only one. */
int64_t sp_polynomials_part(const sp_polynomials *polynomials, int64_t count, const sp_material *materials,
                            int64_t region, enum sp_constant constant);

/* Gives the polynomials of a mesh with the regions `from` [count] the materials `to` [count]: only young, poisson
 * (isotropic regions) and density may differ. A part of one region takes the factor of Young's modulus; another
 * Poisson's ratio takes the parts λ and μ; another density in one of several regions takes the masses of the regions.
 * SP_INPUT, with the polynomials as they were, where such parts are missing. */
int sp_polynomials_edit(sp_context *context, sp_polynomials *polynomials, int64_t count, const sp_material *from,
                        const sp_material *to) SP_MUST_USE;

#endif
