/* Every law through elements, assembly and statics: published values, exact solutions, derivatives by differences. */
#include "assembly/elastic.h"
#include "fixture.h"
#include "integrate/equilibrium.h"
#include "material/law.h"
#include "model/models.h"

OWNER(sp_equilibrium)

/* ---- a static state ---- */

/* u [3·vertices]: the fixed displacement on entry, the equilibrium under load [3·vertices] on return. */
static void solve_static(sp_fe_space *body, const double *load, double *u, sp_equilibrium_report *report)
{
    FREED_BY(sp_full_system_free) sp_system system;
    OWNED_POINTER(sp_equilibrium) *equilibrium;
    int64_t n = body->dof_count;
    double *zero = test_new(n, 8), *b = test_new(n, 8), *q = test_new(n, 8);
    sp_fe_space_gather(body, load, b);
    CHECK_OK(sp_full_system_new(&context, body, false, false, u, &system));
    CHECK_OK(sp_equilibrium_new(&context, &system, 1e-12, 0, &equilibrium));
    CHECK_OK(sp_equilibrium_find(equilibrium, zero, zero, b, q, report));
    sp_fe_space_scatter(body, q, u);
}

static void hold_plane(sp_mesh *mesh, int axis, double at, int axes)
{
    int64_t added;
    double low[3] = {-INFINITY, -INFINITY, -INFINITY}, high[3] = {INFINITY, INFINITY, INFINITY};
    low[axis] = at - 1e-6;
    high[axis] = at + 1e-6;
    CHECK_OK(sp_mesh_fix_box(&context, mesh, low, high, axes, &added));
    CHECK(added > 0, "nothing held at %g", at);
}

/* The three planes through the origin are planes of symmetry. */
static void hold_symmetric(sp_mesh *mesh)
{
    for (int axis = 0; axis < 3; axis++)
        hold_plane(mesh, axis, 0, 1 << axis);
}

/* ---- one hexahedron (FinEtoolsDeforNonlinear) ---- */

/* Lines "row,column,value" from 1, absent entries 0, into to [24, 24]; or 24 lines of one value into its first row. */
static bool read_entries(const char *name, bool matrix, double *to)
{
    int64_t count;
    char path[100];
    snprintf(path, sizeof path, "reference/neohookean-hex8-%s.csv", name);
    char *text = read_whole(test_meshes(), path, &count);
    CHECK(text, "cannot read %s", path);
    if (!text)
        return false;
    memset(to, 0, 576 * sizeof *to);
    int entries = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"), entries++) {
        int i = 1, j = entries + 1;
        double value;
        if (matrix)
            CHECK(sscanf(line, "%d,%d,%lf", &i, &j, &value) == 3, "%s: %s", path, line);
        else
            value = strtod(line, NULL);
        if (i >= 1 && i <= 24 && j >= 1 && j <= 24)
            to[24 * (i - 1) + j - 1] = value;
    }
    CHECK(entries == (matrix ? 576 : 24) || entries == 192, "%s: %d entries", path, entries);
    free(text);
    return true;
}

static void dense_tangent(sp_fe_space *body, const double *u, double *f, double *dense)
{
    OWNED(sp_sparse) K;
    int64_t n = body->dof_count;
    CHECK_OK(sp_fe_space_pattern(&context, body));
    CHECK_OK(sp_fe_space_matrix(&context, body, &K));
    sp_elastic_tangent(&context, body, u, 1, false, f, &K);
    memset(dense, 0, (size_t)(n * n) * sizeof *dense);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = K.start[i]; k < K.start[i + 1]; k++)
            dense[n * i + K.index[k]] = K.value[k];
}

/* Stiffness at rest, both parts of the tangent and the force of the neo-Hookean law under u = 0.1 (x² z, y² z, y z −
 * z³), all to the digits that are printed. */
TEST(published_hexahedron)
{
    static const double X[24] = {0, 0, 0,    1.2, 0, -.1, -.05, 1.1,  0,  1, .9,  .1,
                                 0, 0, 1.03, 1.2, 0, 1.1, -.05, 1.01, .9, 1, .95, .81};
    const double digits = 5e-5; /* half a unit of the fifth, relative */
    double rest[576], material[576], geometric[576], force[576], K[576], u[24] = {0}, f[24], worst[3] = {0};
    if (!test_meshes())
        SKIP("SUPPLE_MESHES is not set");
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    make_box(1, 1, 1, 1, 0, &mesh);
    memcpy(mesh.vertices, X, sizeof X);
    mesh.quadrature = 2;
    mesh.materials[0].law = SP_LAW_NEO_HOOKEAN;
    mesh.materials[0].young = 7e6;
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    if (read_entries("2", true, rest) && read_entries("5", true, material) && read_entries("11", true, geometric) &&
        read_entries("7", false, force)) {
        dense_tangent(&body, u, f, K);
        for (int k = 0; k < 576; k++)
            worst[0] = fmax(worst[0], fabs(K[k] - rest[k]) / fmax(1, fabs(rest[k])));
        for (int v = 0; v < 8; v++) {
            double x = X[3 * v], y = X[3 * v + 1], z = X[3 * v + 2];
            u[3 * v] = 0.1 * x * x * z;
            u[3 * v + 1] = 0.1 * y * y * z;
            u[3 * v + 2] = 0.1 * (y * z - z * z * z);
        }
        dense_tangent(&body, u, f, K);
        for (int k = 0; k < 576; k++)
            worst[1] =
                fmax(worst[1], fabs(K[k] - material[k] - geometric[k]) / (fabs(material[k]) + fabs(geometric[k])));
        for (int k = 0; k < 24; k++)
            worst[2] = fmax(worst[2], fabs(f[k] + force[k]) / fabs(force[k]));
        NOTE("relative to each printed number: stiffness at rest %.1e, tangent %.1e, force %.1e", worst[0], worst[1],
             worst[2]);
        for (int k = 0; k < 3; k++)
            CHECK(worst[k] <= digits, "number %d: %g", k, worst[k]);
    }
}

/* ---- Cook's membrane at finite strain (deal.II code gallery; recomputed, ../shared/meshes/README.md) ---- */

/* n × n × 1 hexahedra between (0,0), (48,44), (48,60), (0,44) mm, thickness 1, without motion across; u [3·vertices]
 * its equilibrium under 1 N on the right edge. */
static double cook(int n, sp_equilibrium_report *report)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    make_box(n, n, 1, 1, 0, &mesh);
    int64_t side = n + 1, rows = 3 * mesh.vertex_count;
    double *load = test_new(rows, 8), *u = test_new(rows, 8);
    for (int64_t v = 0; v < mesh.vertex_count; v++) {
        int64_t i = v % side, j = v / side % side;
        double s = (double)i / n, t = (double)j / n, *x = mesh.vertices + 3 * v;
        x[0] = 48 * s;
        x[1] = 44 * s + t * (44 - 28 * s);
        if (i == n) /* each of n edges carries 1/n N, a quarter at each of its four nodes */
            load[3 * v + 1] = (j == 0 || j == n ? 1 : 2) * 0.25 / n;
    }
    hold_plane(&mesh, 0, 0, 7);
    hold_plane(&mesh, 2, 0, 4);
    hold_plane(&mesh, 2, 1, 4);
    mesh.quadrature = 2;
    mesh.materials[0].law = SP_LAW_ISOCHORIC_NEO_HOOKEAN;
    mesh.materials[0].poisson = 0.3;
    mesh.materials[0].young = 2 * 0.4225 * 1.3;
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    solve_static(&body, load, u, report);
    double deflection = u[3 * (n / 2 * side + n) + 1];
    return deflection;
}

TEST(cooks_membrane)
{
    const double expected[5] = {8.638375, 12.071227, 13.863196, 14.485259, 14.667272};
    for (int k = 0; k < 5; k++) {
        sp_equilibrium_report report;
        double deflection = cook(2 << k, &report);
        NOTE("n = %d: %.7f mm, %lld load steps, %lld iterations, %lld halvings", 2 << k, deflection,
             (long long)report.load_steps, (long long)report.iterations, (long long)report.halvings);
        CHECK_NEAR(deflection, expected[k], 0.51e-6);
    }
}

/* ---- bars under uniform stretch ---- */

/* Force [N] in the bar of 3 × 1 × 1 mm between planes of symmetry with its end moved by `moved` mm. */
static double end_force(enum sp_law law, double moved)
{
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    sp_equilibrium_report report;
    make_box(3, 1, 1, 1, 0, &mesh);
    hold_symmetric(&mesh);
    hold_plane(&mesh, 0, 3, 1);
    mesh.materials[0].law = law;
    mesh.materials[0].young = 7;
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    int64_t rows = 3 * mesh.vertex_count;
    double *u = test_new(rows, 8), *f = test_new(rows, 8), sum = 0;
    for (int64_t v = 3; v < mesh.vertex_count; v += 4)
        u[3 * v] = moved;
    solve_static(&body, f, u, &report);
    sp_elastic_force(&context, &body, u, f);
    for (int64_t v = 3; v < mesh.vertex_count; v += 4)
        sum += f[3 * v];
    return sum;
}

TEST(stretched_bars)
{
    CHECK_NEAR(end_force(SP_LAW_NEO_HOOKEAN, 1.5), 2.6479612347602295, 1e-11);
    CHECK_NEAR(end_force(SP_LAW_STVK, 1), 3.629629629629627, 1e-11);
    CHECK_NEAR(end_force(SP_LAW_STVK, -1), -1.2962962962962954, 1e-11);
    /* linear in the stretch where the rotation stays I: lateral stretches b with λ(s + 2b − 3) + 2μ(b − 1) = 0, so the
     * stress is E(s − 1) */
    CHECK_NEAR(end_force(SP_LAW_COROTATIONAL, 1.5), 7 * 0.5, 1e-11);
    CHECK_NEAR(end_force(SP_LAW_COROTATIONAL, -1), -7.0 / 3, 1e-11);
}

/* CalculiX beamnh: Cauchy stress 2 in C10 (J^(−2/3) I1 − 3) + (J − 1)²/D1, as a dead load on the end of 2 × 1 × 1. */
TEST(loaded_bars)
{
    const double along = 1.17656006, across = 0.92590576, total = 2 * across * across;
    for (int tets = 0; tets < 2; tets++) {
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        sp_equilibrium_report report;
        make_box(2, 1, 1, 1, 0, &mesh);
        hold_symmetric(&mesh);
        mesh.materials[0].law = SP_LAW_MOONEY_RIVLIN;
        memcpy(mesh.materials[0].mooney, (double[]){0, 1.92505, 1 / 0.026}, 3 * sizeof(double));
        if (tets)
            split_mesh(&mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        int64_t rows = 3 * mesh.vertex_count, count, *triangle, *element;
        double *u = test_new(rows, 8), *load = test_new(rows, 8), worst = 0;
        OWNED(sp_pool) pool = {0};
        /* a third of each triangle's half of the square; on the quadrilateral face a quarter at each corner */
        CHECK_OK(sp_mesh_boundary(&context, &mesh, &pool, &count, &triangle, &element));
        for (int64_t t = 0; t < count; t++) {
            bool end = true;
            for (int a = 0; a < 3; a++)
                end &= mesh.vertices[3 * triangle[3 * t + a]] == 2;
            for (int a = 0; end && a < 3 && tets; a++)
                load[3 * triangle[3 * t + a]] += total / 6;
        }
        for (int64_t v = 2; v < mesh.vertex_count && !tets; v += 3)
            load[3 * v] = total / 4;
        solve_static(&body, load, u, &report);
        for (int64_t v = 0; v < mesh.vertex_count; v++)
            for (int c = 0; c < 3; c++)
                worst = fmax(worst, fabs(u[3 * v + c] - ((c ? across : along) - 1) * mesh.vertices[3 * v + c]));
        NOTE("%s: stretches within %.1e, %lld iterations", tets ? "tetrahedra" : "hexahedra", worst,
             (long long)report.iterations);
        CHECK(worst < 2e-8, "off by %g", worst); /* eight digits of the stretches, twice as long */
    }
}

/* ---- every law: patch test, rigid motions ---- */

/* Distorted hexahedra, or tetrahedra of them, of one material; edges of 1 m. */
static void make_patch(int tets, const sp_material *material, sp_mesh *mesh)
{
    make_box(3, 3, 3, 1, 0.15, mesh);
    mesh->materials[0] = *material;
    if (tets)
        split_mesh(mesh);
}

static bool outer(int64_t v)
{
    int64_t i[3] = {v % 4, v / 4 % 4, v / 16};
    for (int c = 0; c < 3; c++)
        if (i[c] % 3 == 0)
            return true;
    return false;
}

static double density_of(const sp_material *material, const double H[9])
{
    sp_law_lanes law;
    sp_lanes lanes[9], W;
    for (int l = 0; l < SP_LANES; l++) {
        sp_law_set(&law, l, material);
        for (int k = 0; k < 9; k++)
            lanes[k][l] = H[k];
    }
    sp_law_evaluate(&law, lanes, false, &W, NULL, NULL);
    return W[0];
}

/* A linear displacement of the boundary has a linear equilibrium inside, with the energy of one point everywhere. */
TEST(patch_test)
{
    static const double G[9] = {0.12, -0.05, 0.08, 0.1, -0.07, 0.03, -0.06, 0.04, 0.09};
    double worst[3] = {0};
    for (int tets = 0; tets < 2; tets++)
        for (int k = 0; k < TEST_LAWS; k++) {
            sp_material material = test_law(k);
            OWNED(sp_mesh) mesh;
            OWNED(sp_fe_space) body;
            sp_equilibrium_report report;
            make_patch(tets, &material, &mesh);
            int64_t rows = 3 * mesh.vertex_count, prescribed[64], prescribed_count = 0;
            double *linear = test_new(rows, 8), *u = test_new(rows, 8), *f = test_new(rows, 8),
                   *none = test_new(rows, 8), volume = 0;
            for (int64_t v = 0; v < mesh.vertex_count; v++) {
                for (int i = 0; i < 3; i++)
                    for (int j = 0; j < 3; j++)
                        linear[3 * v + i] += G[3 * i + j] * mesh.vertices[3 * v + j];
                if (outer(v)) {
                    memcpy(u + 3 * v, linear + 3 * v, 3 * sizeof *u);
                    prescribed[prescribed_count++] = v;
                }
            }
            CHECK_OK(sp_mesh_fix_list(&context, &mesh, prescribed_count, prescribed, 7));
            CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
            for (int64_t e = 0; e < sp_mesh_element_count(&mesh); e++)
                volume += sp_mesh_element_volume(&mesh, e);
            double energy = sp_elastic_force(&context, &body, linear, f), expected = volume * density_of(&material, G),
                   inner = 0;
            for (int64_t v = 0; v < mesh.vertex_count; v++)
                for (int c = 0; c < 3 && !outer(v); c++)
                    inner = fmax(inner, fabs(f[3 * v + c]));
            worst[0] = fmax(worst[0], fabs(energy - expected) / expected);
            worst[1] = fmax(worst[1], inner / material.young);
            solve_static(&body, none, u, &report);
            for (int64_t i = 0; i < rows; i++)
                worst[2] = fmax(worst[2], fabs(u[i] - linear[i]));
        }
    NOTE("energy %.1e, inner force %.1e, solved displacement %.1e", worst[0], worst[1], worst[2]);
    CHECK(worst[0] < 1e-13, "energy %g", worst[0]);
    CHECK(worst[1] < 1e-14, "inner force %g", worst[1]);
    CHECK(worst[2] < 1e-11, "displacement %g", worst[2]);
}

/* Motions without strain cost nothing, however far. */
TEST(rigid_motions)
{
    static const double R[9] = {0.36, 0.48, -0.8, -0.8, 0.6, 0, 0.48, 0.64, 0.6}, shift[3] = {3, -2, 1};
    double worst[2] = {0};
    for (int tets = 0; tets < 2; tets++)
        for (int k = 0; k < TEST_LAWS; k++) {
            sp_material material = test_law(k);
            OWNED(sp_mesh) mesh;
            OWNED(sp_fe_space) body;
            make_patch(tets, &material, &mesh);
            CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
            int64_t rows = 3 * mesh.vertex_count;
            double *u = test_new(rows, 8), *f = test_new(rows, 8);
            for (int64_t i = 0; i < rows; i++) {
                const double *x = mesh.vertices + i / 3 * 3, *row = R + 3 * (i % 3);
                u[i] = row[0] * x[0] + row[1] * x[1] + row[2] * x[2] - x[i % 3] + shift[i % 3];
            }
            worst[0] = fmax(worst[0], fabs(sp_elastic_force(&context, &body, u, f)) / material.young);
            for (int64_t i = 0; i < rows; i++)
                worst[1] = fmax(worst[1], fabs(f[i]) / material.young);
        }
    NOTE("of Young's modulus by 1 m3 and 1 m2: energy %.1e, force %.1e", worst[0], worst[1]);
    CHECK(worst[0] < 1e-13, "energy %g", worst[0]);
    CHECK(worst[1] < 1e-13, "force %g", worst[1]);
}

/* ---- every law: derivatives on a mixed mesh ---- */

/* Every second hexahedron of a distorted box in six tetrahedra around its diagonal; two regions, each with elements of
 * both kinds. */
static void make_mixed(int nx, int ny, int nz, const sp_material *first, const sp_material *second, sp_mesh *mesh)
{
    static const int kuhn[6][4] = {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}};
    make_box(nx, ny, nz, 1, 0.1, mesh);
    int64_t hexes = mesh->block[SP_HEX8].count, *hex = mesh->block[SP_HEX8].node, next = 0;
    mesh->block[SP_HEX8].count = (hexes + 1) / 2;
    mesh->block[SP_TET4].count = 6 * (hexes / 2);
    mesh->block[SP_HEX8].node = sp_pool_new(&mesh->pool, 8 * mesh->block[SP_HEX8].count, 8);
    mesh->block[SP_TET4].node = sp_pool_new(&mesh->pool, 4 * mesh->block[SP_TET4].count, 8);
    mesh->region = sp_pool_new(&mesh->pool, sp_mesh_element_count(mesh), 8);
    mesh->materials = sp_pool_new(&mesh->pool, 2, sizeof *mesh->materials);
    mesh->material_count = 2;
    mesh->materials[0] = *first;
    mesh->materials[1] = *second;
    strcpy(mesh->materials[1].name, "other");
    for (int64_t h = 0; h < hexes; h++)
        if (h % 2 == 0) {
            mesh->region[h / 2] = h / 2 % 2;
            memcpy(mesh->block[SP_HEX8].node + 4 * h, hex + 8 * h, 8 * sizeof *hex);
        } else
            for (int t = 0; t < 6; t++, next++) {
                mesh->region[mesh->block[SP_HEX8].count + next] = h / 2 % 2;
                for (int a = 0; a < 4; a++)
                    mesh->block[SP_TET4].node[4 * next + a] = hex[8 * h + kuhn[t][a]];
            }
    CHECK_OK(sp_mesh_check(&context, mesh, 1e-3));
}

/* error[0] for the step, error[1] for half of it: of second order or rounding. */
static void check_order(const char *what, const sp_mesh *mesh, const double error[2], double size)
{
    CHECK(error[1] < 1e-5 * size && (error[1] < 1e-10 * size || fabs(log2(error[0] / error[1]) - 2) < 0.1),
          "%s beside %s: %s has errors %g and %g of %g", sp_law_name(mesh->materials[0].law),
          sp_law_name(mesh->materials[1].law), what, error[0], error[1], size);
}

/* to = a x + b y. */
static void combine(int64_t count, double a, const double *x, double b, const double *y, double *to)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = a * x[i] + b * y[i];
}

static void first_derivatives(sp_fe_space *body, const double *u, const double *d)
{
    int64_t rows = 3 * body->mesh->vertex_count;
    double *f = test_new(rows, 8), *moved = test_new(rows, 8), *plus = test_new(rows, 8), *minus = test_new(rows, 8),
           *Kd = test_new(rows, 8), *times = test_new(rows, 8), slope = 0, error[2][2];
    OWNED(sp_sparse) K;
    CHECK_OK(sp_fe_space_pattern(&context, body));
    CHECK_OK(sp_fe_space_matrix(&context, body, &K));
    double energy = sp_elastic_tangent(&context, body, u, 1, false, f, &K),
           other = sp_elastic_force(&context, body, u, plus);
    CHECK_NEAR(energy, other, 1e-14 * energy);
    CHECK(max_difference(rows, f, plus) < 1e-14 * max_abs(rows, f), "forces of both differ by %g",
          max_difference(rows, f, plus));
    sp_sparse_times(&context, &K, 1, d, Kd);
    sp_elastic_tangent_times(&context, body, u, d, times);
    CHECK(max_difference(rows, Kd, times) < 1e-13 * max_abs(rows, Kd), "products differ by %g of %g",
          max_difference(rows, Kd, times), max_abs(rows, Kd));
    for (int64_t i = 0; i < rows; i++)
        slope += f[i] * d[i];
    for (int s = 0; s < 2; s++) {
        double step = 2e-3 / (1 + s), up, down;
        combine(rows, 1, u, step, d, moved);
        up = sp_elastic_force(&context, body, moved, plus);
        combine(rows, 1, u, -step, d, moved);
        down = sp_elastic_force(&context, body, moved, minus);
        error[0][s] = fabs((up - down) / (2 * step) - slope);
        combine(rows, 0.5 / step, plus, -0.5 / step, minus, plus);
        error[1][s] = max_difference(rows, plus, Kd);
    }
    check_order("the force", body->mesh, error[0], max_abs(rows, f) * sqrt((double)rows));
    check_order("the tangent", body->mesh, error[1], max_abs(rows, Kd));
}

/* (H:U_j)U_i at rest against second differences of the force. */
static double second_derivatives(sp_fe_space *body, const double *U)
{
    static const int64_t pair[6] = {0, 0, 0, 1, 1, 0};
    int64_t rows = 3 * body->mesh->vertex_count;
    double *H = test_new(3 * rows, 8), *moved = test_new(rows, 8), *f = test_new(rows, 8),
           *difference = test_new(2 * rows, 8), error[2];
    CHECK_OK(sp_elastic_second(&context, body, 2, U, 3, pair, H));
    double asymmetry = max_difference(rows, H + rows, H + 2 * rows) / max_abs(rows, H + rows);
    for (int c = 0; c < 2; c++) {
        const double *a = U + pair[2 * c] * rows, *b = U + pair[2 * c + 1] * rows;
        for (int s = 0; s < 2; s++) {
            double step = 1e-3 / (1 + s), *sum = difference + s * rows;
            memset(sum, 0, (size_t)rows * sizeof *sum);
            for (int k = 0; k < 4; k++) {
                int i = k & 1 ? -1 : 1, j = k & 2 ? -1 : 1;
                combine(rows, i * step, a, j * step, b, moved);
                sp_elastic_force(&context, body, moved, f);
                combine(rows, 1, sum, i * j / (4 * step * step), f, sum);
            }
            error[s] = max_difference(rows, sum, H + c * rows);
        }
        check_order("the second derivative", body->mesh, error, 10 * max_abs(rows, H + c * rows));
        combine(rows, -1.0 / 3, difference, 4.0 / 3, difference + rows, f); /* without the error of second order */
        CHECK(max_difference(rows, f, H + c * rows) < 1e-7 * max_abs(rows, f), "extrapolated: off by %g of %g",
              max_difference(rows, f, H + c * rows), max_abs(rows, f));
    }
    return asymmetry;
}

TEST(derivatives_on_a_mixed_mesh)
{
    double asymmetry = 0;
    for (int k = 0; k < TEST_LAWS; k++) {
        sp_material first = test_law(k), second = test_law((k + 5) % TEST_LAWS);
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        make_mixed(2, 3, 2, &first, &second, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        int64_t rows = 3 * mesh.vertex_count;
        double *U = test_new(2 * rows, 8);
        random_field(2 * rows, (uint64_t)k, U);
        asymmetry = fmax(asymmetry, second_derivatives(&body, U));
        combine(rows, 0.1, U, 0, U, U);
        first_derivatives(&body, U, U + rows);
    }
    NOTE("asymmetry of second derivatives %.1e", asymmetry);
    CHECK(asymmetry < 1e-11, "%g",
          asymmetry); /* which shows their error: quadratic ones are exact, others differences */
}

/* Forces, products and matrices have the same bytes for 1, 2 and 4 threads; the mesh is large enough that threads are
 * used for all of them. */
TEST(threads_change_nothing)
{
    sp_material first = test_law(SP_LAW_STABLE_NEO_HOOKEAN), second = test_law(SP_LAW_COROTATIONAL);
    OWNED(sp_mesh) mesh = {0};
    OWNED(sp_fe_space) body = {0};
    OWNED(sp_sparse) K = {0};
    make_mixed(24, 20, 11, &first, &second, &mesh);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_fe_space_pattern(&context, &body));
    CHECK_OK(sp_fe_space_matrix(&context, &body, &K));
    CHECK(body.batch_count > 2048, "only %lld batches", (long long)body.batch_count);
    int64_t rows = 3 * mesh.vertex_count, entries = K.start[K.order];
    double *u = test_new(rows, 8), *v = test_new(rows, 8), *f[2], *y[2], *value[2], energy[2];
    random_field(rows, 1, v);
    combine(rows, 0.05, v, 0, v, u);
    for (int k = 0; k < 2; k++) {
        f[k] = test_new(rows, 8);
        y[k] = test_new(rows, 8);
        value[k] = test_new(entries, 8);
    }
    sp_context many = context;
    for (int threads = 1, k = 0; threads <= 4; threads *= 2, k = 1) {
        many.threads = threads;
        memset(K.value, 0, (size_t)entries * sizeof *K.value);
        energy[k] = sp_elastic_force(&many, &body, u, f[k]);
        sp_elastic_tangent_times(&many, &body, u, v, y[k]);
        sp_elastic_tangent(&many, &body, u, 1, true, NULL, &K);
        memcpy(value[k], K.value, (size_t)entries * sizeof *K.value);
        if (k == 0)
            continue;
        CHECK(energy[0] == energy[1], "%d threads: energy %.17g, %.17g", threads, energy[0], energy[1]);
        CHECK(!memcmp(f[0], f[1], (size_t)rows * 8), "%d threads: other forces", threads);
        CHECK(!memcmp(y[0], y[1], (size_t)rows * 8), "%d threads: other products", threads);
        CHECK(!memcmp(value[0], value[1], (size_t)entries * 8), "%d threads: another matrix", threads);
    }
}
