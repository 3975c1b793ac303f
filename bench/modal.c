/* Modal cubature (Yang 2015, Table 3): the r small least squares problems, without the computation of poses and
 * columns, relative to reading their matrices once, which no method can avoid. argv[1]: mesh; argv[2]: basis; argv[3]:
 * training poses; argv[4]: threads; then the requested numbers of elements. Each time is the minimum of five. */
#include "cubature/modal.h"
#include "linear/gram.h"
#include "training.h"

#include <cblas.h>

/* Reads `count` numbers once; returns the minimum time of five. */
static double reading(int64_t count, double *sum)
{
    double *values = malloc((size_t)count * 8), least = INFINITY;
    bench_random(count, 3, values);
    for (int k = 0; k < 5; k++) {
        double start = bench_now();
        for (int64_t first = 0; first < count; first += 1 << 20)
            *sum += cblas_dasum((int)(count - first < 1 << 20 ? count - first : 1 << 20), values + first, 1);
        double once = bench_now() - start;
        least = once < least ? once : least;
    }
    free(values);
    return least;
}

/* Seconds of the Gram matrices alone, r times AᵀA of [poses, n], which are the fewest operations of a direct solution;
 * the minimum time of five. */
static double squares(int64_t r, int64_t poses, int64_t n)
{
    double *A = malloc((size_t)(poses * n) * 8), *H = calloc((size_t)(n * n), 8), least = INFINITY;
    bench_random(poses * n, 4, A);
    for (int k = 0; k < 5; k++) {
        double start = bench_now();
        for (int64_t j = 0; j < r; j++)
            sp_gram_add(poses, n, A, poses, H, n);
        least = fmin(least, bench_now() - start);
    }
    free(A), free(H);
    return least;
}

int main(int argc, char **argv)
{
    sp_context context;
    bench_training given;
    sp_training *training;
    double sum = 0;
    bench_read_training(argc, argv, &context, &given);
    if (sp_training_new(&context, &given.body, given.basis.U, &(sp_training_measure){0}, &given.poses, 0, &training) !=
        SP_OK)
        return 1;
    printf("%lld elements, r = %lld, %lld poses, %d threads\n", (long long)sp_mesh_element_count(&given.mesh),
           (long long)given.poses.r, (long long)given.poses.count, context.threads);
    for (int i = 5; i < argc; i++) {
        sp_modal_points points;
        sp_modal *modal;
        sp_modal_report report;
        double start = bench_now(), placed, columns, solved = INFINITY;
        int64_t kept = 0;
        if (sp_modal_points_new(&context, &given.body, atoll(argv[i]), &points) != SP_OK ||
            sp_modal_new(&context, &points, given.poses.r, &modal) != SP_OK)
            return 1;
        placed = bench_now() - start;
        start = bench_now();
        if (sp_modal_add(modal, training) != SP_OK)
            return 1;
        columns = bench_now() - start;
        for (int k = 0; k < 5; k++) {
            sp_cubature cubature;
            start = bench_now();
            if (sp_modal_solve(modal, false, &cubature, &report) != SP_OK) {
                fprintf(stderr, "%s\n", context.message);
                return 1;
            }
            double once = bench_now() - start;
            solved = once < solved ? once : solved;
            kept = cubature.count;
            sp_cubature_free(&cubature);
        }
        double gram = squares(given.poses.r, given.poses.count, points.count) / context.threads,
               least = reading(given.poses.r * given.poses.count * (points.count + 1), &sum);
        printf("  %4lld placed, %4lld with weights: error %.4f (eq. 12 / r: %.4f), KKT %.0e; placing %.3f s, columns "
               "%.3f s, solving %.4f s, %.1f times reading (%.4f s), their Gram matrices alone %.1f times\n",
               (long long)points.count, (long long)kept, report.error, report.mean_error, report.kkt, placed, columns,
               solved, solved / least, least, gram / least);
        fflush(stdout);
        sp_modal_free(modal);
        sp_modal_points_free(&points);
    }
    sp_training_free(training);
    bench_free_training(&given);
    return sum > 0 ? 0 : 1;
}
