/* The cost of a step of ConJac relative to the plain linearly implicit step of the same body (Weidner et al. 2020,
 * Figure 2), divided into fill, factorization, solve and other: bench-condensed THREADS ROUNDS [mesh.npz]. Without a
 * mesh it uses a block of 20³ cells of five tetrahedra each and a plate of 3 × 34 × 66 cells of six, both with about
 * 9300 vertices and 40,000 tetrahedra. Every round makes one step of each model. Ratios are those of steps in one
 * round, and their medians are printed. */
#include "assembly/fe_space.h"
#include "bench.h"
#include "integrate/integrate.h"
#include "model/conjac/conjac_internal.h"
#include "tools/process/threads.h"

enum { MODELS = 7, MOST_ROUNDS = 99, TOTAL = 0, FILL, FACTOR, SOLVE, PARTS };

#define STEP 5e-3 /* s */
#define BETA 0.5

typedef struct model {
    int dynamic;
    sp_system system;
    sp_integrator *integrator;
    double seconds[PARTS][MOST_ROUNDS], work[MOST_ROUNDS], ratio[MOST_ROUNDS],
        work_ratio[MOST_ROUNDS]; /* work: the step's processor time */
} model;

static void gravity(void *self, double t0, double t1, double *f)
{
    (void)t0, (void)t1;
    const sp_system *system = self;
    double *g = malloc((size_t)system->n * 8);
    for (int64_t i = 0; i < system->n; i++)
        g[i] = system->vertices.space->free[i] % 3 == 0 ? -0.02 : 0;
    system->mass_times(system->self, g, f);
    free(g);
}

static double median(int count, const double *values)
{
    double sorted[MOST_ROUNDS];
    memcpy(sorted, values, (size_t)count * 8);
    qsort(sorted, (size_t)count, sizeof *sorted, bench_compare);
    return sorted[count / 2];
}

static void check(const sp_context *context, int status)
{
    if (status == SP_OK)
        return;
    fprintf(stderr, "condensed: %s\n", context->message);
    exit(1);
}

static int plain_parts(model *m, const double *q, bool definite, double *time)
{
    const sp_system *system = &m->system;
    double *x = malloc((size_t)system->n * 8), *f = malloc((size_t)system->n * 8);
    system->matrix_start(system->self, 1);
    system->matrix_add(system->self, q, BETA * STEP * STEP, BETA * STEP * STEP, definite, f);
    time[2] = bench_now();
    int status = system->matrix_factor(system->self);
    time[3] = bench_now();
    if (status == SP_OK)
        status = system->matrix_solve(system->self, f, x);
    time[4] = bench_now();
    free(x);
    free(f);
    return status;
}

static int condensed_parts(model *m, const double *q, bool definite, double *time)
{
    sp_conjac *self = m->system.self;
    const sp_sparse *K;
    bool anew;
    sp_full_system_stiffness(&self->full, q, definite, self->f, &K);
    sp_conjac_condensation_fill(&self->map, K, NULL);
    time[2] = bench_now();
    int status = sp_conjac_condensation_factor(&self->map, &anew);
    time[3] = bench_now();
    if (status == SP_OK)
        status = sp_conjac_condensation_solve(&self->map, true, 1, self->Z);
    time[4] = bench_now();
    return status;
}

/* Measures one step, and then its parts separately at the resulting state. */
static void measure(sp_context *context, model *m, int round)
{
    const double *q = sp_integrator_q(m->integrator);
    double time[5];
    if (m->dynamic >= 0)
        ((sp_conjac *)m->system.self)->map.factored = false; /* it is the one of its parts below */
    const double work = bench_processor();
    time[0] = bench_now();
    check(context, sp_integrator_step(m->integrator));
    time[1] = bench_now();
    m->seconds[TOTAL][round] = time[1] - time[0];
    m->work[round] = bench_processor() - work;
    int status = SP_NUMERICAL;
    for (int definite = 0; definite < 2 && status == SP_NUMERICAL; definite++) {
        time[1] = definite ? bench_now() : time[1];
        status = m->dynamic < 0 ? plain_parts(m, q, definite, time) : condensed_parts(m, q, definite, time);
    }
    check(context, status);
    for (int part = 1; part < PARTS; part++)
        m->seconds[part][round] = time[part + 1] - time[part];
}

static void compare(sp_context *context, int rounds, sp_mesh *mesh, sp_fe_space *body)
{
    model *models = calloc(MODELS, sizeof *models);
    for (int k = 0; k < MODELS; k++) {
        model *m = &models[k];
        sp_system full;
        int64_t vertex[10];

        m->dynamic = k == 0 ? -1 : 2 * (k - 1);
        check(context, sp_full_system_new(context, body, false, false, NULL, &full));
        if (k == 0)
            m->system = full;
        else {
            check(context, sp_farthest_vertices(context, body, m->dynamic, vertex));
            check(context,
                  sp_conjac_system_new(context, &full, &(sp_condensation){m->dynamic, vertex, 1.0 / 3, 0}, &m->system));
        }

        static sp_external_loads forcings[MODELS];
        forcings[k] = (sp_external_loads){.self = &m->system, .mean = gravity};
        const sp_integrator_parameters p = {.kind = SP_LINEAR_EULER, .step = STEP, .beta = BETA, .damping_mass = 5};
        check(context, sp_integrator_new(context, &m->system, &forcings[k], &p, NULL, NULL, &m->integrator));
        check(context, sp_integrator_step(m->integrator));
    }

    double nonzeros, flops;
    sp_full_system_factor_size(&models[0].system, &nonzeros, &flops);
    printf("%lld vertices, %lld tetrahedra, %lld degrees of freedom, factor %.1f million entries, %.2f Gflop; %d "
           "threads, medians of %d rounds\n",
           (long long)mesh->vertex_count, (long long)mesh->block[SP_TET4].count, (long long)body->dof_count,
           1e-6 * nonzeros, 1e-9 * flops, context->threads, rounds);

    /* The models take turns, so that what else the machine does falls on all of them. */
    for (int round = 0; round < rounds; round++)
        for (int k = 0; k < MODELS; k++) {
            measure(context, &models[k], round);
            models[k].ratio[round] = models[k].seconds[TOTAL][round] / models[0].seconds[TOTAL][round];
            models[k].work_ratio[round] = models[k].work[round] / models[0].work[round];
        }

    printf("  %-18s %9s %9s %9s %9s %9s %8s %14s %8s\n", "milliseconds", "fill", "factor", "solve", "other", "step",
           "ratio", "processor time", "ratio");
    for (int k = 0; k < MODELS; k++) {
        double part[PARTS];
        char name[40];
        for (int i = 0; i < PARTS; i++)
            part[i] = 1e3 * median(rounds, models[k].seconds[i]);
        snprintf(name, sizeof name, k == 0 ? "plain" : "%d dynamic", models[k].dynamic);
        printf("  %-18s %9.1f %9.1f %9.1f %9.1f %9.1f %8.3f %14.1f %8.3f\n", name, part[FILL], part[FACTOR],
               part[SOLVE], part[TOTAL] - part[FILL] - part[FACTOR] - part[SOLVE], part[TOTAL],
               median(rounds, models[k].ratio), 1e3 * median(rounds, models[k].work),
               median(rounds, models[k].work_ratio));

        const sp_integrator_report *report = sp_integrator_reported(models[k].integrator);
        if (report->indefinite > 0)
            printf("    (%lld of %lld steps took the definite matrix)\n", (long long)report->indefinite,
                   (long long)report->steps);

        sp_integrator_free(models[k].integrator);
        if (k == 0)
            sp_full_system_free(&models[k].system);
        else
            sp_conjac_system_free(&models[k].system);
    }
    free(models);
}

int main(int argc, char **argv)
{
    sp_context context = sp_context_default();
    const int rounds = argc > 2 ? atoi(argv[2]) : 9;

    bench_begin();
    process_threads_prepare();
    context.threads = argc > 1 ? atoi(argv[1]) : 1;

    for (int k = 0; k < (argc > 3 ? 1 : 2); k++) {
        sp_mesh mesh;
        sp_fe_space body;

        if (argc > 3)
            bench_read(&context, argv[3], &mesh, &body);
        else {
            if (k == 0)
                bench_block(20, 20, 20, 0.005, 0, true, &mesh);
            else
                bench_block(3, 34, 66, 0.005, 0, false, &mesh);
            mesh.materials[0] = (sp_material){
                .name = "body", .law = SP_LAW_STABLE_NEO_HOOKEAN, .density = 1000, .young = 3e4, .poisson = 0.49};
            check(&context, sp_mesh_check(&context, &mesh, 1));
            check(&context, sp_fe_space_new(&context, &mesh, &body));
        }

        compare(&context, rounds < 1 ? 1 : rounds > MOST_ROUNDS ? MOST_ROUNDS : rounds, &mesh, &body);
        sp_fe_space_free(&body);
        sp_mesh_free(&mesh);
    }
    return 0;
}
