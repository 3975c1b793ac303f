/* ConJac: steps against dense algebra, the Jacobian, refusals, choices of dynamic vertices. */
#include "conjac_models.h"
#include "integrate/integrate.h"

#include <cblas.h>

/* ---- dense algebra of the test: A [m, k] B [k, n], with transposes ---- */

static void times(bool transposed, int64_t m, int64_t n, int64_t k, double alpha, const double *A, const double *B,
                  double beta, double *C)
{
    const int64_t height = k > 1 ? k : 1;
    if (m > 0 && n > 0)
        cblas_dgemm(CblasColMajor, transposed ? CblasTrans : CblasNoTrans, CblasNoTrans, (int)m, (int)n, (int)k, alpha,
                    A, (int)(transposed ? height : m), B, (int)height, beta, C, (int)m);
}

/* B ← A⁻¹ B. */
static void solve(int64_t n, const double *A, int64_t count, double *B)
{
    double *copy = numbers(n * n);
    lapack_int *pivot = calloc((size_t)n + 1, sizeof *pivot);
    memcpy(copy, A, (size_t)(n * n) * 8);
    if (n > 0 && count > 0)
        CHECK(LAPACKE_dgesv(LAPACK_COL_MAJOR, (int)n, (int)count, copy, (int)n, pivot, B, (int)n) == 0, "singular");
    free(copy);
    free(pivot);
}

/* Matrices over all vertices by products with unit vectors, supports over the free components. */
typedef struct dense {
    int64_t n, rows, d;
    double *K, *M; /* [rows, rows] elastic, mass */
    double *D, *P; /* [n, n] strain-rate damping, supports */
    bool *dynamic; /* [n] */
} dense;

static void measure(const fixture *b, const sp_system *system, const sp_supports *supports, const double *q,
                    int64_t count, const int64_t *vertex, dense *a)
{
    const int64_t n = b->n, rows = b->rows;
    double *e = numbers(rows), *zero = numbers(n), *base = numbers(n);
    *a = (dense){.n = n,
                 .rows = rows,
                 .K = numbers(rows * rows),
                 .M = numbers(rows * rows),
                 .D = numbers(n * n),
                 .P = numbers(n * n),
                 .dynamic = test_new(n, 1)};
    for (int64_t j = 0; j < rows; j++) {
        e[j] = 1;
        system->vertices.stiffness_times(system->self, q, e, a->K + rows * j);
        system->vertices.inertia_times(system->self, e, a->M + rows * j);
        e[j] = 0;
    }
    if (system->viscous_times)
        system->viscous_times(system->self, q, zero, base);
    for (int64_t j = 0; j < n && system->viscous_times; j++) {
        e[j] = 1;
        system->viscous_times(system->self, q, e, a->D + n * j);
        for (int64_t i = 0; i < n; i++)
            a->D[n * j + i] -= base[i];
        e[j] = 0;
    }
    OWNED(sp_sparse) matrix;
    CHECK_OK(sp_fe_space_matrix(&context, &b->body, &matrix));
    double *u = numbers(rows);
    sp_fe_space_scatter(&b->body, q, u);
    if (supports)
        sp_supports_stiffness(supports, u, 1, &matrix);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = matrix.start[i]; k < matrix.start[i + 1]; k++)
            a->P[n * matrix.index[k] + i] = matrix.value[k];
    for (int64_t k = 0; k < count; k++)
        for (int c = 0; c < 3; c++)
            if (b->body.dof[3 * vertex[k] + c] >= 0)
                a->dynamic[b->body.dof[3 * vertex[k] + c]] = true;
    for (int64_t i = 0; i < n; i++)
        a->d += a->dynamic[i];
    free(u);
    free(e);
    free(zero);
    free(base);
}

static void forget(dense *a)
{
    free(a->K);
    free(a->M);
    free(a->D);
    free(a->P);
}

/* Free-free part of a matrix over all components. */
static double *free_part(const fixture *b, const double *A)
{
    double *F = numbers(b->n * b->n);
    for (int64_t j = 0; j < b->n; j++)
        for (int64_t i = 0; i < b->n; i++)
            F[b->n * j + i] = A[b->rows * b->body.free[j] + b->body.free[i]];
    return F;
}

/* X [n, count]: 0 in dynamic rows, −K_ss⁻¹ B_s in the others, K = elastic + supports. */
static double *quasistatic(const fixture *b, const dense *a, int64_t count, const double *B)
{
    const int64_t n = b->n, s = n - a->d;
    double *K = free_part(b, a->K), *Kss = numbers(s * s), *Bs = numbers(s * count), *X = numbers(n * count);
    int64_t *at = calloc((size_t)s + 1, sizeof *at), k = 0;
    for (int64_t i = 0; i < n; i++)
        if (!a->dynamic[i])
            at[k++] = i;
    for (int64_t j = 0; j < s; j++)
        for (int64_t i = 0; i < s; i++)
            Kss[s * j + i] = K[n * at[j] + at[i]] + a->P[n * at[j] + at[i]];
    for (int64_t c = 0; c < count; c++)
        for (int64_t i = 0; i < s; i++)
            Bs[s * c + i] = -B[n * c + at[i]];
    solve(s, Kss, count, Bs);
    for (int64_t c = 0; c < count; c++)
        for (int64_t i = 0; i < s; i++)
            X[n * c + at[i]] = Bs[s * c + i];
    free(K);
    free(Kss);
    free(Bs);
    free(at);
    return X;
}

/* J [n, d]. */
static double *mapping(const fixture *b, const dense *a)
{
    const int64_t n = b->n;
    double *K = free_part(b, a->K), *B = numbers(n * a->d), *J;
    int64_t k = 0;
    for (int64_t j = 0; j < n; j++)
        if (a->dynamic[j]) {
            for (int64_t i = 0; i < n; i++)
                B[n * k + i] = K[n * j + i] + a->P[n * j + i];
            k++;
        }
    J = quasistatic(b, a, a->d, B);
    k = 0;
    for (int64_t j = 0; j < n; j++)
        if (a->dynamic[j])
            J[n * k++ + j] = 1;
    free(K);
    free(B);
    return J;
}

/* S = (1 + h α) M + h (β_R K + D) + β h² (K + P) over the free components. */
static double *operator_of(const fixture *b, const dense *a, const sp_velocity_step *p)
{
    double *S = free_part(b, a->K), *M = free_part(b, a->M);
    for (int64_t i = 0; i < b->n * b->n; i++)
        S[i] = (1 + p->step * p->damping_mass) * M[i] + p->step * (p->damping_stiffness * S[i] + a->D[i]) +
               p->beta * p->step * p->step * (S[i] + a->P[i]);
    free(M);
    return S;
}

/* The step of the header's comment, densely. prescribed_v [rows]: 0 at free components. */
static void reference(const fixture *b, const sp_system *system, const dense *a, const sp_velocity_step *p,
                      const double *prescribed_v, double gamma, double *velocity, double *shift, double *rate)
{
    const int64_t n = b->n, rows = b->rows, d = a->d, m = p->joints ? p->joints->count : 0, z = d + m;
    const double h = p->step, mass = 1 + h * p->damping_mass, stiff = h * p->damping_stiffness + p->beta * h * h;
    double *J = mapping(b, a), *S = operator_of(b, a, p), *f = numbers(n), *g = numbers(n), *Kc = numbers(rows * m),
           *Mc = numbers(rows * m), *Kf = numbers(n * m), *Zf = numbers(n * z);
    double *Kv = numbers(rows), *zero = numbers(n), *Dv = numbers(n), *held_f = numbers(m), *all = numbers(rows),
           *p_f = numbers(n), *SZ = numbers(n * z);
    double *R = numbers(z * z), *right = numbers(z);
    system->force(system->self, p->q, f);
    times(false, rows, 1, rows, 1, a->K, prescribed_v, 0, Kv);
    if (system->viscous_times)
        system->viscous_times(system->self, p->q, zero, Dv);
    for (int64_t i = 0; i < n; i++)
        g[i] = Kv[b->body.free[i]];
    double *w = quasistatic(b, a, 1, g);
    if (m) {
        times(false, rows, m, rows, 1, a->K, p->joints->columns, 0, Kc);
        times(false, rows, m, rows, 1, a->M, p->joints->columns, 0, Mc);
    }
    for (int64_t j = 0; j < m; j++) {
        for (int64_t i = 0; i < n; i++)
            Kf[n * j + i] = Kc[rows * j + b->body.free[i]];
        held_f[j] = system->vertices.prescribed_work(system->self, p->q, p->joints->columns + rows * j);
    }
    double *X = quasistatic(b, a, m, Kf);
    memcpy(Zf, J, (size_t)(n * d) * 8);
    memcpy(Zf + n * d, X, (size_t)(n * m) * 8);
    times(false, n, z, n, 1, S, Zf, 0, SZ);
    times(true, z, z, n, 1, Zf, SZ, 0, R);
    for (int64_t j = 0; j < m; j++) { /* S_fc and S_cc */
        double *Sc = numbers(n);
        for (int64_t i = 0; i < n; i++)
            Sc[i] = mass * Mc[rows * j + b->body.free[i]] + stiff * Kc[rows * j + b->body.free[i]];
        for (int64_t k = 0; k < z; k++) {
            const double part = sp_dense_dot(n, Zf + n * k, Sc);
            R[z * (d + j) + k] += part;
            R[z * k + d + j] += part;
        }
        for (int64_t i = 0; i < m; i++)
            R[z * (d + j) + d + i] += p->joints->matrix[m * j + i] +
                                      mass * sp_dense_dot(rows, p->joints->columns + rows * i, Mc + rows * j) +
                                      stiff * sp_dense_dot(rows, p->joints->columns + rows * i, Kc + rows * j);
        free(Sc);
    }
    sp_fe_space_scatter(&b->body, p->v, all);
    for (int64_t i = 0; i < rows && m > 0; i++)
        all[i] += p->joints->arriving[i];
    double *momentum = numbers(rows), *Sw = numbers(n);
    times(false, rows, 1, rows, 1, a->M, all, 0, momentum);
    times(false, n, 1, n, 1, S, w, 0, Sw);
    for (int64_t i = 0; i < n; i++)
        p_f[i] = momentum[b->body.free[i]] + h * (p->external[i] - f[i]) - stiff * g[i] - h * Dv[i] - Sw[i];
    times(true, z, 1, n, 1, Zf, p_f, 0, right);
    for (int64_t j = 0; j < m; j++) {
        right[d + j] +=
            p->joints->right[j] + sp_dense_dot(rows, p->joints->columns + rows * j, momentum) - h * held_f[j];
        for (int64_t i = 0; i < n; i++)
            right[d + j] -= (mass * Mc[rows * j + b->body.free[i]] + stiff * Kc[rows * j + b->body.free[i]]) * w[i];
    }
    solve(z, R, 1, right);
    memcpy(velocity, w, (size_t)n * 8);
    times(false, n, 1, z, z > 0, Zf, right, 1, velocity);
    for (int64_t j = 0; j < m; j++)
        rate[j] = right[d + j];
    for (int64_t i = 0; i < n; i++)
        p_f[i] = f[i] - p->external[i];
    double *b_s = quasistatic(b, a, 1, p_f);
    for (int64_t i = 0; i < n; i++)
        shift[i] = gamma * b_s[i];
    double *owned[] = {J,      S,   f,   g,  Kc, Mc,    Kf, Zf, Kv,       zero, Dv,
                       held_f, all, p_f, SZ, R,  right, w,  X,  momentum, Sw,   b_s};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
}

/* All together: every kind of damping, springs, an inclined ground plane, prescribed vertices, and a joint about which
 * others rotate. */
TEST(step_is_the_dense_one)
{
    for (int kind = 0; kind < 6; kind++) {
        const bool joint = kind == 1 || kind >= 4, rich = kind >= 2, lumped = kind == 3;
        const int64_t vertex[2] = {9, 26}, count = kind == 5 ? 0 : 2;
        fixture b;
        make(3, kind == 2, BOTH_ENDS, gum(), &b);
        CHECK_OK(sp_full_system_new(&context, &b.body, false, lumped, NULL, &b.full));
        sp_ground ground = {.normal = {0.1, 0, 0.995}, .offset = 0.03, .stiffness = 300, .alpha = 0.2, .friction = 0.4};
        if (rich) {
            CHECK_OK(sp_viscous_new(&context, &b.body, &(sp_viscosity){30, 20}, &b.viscous));
            CHECK_OK(sp_full_system_damp(&b.full, &b.viscous));
            CHECK_OK(sp_full_system_grounds(&b.full, 1, &ground));
        }
        CHECK_OK(sp_conjac_system_new(&context, &b.full, &(sp_condensation){count, vertex, 0.4, 0}, &b.condensed));
        const sp_system *system = &b.condensed;
        sp_conjac *self = system->self;
        const int64_t n = b.n, rows = b.rows;
        double *q = numbers(n), *v = numbers(n), *external = numbers(n), *prescribed_u = numbers(rows),
               *prescribed_v = numbers(rows), *column = numbers(rows), *arriving = numbers(rows);
        random_field(n, 1, q);
        random_field(n, 2, v);
        random_field(n, 3, external);
        random_field(rows, 4, prescribed_u);
        random_field(rows, 5, prescribed_v);
        for (int64_t i = 0; i < n; i++) {
            q[i] *= 5e-3;
            v[i] *= 0.3;
            external[i] *= 2;
        }
        for (int64_t i = 0; i < b.mesh.vertex_count; i++) {
            const bool right = b.mesh.vertices[3 * i] > 0.15, prescribed = b.body.dof[3 * i] < 0;
            const double *x = b.mesh.vertices + 3 * i;
            for (int c = 0; c < 3; c++) {
                prescribed_u[3 * i + c] *= prescribed && rich ? 4e-3 : 0;
                prescribed_v[3 * i + c] *= prescribed && rich && !(joint && right) ? 0.2 : 0;
            }
            if (prescribed && right) { /* turns about z through (0.35, 0.1) */
                column[3 * i] = -(x[1] - 0.1);
                column[3 * i + 1] = x[0] - 0.35;
                for (int c = 0; c < 3; c++)
                    arriving[3 * i + c] = 0.7 * column[3 * i + c] + 0.3 * x[(c + 1) % 3];
            }
        }
        system->vertices.prescribe(system->self, prescribed_u, prescribed_v);
        sp_spring springs[2] = {{9, {0.1, 0.1, 0.3}, 50}, {21, {0.2, 0, 0.1}, 80}};
        if (rich) {
            system->set_springs(system->self, 2, springs);
            system->vertices.begin(system->self, q);
            for (int64_t i = 0; i < n; i++)
                q[i] += 1e-3; /* so that the springs are stretched */
        }
        const double inertia = 0.02, impulse = -0.013;
        double rate = 0, expected_rate = 0;
        const sp_joint_system joints = {
            .count = 1, .columns = column, .arriving = arriving, .matrix = &inertia, .right = &impulse, .rate = &rate};
        double *velocity = numbers(n), *shift = numbers(n), *expected = numbers(n), *expected_shift = numbers(n);
        int64_t indefinite = 0, factorizations = 0;
        const sp_velocity_step step = {.q = q,
                                       .v = v,
                                       .external = external,
                                       .step = 4e-3,
                                       .beta = 0.6,
                                       .damping_mass = 0.8,
                                       .damping_stiffness = 3e-3,
                                       .joints = joint ? &joints : NULL,
                                       .velocity = velocity,
                                       .shift = shift,
                                       .indefinite = &indefinite,
                                       .factorizations = &factorizations};
        CHECK_OK(system->vertices.velocity_step(system->self, &step));
        dense a;
        measure(&b, system, sp_full_system_supports(&self->full), q, count, vertex, &a);
        reference(&b, system, &a, &step, prescribed_v, 0.4, expected, expected_shift, &expected_rate);
        NOTE("kind %d: velocity %.1e of %.3g, shift %.1e of %.3g, rate %.1e of %.3g", kind,
             distance2(n, velocity, expected), norm2(n, expected), distance2(n, shift, expected_shift),
             norm2(n, expected_shift), fabs(rate - expected_rate), expected_rate);
        CHECK(indefinite == 0, "the definite matrix was taken");
        CHECK(factorizations == 1, "%lld factorizations", (long long)factorizations);
        CHECK(norm2(n, expected) > 1e-2 && (!joint || fabs(expected_rate) > 1e-2), "nothing moves");
        CHECK_NEAR(distance2(n, velocity, expected), 0, 1e-11 * norm2(n, expected));
        CHECK_NEAR(distance2(n, shift, expected_shift), 0, 1e-11 * norm2(n, expected_shift));
        CHECK_NEAR(rate, expected_rate, 1e-11 * fabs(expected_rate));
        if (rich && count > 0) { /* friction: least squares in the metric of the step */
            double *q1 = numbers(n), *filtered = numbers(n), *rubbed = numbers(n), *Sv = numbers(n),
                   *J = mapping(&b, &a), *S = operator_of(&b, &a, &step), *SJ = numbers(n * a.d);
            double *R = numbers(a.d * a.d), y[6] = {0};
            for (int64_t i = 0; i < n; i++)
                q1[i] = q[i] + 4e-3 * velocity[i] + shift[i];
            memcpy(filtered, velocity, (size_t)n * 8);
            memcpy(rubbed, velocity, (size_t)n * 8);
            self->full.vertices.apply_friction(self->full.self, q, q1, 4e-3, filtered);
            const double lost = system->vertices.apply_friction(system->self, q, q1, 4e-3, rubbed);
            for (int64_t i = 0; i < n; i++)
                filtered[i] -= velocity[i];
            times(false, n, a.d, n, 1, S, J, 0, SJ);
            times(true, a.d, a.d, n, 1, J, SJ, 0, R);
            times(true, a.d, 1, n, 1, SJ, filtered, 0, y);
            solve(a.d, R, 1, y);
            times(false, n, 1, a.d, 1, J, y, 0, Sv);
            double change = 0, energy[2];
            for (int64_t i = 0; i < n; i++)
                change = fmax(change, fabs(rubbed[i] - velocity[i] - Sv[i]));
            NOTE("friction changes velocities by %.3g, the projection by %.3g, difference %.1e, %.3g J lost",
                 norm2(n, filtered), norm2(n, Sv), change, lost);
            CHECK(norm2(n, Sv) > 1e-3, "no friction in this test");
            CHECK_NEAR(change, 0, 1e-11 * norm2(n, velocity));
            for (int k = 0; k < 2; k++) {
                const double *x = k ? rubbed : velocity;
                system->mass_times(system->self, x, Sv);
                energy[k] = 0.5 * sp_dense_dot(n, x, Sv);
            }
            CHECK_NEAR(lost, energy[0] - energy[1], 1e-12 * energy[0]);
            double *owned[] = {q1, filtered, rubbed, Sv, J, S, SJ, R};
            for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
                free(owned[i]);
        }
        forget(&a);
        double *owned[] = {q,        v,        external, prescribed_u, prescribed_v,  column,
                           arriving, velocity, shift,    expected,     expected_shift};
        for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
            free(owned[i]);
        release(&b);
    }
}

/* ---- the Jacobian ---- */

/* J_s and w against central differences of equilibria: their error falls with ε². */
TEST(mapping_is_the_derivative)
{
    for (int tetrahedra = 0; tetrahedra < 2; tetrahedra++) {
        fixture b;
        make(3, tetrahedra, BOTH_ENDS, gum(), &b);
        const int64_t vertex[2] = {17, 18};
        condense(&b, false, false, 2, vertex, 1, 0);
        sp_conjac *self = b.condensed.self;
        const int64_t n = b.n, s = self->map.s, rows = b.rows;
        double *q = numbers(n), *prescribed_u = numbers(rows), *prescribed_v = numbers(rows),
               *external = tip_load(&b, 2, 3, 8), *zero = numbers(n), *velocity = numbers(n), *shift = numbers(n);
        for (int64_t i = 0; i < 6; i++)
            q[self->map.dynamic[i]] = 0.01 * (double)(i % 4) - 0.01;
        for (int64_t i = 0; i < b.mesh.vertex_count; i++)
            if (b.body.dof[3 * i] < 0 && b.mesh.vertices[3 * i] > 0.15)
                prescribed_v[3 * i] = 0.3, prescribed_v[3 * i + 1] = b.mesh.vertices[3 * i + 2];
        b.condensed.vertices.prescribe(b.condensed.self, prescribed_u, prescribed_v);
        CHECK_OK(sp_conjac_system_settle(&b.condensed, external, 1e-13, 60, q));
        int64_t count = 0;
        const sp_velocity_step step = {.q = q,
                                       .v = zero,
                                       .external = external,
                                       .step = 1e-3,
                                       .beta = 1,
                                       .velocity = velocity,
                                       .shift = shift,
                                       .indefinite = &count,
                                       .factorizations = &count};
        CHECK_OK(b.condensed.vertices.velocity_step(b.condensed.self, &step));
        double *Z = malloc((size_t)(s * 7) * 8), error[3] = {0}, size = 0; /* J_s and w_s */
        memcpy(Z, self->Z, (size_t)(s * 7) * 8);
        for (int e = 0; e < 3; e++) {
            const double epsilon = 8e-3 / (1 << e);
            for (int64_t k = 0; k < 7; k++) {
                double *moved[2];
                for (int side = 0; side < 2; side++) {
                    const double by = side ? epsilon : -epsilon;
                    double *x = moved[side] = numbers(n);
                    memcpy(x, q, (size_t)n * 8);
                    if (k < 6)
                        x[self->map.dynamic[k]] += by;
                    for (int64_t i = 0; i < rows; i++)
                        prescribed_u[i] = k == 6 ? by * prescribed_v[i] : 0;
                    b.condensed.vertices.prescribe(b.condensed.self, prescribed_u, prescribed_v);
                    CHECK_OK(sp_conjac_system_settle(&b.condensed, external, 1e-13, 60, x));
                }
                for (int64_t i = 0; i < s; i++) {
                    const int64_t dof = self->map.quasistatic[i];
                    error[e] = fmax(error[e], fabs((moved[1][dof] - moved[0][dof]) / (2 * epsilon) - Z[s * k + i]));
                    size = fmax(size, fabs(Z[s * k + i]));
                }
                free(moved[0]);
                free(moved[1]);
            }
        }
        NOTE("%s: largest error of J and w %.2e %.2e %.2e of %.2f, orders %.3f %.3f",
             tetrahedra ? "tetrahedra" : "hexahedra", error[0], error[1], error[2], size, log2(error[0] / error[1]),
             log2(error[1] / error[2]));
        CHECK_NEAR(log2(error[0] / error[1]), 2, 0.2);
        CHECK_NEAR(log2(error[1] / error[2]), 2, 0.1);
        double *owned[] = {q, prescribed_u, prescribed_v, external, zero, velocity, shift, Z};
        for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
            free(owned[i]);
        release(&b);
    }
}

TEST(inertia_is_projected)
{
    for (int kind = 0; kind < 4; kind++) {
        const bool linear = kind == 2, lumped = kind == 1;
        const int64_t vertex[3] = {22, 5, 11};
        fixture b;
        make(3, kind == 3, CLAMPED, gum(), &b);
        condense(&b, linear, lumped, 3, vertex, 1, 0);
        const int64_t n = b.n, d = sp_conjac_system_dynamic(&b.condensed);
        double *q = numbers(n), inertia[81], *expected = numbers(d * d), *Mf, *MJ = numbers(n * d),
               *external = tip_load(&b, 0, 0, 3), *residual = numbers(n), *y = numbers(d);
        double quasistatic_part, dynamic_part;
        random_field(n, 9, q);
        for (int64_t i = 0; i < n; i++)
            q[i] *= 5e-3;
        CHECK(d == 9, "%lld dynamic components", (long long)d);
        CHECK_OK(sp_conjac_system_inertia(&b.condensed, q, inertia));
        dense a;
        measure(&b, &b.condensed, NULL, q, 3, vertex, &a);
        double *J = mapping(&b, &a);
        Mf = free_part(&b, a.M);
        times(false, n, d, n, 1, Mf, J, 0, MJ);
        times(true, d, d, n, 1, J, MJ, 0, expected);
        NOTE("kind %d: %.1e of %.3g kg", kind, distance2(d * d, inertia, expected), norm2(d * d, expected));
        CHECK_NEAR(distance2(d * d, inertia, expected), 0, 1e-12 * norm2(d * d, expected));
        CHECK_OK(sp_conjac_system_balance(&b.condensed, q, external, &quasistatic_part, &dynamic_part));
        b.condensed.force(b.condensed.self, q, residual);
        double rest = 0;
        for (int64_t i = 0; i < n; i++) {
            residual[i] = external[i] - residual[i];
            rest += a.dynamic[i] ? 0 : residual[i] * residual[i];
        }
        times(true, d, 1, n, 1, J, residual, 0, y);
        CHECK_NEAR(quasistatic_part, sqrt(rest), 1e-12 * norm2(n, residual));
        CHECK_NEAR(dynamic_part, norm2(d, y), 1e-11 * norm2(n, residual));
        forget(&a);
        double *owned[] = {q, expected, Mf, MJ, J, external, residual, y};
        for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
            free(owned[i]);
        release(&b);
    }
}

/* Separate pieces, each with dynamic vertices, which are also separate in the order of the factor. */
TEST(pieces_stand_apart)
{
    fixture b = {0};
    make_box(7, 1, 1, 0.1, 0.1, &b.mesh);
    b.mesh.materials[0] = gum();
    for (int64_t e = 3; e < 6; e++) /* without the third from the left and the last */
        memcpy(b.mesh.block[SP_HEX8].node + 8 * (e - 1), b.mesh.block[SP_HEX8].node + 8 * e,
               8 * sizeof *b.mesh.block[SP_HEX8].node);
    b.mesh.block[SP_HEX8].count = 5;
    fix_end(&b.mesh, 0.03);
    CHECK_OK(sp_fe_space_new(&context, &b.mesh, &b.body));
    b.n = b.body.dof_count;
    b.rows = 3 * b.mesh.vertex_count;
    const int64_t vertex[4] = {2, 3, 14, 29};
    condense(&b, false, false, 4, vertex, 1, 0);
    double *q = numbers(b.n), inertia[144], *expected = numbers(144), *MJ = numbers(12 * b.n);
    CHECK_OK(sp_conjac_system_inertia(&b.condensed, q, inertia));
    dense a;
    measure(&b, &b.condensed, NULL, q, 4, vertex, &a);
    double *J = mapping(&b, &a), *M = free_part(&b, a.M);
    times(false, b.n, 12, b.n, 1, M, J, 0, MJ);
    times(true, 12, 12, b.n, 1, J, MJ, 0, expected);
    NOTE("%.1e of %.3g kg", distance2(144, inertia, expected), norm2(144, expected));
    CHECK_NEAR(distance2(144, inertia, expected), 0, 1e-11 * norm2(144, expected));
    forget(&a);
    double *owned[] = {q, expected, MJ, J, M};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++)
        free(owned[i]);
    release(&b);
}

/* ---- refusals ---- */

static void refused(const sp_fe_space *body, int64_t count, const int64_t *vertex, double gamma, int64_t corrections,
                    int status, const char *text)
{
    FREED_BY(sp_conjac_system_free) sp_system system;
    sp_system full;
    CHECK_OK(sp_full_system_new(&context, (sp_fe_space *)body, false, true, NULL, &full));
    const int got =
        sp_conjac_system_new(&context, &full, &(sp_condensation){count, vertex, gamma, corrections}, &system);
    CHECK(got == status && strstr(context.message, text), "status %d, \"%s\" in place of %d and \"%s\"", got,
          context.message, status, text);
    CHECK(!full.self && !system.self, "something is left");
}

TEST(refuses)
{
    fixture b;
    make(3, false, CLAMPED, gum(), &b);
    refused(&b.body, 1, (int64_t[]){0}, 0.5, 0, SP_USAGE, "dynamic vertex 0 is fixed");
    refused(&b.body, 2, (int64_t[]){5, 5}, 0.5, 0, SP_USAGE, "dynamic vertex 5 is named twice");
    refused(&b.body, 1, (int64_t[]){36}, 0.5, 0, SP_USAGE, "dynamic vertex 36 is out of range: there are 36");
    refused(&b.body, 1, (int64_t[]){-1}, 0.5, 0, SP_USAGE, "dynamic vertex -1 is out of range");
    refused(&b.body, 0, NULL, 1.5, 0, SP_USAGE, "gamma of the stabilization is 1.5");
    refused(&b.body, 0, NULL, NAN, 0, SP_USAGE, "gamma of the stabilization is nan");
    refused(&b.body, 0, NULL, 0.5, -1, SP_USAGE, "-1 corrections");
    condense(&b, false, false, 0, NULL, 0, 0);
    sp_integrator *it;
    struct drive drive = {NULL, &b, 0, 0};
    CHECK(sp_integrator_new(&context, &b.condensed, &(sp_external_loads){.self = &drive, .mean = driven_mean},
                            &(sp_integrator_parameters){.kind = SP_EULER, .step = 1}, NULL, NULL, &it) == SP_USAGE &&
              strstr(context.message, "linearly implicit"),
          "%s", context.message);
    release(&b);
    make(3, true, FREE, gum(), &b);
    refused(&b.body, 0, NULL, 0.5, 0, SP_INPUT, "is under-constrained");
    condense(&b, false, false, 3, (int64_t[]){5, 20, 30}, 0.5, 0);
    release(&b);
    /* cut in two: the part without a fixed vertex needs three dynamic ones */
    OWNED(sp_mesh) mesh;
    make_box(5, 1, 1, 0.1, 0, &mesh);
    for (int64_t a = 0; a < 8; a++)
        mesh.block[SP_HEX8].node[8 * 2 + a] =
            mesh.block[SP_HEX8].node[8 * 4 + a]; /* without its middle, the last one comes twice; that is only for the
                                                    numbers of elements */
    mesh.block[SP_HEX8].count = 4;
    fix_end(&mesh, 0.01);
    sp_fe_space body;
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    refused(&body, 0, NULL, 0.5, 0, SP_INPUT,
            "the piece containing vertex 4 is under-constrained: add dynamic vertices");
    refused(&body, 1, (int64_t[]){2}, 0.5, 0, SP_INPUT, "the piece containing vertex 4 is under-constrained");
    sp_fe_space_free(&body);
    mesh.block[SP_HEX8].count = 1; /* vertex 2 is no element's */
    CHECK_OK(sp_fe_space_new(&context, &mesh, &body));
    refused(&body, 1, (int64_t[]){2}, 0.5, 0, SP_USAGE, "dynamic vertex 2 is fixed");
    sp_fe_space_free(&body);
}

/* ---- choices of dynamic vertices ---- */

static double squared(const fixture *b, int64_t i, int64_t j)
{
    double sum = 0;
    for (int c = 0; c < 3; c++)
        sum += pow(b->mesh.vertices[3 * i + c] - b->mesh.vertices[3 * j + c], 2);
    return sum;
}

TEST(chooses_vertices)
{
    for (int prescribed = FREE; prescribed <= CLAMPED; prescribed++) {
        fixture b;
        make(6, false, prescribed, gum(), &b);
        const int64_t vertices = b.mesh.vertex_count;
        int64_t count, vertex[12], other[12];
        double point[12];
        for (int p = 0; p < 3; p++)
            memcpy(point + 3 * p, b.mesh.vertices + 3 * (int64_t[]){40, 9, 40}[p], 24);
        point[6] += 0.01;
        memcpy(point + 9, (double[]){-5, 0, 0}, 24);
        CHECK_OK(sp_nearest_vertices(&context, &b.body, 4, point, &count, vertex));
        int64_t left = -1;
        for (int64_t v = 0; v < vertices; v++)
            if (b.body.dof[3 * v] >= 0 &&
                (left < 0 || pow(b.mesh.vertices[3 * v] + 5, 2) + pow(b.mesh.vertices[3 * v + 1], 2) +
                                     pow(b.mesh.vertices[3 * v + 2], 2) <
                                 pow(b.mesh.vertices[3 * left] + 5, 2) + pow(b.mesh.vertices[3 * left + 1], 2) +
                                     pow(b.mesh.vertices[3 * left + 2], 2)))
                left = v;
        bool found[3] = {false};
        for (int64_t i = 0; i < count; i++) {
            found[0] |= vertex[i] == 9;
            found[1] |= vertex[i] == 40;
            found[2] |= vertex[i] == left;
            CHECK(i == 0 || vertex[i] > vertex[i - 1], "not in order");
        }
        CHECK(count == 3 && found[0] && found[1] && found[2], "%lld vertices", (long long)count);
        CHECK(sp_nearest_vertices(&context, &b.body, 1, (double[]){0, NAN, 0}, &count, vertex) == SP_USAGE,
              "a point that is none");

        CHECK_OK(sp_random_vertices(&context, &b.body, 3, 5, 0.15, vertex));
        CHECK_OK(sp_random_vertices(&context, &b.body, 3, 5, 0.15, other));
        CHECK(memcmp(vertex, other, 40) == 0, "the same seed gives others");
        CHECK_OK(sp_random_vertices(&context, &b.body, 4, 5, 0.15, other));
        CHECK(memcmp(vertex, other, 40) != 0, "another seed gives the same");
        for (int i = 0; i < 5; i++) {
            CHECK(b.body.dof[3 * vertex[i]] >= 0, "vertex %lld is held", (long long)vertex[i]);
            for (int j = 0; j < i; j++)
                CHECK(vertex[j] < vertex[i] && squared(&b, vertex[i], vertex[j]) >= 0.15 * 0.15,
                      "vertices %lld and %lld", (long long)vertex[j], (long long)vertex[i]);
        }
        CHECK(sp_random_vertices(&context, &b.body, 3, 5, 0.4, vertex) == SP_NUMERICAL,
              "five vertices 0.4 m apart in 0.6 m");
        CHECK(sp_random_vertices(&context, &b.body, 3, 100, 0, vertex) == SP_USAGE, "100 vertices of 63");
        CHECK(sp_random_vertices(&context, &b.body, 3, 2, -1, vertex) == SP_USAGE, "a negative distance");

        CHECK_OK(sp_farthest_vertices(&context, &b.body, 6, vertex));
        int64_t set[80], members = 0, chosen[6]; /* by the definition */
        for (int64_t v = 0; v < vertices; v++)
            if (b.body.dof[3 * v] < 0)
                set[members++] = v;
        for (int k = 0; k < 6; k++) {
            double best = -1;
            for (int64_t v = 0; v < vertices; v++) {
                double nearest = INFINITY;
                for (int64_t i = 0; i < members; i++)
                    nearest = fmin(nearest, squared(&b, v, set[i]));
                if (members == 0) {
                    double centre[3] = {0};
                    for (int64_t i = 0; i < 3 * vertices; i++)
                        centre[i % 3] += b.mesh.vertices[i] / (double)vertices;
                    nearest = pow(b.mesh.vertices[3 * v] - centre[0], 2) +
                              pow(b.mesh.vertices[3 * v + 1] - centre[1], 2) +
                              pow(b.mesh.vertices[3 * v + 2] - centre[2], 2);
                }
                if (nearest > best) {
                    best = nearest;
                    chosen[k] = v;
                }
            }
            set[members++] = chosen[k];
        }
        for (int k = 0; k < 6; k++) {
            bool met = false;
            for (int i = 0; i < 6; i++)
                met |= vertex[i] == chosen[k];
            CHECK(met && (k == 0 || vertex[k] > vertex[k - 1]), "vertex %lld is missing", (long long)chosen[k]);
        }
        CHECK(sp_farthest_vertices(&context, &b.body, 64, vertex) == SP_USAGE, "64 vertices of 63");
        release(&b);
    }
}
