/* Cubature: poses and columns against full-order forces, the run-time force against Galerkin projection, training
 * against the whole least-squares problem. */
#include "assembly/elastic.h"
#include "cubature/joint.h"
#include "fixture.h"
#include "linear/nnls.h"
#include "reduced/galerkin.h"
#include "reduced/polynomial.h"

#include <cblas.h>

OWNER(sp_training)

enum { R = 5 };

/* Variant 0: voxels of one material; 1: tetrahedra, stable neo-Hookean; 2: both shapes, three laws. */
static void make_block(int variant, int n, held_block *b)
{
    sp_mesh box;
    *b = (held_block){0};
    make_box(n, 2, 2, 0.3, variant ? 0.1 : 0, &box);
    if (variant == 1) {
        CHECK_OK(sp_mesh_split(&context, &box, &b->mesh));
        sp_mesh_free(&box);
        b->mesh.materials[0].law = SP_LAW_STABLE_NEO_HOOKEAN;
    } else
        b->mesh = box;
    if (variant == 2) {
        sp_mesh *m = &b->mesh;
        int64_t *tet = sp_pool_new(&m->pool, 4 * 2, sizeof *tet),
                *region = sp_pool_new(&m->pool, m->block[SP_HEX8].count + 2, sizeof *region);
        /* two tetrahedra inside the first two hexahedra: elements of a body may overlap */
        for (int e = 0; e < 2; e++)
            for (int k = 0; k < 4; k++)
                tet[4 * e + k] = m->block[SP_HEX8].node[8 * e + (int[]){0, 1, 3, 4}[k]];
        for (int64_t e = 0; e < m->block[SP_HEX8].count + 2; e++)
            region[e] = e % 3;
        m->block[SP_TET4].node = tet;
        m->block[SP_TET4].count = 2;
        m->region = region;
        m->material_count = 3;
        m->materials = sp_pool_new(&m->pool, 3, sizeof *m->materials);
        for (int k = 0; k < 3; k++) {
            m->materials[k] = test_material();
            m->materials[k].name[0] = (char)('a' + k);
        }
        m->materials[1].law = SP_LAW_NEO_HOOKEAN;
        m->materials[2].law = SP_LAW_COROTATIONAL;
        m->materials[2].fibre = SP_FIBRE_FUNG;
        m->materials[2].fibre_stiffness = 3e5;
        m->materials[2].fibre_exponent = 1.5;
        m->materials[2].fibre_direction[0] = 1;
    }
    hold_block(R, b);
}

static void make_poses(held_block *b, int64_t count, double size, sp_poses *poses)
{
    *poses = (sp_poses){.r = R, .count = count};
    poses->q = sp_pool_new(&poses->pool, R * count, sizeof(double));
    poses->force = sp_pool_new(&poses->pool, R * count, sizeof(double));
    for (int64_t k = 0; k < R * count; k++)
        poses->q[k] = size * sp_random_normal(9, 3, (uint64_t)k);
    CHECK_OK(sp_poses_evaluate(&context, &b->body, b->U, 0, 0, count, poses, NULL));
}

/* f = Uᵀ f(Uq) by the assembled forces. */
TEST(forces_of_poses)
{
    for (int variant = 0; variant < 3; variant++) {
        OWNED(held_block) b;
        OWNED(sp_poses) poses;
        make_block(variant, 4, &b);
        make_poses(&b, 11, 0.05, &poses);
        double *u = test_new(b.rows, 8), *f = test_new(b.rows, 8);
        for (int64_t t = 0; t < poses.count; t++) {
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)b.rows, R, 1, b.U, (int)b.rows, poses.q + t * R, 1, 0, u, 1);
            sp_elastic_force(&context, &b.body, u, f);
            double size = cblas_dnrm2(R, poses.force + t * R, 1);
            for (int j = 0; j < R; j++)
                CHECK_NEAR(poses.force[t * R + j], cblas_ddot((int)b.rows, b.U + j * b.rows, 1, f, 1), 1e-12 * size);
        }
    }
}

/* UᵀK(0)U. */
static void rest_stiffness(const held_block *b, double K[R * R])
{
    double *rest = test_new(b->rows, 8), *y = test_new(b->rows, 8);
    for (int j = 0; j < R; j++) {
        sp_elastic_tangent_times(&context, &b->body, rest, b->U + j * b->rows, y);
        for (int i = 0; i < R; i++)
            K[j * R + i] = cblas_ddot((int)b->rows, b->U + i * b->rows, 1, y, 1);
    }
}

/* All columns sum to b; products with all, with some, and norms are those of the columns. With a scale, and of the
 * nonlinear part: columns are U_eᵀ(f_e − K_e u_e), b is f − K q. */
TEST(columns_and_products)
{
    for (int variant = 0; variant < 3; variant++)
        for (int nonlinear = 0; nonlinear < 2; nonlinear++) {
            OWNED(held_block) b;
            OWNED(sp_poses) poses;
            OWNED_POINTER(sp_training) *training, *all_of_it;
            double K[R * R], scale[R] = {1, 0.3, 2, 0.1, 5};
            make_block(variant, 4, &b);
            make_poses(&b, 13, 0.05, &poses);
            rest_stiffness(&b, K);
            sp_training_measure measure = {scale, nonlinear ? K : NULL};
            CHECK_OK(sp_training_new(&context, &b.body, b.U, &measure, &poses, 0, &training));
            CHECK_OK(
                sp_training_new(&context, &b.body, b.U, &(sp_training_measure){.scale = scale}, &poses, 0, &all_of_it));
            int64_t m = sp_training_rows(training), n = b.elements;
            double *A = test_new(m * n, 8), *rho = test_new(m, 8), *c = test_new(n, 8), *norm = test_new(n, 8),
                   *some = test_new(n, 8), *part = test_new(n, 8);
            int64_t *all = test_new(n, 8);
            for (int64_t e = 0; e < n; e++)
                all[e] = n - 1 - e;
            random_field(m, 4, rho);
            CHECK_OK(sp_training_columns(training, n, all, A));
            CHECK_OK(sp_training_products(training, rho, n, NULL, c, norm));
            CHECK_OK(sp_training_products(training, rho, n, all, some, part));
            for (int64_t i = 0; i < m; i++) {
                int64_t t = i / R, j = i % R;
                double sum = 0, size = 0, expected = poses.force[i];
                for (int64_t e = 0; e < n; e++)
                    sum += A[e * m + i];
                for (int k = 0; k < R; k++) {
                    size += pow(scale[k] * poses.force[t * R + k], 2);
                    expected -= nonlinear ? K[k * R + j] * poses.q[t * R + k] : 0;
                }
                CHECK_NEAR(sum, sp_training_target(training)[i], 1e-12);
                CHECK_NEAR(sum, scale[j] * expected / sqrt(size), 1e-12);
            }
            for (int64_t e = 0; e < n; e++) {
                const double *column = A + (n - 1 - e) * m;
                CHECK_NEAR(c[e], cblas_ddot((int)m, column, 1, rho, 1), 1e-12 * (norm[e] + 1) * sqrt((double)m));
                CHECK_NEAR(some[n - 1 - e], c[e], 1e-12 * (norm[e] + 1) * sqrt((double)m));
                CHECK_NEAR(norm[e], cblas_dnrm2((int)m, column, 1), 1e-13 * norm[e]);
                CHECK_NEAR(part[n - 1 - e], norm[e], 1e-13 * norm[e]);
            }
            CHECK_NEAR(sp_training_whole(training), cblas_dnrm2((int)m, sp_training_target(all_of_it), 1), 1e-12);
        }
}

/* The number of threads may change between calls: the sums do not depend on it. */
TEST(products_of_more_threads)
{
    OWNED(held_block) b;
    OWNED(sp_poses) poses;
    OWNED_POINTER(sp_training) *training;
    const int before = context.threads;
    make_block(1, 4, &b);
    make_poses(&b, 13, 0.05, &poses);
    CHECK_OK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &poses, 0, &training));
    const int64_t m = sp_training_rows(training), n = b.elements;
    double *rho = test_new(m, 8), *first = test_new(n, 8), *other = test_new(n, 8);
    random_field(m, 4, rho);
    context.threads = 1;
    CHECK_OK(sp_training_products(training, rho, n, NULL, first, NULL));
    for (int threads = 4; threads >= 1; threads -= 3) {
        context.threads = threads;
        CHECK_OK(sp_training_products(training, rho, n, NULL, other, NULL));
        CHECK(!memcmp(first, other, (size_t)n * sizeof *first), "%d threads: other sums", threads);
    }
    context.threads = before;
}

/* All elements, with weights 1, or with random weights if `modal` says so. */
static void all_elements(const held_block *b, bool modal, bool random, sp_cubature *cubature)
{
    int64_t n = b->elements, columns = modal ? R : 1;
    *cubature = (sp_cubature){.r = R, .count = n, .modal = modal};
    cubature->element = sp_pool_new(&cubature->pool, n, sizeof(int64_t));
    cubature->weight = sp_pool_new(&cubature->pool, n * columns, sizeof(double));
    cubature->nested = sp_pool_new(&cubature->pool, n * columns, sizeof(double));
    for (int64_t e = 0; e < n; e++)
        cubature->element[e] = e;
    for (int64_t k = 0; k < n * columns; k++) {
        cubature->weight[k] = random ? 2 * sp_random_uniform(2, 2, (uint64_t)k) : 1;
        cubature->nested[k] = k % 2 ? cubature->weight[k] * 1.5 : 0;
    }
    CHECK_OK(sp_cubature_check(&context, cubature, n));
}

/* With the stiffness at rest the linear part of the force is exact for any weights: K(0) is that of the body, forces of
 * small displacements too, and estimates are those of both corrected sums. The error that training states is that of
 * the corrected force. */
TEST(exact_linear_part)
{
    for (int variant = 0; variant < 3; variant++)
        for (int modal = 0; modal < 2; modal++) {
            OWNED(held_block) b;
            OWNED(sp_poses) poses;
            OWNED_POINTER(sp_training) *training;
            OWNED(sp_cubature) cubature;
            sp_reduced_force force, second;
            double K0[R * R], f[R], g[R], K[R * R], rest[R] = {0}, error, deviation, sum = 0, missed = 0, whole = 0;
            make_block(variant, 4, &b);
            make_poses(&b, 9, 0.05, &poses);
            rest_stiffness(&b, K0);
            all_elements(&b, modal, true, &cubature);
            cubature.stiffness = K0;
            CHECK_OK(sp_cubature_force_new(&context, &b.body, &cubature, R, b.U, &force));
            force.evaluate(force.self, rest, false, f, K);
            for (int k = 0; k < R * R; k++)
                CHECK_NEAR(K[k], K0[k], 1e-12 * cblas_dnrm2(R * R, K0, 1));
            CHECK(cblas_dnrm2(R, f, 1) == 0, "a force at rest");
            CHECK_OK(
                sp_training_new(&context, &b.body, b.U, &(sp_training_measure){.stiffness = K0}, &poses, 0, &training));
            CHECK_OK(sp_cubature_error(&context, training, &cubature, false, &error, &deviation));
            sp_cubature other = cubature;
            other.weight = cubature.nested;
            other.nested = NULL;
            CHECK_OK(sp_cubature_force_new(&context, &b.body, &other, R, b.U, &second));
            for (int64_t t = 0; t < poses.count; t++) {
                double square = 0, size = 0, apart = 0, own = 0;
                force.evaluate(force.self, poses.q + t * R, false, f, NULL);
                second.evaluate(second.self, poses.q + t * R, false, g, NULL);
                for (int j = 0; j < R; j++) {
                    square += pow(f[j] - poses.force[t * R + j], 2);
                    size += pow(poses.force[t * R + j], 2);
                    apart += pow(f[j] - g[j], 2);
                    own += f[j] * f[j];
                }
                sum += square / size;
                missed += sqrt(square);
                whole += sqrt(size);
                double estimate[SP_NORMS];
                force.estimate(force.self, estimate);
                CHECK_NEAR(estimate[SP_NORM_FORCE], sqrt(apart / own), 1e-10);
            }
            CHECK_NEAR(error, sqrt(sum / (double)poses.count), 1e-11);
            CHECK_NEAR(deviation, missed / whole, 1e-11);
            if (!modal) { /* energy and force */
                double plus[R], minus[R], step = 1e-5;
                for (int j = 0; j < R; j++) {
                    memcpy(plus, poses.q, sizeof plus);
                    memcpy(minus, poses.q, sizeof minus);
                    plus[j] += step;
                    minus[j] -= step;
                    force.evaluate(force.self, poses.q, false, f, NULL);
                    CHECK_NEAR((force.evaluate(force.self, plus, false, NULL, NULL) -
                                force.evaluate(force.self, minus, false, NULL, NULL)) /
                                   (2 * step),
                               f[j], 1e-5 * cblas_dnrm2(R, f, 1));
                }
            }
            force.destroy(force.self);
            second.destroy(second.self);
        }
}

/* With all weights 1 it is the Galerkin projection: energy, force, and stiffness, also the definite one. */
TEST(unit_weights_are_direct_projection)
{
    for (int variant = 0; variant < 3; variant++)
        for (int modal = 0; modal < 2; modal++) {
            OWNED(held_block) b;
            OWNED(sp_cubature) cubature;
            sp_reduced_force force, direct;
            make_block(variant, 4, &b);
            all_elements(&b, modal, false, &cubature);
            CHECK_OK(sp_cubature_force_new(&context, &b.body, &cubature, R, b.U, &force));
            CHECK_OK(sp_galerkin_force_new(&context, &b.body, R, b.U, &direct));
            for (int definite = 0; definite < 2; definite++) {
                double q[R], f[R], g[R], K[R * R], D[R * R] = {0}; /* the lower triangle only */
                for (int j = 0; j < R; j++)
                    q[j] = 0.08 * sp_random_normal(8, 8, (uint64_t)j);
                double energy = force.evaluate(force.self, q, definite, f, K),
                       expected = direct.evaluate(direct.self, q, definite, g, D);
                CHECK_NEAR(energy, modal ? 0 : expected, 1e-12 * expected);
                for (int j = 0; j < R; j++) {
                    CHECK_NEAR(f[j], g[j], 1e-11 * cblas_dnrm2(R, g, 1));
                    for (int i = j; i < R; i++)
                        CHECK_NEAR(K[j * R + i], D[j * R + i], 1e-11 * cblas_dnrm2(R * R, D, 1));
                }
                double other[R];
                CHECK(force.evaluate(force.self, q, definite, other, NULL) == energy, "energy without stiffness");
                CHECK(memcmp(f, other, sizeof f) == 0, "force without stiffness");
            }
            force.destroy(force.self);
            direct.destroy(direct.self);
        }
}

/* Random weights: the stiffness is the derivative of the force, unsymmetric if weights differ by coordinate. Otherwise
 * the force is the derivative of the energy. */
/* u_jᵀK(0)u_j by central differences of the exact projected force. */
static double stiffness_by_differences(held_block *b, int j)
{
    const double step = 1e-5;
    sp_reduced_force direct;
    double q[2][R] = {{0}}, f[2][R];
    CHECK_OK(sp_galerkin_force_new(&context, &b->body, R, b->U, &direct));
    for (int side = 0; side < 2; side++) {
        q[side][j] = side ? step : -step;
        direct.evaluate(direct.self, q[side], false, f[side], NULL);
    }
    direct.destroy(direct.self);
    return (f[1][j] - f[0][j]) / (2 * step);
}

TEST(derivatives)
{
    for (int variant = 0; variant < 3; variant++)
        for (int modal = 0; modal < 2; modal++) {
            OWNED(held_block) b;
            OWNED(sp_cubature) cubature;
            sp_reduced_force force;
            make_block(variant, 4, &b);
            all_elements(&b, modal, true, &cubature);
            CHECK_OK(sp_cubature_force_new(&context, &b.body, &cubature, R, b.U, &force));
            CHECK(force.unsymmetric == modal, "unsymmetric");
            double q[R], f[R], K[R * R], error[2] = {0, 0}, asymmetry = 0;
            for (int j = 0; j < R; j++)
                q[j] = 0.06 * sp_random_normal(8, 9, (uint64_t)j);
            force.evaluate(force.self, q, false, f, K);
            double size = cblas_dnrm2(R * R, K, 1);
            for (int s = 0; s < 2; s++)
                for (int j = 0; j < R; j++) {
                    double step = s ? 1e-4 : 2e-4, plus[R], minus[R], fp[R], fm[R];
                    memcpy(plus, q, sizeof q);
                    memcpy(minus, q, sizeof q);
                    plus[j] += step;
                    minus[j] -= step;
                    double up = force.evaluate(force.self, plus, false, fp, NULL),
                           down = force.evaluate(force.self, minus, false, fm, NULL);
                    if (!modal)
                        CHECK_NEAR((up - down) / (2 * step), f[j], 1e-4 * cblas_dnrm2(R, f, 1));
                    for (int i = 0; i < R; i++) {
                        error[s] = fmax(error[s], fabs((fp[i] - fm[i]) / (2 * step) - K[j * R + i]));
                        asymmetry = fmax(asymmetry, fabs(K[j * R + i] - K[i * R + j]));
                    }
                }
            CHECK(error[1] < 1e-5 * size && fabs(log2(error[0] / error[1]) - 2) < 0.1,
                  "variant %d: errors %g, %g of %g", variant, error[0], error[1], size);
            CHECK(modal ? asymmetry > 1e-3 * size : asymmetry < 1e-13 * size, "asymmetry %g of %g", asymmetry, size);
            /* the estimate by its own definition */
            sp_cubature second = cubature;
            sp_reduced_force other;
            double g[R], difference[R];
            second.weight = cubature.nested;
            second.nested = NULL;
            CHECK_OK(sp_cubature_force_new(&context, &b.body, &second, R, b.U, &other));
            CHECK(other.estimate == NULL, "an estimate of nothing");
            force.evaluate(force.self, q, false, f, NULL);
            other.evaluate(other.self, q, false, g, NULL);
            for (int j = 0; j < R; j++)
                difference[j] = f[j] - g[j];
            double estimate[SP_NORMS], above = 0, below = 0;
            force.estimate(force.self, estimate);
            CHECK_NEAR(estimate[SP_NORM_FORCE], cblas_dnrm2(R, difference, 1) / cblas_dnrm2(R, f, 1), 1e-12);
            /* in the energy norm, with the stiffness by central differences of the exact projected force */
            for (int j = 0; j < R; j++) {
                const double stiffness = stiffness_by_differences(&b, j);
                above += difference[j] * difference[j] / stiffness;
                below += f[j] * f[j] / stiffness;
            }
            CHECK_NEAR(estimate[SP_NORM_ENERGY], sqrt(above / below), 1e-6);
            other.destroy(other.self);
            force.destroy(force.self);
        }
}

/* Least squares over all elements reaches the minimum of the complete problem, which sp_nnls finds with the full
 * matrix. */
TEST(minimum_of_the_whole_problem)
{
    OWNED(held_block) b;
    OWNED(sp_poses) poses;
    OWNED_POINTER(sp_training) *training;
    OWNED(sp_cubature) cubature;
    sp_cubature_report report;
    sp_nnls_report whole;
    make_block(1, 6, &b);
    make_poses(&b, 20, 0.08, &poses);
    CHECK_OK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &poses, 0, &training));
    int64_t m = sp_training_rows(training), n = b.elements;
    double *A = test_new(m * n, 8), *w = test_new(n, 8), error;
    int64_t *all = test_new(n, 8);
    for (int64_t e = 0; e < n; e++)
        all[e] = e;
    CHECK_OK(sp_training_columns(training, n, all, A));
    CHECK_OK(sp_nnls(&context, m, n, A, m, sp_training_target(training), &(sp_nnls_parameters){0}, w, &whole));
    CHECK_OK(sp_cubature_train(&context, &b.body, training,
                               &(sp_cubature_parameters){.method = SP_CUBATURE_NNLS, .nested = true}, &cubature,
                               &report));
    CHECK(report.reached, "not reached");
    CHECK(report.kkt < 1e-9, "KKT %g", report.kkt);
    CHECK_NEAR(report.error, whole.residual, 1e-7);
    CHECK_OK(sp_cubature_error(&context, training, &cubature, false, &error, NULL));
    CHECK_NEAR(error, report.error, 1e-9);
    CHECK_OK(sp_cubature_error(&context, training, &cubature, true, &error, NULL));
    CHECK_NEAR(error, report.nested_error, 1e-9);
    CHECK(report.nested_count <= (cubature.count + 1) / 2 && report.nested_count > 0, "%lld of %lld nested",
          (long long)report.nested_count, (long long)cubature.count);
    NOTE("%lld elements of %lld, error %.2e, KKT %.1e in %lld passes", (long long)cubature.count, (long long)n,
         report.error, report.kkt, (long long)report.passes);
}

/* Rounds of chosen elements, saved and read back. */
typedef struct memory {
    sp_list numbers, counts;
    int64_t at, round, known;
} memory;

static int64_t next_round(void *data, int64_t *element, int64_t room)
{
    memory *m = data;
    if (m->round >= m->known)
        return -1;
    int64_t count = ((int64_t *)m->counts.data)[m->round++];
    CHECK(count <= room, "room");
    memcpy(element, (int64_t *)m->numbers.data + m->at, (size_t)count * sizeof *element);
    m->at += count;
    return count;
}

static void add_round(void *data, int64_t count, const int64_t *element)
{
    memory *m = data;
    memcpy(sp_list_add(&m->numbers, count, 8), element, (size_t)count * 8);
    *(int64_t *)sp_list_add(&m->counts, 1, 8) = count;
    m->known += m->round == m->known; /* a run does not know the choices that it made itself */
    m->round = m->known;
}

/* Every method meets its tolerance on the training poses and nearly meets it on others, with a subset of the elements;
 * the same result for any number of threads, and after a stop. */
TEST(methods)
{
    for (int variant = 1; variant < 3; variant++)
        for (int method = 0; method < 3; method++) {
            OWNED(held_block) b = {0};
            OWNED(sp_poses) poses = {0}, others = {0};
            OWNED_POINTER(sp_training) *judge = NULL;
            sp_training *training;
            OWNED(sp_cubature) first = {0};
            sp_cubature_report report;
            sp_cubature_parameters parameters = {
                .method = (enum sp_cubature_method)method, .tolerance = 0.02, .candidates = 30};
            memory log = {{0}, {0}, 0, 0, 0};
            double error;
            make_block(variant, 12, &b);
            make_poses(&b, 40, variant == 2 ? 0.015 : 0.05, &poses); /* neo-Hookean elements must not be inverted */
            make_poses(&b, 60, variant == 2 ? 0.015 : 0.05, &others);
            memmove(others.q, others.q + 40 * R, 20 * R * sizeof(double));
            memmove(others.force, others.force + 40 * R, 20 * R * sizeof(double));
            others.count = 20;
            for (int threads = 1; threads <= 4; threads *= 2) {
                sp_cubature cubature;
                context.threads = threads;
                memory none = {{0}, {0}, 0, 0, 0};
                sp_cubature_log keep = {threads < 4 ? &log : &none, next_round, add_round};
                parameters.log = &keep;
                if (threads == 2) { /* continues from the middle */
                    log.known /= 2;
                    log.at = log.round = 0;
                }
                CHECK_OK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &poses, 0, &training));
                CHECK_OK(sp_cubature_train(&context, &b.body, training, &parameters, &cubature, &report));
                sp_training_free(training);
                sp_list_free(&none.numbers);
                sp_list_free(&none.counts);
                if (threads == 1) {
                    first = cubature;
                    continue;
                }
                CHECK(cubature.count == first.count &&
                          !memcmp(cubature.element, first.element, (size_t)first.count * 8) &&
                          !memcmp(cubature.weight, first.weight, (size_t)first.count * 8),
                      "variant %d method %d: %d threads give others", variant, method, threads);
                sp_cubature_free(&cubature);
            }
            context.threads = 1;
            CHECK(report.reached && report.error <= 0.02 * (1 + 1e-9), "error %g", report.error);
            CHECK(first.count < b.elements / 2, "%lld of %lld elements", (long long)first.count, (long long)b.elements);
            CHECK_OK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &others, 0, &judge));
            CHECK_OK(sp_cubature_error(&context, judge, &first, false, &error, NULL));
            CHECK(error < 0.08, "held out: %g", error);
            NOTE("variant %d, method %d: %lld of %lld elements, error %.3f, held out %.3f, %lld passes, %lld rounds",
                 variant, method, (long long)first.count, (long long)b.elements, report.error, error,
                 (long long)report.passes, (long long)report.rounds);
            sp_list_free(&log.numbers);
            sp_list_free(&log.counts);
        }
}

/* The least error of any support that differs from `element` [count] in one place. */
static double best_exchange(const double *A, int64_t rows, int64_t elements, const double *b, int64_t count,
                            const int64_t *element)
{
    double *columns = test_new(rows * count, 8), *w = test_new(count, 8), least = INFINITY;
    for (int64_t k = 0; k < count; k++)
        for (int64_t e = 0; e < elements; e++) {
            sp_nnls_report fit;
            for (int64_t i = 0; i < count; i++)
                memcpy(columns + i * rows, A + (i == k ? e : element[i]) * rows, (size_t)rows * 8);
            CHECK_OK(sp_nnls(&context, rows, count, columns, rows, b, &(sp_nnls_parameters){0}, w, &fit));
            least = fmin(least, fit.residual);
        }
    return least;
}

/* Exchanges decrease the error of either method until no single exchange would help much, as trying all shows; the same
 * elements for any number of threads, after a stop, and if the columns are not held in memory. */
TEST(exchanges)
{
    enum { FEW = 7 };
    OWNED(held_block) b;
    OWNED(sp_poses) poses;
    OWNED_POINTER(sp_training) *training;
    sp_training *again;
    make_block(1, 6, &b);
    make_poses(&b, 20, 0.08, &poses);
    CHECK_OK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &poses, 0, &training));
    const int64_t rows = sp_training_rows(training), n = b.elements;
    const double *target = sp_training_target(training);
    double *A = test_new(rows * n, 8);
    int64_t *all = test_new(n, 8);
    for (int64_t e = 0; e < n; e++)
        all[e] = e;
    CHECK_OK(sp_training_columns(training, n, all, A));
    for (int method = 0; method < 3; method++) {
        sp_cubature_parameters parameters = {.method = (enum sp_cubature_method)method, .most = FEW};
        memory log = {{0}, {0}, 0, 0, 0};
        sp_cubature_log keep = {&log, next_round, add_round};
        OWNED(sp_cubature) plain, first;
        sp_cubature other;
        sp_cubature_report before, after, report;
        CHECK_OK(sp_cubature_train(&context, &b.body, training, &parameters, &plain, &before));
        parameters.exchanges = 50;
        parameters.log = &keep;
        CHECK_OK(sp_cubature_train(&context, &b.body, training, &parameters, &first, &after));
        const double best = best_exchange(A, rows, n, target, first.count, first.element),
                     could = best_exchange(A, rows, n, target, plain.count, plain.element);
        CHECK(first.count <= FEW && after.error < before.error, "method %d: %g becomes %g", method, before.error,
              after.error);
        CHECK(after.error <= could * (1 + 1e-3), "method %d: %g, a single exchange gives %g", method, after.error,
              could);
        CHECK(best > 0.97 * after.error, "method %d: an exchange is left, %g of %g", method, best, after.error);
        CHECK(after.exchanged > 0 && before.exchanged == 0, "%lld exchanged", (long long)after.exchanged);
        /* threads; continuation from the middle; columns recomputed in passes over the mesh */
        for (int variant = 0; variant < 3; variant++) {
            const int64_t known = log.known;
            context.threads = variant == 0 ? 3 : 1;
            parameters.log = variant == 1 ? &keep : NULL;
            parameters.memory = variant == 2 ? 1 : 0;
            if (variant == 1) {
                log.known -= 1;
                log.at = log.round = 0;
            }
            CHECK_OK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &poses, 0, &again));
            CHECK_OK(sp_cubature_train(&context, &b.body, again, &parameters, &other, &report));
            sp_training_free(again);
            CHECK(variant != 1 || log.known == known, "%lld rounds, not %lld", (long long)log.known, (long long)known);
            CHECK(other.count == first.count && !memcmp(other.element, first.element, (size_t)first.count * 8),
                  "method %d, variant %d: other elements", method, variant);
            for (int64_t k = 0; k < first.count; k++)
                CHECK(variant == 2 ? fabs(other.weight[k] / first.weight[k] - 1) < 1e-9
                                   : other.weight[k] == first.weight[k],
                      "method %d, variant %d: weight %.17g, not %.17g", method, variant, other.weight[k],
                      first.weight[k]);
            CHECK(report.exchanged == after.exchanged && report.rounds == after.rounds, "another report");
            sp_cubature_free(&other);
        }
        context.threads = 1;
        NOTE("method %d: error %.4f becomes %.4f by %lld exchanges; the best single one gives %.4f, then %.4f", method,
             before.error, after.error, (long long)after.exchanged, could, best);
        sp_list_free(&log.numbers);
        sp_list_free(&log.counts);
    }
}

/* A body of StVK: the force of the cubature differs from that of its polynomials by the stated error. */
TEST(against_polynomials)
{
    OWNED(held_block) b;
    OWNED(sp_poses) poses;
    OWNED_POINTER(sp_training) *training;
    OWNED(sp_cubature) cubature;
    sp_cubature_report report;
    OWNED(sp_polynomials) polynomials;
    sp_polynomial_report made;
    sp_reduced_force exact, force;
    make_block(0, 12, &b);
    make_poses(&b, 60, 0.05, &poses);
    CHECK_OK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &poses, 0, &training));
    CHECK_OK(sp_cubature_train(&context, &b.body, training,
                               &(sp_cubature_parameters){.method = SP_CUBATURE_NNLS, .tolerance = 0.01}, &cubature,
                               &report));
    CHECK_OK(sp_polynomials_new(&context, &b.body, R, b.U, &(sp_polynomial_parameters){0}, &polynomials, &made));
    CHECK_OK(sp_polynomial_reduced_force(&context, &polynomials, R, &exact));
    CHECK_OK(sp_cubature_force_new(&context, &b.body, &cubature, R, b.U, &force));
    double sum = 0;
    for (int64_t t = 0; t < poses.count; t++) {
        double f[R], g[R], square = 0;
        exact.evaluate(exact.self, poses.q + t * R, false, f, NULL);
        force.evaluate(force.self, poses.q + t * R, false, g, NULL);
        for (int j = 0; j < R; j++) {
            CHECK_NEAR(f[j], poses.force[t * R + j], 1e-11 * cblas_dnrm2(R, f, 1));
            square += (f[j] - g[j]) * (f[j] - g[j]);
        }
        sum += square / cblas_ddot(R, f, 1, f, 1);
    }
    CHECK_NEAR(sqrt(sum / (double)poses.count), report.error, 1e-10); /* ‖b‖² is the number of poses */
    exact.destroy(exact.self);
    force.destroy(force.self);
}

/* Deviations and the amplitude are those that the header defines. Poses that invert a material are halved or refused.
 */
TEST(sampling)
{
    enum { COUNT = 4000 };
    OWNED(held_block) b;
    double quotient[R], *q = test_new(COUNT * R, 8), square[R] = {0};
    make_block(2, 4, &b);
    double deviation[R];
    for (int j = 0; j < R; j++) {
        quotient[j] = 100.0 * (j + 1);
        deviation[j] = 0.5 / sqrt(quotient[j]);
    }
    sp_poses_sample(&context, R, deviation, NULL, 0, COUNT, q);
    for (int64_t t = 0; t < COUNT; t++)
        for (int j = 0; j < R; j++)
            square[j] += q[t * R + j] * q[t * R + j] / COUNT;
    for (int j = 0; j < R; j++)
        CHECK_NEAR(square[j] * quotient[j], 0.25, 0.25 * 5 * sqrt(2.0 / COUNT));
    double *again = test_new(10 * R, 8);
    sp_poses_sample(&context, R, deviation, NULL, 100, 10, again);
    CHECK(!memcmp(again, q + 100 * R, 10 * R * sizeof *q), "a pose depends on its number only");
    double low[3], high[3], largest = 0, diagonal, amplitude = sp_poses_amplitude(&b.body, b.U, quotient[0], 0.1);
    sp_mesh_box(&b.mesh, low, high);
    diagonal = sqrt(pow(high[0] - low[0], 2) + pow(high[1] - low[1], 2) + pow(high[2] - low[2], 2));
    for (int64_t v = 0; v < b.mesh.vertex_count; v++)
        largest = fmax(largest, cblas_dnrm2(3, b.U + 3 * v, 1) * amplitude / sqrt(quotient[0]));
    CHECK_NEAR(largest, 0.1 * diagonal, 1e-12);
    OWNED(sp_poses) wild = {.r = R, .count = 3};
    int64_t shrunk;
    wild.q = sp_pool_new(&wild.pool, 3 * R, sizeof(double));
    wild.force = sp_pool_new(&wild.pool, 3 * R, sizeof(double));
    for (int j = 0; j < R; j++)
        wild.q[R + j] = 20;
    wild.q[0] = wild.q[2 * R] = 0.01;
    CHECK(sp_poses_evaluate(&context, &b.body, b.U, 0, 0, 3, &wild, NULL) == SP_INPUT &&
              strstr(context.message, "pose 1"),
          "%s", context.message);
    CHECK_OK(sp_poses_evaluate(&context, &b.body, b.U, 0, 0, 3, &wild, &shrunk));
    CHECK(shrunk == 1 && wild.q[0] == 0.01 && wild.q[R] < 20 && wild.q[R] > 0 && isfinite(wild.force[R]),
          "%lld shrunk, %g", (long long)shrunk, wild.q[R]);
    wild.count = 1;
    memset(wild.q, 0, R * sizeof(double));
    CHECK_OK(sp_poses_evaluate(&context, &b.body, b.U, 0, 0, 1, &wild, NULL));
    sp_training *training = NULL;
    CHECK(sp_training_new(&context, &b.body, b.U, &(sp_training_measure){0}, &wild, 0, &training) == SP_INPUT,
          "a pose at rest");
}
