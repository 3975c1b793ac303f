/* Steps of the full-order model: the cost of their parts, and the fastest solver for each case. Bars of K thousand
 * tetrahedra, 1 m long and ¼ m wide and high, are fixed at one end.
 *
 * bench-full step THREADS K… measures assembly, factorization and solve, and their share of a linearly implicit and of
 * a converged step.
 *
 * bench-full solvers THREADS h E law K… measures steps of a bar that swings under gravity, for each solver. h is 1, 5
 * or 20 ms, E is 0.1, 1 or 100 MPa, law is stvk or stable; each may be all.
 *
 * bench-full product THREADS K… compares an iteration of conjugate gradients with reading the matrix once.
 *
 * bench-full mesh K FILE writes the bar as a mesh file.
 *
 * Seconds are wall-clock time; processor time is in parentheses, and is less affected by other work on the machine. */
#include "assembly/fe_space.h"
#include "bench.h"
#include "integrate/integrate.h"
#include "linear/cholesky.h"
#include "linear/iterate.h"
#include "model/models.h"
#include "tools/process/threads.h"

static void check(const sp_context *context, int status)
{
    if (status == SP_OK)
        return;
    fprintf(stderr, "full: %s\n", context->message);
    exit(1);
}

/* Wall-clock and processor seconds. */
typedef struct spent {
    double clock, processor;
} spent;

static spent now(void)
{
    return (spent){bench_now(), bench_processor()};
}

static spent since(spent start)
{
    return (spent){bench_now() - start.clock, bench_processor() - start.processor};
}

static void add(spent *sum, spent start)
{
    const spent part = since(start);
    sum->clock += part.clock;
    sum->processor += part.processor;
}

static double median(int count, const double *values)
{
    double sorted[99];
    memcpy(sorted, values, (size_t)count * 8);
    qsort(sorted, (size_t)count, sizeof *sorted, bench_compare);
    return sorted[count / 2];
}

static spent median_spent(int count, const spent *values)
{
    double clock[99], processor[99];
    for (int i = 0; i < count; i++) {
        clock[i] = values[i].clock;
        processor[i] = values[i].processor;
    }
    return (spent){median(count, clock), median(count, processor)};
}

/* ---- the bar ---- */

static void make_bar(sp_context *context, int thousands, enum sp_law law, double young, sp_mesh *mesh,
                     sp_fe_space *body)
{
    const int width = (int)fmax(1, round(cbrt(thousands * 1000.0 / 24)));
    bench_block(width, width, 4 * width, 0.25 / width, 0.1, false, mesh);
    mesh->materials[0].law = law;
    mesh->materials[0].young = young;
    check(context, sp_mesh_check(context, mesh, 1));
    check(context, sp_fe_space_new(context, mesh, body));
}

typedef struct weight {
    const sp_system *system;
    double *force; /* [n] */
} weight;

static void gravity(void *self, double t0, double t1, double *f)
{
    const weight *w = self;
    (void)t0, (void)t1;
    memcpy(f, w->force, (size_t)w->system->n * 8);
}

static double *weigh(const sp_system *system)
{
    double *g = malloc((size_t)system->n * 8), *force = malloc((size_t)system->n * 8);
    for (int64_t i = 0; i < system->n; i++)
        g[i] = system->vertices.space->free[i] % 3 == 0 ? -9.81 : 0;
    system->mass_times(system->self, g, force);
    free(g);
    return force;
}

/* A state as after some oscillation: the shape of the first mode with 2 m/s at the tip. */
static double *swing(const sp_fe_space *body)
{
    double *v = calloc((size_t)body->dof_count, 8);
    for (int64_t i = 0; i < body->dof_count; i++)
        if (body->free[i] % 3 == 0) {
            const double z = body->mesh->vertices[body->free[i] + 2];
            v[i] = -2 * z * z;
        }
    return v;
}

/* ---- a system that records the time of its calls ---- */

enum { ASSEMBLE, FORCE, FACTOR, SOLVE, CALLS };

typedef struct clocked {
    const sp_system *inner;
    spent calls[CALLS];
} clocked;

static double clocked_force(void *self, const double *q, double *f)
{
    clocked *c = self;
    const spent start = now();
    const double energy = c->inner->force(c->inner->self, q, f);
    add(&c->calls[FORCE], start);
    return energy;
}

static void clocked_start(void *self, double mass_scale)
{
    clocked *c = self;
    const spent start = now();
    c->inner->matrix_start(c->inner->self, mass_scale);
    add(&c->calls[ASSEMBLE], start);
}

static double clocked_add(void *self, const double *q, double scale, double spring_scale, bool definite, double *f)
{
    clocked *c = self;
    const spent start = now();
    const double energy = c->inner->matrix_add(c->inner->self, q, scale, spring_scale, definite, f);
    add(&c->calls[ASSEMBLE], start);
    return energy;
}

static int clocked_factor(void *self)
{
    clocked *c = self;
    const spent start = now();
    const int status = c->inner->matrix_factor(c->inner->self);
    add(&c->calls[FACTOR], start);
    return status;
}

static int clocked_solve(void *self, const double *b, double *x)
{
    clocked *c = self;
    const spent start = now();
    const int status = c->inner->matrix_solve(c->inner->self, b, x);
    add(&c->calls[SOLVE], start);
    return status;
}

static void clocked_tolerance(void *self, double tolerance)
{
    const clocked *c = self;
    c->inner->matrix_tolerance(c->inner->self, tolerance);
}

static void clocked_mass(void *self, const double *x, double *y)
{
    const clocked *c = self;
    c->inner->mass_times(c->inner->self, x, y);
}

static int clocked_mass_solve(void *self, const double *b, double *x)
{
    const clocked *c = self;
    return c->inner->mass_solve(c->inner->self, b, x);
}

static void clocked_tangent(void *self, const double *q, const double *v, double *y)
{
    const clocked *c = self;
    c->inner->tangent_times(c->inner->self, q, v, y);
}

static void clocked_springs(void *self, int64_t count, const sp_spring *springs)
{
    const clocked *c = self;
    c->inner->set_springs(c->inner->self, count, springs);
}

static int64_t clocked_inverted(void *self, const double *q)
{
    const clocked *c = self;
    return c->inner->inverted(c->inner->self, q);
}

/* No fixed vertex moves, and there is no strain-rate damping. */
static sp_system clock_system(clocked *c)
{
    sp_system system = *c->inner;
    system.self = c;
    system.force = clocked_force;
    system.matrix_start = clocked_start;
    system.matrix_add = clocked_add;
    system.matrix_factor = clocked_factor;
    system.matrix_solve = clocked_solve;
    system.matrix_tolerance = system.matrix_tolerance ? clocked_tolerance : NULL;
    system.mass_times = clocked_mass;
    system.mass_solve = clocked_mass_solve;
    system.tangent_times = clocked_tangent;
    system.set_springs = clocked_springs;
    system.inverted = clocked_inverted;
    return system;
}

/* ---- a run ---- */

typedef struct run {
    enum sp_integrator_kind kind;
    enum sp_solver solver;
    double step;
    int steps;
} run;

typedef struct outcome {
    bool failed;
    double newton, indefinite, factorizations; /* a step … */
    double products;                           /* … a solve */
    spent step,
        calls[CALLS]; /* per step, means without the first step, whose factorization is negligible in long runs */
    char message[sizeof((sp_context *)0)->message];
} outcome;

static void swing_on(sp_context *context, sp_fe_space *body, run r, outcome *o)
{
    sp_system full, system;
    sp_integrator *integrator;
    clocked c = {.inner = &full};
    *o = (outcome){0};

    check(context, sp_full_system_new(context, body, false, false, NULL, &full));
    if (r.solver != SP_SOLVER_DIRECT)
        check(context, sp_full_system_solver(&full, r.solver, 0));

    system = clock_system(&c);
    weight w = {&full, weigh(&full)};
    double *v = swing(body);
    sp_external_loads forcing = {.self = &w, .mean = gravity};
    const sp_integrator_parameters p = {
        .kind = r.kind, .step = r.step, .beta = r.kind == SP_NEWMARK ? 0.25 : 1, .gamma = 0.5};
    check(context, sp_integrator_new(context, &system, &forcing, &p, NULL, v, &integrator));

    /* The first step is left out of the means. */
    for (int k = -1; k < r.steps && !o->failed; k++) {
        if (k == 0)
            memset(&c.calls, 0, sizeof c.calls);
        const spent start = now();
        if (sp_integrator_step(integrator) != SP_OK) {
            o->failed = true;
            snprintf(o->message, sizeof o->message, "%s", context->message);
        }
        if (k >= 0)
            add(&o->step, start);
    }

    o->step = (spent){o->step.clock / r.steps, o->step.processor / r.steps};
    for (int k = 0; k < CALLS; k++)
        o->calls[k] = (spent){c.calls[k].clock / r.steps, c.calls[k].processor / r.steps};

    const sp_integrator_report *report = sp_integrator_reported(integrator);
    o->newton = (double)report->newton_iterations / (r.steps + 1);
    o->indefinite = (double)report->indefinite / (r.steps + 1);
    int64_t solves, products, factorizations;
    sp_full_system_solves(&full, &solves, &products, &factorizations);
    o->products = solves > 0 ? (double)products / (double)solves : 0;
    o->factorizations = (double)factorizations / (r.steps + 1);

    sp_integrator_free(integrator);
    sp_full_system_free(&full);
    free(w.force);
    free(v);
}

static const char *const law_name[] = {[SP_LAW_STVK] = "StVK", [SP_LAW_STABLE_NEO_HOOKEAN] = "stable neo-Hookean"};

/* ---- cost of the parts of a step ---- */

static void print_spent(const char *what, spent s)
{
    printf("  %-34s %9.4f (%.4f)\n", what, s.clock, s.processor);
}

static void measure_step(sp_context *context, int thousands, enum sp_law law)
{
    enum { ROUNDS = 7, TANGENT = 0, DEFINITE, FORCES, FACTORIZATION, SOLUTION, PARTS };
    sp_mesh mesh;
    sp_fe_space body;
    sp_sparse K;
    sp_cholesky *factor;
    spent time[PARTS][ROUNDS], part[PARTS];

    make_bar(context, thousands, law, 1e6, &mesh, &body);
    check(context, sp_fe_space_pattern(context, &body));
    check(context, sp_fe_space_matrix(context, &body, &K));
    const int64_t n = body.dof_count, rows = 3 * mesh.vertex_count;
    double *u = calloc((size_t)rows, 8), *f = malloc((size_t)rows * 8), *x = malloc((size_t)n * 8);
    int64_t *node = malloc((size_t)n * 8);
    sp_fe_space_nodes(&body, node);
    check(context, sp_cholesky_new(context, &K, node, &factor));

    for (int64_t v = 0; v < mesh.vertex_count; v++) { /* bent: 0.1 m at the tip, the inner side compressed */
        const double *X = mesh.vertices + 3 * v;
        u[3 * v] = -0.1 * X[2] * X[2];
        u[3 * v + 2] = 0.2 * X[2] * (X[0] - 0.125);
    }

    /* The round -1 warms the caches; the round 0 takes its place. */
    for (int r = -1; r < ROUNDS; r++) {
        const int at = r < 0 ? 0 : r;
        const size_t bytes = (size_t)K.start[n] * 8;
        for (int definite = 0; definite < 2; definite++) {
            memset(K.value, 0, bytes);
            const spent start = now();
            sp_elastic_tangent(context, &body, u, 1, definite, f, &K);
            time[definite ? DEFINITE : TANGENT][at] = since(start);
        }

        spent start = now();
        check(context, sp_cholesky_factor(factor, &K));
        time[FACTORIZATION][at] = since(start);
        sp_fe_space_gather(&body, f, x);

        start = now();
        check(context, sp_cholesky_solve(factor, 1, x, x));
        time[SOLUTION][at] = since(start);

        start = now();
        sp_elastic_force(context, &body, u, f);
        time[FORCES][at] = since(start);
    }
    for (int k = 0; k < PARTS; k++)
        part[k] = median_spent(ROUNDS, time[k]);

    printf("%s, %lld tetrahedra, %lld degrees of freedom, factor %.1fM nonzeros, %.1f GFlop, %d threads\n",
           law_name[law], (long long)mesh.block[SP_TET4].count, (long long)n, 1e-6 * sp_cholesky_nonzeros(factor),
           1e-9 * sp_cholesky_flops(factor), context->threads);
    print_spent("force", part[FORCES]);
    print_spent("assembly with force", part[TANGENT]);
    print_spent("definite", part[DEFINITE]);
    print_spent("factorization", part[FACTORIZATION]);
    print_spent("solve", part[SOLUTION]);

    for (int definite = 0; definite < 2; definite++) {
        const spent a = part[definite ? DEFINITE : TANGENT];
        printf("  assembly%s of assembly, factorization and solve: %.1f %% (%.1f %%)\n", definite ? ", definite," : "",
               100 * a.clock / (a.clock + part[FACTORIZATION].clock + part[SOLUTION].clock),
               100 * a.processor / (a.processor + part[FACTORIZATION].processor + part[SOLUTION].processor));
    }

    sp_cholesky_free(factor);
    sp_sparse_free(&K);
    free(node), free(u), free(f), free(x);

    /* Whole steps, and the shares of their parts. */
    static const struct {
        const char *name;
        enum sp_integrator_kind kind;
    } steps[] = {{"linearly implicit Euler", SP_LINEAR_EULER}, {"implicit Euler", SP_EULER}, {"Newmark", SP_NEWMARK}};
    for (int k = 0; k < 3; k++) {
        outcome o;
        swing_on(
            context, &body,
            (run){.kind = steps[k].kind, .solver = SP_SOLVER_DIRECT, .step = 5e-3, .steps = thousands < 100 ? 7 : 3},
            &o);

        if (o.failed) {
            printf("  %s: %s\n", steps[k].name, o.message);
            continue;
        }
        printf("  step of %s, 5 ms: %.3f (%.3f) s, %.1f iterations, %.1f definite matrices; assembly %.1f %% (%.1f "
               "%%), force %.1f %% (%.1f %%), factorization %.1f %% (%.1f %%), solve %.1f %% (%.1f %%)\n",
               steps[k].name, o.step.clock, o.step.processor, o.newton, o.indefinite,
               100 * o.calls[ASSEMBLE].clock / o.step.clock, 100 * o.calls[ASSEMBLE].processor / o.step.processor,
               100 * o.calls[FORCE].clock / o.step.clock, 100 * o.calls[FORCE].processor / o.step.processor,
               100 * o.calls[FACTOR].clock / o.step.clock, 100 * o.calls[FACTOR].processor / o.step.processor,
               100 * o.calls[SOLVE].clock / o.step.clock, 100 * o.calls[SOLVE].processor / o.step.processor);
    }

    fflush(stdout);
    sp_fe_space_free(&body);
    sp_mesh_free(&mesh);
}

/* ---- comparison of solvers ---- */

static void compare_solvers(sp_context *context, int thousands, enum sp_law law, double young, double step,
                            enum sp_integrator_kind kind)
{
    static const char *const name[] = {
        [SP_SOLVER_DIRECT] = "direct", [SP_SOLVER_JACOBI] = "jacobi", [SP_SOLVER_REUSED] = "reused"};
    sp_mesh mesh;
    sp_fe_space body;

    make_bar(context, thousands, law, young, &mesh, &body);
    const double edge = 0.25 / cbrt((double)mesh.block[SP_TET4].count / 24);
    printf("%s, %lld tetrahedra, %s, E %g MPa, h %g ms: sound goes %.1f edges a step\n",
           kind == SP_NEWMARK ? "Newmark"
           : kind == SP_EULER ? "Euler"
                              : "linearly implicit Euler",
           (long long)mesh.block[SP_TET4].count, law_name[law], 1e-6 * young, 1e3 * step,
           step * sqrt(young / 1000) / edge);

    for (int k = 0; k < 3; k++) {
        outcome o;
        const int steps = kind == SP_LINEAR_EULER ? 24 : thousands < 100 ? 12 : 6;
        swing_on(context, &body, (run){.kind = kind, .solver = (enum sp_solver)k, .step = step, .steps = steps}, &o);

        if (o.failed) {
            printf("  %-7s %s\n", name[k], o.message);
            continue;
        }
        printf("  %-7s %9.1f ms (%.1f): assembly %.1f, force %.1f, factor %.1f, solve %.1f; %.1f iterations, %.1f "
               "products a solve, %.2f factorizations, %.1f definite\n",
               name[k], 1e3 * o.step.clock, 1e3 * o.step.processor, 1e3 * o.calls[ASSEMBLE].processor,
               1e3 * o.calls[FORCE].processor, 1e3 * o.calls[FACTOR].processor, 1e3 * o.calls[SOLVE].processor,
               o.newton, o.products, o.factorizations, o.indefinite);
        fflush(stdout);
    }

    sp_fe_space_free(&body);
    sp_mesh_free(&mesh);
}

/* ---- iterations against memory and against a factorization ---- */

static void measure_product(sp_context *context, int thousands, int round_count)
{
    enum { ROUNDS = 15, READ = 0, PLAIN, PRODUCT, FACTORED, SOLUTION, ITERATION, PARTS };
    sp_mesh mesh;
    sp_fe_space body;
    sp_sparse S;
    sp_cholesky *factor;
    sp_system system;
    spent time[PARTS][ROUNDS], part[PARTS];
    double sum = 0;
    const int rounds = round_count < ROUNDS ? round_count : ROUNDS;

    make_bar(context, thousands, SP_LAW_STVK, 1e6, &mesh, &body);
    check(context, sp_full_system_new(context, &body, false, false, NULL, &system));
    check(context, sp_full_system_solver(&system, SP_SOLVER_JACOBI, 1e-8));
    check(context, sp_fe_space_matrix(context, &body, &S));

    const int64_t n = body.dof_count, entries = S.start[n];
    const double h = 5e-3;
    double *u = calloc((size_t)(3 * mesh.vertex_count), 8), *x = malloc((size_t)n * 8), *y = malloc((size_t)n * 8);
    int64_t *node = malloc((size_t)n * 8);
    sp_fe_space_nodes(&body, node);
    check(context, sp_cholesky_new(context, &S, node, &factor));

    /* The matrix of a step of Newmark at rest, 4/h² M + K, as a matrix and in the system. */
    check(context, sp_fe_space_mass(context, &body, false, &S));
    for (int64_t k = 0; k < entries; k++)
        S.value[k] *= 4 / (h * h);
    sp_elastic_tangent(context, &body, u, 1, false, NULL, &S);
    memset(x, 0, (size_t)n * 8);
    system.matrix_start(system.self, 4 / (h * h));
    system.matrix_add(system.self, x, 1, 1, false, NULL);
    check(context, system.matrix_factor(system.self));

    bench_random(n, 1, x);
    for (int r = -1; r < rounds; r++) {
        const int at = r < 0 ? 0 : r;
        int64_t solves, before, products, factorizations;

        spent start = now();
        double lane[16] = {0};
        for (int64_t k = 0; k + 16 <= entries; k += 16)
            for (int l = 0; l < 16; l++)
                lane[l] += S.value[k + l];
        for (int l = 0; l < 16; l++)
            sum += lane[l];
        time[READ][at] = since(start);

        sp_sparse plain = S;
        plain.nodes = NULL;
        start = now();
        sp_sparse_times(context, &plain, 1, x, y);
        time[PLAIN][at] = since(start);

        start = now();
        sp_sparse_times(context, &S, 1, x, y);
        time[PRODUCT][at] = since(start);

        start = now();
        check(context, sp_cholesky_factor(factor, &S));
        time[FACTORED][at] = since(start);

        start = now();
        check(context, sp_cholesky_solve(factor, 1, x, y));
        time[SOLUTION][at] = since(start);

        sp_full_system_solves(&system, &solves, &before, &factorizations);
        start = now();
        check(context, system.matrix_solve(system.self, x, y));
        time[ITERATION][at] = since(start);
        sp_full_system_solves(&system, &solves, &products, &factorizations);
        time[ITERATION][at].clock /= (double)(products - before);
        time[ITERATION][at].processor /= (double)(products - before);
    }
    for (int k = 0; k < PARTS; k++)
        part[k] = median_spent(rounds, time[k]);

    const double flops = sp_cholesky_flops(factor), nonzeros = sp_cholesky_nonzeros(factor);
    printf("%lld tetrahedra, %lld degrees of freedom, %.2fM entries, factor %.1fM, %.1f GFlop; %d threads (%g)\n",
           (long long)mesh.block[SP_TET4].count, (long long)n, 1e-6 * (double)entries, 1e-6 * nonzeros, 1e-9 * flops,
           context->threads, fmin(0, sum));
    print_spent("reading the values once", part[READ]);
    print_spent("product by rows", part[PLAIN]);
    print_spent("product by nodes", part[PRODUCT]);
    print_spent("iteration, blocks of the diagonal", part[ITERATION]);
    print_spent("solve with the factor", part[SOLUTION]);
    print_spent("factorization", part[FACTORED]);

    const double iteration = part[SOLUTION].processor + part[ITERATION].processor;
    printf("  product / reading %.2f, iteration / product %.2f; a factorization takes as long as %.0f iterations with "
           "blocks or %.1f with a factor: %.1f flops in the time of one\n",
           part[PRODUCT].processor / part[READ].processor, part[ITERATION].processor / part[PRODUCT].processor,
           part[FACTORED].processor / part[ITERATION].processor, part[FACTORED].processor / iteration,
           flops / (4 * nonzeros + 2 * (double)entries) * iteration / part[FACTORED].processor);

    fflush(stdout);
    sp_cholesky_free(factor);
    sp_sparse_free(&S);
    sp_full_system_free(&system);
    sp_fe_space_free(&body);
    sp_mesh_free(&mesh);
    free(node), free(u), free(x), free(y);
}

static int usage(void)
{
    fprintf(stderr, "usage: bench-full step THREADS K... | solvers THREADS h|all E|all stvk|stable|all K... | product "
                    "THREADS K... | mesh K FILE\n");
    return 2;
}

/* Returns true if a word of the command line is this number, or "all". */
static bool chosen(const char *word, double value)
{
    return !strcmp(word, "all") || atof(word) == value;
}

static void compare_all(sp_context *context, char **argv, int count, char **sizes)
{
    static const double steps[] = {1, 5, 20}, youngs[] = {0.1, 1, 100};
    static const enum sp_integrator_kind kinds[] = {SP_NEWMARK, SP_LINEAR_EULER};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++)
            for (int law = 0; law < 2; law++)
                for (int e = 0; e < 3; e++)
                    for (int h = 0; h < 3; h++)
                        if (chosen(argv[0], steps[h]) && chosen(argv[1], youngs[e]) &&
                            (!strcmp(argv[2], "all") || !strcmp(argv[2], law ? "stable" : "stvk")))
                            compare_solvers(context, atoi(sizes[i]), law ? SP_LAW_STABLE_NEO_HOOKEAN : SP_LAW_STVK,
                                            1e6 * youngs[e], 1e-3 * steps[h], kinds[k]);
}

int main(int argc, char **argv)
{
    sp_context context = sp_context_default();
    bench_begin();
    process_threads_prepare();

    if (argc < 4)
        return usage();

    if (!strcmp(argv[1], "mesh")) {
        sp_mesh mesh;
        sp_fe_space body;

        make_bar(&context, atoi(argv[2]), SP_LAW_STVK, 1e8, &mesh, &body);

        const bool written = bench_write(&context, argv[3], &mesh);
        sp_fe_space_free(&body);
        sp_mesh_free(&mesh);
        return written ? 0 : 1;
    }

    context.threads = atoi(argv[2]);
    if (!strcmp(argv[1], "solvers") && argc > 6)
        compare_all(&context, argv + 3, argc - 6, argv + 6);
    else if (!strcmp(argv[1], "step"))
        for (int i = 3; i < argc; i++) {
            measure_step(&context, atoi(argv[i]), SP_LAW_STVK);
            measure_step(&context, atoi(argv[i]), SP_LAW_STABLE_NEO_HOOKEAN);
        }
    else if (!strcmp(argv[1], "product"))
        for (int i = 3; i < argc; i++)
            measure_product(&context, atoi(argv[i]), atoi(argv[i]) < 100 ? 15 : 5);
    else
        return usage();
    return 0;
}
