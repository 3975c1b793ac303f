/* `modes` and `modalderiv` as separate processes compared with a reference in this process, one factorization and 80
 * single solves (not a lower bound: solving for several vectors at a time takes less), and the cost of a full StVK step
 * in assembly, factorization and solve. argv[1]: folder of the tools; argv[2]: mesh file; argv[3]: threads. Output is
 * written next to the mesh. */
#include "bench.h"
#include "linear/cholesky.h"

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

/* The minimum of three runs, each with pre-faulted memory, like the reference. expected: GB. */
static double run(const char *command, double expected)
{
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        bench_warm(expected);
        double start = bench_now();
        int status = system(command);
        if (status != 0) {
            fprintf(stderr, "failed: %s\n", command);
            exit(1);
        }
        least = fmin(least, bench_now() - start);
    }
    return least;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    bench_begin();
    sp_context context = sp_context_default();
    context.threads = atoi(argv[3]);
    sp_mesh mesh;
    sp_fe_space body;
    sp_sparse K;
    sp_cholesky *factor;
    char command[2000];
    bench_read(&context, argv[2], &mesh, &body);
    if (sp_fe_space_pattern(&context, &body) != SP_OK || sp_fe_space_matrix(&context, &body, &K) != SP_OK)
        return 1;
    int64_t n = body.dof_count, rows = 3 * mesh.vertex_count;
    double *u = calloc((size_t)rows, 8), *f = calloc((size_t)rows, 8), *b = malloc((size_t)n * 8),
           *x = malloc((size_t)n * 8);
    int64_t *node = malloc((size_t)n * 8);
    bench_random(n, 1, b);
    sp_fe_space_nodes(&body, node);
    double start = bench_now();
    sp_elastic_tangent(&context, &body, u, 1, false, f, &K);
    double assembly_first = bench_now() - start;
    memset(K.value, 0, (size_t)K.start[n] * 8);
    start = bench_now();
    sp_elastic_tangent(&context, &body, u, 1, false, f, &K);
    double assembly = bench_now() - start;
    start = bench_now();
    sp_elastic_force(&context, &body, u, f);
    double force = bench_now() - start;
    start = bench_now();
    if (sp_cholesky_new(&context, &K, node, &factor) != SP_OK)
        return 1;
    double analysis = bench_now() - start;
    start = bench_now();
    if (sp_cholesky_factor(factor, &K) != SP_OK)
        return 1;
    double factorization = bench_now() - start;
    for (int i = 0; i < 2; i++) {
        start = bench_now();
        if (sp_cholesky_factor(factor, &K) != SP_OK)
            return 1;
        factorization = fmin(factorization, bench_now() - start);
    }
    double solve = 0;
    for (int i = 0; i < 9; i++) {
        start = bench_now();
        if (sp_cholesky_solve(factor, 1, b, x) != SP_OK)
            return 1;
        double once = bench_now() - start;
        solve = i == 0 || once < solve ? once : solve;
    }
    printf("%s: %lld elements, %lld degrees of freedom, factor %.1fM nonzeros, %.1f GFlop, %d threads\n", argv[2],
           (long long)sp_mesh_element_count(&mesh), (long long)n, sp_cholesky_nonzeros(factor) / 1e6,
           sp_cholesky_flops(factor) / 1e9, context.threads);
    printf("  full step: force %.3f s, assembly %.3f s (first %.3f), factorization %.3f s (%.1f GFlop/s), solve %.4f "
           "s; assembly / factorization %.2f\n",
           force, assembly, assembly_first, factorization, sp_cholesky_flops(factor) / factorization / 1e9, solve,
           assembly / factorization);
    snprintf(command, sizeof command, "'%s/modes' '%s' -k 20 -o '%s.modes' -q -t %d", argv[1], argv[2], argv[2],
             context.threads);
    const double expected = 3 * 8e-9 * (double)sp_cholesky_nonzeros(factor) + 0.3;
    double modes = run(command, expected), reference = factorization + 80 * solve;
    printf(
        "  modes k = 20: %.2f s, least of 3; reference, factorization + 80 single solves: %.2f s (analysis %.2f beside "
        "it): ratio %.2f\n",
        modes, reference, analysis, modes / reference);
    fflush(stdout);
    sp_cholesky_free(factor);
    snprintf(command, sizeof command, "'%s/modalderiv' '%s' '%s.modes' -k 20 -o '%s.deriv' -q -t %d", argv[1], argv[2],
             argv[2], argv[2], context.threads);
    double derivatives = run(command, expected + 16e-9 * 210 * (double)n);
    printf("  modalderiv k = 20 (210 columns): %.2f s: %.2f times analysis and factorization\n", derivatives,
           derivatives / (analysis + factorization));
    return 0;
}
