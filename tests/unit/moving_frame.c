/* Inertial forces of a moving frame: against the integrals over the vertices, in special cases that can be told by
 * hand, and the energy of a body that spins. */
#include "rigid/moving_frame.h"
#include "bodies.h"
#include "integrate/integrate.h"
#include "model/models.h"
#include "rigid/full_frame.h"
#include "test.h"

OWNER(sp_integrator)

enum { R = 5 };

/* A frame about a fixed axis through its origin by the angle w t + ½ g t², whose origin accelerates. */
typedef struct axis_path {
    double axis[3], w, g;     /* unit, rad/s, rad/s² */
    double velocity[3], a[3]; /* of the origin at 0, m/s, and its acceleration, m/s² */
    double start[4];          /* the rotation at 0 */
} axis_path;

static sp_pose along(const void *data, double t, double velocity[6])
{
    const axis_path *p = data;
    sp_pose pose;
    double turn[3], q[4];
    for (int k = 0; k < 3; k++) {
        pose.x[k] = p->velocity[k] * t + 0.5 * p->a[k] * t * t;
        velocity[k] = p->velocity[k] + p->a[k] * t;
        turn[k] = p->axis[k] * (p->w * t + 0.5 * p->g * t * t);
        velocity[3 + k] = p->axis[k] * (p->w + p->g * t);
    }
    sp_quaternion_from_vector(turn, q);
    sp_quaternion_multiply(q, p->start, pose.q);
    return pose;
}

static void no_force(void *self, double t0, double t1, double *f)
{
    (void)t0, (void)t1;
    memset(f, 0, (size_t) * (int64_t *)self * sizeof *f);
}

static void to_frame(const sp_pose *pose, const double world[3], double local[3])
{
    double matrix[9];
    sp_quaternion_matrix(pose->q, matrix);
    for (int k = 0; k < 3; k++)
        local[k] = matrix[k] * world[0] + matrix[3 + k] * world[1] + matrix[6 + k] * world[2];
}

/* −Uᵀ M (a + α × x + ω × (ω × x) + 2 ω × v) by the mass matrix of the vertices, all in components of the frame. */
static void by_vertices(const sp_fe_space *body, bool lumped, const double *U, const double a[3], const double alpha[3],
                        const double w[3], const double *q, const double *v, double *f)
{
    const int64_t vertices = body->mesh->vertex_count;
    double *field = test_new(6 * vertices, 8), *product = field + 3 * vertices, *mass = test_new(vertices, 8);

    for (int64_t p = 0; p < vertices; p++) {
        double x[3], u[3] = {0}, euler[3], first[3], centrifugal[3], coriolis[3];
        for (int k = 0; k < 3; k++) {
            x[k] = body->mesh->vertices[3 * p + k];
            for (int j = 0; j < R; j++) {
                x[k] += U[3 * (j * vertices + p) + k] * q[j];
                u[k] += U[3 * (j * vertices + p) + k] * v[j];
            }
        }
        sp_cross3(alpha, x, euler);
        sp_cross3(w, x, first);
        sp_cross3(w, first, centrifugal);
        sp_cross3(w, u, coriolis);
        for (int k = 0; k < 3; k++)
            field[3 * p + k] = -(a[k] + euler[k] + centrifugal[k] + 2 * coriolis[k]);
    }

    sp_fe_space_vertex_mass(body, true, mass);
    if (lumped)
        for (int64_t i = 0; i < 3 * vertices; i++)
            product[i] = mass[i / 3] * field[i];
    else
        sp_fe_space_mass_times(&context, body, 3, field, product);

    for (int j = 0; j < R; j++) {
        f[j] = 0;
        for (int64_t i = 0; i < 3 * vertices; i++)
            f[j] += U[3 * j * vertices + i] * product[i];
    }
}

/* The forces f [R] of a full-order model at U q with the velocity U v, in the columns of U. No vertex is fixed. */
static void full_forces(sp_full_frame *frame, const double *U, const double *q, const double *v, double t0, double t1,
                        double *f)
{
    const int64_t n = 3 * frame->space->mesh->vertex_count;
    const sp_external_loads loads = sp_full_frame_loads(frame);
    double *fields = test_new(4 * n, 8), *u = fields, *w = fields + n, *own = fields + 2 * n, *force = fields + 3 * n;

    CHECK(frame->space->dof_count == n, "vertices are fixed");
    for (int64_t i = 0; i < n; i++)
        for (int j = 0; j < R; j++) {
            u[i] += U[n * j + i] * q[j];
            w[i] += U[n * j + i] * v[j];
        }
    sp_fe_space_gather(frame->space, u, own);
    memcpy(u, own, (size_t)n * 8);
    sp_fe_space_gather(frame->space, w, own);
    memcpy(w, own, (size_t)n * 8);

    loads.mean(loads.self, t0, t1, own);
    loads.follow(loads.self, t0, t1, u, w, force);
    for (int64_t i = 0; i < n; i++)
        force[i] += own[i];
    sp_fe_space_scatter(frame->space, force, u);
    for (int j = 0; j < R; j++) {
        f[j] = 0;
        for (int64_t i = 0; i < n; i++)
            f[j] += U[n * j + i] * u[i];
    }
}

/* A distorted block with random columns. */
static void make_body(sp_mesh *mesh, sp_fe_space *body, double **U)
{
    make_box(3, 2, 2, 0.2, 0.1, mesh);
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        mesh->vertices[3 * v] += 0.7; /* away from the origin of the frame */
    CHECK_OK(sp_fe_space_new(&context, mesh, body));
    *U = calloc((size_t)(3 * mesh->vertex_count * R), 8);
    random_field(3 * mesh->vertex_count * R, 3, *U);
}

TEST(forces)
{
    const axis_path p = {{2. / 3, -1. / 3, 2. / 3}, 5, -7, {0.4, 0.3, -0.2}, {2, 9, -4}, {0.5, 0.5, -0.5, 0.5}};
    const double gravity[3] = {0.3, -0.2, -9.81}, t0 = 0.11, t1 = 0.13, t = 0.5 * (t0 + t1);
    const int64_t r = R;
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    double *U, q[R], v[R], f[R], g[R], expected[R], velocity[6];
    make_body(&mesh, &body, &U);
    random_field(R, 5, q);
    random_field(R, 6, v);
    for (int lumped = 0; lumped < 2; lumped++) {
        OWNED(sp_inertia) inertia;
        OWNED(sp_moving_frame) frame;
        const sp_external_loads none = {.self = (void *)&r, .mean = no_force};
        CHECK_OK(sp_inertia_of_body(&context, &body, lumped, R, U, &inertia));
        CHECK_OK(sp_moving_frame_new(&context, &inertia, 1, along, &p, true, gravity, &none, &frame));
        const sp_external_loads loads = sp_moving_frame_loads(&frame);
        loads.mean(loads.self, t0, t1, f);
        loads.follow(loads.self, t0, t1, q, v, g);
        /* With constant accelerations the rates of the middle are the means. */
        const sp_pose first = along(&p, t0, velocity), last = along(&p, t1, velocity),
                      halfway = sp_pose_between(&first, &last, 0.5), pose = along(&p, t, velocity);
        double a[3], alpha[3], w[3], world[2][3];
        for (int k = 0; k < 3; k++) {
            world[0][k] = p.a[k] - gravity[k];
            world[1][k] = p.axis[k] * p.g;
        }
        to_frame(&halfway, world[0], a);
        to_frame(&pose, world[1], alpha);
        to_frame(&pose, velocity + 3, w);
        by_vertices(&body, lumped, U, a, alpha, w, q, v, expected);
        double worst = 0, size = 0;
        for (int j = 0; j < R; j++) {
            worst = fmax(worst, fabs(f[j] + g[j] - expected[j]));
            size = fmax(size, fabs(expected[j]));
        }
        NOTE("%s mass: %.1e of %.3g N", lumped ? "lumped" : "consistent", worst / size, size);
        CHECK(worst < 1e-12 * size, "%g", worst / size);

        /* The full-order model has the same forces in these columns. */
        OWNED(sp_full_frame) full;
        const int64_t n = 3 * mesh.vertex_count;
        const sp_external_loads nothing = {.self = (void *)&n, .mean = no_force};
        CHECK_OK(sp_full_frame_new(&context, &body, lumped, along, &p, true, gravity, &nothing, &full));
        full_forces(&full, U, q, v, t0, t1, g);
        worst = 0;
        for (int j = 0; j < R; j++)
            worst = fmax(worst, fabs(g[j] - expected[j]));
        NOTE("full-order model: %.1e", worst / size);
        CHECK(worst < 1e-12 * size, "full-order model: %g", worst / size);
    }
    free(U);
}

/* A body that translates along x and y in a frame that turns to the left about z: the Coriolis force is to the right,
 * 2 m ω v. Gravity of a frame on its side points along y. */
TEST(signs)
{
    const axis_path spin = {{0, 0, 1}, 0.5, 0, {0}, {0}, {1, 0, 0, 0}},
                    side = {{0, 0, 1}, 0, 0, {0}, {0}, {M_SQRT1_2, -M_SQRT1_2, 0, 0}};
    const int64_t r = 2;
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_inertia) inertia;
    sp_moving_frame frame;
    double f[2], g[2], *U;
    const sp_external_loads none = {.self = (void *)&r, .mean = no_force};

    make_box(1, 1, 1, 1, 0, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    U = test_new(6 * mesh.vertex_count, 8);
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        U[3 * v] = U[3 * (mesh.vertex_count + v) + 1] = 1;
    CHECK_OK(sp_inertia_of_body(&context, &body, false, r, U, &inertia));

    CHECK_OK(sp_moving_frame_new(&context, &inertia, 1, along, &spin, true, (double[3]){0}, &none, &frame));
    sp_external_loads loads = sp_moving_frame_loads(&frame);
    loads.follow(loads.self, 0, 0.1, (double[]){0, 0}, (double[]){3, 0}, f);
    loads.follow(loads.self, 0, 0.1, (double[]){2, 0}, (double[]){0, 0}, g);
    CHECK_NEAR(f[0], 0, 1e-12 * inertia.mass);
    CHECK_NEAR(f[1], -2 * 0.5 * 3 * inertia.mass, 1e-12 * inertia.mass);
    CHECK_NEAR(g[0], 0.25 * 2 * inertia.mass, 1e-12 * inertia.mass); /* centrifugal: outward */
    CHECK_NEAR(g[1], 0, 1e-12 * inertia.mass);
    sp_moving_frame_free(&frame);

    CHECK_OK(sp_moving_frame_new(&context, &inertia, 2, along, &side, false, (double[]){0, 0, -9.81}, &none, &frame));
    loads = sp_moving_frame_loads(&frame);
    CHECK(!loads.follow, "a frame that does not turn");
    loads.mean(loads.self, 0, 0.1, f);
    CHECK_NEAR(f[0], 0, 1e-12 * inertia.mass);
    CHECK_NEAR(f[1], 2 * 9.81 * inertia.mass, 1e-11 * inertia.mass); /* R y = −z: down is y */
    sp_moving_frame_free(&frame);
}

/* A mass on two equal springs in the plane of a frame that spins: with z = x + iy, z'' + 2iω z' + (λ − ω²) z = 0, the
 * motion is exp(−iωt) times that of the springs at rest (Foucault's pendulum). Each scheme is of second order, and
 * Newmark and the energy step keep ½|z'|² + ½(λ − ω²)|z|², which the trapezoidal rule conserves. */
TEST(pendulum)
{
    enum { FOUCAULT_STEPS = 100 };
    const axis_path spin = {{0, 0, 1}, 0.8, 0, {0}, {0}, {1, 0, 0, 0}};
    const double lambda[2] = {9, 9}, w = spin.w, T = 4;
    const enum sp_integrator_kind kinds[3] = {SP_NEWMARK, SP_ENERGY, SP_BDF2};
    int64_t r = 2;
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    sp_inertia inertia;
    FREED_BY(sp_modal_system_free) sp_system system;
    double *U;

    make_box(1, 1, 1, 1, 0, &mesh);
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        for (int k = 0; k < 3; k++)
            mesh.vertices[3 * v + k] -= 0.5;
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_inertia_of_body(&context, &body, false, 0, NULL, &inertia));

    const double one = 1 / sqrt(inertia.mass); /* mass-normalized translations */
    sp_inertia_free(&inertia);
    U = test_new(6 * mesh.vertex_count, 8);
    for (int64_t v = 0; v < mesh.vertex_count; v++)
        U[3 * v] = U[3 * (mesh.vertex_count + v) + 1] = one;
    CHECK_OK(sp_inertia_of_body(&context, &body, false, r, U, &inertia));

    CHECK_OK(sp_modal_system_new(&context, r, lambda, &system));
    for (int k = 0; k < 3; k++) {
        double error[3];
        for (int level = 0; level < 3; level++) {
            const int64_t steps = FOUCAULT_STEPS << level;
            const sp_external_loads none = {.self = &r, .mean = no_force};
            OWNED(sp_moving_frame) frame;
            OWNED_POINTER(sp_integrator) *it;
            CHECK_OK(sp_moving_frame_new(&context, &inertia, 1, along, &spin, true, (double[3]){0}, &none, &frame));
            const sp_external_loads loads = sp_moving_frame_loads(&frame);
            const sp_integrator_parameters p = {
                .kind = kinds[k], .step = T / (double)steps, .beta = 0.25, .gamma = 0.5, .tolerance = 1e-14};
            CHECK_OK(sp_integrator_new(&context, &system, &loads, &p, (double[]){1, 0}, NULL, &it));
            for (int64_t step = 0; step < steps; step++)
                CHECK_OK(sp_integrator_step(it));

            /* in the world z = exp(iωt) (x + iy) starts with the velocity iω */
            const double *q = sp_integrator_q(it), *v = sp_integrator_v(it), c = cos(3 * T), s = w / 3 * sin(3 * T),
                         exact[2] = {cos(w * T) * c + sin(w * T) * s, cos(w * T) * s - sin(w * T) * c};
            error[level] = hypot(q[0] - exact[0], q[1] - exact[1]);
            const double energy = 0.5 * (v[0] * v[0] + v[1] * v[1] + (9 - w * w) * (q[0] * q[0] + q[1] * q[1]));
            if (kinds[k] != SP_BDF2)
                CHECK_NEAR(energy, 0.5 * (9 - w * w), 1e-10);
        }
        CHECK_ORDERS(error, 2, 0.2, 0.1, "scheme %d", (int)kinds[k]);
    }
    sp_inertia_free(&inertia);
}

static void follow_nothing(void *self, double t0, double t1, const double *q, const double *v, double *f)
{
    (void)q, (void)v;
    no_force(self, t0, t1, f);
}

TEST(refusals)
{
    int64_t r = 2;
    FREED_BY(sp_modal_system_free) sp_system system;
    const sp_external_loads loads = {.self = &r, .mean = no_force, .follow = follow_nothing};
    CHECK_OK(sp_modal_system_new(&context, r, (double[]){1, 2}, &system));
    const enum sp_integrator_kind kinds[2] = {SP_CENTRAL, SP_EXACT};
    const char *const messages[3] = {"central differences has no inertial forces of a rotating frame",
                                     "the exact step has no inertial forces of a rotating frame",
                                     "one semi-implicit iteration neglects inertial forces of a rotating frame"};
    for (int k = 0; k < 3; k++) {
        const sp_integrator_parameters p = {
            .kind = k < 2 ? kinds[k] : SP_NEWMARK, .step = 0.01, .beta = 0.25, .gamma = 0.5, .semi_implicit = k == 2};
        sp_integrator *it;
        CHECK(sp_integrator_new(&context, &system, &loads, &p, NULL, NULL, &it) == SP_USAGE &&
                  !strcmp(context.message, messages[k]),
              "%s", context.message);
    }
}
