/* Files of the type sparse (sparse.md): readable by scipy.sparse.load_npz, with the additional members meta, dof and
 * result. */
#ifndef SP_FORMATS_SPARSE_H
#define SP_FORMATS_SPARSE_H

#include "formats/file.h"
#include "linear/sparse.h"

/* Accepts csr and csc (the same for a symmetric matrix), also foreign files of SciPy; checks with sp_sparse_check at
 * 1e-9. dof [order] receives the degree of freedom (3·vertex + component) of each row, allocated in matrix->pool; NULL
 * if the file has none (the rows are then all degrees of freedom in order). `which` receives "K", "M" or "" from
 * meta. */
int sp_sparse_read(sp_context *context, sp_file *file, sp_sparse *matrix, int64_t **dof, char which[8]) SP_MUST_USE;

/* meta must already have "mesh"; which is "K" or "M". */
int sp_sparse_write(sp_context *context, sp_writer *writer, json_t *meta, const sp_sparse *matrix, const int64_t *dof,
                    const char *which) SP_MUST_USE;

#endif
