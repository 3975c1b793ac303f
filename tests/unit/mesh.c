/* The simulation mesh: its check, shapes, splitting, choosing, boundary and components. */
#include "mesh/mesh.h"
#include "base/random.h"
#include "test.h"

#include <omp.h>

static const double everywhere_low[3] = {-INFINITY, -INFINITY, -INFINITY};
static const double everywhere_high[3] = {INFINITY, INFINITY, INFINITY};

/* ---- meshes to test on ---- */

static double uniform(uint64_t stream, int64_t index)
{
    return 2 * sp_random_uniform(7, stream, (uint64_t)index) - 1;
}

static sp_material rubber(const char *name)
{
    sp_material material = {.law = SP_LAW_STVK, .density = 1000, .young = 1e6, .poisson = 0.3};
    snprintf(material.name, sizeof material.name, "%s", name);
    return material;
}

static void allocate(sp_mesh *mesh, int64_t vertices, int64_t hexes, int64_t tets)
{
    *mesh = (sp_mesh){.vertex_count = vertices,
                      .block[SP_HEX8].count = hexes,
                      .block[SP_TET4].count = tets,
                      .quadrature = 3,
                      .material_count = 2};
    mesh->vertices = sp_pool_new(&mesh->pool, vertices, 3 * sizeof(double));
    mesh->block[SP_HEX8].node = sp_pool_new(&mesh->pool, hexes, 8 * sizeof(int64_t));
    mesh->block[SP_TET4].node = sp_pool_new(&mesh->pool, tets, 4 * sizeof(int64_t));
    mesh->region = sp_pool_new(&mesh->pool, hexes + tets, sizeof(int64_t));
    mesh->materials = sp_pool_new(&mesh->pool, 2, sizeof(sp_material));
    mesh->materials[0] = rubber("body");
    mesh->materials[1] = rubber("tail");
}

/* A block of voxels of side h numbered by z, y, x, without embedded surface. */
static void block(sp_mesh *mesh, int64_t nx, int64_t ny, int64_t nz, double h)
{
    static const int corner[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0}, {0, 1, 0},
                                     {0, 0, 1}, {1, 0, 1}, {1, 1, 1}, {0, 1, 1}};
    allocate(mesh, (nx + 1) * (ny + 1) * (nz + 1), nx * ny * nz, 0);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        mesh->vertices[3 * v] = h * (double)(v % (nx + 1));
        mesh->vertices[3 * v + 1] = h * (double)(v / (nx + 1) % (ny + 1));
        mesh->vertices[3 * v + 2] = h * (double)(v / (nx + 1) / (ny + 1));
    }
    for (int64_t e = 0; e < mesh->block[SP_HEX8].count; e++)
        for (int a = 0; a < 8; a++) {
            int64_t x = e % nx + corner[a][0], y = e / nx % ny + corner[a][1], z = e / nx / ny + corner[a][2];
            mesh->block[SP_HEX8].node[8 * e + a] = (z * (ny + 1) + y) * (nx + 1) + x;
        }
}

/* One surface vertex at a random place of every element, and a triangle of the first three. */
static void embed(sp_mesh *mesh)
{
    sp_embedded_surface *surface = &mesh->surface;
    surface->vertex_count = sp_mesh_element_count(mesh);
    surface->triangle_count = 1;
    surface->width = mesh->block[SP_HEX8].count > 0 ? 8 : 4;
    surface->vertices = sp_pool_new(&mesh->pool, surface->vertex_count, 3 * sizeof(double));
    surface->element = sp_pool_new(&mesh->pool, surface->vertex_count, sizeof(int64_t));
    surface->weights = sp_pool_new(&mesh->pool, surface->vertex_count, (size_t)surface->width * sizeof(double));
    surface->triangles = sp_pool_new(&mesh->pool, 3, sizeof(int64_t));
    for (int i = 0; i < 3; i++)
        surface->triangles[i] = i;
    for (int64_t v = 0; v < surface->vertex_count; v++) {
        double xi[3] = {uniform(1, 3 * v), uniform(1, 3 * v + 1), uniform(1, 3 * v + 2)};
        double *weight = surface->weights + surface->width * v;
        int count;
        const int64_t *node = sp_mesh_nodes(mesh, v, &count);
        surface->element[v] = v;
        for (int a = 0; a < count; a++) {
            weight[a] = 0.25;
            if (count == 8)
                weight[a] = (1 + sp_corner_place[SP_HEXAHEDRON][a][0] * xi[0]) *
                            (1 + sp_corner_place[SP_HEXAHEDRON][a][1] * xi[1]) *
                            (1 + sp_corner_place[SP_HEXAHEDRON][a][2] * xi[2]) / 8;
            for (int c = 0; c < 3; c++)
                surface->vertices[3 * v + c] += weight[a] * mesh->vertices[3 * node[a] + c];
        }
    }
}

/* The 3 × 2 × 2 block of side ½ with a tetrahedron beyond its corner (1.5, 1, 1), anchors and an embedded surface. */
static void mixed(sp_mesh *mesh)
{
    OWNED(sp_mesh) grid;
    block(&grid, 3, 2, 2, 0.5);
    allocate(mesh, 36 + 3, 12, 1);
    memcpy(mesh->vertices, grid.vertices, 36 * 3 * sizeof(double));
    memcpy(mesh->block[SP_HEX8].node, grid.block[SP_HEX8].node, 12 * 8 * sizeof(int64_t));
    for (int a = 0; a < 4; a++)
        mesh->block[SP_TET4].node[a] = 35 + a;
    for (int a = 1; a < 4; a++)
        for (int c = 0; c < 3; c++)
            mesh->vertices[3 * (35 + a) + c] = grid.vertices[3 * 35 + c] + (c == a - 1);
    mesh->region[12] = 1;
    const int64_t fixed[3] = {0, 4, 38};
    mesh->fixed_count = 3;
    mesh->fixed = sp_pool_copy(&mesh->pool, fixed, 3, sizeof(int64_t));
    mesh->fixed_axes = sp_pool_copy(&mesh->pool, "\7\1\6", 3, 1);
    embed(mesh);
}

/* New numbers for the vertices, and every hexahedron turned about ζ and then about ξ by quarter turns of its own. */
static void shuffle(sp_mesh *mesh)
{
    static const int about_zeta[8] = {1, 2, 3, 0, 5, 6, 7, 4}, about_xi[8] = {3, 2, 6, 7, 0, 1, 5, 4};
    int64_t *number = sp_pool_new(&mesh->pool, mesh->vertex_count, sizeof *number);
    double *moved = sp_pool_new(&mesh->pool, mesh->vertex_count, 3 * sizeof *moved);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        int64_t other = (int64_t)(sp_random_uniform(7, 2, (uint64_t)v) * (double)(v + 1));
        number[v] = number[other];
        number[other] = v;
    }
    for (int64_t v = 0; v < mesh->vertex_count; v++)
        memcpy(moved + 3 * number[v], mesh->vertices + 3 * v, 3 * sizeof *moved);
    mesh->vertices = moved;
    for (int64_t e = 0; e < mesh->block[SP_HEX8].count; e++) {
        int turns[2] = {(int)(4 * sp_random_uniform(7, 3, (uint64_t)e)),
                        (int)(4 * sp_random_uniform(7, 4, (uint64_t)e))};
        for (int a = 0; a < 8; a++)
            mesh->block[SP_HEX8].node[8 * e + a] = number[mesh->block[SP_HEX8].node[8 * e + a]];
        for (int step = 0; step < turns[0] + turns[1]; step++) {
            int64_t old[8];
            memcpy(old, mesh->block[SP_HEX8].node + 8 * e, sizeof old);
            for (int a = 0; a < 8; a++)
                mesh->block[SP_HEX8].node[8 * e + a] = old[step < turns[0] ? about_zeta[a] : about_xi[a]];
        }
    }
}

/* ---- measures of a triangle mesh, independent of the library ---- */

typedef struct measures {
    double volume, area; /* the volume by the divergence theorem */
    int64_t unmatched;   /* directed edges that occur more or less often than their opposite */
} measures;

static int compare_edges(const void *left, const void *right)
{
    const int64_t *a = left, *b = right;
    return a[0] != b[0] ? (a[0] > b[0] ? 1 : -1) : (a[1] > b[1]) - (a[1] < b[1]);
}

static measures measure(const double *vertices, int64_t count, const int64_t *triangles)
{
    measures found = {0};
    int64_t(*edge)[3] = malloc((size_t)(3 * count + 1) * sizeof *edge);
    for (int64_t t = 0; t < count; t++) {
        const double *x[3];
        double u[3], v[3], n[3];
        for (int a = 0; a < 3; a++) {
            int64_t from = triangles[3 * t + a], to = triangles[3 * t + (a + 1) % 3];
            x[a] = vertices + 3 * from;
            edge[3 * t + a][0] = from < to ? from : to;
            edge[3 * t + a][1] = from < to ? to : from;
            edge[3 * t + a][2] = from < to ? 1 : -1;
        }
        for (int c = 0; c < 3; c++) {
            u[c] = x[1][c] - x[0][c];
            v[c] = x[2][c] - x[0][c];
        }
        for (int c = 0; c < 3; c++) {
            n[c] = u[(c + 1) % 3] * v[(c + 2) % 3] - u[(c + 2) % 3] * v[(c + 1) % 3];
            found.volume += x[0][c] * n[c] / 6;
        }
        found.area += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
    }
    qsort(edge, (size_t)(3 * count), sizeof *edge, compare_edges);
    for (int64_t i = 0, j; i < 3 * count; i = j) {
        int64_t sum = 0;
        for (j = i; j < 3 * count && compare_edges(edge[i], edge[j]) == 0; j++)
            sum += edge[j][2];
        found.unmatched += sum != 0;
    }
    free(edge);
    return found;
}

static measures boundary_of(const sp_mesh *mesh, int64_t *count)
{
    OWNED(sp_pool) pool = {0};
    int64_t *triangles, *element;
    CHECK_OK(sp_mesh_boundary(&context, mesh, &pool, count, &triangles, &element));
    for (int64_t t = 0; t < *count; t++) {
        int nodes, met = 0;
        const int64_t *node = sp_mesh_nodes(mesh, element[t], &nodes);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < nodes; b++)
                met += triangles[3 * t + a] == node[b];
        CHECK(met == 3, "triangle %lld is no face of element %lld", (long long)t, (long long)element[t]);
    }
    measures found = measure(mesh->vertices, *count, triangles);
    return found;
}

/* ---- sp_mesh_check ---- */

TEST(good_meshes_pass)
{
    sp_mesh mesh;
    mixed(&mesh);
    CHECK_OK(sp_mesh_check(&context, &mesh, 1e-14));
    sp_mesh_free(&mesh);
    CHECK(mesh.pool.first == NULL && mesh.vertex_count == 0, "free leaves an empty mesh");
    block(&mesh, 2, 1, 1, 1e-3);
    CHECK_OK(sp_mesh_check(&context, &mesh, 0));
    shuffle(&mesh);
    CHECK_OK(sp_mesh_check(&context, &mesh, 0));
    sp_mesh_free(&mesh);
}

#define REFUSED(text, ...)                                                                                             \
    do {                                                                                                               \
        sp_mesh mesh;                                                                                                  \
        mixed(&mesh);                                                                                                  \
        __VA_ARGS__;                                                                                                   \
        context.message[0] = 0;                                                                                        \
        int status_ = sp_mesh_check(&context, &mesh, 1e-12);                                                           \
        CHECK(status_ == SP_INPUT, "status %d", status_);                                                              \
        CHECK(strcmp(context.message, text) == 0, "says \"%s\"", context.message);                                     \
        sp_mesh_free(&mesh);                                                                                           \
    } while (0)

TEST(check_refuses_counts)
{
    REFUSED("vertices: -1 is no possible count", mesh.vertex_count = -1);
    REFUSED("vertices: 4611686018427387904 is no possible count", mesh.vertex_count = (int64_t)1 << 62);
    REFUSED("hex: 144115188075855872 is no possible count", mesh.block[SP_HEX8].count = (int64_t)1 << 57);
    REFUSED("tet: -9223372036854775808 is no possible count", mesh.block[SP_TET4].count = INT64_MIN);
    REFUSED("hex: 144115188075855871 elements are too many", mesh.block[SP_HEX8].count = ((int64_t)1 << 57) - 1;
            mesh.block[SP_TET4].count = (int64_t)1 << 57);
    REFUSED("the mesh has no elements", mesh.block[SP_HEX8].count = mesh.block[SP_TET4].count = 0);
    REFUSED("hex: the array is missing", mesh.block[SP_HEX8].node = NULL);
    REFUSED("fixed: -3 is no possible count", mesh.fixed_count = -3);
    REFUSED("materials: 36028797018963968 is no possible count", mesh.material_count = (int64_t)1 << 55);
    REFUSED("surface/vertices: 1152921504606846976 is no possible count", mesh.surface.vertex_count = (int64_t)1 << 60);
    REFUSED("surface/triangles: -1 is no possible count", mesh.surface.triangle_count = -1);
    REFUSED("surface/weights: 4 columns instead of 8", mesh.surface.width = 4);
    REFUSED("quadrature is 4, it must be 2 or 3", mesh.quadrature = 4);
}

TEST(check_refuses_elements)
{
    REFUSED("vertices: vertex 5: y = nan m is not finite or larger than 1e+100", mesh.vertices[16] = NAN);
    REFUSED("vertices: vertex 38: z = -inf m is not finite or larger than 1e+100",
            mesh.vertices[3 * 38 + 2] = -INFINITY);
    REFUSED("vertices: vertex 0: x = 1e+101 m is not finite or larger than 1e+100", mesh.vertices[0] = 1e101);
    REFUSED("hex: element 7 names vertex 39 of 39", mesh.block[SP_HEX8].node[8 * 7 + 3] = 39);
    REFUSED("hex: element 0 names vertex -1 of 39", mesh.block[SP_HEX8].node[0] = -1; mesh.block[SP_HEX8].node[8] = -2);
    REFUSED("hex: element 3 names vertex 9223372036854775807 of 39", mesh.block[SP_HEX8].node[24 + 7] = INT64_MAX);
    REFUSED("tet: element 12 names vertex -9223372036854775808 of 39", mesh.block[SP_TET4].node[3] = INT64_MIN);
    REFUSED("hex: element 2 names vertex 2 twice, as nodes 0 and 6",
            mesh.block[SP_HEX8].node[8 * 2 + 6] = mesh.block[SP_HEX8].node[8 * 2]);
    REFUSED("tet: element 12 names vertex 36 twice, as nodes 1 and 3", mesh.block[SP_TET4].node[3] = 36);
    REFUSED("region: element 4 is in region 2 of 2", mesh.region[4] = 2);
    REFUSED("region: element 12 is in region -1 of 2", mesh.region[12] = -1);
    /* The volume of the tetrahedron with unit edges along the axes is 1/6. */
    REFUSED("tet: element 12 is inverted or flat: its volume is -0.166667 m3", mesh.block[SP_TET4].node[0] = 36;
            mesh.block[SP_TET4].node[1] = 35);
    REFUSED("tet: element 12 is inverted or flat: its volume is 0 m3", mesh.vertices[3 * 38 + 2] = 1);
    /* Turned inside out, det J = −(side/2)³ = −1/64 at every point. */
    REFUSED(
        "hex: element 5 is inverted or folded: its Jacobian falls to -0.015625 m3", for (int a = 0; a < 4; a++) {
            int64_t low = mesh.block[SP_HEX8].node[40 + a];
            mesh.block[SP_HEX8].node[40 + a] = mesh.block[SP_HEX8].node[44 + a];
            mesh.block[SP_HEX8].node[44 + a] = low;
        });
}

/* A cube whose upper face is turned by half a turn: at height ζ the square is scaled by −ζ and det J = ζ²: positive at
 * the corners and at 2 × 2 × 2 Gauss points, zero at the midpoint of 3 × 3 × 3. */
TEST(check_looks_at_the_quadrature_points)
{
    OWNED(sp_mesh) mesh;
    block(&mesh, 1, 1, 1, 2);
    static const int half_turn[8] = {0, 1, 2, 3, 6, 7, 4, 5};
    int64_t old[8];
    memcpy(old, mesh.block[SP_HEX8].node, sizeof old);
    for (int a = 0; a < 8; a++)
        mesh.block[SP_HEX8].node[a] = old[half_turn[a]];
    mesh.quadrature = 2;
    CHECK_OK(sp_mesh_check(&context, &mesh, 0));
    CHECK_NEAR(sp_mesh_element_volume(&mesh, 0), 8.0 / 3, 1e-14);
    mesh.quadrature = 3;
    CHECK(sp_mesh_check(&context, &mesh, 0) == SP_INPUT, "accepted");
    CHECK(strcmp(context.message, "hex: element 0 is inverted or folded: its Jacobian falls to 0 m3") == 0, "%s",
          context.message);
    CHECK(sp_mesh_inverted(&mesh, false) == 1, "one is bad");
    CHECK(sp_mesh_inverted(&mesh, true) == 0, "its mirror image is as bad");
    /* Six tetrahedra between such corners cannot all be positive. */
    mesh.quadrature = 2;
    sp_mesh split;
    CHECK(sp_mesh_split(&context, &mesh, &split) == SP_INPUT, "accepted");
    CHECK(strncmp(context.message, "hex: element 0 is too distorted to be split", 43) == 0, "%s", context.message);
    CHECK(split.pool.first == NULL && split.block[SP_TET4].count == 0, "split is empty");
}

TEST(check_refuses_anchors_and_surface)
{
    REFUSED("fixed: entry 2 is vertex 39 of 39", mesh.fixed[2] = 39);
    REFUSED("fixed: entry 0 is vertex -5 of 39", mesh.fixed[0] = -5);
    REFUSED("fixed: entry 1 is vertex 0 after vertex 0, they must increase", mesh.fixed[1] = 0);
    REFUSED("fixed: entry 1 (vertex 4) holds the axes 0, they must be 1 to 7", mesh.fixed_axes[1] = 0);
    REFUSED("fixed: entry 2 (vertex 38) holds the axes 8, they must be 1 to 7", mesh.fixed_axes[2] = 8);
    REFUSED("surface/vertices: vertex 12: z = inf m is not finite or larger than 1e+100",
            mesh.surface.vertices[38] = INFINITY);
    REFUSED("surface/triangles: triangle 0 names vertex 13 of 13", mesh.surface.triangles[1] = 13);
    REFUSED("surface/triangles: triangle 0 names vertex -1 of 13", mesh.surface.triangles[2] = -1);
    REFUSED("surface/element: vertex 3 lies in element 13 of 13", mesh.surface.element[3] = 13);
    REFUSED("surface/element: vertex 0 lies in element -1 of 13", mesh.surface.element[0] = -1);
    REFUSED("surface/weights: weight 5 of vertex 2 is nan", mesh.surface.weights[21] = NAN);
    REFUSED("surface/weights: weight 7 of vertex 12 is 0.5, but its element has 4 nodes",
            mesh.surface.weights[8 * 12 + 7] = 0.5);
    REFUSED("surface/weights: the weights of vertex 12 sum to 1.00000001 instead of 1",
            mesh.surface.weights[8 * 12] += 1e-8);
    /* The diagonal of the box 2.5 × 2 × 2 is √14.25 = 3.774917 m. */
    REFUSED("surface/weights: the weights of vertex 12 give a point 0.25 m away from it, more than 3.77492e-12 m",
            mesh.surface.vertices[3 * 12] += 0.25);
}

TEST(check_refuses_materials)
{
    REFUSED("materials: number 1: material: the name is empty", mesh.materials[1].name[0] = 0);
    REFUSED("materials: number 0: material: the name is longer than 63 bytes",
            memset(mesh.materials[0].name, 'a', SP_NAME_LENGTH));
    REFUSED("materials: number 1 has the name \"body\" of another one", mesh.materials[1] = mesh.materials[0]);
    REFUSED("materials: number 2 has the name \"tail\" of another one",
            sp_material four[4] = {rubber("tail"), rubber("body"), rubber("tail"), rubber("body")};
            mesh.materials = sp_pool_copy(&mesh.pool, four, 4, sizeof *four); mesh.material_count = 4);
    REFUSED("materials: number 1: material \"tail\": density 0 kg/m3 is not positive and finite",
            mesh.materials[1].density = 0);
    REFUSED("region: element 0 is in region 0 of 0", mesh.material_count = 0);
}

/* Many bad elements: the first one is named, by any number of threads. */
TEST(check_names_the_first)
{
    sp_mesh mesh;
    block(&mesh, 40, 40, 40, 0.1);
    for (int64_t e = 12345; e < mesh.block[SP_HEX8].count; e += 7)
        mesh.block[SP_HEX8].node[8 * e + e % 8] = -e;
    for (context.threads = 1; context.threads <= 8; context.threads *= 2) {
        CHECK(sp_mesh_check(&context, &mesh, 0) == SP_INPUT, "accepted");
        CHECK(strcmp(context.message, "hex: element 12345 names vertex -12345 of 68921") == 0, "%s", context.message);
    }
    context.threads = 2;
    sp_mesh_free(&mesh);
    block(&mesh, 60, 60, 60, 0.1);
    double start = omp_get_wtime();
    CHECK_OK(sp_mesh_check(&context, &mesh, 0));
    NOTE("checking %lld voxels took %.1f ms", (long long)mesh.block[SP_HEX8].count, 1e3 * (omp_get_wtime() - start));
    for (int64_t i = 0; i < 3 * mesh.vertex_count; i++)
        mesh.vertices[i] += 0.01 * uniform(5, i);
    start = omp_get_wtime();
    CHECK_OK(sp_mesh_check(&context, &mesh, 0));
    NOTE("distorted, it took %.1f ms", 1e3 * (omp_get_wtime() - start));
    context.threads = 1;
    sp_mesh_free(&mesh);
}

/* ---- shapes ---- */

TEST(volumes_and_boxes)
{
    sp_mesh mesh;
    double low[3], high[3];
    mixed(&mesh);
    sp_mesh_box(&mesh, low, high);
    const double expected[3] = {2.5, 2, 2};
    for (int c = 0; c < 3; c++) {
        CHECK_NEAR(low[c], 0, 0);
        CHECK_NEAR(high[c], expected[c], 0);
    }
    CHECK_NEAR(sp_mesh_element_volume(&mesh, 3), 0.125, 1e-16);
    CHECK_NEAR(sp_mesh_element_volume(&mesh, 12), 1.0 / 6, 1e-16);
    sp_mesh_free(&mesh);
    sp_mesh_box(&mesh, low, high);
    CHECK(low[0] == 0 && high[2] == 0, "an empty mesh has the box 0");

    /* A frustum of a pyramid: h/3 (A + B + √(AB)) with h = 3, A = 4, B = 1. */
    block(&mesh, 1, 1, 1, 1);
    for (int v = 0; v < 8; v++) {
        double side = v < 4 ? 2 : 1;
        mesh.vertices[3 * v] = side * (mesh.vertices[3 * v] - 0.5);
        mesh.vertices[3 * v + 1] = side * (mesh.vertices[3 * v + 1] - 0.5);
        mesh.vertices[3 * v + 2] *= 3;
    }
    CHECK_NEAR(sp_mesh_element_volume(&mesh, 0), 7, 1e-14);
    sp_mesh_free(&mesh);
}

/* det J from the derivatives of the eight shape functions. */
static double jacobian_at(const double *vertices, const int64_t hex[8], const double xi[3])
{
    double J[3][3] = {{0}};
    for (int a = 0; a < 8; a++)
        for (int d = 0; d < 3; d++) {
            double slope = 0.125;
            for (int c = 0; c < 3; c++)
                slope *=
                    c == d ? sp_corner_place[SP_HEXAHEDRON][a][c] : 1 + sp_corner_place[SP_HEXAHEDRON][a][c] * xi[c];
            for (int c = 0; c < 3; c++)
                J[c][d] += slope * vertices[3 * hex[a] + c];
        }
    return J[0][0] * (J[1][1] * J[2][2] - J[1][2] * J[2][1]) - J[0][1] * (J[1][0] * J[2][2] - J[1][2] * J[2][0]) +
           J[0][2] * (J[1][0] * J[2][1] - J[1][1] * J[2][0]);
}

static bool positive(const sp_mesh *mesh, const int64_t hex[8])
{
    double g = sqrt(mesh->quadrature == 2 ? 1.0 / 3 : 0.6);
    bool good = true;
    for (int n = 0; n < 8; n++)
        good &= jacobian_at(mesh->vertices, hex, (double[]){n & 1 ? 1 : -1, n & 2 ? 1 : -1, n & 4 ? 1 : -1}) > 0;
    for (int n = 0; n < 27; n++) {
        const double xi[3] = {g * (n % 3 - 1), g * (n / 3 % 3 - 1), g * (n / 9 - 1)};
        if (mesh->quadrature == 3 || (xi[0] != 0 && xi[1] != 0 && xi[2] != 0))
            good &= jacobian_at(mesh->vertices, hex, xi) > 0;
    }
    return good;
}

/* On voxels with every degree of distortion, flat and oblique ones: the bad elements, and their size. */
TEST(shapes_agree_with_shape_functions)
{
    int64_t bad_ones = 0, all = 0;
    for (int round = 0; round < 24; round++) {
        OWNED(sp_mesh) mesh;
        block(&mesh, 6, 6, 6, 1);
        mesh.quadrature = 2 + round % 2;
        for (int64_t v = 0; v < mesh.vertex_count; v++) {
            double *x = mesh.vertices + 3 * v;
            for (int c = 0; c < 3; c++)
                x[c] += 0.05 * (round / 2) * uniform(30, 3 * v + c);
            x[0] += round % 3 * x[1];
            x[2] *= round % 4 == 3 ? 1e-3 : 1;
        }
        int64_t expected = 0;
        for (int64_t e = 0; e < mesh.block[SP_HEX8].count; e++) {
            const int64_t *hex = mesh.block[SP_HEX8].node + 8 * e;
            double volume = 0, g = sqrt(1.0 / 3);
            for (int n = 0; n < 8; n++)
                volume += jacobian_at(mesh.vertices, hex, (double[]){n & 1 ? g : -g, n & 2 ? g : -g, n & 4 ? g : -g});
            CHECK_NEAR(sp_mesh_element_volume(&mesh, e), volume, 1e-13);
            expected += !positive(&mesh, hex);
        }
        int64_t found = sp_mesh_inverted(&mesh, false);
        CHECK(found == expected, "round %d: %lld bad elements instead of %lld", round, (long long)found,
              (long long)expected);
        bad_ones += found;
        all += mesh.block[SP_HEX8].count;
    }
    CHECK(bad_ones > all / 20 && bad_ones < all / 2, "%lld of %lld: both kinds must occur", (long long)bad_ones,
          (long long)all);
}

TEST(inverted_elements_are_turned)
{
    OWNED(sp_mesh) mesh;
    mixed(&mesh);
    CHECK(sp_mesh_inverted(&mesh, false) == 0, "all are good");
    /* Three hexahedra and the tetrahedron become their mirror images, in different ways, with their surface weights. */
    static const int mirror[3][8] = {{1, 0, 3, 2, 5, 4, 7, 6}, {0, 3, 2, 1, 4, 7, 6, 5}, {4, 5, 6, 7, 0, 1, 2, 3}};
    for (int i = 0; i < 3; i++) {
        int64_t e = 4 * i, old[8];
        double weight[8];
        memcpy(old, mesh.block[SP_HEX8].node + 8 * e, sizeof old);
        memcpy(weight, mesh.surface.weights + 8 * e, sizeof weight);
        for (int a = 0; a < 8; a++) {
            mesh.block[SP_HEX8].node[8 * e + a] = old[mirror[i][a]];
            mesh.surface.weights[8 * e + a] = weight[mirror[i][a]];
        }
    }
    mesh.block[SP_TET4].node[0] = 36;
    mesh.block[SP_TET4].node[1] = 35;
    CHECK(sp_mesh_inverted(&mesh, false) == 4 && sp_mesh_folded(&mesh) == 0, "four are bad, and only turned");
    CHECK(sp_mesh_inverted(&mesh, true) == 4, "four were turned");
    CHECK(sp_mesh_inverted(&mesh, false) == 0, "none is left");
    CHECK_OK(sp_mesh_check(&context, &mesh, 1e-14));
    CHECK_NEAR(sp_mesh_volume(&mesh), 1.5 + 1.0 / 6, 1e-14);

    /* Elements that no mirror image repairs stay unchanged; elements that cannot be checked are skipped. */
    mesh.vertices[3 * 38 + 2] = 1;
    mesh.block[SP_HEX8].node[8] = 1000;
    mesh.vertices[0] = NAN;
    int64_t before[12];
    memcpy(before, mesh.block[SP_HEX8].node, 8 * sizeof *before);
    memcpy(before + 8, mesh.block[SP_TET4].node, 4 * sizeof *before);
    CHECK(sp_mesh_inverted(&mesh, false) == 2 && sp_mesh_folded(&mesh) == 2,
          "the flat tetrahedron and the hexahedron at the NaN");
    CHECK(sp_mesh_inverted(&mesh, true) == 0, "nothing to be turned");
    CHECK(memcmp(before, mesh.block[SP_HEX8].node, 8 * sizeof *before) == 0 &&
              memcmp(before + 8, mesh.block[SP_TET4].node, 4 * sizeof *before) == 0,
          "order kept");
}

/* ---- splitting ---- */

static void check_split_surface(const sp_mesh *split)
{
    for (int64_t v = 0; v < split->surface.vertex_count; v++)
        for (int a = 0; a < 4; a++)
            CHECK(split->surface.weights[4 * v + a] >= -1e-14, "weight %d of vertex %lld is %g", a, (long long)v,
                  split->surface.weights[4 * v + a]);
}

TEST(voxels_are_split)
{
    OWNED(sp_mesh) mesh;
    sp_mesh split;
    mixed(&mesh);
    CHECK_OK(sp_mesh_split(&context, &mesh, &split));
    CHECK(split.block[SP_HEX8].count == 0 && split.block[SP_TET4].count == 12 * 6 + 1, "%lld tetrahedra",
          (long long)split.block[SP_TET4].count);
    CHECK_OK(sp_mesh_check(&context, &split, 1e-15));
    CHECK_NEAR(sp_mesh_volume(&split), 1.5 + 1.0 / 6, 1e-14);
    for (int64_t t = 0; t < 72; t++) {
        bool low = false, high = false;
        for (int a = 0; a < 4; a++) {
            low |= split.block[SP_TET4].node[4 * t + a] == mesh.block[SP_HEX8].node[8 * (t / 6)];
            high |= split.block[SP_TET4].node[4 * t + a] == mesh.block[SP_HEX8].node[8 * (t / 6) + 6];
        }
        CHECK(low && high, "tetrahedron %lld is not at the diagonal 0-6", (long long)t);
        CHECK_NEAR(sp_mesh_element_volume(&split, t), 0.125 / 6, 1e-16);
    }
    CHECK(split.region[71] == 0 && split.region[72] == 1, "regions are kept");
    CHECK(split.fixed_count == 3 && split.fixed[2] == 38 && split.fixed_axes[2] == 6, "anchors are kept");
    CHECK(split.material_count == 2 && strcmp(split.materials[1].name, "tail") == 0, "materials are kept");
    CHECK(split.surface.width == 4 && split.surface.element[12] == 72 && split.surface.triangles[2] == 2,
          "the surface is kept");
    check_split_surface(&split);
    for (int64_t v = 0; v < 12; v++)
        CHECK(split.surface.element[v] / 6 == v, "vertex %lld left its hexahedron", (long long)v);
    sp_mesh_free(&split);

    /* The boundary of the block alone: 2 (1.5 · 1 + 1.5 · 1 + 1 · 1) = 8 m², 32 squares. */
    mesh.block[SP_TET4].count = mesh.surface.vertex_count = mesh.surface.triangle_count = 0;
    CHECK_OK(sp_mesh_split(&context, &mesh, &split));
    int64_t count;
    measures found = boundary_of(&split, &count);
    CHECK(count == 64 && found.unmatched == 0, "%lld triangles, %lld open edges", (long long)count,
          (long long)found.unmatched);
    CHECK_NEAR(found.area, 8, 1e-13);
    CHECK_NEAR(found.volume, 1.5, 1e-14);
    sp_mesh_free(&split);
}

/* Neighbours agree on their faces in any order of vertices and corners, and when the faces are not plane. */
TEST(any_hexahedra_are_split)
{
    OWNED(sp_mesh) mesh;
    sp_mesh split;
    int64_t count, from_count;
    block(&mesh, 4, 4, 4, 0.5);
    shuffle(&mesh);
    CHECK_OK(sp_mesh_split(&context, &mesh, &split));
    measures found = boundary_of(&split, &count);
    CHECK(count == 6 * 16 * 2 && found.unmatched == 0, "%lld triangles, %lld open edges", (long long)count,
          (long long)found.unmatched);
    CHECK_NEAR(found.area, 24, 1e-12);
    CHECK_NEAR(sp_mesh_volume(&split), 8, 1e-13);
    sp_mesh_free(&split);

    for (int64_t i = 0; i < 3 * mesh.vertex_count; i++)
        mesh.vertices[i] += 0.05 * uniform(6, i);
    embed(&mesh);
    CHECK_OK(sp_mesh_split(&context, &mesh, &split));
    CHECK_OK(sp_mesh_check(&context, &split, 1e-15));
    found = boundary_of(&split, &count);
    measures from = boundary_of(&mesh, &from_count);
    CHECK(count == 192 && from_count == 192 && found.unmatched == 0, "%lld and %lld triangles, %lld open edges",
          (long long)count, (long long)from_count, (long long)found.unmatched);
    CHECK_NEAR(found.area, from.area, 1e-12);
    CHECK_NEAR(sp_mesh_volume(&split), found.volume, 1e-13);
    sp_mesh_free(&split);
}

/* ---- choosing ---- */

TEST(vertices_are_fixed)
{
    OWNED(sp_mesh) mesh;
    int64_t added;
    block(&mesh, 3, 2, 2, 0.5);
    const double high[3] = {0, INFINITY, 0.5};
    CHECK_OK(sp_mesh_fix_box(&context, &mesh, everywhere_low, high, 7, &added));
    CHECK(added == 6 && mesh.fixed_count == 6, "x = 0 and z <= 0.5 has 3 x 2 vertices, not %lld", (long long)added);
    const double normal[3] = {0, -2, 0};
    CHECK_OK(sp_mesh_fix_half_space(&context, &mesh, normal, -2, 2, &added)); /* half space y ≥ 1 */
    CHECK(added == 12 && mesh.fixed_count == 16, "y = 1 has 4 x 3 vertices (2 held before), not %lld",
          (long long)added);
    const int64_t list[3] = {35, 1, 35};
    CHECK_OK(sp_mesh_fix_list(&context, &mesh, 3, list, 4));
    CHECK(mesh.fixed_count == 17, "one more, not %lld", (long long)mesh.fixed_count);
    for (int64_t i = 0; i < mesh.fixed_count; i++) {
        const double *x = mesh.vertices + 3 * mesh.fixed[i];
        int axes = (x[0] == 0 && x[2] <= 0.5 ? 7 : 0) | (x[1] == 1 ? 2 : 0) |
                   (mesh.fixed[i] == 35 || mesh.fixed[i] == 1 ? 4 : 0);
        CHECK(mesh.fixed_axes[i] == axes, "vertex %lld holds %d, not %d", (long long)mesh.fixed[i], mesh.fixed_axes[i],
              axes);
    }
    CHECK_OK(sp_mesh_check(&context, &mesh, 0));

    /* two displacement fields, the second one larger: fixed components by the same rule, the others unchanged */
    double U[2 * 108], largest = 0;
    for (int i = 0; i < 216; i++)
        U[i] = i % 2 ? i : -i;
    const double moved = sp_mesh_fix(&mesh, 2, U);
    for (int i = 0; i < 216; i++) {
        const double *x = mesh.vertices + i % 108 / 3 * 3;
        const int v = i % 108 / 3,
                  axes = (x[0] == 0 && x[2] <= 0.5 ? 7 : 0) | (x[1] == 1 ? 2 : 0) | (v == 35 || v == 1 ? 4 : 0);
        CHECK(fabs(U[i]) == (axes >> i % 3 & 1 ? 0 : i), "row %d of field %d is %g", i % 108, i / 108, U[i]);
        largest = axes >> i % 3 & 1 ? i : largest;
    }
    CHECK(moved == largest, "moved by %g, not %g", moved, largest);

    const int64_t outside[2] = {2, 36};
    CHECK(sp_mesh_fix_list(&context, &mesh, 2, outside, 7) == SP_INPUT, "accepted");
    CHECK(strcmp(context.message, "entry 1 of the list to be fixed is vertex 36 of 36") == 0, "%s", context.message);
    CHECK(sp_mesh_fix_list(&context, &mesh, 1, outside, 8) == SP_USAGE, "accepted");
    const double zero[3] = {0}, nan[3] = {NAN, 0, 0};
    CHECK(sp_mesh_fix_half_space(&context, &mesh, zero, 1, 7, &added) == SP_USAGE, "accepted");
    CHECK(sp_mesh_fix_half_space(&context, &mesh, nan, 1, 7, &added) == SP_USAGE, "accepted");
    CHECK(sp_mesh_fix_box(&context, &mesh, nan, everywhere_high, 7, &added) == SP_USAGE, "accepted");
    CHECK(sp_mesh_fix_box(&context, &mesh, everywhere_high, everywhere_low, 7, &added) == SP_USAGE, "accepted");
    CHECK(mesh.fixed_count == 17, "refusals change nothing");
}

TEST(regions_by_box)
{
    OWNED(sp_mesh) mesh;
    mixed(&mesh);
    /* Centres of the voxels: x = 0.25, 0.75, 1.25; of the tetrahedron: (1.75, 1.25, 1.25). */
    const double low[3] = {0.75, -INFINITY, 0.5}, high[3] = {1.6, 3, 3};
    CHECK(sp_mesh_region_box(&mesh, low, high, 1) == 4, "two columns of the upper layer");
    for (int64_t e = 0; e < 13; e++)
        CHECK(mesh.region[e] == (e == 12 || (e >= 6 && e % 3 > 0)), "element %lld", (long long)e);
    CHECK(sp_mesh_region_box(&mesh, everywhere_low, everywhere_high, 0) == 13, "all");
}

TEST(regions_come_and_go)
{
    OWNED(sp_mesh) mesh;
    mixed(&mesh); /* twelve hexahedra of region 0, "body", and a tetrahedron of region 1, "tail" */
    const sp_material cap = rubber("cap"), never = rubber("never");
    CHECK_OK(sp_mesh_region_add(&context, &mesh, &never));
    CHECK_OK(sp_mesh_region_add(&context, &mesh, &cap));
    CHECK(mesh.material_count == 4 && sp_mesh_region_find(&mesh, "tail") == 1 &&
              sp_mesh_region_find(&mesh, "cap") == 3 && sp_mesh_region_find(&mesh, "ca") == -1,
          "the regions have other numbers");
    /* the whole block is "cap": "body" and "never" have no element */
    CHECK(sp_mesh_region_box(&mesh, everywhere_low, (double[]){1.5, 1, 1}, 3) == 12, "not the block");
    CHECK_OK(sp_mesh_region_drop_empty(&context, &mesh));
    CHECK(mesh.material_count == 2 && !strcmp(mesh.materials[0].name, "tail") && !strcmp(mesh.materials[1].name, "cap"),
          "other regions are left");
    for (int64_t e = 0; e < 13; e++)
        CHECK(mesh.region[e] == (e < 12), "element %lld", (long long)e);
    CHECK_OK(sp_mesh_check(&context, &mesh, 1e-9));
}

/* ---- boundary and components ---- */

TEST(boundary_is_closed_and_outward)
{
    sp_mesh mesh;
    int64_t count;
    mixed(&mesh);
    measures found = boundary_of(&mesh, &count);
    CHECK(count == 64 + 4 && found.unmatched == 0, "%lld triangles, %lld open edges", (long long)count,
          (long long)found.unmatched);
    CHECK_NEAR(found.volume, 1.5 + 1.0 / 6, 1e-14);
    CHECK_NEAR(found.area, 8 + 1.5 + sqrt(3) / 2, 1e-13);
    sp_mesh_free(&mesh);

    /* A hollow cube: the 13th of 27 voxels is left out, and the cavity is part of the boundary. */
    block(&mesh, 3, 3, 3, 1);
    memmove(mesh.block[SP_HEX8].node + 8 * 13, mesh.block[SP_HEX8].node + 8 * 14, 13 * 8 * sizeof(int64_t));
    mesh.block[SP_HEX8].count = 26;
    found = boundary_of(&mesh, &count);
    CHECK(count == 2 * (54 + 6) && found.unmatched == 0, "%lld triangles, %lld open edges", (long long)count,
          (long long)found.unmatched);
    CHECK_NEAR(found.volume, 26, 1e-13);
    CHECK_NEAR(found.area, 60, 1e-13);

    /* An element that occurs twice has no face of its own. */
    memcpy(mesh.block[SP_HEX8].node + 8, mesh.block[SP_HEX8].node, 8 * sizeof(int64_t));
    mesh.block[SP_HEX8].count = 2;
    boundary_of(&mesh, &count);
    CHECK(count == 0, "%lld triangles", (long long)count);
    sp_mesh_free(&mesh);
}

TEST(components_are_counted)
{
    OWNED(sp_mesh) mesh;
    int64_t label[14], count;
    mixed(&mesh);
    CHECK_OK(sp_mesh_components(&context, &mesh, label, &count));
    CHECK(count == 1 && label[0] == 0 && label[12] == 0, "the tetrahedron shares a vertex: %lld", (long long)count);
    mesh.block[SP_HEX8].count = 11; /* without the voxel that touches the tetrahedron */
    CHECK_OK(sp_mesh_components(&context, &mesh, label, &count));
    CHECK(count == 2 && label[0] == 0 && label[10] == 0 && label[11] == 1, "%lld", (long long)count);
    /* Voxels 2 and 0 of a row do not touch; the labels go by the first element. */
    static const int64_t order[3] = {2, 0, 9};
    int64_t chosen[24];
    for (int i = 0; i < 3; i++)
        memcpy(chosen + 8 * i, mesh.block[SP_HEX8].node + 8 * order[i], 8 * sizeof(int64_t));
    memcpy(mesh.block[SP_HEX8].node, chosen, sizeof chosen);
    mesh.block[SP_HEX8].count = 3;
    mesh.block[SP_TET4].count = 0;
    CHECK_OK(sp_mesh_components(&context, &mesh, label, &count));
    CHECK(count == 2 && label[0] == 0 && label[1] == 1 && label[2] == 1, "%lld: %lld %lld %lld", (long long)count,
          (long long)label[0], (long long)label[1], (long long)label[2]);
}

/* ---- meshes of other projects (against the measured numbers of their README) ---- */

/* The part of a file behind the last line that starts with `word`, or all of it. */
static FILE *open_behind(const char *name, const char *word)
{
    char path[1024], line[256];
    snprintf(path, sizeof path, "%s/%s", test_meshes(), name);
    FILE *file = fopen(path, "r");
    while (file && *word && fgets(line, sizeof line, file))
        if (strncmp(line, word, strlen(word)) == 0)
            break;
    return file;
}

/* A table: a count, `head` further numbers, then rows of `skip` numbers, `width` values and `rest` numbers. */
static int64_t read_table(FILE *file, int head, int skip, int width, int rest, double *values)
{
    double number, count = 0;
    bool good = file && fscanf(file, "%lf", &count) == 1;
    for (int i = 0; good && i < head; i++)
        good = fscanf(file, "%*f") == 0;
    for (int64_t row = 0; good && values && row < (int64_t)count; row++)
        for (int i = 0; good && i < skip + width + rest; i++) {
            good = fscanf(file, "%lf", &number) == 1;
            if (i >= skip && i < skip + width)
                values[width * row + i - skip] = number;
        }
    if (file)
        fclose(file);
    return good ? (int64_t)count : -1;
}

typedef struct table {
    const char *file, *word;
    int head, skip, rest, base; /* base: the number of the first vertex */
} table;

static bool read_mesh(sp_mesh *mesh, table vertices, table elements, int corners)
{
    int64_t nv = read_table(open_behind(vertices.file, vertices.word), 0, 0, 0, 0, NULL);
    int64_t ne = read_table(open_behind(elements.file, elements.word), 0, 0, 0, 0, NULL);
    if (nv < 0 || ne < 0)
        return false;
    allocate(mesh, nv, corners == 8 ? ne : 0, corners == 8 ? 0 : ne);
    double *number = sp_pool_new(&mesh->pool, ne, (size_t)corners * sizeof *number);
    FILE *behind = open_behind(vertices.file, vertices.word);
    bool good = read_table(behind, vertices.head, vertices.skip, 3, vertices.rest, mesh->vertices) == nv;
    behind = open_behind(elements.file, elements.word);
    good &= read_table(behind, elements.head, elements.skip, corners, elements.rest, number) == ne;
    for (int64_t i = 0; i < corners * ne; i++)
        (corners == 8 ? mesh->block[SP_HEX8].node : mesh->block[SP_TET4].node)[i] = (int64_t)number[i] - elements.base;
    return good;
}

TEST(meshes_of_others)
{
    if (!test_meshes())
        SKIP("SUPPLE_MESHES is not set");
    static const struct {
        table vertices, elements;
        int corners;
        int64_t inverted, triangles;
        double volume, tolerance, box[3];
    } known[] = {
        {{"tet/Beam.node", "", 3, 1, 0, 0}, {"tet/Beam.ele", "", 2, 1, 0, 0}, 4, 0, 910, 28, 5e-4, {7, 2, 2}},
        {{"tet/bunny_closed.node", "", 3, 1, 0, 0},
         {"tet/bunny_closed.ele", "", 2, 1, 0, 0},
         4,
         0,
         22016,
         0.00074947,
         5e-9,
         {0.1552, 0.1537, 0.1204}},
        {{"tet/elbow_inverted.mesh", "Vertices", 0, 0, 1, 0},
         {"tet/elbow_inverted.mesh", "Tetrahedra", 0, 0, 1, 1},
         4,
         8161,
         1678,
         0.00087736,
         5e-9,
         {0.26, 0.1299, 0.06}},
        {{"vega/towerCrane_resol166.veg", "*VERTICES", 3, 1, 0, 0},
         {"vega/towerCrane_resol166.veg", "CUBIC", 2, 1, 0, 1},
         8,
         0,
         2 * 8150,
         24.707,
         5e-4,
         {2.629, 19.06, 23}},
        {{"vega/simpleBridge_vox.veg", "*VERTICES", 3, 1, 0, 0},
         {"vega/simpleBridge_vox.veg", "CUBIC", 2, 1, 0, 1},
         8,
         0,
         2 * 3848,
         27.48,
         5e-3,
         {20.59, 3.264, 2.511}},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        OWNED(sp_mesh) mesh = {0}, split = {0};
        double low[3], high[3];
        int64_t count;
        bool there = read_mesh(&mesh, known[i].vertices, known[i].elements, known[i].corners);
        CHECK(there, "%s cannot be read", known[i].elements.file);
        if (!there)
            continue;
        NOTE("%s: %lld elements", known[i].elements.file, (long long)sp_mesh_element_count(&mesh));
        CHECK(sp_mesh_inverted(&mesh, false) == known[i].inverted, "%lld", (long long)sp_mesh_inverted(&mesh, false));
        CHECK(sp_mesh_inverted(&mesh, true) == known[i].inverted, "%lld", (long long)sp_mesh_inverted(&mesh, true));
        CHECK_OK(sp_mesh_check(&context, &mesh, 0));
        CHECK_NEAR(sp_mesh_volume(&mesh), known[i].volume, known[i].tolerance);
        sp_mesh_box(&mesh, low, high);
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(high[c] - low[c], known[i].box[c], 6e-4 * known[i].box[c]);
        measures found = boundary_of(&mesh, &count);
        CHECK(count == known[i].triangles && found.unmatched == 0, "%lld triangles, %lld open edges", (long long)count,
              (long long)found.unmatched);
        CHECK_NEAR(found.volume, known[i].volume, known[i].tolerance);
        CHECK_OK(sp_mesh_split(&context, &mesh, &split));
        measures cut = boundary_of(&split, &count);
        CHECK(count == known[i].triangles && cut.unmatched == 0, "%lld triangles, %lld open edges", (long long)count,
              (long long)cut.unmatched);
        CHECK_NEAR(cut.area, found.area, 1e-9 * found.area);
    }
}
