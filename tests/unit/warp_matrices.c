/* Stiffness warping: products, matrices, gradients, undefined rotations, BiCGStab. */
#include "assembly/elastic.h"
#include "integrate/integrate.h"
#include "model/loads.h"
#include "warp_models.h"

#include <cblas.h>
#include <lapacke.h>

/* ---- products and matrices ---- */

/* Force of VERTEX or PAIR with given rotations from the whole K [n, n], as the equations stand. */
static void plain_force(const sp_warp_system *w, int64_t n, const double *K, const double *u, double *f)
{
    bool pair = w->p.kind == SP_WARP_PAIR;
    double now[3] = {0}, rest[3] = {0};
    if (pair) {
        sp_warp_mean(w, w->X, rest);
        sp_warp_mean(w, u, now);
        for (int c = 0; c < 3; c++)
            now[c] += rest[c];
    }
    for (int64_t i = 0; i < n / 3; i++) {
        memset(f + 3 * i, 0, 24);
        for (int64_t j = 0; j < n / 3; j++) {
            const double *R = w->rotation + 9 * (pair ? j : i);
            double x[3], y[3], z[3] = {0};
            for (int c = 0; c < 3; c++)
                x[c] = w->X[3 * j + c] + u[3 * j + c] - now[c];
            sp_rotate_back(R, x, y);
            for (int c = 0; c < 3; c++)
                for (int d = 0; d < 3; d++)
                    z[c] += K[(3 * j + d) * n + 3 * i + c] * (y[d] - w->X[3 * j + d] + rest[d]);
            sp_rotate(R, z, x);
            for (int c = 0; c < 3; c++)
                f[3 * i + c] += x[c];
        }
    }
}

TEST(products_are_derivatives)
{
    for (int kind = SP_WARP_VERTEX; kind <= SP_WARP_PAIR; kind++)
        for (int rotation = SP_ROTATION_FRAME; rotation <= SP_ROTATION_POLAR; rotation++) {
            sp_mesh mesh;
            sp_fe_space body;
            FREED_BY(sp_warp_system_free) sp_system system;
            OWNED(sp_sparse) K = {0};
            make_bar(true, false, SP_LAW_STVK, &mesh, &body);
            CHECK_OK(sp_elastic_stiffness(&context, &body, &K));
            sp_warp warp = {.kind = (enum sp_warp_kind)kind, .rotation = (enum sp_warp_rotation)rotation};
            CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system));
            int64_t n = system.n;
            double *whole = vector(n * n, 0), *u = vector(n, 51), *v = vector(n, 52), *q = vector(n, 0),
                   *f = vector(n, 0), *g = vector(n, 0), *y = vector(n, 0);
            for (int64_t row = 0; row < n; row++)
                for (int64_t k = K.start[row]; k < K.start[row + 1]; k++)
                    whole[K.index[k] * n + row] = K.value[k];
            deform(&mesh, false, 3, 0.01, u, q);
            system.force(system.self, q, f);
            plain_force(system.self, n, whole, q, g);
            CHECK(relative_difference(n, f, g) < 1e-10, "%s %s: force %g", kind_name[kind], rotation_name[rotation],
                  relative_difference(n, f, g));
            system.tangent_times(system.self, q, v, y);
            /* R stays that at q, so that the force is linear and exact for any step */
            for (int64_t i = 0; i < n; i++)
                q[i] += v[i];
            plain_force(system.self, n, whole, q, f);
            for (int64_t i = 0; i < n; i++)
                f[i] -= g[i];
            CHECK(relative_difference(n, y, f) < 1e-10, "%s %s: product %g", kind_name[kind], rotation_name[rotation],
                  relative_difference(n, y, f));
            free(whole), free(u), free(v), free(q), free(f), free(g), free(y);
            drop(&mesh, &body);
        }
}

/* y = (3e4 M + 0.8 W(q1) − 0.1 W(q2) + 0.9 (springs and grounds)) x by the system's products; on_ground [n] receives
 * the part of the grounds. */
static void sum_times(sp_system *system, const sp_fe_space *body, const double *q1, const double *q2,
                      const sp_spring springs[2], const double *x, double *y, double *on_ground)
{
    const int64_t n = system->n, rows = 3 * body->mesh->vertex_count;
    double *z = vector(n, 0), *full = vector(rows, 0), *u = vector(rows, 0);
    system->mass_times(system->self, x, y);
    for (int64_t i = 0; i < n; i++)
        y[i] *= 3e4;
    for (int k = 0; k < 2; k++) {
        system->tangent_times(system->self, k ? q2 : q1, x, z);
        for (int64_t i = 0; i < n; i++)
            y[i] += (k ? -0.1 : 0.8) * z[i];
    }
    for (int s = 0; s < 2; s++)
        for (int c = 0; c < 3; c++)
            if (body->dof[3 * springs[s].vertex + c] >= 0)
                y[body->dof[3 * springs[s].vertex + c]] +=
                    0.9 * springs[s].stiffness * x[body->dof[3 * springs[s].vertex + c]];
    sp_fe_space_scatter(body, q1, u);
    sp_fe_space_scatter(body, x, full);
    sp_supports_grounds_times(&((sp_warp_system *)system->self)->supports, u, 0.9, full, on_ground);
    for (int64_t i = 0; i < n; i++)
        y[i] += on_ground[i];
    free(z), free(full), free(u);
}

/* What JACOBI divides by is the block of that matrix, at a vertex with a spring, one that is partly held where anything
 * is, and a few more. PAIR: but for the centre of mass, of which a vertex moves its share of the mass along. e, y, z
 * [n] are scratch. */
static void inverse_of_blocks(sp_system *system, const sp_fe_space *body, const double *q1, const double *q2,
                              const sp_spring springs[2], double *e, double *y, double *z)
{
    const sp_warp_system *w = system->self;
    double mass = 0;
    for (int64_t vertex = 0; vertex < w->vertices; vertex++)
        mass += w->vertex_mass[vertex];
    for (int64_t vertex = 15; vertex < body->mesh->vertex_count; vertex += 15)
        for (int c = 0; c < 3; c++) {
            const int64_t *dof = body->dof + 3 * vertex;
            if (dof[c] < 0)
                continue;
            memset(e, 0, (size_t)system->n * sizeof *e);
            e[dof[c]] = 1;
            memset(z, 0, (size_t)system->n * sizeof *z);
            sum_times(system, body, q1, q2, springs, e, y, z);
            for (int d = 0; d < 3; d++) {
                double sum = 0;
                for (int k = 0; k < 3; k++)
                    sum += dof[k] >= 0 ? w->inverse[9 * vertex + 3 * d + k] * y[dof[k]] : 0;
                CHECK(fabs(sum - (c == d)) < (w->p.kind == SP_WARP_PAIR ? w->vertex_mass[vertex] / mass : 1e-10),
                      "%s: vertex %lld, %d %d: %g", kind_name[w->p.kind], (long long)vertex, d, c, sum);
            }
        }
}

/* S x = b is solved for the sum of what was added at two places, springs and over-stretching included, with products of
 * another kind; so is the mass. */
TEST(solves_the_sum_of_additions)
{
    for (int kind = SP_WARP_VERTEX; kind <= SP_WARP_ELEMENT; kind++)
        for (int prescribed = 0; prescribed < 2; prescribed++)
            for (int pick = 0; pick < 4; pick++) {
                const int lumped = pick & 1, solver = pick >> 1;
                sp_mesh mesh;
                sp_fe_space body;
                FREED_BY(sp_warp_system_free) sp_system system;
                make_bar(kind != SP_WARP_PAIR, prescribed, SP_LAW_STVK, &mesh, &body);
                if (prescribed) { /* one component of one vertex more */
                    drop(&mesh, &body);
                    make_bar(kind != SP_WARP_PAIR, true, SP_LAW_STVK, &mesh, &body);
                    CHECK_OK(sp_mesh_fix_list(&context, &mesh, 1, (int64_t[]){30}, 2));
                    sp_fe_space_free(&body);
                    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
                }
                sp_warp warp = {.kind = (enum sp_warp_kind)kind,
                                .limit = 0.02,
                                .extra = 3,
                                .lumped = lumped,
                                .solver = (enum sp_warp_solver)solver};
                CHECK_OK(sp_warp_system_new(&context, &body, &warp, 1e-12, &system));
                int64_t n = system.n, rows = 3 * mesh.vertex_count;
                double *u = vector(rows, 61), *q1 = vector(n, 0), *q2 = vector(n, 0), *full = vector(rows, 0),
                       *b = vector(n, 62), *x = vector(n, 0), *y = vector(n, 0), *z = vector(n, 0);
                double *x2 = vector(n, 0), *ground_force = vector(n, 0);
                sp_ground ground = {{0.36, -0.48, 0.8}, 0.12, 9000, 0.1, 0.5};
                sp_warp_system *w = system.self;
                w->many_rows = w->many_elements = true; /* small as it is, threads share it */
                sp_spring springs[2] = {{60, {0.1, 0.2, 0.9}, 5000}, {30, {1, 0, 0}, 800}};
                system.set_springs(system.self, 2, springs);
                deform(&mesh, false, 1, 0.01, u, full);
                sp_fe_space_gather(&body, full, q1);
                deform(&mesh, false, 1.4, -0.01, u, full);
                sp_fe_space_gather(&body, full, q2);
                CHECK(!system.vertices.begin && !system.vertices.apply_friction, "nothing to begin with");
                CHECK_OK(sp_warp_system_grounds(&system, 1, &ground));
                CHECK(system.vertices.begin && system.vertices.apply_friction, "a rough ground");
                CHECK(system.vertices.begin(system.self, q2) == 0, "nothing was anchored");
                system.matrix_start(system.self, 3e4);
                system.matrix_add(system.self, q1, 0.8, 0.9, false, NULL);
                system.matrix_add(system.self, q2, -0.1, 0, false, NULL);
                CHECK_OK(system.matrix_factor(system.self));
                CHECK_OK(system.matrix_solve(system.self, b, x));
                sum_times(&system, &body, q1, q2, springs, x, y, ground_force);
                CHECK(max_abs(n, ground_force) > 0, "the ground is not touched");
                CHECK(relative_difference(n, y, b) < 1e-10, "%s: residual %g", kind_name[kind],
                      relative_difference(n, y, b));
                if (solver == SP_WARP_JACOBI)
                    inverse_of_blocks(&system, &body, q1, q2, springs, x2, y, z);
                /* the same bytes on another number of threads */
                system.force(system.self, q1, y);
                for (context.threads = 1; context.threads <= 4; context.threads += 3) {
                    system.matrix_start(system.self, 3e4);
                    system.matrix_add(system.self, q1, 0.8, 0.9, false, z);
                    system.matrix_add(system.self, q2, -0.1, 0, false, NULL);
                    CHECK_OK(system.matrix_factor(system.self));
                    CHECK_OK(system.matrix_solve(system.self, b, x2));
                    CHECK(!memcmp(x, x2, (size_t)n * 8) && !memcmp(y, z, (size_t)n * 8),
                          "%s: bytes depend on the threads", kind_name[kind]);
                }
                context.threads = 2;
                memcpy(z, b, (size_t)n * 8);
                CHECK(system.vertices.apply_friction(system.self, q1, q1, 1e-3, z) > 0 &&
                          relative_difference(n, z, b) > 0,
                      "no friction");
                CHECK_OK(system.mass_solve(system.self, b, x));
                system.mass_times(system.self, x, y);
                CHECK(relative_difference(n, y, b) < 1e-11, "mass: %g", relative_difference(n, y, b));
                free(u), free(q1), free(q2), free(full), free(b), free(x), free(x2), free(y), free(z),
                    free(ground_force);
                drop(&mesh, &body);
            }
}

/* Conjugate gradients for an unsymmetric matrix: if it is nearly symmetric, they find the solution of BiCGStab,
 * otherwise they fail, and the solver still solves with the definite matrix. For ELEMENT, whose matrix is symmetric,
 * nothing changes. */
TEST(gradients_where_they_may)
{
    for (int kind = SP_WARP_VERTEX; kind <= SP_WARP_ELEMENT; kind += SP_WARP_ELEMENT) {
        sp_mesh mesh;
        sp_fe_space body;
        make_bar(true, true, SP_LAW_STVK, &mesh, &body);
        sp_system system[2];
        for (int i = 0; i < 2; i++) {
            sp_warp warp = {.kind = (enum sp_warp_kind)kind,
                            .rotation = SP_ROTATION_POLAR,
                            .lumped = true,
                            .solver = i ? SP_WARP_GRADIENTS : SP_WARP_JACOBI};
            CHECK_OK(sp_warp_system_new(&context, &body, &warp, 1e-8, &system[i]));
        }
        int64_t n = system[0].n, rows = 3 * mesh.vertex_count, failures = 0;
        double *u = vector(rows, 61), *full = vector(rows, 0), *q = vector(n, 0), *b = vector(n, 62), *x = vector(n, 0),
               *y = vector(n, 0);
        for (int far = 0; far < 2; far++) { /* slightly bent, and a quarter circle with little mass */
            deform(&mesh, false, far ? 2.5 : 0.2, far ? 0.02 : 0, u, full);
            sp_fe_space_gather(&body, full, q);
            int status = SP_OK;
            for (int i = 0; i < 2; i++) {
                system[i].matrix_start(system[i].self, far ? 1 : 1e5);
                system[i].matrix_add(system[i].self, q, 1, 0, false, NULL);
                CHECK_OK(system[i].matrix_factor(system[i].self));
                status = system[i].matrix_solve(system[i].self, b, i ? y : x);
            }
            if (kind == SP_WARP_ELEMENT || !far)
                CHECK(status == SP_OK && relative_difference(n, x, y) <= (kind == SP_WARP_ELEMENT ? 0 : 1e-6),
                      "status %d, difference %g", status, relative_difference(n, x, y));
            if (status == SP_OK)
                continue;
            failures++;
            CHECK(status == SP_NUMERICAL, "status %d", status);
            system[1].matrix_start(system[1].self, 1);
            system[1].matrix_add(system[1].self, q, 1, 0, true, NULL);
            CHECK_OK(system[1].matrix_factor(system[1].self));
            CHECK_OK(system[1].matrix_solve(system[1].self, b, y));
            CHECK(!memcmp(x, y, (size_t)n * 8), "BiCGStab has two answers");
        }
        CHECK(failures == (kind == SP_WARP_VERTEX), "conjugate gradients failed %lld times", (long long)failures);
        free(u), free(full), free(q), free(b), free(x), free(y);
        sp_warp_system_free(&system[0]);
        sp_warp_system_free(&system[1]);
        drop(&mesh, &body);
    }
}

/* Without mass, and with springs as the only supports, K alone is singular, but S can be solved. */
TEST(free_bodies_on_springs)
{
    for (int kind = SP_WARP_VERTEX; kind <= SP_WARP_ELEMENT; kind++) {
        sp_mesh mesh;
        sp_fe_space body;
        FREED_BY(sp_warp_system_free) sp_system system;
        make_bar(true, false, SP_LAW_STVK, &mesh, &body);
        sp_warp warp = {.kind = (enum sp_warp_kind)kind, .rotation = SP_ROTATION_POLAR};
        CHECK_OK(sp_warp_system_new(&context, &body, &warp, 1e-11, &system));
        int64_t n = system.n;
        double *u = vector(n, 65), *q = vector(n, 0), *b = vector(n, 66), *x = vector(n, 0), *y = vector(n, 0);
        sp_spring springs[3] = {{0, {0}, 2e4}, {6, {0}, 2e4}, {50, {0}, 2e4}};
        system.set_springs(system.self, 3, springs);
        deform(&mesh, false, 1, 0.002, u, q);
        system.matrix_start(system.self, 0);
        system.matrix_add(system.self, q, 1, 1, false, NULL);
        CHECK_OK(system.matrix_factor(system.self));
        CHECK_OK(system.matrix_solve(system.self, b, x));
        system.tangent_times(system.self, q, x, y);
        for (int k = 0; k < 9; k++)
            y[3 * springs[k / 3].vertex + k % 3] += 2e4 * x[3 * springs[k / 3].vertex + k % 3];
        CHECK(relative_difference(n, y, b) < 1e-8, "%s: residual %g", kind_name[kind], relative_difference(n, y, b));
        free(u), free(q), free(b), free(x), free(y);
        drop(&mesh, &body);
    }
}

/* ELEMENT in its conservative case: force and work on fixed vertices are the gradient of the energy, springs included.
 */
TEST(energy_has_a_gradient)
{
    sp_mesh mesh;
    sp_fe_space body;
    FREED_BY(sp_warp_system_free) sp_system system;
    make_bar(true, true, SP_LAW_COROTATIONAL, &mesh, &body);
    sp_warp warp = {.kind = SP_WARP_ELEMENT,
                    .rotation = SP_ROTATION_POLAR}; /* strain limiting, which has kinks, has a test of its own */
    CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system));
    int64_t n = system.n, rows = 3 * mesh.vertex_count;
    double *u = vector(rows, 71), *du = vector(rows, 72), *prescribed = vector(rows, 0), *still = vector(rows, 0),
           *q = vector(n, 0), *dq = vector(n, 0), *f = vector(n, 0), *p = vector(n, 0), error[3];
    sp_spring spring = {60, {0.1, 0.2, 0.9}, 5000};
    system.set_springs(system.self, 1, &spring);
    deform(&mesh, true, 2, 0.01, u, u);
    sp_fe_space_gather(&body, u, q);
    sp_fe_space_gather(&body, du, dq);
    system.vertices.prescribe(system.self, u, still);
    system.force(system.self, q, f);
    double slope = cblas_ddot((int)n, f, 1, dq, 1) + system.vertices.prescribed_work(system.self, q, du);
    for (int s = 0; s < 3; s++) {
        double epsilon = 2e-4 / (1 << s), energy[2];
        for (int k = 0; k < 2; k++) {
            for (int64_t i = 0; i < rows; i++)
                prescribed[i] = u[i] + (k ? -epsilon : epsilon) * du[i];
            for (int64_t i = 0; i < n; i++)
                p[i] = q[i] + (k ? -epsilon : epsilon) * dq[i];
            system.vertices.prescribe(system.self, prescribed, still);
            energy[k] = system.force(system.self, p, NULL);
        }
        error[s] = fabs((energy[0] - energy[1]) / (2 * epsilon) - slope) / fabs(slope);
    }
    NOTE("energy against force: %.2e %.2e %.2e, orders %.2f %.2f", error[0], error[1], error[2],
         log2(error[0] / error[1]), log2(error[1] / error[2]));
    CHECK_NEAR(log2(error[0] / error[1]), 2, 0.25);
    CHECK_NEAR(log2(error[1] / error[2]), 2, 0.25);
    free(u), free(du), free(prescribed), free(still), free(q), free(dq), free(f), free(p);
    drop(&mesh, &body);
}

/* Prescribed vertices: a rotation of all of them needs no force, and their velocity and inertia act as the matrices
 * over all vertices give. */
TEST(held_vertices)
{
    for (int kind = SP_WARP_VERTEX; kind <= SP_WARP_ELEMENT; kind++) {
        sp_mesh mesh, loose;
        sp_fe_space body, all;
        FREED_BY(sp_warp_system_free) sp_system system, whole;
        make_bar(true, true, SP_LAW_STVK, &mesh, &body);
        make_bar(true, false, SP_LAW_STVK, &loose, &all);
        sp_warp warp = {.kind = (enum sp_warp_kind)kind, .rotation = SP_ROTATION_POLAR};
        CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system));
        CHECK_OK(sp_warp_system_new(&context, &all, &warp, 0, &whole));
        int64_t n = system.n, rows = 3 * mesh.vertex_count;
        double *u = vector(rows, 81), *v = vector(rows, 82), *q = vector(n, 0), *w = vector(n, 0), *f = vector(n, 0),
               *g = vector(rows, 0), *part = vector(n, 0), *still = vector(rows, 0);
        deform(&mesh, true, 0, 0, NULL, g);
        sp_fe_space_gather(&body, g, q);
        system.vertices.prescribe(system.self, g, still);
        system.force(system.self, q, f);
        CHECK(max_abs(n, f) < 1e-10 * force_scale(system.self, 5), "%s: %g", kind_name[kind], max_abs(n, f));
        deform(&mesh, true, 2, 0.01, u, u);
        sp_fe_space_gather(&body, u, q);
        sp_fe_space_gather(&body, v, w);
        system.vertices.prescribe(system.self, u, v);
        system.force(system.self, q, f);
        whole.force(whole.self, u, g);
        sp_fe_space_gather(&body, g, part);
        CHECK(relative_difference(n, f, part) < 1e-13, "%s: force %g", kind_name[kind],
              relative_difference(n, f, part));
        system.tangent_times(system.self, q, w, f);
        whole.tangent_times(whole.self, u, v, g);
        sp_fe_space_gather(&body, g, part);
        CHECK(relative_difference(n, f, part) < 1e-13, "%s: product %g", kind_name[kind],
              relative_difference(n, f, part));
        memset(f, 0, (size_t)n * 8);
        system.vertices.prescribed_inertia(system.self, v, f);
        memcpy(g, v, (size_t)rows * 8);
        for (int64_t i = 0; i < n; i++)
            g[body.free[i]] = 0;
        memset(u, 0, (size_t)rows * 8);
        sp_fe_space_mass_times(&context, &body, 3, g, u);
        sp_fe_space_gather(&body, u, part);
        for (int64_t i = 0; i < n; i++)
            part[i] = -part[i];
        CHECK(relative_difference(n, f, part) < 1e-13, "%s: inertia %g", kind_name[kind],
              relative_difference(n, f, part));
        free(u), free(v), free(q), free(w), free(f), free(g), free(part), free(still);
        drop(&mesh, &body);
        drop(&loose, &all);
    }
}

/* ---- undefined rotations ---- */

/* All vertices in one point, or on a line: no frame, R by the polar decomposition, in the first case the identity. */
TEST(collapsed_bodies)
{
    for (int kind = SP_WARP_VERTEX; kind <= SP_WARP_ELEMENT; kind++)
        for (int line = 0; line < 2; line++) {
            sp_mesh mesh;
            sp_fe_space body;
            FREED_BY(sp_warp_system_free) sp_system system;
            make_bar(true, false, SP_LAW_STVK, &mesh, &body);
            sp_warp warp = {.kind = (enum sp_warp_kind)kind, .limit = 0.1, .extra = 1};
            CHECK_OK(sp_warp_system_new(&context, &body, &warp, 0, &system));
            double *q = vector(system.n, 0), *f = vector(system.n, 0);
            for (int64_t i = 0; i < system.n; i++)
                q[i] = line && i % 3 == 0 ? 0 : -mesh.vertices[i];
            system.force(system.self, q, f);
            CHECK(isfinite(cblas_ddot((int)system.n, f, 1, f, 1)), "%s: not finite", kind_name[kind]);
            const double *R = ((const sp_warp_system *)system.self)->rotation;
            for (int k = 0; k < 9 && !line && kind != SP_WARP_ELEMENT; k++)
                CHECK(R[k] == (k % 4 == 0), "R[%d] = %g", k, R[k]);
            free(q), free(f);
            drop(&mesh, &body);
        }
}

TEST(refusals)
{
    sp_mesh mesh;
    sp_fe_space body;
    FREED_BY(sp_warp_system_free) sp_system system;
    make_bar(true, true, SP_LAW_STVK, &mesh, &body);
    const sp_warp bad[] = {{.kind = SP_WARP_ELEMENT, .network = true},
                           {.corrected = true},
                           {.limit = -1},
                           {.extra = -1},
                           {.extra = NAN},
                           {.limit = INFINITY},
                           {.kind = (enum sp_warp_kind)7}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        context.message[0] = 0;
        CHECK(sp_warp_system_new(&context, &body, &bad[k], 0, &system) == SP_USAGE && context.message[0],
              "case %zu was taken", k);
    }
    const double tolerance[] = {-1, 1, NAN};
    for (int k = 0; k < 3; k++)
        CHECK(sp_warp_system_new(&context, &body, &(sp_warp){0}, tolerance[k], &system) == SP_USAGE,
              "tolerance %g was taken", tolerance[k]);
    CHECK_OK(sp_warp_system_new(&context, &body, &(sp_warp){0}, 0, &system));
    double *q = vector(system.n, 0), *x = vector(system.n, 0);
    q[0] = NAN;
    system.matrix_start(system.self, 1);
    system.matrix_add(system.self, q, 1, 1, false, NULL);
    CHECK_OK(system.matrix_factor(system.self));
    for (int64_t i = 0; i < system.n; i++)
        q[i] = 1;
    CHECK(system.matrix_solve(system.self, q, x) == SP_NUMERICAL, "a matrix that is not a number was solved with");
    NOTE("%s", context.message);
    system.matrix_start(system.self, -1);
    CHECK(system.matrix_factor(system.self) == SP_NUMERICAL, "a negative mass");
    free(q), free(x);
    drop(&mesh, &body);
}

/* ---- BiCGStab ---- */

typedef struct dense {
    int n;
    const double *A, *scale;
} dense;

static void dense_times(void *self, const double *x, double *y)
{
    const dense *d = self;
    cblas_dgemv(CblasColMajor, CblasNoTrans, d->n, d->n, 1, d->A, d->n, x, 1, 0, y, 1);
}

static void dense_precondition(void *self, const double *x, double *y)
{
    const dense *d = self;
    for (int i = 0; i < d->n; i++)
        y[i] = d->scale[i] * x[i];
}

TEST(bicgstab)
{
    enum { N = 80 };
    static double A[N * N], factor[N * N];
    double b[N], x[N], scale[N], expected[N];
    int pivot[N];
    OWNED(sp_pool) pool = {0};
    sp_iteration work;
    dense d = {N, A, scale};
    sp_operator op = {&d, N, dense_times, dense_precondition};
    sp_iteration_new(&pool, N, 1, &work);
    for (int turned = 0; turned < 2;
         turned++) { /* nearly a scaled identity; with a skew part half as large, where eigenvalues are complex */
        for (int j = 0; j < N; j++)
            for (int i = 0; i < N; i++) {
                double skew = i == j ? 0
                                     : sp_random_uniform(4, (uint64_t)(i < j ? i : j), (uint64_t)(i < j ? j : i)) *
                                           (i < j ? 1 : -1);
                A[j * N + i] =
                    pow(1.2, 0.5 * (i + j)) *
                    ((i == j) + 0.04 * (2 * sp_random_uniform(3, (uint64_t)i, (uint64_t)j) - 1) + 0.1 * turned * skew);
            }
        for (int i = 0; i < N; i++)
            scale[i] = 1 / A[i * N + i];
        random_field(N, 8, b);
        memcpy(factor, A, sizeof A);
        memcpy(expected, b, sizeof b);
        CHECK(LAPACKE_dgesv(LAPACK_COL_MAJOR, N, 1, factor, N, pivot, expected, N) == 0, "dgesv");
        int64_t products = sp_bicgstab(&op, &work, 1e-13, 1000, b, x);
        NOTE("%lld products", (long long)products);
        CHECK(products > 0 && products < 1000, "%lld products", (long long)products);
        dense_times(&d, x, factor);
        CHECK(relative_difference(N, factor, b) < 1e-12, "residual %g", relative_difference(N, factor, b));
        for (int i = 0; i < N; i++) /* the condition by rows and columns is moderate after scaling */
            CHECK_NEAR(x[i] / scale[i], expected[i] / scale[i], 1e-9 * (1 + fabs(expected[i] / scale[i])));
        CHECK(sp_bicgstab(&op, &work, 1e-13, 3, b, x) == -1, "three products are not enough");
    }
    memset(b, 0, sizeof b);
    CHECK(sp_bicgstab(&op, &work, 1e-12, 1000, b, x) == 0 && x[0] == 0, "b = 0");
    b[3] = NAN;
    CHECK(sp_bicgstab(&op, &work, 1e-12, 1000, b, x) == -1, "not a number");
    random_field(N, 9, b);
    memset(A, 0, sizeof A);
    for (int i = 0; i < N; i++)
        scale[i] = 1;
    CHECK(sp_bicgstab(&op, &work, 1e-12, 1000, b, x) == -1, "the zero matrix");
    for (int i = 0; i < N; i++)
        A[i * N + i] = 1;
    CHECK(sp_bicgstab(&op, &work, 1e-12, 1000, b, x) == 2, "one product and one to see the residual");
    CHECK_NEAR(x[N - 1], b[N - 1], 1e-15);
    /* a rotation by 90°: b is orthogonal to A b, and the first division is by 0 */
    memset(A, 0, sizeof A);
    for (int i = 0; i < N; i += 2) {
        A[i * N + i + 1] = 1;
        A[(i + 1) * N + i] = -1;
    }
    CHECK(sp_bicgstab(&op, &work, 1e-12, 1000, b, x) == -1, "breakdown");
}
