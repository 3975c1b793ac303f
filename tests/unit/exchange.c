/* Animations of targets as glTF and USD: what the programs that use them make of real motions is in
 * tests/cli/gltf.bats. */
#include "formats/export/gltf_write.h"
#include "formats/export/usd_write.h"
#include "test.h"

#include <jansson.h>
#include <unistd.h>

enum { FRAMES = 3 };

/* A tetrahedron with two targets, shown by two bodies. */
typedef struct moving {
    double rest[12], normals[12], targets[24], normal_targets[24], weights[2 * FRAMES], poses[7 * FRAMES],
        times[FRAMES];
    int64_t triangles[12];
    sp_animated_mesh mesh;
    sp_animated_body bodies[2];
    sp_animation animation;
} moving;

static void make(moving *m)
{
    static const double corners[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static const int64_t triangles[12] = {0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3};
    memset(m, 0, sizeof *m);
    memcpy(m->rest, corners, sizeof corners);
    memcpy(m->triangles, triangles, sizeof triangles);
    for (int v = 0; v < 4; v++) {
        m->normals[3 * v + 2] = 1;
        m->targets[3 * v] = 0.5 * v / 3; /* the largest is half the side */
        m->targets[12 + 3 * v + 1] = -0.5 * v / 3;
        m->normal_targets[3 * v] = 0.3 * v;
        m->normal_targets[12 + 3 * v + 1] = 1.7 * v;
    }
    for (int f = 0; f < FRAMES; f++) {
        m->times[f] = 0.1 * f;
        m->weights[2 * f] = sin(f);
        m->weights[2 * f + 1] = 0.4 * cos(f);
        memcpy(m->poses + 7 * f, (double[]){f, 0, 0, cos(0.3 * f), 0, sin(0.3 * f), 0}, 7 * sizeof(double));
    }
    m->mesh = (sp_animated_mesh){.name = "tetrahedron",
                                 .vertex_count = 4,
                                 .triangle_count = 4,
                                 .target_count = 2,
                                 .rest = m->rest,
                                 .normals = m->normals,
                                 .triangles = m->triangles,
                                 .targets = m->targets,
                                 .normal_targets = m->normal_targets};
    m->bodies[0] = m->bodies[1] = (sp_animated_body){.name = "one", .weights = m->weights, .poses = m->poses};
    m->animation = (sp_animation){"title", 1, 1, 2, FRAMES, &m->mesh, m->bodies, m->times};
}

/* What a writer wrote, with a NUL behind it; the caller frees it. */
static char *contents(FILE *file, size_t *size)
{
    const off_t end = lseek(fileno(file), 0, SEEK_END);
    char *bytes = calloc((size_t)end + 1, 1);
    if (!bytes)
        abort();
    *size = pread(fileno(file), bytes, (size_t)end, 0) == end ? (size_t)end : 0;
    fclose(file);
    return bytes;
}

/* The JSON of a .glb; NULL if it was refused, in which case nothing was written. */
static json_t *gltf(const moving *m, bool quantize, sp_gltf_report *report)
{
    FILE *file = tmpfile();
    size_t size;
    if (!file)
        abort();
    const int status = sp_gltf_write(&context, fileno(file), &m->animation, quantize, report);
    char *bytes = contents(file, &size);
    json_t *json = NULL;
    if (status == SP_OK) {
        uint32_t words[5];
        json_error_t error;
        memcpy(words, bytes, sizeof words);
        CHECK(words[2] == size && report->bytes == (int64_t)size, "%u and %lld of %zu bytes", words[2],
              (long long)report->bytes, size);
        json = json_loadb(bytes + sizeof words, words[3], 0, &error);
        CHECK(json, "%s", error.text);
    } else
        CHECK(size == 0 && status == SP_INPUT, "status %d, %zu bytes", status, size);
    free(bytes);
    return json;
}

static const char *text_at(const json_t *json, const char *list, size_t i, const char *key)
{
    const char *text = json_string_value(json_object_get(json_array_get(json_object_get(json, list), i), key));
    return text ? text : "";
}

/* The bound is at most (half a step) (1 + sum of the weights in units of the stored targets) √3, and positive. */
TEST(quantization_has_its_bound)
{
    moving m;
    sp_gltf_report fine, coarse;
    double most = 0;
    make(&m);
    json_decref(gltf(&m, false, &fine));
    json_decref(gltf(&m, true, &coarse));
    for (int f = 0; f < FRAMES; f++) /* normals change by up to 5.1: that target is stored divided by it */
        most = fmax(most, fabs(m.weights[2 * f]) + 5.1 * fabs(m.weights[2 * f + 1]));
    const double bound = sqrt(3) * 0.5 / 65534 * (1 + most) * (1 + 1e-5) + fine.error;
    CHECK(coarse.error > 0 && coarse.error <= bound, "%.4g of %.4g", coarse.error, bound);
    CHECK(fine.error > 0 && fine.error < 1e-6, "%.4g", fine.error);
}

/* Positions far from their origin get one nearby, since floats have 24 bits. */
TEST(far_away)
{
    moving m;
    sp_gltf_report report;
    make(&m);
    m.bodies[0].poses = m.bodies[1].poses = NULL;
    for (int v = 0; v < 4; v++)
        m.rest[3 * v] += 12345.6789;
    json_decref(gltf(&m, false, &report));
    CHECK(report.error > 0 && report.error < 1e-6, "%.4g", report.error);
}

TEST(what_floats_cannot_hold)
{
    moving m;
    sp_gltf_report report;
    make(&m);
    m.times[1] = 0.2 - 1e-12;
    CHECK(!gltf(&m, false, &report) && strstr(context.message, "same in single precision"), "%s", context.message);
    make(&m);
    m.poses[7] = 1e39;
    CHECK(!gltf(&m, false, &report) && strstr(context.message, "1e+39 is too large"), "%s", context.message);
    make(&m);
    m.mesh.triangle_count = 0;
    CHECK(!gltf(&m, false, &report) && strstr(context.message, "tetrahedron has no triangles"), "%s", context.message);
}

/* What does not change is no channel: one frame, or equal ones, make no animation. */
TEST(what_stands_still)
{
    moving m;
    sp_gltf_report report;
    make(&m);
    json_t *json = gltf(&m, false, &report);
    CHECK(json_object_get(json, "animations"), "no animation");
    json_decref(json);
    m.animation.frame_count = 1;
    json = gltf(&m, false, &report);
    CHECK(!json_object_get(json, "animations"), "one frame moves");
    const json_t *node = json_array_get(json_object_get(json, "nodes"), 1);
    CHECK_NEAR(json_real_value(json_array_get(json_object_get(node, "weights"), 1)), 0.4, 1e-7);
    json_decref(json);
    make(&m);
    for (int f = 1; f < FRAMES; f++) {
        memcpy(m.weights + 2 * f, m.weights, 2 * sizeof *m.weights);
        memcpy(m.poses + 7 * f, m.poses, 7 * sizeof *m.poses);
    }
    json = gltf(&m, true, &report);
    CHECK(!json_object_get(json, "animations"), "equal frames move");
    json_decref(json);
}

static char *usd(const moving *m)
{
    FILE *file = tmpfile();
    size_t size;
    int64_t bytes;
    if (!file)
        abort();
    CHECK_OK(sp_usd_write(&context, fileno(file), &m->animation, &bytes));
    char *text = contents(file, &size);
    CHECK(bytes == (int64_t)size, "%lld of %zu bytes", (long long)bytes, size);
    return text;
}

TEST(hostile_names)
{
    moving m;
    sp_gltf_report report;
    make(&m);
    m.animation.title = "a\"b\\c</script>\n\x01\xff\xc3\xa4";
    m.bodies[0].name = "9 lives";
    m.bodies[1].name = "9/lives";
    m.mesh.name = "\xe2\x80\xae";
    json_t *json = gltf(&m, false, &report);
    CHECK(!strcmp(text_at(json, "nodes", 0, "name"), "a\"b\\c</script>\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4"),
          "%s", text_at(json, "nodes", 0, "name"));
    CHECK(!strcmp(text_at(json, "meshes", 0, "name"), "\xef\xbf\xbd"), "%s", text_at(json, "meshes", 0, "name"));
    json_decref(json);
    char *text = usd(&m);
    static const char *const wanted[] = {"doc = \"a\\\"b\\\\c</script>\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xc3\xa4\"\n",
                                         "\"_9_lives\" (\n        displayName = \"9 lives\"\n",
                                         "\"_9_lives_2\" (\n        displayName = \"9/lives\"\n",
                                         "rel skel:animationSource = </World/_9_lives_2/Skeleton/Motion>\n"};
    for (int i = 0; i < 4; i++)
        CHECK(strstr(text, wanted[i]), "no %s", wanted[i]);
    free(text);
}

/* Equal steps are whole time codes from the first on; others keep their times. */
TEST(time_codes)
{
    moving m;
    make(&m);
    for (int f = 0; f < FRAMES; f++)
        m.times[f] = 0.3 + 0.1 * f;
    char *text = usd(&m);
    CHECK(strstr(text, "startTimeCode = 3\n    timeCodesPerSecond = 10\n") && strstr(text, "endTimeCode = 5\n"), "%s",
          text);
    free(text);
    m.times[1] = 0.35;
    text = usd(&m);
    CHECK(strstr(text, " 3.5: (1, 0, 0)") && strstr(text, " 5: (2, 0, 0)"), "%s", text);
    free(text);
}
