/* ConJac: whole motions. */
#include "allocations.h"
#include "conjac_models.h"
#include "integrate/integrate.h"

OWNER(sp_integrator)

/* ---- whole motions ---- */

static void driven_held(void *self, double t, double *u, double *v)
{
    const struct drive *drive = self;
    for (int64_t i = 0; i < drive->b->mesh.vertex_count; i++)
        if (drive->b->body.dof[3 * i] < 0 && drive->b->mesh.vertices[3 * i] > 0.15) {
            u[3 * i + 1] = drive->amplitude * sin(drive->omega * t);
            v[3 * i + 1] = drive->amplitude * drive->omega * cos(drive->omega * t);
        }
}

/* With every vertex dynamic J is the identity, and the step is that of the full-order model, friction included. */
TEST(all_dynamic_is_plain)
{
    for (int kind = 0; kind < 3; kind++) {
        fixture b;
        make(3, kind == 1, kind == 2 ? CLAMPED : BOTH_ENDS, gum(), &b);
        FREED_BY(sp_full_system_free) sp_system plain;
        CHECK_OK(sp_viscous_new(&context, &b.body, &(sp_viscosity){10, 5}, &b.viscous));
        sp_ground ground = {.normal = {0, 0, 1}, .offset = 0.01, .stiffness = 500, .alpha = 0.1, .friction = 0.3};
        sp_spring spring = {17, {0.1, 0.1, 0.3}, 100};
        int64_t *vertex = test_new(b.mesh.vertex_count, sizeof *vertex), count = 0;
        for (int64_t v = 0; v < b.mesh.vertex_count; v++)
            if (b.body.dof[3 * v] >= 0)
                vertex[count++] = v;
        sp_system *both[2] = {&b.full, &plain};
        for (int k = 0; k < 2; k++) {
            CHECK_OK(sp_full_system_new(&context, &b.body, false, kind == 1, NULL, both[k]));
            CHECK_OK(sp_full_system_damp(both[k], &b.viscous));
            CHECK_OK(sp_full_system_grounds(both[k], 1, &ground));
            both[k]->set_springs(both[k]->self, 1, &spring);
        }
        CHECK_OK(sp_conjac_system_new(&context, &b.full, &(sp_condensation){count, vertex, 1.0 / 3, 2}, &b.condensed));
        double *external = tip_load(&b, 1, 3, -6), *start = numbers(b.n);
        for (int64_t i = 0; i < b.n; i++) {
            external[i] += b.body.free[i] % 3 == 2 ? -0.2 : 0;
            start[i] = b.body.free[i] % 3 == 0 ? 0.5 * b.mesh.vertices[b.body.free[i]] : 0;
        }
        struct drive drive = {external, &b, 0.02, 40};
        const sp_external_loads forcing = {
            .self = &drive, .mean = driven_mean, .prescribed = kind == 2 ? NULL : driven_held};
        const sp_integrator_parameters p = {
            .kind = SP_LINEAR_EULER, .step = 5e-3, .beta = 0.8, .damping_mass = 0.5, .damping_stiffness = 1e-3};
        sp_integrator *it[2];
        CHECK_OK(sp_integrator_new(&context, &b.condensed, &forcing, &p, NULL, start, &it[0]));
        CHECK_OK(sp_integrator_new(&context, &plain, &forcing, &p, NULL, start, &it[1]));
        for (int step = 0; step < 12; step++)
            for (int k = 0; k < 2; k++)
                CHECK_OK(sp_integrator_step(it[k]));
        const double *q[2] = {sp_integrator_q(it[0]), sp_integrator_q(it[1])},
                     *v[2] = {sp_integrator_v(it[0]), sp_integrator_v(it[1])};
        double energy[2][SP_WORK_COUNT];
        for (int k = 0; k < 2; k++)
            sp_integrator_energies(it[k], energy[k]);
        NOTE("kind %d, 12 steps: q %.1e of %.3g, v %.1e of %.3g; %.3g J dissipated", kind, distance2(b.n, q[0], q[1]),
             norm2(b.n, q[1]), distance2(b.n, v[0], v[1]), norm2(b.n, v[1]), energy[1][SP_WORK_DISSIPATED]);
        CHECK_NEAR(distance2(b.n, q[0], q[1]), 0, 1e-11 * norm2(b.n, q[1]));
        CHECK_NEAR(distance2(b.n, v[0], v[1]), 0, 1e-11 * norm2(b.n, v[1]));
        CHECK_NEAR(energy[0][SP_WORK_EXTERNAL], energy[1][SP_WORK_EXTERNAL], 1e-10 * fabs(energy[1][SP_WORK_EXTERNAL]));
        for (int k = 0; k < 2; k++)
            sp_integrator_free(it[k]);
        free(external);
        free(start);
        release(&b);
    }
}

TEST(ends_in_the_static_state)
{
    const int64_t vertex[9] = {4, 13, 14, 18, 24, 29, 33, 38, 44};
    for (int tetrahedra = 0; tetrahedra < 2; tetrahedra++) {
        fixture b;
        make(4, tetrahedra, CLAMPED, gum(), &b);
        FREED_BY(sp_full_system_free) sp_system full;
        double *external = tip_load(&b, 3, 1.5, 9);
        struct drive drive = {external, &b, 0, 0};
        const sp_external_loads forcing = {.self = &drive, .mean = driven_mean};
        sp_integrator *it;
        CHECK_OK(sp_full_system_new(&context, &b.body, false, false, NULL, &full));
        CHECK_OK(sp_integrator_new(&context, &full, &forcing,
                                   &(sp_integrator_parameters){.kind = SP_STATIC, .step = 1, .tolerance = 1e-13}, NULL,
                                   NULL, &it));
        CHECK_OK(sp_integrator_step(it));
        double *balance = numbers(b.n);
        memcpy(balance, sp_integrator_q(it), (size_t)b.n * 8);
        sp_integrator_free(it);
        for (int k = 0; k < 4; k++) {
            const int64_t count = (int64_t[]){0, 1, 4, 9}[k];
            int64_t shifted[9];
            for (int64_t i = 0; i < count; i++)
                shifted[i] = vertex[8 - i]; /* the last is at the free end */
            condense(&b, false, false, count, shifted, 1.0 / 3, 0);
            const sp_integrator_parameters p = {.kind = SP_LINEAR_EULER, .step = 0.02, .beta = 1, .damping_mass = 12};
            CHECK_OK(sp_integrator_new(&context, &b.condensed, &forcing, &p, NULL, NULL, &it));
            double s[3], d[3];
            int at = 0;
            for (int step = 1; step <= 240; step++) {
                CHECK_OK(sp_integrator_step(it));
                if (step == 60 || step == 120 || step == 240) {
                    CHECK_OK(sp_conjac_system_balance(&b.condensed, sp_integrator_q(it), external, &s[at], &d[at]));
                    at++;
                }
            }
            const double load = norm2(b.n, external);
            NOTE("%s, %lld dynamic: after 60, 120, 240 steps forces out of balance %.1e %.1e %.1e and %.1e %.1e %.1e "
                 "of the load, positions %.1e of %.3g m",
                 tetrahedra ? "tetrahedra" : "hexahedra", (long long)count, s[0] / load, s[1] / load, s[2] / load,
                 d[0] / load, d[1] / load, d[2] / load, distance2(b.n, sp_integrator_q(it), balance),
                 norm2(b.n, balance));
            CHECK(s[2] < 1e-8 * load && d[2] < 1e-8 * load, "no balance: %g and %g of %g N", s[2], d[2], load);
            CHECK_NEAR(distance2(b.n, sp_integrator_q(it), balance), 0, 1e-7 * norm2(b.n, balance));
            sp_integrator_free(it);
            sp_conjac_system_free(&b.condensed);
        }
        CHECK(norm2(b.n, balance) > 0.05, "the load bends nothing");
        free(external);
        free(balance);
        release(&b);
    }
}

/* Translations t satisfy K t = 0, so t = J t_d, and tᵀ of the step's equation is tᵀM v₁ = tᵀM v₀. Rotations are not in
 * the kernel of K(q) where there is stress: no such law for them. */
TEST(free_body_keeps_momentum)
{
    fixture b;
    make(4, false, FREE, gum(), &b);
    const int64_t vertex[4] = {0, 4, 22, 44};
    condense(&b, false, false, 4, vertex, 1.0 / 3, 0);
    double *v = numbers(b.n), *zero = numbers(b.n), *Mv = numbers(b.n), *field = numbers(b.n), momentum[2][6], size = 0;
    random_field(b.n, 6, field);
    for (int64_t i = 0; i < b.mesh.vertex_count; i++) {
        const double *x = b.mesh.vertices + 3 * i;
        v[3 * i] = 0.3 - 2 * (x[1] - 0.1) + 0.3 * field[3 * i];
        v[3 * i + 1] = 0.2 + 2 * (x[0] - 0.2) + 0.3 * field[3 * i + 1];
        v[3 * i + 2] = 0.1 + 4 * x[0] * x[0] + 0.3 * field[3 * i + 2];
    }
    struct drive drive = {zero, &b, 0, 0};
    const sp_external_loads forcing = {.self = &drive, .mean = driven_mean};
    OWNED_POINTER(sp_integrator) *it;
    CHECK_OK(sp_integrator_new(
        &context, &b.condensed, &forcing,
        &(sp_integrator_parameters){.kind = SP_LINEAR_EULER, .step = 5e-3, .beta = 0.7, .damping_stiffness = 1e-3},
        NULL, v, &it));
    for (int k = 0; k < 2; k++) {
        memset(momentum[k], 0, sizeof momentum[k]);
        const double *q = sp_integrator_q(it);
        b.condensed.mass_times(b.condensed.self, sp_integrator_v(it), Mv);
        for (int64_t i = 0; i < b.mesh.vertex_count; i++)
            for (int c = 0; c < 3; c++) {
                const int e = (c + 1) % 3, f = (c + 2) % 3;
                momentum[k][c] += Mv[3 * i + c];
                momentum[k][3 + c] += (b.mesh.vertices[3 * i + e] + q[3 * i + e]) * Mv[3 * i + f] -
                                      (b.mesh.vertices[3 * i + f] + q[3 * i + f]) * Mv[3 * i + e];
            }
        for (int step = 0; step < 40 && k == 0; step++)
            CHECK_OK(sp_integrator_step(it));
    }
    size = norm2(3, momentum[0]);
    NOTE("40 steps: momentum changes by %.1e, turning momentum by %.1e of itself",
         distance2(3, momentum[0], momentum[1]) / size,
         distance2(3, momentum[0] + 3, momentum[1] + 3) / norm2(3, momentum[0] + 3));
    CHECK(distance2(b.n, sp_integrator_q(it), zero) > 0.1, "nothing moves");
    CHECK_NEAR(distance2(3, momentum[0], momentum[1]), 0, 1e-11 * size);
    free(v);
    free(zero);
    free(Mv);
    free(field);
    release(&b);
}

/* A free body with one dynamic vertex gets two more, so that its rotations are dynamic. At rest K annuls rigid motions,
 * so that a step conserves a rigid velocity for any choice of vertices. */
TEST(free_body_turns_about_one_dynamic_vertex)
{
    for (int count = 1; count <= 3; count++) {
        fixture b;
        make(3, true, FREE, gum(), &b);
        condense(&b, false, false, count, (int64_t[]){20, 5, 30}, 0.5, 0);
        CHECK(sp_conjac_system_added(&b.condensed) == 3 - count && sp_conjac_system_dynamic(&b.condensed) == 9,
              "%lld vertices added to %d, %lld components", (long long)sp_conjac_system_added(&b.condensed), count,
              (long long)sp_conjac_system_dynamic(&b.condensed));
        double *v = numbers(b.n), *zero = numbers(b.n);
        for (int64_t i = 0; i < b.mesh.vertex_count; i++) {
            const double *x = b.mesh.vertices + 3 * i, spin[3] = {1, -2, 0.5};
            for (int c = 0; c < 3; c++)
                v[3 * i + c] = 0.1 * (c + 1) + spin[(c + 1) % 3] * x[(c + 2) % 3] - spin[(c + 2) % 3] * x[(c + 1) % 3];
        }
        struct drive drive = {zero, &b, 0, 0};
        const sp_external_loads forcing = {.self = &drive, .mean = driven_mean}; /* lives as long as the integrator */
        OWNED_POINTER(sp_integrator) *it;
        CHECK_OK(sp_integrator_new(&context, &b.condensed, &forcing,
                                   &(sp_integrator_parameters){.kind = SP_LINEAR_EULER, .step = 5e-3, .beta = 1}, NULL,
                                   v, &it));
        CHECK_OK(sp_integrator_step(it));
        NOTE("%d dynamic vertices: a rigid velocity changes by %.1e of itself", count,
             distance2(b.n, v, sp_integrator_v(it)) / norm2(b.n, v));
        CHECK_NEAR(distance2(b.n, v, sp_integrator_v(it)), 0, 1e-9 * norm2(b.n, v));
        free(v);
        free(zero);
        release(&b);
    }
}

/* γ = 1 without dynamic vertices: every step is a Newton iteration whose residual decreases quadratically. With
 * corrections by the same factor it decreases linearly within the step. */
TEST(whole_shift_is_newton)
{
    fixture b;
    make(4, true, CLAMPED, gum(), &b);
    double *external = tip_load(&b, 1, 0, 2), s[8], d, load = norm2(b.n, external), once[2];
    struct drive drive = {external, &b, 0, 0};
    const sp_external_loads forcing = {.self = &drive, .mean = driven_mean};
    sp_integrator *it;
    condense(&b, false, false, 0, NULL, 1, 0);
    CHECK_OK(sp_integrator_new(&context, &b.condensed, &forcing,
                               &(sp_integrator_parameters){.kind = SP_LINEAR_EULER, .step = 0.01, .beta = 1}, NULL,
                               NULL, &it));
    for (int step = 0; step < 8; step++) {
        CHECK_OK(sp_integrator_step(it));
        CHECK_OK(sp_conjac_system_balance(&b.condensed, sp_integrator_q(it), external, &s[step], &d));
        CHECK(norm2(b.n, sp_integrator_v(it)) == 0 && d == 0, "something moves");
    }
    NOTE("residuals of the load: %.1e %.1e %.1e %.1e %.1e %.1e %.1e %.1e", s[0] / load, s[1] / load, s[2] / load,
         s[3] / load, s[4] / load, s[5] / load, s[6] / load, s[7] / load);
    int last = 7;
    while (last > 1 && s[last] < 1e-9 * load)
        last--;
    CHECK(s[7] < 1e-11 * load, "%g of %g N are left", s[7], load);
    CHECK(s[last + 1] < 1e-3 * s[last], "not quadratic: %g after %g N", s[last + 1], s[last]);
    sp_integrator_free(it);
    sp_conjac_system_free(&b.condensed);
    for (int k = 0; k < 2; k++) {
        double *small = numbers(b.n);
        for (int64_t i = 0; i < b.n; i++)
            small[i] = 0.2 * external[i];
        drive.external = small;
        condense(&b, false, false, 0, NULL, 1, 3 * k);
        CHECK_OK(sp_integrator_new(&context, &b.condensed, &forcing,
                                   &(sp_integrator_parameters){.kind = SP_LINEAR_EULER, .step = 0.01, .beta = 1}, NULL,
                                   NULL, &it));
        CHECK_OK(sp_integrator_step(it));
        CHECK_OK(sp_conjac_system_balance(&b.condensed, sp_integrator_q(it), small, &once[k], &d));
        CHECK(sp_integrator_reported(it)->factorizations == 1, "%lld factorizations",
              (long long)sp_integrator_reported(it)->factorizations);
        sp_integrator_free(it);
        sp_conjac_system_free(&b.condensed);
        free(small);
    }
    NOTE("one step under a fifth of the load: %.1e left, with three corrections %.1e", once[0] / load, once[1] / load);
    CHECK(once[1] < 0.05 * once[0], "corrections help little: %g after %g N", once[1], once[0]);
    free(external);
    release(&b);
}

/* Prescribed vertices that stretch and bend a bar slowly: the state stays near the static one, with an error
 * proportional to the speed. */
TEST(follows_held_vertices)
{
    fixture b;
    make(4, false, BOTH_ENDS, gum(), &b);
    double *zero = numbers(b.n), error[2][2];
    for (int corrections = 0; corrections < 2; corrections++)
        for (int e = 0; e < 2; e++) {
            condense(&b, false, false, 0, NULL, 1, corrections);
            const int steps = 10 << e;
            struct drive drive = {zero, &b, 0.1, 1};
            const sp_external_loads forcing = {.self = &drive, .mean = driven_mean, .prescribed = driven_held};
            OWNED_POINTER(sp_integrator) *it;
            CHECK_OK(sp_integrator_new(
                &context, &b.condensed, &forcing,
                &(sp_integrator_parameters){.kind = SP_LINEAR_EULER, .step = 1.2 / steps, .beta = 1}, NULL, NULL, &it));
            for (int step = 0; step < steps; step++)
                CHECK_OK(sp_integrator_step(it));
            double *q = numbers(b.n);
            memcpy(q, sp_integrator_q(it), (size_t)b.n * 8);
            CHECK_OK(sp_conjac_system_settle(&b.condensed, zero, 1e-12, 50, q));
            error[corrections][e] = distance2(b.n, q, sp_integrator_q(it)) / norm2(b.n, q);
            free(q);
            sp_conjac_system_free(&b.condensed);
        }
    NOTE("from the static state by %.1e, %.1e with half the step; with a correction %.1e, %.1e", error[0][0],
         error[0][1], error[1][0], error[1][1]);
    CHECK_NEAR(log2(error[0][0] / error[0][1]), 2,
               0.4); /* w is of first order, and the shift of every step corrects the previous one */
    CHECK(error[0][0] < 0.01, "far from the static state: %g", error[0][0]);
    CHECK(error[1][1] < 0.2 * error[0][1],
          "the correction, with held vertices where the step ends, helps little: %g after %g", error[1][1],
          error[0][1]);
    free(zero);
    release(&b);
}

/* A bar compressed far beyond buckling without lateral deflection: K_ss is indefinite, and the step uses the definite
 * matrix. */
TEST(compressed_bar_takes_the_definite_matrix)
{
    fixture b;
    sp_material material = test_material();
    make(5, false, BOTH_ENDS, material, &b);
    const int64_t vertex[1] = {27};
    double *q = numbers(b.n), *zero = numbers(b.n), *velocity = numbers(b.n), *shift = numbers(b.n),
           *prescribed_u = numbers(b.rows), *prescribed_v = numbers(b.rows);
    for (int squeezed = 0; squeezed < 2; squeezed++) {
        condense(&b, false, false, 1, vertex, 1.0 / 3, 0);
        for (int64_t i = 0; i < b.mesh.vertex_count; i++)
            if (b.body.dof[3 * i] >= 0)
                q[b.body.dof[3 * i]] = -0.4 * squeezed * b.mesh.vertices[3 * i];
            else
                prescribed_u[3 * i] = -0.4 * squeezed * b.mesh.vertices[3 * i];
        b.condensed.vertices.prescribe(b.condensed.self, prescribed_u, prescribed_v);
        int64_t indefinite = 0, factorizations = 0;
        const sp_velocity_step step = {.q = q,
                                       .v = zero,
                                       .external = zero,
                                       .step = 1e-3,
                                       .beta = 0.5,
                                       .velocity = velocity,
                                       .shift = shift,
                                       .indefinite = &indefinite,
                                       .factorizations = &factorizations};
        CHECK_OK(b.condensed.vertices.velocity_step(b.condensed.self, &step));
        CHECK(indefinite == squeezed && factorizations == 1 + squeezed, "%lld indefinite, %lld factorizations",
              (long long)indefinite, (long long)factorizations);
        CHECK(isfinite(norm2(b.n, velocity)) && isfinite(norm2(b.n, shift)), "not finite");
        if (squeezed) { /* the shift decreases the energy */
            double *f = numbers(b.n), slope = 0;
            b.condensed.force(b.condensed.self, q, f);
            for (int64_t i = 0; i < b.n; i++)
                slope += f[i] * shift[i];
            CHECK(slope < 0, "the shift leads uphill: %g J", slope);
            free(f);
            for (int64_t i = 0; i < b.n; i++)
                q[i] += 1e-4 * (b.body.free[i] % 3 == 1);
            CHECK_OK(sp_conjac_system_settle(&b.condensed, zero, 1e-10, 200, q));
            double s, d;
            CHECK_OK(sp_conjac_system_balance(&b.condensed, q, zero, &s, &d));
            b.condensed.force(b.condensed.self, q, zero);
            CHECK(s <= 1e-9 * norm2(b.n, zero), "the line search stopped at %g of %g N", s, norm2(b.n, zero));
        }
        sp_conjac_system_free(&b.condensed);
    }
    double *owned[] = {q, zero, velocity, shift, prescribed_u, prescribed_v};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    release(&b);
}

/* A linear system keeps its factor, and steps allocate nothing, but for updates of fronts in factorizations. */
TEST(linear_steps_keep_the_factor)
{
    fixture b;
    make(4, false, CLAMPED, gum(), &b);
    const int64_t vertex[2] = {31, 44};
    condense(&b, true, false, 2, vertex, 1.0 / 3, 0);
    double *external = tip_load(&b, 0, 0, 1);
    struct drive drive = {external, &b, 0, 0};
    const sp_external_loads forcing = {.self = &drive, .mean = driven_mean};
    OWNED_POINTER(sp_integrator) *it;
    CHECK_OK(sp_integrator_new(
        &context, &b.condensed, &forcing,
        &(sp_integrator_parameters){.kind = SP_LINEAR_EULER, .step = 0.01, .beta = 0.5, .damping_mass = 1}, NULL, NULL,
        &it));
    CHECK_OK(sp_integrator_step(it));
    const long before = allocations;
    for (int step = 0; step < 5; step++)
        CHECK_OK(sp_integrator_step(it));
    CHECK(allocations == before, "%ld allocations in five steps", allocations - before);
    CHECK(sp_integrator_reported(it)->factorizations == 1, "%lld factorizations",
          (long long)sp_integrator_reported(it)->factorizations);
    free(external);
    release(&b);
}

/* The same bytes for any number of threads. */
TEST(threads_change_nothing)
{
    fixture b;
    double *q[2];
    make(12, false, CLAMPED, gum(), &b);
    const int64_t vertex[6] = {12, 25, 50, 64, 100, 116};
    double *external = tip_load(&b, 1, 1, 2);
    for (int k = 0; k < 2; k++) {
        context.threads = k ? 3 : 1;
        condense(&b, false, false, 6, vertex, 1.0 / 3, 1);
        struct drive drive = {external, &b, 0, 0};
        const sp_external_loads forcing = {.self = &drive, .mean = driven_mean};
        OWNED_POINTER(sp_integrator) *it;
        CHECK_OK(sp_integrator_new(&context, &b.condensed, &forcing,
                                   &(sp_integrator_parameters){.kind = SP_LINEAR_EULER, .step = 0.01, .beta = 0.5},
                                   NULL, NULL, &it));
        for (int step = 0; step < 3; step++)
            CHECK_OK(sp_integrator_step(it));
        q[k] = numbers(b.n);
        memcpy(q[k], sp_integrator_q(it), (size_t)b.n * 8);
        sp_conjac_system_free(&b.condensed);
    }
    context.threads = 1;
    CHECK(memcmp(q[0], q[1], (size_t)b.n * 8) == 0, "threads change the result");
    free(q[0]);
    free(q[1]);
    free(external);
    release(&b);
}
