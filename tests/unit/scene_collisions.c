/* Scenes whose bodies rest, collide, are braked by pulses and slide: momenta, energy, friction. */
#include "model/models.h"
#include "scene_models.h"

OWNER(sp_deformed_field)
OWNER(sp_voxmap)

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
