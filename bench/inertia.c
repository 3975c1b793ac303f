/* Inertia modes and Lanczos modes as separate processes relative to the unavoidable work (Yang 2015, Table 2): one
 * factorization with the block solves, or with 3k + 20 single solves. argv[1]: folder of the tools;
 * argv[2]: mesh file; argv[3]: threads; then the numbers of modes. Output is written next to the mesh. */
#include "bench.h"
#include "linear/cholesky.h"

#include <math.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WIDTH = 6, ROUNDS = 3 }; /* columns of a block */

/* Seconds of `modes` with these options, and its peak memory. expected: expected memory, GB. */
static double run_once(char **argv, const char *output, int64_t k, bool krylov, double expected, double *gigabytes)
{
    char program[1000], count[30];
    bench_warm(1.5 * expected + 0.2);
    snprintf(program, sizeof program, "%s/modes", argv[1]);
    snprintf(count, sizeof count, "%lld", (long long)k);
    double start = bench_now();
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, argv[2], "-k", count, "-o", output, "-q", "-t", argv[3],
              krylov ? "--method" : (char *)NULL, "krylov", (char *)NULL);
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

/* The time of a process that does only this work, so that its memory comes from the system like that of `modes`. */
typedef struct work {
    int64_t elements, order;
    double analysis, factorization, single, block; /* s; of solves the minimum of three each */
    double nonzeros, flops;
} work;

static work factor_and_solve(char **argv)
{
    work w = {.single = INFINITY, .block = INFINITY};
    sp_context context = sp_context_default();
    sp_mesh mesh;
    sp_fe_space body;
    sp_sparse K;
    sp_cholesky *factor;

    context.threads = atoi(argv[3]);
    bench_begin();
    bench_read(&context, argv[2], &mesh, &body);
    if (sp_elastic_stiffness(&context, &body, &K) != SP_OK)
        exit(1);

    double *b = malloc((size_t)(K.order * WIDTH) * 8);
    int64_t *node = malloc((size_t)K.order * 8);
    bench_random(K.order * WIDTH, 1, b);
    sp_fe_space_nodes(&body, node);
    w.elements = sp_mesh_element_count(&mesh);
    w.order = K.order;

    double start = bench_now();
    if (sp_cholesky_new(&context, &K, node, &factor) != SP_OK)
        exit(1);
    w.analysis = bench_now() - start;
    start = bench_now();
    if (sp_cholesky_factor(factor, &K) != SP_OK)
        exit(1);
    w.factorization = bench_now() - start;

    for (int i = 0; i < 3; i++) {
        start = bench_now();
        if (sp_cholesky_solve(factor, 1, b, b) != SP_OK)
            exit(1);
        w.single = fmin(w.single, bench_now() - start);
        start = bench_now();
        if (sp_cholesky_solve(factor, WIDTH, b, b) != SP_OK)
            exit(1);
        w.block = fmin(w.block, bench_now() - start);
    }
    w.nonzeros = sp_cholesky_nonzeros(factor);
    w.flops = sp_cholesky_flops(factor);
    return w; /* the process ends here, so that nothing needs to be freed */
}

static work work_once(char **argv, double expected)
{
    work w;
    int ends[2];
    if (pipe(ends) != 0)
        exit(1);
    bench_warm(1.5 * expected + 0.2);
    pid_t child = fork();
    if (child == 0) {
        w = factor_and_solve(argv);
        _exit(write(ends[1], &w, sizeof w) == sizeof w ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &w, sizeof w) != sizeof w)
        exit(1);
    close(ends[0]);
    waitpid(child, NULL, 0);
    return w;
}

int main(int argc, char **argv)
{
    enum { MOST = 16 };
    if (argc < 5 || argc > 4 + MOST)
        return 2;

    char output[1000];
    double seconds[MOST][2], memory[MOST][2];
    snprintf(output, sizeof output, "%s.modes", argv[2]);

    work w = work_once(argv, 0);                                                /* for its size */
    const double factor = 12e-9 * w.nonzeros, column = 24e-9 * (double)w.order; /* GB, including other memory */
    for (int round = 0; round < (w.factorization < 5 ? ROUNDS : 1);
         round++) { /* all are interleaved, and the minimum of each is used, since other work on the machine varies */
        work once = work_once(argv, factor);
        w.analysis = fmin(w.analysis, once.analysis);
        w.factorization = fmin(w.factorization, once.factorization);
        w.single = fmin(w.single, once.single);
        w.block = fmin(w.block, once.block);
        for (int i = 4; i < argc; i++)
            for (int krylov = 0; krylov < 2; krylov++) {
                double took = run_once(argv, output, atoll(argv[i]), krylov, factor + column * atof(argv[i]),
                                       &memory[i - 4][krylov]);
                seconds[i - 4][krylov] = round == 0 ? took : fmin(seconds[i - 4][krylov], took);
            }
    }
    unlink(output);

    printf("%lld elements, %lld degrees of freedom, factor %.1fM nonzeros (%.1f GB), %.1f GFlop: ordering and analysis "
           "%.2f s, factorization %.2f s, solve %.3f s, of %d columns %.3f s\n",
           (long long)w.elements, (long long)w.order, w.nonzeros / 1e6, w.nonzeros * 8e-9, w.flops / 1e9, w.analysis,
           w.factorization, w.single, WIDTH, w.block);
    for (int i = 4; i < argc; i++) {
        int64_t k = atoll(argv[i]);
        const double *took = seconds[i - 4], *gigabytes = memory[i - 4];
        double blocks = (double)((k + WIDTH - 1) / WIDTH), block = w.analysis + w.factorization + blocks * w.block,
               single = w.analysis + w.factorization + (double)(3 * k + 20) * w.single;
        printf("  r = %3lld: inertia %7.2f s, %5.2f GB, %.2f of %7.2f s; Lanczos "
               "%7.2f s, %5.2f GB, %.2f of %7.2f s; Lanczos / inertia %.2f\n",
               (long long)k, took[1], gigabytes[1], took[1] / block, block, took[0], gigabytes[0], took[0] / single,
               single, took[0] / took[1]);
    }
    return 0;
}
