/* Joined bodies: derivatives, closed forms, conservation, orders of convergence, loops, refusals. */
#include "allocations.h"
#include "bodies.h"
#include "reduced/polynomial.h"
#include "rigid/body_loads.h"
#include "rigid/joined_internal.h"
#include "test.h"

#include <cblas.h>
#include <lapacke.h>

/* ---- a deformable body: a bar of 1 MPa, 0.8 × 0.2 × 0.2 m along x. The fields bend, stretch and twist it; those of a
 * `clamped` one vanish at x = 0. Interfaces are its two ends. ---- */

enum { R = 6, BODIES = 9, TREE = 63 };

typedef struct model {
    sp_mesh mesh;
    sp_fe_space body;
    int64_t rows, count, *left, *right;
    double *U;
    sp_inertia inertia;
    sp_polynomials polynomials;
} model;

static void make_model(bool clamped, model *m)
{
    *m = (model){0};
    make_box(8, 2, 2, 0.1, 0, &m->mesh);
    CHECK_OK(sp_fe_space_new(&context, &m->mesh, &m->body));
    const int64_t vertices = m->mesh.vertex_count;
    m->rows = 3 * vertices;
    m->U = calloc((size_t)(m->rows * R), 8);
    m->left = test_new(vertices, 8);
    m->right = test_new(vertices, 8);
    int64_t left = 0, right = 0;
    for (int64_t v = 0; v < vertices; v++) {
        const double *X = m->mesh.vertices + 3 * v, x = X[0] - (clamped ? 0 : 0.35), y = X[1] - 0.1, z = X[2] - 0.1;
        const double field[R][3] = {
            {-2 * x * z, 0, x * x},         {-2 * x * y, x * x, 0}, {-3 * x * x * z, 0, x * x * x},
            {-3 * x * x * y, x * x * x, 0}, {0, -x * z, x * y},     {x, 0, 0}};
        const double twist[3] = {0, -x * x * z, x * x * y}; /* not rigid about the middle */
        for (int j = 0; j < R; j++)
            for (int c = 0; c < 3; c++)
                m->U[j * m->rows + 3 * v + c] = j == 4 && !clamped ? twist[c] + field[j][c] : field[j][c];
        if (X[0] < 1e-9)
            m->left[left++] = v;
        if (X[0] > 0.8 - 1e-9)
            m->right[right++] = v;
    }
    m->count = left;
    CHECK(left == 9 && right == 9, "%lld and %lld vertices at the ends", (long long)left, (long long)right);
    sp_polynomial_parameters parameters = {0};
    sp_polynomial_report report;
    CHECK_OK(sp_polynomials_new(&context, &m->body, R, m->U, &parameters, &m->polynomials, &report));
    CHECK_OK(sp_inertia_of_body(&context, &m->body, false, R, m->U, &m->inertia));
}

static void model_free(model *m)
{
    sp_inertia_free(&m->inertia);
    sp_polynomials_free(&m->polynomials);
    free(m->U);
    sp_fe_space_free(&m->body);
    sp_mesh_free(&m->mesh);
}

/* ---- sets of such bodies ---- */

typedef struct chain {
    const model *m;
    int count, joint_count;
    sp_free_body *body[TREE];
    sp_joined_body given[TREE];
    sp_joint joint[TREE + 1];
    sp_joined_load load[TREE];
    sp_joined *joined;
} chain;

static void new_body(const model *m, const sp_free_parameters *parameters, const sp_pose *pose, chain *c)
{
    sp_reduced_force force;
    const double none[3] = {0};
    CHECK_OK(sp_polynomial_reduced_force(&context, &m->polynomials, R, &force));
    CHECK_OK(sp_free_body_new(&context, &m->inertia, &force, parameters, &c->body[c->count]));
    sp_free_body_place(c->body[c->count], pose, none, none, NULL, NULL);
    c->given[c->count] = (sp_joined_body){
        .free = c->body[c->count], .inertia = &m->inertia, .places = m->mesh.vertices, .U = m->U, .rows = m->rows};
    c->count++;
}

static void join(chain *c, int64_t parent, bool at_left, int64_t child)
{
    const model *m = c->m;
    c->joint[c->joint_count++] =
        (sp_joint){.parent = {.body = parent, .count = m->count, .vertices = at_left ? m->left : m->right},
                   .child = {.body = child, .count = m->count, .vertices = m->left}};
}

static void start(chain *c, const sp_free_parameters *p)
{
    CHECK_OK(sp_joined_new(&context, &(sp_joined_parameters){.step = p->step, .semi_implicit = p->semi_implicit},
                           c->count, c->given, c->joint_count, c->joint, &c->joined));
}

/* A binary tree from the left to the right, anchored. */
static void make_large_tree(const model *m, const sp_free_parameters *p, chain *c)
{
    *c = (chain){.m = m};
    for (int k = 0; k < TREE; k++) {
        sp_pose pose = sp_pose_identity();
        for (int above = k; above > 0; above = (above - 1) / 2)
            pose.x[0] += 0.8;
        new_body(m, p, &pose, c);
        join(c, k ? (k - 1) / 2 : -1, false, k);
    }
    start(c, p);
}

/* `count` bars in one line, each child of the one before; body 0 anchored in the world or free. */
static void make_chain(const model *m, int count, bool anchored, const sp_free_parameters *p, chain *c)
{
    *c = (chain){.m = m};
    for (int i = 0; i < count; i++) {
        sp_pose pose = {{0.8 * i, 0, 0}, {1, 0, 0, 0}};
        new_body(m, p, &pose, c);
    }
    if (anchored)
        join(c, -1, true, 0);
    for (int i = 1; i < count; i++)
        join(c, i - 1, false, i);
    start(c, p);
}

/* A trunk with two branches at its end and one more on each, in line at rest with the trunk; the second pair turned by
 * a quarter about the axis. */
static void make_tree(const model *m, const sp_free_parameters *p, chain *c)
{
    *c = (chain){.m = m};
    const double half = sqrt(0.5);
    const sp_pose pose[5] = {{{0, 0, 0}, {1, 0, 0, 0}},
                             {{0.8, 0, 0}, {1, 0, 0, 0}},
                             {{0.8, 0.2, 0}, {half, half, 0, 0}},
                             {{1.6, 0, 0}, {1, 0, 0, 0}},
                             {{1.6, 0.2, 0}, {half, half, 0, 0}}};
    for (int i = 0; i < 5; i++)
        new_body(m, p, &pose[i], c);
    join(c, 0, false, 1);
    join(c, 0, false, 2);
    join(c, 1, false, 3);
    join(c, 2, false, 4);
    start(c, p);
}

static void chain_free(chain *c)
{
    sp_joined_free(c->joined);
    for (int i = 0; i < c->count; i++)
        sp_free_body_free(c->body[i]);
}

static void weigh(chain *c, const double g[3])
{
    for (int i = 0; i < c->count; i++)
        for (int k = 0; k < 3; k++)
            c->load[i].F[k] = c->m->inertia.mass * g[k];
}

/* Sets all bodies spinning as one, about an axis through `centre`. */
static void spin(chain *c, const double centre[3], const double velocity[3], const double angular[3])
{
    for (int i = 0; i < c->count; i++) {
        sp_pose pose;
        double arm[3], v[3];
        sp_free_body_pose(c->body[i], &pose);
        sp_subtract3(sp_free_body_state(c->body[i])->c, centre, arm);
        sp_cross3(angular, arm, v);
        for (int k = 0; k < 3; k++)
            v[k] += velocity[k];
        sp_free_body_place(c->body[i], &pose, v, angular, NULL, NULL);
    }
}

static void totals(chain *c, double momenta[6], double *energy, double scale[2])
{
    memset(momenta, 0, 6 * sizeof *momenta);
    *energy = scale[0] = scale[1] = 0;
    for (int i = 0; i < c->count; i++) {
        double P[3], L[3], kinetic, strain;
        sp_free_body_momenta(c->body[i], P, L);
        sp_free_body_energies(c->body[i], &kinetic, &strain);
        for (int k = 0; k < 3; k++) {
            momenta[k] += P[k];
            momenta[3 + k] += L[k];
        }
        scale[0] += sp_norm3(P);
        scale[1] += sp_norm3(L);
        *energy += kinetic + strain;
    }
}

static double worst_gap(const chain *c)
{
    double worst = 0;
    for (int j = 0; j < c->joint_count; j++) {
        double gap[6];
        sp_joined_gap(c->joined, j, gap);
        for (int k = 0; k < 6; k++)
            worst = fmax(worst, fabs(gap[k]));
    }
    return worst;
}

/* ---- tests ---- */

/* J⁻¹ (r(x + εp) − r(x − εp)) / 2ε = p, with the error falling as ε². */
static void check_matrix(chain *c, const char *name)
{
    sp_joined *joined = c->joined;
    const int64_t n = joined->n;
    double *x = test_new(n, 8), *p = test_new(n, 8), *at = test_new(n, 8), *up = test_new(n, 8), *down = test_new(n, 8),
           *dx = test_new(n, 8), error[3];
    sp_newton_residual size;
    uint64_t random = 7;
    for (int i = 0; i < 3; i++)
        CHECK_OK(sp_joined_step(joined, c->load));
    for (int64_t k = 0; k < n; k++) { /* any iterate of the last step once more */
        random = random * 6364136223846793005u + 1442695040888963407u;
        const double noise = (double)(random >> 11) / 9007199254740992.0 - 0.5;
        x[k] = joined->x[k] + 0.3 * noise;
        random = random * 6364136223846793005u + 1442695040888963407u;
        p[k] = (double)(random >> 11) / 9007199254740992.0 - 0.5;
    }
    sp_joined_residual(joined, x, at, &size);
    CHECK_OK(sp_joined_factor(joined, x, false));
    for (int e = 0; e < 3; e++) {
        const double step = 0.04 / (1 << e);
        for (int64_t k = 0; k < n; k++)
            at[k] = x[k] + step * p[k];
        sp_joined_residual(joined, at, up, &size);
        for (int64_t k = 0; k < n; k++)
            at[k] = x[k] - step * p[k];
        sp_joined_residual(joined, at, down, &size);
        for (int64_t k = 0; k < n; k++)
            up[k] = (up[k] - down[k]) / (2 * step);
        CHECK_OK(sp_joined_solve(joined, up, 0, dx));
        error[e] = 0;
        for (int64_t k = 0; k < n; k++)
            error[e] += (dx[k] - p[k]) * (dx[k] - p[k]);
        error[e] = sqrt(error[e]);
    }
    CHECK_ORDERS(error, 2, 0.15, 0.1, "%s", name);
}

TEST(matrix_is_the_derivative)
{
    const sp_free_parameters p = {.step = 0.02, .damping_stiffness = 1e-3};
    for (int clamped = 0; clamped < 2; clamped++) {
        OWNED(model) m;
        chain c;
        make_model(clamped, &m);
        make_chain(&m, 1, true, &p, &c);
        weigh(&c, (double[]){1, 2, -9});
        check_matrix(&c, "anchored body");
        chain_free(&c);
        make_chain(&m, 3, false, &p, &c);
        spin(&c, (double[]){1.2, 0, 0}, (double[]){0, 0, 0}, (double[]){0.5, 3, 1});
        check_matrix(&c, "free chain");
        chain_free(&c);
        make_tree(&m, &p, &c);
        spin(&c, (double[]){1.2, 0, 0}, (double[]){0, 0, 0}, (double[]){2, 3, -1});
        check_matrix(&c, "tree");
        chain_free(&c);
    }
}

/* Without joints the step is that of single bodies. */
TEST(single_bodies_step_as_before)
{
    const sp_free_parameters p = {.step = 1e-3};
    OWNED(model) m;
    OWNED(chain) c, alone;
    make_model(false, &m);
    make_chain(&m, 1, false, &p, &c);
    make_chain(&m, 1, false, &p, &alone);
    spin(&c, (double[]){0, 0, 0}, (double[]){0.3, 0, 1}, (double[]){5, 12, 20});
    spin(&alone, (double[]){0, 0, 0}, (double[]){0.3, 0, 1}, (double[]){5, 12, 20});
    double worst = 0;
    for (int i = 0; i < 500; i++) {
        const double none[3] = {0};
        CHECK_OK(sp_joined_step(c.joined, c.load));
        CHECK_OK(sp_free_body_step(alone.body[0], none, none, NULL));
        const sp_free_state *a = sp_free_body_state(c.body[0]), *b = sp_free_body_state(alone.body[0]);
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fmax(fabs(a->c[k] - b->c[k]), fabs(a->Omega[k] - b->Omega[k]) / 20));
        for (int j = 0; j < R; j++)
            worst = fmax(worst, fabs(sp_free_body_q(c.body[0])[j] - sp_free_body_q(alone.body[0])[j]));
    }
    CHECK(worst < 1e-12, "off by %g", worst);
}

/* A body that is fixed at its interface and anchored there moves by M q̈ + f(q) = UᵀMg with the whole mass matrix
 * M = ∫ρUᵀU: the same conserving scheme, written once more. */
TEST(anchored_body_is_a_clamped_one)
{
    const double h = 1e-3, g[3] = {0, -3, -9.81};
    const sp_free_parameters p = {.step = h};
    OWNED(model) m;
    OWNED(chain) c;
    make_model(true, &m);
    make_chain(&m, 1, true, &p, &c);
    weigh(&c, g);
    sp_reduced_force force;
    CHECK_OK(sp_polynomial_reduced_force(&context, &m.polynomials, R, &force));
    double M[R * R], K[R * R], A[R * R], G[R], q[R] = {0}, v[R] = {0}, f[3][R], next[R], worst = 0, most = 0;
    for (int i = 0; i < R; i++) {
        G[i] = 0;
        for (int k = 0; k < 3; k++)
            G[i] += m.inertia.mass * m.inertia.mean[k * R + i] * g[k];
        for (int j = 0; j < R; j++) {
            M[R * i + j] = m.inertia.M[R * i + j];
            for (int k = 0; k < 3; k++)
                M[R * i + j] += m.inertia.mass * m.inertia.mean[k * R + i] * m.inertia.mean[k * R + j];
        }
    }
    for (int step = 0; step < 400; step++) {
        memcpy(next, v, sizeof v);
        for (int iteration = 0; iteration < 30; iteration++) {
            double q1[R], middle[R], r[R];
            int pivot[R];
            for (int i = 0; i < R; i++) {
                q1[i] = q[i] + 0.5 * h * (v[i] + next[i]);
                middle[i] = 0.5 * (q[i] + q1[i]);
            }
            force.evaluate(force.self, q, false, f[0], NULL);
            force.evaluate(force.self, middle, false, f[1], K);
            force.evaluate(force.self, q1, false, f[2], NULL);
            for (int i = 0; i < R; i++) {
                r[i] = h * ((f[0][i] + 4 * f[1][i] + f[2][i]) / 6 - G[i]);
                for (int j = 0; j < R; j++) {
                    r[i] += M[R * i + j] * (next[j] - v[j]);
                    A[R * i + j] = M[R * i + j] + 0.25 * h * h * (i >= j ? K[R * j + i] : K[R * i + j]);
                }
            }
            CHECK(LAPACKE_dgesv(LAPACK_ROW_MAJOR, R, 1, A, R, pivot, r, 1) == 0, "dgesv");
            for (int i = 0; i < R; i++)
                next[i] -= r[i];
        }
        for (int i = 0; i < R; i++)
            q[i] += 0.5 * h * (v[i] + next[i]);
        memcpy(v, next, sizeof v);
        CHECK_OK(sp_joined_step(c.joined, c.load));
        for (int i = 0; i < R; i++) {
            worst = fmax(worst, fabs(q[i] - sp_free_body_q(c.body[0])[i]));
            most = fmax(most, fabs(q[i]));
        }
    }
    CHECK(worst < 1e-11 * most, "off by %g of %g", worst, most);
    const sp_free_state *s = sp_free_body_state(c.body[0]);
    CHECK(fabs(s->rotation[0]) > 1 - 1e-12, "its frame turns: %g", s->rotation[0]);
    force.destroy(force.self);
}

static void check_conserving(chain *c, int steps, const char *name)
{
    double momenta[6], now[6], energy, later, scale[2], worst[4] = {0};
    totals(c, momenta, &energy, scale);
    const double first[2] = {scale[0], scale[1]};
    const long before = allocations;
    for (int i = 0; i < steps; i++) {
        CHECK_OK(sp_joined_step(c->joined, c->load));
        totals(c, now, &later, scale);
        worst[0] = fmax(worst[0], fabs(later - energy) / energy);
        for (int k = 0; k < 6; k++)
            worst[1 + k / 3] = fmax(worst[1 + k / 3], fabs(now[k] - momenta[k]) / first[k / 3]);
        worst[3] = fmax(worst[3], worst_gap(c));
    }
    const sp_free_report *report = sp_joined_reported(c->joined);
    double kinetic, strain, most = 0;
    for (int i = 0; i < c->count; i++) {
        sp_free_body_energies(c->body[i], &kinetic, &strain);
        most = fmax(most, strain);
    }
    NOTE("%s: energy %.1e, momenta %.1e %.1e, gaps %.1e; %.2f iterations each, at most %lld; strain up to %.2f of the "
         "energy",
         name, worst[0], worst[1], worst[2], worst[3], (double)report->newton_iterations / steps,
         (long long)report->worst_iterations, most / energy);
    CHECK(allocations == before, "%ld allocations", allocations - before);
    CHECK(worst[0] < 1e-10, "energy off by %g", worst[0]);
    CHECK(worst[1] < 1e-12 && worst[2] < 1e-12, "momenta off by %g and %g", worst[1], worst[2]);
    CHECK(worst[3] < 1e-12, "a joint opens by %g", worst[3]);
}

TEST(free_sets_keep_energy_and_momenta)
{
    const sp_free_parameters p = {.step = 1e-3};
    model m;
    chain c;
    make_model(true, &m);
    make_chain(&m, 4, false, &p, &c);
    spin(&c, (double[]){1.5, 0.1, 0.1}, (double[]){1, 2, 3}, (double[]){16, 12, -12});
    check_conserving(&c, 3000, "chain");
    chain_free(&c);
    make_tree(&m, &p, &c);
    spin(&c, (double[]){1.5, 0.1, 0.1}, (double[]){1, 2, 3}, (double[]){16, -8, 12});
    check_conserving(&c, 2000, "tree");
    chain_free(&c);
    model_free(&m);
    make_model(false, &m); /* interfaces of both sides deform */
    make_chain(&m, 3, false, &p, &c);
    spin(&c, (double[]){1.2, 0.1, 0.1}, (double[]){1, 2, 3}, (double[]){16, 12, -20});
    check_conserving(&c, 2000, "chain in fields about the middles");
    chain_free(&c);
    model_free(&m);
}

/* Two chains of two bars that meet at both ends make a loop: a long narrow ring. */
static void make_ring(const model *m, const sp_free_parameters *p, chain *c)
{
    *c = (chain){.m = m};
    const sp_pose pose[4] = {{{0, 0, 0}, {1, 0, 0, 0}},
                             {{0.8, 0, 0}, {1, 0, 0, 0}},
                             {{0, 0, 0}, {1, 0, 0, 0}}, /* in the same place: only the joints matter */
                             {{0.8, 0, 0}, {1, 0, 0, 0}}};
    for (int i = 0; i < 4; i++)
        new_body(m, p, &pose[i], c);
    join(c, 0, false, 1);
    join(c, 0, true, 2);
    join(c, 2, false, 3);
    c->joint[c->joint_count++] = (sp_joint){.parent = {.body = 3, .count = m->count, .vertices = m->right},
                                            .child = {.body = 1, .count = m->count, .vertices = m->right}};
    start(c, p);
}

TEST(loops_close)
{
    const sp_free_parameters p = {.step = 1e-3};
    OWNED(model) m;
    OWNED(chain) c;
    make_model(false, &m);
    make_ring(&m, &p, &c);
    CHECK(sp_joined_loops(c.joined) == 1, "%lld loops", (long long)sp_joined_loops(c.joined));
    spin(&c, (double[]){0.8, 0.1, 0.1}, (double[]){1, 2, 3}, (double[]){16, 12, -12});
    check_conserving(&c, 1000, "ring");
}

/* A loop of rigid bodies leaves nothing to its closing joint. */
TEST(rigid_loops_are_refused)
{
    OWNED(model) m;
    OWNED(chain) c = {0};
    OWNED(sp_inertia) rigid;
    make_model(true, &m);
    c.m = &m;
    CHECK_OK(sp_inertia_of_body(&context, &m.body, false, 0, NULL, &rigid));
    for (int i = 0; i < 2; i++) {
        CHECK_OK(sp_free_body_new(&context, &rigid, NULL, &(sp_free_parameters){.step = 1e-3}, &c.body[i]));
        c.given[i] = (sp_joined_body){.free = c.body[i], .inertia = &rigid, .places = m.mesh.vertices, .rows = m.rows};
    }
    c.count = 2;
    join(&c, 0, true, 1);
    c.joint[c.joint_count++] = (sp_joint){.parent = {.body = 0, .count = m.count, .vertices = m.right},
                                          .child = {.body = 1, .count = m.count, .vertices = m.right}};
    start(&c, &(sp_free_parameters){.step = 1e-3});
    c.load[0].F[0] = 1;
    CHECK(sp_joined_step(c.joined, c.load) == SP_NUMERICAL, "a rigid loop makes a step");
    NOTE("%s", context.message);
}

/* Two rigid bars that are joined move as one bar of twice the length, of second order in the step. */
TEST(joined_rigid_bodies_are_one)
{
    OWNED(model) m;
    OWNED(sp_inertia) half, whole;
    OWNED(sp_mesh) box;
    OWNED(sp_fe_space) space;
    double error[3];
    make_model(true, &m);
    make_box(16, 2, 2, 0.1, 0, &box);
    CHECK_OK(sp_fe_space_new(&context, &box, &space));
    CHECK_OK(sp_inertia_of_body(&context, &m.body, false, 0, NULL, &half));
    CHECK_OK(sp_inertia_of_body(&context, &space, false, 0, NULL, &whole));
    for (int e = 0; e < 3; e++) {
        const double h = 0.02 / (1 << e), angular[3] = {3, 1, 2}, none[3] = {0};
        const sp_free_parameters p = {.step = h}, fine = {.step = 1e-4};
        OWNED(chain) c = {.m = &m, .count = 2};
        sp_free_body *one;
        for (int i = 0; i < 2; i++) {
            sp_pose pose = {{0.8 * i, 0, 0}, {1, 0, 0, 0}};
            CHECK_OK(sp_free_body_new(&context, &half, NULL, &p, &c.body[i]));
            sp_free_body_place(c.body[i], &pose, none, none, NULL, NULL);
            c.given[i] =
                (sp_joined_body){.free = c.body[i], .inertia = &half, .places = m.mesh.vertices, .rows = m.rows};
        }
        join(&c, 0, false, 1);
        start(&c, &p);
        spin(&c, whole.centre, none, angular);
        CHECK_OK(sp_free_body_new(&context, &whole, NULL, &fine, &one));
        const sp_pose pose = sp_pose_identity();
        sp_free_body_place(one, &pose, none, angular, NULL, NULL);
        for (double t = 0; t < 1 - 1e-9; t += h)
            CHECK_OK(sp_joined_step(c.joined, c.load));
        for (double t = 0; t < 1 - 1e-9; t += 1e-4)
            CHECK_OK(sp_free_body_step(one, none, none, NULL));
        error[e] = 0;
        for (int k = 0; k < 4; k++)
            error[e] =
                fmax(error[e], fabs(sp_free_body_state(c.body[1])->rotation[k] - sp_free_body_state(one)->rotation[k]));
        sp_free_body_free(one);
    }
    CHECK_ORDERS(error, 2, 0.1, 0.1, "two rigid bars");
}

/* With damping, a chain that hangs in its own direction comes to rest, and its joints carry the weight below them. */
TEST(hanging_chains_come_to_rest)
{
    const double g[3] = {9.81, 0, 0}; /* along the chain */
    const sp_free_parameters p = {.step = 2e-3, .damping_stiffness = 0.02};
    OWNED(model) m;
    OWNED(chain) c;
    double reaction[6];
    make_model(true, &m);
    make_chain(&m, 3, true, &p, &c);
    weigh(&c, g);
    for (int i = 0; i < 3000; i++)
        CHECK_OK(sp_joined_step(c.joined, c.load));
    sp_joined_reaction(c.joined, 0, reaction);
    CHECK_NEAR(reaction[0], 3 * m.inertia.mass * 9.81, 1e-6 * 3 * m.inertia.mass * 9.81);
    for (int k = 1; k < 6; k++)
        CHECK(fabs(reaction[k]) < 1e-6 * reaction[0], "component %d of the reaction is %g", k, reaction[k]);
    sp_joined_reaction(c.joined, 2, reaction);
    CHECK_NEAR(reaction[0], m.inertia.mass * 9.81, 1e-6 * m.inertia.mass * 9.81);
}

/* One iteration keeps the joints closed to second order, and linear momentum to rounding. */
TEST(semi_implicit_steps)
{
    const sp_free_parameters p = {.step = 1e-3, .semi_implicit = true};
    OWNED(model) m;
    OWNED(chain) c;
    double momenta[6], now[6], energy, later, scale[2], gap = 0;
    make_model(true, &m);
    make_chain(&m, 4, false, &p, &c);
    spin(&c, (double[]){1.5, 0.1, 0.1}, (double[]){1, 2, 3}, (double[]){4, 3, -3});
    totals(&c, momenta, &energy, scale);
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(sp_joined_step(c.joined, c.load));
        gap = fmax(gap, worst_gap(&c));
    }
    totals(&c, now, &later, scale);
    NOTE("energy %.1e, angular momentum %.1e, gaps %.1e", fabs(later - energy) / energy,
         fabs(now[3] - momenta[3]) / scale[1], gap);
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(now[k], momenta[k], 1e-12 * scale[0]);
    CHECK(gap < 1e-6, "a joint opens by %g", gap);
    CHECK(fabs(later - energy) < 0.01 * energy, "energy %g of %g", later, energy);
}

/* The end of a swinging chain with one iteration a step, beside converged steps, which are 24 times as long as a wave
 * of compression takes through a bar: what one iteration leaves open may not grow from step to step. */
TEST(semi_implicit_steps_stay_near)
{
    OWNED(model) m;
    double end[2][3], most = 0;
    make_model(true, &m);
    for (int semi = 0; semi < 2; semi++) {
        const sp_free_parameters p = {.step = 0.6, .semi_implicit = semi};
        OWNED(chain) c;
        make_chain(&m, BODIES, true, &p, &c);
        weigh(&c, (double[]){0, 0, -0.02});
        for (int i = 0; i < 200; i++)
            CHECK_OK(sp_joined_step(c.joined, c.load));
        memcpy(end[semi], sp_free_body_state(c.body[BODIES - 1])->c, sizeof end[semi]);
        for (int k = 0; k < 3; k++)
            most = fmax(most, fabs(end[0][k] - (k == 0) * (0.8 * (BODIES - 1) + 0.4)));
    }
    NOTE("the end moves by %.2f m; one iteration is off by %.1e m", most, sp_distance3(end[0], end[1]));
    CHECK(most > 0.5, "the chain hardly moves: %g m", most);
    CHECK(sp_distance3(end[0], end[1]) < 0.01 * most, "off by %g m", sp_distance3(end[0], end[1]));
}

/* A binary tree of so many bodies that threads share them; the children of a body lie on each other. */
TEST(threads_change_nothing)
{
    OWNED(model) m;
    static double place[2][3][3 * TREE];
    make_model(true, &m);
    for (int semi = 0; semi < 2; semi++)
        for (int threads = 1; threads <= 3; threads++) {
            const sp_free_parameters p = {.step = 1e-3, .semi_implicit = semi};
            OWNED(chain) c;
            context.threads = threads;
            make_large_tree(&m, &p, &c);
            weigh(&c, (double[]){0, 1, -9.81});
            for (int i = 0; i < 10; i++)
                CHECK_OK(sp_joined_step(c.joined, c.load));
            for (int i = 0; i < TREE; i++)
                memcpy(place[semi][threads - 1] + 3 * i, sp_free_body_state(c.body[i])->c, sizeof(double[3]));
        }
    context.threads = 2;
    for (int semi = 0; semi < 2; semi++)
        for (int threads = 2; threads <= 3; threads++)
            CHECK(memcmp(place[semi][0], place[semi][threads - 1], sizeof place[semi][0]) == 0,
                  "%d threads, one iteration %d: the result depends on the number of threads", threads, semi);
    CHECK(place[0][0][3 * TREE - 1] < 0.1 - 1e-5, "the tree does not fall: %g m", place[0][0][3 * TREE - 1]);
}

/* A set that loads the state of another goes on as that one does. */
TEST(states_are_complete)
{
    const sp_free_parameters p = {.step = 1e-3};
    OWNED(model) m;
    OWNED(chain) one, other;
    sp_state state = {0};
    make_model(true, &m);
    make_tree(&m, &p, &one);
    make_tree(&m, &p, &other);
    spin(&one, (double[]){1.5, 0.1, 0.1}, (double[]){1, 2, 3}, (double[]){4, -2, 3});
    for (int i = 0; i < 20; i++)
        CHECK_OK(sp_joined_step(one.joined, one.load));
    sp_joined_visit(one.joined, &state);
    for (int b = 0; b < one.count; b++)
        sp_free_body_visit(one.body[b], &state);
    state.loading = true;
    sp_joined_visit(other.joined, &state);
    for (int b = 0; b < one.count; b++)
        sp_free_body_visit(other.body[b], &state);
    CHECK(!state.failed, "the state does not fit");
    for (int i = 0; i < 20; i++) {
        CHECK_OK(sp_joined_step(one.joined, one.load));
        CHECK_OK(sp_joined_step(other.joined, other.load));
    }
    for (int b = 0; b < one.count; b++)
        CHECK(memcmp(sp_free_body_state(one.body[b]), sp_free_body_state(other.body[b]), sizeof(sp_free_state)) == 0,
              "body %d goes another way", b);
    sp_list_free(&state.data);
}

/* Loads on a body against sums over its vertices, at a large rotation and deformation. */
TEST(loads_follow_the_vertices)
{
    const double t0 = 0.5, t1 = 0.75, about[3] = {0.3, -0.2, 0.7};
    const sp_pose pose = {{0.4, 0.5, 0.6}, {0.5, 0.5, -0.5, 0.5}};
    const sp_load loads[] = {
        {.end = INFINITY, .kind = SP_LOAD_VERTEX, .id = 17, .force = {1, 2, 3}},
        {.start = 0.6, .end = 0.7, .kind = SP_LOAD_ALL, .id = -1, .force = {-4, 1, 2}}, /* 0.4 of the time */
        {.end = 1, .kind = SP_LOAD_VERTEX, .id = 3, .force = {8, 0, 0}, .course = {.kind = SP_COURSE_RAMP}}, /* 0.625 */
        {.end = INFINITY, .kind = SP_LOAD_SPRING, .id = 40, .stiffness = 70, .force = {1, 0, 0}},
        {.end = 1,
         .kind = SP_LOAD_SPRING,
         .id = 5,
         .stiffness = 30,
         .force = {1, 0, 0},
         .moving = true,
         .anchor_end = {0, 0, 4}},
        {.start = 2, .end = 3, .kind = SP_LOAD_VERTEX, .id = 0, .force = {1e6, 0, 0}}};
    enum { COUNT = sizeof loads / sizeof *loads };
    OWNED(model) m;
    sp_body_loads all;
    double q[R], F[3] = {0}, T[3] = {0}, Q[R] = {0}, expected[6 + R] = {0}, R9[9], *full, scale = 0;
    make_model(true, &m);
    full = test_new(m.rows, 8);
    for (int j = 0; j < R; j++)
        q[j] = 0.3 * (j % 2 ? -1 : 1);
    CHECK_OK(sp_body_loads_new(&context, &m.body, R, m.U, COUNT, loads, &all));
    sp_body_loads_add(&all, t0, t1, &pose, q, about, F, T, Q);
    CHECK_OK(sp_load_distribute(&context, &m.body, &loads[1], full));
    sp_quaternion_matrix(pose.q, R9);
    for (int64_t v = 0; v < m.mesh.vertex_count; v++) {
        double y[3], x[3], f[3], arm[3], torque[3];
        for (int c = 0; c < 3; c++) {
            y[c] = m.mesh.vertices[3 * v + c];
            for (int j = 0; j < R; j++)
                y[c] += m.U[j * m.rows + 3 * v + c] * q[j];
        }
        sp_rotate(R9, y, x);
        for (int c = 0; c < 3; c++) {
            x[c] += pose.x[c];
            f[c] = 0.4 * full[3 * v + c] + (v == 17 ? 1 + c : 0) + (v == 3 && c == 0 ? 5 : 0);
            f[c] += v == 40 ? 70 * ((c == 0) - x[c]) : 0;
            f[c] += v == 5 ? 30 * ((c == 0) * 0.375 + (c == 2) * 2.5 - x[c]) : 0; /* at t = 0.625 */
        }
        sp_subtract3(x, about, arm);
        sp_cross3(arm, f, torque);
        for (int c = 0; c < 3; c++) {
            expected[c] += f[c];
            expected[3 + c] += torque[c];
        }
        for (int j = 0; j < R; j++) {
            double turned[3];
            sp_rotate(R9, m.U + j * m.rows + 3 * v, turned);
            expected[6 + j] += sp_dot3(turned, f);
        }
    }
    for (int k = 0; k < 6 + R; k++)
        scale = fmax(scale, fabs(expected[k]));
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(F[k], expected[k], 1e-13 * scale);
        CHECK_NEAR(T[k], expected[3 + k], 1e-13 * scale);
    }
    for (int j = 0; j < R; j++)
        CHECK_NEAR(Q[j], expected[6 + j], 1e-13 * scale);
    sp_body_loads_free(&all);
    const sp_load outside = {.end = 1, .kind = SP_LOAD_VERTEX, .id = m.mesh.vertex_count};
    CHECK(sp_body_loads_new(&context, &m.body, R, m.U, 1, &outside, &all) == SP_INPUT, "a vertex out of range");
}

TEST(refusals)
{
    const sp_free_parameters p = {.step = 1e-3};
    OWNED(model) m;
    OWNED(chain) c;
    sp_joined *joined;
    make_model(true, &m);
    make_chain(&m, 2, false, &p, &c);
    const sp_joined_parameters parameters = {.step = 1e-3}, slower = {.step = 2e-3};
    const int64_t line[3] = {0, 1, 2}, outside[3] = {0, 1, m.rows};
    const sp_joint good = c.joint[0];
    const struct {
        const char *what;
        sp_joint joint;
    } bad[] = {{"no such body", {.parent = good.parent, .child = {.body = 2, .count = 9, .vertices = m.left}}},
               {"the world as a child", {.parent = good.parent, .child = {.body = -1}}},
               {"two vertices", {.parent = good.parent, .child = {.body = 1, .count = 2, .vertices = m.left}}},
               {"one line", {.parent = good.parent, .child = {.body = 1, .count = 3, .vertices = line}}},
               {"no such vertex", {.parent = good.parent, .child = {.body = 1, .count = 3, .vertices = outside}}},
               {"itself", {.parent = good.parent, .child = {.body = 0, .count = 9, .vertices = m.left}}},
               {"apart", {.parent = {.body = 0, .count = 9, .vertices = m.left}, .child = good.child}}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        CHECK(sp_joined_new(&context, &parameters, 2, c.given, 1, &bad[k].joint, &joined) == SP_INPUT, "%s",
              bad[k].what);
        NOTE("%s", context.message);
    }
    CHECK(sp_joined_new(&context, &slower, 2, c.given, 1, &good, &joined) == SP_USAGE, "another step");
    c.load[0].F[0] = NAN;
    CHECK(sp_joined_step(c.joined, c.load) == SP_NUMERICAL, "a force that is not finite");
}

BEFORE_TESTS()
{
    context.threads = 2;
}
