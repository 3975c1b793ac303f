/* The cost of a step of linearly implicit Euler under gravity for linear, corotated and nonlinear strain, by solver:
 * bench-warp MESH STEP STEPS. The steps of all models are interleaved, so that a drift of the machine's speed affects
 * no ratio; medians over the steps. The first line, linear with conjugate gradients and block-Jacobi preconditioning,
 * is 5 in the paper's ratio. */
#include "model/warp/warp.h"
#include "bench.h"
#include "integrate/integrate.h"
#include "model/models.h"

static const double TOLERANCE = 1e-6; /* of every iterative solver */

enum model { LINEAR, WARP, FULL };

typedef struct variant {
    const char *name;
    enum model model;
    int solver; /* sp_solver; sp_warp_solver for WARP */
    sp_warp warp;
} variant;

static const variant variants[] = {
    {"linear, jacobi", LINEAR, SP_SOLVER_JACOBI, {0}},
    {"vertex frame, jacobi", WARP, SP_WARP_JACOBI, {.kind = SP_WARP_VERTEX}},
    {"vertex polar, jacobi", WARP, SP_WARP_JACOBI, {.kind = SP_WARP_VERTEX, .rotation = SP_ROTATION_POLAR}},
    {"element polar, jacobi", WARP, SP_WARP_JACOBI, {.kind = SP_WARP_ELEMENT, .rotation = SP_ROTATION_POLAR}},
    {"nonlinear, jacobi", FULL, SP_SOLVER_JACOBI, {0}},
    {"linear, direct", LINEAR, SP_SOLVER_DIRECT, {0}},
    {"vertex frame, factor", WARP, SP_WARP_FACTOR, {.kind = SP_WARP_VERTEX}},
    {"vertex polar, factor", WARP, SP_WARP_FACTOR, {.kind = SP_WARP_VERTEX, .rotation = SP_ROTATION_POLAR}},
    {"element polar, factor", WARP, SP_WARP_FACTOR, {.kind = SP_WARP_ELEMENT, .rotation = SP_ROTATION_POLAR}},
    {"nonlinear, direct", FULL, SP_SOLVER_DIRECT, {0}},
    {"nonlinear, reused", FULL, SP_SOLVER_REUSED, {0}},
};
enum { COUNT = sizeof variants / sizeof *variants, MOST = 1000 };

typedef struct weight {
    int64_t n;
    double *force;
} weight;

static void gravity(void *self, double t0, double t1, double *f)
{
    const weight *w = self;
    (void)t0, (void)t1;
    memcpy(f, w->force, (size_t)w->n * sizeof *f);
}

static void solves_of(const variant *v, const sp_system *system, int64_t *solves, int64_t *products)
{
    int64_t factorizations;
    if (v->model == WARP)
        sp_warp_system_solves(system, solves, products);
    else
        sp_full_system_solves(system, solves, products, &factorizations);
}

int main(int argc, char **argv)
{
    bench_begin();
    sp_context context = sp_context_default();
    sp_mesh mesh[COUNT];
    sp_fe_space body[COUNT];
    sp_system system[COUNT];
    sp_external_loads forcing[COUNT];
    sp_integrator *integrator[COUNT];
    weight weights[COUNT];
    static double time[COUNT][MOST];
    bool failed[COUNT] = {0};
    const double h = argc == 4 ? atof(argv[2]) : 0;
    const int steps = argc == 4 ? atoi(argv[3]) : 0;
    if (!(h > 0) || steps < 1 || steps > MOST) {
        fprintf(stderr, "usage: bench-warp MESH STEP STEPS\n");
        return 2;
    }
    for (int i = 0; i < COUNT; i++) {
        const variant *v = &variants[i];
        sp_warp warp = v->warp;
        warp.lumped = true;
        warp.solver = (enum sp_warp_solver)v->solver;
        bench_read(&context, argv[1], &mesh[i], &body[i]);
        int status = v->model == WARP
                         ? sp_warp_system_new(&context, &body[i], &warp, TOLERANCE, &system[i])
                         : sp_full_system_new(&context, &body[i], v->model == LINEAR, true, NULL, &system[i]);
        if (status == SP_OK && v->model != WARP && v->solver != SP_SOLVER_DIRECT)
            status = sp_full_system_solver(&system[i], (enum sp_solver)v->solver, TOLERANCE);
        const int64_t n = system[i].n;
        double *down = calloc((size_t)n, 8);
        weights[i] = (weight){n, calloc((size_t)n, 8)};
        for (int64_t row = 0; row < n; row++)
            down[row] = body[i].free[row] % 3 == 2 ? -9.81 : 0;
        if (status == SP_OK)
            system[i].mass_times(system[i].self, down, weights[i].force);
        free(down);
        forcing[i] = (sp_external_loads){.self = &weights[i], .mean = gravity};
        const sp_integrator_parameters p = {.kind = SP_LINEAR_EULER, .step = h, .beta = 1};
        if (status != SP_OK ||
            sp_integrator_new(&context, &system[i], &forcing[i], &p, NULL, NULL, &integrator[i]) != SP_OK) {
            fprintf(stderr, "warp: %s\n", context.message);
            return 1;
        }
    }
    for (int s = 0; s < steps; s++)
        for (int i = 0; i < COUNT; i++) {
            const double start = bench_now();
            if (!failed[i] && sp_integrator_step(integrator[i]) != SP_OK)
                failed[i] = true;
            time[i][s] = bench_now() - start;
        }
    printf("%lld tetrahedra, %lld degrees of freedom, %d steps of %g ms, solvers to %g\n",
           (long long)mesh[0].block[SP_TET4].count, (long long)system[0].n, steps, 1e3 * h, TOLERANCE);
    printf("  %-24s%12s%10s%18s%12s\n", "", "[ms a step]", "ratio", "products a solve", "indefinite");
    double first = 0;
    for (int i = 0; i < COUNT; i++) {
        int64_t solves = 0, products = 0;
        qsort(time[i], (size_t)steps, sizeof **time, bench_compare);
        const double median = 1e3 * time[i][steps / 2];
        if (i == 0)
            first = median;
        solves_of(&variants[i], &system[i], &solves, &products);
        if (failed[i])
            printf("  %-24s%12s\n", variants[i].name, "failed");
        else
            printf("  %-24s%12.3f%10.2f%18.1f%12lld\n", variants[i].name, median, 5 * median / first,
                   solves ? (double)products / (double)solves : 0.0,
                   (long long)sp_integrator_reported(integrator[i])->indefinite);
    }
    return 0;
}
