#include "dynamics/models.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EIGEN_WORK = 34 }; /* dsyev: blocks of 32 columns */

typedef struct reduced {
    sp_pool pool;
    sp_context *context;
    int r;
    sp_reduced_force force;
    double *mass, *mass_factor;      /* [r, r] */
    double *q, *f, *K, energy;       /* the last evaluation (K: lower triangle, without springs): integrators ask for force and stiffness at one place in turn */
    bool have_force, have_stiffness; /* at q */
    double *S;                       /* lower triangle */
    bool substitute;                 /* S may be replaced by a definite matrix */
    double *V, *eigenvalue, *work;   /* [r, r], [r], [EIGEN_WORK r]: for that */
    const double *U, *vertices;
    int64_t rows, spring_count;
    const sp_spring *springs;
    sp_reduced_viscosity viscosity;  /* self NULL: none */
    double *D;                       /* [r, r] lower triangle */
} reduced;

/* Adds the springs at q: energy ½k|x − a|² and force Uᵀ k(x − a). */
static double add_springs(const reduced *self, const double *q, double *f)
{
    double energy = 0;
    for (int64_t s = 0; s < self->spring_count; s++) {
        const sp_spring *spring = &self->springs[s];
        for (int c = 0; c < 3; c++) {
            const double *row = self->U + 3 * spring->vertex + c;
            double stretch = self->vertices[3 * spring->vertex + c] - spring->anchor[c] + cblas_ddot(self->r, row, (int)self->rows, q, 1);
            energy += 0.5 * spring->stiffness * stretch * stretch;
            cblas_daxpy(self->r, spring->stiffness * stretch, row, (int)self->rows, f, 1);
        }
    }
    return energy;
}

/* S += scale · k UᵀU over the three rows of each spring's vertex. */
static void add_spring_stiffness(reduced *self, double scale)
{
    for (int64_t s = 0; s < self->spring_count; s++)
        for (int c = 0; c < 3; c++) {
            const double *row = self->U + 3 * self->springs[s].vertex + c;
            for (int j = 0; j < self->r; j++)
                cblas_daxpy(self->r, scale * self->springs[s].stiffness * row[j * self->rows], row, (int)self->rows, self->S + (int64_t)j * self->r, 1);
        }
}

static void evaluate(reduced *self, const double *q, bool want_stiffness)
{
    size_t bytes = (size_t)self->r * sizeof *q;
    bool same = self->have_force && !memcmp(self->q, q, bytes);
    if (same && (self->have_stiffness || !want_stiffness))
        return;
    memcpy(self->q, q, bytes);
    self->have_stiffness = want_stiffness || self->force.together;
    self->energy = self->force.evaluate(self->force.self, q, false, self->f, self->have_stiffness ? self->K : NULL);
    self->energy += add_springs(self, q, self->f);
    self->have_force = true;
}

static double force(void *data, const double *q, double *f)
{
    reduced *self = data;
    evaluate(self, q, false);
    if (f)
        memcpy(f, self->f, (size_t)self->r * sizeof *f);
    return self->energy;
}

static void matrix_start(void *data, double mass_scale)
{
    reduced *self = data;
    self->substitute = false;
    for (int i = 0; i < self->r * self->r; i++)
        self->S[i] = mass_scale * self->mass[i];
}

static double matrix_add(void *data, const double *q, double scale, double spring_scale, bool definite, double *f)
{
    reduced *self = data;
    evaluate(self, q, !definite);
    if (definite) { /* another stiffness than the one that is kept */
        self->force.evaluate(self->force.self, q, true, NULL, self->K);
        self->have_stiffness = false;
        self->substitute = true;
    }
    for (int i = 0; i < self->r * self->r; i++)
        self->S[i] += scale * self->K[i];
    add_spring_stiffness(self, spring_scale);
    if (f)
        memcpy(f, self->f, (size_t)self->r * sizeof *f);
    return self->energy;
}

/* S with the absolute values of its eigenvalues: downhill in every direction, with Newton's step wherever the energy is convex. No part of
 * a polynomial can be left out instead, since its terms do not tell what of them is stress. A singular S (a free body) stays refused. */
static bool make_definite(reduced *self)
{
    int r = self->r;
    double largest = 0, smallest = INFINITY;
    if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', r, self->V, r, self->eigenvalue, self->work, EIGEN_WORK * r) != 0)
        return false;
    for (int j = 0; j < r; j++) {
        largest = fmax(largest, fabs(self->eigenvalue[j]));
        smallest = fmin(smallest, fabs(self->eigenvalue[j]));
    }
    if (!isfinite(largest) || smallest <= 1e-15 * r * largest)
        return false;
    for (int j = 0; j < r; j++)
        cblas_dscal(r, sqrt(fmax(fabs(self->eigenvalue[j]), 1e-8 * largest)), self->V + (int64_t)j * r, 1);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, r, r, 1, self->V, r, 0, self->S, r);
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, self->S, r) == 0;
}

static int matrix_factor(void *data)
{
    reduced *self = data;
    if (self->substitute)
        memcpy(self->V, self->S, (size_t)self->r * (size_t)self->r * sizeof *self->V);
    if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', self->r, self->S, self->r) == 0 || (self->substitute && make_definite(self)))
        return SP_OK;
    return sp_fail(self->context, SP_NUMERICAL, "the reduced matrix is not positive definite");
}

static int solve(reduced *self, const double *factor, const double *b, double *x)
{
    if (x != b)
        memcpy(x, b, (size_t)self->r * sizeof *x);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, self->r, factor, self->r, x, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, self->r, factor, self->r, x, 1);
    return SP_OK;
}

static int matrix_solve(void *data, const double *b, double *x)
{
    return solve(data, ((reduced *)data)->S, b, x);
}

static int mass_solve(void *data, const double *b, double *x)
{
    return solve(data, ((reduced *)data)->mass_factor, b, x);
}

static int64_t inverted(void *data, const double *q)
{
    const reduced *self = data;
    return self->force.inverted(self->force.self, q);
}

static void mass_times(void *data, const double *x, double *y)
{
    reduced *self = data;
    cblas_dgemv(CblasColMajor, CblasNoTrans, self->r, self->r, 1, self->mass, self->r, x, 1, 0, y, 1);
}

static void tangent_times(void *data, const double *q, const double *v, double *y)
{
    reduced *self = data;
    evaluate(self, q, true);
    cblas_dsymv(CblasColMajor, CblasLower, self->r, 1, self->K, self->r, v, 1, 0, y, 1);
}

static void set_springs(void *data, int64_t count, const sp_spring *springs)
{
    reduced *self = data;
    self->spring_count = count;
    self->springs = springs;
    self->have_force = self->have_stiffness = false;
}

int sp_reduced_system_new(sp_context *context, const sp_reduced_force *reduced_force, const double *mass, const double *U, int64_t rows, const double *vertices,
                          sp_system *system)
{
    int64_t r = reduced_force->r;
    reduced *self = calloc(1, sizeof *self);
    if (!self) {
        if (reduced_force->destroy)
            reduced_force->destroy(reduced_force->self);
        return sp_fail_memory(context);
    }
    *system = (sp_system){self, r, false, force, matrix_start, matrix_add, matrix_factor, matrix_solve, mass_times, mass_solve, tangent_times, set_springs,
                           reduced_force->cubic, reduced_force->inverted ? inverted : NULL, NULL, NULL};
    self->context = context;
    self->r = (int)r;
    self->force = *reduced_force;
    self->U = U;
    self->rows = rows;
    self->vertices = vertices;
    self->mass = sp_pool_copy(&self->pool, mass, r * r, sizeof(double));
    self->mass_factor = sp_pool_copy(&self->pool, mass, r * r, sizeof(double));
    self->S = sp_pool_raw(&self->pool, r * r, sizeof(double));
    self->K = sp_pool_new(&self->pool, r * r, sizeof(double));
    self->V = sp_pool_raw(&self->pool, r * r, sizeof(double));
    self->eigenvalue = sp_pool_raw(&self->pool, r, sizeof(double));
    self->D = sp_pool_new(&self->pool, r * r, sizeof(double));
    self->work = sp_pool_raw(&self->pool, EIGEN_WORK * r, sizeof(double));
    self->q = sp_pool_new(&self->pool, r, sizeof(double));
    self->f = sp_pool_raw(&self->pool, r, sizeof(double));
    int status = SP_OK;
    if (self->pool.failed)
        status = sp_fail_memory(context);
    else if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', self->r, self->mass_factor, self->r) != 0)
        status = sp_fail(context, SP_NUMERICAL, "the reduced mass matrix is not positive definite: the basis has dependent columns");
    if (status != SP_OK)
        sp_reduced_system_free(system);
    return status;
}

void sp_reduced_system_free(sp_system *system)
{
    reduced *self = system->self;
    if (!self)
        return;
    if (self->force.destroy)
        self->force.destroy(self->force.self);
    if (self->viscosity.self)
        self->viscosity.destroy(self->viscosity.self);
    sp_pool_free(&self->pool);
    free(self);
    *system = (sp_system){0};
}

static void viscous_add(void *data, const double *q, double scale)
{
    reduced *self = data;
    self->viscosity.matrix(self->viscosity.self, q, self->D);
    for (int i = 0; i < self->r * self->r; i++)
        self->S[i] += scale * self->D[i];
}

static void viscous_times(void *data, const double *q, const double *v, double *y)
{
    reduced *self = data;
    self->viscosity.times(self->viscosity.self, q, v, y);
}

void sp_reduced_system_damp(sp_system *system, const sp_reduced_viscosity *viscosity)
{
    reduced *self = system->self;
    self->viscosity = *viscosity;
    system->viscous_add = viscous_add;
    system->viscous_times = viscous_times;
}

double sp_reduced_system_estimate(const sp_system *system, const double *q)
{
    reduced *self = system->self;
    if (!self->force.estimate)
        return NAN;
    evaluate(self, q, false);
    return self->force.estimate(self->force.self);
}

int sp_polynomial_system_new(sp_context *context, const sp_polynomials *polynomials, int64_t r, const double *U, int64_t rows, const double *vertices, sp_system *system)
{
    sp_pool scratch = {0};
    sp_reduced_force reduced_force = {0};
    *system = (sp_system){0};
    int status = sp_polynomial_reduced_force(context, polynomials, r, &reduced_force);
    double *mass = sp_pool_raw(&scratch, r * r, sizeof *mass);
    if (status == SP_OK && !mass) {
        reduced_force.destroy(reduced_force.self);
        status = sp_fail_memory(context);
    }
    if (status == SP_OK) {
        for (int64_t j = 0; j < r; j++)
            for (int64_t i = 0; i < r; i++)
                mass[j * r + i] = polynomials->density * polynomials->mass[j * polynomials->r + i];
        status = sp_reduced_system_new(context, &reduced_force, mass, U, rows, vertices, system);
    }
    sp_pool_free(&scratch);
    return status;
}
