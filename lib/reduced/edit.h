/* Changes the material of existing polynomials (Barbič 2007 thesis §2.11): λ, μ and the density are factors of the
 * parts, so that the exact polynomials of the edited body are a sum over the parts, without recomputation. */
#ifndef SP_REDUCED_EDIT_H
#define SP_REDUCED_EDIT_H

#include "reduced/polynomial.h"

/* The part of a region and a constant, −1 if the polynomials have none. Parts are by region if every region has one of
 * its own; a part "all" belongs to the region if that is the only one. */
int64_t sp_polynomials_part(const sp_polynomials *polynomials, int64_t count, const sp_material *materials,
                            int64_t region, enum sp_constant constant);

/* Changes the materials of the polynomials of a mesh from those of the regions `from` [count] to `to` [count]: only
 * young, poisson (isotropic regions) and density may differ. A change of Young's modulus scales the part of the region;
 * a change of Poisson's ratio needs separate parts λ and μ; a change of the density of one of several regions needs the
 * masses of the regions. SP_INPUT, with the polynomials unchanged, if such parts are missing. */
int sp_polynomials_edit(sp_context *context, sp_polynomials *polynomials, int64_t count, const sp_material *from,
                        const sp_material *to) SP_MUST_USE;

#endif
