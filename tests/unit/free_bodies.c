/* Free deformable bodies: momenta, energy, order of convergence, loads, refusals. */
#include "allocations.h"
#include "cubature/cubature.h"
#include "free_models.h"
#include "geometry_models.h"
#include "reduced/galerkin.h"

#include <cblas.h>
#include <lapacke.h>

OWNER(sp_free_body)

/* ---- a deformable body: a bar of 1 MPa, 0.8 × 0.4 × 0.2 m, with smooth fields about its middle, none of them rigid
 * ---- */

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
    CHECK(norm2(R, sp_free_body_q(body)) == 0 && norm2(R, sp_free_body_qdot(body)) == 0 &&
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
        double moment = norm2(3, L) +
                        m.inertia.mass * norm2(3, sp_free_body_state(body)->c) * norm2(3, sp_free_body_state(body)->v);
        worst[0] = fmax(worst[0], fabs(kinetic + strain - energy) / energy);
        worst[1] = fmax(worst[1], distance2(3, linear, P) / norm2(3, P));
        worst[2] = fmax(worst[2], distance2(3, angular, L) / moment);
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
    CHECK(distance2(3, angular, L) < 1e-12 * norm2(3, L), "semi-implicit: angular momentum off by %g of %g",
          distance2(3, angular, L), norm2(3, L));
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
            error[s] = distance2(SEEN, seen[s], seen[s + 1]);
        memcpy(fine[k], seen[3], sizeof fine[k]);
        CHECK_ORDERS(error, 2, 0.1, 0.05, "%s", variant[k].name);
        /* the semi-implicit step converges to the same motion */
        if (k == 2)
            CHECK(distance2(SEEN, fine[0], fine[2]) < 10 * error[2], "off by %g", distance2(SEEN, fine[0], fine[2]));
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
    CHECK(distance2(3, angular, L) < 1e-12 * norm2(3, L), "angular momentum off by %g", distance2(3, angular, L));
    CHECK(norm2(R, sp_free_body_qdot(body)) < 1e-9, "it still deforms at %g", norm2(R, sp_free_body_qdot(body)));
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
    CHECK(distance2(4, sp_free_body_state(both)->rotation, sp_free_body_state(rigid)->rotation) < 1e-11,
          "rotation off by %g", distance2(4, sp_free_body_state(both)->rotation, sp_free_body_state(rigid)->rotation));
    CHECK(distance2(R, sp_free_body_q(both), sp_free_body_q(still)) < 1e-11, "deformation off by %g",
          distance2(R, sp_free_body_q(both), sp_free_body_q(still)));
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
        const double apart = distance2(R, sp_free_body_q(by_weights), sp_free_body_q(exact)),
                     size = cblas_dnrm2(R, sp_free_body_q(exact), 1);
        NOTE("case %d: q off by %.1e of %.2g; work %.6g J, strain energy there %.6g J", c, apart, size, strain[0], own);
        if (spread == 0) {
            CHECK(apart < 1e-9 * size, "case %d: q off by %g of %g", c, apart, size);
            CHECK_NEAR(strain[0], strain[1], 1e-9 * start);
        } else
            CHECK(apart > 1e-3 * size && fabs(strain[0] - own) > 1e-2 * own, "case %d: weights change nothing", c);
        CHECK_NEAR(kinetic[0] + strain[0], start, 1e-9 * start);
        CHECK(distance2(3, linear[0], linear[1]) < 1e-12, "case %d: linear momentum off by %g", c,
              distance2(3, linear[0], linear[1]));
        if (!p.decoupled)
            CHECK(distance2(3, angular[0], angular[1]) < 1e-11 * cblas_dnrm2(3, angular[0], 1),
                  "case %d: angular momentum off by %g", c, distance2(3, angular[0], angular[1]));
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
            CHECK(far || distance2(R, one, other) < 1e-9 * (1 + fabs(squeeze)), "case %d step %d: off by %g", c, i,
                  distance2(R, one, other));
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
        size[k] = norm2(3, before + 3 * k) + norm2(3, other + 3 * k);
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
        double stretch = norm2(3, arm);
        /* along the line between the points, so that both forces have one line of action */
        for (int c = 0; c < 3; c++) {
            force[c] = 800 * arm[c] * (1 - 0.5 / stretch);
            back[c] = -force[c];
        }
        force_size = fmax(force_size, norm2(3, force));
        add_force(&m.inertia, &a, q, ya, rows, force, F[0], T[0], Q);
        add_force(&inertia, &b, NULL, y, NULL, back, F[1], T[1], NULL);
        CHECK_OK(sp_free_body_step(soft, F[0], T[0], Q));
        CHECK_OK(sp_free_body_step(hard, F[1], T[1], NULL));
        sp_free_body_momenta(soft, after, after + 3);
        sp_free_body_momenta(hard, other, other + 3);
        for (int c = 0; c < 6; c++)
            other[c] += after[c] - before[c];
        worst[0] = fmax(worst[0], norm2(3, other));
        worst[1] = fmax(worst[1], norm2(3, other + 3));
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
    CHECK_NEAR(power, sp_dot3(force, velocity), 1e-12 * 40 * norm2(3, velocity));
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
        error[k] = distance2(3, from, to);
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
    error[0] = distance2(R, q[0], q[1]);
    error[1] = distance2(R, q[1], q[2]);
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
