/* The order of nodes in elements of second order and wedges, in every format that has them, and pyramids. */
#include "mesh/mesh_sets.h"
#include "volume_test.h"

enum { ROOM = 8192 };

/* An element of a file: each word is a node, the mean of the corners that it names in our order. */
static const struct order {
    char format; /* as in expect_error; 'c' COMSOL, 't' TetGen */
    const char *name;
    int type;
    const char *nodes;
} orders[] = {
    {'m', "11", SP_TET10, "0 1 2 3 01 12 02 03 23 13"},
    {'m', "17", SP_HEX20, "0 1 2 3 4 5 6 7 01 03 04 12 15 23 26 37 45 47 56 67"},
    {'m', "12", SP_HEX27, "0 1 2 3 4 5 6 7 01 03 04 12 15 23 26 37 45 47 56 67 0123 0145 0347 1256 2367 4567 01234567"},
    {'m', "6", SP_WEDGE6, "0 1 2 3 4 5"},
    {'m', "18", SP_WEDGE15, "0 1 2 3 4 5 01 02 03 12 14 25 34 35 45"},
    {'m', "13", SP_WEDGE18, "0 1 2 3 4 5 01 02 03 12 14 25 34 35 45 0134 0235 1245"},
    {'k', "24", SP_TET10, "0 1 2 3 01 12 02 03 13 23"},
    {'k', "25", SP_HEX20, "0 1 2 3 4 5 6 7 01 12 23 03 45 56 67 47 04 15 26 37"},
    {'k', "29", SP_HEX27, "0 1 2 3 4 5 6 7 01 12 23 03 45 56 67 47 04 15 26 37 0347 1256 0145 2367 0123 4567 01234567"},
    {'k', "13", SP_WEDGE6, "0 1 2 3 4 5"},
    {'k', "26", SP_WEDGE15, "0 1 2 3 4 5 01 12 02 34 45 35 03 14 25"},
    {'k', "32", SP_WEDGE18, "0 1 2 3 4 5 01 12 02 34 45 35 03 14 25 0134 1245 0235"},
    {'d', "TetrahedraP2", SP_TET10, "0 1 2 3 01 12 02 03 13 23"},
    {'d', "Prisms", SP_WEDGE6, "0 1 2 3 4 5"},
    {'i', "C3D10", SP_TET10, "0 1 2 3 01 12 02 03 13 23"},
    {'i', "C3D6", SP_WEDGE6, "0 1 2 3 4 5"},
    {'i', "C3D15", SP_WEDGE15, "0 1 2 3 4 5 01 12 02 34 45 35 03 14 25"},
    {'i', "C3D20", SP_HEX20, "0 1 2 3 4 5 6 7 01 12 23 03 45 56 67 47 04 15 26 37"},
    {'i', "C3D20R", SP_HEX20R, "0 1 2 3 4 5 6 7 01 12 23 03 45 56 67 47 04 15 26 37"},
    {'i', "C3D27", SP_HEX27,
     "0 1 2 3 4 5 6 7 01 12 23 03 45 56 67 47 04 15 26 37 0347 1256 0145 2367 0123 4567 01234567"},
    {'i', "C3D8I", SP_HEX8I, "0 1 2 3 4 5 6 7"},
    {'t', "10", SP_TET10, "0 1 2 3 23 13 03 02 12 01"}, /* in any order */
    {'t', "10", SP_TET10, "0 1 2 3 13 01 23 02 03 12"},
    {'c', "tet", SP_TET4, "0 1 2 3"},
    {'c', "tet2", SP_TET10, "0 1 2 3 01 02 12 03 13 23"},
    {'c', "prism", SP_WEDGE6, "0 1 2 3 4 5"},
    {'c', "prism2", SP_WEDGE18, "0 1 2 3 4 5 01 02 12 03 0134 14 0235 1245 25 34 35 45"},
    {'c', "hex", SP_HEX8, "0 1 3 2 4 5 7 6"},
    {'c', "hex2", SP_HEX27,
     "0 1 3 2 4 5 7 6 01 03 0123 12 23 04 0145 15 0347 01234567 1256 37 2367 26 45 47 4567 56 67"},
};

__attribute__((format(printf, 2, 3))) static void add(char *text, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, ROOM - used, format, arguments);
    va_end(arguments);
}

static void mean_place(sp_element_shape shape, const char *corners, double x[3])
{
    int count = 0;
    x[0] = x[1] = x[2] = 0;
    for (const char *c = corners; *c && *c != ' '; c++, count++)
        for (int i = 0; i < 3; i++)
            x[i] += sp_corner_place[shape][*c - '0'][i];
    for (int i = 0; i < 3; i++)
        x[i] /= count;
}

static int count_words(const char *text)
{
    int count = 1;
    for (; *text; text++)
        count += *text == ' ';
    return count;
}

/* A line for each node: its number, if `numbered`, and its place, with `between` in between and `end` at the end. */
static void node_lines(sp_element_shape shape, const char *nodes, bool numbered, const char *between, const char *end,
                       char *text)
{
    int n = 0;
    for (const char *word = nodes; word; word = strchr(word, ' ') ? strchr(word, ' ') + 1 : NULL) {
        double x[3];
        mean_place(shape, word, x);
        n++;
        if (numbered)
            add(text, "%d%s", n, between);
        add(text, "%.17g%s%.17g%s%.17g%s\n", x[0], between, x[1], between, x[2], end);
    }
}

static void numbers(int count, int first, const char *between, char *text)
{
    for (int a = 0; a < count; a++)
        add(text, "%s%d", a ? between : "", a + first);
}

/* A file of one element whose nodes are numbered in the order of the file. */
static void write_file(char format, const char *name, sp_element_shape shape, const char *nodes, char *text,
                       char *second)
{
    const int n = count_words(nodes);
    *text = *second = 0;
    if (format == 'm') {
        add(text, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n", n);
        node_lines(shape, nodes, true, " ", "", text);
        add(text, "$EndNodes\n$Elements\n1\n1 %s 0 ", name);
        numbers(n, 1, " ", text);
        add(text, "\n$EndElements\n");
    } else if (format == 'k') {
        add(text, "# vtk DataFile Version 2.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS %d double\n", n);
        node_lines(shape, nodes, false, " ", "", text);
        add(text, "CELLS 1 %d\n%d ", n + 1, n);
        numbers(n, 0, " ", text);
        add(text, "\nCELL_TYPES 1\n%s\n", name);
    } else if (format == 'd') {
        add(text, "MeshVersionFormatted 2\nDimension 3\nVertices\n%d\n", n);
        node_lines(shape, nodes, false, " ", " 0", text);
        add(text, "%s\n1\n", name);
        numbers(n, 1, " ", text);
        add(text, " 0\nEnd\n");
    } else if (format == 'i') {
        add(text, "*NODE\n");
        node_lines(shape, nodes, true, ", ", "", text);
        add(text, "*ELEMENT, TYPE=%s\n1,\n", name);
        numbers(n, 1, ",\n", text);
        add(text, "\n");
    } else if (format == 't') {
        add(text, "1 %d 0\n1 ", n);
        numbers(n, 1, " ", text);
        add(second, "%d 3 0 0\n", n);
        node_lines(shape, nodes, true, " ", "", second);
    } else {
        add(text, "# COMSOL\n0 1\n1\n5 mesh1\n1\n3 obj\n0 0 1\n4 Mesh # class\n4\n3\n%d\n7\n", n);
        node_lines(shape, nodes, false, " ", "", text);
        add(text, "1\n%d %s\n%d\n1\n", (int)strlen(name), name, n);
        numbers(n, 7, " ", text);
        add(text, "\n1\n3\n");
    }
}

static int open_second(void *data, sp_context *c, const char *name, const char **bytes, int64_t *count)
{
    (void)c, (void)name;
    *bytes = data;
    *count = (int64_t)strlen(data);
    return SP_OK;
}

static int parse(char format, const char *text, char *second, sp_mesh *mesh, sp_notes *notes)
{
    const int64_t count = (int64_t)strlen(text);
    sp_includes includes = {open_second, second};
    context.message[0] = 0;
    return format == 'm'   ? sp_volume_parse_msh(&context, text, count, &steel, mesh, notes)
           : format == 'k' ? sp_volume_parse_vtk(&context, text, count, &steel, mesh, notes)
           : format == 'd' ? sp_volume_parse_medit(&context, text, count, &steel, mesh, notes)
           : format == 'i' ? sp_volume_parse_inp(&context, text, count, NULL, &steel, mesh, NULL, NULL, notes)
           : format == 't' ? sp_volume_parse_tetgen(&context, "a.ele", text, count, &includes, &steel, mesh, notes)
                           : sp_volume_parse_comsol(&context, text, count, &steel, mesh, notes);
}

TEST(orders_of_nodes)
{
    for (size_t k = 0; k < sizeof orders / sizeof *orders; k++) {
        const struct order *o = &orders[k];
        const sp_element_type *of = &sp_element_types[o->type];
        char text[ROOM], second[ROOM];
        OWNED(sp_mesh) mesh;
        sp_notes notes;
        write_file(o->format, o->name, of->shape, o->nodes, text, second);
        CHECK(parse(o->format, text, second, &mesh, &notes) == SP_OK, "%c %s: %s", o->format, o->name, context.message);
        CHECK(mesh.block[o->type].count == 1 && sp_mesh_element_count(&mesh) == 1 && mesh.vertex_count == of->nodes,
              "%c %s: %lld vertices", o->format, o->name, (long long)mesh.vertex_count);
        for (int a = 0; mesh.block[o->type].count == 1 && a < of->nodes; a++) {
            double due[3];
            const double *x = mesh.vertices + 3 * mesh.block[o->type].node[a];
            sp_element_node(o->type, a, due);
            CHECK(x[0] == due[0] && x[1] == due[1] && x[2] == due[2], "%c %s: node %d at %g %g %g, not %g %g %g",
                  o->format, o->name, a, x[0], x[1], x[2], due[0], due[1], due[2]);
        }
    }
}

/* A pyramid over the unit square: two tetrahedra of 1/6 m³ each. Its corners are those of a hexahedron here, of which
 * the apex is 4. */
TEST(pyramids)
{
    static const struct {
        char format;
        const char *name, *nodes;
    } of[] = {
        {'m', "7", "0 1 2 3 4"}, {'k', "14", "0 1 2 3 4"}, {'d', "Pyramids", "0 1 2 3 4"}, {'c', "pyr", "0 1 3 2 4"}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char text[ROOM], second[ROOM];
        OWNED(sp_mesh) mesh;
        sp_notes notes;
        write_file(of[k].format, of[k].name, SP_HEXAHEDRON, of[k].nodes, text, second);
        CHECK(parse(of[k].format, text, second, &mesh, &notes) == SP_OK, "%c: %s", of[k].format, context.message);
        CHECK(mesh.block[SP_TET4].count == 2 && sp_mesh_inverted(&mesh, false) == 0, "%c", of[k].format);
        CHECK_NEAR(sp_mesh_volume(&mesh), 8.0 / 3, 1e-15);
        CHECK(notes.count > 0 && strstr(notes.line[0], "1 pyramids are split"), "%c: %s", of[k].format, notes.line[0]);
    }
}

#define HEAD "0 1\n1\n5 mesh1\n1\n3 obj\n0 0 1\n4 Mesh\n"
#define POINTS HEAD "2\n3\n4\n0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n"
#define TET "3 tet\n4\n1\n0 1 2 3\n"

TEST(comsol_features)
{
    OWNED(sp_mesh) mesh;
    sp_notes notes;
    /* faces with parameters, of which a line has more values than the count says; two domains */
    const char *text =
        HEAD "2\n3\n5\n0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 1 1\n2\n3 tri\n3\n1\n0 1 2\n3\n1\n0.5 0.5 1 0 0 1\n1\n0\n"
             "1\n0 1\n3 tet\n4\n2\n0 1 2 3 1 2 3 4\n4\n0\n2\n9\n2\n0\nwhat follows is not read";
    CHECK_OK(sp_volume_parse_comsol(&context, text, (int64_t)strlen(text), &steel, &mesh, &notes));
    CHECK(mesh.block[SP_TET4].count == 2 && mesh.material_count == 2 && mesh.region[0] == 1 && mesh.region[1] == 0,
          "regions %lld %lld", (long long)mesh.region[0], (long long)mesh.region[1]);
    CHECK(!strcmp(mesh.materials[0].name, "domain-2") && !strcmp(mesh.materials[1].name, "domain-9"), "%s",
          mesh.materials[0].name);
    CHECK(notes.count == 0 && mesh.set_count == 1 && !strcmp(mesh.sets->name, "boundary-1") &&
              mesh.sets->kind == SP_SET_FACES && mesh.sets->count == 1 && mesh.sets->index[0] == 0 &&
              mesh.sets->index[1] == 3,
          "%d notes, %lld sets", notes.count, (long long)mesh.set_count);
}

TEST(comsol_errors)
{
    ERROR('c', "", "the file ends inside the mesh");
    ERROR('c', "0 1\n1\n9 mesh1\n", "line 3: a text has 5 bytes where 9 are announced");
    ERROR('c', "0 1\n1\n5 mesh1\n1\n3 obj\n0 0 1\n9 Selection\n",
          "line 7: the first object is of class 'Selection', not Mesh");
    ERROR('c', HEAD "5\n", "line 8: version 5 of the class Mesh is not supported (1 to 4 are)");
    ERROR('c', HEAD "2\n2\n", "line 9: the dimension is 2 instead of 3");
    ERROR('c', HEAD "2\n3\n1000000\n0\n0 0 0\n", "the mesh announces 1000000 vertices, but only");
    ERROR('c', HEAD "2\n3\n-1\n", "the mesh announces -1 vertices");
    ERROR('c', HEAD "2\n3\n1\n0\n0 nan 0\n", "expected a finite number, found \"nan\"");
    ERROR('c', POINTS "-1\n", "line 16: -1 types of elements");
    ERROR('c', POINTS "0\n", "the file has 4 vertices, but no solid elements");
    ERROR('c', POINTS "1\n4 tet3\n", "line 17: elements of type tet3 are not supported");
    ERROR('c', POINTS "1\n3 tet\n5\n", "line 18: elements of type tet have 5 nodes instead of 4");
    ERROR('c', POINTS "1\n3 edg\n0\n", "line 18: elements of type edg have 0 nodes instead of 2");
    ERROR('c', POINTS "1\n3 tet\n4\n1000000\n0 1 2 3\n", "the mesh announces 1000000 elements, but only");
    ERROR('c', POINTS "1\n3 tet\n4\n1\n0 1 2 4\n4\n0\n1\n1\n0\n",
          "line 20: element 1 names vertex 4, but there are 4 vertices, numbered from 0 to 3");
    ERROR('c', POINTS "1\n" TET "4\n0\n2\n1\n1\n0\n", "1 elements have 2 geometric entities");
    ERROR('c', POINTS "1\n" TET "4\n9\n", "the mesh announces 9 parameters, but only");
    ERROR('c', POINTS "1\n" TET "4\n0\n1\n1\n5\n", "the mesh announces 5 pairs, but only");
    ERROR('c', POINTS "1\n" TET, "the file ends inside the mesh");
}
