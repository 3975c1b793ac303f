/* Penalty forces of contact: derivatives, virtual work, fields that move, voxel maps, the integral of eq. 3.2. */
#include "contact/deformed.h"
#include "contact/spheres.h"
#include "contact/voxmap.h"
#include "contact_scenes.h"

OWNER(sp_deformed_field)
OWNER(sp_voxmap)

/* ---- forces ---- */

/* The data of a contact pair. */
typedef struct scene {
    const sp_contact_pointshell *pointshell;
    const sp_distance *distance;
    sp_contact_state a, b;
    sp_penalty penalty;
    sp_traversal *traversal;
    sp_pool pool;
    sp_contact_forces forces;
} scene;

static void new_forces(const sp_contact_pointshell *pointshell, sp_pool *pool, sp_contact_forces *forces)
{
    *forces = (sp_contact_forces){.scale = 1};
    forces->at = sp_pool_raw(pool, 3 * pointshell->count, sizeof(double));
    forces->normal = sp_pool_raw(pool, 3 * pointshell->count, sizeof(double));
    forces->force = sp_pool_raw(pool, 3 * pointshell->count, sizeof(double));
}

static scene new_scene(const sp_contact_pointshell *pointshell, const sp_distance *distance)
{
    scene s = {.pointshell = pointshell,
               .distance = distance,
               .a = {.pose = sp_pose_identity()},
               .b = {.pose = sp_pose_identity()}};
    s.penalty = (sp_penalty){.stiffness = 1000, .limit = INFINITY};
    CHECK_OK(sp_traversal_new(&context, pointshell, &s.traversal));
    new_forces(pointshell, &s.pool, &s.forces);
    return s;
}

static void end_scene(scene *s)
{
    sp_traversal_free(s->traversal);
    sp_pool_free(&s->pool);
}

static const sp_traversal_result *meet(scene *s, const sp_traversal_limits *limits)
{
    const sp_traversal_result *found =
        sp_traversal_run(s->traversal, &s->a.pose, s->a.q, &s->b.pose, s->distance, 0, limits);
    sp_penalty_forces(&s->penalty, s->pointshell, &s->a, s->distance, &s->b, found, &s->forces);
    return found;
}

/* Pose moved by dx and turned by dω about a point. */
static sp_pose moved_pose(const sp_pose *pose, const double about[3], const double d[6])
{
    sp_pose to = *pose;
    double turn[4], R[9], arm[3], turned[3];
    sp_quaternion_from_vector(d + 3, turn);
    sp_quaternion_matrix(turn, R);
    for (int k = 0; k < 3; k++)
        arm[k] = pose->x[k] - about[k];
    sp_rotate(R, arm, turned);
    for (int k = 0; k < 3; k++)
        to.x[k] = about[k] + turned[k] + d[k];
    sp_quaternion_multiply(turn, pose->q, to.q);
    return to;
}

/* Force and torque [6] on the grasped body when it is moved by d. */
static int64_t wrench_at(scene *s, bool pointshell_moves, const double about[3], const double d[6], double wrench[6])
{
    const scene keep = *s;
    sp_pose *pose = pointshell_moves ? &s->a.pose : &s->b.pose;
    double to[3];
    *pose = moved_pose(pose, about, d);
    for (int k = 0; k < 3; k++)
        to[k] = about[k] + d[k];
    const int64_t count = meet(s, &EVERYTHING)->count;
    memset(wrench, 0, 6 * sizeof *wrench);
    sp_contact_forces_total(&s->forces, pointshell_moves ? 1 : -1, to, wrench, wrench + 3);
    s->a = keep.a;
    s->b = keep.b;
    return count;
}

/* Of the analytic derivatives by central differences with step h [relative to the largest]; NAN where points come or
 * go. */
static double derivative_error(scene *s, bool pointshell_moves, bool normals, double h)
{
    const double about[3] = {0.3, -0.4, 0.2}, none[6] = {0};
    double now[6], worst = 0, largest[4] = {0}, error[4] = {0};
    sp_wrench w = {.force = {0}};
    const int64_t count = wrench_at(s, pointshell_moves, about, none, now);
    meet(s, &EVERYTHING);
    sp_penalty_wrench(&s->penalty, s->pointshell, s->distance, &s->b.pose, &s->forces, pointshell_moves, normals, about,
                      &w);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(w.force[k], now[k], 1e-10 * (1 + length3(now)));
        CHECK_NEAR(w.torque[k], now[k + 3], 1e-10 * (1 + length3(now + 3)));
    }
    if (count == 0)
        return NAN;
    for (int c = 0; c < 6; c++) {
        double d[6] = {0}, up[6], down[6];
        d[c] = h;
        if (wrench_at(s, pointshell_moves, about, d, up) != count)
            return NAN;
        d[c] = -h;
        if (wrench_at(s, pointshell_moves, about, d, down) != count)
            return NAN;
        for (int r = 0; r < 6; r++) {
            const double *block = r < 3 ? (c < 3 ? w.force_x : w.force_w) : (c < 3 ? w.torque_x : w.torque_w);
            const double analytic = block[3 * (r % 3) + c % 3];
            const int b = 2 * (r / 3) + c / 3;
            error[b] = fmax(error[b], fabs((up[r] - down[r]) / (2 * h) - analytic));
            largest[b] = fmax(largest[b], fabs(analytic));
        }
    }
    for (int b = 0; b < 4; b++)
        worst = fmax(worst, error[b] / fmax(largest[b], 1e-3 * s->penalty.stiffness));
    return worst;
}

TEST(wrenches_are_derivatives)
{
    sp_pointshell few = ball_shell(SP_POINTSHELL_REPULSION, 16, 40, 1, 1);
    add_modes(&few, MODES);
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&few);
    /* one cell, in which the interpolant is a polynomial */
    float corners[8] = {-1.5f, -0.75f, -1, -0.25f, -0.5f, 0.5f, -0.25f, 1};
    sp_field cell = {.cells = {1, 1, 1}, .origin = {-8, -8, -8}, .spacing = 16, .distance = corners};
    sp_distance grid;
    sp_distance_of_field(&cell, &grid);
    const sp_distance *kinds[4] = {&fields[0], &fields[1], &fields[2], &grid};
    for (int c = 0; c < 16; c++) {
        const int f = c / 4, role = c / 2 % 2, by_gradient = c % 2;
        int64_t tried = 0, poses = 0;
        double worst = 0, slope = INFINITY;
        for (uint64_t i = 0; i < 400 && tried < 12; i++) {
            scene s = new_scene(&pointshell, kinds[f]);
            double q[MODES];
            s.a.pose = random_pose(110, i, 1.5);
            s.b.pose = random_pose(111, i, 0.3);
            random_q(112, i, 0.1, q);
            s.a.q = i % 2 ? q : NULL;
            s.penalty.direction = by_gradient ? SP_PENALTY_GRADIENT : SP_PENALTY_NORMAL;
            s.penalty.by_area = i % 3 == 0;
            s.penalty.tangents = i % 4 == 0;
            s.penalty.limit = i % 5 ? INFINITY : 1.5;
            poses++;
            /* along the gradient the derivative is exact whatever the coupling takes for it */
            const bool normals = by_gradient && i % 2;
            const double coarse = derivative_error(&s, role, normals, 4e-3),
                         fine = derivative_error(&s, role, normals, 2e-3),
                         finest = derivative_error(&s, role, normals, 1e-3);
            if (isfinite(coarse) && isfinite(fine) && isfinite(finest)) {
                tried++;
                /* a box is not smooth everywhere; rounding is about 1e-16 / 1e-3 */
                if (coarse > 1e-7)
                    slope = fmin(slope, log2(coarse / finest) / 2);
                worst = fmax(worst, finest);
            }
            end_scene(&s);
        }
        CHECK(tried == 12, "field %d: only %lld of %lld poses keep their points", f, (long long)tried,
              (long long)poses);
        /* differences of a gradient that turns are off by h²/ρ², with ρ ≥ 0.2 m from the centre of the sphere */
        CHECK(worst < (by_gradient ? 2.5e-5 : 1e-5), "field %d, role %d, direction %d: off by %g", f, role, by_gradient,
              worst);
        CHECK(slope > 1.9, "field %d, role %d, direction %d: slope %g", f, role, by_gradient, slope);
        NOTE("field %d, %s grasped, %s: off by %.1e at 1e-3, slope %.3f", f, role ? "shell" : "distances",
             by_gradient ? "gradients" : "normals", worst, slope);
    }
}

/* F = −∂/∂x Σ ½ k w d² for forces along gradients, by central differences; against a plane all of it is along the
 * plane's normal. */
TEST(gradients_have_a_potential)
{
    const sp_contact_pointshell *pointshell = &shells[1][1];
    for (uint64_t i = 0; i < 40; i++) {
        const int f = (int)(i % 3);
        scene s = new_scene(pointshell, &fields[f]);
        const double h = 1e-6, none[6] = {0}, about[3] = {0};
        double q[MODES], now[6], energy[2], off = 0;
        s.penalty.direction = i % 2 ? SP_PENALTY_GRADIENT : SP_PENALTY_BY_GEOMETRY;
        s.penalty.by_area = i % 4 == 0;
        s.a.pose = random_pose(125, i, 0.9);
        s.b.pose = random_pose(126, i, 0.3);
        random_q(127, i, 0.1, q);
        s.a.q = q;
        wrench_at(&s, true, about, none, now);
        for (int k = 0; k < 3; k++) {
            const scene keep = s;
            for (int side = 0; side < 2; side++) {
                energy[side] = 0;
                s.a.pose.x[k] = keep.a.pose.x[k] + (side ? h : -h);
                const sp_traversal_result *found = meet(&s, &EVERYTHING);
                for (int64_t c = 0; c < found->count; c++)
                    energy[side] += 500 * (s.penalty.by_area ? pointshell->weight[found->point[c]] : 1) *
                                    found->distance[c] * found->distance[c];
            }
            s.a = keep.a;
            off = fmax(off, fabs(now[k] + (energy[1] - energy[0]) / (2 * h)));
        }
        CHECK(off < 1e-4 * (1 + length3(now)), "field %d: force off by %g of %g N from the gradient of its energy", f,
              off, length3(now));
        double B[9], normal[3], aside[3];
        sp_quaternion_matrix(s.b.pose.q, B);
        sp_rotate(B, fields[0].normal, normal);
        sp_cross3(now, normal, aside);
        CHECK(f != 0 || length3(aside) <= 1e-14 * length3(now), "%g N aside of the plane's normal, %g N along it",
              length3(aside), length3(now));
        end_scene(&s);
    }
}

/* With the normal of the point in place of the gradient: exact where they are equal. */
TEST(wrenches_by_normals)
{
    const double up[3] = {0, 0, 1};
    OWNED(sp_contact_pointshell) pointshell = one_point(0.1, 0.2, -0.3, up);
    const sp_distance plane = plane_at(0);
    for (int role = 0; role < 2; role++) {
        scene s = new_scene(&pointshell, &plane);
        sp_wrench a = {.force = {0}}, b = {.force = {0}};
        const double about[3] = {1, 2, 3};
        meet(&s, &TREE);
        CHECK(s.forces.count == 1, "%lld", (long long)s.forces.count);
        CHECK_NEAR(s.forces.force[2], 300, 1e-10);
        sp_penalty_wrench(&s.penalty, &pointshell, &plane, &s.b.pose, &s.forces, role, false, about, &a);
        sp_penalty_wrench(&s.penalty, &pointshell, &plane, &s.b.pose, &s.forces, role, true, about, &b);
        CHECK(!memcmp(&a, &b, sizeof a), "normals and gradient differ");
        /* a tilted normal: the error is the component that is not along the gradient */
        s.forces.normal[0] = 0.6;
        s.forces.normal[2] = 0.8;
        memset(&a, 0, sizeof a);
        memset(&b, 0, sizeof b);
        sp_penalty_wrench(&s.penalty, &pointshell, &plane, &s.b.pose, &s.forces, role, false, about, &a);
        sp_penalty_wrench(&s.penalty, &pointshell, &plane, &s.b.pose, &s.forces, role, true, about, &b);
        CHECK_NEAR(a.force_x[2], -1000 * 0.6, 1e-9);
        CHECK_NEAR(b.force_x[2], -1000 * 0.6 * 0.8, 1e-9);
        CHECK_NEAR(a.force_x[0], 0, 1e-9);
        CHECK_NEAR(b.force_x[0], -1000 * 0.36, 1e-9);
        end_scene(&s);
    }
}

/* Q·δq is the work of the forces on the displacements of their points, here between two states of the shell. */
TEST(virtual_work)
{
    for (uint64_t i = 0; i < 40; i++) {
        const sp_contact_pointshell *pointshell = &shells[1][i % SHELLS];
        scene s = new_scene(pointshell, &fields[i % FIELDS]);
        double q[MODES], dq[MODES], to[MODES], Q[MODES] = {0}, work = 0, product = 0, size = 0, A[9];
        s.a.pose = random_pose(120, i, 0.8);
        s.b.pose = random_pose(121, i, 0.3);
        random_q(122, i, 0.2, q);
        random_q(123, i, 1, dq);
        s.a.q = q;
        s.penalty.limit = 30;
        for (int j = 0; j < MODES; j++)
            to[j] = q[j] + dq[j];
        meet(&s, &TREE);
        sp_contact_forces_project(&s.forces, pointshell, &s.a.pose, Q);
        sp_quaternion_matrix(s.a.pose.q, A);
        for (int64_t c = 0; c < s.forces.count; c++) {
            double x[3], y[3], d[3], D[3];
            sp_contact_pointshell_point(pointshell, s.forces.point[c], q, x);
            sp_contact_pointshell_point(pointshell, s.forces.point[c], to, y);
            for (int k = 0; k < 3; k++)
                d[k] = y[k] - x[k];
            sp_rotate(A, d, D);
            work += sp_dot3(D, s.forces.force + 3 * c);
            size += length3(D) * length3(s.forces.force + 3 * c);
        }
        for (int j = 0; j < MODES; j++)
            product += Q[j] * dq[j];
        CHECK(s.forces.count > 0 || i % SHELLS, "no contact");
        CHECK_NEAR(product, work, 1e-13 * size);
        end_scene(&s);
    }
}

/* Unit hexahedra [0, n]³ scaled by h, moved by U_j = A_j X. */
static sp_mesh block(int n, double h)
{
    sp_mesh mesh = {.vertex_count = (int64_t)(n + 1) * (n + 1) * (n + 1),
                    .block[SP_HEX8].count = (int64_t)n * n * n,
                    .quadrature = 2};
    mesh.vertices = sp_pool_new(&mesh.pool, 3 * mesh.vertex_count, sizeof(double));
    mesh.block[SP_HEX8].node = sp_pool_new(&mesh.pool, 8 * mesh.block[SP_HEX8].count, sizeof(int64_t));
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        for (int k = 0; k < 3; k++)
            mesh.vertices[3 * v + k] = h * ((double)(k == 0   ? v % (n + 1)
                                                     : k == 1 ? v / (n + 1) % (n + 1)
                                                              : v / (n + 1) / (n + 1)) -
                                            0.5 * n);
    for (int64_t e = 0; e < mesh.block[SP_HEX8].count; e++) {
        const int64_t i = e % n, j = e / n % n, k = e / n / n, row = n + 1, low = (k * row + j) * row + i,
                      high = low + row * row;
        const int64_t corner[8] = {low, low + 1, low + row + 1, low + row, high, high + 1, high + row + 1, high + row};
        memcpy(mesh.block[SP_HEX8].node + 8 * e, corner, sizeof corner);
    }
    return mesh;
}

/* The body of the field feels the opposite force at the proxy nearest to each point, and its material moves as that
 * proxy. */
TEST(work_on_deformed_fields)
{
    enum { PROXIES = 50 };
    sp_mesh mesh = block(2, 1.6);
    double *U = test_new(3 * mesh.vertex_count * AFFINE, sizeof *U), proxies[3 * PROXIES];
    for (int j = 0; j < AFFINE; j++)
        for (int64_t v = 0; v < mesh.vertex_count; v++) {
            double gradient[9];
            mode_at(j, mesh.vertices + 3 * v, U + 3 * (j * mesh.vertex_count + v), gradient);
        }
    for (int i = 0; i < PROXIES; i++) {
        random_direction(130, (uint64_t)i, proxies + 3 * i);
        const double around = hypot(proxies[3 * i], proxies[3 * i + 1]); /* on the torus */
        proxies[3 * i] *= (around > 0 ? 1 / around : 1) * (1 + 0.4 * cos(i));
        proxies[3 * i + 1] *= (around > 0 ? 1 / around : 1) * (1 + 0.4 * cos(i));
        proxies[3 * i + 2] = 0.4 * sin(i);
    }
    OWNED_POINTER(sp_deformed_field) *deformed;
    const sp_deformed_domain domain = {.field = &grids[0], .count = PROXIES, .points = proxies};
    CHECK_OK(sp_deformed_field_new(&context, &mesh, AFFINE, U, 1, &domain, 5, &deformed));
    const sp_distance distance = {.kind = SP_DISTANCE_DEFORMED, .deformed = deformed, .slack = fields[3].slack};
    int64_t contacts = 0;
    for (uint64_t i = 0; i < 40; i++) {
        const sp_contact_pointshell *pointshell = &shells[1][0];
        scene s = new_scene(pointshell, &distance);
        double q[AFFINE], qdot[AFFINE], Q[AFFINE] = {0}, B[9], work[AFFINE] = {0}, size = 0;
        for (int j = 0; j < AFFINE; j++) {
            q[j] = random_in(131, 3 * i + (uint64_t)j, -0.3, 0.3);
            qdot[j] = random_in(132, 3 * i + (uint64_t)j, -3, 3);
        }
        sp_deformed_field_update(deformed, q);
        s.a.pose = random_pose(133, i, 1);
        s.b.pose = random_pose(134, i, 0.3);
        s.b.q = q;
        s.b.qdot = qdot;
        for (int k = 0; k < 3; k++) {
            s.a.velocity[k] = random_in(135, 3 * i + (uint64_t)k, -1, 1);
            s.b.velocity[k] = random_in(136, 3 * i + (uint64_t)k, -1, 1);
            s.b.angular_velocity[k] = random_in(137, 3 * i + (uint64_t)k, -1, 1);
        }
        s.penalty.damping = 20;
        s.penalty.limit = 10;
        meet(&s, &TREE);
        contacts += s.forces.count;
        sp_contact_forces_project_field(&s.forces, &distance, &s.b.pose, Q);
        sp_quaternion_matrix(s.b.pose.q, B);
        for (int64_t c = 0; c < s.forces.count; c++) {
            const double *at = s.forces.at + 3 * c, *f = s.forces.force + 3 * c, *N = s.forces.normal + 3 * c;
            double r[3], place[3], best = INFINITY, w[AFFINE][3] = {{0}}, v[3], turn[3], push = 0, rate[3] = {0},
                                   Rate[3];
            for (int k = 0; k < 3; k++)
                r[k] = at[k] - s.b.pose.x[k];
            sp_rotate_back(B, r, place);
            for (int p = 0; p < PROXIES; p++) {
                double u[AFFINE][3], gradient[9], d[3];
                memcpy(d, proxies + 3 * p, sizeof d);
                for (int j = 0; j < AFFINE; j++) {
                    mode_at(j, proxies + 3 * p, u[j], gradient);
                    for (int k = 0; k < 3; k++)
                        d[k] += q[j] * u[j][k];
                }
                for (int k = 0; k < 3; k++)
                    d[k] -= place[k];
                if (length3(d) < best) {
                    best = length3(d);
                    memcpy(w, u, sizeof w);
                }
            }
            sp_cross3(s.b.angular_velocity, r, turn);
            for (int j = 0; j < AFFINE; j++) {
                double W[3];
                sp_rotate(B, w[j], W);
                work[j] -= sp_dot3(W, f);
                size += length3(W) * length3(f);
                for (int k = 0; k < 3; k++)
                    rate[k] += w[j][k] * qdot[j];
            }
            sp_rotate(B, rate, Rate);
            for (int k = 0; k < 3; k++)
                v[k] = s.a.velocity[k] - s.b.velocity[k] - turn[k] - Rate[k];
            push = s.forces.scale * fmax(0, -1000 * s.forces.distance[c] - 20 * sp_dot3(v, N));
            for (int k = 0; k < 3; k++)
                CHECK_NEAR(f[k], push * N[k], 1e-10 * (1 + push));
        }
        for (int j = 0; j < AFFINE; j++)
            CHECK_NEAR(Q[j], work[j], 1e-12 * size);
        end_scene(&s);
    }
    CHECK(contacts > 500, "%lld contacts", (long long)contacts);
    sp_pool_free(&mesh.pool);
}

/* A field that moves by a translation mode stays exact: coherence must include its motion. A field that is inverted for
 * a while has no values then, and is valid again afterwards. */
TEST(coherence_with_fields_that_move)
{
    sp_mesh mesh = block(1, 4);
    double U[3 * 8 * 2] = {0};
    const double proxy[3] = {0.1, 0.2, 0.3};
    for (int v = 0; v < 8; v++) {
        U[3 * v + 2] = 1;
        for (int k = 0; k < 3; k++)
            U[24 + 3 * v + k] = mesh.vertices[3 * v + k];
    }
    OWNED_POINTER(sp_deformed_field) *deformed;
    const sp_deformed_domain domain = {.field = &grids[0], .count = 1, .points = proxy};
    CHECK_OK(sp_deformed_field_new(&context, &mesh, 2, U, 1, &domain, 1, &deformed));
    const sp_distance distance = {.kind = SP_DISTANCE_DEFORMED, .deformed = deformed, .slack = fields[3].slack};
    const sp_contact_pointshell *pointshell = &shells[0][0];
    OWNED_POINTER(sp_traversal) *coherent, *all;
    CHECK_OK(sp_traversal_new(&context, pointshell, &coherent));
    CHECK_OK(sp_traversal_new(&context, pointshell, &all));
    const double *reach = sp_deformed_field_reach(deformed);
    double before[2] = {0};
    int64_t differ = 0, passed = 0, touching = 0, after = 0;
    for (int i = 0; i < 600; i++) {
        const double q[2] = {1.2 * sin(0.02 * i), i == 300 ? -2 : 0};
        sp_pose pose = sp_pose_identity();
        const sp_pose at = sp_pose_identity();
        pose.x[2] = 1.6;
        sp_deformed_field_update(deformed, q);
        const double moved = reach[0] * fabs(q[0] - before[0]) + reach[1] * fabs(q[1] - before[1]);
        memcpy(before, q, sizeof q);
        const sp_traversal_result *a = sp_traversal_run(coherent, &pose, NULL, &at, &distance, moved, &COHERENT);
        passed += a->passed;
        const sp_traversal_result *b = sp_traversal_run(all, &pose, NULL, &at, &distance, 0, &EVERYTHING);
        differ += !same_contacts(a, b, pointshell->count);
        touching += b->count > 0;
        after += i > 400 && b->count > 0;
    }
    CHECK(differ == 0, "%lld runs differ", (long long)differ);
    CHECK(passed > 0 && touching > 50 && touching < 550 && after > 0, "%lld passed, %lld touch, %lld after",
          (long long)passed, (long long)touching, (long long)after);
    sp_pool_free(&mesh.pool);
}

/* Damping acts against approach and never pulls; forces scale with the weights. */
TEST(damping_and_scale)
{
    const double up[3] = {0, 0, 1};
    sp_contact_pointshell pointshell = one_point(0, 0, -0.5, up);
    const sp_distance plane = plane_at(-0.4);
    scene s = new_scene(&pointshell, &plane);
    s.penalty.damping = 10;
    const double speeds[4] = {-3, 0, 3, 30}, expected[4] = {130, 100, 70, 0};
    for (int i = 0; i < 4; i++) {
        s.a.velocity[2] = speeds[i];
        meet(&s, &TREE);
        CHECK_NEAR(s.forces.force[2], expected[i], 1e-10);
    }
    s.a.velocity[2] = 0;
    s.a.angular_velocity[1] = 2; /* about the frame's origin, 2 m to the side */
    s.a.pose.x[0] = 2;
    for (int k = 0; k < 3; k++)
        s.b.velocity[k] = k == 2 ? 1 : 5;
    meet(&s, &TREE);
    CHECK_NEAR(s.forces.force[2], 100 + 10, 1e-10); /* ω × r has no vertical part for r along z */
    s.penalty.limit = 0.25;
    meet(&s, &TREE);
    CHECK_NEAR(s.forces.scale, 0.25, 1e-15);
    CHECK_NEAR(s.forces.force[2], 110 / 4.0, 1e-10);
    end_scene(&s);
    sp_contact_pointshell_free(&pointshell);
    s = new_scene(&shells[0][0], &fields[1]);
    double total = 0;
    s.penalty.limit = 3;
    s.penalty.by_area = true;
    meet(&s, &TREE);
    for (int64_t i = 0; i < s.forces.count; i++)
        total += s.forces.scale * s.pointshell->weight[s.forces.point[i]];
    CHECK_NEAR(total, 3, 1e-12);
    for (int64_t i = 0; i < s.forces.count; i++) {
        const double f =
            s.penalty.stiffness * -s.forces.distance[i] * s.pointshell->weight[s.forces.point[i]] * s.forces.scale;
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(s.forces.force[3 * i + k], f * s.forces.normal[3 * i + k], 1e-12 * f);
    }
    end_scene(&s);
}

/* Voxmaps: depth by the tangent plane. Points in proximity voxels are listed on request and have no springs. */
TEST(voxmaps)
{
    OWNED_POINTER(sp_voxmap) *voxmap = NULL;
    CHECK_OK(sp_voxmap_new(&context, &grids[1], &voxmap));
    const sp_distance distance = {.kind = SP_DISTANCE_VOXMAP, .voxmap = voxmap};
    int64_t deep = 0, near = 0, wrong = 0;
    for (uint64_t i = 0; i < 60; i++) {
        const sp_contact_pointshell *pointshell = &shells[0][i % 3];
        scene s = new_scene(pointshell, &distance);
        double weight = 0, A[9], B[9], dF[9] = {0};
        s.a.pose = random_pose(140, i, 1);
        s.b.pose = random_pose(141, i, 0.3);
        s.penalty.limit = 7;
        sp_traversal_limits limits = COHERENT;
        limits.proximity = i % 2;
        const sp_traversal_result *found = meet(&s, &limits);
        sp_quaternion_matrix(s.a.pose.q, A);
        sp_quaternion_matrix(s.b.pose.q, B);
        int64_t next = 0;
        for (int64_t p = 0; p < pointshell->count; p++) {
            double w[3], x[3], n[3], N[3];
            sp_rotate(A, pointshell->points + 3 * p, w);
            for (int k = 0; k < 3; k++)
                w[k] += s.a.pose.x[k] - s.b.pose.x[k];
            sp_rotate_back(B, w, x);
            sp_rotate(A, pointshell->normals + 3 * p, n);
            sp_rotate_back(B, n, N);
            const enum sp_voxel kind = sp_voxmap_at(voxmap, x, NULL);
            const double depth = sp_voxmap_depth(voxmap, x, N);
            const bool listed = next < found->count && found->point[next] == p;
            wrong += listed != (depth < 0 || (limits.proximity && kind == SP_VOXEL_PROXIMITY));
            if (!listed)
                continue;
            wrong += fabs(found->distance[next] - fmin(depth, 0)) > 1e-11;
            weight += depth < 0;
            deep += depth < 0;
            near += depth >= 0;
            if (depth < 0)
                for (int k = 0; k < 9; k++)
                    dF[k] -= n[k / 3] * n[k % 3];
            next++;
        }
        const double scale = weight > 7 ? 7 / weight : 1;
        sp_wrench wrench = {.force = {0}};
        const double about[3] = {0};
        sp_penalty_wrench(&s.penalty, pointshell, &distance, &s.b.pose, &s.forces, true, false, about, &wrench);
        for (int k = 0; k < 9; k++)
            CHECK_NEAR(wrench.force_x[k], 1000 * scale * dF[k], 1e-9 * 1000 * (1 + weight));
        CHECK_NEAR(s.forces.scale, scale, 1e-15);
        for (int64_t c = 0; c < s.forces.count; c++)
            CHECK_NEAR(sp_dot3(s.forces.force + 3 * c, s.forces.normal + 3 * c), -1000 * scale * s.forces.distance[c],
                       1e-9);
        end_scene(&s);
    }
    CHECK(wrong == 0 && deep > 100 && near > 100, "%lld wrong, %lld deep, %lld near", (long long)wrong, (long long)deep,
          (long long)near);
}

/* ---- eq. 3.2 ---- */

/* −∫ d n dS and ∫ dS over the part of a sphere of unit radius that is below the plane, whose depth is δ: with u the
 * cosine from below, d = c − u, c = 1 − δ. */
static double cap_mean(double depth)
{
    const double c = 1 - depth, integral = c * (1 - c * c) / 2 - (1 - c * c * c) / 3;
    return -integral / (1 - c);
}

/* Force by k L over random rotations of the shell, against the integral: root mean square of the relative error, its
 * mean, and the largest sideways part. */
static void force_error(const sp_contact_pointshell *pointshell, int levels, bool by_area, double depth, double *square,
                        double *mean, double *aside)
{
    enum { TURNS = 40 };
    const sp_distance plane = plane_at(0);
    scene s = new_scene(pointshell, &plane);
    sp_traversal_limits limits = TREE;
    limits.levels = levels;
    s.penalty.limit = 2;
    s.penalty.by_area = by_area;
    *square = *mean = *aside = 0;
    for (uint64_t i = 0; i < TURNS; i++) {
        double F[3] = {0}, T[3] = {0};
        random_rotation(150, i, s.a.pose.q);
        s.a.pose.x[2] = 1 - depth;
        meet(&s, &limits);
        sp_contact_forces_total(&s.forces, 1, s.a.pose.x, F, T);
        CHECK(length3(T) < 1e-9 * length3(F), "forces through the centre have a torque of %g", length3(T));
        const double expected = 1000 * 2 * cap_mean(depth), error = F[2] / expected - 1;
        *square += error * error / TURNS;
        *mean += error / TURNS;
        *aside = fmax(*aside, hypot(F[0], F[1]) / expected);
    }
    *square = sqrt(*square);
    end_scene(&s);
}

TEST(forces_converge_to_the_integral)
{
    sp_pointshell made = ball_shell(SP_POINTSHELL_REPULSION, 32, 12 * 341, 5, 1);
    CHECK(made.levels == 5, "%d", made.levels);
    sp_contact_pointshell pointshell = contact_shell(&made);
    double error[6], mean, aside[6];
    for (int levels = 3; levels <= 5; levels++) {
        force_error(&pointshell, levels, false, 0.4, &error[levels], &mean, &aside[levels]);
        NOTE("level %d, %lld points: force off by %.2e, %.2e aside", levels,
             (long long)pointshell.cumulative[levels - 1], error[levels], aside[levels]);
    }
    /* The quadrature counts whole points. The uncertainty is about one row of points at the rim, where d vanishes but l
     * counts fully: h ~ 1/√n. */
    CHECK(error[4] < 0.6 * error[3] && error[5] < 0.6 * error[4] && error[5] < 0.02, "%g %g %g", error[3], error[4],
          error[5]);
    CHECK(aside[5] < 0.5 * aside[3], "%g %g", aside[3], aside[5]);
    double weighted;
    force_error(&pointshell, 5, true, 0.4, &weighted, &mean, &aside[0]);
    NOTE("by area: off by %.2e", weighted);
    CHECK(weighted < 0.02, "%g", weighted);
    sp_contact_pointshell_free(&pointshell);
    /* denser at the poles: wrong without areas for any number of points */
    made = ball_shell(SP_POINTSHELL_VERTICES, 96, 0, 1, 1);
    pointshell = contact_shell(&made);
    const sp_distance plane = plane_at(0);
    double off[2];
    for (int by_area = 0; by_area < 2; by_area++) {
        scene s = new_scene(&pointshell, &plane);
        double F[3] = {0}, T[3] = {0};
        s.penalty.limit = 2;
        s.penalty.by_area = by_area;
        s.a.pose.x[2] = 1 - 0.4;
        meet(&s, &TREE);
        sp_contact_forces_total(&s.forces, 1, s.a.pose.x, F, T);
        off[by_area] = F[2] / (2000 * cap_mean(0.4)) - 1;
        end_scene(&s);
    }
    NOTE("vertices crowded at the pole: off by %.3f, by area %.3f", off[0], off[1]);
    /* the areas of half a ring at the rim are in error: ½ h sin θ of 1 − cos θ */
    CHECK(fabs(off[0]) > 0.1 && fabs(off[1]) < 1.2 * 0.5 * PI / 96 * 0.8 / 0.4, "%g, by area %g", off[0], off[1]);
    sp_contact_pointshell_free(&pointshell);
}
