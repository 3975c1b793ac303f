/* Scaling of modes, derivatives, bases, polynomials and motions with the material or the size of a body (thesis §2.9.3,
 * §2.11). Each law is derived where it is tested; nothing is compared with numbers of an earlier run. */
#include "assembly/elastic.h"
#include "basis/derivatives.h"
#include "basis/modes.h"
#include "basis/pca.h"
#include "basis/weights.h"
#include "fixture.h"
#include "integrate/integrate.h"
#include "model/models.h"

OWNER(sp_integrator)

enum { MODES = 4, PAIRS = MODES * (MODES + 1) / 2, R = 6, N = R + R * (R + 1) / 2, STEPS = 12 };

/* Factors of Young's modulus, density and every length. */
typedef struct scales {
    double young, density, length;
} scales;

/* A clamped block of 5 × 2 × 2 distorted hexahedra: without symmetry, so that no eigenvalue is multiple and each mode
 * is one. */
typedef struct block {
    sp_mesh mesh;
    sp_fe_space body;
    sp_sparse M;
    int64_t rows;
    double lambda[MODES], *U, *derivative; /* [rows, MODES], [rows, PAIRS] */
    double *basis,
        singular[MODES + PAIRS]; /* [rows, MODES + PAIRS] by mass-PCA of both, scaled as in thesis eq. 2.52 */
} block;

static void make_mesh(scales s, sp_mesh *mesh)
{
    int64_t added;
    make_box(5, 2, 2, 0.1, 0.15, mesh);
    added = fix_end(mesh, 0.02);
    CHECK(added == 9, "%lld vertices held", (long long)added);
    for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->vertices[i] *= s.length;
    mesh->materials[0].young *= s.young;
    mesh->materials[0].density *= s.density;
}

static void make_block(scales s, block *b)
{
    *b = (block){0};
    OWNED(sp_sparse) K;
    make_mesh(s, &b->mesh);
    CHECK_OK(sp_fe_space_new(&context, &b->mesh, &b->body));
    CHECK_OK(sp_fe_space_pattern(&context, &b->body));
    CHECK_OK(sp_fe_space_matrix(&context, &b->body, &K));
    CHECK_OK(sp_fe_space_mass_compressed(&context, &b->body, false, &b->M));
    b->rows = 3 * b->mesh.vertex_count;
    int64_t n = b->body.dof_count, pair[2 * PAIRS], rank;
    double *rest = test_new(b->rows, 8), *vector = test_new(n * MODES, 8), residual[MODES];
    sp_elastic_tangent(&context, &b->body, rest, 1, false, NULL, &K);
    sp_modes_report report;
    CHECK_OK(sp_modes(&context, &K, &b->M, NULL, 0, NULL, &(sp_modes_parameters){.count = MODES}, b->lambda, vector,
                      residual, &report));
    b->U = test_new(b->rows * MODES, 8);
    b->derivative = test_new(b->rows * PAIRS, 8);
    b->basis = test_new(b->rows * (MODES + PAIRS), 8);
    for (int m = 0; m < MODES; m++)
        sp_fe_space_scatter(&b->body, vector + m * n, b->U + m * b->rows);
    sp_dense_fix_signs(b->rows, MODES, b->U);
    for (int i = 0, c = 0; i < MODES; i++)
        for (int j = i; j < MODES; j++, c++)
            pair[2 * c] = i, pair[2 * c + 1] = j;
    sp_derivatives_report derivatives;
    CHECK_OK(
        sp_modal_derivatives(&context, &b->body, MODES, b->U, PAIRS, pair, 0, NULL, NULL, b->derivative, &derivatives));
    sp_metric metric = {.rows = b->rows, .matrix = &b->M, .dof = b->body.dof};
    double weight[MODES + PAIRS], square[MODES + PAIRS];
    OWNED(sp_store) store;
    memcpy(b->basis, b->U, (size_t)(b->rows * MODES) * 8);
    memcpy(b->basis + MODES * b->rows, b->derivative, (size_t)(b->rows * PAIRS) * 8);
    CHECK_OK(sp_store_over(&context, b->rows, MODES + PAIRS, b->basis, &store));
    CHECK_OK(sp_store_squares(&context, &metric, &store, square));
    CHECK_OK(sp_mode_weights(&context, MODES, 0, b->lambda, weight));
    for (int c = 0; c < PAIRS; c++)
        CHECK_OK(
            sp_derivative_weight(&context, MODES, 0, b->lambda, pair + 2 * c, square[MODES + c], &weight[MODES + c]));
    CHECK_OK(sp_store_scale(&context, &store, weight));
    CHECK_OK(sp_mass_pca(&context, &metric, 0, &store, b->singular, &rank));
    CHECK(rank == MODES + PAIRS, "rank %lld", (long long)rank);
}

static void block_free(block *b)
{
    sp_sparse_free(&b->M);
    sp_fe_space_free(&b->body);
    sp_mesh_free(&b->mesh);
}

/* Largest |a − factor b| by the largest |factor b|. */
static double gap(int64_t count, const double *a, double factor, const double *b)
{
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < count; i++) {
        worst = fmax(worst, fabs(a[i] - factor * b[i]));
        largest = fmax(largest, fabs(factor * b[i]));
    }
    return worst / largest;
}

/* K ψ = λ M ψ with ψᵀMψ = 1, and K Φ_ij = −(H:ψ_j) ψ_i. The stiffness is K = ∫ BᵀCB with B ~ 1/length, so it grows as
 * young · length; M as density · length³; H = ∂K/∂u as K by a length: as young.
 * Hence λ ~ young / (density length²), ψ ~ 1/√(density length³), and Φ ~ young ψ² / (young length) = 1/(density
 * length⁴): Young's modulus is not in it. The weights of thesis eq. 2.52 are ratios of eigenvalues, derivatives are
 * made unit vectors: the singular values stay, and the basis goes as ψ ("the modal derivative basis is invariant",
 * thesis §2.11). */
static void check_laws(const block *plain, scales s)
{
    OWNED(block) b;
    make_block(s, &b);
    double mass = s.density * pow(s.length, 3), eigenvalue = s.young / (s.density * s.length * s.length);
    double values = gap(MODES, b.lambda, eigenvalue, plain->lambda);
    double modes = gap(b.rows * MODES, b.U, 1 / sqrt(mass), plain->U);
    double derivatives = gap(b.rows * PAIRS, b.derivative, 1 / (s.density * pow(s.length, 4)), plain->derivative);
    double singular = gap(MODES + PAIRS, b.singular, 1, plain->singular),
           basis = gap(b.rows * R, b.basis, 1 / sqrt(mass), plain->basis);
    NOTE("young %g, density %g, length %g: eigenvalues %.0e, modes %.0e, derivatives %.0e, singular values %.0e, basis "
         "%.0e",
         s.young, s.density, s.length, values, modes, derivatives, singular, basis);
    /* rounding by the condition of K, 1e5, and for vectors by λ over the distance to the next one, about 10 */
    CHECK(values < 1e-11, "eigenvalues are off by %g", values);
    CHECK(modes < 1e-10, "modes are off by %g", modes);
    CHECK(derivatives < 1e-9, "derivatives are off by %g", derivatives);
    CHECK(singular < 1e-10, "singular values are off by %g", singular);
    CHECK(basis < 1e-8, "the basis is off by %g", basis); /* singular values are closer together than eigenvalues */
}

TEST(modes_derivatives_and_bases_follow_their_laws)
{
    OWNED(block) plain;
    make_block((scales){1, 1, 1}, &plain);
    check_laws(&plain, (scales){3.7, 1, 1});
    check_laws(&plain, (scales){1, 0.3, 1});
    check_laws(&plain, (scales){1, 1, 0.013});
    check_laws(&plain, (scales){2e5, 7.8, 0.001});
}

/* ---- polynomials ---- */

typedef struct reduced {
    sp_mesh mesh;
    sp_fe_space body;
    sp_polynomials polynomials;
} reduced;

/* Smooth fields that vanish at the clamped end, times `size`. They are the same for every material: a basis is only
 * data here. */
static double *make_fields(const sp_mesh *mesh, double length, double size)
{
    int64_t rows = 3 * mesh->vertex_count;
    double *U = calloc((size_t)(rows * R), 8);
    for (int64_t v = 0; v < mesh->vertex_count; v++) {
        double x = mesh->vertices[3 * v] / length, y = mesh->vertices[3 * v + 1] / length,
               z = mesh->vertices[3 * v + 2] / length;
        const double field[R][3] = {{0, 0, x * x},         {0, x * x, 0},      {-x * z, 0, 0},
                                    {x * x * x, 0, x * y}, {0, -x * z, x * y}, {x * y, x * z, 0}};
        bool prescribed = x < 0.02;
        for (int j = 0; j < R; j++)
            for (int c = 0; c < 3; c++)
                U[j * rows + 3 * v + c] = prescribed ? 0 : size * field[j][c];
    }
    return U;
}

static void make_reduced(scales s, double size, reduced *m)
{
    sp_polynomial_parameters parameters = {0};
    sp_polynomial_report report;
    make_mesh(s, &m->mesh);
    double *U = make_fields(&m->mesh, s.length, size);
    CHECK_OK(sp_fe_space_new(&context, &m->mesh, &m->body));
    CHECK_OK(sp_polynomials_new(&context, &m->body, R, U, &parameters, &m->polynomials, &report));
    free(U);
}

static void reduced_free(reduced *m)
{
    sp_polynomials_free(&m->polynomials);
    sp_fe_space_free(&m->body);
    sp_mesh_free(&m->mesh);
}

/* W = ½ dᵀ G d with d ~ length² in all: an energy is young · strain² · volume, so G ~ young / length. The columns of
 * the Gram matrix are X·u for the first r, u·u for the others: with the same U its blocks go as young · length, young,
 * young / length. Mass and gravity are ∫ density U.. over the volume. */
TEST(polynomials_follow_their_laws)
{
    const scales all[] = {{3.7, 1, 1}, {1, 0.3, 1}, {1, 1, 0.013}, {2e5, 7.8, 0.001}};
    OWNED(reduced) plain;
    reduced m;
    make_reduced((scales){1, 1, 1}, 1, &plain);
    for (int k = 0; k < 4; k++) {
        scales s = all[k];
        make_reduced(s, 1, &m);
        const double *a = m.polynomials.parts[0].gram, *b = plain.polynomials.parts[0].gram;
        double worst[3] = {0}, largest[3] = {0}, mass = s.density * pow(s.length, 3);
        for (int i = 0; i < N * N; i++) {
            int block_of = (i / N >= R) + (i % N >= R);
            double expected = s.young * pow(s.length, 1 - block_of) * b[i];
            worst[block_of] = fmax(worst[block_of], fabs(a[i] - expected));
            largest[block_of] = fmax(largest[block_of], fabs(expected));
        }
        for (int k2 = 0; k2 < 3; k2++)
            CHECK(worst[k2] <= 1e-12 * largest[k2], "block %d is off by %g of %g", k2, worst[k2], largest[k2]);
        CHECK(gap(R * R, m.polynomials.mass, mass, plain.polynomials.mass) < 1e-13, "mass");
        CHECK(gap(3 * R, m.polynomials.gravity, mass, plain.polynomials.gravity) < 1e-13, "gravity");
        reduced_free(&m);
    }
}

/* Two regions: after a change of E and ν in one, the parts with their new values give the force and tangent of newly
 * computed polynomials. With parts by region only, a part is proportional to E if ν stays. */
TEST(parts_follow_an_edit_of_one_region)
{
    sp_mesh mesh, edited;
    sp_fe_space body;
    sp_polynomial_report report;
    sp_polynomials parts, regions, anew;
    sp_polynomial_force *of_parts, *of_regions, *of_anew;
    for (int both = 0; both < 2; both++) {
        sp_mesh *const meshes[] = {&mesh, &edited};
        for (int k = 0; k < 2; k++) {
            make_mesh((scales){1, 1, 1}, meshes[k]);
            sp_material *materials = sp_pool_new(&meshes[k]->pool, 2, sizeof *materials);
            materials[0] = materials[1] = meshes[k]->materials[0];
            strcpy(materials[1].name, "tip");
            materials[1].young = 3e5;
            meshes[k]->materials = materials;
            meshes[k]->material_count = 2;
            sp_mesh_region_box(meshes[k], (double[]){0.3, -1, -1}, (double[]){1, 1, 1}, 1);
        }
        edited.materials[1].young *= 6.1;
        edited.materials[1].poisson = both ? 0.41 : mesh.materials[1].poisson;
        double *U = make_fields(&mesh, 1, 1), lambda, mu, q[R], f[R], g[R], K[R * R], L[R * R];
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_polynomials_new(&context, &body, R, U,
                                    &(sp_polynomial_parameters){.by_group = true, .by_constant = true}, &parts,
                                    &report));
        CHECK_OK(sp_polynomials_new(&context, &body, R, U, &(sp_polynomial_parameters){.by_group = true}, &regions,
                                    &report));
        sp_fe_space_free(&body);
        CHECK_OK(sp_fe_space_new(&context, &edited, &body));
        CHECK_OK(sp_polynomials_new(&context, &body, R, U, &(sp_polynomial_parameters){0}, &anew, &report));
        sp_fe_space_free(&body);
        sp_lame(edited.materials[1].young, edited.materials[1].poisson, &lambda, &mu);
        CHECK(parts.part_count == 4 && regions.part_count == 2, "%lld and %lld parts", (long long)parts.part_count,
              (long long)regions.part_count);
        for (int64_t p = 0; p < parts.part_count; p++)
            if (!strcmp(parts.parts[p].group, "tip"))
                parts.parts[p].value = parts.parts[p].constant == SP_CONSTANT_LAMBDA ? lambda : mu;
        for (int64_t p = 0; p < regions.part_count; p++)
            if (!strcmp(regions.parts[p].group, "tip"))
                regions.parts[p].value *= 6.1;
        CHECK_OK(sp_polynomial_force_new(&context, &parts, R, &of_parts));
        CHECK_OK(sp_polynomial_force_new(&context, &regions, R, &of_regions));
        CHECK_OK(sp_polynomial_force_new(&context, &anew, R, &of_anew));
        for (int trial = 0; trial < 3; trial++) {
            random_field(R, 60 + (uint64_t)trial, q);
            double W = sp_polynomial_force_evaluate(of_anew, q, g, L),
                   V = sp_polynomial_force_evaluate(of_parts, q, f, K);
            CHECK(fabs(V - W) <= 1e-12 * W, "energy %g, anew %g", V, W);
            CHECK(gap(R, f, 1, g) < 1e-12, "force off by %g", gap(R, f, 1, g));
            for (int i = 0; i < R * R; i++)
                K[i] = i % R < i / R ? 0 : K[i],
                L[i] = i % R < i / R ? 0 : L[i]; /* the lower triangle is what is promised */
            CHECK(gap(R * R, K, 1, L) < 1e-12, "tangent off by %g", gap(R * R, K, 1, L));
            sp_polynomial_force_evaluate(of_regions, q, f, NULL);
            if (both)
                CHECK(gap(R, f, 1, g) > 1e-3, "another Poisson's ratio is no factor, but the force is off by only %g",
                      gap(R, f, 1, g));
            else
                CHECK(gap(R, f, 1, g) < 1e-12, "by region: force off by %g", gap(R, f, 1, g));
        }
        sp_polynomial_force_free(of_parts);
        sp_polynomial_force_free(of_regions);
        sp_polynomial_force_free(of_anew);
        sp_polynomials_free(&parts);
        sp_polynomials_free(&regions);
        sp_polynomials_free(&anew);
        sp_mesh_free(&mesh);
        sp_mesh_free(&edited);
        free(U);
    }
}

/* ---- motions ---- */

/* A load that acts until the middle of step 7.5: force times its share of the time that is asked for. */
typedef struct load {
    int64_t n;
    const double *force; /* [n] */
    double end;          /* s */
} load;

static void mean_load(void *self, double t0, double t1, double *f)
{
    const load *l = self;
    double share = fmin(fmax((l->end - t0) / (t1 - t0), 0), 1);
    for (int64_t i = 0; i < l->n; i++)
        f[i] = share * l->force[i];
}

/* q [STEPS, n]; returns the total energy at the end. The start velocity and the force are random fields times the given
 * sizes. */
static double run(const sp_system *system, sp_integrator_parameters parameters, double force_size, double velocity_size,
                  double *q)
{
    int64_t n = system->n;
    double *force = test_new(n, 8), *velocity = test_new(n, 8), energy[SP_WORK_COUNT];
    random_field(n, 70, force);
    random_field(n, 71, velocity);
    for (int64_t i = 0; i < n; i++) {
        force[i] *= force_size;
        velocity[i] *= velocity_size;
    }
    load l = {n, force, 7.5 * parameters.step};
    sp_external_loads forcing = {.self = &l, .mean = mean_load};
    OWNED_POINTER(sp_integrator) *it;
    CHECK_OK(sp_integrator_new(&context, system, &forcing, &parameters, NULL, velocity, &it));
    for (int step = 0; step < STEPS; step++) {
        CHECK_OK(sp_integrator_step(it));
        memcpy(q + step * n, sp_integrator_q(it), (size_t)n * 8);
    }
    sp_integrator_energies(it, energy);
    return energy[SP_WORK_KINETIC] + energy[SP_WORK_STORED];
}

static const sp_integrator_parameters damped[] = {
    {.kind = SP_NEWMARK, .beta = 0.25, .gamma = 0.5, .damping_mass = 0.8, .damping_stiffness = 2e-3},
    {.kind = SP_NEWMARK,
     .beta = 0.3025,
     .gamma = 0.6,
     .damping_mass = 0.8,
     .damping_stiffness = 2e-3,
     .semi_implicit = true},
    {.kind = SP_ENERGY, .damping_mass = 0.8, .damping_stiffness = 2e-3},
    {.kind = SP_CENTRAL, .damping_mass = 0.8},
};
static const char *const integrator_name[] = {"newmark", "semi-implicit", "energy", "central"};

/* M q̈ + (αM + β K(q)) q̇ + f(q) = p. A material s times as stiff and d times as dense, in a body l times as long that
 * moves l times as far (U → lU, so q stays), has f, K → s l³ (f, K) and UᵀMU → d l⁵ UᵀMU. With loads s l³ p and the
 * time τ = t/γ, γ = √(s/d)/l, every term of the equation has the factor s l³, where α → γ α, β → β/γ: thesis §2.9.3
 * with "a linear scaling of Young's modulus, Rayleigh damping parameters, and mass density". Velocities go as γ. A
 * Newmark step of h/γ has α₁ = 1/(βh²) → γ² α₁, α₄ → γ α₄, …: the same factor in every term of the discrete equation,
 * so the frames are those of the first body, not only near them; the same holds for the other integrators. Energies go
 * as s l³. For powers of 4 nothing but exponents changes: then the bits are the same. */
static void check_motion(int kind, const double *plain, double energy, scales s, double step, double tolerance)
{
    OWNED(reduced) m;
    FREED_BY(sp_reduced_system_free) sp_system system;
    double gamma = sqrt(s.young / s.density) / s.length, force = s.young * pow(s.length, 3), q[STEPS * R];
    sp_integrator_parameters parameters = damped[kind];
    make_reduced(s, s.length, &m);
    parameters.step = step / gamma;
    parameters.damping_mass *= gamma;
    parameters.damping_stiffness /= gamma;
    CHECK_OK(sp_polynomial_system_new(&context, &m.polynomials, R, NULL, 0, NULL, &system));
    double total = run(&system, parameters, 50 * force, 3 * gamma, q), worst = gap(STEPS * R, q, 1, plain);
    NOTE("%s, young %g, density %g, length %g: frames %.1e, energy %.1e", integrator_name[kind], s.young, s.density,
         s.length, worst, fabs(total / (force * energy) - 1));
    CHECK(worst <= tolerance, "%s: frames are off by %g", integrator_name[kind], worst);
    CHECK(fabs(total / (force * energy) - 1) <= 10 * tolerance, "%s: energy %g, expected %g", integrator_name[kind],
          total, force * energy);
}

TEST(scaled_bodies_move_alike)
{
    OWNED(reduced) m;
    FREED_BY(sp_reduced_system_free) sp_system system;
    make_reduced((scales){1, 1, 1}, 1, &m);
    CHECK_OK(sp_polynomial_system_new(&context, &m.polynomials, R, NULL, 0, NULL, &system));
    for (int kind = 0; kind < 4; kind++) {
        sp_integrator_parameters parameters = damped[kind];
        /* central differences have to be stable */
        double q[STEPS * R], step = parameters.step = parameters.kind == SP_CENTRAL ? 1e-3 : 4e-3;
        double energy = run(&system, parameters, 50, 3, q), most = 0;
        for (int i = 0; i < STEPS * R; i++)
            most = fmax(most, fabs(q[i]));
        NOTE("%s: largest coordinate %g", integrator_name[kind], most);
        CHECK(most > 0.02, "%s: it hardly moves (%g), and linear laws would be all that is tested",
              integrator_name[kind], most);
        /* Newton ends at 1e-10 of the largest force, and rounding may end it one iteration later */
        check_motion(kind, q, energy, (scales){3.7, 1, 1}, step, 1e-9);
        check_motion(kind, q, energy, (scales){1, 0.3, 1}, step, 1e-9);
        check_motion(kind, q, energy, (scales){1, 1, 0.013}, step, 1e-9);
        check_motion(kind, q, energy, (scales){2e5, 7.8, 0.001}, step, 1e-9);
        check_motion(kind, q, energy, (scales){16, 1, 1}, step, 0);
        check_motion(kind, q, energy, (scales){64, 0.25, 1}, step, 0);
    }
}

/* The same of the full mesh: E and ρ times s and d, loads s, steps of h √(d/s). */
TEST(the_full_mesh_moves_alike)
{
    const scales all[] = {{1, 1, 1}, {3.7, 1, 1}, {1, 0.3, 1}, {7, 0.2, 1}};
    double *first = NULL, *q = NULL;
    for (int k = 0; k < 4; k++) {
        scales s = all[k];
        OWNED(sp_mesh) mesh;
        OWNED(sp_fe_space) body;
        FREED_BY(sp_full_system_free) sp_system system;
        double gamma = sqrt(s.young / s.density);
        make_mesh(s, &mesh);
        CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
        CHECK_OK(sp_full_system_new(&context, &body, false, false, NULL, &system));
        sp_integrator_parameters parameters = damped[0];
        parameters.step = 4e-3 / gamma;
        parameters.damping_mass *= gamma;
        parameters.damping_stiffness /= gamma;
        double **into = k == 0 ? &first : &q;
        if (!*into)
            *into = calloc((size_t)(STEPS * system.n), 8);
        run(&system, parameters, 20 * s.young, 1 * gamma, *into);
        if (k > 0) {
            NOTE("young %g, density %g: frames %.1e", s.young, s.density, gap(STEPS * system.n, q, 1, first));
            CHECK(gap(STEPS * system.n, q, 1, first) <= 1e-9, "frames are off by %g",
                  gap(STEPS * system.n, q, 1, first));
        }
    }
    free(first), free(q);
}
