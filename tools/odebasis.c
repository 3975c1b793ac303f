/* odebasis: a basis of modes and modal derivatives for a general second-order system, from its matrices. */
#include "basis/modes.h"
#include "basis/pca.h"
#include "basis/system.h"
#include "basis/weights.h"
#include "formats/sparse.h"
#include "formats/system.h"
#include "tools/common/tool.h"

#include <math.h>
#include <string.h>

static struct {
    int64_t count, r;
    bool once;
} chosen;

static const tool_option options[] = {
    {"count", 'k', TOOL_INTEGER, &chosen.count, "N", "6", .low = 1, .high = 10000, .help = "number of modes"},
    {"rank", 'r', TOOL_INTEGER, &chosen.r, "R", NULL, .low = 1, .high = 100000,
     .help = "columns of the basis (default: all independent ones)"},
    {"once", 0, TOOL_FLAG, &chosen.once,
     .help = "HESSIAN is symmetric in all three indices and has each entry only once, in one order of its indices"},
};

typedef struct system {
    sp_context *context;
    const char *path[3]; /* of K, A, H */
    sp_sparse K, A;
    sp_tensor H;
    sp_system_basis basis;
    json_t *result;
} system_problem;

/* ---- input ---- */

static void read_matrix(system_problem *s, const char *path, const char *which, sp_sparse *matrix)
{
    static const char *const kinds[] = {"sparse", NULL};
    sp_file file;
    int64_t *dof;
    char is[8];

    tool_read(path, NULL, kinds, true, &file);
    tool_check(sp_sparse_read(s->context, &file, matrix, &dof, is), path);
    sp_file_free(&file);
    if (*is && strcmp(is, which))
        tool_fail(SP_INPUT, path, "it holds the matrix %s, expected %s", is, which);

    for (int64_t row = 0; row < matrix->order; row++)
        if (!(sp_sparse_entry(matrix, row, row) > 0))
            tool_fail(SP_INPUT, path, "the matrix is not positive definite: it has %g on the diagonal of row %lld",
                      sp_sparse_entry(matrix, row, row), (long long)row);
}

static void read_system(system_problem *s)
{
    static const char *const kinds[] = {"tensor", NULL};
    sp_file file;

    for (int i = 0; i < 3; i++)
        s->path[i] = tool_argument(i);
    read_matrix(s, s->path[0], "K", &s->K);
    read_matrix(s, s->path[1], "M", &s->A);
    if (s->A.order != s->K.order)
        tool_fail(SP_INPUT, s->path[1], "the matrix has %lld rows, that of %s has %lld", (long long)s->A.order,
                  s->path[0], (long long)s->K.order);

    tool_read(s->path[2], NULL, kinds, true, &file);
    tool_check(sp_tensor_read(s->context, &file, s->K.order, chosen.once, &s->H), s->path[2]);
    sp_file_free(&file);

    if (chosen.count > s->K.order)
        tool_fail(SP_USAGE, NULL, "--count %lld: the system has only %lld unknowns", (long long)chosen.count,
                  (long long)s->K.order);
}

/* ---- the three stages ---- */

/* K ψ = λ A ψ */
static void solve_modes(system_problem *s)
{
    enum { SPACE = 4 }; /* for modes with the eigenvalue of the last one */
    const int64_t n = s->K.order, most = chosen.count + SPACE;
    sp_system_basis *b = &s->basis;
    const sp_modes_parameters parameters = {.count = chosen.count, .tolerance = 1e-12, .space_left = SPACE};
    sp_modes_report report;
    const char *both = tool_names(&b->pool, 2, s->path);

    b->n = n;
    b->mode = tool_allocate_raw(&b->pool, n * most, sizeof *b->mode);
    b->eigenvalue = tool_allocate_raw(&b->pool, most, sizeof *b->eigenvalue);
    b->residual = tool_allocate_raw(&b->pool, most, sizeof *b->residual);
    tool_check(
        sp_modes(s->context, &s->K, &s->A, NULL, 0, NULL, &parameters, b->eigenvalue, b->mode, b->residual, &report),
        both);

    b->count = chosen.count + report.more;
    if (report.more)
        tool_warn(NULL, "%lld modes are computed for --count %lld: those after it have the eigenvalue of mode %lld",
                  (long long)b->count, (long long)chosen.count, (long long)chosen.count);
    if (report.zero_energy > 0)
        tool_fail(SP_NUMERICAL, s->path[0], "the matrix is singular: eigenvalues that are 0: %lld",
                  (long long)report.zero_energy);

    double worst = 0;
    for (int64_t i = 0; i < b->count; i++)
        worst = fmax(worst, b->residual[i]);
    if (!(report.beyond < 1e-3) || !isfinite(worst))
        tool_fail(SP_NUMERICAL, both, "the residual of a mode is %.1e: the matrices do not make a usable eigenproblem",
                  worst);
    tool_say("%lld modes of %lld unknowns, %.6g to %.6g Hz", (long long)b->count, (long long)n,
             sqrt(b->eigenvalue[0]) / (2 * M_PI), sqrt(b->eigenvalue[b->count - 1]) / (2 * M_PI));
}

/* K Φ = −(H:ψ)ψ for all pairs i ≤ j */
static void solve_derivatives(system_problem *s)
{
    sp_system_basis *b = &s->basis;
    double residual;
    int64_t at = 0;

    b->pairs = b->count * (b->count + 1) / 2;
    b->pair = tool_allocate_raw(&b->pool, 2 * b->pairs, sizeof *b->pair);
    b->derivative = tool_allocate_raw(&b->pool, b->n * b->pairs, sizeof *b->derivative);
    for (int64_t i = 0; i < b->count; i++)
        for (int64_t j = i; j < b->count; j++) {
            b->pair[at++] = i;
            b->pair[at++] = j;
        }

    tool_check(sp_system_derivatives(s->context, &s->K, &s->H, b->mode, b->pairs, b->pair, b->derivative, &residual),
               s->path[0]);
    if (residual > 1e-8)
        tool_warn(s->path[0], "the residual of a derivative is %.1e", residual);
    tool_facts(s->result, sp_kind_system_basis.result, {"largest_residual", .real = residual});
}

/* The columns λ₁/λ_j ψ_j and λ₁²/(λ_i λ_j) Φ_ij of unit length (thesis eq. 2.52); w [columns] their factors */
static void weigh(const system_problem *s, const sp_metric *metric, const sp_store *store, double *w)
{
    const sp_system_basis *b = &s->basis;
    sp_pool pool = {0};
    double *square = tool_allocate_raw(&pool, store->count, sizeof *square);

    tool_check(sp_mode_weights(s->context, b->count, 0, b->eigenvalue, w), NULL);
    tool_check(sp_store_squares(s->context, metric, store, square), NULL);
    for (int64_t c = 0; c < b->pairs; c++)
        tool_check(sp_derivative_weight(s->context, b->count, 0, b->eigenvalue, b->pair + 2 * c, square[b->count + c],
                                        w + b->count + c),
                   NULL);
    sp_pool_free(&pool);
}

static void reduce(system_problem *s)
{
    sp_system_basis *b = &s->basis;
    const int64_t n = b->n, columns = b->count + b->pairs;
    const sp_metric metric = {.rows = n, .matrix = &s->A};
    sp_store store;
    int64_t rank;
    double orthogonality;

    b->U = tool_allocate_raw(&b->pool, n * columns, sizeof *b->U);
    b->singular_value = tool_allocate_raw(&b->pool, columns, sizeof *b->singular_value);
    double *weight = tool_allocate_raw(&b->pool, columns, sizeof *weight);
    memcpy(b->U, b->mode, (size_t)(n * b->count) * sizeof *b->U);
    memcpy(b->U + n * b->count, b->derivative, (size_t)(n * b->pairs) * sizeof *b->U);

    tool_check(sp_store_over(s->context, n, columns, b->U, &store), NULL);
    weigh(s, &metric, &store, weight);
    tool_check(sp_store_scale(s->context, &store, weight), NULL);
    tool_check(sp_mass_pca(s->context, &metric, chosen.r, &store, b->singular_value, &rank), NULL);

    if (chosen.r > rank)
        tool_fail(SP_USAGE, NULL, "-r %lld: only %lld of %lld columns are independent", (long long)chosen.r,
                  (long long)rank, (long long)columns);
    if (chosen.r)
        tool_warn_of_cut("-r", "column", "singular value", chosen.r, rank, b->singular_value);
    b->r = store.count;

    tool_check(sp_store_orthogonality(s->context, &metric, &store, &orthogonality), NULL);
    if (!(orthogonality <= 1e-12))
        tool_fail(SP_NUMERICAL, NULL, "the basis is orthonormal to %.1e only", orthogonality);
    tool_say("%lld columns, rank %lld, %lld kept, orthonormal to %.1e", (long long)columns, (long long)rank,
             (long long)b->r, orthogonality);
    tool_facts(s->result, sp_kind_system_basis.result, {"orthogonality", .real = orthogonality},
               {"columns", .integer = columns}, {"rank", .integer = rank});
    sp_store_free(&store);
}

static const tool_spec spec = {
    .name = "odebasis",
    .arguments = "K A HESSIAN",
    .least = 3,
    .most = 3,
    .summary = "A basis of modes and modal derivatives for a system A x'' + B x' + C(x) = f.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_THREADS | TOOL_SEED,
    .examples = "  odebasis K.npz M.npz hessian.npz -k 6 -r 12 -o basis.npz\n",
};

int main(int argc, char **argv)
{
    system_problem s = {0};
    s.context = tool_begin(&spec, argc, argv);
    read_system(&s);

    tool_output *output = tool_output_open(tool_output_path());
    s.result = tool_result_new();
    solve_modes(&s);
    solve_derivatives(&s);
    reduce(&s);

    json_t *meta = tool_meta_new("system_basis");
    tool_check(sp_system_basis_write(s.context, tool_output_writer(output), meta, &s.basis), tool_output_path());
    tool_output_finish(output, s.result);

    json_decref(meta);
    sp_system_basis_free(&s.basis);
    sp_tensor_free(&s.H);
    sp_sparse_free(&s.K);
    sp_sparse_free(&s.A);
    return tool_end();
}
