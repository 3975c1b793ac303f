/* masspca: a basis from modes, derivatives, snapshots and trajectories. */
#include "basis/pca.h"
#include "basis/random_projection.h"
#include "tools/basis/candidates.h"
#include "tools/basis/inner.h"
#include "tools/basis/scaling.h"

#include <stdio.h>
#include <string.h>

enum method { METHOD_PCA, METHOD_GRAM_SCHMIDT, METHOD_RANDOM };
enum inner { INNER_MASS, INNER_ENERGY };

static struct {
    int64_t r, every, memory;
    int method, lumped, scaling, inner;
    bool raw, keep_first, equal, deformation;
    const char *columns;
} chosen;

static const tool_option options[] = {
    {"rank", 'r', TOOL_INTEGER, &chosen.r, "R", NULL, .low = 1, .high = 100000,
     .help = "columns of the basis (default: all independent ones)"},
    {"method", 0, TOOL_CHOICE, &chosen.method, NULL, "pca", "pca|gram-schmidt|random",
     .help = "pca: principal directions; gram-schmidt: the columns orthonormalized in order; random: R random "
             "combinations, orthonormalized"},
    {"keep-first", 0, TOOL_FLAG, &chosen.keep_first, .only = "method=pca",
     .help = "keep the whole span of the columns of the first file, and add principal directions of the others"},
    {"raw", 0, TOOL_FLAG, &chosen.raw, .only = "method=random",
     .help = "the combinations as they are, a file of snapshots"},
    {"lumping", 0, TOOL_CHOICE, &chosen.lumped, NULL, "consistent", "consistent|lumped",
     .help = "mass matrix of the inner product"},
    {"inner", 0, TOOL_CHOICE, &chosen.inner, NULL, "mass", "mass|energy", .only = "method=pca !keep-first",
     .help =
         "inner product of the principal directions; energy: stiffness at rest and mass, each with the same sum over "
         "all columns, so that small displacements that resist count"},
    {"equal-files", 0, TOOL_FLAG, &chosen.equal, .only = "method=pca !keep-first",
     .help = "divide the columns of each file by the root of the sum of their squares in the inner product, so that a "
             "small motion counts as much as a large one"},
    {"scaling", 0, TOOL_CHOICE, &chosen.scaling, NULL, "auto", "auto|eigenvalue|rayleigh|product|unit|none",
     .help =
         "eigenvalue: mode j by l1/lj, unit derivative (i,j) by l1^2/(li lj), other unit columns by l1 uMu/uKu; "
         "rayleigh: every unit column by uMu/uKu; product: likewise, but a derivative by the product of the weights "
         "of the columns that it is derived from; unit: every column becomes a unit vector; "
         "auto: eigenvalue for modes and derivatives, else none"},
    {"columns", 0, TOOL_TEXT, &chosen.columns, "LIST",
     .help = "only these columns, counted from 1 over all files in order: 1-6,9"},
    {"every", 0, TOOL_INTEGER, &chosen.every, "N", "1", .low = 1, .high = 1000000, .only = "@trajectory",
     .help = "every Nth frame"},
    {"remove-rigid", 0, TOOL_FLAG, &chosen.deformation, .only = "@trajectory",
     .help = "of each frame the deformation of the free body: its motion without the rigid motion that is nearest in "
             "the mass"},
    {"memory", 0, TOOL_SIZE, &chosen.memory, "SIZE", NULL,
     .help = "bound on columns and workspace, such as 2G; the rest is in a scratch file", .silent = true},
};

/* All files with columns, for messages. */
static const char *file_names(candidates *set)
{
    const char **paths = tool_allocate(&set->pool, set->file_count, sizeof *paths);
    for (int64_t i = 0; i < set->file_count; i++)
        paths[i] = set->files[i].path;
    return tool_names(&set->pool, set->file_count, paths);
}

/* The number of columns of the first file in the store. They are its first columns; --columns may order them otherwise,
 * which is an error. */
static int64_t first_columns(const candidates *set)
{
    int64_t column, count = 0;
    while (count < set->store.count && candidates_origin(set, count, &column) == &set->files[0])
        count++;
    for (int64_t c = count; c < set->store.count; c++)
        if (candidates_origin(set, c, &column) == &set->files[0])
            tool_fail(SP_USAGE, NULL, "--keep-first: --columns puts columns of other files between those of %s",
                      set->files[0].path);
    if (chosen.r && count > chosen.r)
        tool_fail(SP_USAGE, set->files[0].path, "-r %lld: --keep-first keeps its %lld columns", (long long)chosen.r,
                  (long long)count);
    return count;
}

/* The columns of the store become those of the basis; energy NULL: principal directions in the mass; value [count of
 * candidates] receives singular values or new parts. */
static int64_t reduce(sp_context *context, const sp_metric *metric, const sp_metric *energy, candidates *set,
                      double *value)
{
    int64_t count = set->store.count, rank = 0;

    if (chosen.method == METHOD_RANDOM)
        tool_check(sp_random_projection(context, chosen.r, &set->store), NULL);

    if (chosen.raw)
        return chosen.r;

    if (chosen.keep_first)
        tool_check(sp_mass_pca_beyond(context, metric, first_columns(set), chosen.r, &set->store, value, &rank), NULL);
    else if (chosen.method == METHOD_PCA) {
        tool_check(energy ? sp_energy_pca(context, energy, metric, chosen.r, &set->store, value, &rank)
                          : sp_mass_pca(context, metric, chosen.r, &set->store, value, &rank),
                   NULL);
        if (chosen.r)
            tool_warn_of_cut("-r", "column", "singular value", chosen.r, rank, value);
    } else
        tool_check(sp_mass_gram_schmidt(context, metric, chosen.r, 1e-10, &set->store, value, &rank), NULL);

    if (rank == 0)
        tool_fail(SP_INPUT, set->files[0].path, "every column is zero: there is nothing to make a basis of");

    if (chosen.method == METHOD_RANDOM && rank < chosen.r)
        tool_fail(SP_USAGE, file_names(set), "-r %lld: only %lld random combinations of %lld columns are independent",
                  (long long)chosen.r, (long long)rank, (long long)count);
    if (chosen.r > rank)
        tool_fail(SP_USAGE, file_names(set), "-r %lld: only %lld of %lld columns are independent", (long long)chosen.r,
                  (long long)rank, (long long)count);
    return rank;
}

typedef struct source {
    sp_context *context;
    const sp_store *store;
    double *buffer, *block;
} source;

static int next_column(void *data, int64_t c, const double **column)
{
    source *from = data;
    int status = c % SP_STORE_WIDTH ? SP_OK : sp_store_load(from->context, from->store, c, from->buffer, &from->block);
    *column = from->block + c % SP_STORE_WIDTH * from->store->rows;
    return status;
}

/* Counts, and unless the columns are raw how orthonormal they are; value [rank]: as reduce gives them. */
static json_t *report_result(sp_context *context, const sp_metric *metric, const candidates *set, int64_t count,
                             int64_t rank, const double *value)
{
    json_t *result = tool_result_new();
    double orthogonality;
    if (chosen.raw) {
        tool_facts(result, sp_kind_snapshots.result, {"columns", .integer = count});
        return result;
    }
    tool_check(sp_store_orthogonality(context, metric, &set->store, &orthogonality), NULL);
    if (!(orthogonality <= 1e-12))
        tool_fail(SP_NUMERICAL, NULL, "the basis is orthonormal to %.1e only", orthogonality);
    tool_say("%lld columns, rank %lld, %lld kept, orthonormal to %.1e", (long long)count, (long long)rank,
             (long long)set->store.count, orthogonality);
    const bool singular = chosen.method == METHOD_PCA && !chosen.keep_first;
    tool_facts(result, sp_kind_basis.result, {"orthogonality", .real = orthogonality}, {"columns", .integer = count},
               {"rank", .integer = rank}, {singular ? "singular_values" : "new_parts", .count = rank, .reals = value});
    return result;
}

static void write_columns(sp_context *context, const tool_mesh *mesh, const candidates *set, const double *value,
                          json_t *result, tool_output *output)
{
    sp_pool pool = {0};
    const int64_t rows = set->store.rows;

    source from = {.context = context,
                   .store = &set->store,
                   .buffer = chosen.memory ? tool_allocate_raw(&pool, rows * SP_STORE_WIDTH, sizeof(double)) : NULL};
    sp_columns columns = {.rows = rows,
                          .count = set->store.count,
                          .column = next_column,
                          .column_data = &from,
                          .singular_value = chosen.method == METHOD_PCA && !chosen.keep_first ? (double *)value : NULL,
                          .lumped = chosen.lumped};

    memcpy(columns.mesh, mesh->hash, sizeof columns.mesh);

    /* Columns that are not orthonormal are not a basis. */
    json_t *meta = tool_meta_new(chosen.raw ? "snapshots" : "basis");
    tool_check(sp_columns_write(context, tool_output_writer(output), meta, &columns), tool_output_path());

    tool_output_finish(output, result);
    json_decref(meta);
    sp_pool_free(&pool);
}

static const tool_spec spec = {
    .name = "masspca",
    .arguments = "MESH FILE...",
    .least = 2,
    .most = -1,
    .summary = "A mass-orthonormal basis from modes, derivatives, snapshots and trajectories.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_THREADS | TOOL_SEED,
    .seed_only = "method=random",
    .examples = "  masspca spoon.npz modes.npz deriv.npz -r 12 -o basis.npz\n  masspca spoon.npz "
                "motion.npz -r 12 -o motion-basis.npz\n",
};

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&spec, argc, argv);
    tool_mesh mesh;
    sp_fe_space body;
    sp_sparse M, W = {0};
    sp_metric consistent, lumped, energy;
    sp_mean_axes axes = {0};
    sp_pool pool = {0};
    candidates set;

    if (chosen.method == METHOD_RANDOM && !chosen.r)
        tool_fail(SP_USAGE, NULL, "--method random needs -r, the number of combinations");
    const char **paths = tool_allocate_raw(&pool, tool_argument_count(), sizeof *paths);
    for (int i = 1; i < tool_argument_count(); i++)
        paths[i - 1] = tool_argument(i);

    tool_read_mesh(tool_argument(0), NULL, &mesh);
    tool_check(sp_fe_space_new(context, &mesh.mesh, &body), mesh.path);
    candidates_masses(context, &mesh, &body, &pool, &M, &consistent, &lumped);
    const sp_metric *metric = chosen.lumped ? &lumped : &consistent;
    if (chosen.deformation)
        tool_check(sp_mean_axes_new(context, &body, &M, &axes), mesh.path);

    candidate_choice choice = {.columns = chosen.columns,
                               .every = chosen.every,
                               .memory = chosen.memory,
                               .axes = chosen.deformation ? &axes : NULL};
    candidates_read(context, &mesh, &body, &consistent, &choice, tool_argument_count() - 1, paths, &set);
    tool_inputs_are(candidates_have(&set, "trajectory") ? "trajectory" : "columns");
    tool_output *output = tool_output_open(tool_output_path());
    candidates_scale(&set, (enum scaling)chosen.scaling, &body, metric, &consistent, &lumped);

    if (chosen.inner == INNER_ENERGY)
        candidates_energy(&set, &body, metric, chosen.lumped, &W, &energy);
    if (chosen.equal)
        candidates_weigh_files(&set, chosen.inner == INNER_ENERGY ? &energy : metric);

    const int64_t count = set.store.count;
    double *value = tool_allocate(&pool, count, sizeof *value);
    const int64_t rank = reduce(context, metric, chosen.inner == INNER_ENERGY ? &energy : NULL, &set, value);

    json_t *result = report_result(context, metric, &set, count, rank, value);
    write_columns(context, &mesh, &set, value, result, output);

    candidates_free(&set);
    sp_mean_axes_free(&axes);
    sp_pool_free(&pool);
    sp_sparse_free(&M);
    sp_sparse_free(&W);
    sp_fe_space_free(&body);
    sp_mesh_free(&mesh.mesh);
    return tool_end();
}
