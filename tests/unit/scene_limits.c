/* Edge cases of scenes, choices of stiffness, near pairs; threads, coherence and memory. */
#include "allocations.h"
#include "scene_models.h"

#include <lapacke.h>

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
