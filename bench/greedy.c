/* Greedy cubature (An et al. 2008) relative to the operations that it consists of. Each round computes the
 * displacements and residuals of the candidates' corners (two dense products), their forces at all poses with their
 * products and norms, and the least squares problem of the selected elements. At the end the same is computed once for
 * all elements, for the KKT residual. argv[1]: mesh; argv[2]: basis; argv[3]: training poses; argv[4]: threads; then
 * tolerances. */
#include "assembly/batch.h"
#include "cubature/blocks.h"
#include "cubature/joint.h"
#include "linear/nnls.h"
#include "training.h"

#include <cblas.h>

enum { CANDIDATES = 1000, ROWS = 9 }; /* of a tetrahedron: corners relative to the first */

typedef struct choices {
    int64_t count, *element;
} choices;

static int64_t nothing_known(void *data, int64_t *number, int64_t room)
{
    (void)data, (void)number, (void)room;
    return -1;
}

static void note_choice(void *data, int64_t count, const int64_t *number)
{
    choices *c = data;
    (void)count;
    c->element[c->count++] = number[0];
}

/* Seconds of one product [rows, r] × [r, poses], the minimum of three runs. */
static double product_of(int64_t rows, int64_t r, int64_t poses)
{
    double *A = malloc((size_t)(rows * r) * 8), *B = malloc((size_t)(r * poses) * 8),
           *C = malloc((size_t)(rows * poses) * 8), least = INFINITY;
    bench_random(rows * r, 1, A);
    bench_random(r * poses, 2, B);
    for (int i = 0; i < 3; i++) {
        double start = bench_now();
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasTrans, (int)rows, (int)poses, (int)r, 1, A, (int)r, B, (int)r, 0,
                    C, (int)poses);
        least = fmin(least, bench_now() - start);
    }
    free(A), free(B), free(C);
    return least;
}

/* The use of forces: their products with the residual, and their squares. */
SP_CLONES static void products_of_forces(int64_t width, sp_lanes force[8][3], const double *v, const double *C,
                                         sp_lanes *sum, sp_lanes *squares)
{
    static const double one[SP_LANES] __attribute__((aligned(64))) = {1, 1, 1, 1, 1, 1, 1, 1};
    sp_poses_dot(4, (const int64_t[]){0, 1, 2, 3}, width, force, v, sum);
    sp_poses_square(ROWS, C, force, one, squares);
}

/* Seconds for the forces of one element at `poses` poses, their products with the residuals and their norm, from rows
 * of displacements and residuals, without anything else. */
static double forces_of(const sp_fe_space *body, int64_t poses)
{
    enum { ELEMENTS = 2000, WITH_FIRST = ROWS + 3 };
    int64_t padded = (poses + SP_LANES - 1) / SP_LANES * SP_LANES, count = sp_mesh_element_count(body->mesh);
    sp_lanes *u = aligned_alloc(64, (size_t)(ROWS * padded) * 8),
             *v = aligned_alloc(64, (size_t)(WITH_FIRST * padded) * 8), displacement[8][3] = {{{0}}}, force[8][3],
             energy, sum = {0};
    double C[ROWS * (ROWS + 1) / 2];
    sp_element_lanes data;
    double least = INFINITY;
    bench_random(ROWS * padded, 3, (double *)u);
    bench_random(WITH_FIRST * padded, 5, (double *)v);
    bench_random(ROWS * (ROWS + 1) / 2, 6, C);
    for (int64_t i = 0; i < ROWS * padded / SP_LANES; i++)
        u[i] *= 1e-4;
    sp_element_lanes_start(&data);
    for (int run = 0; run < 5; run++) {
        double start = bench_now();
        for (int64_t k = 0; k < ELEMENTS; k++) {
            sp_element_lanes_fill(body, count * k / ELEMENTS, &data);
            for (int64_t g = 0; g < padded / SP_LANES; g++) {
                for (int i = 0; i < ROWS; i++)
                    displacement[1 + i / 3][i % 3] = u[i * padded / SP_LANES + g];
                sp_batch_force(&data, displacement, force, &energy);
                products_of_forces(padded, force, (const double *)(v + g), C, &sum, &sum);
            }
        }
        least = fmin(least, bench_now() - start);
    }
    free(u), free(v);
    return sum[0] == 0 ? 0 : least / ELEMENTS;
}

/* Seconds of the least squares problems alone, with the selected columns in their order. */
static double problems(sp_context *context, sp_training *training, const choices *chosen)
{
    sp_nnls_set *set;
    sp_nnls_report report;
    int64_t rows = sp_training_rows(training);
    double *column = malloc((size_t)rows * 8), spent = 0;
    if (sp_nnls_set_new(context, rows, sp_training_target(training), 64, &set) != SP_OK)
        exit(1);
    for (int64_t k = 0; k < chosen->count; k++) {
        if (sp_training_columns(training, 1, &chosen->element[k], column) != SP_OK)
            exit(1);
        double start = bench_now();
        if (sp_nnls_set_add(set, 1, column, &chosen->element[k]) != SP_OK ||
            sp_nnls_set_solve(set, &(sp_nnls_parameters){0}, &report) != SP_OK)
            exit(1);
        sp_nnls_set_drop(set);
        spent += bench_now() - start;
    }
    sp_nnls_set_free(set);
    free(column);
    return spent;
}

int main(int argc, char **argv)
{
    sp_context context;
    bench_training given;
    sp_training *training;
    bench_read_training(argc, argv, &context, &given);
    int64_t elements = sp_mesh_element_count(&given.mesh), r = given.poses.r, T = given.poses.count;
    double force = forces_of(&given.body, T) / context.threads,
           some = 2 * product_of(ROWS * CANDIDATES, r, T) / context.threads,
           all = 2 * product_of(3 * given.mesh.vertex_count, r, T) / context.threads;
    printf("%lld elements, r = %lld, %lld poses: %.1f ns a force with its products; products of %d candidates %.1f ms, "
           "of all vertices %.1f ms\n",
           (long long)elements, (long long)r, (long long)T, 1e9 * force / (double)T, CANDIDATES, 1e3 * some, 1e3 * all);
    for (int i = 5; i < argc; i++) {
        double least = INFINITY;
        choices chosen = {.element = malloc((size_t)elements * 8)};
        sp_cubature_log log = {&chosen, nothing_known, note_choice};
        sp_cubature_parameters parameters = {
            .method = SP_CUBATURE_GREEDY, .tolerance = atof(argv[i]), .candidates = CANDIDATES, .log = &log};
        sp_cubature_report report = {0};
        for (int run = 0; run < 2; run++) { /* the second run has its memory already */
            sp_cubature cubature;
            chosen.count = 0;
            double start = bench_now();
            if (sp_training_new(&context, &given.body, given.basis.U, &(sp_training_measure){0}, &given.poses, 0,
                                &training) != SP_OK ||
                sp_cubature_train(&context, &given.body, training, &parameters, &cubature, &report) != SP_OK) {
                fprintf(stderr, "%s\n", context.message);
                return 1;
            }
            least = fmin(least, bench_now() - start);
            sp_cubature_free(&cubature);
            if (run == 0)
                sp_training_free(training);
        }
        double rounds = (double)report.rounds, candidates = rounds * (some + CANDIDATES * force),
               last = all + (double)elements * force, squares = problems(&context, training, &chosen);
        printf("  error %s: %lld rounds, %.2f s; products and forces of candidates %.2f s, of all %.2f s, least "
               "squares %.2f s: ratio %.2f\n",
               argv[i], (long long)report.rounds, least, candidates, last, squares,
               least / (candidates + last + squares));
        fflush(stdout);
        sp_training_free(training);
        free(chosen.element);
    }
    bench_free_training(&given);
    return 0;
}
