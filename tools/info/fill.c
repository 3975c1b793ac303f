#include "tools/info/fill.h"

#include "formats/sparse.h"
#include "linear/fill.h"
#include "linear/symbolic.h"

static void print_row(const char *name, double count, double order, FILE *stream)
{
    fprintf(stream, "%-22s %14.0f %11.5f %%\n", name, count, 100 * (count / order) / order);
}

int fill_print(sp_context *context, sp_file *file, FILE *stream)
{
    static const struct {
        enum sp_ordering ordering;
        const char *name;
    } orderings[] = {{SP_ORDERING_NATURAL, "natural"},
                     {SP_ORDERING_CUTHILL_MCKEE, "reverse Cuthill-McKee"},
                     {SP_ORDERING_COUNT, "column count"},
                     {SP_ORDERING_DEGREE, "minimum degree"},
                     {SP_ORDERING_DISSECTION, "nested dissection"}};
    sp_sparse matrix;
    sp_pool pool = {0};
    int64_t *dof;
    char which[8];
    int status;

    SP_TRY(sp_sparse_read(context, file, &matrix, &dof, which));
    int64_t *permutation = sp_pool_raw(&pool, matrix.order, sizeof *permutation),
            *node = sp_pool_raw(&pool, matrix.order, sizeof *node);
    SP_TRY(sp_allocated(context, !pool.failed));

    /* The node of a row is its vertex, as everywhere that a matrix of a mesh is factored. */
    for (int64_t row = 0; row < matrix.order; row++)
        node[row] = dof ? dof[row] / 3 : row;
    double n = (double)matrix.order, counts[SP_ORDERINGS];

    for (int i = 0; i < SP_ORDERINGS; i++) {
        SP_TRY(sp_fill_order(context, &matrix, node, orderings[i].ordering, permutation));
        SP_TRY(sp_symbolic_nonzeros(context, &matrix, permutation, &counts[i]));
    }

    fprintf(stream, "%-22s %14lld\n", "rows", (long long)matrix.order);
    fprintf(stream, "%-22s %14s %13s\n", "nonzeros", "", "of all");
    print_row(which[0] ? which : "matrix", (double)matrix.start[matrix.order], n, stream);
    for (int i = 0; i < SP_ORDERINGS; i++)
        print_row(orderings[i].name, counts[i], n, stream);
done:
    sp_pool_free(&pool);
    sp_sparse_free(&matrix);
    return status;
}
