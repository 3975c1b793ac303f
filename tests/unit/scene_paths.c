/* Scenes whose bodies follow paths or are pushed by the manipulandum: forces, frames, orders of convergence. */
#include "model/models.h"
#include "scene_models.h"

/* ---- prescribed bodies, and bodies that only deform ---- */

/* One coordinate: the body moves up by q, with mass 1 and stiffness k. */
static sp_system spring_system(double stiffness)
{
    const double mass = 1;
    sp_reduced_force force;
    sp_system system;
    CHECK_OK(sp_linear_force_new(&context, 1, &stiffness, &force));
    CHECK_OK(sp_reduced_system_new(&context, &force, &mass, NULL, 0, NULL, &system));
    return system;
}

/* The distance z in the frame of a body that moves up by q. */
typedef struct rising_field {
    sp_field grid;
    sp_mesh mesh;
    sp_deformed_field *deformed;
} rising_field;

static void make_rising_field(rising_field *f)
{
    double U[24] = {0};
    const double proxy[3] = {1, 1, 1};
    f->grid = (sp_field){.cells = {8, 8, 8}, .origin = {-2, -2, -2}, .spacing = 0.5};
    make_box(1, 1, 1, 4, 0, &f->mesh);
    f->grid.distance = sp_pool_new(&f->grid.pool, sp_field_vertices(&f->grid), sizeof(float));
    for (int64_t v = 0; v < sp_field_vertices(&f->grid); v++)
        f->grid.distance[v] = (float)(-2 + 0.5 * (double)(v / 81));
    for (int v = 0; v < 8; v++)
        U[3 * v + 2] = 1;
    const sp_deformed_domain domain = {.field = &f->grid, .count = 1, .points = proxy};
    CHECK_OK(sp_deformed_field_new(&context, &f->mesh, 1, U, 1, &domain, 1, &f->deformed));
}

static void rising_field_free(rising_field *f) /* as {0}, too */
{
    sp_deformed_field_free(f->deformed);
    sp_pool_free(&f->grid.pool);
    sp_mesh_free(&f->mesh);
}

/* A point on a spring in contact with a plane, under gravity: k_b u = k (d − u) − m g. Then a field that rises from a
 * distance until it meets a fixed point. */
TEST(springs_balance_contact)
{
    for (int kind = 0; kind < 2; kind++)
        for (int field = 0; field < 2; field++) {
            FREED_BY(sp_reduced_system_free) sp_system system = spring_system(300);
            OWNED(sp_contact_pointshell) point = moving_point(-0.05), still = one_point(0, 0, 0, UP);
            const sp_distance plane = plane_at(0);
            sp_contact_scene_parameters p = parameters_of(5e-3, 100);
            p.integrator.kind = kind ? SP_STATIC : SP_NEWMARK;
            p.gravity[2] = field ? 20 : -2;
            const double column[3] = {0, 0, 1}; /* UᵀM e_z of the mode */
            OWNED(rising_field) rising = {0};
            sp_distance distance = plane;
            if (field) {
                make_rising_field(&rising);
                distance = (sp_distance){.kind = SP_DISTANCE_DEFORMED, .deformed = rising.deformed};
            }
            sp_contact_scene_body bodies[2] = {
                {.motion = SP_CONTACT_SCENE_FIXED,
                 .pose = at_place(0, 0, 0),
                 .system = &system,
                 .gravity = column,
                 .r = 1,
                 .damping = {20, 0}},
                {.motion = SP_CONTACT_SCENE_FIXED, .pose = at_place(0, 0, field ? 0.02 : 0)}};
            bodies[field ? 1 : 0].pointshell = field ? &still : &point;
            bodies[field ? 0 : 1].distance = field ? &distance : &plane;
            bodies[0].deformed = rising.deformed;
            OWNED_POINTER(sp_contact_scene) *world =
                new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){field ? 1 : 0, field ? 0 : 1}, false);
            for (int i = 0; i < 1500; i++)
                CHECK_OK(sp_contact_scene_step(world));
            sp_pose pose;
            double twist[6], q, qdot, none[1];
            sp_contact_scene_body_now(world, 0, &pose, twist, &q, &qdot);
            CHECK_NEAR(q, (field ? 20 + 100 * 0.02 : 100 * 0.05 - 2) / (300 + 100), 1e-7);
            CHECK(fabs(qdot) < 1e-6 && length3(pose.x) == 0 && length3(twist) == 0, "it moves");
            sp_contact_scene_body_now(world, 1, &pose, twist, none, none);
            CHECK_NEAR(pose.x[2], field ? 0.02 : 0, 0);
        }
}

/* Downwards at 0.3 m/s from 0.01 m, rotating about the vertical. */
static sp_pose down_path(const void *data, double time, double velocity[6])
{
    const double speed = *(const double *)data;
    sp_pose pose = {{0, 0, 0.01 - speed * time}, {cos(time), 0, 0, sin(time)}};
    if (velocity) {
        memset(velocity, 0, 6 * sizeof *velocity);
        velocity[2] = -speed;
        velocity[5] = 2;
    }
    return pose;
}

TEST(paths_are_followed)
{
    const double speed = 0.3;
    OWNED(sp_contact_pointshell) point = one_point(0.1, 0, 0, UP);
    const sp_distance plane = plane_at(0);
    sp_contact_scene_parameters p = parameters_of(2e-3, 500);
    p.penalty.damping = 7;
    const sp_contact_scene_body bodies[2] = {
        {.motion = SP_CONTACT_SCENE_PATH, .path = down_path, .path_data = &speed, .pointshell = &point},
        {.motion = SP_CONTACT_SCENE_FIXED, .distance = &plane, .pose = at_place(0, 0, 0)}};
    OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
    for (int i = 0; i < 100; i++) {
        const double middle = ((double)i + 0.5) * p.step, depth = speed * middle - 0.01;
        const sp_contact_scene_contact *contact;
        sp_pose pose;
        double twist[6];
        CHECK_OK(sp_contact_scene_step(world));
        const int64_t n = sp_contact_scene_contacts(world, &contact);
        CHECK(n == (depth > 0), "%lld contacts at depth %g", (long long)n, depth);
        if (n) {
            CHECK_NEAR(contact->force[2], 500 * depth + 7 * speed, 1e-9);
            CHECK_NEAR(contact->at[0], 0.1 * cos(2 * middle), 1e-12);
            CHECK_NEAR(contact->at[1], 0.1 * sin(2 * middle), 1e-12);
            CHECK(contact->body[0] == 0 && contact->body[1] == 1 && contact->point == 0, "whose");
            CHECK_NEAR(sp_contact_scene_wrench(world, 0)[3], contact->at[1] * contact->force[2], 1e-9);
        }
        sp_contact_scene_body_now(world, 0, &pose, twist, NULL, NULL);
        CHECK_NEAR(pose.x[2], 0.01 - speed * sp_contact_scene_time(world), 1e-14);
        CHECK_NEAR(twist[2], -speed, 0);
        CHECK_NEAR(twist[5], 2, 0);
    }
    CHECK_NEAR(sp_contact_scene_time(world), 0.2, 1e-12);
}

/* ---- virtual coupling ---- */

typedef struct hand {
    double to[3], begin; /* jumps there at `begin` s */
} hand;

static sp_pose hand_path(const void *data, double time, double velocity[6])
{
    const hand *h = data;
    sp_pose pose = sp_pose_identity();
    for (int k = 0; k < 3; k++)
        pose.x[k] = time >= h->begin ? h->to[k] : k == 2 ? 0.5 : 0;
    if (velocity)
        memset(velocity, 0, 6 * sizeof *velocity);
    return pose;
}

static sp_coupling_parameters coupling_of(double stiffness, double saturation)
{
    return (sp_coupling_parameters){.stiffness = stiffness,
                                    .torque_stiffness = 10,
                                    .saturation = saturation,
                                    .torque_saturation = INFINITY,
                                    .static_damping = 0.5,
                                    .speed = 5,
                                    .angular_speed = 50,
                                    .threshold = 1e-3,
                                    .length = 0.1,
                                    .damping = 20,
                                    .torque_damping = 2};
}

/* Four points under a plate that the hand moves far below the plane: no deeper than the saturated force allows, F/(4 k)
 * each, and exactly that deep at the end. */
TEST(saturation_bounds_penetration)
{
    for (int dynamic = 0; dynamic < 2; dynamic++)
        for (int field_side = 0; field_side < 2; field_side++) {
            const double corners[12] = {0.2, 0.2, 0, -0.2, 0.2, 0, -0.2, -0.2, 0, 0.2, -0.2, 0}, most = 40,
                         stiffness = 1000;
            sp_pointshell four = {.count = 4, .levels = 1, .cumulative = {4}};
            four.points = sp_pool_copy(&four.pool, corners, 12, 8);
            four.normals = sp_pool_new(&four.pool, 12, 8);
            four.area = sp_pool_new(&four.pool, 4, 8);
            four.parent = sp_pool_new(&four.pool, 4, 8);
            four.radius = sp_pool_new(&four.pool, 0, 8);
            for (int i = 0; i < 4; i++)
                four.normals[3 * i + 2] = field_side ? -1 : 1;
            OWNED(sp_contact_pointshell) pointshell = contact_shell(&four);
            /* the held body has the points, or the face that comes down on them */
            const sp_distance plane =
                field_side ? (sp_distance){.kind = SP_DISTANCE_PLANE, .normal = {0, 0, -1}} : plane_at(0);
            OWNED(sp_inertia) inertia = ball_inertia(1, 0.2, NONE);
            const hand h = {.to = {0, 0, -0.5}, .begin = 0.1};
            sp_contact_scene_parameters p = parameters_of(1e-3, stiffness);
            p.coupling = (sp_contact_scene_coupling){.body = 0,
                                                     .dynamic = dynamic,
                                                     .grasp = {0, 0, 0.1},
                                                     .path = hand_path,
                                                     .path_data = &h,
                                                     .parameters = coupling_of(500, most),
                                                     .device_force = 10,
                                                     .device_torque = 1};
            sp_contact_scene_body bodies[2] = {
                {.motion = SP_CONTACT_SCENE_COUPLED, .pose = at_place(0, 0, 0.4), .inertia = &inertia},
                {.motion = SP_CONTACT_SCENE_FIXED, .pose = at_place(0, 0, 0)}};
            bodies[field_side].pointshell = &pointshell;
            bodies[!field_side].distance = &plane;
            OWNED_POINTER(sp_contact_scene) *world =
                new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){field_side, !field_side}, false);
            double deepest = 0, twist[6], wrench[6], device[6], r = 0, f = 0;
            sp_pose pose, now;
            for (int i = 0; i < 3000; i++) {
                CHECK_OK(sp_contact_scene_step(world));
                sp_contact_scene_body_now(world, 0, &pose, twist, NULL, NULL);
                if (i > (dynamic ? 1000 : 200))
                    deepest = fmax(deepest, -pose.x[2]);
            }
            sp_contact_scene_coupled(world, &now, wrench, device);
            /* eq. 4.40 at the hand's distance */
            r = 0.1 + pose.x[2] + 0.5;
            f = most * (1 - 0.5 * exp(-2 * 500 * (r - most / 1000) / most));
            CHECK_NEAR(-wrench[2], f, 1e-6 * most);
            CHECK_NEAR(-pose.x[2], f / (4 * stiffness), 2e-5);
            CHECK(deepest < 1.01 * most / (4 * stiffness), "%d, %d: %g m deep", dynamic, field_side, deepest);
            CHECK(fabs(pose.q[0]) > 1 - 1e-5, "turned");
            CHECK_NEAR(length3(device), 10, 1e-9);
            CHECK_NEAR(sp_contact_scene_wrench(world, 0)[2], f, 1e-2 * most);
            NOTE("%s, %s in hand: %.4f m deep of at most %.4f", dynamic ? "dynamic" : "static",
                 field_side ? "plane" : "points", -pose.x[2], most / (4 * stiffness));
        }
}

static sp_pose press_path(const void *data, double time, double velocity[6])
{
    const double speed = *(const double *)data;
    if (velocity) {
        memset(velocity, 0, 6 * sizeof *velocity);
        velocity[2] = -speed;
    }
    return at_place(0, 0, 0.01 - speed * time);
}

/* A plate that the hand presses slowly on a point feels no stiffer than the coupling, and as stiff as it and the
 * contact in series: 1/(1/k + 1/k_VC) (thesis, eq. 4.32). This is a statement on equilibria: it reaches the points in
 * cycle 500, and in the first cycle of contact the plate, which went in too far, also moves back against the hand. */
TEST(stiffness_is_that_of_the_coupling_at_most)
{
    const double speed = 0.02, coupling = 500, step = 1e-3;
    for (int level = 0; level < 3; level++) {
        const double contact = 100 * pow(100, level); /* soft, stiff, and 2000 times the coupling */
        const sp_distance plane = {.kind = SP_DISTANCE_PLANE, .normal = {0, 0, -1}};
        OWNED(sp_contact_pointshell) point = one_point(0, 0, 0, (double[3]){0, 0, -1});
        OWNED(sp_inertia) inertia = ball_inertia(1, 0.2, NONE);
        sp_contact_scene_parameters p = parameters_of(step, contact);
        p.coupling = (sp_contact_scene_coupling){.body = 0,
                                                 .path = press_path,
                                                 .path_data = &speed,
                                                 .parameters = coupling_of(coupling, 1e6),
                                                 .device_force = 1e6,
                                                 .device_torque = 1e6};
        const sp_contact_scene_body bodies[2] = {
            {.motion = SP_CONTACT_SCENE_COUPLED, .pose = at_place(0, 0, 0.01), .inertia = &inertia, .distance = &plane},
            {.motion = SP_CONTACT_SCENE_FIXED, .pose = at_place(0, 0, 0), .pointshell = &point}};
        OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){1, 0}, false);
        double most = 0, felt = 0, before = 0;
        for (int i = 0; i < 1500; i++) {
            sp_pose at;
            double wrench[6], device[6];
            CHECK_OK(sp_contact_scene_step(world));
            sp_contact_scene_coupled(world, &at, wrench, device);
            felt = (device[2] - before) / (speed * step);
            before = device[2];
            if (i >= 600)
                most = fmax(most, fabs(felt));
        }
        NOTE("contact of %g N/m behind a coupling of %g N/m: %.6g N/m at most, %.6g N/m at last", contact, coupling,
             most, felt);
        CHECK(most <= coupling * (1 + 1e-9), "%g N/m", most);
        CHECK_NEAR(felt, 1 / (1 / contact + 1 / coupling), 1e-4 * coupling);
    }
}

/* Against a sphere of a free body: both feel the force, and the held body stops where the saturated force and the
 * inertia of the sphere balance. The momentum of the sphere is the impulse that it received. */
TEST(hand_feels_balls)
{
    for (int dynamic = 0; dynamic < 2; dynamic++) {
        OWNED(sp_contact_pointshell) point = one_point(0, 0, 0, UP);
        OWNED(sp_inertia) inertia = ball_inertia(1, 0.2, NONE);
        const hand h = {.to = {0, 0, -0.5}, .begin = 0.1};
        sp_contact_scene_parameters p = parameters_of(1e-3, 1000);
        p.coupling = (sp_contact_scene_coupling){.body = 0,
                                                 .dynamic = dynamic,
                                                 .path = hand_path,
                                                 .path_data = &h,
                                                 .parameters = coupling_of(500, 40),
                                                 .device_force = 10,
                                                 .device_torque = 1};
        const sp_contact_scene_body bodies[2] = {
            {.motion = SP_CONTACT_SCENE_COUPLED,
             .pose = at_place(0, 0, 0.5),
             .inertia = &inertia,
             .pointshell = &point,
             .thickness = 0.1},
            {.motion = SP_CONTACT_SCENE_FIXED, .pose = at_place(0, 0, 0), .pointshell = &point, .thickness = 0.1}};
        OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 0, NULL, true);
        double twist[6], wrench[6], device[6];
        sp_pose pose, now;
        for (int i = 0; i < 3000; i++)
            CHECK_OK(sp_contact_scene_step(world));
        sp_contact_scene_body_now(world, 0, &pose, twist, NULL, NULL);
        sp_contact_scene_coupled(world, &now, wrench, device);
        CHECK_NEAR(0.2 - pose.x[2], -wrench[2] / 1000, 1e-5);
        CHECK(pose.x[2] > 0.2 - 0.04 - 1e-6, "%g: through the ball", pose.x[2]);
        CHECK_NEAR(sp_contact_scene_wrench(world, 0)[2] + wrench[2], 0, 1e-2);
    }
}

/* At this place, upside down or not. */
typedef struct grip {
    double height;
    bool turned;
} grip;

static sp_pose grip_path(const void *data, double time, double velocity[6])
{
    const grip *g = data;
    (void)time;
    if (velocity)
        memset(velocity, 0, 6 * sizeof *velocity);
    return (sp_pose){{0, 0, g->height}, {!g->turned, g->turned, 0, 0}};
}

/* A body with one elastic coordinate (k_b = 300 N/m, m = 1 kg) is pressed against an obstacle: three springs in series,
 * of the hand, the body and the contact. Gravity acts on the deformation, and on the body as a whole only with dynamic
 * coupling. */
TEST(hands_hold_soft_bodies)
{
    const double gravity = -2, hand_stiffness = 500, contact_stiffness = 1000;
    for (int kind = 0; kind < 6; kind++) {
        const bool dynamic = kind % 2, turned = kind / 2 == 1, field = kind / 2 == 2;
        const double column[3] = {0, 0, 1}, side = field ? 1 : -1;
        const grip prescribe = {side * 0.06, turned};
        FREED_BY(sp_reduced_system_free) sp_system system = spring_system(300);
        OWNED(sp_contact_pointshell) point = moving_point(0), still = one_point(0, 0, 0, UP);
        if (turned)
            point.normals[2] = -1;
        OWNED(sp_inertia) inertia = ball_inertia(1, 0.2, NONE);
        OWNED(rising_field) rising = {0};
        sp_distance distance = plane_at(0);
        if (field) {
            make_rising_field(&rising);
            distance = (sp_distance){.kind = SP_DISTANCE_DEFORMED, .deformed = rising.deformed};
        }
        sp_contact_scene_parameters p = parameters_of(1e-3, contact_stiffness);
        p.gravity[2] = gravity;
        p.integrator.kind = SP_NEWMARK;
        p.coupling = (sp_contact_scene_coupling){.body = 0,
                                                 .dynamic = dynamic,
                                                 .path = grip_path,
                                                 .path_data = &prescribe,
                                                 .parameters = coupling_of(hand_stiffness, 1000),
                                                 .device_force = 1000,
                                                 .device_torque = 1};
        sp_contact_scene_body bodies[2] = {{.motion = SP_CONTACT_SCENE_COUPLED,
                                            .pose = grip_path(&(grip){-side * 0.02, turned}, 0, NULL),
                                            .inertia = &inertia,
                                            .system = &system,
                                            .gravity = column,
                                            .r = 1,
                                            .damping = {20, 0},
                                            .deformed = rising.deformed},
                                           {.motion = SP_CONTACT_SCENE_FIXED, .pose = at_place(0, 0, 0)}};
        bodies[field ? 1 : 0].pointshell = field ? &still : &point;
        bodies[field ? 0 : 1].distance = &distance;
        OWNED_POINTER(sp_contact_scene) *world =
            new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){field ? 1 : 0, field ? 0 : 1}, false);
        for (int i = 0; i < 4000; i++)
            CHECK_OK(sp_contact_scene_step(world));
        const double give = 1 / hand_stiffness + 1.0 / 300 + 1 / contact_stiffness,
                     weight = dynamic ? side * gravity / hand_stiffness : 0;
        const double force = (0.06 + weight + side * gravity / 300) / give; /* the force that presses the body */
        sp_pose pose, now;
        double twist[6], q, qdot, wrench[6], device[6];
        sp_contact_scene_body_now(world, 0, &pose, twist, &q, &qdot);
        sp_contact_scene_coupled(world, &now, wrench, device);
        CHECK_NEAR(q, (turned ? -1 : 1) * (gravity - side * force) / 300, 1e-6);
        CHECK_NEAR(sp_contact_scene_wrench(world, 0)[2], -side * force, 1e-3);
        CHECK_NEAR(wrench[2], side * force - (dynamic ? gravity : 0), 1e-3);
        CHECK_NEAR(pose.x[2], side * (0.06 - (force - (dynamic ? side * gravity : 0)) / hand_stiffness), 1e-6);
        CHECK(fabs(qdot) < 1e-6 && length3(twist) < 1e-5, "it moves");
        double energy[3];
        sp_contact_scene_energies(world, energy);
        CHECK_NEAR(energy[1], 0.5 * 300 * q * q, 1e-6);
        CHECK_NEAR(energy[2], -gravity * (turned ? -q : q), 1e-9);
    }
}

/* ---- the order of a step with contact ---- */

/* A plate that rises and falls below a point on springs, and moves sideways as a belt. */
typedef struct plate {
    double height, depth; /* m: of its motion, and how far the point is in it at first */
    double damping, friction;
    enum sp_integrator_kind kind;
    bool semi_implicit;
} plate;

enum { BOUNCE_TIMES = 200 };
static const double BOUNCE_END = 0.4, CONTACT_STIFFNESS = 3000, SPRING[2] = {200, 4000}, PLATE_RATE = 30, BELT = 0.03;

static sp_pose plate_path(const void *data, double time, double velocity[6])
{
    const plate *p = data;
    const double phase = PLATE_RATE * time;
    if (velocity) {
        memset(velocity, 0, 6 * sizeof *velocity);
        velocity[0] = BELT * PLATE_RATE * sin(phase);
        velocity[2] = p->height * PLATE_RATE * sin(phase);
    }
    return at_place(BELT * (1 - cos(phase)), 0, p->depth + p->height * (1 - cos(phase)));
}

/* Normal and tangential force on the point at (x, z) with the velocity (vx, vz): a penalty force, and a spring with a
 * damper that slips at μ times it. */
static void plate_force(const plate *p, double time, const double x[2], const double v[2], double *anchor,
                        bool *touching, double F[2])
{
    double velocity[6];
    const sp_pose pose = plate_path(p, time, velocity);
    const double depth = pose.x[2] - x[1], slid = x[0] - pose.x[0];
    F[0] = F[1] = 0;
    if (depth > 0) {
        F[1] = fmax(0, CONTACT_STIFFNESS * depth - p->damping * (v[1] - velocity[2]));
        const double most = p->friction * F[1], longest = most / CONTACT_STIFFNESS;
        *anchor = *touching ? fmin(fmax(*anchor, slid - longest), slid + longest) : slid;
        F[0] = -CONTACT_STIFFNESS * (slid - *anchor) - p->damping * (v[0] - velocity[0]);
        F[0] = fmin(fmax(F[0], -most), most);
    }
    *touching = depth > 0;
}

/* The energy over time by steps of 1 µs: forces in the middle of each, with a mass of 1 kg. */
static void bounce_finely(const plate *p, double energy[BOUNCE_TIMES])
{
    const int parts = 2000;
    const double h = BOUNCE_END / BOUNCE_TIMES / parts;
    double x[2] = {0, 0}, v[2] = {0, 0}, a[2] = {0, 0}, anchor = 0;
    bool touching = false;
    for (int64_t i = 0; i < (int64_t)parts * BOUNCE_TIMES; i++) {
        const double middle[2] = {x[0] + 0.5 * h * v[0], x[1] + 0.5 * h * v[1]},
                     rate[2] = {v[0] + 0.5 * h * a[0], v[1] + 0.5 * h * a[1]};
        plate_force(p, ((double)i + 0.5) * h, middle, rate, &anchor, &touching, a);
        for (int k = 0; k < 2; k++) {
            a[k] -= SPRING[k] * middle[k];
            x[k] += h * (v[k] + 0.5 * h * a[k]);
            v[k] += h * a[k];
        }
        if ((i + 1) % parts == 0)
            energy[i / parts] = 0.5 * (v[0] * v[0] + v[1] * v[1] + SPRING[0] * x[0] * x[0] + SPRING[1] * x[1] * x[1]);
    }
}

/* The root mean square over time of the error of the energy, J. */
static double bounce_error_of(const plate *b, double step, const double fine[BOUNCE_TIMES])
{
    const double K[4] = {SPRING[0], 0, 0, SPRING[1]}, M[4] = {1, 0, 0, 1};
    const int parts = (int)round(BOUNCE_END / BOUNCE_TIMES / step);
    const sp_distance plane = plane_at(0);
    sp_reduced_force force;
    FREED_BY(sp_reduced_system_free) sp_system system;
    sp_pointshell points = point_shell(NONE, UP);
    points.modes = 2;
    points.U = sp_pool_new(&points.pool, 6, sizeof(double));
    points.dN = sp_pool_new(&points.pool, 6, sizeof(double));
    points.U[0] = points.U[5] = 1; /* q₀ moves the point along x, q₁ along z */
    CHECK_OK(sp_pointshell_bounds(&context, &points));
    OWNED(sp_contact_pointshell) point = contact_shell(&points);
    CHECK_OK(sp_linear_force_new(&context, 2, K, &force));
    CHECK_OK(sp_reduced_system_new(&context, &force, M, NULL, 0, NULL, &system));
    sp_contact_scene_parameters p = parameters_of(step, CONTACT_STIFFNESS);
    p.penalty.direction = SP_PENALTY_BY_GEOMETRY;
    p.penalty.damping = b->damping;
    p.friction = b->friction;
    p.integrator.kind = b->kind;
    p.integrator.semi_implicit = b->semi_implicit;
    const sp_contact_scene_body bodies[2] = {
        {.motion = SP_CONTACT_SCENE_FIXED, .pose = at_place(0, 0, 0), .pointshell = &point, .system = &system, .r = 2},
        {.motion = SP_CONTACT_SCENE_PATH, .path = plate_path, .path_data = b, .distance = &plane}};
    OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
    double square = 0;
    int touching = 0;
    for (int i = 0; i < BOUNCE_TIMES; i++) {
        for (int k = 0; k < parts; k++)
            CHECK_OK(sp_contact_scene_step(world));
        touching += sp_contact_scene_reported(world)->touching > 0;
        square += pow(total_energy(world) - fine[i], 2) / BOUNCE_TIMES;
    }
    CHECK(b->depth > 0 ? touching == BOUNCE_TIMES : touching > 20 && touching < BOUNCE_TIMES - 20,
          "it touches at %d of %d times", touching, BOUNCE_TIMES);
    return sqrt(square);
}

/* Bodies that are not free have contact forces of second order: a point that a plate throws up, and, since dampers and
 * springs of friction that begin to act within a step are of first order, one that stays on the plate. */
TEST(contact_of_second_order)
{
    static const plate kinds[] = {{.height = 0.03, .depth = -0.02},
                                  {.height = 0.03, .depth = -0.02, .semi_implicit = true},
                                  {.height = 0.03, .depth = -0.02, .kind = SP_ENERGY},
                                  {.height = 0.002, .depth = 0.02, .damping = 10},
                                  {.height = 0.002, .depth = 0.02, .friction = 0.4},
                                  {.height = 0.002, .depth = 0.02, .damping = 10, .friction = 0.4},
                                  {.height = 0.002, .depth = 0.02, .damping = 10, .friction = 0.4, .kind = SP_ENERGY}};
    double fine[BOUNCE_TIMES] = {0}, error[4];
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        bounce_finely(&kinds[i], fine);
        for (int level = 0; level < 4; level++)
            error[level] = bounce_error_of(&kinds[i], 1e-3 / (1 << level), fine);
        const double slope = log2(error[0] / error[3]) / 3; /* forces begin and slip at other times of each step */
        NOTE("%s, %s, damping %g, friction %g: errors %.2e %.2e %.2e %.2e J, slope %.2f",
             kinds[i].kind == SP_ENERGY ? "energy" : "Newmark", kinds[i].depth > 0 ? "pressed" : "thrown",
             kinds[i].damping, kinds[i].friction, error[0], error[1], error[2], error[3], slope);
        CHECK(slope > 1.8 && slope < 2.2, "slope %g", slope);
    }
}

/* A body that its weight begins to bend at t = 0: q = (g/k) (1 − cos √k t), to second order in the step. */
TEST(weights_act_from_the_start)
{
    const double stiffness = 300, column[3] = {0, 0, 1}, end = 0.2;
    double error[3];
    for (int level = 0; level < 3; level++) {
        const double h = 2e-3 / (1 << level);
        FREED_BY(sp_reduced_system_free) sp_system system = spring_system(stiffness);
        sp_contact_scene_parameters p = parameters_of(h, 100);
        p.gravity[2] = -GRAVITY;
        const sp_contact_scene_body body = {
            .motion = SP_CONTACT_SCENE_FIXED, .pose = at_place(0, 0, 0), .system = &system, .gravity = column, .r = 1};
        OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 1, &body, 0, NULL, false);
        for (int i = 0; i < (int)round(end / h); i++)
            CHECK_OK(sp_contact_scene_step(world));
        error[level] = fabs(*sp_contact_scene_q(world, 0) + GRAVITY / stiffness * (1 - cos(sqrt(stiffness) * end)));
    }
    CHECK_ORDERS(error, 2, 0.05, 0.05, "deflection by the weight");
}

/* Bodies on a prescribed path deform too: a point that is moved into a plane lags behind by the deflection of its
 * spring. */
TEST(soft_bodies_follow_paths)
{
    const double speed = 0.01, slight = 1e-9, column[3] = {1, 0, 1};
    FREED_BY(sp_reduced_system_free) sp_system system = spring_system(300);
    OWNED(sp_contact_pointshell) point = moving_point(0);
    const sp_distance plane = plane_at(0);
    sp_contact_scene_parameters p = parameters_of(1e-3, 1000);
    p.gravity[0] = slight; /* no force on the coordinate, but an energy that depends on the orientation */
    p.integrator.kind = SP_NEWMARK;
    const sp_contact_scene_body bodies[2] = {
        {.motion = SP_CONTACT_SCENE_PATH,
         .path = down_path,
         .path_data = &speed,
         .pointshell = &point,
         .system = &system,
         .gravity = column,
         .r = 1,
         .damping = {50, 0}},
        {.motion = SP_CONTACT_SCENE_FIXED, .distance = &plane, .pose = at_place(0, 0, 0)}};
    OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
    for (int i = 0; i < 3000; i++)
        CHECK_OK(sp_contact_scene_step(world));
    sp_pose pose;
    double twist[6], q, qdot;
    sp_contact_scene_body_now(world, 0, &pose, twist, &q, &qdot);
    CHECK_NEAR(pose.x[2], 0.01 - speed * 3, 1e-14);
    CHECK_NEAR(qdot, speed * 1000 / 1300,
               1e-6); /* both springs deflect at the same rate; damping makes the first one lag */
    CHECK_NEAR(1000 * (-pose.x[2] - q), 300 * q + 50 * qdot, 1e-6); /* contact is not late */
    double energy[3];
    sp_contact_scene_energies(world, energy);
    CHECK_NEAR(energy[2] / slight, -q * cos(2 * 3), 1e-12);
}

/* ---- bodies that feel the inertial forces of their frames ---- */

/* A frame that accelerates from rest and spins about x + y at a constant rate. */
typedef struct lift {
    double from[3], acceleration[3], rate; /* m, m/s², rad/s */
} lift;

static sp_pose lift_path(const void *data, double time, double velocity[6])
{
    const lift *l = data;
    const double spin[3] = {l->rate * M_SQRT1_2, l->rate * M_SQRT1_2, 0};
    double turn[3];
    sp_pose pose;
    for (int k = 0; k < 3; k++) {
        pose.x[k] = l->from[k] + 0.5 * l->acceleration[k] * time * time;
        turn[k] = spin[k] * time;
    }
    sp_quaternion_from_vector(turn, pose.q);
    for (int k = 0; k < 3 && velocity; k++) {
        velocity[k] = l->acceleration[k] * time;
        velocity[3 + k] = spin[k];
    }
    return pose;
}

/* A ball that meets the bar in a frame. */
typedef struct lift_scene {
    sp_inertia inertia;
    sp_distance sphere;
    sp_system system;
    double column[3 * BAR];
    sp_free_body *ball;
    sp_contact_scene_body bodies[2];
    sp_contact_scene *scene;
    int touching;
} lift_scene;

static void begin_lift(const lift *path, enum sp_integrator_kind kind, const double gravity[3], double step,
                       lift_scene *s)
{
    double M[BAR * BAR];
    sp_reduced_force force;
    sp_contact_scene_parameters p = parameters_of(step, 200);
    memcpy(p.gravity, gravity, sizeof p.gravity);
    p.penalty.direction = SP_PENALTY_BY_GEOMETRY;
    p.integrator.kind = kind;
    *s = (lift_scene){.inertia = ball_inertia(2.1, 0.3, NONE), .sphere = {.kind = SP_DISTANCE_SPHERE, .radius = 0.3}};
    for (int i = 0; i < BAR; i++)
        for (int k = 0; k < 3; k++)
            s->column[3 * i + k] = model.inertia.mass * model.inertia.mean[k * BAR + i];
    for (int i = 0; i < BAR * BAR; i++) {
        M[i] = model.inertia.M[i];
        for (int k = 0; k < 3; k++) /* the inertia is about the centre of mass */
            M[i] += s->column[3 * (i / BAR) + k] * model.inertia.mean[k * BAR + i % BAR];
    }
    CHECK_OK(sp_linear_force_new(&context, BAR, model.K, &force));
    CHECK_OK(sp_reduced_system_new(&context, &force, M, NULL, 0, NULL, &s->system));
    s->ball = rigid(&s->inertia, step);
    const sp_pose pose = at_place(0.2, 0.05, 0.55);
    sp_free_body_place(s->ball, &pose, (double[3]){-0.3, 0.1, -1.5}, NONE, NULL, NULL);
    s->bodies[0] = (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_PATH,
                                           .path = lift_path,
                                           .path_data = path,
                                           .pointshell = &model.pointshell,
                                           .system = &s->system,
                                           .gravity = s->column,
                                           .frame_inertia = &model.inertia,
                                           .frame_scale = 1,
                                           .r = BAR};
    s->bodies[1] = (sp_contact_scene_body){
        .motion = SP_CONTACT_SCENE_FREE, .distance = &s->sphere, .free = s->ball, .inertia = &s->inertia};
    s->scene = new_world(&p, 2, s->bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
}

static void step_lift(lift_scene *s)
{
    CHECK_OK(sp_contact_scene_step(s->scene));
    s->touching += sp_contact_scene_reported(s->scene)->touching > 0;
}

static void end_lift(lift_scene *s)
{
    sp_contact_scene_free(s->scene);
    sp_free_body_free(s->ball);
    sp_reduced_system_free(&s->system);
    sp_inertia_free(&s->inertia);
}

/* An accelerated frame without gravity is a frame at rest under gravity. Contact is found half a step ahead: the ball
 * is predicted there without its fall, g h²/8 too high, in the frame at rest only, which therefore starts lower. */
TEST(lifts_are_weights)
{
    const double g[3] = {1, -2, -9}, h = 1e-3;
    lift path = {.acceleration = {-g[0], -g[1], -g[2]}}, still = {.rate = 0};
    lift_scene moving, weighed;
    double worst = 0, bend = 0;
    for (int k = 0; k < 3; k++)
        still.from[k] = -g[k] * h * h / 8;
    begin_lift(&path, SP_NEWMARK, NONE, h, &moving);
    begin_lift(&still, SP_NEWMARK, g, h, &weighed);
    for (int i = 1; i <= 400; i++) {
        const double t = i * h;
        step_lift(&moving);
        step_lift(&weighed);
        for (int j = 0; j < BAR; j++) {
            const double q = sp_contact_scene_q(moving.scene, 0)[j];
            worst = fmax(worst, fabs(q - sp_contact_scene_q(weighed.scene, 0)[j]));
            bend = fmax(bend, fabs(q));
        }
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(sp_free_body_state(moving.ball)->c[k] + 0.5 * g[k] * t * t -
                                     sp_free_body_state(weighed.ball)->c[k]));
    }
    NOTE("%d steps in contact, coordinates of up to %.2g, difference %.1e", moving.touching, bend, worst);
    CHECK(moving.touching > 20 && moving.touching == weighed.touching && bend > 0.01, "they touch in %d and %d steps",
          moving.touching, weighed.touching);
    CHECK(worst < 1e-11, "%g", worst);
    end_lift(&moving);
    end_lift(&weighed);
}

/* The ball gains the momentum that the bar loses, and all energy is the work of the path. Writes the errors of the
 * energy for three steps. */
static void exchange(enum sp_integrator_kind kind, double error[3])
{
    const lift path = {.acceleration = {0.5, -1, 4}, .rate = 2};
    const double g[3] = {0, 1, -9.81};
    for (int level = 0; level < 3; level++) {
        const double h = 1e-3 / (1 << level);
        lift_scene s;
        double momentum[3], angular[3], work = 0, drift = 0, pushed = 0;
        begin_lift(&path, kind, g, h, &s);
        sp_free_body_momenta(s.ball, momentum, angular);
        const double before = total_energy(s.scene);
        for (int i = 0; i < 400 << level; i++) {
            double now[3];
            step_lift(&s);
            work += sp_contact_scene_reported(s.scene)->path_work;
            sp_free_body_momenta(s.ball, now, angular);
            for (int k = 0; k < 3; k++) {
                const double push = sp_contact_scene_wrench(s.scene, 0)[k];
                momentum[k] += h * (s.inertia.mass * g[k] - push);
                drift = fmax(drift, fabs(now[k] - momentum[k]));
                pushed += fabs(push) * h;
            }
        }
        error[level] = fabs(total_energy(s.scene) - before - work);
        NOTE("step %g s: %d steps in contact, work %.3g J, energy off by %.1e J, momentum by %.1e of %.2g N s", h,
             s.touching, work, error[level], drift, pushed);
        CHECK(s.touching > 20 && sp_contact_scene_reported(s.scene)->touching == 0 && fabs(work) > 1,
              "%d steps in contact, work %g", s.touching, work);
        CHECK(drift < 1e-12 * pushed, "%g of %g", drift, pushed);
        end_lift(&s);
    }
}

/* In a frame that spins and speeds up under gravity. */
TEST(frames_exchange_what_they_should)
{
    double error[3];
    exchange(SP_ENERGY, error);
    double slope = log2(error[0] / error[2]) / 2; /* points come into contact at other times of each step */
    CHECK(slope > 1.7 && error[2] < 1e-4, "conserving step: slope %g, %g J", slope, error[2]);
    exchange(SP_NEWMARK, error);
    slope = log2(error[0] / error[2]) / 2;
    CHECK(slope > 1.7 && error[2] < 1e-3, "Newmark: slope %g, %g J", slope, error[2]);
}

/* Random jumps and rotations, sometimes far away from all bodies. */
static sp_pose wild_path(const void *data, double time, double velocity[6])
{
    const uint64_t i = (uint64_t)llround(time * 1000), seed = *(const uint64_t *)data;
    sp_pose pose = sp_pose_identity();
    random_rotation(50 + seed, i, pose.q);
    const double size = i % 17 == 3 ? 1e12 : i % 23 == 4 ? 1e60 : i % 31 == 7 ? 1e150 : i % 3 ? 0.5 : 100;
    for (int k = 0; k < 3; k++)
        pose.x[k] = size * random_in(60 + seed, 3 * i + (uint64_t)k, -1, 1);
    for (int k = 0; k < 6 && velocity; k++)
        velocity[k] = size * random_in(70 + seed, 6 * i + (uint64_t)k, -1, 1);
    return pose;
}

TEST(wild_hands)
{
    sp_distance grid;
    sp_distance_of_field(&ring_field, &grid);
    OWNED(sp_inertia) inertia = ball_inertia(1, 0.3, NONE);
    int64_t refused = 0, steps = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
        sp_contact_scene_parameters p = parameters_of(1e-3, 1e4);
        p.penalty.limit = 10;
        p.coupling = (sp_contact_scene_coupling){.body = 0,
                                                 .dynamic = seed & 1,
                                                 .normals = seed & 4,
                                                 .grasp = {0.1, 0, 0},
                                                 .path = wild_path,
                                                 .path_data = &seed,
                                                 .parameters = coupling_of(500, seed & 2 ? 40 : INFINITY),
                                                 .device_force = 10,
                                                 .device_torque = 1};
        if (seed & 4)
            p.coupling.parameters.speed = p.coupling.parameters.angular_speed = INFINITY;
        const sp_contact_scene_body bodies[2] = {
            {.name = "hand",
             .motion = SP_CONTACT_SCENE_COUPLED,
             .pose = at_place(0, 0, 0.5),
             .inertia = &inertia,
             .pointshell = &ring},
            {.motion = SP_CONTACT_SCENE_FIXED, .pose = at_place(0, 0, 0), .distance = &grid}};
        OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
        for (int i = 0; i < 400; i++) {
            const int status = sp_contact_scene_step(world);
            sp_pose pose, now;
            double twist[6], wrench[6], device[6], sum = 0;
            CHECK(status == SP_OK || status == SP_NUMERICAL, "status %d", status);
            CHECK(status == SP_OK ||
                      (!strncmp(context.message, "body 0 (hand) could not", 23) && !strchr(context.message, '\n')),
                  "%s", context.message);
            refused += status != SP_OK;
            steps++;
            sp_contact_scene_body_now(world, 0, &pose, twist, NULL, NULL);
            sp_contact_scene_coupled(world, &now, wrench, device);
            for (int k = 0; k < 3; k++)
                sum += fabs(pose.x[k]) + fabs(twist[k]) + fabs(twist[3 + k]) + fabs(wrench[k]) + fabs(wrench[3 + k]) +
                       fabs(device[k]) + fabs(device[3 + k]);
            CHECK(isfinite(sum) && fabs(pose.q[0]) <= 1.0001, "step %d of hand %d: not finite", i, (int)seed);
            if (status != SP_OK)
                break;
        }
    }
    NOTE("%lld of %lld steps refused", (long long)refused, (long long)steps);
    CHECK(steps > 1600, "only %lld steps", (long long)steps);
}
