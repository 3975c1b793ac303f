/* The importers of Medit's, TetGen's and VTK's (legacy and XML) meshes: one small mesh as other programs write it and
 * cut at every byte, and errors that name the line. */
#include "volume_test.h"

#include <zlib.h>

/* A hexahedron 2 × 1 × 1 and a tetrahedron on its corners 1, 2, 6 and on (4, 1, 0), of volume 1/3: see volume_msh.c. */
static void check_two_elements(const char *name, const sp_mesh *mesh)
{
    check_counts(name, mesh, 9, 1, 1, 0, 2 + 1.0 / 3);
    for (int a = 0; a < 8; a++)
        CHECK(mesh->block[SP_HEX8].node[a] == a, "%s: corner %d of the hexahedron is %lld", name, a,
              (long long)mesh->block[SP_HEX8].node[a]);
    CHECK(mesh->block[SP_TET4].node[0] == 1 && mesh->block[SP_TET4].node[1] == 2 && mesh->block[SP_TET4].node[2] == 6 &&
              mesh->block[SP_TET4].node[3] == 8,
          "%s: corners", name);
    CHECK(mesh->vertices[24] == 4 && mesh->vertices[25] == 1 && mesh->vertices[26] == 0, "%s: vertex 8", name);
}

static void check_regions(const char *name, const sp_mesh *mesh, const char *hex, const char *tet)
{
    CHECK(mesh->material_count == 2, "%s: %lld regions", name, (long long)mesh->material_count);
    if (mesh->material_count != 2)
        return;
    CHECK(strcmp(mesh->materials[mesh->region[0]].name, hex) == 0, "%s: %s", name,
          mesh->materials[mesh->region[0]].name);
    CHECK(strcmp(mesh->materials[mesh->region[1]].name, tet) == 0, "%s: %s", name,
          mesh->materials[mesh->region[1]].name);
    CHECK(mesh->materials[1].young == steel.young && mesh->materials[1].density == steel.density, "%s: material", name);
}

/* ---------------------------------------------------------------- Medit */

#define MEDIT "MeshVersionFormatted 2\nDimension\n3\n"
#define MEDIT_NODES "Vertices\n4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n"

TEST(medit_features)
{
    static const char *const ends[2] = {"\nEnd\n", ""};
    for (int i = 0; i < 2; i++) {
        char file[1024];
        sp_mesh mesh;
        sp_notes notes;
        /* A comment, a record over two lines, an unused node, sections that are skipped. */
        snprintf(file, sizeof file,
                 " MeshVersionFormatted 1 # by hand\n\n Dimension 3\n Tetrahedra 1\n2 3\n7 9 -4\n"
                 "Vertices\n10\n0 0 0 1\n2 0 0 1\n2 1 0 1\n0 1 0 1\n0 0 1.0d0 1\n2 0 1 1\n2 1 1 1\n0 1 1 1\n4 1 0 1\n9 "
                 "9 9 1\n"
                 "Corners\n2\n1 2\nTriangles\n1\n1 2 3 0\nNormals 1\nnan 0 0\nHexahedra\n1\n1 2 3 4 5 6 7 8 12%s",
                 ends[i]);
        CHECK_OK(sp_volume_parse_medit(&context, file, (int64_t)strlen(file), &steel, &mesh, &notes));
        check_two_elements("Medit", &mesh);
        check_regions("Medit", &mesh, "region-12", "region--4");
        CHECK(notes.count == 3 + i && strstr(notes.line[i], "2 sections are passed over, the first of them Corners") &&
                  strstr(notes.line[1 + i], "1 of 10 vertices") &&
                  strstr(notes.line[2 + i], "1 points, lines and faces are in no group"),
              "%d notes", notes.count);
        CHECK(i == 0 || strstr(notes.line[0], "may be cut off"), "%s", notes.line[0]);
        sp_mesh_free(&mesh);
        /* Without a reference of the last element, or less, there is no mesh. */
        for (int64_t n = 0; i == 1 && n < (int64_t)strlen(file) - 2; n++) {
            int status = sp_volume_parse_medit(&context, file, n, &steel, &mesh, NULL);
            /* Before the hexahedra begins a mesh of the tetrahedron alone, which the note above is about. */
            bool whole =
                n >= (int64_t)(strstr(file, "9 9 9 1") - file) + 7 && n <= (int64_t)(strstr(file, "Hexahedra") - file);
            CHECK(status == SP_INPUT || (status == SP_OK && whole), "the first %lld bytes are read as a mesh",
                  (long long)n);
            sp_mesh_free(&mesh);
        }
    }
    OWNED(sp_mesh) mesh;
    const char *plain = MEDIT MEDIT_NODES "Tetrahedra\n1\n1 2 3 4 0\nEnd\nwhat follows is not read";
    CHECK_OK(sp_volume_parse_medit(&context, plain, (int64_t)strlen(plain), &steel, &mesh, NULL));
    CHECK(mesh.material_count == 1 && strcmp(mesh.materials[0].name, "steel") == 0, "%lld regions",
          (long long)mesh.material_count);
}

TEST(medit_errors)
{
    ERROR('d', "", "the file ends inside MeshVersionFormatted");
    ERROR('d', "solid\n", "does not begin with MeshVersionFormatted");
    ERROR('d', "MFEM mesh v1.0\n\ndimension\n3\n", "it is of MFEM's own format, which is not supported");
    ERROR('d', "MeshVersionFormatted 5\n", "line 1: version 5 is not supported");
    ERROR('d', "MeshVersionFormatted 2\nDimension 2\n", "line 2: the dimension is 2 instead of 3");
    ERROR('d', MEDIT, "the file has no Vertices");
    ERROR('d', MEDIT MEDIT_NODES "End\n", "4 vertices, but no solid elements");
    ERROR('d', MEDIT MEDIT_NODES MEDIT_NODES, "line 10: Vertices occurs twice");
    ERROR('d', MEDIT "Vertices\n1000000\n0 0 0 0\n", "Vertices announces 1000000 records, but only");
    ERROR('d', MEDIT "Vertices\n-1\n", "line 5: Vertices announces -1 records");
    ERROR('d', MEDIT "Vertices\n9999999999999999999\n", "line 5: Vertices: expected an integer");
    ERROR('d', MEDIT "Vertices\n1\n0 nan 0 0\n", "line 6: Vertices: expected a finite number, found \"nan\"");
    ERROR('d', MEDIT "Vertices\n1\n0 0 0 0.5\n", "line 6: Vertices: expected an integer, found \"0.5\"");
    ERROR('d', MEDIT MEDIT_NODES "5 5 5 0\n", "line 10: a section like Vertices is expected, not '5'");
    ERROR('d', MEDIT "Vertices\n2\n0 0 0 0\nTetrahedra 0\n",
          "line 7: Vertices: expected a finite number, found \"Tetrahedra\"");
    ERROR('d', MEDIT MEDIT_NODES "Tetrahedra\n1000000\n1 2 3 4 0\n", "Tetrahedra announces 1000000 records");
    ERROR('d', MEDIT MEDIT_NODES "Tetrahedra\n1\n1 2 3 5 0\n",
          "line 12: element 1 names vertex 5, but there are 4 vertices, numbered from 1 to 4");
    ERROR('d', MEDIT MEDIT_NODES "Tetrahedra\n1\n0 1 2 3 0\n", "line 12: element 1 names vertex 0");
    ERROR('d', MEDIT MEDIT_NODES "Hexahedra\n1\n1 2 3 4 1 2 3\n", "Hexahedra announces 1 records, but only");
    ERROR('d', MEDIT MEDIT_NODES "Tetrahedra\n1\n1 2 3       4\n", "the file ends inside Tetrahedra");
    ERROR('d', MEDIT MEDIT_NODES "HexahedraQ2\n1\n1 2 3 4 1 0\n", "line 10: HexahedraQ2 are not supported");
    ERROR('d', MEDIT MEDIT_NODES "TetrahedraP3 0\n", "line 10: TetrahedraP3 are not supported");
    ERROR('d', MEDIT MEDIT_NODES "Normals\n9\n1 2 3 0\nEnd\n",
          "line 13: Normals announces 9 records, but 4 numbers follow");
    ERROR('d', MEDIT MEDIT_NODES "Triangles\n9\n1 2 3 0\nEnd\n",
          "line 11: Triangles announces 9 records, but only 13 bytes follow");
    ERROR('d', MEDIT MEDIT_NODES "Triangles\nEnd\n", "line 11: Triangles: expected an integer, found \"End\"");
}

/* ---------------------------------------------------------------- TetGen */

struct other_file {
    const char *name, *bytes;
    int64_t count;
};

static int open_other(void *data, sp_context *c, const char *name, const char **bytes, int64_t *count)
{
    struct other_file *file = data;
    if (strcmp(name, file->name) != 0)
        return sp_fail(c, SP_INPUT, "%s is opened instead of %s", name, file->name);
    *bytes = file->bytes;
    *count = file->count;
    return SP_OK;
}

static int parse_tetgen(const char *node, int64_t node_count, const char *ele, int64_t ele_count, bool name_elements,
                        sp_mesh *mesh, sp_notes *notes)
{
    struct other_file other = {name_elements ? "a.1.node" : "a.1.ele", name_elements ? node : ele,
                               name_elements ? node_count : ele_count};
    sp_includes includes = {open_other, &other};
    return sp_volume_parse_tetgen(&context, name_elements ? "x.y/a.1.ele" : "x.y/a.1.node", name_elements ? ele : node,
                                  name_elements ? ele_count : node_count, &includes, &steel, mesh, notes);
}

TEST(tetgen_features)
{
    for (int base = 0; base < 2; base++)
        for (int named = 0; named < 2; named++) {
            char node[512], ele[512];
            sp_mesh mesh;
            sp_notes notes;
            int b = base;
            snprintf(node, sizeof node,
                     "# by hand\n5  3  2  1\n   %d  0 0 0  5 5 1\n%d 1 0 0 5 5 0 # corner\n\n%d 0 1 0 5 5 0\n%d 0 0 2 "
                     "5 5 0\n%d 9 9 9 5 5 "
                     "0\n# end\n",
                     b, b + 1, b + 2, b + 3, b + 4);
            snprintf(ele, sizeof ele, "2 4 2\n%d %d %d %d %d -3 0.5\n%d %d %d %d %d 1.20e1 7\n# Generated by tetgen", b,
                     b, b + 1, b + 2, b + 3, b + 1, b + 1, b + 2, b, b + 3);
            int64_t n = (int64_t)strlen(node), m = (int64_t)strlen(ele);
            CHECK_OK(parse_tetgen(node, n, ele, m, named, &mesh, &notes));
            /* Twice the tetrahedron with edges 1, 1, 2 along the axes, of volume 1/3. */
            check_counts("TetGen", &mesh, 4, 2, 0, 0, 2.0 / 3);
            CHECK(mesh.block[SP_TET4].node[0] == 0 && mesh.block[SP_TET4].node[3] == 3 &&
                      mesh.block[SP_TET4].node[4] == 1 && mesh.block[SP_TET4].node[6] == 0,
                  "corners");
            CHECK(mesh.vertices[3] == 1 && mesh.vertices[11] == 2, "vertices");
            check_regions("TetGen", &mesh, "region--3", "region-12");
            CHECK(notes.count == 2 && strstr(notes.line[0], "of 2 attributes") &&
                      strstr(notes.line[1], "1 of 5 vertices"),
                  "%d notes", notes.count);
            sp_mesh_free(&mesh);
            for (int64_t k = 0; k < n - 8; k++) /* "0\n# end\n" */
                CHECK(parse_tetgen(node, k, ele, m, named, &mesh, NULL) == SP_INPUT,
                      "the first %lld bytes of .node are taken", (long long)k);
            for (int64_t k = 0; k < m - 23; k++)
                CHECK(parse_tetgen(node, n, ele, k, named, &mesh, NULL) == SP_INPUT,
                      "the first %lld bytes of .ele are taken", (long long)k);
        }
}

/* Both files have to be named in the message where it is not the first one. */
static void tetgen_error(const char *node, const char *ele, const char *part, const char *part_named_ele)
{
    for (int named = 0; named < 2; named++) {
        sp_mesh mesh;
        context.message[0] = 0;
        int status = parse_tetgen(node, (int64_t)strlen(node), ele, (int64_t)strlen(ele), named, &mesh, NULL);
        const char *expected = named ? part_named_ele : part;
        CHECK(status == SP_INPUT && strncmp(context.message, expected, strlen(expected)) == 0, "'%s' instead of '%s'",
              context.message, expected);
        CHECK(mesh.vertex_count == 0 && mesh.pool.first == NULL, "the mesh is not empty after '%s'", expected);
    }
}

TEST(tetgen_errors)
{
#define NODES "4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n"
#define ELE(text, part) tetgen_error(NODES, text, "a.1.ele: " part, part)
#define NODE(text, part) tetgen_error(text, "1 4 0\n1 1 2 3 4\n", part, "a.1.node: " part)
    ELE("", "line 1: the line with the counts is missing");
    ELE("1\n", "line 1: corners of an element: expected an integer, found the end of the line");
    ELE("1 20 0\n", "line 1: elements of 20 nodes are not supported");
    ELE("1 4 99999\n", "line 1: count of attributes: 99999 is no such number");
    ELE("-1 4\n", "line 1: count of elements: -1 is no such number");
    ELE("1 4 0 0\n", "line 1: the line with the counts has more than 3 numbers");
    ELE("1000000 4 0\n1 1 2 3 4\n", "line 1: 1000000 elements are announced, 1 follow");
    ELE("99999999999999999999 4 0\n", "line 1: count of elements: expected an integer");
    ELE("1 4 0\n1 1 2 3 5\n", "line 2: element 1 names vertex 5, but there are 4 vertices, numbered from 1 to 4");
    ELE("1 4 0\n1 1 2 3\n", "line 2: node: expected an integer, found the end of the line");
    ELE("1 4 0\n1 1 2 3 4 7\n", "line 2: element 1 has more numbers than are announced");
    ELE("1 4 1\n1 1 2 3 4 0.5\n", "line 2: the attribute 0.5 of element 1 is no whole number");
    ELE("1 4 1\n1 1 2 3 4 1e300\n", "line 2: the attribute 1e+300 of element 1 is no whole number");
    ELE("1 4 1\n1 1 2 3 4\n", "line 2: region of the element: expected a finite number");
    ELE("1 4 0\n2 1 2 3 4\n", "line 2: element 2 stands where 1 is due");
    ELE("1 4 0\n1 1 2 3 4\n2 1 2 3 4\n", "line 3: more than the 1 elements that are announced");
    NODE("", "line 1: the line with the counts is missing");
    NODE("4 2 0 0\n", "line 1: the dimension is 2 instead of 3");
    NODE("1000000 3 0 0\n1 0 0 0\n", "line 1: 1000000 vertices are announced, 1 follow");
    NODE("2 3 0 0\n1 0 0 0\n3 1 0 0\n", "line 3: vertex 3 stands where 2 is due");
    NODE("1 3 0 0\n1 0 nan 0\n", "line 2: y: expected a finite number, found \"nan\"");
    NODE("1 3 0 1\n1 0 0 0\n", "line 2: attribute or marker: expected a finite number, found the end of the line");
    NODE("1 3\n1 0 0 0 1\n", "line 2: vertex 1 has more numbers than are announced");
    NODE("1 3\n1 0 0 0\n2 0 0 0\n", "line 3: more than the 1 vertices that are announced");
    sp_mesh mesh;
    int status = sp_volume_parse_tetgen(&context, "a.node", NODES, (int64_t)strlen(NODES), NULL, &steel, &mesh, NULL);
    CHECK(status == SP_INPUT && strstr(context.message, "a.ele is included, but there is no way to open it"), "%s",
          context.message);
    status = sp_volume_parse_tetgen(&context, "a.txt", NODES, (int64_t)strlen(NODES), NULL, &steel, &mesh, NULL);
    CHECK(status == SP_INPUT && strstr(context.message, "ends in .node or .ele"), "%s", context.message);
}

/* ---------------------------------------------------------------- legacy VTK */

static void put_integer(struct buffer *file, bool binary, int64_t value, int bytes)
{
    if (binary)
        put_bytes(file, (uint64_t)value, bytes, true);
    else
        put_text(file, "%lld ", (long long)value);
}

static void put_float(struct buffer *file, bool binary, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (binary)
        put_bytes(file, bits, 4, true);
    else
        put_text(file, "%g ", (double)value);
}

/* The two elements, with the hexahedron as a voxel or not, a triangle, and a point that nothing uses; returns the
 * length up to the end of the cells' types. */
static int64_t write_vtk(struct buffer *file, bool binary, bool five, bool voxel, const char *region)
{
    static const float x[10][3] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}, {0, 0, 1},
                                   {2, 0, 1}, {2, 1, 1}, {0, 1, 1}, {4, 1, 0}, {9, 9, 9}};
    static const int corner[2][15] = {{0, 1, 2, 0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 6, 8},
                                      {0, 1, 2, 0, 1, 3, 2, 4, 5, 7, 6, 1, 2, 6, 8}};
    static const int end[4] = {0, 3, 11, 15};
    file->count = 0;
    put_text(file, "# vtk DataFile Version %s\n%s\n%s\nDATASET UNSTRUCTURED_GRID\n", five ? "5.1" : "2.0",
             five ? "" : "POINTS of a title", binary ? "BINARY" : "ASCII");
    put_text(file, "FIELD FieldData 1\nTIME 1 1 double\n");
    if (binary)
        put_real(file, 0.5, true);
    put_text(file, "%s\nPOINTS 10 float\n", binary ? "" : "nan");
    for (int i = 0; i < 30; i++)
        put_float(file, binary, x[i / 3][i % 3]);
    put_text(file, "\nMETADATA\nINFORMATION 1\nNAME L2_NORM_RANGE LOCATION vtkDataArray\nDATA 2 0 1\n\n");
    put_text(file, five ? "CELLS 4 15\nOFFSETS vtktypeint64\n" : "CELLS 3 18\n");
    for (int i = 0; five && i < 4; i++)
        put_integer(file, binary, end[i], 8);
    if (five)
        put_text(file, "\nCONNECTIVITY vtktypeint64\n");
    for (int i = 0; i < 3; i++) {
        if (!five)
            put_integer(file, binary, end[i + 1] - end[i], 4);
        for (int a = end[i]; a < end[i + 1]; a++)
            put_integer(file, binary, corner[voxel][a], five ? 8 : 4);
    }
    put_text(file, "\nCELL_TYPES 3\n");
    put_integer(file, binary, 5, 4);
    put_integer(file, binary, voxel ? 11 : 12, 4);
    put_integer(file, binary, 10, 4);
    int64_t needed = file->count;
    put_text(file, "\nPOINT_DATA 10\nVECTORS u float\n");
    for (int i = 0; i < 30; i++)
        put_float(file, binary, i == 7 ? NAN : 1);
    put_text(file, "\nCELL_DATA 3\n%s",
             five ? "FIELD FieldData 2\nother 2 3 short\n" : "SCALARS quality short 2\nLOOKUP_TABLE default\n");
    for (int i = 0; i < 6; i++)
        put_integer(file, binary, i, 2);
    put_text(file,
             five ? "\nMETADATA\nCOMPONENT_NAMES\nx\ny\n\n%s 1 3 char\n" : "\nSCALARS %s char\nLOOKUP_TABLE default\n",
             region);
    put_integer(file, binary, 0, 1);
    put_integer(file, binary, 12, 1);
    put_integer(file, binary, -4, 1);
    put_text(file, "\n");
    return needed;
}

TEST(vtk_features)
{
    for (int variant = 0; variant < 8; variant++) {
        bool binary = variant & 1, five = variant & 2, voxel = variant & 4;
        char name[64];
        struct buffer file;
        sp_mesh mesh;
        sp_notes notes;
        snprintf(name, sizeof name, "VTK %s %s%s", five ? "5.1" : "2.0", binary ? "binary" : "text",
                 voxel ? ", voxel" : "");
        int64_t needed = write_vtk(&file, binary, five, voxel, voxel ? "Material" : "region");
        CHECK_OK(sp_volume_parse_vtk(&context, file.data, file.count, &steel, &mesh, &notes));
        check_two_elements(name, &mesh);
        check_regions(name, &mesh, "region-12", "region--4");
        CHECK(notes.count == 2 && strstr(notes.line[0], "1 points, lines and faces") &&
                  strstr(notes.line[1], "1 of 10 vertices"),
              "%s: %d notes", name, notes.count);
        sp_mesh_free(&mesh);
        for (int64_t n = 0; n < file.count - 2; n++) {
            int status = sp_volume_parse_vtk(&context, file.data, n, &steel, &mesh, NULL);
            CHECK(status == SP_INPUT || n >= needed - !binary, "%s: the first %lld bytes are read as a mesh", name,
                  (long long)n);
            sp_mesh_free(&mesh);
        }
        if (!binary)
            continue;
        char *points = memmem(file.data, (size_t)file.count, "POINTS 10 float\n", 16);
        memset(points + 16 + 4, 0xff, 4);
        char expected[64];
        snprintf(expected, sizeof expected, "byte %d: a number in POINTS is not finite",
                 (int)(points + 20 - file.data));
        expect_error('k', file.data, file.count, NULL, expected);
        points[7] = '9'; /* 90 points */
        memset(points + 16 + 4, 0, 4);
        expect_error('k', file.data, file.count, NULL, "POINTS");
    }
    struct buffer file;
    sp_mesh mesh;
    sp_notes notes;
    write_vtk(&file, false, false, false, "quantity");
    CHECK_OK(sp_volume_parse_vtk(&context, file.data, file.count, &steel, &mesh, &notes));
    CHECK(mesh.material_count == 1 && strcmp(mesh.materials[0].name, "steel") == 0, "%lld regions",
          (long long)mesh.material_count);
    sp_mesh_free(&mesh);
    put_text(&file, "SCALARS region float 1\nLOOKUP_TABLE own\n1 2 3\nSCALARS region int 1\nLOOKUP_TABLE own\n1 2 "
                    "2\nSCALARS material int\n"
                    "LOOKUP_TABLE own\n1 2 3\nLOOKUP_TABLE own 2\n0 0 0 1 1 1 1 1\nCOLOR_SCALARS c 1\n.1 .2 "
                    ".3\nNORMALS n float\n0 0 1 0 0 1 0 0 1\n");
    CHECK_OK(sp_volume_parse_vtk(&context, file.data, file.count, &steel, &mesh, &notes));
    CHECK(mesh.material_count == 1 && strcmp(mesh.materials[0].name, "region-2") == 0, "%lld regions",
          (long long)mesh.material_count);
    CHECK(notes.count == 4 && strstr(notes.line[0], "region is not taken as regions: it is not of one integer") &&
              strstr(notes.line[1], "material is not taken as regions: there is one already"),
          "%d notes", notes.count);
    sp_mesh_free(&mesh);
}

TEST(vtk_errors)
{
#define VTK(version) "# vtk DataFile Version " version "\ntitle\nASCII\nDATASET UNSTRUCTURED_GRID\n"
#define VTK_POINTS "POINTS 4 float\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
#define VTK_4 VTK("4.2") VTK_POINTS
#define VTK_5 VTK("5.1") VTK_POINTS
    ERROR('k', "", "does not begin with '# vtk DataFile Version'");
    ERROR('k', "<VTKFile>\n", "does not begin with '# vtk DataFile Version'");
    ERROR('k', "# vtk DataFile Version 0.9\n", "line 1: version '0.9' is not supported (1.0 to 5.1 are)");
    ERROR('k', "# vtk DataFile Version 6.0\n", "line 1: version '6.0' is not supported");
    ERROR('k', "# vtk DataFile Version 2.0\ntitle\nTEXT\n", "line 3: 'TEXT' stands where ASCII or BINARY is due");
    ERROR('k', "# vtk DataFile Version 2.0\n\nASCII\nDATASET POLYDATA\n",
          "line 4: a dataset POLYDATA is not supported");
    ERROR('k', "# vtk DataFile Version 2.0\n\nASCII\nPOINTS 1 float\n0 0 0\n",
          "line 4: 'POINTS' stands where DATASET is due");
    ERROR('k', VTK("3.0"), "the file has no POINTS");
    ERROR('k', VTK_4, "the file has no CELLS");
    ERROR('k', VTK_4 "CELLS 1 5\n4 0 1 2 3\n", "the file has no CELL_TYPES");
    ERROR('k', VTK_4 VTK_POINTS, "line 10: POINTS occurs twice");
    ERROR('k', VTK("3.0") "POINTS 1000000 float\n0 0 0\n", "line 5: POINTS announces 3000000 coordinates, but only");
    ERROR('k', VTK("3.0") "POINTS 9000000000000000000 float\n0 0 0\n",
          "line 5: POINTS has 9000000000000000000 times 3 values");
    ERROR('k', VTK("3.0") "POINTS -1 float\n", "line 5: POINTS has a count of -1");
    ERROR('k', VTK("3.0") "POINTS 1 string\n0 0 0\n", "line 5: values of type 'string' are not supported");
    ERROR('k', VTK("3.0") "POINTS 1 float\n0 nan 0\n", "line 6: POINTS: expected a finite number, found \"nan\"");
    ERROR('k', VTK_4 "CELLS 1000000 5000000\n4 0 1 2 3\n", "line 10: CELLS announces 5000000 numbers, but only");
    ERROR('k', VTK_4 "CELLS 9 5\n4 0 1 2 3\n", "line 10: 9 cells do not fit into 5 numbers");
    ERROR('k', VTK_4 "CELLS 1 5\n5 0 1 2 3\n", "line 11: cell 0 has 5 corners where 4 are left");
    ERROR('k', VTK_4 "CELLS 1 5\n3 0 1 2 3\n", "the cells have 1 numbers less than CELLS announces");
    ERROR('k', VTK_4 "CELL_TYPES 1\n10\n", "line 10: CELL_TYPES stands before CELLS");
    ERROR('k', VTK_4 "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 2\n10 10\n", "line 12: 2 types for 1 cells");
    ERROR('k', VTK_4 "CELLS 1 5\n4 0 1 2 4\nCELL_TYPES 1\n10\n",
          "line 11: element 0 names vertex 4, but there are 4 vertices, numbered from 0 to 3");
    ERROR('k', VTK_4 "CELLS 1 4\n3 0 1 2\nCELL_TYPES 1\n10\n", "line 11: cell 0 of type 10 has 3 nodes instead of 4");
    ERROR('k', VTK_4 "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n15\n", "line 11: cell 0 has type 15, which is not supported");
    ERROR('k', VTK_4 "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n1\n", "line 11: cell 0 of type 1 has 4 nodes instead of 1");
    ERROR('k', VTK_4 "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n9\n", "4 vertices, but no solid elements");
    ERROR('k', VTK_5 "CELLS 2 4\n4 0 1 2 3\n", "line 11: '4' stands where OFFSETS is due");
    ERROR('k', VTK_5 "CELLS 0 4\nOFFSETS int\n", "line 10: CELLS has no offsets");
    ERROR('k', VTK_5 "CELLS 2 4\nOFFSETS float\n0 4\n", "line 11: OFFSETS is not of integers");
    ERROR('k', VTK_5 "CELLS 3 4\nOFFSETS int\n0 5 4\nCONNECTIVITY int\n0 1 2 3\n",
          "line 12: offset 5 of cell 1 does not fit between 0 and 4");
    ERROR('k', VTK_5 "CELLS 2 4\nOFFSETS int\n0 3\nCONNECTIVITY int\n0 1 2 3\n",
          "line 12: offset 3 of cell 1 does not fit");
    ERROR('k', VTK_5 "CELLS 2 4000000\nOFFSETS int\n0 4000000\n", "line 10: CELLS announces 4000000 numbers, but only");
    ERROR('k', VTK_4 "CELL_DATA 1\n", "line 10: CELL_DATA stands before POINTS or CELLS");
    ERROR('k', VTK_4 "CELLS 1 5\n4 0 1 2 3\nCELL_TYPES 1\n10\nCELL_DATA 3\n",
          "line 14: CELL_DATA of 3 where there are 1");
    ERROR('k', VTK_4 "CELLS 1 5\n4 0 1 2 3\nCELL_DATA 1\nSCALARS region int\n1\n",
          "line 14: SCALARS without LOOKUP_TABLE");
    ERROR('k', VTK_4 "CELLS 1 5\n4 0 1 2 3\nCELL_DATA 1\nSCALARS region int\nLOOKUP_TABLE default\n0.5\n",
          "line 15: SCALARS: expected an integer, found \"0.5\"");
    ERROR('k', VTK_4 "SCALARS region int\n",
          "line 10: 'SCALARS' is no keyword of an unstructured grid that may stand here");
}

/* ---------------------------------------------------------------- VTK's XML */

enum vtu_format { VTU_TEXT, VTU_BASE64, VTU_PADDED, VTU_RAW, VTU_APPENDED_BASE64, VTU_FORMATS };

static void put_base64(struct buffer *file, const char *bytes, int64_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int64_t i = 0; i < count; i += 3) {
        unsigned a = (unsigned char)bytes[i], b = i + 1 < count ? (unsigned char)bytes[i + 1] : 0;
        unsigned c = i + 2 < count ? (unsigned char)bytes[i + 2] : 0, bits = a << 16 | b << 8 | c;
        put_text(file, "%c%c%c%c", digits[bits >> 18], digits[bits >> 12 & 63],
                 i + 1 < count ? digits[bits >> 6 & 63] : '=', i + 2 < count ? digits[bits & 63] : '=');
    }
}

/* How a test writes its file: lengths of 4 or 8 bytes, high byte first or low byte first, with zlib in blocks of so
 * many bytes (0: not). */
struct vtu_way {
    enum vtu_format format;
    int header;
    bool big;
    int block;
};

/* What is in front of the values, and in place of `data` the compressed blocks. */
static void put_header(struct buffer *head, struct buffer *data, const struct vtu_way *way)
{
    static struct buffer packed;
    int count = way->block ? (int)((data->count + way->block - 1) / way->block) : 0;
    packed.count = head->count = 0;
    if (way->block == 0) {
        put_bytes(head, (uint64_t)data->count, way->header, way->big);
        return;
    }
    put_bytes(head, (uint64_t)count, way->header, way->big);
    put_bytes(head, (uint64_t)way->block, way->header, way->big);
    put_bytes(head, (uint64_t)(data->count % way->block), way->header, way->big);
    for (int i = 0; i < count; i++) {
        uLong from = (uLong)(i * way->block),
              size = (uLong)data->count - from < (uLong)way->block ? (uLong)data->count - from : (uLong)way->block;
        uLongf length = sizeof packed.data - (uLong)packed.count;
        CHECK(compress((Bytef *)packed.data + packed.count, &length, (const Bytef *)data->data + from, size) == Z_OK,
              "zlib");
        put_bytes(head, length, way->header, way->big);
        packed.count += (int64_t)length;
    }
    memcpy(data->data, packed.data, (size_t)packed.count);
    data->count = packed.count;
}

/* An array of numbers, which are written with `bytes` bytes, to the file or to what is appended to it. */
static void put_array(struct buffer *file, struct buffer *appended, const struct vtu_way *way, const char *attributes,
                      bool real, int bytes, int count, const double *value)
{
    static const char *const names[VTU_FORMATS] = {"ascii", "binary", "binary", "appended", "appended"};
    static struct buffer head, data;
    enum vtu_format format = way->format;
    data.count = 0;
    put_text(file, "<DataArray %s format=\"%s\"", attributes, names[format]);
    if (format >= VTU_RAW)
        put_text(file, " offset=\"%lld\"/>\n", (long long)appended->count);
    else
        put_text(file, ">\n<InformationKey name=\"L2\"><Value index=\"0\">0</Value></InformationKey>\n  ");
    for (int i = 0; i < count; i++) {
        if (format == VTU_TEXT)
            put_text(file, "%g ", value[i]);
        else if (real)
            put_real(&data, value[i], way->big);
        else
            put_bytes(&data, (uint64_t)(int64_t)value[i], bytes, way->big);
    }
    put_header(&head, &data, way);
    if (format == VTU_PADDED) {
        put_base64(file, head.data, head.count);
        put_base64(file, data.data, data.count);
    } else if (format == VTU_APPENDED_BASE64 && way->block) { /* as VTK does */
        put_base64(appended, head.data, head.count);
        put_base64(appended, data.data, data.count);
    } else if (format != VTU_TEXT) {
        memcpy(head.data + head.count, data.data, (size_t)data.count);
        head.count += data.count;
        if (format == VTU_BASE64)
            put_base64(file, head.data, head.count);
        else if (format == VTU_APPENDED_BASE64)
            put_base64(appended, head.data, head.count);
        else {
            memcpy(appended->data + appended->count, head.data, (size_t)head.count);
            appended->count += head.count;
        }
    }
    if (format < VTU_RAW)
        put_text(file, "\n</DataArray>\n");
}

static void write_vtu(struct buffer *file, const struct vtu_way *way)
{
    static const double x[30] = {0, 0, 0, 2, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0, 1,
                                 2, 0, 1, 2, 1, 1, 0, 1, 1, 4, 1, 0, 9, 9, 9};
    static const double corner[15] = {0, 1, 2, 0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 6, 8}, end[3] = {3, 11, 15},
                        type[3] = {5, 12, 10};
    static const double region[3] = {0, 12, -4};
    static struct buffer appended;
    appended.count = file->count = 0;
    put_text(file,
             "<?xml version=\"1.0\"?>\n<!-- <VTKFile> -->\n<VTKFile type='UnstructuredGrid' version=\"1.0\" "
             "byte_order=\"%sEndian\"%s%s>\n",
             way->big ? "Big" : "Little", way->header == 8 ? " header_type=\"UInt64\"" : "",
             way->block ? " compressor=\"vtkZLibDataCompressor\"" : "");
    put_text(file,
             "<UnstructuredGrid>\n<Piece NumberOfPoints=\"10\" NumberOfCells=\"3\">\n<PointData Scalars=\"u\">\n");
    put_array(file, &appended, way, "type=\"Float64\" Name=\"u\"", true, 8, 10, x);
    put_text(file, "</PointData>\n<CellData>\n");
    put_array(file, &appended, way, "type=\"Int16\" Name=\"Region\"", false, 2, 3, region);
    put_text(file, "</CellData>\n<Points>\n");
    put_array(file, &appended, way, "type=\"Float64\" Name=\"Points\" NumberOfComponents=\"3\"", true, 8, 30, x);
    put_text(file, "</Points>\n<Cells>\n");
    put_array(file, &appended, way, "type=\"Int32\" Name=\"connectivity\"", false, 4, 15, corner);
    put_array(file, &appended, way, "type=\"Int64\" Name=\"offsets\"", false, 8, 3, end);
    put_array(file, &appended, way, "type=\"UInt8\" Name=\"types\"", false, 1, 3, type);
    put_text(file, "</Cells>\n</Piece>\n</UnstructuredGrid>\n");
    if (way->format >= VTU_RAW) {
        put_text(file, "<AppendedData encoding=\"%s\">\n_", way->format == VTU_RAW ? "raw" : "base64");
        memcpy(file->data + file->count, appended.data, (size_t)appended.count);
        file->count += appended.count;
    } else
        put_text(file, "</VTKFile>");
}

TEST(vtu_features)
{
    static struct buffer file;
    static const int blocks[4] = {0, 40, 7, 4096}; /* of the points: 6 whole ones; 34 and a part; 1 */
    for (int variant = 0; variant < 16 * VTU_FORMATS; variant++) {
        char name[96];
        sp_mesh mesh;
        sp_notes notes;
        struct vtu_way way = {(enum vtu_format)(variant / 16), variant & 1 ? 8 : 4, variant & 2,
                              blocks[variant >> 2 & 3]};
        snprintf(name, sizeof name, "VTU, format %d, length of %d bytes, %s, blocks of %d", way.format, way.header,
                 way.big ? "big" : "little", way.block);
        write_vtu(&file, &way);
        int status = sp_volume_parse_vtu(&context, file.data, file.count, &steel, &mesh, &notes);
        CHECK(status == SP_OK, "%s: %s", name, context.message);
        if (status != SP_OK)
            continue;
        check_two_elements(name, &mesh);
        check_regions(name, &mesh, "region-12", "region--4");
        CHECK(notes.count == 2 && strstr(notes.line[0], "1 points, lines and faces") &&
                  strstr(notes.line[1], "1 of 10 vertices"),
              "%s: %d notes", name, notes.count);
        sp_mesh_free(&mesh);
        for (int64_t n = 0; n < file.count; n++) {
            status = sp_volume_parse_vtu(&context, file.data, n, &steel, &mesh, NULL);
            CHECK(status == SP_INPUT, "%s: the first %lld bytes are read as a mesh", name, (long long)n);
            sp_mesh_free(&mesh);
        }
    }
    /* Raw: u has 80 bytes behind its length of 8, regions 6 behind 8, then the points. */
    write_vtu(&file, &(struct vtu_way){VTU_RAW, 8, false, 0});
    char *underscore = memmem(file.data, (size_t)file.count, "\n_", 2);
    memset(underscore + 2 + 88 + 14 + 8 + 40, 0xff, 8);
    expect_error('x', file.data, file.count, NULL, "value 5 of Points is not finite");
    underscore[2 + 88 + 14 + 5] = 1; /* 2⁴⁰ bytes */
    expect_error('x', file.data, file.count, NULL,
                 "the array Points has 1099511628016 bytes instead of 30 values of 8");
}

#define VTU_FILE(attributes) "<VTKFile type=\"UnstructuredGrid\"" attributes "><UnstructuredGrid>"
#define VTU_PIECE(points, cells) VTU_FILE("") "<Piece NumberOfPoints=\"" points "\" NumberOfCells=\"" cells "\">"
#define VTU_ARRAY(type, name, values)                                                                                  \
    "<DataArray type=\"" type "\" Name=\"" name "\" NumberOfComponents=\"3\">" values "</DataArray>"

/* Files of SOFA: text, although they claim to have the high byte first. Counts and volumes are from a script outside of
 * the library. */
TEST(vtu_collection)
{
    static const struct {
        const char *name;
        int64_t nodes, tets;
        double volume;
    } list[] = {{"importers/sofa-liverFine.vtu", 4293, 22019, 38.956178},
                {"slivers/sofa-Ossicles.vtu", 1733, 5058, 27.145181}};
    if (!test_meshes())
        SKIP("no shared meshes");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        int64_t count = 0;
        char *bytes = load(list[i].name, &count);
        OWNED(sp_mesh) mesh = {0};
        if (!bytes)
            continue;
        CHECK_OK(sp_volume_parse_vtu(&context, bytes, count, &steel, &mesh, NULL));
        check_counts(list[i].name, &mesh, list[i].nodes, list[i].tets, 0, 0, list[i].volume);
        free(bytes);
    }
}

/* What a damaged header of compressed values may claim. The points, 240 bytes, are in six whole blocks of 40, which no
 * other array has. */
TEST(vtu_compressed_errors)
{
    static const struct {
        int word;
        uint64_t value;
        const char *message;
    } damages[] = {
        {0, 7, "the array Points has 280 bytes instead of 30 values of 8"},
        {0, UINT64_C(1) << 60,
         "the array Points announces 1152921504606846976 compressed blocks of 40 bytes, which cannot be in"},
        {0, UINT64_MAX, "the array Points announces -1 compressed blocks"},
        {1, UINT64_C(1) << 62,
         "the array Points announces 6 compressed blocks of 4611686018427387904 bytes, which cannot be in"},
        {1, 41, "the array Points has 246 bytes instead of 30 values of 8"},
        {2, 41, "the array Points announces 6 compressed blocks of 40 bytes, which cannot be in"},
        {2, 39, "the array Points has 239 bytes instead of 30 values of 8"},
        {3, UINT64_C(1) << 62,
         "the array Points: block 0 of 40 bytes is announced with 4611686018427387904 compressed bytes, where"},
        {3, 5, "the array Points: compressed block 0 is damaged or does not hold 40 bytes"},
    };
    static struct buffer file;
    for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
        write_vtu(&file, &(struct vtu_way){VTU_RAW, 8, false, 40});
        static const char begin[24] = {6, 0, 0, 0, 0, 0, 0, 0, 40};
        char *header = memmem(file.data, (size_t)file.count, begin, sizeof begin);
        CHECK(header != NULL, "the header is not found");
        for (int b = 0; header && b < 8; b++)
            header[8 * damages[i].word + b] = (char)(damages[i].value >> 8 * b);
        expect_error('x', file.data, file.count, NULL, damages[i].message);
    }
    /* 2.4 MB in one block of 20 bytes: deflate makes no more than 1032 of one. Memory is not had for them. */
    static struct buffer head;
    static const uint32_t words[9] = {1, 2400000, 2400000, 20};
    head.count = file.count = 0;
    for (int i = 0; i < 9; i++)
        put_bytes(&head, words[i], 4, false);
    put_text(
        &file,
        VTU_FILE(
            " compressor=\"vtkZLibDataCompressor\"") "<Piece NumberOfPoints=\"100000\" NumberOfCells=\"1\"><Points>"
                                                     "<DataArray type=\"Float64\" NumberOfComponents=\"3\" "
                                                     "format=\"binary\">");
    put_base64(&file, head.data, head.count);
    put_text(&file,
             "</DataArray></Points><Cells>" VTU_ARRAY("Int32", "connectivity", "0") VTU_ARRAY("Int32", "offsets", "1")
                 VTU_ARRAY("UInt8", "types", "1") "</Cells></Piece></UnstructuredGrid></VTKFile>");
    expect_error('x', file.data, file.count, NULL,
                 "the array Points: block 0 of 2400000 bytes is announced with 20 compressed bytes, where");
}

TEST(vtu_errors)
{
#define VTU_MESH(points, corners, ends, types)                                                                         \
    "<Points>" VTU_ARRAY("Float32", "Points", points) "</Points><Cells>" VTU_ARRAY("Int32", "connectivity", corners)   \
        VTU_ARRAY("Int32", "offsets", ends)                                                                            \
            VTU_ARRAY("UInt8", "types", types) "</Cells></Piece></UnstructuredGrid></VTKFile>"
#define VTU_BINARY                                                                                                     \
    "<Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" "                                                    \
    "format=\"binary\">AAAA</DataArray></Points><Cells>" VTU_ARRAY("Int32", "connectivity", "0")                       \
        VTU_ARRAY("Int32", "offsets", "1")                                                                             \
            VTU_ARRAY("UInt8", "types", "1") "</Cells></Piece></UnstructuredGrid></VTKFile>"
#define FOUR "0 0 0 1 0 0 0 1 0 0 0 1"
    ERROR('x', "", "does not begin with <VTKFile>");
    ERROR('x', "# vtk DataFile Version 3.0\n", "does not begin with <VTKFile>");
    ERROR('x', "<html></html>", "does not begin with <VTKFile>");
    ERROR('x', "<VTKFile type=\"PolyData\">", "a file of type 'PolyData' is not supported");
    ERROR('x', VTU_FILE(" byte_order=\"MiddleEndian\""),
          "byte order 'MiddleEndian' is not supported (LittleEndian and BigEndian are)");
    ERROR(
        'x',
        VTU_FILE(" compressor=\"vtkLZ4DataCompressor\"") "<Piece NumberOfPoints=\"1\" NumberOfCells=\"1\">" VTU_BINARY,
        "the array Points is compressed with vtkLZ4DataCompressor: save the file with zlib (vtkZLibDataCompressor) or "
        "uncompressed");
    ERROR(
        'x',
        VTU_FILE(" compressor=\"vtkLZMADataCompressor\"") "<Piece NumberOfPoints=\"1\" NumberOfCells=\"1\">" VTU_BINARY,
        "the array Points is compressed with vtkLZMADataCompressor: save the file with zlib (vtkZLibDataCompressor) or "
        "uncompressed");
    ERROR('x', VTU_FILE(" header_type=\"UInt16\""), "header type 'UInt16' is not supported");
    ERROR('x', VTU_FILE("") "</Piece>", "the XML is damaged here");
    ERROR('x', VTU_FILE("") "</UnstructuredGrid></VTKFile>", "the file has no Piece");
    ERROR('x', VTU_PIECE("-4", "1"), "NumberOfPoints=\"-4\" is no count");
    ERROR('x', VTU_PIECE("4", "1") "</Piece><Piece NumberOfPoints=\"4\" NumberOfCells=\"1\">",
          "several pieces is not supported");
    ERROR('x', VTU_PIECE("4", "1") "</Piece></UnstructuredGrid></VTKFile>", "the file has no array Points");
    ERROR('x', VTU_PIECE("4", "1") VTU_MESH(FOUR, "0 1 2 4", "4", "10"),
          "element 0 names vertex 4, but there are 4 vertices");
    ERROR('x', VTU_PIECE("4", "1") VTU_MESH(FOUR, "0 1 2", "4", "10"), "the file ends inside connectivity");
    ERROR('x', VTU_PIECE("4", "1") VTU_MESH(FOUR, "0 1 2 3 3", "4", "10"),
          "the array connectivity has more than 4 values");
    ERROR('x', VTU_PIECE("4", "1") VTU_MESH(FOUR, "0 1 2 3", "-1", "10"), "offset -1 of cell 0 is less than 0");
    ERROR('x', VTU_PIECE("4", "1") VTU_MESH(FOUR, "0 1 2 3", "4000000", "10"),
          "connectivity announces 4000000 values, but only 7 bytes follow");
    ERROR('x', VTU_PIECE("4", "1") VTU_MESH(FOUR, "0 1 2 3", "4", "15"), "cell 0 has type 15, which is not supported");
    ERROR('x', VTU_PIECE("4", "1") VTU_MESH("0 0 0 1 nan 0 0 1 0 0 0 1", "0 1 2 3", "4", "10"),
          "Points: expected a finite number, found \"nan\"");
    ERROR('x', VTU_PIECE("1000000", "1") VTU_MESH(FOUR, "0 1 2 3", "4", "10"),
          "Points announces 3000000 values, but only 23 bytes follow");
    ERROR('x', VTU_PIECE("9000000000000000000", "1") VTU_MESH(FOUR, "0 1 2 3", "4", "10"),
          "9000000000000000000 points are too many");
    ERROR('x', VTU_PIECE("4", "1") "<Points><DataArray type=\"Float32\" NumberOfComponents=\"2\">",
          "the array Points has not 3 components");
    ERROR('x', VTU_PIECE("4", "1") "<Points><DataArray type=\"String\" NumberOfComponents=\"3\">",
          "the array Points has type 'String'");
    ERROR('x', VTU_PIECE("4", "1") "<Cells>" VTU_ARRAY("Float32", "types", "10"), "the array types has type 'Float32'");
    ERROR('x', VTU_PIECE("4", "1") "<Cells>" VTU_ARRAY("Int8", "types", "10") VTU_ARRAY("Int8", "types", "10"),
          "the array types occurs twice");
}
