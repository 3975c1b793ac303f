/* Nonnegative least squares relative to its lower bound: one dsyrk of all columns, the Gram matrix alone, both on one
 * thread and ours also on two. Each problem and its time are written to the folder argv[1] for bench/nnls.py, which
 * runs SciPy on the same problem. argv[2]: only the problems with this in their name.
 *
 * "cubature" columns are forces of elements at random points of a body in random poses of 10 smooth displacement
 * fields, reduced to these: a_e[pose, i] = φ_i(X)·f(Σ q_d φ_d(X)), f(u) = u + u³; b is their sum over eight times as
 * many points. "random" columns are uniform in (0,1), half of them in b with random weights, and 1 % of noise. "set":
 * columns of the first type are added one at a time, with a solve after each. */
#include "linear/nnls.h"
#include "bench.h"

#include <cblas.h>

enum { FIELDS = 10 };

typedef struct problem {
    sp_context *context;
    int64_t m, n;
    double *A, *b, *w, *H;
    sp_nnls_report report;
} problem;

static void fields(uint64_t stream, uint64_t point, double *value)
{
    double X[3];
    for (uint64_t i = 0; i < 3; i++)
        X[i] = sp_random_uniform(1, stream, 3 * point + i);
    for (int d = 0; d < FIELDS; d++)
        value[d] = sin(1 + d + (1 + d % 3) * X[0] + (d / 3) * X[1]) * (X[0] + 0.1 * (d + 1) * X[2]);
}

static void cubature_column(int64_t m, uint64_t stream, uint64_t point, double scale, double *column)
{
    double phi[FIELDS];
    fields(stream, point, phi);
    for (int64_t first = 0; first < m; first += FIELDS) {
        double u = 0;
        for (int64_t d = 0; d < FIELDS; d++)
            u += phi[d] * sp_random_normal(2, 7, (uint64_t)(first + d));
        for (int64_t d = 0; d < FIELDS && first + d < m; d++)
            column[first + d] += scale * phi[d] * (u + u * u * u);
    }
}

static void make(problem *p, bool cubature)
{
    int64_t m = p->m, n = p->n;
    p->A = calloc((size_t)(m * n), 8);
    p->b = calloc((size_t)m, 8);
    p->w = calloc((size_t)n, 8);
    p->H = calloc((size_t)(n * n), 8);
    for (int64_t j = 0; j < n; j++) {
        double *a = p->A + j * m;
        if (cubature) {
            cubature_column(m, 11, (uint64_t)j, 1, a);
            for (uint64_t i = 0; i < 8 && j < 200; i++)
                cubature_column(m, 12, (uint64_t)j * 8 + i, 1, p->b);
        } else {
            for (int64_t i = 0; i < m; i++)
                a[i] = sp_random_uniform(3, (uint64_t)j, (uint64_t)i);
            if (j % 2 == 0)
                cblas_daxpy((int)m, sp_random_uniform(4, 1, (uint64_t)j), a, 1, p->b, 1);
        }
    }
    double noise = cubature ? 0 : 0.01 * cblas_dnrm2((int)m, p->b, 1) / sqrt((double)m);
    for (int64_t i = 0; i < m; i++)
        p->b[i] += noise * sp_random_normal(5, 1, (uint64_t)i);
}

static void ours(void *data)
{
    problem *p = data;
    if (sp_nnls(p->context, p->m, p->n, p->A, p->m, p->b, &(sp_nnls_parameters){0}, p->w, &p->report) != SP_OK) {
        fprintf(stderr, "nnls: %s\n", p->context->message);
        if (p->report.positive == 0)
            exit(1);
    }
}

static void gram(void *data)
{
    problem *p = data;
    cblas_dsyrk(CblasColMajor, CblasUpper, CblasTrans, (int)p->n, (int)p->m, 1, p->A, (int)p->m, 0, p->H, (int)p->n);
}

static void save(const char *folder, const char *name, const char *what, int64_t count, const double *values)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", folder, name, what);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(values, 8, (size_t)count, file) != (size_t)count || fclose(file) != 0) {
        perror(path);
        exit(1);
    }
}

static void offered(problem *p)
{
    sp_nnls_set *set;
    double start = bench_now(), adding = 0;
    int64_t changes = 0, most = 0;
    if (sp_nnls_set_new(p->context, p->m, p->b, 0, &set) != SP_OK)
        exit(1);
    for (int64_t j = 0; j < p->n; j++) {
        double before = bench_now();
        if (sp_nnls_set_add(set, 1, p->A + j * p->m, &j) != SP_OK)
            exit(1);
        adding += bench_now() - before;
        if (sp_nnls_set_solve(set, &(sp_nnls_parameters){0}, &p->report) != SP_OK) {
            fprintf(stderr, "nnls: %s\n", p->context->message);
            exit(1);
        }
        changes += p->report.iterations;
        most = p->report.positive > most ? p->report.positive : most;
    }
    double seconds = bench_now() - start;
    printf("  set: %lld x %lld one at a time, %lld changes, at most %lld positive: %.3f s, of which adding %.3f; all "
           "at once ",
           (long long)p->m, (long long)p->n, (long long)changes, (long long)most, seconds, adding);
    start = bench_now();
    ours(p);
    printf("%.3f s\n", bench_now() - start);
    sp_nnls_set_free(set);
}

int main(int argc, char **argv)
{
    static const struct {
        int64_t m, n;
    } sizes[] = {{20, 10}, {100, 20}, {300, 300}, {1000, 100}, {1000, 3000}, {6000, 300}, {30000, 1000}};
    if (argc != 2 && argc != 3)
        return 2;
    bench_begin();
    char path[4096], name[64];
    snprintf(path, sizeof path, "%s/list", argv[1]);
    FILE *list = fopen(path, "w");
    if (!list) {
        perror(path);
        return 1;
    }
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        sp_context context = sp_context_default();
        problem p = {.context = &context, .m = sizes[i / 2].m, .n = sizes[i / 2].n};
        snprintf(name, sizeof name, "%s-%lldx%lld", i % 2 ? "random" : "cubature", (long long)p.m, (long long)p.n);
        if (argc == 3 && !strstr(name, argv[2]))
            continue;
        make(&p, i % 2 == 0);
        double one, two, limit, ignored;
        int rounds = p.m * p.n > 2000000 ? 3 : p.m * p.n > 20000 ? 21 : 99;
        bench_pair(ours, gram, &p, rounds, &one, &limit);
        context.threads = 2;
        bench_pair(ours, gram, &p, rounds, &two, &ignored);
        printf("  %-20s %4lld positive, %5lld changes, KKT %.1e: %9.3g s, %5.2f x one dsyrk; two threads %9.3g s\n",
               name, (long long)p.report.positive, (long long)p.report.iterations, p.report.kkt, one, one / limit, two);
        fflush(stdout);
        save(argv[1], name, "A", p.m * p.n, p.A);
        save(argv[1], name, "b", p.m, p.b);
        save(argv[1], name, "w", p.n, p.w);
        fprintf(list, "%s %lld %lld %.9g %.9g\n", name, (long long)p.m, (long long)p.n, one, two);
        if (i % 2 == 0 && p.m >= 6000)
            offered(&p);
        free(p.A);
        free(p.b);
        free(p.w);
        free(p.H);
    }
    return fclose(list) != 0;
}
