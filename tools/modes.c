/* modes: the lowest vibration modes of a mesh. */
#include "assembly/stvk.h"
#include "basis/modes.h"
#include "formats/sparse.h"
#include "tools/common/inputs.h"

#include <math.h>
#include <string.h>

static struct {
    int64_t count;
    int lumped;
    bool certify, lumping_given;
    double tolerance;
    const char *stiffness, *mass, *write_stiffness, *write_mass;
} chosen;

static const tool_option options[] = {
    {"count", 'k', TOOL_INTEGER, &chosen.count, "N", "20", .low = 1, .high = 100000, .help = "number of modes, rigid ones included"},
    {"lumping", 0, TOOL_CHOICE, &chosen.lumped, NULL, "consistent", "consistent|lumped", .help = "mass matrix: full or row sums on the diagonal", .given = &chosen.lumping_given},
    {"tolerance", 0, TOOL_REAL, &chosen.tolerance, "X", "1e-12", .low = 0, .high = 1e-2, .help = "of the Lanczos run, relative; 0: the machine's"},
    {"certify", 0, TOOL_FLAG, &chosen.certify, .help = "count the eigenvalues below the last mode by matrix inertia (slow)"},
    {"stiffness", 0, TOOL_INPUT, &chosen.stiffness, "FILE", .help = "use this stiffness matrix K instead of the mesh's own"},
    {"mass", 0, TOOL_INPUT, &chosen.mass, "FILE", .help = "use this mass matrix M instead of the mesh's own"},
    {"write-stiffness", 0, TOOL_TEXT, &chosen.write_stiffness, "FILE", .help = "also write K for scipy.sparse.load_npz", .silent = true},
    {"write-mass", 0, TOOL_TEXT, &chosen.write_mass, "FILE", .help = "also write M for scipy.sparse.load_npz", .silent = true},
};

/* A matrix from a file, which must be over the same degrees of freedom. */
static void read_matrix(sp_context *context, const char *path, const char *option, const sp_body *body, sp_sparse *matrix)
{
    static const char *const kinds[] = {"sparse", NULL};
    sp_file file;
    int64_t *dof;
    char which[8];
    tool_read(path, option, kinds, true, &file);
    tool_check(sp_sparse_read(context, &file, matrix, &dof, which), path);
    sp_file_free(&file);
    if (matrix->order != body->dof_count)
        tool_fail(SP_INPUT, path, "the matrix has %lld rows, the mesh %lld free degrees of freedom", (long long)matrix->order, (long long)body->dof_count);
    for (int64_t i = 0; dof && i < matrix->order; i++)
        if (dof[i] != body->free[i])
            tool_fail(SP_INPUT, path, "row %lld belongs to degree of freedom %lld, in the mesh to %lld", (long long)i, (long long)dof[i], (long long)body->free[i]);
}

static bool is_diagonal(const sp_sparse *matrix)
{
    for (int64_t row = 0; row < matrix->order; row++)
        for (int64_t k = matrix->start[row]; k < matrix->start[row + 1]; k++)
            if (matrix->index[k] != row && matrix->value[k] != 0)
                return false;
    return true;
}

static void write_matrix(sp_context *context, const char *path, const char *option, const char *which, const sp_body *body, const sp_sparse *matrix, const char *mesh_hash)
{
    tool_output *output = tool_output_open(path);
    json_t *meta = tool_meta_new("sparse");
    tool_meta_output(meta, option);
    json_object_set_new(meta, "mesh", json_string(mesh_hash));
    tool_check(sp_sparse_write(context, tool_output_writer(output), meta, matrix, body->free, which), path);
    json_decref(meta);
    tool_output_finish(output, tool_result_new());
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&(tool_spec){"modes", "MESH", 1, 1, "Lowest vibration modes of a mesh: K psi = lambda M psi.", options, TOOL_COUNT(options),
                                                  TOOL_OUTPUT | TOOL_THREADS | TOOL_SEED, "  modes spoon.npz -k 20 -o modes.npz\n  modes free.npz -k 12 --certify -o - | siminfo -\n"},
                                     argc, argv);
    tool_mesh mesh;
    sp_body body;
    sp_sparse K, M;
    sp_pool pool = {0};
    tool_read_mesh(tool_argument(0), NULL, &mesh);
    tool_check(sp_body_new(context, &mesh.mesh, &body), mesh.path);
    int64_t n = body.dof_count, rows = 3 * mesh.mesh.vertex_count, k = chosen.count;
    if (k >= n)
        tool_fail(SP_USAGE, NULL, "--count %lld: the mesh has only %lld free degrees of freedom", (long long)k, (long long)n);
    tool_output *output = tool_output_open(tool_output_path());
    tool_check(sp_body_pattern(context, &body), mesh.path);

    double *full = sp_pool_new(&pool, rows * k, sizeof *full), *vector = sp_pool_raw(&pool, n * k, sizeof *vector), *rigid = sp_pool_raw(&pool, 6 * n, sizeof *rigid);
    double *eigenvalue = sp_pool_raw(&pool, k, sizeof *eigenvalue), *residual = sp_pool_raw(&pool, k, sizeof *residual);
    int64_t *node = sp_pool_raw(&pool, n, sizeof *node), rigid_count;
    if (pool.failed)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    for (int64_t i = 0; i < n; i++)
        node[i] = body.free[i] / 3;
    if (chosen.stiffness)
        read_matrix(context, chosen.stiffness, "stiffness", &body, &K);
    else {
        tool_check(sp_body_matrix(context, &body, &K), mesh.path);
        sp_stvk_tangent(context, &body, full, 1, false, NULL, &K);
    }
    if (chosen.mass && chosen.lumping_given)
        tool_fail(SP_USAGE, NULL, "--lumping is about the mesh's own mass matrix, not that of --mass");
    if (chosen.mass) {
        read_matrix(context, chosen.mass, "mass", &body, &M);
        chosen.lumped = is_diagonal(&M);
    } else
        tool_check(sp_body_mass_compressed(context, &body, chosen.lumped, &M), mesh.path);
    if (chosen.write_stiffness)
        write_matrix(context, chosen.write_stiffness, "write-stiffness", "K", &body, &K, mesh.hash);
    if (chosen.write_mass)
        write_matrix(context, chosen.write_mass, "write-mass", "M", &body, &M, mesh.hash);

    sp_modes_parameters parameters = {.count = k, .tolerance = chosen.tolerance, .certify = chosen.certify};
    sp_modes_report report;
    tool_check(sp_rigid_motions(context, &body, &M, rigid, &rigid_count), mesh.path);
    tool_check(sp_modes(context, &K, &M, node, rigid_count, rigid, &parameters, eigenvalue, vector, residual, &report), mesh.path);
    double worst = 0;
    for (int64_t i = 0; i < k; i++) {
        sp_body_spread(&body, vector + i * n, full + i * rows);
        worst = fmax(worst, residual[i]);
    }
    if (!(worst < 1e-3))
        tool_fail(SP_NUMERICAL, mesh.path, "the residual of a mode is %.1e: K and M do not make a usable eigenproblem", worst);
    if (worst > 1e-6)
        tool_warn(mesh.path, "the residual of a mode is %.1e", worst);
    if (report.certified >= 0 && report.certified != report.below)
        tool_fail(SP_NUMERICAL, mesh.path, "%lld eigenvalues lie below the last mode, %lld were found", (long long)report.certified, (long long)report.below);
    for (int64_t i = 0; i < k && !tool_quiet() && i < 20; i++)
        tool_say("mode %2lld  %12.6f Hz%s", (long long)i + 1, sqrt(eigenvalue[i]) / 6.283185307179586, i < report.rigid ? "  rigid" : "");

    sp_columns columns = {.rows = rows, .count = k, .U = full, .eigenvalue = eigenvalue, .residual = residual, .lumped = chosen.lumped, .rigid = report.rigid};
    memcpy(columns.mesh, mesh.hash, sizeof columns.mesh);
    json_t *meta = tool_meta_new("modes"), *result = tool_result_new();
    tool_check(sp_columns_write(context, tool_output_writer(output), meta, &columns), tool_output_path());
    json_object_set_new(result, "largest_residual", json_real(worst));
    json_object_set_new(result, "orthogonality", json_real(report.orthogonality));
    json_object_set_new(result, "rigid", json_integer(report.rigid));
    json_object_set_new(result, "shift", json_real(report.shift));
    json_object_set_new(result, "solves", json_integer(report.solves));
    json_object_set_new(result, "missed_at_first", json_integer(report.missed));
    json_object_set_new(result, "next_eigenvalue_below", isfinite(report.next) ? json_real(report.next) : json_null());
    json_object_set_new(result, "certified_below_last", report.certified >= 0 ? json_integer(report.certified) : json_null());
    json_object_set_new(result, "factor_nonzeros", json_real(report.factor_nonzeros));
    json_object_set_new(result, "factor_flops", json_real(report.factor_flops));
    tool_output_finish(output, result);
    json_decref(meta);
    sp_pool_free(&pool);
    sp_sparse_free(&K);
    sp_sparse_free(&M);
    sp_body_free(&body);
    sp_mesh_free(&mesh.mesh);
    return tool_end();
}
