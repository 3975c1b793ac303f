/* Steps of many motions in lanes, beside steps of one motion by itself and the peak of fused multiply-adds: converged
 * Newmark steps of one model, the same motion in every lane, without and with damping by the stiffness. An argument is
 * the only r. */
#include "assembly/fe_space.h"
#include "base/lanes.h"
#include "bench.h"
#include "ensemble/steps.h"
#include "integrate/integrate.h"
#include "model/models.h"

typedef struct job {
    int r;
    int64_t steps;
    double beta;
    double *v;
    sp_system system;
    sp_lane_force force;
    sp_lane_steps *lanes;
    sp_polynomials polynomials;
    double checked; /* the largest difference of a coordinate at the end */
    double *alone, *together;
    int64_t iterations;
} job;

static sp_integrator_parameters parameters_of(const job *j)
{
    return (sp_integrator_parameters){
        .kind = SP_NEWMARK, .step = 1e-3, .beta = 0.25, .gamma = 0.5, .damping_stiffness = j->beta, .halvings = 6};
}

static void no_force(void *self, double t0, double t1, double *f)
{
    (void)t0, (void)t1;
    memset(f, 0, (size_t)((const job *)self)->r * sizeof *f);
}

static void no_forces(void *self, double t0, double t1, double *f)
{
    (void)t0, (void)t1;
    memset(f, 0, (size_t)(((const job *)self)->r * SP_MOTIONS) * sizeof *f);
}

static void one_motion(void *data)
{
    job *j = data;
    sp_context context = sp_context_default();
    const sp_external_loads loads = {.self = j, .mean = no_force};
    const sp_integrator_parameters parameters = parameters_of(j);
    sp_integrator *it;
    if (sp_integrator_new(&context, &j->system, &loads, &parameters, NULL, j->v, &it) != SP_OK)
        abort();
    for (int64_t i = 0; i < j->steps; i++)
        if (sp_integrator_step(it) != SP_OK)
            abort();
    memcpy(j->alone, sp_integrator_q(it), (size_t)j->r * sizeof *j->alone);
    j->iterations = sp_integrator_reported(it)->newton_iterations;
    sp_integrator_free(it);
}

static void motions(void *data)
{
    job *j = data;
    sp_lane_motion *motion = sp_lane_steps_motion(j->lanes);
    const sp_lane_loads loads = {j, no_forces};
    for (int m = 0; m < SP_MOTIONS; m++) {
        motion->scale[m] = 1;
        motion->damping[m] = 0;
        motion->damping[SP_MOTIONS + m] = j->beta;
        for (int64_t i = 0, pair = 0; i < j->r; i++) {
            motion->q[i * SP_MOTIONS + m] = 0;
            motion->v[i * SP_MOTIONS + m] = j->v[i];
            for (int64_t k = i; k < j->r; k++, pair++)
                motion->mass[pair * SP_MOTIONS + m] = j->polynomials.mass[i * j->r + k];
        }
    }
    sp_lane_steps_start(j->lanes, &loads);
    for (int64_t i = 0; i < j->steps; i++)
        sp_lane_steps_step(j->lanes);
    for (int i = 0; i < j->r; i++)
        j->together[i] = motion->q[i * SP_MOTIONS + 7];
}

/* Fused multiply-adds a second in registers: twelve sums hide their latency, all of them different. */
typedef double narrow __attribute__((vector_size(32)));
#define PEAK(name, target, vector)                                                                                     \
    target static double name(int64_t rounds, const double *start)                                                     \
    {                                                                                                                  \
        vector sum[12], a = (vector){0} + 0.5;                                                                         \
        double all = 0;                                                                                                \
        for (int k = 0; k < 12; k++)                                                                                   \
            sum[k] = (vector){0} + start[k];                                                                           \
        for (int64_t i = 0; i < rounds; i++)                                                                           \
            _Pragma("GCC unroll 12") for (int k = 0; k < 12; k++) sum[k] = sum[k] * a + a;                             \
        for (int k = 0; k < 12; k++)                                                                                   \
            all += sum[k][0];                                                                                          \
        return all;                                                                                                    \
    }
PEAK(peak_native, SP_NATIVE, sp_lanes)
PEAK(peak_narrow, SP_NARROW, narrow)

static double peak(void)
{
    enum { ROUNDS = 20000000 };
    volatile double sink;
    double best = 0, different[12];
    bench_random(12, 8, different);
    for (int turn = 0; turn < 3; turn++) {
        const double start = bench_now();
        sink = sp_lanes_native() ? peak_native(ROUNDS, different) : peak_narrow(ROUNDS, different);
        best = fmax(best, 12.0 * ROUNDS * (sp_lanes_native() ? 8 : 4) / (bench_now() - start));
    }
    (void)sink; /* so that the sums are computed */
    return best;
}

/* Multiply-adds of one evaluation, and of a solution by Cholesky's method with the matrix that it needs. */
static double evaluation(double r, bool damped)
{
    const double pairs = r * (r + 1) / 2, triples = r * (r + 1) * (r + 2) / 6;
    return triples * r + r * r * r / 2 + pairs * r + r * r * 2 + (damped ? pairs * r + r * r * r / 2 + 2 * r * r : 0);
}

static double solution(double r)
{
    return r * r * r / 6 + r * r + r * (r + 1);
}

static void measure(const sp_mesh *mesh, sp_fe_space *body, int r, double beta, double rate)
{
    sp_context context = sp_context_default();
    job j = {.r = r, .steps = r < 25 ? 2000 : r < 50 ? 400 : 40, .beta = beta};
    const int64_t rows = 3 * mesh->vertex_count;
    double *U = malloc((size_t)(rows * r) * 8);
    const sp_integrator_parameters parameters = parameters_of(&j);
    sp_polynomial_report report;
    double one, many;

    bench_fields(mesh, r, U);
    if (sp_polynomials_new(&context, body, r, U, &(sp_polynomial_parameters){0}, &j.polynomials, &report) != SP_OK ||
        sp_polynomial_system_new(&context, &j.polynomials, r, U, rows, mesh->vertices, &j.system) != SP_OK ||
        sp_lane_force_new(&context, &j.polynomials, r, false, &j.force) != SP_OK ||
        sp_lane_steps_new(&context, &j.force, &parameters, &j.lanes) != SP_OK) {
        fprintf(stderr, "ensemble: %s\n", context.message);
        exit(1);
    }
    j.v = calloc((size_t)r, 8), j.alone = calloc((size_t)r, 8), j.together = calloc((size_t)r, 8);
    bench_random(r, 3, j.v);

    bench_pair(one_motion, motions, &j, 5, &one, &many);
    double difference = 0, size = 0;
    for (int i = 0; i < r; i++) {
        difference = fmax(difference, fabs(j.alone[i] - j.together[i]));
        size = fmax(size, fabs(j.alone[i]));
    }

    /* Each step evaluates at its start value, and after each iteration. */
    const double steps = (double)j.steps, iterations = (double)j.iterations,
                 needed = ((steps + iterations) * evaluation(r, beta > 0) + iterations * solution(r)) / rate;
    printf("%4d %9s %12.3f %14.3f %8.2f %11.2f %14.3f %8.2f %11.1e\n", r, beta > 0 ? "stiffness" : "none",
           1e6 * one / steps, 1e6 * many / steps / SP_MOTIONS, one * SP_MOTIONS / many, iterations / steps,
           1e6 * needed / steps, many / SP_MOTIONS / needed, difference / size);
    sp_lane_steps_free(j.lanes);
    sp_lane_force_free(&j.force);
    sp_reduced_system_free(&j.system);
    sp_polynomials_free(&j.polynomials);
    free(U), free(j.v), free(j.alone), free(j.together);
}

int main(int argc, char **argv)
{
    const int only = argc == 2 ? atoi(argv[1]) : 0;
    sp_context context = sp_context_default();
    sp_mesh mesh;
    sp_fe_space body;

    bench_begin();
    bench_bar(300, 3, &mesh);
    if (sp_fe_space_new(&context, &mesh, &body) != SP_OK)
        return 1;
    static const int ranks[] = {12, 20, 30, 60};
    const double rate = peak();
    printf("peak: %.1f GFMA/s on one core\n", 1e-9 * rate);
    printf("%4s %9s %12s %14s %8s %11s %14s %8s %11s\n", "r", "damping", "alone [us]", "in lanes [us]", "ratio",
           "iterations", "at peak [us]", "ratio", "difference");
    for (int damped = 0; damped < 2; damped++)
        for (int k = 0; k < 4; k++)
            if (!only || only == ranks[k])
                measure(&mesh, &body, ranks[k], damped ? 1e-3 : 0, rate);
    sp_fe_space_free(&body);
    sp_mesh_free(&mesh);
    return 0;
}
