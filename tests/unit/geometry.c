/* Vectors; voxels: cubes that meet a triangle, filled cubes, and properties of their mesh. */
#include "base/vec3.h"
#include "formats/import/surface.h"
#include "geometry/grid.h"
#include "geometry/voxelize.h"
#include "geometry/winding.h"
#include "geometry_models.h"
#include "test.h"

OWNER(sp_winding)

static const sp_material MATERIAL = {
    .name = "rubber", .law = SP_LAW_STVK, .density = 1000, .young = 1e6, .poisson = 0.45};

static sp_voxelize_parameters filled(int64_t resolution)
{
    return (sp_voxelize_parameters){.resolution = resolution, .enlarge = 1.2, .fill = true};
}

typedef struct result {
    int status;
    sp_mesh mesh;
    sp_voxelize_report report;
} result;

static result voxelize(const sp_surface *s, sp_voxelize_parameters p)
{
    result r;
    r.status = sp_voxelize(&context, s, &p, &MATERIAL, &r.mesh, &r.report);
    CHECK(r.status == SP_OK, "%s", context.message);
    if (r.status == SP_OK)
        CHECK_OK(sp_mesh_check(&context, &r.mesh, 1e-12));
    return r;
}

static double volume(const result *r)
{
    return (double)r->mesh.block[SP_HEX8].count * pow(r->report.spacing, 3);
}

static bool same_voxels(const result *a, const result *b)
{
    return a->status == SP_OK && b->status == SP_OK && a->mesh.block[SP_HEX8].count == b->mesh.block[SP_HEX8].count &&
           a->mesh.vertex_count == b->mesh.vertex_count &&
           memcmp(a->mesh.block[SP_HEX8].node, b->mesh.block[SP_HEX8].node,
                  (size_t)(8 * a->mesh.block[SP_HEX8].count) * sizeof(int64_t)) == 0 &&
           memcmp(a->mesh.vertices, b->mesh.vertices, (size_t)(3 * a->mesh.vertex_count) * sizeof(double)) == 0;
}

static void middle(const sp_mesh *mesh, int64_t voxel, double x[3])
{
    for (int k = 0; k < 3; k++)
        x[k] = 0.5 * (mesh->vertices[3 * mesh->block[SP_HEX8].node[8 * voxel] + k] +
                      mesh->vertices[3 * mesh->block[SP_HEX8].node[8 * voxel + 6] + k]);
}

/* --- triangles and cubes --- */

/* Area does not matter, only whether the triangle, clipped against the six half spaces of a cube enlarged by `more` on
 * all sides, keeps a point (Sutherland & Hodgman). */
static bool clip_meets(const double corners[9], const int64_t cell[3], double more)
{
    double polygon[16][3], next[16][3];
    int count = 3;
    memcpy(polygon, corners, 9 * sizeof(double));
    for (int side = 0; side < 6; side++) {
        const int k = side / 2;
        const double sign = side % 2 ? -1 : 1, plane = (double)cell[k] + (side % 2 ? 1 + more : -more);
        int kept = 0;
        for (int i = 0; i < count; i++) {
            const double *a = polygon[i], *b = polygon[(i + 1) % count];
            double da = sign * (a[k] - plane), db = sign * (b[k] - plane);
            if (da >= 0)
                memcpy(next[kept++], a, sizeof next[0]);
            if ((da > 0 && db < 0) || (da < 0 && db > 0)) {
                for (int c = 0; c < 3; c++)
                    next[kept][c] = a[c] + (b[c] - a[c]) * (da / (da - db));
                next[kept++][k] = plane;
            }
        }
        count = kept;
        memcpy(polygon, next, sizeof polygon);
    }
    return count > 0;
}

static void mark(void *data, int64_t y, int64_t z, int64_t first, int64_t last)
{
    for (int64_t x = first; x <= last; x++)
        ((char *)data)[(z * 8 + y) * 8 + x]++;
}

TEST(triangle_and_cubes)
{
    const sp_grid grid = {.spacing = 1, .cells = {8, 8, 8}, .words = 1};
    int64_t wrong = 0, met = 0;
    for (uint64_t i = 0; i < 3000; i++) {
        double corners[9];
        char cells[512] = {0};
        for (int c = 0; c < 9; c++) {
            /* Of all sizes, partly outside the grid; some on grid planes, some degenerate. */
            double size = i % 3 == 0 ? 8 : i % 3 == 1 ? 1.5 : 0.2;
            corners[c] = random_in(4, 3 * i + (uint64_t)c % 3, -1, 9) + random_in(5, 9 * i + (uint64_t)c, -size, size);
            if (i % 7 == 0)
                corners[c] = rint(corners[c]);
            if (i % 11 == 0 && c >= 6)
                corners[c] = 0.5 * (corners[c - 6] + corners[c - 3]);
            if (i % 101 == 0 && c >= 3)
                corners[c] = corners[c - 3];
        }
        sp_grid_triangle(&grid, corners, 0, 3, mark, cells); /* in two parts, as slabs do */
        sp_grid_triangle(&grid, corners, 3, 8, mark, cells);
        for (int64_t n = 0; n < 512; n++) {
            const int64_t cell[3] = {n % 8, n / 8 % 8, n / 64};
            /* Must be there when the cube itself is met, must not be when a slightly larger one is not. */
            if (cells[n] > 1 || (!cells[n] && clip_meets(corners, cell, 0)) ||
                (cells[n] && !clip_meets(corners, cell, 1e-8)))
                wrong++;
            met += cells[n] > 0;
        }
    }
    CHECK(wrong == 0, "%lld cells differ from clipping", (long long)wrong);
    CHECK(met > 10000, "%lld cells met: the test says nothing", (long long)met);
}

/* --- filled spheres --- */

/* Volume, shadow areas and widths of a closed convex surface give the volume of the cubes of size h that meet it,
 * averaged over the positions of the grid: vol(K + cube) = V + h Σ shadows + h² Σ widths + h³ (Steiner's formula for a
 * cube). */
static double steiner(const sp_surface *s, int64_t triangles, double h)
{
    double inside = 0, shadows = 0;
    for (int64_t t = 0; t < triangles; t++) {
        const double *a = s->vertices + 3 * s->triangles[3 * t], *b = s->vertices + 3 * s->triangles[3 * t + 1];
        const double *c = s->vertices + 3 * s->triangles[3 * t + 2];
        for (int k = 0; k < 3; k++) {
            const int i = (k + 1) % 3, j = (k + 2) % 3;
            double normal = 0.5 * ((b[i] - a[i]) * (c[j] - a[j]) - (b[j] - a[j]) * (c[i] - a[i]));
            inside += normal * a[k] / 3;
            shadows += 0.5 * fabs(normal);
        }
    }
    return inside + h * shadows + h * h * 6 + h * h * h;
}

/* A sphere (a convex polyhedron: its quadrilaterals are plane) in grids that a tiny tetrahedron beside it, dropped as
 * the smaller component, shifts at random: each voxel by its distance, the mean volume by the formula. */
TEST(sphere_volume)
{
    const double centre[3] = {0.1, -0.2, 0.3};
    enum { SHIFTS = 12 };
    for (int64_t n = 10; n <= 80; n *= 2) {
        double mean = 0, square = 0, h = 0;
        for (uint64_t shift = 0; shift < SHIFTS; shift++) {
            OWNED(sp_surface) s = sphere(64);
            const int64_t count = s.triangle_count, first = s.vertex_count;
            for (int v = 0; v < 4; v++)
                for (int k = 0; k < 3; k++)
                    s.vertices[3 * (first + v) + k] =
                        centre[k] + random_in(9, 3 * shift + (uint64_t)k, 1.6, 2) + 1e-3 * (v == k + 1);
            s.vertex_count += 4;
            add_triangle(&s, first, first + 2, first + 1);
            add_triangle(&s, first, first + 1, first + 3);
            add_triangle(&s, first, first + 3, first + 2);
            add_triangle(&s, first + 1, first + 2, first + 3);
            sp_voxelize_parameters p = filled(n);
            p.keep = 1;
            result r = voxelize(&s, p);
            h = r.report.spacing;
            CHECK(r.report.component_count == 2 && r.report.dropped_triangles == 4, "%lld components",
                  (long long)r.report.component_count);
            int64_t kept = r.mesh.block[SP_HEX8].count, must = 0, may = 0;
            for (int64_t c = 0; c < r.report.cells[0] * r.report.cells[1] * r.report.cells[2]; c++) {
                const int64_t i[3] = {c % r.report.cells[0], c / r.report.cells[0] % r.report.cells[1],
                                      c / r.report.cells[0] / r.report.cells[1]};
                double near = 0;
                for (int k = 0; k < 3; k++) {
                    double gap = fmax(0, fabs(r.report.origin[k] + h * ((double)i[k] + 0.5) - centre[k]) - h / 2);
                    near += gap * gap;
                }
                must += sqrt(near) < 1 - 1e-3; /* facets lie at most 1 − cos²(π/128) = 6e-4 deep */
                may += sqrt(near) <= 1;
            }
            CHECK(must <= kept && kept <= may, "%lld voxels, not between %lld and %lld", (long long)kept,
                  (long long)must, (long long)may);
            double difference = volume(&r) - steiner(&s, count, h);
            mean += difference / SHIFTS;
            square += difference * difference / SHIFTS;
            sp_mesh_free(&r.mesh);
        }
        double spread = sqrt(fmax(square - mean * mean, 0));
        CHECK(fabs(mean) <= 4 * spread / sqrt(SHIFTS), "n %lld: mean %g, standard deviation %g", (long long)n, mean,
              spread);
        /* About 6π/h² cells are cut by the surface; this is the deviation if each were kept at random. */
        CHECK(spread <= h * h * h * 0.5 * sqrt(6 * PI) / h, "n %lld: standard deviation %g", (long long)n, spread);
        NOTE("filled sphere, n = %lld: volume minus formula %.2g ± %.2g", (long long)n, mean, spread);
    }
}

TEST(sphere_repaired)
{
    OWNED(sp_surface) s = sphere(24);
    const int64_t count = s.triangle_count;
    result good = voxelize(&s, filled(40));
    for (int model = 0; model < 5; model++) {
        static const char *name[] = {"inverted", "randomly oriented", "doubled", "doubled with opposite sense",
                                     "partly doubled at random"};
        OWNED(sp_surface) t = sphere(24);
        for (int64_t i = 0; i < count; i++) {
            const int64_t *v = t.triangles + 3 * i;
            bool random = random_in(8, (uint64_t)i, 0, 1) < 0.5;
            if (model == 0 || (model == 1 && random))
                turn(&t, i);
            else if (model == 2 || (model == 4 && random))
                add_triangle(&t, v[1], v[2], v[0]);
            else if (model == 3)
                add_triangle(&t, v[1], v[0], v[2]);
        }
        result r = voxelize(&t, filled(40));
        CHECK(same_voxels(&good, &r), "%s: %lld voxels instead of %lld", name[model],
              (long long)r.mesh.block[SP_HEX8].count, (long long)good.mesh.block[SP_HEX8].count);
        CHECK(r.report.orient.open_edges == 0, "%s: %lld open edges", name[model],
              (long long)r.report.orient.open_edges);
        sp_mesh_free(&r.mesh);
    }
    /* Two triangles away, a hole of 0.04 where voxels have 0.1, off the sphere's extremes so that the grid stays. */
    OWNED(sp_surface) t = sphere(80);
    result fine = voxelize(&t, filled(24));
    t.triangle_count -= 2;
    memmove(t.triangles + 3 * 5000, t.triangles + 3 * 5002, (size_t)(3 * (t.triangle_count - 5000)) * sizeof(int64_t));
    result r = voxelize(&t, filled(24));
    CHECK(r.report.orient.open_edges == 4, "%lld open edges", (long long)r.report.orient.open_edges);
    CHECK(same_voxels(&fine, &r), "small hole: %lld voxels instead of %lld", (long long)r.mesh.block[SP_HEX8].count,
          (long long)fine.mesh.block[SP_HEX8].count);
    sp_mesh_free(&r.mesh);
    sp_mesh_free(&fine.mesh);
    sp_mesh_free(&good.mesh);
}

/* A tenth of the area is missing. With a disk D over the plane rim, w is 1 (inside) or 0 (outside the closed surface)
 * plus or minus the solid angle of D / 4π, which is below ½ beside a plane disk: so only the part below the rim is
 * filled. Checked for voxels that the accuracy of the threshold cannot change: not within half a voxel of the disk. */
TEST(sphere_with_hole)
{
    const int n = 40;
    const double h_rim = 0.8; /* the cap above z = 0.8 has (1 − 0.8)/2 = 10 % of the area */
    OWNED(sp_surface) s = sphere(n);
    cut_hole(&s, 0.3 + h_rim);
    double rim = -1; /* the highest ring left */
    for (int64_t i = 0; i < 3 * s.triangle_count; i++)
        rim = fmax(rim, s.vertices[3 * s.triangles[i] + 2] - 0.3);
    CHECK(rim > 0.7 && rim < 0.85, "%g", rim);
    for (int inverted = 0; inverted < 2; inverted++) {
        result r = voxelize(&s, filled(48));
        const double h = r.report.spacing;
        int64_t above = 0, below = 0, expected = 0;
        for (int64_t e = 0; e < r.mesh.block[SP_HEX8].count; e++) {
            double x[3];
            middle(&r.mesh, e, x);
            double d = hypot(hypot(x[0] - 0.1, x[1] + 0.2), x[2] - 0.3);
            above += x[2] - 0.3 > rim + h && d < 1 - h;
            below += x[2] - 0.3 < rim - h && d < 1 - h;
        }
        const int64_t *cells = r.report.cells;
        for (int64_t c = 0; c < cells[0] * cells[1] * cells[2]; c++) {
            const int64_t i[3] = {c % cells[0], c / cells[0] % cells[1], c / cells[0] / cells[1]};
            double x[3];
            for (int k = 0; k < 3; k++)
                x[k] = r.report.origin[k] + h * ((double)i[k] + 0.5);
            double d = hypot(hypot(x[0] - 0.1, x[1] + 0.2), x[2] - 0.3);
            expected += x[2] - 0.3 < rim - h && d < 1 - h;
        }
        CHECK(above == 0, "%lld voxels above the rim", (long long)above);
        CHECK(below == expected && expected > 1000, "%lld voxels below the rim instead of %lld", (long long)below,
              (long long)expected);
        sp_mesh_free(&r.mesh);
        turn_all(&s, 0);
    }
}

/* In open models most cells are decided from a neighbour by a bound of the winding number's gradient. Every cell
 * against the exact number of the repaired surface, but for those so near ½ that the fast one may fall on either side.
 */
TEST(open_cells)
{
    for (int model = 0; model < 3; model++) {
        OWNED(sp_surface) s = sphere(20), oriented = {0};
        sp_orient_report report;
        OWNED_POINTER(sp_winding) *w = NULL;
        int64_t left = 0;
        if (model < 2)
            cut_hole(&s, model == 0 ? 0.9 : 0.1); /* a hole; little more than a bowl */
        /* z becomes x: rows of cells run along x and now leave through the opening, where w passes ½ within a run. */
        for (int64_t v = 0; v < s.vertex_count; v++) {
            double *x = s.vertices + 3 * v, z = x[2];
            x[2] = x[1];
            x[1] = x[0];
            x[0] = z;
        }
        /* every third triangle is missing: holes everywhere */
        for (int64_t t = 0; model == 2 && t < s.triangle_count; t++)
            if (t % 3)
                memmove(s.triangles + 3 * left++, s.triangles + 3 * t, 3 * sizeof(int64_t));
        s.triangle_count = model == 2 ? left : s.triangle_count;
        sp_voxelize_parameters p = filled(26);
        p.enlarge = 1.5;
        result all = voxelize(&s, p);
        p.fill = false;
        result hollow = voxelize(&s, p);
        CHECK_OK(sp_surface_orient(&context, &s, &oriented, &report));
        CHECK_OK(sp_winding_new(&context, &oriented, &w));
        const int64_t *n = all.report.cells, total = n[0] * n[1] * n[2];
        char *state = test_new(total, 1); /* 1 filled, 2 meets the surface */
        for (int pass = 0; pass < 2 && state; pass++) {
            const sp_mesh *m = pass ? &hollow.mesh : &all.mesh;
            for (int64_t e = 0; e < m->block[SP_HEX8].count; e++) {
                double x[3];
                int64_t i[3];
                middle(m, e, x);
                for (int k = 0; k < 3; k++)
                    i[k] = (int64_t)floor((x[k] - all.report.origin[k]) / all.report.spacing);
                state[(i[2] * n[1] + i[1]) * n[0] + i[0]] = (char)(1 + pass);
            }
        }
        int64_t wrong = 0, unclear = 0, inside = 0;
        for (int64_t c = 0; c < total && state; c++) {
            const int64_t i[3] = {c % n[0], c / n[0] % n[1], c / n[0] / n[1]};
            double x[3];
            for (int k = 0; k < 3; k++)
                x[k] = all.report.origin[k] + all.report.spacing * ((double)i[k] + 0.5);
            if (state[c] == 2)
                continue;
            double exact = sp_winding_number(w, x, 0);
            if (fabs(exact - 0.5) < 0.01)
                unclear++;
            else
                wrong += (exact >= 0.5) != (state[c] == 1);
            inside += state[c] == 1;
        }
        CHECK(wrong == 0, "model %d: %lld cells are decided wrongly", model, (long long)wrong);
        CHECK(inside > 100 && unclear < total / 20, "model %d: %lld inside, %lld unclear of %lld", model,
              (long long)inside, (long long)unclear, (long long)total);
        sp_mesh_free(&all.mesh);
        sp_mesh_free(&hollow.mesh);
    }
}

/* --- several bodies --- */

static bool has_voxel_at(const result *r, const double x[3])
{
    for (int64_t e = 0; e < r->mesh.block[SP_HEX8].count; e++) {
        double c[3];
        middle(&r->mesh, e, c);
        if (fabs(c[0] - x[0]) <= r->report.spacing / 2 && fabs(c[1] - x[1]) <= r->report.spacing / 2 &&
            fabs(c[2] - x[2]) <= r->report.spacing / 2)
            return true;
    }
    return false;
}

TEST(nested)
{
    /* A ball with a cavity, and a ball in the cavity; as given and with everything turned. */
    for (int inverted = 0; inverted < 2; inverted++) {
        OWNED(sp_surface) s = new_surface(6000, 12000);
        add_sphere(&s, 24, (double[3]){0}, 1);
        int64_t from = s.triangle_count;
        add_sphere(&s, 24, (double[3]){0}, 0.7);
        turn_all(&s, from);
        add_sphere(&s, 24, (double[3]){0.05, 0, 0}, 0.3);
        if (inverted)
            turn_all(&s, 0);
        result r = voxelize(&s, filled(40));
        CHECK(has_voxel_at(&r, (double[3]){0.84, 0.01, 0.01}), "the wall is empty");
        CHECK(!has_voxel_at(&r, (double[3]){0.01, 0.5, 0.01}), "the cavity is filled");
        CHECK(has_voxel_at(&r, (double[3]){0.06, 0.01, 0.01}), "the inner ball is empty");
        CHECK(r.report.component_count == 2, "%lld components", (long long)r.report.component_count);
        /* With one component kept: the wall is the larger one. */
        sp_voxelize_parameters p = filled(40);
        p.keep = 1;
        result one = voxelize(&s, p);
        CHECK(!has_voxel_at(&one, (double[3]){0.06, 0.01, 0.01}), "the smaller component stayed");
        CHECK(one.mesh.block[SP_HEX8].count == r.report.component_size[0] &&
                  one.report.dropped_voxels == r.report.component_size[1],
              "%lld kept, %lld dropped", (long long)one.mesh.block[SP_HEX8].count,
              (long long)one.report.dropped_voxels);
        CHECK(one.report.dropped_triangles == s.triangle_count / 3, "%lld triangles dropped",
              (long long)one.report.dropped_triangles);
        CHECK(one.mesh.surface.triangle_count == 2 * s.triangle_count / 3 &&
                  one.mesh.surface.vertex_count == 2 * s.vertex_count / 3,
              "%lld triangles left", (long long)one.mesh.surface.triangle_count);
        sp_mesh_free(&one.mesh);
        sp_mesh_free(&r.mesh);
    }
    /* Both oriented outwards: a body within a body, without a cavity. */
    OWNED(sp_surface) s = new_surface(4000, 8000);
    add_sphere(&s, 24, (double[3]){0}, 1);
    add_sphere(&s, 24, (double[3]){0}, 0.5);
    result r = voxelize(&s, filled(30));
    CHECK(has_voxel_at(&r, (double[3]){0.01, 0.01, 0.01}) && r.report.component_count == 1,
          "a body within a body is empty");
    sp_mesh_free(&r.mesh);
}

/* Boxes aligned with grid planes, touching counts: 0 … 4 and 2 … 6 of the cells, enlarged by 1. The union is filled,
 * also when one of the boxes is given inside out. */
TEST(overlapping)
{
    for (int inverted = 0; inverted < 2; inverted++) {
        OWNED(sp_surface) s = new_surface(16, 24);
        add_box(&s, (double[3]){0, 0, 0}, (double[3]){4, 4, 4});
        add_box(&s, (double[3]){2, 2, 2}, (double[3]){6, 6, 6});
        if (inverted)
            turn_all(&s, 12);
        sp_voxelize_parameters p = filled(30);
        p.enlarge = 1.25; /* box −0.75 … 6.75 in 30 cells of ¼ */
        result r = voxelize(&s, p);
        CHECK(r.report.spacing == 0.25 && r.report.origin[0] == -0.75 && r.report.cells[2] == 30, "h %g origin %g",
              r.report.spacing, r.report.origin[0]);
        /* Cells that touch a box of 16 cells: 18³ each, 10³ in both. */
        CHECK(r.mesh.block[SP_HEX8].count == 2 * 18 * 18 * 18 - 10 * 10 * 10, "%lld voxels",
              (long long)r.mesh.block[SP_HEX8].count);
        sp_mesh_free(&r.mesh);
    }
}

/* --- properties of the mesh --- */

TEST(embedding)
{
    /* A sphere, boxes, and a box whose corners lie exactly on grid vertices (cells of ¼), each touched by eight voxels.
     */
    for (int model = 0; model < 4; model++) {
        OWNED(sp_surface) s = new_surface(3000, 6000);
        if (model == 0)
            add_sphere(&s, 20, (double[3]){0.1, 0.2, 0.3}, 1);
        else
            add_box(&s, (double[3]){0, 0, 0}, model == 3 ? (double[3]){4, 4, 4} : (double[3]){1, 2, 3});
        s.vertices[3 * s.vertex_count++] = 1e30; /* a vertex without triangle */
        sp_voxelize_parameters p = {.resolution = 24, .enlarge = model == 2 ? 1 : 1.2, .cube = model == 1};
        if (model == 3) {
            p.resolution = 20;
            p.enlarge = 1.25;
        }
        result r = voxelize(&s, p);
        const sp_mesh *m = &r.mesh;
        double outside = 0, sums = 0, off = 0;
        CHECK(m->surface.vertex_count == s.vertex_count - 1 && m->surface.triangle_count == s.triangle_count &&
                  m->surface.width == 8,
              "%lld vertices", (long long)m->surface.vertex_count);
        CHECK(memcmp(m->surface.triangles, s.triangles, (size_t)(3 * s.triangle_count) * sizeof(int64_t)) == 0,
              "triangles were changed");
        for (int64_t v = 0; v < m->surface.vertex_count; v++) {
            double x[3] = {0}, sum = 0;
            for (int a = 0; a < 8; a++) {
                double w = m->surface.weights[8 * v + a];
                outside = fmax(outside, fmax(-w, w - 1));
                sum += w;
                for (int k = 0; k < 3; k++)
                    x[k] += w * m->vertices[3 * m->block[SP_HEX8].node[8 * m->surface.element[v] + a] + k];
            }
            sums = fmax(sums, fabs(sum - 1));
            for (int k = 0; k < 3; k++)
                off = fmax(off, fabs(x[k] - s.vertices[3 * v + k]));
            /* No voxel of lower number contains the vertex. */
            for (int64_t e = 0; e < m->surface.element[v] && (model > 0 || v % 17 == 0); e++) {
                double c[3], far = 0;
                middle(m, e, c);
                for (int k = 0; k < 3; k++)
                    far = fmax(far, fabs(c[k] - s.vertices[3 * v + k]));
                CHECK(far > r.report.spacing * (model == 3 ? 0.5 : 0.5 - 1e-9),
                      "voxel %lld contains vertex %lld as well", (long long)e, (long long)v);
            }
        }
        CHECK(outside <= 1e-12 && sums <= 1e-15 && off <= 2e-12,
              "weights leave [0,1] by %g, sums by %g, positions by %g", outside, sums, off);
        int64_t rank = -1; /* by z, then y, then x */
        for (int64_t e = 0; e < m->block[SP_HEX8].count; e++) {
            double c[3];
            middle(m, e, c);
            int64_t i[3];
            for (int k = 0; k < 3; k++)
                i[k] = (int64_t)floor((c[k] - r.report.origin[k]) / r.report.spacing);
            int64_t this = (i[2] * r.report.cells[1] + i[1]) * r.report.cells[0] + i[0];
            CHECK(this > rank, "voxel %lld is out of order", (long long)e);
            rank = this;
        }
        if (model == 1)
            CHECK(r.report.cells[0] == 24 && r.report.cells[1] == 24, "the grid is no cube");
        CHECK(m->quadrature == 3 && m->fixed_count == 0 && m->block[SP_TET4].count == 0, "quadrature %d",
              m->quadrature);
        sp_mesh_free(&r.mesh);
    }
}

/* Two bodies of two groups, one filled box of which the left half of the surface is one group. */
TEST(regions)
{
    char left[] = "left", right[] = "right";
    OWNED(sp_surface) s = new_surface(8, 12);
    add_box(&s, (double[3]){0, 0, 0}, (double[3]){4, 1, 1});
    /* Only the two end faces matter to the voxels that touch no other: the box's faces 4 (x low) and 5 (x high). */
    s.group_count = 2;
    s.groups[0] = left;
    s.groups[1] = right;
    s.group[10] = s.group[11] = 1;
    result r = voxelize(&s, filled(40));
    CHECK(r.mesh.material_count == 2 && strcmp(r.mesh.materials[0].name, "left") == 0 &&
              strcmp(r.mesh.materials[1].name, "right") == 0 && r.mesh.materials[1].young == MATERIAL.young,
          "materials are not those of the groups");
    int64_t wrong = 0, right_count = 0;
    for (int64_t e = 0; e < r.mesh.block[SP_HEX8].count; e++) {
        double c[3];
        middle(&r.mesh, e, c);
        double to_end = fabs(c[0] - 4),
               to_side = fmin(fmin(fabs(c[1]), fabs(c[1] - 1)), fmin(fabs(c[2]), fabs(c[2] - 1)));
        right_count += r.mesh.region[e] == 1;
        if (r.report.spacing > 0.13 || to_end > 2) /* far from the end face all faces remain */
            wrong += to_end > 2 && r.mesh.region[e] != 0;
        else if (to_end < 0.06 && to_side > 0.2) /* meets the end face only */
            wrong += r.mesh.region[e] != 1;
        else if (to_end > 0.2 && to_side < 0.06) /* meets a lateral face only */
            wrong += r.mesh.region[e] != 0;
        else if (to_side > 0.3 && to_end < 0.2) /* inner, nearer to the end face */
            wrong += r.mesh.region[e] != 1;
    }
    CHECK(wrong == 0 && right_count > 20, "%lld voxels have the wrong region, %lld are right", (long long)wrong,
          (long long)right_count);
    sp_mesh_free(&r.mesh);
}

/* Sheets that lie in one layer of voxels: the nearest one to the centre gives the region, of equally near ones the
 * first. */
TEST(nearest_region)
{
    char left[] = "left", right[] = "right";
    static const double height[2][3] = {{0, 0.1, 0.8}, {0, 0.8, 0.8}}; /* centres of voxels at 0.4 */
    static const int64_t group[2][3] = {{0, 1, 0}, {1, 0, 0}};
    for (int model = 0; model < 2; model++) {
        OWNED(sp_surface) s = new_surface(12, 6);
        s.group_count = 2;
        s.groups[0] = left;
        s.groups[1] = right;
        for (int sheet = 0; sheet < 3; sheet++) {
            for (int v = 0; v < 4; v++) {
                double *x = s.vertices + 3 * s.vertex_count++;
                x[0] = v == 1 || v == 2 ? 8 : 0;
                x[1] = v > 1 ? 8 : 0;
                x[2] = height[model][sheet];
            }
            s.group[2 * sheet] = s.group[2 * sheet + 1] = group[model][sheet];
            add_triangle(&s, 4 * sheet, 4 * sheet + 1, 4 * sheet + 2);
            add_triangle(&s, 4 * sheet, 4 * sheet + 2, 4 * sheet + 3);
        }
        result r = voxelize(&s, (sp_voxelize_parameters){.resolution = 8, .enlarge = 1});
        int64_t wrong = 0;
        for (int64_t e = 0; e < r.mesh.block[SP_HEX8].count; e++)
            wrong += r.mesh.region[e] != 1;
        CHECK(r.mesh.block[SP_HEX8].count == 64 && wrong == 0, "model %d: %lld of %lld voxels have the wrong region",
              model, (long long)wrong, (long long)r.mesh.block[SP_HEX8].count);
        sp_mesh_free(&r.mesh);
    }
}

TEST(threads)
{
    OWNED(sp_surface) s = sphere(24);
    cut_hole(&s, 0.8); /* open, and in two groups */
    char upper[] = "upper";
    s.group_count = 2;
    s.groups[1] = upper;
    for (int64_t t = s.triangle_count / 2; t < s.triangle_count; t++)
        s.group[t] = 1;
    result first = voxelize(&s, filled(48));
    for (int n = 2; n <= 4; n += 2) {
        context.threads = n;
        result r = voxelize(&s, filled(48));
        CHECK(same_voxels(&first, &r), "%d threads give another mesh", n);
        CHECK(memcmp(first.mesh.region, r.mesh.region, (size_t)r.mesh.block[SP_HEX8].count * sizeof(int64_t)) == 0,
              "regions differ");
        CHECK(memcmp(first.mesh.surface.weights, r.mesh.surface.weights,
                     (size_t)(8 * r.mesh.surface.vertex_count) * sizeof(double)) == 0,
              "weights differ");
        CHECK(memcmp(&first.report, &r.report, sizeof r.report) == 0, "reports differ");
        sp_mesh_free(&r.mesh);
    }
    context.threads = 1;
    sp_mesh_free(&first.mesh);
}

TEST(refused)
{
    OWNED(sp_surface) s = new_surface(3, 1);
    sp_mesh mesh;
    sp_voxelize_report report;
    sp_voxelize_parameters p = filled(8);
    CHECK(sp_voxelize(&context, &s, &p, &MATERIAL, &mesh, &report) == SP_INPUT, "no triangles");
    s.vertex_count = 3;
    add_triangle(&s, 0, 1, 2);
    CHECK(sp_voxelize(&context, &s, &p, &MATERIAL, &mesh, &report) == SP_INPUT, "no extent");
    for (int c = 0; c < 9; c++)
        s.vertices[c] = c % 4 == 0;
    p.resolution = 4096;
    CHECK(sp_voxelize(&context, &s, &p, &MATERIAL, &mesh, &report) == SP_INPUT, "4096³ voxels");
    p.resolution = 0;
    CHECK(sp_voxelize(&context, &s, &p, &MATERIAL, &mesh, &report) == SP_USAGE, "resolution 0");
    p = filled(8);
    p.enlarge = 0.9;
    CHECK(sp_voxelize(&context, &s, &p, &MATERIAL, &mesh, &report) == SP_USAGE, "shrinking");
    const volatile int cancel = 1;
    p = filled(8);
    context.cancel = &cancel;
    CHECK(sp_voxelize(&context, &s, &p, &MATERIAL, &mesh, &report) == SP_SYSTEM, "cancelled");
    context.cancel = NULL;
    for (int c = 0; c < 9; c++) /* a sheet in a coordinate plane, box without depth */
        s.vertices[c] *= c % 3 != 2;
    p.enlarge = 1;
    result r = voxelize(&s, p);
    CHECK(r.mesh.block[SP_HEX8].count > 0, "a flat sheet has no voxels");
    sp_mesh_free(&r.mesh);
}

/* --- real models --- */

static bool load(const char *name, sp_surface *surface)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", test_meshes(), name);
    FILE *file = fopen(path, "rb");
    CHECK(file, "%s cannot be opened", path);
    if (!file)
        return false;
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    void *bytes = test_new(size + 1, 1);
    bool good = bytes && fread(bytes, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    good = good && sp_surface_parse(&context, name, bytes, size, SP_GROUPS_GROUP, surface) == SP_OK;
    CHECK(good, "%s: %s", name, context.message);
    return good;
}

TEST(soups)
{
    if (!test_meshes())
        SKIP("SUPPLE_MESHES is not set");
    static const char *names[] = {
        "soup/random_triangles.stl",
        "soup/bed.obj",
        "soup/chair.off",
        "soup/office_chair.obj",
        "soup/spider.obj",
        "soup/wuson_inverted.off",
        "soup/casting_inverted.off",
        "soup/conrod_unoriented.stl",
        "soup/beetle.obj",
        "soup/dragon_low_nonmanifold.obj",
        "soup/37989_sf.obj",
        "soup/200683_sf.obj",
        "soup/37322.stl",
        "soup/65004.stl",
        "soup/112932.stl",
        "soup/non_manif_hole.ply",
        "soup/many_small_holes.ply",
        "soup/sphere_with_hole.stl",
        "soup/multibody.stl",
        "soup/degenerated.obj",
        "soup/two-boxes-bad-self-union.ply",
        "soup/cube_with_fold.ply",
        "soup/hour_glass.off",
        "soup/edge_with_four_triangles.off",
        "thin/moebius.obj",
    };
    /* The README's verdict "closed", with edges of four triangles or without: no open edge may be left. */
    static const char *closed[] = {
        "soup/casting_inverted.off", "soup/conrod_unoriented.stl", "soup/37322.stl",          "soup/65004.stl",
        "soup/112932.stl",           "soup/multibody.stl",         "soup/cube_with_fold.ply", "soup/hour_glass.off",
        "soup/37989_sf.obj"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        OWNED(sp_surface) s = {0};
        if (!load(names[i], &s))
            continue;
        result r = voxelize(&s, filled(24));
        for (size_t c = 0; c < sizeof closed / sizeof *closed; c++)
            if (strcmp(names[i], closed[c]) == 0)
                CHECK(r.report.orient.open_edges == 0, "%s: %lld open edges", names[i],
                      (long long)r.report.orient.open_edges);
        if (strcmp(names[i], "thin/moebius.obj") == 0)
            CHECK(r.report.orient.one_sided == 1, "%s: %lld one-sided", names[i], (long long)r.report.orient.one_sided);
        sp_mesh_free(&r.mesh);
    }
}

/* Voxels with their centre inside approach 2π²Rr², R = 1, r = ¼, axis y; no voxel lies off the solid torus. */
TEST(torus)
{
    if (!test_meshes())
        SKIP("SUPPLE_MESHES is not set");
    OWNED(sp_surface) s = {0};
    if (!load("surface/torus.obj", &s))
        return;
    const double expected = 2 * PI * PI / 16;
    double total[2];
    for (int i = 0; i < 2; i++) {
        result r = voxelize(&s, filled(60 << i));
        const double h = r.report.spacing;
        int64_t centred = 0, off = 0;
        for (int64_t e = 0; e < r.mesh.block[SP_HEX8].count; e++) {
            double x[3];
            middle(&r.mesh, e, x);
            double d = hypot(hypot(x[0], x[2]) - 1, x[1]);
            centred += d < 0.25;
            off += d > 0.25 + h * sqrt(3.0) / 2;
        }
        CHECK(off == 0, "%lld voxels off the torus", (long long)off);
        CHECK_NEAR((double)centred * h * h * h, expected, 0.01 * expected);
        total[i] = volume(&r);
        sp_mesh_free(&r.mesh);
    }
    /* Surface voxels add a layer proportional to h: extrapolated to h = 0, against the polyhedron's volume 1.2188
     * (README). */
    CHECK_NEAR(2 * total[1] - total[0], 1.2188, 0.02 * 1.2188);
}

/* Against identities, on integers, which are exact. */
TEST(vectors)
{
    const double a[3] = {3, -5, 7}, b[3] = {-2, 11, 4}, c[3] = {6, 1, -9};
    double across[3], minus[3] = {3, -5, 7};
    sp_cross3(a, b, across);
    CHECK(sp_dot3(across, a) == 0 && sp_dot3(across, b) == 0, "not perpendicular");
    CHECK(sp_dot3(across, across) == sp_dot3(a, a) * sp_dot3(b, b) - sp_dot3(a, b) * sp_dot3(a, b), "Lagrange");
    CHECK(sp_determinant(a, b, c) == sp_dot3(across, c), "%g is not %g", sp_determinant(a, b, c), sp_dot3(across, c));
    sp_subtract3(minus, b, minus);
    CHECK(sp_distance_squared3(a, b) == sp_dot3(minus, minus), "in place");
    CHECK(sp_norm3((double[]){2, 3, 6}) == 7 && sp_distance3((double[]){3, 4, 7}, (double[]){1, 1, 1}) == 7, "lengths");
}

TEST(unit_vectors)
{
    const double scale[] = {1, 1e-200, 1e200, 4e-320};
    for (int i = 0; i < 4; i++) {
        double v[3] = {2 * scale[i], 3 * scale[i], -6 * scale[i]};
        CHECK_NEAR(sp_normalize3_scaled(v) / scale[i], 7, 1e-3); /* three digits are left of the last */
        CHECK_NEAR(v[0], 2.0 / 7, i < 3 ? 1e-15 : 1e-3);
        CHECK_NEAR(v[2], -6.0 / 7, i < 3 ? 1e-15 : 1e-3);
    }
    const double refused[][3] = {{0, 0, 0}, {INFINITY, 1, 0}, {1, -INFINITY, 0}};
    for (int i = 0; i < 3; i++) {
        double v[3] = {refused[i][0], refused[i][1], refused[i][2]};
        CHECK(!sp_normalize3(v) && memcmp(v, refused[i], sizeof v) == 0, "case %d", i);
        CHECK(sp_normalize3_scaled(v) == 0 && memcmp(v, refused[i], sizeof v) == 0, "case %d", i);
    }
}
