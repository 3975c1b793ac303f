/* Files of the types polynomials (polynomials.md) and polynomial_sums. */
#ifndef SP_FORMATS_POLYNOMIALS_H
#define SP_FORMATS_POLYNOMIALS_H

#include "formats/file.h"
#include "reduced/polynomial.h"

/* Checks shapes, symmetry of every gram and of mass, and finite values. basis and mesh [SP_HASH_LENGTH] receive the
 * hashes of the files it was made from ("" if unknown). */
int sp_polynomials_read(sp_context *context, sp_file *file, sp_polynomials *polynomials, char *mesh,
                        char *basis) SP_MUST_USE;

/* meta must already have "mesh" and "basis". Parts are written to meta and to the members gram (a single part: all,
 * all) or gram/<number> in the order of meta's "parts". */
int sp_polynomials_write(sp_context *context, sp_writer *writer, json_t *meta,
                         const sp_polynomials *polynomials) SP_MUST_USE;

/* Shards of polynomials, files of the type polynomial_sums (polynomial_sums.md): sums in place of Gram matrices. */
int sp_polynomial_sums_read(sp_context *context, sp_file *file, sp_polynomials *shard, char *mesh,
                            char *basis) SP_MUST_USE;
int sp_polynomial_sums_write(sp_context *context, sp_writer *writer, json_t *meta,
                             const sp_polynomials *shard) SP_MUST_USE;

#endif
