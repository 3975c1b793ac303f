/* Inertia modes and Lanczos modes as whole processes against the work that cannot be avoided (Yang 2015, Table 2): one factorization with the block
 * solves, or with 3k + 20 single solves. argv[1]: folder of the tools; argv[2]: mesh file; argv[3]: threads; then the numbers of modes. Writes
 * beside the mesh. */
#include "bench.h"
#include "linear/blas.h"
#include "linear/cholesky.h"

#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds of `modes` with these options, and its peak memory. */
static double run_once(char **argv, const char *output, int64_t k, bool krylov, double *gigabytes)
{
    char program[1000], count[30];
    snprintf(program, sizeof program, "%s/modes", argv[1]);
    snprintf(count, sizeof count, "%lld", (long long)k);
    double start = bench_now();
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, argv[2], "-k", count, "-o", output, "-q", "-t", argv[3], krylov ? "--method" : (char *)NULL, "krylov", (char *)NULL);
        _exit(127);
    }
    int status;
    struct rusage usage;
    wait4(child, &status, 0, &usage);
    if (status != 0) {
        fprintf(stderr, "modes failed\n");
        exit(1);
    }
    *gigabytes = (double)usage.ru_maxrss / 1048576;
    return bench_now() - start;
}

/* The least of three, of short ones: the first has its memory from the system, which may take as long as the work. */
static double run(char **argv, const char *output, int64_t k, bool krylov, double *gigabytes)
{
    double least = run_once(argv, output, k, krylov, gigabytes);
    for (int i = 0; i < 2 && least < 20; i++)
        least = fmin(least, run_once(argv, output, k, krylov, gigabytes));
    return least;
}

int main(int argc, char **argv)
{
    enum { WIDTH = 6 };
    if (argc < 5)
        return 2;
    sp_blas_prepare(true);
    sp_context context = sp_context_default();
    context.threads = atoi(argv[3]);
    sp_mesh mesh;
    sp_body body;
    sp_sparse K;
    sp_cholesky *factor;
    char output[1000];
    bench_read(&context, argv[2], &mesh, &body);
    if (sp_elastic_stiffness(&context, &body, &K) != SP_OK)
        return 1;
    int64_t n = body.dof_count;
    double *b = malloc((size_t)(n * WIDTH) * 8);
    int64_t *node = malloc((size_t)n * 8);
    bench_random(n * WIDTH, 1, b);
    sp_body_nodes(&body, node);
    double start = bench_now();
    if (sp_cholesky_new(&context, &K, node, &factor) != SP_OK)
        return 1;
    double analysis = bench_now() - start;
    double factorization = INFINITY, solve[2] = {INFINITY, INFINITY};
    for (int i = 0; i < 3 && (i == 0 || factorization < 20); i++) {
        start = bench_now();
        if (sp_cholesky_factor(factor, &K) != SP_OK)
            return 1;
        factorization = fmin(factorization, bench_now() - start);
    }
    for (int i = 0; i < 6; i++) {
        start = bench_now();
        if (sp_cholesky_solve(factor, i % 2 ? WIDTH : 1, b, b) != SP_OK)
            return 1;
        double once = bench_now() - start;
        solve[i % 2] = once < solve[i % 2] ? once : solve[i % 2];
    }
    printf("%lld elements, %lld degrees of freedom, factor %.1fM nonzeros (%.1f GB), %.1f GFlop: ordering and analysis %.2f s, factorization %.2f s, solve %.3f s, of %d columns %.3f s\n",
           (long long)sp_mesh_element_count(&mesh), (long long)n, sp_cholesky_nonzeros(factor) / 1e6, sp_cholesky_nonzeros(factor) * 8e-9, sp_cholesky_flops(factor) / 1e9,
           analysis, factorization, solve[0], WIDTH, solve[1]);
    sp_cholesky_free(factor);
    sp_body_free(&body);
    sp_mesh_free(&mesh);
    free(b), free(node);
    snprintf(output, sizeof output, "%s.modes", argv[2]);
    for (int i = 4; i < argc; i++) {
        int64_t k = atoll(argv[i]);
        double memory[2], inertia = run(argv, output, k, true, &memory[0]), lanczos = run(argv, output, k, false, &memory[1]);
        double least = analysis + factorization + (double)((k + WIDTH - 1) / WIDTH) * solve[1], single = analysis + factorization + (double)(3 * k + 20) * solve[0];
        printf("  r = %3lld: inertia %7.2f s, %5.2f GB, %.2f of %7.2f s; Lanczos %7.2f s, %5.2f GB, %.2f of %7.2f s; Lanczos / inertia %.2f\n", (long long)k, inertia, memory[0],
               inertia / least, least, lanczos, memory[1], lanczos / single, single, lanczos / inertia);
        fflush(stdout);
    }
    unlink(output);
    return 0;
}
