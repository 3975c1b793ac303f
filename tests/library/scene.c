/* Tests of scenes of the public library. The files of tests/cli/data.bash are in the current folder, and rigid.json and
 * free.json, which tests/cli/library.bats writes. With the argument "run", it moves a scene and prints where its bodies
 * are. */
#include "tests/library/library_test.h"

#include <pthread.h>

static supple_scene *opened(const char *path, double step)
{
    supple_scene_options how = supple_scene_options_default();
    supple_scene *scene = NULL;
    how.step = step;
    GOOD(supple_scene_open(path, &how, &scene));
    if (!scene)
        exit(1);
    return scene;
}

static void steps(supple_scene *scene, int count)
{
    for (int i = 0; i < count; i++)
        GOOD(supple_scene_step(scene));
}

static int64_t body(const supple_scene *scene, const char *name)
{
    int64_t number = -1;
    GOOD(supple_scene_find(scene, name, &number));
    return number;
}

/* Poses, velocities and coordinates of all bodies are the same bytes. */
static bool same(const supple_scene *a, const supple_scene *b)
{
    bool equal = supple_scene_time(a) == supple_scene_time(b);
    for (int64_t i = 0; i < supple_scene_bodies(a); i++) {
        supple_pose pose[2];
        double twist[2][6], q[2][64] = {{0}}, v[2][64] = {{0}};
        GOOD(supple_scene_state(a, i, &pose[0], twist[0], q[0], v[0]));
        GOOD(supple_scene_state(b, i, &pose[1], twist[1], q[1], v[1]));
        equal &= !memcmp(&pose[0], &pose[1], sizeof pose[0]) && !memcmp(twist[0], twist[1], sizeof twist[0]) &&
                 !memcmp(q[0], q[1], sizeof q[0]) && !memcmp(v[0], v[1], sizeof v[0]);
    }
    return equal;
}

TEST(wrong_calls)
{
    supple_scene_options how = supple_scene_options_default(), wrong = how;
    supple_scene *scene = (supple_scene *)&how;
    int64_t number, count;
    double x[6] = {0};
    const supple_pose still = {{0, 0, 0}, {1, 0, 0, 0}};

    /* Arguments and options */
    REFUSED(supple_scene_open(NULL, &how, &scene), SUPPLE_USAGE, "path is NULL");
    CHECK(scene == NULL, "it is set");
    REFUSED(supple_scene_open("scene.json", NULL, &scene), SUPPLE_USAGE, "options is NULL");
    wrong.step = 0;
    REFUSED(supple_scene_open("scene.json", &wrong, &scene), SUPPLE_USAGE, "step is 0");
    wrong = how;
    wrong.threads = 0;
    REFUSED(supple_scene_open("scene.json", &wrong, &scene), SUPPLE_USAGE, "threads is 0");
    wrong = how;
    wrong.tolerance = NAN;
    REFUSED(supple_scene_open("scene.json", &wrong, &scene), SUPPLE_USAGE, "tolerance");

    /* Files */
    REFUSED(supple_scene_open("nothing.json", &how, &scene), SUPPLE_INPUT, "nothing.json: cannot open");
    REFUSED(supple_scene_open("loads.csv", &how, &scene), SUPPLE_INPUT, "loads.csv: line 1");
    REFUSED(supple_scene_step(NULL), SUPPLE_USAGE, "scene is NULL");
    supple_scene_close(NULL);
    write_file("lost.json", "{\"contact\": {\"stiffness\": 1}, \"bodies\": [{\"name\": \"bar\", \"model\": \"bar\"}],\n"
                            "\"models\": {\"bar\": {\"kind\": \"rigid\", \"mesh\": \"lost.npz\"}}}");
    REFUSED(supple_scene_open("lost.json", &how, &scene), SUPPLE_INPUT, "lost.npz: cannot open: No such file");
    CHECK(!strncmp(supple_error(), "lost.npz: ", 10), "%s", supple_error());

    /* Bodies, forces and motions */
    scene = opened("scene.json", 0.001);
    REFUSED(supple_scene_find(scene, "nobody", &number), SUPPLE_USAGE, "nobody");
    REFUSED(supple_scene_state(scene, 99, NULL, NULL, NULL, NULL), SUPPLE_USAGE, "body 99 of");
    REFUSED(supple_scene_positions(scene, body(scene, "table"), 1, NULL, x), SUPPLE_USAGE, "0 vertices");
    REFUSED(supple_scene_set_forces(scene, 1, &(supple_point_force){body(scene, "table"), -1, {0, 0, 1}}), SUPPLE_USAGE,
            "table is rigid and not free");
    REFUSED(supple_scene_set_forces(scene, 1, &(supple_point_force){body(scene, "arm"), 100000, {0, 0, 1}}),
            SUPPLE_USAGE, "vertex 100000");
    REFUSED(supple_scene_set_forces(scene, 1, &(supple_point_force){-1, 0, {0, 0, 1}}), SUPPLE_USAGE, "body -1");
    REFUSED(supple_scene_set_gravity(scene, (double[3]){NAN, 0, 0}), SUPPLE_USAGE, "not finite");
    REFUSED(supple_scene_move_body(scene, body(scene, "arm"), &still, NULL), SUPPLE_USAGE, "is not \"path\"");
    REFUSED(supple_scene_move_hand(scene, &(supple_pose){{0, 0, 0}, {0, 0, 0, 0}}, NULL), SUPPLE_USAGE, "zero");
    REFUSED(supple_scene_contacts(scene, -1, NULL, &count), SUPPLE_USAGE, "room is -1");
    REFUSED(supple_scene_set_forces(scene, 1, &(supple_point_force){body(scene, "arm"), -1, {0, 0, 1}}), SUPPLE_USAGE,
            "the frame of body arm is not free");

    /* Saved states */
    memset(x, 9, sizeof x);
    REFUSED(supple_scene_load(scene, x, sizeof x), SUPPLE_INPUT, "no state");
    REFUSED(supple_scene_load(scene, NULL, 8), SUPPLE_USAGE, "state is NULL");
    steps(scene, 1);
    CHECK(supple_scene_bodies(NULL) == 0 && !supple_scene_body_name(scene, 77), "out of range");
    supple_scene_close(scene);

    /* A scene without a coupling */
    scene = opened("rigid.json", 0.001);
    REFUSED(supple_scene_move_hand(scene, &still, NULL), SUPPLE_USAGE, "no coupling");
    REFUSED(supple_scene_hand(scene, NULL, NULL, NULL), SUPPLE_USAGE, "no coupling");
    REFUSED(supple_scene_clutch(scene, true), SUPPLE_USAGE, "no coupling");
    REFUSED(supple_scene_clutch(NULL, true), SUPPLE_USAGE, "scene is NULL");
    supple_scene_close(scene);
}

/* A hand that is moved as the path in the file. */
TEST(a_hand_as_its_path)
{
    supple_scene *file = opened("scene.json", 0.001), *moved = opened("scene.json", 0.001);
    const supple_pose hand = {{3, -2, 0.5}, {1, 0, 0, 0}};
    supple_pose at;
    double device[6];
    for (int i = 0; i < 50; i++) {
        GOOD(supple_scene_move_hand(moved, &hand, NULL));
        steps(file, 1);
        steps(moved, 1);
    }
    CHECK(same(file, moved), "they differ");
    const supple_pose far = {{3.1, -2, 0.5}, {1, 0, 0, 0}};
    GOOD(supple_scene_move_hand(moved, &far, NULL));
    steps(moved, 1);
    GOOD(supple_scene_hand(moved, &at, NULL, device));
    CHECK_NEAR(at.position[0], 3.1, 0);
    GOOD(supple_scene_move_hand(moved, &far, (double[6]){0, 0, 0, 0, 0, 2}));
    steps(moved, 1);
    GOOD(supple_scene_hand(moved, &at, NULL, NULL));
    CHECK_NEAR(at.rotation[3], sin(0.001), 1e-12); /* half of 2 rad/s for a step */
    supple_scene_close(file);
    supple_scene_close(moved);
}

static supple_pose hand_of(const supple_scene *scene)
{
    supple_pose at = {{0}, {0}};
    GOOD(supple_scene_hand(scene, &at, NULL, NULL));
    return at;
}

/* With the clutch held the device goes away and turns, by poses and by a velocity, and the manipulandum rests; then it
 * goes on from there. A state that was saved meanwhile has the clutch. The first pose ends the clutch of the file. */
TEST(a_clutch)
{
    supple_scene *scene = opened("scene.json", 0.001), *other = opened("scene.json", 0.001);
    const supple_pose start = {{3, -2, 0.5}, {1, 0, 0, 0}}, away = {{1, 1, 1}, {0.6, 0, 0, 0.8}},
                      turned = {{1, 1.5, 1}, {0, 0, 0, 1}};
    supple_pose at;
    size_t size = 0;
    GOOD(supple_scene_move_hand(scene, &start, NULL));
    steps(scene, 1);
    GOOD(supple_scene_clutch(scene, true));
    GOOD(supple_scene_move_hand(scene, &away, (double[6]){1, 2, 3, 1, 0, 0}));
    steps(scene, 20);
    at = hand_of(scene);
    CHECK(!memcmp(&at, &start, sizeof at), "it moved to %g", at.position[0]);

    GOOD(supple_scene_save(scene, NULL, &size));
    void *state = malloc(size);
    GOOD(supple_scene_save(scene, state, &size));
    GOOD(supple_scene_load(other, state, size));
    supple_scene *both[] = {scene, other};
    for (int i = 0; i < 2; i++) {
        GOOD(supple_scene_move_hand(both[i], &away, NULL));
        GOOD(supple_scene_clutch(both[i], false));
        GOOD(supple_scene_move_hand(both[i], &turned, NULL));
        steps(both[i], 5);
        at = hand_of(both[i]);
        /* 0.5 m along y, and the turn about z from (0.6, 0.8) to (0, 1) */
        CHECK_NEAR(at.position[0], 3, 1e-15);
        CHECK_NEAR(at.position[1], -1.5, 1e-15);
        CHECK_NEAR(at.rotation[0], 0.8, 1e-15);
        CHECK_NEAR(at.rotation[3], 0.6, 1e-15);
    }
    CHECK(same(scene, other), "they differ");
    supple_scene_close(scene);
    supple_scene_close(other);
    free(state);

    write_file("held.csv", "0,3,-2,0.5,1,0,0,0,1\n1,4,-2,0.5,1,0,0,0,1\n");
    write_file(
        "held.json",
        "{\"models\": {\"box\": {\"kind\": \"rigid\", \"box\": {\"half\": [1, 1, 1]}}},\n"
        "\"bodies\": [{\"name\": \"box\", \"model\": \"box\", \"motion\": \"coupled\", \"position\": [3, -2, 0.5]}],\n"
        "\"contact\": {\"stiffness\": 1},\n"
        "\"coupling\": {\"kind\": \"static\", \"body\": \"box\", \"path\": \"held.csv\", \"stiffness\": 100,\n"
        "\"torque_stiffness\": 1}}");
    scene = opened("held.json", 0.001);
    steps(scene, 100);
    at = hand_of(scene);
    CHECK(!memcmp(&at, &start, sizeof at), "it moved to %g", at.position[0]);
    GOOD(supple_scene_move_hand(scene, &away, NULL));
    steps(scene, 1);
    at = hand_of(scene);
    CHECK_NEAR(at.position[0], 3, 1e-15);
    GOOD(supple_scene_move_hand(scene, &turned, NULL));
    steps(scene, 1);
    at = hand_of(scene);
    CHECK_NEAR(at.position[1], -1.5, 1e-15);
    supple_scene_close(scene);
}

/* F = m a for a body of 1 kg about its centre, from rest. */
TEST(a_force_moves_a_mass)
{
    supple_scene *scene = opened("scene.json", 0.001);
    const int64_t ball = body(scene, "balls[0]");
    const supple_point_force force = {ball, -1, {3, 0, 9.81}};
    supple_pose start, end;
    double twist[6];
    GOOD(supple_scene_state(scene, ball, &start, NULL, NULL, NULL));
    GOOD(supple_scene_set_forces(scene, 1, &force));
    steps(scene, 100);
    GOOD(supple_scene_state(scene, ball, &end, twist, NULL, NULL));
    CHECK_NEAR(twist[0], 0.3, 1e-12);
    CHECK_NEAR(twist[2], 0, 1e-12);
    CHECK_NEAR(end.position[0] - start.position[0], 0.5 * 3 * 0.01, 1e-12);
    GOOD(supple_scene_set_forces(scene, 0, NULL));
    GOOD(supple_scene_set_gravity(scene, (double[3]){0, 0, -1}));
    steps(scene, 100);
    GOOD(supple_scene_state(scene, ball, NULL, twist, NULL, NULL));
    CHECK_NEAR(twist[0], 0.3, 1e-12);
    CHECK_NEAR(twist[2], -0.1, 1e-12);
    supple_scene_close(scene);
}

static void centre(const supple_scene *scene, int64_t number, double c[3])
{
    const int64_t n = supple_scene_vertices(scene, number);
    double *x = malloc((size_t)(3 * n) * sizeof *x);
    GOOD(supple_scene_positions(scene, number, n, NULL, x));
    c[0] = c[1] = c[2] = 0;
    for (int64_t i = 0; i < 3 * n; i++)
        c[i % 3] += x[i] / (double)n;
    free(x);
}

/* Two opposite forces on a rigid bar, whose vertices are placed symmetrically, turn it about its centre. */
TEST(a_couple_turns)
{
    supple_scene *scene = opened("rigid.json", 0.001);
    const int64_t bar = body(scene, "bar"), n = supple_scene_vertices(scene, bar);
    supple_point_force force[2] = {{bar, 0, {0, 0, 1}}, {bar, n - 1, {0, 0, -1}}};
    double before[3], after[3], twist[6], x[6], energy = 0;
    supple_scene_energy now;
    centre(scene, bar, before);
    GOOD(supple_scene_positions(scene, bar, 2, (int64_t[]){0, n - 1}, x));
    const double arm = x[0] - x[3];
    GOOD(supple_scene_set_forces(scene, 2, force));
    for (int i = 0; i < 200; i++) {
        double y[6];
        steps(scene, 1);
        GOOD(supple_scene_positions(scene, bar, 2, (int64_t[]){0, n - 1}, y));
        energy += y[2] - x[2] - (y[5] - x[5]); /* the work of both forces */
        memcpy(x, y, sizeof x);
    }
    centre(scene, bar, after);
    GOOD(supple_scene_state(scene, bar, NULL, twist, NULL, NULL));
    GOOD(supple_scene_energies(scene, &now));
    for (int k = 0; k < 3; k++)
        CHECK_NEAR(after[k], before[k], 1e-12);
    CHECK(fabs(arm) > 2 && twist[4] * arm < 0, "arm %g, turning %g", arm, twist[4]);
    CHECK_NEAR(now.kinetic, energy, 1e-5 * energy);
    supple_scene_close(scene);
}

/* The energy-conserving step of a deformable body: the work of a constant force is its energy. */
TEST(work_becomes_energy)
{
    supple_scene_options how = supple_scene_options_default();
    supple_scene *scene = NULL;
    supple_scene_energy now, first;
    double x[3], y[3];
    how.energy = true;
    how.step = 0.001;
    GOOD(supple_scene_open("scene.json", &how, &scene));
    const int64_t arm = body(scene, "arm"), vertex = supple_scene_vertices(scene, arm) - 1;
    GOOD(supple_scene_set_gravity(scene, (double[3]){0, 0, 0}));
    GOOD(supple_scene_positions(scene, arm, 1, &vertex, x));
    GOOD(supple_scene_energies(scene, &first));
    GOOD(supple_scene_set_forces(scene, 1, &(supple_point_force){arm, vertex, {1, 2, -3}}));
    steps(scene, 300);
    GOOD(supple_scene_positions(scene, arm, 1, &vertex, y));
    GOOD(supple_scene_energies(scene, &now));
    const double work = (y[0] - x[0]) + 2 * (y[1] - x[1]) - 3 * (y[2] - x[2]);
    CHECK(work > 0, "work %g", work);
    CHECK_NEAR(now.kinetic + now.strain - first.kinetic - first.strain, work, 1e-9 * work);
    supple_scene_close(scene);
}

TEST(saved)
{
    supple_scene *one = opened("rigid.json", 0.001), *other = opened("rigid.json", 0.001);
    size_t size = 0;

    GOOD(supple_scene_set_gravity(one, (double[3]){0, 0, -9.81}));
    GOOD(supple_scene_set_gravity(other, (double[3]){0, 0, -9.81}));
    steps(one, 200);
    GOOD(supple_scene_save(one, NULL, &size));
    char *state = malloc(size);
    GOOD(supple_scene_save(one, state, &size));

    /* Another scene, and the same one, go on from the state. */
    GOOD(supple_scene_load(other, state, size));
    CHECK(same(one, other), "at once");
    steps(one, 100);
    steps(other, 100);
    CHECK(same(one, other), "100 steps later");
    GOOD(supple_scene_load(one, state, size)); /* back */
    steps(one, 100);
    CHECK(same(one, other), "the same scene again");

    /* There is a contact in it. */
    supple_contact_report report;
    supple_contact contact[4];
    int64_t count;
    double wrench[6];
    GOOD(supple_scene_report(one, &report));
    GOOD(supple_scene_contacts(one, 4, contact, &count));
    GOOD(supple_scene_contact_force(one, body(one, "bar"), wrench));
    CHECK(report.points > 0 && count == report.points, "%lld points, %lld contacts", (long long)report.points,
          (long long)count);
    CHECK(wrench[2] > 0, "force %g", wrench[2]);

    /* States that are cut off or damaged are refused, without an effect. */
    for (size_t cut = 0; cut < size; cut += 1 + size / 20) {
        char *copy = malloc(cut + 1);
        memcpy(copy, state, cut);
        CHECK(supple_scene_load(other, copy, cut) == SUPPLE_INPUT, "%zu of %zu bytes: %s", cut, size, supple_error());
        free(copy);
    }
    for (size_t i = 0; i < size; i++) { /* damaged at one place */
        const char kept = state[i];
        state[i] ^= (char)(1 << i % 8);
        CHECK(supple_scene_load(other, state, size) == SUPPLE_INPUT, "byte %zu", i);
        state[i] = kept;
    }

    steps(one, 10);
    steps(other, 10);
    CHECK(same(one, other), "after states that were refused");
    GOOD(supple_scene_load(other, state, size));
    steps(other, 110);
    CHECK(same(one, other), "after another load");

    /* Scenes of other files or options */
    supple_scene *longer = opened("rigid.json", 0.002), *arm = opened("scene.json", 0.001);
    REFUSED(supple_scene_load(longer, state, size), SUPPLE_INPUT, "files and options");
    REFUSED(supple_scene_load(arm, state, size), SUPPLE_INPUT, "files and options");
    supple_scene_close(longer);
    supple_scene_close(arm);

    free(state);
    supple_scene_close(one);
    supple_scene_close(other);
}

/* A scene reads its paths again when it goes back: without them it waits for another load. */
TEST(files_that_vanish)
{
    supple_scene *scene = opened("scene.json", 0.001), *plain = opened("scene.json", 0.001);
    supple_pose pose;
    size_t size = 0;
    steps(scene, 5);
    GOOD(supple_scene_save(scene, NULL, &size));
    char *state = malloc(size);
    GOOD(supple_scene_save(scene, state, &size));
    rename("hand.csv", "gone.csv");
    REFUSED(supple_scene_load(scene, state, size), SUPPLE_INPUT, "hand.csv: cannot open");
    REFUSED(supple_scene_step(scene), SUPPLE_USAGE, "cannot go on");
    REFUSED(supple_scene_state(scene, 0, &pose, NULL, NULL, NULL), SUPPLE_USAGE, "cannot go on");
    REFUSED(supple_scene_load(scene, state, size), SUPPLE_INPUT, "hand.csv: cannot open");
    CHECK(supple_scene_bodies(scene) == supple_scene_bodies(plain) && supple_scene_time(scene) == 0, "%g",
          supple_scene_time(scene));
    rename("gone.csv", "hand.csv");
    GOOD(supple_scene_load(scene, state, size));
    steps(scene, 5);
    steps(plain, 10);
    CHECK(same(scene, plain), "they differ");
    free(state);
    supple_scene_close(scene);
    supple_scene_close(plain);
}

/* Numbers so large that products overflow: a refusal, or poses that are finite. */
TEST(huge_numbers)
{
    const supple_pose far[2] = {{{1e300, 0, 0}, {1e300, 1e300, 0, 0}}, {{3, -2, 0.5}, {1, 0, 0, 0}}};
    const double fast[2][6] = {{0}, {1e300, 0, 0, 0, 1e300, 1e300}};
    for (int i = 0; i < 2; i++) {
        supple_scene *scene = opened("scene.json", 0.001);
        supple_pose at;
        supple_status status = supple_scene_move_hand(scene, &far[i], fast[i]);
        for (int k = 0; k < 3 && status == SUPPLE_OK; k++)
            status = supple_scene_step(scene);
        if (status == SUPPLE_OK)
            for (int64_t b = 0; b < supple_scene_bodies(scene); b++) {
                GOOD(supple_scene_state(scene, b, &at, NULL, NULL, NULL));
                CHECK(isfinite(at.position[0] + at.position[1] + at.position[2] + at.rotation[0] + at.rotation[1] +
                               at.rotation[2] + at.rotation[3]),
                      "motion %d, body %d: %g %g", i, (int)b, at.position[0], at.rotation[0]);
            }
        supple_scene_close(scene);
    }
    supple_scene_options how = supple_scene_options_default();
    supple_scene *scene = NULL;
    how.step = 1e300;
    if (supple_scene_open("scene.json", &how, &scene) == SUPPLE_OK)
        CHECK(supple_scene_step(scene) != SUPPLE_OK, "a step of 1e300 s");
    supple_scene_close(scene);
}

/* Counts for which there can be no array: nothing is read. */
TEST(counts_without_memory)
{
    const int64_t counts[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 2, INT64_MAX / 3 + 1}, vertex = 0;
    supple_scene *scene = opened("scene.json", 0.001);
    const supple_point_force force = {body(scene, "arm"), 0, {0, 0, 1}};
    double x[3];
    float y[3];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        REFUSED(supple_scene_set_forces(scene, counts[i], &force), SUPPLE_USAGE, "count is");
        REFUSED(supple_scene_positions(scene, force.body, counts[i], &vertex, x), SUPPLE_USAGE, "count is");
        REFUSED(supple_scene_positions_float(scene, force.body, counts[i], &vertex, y), SUPPLE_USAGE, "count is");
    }
    supple_scene_close(scene);
}

/* ---- a free body that deforms ---- */

enum { CORNERS = 1000 };

/* A box of equal voxels: the consistent mass of two vertices is a product of those of lines of elements, h/3 at an end,
 * 2h/3 between, h/6 beside each other. */
static double shared_mass(int64_t n, const double *X, int64_t a, int64_t b, double h, double density)
{
    double mass = density;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int64_t v = 0; v < n; v++) {
            low = fmin(low, X[3 * v + k]);
            high = fmax(high, X[3 * v + k]);
        }
        const double apart = fabs(X[3 * a + k] - X[3 * b + k]) / h;
        const bool end = X[3 * a + k] < low + 0.5 * h || X[3 * a + k] > high - 0.5 * h;
        mass *= apart > 1.5 ? 0 : apart > 0.5 ? h / 6 : end ? h / 3 : 2 * h / 3;
    }
    return mass;
}

static double least_distance(int64_t n, const double *X)
{
    double least = INFINITY;
    for (int64_t v = 1; v < n; v++)
        least = fmin(least, sqrt(pow(X[3 * v] - X[0], 2) + pow(X[3 * v + 1] - X[1], 2) + pow(X[3 * v + 2] - X[2], 2)));
    return least;
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Positions x and velocities v of all vertices: ẋ = v₀ + ω × (x − x₀) + R U q̇. */
static void vertices_of(const supple_scene *scene, const supple_body *model, double *x, double *v)
{
    const int64_t n = supple_body_vertices(model);
    supple_pose pose;
    double twist[6], rate[64], turned[3], along[3], twice[3];
    GOOD(supple_scene_state(scene, 0, &pose, twist, NULL, rate));
    GOOD(supple_scene_positions(scene, 0, n, NULL, x));
    for (int64_t a = 0; a < n; a++) {
        double u[3] = {0}, arm[3];
        for (int64_t j = 0; j < supple_body_coordinates(model); j++)
            for (int k = 0; k < 3; k++)
                u[k] += supple_body_basis(model)[j * 3 * n + 3 * a + k] * rate[j];
        cross(pose.rotation + 1, u, along); /* R u = u + 2 (w p × u + p × (p × u)) */
        cross(pose.rotation + 1, along, twice);
        for (int k = 0; k < 3; k++)
            arm[k] = x[3 * a + k] - pose.position[k];
        cross(twist + 3, arm, turned);
        for (int k = 0; k < 3; k++)
            v[3 * a + k] = twist[k] + turned[k] + u[k] + 2 * (pose.rotation[0] * along[k] + twice[k]);
    }
}

/* Linear momentum, and the angular one about the centre of mass. */
static void momenta(const supple_body *model, const double *M, const double *x, const double *v, double P[3],
                    double L[3], double centre[3])
{
    const int64_t n = supple_body_vertices(model);
    double mass = 0, of[3] = {0}, turned[3];
    memset(P, 0, 3 * sizeof *P);
    memset(L, 0, 3 * sizeof *L);
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++) {
            const double m = M[a * n + b];
            mass += m;
            cross(x + 3 * a, v + 3 * b, turned);
            for (int k = 0; k < 3; k++) {
                of[k] += m * x[3 * a + k];
                P[k] += m * v[3 * b + k];
                L[k] += m * turned[k];
            }
        }
    for (int k = 0; k < 3; k++)
        centre[k] = of[k] / mass;
    cross(centre, P, turned);
    for (int k = 0; k < 3; k++)
        L[k] -= turned[k];
}

/* Applies a force to one vertex for 0.2 s; returns the difference of the angular momentum and the impulse of the
 * torque. */
static double push(const supple_body *model, const double *M, int count, double *deformed)
{
    static double x[3 * CORNERS], v[3 * CORNERS], before[3 * CORNERS];
    supple_scene *scene = opened("free.json", 0.2 / count);
    const int64_t n = supple_body_vertices(model), vertex = n - 1;
    const double F[3] = {300, -2000, 4000};
    double P[3], L[3], c[2][3], impulse[3] = {0}, error = 0, size = 0, q[64];
    GOOD(supple_scene_set_forces(scene, 1, &(supple_point_force){0, vertex, {F[0], F[1], F[2]}}));
    vertices_of(scene, model, before, v);
    momenta(model, M, before, v, P, L, c[0]);
    for (int i = 0; i < count; i++) {
        double arm[3], torque[3];
        steps(scene, 1);
        vertices_of(scene, model, x, v);
        momenta(model, M, x, v, P, L, c[1]);
        for (int k = 0; k < 3; k++)
            arm[k] = 0.5 * (before[3 * vertex + k] + x[3 * vertex + k] - c[0][k] - c[1][k]);
        cross(arm, F, torque);
        for (int k = 0; k < 3; k++)
            impulse[k] += torque[k] * 0.2 / count;
        memcpy(before, x, sizeof before);
        memcpy(c[0], c[1], sizeof c[0]);
    }
    GOOD(supple_scene_state(scene, 0, NULL, NULL, q, NULL));
    for (int64_t j = 0; j < supple_body_coordinates(model); j++)
        *deformed = fmax(*deformed, fabs(q[j]));
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(P[k], 0.2 * F[k], 1e-9 * 1000);
        error = fmax(error, fabs(L[k] - impulse[k]));
        size = fmax(size, fabs(impulse[k]));
    }
    CHECK(size > 100, "a torque of %g N m s", size);
    supple_scene_close(scene);
    return error / size;
}

/* A force changes the momentum by F t, and that about the centre of mass by the torque. */
TEST(momenta_of_a_free_body)
{
    supple_body *model = NULL;
    GOOD(supple_body_open(&(supple_body_files){"free.npz", "free-basis.npz", "free-poly.npz", NULL, 0}, &model));
    const int64_t n = supple_body_vertices(model);
    const double *X = supple_body_rest(model), h = least_distance(n, X);
    double *M = malloc((size_t)(n * n) * sizeof *M), error[3], deformed = 0;
    CHECK(n <= CORNERS, "%lld vertices", (long long)n);
    for (int64_t a = 0; a < n; a++)
        for (int64_t b = 0; b < n; b++)
            M[a * n + b] = shared_mass(n, X, a, b, h, 1000);
    for (int i = 0; i < 3; i++)
        error[i] = push(model, M, 50 << i, &deformed);
    CHECK_ORDERS(error, 2, 0.2, 0.2, "angular momentum");
    CHECK(error[2] < 1e-4 && deformed > 0, "error %g, deformation %g", error[2], deformed);
    free(M);
    supple_body_close(model);
}

/* Reading and saving change nothing of the motion. */
TEST(reading_changes_nothing)
{
    const char *const paths[2] = {"scene.json", "free.json"};
    for (int i = 0; i < 2; i++) {
        supple_scene *plain = opened(paths[i], 0.001), *read = opened(paths[i], 0.001);
        supple_scene_energy energy;
        size_t size;
        for (int k = 0; k < 20; k++) {
            GOOD(supple_scene_energies(read, &energy));
            GOOD(supple_scene_save(read, NULL, &size));
            steps(plain, 1);
            steps(read, 1);
            CHECK(same(plain, read), "%s: step %d", paths[i], k);
        }
        supple_scene_close(plain);
        supple_scene_close(read);
    }
}

/* ---- threads and memory ---- */

static void *run(void *data)
{
    for (int i = 0; i < 200; i++)
        if (supple_scene_step(data) != SUPPLE_OK)
            return data;
    return NULL;
}

TEST(two_threads_as_one)
{
    const char *const paths[2] = {"scene.json", "rigid.json"};
    supple_scene *alone[2], *together[2];
    pthread_t thread[2];
    void *failed[2];
    for (int i = 0; i < 2; i++) {
        alone[i] = opened(paths[i], 0.001);
        together[i] = opened(paths[i], 0.001);
        CHECK(run(alone[i]) == NULL, "%s", supple_error());
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, run, together[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], &failed[i]);
        CHECK(!failed[i] && same(alone[i], together[i]), "scene %d", i);
        supple_scene_close(alone[i]);
        supple_scene_close(together[i]);
    }
}

TEST(memory)
{
    if (!COUNTS_ALLOCATIONS)
        SKIP("sanitizers have an allocator of their own");
    supple_scene *scene = opened("rigid.json", 0.001);
    double before = 0;
    GOOD(supple_scene_set_gravity(scene, (double[3]){0, 0, -9.81}));
    steps(scene, 600); /* it has come to rest on the table */
    const int so_far = allocations;
    steps(scene, 100);
    CHECK(allocations == so_far, "%d allocations", allocations - so_far);
    supple_scene_close(scene);
    for (int i = 0; i < 200; i++) {
        before = i == 100 ? bytes_in_use() : before;
        scene = opened("scene.json", 0.001);
        steps(scene, 1);
        supple_scene_close(scene);
    }
    CHECK(bytes_in_use() < before + 30000, "%.0f bytes more", bytes_in_use() - before);
}

/* Every allocation of opening and loading fails once; another load brings the scene back. The calls do without a few of
 * them: names that only the programs record. */
TEST(memory_that_is_missing)
{
    if (!COUNTS_ALLOCATIONS)
        SKIP("sanitizers have an allocator of their own");
    supple_scene_options how = supple_scene_options_default();
    supple_scene *scene = opened("scene.json", 0.001), *other;
    size_t size = 0;
    steps(scene, 3);
    GOOD(supple_scene_save(scene, NULL, &size));
    char *state = malloc(size);
    GOOD(supple_scene_save(scene, state, &size));
    bool reached = true;
    for (int n = 0; reached; n++) {
        until_failure = n;
        supple_status status = supple_scene_open("scene.json", &how, &other);
        reached = until_failure < 0;
        until_failure = -1;
        CHECK(status == SUPPLE_OK || (reached && status == SUPPLE_SYSTEM), "open, %d: %s", n, supple_error());
        supple_scene_close(other);
        until_failure = n;
        status = supple_scene_load(scene, state, size);
        CHECK(status == SUPPLE_OK || (until_failure < 0 && status == SUPPLE_SYSTEM), "load, %d: %s", n, supple_error());
        until_failure = -1;
    }
    GOOD(supple_scene_load(scene, state, size));
    supple_scene *plain = opened("scene.json", 0.001);
    steps(plain, 5);
    steps(scene, 2);
    CHECK(same(scene, plain), "they differ");
    free(state);
    supple_scene_close(scene);
    supple_scene_close(plain);
}

TEST(threads_change_nothing)
{
    supple_scene_options how = supple_scene_options_default();
    supple_scene *one = opened("scene.json", 0.001), *two = NULL;
    how.step = 0.001;
    how.threads = 2;
    GOOD(supple_scene_open("scene.json", &how, &two));
    steps(one, 100);
    steps(two, 100);
    CHECK(same(one, two), "they differ");
    supple_scene_close(one);
    supple_scene_close(two);
}

/* run SCENE STEP STEPS */
static int print_run(char **word)
{
    supple_scene_options how = supple_scene_options_default();
    supple_scene *scene = NULL;
    how.step = strtod(word[1], NULL);
    if (supple_scene_open(word[0], &how, &scene)) {
        fprintf(stderr, "%s\n", supple_error());
        return 1;
    }
    for (int i = 0; i < atoi(word[2]); i++)
        if (supple_scene_step(scene)) {
            fprintf(stderr, "%s\n", supple_error());
            return 1;
        }
    for (int64_t i = 0; i < supple_scene_bodies(scene); i++) {
        supple_pose pose;
        double twist[6], q[64];
        if (supple_scene_state(scene, i, &pose, twist, q, NULL))
            return 1;
        for (int k = 0; k < 3; k++)
            printf("%a ", pose.position[k]);
        for (int k = 0; k < 4; k++)
            printf("%a ", pose.rotation[k]);
        for (int k = 0; k < 6; k++)
            printf("%a ", twist[k]);
        for (int64_t j = 0; j < supple_scene_coordinates(scene, i); j++)
            printf("%a ", q[j]);
        printf("\n");
    }
    supple_scene_close(scene);
    return 0;
}

/* A bar falls on a plate that it crosses in one step, and one that lies still. */
TEST(what_simscene_would_say)
{
    static const char *const words[] = {"bar passed through plate without contact", ""};
    char text[2000];
    for (int i = 0; i < 2; i++) {
        size_t size = 0;
        char scene_text[700];
        snprintf(scene_text, sizeof scene_text,
                 "{\"gravity\": [0, 0, 0], \"contact\": {\"stiffness\": 3000}, \"models\": {\n"
                 "\"bar\": {\"kind\": \"rigid\", \"mesh\": \"bar.npz\", \"pointshell\": \"bar-shell.npz\"},\n"
                 "\"plate\": {\"kind\": \"rigid\", \"box\": {\"half\": [50, 50, 0.002]}}}, \"bodies\": [\n"
                 "{\"name\": \"bar\", \"model\": \"bar\", \"motion\": \"free\", \"position\": [0, 0, 3],"
                 " \"velocity\": [0, 0, %d]},\n"
                 "{\"name\": \"plate\", \"model\": \"plate\"}]}",
                 i == 0 ? -20 : 0);
        write_file("thin.json", scene_text);
        supple_scene *scene = opened("thin.json", 0.01);
        steps(scene, 100);
        REFUSED(supple_scene_warnings(scene, NULL, NULL), SUPPLE_USAGE, "size is NULL");
        GOOD(supple_scene_warnings(scene, NULL, &size));
        CHECK(size > 0 && size <= sizeof text, "%zu bytes", size);
        GOOD(supple_scene_warnings(scene, text, &size));
        CHECK(size == strlen(text) + 1 && (*words[i] ? strstr(text, words[i]) != NULL : size == 1), "\"%s\"", text);
        supple_scene_close(scene);
    }
}

int main(int argc, char **argv)
{
    if (argc == 5 && !strcmp(argv[1], "run"))
        return print_run(argv + 2);
    return test_all();
}
