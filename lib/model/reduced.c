#include "model/models.h"

#include "linear/iterate.h"

#include <cblas.h>
#include <complex.h>
#include <lapacke.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    EIGEN_WORK = 34, /* dsyev: blocks of 32 columns */
    PLACES = 8, /* largest number of points whose stiffness is part of one matrix: two, and two more for the derivative
                   of damping */
    RESTART = 40,
};

/* A part of the matrix whose products are computed as differences of the force. */
typedef struct place {
    double *q, *f, scale; /* [r]; f without springs */
} place;

typedef struct reduced {
    sp_pool pool;
    sp_context *context;
    int r;
    sp_reduced_force force;
    double *mass, *mass_factor; /* [r, r] */
    double *q, *f, *K, energy;  /* the last evaluation (K: lower triangle, or complete; without springs), kept since
                                   integrators ask for force and stiffness at one point separately */
    double *elastic;            /* [r] f without springs */
    bool have_force, have_stiffness; /* at q */
    bool elsewhere;                  /* the force has been evaluated at another point since */
    double *S;                       /* lower triangle, or complete if the solver needs it */
    bool substitute;                 /* S may be replaced by a definite matrix */
    double *V, *eigenvalue, *work;   /* [r, r], [r], [EIGEN_WORK r] for that */
    const double *U, *vertices;
    int64_t rows, spring_count;
    const sp_spring *springs;
    sp_reduced_viscosity viscosity; /* self NULL: none */
    double *D;                      /* [r, r] lower triangle */
    enum sp_jacobian jacobian;
    int *pivot;                   /* [r] of LU */
    double *rest, *P, rest_scale; /* iterative: ½(K(0) + K(0)ᵀ), the preconditioner as lower triangle, and the factor of
                                     the former in it */
    double tolerance, *shifted; /* shifted [2 r] */
    place places[PLACES];
    int place_count;
    sp_iteration iteration;
    int64_t solves, products;
} reduced;

/* Adds the springs at q: energy ½k|x − a|² and force Uᵀ k(x − a). */
static double add_springs(const reduced *self, const double *q, double *f)
{
    double energy = 0;
    for (int64_t s = 0; s < self->spring_count; s++) {
        const sp_spring *spring = &self->springs[s];

        for (int c = 0; c < 3; c++) {
            const double *row = self->U + 3 * spring->vertex + c;
            double stretch = self->vertices[3 * spring->vertex + c] - spring->anchor[c] +
                             cblas_ddot(self->r, row, (int)self->rows, q, 1);

            energy += 0.5 * spring->stiffness * stretch * stretch;
            cblas_daxpy(self->r, spring->stiffness * stretch, row, (int)self->rows, f, 1);
        }
    }
    return energy;
}

/* S += scale · k UᵀU over the three rows of each spring's vertex. */
static void add_spring_stiffness(const reduced *self, double scale, double *S)
{
    for (int64_t s = 0; s < self->spring_count; s++)
        for (int c = 0; c < 3; c++) {
            const double *row = self->U + 3 * self->springs[s].vertex + c;
            for (int j = 0; j < self->r; j++)
                cblas_daxpy(self->r, scale * self->springs[s].stiffness * row[j * self->rows], row, (int)self->rows,
                            S + (int64_t)j * self->r, 1);
        }
}

static void evaluate(reduced *self, const double *q, bool want_stiffness)
{
    size_t bytes = (size_t)self->r * sizeof *q;
    /* Integrators ask for the force and then for the stiffness at the same point. */
    bool same = self->have_force && !memcmp(self->q, q, bytes);
    if (same && (self->have_stiffness || !want_stiffness))
        return;

    memcpy(self->q, q, bytes);
    self->have_stiffness = want_stiffness || self->force.together;
    self->energy = self->force.evaluate(self->force.self, q, false, self->f, self->have_stiffness ? self->K : NULL);

    /* The difference quotients of add_difference need the force without springs. */
    memcpy(self->elastic, self->f, bytes);
    self->energy += add_springs(self, q, self->f);

    self->have_force = true;
    self->elsewhere = false;
}

static double force(void *data, const double *q, double *f)
{
    reduced *self = data;
    evaluate(self, q, false);
    if (f)
        memcpy(f, self->f, (size_t)self->r * sizeof *f);
    return self->energy;
}

static bool iterative(const reduced *self)
{
    return self->jacobian >= SP_JACOBIAN_KRYLOV && !self->substitute;
}

/* Returns true if the matrix is used as it is, without symmetrization. */
static bool whole(const reduced *self)
{
    return self->force.unsymmetric && self->jacobian != SP_JACOBIAN_SYMMETRIC && !self->substitute;
}

static void matrix_start(void *data, double mass_scale)
{
    reduced *self = data;
    self->substitute = false;
    self->place_count = 0;

    self->rest_scale = 0;
    for (int i = 0; i < self->r * self->r; i++)
        self->S[i] = mass_scale * self->mass[i];

    if (iterative(self))
        memcpy(self->P, self->S, (size_t)self->r * (size_t)self->r * sizeof *self->P);
}

/* S += scale · K, or of its symmetric part. */
static void add_stiffness(reduced *self, double scale)
{
    int r = self->r;
    const double *K = self->K;

    /* Without the complete matrix Newton's method gets ½ (K + Kᵀ), whose factorization is that of Cholesky. */
    if (self->force.unsymmetric && !whole(self))
        for (int j = 0; j < r; j++)
            for (int i = j; i < r; i++)
                self->S[j * r + i] += 0.5 * scale * (K[j * r + i] + K[i * r + j]);
    else
        for (int i = 0; i < r * r; i++)
            self->S[i] += scale * K[i];
}

static void add_place(reduced *self, double scale)
{
    if (self->place_count < PLACES) {
        place *to = &self->places[self->place_count];
        memcpy(to->q, self->q, (size_t)self->r * sizeof *to->q);
        memcpy(to->f, self->elastic, (size_t)self->r * sizeof *to->f);
        to->scale = scale;
    }
    self->place_count++;
}

static double matrix_add(void *data, const double *q, double scale, double spring_scale, bool definite, double *f)
{
    reduced *self = data;
    bool differences = self->jacobian == SP_JACOBIAN_FREE && !definite;

    /* A matrix-free product needs the force at q only, and the definite stiffness is not the tangent that is cached. */
    evaluate(self, q, !definite && !differences);

    if (definite) { /* the definite stiffness is not the cached one */
        self->force.evaluate(self->force.self, q, true, NULL, self->K);
        self->have_stiffness = false;
        self->substitute = true;
    }

    if (differences)
        add_place(self, scale);
    else
        add_stiffness(self, scale);

    add_spring_stiffness(self, spring_scale, self->S);
    if (iterative(self)) {
        add_spring_stiffness(self, spring_scale, self->P);
        self->rest_scale += scale;
    }

    if (f)
        memcpy(f, self->f, (size_t)self->r * sizeof *f);
    return self->energy;
}

/* Replaces S, of which V is a copy, by the factor of the matrix with the absolute values of its eigenvalues. The
 * correction is then a descent direction, and Newton's step wherever the energy is convex. No part of a polynomial can
 * be left out instead, since its terms do not show which part of them is stress. A singular S (a free body) is still
 * rejected. */
static bool make_definite(reduced *self, double *S)
{
    int r = self->r;
    double largest = 0, smallest = INFINITY;

    if (LAPACKE_dsyev_work(LAPACK_COL_MAJOR, 'V', 'L', r, self->V, r, self->eigenvalue, self->work, EIGEN_WORK * r) !=
        0)
        return false;

    for (int j = 0; j < r; j++) {
        largest = fmax(largest, fabs(self->eigenvalue[j]));
        smallest = fmin(smallest, fabs(self->eigenvalue[j]));
    }

    if (!isfinite(largest) || smallest <= 1e-15 * r * largest)
        return false;

    /* V |Λ| Vᵀ is the product of V |Λ|^½ with its transpose. Eigenvalues of at least 1e-8 of the largest bound the
     * correction. */
    for (int j = 0; j < r; j++)
        cblas_dscal(r, sqrt(fmax(fabs(self->eigenvalue[j]), 1e-8 * largest)), self->V + (int64_t)j * r, 1);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, r, r, 1, self->V, r, 0, S, r);

    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', r, S, r) == 0;
}

static bool factor_lower(reduced *self, double *S, bool substitute)
{
    if (substitute)
        memcpy(self->V, S, (size_t)self->r * (size_t)self->r * sizeof *self->V);
    return LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', self->r, S, self->r) == 0 ||
           (substitute && make_definite(self, S));
}

/* LU factorization; returns false if S is singular up to rounding. */
static bool factor_whole(reduced *self)
{
    double largest = 0, smallest = INFINITY;

    if (LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, self->r, self->r, self->S, self->r, self->pivot) != 0)
        return false;

    /* Pivots whose ratio is that of rounding mark a singular matrix. */
    for (int j = 0; j < self->r; j++) {
        double pivot = fabs(self->S[j * self->r + j]);
        if (!isfinite(pivot))
            return false;
        largest = fmax(largest, pivot);
        smallest = fmin(smallest, pivot);
    }
    return smallest > 1e-15 * self->r * largest;
}

/* Factors the constant part of the matrix. If it is indefinite, the absolute values of its eigenvalues are used, which
 * serve as well. */
static bool factor_preconditioner(reduced *self)
{
    /* K(0) stands for the stiffness at q. */
    for (int i = 0; i < self->r * self->r; i++)
        self->P[i] += self->rest_scale * self->rest[i];
    return factor_lower(self, self->P, true);
}

static int matrix_factor(void *data)
{
    reduced *self = data;

    if (self->place_count > PLACES)
        return sp_fail(self->context, SP_USAGE, "a matrix of the stiffness at %d places, more than %d",
                       self->place_count, PLACES);

    if (iterative(self) ? factor_preconditioner(self)
        : whole(self)   ? factor_whole(self)
                        : factor_lower(self, self->S, self->substitute))
        return SP_OK;

    return sp_fail(self->context, SP_NUMERICAL,
                   whole(self) ? "the reduced matrix is singular" : "the reduced matrix is not positive definite");
}

static int solve(reduced *self, const double *factor, const double *b, double *x)
{
    if (x != b)
        memcpy(x, b, (size_t)self->r * sizeof *x);

    /* S = L Lᵀ: L y = b, then Lᵀ x = y */
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, self->r, factor, self->r, x, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, self->r, factor, self->r, x, 1);
    return SP_OK;
}

/* y += scale · K(at->q) p by a difference of the force (Yang et al. 2015, eq. 15 and 16). */
static void add_difference(reduced *self, const place *at, const double *p, double *y)
{
    int r = self->r;
    /* K p ≈ (f(q + ε p) − f(q)) / ε with ε = 1e-6 √(1 + |q|) / |p| */
    double length = cblas_dnrm2(r, p, 1), epsilon = 1e-6 * sqrt(1 + cblas_dnrm2(r, at->q, 1)) / length,
           *q = self->shifted, *f = q + r;
    if (length == 0)
        return;

    for (int i = 0; i < r; i++)
        q[i] = at->q[i] + epsilon * p[i];
    self->force.evaluate(self->force.self, q, false, f, NULL);
    self->elsewhere = true;

    for (int i = 0; i < r; i++)
        y[i] += at->scale / epsilon * (f[i] - at->f[i]);
}

static void operator_times(void *data, const double *x, double *y)
{
    reduced *self = data;

    if (whole(self))
        cblas_dgemv(CblasColMajor, CblasNoTrans, self->r, self->r, 1, self->S, self->r, x, 1, 0, y, 1);
    else
        cblas_dsymv(CblasColMajor, CblasLower, self->r, 1, self->S, self->r, x, 1, 0, y, 1);

    for (int k = 0; k < self->place_count; k++)
        add_difference(self, &self->places[k], x, y);
}

static void operator_precondition(void *data, const double *x, double *y)
{
    reduced *self = data;
    solve(self, self->P, x, y);
}

static int solve_iteratively(reduced *self, const double *b, double *x)
{
    sp_operator A = {self, self->r, operator_times, operator_precondition};
    int64_t most = 10 * (RESTART + (int64_t)self->r);

    int64_t products = (self->force.unsymmetric ? sp_gmres : sp_conjugate_gradients)(&A, &self->iteration,
                                                                                     self->tolerance, most, b, x);

    self->solves++;
    if (products < 0)
        return sp_fail(self->context, SP_NUMERICAL, "the iterative solver of the reduced matrix does not converge");
    self->products += products;
    return SP_OK;
}

static int matrix_solve(void *data, const double *b, double *x)
{
    reduced *self = data;

    if (iterative(self))
        return solve_iteratively(self, b, x);

    if (!whole(self))
        return solve(self, self->S, b, x);

    memcpy(x, b, (size_t)self->r * sizeof *x);
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, 'N', self->r, 1, self->S, self->r, self->pivot, x, self->r);
    return SP_OK;
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
    if (self->jacobian == SP_JACOBIAN_FREE && self->force.times) {
        /* Exact products, since the result is a force, not an iteration of a solver */
        self->force.times(self->force.self, q, v, y);
        return;
    }

    evaluate(self, q, true);
    if (self->force.unsymmetric)
        cblas_dgemv(CblasColMajor, CblasNoTrans, self->r, self->r, 1, self->K, self->r, v, 1, 0, y, 1);
    else
        cblas_dsymv(CblasColMajor, CblasLower, self->r, 1, self->K, self->r, v, 1, 0, y, 1);
}

static void set_springs(void *data, int64_t count, const sp_spring *springs)
{
    reduced *self = data;
    self->spring_count = count;
    self->springs = springs;

    /* The spring forces are part of the cached evaluation. */
    self->have_force = self->have_stiffness = false;
}

/* The last evaluation is saved too: without it, the next one at the same point might be computed in another way, with
 * or without the stiffness. */
static void visit(void *data, sp_state *state)
{
    reduced *self = data;
    const int64_t r = self->r;
    double *vectors[] = {self->q, self->f, self->elastic};

    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        sp_state_reals(state, vectors[i], r);

    sp_state_reals(state, self->K, r * r);
    SP_STATE_VALUE(state, self->energy);
    SP_STATE_VALUE(state, self->have_force);
    SP_STATE_VALUE(state, self->have_stiffness);
    SP_STATE_VALUE(state, self->elsewhere);
    SP_STATE_VALUE(state, self->solves);
    SP_STATE_VALUE(state, self->products);

    if (self->force.visit)
        self->force.visit(self->force.self, state);
}

static int report(void *data, const double *q, const double *external, sp_system_report *report)
{
    const reduced *self = data;
    (void)q, (void)external;
    report->iterative = iterative(self);
    report->linear_solves = self->solves;
    report->linear_products = self->products;
    return SP_OK;
}

int sp_reduced_system_new(sp_context *context, const sp_reduced_force *reduced_force, const double *mass,
                          const double *U, int64_t rows, const double *vertices, sp_system *system)
{
    int64_t r = reduced_force->r;
    reduced *self = calloc(1, sizeof *self);

    if (!self) {
        if (reduced_force->destroy)
            reduced_force->destroy(reduced_force->self);
        return sp_fail_memory(context);
    }

    *system = (sp_system){.self = self,
                          .n = r,
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
                          .cubic = reduced_force->cubic,
                          .inverted = reduced_force->inverted ? inverted : NULL,
                          .active = reduced_force->active,
                          .nonconservative = reduced_force->unsymmetric,
                          .destroy = sp_reduced_system_free,
                          .report = report};

    self->context = context;
    self->r = (int)r;
    self->force = *reduced_force;
    self->jacobian = SP_JACOBIAN_SYMMETRIC;
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
    self->f = sp_pool_new(&self->pool, r, sizeof(double));
    self->elastic = sp_pool_new(&self->pool, r, sizeof(double));

    int status = SP_OK;

    if (self->pool.failed)
        status = sp_fail_memory(context);

    else if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'L', self->r, self->mass_factor, self->r) != 0)
        status = sp_fail(context, SP_NUMERICAL,
                         "the reduced mass matrix is not positive definite: the basis has dependent columns");

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

    /* D is symmetric: its lower triangle goes to both triangles where the matrix is used whole. */
    for (int j = 0; j < self->r; j++)
        for (int i = j; i < self->r; i++) {
            double value = scale * self->D[j * self->r + i];
            self->S[j * self->r + i] += value;

            if (whole(self) && i > j)
                self->S[i * self->r + j] += value;
            if (iterative(self))
                self->P[j * self->r + i] += value;
        }
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

int sp_reduced_system_jacobian(sp_system *system, enum sp_jacobian jacobian, double tolerance)
{
    reduced *self = system->self;
    int64_t r = self->r, square = r * r;

    self->jacobian = jacobian;
    self->tolerance = tolerance > 0 ? tolerance : jacobian == SP_JACOBIAN_FREE ? 1e-3 : 1e-10;

    if (jacobian == SP_JACOBIAN_SYMMETRIC)
        return SP_OK;

    self->pivot = sp_pool_new(&self->pool, r, sizeof *self->pivot);
    self->rest = sp_pool_new(&self->pool, square, sizeof(double));
    self->P = sp_pool_new(&self->pool, square, sizeof(double));
    self->shifted = sp_pool_new(&self->pool, 2 * r, sizeof(double));

    for (int k = 0; k < PLACES; k++) {
        self->places[k].q = sp_pool_new(&self->pool, r, sizeof(double));
        self->places[k].f = sp_pool_new(&self->pool, r, sizeof(double));
    }

    sp_iteration_new(&self->pool, r, r < RESTART ? r : RESTART, &self->iteration);
    SP_PASS(sp_allocated(self->context, !self->pool.failed));

    /* `shifted` is the point of rest, zero. */
    self->force.evaluate(self->force.self, self->shifted, false, NULL, self->K);
    self->have_force = self->have_stiffness = false;

    /* Of the stiffness at rest the symmetric part */
    for (int64_t j = 0; j < r; j++)
        for (int64_t i = j; i < r; i++)
            self->rest[j * r + i] =
                self->force.unsymmetric ? 0.5 * (self->K[j * r + i] + self->K[i * r + j]) : self->K[j * r + i];
    return SP_OK;
}

int sp_reduced_system_growth(const sp_system *system, double *growth)
{
    const reduced *self = system->self;
    sp_pool scratch = {0};
    int r = self->r, status = SP_OK;

    double *K = sp_pool_new(&scratch, (int64_t)r * r, sizeof *K), *q = sp_pool_new(&scratch, r, sizeof *q),
           *real = sp_pool_new(&scratch, r, sizeof *real);
    double *imaginary = sp_pool_new(&scratch, r, sizeof *imaginary), unused;

    *growth = 0;
    SP_TRY(sp_allocated(self->context, !scratch.failed));

    /* M⁻¹ K at rest is not symmetric, and a motion exp(s t) has s² = −λ, so that the growth is |Re √(−λ)|. */
    self->force.evaluate(self->force.self, q, false, NULL, K);

    if (!self->force.unsymmetric)
        for (int j = 0; j < r; j++)
            for (int i = 0; i < j; i++)
                K[j * r + i] = K[i * r + j];

    LAPACKE_dpotrs(LAPACK_COL_MAJOR, 'L', r, r, self->mass_factor, r, K, r);
    if (LAPACKE_dgeev(LAPACK_COL_MAJOR, 'N', 'N', r, K, r, real, imaginary, &unused, 1, &unused, 1) != 0) {
        status = sp_fail(self->context, SP_NUMERICAL, "the eigenvalues of the stiffness at rest are not found");
        goto done;
    }

    for (int j = 0; j < r; j++)
        *growth = fmax(*growth, fabs(creal(csqrt(-(real[j] + imaginary[j] * I)))));
done:
    sp_pool_free(&scratch);
    return status;
}

void sp_reduced_system_iterations(const sp_system *system, int64_t *solves, int64_t *products)
{
    const reduced *self = system->self;
    *solves = self->solves;
    *products = self->products;
}

void sp_reduced_system_estimate(const sp_system *system, const double *q, double *error)
{
    reduced *self = system->self;
    for (int norm = 0; norm < SP_NORMS; norm++)
        error[norm] = NAN;
    if (!self->force.estimate)
        return;

    /* The estimate is that of the last evaluation, which must not be one at another point. */
    if (self->elsewhere)
        self->have_force = false;

    evaluate(self, q, false);
    self->force.estimate(self->force.self, error);
}

int sp_polynomial_system_new(sp_context *context, const sp_polynomials *polynomials, int64_t r, const double *U,
                             int64_t rows, const double *vertices, sp_system *system)
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
