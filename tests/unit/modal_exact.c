/* Mode superposition: the modal system against the full-order linear one with all modes, exact steps against ever finer
 * ones of Newmark. */
#include "assembly/elastic.h"
#include "fixture.h"
#include "integrate/integrate.h"
#include "model/loads.h"
#include "model/models.h"

#include <lapacke.h>

OWNER(sp_integrator)

/* A small distorted block with all its modes; free, or fixed at x = 0. */
typedef struct block {
    sp_mesh mesh;
    sp_fe_space body;
    sp_system full, modal;
    int64_t n, rows;
    double *U, *eigenvalue; /* [rows, n], [n] */
} block;

static void make_block(bool is_free, block *b)
{
    sp_sparse matrix[2];
    make_box(2, 1, 1, 0.2, 0.1, &b->mesh);
    if (!is_free)
        fix_end(&b->mesh, 0.05);
    CHECK_OK(sp_fe_space_new(&context, &b->mesh, &b->body));
    b->n = b->body.dof_count;
    b->rows = 3 * b->mesh.vertex_count;
    b->U = test_new(b->rows * b->n, 8);
    b->eigenvalue = test_new(b->n, 8);
    double *dense[2];
    CHECK_OK(sp_elastic_stiffness(&context, &b->body, &matrix[0]));
    CHECK_OK(sp_fe_space_matrix(&context, &b->body, &matrix[1]));
    CHECK_OK(sp_fe_space_mass(&context, &b->body, false, &matrix[1]));
    for (int s = 0; s < 2; s++) {
        dense[s] = calloc((size_t)(b->n * b->n), 8);
        for (int64_t row = 0; row < b->n; row++)
            for (int64_t k = matrix[s].start[row]; k < matrix[s].start[row + 1]; k++)
                dense[s][matrix[s].index[k] * b->n + row] = matrix[s].value[k];
        sp_sparse_free(&matrix[s]);
    }
    CHECK(LAPACKE_dsygv(LAPACK_COL_MAJOR, 1, 'V', 'L', (int)b->n, dense[0], (int)b->n, dense[1], (int)b->n,
                        b->eigenvalue) == 0,
          "dsygv");
    for (int64_t j = 0; j < b->n; j++)
        sp_fe_space_scatter(&b->body, dense[0] + j * b->n, b->U + j * b->rows);
    free(dense[0]), free(dense[1]);
    CHECK_OK(sp_full_system_new(&context, &b->body, true, false, NULL, &b->full));
    CHECK_OK(sp_modal_system_new(&context, b->n, b->eigenvalue, &b->modal));
}

static void block_free(block *b)
{
    sp_modal_system_free(&b->modal);
    sp_full_system_free(&b->full);
    sp_fe_space_free(&b->body);
    sp_mesh_free(&b->mesh);
}

static const sp_load pushes[3] = {{.start = 0, .end = 0.004, .kind = SP_LOAD_VERTEX, .id = 11, .force = {20, -70, 40}},
                                  {.start = 0.002, .end = INFINITY, .kind = SP_LOAD_ALL, .id = -1, .force = {0, 30, 5}},
                                  {.start = 0.006, .end = 0.008, .kind = SP_LOAD_PRESSURE, .id = -1, .force = {4000}}};

/* Displacements and velocities [2 rows] at the end, and energies. */
static void run(const block *b, bool modal, sp_integrator_parameters p, double T, double *state, double *energy)
{
    const sp_system *system = modal ? &b->modal : &b->full;
    OWNED(sp_load_set) loading;
    OWNED_POINTER(sp_integrator) *it;
    CHECK_OK(sp_load_set_new(&context, &b->body, modal ? b->U : NULL, b->n, 3, pushes, (double[]){0, 0, -9.81}, system,
                             &loading));
    const sp_external_loads forcing = sp_load_set_external(&loading);
    CHECK_OK(sp_integrator_new(&context, system, &forcing, &p, NULL, NULL, &it));
    for (int64_t step = 0; step < llround(T / p.step); step++)
        CHECK_OK(sp_integrator_step(it));
    memset(state, 0, (size_t)(2 * b->rows) * 8);
    for (int s = 0; s < 2; s++) {
        const double *x = s ? sp_integrator_v(it) : sp_integrator_q(it);
        if (!modal)
            sp_fe_space_scatter(&b->body, x, state + s * b->rows);
        for (int64_t j = 0; modal && j < b->n; j++)
            for (int64_t i = 0; i < b->rows; i++)
                state[s * b->rows + i] += b->U[j * b->rows + i] * x[j];
    }
    sp_integrator_energies(it, energy);
}

/* The same step in the other coordinates, for every integrator that both have, damped, fixed and free. */
TEST(same_steps)
{
    static const char *const names[] = {[SP_NEWMARK] = "newmark",
                                        [SP_ENERGY] = "energy",
                                        [SP_CENTRAL] = "central",
                                        [SP_EULER] = "euler",
                                        [SP_BDF2] = "bdf2"};
    for (int is_free = 0; is_free < 2; is_free++) {
        OWNED(block) b = {0};
        make_block(is_free, &b);
        double *state = test_new(4 * b.rows, 8), *other = state + 2 * b.rows, energy[2][SP_WORK_COUNT];
        for (int kind = SP_NEWMARK; kind <= SP_BDF2; kind++) {
            if (kind == SP_STATIC)
                continue;
            const sp_integrator_parameters p = {.kind = (enum sp_integrator_kind)kind,
                                                .step = kind == SP_CENTRAL ? 2e-5 : 5e-4,
                                                .beta = 0.25,
                                                .gamma = 0.5,
                                                .damping_mass = 5,
                                                .damping_stiffness = 1e-5,
                                                .tolerance = 1e-13};
            run(&b, false, p, 0.01, state, energy[0]);
            run(&b, true, p, 0.01, other, energy[1]);
            const double u = relative_difference(b.rows, other, state),
                         v = relative_difference(b.rows, other + b.rows, state + b.rows),
                         e = relative_difference(SP_WORK_COUNT, energy[1], energy[0]);
            NOTE("%s, %s: displacements %.1e, velocities %.1e, energies %.1e", is_free ? "free" : "held", names[kind],
                 u, v, e);
            CHECK(u < 1e-9 && v < 1e-9 && e < 1e-9 && energy[0][SP_WORK_DISSIPATED] > 0, "%g %g %g", u, v, e);
        }
    }
}

/* If loads change only at the ends of steps, exact steps do not depend on their length, and Newmark's converge to them
 * with the square of the step. */
TEST(exact_steps)
{
    for (int k = 0; k < 4; k++) {
        const bool is_free = k % 2, damped = k / 2;
        OWNED(block) b;
        make_block(is_free, &b);
        double *exact = test_new(4 * b.rows, 8), *state = exact + 2 * b.rows, energy[SP_WORK_COUNT], error[3], sum;
        sp_integrator_parameters p = {.kind = SP_EXACT,
                                      .step = 1e-3,
                                      .beta = 0.25,
                                      .gamma = 0.5,
                                      .damping_mass = damped ? 5 : 0,
                                      .damping_stiffness = damped ? 1e-4 : 0,
                                      .tolerance = 1e-13};
        run(&b, true, p, 0.01, exact, energy);
        sum = energy[SP_WORK_KINETIC] + energy[SP_WORK_STORED] + energy[SP_WORK_DISSIPATED];
        CHECK_NEAR(sum, energy[SP_WORK_EXTERNAL], 1e-12 * fabs(energy[SP_WORK_EXTERNAL]));
        CHECK(damped == (energy[SP_WORK_DISSIPATED] > 1e-3 * sum), "dissipated %g of %g J", energy[SP_WORK_DISSIPATED],
              sum);
        p.step = 1e-4;
        run(&b, true, p, 0.01, state, energy);
        CHECK(relative_difference(2 * b.rows, state, exact) < 1e-11, "ten times finer: %g",
              relative_difference(2 * b.rows, state, exact));
        p.kind = SP_NEWMARK;
        for (int s = 0; s < 3; s++) {
            p.step = 2e-5 / (1 << s);
            run(&b, false, p, 0.01, state, energy);
            error[s] = relative_difference(b.rows, state, exact);
        }
        NOTE("%s%s: Newmark off by %.1e %.1e %.1e", is_free ? "free" : "held", damped ? ", damped" : "", error[0],
             error[1], error[2]);
        CHECK(error[2] < 1e-4 && fabs(log2(error[0] / error[1]) - 2) < 0.2 && fabs(log2(error[1] / error[2]) - 2) < 0.1,
              "slopes %g %g", log2(error[0] / error[1]), log2(error[1] / error[2]));
    }
}

static void unit_force(void *self, double t0, double t1, double *f)
{
    (void)t0, (void)t1;
    for (int64_t i = 0; i < ((const sp_system *)self)->n; i++)
        f[i] = 1;
}

static bool no_springs(void *self, double t0, double t1)
{
    (void)self, (void)t0, (void)t1;
    return false;
}

/* From nearly rigid to stiff and from undamped to overdamped: one step of 1 s from (0.3, −0.2) under a force of 1 N
 * against Runge and Kutta's method with 20,000 steps. */
TEST(one_step)
{
    const double lambda[] = {0, 1e-12, 1e-7, 1e-3, 0.02, 0.1, 0.9, 4, 90, 900},
                 damping[] = {0, 1e-9, 1e-3, 0.1, 0.5, 0.63245553203367588, 2, 4, 30};
    enum { K = sizeof lambda / sizeof *lambda, C = sizeof damping / sizeof *damping, STEPS = 20000 };
    double worst = 0;
    for (int c = 0; c < C; c++) {
        FREED_BY(sp_modal_system_free) sp_system system;
        OWNED_POINTER(sp_integrator) *it;
        double q[K], v[K];
        for (int i = 0; i < K; i++) {
            q[i] = 0.3;
            v[i] = -0.2;
        }
        CHECK_OK(sp_modal_system_new(&context, K, lambda, &system));
        const sp_external_loads forcing = {.self = &system, .mean = unit_force, .springs = no_springs};
        CHECK_OK(sp_integrator_new(&context, &system, &forcing,
                                   &(sp_integrator_parameters){.kind = SP_EXACT, .step = 1, .damping_mass = damping[c]},
                                   q, v, &it));
        CHECK_OK(sp_integrator_step(it));
        for (int i = 0; i < K; i++) {
            const double h = 1.0 / STEPS, l = lambda[i], d = damping[c];
            double x = q[i], y = v[i];
            for (int s = 0; s < STEPS; s++) {
                double kx[4], ky[4];
                for (int stage = 0; stage < 4; stage++) {
                    const double part = stage == 0   ? 0
                                        : stage == 3 ? h
                                                     : h / 2,
                                 xs = x + (stage ? part * kx[stage - 1] : 0),
                                 ys = y + (stage ? part * ky[stage - 1] : 0);
                    kx[stage] = ys;
                    ky[stage] = 1 - d * ys - l * xs;
                }
                x += h / 6 * (kx[0] + 2 * kx[1] + 2 * kx[2] + kx[3]);
                y += h / 6 * (ky[0] + 2 * ky[1] + 2 * ky[2] + ky[3]);
            }
            const double error =
                fmax(fabs(sp_integrator_q(it)[i] - x), fabs(sp_integrator_v(it)[i] - y) / (1 + sqrt(l)));
            worst = fmax(worst, error);
            CHECK(error < 1e-10, "eigenvalue %g, damping %g: off by %g", l, d,
                  error); /* (30/20000)⁴/120 for each of 30 rad: 1e-12 */
        }
    }
    NOTE("off by %.1e", worst);
}

/* Six motions of a free body are rigid, and a weight accelerates it uniformly, whatever the steps; with damping by mass
 * towards the speed g/α. */
TEST(rigid_modes)
{
    OWNED(block) b;
    make_block(true, &b);
    int64_t rigid = 0;
    for (int64_t j = 0; j < b.n; j++)
        rigid += fabs(b.eigenvalue[j]) < 1e-6 * b.eigenvalue[b.n - 1];
    CHECK(rigid == 6, "%lld rigid motions", (long long)rigid);
    for (int damped = 0; damped < 2; damped++) {
        OWNED(sp_load_set) loading;
        OWNED_POINTER(sp_integrator) *it;
        const double alpha = damped ? 3 : 0, t = 1.4,
                     way = damped ? -9.81 / alpha * (t - (1 - exp(-alpha * t)) / alpha) : -9.81 * t * t / 2,
                     speed = damped ? -9.81 / alpha * (1 - exp(-alpha * t)) : -9.81 * t;
        double *exact_zero = test_new(b.n, 8);
        FREED_BY(sp_modal_system_free) sp_system system;
        for (int64_t j = 0; j < b.n; j++)
            /* the eigenvalues of rigid modes, up to rounding */
            exact_zero[j] = j < 6 ? (j % 2 ? -1e-9 : 0) : b.eigenvalue[j];
        CHECK_OK(sp_modal_system_new(&context, b.n, exact_zero, &system));
        for (int64_t j = 0; j < 6; j++)
            CHECK(system.eigenvalue[j] == 0, "eigenvalue %lld is %g", (long long)j, system.eigenvalue[j]);
        exact_zero[7] = 0; /* it was copied */
        CHECK(system.eigenvalue[7] == b.eigenvalue[7], "not copied");
        CHECK_OK(sp_load_set_new(&context, &b.body, b.U, b.n, 0, NULL, (double[]){0, 0, -9.81}, &system, &loading));
        const sp_external_loads forcing = sp_load_set_external(&loading);
        CHECK_OK(sp_integrator_new(
            &context, &system, &forcing,
            &(sp_integrator_parameters){
                .kind = SP_EXACT, .step = 0.2, .damping_mass = alpha, .damping_stiffness = damped ? 1e-4 : 0},
            NULL, NULL, &it));
        for (int step = 0; step < 7; step++)
            CHECK_OK(sp_integrator_step(it));
        for (int64_t i = 0; i < b.rows; i++) {
            double u = 0, v = 0;
            for (int64_t j = 0; j < b.n; j++) {
                u += b.U[j * b.rows + i] * sp_integrator_q(it)[j];
                v += b.U[j * b.rows + i] * sp_integrator_v(it)[j];
            }
            CHECK_NEAR(u, i % 3 == 2 ? way : 0, 1e-10);
            CHECK_NEAR(v, i % 3 == 2 ? speed : 0, 1e-10);
        }
    }
}

TEST(refusals)
{
    OWNED(block) b;
    sp_system system;
    OWNED(sp_load_set) loading;
    make_block(false, &b);
    const sp_load loads[2] = {pushes[0], {.start = 0, .end = 1, .kind = SP_LOAD_SPRING, .id = 11, .stiffness = 5}};
    CHECK(sp_load_set_new(&context, &b.body, b.U, b.n, 2, loads, (double[3]){0}, &b.modal, &loading) == SP_USAGE &&
              !strcmp(context.message, "springs couple the modes of a modal model; take --model reduced or linear"),
          "%s", context.message);
    CHECK_OK(sp_load_set_new(&context, &b.body, b.U, b.n, 1, loads, (double[3]){0}, &b.modal, &loading));
    const double time = 0, tension = 1;
    CHECK(sp_load_set_activate(&context, &loading, 1, &(sp_activation){0, 1, &time, &tension}) == SP_USAGE,
          "modes were activated");
    const double bad[4][3] = {{1, NAN, 3}, {1, 2, INFINITY}, {-1e-5, 2, 3}, {-4, 0, 3}};
    const char *const messages[4] = {"eigenvalue 1 is nan rad2/s2", "eigenvalue 2 is inf rad2/s2",
                                     "eigenvalue 0 is -1e-05 rad2/s2, and the largest 3: more than rounding below 0",
                                     "eigenvalue 0 is -4 rad2/s2, and the largest 3: more than rounding below 0"};
    for (int k = 0; k < 4; k++)
        CHECK(sp_modal_system_new(&context, 3, bad[k], &system) == SP_INPUT && !strcmp(context.message, messages[k]),
              "%s", context.message);
    CHECK(sp_modal_system_new(&context, 0, bad[0], &system) == SP_USAGE, "no modes");
    CHECK_OK(sp_modal_system_new(&context, 2, (double[]){-2e-6, 3}, &system));
    system.matrix_start(system.self, 0);
    system.matrix_add(system.self, (double[]){0, 0}, 1, 1, false, NULL);
    CHECK(system.matrix_factor(system.self) == SP_NUMERICAL, "a rigid mode has no static state");
    sp_modal_system_free(&system);
    sp_modal_system_free(&system);
}
