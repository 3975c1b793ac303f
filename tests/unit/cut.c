/* Cuts of meshes: their definition recomputed pair by pair, volumes, masses, stiffness, surfaces, files. */
#include "mesh/cut.h"
#include "assembly/elastic.h"
#include "fixture.h"
#include "formats/mesh.h"

#include <sys/mman.h>
#include <unistd.h>

typedef struct result {
    sp_mesh mesh;
    sp_pool pool;
    int64_t *origin, dropped;
} result;

static void cut_by(const sp_mesh *mesh, const int64_t *side, result *r)
{
    *r = (result){0};
    CHECK_OK(sp_mesh_cut(&context, mesh, side, &r->pool, &r->mesh, &r->origin, &r->dropped));
    CHECK_OK(sp_mesh_check(&context, &r->mesh, 1e-9));
    CHECK_OK(sp_mesh_check_cut(&context, mesh, &r->mesh, r->origin));
}

static void result_free(result *r)
{
    sp_mesh_free(&r->mesh);
    sp_pool_free(&r->pool);
}

static int64_t choice(uint64_t stream, int64_t i, int64_t count)
{
    return (int64_t)(sp_random_uniform(3, stream, (uint64_t)i) * (double)count);
}

/* ---- meshes ---- */

/* A box without some of its hexahedra, or with a few of them: parts of it share edges or corners only, or nothing. */
static void make_holes(int n, bool sparse, uint64_t stream, sp_mesh *mesh)
{
    int64_t kept = 0;
    make_box(n, n, n, 0.5, 0.05, mesh);
    for (int64_t e = 0; e < mesh->block[SP_HEX8].count; e++)
        if (sparse ? choice(stream, e, 12) == 0 : choice(stream, e, 3) > 0)
            memmove(mesh->block[SP_HEX8].node + 8 * kept++, mesh->block[SP_HEX8].node + 8 * e,
                    8 * sizeof *mesh->block[SP_HEX8].node);
    mesh->block[SP_HEX8].count = kept;
}

/* A third of the hexahedra are split into tetrahedra, whose triangles meet quadrilaterals of the others. */
static void make_mixed(const sp_mesh *box, uint64_t stream, sp_mesh *mesh)
{
    OWNED(sp_mesh) split;
    CHECK_OK(sp_mesh_split(&context, box, &split));
    *mesh = *box;
    mesh->pool = (sp_pool){0};
    mesh->block[SP_HEX8].count = 0;
    mesh->vertices = sp_pool_copy(&mesh->pool, box->vertices, 3 * box->vertex_count, sizeof(double));
    mesh->block[SP_HEX8].node = sp_pool_new(&mesh->pool, 8 * box->block[SP_HEX8].count, sizeof(int64_t));
    mesh->block[SP_TET4].node = sp_pool_new(&mesh->pool, 24 * box->block[SP_HEX8].count, sizeof(int64_t));
    mesh->region = sp_pool_new(&mesh->pool, 6 * box->block[SP_HEX8].count, sizeof(int64_t));
    mesh->materials = sp_pool_copy(&mesh->pool, box->materials, 1, sizeof *box->materials);
    mesh->fixed = sp_pool_new(&mesh->pool, 1, sizeof(int64_t));
    mesh->fixed_axes = sp_pool_new(&mesh->pool, 1, 1);
    for (int64_t e = 0; e < box->block[SP_HEX8].count; e++)
        if (choice(stream, e, 3) > 0)
            memcpy(mesh->block[SP_HEX8].node + 8 * mesh->block[SP_HEX8].count++, box->block[SP_HEX8].node + 8 * e,
                   8 * sizeof *box->block[SP_HEX8].node);
        else {
            memcpy(mesh->block[SP_TET4].node + 4 * mesh->block[SP_TET4].count, split.block[SP_TET4].node + 24 * e,
                   24 * sizeof *split.block[SP_TET4].node);
            mesh->block[SP_TET4].count += 6;
        }
}

/* kind 0: hexahedra, 1: tetrahedra, 2: both; with holes. */
static void make_kind(int kind, int n, uint64_t stream, sp_mesh *mesh)
{
    sp_mesh box;
    make_holes(n, false, stream, kind ? &box : mesh);
    if (kind == 1)
        CHECK_OK(sp_mesh_split(&context, &box, mesh));
    if (kind == 2)
        make_mixed(&box, stream + 1, mesh);
    if (kind)
        sp_mesh_free(&box);
}

/* Every third vertex fixed, by axes that depend on its number. */
static void prescribe(sp_mesh *mesh)
{
    mesh->fixed_count = (mesh->vertex_count + 2) / 3;
    mesh->fixed = sp_pool_new(&mesh->pool, mesh->fixed_count, sizeof(int64_t));
    mesh->fixed_axes = sp_pool_new(&mesh->pool, mesh->fixed_count, 1);
    for (int64_t i = 0; i < mesh->fixed_count; i++) {
        mesh->fixed[i] = 3 * i;
        mesh->fixed_axes[i] = (uint8_t)(1 + i % 7);
    }
}

/* A surface vertex at the centre of every element; triangles over elements near in number and far away. */
static void embed(sp_mesh *mesh)
{
    sp_embedded_surface *s = &mesh->surface;
    int64_t elements = sp_mesh_element_count(mesh);
    s->width = mesh->block[SP_HEX8].count ? 8 : 4;
    s->vertex_count = elements;
    s->triangle_count = 6 * elements;
    s->vertices = sp_pool_new(&mesh->pool, 3 * elements, sizeof(double));
    s->element = sp_pool_new(&mesh->pool, elements, sizeof(int64_t));
    s->weights = sp_pool_new(&mesh->pool, s->width * elements, sizeof(double));
    s->triangles = sp_pool_new(&mesh->pool, 3 * s->triangle_count, sizeof(int64_t));
    for (int64_t e = 0; e < elements; e++) {
        int count;
        const int64_t *node = sp_mesh_nodes(mesh, e, &count);
        s->element[e] = e;
        for (int a = 0; a < count; a++) {
            s->weights[s->width * e + a] = 1.0 / count;
            for (int c = 0; c < 3; c++)
                s->vertices[3 * e + c] += mesh->vertices[3 * node[a] + c] / count;
        }
    }
    for (int64_t t = 0; t < s->triangle_count; t++)
        for (int a = 0; a < 3; a++)
            s->triangles[3 * t + a] = a == 0  ? t % elements
                                      : t % 2 ? choice(40, 3 * t + a, elements)
                                              : (t + a * (1 + t % 3)) % elements;
}

/* ---- the definition, recomputed by pairs of elements ---- */

static int common(const sp_mesh *mesh, int64_t e, int64_t f, int64_t vertex[8])
{
    int count[2], found = 0;
    const int64_t *a = sp_mesh_nodes(mesh, e, &count[0]), *b = sp_mesh_nodes(mesh, f, &count[1]);
    for (int i = 0; i < count[0]; i++)
        for (int j = 0; j < count[1]; j++)
            if (a[i] == b[j])
                vertex[found++] = a[i];
    return found;
}

static bool has(const sp_mesh *mesh, int64_t e, int64_t vertex)
{
    int count;
    const int64_t *node = sp_mesh_nodes(mesh, e, &count);
    for (int a = 0; a < count; a++)
        if (node[a] == vertex)
            return true;
    return false;
}

/* In these meshes two elements have that many common vertices only if they share a face. */
static bool face_at(const sp_mesh *mesh, int64_t e, int64_t f, int64_t vertex)
{
    int64_t shared[8];
    bool hexes = e < mesh->block[SP_HEX8].count && f < mesh->block[SP_HEX8].count;
    return has(mesh, e, vertex) && has(mesh, f, vertex) && common(mesh, e, f, shared) == (hexes ? 4 : 3);
}

/* group [count]: for each listed element around a vertex, the lowest element of its group. */
static void groups_at(const sp_mesh *mesh, const int64_t *side, int64_t vertex, int count, const int64_t *around,
                      int64_t *group)
{
    bool parted = false, changed = true;
    for (int i = 0; i < count; i++) {
        parted |= side[around[i]] != side[around[0]];
        group[i] = around[i];
    }
    for (int i = 0; i < count && !parted; i++)
        group[i] = around[0];
    while (changed && parted) {
        changed = false;
        for (int i = 0; i < count; i++)
            for (int j = 0; j < count; j++)
                if (group[i] < group[j] && side[around[i]] == side[around[j]] &&
                    face_at(mesh, around[i], around[j], vertex)) {
                    group[j] = group[i];
                    changed = true;
                }
    }
}

static int64_t corner_at(const sp_mesh *cut, const int64_t *origin, int64_t e, int64_t vertex)
{
    int count;
    const int64_t *node = sp_mesh_nodes(cut, e, &count);
    for (int a = 0; a < count; a++)
        if (origin[node[a]] == vertex)
            return node[a];
    return -1;
}

/* Every vertex: the group that keeps it, and the copies of the others. Returns the number of separated pairs. */
static int64_t check_definition(const sp_mesh *mesh, const int64_t *side, const result *r)
{
    int64_t next = mesh->vertex_count, wrong = 0, parted = 0, around[256], group[256];
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        int count = 0;
        for (int64_t e = 0; e < sp_mesh_element_count(mesh) && count < 256; e++)
            if (has(mesh, e, v))
                around[count++] = e;
        groups_at(mesh, side, v, count, around, group);
        for (int i = 0; i < count; i++) {
            bool first = group[i] == around[i];
            int64_t now = corner_at(&r->mesh, r->origin, around[i], v);
            wrong += now != (group[i] == around[0] ? v : first ? next : corner_at(&r->mesh, r->origin, group[i], v));
            next += first && i > 0;
            for (int j = 0; j < i; j++) {
                bool same = now == corner_at(&r->mesh, r->origin, around[j], v);
                wrong += same != (group[i] == group[j]) || (same && side[around[i]] != side[around[j]]);
                parted += !same;
            }
        }
    }
    CHECK(wrong == 0 && next == r->mesh.vertex_count, "%lld corners are wrong, %lld vertices instead of %lld",
          (long long)wrong, (long long)r->mesh.vertex_count, (long long)next);
    return parted;
}

TEST(random_partitions)
{
    int64_t parted = 0, pairs = 0;
    for (int kind = 0; kind < 3; kind++)
        for (uint64_t turn = 0; turn < 12; turn++) {
            OWNED(sp_mesh) mesh;
            OWNED(result) r;
            int64_t side[1000];
            make_kind(kind, kind ? 3 : 4, 10 * turn, &mesh);
            for (int64_t e = 0; e < sp_mesh_element_count(&mesh);
                 e++) /* from one side to eight; negative and large numbers */
                side[e] = choice(turn + 100, e / (turn % 2 ? 1 : 5), 1 + (int64_t)turn % 8) * (INT64_MAX / 8) - 9;
            cut_by(&mesh, side, &r);
            int64_t here = check_definition(&mesh, side, &r);
            CHECK((here == 0) == (turn % 8 == 0), "%lld pairs were parted", (long long)here);
            parted += here;
            pairs++;
        }
    NOTE("%lld meshes, %lld pairs of elements parted at a vertex", (long long)pairs, (long long)parted);
}

/* ---- planes ---- */

TEST(planes_double_what_lies_between)
{
    for (int tets = 0; tets < 2; tets++) {
        OWNED(sp_mesh) mesh;
        result r;
        make_box(4, 3, 2, 0.5, 0, &mesh);
        if (tets)
            split_mesh(&mesh);
        int64_t side[200] = {0}, wrong = 0, count = sp_mesh_element_count(&mesh);
        sp_mesh_sides_of_plane(&mesh, (double[]){2, 0, 0}, 2 * 1.0, -1, 1, side);
        for (int64_t e = 0; e < count; e++)
            wrong += side[e] != ((e / (tets ? 6 : 1)) % 4 >= 2); /* the hexahedra run along x first */
        CHECK(wrong == 0, "%lld elements on the wrong side", (long long)wrong);
        cut_by(&mesh, side, &r);
        /* the vertices with x = 1, in their order */
        int64_t next = mesh.vertex_count;
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            if (mesh.vertices[3 * v] == 1)
                CHECK(next < r.mesh.vertex_count && r.origin[next++] == v, "vertex %lld has no copy in its place",
                      (long long)v);
        CHECK(next == r.mesh.vertex_count && next - mesh.vertex_count == 4 * 3, "%lld copies",
              (long long)(r.mesh.vertex_count - mesh.vertex_count));
        double volume[2] = {0};
        for (int64_t e = 0; e < count; e++) {
            CHECK(sp_mesh_element_volume(&mesh, e) == sp_mesh_element_volume(&r.mesh, e),
                  "element %lld has another volume", (long long)e);
            volume[side[e]] += sp_mesh_element_volume(&r.mesh, e);
        }
        CHECK_NEAR(volume[0], 1.5, 1e-14);
        CHECK_NEAR(volume[1], 1.5, 1e-14);
        /* two planes at once: four pieces, and four copies of the middle line */
        sp_mesh_sides_of_plane(&mesh, (double[]){0, -1, 0}, -0.5, -1, 2, side);
        result_free(&r);
        cut_by(&mesh, side, &r);
        int64_t label[200], pieces;
        CHECK_OK(sp_mesh_components(&context, &r.mesh, label, &pieces));
        CHECK(pieces == 4 && r.mesh.vertex_count == (3 + 3) * (2 + 3) * 3, "%lld pieces, %lld vertices",
              (long long)pieces, (long long)r.mesh.vertex_count);
        result_free(&r);
    }
}

TEST(planes_in_a_region)
{
    OWNED(sp_mesh) mesh;
    OWNED(result) r;
    make_box(4, 2, 1, 1, 0, &mesh);
    mesh.material_count = 2;
    mesh.materials = sp_pool_new(&mesh.pool, 2, sizeof *mesh.materials);
    mesh.materials[0] = mesh.materials[1] = test_material();
    strcpy(mesh.materials[1].name, "upper");
    for (int64_t e = 4; e < 8; e++)
        mesh.region[e] = 1;
    int64_t side[8] = {0};
    sp_mesh_sides_of_plane(&mesh, (double[]){1, 0, 0}, 2, 1, 8, side);
    for (int64_t e = 0; e < 8; e++)
        CHECK(side[e] == (e >= 6 ? 8 : 0), "element %lld is on side %lld", (long long)e, (long long)side[e]);
    /* the upper right quarter is cut off: three vertices along one edge and two more along the other, in two layers */
    cut_by(&mesh, side, &r);
    CHECK(r.mesh.vertex_count == mesh.vertex_count + 2 * (3 + 1), "%lld new vertices",
          (long long)(r.mesh.vertex_count - mesh.vertex_count));
    CHECK(!memcmp(r.mesh.region, mesh.region, 8 * sizeof(int64_t)) && r.mesh.material_count == 2, "regions are others");
}

/* 4 × 2 × 1 hexahedra of side 1, fixed at x = 0, cut at x = 2 and then at y = 1 too. */
TEST(cuts_are_counted)
{
    OWNED(sp_mesh) mesh;
    result r;
    sp_cut_counts counts;
    int64_t side[8] = {0};
    make_box(4, 2, 1, 1, 0, &mesh);
    fix_end(&mesh, 0);
    sp_mesh_sides_of_plane(&mesh, (double[]){1, 0, 0}, 2, -1, 1, side);
    cut_by(&mesh, side, &r);
    CHECK_OK(sp_mesh_count_cut(&context, &mesh, &r.mesh, r.origin, &counts));
    CHECK(counts.pieces_before == 1 && counts.pieces == 2 && counts.free_pieces == 1, "%lld pieces, %lld of them free",
          (long long)counts.pieces, (long long)counts.free_pieces);
    CHECK(counts.doubled == 3 * 2 && counts.copies == 3 * 2, "%lld copies", (long long)counts.copies);
    result_free(&r);
    /* on the line where the cuts meet each of the two vertices has three copies */
    sp_mesh_sides_of_plane(&mesh, (double[]){0, 1, 0}, 1, -1, 2, side);
    cut_by(&mesh, side, &r);
    CHECK_OK(sp_mesh_count_cut(&context, &mesh, &r.mesh, r.origin, &counts));
    CHECK(counts.pieces == 4 && counts.free_pieces == 2, "%lld pieces, %lld of them free", (long long)counts.pieces,
          (long long)counts.free_pieces);
    CHECK(counts.doubled == (3 + 5 - 1) * 2 && counts.copies == (3 + 5 - 2) * 2 + 3 * 2, "%lld doubled, %lld copies",
          (long long)counts.doubled, (long long)counts.copies);
    result_free(&r);
}

/* ---- edges and corners ---- */

TEST(edges_and_corners)
{
    static const struct {
        int64_t kept[4], side[4];
        int count, copies; /* copies of the two vertices in the middle of 2 × 2 × 1 hexahedra, and of those on the outer
                              edges between */
    } cases[] = {
        {{0, 3}, {5, 5}, 2, 0},                 /* one side that was connected by an edge only: stays connected */
        {{0, 3}, {5, 6}, 2, 2},                 /* two sides connected by an edge: separated */
        {{0, 1, 2, 3}, {1, 2, 2, 1}, 4, 6 + 8}, /* a chessboard: the middle edge, which is on the cut, is separated */
        {{0, 1, 2, 3}, {1, 1, 1, 2}, 4, 2 + 4}, /* a corner is cut off: the others are a chain of faces */
        {{0, 2, 3}, {1, 1, 1}, 3, 0},
        {{0, 1, 3}, {1, 2, 1}, 3, 4 + 4}, /* one between two others, which were connected by it and by the edge */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OWNED(sp_mesh) mesh;
        OWNED(result) r;
        make_box(2, 2, 1, 1, 0, &mesh);
        for (int e = 0; e < cases[i].count; e++)
            memmove(mesh.block[SP_HEX8].node + 8 * e, mesh.block[SP_HEX8].node + 8 * cases[i].kept[e],
                    8 * sizeof *mesh.block[SP_HEX8].node);
        mesh.block[SP_HEX8].count = cases[i].count;
        cut_by(&mesh, cases[i].side, &r);
        check_definition(&mesh, cases[i].side, &r);
        CHECK(r.mesh.vertex_count - mesh.vertex_count == cases[i].copies, "case %d: %lld copies, expected %d", (int)i,
              (long long)(r.mesh.vertex_count - mesh.vertex_count), cases[i].copies);
    }
}

/* A cut by one set of sides and then by another is the cut by their pairs, and a second one by the same sides does
 * nothing. */
TEST(cuts_compose)
{
    for (int kind = 0; kind < 3; kind++) {
        OWNED(sp_mesh) mesh;
        OWNED(result) one, two, both, again;
        int64_t a[1000], b[1000], pair[1000], wrong = 0;
        make_kind(kind, 3, 7, &mesh);
        int64_t elements = sp_mesh_element_count(&mesh);
        for (int64_t e = 0; e < elements; e++) {
            a[e] = choice(51, e / 4, 3);
            b[e] = choice(52, e / 7, 2);
            pair[e] = 2 * a[e] + b[e];
        }
        cut_by(&mesh, a, &one);
        cut_by(&one.mesh, b, &two);
        cut_by(&mesh, pair, &both);
        CHECK(two.mesh.vertex_count == both.mesh.vertex_count && two.mesh.vertex_count > one.mesh.vertex_count,
              "%lld and %lld vertices", (long long)two.mesh.vertex_count, (long long)both.mesh.vertex_count);
        for (int64_t e = 0; e < elements; e++)
            for (int64_t f = 0; f < e; f++) {
                int64_t x[8], y[8];
                int count = common(&two.mesh, e, f, x);
                bool same = count == common(&both.mesh, e, f, y);
                for (int i = 0; i < count && same; i++)
                    same = one.origin[two.origin[x[i]]] == both.origin[y[i]];
                wrong += !same;
            }
        CHECK(wrong == 0, "%lld pairs of elements differ", (long long)wrong);
        cut_by(&both.mesh, pair, &again);
        CHECK(again.mesh.vertex_count == both.mesh.vertex_count && again.dropped == 0, "cut again: %lld vertices more",
              (long long)(again.mesh.vertex_count - both.mesh.vertex_count));
    }
}

/* ---- data carried over ---- */

TEST(everything_is_carried_over)
{
    for (int kind = 0; kind < 3; kind++) {
        OWNED(sp_mesh) mesh;
        OWNED(result) r;
        int64_t side[1000], wrong = 0, prescribed = 0;
        make_kind(kind, 3, 3, &mesh);
        prescribe(&mesh);
        embed(&mesh);
        int64_t elements = sp_mesh_element_count(&mesh);
        mesh.materials[0] = test_law(TEST_LAWS - 1);
        mesh.quadrature = 2;
        mesh.factor = sp_pool_new(&mesh.pool, 2 * elements, sizeof(double));
        mesh.fibre = sp_pool_new(&mesh.pool, 3 * elements, sizeof(double));
        for (int64_t e = 0; e < elements; e++) {
            side[e] = choice(60, e / 3, 3);
            mesh.factor[2 * e] = mesh.factor[2 * e + 1] = 1 + 0.01 * (double)e;
            mesh.fibre[3 * e + e % 3] = 1;
        }
        cut_by(&mesh, side, &r);
        const sp_mesh *cut = &r.mesh;
        CHECK(!memcmp(cut->factor, mesh.factor, (size_t)elements * 2 * sizeof(double)) &&
                  !memcmp(cut->fibre, mesh.fibre, (size_t)elements * 3 * sizeof(double)) &&
                  !memcmp(cut->region, mesh.region, (size_t)elements * sizeof(int64_t)) &&
                  !memcmp(cut->materials, mesh.materials, sizeof *mesh.materials),
              "kind %d", kind);
        CHECK(cut->quadrature == 2 && cut->block[SP_HEX8].count == mesh.block[SP_HEX8].count &&
                  cut->block[SP_TET4].count == mesh.block[SP_TET4].count && cut->material_count == 1,
              "kind %d", kind);
        for (int64_t v = 0; v < cut->vertex_count; v++) { /* vertex 3 i is fixed by axes 1 + i % 7 */
            int64_t from = r.origin[v];
            bool is_fixed = from % 3 == 0;
            wrong += is_fixed && (prescribed >= cut->fixed_count || cut->fixed[prescribed] != v ||
                                  cut->fixed_axes[prescribed] != 1 + from / 3 % 7);
            prescribed += is_fixed;
            wrong += memcmp(cut->vertices + 3 * v, mesh.vertices + 3 * from, 3 * sizeof(double)) != 0;
        }
        CHECK(wrong == 0 && prescribed == cut->fixed_count && prescribed > mesh.fixed_count,
              "%lld wrong, %lld held of %lld", (long long)wrong, (long long)prescribed, (long long)cut->fixed_count);
        CHECK(!memcmp(cut->surface.weights, mesh.surface.weights,
                      (size_t)(mesh.surface.width * elements) * sizeof(double)) &&
                  !memcmp(cut->surface.element, mesh.surface.element, (size_t)elements * sizeof(int64_t)) &&
                  !memcmp(cut->surface.vertices, mesh.surface.vertices, (size_t)elements * 3 * sizeof(double)),
              "kind %d: the surface", kind);
    }
}

/* piece [elements], by pairs that share a vertex. */
static void find_pieces(const sp_mesh *mesh, int64_t *piece)
{
    int64_t elements = sp_mesh_element_count(mesh), shared[8];
    bool changed = true;
    for (int64_t e = 0; e < elements; e++)
        piece[e] = e;
    while (changed) {
        changed = false;
        for (int64_t e = 0; e < elements; e++)
            for (int64_t f = 0; f < elements; f++)
                if (piece[e] < piece[f] && common(mesh, e, f, shared)) {
                    piece[f] = piece[e];
                    changed = true;
                }
    }
}

TEST(triangles_that_are_dropped)
{
    int64_t reasons[5] = {0};
    for (int kind = 0; kind < 4; kind++) {
        OWNED(sp_mesh) mesh;
        OWNED(result) r;
        int64_t side[1000], before[1000], after[1000], kept = 0, wrong = 0, shared[8];
        if (kind < 3)
            make_kind(kind, kind ? 3 : 5, 20, &mesh);
        else
            make_holes(8, true, 20, &mesh);
        embed(&mesh);
        for (int64_t e = 0; e < sp_mesh_element_count(&mesh); e++)
            side[e] = choice(70, e / (kind % 3 ? 6 : 1), 8) == 0;
        cut_by(&mesh, side, &r);
        find_pieces(&mesh, before);
        find_pieces(&r.mesh, after);
        for (int64_t t = 0; t < mesh.surface.triangle_count; t++) {
            const int64_t *at = mesh.surface.triangles + 3 * t; /* the vertices are numbered as their elements */
            bool sides = false, pieces = false, neighbours = false, old = false;
            for (int a = 0; a < 3; a++) {
                int64_t e = at[a], f = at[(a + 1) % 3];
                sides |= side[e] != side[f];
                pieces |= before[e] == before[f] && after[e] != after[f];
                neighbours |= common(&mesh, e, f, shared) > 0 && common(&r.mesh, e, f, shared) == 0;
                old |= before[e] != before[f];
            }
            reasons[3] += sides && !pieces;
            reasons[4] += old && !sides && !pieces && !neighbours;
            reasons[0] += sides;
            reasons[1] += pieces && !sides;
            reasons[2] += neighbours && !sides && !pieces;
            if (!(sides || pieces || neighbours))
                wrong += kept >= r.mesh.surface.triangle_count ||
                         memcmp(r.mesh.surface.triangles + 3 * kept++, at, 3 * sizeof *at) != 0;
        }
        CHECK(wrong == 0 && kept == r.mesh.surface.triangle_count && r.dropped == mesh.surface.triangle_count - kept,
              "%lld wrong, %lld kept of %lld, %lld dropped", (long long)wrong, (long long)kept,
              (long long)mesh.surface.triangle_count, (long long)r.dropped);
    }
    NOTE("dropped: %lld over two sides (%lld of them over two pieces already), %lld over two pieces of one, %lld over "
         "neighbours parted in one piece; kept over two pieces: %lld",
         (long long)reasons[0], (long long)reasons[3], (long long)reasons[1], (long long)reasons[2],
         (long long)reasons[4]);
    CHECK(reasons[0] && reasons[1] && reasons[2] && reasons[3] && reasons[4], "not every reason occurs");
}

/* ---- mechanics ---- */

/* Pᵀ A' P = A, where P copies the value of the origin to every copy, and no entry couples two pieces. */
static void compare_matrices(const char *what, const sp_fe_space *body, const sp_sparse *A, const sp_fe_space *cut_body,
                             const sp_sparse *cut, const int64_t *origin, const int64_t *piece)
{
    double worst = 0, largest = 0;
    int64_t couplings = 0;
    double *dense = test_new(A->order * A->order, sizeof *dense);
    for (int64_t i = 0; i < A->order; i++)
        for (int64_t k = A->start[i]; k < A->start[i + 1]; k++)
            dense[i * A->order + A->index[k]] += A->value[k];
    for (int64_t i = 0; i < A->order * A->order; i++)
        largest = fmax(largest, fabs(dense[i]));
    for (int64_t i = 0; i < cut->order; i++)
        for (int64_t k = cut->start[i]; k < cut->start[i + 1]; k++) {
            int64_t row = cut_body->free[i], column = cut_body->free[cut->index[k]];
            couplings += piece[row / 3] != piece[column / 3];
            row = body->dof[3 * origin[row / 3] + row % 3];
            column = body->dof[3 * origin[column / 3] + column % 3];
            dense[row * A->order + column] -= cut->value[k];
        }
    for (int64_t i = 0; i < A->order * A->order; i++)
        worst = fmax(worst, fabs(dense[i]));
    /* sums of at most 8 entries of elements in another order */
    CHECK(worst <= 1e-14 * largest, "%s: off by %.3g of %.3g", what, worst, largest);
    CHECK(couplings == 0, "%s: %lld entries couple two pieces", what, (long long)couplings);
}

TEST(masses_momenta_and_stiffness)
{
    for (int tets = 0; tets < 2; tets++) {
        OWNED(sp_mesh) mesh;
        sp_mesh box;
        OWNED(result) r;
        OWNED(sp_fe_space) body, cut_body;
        OWNED(sp_sparse) K, cut_K, M, cut_M;
        make_box(3, 3, 2, 0.5, 0.1, &box);
        if (tets) {
            CHECK_OK(sp_mesh_split(&context, &box, &mesh));
            sp_mesh_free(&box);
        } else
            mesh = box;
        CHECK_OK(sp_mesh_fix_list(&context, &mesh, 2, (int64_t[]){0, 21}, 7));
        int64_t side[200], elements = sp_mesh_element_count(&mesh), label[200], pieces;
        for (int64_t e = 0; e < elements; e++)
            side[e] = choice(80, e / (tets ? 6 : 1), 2);
        cut_by(&mesh, side, &r);
        CHECK_OK(sp_mesh_components(&context, &r.mesh, label, &pieces));
        CHECK(pieces > 2, "%lld pieces", (long long)pieces);
        int64_t *piece = sp_pool_new(&r.pool, r.mesh.vertex_count, sizeof *piece);
        for (int64_t e = 0; e < elements; e++) {
            int count;
            const int64_t *node = sp_mesh_nodes(&r.mesh, e, &count);
            for (int a = 0; a < count; a++)
                piece[node[a]] = label[e];
        }
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_fe_space_new(&context, &r.mesh, &cut_body));
        CHECK_OK(sp_elastic_stiffness(&context, &body, &K));
        CHECK_OK(sp_elastic_stiffness(&context, &cut_body, &cut_K));
        CHECK_OK(sp_fe_space_mass_compressed(&context, &body, false, &M));
        CHECK_OK(sp_fe_space_mass_compressed(&context, &cut_body, false, &cut_M));
        compare_matrices("K", &body, &K, &cut_body, &cut_K, r.origin, piece);
        compare_matrices("M", &body, &M, &cut_body, &cut_M, r.origin, piece);
        /* a velocity of the old mesh: copies move as their origin, and every piece has the momentum of its elements
         * before */
        double *velocity = sp_pool_new(&r.pool, 3 * mesh.vertex_count, sizeof(double)),
               *momentum = sp_pool_new(&r.pool, 3 * mesh.vertex_count, sizeof(double));
        double *cut_velocity = sp_pool_new(&r.pool, 3 * r.mesh.vertex_count, sizeof(double)),
               *cut_momentum = sp_pool_new(&r.pool, 3 * r.mesh.vertex_count, sizeof(double));
        double *lumped = sp_pool_new(&r.pool, r.mesh.vertex_count, sizeof(double)), expected[200] = {0},
               measured[200] = {0}, total[2][3] = {{0}};
        random_field(3 * mesh.vertex_count, 5, velocity);
        for (int64_t v = 0; v < r.mesh.vertex_count; v++)
            memcpy(cut_velocity + 3 * v, velocity + 3 * r.origin[v], 3 * sizeof(double));
        sp_fe_space_mass_times(&context, &body, 3, velocity, momentum);
        sp_fe_space_mass_times(&context, &cut_body, 3, cut_velocity, cut_momentum);
        sp_fe_space_vertex_mass(&cut_body, true, lumped);
        for (int64_t i = 0; i < 3 * mesh.vertex_count; i++)
            total[0][i % 3] += momentum[i];
        for (int64_t i = 0; i < 3 * r.mesh.vertex_count; i++)
            total[1][i % 3] += cut_momentum[i];
        for (int c = 0; c < 3; c++)
            CHECK_NEAR(total[1][c], total[0][c], 1e-13 * 2250); /* kg m/s: the mass of the box and speeds up to 1 */
        for (int64_t e = 0; e < elements; e++)
            expected[label[e]] += 1000 * sp_mesh_element_volume(&mesh, e);
        for (int64_t v = 0; v < r.mesh.vertex_count; v++)
            measured[piece[v]] += lumped[v];
        for (int64_t p = 0; p < pieces; p++)
            CHECK_NEAR(measured[p], expected[p], 1e-12 * expected[p]);
        /* one piece moves away from the others without energy */
        double *u = sp_pool_new(&r.pool, 3 * r.mesh.vertex_count, sizeof(double)),
               *f = sp_pool_new(&r.pool, 3 * r.mesh.vertex_count, sizeof(double)), largest = 0;
        for (int64_t v = 0; v < r.mesh.vertex_count; v++)
            for (int c = 0; c < 3; c++)
                u[3 * v + c] = piece[v] == 1 ? 0.25 * (c + 1) : 0;
        double energy = sp_elastic_force(&context, &cut_body, u, f);
        for (int64_t i = 0; i < 3 * r.mesh.vertex_count; i++)
            largest = fmax(largest, fabs(f[i]));
        CHECK(energy <= 1e-20 * 1e6 && largest <= 1e-9, "a piece moved away: %.3g J, %.3g N", energy, largest);
    }
}

/* ---- checks, and the file ---- */

TEST(other_meshes_are_refused)
{
    OWNED(sp_mesh) mesh, other;
    OWNED(result) r;
    make_box(2, 2, 2, 1, 0, &mesh);
    make_box(2, 2, 3, 1, 0, &other);
    int64_t side[8] = {0};
    sp_mesh_sides_of_plane(&mesh, (double[]){0, 0, 1}, 1, -1, 1, side);
    cut_by(&mesh, side, &r);
    int64_t last = r.mesh.vertex_count - 1, kept;
    CHECK(sp_mesh_check_cut(&context, &other, &r.mesh, r.origin) == SP_INPUT &&
              strstr(context.message, "8 elements of type hex"),
          "%s", context.message);
    CHECK(sp_mesh_check_cut(&context, &r.mesh, &mesh, r.origin) == SP_INPUT && strstr(context.message, "27 vertices"),
          "%s", context.message);
    for (int i = 0; i < 5; i++) {
        const struct {
            int64_t *at, value;
            const char *message;
        } damage[] = {
            {&r.origin[last], -1, "origin: vertex 35"},
            {&r.origin[last], 27, "vertex 27 of 27"},
            {&r.origin[3], 4, "origin: vertex 3 is"},
            {&r.origin[last], 16, "vertices: vertex 35"},
            {&r.mesh.block[SP_HEX8].node[8 * 7 + 2], 3, "element 7 comes from vertex 3"},
        };
        kept = *damage[i].at;
        *damage[i].at = damage[i].value;
        CHECK(sp_mesh_check_cut(&context, &mesh, &r.mesh, r.origin) == SP_INPUT &&
                  strstr(context.message, damage[i].message),
              "%d: %s", i, context.message);
        *damage[i].at = kept;
    }
    r.mesh.region[5] = 1;
    CHECK(sp_mesh_check_cut(&context, &mesh, &r.mesh, r.origin) == SP_INPUT && strstr(context.message, "element 5"),
          "%s", context.message);
}

static const char hash_text[] = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/* Writes a cut mesh, or with origin NULL one without that member, and reads it back. */
static int there_and_back(const sp_mesh *mesh, const char *cut_from, const int64_t *origin, sp_pool *pool,
                          char found[SP_HASH_LENGTH], int64_t *count, int64_t **read)
{
    int descriptor = memfd_create("cut", 0);
    sp_writer *writer;
    OWNED(sp_file) file = {0};
    sp_mesh back;
    json_t *meta = json_pack("{s:s, s:s}", "kind", "mesh", "format_version", SP_FORMAT_VERSION),
           *judged = json_object();
    CHECK_OK(sp_writer_open(&context, descriptor, &writer));
    if (origin && !*cut_from) { /* it is not written */
        int refused = sp_mesh_write_cut(&context, writer, meta, mesh, cut_from, origin);
        sp_writer_abandon(writer);
        json_decref(meta);
        json_decref(judged);
        close(descriptor);
        return refused;
    }
    if (origin)
        CHECK_OK(sp_mesh_write_cut(&context, writer, meta, mesh, cut_from, origin));
    else {
        json_object_set_new(meta, "cut_from", json_string(cut_from));
        CHECK_OK(sp_mesh_write(&context, writer, meta, mesh));
    }
    CHECK_OK(sp_file_write_result(writer, judged));
    CHECK_OK(sp_writer_close(writer));
    lseek(descriptor, 0, SEEK_SET);
    CHECK_OK(sp_file_read(&context, descriptor, NULL, false, false, &file));
    int status = sp_mesh_read_origin(&context, &file, pool, found, count, read);
    if (status == SP_OK) {
        CHECK_OK(sp_mesh_read(&context, &file, &back));
        CHECK(back.vertex_count == mesh->vertex_count, "%lld vertices", (long long)back.vertex_count);
        sp_mesh_free(&back);
    }
    json_decref(meta);
    json_decref(judged);
    close(descriptor);
    return status;
}

TEST(files_of_cut_meshes)
{
    OWNED(sp_mesh) mesh;
    OWNED(result) r;
    char hash[SP_HASH_LENGTH];
    int64_t side[8] = {0, 1}, count, *origin, kept;
    make_box(2, 2, 2, 1, 0, &mesh);
    cut_by(&mesh, side, &r);
    CHECK(r.mesh.vertex_count == 27 + 7, "%lld vertices",
          (long long)r.mesh.vertex_count); /* all corners of the element except the outer one */
    CHECK_OK(there_and_back(&r.mesh, hash_text, r.origin, &r.pool, hash, &count, &origin));
    CHECK(!strcmp(hash, hash_text) && count == r.mesh.vertex_count &&
              !memcmp(origin, r.origin, (size_t)count * sizeof *origin),
          "another origin");
    CHECK_OK(there_and_back(&mesh, "", NULL, &r.pool, hash, &count, &origin));
    CHECK(!*hash && count == 0 && !origin, "an origin of a mesh that was not cut");
    CHECK(there_and_back(&r.mesh, hash_text, NULL, &r.pool, hash, &count, &origin) == SP_INPUT &&
              strstr(context.message, "origin is missing"),
          "%s", context.message);
    CHECK(there_and_back(&r.mesh, "", r.origin, &r.pool, hash, &count, &origin) == SP_INPUT &&
              strstr(context.message, "cut_from"),
          "%s", context.message);
    CHECK(there_and_back(&r.mesh, "0011", r.origin, &r.pool, hash, &count, &origin) == SP_INPUT &&
              strstr(context.message, "cut_from"),
          "%s", context.message);
    const struct {
        int64_t at, value;
        const char *message;
    } damage[] = {
        {30, -1, "vertex 30 is to be a copy of vertex -1 of 27"},
        {33, 27, "vertex 27 of 27"},
        {33, INT64_MIN, "of 27"},
        {5, 4, "vertex 6 is to be a copy of vertex 6 of 5"},
        {31, 0, "must not decrease"},
    };
    for (size_t i = 0; i < sizeof damage / sizeof *damage; i++) {
        kept = r.origin[damage[i].at];
        r.origin[damage[i].at] = damage[i].value;
        CHECK(there_and_back(&r.mesh, hash_text, r.origin, &r.pool, hash, &count, &origin) == SP_INPUT &&
                  strstr(context.message, damage[i].message),
              "%d: %s", (int)i, context.message);
        r.origin[damage[i].at] = kept;
    }
}
