/* Shared by the tests of the importers of volumetric meshes: files of the mesh collection, volumes and inverted
 * elements computed independently of the library, and the check that a parse fails with a message. */
#ifndef TESTS_UNIT_VOLUME_TEST_H
#define TESTS_UNIT_VOLUME_TEST_H

#include "formats/import/volume.h"
#include "test.h"

#include <stdarg.h>

static const sp_material steel = {.name = "steel", .law = SP_LAW_STVK, .density = 7800, .young = 2e11, .poisson = 0.3};

static inline char *load(const char *name, int64_t *count)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", test_meshes(), name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    fseek(file, 0, SEEK_END);
    *count = ftell(file);
    rewind(file);
    char *bytes = malloc((size_t)*count + 1);
    if (bytes && fread(bytes, 1, (size_t)*count, file) != (size_t)*count)
        *count = 0;
    fclose(file);
    return bytes;
}

static double det3(const double *a, const double *b, const double *c)
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0]);
}

static double tet_volume(const sp_mesh *m, const int64_t *t)
{
    double d[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            d[i][k] = m->vertices[3 * t[i + 1] + k] - m->vertices[3 * t[0] + k];
    return det3(d[0], d[1], d[2]) / 6;
}

/* det J at one point, corners in the order of VTK: written out here independently of the library's tables. */
static double hex_jacobian(const sp_mesh *m, const int64_t *h, const double *xi)
{
    static const int sign[8][3] = {{-1, -1, -1}, {1, -1, -1}, {1, 1, -1}, {-1, 1, -1},
                                   {-1, -1, 1},  {1, -1, 1},  {1, 1, 1},  {-1, 1, 1}};
    double d[3][3] = {{0}};
    for (int a = 0; a < 8; a++)
        for (int i = 0; i < 3; i++) {
            double slope = sign[a][i] / 8.0;
            for (int j = 0; j < 3; j++)
                slope *= j == i ? 1 : 1 + sign[a][j] * xi[j];
            for (int k = 0; k < 3; k++)
                d[i][k] += slope * m->vertices[3 * h[a] + k];
        }
    return det3(d[0], d[1], d[2]);
}

/* Signed volume of all elements; inverted: tetrahedra of negative volume, hexahedra with a nonpositive Jacobian at a
 * Gauss point. */
static double volume(const sp_mesh *m, int64_t *inverted)
{
    double sum = 0;
    *inverted = 0;
    for (int64_t e = 0; e < m->block[SP_TET4].count; e++) {
        double v = tet_volume(m, m->block[SP_TET4].node + 4 * e);
        sum += v;
        *inverted += v <= 0;
    }
    for (int64_t e = 0; e < m->block[SP_HEX8].count; e++) {
        bool bad = false;
        for (int g = 0; g < 8; g++) {
            double s = 1 / sqrt(3), xi[3] = {g & 1 ? s : -s, g & 2 ? s : -s, g & 4 ? s : -s};
            double j = hex_jacobian(m, m->block[SP_HEX8].node + 8 * e, xi);
            sum += j;
            bad |= j <= 0;
        }
        *inverted += bad;
    }
    return sum;
}

static inline void check_counts(const char *name, const sp_mesh *m, int64_t nodes, int64_t tets, int64_t hexes,
                                int64_t inverted, double expected)
{
    int64_t bad;
    double v = volume(m, &bad);
    CHECK(m->vertex_count == nodes, "%s: %lld vertices", name, (long long)m->vertex_count);
    CHECK(m->block[SP_TET4].count == tets && m->block[SP_HEX8].count == hexes, "%s: %lld tetrahedra, %lld hexahedra",
          name, (long long)m->block[SP_TET4].count, (long long)m->block[SP_HEX8].count);
    CHECK(bad == inverted, "%s: %lld inverted", name, (long long)bad);
    /* The table has five significant digits. */
    CHECK(fabs(v - expected) <= 1e-4 * fabs(expected), "%s: volume %.8g is not %.8g", name, v, expected);
    CHECK(m->quadrature == 2, "%s: quadrature %d", name, m->quadrature);
    for (int64_t e = 0; e < tets + hexes; e++)
        CHECK(m->region[e] >= 0 && m->region[e] < m->material_count, "%s: element %lld has region %lld", name,
              (long long)e, (long long)m->region[e]);
}

/* The parse of `text` fails and the message contains `part`; the mesh is left empty. */
static inline void expect_error(int kind, const char *text, int64_t count, const sp_includes *includes,
                                const char *part)
{
    sp_mesh mesh;
    int status;
    context.message[0] = 0;
    if (kind == 'v')
        status = sp_volume_parse_veg(&context, text, count, includes, &mesh, NULL);
    else if (kind == 'm')
        status = sp_volume_parse_msh(&context, text, count, &steel, &mesh, NULL);
    else if (kind == 'd')
        status = sp_volume_parse_medit(&context, text, count, &steel, &mesh, NULL);
    else if (kind == 'k')
        status = sp_volume_parse_vtk(&context, text, count, &steel, &mesh, NULL);
    else if (kind == 'x')
        status = sp_volume_parse_vtu(&context, text, count, &steel, &mesh, NULL);
    else if (kind == 'c')
        status = sp_volume_parse_comsol(&context, text, count, &steel, &mesh, NULL);
    else
        status = sp_volume_parse_inp(&context, text, count, includes, &steel, &mesh, NULL, NULL, NULL);
    CHECK(status == SP_INPUT, "status %d for an error with '%s'", status, part);
    CHECK(strstr(context.message, part) != NULL, "'%s' lacks '%s'", context.message, part);
    CHECK(mesh.vertex_count == 0 && mesh.pool.first == NULL, "the mesh is not empty after '%s'", part);
    if (status == SP_OK)
        sp_mesh_free(&mesh);
}

/* A file that a test writes. */
struct buffer {
    char data[1 << 14];
    int64_t count;
};

SP_PRINTF(2, 3)
static inline void put_text(struct buffer *b, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    b->count += vsnprintf(b->data + b->count, sizeof b->data - (size_t)b->count, format, list);
    va_end(list);
}

/* The low `bytes` bytes of value, low byte first, or high byte first. */
static inline void put_bytes(struct buffer *b, uint64_t value, int bytes, bool big)
{
    for (int i = 0; i < bytes; i++)
        b->data[b->count++] = (char)(value >> 8 * (big ? bytes - 1 - i : i));
}

static inline void put_real(struct buffer *b, double value, bool big)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_bytes(b, bits, 8, big);
}

#define ERROR(kind, text, part) expect_error(kind, text, (int64_t)strlen(text), NULL, part)

/* The beginning of a text file of version 2.2, and four nodes. */
#define MSH_2 "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n"
#define MSH_NODES "$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"

#endif
