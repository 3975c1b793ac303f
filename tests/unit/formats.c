/* The files of formats/: round trips through files, pipes and other programs, and refusals of truncated and damaged
 * files. */
#include "formats_test.h"

/* ---- round trips ---- */

/* Opens a writer on a new file with meta of a kind; `end_writing` gives the bytes. */
static int writing;
static sp_writer *begin_writing(const char *meta, json_t **object)
{
    sp_writer *writer;
    writing = new_file();
    *object = json_loads(meta, 0, NULL);
    CHECK_OK(sp_writer_open(&context, writing, &writer));
    return writer;
}

static blob end_writing(sp_writer *writer, json_t *meta)
{
    json_t *result = json_pack("{s:[]}", "warnings");
    CHECK_OK(sp_file_write_result(writer, result));
    CHECK_OK(sp_writer_close(writer));
    json_decref(result);
    json_decref(meta);
    blob bytes = blob_of(writing);
    close(writing);
    return bytes;
}

static blob write_columns(const char *kind, const sp_columns *columns)
{
    char text[200];
    json_t *meta;
    snprintf(text, sizeof text, "{\"kind\":\"%s\",\"format_version\":\"1.0\",\"tool\":\"test\"}", kind);
    sp_writer *writer = begin_writing(text, &meta);
    CHECK_OK(sp_columns_write(&context, writer, meta, columns));
    return end_writing(writer, meta);
}

static sp_columns modes_example(void)
{
    static double eigenvalue[2] = {-1e-9, 4e6}, residual[2] = {1e-12, 0};
    return (sp_columns){.rows = 6,
                        .count = 2,
                        .U = U,
                        .eigenvalue = eigenvalue,
                        .residual = residual,
                        .lumped = true,
                        .rigid = 1,
                        .mesh = HASH};
}

TEST(columns_round_trip)
{
    static int64_t pair[4] = {0, 0, 0, 1};
    static double singular[2] = {2, 0};
    sp_columns modes = modes_example();
    sp_columns derivatives = {.rows = 6, .count = 2, .U = U, .pair = pair, .order = 1, .mesh = HASH};
    sp_columns basis = {.rows = 6, .count = 2, .U = U, .singular_value = singular, .lumped = false};
    sp_columns shapes = {.rows = 6, .count = 2, .U = U};
    const struct {
        const char *kind;
        const sp_columns *columns;
    } table[] = {{"modes", &modes}, {"derivatives", &derivatives}, {"basis", &basis}, {"snapshots", &shapes}};
    for (int i = 0; i < 4; i++) {
        const sp_columns *wrote = table[i].columns;
        blob bytes = write_columns(table[i].kind, wrote);
        for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
            OWNED(sp_columns) got = {0};
            int status = read_blob(bytes, as_pipe, read_columns, &got);
            CHECK(status == SP_OK, "%s: %s", table[i].kind, context.message);
            if (status != SP_OK)
                continue;
            CHECK(got.rows == 6 && got.count == 2 && same(got.U, U, 12), "%s: U", table[i].kind);
            CHECK(!wrote->eigenvalue == !got.eigenvalue &&
                      (!got.eigenvalue || same(got.eigenvalue, wrote->eigenvalue, 2)),
                  "%s", table[i].kind);
            CHECK(!wrote->residual == !got.residual && (!got.residual || same(got.residual, wrote->residual, 2)), "%s",
                  table[i].kind);
            CHECK(!wrote->pair == !got.pair && (!got.pair || same(got.pair, wrote->pair, 4)), "%s", table[i].kind);
            CHECK(!wrote->singular_value == !got.singular_value &&
                      (!got.singular_value || same(got.singular_value, singular, 2)),
                  "%s", table[i].kind);
            CHECK(got.order == wrote->order && got.lumped == wrote->lumped && got.rigid == wrote->rigid &&
                      !strcmp(got.mesh, wrote->mesh),
                  "%s", table[i].kind);
        }
        free(bytes.data);
    }
}

/* [[2 −1 0] [−1 2 −1] [0 −1 2]] */
static sp_sparse sparse_example(void)
{
    static int64_t start[4] = {0, 2, 5, 7}, index[7] = {0, 1, 0, 1, 2, 1, 2};
    static double value[7] = {2, -1, -1, 2, -1, -1, 2};
    return (sp_sparse){.order = 3, .start = start, .index = index, .value = value};
}

static blob write_sparse(void)
{
    sp_sparse matrix = sparse_example();
    json_t *meta;
    sp_writer *writer = begin_writing(META("sparse", ",\"mesh\":\"" HASH "\""), &meta);
    CHECK_OK(sp_sparse_write(&context, writer, meta, &matrix, (int64_t[]){0, 4, 5}, "K"));
    return end_writing(writer, meta);
}

TEST(sparse_round_trip)
{
    sp_sparse wrote = sparse_example(), got;
    blob bytes = write_sparse();
    for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
        int status = read_blob(bytes, as_pipe, read_sparse, &got);
        CHECK(status == SP_OK, "%s", context.message);
        if (status != SP_OK)
            continue;
        CHECK(got.order == 3 && same(got.start, wrote.start, 4) && same(got.index, wrote.index, 7) &&
                  same(got.value, wrote.value, 7),
              "arrays");
        CHECK(same(read_dof, (int64_t[]){0, 4, 5}, 3) && !strcmp(read_which, "K"), "dof or which");
        sp_sparse_free(&got);
    }
    free(bytes.data);
}

static blob write_polynomials(int64_t count)
{
    sp_polynomial_part parts[2];
    sp_polynomials polynomials = polynomials_example(parts, count);
    json_t *meta;
    sp_writer *writer = begin_writing(META("polynomials", ",\"mesh\":\"\",\"basis\":\"" HASH "\""), &meta);
    CHECK_OK(sp_polynomials_write(&context, writer, meta, &polynomials));
    return end_writing(writer, meta);
}

TEST(polynomials_round_trip)
{
    for (int64_t count = 1; count <= 2; count++) {
        blob bytes = write_polynomials(count);
        for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
            OWNED(sp_polynomials) got = {0};
            sp_polynomial_part parts[2];
            sp_polynomials wrote = polynomials_example(parts, count);
            int status = read_blob(bytes, as_pipe, read_polynomials, &got);
            CHECK(status == SP_OK, "%s", context.message);
            if (status != SP_OK)
                continue;
            CHECK(got.r == 2 && got.part_count == count && got.density == 1.5, "numbers");
            CHECK(same(got.mass, wrote.mass, 4) && same(got.gravity, wrote.gravity, 6), "mass or gravity");
            CHECK(got.symmetrized == (count == 1) && got.group_count == wrote.group_count,
                  "symmetrized or the number of groups");
            for (int64_t g = 0; g < got.group_count; g++)
                CHECK(!strcmp(got.groups[g].name, wrote.groups[g].name) &&
                          got.groups[g].density == wrote.groups[g].density &&
                          same(got.groups[g].mass, wrote.groups[g].mass, 4) &&
                          same(got.groups[g].gravity, wrote.groups[g].gravity, 6),
                      "group %d", (int)g);
            for (int64_t i = 0; i < count; i++)
                CHECK(!strcmp(got.parts[i].group, parts[i].group) && got.parts[i].constant == parts[i].constant &&
                          got.parts[i].value == parts[i].value && same(got.parts[i].gram, parts[i].gram, 25),
                      "part %d", (int)i);
            CHECK(!strcmp(read_basis_hash, HASH) && !read_mesh_hash[0], "hashes");
        }
        free(bytes.data);
    }
}

static blob write_mesh(void)
{
    static double surface[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, weights[24];
    static int64_t triangle[3] = {0, 2, 1}, fixed[2] = {1, 6};
    static uint8_t axes[2] = {7, 5};
    static double factor[2] = {2, 0.5}, fibre[3] = {0.48, 0.64, -0.6};
    weights[0] = weights[8 + 1] = weights[16 + 3] = 1;
    sp_material material = {.name = "bone",
                            .law = SP_LAW_STVK,
                            .density = 1000,
                            .young = 1e6,
                            .poisson = 0.3,
                            .damping_stiffness = 0.001,
                            .fibre = SP_FIBRE_FUNG,
                            .fibre_stiffness = 3e5,
                            .fibre_exponent = 1.5,
                            .fibre_direction = {0, 0.6, 0.8}};
    sp_mesh mesh = {.vertex_count = 8,
                    .vertices = cube,
                    .block[SP_HEX8].count = 1,
                    .block[SP_HEX8].node = corners,
                    .region = zero,
                    .factor = factor,
                    .fibre = fibre,
                    .fixed_count = 2,
                    .fixed = fixed,
                    .fixed_axes = axes,
                    .quadrature = 3,
                    .material_count = 1,
                    .materials = &material,
                    .surface = {.vertex_count = 3,
                                .triangle_count = 1,
                                .vertices = surface,
                                .triangles = triangle,
                                .element = zero,
                                .width = 8,
                                .weights = weights}};
    json_t *meta;
    sp_writer *writer = begin_writing(META("mesh", ""), &meta);
    CHECK_OK(sp_mesh_write(&context, writer, meta, &mesh));
    return end_writing(writer, meta);
}

TEST(mesh_round_trip)
{
    blob bytes = write_mesh();
    for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
        OWNED(sp_mesh) got = {0};
        int status = read_blob(bytes, as_pipe, read_mesh, &got);
        CHECK(status == SP_OK, "%s", context.message);
        if (status != SP_OK)
            continue;
        CHECK(got.vertex_count == 8 && same(got.vertices, cube, 24) && got.block[SP_HEX8].count == 1 &&
                  same(got.block[SP_HEX8].node, corners, 8) && got.block[SP_TET4].count == 0,
              "elements");
        CHECK(got.fixed_count == 2 && same(got.fixed, (int64_t[]){1, 6}, 2) && got.fixed_axes[0] == 7 &&
                  got.fixed_axes[1] == 5,
              "fixed");
        CHECK(got.quadrature == 3 && got.material_count == 1 && !strcmp(got.materials->name, "bone") &&
                  got.materials->young == 1e6 && got.materials->poisson == 0.3 &&
                  got.materials->damping_stiffness == 0.001,
              "materials");
        CHECK(got.materials->fibre == SP_FIBRE_FUNG && got.materials->fibre_stiffness == 3e5 &&
                  got.materials->fibre_exponent == 1.5 &&
                  same(got.materials->fibre_direction, (double[]){0, 0.6, 0.8}, 3),
              "fibres");
        CHECK(same(got.factor, (double[]){2, 0.5}, 2) && same(got.fibre, (double[]){0.48, 0.64, -0.6}, 3),
              "factor and fibre");
        CHECK(got.surface.vertex_count == 3 && got.surface.triangle_count == 1 && got.surface.weights[9] == 1,
              "surface");
    }
    free(bytes.data);
}

static int edit(const char *text, sp_material *materials, sp_helix *helices)
{
    json_t *json = json_loads(text, 0, NULL);
    CHECK(json, "%s", text);
    int status = sp_materials_edit(&context, json, 3, materials, helices);
    json_decref(json);
    return status;
}

/* Materials that a text does not name stay, for every law. */
TEST(edited_materials)
{
    sp_material was[3] =
        {{.name = "bone", .law = SP_LAW_STVK, .density = 1000, .young = 1e6, .poisson = 0.3, .damping_mass = 0.5},
         {.name = "gum", .law = SP_LAW_MOONEY_RIVLIN, .density = 900, .mooney = {1, 2, 3}},
         {.name = "wood", .law = SP_LAW_LINEAR, .density = 700, .frame = {0, 1, 0, 0, 0, 1, 1, 0, 0}}},
                now[3];
    sp_helix helices[3];
    for (int i = 0, at = 0; i < 6; at += 6 - i++)
        was[2].stiffness[at] = 1 + i;
    memcpy(now, was, sizeof was);
    CHECK_OK(
        edit("[{\"name\": \"gum\", \"density\": 950}, {\"name\": \"wood\", \"fibre\": \"stvk\", \"fibre_stiffness\": 4,"
             " \"fibre_direction\": {\"helix\": {\"axis\": [0, -3, 4], \"centre\": [7, 8, 9], \"angle\": -20}}}]",
             now, helices));
    CHECK(!memcmp(&now[0], &was[0], sizeof was[0]), "bone is as it was");
    CHECK(now[1].density == 950 && now[1].law == SP_LAW_MOONEY_RIVLIN && same(now[1].mooney, was[1].mooney, 3), "gum");
    CHECK(now[2].law == SP_LAW_LINEAR && same(now[2].stiffness, was[2].stiffness, 21) &&
              same(now[2].frame, was[2].frame, 9) && now[2].fibre == SP_FIBRE_STVK && now[2].fibre_stiffness == 4,
          "wood");
    CHECK(now[2].fibre_direction[0] == 0 && now[2].fibre_direction[1] == -0.6 && now[2].fibre_direction[2] == 0.8,
          "the axis is the region's direction");
    for (int m = 0; m < 3; m++)
        CHECK(same(helices[m].axis, m == 2 ? (double[]){0, -3, 4} : (double[]){0, 0, 0}, 3), "axis %d", m);
    CHECK(same(helices[2].centre, (double[]){7, 8, 9}, 3) && helices[2].angle == -20, "helix");
    CHECK_OK(edit("{\"name\": \"gum\", \"law\": \"neo-hookean\", \"young\": 5, \"poisson\": 0.1}", now, helices));
    CHECK(now[1].law == SP_LAW_NEO_HOOKEAN && now[1].young == 5 && helices[2].axis[1] == 0, "one object, no helix");
    CHECK_OK(edit("{\"name\": \"wood\", \"fibre\": \"none\"}", now, helices));
    CHECK(now[2].fibre == SP_FIBRE_NONE, "fibres taken away");
#define FIBRE_OF(direction)                                                                                            \
    "{\"name\": \"bone\", \"fibre\": \"stvk\", \"fibre_stiffness\": 1, \"fibre_direction\": " direction "}"
    static const char *const refused[][2] = {
        {"[]", "no material"},
        {"[3]", "not a JSON object"},
        {"{\"name\": \"skin\", \"density\": 1}", "the mesh has no region \"skin\""},
        {"[{\"name\": \"gum\"}, {\"name\": \"gum\"}]", "\"gum\" occurs twice"},
        {"{\"name\": \"gum\", \"colour\": 1}", "unknown key \"colour\""},
        {"{\"name\": \"bone\", \"law\": \"mooney-rivlin\"}", "\"mooney\" is not an array"},
        {FIBRE_OF("{}"), "\"helix\" is not a JSON object"},
        {FIBRE_OF("{\"helix\": 3}"), "\"helix\" is not a JSON object"},
        {FIBRE_OF("{\"spiral\": 3}"), "unknown key \"spiral\""},
        {FIBRE_OF("{\"helix\": {\"axis\": [1, 0, 0], \"centre\": [0, 0, 0]}}"), "\"angle\" is missing"},
        {FIBRE_OF("{\"helix\": {\"axis\": [1, 0], \"centre\": [0, 0, 0], \"angle\": 0}}"),
         "\"axis\" is not an array of 3 numbers"},
        {FIBRE_OF("{\"helix\": {\"axis\": [1, 0, 0], \"angle\": 0}}"), "\"centre\" is not an array of 3 numbers"},
        {FIBRE_OF("{\"helix\": {\"axis\": [1, 0, 0], \"centre\": [0, 0, 0], \"angle\": 0, \"pitch\": 1}}"),
         "a helix has the unknown key \"pitch\""},
        {FIBRE_OF("{\"helix\": {\"axis\": [0, 0, 0], \"centre\": [0, 0, 0], \"angle\": 0}}"),
         "the axis of a helix has the length 0"},
        {FIBRE_OF("{\"helix\": {\"axis\": [1e200, 0, 0], \"centre\": [0, 0, 0], \"angle\": 0}}"),
         "the axis of a helix has the length inf"},
        {"{\"name\": \"bone\", \"fibre_direction\": {\"helix\": {\"axis\": [1, 0, 0], \"centre\": [0, 0, 0], "
         "\"angle\": 0}}}",
         "\"fibre_direction\" but no fibres"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        CHECK(edit(refused[i][0], now, helices) == SP_INPUT && strstr(context.message, refused[i][1]), "%s: %s",
              refused[i][0], context.message);
#undef FIBRE_OF
}

/* q_j of frame i is i + j/100, u is −i − (its place)/1000. */
static blob write_trajectory(int64_t r, int64_t points, const int64_t *vertex, int64_t vertices, int64_t frames)
{
    json_t *meta;
    sp_trajectory_writer *trajectory;
    sp_writer *writer = begin_writing(META("trajectory", ",\"mesh\":\"" HASH "\",\"basis\":\"" HASH "\""), &meta);
    double *q = test_new(4 * r + 12 * points + 1, sizeof *q), *qdot = q + r, *u = qdot + r, *udot = u + 3 * points;
    CHECK_OK(sp_trajectory_begin(
        &context, writer, meta,
        &(sp_trajectory_layout){.r = r, .point_count = points, .vertex = vertex, .vertex_count = vertices},
        &trajectory));
    for (int64_t i = 0; i < frames; i++) {
        sp_frame frame = {
            .time = 0.01 * (double)i, .q = q, .qdot = qdot, .u = u, .udot = udot, .energy = {(double)i, 1, 2, 3}};
        for (int64_t j = 0; j < r; j++) {
            q[j] = (double)i + 0.01 * (double)j;
            qdot[j] = 2 * q[j];
        }
        for (int64_t j = 0; j < 3 * points; j++) {
            u[j] = -(double)i - 0.001 * (double)j;
            udot[j] = 3 * u[j];
        }
        CHECK_OK(sp_trajectory_append(trajectory, &frame));
    }
    CHECK_OK(sp_trajectory_finish(trajectory));
    return end_writing(writer, meta);
}

static bool frames_are_right(const sp_trajectory *t, int64_t first)
{
    for (int64_t k = 0; k < t->frame_count; k++) {
        int64_t i = first + k;
        if (t->time[k] != 0.01 * (double)i || t->energy[4 * k] != (double)i || t->energy[4 * k + 3] != 3)
            return false;
        for (int64_t j = 0; j < t->r; j++)
            if (t->q[k * t->r + j] != (double)i + 0.01 * (double)j || t->qdot[k * t->r + j] != 2 * t->q[k * t->r + j])
                return false;
        for (int64_t j = 0; j < 3 * t->point_count; j++)
            if (t->u[k * 3 * t->point_count + j] != -(double)i - 0.001 * (double)j ||
                t->udot[k * 3 * t->point_count + j] != 3 * t->u[k * 3 * t->point_count + j])
                return false;
    }
    return true;
}

TEST(trajectory_round_trip)
{
    static const int64_t vertex[3] = {8, 2, 5};
    /* 30 coordinates: 8 (1 + 60 + 4) = 520 bytes per frame, so 2016 of them in 2^20 bytes */
    const struct {
        int64_t r, points;
        const int64_t *vertex;
        int64_t vertices, frames, room;
    } table[] = {{30, 0, NULL, 9, 5000, 2016},
                 {0, 9, NULL, 9, 40, 2221},
                 {2, 3, vertex, 9, 4300, 4096},
                 {1, 30000, NULL, 30000, 3, 1}};
    for (int i = 0; i < 4; i++) {
        blob bytes = write_trajectory(table[i].r, table[i].points, table[i].vertex, table[i].vertices, table[i].frames);
        for (int as_pipe = 0; as_pipe < 2; as_pipe++) {
            OWNED(sp_trajectory) got = {0};
            int status = read_blob(bytes, as_pipe, read_trajectory, &got);
            CHECK(status == SP_OK, "%s", context.message);
            if (status != SP_OK)
                continue;
            CHECK(got.frame_count == table[i].frames && got.r == table[i].r && got.point_count == table[i].points &&
                      got.vertex_count == table[i].vertices,
                  "case %d", i);
            CHECK(frames_are_right(&got, 0), "case %d: values", i);
            CHECK(!got.q == !table[i].r && !got.u == !table[i].points, "case %d: absent arrays", i);
            CHECK(table[i].vertex ? same(got.vertex, vertex, 3) : !got.vertex, "case %d: vertex", i);
            CHECK(strlen(got.hash) == 64 && !got.truncated && got.result, "case %d: end", i);
        }
        /* block by block */
        int descriptor = file_of(bytes);
        sp_trajectory_stream *stream;
        CHECK_OK(sp_trajectory_open(&context, descriptor, false, &stream));
        int64_t frames = 0;
        for (;;) {
            sp_trajectory block;
            CHECK_OK(sp_trajectory_next(stream, &block));
            if (block.frame_count == 0) {
                CHECK(block.result && block.hash[0], "case %d: the end", i);
                break;
            }
            int64_t left = table[i].frames - frames;
            CHECK(block.frame_count == (left < table[i].room ? left : table[i].room), "case %d: a block of %d frames",
                  i, (int)block.frame_count);
            CHECK(frames_are_right(&block, frames), "case %d: block values", i);
            frames += block.frame_count;
        }
        CHECK(frames == table[i].frames, "case %d: %d frames", i, (int)frames);
        sp_trajectory_close(stream);
        close(descriptor);
        free(bytes.data);
    }
}

/* ---- the container ---- */

TEST(same_input_same_bytes)
{
    blob a = write_polynomials(2), b = write_polynomials(2);
    CHECK(a.size == b.size && !memcmp(a.data, b.data, (size_t)a.size), "two runs differ");
    free(a.data);
    free(b.data);
}

static uint32_t number_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* Those who read members one after the other find the next by the size in the local header, for any version of
 * libarchive. */
TEST(local_headers_have_sizes)
{
    static const double values[3] = {1, 2, 3};
    blob file =
        make(NULL, (member[]){{"abc", SP_F8, false, 1, {2}, values}, {"d", SP_F8, false, 1, {3}, values}, {0}}, 0);
    const unsigned char *at = file.data;
    const uint32_t expected[2] = {128 + 16, 128 + 24};

    for (int i = 0; i < 2; i++) {
        const uint32_t size = number_at(at + 18);
        CHECK(!memcmp(at, "PK\3\4", 4) && size == expected[i] && number_at(at + 22) == size, "member %d: %u bytes", i,
              size);
        at += 30 + (uint32_t)(at[26] | at[27] << 8) + (uint32_t)(at[28] | at[29] << 8) + size;
        CHECK(!memcmp(at, "PK\7\10", 4) && number_at(at + 8) == size, "member %d: what stands behind it", i);
        at += 16;
    }
    free(file.data);
}

static bool wants_nothing(void *data, const char *name)
{
    (void)data;
    (void)name;
    return false;
}

/* The definition by hand: name, NUL, header, data; result is no part of it. */
TEST(hash_is_as_defined)
{
    unsigned char bytes[4 + 128 + 16], *at = bytes;
    double values[2] = {1, -2};
    memcpy(at, "abc", 4);
    memset(at + 4, ' ', 128);
    static const char header[] = "\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }";
    memcpy(at + 4, header, sizeof header - 1);
    at[4 + 127] = '\n';
    memcpy(at + 132, values, 16);
    struct sha256_ctx state;
    uint8_t digest[SHA256_DIGEST_SIZE];
    char expected[2 * SHA256_DIGEST_SIZE + 1];
    sha256_init(&state);
    sha256_update(&state, sizeof bytes, bytes);
    sha256_digest(&state, sizeof digest, digest);
    for (int i = 0; i < SHA256_DIGEST_SIZE; i++)
        sprintf(expected + 2 * i, "%02x", digest[i]);
    blob file = make(NULL, (member[]){{"abc", SP_F8, false, 1, {2}, values}, {0}}, 0);
    OWNED(sp_file) got;
    CHECK_OK(read_blob(file, false, read_any, &got));
    CHECK(!strcmp(got.hash, expected), "%s is not %s", got.hash, expected);
    int descriptor = file_of(file); /* also if the data is skipped */
    sp_reader *input;
    sp_array array;
    OWNED(sp_pool) pool = {0};
    char hash[SP_HASH_LENGTH];
    CHECK_OK(sp_reader_open(&context, descriptor, false, &input));
    do
        CHECK_OK(sp_reader_next(input, &pool, wants_nothing, NULL, &array));
    while (array.name[0]);
    sp_reader_hash(input, hash);
    CHECK(!strcmp(hash, expected), "passed over: %s", hash);
    sp_reader_close(input);
    close(descriptor);
    free(file.data);
}

TEST(refuses_other_files)
{
    static const double one = 1;
    const member x[] = {{"x", SP_F8, false, 1, {1}, &one}, {0}};
    const member twice[] = {{"x", SP_F8, false, 1, {1}, &one}, {"x", SP_F8, false, 1, {1}, &one}, {0}};
    const member after[] = {{"result", SP_U1, false, 1, {2}, "{}"}, {"x", SP_F8, false, 1, {1}, &one}, {0}};
    const member not_text[] = {{"meta", SP_F8, false, 1, {1}, &one}, {0}};
    const member no_hash[] = {{"result", SP_U1, false, 1, {2}, "{}"}, {0}};
    const member bad_hash[] = {{"result", SP_U1, false, 1, {14}, "{\"sha256\":\"x\"}"}, {0}};
    const char *const bad_version[] = {"2.0", "0.9",  "1",    "1.x",  "x",
                                       "",    " 1.0", "1.0 ", "+1.0", "99999999999999999999.0"};
    REFUSE(text_blob("", 0), read_any, "not a Supple file");
    REFUSE(text_blob("P", 1), read_any, "not a Supple file");
    REFUSE(text_blob("*NODE\n1, 0, 0, 0\n", 17), read_any, "not a Supple file");
    REFUSE(make(NULL, x, 0), read_ours, "no meta");
    REFUSE(make(META("mesh", ""), x, NO_RESULT), read_any, "not result");
    REFUSE(make(META("mesh", ""), twice, 0), read_any, "member x occurs twice");
    REFUSE(make(META("mesh", ""), after, NO_RESULT), read_any, "follows result");
    REFUSE(make(META("mesh", ""), no_hash, NO_RESULT), read_any, "sha256");
    REFUSE(make(META("mesh", ""), bad_hash, NO_RESULT), read_any, "sha256");
    REFUSE(make(NULL, not_text, 0), read_any, "meta is not a text");
    REFUSE(make("[]", x, 0), read_any, "not a JSON object");
    REFUSE(make("{", x, 0), read_any, "not JSON");
    REFUSE(make("{\"kind\":\"mesh\",\"kind\":\"mesh\",\"format_version\":\"1.0\"}", x, 0), read_any, "not JSON");
    REFUSE(make("{\"format_version\":\"1.0\"}", x, 0), read_any, "\"kind\"");
    REFUSE(make("{\"kind\":\"mesh\"}", x, 0), read_any, "\"format_version\"");
    for (size_t i = 0; i < sizeof bad_version / sizeof *bad_version; i++) {
        char meta[100];
        snprintf(meta, sizeof meta, "{\"kind\":\"mesh\",\"format_version\":\"%s\"}", bad_version[i]);
        REFUSE(make(meta, x, 0), read_any, "format version");
    }
    blob later = make("{\"kind\":\"mesh\",\"format_version\":\"1.12\"}", x, 0); /* a later minor version is accepted */
    CHECK_OK(read_blob(later, false, read_any, NULL));
    free(later.data);
    sp_file file;
    blob bytes = write_polynomials(1);
    int descriptor = file_of(bytes);
    CHECK(sp_file_read(&context, descriptor, (const char *const[]){"mesh", "basis", NULL}, true, false, &file) ==
                  SP_INPUT &&
              strstr(context.message, "polynomials, expected mesh or basis"),
          "%s", context.message);
    close(descriptor);
    bytes.data = realloc(bytes.data, (size_t)bytes.size + 100); /* bytes after the end */
    memset(bytes.data + bytes.size, 0, 100);
    bytes.size += 100;
    REFUSE(bytes, read_any, "cut short or damaged");
}

/* A claim of 2^40 values in a pipe without data must not allocate the memory. */
TEST(claims_are_not_believed)
{
    static const char local[] = "PK\3\4\12\0\10\0\0\0\0\0\41\0\0\0\0\0\0\0\0\0\0\0\0\0\5\0\0\0x.npy";
    unsigned char bytes[35 + 128];
    memcpy(bytes, local, 35);
    const char *const shape[] = {"(1099511627776,)", "(4611686018427387904,)", "(9223372036854775807, 0)", "(-1,)",
                                 "(1, 1, 1, 1, 1)"};
    for (int i = 0; i < 5; i++) {
        char text[128];
        memset(bytes + 35, ' ', 128);
        memcpy(bytes + 35, "\x93NUMPY\x01\x00v\x00", 10);
        int length = snprintf(text, sizeof text, "{'descr': '<f8', 'fortran_order': False, 'shape': %s, }", shape[i]);
        memcpy(bytes + 35 + 10, text, (size_t)length);
        bytes[35 + 127] = '\n';
        blob claim = {bytes, sizeof bytes};
        for (int as_pipe = 0; as_pipe < 2; as_pipe++)
            CHECK(read_blob(claim, as_pipe, read_any, NULL) == SP_INPUT && strstr(context.message, "cut short"), "%s",
                  context.message);
    }
}

TEST(says_what_the_system_says)
{
    static const double one = 1;
    int full = open("/dev/full", O_WRONLY), descriptor = open("/dev/null", O_WRONLY);
    sp_writer *writer;
    if (full < 0 || descriptor < 0)
        SKIP("no /dev/full");
    CHECK(read_any(descriptor, NULL) == SP_SYSTEM && strstr(context.message, "cannot read"), "%s", context.message);
    CHECK_OK(sp_writer_open(&context, full, &writer));
    CHECK(sp_writer_array(writer, "x", SP_F8, false, 1, (int64_t[]){1}, &one) == SP_SYSTEM &&
              strstr(context.message, "No space"),
          "%s", context.message);
    CHECK(sp_writer_close(writer) == SP_SYSTEM, "closing after a failed write");
    CHECK_OK(sp_writer_open(&context, full, &writer));
    sp_writer_abandon(writer);
    sp_writer_abandon(NULL);
    int half = new_file(); /* abandoning the file writes nothing more */
    CHECK_OK(sp_writer_open(&context, half, &writer));
    CHECK_OK(sp_writer_array(writer, "x", SP_F8, false, 1, (int64_t[]){1}, &one));
    int64_t length = lseek(half, 0, SEEK_CUR);
    sp_writer_abandon(writer);
    CHECK(length > 0 && lseek(half, 0, SEEK_END) == length, "an abandoned file goes on");
    close(half);
    close(full);
    close(descriptor);
}

static bool same_members(const sp_members *a, const sp_members *b)
{
    if (a->count != b->count)
        return false;
    for (int64_t i = 0; i < a->count; i++) {
        const sp_array *x = &a->arrays[i], *y = &b->arrays[i];
        if (strcmp(x->name, y->name) || x->type != y->type || x->fortran != y->fortran || x->rank != y->rank ||
            x->size != y->size || memcmp(x->shape, y->shape, sizeof x->shape) ||
            memcmp(x->data, y->data, (size_t)x->count * (size_t)x->size))
            return false;
    }
    return true;
}

/* With any byte flipped the file is refused, or all values are the same (dates, comments). In a name, a header or data
 * it must be refused. */
TEST(flipped_bytes)
{
    blob files[] = {write_mesh(), write_polynomials(2), write_sparse()};
    int64_t passed = 0, total = 0;
    for (int f = 0; f < 3; f++) {
        OWNED(sp_file) whole;
        CHECK_OK(read_blob(files[f], false, read_any, &whole));
        int descriptor = file_of(files[f]);
        for (int64_t i = 0; i < files[f].size; i++)
            for (int mask = 0; mask < 2; mask++) {
                unsigned char byte = (unsigned char)(files[f].data[i] ^ (mask ? 255 : 1 << i % 8));
                sp_file got;
                total++;
                if (pwrite(descriptor, &byte, 1, i) != 1)
                    abort();
                lseek(descriptor, 0, SEEK_SET);
                int status = read_any(descriptor, &got);
                CHECK(status == SP_OK || status == SP_INPUT, "file %d, byte %d: status %d, %s", f, (int)i, status,
                      context.message);
                if (status == SP_OK) {
                    passed++;
                    CHECK(same_members(&whole.members, &got.members),
                          "file %d: byte %d flipped, and something else is read", f, (int)i);
                    sp_file_free(&got);
                }
                if (pwrite(descriptor, &files[f].data[i], 1, i) != 1)
                    abort();
            }
        close(descriptor);
        free(files[f].data);
    }
    NOTE("%lld of %lld flips change nothing that is read", (long long)passed, (long long)total);
    CHECK(passed < total / 4, "too many flips pass");
}

TEST(truncation)
{
    sp_columns modes = modes_example();
    blob files[] = {write_mesh(), write_columns("modes", &modes), write_sparse(), write_trajectory(2, 0, NULL, 9, 5)};
    const reader readers[] = {read_mesh, read_columns, read_sparse, read_trajectory};
    for (int f = 0; f < 4; f++) {
        int descriptor = file_of(files[f]);
        for (int64_t size = files[f].size - 1; size >= 0; size--) {
            if (ftruncate(descriptor, size))
                abort();
            lseek(descriptor, 0, SEEK_SET);
            CHECK(readers[f](descriptor, NULL) == SP_INPUT, "file %d cut to %d bytes of %d passes", f, (int)size,
                  (int)files[f].size);
        }
        close(descriptor);
        for (int64_t size = files[f].size - 1; size >= 0; size -= 97)
            CHECK(read_blob((blob){files[f].data, size}, true, readers[f], NULL) == SP_INPUT,
                  "pipe %d cut to %d bytes passes", f, (int)size);
        free(files[f].data);
    }
}

/* A rank-3 array in Fortran order: (2, 3, 4) with value 100 i + 10 j + k. */
TEST(orders)
{
    double fortran[24], narrow_c[6];
    float narrow[6];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++)
                fortran[i + 2 * j + 6 * k] = 100 * i + 10 * j + k;
    for (int i = 0; i < 6; i++)
        narrow[i] = (float)(narrow_c[i] = 1.5 * i);
    const int32_t small[2] = {-1, 7};
    blob bytes = make(NULL,
                      (member[]){{"a", SP_F8, true, 3, {2, 3, 4}, fortran},
                                 {"b", SP_F4, false, 2, {2, 3}, narrow},
                                 {"c", SP_I4, false, 1, {2}, small},
                                 {0}},
                      0);
    OWNED(sp_file) file;
    sp_array *array;
    CHECK_OK(read_blob(bytes, false, read_any, &file));
    CHECK_OK(sp_members_read(&context, &file.members, "a", SP_F8, false, 3, (int64_t[]){2, 3, 4}, &array));
    for (int i = 0; i < 24; i++)
        CHECK_NEAR(((double *)array->data)[i], 100 * (i / 12) + 10 * (i / 4 % 3) + i % 4, 0);
    CHECK_OK(sp_members_read(&context, &file.members, "a", SP_F8, true, 3, (int64_t[]){2, 3, 4}, &array));
    CHECK(same(array->data, fortran, 24), "there and back");
    CHECK_OK(sp_members_read(&context, &file.members, "b", SP_F8, true, 2, (int64_t[]){2, -1}, &array));
    for (int i = 0; i < 6; i++)
        CHECK_NEAR(((double *)array->data)[i], narrow_c[3 * (i % 2) + i / 2], 0);
    CHECK_OK(sp_members_read(&context, &file.members, "c", SP_I8, false, 1, NULL, &array));
    CHECK(((int64_t *)array->data)[0] == -1 && ((int64_t *)array->data)[1] == 7, "widened integers");
    free(bytes.data);
}

/* ---- files of NumPy and SciPy ---- */

static const char python[] = "/usr/bin/python3";
static char folder[180];

/* Runs a program in the folder; false where Python, NumPy or SciPy is missing (exit 77). */
static int run_python(const char *program)
{
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        if (chdir(folder) == 0)
            execl(python, python, "-c", program, (char *)NULL);
        _exit(77);
    }
    int status;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int open_in_folder(const char *name, int flags)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return open(path, flags, 0600);
}

/* ---- U in pieces ---- */

typedef struct gathered {
    double *U;
    int64_t rows, values, calls;
} gathered;

static int gather(void *data, int64_t rows, int64_t count, int64_t row, int64_t height, int64_t first, int64_t width,
                  double *values)
{
    gathered *to = data;
    (void)count;
    for (int64_t c = 0; c < width; c++)
        memcpy(to->U + (first + c) * rows + row, values + c * height, (size_t)height * 8);
    to->values += height * width;
    to->calls++;
    return SP_OK;
}

static int next_of(void *data, int64_t c, const double **column)
{
    const gathered *from = data;
    *column = from->U + c * from->rows;
    return SP_OK;
}

/* Columns longer than a piece, rows longer than a piece, and both orders and precisions. */
TEST(columns_in_pieces)
{
    static const int64_t shapes[][2] = {{150000, 3}, {3, 150000}, {600, 700}, {3, 1}};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
        for (int kind = 0; kind < 4; kind++) { /* f8 and f4, Fortran and C order */
            int64_t rows = shapes[s][0], count = shapes[s][1], wrong = 0;
            bool fortran = kind & 1, wide = kind & 2;
            gathered got = {.U = calloc((size_t)(rows * count), 8)};
            double *values = test_new(rows * count, 8);
            float *narrow = test_new(rows * count, 4);
            for (int64_t c = 0; c < count; c++)
                for (int64_t i = 0; i < rows; i++) {
                    int64_t at = fortran ? c * rows + i : i * count + c;
                    narrow[at] = (float)(values[at] = (double)(c * rows + i));
                }
            int descriptor = new_file();
            sp_writer *writer;
            CHECK_OK(sp_writer_open(&context, descriptor, &writer));
            CHECK_OK(sp_writer_array(writer, "U", wide ? SP_F8 : SP_F4, fortran, 2, shapes[s],
                                     wide ? (void *)values : (void *)narrow));
            CHECK_OK(sp_writer_close(writer));
            lseek(descriptor, 0, SEEK_SET);
            OWNED(sp_columns_pieces) pieces = {.data = &got, .take = gather};
            OWNED(sp_columns) columns;
            sp_reader *passing;
            sp_array first;
            OWNED(sp_file) file;
            CHECK_OK(sp_reader_open(&context, descriptor, false, &passing));
            sp_columns_divert(&context, passing, rows, &pieces);
            CHECK_OK(sp_file_begin(&context, passing, NULL, &file, &first));
            CHECK_OK(sp_file_rest(&context, passing, &first, true, &file));
            CHECK_OK(sp_columns_read(&context, &file, rows, &columns));
            CHECK(columns.rows == rows && columns.count == count && !columns.U, "%lld rows, %lld columns",
                  (long long)columns.rows, (long long)columns.count);
            CHECK(got.values == rows * count, "%lld values", (long long)got.values);
            CHECK(rows * count < 200000 || got.calls > 1, "%lld pieces", (long long)got.calls);
            for (int64_t i = 0; i < rows * count; i++)
                wrong += got.U[i] != (double)i;
            CHECK(wrong == 0, "%lld of %lld values differ", (long long)wrong, (long long)(rows * count));
            sp_reader_close(passing);
            /* written column by column: the same bytes */
            if (fortran && wide) {
                int again = new_file();
                got.rows = rows;
                CHECK_OK(sp_writer_open(&context, again, &writer));
                CHECK_OK(sp_writer_columns(writer, "U", rows, count, next_of, &got));
                CHECK_OK(sp_writer_close(writer));
                blob a = blob_of(descriptor), b = blob_of(again);
                CHECK(a.size == b.size && !memcmp(a.data, b.data, (size_t)a.size), "other bytes");
                free(a.data), free(b.data);
                close(again);
            }
            close(descriptor);
            free(got.U);
        }
}

static void remove_folder(void)
{
    const char *const names[] = {"u.npz",   "uz.npz",   "csr.npz", "csc.npz",  "csrz.npz", "odd.npz",
                                 "uni.npz", "text.npz", "big.npz", "pipe.npz", "ours.npz", "sparse.npz"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[200];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

static int read_path(const char *name, reader read, void *to)
{
    int descriptor = open_in_folder(name, O_RDONLY);
    if (descriptor < 0)
        return -1;
    int status = read(descriptor, to);
    close(descriptor);
    return status;
}

TEST(foreign_files)
{
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.150s/supple-XXXXXX", base && *base ? base : "/tmp");
    if (!mkdtemp(folder))
        SKIP("no folder for temporary files");
    int code = run_python("import sys\n"
                          "try:\n import numpy as np, scipy.sparse as s\n"
                          "except Exception: sys.exit(77)\n"
                          "U=np.arange(12.).reshape(6,2)\n"
                          "np.savez('u.npz',U=U,other=np.ones((2,)*6),words=np.array(['a','bc']),rec=np.zeros(2,dtype=["
                          "('a','f8'),('b','i4')]))\n"
                          "np.savez_compressed('uz.npz',U=np.asfortranarray(U).astype('f4'))\n"
                          "K=s.csr_matrix(np.array([[2.,-1,0],[-1,2,-1],[0,-1,2]]))\n"
                          "s.save_npz('csr.npz',K,compressed=False); s.save_npz('csc.npz',K.tocsc(),compressed=False); "
                          "s.save_npz('csrz.npz',K)\n"
                          "np.savez('odd.npz',U=U.astype('>f8'))\n"
                          "np.savez('uni.npz',**{'gr\\u00f6\\u00dfe':U})\n"
                          "np.savez_compressed('big.npz',U=np.zeros((6,100000)))\n"
                          "import zipfile\n"
                          "z=zipfile.ZipFile('text.npz','w'); z.writestr('a.txt','hello'); z.close()\n"
                          "class P:\n" /* a stream that cannot seek */
                          "  def __init__(self,f): self.f=f\n"
                          "  def write(self,b): return self.f.write(b)\n"
                          "  def flush(self): self.f.flush()\n"
                          "z=zipfile.ZipFile(P(open('pipe.npz','wb')),'w')\n"
                          "with z.open('U.npy','w') as f: np.lib.format.write_array(f,U)\n"
                          "z.close()\n");
    if (code == 77) {
        remove_folder();
        SKIP("no Python with NumPy and SciPy");
    }
    CHECK(code == 0, "Python failed with %d", code);
    sp_columns columns;
    for (int i = 0; i < 2; i++) {
        int status = read_path(i ? "uz.npz" : "u.npz", read_columns, &columns);
        CHECK(status == SP_OK, "%s", context.message);
        if (status != SP_OK)
            continue;
        for (int k = 0; k < 12; k++) /* the columns of [[0 1] [2 3] …] */
            CHECK_NEAR(columns.U[k], 2 * (k % 6) + k / 6, 0);
        sp_columns_free(&columns);
    }
    sp_sparse matrix, expected = sparse_example();
    const char *const sparse[] = {"csr.npz", "csc.npz", "csrz.npz"};
    for (int i = 0; i < 3; i++) {
        int status = read_path(sparse[i], read_sparse, &matrix);
        CHECK(status == SP_OK, "%s: %s", sparse[i], context.message);
        if (status != SP_OK)
            continue;
        CHECK(matrix.order == 3 && same(matrix.start, expected.start, 4) && same(matrix.index, expected.index, 7) &&
                  same(matrix.value, expected.value, 7) && !read_dof && !read_which[0],
              "%s", sparse[i]);
        sp_sparse_free(&matrix);
    }
    CHECK(read_path("pipe.npz", read_columns, NULL) == SP_OK, "written to a pipe: %s", context.message);
    CHECK(read_path("big.npz", read_columns, NULL) == SP_OK, "highly compressed: %s", context.message);
    CHECK(read_path("odd.npz", read_columns, NULL) == SP_OK, "big-endian: %s", context.message);
    CHECK(read_path("uni.npz", read_columns, NULL) == SP_INPUT && strstr(context.message, "member U is missing"), "%s",
          context.message);
    CHECK(read_path("text.npz", read_columns, NULL) == SP_INPUT && strstr(context.message, "member U is missing"), "%s",
          context.message);

    /* and ours read there */
    blob ours = write_polynomials(2), ours_sparse = write_sparse();
    int descriptor = open_in_folder("ours.npz", O_WRONLY | O_CREAT);
    write_whole(descriptor, ours.data, ours.size, ours.size);
    close(descriptor);
    descriptor = open_in_folder("sparse.npz", O_WRONLY | O_CREAT);
    write_whole(descriptor, ours_sparse.data, ours_sparse.size, ours_sparse.size);
    close(descriptor);
    code = run_python(
        "import numpy as np, scipy.sparse as s, json, hashlib, zipfile\n"
        "f=np.load('ours.npz'); m=json.loads(f['meta'].tobytes()); r=json.loads(f['result'].tobytes())\n"
        "assert m['kind']=='polynomials' and m['parts'][1]=={'group':'bone','constant':'mu','value':2.5e8}\n"
        "assert f['gram/000000'].flags.f_contiguous and (f['gram/000001']==np.outer(range(5),range(5))).all()\n"
        "assert f['gravity'].tolist()==[[1,2,3],[4,5,6]]\n"
        "h=hashlib.sha256(); z=zipfile.ZipFile('ours.npz'); assert z.testzip() is None\n"
        "for n in z.namelist():\n"
        "  if n!='result.npy': h.update(n[:-4].encode()+b'\\0'+z.read(n))\n"
        "assert h.hexdigest()==r['sha256']\n"
        "assert (s.load_npz('sparse.npz').toarray()==[[2,-1,0],[-1,2,-1],[0,-1,2]]).all()\n");
    CHECK(code == 0, "NumPy or SciPy does not read our files: %d", code);
    free(ours.data);
    free(ours_sparse.data);
    remove_folder();
}

BEFORE_TESTS()
{
    signal(SIGPIPE, SIG_IGN);
}
