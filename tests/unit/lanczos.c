/* Both eigensolvers: known spectra, invariant subspaces, restarts, and one solver against the other. */
#include "assembly/elastic.h"
#include "basis/modes.h"
#include "fixture.h"
#include "linear/dense.h"

/* K = T diag(λ) Tᵀ with a rotation T of each two rows (2i, 2i + 1), M = 2 I: λ/2 are the eigenvalues. */
static void paired(int64_t n, const double *lambda, sp_sparse *K, sp_sparse *M)
{
    for (int which = 0; which < 2; which++) {
        sp_sparse *matrix = which ? M : K;
        *matrix = (sp_sparse){.order = n};
        matrix->start = sp_pool_new(&matrix->pool, n + 1, sizeof *matrix->start);
        matrix->index = sp_pool_new(&matrix->pool, 2 * n, sizeof *matrix->index);
        matrix->value = sp_pool_new(&matrix->pool, 2 * n, sizeof *matrix->value);
        for (int64_t i = 0; i < n; i++) {
            int64_t other = i ^ 1;
            double c = cos(0.1 * (double)(i / 2)), s = sin(0.1 * (double)(i / 2)), a = lambda[i & ~INT64_C(1)],
                   b = other < n || i % 2 ? lambda[i | 1] : 0;
            matrix->start[i + 1] = matrix->start[i];
            for (int64_t j = i & ~INT64_C(1); j <= (i | 1) && j < n; j++) {
                double entry = n - 1 == (i & ~INT64_C(1)) ? lambda[i]
                               : i != j                   ? c * s * (a - b)
                               : i % 2                    ? s * s * a + c * c * b
                                                          : c * c * a + s * s * b;
                matrix->index[matrix->start[i + 1]] = j;
                matrix->value[matrix->start[i + 1]++] = which ? 2 * (i == j) : entry;
            }
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void known(const char *name, int64_t n, const double *lambda, int64_t count, double residual_bound)
{
    OWNED(sp_sparse) K, M;
    double *sorted = test_new(n, 8), *vector = test_new(n * count, 8), *eigenvalue = test_new(count, 8),
           *residual = test_new(count, 8);
    memcpy(sorted, lambda, (size_t)n * 8);
    qsort(sorted, (size_t)n, 8, ascending);
    paired(n, lambda, &K, &M);
    for (int arpack = 0; arpack < 2; arpack++) {
        sp_modes_report report;
        CHECK_OK(sp_modes(&context, &K, &M, NULL, 0, NULL,
                          &(sp_modes_parameters){.count = count, .arpack = arpack, .tolerance = 1e-12}, eigenvalue,
                          vector, residual, &report));
        double worst = 0;
        for (int64_t i = 0; i < count; i++) {
            CHECK(fabs(eigenvalue[i] / (sorted[i] / 2) - 1) < 1e-11, "%s: eigenvalue %lld is %.15g, not %.15g", name,
                  (long long)i, eigenvalue[i], sorted[i] / 2);
            worst = fmax(worst, residual[i]);
        }
        NOTE("%s, %s: %lld solves, residual %.1e, missed %lld", name, arpack ? "ARPACK" : "blocks",
             (long long)report.solves, worst, (long long)report.missed);
        CHECK(worst < residual_bound && report.orthogonality < 1e-13, "%s: residual %g, orthogonality %g", name, worst,
              report.orthogonality);
    }
}

TEST(known_spectra)
{
    enum { MANY = 4000 };
    static double lambda[MANY];
    for (int i = 0; i < MANY; i++)
        lambda[i] = 1 + (double)((i * 1237) % MANY);
    known("1, 2, 3, ...", MANY, lambda, 30, 1e-9);
    for (int i = 0; i < MANY; i++)
        lambda[i] = 1 + 2e-3 * (double)((i * 1237) % MANY);
    known("close together, restarted", MANY, lambda, 6, 1e-9);
    for (int i = 0; i < MANY; i++)
        lambda[i] = exp(log(1e12) * i / MANY);
    known("twelve orders", MANY, lambda, 40, 1e-7);
}

/* The Krylov space becomes invariant before it has as many vectors as requested: fewer unknowns than two blocks, few
 * different eigenvalues, all eigenvalues equal. */
TEST(spaces_that_close)
{
    double lambda[60];
    for (int n = 2; n <= 23; n += 7) {
        for (int i = 0; i < n; i++)
            lambda[i] = 1 + (i * 5) % n;
        known("small", n, lambda, n - 1, 1e-12);
        known("small", n, lambda, n / 2, 1e-12);
    }
    for (int i = 0; i < 60; i++)
        lambda[i] = 3;
    known("all equal", 60, lambda, 20, 1e-12);
    for (int i = 0; i < 60; i++)
        lambda[i] = 1 + i % 3;
    known("three different", 60, lambda, 30, 1e-12);
    for (int i = 0; i < 60; i++)
        lambda[i] = i < 11 ? 1 : 1 + i;
    known("eleven equal", 60, lambda, 14, 1e-12);
}

/* A cube, free, has double and triple eigenvalues; a bar, fixed. */
TEST(both_find_the_same)
{
    enum { COUNT = 40 };
    for (int prescribed = 0; prescribed < 2; prescribed++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        OWNED(sp_sparse) K, M;
        int64_t rigid_count;
        make_box(prescribed ? 12 : 6, prescribed ? 3 : 6, prescribed ? 2 : 6, 0.1, 0, &mesh);
        if (prescribed)
            fix_end(&mesh, 0.05);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_fe_space_pattern(&context, &body));
        CHECK_OK(sp_elastic_stiffness(&context, &body, &K));
        CHECK_OK(sp_fe_space_mass_compressed(&context, &body, false, &M));
        int64_t n = body.dof_count;
        double *rigid = test_new(6 * n, 8), *vector[2], eigenvalue[2][COUNT], residual[COUNT];
        CHECK_OK(sp_rigid_motions(&context, &body, &M, rigid, &rigid_count));
        for (int arpack = 0; arpack < 2; arpack++) {
            sp_modes_report report;
            vector[arpack] = malloc((size_t)(n * COUNT) * 8);
            CHECK_OK(sp_modes(&context, &K, &M, NULL, rigid_count, rigid,
                              &(sp_modes_parameters){.count = COUNT, .arpack = arpack}, eigenvalue[arpack],
                              vector[arpack], residual, &report));
            CHECK(report.missed == 0, "%lld modes missed at first", (long long)report.missed);
        }
        /* the part of ARPACK's vectors outside of the space of the others, up to the last gap */
        int64_t whole = COUNT;
        while (eigenvalue[0][whole - 1] - eigenvalue[0][whole - 2] < 1e-3 * eigenvalue[0][whole - 1])
            whole--;
        whole--;
        double *mass = test_new(n * COUNT, 8), *inner = test_new(COUNT * COUNT, 8),
               *work = malloc((size_t)sp_dense_inner_work(COUNT, COUNT) * 8), worst = 0;
        sp_sparse_times(&context, &M, COUNT, vector[1], mass);
        sp_dense_inner(&context, n, whole, vector[0], whole, mass, inner, work);
        for (int64_t j = 0; j < whole; j++) {
            double square = 0;
            for (int64_t i = 0; i < whole; i++)
                square += inner[whole * j + i] * inner[whole * j + i];
            worst = fmax(worst, fabs(1 - square));
            if (j >= rigid_count)
                CHECK(fabs(eigenvalue[0][j] / eigenvalue[1][j] - 1) < 1e-10, "eigenvalue %lld: %.15g and %.15g",
                      (long long)j, eigenvalue[0][j], eigenvalue[1][j]);
        }
        NOTE("%s: %lld modes, 1 - cos^2 %.1e", prescribed ? "held bar" : "free cube", (long long)whole, worst);
        CHECK(whole > COUNT / 2 && worst < 1e-12, "the spaces differ by %g", worst);
        free(work), free(vector[0]), free(vector[1]);
    }
}

BEFORE_TESTS()
{
    context.threads = 2;
}
