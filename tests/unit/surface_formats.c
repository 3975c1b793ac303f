/* Surfaces in PLY, STL and OFF. */
#include "surface_test.h"

/* ---- helpers ---- */

/* A growing file of binary values. */
typedef struct blob {
    char bytes[4096];
    int64_t count;
} blob;

static void put_text(blob *blob_, const char *text)
{
    memcpy(blob_->bytes + blob_->count, text, strlen(text));
    blob_->count += (int64_t)strlen(text);
}

static void put_bits(blob *blob_, uint64_t bits, int size, bool big_endian)
{
    for (int i = 0; i < size; i++)
        blob_->bytes[blob_->count++] = (char)(bits >> 8 * (big_endian ? size - 1 - i : i));
}

static void put_float(blob *blob_, float value, bool big_endian)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_bits(blob_, bits, 4, big_endian);
}

static void put_double(blob *blob_, double value, bool big_endian)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_bits(blob_, bits, 8, big_endian);
}

/* ---- PLY ---- */

#define PLY_ASCII "ply\nformat ascii 1.0\ncomment by hand\n"
#define PLY_XYZ "property float x\nproperty float y\nproperty float z\n"
#define PLY_FACES "property list uchar int vertex_indices\nend_header\n"

TEST(ply_ascii)
{
    GOOD("a.ply",
         PLY_ASCII "element vertex 4\n" PLY_XYZ "element face 2\n" PLY_FACES
                   "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n3 0 1 3\n",
         4, 0, 1, 2, 0, 2, 3, 0, 1, 3);

    /* CR LF; other types and names; properties of any kind before, between and after; elements that are not used */
    GOOD("model",
         "ply\r\nformat ascii 1.0\r\nobj_info x\r\nelement camera 1\r\nproperty float view\r\nproperty list uchar "
         "float more\r\nelement "
         "vertex 3\r\n"
         "property float nx\r\nproperty double z\r\nproperty float64 y\r\nproperty list int32 uint8 tags\r\nproperty "
         "int16 x\r\n"
         "property uchar red\r\nelement empty 1000000000000\r\nelement face 1\r\nproperty float quality\r\n"
         "property list ushort uint vertex_index\r\nproperty list uchar float texcoord\r\nelement edge 1\r\n"
         "property int vertex1\r\nend_header\r\n7 2 1.5 nan\r\nnan 0.5 0 2 7 8 1 255\r\n\r\n0 0 1 0 2 0\r\n0 0 0 1 9 3 "
         "0\r\n-inf 3 2 0 1 6 "
         "0 0 1 1 0 1\r\n5\r\n",
         3, 2, 0, 1);

    OWNED(sp_surface) surface;
    CHECK_OK(parse_text("a",
                        "ply\nformat ascii 1.0\nelement face 1\nproperty list uchar int vertex_indices\nelement vertex "
                        "3\nproperty float z\n"
                        "property float x\nproperty float y\nend_header\n3 0 1 2\n1 2 3\n4 5 6\n7 8 9.25\n",
                        SP_GROUPS_GROUP, &surface)); /* faces first; axes by name */
    TRIANGLES(&surface, 3, 0, 1, 2);
    CHECK(surface.vertices[0] == 2 && surface.vertices[1] == 3 && surface.vertices[2] == 1 &&
              surface.vertices[7] == 9.25,
          "axes");
    CHECK(surface.group_count == 1 && strcmp(surface.groups[0], "default") == 0, "group");
}

/* A square and a triangle with every scalar type in front of the faces' lists; `ending` is that of the header lines. */
static void ply_binary_file(blob *file, bool big, const char *ending)
{
    static const char *const header[] = {"ply",
                                         NULL,
                                         "comment binary",
                                         "element vertex 4",
                                         "property double x",
                                         "property uchar flag",
                                         "property float y",
                                         "property short z",
                                         "property list uchar double tags",
                                         "element other 2",
                                         "property float a",
                                         "property uint b",
                                         "element face 2",
                                         "property char c",
                                         "property list ushort uint vertex_indices",
                                         "property list uint ushort more",
                                         "end_header"};
    *file = (blob){0};
    for (size_t i = 0; i < sizeof header / sizeof *header; i++) {
        put_text(file, header[i] ? header[i]
                       : big     ? "format binary_big_endian 1.0"
                                 : "format binary_little_endian 1.0");
        put_text(file, ending);
    }
    for (int i = 0; i < 4; i++) {
        put_double(file, 0.1 * i, big);
        put_bits(file, i == 0 ? '\n' : 200, 1, big);
        put_float(file, -1.5f * (float)i, big);
        put_bits(file, (uint64_t)(-300 * i), 2, big);
        put_bits(file, (uint64_t)i, 1, big);
        for (int j = 0; j < i; j++)
            put_double(file, NAN, big);
    }
    for (int i = 0; i < 2; i++) {
        put_float(file, NAN, big);
        put_bits(file, 0xffffffff, 4, big);
    }
    for (int i = 0; i < 2; i++) {
        put_bits(file, 0x80, 1, big);
        put_bits(file, i == 0 ? 4 : 3, 2, big);
        for (int j = 0; j < (i == 0 ? 4 : 3); j++)
            put_bits(file, (uint64_t)(i == 0 ? j : 3 - j), 4, big);
        put_bits(file, 2, 4, big);
        put_bits(file, 0, 4, big);
    }
}

TEST(ply_binary)
{
    static const char *const endings[] = {"\n", "\r\n", "\r"};
    for (int big = 0; big < 2; big++)
        for (int e = 0; e < 3; e++) {
            blob file;
            sp_surface surface;
            ply_binary_file(&file, big, endings[e]);
            CHECK_OK(parse_bytes("a.ply", file.bytes, file.count, SP_GROUPS_NONE, &surface));
            TRIANGLES(&surface, 4, 0, 1, 2, 0, 2, 3, 3, 2, 1);
            for (int i = 0; i < 4 && surface.vertex_count == 4; i++)
                CHECK(surface.vertices[3 * i] == 0.1 * i && surface.vertices[3 * i + 1] == -1.5 * i &&
                          surface.vertices[3 * i + 2] == -300 * i,
                      "vertex %d: %g %g %g", i, surface.vertices[3 * i], surface.vertices[3 * i + 1],
                      surface.vertices[3 * i + 2]);
            sp_surface_free(&surface);
            /* every shorter file is refused, whatever it ends in */
            for (int64_t count = 0; count < file.count; count++) {
                CHECK(parse_bytes("a.ply", file.bytes, count, SP_GROUPS_NONE, &surface) == SP_INPUT,
                      "cut to %lld of %lld bytes", (long long)count, (long long)file.count);
                sp_surface_free(&surface);
            }
        }
    /* if CR alone ends the lines, a first value of 10 (LF) is a value */
    blob file = {0};
    put_text(&file, "ply\rformat binary_little_endian 1.0\relement vertex 3\rproperty uchar x\rproperty uchar "
                    "y\rproperty uchar z\relement face 1\r"
                    "property list uchar uchar vertex_indices\rend_header\r\n2345678a");
    put_bits(&file, 0x02010003, 4, false);
    OWNED(sp_surface) surface;
    CHECK_OK(parse_bytes("a.ply", file.bytes, file.count, SP_GROUPS_NONE, &surface));
    TRIANGLES(&surface, 3, 0, 1, 2);
    CHECK(surface.vertex_count == 3 && surface.vertices[0] == '\n' && surface.vertices[8] == 'a',
          "a line feed as first value");
}

TEST(ply_errors)
{
#define HEAD PLY_ASCII "element vertex 3\n" PLY_XYZ "element face 1\n" PLY_FACES /* lines 1 to 10 */
    bad("a.ply", "plywood\n", "line 1: a PLY file must begin with \"ply\"");
    bad("a.ply", "ply\nelement vertex 1\n", "line 2: the second line of a PLY file must be its format");
    bad("a.ply", "ply\nformat ebcdic 1.0\n",
        "line 2: expected ascii, binary_little_endian or binary_big_endian, found \"ebcdic\"");
    bad("a.ply", "ply\nformat\n",
        "line 2: expected ascii, binary_little_endian or binary_big_endian, found the end of the line");
    bad("a.ply", "ply\nformat ascii 2.0\n", "line 2: expected version 1.0 of PLY, found \"2.0\"");
    bad("a.ply", "ply\nformat ascii\n", "line 2: expected version 1.0 of PLY, found the end of the line");
    bad("a.ply", "ply\nformat ascii 1.0\nvertex 3\n", "line 3: \"vertex\" is not a header line of PLY");
    bad("a.ply", "ply\nformat ascii 1.0\nproperty float x\n", "line 3: a property before the first element");
    bad("a.ply", PLY_ASCII "element vertex -1\n", "line 4: element \"vertex\" has a count of -1");
    bad("a.ply", PLY_ASCII "element vertex many\n",
        "line 4: count of the element: expected an integer, found \"many\"");
    bad("a.ply", PLY_ASCII "element vertex 1\nproperty half x\n", "line 5: expected a type, found \"half\"");
    bad("a.ply", PLY_ASCII "element vertex 1\nproperty float x\nproperty int x\n",
        "line 6: property \"x\" for the second time");
    bad("a.ply", PLY_ASCII "element vertex 1\nelement vertex 1\n", "line 5: element \"vertex\" for the second time");
    bad("a.ply", PLY_ASCII "element vertex 1\n", "line 4: the file ends before end_header");
    bad("a.ply", PLY_ASCII "element vertex 1\nproperty float x\nproperty float y\nend_header\n",
        "line 7: the header has no element vertex with a property z");
    bad("a.ply", PLY_ASCII "element vertex 1\n" PLY_XYZ "end_header\n0 0 0\n",
        "line 8: the header has no element face with a property list vertex_indices");
    bad("a.ply", HEAD "0 0 0\n1 0 0\n0 1\n3 0 1 2\n",
        "line 13: z: expected a finite number, found the end of the line");
    bad("a.ply", HEAD "0 0 0\n1 0 nan\n0 1 0\n3 0 1 2\n", "line 12: z: expected a finite number, found \"nan\"");
    bad("a.ply", HEAD "0 0 0\n1 0 0\n0 1 0 7\n3 0 1 2\n",
        "line 13: the line has more values than its element has properties");
    bad("a.ply", HEAD "0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "line 14: face 0 names vertex 3 of 3 (from 0)");
    bad("a.ply", HEAD "0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", "line 14: face 0 names vertex -1 of 3 (from 0)");
    bad("a.ply", HEAD "0 0 0\n1 0 0\n0 1 0\n3 0 1 1.5\n",
        "line 14: vertex of a face: 1.5 in row 0 is not an integer of 32 bits");
    bad("a.ply", HEAD "0 0 0\n1 0 0\n0 1 0\n2 0 1\n", "line 14: face 0 has 2 corners, fewer than 3");
    bad("a.ply", HEAD "0 0 0\n1 0 0\n0 1 0\n4 0 1 2\n",
        "line 14: vertex of a face: expected a finite number, found the end of the line");
    bad("a.ply", HEAD "0 0 0\n1 0 0\n0 1 0\n", "line 13: 1 elements \"face\" cannot be in the 0 bytes that follow");
    bad("a.ply", HEAD "0.0000000 0 0\n1 0 0\n", "line 12: the file ends after 2 of 3 elements \"vertex\"");
    bad("a.ply", HEAD "0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n3 0 1 2\n", "line 14: 8 bytes follow the last element");
    bad("a.ply", PLY_ASCII "element vertex 9223372036854775807\n" PLY_XYZ "element face 1\n" PLY_FACES "0 0 0\n",
        "line 10: 9223372036854775807 elements \"vertex\" cannot be in the 6 bytes that follow");
    blob file;
    sp_surface surface;
    ply_binary_file(&file, false, "\n");
    file.bytes[file.count++] = 'x';
    CHECK(parse_bytes("a.ply", file.bytes, file.count, SP_GROUPS_NONE, &surface) == SP_INPUT &&
              strstr(context.message, ": 1 bytes follow the last element"),
          "%s", context.message);
    ply_binary_file(&file, false, "\n");
    int64_t offset = (int64_t)((char *)memmem(file.bytes, (size_t)file.count, "end_header\n", 11) - file.bytes) + 11;
    memset(file.bytes + offset, 0xff, 8); /* x of vertex 0 */
    char message[100];
    snprintf(message, sizeof message, "byte %lld: x: not a finite number in row 0", (long long)offset);
    bad_bytes("a.ply", file.bytes, file.count, message);
}

/* ---- STL ---- */

#define FACET(a, b, c)                                                                                                 \
    "facet normal 0 0 nan\n outer loop\n  vertex " a "\n  vertex " b "\n  vertex " c "\n endloop\nendfacet\n"

TEST(stl_text)
{
    GOOD("a.stl",
         "solid two words\n" FACET("0 0 0", "1 0 0", "1 1 0")
             FACET("1 1 0", "0 1 0", "-0 0 -0.0") "endsolid two words\n",
         4, 0, 1, 2, 2, 3, 0);
    GOOD("model",
         "SOLID\r\nFacet Normal 0 0 1\r\nOUTER LOOP\r\nVertex 0 0 0\r\nvertex 1e0 0 0\r\nvertex 1 1 "
         "0\r\nendloop\r\nENDFACET\r\nendsolid",
         3, 0, 1, 2);
    /* two bodies; corners that differ in the last bit stay separate */
    GOOD("a.stl",
         "solid a\n" FACET("0 0 0", "1 0 0", "1 1 0") "endsolid a\nsolid b\n" FACET(
             "0 0 0", "1 0 0", "1.0000000000000002 1 0") "endsolid b\n",
         4, 0, 1, 2, 0, 1, 3);
}

/* `head` fills the first bytes of the header. */
static void stl_binary_file(blob *file, const char *head)
{
    static const float corners[2][3][3] = {{{0, 0, 0}, {1, 0, 0}, {1, 1, 0.1f}},
                                           {{1, 1, 0.1f}, {0, 1, 0}, {-0.0f, 0, 0}}};
    *file = (blob){0};
    put_text(file, head);
    file->count = 80;
    put_bits(file, 2, 4, false);
    for (int i = 0; i < 2; i++) {
        for (int j = 0; j < 3; j++)
            put_float(file, NAN, false);
        for (int j = 0; j < 9; j++)
            put_float(file, corners[i][j / 3][j % 3], false);
        put_bits(file, 0xabcd, 2, false);
    }
}

TEST(stl_binary)
{
    static const char *const heads[] = {"", "solid exported by a program that writes this word here\n", "made by hand"};
    for (int i = 0; i < 3; i++)
        for (int named = 0; named < 2; named++) {
            blob file;
            OWNED(sp_surface) surface;
            stl_binary_file(&file, heads[i]);
            CHECK_OK(parse_bytes(named ? "a.stl" : "-", file.bytes, file.count, SP_GROUPS_NONE, &surface));
            TRIANGLES(&surface, 4, 0, 1, 2, 2, 3, 0);
            CHECK(surface.vertices && surface.vertices[8] == (double)0.1f, "z of corner 2");
        }
}

TEST(stl_errors)
{
    bad("a.stl", "solid\n" FACET("0 0 0", "1 0 0", "1 1 0"), "line 8: the file ends where \"endsolid\" should follow");
    bad("a.stl", "solid\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n",
        "line 4: the file ends where \"vertex\" should follow");
    bad("a.stl", "solid\nfacet\nouter loop\nvertex 0 0 0\nvertex 0 0 0\nendloop\n",
        "line 6: expected \"vertex\", found \"endloop\"");
    bad("a.stl", "solid\nfacet\nouter loop\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\nvertex 0 0 0\n",
        "line 7: expected \"endloop\", found \"vertex\"");
    bad("a.stl", "solid\nfacet\nouter loop\nvertex 0 0\n",
        "line 4: z: expected a finite number, found the end of the line");
    bad("a.stl", "solid\nfacet\nouter loop\nvertex 0 inf 0\n", "line 4: y: expected a finite number, found \"inf\"");
    bad("a.stl", "solid\nvertex\n", "line 2: expected \"facet\" or \"endsolid\", found \"vertex\"");
    bad("a.stl", "solid\nendsolid\nfacet\n", "line 3: expected \"solid\", found \"facet\"");
    bad("a.stl", "solid\nendsolid\n", "the model has no triangles");
    bad("a.stl", "v 0 0 0\n", "neither text nor binary STL: it does not begin with \"solid\" and has only 8 bytes");
    blob file;
    stl_binary_file(&file, "made by hand");
    bad_bytes("a.stl", file.bytes, file.count - 1,
              "byte 80: binary STL of 2 triangles takes 184 bytes, but the file has 183");
    stl_binary_file(&file, "solid but binary");
    bad_bytes("a.stl", file.bytes, file.count - 1,
              "byte 80: binary STL of 2 triangles takes 184 bytes, but the file has 183");
    stl_binary_file(&file, "");
    memset(file.bytes + 84 + 50 + 12 + 12 + 4, 0xff, 4); /* triangle 1, corner 1, y */
    bad_bytes("a.stl", file.bytes, file.count, "byte 162: corner 1 of triangle 1 is not finite");
    stl_binary_file(&file, "");
    memset(file.bytes + 80, 0, 4);
    bad_bytes("a.stl", file.bytes, 84, "the model has no triangles");
}

/* ---- OFF ---- */

#define OFF_BODY "0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n3 0 1 3\n"

TEST(off_variants)
{
    static const int64_t expected[] = {0, 1, 2, 0, 2, 3, 0, 1, 3};
    static const char *const good[] = {
        "OFF\n4 2 0\n" OFF_BODY,
        "OFF 4 2 0\n" OFF_BODY,
        "OFF4 2 0\n" OFF_BODY, /* ModelNet */
        "off\n4 2\n" OFF_BODY,
        "# hand\n\nOFF # key\n# counts\n4 2 0\n\n" OFF_BODY "# end\n",
        "OFF\r\n4 2 0\r\n\r\n0 0 0\r\n1 0 0\r\n1 1 0\r\n0 1 0\r\n4 0 1 2 3\r\n3 0 1 3",
        "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3 255 0 0\n3  0 1 3 0.1 0.2 0.3 1.0\n",
        "COFF\n4 2 0\n0 0 0 255 0 0 255\n1 0 0 0 0 0 1\n1 1 0 0.5 0.5 0.5 1\n0 1 0 1 1 1 1\n4 0 1 2 3\n3 0 1 3\n",
        "NOFF\n4 2 0\n0 0 0 0 0 1\n1 0 0 0 0 1\n1 1 0 0 0 1\n0 1 0 0 0 1\n4 0 1 2 3\n3 0 1 3\n",
        "STCNOFF\n4 2 0\n0 0 0 0 0 1 1 1 1 1 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n3 0 1 3\n",
        "4OFF\n4 2 0\n0 0 0 1\n2 0 0 2\n-1 -1 0 -1\n0 .5 0 .5\n4 0 1 2 3\n3 0 1 3\n",
        "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 \n1 \n2 \n3 \n\n3\n0 # one\n1 3 0.1 0.2 0.3\n"};
    sp_surface surface;
    for (size_t i = 0; i <= sizeof good / sizeof *good; i++) {
        if (i < sizeof good / sizeof *good)
            CHECK_OK(parse_text("model", good[i], SP_GROUPS_NONE, &surface));
        else
            CHECK_OK(
                parse_text("a.off", "4 2 0\n" OFF_BODY, SP_GROUPS_NONE, &surface)); /* without key word: by its name */
        check_triangles(&surface, 4, 3, expected);
        CHECK(surface.vertices && surface.vertices[3] == 1 && surface.vertices[6] == 1 && surface.vertices[10] == 1,
              "variant %d: positions", (int)i);
        sp_surface_free(&surface);
    }
}

TEST(off_errors)
{
    bad("a.off", "# nothing\n", "the file has no content but comments");
    bad("a.off", "solids\n", "line 1: count of vertices: expected an integer, found \"solids\"");
    bad("a.off", "OFF\n", "line 1: the file ends before the counts of vertices and faces");
    bad("a.off", "OFF BINARY\n", "line 1: binary OFF is not read");
    bad("a.off", "nOFF\n3\n", "line 1: OFF of any dimension (nOFF) is not read");
    bad("a.off", "OFF\n3\n", "line 2: count of faces: expected an integer, found the end of the line");
    bad("a.off", "OFF\n-3 1 0\n0 0 0\n", "line 2: -3 vertices and 1 faces cannot be in the 6 bytes that follow");
    bad("a.off", "OFF\n1 9223372036854775807 0\n0 0 0\n",
        "line 2: 1 vertices and 9223372036854775807 faces cannot be in the 6 bytes that follow");
    bad("a.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1\n0 1 0\n4 0 1 2 3\n3 0 1 3\n",
        "line 5: z: expected a finite number, found the end of the line");
    bad("a.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 4\n3 0 1 3\n",
        "line 7: face 0 names vertex 4 of 4 (from 0)");
    bad("a.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n3 0 1 -1\n",
        "line 8: face 1 names vertex -1 of 4 (from 0)");
    bad("a.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n2 0 1 2 3\n3 0 1 2\n",
        "line 7: face 0 has 2 corners, fewer than 3");
    bad("a.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n5 0 1 2 3\n3 0 1 2\n",
        "line 8: the file ends after 1 of 2 faces");
    bad("a.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n3 0\n1\n",
        "line 9: the file ends after 2 of 3 corners of face 1");
    bad("a.off", "OFF\n4 2 0\n0.000 0.000 0\n1 0 0\n1 1 0\n", "line 5: the file ends after 3 of 4 vertices");
    bad("a.off", "OFF\n4 2 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n", "line 7: the file ends after 1 of 2 faces");
    bad("a.off", "OFF\n4 2 0\n" OFF_BODY "3 0 1 2\n", "line 9: something follows the last of 2 faces");
    bad("a.off", "4OFF\n4 2 0\n0 0 0 1\n0 0 1 0\n0 0 0 1\n0 0 0 1\n3 0 1 2\n3 0 1 2\n",
        "line 4: x divided by w = 0 is not finite");
}
