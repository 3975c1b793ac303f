/* The importer of Gmsh files: public meshes, one small mesh in every variant of the format (text and binary, both byte
 * orders, versions 2.2, 4.0 and 4.1) and cut at every byte, and errors that name the line. */
#include "volume_test.h"

/* ---------------------------------------------------------------- .msh */

static const double cube[8][3] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0},
                                  {0, 0, 1}, {2, 0, 1}, {2, 1, 1}, {0, 1, 1}};

/* A hexahedron 2 × 1 × 1 (nodes 10, 20, …, 80), in the physical volume 7 "box", a tetrahedron of volume 1/3 on nodes
 * 20, 30, 70 and 90 at (4, 1, 0) in 3 (no name), a triangle, a point and a node that nothing uses. */
static void expect_two_elements(const char *name, const struct buffer *file, bool named)
{
    OWNED(sp_mesh) mesh = {0};
    sp_notes notes;
    int status = sp_volume_parse_msh(&context, file->data, file->count, &steel, &mesh, &notes);
    CHECK(status == SP_OK, "%s: %s", name, context.message);
    if (status != SP_OK)
        return;
    check_counts(name, &mesh, 9, 1, 1, 0, 2 + 1.0 / 3);
    CHECK(mesh.block[SP_HEX8].node[0] == 0 && mesh.block[SP_HEX8].node[7] == 7 && mesh.block[SP_TET4].node[3] == 8,
          "%s: corners", name);
    CHECK(mesh.vertices[24] == 4 && mesh.vertices[25] == 1, "%s: vertex 8", name);
    if (named) {
        CHECK(mesh.material_count == 2 && mesh.region[0] == 1 && mesh.region[1] == 0, "%s: regions", name);
        CHECK(strcmp(mesh.materials[1].name, "box") == 0 && strcmp(mesh.materials[0].name, "volume-3") == 0, "%s: %s",
              name, mesh.materials[1].name);
        CHECK(mesh.materials[0].young == steel.young && mesh.materials[0].density == steel.density, "%s: material",
              name);
    } else
        CHECK(mesh.material_count == 1 && strcmp(mesh.materials[0].name, "steel") == 0, "%s: %lld regions", name,
              (long long)mesh.material_count);
    CHECK(notes.count >= 2 && strstr(notes.line[0], "1 of 10 vertices"), "%s: %d notes", name, notes.count);
    /* the point has no group; the triangle may have one, but it is half of a face */
    const bool both = strstr(notes.line[1], "2 points, lines and faces are in no group");
    CHECK(both ? notes.count == 2
               : notes.count == 3 && strstr(notes.line[1], "1 points, lines and faces are in no group") &&
                     strstr(notes.line[2], "1 points and faces of groups are not of the solid elements"),
          "%s: %d notes, %s", name, notes.count, notes.line[1]);
}

static void node_position(int i, double x[3])
{
    static const double extra[2][3] = {{4, 1, 0}, {9, 9, 9}};
    memcpy(x, i < 8 ? cube[i] : extra[i - 8], 3 * sizeof *x);
}

TEST(msh_2_text)
{
    struct buffer file = {.count = 0};
    double x[3];
    put_text(&file, "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Comments\n$Nodes are described here\n$EndComments\n");
    put_text(&file, "$PhysicalNames\n2\n2 7 \"a face\"\n3 7 \"box\"\n$EndPhysicalNames\n$Nodes\n10\n");
    for (int i = 0; i < 10; i++) {
        node_position(i, x);
        put_text(&file, "%d %g %g %g\n", 10 * (i + 1), x[0], x[1], x[2]);
    }
    put_text(&file, "$EndNodes\n$Elements\n4\n1 15 2 0 1 10\n2 2 2 7 5 10 20 30\n3 4 2 3 1 20 30 70 90\n");
    put_text(&file, "4 5 4 7 1 1 1 10 20 30 40 50 60 70 80\n$EndElements\n");
    /* det of the tetrahedron: (x1 − x0) = (0,1,0), (x2 − x0) = (0,1,1), (x3 − x0) = (2,1,0): 2, volume 1/3. */
    expect_two_elements("2.2 text", &file, true);
    for (int64_t n = 0; n < file.count - 1; n++) {
        sp_mesh mesh;
        int status = sp_volume_parse_msh(&context, file.data, n, &steel, &mesh, NULL);
        CHECK(status == SP_INPUT, "the first %lld bytes are read as a mesh", (long long)n);
    }
}

TEST(msh_2_binary)
{
    for (int big = 0; big < 2; big++) {
        struct buffer file = {.count = 0};
        double x[3];
        static const int block[4][13] = {
            {15, 10}, {2, 10, 20, 30}, {4, 20, 30, 70, 90}, {5, 10, 20, 30, 40, 50, 60, 70, 80}};
        static const int nodes[4] = {1, 3, 4, 8}, physical[4] = {0, 7, 3, 7};
        put_text(&file, "$MeshFormat\n2.2 1 8\n");
        put_bytes(&file, 1, 4, big);
        put_text(&file, "\n$EndMeshFormat\n$PhysicalNames\n1\n3 7 \"box\"\n$EndPhysicalNames\n$Nodes\n10\n");
        for (int i = 0; i < 10; i++) {
            node_position(i, x);
            put_bytes(&file, (uint64_t)(10 * (i + 1)), 4, big);
            for (int k = 0; k < 3; k++)
                put_real(&file, x[k], big);
        }
        put_text(&file, "\n$EndNodes\n$Elements\n4\n");
        for (int e = 0; e < 4; e++) {
            put_bytes(&file, (uint64_t)block[e][0], 4, big);
            put_bytes(&file, 1, 4, big);
            put_bytes(&file, 2, 4, big);
            put_bytes(&file, (uint64_t)e + 1, 4, big);
            put_bytes(&file, (uint64_t)physical[e], 4, big);
            put_bytes(&file, 1, 4, big);
            for (int a = 0; a < nodes[e]; a++)
                put_bytes(&file, (uint64_t)block[e][a + 1], 4, big);
        }
        put_text(&file, "\n$EndElements\n");
        expect_two_elements(big ? "2.2 binary, high byte first" : "2.2 binary, low byte first", &file, true);
        for (int64_t n = 0; n < file.count - 1; n++) {
            sp_mesh mesh;
            int status = sp_volume_parse_msh(&context, file.data, n, &steel, &mesh, NULL);
            CHECK(status == SP_INPUT, "the first %lld bytes are read as a mesh", (long long)n);
        }
        /* x of node 20 becomes NaN: 40 bytes of format, 45 of names, 10 of "$Nodes\n10\n", a node of 28 and a number
         * of 4. */
        char *node = memmem(file.data, (size_t)file.count, "$Nodes\n10\n", 10);
        memset(node + 10 + 28 + 4, 0xff, 8);
        expect_error('m', file.data, file.count, NULL, "byte 127: a number in $Nodes is not finite");
    }
}

TEST(msh_4_text)
{
    for (int minor = 0; minor < 2; minor++) {
        struct buffer file = {.count = 0};
        double x[3];
        put_text(&file, "$MeshFormat\n4.%d 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 7 \"box\"\n$EndPhysicalNames\n",
                 minor);
        /* One point, curve and surface, and volumes 11 (group −7: turned) and 12 (group 3). */
        put_text(&file, "$Entities\n1 1 1 2\n1 0 0 0 %s0\n2 0 0 0 1 1 1 0 2 1 -1\n5 0 0 0 1 1 1 1 7 1 2\n",
                 minor ? "" : "0 0 0 ");
        put_text(&file, "11 0 0 0 1 1 1 1 -7 1 5\n12 0 0 0 1 1 1 1 3 0\n$EndEntities\n$Nodes\n2 10%s\n",
                 minor ? " 10 100" : "");
        /* Nine nodes of a volume, one of a surface with its two parameters. */
        put_text(&file, minor ? "3 11 0 9\n" : "11 3 0 9\n");
        for (int i = 0; minor && i < 9; i++)
            put_text(&file, "%d\n", 10 * (i + 1));
        for (int i = 0; i < 10; i++) {
            if (i == 9)
                put_text(&file, minor ? "2 5 1 1\n100\n" : "5 2 1 1\n");
            node_position(i, x);
            if (!minor)
                put_text(&file, "%d ", 10 * (i + 1));
            put_text(&file, "%g %g %g%s\n", x[0], x[1], x[2], i == 9 ? " 0.5 0.5" : "");
        }
        put_text(&file, "$EndNodes\n$Elements\n4 4%s\n", minor ? " 1 4" : "");
        put_text(&file, minor ? "0 1 15 1\n1 10\n2 5 2 1\n2 10 20 30\n3 12 4 1\n"
                              : "1 0 15 1\n1 10\n5 2 2 1\n2 10 20 30\n12 3 4 1\n");
        put_text(&file, "3 20 30 70 90\n%s 5 1\n4 10 20 30 40 50 60 70 80\n$EndElements\n", minor ? "3 11" : "11 3");
        expect_two_elements(minor ? "4.1 text" : "4.0 text", &file, true);
        for (int64_t n = 0; n < file.count - 1; n++) {
            sp_mesh mesh;
            int status = sp_volume_parse_msh(&context, file.data, n, &steel, &mesh, NULL);
            CHECK(status == SP_INPUT, "the first %lld bytes are read as a mesh", (long long)n);
        }
    }
}

static void put_block(struct buffer *file, int minor, int dimension, int tag, int third, uint64_t count)
{
    put_bytes(file, (uint64_t)(minor ? dimension : tag), 4, false);
    put_bytes(file, (uint64_t)(minor ? tag : dimension), 4, false);
    put_bytes(file, (uint64_t)third, 4, false);
    put_bytes(file, count, 8, false);
}

TEST(msh_4_binary)
{
    for (int minor = 0; minor < 2; minor++) {
        struct buffer file = {.count = 0};
        double x[3];
        int id_bytes = minor ? 8 : 4;
        put_text(&file, "$MeshFormat\n4.%d 1 8\n", minor);
        put_bytes(&file, 1, 4, false);
        put_text(&file, "\n$EndMeshFormat\n$PhysicalNames\n1\n3 7 \"box\"\n$EndPhysicalNames\n$Entities\n");
        for (int d = 0; d < 4; d++)
            put_bytes(&file, d == 0 ? 1 : d == 3 ? 2 : 0, 8, false);
        put_bytes(&file, 1, 4, false);
        for (int k = 0; k < (minor ? 3 : 6); k++)
            put_real(&file, 0, false);
        put_bytes(&file, 0, 8, false);
        for (int v = 0; v < 2; v++) {
            put_bytes(&file, (uint64_t)(11 + v), 4, false);
            for (int k = 0; k < 6; k++)
                put_real(&file, k, false);
            put_bytes(&file, 1, 8, false);
            put_bytes(&file, v ? 3 : 7, 4, false);
            put_bytes(&file, 0, 8, false);
        }
        put_text(&file, "\n$EndEntities\n$Nodes\n");
        put_bytes(&file, 1, 8, false);
        put_bytes(&file, 10, 8, false);
        for (int i = 0; minor && i < 2; i++)
            put_bytes(&file, i ? 100 : 10, 8, false);
        put_block(&file, minor, 3, 11, 0, 10);
        for (int i = 0; minor && i < 10; i++)
            put_bytes(&file, (uint64_t)(10 * (i + 1)), 8, false);
        for (int i = 0; i < 10; i++) {
            node_position(i, x);
            if (!minor)
                put_bytes(&file, (uint64_t)(10 * (i + 1)), 4, false);
            for (int k = 0; k < 3; k++)
                put_real(&file, x[k], false);
        }
        put_text(&file, "\n$EndNodes\n$Elements\n");
        static const int corners[4][9] = {
            {1, 10}, {2, 10, 20, 30}, {3, 20, 30, 70, 90}, {4, 10, 20, 30, 40, 50, 60, 70, 80}};
        static const int block[4][4] = {{0, 1, 15, 1}, {2, 5, 2, 3}, {3, 12, 4, 4}, {3, 11, 5, 8}};
        put_bytes(&file, 4, 8, false);
        put_bytes(&file, 4, 8, false);
        for (int i = 0; minor && i < 2; i++)
            put_bytes(&file, i ? 4 : 1, 8, false);
        for (int e = 0; e < 4; e++) {
            put_block(&file, minor, block[e][0], block[e][1], block[e][2], 1);
            for (int a = 0; a <= block[e][3]; a++)
                put_bytes(&file, (uint64_t)corners[e][a], id_bytes, false);
        }
        put_text(&file, "\n$EndElements\n");
        expect_two_elements(minor ? "4.1 binary" : "4.0 binary", &file, true);
        for (int64_t n = 0; n < file.count - 1; n++) {
            sp_mesh mesh;
            int status = sp_volume_parse_msh(&context, file.data, n, &steel, &mesh, NULL);
            CHECK(status == SP_INPUT, "the first %lld bytes are read as a mesh", (long long)n);
        }
        /* A claim of 2⁴⁰ nodes. */
        char *nodes = memmem(file.data, (size_t)file.count, "$Nodes\n", 7);
        nodes[7 + 8 + 5] = 1;
        expect_error('m', file.data, file.count, NULL, "$Nodes announces 1099511627786 nodes, but only");
    }
}

TEST(msh_regions_and_errors)
{
    sp_mesh mesh;
    /* Elements without group beside a group that has the name of the default region. */
    const char *mixed = MSH_2 "$PhysicalNames\n1\n3 2 \"steel\"\n$EndPhysicalNames\n" MSH_NODES
                              "$Elements\n2\n1 4 2 0 1 1 2 3 4\n2 4 2 2 1 1 2 3 4\n$EndElements\n";
    CHECK_OK(sp_volume_parse_msh(&context, mixed, (int64_t)strlen(mixed), &steel, &mesh, NULL));
    CHECK(mesh.material_count == 2 && strcmp(mesh.materials[0].name, "steel") == 0 &&
              strcmp(mesh.materials[1].name, "steel") != 0,
          "%s", mesh.materials ? mesh.materials[1].name : "");
    sp_mesh_free(&mesh);
    /* Numbers far apart take another way than dense ones. */
    const char *sparse = MSH_2 "$Nodes\n4\n2000000000 0 0 0\n5 1 0 0\n-7 0 1 0\n90000 0 0 1\n$EndNodes\n"
                               "$Elements\n1\n1 4 0 2000000000 5 -7 90000\n$EndElements\n";
    CHECK_OK(sp_volume_parse_msh(&context, sparse, (int64_t)strlen(sparse), &steel, &mesh, NULL));
    CHECK(mesh.block[SP_TET4].count == 1 && mesh.block[SP_TET4].node[0] == 0 && mesh.block[SP_TET4].node[3] == 3,
          "%lld", (long long)mesh.block[SP_TET4].count);
    sp_mesh_free(&mesh);

    ERROR('m', "", "the file ends inside $MeshFormat");
    ERROR('m', "solid\n", "does not begin with $MeshFormat");
    ERROR('m', "$NOD\n1\n1 0 0 0\n$ENDNOD\n",
          "the file begins with $NOD: it is of version 1 of Gmsh's format, which is not supported");
    ERROR('m', "$MeshFormat\n3 0 8\n$EndMeshFormat\n", "line 2: version '3' is not supported");
    ERROR('m', "$MeshFormat\n2.2 1 4\n$EndMeshFormat\n", "data size 4 is not supported");
    ERROR('m', MSH_2, "no $Nodes");
    ERROR('m', MSH_2 MSH_NODES, "no $Elements");
    ERROR('m', MSH_2 MSH_NODES MSH_NODES, "line 11: $Nodes occurs twice");
    ERROR('m', MSH_2 "$Nodes\n1000000\n1 0 0 0\n$EndNodes\n", "$Nodes announces 1000000 nodes, but only");
    ERROR('m', MSH_2 "$Nodes\n1\n1 0 inf 0\n$EndNodes\n", "line 6: $Nodes: expected a finite number, found \"inf\"");
    ERROR('m', MSH_2 "$Nodes\n2\n1 0 0 0\n1 0 0 0\n$EndNodes\n$Elements\n0\n$EndElements\n",
          "line 7: vertex 1 is defined twice");
    ERROR('m', MSH_2 "$Nodes\n1\n1 0 0 0\n2 0 0 0\n$EndNodes\n", "line 7: 2 stands where $EndNodes is due");
    ERROR('m', MSH_2 MSH_NODES "$Elements\n0\n$EndElements\n", "4 vertices, but no solid elements");
    ERROR('m', MSH_2 MSH_NODES "$Elements\n1000000\n1 4 0 1 2 3 4\n$EndElements\n",
          "$Elements announces 1000000 elements");
    ERROR('m', MSH_2 MSH_NODES "$Elements\n1\n17 4 0 1 2 3 9000\n$EndElements\n",
          "line 13: element 17 names vertex 9000, but there are 4 vertices, numbered from 1 to 4");
    ERROR('m', MSH_2 MSH_NODES "$Elements\n1\n1 14 0 1 2 3 4 1 2 3 4 1 2 3 4 1 2\n$EndElements\n",
          "line 13: volume elements of type 14 with 14 nodes");
    ERROR('m', MSH_2 MSH_NODES "$Elements\n1\n1 999 0 1 2 3 4\n$EndElements\n",
          "line 13: elements of type 999 are unknown");
    ERROR('m', MSH_2 MSH_NODES "$Elements\n1\n1 4 -1 1 2 3 4\n$EndElements\n", "line 13: an element with -1 tags");
    ERROR('m', MSH_2 MSH_NODES "$NodeData\n1\n", "line 11: the section $NodeData does not end");
    ERROR('m',
          "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 8 1 8\n3 0 0 9\n1\n2\n3\n4\n5\n6\n7\n8\n0 0 0\n0 0 0\n0 0 "
          "0\n0 0 0\n0 0 0\n0 0 "
          "0\n0 0 0\n0 0 0\n0 0 0\n$EndNodes\n",
          "line 6: the blocks have more nodes than $Nodes announces");
    ERROR('m', "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 18446744073709551615 1 8\n",
          "line 5: $Nodes: expected an integer, found \"18446744073709551615\"");
    ERROR('m', "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PartitionedEntities\n",
          "line 4: meshes with $PartitionedEntities are not supported");
}

TEST(public_msh)
{
    static const struct {
        const char *name;
        int64_t nodes, tets, hexes, inverted;
        double volume;
    } list[] = {
        {"tet/bar-6.msh", 8, 6, 0, 0, 5},
        {"tet/bar-186.msh", 86, 186, 0, 0, 5},
        {"tet/bar-651.msh", 292, 651, 0, 0, 5},
        {"tet/bar-2523.msh", 886, 2523, 0, 0, 5},
        {"tet/bar-14114.msh", 3842, 14114, 0, 0, 5},
        {"tet/dinosaur.msh", 13270, 49973, 0, 0, 0.025442},
        {"tet/sphere1K.msh", 1760, 6851, 0, 0, 0.51848},
        {"tet/mat40x40.msh", 3200, 9126, 0, 0, 0.008},
        {"tet/rod.msh", 630, 1722, 0, 0, 0.0012},
        {"tet/microstructure_partly_inverted.msh", 1585, 6414, 0, 8, 0.046719},
        {"reference/fork-TET-2-0.msh", 787, 2111, 0, 0, 1568.3},
        {"reference/fork-TET-1-0.msh", 3292, 12253, 0, 0, 1568.3},
        {"reference/fork-TET-0-5.msh", 18852, 85806, 0, 0, 1568.2},
        {"reference/fork-HEX-2-0.msh", 774, 0, 340, 0, 1563.1},
    };
    if (!test_meshes())
        SKIP("SUPPLE_MESHES is not set");
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        int64_t count;
        sp_mesh mesh;
        char *bytes = load(list[i].name, &count);
        CHECK(bytes != NULL, "%s cannot be read", list[i].name);
        if (!bytes)
            continue;
        int status = sp_volume_parse_msh(&context, bytes, count, &steel, &mesh, NULL);
        CHECK(status == SP_OK, "%s: %s", list[i].name, context.message);
        if (status == SP_OK) {
            check_counts(list[i].name, &mesh, list[i].nodes, list[i].tets, list[i].hexes, list[i].inverted,
                         list[i].volume);
            sp_mesh_free(&mesh);
        }
        free(bytes);
    }
}
