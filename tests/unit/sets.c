/* Named sets: what splitting, cutting, keeping parts and changing types leave of them, against sets that are computed
 * from the places of the new mesh; files; refusals. */
#include "formats_test.h"
#include "mesh/cut.h"
#include "mesh/mesh_sets.h"
#include "typed_mesh.h"

static const double side = 0.5; /* of a cell */

static void centre(const sp_mesh *mesh, int64_t element, double x[3])
{
    int count;
    const int64_t *node = sp_mesh_corner_nodes(mesh, element, &count);
    for (int i = 0; i < 3; i++) {
        x[i] = 0;
        for (int a = 0; a < count; a++)
            x[i] += mesh->vertices[3 * node[a] + i] / count;
    }
}

/* Adds "left", the vertices with x < 1; "low", the elements with their centre in the lower half; "wall", the faces in
 * the plane y = 0, and "inside", the faces in the plane z = 0.5 of the elements below it. */
static void add_sets(sp_mesh *mesh)
{
    OWNED(sp_list) entries = {0};
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        if (mesh->vertices[3 * v] < 1)
            *(int64_t *)sp_list_add(&entries, 1, sizeof v) = v;
    CHECK_OK(sp_mesh_add_to_set(&context, mesh, "left", SP_SET_VERTICES, entries.count, entries.data));
    entries.count = 0;
    for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
        double x[3];
        centre(mesh, e, x);
        if (x[2] < side)
            *(int64_t *)sp_list_add(&entries, 1, sizeof e) = e;
    }
    CHECK_OK(sp_mesh_add_to_set(&context, mesh, "low", SP_SET_ELEMENTS, entries.count, entries.data));
    for (int inside = 0; inside < 2; inside++) {
        entries.count = 0;
        for (int64_t e = 0; e < sp_mesh_element_count(mesh); e++) {
            signed char number[SP_FACE_NODES];
            int64_t within;
            const int type = sp_mesh_type(mesh, e, &within);
            int nodes, count;
            const int64_t *node = sp_mesh_nodes(mesh, e, &nodes);
            double x[3];
            centre(mesh, e, x);
            for (int64_t f = 0; f < sp_element_types[type].faces; f++) {
                bool in_plane = !inside || x[2] < side;
                sp_element_face(type, (int)f, number, &count);
                for (int a = 0; a < count; a++)
                    in_plane &= mesh->vertices[3 * node[number[a]] + (inside ? 2 : 1)] == (inside ? side : 0);
                if (in_plane)
                    memcpy(sp_list_add(&entries, 2, sizeof e), (int64_t[]){e, f}, 2 * sizeof e);
            }
        }
        CHECK_OK(sp_mesh_add_to_set(&context, mesh, inside ? "inside" : "wall", SP_SET_FACES, entries.count / 2,
                                    entries.data));
    }
}

static bool same_set(const sp_mesh_set *a, const sp_mesh_set *b)
{
    return a && b && a->count == b->count &&
           memcmp(a->index, b->index, (size_t)(sp_set_width(a->kind) * a->count) * sizeof *a->index) == 0;
}

/* The sets that a mesh was left with are those that its places give. */
static void check_sets(sp_mesh *mesh, const char *after)
{
    sp_mesh fresh = *mesh;
    CHECK_OK(sp_mesh_check(&context, mesh, 1e-9));
    fresh.pool = (sp_pool){0};
    fresh.set_count = 0;
    fresh.sets = NULL;
    add_sets(&fresh);
    CHECK(mesh->set_count == fresh.set_count, "%s: %lld sets, not %lld", after, (long long)mesh->set_count,
          (long long)fresh.set_count);
    for (int64_t i = 0; i < fresh.set_count; i++)
        CHECK(same_set(sp_mesh_find_set(mesh, fresh.sets[i].name, fresh.sets[i].kind), &fresh.sets[i]), "%s: %s", after,
              fresh.sets[i].name);
    sp_pool_free(&fresh.pool);
}

TEST(edits)
{
    static const int types[] = {SP_HEX8, SP_TET4, SP_TET10, SP_HEX20, SP_HEX27, SP_WEDGE6, SP_WEDGE18};
    for (size_t k = 0; k < sizeof types / sizeof types[0]; k++) {
        OWNED(sp_mesh) mesh;
        sp_mesh made;
        OWNED(sp_pool) pool = {0};
        int64_t *origin, dropped;
        int to[SP_ELEMENT_TYPES];
        make_typed(types[k], 3, 2, 2, side, 0, true, &mesh);
        add_sets(&mesh);
        check_sets(&mesh, "nothing");
        const int64_t elements = sp_mesh_element_count(&mesh);
        CHECK(mesh.set_count == 4, "%lld sets", (long long)mesh.set_count);
        for (int t = 0; t < SP_ELEMENT_TYPES; t++)
            to[t] = sp_element_linear_type(t);
        CHECK_OK(sp_mesh_retype(&context, &mesh, to, &made));
        check_sets(&made, "dropping middles");
        sp_mesh_free(&made);
        bool *keep = sp_pool_new(&pool, elements, sizeof *keep);
        int64_t *sides = sp_pool_new(&pool, elements, sizeof *sides);
        for (int64_t e = 0; e < elements; e++) {
            double x[3];
            centre(&mesh, e, x);
            keep[e] = x[0] > 0.5;
            sides[e] = keep[e];
        }
        CHECK_OK(sp_mesh_keep(&context, &mesh, keep, &pool, &made, &origin));
        check_sets(&made, "keeping a part");
        sp_mesh_free(&made);
        CHECK_OK(sp_mesh_cut(&context, &mesh, sides, &pool, &made, &origin, &dropped));
        CHECK(made.vertex_count > mesh.vertex_count, "no copies");
        check_sets(&made, "cutting");
        sp_mesh_free(&made);
        if (sp_mesh_linear(&mesh)) {
            CHECK_OK(sp_mesh_split(&context, &mesh, &made));
            check_sets(&made, "splitting");
            sp_mesh_free(&made);
        }
    }
}

/* Entries are sorted and kept once; a second addition joins; a part without entries has no set. */
TEST(additions)
{
    OWNED(sp_mesh) mesh, made;
    OWNED(sp_pool) pool = {0};
    int64_t *origin, *vertices, count;
    bool keep[2] = {true, false};
    make_typed(SP_HEX20, 2, 1, 1, side, 0, true, &mesh);
    CHECK_OK(sp_mesh_add_to_set(&context, &mesh, "a", SP_SET_VERTICES, 4, (int64_t[]){9, 3, 9, 5}));
    CHECK_OK(sp_mesh_add_to_set(&context, &mesh, "a", SP_SET_VERTICES, 2, (int64_t[]){5, 4}));
    CHECK_OK(sp_mesh_add_to_set(&context, &mesh, "a", SP_SET_FACES, 2, (int64_t[]){1, 4, 1, 1}));
    CHECK_OK(sp_mesh_add_to_set(&context, &mesh, "none", SP_SET_FACES, 0, NULL));
    CHECK(mesh.set_count == 2 && mesh.sets[0].count == 4 &&
              memcmp(mesh.sets[0].index, (int64_t[]){3, 4, 5, 9}, 4 * sizeof(int64_t)) == 0 &&
              memcmp(mesh.sets[1].index, (int64_t[]){1, 1, 1, 4}, 4 * sizeof(int64_t)) == 0,
          "joined sets");
    CHECK(sp_mesh_find_any_set(&mesh, "a") == &mesh.sets[0] && !sp_mesh_find_any_set(&mesh, "b"), "any set");
    char text[100];
    sp_mesh_list_sets(&mesh, text, sizeof text);
    CHECK(strcmp(text, "vertices \"a\" (4), faces \"a\" (2)") == 0, "%s", text);
    /* two adjacent quadrilaterals with eight nodes have three in common */
    CHECK_OK(sp_mesh_set_vertices(&context, &mesh, &mesh.sets[1], &pool, &count, &vertices));
    CHECK(count == 13, "%lld vertices", (long long)count);
    CHECK_OK(sp_mesh_keep(&context, &mesh, keep, &pool, &made, &origin));
    CHECK(!sp_mesh_find_set(&made, "a", SP_SET_FACES), "a set of faces of another part");
}

static blob file_with(sp_mesh *mesh)
{
    int descriptor = new_file();
    sp_writer *writer;
    json_t *meta = json_loads(META("mesh", ""), 0, NULL), *result = json_object();
    CHECK_OK(sp_writer_open(&context, descriptor, &writer));
    CHECK_OK(sp_mesh_write(&context, writer, meta, mesh));
    CHECK_OK(sp_file_write_result(writer, result));
    CHECK_OK(sp_writer_close(writer));
    json_decref(meta);
    json_decref(result);
    blob bytes = blob_of(descriptor);
    close(descriptor);
    return bytes;
}

TEST(files)
{
    OWNED(sp_mesh) mesh, got;
    make_typed(SP_TET10, 3, 2, 2, side, 0, true, &mesh);
    add_sets(&mesh);
    blob bytes = file_with(&mesh);
    CHECK_OK(read_blob(bytes, false, read_mesh, &got));
    check_sets(&got, "writing and reading");
    free(bytes.data);
}

/* A set of a mesh that is wrong in one way, written without a check and read. */
static void refuse_set(const char *name, sp_set_kind kind, int64_t count, const int64_t *index, const char *words,
                       int line)
{
    OWNED(sp_mesh) mesh;
    make_typed(SP_HEX8, 2, 1, 1, side, 0, true, &mesh);
    sp_mesh_set sets[2] = {{.kind = kind, .count = count, .index = (int64_t *)index},
                           {.name = "other", .kind = SP_SET_VERTICES, .count = 1, .index = (int64_t[]){3}}};
    snprintf(sets[0].name, sizeof sets[0].name, "%s", name);
    mesh.set_count = 2;
    mesh.sets = sets;
    refuse(file_with(&mesh), read_mesh, words, line);
}

TEST(refusals)
{
    refuse_set("s", SP_SET_VERTICES, 2, (int64_t[]){0, 12}, "\"s\" names vertex 12 of 12", __LINE__);
    refuse_set("s", SP_SET_VERTICES, 2, (int64_t[]){-1, 2}, "\"s\" names vertex -1 of 12", __LINE__);
    refuse_set("s", SP_SET_ELEMENTS, 1, (int64_t[]){2}, "\"s\" names element 2 of 2", __LINE__);
    refuse_set("s", SP_SET_FACES, 1, (int64_t[]){1, 6}, "\"s\" names face 6 of element 1", __LINE__);
    refuse_set("s", SP_SET_FACES, 1, (int64_t[]){2, 0}, "\"s\" names element 2 of 2", __LINE__);
    refuse_set("s", SP_SET_FACES, 2, (int64_t[]){1, 1, 1, 1}, "entry 1 does not increase", __LINE__);
    refuse_set("s", SP_SET_VERTICES, 2, (int64_t[]){4, 4}, "entry 1 does not increase", __LINE__);
    refuse_set("", SP_SET_VERTICES, 1, (int64_t[]){4}, "the name is empty", __LINE__);
    refuse_set("a\nb", SP_SET_VERTICES, 1, (int64_t[]){4}, "a control character", __LINE__);
    refuse_set("other", SP_SET_VERTICES, 1, (int64_t[]){4}, "two sets of vertices with the name \"other\"", __LINE__);
    refuse_set("s", SP_SET_VERTICES, 0, (int64_t[]){4}, "\"count\"", __LINE__);
}

#define CUBE                                                                                                           \
    {"vertices", SP_F8, false, 2, {8, 3}, corner}, {"hex", SP_I8, false, 2, {1, 8}, hex},                              \
        {"region", SP_I8, false, 1, {1}, none},                                                                        \
    {                                                                                                                  \
        "fixed", SP_I8, false, 1, {0}, zero                                                                            \
    }
#define SETS(text)                                                                                                     \
    META("mesh", ",\"quadrature\":2,\"materials\":[{\"name\":\"m\",\"law\":\"stvk\",\"density\":1,\"young\":1,"        \
                 "\"poisson\":0}],\"sets\":" text)

/* Descriptions that do not agree with the members. */
TEST(descriptions)
{
    static const double corner[24] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1};
    static const int64_t hex[8] = {0, 1, 2, 3, 4, 5, 6, 7}, none[1] = {0}, two[2] = {1, 2};
    const member plain[] = {CUBE, {0}}, with[] = {CUBE, {"sets/vertices", SP_I8, false, 1, {2}, two}, {0}};
    REFUSE(make(SETS("[{\"name\":\"a\",\"of\":\"vertices\",\"count\":1}]"), plain, 0), read_mesh, "more entries");
    REFUSE(make(SETS("[{\"name\":\"a\",\"of\":\"vertices\",\"count\":1}]"), with, 0), read_mesh,
           "there are 2 entries, the sets have 1");
    REFUSE(make(SETS("[{\"name\":\"a\",\"of\":\"edges\",\"count\":2}]"), with, 0), read_mesh, "of \"edges\"");
    REFUSE(make(SETS("[{\"name\":\"a\",\"of\":\"vertices\",\"count\":9223372036854775807}]"), with, 0), read_mesh,
           "more entries");
    REFUSE(make(SETS("[{\"name\":\"a\",\"of\":\"vertices\",\"count\":2,\"size\":1}]"), with, 0), read_mesh,
           "the unknown key \"size\"");
    REFUSE(make(SETS("{}"), with, 0), read_mesh, "not an array");
    REFUSE(make(SETS("[3]"), with, 0), read_mesh, "\"name\"");
    REFUSE(make(SETS("[]"), with, 0), read_mesh, "there are 2 entries, the sets have 0");
}

BEFORE_TESTS()
{
    context.threads = 2;
}
