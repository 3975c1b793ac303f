/* Distance fields. bench-distfield MODEL CELLS compares the time of a field by bricks with one query of the tree per
 * vertex.
 *
 * bench-distfield check POINTS CELLS MODEL... compares the signs of every model's field at this number of random
 * vertices with winding numbers: those of the tree, or exact ones if these are within 0.05 of one half, and at every
 * 16th vertex, which shows the error of the tree. There distances are also compared with brute force. */
#include "bench.h"
#include "geometry/distance_field.h"
#include "geometry/winding.h"

#include <omp.h>
#include <unistd.h>

static void must(const sp_context *context, int status)
{
    if (status == SP_OK)
        return;
    fprintf(stderr, "%s\n", context->message);
    exit(1);
}

static void position(const sp_field *field, int64_t vertex, double x[3])
{
    const int64_t nx = field->cells[0] + 1, ny = field->cells[1] + 1;
    sp_field_position(field, vertex % nx, vertex / nx % ny, vertex / nx / ny, x);
}

static void measure(sp_context *context, const char *path, int64_t cells)
{
    sp_surface surface;
    bench_read_surface(context, path, &surface);
    printf("%s: %lld triangles, %lld cells an axis\n", path, (long long)surface.triangle_count, (long long)cells);
    for (int sign = SP_FIELD_AUTO; sign <= SP_FIELD_UNSIGNED; sign += sign == SP_FIELD_AUTO ? SP_FIELD_OFFSET : 1) {
        static const char *const names[] = {"signed", "", "", "offset", "unsigned"};
        for (int threads = 1; threads <= 2; threads++) {
            sp_field field;
            sp_distance_report report;
            const sp_distance_parameters p = {
                .cells = cells, .scale = 1.5, .cube = true, .sign = (enum sp_field_sign)sign};
            context->threads = threads;
            const double start = bench_now();
            must(context, sp_distance_field(context, &surface, &p, &field, &report));
            const double seconds = bench_now() - start;
            printf("  %-8s %d thread%s: %.2f s, %.3f us a vertex\n", names[sign], threads, threads > 1 ? "s" : "",
                   seconds, 1e6 * seconds / (double)sp_field_vertices(&field));
            if (sign == SP_FIELD_UNSIGNED && threads == 1) {
                sp_closest *closest;
                sp_nearest nearest;
                must(context, sp_closest_new(context, &surface, &closest));
                for (int order = 0; order < 2; order++) {
                    enum { QUERIES = 20000 };
                    const double begin = bench_now();
                    for (int64_t i = 0; i < QUERIES; i++) {
                        double x[3];
                        const double at = order ? 0.5 : sp_random_uniform(1, 1, (uint64_t)i);
                        position(&field,
                                 (int64_t)(at * (double)(sp_field_vertices(&field) - QUERIES)) + (order ? i : 0), x);
                        sp_closest_find(closest, x, &nearest);
                    }
                    const double one = (bench_now() - begin) / QUERIES;
                    printf("  one query of the tree, %s: %.2f us: the bricks take %.3f of it a vertex\n",
                           order ? "in rows through the middle" : "at random", 1e6 * one,
                           seconds / (double)sp_field_vertices(&field) / one);
                }
                sp_closest_free(closest);
            }
            sp_field_free(&field);
        }
    }
    sp_surface_free(&surface);
}

/* Squared distance from a triangle: from the foot on its plane, or from its sides. */
static double triangle_square(const double *corner[3], const double x[3])
{
    double best = INFINITY, e[2][3], v[3], ee[2] = {0, 0}, ev[2] = {0, 0}, ef = 0, foot = 0;
    for (int i = 0; i < 3; i++) {
        const double *a = corner[i], *b = corner[(i + 1) % 3];
        double along = 0, size = 0, square = 0;
        for (int k = 0; k < 3; k++) {
            along += (x[k] - a[k]) * (b[k] - a[k]);
            size += (b[k] - a[k]) * (b[k] - a[k]);
        }
        const double t = size > 0 ? fmin(fmax(along / size, 0), 1) : 0;
        for (int k = 0; k < 3; k++) {
            const double d = x[k] - a[k] - t * (b[k] - a[k]);
            square += d * d;
        }
        best = fmin(best, square);
    }
    for (int k = 0; k < 3; k++) {
        v[k] = x[k] - corner[0][k];
        for (int i = 0; i < 2; i++) {
            e[i][k] = corner[i + 1][k] - corner[0][k];
            ee[i] += e[i][k] * e[i][k];
            ev[i] += e[i][k] * v[k];
        }
        ef += e[0][k] * e[1][k];
    }
    const double determinant = ee[0] * ee[1] - ef * ef;
    if (!(determinant > 1e-12 * ee[0] * ee[1]))
        return best;
    const double s = (ee[1] * ev[0] - ef * ev[1]) / determinant, t = (ee[0] * ev[1] - ef * ev[0]) / determinant;
    for (int k = 0; k < 3; k++)
        foot += (v[k] - s * e[0][k] - t * e[1][k]) * (v[k] - s * e[0][k] - t * e[1][k]);
    return s >= 0 && t >= 0 && s + t <= 1 ? foot : best;
}

static void check(sp_context *context, int64_t points, int64_t cells, const char *path)
{
    enum { EXACT = 16 };
    sp_surface surface, oriented;
    sp_field field;
    sp_distance_report report;
    sp_orient_report orient;
    sp_winding *winding;
    const sp_distance_parameters p = {.cells = cells, .scale = 1.5, .cube = true};
    double low[3], high[3], worst = 0, error = 0;
    int64_t wrong = 0, inside = 0, exact = 0;
    context->threads = omp_get_max_threads();
    bench_read_surface(context, path, &surface);
    must(context, sp_distance_field(context, &surface, &p, &field, &report));
    must(context, sp_surface_orient(context, &surface, &oriented, &orient));
    must(context, sp_winding_new(context, &oriented, &winding));
    sp_surface_box(&surface, low, high);
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : wrong, inside, exact) reduction(max : worst, error)
    for (int64_t i = 0; i < points; i++) {
        double x[3], best = INFINITY;
        const int64_t vertex = (int64_t)(sp_random_uniform(2, 0, (uint64_t)i) * (double)sp_field_vertices(&field));
        const double distance = (double)field.distance[vertex];
        position(&field, vertex, x);
        for (int64_t t = 0; t < surface.triangle_count && i % EXACT == 0; t++) {
            const int64_t *v = surface.triangles + 3 * t;
            best =
                fmin(best, triangle_square((const double *[3]){surface.vertices + 3 * v[0], surface.vertices + 3 * v[1],
                                                               surface.vertices + 3 * v[2]},
                                           x));
        }
        if (i % EXACT == 0)
            worst = fmax(worst, fabs(fabs(distance) - sqrt(best)));
        double winds = sp_winding_number(winding, x, 8);
        if (i % EXACT == 0 || fabs(winds - 0.5) < 0.05) {
            const double sum = sp_winding_number(winding, x, 0);
            error = fmax(error, fabs(winds - sum));
            winds = sum;
            exact++;
        }
        wrong += distance != 0 && (distance < 0) != (winds >= 0.5);
        inside += winds >= 0.5;
    }
    const double diagonal = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
    const char *name = strrchr(path, '/');
    printf("%-30s %s, %s: %lld wrong signs of %lld (%lld inside, %lld by exact sums, the tree within %.0e of these), ",
           name ? name + 1 : path, report.closed ? "closed" : "open",
           report.sign == SP_FIELD_WINDING ? "winding number" : "pseudonormal", (long long)wrong, (long long)points,
           (long long)inside, (long long)exact, error);
    printf("distances within %.1e of the diagonal\n", worst / diagonal);
    fflush(stdout);
    sp_winding_free(winding);
    sp_surface_free(&oriented);
    sp_surface_free(&surface);
    sp_field_free(&field);
}

int main(int argc, char **argv)
{
    sp_context context = sp_context_default();
    if (argc >= 5 && !strcmp(argv[1], "check"))
        for (int i = 4; i < argc; i++)
            check(&context, atoll(argv[2]), atoll(argv[3]), argv[i]);
    else if (argc == 3)
        measure(&context, argv[1], atoll(argv[2]));
    else
        return 2;
    return 0;
}
