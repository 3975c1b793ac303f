/* Many motions at once: the force in lanes beside that of one motion, steps in lanes beside the integrator, and what
 * must not change the bytes of a motion. */
#include "ensemble/ensemble.h"
#include "ensemble/lanes.h"
#include "fixture.h"
#include "reduced/edit.h"
#include "reduced/polynomial.h"

OWNER(sp_polynomial_force)
OWNER(sp_integrator)

enum { R = BENDING_FIELDS, STEPS = 40, LOADS = 2, MOTIONS = 31 };

/* A cantilever of two regions whose parts of λ and μ are kept apart. */
typedef struct beam {
    sp_mesh mesh;
    sp_fe_space body;
    int64_t rows;
    double *U;
    sp_polynomials polynomials;
    sp_model_description description;
} beam;

static void make_beam(beam *b)
{
    sp_polynomial_report report;
    *b = (beam){0};
    make_box(8, 2, 2, 0.1, 0, &b->mesh);
    fix_end(&b->mesh, 0.01);
    b->mesh.materials = sp_pool_new(&b->mesh.pool, 2, sizeof *b->mesh.materials);
    b->mesh.material_count = 2;
    b->mesh.materials[0] = b->mesh.materials[1] = test_material();
    strcpy(b->mesh.materials[1].name, "tip");
    b->mesh.materials[1].young = 3e6;
    for (int64_t e = 16; e < b->mesh.block[SP_HEX8].count; e++)
        b->mesh.region[e] = 1;

    CHECK_OK(sp_fe_space_new(&context, &b->mesh, &b->body));
    b->rows = 3 * b->mesh.vertex_count;
    b->U = test_new(b->rows * R, 8);
    bending_fields(&b->mesh, b->U);
    CHECK_OK(sp_polynomials_new(&context, &b->body, R, b->U, &(sp_polynomial_parameters){.by_constant = true},
                                &b->polynomials, &report));
    b->description = (sp_model_description){.kind = SP_MODEL_POLYNOMIALS,
                                            .space = &b->body,
                                            .r = R,
                                            .rows = b->rows,
                                            .U = b->U,
                                            .polynomials = &b->polynomials};
}

static void beam_free(beam *b)
{
    sp_polynomials_free(&b->polynomials);
    sp_fe_space_free(&b->body);
    sp_mesh_free(&b->mesh);
}

/* ---- the force ---- */

static int64_t pair(int64_t r, int64_t i, int64_t j)
{
    return i * r - i * (i - 1) / 2 + (j - i);
}

/* The largest difference of f, K and D of all lanes from those of a motion by itself, relative to their largest
 * entries. The derivative of the stiffness along v is a central difference, exact for a stiffness that is quadratic. */
static void compare_force(const beam *b, int64_t r, bool apart)
{
    OWNED_POINTER(sp_polynomial_force) *force;
    OWNED(sp_lane_force) lanes;
    CHECK_OK(sp_polynomial_force_new(&context, &b->polynomials, r, &force));
    CHECK_OK(sp_lane_force_new(&context, &b->polynomials, r, apart, &lanes));

    sp_pool pool = {0};
    const int64_t pairs = lanes.pairs + 8, numbers = SP_MOTIONS;
    double *scale = sp_pool_new(&pool, lanes.parts * numbers, 8), *constant = sp_pool_new(&pool, pairs * numbers, 8),
           *q = sp_pool_new(&pool, r * numbers, 8), *v = sp_pool_new(&pool, r * numbers, 8),
           *f = sp_pool_new(&pool, r * numbers, 8), *K = sp_pool_new(&pool, pairs * numbers, 8),
           *D = sp_pool_new(&pool, pairs * numbers, 8), *scratch = sp_pool_new(&pool, sp_lane_force_scratch(&lanes), 8),
           worst[3] = {0};

    for (int64_t p = 0; p < lanes.parts; p++)
        for (int m = 0; m < SP_MOTIONS; m++)
            scale[p * SP_MOTIONS + m] = apart ? b->polynomials.parts[p].value : 1;
    random_field(r * SP_MOTIONS, 3, q);
    random_field(r * SP_MOTIONS, 4, v);
    for (int64_t i = 0; i < r * SP_MOTIONS; i++)
        q[i] *= 0.1;
    sp_lane_force_constant(&lanes, scale, constant);
    sp_lane_force_evaluate(&lanes, &(sp_lane_evaluation){scale, constant, q, v, f, K, D, scratch});

    for (int m = 0; m < SP_MOTIONS; m++) {
        double x[R], at[3][R], g[R], K0[R * R], ahead[R * R], behind[R * R];
        for (int64_t i = 0; i < r; i++) {
            x[i] = q[i * SP_MOTIONS + m];
            at[0][i] = x[i] + 0.1 * v[i * SP_MOTIONS + m];
            at[1][i] = x[i] - 0.1 * v[i * SP_MOTIONS + m];
        }
        sp_polynomial_force_evaluate(force, at[0], NULL, ahead);
        sp_polynomial_force_evaluate(force, at[1], NULL, behind);
        sp_polynomial_force_evaluate(force, x, g, K0);

        double size[3] = {max_abs(r, g), K0[0], 0}, difference[3] = {0};
        for (int64_t i = 0; i < r; i++) {
            difference[0] = fmax(difference[0], fabs(f[i * SP_MOTIONS + m] - g[i]));
            for (int64_t j = i; j < r; j++) {
                const double derivative = (ahead[i * r + j] - behind[i * r + j]) / 0.2;
                size[1] = fmax(size[1], fabs(K0[i * r + j]));
                size[2] = fmax(size[2], fabs(derivative));
                difference[1] = fmax(difference[1], fabs(K[pair(r, i, j) * SP_MOTIONS + m] - K0[i * r + j]));
                difference[2] = fmax(difference[2], fabs(D[pair(r, i, j) * SP_MOTIONS + m] - derivative));
            }
        }
        for (int k = 0; k < 3; k++)
            worst[k] = fmax(worst[k], difference[k] / size[k]);
    }
    NOTE("r = %lld, %lld parts: force %.1e, stiffness %.1e, derivative %.1e", (long long)r, (long long)lanes.parts,
         worst[0], worst[1], worst[2]);
    CHECK_NEAR(worst[0], 0, 1e-13);
    CHECK_NEAR(worst[1], 0, 1e-13);
    CHECK_NEAR(worst[2], 0, 1e-12);
    sp_pool_free(&pool);
}

TEST(the_force_in_lanes_is_that_of_one_motion)
{
    OWNED(beam) b;
    make_beam(&b);
    for (int apart = 0; apart < 2; apart++) {
        compare_force(&b, R, apart);
        compare_force(&b, 5, apart);
        compare_force(&b, 1, apart);
    }
}

/* Systems of all orders from 1 on, so that rows in pairs end with both; in one lane the matrix is not definite. */
TEST(solves_in_lanes)
{
    enum { MOST = 13, INDEFINITE = 17 };
    for (int64_t n = 1; n <= MOST; n++) {
        sp_pool pool = {0};
        double *S = sp_pool_new(&pool, n * (n + 1) / 2 * SP_MOTIONS, 8), *b = sp_pool_new(&pool, n * SP_MOTIONS, 8),
               *x = sp_pool_new(&pool, n * SP_MOTIONS, 8), *y = sp_pool_new(&pool, n * SP_MOTIONS, 8), worst = 0;
        bool definite[SP_MOTIONS];
        random_field(n * (n + 1) / 2 * SP_MOTIONS, 5, S);
        random_field(n * SP_MOTIONS, 6, b);
        for (int64_t i = 0; i < n; i++)
            for (int m = 0; m < SP_MOTIONS; m++)
                S[pair(n, i, i) * SP_MOTIONS + m] = m == INDEFINITE && i == n - 1 ? -1 : (double)n + 1;
        double *kept = sp_pool_copy(&pool, S, n * (n + 1) / 2 * SP_MOTIONS, 8);

        sp_lanes_solve(n, S, b, x, definite);
        sp_lanes_times(n, kept, x, y);
        for (int m = 0; m < SP_MOTIONS; m++) {
            CHECK(definite[m] == (m != INDEFINITE), "order %lld, motion %d", (long long)n, m);
            for (int64_t i = 0; i < n; i++)
                worst = fmax(worst, fabs(y[i * SP_MOTIONS + m] - b[i * SP_MOTIONS + m]));
        }
        CHECK_NEAR(worst, 0, 1e-13);
        sp_pool_free(&pool);
    }
}

/* ---- motions ---- */

/* Thirty-one motions that differ in everything; the numbers of what was kept of them. */
typedef struct study {
    beam *b;
    sp_load loads[MOTIONS][LOADS];
    sp_material materials[MOTIONS][2];
    double q[MOTIONS][R], v[MOTIONS][R];
    bool edits, springs;
    int breaks; /* the motion that fails, −1: none */
    int64_t frames;
    double *kept; /* [MOTIONS, frames, R] */
    double statistics[MOTIONS][SP_ENSEMBLE_STATISTICS][3];
    bool alone[MOTIONS];
    int status[MOTIONS];
    char reason[MOTIONS][512];
    int64_t next; /* the motion that is due */
} study;

static int describe(void *self, int64_t number, sp_pool *pool, sp_ensemble_motion *motion)
{
    study *s = self;
    const double part = (double)number / MOTIONS;
    sp_load *loads = s->loads[number];
    (void)pool;

    loads[0] = (sp_load){.start = 0.003,
                         .end = INFINITY,
                         .kind = SP_LOAD_VERTEX,
                         .id = s->b->mesh.vertex_count - 1,
                         .force = {40 * part, 150 * (1 - part), -60},
                         .course = {.kind = SP_COURSE_SINE, .frequency = 5 + 20 * part}};
    loads[1] =
        (sp_load){.start = 0, .end = 0.02 * (1 + part), .kind = SP_LOAD_ALL, .id = -1, .force = {0, 0, 30 * part}};
    if (s->springs && number % 2)
        loads[1] = (sp_load){.start = 0,
                             .end = INFINITY,
                             .kind = SP_LOAD_SPRING,
                             .id = s->b->mesh.vertex_count - 1,
                             .force = {0.9, 0.3, 0.2},
                             .stiffness = 500};
    if (number == s->breaks)
        loads[0].force[1] = 1e200;

    *motion = (sp_ensemble_motion){.load_count = LOADS,
                                   .loads = loads,
                                   .gravity = {0, -9.81 * part, 0},
                                   .damping_mass = (double)(number % 3),
                                   .damping_stiffness = 1e-3 * (double)(number % 2)};
    if (s->edits) {
        memcpy(s->materials[number], s->b->mesh.materials, sizeof s->materials[number]);
        s->materials[number][0].young *= 0.5 + part;
        s->materials[number][1].poisson = 0.2 + 0.2 * part;
        s->materials[number][1].density *= 1 + part;
        motion->materials = s->materials[number];
    }
    if (number % 4 == 1) {
        random_field(R, 70 + (uint64_t)number, s->q[number]);
        random_field(R, 170 + (uint64_t)number, s->v[number]);
        for (int i = 0; i < R; i++)
            s->q[number][i] *= 0.02;
        motion->q = s->q[number];
        motion->v = s->v[number];
    }
    return SP_OK;
}

static int take(void *self, const sp_ensemble_block *block)
{
    study *s = self;
    CHECK(block->first == s->next, "block of motion %lld, not %lld", (long long)block->first, (long long)s->next);
    s->next += block->count;
    for (int m = 0; m < block->count; m++) {
        const int64_t number = block->first + m;
        for (int64_t i = 0; i < s->frames * R; i++)
            s->kept[number * s->frames * R + i] = block->q[i * SP_MOTIONS + m];
        for (int k = 0; block->statistics && k < SP_ENSEMBLE_STATISTICS; k++)
            for (int i = 0; i < 3; i++)
                s->statistics[number][k][i] = block->statistics[(k * 3 + i) * SP_MOTIONS + m];
        s->alone[number] = block->alone[m];
        s->status[number] = block->status[m];
        strcpy(s->reason[number], block->reason[m]);
    }
    return SP_OK;
}

static sp_ensemble ensemble_of(study *s, enum sp_integrator_kind kind, bool semi_implicit)
{
    return (sp_ensemble){.description = &s->b->description,
                         .parameters = {.kind = kind,
                                        .step = 1e-3,
                                        .beta = 0.25,
                                        .gamma = 0.5,
                                        .semi_implicit = semi_implicit,
                                        .tolerance = semi_implicit ? 0 : 1e-13},
                         .steps = STEPS,
                         .every = 3,
                         .end = MOTIONS,
                         .materials = s->edits,
                         .keep_q = true,
                         .self = s,
                         .describe = describe,
                         .take = take};
}

static study *new_study(beam *b)
{
    study *s = test_new(1, sizeof *s);
    *s = (study){.b = b, .breaks = -1, .frames = sp_ensemble_frames(STEPS, 3)};
    s->kept = test_new(MOTIONS * s->frames * R, 8);
    return s;
}

/* The frames of one motion by the ordinary integrator, into q [frames, R]. */
static void integrate(const study *s, const sp_ensemble *e, int64_t number, double *q)
{
    sp_ensemble_motion motion;
    CHECK_OK(describe((void *)s, number, NULL, &motion));
    sp_model_description description = *e->description;
    sp_polynomials polynomials;
    sp_mesh *mesh = &s->b->mesh;
    sp_fe_space body;
    sp_material kept[2];
    memcpy(kept, mesh->materials, sizeof kept);

    /* Materials of its own: made anew from the mesh */
    if (motion.materials) {
        sp_polynomial_report report;
        memcpy(mesh->materials, motion.materials, sizeof kept);
        CHECK_OK(sp_fe_space_new(&context, mesh, &body));
        description.space = &body;
        CHECK_OK(
            sp_polynomials_new(&context, &body, R, s->b->U, &(sp_polynomial_parameters){0}, &polynomials, &report));
        description.polynomials = &polynomials;
    }
    description.load_count = motion.load_count;
    description.loads = motion.loads;
    memcpy(description.gravity, motion.gravity, sizeof motion.gravity);

    sp_model model;
    CHECK_OK(sp_reduced_model_new(&context, &description, &model));
    sp_external_loads loads = sp_model_external(&model);
    sp_integrator_parameters parameters = e->parameters;
    OWNED_POINTER(sp_integrator) *it;
    parameters.damping_mass = motion.damping_mass;
    parameters.damping_stiffness = motion.damping_stiffness;
    CHECK_OK(sp_integrator_new(&context, &model.system, &loads, &parameters, motion.q, motion.v, &it));

    memcpy(q, sp_integrator_q(it), R * sizeof *q);
    for (int64_t step = 1, frame = 1; step <= STEPS; step++) {
        CHECK_OK(sp_integrator_step(it));
        if (step % 3 == 0 || step == STEPS)
            memcpy(q + R * frame++, sp_integrator_q(it), R * sizeof *q);
    }
    sp_model_free(&model);
    memcpy(mesh->materials, kept, sizeof kept);
    if (motion.materials) {
        sp_polynomials_free(&polynomials);
        sp_fe_space_free(&body);
    }
}

/* Runs the motions in lanes and each by itself; returns how many were not in lanes. */
static int compare_motions(beam *b, enum sp_integrator_kind kind, bool semi_implicit, bool edits, const char *name)
{
    study *s = new_study(b);
    s->edits = edits;
    const sp_ensemble e = ensemble_of(s, kind, semi_implicit);
    double *q = test_new(s->frames * R, 8), worst = 0;
    int alone = 0;

    CHECK_OK(sp_ensemble_run(&context, &e));
    CHECK(s->next == MOTIONS, "%lld motions", (long long)s->next);
    for (int64_t number = 0; number < MOTIONS; number++) {
        CHECK(s->status[number] == SP_OK, "motion %lld: %s", (long long)number, s->reason[number]);
        integrate(s, &e, number, q);
        worst = fmax(worst, relative_difference(s->frames * R, s->kept + number * s->frames * R, q));
        alone += s->alone[number];
    }
    NOTE("%s%s: largest difference %.1e, %d motions by themselves", name, edits ? ", with materials" : "", worst,
         alone);
    CHECK_NEAR(worst, 0, 1e-11);
    return alone;
}

TEST(motions_in_lanes_are_those_of_the_integrator)
{
    OWNED(beam) b;
    make_beam(&b);
    for (int edits = 0; edits < 2; edits++) {
        CHECK(compare_motions(&b, SP_NEWMARK, false, edits, "Newmark") == 0, "not all in lanes");
        CHECK(compare_motions(&b, SP_NEWMARK, true, edits, "semi-implicit") == 0, "not all in lanes");
        CHECK(compare_motions(&b, SP_EULER, false, edits, "implicit Euler") == 0, "not all in lanes");
        CHECK(compare_motions(&b, SP_BDF2, false, edits, "BDF2") == 0, "not all in lanes");
        CHECK(compare_motions(&b, SP_ENERGY, false, edits, "energy") == MOTIONS, "no lanes for this step");
    }
}

TEST(springs_leave_the_lanes)
{
    OWNED(beam) b;
    make_beam(&b);
    study *s = new_study(&b);
    s->springs = true;
    const sp_ensemble e = ensemble_of(s, SP_NEWMARK, false);
    CHECK_OK(sp_ensemble_run(&context, &e));
    for (int number = 0; number < MOTIONS; number++)
        CHECK(s->alone[number] == (number % 2 == 1), "motion %d", number);

    double *q = test_new(s->frames * R, 8);
    integrate(s, &e, 3, q);
    CHECK_NEAR(relative_difference(s->frames * R, s->kept + 3 * s->frames * R, q), 0, 1e-15);
}

TEST(the_bytes_of_a_motion_are_its_own)
{
    OWNED(beam) b;
    make_beam(&b);
    study *all = new_study(&b), *part = new_study(&b), *threads = new_study(&b);
    all->breaks = part->breaks = threads->breaks = 12;
    CHECK_OK(sp_ensemble_run(&context, (sp_ensemble[]){ensemble_of(all, SP_NEWMARK, false)}));

    /* Other neighbours, other lanes, another number of threads */
    sp_ensemble some = ensemble_of(part, SP_NEWMARK, false);
    some.first = part->next = 7;
    some.end = 19;
    CHECK_OK(sp_ensemble_run(&context, &some));
    sp_context many = context;
    many.threads = 3;
    CHECK_OK(sp_ensemble_run(&many, (sp_ensemble[]){ensemble_of(threads, SP_NEWMARK, false)}));

    const size_t bytes = (size_t)(all->frames * R) * sizeof(double);
    for (int64_t number = 0; number < MOTIONS; number++) {
        const int64_t at = number * all->frames * R;
        CHECK(!memcmp(threads->kept + at, all->kept + at, bytes), "motion %lld on three threads", (long long)number);
        CHECK(number < 7 || number >= 19 || !memcmp(part->kept + at, all->kept + at, bytes),
              "motion %lld beside others", (long long)number);
    }

    /* The one that breaks is marked, and has zeros. */
    CHECK(all->status[12] == SP_NUMERICAL && strstr(all->reason[12], "did not converge"), "%d: %s", all->status[12],
          all->reason[12]);
    CHECK(max_abs(all->frames * R, all->kept + 12 * all->frames * R) == 0, "a motion that failed has numbers");
    for (int number = 0; number < MOTIONS; number++)
        CHECK(number == 12 || all->status[number] == SP_OK, "motion %d: %s", number, all->reason[number]);
}

/* Statistics of three signals against sums over all steps, for motions in lanes and by themselves. */
TEST(statistics_of_signals)
{
    OWNED(beam) b;
    make_beam(&b);
    double P[3 * R];
    random_field(3 * R, 9, P);
    for (int springs = 0; springs < 2; springs++) {
        study *s = new_study(&b), *frames = new_study(&b);
        s->springs = frames->springs = springs;
        sp_ensemble e = ensemble_of(s, SP_NEWMARK, false), each = ensemble_of(frames, SP_NEWMARK, false);
        e.signal_count = 3;
        e.P = P;
        e.keep_statistics = true;
        e.settle = 10;
        CHECK_OK(sp_ensemble_run(&context, &e));

        each.every = 1;
        frames->frames = STEPS + 1;
        frames->kept = test_new(MOTIONS * (STEPS + 1) * R, 8);
        CHECK_OK(sp_ensemble_run(&context, &each));

        for (int number = 0; number < MOTIONS; number++)
            for (int i = 0; i < 3; i++) {
                double sum = 0, square = 0, least = INFINITY, largest = -INFINITY;
                for (int64_t step = 11; step <= STEPS; step++) {
                    const double x = dot_product(R, P + i * R, frames->kept + (number * (STEPS + 1) + step) * R);
                    sum += x;
                    square += x * x;
                    least = fmin(least, x);
                    largest = fmax(largest, x);
                }
                const double expected[] = {sum / 30, sqrt(square / 30), least, largest};
                for (int k = 0; k < SP_ENSEMBLE_STATISTICS; k++)
                    CHECK_NEAR(s->statistics[number][k][i], expected[k], 1e-13 * fmax(fabs(least), fabs(largest)));
            }
    }
}

static int fail_to_describe(void *self, int64_t number, sp_pool *pool, sp_ensemble_motion *motion)
{
    (void)self, (void)pool, (void)motion;
    return number < 26 ? describe(self, number, pool, motion)
                       : sp_fail(&context, SP_INPUT, "row %lld", (long long)number);
}

TEST(failures_that_end_the_ensemble)
{
    OWNED(beam) b;
    make_beam(&b);
    study *s = new_study(&b);
    sp_ensemble e = ensemble_of(s, SP_NEWMARK, false);
    e.describe = fail_to_describe;
    CHECK(sp_ensemble_run(&context, &e) == SP_INPUT, "%s", context.message);
    CHECK(!strcmp(context.message, "row 26"), "%s", context.message);

    e.settle = STEPS;
    CHECK(sp_ensemble_run(&context, &e) == SP_USAGE, "%s", context.message);
}
