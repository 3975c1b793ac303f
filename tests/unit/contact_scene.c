/* Scenes: bodies that collide, rest, or are pushed by the manipulandum; momenta, energy, edge cases, threads. */
#include "allocations.h"
#include "assembly/fe_space.h"
#include "bodies.h"
#include "contact_models.h"
#include "model/models.h"
#include "reduced/linear.h"
#include "scene/scene.h"
#include "scene/stiffness.h"

#include <lapacke.h>

OWNER(sp_contact_scene)
OWNER(sp_deformed_field)
OWNER(sp_free_body)
OWNER(sp_voxmap)

static const double NONE[3] = {0, 0, 0}, UP[3] = {0, 0, 1};
static const double GRAVITY = 9.81;

/* ---- a deformable bar 0.8 × 0.4 × 0.4 m about the origin, with a basis without rigid motions ---- */

enum { BAR = 6 };

typedef struct bar {
    sp_mesh mesh;
    sp_fe_space body;
    double *U;
    sp_inertia inertia;
    double K[BAR * BAR];
    sp_contact_pointshell pointshell;
    sp_field field;
} bar;

static void make_bar(bar *b)
{
    *b = (bar){0};
    make_box(4, 2, 2, 0.2, 0, &b->mesh);
    for (int64_t v = 0; v < b->mesh.vertex_count; v++)
        for (int k = 0; k < 3; k++)
            b->mesh.vertices[3 * v + k] -= k == 0 ? 0.4 : 0.2;
    CHECK_OK(sp_fe_space_new(&context, &b->mesh, &b->body));
    const int64_t rows = 3 * b->mesh.vertex_count;
    b->U = calloc((size_t)(rows * BAR), 8);
    for (int64_t v = 0; v < b->mesh.vertex_count; v++) {
        const double *X = b->mesh.vertices + 3 * v, x = X[0], y = X[1], z = X[2];
        const double field[BAR][3] = {{x, 0, 0},          {0, y, 0},        {y, x, 0}, {-2 * x * z, 0, x * x},
                                      {0, -x * z, x * y}, {0, 0, z + x * x}};
        for (int j = 0; j < BAR; j++)
            for (int c = 0; c < 3; c++)
                b->U[j * rows + 3 * v + c] = field[j][c];
    }
    CHECK_OK(sp_inertia_of_body(&context, &b->body, false, BAR, b->U, &b->inertia));
    for (int i = 0; i < BAR; i++) /* soft, so that collisions cause strains of a few percent */
        b->K[BAR * i + i] = 2000 * (1 + 0.3 * i);
    OWNED(sp_surface) s = new_surface(8, 12);
    add_box(&s, (double[3]){-0.4, -0.2, -0.2}, (double[3]){0.4, 0.2, 0.2});
    sp_pointshell pointshell = shell_of(&s, SP_POINTSHELL_REPULSION, 400, 3);
    sp_pointshell_motion_report report;
    CHECK_OK(sp_pointshell_transfer(&context, &b->mesh, BAR, b->U, true, &pointshell, &report));
    b->pointshell = contact_shell(&pointshell);
    b->field = field_of(&s, 16);
}

static void bar_free(bar *b)
{
    sp_contact_pointshell_free(&b->pointshell);
    sp_field_free(&b->field);
    sp_inertia_free(&b->inertia);
    free(b->U);
    sp_fe_space_free(&b->body);
    sp_mesh_free(&b->mesh);
}

/* The bodies of several tests: the bar, a rigid torus, a distance field of a sphere. */
static bar model;
static sp_contact_pointshell ring;
static sp_field ring_field, ball_field;

static void make_models(void)
{
    OWNED(sp_surface) s = torus(24, 12, 0.3, 0.12), ball = new_surface(600, 1200);
    add_sphere(&ball, 8, NONE, 0.3);
    sp_pointshell made = shell_of(&s, SP_POINTSHELL_REPULSION, 300, 3);
    ring = contact_shell(&made);
    ring_field = field_of(&s, 16);
    ball_field = field_of(&ball, 16);
    make_bar(&model);
}

static void free_models(void)
{
    sp_contact_pointshell_free(&ring);
    sp_field_free(&ring_field);
    sp_field_free(&ball_field);
    bar_free(&model);
}

static sp_free_body *free_bar_body(double step)
{
    const sp_free_parameters p = {.step = step};
    sp_reduced_force force;
    sp_free_body *body;
    CHECK_OK(sp_linear_force_new(&context, BAR, model.K, &force));
    CHECK_OK(sp_free_body_new(&context, &model.inertia, &force, &p, &body));
    return body;
}

static sp_inertia ball_inertia(double mass, double radius, const double centre[3])
{
    const double J = 0.4 * mass * radius * radius;
    sp_inertia inertia;
    CHECK_OK(sp_inertia_of_numbers(&context, mass, centre, (double[6]){J, J, J, 0, 0, 0}, &inertia));
    return inertia;
}

static sp_free_body *rigid(const sp_inertia *inertia, double step)
{
    const sp_free_parameters p = {.step = step};
    sp_free_body *body;
    CHECK_OK(sp_free_body_new(&context, inertia, NULL, &p, &body));
    return body;
}

static sp_pose at_place(double x, double y, double z)
{
    return (sp_pose){{x, y, z}, {1, 0, 0, 0}};
}

static sp_contact_scene_parameters parameters_of(double step, double stiffness)
{
    return (sp_contact_scene_parameters){
        .step = step,
        .penalty = {.stiffness = stiffness, .limit = INFINITY},
        .pulse = INFINITY,
        .limits = {.warm = INT64_MAX, .cold = INT64_MAX, .tree = true, .coherence = true},
        .integrator = {.kind = SP_NEWMARK, .beta = 0.25, .gamma = 0.5},
        .coupling = {.body = -1}};
}

static sp_contact_scene *new_world(const sp_contact_scene_parameters *p, int64_t count,
                                   const sp_contact_scene_body *bodies, int64_t pairs,
                                   const sp_contact_scene_pair *pair, bool balls)
{
    sp_contact_scene *world;
    CHECK_OK(sp_contact_scene_new(&context, p, count, bodies, pairs, pair, balls, &world));
    return world;
}

static double total_energy(sp_contact_scene *world)
{
    double e[3];
    sp_contact_scene_energies(world, e);
    return e[0] + e[1] + e[2];
}

/* ---- rest ---- */

/* −∫ d n dS / ∫ dS over the part of a unit sphere that is δ below a plane. */
static double cap_mean(double depth)
{
    const double c = 1 - depth;
    return ((1 - c * c * c) / 3 - c * (1 - c * c) / 2) / (1 - c);
}

/* Weight against k L times that mean (eq. 3.2). */
TEST(heavy_ball_rests_at_its_depth)
{
    enum { TURNS = 6 };
    const double mass = 2, stiffness = 72, L = 2;
    double low = 0, high = 1, error[6] = {0}, speed = 0;
    for (int i = 0; i < 60; i++) {
        const double middle = 0.5 * (low + high);
        *(stiffness * L * cap_mean(middle) < mass * GRAVITY ? &low : &high) = middle;
    }
    sp_pointshell made = ball_shell(SP_POINTSHELL_REPULSION, 32, 12 * 341, 5, 1);
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&made);
    const sp_distance plane = plane_at(0);
    OWNED(sp_inertia) inertia = ball_inertia(mass, 1, NONE);
    for (int levels = 3; levels <= 5; levels++) {
        for (uint64_t t = 0; t < TURNS; t++) {
            sp_contact_scene_parameters p = parameters_of(1e-2, stiffness);
            p.gravity[2] = -GRAVITY;
            p.penalty.limit = L;
            p.penalty.damping = 10;
            p.limits.levels = levels;
            sp_pose pose = at_place(0, 0, 1);
            random_rotation(10, t, pose.q);
            sp_free_body *ball = rigid(&inertia, p.step);
            sp_free_body_place(ball, &pose, NONE, NONE, NULL, NULL);
            const sp_contact_scene_body bodies[2] = {
                {.motion = SP_CONTACT_SCENE_FREE, .pointshell = &pointshell, .free = ball, .inertia = &inertia},
                {.motion = SP_CONTACT_SCENE_FIXED, .distance = &plane, .pose = at_place(0, 0, 0)}};
            OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
            for (int i = 0; i < 700; i++)
                CHECK_OK(sp_contact_scene_step(world));
            const sp_free_state *state = sp_free_body_state(ball);
            error[levels] += pow((1 - state->c[2]) / low - 1, 2) / TURNS;
            speed = fmax(speed, fabs(state->v[2]));
            CHECK(length3(state->Omega) < 1e-9, "forces through the centre turn it: %g rad/s", length3(state->Omega));
            sp_free_body_free(ball);
        }
        error[levels] = sqrt(error[levels]);
        NOTE("level %d: depth off by %.2e of %.4f m", levels, error[levels], low);
    }
    CHECK(speed < 1e-4, "still moves by %g m/s", speed);
    CHECK(error[4] < 0.7 * error[3] && error[5] < 0.7 * error[4] && error[5] < 0.02, "%g, %g, %g", error[3], error[4],
          error[5]);
}

/* A ball on a ball, a spring of k: m g / k. */
TEST(ball_rests_on_ball)
{
    OWNED(sp_contact_pointshell) point = one_point(0, 0, 0, UP);
    OWNED(sp_inertia) inertia = ball_inertia(3, 0.5, NONE);
    sp_contact_scene_parameters p = parameters_of(1e-3, 2000);
    p.gravity[2] = -GRAVITY;
    p.penalty.damping = 60;
    sp_free_body *ball = rigid(&inertia, p.step);
    const sp_pose pose = at_place(0, 0, 0.99);
    sp_free_body_place(ball, &pose, NONE, NONE, NULL, NULL);
    const sp_contact_scene_body bodies[2] = {
        {.motion = SP_CONTACT_SCENE_FREE, .pointshell = &point, .free = ball, .inertia = &inertia, .thickness = 0.4},
        {.motion = SP_CONTACT_SCENE_FIXED, .pointshell = &point, .thickness = 0.6, .pose = at_place(0, 0, 0)}};
    OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 0, NULL, true);
    for (int i = 0; i < 2000; i++)
        CHECK_OK(sp_contact_scene_step(world));
    CHECK_NEAR(1 - sp_free_body_state(ball)->c[2], 3 * GRAVITY / 2000, 1e-9);
    const double *wrench = sp_contact_scene_wrench(world, 0), *other = sp_contact_scene_wrench(world, 1);
    CHECK_NEAR(wrench[2], 3 * GRAVITY, 1e-6);
    CHECK_NEAR(other[2], -3 * GRAVITY, 1e-6);
    sp_free_body_free(ball);
}

/* ---- collisions ---- */

enum meeting {
    SHELL_AND_SPHERE,
    SHELL_AND_GRID,
    BALLS,
    BAR_AND_SPHERE,
    BAR_AND_BALLS,
    SHELL_AND_DEFORMED,
    BAR_AND_DEFORMED,
    MEETINGS
};

/* The sum over both bodies of what sp_free_body_momenta gives, and the largest part of it. */
static double momenta_of(sp_free_body *a, sp_free_body *b, double sum[6])
{
    double p[2][6], size = 0;
    sp_free_body_momenta(a, p[0], p[0] + 3);
    sp_free_body_momenta(b, p[1], p[1] + 3);
    for (int k = 0; k < 6; k++) {
        sum[k] = p[0][k] + p[1][k];
        size = fmax(size, fmax(fabs(p[0][k]), fabs(p[1][k])));
    }
    return size;
}

static void check_momenta(enum meeting meeting, double damping, double friction, double step)
{
    static const char *const name[MEETINGS] = {"shell and sphere",     "shell and grid", "balls",
                                               "bar and sphere",       "bar and balls",  "shell and deformed grid",
                                               "bar and deformed grid"};
    const bool first_bar = meeting == BAR_AND_SPHERE || meeting == BAR_AND_BALLS || meeting == BAR_AND_DEFORMED,
               second_bar = meeting == SHELL_AND_DEFORMED || meeting == BAR_AND_DEFORMED;
    const bool balls = meeting == BALLS || meeting == BAR_AND_BALLS;
    const double off[3] = {0.05, -0.02, 0.03}; /* the frame's origin is not the centre of mass */
    OWNED(sp_inertia) inertia;
    CHECK_OK(sp_inertia_of_numbers(&context, 5, off, (double[6]){0.3, 0.35, 0.5, 0.02, -0.01, 0.03}, &inertia));
    sp_distance distance = {.kind = SP_DISTANCE_SPHERE, .radius = 0.3};
    OWNED_POINTER(sp_deformed_field) *deformed = NULL;
    if (meeting == SHELL_AND_GRID)
        sp_distance_of_field(&ball_field, &distance);
    if (second_bar) {
        double proxies[3 * 27];
        for (int i = 0; i < 27; i++)
            for (int k = 0; k < 3; k++)
                proxies[3 * i + k] = (k == 0 ? 0.38 : 0.18) * ((k == 0 ? i % 3 : k == 1 ? i / 3 % 3 : i / 9) - 1);
        const sp_deformed_domain domain = {.field = &model.field, .count = 27, .points = proxies};
        CHECK_OK(sp_deformed_field_new(&context, &model.mesh, BAR, model.U, 1, &domain, 5, &deformed));
        distance =
            (sp_distance){.kind = SP_DISTANCE_DEFORMED, .deformed = deformed, .slack = sqrt(3) * model.field.spacing};
    }
    sp_contact_scene_parameters p = parameters_of(step, 2000);
    p.penalty.damping = damping;
    p.penalty.limit = 8;
    p.friction = friction;
    OWNED_POINTER(sp_free_body) *a = first_bar ? free_bar_body(step) : rigid(&inertia, step),
                                *b = second_bar ? free_bar_body(step) : rigid(&inertia, step);
    sp_pose pa = at_place(0.6, 0.1, 0.2), pb = at_place(-0.5, 0, 0.1);
    random_rotation(20, meeting, pa.q);
    random_rotation(21, meeting, pb.q);
    double q[BAR] = {0.02, -0.03, 0.01, 0.05, 0.02, -0.02}, qdot[BAR] = {0.1, 0.2, -0.3, 0.2, 0.1, -0.2};
    sp_free_body_place(a, &pa, (double[3]){-3, 0.2, -0.3}, (double[3]){2, -3, 1}, first_bar ? q : NULL,
                       first_bar ? qdot : NULL);
    sp_free_body_place(b, &pb, (double[3]){1, 0.1, 0.2}, (double[3]){-1, 2, 4}, second_bar ? q : NULL,
                       second_bar ? qdot : NULL);
    const sp_contact_pointshell *pointshell = first_bar ? &model.pointshell : &ring;
    sp_contact_scene_body bodies[2] = {{.motion = SP_CONTACT_SCENE_FREE,
                                        .pointshell = pointshell,
                                        .free = a,
                                        .inertia = first_bar ? &model.inertia : &inertia,
                                        .r = first_bar ? BAR : 0},
                                       {.motion = SP_CONTACT_SCENE_FREE,
                                        .distance = &distance,
                                        .deformed = deformed,
                                        .free = b,
                                        .inertia = second_bar ? &model.inertia : &inertia,
                                        .r = second_bar ? BAR : 0}};
    if (balls) {
        bodies[0].thickness = bodies[1].thickness = 0.05;
        bodies[1].pointshell = &ring;
    }
    OWNED_POINTER(sp_contact_scene) *world =
        new_world(&p, 2, bodies, balls ? 0 : 1, &(sp_contact_scene_pair){0, 1}, balls);
    double before[6], now[6], drift[2] = {0}, size = momenta_of(a, b, before), action = 0;
    const double energy = total_energy(world);
    int touching = 0;
    for (int i = 0; (double)i * step < 1; i++) {
        CHECK_OK(sp_contact_scene_step(world));
        touching += sp_contact_scene_reported(world)->touching > 0;
        size = fmax(size, momenta_of(a, b, now));
        for (int k = 0; k < 6; k++)
            drift[k / 3] = fmax(drift[k / 3], fabs(now[k] - before[k]));
        const double *one = sp_contact_scene_wrench(world, 0), *two = sp_contact_scene_wrench(world, 1);
        for (int k = 0; k < 3; k++)
            action = fmax(action, fabs(one[k] + two[k]) / (1 + length3(one)));
        const sp_contact_scene_contact *contact;
        double sum[3] = {0};
        const int64_t n = sp_contact_scene_contacts(world, &contact);
        for (int64_t c = 0; c < n; c++)
            for (int k = 0; k < 3; k++)
                sum[k] += contact[c].force[k];
        for (int k = 0; k < 3; k++)
            action = fmax(action, fabs(sum[k] - one[k]) / (1 + length3(one)));
    }
    NOTE("%s%s%s: %d steps in contact, momenta drift by %.1e and %.1e of %.2g, energy by %.1e", name[meeting],
         damping > 0 ? ", damped" : "", friction > 0 ? ", friction" : "", touching, drift[0], drift[1], size,
         total_energy(world) / energy - 1);
    CHECK(touching > 5 && sp_contact_scene_reported(world)->touching == 0, "%s: they touch in %d steps", name[meeting],
          touching);
    CHECK(drift[0] <= 1e-12 * size && drift[1] <= 1e-12 * size, "%s: momenta drift by %g, %g of %g", name[meeting],
          drift[0], drift[1], size);
    CHECK(action < 1e-12, "%s: action and reaction differ by %g", name[meeting], action);
    CHECK(!(damping > 0) || total_energy(world) < energy, "%s: dampers bring energy", name[meeting]);
}

TEST(collisions_keep_momenta)
{
    for (int meeting = 0; meeting < MEETINGS; meeting++)
        for (int kind = 0; kind < (meeting == BALLS || meeting == BAR_AND_BALLS ? 2 : 3); kind++)
            check_momenta((enum meeting)meeting, kind ? 5 : 0, kind == 2 ? 0.6 : 0, 1e-3);
}

/* Spheres about the points of two pointshells have the potential Σ ½ k d². Returns the root mean square error of the
 * energy after many collisions. */
static double energy_error(bool deformable, const sp_contact_pointshell *pointshell, const sp_inertia *inertia,
                           double step)
{
    enum { COLLISIONS = 16 };
    double square = 0;
    for (uint64_t i = 0; i < COLLISIONS; i++) {
        const sp_contact_scene_parameters p = parameters_of(step, deformable ? 4000 : 400);
        sp_free_body *a = deformable ? free_bar_body(step) : rigid(inertia, step), *b = rigid(inertia, step);
        sp_pose pa = at_place(1.3 + 0.01 * (double)i, 0.1, 0.2), pb = at_place(-1.3, 0, 0.1);
        random_rotation(30, i, pa.q);
        random_rotation(31, i, pb.q);
        sp_free_body_place(a, &pa, (double[3]){-2, 0, 0}, (double[3]){1, -1, 2}, NULL, NULL);
        sp_free_body_place(b, &pb, (double[3]){1, 0, 0}, (double[3]){-1, 2, 1}, NULL, NULL);
        const sp_contact_scene_body bodies[2] = {{.motion = SP_CONTACT_SCENE_FREE,
                                                  .pointshell = deformable ? &model.pointshell : pointshell,
                                                  .free = a,
                                                  .inertia = deformable ? &model.inertia : inertia,
                                                  .thickness = 0.2,
                                                  .r = deformable ? BAR : 0},
                                                 {.motion = SP_CONTACT_SCENE_FREE,
                                                  .pointshell = pointshell,
                                                  .free = b,
                                                  .inertia = inertia,
                                                  .thickness = 0.2}};
        OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 0, NULL, true);
        double most = 0;
        const double before = total_energy(world);
        int touching = 0;
        for (int k = 0; (double)k * step < 2; k++) {
            CHECK_OK(sp_contact_scene_step(world));
            touching += sp_contact_scene_reported(world)->touching > 0;
            for (int j = 0; j < BAR && deformable; j++)
                most = fmax(most, fabs(sp_free_body_q(a)[j]));
        }
        CHECK(touching > 10 && sp_contact_scene_reported(world)->touching == 0, "they touch in %d steps", touching);
        CHECK(!deformable || most > 0.01, "q only %g", most);
        const double error = total_energy(world) / before - 1;
        square += error * error / COLLISIONS;
        sp_free_body_free(a);
        sp_free_body_free(b);
    }
    return sqrt(square);
}

TEST(collisions_keep_energy_to_second_order)
{
    sp_pointshell made = ball_shell(SP_POINTSHELL_REPULSION, 12, 30, 1, 0.5);
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&made);
    OWNED(sp_inertia) inertia;
    CHECK_OK(sp_inertia_of_numbers(&context, 2, NONE, (double[6]){0.3, 0.35, 0.5, 0, 0, 0}, &inertia));
    for (int deformable = 0; deformable < 2; deformable++) {
        double error[3];
        for (int k = 0; k < 3; k++)
            error[k] = energy_error(deformable, &pointshell, &inertia, (deformable ? 2e-3 : 8e-3) / (1 << k));
        const double slope = log2(error[0] / error[2]) / 2;
        NOTE("%s: energy off by %.2e, %.2e, %.2e with steps halved: slope %.2f", deformable ? "bar" : "rigid", error[0],
             error[1], error[2], slope);
        CHECK(slope > 1.7 && slope < 3 && error[2] < 1e-3, "slope %g", slope);
    }
}

/* A rigid torus falls on a plane in many orientations. Returns the root mean square error of its energy after the
 * bounce. */
static double bounce_error(enum sp_penalty_direction direction, double step, double *sideways)
{
    enum { DROPS = 12 };
    const sp_distance plane = plane_at(0);
    double square = 0;
    OWNED(sp_inertia) inertia;
    CHECK_OK(sp_inertia_of_numbers(&context, 2, NONE, (double[6]){0.06, 0.06, 0.1, 0, 0, 0}, &inertia));
    for (uint64_t i = 0; i < DROPS; i++) {
        sp_contact_scene_parameters p = parameters_of(step, 2000);
        sp_pose pose = at_place(0.25, -0.5, 0.8);
        p.gravity[2] = -GRAVITY;
        p.penalty.direction = direction;
        random_rotation(33, i, pose.q);
        sp_free_body *body = rigid(&inertia, step);
        sp_free_body_place(body, &pose, NONE, (double[3]){1, -2, 1}, NULL, NULL);
        const sp_contact_scene_body bodies[2] = {
            {.motion = SP_CONTACT_SCENE_FREE, .pointshell = &ring, .free = body, .inertia = &inertia},
            {.motion = SP_CONTACT_SCENE_FIXED, .distance = &plane, .pose = at_place(0, 0, 0)}};
        OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
        const double before = total_energy(world);
        int touched = 0;
        for (int k = 0; (double)k * step < 1.2 && (touched == 0 || sp_contact_scene_reported(world)->touching > 0);
             k++) {
            CHECK_OK(sp_contact_scene_step(world));
            touched += sp_contact_scene_reported(world)->touching > 0;
        }
        CHECK(touched > 10 && sp_contact_scene_reported(world)->touching == 0, "it touches in %d steps", touched);
        const double error = total_energy(world) / before - 1, *v = sp_free_body_state(body)->v,
                     *c = sp_free_body_state(body)->c;
        square += error * error / DROPS;
        *sideways = fmax(*sideways, fmax(fmax(fabs(v[0]), fabs(v[1])), fmax(fabs(c[0] - 0.25), fabs(c[1] + 0.5))));
        sp_free_body_free(body);
    }
    return sqrt(square);
}

/* With forces along gradients an undamped bounce conserves energy to second order in the step, and a plane without
 * friction has no tangential force. With forces along the normals of points neither holds for any step. */
TEST(bounces_keep_energy_along_gradients)
{
    double error[3], normal[2], sideways = 0, aside = 0;
    for (int k = 0; k < 3; k++)
        error[k] = bounce_error(SP_PENALTY_BY_GEOMETRY, 1e-3 / (1 << k), &sideways);
    for (int k = 0; k < 2; k++)
        normal[k] = bounce_error(SP_PENALTY_NORMAL, 1e-3 / (1 << 2 * k), &aside);
    const double slope = log2(error[0] / error[2]) / 2;
    NOTE("gradients: energy off by %.2e, %.2e, %.2e with steps halved: slope %.2f; normals: %.2e, %.2e with steps a "
         "quarter as long, aside by %.2g",
         error[0], error[1], error[2], slope, normal[0], normal[1], aside);
    CHECK(slope > 1.7 && error[2] < 1e-4, "slope %g, %g", slope, error[2]);
    CHECK(sideways == 0, "moved aside by %g", sideways);
    CHECK(normal[1] > 100 * error[2] && aside > 1e-3, "normals: %g, %g", normal[1], aside);
}

/* ---- braking pulses ---- */

enum braked {
    RING_AND_WALL,
    RING_AND_FREE_WALL,
    RING_AND_THREE_WALLS,
    BAR_AND_WALL,
    BAR_AND_FREE_WALL,
    HELD_BAR,
    BRAKED
};

/* One step without springs in which points in proximity voxels are too fast. Returns whether there were any. */
static bool braked_step(enum braked kind, uint64_t i, const sp_distance *wall, const sp_inertia *inertia,
                        const sp_inertia *other, const sp_system *system, double *gain)
{
    static const char *const name[BRAKED] = {"ring, wall", "ring, free wall", "ring, three walls",
                                             "bar, wall",  "bar, free wall",  "held bar"};
    const bool soft = kind >= BAR_AND_WALL, prescribed = kind == HELD_BAR,
               free_wall = kind == RING_AND_FREE_WALL || kind == BAR_AND_FREE_WALL || prescribed;
    const double step = 1e-4;
    sp_contact_scene_parameters p = parameters_of(step, 0);
    p.pulse = 0.2;
    sp_pose pose = at_place(random_in(40, 3 * i, -0.4, 0.4), random_in(40, 3 * i + 1, -0.4, 0.4), 0.45);
    double v[3], w[3], q[BAR] = {0}, qdot[BAR], before[6], now[6];
    random_rotation(41, i, pose.q);
    for (int k = 0; k < 3; k++) {
        v[k] = random_in(42, 3 * i + (uint64_t)k, -2, 2) - (k == 2 ? 2 : 0);
        w[k] = random_in(43, 3 * i + (uint64_t)k, -6, 6);
    }
    for (int k = 0; k < BAR; k++)
        qdot[k] = random_in(44, BAR * i + (uint64_t)k, -1, 1);
    OWNED_POINTER(sp_free_body) *a = prescribed ? NULL
                                     : soft     ? free_bar_body(step)
                                                : rigid(inertia, step),
                                *b = free_wall ? rigid(other, step) : NULL;
    if (a)
        sp_free_body_place(a, &pose, v, w, soft ? q : NULL, soft ? qdot : NULL);
    const sp_pose at = at_place(0, 0, 0);
    if (b)
        sp_free_body_place(b, &at, (double[3]){0.3, 0, 1}, (double[3]){1, -2, 0.5}, NULL, NULL);
    sp_contact_scene_body bodies[4] = {{.motion = prescribed ? SP_CONTACT_SCENE_FIXED : SP_CONTACT_SCENE_FREE,
                                        .pointshell = soft ? &model.pointshell : &ring,
                                        .free = a,
                                        .pose = pose,
                                        .system = prescribed ? system : NULL,
                                        .inertia = prescribed ? NULL
                                                   : soft     ? &model.inertia
                                                              : inertia,
                                        .r = soft ? BAR : 0}};
    for (int k = 1; k < 4; k++)
        bodies[k] = (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_FIXED, .distance = wall, .pose = at};
    if (b)
        bodies[1] =
            (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_FREE, .distance = wall, .free = b, .inertia = other};
    const sp_contact_scene_pair pairs[3] = {{0, 1}, {0, 2}, {0, 3}};
    const int64_t walls = kind == RING_AND_THREE_WALLS ? 3 : 1;
    OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 1 + walls, bodies, walls, pairs, false);
    const double energy = total_energy(world), size = a && b ? momenta_of(a, b, before) : 0;
    CHECK_OK(sp_contact_scene_step(world));
    const sp_contact_scene_contact *contact;
    const int64_t count = sp_contact_scene_contacts(world, &contact);
    double change = total_energy(world) - energy;
    int braked = 0;
    for (int64_t c = 0; c < count; c++)
        braked += length3(contact[c].force) > 0;
    CHECK(braked == 0 ? fabs(change) <= 1e-12 * energy : change < 0, "%s %llu: %d pulses change %g J by %g", name[kind],
          (unsigned long long)i, braked, energy, change);
    *gain = fmin(*gain, change / energy);
    if (a && b) {
        momenta_of(a, b, now);
        for (int k = 0; k < 6; k++)
            CHECK_NEAR(now[k], before[k], 1e-12 * size);
    }
    return braked > 0;
}

/* One point at the end of a lever: p = v / (1/m + x²/J), ΔT = −½ p v, and the point stops. */
static void one_pulse_by_hand(const sp_distance *wall)
{
    const double m = 2, J = 0.3, lever = 0.4, v = 3, step = 1e-6, amount = v / (1 / m + lever * lever / J);
    OWNED(sp_contact_pointshell) point = one_point(lever, 0, 0, UP);
    OWNED(sp_inertia) inertia;
    CHECK_OK(sp_inertia_of_numbers(&context, m, NONE, (double[6]){J, J, J, 0, 0, 0}, &inertia));
    sp_free_body *body = rigid(&inertia, step);
    const sp_pose pose = at_place(0, 0, 0.25);
    sp_free_body_place(body, &pose, (double[3]){0, 0, -v}, NONE, NULL, NULL);
    sp_contact_scene_parameters p = parameters_of(step, 0);
    p.pulse = 0.2;
    const sp_contact_scene_body bodies[2] = {
        {.motion = SP_CONTACT_SCENE_FREE, .pointshell = &point, .free = body, .inertia = &inertia},
        {.motion = SP_CONTACT_SCENE_FIXED, .distance = wall, .pose = at_place(0, 0, 0)}};
    OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
    const double before = total_energy(world);
    CHECK_OK(sp_contact_scene_step(world));
    const sp_free_state *state = sp_free_body_state(body);
    CHECK_NEAR(state->v[2], -v + amount / m, 1e-4);
    CHECK_NEAR(state->Omega[1], -amount * lever / J, 1e-4);
    CHECK_NEAR(total_energy(world) - before, -0.5 * amount * v, 1e-4);
    CHECK_OK(sp_contact_scene_step(world));
    const sp_contact_scene_contact *contact;
    CHECK(sp_contact_scene_contacts(world, &contact) == 0, "a proximity voxel without a pulse is recorded");
    sp_free_body_free(body);
}

/* A braking pulse always decreases kinetic energy: off the centre, at many points, by one wall or three at the same
 * place, and for free, deformable and fixed bodies. */
TEST(pulses_never_add_energy)
{
    OWNED(sp_surface) s = new_surface(8, 12);
    add_box(&s, (double[3]){-1.5, -1.5, -2.9}, (double[3]){1.5, 1.5, 0.1});
    OWNED(sp_field) field = field_of(&s, 32);
    OWNED_POINTER(sp_voxmap) *voxmap;
    OWNED(sp_inertia) inertia, other;
    sp_reduced_force force;
    FREED_BY(sp_reduced_system_free) sp_system system;
    double M[BAR * BAR];
    memcpy(M, model.inertia.M, sizeof M);
    CHECK_OK(sp_linear_force_new(&context, BAR, model.K, &force));
    CHECK_OK(sp_reduced_system_new(&context, &force, M, NULL, 0, NULL, &system));
    CHECK_OK(sp_voxmap_new(&context, &field, &voxmap));
    CHECK_OK(sp_inertia_of_numbers(&context, 2, (double[3]){0.1, -0.05, 0.02},
                                   (double[6]){0.06, 0.06, 0.1, 0.01, 0, -0.01}, &inertia));
    CHECK_OK(sp_inertia_of_numbers(&context, 1.5, (double[3]){0.1, 0.2, -0.1}, (double[6]){0.4, 0.5, 0.8, 0, 0.1, 0},
                                   &other));
    const sp_distance wall = {.kind = SP_DISTANCE_VOXMAP, .voxmap = voxmap};
    one_pulse_by_hand(&wall);
    for (int kind = 0; kind < BRAKED; kind++) {
        int braked = 0;
        double gain = 0;
        for (uint64_t i = 0; i < 60; i++)
            braked += braked_step((enum braked)kind, i, &wall, &inertia, &other, &system, &gain);
        NOTE("kind %d: %d of 60 braked, by up to %.0f %% of the energy", kind, braked, -100 * gain);
        CHECK(braked > 20, "kind %d: only %d", kind, braked);
    }
}

/* ---- friction ---- */

static const double BLOCK_MASS = 2, BLOCK_HALF[3] = {0.2, 0.15, 0.1};

typedef struct sliding {
    sp_inertia inertia;
    sp_distance plane;
    double up[3], along[3]; /* the plane's normal, and down the slope */
    sp_free_body *block;
    sp_contact_scene *world;
    sp_contact_scene_body bodies[2];
} sliding;

/* A block on a slope of this angle [rad] at the depth that supports it. */
static void lay_block(const sp_contact_pointshell *pointshell, double angle, double friction, double stiffness,
                      double damping, const double velocity, sliding *s)
{
    const double *h = BLOCK_HALF, m = BLOCK_MASS,
                 J[6] = {m / 3 * (h[1] * h[1] + h[2] * h[2]), m / 3 * (h[2] * h[2] + h[0] * h[0]),
                         m / 3 * (h[0] * h[0] + h[1] * h[1])};
    const double up[3] = {sin(angle), 0, cos(angle)}, along[3] = {cos(angle), 0, -sin(angle)};
    int64_t below = 0;
    *s = (sliding){.plane = {.kind = SP_DISTANCE_PLANE}};
    memcpy(s->up, up, sizeof up);
    memcpy(s->along, along, sizeof along);
    memcpy(s->plane.normal, up, sizeof up);
    for (int64_t p = 0; p < pointshell->count; p++)
        below += pointshell->points[3 * p + 2] < -h[2] + 1e-9;
    const double depth = BLOCK_MASS * GRAVITY * cos(angle) / (stiffness * (double)below);
    sp_contact_scene_parameters p = parameters_of(1e-3, stiffness);
    p.gravity[2] = -GRAVITY;
    p.penalty.direction = SP_PENALTY_BY_GEOMETRY;
    p.penalty.damping = damping;
    p.friction = friction;
    CHECK_OK(sp_inertia_of_numbers(&context, m, NONE, J, &s->inertia));
    s->block = rigid(&s->inertia, p.step);
    sp_pose pose = {.q = {cos(angle / 2), 0, sin(angle / 2), 0}};
    double v[3];
    for (int k = 0; k < 3; k++) {
        pose.x[k] = (h[2] - depth) * up[k];
        v[k] = velocity * along[k];
    }
    sp_free_body_place(s->block, &pose, v, NONE, NULL, NULL);
    s->bodies[0] = (sp_contact_scene_body){
        .motion = SP_CONTACT_SCENE_FREE, .pointshell = pointshell, .free = s->block, .inertia = &s->inertia};
    s->bodies[1] =
        (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_FIXED, .distance = &s->plane, .pose = at_place(0, 0, 0)};
    s->world = new_world(&p, 2, s->bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
}

static void end_block(sliding *s)
{
    sp_contact_scene_free(s->world);
    sp_free_body_free(s->block);
    sp_inertia_free(&s->inertia);
}

/* The distance down the slope and the speed, after so many steps. */
static double slide(sliding *s, int steps, double *speed)
{
    for (int i = 0; i < steps; i++)
        CHECK_OK(sp_contact_scene_step(s->world));
    const sp_free_state *state = sp_free_body_state(s->block);
    *speed = sp_dot3(state->v, s->along);
    return sp_dot3(state->c, s->along);
}

/* On slopes below the angle of friction a block stays and does not creep. Above it slides with g (sin − μ cos). On a
 * level plane it stops after v²/(2 μ g). The springs allow a distance of μ times the depth. */
TEST(blocks_stick_and_slip)
{
    const double mu = 0.5, stiffness = 400, h = 1e-3;
    OWNED(sp_surface) s = new_surface(8, 12);
    add_box(&s, (double[3]){-BLOCK_HALF[0], -BLOCK_HALF[1], -BLOCK_HALF[2]}, BLOCK_HALF);
    sp_pointshell made = shell_of(&s, SP_POINTSHELL_REPULSION, 600, 3);
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&made);
    sliding b;
    double v, w;
    for (int i = 0; i < 3; i++) {
        const double tangent = (i == 0 ? 0.5 : i == 1 ? 0.9 : 0.98) * mu, angle = atan(tangent);
        lay_block(&pointshell, angle, mu, stiffness, 2, 0, &b);
        const double depth = BLOCK_HALF[2] - sp_dot3(sp_free_body_state(b.block)->c, b.up),
                     settled = slide(&b, 2000, &v), later = slide(&b, 8000, &w);
        /* Released with unloaded springs it slips as long as it has energy. With e the depth and s = mu e, the springs
         * are at their limit with the energy m g cos(angle) (tan s − s²/2e), which friction less the downhill force
         * dissipates within e mu²/2(mu − tan) from the start. */
        NOTE("tan = %.2f mu: moves by %.2e m (depth %.2e m), then by %.1e m in 8 s, %.1e m/s", tangent / mu, settled,
             depth, later - settled, w);
        CHECK(settled > 0 && settled < depth * mu * mu / (2 * (mu - tangent)), "sticks: %g m", settled);
        CHECK(fabs(later - settled) < 1e-9 && fabs(w) < 1e-9, "creeps by %g m, %g m/s", later - settled, w);
        end_block(&b);
    }
    for (int i = 0; i < 3; i++) {
        const double tangent = (i == 0   ? 1.05
                                : i == 1 ? 1.4
                                         : 2.0) *
                               mu,
                     angle = atan(tangent), expected = GRAVITY * (sin(angle) - mu * cos(angle));
        lay_block(&pointshell, angle, mu, stiffness, 2, 0, &b);
        slide(&b, 2000, &v);
        slide(&b, 1000, &w);
        NOTE("tan = %.2f mu: %.6f m/s2 of %.6f", tangent / mu, (w - v) / (1000 * h), expected);
        CHECK_NEAR((w - v) / (1000 * h), expected, 1e-5 * GRAVITY);
        end_block(&b);
    }
    for (int i = 0; i < 2; i++) {
        const double speed = i ? 2 : 0.7, expected = speed * speed / (2 * mu * GRAVITY);
        lay_block(&pointshell, 0, mu, stiffness, 2, speed, &b);
        const double depth = BLOCK_HALF[2] - sp_free_body_state(b.block)->c[2], way = slide(&b, 3000, &v),
                     later = slide(&b, 2000, &w);
        NOTE("stops after %.5f m of %.5f, then moves by %.1e m, %.1e m/s", way, expected, later - way, w);
        CHECK(fabs(way - expected) < 4 * mu * depth, "stops after %g m of %g", way, expected);
        CHECK(fabs(later - way) < 1e-9 && fabs(w) < 1e-9, "creeps by %g m", later - way);
        end_block(&b);
    }
}

/* A free deformable bar slides down a slope: the impulse of friction is mu times that of the normal forces, whatever
 * its vibration. On a gentler slope the whole bar sticks. */
TEST(soft_bars_slide)
{
    const double mu = 0.5, step = 1e-3;
    for (int steep = 0; steep < 2; steep++) {
        const double angle = atan((steep ? 1.6 : 0.5) * mu), m = model.inertia.mass;
        const double up[3] = {sin(angle), 0, cos(angle)}, along[3] = {cos(angle), 0, -sin(angle)};
        const sp_distance plane = {.kind = SP_DISTANCE_PLANE, .normal = {up[0], up[1], up[2]}};
        sp_contact_scene_parameters p = parameters_of(step, 40 * m);
        p.gravity[2] = -GRAVITY;
        p.penalty.direction = SP_PENALTY_BY_GEOMETRY;
        p.penalty.damping = 0.4 * m;
        p.friction = mu;
        sp_free_body *body = free_bar_body(step);
        sp_pose pose = {.q = {cos(angle / 2), 0, sin(angle / 2), 0}};
        for (int k = 0; k < 3; k++)
            pose.x[k] = 0.2 * up[k];
        sp_free_body_place(body, &pose, NONE, NONE, NULL, NULL);
        const sp_contact_scene_body bodies[2] = {
            {.motion = SP_CONTACT_SCENE_FREE,
             .pointshell = &model.pointshell,
             .free = body,
             .inertia = &model.inertia,
             .r = BAR},
            {.motion = SP_CONTACT_SCENE_FIXED, .distance = &plane, .pose = at_place(0, 0, 0)}};
        OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
        for (int i = 0; i < 1500; i++)
            CHECK_OK(sp_contact_scene_step(world));
        const sp_free_state start = *sp_free_body_state(body);
        for (int i = 0; i < 500; i++)
            CHECK_OK(sp_contact_scene_step(world));
        const sp_free_state end = *sp_free_body_state(body);
        double change[3], way[3];
        for (int k = 0; k < 3; k++) {
            change[k] = end.v[k] - start.v[k];
            way[k] = end.c[k] - start.c[k];
        }
        const double time = 500 * step, pressed = GRAVITY * cos(angle) * time + sp_dot3(change, up),
                     expected = GRAVITY * sin(angle) * time - mu * pressed;
        NOTE("%s: speeds up by %.9f m/s of %.9f, moves by %.2e m", steep ? "slides" : "sticks", sp_dot3(change, along),
             steep ? expected : 0, sp_dot3(way, along));
        CHECK(length3(sp_free_body_q(body)) > 1e-4, "it deforms by %g only", length3(sp_free_body_q(body)));
        if (steep)
            CHECK_NEAR(sp_dot3(change, along), expected,
                       1e-6); /* a point that also vibrates sideways has a sideways friction force */
        else                  /* it vibrates without damping, with an amplitude far below mu times the depth, 1e-3 m */
            CHECK(fabs(sp_dot3(way, along)) < 1e-4, "creeps by %g m", sp_dot3(way, along));
        sp_free_body_free(body);
    }
}

/* A torus thrown on a plane: whenever it has left the plane, all springs are unloaded and the energy has not increased.
 */
static double friction_energy(double friction, double step, double *rise)
{
    enum { THROWS = 12 };
    const sp_distance plane = plane_at(0);
    double lost = 0;
    OWNED(sp_inertia) inertia = {0};
    CHECK_OK(sp_inertia_of_numbers(&context, 2, NONE, (double[6]){0.06, 0.06, 0.1, 0, 0, 0}, &inertia));
    for (uint64_t i = 0; i < THROWS; i++) {
        sp_contact_scene_parameters p = parameters_of(step, 2000);
        sp_pose pose = at_place(0, 0, 0.6);
        p.gravity[2] = -GRAVITY;
        p.penalty.direction = SP_PENALTY_BY_GEOMETRY;
        p.friction = friction;
        random_rotation(34, i, pose.q);
        OWNED_POINTER(sp_free_body) *body = rigid(&inertia, step);
        sp_free_body_place(body, &pose, (double[3]){random_in(35, 2 * i, -3, 3), random_in(35, 2 * i + 1, -3, 3), 0},
                           (double[3]){3, -4, 5}, NULL, NULL);
        const sp_contact_scene_body bodies[2] = {
            {.motion = SP_CONTACT_SCENE_FREE, .pointshell = &ring, .free = body, .inertia = &inertia},
            {.motion = SP_CONTACT_SCENE_FIXED, .distance = &plane, .pose = at_place(0, 0, 0)}};
        OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
        const double start = total_energy(world);
        double before = start;
        for (int k = 0; (double)k * step < 2; k++) {
            CHECK_OK(sp_contact_scene_step(world));
            if (sp_contact_scene_reported(world)->touching > 0)
                continue;
            *rise = fmax(*rise, (total_energy(world) - before) / start);
            before = fmin(before, total_energy(world));
        }
        lost += (1 - before / start) / THROWS;
    }
    return lost;
}

TEST(friction_takes_energy)
{
    double rise[2][3] = {{0}}, lost[2];
    for (int m = 0; m < 2; m++)
        for (int k = 0; k < 3; k++)
            lost[m] = friction_energy(m ? 5 : 0.4, 1e-3 / (1 << k), &rise[m][k]);
    NOTE("mu = 0.4: %.0f %% lost, rises by at most %.1e, %.1e, %.1e of it with steps halved; mu = 5: %.0f %%, %.1e, "
         "%.1e, %.1e",
         100 * lost[0], rise[0][0], rise[0][1], rise[0][2], 100 * lost[1], rise[1][0], rise[1][1], rise[1][2]);
    for (int m = 0; m < 2; m++)
        CHECK(rise[m][2] < 1e-4 && rise[m][2] <= fmax(1e-12, rise[m][0] / 2) && lost[m] > 0.05, "%g %g", rise[m][0],
              rise[m][2]);
}

TEST(friction_refused)
{
    OWNED(sp_surface) s = new_surface(8, 12);
    add_box(&s, (double[3]){-1, -1, -1}, (double[3]){1, 1, 1});
    OWNED(sp_field) field = field_of(&s, 8);
    OWNED_POINTER(sp_voxmap) *voxmap;
    CHECK_OK(sp_voxmap_new(&context, &field, &voxmap));
    const sp_distance plane = plane_at(0), voxels = {.kind = SP_DISTANCE_VOXMAP, .voxmap = voxmap};
    sp_contact_scene_parameters p = parameters_of(1e-3, 100);
    p.friction = 0.1;
    sp_contact_scene_body bodies[2] = {{.pointshell = &ring, .pose = at_place(0, 0, 0)},
                                       {.name = "wall", .distance = &voxels, .pose = at_place(0, 0, 0)}};
    sp_contact_scene *world;
    CHECK(sp_contact_scene_new(&context, &p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false, &world) == SP_INPUT &&
              strstr(context.message, "body 1 (wall) has a voxmap"),
          "%s", context.message);
    bodies[1].distance = &plane;
    p.coupling.body = 0;
    CHECK(sp_contact_scene_new(&context, &p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false, &world) == SP_INPUT &&
              strstr(context.message, "body 0 is held by the coupling"),
          "%s", context.message);
    p.coupling.body = -1;
    bodies[0].thickness = bodies[1].thickness = 0.1;
    bodies[1].pointshell = &ring;
    CHECK(sp_contact_scene_new(&context, &p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, true, &world) == SP_INPUT &&
              strstr(context.message, "touch as balls"),
          "%s", context.message);
    bodies[1].distance = NULL;
    CHECK(sp_contact_scene_new(&context, &p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false, &world) == SP_INPUT &&
              strstr(context.message, "touch as balls"),
          "%s", context.message);
}

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

static sp_contact_pointshell moving_point(double z)
{
    sp_pointshell pointshell = point_shell((double[3]){0, 0, z}, UP);
    pointshell.modes = 1;
    pointshell.U = sp_pool_new(&pointshell.pool, 3, sizeof(double));
    pointshell.dN = sp_pool_new(&pointshell.pool, 3, sizeof(double));
    pointshell.U[2] = 1;
    CHECK_OK(sp_pointshell_bounds(&context, &pointshell));
    return contact_shell(&pointshell);
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

/* ---- edge cases ---- */

/* Deep, fast and stiff initial states: the result is finite, or SP_NUMERICAL with a message of one line that has the
 * number of the body. */
TEST(violent_starts)
{
    sp_pointshell made = ball_shell(SP_POINTSHELL_REPULSION, 12, 100, 2, 0.5);
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&made);
    const sp_distance sphere_distance = {.kind = SP_DISTANCE_SPHERE, .radius = 0.5};
    OWNED(sp_inertia) inertia = ball_inertia(1, 0.5, NONE);
    int64_t refused = 0;
    for (int i = 0; i < 48; i++) {
        const double stiffness = i % 4 == 0   ? 1e3
                                 : i % 4 == 1 ? 1e9
                                 : i % 4 == 2 ? 1e200
                                              : 1e308,
                     speed = i / 4 % 3 == 0   ? 0
                             : i / 4 % 3 == 1 ? 1e6
                                              : 1e150;
        const bool balls = i & 16, deformable = i & 32;
        sp_contact_scene_parameters p = parameters_of(1e-3, stiffness);
        p.penalty.damping = i % 5 ? 0 : stiffness * 1e-3;
        sp_free_body *a = deformable ? free_bar_body(p.step) : rigid(&inertia, p.step), *b = rigid(&inertia, p.step);
        const sp_pose one = at_place(0.01, 0.02, 0), two = at_place(0, 0, 0);
        sp_free_body_place(a, &one, (double[3]){speed, 0, 0}, (double[3]){speed < 1e100 ? speed : 0, 0, 1}, NULL, NULL);
        sp_free_body_place(b, &two, NONE, NONE, NULL, NULL);
        const sp_contact_scene_body bodies[2] = {{.name = "bar",
                                                  .motion = SP_CONTACT_SCENE_FREE,
                                                  .free = a,
                                                  .inertia = deformable ? &model.inertia : &inertia,
                                                  .pointshell = deformable ? &model.pointshell : &pointshell,
                                                  .thickness = 0.1,
                                                  .r = deformable ? BAR : 0},
                                                 {.motion = SP_CONTACT_SCENE_FREE,
                                                  .free = b,
                                                  .inertia = &inertia,
                                                  .pointshell = &pointshell,
                                                  .distance = &sphere_distance,
                                                  .thickness = 0.1}};
        OWNED_POINTER(sp_contact_scene) *world =
            new_world(&p, 2, bodies, balls ? 0 : 1, &(sp_contact_scene_pair){0, 1}, balls);
        for (int k = 0; k < 30; k++) {
            context.message[0] = 0;
            const int status = sp_contact_scene_step(world);
            CHECK(status == SP_OK || (status == SP_NUMERICAL && !strchr(context.message, '\n') &&
                                      (!strncmp(context.message, "body 0 (bar) could not", 22) ||
                                       !strncmp(context.message, "body 1 could not", 16))),
                  "status %d: %s", status, context.message);
            for (int j = 0; j < 2; j++) {
                const sp_free_state *state = sp_free_body_state(j ? b : a);
                double sum = 0;
                for (int c = 0; c < 3; c++)
                    sum += fabs(state->c[c] / 1e10) + fabs(state->v[c] / 1e10) + fabs(state->Omega[c] / 1e10) +
                           fabs(state->rotation[c]);
                for (int c = 0; c < BAR && deformable && j == 0; c++)
                    sum += fabs(sp_free_body_q(a)[c] / 1e10);
                CHECK(isfinite(sum), "start %d, step %d: not finite", i, k);
            }
            if (status != SP_OK) {
                refused++;
                break;
            }
        }
        sp_free_body_free(a);
        sp_free_body_free(b);
    }
    CHECK(refused > 0 && refused < 48, "%lld refused", (long long)refused);
    NOTE("%lld of 48 violent starts are refused", (long long)refused);
}

/* Bodies without a model, empty contact, weights of zero area, the number of stiffness updates. */
/* Four points at (±x, ±y, −z). */
static sp_contact_pointshell feet(double x, double y, double z)
{
    sp_pointshell made = {.count = 4, .levels = 1, .cumulative = {4}};
    made.points = sp_pool_new(&made.pool, 12, sizeof(double));
    made.normals = sp_pool_new(&made.pool, 12, sizeof(double));
    made.area = sp_pool_new(&made.pool, 4, sizeof(double));
    made.parent = sp_pool_new(&made.pool, 4, sizeof(int64_t));
    for (int i = 0; i < 4; i++) {
        const double at[3] = {i & 1 ? x : -x, i & 2 ? y : -y, -z};
        memcpy(made.points + 3 * i, at, sizeof at);
        made.normals[3 * i + 2] = 1;
        made.area[i] = 1;
        made.parent[i] = -1;
    }
    return contact_shell(&made);
}

/* A box on four points outside of its radii of gyration, so that it rocks faster than it bounces. Pressed onto a plane
 * and tilted a little, it moves little while the reported number is below 4, and increasingly above 4: without and with
 * damping, and with friction, where it sways. On a movable body the springs see both masses. The eigenvalues are those
 * of the 2 by 2 problems that remain by symmetry. */
TEST(steps_up_to_the_limit)
{
    const double mass = 2, heavy_mass = 6, k = 500, x = 0.5, y = 0.3, z = 0.4, J[3] = {0.02, 0.05, 0.06}, tilt = 1e-10;
    OWNED(sp_contact_pointshell) pointshell = feet(x, y, z);
    const sp_distance plane = plane_at(0);
    OWNED(sp_inertia) inertia = {0}, heavy = {0};
    CHECK_OK(sp_inertia_of_numbers(&context, mass, NONE, (double[6]){J[0], J[1], J[2], 0, 0, 0}, &inertia));
    CHECK_OK(sp_inertia_of_numbers(&context, heavy_mass, NONE, (double[6]){90, 90, 90, 0, 0, 0}, &heavy));
    enum { PLAIN, DAMPED, FRICTION, MOVING };
    for (int kind = 0; kind < 4; kind++)
        for (int above = 0; above < 2; above++) {
            const double damping = kind == DAMPED ? 3 : 0, target = above ? 4.02 : 3.98, arm[2] = {x, y};
            double largest = 4 * k / mass;
            for (int a = 0; a < 2; a++) {
                largest = fmax(largest, 4 * k * arm[a] * arm[a] / J[1 - a]);
                if (kind != FRICTION)
                    continue;
                const double sway = 4 * k / mass, rock = 4 * k * (arm[a] * arm[a] + z * z) / J[1 - a],
                             mixed = 16 * k * k * z * z / (mass * J[1 - a]);
                largest = fmax(largest, 0.5 * (sway + rock) + sqrt(0.25 * (sway - rock) * (sway - rock) + mixed));
            }
            if (kind == FRICTION)
                largest = fmax(largest, 4 * k * (x * x + y * y) / J[2]);
            if (kind == MOVING)
                largest *= 1 + mass / heavy_mass;
            const double rate = damping / k * largest,
                         h = (-rate + sqrt(rate * rate + largest * target)) / largest; /* λh² + 2 (c/k) λ h = target */
            sp_contact_scene_parameters p = parameters_of(h, k);
            p.penalty.damping = damping;
            p.friction = kind == FRICTION ? 20 : 0;
            p.gravity[2] = kind == MOVING ? 0 : -0.01;
            OWNED_POINTER(sp_free_body) *box = rigid(&inertia, h), *ground = rigid(&heavy, h);
            sp_pose pose = at_place(0, 0, z - mass * 0.01 / (4 * k)), now;
            pose.q[1] = tilt, pose.q[2] = -tilt;
            sp_free_body_place(box, &pose, NONE, NONE, NULL, NULL);
            sp_contact_scene_body bodies[2] = {
                {.motion = SP_CONTACT_SCENE_FREE, .pointshell = &pointshell, .free = box, .inertia = &inertia},
                {.motion = SP_CONTACT_SCENE_FIXED, .distance = &plane, .pose = at_place(0, 0, 0)}};
            if (kind == MOVING) {
                bodies[1] = (sp_contact_scene_body){
                    .motion = SP_CONTACT_SCENE_FREE, .distance = &plane, .free = ground, .inertia = &heavy};
                sp_free_body_place(ground, &(sp_pose){{0, 0, 0}, {1, 0, 0, 0}}, NONE, NONE, NULL, NULL);
            }
            OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, bodies, 1, &(sp_contact_scene_pair){0, 1}, false);
            double most = 0, twist[6];
            CHECK_OK(sp_contact_scene_step(world));
            CHECK_NEAR(sp_contact_scene_reported(world)->stiffest, target, 1e-6);
            for (int i = 0; i < 2000 && most < 100 * tilt && kind != MOVING; i++) {
                CHECK_OK(sp_contact_scene_step(world));
                sp_contact_scene_body_now(world, 0, &now, twist, NULL, NULL);
                most = fmax(most, fmax(fabs(now.q[1]), fmax(fabs(now.q[2]), fabs(now.q[3]))));
            }
            NOTE("kind %d, %g: %g times the first tilt", kind, target, most / tilt);
            CHECK(kind == MOVING || (above ? most >= 100 * tilt : most < 50 * tilt),
                  "kind %d, %g: %g times the first tilt", kind, target, most / tilt);
        }
}

/* ---- a stiffness from masses, gravity and sizes ---- */

/* A box of 0.4 × 0.6 × 0.8 m with its corners as points; its moments are so large that translation is the stiffest. */
static sp_contact_pointshell corners(void)
{
    OWNED(sp_surface) s = new_surface(8, 12);
    add_box(&s, (double[3]){-0.2, -0.3, -0.4}, (double[3]){0.2, 0.3, 0.4});
    sp_pointshell made = shell_of(&s, SP_POINTSHELL_VERTICES, 8, 1);
    return contact_shell(&made);
}

static sp_contact_scene_body free_of(const sp_contact_pointshell *pointshell, const sp_inertia *inertia,
                                     sp_free_body *body)
{
    return (sp_contact_scene_body){
        .motion = SP_CONTACT_SCENE_FREE, .pointshell = pointshell, .free = body, .inertia = inertia};
}

TEST(sizes_of_bodies)
{
    OWNED(sp_contact_pointshell) box = corners(), flat = feet(0.5, 0.3, 0.4);
    const sp_distance plane = plane_at(0), ball = {.kind = SP_DISTANCE_SPHERE, .radius = 0.1},
                      brick = {.kind = SP_DISTANCE_BOX, .half = {0.3, 0.05, 0.2}};
    sp_distance grid;
    sp_distance_of_field(&ball_field, &grid); /* of radius 0.3, whose cells with a negative vertex are in the box */
    CHECK_NEAR(sp_contact_body_size(&(sp_contact_scene_body){.pointshell = &box}), 0.4, 1e-12);
    CHECK_NEAR(sp_contact_body_size(&(sp_contact_scene_body){.pointshell = &box, .thickness = 0.05}), 0.5, 1e-12);
    CHECK_NEAR(sp_contact_body_size(&(sp_contact_scene_body){.pointshell = &box, .distance = &ball}), 0.2, 1e-12);
    CHECK_NEAR(sp_contact_body_size(&(sp_contact_scene_body){.distance = &brick}), 0.1, 1e-12);
    CHECK_NEAR(sp_contact_body_size(&(sp_contact_scene_body){.pointshell = &flat}), 0.6, 1e-12); /* no height */
    CHECK(sp_contact_body_size(&(sp_contact_scene_body){.distance = &plane}) == INFINITY, "a plane has a size");
    CHECK(sp_contact_body_size(&(sp_contact_scene_body){.name = NULL}) == INFINITY, "nothing has a size");
    const double size = sp_contact_body_size(&(sp_contact_scene_body){.distance = &grid});
    CHECK(size >= 0.6 && size <= 0.6 + 2 * ball_field.spacing, "%g m", size);
}

/* Three feet at the chosen depth support the weight of the heaviest body. The estimated step is where the eigenvalue of
 * the lightest body, which lies on a side with four points, reaches the limit. */
TEST(chosen_stiffness)
{
    const double mass = 2, heavy_mass = 30, depth = SP_CONTACT_DEPTH * 0.2;
    const sp_distance plane = plane_at(0), ball = {.kind = SP_DISTANCE_SPHERE, .radius = 0.1};
    OWNED(sp_contact_pointshell) box = corners();
    OWNED(sp_inertia) inertia, heavy;
    sp_contact_choice choice;
    CHECK_OK(sp_inertia_of_numbers(&context, mass, NONE, (double[6]){9, 9, 9, 0, 0, 0}, &inertia));
    CHECK_OK(sp_inertia_of_numbers(&context, heavy_mass, NONE, (double[6]){90, 90, 90, 0, 0, 0}, &heavy));
    for (int kind = 0; kind < 4; kind++) { /* plain, damped, limited to two points, beside another free body */
        sp_contact_scene_parameters p = parameters_of(1, 1);
        p.gravity[2] = -GRAVITY;
        p.penalty.damping = kind == 1 ? 300 : 0;
        p.penalty.limit = kind == 2 ? 2 : INFINITY;
        p.penalty.direction = SP_PENALTY_GRADIENT;
        sp_contact_scene_body bodies[4] = {
            {.distance = &plane}, {.distance = &ball}, free_of(&box, &inertia, NULL), free_of(&box, &heavy, NULL)};
        const int count = kind == 3 ? 4 : 3;
        CHECK_OK(sp_contact_choose(&context, &p, count, bodies, &choice));
        const double points = kind == 2 ? 2 : 3, most = kind == 3 ? heavy_mass : mass;
        CHECK(choice.heaviest == count - 1 && choice.smallest == 1 && choice.stiffest == 2, "of wrong bodies");
        CHECK_NEAR(points * choice.stiffness * depth, most * GRAVITY, 1e-12 * most * GRAVITY);
        /* the same contact, in a scene with steps of this length */
        p.step = choice.step;
        p.penalty.stiffness = choice.stiffness;
        OWNED_POINTER(sp_free_body) *light = rigid(&inertia, p.step), *other = rigid(&heavy, p.step);
        sp_pose on_floor = at_place(0, 0, 0.4 - depth);
        p.gravity[2] = 0;
        sp_free_body_place(light, &on_floor, NONE, NONE, NULL, NULL);
        sp_free_body_place(other, &(sp_pose){{0, 0, 0}, {1, 0, 0, 0}}, NONE, NONE, NULL, NULL);
        bodies[0].pose = at_place(0, 0, 0);
        sp_contact_scene_body pair[2] = {free_of(&box, &inertia, light), bodies[0]};
        if (kind == 3)
            pair[1] = (sp_contact_scene_body){
                .motion = SP_CONTACT_SCENE_FREE, .distance = &plane, .free = other, .inertia = &heavy};
        OWNED_POINTER(sp_contact_scene) *world = new_world(&p, 2, pair, 1, &(sp_contact_scene_pair){0, 1}, false);
        CHECK_OK(sp_contact_scene_step(world));
        CHECK_NEAR(sp_contact_scene_reported(world)->sunk, depth / 0.4, 1e-12);
        CHECK_NEAR(sp_contact_scene_reported(world)->sunk_depth, depth, 1e-12);
    }
}

TEST(choices_refused)
{
    const sp_distance plane = plane_at(0);
    OWNED(sp_contact_pointshell) box = corners();
    OWNED(sp_inertia) inertia = ball_inertia(2, 0.3, NONE);
    sp_contact_choice choice;
    sp_contact_scene_parameters p = parameters_of(1, 1);
    sp_contact_scene_body bodies[2] = {{.distance = &plane}, free_of(&box, &inertia, NULL)};
    CHECK(sp_contact_choose(&context, &p, 2, bodies, &choice) == SP_INPUT && strstr(context.message, "gravity is 0"),
          "%s", context.message);
    p.gravity[0] = 1;
    CHECK(sp_contact_choose(&context, &p, 1, bodies, &choice) == SP_INPUT && strstr(context.message, "no body is free"),
          "%s", context.message);
    bodies[1].pointshell = NULL;
    CHECK(sp_contact_choose(&context, &p, 2, bodies, &choice) == SP_INPUT && strstr(context.message, "finite size"),
          "%s", context.message);
    /* held by a coupling: its weight counts if the coupling is dynamic; without a free body there is no limit of the
     * step */
    bodies[1] = (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_COUPLED, .pointshell = &box, .inertia = &inertia};
    CHECK(sp_contact_choose(&context, &p, 2, bodies, &choice) == SP_INPUT, "its weight does not rest on contact");
    p.coupling.dynamic = true;
    CHECK_OK(sp_contact_choose(&context, &p, 2, bodies, &choice));
    CHECK(choice.heaviest == 1 && choice.stiffest == -1 && choice.step == INFINITY, "%g s", choice.step);
}

TEST(small_worlds)
{
    const sp_contact_scene_parameters p = parameters_of(1e-3, 1000);
    sp_contact_scene *world = new_world(&p, 0, NULL, 0, NULL, true);
    CHECK_OK(sp_contact_scene_step(world));
    CHECK(sp_contact_scene_reported(world)->complete && sp_contact_scene_reported(world)->lowest == INFINITY,
          "an empty world");
    sp_contact_scene_free(world);
    sp_pointshell made = ball_shell(SP_POINTSHELL_VERTICES, 6, 0, 1, 1);
    memset(made.area, 0, (size_t)made.count / 2 * sizeof *made.area);
    double weight = 0;
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&made);
    const sp_distance plane = plane_at(0);
    OWNED(sp_inertia) inertia = ball_inertia(2, 1, NONE);
    sp_free_body *ball = rigid(&inertia, p.step);
    const sp_pose deep = at_place(0, 0, 0.3), away = at_place(0, 0, 3);
    sp_contact_scene_body bodies[3] = {
        {.motion = SP_CONTACT_SCENE_FREE, .pointshell = &pointshell, .free = ball, .inertia = &inertia},
        {.motion = SP_CONTACT_SCENE_FIXED, .distance = &plane, .pose = at_place(0, 0, 0)},
        {.motion = SP_CONTACT_SCENE_FIXED}};
    sp_contact_scene_parameters weighted = p;
    weighted.penalty.by_area = true;
    sp_free_body_place(ball, &away, NONE, NONE, NULL, NULL);
    world = new_world(&weighted, 3, bodies, 1, &(sp_contact_scene_pair){0, 1}, true);
    CHECK_OK(sp_contact_scene_step(world));
    CHECK(sp_contact_scene_reported(world)->touching == 0 && sp_contact_scene_reported(world)->stiffest == 0 &&
              sp_free_body_state(ball)->c[2] == 3,
          "empty contact");
    sp_free_body_place(ball, &deep, NONE, NONE, NULL, NULL);
    CHECK_OK(sp_contact_scene_step(world));
    double F = 0, K[9] = {0}, value[3];
    int64_t count = 0;
    for (int64_t i = 0; i < pointshell.count; i++) {
        const double *x = pointshell.points + 3 * i, d = x[2] + 0.3;
        weight += d < 0 ? pointshell.weight[i] : 0;
        for (int a = 0; a < 9 && d < 0; a++) /* along radii, without torque */
            K[a] += 1000 * pointshell.weight[i] * x[a / 3] * x[a % 3] / 2;
        count += d < 0;
        F += d < 0 ? 1000 * d * pointshell.weight[i] * pointshell.points[3 * i + 2] : 0;
    }
    CHECK(count == sp_contact_scene_reported(world)->touching, "%lld",
          (long long)sp_contact_scene_reported(world)->touching);
    CHECK(fabs(weight - (double)count) > 1, "weights are not told from counts");
    CHECK_NEAR(sp_contact_scene_wrench(world, 0)[2], F, 1e-9 * F);
    CHECK(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'N', 'L', 3, K, 3, value) == 0, "LAPACK");
    CHECK_NEAR(sp_contact_scene_reported(world)->stiffest, 1e-6 * value[2], 1e-9 * value[2] * 1e-6);
    sp_contact_scene_free(world);
    /* invalid values */
    const sp_contact_scene_pair wrong[4] = {{0, 2}, {1, 0}, {0, 0}, {0, 7}};
    for (int i = 0; i < 4; i++) {
        CHECK(sp_contact_scene_new(&context, &p, 3, bodies, 1, &wrong[i], false, &world) == SP_USAGE && !world &&
                  context.message[0],
              "pair %d", i);
        sp_contact_scene_free(world);
    }
    OWNED(sp_contact_pointshell) moving = moving_point(0);
    bodies[2] = (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_FIXED, .pointshell = &moving, .thickness = 1};
    CHECK(sp_contact_scene_new(&context, &p, 3, bodies, 0, NULL, true, &world) == SP_USAGE,
          "more modes than coordinates");
    CHECK(sp_contact_scene_new(&context, &p, 3, bodies, 1, &(sp_contact_scene_pair){2, 1}, false, &world) == SP_USAGE,
          "more modes than coordinates");
    sp_free_body_free(ball);
}

/* ---- threads, coherence, allocations ---- */

/* Twenty bodies, every third one a deformable bar, fall into a corner and onto each other; all states after `steps`. */
static void pile(const sp_contact_pointshell *pointshell, int threads, bool coherence, bool tree, bool balls, int steps,
                 double *states, int64_t *touching, long *allocated)
{
    enum { BODIES = 20 };
    const int before = context.threads;
    context.threads = threads;
    const sp_distance floor = plane_at(0), wall = {.kind = SP_DISTANCE_PLANE, .normal = {1, 0, 0}, .offset = -1},
                      around = {.kind = SP_DISTANCE_SPHERE, .radius = 0.3};
    OWNED(sp_inertia) inertia = ball_inertia(20, 0.3, (double[3]){0.02, 0, 0});
    sp_free_body *free_bodies[BODIES];
    sp_contact_scene_body bodies[BODIES + 2] = {{0}};
    sp_contact_scene_pair pairs[4 * BODIES];
    int64_t pair_count = 0;
    sp_contact_scene_parameters p = parameters_of(2e-3, 8000);
    p.gravity[2] = -GRAVITY;
    p.penalty.damping = 20;
    p.penalty.limit = 20;
    p.limits.coherence = coherence;
    p.limits.tree = tree;
    for (int i = 0; i < BODIES; i++) {
        const bool deformable = i % 3 == 0;
        sp_pose pose = at_place(0.7 * (i % 3) - 0.5, 0.6 * (i / 3 % 3), 0.4 + 0.55 * (i / 9));
        random_rotation(80, (uint64_t)i, pose.q);
        free_bodies[i] = deformable ? free_bar_body(p.step) : rigid(&inertia, p.step);
        sp_free_body_place(free_bodies[i], &pose, (double[3]){-0.5, 0.1 * (i % 4), -1},
                           (double[3]){0.1 * i, 1, -0.2 * i}, NULL, NULL);
        bodies[i] = (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_FREE,
                                            .free = free_bodies[i],
                                            .inertia = deformable ? &model.inertia : &inertia,
                                            .pointshell = deformable ? &model.pointshell : pointshell,
                                            .thickness = 0.04,
                                            .r = deformable ? BAR : 0,
                                            .distance = deformable ? NULL : &around};
        pairs[pair_count++] = (sp_contact_scene_pair){i, BODIES};
        pairs[pair_count++] = (sp_contact_scene_pair){i, BODIES + 1};
        if (i > 0 && (i - 1) % 3)
            pairs[pair_count++] = (sp_contact_scene_pair){i, i - 1};
    }
    bodies[BODIES] =
        (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_FIXED, .distance = &floor, .pose = at_place(0, 0, 0)};
    bodies[BODIES + 1] =
        (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_FIXED, .distance = &wall, .pose = at_place(0, 0, 0)};
    OWNED_POINTER(sp_contact_scene) *world = new_world(&p, BODIES + 2, bodies, pair_count, pairs, balls);
    const sp_contact_scene_contact *contact;
    *touching = 0;
    for (int i = 0; i < steps; i++) {
        CHECK_OK(sp_contact_scene_step(world));
        *touching += sp_contact_scene_contacts(world, &contact);
        if (i == steps - 11)
            *allocated = allocations;
    }
    *allocated = allocations - *allocated;
    for (int i = 0; i < BODIES; i++) {
        memcpy(states, sp_free_body_state(free_bodies[i]), sizeof(sp_free_state));
        states += sizeof(sp_free_state) / sizeof *states;
        if (i % 3 == 0) {
            memcpy(states, sp_free_body_q(free_bodies[i]), BAR * sizeof *states);
            states += BAR;
        }
    }
    for (int i = 0; i < BODIES; i++)
        sp_free_body_free(free_bodies[i]);
    context.threads = before;
}

TEST(threads_and_coherence_change_nothing)
{
    enum { SIZE = 20 * 13 + 7 * BAR, STEPS = 150 };
    sp_pointshell made = ball_shell(SP_POINTSHELL_REPULSION, 12, 60, 2, 0.3);
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&made);
    double one[SIZE], other[SIZE];
    int64_t touching, again;
    long allocated;
    pile(&pointshell, 1, true, true, true, STEPS, one, &touching, &allocated);
    CHECK(touching > 10000, "%lld contacts", (long long)touching);
    for (int i = 0; i < SIZE; i++)
        CHECK(isfinite(one[i]), "state %d is %g", i, one[i]);
    pile(&pointshell, 2, true, true, true, STEPS, other, &again, &allocated);
    CHECK(!memcmp(one, other, sizeof one) && again == touching, "two threads differ");
    pile(&pointshell, 3, true, true, true, STEPS, other, &again, &allocated);
    CHECK(!memcmp(one, other, sizeof one) && again == touching, "three threads differ");
    pile(&pointshell, 2, false, true, true, STEPS, other, &again, &allocated);
    CHECK(!memcmp(one, other, sizeof one) && again == touching, "without coherence: differs");
    pile(&pointshell, 2, false, false, true, STEPS, other, &again, &allocated);
    CHECK(!memcmp(one, other, sizeof one) && again == touching, "without trees: differs");
    NOTE("%lld contacts; %ld allocations in ten steps with balls", (long long)touching, allocated);
    pile(&pointshell, 1, true, true, false, STEPS, other, &again, &allocated); /* a list may double */
    CHECK(again > 1000 && allocated <= 2, "%ld allocations in ten steps of %lld contacts", allocated, (long long)again);
}

/* ---- near pairs ---- */

typedef struct crowd_run {
    bool exhaustive, coherence, listed, soft;
    int threads;
    double friction;
    uint64_t hash;                     /* of all contacts of all steps */
    int64_t touching, visited, parted; /* steps in which a contact ended */
    double states[24 * sizeof(sp_free_state) / sizeof(double)];
} crowd_run;

static void hash_bytes(uint64_t *hash, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *hash = (*hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
}

/* Bars, rings and spheres are thrown at each other above a floor and a block. Their shapes are distance fields,
 * spheres, a box, a plane and deforming fields, in all combinations. */
static void throw_crowd(const sp_contact_pointshell *ball, crowd_run *run)
{
    enum { BODIES = 24, STEPS = 160 };
    const int before = context.threads;
    const sp_distance floor = plane_at(0),
                      block = {.kind = SP_DISTANCE_BOX, .centre = {0.5, 0.2, 0}, .half = {0.6, 0.3, 0.5}},
                      around = {.kind = SP_DISTANCE_SPHERE, .radius = 0.3};
    sp_distance grid, distances[BODIES];
    sp_deformed_field *deformed[BODIES] = {NULL};
    sp_free_body *free_bodies[BODIES];
    sp_contact_scene_body bodies[BODIES + 2] = {{0}};
    sp_contact_scene_pair pairs[(BODIES + 2) * (BODIES + 2)];
    OWNED(sp_inertia) inertia = ball_inertia(20, 0.3, NONE);
    double proxies[3 * 27];
    int64_t pair_count = 0, touched = 0;
    sp_contact_scene_parameters p = parameters_of(2e-3, 4000);
    context.threads = run->threads;
    sp_distance_of_field(&ring_field, &grid);
    for (int i = 0; i < 27; i++)
        for (int k = 0; k < 3; k++)
            proxies[3 * i + k] = (k == 0 ? 0.3 : 0.15) * ((k == 0 ? i % 3 : k == 1 ? i / 3 % 3 : i / 9) - 1);
    p.gravity[2] = -GRAVITY;
    p.penalty.damping = 20;
    p.penalty.limit = 20;
    p.limits.coherence = run->coherence;
    p.friction = run->friction;
    p.exhaustive = run->exhaustive;
    p.all = !run->listed;
    for (int i = 0; i < BODIES; i++) {
        const int kind = i % 3;
        sp_pose pose = at_place(0.9 * (i % 4) - 1.2, 0.9 * (i / 4 % 2) - 0.3, 0.9 + 0.9 * (i / 8));
        random_rotation(90, (uint64_t)i, pose.q);
        free_bodies[i] = kind == 0 ? free_bar_body(p.step) : rigid(&inertia, p.step);
        sp_free_body_place(free_bodies[i], &pose, (double[3]){1.5 * sin(3 * i), 1.5 * cos(5 * i), -3 * (i % 2)},
                           (double[3]){0.5 * i, 1, -0.2 * i}, NULL, NULL);
        if (kind == 0 && run->soft) {
            const sp_deformed_domain domain = {.field = &model.field, .count = 27, .points = proxies};
            CHECK_OK(sp_deformed_field_new(&context, &model.mesh, BAR, model.U, 1, &domain, 5, &deformed[i]));
            distances[i] = (sp_distance){
                .kind = SP_DISTANCE_DEFORMED, .deformed = deformed[i], .slack = sqrt(3) * model.field.spacing};
        }
        bodies[i] = (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_FREE,
                                            .free = free_bodies[i],
                                            .inertia = kind == 0 ? &model.inertia : &inertia,
                                            .pointshell = kind == 0   ? &model.pointshell
                                                          : kind == 1 ? &ring
                                                                      : ball,
                                            .r = kind == 0 ? BAR : 0,
                                            .deformed = deformed[i],
                                            .distance = deformed[i] ? &distances[i]
                                                        : kind == 0 ? NULL
                                                        : kind == 1 ? &grid
                                                                    : &around};
    }
    bodies[BODIES] =
        (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_FIXED, .distance = &floor, .pose = at_place(0, 0, 0)};
    bodies[BODIES + 1] =
        (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_FIXED, .distance = &block, .pose = at_place(0, 0, 0)};
    for (int64_t i = 0; i < BODIES && run->listed; i++)
        for (int64_t j = 0; j < BODIES + 2; j++)
            if (i != j && bodies[j].distance)
                pairs[pair_count++] = (sp_contact_scene_pair){i, j};
    OWNED_POINTER(sp_contact_scene) *world = new_world(&p, BODIES + 2, bodies, pair_count, pairs, false);
    run->hash = 14695981039346656037u;
    run->touching = run->visited = run->parted = 0;
    for (int i = 0; i < STEPS; i++) {
        const sp_contact_scene_contact *contact;
        CHECK_OK(sp_contact_scene_step(world));
        const int64_t count = sp_contact_scene_contacts(world, &contact);
        for (int64_t c = 0; c < count; c++) {
            hash_bytes(&run->hash, contact[c].body, sizeof contact[c].body);
            hash_bytes(&run->hash, &contact[c].point, sizeof contact[c].point);
            hash_bytes(&run->hash, contact[c].at, sizeof contact[c].at + sizeof contact[c].force);
        }
        run->touching += count;
        run->visited += sp_contact_scene_reported(world)->visited;
        run->parted += count < touched;
        touched = count;
    }
    for (int i = 0; i < BODIES; i++)
        memcpy(run->states + (size_t)i * sizeof(sp_free_state) / sizeof(double), sp_free_body_state(free_bodies[i]),
               sizeof(sp_free_state));
    for (int i = 0; i < BODIES; i++) {
        sp_free_body_free(free_bodies[i]);
        sp_deformed_field_free(deformed[i]);
    }
    context.threads = before;
}

/* Without coherence for deforming fields, which are approximations for which coherence may miss contacts. */
TEST(near_pairs_find_what_all_pairs_find)
{
    sp_pointshell made = ball_shell(SP_POINTSHELL_REPULSION, 12, 80, 3, 0.3);
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&made);
    static crowd_run all, near;
    for (int soft = 0; soft < 2; soft++) {
        all = (crowd_run){.exhaustive = true, .soft = soft, .threads = 1, .friction = 0.5};
        throw_crowd(&pointshell, &all);
        CHECK(all.touching > 5000 && all.parted > 20, "%lld contacts, fewer %lld times", (long long)all.touching,
              (long long)all.parted);
        for (int i = 0; i < 3; i++) {
            near = (crowd_run){.exhaustive = i == 2,
                               .coherence = !soft,
                               .soft = soft,
                               .listed = i == 1,
                               .threads = 2 + i % 2,
                               .friction = 0.5};
            throw_crowd(&pointshell, &near);
            CHECK(near.hash == all.hash && !memcmp(near.states, all.states, sizeof all.states),
                  "soft %d, run %d: %lld contacts of %lld", soft, i, (long long)near.touching, (long long)all.touching);
            if (i == 0)
                NOTE("soft %d: %lld contacts, %lld of %lld nodes looked at", soft, (long long)near.touching,
                     (long long)near.visited, (long long)all.visited);
            CHECK(i == 2 || near.visited < all.visited / 2, "%lld of %lld nodes", (long long)near.visited,
                  (long long)all.visited);
        }
    }
}

/* Distant spheres have no contact states. Too many at one place are refused before states are allocated. */
TEST(memory_is_refused_with_an_estimate)
{
    enum { BODIES = 200 };
    sp_pointshell made = ball_shell(SP_POINTSHELL_REPULSION, 12, 80, 3, 0.3);
    OWNED(sp_contact_pointshell) pointshell = contact_shell(&made);
    OWNED(sp_inertia) inertia = ball_inertia(20, 0.3, NONE);
    const sp_distance around = {.kind = SP_DISTANCE_SPHERE, .radius = 0.3};
    sp_free_body *free_bodies[BODIES];
    sp_contact_scene_body bodies[BODIES] = {{0}};
    for (int gathered = 0; gathered < 2; gathered++) {
        sp_contact_scene_parameters p = parameters_of(1e-3, 100);
        p.all = true;
        p.memory = 4e6;
        for (int i = 0; i < BODIES; i++) {
            const sp_pose pose = at_place((gathered ? 0.001 : 0.7) * (i % 5), (gathered ? 0.001 : 0.7) * (i / 5), 0);
            free_bodies[i] = rigid(&inertia, p.step);
            sp_free_body_place(free_bodies[i], &pose, NONE, NONE, NULL, NULL);
            bodies[i] = (sp_contact_scene_body){.motion = SP_CONTACT_SCENE_FREE,
                                                .free = free_bodies[i],
                                                .inertia = &inertia,
                                                .pointshell = &pointshell,
                                                .distance = &around};
        }
        OWNED_POINTER(sp_contact_scene) *world = new_world(&p, BODIES, bodies, 0, NULL, false);
        const int status = sp_contact_scene_step(world);
        if (gathered) /* 200 × 199 pairs of at least 80 nodes of 8 bytes */
            CHECK(status == SP_SYSTEM &&
                      strstr(context.message, "39800 pairs of bodies are near each other at 0 s and need about 0."),
                  "%d: %s", status, context.message);
        else
            CHECK(status == SP_OK && sp_contact_scene_reported(world)->visited == 0 &&
                      sp_contact_scene_reported(world)->deepest == 0,
                  "%s", context.message);
        for (int i = 0; i < BODIES; i++)
            sp_free_body_free(free_bodies[i]);
    }
}

BEFORE_TESTS()
{
    make_models();
}

AFTER_TESTS()
{
    free_models();
}
