/* Tests of bodies of the public library, from public headers alone. The files of tests/cli/data.bash are in the current
 * folder: mesh.npz, basis.npz, poly.npz, cub.npz, modes.npz, loads.csv, and those that tests/cli/library.bats makes.
 * With the argument "run", it moves a body and prints its coordinates in hexadecimal (tests/cli/library.bats compares
 * them with those of simulate). */
#include "tests/library/library_test.h"

#include <pthread.h>

static const supple_body_files polynomials = {"mesh.npz", "basis.npz", "poly.npz", NULL, 0},
                               cubature = {"mesh.npz", "basis.npz", NULL, "cub.npz", 0},
                               modal = {"mesh.npz", "modes.npz", NULL, NULL, 0};

static supple_body *opened(const supple_body_files *files)
{
    supple_body *body = NULL;
    GOOD(supple_body_open(files, &body));
    if (!body)
        exit(1);
    return body;
}

static supple_body *started(const supple_body_files *files)
{
    supple_body *body = opened(files);
    const supple_integration how = supple_integration_default();
    GOOD(supple_body_start(body, &how, NULL, NULL));
    return body;
}

static void steps(supple_body *body, int count)
{
    for (int i = 0; i < count; i++)
        GOOD(supple_body_step(body));
}

static double difference(const supple_body *a, const supple_body *b)
{
    double most = 0;
    for (int64_t j = 0; j < supple_body_coordinates(a); j++)
        most = fmax(most, fabs(supple_body_q(a)[j] - supple_body_q(b)[j]));
    return most;
}

static bool same(const supple_body *a, const supple_body *b)
{
    const size_t bytes = (size_t)supple_body_coordinates(a) * sizeof(double);
    return !memcmp(supple_body_q(a), supple_body_q(b), bytes) &&
           !memcmp(supple_body_qdot(a), supple_body_qdot(b), bytes);
}

/* ---- wrong calls ---- */

TEST(wrong_files)
{
    supple_body *body = (supple_body *)&polynomials;
    supple_body_files files = polynomials;

    /* Arguments */
    REFUSED(supple_body_open(NULL, &body), SUPPLE_USAGE, "files is NULL");
    CHECK(body == NULL, "it is set");
    REFUSED(supple_body_open(&files, NULL), SUPPLE_USAGE, "body is NULL");
    files.mesh = NULL;
    REFUSED(supple_body_open(&files, &body), SUPPLE_USAGE, "mesh is NULL");
    files = polynomials;
    files.cubature = "cub.npz";
    REFUSED(supple_body_open(&files, &body), SUPPLE_USAGE, "not both");
    files = polynomials;
    files.r = 1000;
    REFUSED(supple_body_open(&files, &body), SUPPLE_USAGE, "poly.npz: 1000 coordinates are wanted");
    files.r = -1;
    REFUSED(supple_body_open(&files, &body), SUPPLE_USAGE, "r is -1");

    /* Files that are absent, or of another type */
    files = polynomials;
    files.mesh = "nothing.npz";
    REFUSED(supple_body_open(&files, &body), SUPPLE_INPUT, "nothing.npz: cannot open: No such file");
    files.mesh = ".";
    REFUSED(supple_body_open(&files, &body), SUPPLE_INPUT, "no file and no pipe");
    files.mesh = "basis.npz";
    REFUSED(supple_body_open(&files, &body), SUPPLE_INPUT, "basis.npz: it is a file of kind basis, expected mesh");

    /* Files that were not made from each other */
    files = polynomials;
    files.mesh = "twin.npz";
    REFUSED(supple_body_open(&files, &body), SUPPLE_INPUT, "basis.npz: it was made from another mesh");
    files = polynomials;
    files.basis = "twin-basis.npz";
    REFUSED(supple_body_open(&files, &body), SUPPLE_INPUT, "twin-basis.npz: it was made from another mesh");

    files = modal;
    files.basis = "basis.npz";
    REFUSED(supple_body_open(&files, &body), SUPPLE_INPUT, "expected modes");
    CHECK(body == NULL, "it is set");
    supple_body_close(NULL);
}

TEST(wrong_calls)
{
    supple_body *body = opened(&polynomials);
    const supple_integration how = supple_integration_default();
    supple_integration wrong = how;
    double x[300] = {0};
    int64_t vertex = 3;
    size_t size = 0;
    supple_energies energies;

    /* Before the start */
    REFUSED(supple_body_step(body), SUPPLE_USAGE, "supple_body_start first");
    REFUSED(supple_body_energies(body, &energies), SUPPLE_USAGE, "supple_body_start first");
    REFUSED(supple_body_displacements(body, 1, &vertex, x), SUPPLE_USAGE, "supple_body_start first");
    REFUSED(supple_body_save(body, NULL, &size), SUPPLE_USAGE, "supple_body_start first");
    CHECK(supple_body_q(body) == NULL && supple_body_time(body) == 0, "it has a state");

    /* The integration and the state at the start */
    REFUSED(supple_body_start(NULL, &how, NULL, NULL), SUPPLE_USAGE, "body is NULL");
    REFUSED(supple_body_start(body, NULL, NULL, NULL), SUPPLE_USAGE, "integration is NULL");
    wrong.step = -1;
    REFUSED(supple_body_start(body, &wrong, NULL, NULL), SUPPLE_USAGE, "step");
    wrong = how;
    wrong.step = NAN;
    REFUSED(supple_body_start(body, &wrong, NULL, NULL), SUPPLE_USAGE, "step");
    wrong = how;
    wrong.scheme = (supple_scheme)99;
    REFUSED(supple_body_start(body, &wrong, NULL, NULL), SUPPLE_USAGE, "99");
    wrong = how;
    wrong.scheme = SUPPLE_EXACT;
    REFUSED(supple_body_start(body, &wrong, NULL, NULL), SUPPLE_USAGE, "mode superposition");
    wrong = how;
    wrong.tolerance = -1;
    REFUSED(supple_body_start(body, &wrong, NULL, NULL), SUPPLE_USAGE, "tolerance is -1");
    wrong = how;
    wrong.damping_stiffness = INFINITY;
    REFUSED(supple_body_start(body, &wrong, NULL, NULL), SUPPLE_USAGE, "damping_stiffness inf");
    x[0] = INFINITY;
    REFUSED(supple_body_start(body, &how, x, NULL), SUPPLE_USAGE, "q has a number that is not finite");

    /* Loads, places and materials during the motion */
    GOOD(supple_body_start(body, &how, NULL, NULL));
    REFUSED(supple_body_set_force(body, 3, x), SUPPLE_USAGE, "force has a number that is not finite");
    REFUSED(supple_body_set_generalized_force(body, x), SUPPLE_USAGE, "not finite");
    x[0] = 0;
    REFUSED(supple_body_set_force(body, 100000, x), SUPPLE_USAGE, "vertex 100000 of");
    REFUSED(supple_body_set_force(body, -1, x), SUPPLE_USAGE, "vertex -1 of");
    REFUSED(supple_body_set_forces(body, 1, NULL, x), SUPPLE_USAGE, "vertex is NULL");
    REFUSED(supple_body_set_springs(body, 1, &(supple_spring){3, {0, 0, 0}, -1}), SUPPLE_USAGE, "not negative");
    REFUSED(supple_body_set_springs(body, 1, &(supple_spring){-3, {0, 0, 0}, 1}), SUPPLE_USAGE, "vertex -3");
    REFUSED(supple_body_load_file(body, "loads.csv"), SUPPLE_USAGE, "has started");
    REFUSED(supple_body_displacements(body, 100000, NULL, x), SUPPLE_USAGE, "count is 100000");
    REFUSED(supple_body_nearest(body, NULL, &vertex), SUPPLE_USAGE, "point is NULL");
    REFUSED(supple_body_set_material(body, "wood", 1e6, -2, -1), SUPPLE_USAGE, "no region \"wood\"");
    REFUSED(supple_body_set_material(body, NULL, -1, 0.4, -1), SUPPLE_INPUT,
            "poly.npz: it does not keep lambda and mu");
    REFUSED(supple_body_set_material(body, NULL, -1, 0.7, -1), SUPPLE_USAGE, "Poisson");

    /* Saved states */
    size = 10;
    REFUSED(supple_body_save(body, x, &size), SUPPLE_USAGE, "room for 10");
    CHECK(size > 10, "%zu", size);
    memset(x, 7, sizeof x);
    REFUSED(supple_body_load(body, x, sizeof x), SUPPLE_INPUT, "no state");
    REFUSED(supple_body_load(body, NULL, 8), SUPPLE_USAGE, "state is NULL");
    steps(body, 1);
    supple_body_close(body);

    /* Mode superposition */
    body = started(&modal);
    REFUSED(supple_body_set_springs(body, 1, &(supple_spring){3, {0, 0, 0}, 1}), SUPPLE_USAGE, "couple the modes");
    REFUSED(supple_body_set_material(body, NULL, 1e6, -2, -1), SUPPLE_USAGE, "modes");
    supple_body_close(body);
}

TEST(cannot_fall)
{
    supple_body *body = opened(&(supple_body_files){"free.npz", "free-basis.npz", "free-poly.npz", NULL, 0});
    REFUSED(supple_body_set_gravity(body, (double[3]){0, 0, -9.81}), SUPPLE_USAGE, "nothing fixes the mesh");
    supple_body_close(body);
}

/* ---- loads ---- */

/* A constant force and a spring that are set, and the same from a file. */
TEST(set_as_from_a_file)
{
    supple_body *set = opened(&polynomials), *file = opened(&polynomials);
    const supple_integration how = supple_integration_default();
    write_file("same.csv", "t0,t1,kind,id,fx,fy,fz\n0,inf,vertex,20,0,5,-3\n0,inf,spring,21,3,0.5,0.25,40\n");
    GOOD(supple_body_load_file(file, "same.csv"));
    GOOD(supple_body_set_force(set, 20, (double[3]){0, 5, -3}));
    GOOD(supple_body_set_springs(set, 1, &(supple_spring){21, {3, 0.5, 0.25}, 40}));
    GOOD(supple_body_start(set, &how, NULL, NULL));
    GOOD(supple_body_start(file, &how, NULL, NULL));
    for (int i = 0; i < 20; i++) {
        steps(set, 1);
        steps(file, 1);
        CHECK(same(set, file), "step %d: %g", i, difference(set, file));
    }
    CHECK(fabs(supple_body_q(set)[0]) > 0, "nothing moves");
    supple_body_close(set);
    supple_body_close(file);
}

/* With gamma below 1/2 Newmark's method gains energy in every step; with 1/2 it does not. */
TEST(energy_from_nothing_is_said)
{
    for (int wrong = 0; wrong < 2; wrong++) {
        supple_body *body = opened(&polynomials);
        supple_integration how = supple_integration_default();
        char text[700];
        size_t size = 0;
        how.gamma = wrong ? 0.3 : 0.5;
        GOOD(supple_body_start(body, &how, NULL, NULL));
        GOOD(supple_body_set_force(body, 20, (double[3]){0, 5, -3}));
        steps(body, 1);
        GOOD(supple_body_set_forces(body, 0, NULL, NULL));
        steps(body, 159);
        GOOD(supple_body_warnings(body, NULL, &size));
        GOOD(supple_body_warnings(body, text, &size));
        CHECK(size == strlen(text) + 1 && (wrong ? strstr(text, "the energy exceeds the work") != NULL : size == 1),
              "gamma %g: \"%s\"", how.gamma, text);
        if (wrong) {
            size--;
            REFUSED(supple_body_warnings(body, text, &size), SUPPLE_USAGE, "the text needs");
        }
        supple_body_close(body);
    }
}

/* A spring that is set after the start acts from the next step on, and its energy counts as work. */
TEST(springs_act_at_once)
{
    supple_body *body = started(&polynomials);
    supple_energies before, after;
    double x[3];
    memcpy(x, supple_body_rest(body) + 3 * 20, sizeof x);
    x[2] += 0.01;
    GOOD(supple_body_energies(body, &before));
    GOOD(supple_body_set_springs(body, 1, &(supple_spring){20, {x[0], x[1], x[2]}, 100}));
    steps(body, 200);
    GOOD(supple_body_energies(body, &after));
    CHECK_NEAR(after.work, 0.5 * 100 * 0.01 * 0.01, 1e-12);
    CHECK(supple_body_q(body)[0] != 0, "nothing moves");
    CHECK(after.kinetic + after.stored + after.dissipated < after.work * 1.01, "energy %g of %g",
          after.kinetic + after.stored, after.work);
    supple_body_close(body);
}

/* Hundreds of springs in addition to those of a file, against one spring with their total stiffness. */
TEST(many_springs)
{
    enum { MANY = 400 };
    supple_body *one = opened(&polynomials), *many = opened(&polynomials);
    supple_body *const both[2] = {one, many};
    const supple_integration how = supple_integration_default();
    supple_spring springs[MANY];
    write_file("some.csv", "t0,t1,kind,id,fx,fy,fz\n0,0.05,spring,20,3,0.5,0.25,40\n0.02,inf,spring,22,3,1,0.25,90\n");
    for (int i = 0; i < MANY; i++)
        springs[i] = (supple_spring){21, {3, 0.5, 0.25}, 0.5};
    for (int i = 0; i < 2; i++) {
        GOOD(supple_body_load_file(both[i], "some.csv"));
        GOOD(supple_body_start(both[i], &how, NULL, NULL));
    }
    for (int i = 0; i < 30; i++) {
        GOOD(supple_body_set_springs(one, 1, &(supple_spring){21, {3, 0.5, 0.25}, i < 20 ? 200 : 1}));
        GOOD(supple_body_set_springs(many, i < 20 ? MANY : 2, springs));
        steps(one, 1);
        steps(many, 1);
        CHECK(difference(one, many) < 1e-10 * (fabs(supple_body_q(one)[0]) + 1e-6), "step %d: %g of %g", i,
              difference(one, many), supple_body_q(one)[0]);
    }
    CHECK(supple_body_q(one)[0] != 0, "nothing moves");
    supple_body_close(one);
    supple_body_close(many);
}

/* Gravity pulls by mass: the generalized force is UᵀM g. */
TEST(gravity_by_mass)
{
    supple_body *body = opened(&polynomials);
    const supple_integration how = {.scheme = SUPPLE_STATIC, .step = 1};
    int64_t tip;
    double u[3];
    GOOD(supple_body_nearest(body, (double[3]){3, 0.5, 0.5}, &tip));
    GOOD(supple_body_set_gravity(body, (double[3]){0, 0, -9.81}));
    GOOD(supple_body_start(body, &how, NULL, NULL));
    steps(body, 1);
    GOOD(supple_body_displacements(body, 1, &tip, u));
    CHECK(u[2] < 0 && fabs(u[2]) > 10 * fabs(u[1]), "u %g %g %g", u[0], u[1], u[2]);
    const double sunk = u[2];
    GOOD(supple_body_set_gravity(body, (double[3]){0, 0, 0}));
    steps(body, 1);
    GOOD(supple_body_displacements(body, 1, &tip, u));
    CHECK_NEAR(u[2], 0, 1e-8 * fabs(sunk));
    supple_body_close(body);
}

/* ---- evaluation ---- */

/* The derivative of a polynomial of degree 4 at 0 from its values at −2h, −h, h and 2h: exact. */
static double slope(const double value[4], double h)
{
    return (8 * (value[2] - value[1]) - (value[3] - value[0])) / (12 * h);
}

/* The energy is a polynomial of degree 4, with the force as its gradient and the stiffness as the gradient of that. */
static void forces_are_gradients(const supple_body_files *files, double most)
{
    static const double places[4] = {-2, -1, 1, 2};
    supple_body *body = opened(files);
    const int64_t r = supple_body_coordinates(body);
    double q[64], f[64], K[64 * 64], M[64 * 64], at[4][64], stored[4], energy, largest[2] = {0};

    for (int64_t j = 0; j < r; j++)
        q[j] = most * sin(1.0 + (double)j);
    GOOD(supple_body_evaluate(body, q, f, K, &energy));
    for (int64_t i = 0; i < r; i++) {
        largest[0] = fmax(largest[0], fabs(f[i]));
        for (int64_t j = 0; j < r; j++)
            largest[1] = fmax(largest[1], fabs(K[i * r + j]));
    }

    /* Differences of fourth order along each coordinate */
    for (int64_t j = 0; j < r; j++) {
        const double h = 0.2 * most, here = q[j];
        for (int k = 0; k < 4; k++) {
            q[j] = here + places[k] * h;
            GOOD(supple_body_evaluate(body, q, at[k], NULL, &stored[k]));
        }
        q[j] = here;
        CHECK_NEAR(slope(stored, h), f[j], 1e-14 * fabs(energy) / h + 1e-11 * largest[0]);
        for (int64_t i = 0; i < r; i++) {
            CHECK_NEAR(slope((double[4]){at[0][i], at[1][i], at[2][i], at[3][i]}, h), K[j * r + i], 1e-11 * largest[1]);
            CHECK(K[j * r + i] == K[i * r + j], "K[%d, %d] is %.17g and %.17g", (int)i, (int)j, K[j * r + i],
                  K[i * r + j]);
        }
    }

    GOOD(supple_body_mass(body, M));
    for (int64_t i = 0; i < r; i++)
        for (int64_t j = 0; j < r; j++)
            CHECK_NEAR(M[i * r + j], M[j * r + i], 1e-12 * fabs(M[i * r + i]));
    supple_body_close(body);
}

TEST(evaluation_polynomials)
{
    forces_are_gradients(&polynomials, 2);
    supple_body *body = opened(&polynomials);
    double q[64] = {1e150}, f[64], energy; /* whose fourth power is too large for a double */
    REFUSED(supple_body_evaluate(body, q, f, NULL, &energy), SUPPLE_NUMERICAL, "q is too large");
    REFUSED(supple_body_evaluate(body, q, NULL, NULL, NULL), SUPPLE_NUMERICAL, "q is too large");
    supple_body_close(body);
}

TEST(evaluation_cubature)
{
    forces_are_gradients(&cubature, 0.2);
}

/* Reading, evaluating and saving change nothing of the motion. */
TEST(reading_changes_nothing)
{
    supple_body *plain = started(&polynomials), *read = started(&polynomials);
    double f[64], q[64] = {0.3, -0.2}, u[300];
    char state[20000];
    GOOD(supple_body_set_force(plain, 20, (double[3]){0, 5, -3}));
    GOOD(supple_body_set_force(read, 20, (double[3]){0, 5, -3}));
    for (int i = 0; i < 10; i++) {
        size_t size = sizeof state;
        supple_energies energies;
        supple_step_report report;
        GOOD(supple_body_evaluate(read, q, f, NULL, NULL));
        GOOD(supple_body_energies(read, &energies));
        GOOD(supple_body_report(read, &report));
        GOOD(supple_body_displacements(read, 20, NULL, u));
        GOOD(supple_body_save(read, state, &size));
        CHECK(report.steps == i, "%lld steps", (long long)report.steps);
        steps(plain, 1);
        steps(read, 1);
        CHECK(same(plain, read), "step %d: %g", i, difference(plain, read));
    }
    supple_body_close(plain);
    supple_body_close(read);
}

/* ---- forces that are set between steps ---- */

/* q [r] at 0.8 s under a force that is set at 0.4 s. */
static void pushed(supple_scheme scheme, double step, double *q)
{
    supple_body *body = opened(&polynomials);
    supple_integration how = supple_integration_default();
    const int half = (int)lround(0.4 / step);
    how.scheme = scheme;
    how.step = step;
    GOOD(supple_body_start(body, &how, NULL, NULL));
    steps(body, half);
    GOOD(supple_body_set_force(body, 20, (double[3]){0, 5, -3}));
    steps(body, half);
    memcpy(q, supple_body_q(body), (size_t)supple_body_coordinates(body) * sizeof *q);
    supple_body_close(body);
}

TEST(forces_act_when_they_are_set)
{
    const supple_integration how = supple_integration_default();
    supple_body *before = opened(&polynomials), *after = started(&polynomials);
    const int64_t r = supple_body_coordinates(before);
    double exact[100], q[100];
    GOOD(supple_body_set_force(before, 20, (double[3]){0, 5, -3}));
    GOOD(supple_body_start(before, &how, NULL, NULL));
    GOOD(supple_body_set_force(after, 20, (double[3]){0, 5, -3}));
    for (int i = 0; i < 50; i++) {
        steps(before, 1);
        steps(after, 1);
        CHECK(difference(before, after) <= 1e-12 * fabs(supple_body_q(before)[0]), "step %d: %g of %g", i,
              difference(before, after), supple_body_q(before)[0]);
    }
    supple_body_close(before);
    supple_body_close(after);

    /* of second order in the step: a force that acted half a step late would leave the first */
    pushed(SUPPLE_NEWMARK, 0.4 / 5120, exact);
    for (int s = 0; s < 2; s++) {
        double error[3] = {0};
        for (int i = 0; i < 3; i++) {
            pushed(s ? SUPPLE_BDF2 : SUPPLE_NEWMARK, 0.4 / (160 << i), q);
            for (int64_t j = 0; j < r; j++)
                error[i] = fmax(error[i], fabs(q[j] - exact[j]));
        }
        CHECK_ORDERS(error, 2, 0.4, 0.3, "%s, a force set between steps", s ? "BDF2" : "Newmark");
    }
}

/* ---- displacements ---- */

TEST(displacements_are_products)
{
    supple_body *body = started(&polynomials);
    const int64_t n = supple_body_vertices(body), r = supple_body_coordinates(body),
                  m = supple_body_surface_vertices(body);
    double *u = malloc((size_t)(3 * n) * sizeof *u);
    float *single = malloc((size_t)(3 * n) * sizeof *single), *surface = malloc((size_t)(3 * m) * sizeof *surface);

    GOOD(supple_body_set_force(body, 20, (double[3]){0, 5, -3}));
    steps(body, 10);
    GOOD(supple_body_displacements(body, n, NULL, u));
    GOOD(supple_body_displacements_float(body, n, NULL, single));
    GOOD(supple_body_surface_displacements(body, m, NULL, surface));

    /* u = U q */
    for (int64_t i = 0; i < 3 * n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < r; j++)
            sum += supple_body_basis(body)[j * 3 * n + i] * supple_body_q(body)[j];
        CHECK_NEAR(u[i], sum, 1e-14);
        CHECK_NEAR(single[i], u[i], 1e-7 * fabs(u[i]) + 1e-12);
    }

    /* Surface vertices move by the displacements of the corners of their elements, with weights. */
    double most = 0, least = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, u[3 * i + 2]);
        least = fmin(least, u[3 * i + 2]);
    }
    for (int64_t i = 0; i < m; i++) /* weights of a point in an element: between the values at its corners */
        CHECK(surface[3 * i + 2] <= most + 1e-6 && surface[3 * i + 2] >= least - 1e-6, "%g",
              (double)surface[3 * i + 2]);
    CHECK(m > 0 && supple_body_surface_triangles(body) > 0 && supple_body_surface(body), "no surface");

    free(u);
    free(single);
    free(surface);
    supple_body_close(body);
}

/* ---- materials ---- */

/* kinetic + stored = initial value + work − dissipated, where the energy that a changed stiffness stores counts as
 * work. */
static void materials_keep_the_balance(const supple_body_files *files)
{
    supple_body *body = opened(files);
    supple_integration how = supple_integration_default();
    supple_energies e[2];
    double stored;
    how.step = 0.002;
    how.damping_mass = 0.5;
    how.damping_stiffness = 1e-4;
    GOOD(supple_body_start(body, &how, NULL, NULL));
    GOOD(supple_body_set_force(body, 20, (double[3]){0, 50, -30}));
    steps(body, 40);
    GOOD(supple_body_energies(body, &e[0]));
    GOOD(supple_body_set_material(body, NULL, 2e6, -2, -1));
    GOOD(supple_body_energies(body, &e[1]));
    GOOD(supple_body_evaluate(body, supple_body_q(body), NULL, NULL, &stored));
    CHECK_NEAR(e[1].stored, stored, 1e-12 * stored);
    CHECK_NEAR(e[1].stored, 2 * e[0].stored, 1e-9 * stored); /* twice as stiff */
    CHECK_NEAR(e[1].work - e[0].work, e[1].stored - e[0].stored, 1e-9 * stored);
    CHECK_NEAR(e[1].kinetic, e[0].kinetic, 1e-12 * e[0].kinetic);
    CHECK_NEAR(e[1].dissipated, e[0].dissipated, 0);
    supple_body_close(body);
}

TEST(balance)
{
    materials_keep_the_balance(&polynomials);
    const supple_body_files files = {"mesh.npz", "basis.npz", NULL, "plain-cub.npz", 0};
    materials_keep_the_balance(&files);
}

TEST(materials_as_a_new_body)
{
    supple_body *edited = opened(&polynomials), *twin = NULL;
    const supple_integration how = supple_integration_default();
    GOOD(supple_body_open(&(supple_body_files){"twin.npz", "twin-basis.npz", "twin-poly.npz", NULL, 0}, &twin));
    double q[64], f[64], g[64];
    for (int i = 0; i < 64; i++)
        q[i] = 0.1 * cos(i);
    GOOD(supple_body_evaluate(edited, q, f, NULL, NULL));
    GOOD(supple_body_set_material(edited, NULL, 2e6, -2, -1));
    GOOD(supple_body_evaluate(edited, q, g, NULL, NULL));
    for (int64_t j = 0; j < supple_body_coordinates(edited); j++)
        CHECK_NEAR(g[j], 2 * f[j], 1e-12 * fabs(f[j])); /* from 1e6 Pa */
    GOOD(supple_body_start(edited, &how, NULL, NULL));
    GOOD(supple_body_set_force(edited, 20, (double[3]){0, 5, -3}));
    steps(edited, 10);
    const double time = supple_body_time(edited), q0 = supple_body_q(edited)[0];
    GOOD(supple_body_set_material(edited, NULL, 1e6, -2, 500));
    CHECK(supple_body_time(edited) == time && supple_body_q(edited)[0] == q0, "the motion does not go on");
    steps(edited, 10);
    CHECK_NEAR(supple_body_time(edited), 0.2, 1e-12);
    supple_body_close(edited);
    supple_body_close(twin);
}

/* ---- saving ---- */

static void saved_steps_again(const supple_body_files *files, bool springs)
{
    supple_body *body = started(files), *other = started(files);
    double q[64];

    GOOD(supple_body_set_force(body, 20, (double[3]){0, 5, -3}));
    if (springs)
        GOOD(supple_body_set_springs(body, 2, (supple_spring[]){{20, {3, 1, 1}, 30}, {21, {3, 0, 0}, 10}}));
    steps(body, 7);

    size_t size = 0;
    GOOD(supple_body_save(body, NULL, &size));
    char *state = malloc(size);
    GOOD(supple_body_save(body, state, &size));
    steps(body, 9);

    /* The same steps again, by this body and by another one */
    const int64_t r = supple_body_coordinates(body);
    memcpy(q, supple_body_q(body), (size_t)r * sizeof *q);
    GOOD(supple_body_load(body, state, size));
    steps(body, 9);
    CHECK(!memcmp(q, supple_body_q(body), (size_t)r * sizeof *q), "the same body");
    GOOD(supple_body_load(other, state, size)); /* another object without any settings */
    steps(other, 9);
    CHECK(same(body, other), "another body: %g", difference(body, other));

    /* States that are cut off or damaged are refused, without an effect. */
    for (size_t cut = 0; cut < size; cut += 1 + size / 40) {
        char *copy = malloc(cut + 1);
        memcpy(copy, state, cut);
        CHECK(supple_body_load(other, copy, cut) == SUPPLE_INPUT, "%zu bytes of %zu: %s", cut, size, supple_error());
        free(copy);
    }
    for (size_t i = 0; i < size; i++) { /* damaged at one place */
        const char kept = state[i];
        state[i] ^= (char)(1 << i % 8);
        CHECK(supple_body_load(other, state, size) == SUPPLE_INPUT, "byte %zu", i);
        state[i] = kept;
    }

    steps(body, 3);
    steps(other, 3);
    CHECK(same(body, other), "after states that were refused: %g", difference(body, other));
    free(state);
    supple_body_close(body);
    supple_body_close(other);
}

TEST(saved)
{
    saved_steps_again(&polynomials, false);
    saved_steps_again(&polynomials, true);
    saved_steps_again(&cubature, true);
    saved_steps_again(&modal, false);
}

/* ---- the arrays of the state ---- */

/* The arrays of a motion are those of every later one, and have its values. */
TEST(coordinates_keep_their_address)
{
    supple_body *body = started(&polynomials);
    const supple_integration how = supple_integration_default();
    const double *const q = supple_body_q(body), *const qdot = supple_body_qdot(body), given[64] = {0.5, -0.25, 0.125};
    double before[64];
    const size_t bytes = (size_t)supple_body_coordinates(body) * sizeof(double);

    GOOD(supple_body_set_force(body, 20, (double[3]){0, 5, -3}));
    steps(body, 5);
    CHECK(q[0] != 0 && qdot[0] != 0, "nothing moves");

    /* A new model keeps the state. */
    memcpy(before, q, bytes);
    GOOD(supple_body_set_gravity(body, (double[3]){0, 0, -9.81}));
    GOOD(supple_body_set_material(body, NULL, 2e6, -2, -1));
    CHECK(!memcmp(before, q, bytes), "the state has changed");
    steps(body, 1);
    CHECK(memcmp(before, q, bytes), "the array does not follow the motion");

    /* A state that is loaded, and a new start */
    size_t size = 0;
    GOOD(supple_body_save(body, NULL, &size));
    char *state = malloc(size);
    GOOD(supple_body_save(body, state, &size));
    memcpy(before, q, bytes);
    steps(body, 1);
    GOOD(supple_body_load(body, state, size));
    CHECK(!memcmp(before, q, bytes), "the array has not the state that was loaded");
    free(state);
    GOOD(supple_body_start(body, &how, given, given));
    CHECK(!memcmp(q, given, bytes) && !memcmp(qdot, given, bytes), "the array has not the new start");
    CHECK(supple_body_q(body) == q && supple_body_qdot(body) == qdot, "another address");
    supple_body_close(body);
}

/* A state belongs to the files, materials, gravity, loads and integration of its body. */
TEST(states_of_others)
{
    supple_body *body = started(&polynomials);
    supple_integration how = supple_integration_default();
    char state[20000];
    size_t size = sizeof state;

    steps(body, 2);
    GOOD(supple_body_save(body, state, &size));
    how.step = 0.005;

    for (int i = 0; i < 5; i++) {
        supple_body *other =
            opened(i == 0   ? &(supple_body_files){"twin.npz", "twin-basis.npz", "twin-poly.npz", NULL, 0}
                   : i == 1 ? &cubature
                            : &polynomials);
        if (i == 2)
            GOOD(supple_body_set_material(other, NULL, 2e6, -2, -1));
        if (i == 3)
            GOOD(supple_body_set_gravity(other, (double[3]){0, 0, -9.81}));
        if (i == 4)
            GOOD(supple_body_load_file(other, "loads.csv"));
        const supple_integration usual = supple_integration_default();
        GOOD(supple_body_start(other, &usual, NULL, NULL));
        REFUSED(supple_body_load(other, state, size), SUPPLE_INPUT, "no state");
        steps(other, 1);
        supple_body_close(other);
    }

    supple_body *other = opened(&polynomials);
    GOOD(supple_body_start(other, &how, NULL, NULL));
    REFUSED(supple_body_load(other, state, size), SUPPLE_INPUT, "integration");
    supple_body_close(other);
    supple_body_close(body);
}

/* ---- after failures ---- */

/* Calls that fail half-way leave the motion as it was, to the last bit. */
TEST(failures_change_nothing)
{
    const supple_integration central = {
        .scheme = SUPPLE_CENTRAL, .step = 2e-4, .damping_mass = -1, .damping_stiffness = -1};
    const supple_spring spring = {21, {3, 0.5, 0.25}, 40};
    supple_integration wrong = central;
    supple_body *plain = opened(&polynomials), *failing = opened(&polynomials);
    supple_body *const both[2] = {plain, failing};
    write_file("springs.csv",
               "t0,t1,kind,id,fx,fy,fz\n0,0.002,spring,20,3,0.5,0.25,40\n0.001,inf,spring,22,3,1,0.25,90\n");
    for (int i = 0; i < 2; i++) {
        GOOD(supple_body_load_file(both[i], "springs.csv"));
        GOOD(supple_body_set_springs(both[i], 1, &spring));
        GOOD(supple_body_start(both[i], &central, NULL, NULL));
        GOOD(supple_body_set_force(both[i], 20, (double[3]){0, 5, -3}));
    }
    wrong.step = 0.1;
    for (int i = 0; i < 20; i++) {
        steps(plain, 1);
        steps(failing, 1);
        CHECK(same(plain, failing), "step %d: %g", i, difference(plain, failing));
        CHECK(supple_body_start(failing, &wrong, NULL, NULL) != SUPPLE_OK, "a step above the limit of stability");
        CHECK(supple_body_set_material(failing, NULL, 1e14, -2, -1) != SUPPLE_OK, "a stiffness above that limit");
    }
    supple_body_close(plain);
    supple_body_close(failing);
}

static double sum(const supple_body *body)
{
    double all = supple_body_time(body);
    for (int64_t j = 0; j < supple_body_coordinates(body); j++)
        all += fabs(supple_body_q(body)[j]) + fabs(supple_body_qdot(body)[j]);
    return all;
}

/* Numbers so large that products overflow: a refusal, or a finite motion, without a lasting effect. */
TEST(huge_numbers)
{
    supple_integration how = supple_integration_default();
    supple_body_files files = polynomials;
    supple_body *body = NULL;
    int64_t vertex = -1;

    files.r = INT64_MAX;
    REFUSED(supple_body_open(&files, &body), SUPPLE_USAGE, "9223372036854775807 coordinates are wanted");

    body = started(&polynomials);
    supple_body *plain = started(&polynomials);
    steps(plain, 1);
    steps(body, 1);
    GOOD(supple_body_nearest(body, (double[3]){1e300, 0, 0}, &vertex));
    CHECK(vertex >= 0 && vertex < supple_body_vertices(body), "vertex %lld", (long long)vertex);

    /* A step that fails leaves the state as it was. */
    GOOD(supple_body_set_force(body, 20, (double[3]){0, 1e308, 0}));
    CHECK(supple_body_step(body) == SUPPLE_NUMERICAL, "%s", supple_error());
    GOOD(supple_body_set_forces(body, 0, NULL, NULL));
    CHECK(same(body, plain), "after a force");
    GOOD(supple_body_set_springs(body, 1, &(supple_spring){20, {1, 1e300, 0}, 1e308}));
    CHECK(supple_body_step(body) == SUPPLE_NUMERICAL, "%s", supple_error());
    GOOD(supple_body_set_springs(body, 0, NULL));
    CHECK(same(body, plain), "after a spring");
    steps(body, 1);
    CHECK(isfinite(sum(body)), "%g", sum(body));

    CHECK(supple_body_set_material(body, NULL, 1e308, -2, -1) != SUPPLE_OK || supple_body_step(body) != SUPPLE_OK ||
              isfinite(sum(body)),
          "%g", sum(body));
    how.step = 1e300;
    CHECK(supple_body_start(body, &how, NULL, NULL) != SUPPLE_OK || supple_body_step(body) != SUPPLE_OK ||
              isfinite(sum(body)),
          "%g", sum(body));
    supple_body_close(body);
    supple_body_close(plain);
}

TEST(wrong_integrations)
{
    const supple_integration how = supple_integration_default();
    supple_body *body = opened(&polynomials);
    supple_integration wrong = how;
    wrong.tolerance = NAN;
    REFUSED(supple_body_start(body, &wrong, NULL, NULL), SUPPLE_USAGE, "tolerance");
    wrong = how;
    wrong.damping_stiffness = INFINITY;
    REFUSED(supple_body_start(body, &wrong, NULL, NULL), SUPPLE_USAGE, "damping_stiffness inf");
    wrong = how;
    wrong.damping_mass = -0.5;
    REFUSED(supple_body_start(body, &wrong, NULL, NULL), SUPPLE_USAGE, "negative");
    wrong = how;
    wrong.scheme = SUPPLE_EULER;
    wrong.semi_implicit = true;
    REFUSED(supple_body_start(body, &wrong, NULL, NULL), SUPPLE_USAGE, "only Newmark");
    wrong = how;
    wrong.beta = NAN;
    REFUSED(supple_body_start(body, &wrong, NULL, NULL), SUPPLE_USAGE, "beta");
    supple_body_close(body);
}

/* Counts for which there can be no array: nothing is read. */
TEST(counts_without_memory)
{
    const int64_t counts[] = {-1, INT64_MIN, INT64_MAX, INT64_MAX / 2, INT64_MAX / 3 + 1};
    supple_body *body = started(&polynomials);
    const supple_spring spring = {0, {0, 0, 0}, 1};
    const int64_t vertex = 0;
    double x[3] = {0};
    float y[3];
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        REFUSED(supple_body_set_forces(body, counts[i], &vertex, x), SUPPLE_USAGE, "count is");
        REFUSED(supple_body_set_springs(body, counts[i], &spring), SUPPLE_USAGE, "count is");
        REFUSED(supple_body_displacements(body, counts[i], &vertex, x), SUPPLE_USAGE, "count is");
        REFUSED(supple_body_displacements_float(body, counts[i], &vertex, y), SUPPLE_USAGE, "count is");
        REFUSED(supple_body_velocities(body, counts[i], NULL, x), SUPPLE_USAGE, "count is");
        REFUSED(supple_body_surface_displacements(body, counts[i], &vertex, y), SUPPLE_USAGE, "count is");
    }
    supple_body_close(body);
}

/* Opening, and other materials, leave no memory behind: less than what the allocator itself keeps. */
TEST(memory_does_not_grow)
{
    if (!COUNTS_ALLOCATIONS)
        SKIP("sanitizers have an allocator of their own");
    double before = 0;
    supple_body *body = started(&polynomials);
    for (int i = 0; i < 220; i++) {
        before = i == 120 ? bytes_in_use() : before;
        supple_body *other = started(i % 2 ? &cubature : &polynomials);
        steps(other, 1);
        supple_body_close(other);
        GOOD(supple_body_set_material(body, NULL, 1e6 + i, -2, -1));
        CHECK(supple_body_set_material(body, NULL, -1, 0.4, -1) != SUPPLE_OK, "it has no lambda");
        supple_body_files wrong = polynomials;
        wrong.basis = "twin-basis.npz";
        CHECK(supple_body_open(&wrong, &other) != SUPPLE_OK, "another basis");
    }
    CHECK(bytes_in_use() < before + 30000, "%.0f bytes more", bytes_in_use() - before);
    supple_body_close(body);
}

/* Every allocation fails once: the call reports it, and the body continues as if the call had not been made. */
TEST(memory_that_is_missing)
{
    if (!COUNTS_ALLOCATIONS)
        SKIP("sanitizers have an allocator of their own");
    const supple_integration how = supple_integration_default();
    supple_body *body = started(&polynomials), *plain = started(&polynomials), *other;
    int refused = 0;
    bool reached = true;

    for (int n = 0; reached; n++) {
        reached = false;
        for (int call = 0; call < 3; call++) {
            until_failure = n;
            const supple_status status = call == 0   ? supple_body_open(&polynomials, &other)
                                         : call == 1 ? supple_body_set_material(body, NULL, 1e6, -2, -1)
                                                     : supple_body_start(body, &how, NULL, NULL);
            const bool failed = until_failure < 0;
            until_failure = -1;
            CHECK(status == (failed ? SUPPLE_SYSTEM : SUPPLE_OK), "call %d, %d: %s", call, n, supple_error());
            if (call == 0)
                supple_body_close(other);
            refused += failed;
            reached |= failed;
            if (call == 2 && !failed)
                GOOD(supple_body_start(plain, &how, NULL, NULL));
        }
        steps(body, 1);
        steps(plain, 1);
        CHECK(same(body, plain), "%d: %g", n, difference(body, plain));
    }

    CHECK(refused > 100, "%d failures", refused);
    supple_body_close(body);
    supple_body_close(plain);
}

/* ---- threads and memory ---- */

static void *run(void *data)
{
    supple_body *body = data;
    for (int i = 0; i < 300; i++)
        if (supple_body_step(body) != SUPPLE_OK)
            return (void *)1;
    return NULL;
}

TEST(two_threads_as_one)
{
    const supple_body_files *const files[2] = {&polynomials, &cubature};
    supple_body *alone[2], *together[2];
    pthread_t thread[2];
    void *failed[2];
    for (int i = 0; i < 2; i++) {
        alone[i] = started(files[i]);
        together[i] = started(files[i]);
        GOOD(supple_body_set_force(alone[i], 20, (double[3]){0, 5, -3}));
        GOOD(supple_body_set_force(together[i], 20, (double[3]){0, 5, -3}));
        CHECK(run(alone[i]) == NULL, "%s", supple_error());
    }
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, run, together[i]);
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], &failed[i]);
        CHECK(!failed[i], "body %d", i);
        CHECK(same(alone[i], together[i]), "body %d: %g", i, difference(alone[i], together[i]));
        supple_body_close(alone[i]);
        supple_body_close(together[i]);
    }
}

TEST(steps_allocate_nothing)
{
    const supple_body_files *const files[3] = {&polynomials, &cubature, &modal};
    if (!COUNTS_ALLOCATIONS)
        SKIP("sanitizers have an allocator of their own");
    for (int i = 0; i < 3; i++) {
        supple_body *body = started(files[i]);
        double u[30];
        GOOD(supple_body_set_force(body, 20, (double[3]){0, 5, -3}));
        steps(body, 2); /* OpenBLAS allocates once for each thread */
        const int before = allocations;
        steps(body, 20);
        GOOD(supple_body_set_force(body, 21, (double[3]){0, 5, -3}));
        GOOD(supple_body_displacements(body, 10, NULL, u));
        CHECK(allocations == before, "%d allocations", allocations - before);
        supple_body_close(body);
    }
}

/* ---- for comparison with simulate ---- */

/* run MESH BASIS POLY CUB LOADS SCHEME SEMI_IMPLICIT STEPS; "-": none */
static int print_run(char **word)
{
    const char *file[5];
    for (int i = 0; i < 5; i++)
        file[i] = strcmp(word[i], "-") ? word[i] : NULL;
    supple_integration how = supple_integration_default();
    how.scheme = (supple_scheme)atoi(word[5]);
    how.semi_implicit = atoi(word[6]);
    supple_body *body = NULL;
    if (supple_body_open(&(supple_body_files){file[0], file[1], file[2], file[3], 0}, &body) ||
        supple_body_load_file(body, file[4]) || supple_body_start(body, &how, NULL, NULL)) {
        fprintf(stderr, "%s\n", supple_error());
        return 1;
    }
    for (int i = 0; i < atoi(word[7]); i++)
        if (supple_body_step(body)) {
            fprintf(stderr, "%s\n", supple_error());
            return 1;
        }
    for (int64_t j = 0; j < supple_body_coordinates(body); j++)
        printf("%a %a\n", supple_body_q(body)[j], supple_body_qdot(body)[j]);
    supple_body_close(body);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 10 && !strcmp(argv[1], "run"))
        return print_run(argv + 2);
    return test_all();
}
