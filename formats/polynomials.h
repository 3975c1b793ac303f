/* Files of the type polynomials (polynomials.md). */
#ifndef SP_FORMATS_POLYNOMIALS_H
#define SP_FORMATS_POLYNOMIALS_H

#include "formats/file.h"
#include "reduced/polynomial.h"

/* Checks shapes, symmetry of every gram and of mass, and finite values. basis and mesh [SP_HASH_LENGTH] receive the
 * hashes of what it was made from ("" where unknown). */
int sp_polynomials_read(sp_context *context, sp_file *file, sp_polynomials *polynomials, char *mesh,
                        char *basis) SP_MUST_USE;

/* meta must already hold "mesh" and "basis"; parts go to meta and to the members gram (one part: all, all) or
 * gram/<number> in the order of meta's "parts". */
int sp_polynomials_write(sp_context *context, sp_writer *writer, json_t *meta,
                         const sp_polynomials *polynomials) SP_MUST_USE;

#endif
