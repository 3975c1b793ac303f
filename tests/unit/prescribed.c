/* Prescribed changes during a motion: fixed vertices, anchors of springs, active tension of fibres, and the text that
 * describes them. */
#include "formats/prescribed.h"
#include "allocations.h"
#include "fixture.h"
#include "formats/activation.h"
#include "formats/loads.h"
#include "integrate/integrate.h"
#include "linear/cholesky.h"
#include "model/loads.h"
#include "model/models.h"
#include "reduced/galerkin.h"

OWNER(sp_integrator)

/* ---- places over time ---- */

/* Turns by t about (1, 2, 2)/3 while it goes (0.3, 0, −0.2) m/s. */
static sp_pose spin(const void *data, double t, double velocity[6])
{
    const double axis[3] = {1.0 / 3, 2.0 / 3, 2.0 / 3};
    sp_pose pose = {{0.3 * t, 0, -0.2 * t},
                    {cos(t / 2), sin(t / 2) * axis[0], sin(t / 2) * axis[1], sin(t / 2) * axis[2]}};
    (void)data;
    for (int c = 0; velocity && c < 3; c++) {
        velocity[c] = c == 0 ? 0.3 : c == 2 ? -0.2 : 0;
        velocity[3 + c] = axis[c];
    }
    return pose;
}

/* Distances are constant, velocities are differences of places, and vertices that are not named stay unchanged. */
TEST(rigid_moves)
{
    OWNED(sp_mesh) mesh;
    make_box(2, 1, 1, 0.5, 0.2, &mesh);
    const int64_t rows = 3 * mesh.vertex_count, vertex[3] = {1, 4, 7};
    sp_prescribed_rigid move = {3, vertex, spin, NULL};
    sp_prescribed_motion moves = {mesh.vertices, 1, 0, &move, NULL};
    double *u = test_new(6 * rows, 8), *v = u + rows, *plus = v + rows, *minus = plus + rows, *scrap = minus + rows,
           error[2];
    for (int64_t i = 0; i < 2 * rows; i++)
        u[i] = 77;
    sp_prescribed_motion_at(&moves, 1.1, u, v);
    for (int64_t i = 0; i < rows; i++)
        if (i / 3 != 1 && i / 3 != 4 && i / 3 != 7)
            CHECK(u[i] == 77 && v[i] == 77, "component %lld was touched", (long long)i);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < a; b++) {
            double now = 0, rest = 0;
            for (int c = 0; c < 3; c++) {
                const double X = mesh.vertices[3 * vertex[a] + c] - mesh.vertices[3 * vertex[b] + c];
                rest += X * X;
                now += pow(X + u[3 * vertex[a] + c] - u[3 * vertex[b] + c], 2);
            }
            CHECK_NEAR(now, rest, 1e-14);
        }
    for (int s = 0; s < 2; s++) {
        const double h = s ? 5e-4 : 1e-3;
        error[s] = 0;
        sp_prescribed_motion_at(&moves, 1.1 + h, plus, scrap);
        sp_prescribed_motion_at(&moves, 1.1 - h, minus, scrap);
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 3; c++)
                error[s] = fmax(error[s], fabs((plus[3 * vertex[a] + c] - minus[3 * vertex[a] + c]) / (2 * h) -
                                               v[3 * vertex[a] + c]));
    }
    CHECK(error[1] < 1e-6 && fabs(log2(error[0] / error[1]) - 2) < 0.05, "errors %g %g", error[0], error[1]);
}

TEST(single_moves)
{
    const double time[3] = {0.3, 0.7, 1}, way[9] = {1, 2, 3, 5, 2, -1, 5, 8, 0};
    const sp_prescribed_vertex move[2] = {{2, 3, time, way}, {0, 1, time, way}};
    const sp_prescribed_motion moves = {NULL, 0, 2, NULL, move};
    const struct {
        double t, u[3], v[3];
    } cases[] = {{-5, {1, 2, 3}, {0, 0, 0}},
                 {0.2, {1, 2, 3}, {0, 0, 0}},
                 {0.3, {1, 2, 3}, {10, 0, -10}},
                 {0.5, {3, 2, 1}, {10, 0, -10}},
                 {0.7, {5, 2, -1}, {0, 20, 10 / 3.0}},
                 {7 * 0.1, {5, 2, -1}, {0, 20, 10 / 3.0}},
                 {nextafter(0.7, 0), {5, 2, -1}, {0, 20, 10 / 3.0}}, /* as 3 h may come out */
                 {0.7 - 1e-12, {5, 2, -1}, {10, 0, -10}},
                 {0.85, {5, 5, -0.5}, {0, 20, 10 / 3.0}},
                 {1, {5, 8, 0}, {0, 0, 0}},
                 {INFINITY, {5, 8, 0}, {0, 0, 0}}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        double u[9], v[9];
        for (int i = 0; i < 9; i++)
            u[i] = v[i] = 77;
        sp_prescribed_motion_at(&moves, cases[k].t, u, v);
        CHECK(max_difference(3, u + 6, cases[k].u) < 3e-11 && max_difference(3, v + 6, cases[k].v) < 1e-13,
              "at %.17g: %g %g %g, %g %g %g", cases[k].t, u[6], u[7], u[8], v[6], v[7], v[8]);
        CHECK(!memcmp(u, way, 3 * sizeof *u) && v[0] == 0 && v[1] == 0 && v[2] == 0 && u[3] == 77 && v[5] == 77,
              "a single line holds, others are untouched");
    }
    const double times[4] = {-1, 0, 2, 2.5};
    for (int i = -1; i < 4; i++) {
        const double next = i < 3 ? times[i + 1] : INFINITY;
        if (i >= 0)
            CHECK(sp_time_piece(4, times, times[i]) == i, "at %g", times[i]);
        CHECK(sp_time_piece(4, times, nextafter(next, -INFINITY)) == i, "before %g", next);
    }
    CHECK(sp_time_piece(4, times, NAN) == -1 && sp_time_piece(0, times, 1) == -1, "nothing");
}

/* ---- a bar, clamped at x = 0 ---- */

typedef struct bar {
    sp_mesh mesh;
    sp_fe_space body;
    int64_t rows, tip;
} bar;

static void make_bar(bool split, sp_material material, int axes, bar *b)
{
    int64_t added;
    make_box(4, 1, 1, 0.1, 0, &b->mesh);
    if (split)
        split_mesh(&b->mesh);
    b->mesh.materials[0] = material;
    CHECK_OK(sp_mesh_fix_half_space(&context, &b->mesh, (double[]){1, 0, 0}, 0.01, axes, &added));
    if (axes == 1) { /* planes of symmetry */
        CHECK_OK(sp_mesh_fix_half_space(&context, &b->mesh, (double[]){0, 1, 0}, 0.01, 2, &added));
        CHECK_OK(sp_mesh_fix_half_space(&context, &b->mesh, (double[]){0, 0, 1}, 0.01, 4, &added));
    }
    CHECK_OK(sp_fe_space_new(&context, &b->mesh, &b->body));
    b->rows = 3 * b->mesh.vertex_count;
    b->tip = b->mesh.vertex_count - 1;
}

static void bar_free(bar *b)
{
    sp_fe_space_free(&b->body);
    sp_mesh_free(&b->mesh);
}

static sp_material muscle(enum sp_law law, enum sp_fibre fibre)
{
    sp_material m = test_material();
    m.law = law;
    m.fibre = fibre;
    m.fibre_stiffness = 1e5;
    m.fibre_exponent = 3;
    m.fibre_direction[0] = 1;
    return m;
}

/* ---- prescribed vertices ---- */

/* All fixed vertices and the body move at 0.7 m/s: in that frame it is the motion of a body that is fixed at rest
 * (Galilei). */
TEST(carried_along)
{
    OWNED(bar) b;
    make_bar(false, test_material(), 7, &b);
    const double time[2] = {0, 1}, way[6] = {0, 0, 0, 0.7, 0, 0};
    sp_prescribed_vertex single[4];
    int64_t prescribed = 0;
    for (int64_t v = 0; v < b.mesh.vertex_count; v++)
        if (b.body.dof[3 * v] < 0)
            single[prescribed++] = (sp_prescribed_vertex){v, 2, time, way};
    CHECK(prescribed == 4, "%lld held", (long long)prescribed);
    const sp_prescribed_motion moves = {b.mesh.vertices, 0, prescribed, NULL, single};
    for (int linear = 0; linear < 2; linear++) {
        FREED_BY(sp_full_system_free) sp_system system;
        const sp_integrator_parameters p = {.kind = SP_NEWMARK,
                                            .step = 1e-3,
                                            .beta = 0.25,
                                            .gamma = 0.5,
                                            .damping_stiffness = 1e-3,
                                            .tolerance = 1e-13};
        double energy[2][SP_WORK_COUNT], *q[2], worst = 0;
        CHECK_OK(sp_full_system_new(&context, &b.body, linear, false, NULL, &system));
        for (int moving = 0; moving < 2; moving++) {
            OWNED(sp_load_set) loading;
            OWNED_POINTER(sp_integrator) *it;
            q[moving] = calloc((size_t)system.n, 8);
            CHECK_OK(sp_load_set_new(&context, &b.body, NULL, 0, 0, NULL, (double[]){0, 3, -9.81}, &system, &loading));
            CHECK(!sp_load_set_external(&loading).prescribed, "nothing moves yet");
            if (moving)
                sp_load_set_move(&loading, &moves);
            const sp_external_loads forcing = sp_load_set_external(&loading);
            for (int64_t i = 0; i < system.n; i++)
                q[moving][i] = moving && b.body.free[i] % 3 == 0 ? 0.7 : 0;
            CHECK_OK(sp_integrator_new(&context, &system, &forcing, &p, NULL, q[moving], &it));
            for (int step = 0; step < 100; step++)
                CHECK_OK(sp_integrator_step(it));
            memcpy(q[moving], sp_integrator_q(it), (size_t)system.n * 8);
            sp_integrator_energies(it, energy[moving]);
        }
        for (int64_t i = 0; i < system.n; i++)
            worst = fmax(worst, fabs(q[1][i] - q[0][i] - (b.body.free[i] % 3 == 0 ? 0.07 : 0)));
        NOTE("%s: off by %.1e of %.1e m", linear ? "linear" : "stvk", worst, max_abs(system.n, q[0]));
        CHECK(worst < 1e-10 && max_abs(system.n, q[0]) > 1e-4, "%g", worst);
        CHECK_NEAR(energy[1][SP_WORK_STORED], energy[0][SP_WORK_STORED], 1e-9 * energy[0][SP_WORK_STORED]);
        free(q[0]), free(q[1]);
    }
}

/* In equilibrium with an end that its frame has rotated, the body has moved with the frame, without strain. Free
 * components of the fixed vertices stay 0. */
TEST(turned_end)
{
    OWNED(bar) b;
    make_bar(false, test_material(), 7, &b);
    int64_t vertex[6], count = 0;
    for (int64_t v = 0; v < b.mesh.vertex_count; v++)
        if (b.body.dof[3 * v] < 0 || v == b.tip)
            vertex[count++] = v;
    const sp_prescribed_rigid move = {count, vertex, spin, NULL};
    const sp_prescribed_motion moves = {b.mesh.vertices, 1, 0, &move, NULL};
    sp_system system;
    sp_load_set loading;
    sp_integrator *it;
    double energy[SP_WORK_COUNT], *u = test_new(b.rows, 8), R[9];
    CHECK_OK(sp_full_system_new(&context, &b.body, false, false, NULL, &system));
    CHECK_OK(sp_load_set_new(&context, &b.body, NULL, 0, 0, NULL, (double[3]){0}, &system, &loading));
    sp_load_set_move(&loading, &moves);
    const sp_external_loads forcing = sp_load_set_external(&loading);
    CHECK_OK(sp_integrator_new(&context, &system, &forcing,
                               &(sp_integrator_parameters){.kind = SP_STATIC, .step = 0.25}, NULL, NULL, &it));
    for (int step = 0; step < 8; step++)
        CHECK_OK(sp_integrator_step(it));
    const sp_pose pose = spin(NULL, 2, NULL);
    sp_quaternion_matrix(pose.q, R);
    memcpy(u, sp_integrator_prescribed(it), (size_t)b.rows * 8);
    CHECK(u[3 * b.tip] == 0 && u[3 * b.tip + 1] == 0 && u[3 * b.tip + 2] == 0, "a free vertex among the held ones");
    sp_fe_space_scatter(&b.body, sp_integrator_q(it), u);
    for (int64_t v = 0; v < b.mesh.vertex_count; v++) {
        double x[3];
        sp_rotate(R, b.mesh.vertices + 3 * v, x);
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(b.mesh.vertices[3 * v + c] + u[3 * v + c], pose.x[c] + x[c], 1e-8);
    }
    sp_integrator_energies(it, energy);
    CHECK(energy[SP_WORK_STORED] < 1e-10, "stored %g J", energy[SP_WORK_STORED]);
    sp_integrator_free(it);
    sp_load_set_free(&loading);
    sp_full_system_free(&system);

    const double lambda = 4;
    CHECK_OK(sp_modal_system_new(&context, 1, &lambda, &system));
    CHECK_OK(sp_load_set_new(&context, &b.body, u, 1, 0, NULL, (double[3]){0}, &system, &loading));
    sp_load_set_move(&loading, &moves);
    const sp_external_loads other = sp_load_set_external(&loading);
    CHECK(sp_integrator_new(&context, &system, &other, &(sp_integrator_parameters){.kind = SP_EXACT, .step = 1}, NULL,
                            NULL, &it) == SP_USAGE &&
              strstr(context.message, "needs a full-order model"),
          "%s", context.message);
    sp_load_set_free(&loading);
    sp_modal_system_free(&system);
}

/* ---- springs whose anchors move ---- */

/* ½ Dᵀ (C + I/k)⁻¹ D: what body and spring have stored in equilibrium when the anchor has gone D from the vertex; C [3,
 * 3] is the body's compliance there. */
static double series_energy(const bar *b, const sp_system *system, double k, const double D[3])
{
    double *x = test_new(3 * system->n, 8), A[9], force[3];
    for (int c = 0; c < 3; c++)
        x[c * system->n + b->body.dof[3 * b->tip + c]] = 1;
    CHECK_OK(sp_full_system_respond(system, 3, x, x));
    for (int c = 0; c < 3; c++)
        for (int d = 0; d < 3; d++)
            A[3 * c + d] = x[d * system->n + b->body.dof[3 * b->tip + c]] + (c == d ? 1 / k : 0);
    const double det =
        A[0] * (A[4] * A[8] - A[5] * A[7]) - A[1] * (A[3] * A[8] - A[5] * A[6]) + A[2] * (A[3] * A[7] - A[4] * A[6]);
    double energy = 0;
    for (int c = 0; c < 3; c++) { /* Cramer */
        double B[9];
        memcpy(B, A, sizeof B);
        for (int i = 0; i < 3; i++)
            B[3 * i + c] = D[i];
        force[c] = (B[0] * (B[4] * B[8] - B[5] * B[7]) - B[1] * (B[3] * B[8] - B[5] * B[6]) +
                    B[2] * (B[3] * B[7] - B[4] * B[6])) /
                   det;
        energy += 0.5 * force[c] * D[c];
    }
    return energy;
}

/* The anchor moves during the time T and then stays, by a second spring with the same stiffness. */
static void pull_loads(const bar *b, double T, const double D[3], double k, sp_load loads[2])
{
    const double *X = b->mesh.vertices + 3 * b->tip;
    loads[0] = (sp_load){.start = 0, .end = T, .kind = SP_LOAD_SPRING, .id = b->tip, .stiffness = k, .moving = true};
    for (int c = 0; c < 3; c++) {
        loads[0].force[c] = X[c];
        loads[0].anchor_end[c] = X[c] + D[c];
    }
    loads[1] = (sp_load){.start = T, .end = INFINITY, .kind = SP_LOAD_SPRING, .id = b->tip, .stiffness = k};
    memcpy(loads[1].force, loads[0].anchor_end, sizeof loads[1].force);
}

/* Linear model: the work of a slow motion of the anchor is the stored energy of body and spring by the formula, that of
 * a quick one is larger. In equilibrium they are the same. The matrix is factored once. */
TEST(slow_pulls)
{
    OWNED(bar) b;
    FREED_BY(sp_full_system_free) sp_system system;
    make_bar(false, test_material(), 7, &b);
    CHECK_OK(sp_full_system_new(&context, &b.body, true, false, NULL, &system));
    const double k = 3000, D[3] = {0.004, -0.01, 0.02}, expected = series_energy(&b, &system, k, D);
    double excess[3];
    for (int s = 0; s < 4; s++) { /* three speeds, then static */
        const bool statics = s == 3;
        const double T = statics ? 1 : 0.05 * (1 << (3 * s)), h = statics ? 0.1 : T / (100 << (2 * s));
        sp_load loads[2];
        OWNED(sp_load_set) loading;
        OWNED_POINTER(sp_integrator) *it;
        double energy[SP_WORK_COUNT], worst = 0, first = 0;
        int64_t solves, products, before, after;
        pull_loads(&b, T, D, k, loads);
        CHECK_OK(sp_load_set_new(&context, &b.body, NULL, 0, 2, loads, (double[3]){0}, &system, &loading));
        const sp_external_loads forcing = sp_load_set_external(&loading);
        const sp_integrator_parameters p = {
            .kind = statics ? SP_STATIC : SP_NEWMARK, .step = h, .beta = 0.25, .gamma = 0.5};
        CHECK_OK(sp_integrator_new(&context, &system, &forcing, &p, NULL, NULL, &it));
        sp_full_system_solves(&system, &solves, &products, &before);
        sp_integrator_energies(it, energy);
        first = energy[0] + energy[1];
        for (int64_t step = 0; step <= llround(T / h); step++) {
            CHECK_OK(sp_integrator_step(it));
            sp_integrator_energies(it, energy);
            worst = fmax(worst, fabs(energy[0] + energy[1] - first - energy[2]));
        }
        sp_full_system_solves(&system, &solves, &products, &after);
        CHECK(after - before == 1 && loading.stiffened == 1, "%lld factorizations, %lld times stiffer",
              (long long)(after - before), (long long)loading.stiffened);
        CHECK(worst < 1e-11 * expected, "the balance is off by %g of %g J", worst,
              expected); /* the trapezoidal rule conserves quadratic energies */
        if (statics) {
            CHECK_NEAR(energy[1], expected, 1e-10 * expected);
            CHECK_NEAR(energy[2] + first, expected, 1e-10 * expected);
        } else
            excess[s] = (energy[2] + first) / expected - 1;
    }
    NOTE("work of pulls in 0.05, 0.4 and 3.2 s above that of infinitely slow ones: %.1e %.1e %.1e", excess[0],
         excess[1], excess[2]);
    CHECK(excess[0] > 1e-2 && fabs(excess[2]) < 1e-3 && fabs(excess[2]) < 0.1 * fabs(excess[1]), "%g %g %g", excess[0],
          excess[1], excess[2]);
}

/* The largest error of kinetic + stored + dissipated = work in a run. */
static double balance(const sp_system *system, const sp_external_loads *forcing, sp_integrator_parameters p, double T,
                      double *work)
{
    OWNED_POINTER(sp_integrator) *it;
    double energy[SP_WORK_COUNT], worst = 0, first;
    CHECK_OK(sp_integrator_new(&context, system, forcing, &p, NULL, NULL, &it));
    sp_integrator_energies(it, energy);
    first = energy[0] + energy[1];
    for (int64_t step = 0; step < llround(T / p.step); step++) {
        CHECK_OK(sp_integrator_step(it));
        sp_integrator_energies(it, energy);
        worst = fmax(worst, fabs(energy[0] + energy[1] + energy[3] - energy[2] - first));
    }
    *work = energy[2];
    return worst;
}

/* StVK: the conserving step's balance is exact, Newmark's converges with the square of the step; work does with either.
 */
TEST(anchors_balance)
{
    OWNED(bar) b;
    FREED_BY(sp_full_system_free) sp_system system;
    make_bar(false, test_material(), 7, &b);
    CHECK_OK(sp_full_system_new(&context, &b.body, false, false, NULL, &system));
    for (int kind = SP_NEWMARK; kind <= SP_ENERGY; kind++) {
        double worst[3], work[3];
        for (int s = 0; s < 3; s++) {
            sp_load loads[2];
            OWNED(sp_load_set) loading;
            pull_loads(&b, 0.04, (double[]){-0.02, 0.03, 0.1}, 3000, loads);
            CHECK_OK(sp_load_set_new(&context, &b.body, NULL, 0, 2, loads, (double[3]){0}, &system, &loading));
            const sp_external_loads forcing = sp_load_set_external(&loading);
            worst[s] = balance(&system, &forcing,
                               (sp_integrator_parameters){.kind = (enum sp_integrator_kind)kind,
                                                          .step = 2.5e-4 / (1 << s),
                                                          .beta = 0.25,
                                                          .gamma = 0.5,
                                                          .tolerance = 1e-12},
                               0.06, &work[s]);
        }
        NOTE("%s: balance off by %.1e %.1e %.1e of %.3g J; work's differences %.1e %.1e", kind ? "energy" : "newmark",
             worst[0], worst[1], worst[2], work[2], work[0] - work[2], work[1] - work[2]);
        if (kind == SP_ENERGY)
            CHECK(worst[0] < 1e-10 * work[2] && worst[2] < 1e-10 * work[2], "%g %g", worst[0], worst[2]);
        else
            CHECK(log2(worst[0] / worst[1]) > 1.7 && log2(worst[1] / worst[2]) > 1.7 && worst[2] < 1e-3 * work[2],
                  "%g %g %g of %g J", worst[0], worst[1], worst[2], work[2]);
        CHECK_NEAR(log2((work[0] - work[1]) / (work[1] - work[2])), 2, 0.3);
    }
}

static double (*true_force)(void *, const double *, double *);
static int64_t forces;

static double counted_force(void *self, const double *q, double *f)
{
    forces++;
    return true_force(self, q, f);
}

/* Central differences look at their limit again when a spring is new or a tension grew, not at every step of an anchor.
 */
TEST(limits_are_looked_at_seldom)
{
    OWNED(bar) b;
    FREED_BY(sp_full_system_free) sp_system system;
    make_bar(false, muscle(SP_LAW_STVK, SP_FIBRE_STVK), 7, &b);
    CHECK_OK(sp_full_system_new(&context, &b.body, false, true, NULL, &system));
    true_force = system.force;
    system.force = counted_force;
    const double time[3] = {0, 1, 2}, tension[3] = {1e3, 1e3, 2e4};
    const sp_activation activation = {0, 3, time, tension};
    sp_load loads[2];
    sp_load_set loading;
    sp_integrator *it;
    const double h = 1e-4;
    pull_loads(&b, 0.01, (double[]){0, 0, 0.01}, 3000, loads);
    CHECK_OK(sp_load_set_new(&context, &b.body, NULL, 0, 2, loads, (double[3]){0}, &system, &loading));
    CHECK_OK(sp_load_set_activate(&context, &loading, 1, &activation));
    const sp_external_loads forcing = sp_load_set_external(&loading);
    CHECK_OK(sp_integrator_new(&context, &system, &forcing, &(sp_integrator_parameters){.kind = SP_CENTRAL, .step = h},
                               NULL, NULL, &it));
    const int64_t first = forces;
    CHECK(first >= 200, "%lld forces at the start", (long long)first);
    for (int step = 0; step < 99; step++)
        CHECK_OK(sp_integrator_step(it));
    CHECK(forces - first <= 5 * 99, "%lld forces in 99 steps", (long long)(forces - first));
    sp_integrator_free(it);
    loads[1].stiffness =
        2e7; /* 2/ω of this spring and the vertex' 0.125 kg is 1.6e-4 s at most: a stiff successor is found */
    sp_load_set_free(&loading);
    CHECK(b.mesh.materials[0].fibre_tension == 0, "the tension is left");
    CHECK_OK(sp_load_set_new(&context, &b.body, NULL, 0, 2, loads, (double[3]){0}, &system, &loading));
    const sp_external_loads stiff = sp_load_set_external(&loading);
    CHECK_OK(sp_integrator_new(&context, &system, &stiff,
                               &(sp_integrator_parameters){.kind = SP_CENTRAL, .step = 2 * h}, NULL, NULL, &it));
    int status = SP_OK, steps = 0;
    for (; steps < 60 && status == SP_OK; steps++)
        status = sp_integrator_step(it);
    CHECK(status == SP_USAGE && steps == 51, "status %d after %d steps", status, steps);
    sp_integrator_free(it);
    sp_load_set_free(&loading);

    const double rising[2] = {0, 1e5}, instants[2] = {0, 0.01};
    const sp_activation ramp = {0, 2, instants, rising};
    CHECK_OK(sp_load_set_new(&context, &b.body, NULL, 0, 0, NULL, (double[3]){0}, &system, &loading));
    CHECK_OK(sp_load_set_activate(&context, &loading, 1, &ramp));
    const sp_external_loads active = sp_load_set_external(&loading);
    for (int step = 0; step < 100; step++)
        active.springs(active.self, step * h, (step + 1) * h);
    CHECK(loading.stiffened > 20 && loading.stiffened < 60, "a ramp was counted %lld times",
          (long long)loading.stiffened); /* ln(200)/ln(1.1) = 56 at most */
    sp_load_set_free(&loading);
    system.force = true_force;
}

/* ---- active fibres ---- */

/* ∂W/∂e = 0 for e = s² − 1, s the stretch of a bar without transverse contraction: Y e/4 + k e exp(c e²) + T/2. */
static double stretch_under(const sp_material *m, double T)
{
    double low = -0.9, high = 0;
    while (high - low > 1e-15) {
        const double e = 0.5 * (low + high);
        if (m->young / 4 * e +
                m->fibre_stiffness * e * (m->fibre == SP_FIBRE_FUNG ? exp(m->fibre_exponent * e * e) : 1) + T / 2 >
            0)
            high = e;
        else
            low = e;
    }
    return sqrt(1 + low);
}

/* A bar on its planes of symmetry shortens by the formula, for both kinds of fibres, hexahedra and tetrahedra, with the
 * tension at the given time. */
TEST(contraction)
{
    for (int k = 0; k < 4; k++) {
        sp_material m = muscle(SP_LAW_STVK, k / 2 ? SP_FIBRE_FUNG : SP_FIBRE_STVK);
        OWNED(bar) b;
        FREED_BY(sp_full_system_free) sp_system system;
        OWNED(sp_load_set) loading;
        OWNED_POINTER(sp_integrator) *it;
        m.poisson = 0;
        make_bar(k % 2, m, 1, &b);
        CHECK_OK(sp_full_system_new(&context, &b.body, false, false, NULL, &system));
        CHECK_OK(sp_load_set_new(&context, &b.body, NULL, 0, 0, NULL, (double[3]){0}, &system, &loading));
        const double time[3] = {0.5, 1, 3}, tension[3] = {0, 2e5, 1e5};
        const sp_activation activation = {0, 3, time, tension};
        CHECK_OK(sp_load_set_activate(&context, &loading, 1, &activation));
        const sp_external_loads forcing = sp_load_set_external(&loading);
        CHECK_OK(sp_integrator_new(&context, &system, &forcing,
                                   &(sp_integrator_parameters){.kind = SP_STATIC, .step = 0.25}, NULL, NULL, &it));
        for (int step = 0; step < 16; step++) {
            const double t = 0.25 * (step + 0.5),
                         T = t < 0.5 ? 0
                             : t < 1 ? 4e5 * (t - 0.5)
                             : t < 3 ? 2e5 - 5e4 * (t - 1)
                                     : 1e5,
                         s = stretch_under(&m, T);
            CHECK_OK(sp_integrator_step(it));
            for (int64_t i = 0; i < system.n; i++) {
                const double x = b.mesh.vertices[b.body.free[i]];
                CHECK_NEAR(sp_integrator_q(it)[i], b.body.free[i] % 3 == 0 ? (s - 1) * x : 0, 1e-9);
            }
            CHECK_NEAR(b.mesh.materials[0].fibre_tension, T, 1e-9);
        }
        if (m.fibre == SP_FIBRE_STVK)
            CHECK_NEAR(stretch_under(&m, 1e5), sqrt(1 - 1e5 / (m.young / 2 + 2 * m.fibre_stiffness)), 1e-14);
    }
}

/* Twitches: with edge lengths the conserving step balances exactly, the reduced model of all unit vectors moves as the
 * full one, and Newmark's balance converges with the square of the step; the latter too by points. */
TEST(twitches_balance)
{
    const double time[4] = {0, 0.01, 0.02, 0.05}, tension[4] = {0, 1e5, 1e5, 0};
    const sp_activation activation = {0, 4, time, tension};
    for (int k = 0; k < 3; k++) {
        sp_material m = muscle(k == 2 ? SP_LAW_STABLE_NEO_HOOKEAN : SP_LAW_STVK, k ? SP_FIBRE_FUNG : SP_FIBRE_STVK);
        OWNED(bar) b;
        sp_system system, reduced;
        sp_reduced_force direct;
        m.fibre_direction[0] = 0.8;
        m.fibre_direction[2] = 0.6;
        make_bar(k == 1, m, 7, &b);
        const int64_t n = b.body.dof_count;
        double *U = test_new(b.rows * n, 8), *mass = test_new(n * n, 8);
        for (int64_t i = 0; i < n; i++)
            U[i * b.rows + b.body.free[i]] = 1;
        CHECK_OK(sp_full_system_new(&context, &b.body, false, false, NULL, &system));
        for (int64_t i = 0; i < n; i++) {
            double *unit = test_new(n, 8);
            unit[i] = 1;
            system.mass_times(system.self, unit, mass + i * n);
        }
        CHECK_OK(sp_galerkin_force_new(&context, &b.body, n, U, &direct));
        CHECK_OK(sp_reduced_system_new(&context, &direct, mass, U, b.rows, b.mesh.vertices, &reduced));
        const sp_system *systems[2] = {&system, &reduced};
        for (int kind = SP_NEWMARK; kind <= (k ? SP_NEWMARK : SP_ENERGY); kind++) {
            double worst[3], work[3];
            for (int s = 0; s < 3; s++) { /* the last one reduced, with the step of the first */
                OWNED(sp_load_set) loading;
                CHECK_OK(sp_load_set_new(&context, &b.body, U, n, 0, NULL, (double[3]){0}, systems[s / 2], &loading));
                CHECK_OK(sp_load_set_activate(&context, &loading, 1, &activation));
                const sp_external_loads forcing = sp_load_set_external(&loading);
                worst[s] = balance(systems[s / 2], &forcing,
                                   (sp_integrator_parameters){.kind = (enum sp_integrator_kind)kind,
                                                              .step = s % 2 ? 5e-4 : 1e-3,
                                                              .beta = 0.25,
                                                              .gamma = 0.5,
                                                              .tolerance = 1e-12},
                                   0.06, &work[s]);
            }
            NOTE("%s fibres, %s: balance off by %.1e %.1e of %.3g J, reduced %.1e", sp_fibre_name(m.fibre),
                 kind ? "energy" : "newmark", worst[0], worst[1], work[1], worst[2]);
            if (kind == SP_ENERGY)
                CHECK(worst[0] < 1e-10 * fabs(work[1]) && worst[2] < 1e-10 * fabs(work[1]), "%g %g", worst[0],
                      worst[2]);
            else
                CHECK(log2(worst[0] / worst[1]) > 1.6 && worst[1] < 0.02 * fabs(work[1]), "%g %g of %g J", worst[0],
                      worst[1], work[1]);
            CHECK_NEAR(work[2], work[0], 1e-8 * fabs(work[0]));
        }
        sp_full_system_free(&system);
        sp_reduced_system_free(&reduced);
    }
}

/* Changes of springs, anchors and tensions allocate nothing. */
TEST(steps_allocate_nothing)
{
    OWNED(bar) b;
    FREED_BY(sp_full_system_free) sp_system system;
    sp_load loads[2];
    OWNED(sp_load_set) loading;
    OWNED_POINTER(sp_integrator) *it;
    make_bar(false, muscle(SP_LAW_STVK, SP_FIBRE_STVK), 7, &b);
    CHECK_OK(sp_full_system_new(&context, &b.body, false, true, NULL, &system));
    pull_loads(&b, 0.001, (double[]){0, 0, 0.01}, 3000, loads);
    const double time[2] = {0, 1}, tension[2] = {0, 1e5}, way[6] = {0, 0, 0, 0.1, 0, 0};
    const sp_activation activation = {0, 2, time, tension};
    const sp_prescribed_vertex single = {0, 2, time, way};
    const sp_prescribed_motion moves = {b.mesh.vertices, 0, 1, NULL, &single};
    CHECK_OK(sp_load_set_new(&context, &b.body, NULL, 0, 2, loads, (double[3]){0}, &system, &loading));
    CHECK_OK(sp_load_set_activate(&context, &loading, 1, &activation));
    sp_load_set_move(&loading, &moves);
    const sp_external_loads forcing = sp_load_set_external(&loading);
    CHECK_OK(sp_integrator_new(&context, &system, &forcing,
                               &(sp_integrator_parameters){.kind = SP_CENTRAL, .step = 1e-4}, NULL, NULL, &it));
    CHECK_OK(sp_integrator_step(it));
    const long before = allocations;
    for (int step = 0; step < 20; step++)
        CHECK_OK(sp_integrator_step(it));
    CHECK(allocations == before, "%ld allocations", allocations - before);
}

static void activation_refused(const sp_load_set *loading, int count, const sp_activation *activations, int expected,
                               const char *message)
{
    const int status = sp_load_set_activate(&context, (sp_load_set *)loading, count, activations);
    CHECK(status == expected && strstr(context.message, message), "status %d: %s; expected %s", status, context.message,
          message);
}

TEST(refusals)
{
    OWNED(bar) b;
    sp_system system;
    sp_load_set loading;
    make_bar(false, muscle(SP_LAW_STVK, SP_FIBRE_STVK), 7, &b);
    b.mesh.material_count = 2;
    b.mesh.materials = sp_pool_new(&b.mesh.pool, 2, sizeof *b.mesh.materials);
    b.mesh.materials[0] = muscle(SP_LAW_STVK, SP_FIBRE_STVK);
    b.mesh.materials[1] = test_material();
    snprintf(b.mesh.materials[1].name, SP_NAME_LENGTH, "bone");
    const double time[2] = {0, 1}, back[2] = {1, 1}, nan[2] = {0, NAN}, tension[2] = {0, 5}, negative[2] = {0, -5},
                 infinite[2] = {INFINITY, 0};
    const sp_activation good = {0, 2, time, tension};
    for (int linear = 0; linear < 2; linear++) {
        CHECK_OK(sp_full_system_new(&context, &b.body, linear, false, NULL, &system));
        CHECK_OK(sp_load_set_new(&context, &b.body, NULL, 0, 0, NULL, (double[3]){0}, &system, &loading));
        if (linear) {
            activation_refused(&loading, 1, &good, SP_USAGE, "has no part in this model");
            CHECK_OK(sp_load_set_activate(&context, &loading, 0, NULL));
        } else {
            activation_refused(&loading, 1, &(sp_activation){2, 2, time, tension}, SP_INPUT,
                               "activation 1 names region 2 of 2");
            activation_refused(&loading, 1, &(sp_activation){-1, 2, time, tension}, SP_INPUT,
                               "activation 1 names region -1 of 2");
            activation_refused(&loading, 1, &(sp_activation){1, 2, time, tension}, SP_INPUT,
                               "activation 1 is of region \"bone\", which has no fibres");
            activation_refused(&loading, 2, (sp_activation[]){good, good}, SP_INPUT,
                               "activations 1 and 2 are of the same region \"body\"");
            activation_refused(&loading, 1, &(sp_activation){0, 0, time, tension}, SP_INPUT,
                               "activation 1 has no times");
            activation_refused(&loading, 1, &(sp_activation){0, 2, back, tension}, SP_INPUT,
                               "activation 1: time 2, 1 s, is not more");
            activation_refused(&loading, 1, &(sp_activation){0, 2, nan, tension}, SP_INPUT,
                               "activation 1: time 2, nan s");
            activation_refused(&loading, 1, &(sp_activation){0, 2, time, negative}, SP_INPUT,
                               "activation 1: a tension of -5 Pa at 1 s");
            activation_refused(&loading, 1, &(sp_activation){0, 2, time, infinite}, SP_INPUT,
                               "activation 1: a tension of inf Pa at 0 s");
        }
        sp_load_set_free(&loading);
        const struct {
            sp_load load;
            const char *message;
        } springs[] = {
            {{.start = 0, .end = INFINITY, .kind = SP_LOAD_SPRING, .stiffness = 1, .moving = true},
             "load 1 is a spring whose anchor moves without end"},
            {{.start = 0, .end = 1, .kind = SP_LOAD_SPRING, .stiffness = 1, .moving = true, .anchor_end = {0, NAN, 0}},
             "load 1 is not finite"},
        };
        for (int s = 0; s < 2; s++)
            CHECK(sp_load_set_new(&context, &b.body, NULL, 0, 1, &springs[s].load, (double[3]){0}, &system, &loading) ==
                          SP_INPUT &&
                      !strcmp(context.message, springs[s].message),
                  "%s", context.message);
        sp_full_system_free(&system);
    }
    sp_material m = muscle(SP_LAW_STVK, SP_FIBRE_STVK);
    m.fibre_tension = -1;
    CHECK(sp_material_check(&context, &m) == SP_INPUT && strstr(context.message, "a tension of -1 Pa in its fibres"),
          "%s", context.message);
    m = test_material();
    m.fibre_tension = 3;
    CHECK(sp_material_check(&context, &m) == SP_INPUT && strstr(context.message, "a tension of 3 Pa in no fibres"),
          "%s", context.message);
}

/* ---- text ---- */

/* A cube with vertices 0 to 3 fixed, 1 and 2 of them along y and z only; two regions, "body" without fibres and
 * "biceps" with. */
static void make_text_mesh(sp_mesh *mesh)
{
    make_box(1, 1, 1, 1, 0, mesh);
    CHECK_OK(sp_mesh_fix_list(&context, mesh, 2, (int64_t[]){0, 3}, 7));
    CHECK_OK(sp_mesh_fix_list(&context, mesh, 2, (int64_t[]){1, 2}, 6));
    mesh->material_count = 2;
    mesh->materials = sp_pool_new(&mesh->pool, 2, sizeof *mesh->materials);
    mesh->materials[0] = test_material();
    mesh->materials[1] = muscle(SP_LAW_STVK, SP_FIBRE_FUNG);
    snprintf(mesh->materials[1].name, SP_NAME_LENGTH, "biceps");
}

TEST(texts_read)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_pool) pool = {0};
    sp_prescribed_vertex *moves;
    sp_activation *activations;
    sp_load *loads;
    int64_t count;
    make_text_mesh(&mesh);
    const char *text =
        "t,vertex,ux,uy,uz\n 0 , 3 , 1,2,3\r\n# nothing\n0.5,1,0,-1,0 # one\n0.25,3,4,5,6\n-2,0,0,0,0\n1e3,3,7,8,9";
    CHECK_OK(sp_prescribed_motion_parse(&context, text, (int64_t)strlen(text), &mesh, &pool, &count, &moves));
    CHECK(count == 3 && moves[0].vertex == 0 && moves[1].vertex == 1 && moves[2].vertex == 3, "%lld moves",
          (long long)count);
    CHECK(moves[0].count == 1 && moves[1].count == 1 && moves[2].count == 3, "lines");
    CHECK(moves[0].time[0] == -2 && moves[1].time[0] == 0.5 && moves[1].u[1] == -1, "single lines");
    const double time[3] = {0, 0.25, 1000};
    CHECK(!memcmp(moves[2].time, time, sizeof time), "times");
    for (int i = 0; i < 9; i++)
        CHECK(moves[2].u[i] == i + 1, "value %d is %g", i, moves[2].u[i]);
    CHECK_OK(sp_prescribed_motion_parse(&context, "# none", 6, &mesh, &pool, &count, &moves));
    CHECK(count == 0, "%lld moves", (long long)count);
    text = "0,5,1,2,3\n"; /* one that the mesh does not fix: free along no axis */
    CHECK_OK(sp_prescribed_motion_parse(&context, text, (int64_t)strlen(text), &mesh, &pool, &count, &moves));
    CHECK(count == 1 && moves[0].vertex == 5 && moves[0].u[0] == 1 && moves[0].u[1] == 2 && moves[0].u[2] == 3,
          "a vertex that the mesh does not hold");
    text = "t [s],region,tension\n0,biceps,5\n1,1,0\n";
    CHECK_OK(sp_activations_parse(&context, text, (int64_t)strlen(text), &mesh, &pool, &count, &activations));
    CHECK(count == 1 && activations[0].region == 1 && activations[0].count == 2 && activations[0].time[1] == 1 &&
              activations[0].tension[0] == 5 && activations[0].tension[1] == 0,
          "activation");
    text = "0,1,spring,3,1,2,3,400\n0.5,1.5,spring,3,1,2,3,400,-4,5,6e1\n";
    CHECK_OK(sp_loads_parse(&context, text, (int64_t)strlen(text), &mesh, &pool, &count, &loads));
    CHECK(count == 2 && !loads[0].moving && loads[1].moving && loads[1].anchor_end[0] == -4 &&
              loads[1].anchor_end[1] == 5 && loads[1].anchor_end[2] == 60 && loads[1].force[0] == 1 &&
              loads[1].stiffness == 400,
          "springs");
}

static int remarks;
static char last_remark[512];

static void keep_remark(void *data, const char *text)
{
    (void)data;
    remarks++;
    snprintf(last_remark, sizeof last_remark, "%s", text);
}

/* Vertices of the unit cube are named by places, whose commas do not count: in loads, springs and prescribed motion. */
TEST(places_read)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_pool) pool = {0};
    sp_prescribed_vertex *moves;
    sp_load *loads;
    int64_t count, vertex;
    double distance;
    make_text_mesh(&mesh);
    const double *x = mesh.vertices + 3 * 6;
    const double near[3] = {x[0] * 0.9 + 0.01, x[1] * 0.9, x[2] * 0.9};
    double away = 0;
    for (int k = 0; k < 3; k++)
        away += (near[k] - x[k]) * (near[k] - x[k]);
    CHECK_OK(sp_mesh_nearest(&context, &mesh, false, near, &vertex, &distance));
    CHECK(vertex == 6 && fabs(distance - sqrt(away)) < 1e-15, "vertex %lld at %g", (long long)vertex, distance);
    CHECK(sp_mesh_nearest(&context, &mesh, true, near, &vertex, &distance) == SP_INPUT, "no surface");
    char text[600];
    snprintf(text, sizeof text,
             "0,1,vertex,near:%.17g,%.17g,%.17g,1,2,3\n0,1,spring, \"near:%.17g, %.17g ,%.17g\" ,1,2,3,400,-4,5,6\n",
             near[0], near[1], near[2], near[0], near[1], near[2]);
    context.remark = keep_remark;
    CHECK_OK(sp_loads_parse(&context, text, (int64_t)strlen(text), &mesh, &pool, &count, &loads));
    CHECK(count == 2 && loads[0].id == 6 && loads[1].id == 6 && loads[0].force[0] == 1 && loads[0].force[2] == 3 &&
              loads[1].moving && loads[1].stiffness == 400 && loads[1].anchor_end[2] == 6,
          "loads");
    CHECK(remarks == 1 && !strncmp(last_remark, "loads, line 1: near:", 20) && strstr(last_remark, " is vertex 6, "),
          "%d remarks, %s", remarks, last_remark);
    snprintf(text, sizeof text, "0,near:%g,%g,%g,1,2,3\n1,6,4,5,6\n", x[0], x[1], x[2]);
    CHECK_OK(sp_prescribed_motion_parse(&context, text, (int64_t)strlen(text), &mesh, &pool, &count, &moves));
    CHECK(count == 1 && moves[0].vertex == 6 && moves[0].count == 2 && moves[0].u[2] == 3 && moves[0].u[5] == 6,
          "moves");
    context.remark = NULL;
}

/* A vertex that no element uses is not found; of two at the same distance the lower number is. */
TEST(nearest_is_used)
{
    double vertices[18] = {0.1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 2, 0, 0};
    int64_t tet[4] = {1, 2, 3, 4}, vertex;
    double distance;
    const sp_mesh mesh = {
        .vertex_count = 6, .vertices = vertices, .block[SP_TET4].count = 1, .block[SP_TET4].node = tet};
    CHECK_OK(sp_mesh_nearest(&context, &mesh, false, (double[]){0.1, 0, 0}, &vertex, &distance));
    CHECK(vertex == 1 && fabs(distance - 0.1) < 1e-16, "vertex %lld at %g", (long long)vertex, distance);
    CHECK_OK(sp_mesh_nearest(&context, &mesh, false, (double[]){5, 5, 5}, &vertex, &distance));
    CHECK(vertex == 2, "vertex %lld of three that are as near", (long long)vertex);
    CHECK_OK(sp_mesh_nearest(&context, &mesh, false, (double[]){1e300, 0, 0}, &vertex, &distance));
    const sp_mesh none = {.vertex_count = 6, .vertices = vertices};
    CHECK(sp_mesh_nearest(&context, &none, false, (double[]){0, 0, 0}, &vertex, &distance) == SP_INPUT, "no element");
}

enum { MOVES, ACTIVATIONS, LOADS };

static void fails(int what, const sp_mesh *mesh, const char *text, const char *message)
{
    OWNED(sp_pool) pool = {0};
    int64_t count;
    sp_prescribed_vertex *moves;
    sp_activation *activations;
    sp_load *loads;
    context.message[0] = 0;
    const int64_t length = (int64_t)strlen(text);
    const int status = what == MOVES ? sp_prescribed_motion_parse(&context, text, length, mesh, &pool, &count, &moves)
                       : what == ACTIVATIONS
                           ? sp_activations_parse(&context, text, length, mesh, &pool, &count, &activations)
                           : sp_loads_parse(&context, text, length, mesh, &pool, &count, &loads);
    CHECK(status == SP_INPUT && !strcmp(context.message, message), "status %d, \"%s\", expected \"%s\"", status,
          context.message, message);
}

TEST(texts_refused)
{
    OWNED(sp_mesh) mesh;
    make_text_mesh(&mesh);
    fails(MOVES, &mesh, "t,vertex\n0,3,1,2\n", "line 2: 4 fields, expected t,vertex,ux,uy,uz");
    fails(MOVES, &mesh, "0,3,1,2,3,4\n", "line 1: 6 fields, expected t,vertex,ux,uy,uz");
    fails(MOVES, &mesh, "0,3,1,2,3\nt,vertex,ux,uy,uz\n", "line 2: t: \"t\" is not a number");
    fails(MOVES, &mesh, "inf,3,1,2,3\n", "line 1: t: \"inf\" is not a number");
    fails(MOVES, &mesh, "0,3,1,nan,3\n", "line 1: uy: \"nan\" is not a number");
    fails(MOVES, &mesh, "0,3,1,2,1e999\n", "line 1: uz: \"1e999\" is not a number");
    fails(MOVES, &mesh, "0,,1,2,3\n", "line 1: vertex: \"\" is not a whole number");
    fails(MOVES, &mesh, "0,8,1,2,3\n", "line 1: vertex: vertex 8 of 8");
    fails(MOVES, &mesh, "0,-1,1,2,3\n", "line 1: vertex: vertex -1 of 8");
    fails(MOVES, &mesh, "0,1,0,2,3\n0,2,0.5,0,0\n", "line 2: ux: 0.5 m, but vertex 2 is free along x in the mesh");
    fails(MOVES, &mesh, "0,3,0,0,0\n1,0,0,0,0\n\n0,3,0,0,0\n",
          "line 4: t: 0 s after 0 s for the same vertex, expected more");
    fails(MOVES, &mesh, "1,3,0,0,0\n2,0,0,0,0\n0.5,3,0,0,0\n",
          "line 3: t: 0.5 s after 1 s for the same vertex, expected more");
    fails(MOVES, &mesh, "-1e308,3,0,0,0\n1e308,3,0,0,0\n", "line 2: t: 1e+308 s after -1e+308 s is too long a step");
    fails(MOVES, &mesh, "0,3,0,0,0\n1e-300,3,0,1e10,0\n",
          "line 2: uy: from 0 to 1e+10 m in 1e-300 s, which has no finite rate");
    fails(ACTIVATIONS, &mesh, "0,biceps\n", "line 1: 2 fields, expected t,region,tension");
    fails(ACTIVATIONS, &mesh, "0,body,1\n", "line 1: region: \"body\" has no fibres");
    fails(ACTIVATIONS, &mesh, "0,0,1\n", "line 1: region: \"body\" has no fibres");
    fails(ACTIVATIONS, &mesh, "0,triceps,1\n", "line 1: region: the mesh has no region \"triceps\", only body, biceps");
    fails(ACTIVATIONS, &mesh, "0,2,1\n", "line 1: region: region 2 of 2");
    fails(ACTIVATIONS, &mesh, "0,biceps,-1\n", "line 1: tension: -1 Pa is negative");
    fails(ACTIVATIONS, &mesh, "0,biceps,inf\n", "line 1: tension: \"inf\" is not a number");
    fails(ACTIVATIONS, &mesh, "0,biceps,1\n0,1,2\n", "line 2: t: 0 s after 0 s for the same region, expected more");
    fails(LOADS, &mesh, "0,1,spring,3,1,2,3\n",
          "line 1: 7 fields, expected t0,t1,spring,id,x,y,z,stiffness, or x1,y1,z1 too where its anchor moves");
    fails(LOADS, &mesh, "0,1,spring,3,1,2,3,4,5\n",
          "line 1: 9 fields, expected t0,t1,spring,id,x,y,z,stiffness, or x1,y1,z1 too where its anchor moves");
    fails(LOADS, &mesh, "0,1,all,,1,2,3,4,5,6,7\n", "line 1: 11 fields, expected t0,t1,all,,fx,fy,fz");
    fails(LOADS, &mesh, "0,inf,spring,3,1,2,3,4,5,6,7\n", "line 1: t1: a moving anchor must arrive some time");
    fails(LOADS, &mesh, "0,1,spring,3,1,2,3,4,5,6,x\n", "line 1: z1: \"x\" is not a number");
    fails(LOADS, &mesh, "0,1,spring,3,1,2,3,4,,6,7\n", "line 1: x1: \"\" is not a number");
    fails(LOADS, &mesh, "0,1,spring,3,1,2,3,-4,5,6,7\n", "line 1: stiffness: -4 N/m is negative");
    fails(LOADS, &mesh, "0,1,pressure,7,5\n", "line 1: id: region 7 of 2");
    fails(LOADS, &mesh, "0,1,vertex,near:1,2,x,1,2,3\n",
          "line 1: id: \"near:1,2,x\" is not near:X,Y,Z with three numbers");
    fails(LOADS, &mesh, "0,1,vertex,\"near:1,2,3,1,2,3\n",
          "line 1: id: \"\"near:1,2,3\" is not near:X,Y,Z with three numbers");
    fails(LOADS, &mesh, "0,1,vertex,near:1,2\n", "line 1: 5 fields, expected t0,t1,vertex,id,fx,fy,fz");
    fails(LOADS, &mesh, "0,1,surface,near:1,2,3,1,2,3\n", "line 1: id: the mesh has no embedded surface");
    fails(LOADS, &mesh, "0,1,spring,9,1,2,3,4\n", "line 1: id: vertex 9 of 8");
    fails(MOVES, &mesh, "0,near:1,2,nan,1,2,3\n",
          "line 1: vertex: \"near:1,2,nan\" is not near:X,Y,Z with three numbers");
}
