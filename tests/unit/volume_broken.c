/* Every importer of volumetric meshes with broken files: truncated anywhere, numbers out of range or not finite, counts
 * that are wrong, negative or huge, empty files, random bytes. Each gives an error of one line, and none allocates
 * memory for a mere claim of a small file. Line ends of other systems are allowed. */
#include "formats/export/vtu.h"
#include "volume_test.h"

#include <sys/resource.h>
#include <unistd.h>

/* Five vertices and two tetrahedra, the same in every format. The marks stand for: {v} the count of vertices, {e} of
 * elements, {x} a coordinate, which is 1, {c} a corner, which is the last vertex, {s} what other number depends on the
 * count of elements. */
static const struct format {
    char kind;
    const char *name, *text;
    int64_t base; /* number of the first vertex */
    int size;     /* the correct value of {s} */
} formats[] = {
    {'v', "veg",
     "*VERTICES\n{v} 3 0 0\n1 0 0 0\n2 {x} 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n*ELEMENTS\nTET\n{e} 4 0\n1 1 2 3 4\n2 2 3 4 "
     "{c}\n"
     "*MATERIAL BODY\nENU, 1000, 2e6, 0.3\n*REGION\nallElements, BODY\n",
     1, 0},
    {'m', "msh 2",
     "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{v}\n1 0 0 0\n2 {x} 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 "
     "1\n$EndNodes\n$Elements\n{e}\n"
     "1 4 2 0 1 1 2 3 4\n2 4 2 0 1 2 3 4 {c}\n$EndElements\n",
     1, 0},
    {'m', "msh 4",
     "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$PhysicalNames\n1\n3 1 \"body\"\n$EndPhysicalNames\n$Entities\n0 0 0 1\n"
     "1 0 0 0 1 1 1 1 1 0\n$EndEntities\n$Nodes\n1 {v} 1 5\n3 1 0 {v}\n1\n2\n3\n4\n5\n0 0 0\n{x} 0 0\n0 1 0\n0 0 1\n1 "
     "1 1\n$EndNodes\n"
     "$Elements\n1 {e} 1 2\n3 1 4 {e}\n1 1 2 3 4\n2 2 3 4 {c}\n$EndElements\n",
     1, 0},
    {'i', "inp",
     "*NODE\n1, 0, 0, 0\n2, {x}, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n5, 1, 1, 1\n*ELEMENT, TYPE=C3D4, ELSET=ALL\n1, 1, 2, 3, "
     "4\n"
     "2, 2, 3, 4, {c}\n",
     1, 0},
    {'d', "medit",
     "MeshVersionFormatted 2\nDimension 3\nVertices\n{v}\n0 0 0 0\n{x} 0 0 0\n0 1 0 0\n0 0 1 0\n1 1 1 "
     "0\nTetrahedra\n{e}\n1 2 3 4 7\n"
     "2 3 4 {c} 7\nEnd\n",
     1, 0},
    {'n', "node", "{v} 3 0 0\n1 0 0 0\n2 {x} 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n", 1, 0},
    {'e', "ele", "{e} 4 1\n1 1 2 3 4 7\n2 2 3 4 {c} 7\n", 1, 0},
    {'k', "vtk",
     "# vtk DataFile Version 3.0\na block\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {v} double\n0 0 0\n{x} 0 0\n0 1 "
     "0\n0 0 1\n1 1 1\n"
     "CELLS {e} {s}\n4 0 1 2 3\n4 1 2 3 {c}\nCELL_TYPES {e}\n10\n10\nCELL_DATA {e}\nSCALARS region int\nLOOKUP_TABLE "
     "default\n7\n7\n",
     0, 10},
    {'k', "vtk 5",
     "# vtk DataFile Version 5.1\na block\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {v} double\n0 0 0\n{x} 0 0\n0 1 "
     "0\n0 0 1\n1 1 1\n"
     "CELLS {s} 8\nOFFSETS vtktypeint64\n0 4 8\nCONNECTIVITY vtktypeint64\n0 1 2 3 1 2 3 {c}\nCELL_TYPES {e}\n10\n10\n",
     0, 3},
    {'c', "mphtxt",
     "# COMSOL\n0 1\n1\n5 mesh1\n1\n3 obj\n0 0 1\n4 Mesh\n2\n3\n{v}\n0\n0 0 0\n{x} 0 0\n0 1 0\n0 0 1\n1 1 1\n2\n3 "
     "vtx\n1\n1\n"
     "0\n1\n0\n1\n0\n0\n3 tet\n4\n{e}\n0 1 2 3\n1 2 3 {c}\n4\n0\n{e}\n7\n7\n0\n",
     0, 0},
    {'x', "vtu",
     "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"0.1\" "
     "byte_order=\"LittleEndian\">\n<UnstructuredGrid>\n"
     "<Piece NumberOfPoints=\"{v}\" NumberOfCells=\"{e}\">\n<Points>\n"
     "<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">\n0 0 0\n{x} 0 0\n0 1 0\n0 0 1\n1 1 "
     "1\n</DataArray>\n</Points>\n"
     "<Cells>\n<DataArray type=\"Int64\" Name=\"connectivity\" format=\"ascii\">\n0 1 2 3\n1 2 3 {c}\n</DataArray>\n"
     "<DataArray type=\"Int64\" Name=\"offsets\" format=\"ascii\">4 8</DataArray>\n"
     "<DataArray type=\"UInt8\" Name=\"types\" format=\"ascii\">10 "
     "10</DataArray>\n</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>\n",
     0, 0},
};

enum { FORMATS = sizeof formats / sizeof formats[0], ROOM = 4096 };

/* The format's text with its marks filled; `mark`, a letter, gets `value`. Returns the length. */
static int64_t fill(const struct format *format, char mark, const char *value, char out[ROOM])
{
    int64_t n = 0;
    for (const char *at = format->text; *at; at++) {
        if (at[0] != '{' || at[2] != '}') {
            out[n++] = *at;
            continue;
        }
        char plain[24];
        snprintf(plain, sizeof plain, "%lld",
                 at[1] == 'v'   ? 5ll
                 : at[1] == 'e' ? 2ll
                 : at[1] == 'x' ? 1ll
                 : at[1] == 's' ? format->size
                                : 4ll + format->base);
        n += snprintf(out + n, (size_t)(ROOM - n), "%s", at[1] == mark ? value : plain);
        at += 2;
    }
    out[n] = 0;
    return n;
}

struct companion {
    const char *bytes;
    int64_t count;
};

static int open_companion(void *data, sp_context *c, const char *name, const char **bytes, int64_t *count)
{
    const struct companion *companion = data;
    (void)c;
    (void)name;
    *bytes = companion->bytes;
    *count = companion->count;
    return SP_OK;
}

/* Reads a copy of exactly `count` bytes, so that a sanitizer sees a byte too many; the other file of TetGen is whole.
 */
static int parse(const struct format *format, const char *text, int64_t count, sp_mesh *mesh)
{
    char *bytes = malloc((size_t)count + (count == 0)), whole[ROOM];
    const struct format *other = format->kind == 'n' ? format + 1 : format - 1;
    int status = SP_SYSTEM;
    *mesh = (sp_mesh){0};
    context.message[0] = 0;
    if (!bytes)
        return status;
    if (count > 0)
        memcpy(bytes, text, (size_t)count);
    switch (format->kind) {
    case 'v':
        status = sp_volume_parse_veg(&context, bytes, count, NULL, mesh, NULL);
        break;
    case 'm':
        status = sp_volume_parse_msh(&context, bytes, count, &steel, mesh, NULL);
        break;
    case 'i':
        status = sp_volume_parse_inp(&context, bytes, count, NULL, &steel, mesh, NULL, NULL, NULL);
        break;
    case 'd':
        status = sp_volume_parse_medit(&context, bytes, count, &steel, mesh, NULL);
        break;
    case 'k':
        status = sp_volume_parse_vtk(&context, bytes, count, &steel, mesh, NULL);
        break;
    case 'c':
        status = sp_volume_parse_comsol(&context, bytes, count, &steel, mesh, NULL);
        break;
    case 'x':
        status = sp_volume_parse_vtu(&context, bytes, count, &steel, mesh, NULL);
        break;
    default: {
        struct companion companion = {whole, fill(other, 0, "", whole)};
        sp_includes includes = {open_companion, &companion};
        status = sp_volume_parse_tetgen(&context, format->kind == 'n' ? "a.node" : "a.ele", bytes, count, &includes,
                                        &steel, mesh, NULL);
    }
    }
    free(bytes);
    return status;
}

/* The mesh that all formats describe. */
static bool is_whole(const sp_mesh *m)
{
    static const double vertices[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};
    static const int64_t tet[8] = {0, 1, 2, 3, 1, 2, 3, 4};
    return m->vertex_count == 5 && m->block[SP_TET4].count == 2 && m->block[SP_HEX8].count == 0 &&
           !memcmp(m->vertices, vertices, sizeof vertices) && !memcmp(m->block[SP_TET4].node, tet, sizeof tet);
}

static bool one_line(const char *message)
{
    return *message && !strchr(message, '\n') && !strchr(message, '\r');
}

static void refused(const struct format *format, const char *text, int64_t count, const char *what, const char *value)
{
    OWNED(sp_mesh) mesh;
    int status = parse(format, text, count, &mesh);
    CHECK(status == SP_INPUT, "%s: %s%s: status %d %s", format->name, what, value, status, context.message);
    CHECK(status != SP_INPUT || one_line(context.message), "%s: %s%s: message '%s'", format->name, what, value,
          context.message);
    CHECK(status == SP_OK || (mesh.vertex_count == 0 && mesh.pool.first == NULL), "%s: %s%s: a mesh is left",
          format->name, what, value);
}

/* The text is read with its own line ends, with those of Windows, and with those of old Macs except in legacy VTK,
 * where a CR may be a byte of binary data after the header. */
TEST(whole_files)
{
    static const char *const line_end[] = {"\n", "\r\n", "\r"};
    for (int f = 0; f < FORMATS; f++)
        for (int e = 0; e < 3; e++) {
            char text[ROOM], other[2 * ROOM];
            OWNED(sp_mesh) mesh = {0};
            int64_t count = fill(&formats[f], 0, "", text), n = 0;
            if (e == 2 && formats[f].kind == 'k')
                continue;
            for (int64_t i = 0; i < count; i++)
                if (text[i] == '\n')
                    for (const char *c = line_end[e]; *c; c++)
                        other[n++] = *c;
                else
                    other[n++] = text[i];
            int status = parse(&formats[f], other, n, &mesh);
            CHECK(status == SP_OK && is_whole(&mesh), "%s, ends of lines %d: %s", formats[f].name, e, context.message);
        }
}

/* Every beginning of a file is an error or, where only the end lacks, the whole mesh; .inp has no counts, so that a cut
 * between two lines gives fewer elements. */
TEST(cut_anywhere)
{
    for (int f = 0; f < FORMATS; f++) {
        char text[ROOM];
        int64_t count = fill(&formats[f], 0, "", text), whole = 0;
        for (int64_t n = 0; n < count; n++) {
            OWNED(sp_mesh) mesh;
            int status = parse(&formats[f], text, n, &mesh);
            CHECK(status == SP_OK || (status == SP_INPUT && one_line(context.message)),
                  "%s: %lld bytes: status %d, '%s'", formats[f].name, (long long)n, status, context.message);
            if (status == SP_OK) {
                CHECK(is_whole(&mesh) || (formats[f].kind == 'i' && mesh.block[SP_TET4].count == 1),
                      "%s: %lld bytes give another mesh", formats[f].name, (long long)n);
                whole++;
            }
        }
        CHECK(whole < 80, "%s: %lld of %lld beginnings are taken", formats[f].name, (long long)whole, (long long)count);
    }
}

TEST(wrong_numbers)
{
    static const struct {
        char mark;
        const char *value;
    } wrong[] = {
        {'x', "nan"},
        {'x', "NAN"},
        {'x', "inf"},
        {'x', "-inf"},
        {'x', "1e999"},
        {'x', "abc"},
        {'x', "0x10"},
        {'x', "1.2.3"},
        {'x', "--1"},
        {'x', "1e"},
        {'x', "nan(1)"},
        {'c', "-1"},
        {'c', "6"},
        {'c', "99"},
        {'c', "1000000"},
        {'c', "4.5"},
        {'c', "abc"},
        {'c', "9223372036854775807"},
        {'c', "-9223372036854775808"},
        {'c', "99999999999999999999999"},
        {'c', "4294967300"},
    };
    for (int f = 0; f < FORMATS; f++)
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            char text[ROOM], mark[3] = {'{', wrong[i].mark, 0};
            if (!strstr(formats[f].text, mark))
                continue;
            int64_t count = fill(&formats[f], wrong[i].mark, wrong[i].value, text);
            refused(&formats[f], text, count, "number ", wrong[i].value);
        }
}

/* With address space for 64 MiB more than is there, memory for what a file claims cannot be had from a million records
 * on (a node takes 40 bytes, an element 96): then the status would be that of the system, not SP_INPUT. Sanitizers
 * reserve more than that by themselves. */
TEST(limit_memory)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%lld", &pages) != 1)
        SKIP("no /proc");
    fclose(file);
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (64 << 20);
    CHECK(setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) == 0, "the memory cannot be limited");
    void *volatile much = malloc(96 * (size_t)1000000);
    CHECK(much == NULL, "there is memory for a million elements");
    free(much);
#else
    SKIP("a sanitizer is at work");
#endif
}

TEST(wrong_counts)
{
    static const char *const value[] = {"-1",
                                        "0",
                                        "1",
                                        "3",
                                        "1000",
                                        "1000000",
                                        "10000000",
                                        "100000000",
                                        "2147483647",
                                        "2147483648",
                                        "4294967296",
                                        "4294967298",
                                        "1000000000000",
                                        "1000000000000000000",
                                        "1152921504606846978",
                                        "4611686018427387905",
                                        "9223372036854775807",
                                        "-9223372036854775808",
                                        "18446744073709551618",
                                        "99999999999999999999999",
                                        "2.5",
                                        "1e6",
                                        "many",
                                        ""};
    for (int f = 0; f < FORMATS; f++)
        for (const char *mark = "ves"; *mark; mark++)
            for (size_t i = 0; i < sizeof value / sizeof value[0]; i++) {
                char text[ROOM], found[3] = {'{', *mark, 0}, right[24];
                snprintf(right, sizeof right, "%d", formats[f].size);
                if (!strstr(formats[f].text, found) || (*mark == 's' && !strcmp(value[i], right)))
                    continue;
                int64_t count = fill(&formats[f], *mark, value[i], text);
                refused(&formats[f], text, count, found, value[i]);
            }
}

/* Bytes that are no file of the format, also after its first line. */
TEST(garbage)
{
    static const char png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\10\2\0\0\0";
    for (int f = 0; f < FORMATS; f++) {
        char text[ROOM], bytes[ROOM + 1024];
        int64_t count = fill(&formats[f], 0, "", text), first = strchr(text, '\n') + 1 - text;
        uint32_t state = 12345;
        refused(&formats[f], "", 0, "nothing", "");
        refused(&formats[f], "\n\n  \n", 5, "blank lines", "");
        refused(&formats[f], png, sizeof png, "PNG", "");
        memset(bytes, 0, 1024);
        refused(&formats[f], bytes, 1024, "zeros", "");
        memset(bytes, 0xff, 1024);
        refused(&formats[f], bytes, 1024, "0xff", "");
        memset(bytes, '1', 1024);
        refused(&formats[f], bytes, 1024, "ones", "");
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 1024; i++) {
                state = state * 1664525 + 1013904223;
                bytes[i] = (char)(state >> 24);
            }
            refused(&formats[f], bytes, 1024, "noise", "");
            memmove(bytes + first, bytes, 1000);
            memcpy(bytes, text, (size_t)first);
            refused(&formats[f], bytes, 1000 + first, "noise behind the first line", "");
        }
        /* One byte of the file changed at a time: an error or some mesh, but no crash. */
        for (int64_t i = 0; i < count; i++)
            for (int c = 0; c < 4; c++) {
                OWNED(sp_mesh) mesh;
                char kept = text[i];
                text[i] = "\0\xff-9"[c];
                int status = parse(&formats[f], text, count, &mesh);
                CHECK(status == SP_OK || (status == SP_INPUT && one_line(context.message)), "%s: byte %lld: %d '%s'",
                      formats[f].name, (long long)i, status, context.message);
                text[i] = kept;
            }
    }
}

/* Binary files: .msh 2 and 4 of low and high byte first, .vtk, .vtu with appended bytes. A count of 32 or 64 bits is at
 * `count`. */
struct binary {
    struct buffer b;
    char kind;
    int count[4], width[4], counts; /* where counts stand, their bytes */
    bool big;
};

static void put_count(struct binary *f, uint64_t value, int bytes)
{
    f->count[f->counts] = (int)f->b.count;
    f->width[f->counts++] = bytes;
    put_bytes(&f->b, value, bytes, f->big);
}

static const double corner_position[15] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 1, 1};

static void binary_msh_2(struct binary *f)
{
    put_text(&f->b, "$MeshFormat\n2.2 1 8\n");
    put_bytes(&f->b, 1, 4, f->big);
    put_text(&f->b, "\n$EndMeshFormat\n$Nodes\n5\n");
    for (int v = 0; v < 5; v++) {
        put_bytes(&f->b, (uint64_t)v + 1, 4, f->big);
        for (int k = 0; k < 3; k++)
            put_real(&f->b, corner_position[3 * v + k], f->big);
    }
    put_text(&f->b, "\n$EndNodes\n$Elements\n2\n");
    put_bytes(&f->b, 4, 4, f->big);
    put_count(f, 2, 4);
    put_count(f, 2, 4); /* tags */
    for (int e = 0; e < 2; e++) {
        put_bytes(&f->b, (uint64_t)e + 1, 4, f->big);
        put_bytes(&f->b, 0, 4, f->big);
        put_bytes(&f->b, 1, 4, f->big);
        for (int a = 0; a < 4; a++)
            put_bytes(&f->b, (uint64_t)(e + a) + 1, 4, f->big);
    }
    put_text(&f->b, "\n$EndElements\n");
}

static void binary_msh_4(struct binary *f)
{
    put_text(&f->b, "$MeshFormat\n4.1 1 8\n");
    put_bytes(&f->b, 1, 4, f->big);
    put_text(&f->b, "\n$EndMeshFormat\n$Nodes\n");
    put_bytes(&f->b, 1, 8, f->big);
    put_count(f, 5, 8);
    put_bytes(&f->b, 1, 8, f->big);
    put_bytes(&f->b, 5, 8, f->big);
    put_bytes(&f->b, 3, 4, f->big);
    put_bytes(&f->b, 1, 4, f->big);
    put_bytes(&f->b, 0, 4, f->big);
    put_count(f, 5, 8);
    for (int v = 0; v < 5; v++)
        put_bytes(&f->b, (uint64_t)v + 1, 8, f->big);
    for (int i = 0; i < 15; i++)
        put_real(&f->b, corner_position[i], f->big);
    put_text(&f->b, "\n$EndNodes\n$Elements\n");
    put_bytes(&f->b, 1, 8, f->big);
    put_count(f, 2, 8);
    put_bytes(&f->b, 1, 8, f->big);
    put_bytes(&f->b, 2, 8, f->big);
    put_bytes(&f->b, 3, 4, f->big);
    put_bytes(&f->b, 1, 4, f->big);
    put_bytes(&f->b, 4, 4, f->big);
    put_count(f, 2, 8);
    for (int e = 0; e < 2; e++) {
        put_bytes(&f->b, (uint64_t)e + 1, 8, f->big);
        for (int a = 0; a < 4; a++)
            put_bytes(&f->b, (uint64_t)(e + a) + 1, 8, f->big);
    }
    put_text(&f->b, "\n$EndElements\n");
}

/* VTK always has the high byte first. */
static void binary_vtk(struct binary *f)
{
    put_text(&f->b, "# vtk DataFile Version 3.0\nblock\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 5 double\n");
    for (int i = 0; i < 15; i++)
        put_real(&f->b, corner_position[i], true);
    put_text(&f->b, "\nCELLS 2 10\n");
    f->big = true;
    for (int e = 0; e < 2; e++) {
        put_count(f, 4, 4);
        for (int a = 0; a < 4; a++)
            put_bytes(&f->b, (uint64_t)(e + a), 4, true);
    }
    put_text(&f->b, "\nCELL_TYPES 2\n");
    put_bytes(&f->b, 10, 4, true);
    put_bytes(&f->b, 10, 4, true);
    put_text(&f->b, "\n");
}

static void binary_vtu(struct binary *f)
{
    static const int64_t tet[8] = {0, 1, 2, 3, 1, 2, 3, 4}, region[2] = {7, 7};
    sp_vtu_array array = {.name = "region", .cells = true, .components = 1, .whole = region};
    FILE *file = tmpfile();
    if (!file)
        return;
    CHECK_OK(sp_vtu_write(&context, fileno(file),
                          &(sp_vtu){.vertex_count = 5,
                                    .vertices = corner_position,
                                    .block[SP_TET4].count = 2,
                                    .block[SP_TET4].node = (int64_t *)tet,
                                    .arrays = &array,
                                    .array_count = 1}));
    f->b.count = pread(fileno(file), f->b.data, sizeof f->b.data, 0);
    fclose(file);
    /* The first block, two regions, begins behind the underscore with its size; points, 120 bytes, follow. */
    const char *mark = memmem(f->b.data, (size_t)f->b.count, "encoding=\"raw\">\n_", 17);
    f->count[0] = (int)(mark - f->b.data) + 17;
    f->count[1] = f->count[0] + 8 + 16;
    f->count[2] = f->count[1] + 8 + 120;
    f->width[0] = f->width[1] = f->width[2] = 8;
    f->counts = 3;
}

TEST(binary_files)
{
    static const uint64_t value[] = {0,
                                     1,
                                     3,
                                     1000,
                                     1000000,
                                     100000000,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     1ull << 40,
                                     1000000000000000000ull,
                                     1152921504606846978ull,
                                     0x7fffffffffffffffull,
                                     0x8000000000000000ull,
                                     0xffffffffffffffffull};
    static void (*const make[])(struct binary * f) = {binary_msh_2, binary_msh_2, binary_msh_4,
                                                      binary_msh_4, binary_vtk,   binary_vtu};
    static const char kind[] = "mmmmkx";
    for (int i = 0; i < 6; i++) {
        struct binary f = {.kind = kind[i], .big = i % 2};
        struct format format = {.kind = kind[i], .name = "binary"};
        sp_mesh mesh;
        make[i](&f);
        CHECK(parse(&format, f.b.data, f.b.count, &mesh) == SP_OK && is_whole(&mesh), "binary file %d: %s", i,
              context.message);
        sp_mesh_free(&mesh);
        for (int64_t n = 0; n < f.b.count; n++) {
            int status = parse(&format, f.b.data, n, &mesh);
            CHECK((status == SP_OK && is_whole(&mesh)) || (status == SP_INPUT && one_line(context.message)),
                  "file %d: %lld bytes: %d '%s'", i, (long long)n, status, context.message);
            sp_mesh_free(&mesh);
        }
        for (int c = 0; c < f.counts; c++)
            for (size_t v = 0; v < sizeof value / sizeof value[0]; v++) {
                struct binary copy = f;
                char shown[64];
                copy.b.count = f.count[c];
                put_bytes(&copy.b, value[v], f.width[c], f.big);
                copy.b.count = f.b.count;
                if (!memcmp(copy.b.data, f.b.data, (size_t)f.b.count))
                    continue;
                snprintf(shown, sizeof shown, "file %d, count %d: %llx", i, c, (unsigned long long)value[v]);
                refused(&format, copy.b.data, copy.b.count, shown, "");
            }
    }
}
