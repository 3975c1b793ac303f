/* Free bodies: inertia against formulas and the full mesh, rotation against closed forms, conservation, orders of
 * convergence, work, interaction. */
#include "allocations.h"
#include "assembly/elastic.h"
#include "bodies.h"
#include "cubature/cubature.h"
#include "geometry_models.h"
#include "reduced/galerkin.h"
#include "reduced/polynomial.h"
#include "rigid/free.h"
#include "test.h"

#include <cblas.h>
#include <lapacke.h>

OWNER(sp_free_body)

static const double none[3] = {0, 0, 0};

/* ---- a deformable body: a bar of 1 MPa, 0.8 × 0.4 × 0.2 m, with smooth fields about its middle, none of them rigid
 * ---- */

enum { R = 10 };

typedef struct model {
    sp_mesh mesh;
    sp_fe_space body;
    int64_t rows;
    double *U;
    sp_inertia inertia;
    sp_polynomials polynomials;
    sp_reduced_force watch; /* the same force once more, for the checks of the test */
} model;

static void make_model(model *m)
{
    *m = (model){0};
    make_box(8, 4, 2, 0.1, 0.2, &m->mesh);
    CHECK_OK(sp_fe_space_new(&context, &m->mesh, &m->body));
    m->rows = 3 * m->mesh.vertex_count;
    m->U = test_new(m->rows * R, 8);
    for (int64_t v = 0; v < m->mesh.vertex_count; v++) {
        const double *X = m->mesh.vertices + 3 * v, x = X[0] - 0.35, y = X[1] - 0.2, z = X[2] - 0.12;
        const double field[R][3] = {{x, 0, 0},
                                    {0, y, 0},
                                    {0, 0, z},
                                    {y, x, 0},
                                    {z, 0, x},
                                    {-2 * x * z, 0, x * x},
                                    {-2 * x * y, x * x, 0},
                                    {0, -x * z, x * y},
                                    {0, z, y},
                                    {x * x, 0, 0}};
        for (int j = 0; j < R; j++)
            for (int c = 0; c < 3; c++)
                m->U[j * m->rows + 3 * v + c] = field[j][c];
    }
    sp_polynomial_parameters parameters = {0};
    sp_polynomial_report report;
    CHECK_OK(sp_polynomials_new(&context, &m->body, R, m->U, &parameters, &m->polynomials, &report));
    CHECK_OK(sp_polynomial_reduced_force(&context, &m->polynomials, R, &m->watch));
    CHECK_OK(sp_inertia_of_body(&context, &m->body, false, R, m->U, &m->inertia));
}

static void model_free(model *m)
{
    m->watch.destroy(m->watch.self);
    sp_inertia_free(&m->inertia);
    sp_polynomials_free(&m->polynomials);
    sp_fe_space_free(&m->body);
    sp_mesh_free(&m->mesh);
}

static sp_free_body *new_body(const model *m, const sp_free_parameters *parameters)
{
    sp_reduced_force force;
    sp_free_body *body;
    CHECK_OK(sp_polynomial_reduced_force(&context, &m->polynomials, R, &force));
    CHECK_OK(sp_free_body_new(&context, &m->inertia, &force, parameters, &body));
    return body;
}

/* Rows of U of a vertex [3, R, row major]. */
static void vertex_rows(const model *m, int64_t vertex, double *rows)
{
    for (int c = 0; c < 3; c++)
        for (int j = 0; j < R; j++)
            rows[c * R + j] = m->U[j * m->rows + 3 * vertex + c];
}

/* The place of a material point in the body frame: X + U q. */
static void deformed(const model *m, int64_t vertex, const double *rows, const double *q, double y[3])
{
    for (int c = 0; c < 3; c++) {
        y[c] = m->mesh.vertices[3 * vertex + c];
        for (int j = 0; j < R; j++)
            y[c] += rows[c * R + j] * q[j];
    }
}

/* Adds a force [world] at the point y of the body frame to what a step takes, for a body at `pose` with q: in the
 * world, where the centre of mass is that of U q by its mean and the point moves by R (rows − mean) δq about it. rows
 * NULL: rigid. */
static void add_force(const sp_inertia *t, const sp_pose *pose, const double *q, const double y[3], const double *rows,
                      const double force[3], double F[3], double T[3], double *Q)
{
    double R9[9], arm[3], world[3], torque[3];
    sp_quaternion_matrix(pose->q, R9);
    for (int a = 0; a < 3; a++) {
        arm[a] = y[a] - t->centre[a];
        for (int64_t j = 0; rows && j < t->r; j++)
            arm[a] -= t->mean[a * t->r + j] * q[j];
    }
    sp_rotate(R9, arm, world);
    sp_cross3(world, force, torque);
    for (int a = 0; a < 3; a++) {
        F[a] += force[a];
        T[a] += torque[a];
    }
    for (int64_t j = 0; rows && j < t->r; j++) {
        for (int a = 0; a < 3; a++)
            arm[a] = rows[a * t->r + j] - t->mean[a * t->r + j];
        sp_rotate(R9, arm, world);
        Q[j] += sp_dot3(world, force);
    }
}

static double distance(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

static double length(int n, const double *a)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] * a[i];
    return sqrt(sum);
}

/* ---- inertia ---- */

TEST(inertia_of_boxes)
{
    const double side[3] = {0.8, 0.4, 0.2}, mass = 1000 * 0.8 * 0.4 * 0.2;
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    sp_inertia t;
    make_box(8, 4, 2, 0.1, 0, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_inertia_of_body(&context, &body, false, 0, NULL, &t));
    for (int solid = 0; solid < 2; solid++) {
        CHECK_NEAR(t.mass, mass, 1e-13 * mass);
        for (int a = 0; a < 3; a++) {
            CHECK_NEAR(t.centre[a], 0.5 * side[a] + 7 * solid, 1e-13 * (1 + 7 * solid));
            for (int b = 0; b < 3; b++)
                CHECK_NEAR(t.S[3 * a + b], a == b ? mass * side[a] * side[a] / 12 : 0, 1e-14 * mass);
        }
        sp_inertia_free(&t);
        if (solid == 0) {
            OWNED(sp_surface) s = new_surface(8, 12);
            add_box(&s, (double[]){7, 7, 7}, (double[]){7.8, 7.4, 7.2});
            CHECK_OK(sp_inertia_of_surface(&context, &s, 1000, &t));
        }
    }
}

/* An octahedron |x/a| + |y/b| + |z/c| ≤ 1, turned and shifted, as a soup without shared vertices: V = 4abc/3, ∫x² = V
 * a²/10. And a ball's inertia is approached with slope 2. */
TEST(inertia_of_solids)
{
    const double half[3] = {0.5, 0.3, 0.7}, volume = 4.0 / 3 * 0.5 * 0.3 * 0.7, density = 700, at[3] = {3, -4, 5};
    double turn[4], R9[9], error[3];
    sp_quaternion_from_vector((double[]){0.3, -0.8, 0.5}, turn);
    sp_quaternion_matrix(turn, R9);
    OWNED(sp_surface) s = new_surface(24, 8);
    for (int t = 0; t < 8; t++) {
        double sign[3] = {t & 1 ? -1 : 1, t & 2 ? -1 : 1, t & 4 ? -1 : 1};
        bool even = sign[0] * sign[1] * sign[2] > 0;
        for (int k = 0; k < 3; k++) {
            int axis = even ? k : 2 - k;
            double x[3] = {0}, y[3];
            x[axis] = sign[axis] * half[axis];
            sp_rotate(R9, x, y);
            for (int c = 0; c < 3; c++)
                s.vertices[3 * s.vertex_count + c] = at[c] + y[c];
            s.vertex_count++;
        }
        add_triangle(&s, 3 * t, 3 * t + 1, 3 * t + 2);
    }
    sp_inertia inertia;
    CHECK_OK(sp_inertia_of_surface(&context, &s, density, &inertia));
    CHECK_NEAR(inertia.mass, density * volume, 1e-13 * density * volume);
    for (int a = 0; a < 3; a++) {
        CHECK_NEAR(inertia.centre[a], at[a], 1e-13);
        for (int b = 0; b < 3; b++) {
            double expected = 0;
            for (int k = 0; k < 3; k++)
                expected += R9[3 * a + k] * R9[3 * b + k] * density * volume * half[k] * half[k] / 10;
            CHECK_NEAR(inertia.S[3 * a + b], expected, 1e-13 * inertia.mass);
        }
    }
    sp_inertia_free(&inertia);
    for (int k = 0; k < 3; k++) {
        OWNED(sp_surface) ball = sphere(8 << k);
        CHECK_OK(sp_inertia_of_surface(&context, &ball, 1, &inertia));
        error[k] = 4 * PI / 15 - inertia.S[0]; /* ∫x² of the unit ball */
        sp_inertia_free(&inertia);
    }
    NOTE("ball: slopes %.3f %.3f", log2(error[0] / error[1]), log2(error[1] / error[2]));
    CHECK_NEAR(log2(error[1] / error[2]), 2, 0.05);
}

/* Kinetic energy, momentum of rotation and slopes of A(q) from velocities of all vertices and the assembled mass. */
TEST(energy_is_that_of_the_full_mesh)
{
    OWNED(model) m;
    OWNED(sp_sparse) M;
    make_model(&m);
    CHECK_OK(sp_fe_space_mass_compressed(&context, &m.body, false, &M));
    sp_free_body *body = new_body(&m, &(sp_free_parameters){.step = 1e-3});
    double *v = test_new(m.rows, 8), *Mv = test_new(m.rows, 8), *x = test_new(m.rows, 8);
    for (uint64_t trial = 0; trial < 4; trial++) {
        double q[R], qdot[R], velocity[3], omega[3], x0[3], angle[3], rows[3 * R], expected[6] = {0},
                                                                                   expected_energy = 0;
        double linear[3], angular[3], kinetic, strain;
        random_field(R, 10 + trial, q);
        random_field(R, 20 + trial, qdot);
        random_field(3, 30 + trial, velocity);
        random_field(3, 40 + trial, omega);
        random_field(3, 50 + trial, angle);
        random_field(3, 60 + trial, x0);
        sp_pose pose = {.x = {x0[0], x0[1], x0[2]}};
        sp_quaternion_from_vector(angle, pose.q);
        sp_free_body_place(body, &pose, velocity, omega, q, qdot);
        sp_pose seen;
        sp_free_body_pose(body, &seen);
        CHECK(distance(3, seen.x, pose.x) < 1e-14 && distance(4, seen.q, pose.q) < 1e-14, "the pose is another one");
        double R9[9], c[3] = {0}, drift[3] = {0};
        sp_quaternion_matrix(pose.q, R9);
        for (int64_t k = 0; k < m.mesh.vertex_count; k++) {
            double y[3], world[3];
            vertex_rows(&m, k, rows);
            deformed(&m, k, rows, q, y);
            sp_rotate(R9, y, world);
            for (int a = 0; a < 3; a++)
                x[3 * k + a] = world[a] + pose.x[a];
        }
        /* velocities up to a translation, which is then set so that the centre of mass moves as it should */
        sp_sparse_times(&context, &M, 1, x, Mv);
        for (int64_t i = 0; i < m.rows; i++)
            c[i % 3] += Mv[i] / m.inertia.mass;
        for (int64_t k = 0; k < m.mesh.vertex_count; k++) {
            double arm[3] = {x[3 * k] - c[0], x[3 * k + 1] - c[1], x[3 * k + 2] - c[2]}, local[3] = {0}, world[3],
                   spin[3];
            vertex_rows(&m, k, rows);
            for (int a = 0; a < 3; a++)
                for (int j = 0; j < R; j++)
                    local[a] += rows[a * R + j] * qdot[j];
            sp_rotate(R9, local, world);
            sp_cross3(omega, arm, spin);
            for (int a = 0; a < 3; a++)
                v[3 * k + a] = velocity[a] + world[a] + spin[a];
        }
        sp_sparse_times(&context, &M, 1, v, Mv);
        for (int64_t i = 0; i < m.rows; i++)
            drift[i % 3] += Mv[i] / m.inertia.mass;
        for (int64_t i = 0; i < m.rows; i++)
            v[i] += velocity[i % 3] - drift[i % 3];
        sp_sparse_times(&context, &M, 1, v, Mv);
        for (int64_t k = 0; k < m.mesh.vertex_count; k++) {
            double moment[3], point[3], y[3];
            sp_cross3(x + 3 * k, Mv + 3 * k, moment);
            for (int a = 0; a < 3; a++) {
                expected[a] += Mv[3 * k + a];
                expected[3 + a] += moment[a];
                expected_energy += 0.5 * v[3 * k + a] * Mv[3 * k + a];
            }
            vertex_rows(&m, k, rows);
            deformed(&m, k, rows, q, y);
            sp_free_body_point_velocity(body, y, rows, point);
            CHECK(distance(3, point, v + 3 * k) < 1e-13, "vertex %lld moves at another velocity, by %g", (long long)k,
                  distance(3, point, v + 3 * k));
        }
        CHECK(distance(3, c, sp_free_body_state(body)->c) < 1e-14, "the centre of mass is off by %g",
              distance(3, c, sp_free_body_state(body)->c));
        sp_free_body_energies(body, &kinetic, &strain);
        sp_free_body_momenta(body, linear, angular);
        CHECK_NEAR(kinetic, expected_energy, 1e-12 * expected_energy);
        CHECK(distance(3, linear, expected) < 1e-12 * length(3, expected), "linear momentum off by %g",
              distance(3, linear, expected));
        CHECK(distance(3, angular, expected + 3) < 1e-12 * (length(3, expected + 3) + m.inertia.mass),
              "angular momentum off by %g", distance(3, angular, expected + 3));
    }
    sp_free_body_free(body);
}

/* ---- rigid bodies ---- */

static sp_free_body *new_rigid(sp_inertia *inertia, const double J[6], double step)
{
    sp_free_body *body;
    CHECK_OK(sp_inertia_of_numbers(&context, 2, (double[]){0.1, 0.2, -0.3}, J, inertia));
    CHECK_OK(sp_free_body_new(&context, inertia, NULL, &(sp_free_parameters){.step = step}, &body));
    return body;
}

/* J = diag(1, 1, 2), Ω = (w, 0, s): Ω turns in the body about z at s (2 − 1)/1, the body's axis about L at |L|/1;
 * R = exp(L t) R₀ exp(−s t e_z) with |L| = √(w² + 4 s²). */
TEST(symmetric_top_precesses)
{
    const double w = 2, s = 3, T = 1, L[3] = {w * T, 0, 2 * s * T};
    double error[3], expected[4], a[4], b[4];
    sp_quaternion_from_vector(L, a);
    sp_quaternion_from_vector((double[]){0, 0, -s * T}, b);
    sp_quaternion_multiply(a, b, expected);
    for (int k = 0; k < 3; k++) {
        OWNED(sp_inertia) inertia;
        int64_t steps = 100 << k;
        sp_free_body *body = new_rigid(&inertia, (double[]){1, 1, 2, 0, 0, 0}, T / (double)steps);
        sp_pose pose = sp_pose_identity();
        sp_free_body_place(body, &pose, none, (double[]){w, 0, s}, NULL, NULL);
        for (int64_t i = 0; i < steps; i++)
            CHECK_OK(sp_free_body_step(body, none, none, NULL));
        const sp_free_state *state = sp_free_body_state(body);
        double Omega[3] = {w * cos(s * T), w * sin(s * T), s};
        double sign = state->rotation[0] * expected[0] + state->rotation[1] * expected[1] +
                                  state->rotation[2] * expected[2] + state->rotation[3] * expected[3] <
                              0
                          ? -1
                          : 1;
        for (int c = 0; c < 4; c++)
            a[c] = sign * expected[c];
        error[k] = distance(4, state->rotation, a) + distance(3, state->Omega, Omega);
        sp_free_body_free(body);
    }
    CHECK(error[0] < 0.01, "off by %g", error[0]);
    CHECK_ORDERS(error, 2, 0.02, 0.01, "pose");
}

/* Rotation almost about the intermediate axis: it tumbles repeatedly and conserves all invariants. */
TEST(rigid_motion_is_kept)
{
    OWNED(sp_inertia) inertia;
    sp_free_body *body = new_rigid(&inertia, (double[]){1, 2, 2.5, 0, 0, 0}, 2e-3);
    sp_pose pose = {{0.4, 0.5, 0.6}, {0.5, 0.5, -0.5, 0.5}};
    double omega[3], R9[9], linear[3], angular[3], P[3], L[3], energy, kinetic, strain, worst[3] = {0}, moment = 0;
    int turned = 0;
    sp_quaternion_matrix(pose.q, R9);
    sp_rotate(R9, (double[]){1e-3, 10, 0}, omega);
    sp_free_body_place(body, &pose, (double[]){1, -2, 0.5}, omega, NULL, NULL);
    sp_free_body_energies(body, &energy, &strain);
    sp_free_body_momenta(body, P, L);
    double side = 1;
    long before = allocations;
    for (int i = 0; i < 10000; i++) {
        CHECK_OK(sp_free_body_step(body, none, none, NULL));
        sp_free_body_energies(body, &kinetic, &strain);
        sp_free_body_momenta(body, linear, angular);
        /* the orbital part has its own rounding, of m|c||v| */
        moment = fmax(moment, length(3, L) +
                                  2 * length(3, sp_free_body_state(body)->c) * length(3, sp_free_body_state(body)->v));
        worst[0] = fmax(worst[0], fabs(kinetic - energy) / energy);
        worst[1] = fmax(worst[1], distance(3, linear, P) / length(3, P));
        worst[2] = fmax(worst[2], distance(3, angular, L) / moment);
        if (sp_free_body_state(body)->Omega[1] * side < -5) {
            side = -side;
            turned++;
        }
    }
    CHECK(allocations == before, "%ld allocations", allocations - before);
    NOTE("turned over %d times; energy %.1e, momenta %.1e %.1e; %.2f iterations each", turned, worst[0], worst[1],
         worst[2], (double)sp_free_body_reported(body)->newton_iterations / 1e4);
    CHECK(turned >= 3, "it turned over %d times only", turned);
    CHECK(worst[0] < 1e-10 && worst[1] < 1e-12 && worst[2] < 1e-12, "energy off by %g, momenta by %g and %g", worst[0],
          worst[1], worst[2]);
    CHECK(sp_free_body_reported(body)->steps == 10000, "%lld steps", (long long)sp_free_body_reported(body)->steps);
    sp_free_body_free(body);
}

/* Euler's equations J Ω̇ = (JΩ) × Ω + Rᵀ T of a body without symmetry by Runge and Kutta's method in fine steps. */
static void rate(const double s[7], const double J[3], const double T[3], double ds[7])
{
    double R9[9], torque[3], w[4] = {0, s[4], s[5], s[6]}, Pi[3] = {J[0] * s[4], J[1] * s[5], J[2] * s[6]}, gyration[3];
    sp_quaternion_matrix(s, R9);
    sp_rotate_back(R9, T, torque);
    sp_quaternion_multiply(s, w, ds);
    sp_cross3(Pi, s + 4, gyration);
    for (int c = 0; c < 4; c++)
        ds[c] *= 0.5;
    for (int c = 0; c < 3; c++)
        ds[4 + c] = (gyration[c] + torque[c]) / J[c];
}

TEST(euler_equations_with_torque)
{
    const double J[3] = {1, 1.7, 2.4}, T[3] = {3, -2, 4};
    double s[7] = {1, 0, 0, 0, 2, -1, 3}, k[4][7], at[7], error[3];
    for (int i = 0; i < 2000; i++) {
        const double h = 1.0 / 2000, part[3] = {0.5, 0.5, 1};
        rate(s, J, T, k[0]);
        for (int stage = 1; stage < 4; stage++) {
            for (int c = 0; c < 7; c++)
                at[c] = s[c] + part[stage - 1] * h * k[stage - 1][c];
            rate(at, J, T, k[stage]);
        }
        for (int c = 0; c < 7; c++)
            s[c] += h / 6 * (k[0][c] + 2 * k[1][c] + 2 * k[2][c] + k[3][c]);
    }
    for (int e = 0; e < 3; e++) {
        OWNED(sp_inertia) inertia;
        int64_t steps = 100 << e;
        sp_free_body *body = new_rigid(&inertia, (double[]){J[0], J[1], J[2], 0, 0, 0}, 1.0 / (double)steps);
        sp_pose pose = sp_pose_identity();
        double energy, kinetic, strain, work = 0, P[3], L[3], linear[3], angular[3];
        sp_free_body_place(body, &pose, none, (double[]){2, -1, 3}, NULL, NULL);
        sp_free_body_energies(body, &energy, &strain);
        sp_free_body_momenta(body, P, L);
        for (int64_t i = 0; i < steps; i++) {
            sp_free_state old = *sp_free_body_state(body);
            double R9[9], torque[3];
            CHECK_OK(sp_free_body_step(body, none, T, NULL));
            sp_quaternion_matrix(old.rotation, R9);
            sp_rotate_back(R9, T, torque);
            for (int c = 0; c < 3; c++)
                work += 0.5 / (double)steps * torque[c] * (old.Omega[c] + sp_free_body_state(body)->Omega[c]);
        }
        sp_free_body_energies(body, &kinetic, &strain);
        sp_free_body_momenta(body, linear, angular);
        CHECK_NEAR(kinetic - energy, work, 1e-12 * (kinetic + energy));
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(angular[c] - L[c], T[c], 1e-13 * length(3, angular) * sqrt((double)steps));
        const sp_free_state *state = sp_free_body_state(body);
        double sign = state->rotation[0] * s[0] + state->rotation[1] * s[1] + state->rotation[2] * s[2] +
                                  state->rotation[3] * s[3] <
                              0
                          ? -1
                          : 1;
        for (int c = 0; c < 4; c++)
            at[c] = sign * s[c];
        error[e] = distance(4, state->rotation, at) + distance(3, state->Omega, s + 4);
        sp_free_body_free(body);
    }
    CHECK_ORDERS(error, 2, 0.05, 0.03, "pose");
}

TEST(constant_force_makes_a_parabola)
{
    OWNED(sp_inertia) inertia;
    const double h = 0.01, g[3] = {0, -9.81, 2}, F[3] = {2 * g[0], 2 * g[1], 2 * g[2]}, v0[3] = {3, 4, -1};
    sp_free_body *body = new_rigid(&inertia, (double[]){1, 1.7, 2.4, 0.1, -0.2, 0.05}, h);
    sp_pose pose = sp_pose_identity();
    sp_free_body_place(body, &pose, v0, (double[]){5, 1, 2}, NULL, NULL);
    for (int i = 1; i <= 200; i++) {
        double t = h * i;
        CHECK_OK(sp_free_body_step(body, F, none, NULL));
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(sp_free_body_state(body)->c[c], inertia.centre[c] + v0[c] * t + 0.5 * g[c] * t * t, 1e-12);
    }
    sp_free_body_free(body);
}

/* ---- deformable bodies ---- */

static const double stretch_rates[R] = {3, -2, 1.5, 2, -2.5, 12, -9, 15, 1, 8};

static void start_tumbling(sp_free_body *body, double speed)
{
    sp_pose pose = {{0.4, 0.5, 0.6}, {0.5, 0.5, -0.5, 0.5}};
    double qdot[R];
    for (int j = 0; j < R; j++)
        qdot[j] = speed * stretch_rates[j];
    sp_free_body_place(body, &pose, (double[]){0.3, -0.2, 0.5}, (double[]){speed * 12, speed * 25, -speed * 9}, NULL,
                       qdot);
}

TEST(deformable_motion_is_kept)
{
    OWNED(model) m;
    make_model(&m);
    sp_free_body *body = new_body(&m, &(sp_free_parameters){.step = 5e-4});
    double linear[3], angular[3], P[3], L[3], kinetic, strain, energy, most_strain = 0, most_q[R] = {0}, worst[3] = {0};
    for (int i = 0; i < 10; i++) /* at rest nothing happens */
        CHECK_OK(sp_free_body_step(body, none, none, NULL));
    CHECK(length(R, sp_free_body_q(body)) == 0 && length(R, sp_free_body_qdot(body)) == 0 &&
              sp_free_body_state(body)->rotation[0] == 1,
          "it starts by itself");
    start_tumbling(body, 2.5);
    sp_free_body_energies(body, &kinetic, &strain);
    sp_free_body_momenta(body, P, L);
    energy = kinetic + strain;
    long before = allocations;
    for (int i = 0; i < 10000; i++) {
        int status = sp_free_body_step(body, none, none, NULL);
        CHECK_OK(status);
        if (status != SP_OK)
            break;
        sp_free_body_energies(body, &kinetic, &strain);
        sp_free_body_momenta(body, linear, angular);
        most_strain = fmax(most_strain, strain);
        for (int j = 0; j < R; j++)
            most_q[j] = fmax(most_q[j], fabs(sp_free_body_q(body)[j]));
        double moment = length(3, L) + m.inertia.mass * length(3, sp_free_body_state(body)->c) *
                                           length(3, sp_free_body_state(body)->v);
        worst[0] = fmax(worst[0], fabs(kinetic + strain - energy) / energy);
        worst[1] = fmax(worst[1], distance(3, linear, P) / length(3, P));
        worst[2] = fmax(worst[2], distance(3, angular, L) / moment);
    }
    const sp_free_report *report = sp_free_body_reported(body);
    CHECK(allocations == before, "%ld allocations", allocations - before);
    NOTE("energy %.1e, momenta %.1e %.1e; strain up to %.0f %% of the energy, stretches to %.2f %.2f %.2f; %.2f "
         "iterations each, at most "
         "%lld, %lld stagnated",
         worst[0], worst[1], worst[2], 100 * most_strain / energy, most_q[0], most_q[1], most_q[2],
         (double)report->newton_iterations / 1e4, (long long)report->worst_iterations, (long long)report->stagnated);
    CHECK(most_strain > 0.1 * energy, "it hardly deforms");
    CHECK(report->worst_iterations <= 4, "%lld iterations: the matrix is not the derivative",
          (long long)report->worst_iterations);
    CHECK(worst[0] < 1e-10 && worst[1] < 1e-12 && worst[2] < 1e-12, "energy off by %g, momenta by %g and %g", worst[0],
          worst[1], worst[2]);
    sp_free_body_free(body);
    /* one iteration leaves a residual, but no error of the momenta */
    body = new_body(&m, &(sp_free_parameters){.step = 2e-3, .semi_implicit = true});
    start_tumbling(body, 1);
    sp_free_body_momenta(body, P, L);
    for (int i = 0; i < 1000; i++)
        CHECK_OK(sp_free_body_step(body, none, none, NULL));
    sp_free_body_momenta(body, linear, angular);
    CHECK(sp_free_body_reported(body)->newton_iterations == 1000, "%lld iterations",
          (long long)sp_free_body_reported(body)->newton_iterations);
    CHECK(distance(3, angular, L) < 1e-12 * length(3, L), "semi-implicit: angular momentum off by %g of %g",
          distance(3, angular, L), length(3, L));
    sp_free_body_free(body);
}

/* A loose tolerance causes no energy error, because the last correction doubles the digits. Steps of several periods of
 * the slower modes, in which whole iterations diverge, conserve everything too. */
TEST(loose_and_long_steps_keep_energy)
{
    static const sp_free_parameters variant[] = {{.step = 5e-4, .tolerance = 1e-8}, {.step = 0.032}, {.step = 0.064}};
    static const double speed[] = {1, 2, 1};
    OWNED(model) m;
    make_model(&m);
    for (int k = 0; k < 3; k++) {
        sp_free_body *body = new_body(&m, &variant[k]);
        double kinetic, strain, energy, worst = 0;
        start_tumbling(body, speed[k]);
        sp_free_body_energies(body, &kinetic, &strain);
        energy = kinetic + strain;
        for (int i = 0; i < (k == 0 ? 4000 : 30); i++) {
            CHECK_OK(sp_free_body_step(body, none, none, NULL));
            sp_free_body_energies(body, &kinetic, &strain);
            worst = fmax(worst, fabs(kinetic + strain - energy) / energy);
        }
        const sp_free_report *report = sp_free_body_reported(body);
        NOTE("steps of %g s: energy %.1e, at most %lld iterations, residual %.1e", variant[k].step, worst,
             (long long)report->worst_iterations, report->worst_residual);
        CHECK(worst < 1e-11, "energy off by %g", worst);
        CHECK(k > 0 || report->worst_residual > 1e-10, "the residual is at most %g: nothing is left to gain",
              report->worst_residual);
        CHECK(k == 0 || report->worst_iterations > 8, "%lld iterations are not led astray",
              (long long)report->worst_iterations);
        sp_free_body_free(body);
    }
}

/* The complete state at time T: pose, velocities, q, qdot. */
enum { SEEN = 13 + 2 * R };

static void run(const model *m, sp_free_parameters parameters, double h, double T, double *seen)
{
    parameters.step = h;
    sp_free_body *body = new_body(m, &parameters);
    double Q[R];
    start_tumbling(body, 0.5);
    for (int j = 0; j < R; j++)
        Q[j] = 5 * stretch_rates[j];
    for (int64_t i = 0; i < llround(T / h); i++)
        CHECK_OK(sp_free_body_step(body, (double[]){30, 20, -40}, (double[]){9, -12, 20}, Q));
    memcpy(seen, sp_free_body_state(body), sizeof(sp_free_state));
    for (int j = 0; j < R; j++) {
        seen[13 + j] = sp_free_body_q(body)[j];
        seen[13 + R + j] = 0.02 * sp_free_body_qdot(body)[j]; /* of the size of q */
    }
    sp_free_body_free(body);
}

TEST(second_order_in_time)
{
    static const struct {
        const char *name;
        sp_free_parameters p;
    } variant[] = {{"coupled", {.damping_mass = 0}},
                   {"damped", {.damping_mass = 2, .damping_stiffness = 5e-4}},
                   {"semi-implicit", {.semi_implicit = true}},
                   {"decoupled", {.decoupled = true}},
                   {"decoupled, damped, semi-implicit",
                    {.decoupled = true, .semi_implicit = true, .damping_mass = 2, .damping_stiffness = 5e-4}}};
    OWNED(model) m;
    make_model(&m);
    double seen[4][SEEN], fine[5][SEEN];
    for (size_t k = 0; k < sizeof variant / sizeof *variant; k++) {
        for (int s = 0; s < 4; s++)
            run(&m, variant[k].p, 2e-4 / (1 << s), 0.05, seen[s]);
        double error[3];
        for (int s = 0; s < 3; s++)
            error[s] = distance(SEEN, seen[s], seen[s + 1]);
        memcpy(fine[k], seen[3], sizeof fine[k]);
        CHECK_ORDERS(error, 2, 0.1, 0.05, "%s", variant[k].name);
        /* the semi-implicit step converges to the same motion */
        if (k == 2)
            CHECK(distance(SEEN, fine[0], fine[2]) < 10 * error[2], "off by %g", distance(SEEN, fine[0], fine[2]));
    }
}

/* F, T, Q and damping change the energy by their work. */
TEST(work_accounts_for_energy)
{
    OWNED(model) m;
    make_model(&m);
    for (int k = 0; k < 3; k++) {
        const double h = 5e-4, F[3] = {300, 200, -400}, T[3] = {9, -12, 20};
        sp_free_parameters p = {.step = h, .damping_mass = k ? 3 : 0, .damping_stiffness = k == 2 ? 1e-3 : 0};
        sp_free_body *body = new_body(&m, &p);
        double kinetic, strain, energy, work = 0, lost = 0, Q[R], size;
        start_tumbling(body, 1);
        sp_free_body_energies(body, &kinetic, &strain);
        size = energy = kinetic + strain;
        for (int i = 0; i < 1000; i++) {
            sp_free_state old = *sp_free_body_state(body);
            double q0[R], step[R], middle[R], K[R * R], R9[9], torque[3];
            memcpy(q0, sp_free_body_q(body), sizeof q0);
            for (int j = 0; j < R; j++)
                Q[j] = 30 * stretch_rates[j] * sin(0.05 * i + j);
            CHECK_OK(sp_free_body_step(body, F, T, Q));
            const sp_free_state *now = sp_free_body_state(body);
            sp_quaternion_matrix(old.rotation, R9);
            sp_rotate_back(R9, T, torque);
            for (int c = 0; c < 3; c++)
                work += F[c] * (now->c[c] - old.c[c]) + 0.5 * h * torque[c] * (old.Omega[c] + now->Omega[c]);
            for (int j = 0; j < R; j++) {
                step[j] = sp_free_body_q(body)[j] - q0[j];
                middle[j] = q0[j] + 0.5 * step[j];
                work += Q[j] * step[j];
            }
            m.watch.evaluate(m.watch.self, middle, false, NULL, K);
            for (int j = 0; j < R; j++)
                for (int l = 0; l < R; l++)
                    lost += step[j] / h *
                            (p.damping_mass * m.inertia.M[j * R + l] +
                             p.damping_stiffness * K[l > j ? j * R + l : l * R + j]) *
                            step[l];
            sp_free_body_energies(body, &kinetic, &strain);
            size = fmax(size, kinetic + strain + fabs(work) + fabs(lost));
        }
        const sp_free_report *report = sp_free_body_reported(body);
        NOTE("energy %+.1f J of work %+.1f and damping %.1f: off by %.1e; %.2f iterations", kinetic + strain - energy,
             work, lost, (kinetic + strain - energy - work + lost) / size, (double)report->newton_iterations / 1e3);
        CHECK_NEAR(kinetic + strain - energy, work - lost, 1e-10 * size);
        CHECK(report->worst_iterations <= 3, "%lld iterations: the matrix is not the derivative",
              (long long)report->worst_iterations);
        if (k)
            CHECK(lost > 0.05 * size, "damping took %g J of %g", lost, size);
        sp_free_body_free(body);
    }
}

/* With damping the body comes to rest in a frame that rotates steadily, where f(q) = ½ Ωᵀ ∂J Ω. The right side is the
 * gradient of ½ ∫ρ|Ω × y|² of the full mesh by central differences, which are exact for a quadratic function. */
TEST(spinning_body_finds_its_balance)
{
    OWNED(model) m;
    OWNED(sp_sparse) M;
    make_model(&m);
    CHECK_OK(sp_fe_space_mass_compressed(&context, &m.body, false, &M));
    sp_free_body *body =
        new_body(&m, &(sp_free_parameters){.step = 1.2e-2, .damping_mass = 1, .damping_stiffness = 0.03});
    sp_pose pose = sp_pose_identity();
    double P[3], L[3], linear[3], angular[3], f[R], K[R * R], worst = 0, size = 0;
    sp_free_body_place(body, &pose, none, (double[]){0.2, 0.1, 40}, NULL, NULL);
    sp_free_body_momenta(body, P, L);
    for (int i = 0; i < 10000; i++)
        CHECK_OK(sp_free_body_step(body, none, none, NULL));
    sp_free_body_momenta(body, linear, angular);
    CHECK(distance(3, angular, L) < 1e-12 * length(3, L), "angular momentum off by %g", distance(3, angular, L));
    CHECK(length(R, sp_free_body_qdot(body)) < 1e-9, "it still deforms at %g", length(R, sp_free_body_qdot(body)));
    m.watch.evaluate(m.watch.self, sp_free_body_q(body), false, f, K);
    double *v = test_new(m.rows, 8), *Mv = test_new(m.rows, 8), energy[2];
    for (int j = 0; j < R; j++) {
        for (int side = 0; side < 2; side++) {
            double q[R], sum[3] = {0};
            memcpy(q, sp_free_body_q(body), sizeof q);
            q[j] += side ? 1 : -1;
            for (int64_t k = 0; k < m.mesh.vertex_count; k++) {
                double rows[3 * R], y[3];
                vertex_rows(&m, k, rows);
                deformed(&m, k, rows, q, y);
                sp_cross3(sp_free_body_state(body)->Omega, y, v + 3 * k);
            }
            sp_sparse_times(&context, &M, 1, v, Mv);
            energy[side] = 0;
            for (int64_t i = 0; i < m.rows; i++) {
                energy[side] += 0.5 * v[i] * Mv[i];
                sum[i % 3] += Mv[i];
            }
            energy[side] -= 0.5 * (sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]) /
                            m.inertia.mass; /* about the centre of mass */
        }
        worst = fmax(worst, fabs(0.5 * (energy[1] - energy[0]) - f[j]));
        size = fmax(size, fabs(f[j]));
    }
    NOTE("balance off by %.1e of %.0f; stretch %.3f", worst / size, size, sp_free_body_q(body)[0]);
    CHECK(sp_free_body_q(body)[0] > 0.01, "it did not stretch: %g", sp_free_body_q(body)[0]);
    CHECK(worst < 1e-8 * size, "off by %g of %g", worst, size);
    sp_free_body_free(body);
}

/* Rotation without deformation and deformation without rotation. */
TEST(decoupled_bodies_do_not_feel_their_rotation)
{
    OWNED(model) m;
    make_model(&m);
    sp_free_body *both = new_body(&m, &(sp_free_parameters){.step = 1e-3, .decoupled = true}),
                 *still = new_body(&m, &(sp_free_parameters){.step = 1e-3, .decoupled = true}), *rigid;
    OWNED(sp_inertia) alone;
    CHECK_OK(sp_inertia_of_body(&context, &m.body, false, 0, NULL, &alone));
    CHECK_OK(sp_free_body_new(&context, &alone, NULL, &(sp_free_parameters){.step = 1e-3}, &rigid));
    sp_pose pose = sp_pose_identity();
    double qdot[R];
    for (int j = 0; j < R; j++)
        qdot[j] = 0.5 * stretch_rates[j];
    sp_free_body_place(both, &pose, none, (double[]){5, 10, -4}, NULL, qdot);
    sp_free_body_place(rigid, &pose, none, (double[]){5, 10, -4}, NULL, NULL);
    sp_free_body_place(still, &pose, none, none, NULL, qdot);
    for (int i = 0; i < 300; i++) {
        CHECK_OK(sp_free_body_step(both, none, none, NULL));
        CHECK_OK(sp_free_body_step(rigid, none, none, NULL));
        CHECK_OK(sp_free_body_step(still, none, none, NULL));
    }
    CHECK(distance(4, sp_free_body_state(both)->rotation, sp_free_body_state(rigid)->rotation) < 1e-11,
          "rotation off by %g", distance(4, sp_free_body_state(both)->rotation, sp_free_body_state(rigid)->rotation));
    CHECK(distance(R, sp_free_body_q(both), sp_free_body_q(still)) < 1e-11, "deformation off by %g",
          distance(R, sp_free_body_q(both), sp_free_body_q(still)));
    sp_free_body_free(both), sp_free_body_free(still), sp_free_body_free(rigid);
}

/* Fills both triangles, as an unsymmetric force does. */
static double evaluate_whole(void *self, const double *q, bool definite, double *f, double *K)
{
    const sp_reduced_force *force = self;
    const double energy = force->evaluate(force->self, q, definite, f, K);
    for (int j = 0; K && j < R; j++)
        for (int i = 0; i < j; i++)
            K[j * R + i] = K[i * R + j];
    return energy;
}

/* Weights by coordinate, `spread` apart between coordinates, of all elements; 0: their force is the exact projected
 * one. */
static void weigh_by_coordinate(const model *m, double spread, sp_cubature *cubature)
{
    const int64_t n = sp_mesh_element_count(&m->mesh);
    *cubature = (sp_cubature){.r = R, .count = n, .modal = true};
    cubature->element = sp_pool_new(&cubature->pool, n, sizeof *cubature->element);
    cubature->weight = sp_pool_new(&cubature->pool, n * R, sizeof *cubature->weight);
    for (int64_t e = 0; e < n; e++) {
        cubature->element[e] = e;
        for (int j = 0; j < R; j++)
            cubature->weight[j * n + e] = 1 + spread * sin(3.0 * j + 0.7 * (double)e);
    }
}

/* Weights by coordinate (modal cubature) on a free body. If all are 1 they give the exact projected force, and so the
 * motion of the polynomials, with the work against the force equal to the strain energy. Other weights are the gradient
 * of no energy: momenta are conserved, and kinetic energy and work balance, but the work depends on the path. */
TEST(weights_by_coordinate)
{
    enum { STEPS = 200 };
    OWNED(model) m;
    make_model(&m);
    for (int c = 0; c < 4; c++) {
        const double spread = c % 2 ? 0.3 : 0;
        const sp_free_parameters p = {.step = 2e-3, .decoupled = c >= 2};
        OWNED(sp_cubature) cubature;
        sp_reduced_force force;
        sp_free_body *by_weights, *exact;
        double linear[2][3], angular[2][3], kinetic[2], strain[2], start, own, none_of_it;
        weigh_by_coordinate(&m, spread, &cubature);
        CHECK_OK(sp_cubature_force_new(&context, &m.body, &cubature, R, m.U, &force));
        CHECK(force.unsymmetric && force.cubic, "kind of force");
        CHECK_OK(sp_free_body_new(&context, &m.inertia, &force, &p, &by_weights));
        CHECK_OK(sp_polynomial_reduced_force(&context, &m.polynomials, R, &force));
        CHECK_OK(sp_free_body_new(&context, &m.inertia, &force, &p, &exact));
        start_tumbling(by_weights, 0.3);
        start_tumbling(exact, 0.3);
        sp_free_body_energies(by_weights, &start, &none_of_it);
        sp_free_body_momenta(by_weights, linear[0], angular[0]);
        for (int i = 0; i < STEPS; i++) {
            CHECK_OK(sp_free_body_step(by_weights, none, none, NULL));
            CHECK_OK(sp_free_body_step(exact, none, none, NULL));
        }
        sp_free_body_energies(by_weights, &kinetic[0], &strain[0]);
        sp_free_body_energies(exact, &kinetic[1], &strain[1]);
        sp_free_body_momenta(by_weights, linear[1], angular[1]);
        own = m.watch.evaluate(m.watch.self, sp_free_body_q(by_weights), false, NULL, NULL);
        const double apart = distance(R, sp_free_body_q(by_weights), sp_free_body_q(exact)),
                     size = cblas_dnrm2(R, sp_free_body_q(exact), 1);
        NOTE("case %d: q off by %.1e of %.2g; work %.6g J, strain energy there %.6g J", c, apart, size, strain[0], own);
        if (spread == 0) {
            CHECK(apart < 1e-9 * size, "case %d: q off by %g of %g", c, apart, size);
            CHECK_NEAR(strain[0], strain[1], 1e-9 * start);
        } else
            CHECK(apart > 1e-3 * size && fabs(strain[0] - own) > 1e-2 * own, "case %d: weights change nothing", c);
        CHECK_NEAR(kinetic[0] + strain[0], start, 1e-9 * start);
        CHECK(distance(3, linear[0], linear[1]) < 1e-12, "case %d: linear momentum off by %g", c,
              distance(3, linear[0], linear[1]));
        if (!p.decoupled)
            CHECK(distance(3, angular[0], angular[1]) < 1e-11 * cblas_dnrm2(3, angular[0], 1),
                  "case %d: angular momentum off by %g", c, distance(3, angular[0], angular[1]));
        sp_free_body_free(by_weights);
        sp_free_body_free(exact);
    }
}

/* Without coupling the deformation is factored by Cholesky, and by LU if it is not positive definite or may be
 * unsymmetric: compressed bodies, and the same with forces that are declared unsymmetric. Shared workspace changes
 * nothing. */
TEST(decoupled_steps_by_either_factor)
{
    enum { BODIES = 3, STEPS = 6 };
    OWNED(model) m;
    make_model(&m);
    OWNED(sp_pool) pool = {0};
    sp_free_workspaces workspaces;
    sp_free_workspaces_new(&pool, 1, R + 2, &workspaces);
    CHECK(!pool.failed, "memory");
    int64_t indefinite = 0, definite = 0;
    for (int c = 0; c < 13; c++) {
        const bool far = c == 12; /* Newton's method ends at rounding: results with other factors may differ, results
                                     with shared workspace do not */
        const double h = c % 2 || far ? 0.03 : 1e-3, squeeze = far ? -0.6 : -0.08 * (double)(c / 2);
        const sp_free_parameters p = {.step = h, .decoupled = true, .semi_implicit = !far && c % 4 < 2};
        sp_free_body *body[BODIES];
        sp_reduced_force whole;
        double q[R] = {0}, qdot[R], K[R * R], f[R];
        for (int j = 0; j < R; j++)
            qdot[j] = 0.01 * stretch_rates[j];
        q[0] = squeeze; /* along x */
        m.watch.evaluate(m.watch.self, q, false, f, K);
        for (int j = 0; j < R; j++)
            for (int i = j; i < R; i++)
                K[j * R + i] = m.inertia.M[j * R + i] + 0.25 * h * h * K[j * R + i];
        if (LAPACKE_dpotrf(LAPACK_COL_MAJOR, 'L', R, K, R) == 0)
            definite++;
        else
            indefinite++;
        for (int k = 0; k < BODIES; k++) {
            sp_free_parameters mine = p;
            sp_reduced_force force;
            const sp_pose pose = sp_pose_identity();
            CHECK_OK(sp_polynomial_reduced_force(&context, &m.polynomials, R, &force));
            if (k == 1) {
                whole = force;
                force.self = &whole;
                force.evaluate = evaluate_whole;
                force.destroy = NULL;
                force.unsymmetric = true;
            }
            mine.workspaces = k == 2 ? &workspaces : NULL;
            CHECK_OK(sp_free_body_new(&context, &m.inertia, &force, &mine, &body[k]));
            sp_free_body_place(body[k], &pose, none, (double[]){1, 2, -1}, q, qdot);
        }
        for (int i = 0; i < STEPS; i++) {
            int status[BODIES];
            for (int k = 0; k < BODIES; k++)
                status[k] = sp_free_body_step(body[k], none, none, NULL);
            CHECK(status[0] == status[2], "case %d step %d: statuses %d and %d with shared room", c, i, status[0],
                  status[2]);
            CHECK(far || (status[0] == SP_OK && status[1] == SP_OK), "case %d step %d: statuses %d %d", c, i, status[0],
                  status[1]);
            if (status[0] != SP_OK)
                break;
            const double *one = sp_free_body_q(body[0]), *other = sp_free_body_q(body[1]);
            CHECK(far || distance(R, one, other) < 1e-9 * (1 + fabs(squeeze)), "case %d step %d: off by %g", c, i,
                  distance(R, one, other));
            CHECK(memcmp(one, sp_free_body_q(body[2]), sizeof q) == 0, "case %d: shared room", c);
        }
        for (int k = 0; k < BODIES; k++)
            sp_free_body_free(body[k]);
        whole.destroy(whole.self);
    }
    NOTE("%lld of %lld are indefinite", (long long)indefinite, (long long)(definite + indefinite));
    CHECK(indefinite >= 3 && definite >= 3, "%lld indefinite, %lld definite", (long long)indefinite,
          (long long)definite);
    sp_free_body *body;
    sp_reduced_force force;
    sp_free_workspaces small;
    sp_free_workspaces_new(&pool, 1, R - 1, &small);
    CHECK_OK(sp_polynomial_reduced_force(&context, &m.polynomials, R, &force));
    CHECK(sp_free_body_new(&context, &m.inertia, &force, &(sp_free_parameters){.step = 1, .workspaces = &small},
                           &body) == SP_USAGE,
          "too little room");
}

/* A spring between a vertex of a deformable body and a point of a rigid one, with its force at the predicted midpoint:
 * the total momenta are conserved. */
TEST(opposite_forces_keep_momenta)
{
    OWNED(model) m;
    OWNED(sp_inertia) inertia;
    make_model(&m);
    const double h = 1e-3, y[3] = {0.4, 0.1, 0};
    const int64_t vertex = 17;
    sp_free_body *soft = new_body(&m, &(sp_free_parameters){.step = h, .damping_stiffness = 1e-3}),
                 *hard = new_rigid(&inertia, (double[]){1, 1.7, 2.4, 0.1, -0.2, 0.05}, h);
    sp_pose pose = {{1.5, 0.3, 0}, {1, 0, 0, 0}};
    double before[6], after[6], other[6], rows[3 * R], worst[2] = {0}, size[2] = {0}, force_size = 0;
    start_tumbling(soft, 0.3);
    sp_free_body_place(hard, &pose, (double[]){-2, 1, 0}, (double[]){5, 1, 2}, NULL, NULL);
    vertex_rows(&m, vertex, rows);
    sp_free_body_momenta(soft, before, before + 3);
    sp_free_body_momenta(hard, other, other + 3);
    for (int k = 0; k < 2; k++)
        size[k] = length(3, before + 3 * k) + length(3, other + 3 * k);
    for (int c = 0; c < 6; c++)
        before[c] += other[c];
    for (int i = 0; i < 2000; i++) {
        sp_pose a, b;
        double q[R], R9[9], ya[3], xa[3], xb[3], F[2][3] = {{0}}, T[2][3] = {{0}}, Q[R] = {0}, force[3], back[3],
                                                 arm[3];
        sp_free_body_predict(soft, &a, q);
        sp_free_body_predict(hard, &b, NULL);
        deformed(&m, vertex, rows, q, ya);
        sp_quaternion_matrix(a.q, R9);
        sp_rotate(R9, ya, xa);
        sp_quaternion_matrix(b.q, R9);
        sp_rotate(R9, y, xb);
        for (int c = 0; c < 3; c++)
            arm[c] = xb[c] + b.x[c] - xa[c] - a.x[c];
        double stretch = length(3, arm);
        /* along the line between the points, so that both forces have one line of action */
        for (int c = 0; c < 3; c++) {
            force[c] = 800 * arm[c] * (1 - 0.5 / stretch);
            back[c] = -force[c];
        }
        force_size = fmax(force_size, length(3, force));
        add_force(&m.inertia, &a, q, ya, rows, force, F[0], T[0], Q);
        add_force(&inertia, &b, NULL, y, NULL, back, F[1], T[1], NULL);
        CHECK_OK(sp_free_body_step(soft, F[0], T[0], Q));
        CHECK_OK(sp_free_body_step(hard, F[1], T[1], NULL));
        sp_free_body_momenta(soft, after, after + 3);
        sp_free_body_momenta(hard, other, other + 3);
        for (int c = 0; c < 6; c++)
            other[c] += after[c] - before[c];
        worst[0] = fmax(worst[0], length(3, other));
        worst[1] = fmax(worst[1], length(3, other + 3));
    }
    NOTE("forces up to %.0f N; momenta off by %.1e %.1e of %.1f %.1f", force_size, worst[0], worst[1], size[0],
         size[1]);
    CHECK(worst[0] < 1e-12 * size[0] && worst[1] < 1e-12 * size[1], "momenta off by %g %g", worst[0], worst[1]);
    sp_free_body_free(soft), sp_free_body_free(hard);
}

/* Virtual work: F·δc + T·δφ + Q·δq is the force times the point's displacement, for any motion; velocities are such
 * motions. */
TEST(forces_do_the_work_of_their_points)
{
    OWNED(model) m;
    make_model(&m);
    OWNED_POINTER(sp_free_body) *body = new_body(&m, &(sp_free_parameters){.step = 1e-3});
    double q[R], qdot[R], rows[3 * R], y[3], velocity[3], F[3] = {0}, T[3] = {0}, Q[R] = {0}, R9[9],
                                                          omega[3] = {3, -1, 2}, v[3] = {0.5, 0.7, -0.2}, power = 0;
    const double force[3] = {20, -30, 10};
    sp_pose pose = {{0.4, 0.5, 0.6}, {0.5, 0.5, -0.5, 0.5}};
    random_field(R, 81, q);
    random_field(R, 82, qdot);
    sp_free_body_place(body, &pose, v, omega, q, qdot);
    sp_quaternion_matrix(pose.q, R9);
    vertex_rows(&m, 31, rows);
    deformed(&m, 31, rows, q, y);
    add_force(&m.inertia, &pose, q, y, rows, force, F, T, Q);
    sp_free_body_point_velocity(body, y, rows, velocity);
    for (int c = 0; c < 3; c++)
        power += F[c] * v[c] + T[c] * omega[c];
    for (int j = 0; j < R; j++)
        power += Q[j] * qdot[j];
    CHECK_NEAR(power, sp_dot3(force, velocity), 1e-12 * 40 * length(3, velocity));
}

/* The prediction half a step ahead has an error of second order against the motion of a point. */
TEST(predicted_places_follow_velocities)
{
    OWNED(model) m;
    make_model(&m);
    double error[3], rows[3 * R], y[3], q[R], qdot[R], velocity[3], R9[9], from[3], to[3];
    random_field(R, 81, q);
    random_field(R, 82, qdot);
    vertex_rows(&m, 31, rows);
    for (int k = 0; k < 3; k++) {
        const double h = 0.01 / (1 << k);
        OWNED_POINTER(sp_free_body) *body = new_body(&m, &(sp_free_parameters){.step = h});
        sp_pose pose = {{0.4, 0.5, 0.6}, {0.5, 0.5, -0.5, 0.5}}, ahead;
        double later[R];
        sp_free_body_place(body, &pose, (double[]){0.5, 0.7, -0.2}, (double[]){3, -1, 2}, q, qdot);
        deformed(&m, 31, rows, q, y);
        sp_free_body_point_velocity(body, y, rows, velocity);
        sp_quaternion_matrix(pose.q, R9);
        sp_rotate(R9, y, from);
        sp_free_body_predict(body, &ahead, later);
        deformed(&m, 31, rows, later, y);
        sp_quaternion_matrix(ahead.q, R9);
        sp_rotate(R9, y, to);
        for (int c = 0; c < 3; c++) {
            from[c] += pose.x[c] + 0.5 * h * velocity[c];
            to[c] += ahead.x[c];
        }
        error[k] = distance(3, from, to);
    }
    CHECK_ORDERS(error, 2, 0.05, 0.03, "place");
}

/* ---- other forces than polynomials ---- */

/* Neo-Hookean by Galerkin projection: order 2, damped; then a pull so strong that elements invert. */
TEST(laws_that_end_at_inversion)
{
    OWNED(model) m;
    make_model(&m);
    m.mesh.materials[0].law = SP_LAW_NEO_HOOKEAN;
    OWNED(sp_fe_space) body;
    CHECK_OK(sp_fe_space_new(&context, &m.mesh, &body));
    double q[3][R], error[2];
    for (int s = 0; s < 3; s++) {
        sp_reduced_force force;
        sp_free_body *b;
        CHECK_OK(sp_galerkin_force_new(&context, &body, R, m.U, &force));
        CHECK(!force.cubic && force.inverted, "not such a law");
        CHECK_OK(sp_free_body_new(&context, &m.inertia, &force,
                                  &(sp_free_parameters){.step = 1e-3 / (1 << s), .damping_stiffness = 1e-3}, &b));
        start_tumbling(b, 0.3);
        for (int i = 0; i < 20 << s; i++)
            CHECK_OK(sp_free_body_step(b, none, none, NULL));
        memcpy(q[s], sp_free_body_q(b), sizeof q[s]);
        const sp_free_report *report = sp_free_body_reported(b);
        NOTE("%.2f iterations, at most %lld", (double)report->newton_iterations / (double)report->steps,
             (long long)report->worst_iterations);
        CHECK(report->worst_iterations <= 8, "%lld iterations", (long long)report->worst_iterations);
        if (s == 2) {
            sp_free_state old = *sp_free_body_state(b);
            double Q[R] = {-1e9}, kinetic, strain, again, same;
            sp_free_body_energies(b, &kinetic, &strain);
            CHECK(sp_free_body_step(b, none, none, Q) == SP_NUMERICAL, "a body was crushed to nothing");
            NOTE("%s", context.message);
            sp_free_body_energies(b, &again, &same);
            CHECK(!memcmp(&old, sp_free_body_state(b), sizeof old) && !memcmp(q[2], sp_free_body_q(b), sizeof q[2]) &&
                      again == kinetic && same == strain,
                  "the state has changed");
            CHECK_OK(sp_free_body_step(b, none, none, NULL));
            Q[0] = NAN;
            CHECK(sp_free_body_step(b, none, none, Q) == SP_NUMERICAL, "NaN was taken");
            CHECK(sp_free_body_step(b, (double[]){0, INFINITY, 0}, none, NULL) == SP_NUMERICAL, "∞ was taken");
            CHECK_OK(sp_free_body_step(b, none, none, NULL));
        }
        sp_free_body_free(b);
    }
    /* a step so long that iterations pass through inverted states to one that is not inverted */
    sp_reduced_force force;
    OWNED_POINTER(sp_free_body) *long_step;
    CHECK_OK(sp_galerkin_force_new(&context, &body, R, m.U, &force));
    CHECK_OK(sp_free_body_new(&context, &m.inertia, &force, &(sp_free_parameters){.step = 0.032}, &long_step));
    start_tumbling(long_step, 4);
    CHECK_OK(sp_free_body_step(long_step, none, none, NULL));
    error[0] = distance(R, q[0], q[1]);
    error[1] = distance(R, q[1], q[2]);
    NOTE("order %.3f", log2(error[0] / error[1]));
    CHECK_NEAR(log2(error[0] / error[1]), 2, 0.1);
}

/* ---- refusals ---- */

TEST(refusals)
{
    sp_inertia t;
    const double at[3] = {0, 0, 0};
    CHECK(sp_inertia_of_numbers(&context, -1, at, (double[]){1, 1, 1, 0, 0, 0}, &t) == SP_INPUT, "a negative mass");
    CHECK(sp_inertia_of_numbers(&context, NAN, at, (double[]){1, 1, 1, 0, 0, 0}, &t) == SP_INPUT, "no mass");
    CHECK(sp_inertia_of_numbers(&context, 1, at, (double[]){1, 1, 0, 0, 0, 0}, &t) == SP_INPUT, "a singular tensor");
    CHECK(sp_inertia_of_numbers(&context, 1, at, (double[]){1, 1, 1, 0, 0, 1.5}, &t) == SP_INPUT,
          "an indefinite tensor");
    CHECK(sp_inertia_of_numbers(&context, 1, at, (double[]){1, 1, 2.1, 0, 0, 0}, &t) == SP_INPUT,
          "an impossible tensor");
    CHECK(sp_inertia_of_numbers(&context, 1, at, (double[]){1, 1, INFINITY, 0, 0, 0}, &t) == SP_INPUT,
          "an infinite tensor");
    CHECK_OK(sp_inertia_of_numbers(&context, 1, at, (double[]){1, 1, 2, 0, 0, 0}, &t)); /* a disc is allowed */
    sp_free_body *body;
    CHECK(sp_free_body_new(&context, &t, NULL, &(sp_free_parameters){.step = 0}, &body) == SP_USAGE, "a step of 0");
    CHECK(sp_free_body_new(&context, &t, NULL, &(sp_free_parameters){.step = 1, .damping_mass = -1}, &body) == SP_USAGE,
          "negative damping");
    sp_inertia_free(&t);
    for (int k = 0; k < 4; k++) {
        OWNED(sp_surface) s = new_surface(16, 24);
        add_box(&s, (double[]){1, 1, 1}, (double[]){2, 3, 4});
        if (k == 0)
            s.triangle_count -= 2;                   /* without a lid */
        for (int64_t i = 0; k == 1 && i < 12; i++) { /* inside out */
            int64_t a = s.triangles[3 * i];
            s.triangles[3 * i] = s.triangles[3 * i + 1];
            s.triangles[3 * i + 1] = a;
        }
        if (k == 2)
            s.triangle_count = 0;
        CHECK(sp_inertia_of_surface(&context, &s, k == 3 ? -5 : 1000, &t) == SP_INPUT, "surface %d", k);
        NOTE("%s", context.message);
    }
    /* coordinates that move the body rigidly, and a force of another number of coordinates, which is freed */
    OWNED(model) m;
    make_model(&m);
    sp_reduced_force force;
    sp_free_parameters p = {.step = 1e-3};
    CHECK_OK(sp_polynomial_reduced_force(&context, &m.polynomials, R - 1, &force));
    CHECK(sp_free_body_new(&context, &m.inertia, &force, &p, &body) == SP_USAGE, "%d coordinates and %d", R, R - 1);
    CHECK(sp_free_body_new(&context, &m.inertia, NULL, &p, &body) == SP_USAGE, "coordinates without a force");
    for (int turn = 0; turn < 2; turn++) {
        for (int64_t v = 0; v < m.mesh.vertex_count; v++)
            for (int c = 0; c < 3; c++)
                m.U[m.rows + 3 * v + c] = !turn    ? c == 1
                                          : c == 0 ? -m.mesh.vertices[3 * v + 1]
                                          : c == 1 ? m.mesh.vertices[3 * v]
                                                   : 0;
        sp_inertia_free(&m.inertia);
        CHECK_OK(sp_inertia_of_body(&context, &m.body, false, R, m.U, &m.inertia));
        CHECK_OK(sp_polynomial_reduced_force(&context, &m.polynomials, R, &force));
        CHECK(sp_free_body_new(&context, &m.inertia, &force, &p, &body) == SP_NUMERICAL,
              "a rigid motion among the coordinates");
    }
}

BEFORE_TESTS()
{
    context.threads = 2;
}
