/* Named sets that importers keep: of Gmsh, Abaqus, Medit and COMSOL, on a body whose faces and nodes are known; what is
 * left when elements are turned; files that ask for too much. */
#include "mesh/mesh_sets.h"
#include "volume_test.h"

/* Two cubes in a row along x, with the nodes (i, j, k) numbered 1 + i + 3 j + 6 k. */
static void put_nodes(struct buffer *b, bool numbered)
{
    for (int v = 0; v < 12; v++) {
        if (numbered)
            put_text(b, "%d ", v + 1);
        put_text(b, "%d %d %d\n", v % 3, v / 3 % 2, v / 6);
    }
}

#define CUBE_1 "1 2 5 4 7 8 11 10"
#define CUBE_2 "2 3 6 5 8 9 12 11"

/* A set with these entries: vertices or elements, or elements and faces. */
static void expect_set(const sp_mesh *mesh, const char *name, sp_set_kind kind, int64_t count, const int64_t *entries,
                       int line)
{
    const sp_mesh_set *set = sp_mesh_find_set(mesh, name, kind);
    char all[500];
    sp_mesh_list_sets(mesh, all, sizeof all);
    CHECK(set && set->count == count &&
              memcmp(set->index, entries, (size_t)(sp_set_width(kind) * count) * sizeof *entries) == 0,
          "line %d: %s of %s: %s", line, name, sp_set_kind_names[kind], all);
}

#define SET(name, kind, count, ...) expect_set(&mesh, name, kind, count, (const int64_t[]){__VA_ARGS__}, __LINE__)

/* Both versions: named surfaces, one of them between the cubes, a surface in two groups, an unnamed curve, a point. */
TEST(gmsh)
{
    for (int major = 2; major <= 4; major += 2) {
        struct buffer b = {.count = 0};
        OWNED(sp_mesh) mesh = {0};
        sp_notes notes;
        put_text(&b,
                 "$MeshFormat\n%s 0 8\n$EndMeshFormat\n$PhysicalNames\n5\n2 1 \"left end\"\n2 2 \"middle\"\n"
                 "2 5 \"ends\"\n0 4 \"tip\"\n3 9 \"bar\"\n$EndPhysicalNames\n",
                 major == 2 ? "2.2" : "4.1");
        if (major == 4)
            put_text(&b, "$Entities\n1 1 3 1\n7 2 1 1 1 4\n8 0 0 0 1 0 0 1 3 0\n"
                         "10 0 0 0 0 1 1 2 1 5 0\n11 2 0 0 2 1 1 1 5 0\n12 1 0 0 1 1 1 1 -2 0\n"
                         "1 0 0 0 2 1 1 1 9 0\n$EndEntities\n");
        put_text(&b, major == 2 ? "$Nodes\n12\n" : "$Nodes\n1 12 1 12\n3 1 0 12\n");
        for (int v = 0; v < 12 && major == 4; v++)
            put_text(&b, "%d\n", v + 1);
        put_nodes(&b, major == 2);
        put_text(&b, "$EndNodes\n$Elements\n%s\n", major == 2 ? "9" : "6 7 1 7");
        if (major == 2)
            put_text(&b, "1 3 2 1 10 1 4 10 7\n2 3 2 5 10 1 4 10 7\n3 3 2 5 11 3 6 12 9\n4 3 2 2 12 2 5 11 8\n"
                         "5 1 2 3 8 1 2\n6 1 2 3 8 2 3\n7 15 2 4 7 12\n8 5 2 9 1 " CUBE_1 "\n9 5 2 9 1 " CUBE_2
                         "\n$EndElements\n");
        else
            put_text(&b, "2 10 3 1\n1 1 4 10 7\n2 11 3 1\n2 3 6 12 9\n2 12 3 1\n3 2 5 11 8\n1 8 1 2\n4 1 2\n5 2 3\n"
                         "0 7 15 1\n6 12\n3 1 5 2\n7 " CUBE_1 "\n8 " CUBE_2 "\n$EndElements\n");
        if (major == 4) /* the count of the last block is part of the total */
            memcpy(strstr(b.data, "6 7 1 7\n"), "6 8 1 8\n", 8);
        int status = sp_volume_parse_msh(&context, b.data, b.count, &steel, &mesh, &notes);
        CHECK(status == SP_OK && notes.count == 0, "version %d: %s", major, status ? context.message : notes.line[0]);
        if (status != SP_OK)
            continue;
        SET("left end", SP_SET_FACES, 1, 0, 0);
        SET("ends", SP_SET_FACES, 2, 0, 0, 1, 1);
        SET("middle", SP_SET_FACES, 1, 0, 1);
        SET("curve-3", SP_SET_VERTICES, 3, 0, 1, 2);
        SET("tip", SP_SET_VERTICES, 1, 11);
        CHECK(mesh.set_count == 5, "version %d: %lld sets", major, (long long)mesh.set_count);
        CHECK_OK(sp_mesh_check(&context, &mesh, 1e-9));
    }
}

/* The faces S1 to S6 of CalculiX's manual, by their nodes. */
TEST(faces_of_abaqus)
{
    static const struct {
        int type;
        const char *faces[6];
    } of[] = {{SP_HEX8, {"1234", "5876", "1265", "2376", "3487", "4158"}},
              {SP_TET4, {"123", "142", "243", "341"}},
              {SP_WEDGE6, {"123", "465", "1254", "2365", "3146"}}};
    for (size_t k = 0; k < 3; k++)
        for (int s = 0; s < 6; s++) {
            const char *nodes = of[k].faces[s];
            const int face = sp_element_abaqus_face(of[k].type, s + 1);
            signed char node[SP_FACE_NODES];
            int corners = 0, same = 0;
            CHECK((face < 0) == !nodes, "type %d: S%d", of[k].type, s + 1);
            if (face < 0 || !nodes)
                continue;
            sp_element_face(of[k].type, face, node, &corners);
            for (int a = 0; a < corners; a++)
                same += strchr(nodes, '1' + node[a]) != NULL;
            CHECK(same == corners && corners == (int)strlen(nodes), "type %d: S%d", of[k].type, s + 1);
        }
    CHECK(sp_element_abaqus_face(SP_HEX8, 0) < 0 && sp_element_abaqus_face(SP_HEX8, 7) < 0, "S0, S7");
}

#define INP_NODES                                                                                                      \
    "*NODE, NSET=Nall\n1,0,0,0\n2,1,0,0\n3,2,0,0\n4,0,1,0\n5,1,1,0\n6,2,1,0\n7,0,0,1\n8,1,0,1\n9,2,0,1\n10,0,1,1\n"    \
    "11,1,1,1\n12,2,1,1\n*ELEMENT, TYPE=C3D8, ELSET=Eall\n1,"                                                          \
    "1,2,5,4,7,8,11,10\n2,"                                                                                            \
    "2,3,6,5,8,9,12,11\n"

TEST(abaqus)
{
    const char *text =
        INP_NODES "*NSET, NSET=\"left end\", GENERATE\n1,10,3\n*NSET,NSET=both\nleft END, 12\n"
                  "*ELSET,ELSET=second\n2\n*SURFACE, NAME=top\nEall, S2\n*SURFACE, NAME=skin, TYPE=ELEMENT\n"
                  "second,\n*SURFACE, NAME=odd\n1, S6\nsecond, S4\n*SURFACE, NAME=few, TYPE=NODE\nboth,\n3, 1.\n"
                  "*SURFACE, NAME=mixed, COMBINE=UNION\ntop, skin\n";
    OWNED(sp_mesh) mesh;
    sp_notes notes;
    CHECK_OK(sp_volume_parse_inp(&context, text, (int64_t)strlen(text), NULL, &steel, &mesh, NULL, NULL, &notes));
    SET("Nall", SP_SET_VERTICES, 12, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    SET("left end", SP_SET_VERTICES, 4, 0, 3, 6, 9);
    SET("both", SP_SET_VERTICES, 5, 0, 3, 6, 9, 11);
    SET("Eall", SP_SET_ELEMENTS, 2, 0, 1);
    SET("second", SP_SET_ELEMENTS, 1, 1);
    SET("top", SP_SET_FACES, 2, 0, 5, 1, 5);
    SET("skin", SP_SET_FACES, 5, 1, 1, 1, 2, 1, 3, 1, 4, 1, 5); /* all but the one between the cubes */
    SET("odd", SP_SET_FACES, 2, 0, 0, 1, 1);
    SET("few", SP_SET_VERTICES, 6, 0, 2, 3, 6, 9, 11);
    CHECK(mesh.set_count == 9 && notes.count == 2 && strstr(notes.line[0], "the surface mixed is passed over"),
          "%lld sets, %d notes: %s", (long long)mesh.set_count, notes.count, notes.line[0]);
#define SURFACE(lines, words)                                                                                          \
    expect_error('a', INP_NODES "*SURFACE, NAME=s\n" lines, (int64_t)strlen(INP_NODES "*SURFACE, NAME=s\n" lines),     \
                 NULL, words)
    SURFACE("Eall, S7\n", "'S7' is no face of a solid element");
    SURFACE("Eall, top\n", "'top' is no face of a solid element");
    SURFACE("none, S1\n", "line 18: the set of elements none is not defined");
    SURFACE("3, S1\n", "line 18: there is no element 3");
    expect_error('a', INP_NODES "*SURFACE\nEall, S1\n", (int64_t)strlen(INP_NODES "*SURFACE\nEall, S1\n"), NULL,
                 "*SURFACE without NAME=");
}

/* Sets of the part and of the assembly with the same names, with a reference node that has the number of a node of the
 * part; a bare name of *BOUNDARY means the set of the assembly, "instance.name" that of the part. */
TEST(assembly)
{
#define PART                                                                                                           \
    "*PART, NAME=P\n*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,1,1,1\n*ELEMENT,TYPE=C3D4,ELSET=E\n1,1,2,3,4\n"       \
    "2,2,3,4,5\n*NSET,NSET=S\n4,5\n*ELSET,ELSET=S\n1,2\n*SURFACE,NAME=F\nS,S1\n"                                       \
    "*SOLID SECTION,ELSET=S,MATERIAL=M\n*END PART\n"
#define ASSEMBLY                                                                                                       \
    "*ASSEMBLY,NAME=A\n*INSTANCE,NAME=I-1,PART=P\n*END INSTANCE\n*NODE\n1,5,5,5\n*NSET,NSET=R\n1\n"                    \
    "*NSET,NSET=S,INSTANCE=I-1\n1,2,3\n*NSET,NSET=T\nI-1.2,I-1.S\n*ELSET,ELSET=S,INSTANCE=I-1\n2\n"                    \
    "*SURFACE,NAME=F\nS,S1\n*END ASSEMBLY\n*MATERIAL,NAME=M\n*ELASTIC\n1e6,0.3\n*DENSITY\n1\n"
    static const struct {
        const char *boundary;
        int64_t fixed;
        const char *remark;
    } of[] = {{"S,1,3\n", 3, ""},
              {"I-1.S,1,3\n", 2, ""},
              {"i-1.4,1,3\n", 1, ""},
              {"T,1,3\n", 3, ""},
              {"E,1,3\n", -1, ""},
              {"I-1.T,1,3\n", -1, ""},
              {"J.S,1,3\n", -1, ""},
              {"R,1,3\n", 0, "nodes without solid elements"},
              {"1,1,3\n", 0, "nodes without solid elements"}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        char text[2048];
        OWNED(sp_mesh) mesh = {0};
        sp_notes notes;
        snprintf(text, sizeof text, PART ASSEMBLY "*BOUNDARY\n%s", of[k].boundary);
        int status =
            sp_volume_parse_inp(&context, text, (int64_t)strlen(text), NULL, &steel, &mesh, NULL, NULL, &notes);
        CHECK((status == SP_OK) == (of[k].fixed >= 0), "%s: %s", of[k].boundary, context.message);
        if (status != SP_OK)
            continue;
        bool seen = !*of[k].remark;
        for (int n = 0; n < notes.count; n++)
            seen |= strstr(notes.line[n], of[k].remark) != NULL;
        CHECK(mesh.fixed_count == of[k].fixed && seen, "%s: %lld", of[k].boundary, (long long)mesh.fixed_count);
        SET("S", SP_SET_VERTICES, 3, 0, 1, 2);
        SET("I-1.S", SP_SET_VERTICES, 2, 3, 4);
        SET("T", SP_SET_VERTICES, 3, 1, 3, 4);
        SET("S", SP_SET_ELEMENTS, 1, 1);
        SET("I-1.S", SP_SET_ELEMENTS, 2, 0, 1);
        SET("E", SP_SET_ELEMENTS, 2, 0, 1);
        SET("I-1.F", SP_SET_FACES, 2, 0, 3, 1, 3);
        SET("F", SP_SET_FACES, 1, 1, 3);
    }
#define LEVELS(text, words) expect_error('a', text, (int64_t)strlen(text), NULL, words)
    LEVELS(PART PART, "a second *PART");
    LEVELS(PART ASSEMBLY "*INSTANCE,NAME=I-2,PART=P\n", "a second *INSTANCE");
    LEVELS(PART "*INSTANCE,NAME=I-2,PART=P\n1,0,0\n", "that is moved");
    LEVELS(PART ASSEMBLY "*BOUNDARY\n9,1,3\n", "node 9 is not defined");
}

/* As Gmsh writes physical surfaces: faces of first and second order become sets, those inside or outside the body too,
 * or are counted. */
TEST(plane_elements)
{
    const char *text =
        INP_NODES "*ELEMENT, TYPE=CPS4, ELSET=left\n11,1,4,10,7\n12,2,5,11,8\n*ELEMENT, TYPE=CPS4R, ELSET=left\n"
                  "13,3,6,12,9\n*ELEMENT, TYPE=CPE4, ELSET=odd\n14,1,2,3,4\n*ELEMENT, TYPE=CAX4\n15,1,4,10,7\n";
    const char *quadratic =
        "*NODE\n1,0,0,0\n2,1,0,0\n3,0,1,0\n4,0,0,1\n5,.5,0,0\n6,.5,.5,0\n7,0,.5,0\n8,0,0,.5\n9,.5,0,.5\n10,0,.5,.5\n"
        "*ELEMENT,TYPE=C3D10\n1,1,2,3,4,5,6,7,8,9,10\n*ELEMENT,TYPE=CPS6,ELSET=base\n2,1,2,3,5,6,7\n";
    sp_mesh mesh;
    sp_notes notes;
    char all[1000] = "";
    CHECK_OK(sp_volume_parse_inp(&context, text, (int64_t)strlen(text), NULL, &steel, &mesh, NULL, NULL, &notes));
    SET("left", SP_SET_FACES, 3, 0, 0, 0, 1, 1, 1);
    for (int n = 0; n < notes.count; n++)
        strncat(strncat(all, notes.line[n], 160), "\n", 2);
    CHECK(strstr(all, "5 plane elements, the first of type CPS4, are read as faces of the solids") &&
              strstr(all, "1 points, lines and faces are in no group") &&
              strstr(all, "1 points and faces of groups are not of the solid elements"),
          "%s", all);
    CHECK_OK(sp_mesh_check(&context, &mesh, 1e-9));
    sp_mesh_free(&mesh);
    CHECK_OK(
        sp_volume_parse_inp(&context, quadratic, (int64_t)strlen(quadratic), NULL, &steel, &mesh, NULL, NULL, NULL));
    SET("base", SP_SET_FACES, 1, 0, 3);
    sp_mesh_free(&mesh);
#define PLANE(text, words) expect_error('a', text, (int64_t)strlen(text), NULL, words)
    PLANE("*NODE\n1,0,0\n2,1,0\n3,0,1\n*ELEMENT,TYPE=CPS3\n1,1,2,3\n",
          "line 5: elements of type CPS3 are not supported without solids");
    PLANE("*NODE\n1,0,0\n2,1,0\n3,0,1\n*ELEMENT,TYPE=CPS5\n1,1,2,3\n",
          "line 5: elements of type CPS5 are not supported (");
    PLANE(INP_NODES "*ELEMENT, TYPE=CPS3\n3,1,2\n", "element 3 has 2 of 3 nodes");
}

/* Names that are too long, and many sets of all nodes in few lines: notes, and the mesh is read. */
TEST(too_much)
{
    struct buffer b = {.count = 0};
    sp_mesh mesh;
    sp_notes notes;
    put_text(&b, INP_NODES "*NSET, NSET=");
    for (int i = 0; i < 70; i++)
        put_text(&b, "a");
    put_text(&b, "\n1\n");
    CHECK_OK(sp_volume_parse_inp(&context, b.data, b.count, NULL, &steel, &mesh, NULL, NULL, &notes));
    CHECK(mesh.set_count == 2 && notes.count == 2 && strstr(notes.line[1], "is passed over: its name is not UTF-8"),
          "%lld sets: %s", (long long)mesh.set_count, notes.line[1]);
    sp_mesh_free(&mesh);
    /* 90,000 sets of all 12 nodes would be 1.08 million entries; the mesh may have 10,000 sets */
    char *text = malloc(3 << 20);
    int64_t count = sprintf(text, "%s", INP_NODES);
    for (int i = 0; i < 90000; i++)
        count += sprintf(text + count, "*NSET,NSET=%d\nNall\n", i);
    CHECK_OK(sp_volume_parse_inp(&context, text, count, NULL, &steel, &mesh, NULL, NULL, &notes));
    CHECK(mesh.set_count == SP_SETS_MAX && notes.count == 2 && strstr(notes.line[1], "more than 10000 sets"),
          "%lld sets: %s", (long long)mesh.set_count, notes.line[0]);
    CHECK_OK(sp_mesh_check(&context, &mesh, 1e-9));
    sp_mesh_free(&mesh);
    free(text);
}

/* References of faces and edges; the base of a pyramid between a cube and nothing. */
TEST(medit)
{
    struct buffer b = {.count = 0};
    OWNED(sp_mesh) mesh;
    sp_notes notes;
    put_text(&b, "MeshVersionFormatted 2\nDimension 3\nVertices\n13\n");
    for (int v = 0; v < 12; v++)
        put_text(&b, "%d %d %d 0\n", v % 3, v / 3 % 2, v / 6);
    put_text(&b, "3 0.5 0.5 0\nHexahedra\n1\n" CUBE_1 " 1\nPyramids\n1\n2 5 11 8 13 1\nQuadrilaterals\n2\n1 4 10 7 5\n"
                 "2 5 11 8 6\nTriangles\n2\n2 5 13 7\n5 11 1 7\nEdges\n1\n4 10 8\nEnd\n");
    CHECK_OK(sp_volume_parse_medit(&context, b.data, b.count, &steel, &mesh, &notes));
    SET("surface-5", SP_SET_FACES, 1, 0, 0);
    /* of the cube and of the two halves of the pyramid's base */
    const sp_mesh_set *base = sp_mesh_find_set(&mesh, "surface-6", SP_SET_FACES);
    CHECK(base && base->count == 3 && base->index[0] == 0 && base->index[1] == 1 && base->index[2] == 1 &&
              base->index[4] == 2,
          "the base of the pyramid");
    const sp_mesh_set *side = sp_mesh_find_set(&mesh, "surface-7", SP_SET_FACES);
    CHECK(side && side->count == 1, "a side of the pyramid");
    SET("edge-8", SP_SET_VERTICES, 2, 2, 6);
    CHECK(strstr(notes.line[notes.count - 1], "1 points and faces of groups"), "%s", notes.line[notes.count - 1]);
    CHECK_OK(sp_mesh_check(&context, &mesh, 1e-9));
}

/* Turned elements keep the faces of their sets: the vertices of a set stay the same. */
TEST(turned)
{
    static const char *const types[] = {"C3D4", "C3D6", "C3D8", "C3D10"};
    static const char *const elements[] = {"2,1,4,7", "2,1,4,8,7,10", "2,1,4,5,8,7,10,11", "2,1,4,7,30,31,32,33,34,35"};
    for (int k = 0; k < 4; k++) {
        struct buffer b = {.count = 0};
        OWNED(sp_mesh) mesh;
        sp_notes notes;
        put_text(&b, INP_NODES "30,0.5,0,0\n");
        b.count = strstr(b.data, "*ELEMENT") - b.data;
        put_text(&b, "30,0.5,0,0\n31,0,0.5,0\n32,0.5,0.5,0\n33,0.5,0,0.5\n34,0,0,0.5\n35,0,0.5,0.5\n");
        put_text(&b, "*ELEMENT, TYPE=%s, ELSET=e\n1,%s\n", types[k], elements[k]);
        for (int f = 1; f <= 4; f++)
            put_text(&b, "*SURFACE, NAME=f%d\ne, S%d\n", f, f);
        CHECK_OK(sp_volume_parse_inp(&context, b.data, b.count, NULL, &steel, &mesh, NULL, NULL, &notes));
        OWNED(sp_pool) pool = {0};
        int64_t count[2], *vertices[2];
        CHECK(mesh.set_count == 6, "%s: %lld sets", types[k], (long long)mesh.set_count);
        int64_t *before[6], counts[6];
        for (int64_t i = 0; i < mesh.set_count; i++)
            CHECK_OK(sp_mesh_set_vertices(&context, &mesh, &mesh.sets[i], &pool, &counts[i], &before[i]));
        CHECK(sp_mesh_inverted(&mesh, true) == 1, "%s is not turned", types[k]);
        CHECK_OK(sp_mesh_check(&context, &mesh, 1e-9));
        for (int64_t i = 0; i < mesh.set_count; i++) {
            CHECK_OK(sp_mesh_set_vertices(&context, &mesh, &mesh.sets[i], &pool, &count[1], &vertices[1]));
            CHECK(count[1] == counts[i] && memcmp(vertices[1], before[i], (size_t)counts[i] * sizeof(int64_t)) == 0,
                  "%s: set %s", types[k], mesh.sets[i].name);
        }
    }
}
