/* modalderiv: modal derivatives of constrained and free bodies, inertia derivatives of any order. */
#include "basis/free_derivatives.h"
#include "mesh/mesh_sets.h"
#include "tools/common/parallel.h"
#include "tools/common/shard.h"
#include "tools/derivatives/methods.h"

#include <stdlib.h>
#include <string.h>

enum method { METHOD_MODAL, METHOD_INERTIA };
enum solver { SOLVER_DIRECT, SOLVER_SLEPC, SOLVER_AMG };

static struct {
    int method;
    int64_t count, memory, order, most;
    tool_texts pairs;
    const char *shard;
    int solver;
    double tolerance;
} chosen;

static const tool_option options[] = {
    {"method", 0, TOOL_CHOICE, &chosen.method, NULL, "modal", "modal|inertia",
     .help = "modal: of eigenvectors, order 1; inertia: of modes or snapshots, static, any order (Yang 2015)"},
    {"modes", 'k', TOOL_INTEGER, &chosen.count, "N", NULL, .low = 1, .high = 100000,
     .help = "use the first N modes (default: all)"},
    {"pairs", 0, TOOL_TEXTS, &chosen.pairs, "I,J[;I,J]", .only = "method=modal",
     .help = "only these pairs, modes counted from 1"},
    {"order", 0, TOOL_INTEGER, &chosen.order, "N", "1", .low = 1, .high = 100, .only = "method=inertia",
     .help = "derivatives up to this order"},
    {"most", 0, TOOL_INTEGER, &chosen.most, "N", NULL, .low = 1, .high = 100000, .only = "method=inertia",
     .help = "only the N heaviest, each by the product of l1/l of what it is made of (default: all of order 1)"},
    {"memory", 0, TOOL_SIZE, &chosen.memory, "SIZE", NULL, .silent = true, .only = "method=modal solver=direct",
     .help = "bound on the right-hand sides held at a time, such as 500M"},
    {"solver", 0, TOOL_CHOICE, &chosen.solver, NULL, "direct", "direct|slepc|amg", .only = "method=modal",
     .help = "direct: a factorization of our own; without interfaces, under mpirun too, slepc: by MUMPS, amg: by "
             "conjugate gradients with algebraic multigrid"},
    {"tolerance", 0, TOOL_REAL, &chosen.tolerance, "X", "1e-10", .low = 1e-14, .high = 1e-2, .only = "solver=amg",
     .help = "residual of the conjugate gradients, relative to the load"},
    TOOL_SHARD_OPTION(&chosen.shard, NULL),
};

static void add_pair(int64_t i, int64_t j, sp_list *list)
{
    int64_t *pair = tool_list_add(list, 2, sizeof *pair);
    pair[0] = i;
    pair[1] = j;
}

/* "1,1;1,2" to zero-based pairs appended to the list. */
static void parse_pairs(const char *text, int64_t rigid, int64_t modes, sp_list *list)
{
    for (const char *at = text; *at;) {
        char *end;
        long long i = strtoll(at, &end, 10), j = *end == ',' ? strtoll(end + 1, &end, 10) : 0;
        if (i < 1 || j < 1 || (*end && *end != ';'))
            tool_fail(SP_USAGE, NULL, "--pairs: \"%s\" is not a list of pairs such as 1,1;1,2", text);
        if (i > modes || j > modes)
            tool_fail(SP_USAGE, NULL, "--pairs: pair %lld,%lld of %lld modes", i, j, (long long)modes);
        if (i <= rigid || j <= rigid)
            tool_fail(SP_USAGE, NULL, "--pairs: pair %lld,%lld names a rigid mode (the first %lld are)", i, j,
                      (long long)rigid);
        add_pair(i - 1, j - 1, list);
        at = *end ? end + 1 : end;
    }
}

/* Which derivatives: the pairs named, or all. */
static void choose(derivatives_problem *p)
{
    bool modal = chosen.method == METHOD_MODAL;
    int64_t elastic = p->k - p->rigid;

    for (int64_t i = 0; i < chosen.pairs.count; i++)
        parse_pairs(chosen.pairs.value[i], p->rigid, p->k, &p->pairs);
    if (modal && chosen.pairs.count == 0)
        derivatives_all_pairs(p);

    /* Derivatives of a free body are solved together, so that shards are cut between groups. */
    p->shard = chosen.shard;
    if (modal)
        derivatives_cut_shard(p, p->rigid ? SP_FREE_DERIVATIVES_WIDTH : 1);

    if (chosen.shard && chosen.order > 1)
        tool_fail(SP_USAGE, NULL,
                  "--shard: derivatives of order %d are made from those of lower order: only --order 1 can be divided",
                  (int)chosen.order);

    p->order = (int)chosen.order;
    p->most = (int)(chosen.most ? chosen.most : elastic * (elastic + 1) / 2);
    if (!modal && p->order > 1 && !chosen.most)
        tool_fail(SP_USAGE, NULL, "--order %d: already order 2 has %lld derivatives: say how many with --most",
                  p->order, (long long)(elastic * elastic * (elastic + 1) / 2));
}

/* An interface whose mean is at rest. */
static void add_average(derivatives_problem *p, const char *name, const sp_mesh_set *set)
{
    sp_interface *to = &p->averages[p->average_count++];
    *to =
        (sp_interface){.frame = SP_FRAME_AVERAGE, .at_rest = true, .vertex_count = set->count, .vertices = set->index};
    snprintf(to->name, sizeof to->name, "%s", name);
    to->share = tool_allocate(&p->pool, set->count, sizeof *to->share);
}

/* Of a basis with interface coordinates the derivatives have the interfaces at rest: the coordinates say where these
 * are. The columns keep their motion. */
static void hold_interfaces(derivatives_problem *p)
{
    sp_mesh *mesh = &p->mesh.mesh;
    const sp_columns *columns = &p->modes.columns;

    tool_check(sp_fe_space_new(p->context, mesh, &p->whole), p->mesh.path);
    tool_check(sp_fe_space_pattern(p->context, &p->whole), p->mesh.path);

    /* A shallow copy with fixed vertices of its own. */
    p->held = *mesh;
    p->held.pool = (sp_pool){0};
    p->held.fixed = tool_allocate_copy(&p->held.pool, mesh->fixed, mesh->fixed_count, sizeof *mesh->fixed);
    p->held.fixed_axes = tool_allocate_copy(&p->held.pool, mesh->fixed_axes, mesh->fixed_count, 1);
    p->averages = tool_allocate(&p->pool, columns->interface_count, sizeof *p->averages);

    for (int64_t i = 0; i < columns->interface_count; i++) {
        const sp_mesh_set *set = sp_mesh_find_set(mesh, columns->interfaces[i].name, SP_SET_VERTICES);

        if (!set || set->count != columns->interfaces[i].vertex_count)
            tool_fail(SP_INPUT, p->modes.path, "the mesh has no set \"%s\" of %lld vertices, an interface of the basis",
                      columns->interfaces[i].name, (long long)columns->interfaces[i].vertex_count);

        if (columns->interfaces[i].frame == SP_FRAME_AVERAGE)
            add_average(p, columns->interfaces[i].name, set);
        else
            tool_check(sp_mesh_fix_list(p->context, &p->held, set->count, set->index, 7), p->mesh.path);
    }
}

/* Snapshots have modal derivatives if they are an interface basis, whose columns are static answers and modes. */
static void check_kind(const derivatives_problem *p)
{
    if (chosen.method == METHOD_MODAL && strcmp(p->modes.kind, "modes") &&
        sp_columns_coordinates(&p->modes.columns) == 0) {
        tool_hint("--method inertia makes those of any columns");
        tool_fail(SP_INPUT, p->modes.path, "it is a file of kind %s, expected modes or an interface basis",
                  p->modes.kind);
    }
}

/* Derivatives are those of K at rest. */
static void refuse_state(const derivatives_problem *p)
{
    if (p->modes.columns.ritz)
        tool_fail(SP_INPUT, p->modes.path,
                  "its columns are Ritz vectors of a subspace, derivatives are of eigenvectors");
    if (p->modes.columns.about[0])
        tool_fail(SP_INPUT, p->modes.path,
                  "its modes are about a static equilibrium, derivatives are of modes at rest");
}

static void solve_alone(derivatives_problem *p)
{
    if (p->modes.columns.interface_count > 0)
        hold_interfaces(p);
    tool_check(sp_fe_space_new(p->context, p->held.vertex_count ? &p->held : &p->mesh.mesh, &p->body), p->mesh.path);
    tool_check_modes(&p->mesh, &p->body, &p->modes);
    tool_check(sp_fe_space_pattern(p->context, &p->body), p->mesh.path);
    derivatives_restrict(p);
    (chosen.method == METHOD_MODAL ? derivatives_modal : derivatives_inertia)(p);
}

static const tool_spec spec = {
    .name = "modalderiv",
    .arguments = "MESH MODES",
    .least = 2,
    .most = 2,
    .summary = "Modal derivatives: how the modes change as the body deforms along them.",
    .options = options,
    .option_count = TOOL_COUNT(options),
    .common = TOOL_OUTPUT | TOOL_THREADS,
    .examples = "  modalderiv spoon.npz modes.npz -o deriv.npz\n"
                "  modalderiv spoon.npz modes.npz --shard 1/4 -o part1.npz\n"
                "  modalderiv spoon.npz inertia.npz --method inertia --order 2 --most 100 \\\n"
                "    -o deriv.npz\n",
};

int main(int argc, char **argv)
{
    derivatives_problem p = {0};
    p.context = tool_begin(&spec, argc, argv);
    static const char *const kinds[] = {"modes", "snapshots", NULL};
    const bool parallel = chosen.method == METHOD_MODAL && chosen.solver != SOLVER_DIRECT;

    if (parallel)
        tool_parallel_start(chosen.solver == SOLVER_SLEPC ? "slepc" : "amg");

    tool_read_mesh(tool_argument(0), NULL, &p.mesh);
    tool_read_columns(tool_argument(1), NULL, kinds, &p.mesh, &p.modes);
    check_kind(&p);
    refuse_state(&p);
    tool_hold_rows(&p.mesh.mesh, &p.modes);

    p.k = chosen.count ? chosen.count : p.modes.columns.count;
    p.rigid = p.modes.columns.rigid;
    p.memory = chosen.memory;
    p.path = tool_output_path();

    if (p.k > p.modes.columns.count)
        tool_fail(SP_USAGE, p.modes.path, "--modes %lld: the file has %lld", (long long)p.k,
                  (long long)p.modes.columns.count);
    if (p.rigid >= p.k)
        tool_fail(SP_INPUT, p.modes.path, "its %lld modes are rigid motions", (long long)p.k);

    choose(&p);
    tool_output *output = tool_parallel_rank() == 0 ? tool_output_open(tool_output_path()) : NULL;
    p.result = tool_result_new();

    if (parallel)
        derivatives_parallel(&p, chosen.solver == SOLVER_SLEPC, chosen.tolerance);
    else
        solve_alone(&p);

    if (output)
        derivatives_write(&p, output);
    else
        json_decref(p.result);

    derivatives_restrict_close(&p);
    sp_pool_free(&p.pool);
    sp_list_free(&p.pairs);
    sp_fe_space_free(&p.body);
    sp_fe_space_free(&p.whole);
    sp_pool_free(&p.held.pool);
    sp_columns_free(&p.modes.columns);
    sp_mesh_free(&p.mesh.mesh);
    return tool_end();
}
