/* Normals of deformed pointshells: by the gradient, by tangents, by a cloud, by neighbours (thesis §3.6.2–3.6.3). */
#include "pointshell/normals.h"
#include "assembly/elastic.h"
#include "basis/modes.h"
#include "field_models.h"
#include "fixture.h"
#include "geometry/pose.h"

#include <lapacke.h>

enum { MOST = 12 };

/* A torus in a box of curved elements, which moves by one coordinate: u = (F − I) X + shift. */
typedef struct model {
    sp_mesh mesh;
    sp_pointshell pointshell;
    int64_t *points; /* [shell.count] all */
    double *normals; /* [shell.count, 3] */
} model;

static void make_model(const double F[9], model *m)
{
    static const double shift[3] = {0.4, -2, 1};
    OWNED(sp_surface) s = torus(24, 16, 1, 0.4);
    OWNED(sp_level) level;
    sp_pointshell_report report;
    sp_pointshell_motion_report motion;
    make_box(6, 6, 4, 0.5, 0.1, &m->mesh);
    double *U = sp_pool_new(&m->mesh.pool, 3 * m->mesh.vertex_count, sizeof *U);
    for (int64_t i = 0; i < 3 * m->mesh.vertex_count; i++)
        m->mesh.vertices[i] -= i % 3 < 2 ? 1.5 : 1;
    for (int64_t i = 0; i < 3 * m->mesh.vertex_count; i++) {
        const double *x = m->mesh.vertices + i / 3 * 3;
        U[i] = sp_dot3(F + 3 * (i % 3), x) - x[i % 3] + shift[i % 3];
    }
    CHECK_OK(sp_level_model(&context, &s, 0, 0, &level));
    const sp_pointshell_parameters p = {
        .method = SP_POINTSHELL_REPULSION, .points = 600, .levels = 2, .branching = 4, .iterations = 40};
    CHECK_OK(sp_pointshell_make(&context, &level, &p, &m->pointshell, &report));
    CHECK_OK(sp_pointshell_transfer(&context, &m->mesh, 1, U, true, &m->pointshell, &motion));
    CHECK(motion.outside == 0, "%lld outside", (long long)motion.outside);
    m->points = sp_pool_new(&m->pointshell.pool, m->pointshell.count, sizeof *m->points);
    m->normals = sp_pool_new(&m->pointshell.pool, 3 * m->pointshell.count, sizeof *m->normals);
    for (int64_t i = 0; i < m->pointshell.count; i++)
        m->points[i] = i;
}

static void model_free(model *m)
{
    sp_pointshell_free(&m->pointshell);
    sp_mesh_free(&m->mesh);
}

/* v/|v| of F⁻ᵀn, from the cofactors of F. */
static void true_normal(const double F[9], const double n[3], double v[3])
{
    double length = 0;
    for (int i = 0; i < 3; i++) {
        double c[3];
        sp_cross3(F + 3 * ((i + 1) % 3), F + 3 * ((i + 2) % 3), c); /* row i of cof(F) */
        v[i] = sp_dot3(c, n);
    }
    length = sqrt(sp_dot3(v, v));
    for (int k = 0; k < 3; k++)
        v[k] /= length;
}

static double apart(const double *a, const double *b)
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return sqrt(sp_dot3(d, d));
}

static const double SHEARED[9] = {1.3, 0.5, -0.2, 0.1, 0.8, 0.3, -0.4, 0.2, 1.1};

/* t1 × t2 = N for any N, with the rule of formats/pointshell.md; where the least component changes, too. */
TEST(tangents_of_normals)
{
    double worst = 0;
    for (int i = 0; i < 1000; i++) {
        double n[3], t[2][3], product[3];
        for (int k = 0; k < 3; k++)
            n[k] = i < 27 ? (double)(i /
                                         (k == 0   ? 1
                                          : k == 1 ? 3
                                                   : 9) %
                                         3 -
                                     1)
                          : sp_random_normal(3, 1, (uint64_t)(3 * i + k));
        const double length = sqrt(sp_dot3(n, n));
        if (length == 0)
            continue;
        for (int k = 0; k < 3; k++)
            n[k] *= (1 + 1e-5) / length; /* as far from unit length as a file allows */
        sp_pointshell_tangents(n, t);
        sp_cross3(t[0], t[1], product);
        worst = fmax(worst, fmax(apart(product, n), fabs(sp_dot3(t[0], t[0]) - 1)));
        worst = fmax(worst, fmax(fabs(sp_dot3(t[0], t[1])), fmax(fabs(sp_dot3(t[0], n)), fabs(sp_dot3(t[1], n)))));
        int least = 0;
        for (int k = 1; k < 3; k++)
            least = fabs(n[k]) < fabs(n[least]) ? k : least;
        CHECK(t[0][least] == 0, "t1 has %g along axis %d", t[0][least], least);
    }
    CHECK(worst < 1e-15, "%g", worst);
    double t[2][3];
    sp_pointshell_tangents((double[]){0, 0, -1}, t); /* e_x × (−e_z) = e_y, −e_z × e_y = e_x */
    CHECK(t[0][1] == 1 && t[1][0] == 1, "%g %g", t[0][1], t[1][0]);
}

/* All four estimates rotate with the body, for any angle. */
TEST(rotations)
{
    double quaternion[4], F[9];
    model m;
    for (int turn = 0; turn < 3; turn++) {
        const double angle = (const double[]){0.1, 1.7, 3}[turn], v[3] = {angle * 2 / 7, angle * -3 / 7, angle * 6 / 7};
        sp_quaternion_from_vector(v, quaternion);
        sp_quaternion_matrix(quaternion, F);
        make_model(F, &m);
        OWNED(sp_pointshell_neighbours) near;
        CHECK_OK(sp_pointshell_neighbours_new(&context, &m.pointshell, m.pointshell.count, m.points, MOST, &near));
        for (int way = SP_NORMAL_GRADIENT; way <= SP_NORMAL_NEIGHBOURS; way++) {
            double *rest = sp_pool_new(&m.pointshell.pool, 3 * m.pointshell.count, sizeof *rest), worst = 0, least = 1;
            CHECK_OK(sp_pointshell_normals(&context, &m.pointshell, (enum sp_pointshell_normal)way, m.pointshell.count,
                                           m.points, &near, (double[]){0}, rest));
            CHECK_OK(sp_pointshell_normals(&context, &m.pointshell, (enum sp_pointshell_normal)way, m.pointshell.count,
                                           m.points, &near, (double[]){1}, m.normals));
            for (int64_t i = 0; i < m.pointshell.count; i++) {
                double turned[3];
                sp_rotate(F, rest + 3 * i, turned);
                worst = fmax(worst, apart(turned, m.normals + 3 * i));
                least = fmin(least, sp_dot3(rest + 3 * i, m.pointshell.normals + 3 * i));
            }
            CHECK(worst < 1e-11, "way %d, turn %d: off by %g", way, turn, worst);
            /* exact ones at rest, or within the angle over neighbours on the small circle of the torus */
            CHECK(least > (way <= SP_NORMAL_TANGENTS ? 1 - 1e-14 : cos(0.5)), "way %d: cosine %g at rest", way, least);
        }
        model_free(&m);
    }
}

/* A homogeneous deformation F: tangents give F⁻ᵀN, and so do neighbours for the normal that they have at rest, as Σ Fa
 * × Fb = cof(F) Σ a × b. F N is at the angle whose cosine is 1/(|F N| |F⁻ᵀ N|). */
TEST(shear_and_stretch)
{
    OWNED(model) m;
    make_model(SHEARED, &m);
    const int64_t n = m.pointshell.count;
    double *rest = sp_pool_new(&m.pointshell.pool, 3 * n, sizeof *rest),
           *gradient = sp_pool_new(&m.pointshell.pool, 3 * n, sizeof *gradient);
    double error[3] = {0}, angle = 0;
    OWNED(sp_pointshell_neighbours) near;
    CHECK_OK(sp_pointshell_neighbours_new(&context, &m.pointshell, n, m.points, 5, &near));
    CHECK_OK(sp_pointshell_normals(&context, &m.pointshell, SP_NORMAL_TANGENTS, n, m.points, NULL, (double[]){1},
                                   m.normals));
    CHECK_OK(
        sp_pointshell_normals(&context, &m.pointshell, SP_NORMAL_GRADIENT, n, m.points, NULL, (double[]){1}, gradient));
    for (int64_t i = 0; i < n; i++) {
        const double *N = m.pointshell.normals + 3 * i;
        double v[3], FN[3], cofactor[3], J[3];
        true_normal(SHEARED, N, v);
        sp_rotate(SHEARED, N, FN);
        sp_cross3(SHEARED + 3, SHEARED + 6, J);
        /* |F⁻ᵀN| = |cof(F) N| / det F */
        for (int k = 0; k < 3; k++) {
            double c[3];
            sp_cross3(SHEARED + 3 * ((k + 1) % 3), SHEARED + 3 * ((k + 2) % 3), c);
            cofactor[k] = sp_dot3(c, N);
        }
        const double det = sp_dot3(J, SHEARED), cosine = det / sqrt(sp_dot3(FN, FN) * sp_dot3(cofactor, cofactor));
        error[0] = fmax(error[0], apart(v, m.normals + 3 * i));
        error[1] = fmax(error[1], fabs(sp_dot3(gradient + 3 * i, m.normals + 3 * i) - cosine));
        angle = fmax(angle, acos(cosine));
    }
    CHECK_OK(
        sp_pointshell_normals(&context, &m.pointshell, SP_NORMAL_NEIGHBOURS, n, m.points, &near, (double[]){0}, rest));
    CHECK_OK(sp_pointshell_normals(&context, &m.pointshell, SP_NORMAL_NEIGHBOURS, n, m.points, &near, (double[]){1},
                                   m.normals));
    for (int64_t i = 0; i < n; i++) {
        double v[3];
        true_normal(SHEARED, rest + 3 * i, v);
        error[2] = fmax(error[2], apart(v, m.normals + 3 * i));
    }
    CHECK(error[0] < 1e-12 && error[1] < 1e-12 && error[2] < 1e-11,
          "tangents %g, cosine of the gradient %g, neighbours %g", error[0], error[1], error[2]);
    CHECK(angle > 0.3, "F N departs by %g only", angle);
}

/* Simple shear by γ rotates F N of the sheared plane by atan γ, stretch by λ rotates that of 45 degrees by atan λ −
 * atan 1/λ: about the strain. */
TEST(error_of_the_gradient)
{
    const double gamma = 0.2, lambda = 1.3, shear[9] = {1, gamma, 0, 0, 1, 0, 0, 0, 1},
                 stretch[9] = {lambda, 0, 0, 0, 1, 0, 0, 0, 1};
    const double normal[2][3] = {{0, 1, 0}, {sqrt(0.5), sqrt(0.5), 0}},
                 expected[2] = {atan(gamma), atan(lambda) - atan(1 / lambda)};
    for (int c = 0; c < 2; c++) {
        OWNED(model) m;
        make_model(c ? stretch : shear, &m);
        OWNED(sp_pointshell) one = {.count = 1, .levels = 1, .cumulative = {1}};
        sp_pointshell_motion_report motion;
        double U[3 * 7 * 7 * 5], gradient[3], tangents[3];
        for (int64_t i = 0; i < 3 * m.mesh.vertex_count; i++) {
            const double *x = m.mesh.vertices + i / 3 * 3;
            U[i] = sp_dot3((c ? stretch : shear) + 3 * (i % 3), x) - x[i % 3];
        }
        one.points = sp_pool_copy(&one.pool, (double[]){0.1, 0.2, 0.3}, 3, sizeof(double));
        one.normals = sp_pool_copy(&one.pool, normal[c], 3, sizeof(double));
        CHECK_OK(sp_pointshell_transfer(&context, &m.mesh, 1, U, true, &one, &motion));
        CHECK_OK(sp_pointshell_normals(&context, &one, SP_NORMAL_GRADIENT, 1, (int64_t[]){0}, NULL, (double[]){1},
                                       gradient));
        CHECK_OK(sp_pointshell_normals(&context, &one, SP_NORMAL_TANGENTS, 1, (int64_t[]){0}, NULL, (double[]){1},
                                       tangents));
        CHECK_NEAR(acos(sp_dot3(gradient, tangents)), expected[c], 1e-12);
    }
}

/* Random points on two sheets with opposite normals, closer to each other than the points of a sheet: neighbours are on
 * the same sheet, and the cloud of a plane has exactly the normal of the sheared plane. */
TEST(sheets)
{
    enum { COUNT = 400 };
    double points[3 * COUNT], normals[3 * COUNT], worst = 0, expected[3], found[2][3 * COUNT];
    int64_t all[COUNT];
    OWNED(sp_pointshell) pointshell = {.count = COUNT, .levels = 1, .cumulative = {COUNT}};
    const double N[3] = {2.0 / 7, -3.0 / 7, 6.0 / 7};
    double t[2][3], U[3 * 7 * 7 * 5];
    OWNED(model) m;
    make_model(SHEARED, &m);
    for (int64_t i = 0; i < 3 * m.mesh.vertex_count; i++) {
        const double *x = m.mesh.vertices + i / 3 * 3;
        U[i] = sp_dot3(SHEARED + 3 * (i % 3), x) - x[i % 3];
    }
    sp_pointshell_tangents(N, t);
    for (int i = 0; i < COUNT; i++) {
        all[i] = i;
        const double a = random_in(2, (uint64_t)(2 * i), -0.5, 0.5), b = random_in(2, (uint64_t)(2 * i + 1), -0.5, 0.5),
                     side = i % 2 ? 1 : -1;
        for (int k = 0; k < 3; k++) {
            points[3 * i + k] = a * t[0][k] + b * t[1][k] + 0.0005 * side * N[k];
            normals[3 * i + k] = -side * N[k];
        }
    }
    pointshell.points = sp_pool_copy(&pointshell.pool, points, 3 * COUNT, sizeof(double));
    pointshell.normals = sp_pool_copy(&pointshell.pool, normals, 3 * COUNT, sizeof(double));
    sp_pointshell_motion_report motion;
    sp_pointshell_neighbours near;
    CHECK_OK(sp_pointshell_transfer(&context, &m.mesh, 1, U, false, &pointshell, &motion));
    CHECK_OK(sp_pointshell_neighbours_new(&context, &pointshell, COUNT, all, MOST, &near));
    int64_t other = 0, farther = 0;
    for (int i = 0; i < COUNT; i++) {
        double square[COUNT], farthest = 0;
        int nearer = 0;
        for (int k = 0; k < MOST; k++) {
            const int64_t j = near.neighbour[MOST * i + k];
            other += j % 2 != i % 2 || j == i;
            farthest = fmax(farthest, apart(points + 3 * i, points + 3 * j));
        }
        for (int j = 0; j < COUNT; j++) {
            square[j] = apart(points + 3 * i, points + 3 * j);
            nearer += j != i && j % 2 == i % 2 && square[j] < farthest;
        }
        farther += near.found[i] != MOST || nearer != MOST - 1;
        for (int k = 0; k < MOST; k++) {
            const double d = square[near.neighbour[MOST * i + k]] / (1.5 * farthest);
            CHECK_NEAR(near.weight[MOST * i + k], (1 - d * d) * (1 - d * d), 1e-13);
        }
    }
    CHECK(other == 0 && farther == 0, "%lld on the other side, %lld not the nearest", (long long)other,
          (long long)farther);
    for (int way = 0; way < 2; way++) {
        CHECK_OK(sp_pointshell_normals(&context, &pointshell, way ? SP_NORMAL_CLOUD : SP_NORMAL_NEIGHBOURS, COUNT, all,
                                       &near, (double[]){1}, found[way]));
        for (int i = 0; i < COUNT; i++) {
            true_normal(SHEARED, normals + 3 * i, expected);
            worst = fmax(worst, apart(expected, found[way] + 3 * i));
        }
        CHECK(worst < 1e-11, "way %d: off by %g", way,
              worst); /* rounding of places about 0.1 m apart over the few of neighbours near a line */
    }
    sp_pointshell_neighbours_free(&near);
    /* two neighbours: one product, in the order that agrees with the normal */
    CHECK_OK(sp_pointshell_neighbours_new(&context, &pointshell, COUNT, all, 2, &near));
    CHECK_OK(
        sp_pointshell_normals(&context, &pointshell, SP_NORMAL_NEIGHBOURS, COUNT, all, &near, (double[]){0}, found[0]));
    worst = 0;
    for (int i = 0; i < COUNT; i++)
        worst = fmax(worst, apart(normals + 3 * i, found[0] + 3 * i));
    CHECK(worst < 1e-9, "off by %g", worst);
    sp_pointshell_neighbours_free(&near);
}

/* The cloud against LAPACK, on the curved surface under shear. */
TEST(clouds_by_lapack)
{
    OWNED(model) m;
    OWNED(sp_pointshell_neighbours) near;
    double worst = 0;
    make_model(SHEARED, &m);
    CHECK_OK(sp_pointshell_neighbours_new(&context, &m.pointshell, m.pointshell.count, m.points, MOST, &near));
    CHECK_OK(sp_pointshell_normals(&context, &m.pointshell, SP_NORMAL_CLOUD, m.pointshell.count, m.points, &near,
                                   (double[]){1}, m.normals));
    for (int64_t i = 0; i < m.pointshell.count; i++) {
        double A[9] = {0}, value[3], FN[3];
        for (int n = 0; n < near.found[i]; n++) {
            const int64_t j = near.neighbour[MOST * i + n];
            double X[3], d[3];
            for (int k = 0; k < 3; k++)
                X[k] = m.pointshell.points[3 * j + k] - m.pointshell.points[3 * i + k];
            sp_rotate(SHEARED, X, d);
            for (int k = 0; k < 9; k++)
                A[k] += near.weight[MOST * i + n] * d[k / 3] * d[k % 3];
        }
        CHECK(LAPACKE_dsyev(LAPACK_COL_MAJOR, 'V', 'U', 3, A, 3, value) == 0, "dsyev");
        sp_rotate(SHEARED, m.pointshell.normals + 3 * i, FN);
        const double sign = sp_dot3(FN, A) < 0 ? -1 : 1;
        worst = fmax(worst, apart((double[]){sign * A[0], sign * A[1], sign * A[2]}, m.normals + 3 * i));
    }
    CHECK(worst < 1e-12, "off by %g", worst);
}

/* A bar with large bending in its lowest modes, with a sphere in it: tangents against the normal of the deformed
 * sphere, by differences of places on it within one element, whose error is about h²/6r² on a circle of the radius r.
 */
TEST(finite_deformation)
{
    enum { MODES = 4, COUNT = 4000 };
    const double side = 0.25, centre[3] = {1.1, 0.5, 0.5}, radius = 0.42;
    OWNED(sp_mesh) mesh;
    OWNED(sp_fe_space) body;
    OWNED(sp_sparse) K, M;
    sp_modes_report modes;
    sp_pointshell_motion_report motion;
    make_box(8, 4, 4, side, 0, &mesh);
    fix_end(&mesh, 0.05);
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    CHECK_OK(sp_fe_space_pattern(&context, &body));
    CHECK_OK(sp_fe_space_matrix(&context, &body, &K));
    CHECK_OK(sp_fe_space_matrix(&context, &body, &M));
    CHECK_OK(sp_fe_space_mass(&context, &body, false, &M));
    const int64_t rows = 3 * mesh.vertex_count;
    double *rest = sp_pool_new(&mesh.pool, rows, sizeof *rest),
           *mode = sp_pool_new(&mesh.pool, MODES * body.dof_count, sizeof *mode);
    double *U = sp_pool_new(&mesh.pool, MODES * rows, sizeof *U), lambda[MODES], residual[MODES], q[MODES];
    sp_elastic_tangent(&context, &body, rest, 1, false, NULL, &K);
    CHECK_OK(sp_modes(&context, &K, &M, NULL, 0, NULL, &(sp_modes_parameters){.count = MODES}, lambda, mode, residual,
                      &modes));
    for (int j = 0; j < MODES; j++) {
        double largest = 0;
        sp_fe_space_scatter(&body, mode + j * body.dof_count, U + j * rows);
        for (int64_t i = 0; i < rows; i++)
            largest = fmax(largest, fabs(U[j * rows + i]));
        q[j] = (const double[]){0.7, 0.5, 0.5, 0.2}[j] /
               largest; /* m at the tip of a bar 2 m long; a turn by 0.5 along it */
    }
    double error[3] = {0}, difference = 0;
    for (int step = 0; step < 3; step++) {
        const double h = 0.02 / (1 << step);
        int64_t used = 0, all[COUNT];
        static double points[5 * 3 * COUNT], normals[5 * 3 * COUNT], normal[3 * COUNT], gradient[3 * COUNT];
        for (int i = 0; i < COUNT; i++) {
            double n[3], t[2][3], *x = points + 15 * used;
            for (int k = 0; k < 3; k++)
                n[k] = sp_random_normal(4, 1, (uint64_t)(3 * i + k));
            const double length = sqrt(sp_dot3(n, n));
            for (int k = 0; k < 3; k++)
                n[k] /= length;
            sp_pointshell_tangents(n, t);
            bool same = true;
            for (int p = 0; p < 5; p++) {
                /* the point, then ±h or, for which are taken, ±0.02 along both tangents of the ball */
                double way[3], wide[3];
                const double s = p == 0 ? 0 : p % 2 ? h : -h;
                for (int k = 0; k < 3; k++) {
                    way[k] = n[k] + (p > 0 ? s / radius * t[(p - 1) / 2][k] : 0);
                    wide[k] = n[k] + (p > 0 ? 0.02 * s / h / radius * t[(p - 1) / 2][k] : 0);
                }
                const double one = radius / sqrt(sp_dot3(way, way)), two = radius / sqrt(sp_dot3(wide, wide));
                for (int k = 0; k < 3; k++) {
                    x[3 * p + k] = centre[k] - one * way[k]; /* n is inward */
                    normals[15 * used + 3 * p + k] = n[k];
                    same &= floor((centre[k] - two * wide[k]) / side) == floor(x[k] / side);
                }
            }
            used += same;
        }
        CHECK(used > 1000, "%lld points", (long long)used);
        OWNED(sp_pointshell) pointshell = {.count = 5 * used, .levels = 1, .cumulative = {5 * used}};
        pointshell.points = sp_pool_copy(&pointshell.pool, points, 15 * used, sizeof(double));
        pointshell.normals = sp_pool_copy(&pointshell.pool, normals, 15 * used, sizeof(double));
        CHECK_OK(sp_pointshell_transfer(&context, &mesh, MODES, U, true, &pointshell, &motion));
        for (int64_t i = 0; i < used; i++)
            all[i] = 5 * i;
        CHECK_OK(sp_pointshell_normals(&context, &pointshell, SP_NORMAL_TANGENTS, used, all, NULL, q, normal));
        CHECK_OK(sp_pointshell_normals(&context, &pointshell, SP_NORMAL_GRADIENT, used, all, NULL, q, gradient));
        for (int64_t i = 0; i < used; i++) {
            double at[5][3], way[2][3], n[3];
            for (int p = 0; p < 5; p++)
                for (int k = 0; k < 3; k++) {
                    at[p][k] = pointshell.points[15 * i + 3 * p + k];
                    for (int j = 0; j < MODES; j++)
                        at[p][k] += pointshell.U[(15 * i + 3 * p + k) * MODES + j] * q[j];
                }
            for (int k = 0; k < 3; k++) {
                way[0][k] = at[2][k] -
                            at[1][k]; /* s is positive at odd p; the ball's places run against the tangents: twice −1 */
                way[1][k] = at[4][k] - at[3][k];
            }
            sp_cross3(way[0], way[1], n);
            const double length = sqrt(sp_dot3(n, n));
            for (int k = 0; k < 3; k++)
                n[k] /= length;
            error[step] = fmax(error[step], apart(n, normal + 3 * i));
            difference = fmax(difference, acos(fmin(sp_dot3(gradient + 3 * i, normal + 3 * i), 1)));
        }
    }
    CHECK(error[0] < 1e-3 && error[1] < error[0] / 3.5 && error[2] < error[1] / 3.5, "%g, then %g, then %g", error[0],
          error[1], error[2]);
    CHECK(difference > 10 * error[2], "F N departs by %g from it, the differences by %g", difference, error[2]);
    NOTE("differences at 0.02 m: %.1e, a quarter of that: %.1e; F N departs by %.1f degrees at most", error[0],
         error[2], difference * 180 / PI);
}

TEST(what_cannot_be)
{
    OWNED(model) m;
    OWNED(sp_pointshell_neighbours) near = {0};
    double normal[3];
    const double flat[9] = {1, 0, 0, 0, 1, 0, 0, 0, 0};
    make_model(flat, &m);
    CHECK(sp_pointshell_neighbours_new(&context, &m.pointshell, 1, m.points, 1, &near) == SP_USAGE &&
              strstr(context.message, "1 neighbours"),
          "%s", context.message);
    CHECK(sp_pointshell_neighbours_new(&context, &m.pointshell, 1, m.points, 33, &near) == SP_USAGE, "%s",
          context.message);
    CHECK(sp_pointshell_normals(&context, &m.pointshell, SP_NORMAL_CLOUD, 1, m.points, NULL, (double[]){1}, normal) ==
              SP_USAGE,
          "%s", context.message);
    double *kept = m.pointshell.dT;
    m.pointshell.dT = NULL;
    const int status =
        sp_pointshell_normals(&context, &m.pointshell, SP_NORMAL_TANGENTS, 1, m.points, NULL, (double[]){1}, normal);
    CHECK(status == SP_USAGE && strstr(context.message, "tangents"), "%s", context.message);
    m.pointshell.dT = kept;
    /* fewer than requested: three points, of which two are on a line with the first */
    OWNED(sp_pointshell) few = {.count = 3, .levels = 1, .cumulative = {3}, .modes = 1};
    few.points = sp_pool_copy(&few.pool, (double[]){0, 0, 0, 1, 0, 0, 3, 0, 0}, 9, sizeof(double));
    few.normals = sp_pool_copy(&few.pool, (double[]){0, 0, 1, 0, 0, 1, 0, 0, 1}, 9, sizeof(double));
    few.U = sp_pool_new(&few.pool, 9, sizeof(double));
    few.dN = sp_pool_new(&few.pool, 9, sizeof(double));
    CHECK_OK(sp_pointshell_neighbours_new(&context, &few, 1, (int64_t[]){0}, 5, &near));
    CHECK(near.found[0] == 2, "%d", near.found[0]);
    for (int way = SP_NORMAL_CLOUD; way <= SP_NORMAL_NEIGHBOURS; way++) {
        CHECK_OK(sp_pointshell_normals(&context, &few, (enum sp_pointshell_normal)way, 1, (int64_t[]){0}, &near,
                                       (double[]){0}, normal));
        CHECK(normal[0] == 0 && normal[1] == 0 && normal[2] == 0, "way %d: %g %g %g", way, normal[0], normal[1],
              normal[2]);
    }
}
