/* Distance fields that follow a deformed mesh. */
#include "distance_models.h"

#include <float.h>

OWNER(sp_deformed_field)

/* The distance of a solid box, exact outside, on the surface and inside. */
static double block(const double x[3], const double low[3], const double high[3])
{
    double gap[3], deepest = -INFINITY;
    for (int k = 0; k < 3; k++) {
        const double d = fmax(low[k] - x[k], x[k] - high[k]);
        gap[k] = fmax(d, 0);
        deepest = fmax(deepest, d);
    }
    return deepest > 0 ? length3(gap) : deepest;
}

/* ---- deformed grids ---- */

enum { AFFINE = 12 };

/* Nine linear fields and three translations on a mesh. */
static void affine_basis(const sp_mesh *mesh, double *U)
{
    for (int j = 0; j < AFFINE; j++)
        for (int64_t i = 0; i < 3 * mesh->vertex_count; i++)
            U[3 * mesh->vertex_count * j + i] = i % 3 != j / 4 ? 0 : j % 4 < 3 ? mesh->vertices[i / 3 * 3 + j % 4] : 1;
}

static void affine_place(const double *q, const double X[3], double x[3])
{
    for (int i = 0; i < 3; i++)
        x[i] = X[i] + q[4 * i] * X[0] + q[4 * i + 1] * X[1] + q[4 * i + 2] * X[2] + q[4 * i + 3];
}

/* x ↦ R(x − c) + c about (0.3, 0.1, −0.4). */
static void rotation(double angle, double R[3][3], double *q)
{
    const double axis[3] = {2.0 / 7, 3.0 / 7, -6.0 / 7}, c[3] = {0.3, 0.1, -0.4};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            const int other = 3 - i - k;
            const double cross = i == k ? 0 : (k == (i + 1) % 3 ? -1 : 1) * axis[other];
            R[i][k] = (i == k) * cos(angle) + (1 - cos(angle)) * axis[i] * axis[k] + sin(angle) * cross;
        }
    for (int i = 0; i < 3; i++) {
        q[4 * i + 3] = c[i];
        for (int k = 0; k < 3; k++) {
            q[4 * i + k] = R[i][k] - (i == k);
            q[4 * i + 3] -= R[i][k] * c[k];
        }
    }
}

/* Six elements a side over [−1.5, 1.5]³, or skew ones. */
static sp_mesh cube_mesh(double distort)
{
    sp_mesh mesh;
    make_box(6, 6, 6, 0.5, distort, &mesh);
    for (int64_t i = 0; i < 3 * mesh.vertex_count; i++)
        mesh.vertices[i] -= 1.5;
    return mesh;
}

static sp_deformed_field *deformed_of(const sp_mesh *mesh, int64_t r, const double *U, const sp_field *field,
                                      int64_t count, const double *points, int nearest)
{
    sp_deformed_field *d = NULL;
    const sp_deformed_domain domain = {field, count, points};
    CHECK_OK(sp_deformed_field_new(&context, mesh, r, U, 1, &domain, nearest, &d));
    return d;
}

/* At q = 0 and for every affine motion all proxies map a point back to the same place. */
TEST(affine_motions_are_exact)
{
    enum { PROXIES = 40, COUNT = 2000 };
    OWNED(sp_mesh) mesh = cube_mesh(0.2);
    OWNED(sp_field) field = field_of(ring, 30, 28, 26, -1.5, -1.4, -1.3, 0.1);
    sp_distance rest;
    sp_distance_of_field(&field, &rest);
    double *U = test_new(3 * mesh.vertex_count * AFFINE, sizeof *U), points[3 * PROXIES], q[AFFINE];
    affine_basis(&mesh, U);
    for (int i = 0; i < PROXIES; i++)
        random_point(30, i, i % 4 ? -1.4 : -2.2, i % 4 ? 1.4 : 2.2, points + 3 * i); /* some points are in no element */
    static const int nearest[4] = {1, 2, 5, SP_DEFORMED_NEAREST};
    for (int n = 0; n < 4; n++) {
        OWNED_POINTER(sp_deformed_field) *d = deformed_of(&mesh, AFFINE, U, &field, PROXIES, points, nearest[n]);
        for (int motion = 0; motion < 7; motion++) {
            double R[3][3], worst = 0, turned = 0;
            for (int j = 0; j < AFFINE; j++)
                q[j] = motion ? random_in(31, (uint64_t)(AFFINE * motion + j), -0.4, 0.4) : 0;
            if (motion > 3)
                rotation(0.9 * motion, R, q);
            if (motion > 0) /* otherwise as it was made */
                sp_deformed_field_update(d, q);
            for (int i = 0; i < COUNT; i++) {
                double X[3], x[3], gradient[3], slope[3];
                random_point(32, i, -2, 2, X);
                affine_place(q, X, x);
                const double value = sp_deformed_field_at(d, x, gradient, NULL);
                worst = fmax(worst, fabs(value - sp_distance_at(&rest, X, slope)));
                for (int k = 0; k < 3 && motion > 3; k++)
                    turned =
                        fmax(turned, fabs(gradient[k] - R[k][0] * slope[0] - R[k][1] * slope[1] - R[k][2] * slope[2]));
            }
            /* 1e-15 of positions, times |F⁻¹| and |∇d|, both below 10 */
            CHECK(worst < 1e-12, "k = %d, motion %d: %g", nearest[n], motion, worst);
            CHECK(turned < 1e-10, "k = %d, motion %d: %g", nearest[n], motion, turned);
        }
    }
    /* of a rotated ball about c, the true distance */
    OWNED(sp_field) round = field_of(ball, 30, 30, 30, -1.5, -1.5, -1.5, 0.1);
    OWNED_POINTER(sp_deformed_field) *d = deformed_of(&mesh, AFFINE, U, &round, PROXIES, points, 5);
    double R[3][3], centre[3], worst = 0;
    rotation(2, R, q);
    sp_deformed_field_update(d, q);
    affine_place(q, (double[3]){0, 0, 0}, centre);
    for (int i = 0; i < COUNT; i++) {
        double X[3], x[3];
        random_point(33, i, -1.4, 1.4, X);
        affine_place(q, X, x);
        worst = fmax(worst, fabs(sp_deformed_field_at(d, x, NULL, NULL) - (apart(x, centre) - 0.8)));
    }
    CHECK(worst < 0.5 * sqrt(3) * 0.1 + 1e-6, "%g", worst);
    CHECK(apart(centre, (double[3]){0, 0, 0}) > 0.3, "%g", centre[0]);
}

/* Displacement and its gradient at a point of cube_mesh(0) for coordinates q, by weights (1 − s)(1 − t)(1 − u), …: [4,
 * 3]. */
static void cube_motion(const sp_mesh *mesh, int64_t r, const double *U, const double *q, const double X[3],
                        double u[12])
{
    int64_t cell[3];
    double t[3];
    memset(u, 0, 12 * sizeof *u);
    for (int k = 0; k < 3; k++) {
        cell[k] = (int64_t)floor((X[k] + 1.5) / 0.5);
        t[k] = (X[k] + 1.5) / 0.5 - (double)cell[k];
    }
    for (int c = 0; c < 8; c++) {
        const int64_t v = ((cell[2] + (c >> 2)) * 7 + cell[1] + (c >> 1 & 1)) * 7 + cell[0] + (c & 1);
        double factor[3], weight[4];
        for (int k = 0; k < 3; k++)
            factor[k] = c >> k & 1 ? t[k] : 1 - t[k];
        weight[0] = factor[0] * factor[1] * factor[2];
        for (int k = 0; k < 3; k++)
            weight[k + 1] = (c >> k & 1 ? 2 : -2) * factor[(k + 1) % 3] * factor[(k + 2) % 3];
        for (int64_t j = 0; j < r; j++)
            for (int w = 0; w < 4; w++)
                for (int i = 0; i < 3; i++)
                    u[3 * w + i] += weight[w] * U[3 * mesh->vertex_count * j + 3 * v + i] * q[j];
    }
}

/* Eq. 3.17: the distance of x by one proxy, and the distance of that proxy. */
static double one_says(const sp_mesh *mesh, int64_t r, const double *U, const double *q, const sp_field *field,
                       const double P[3], const double x[3], double *far)
{
    double u[12], F[9], offset[3], X[3];
    cube_motion(mesh, r, U, q, P, u);
    for (int a = 0; a < 3; a++) {
        offset[a] = x[a] - P[a] - u[a];
        for (int b = 0; b < 3; b++)
            F[3 * a + b] = (a == b) + u[3 * (b + 1) + a];
    }
    /* Cramer's rule */
    const double det =
        F[0] * (F[4] * F[8] - F[5] * F[7]) - F[1] * (F[3] * F[8] - F[5] * F[6]) + F[2] * (F[3] * F[7] - F[4] * F[6]);
    for (int a = 0; a < 3; a++) {
        double G[9];
        memcpy(G, F, sizeof G);
        for (int b = 0; b < 3; b++)
            G[3 * b + a] = offset[b];
        X[a] = P[a] + (G[0] * (G[4] * G[8] - G[5] * G[7]) - G[1] * (G[3] * G[8] - G[5] * G[6]) +
                       G[2] * (G[3] * G[7] - G[4] * G[6])) /
                          det;
    }
    *far = length3(offset);
    return sp_field_interpolate(field, X, NULL);
}

typedef struct literal {
    double value;
    int64_t nearest, set; /* set: a number for the k nearest */
} literal;

/* Eq. 3.16 as printed. */
static literal by_hand(const sp_mesh *mesh, int64_t r, const double *U, const double *q, const sp_field *field,
                       int count, const double *points, int k, const double x[3])
{
    double distance[64], d[64], total = 0;
    int order[64];
    literal found = {0};
    for (int i = 0; i < count; i++) {
        d[i] = one_says(mesh, r, U, q, field, points + 3 * i, x, &distance[i]);
        int to = i;
        for (; to > 0 && distance[order[to - 1]] > distance[i]; to--)
            order[to] = order[to - 1];
        order[to] = i;
    }
    const double most = 1 / distance[order[k - 1]];
    for (int i = 0; i < k; i++) {
        const double w = (1 / distance[order[i]] - most) / (1 / distance[order[0]] - most);
        found.value += w * d[order[i]];
        total += w;
        found.set |= (int64_t)1 << order[i];
    }
    found.value /= total;
    found.nearest = order[0];
    return found;
}

typedef struct bent {
    sp_mesh mesh;
    sp_field field;
    double *U, q[6], points[3 * 40];
} bent;

/* A randomly bent body with 40 proxies, in a box that is large enough for all positions. */
static bent bent_body(void)
{
    bent b = {.mesh = cube_mesh(0), .field = field_of(ring, 60, 60, 60, -6, -6, -6, 0.2)};
    b.U = test_new(3 * b.mesh.vertex_count * 6, sizeof *b.U);
    /* smooth: quadratic in the position */
    for (int64_t i = 0; i < 3 * b.mesh.vertex_count; i++)
        for (int j = 0; j < 6; j++) {
            const double *X = b.mesh.vertices + i / 3 * 3,
                         *c = (double[3]){random_in(40, (uint64_t)(9 * j + i % 3), -1, 1),
                                          random_in(41, (uint64_t)(9 * j + i % 3), -1, 1),
                                          random_in(42, (uint64_t)(9 * j + i % 3), -1, 1)};
            b.U[3 * b.mesh.vertex_count * j + i] = c[0] * X[j % 3] * X[(j + 1) % 3] + c[1] * X[j % 3] + c[2];
        }
    for (int j = 0; j < 6; j++)
        b.q[j] = random_in(43, (uint64_t)j, -0.25, 0.25);
    for (int i = 0; i < 40; i++) {
        const double u = random_in(44, (uint64_t)(2 * i), 0, 2 * PI),
                     v = random_in(44, (uint64_t)(2 * i + 1), 0, 2 * PI);
        b.points[3 * i] = (0.9 + 0.35 * cos(v)) * cos(u);
        b.points[3 * i + 1] = (0.9 + 0.35 * cos(v)) * sin(u);
        b.points[3 * i + 2] = 0.35 * sin(v);
    }
    return b;
}

static void bent_free(bent *b)
{
    sp_mesh_free(&b->mesh);
    sp_field_free(&b->field);
}

TEST(weights_and_places_by_hand)
{
    OWNED(bent) b = bent_body();
    static const int nearest[5] = {1, 2, 3, 5, 16};
    for (int n = 0; n < 5; n++) {
        OWNED_POINTER(sp_deformed_field) *d = deformed_of(&b.mesh, 6, b.U, &b.field, 40, b.points, nearest[n]);
        sp_deformed_field_update(d, b.q);
        double worst = 0;
        int64_t wrong = 0, proxy;
        for (int i = 0; i < 500; i++) {
            double x[3];
            random_point(45, i, -1.5, 1.5, x);
            /* k = 1 has no weights as printed: 0 / 0 */
            const literal two =
                by_hand(&b.mesh, 6, b.U, b.q, &b.field, 40, b.points, nearest[n] > 1 ? nearest[n] : 2, x);
            worst = fmax(worst, fabs(sp_deformed_field_at(d, x, NULL, &proxy) -
                                     two.value)); /* of two all weight is on the nearer one */
            wrong += proxy != two.nearest;
        }
        CHECK(worst < 1e-12, "k = %d: %g", nearest[n], worst);
        CHECK(wrong == 0, "k = %d: %lld nearest", nearest[n], (long long)wrong);
    }
    /* two domains: the smaller distance and its domain; rows and displacement bound of each proxy */
    const sp_deformed_domain domains[2] = {{&b.field, 25, b.points}, {&b.field, 15, b.points + 75}};
    OWNED_POINTER(sp_deformed_field) *d;
    CHECK_OK(sp_deformed_field_new(&context, &b.mesh, 6, b.U, 2, domains, 5, &d));
    sp_deformed_field_update(d, b.q);
    int64_t counted[2] = {0};
    for (int i = 0; i < 500; i++) {
        double x[3];
        int64_t proxy;
        random_point(45, i, -1.5, 1.5, x);
        const literal one = by_hand(&b.mesh, 6, b.U, b.q, &b.field, 25, b.points, 5, x);
        const literal two = by_hand(&b.mesh, 6, b.U, b.q, &b.field, 15, b.points + 75, 5, x);
        CHECK_NEAR(sp_deformed_field_at(d, x, NULL, &proxy), fmin(one.value, two.value), 1e-12);
        CHECK(proxy == (one.value < two.value ? one.nearest : 25 + two.nearest), "%lld", (long long)proxy);
        counted[one.value < two.value]++;
    }
    CHECK(counted[0] > 50 && counted[1] > 50, "%lld %lld", (long long)counted[0], (long long)counted[1]);
    CHECK(sp_deformed_field_r(d) == 6, "%lld", (long long)sp_deformed_field_r(d));
    for (int j = 0; j < 6; j++) {
        double most = 0, one[6] = {0}, off = 0;
        one[j] = 1;
        for (int i = 0; i < 40; i++) {
            double u[12];
            cube_motion(&b.mesh, 6, b.U, one, b.points + 3 * i, u);
            most = fmax(most, length3(u));
            for (int k = 0; k < 3; k++)
                off = fmax(off, fabs(sp_deformed_field_rows(d, i)[6 * k + j] - u[k]));
        }
        CHECK(off < 1e-13, "mode %d: %g", j, off);
        CHECK_NEAR(sp_deformed_field_reach(d)[j], most, 1e-13);
    }
}

/* The largest change from step to step along six lines in x or q, and how often the k nearest change there. */
static double largest_change(const bent *b, sp_deformed_field *d, int k, bool in_q, int steps, int64_t *changes)
{
    double most = 0;
    for (int line = 0; line < 6; line++) {
        double from[3], to[3], start[6], end[6], before = 0;
        int64_t set = 0;
        random_point(46, 2 * line, -1.2, 1.2, from);
        random_point(46, 2 * line + 1, -1.2, 1.2, to);
        for (int j = 0; j < 6; j++) {
            start[j] = random_in(47, (uint64_t)(6 * line + j), -0.25, 0.25);
            end[j] = random_in(48, (uint64_t)(6 * line + j), -0.25, 0.25);
        }
        for (int i = 0; i <= steps; i++) {
            const double s = (double)i / steps;
            double x[3], q[6];
            for (int c = 0; c < 3; c++)
                x[c] = from[c] + (in_q ? 0.3 : s) * (to[c] - from[c]);
            for (int j = 0; j < 6; j++)
                q[j] = start[j] + (in_q ? s : 0) * (end[j] - start[j]);
            sp_deformed_field_update(d, q);
            const double value = sp_deformed_field_at(d, x, NULL, NULL);
            most = i > 0 ? fmax(most, fabs(value - before)) : most;
            before = value;
            if (!changes)
                continue;
            const literal l = by_hand(&b->mesh, 6, b->U, q, &b->field, 40, b->points, k, x);
            *changes += i > 0 && l.set != set;
            set = l.set;
        }
    }
    return most;
}

/* With a 16th of the step the changes are a 16th; the jumps of k = 1 remain. */
TEST(continuous_in_place_and_deformation)
{
    OWNED(bent) b = bent_body();
    static const int nearest[3] = {1, 5, 8};
    for (int n = 0; n < 3; n++) {
        const int k = nearest[n];
        OWNED_POINTER(sp_deformed_field) *d = deformed_of(&b.mesh, 6, b.U, &b.field, 40, b.points, k);
        for (int in_q = 0; in_q < 2; in_q++) {
            int64_t changes = 0;
            const double coarse = largest_change(&b, d, k, in_q, 1000, &changes),
                         fine = largest_change(&b, d, k, in_q, 16000, NULL);
            CHECK(changes >= (in_q ? 3 : 15), "k = %d: %lld changes", k, (long long)changes);
            CHECK(k == 1 ? fine > coarse / 2 : fine < coarse / 12, "k = %d: %g, then %g", k, coarse, fine);
            NOTE("k = %d along %s: %lld changes of the nearest, by %.1e, then %.1e", k, in_q ? "q" : "x",
                 (long long)changes, coarse, fine);
        }
    }
}

TEST(borders_of_the_weights)
{
    OWNED(bent) b = bent_body();
    sp_distance rest;
    sp_distance_of_field(&b.field, &rest);
    /* at a proxy only that proxy counts, and nearby nearly so */
    sp_deformed_field *d = deformed_of(&b.mesh, 6, b.U, &b.field, 40, b.points, 5);
    sp_deformed_field_update(d, b.q);
    for (int i = 0; i < 40; i++) {
        double p[3], u[12];
        int64_t proxy;
        cube_motion(&b.mesh, 6, b.U, b.q, b.points + 3 * i, u);
        for (int k = 0; k < 3; k++)
            p[k] = b.points[3 * i + k] + u[k];
        const double here = sp_deformed_field_at(d, p, NULL, &proxy);
        CHECK_NEAR(here, sp_distance_at(&rest, b.points + 3 * i, NULL), 1e-12);
        CHECK(proxy == i, "%lld", (long long)proxy);
        for (double size = 1e-3; size > 1e-15; size *= 1e-3) {
            const double x[3] = {p[0] + size, p[1] - size, p[2]};
            CHECK_NEAR(sp_deformed_field_at(d, x, NULL, NULL), here, 50 * size + 1e-12);
        }
    }
    sp_deformed_field_free(d);
    /* exactly at the proxy, at rest */
    double eight[24];
    for (int i = 0; i < 24; i++)
        eight[i] = i / 3 >> i % 3 & 1 ? 0.5 : -0.5;
    d = deformed_of(&b.mesh, 6, b.U, &b.field, 8, eight, 8);
    CHECK_NEAR(sp_deformed_field_at(d, eight + 9, NULL, NULL), sp_distance_at(&rest, eight + 9, NULL), 1e-15);
    sp_deformed_field_free(d);
    /* equally near proxies have equal weights: u = (x|x|, 0, 0) keeps the mirror images of the eight */
    double *U = test_new(3 * b.mesh.vertex_count, sizeof *U), mean = 0, far;
    const double one = 1, centre[3] = {0, 0, 0};
    for (int64_t v = 0; v < b.mesh.vertex_count; v++)
        U[3 * v] = b.mesh.vertices[3 * v] * fabs(b.mesh.vertices[3 * v]);
    d = deformed_of(&b.mesh, 1, U, &b.field, 8, eight, 8);
    sp_deformed_field_update(d, &one);
    for (int i = 0; i < 8; i++)
        mean += one_says(&b.mesh, 1, U, &one, &b.field, eight + 3 * i, centre, &far) / 8;
    CHECK_NEAR(sp_deformed_field_at(d, centre, NULL, NULL), mean, 1e-12);
    sp_deformed_field_free(d);
    /* fewer than k: the others are infinitely far, 1/d_max = 0; without jumps */
    for (int count = 1; count <= 3; count++) {
        double before = 0, coarse = 0, fine = 0, worst = 0;
        d = deformed_of(&b.mesh, 6, b.U, &b.field, count, b.points, 5);
        sp_deformed_field_update(d, b.q);
        for (int pass = 0; pass < 2; pass++)
            for (int i = 0, steps = pass ? 32000 : 2000; i <= steps; i++) {
                const double s = (double)i / steps, x[3] = {-1.3 + 2.5 * s, -0.7 + 1.6 * s, 0.4 - 0.9 * s};
                const double value = sp_deformed_field_at(d, x, NULL, NULL);
                double sum = 0, total = 0;
                for (int p = 0; p < count && !pass; p++) {
                    const double says = one_says(&b.mesh, 6, b.U, b.q, &b.field, b.points + 3 * p, x, &far);
                    sum += says / far;
                    total += 1 / far;
                }
                worst = pass ? worst : fmax(worst, fabs(value - sum / total));
                double *most = pass ? &fine : &coarse;
                *most = i > 0 ? fmax(*most, fabs(value - before)) : *most;
                before = value;
            }
        CHECK(worst < 1e-12, "%d proxies: %g", count, worst);
        CHECK(fine < coarse / 12, "%d proxies: %g, then %g", count, coarse, fine);
        sp_deformed_field_free(d);
    }
}

/* A single proxy, in one cell of a field of random values: central differences with their slope. */
TEST(gradient_of_one_proxy)
{
    OWNED(bent) b = bent_body();
    OWNED(sp_field) field = field_of(noise, 60, 60, 60, -6, -6, -6, 0.2);
    double F[3][3], u[12], error[2] = {0};
    const double *P = b.points;
    OWNED_POINTER(sp_deformed_field) *d = deformed_of(&b.mesh, 6, b.U, &field, 1, P, 5);
    sp_deformed_field_update(d, b.q);
    cube_motion(&b.mesh, 6, b.U, b.q, P, u);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            F[i][k] = (i == k) + u[3 * (k + 1) + i];
    for (int i = 0; i < 500; i++) {
        double X[3], x[3], gradient[3];
        for (int k = 0; k < 3; k++) /* near the middle of a cell */
            X[k] = -6 + 0.2 * (floor(random_in(50, (uint64_t)(3 * i + k), 20, 40)) +
                               random_in(51, (uint64_t)(3 * i + k), 0.4, 0.6));
        for (int k = 0; k < 3; k++)
            x[k] = P[k] + u[k] + F[k][0] * (X[0] - P[0]) + F[k][1] * (X[1] - P[1]) + F[k][2] * (X[2] - P[2]);
        sp_deformed_field_at(d, x, gradient, NULL);
        for (int step = 0; step < 2; step++)
            for (int k = 0; k < 3; k++) {
                const double h = step ? 0.01 : 0.02;
                double up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
                up[k] += h;
                down[k] -= h;
                const double slope =
                    (sp_deformed_field_at(d, up, NULL, NULL) - sp_deformed_field_at(d, down, NULL, NULL)) / (2 * h);
                error[step] = fmax(error[step], fabs(slope - gradient[k]));
            }
    }
    CHECK(error[1] > 1e-6 && fabs(error[0] / error[1] - 4) < 1e-3, "%g, then %g", error[0],
          error[1]); /* a cubic: exactly h² */
}

TEST(proxies_of_no_use)
{
    OWNED(bent) b = bent_body();
    /* inverted for x > ½: u = −3 (x − ½) there, with a kink at vertices */
    double *U = test_new(3 * b.mesh.vertex_count, sizeof *U), kept[3 * 40], x[3], gradient[3];
    int count = 0;
    int64_t proxy;
    for (int64_t v = 0; v < b.mesh.vertex_count; v++)
        U[3 * v] = -fmax(0, b.mesh.vertices[3 * v] - 0.5);
    for (int i = 0; i < 40; i++)
        if (b.points[3 * i] < 0.5)
            memcpy(kept + 3 * count++, b.points + 3 * i, sizeof x);
    CHECK(count > 10 && count < 36, "%d", count);
    sp_deformed_field *all = deformed_of(&b.mesh, 1, U, &b.field, 40, b.points, 5);
    OWNED_POINTER(sp_deformed_field) *few = deformed_of(&b.mesh, 1, U, &b.field, count, kept, 5);
    for (int i = 0; i < 3; i++) { /* det F = −2, 0, 5e-7; afterwards all proxies are valid again */
        const double q[3] = {3, 1, 1 - 5e-7}, none = 0;
        sp_deformed_field_update(all, &q[i]);
        sp_deformed_field_update(few, &q[i]);
        random_point(52, i, -1, 1, x);
        CHECK(sp_deformed_field_at(all, x, NULL, NULL) == sp_deformed_field_at(few, x, NULL, NULL), "%d", i);
        sp_deformed_field_update(all, &none);
        sp_distance rest;
        sp_distance_of_field(&b.field, &rest);
        CHECK_NEAR(sp_deformed_field_at(all, b.points, NULL, NULL), sp_distance_at(&rest, b.points, NULL), 1e-14);
    }
    static const double poor[4] = {NAN, INFINITY, 1e200, -1e200};
    for (int i = 0; i < 4; i++) {
        OWNED_POINTER(sp_deformed_field) *broken = deformed_of(&b.mesh, 6, b.U, &b.field, 40, b.points, 5);
        const double q[6] = {poor[i], 0, 0, 0, 0, poor[i]};
        sp_deformed_field_update(broken, q);
        const double value = sp_deformed_field_at(broken, x, gradient, &proxy);
        CHECK(value == INFINITY && length3(gradient) == 0 && proxy == 0, "%g", value);
    }
    /* anywhere in the range of numbers, for a strongly bent body */
    for (int i = 0; i < 5; i++) {
        static const double extreme[5] = {1e300, -1e300, DBL_MAX, 1e160, 1e-320};
        const sp_distance d = {.kind = SP_DISTANCE_DEFORMED, .deformed = all};
        const double q = 0.999, at[3] = {extreme[i], -0.5 * extreme[i], 0.3};
        sp_deformed_field_update(all, &q);
        CHECK(isfinite(sp_distance_at(&d, at, gradient)) && isfinite(length3(gradient)), "%g", extreme[i]);
        CHECK(sp_distance_at(&d, (double[3]){NAN, 0, 0}, NULL) == INFINITY, "a place that is none");
        CHECK(isfinite(sp_deformed_field_at(all, (double[3]){NAN, 0, -INFINITY}, NULL, &proxy)), "no number");
        CHECK(proxy >= 0 && proxy < 40, "%lld", (long long)proxy);
    }
    sp_deformed_field_free(all);
    sp_deformed_field_free(NULL);
    /* refusals */
    sp_deformed_domain domains[2] = {{&b.field, 40, b.points}, {&b.field, 0, b.points}};
    CHECK(sp_deformed_field_new(&context, &b.mesh, 1, U, 1, domains, 0, &all) == SP_USAGE, "%s", context.message);
    CHECK(strstr(context.message, " 0 nearest"), "%s", context.message);
    CHECK(sp_deformed_field_new(&context, &b.mesh, 1, U, 1, domains, 17, &all) == SP_USAGE && !all, "%s",
          context.message);
    CHECK(sp_deformed_field_new(&context, &b.mesh, 1, U, 0, domains, 5, &all) == SP_USAGE, "%s", context.message);
    CHECK(sp_deformed_field_new(&context, &b.mesh, 1, U, 2, domains, 5, &all) == SP_USAGE, "%s", context.message);
    CHECK(strstr(context.message, "domain 1"), "%s", context.message);
    b.points[7] = NAN;
    CHECK(sp_deformed_field_new(&context, &b.mesh, 1, U, 1, domains, 5, &all) == SP_INPUT, "%s", context.message);
    CHECK(strstr(context.message, "proxy 2"), "%s", context.message);
}

static double left_half(const double x[3])
{
    return fmin(block(x, (double[3]){0, 0, 0}, (double[3]){1, 4, 1}),
                block(x, (double[3]){0, 0, 0}, (double[3]){1.5, 1, 1}));
}

static double right_half(const double x[3])
{
    return left_half((double[3]){3 - x[0], x[1], x[2]});
}

static double both_halves(const double x[3])
{
    return fmin(left_half(x), right_half(x));
}

/* §3.12.1: the legs of a U move apart. Between them the proxies of one leg still see the other leg at its old place. */
TEST(mirror_images_and_domains)
{
    OWNED(sp_mesh) mesh;
    make_box(3, 4, 1, 1, 0, &mesh);
    int64_t kept = 0;
    for (int64_t e = 0; e < mesh.block[SP_HEX8].count; e++)
        if (e % 3 != 1 || e / 3 == 0)
            memmove(mesh.block[SP_HEX8].node + 8 * kept++, mesh.block[SP_HEX8].node + 8 * e, 8 * sizeof(int64_t));
    mesh.block[SP_HEX8].count = kept;
    double *U = test_new(3 * mesh.vertex_count, sizeof *U), points[3 * 40];
    for (int64_t v = 0; v < mesh.vertex_count; v++) /* the legs are translated, the base is stretched */
        U[3 * v] = mesh.vertices[3 * v] < 1.5 ? -1 : 1;
    for (int i = 0; i < 40; i++) /* five heights, four corners of each leg */
        for (int k = 0; k < 3; k++)
            points[3 * i + k] = k == 1 ? 0.3 + 0.85 * (i % 20 / 4) : (k ? i / 2 % 2 : (i < 20 ? 0 : 2) + i % 2);
    OWNED(sp_field) whole = field_of(both_halves, 56, 72, 40, -2, -2, -2, 0.125),
                    left = field_of(left_half, 56, 72, 40, -2, -2, -2, 0.125),
                    right = field_of(right_half, 56, 72, 40, -2, -2, -2, 0.125);
    OWNED_POINTER(sp_deformed_field) *one = deformed_of(&mesh, 1, U, &whole, 40, points, 5), *two;
    const sp_deformed_domain domains[2] = {{&left, 20, points}, {&right, 20, points + 60}};
    CHECK_OK(sp_deformed_field_new(&context, &mesh, 1, U, 2, domains, 5, &two));
    const double q = 0.9; /* legs at x in [−0.9, 0.1] and [2.9, 3.9] */
    sp_deformed_field_update(one, &q);
    sp_deformed_field_update(two, &q);
    double worst = 0, spurious = 0, at_rest = 0;
    int64_t mirrored = 0;
    for (int i = 0; i <= 400; i++) {
        const double x[3] = {-0.4 + 3.8 * i / 400, 3, 0.5};
        const double from_left = block(x, (double[3]){-0.9, 0, 0}, (double[3]){0.1, 4, 1});
        const double expected = fmin(from_left, block(x, (double[3]){2.9, 0, 0}, (double[3]){3.9, 4, 1}));
        const double value = sp_deformed_field_at(one, x, NULL, NULL);
        worst = fmax(worst, fabs(sp_deformed_field_at(two, x, NULL, NULL) - expected));
        mirrored += expected > 0.1 && value < 0;
        spurious = fmin(spurious, expected > 0.1 ? value : 0);
    }
    CHECK(worst < 0.5 * sqrt(3) * 0.125, "%g", worst);
    CHECK(mirrored > 20, "%lld", (long long)mirrored);
    /* a leg that is no longer there, up to half of its width deep */
    CHECK(spurious < -0.1 && spurious > -0.51, "%g", spurious);
    NOTE("one domain: %lld of 401 places within a mirror image, down to %.2f m; two: off by %.1e m",
         (long long)mirrored, spurious, worst);
    sp_deformed_field_update(one, NULL);
    sp_deformed_field_update(two, NULL);
    for (int i = 0; i <= 400; i++) {
        const double x[3] = {-1 + 5.0 * i / 400, 3, 0.5};
        at_rest =
            fmax(at_rest, fabs(sp_deformed_field_at(two, x, NULL, NULL) - sp_deformed_field_at(one, x, NULL, NULL)));
    }
    CHECK(at_rest < 1e-6, "%g", at_rest);
}
