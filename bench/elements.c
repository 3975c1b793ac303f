/* Assembly of the stiffness relative to its numeric Cholesky factorization, on one thread, for every element
 * type: cubes of curved elements, no two of which are equal, fixed on one side, with about 27,000 degrees of freedom.
 */
#include "../tests/unit/typed_mesh.h"
#include "bench.h"
#include "linear/cholesky.h"

#include <assert.h>

/* Cells along an edge of the cube. */
static const int cells[] = {
    [SP_HEX8] = 20,   [SP_TET4] = 20,    [SP_TET10] = 10,   [SP_HEX20] = 12, [SP_HEX20R] = 12, [SP_HEX27] = 10,
    [SP_WEDGE6] = 20, [SP_WEDGE15] = 11, [SP_WEDGE18] = 10, [SP_HEX8B] = 20, [SP_HEX8I] = 20};
static_assert(sizeof cells / sizeof *cells == SP_ELEMENT_TYPES, "an element type lacks its cells");

typedef struct job {
    sp_context context;
    sp_fe_space space;
    sp_sparse K;
    sp_cholesky *factor;
    double *u, *f;
} job;

static void require(int status, const sp_context *context)
{
    if (status != SP_OK) {
        fprintf(stderr, "%s\n", context->message);
        exit(1);
    }
}

static void assemble(void *data)
{
    job *j = data;
    memset(j->K.value, 0, (size_t)j->K.start[j->K.order] * sizeof *j->K.value);
    sp_elastic_tangent(&j->context, &j->space, j->u, 1, false, NULL, &j->K);
}

static void factor(void *data)
{
    job *j = data;
    require(sp_cholesky_factor(j->factor, &j->K), &j->context);
}

static void force(void *data)
{
    job *j = data;
    sp_elastic_force(&j->context, &j->space, j->u, j->f);
}

static void nothing(void *data)
{
    (void)data;
}

static void measure(sp_context *context, int type)
{
    sp_mesh mesh;
    job j = {.context = *context};
    int64_t fixed;
    double assembly, factorization, forces, unused;

    /* A body of this type that is fixed at x = 0 */
    make_typed(type, cells[type], cells[type], cells[type], 0.1, 0.05, false, &mesh);
    require(sp_mesh_fix_half_space(context, &mesh, (double[]){1, 0, 0}, 0.01, 7, &fixed), context);

    const double start = bench_now();
    require(sp_fe_space_new(context, &mesh, &j.space), context);
    const double space = bench_now() - start;
    require(sp_fe_space_pattern(context, &j.space), context);
    require(sp_fe_space_matrix(context, &j.space, &j.K), context);
    int64_t *node = sp_pool_new(&mesh.pool, j.space.dof_count, sizeof *node);
    j.u = sp_pool_new(&mesh.pool, 3 * mesh.vertex_count, sizeof *j.u);
    j.f = sp_pool_new(&mesh.pool, 3 * mesh.vertex_count, sizeof *j.f);
    sp_fe_space_nodes(&j.space, node);

    /* Assembly beside factorization, and forces */
    assemble(&j);
    require(sp_cholesky_new(context, &j.K, node, &j.factor), context);
    bench_pair(assemble, factor, &j, 5, &assembly, &factorization);
    bench_pair(force, nothing, &j, 5, &forces, &unused);

    printf("%-8s %9lld %9lld %10.4f %10.4f %10.4f %7.2f %10.4f\n", sp_element_types[type].name,
           (long long)mesh.block[type].count, (long long)j.space.dof_count, space, assembly, factorization,
           assembly / factorization, forces);
    fflush(stdout);

    sp_cholesky_free(j.factor);
    sp_sparse_free(&j.K);
    sp_fe_space_free(&j.space);
    sp_mesh_free(&mesh);
}

int main(void)
{
    bench_begin();
    sp_context context = sp_context_default();
    context.threads = 1;
    printf("%-8s %9s %9s %10s %10s %10s %7s %10s\n", "type", "elements", "free dof", "space [s]", "assembly", "factor",
           "ratio", "force [s]");
    for (int type = 0; type < SP_ELEMENT_TYPES; type++)
        measure(&context, type);
    return 0;
}
