/* masspca: a basis from modes, derivatives, shapes and trajectories. */
#include "assembly/body.h"
#include "basis/pca.h"
#include "formats/trajectory.h"
#include "tools/common/motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum scaling { SCALING_AUTO, SCALING_EIGENVALUE, SCALING_UNIT, SCALING_NONE };

static struct {
    int64_t r, every;
    int method, lumped, scaling;
    const char *columns;
} chosen;

static const tool_option options[] = {
    {"rank", 'r', TOOL_INTEGER, &chosen.r, "R", NULL, .low = 1, .high = 100000, .help = "columns of the basis (default: all independent ones)"},
    {"method", 0, TOOL_CHOICE, &chosen.method, NULL, "pca", "pca|gram-schmidt", .help = "principal directions, or the columns orthonormalized in order"},
    {"lumping", 0, TOOL_CHOICE, &chosen.lumped, NULL, "consistent", "consistent|lumped", .help = "mass matrix of the inner product"},
    {"scaling", 0, TOOL_CHOICE, &chosen.scaling, NULL, "auto", "auto|eigenvalue|unit|none",
     .help = "eigenvalue: mode j by l1/lj, unit derivative (i,j) by l1^2/(li lj); unit: every column; auto: eigenvalue for modes and derivatives, else none"},
    {"columns", 0, TOOL_TEXT, &chosen.columns, "LIST", .help = "only these columns, counted from 1 over all files in order: 1-6,9"},
    {"every", 0, TOOL_INTEGER, &chosen.every, "N", "1", .low = 1, .high = 1000000, .help = "every Nth frame of trajectories"},
};

/* One input file as columns; modes and derivatives keep what the scaling needs. */
typedef struct part {
    const char *path;
    tool_columns file;     /* kind[0] = 0 for a trajectory */
    sp_trajectory trajectory;
    int64_t count;
} part;

static void read_trajectory(sp_context *context, const char *path, const tool_mesh *mesh, part *to)
{
    int descriptor = tool_open_input(path);
    tool_check(sp_trajectory_read(context, descriptor, false, &to->trajectory), path);
    tool_close_input(descriptor);
    const sp_trajectory *trajectory = &to->trajectory;
    tool_record_input(path, NULL, trajectory->hash, trajectory->meta);
    tool_check_hash(path, "mesh", json_string_value(json_object_get(trajectory->meta, "mesh")), mesh->hash);
    if (!trajectory->u || trajectory->vertex)
        tool_fail(SP_INPUT, path, "it does not have the displacements of all vertices (simulate --record all)");
    to->count = (trajectory->frame_count + chosen.every - 1) / chosen.every;
}

static bool is_trajectory(sp_context *context, const char *path)
{
    char kind[16];
    tool_peek_kind(context, path, kind);
    return !strcmp(kind, "trajectory");
}

/* "1-6,9" to zero-based numbers below `count`, in the order given. */
static int64_t parse_columns(const char *text, int64_t count, sp_list *list)
{
    for (const char *at = text; *at;) {
        char *end;
        long long first = strtoll(at, &end, 10), last = first;
        if (end != at && *end == '-')
            last = strtoll(end + 1, &end, 10);
        if (end == at || (*end && *end != ',') || first < 1 || last < first)
            tool_fail(SP_USAGE, NULL, "--columns: \"%s\" is not a list such as 1-6,9", text);
        if (last > count)
            tool_fail(SP_USAGE, NULL, "--columns: %lld of %lld columns", last, (long long)count);
        for (long long c = first; c <= last; c++) {
            int64_t *to = sp_list_add(list, 1, sizeof *to);
            if (!to)
                tool_fail(SP_SYSTEM, NULL, "out of memory");
            *to = c - 1;
        }
        at = *end ? end + 1 : end;
    }
    return list->count;
}

/* The eigenvalue scaling of modes and the derivatives that were made from them. */
static void scale_by_eigenvalue(sp_context *context, part *parts, int64_t part_count, const sp_metric *metric)
{
    sp_columns *modes = NULL;
    for (int64_t p = 0; p < part_count; p++)
        if (!strcmp(parts[p].file.kind, "modes")) {
            if (modes)
                tool_fail(SP_INPUT, parts[p].path, "a second file of modes: eigenvalue scaling takes one");
            modes = &parts[p].file.columns;
        }
    if (!modes)
        tool_fail(SP_INPUT, parts[0].path, "eigenvalue scaling needs the file of the modes");
    if (modes->rigid >= modes->count)
        tool_fail(SP_INPUT, parts[0].path, "all its modes are rigid motions: there is nothing to scale by");
    for (int64_t p = 0; p < part_count; p++) {
        sp_columns *columns = &parts[p].file.columns;
        if (strcmp(parts[p].file.kind, "derivatives") && columns != modes)
            tool_fail(SP_INPUT, parts[p].path, "eigenvalue scaling takes modes and derivatives, not %s", *parts[p].file.kind ? parts[p].file.kind : "a trajectory");
        for (int64_t c = 0; columns->pair && c < 2 * columns->count; c++)
            if (columns->pair[c] >= modes->count)
                tool_fail(SP_INPUT, parts[p].path, "it has a derivative of mode %lld of %lld", (long long)columns->pair[c] + 1, (long long)modes->count);
        if (columns->pair)
            tool_check(sp_scale_derivatives(context, metric, columns->rows, 0, modes->rigid, modes->eigenvalue, NULL, columns->count, columns->pair, columns->U), parts[p].path);
    }
    tool_check(sp_scale_derivatives(context, metric, modes->rows, modes->count, modes->rigid, modes->eigenvalue, modes->U, 0, NULL, NULL), parts[0].path);
}

static void scale_to_unit(sp_context *context, const sp_metric *metric, int64_t count, double *A)
{
    sp_pool pool = {0};
    double *product = sp_pool_raw(&pool, metric->rows, sizeof *product), *work = sp_pool_raw(&pool, metric->matrix ? 2 * metric->matrix->order : 1, sizeof *work);
    if (pool.failed)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    for (int64_t c = 0; c < count; c++) {
        double *column = A + c * metric->rows;
        sp_metric_times(context, metric, 1, column, product, work);
        double square = sp_dense_dot(metric->rows, column, product);
        for (int64_t i = 0; square > 0 && i < metric->rows; i++)
            column[i] /= sqrt(square);
    }
    sp_pool_free(&pool);
}

int main(int argc, char **argv)
{
    sp_context *context = tool_begin(&(tool_spec){"masspca", "MESH FILE...", 2, -1, "A mass-orthonormal basis from modes, derivatives, shapes and trajectories.", options,
                                                  TOOL_COUNT(options), TOOL_OUTPUT | TOOL_THREADS,
                                                  "  masspca spoon.npz modes.npz deriv.npz -r 12 -o basis.npz\n  masspca spoon.npz motion.npz -r 12 -o motion-basis.npz\n"},
                                     argc, argv);
    tool_mesh mesh;
    sp_body body;
    sp_sparse M;
    sp_pool pool = {0};
    tool_read_mesh(tool_argument(0), NULL, &mesh);
    int64_t rows = 3 * mesh.mesh.vertex_count, part_count = tool_argument_count() - 1, total = 0;
    part *parts = sp_pool_new(&pool, part_count, sizeof *parts);
    if (!parts)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    bool modal_only = true, mass_lumped = false;
    int64_t modes_files = 0;
    for (int64_t p = 0; p < part_count; p++) {
        parts[p].path = tool_argument((int)p + 1);
        if (is_trajectory(context, parts[p].path))
            read_trajectory(context, parts[p].path, &mesh, &parts[p]);
        else {
            tool_read_columns(parts[p].path, NULL, NULL, &mesh, &parts[p].file);
            parts[p].count = parts[p].file.columns.count;
        }
        bool is_modes = !strcmp(parts[p].file.kind, "modes");
        modes_files += is_modes;
        mass_lumped |= is_modes && parts[p].file.columns.lumped;
        modal_only &= is_modes || !strcmp(parts[p].file.kind, "derivatives");
        total += parts[p].count;
    }
    tool_check(sp_body_new(context, &mesh.mesh, &body), mesh.path);
    tool_check(sp_body_mass_compressed(context, &body, false, &M), mesh.path);
    double *A = sp_pool_raw(&pool, rows * total, sizeof *A), *diagonal = sp_pool_raw(&pool, rows, sizeof *diagonal), *mass = sp_pool_raw(&pool, mesh.mesh.vertex_count, sizeof *mass);
    double *singular = sp_pool_new(&pool, total, sizeof *singular);
    if (pool.failed)
        tool_fail(SP_SYSTEM, NULL, "out of memory");
    sp_body_vertex_mass(&body, mass);
    for (int64_t i = 0; i < rows; i++)
        diagonal[i] = mass[i / 3];
    sp_metric consistent = {.rows = rows, .matrix = &M, .dof = body.dof}, lumped = {.rows = rows, .diagonal = diagonal};
    const sp_metric *metric = chosen.lumped ? &lumped : &consistent;

    /* derivatives become unit vectors in the mass that normalized the modes, whatever the basis is orthonormal in */
    enum scaling scaling = chosen.scaling == SCALING_AUTO ? (modes_files == 1 && modal_only ? SCALING_EIGENVALUE : SCALING_NONE) : (enum scaling)chosen.scaling;
    if (scaling == SCALING_EIGENVALUE)
        scale_by_eigenvalue(context, parts, part_count, mass_lumped ? &lumped : &consistent);
    double *to = A;
    for (int64_t p = 0; p < part_count; p++) {
        if (*parts[p].file.kind)
            tool_hold_rows(&body, &parts[p].file);
        /* rigid motions of a free body are simulated beside its basis, not in it; their eigenvalue 0 has no scale */
        int64_t rigid = scaling == SCALING_EIGENVALUE ? parts[p].file.columns.rigid : 0;
        if (rigid)
            tool_say("%s: %lld rigid modes are left out of the basis", parts[p].path, (long long)rigid);
        total -= rigid;
        for (int64_t c = rigid; c < parts[p].count; c++, to += rows)
            memcpy(to, *parts[p].file.kind ? parts[p].file.columns.U + c * rows : parts[p].trajectory.u + c * chosen.every * rows, (size_t)rows * sizeof *to);
    }
    if (chosen.columns) {
        sp_list list = {0};
        int64_t count = parse_columns(chosen.columns, total, &list);
        double *picked = sp_pool_raw(&pool, rows * count, sizeof *picked);
        if (!picked)
            tool_fail(SP_SYSTEM, NULL, "out of memory");
        for (int64_t c = 0; c < count; c++)
            memcpy(picked + c * rows, A + ((int64_t *)list.data)[c] * rows, (size_t)rows * sizeof *picked);
        A = picked;
        total = count;
        sp_list_free(&list);
    }
    if (scaling == SCALING_UNIT)
        scale_to_unit(context, metric, total, A);

    tool_output *output = tool_output_open(tool_output_path());
    int64_t rank;
    if (chosen.method == 0)
        tool_check(sp_mass_pca(context, metric, total, A, singular, &rank), mesh.path);
    else {
        double *R = sp_pool_raw(&pool, total * total, sizeof *R);
        if (!R)
            tool_fail(SP_SYSTEM, NULL, "out of memory");
        tool_check(sp_metric_orthonormalize(context, metric, total, A, 1e-10, R, &rank), mesh.path);
        int64_t kept = 0; /* dependent columns are zero: close the gaps */
        for (int64_t c = 0; c < total; c++)
            if (R[c * total + c] != 0) {
                memmove(A + kept * rows, A + c * rows, (size_t)rows * sizeof *A);
                singular[kept++] = R[c * total + c];
            }
    }
    if (rank == 0)
        tool_fail(SP_INPUT, parts[0].path, "every column is zero: there is nothing to make a basis of");
    int64_t r = chosen.r ? chosen.r : rank;
    if (r > rank)
        tool_fail(SP_NUMERICAL, NULL, "-r %lld: only %lld of %lld columns are independent", (long long)r, (long long)rank, (long long)total);
    double orthogonality;
    tool_check(sp_metric_orthogonality(context, metric, r, A, &orthogonality), NULL);
    if (orthogonality > 1e-12)
        tool_fail(SP_NUMERICAL, NULL, "the basis is orthonormal to %.1e only", orthogonality);
    tool_say("%lld columns, rank %lld, %lld kept, orthonormal to %.1e", (long long)total, (long long)rank, (long long)r, orthogonality);

    sp_columns columns = {.rows = rows, .count = r, .U = A, .singular_value = chosen.method == 0 ? singular : NULL, .lumped = chosen.lumped};
    memcpy(columns.mesh, mesh.hash, sizeof columns.mesh);
    json_t *meta = tool_meta_new("basis"), *result = tool_result_new();
    tool_check(sp_columns_write(context, tool_output_writer(output), meta, &columns), tool_output_path());
    json_object_set_new(result, "orthogonality", json_real(orthogonality));
    json_object_set_new(result, "columns", json_integer(total));
    json_object_set_new(result, "rank", json_integer(rank));
    json_object_set_new(result, chosen.method == 0 ? "singular_values" : "new_parts", sp_json_from_numbers(rank, singular));
    tool_output_finish(output, result);
    json_decref(meta);
    for (int64_t p = 0; p < part_count; p++) {
        sp_columns_free(&parts[p].file.columns);
        sp_trajectory_free(&parts[p].trajectory);
    }
    sp_pool_free(&pool);
    sp_sparse_free(&M);
    sp_body_free(&body);
    sp_mesh_free(&mesh.mesh);
    return tool_end();
}
