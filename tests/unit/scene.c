/* Scenes and paths: every key is read, every rule refuses, and page and schema agree with the tables. */
#include "formats/scene_internal.h"
#include "keys_test.h"

/* Every key that is possible in one scene, with a value that is not its default. Single quotes stand for double ones.
 */
static const char full[] =
    "{'gravity': [1, -2, -9.81],"
    " 'contact': {'stiffness': 2000, 'damping': 0.5, 'friction': 0.4, 'limit': 10, 'weights': 'area', 'direction': "
    "'gradient', 'normals': 'tangents', 'pulse': 0.25},"
    " 'traversal': {'warm': 5e3, 'cold': 1200, 'budget': 'cost', 'contact_cost': 2.5, 'coherence': false, 'tree': "
    "false, 'levels': 4},"
    " 'models': {"
    "  'flesh': {'kind': 'reduced', 'mesh': 'm.npz', 'basis': '/abs/b.npz', 'cubature': 'c.npz', 'pointshell': "
    "'s.npz', "
    "'field': 'f.npz', "
    "'proxies': 'p.npz',"
    "            'domains': [{'field': 'f1', 'proxies': 'p1'}, {'field': '/f2', 'proxies': 'p2'}], 'nearest': 7, 'r': "
    "12, 'damping': [0.5, "
    "0.001],"
    "            'thickness': 0.002, 'decoupled': true, 'most_acceleration': 55},"
    "  'bar': {'kind': 'linear', 'mesh': 'm', 'basis': 'b', 'polynomials': 'q'},"
    "  'table': {'kind': 'rigid', 'plane': {'normal': [0, 3e200, 4e200], 'offset': -0.5}},"
    "  'ball': {'kind': 'rigid', 'pointshell': 's', 'thickness': 0.01, 'surface': 'ball.obj', 'density': 500, "
    "'sphere': "
    "{'centre': [1, 2, 3], "
    "'radius': 0.25}},"
    "  'brick': {'kind': 'rigid', 'box': {'centre': [-1, -2, -3], 'half': [1, 2, 3]}, 'mass': 3, 'mass_centre': [0.1, "
    "0.2, 0.3],"
    "            'inertia': [2, 3, 4, -0.5, 0.25, 0.125]},"
    "  'tool': {'kind': 'rigid', 'mesh': 'tool.npz', 'pointshell': 't', 'voxmap': 'v.npz'}},"
    " 'bodies': ["
    "  {'name': 'table', 'model': 'table'},"
    "  {'name': 'ball', 'model': 'ball', 'motion': 'free', 'position': [1, 2, 3], 'orientation': [0, 0, -2, 0], "
    "'velocity': [4, 5, 6],"
    "   'angular_velocity': [7, 8, 9], 'copies': {'count': [2, 3, 2], 'spacing': [10, 100, 1000]}},"
    "  {'name': 'arm', 'model': 'flesh', 'motion': 'path', 'path': 'arm.csv', 'inertial': true},"
    "  {'name': 'tool', 'model': 'tool', 'motion': 'coupled', 'position': [0, 0, 1]},"
    "  {'name': 'brick', 'model': 'brick', 'motion': 'free'}],"
    " 'pairs': [['ball', 'table'], ['ball[3]', 'tool'], ['tool', 'brick']],"
    " 'coupling': {'kind': 'dynamic', 'body': 'tool', 'path': 'hand.csv', 'grasp': [0.1, 0.2, 0.3], 'stiffness': 500, "
    "'torque_stiffness': "
    "2, 'saturation': 5,"
    "  'torque_saturation': 0.5, 'static_damping': 0.75, 'damping': 3, 'torque_damping': 4, 'speed': 1, "
    "'angular_speed': 6, 'threshold': "
    "0.01, 'length': 0.125,"
    "  'device_scale': 0.5, 'device_force': 7, 'device_torque': 0.7, 'gradient': 'field', 'clutch': [[0, 0.5], "
    "[1, 2.5], [3, 4]]}}";

/* The smallest scene. */
static const char least[] = "{'contact': {'stiffness': 1}, 'models': {'m': {'kind': 'rigid', 'field': 'f'}}, 'bodies': "
                            "[{'name': 'b', 'model': 'm'}]}";

static int parse(const char *text, const char *folder, sp_scene *scene)
{
    char *copy = quoted(text);
    int status = sp_scene_parse(&context, copy, (int64_t)strlen(copy), folder, scene);
    free(copy);
    return status;
}

/* ---- values ---- */

TEST(every_key)
{
    sp_scene s;
    CHECK_OK(parse(full, "some/folder", &s));
    if (s.model_count != 6 || s.body_count != 16) {
        CHECK(false, "%lld models, %lld bodies", (long long)s.model_count, (long long)s.body_count);
        return;
    }
    SAME(s.gravity, 3, 1, -2, -9.81);
    CHECK(s.contact.stiffness == 2000 && s.contact.damping == 0.5 && s.contact.friction == 0.4 &&
              s.contact.limit == 10 && s.contact.pulse == 0.25,
          "contact");
    CHECK(s.contact.weights == SP_SCENE_AREA && s.contact.direction == SP_SCENE_BY_GRADIENT &&
              s.contact.normals == SP_SCENE_TANGENTS,
          "contact, words");
    CHECK(s.traversal.warm == 5000 && s.traversal.cold == 1200 && s.traversal.levels == 4 &&
              s.traversal.contact_cost == 2.5,
          "traversal");
    CHECK(s.traversal.budget == SP_SCENE_COST && !s.traversal.coherence && !s.traversal.tree, "traversal, words");

    const sp_scene_model *flesh = &s.models[0], *bar = &s.models[1], *table = &s.models[2], *ball = &s.models[3],
                         *brick = &s.models[4], *tool = &s.models[5];
    TEXT(flesh->name, "flesh");
    CHECK(flesh->kind == SP_SCENE_REDUCED && bar->kind == SP_SCENE_LINEAR && table->kind == SP_SCENE_RIGID, "kinds");
    TEXT(flesh->mesh, "some/folder/m.npz");
    TEXT(flesh->basis, "/abs/b.npz");
    TEXT(flesh->cubature, "some/folder/c.npz");
    TEXT(flesh->pointshell, "some/folder/s.npz");
    TEXT(flesh->field, "some/folder/f.npz");
    TEXT(flesh->proxies, "some/folder/p.npz");
    TEXT(bar->polynomials, "some/folder/q");
    TEXT(ball->surface, "some/folder/ball.obj");
    TEXT(tool->voxmap, "some/folder/v.npz");
    CHECK(!flesh->polynomials && !flesh->voxmap && !flesh->surface && !bar->cubature && !table->mesh,
          "files that are not there");
    CHECK(flesh->domain_count == 2, "%lld domains", (long long)flesh->domain_count);
    TEXT(flesh->domain_fields[0], "some/folder/f1");
    TEXT(flesh->domain_fields[1], "/f2");
    TEXT(flesh->domain_proxies[0], "some/folder/p1");
    TEXT(flesh->domain_proxies[1], "some/folder/p2");
    CHECK(flesh->nearest == 7 && flesh->r == 12 && flesh->thickness == 0.002 && flesh->decoupled &&
              flesh->most_acceleration == 55,
          "flesh");
    SAME(flesh->damping, 2, 0.5, 0.001);
    CHECK(table->shape == SP_SCENE_PLANE && ball->shape == SP_SCENE_SPHERE && brick->shape == SP_SCENE_BOX &&
              tool->shape == SP_SCENE_NO_GEOMETRY,
          "snapshots");
    CHECK_NEAR(table->normal[1], 0.6, 2e-16); /* a few rounding errors of numbers below 1 */
    CHECK_NEAR(table->normal[2], 0.8, 2e-16);
    CHECK(table->normal[0] == 0 && table->offset == -0.5, "plane");
    SAME(ball->centre, 3, 1, 2, 3);
    CHECK(ball->radius == 0.25 && ball->density == 500 && ball->mass == 0 && ball->thickness == 0.01, "ball");
    SAME(brick->centre, 3, -1, -2, -3);
    SAME(brick->half, 3, 1, 2, 3);
    CHECK(brick->mass == 3 && brick->density == 0, "brick");
    SAME(brick->mass_centre, 3, 0.1, 0.2, 0.3);
    SAME(brick->inertia, 6, 2, 3, 4, -0.5, 0.25, 0.125);

    CHECK(s.bodies[0].motion == SP_SCENE_FIXED && s.bodies[0].model == 2, "table");
    for (int i = 0; i < 12; i++) {
        const sp_scene_body *b = &s.bodies[1 + i];
        char name[20];
        snprintf(name, sizeof name, "ball[%d]", i);
        TEXT(b->name, name);
        CHECK(b->motion == SP_SCENE_FREE && b->model == 3, "%s", name);
        SAME(b->pose.x, 3, 1 + 10.0 * (i % 2), 2 + 100.0 * (i / 2 % 3), 3 + 1000.0 * (i / 6));
        SAME(b->pose.q, 4, 0, 0, -1, 0);
        SAME(b->velocity, 3, 4, 5, 6);
        SAME(b->angular_velocity, 3, 7, 8, 9);
    }
    TEXT(s.bodies[13].name, "arm");
    TEXT(s.bodies[13].path, "some/folder/arm.csv");
    CHECK(s.bodies[13].motion == SP_SCENE_PATH && s.bodies[14].motion == SP_SCENE_COUPLED, "motions");
    SAME(s.bodies[14].pose.x, 3, 0, 0, 1);
    SAME(s.bodies[14].pose.q, 4, 1, 0, 0, 0);

    CHECK(s.pairs_given && s.pair_count == 14, "%lld pairs", (long long)s.pair_count);
    for (int i = 0; i < 12; i++)
        CHECK(s.pairs[i].pointshell == 1 + i && s.pairs[i].field == 0, "pair %d", i);
    CHECK(s.pairs[12].pointshell == 4 && s.pairs[12].field == 14 && s.pairs[13].pointshell == 14 &&
              s.pairs[13].field == 15,
          "pairs");

    CHECK(s.coupling.kind == SP_SCENE_DYNAMIC && s.coupling.body == 14 && s.coupling.gradient == SP_SCENE_FIELD,
          "coupling, words");
    TEXT(s.coupling.path, "some/folder/hand.csv");
    SAME(s.coupling.grasp, 3, 0.1, 0.2, 0.3);
    SAME(((const double[]){s.coupling.stiffness, s.coupling.torque_stiffness, s.coupling.saturation,
                           s.coupling.torque_saturation}),
         4, 500, 2, 5, 0.5);
    CHECK(isinf(s.coupling.saturation_depth), "no depth");
    SAME(((const double[]){s.coupling.static_damping, s.coupling.damping, s.coupling.torque_damping}), 3, 0.75, 3, 4);
    SAME(((const double[]){s.coupling.speed, s.coupling.angular_speed, s.coupling.threshold, s.coupling.length}), 4, 1,
         6, 0.01, 0.125);
    SAME(((const double[]){s.coupling.device_scale, s.coupling.device_force, s.coupling.device_torque}), 3, 0.5, 7,
         0.7);
    CHECK(s.coupling.clutch_count == 3, "%lld", (long long)s.coupling.clutch_count);
    SAME(s.coupling.clutch, 6, 0, 0.5, 1, 2.5, 3, 4);
    sp_scene_free(&s);
    CHECK(!s.models && !s.bodies && !s.pool.first, "freed");
}

/* The numbers of scene.h and of the thesis. */
TEST(defaults)
{
    sp_scene s;
    CHECK_OK(parse(least, "", &s));
    SAME(s.gravity, 3, 0, 0, 0);
    CHECK(s.contact.stiffness == 1 && s.contact.damping == 0 && s.contact.friction == 0 && isinf(s.contact.limit) &&
              isinf(s.contact.pulse),
          "contact");
    CHECK(s.contact.weights == SP_SCENE_EQUAL && s.contact.direction == SP_SCENE_BY_GEOMETRY &&
              s.contact.normals == SP_SCENE_GRADIENT,
          "contact, words");
    CHECK(s.traversal.warm == INT64_MAX && s.traversal.cold == INT64_MAX && s.traversal.levels == 0 &&
              s.traversal.contact_cost == 1.5,
          "traversal");
    CHECK(s.traversal.budget == SP_SCENE_NODES && s.traversal.coherence && s.traversal.tree, "traversal, words");
    const sp_scene_model *m = &s.models[0];
    TEXT(m->field, "f");
    CHECK(!m->mesh && !m->pointshell && !m->proxies && m->domain_count == 0 && m->nearest == 5 && m->r == 0, "model");
    CHECK(m->mass == 0 && m->density == 0 && m->thickness == 0 && !m->decoupled && m->most_acceleration == 0 &&
              m->shape == SP_SCENE_NO_GEOMETRY,
          "model, numbers");
    SAME(m->damping, 2, -1, -1);
    CHECK(s.bodies[0].motion == SP_SCENE_FIXED && !s.bodies[0].path && !s.bodies[0].inertial, "body");
    SAME(s.bodies[0].pose.q, 4, 1, 0, 0, 0);
    CHECK(!s.pairs_given && s.pair_count == 0 && s.coupling.kind == SP_SCENE_NO_COUPLING, "the rest");
    sp_scene_free(&s);

    CHECK_OK(
        parse("{'models': {'m': {'kind': 'rigid', 'mesh': 'f'}}, 'bodies': [{'name': 'b', 'model': 'm'}]}", ".", &s));
    CHECK(s.contact.stiffness == 0 && s.contact.damping == 0 && isinf(s.contact.limit), "without contact");
    sp_scene_free(&s);

    CHECK_OK(parse("{'contact': {'stiffness': 1, 'limit': null, 'pulse': null}, 'traversal': {'warm': 1001}, 'models': "
                   "{'m': {'kind': "
                   "'rigid', 'mesh': 'f'}}, 'pairs': [],"
                   " 'bodies': [{'name': 'b', 'model': 'm', 'motion': 'coupled'}],"
                   " 'coupling': {'kind': 'static', 'body': 'b', 'path': 'x', 'stiffness': 1, 'torque_stiffness': 1}}",
                   ".", &s));
    CHECK(s.traversal.cold == 801, "0.8 · 1001 rounded up: %lld", (long long)s.traversal.cold);
    CHECK(isinf(s.contact.limit) && isinf(s.contact.pulse) && s.pairs_given && s.pair_count == 0, "null and no pairs");
    TEXT(s.coupling.path, "x");
    CHECK(isinf(s.coupling.saturation) && isinf(s.coupling.torque_saturation) && s.coupling.static_damping == 0.5 &&
              s.coupling.damping == 0 && s.coupling.torque_damping == 0,
          "coupling");
    CHECK(s.coupling.speed == 0 && s.coupling.angular_speed == 0 && s.coupling.threshold == 0.001 &&
              s.coupling.length == 0 && s.coupling.device_scale == 1,
          "coupling");
    CHECK(isinf(s.coupling.device_force) && isinf(s.coupling.device_torque) && s.coupling.gradient == SP_SCENE_NORMAL,
          "coupling");
    sp_scene_free(&s);
}

TEST(folders)
{
    const struct {
        const char *folder, *joined;
    } cases[] = {{"", "f"},     {".", "f"}, {"/", "/f"}, {"a", "a/f"}, {"a/", "a/f"}, {"../a b", "../a b/f"},
                 {"..", "../f"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(sp_scene) s;
        CHECK_OK(parse(least, cases[i].folder, &s));
        TEXT(s.models[0].field, cases[i].joined);
    }
    OWNED(sp_scene) s;
    char marked[sizeof least + 3] = "\xef\xbb\xbf";
    strcat(marked, least);
    CHECK_OK(parse(marked, "", &s));
}

static const char balls[] =
    "{'contact': {'stiffness': 1}, 'models': {'m': {'kind': 'rigid', 'pointshell': 's', 'thickness': 0.1}, 'n': "
    "{'kind': 'rigid', 'pointshell': 's', 'field': 'f'}},"
    " 'bodies': [{'name': 'a', 'model': '%s', 'copies': {'count': [%d, 1, 1], 'spacing': [1, 0, 0]}}, {'name': "
    "'b', 'model': 'm'}], 'pairs': [%s]}";

/* Copies of one body: all pairs, once if the order does not matter. */
TEST(pairs_of_copies)
{
    char text[2000];
    sp_scene s;
    snprintf(text, sizeof text, balls, "n", 5, "['a', 'a']");
    CHECK_OK(parse(text, "", &s));
    CHECK(s.pair_count == 20, "%lld pairs", (long long)s.pair_count);
    bool seen[5][5] = {{false}};
    for (int64_t i = 0; i < s.pair_count; i++)
        seen[s.pairs[i].pointshell][s.pairs[i].field] = true;
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            CHECK(seen[i][j] == (i != j), "%d against %d", i, j);
    sp_scene_free(&s);
    snprintf(text, sizeof text, balls, "m", 5, "['a', 'a'], ['b', 'a[2]']");
    CHECK_OK(parse(text, "", &s));
    CHECK(s.pair_count == 11, "%lld pairs", (long long)s.pair_count);
    for (int64_t i = 0; i < s.pair_count; i++)
        CHECK(s.pairs[i].pointshell < s.pairs[i].field, "pair %lld", (long long)i);
    CHECK(s.pairs[10].pointshell == 2 && s.pairs[10].field == 5, "the last pair");
    sp_scene_free(&s);
}

/* ---- refusals ---- */

/* The full scene with edits must fail with this message. */
static void refuse(int line, const char *message, const edit *edits)
{
    char *text = edited(full, edits);
    OWNED(sp_scene) s;
    context.message[0] = 0;
    const int status = sp_scene_parse(&context, text, (int64_t)strlen(text), "", &s);
    CHECK(status == SP_INPUT && !strcmp(context.message, message), "line %d: status %d, \"%s\", expected \"%s\"", line,
          status, context.message, message);
    CHECK(!s.pool.first && !s.models && !s.bodies, "line %d: something is left", line);
    free(text);
}
#define REFUSE(message, ...) refuse(__LINE__, message, (const edit[]){__VA_ARGS__, {0}})

TEST(values_refused)
{
    REFUSE("models: it is missing", {"models", ""});
    REFUSE("bodies: it is missing", {"bodies", ""});
    REFUSE("models: it is empty", {"models", "{}"});
    REFUSE("bodies: it is empty", {"bodies", "[]"});
    REFUSE("models.flesh.domains: it is empty", {"models.flesh.domains", "[]"});
    REFUSE("models: an array, expected an object", {"models", "[1]"});
    REFUSE("bodies: an object, expected an array", {"bodies", "{'a': 1}"});
    REFUSE("pairs: a string, expected an array", {"pairs", "'all'"});
    REFUSE("bodies[1]: a number, expected an object", {"bodies[1]", "1"});
    REFUSE("models.bar: null, expected an object", {"models.bar", "null"});
    REFUSE("contact.stiffness: 0 N/m, expected more than 0", {"contact.stiffness", "0"});
    REFUSE("contact.stiffness: a string, expected a number", {"contact.stiffness", "'1'"});
    REFUSE("contact.stiffness: null, expected a number", {"contact.stiffness", "null"});
    REFUSE("contact.limit: true, expected a number or null", {"contact.limit", "true"});
    REFUSE("contact.limit: 0.5, expected at least 1", {"contact.limit", "0.5"});
    REFUSE("contact.damping: -1 N s/m, expected at least 0", {"contact.damping", "-1"});
    REFUSE("contact.friction: -0.1, expected at least 0", {"contact.friction", "-0.1"});
    REFUSE("contact.weights: \"heavy\" is none of equal, area", {"contact.weights", "'heavy'"});
    REFUSE("contact.weights: a number, expected one of equal, area", {"contact.weights", "3"});
    REFUSE("contact.stifness: unknown key, expected one of stiffness, damping, friction, limit, weights, direction, "
           "normals, pulse",
           {"contact.stifness", "3"});
    REFUSE("comment: unknown key, expected one of gravity, contact, traversal, models, bodies, pairs, coupling, "
           "joints",
           {"comment", "'hello'"});
    REFUSE("models.table.plane.radius: unknown key, expected one of normal, offset",
           {"models.table.plane.radius", "1"});
    REFUSE("gravity: a number, expected 3 numbers", {"gravity", "-9.81"});
    REFUSE("gravity: 2 values, expected 3 numbers", {"gravity", "[0, 0]"});
    REFUSE("gravity[1]: a string, expected a number", {"gravity[1]", "'0'"});
    REFUSE("traversal.warm: 2.5, expected a whole number", {"traversal.warm", "2.5"});
    REFUSE("traversal.warm: 1e+30, expected a whole number", {"traversal.warm", "1e30"});
    REFUSE("traversal.warm: a string, expected a whole number or null", {"traversal.warm", "'1'"});
    REFUSE("traversal.warm: 0 nodes, expected at least 1", {"traversal.warm", "0"});
    REFUSE("traversal.tree: a number, expected true or false", {"traversal.tree", "1"});
    REFUSE("traversal.levels: 33, expected 0 to 32", {"traversal.levels", "33"});
    REFUSE("models.flesh.mesh: a number, expected the name of a file", {"models.flesh.mesh", "1"});
    REFUSE("models.flesh.mesh: \"\", expected the name of a file", {"models.flesh.mesh", "''"});
    REFUSE("models.flesh.nearest: 17, expected 1 to 16", {"models.flesh.nearest", "17"});
    REFUSE("models.flesh.damping[1]: -1, expected at least 0", {"models.flesh.damping[1]", "-1"});
    REFUSE("models.flesh.domains[1].proxies: it is missing", {"models.flesh.domains[1].proxies", ""});
    REFUSE("models.ball.sphere.radius: 0 m, expected more than 0", {"models.ball.sphere.radius", "0"});
    REFUSE("models.ball.sphere: a number, expected an object", {"models.ball.sphere", "1"});
    REFUSE("models.brick.box.half[2]: -3 m, expected more than 0", {"models.brick.box.half[2]", "-3"});
    REFUSE("models.brick.mass: 0 kg, expected more than 0", {"models.brick.mass", "0"});
    REFUSE("bodies[3].motion: \"flying\" is none of fixed, free, path, coupled", {"bodies[3].motion", "'flying'"});
    REFUSE("bodies[1].copies.count[0]: 0, expected 1 to 100000", {"bodies[1].copies.count[0]", "0"});
    REFUSE("bodies[1].copies.count[2]: 100001, expected 1 to 100000", {"bodies[1].copies.count[2]", "100001"});
    REFUSE("coupling.saturation_depth: 0 m, expected more than 0", {"coupling.saturation_depth", "0"});
    REFUSE("coupling.saturation_depth: it stands beside saturation, expected one of both",
           {"coupling.saturation_depth", "0.01"});
    REFUSE("coupling.clutch: a number, expected an array", {"coupling.clutch", "1"});
    REFUSE("coupling.clutch: it is empty", {"coupling.clutch", "[]"});
    REFUSE("coupling.clutch[1]: a number, expected 2 numbers", {"coupling.clutch[1]", "1"});
    REFUSE("coupling.clutch[0]: 3 values, expected 2 numbers", {"coupling.clutch[0]", "[1, 2, 3]"});
    REFUSE("coupling.clutch[0][0]: -1 s, expected at least 0", {"coupling.clutch[0][0]", "-1"});
    REFUSE("coupling.clutch[0][1]: true, expected a number", {"coupling.clutch[0][1]", "true"});
    REFUSE("coupling.clutch[2]: from 3 to 3 s, expected the start first", {"coupling.clutch[2][1]", "3"});
    REFUSE("coupling.clutch[1]: from 0.5 s, expected more than the end of the one before, 0.5 s",
           {"coupling.clutch[1][0]", "0.5"});
    REFUSE("bodies[2].clutch: unknown key, expected one of motion, name, model, path, inertial, position, orientation, "
           "velocity, angular_velocity, copies, loads",
           {"bodies[2].clutch", "[[0, 1]]"});
    REFUSE("coupling.static_damping: 1, expected 0 to less than 1", {"coupling.static_damping", "1"});
    REFUSE("coupling.kind: \"\\?\" is none of static, dynamic", {"coupling.kind", "'\\\\?'"});
}

TEST(names_refused)
{
    REFUSE("models: \"a b\" is no name: expected 1 to 63 of A-Z a-z 0-9 _ . -",
           {"models.a b", "{'kind': 'rigid', 'mesh': 'm'}"});
    REFUSE("bodies[0].name: \"\" is no name: expected 1 to 63 of A-Z a-z 0-9 _ . -", {"bodies[0].name", "''"});
    REFUSE("bodies[0].name: \"b[0]\" is no name: expected 1 to 63 of A-Z a-z 0-9 _ . -", {"bodies[0].name", "'b[0]'"});
    REFUSE("bodies[0].name: \"nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn...\" is no name: expected 1 to 63 of A-Z a-z "
           "0-9 _ . -",
           {"bodies[0].name", "'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn'"}); /* 64 */
    REFUSE("bodies[1].name: the names of its copies, as "
           "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn[10], have more than "
           "63 characters",
           {"bodies[1].name", "'nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn'"}); /* 60 */
    REFUSE("bodies[0].name: a number, expected a name", {"bodies[0].name", "1"});
    REFUSE("bodies[2].name: \"ball\" occurs twice", {"bodies[2].name", "'ball'"});
    REFUSE("bodies[0].model: \"chair\" is no model, expected one of flesh, bar, table, ball, brick, tool",
           {"bodies[0].model", "'chair'"});
    REFUSE("pairs[1][0]: \"ball[12]\" is no body, expected one of table, ball, arm, tool, brick",
           {"pairs[1][0]", "'ball[12]'"});
    REFUSE("pairs[1][0]: \"ball[03]\" is no body, expected one of table, ball, arm, tool, brick",
           {"pairs[1][0]", "'ball[03]'"});
    REFUSE("pairs[1][0]: \"tool[0]\" is no body, expected one of table, ball, arm, tool, brick",
           {"pairs[1][0]", "'tool[0]'"});
    REFUSE("pairs[1][1]: \"chair\" is no body, expected one of table, ball, arm, tool, brick",
           {"pairs[1][1]", "'chair'"});
    REFUSE("coupling.body: \"chair\" is no body, expected one of table, ball, arm, tool, brick",
           {"coupling.body", "'chair'"});
    REFUSE("contact.?????: unknown key, expected one of stiffness, damping, friction, limit, weights, direction, "
           "normals, pulse",
           {"contact.\x1b\xc3\xa4\x7f\n", "1"});
}

TEST(models_refused)
{
    REFUSE("models.tool: none of mesh, surface, field, voxmap, plane, sphere, box, pointshell is there",
           {"models.tool", "{'kind': 'rigid'}"});
    REFUSE("models.tool.kind: it is missing", {"models.tool.kind", ""});
    const char *const soft[][2] = {{"basis", "'x'"},
                                   {"polynomials", "'x'"},
                                   {"cubature", "'x'"},
                                   {"proxies", "'x'"},
                                   {"domains", "[{'field': 'f', 'proxies': 'p'}]"},
                                   {"nearest", "5"},
                                   {"r", "0"},
                                   {"damping", "[0, 0]"},
                                   {"decoupled", "false"},
                                   {"most_acceleration", "0"}};
    for (size_t i = 0; i < sizeof soft / sizeof *soft; i++) {
        char way[100], message[200];
        snprintf(way, sizeof way, "models.tool.%s", soft[i][0]);
        snprintf(message, sizeof message, "%s: it means nothing where kind is rigid", way);
        REFUSE(message, {way, soft[i][1]});
    }
    const char *const hard[][2] = {{"voxmap", "'x'"},
                                   {"surface", "'x'"},
                                   {"plane", "{'normal': [0, 0, 1]}"},
                                   {"sphere", "{'radius': 1}"},
                                   {"box", "{'half': [1, 1, 1]}"},
                                   {"mass", "1"},
                                   {"density", "1"},
                                   {"mass_centre", "[0, 0, 0]"},
                                   {"inertia", "[1, 1, 1, 0, 0, 0]"}};
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        char way[100], message[200];
        snprintf(way, sizeof way, "models.bar.%s", hard[i][0]);
        snprintf(message, sizeof message, "%s: it means nothing where kind is linear", way);
        REFUSE(message, {way, hard[i][1]});
        snprintf(way, sizeof way, "models.flesh.%s", hard[i][0]);
        snprintf(message, sizeof message, "%s: it means nothing where kind is reduced", way);
        REFUSE(message, {way, hard[i][1]});
    }
    REFUSE("models.bar.cubature: it means nothing where kind is linear", {"models.bar.cubature", "'c'"});
    REFUSE("models.bar.mesh: it is missing, linear models need mesh, basis and polynomials", {"models.bar.mesh", ""});
    REFUSE("models.bar.basis: it is missing, linear models need mesh, basis and polynomials", {"models.bar.basis", ""});
    REFUSE("models.bar.polynomials: it is missing, linear models need mesh, basis and polynomials",
           {"models.bar.polynomials", ""});
    REFUSE("models.flesh.mesh: it is missing, reduced models need mesh, basis and polynomials or cubature",
           {"models.flesh.mesh", ""});
    REFUSE("models.flesh.basis: it is missing, reduced models need mesh, basis and polynomials or cubature",
           {"models.flesh.basis", ""});
    REFUSE("models.flesh: none of polynomials, cubature is there", {"models.flesh.cubature", ""});
    REFUSE("models.flesh: polynomials and cubature are there, expected at most one of polynomials, cubature",
           {"models.flesh.polynomials", "'x'"});
    REFUSE("models.flesh.proxies: it is missing, the field of a model that deforms needs them",
           {"models.flesh.proxies", ""}, {"models.flesh.nearest", ""});
    REFUSE("models.flesh.proxies: it needs field beside it", {"models.flesh.field", ""});
    REFUSE("models.flesh.domains: it needs field beside it", {"models.flesh.field", ""}, {"models.flesh.proxies", ""});
    REFUSE("models.flesh.nearest: it needs proxies beside it", {"models.flesh.proxies", ""});
    REFUSE("models.flesh.thickness: it needs pointshell beside it", {"models.flesh.pointshell", ""});
    REFUSE("models.tool: field and voxmap are there, expected at most one of field, voxmap, plane, sphere, box",
           {"models.tool.field", "'f'"});
    REFUSE("models.tool: voxmap and sphere are there, expected at most one of field, voxmap, plane, sphere, box",
           {"models.tool.sphere", "{'radius': 1}"});
    REFUSE("models.brick: plane and box are there, expected at most one of field, voxmap, plane, sphere, box",
           {"models.brick.plane", "{'normal': [0, 0, 1]}"});
    REFUSE("models.tool: mesh and surface are there, expected at most one of mesh, surface",
           {"models.tool.surface", "'x.obj'"});
    REFUSE("models.brick: mass and density are there, expected at most one of mass, density",
           {"models.brick.density", "1"}, {"models.brick.surface", "'x.obj'"});
    REFUSE("models.tool.density: it needs surface beside it", {"models.tool.density", "1"});
    REFUSE("models.brick.mass: it needs mass_centre beside it", {"models.brick.mass_centre", ""});
    REFUSE("models.brick.mass_centre: it needs inertia beside it", {"models.brick.inertia", ""});
    REFUSE("models.brick.inertia: it needs mass beside it", {"models.brick.mass", ""},
           {"models.brick.mass_centre", ""});
    REFUSE("models.brick.inertia: it is not positive definite",
           {"models.brick.inertia", "[2, 3, 4, 0, 0, 2.5]"}); /* 2·3 < 2.5² */
    REFUSE("models.brick.inertia: it is not positive definite",
           {"models.brick.inertia", "[1, 1, 1, 0.9, -0.9, 0.9]"}); /* det = 1 − 3·0.81 − 2·0.729 */
    REFUSE("models.brick.inertia: it is not positive definite", {"models.brick.inertia", "[0, 0, 0, 0, 0, 0]"});
    REFUSE("models.table.plane.normal: it is zero", {"models.table.plane.normal", "[0, 0, 0]"});
}

TEST(bodies_refused)
{
    REFUSE("bodies[2].path: it is missing, the motion is path", {"bodies[2].path", ""});
    REFUSE("bodies[0].path: it means nothing where motion is fixed", {"bodies[0].path", "'x'"});
    REFUSE("bodies[3].inertial: it means nothing where motion is coupled", {"bodies[3].inertial", "true"});
    REFUSE("bodies[2].inertial: a number, expected true or false", {"bodies[2].inertial", "1"});
    REFUSE("bodies[2].inertial: true, but model tool is rigid: inertial forces act on a deformation",
           {"bodies[2].model", "'tool'"});
    REFUSE("bodies[0].velocity: it means nothing where motion is fixed", {"bodies[0].velocity", "[0, 0, 0]"});
    REFUSE("bodies[3].angular_velocity: it means nothing where motion is coupled",
           {"bodies[3].angular_velocity", "[0, 0, 0]"});
    REFUSE("bodies[2].position: it means nothing where motion is path", {"bodies[2].position", "[0, 0, 0]"});
    REFUSE("bodies[2].orientation: it means nothing where motion is path", {"bodies[2].orientation", "[1, 0, 0, 0]"});
    REFUSE("bodies[3].copies: it means nothing where motion is coupled",
           {"bodies[3].copies", "{'count': [1, 1, 1], 'spacing': [1, 1, 1]}"});
    REFUSE("bodies[1].orientation: it is zero", {"bodies[1].orientation", "[0, 0, 0, 0]"});
    REFUSE("bodies[0].motion: free, but model table is a plane, which has no inertia", {"bodies[0].motion", "'free'"});
    REFUSE("bodies[1].motion: free needs a mass, and model ball has neither mesh, nor surface and density, nor mass, "
           "mass_centre and inertia",
           {"models.ball.density", ""});
    REFUSE("bodies[3].motion: coupled (dynamic) needs a mass, and model tool has neither mesh, nor surface and "
           "density, nor mass, "
           "mass_centre and inertia",
           {"models.tool.mesh", ""});
    REFUSE("bodies[3].motion: coupled, but the scene has no coupling", {"coupling", ""});
    REFUSE("bodies[4].motion: coupled, as tool is already; expected at most one such body",
           {"bodies[4].motion", "'coupled'"});
    REFUSE("coupling.body: \"table\" is not a body whose motion is coupled", {"coupling.body", "'table'"});
    REFUSE("coupling.body: \"tool\" is not a body whose motion is coupled", {"bodies[3].motion", "'fixed'"});
    REFUSE("bodies[1]: 100001 bodies with those before, expected at most 100000 in all",
           {"bodies[1].copies.count", "[100000, 1, 1]"}, {"pairs", ""});
    REFUSE("bodies[1]: 1000000000000001 bodies with those before, expected at most 100000 in all",
           {"bodies[1].copies.count", "[100000, 100000, 100000]"});
    REFUSE("bodies[1].copies.spacing: copy 4 is infinitely far away", {"bodies[1].copies.spacing[1]", "1e308"});
    REFUSE("traversal.cold: 5001, expected at most warm, 5000", {"traversal.cold", "5001"});
    REFUSE("traversal.cold: it needs warm beside it", {"traversal.warm", ""});
    REFUSE("traversal.cold: it needs warm beside it, which is null", {"traversal.warm", "null"});
    REFUSE("traversal.cold: null, expected a whole number", {"traversal.cold", "null"});

    /* a static coupling needs no mass, and 100000 bodies are allowed */
    OWNED(sp_scene) s;
    CHECK_OK(parse("{'contact': {'stiffness': 1}, 'models': {'m': {'kind': 'rigid', 'field': 'f'}}, 'bodies': "
                   "[{'name': 'b', 'model': 'm', "
                   "'motion': 'coupled'},"
                   " {'name': 'c', 'model': 'm', 'copies': {'count': [3, 33333, 1], 'spacing': [0, 0, 0]}}],"
                   " 'coupling': {'kind': 'static', 'body': 'b', 'path': 'x', 'stiffness': 1, 'torque_stiffness': 1}}",
                   ".", &s));
    CHECK(s.body_count == 100000, "%lld bodies", (long long)s.body_count);
    TEXT(s.bodies[99999].name, "c[99998]");
}

/* Two copies of a leaf on a branch, which is anchored. */
static const char tree[] =
    "{'models': {'m': {'kind': 'reduced', 'mesh': 'm', 'basis': 'b', 'polynomials': 'p'}, 'rigid': {'kind': 'rigid', "
    "'pointshell': 's'}, 'solid': {'kind': 'rigid', 'mesh': 'm'}},"
    " 'bodies': [{'name': 'branch', 'model': 'm', 'motion': 'free', 'loads': 'wind.csv'}, {'name': 'leaf', 'model': "
    "'m', "
    "'motion': 'free', 'copies': {'count': [2, 1, 1], 'spacing': [0, 0, 0]}}, {'name': 'stone', 'model': 'rigid'}, "
    "{'name': 'wall', 'model': 'solid'}],"
    " 'joints': [{'child': 'branch'}, {'child': 'leaf[0]', 'parent': 'branch', 'interface': 'Spitze links'},"
    " {'child': 'leaf[1]', 'child_interface': 'foot', 'parent': 'branch', 'interface': 'right'}]}";

TEST(joints)
{
    sp_scene s;
    CHECK_OK(parse(tree, "folder", &s));
    TEXT(s.bodies[0].loads, "folder/wind.csv");
    CHECK(!s.bodies[1].loads, "loads of a leaf");
    CHECK(s.joint_count == 3, "%lld joints", (long long)s.joint_count);
    CHECK(s.joints[0].parent == -1 && s.joints[0].child == 0, "joint 0");
    CHECK(s.joints[1].parent == 0 && s.joints[1].child == 1, "joint 1");
    CHECK(s.joints[2].parent == 0 && s.joints[2].child == 2, "joint 2");
    TEXT(s.joints[0].child_interface, "");
    TEXT(s.joints[1].interface, "Spitze links");
    TEXT(s.joints[2].child_interface, "foot");
    sp_scene_free(&s);
    static const struct {
        edit edit;
        const char *message;
    } refused[] = {
        {{"joints", "[]"}, "joints: it is empty"},
        {{"joints[0].child", ""}, "joints[0].child: it is missing"},
        {{"joints[0].child", "3"}, "joints[0].child: a number, expected a text"},
        {{"joints[0].child", "''"}, "joints[0].child: 0 bytes, expected 1 to 63 without a zero"},
        {{"joints[0].child", "'trunk'"},
         "joints[0].child: \"trunk\" is no body, expected one of branch, leaf, stone, wall"},
        {{"joints[1].child", "'leaf'"}, "joints[1].child: 2 bodies have this name, expected one, such as leaf[0]"},
        {{"joints[1].interface", ""}, "joints[1].parent: it needs interface beside it"},
        {{"joints[0].interface", "'x'"}, "joints[0].interface: it needs parent beside it"},
        {{"joints[1].parent", "'leaf[0]'"}, "joints[1]: both ends are leaf[0], expected two bodies"},
        {{"joints[0].child", "'wall'"},
         "joints[0].child: wall is not free (a joint without parent anchors a free body in the world)"},
        {{"models.m.decoupled", "true"}, "joints[0].child: model m is decoupled, and such bodies cannot be joined"},
        {{"joints[1].interface", "'0123456789012345678901234567890123456789012345678901234567890123'"},
         "joints[1].interface: 64 bytes, expected 1 to 63 without a zero"},
        {{"bodies[2].loads", "'l'"}, "bodies[2].loads: model rigid has no mesh, on whose vertices the loads would act"},
        {{"bodies[3].loads", "'l'"}, "bodies[3].loads: the body is rigid and not free: loads do not move it"},
    };
    for (size_t k = 0; k < sizeof refused / sizeof *refused; k++) {
        char *text = edited(tree, (const edit[]){refused[k].edit, {0}});
        CHECK(sp_scene_parse(&context, text, (int64_t)strlen(text), "", &s) == SP_INPUT &&
                  !strcmp(context.message, refused[k].message),
              "\"%s\", expected \"%s\"", context.message, refused[k].message);
        free(text);
    }
}

TEST(pairs_refused)
{
    REFUSE("pairs[0]: model table has no pointshell", {"pairs[0]", "['table', 'ball']"});
    REFUSE("pairs[2]: another count, expected an array of two names", {"pairs[2]", "['tool']"});
    REFUSE("pairs[2]: a string, expected an array of two names", {"pairs[2]", "'tool'"});
    REFUSE("pairs[2][1]: null, expected a name", {"pairs[2][1]", "null"});
    REFUSE("pairs[2]: both are tool, expected two bodies", {"pairs[2][1]", "'tool'"});
    REFUSE("pairs[2]: both are ball[7], expected two bodies", {"pairs[2]", "['ball[7]', 'ball[7]']"});
    REFUSE("pairs[3]: ball[3] and tool are a pair of pairs[1] already", {"pairs[3]", "['ball', 'tool']"});
    REFUSE("pairs[3]: tool and brick are a pair of pairs[2] already", {"pairs[3]", "['tool', 'brick']"});
    REFUSE("pairs[2]: model tool has neither field, voxmap nor plane, sphere or box, nor do both have a pointshell "
           "with thickness",
           {"pairs[2]", "['ball', 'tool']"}, {"models.tool.voxmap", ""}, {"pairs[1]", "['ball[3]', 'table']"},
           {"pairs[0]", "['tool', 'table']"});
    char text[2000];
    sp_scene s;
    snprintf(text, sizeof text, balls, "m", 3, "['b', 'a[1]'], ['a', 'b']");
    CHECK(parse(text, "", &s) == SP_INPUT &&
              !strcmp(context.message, "pairs[1]: a[1] and b are a pair of pairs[0] already"),
          "%s", context.message);
    snprintf(text, sizeof text, balls, "n", 1001, "['a', 'a']");
    CHECK(parse(text, "", &s) == SP_INPUT &&
              !strcmp(context.message, "pairs[0]: 1002001 pairs of bodies with those before, expected at most 1000000"),
          "%s", context.message);
}

/* ---- hostile text ---- */

static void fails(const char *text, int64_t count, const char *beginning)
{
    sp_scene s;
    context.message[0] = 0;
    const int status = sp_scene_parse(&context, text, count, "folder", &s);
    CHECK(status == SP_INPUT && !strncmp(context.message, beginning, strlen(beginning)),
          "status %d, \"%s\", expected \"%s\"", status, context.message, beginning);
    CHECK(!s.pool.first, "something is left");
}

TEST(hostile)
{
    fails("", 0, "line 1, column 0: ");
    fails("[1]", 3, "an array, expected an object");
    fails("\"scene\"", 7, "line 1, column 7: '[' or '{' expected");
    fails("{\n  \"gravity\": [0, 0, 1]\n  \"x\": 1}", 34, "line 3, column 5: '}' expected near '\"x\"'");
    fails("{\"gravity\": [0, 0, NaN]}", 24, "line 1, column 22: invalid token near 'NaN'");
    fails("{\"gravity\": [0, 0, Infinity]}", 29, "line 1, column 27: invalid token");
    fails("{\"gravity\": [0, 0, 1e999]}", 26, "line 1, column 24: real number overflow");
    fails("{\"gravity\": [0, 0, 99999999999999999999]}", 41, "line 1, column 39: too big integer");
    fails("{\"contact\": {}, \"contact\": {}}", 30, "line 1, column 25: duplicate object key near '\"contact\"'");
    fails("{\"a\": 1} {", 10, "line 1, column 10: end of file expected near '{'");
    fails("{\"a\\u0000b\": 1}", 15, "line 1, column 11: ");
    fails("{\"\xff\": 1}", 8, "line 1, column 2: unable to decode byte 0xff");
    fails("{ \x1b[31m", 7, "line 1, column 3: string or '}' expected near '?'");

    enum { MANY = 1000000 };
    char *deep = malloc(2 * MANY);
    memset(deep, '[', MANY);
    fails(deep, MANY, "line 1, column 65: it is nested more than 64 levels deep");
    for (int i = 0; i < MANY / 5; i++)
        memcpy(deep + 5 * i, "{\"a\":", 5);
    fails(deep, MANY, "line 1, column 321: it is nested more than 64 levels deep");
    memset(deep, '9', MANY);
    memcpy(deep, "{\"gravity\": [", 13);
    memcpy(deep + MANY - 2, "]}", 2);
    fails(deep, MANY, "line 1, column 999998: ");
    memset(deep, 'k', MANY);
    memcpy(deep, "{\"", 2);
    memcpy(deep + MANY - 4, "\":1}", 4);
    fails(deep, MANY, "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk...: unknown key, expected one of gravity");
    free(deep);

    /* truncated anywhere, in a block of exactly that size, so that a sanitizer finds every access beyond it */
    char *good = quoted(full);
    const size_t length = strlen(good);
    for (size_t cut = 0; cut < length; cut++) {
        char *text = malloc(cut + 1);
        memcpy(text + 1, good, cut);
        fails(text + 1, (int64_t)cut, "line 1, column ");
        free(text);
    }
    /* each byte replaced: it is read or refused, with a reason */
    static const char others[] = "\0\"[]{},:-0e.\\\xff ";
    for (size_t at = 0; at < length; at++)
        for (size_t k = 0; k < sizeof others - 1; k += 1 + (at + k) % 3) {
            OWNED(sp_scene) s;
            const char kept = good[at];
            good[at] = others[k];
            context.message[0] = 0;
            const int status = sp_scene_parse(&context, good, (int64_t)length, "", &s);
            CHECK(status == SP_OK || (status == SP_INPUT && context.message[0]), "byte %zu, \"%c\": status %d", at,
                  others[k], status);
            good[at] = kept;
        }
    free(good);
}

/* ---- page and schema ---- */

TEST(schema)
{
    const int keys = check_schema("formats/scene.schema.json", &sp_scene_keys);
    NOTE("%d keys", keys);
}

TEST(pages)
{
    char *page = source_file("formats/scene.md"), *paths = source_file("formats/paths.md");
    if (page && paths) {
        find_rows("scene.md", page, &sp_scene_keys);
        char *example = example_of(page, "    {\n"), *path_example = example_of(paths, "    t,x,y,z");
        OWNED(sp_scene) s;
        OWNED(sp_path) path;
        CHECK_OK(sp_scene_parse(&context, example, (int64_t)strlen(example), "", &s));
        CHECK(s.body_count == 515, "%lld bodies", (long long)s.body_count); /* 8³ balls and three */
        CHECK_OK(sp_path_parse(&context, path_example, (int64_t)strlen(path_example), &path));
        CHECK(path.count == 3, "%lld lines", (long long)path.count);
        free(example);
        free(path_example);
    }
    free(page);
    free(paths);
}

/* ---- paths ---- */

static int read_path(const char *text, sp_path *path)
{
    return sp_path_parse(&context, text, (int64_t)strlen(text), path);
}

static const char device_path[] = "t,x,y,z,qw,qx,qy,qz,clutch\n"
                                  "0,0,0,0,1,0,0,0,1\n0.5,1,0,0,1,0,0,0,1 # still held\n"
                                  "1,2,0,0,1,0,0,0,0\n1.5,3,0,0,1,0,0,0, 1.0\n";

static double dot4(const double a[4], const double b[4])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

/* Shoemake's formula: (sin((1 − s)θ) a + sin(sθ) b) / sin θ. */
static void slerp(const double a[4], const double b[4], double s, double q[4])
{
    const double angle = acos(dot4(a, b));
    for (int k = 0; k < 4; k++)
        q[k] = (sin((1 - s) * angle) * a[k] + sin(s * angle) * b[k]) / sin(angle);
}

TEST(path_between)
{
    sp_path path;
    CHECK_OK(read_path("t,x,y,z,qw,qx,qy,qz # a header\n"
                       " -1 , 1,2,3 , 1,2,3,4\r\n"
                       "# nothing\n\n"
                       "0.5,2,4,-3,-2,1,-1,0.5\n"
                       "0.75,2,4,-3,-4,2,-2,1 # the same rotation, longer\n"
                       "3,5,5,5,0,0,3e-300,4e-300",
                       &path));
    const double raw[4][4] = {{1, 2, 3, 4}, {-2, 1, -1, 0.5}, {-4, 2, -2, 1}, {0, 0, 3, 4}},
                 time[4] = {-1, 0.5, 0.75, 3}, place[4][3] = {{1, 2, 3}, {2, 4, -3}, {2, 4, -3}, {5, 5, 5}};
    double q[4][4];
    CHECK(path.count == 4, "%lld lines", (long long)path.count);
    for (int i = 0; i < 4; i++) {
        double sign = 1;
        for (int k = 0; k < 4; k++)
            q[i][k] = raw[i][k] / sqrt(dot4(raw[i], raw[i]));
        if (i > 0 && dot4(q[i], q[i - 1]) < 0)
            sign = -1;
        CHECK(path.time[i] == time[i], "time %d", i);
        for (int k = 0; k < 4; k++) {
            q[i][k] *= sign;
            CHECK_NEAR(path.pose[i].q[k], q[i][k], 4e-16); /* a few roundings of numbers up to 1 */
        }
        SAME(path.pose[i].x, 3, place[i][0], place[i][1], place[i][2]);
    }
    for (int i = 0; i + 1 < 4; i++)
        for (int j = 0; j <= 16; j++) {
            const double s = j / 16.0, t = time[i] + s * (time[i + 1] - time[i]);
            const sp_pose pose = sp_path_at(&path, t, NULL);
            double expected[4];
            slerp(q[i], q[i + 1], s, expected);
            if (i == 1)
                memcpy(expected, q[1], sizeof expected);
            /* acos of a cosine that is off by one rounding is off by that over the sine, at least 0.4 here; then some
             * ten roundings */
            for (int k = 0; k < 4; k++)
                CHECK_NEAR(pose.q[k], expected[k], 5e-15);
            for (int k = 0; k < 3; k++)
                CHECK_NEAR(pose.x[k], place[i][k] + s * (place[i + 1][k] - place[i][k]), 4e-15);
        }
    sp_path_free(&path);
    CHECK(!path.time && path.count == 0, "freed");
}

/* Velocities: by differences of the pose, which is exact for x; dq/dt = ½ ω q for rotations. Errors of central
 * differences fall with the square of the step. */
TEST(path_velocity)
{
    sp_path path;
    CHECK_OK(read_path("0,0,0,0,1,0,0,0\n2,4,-2,1,0.5,0.5,-0.5,0.5\n3,0,0,0,0.8,0,0.6,0\n", &path));
    for (int segment = 0; segment < 2; segment++) {
        double worst[3];
        const double t = segment ? 2.6 : 0.7;
        double v[6];
        const sp_pose now = sp_path_at(&path, t, v);
        for (int level = 0; level < 3; level++) {
            const double h = 0.1 / (1 << level);
            const sp_pose before = sp_path_at(&path, t - h, NULL), after = sp_path_at(&path, t + h, NULL);
            const double omega[4] = {0, v[3], v[4], v[5]};
            double rate[4];
            sp_quaternion_multiply(omega, now.q, rate);
            worst[level] = 0;
            for (int k = 0; k < 4; k++)
                worst[level] = fmax(worst[level], fabs((after.q[k] - before.q[k]) / (2 * h) - 0.5 * rate[k]));
            for (int k = 0; k < 3; k++)
                CHECK_NEAR(v[k], (after.x[k] - before.x[k]) / (2 * h), 1e-13);
        }
        CHECK(fabs(log2(worst[0] / worst[1]) - 2) < 0.05 && fabs(log2(worst[1] / worst[2]) - 2) < 0.05,
              "segment %d: %g %g %g", segment, worst[0], worst[1], worst[2]);
    }
    double v[6] = {1, 1, 1, 1, 1, 1}, w[6];
    const double turn = 2 * M_PI / 3 / 2; /* (½, ½, −½, ½) turns by 120°, in 2 s, about (1, −1, 1)/√3 */
    sp_pose pose = sp_path_at(&path, 0, v);
    CHECK_NEAR(v[3], turn / sqrt(3), 1e-15);
    CHECK_NEAR(v[4], -turn / sqrt(3), 1e-15);
    CHECK(v[0] == 2 && v[1] == -1 && v[2] == 0.5, "at the first line its segment begins");
    pose = sp_path_at(&path, 2, v);
    CHECK(v[0] == -4 && v[1] == 2 && v[2] == -1 && pose.x[0] == 4, "at a line the segment that begins there");
    const double stays[] = {-1e9, -1e-9, 3, 3.5, 1e300, INFINITY, -INFINITY, NAN};
    for (size_t i = 0; i < sizeof stays / sizeof *stays; i++) {
        const int end = stays[i] >= 3 ? 2 : 0;
        pose = sp_path_at(&path, stays[i], v);
        CHECK(!memcmp(&pose, &path.pose[end], sizeof pose), "at %g", stays[i]);
        SAME(v, 6, 0, 0, 0, 0, 0, 0);
    }
    pose = sp_path_until(&path, 3, 3.5, v); /* a motion that ends at 3 s never feels that the path stops */
    CHECK(v[0] == -4 && !memcmp(&pose, &path.pose[2], sizeof pose), "%g m/s", v[0]);
    pose = sp_path_until(&path, INFINITY, 2.5, v);
    CHECK(v[0] == -4, "%g m/s in a motion without an end", v[0]);
    pose = sp_path_until(&path, 2, 2.5, v); /* nor does one that ends before feel its own end */
    sp_path_at(&path, 2.5, w);
    CHECK(!memcmp(v, w, sizeof v), "%g m/s, not %g", v[0], w[0]);
    pose = sp_path_until(&path, 4, 3.5, v);
    SAME(v, 6, 0, 0, 0, 0, 0, 0);
    CHECK(!sp_path_stops(&path, v) && v[0] == -4, "it changed by 6 m/s before, and stops from 4.6 m/s");
    sp_path_free(&path);
    CHECK_OK(read_path("0,0,0,0,1,0,0,0\n1,1,0,0,1,0,0,0\n2,2.1,0,0,1,0,0,0\n", &path));
    CHECK(sp_path_stops(&path, v) && fabs(v[0] - 1.1) < 1e-15, "%g m/s", v[0]);
    sp_path_free(&path);
    CHECK_OK(read_path("0,0,0,0,1,0,0,0\n1,1,0,0,1,0,0,0\n2,1.5,0,0,1,0,0,0\n3,1.5,0,0,1,0,0,0\n", &path));
    CHECK(!sp_path_stops(&path, v), "it came to rest before");
    sp_path_free(&path);
    CHECK_OK(read_path("5,1,2,3,2,0,0,0", &path));
    CHECK(!sp_path_stops(&path, v), "one line is rest");
    pose = sp_path_at(&path, 5, v);
    SAME(pose.x, 3, 1, 2, 3);
    SAME(pose.q, 4, 1, 0, 0, 0);
    SAME(v, 6, 0, 0, 0, 0, 0, 0);
    sp_path_free(&path);
}

/* Many lines: the right segment is found, and a spin of many turns keeps to its hemisphere. */
TEST(path_long)
{
    enum { LINES = 1000 };
    char *text = test_new(LINES, 100), *at = text;
    for (int i = 0; i < LINES; i++) /* 0.5 rad for each line about z; every third quaternion is turned over */
        at += sprintf(at, "%d,%d,0,0,%.17g,0,0,%.17g\n", i * i, i, (i % 3 ? 1 : -1) * cos(0.25 * i),
                      (i % 3 ? 1 : -1) * sin(0.25 * i));
    OWNED(sp_path) path;
    CHECK_OK(read_path(text, &path));
    for (int i = 0; i + 1 < LINES; i++) {
        CHECK(dot4(path.pose[i].q, path.pose[i + 1].q) > 0, "line %d", i);
        double v[6];
        const double step = 2 * i + 1, t = i * i + 0.3 * step;
        const sp_pose pose = sp_path_at(&path, t, v);
        CHECK_NEAR(pose.x[0], i + 0.3, 1e-9); /* t has 20 bits before the point: 0.3 of the step within 2⁻³² */
        CHECK_NEAR(fabs(pose.q[0]), fabs(cos(0.25 * (i + 0.3))), 1e-9);
        CHECK_NEAR(v[0], 1 / step, 1e-15);
        CHECK_NEAR(v[5], 0.5 / step, 1e-13);
    }
}

/* The path of a device, with a column and without. */
TEST(path_clutch)
{
    const bool held[] = {true, true, false, true};
    sp_path path;
    CHECK_OK(sp_path_parse_device(&context, device_path, (int64_t)strlen(device_path), &path));
    CHECK(path.count == 4 && path.clutch, "%lld lines", (long long)path.count);
    for (int i = 0; path.clutch && i < 4; i++)
        CHECK(path.clutch[i] == held[i] && path.pose[i].x[0] == i, "line %d", i);
    sp_path_free(&path);
    CHECK(!path.clutch, "freed");
    CHECK_OK(sp_path_parse_device(&context, "0,0,0,0,1,0,0,0", 15, &path));
    CHECK(path.count == 1 && !path.clutch, "there is none");
    sp_path_free(&path);
}

static void device_path_fails(const char *text, const char *message)
{
    sp_path path;
    context.message[0] = 0;
    const int status = sp_path_parse_device(&context, text, (int64_t)strlen(text), &path);
    CHECK(status == SP_INPUT && !strcmp(context.message, message), "status %d, \"%s\", expected \"%s\"", status,
          context.message, message);
    CHECK(!path.pool.first && path.count == 0 && !path.clutch, "something is left");
}

TEST(device_paths_refused)
{
    device_path_fails("0,0,0,0,1,0,0\n", "line 1: 7 fields, expected t,x,y,z,qw,qx,qy,qz and maybe clutch");
    device_path_fails("0,0,0,0,1,0,0,0,0,0\n", "line 1: 10 fields, expected t,x,y,z,qw,qx,qy,qz and maybe clutch");
    device_path_fails("0,0,0,0,1,0,0,0,2\n", "line 1: clutch: 2, expected 0 or 1");
    device_path_fails("0,0,0,0,1,0,0,0,-1\n", "line 1: clutch: -1, expected 0 or 1");
    device_path_fails("0,0,0,0,1,0,0,0,0\n1,0,0,0,1,0,0,0,0.5\n", "line 2: clutch: 0.5, expected 0 or 1");
    device_path_fails("0,0,0,0,1,0,0,0,\n", "line 1: clutch: \"\" is not a number");
    device_path_fails("0,0,0,0,1,0,0,0,held\n", "line 1: clutch: \"held\" is not a number");
    device_path_fails("0,0,0,0,1,0,0,0,1\n1,0,0,0,1,0,0,0\n",
                      "line 2: 8 fields, expected 9 as before: all lines have a clutch or none");
    device_path_fails("0,0,0,0,1,0,0,0\n1,0,0,0,1,0,0,0,1\n",
                      "line 2: 9 fields, expected 8 as before: all lines have a clutch or none");
}

static void path_fails(const char *text, const char *message)
{
    sp_path path;
    context.message[0] = 0;
    const int status = read_path(text, &path);
    CHECK(status == SP_INPUT && !strcmp(context.message, message), "status %d, \"%s\", expected \"%s\"", status,
          context.message, message);
    CHECK(!path.pool.first && path.count == 0, "something is left");
}

TEST(paths_refused)
{
    path_fails("", "the path has no lines, expected t,x,y,z,qw,qx,qy,qz");
    path_fails("t,x,y,z,qw,qx,qy,qz\n# only this\n", "the path has no lines, expected t,x,y,z,qw,qx,qy,qz");
    path_fails("t,x\n0,0,0,0,1,0,0\n", "line 2: 7 fields, expected t,x,y,z,qw,qx,qy,qz");
    path_fails("0,0,0,0,1,0,0,0,0\n",
               "line 1: 9 fields, expected t,x,y,z,qw,qx,qy,qz: only the path of a coupling has a clutch");
    path_fails("0,0,0,0,1,0,0,0,\n",
               "line 1: 9 fields, expected t,x,y,z,qw,qx,qy,qz: only the path of a coupling has a clutch");
    path_fails("0,0,0,0,1,0,0,0,0,0\n", "line 1: 10 fields, expected t,x,y,z,qw,qx,qy,qz");
    path_fails("0,0,0,0,1,0,0,0\nt,x,y,z,qw,qx,qy,qz\n", "line 2: t: \"t\" is not a number");
    path_fails("0,0,,0,1,0,0,0\n", "line 1: y: \"\" is not a number");
    path_fails("0,0,0,nan,1,0,0,0\n", "line 1: z: \"nan\" is not a number");
    path_fails("0,0,0,0,1,inf,0,0\n", "line 1: qx: \"inf\" is not a number");
    path_fails("0,0,0,0,1,0,1e999,0\n", "line 1: qy: \"1e999\" is not a number");
    path_fails("0,0,0,0,1,0,0,0x1\n", "line 1: qz: \"0x1\" is not a number");
    path_fails("\n\n0,0,0,0,0,-0,0,0\n", "line 3: qw,qx,qy,qz: all are 0, which is no rotation");
    path_fails("0,0,0,0,1,0,0,0\n\n1,0,0,0,1,0,0,0\n1,0,0,0,1,0,0,0\n", "line 4: t: 1 s after 1 s, expected more");
    path_fails("0,0,0,0,1,0,0,0\n-1,0,0,0,1,0,0,0\n", "line 2: t: -1 s after 0 s, expected more");
    path_fails("-1e308,0,0,0,1,0,0,0\n1e308,0,0,0,1,0,0,0\n",
               "line 2: t: 1e+308 s after -1e+308 s is too long or too short a step");
    path_fails("0,0,0,0,1,0,0,0\n5e-324,0,0,0,1,0,0,0\n",
               "line 2: t: 4.94066e-324 s after 0 s is too long or too short a step");
    path_fails("0,0,1e308,0,1,0,0,0\n1,0,-1e308,0,1,0,0,0\n",
               "line 2: y: from 1e+308 to -1e+308 m in 1 s, which has no finite velocity");
}
