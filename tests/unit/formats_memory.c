/* formats/ when jansson runs out of memory: every function reports it and writes nothing incomplete. */
#include "formats/field.h"
#include "formats_test.h"

/* Allocation `fails_at` of jansson from now on fails; 0: none. */
static long fails_at, allocated;

static void *short_malloc(size_t bytes)
{
    return ++allocated == fails_at ? NULL : malloc(bytes);
}

static void begin_short(long n)
{
    allocated = 0;
    fails_at = n;
}

static int write_mesh(sp_writer *writer, json_t *meta)
{
    static double vertices[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    static int64_t tet[4] = {0, 1, 2, 3}, region, origin[4] = {0, 1, 2, 3};
    static sp_material materials[] = {
        {.name = "plain", .law = SP_LAW_STVK, .density = 1000, .young = 1e6, .poisson = 0.4},
        {.name = "wood",
         .law = SP_LAW_LINEAR,
         .density = 500,
         .stiffness = {1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 1},
         .frame = {1, 0, 0, 0, 1, 0, 0, 0, 1}},
        {.name = "rubber",
         .law = SP_LAW_MOONEY_RIVLIN,
         .density = 900,
         .mooney = {1, 2, 3},
         .fibre = SP_FIBRE_FUNG,
         .fibre_stiffness = 5,
         .fibre_exponent = 2,
         .fibre_direction = {1, 0, 0}},
    };
    const sp_mesh mesh = {.vertex_count = 4,
                          .vertices = vertices,
                          .block[SP_TET4].count = 1,
                          .block[SP_TET4].node = tet,
                          .region = &region,
                          .material_count = 3,
                          .materials = materials,
                          .quadrature = 2};
    return sp_mesh_write_cut(&context, writer, meta, &mesh, "a hash", origin);
}

static int write_field(sp_writer *writer, json_t *meta)
{
    static float distance[8];
    const sp_field field = {.spacing = 1, .cells = {1, 1, 1}, .distance = distance};
    return sp_field_write(&context, writer, meta, &field);
}

/* Fails each allocation of `write` in turn, until all succeed. */
static void check_writer(const char *what, int (*write)(sp_writer *, json_t *))
{
    int status = SP_SYSTEM;
    long n = 0;
    while (status == SP_SYSTEM && n < 10000) {
        sp_writer *writer;
        const int descriptor = new_file();
        json_t *meta = json_pack("{s:s}", "kind", what);
        CHECK_OK(sp_writer_open(&context, descriptor, &writer));
        begin_short(++n);
        status = write(writer, meta);
        const long made = allocated;
        begin_short(0);
        CHECK(status == SP_OK ? made < n : !strcmp(context.message, "out of memory"),
              "%s, allocation %ld of %ld: status %d, %s", what, n, made, status, context.message);
        sp_writer_abandon(writer);
        json_decref(meta);
        close(descriptor);
    }
    CHECK(status == SP_OK, "%s: status %d without a failure", what, status);
    NOTE("%s: %ld allocations", what, n - 1);
}

TEST(writers)
{
    check_writer("mesh", write_mesh);
    check_writer("field", write_field);
}

/* Strings of fewer than 16 bytes: jansson loses bytes of longer ones without an error. */
TEST(texts)
{
    static const char text[] = "{\"kind\": \"mesh\", \"numbers\": [1, 2.5, {\"a\": null}], \"b\": \"caf\\u00e9\"}";
    json_error_t error;
    long n = 0;
    for (json_t *object = NULL; !object && n < 1000;) {
        begin_short(++n);
        object = sp_json_load(text, (int64_t)strlen(text), &error);
        CHECK(object || sp_json_short(&error), "allocation %ld: %s", n, error.text);
        CHECK(!object || allocated < n, "allocation %ld failed, and there is an object", n);
        begin_short(0);
        json_decref(object);
    }
    NOTE("%ld allocations", n - 1);
    for (int i = 0; i < 4; i++) {
        static const char *const wrong[] = {"{\"a\": \"\\q\"}", "{\"a\" 1}", "{\"a\": \"b", "[nil]"};
        CHECK(!sp_json_load(wrong[i], (int64_t)strlen(wrong[i]), &error) && !sp_json_short(&error), "%s", wrong[i]);
    }
}

BEFORE_TESTS()
{
    json_set_alloc_funcs(short_malloc, free);
}
