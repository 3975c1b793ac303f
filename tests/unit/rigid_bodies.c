/* Inertia of bodies, and free rigid bodies. */
#include "allocations.h"
#include "free_models.h"
#include "geometry_models.h"

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
        CHECK(distance2(3, seen.x, pose.x) < 1e-14 && distance2(4, seen.q, pose.q) < 1e-14, "the pose is another one");
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
            CHECK(distance2(3, point, v + 3 * k) < 1e-13, "vertex %lld moves at another velocity, by %g", (long long)k,
                  distance2(3, point, v + 3 * k));
        }
        CHECK(distance2(3, c, sp_free_body_state(body)->c) < 1e-14, "the centre of mass is off by %g",
              distance2(3, c, sp_free_body_state(body)->c));
        sp_free_body_energies(body, &kinetic, &strain);
        sp_free_body_momenta(body, linear, angular);
        CHECK_NEAR(kinetic, expected_energy, 1e-12 * expected_energy);
        CHECK(distance2(3, linear, expected) < 1e-12 * norm2(3, expected), "linear momentum off by %g",
              distance2(3, linear, expected));
        CHECK(distance2(3, angular, expected + 3) < 1e-12 * (norm2(3, expected + 3) + m.inertia.mass),
              "angular momentum off by %g", distance2(3, angular, expected + 3));
    }
    sp_free_body_free(body);
}

/* ---- rigid bodies ---- */

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
        error[k] = distance2(4, state->rotation, a) + distance2(3, state->Omega, Omega);
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
        moment = fmax(moment,
                      norm2(3, L) + 2 * norm2(3, sp_free_body_state(body)->c) * norm2(3, sp_free_body_state(body)->v));
        worst[0] = fmax(worst[0], fabs(kinetic - energy) / energy);
        worst[1] = fmax(worst[1], distance2(3, linear, P) / norm2(3, P));
        worst[2] = fmax(worst[2], distance2(3, angular, L) / moment);
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
            CHECK_NEAR(angular[c] - L[c], T[c], 1e-13 * norm2(3, angular) * sqrt((double)steps));
        const sp_free_state *state = sp_free_body_state(body);
        double sign = state->rotation[0] * s[0] + state->rotation[1] * s[1] + state->rotation[2] * s[2] +
                                  state->rotation[3] * s[3] <
                              0
                          ? -1
                          : 1;
        for (int c = 0; c < 4; c++)
            at[c] = sign * s[c];
        error[e] = distance2(4, state->rotation, at) + distance2(3, state->Omega, s + 4);
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
