/* The writers of foreign formats: their output is parsed here by the rules of the formats. */
#include "formats/export/csv_write.h"
#include "formats/export/matrix_market.h"
#include "formats/export/obj_write.h"
#include "formats/export/vtu.h"
#include "test.h"

#include <fcntl.h>
#include <unistd.h>

/* ---- a file to write to ---- */

static FILE *file;

static int fresh(void)
{
    if (file)
        fclose(file);
    file = tmpfile();
    return file ? fileno(file) : -1;
}

/* Everything written so far, followed by a NUL; the caller frees it. */
static char *contents(size_t *size)
{
    off_t end = lseek(fileno(file), 0, SEEK_END);
    char *bytes = calloc((size_t)end + 1, 1);
    if (!bytes)
        abort();
    *size = pread(fileno(file), bytes, (size_t)end, 0) == end ? (size_t)end : 0;
    return bytes;
}

/* A repeatable double with any bits that make a finite number. */
static double any_double(uint64_t *state)
{
    double value;
    do {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        uint64_t bits = *state ^ *state >> 29;
        memcpy(&value, &bits, sizeof value);
    } while (!isfinite(value));
    return value;
}

/* ---- CSV ---- */

TEST(csv_keeps_every_double)
{
    enum { ROWS = 2000, COLUMNS = 5 };
    static double table[ROWS][COLUMNS];
    static sp_stream stream;
    uint64_t state = 7;
    size_t size;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            table[i][j] = any_double(&state);
    table[0][0] = 0.1;
    table[0][1] = -0.0;
    table[0][2] = 5e-324;
    table[0][3] = 1.7976931348623157e308;
    sp_stream_begin(&stream, fresh());
    for (int j = 0; j < COLUMNS; j++)
        sp_csv_name(&stream, j == 0, (const char *const[]){"time", "a", "b", "v12_x", "q0"}[j]);
    sp_csv_end(&stream);
    for (int i = 0; i < ROWS; i++) {
        sp_csv_numbers(&stream, true, 2, table[i]);
        sp_csv_numbers(&stream, false, COLUMNS - 2, table[i] + 2);
        sp_csv_end(&stream);
    }
    CHECK_OK(sp_stream_end(&context, &stream));
    char *text = contents(&size), *at = text;
    static const char header[] = "time,a,b,v12_x,q0\n";
    CHECK(!strncmp(at, header, strlen(header)), "the first line is %.30s", at);
    at += strlen(header);
    int wrong = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            double value = strtod(at, &at);
            wrong += memcmp(&value, &table[i][j], sizeof value) != 0 || *at != (j + 1 < COLUMNS ? ',' : '\n');
            at++;
        }
    CHECK(wrong == 0, "%d of %d numbers came back otherwise", wrong, ROWS * COLUMNS);
    CHECK((size_t)(at - text) == size, "%zu bytes, %zu read", size, (size_t)(at - text));
    free(text);
}

TEST(full_device_is_reported)
{
    static sp_stream stream;
    int full = open("/dev/full", O_WRONLY);
    if (full < 0)
        SKIP("there is no /dev/full");
    sp_stream_begin(&stream, full);
    sp_stream_number(&stream, 1);
    CHECK(sp_stream_end(&context, &stream) == SP_SYSTEM, "writing to a full device passed");
    CHECK(strstr(context.message, "cannot write") != NULL, "%s", context.message);
    close(full);
}

/* ---- OBJ ---- */

TEST(obj_reads_back)
{
    const double vertices[] = {0, 0, 0, 1.25, -2.5e-7, 3e9, 0.333333333333, 1, 2, -1, -1, -1};
    const int64_t triangles[] = {0, 1, 2, 3, 2, 1}, bad[] = {0, 1, 4};
    size_t size;
    CHECK_OK(sp_obj_write(&context, fresh(), "made by a test", 4, vertices, 2, triangles));
    char *text = contents(&size), *rest = NULL;
    int v = 0, f = 0, comments = 0;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        double x[3];
        long long t[3];
        if (sscanf(line, "v %lf %lf %lf", x, x + 1, x + 2) == 3) {
            for (int i = 0; i < 3 && v < 4; i++)
                CHECK_NEAR(x[i], vertices[3 * v + i], 1e-9 * fabs(vertices[3 * v + i]));
            CHECK(f == 0, "vertex %d follows a face", v);
            v++;
        } else if (sscanf(line, "f %lld %lld %lld", t, t + 1, t + 2) == 3) {
            for (int i = 0; i < 3 && f < 2; i++)
                CHECK(t[i] == triangles[3 * f + i] + 1, "face %d names %lld", f, t[i]);
            f++;
        } else
            comments += line[0] == '#';
    }
    CHECK(v == 4 && f == 2 && comments == 1, "%d vertices, %d faces, %d comments", v, f, comments);
    free(text);
    CHECK(sp_obj_write(&context, fresh(), NULL, 4, vertices, 1, bad) == SP_INPUT, "a triangle out of range passed");
    CHECK(sp_obj_write(&context, fresh(), NULL, 1, (double[]){0, NAN, 0}, 0, NULL) == SP_INPUT, "a NaN passed");
    free(contents(&size));
    CHECK(size == 0, "%zu bytes were written before the refusal", size);
}

/* ---- Matrix Market ---- */

TEST(sparse_matrix_reads_back)
{
    /* [2 -1 0; -1 3 1/3; 0 1/3 0.1] in full */
    int64_t start[] = {0, 2, 5, 7}, index[] = {0, 1, 0, 1, 2, 1, 2};
    double value[] = {2, -1, -1, 3, 1.0 / 3, 1.0 / 3, 0.1}, back[3][3] = {{0}};
    const double expected[3][3] = {{2, -1, 0}, {-1, 3, 1.0 / 3}, {0, 1.0 / 3, 0.1}};
    sp_sparse matrix = {.order = 3, .start = start, .index = index, .value = value};
    size_t size;
    int used = 0, rows, columns, entries;
    CHECK_OK(sp_matrix_market_write_sparse(&context, fresh(), "K", &matrix));
    char *text = contents(&size), *at = text;
    static const char header[] = "%%MatrixMarket matrix coordinate real symmetric\n% K\n";
    CHECK(!strncmp(at, header, strlen(header)), "it begins %.60s", at);
    at += strlen(header);
    CHECK(sscanf(at, "%d %d %d\n%n", &rows, &columns, &entries, &used) == 3, "no size line");
    CHECK(rows == 3 && columns == 3 && entries == 5, "%d x %d, %d entries", rows, columns, entries);
    at += used;
    for (int k = 0; k < entries && k < 5; k++, at += used) {
        int i = 0, j = 0;
        double x = NAN;
        CHECK(sscanf(at, "%d %d %lf\n%n", &i, &j, &x, &used) == 3, "entry %d", k);
        CHECK(i >= 1 && i <= 3 && j >= 1 && j <= i, "entry %d stands at %d, %d", k, i, j);
        if (i >= 1 && i <= 3 && j >= 1 && j <= 3)
            back[i - 1][j - 1] = back[j - 1][i - 1] = x;
    }
    CHECK(*at == 0, "more follows: %.20s", at);
    CHECK(!memcmp(back, expected, sizeof back), "the matrix came back otherwise");
    free(text);
}

TEST(dense_matrix_reads_back)
{
    enum { ROWS = 7, COLUMNS = 3 };
    double matrix[ROWS * COLUMNS];
    uint64_t state = 99;
    size_t size;
    int rows = 0, columns = 0, used = 0, wrong = 0;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        matrix[i] = any_double(&state);
    CHECK_OK(sp_matrix_market_write_dense(&context, fresh(), NULL, ROWS, COLUMNS, matrix));
    char *text = contents(&size), *at = text;
    CHECK(sscanf(at, "%%%%MatrixMarket matrix array real general %d %d\n%n", &rows, &columns, &used) == 2,
          "it begins %.60s", at);
    CHECK(rows == ROWS && columns == COLUMNS, "%d x %d", rows, columns);
    at += used;
    for (int i = 0; i < ROWS * COLUMNS; i++)
        wrong += strtod(at, &at) != matrix[i];
    CHECK(wrong == 0, "%d numbers came back otherwise", wrong);
    CHECK(!strcmp(at, "\n"), "more follows: %.20s", at);
    free(text);
}

/* ---- VTU ---- */

/* The data block of the array of this name: checks its length and returns its data (unaligned). */
static const char *block_of(const char *text, size_t size, const char *name, uint64_t bytes)
{
    char key[100];
    snprintf(key, sizeof key, " Name=\"%s\"", name);
    const char *entry = strstr(text, key), *offset_text = entry ? strstr(entry, "offset=\"") : NULL,
               *end = entry ? strchr(entry, '>') : NULL;
    const char *raw = strstr(text, "<AppendedData encoding=\"raw\">");
    CHECK(entry && offset_text && offset_text < end && raw, "array %s is not described", name);
    if (!entry || !offset_text || !raw)
        return NULL;
    raw = strchr(raw, '_') + 1;
    const char *block = raw + strtoll(offset_text + 8, NULL, 10);
    uint64_t length = 0;
    CHECK(block >= raw && (size_t)(block - text) + 8 + bytes < size, "array %s lies outside", name);
    if (block < raw || (size_t)(block - text) + 8 + bytes >= size)
        return NULL;
    memcpy(&length, block, 8);
    CHECK(length == bytes, "array %s has %llu bytes, not %llu", name, (unsigned long long)length,
          (unsigned long long)bytes);
    return length == bytes ? block + 8 : NULL;
}

TEST(vtu_reads_back)
{
    /* a cube, a tetrahedron on it, a triangle */
    const double vertices[10][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},        {0, 0, 1},
                                    {1, 0, 1}, {1, 1, 1}, {0, 1, 1}, {0.5, 0.25, 1.5}, {1.0 / 3, 2, 2}};
    const int64_t hex[] = {0, 1, 2, 3, 4, 5, 6, 7}, tet[] = {4, 5, 6, 8}, triangle[] = {7, 8, 9}, region[] = {0, 1, -7};
    const double time = 0.1;
    double displacement[30], stress[18];
    uint64_t state = 3;
    size_t size;
    for (int i = 0; i < 30; i++)
        displacement[i] = any_double(&state);
    for (int i = 0; i < 18; i++)
        stress[i] = any_double(&state);
    const sp_vtu_array arrays[] = {
        {.name = "region", .cells = true, .components = 1, .whole = region},
        {.name = "displacement", .components = 3, .real = displacement},
        {.name = "a<b&\"c\"", .cells = true, .components = 6, .components_named = sp_vtu_tensor, .real = stress},
    };
    const sp_vtu vtu = {.vertex_count = 10,
                        .vertices = &vertices[0][0],
                        .block[SP_HEX8].count = 1,
                        .block[SP_TET4].count = 1,
                        .triangle_count = 1,
                        .block[SP_HEX8].node = (int64_t *)hex,
                        .block[SP_TET4].node = (int64_t *)tet,
                        .triangle = triangle,
                        .time = &time,
                        .array_count = 3,
                        .arrays = arrays};
    CHECK_OK(sp_vtu_write(&context, fresh(), &vtu));
    char *text = contents(&size);
    CHECK(strstr(text, "type=\"UnstructuredGrid\"") && strstr(text, "header_type=\"UInt64\"") &&
              strstr(text, "byte_order=\"LittleEndian\""),
          "the head says something else");
    CHECK(strstr(text, "<Piece NumberOfPoints=\"10\" NumberOfCells=\"3\">") != NULL,
          "no piece of 10 points and 3 cells");
    const char *points = strstr(text, "<PointData>"), *cells = strstr(text, "<CellData>"),
               *u = strstr(text, "Name=\"displacement\""), *r = strstr(text, "Name=\"region\"");
    CHECK(points && cells && u && r && points < u && u < cells && cells < r, "the arrays are not where they belong");
    CHECK(strstr(text, "ComponentName3=\"XY\"") && strstr(text, "ComponentName5=\"XZ\""), "components have no names");
    const struct {
        const char *name;
        const void *data;
        uint64_t bytes;
    } expected[] = {
        {"TimeValue", &time, 8},
        {"displacement", displacement, sizeof displacement},
        {"region", region, sizeof region},
        {"a&lt;b&amp;&quot;c&quot;", stress, sizeof stress},
        {"Points", vertices, sizeof vertices},
        {"connectivity", (const int64_t[]){0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 8, 7, 8, 9}, 15 * 8},
        {"offsets", (const int64_t[]){8, 12, 15}, 24},
        {"types", (const uint8_t[]){12, 10, 5}, 3}, /* of VTK: hexahedron, tetrahedron, triangle */
    };
    uint64_t total = 0;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        const char *data = block_of(text, size, expected[i].name, expected[i].bytes);
        CHECK(data && !memcmp(data, expected[i].data, expected[i].bytes), "array %s came back otherwise",
              expected[i].name);
        total += 8 + expected[i].bytes;
    }
    static const char tail[] = "\n</AppendedData>\n</VTKFile>\n";
    const char *raw = strchr(strstr(text, "<AppendedData"), '_') + 1;
    CHECK((size_t)(raw - text) + total + strlen(tail) == size && !strcmp(text + size - strlen(tail), tail),
          "the blocks do not fill the appended data");
    free(text);
}

TEST(voigt_becomes_the_order_of_vtk)
{
    double tensors[12] = {11, 22, 33, 23, 31, 12, 1, 2, 3, 4, 5, 6};
    const double expected[12] = {11, 22, 33, 12, 23, 31, 1, 2, 3, 6, 4, 5};
    sp_vtu_from_voigt(2, tensors);
    for (int i = 0; i < 12; i++)
        CHECK_NEAR(tensors[i], expected[i], 0);
}

TEST(pvd_names_its_files)
{
    const double time[] = {0, 0.1};
    const char *const names[] = {"a_0000.vtu", "R&D <2>.vtu"};
    size_t size;
    CHECK_OK(sp_pvd_write(&context, fresh(), 2, time, names));
    char *text = contents(&size);
    CHECK(strstr(text, "<VTKFile type=\"Collection\"") != NULL, "it is no collection");
    CHECK(strstr(text, "timestep=\"0\" group=\"\" part=\"0\" file=\"a_0000.vtu\"/>") != NULL, "%s", text);
    CHECK(strstr(text, "timestep=\"0.10000000000000001\" group=\"\" part=\"0\" file=\"R&amp;D &lt;2&gt;.vtu\"/>") !=
              NULL,
          "%s", text);
    free(text);
}

AFTER_TESTS()
{
    if (file)
        fclose(file);
}
