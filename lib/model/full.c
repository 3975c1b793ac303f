#include "assembly/elastic.h"
#include "linear/singular.h"
#include "model/full_internal.h"
#include "model/vertex_mass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The force of displaced fixed vertices in the linear model, by the element matrices at rest: K v over all vertices. */
static void rest_times(sp_full *self, const double *v)
{
    sp_elastic_tangent_times(self->context, self->body, self->rest, v, self->f);
}

static bool keep_fixed(const sp_full *self, const double *from, double *to)
{
    bool any = false;

    for (int64_t i = 0; i < 3 * self->body->mesh->vertex_count; i++)
        if (self->body->dof[i] < 0) {
            to[i] = from[i];
            any |= from[i] != 0;
        }
    return any;
}

/* Sets the free components of x to 0. */
static void drop_free(const sp_full *self, double *x)
{
    for (int64_t i = 0; i < self->body->dof_count; i++)
        x[self->body->free[i]] = 0;
}

static void prescribe(void *data, const double *u, const double *v)
{
    sp_full *self = data;
    const int64_t rows = 3 * self->body->mesh->vertex_count;

    self->prescribed_force = keep_fixed(self, u, self->u);
    self->prescribed_moving = keep_fixed(self, v, self->v);
    self->prescribed_energy = 0;
    if (!self->linear)
        return;

    /* ½ u_hᵀ K_hh u_h and K_fh u_h: the free components are 0 in this product. */
    if (self->prescribed_force) {
        drop_free(self, self->u);
        rest_times(self, self->u);
        for (int64_t i = 0; i < rows; i++)
            self->prescribed_energy += 0.5 * self->u[i] * self->f[i];
        sp_fe_space_gather(self->body, self->f, self->prescribed_elastic);
    }

    /* The rates of the same, for damping: K_fh v_h and D_fh v_h */
    if (self->prescribed_moving) {
        drop_free(self, self->v);
        rest_times(self, self->v);
        sp_fe_space_gather(self->body, self->f, self->prescribed_elastic_rate);
        if (self->viscous) {
            sp_viscous_times(self->context, self->viscous, self->rest, self->v, self->f);
            sp_fe_space_gather(self->body, self->f, self->prescribed_viscous_rate);
        }
    }
}

static void prescribed_inertia(void *data, const double *a, double *f)
{
    sp_full *self = data;
    const int64_t rows = 3 * self->body->mesh->vertex_count;
    if (self->lumped)
        return;

    /* f −= M_fh a_h */
    double *prescribed = self->rest; /* set to zero again below */
    keep_fixed(self, a, prescribed);
    memset(self->f, 0, (size_t)rows * sizeof *self->f);
    sp_fe_space_mass_times(self->context, self->body, 3, prescribed, self->f);
    memset(prescribed, 0, (size_t)rows * sizeof *prescribed);

    for (int64_t i = 0; i < self->body->dof_count; i++)
        f[i] -= self->f[self->body->free[i]];
}

static void inertia_times(void *data, const double *v, double *y)
{
    sp_full *self = data;
    const int64_t rows = 3 * self->body->mesh->vertex_count;

    memset(y, 0, (size_t)rows * sizeof *y);
    if (!self->lumped) {
        sp_fe_space_mass_times(self->context, self->body, 3, v, y);
        return;
    }

    for (int64_t i = 0; i < rows; i++)
        y[i] = self->vertex_mass[i / 3] * v[i];
}

static void stiffness_times(void *data, const double *q, const double *v, double *y)
{
    sp_full *self = data;
    if (!self->linear)
        sp_fe_space_scatter(self->body, q, self->u);
    sp_elastic_tangent_times(self->context, self->body, self->linear ? self->rest : self->u, v, y);
}

static double prescribed_work(void *data, const double *q, const double *du)
{
    sp_full *self = data;
    double work = 0;

    sp_fe_space_scatter(self->body, q, self->u);
    if (self->linear)
        rest_times(self, self->u);
    else
        sp_elastic_force(self->context, self->body, self->u, self->f);

    /* Forces on fixed components */
    for (int64_t i = 0; i < 3 * self->body->mesh->vertex_count; i++)
        if (self->body->dof[i] < 0)
            work += self->f[i] * du[i];
    return work + sp_supports_prescribed_work(&self->supports, self->u, du);
}

static double begin(void *data, const double *q)
{
    sp_full *self = data;
    sp_fe_space_scatter(self->body, q, self->u);
    return sp_supports_begin(&self->supports, self->u);
}

static sp_vertex_mass mass_of(const sp_full *self)
{
    return (sp_vertex_mass){self->context, self->body, self->lumped ? self->diagonal : NULL, &self->M_short};
}

static void mass_times(void *data, const double *x, double *y)
{
    const sp_vertex_mass mass = mass_of(data);
    sp_vertex_mass_times(&mass, x, y);
}

static double apply_friction(void *data, const double *q0, const double *q1, double h, double *v)
{
    sp_full *self = data;
    const sp_vertex_mass mass = mass_of(self);
    (void)q0;
    return sp_vertex_mass_apply_friction(&mass, &self->supports, q1, h, v, self->u, self->v, self->f);
}

static double linear_force(sp_full *self, const double *q, double *f)
{
    double energy = self->prescribed_energy, *product = f ? f : self->f;

    sp_sparse_times(self->context, &self->K, 1, q, product);

    /* The energy is ½ q·K q + q·K_fh u_h + ½ u_h·K_hh u_h. */
    for (int64_t i = 0; i < self->body->dof_count; i++) {
        const double prescribed_elastic = self->prescribed_force ? self->prescribed_elastic[i] : 0;
        energy += q[i] * (0.5 * product[i] + prescribed_elastic);
        product[i] += prescribed_elastic;
    }
    return energy;
}

static double force(void *data, const double *q, double *f)
{
    sp_full *self = data;
    double energy;

    sp_fe_space_scatter(self->body, q, self->u);
    if (self->linear)
        energy = linear_force(self, q, f);
    else {
        energy = sp_elastic_force(self->context, self->body, self->u, f ? self->f : NULL);
        if (f)
            sp_fe_space_gather(self->body, self->f, f);
    }
    return energy + sp_supports_force(&self->supports, self->u, f);
}

static void matrix_start(void *data, double mass_scale)
{
    sp_full *self = data;

    self->mass_scale = mass_scale;
    self->stiffness_scale = 0;
    self->spring_scale = 0;
    self->viscous_scale = 0;

    /* S of a linear system is summed up from the scales when it is factored. */
    if (self->linear)
        return;
    for (int64_t k = 0; k < self->S.start[self->S.order]; k++)
        self->S.value[k] = mass_scale * self->M.value[k];
}

static double matrix_add(void *data, const double *q, double scale, double spring_scale, bool definite, double *f)
{
    sp_full *self = data;

    if (self->linear) {
        self->stiffness_scale += scale;
        self->spring_scale += spring_scale;
        if (spring_scale != 0) /* matrix_factor needs the floor planes */
            sp_fe_space_scatter(self->body, q, self->u);
        return f ? force(self, q, f) : 0;
    }

    sp_fe_space_scatter(self->body, q, self->u);
    double energy =
        sp_elastic_tangent(self->context, self->body, self->u, scale, definite, f ? self->f : NULL, &self->S);

    if (spring_scale != 0)
        sp_supports_stiffness(&self->supports, self->u, spring_scale, &self->S);

    if (f)
        sp_fe_space_gather(self->body, self->f, f);
    return energy + sp_supports_force(&self->supports, self->u, f);
}

static int64_t inverted(void *data, const double *q)
{
    sp_full *self = data;
    sp_fe_space_scatter(self->body, q, self->u);
    return sp_elastic_inverted(self->body, self->u);
}

static int64_t softened(void *data, const double *q)
{
    sp_full *self = data;
    sp_fe_space_scatter(self->body, q, self->u);
    int64_t first;
    sp_elastic_softened(self->body, self->u, &first);
    return first;
}

/* Factors the tangent at q with a small multiple of the identity, by which a pivot that is only rounding is positive; S
 * itself is left without it. */
static int factor_tangent(sp_full *self, const double *q)
{
    matrix_start(self, 0);
    matrix_add(self, q, 1, 1, false, NULL);

    const double shift = 1e-10 * sp_sparse_trace(&self->S) / (double)self->S.order;

    /* The shift is added for the factorization and subtracted again. S keeps its values up to rounding. */
    for (int sign = 1; sign >= -1; sign -= 2) {
        for (int64_t row = 0; row < self->S.order; row++)
            for (int64_t k = self->S.start[row]; k < self->S.start[row + 1]; k++)
                self->S.value[k] += self->S.index[k] == row ? sign * shift : 0;
        if (sign > 0 && sp_cholesky_factor(self->factor, &self->S) != SP_OK)
            return SP_NUMERICAL;
    }

    self->factorizations++;
    return SP_OK;
}

static int matrix_regular(void *data, const double *q, enum sp_suspicion suspicion)
{
    sp_full *self = data;
    const double doubtful = 1e-7; /* the matrix was factored near q, not there */
    const double weak = 1e-5;     /* worth a remark */
    const int64_t n = self->body->dof_count;
    double *x = self->v, relative;
    int64_t most = 0, moving = 0, last = -1;
    int status = SP_OK;
    if (n == 0 || self->solver != SP_SOLVER_DIRECT || (self->linear && !self->factored))
        return SP_OK;

    /* with the factor at hand, which costs three solves */
    if (self->factored && (self->linear || suspicion == SP_SUSPICION_NONE)) {
        status = sp_cholesky_singular(self->context, self->factor, &self->S, x, &relative);
        if (status != SP_OK || relative < (self->linear ? 1 : doubtful))
            return status;
    }

    if (!self->linear) {
        self->factored = false;
        if (factor_tangent(self, q) != SP_OK)
            return SP_OK; /* unstable, and not singular */
        status = sp_cholesky_singular(self->context, self->factor, &self->S, x, &relative);
        if (status != SP_OK || relative < weak)
            return status;
    }

    /* x is nearly in the null space: its large entries belong to the vertices that move. */
    for (int64_t i = 0; i < n; i++) {
        const int64_t vertex = self->body->free[i] / 3;
        most = fabs(x[i]) > fabs(x[most]) ? i : most;
        if (fabs(x[i]) > 0.1 && vertex != last) { /* of the largest entry, which is 1 */
            moving++;
            last = vertex;
        }
    }

    if (relative < 1 && suspicion != SP_SUSPICION_FAILED)
        sp_remark(
            self->context,
            "the tangent stiffness is nearly singular: %lld vertices move almost without force, vertex %lld most, "
            "as about a hinge inside the body; rounding may change their motion by %.0e of it",
            (long long)moving, (long long)(self->body->free[most] / 3), relative);
    if (relative < 1)
        return SP_OK;
    return sp_fail(
        self->context, SP_NUMERICAL,
        "the tangent stiffness is singular, and the equilibrium arbitrary: %lld vertices move without force, "
        "vertex %lld most (a mechanism inside the body, such as a hinge, or hourglass modes)",
        (long long)moving, (long long)(self->body->free[most] / 3));
}

static void matrix_tolerance(void *data, double tolerance)
{
    ((sp_full *)data)->enough = tolerance;
}

static int mass_solve(void *data, const double *b, double *x)
{
    sp_full *self = data;

    if (!self->lumped)
        return sp_cholesky_solve(self->mass_factor, 1, b, x);
    for (int64_t i = 0; i < self->body->dof_count; i++)
        x[i] = b[i] / self->diagonal[i];
    return SP_OK;
}

static void tangent_times(void *data, const double *q, const double *v, double *y)
{
    sp_full *self = data;

    if (self->linear) {
        sp_sparse_times(self->context, &self->K, 1, v, y);

        /* The part of prescribed vertices */
        if (self->prescribed_moving)
            for (int64_t i = 0; i < self->body->dof_count; i++)
                y[i] += self->prescribed_elastic_rate[i];
        return;
    }

    sp_fe_space_scatter(self->body, q, self->u);
    sp_fe_space_scatter(self->body, v, self->v);
    sp_elastic_tangent_times(self->context, self->body, self->u, self->v, self->f);
    sp_fe_space_gather(self->body, self->f, y);
}

static void set_springs(void *data, int64_t count, const sp_spring *springs)
{
    sp_full *self = data;
    uint64_t key = 14695981039346656037u; /* FNV-1a: a linear system keeps its factor while only anchors move */
    for (int64_t s = 0; s < count; s++) {
        const struct {
            int64_t vertex;
            double stiffness;
        } part = {springs[s].vertex, springs[s].stiffness};
        for (size_t i = 0; i < sizeof part; i++)
            key = (key ^ ((const unsigned char *)&part)[i]) * 1099511628211u;
    }

    self->supports.spring_count = count;
    self->supports.springs = springs;

    if (key != self->spring_key && self->solver == SP_SOLVER_DIRECT)
        self->factored = false;
    self->spring_key = key;
}

static void visit(void *data, sp_state *state)
{
    sp_full *self = data;

    double *values[] = {&self->factored_mass,    &self->factored_stiffness, &self->factored_spring,
                        &self->factored_viscous, &self->factor_products,    &self->factor_digits};
    int64_t *counts[] = {&self->solves, &self->products, &self->factorizations};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        SP_STATE_VALUE(state, *values[i]);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        SP_STATE_VALUE(state, *counts[i]);

    SP_STATE_VALUE(state, self->factored);
    SP_STATE_VALUE(state, self->factor_stale);
    sp_supports_visit(&self->supports, state);
    if (self->factored_values)
        sp_state_reals(state, self->factored_values, self->S.start[self->S.order]);

    /* The factor itself is not saved. */
    if (state->loading && !state->failed && self->factored)
        state->failed = sp_full_factor_again(self) != SP_OK;
}

static int report(void *data, const double *q, const double *external, sp_system_report *report);

/* Allocates the vectors; the pool tells if it was out of memory. */
static void allocate(sp_full *self)
{
    const int64_t rows = 3 * self->body->mesh->vertex_count, n = self->body->dof_count;

    self->u = sp_pool_new(&self->pool, rows, sizeof(double));
    self->f = sp_pool_new(&self->pool, rows, sizeof(double));
    self->v = sp_pool_new(&self->pool, rows, sizeof(double));
    self->rest = sp_pool_new(&self->pool, rows, sizeof(double));
    self->diagonal = sp_pool_new(&self->pool, n, sizeof(double));
    self->vertex_mass = sp_pool_new(&self->pool, self->body->mesh->vertex_count, sizeof(double));

    if (self->linear) {
        self->prescribed_elastic = sp_pool_new(&self->pool, n, sizeof(double));
        self->prescribed_elastic_rate = sp_pool_new(&self->pool, n, sizeof(double));
        self->prescribed_viscous_rate = sp_pool_new(&self->pool, n, sizeof(double));
    }
}

/* The diagonal of the mass matrix. */
static void find_diagonal(sp_full *self)
{
    for (int64_t row = 0; row < self->body->dof_count; row++)
        for (int64_t k = self->M.start[row]; k < self->M.start[row + 1]; k++)
            if (self->M.index[k] == row)
                self->diagonal[row] = self->M.value[k];
}

int sp_full_system_new(sp_context *context, sp_fe_space *body, bool linear, bool lumped, const double *prescribed,
                       sp_system *system)
{
    sp_full *self = calloc(1, sizeof *self);
    int64_t n = body->dof_count, *node = NULL;
    int status;

    SP_PASS(sp_allocated(context, self));
    *system = (sp_system){.self = self,
                          .lumped = lumped,
                          .n = n,
                          .constant = linear,
                          .active = !linear,
                          .force = force,
                          .matrix_start = matrix_start,
                          .matrix_add = matrix_add,
                          .matrix_factor = sp_full_factor,
                          .matrix_solve = sp_full_solve,
                          .matrix_regular = matrix_regular,
                          .mass_times = mass_times,
                          .mass_solve = mass_solve,
                          .tangent_times = tangent_times,
                          .set_springs = set_springs,
                          .visit = visit,
                          .cubic = linear || sp_fe_space_quadratic(context, body) == SP_OK,
                          .inverted = linear ? NULL : inverted,
                          .softened = linear ? NULL : softened,
                          .destroy = sp_full_system_free,
                          .report = report,
                          .vertices = {.space = body,
                                       .prescribe = prescribe,
                                       .stiffness_times = stiffness_times,
                                       .inertia_times = inertia_times,
                                       .prescribed_inertia = prescribed_inertia,
                                       .prescribed_work = prescribed_work}};

    self->context = context;
    sp_supports_new(body, &self->supports);
    self->body = body;
    self->linear = linear;
    self->lumped = lumped;

    SP_TRY(sp_fe_space_pattern(context, body));
    SP_TRY(sp_fe_space_matrix(context, body, &self->M));
    SP_TRY(sp_fe_space_matrix(context, body, &self->S));
    SP_TRY(sp_fe_space_mass(context, body, lumped, &self->M));
    SP_TRY(sp_sparse_compress(context, &self->M, &self->M_short));

    allocate(self);
    node = sp_pool_raw(&self->pool, n, sizeof *node);
    SP_TRY(sp_allocated(context, !self->pool.failed));

    sp_fe_space_vertex_mass(body, true, self->vertex_mass);
    if (linear) {
        SP_TRY(sp_fe_space_matrix(context, body, &self->K));
        sp_elastic_tangent(context, body, self->u, 1, false, NULL, &self->K);
    }

    if (prescribed)
        prescribe(self, prescribed, self->rest);

    sp_fe_space_nodes(body, node);
    find_diagonal(self);
    SP_TRY(sp_cholesky_new(context, &self->S, node, &self->factor));

    if (!lumped) {
        SP_TRY(sp_cholesky_new(context, &self->M_short, NULL, &self->mass_factor));
        SP_TRY(sp_cholesky_factor(self->mass_factor, &self->M_short));
    }
done:
    if (status != SP_OK)
        sp_full_system_free(system);
    return status;
}

void sp_full_system_free(sp_system *system)
{
    sp_full *self = system->self;
    if (!self)
        return;
    sp_supports_free(&self->supports);
    sp_cholesky_free(self->factor);
    sp_cholesky_free(self->mass_factor);
    sp_sparse_free(&self->K);
    sp_sparse_free(&self->D);
    sp_sparse_free(&self->M);
    sp_sparse_free(&self->M_short);
    sp_sparse_free(&self->S);
    sp_pool_free(&self->pool);
    free(self);
    *system = (sp_system){0};
}

static void viscous_add(void *data, const double *q, double scale)
{
    sp_full *self = data;

    if (self->linear) {
        self->viscous_scale += scale;
        return;
    }

    sp_fe_space_scatter(self->body, q, self->u);
    sp_viscous_matrix(self->context, self->viscous, self->u, scale, &self->S);
}

static void viscous_times(void *data, const double *q, const double *v, double *y)
{
    sp_full *self = data;

    if (self->linear) {
        sp_sparse_times(self->context, &self->D, 1, v, y);
        if (self->prescribed_moving)
            for (int64_t i = 0; i < self->body->dof_count; i++)
                y[i] += self->prescribed_viscous_rate[i];
        return;
    }

    sp_fe_space_scatter(self->body, q, self->u);
    sp_fe_space_scatter(self->body, v, self->v);
    sp_viscous_times(self->context, self->viscous, self->u, self->v, self->f);
    sp_fe_space_gather(self->body, self->f, y);
}

int sp_full_system_damp(sp_system *system, const sp_viscous *viscous)
{
    sp_full *self = system->self;
    if (self->linear) {
        SP_PASS(sp_fe_space_matrix(self->context, self->body, &self->D));
        memset(self->f, 0, (size_t)(3 * self->body->mesh->vertex_count) * sizeof *self->f);
        sp_viscous_matrix(self->context, viscous, self->f, 1, &self->D);
    }

    self->viscous = viscous;
    self->factored = false;
    system->viscous_add = viscous_add;
    system->viscous_times = viscous_times;
    return SP_OK;
}

int sp_full_system_grounds(sp_system *system, int64_t count, const sp_ground *grounds)
{
    sp_full *self = system->self;
    const int status = sp_supports_set_grounds(self->context, &self->supports, count, grounds);

    if (status != SP_OK || count == 0)
        return status;

    /* Floor planes act on one side only: the stiffness depends on q. */
    system->constant = system->cubic = false;
    system->vertices.begin = begin;
    system->vertices.apply_friction = sp_supports_rough(&self->supports) ? apply_friction : NULL;
    self->factored = false;
    return SP_OK;
}

int sp_full_system_solver(sp_system *system, enum sp_solver solver, double tolerance)
{
    sp_full *self = system->self;

    self->solver = solver;
    self->tolerance = tolerance > 0 ? tolerance : 1e-8;
    self->factored = false;
    system->matrix_tolerance = solver == SP_SOLVER_DIRECT ? NULL : matrix_tolerance;

    if (solver == SP_SOLVER_DIRECT)
        return SP_OK;

    if (!self->iteration.n)
        sp_iteration_new(&self->pool, self->body->dof_count, 1, &self->iteration);
    if (solver == SP_SOLVER_REUSED && !self->factored_values)
        self->factored_values = sp_pool_new(&self->pool, self->S.start[self->S.order], sizeof(double));
    if (solver == SP_SOLVER_JACOBI && !self->block)
        self->block = sp_pool_new(&self->pool, 9 * self->body->mesh->vertex_count, sizeof(double));
    return sp_allocated(self->context, !self->pool.failed);
}

static int report(void *data, const double *q, const double *external, sp_system_report *report)
{
    const sp_full *self = data;
    (void)q, (void)external;
    report->iterative = self->solver != SP_SOLVER_DIRECT;
    report->linear_solves = self->solves;
    report->linear_products = self->products;
    report->counts_factorizations = report->iterative;
    report->factorizations = self->factorizations;
    return SP_OK;
}

void sp_full_system_solves(const sp_system *system, int64_t *solves, int64_t *products, int64_t *factorizations)
{
    const sp_full *self = system->self;
    *solves = self->solves;
    *products = self->products;
    *factorizations = self->factorizations;
}

int sp_full_system_open(sp_system *system)
{
    sp_full *self = system->self;
    return self->K.value ? SP_OK : sp_fe_space_matrix(self->context, self->body, &self->K);
}

void sp_full_system_stiffness(const sp_system *system, const double *q, bool definite, double *f, const sp_sparse **K)
{
    sp_full *self = system->self;

    *K = &self->K;
    if (self->linear) {
        if (f)
            force(self, q, f);
        return;
    }

    memset(self->K.value, 0, (size_t)self->K.start[self->K.order] * sizeof *self->K.value);
    sp_fe_space_scatter(self->body, q, self->u);
    sp_elastic_tangent(self->context, self->body, self->u, 1, definite, f ? self->f : NULL, &self->K);

    if (!f)
        return;
    sp_fe_space_gather(self->body, self->f, f);
    sp_supports_force(&self->supports, self->u, f);
}

const sp_sparse *sp_full_system_mass(const sp_system *system)
{
    return &((const sp_full *)system->self)->M;
}

const sp_supports *sp_full_system_supports(const sp_system *system)
{
    return &((const sp_full *)system->self)->supports;
}

const double *sp_full_system_displacement(const sp_system *system, const double *q)
{
    sp_full *self = system->self;
    sp_fe_space_scatter(self->body, q, self->u);
    return self->u;
}

const double *sp_full_system_prescribed_velocity(const sp_system *system)
{
    return ((const sp_full *)system->self)->v;
}

int sp_full_system_respond(const sp_system *system, int64_t count, const double *b, double *x)
{
    sp_full *self = system->self;
    sp_pool scratch = {0};
    double *rest = sp_pool_new(&scratch, system->n, sizeof *rest);
    int status = sp_allocated(self->context, !scratch.failed);

    /* K(0) with the springs, whatever matrix the last step has left */
    if (status == SP_OK) {
        matrix_start(self, 0);
        matrix_add(self, rest, 1, 1, false, NULL);
        if (self->linear)
            sp_full_sum_up(self);
        status = sp_full_factor_now(self); /* whatever solver the steps use */
    }

    if (status == SP_OK)
        status = sp_cholesky_solve(self->factor, count, b, x);
    sp_pool_free(&scratch);
    return status;
}

void sp_full_system_factor_size(const sp_system *system, double *nonzeros, double *flops)
{
    const sp_full *self = system->self;
    *nonzeros = sp_cholesky_nonzeros(self->factor);
    *flops = sp_cholesky_flops(self->factor);
}
