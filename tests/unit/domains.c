/* Domains against brute force over elements and vertices; interface coordinates against their definition, with dense
 * matrices; files of domains and their refusals. */
#include "domains/domains.h"
#include "assembly/elastic.h"
#include "assembly/interface_shares.h"
#include "base/vec3.h"
#include "basis/interfaces.h"
#include "formats/domains.h"
#include "formats_test.h"
#include "linear/dense.h"
#include "mesh/mesh_sets.h"
#include "typed_mesh.h"

OWNER(sp_flexibility)

/* ---- domains ---- */

static int common_corners(const sp_mesh *mesh, int64_t one, int64_t other)
{
    int na, nb, count = 0;
    const int64_t *a = sp_mesh_corner_nodes(mesh, one, &na);
    for (int i = 0; i < na; i++) {
        const int64_t *b = sp_mesh_corner_nodes(mesh, other, &nb);
        for (int j = 0; j < nb; j++)
            count += a[i] == b[j];
    }
    return count;
}

/* Every element of a domain is reached from its first one over elements with three common corners. */
static bool connected(const sp_mesh *mesh, const sp_domains *domains, int64_t d)
{
    bool *reached = test_new(domains->elements, 1), more = true, all = true;
    for (int64_t e = 0; e < domains->elements && more; e++)
        if (domains->domain[e] == d) {
            reached[e] = true;
            more = false;
        }
    for (more = true; more;) {
        more = false;
        for (int64_t a = 0; a < domains->elements; a++)
            for (int64_t b = 0; b < domains->elements && reached[a]; b++)
                if (domains->domain[b] == d && !reached[b] && common_corners(mesh, a, b) >= 3)
                    reached[b] = more = true;
    }
    for (int64_t e = 0; e < domains->elements; e++)
        all &= domains->domain[e] != d || reached[e];
    return all;
}

static bool uses(const sp_mesh *mesh, const sp_domains *domains, int64_t d, int64_t vertex)
{
    for (int64_t e = 0; e < domains->elements; e++) {
        int count;
        const int64_t *node = sp_mesh_nodes(mesh, e, &count);
        for (int a = 0; a < count && domains->domain[e] == d; a++)
            if (node[a] == vertex)
                return true;
    }
    return false;
}

static void check_interfaces(const sp_mesh *mesh, const sp_domains *domains)
{
    for (int64_t one = 0; one < domains->count; one++)
        for (int64_t other = one + 1; other < domains->count; other++) {
            const int64_t i = sp_domains_interface(domains, other, one);
            int64_t k = i < 0 ? 0 : domains->start[i];
            for (int64_t v = 0; v < mesh->vertex_count; v++) {
                const bool both = uses(mesh, domains, one, v) && uses(mesh, domains, other, v),
                           listed = i >= 0 && k < domains->start[i + 1] && domains->vertices[k] == v;
                CHECK(both == listed, "vertex %lld of domains %lld and %lld", (long long)v, (long long)one,
                      (long long)other);
                k += listed;
            }
        }
}

/* All numbers of domains of bars of several types: trees of connected domains, with parents before children. */
TEST(partitions)
{
    static const int types[] = {SP_HEX8, SP_TET4, SP_TET10, SP_HEX20, SP_WEDGE6};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (int64_t count = 1; count <= 6; count++) {
            OWNED(sp_mesh) mesh;
            OWNED(sp_element_graph) graph;
            OWNED(sp_domains) domains;
            make_typed(types[t], 12, 2, 1, 0.5, 0, true, &mesh);
            int64_t *domain = calloc((size_t)sp_mesh_element_count(&mesh), sizeof *domain);
            CHECK_OK(sp_element_graph_new(&context, &mesh, &graph));
            CHECK_OK(sp_domains_partition(&context, &mesh, &graph, count, domain));
            CHECK_OK(sp_domains_new(&context, &mesh, &graph, count, domain, &domains));
            CHECK(domains.parents == count && domains.interface_count == count - 1, "%lld domains: no tree",
                  (long long)count);
            CHECK_OK(sp_domains_root(&context, &domains, count - 1, true));
            for (int64_t d = 0; d < count; d++) {
                CHECK(connected(&mesh, &domains, d), "domain %lld", (long long)d);
                CHECK(domains.parent[d] < d, "parent %lld of %lld", (long long)domains.parent[d], (long long)d);
                CHECK(domains.parent[d] < 0 || sp_domains_interface(&domains, d, domains.parent[d]) >= 0,
                      "no interface");
            }
            check_interfaces(&mesh, &domains);
            free(domain);
        }
}

/* A grid of cells in the plane z = 0 of side 1, divided by the digits of a text. */
static int divide(int nx, int ny, const char *digits, int64_t count, sp_domains *domains)
{
    OWNED(sp_mesh) mesh = {0};
    OWNED(sp_element_graph) graph = {0};
    int64_t domain[64];
    make_typed(SP_HEX8, nx, ny, 1, 1, 0, true, &mesh);
    for (int e = 0; e < nx * ny; e++)
        domain[e] = digits[e] - '0';
    CHECK_OK(sp_element_graph_new(&context, &mesh, &graph));
    const int status = sp_domains_new(&context, &mesh, &graph, count, domain, domains);
    return status;
}

TEST(graphs)
{
    sp_domains domains;
    CHECK_OK(divide(4, 1, "0112", 3, &domains));
    CHECK(domains.parents == 3 && domains.parent[0] == -1 && domains.parent[1] == 0 && domains.parent[2] == 1,
          "not a chain");
    CHECK_OK(sp_domains_root(&context, &domains, 1, false));
    CHECK(domains.parent[0] == 1 && domains.parent[1] == -1 && domains.parent[2] == 1, "not from the middle");
    sp_domains_free(&domains);
    CHECK(divide(4, 1, "0100", 2, &domains) == SP_INPUT && strstr(context.message, "domain 0 is not connected"), "%s",
          context.message);
    CHECK(divide(2, 2, "0123", 4, &domains) == SP_INPUT && strstr(context.message, "share two vertices"), "%s",
          context.message);
    /* a ring of four around a hole that is a fifth domain: five domains, eight interfaces */
    CHECK_OK(divide(3, 3, "001341322", 5, &domains));
    CHECK(domains.parents == 0, "a ring is no tree");
    sp_domains_free(&domains);
}

/* ---- interface coordinates ---- */

typedef struct body {
    sp_mesh mesh;
    sp_fe_space space;
    sp_interface interfaces[2];
    sp_interface_map map;
} body;

/* A block of 4 × side × side elements, with its two ends as interfaces. */
static void make_wide_body(sp_interface_frame frame, int side, body *b)
{
    make_typed(SP_HEX8, 4, side, side, 0.5, 0.05, true, &b->mesh);
    CHECK_OK(sp_fe_space_new(&context, &b->mesh, &b->space));
    for (int i = 0; i < 2; i++) {
        sp_interface *x = &b->interfaces[i];
        *x = (sp_interface){.frame = frame,
                            .vertices = sp_pool_new(&b->mesh.pool, (side + 1) * (side + 1), sizeof(int64_t)),
                            .share = sp_pool_new(&b->mesh.pool, (side + 1) * (side + 1), sizeof(double))};
        snprintf(x->name, sizeof x->name, "end-%d", i);
        for (int64_t v = 0; v < b->mesh.vertex_count; v++)
            if (fabs(b->mesh.vertices[3 * v] - 2 * i) < 0.1)
                x->vertices[x->vertex_count++] = v;
    }
    CHECK_OK(sp_interfaces_prepare(&context, &b->space, 2, b->interfaces));
    CHECK_OK(sp_interface_map_new(&context, &b->space, 2, b->interfaces, &b->map));
}

static void make_body(sp_interface_frame frame, body *b)
{
    make_wide_body(frame, 2, b);
}

static void body_free(body *b)
{
    sp_interface_map_free(&b->map);
    sp_fe_space_free(&b->space);
    sp_mesh_free(&b->mesh);
}

/* The mean translation and rotation of an interface by least squares, weighted by the shares: the normal equations of
 * u = t + w × r, which for vertices around their centroid are two separate ones. */
static void mean_motion(const body *b, const sp_interface *x, const double *u, double motion[6])
{
    double J[3][3] = {{0}}, moment[3] = {0};
    memset(motion, 0, 6 * sizeof *motion);
    for (int64_t k = 0; k < x->vertex_count; k++) {
        double r[3], turn[3];
        const double *at = u + 3 * x->vertices[k];
        sp_subtract3(b->mesh.vertices + 3 * x->vertices[k], x->origin, r);
        sp_cross3(r, at, turn);
        for (int i = 0; i < 3; i++) {
            motion[i] += x->share[k] * at[i];
            moment[i] += x->share[k] * turn[i];
            for (int j = 0; j < 3; j++)
                J[i][j] += x->share[k] * ((i == j) * sp_dot3(r, r) - r[i] * r[j]);
        }
    }
    for (int i = 0; i < 3; i++) { /* Cramer's rule */
        double A[3][3], normal[3];
        memcpy(A, J, sizeof A);
        sp_cross3(J[1], J[2], normal);
        const double whole = sp_dot3(J[0], normal);
        for (int j = 0; j < 3; j++)
            A[j][i] = moment[j];
        sp_cross3(A[1], A[2], normal);
        motion[3 + i] = sp_dot3(A[0], normal) / whole;
    }
}

/* What the interfaces do in a displacement u [dof]: their coordinates. */
static void coordinates_of(const body *b, const double *free_u, double *g)
{
    double *u = test_new(3 * b->mesh.vertex_count, sizeof *u);
    sp_fe_space_scatter(&b->space, free_u, u);
    for (int i = 0; i < 2; i++) {
        const sp_interface *x = &b->interfaces[i];
        for (int64_t k = 0; k < 3 * x->vertex_count && x->frame == SP_FRAME_NONE; k++)
            g[x->first + k] = u[3 * x->vertices[k / 3] + k % 3];
        if (x->frame == SP_FRAME_NONE)
            continue;
        mean_motion(b, x, u, g + x->first);
        for (int64_t k = 0; k < x->vertex_count && x->frame == SP_FRAME_RIGID; k++) {
            double r[3], turned[3];
            sp_subtract3(b->mesh.vertices + 3 * x->vertices[k], x->origin, r);
            sp_cross3(g + x->first + 3, r, turned);
            for (int c = 0; c < 3; c++)
                CHECK_NEAR(u[3 * x->vertices[k] + c], g[x->first + c] + turned[c], 1e-12);
        }
    }
}

/* The integrals of the shape functions over a square of 2 × 2 faces, in units of its area: of four nodes 1/4 of a face
 * each; of eight −1/12 and 1/3. Vertices without a face between them have equal shares. */
TEST(shares)
{
    static const struct {
        int type;
        double corner, middle;
    } faces[] = {{SP_HEX8, 1. / 4, 0}, {SP_HEX20, -1. / 12, 1. / 3}};
    for (int f = 0; f < 2; f++) {
        OWNED(sp_mesh) mesh;
        int64_t vertices[21], count = 0;
        double share[21], sum = 0;
        make_typed(faces[f].type, 2, 2, 2, 0.5, 0, true, &mesh);
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            if (mesh.vertices[3 * v] == 1)
                vertices[count++] = v;
        CHECK(count == (f ? 21 : 9), "%lld vertices", (long long)count);
        CHECK_OK(sp_interface_shares(&context, &mesh, count, vertices, share));
        for (int64_t k = 0; k < count; k++) {
            const double *X = mesh.vertices + 3 * vertices[k];
            const double y = fabs(X[1] - 0.5),
                         z = fabs(X[2] - 0.5); /* 0, 1/4, 1/2: the middle of an edge has one 1/4 */
            const bool middle = y == 0.25 || z == 0.25;
            const double meeting = (y == 0.5 ? 1 : y == 0 ? 2 : 1) * (z == 0.5 ? 1 : z == 0 ? 2 : 1);
            CHECK_NEAR(share[k], 0.25 * meeting * (middle ? faces[f].middle : faces[f].corner), 1e-14);
            sum += share[k];
        }
        CHECK_NEAR(sum, 1, 1e-14);
        const int64_t apart[3] = {0, 4, mesh.vertex_count - 1};
        CHECK_OK(sp_interface_shares(&context, &mesh, 3, apart, share));
        for (int k = 0; k < 3; k++)
            CHECK_NEAR(share[k], 1. / 3, 1e-15);
    }
}

/* S y leaves the interfaces at rest, D g gives them the coordinates g, and S has orthonormal columns that fill the
 * space together with D. */
static void check_map(sp_interface_frame frame, int side)
{
    OWNED(body) b;
    make_wide_body(frame, side, &b);
    const int64_t fixed = 6 * (side + 1) * (side + 1);
    const int64_t n = b.map.S.rows, m = b.map.S.columns, c = b.map.coordinates;
    double *u = test_new(n, sizeof *u), *y = test_new(m, sizeof *y), *g = test_new(c, sizeof *g);
    CHECK(frame == SP_FRAME_AVERAGE ? m + c == n : m == n - fixed, "%lld + %lld of %lld", (long long)m, (long long)c,
          (long long)n);
    CHECK(c == (frame == SP_FRAME_NONE ? fixed : 12), "%lld coordinates", (long long)c);
    for (int64_t k = 0; k < m; k++)
        y[k] = sin(1.7 * (double)k);
    sp_interface_map_spread(&b.map, y, u);
    coordinates_of(&b, u, g);
    for (int64_t k = 0; k < c; k++)
        CHECK_NEAR(g[k], 0, 1e-12);
    sp_interface_map_gather(&b.map, u, y);
    for (int64_t k = 0; k < m; k++)
        CHECK_NEAR(y[k], sin(1.7 * (double)k), 1e-12);
    for (int64_t one = 0; one < c; one++) {
        coordinates_of(&b, b.map.D + one * n, g);
        for (int64_t k = 0; k < c; k++)
            CHECK_NEAR(g[k], k == one, 1e-12);
    }
}

TEST(maps)
{
    for (int frame = 0; frame < SP_FRAMES; frame++) {
        check_map((sp_interface_frame)frame, 2);
        check_map((sp_interface_frame)frame, 7);
    }
}

/* The columns of a group have 3 n or 6 rows: a row has at most 18 entries of the smallest group and 6 for each of its
 * halvings. */
TEST(average_map_is_sparse)
{
    enum { SIDE = 31, DEPTH = 8 }; /* 1024 vertices are divided seven times */
    OWNED(body) b;
    make_wide_body(SP_FRAME_AVERAGE, SIDE, &b);
    const int64_t vertices = (SIDE + 1) * (SIDE + 1),
                  entries = b.map.S.start[b.map.S.rows] - (b.map.S.rows - 6 * vertices);
    CHECK(entries <= 6 * vertices * (18 + 6 * DEPTH), "%lld entries", (long long)entries);
}

/* SᵀKS against products by S, and constraint modes: the force K Φ has no part along S, and the coordinates are units.
 */
TEST(constraint_modes)
{
    for (int frame = 0; frame < SP_FRAMES; frame++) {
        OWNED(body) b;
        OWNED(sp_sparse) K, mapped;
        OWNED_POINTER(sp_flexibility) *flexibility;
        double residual, largest = 0;
        make_body((sp_interface_frame)frame, &b);
        CHECK_OK(sp_elastic_stiffness(&context, &b.space, &K));
        CHECK_OK(sp_interface_map_matrix(&context, &b.map, &K, &mapped));
        const int64_t n = b.map.S.rows, m = b.map.S.columns, c = b.map.coordinates;
        double *y = test_new(m, sizeof *y), *u = test_new(n, sizeof *u), *f = test_new(n, sizeof *f),
               *p = test_new(m, sizeof *p), *q = test_new(m, sizeof *q), *phi = test_new(n * c, sizeof *phi),
               *g = test_new(c, sizeof *g);
        for (int64_t k = 0; k < m; k++)
            y[k] = cos(2.3 * (double)k);
        sp_sparse_times(&context, &mapped, 1, y, p);
        sp_interface_map_spread(&b.map, y, u);
        sp_sparse_times(&context, &K, 1, u, f);
        sp_interface_map_gather(&b.map, f, q);
        for (int64_t k = 0; k < m; k++)
            largest = fmax(largest, fabs(q[k]));
        for (int64_t k = 0; k < m; k++)
            CHECK_NEAR(p[k], q[k], 1e-12 * largest);
        CHECK_OK(sp_sparse_check(&context, &mapped, 0));
        CHECK_OK(
            sp_flexibility_new(&context, &mapped, NULL, b.map.node, 0, NULL, SP_COMPLEMENT_MASS, NULL, &flexibility));
        CHECK_OK(sp_constraint_modes(&context, &b.map, &K, flexibility, phi, &residual));
        CHECK(residual < 1e-12, "residual %g", residual);
        for (int64_t one = 0; one < c; one++) {
            coordinates_of(&b, phi + one * n, g);
            for (int64_t k = 0; k < c; k++)
                CHECK_NEAR(g[k], k == one, 1e-11);
        }
    }
}

/* A restricted flexibility: the displacements leave the means of average interfaces at rest, and K u − f is a reaction,
 * which has no part along S. */
TEST(restricted_flexibility)
{
    enum { COUNT = 3 };
    OWNED(body) b;
    OWNED(sp_sparse) K, mapped;
    OWNED_POINTER(sp_flexibility) *inner, *restricted;
    double g[12];
    make_wide_body(SP_FRAME_AVERAGE, 4, &b);
    CHECK_OK(sp_elastic_stiffness(&context, &b.space, &K));
    CHECK_OK(sp_interface_map_matrix(&context, &b.map, &K, &mapped));
    CHECK_OK(sp_flexibility_new(&context, &mapped, NULL, b.map.node, 0, NULL, SP_COMPLEMENT_MASS, NULL, &inner));
    CHECK_OK(sp_flexibility_restricted(&context, &b.map.S, inner, &restricted));
    const int64_t n = K.order;
    double *f = test_new(n * COUNT, sizeof *f), *u = test_new(n * COUNT, sizeof *u),
           *p = test_new(n * COUNT, sizeof *p);
    for (int64_t i = 0; i < n * COUNT; i++)
        f[i] = sin(0.71 * (double)i);
    CHECK_OK(sp_flexibility_solve(restricted, COUNT, f, u));
    sp_sparse_times(&context, &K, COUNT, u, p);
    for (int64_t i = 0; i < n * COUNT; i++)
        p[i] -= f[i];
    double reaction = 0, most = 0;
    for (int64_t i = 0; i < n * COUNT; i++)
        reaction = fmax(reaction, fabs(p[i]));
    CHECK(reaction > 0.01, "no reaction");
    for (int c = 0; c < COUNT; c++) {
        coordinates_of(&b, u + c * n, g);
        for (int64_t i = 0; i < n; i++)
            most = fmax(most, fabs(u[c * n + i]));
        for (int k = 0; k < 12; k++)
            CHECK_NEAR(g[k], 0, 1e-12 * most);
    }
    sp_flexibility_balance(restricted, COUNT, p);
    for (int64_t i = 0; i < n * COUNT; i++)
        CHECK_NEAR(p[i], 0, 1e-10);
}

/* Ritz vectors of some columns: M-orthonormal, K diagonal with their quotients on it, in the same space; dependent
 * columns are refused. */
TEST(ritz_vectors)
{
    enum { COUNT = 5 };
    OWNED(body) b;
    OWNED(sp_sparse) K, M;
    make_body(SP_FRAME_RIGID, &b);
    CHECK_OK(sp_elastic_stiffness(&context, &b.space, &K));
    CHECK_OK(sp_fe_space_mass_compressed(&context, &b.space, false, &M));
    const int64_t n = K.order;
    double *A = test_new(n * COUNT, 8), *V = test_new(n * COUNT, 8), *y = test_new(n, 8), lambda[COUNT];
    for (int64_t i = 0; i < n * COUNT; i++)
        A[i] = V[i] = sin(0.37 * (double)(1 + i / n) * (double)(i % n));
    CHECK_OK(sp_ritz_vectors(&context, &K, &M, COUNT, V, lambda));
    for (int c = 0; c < COUNT; c++) {
        CHECK(c == 0 || lambda[c] >= lambda[c - 1], "value %d descends", c);
        double length = 0;
        sp_sparse_times(&context, &M, 1, V + c * n, y);
        for (int a = 0; a < COUNT; a++)
            CHECK_NEAR(sp_dense_dot(n, V + a * n, y), a == c, 1e-11);
        sp_sparse_times(&context, &K, 1, V + c * n, y);
        for (int a = 0; a < COUNT; a++)
            CHECK_NEAR(sp_dense_dot(n, V + a * n, y), a == c ? lambda[c] : 0, 1e-10 * lambda[COUNT - 1]);
        double *left = test_new(n, 8); /* what of a column is outside of the space */
        memcpy(left, A + c * n, (size_t)n * sizeof *left);
        sp_sparse_times(&context, &M, 1, A + c * n, y);
        for (int a = 0; a < COUNT; a++) {
            const double part = sp_dense_dot(n, V + a * n, y);
            for (int64_t i = 0; i < n; i++)
                left[i] -= part * V[a * n + i];
        }
        for (int64_t i = 0; i < n; i++)
            length = fmax(length, fabs(left[i]));
        CHECK(length < 1e-10, "column %d is outside by %g", c, length);
    }
    memcpy(A + n, A, (size_t)n * sizeof *A);
    CHECK(sp_ritz_vectors(&context, &K, &M, COUNT, A, lambda) == SP_NUMERICAL, "dependent columns");
}

TEST(interface_refusals)
{
    OWNED(body) b;
    make_body(SP_FRAME_RIGID, &b);
    b.interfaces[1].vertices[0] = b.interfaces[0].vertices[0];
    CHECK(sp_interfaces_prepare(&context, &b.space, 2, b.interfaces) == SP_INPUT &&
              strstr(context.message, "in the interfaces \"end-0\" and \"end-1\""),
          "%s", context.message);
    b.interfaces[0].vertex_count = 2;
    CHECK(sp_interfaces_prepare(&context, &b.space, 1, b.interfaces) == SP_INPUT && strstr(context.message, "it has 2"),
          "%s", context.message);
}

/* ---- files ---- */

READER(read_domains, sp_domains, sp_domains_read(&context, &file, into, read_mesh_hash), sp_domains_free)

static const int64_t four[4] = {0, 0, 1, 2}, pairs[4] = {0, 1, 1, 2}, begins[3] = {0, 3, 6},
                     vertices[6] = {1, 2, 3, 4, 5, 6}, parents[3] = {-1, 0, 1}, alike[3] = {0, 1, 2};
static const double origin[9] = {0};

static blob make_domains(const char *meta, const int64_t *pair, const int64_t *start, const int64_t *vertex,
                         const int64_t *parent, const int64_t *same_as)
{
    const member members[] = {
        {"domain", SP_I8, false, 1, {4}, four},           {"pair", SP_I8, false, 2, {2, 2}, pair},
        {"interface_start", SP_I8, false, 1, {3}, start}, {"interface_vertices", SP_I8, false, 1, {6}, vertex},
        {"parent", SP_I8, false, 1, {3}, parent},         {"same", SP_I8, false, 1, {3}, same_as},
        {"origin", SP_F8, false, 2, {3, 3}, origin},      {0}};
    return make(meta, members, 0);
}

TEST(files)
{
    const char *meta = META("domains", ",\"domains\":3");
    const int64_t other_pairs[4] = {0, 1, 0, 1}, turned[4] = {1, 0, 1, 2}, few[3] = {0, 2, 6}, cycle[3] = {1, 0, 1},
                  two_roots[3] = {-1, 0, -1}, far[3] = {-1, 0, 0}, late[3] = {1, 1, 2}, falling[6] = {1, 2, 3, 4, 6, 5};
    blob good = make_domains(meta, pairs, begins, vertices, parents, alike);
    CHECK_OK(read_blob(good, false, read_domains, NULL));
    free(good.data);
    REFUSE(make_domains(META("domains", ""), pairs, begins, vertices, parents, alike), read_domains, "\"domains\"");
    REFUSE(make_domains(meta, other_pairs, begins, vertices, parents, alike), read_domains, "does not increase");
    REFUSE(make_domains(meta, turned, begins, vertices, parents, alike), read_domains, "the lower one first");
    REFUSE(make_domains(meta, pairs, few, vertices, parents, alike), read_domains, "of three at least");
    REFUSE(make_domains(meta, pairs, begins, falling, parents, alike), read_domains, "does not increase");
    REFUSE(make_domains(meta, pairs, begins, vertices, cycle, alike), read_domains, "not one tree");
    REFUSE(make_domains(meta, pairs, begins, vertices, two_roots, alike), read_domains, "not one tree");
    REFUSE(make_domains(meta, pairs, begins, vertices, far, alike), read_domains, "no interface to its parent");
    REFUSE(make_domains(meta, pairs, begins, vertices, parents, late), read_domains, "not the lowest");
}

BEFORE_TESTS()
{
    context.threads = 2;
}
