#include "assembly/elastic.h"
#include "dynamics/models.h"
#include "linear/cholesky.h"

#include <stdlib.h>
#include <string.h>

typedef struct full {
    sp_pool pool;
    sp_context *context;
    sp_body *body;
    bool linear, lumped;
    sp_sparse K;            /* linear: K(0) */
    sp_sparse M, S;         /* over the pattern of K */
    sp_sparse M_short;      /* for products */
    double *diagonal;       /* lumped mass by degree of freedom */
    sp_cholesky *factor, *mass_factor;
    double *u, *f, *v;      /* full vectors; held components of u keep their displacement, those of v are 0 */
    double mass_scale, stiffness_scale, spring_scale, viscous_scale;              /* of a linear S … */
    double factored_mass, factored_stiffness, factored_spring, factored_viscous; /* … and of its factor, which is kept while they agree */
    bool factored;
    int64_t spring_count;
    const sp_spring *springs;
    const sp_viscous *viscous; /* NULL: none */
    sp_sparse D;               /* linear: D(0) */
} full;

static double spring_stretch(const full *self, const sp_spring *spring, int c, const double *u)
{
    return self->body->mesh->vertices[3 * spring->vertex + c] + u[3 * spring->vertex + c] - spring->anchor[c];
}

/* Springs at the full displacement u: force into f [n] over free components (NULL: energy only). */
static double add_springs(const full *self, const double *u, double *f)
{
    double energy = 0;
    for (int64_t s = 0; s < self->spring_count; s++)
        for (int c = 0; c < 3; c++) {
            const sp_spring *spring = &self->springs[s];
            int64_t dof = self->body->dof[3 * spring->vertex + c];
            double stretch = spring_stretch(self, spring, c, u);
            energy += 0.5 * spring->stiffness * stretch * stretch;
            if (f && dof >= 0)
                f[dof] += spring->stiffness * stretch;
        }
    return energy;
}

static double linear_force(full *self, const double *q, double *f)
{
    double energy = 0, *product = f ? f : self->f;
    sp_sparse_times(self->context, &self->K, 1, q, product);
    for (int64_t i = 0; i < self->body->dof_count; i++)
        energy += 0.5 * q[i] * product[i];
    return energy;
}

static double force(void *data, const double *q, double *f)
{
    full *self = data;
    double energy;
    sp_body_spread(self->body, q, self->u);
    if (self->linear)
        energy = linear_force(self, q, f);
    else {
        energy = sp_elastic_force(self->context, self->body, self->u, f ? self->f : NULL);
        if (f)
            sp_body_gather(self->body, self->f, f);
    }
    return energy + add_springs(self, self->u, f);
}

static void matrix_start(void *data, double mass_scale)
{
    full *self = data;
    self->mass_scale = mass_scale;
    self->stiffness_scale = 0;
    self->spring_scale = 0;
    self->viscous_scale = 0;
    if (self->linear)
        return;
    for (int64_t k = 0; k < self->S.start[self->S.order]; k++)
        self->S.value[k] = mass_scale * self->M.value[k];
}

static void add_spring_stiffness(full *self, double scale)
{
    for (int64_t s = 0; s < self->spring_count; s++)
        for (int c = 0; c < 3; c++) {
            int64_t row = self->body->dof[3 * self->springs[s].vertex + c];
            for (int64_t k = row < 0 ? 0 : self->S.start[row]; row >= 0 && k < self->S.start[row + 1]; k++)
                if (self->S.index[k] == row)
                    self->S.value[k] += scale * self->springs[s].stiffness;
        }
}

static double matrix_add(void *data, const double *q, double scale, double spring_scale, bool definite, double *f)
{
    full *self = data;
    if (self->linear) {
        self->stiffness_scale += scale;
        self->spring_scale += spring_scale;
        return f ? force(self, q, f) : 0;
    }
    sp_body_spread(self->body, q, self->u);
    double energy = sp_elastic_tangent(self->context, self->body, self->u, scale, definite, f ? self->f : NULL, &self->S);
    add_spring_stiffness(self, spring_scale);
    if (f)
        sp_body_gather(self->body, self->f, f);
    return energy + add_springs(self, self->u, f);
}

static int64_t inverted(void *data, const double *q)
{
    full *self = data;
    sp_body_spread(self->body, q, self->u);
    return sp_elastic_inverted(self->body, self->u);
}

static int matrix_factor(void *data)
{
    full *self = data;
    if (self->linear) {
        if (self->factored && self->factored_mass == self->mass_scale && self->factored_stiffness == self->stiffness_scale &&
            self->factored_spring == self->spring_scale && self->factored_viscous == self->viscous_scale)
            return SP_OK;
        for (int64_t k = 0; k < self->S.start[self->S.order]; k++)
            self->S.value[k] = self->mass_scale * self->M.value[k] + self->stiffness_scale * self->K.value[k];
        for (int64_t k = 0; self->viscous && k < self->S.start[self->S.order]; k++)
            self->S.value[k] += self->viscous_scale * self->D.value[k];
        add_spring_stiffness(self, self->spring_scale);
        self->factored_mass = self->mass_scale;
        self->factored_stiffness = self->stiffness_scale;
        self->factored_spring = self->spring_scale;
        self->factored_viscous = self->viscous_scale;
    }
    int status = sp_cholesky_factor(self->factor, &self->S);
    self->factored = status == SP_OK;
    return status;
}

static int matrix_solve(void *data, const double *b, double *x)
{
    return sp_cholesky_solve(((full *)data)->factor, 1, b, x);
}

static void mass_times(void *data, const double *x, double *y)
{
    full *self = data;
    if (self->lumped)
        for (int64_t i = 0; i < self->body->dof_count; i++)
            y[i] = self->diagonal[i] * x[i];
    else
        sp_sparse_times(self->context, &self->M_short, 1, x, y);
}

static int mass_solve(void *data, const double *b, double *x)
{
    full *self = data;
    if (!self->lumped)
        return sp_cholesky_solve(self->mass_factor, 1, b, x);
    for (int64_t i = 0; i < self->body->dof_count; i++)
        x[i] = b[i] / self->diagonal[i];
    return SP_OK;
}

static void tangent_times(void *data, const double *q, const double *v, double *y)
{
    full *self = data;
    if (self->linear) {
        sp_sparse_times(self->context, &self->K, 1, v, y);
        return;
    }
    sp_body_spread(self->body, q, self->u);
    sp_body_spread(self->body, v, self->v);
    sp_elastic_tangent_times(self->context, self->body, self->u, self->v, self->f);
    sp_body_gather(self->body, self->f, y);
}

static void set_springs(void *data, int64_t count, const sp_spring *springs)
{
    full *self = data;
    self->spring_count = count;
    self->springs = springs;
    self->factored = false;
}

int sp_full_system_new(sp_context *context, sp_body *body, bool linear, bool lumped, const double *held, sp_system *system)
{
    full *self = calloc(1, sizeof *self);
    int64_t rows = 3 * body->mesh->vertex_count, n = body->dof_count;
    int64_t *node = NULL;
    int status;
    if (!self)
        return sp_fail_memory(context);
    *system = (sp_system){self, n, linear, force, matrix_start, matrix_add, matrix_factor, matrix_solve, mass_times, mass_solve, tangent_times, set_springs,
                           linear || sp_body_quadratic(context, body) == SP_OK, linear ? NULL : inverted, NULL, NULL, false};
    self->context = context;
    self->body = body;
    self->linear = linear;
    self->lumped = lumped;
    SP_TRY(sp_body_pattern(context, body));
    SP_TRY(sp_body_matrix(context, body, &self->M));
    SP_TRY(sp_body_matrix(context, body, &self->S));
    SP_TRY(sp_body_mass(context, body, lumped, &self->M));
    SP_TRY(sp_sparse_compress(context, &self->M, &self->M_short));
    self->u = sp_pool_new(&self->pool, rows, sizeof(double));
    self->f = sp_pool_new(&self->pool, rows, sizeof(double));
    self->v = sp_pool_new(&self->pool, rows, sizeof(double));
    self->diagonal = sp_pool_new(&self->pool, n, sizeof(double));
    node = sp_pool_raw(&self->pool, n, sizeof *node);
    if (self->pool.failed) {
        status = sp_fail_memory(context);
        goto done;
    }
    if (linear) {
        SP_TRY(sp_body_matrix(context, body, &self->K));
        sp_elastic_tangent(context, body, self->u, 1, false, NULL, &self->K);
    }
    for (int64_t i = 0; held && i < rows; i++)
        if (body->dof[i] < 0)
            self->u[i] = held[i];
    for (int64_t row = 0; row < n; row++) {
        node[row] = body->free[row] / 3;
        for (int64_t k = self->M.start[row]; k < self->M.start[row + 1]; k++)
            if (self->M.index[k] == row)
                self->diagonal[row] = self->M.value[k];
    }
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
    full *self = system->self;
    if (!self)
        return;
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
    full *self = data;
    if (self->linear) {
        self->viscous_scale += scale;
        return;
    }
    sp_body_spread(self->body, q, self->u);
    sp_viscous_matrix(self->context, self->viscous, self->u, scale, &self->S);
}

static void viscous_times(void *data, const double *q, const double *v, double *y)
{
    full *self = data;
    if (self->linear) {
        sp_sparse_times(self->context, &self->D, 1, v, y);
        return;
    }
    sp_body_spread(self->body, q, self->u);
    sp_body_spread(self->body, v, self->v);
    sp_viscous_times(self->context, self->viscous, self->u, self->v, self->f);
    sp_body_gather(self->body, self->f, y);
}

int sp_full_system_damp(sp_system *system, const sp_viscous *viscous)
{
    full *self = system->self;
    if (self->linear) {
        int status = sp_body_matrix(self->context, self->body, &self->D);
        if (status != SP_OK)
            return status;
        memset(self->f, 0, (size_t)(3 * self->body->mesh->vertex_count) * sizeof *self->f);
        sp_viscous_matrix(self->context, viscous, self->f, 1, &self->D);
    }
    self->viscous = viscous;
    self->factored = false;
    system->viscous_add = viscous_add;
    system->viscous_times = viscous_times;
    return SP_OK;
}

int sp_full_system_respond(const sp_system *system, int64_t count, const double *b, double *x)
{
    full *self = system->self;
    sp_pool scratch = {0};
    double *rest = sp_pool_new(&scratch, system->n, sizeof *rest);
    int status = scratch.failed ? sp_fail_memory(self->context) : SP_OK;
    if (status == SP_OK) {
        matrix_start(self, 0);
        matrix_add(self, rest, 1, 1, false, NULL);
        status = matrix_factor(self);
    }
    if (status == SP_OK)
        status = sp_cholesky_solve(self->factor, count, b, x);
    sp_pool_free(&scratch);
    return status;
}

void sp_full_system_factor_size(const sp_system *system, double *nonzeros, double *flops)
{
    const full *self = system->self;
    *nonzeros = sp_cholesky_nonzeros(self->factor);
    *flops = sp_cholesky_flops(self->factor);
}
