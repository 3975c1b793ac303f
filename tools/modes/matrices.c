/* Stiffness and mass matrices in files. */
#include "formats/sparse.h"
#include "tools/modes/methods.h"

#include <string.h>

/* What a file of ours says of its matrix: which one it is, and of which mesh. */
static void check_matrix_meta(const char *path, const char *option, const char *which, const char *recorded,
                              const tool_mesh *mesh)
{
    const char *wanted = !strcmp(option, "mass") ? "M" : "K";
    if (*which && strcmp(which, wanted))
        tool_fail(SP_INPUT, path, "it holds the matrix %s, --%s expects %s", which, option, wanted);
    if (!*recorded)
        tool_warn(path, "it does not say which mesh it belongs to");
    tool_check_hash(path, "mesh", recorded, mesh->hash);
}

/* A mass is positive for every degree of freedom alone. */
static void check_diagonal(const char *path, const sp_sparse *mass)
{
    for (int64_t row = 0; row < mass->order; row++) {
        const double diagonal = sp_sparse_entry(mass, row, row);
        if (!(diagonal > 0))
            tool_fail(SP_INPUT, path, "the mass matrix has %g on the diagonal of row %lld", diagonal, (long long)row);
    }
}

void modes_read_matrix(const modes_problem *p, const char *path, const char *option, sp_sparse *matrix)
{
    const sp_fe_space *body = &p->body;
    static const char *const kinds[] = {"sparse", NULL};
    sp_file file;
    int64_t *dof;
    char which[8], recorded[SP_HASH_LENGTH];

    tool_read(path, option, kinds, true, &file);
    tool_check(sp_json_hash(p->context, file.meta, "mesh", recorded), path);
    tool_check(sp_sparse_read(p->context, &file, matrix, &dof, which), path);
    sp_file_free(&file);

    check_matrix_meta(path, option, which, recorded, &p->mesh);
    if (matrix->order != body->dof_count)
        tool_fail(SP_INPUT, path, "the matrix has %lld rows, the mesh %lld free degrees of freedom",
                  (long long)matrix->order, (long long)body->dof_count);

    if (dof)
        for (int64_t i = 0; i < matrix->order; i++)
            if (dof[i] != body->free[i])
                tool_fail(SP_INPUT, path, "row %lld belongs to degree of freedom %lld, in the mesh to %lld",
                          (long long)i, (long long)dof[i], (long long)body->free[i]);
    if (!strcmp(option, "mass"))
        check_diagonal(path, matrix);
}

bool modes_diagonal(const sp_sparse *matrix)
{
    for (int64_t row = 0; row < matrix->order; row++)
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
            if (matrix->index[k] != row && matrix->value[k] != 0)
                return false;
    return true;
}

void modes_write_matrix(const modes_problem *p, const char *path, const char *option, const char *which,
                        const sp_sparse *matrix)
{
    tool_output *output = tool_output_open(path);
    json_t *meta = tool_meta_new("sparse");
    tool_meta_output(meta, option);
    tool_facts(meta, sp_kind_sparse.meta, {"mesh", .text = p->mesh.hash});
    tool_check(sp_sparse_write(p->context, tool_output_writer(output), meta, matrix, p->body.free, which), path);
    json_decref(meta);
    tool_output_finish(output, tool_result_new());
}
