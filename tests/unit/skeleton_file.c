/* Skeletons as text: every key is read, every rule refuses, and page and schema agree with the tables. */
#include "bodies.h"
#include "formats/skeleton.h"
#include "formats/skeleton_internal.h"
#include "keys_test.h"

OWNER(sp_skeleton)

static sp_mesh mesh;

/* Six cubes in a row, 2 × 7 × 2 vertices v = i + 7 (j + 2k) at i, j, k; cubes 0, 2, 4 and 5 are regions of bones, 1 and
 * 3 of tissue; the last region is empty. */
static void make_mesh(void)
{
    static const int64_t region[6] = {0, 1, 2, 1, 3, 3};
    static const char *const names[5] = {"thigh", "flesh", "shin bone", "foot", "nothing"};
    make_box(6, 1, 1, 1, 0, &mesh);
    memcpy(mesh.region, region, sizeof region);
    mesh.material_count = 5;
    mesh.materials = sp_pool_new(&mesh.pool, 5, sizeof *mesh.materials);
    for (int i = 0; i < 5; i++) {
        mesh.materials[i] = test_material();
        strcpy(mesh.materials[i].name, names[i]);
    }
    CHECK_OK(sp_mesh_check(&context, &mesh, 1e-9));
}

static const char full[] =
    "{'bones': ["
    " {'name': 'thigh', 'joint': 'revolute', 'at': [1, 2, 3], 'axis': [0, 3e200, -4e200], 'mass': 2.5, 'centre': [4, "
    "5, 6], 'inertia': [2, 3, 4, -0.5, 0.25, 0.125], 'start': 0.5, 'rate': -0.25,"
    "  'stiffness': 7, 'rest': 0.75, 'damping': 0.0625, 'regions': ['thigh']},"
    " {'name': 'shin', 'parent': 'thigh', 'joint': 'prismatic', 'axis': [2, 0, 0], 'regions': ['shin bone'], "
    "'vertices': [9, 2, 3.0, 2]},"
    " {'name': 'foot', 'parent': 'shin', 'joint': 'prismatic', 'at': [1, 0, 0], 'axis': [0, 0, 1], 'mass': 0, "
    "'centre': [0, 0, 0], 'vertices': [26], 'box': [[4.5, 0, 0], [6, 1, 0]]},"
    " {'name': 'tail', 'joint': 'revolute', 'at': [0, 0, 0], 'axis': [1, 1, 1]}],"
    " 'springs': ["
    " {'bone': 'foot', 'at': [0.5, 0.25, 0.125], 'stiffness': 40, 'anchor': [7, 8, 9]},"
    " {'bone': 'thigh', 'at': [0, 0, 0], 'stiffness': 0, 'path': 'hand.csv'}]}";

static int parse(const char *text, const char *folder, sp_skeleton_file *file)
{
    char *copy = quoted(text);
    int status = sp_skeleton_file_parse(&context, copy, (int64_t)strlen(copy), folder, &mesh, file);
    free(copy);
    return status;
}

static void has_vertices(const sp_skeleton_file *file, int bone, int count, const int64_t *expected)
{
    const sp_bone *b = &file->bones[bone];
    CHECK(b->vertex_count == count, "bone %d: %lld vertices, expected %d", bone, (long long)b->vertex_count, count);
    for (int k = 0; k < count && b->vertex_count == count; k++)
        CHECK(b->vertex[k] == expected[k], "bone %d, vertex %d: %lld, expected %lld", bone, k, (long long)b->vertex[k],
              (long long)expected[k]);
}
#define HAS_VERTICES(bone, count, ...) has_vertices(&f, bone, count, (const int64_t[]){__VA_ARGS__})

TEST(every_key)
{
    sp_skeleton_file f;
    CHECK_OK(parse(full, "some/folder", &f));
    if (f.bone_count != 4 || f.spring_count != 2) {
        CHECK(false, "%lld bones, %lld springs", (long long)f.bone_count, (long long)f.spring_count);
        return;
    }
    const sp_bone *b = f.bones;
    TEXT(f.names[0], "thigh");
    TEXT(f.names[3], "tail");
    CHECK(b[0].parent == -1 && b[1].parent == 0 && b[2].parent == 1 && b[3].parent == -1, "parents");
    CHECK(b[0].kind == SP_JOINT_REVOLUTE && b[1].kind == SP_JOINT_PRISMATIC && b[2].kind == SP_JOINT_PRISMATIC &&
              b[3].kind == SP_JOINT_REVOLUTE,
          "joints");
    SAME(b[0].at, 3, 1, 2, 3);
    CHECK(b[0].axis[0] == 0, "axis");
    CHECK_NEAR(b[0].axis[1], 0.6, 2e-16); /* a few rounding errors of numbers below 1 */
    CHECK_NEAR(b[0].axis[2], -0.8, 2e-16);
    SAME(b[0].centre, 3, 4, 5, 6);
    SAME(b[0].inertia, 6, 2, 3, 4, -0.5, 0.25, 0.125);
    SAME(((const double[]){b[0].mass, b[0].start, b[0].rate, b[0].stiffness, b[0].rest, b[0].damping}), 6, 2.5, 0.5,
         -0.25, 7, 0.75, 0.0625);
    SAME(b[1].at, 3, 0, 0, 0);
    SAME(b[1].axis, 3, 1, 0, 0);
    SAME(b[2].at, 3, 1, 0, 0);
    SAME(b[1].inertia, 6, 0, 0, 0, 0, 0, 0);
    SAME(((const double[]){b[1].mass, b[1].start, b[1].rate, b[1].stiffness, b[1].rest, b[1].damping}), 6, 0, 0, 0, 0,
         0, 0);
    HAS_VERTICES(0, 8, 0, 1, 7, 8, 14, 15, 21, 22);
    HAS_VERTICES(1, 8, 2, 3, 9, 10, 16, 17, 23, 24);
    HAS_VERTICES(2, 5, 5, 6, 12, 13, 26);
    HAS_VERTICES(3, 0, 0);
    CHECK(f.springs[0].bone == 2 && f.springs[0].stiffness == 40 && f.springs[0].count == 1 &&
              f.springs[0].time[0] == 0 && !f.paths[0],
          "spring 0");
    SAME(f.springs[0].at, 3, 0.5, 0.25, 0.125);
    SAME(f.springs[0].anchor, 3, 7, 8, 9);
    CHECK(f.springs[1].bone == 0 && f.springs[1].stiffness == 0 && f.springs[1].count == 0, "spring 1");
    TEXT(f.paths[1], "some/folder/hand.csv");

    static const char line[] = "0,1,2,3,1,0,0,0\n0.5,4,5,6,0,1,0,0\n";
    OWNED(sp_path) path;
    CHECK_OK(sp_path_parse(&context, line, (int64_t)strlen(line), &path));
    CHECK_OK(sp_skeleton_file_set_path(&context, &f, 1, &path));
    CHECK(f.springs[1].count == 2, "%lld anchors", (long long)f.springs[1].count);
    SAME(f.springs[1].time, 2, 0, 0.5);
    SAME(f.springs[1].anchor, 6, 1, 2, 3, 4, 5, 6);
    /* and the library accepts it */
    OWNED_POINTER(sp_skeleton) *s = NULL;
    double mass[28] = {0};
    CHECK_OK(sp_skeleton_new(&context, mesh.vertex_count, mesh.vertices, mass, (const double[]){0, 0, -9.81},
                             f.bone_count, f.bones, f.spring_count, f.springs, &s));
    sp_skeleton_file_free(&f);
    CHECK(!f.bones && !f.pool.first, "freed");
}

/* Regions by number, several, overlapping with vertices and box of the same bone; a mark before the text; no springs.
 */
TEST(selections)
{
    OWNED(sp_skeleton_file) f;
    CHECK_OK(parse("\xef\xbb\xbf{'bones': [{'name': 'b', 'joint': 'prismatic', 'axis': [1, 0, 0], 'regions': [3, "
                   "'foot', 1], 'vertices': [27], 'box': [[0, 0, 0], [1, 0, 0]]}]}",
                   "", &f));
    CHECK(f.bone_count == 1 && f.spring_count == 0, "counts");
    HAS_VERTICES(0, 25, 0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11, 12, 13, 15, 16, 17, 18, 19, 20, 22, 23, 24, 25, 26, 27);
}

/* ---- refusals ---- */

static void refuse(int line, const char *message, const edit *edits)
{
    char *text = edited(full, edits);
    OWNED(sp_skeleton_file) f;
    context.message[0] = 0;
    const int status = sp_skeleton_file_parse(&context, text, (int64_t)strlen(text), "", &mesh, &f);
    CHECK(status == SP_INPUT && !strcmp(context.message, message), "line %d: status %d, \"%s\", expected \"%s\"", line,
          status, context.message, message);
    CHECK(!f.pool.first && !f.bones && !f.springs, "line %d: something is left", line);
    free(text);
}
#define REFUSE(message, ...) refuse(__LINE__, message, (const edit[]){__VA_ARGS__, {0}})

TEST(bones_refused)
{
    REFUSE("bones: it is missing", {"bones", ""});
    REFUSE("bones: it is empty", {"bones", "[]"});
    REFUSE("bones: an object, expected an array", {"bones", "{}"});
    REFUSE("bones[1]: a number, expected an object", {"bones[1]", "1"});
    REFUSE("gravity: unknown key, expected one of bones, springs", {"gravity", "[0, 0, 1]"});
    REFUSE("bones[3].weight: unknown key, expected one of joint, name, parent, at, axis, mass, centre, inertia, start, "
           "rate, stiffness, rest, damping, path, regions, vertices, box, segment, radius",
           {"bones[3].weight", "1"});
    REFUSE("bones[0].joint: it is missing", {"bones[0].joint", ""});
    REFUSE("bones[0].joint: \"ball\" is none of revolute, prismatic, path", {"bones[0].joint", "'ball'"});
    REFUSE("bones[0].name: it is missing", {"bones[0].name", ""});
    REFUSE("bones[0].name: \"a b\" is no name: expected 1 to 63 of A-Z a-z 0-9 _ . -", {"bones[0].name", "'a b'"});
    REFUSE("bones[0].name: a number, expected a name", {"bones[0].name", "1"});
    REFUSE("bones[3].name: \"shin\" occurs twice", {"bones[3].name", "'shin'"});
    REFUSE("bones[1].parent: \"foot\" is no bone before this one, expected one of thigh",
           {"bones[1].parent", "'foot'"});
    REFUSE("bones[1].parent: \"shin\" is no bone before this one, expected one of thigh",
           {"bones[1].parent", "'shin'"});
    REFUSE("bones[0].parent: \"shin\" is no bone before this one, expected none, as there is none",
           {"bones[0].parent", "'shin'"});
    REFUSE("bones[1].parent: null, expected a name", {"bones[1].parent", "null"});
    REFUSE("bones[0].at: it is missing, a joint that turns has a place", {"bones[0].at", ""});
    REFUSE("bones[0].at: 2 values, expected 3 numbers", {"bones[0].at", "[1, 2]"});
    REFUSE("bones[0].axis: it is missing, a joint has an axis", {"bones[0].axis", ""});
    REFUSE("bones[0].axis: it is zero", {"bones[0].axis", "[0, 0, 0]"});
    REFUSE("bones[0].mass: -1 kg, expected at least 0", {"bones[0].mass", "-1"});
    REFUSE("bones[2].mass: it needs centre beside it", {"bones[2].centre", ""});
    REFUSE("bones[2].centre: it needs mass beside it", {"bones[2].mass", ""});
    REFUSE("bones[1].inertia: it needs mass beside it", {"bones[1].inertia", "[1, 1, 1, 0, 0, 0]"});
    REFUSE("bones[0].inertia: it is not positive semidefinite",
           {"bones[0].inertia", "[2, 3, 4, 0, 0, 2.5]"}); /* 2·3 < 2.5² */
    REFUSE("bones[0].stiffness: -1 N m/rad or N/m, expected at least 0", {"bones[0].stiffness", "-1"});
    REFUSE("bones[0].rest: it needs stiffness beside it", {"bones[0].stiffness", ""});
    REFUSE("bones[0].damping: -2 N m s or N s/m, expected at least 0", {"bones[0].damping", "-2"});
    REFUSE("bones[0].start: a string, expected a number", {"bones[0].start", "'0'"});
    REFUSE("bones[0].rate: null, expected a number", {"bones[0].rate", "null"});
    char *many = malloc(100000), *at = many;
    at += sprintf(at, "[");
    for (int i = 0; i <= SP_SKELETON_BONES; i++)
        at += sprintf(at, "%s{'name': 'b%d', 'joint': 'prismatic', 'axis': [1, 0, 0]}", i ? "," : "", i);
    sprintf(at, "]");
    REFUSE("bones: 1001 bones, expected at most 1000", {"bones", many});
    free(many);
}

TEST(vertices_refused)
{
    REFUSE("bones[0].regions: a string, expected an array", {"bones[0].regions", "'thigh'"});
    REFUSE("bones[0].regions: it is empty", {"bones[0].regions", "[]"});
    REFUSE("bones[0].regions[0]: \"knee\" is no region, expected one of thigh, flesh, shin bone, foot, nothing",
           {"bones[0].regions[0]", "'knee'"});
    REFUSE("bones[0].regions[1]: 5, expected 0 to 4", {"bones[0].regions[1]", "5"});
    REFUSE("bones[0].regions[1]: 0.5, expected a whole number", {"bones[0].regions[1]", "0.5"});
    REFUSE("bones[0].regions[1]: null, expected the name or number of a region", {"bones[0].regions[1]", "null"});
    REFUSE("bones[0].regions[1]: no element is of this region", {"bones[0].regions[1]", "'nothing'"});
    REFUSE("bones[1].vertices: it is empty", {"bones[1].vertices", "[]"});
    REFUSE("bones[1].vertices[1]: 28, expected 0 to 27", {"bones[1].vertices[1]", "28"});
    REFUSE("bones[1].vertices[1]: -1, expected 0 to 27", {"bones[1].vertices[1]", "-1"});
    REFUSE("bones[1].vertices[4]: a string, expected a whole number", {"bones[1].vertices[4]", "'1'"});
    REFUSE("bones[2].box: a number, expected an array of two corners", {"bones[2].box", "1"});
    REFUSE("bones[2].box: another count, expected an array of two corners", {"bones[2].box[2]", "[1, 2, 3]"});
    REFUSE("bones[2].box[1]: 2 values, expected 3 numbers", {"bones[2].box[1]", "[1, 2]"});
    REFUSE("bones[2].box[0][2]: null, expected a number", {"bones[2].box[0][2]", "null"});
    REFUSE("bones[2].box: from 4.5 to 4 along x, expected the lower corner first", {"bones[2].box[1][0]", "4"});
    REFUSE("bones[2].box: no vertex of the mesh is in it", {"bones[2].box", "[[4.5, 0, 0], [4.75, 1, 0]]"});
    REFUSE("bones[1].vertices[1]: vertex 8 belongs to bone shin, and to bone thigh already",
           {"bones[1].vertices[1]", "8"});
    REFUSE("bones[3].regions[0]: vertex 1 belongs to bone tail, and to bone thigh already",
           {"bones[3].regions", "['flesh']"});
    REFUSE("bones[2].box: vertex 3 belongs to bone foot, and to bone shin already", {"bones[2].box[0][0]", "2.5"});
}

/* Bones on paths, and vertices by segments: those named by other keys stay with their bones, the others go to the
 * nearest segment. Cubes 0 and 1 of the row belong to the first bone. */
TEST(segments)
{
    static const char text[] =
        "{'bones': [{'name': 'a', 'joint': 'path', 'path': 'a.csv', 'regions': ['thigh'], 'segment': [0, 0, 0, 3, 0, "
        "0], "
        "'radius': 0.5}, {'name': 'b', 'parent': 'a', 'joint': 'path', 'at': [3, 0, 0], 'path': '/b.csv', 'segment': "
        "[4, 0, 0, 5, 0, 0], 'radius': 1}, {'name': 'c', 'joint': 'path', 'path': 'c.csv', 'vertices': [27]}]}";
    OWNED(sp_skeleton_file) f;
    CHECK_OK(parse(text, "folder", &f));
    CHECK(f.bones[0].kind == SP_JOINT_PATH && f.bones[1].parent == 0, "joints");
    TEXT(f.bone_paths[0], "folder/a.csv");
    TEXT(f.bone_paths[1], "/b.csv");
    SAME(f.bones[1].at, 3, 3, 0, 0);
    HAS_VERTICES(0, 10, 0, 1, 2, 3, 7, 8, 14, 15, 21, 22);
    /* 3 is at the distances 0 and 1; 6 at the distance 1 of the end; 11, 12, 18 and 19 beside the segment */
    HAS_VERTICES(1, 7, 4, 5, 6, 11, 12, 18, 19);
    HAS_VERTICES(2, 1, 27);
    sp_skeleton *s = NULL;
    CHECK(sp_skeleton_new(&context, mesh.vertex_count, mesh.vertices, mesh.vertices, (const double[]){0, 0, 0}, 3,
                          f.bones, 0, NULL, &s) == SP_INPUT &&
              !strcmp(context.message, "bone 0: joint of kind 2"),
          "%s", context.message);
}

TEST(segments_refused)
{
    REFUSE("bones[3].axis: it means nothing where joint is path", {"bones[3].joint", "'path'"});
    REFUSE("bones[3].path: it is missing, a joint that follows a path names it", {"bones[3].joint", "'path'"},
           {"bones[3].axis", ""});
    REFUSE("bones[0].path: it means nothing where joint is revolute", {"bones[0].path", "'a.csv'"});
    REFUSE("bones[3].segment: it needs radius beside it", {"bones[3].segment", "[0, 0, 0, 1, 1, 1]"});
    REFUSE("bones[3].radius: it needs segment beside it", {"bones[3].radius", "1"});
    REFUSE("bones[3].radius: 0 m, expected more than 0", {"bones[3].segment", "[0, 0, 0, 1, 1, 1]"},
           {"bones[3].radius", "0"});
    REFUSE("bones[3].segment: no vertex of the mesh is within 0.5 m of bone tail and nearer to it than to other bones",
           {"bones[3].segment", "[0, 0, 2, 6, 0, 2]"}, {"bones[3].radius", "0.5"});
    REFUSE("bones[3].segment: no vertex of the mesh is within 0.1 m of bone tail and nearer to it than to other bones",
           {"bones[3].segment", "[0, 0, 0, 1, 0, 0]"}, {"bones[3].radius", "0.1"}); /* all of them are of the thigh */
}

TEST(springs_refused)
{
    REFUSE("springs: it is empty", {"springs", "[]"});
    REFUSE("springs[0].bone: \"arm\" is no bone, expected one of thigh, shin, foot, tail",
           {"springs[0].bone", "'arm'"});
    REFUSE("springs[0].bone: it is missing", {"springs[0].bone", ""});
    REFUSE("springs[0].at: it is missing", {"springs[0].at", ""});
    REFUSE("springs[0].stiffness: it is missing", {"springs[0].stiffness", ""});
    REFUSE("springs[0].stiffness: -40 N/m, expected at least 0", {"springs[0].stiffness", "-40"});
    REFUSE("springs[0]: none of anchor, path is there", {"springs[0].anchor", ""});
    REFUSE("springs[0]: anchor and path are there, expected at most one of anchor, path", {"springs[0].path", "'x'"});
    REFUSE("springs[1].path: \"\", expected the name of a file", {"springs[1].path", "''"});
    REFUSE("springs[0].length: unknown key, expected one of bone, at, stiffness, anchor, path",
           {"springs[0].length", "1"});
}

/* Cut anywhere, and each byte replaced: it is read or refused, with a reason. */
TEST(hostile)
{
    static const char others[] = "\0\"[]{},:-0e.\\\xff ";
    sp_skeleton_file f;
    CHECK(parse("[1]", "", &f) == SP_INPUT && !strcmp(context.message, "an array, expected an object"), "%s",
          context.message);
    CHECK(parse("{'bones': 1, 'bones': 2}", "", &f) == SP_INPUT && !strncmp(context.message, "line 1, column ", 15),
          "%s", context.message);
    CHECK(parse("{'bones': [{'rate': 1e999}]}", "", &f) == SP_INPUT && !strncmp(context.message, "line 1, column ", 15),
          "%s", context.message);
    char *good = quoted(full);
    const size_t length = strlen(good);
    for (size_t cut = 0; cut < length; cut++) {
        /* a block of exactly that size, so that a sanitizer finds every access beyond it */
        char *text = malloc(cut + 1);
        memcpy(text + 1, good, cut);
        const int status = sp_skeleton_file_parse(&context, text + 1, (int64_t)cut, "", &mesh, &f);
        CHECK(status == SP_INPUT && !f.pool.first && !strncmp(context.message, "line ", 5), "cut at %zu: status %d, %s",
              cut, status, context.message);
        free(text);
    }
    for (size_t at = 0; at < length; at++)
        for (size_t k = 0; k < sizeof others - 1; k += 1 + (at + k) % 3) {
            const char kept = good[at];
            good[at] = others[k];
            context.message[0] = 0;
            const int status = sp_skeleton_file_parse(&context, good, (int64_t)length, "", &mesh, &f);
            CHECK(status == SP_OK || (status == SP_INPUT && context.message[0]), "byte %zu, \"%c\": status %d", at,
                  others[k], status);
            sp_skeleton_file_free(&f);
            good[at] = kept;
        }
    free(good);
}

/* ---- page and schema ---- */

TEST(schema)
{
    const int keys = check_schema("formats/skeleton.schema.json", &sp_skeleton_keys);
    NOTE("%d keys", keys);
}

/* Tables and example of the page; the mesh of the example has the regions that it names. */
TEST(pages)
{
    char *page = source_file("formats/skeleton.md");
    if (!page)
        return;
    find_rows("skeleton.md", page, &sp_skeleton_keys);
    char *example = example_of(page, "    {\n");
    OWNED(sp_mesh) arm;
    OWNED(sp_skeleton_file) f;
    make_box(4, 1, 1, 0.125, 0, &arm);
    arm.region[0] = 1;
    arm.region[3] = 2;
    arm.materials = sp_pool_new(&arm.pool, 3, sizeof *arm.materials);
    arm.material_count = 3;
    static const char *const names[3] = {"flesh", "humerus", "ulna"};
    for (int i = 0; i < 3; i++) {
        arm.materials[i] = test_material();
        strcpy(arm.materials[i].name, names[i]);
    }
    arm.vertices[3 * 3 + 2] = -0.28; /* a vertex of the ulna, in its box: only the reader uses this mesh */
    arm.vertices[3 * 3] = 0;
    CHECK_OK(sp_skeleton_file_parse(&context, example, (int64_t)strlen(example), "", &arm, &f));
    CHECK(f.bone_count == 2 && f.spring_count == 1 && f.bones[0].vertex_count == 8 && f.bones[1].vertex_count == 8,
          "%lld bones", (long long)f.bone_count);
    free(example);
    free(page);
}

BEFORE_TESTS()
{
    make_mesh();
}

AFTER_TESTS()
{
    sp_mesh_free(&mesh);
}
