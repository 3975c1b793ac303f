/* Loads on sets, rotations, and courses over time: resultants and moments against closed forms, integrals against
 * sums. */
#include "formats/loads.h"
#include "base/vec3.h"
#include "model/models.h"
#include "test.h"
#include "typed_mesh.h"

static const double side = 0.5;

/* A box of 3 × 2 × 2 cells of any type, and the sets "right", the faces at
 * the largest x, "few", three vertices, and "half", every other element. */
static void make_body(int type, sp_mesh *mesh, sp_fe_space *body)
{
    OWNED(sp_list) faces = {0}, elements = {0};
    make_typed(type, 3, 2, 2, side, 0, true, mesh);
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        int nodes, corners;
        const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
        for (int64_t f = 0; f < sp_element_types[type].faces; f++) {
            signed char number[SP_FACE_NODES];
            bool right = true;
            sp_element_face(type, (int)f, number, &corners);
            for (int a = 0; a < corners; a++)
                right &= mesh->vertices[3 * node[number[a]]] == 3 * side;
            if (right)
                memcpy(sp_list_add(&faces, 2, sizeof e), (int64_t[]){e, f}, 2 * sizeof e);
        }
        if (e % 2)
            *(int64_t *)sp_list_add(&elements, 1, sizeof e) = e;
    }
    CHECK_OK(sp_mesh_add_to_set(&context, mesh, "right", SP_SET_FACES, faces.count / 2, faces.data));
    CHECK_OK(sp_mesh_add_to_set(&context, mesh, "half", SP_SET_ELEMENTS, elements.count, elements.data));
    CHECK_OK(sp_mesh_add_to_set(&context, mesh, "few", SP_SET_VERTICES, 3, (int64_t[]){1, 4, 6}));
    CHECK_OK(sp_fe_space_new(&context, mesh, body));
}

/* The resultant of a load, and its moment about the origin. */
static void resultant(const sp_fe_space *body, const sp_load *load, double sum[3], double moment[3])
{
    const sp_mesh *mesh = body->mesh;
    double *full = test_new(3 * mesh->vertex_count, sizeof *full);
    CHECK_OK(sp_load_check(&context, mesh, 1, load));
    CHECK_OK(sp_load_distribute(&context, body, load, full));
    memset(sum, 0, 3 * sizeof *sum);
    memset(moment, 0, 3 * sizeof *moment);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double m[3];
        sp_cross3(mesh->vertices + 3 * v, full + 3 * v, m);
        for (int i = 0; i < 3; i++) {
            sum[i] += full[3 * v + i];
            moment[i] += m[i];
        }
    }
}

static void expect(const char *what, int type, const double got[3], const double due[3], double scale)
{
    for (int i = 0; i < 3; i++)
        CHECK(fabs(got[i] - due[i]) <= 1e-13 * scale, "%s, %s: %.17g instead of %.17g", sp_element_types[type].name,
              what, got[i], due[i]);
}

TEST(sets)
{
    const double F[3] = {3, -5, 7}, area = 4 * side * side, centre[3] = {3 * side, side, side};
    for (int type = 0; type < SP_ELEMENT_TYPES; type++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        double sum[3], moment[3], due[3];
        make_body(type, &mesh, &body);
        sp_load load = {.end = 1, .id = -1, .force = {F[0], F[1], F[2]}};
        sp_cross3(centre, F, due);

        load.kind = SP_LOAD_SET;
        load.set = sp_mesh_find_set(&mesh, "right", SP_SET_FACES);
        resultant(&body, &load, sum, moment);
        expect("force on faces", type, sum, F, 10);
        expect("its moment", type, moment, due, 10);

        load.kind = SP_LOAD_TRACTION;
        for (int i = 0; i < 3; i++)
            load.force[i] = F[i] / area;
        resultant(&body, &load, sum, moment);
        expect("traction", type, sum, F, 10);
        expect("its moment", type, moment, due, 10);

        load.kind = SP_LOAD_PRESSURE;
        load.force[0] = 90;
        resultant(&body, &load, sum, moment);
        expect("pressure on faces", type, sum, (const double[]){-90 * area, 0, 0}, 100);

        /* of elements: by volume, at the centroid of the elements */
        load = (sp_load){.end = 1, .kind = SP_LOAD_SET, .id = -1, .force = {F[0], F[1], F[2]}};
        load.set = sp_mesh_find_set(&mesh, "half", SP_SET_ELEMENTS);
        double volume = 0, centroid[3] = {0};
        for (int64_t i = 0; i < load.set->count; i++) {
            int corners;
            const int64_t *node = sp_mesh_corner_nodes(&mesh, load.set->index[i], &corners);
            const double own = sp_mesh_element_volume(&mesh, load.set->index[i]);
            volume += own;
            for (int a = 0; a < corners; a++)
                for (int k = 0; k < 3; k++)
                    centroid[k] += own / corners * mesh.vertices[3 * node[a] + k];
        }
        for (int k = 0; k < 3; k++)
            centroid[k] /= volume;

        sp_cross3(centroid, F, due);
        resultant(&body, &load, sum, moment);
        expect("force on elements", type, sum, F, 10);
        expect("its moment", type, moment, due, 10);

        load.set = sp_mesh_find_set(&mesh, "few", SP_SET_VERTICES);
        double *full = test_new(3 * mesh.vertex_count, sizeof *full);
        CHECK_OK(sp_load_distribute(&context, &body, &load, full));
        CHECK_NEAR(full[3 * 4 + 1], F[1] / 3, 1e-15);
    }
}

/* The resultant of the centrifugal force is m ω² times the arm of the centroid, without moment about the axis; the
 * moment about the centroid is that of the inertia of a box. */
TEST(rotation)
{
    for (int type = 0; type < SP_ELEMENT_TYPES; type++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        double sum[3], moment[3], arm[3], along[3], due[3], about[3], tensor[3];
        make_body(type, &mesh, &body);
        const sp_load load = {
            .end = 1, .kind = SP_LOAD_ROTATION, .id = -1, .force = {2, 1, -3}, .point = {0.3, 0.2, -1}};
        const double size[3] = {3 * side, 2 * side, 2 * side},
                     mass = mesh.materials[0].density * size[0] * size[1] * size[2];

        for (int i = 0; i < 3; i++)
            arm[i] = 0.5 * size[i] - load.point[i];
        sp_cross3(load.force, arm, along);
        sp_cross3(along, load.force, due);
        for (int i = 0; i < 3; i++)
            due[i] *= mass;
        resultant(&body, &load, sum, moment);
        expect("rotation", type, sum, due, 100 * mass);

        /* about the centroid −∫ρ x × (ω × (ω × x)) = ω × (S ω), S = ∫ρ x xᵀ */
        for (int i = 0; i < 3; i++)
            tensor[i] = mass / 12 * size[i] * size[i] * load.force[i];
        sp_cross3(load.force, tensor, about);
        for (int i = 0; i < 3; i++)
            arm[i] = 0.5 * size[i];
        sp_cross3(arm, due, along);
        for (int i = 0; i < 3; i++)
            due[i] = along[i] + about[i];
        expect("its moment", type, moment, due, 100 * mass);
    }
}

/* ---- text ---- */

static bool same_course(const sp_course *a, const sp_course *b)
{
    bool same = a->kind == b->kind && a->frequency == b->frequency && fabs(a->phase - b->phase) <= 1e-15 &&
                a->count == b->count;
    for (int64_t i = 0; same && i < a->count; i++)
        same = a->time[i] == b->time[i] && a->factor[i] == b->factor[i];
    return same;
}

static bool same_load(const sp_load *a, const sp_load *b)
{
    return a->start == b->start && a->end == b->end && a->kind == b->kind && a->id == b->id && a->set == b->set &&
           a->stiffness == b->stiffness && a->moving == b->moving && !memcmp(a->force, b->force, sizeof a->force) &&
           !memcmp(a->anchor_end, b->anchor_end, sizeof a->anchor_end) &&
           !memcmp(a->point, b->point, sizeof a->point) && same_course(&a->course, &b->course);
}

/* Every kind and every course, printed and read again. */
TEST(text)
{
    static const char text[] = "0.1,0.30000000000000004,vertex,3,1,-2,0.1\n"
                               "0,inf,all,,0,0,-9.81\n"
                               "0,1,region,0,1e-300,2,3,ramp\n"
                               "0,1,set,half,1,2,3,sine:440:30\n"
                               "0,1,set,few,1,2,3,table:0 0;0.1 1;0.25 -3\n"
                               "0,1,traction,right,1,2,3\n"
                               "0,2,pressure,,5000,sine:0.3\n"
                               "0,2,pressure,set:right,5000\n"
                               "0,9,rotation,,1,2,3,4,5,6,ramp\n"
                               "0,3,acceleration,,0,0,-9.81,table:0 1;1 2\n"
                               "0,3,acceleration,0,1,2,3,random:100:7:5 1;20 0.25;50 3\n"
                               "0.2,0.4,spring,2,0.5,0,0.25,400\n"
                               "0.4,0.9,spring,2,0.5,0,0.25,400,0.7,0,0.25\n";
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_pool) pool = {0};
    sp_load *loads, *again;
    int64_t count, found;
    char *printed;
    size_t length;

    make_body(SP_HEX8, &mesh, &body);
    CHECK_OK(sp_loads_parse(&context, text, sizeof text - 1, &mesh, &pool, &count, &loads));
    CHECK(count == 13, "%lld loads", (long long)count);

    FILE *stream = open_memstream(&printed, &length);
    sp_loads_print(count, loads, stream);
    fclose(stream);
    CHECK_OK(sp_loads_parse(&context, printed, (int64_t)length, &mesh, &pool, &found, &again));
    CHECK(found == count, "%lld loads of %lld", (long long)found, (long long)count);
    for (int64_t i = 0; i < found && i < count; i++)
        CHECK(same_load(&loads[i], &again[i]), "load %lld is another one: %s", (long long)i, printed);
    free(printed);
}

/* ---- courses ---- */

static double sum_of(const sp_course *course, double length, double a, double b)
{
    enum { PARTS = 200000 }; /* the midpoint rule */
    double sum = 0;
    for (int i = 0; i < PARTS; i++)
        sum += sp_course_at(course, length, a + (b - a) * (i + 0.5) / PARTS);
    return sum * (b - a) / PARTS;
}

TEST(courses)
{
    static const double time[] = {0.1, 0.4, 0.5, 2}, factor[] = {1, -3, 0.5, 2};
    static const sp_course of[] = {{.kind = SP_COURSE_CONSTANT},
                                   {.kind = SP_COURSE_RAMP},
                                   {.kind = SP_COURSE_SINE, .frequency = 3, .phase = 0.4},
                                   {.kind = SP_COURSE_TABLE, .count = 4, .time = time, .factor = factor},
                                   {.kind = SP_COURSE_TABLE, .count = 1, .time = time, .factor = factor + 1}};
    static const double from[][2] = {{0, 3}, {0, 0.05}, {0.2, 0.45}, {0.39, 0.51}, {0.7, 0.7001}, {1, 3}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++)
        for (size_t i = 0; i < sizeof from / sizeof *from; i++)
            CHECK_NEAR(sp_course_integral(&of[k], 4, from[i][0], from[i][1]), sum_of(&of[k], 4, from[i][0], from[i][1]),
                       1e-9);
    CHECK_NEAR(sp_course_at(&of[1], 4, 3), 0.75, 0);
    CHECK_NEAR(sp_course_at(&of[3], 4, 0.25), -1, 1e-15);
    CHECK_NEAR(sp_course_at(&of[3], 4, 9), 2, 0);
}

/* A course with the density 1, 4 and 16 at 5, 10 and 20 Hz, a straight line of logarithms. Its spectrum is that of the
 * course as it acts, linear between samples: the mean of (2/T) |∫ x exp(−iωt) dt|² over many seeds, whose standard
 * deviation is a √SEEDS-th part of it. Outside of the band only the ends of a piece leak in. */
TEST(random_courses)
{
    enum { SEEDS = 400, LENGTH = 8, PARTS = 8 };
    static const double frequency[] = {5, 20}, density[] = {1, 16}, at[] = {2, 6, 10, 15, 30},
                        expected[] = {0, 1.44, 4, 9, 0};
    sp_course_spectrum spectrum = {.rate = 80, .count = 2, .frequency = frequency, .density = density};
    double power[5] = {0}, fourth = 0, second = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        OWNED(sp_pool) pool = {0};
        sp_course course;
        spectrum.seed = seed;
        CHECK_OK(sp_course_realize(&context, &spectrum, LENGTH, &pool, &course));
        CHECK(course.count == 80 * LENGTH + 1 && course.time[80] == 1, "%lld samples", (long long)course.count);

        for (int k = 0; k < 5; k++) {
            double re = 0, im = 0;
            const double h = 1 / (spectrum.rate * PARTS);
            for (int64_t i = 0; i < 80 * LENGTH * PARTS; i++) {
                const double t = ((double)i + 0.5) * h, x = sp_course_at(&course, LENGTH, t) * h;
                re += x * cos(2 * M_PI * at[k] * t);
                im += x * sin(2 * M_PI * at[k] * t);
            }
            power[k] += 2.0 / LENGTH * (re * re + im * im) / SEEDS;
        }
        for (int64_t i = 0; i < course.count; i += 40) {
            const double square = course.factor[i] * course.factor[i];
            second += square;
            fourth += square * square;
        }

        /* the same seed again */
        sp_course again;
        CHECK_OK(sp_course_realize(&context, &spectrum, LENGTH, &pool, &again));
        CHECK(!memcmp(again.factor, course.factor, (size_t)course.count * sizeof *again.factor), "another course");
    }

    for (int k = 0; k < 5; k++) {
        NOTE("density at %g Hz: %.3f, due %.3f", at[k], power[k], expected[k]);
        CHECK_NEAR(power[k], expected[k], expected[k] > 0 ? 4 * expected[k] / sqrt(SEEDS) : 0.1);
    }

    /* Of a normal distribution the fourth moment is three times the square of the second; 17 values of a course are
     * nearly independent. */
    const double values = SEEDS * 17.0, kurtosis = fourth * values / (second * second);
    NOTE("kurtosis %.3f", kurtosis);
    CHECK_NEAR(kurtosis, 3, 5 * sqrt(24 / values));

    sp_course course;
    OWNED(sp_pool) pool = {0};
    CHECK(sp_course_realize(&context, &spectrum, 1e9, &pool, &course) == SP_INPUT, "a course of 8e10 samples");
}

/* An acceleration is gravity. */
TEST(accelerations)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    const double a[3] = {1, -2, 9.81};
    make_body(SP_TET10, &mesh, &body);
    const int64_t n = body.dof_count, vertices = mesh.vertex_count;
    double *f = test_new(n, 8), *gravity = test_new(n, 8), *mass = test_new(vertices, 8),
           *full = test_new(3 * vertices, 8);
    sp_load load = {.end = 1, .kind = SP_LOAD_ACCELERATION, .id = -1, .force = {1, -2, 9.81}};
    CHECK_OK(sp_load_force(&context, &body, 1, &load, f));
    sp_load_uniform(&body, false, NULL, n, a, mass, full, gravity);
    CHECK_NEAR(max_difference(n, f, gravity), 0, 1e-13 * max_abs(n, gravity));
}

/* The loads of a system: the impulse over any steps is the integral; at the ends of steps the factor there. */
TEST(means)
{
    static const double time[] = {0, 0.3, 0.31}, factor[] = {0, 2, -1};
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    FREED_BY(sp_full_system_free) sp_system full;
    sp_load_set set;
    make_body(SP_HEX8, &mesh, &body);
    CHECK_OK(sp_full_system_new(&context, &body, false, false, NULL, &full));

    const sp_course course[] = {{.kind = SP_COURSE_RAMP},
                                {.kind = SP_COURSE_SINE, .frequency = 2},
                                {.kind = SP_COURSE_TABLE, .count = 3, .time = time, .factor = factor}};
    for (int k = 0; k < 3; k++) {
        const sp_load load = {0.1, 0.8, SP_LOAD_VERTEX, 5, {0, 0, 6}, .course = course[k]};
        const int64_t at = body.dof[3 * 5 + 2];
        double *f = test_new(full.n, sizeof *f), impulse = 0;
        CHECK_OK(sp_load_set_new(&context, &body, NULL, 0, 1, &load, (double[3]){0}, &full, &set));
        sp_external_loads loads = sp_load_set_external(&set);

        for (int step = 0; step < 13; step++) {
            loads.mean(loads.self, 0.07 * step, 0.07 * (step + 1), f);
            impulse += 0.07 * f[at];
        }
        CHECK_NEAR(impulse, 6 * sp_course_integral(&course[k], 0.7, 0, 0.7), 1e-14);

        sp_load_set_at_ends(&set, true);
        loads.mean(loads.self, 0.4, 0.5, f);
        CHECK_NEAR(f[at], 6 * sp_course_at(&course[k], 0.7, 0.4), 1e-14);
        loads.mean(loads.self, 0.7, 0.8, f);
        CHECK_NEAR(f[at], 6 * sp_course_at(&course[k], 0.7, 0.7), 1e-13);
        loads.mean(loads.self, 0.75, 0.85, f);
        CHECK_NEAR(f[at], 0, 0);

        int64_t count;
        double *piece;
        OWNED(sp_pool) pool = {0};
        CHECK(sp_load_set_pieces(&context, &set, 0, &pool, &count, &piece) == SP_USAGE &&
                  strstr(context.message, "give the length of a step"),
              "%s", context.message);
        CHECK_OK(sp_load_set_pieces(&context, &set, 0.1, &pool, &count, &piece));
        sp_load_set_free(&set);
    }
}

/* In free fall all vertices have the acceleration of gravity, with either mass: M g is the force of gravity. */
TEST(free_fall)
{
    const double g[3] = {0.3, -2, 9};
    for (int type = 0; type < SP_ELEMENT_TYPES; type++)
        for (int lumped = 0; lumped < 2; lumped++) {
            OWNED(sp_mesh) mesh;
            OWNED(sp_fe_space) body;
            FREED_BY(sp_full_system_free) sp_system full;
            OWNED(sp_load_set) set;
            make_typed(type, 2, 2, 1, side, 0.06, false, &mesh);
            CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
            CHECK_OK(sp_full_system_new(&context, &body, false, lumped, NULL, &full));
            CHECK_OK(sp_load_set_new(&context, &body, NULL, 0, 0, NULL, g, &full, &set));
            double *a = test_new(full.n, sizeof *a), *f = test_new(full.n, sizeof *f), worst = 0, most = 0;
            for (int64_t i = 0; i < full.n; i++)
                a[i] = g[i % 3];
            full.mass_times(full.self, a, f);
            for (int64_t i = 0; i < full.n; i++) {
                worst = fmax(worst, fabs(f[i] - set.gravity[i]));
                most = fmax(most, fabs(f[i]));
            }
            CHECK(worst <= 1e-13 * most, "%s, lumped %d: off by %g of %g N", sp_element_types[type].name, lumped, worst,
                  most);
        }
}

static void refuse(sp_load load, const char *words)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    make_body(SP_HEX8, &mesh, &body);
    if (load.id == -2) /* a set of vertices */
        load.set = sp_mesh_find_set(&mesh, "few", SP_SET_VERTICES);
    CHECK(sp_load_check(&context, &mesh, 7, &load) == SP_INPUT && strstr(context.message, words), "%s instead of %s",
          context.message, words);
}

TEST(refusals)
{
    static const double time[] = {0, 1, 1}, factor[] = {0, NAN, 1};
    refuse((sp_load){.end = 1, .kind = SP_LOAD_SET}, "load 7 has no set");
    refuse((sp_load){.end = 1, .kind = SP_LOAD_TRACTION, .id = -2}, "load 7 has no set of faces");
    refuse((sp_load){.end = 1, .kind = SP_LOAD_PRESSURE, .id = -2}, "load 7 has no set of faces");
    refuse((sp_load){.end = 1, .kind = SP_LOAD_ROTATION, .id = 4}, "load 7 names region 4 of 1");
    refuse((sp_load){.end = 1, .kind = SP_LOAD_ROTATION, .id = -1, .point = {0, INFINITY, 0}}, "is not finite");
    refuse((sp_load){.end = INFINITY, .course.kind = SP_COURSE_RAMP}, "a ramp without end");
    refuse((sp_load){.end = 1, .course = {.kind = SP_COURSE_SINE, .frequency = -1}}, "a sine of -1 Hz");
    refuse((sp_load){.end = 1, .course = {.kind = SP_COURSE_TABLE}}, "an empty table");
    refuse((sp_load){.end = 1, .course = {.kind = SP_COURSE_TABLE, .count = 2, .time = time, .factor = factor}},
           "time 2 of its table");
    refuse((sp_load){.end = 1, .course = {.kind = SP_COURSE_TABLE, .count = 3, .time = time, .factor = time}},
           "time 3 of its table");
    refuse((sp_load){.end = 1, .kind = SP_LOAD_SPRING, .course.kind = SP_COURSE_RAMP}, "which has no course");
}
