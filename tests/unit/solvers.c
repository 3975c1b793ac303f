/* Solvers of full-order systems: the same motion by every solver, iterative ones stop early where that is allowed, and
 * a factor is kept while it is useful. */
#include "assembly/elastic.h"
#include "fixture.h"
#include "integrate/integrate.h"
#include "linear/cholesky.h"
#include "linear/iterate.h"
#include "model/models.h"

OWNER(sp_cholesky)
OWNER(sp_integrator)

typedef struct bar {
    sp_mesh mesh;
    sp_fe_space body;
    sp_system system;
    double *weight; /* [n] */
} bar;

/* 1.2 m long, as many edges of 0.1 m wide and high, fixed at one end; hexahedra, or tetrahedra where the law is not
 * StVK. */
static void make_bar(int width, enum sp_law law, double young, bar *b)
{
    sp_mesh box;
    *b = (bar){0};
    make_box(12, width, width, 0.1, 0.1, &box);
    if (law == SP_LAW_STVK)
        b->mesh = box;
    else {
        CHECK_OK(sp_mesh_split(&context, &box, &b->mesh));
        sp_mesh_free(&box);
    }
    b->mesh.materials[0].law = law;
    b->mesh.materials[0].young = young;
    b->mesh.materials[0].poisson = 0.4;
    fix_end(&b->mesh, 0.05);
    CHECK_OK(sp_mesh_fix_list(&context, &b->mesh, 1, (int64_t[]){b->mesh.vertex_count - 1},
                              4)); /* and one vertex in z alone */
    CHECK_OK(sp_fe_space_new(&context, &b->mesh, &b->body));
    CHECK_OK(sp_full_system_new(&context, &b->body, false, false, NULL, &b->system));
    double *g = test_new(b->system.n, 8);
    b->weight = test_new(b->system.n, 8);
    for (int64_t i = 0; i < b->system.n; i++)
        g[i] = b->body.free[i] % 3 == 1 ? -9.81 : 0;
    b->system.mass_times(b->system.self, g, b->weight);
}

static void bar_free(bar *b)
{
    sp_full_system_free(&b->system);
    sp_fe_space_free(&b->body);
    sp_mesh_free(&b->mesh);
}

static void gravity(void *self, double t0, double t1, double *f)
{
    const bar *b = self;
    (void)t0, (void)t1;
    memcpy(f, b->weight, (size_t)b->system.n * 8);
}

/* Where some steps end [n], to be freed; *iterations: of Newton's method. */
static double *swing(bar *b, enum sp_integrator_kind kind, int64_t *iterations)
{
    enum { STEPS = 6 };
    sp_external_loads forcing = {.self = b, .mean = gravity};
    OWNED_POINTER(sp_integrator) *it;
    const sp_integrator_parameters p = {
        .kind = kind, .step = 0.02, .beta = kind == SP_NEWMARK ? 0.25 : 1, .gamma = 0.5};
    double *q = malloc((size_t)b->system.n * 8);
    CHECK_OK(sp_integrator_new(&context, &b->system, &forcing, &p, NULL, NULL, &it));
    for (int s = 0; s < STEPS; s++)
        CHECK_OK(sp_integrator_step(it));
    memcpy(q, sp_integrator_q(it), (size_t)b->system.n * 8);
    *iterations = sp_integrator_reported(it)->newton_iterations;
    return q;
}

/* Newton's method ends at the same residual with any solver of its systems, with looser tolerances before that;
 * otherwise the tolerance of the solver determines the residual. */
TEST(same_motion)
{
    static const enum sp_integrator_kind kinds[] = {SP_NEWMARK, SP_EULER, SP_LINEAR_EULER, SP_ENERGY, SP_STATIC};
    static const enum sp_law laws[] = {SP_LAW_STVK, SP_LAW_STABLE_NEO_HOOKEAN};
    int64_t all[3] = {0}, whole = 0;
    for (int l = 0; l < 2; l++)
        for (int k = 0; k < 5; k++) {
            double *q[3];
            int64_t n = 0;
            if (kinds[k] == SP_ENERGY && laws[l] != SP_LAW_STVK) /* whose force is a polynomial */
                continue;
            for (int s = 0; s < 3; s++) {
                int64_t iterations, solves, products, factorizations;
                OWNED(bar) b;
                make_bar(3, laws[l], 4e5, &b);
                n = b.system.n;
                CHECK_OK(sp_full_system_solver(&b.system, (enum sp_solver)s, kinds[k] == SP_LINEAR_EULER ? 1e-12 : 0));
                q[s] = swing(&b, kinds[k], &iterations);
                sp_full_system_solves(&b.system, &solves, &products, &factorizations);
                CHECK(s == SP_SOLVER_DIRECT ? solves == 0 && factorizations > 0 : solves >= iterations,
                      "%lld solves, %lld factorizations in %lld iterations", (long long)solves,
                      (long long)factorizations, (long long)iterations);
                CHECK(s != SP_SOLVER_JACOBI || factorizations == 0, "%lld factorizations", (long long)factorizations);
                all[s] += factorizations;
                if (s == SP_SOLVER_JACOBI &&
                    kinds[k] == SP_NEWMARK) { /* the same reduction as without a known tolerance */
                    double *once = test_new(n, 8);
                    int64_t before = products;
                    CHECK_OK(b.system.matrix_solve(b.system.self, b.weight, once));
                    sp_full_system_solves(&b.system, &solves, &products, &factorizations);
                    whole = (products - before) * (solves - 1);
                    CHECK((double)before < 0.7 * (double)whole, "%lld products, and %lld were each to 1e-8",
                          (long long)before, (long long)whole);
                }
            }
            for (int s = 1; s < 3; s++) {
                double off = 0;
                for (int64_t i = 0; i < n; i++)
                    off = fmax(off, fabs(q[s][i] - q[0][i]));
                CHECK(off < 1e-7 * max_abs(n, q[0]), "law %d, integrator %d, solver %d: off by %g of %g m", l, kinds[k],
                      s, off, max_abs(n, q[0]));
            }
            for (int s = 0; s < 3; s++)
                free(q[s]);
        }
    CHECK(all[SP_SOLVER_REUSED] < all[SP_SOLVER_DIRECT] / 2, "%lld factorizations, directly %lld",
          (long long)all[SP_SOLVER_REUSED], (long long)all[SP_SOLVER_DIRECT]);
    NOTE("factorizations: reused %lld, direct %lld", (long long)all[SP_SOLVER_REUSED],
         (long long)all[SP_SOLVER_DIRECT]);
}

/* ‖b − S x‖ / ‖b‖ with S = m M + K(q), entry by entry. */
static double residual(const bar *other, double m, const double *q, const double *b, const double *x)
{
    const sp_sparse *K, *M = sp_full_system_mass(&other->system);
    double square = 0, whole = 0;
    sp_full_system_stiffness(&other->system, q, false, NULL, &K);
    for (int64_t i = 0; i < K->order; i++) {
        double sum = b[i];
        for (int64_t k = K->start[i]; k < K->start[i + 1]; k++)
            sum -= (m * M->value[k] + K->value[k]) * x[K->index[k]];
        square += sum * sum;
        whole += b[i] * b[i];
    }
    return sqrt(square / whole);
}

TEST(stops_where_it_may)
{
    static const double asked[] = {0.1, 1e-3, 1e-6, 0,
                                   1e-13}; /* 0: the tolerance of the system, which the solver does not exceed either */
    for (int s = SP_SOLVER_JACOBI; s <= SP_SOLVER_REUSED; s++) {
        OWNED(bar) b, other;
        make_bar(3, SP_LAW_STABLE_NEO_HOOKEAN, 4e5, &b);
        make_bar(3, SP_LAW_STABLE_NEO_HOOKEAN, 4e5, &other);
        CHECK(b.system.matrix_tolerance == NULL, "a direct solver has no tolerance");
        CHECK_OK(sp_full_system_open(&other.system));
        CHECK_OK(sp_full_system_solver(&b.system, (enum sp_solver)s, 1e-9));
        const int64_t n = b.system.n;
        double *q = test_new(3 * n, 8), *f = q + n, *x = f + n;
        for (int round = 0; round < 2; round++) { /* REUSED: the factor is that of the first */
            b.system.matrix_start(b.system.self, 1e3);
            b.system.matrix_add(b.system.self, q, 1, 1, false, NULL);
            CHECK_OK(b.system.matrix_factor(b.system.self));
            random_field(n, 3, f);
            for (int k = 0; k < 5; k++) {
                const double tolerance = fmax(asked[k], 1e-9);
                b.system.matrix_tolerance(b.system.self, asked[k]);
                CHECK_OK(b.system.matrix_solve(b.system.self, f, x));
                int64_t solves, products, factorizations;
                sp_full_system_solves(&b.system, &solves, &products, &factorizations);
                const bool kept = round == 1 && factorizations == 1;
                const double left = residual(&other, 1e3, q, f, x);
                CHECK(left <= 1.001 * tolerance, "solver %d: %g of %g is left", s, left, tolerance);
                CHECK((s == SP_SOLVER_REUSED && !kept) || left > 1e-3 * tolerance, "solver %d went as far as %g of %g",
                      s, left, tolerance);
            }
            for (int64_t i = 0; i < n; i++) {
                const double along = b.mesh.vertices[b.body.free[i] / 3 * 3];
                q[i] = b.body.free[i] % 3 == 1 ? -0.15 * along * along : 0;
            }
        }
        CHECK_OK(sp_full_system_solver(&b.system, SP_SOLVER_DIRECT, 0));
        CHECK(b.system.matrix_tolerance == NULL, "a direct solver has no tolerance");
    }
}

/* ---- lifetime of a factor ---- */

enum { DRIFT = 32, OLDEST = 16 };

/* S_k = m e^{k/20} M + K for k < DRIFT, and back. */
static double drifting(int k)
{
    return 300 * exp(0.05 * (k < DRIFT / 2 ? k : DRIFT - k));
}

typedef struct pair {
    const sp_sparse *S;
    sp_cholesky *factor;
} pair;

static void times(void *self, const double *x, double *y)
{
    sp_sparse_times(&context, ((const pair *)self)->S, 1, x, y);
}

static void precondition(void *self, const double *x, double *y)
{
    CHECK_OK(sp_cholesky_solve(((const pair *)self)->factor, 1, x, y));
}

/* The cost of the library for a matrix that drifts away from its factor is close to the least cost of any choice of
 * factorizations, found by trying all. */
TEST(a_factor_is_kept_while_it_pays)
{
    OWNED(bar) b, other;
    OWNED(sp_sparse) S;
    OWNED(sp_pool) pool = {0};
    sp_iteration work;
    const sp_sparse *K;
    make_bar(6, SP_LAW_STABLE_NEO_HOOKEAN, 4e5, &b);
    make_bar(6, SP_LAW_STABLE_NEO_HOOKEAN, 4e5, &other);
    CHECK_OK(sp_full_system_open(&other.system));
    CHECK_OK(sp_full_system_solver(&b.system, SP_SOLVER_REUSED, 1e-8));
    const int64_t n = b.system.n, entries = b.body.pattern.start[n];
    double *q = test_new(3 * n, 8), *f = q + n, *x = f + n, nonzeros, flops;
    int64_t solves, products, factorizations;
    sp_full_system_factor_size(&b.system, &nonzeros, &flops);
    const double worth = flops / (10 * (4 * nonzeros + 2 * (double)entries));
    random_field(n, 3, f);
    for (int k = 0; k < DRIFT; k++) {
        b.system.matrix_start(b.system.self, drifting(k));
        b.system.matrix_add(b.system.self, q, 1, 1, false, NULL);
        CHECK_OK(b.system.matrix_factor(b.system.self));
        CHECK_OK(b.system.matrix_solve(b.system.self, f, x));
    }
    sp_full_system_solves(&b.system, &solves, &products, &factorizations);
    const double chosen = worth * (double)factorizations + (double)products;
    /* least[k]: the least cost of the first k solves; a factor of S_i serves i to j */
    double least[DRIFT + 1] = {0};
    for (int k = 1; k <= DRIFT; k++)
        least[k] = INFINITY;
    int64_t *node = test_new(n, 8);
    pair p = {&S, NULL};
    const sp_operator A = {&p, n, times, precondition};
    sp_fe_space_nodes(&other.body, node);
    CHECK_OK(sp_fe_space_matrix(&context, &other.body, &S));
    CHECK_OK(sp_cholesky_new(&context, &S, node, &p.factor));
    sp_iteration_new(&pool, n, 1, &work);
    sp_full_system_stiffness(&other.system, q, false, NULL, &K);
    for (int i = 0; i < DRIFT; i++) {
        double cost = least[i] + worth;
        for (int j = i; j < DRIFT && j < i + OLDEST && !(cost > least[j + 1] + 2 * worth); j++) {
            for (int64_t k = 0; k < entries; k++)
                S.value[k] = drifting(j) * sp_full_system_mass(&other.system)->value[k] + K->value[k];
            if (j == i)
                CHECK_OK(sp_cholesky_factor(p.factor, &S));
            cost += (double)sp_conjugate_gradients(&A, &work, 1e-8, 1000, f, x);
            least[j + 1] = fmin(least[j + 1], cost);
        }
    }
    NOTE("a factorization is worth %.1f products; %lld of them and %lld products: %.0f, at best %.0f", worth,
         (long long)factorizations, (long long)products, chosen, least[DRIFT]);
    CHECK(factorizations > 2 && factorizations < DRIFT / 2, "%lld factorizations", (long long)factorizations);
    CHECK(chosen >= least[DRIFT] && chosen < 1.15 * least[DRIFT], "%g, at best %g", chosen, least[DRIFT]);
    /* a matrix that stays */
    for (int k = 0; k < DRIFT; k++) {
        b.system.matrix_start(b.system.self, drifting(0));
        b.system.matrix_add(b.system.self, q, 1, 1, false, NULL);
        CHECK_OK(b.system.matrix_factor(b.system.self));
        CHECK_OK(b.system.matrix_solve(b.system.self, f, x));
    }
    int64_t more;
    sp_full_system_solves(&b.system, &solves, &products, &more);
    CHECK(more <= factorizations + 1, "%lld more factorizations of a matrix that stays",
          (long long)(more - factorizations));
    sp_cholesky_free(p.factor);
}

/* A x − b for many right-hand sides at once, divided in every way, and the same bytes for any number of threads. */
TEST(many_right_sides)
{
    enum { MOST = 55 };
    OWNED(bar) b;
    OWNED(sp_sparse) K;
    OWNED(sp_pool) pool = {0};
    make_bar(2, SP_LAW_STVK, 2e5, &b); /* supernodes of one to many columns */
    int64_t n = b.body.dof_count, *node = test_new(n, 8);
    CHECK_OK(sp_elastic_stiffness(&context, &b.body, &K));
    sp_fe_space_nodes(&b.body, node);
    double *right = sp_pool_raw(&pool, n * MOST, 8), *x = sp_pool_raw(&pool, n * MOST, 8),
           *first = sp_pool_raw(&pool, n * MOST, 8), *product = sp_pool_raw(&pool, n * MOST, 8);
    for (int64_t i = 0; i < n * MOST; i++)
        right[i] = sp_random_uniform(4, 1, (uint64_t)i) - 0.5;
    for (int threads = 1; threads <= 3; threads++) {
        sp_context own = context;
        OWNED_POINTER(sp_cholesky) *factor;
        own.threads = threads;
        CHECK_OK(sp_cholesky_new(&own, &K, node, &factor));
        CHECK_OK(sp_cholesky_factor(factor, &K));
        for (int count = 1; count <= MOST; count += count < 9 ? 1 : count < 26 ? 4 : 13) {
            memcpy(x, right, (size_t)(n * count) * 8);
            CHECK_OK(sp_cholesky_solve(factor, count, x, x)); /* in place */
            sp_sparse_times(&own, &K, count, x, product);
            double left = 0;
            for (int64_t i = 0; i < n * count; i++)
                left = fmax(left, fabs(product[i] - right[i]));
            CHECK(left < 1e-9, "%d columns, %d threads: residual %g", count, threads, left);
        }
        if (threads == 1)
            memcpy(first, x, (size_t)(n * MOST) * 8);
        CHECK(memcmp(first, x, (size_t)(n * MOST) * 8) == 0, "%d threads: other bytes", threads);
    }
}

BEFORE_TESTS()
{
    context.threads = 1;
}
