#include "linear/dense.h"
#include "model/conjac/conjac_internal.h"
#include "nonlinear/newton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions that call the full-order system ---- */

static const sp_system *inner(void *data)
{
    return &((const sp_conjac *)data)->full;
}

static double force(void *data, const double *q, double *f)
{
    return inner(data)->force(inner(data)->self, q, f);
}

static void matrix_start(void *data, double mass_scale)
{
    inner(data)->matrix_start(inner(data)->self, mass_scale);
}

static double matrix_add(void *data, const double *q, double scale, double spring_scale, bool definite, double *f)
{
    return inner(data)->matrix_add(inner(data)->self, q, scale, spring_scale, definite, f);
}

static int matrix_factor(void *data)
{
    return inner(data)->matrix_factor(inner(data)->self);
}

static int matrix_solve(void *data, const double *b, double *x)
{
    return inner(data)->matrix_solve(inner(data)->self, b, x);
}

static void mass_times(void *data, const double *x, double *y)
{
    inner(data)->mass_times(inner(data)->self, x, y);
}

static int mass_solve(void *data, const double *b, double *x)
{
    return inner(data)->mass_solve(inner(data)->self, b, x);
}

static void tangent_times(void *data, const double *q, const double *v, double *y)
{
    inner(data)->tangent_times(inner(data)->self, q, v, y);
}

static void set_springs(void *data, int64_t count, const sp_spring *springs)
{
    inner(data)->set_springs(inner(data)->self, count, springs);
}

static int64_t inverted(void *data, const double *q)
{
    return inner(data)->inverted(inner(data)->self, q);
}

static void viscous_add(void *data, const double *q, double scale)
{
    inner(data)->viscous_add(inner(data)->self, q, scale);
}

static void viscous_times(void *data, const double *q, const double *v, double *y)
{
    inner(data)->viscous_times(inner(data)->self, q, v, y);
}

static void visit(void *data, sp_state *state)
{
    sp_conjac *self = data;
    self->full.visit(self->full.self, state);
    if (state->loading)
        self->map.factored = false;
}

static void prescribe(void *data, const double *u, const double *v)
{
    inner(data)->vertices.prescribe(inner(data)->self, u, v);
}

static void stiffness_times(void *data, const double *q, const double *v, double *y)
{
    inner(data)->vertices.stiffness_times(inner(data)->self, q, v, y);
}

static void inertia_times(void *data, const double *v, double *y)
{
    inner(data)->vertices.inertia_times(inner(data)->self, v, y);
}

static void prescribed_inertia(void *data, const double *a, double *f)
{
    sp_conjac *self = data;

    memset(self->inertia, 0, (size_t)self->full.n * sizeof *self->inertia);
    self->full.vertices.prescribed_inertia(self->full.self, a, self->inertia);
    for (int64_t i = 0; i < self->full.n; i++)
        f[i] += self->inertia[i];
    self->accelerating = true;
}

static double prescribed_work(void *data, const double *q, const double *du)
{
    return inner(data)->vertices.prescribed_work(inner(data)->self, q, du);
}

static double begin(void *data, const double *q)
{
    return inner(data)->vertices.begin(inner(data)->self, q);
}

/* ---- the system ---- */

int sp_conjac_make_workspace(sp_conjac *self, int64_t joints)
{
    if (self->Z && joints <= self->joint_capacity)
        return SP_OK;

    sp_pool *pool = &self->joint_pool;
    const int64_t d = self->map.d, s = self->map.s, most = d + joints + 1;
    sp_pool_free(pool);
    self->joint_capacity = joints;

    self->Z = sp_pool_new(pool, s * (most + 1), sizeof(double));
    self->N = sp_pool_new(pool, s * most, sizeof(double));
    self->N_d = sp_pool_new(pool, d * most, sizeof(double));
    self->A_d = sp_pool_new(pool, d * most, sizeof(double));
    self->G = sp_pool_new(pool, most * most, sizeof(double));
    self->work = sp_pool_raw(pool, sp_dense_inner_work(most, most), sizeof(double));
    self->right = sp_pool_new(pool, most, sizeof(double));
    self->y = sp_pool_new(pool, most, sizeof(double));
    self->schur = sp_pool_new(pool, joints * joints, sizeof(double));
    self->coupling = sp_pool_new(pool, d * joints, sizeof(double));
    self->pivot = sp_pool_new(pool, joints, sizeof *self->pivot);
    self->stiffness_columns = sp_pool_new(pool, 3 * self->body->mesh->vertex_count * joints, sizeof(double));
    self->weight = sp_pool_new(pool, 3 * self->body->mesh->vertex_count * joints, sizeof(double));

    if (!pool->failed)
        return SP_OK;
    sp_pool_free(pool);
    self->Z = NULL;
    return sp_fail_memory(self->context);
}

static int allocate(sp_conjac *self)
{
    const int64_t n = self->full.n, rows = 3 * self->body->mesh->vertex_count;
    double **free_vectors[] = {&self->f,
                               &self->q,
                               &self->x,
                               &self->xx,
                               &self->drift,
                               &self->elastic_rate,
                               &self->support_rate,
                               &self->viscous_rate,
                               &self->inertia};
    double **prescribed_vectors[] = {&self->prescribed_u, &self->prescribed_v, &self->full_vector};

    for (size_t i = 0; i < sizeof free_vectors / sizeof *free_vectors; i++)
        *free_vectors[i] = sp_pool_new(&self->pool, n, sizeof(double));
    for (size_t i = 0; i < sizeof prescribed_vectors / sizeof *prescribed_vectors; i++)
        *prescribed_vectors[i] = sp_pool_new(&self->pool, rows, sizeof(double));

    self->xs = sp_pool_new(&self->pool, self->map.s, sizeof(double));
    self->residual = sp_pool_new(&self->pool, self->map.s, sizeof(double));
    self->xd = sp_pool_new(&self->pool, self->map.d, sizeof(double));
    self->R = sp_pool_new(&self->pool, self->map.d * self->map.d, sizeof(double));
    return self->pool.failed ? sp_fail_memory(self->context) : sp_conjac_make_workspace(self, 0);
}

static int report(void *data, const double *q, const double *external, sp_system_report *report)
{
    report->has_balance = q && external;
    return report->has_balance ? sp_conjac_system_balance(&(sp_system){.self = data}, q, external,
                                                          &report->quasistatic_residual, &report->dynamic_residual)
                               : SP_OK;
}

int sp_conjac_system_new(sp_context *context, sp_system *full, const sp_condensation *condensation, sp_system *system)
{
    sp_conjac *self = calloc(1, sizeof *self);
    int status;
    *system = (sp_system){0};
    if (!self) {
        sp_full_system_free(full);
        return sp_fail_memory(context);
    }

    self->context = context;
    self->full = *full;
    self->body = full->vertices.space;
    self->gamma = condensation->gamma;
    self->corrections = condensation->corrections;

    *system =
        (sp_system){.self = self,
                    .n = full->n,
                    .constant = full->constant,
                    .force = force,
                    .matrix_start = matrix_start,
                    .matrix_add = matrix_add,
                    .matrix_factor = matrix_factor,
                    .matrix_solve = matrix_solve,
                    .mass_times = mass_times,
                    .mass_solve = mass_solve,
                    .tangent_times = tangent_times,
                    .set_springs = set_springs,
                    .visit = visit,
                    .cubic = full->cubic,
                    .inverted = full->inverted ? inverted : NULL,
                    .viscous_add = full->viscous_add ? viscous_add : NULL,
                    .viscous_times = full->viscous_times ? viscous_times : NULL,
                    .active = full->active,
                    .destroy = sp_conjac_system_free,
                    .report = report,
                    .vertices = {.space = full->vertices.space,
                                 .prescribe = prescribe,
                                 .stiffness_times = stiffness_times,
                                 .inertia_times = inertia_times,
                                 .prescribed_inertia = prescribed_inertia,
                                 .prescribed_work = prescribed_work,
                                 .begin = full->vertices.begin ? begin : NULL,
                                 .apply_friction = full->vertices.apply_friction ? sp_conjac_apply_friction : NULL,
                                 .velocity_step = sp_conjac_velocity_step}};

    /* The system owns the full-order one from here on, also on failure. */
    *full = (sp_system){0};

    if (!(self->gamma >= 0 && self->gamma <= 1)) {
        status = sp_fail(context, SP_USAGE, "gamma of the stabilization is %g: it must be in [0, 1]", self->gamma);
        goto done;
    }
    if (self->corrections < 0) {
        status = sp_fail(context, SP_USAGE, "%lld corrections a step", (long long)self->corrections);
        goto done;
    }

    SP_TRY(sp_full_system_open(&self->full));
    SP_TRY(sp_conjac_condensation_new(context, self->body, condensation->count, condensation->vertex, &self->map));
    SP_TRY(sp_dense_fits(context, self->map.s, self->map.d + 2));
    SP_TRY(sp_fe_space_matrix(context, self->body, &self->supported));
    SP_TRY(sp_conjac_condensation_part(&self->map, sp_full_system_mass(&self->full), &self->M_ss));
    SP_TRY(allocate(self));
done:
    if (status != SP_OK)
        sp_conjac_system_free(system);
    return status;
}

void sp_conjac_system_free(sp_system *system)
{
    sp_conjac *self = system->self;
    if (!self)
        return;
    sp_conjac_condensation_free(&self->map);
    sp_sparse_free(&self->M_ss);
    sp_sparse_free(&self->supported);
    sp_full_system_free(&self->full);
    sp_pool_free(&self->joint_pool);
    sp_pool_free(&self->pool);
    free(self);
    *system = (sp_system){0};
}

/* ---- statics ---- */

static double norm(int64_t n, const double *x)
{
    return sqrt(sp_dense_dot(n, x, x));
}

/* Computes K_ss at q and factors it; the exact one if that is positive definite. */
static int assemble(sp_conjac *self, const double *q)
{
    int64_t factorizations = 0;
    const int status = sp_conjac_assemble(self, q, false, &factorizations);
    return status == SP_NUMERICAL ? sp_conjac_assemble(self, q, true, &factorizations) : status;
}

int sp_conjac_system_balance(sp_system *system, const double *q, const double *external, double *quasistatic,
                             double *dynamic)
{
    sp_conjac *self = system->self;
    const int64_t d = self->map.d, s = self->map.s;

    SP_PASS(assemble(self, q));
    SP_PASS(sp_conjac_columns(self));

    /* r = external − f; the residuals are r_s and Jᵀ r = r_d + J_sᵀ r_s. */
    for (int64_t i = 0; i < self->full.n; i++)
        self->x[i] = external[i] - self->f[i];
    sp_conjac_condensation_split(&self->map, self->x, self->xd, self->xs);
    *quasistatic = norm(s, self->xs);

    sp_dense_inner(self->context, s, d, self->Z, 1, self->xs, self->y, self->work);
    for (int64_t k = 0; k < d; k++)
        self->y[k] += self->xd[k];

    *dynamic = norm(d, self->y);
    return SP_OK;
}

int sp_conjac_system_inertia(sp_system *system, const double *q, double *inertia)
{
    sp_conjac *self = system->self;
    SP_PASS(assemble(self, q));
    SP_PASS(sp_conjac_columns(self));
    sp_conjac_inertia(self);
    memcpy(inertia, self->G, (size_t)(self->map.d * self->map.d) * sizeof *inertia);
    return SP_OK;
}

int64_t sp_conjac_system_dynamic(const sp_system *system)
{
    return ((const sp_conjac *)system->self)->map.d;
}

int64_t sp_conjac_system_added(const sp_system *system)
{
    return ((const sp_conjac *)system->self)->map.added;
}

void sp_conjac_system_mark(const sp_system *system, bool *dynamic)
{
    const sp_conjac_condensation *map = &((const sp_conjac *)system->self)->map;
    for (int64_t i = 0; i < map->d; i++)
        dynamic[map->body->free[map->dynamic[i]] / 3] = true;
}

/* The equation (f − external)_s = 0: the gradient of W(q) − external · q with respect to the quasistatic components
 * q_s. */
typedef struct balance {
    sp_conjac *conjac;
    const double *external;
    double *q; /* [n], whose q_s follow the iterations */
    /* largest forces so far, N: over the iterates, and including the point of the last evaluation */
    double largest, largest_here;
} balance;

static void residual(void *self, const double *x, double *r, sp_newton_residual *size)
{
    balance *b = self;
    const sp_conjac *conjac = b->conjac;
    const int64_t n = conjac->full.n, s = conjac->map.s, *quasistatic = conjac->map.quasistatic;

    for (int64_t i = 0; i < s; i++)
        b->q[quasistatic[i]] = x[i];
    const double energy = conjac->full.force(conjac->full.self, b->q, conjac->f);
    for (int64_t i = 0; i < s; i++)
        r[i] = conjac->f[quasistatic[i]] - b->external[quasistatic[i]];

    /* Convergence is relative to the largest forces so far; an inverted element has no finite energy and is not
     * accepted. */
    b->largest_here = fmax(b->largest, fmax(norm(n, b->external), norm(n, conjac->f)));

    *size = (sp_newton_residual){.norm = isfinite(energy) ? norm(s, r) : NAN,
                                 .scale = b->largest_here,
                                 .potential = energy - sp_dense_dot(n, b->external, b->q)};
}

static int factor(void *self, const double *x, bool definite)
{
    balance *b = self;
    int64_t factorizations = 0;
    (void)x; /* q has the components already */
    b->largest = b->largest_here;
    return sp_conjac_assemble(b->conjac, b->q, definite, &factorizations);
}

static int solve(void *self, const double *r, double tolerance, double *dx)
{
    sp_conjac *conjac = ((balance *)self)->conjac;
    (void)tolerance;
    memcpy(dx, r, (size_t)conjac->map.s * sizeof *dx);
    return sp_conjac_condensation_solve(&conjac->map, false, 1, dx);
}

static int not_converged(void *self, double relative, int64_t iterations)
{
    const balance *b = self;
    return sp_fail(b->conjac->context, SP_NUMERICAL,
                   "the quasistatic vertices found no balance in %lld iterations: %g of %g N are left",
                   (long long)iterations, relative * b->largest_here, b->largest_here);
}

int sp_conjac_system_settle(sp_system *system, const double *external, double tolerance, int64_t iterations, double *q)
{
    sp_conjac *self = system->self;
    const int64_t s = self->map.s;
    balance b = {.conjac = self, .external = external, .q = q};

    const sp_newton_problem problem = {.self = &b,
                                       .n = s,
                                       .residual = residual,
                                       .factor = factor,
                                       .solve = solve,
                                       .not_converged = not_converged,
                                       .merit = SP_NEWTON_MINIMUM,
                                       .has_definite = true,
                                       .tolerance = tolerance > 0 ? tolerance : 1e-10,
                                       .iterations = iterations > 0 ? iterations : 50};

    sp_pool pool = {0};
    sp_newton_vectors vectors;
    sp_newton_report report;
    double **all[] = {&vectors.x, &vectors.r, &vectors.dx, &vectors.trial};

    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        *all[i] = sp_pool_new(&pool, s, sizeof(double));
    int status = sp_allocated(self->context, !pool.failed);

    if (status == SP_OK) {
        for (int64_t i = 0; i < s; i++)
            vectors.x[i] = q[self->map.quasistatic[i]];
        status = sp_newton_solve(&problem, NULL, &vectors, &report);
    }
    sp_pool_free(&pool);
    return status;
}
