/* Point shells: bench-pointshell MODEL POINTS LEVELS OFFSET measures the time of particle repulsion on one and two
 * threads (OFFSET −1: automatic, 0: the surface, else metres), and compares the spread of nearest-neighbour distances
 * with that of random samples and of the other generators. */
#include "pointshell/pointshell.h"
#include "bench.h"
#include "formats/import/surface.h"
#include "tools/process/threads.h"

#include <unistd.h>

static void must(const sp_context *context, int status)
{
    if (status == SP_OK)
        return;
    fprintf(stderr, "%s\n", context->message);
    exit(1);
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"repulsion", "vertices", "samples", "voxels", "depth", "farthest"};
    sp_context context = sp_context_default();
    sp_surface surface;
    sp_level level;
    sp_pointshell pointshell;
    sp_pointshell_report report;

    if (argc != 5)
        return 2;

    process_threads_prepare();
    bench_read_surface(&context, argv[1], &surface);
    context.threads = 2;
    double start = bench_now();
    must(&context, sp_level_model(&context, &surface, atof(argv[4]), 0, &level));
    printf("%s: %lld triangles; level: %.2f s, %s%.3g m\n", argv[1], (long long)surface.triangle_count,
           bench_now() - start, level.kind == SP_LEVEL_SURFACE ? "the surface, " : "offset ", level.value);

    const sp_pointshell_parameters p = {.method = SP_POINTSHELL_REPULSION,
                                        .points = atoll(argv[2]),
                                        .levels = atoi(argv[3]),
                                        .branching = 4,
                                        .iterations = 40};

    /* Repulsion, with one and with two threads; the levels are the same for both. */
    for (int threads = 1; threads <= 2; threads++) {
        context.threads = threads;
        start = bench_now();
        must(&context, sp_pointshell_make(&context, &level, &p, &pointshell, &report));
        printf("repulsion, %lld points, %d levels, %d thread%s: %.2f s; gap %.2f spacings, %.1e m off\n",
               (long long)pointshell.count, pointshell.levels, threads, threads > 1 ? "s" : "", bench_now() - start,
               report.gap / report.level[pointshell.levels - 1].spacing, report.off);
        for (int k = 0; k < pointshell.levels && threads == 1; k++)
            printf("  level %d: %8lld points, spread %.4f, least %.2f of the mean, %d iterations, last move %.1e R\n",
                   k + 1, (long long)pointshell.cumulative[k], report.level[k].spread,
                   report.level[k].least / report.level[k].spacing, report.level[k].repel.iterations,
                   report.level[k].repel.last_move);
        sp_pointshell_free(&pointshell);
    }

    /* The other methods, with as many levels as a branching of 8 takes. */
    for (int method = SP_POINTSHELL_VERTICES; method <= SP_POINTSHELL_FARTHEST; method++) {
        sp_pointshell_parameters other = p;
        other.method = (enum sp_pointshell_method)method;
        other.cells = 128;
        other.levels = 0;
        other.branching = 8;
        other.points = method == SP_POINTSHELL_SAMPLES || method == SP_POINTSHELL_FARTHEST ? p.points : 0;

        start = bench_now();
        must(&context, sp_pointshell_make(&context, &level, &other, &pointshell, &report));
        printf("%-9s %8lld points: %.2f s, spread %.4f, least %.2f of the mean, gap %.2f spacings\n", names[method],
               (long long)pointshell.count, bench_now() - start, report.level[pointshell.levels - 1].spread,
               report.level[pointshell.levels - 1].least / report.level[pointshell.levels - 1].spacing,
               report.gap / report.level[pointshell.levels - 1].spacing);
        sp_pointshell_free(&pointshell);
    }

    sp_level_free(&level);
    sp_surface_free(&surface);
    return 0;
}
