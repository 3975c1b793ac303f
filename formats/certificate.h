/* Files of the type certificate (certificate.md): the factor from which the residual of a reduced model is evaluated.
 */
#ifndef SP_FORMATS_CERTIFICATE_H
#define SP_FORMATS_CERTIFICATE_H

#include "formats/file.h"
#include "reduced/certificate.h"

/* Checks shapes, that the factor is triangular, indices and finite values. vertices: of the mesh; −1: any. mesh and
 * basis [SP_HASH_LENGTH] receive the hashes of the files it was made from ("" if unknown). */
int sp_certificate_read(sp_context *context, sp_file *file, int64_t vertices, sp_certificate *certificate, char *mesh,
                        char *basis) SP_MUST_USE;

/* meta must already have "mesh" and "basis". */
int sp_certificate_write(sp_context *context, sp_writer *writer, json_t *meta, int64_t vertices,
                         const sp_certificate *certificate) SP_MUST_USE;

#endif
