/* Files of general second-order systems: the types tensor (tensor.md) and system_basis (system_basis.md). */
#ifndef SP_FORMATS_SYSTEM_H
#define SP_FORMATS_SYSTEM_H

#include "formats/file.h"
#include "linear/tensor.h"

/* A tensor of `order` unknowns (−1: any). Accepts foreign files, as sparse.save_npz of PyData Sparse writes them.
 * `once` as for sp_tensor_new. */
int sp_tensor_read(sp_context *context, sp_file *file, int64_t order, bool once, sp_tensor *tensor) SP_MUST_USE;

typedef struct sp_system_basis {
    sp_pool pool;
    int64_t n;               /* number of unknowns */
    int64_t count, r, pairs; /* numbers of modes, columns and derivatives */
    double *U;               /* [n, r, column major] the basis */
    double *singular_value;  /* [r] descending */
    double *mode;            /* [n, count, column major] */
    double *eigenvalue;      /* [count] ascending, > 0 */
    double *residual;        /* [count] of the modes */
    double *derivative;      /* [n, pairs, column major] */
    int64_t *pair;           /* [pairs, 2] modes from 0 */
} sp_system_basis;

int sp_system_basis_read(sp_context *context, sp_file *file, sp_system_basis *basis) SP_MUST_USE;
int sp_system_basis_write(sp_context *context, sp_writer *writer, json_t *meta,
                          const sp_system_basis *basis) SP_MUST_USE;
void sp_system_basis_free(sp_system_basis *basis);

#endif
