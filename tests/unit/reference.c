/* Published and independently computed results on the shared meshes: frequencies, statics, the whole VegaFEM reduction.
 */
#include "assembly/elastic.h"
#include "basis/derivatives.h"
#include "basis/modes.h"
#include "basis/pca.h"
#include "basis/weights.h"
#include "bodies.h"
#include "formats/import/matrix.h"
#include "formats/import/volume.h"
#include "reduced/polynomial.h"
#include "test.h"

OWNER(sp_cholesky)

#define NEED_MESHES                                                                                                    \
    do {                                                                                                               \
        if (!test_meshes())                                                                                            \
            SKIP("SUPPLE_MESHES is not set");                                                                          \
    } while (0)

/* ---- loading ---- */

static void set_material(sp_mesh *mesh, double young, double poisson, double density)
{
    for (int64_t i = 0; i < mesh->material_count; i++) {
        mesh->materials[i].law = SP_LAW_STVK;
        mesh->materials[i].young = young;
        mesh->materials[i].poisson = poisson;
        mesh->materials[i].density = density;
    }
}

static bool load(const char *name, sp_mesh *mesh)
{
    int64_t count;
    char *bytes = read_whole(test_meshes(), name, &count);
    CHECK(bytes, "cannot read %s", name);
    if (!bytes)
        return false;
    sp_notes notes = {0};
    sp_material material = test_material();
    int status = strstr(name, ".veg") ? sp_volume_parse_veg(&context, bytes, count, NULL, mesh, &notes)
                                      : sp_volume_parse_msh(&context, bytes, count, &material, mesh, &notes);
    CHECK(status == SP_OK, "%s: %s", name, context.message);
    free(bytes);
    return status == SP_OK;
}

static void fix_bou(const char *name, sp_mesh *mesh)
{
    int64_t count, fixed_count, *fixed;
    OWNED(sp_pool) pool = {0};
    char *bytes = read_whole(test_meshes(), name, &count);
    CHECK_OK(sp_volume_parse_bou(&context, bytes, count, &pool, &fixed_count, &fixed));
    CHECK_OK(sp_mesh_fix_list(&context, mesh, fixed_count, fixed, 7));
    free(bytes);
}

/* ---- modes of a mesh ---- */

typedef struct modal {
    sp_mesh mesh;
    sp_fe_space body;
    sp_sparse K, M;
    int64_t count;
    double *eigenvalue, *U; /* U full rows */
} modal;

static void solve_modes(modal *m, int64_t count)
{
    sp_fe_space *body = &m->body;
    CHECK_OK(sp_mesh_check(&context, &m->mesh, 1e-3));
    CHECK_OK(sp_fe_space_new(&context, &m->mesh, body));
    CHECK_OK(sp_fe_space_pattern(&context, body));
    CHECK_OK(sp_fe_space_matrix(&context, body, &m->K));
    CHECK_OK(sp_fe_space_matrix(&context, body, &m->M));
    CHECK_OK(sp_fe_space_mass(&context, body, false, &m->M));
    int64_t n = body->dof_count, rows = 3 * m->mesh.vertex_count, rigid_count;
    double *rest = test_new(rows, 8), *rigid = test_new(6 * n, 8), *vector = test_new(n * count, 8),
           *residual = test_new(count, 8);
    int64_t *node = test_new(n, 8);
    for (int64_t i = 0; i < n; i++)
        node[i] = body->free[i] / 3;
    sp_elastic_tangent(&context, body, rest, 1, false, NULL, &m->K);
    CHECK_OK(sp_rigid_motions(&context, body, &m->M, rigid, &rigid_count));
    sp_modes_parameters parameters = {.count = count};
    sp_modes_report report;
    m->count = count;
    m->eigenvalue = test_new(count, 8);
    m->U = test_new(rows * count, 8);
    CHECK_OK(sp_modes(&context, &m->K, &m->M, node, rigid_count, rigid, &parameters, m->eigenvalue, vector, residual,
                      &report));
    double worst = 0;
    for (int64_t i = 0; i < count; i++) {
        sp_fe_space_scatter(body, vector + i * n, m->U + i * rows);
        worst = fmax(worst, residual[i]);
    }
    NOTE("%lld degrees of freedom, %lld solves, %lld rigid, residual %.1e, orthogonality %.1e, missed %lld",
         (long long)n, (long long)report.solves, (long long)report.rigid, worst, report.orthogonality,
         (long long)report.missed);
    CHECK(worst < 1e-7, "residual %g", worst);
    CHECK(report.orthogonality < 1e-12, "orthogonality %g", report.orthogonality);
}

static void free_modes(modal *m)
{
    sp_sparse_free(&m->K);
    sp_sparse_free(&m->M);
    sp_fe_space_free(&m->body);
    sp_mesh_free(&m->mesh);
}

static void check_frequencies(const modal *m, int64_t first, int64_t count, const double *hertz, double tolerance)
{
    for (int64_t i = 0; i < count; i++)
        CHECK_NEAR(sqrt(m->eigenvalue[first + i]) / 6.283185307179586, hertz[i], tolerance);
}

TEST(beam3)
{
    NEED_MESHES;
    modal m = {0};
    if (load("vega/beam3.veg", &m.mesh)) {
        fix_bou("vega/beam3.bou", &m.mesh);
        solve_modes(&m, 5);
        check_frequencies(&m, 0, 5, (double[]){0.896481, 2.086607, 5.579230, 8.946514, 12.236156}, 0.5e-6);
        free_modes(&m);
    }
    m = (modal){0};
    if (load("vega/beam3_tet.veg", &m.mesh)) {
        fix_bou("vega/beam3.bou", &m.mesh);
        solve_modes(&m, 5);
        check_frequencies(&m, 0, 5, (double[]){1.582853, 2.416987, 9.559751, 13.858554, 18.633136}, 0.5e-6);
        free_modes(&m);
    }
}

static void fork_of(const char *name, const double *hertz)
{
    FREED_BY(free_modes) modal m = {0};
    if (!load(name, &m.mesh))
        return;
    set_material(&m.mesh, 207000, 0.33, 7.829e-9);
    solve_modes(&m, 12);
    /* one unit of the last printed digit: LAPACK's dense solver agrees with ours to 1e-12, the print does not to 1.5e-8
     */
    check_frequencies(&m, 6, 6, hertz, 1e-4);
}

TEST(tuning_fork)
{
    NEED_MESHES;
    fork_of("reference/fork-TET-2-0.msh", (double[]){564.4878, 1014.4379, 2113.6251, 2766.0932, 3531.9556, 5527.6047});
    fork_of("reference/fork-TET-1-0.msh", (double[]){490.9094, 782.0882, 1880.1942, 2090.3555, 3101.4939, 4212.8434});
    fork_of("reference/fork-HEX-2-0.msh", (double[]){496.8798, 749.9355, 1876.9606, 2023.7446, 3122.7326, 4051.2886});
}

/* ---- Abaqus/CalculiX decks: frequencies and linear statics ---- */

static bool load_deck(const char *name, sp_mesh *mesh, int64_t **node, sp_nodal_loads *loads)
{
    int64_t count;
    sp_notes notes = {0};
    sp_material material = test_material();
    char *bytes = read_whole(test_meshes(), name, &count);
    CHECK(bytes, "cannot read %s", name);
    if (!bytes)
        return false;
    int status = sp_volume_parse_inp(&context, bytes, count, NULL, &material, mesh, node, loads, &notes);
    CHECK(status == SP_OK, "%s: %s", name, context.message);
    free(bytes);
    return status == SP_OK;
}

TEST(beam8f)
{
    NEED_MESHES;
    FREED_BY(free_modes) modal m = {0};
    if (!load_deck("reference/beam8f.inp", &m.mesh, NULL, NULL))
        return;
    solve_modes(&m, 10);
    const double hertz[10] = {13798.13, 19852.05, 81356.76, 88787.12, 109446.1,
                              163403.6, 211154.3, 266831.4, 267673.8, 379922.6};
    for (int i = 0; i < 10; i++) /* half a unit of the seventh printed digit */
        CHECK_NEAR(sqrt(m.eigenvalue[i]) / 6.283185307179586, hertz[i], i < 4 ? 0.00501 : 0.0501);
}

/* Solves K u = f for the deck's nodal loads; u [3·vertices]. */
static void solve_deck(sp_mesh *mesh, const sp_nodal_loads *loads, double *u)
{
    OWNED(sp_fe_space) body;
    OWNED(sp_sparse) K;
    OWNED_POINTER(sp_cholesky) *factor;
    CHECK_OK(sp_mesh_check(&context, mesh, 1e-3));
    CHECK_OK(sp_fe_space_new(&context, mesh, &body));
    CHECK_OK(sp_fe_space_pattern(&context, &body));
    CHECK_OK(sp_fe_space_matrix(&context, &body, &K));
    double *b = test_new(body.dof_count, 8);
    sp_elastic_tangent(&context, &body, u, 1, false, NULL, &K);
    for (int64_t i = 0; i < loads->count; i++)
        if (body.dof[3 * loads->vertex[i] + loads->component[i]] >= 0)
            b[body.dof[3 * loads->vertex[i] + loads->component[i]]] += loads->value[i];
    CHECK_OK(sp_cholesky_new(&context, &K, NULL, &factor));
    CHECK_OK(sp_cholesky_factor(factor, &K));
    CHECK_OK(sp_cholesky_solve(factor, 1, b, b));
    sp_fe_space_scatter(&body, b, u);
}

/* Compares with lines "node, three values" that `parse` takes apart; every vertex must come. */
static void check_displacements(const sp_mesh *mesh, const int64_t *node, const double *u, char *text,
                                bool (*parse)(char *line, long *id, double value[3]), double tolerance)
{
    int64_t met = 0;
    double worst = 0, largest = 0;
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
        long id;
        double value[3];
        if (!parse(line, &id, value))
            continue;
        for (int64_t v = 0; v < mesh->vertex_count; v++)
            if (node[v] == id) {
                met++;
                for (int c = 0; c < 3; c++) {
                    worst = fmax(worst, fabs(u[3 * v + c] - value[c]));
                    largest = fmax(largest, fabs(value[c]));
                }
            }
    }
    NOTE("%lld displacements, largest %.8g, largest difference %.2e", (long long)met, largest, worst);
    CHECK(met == mesh->vertex_count, "%lld of %lld nodes found", (long long)met, (long long)mesh->vertex_count);
    CHECK(worst <= tolerance, "off by %g", worst);
}

static bool parse_frd(char *line, long *id, double value[3])
{
    /* " -1", I10, 3 × E12.5 in fixed columns; only in the block of displacements */
    static bool inside;
    if (!strncmp(line, " -4", 3))
        inside = strstr(line, "DISP") != NULL;
    if (!inside || strncmp(line, " -1", 3) || strlen(line) < 49)
        return false;
    for (int c = 2; c >= 0; c--) {
        value[c] = strtod(line + 13 + 12 * c, NULL);
        line[13 + 12 * c] = 0;
    }
    *id = strtol(line + 3, NULL, 10);
    return true;
}

static bool parse_dat(char *line, long *id, double value[3])
{
    static bool inside;
    if (strstr(line, "displacements"))
        inside = true;
    else if (strstr(line, "stresses"))
        inside = false;
    return inside && sscanf(line, "%ld %lf %lf %lf", id, &value[0], &value[1], &value[2]) == 4;
}

static void statics_of(const char *deck, const char *result, bool (*parse)(char *, long *, double[3]), double tolerance)
{
    OWNED(sp_mesh) mesh = {0};
    sp_nodal_loads loads;
    int64_t *node, count;
    if (!load_deck(deck, &mesh, &node, &loads))
        return;
    double *u = test_new(3 * mesh.vertex_count, 8);
    solve_deck(&mesh, &loads, u);
    char *text = read_whole(test_meshes(), result, &count);
    CHECK(text, "cannot read %s", result);
    if (text)
        check_displacements(&mesh, node, u, text, parse, tolerance);
    free(text);
}

TEST(beam8p)
{
    NEED_MESHES;
    statics_of("reference/beam8p.inp", "reference/beam8p.dat.ref", parse_dat, 5e-9);
}

TEST(cooks_membrane)
{
    NEED_MESHES;
    statics_of("reference/cook-Coarse_Lin_Tet.inp", "reference/cook-Coarse_Lin_Tet.frd", parse_frd, 6e-5);
    statics_of("reference/cook-Coarse_Lin_Hex.inp", "reference/cook-Coarse_Lin_Hex.frd", parse_frd, 6e-5);
}

/* ---- simpleBridge: every stage of a published reduction ---- */

static void embed_rows(const sp_embedded_surface *surface, const sp_mesh *mesh, const double *u, double *out)
{
    for (int64_t v = 0; v < surface->vertex_count; v++) {
        int nodes;
        const int64_t *node = sp_mesh_nodes(mesh, surface->element[v], &nodes);
        for (int c = 0; c < 3; c++) {
            out[3 * v + c] = 0;
            for (int a = 0; a < nodes; a++)
                out[3 * v + c] += surface->weights[v * surface->width + a] * u[3 * node[a] + c];
        }
    }
}

TEST(simple_bridge)
{
    NEED_MESHES;
    FREED_BY(free_modes) modal m = {0};
    if (!load("vega/simpleBridge_tet.veg", &m.mesh))
        return;
    fix_bou("vega/simpleBridge_tet.bou", &m.mesh);
    set_material(&m.mesh, 1e7, 0.45, 1000);
    solve_modes(&m, 10);
    check_frequencies(
        &m, 0, 10,
        (double[]){0.217211, 0.478888, 0.680057, 0.795822, 0.841509, 1.533747, 1.632600, 1.993197, 2.073587, 2.259036},
        0.5e-6);

    int64_t rows = 3 * m.mesh.vertex_count, pair[110], pairs = 0, columns = 65, rank;
    for (int64_t i = 0; i < 10; i++)
        for (int64_t j = i; j < 10; j++) {
            pair[2 * pairs] = i;
            pair[2 * pairs++ + 1] = j;
        }
    double *A = test_new(rows * columns, 8), singular[65], *mass = test_new(m.mesh.vertex_count, 8),
           *diagonal = test_new(rows, 8);
    memcpy(A, m.U, (size_t)(rows * 10) * 8);
    sp_derivatives_report report;
    CHECK_OK(sp_modal_derivatives(&context, &m.body, 10, m.U, pairs, pair, 0, NULL, NULL, A + 10 * rows, &report));
    CHECK(report.residual < 1e-9, "derivative residual %g", report.residual);
    sp_metric consistent = {.rows = rows, .matrix = &m.M, .dof = m.body.dof},
              lumped = {.rows = rows, .diagonal = diagonal};
    sp_fe_space_vertex_mass(&m.body, true, mass);
    for (int64_t i = 0; i < rows; i++)
        diagonal[i] = mass[i / 3];
    OWNED(sp_store) store;
    double square[65], weight[65];
    CHECK_OK(sp_store_over(&context, rows, columns, A, &store));
    CHECK_OK(sp_store_squares(&context, &consistent, &store, square));
    CHECK_OK(sp_mode_weights(&context, 10, 0, m.eigenvalue, weight));
    for (int64_t c = 0; c < pairs; c++)
        CHECK_OK(sp_derivative_weight(&context, 10, 0, m.eigenvalue, pair + 2 * c, square[10 + c], weight + 10 + c));
    CHECK_OK(sp_store_scale(&context, &store, weight));
    CHECK_OK(sp_mass_pca(&context, &lumped, 0, &store, singular, &rank));
    const double expected[21] = {1,        0.199942, 0.108119, 0.060261, 0.055047, 0.049893, 0.046752,
                                 0.038637, 0.025920, 0.013490, 0.010630, 0.010611, 0.008248, 0.007875,
                                 0.007675, 0.005105, 0.003653, 0.002820, 0.002044, 0.001949, 0.001677};
    for (int i = 0; i < 21; i++)
        CHECK_NEAR(singular[i] / singular[0], expected[i], 1e-5);

    /* the basis on the rendering vertices */
    int64_t count = 0, surface_count = 16085;
    char *bytes = read_whole(test_meshes(), "vega/simpleBridge_tet.interp", &count);
    double *dummy = test_new(3 * surface_count, 8); /* rest positions do not matter here */
    int64_t triangle[3] = {0, 1, 2};
    CHECK_OK(sp_volume_parse_interp(&context, bytes, count, surface_count, dummy, 1, triangle, &m.mesh));
    free(bytes);
    bytes = read_whole(test_meshes(), "vega/simpleBridge.URendering.float", &count);
    const int32_t *header = (const int32_t *)bytes;
    const float *published = (const float *)(bytes + 8);
    CHECK(header[0] == 3 * surface_count && header[1] == 20, "unexpected header");
    double *embedded = test_new(3 * surface_count, 8), sign[20], largest = 0, worst = 0;
    for (int64_t i = 0; i < 20 * 3 * surface_count; i++)
        largest = fmax(largest, fabs((double)published[i]));
    for (int j = 0; j < 20; j++) {
        double dot = 0;
        const float *column = published + (int64_t)j * 3 * surface_count;
        embed_rows(&m.mesh.surface, &m.mesh, A + j * rows, embedded);
        for (int64_t i = 0; i < 3 * surface_count; i++)
            dot += embedded[i] * column[i];
        sign[j] = dot < 0 ? -1 : 1;
        for (int64_t i = 0; i < 3 * surface_count; i++)
            worst = fmax(worst, fabs(sign[j] * embedded[i] - column[i]));
    }
    NOTE("basis: largest difference %.2e of the largest entry", worst / largest);
    CHECK(worst <= 2e-6 * largest, "basis off by %g of %g", worst, largest);
    free(bytes);

    /* the cubic polynomial: compare monomial coefficients of the force, up to signs and one factor */
    bytes = read_whole(test_meshes(), "vega/simpleBridge.cub", &count);
    const double *cubic = (const double *)(bytes + 16);
    OWNED(sp_polynomials) polynomials;
    sp_polynomial_report polynomial_report;
    sp_polynomial_parameters parameters = {0};
    for (int j = 0; j < 20; j++)
        for (int64_t i = 0; i < rows; i++)
            A[j * rows + i] *= sign[j];
    CHECK_OK(sp_polynomials_new(&context, &m.body, 20, A, &parameters, &polynomials, &polynomial_report));
    int64_t N = sp_polynomial_order(20);
    const double *G = polynomials.parts[0].gram;
#define P(i, j) ((i) <= (j) ? sp_polynomial_pair(20, i, j) : sp_polynomial_pair(20, j, i))
#define A_(p, q) G[(q)*N + (p)]
    double factor = 2.1195210565e8 / 1e7, wrong[3] = {0}, size[3] = {0};
    for (int64_t a = 0; a < 20; a++) {
        int64_t quadratic = 0, third = 0;
        for (int64_t i = 0; i < 20; i++) {
            double linear = factor * A_(a, i);
            size[0] = fmax(size[0], fabs(cubic[a * 20 + i]));
            wrong[0] = fmax(wrong[0], fabs(linear - cubic[a * 20 + i]));
            for (int64_t j = i; j < 20; j++, quadratic++) {
                double t = (A_(a, P(i, j)) + A_(i, P(a, j)) + A_(j, P(a, i))) / 3 * 1.5 * (i == j ? 1 : 2),
                       published2 = cubic[400 + a * 210 + quadratic];
                size[1] = fmax(size[1], fabs(published2));
                wrong[1] = fmax(wrong[1], fabs(factor * t - published2));
                for (int64_t k = j; k < 20; k++, third++) {
                    double times = i == j && j == k ? 1 : i == j || j == k ? 3 : 6;
                    double q = (A_(P(a, i), P(j, k)) + A_(P(a, j), P(i, k)) + A_(P(a, k), P(i, j))) / 3 * 0.5 * times,
                           published3 = cubic[400 + 20 * 210 + a * 1540 + third];
                    size[2] = fmax(size[2], fabs(published3));
                    wrong[2] = fmax(wrong[2], fabs(factor * q - published3));
                }
            }
        }
    }
    for (int d = 0; d < 3; d++) {
        NOTE("polynomial of degree %d: relative difference %.2e", d + 1, wrong[d] / size[d]);
        CHECK(wrong[d] <= 1e-8 * size[d], "degree %d off by %g of %g", d + 1, wrong[d], size[d]);
    }

    /* the same after writing and reading a .cub file */
    FREED_BY(sp_cubic_free) sp_cubic_force ours, theirs;
    CHECK_OK(sp_cubic_from_polynomials(&context, &polynomials, &ours));
    CHECK_OK(sp_cubic_parse(&context, bytes, count, &theirs));
    const double *block[3][2] = {
        {ours.linear, theirs.linear}, {ours.quadratic, theirs.quadratic}, {ours.cubic, theirs.cubic}};
    for (int d = 0; d < 3; d++) {
        double off = 0;
        for (int64_t i = 0; i < (d == 0 ? 20 * 20 : d == 1 ? 20 * 210 : 20 * 1540); i++)
            off = fmax(off, fabs(factor * block[d][0][i] - block[d][1][i]));
        CHECK(off <= 1e-8 * size[d], "written out, degree %d is off by %g of %g", d + 1, off, size[d]);
    }
    free(bytes);
}

BEFORE_TESTS()
{
    context.threads = 2;
}
